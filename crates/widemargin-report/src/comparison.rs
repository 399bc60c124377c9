//! Compares a sample with a basis: where they agree and where they differ.

use maud::{Markup, html};
use widemargin::data::{AnySamples, Series, Unit};
use widemargin::similarity::{CellMatch, Comparison, PathStep, Pieces};

use crate::samples::{STROKES, Shown, descending, number, picture, place, polyline, range};
use crate::tiles::{bars, more};

/// Maximum number of pieces in a list.
const MAX_LISTED: usize = 10;

/// Maximum number of lines drawn of a path.
const MAX_LINKS: usize = 60;

/// Characters per line of an alignment.
const LINE_LENGTH: usize = 48;

/// A basis or a sample, if it is available: one of some samples.
pub type Side<'a> = Option<(Shown<'a>, usize)>;

/// Draws the pieces of a similarity, with `basis` and `sample` if they are available.
pub fn comparison(comparison: &Comparison, basis: Side<'_>, sample: Side<'_>) -> Markup {
    let both = basis.zip(sample);
    let drawn = match &comparison.pieces {
        Pieces::Columns { columns, shares } => columns_table(columns, shares, basis, sample),
        Pieces::Terms { terms, shares } => terms_chips(terms, shares),
        Pieces::Cells { grid, cells } => cells_pictures(*grid, cells, basis, sample),
        Pieces::TimeSteps { path } => {
            let series =
                both.and_then(|((x, i), (y, j))| Some(((as_series(x.samples)?, i), (as_series(y.samples)?, j))));
            series.map_or_else(|| html! {}, |((x, i), (y, j))| path_svg(path, (&x, i), (&y, j)))
        }
        Pieces::Characters { path } => match both.map(|((x, i), (y, j))| (x.samples, i, y.samples, j)) {
            Some((AnySamples::Strings(x), i, AnySamples::Strings(y), j)) => alignment(path, &x[i], &y[j]),
            _ => html! {},
        },
        Pieces::Bits { both, basis, sample } => html! {
            p { (both.len()) " elements in common, " (basis.len()) " of the basis alone, " (sample.len()) " of the sample alone" }
        },
        _ => html! {},
    };
    html! {
        (drawn)
        p class="wm-small wm-soft" { (comparison.quantity) ": " (number(comparison.total)) }
    }
}

/// Series, or rows that are series of one channel.
fn as_series(samples: &AnySamples) -> Option<Series> {
    match samples {
        AnySamples::Series(series) => Some(series.clone()),
        AnySamples::Vectors(vectors) => {
            let rows = vectors.dense().ok()?;
            Series::new(rows.values.clone(), &vec![rows.n_cols; rows.n_rows], 1).ok()
        }
        _ => None,
    }
}

fn columns_table(columns: &[usize], shares: &[f64], basis: Side<'_>, sample: Side<'_>) -> Markup {
    let order = descending(shares.len(), |at| shares[at].abs());
    let name = |column: usize| match sample.or(basis) {
        Some((shown, _)) => shown.name(column).into_owned(),
        None => format!("column {column}"),
    };
    let value = |side: Side<'_>, column: usize| {
        side.and_then(|(shown, at)| shown.value(at, column)).map_or(String::new(), number)
    };
    let row = |&at: &usize| {
        let cells = [sample, basis].map(|side| value(side, columns[at])).to_vec();
        (name(columns[at]), cells, shares[at], number(shares[at]))
    };
    html! {
        div class="wm-scroll" { (bars(&["column", "sample", "basis", "share", ""], order.iter().take(MAX_LISTED).map(row))) }
        (more(order.len(), MAX_LISTED, "columns"))
    }
}

fn terms_chips(terms: &[String], shares: &[f64]) -> Markup {
    let order = descending(shares.len(), |at| shares[at].abs());
    html! {
        div {
            @if order.is_empty() { p class="wm-soft" { "nothing in common" } }
            @for &at in order.iter().take(3 * MAX_LISTED) {
                span class="wm-chip" { span class="wm-text" { (terms[at].replace(' ', "␣")) } " " span class="wm-soft" { (number(shares[at])) } }
            }
            @if order.len() > 3 * MAX_LISTED { span class="wm-small wm-soft" { (order.len() - 3 * MAX_LISTED) " more" } }
        }
    }
}

