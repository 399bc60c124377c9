//! Charts as SVG, in the colors of the page: a drawing library would fix them, and they follow light, dark and paper.

use maud::{Markup, html};
use widemargin::select::ConfusionMatrix;

use crate::measured::Reliability;
use crate::samples::{beginning, number, range};

/// Side of a square chart, and the space around it for labels and dots.
const SIDE: f64 = 210.0;
const LEFT: f64 = 40.0;
const BELOW: f64 = 34.0;
const TOP: f64 = 14.0;

/// A square from 0 to 1 on both axes.
fn unit_square(across: &str, up: &str, inside: Markup) -> Markup {
    let (x, y) = (|v: f64| LEFT + SIDE * v, |v: f64| TOP + SIDE * (1.0 - v));
    html! {
        svg class="wm-svg" viewBox={ "0 0 " (LEFT + SIDE + 12.0) " " (SIDE + BELOW + TOP) } width=(LEFT + SIDE + 12.0) height=(SIDE + BELOW + TOP) role="img" {
            title { (up) " against " (across) }
            rect class="wm-axis" x=(LEFT) y=(TOP) width=(SIDE) height=(SIDE) {}
            @for tick in [0.0, 0.5, 1.0] {
                text class="wm-t" x=(x(tick)) y=(y(0.0) + 14.0) text-anchor="middle" { (tick) }
                text class="wm-t" x=(LEFT - 5.0) y=(y(tick) + 4.0) text-anchor="end" { (tick) }
            }
            text class="wm-t" x=(x(0.5)) y=(y(0.0) + 29.0) text-anchor="middle" { (across) }
            text class="wm-t" transform=(format!("translate(10 {}) rotate(-90)", y(0.5))) text-anchor="middle" { (up) }
            (inside)
        }
    }
}

fn points(curve: impl Iterator<Item = (f64, f64)>) -> String {
    let point = |(x, y): (f64, f64)| format!("{:.1},{:.1}", LEFT + SIDE * x, TOP + SIDE * (1.0 - y));
    curve.map(point).collect::<Vec<_>>().join(" ")
}

/// The most points of a curve that are drawn.
const MAX_POINTS: usize = 400;

/// A curve in the unit square, and the diagonal where that is chance.
pub fn curve(across: &str, up: &str, all: &[(f64, f64)], diagonal: bool) -> Markup {
    let step = all.len().div_ceil(MAX_POINTS).max(1);
    let last = all.last().copied();
    let shown = all.iter().copied().step_by(step).chain(last);
    let line = html! {
        @if diagonal { polyline class="wm-dash" points=(points([(0.0, 0.0), (1.0, 1.0)].into_iter())) {} }
        polyline class="wm-s1" stroke-width="1.8" points=(points(shown)) {}
    };
    unit_square(across, up, line)
}

/// Predicted probability against observed frequency, the area of a dot being how many samples it stands for.
pub fn reliability(ranges: &[Reliability], of: &str) -> Markup {
    let total: f64 = ranges.iter().map(|range| range.weight).sum();
    let dots = html! {
        polyline class="wm-dash" points=(points([(0.0, 0.0), (1.0, 1.0)].into_iter())) {}
        polyline class="wm-s1" stroke-width="1.2" points=(points(ranges.iter().map(|range| (range.predicted, range.observed)))) {}
        @for range in ranges {
            circle class="wm-pro" cx=(format!("{:.1}", LEFT + SIDE * range.predicted)) cy=(format!("{:.1}", TOP + SIDE * (1.0 - range.observed)))
                r=(format!("{:.1}", 2.5 + 9.0 * (range.weight / total).sqrt())) opacity="0.8" {
                title { (number(range.weight)) " samples: predicted " (number(range.predicted)) ", observed " (number(range.observed)) }
            }
        }
    };
    unit_square(&format!("probability of {of}"), "observed share", dots)
}

/// Classes up to which counts are written into the cells.
const MAX_COUNTED_CLASSES: usize = 20;

/// Classes up to which there is a matrix.
pub const MAX_CLASSES: usize = 60;