fn cells_pictures([rows, cols]: [usize; 2], cells: &[CellMatch], basis: Side<'_>, sample: Side<'_>) -> Markup {
    let largest = cells.iter().map(|cell| cell.share.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let under = |side: Side<'_>| match side {
        Some((Shown { samples: AnySamples::Images(images), .. }, at)) => picture(images, at),
        _ => {
            html! { svg class="wm-picture" style="position:static;height:auto" viewBox={ "0 0 " (cols) " " (rows) } {} }
        }
    };
    let layer = |of: &dyn Fn(&CellMatch) -> Option<[usize; 2]>| {
        html! {
            svg viewBox={ "0 0 " (cols) " " (rows) } preserveAspectRatio="none" {
                @for cell in cells {
                    @if let Some([row, col]) = of(cell) {
                        rect class=(if cell.share < 0.0 { "wm-con" } else { "wm-pro" }) x=(col) y=(row) width="1" height="1"
                            opacity=(format!("{:.2}", 0.75 * cell.share.abs() / largest)) {}
                    }
                }
            }
        }
    };
    let moved = cells.iter().filter(|cell| cell.sample.is_some_and(|sample| sample != cell.basis)).count();
    html! {
        div class="wm-row" {
            figure style="margin:0" {
                div class="wm-stack" { (under(basis)) (layer(&|cell| Some(cell.basis))) }
                figcaption class="wm-small wm-soft" { "basis" }
            }
            figure style="margin:0" {
                div class="wm-stack" { (under(sample)) (layer(&|cell| cell.sample)) }
                figcaption class="wm-small wm-soft" { "sample" @if moved > 0 { ": " (moved) " of " (cells.len()) " cells moved" } }
            }
        }
    }
}

fn path_svg(path: &[PathStep], (x, i): (&Series, usize), (y, j): (&Series, usize)) -> Markup {
    let (width, height) = (520.0, 200.0);
    let limits = range(x.series(i).iter().chain(y.series(j)).copied());
    let longest = x.length(i).max(y.length(j)).max(2) as f64;
    let area = |top: f64, n: usize| [4.0, top, (width - 8.0) * (n.max(2) - 1) as f64 / (longest - 1.0), 84.0];
    // Below each other: the sample above, the basis below.
    let (upper, lower) = (area(6.0, y.length(j)), area(112.0, x.length(i)));
    let point = |series: &Series, at: usize, t: usize, area: [f64; 4]| {
        let value = f64::from(series.series(at)[t * series.channels()]);
        place(t, series.length(at), value, area, limits)
    };
    let pairs: Vec<(usize, usize)> = path.iter().filter_map(|step| Some((step.basis?, step.sample?))).collect();
    let step = pairs.len().div_ceil(MAX_LINKS).max(1);
    let links: Vec<[(f64, f64); 2]> =
        pairs.iter().step_by(step).map(|&(of_x, of_y)| [point(y, j, of_y, upper), point(x, i, of_x, lower)]).collect();
    let alone = path.iter().filter(|step| step.basis.is_none() || step.sample.is_none()).count();
    html! {
        svg class="wm-svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
            title { "the sample above, the basis below, and the pairs of the path" }
            @for [(ax, ay), (bx, by)] in &links {
                line class="wm-link" stroke-width="0.8" x1=(format!("{ax:.1}")) y1=(format!("{ay:.1}")) x2=(format!("{bx:.1}")) y2=(format!("{by:.1}")) {}
            }
            @for channel in 0..y.channels().min(STROKES.len()) {
                polyline class=(STROKES[channel]) stroke-width="1.6" points=(polyline(y, j, channel, upper, limits)) {}
            }
            @for channel in 0..x.channels().min(STROKES.len()) {
                polyline class=(STROKES[(channel + 1) % STROKES.len()]) stroke-width="1.6" points=(polyline(x, i, channel, lower, limits)) {}
            }
            text class="wm-t" x="4" y="12" { "sample" }
            text class="wm-t" x="4" y=(height - 4.0) { "basis" }
        }
        @if alone > 0 { p class="wm-small wm-soft" { (alone) " time steps have no partner" } }
    }
}

fn alignment(path: &[PathStep], basis: &str, sample: &str) -> Markup {
    // Positions count the units of the path: characters or grapheme clusters.
    let units = |text: &str, of: fn(&PathStep) -> Option<usize>| -> Vec<String> {
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let largest = path.iter().filter_map(of).max().map_or(0, |largest| largest + 1);
        let clusters = Unit::Grapheme.split(text);
        // With fewer clusters than characters, a path over all clusters counts clusters.
        if clusters.len() < characters.len() && largest == clusters.len() {
            clusters.into_iter().map(str::to_owned).collect()
        } else {
            characters
        }
    };
    let (x, y) = (units(basis, |step| step.basis), units(sample, |step| step.sample));
    let unit = |units: &[String], at: Option<usize>| match at {
        Some(at) => {
            units.get(at).map_or(" ".into(), |unit| if unit.trim().is_empty() { "␣".into() } else { unit.clone() })
        }
        None => "·".to_owned(),
    };
    let class = |step: &PathStep, own: Option<usize>| match (own, step.basis, step.sample) {
        (None, ..) => "wm-gap",
        (_, Some(i), Some(j)) if x.get(i) == y.get(j) => "",
        _ => "wm-other",
    };
    html! {
        @for line in path.chunks(LINE_LENGTH) {
            div class="wm-pair" {
                div { "sample  " @for step in line { span class=(class(step, step.sample)) { (unit(&y, step.sample)) } } }
                div { "basis   " @for step in line { span class=(class(step, step.basis)) { (unit(&x, step.basis)) } } }
            }
        }
        @if path.is_empty() { p class="wm-soft" { "nothing is aligned" } }
    }
}