/// The confusion matrix, rows being the classes of the samples.
pub fn confusion(matrix: &ConfusionMatrix) -> Markup {
    let n = matrix.labels.len();
    let names: Vec<String> = matrix.labels.iter().map(|label| beginning(&label.to_string(), 14)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64;
    let cell = if n <= 4 {
        58.0
    } else if n <= MAX_COUNTED_CLASSES {
        38.0
    } else {
        12.0
    };
    let left = 24.0 + 6.6 * longest;
    // Names of columns stand upright where they are longer than a cell.
    let upright = 6.6 * longest > cell - 6.0;
    let top = if upright { 28.0 + 6.6 * longest } else { 40.0 };
    let sums: Vec<f64> = matrix.counts.iter().map(|row| row.iter().sum::<f64>()).collect();
    let (width, height) = (left + n as f64 * cell + 2.0, top + n as f64 * cell + 2.0);
    let at = |position: usize| (position as f64 + 0.5) * cell;
    html! {
        div class="wm-scroll" {
            svg class="wm-svg" style="max-width:none" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
                title { "confusion matrix: rows are the classes of the samples, columns the predicted ones" }
                text class="wm-t" x=(left + n as f64 * cell / 2.0) y="11" text-anchor="middle" { "predicted" }
                text class="wm-t" transform=(format!("translate(11 {}) rotate(-90)", top + n as f64 * cell / 2.0)) text-anchor="middle" { "actual" }
                @for (position, name) in names.iter().enumerate() {
                    @if n <= MAX_COUNTED_CLASSES || position % 5 == 0 {
                        text x=(left - 6.0) y=(top + at(position) + 4.0) text-anchor="end" { (name) }
                        @if upright {
                            text transform=(format!("translate({} {}) rotate(-90)", left + at(position) + 4.0, top - 6.0)) { (name) }
                        } @else {
                            text x=(left + at(position)) y=(top - 8.0) text-anchor="middle" { (name) }
                        }
                    }
                }
                @for (row, counts) in matrix.counts.iter().enumerate() {
                    @for (column, count) in counts.iter().enumerate() {
                        @let share = if sums[row] > 0.0 { count / sums[row] } else { 0.0 };
                        rect class="wm-axis" x=(left + column as f64 * cell) y=(top + row as f64 * cell) width=(cell) height=(cell) {}
                        @if *count > 0.0 {
                            rect class=(if row == column { "wm-pro" } else { "wm-con" }) x=(left + column as f64 * cell) y=(top + row as f64 * cell)
                                width=(cell) height=(cell) opacity=(format!("{:.2}", if row == column { 0.12 + 0.43 * share } else { 0.18 + 0.6 * share.sqrt() })) {
                                title { (names[row]) " predicted as " (names[column]) ": " (number(*count)) }
                            }
                            @if n <= MAX_COUNTED_CLASSES {
                                text x=(left + at(column)) y=(top + at(row) + 4.0) text-anchor="middle" { (number(*count)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How C was selected, by the loss for each: `about` is what the losses are.
pub fn selection_of_c(points: &[(f64, f64)], selected: f64, about: &str) -> Markup {
    html! {
        @if points.len() > 1 {
            p class="wm-small wm-soft" { (about) }
            (path(points, selected))
        } @else { p { "C = " (number(selected)) "." } }
    }
}

/// The leave-one-out loss for each C, on a logarithmic axis of C, with the selected C marked.
fn path(points: &[(f64, f64)], selected: f64) -> Markup {
    let (width, height, left, below) = (420.0, 150.0, 52.0, 34.0);
    let [low_c, high_c] = range(points.iter().map(|(c, _)| c.log10()));
    let [low, high] = range(points.iter().map(|(_, loss)| *loss));
    let x = |c: f64| left + width * (c.log10() - low_c) / (high_c - low_c).max(1e-9);
    let y = |loss: f64| 10.0 + height * (high - loss) / (high - low).max(1e-12);
    let line: Vec<String> = points.iter().map(|(c, loss)| format!("{:.1},{:.1}", x(*c), y(*loss))).collect();
    let marked = points.iter().find(|(c, _)| *c == selected);
    html! {
        svg class="wm-svg" viewBox={ "0 0 " (left + width + 14.0) " " (height + below + 14.0) } width=(left + width + 14.0) height=(height + below + 14.0) role="img" {
            title { "leave-one-out loss for each C" }
            rect class="wm-axis" x=(left) y="10" width=(width) height=(height) {}
            @for (c, anchor) in [(low_c, "start"), (high_c, "end")] {
                text class="wm-t" x=(x(10f64.powf(c))) y=(height + 25.0) text-anchor=(anchor) { (format!("{:.1e}", 10f64.powf(c))) }
            }
            text class="wm-t" x=(left + width / 2.0) y=(height + 40.0) text-anchor="middle" { "C" }
            @for value in [low, high] {
                text class="wm-t" x=(left - 5.0) y=(y(value) + 4.0) text-anchor="end" { (number(value)) }
            }
            polyline class="wm-s1" stroke-width="1.6" points=(line.join(" ")) {}
            @if let Some((c, loss)) = marked {
                circle class="wm-con" cx=(format!("{:.1}", x(*c))) cy=(format!("{:.1}", y(*loss))) r="4.5" { title { "selected" } }
            }
        }
    }
}
