//! Draws samples as pictures, series, strings or rows of numbers.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use widemargin::data::{AnySamples, Images, Rows as _, Samples as _, SamplesView, Series};

/// Samples with the names of their columns.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub samples: &'a AnySamples,
    pub names: Option<&'a [String]>,
}

/// Maximum number of listed columns of a row.
const MAX_COLUMNS: usize = 6;

/// Maximum number of characters of a string.
const MAX_CHARACTERS: usize = 160;

impl Shown<'_> {
    /// A sample, small.
    pub fn small(&self, at: usize) -> Markup {
        if at >= self.samples.len() {
            return html! {};
        }
        match self.samples {
            AnySamples::Images(images) => picture(images, at),
            AnySamples::Series(series) => series_svg(series, at),
            AnySamples::Strings(strings) => html! { div class="wm-text" { (beginning(&strings[at], MAX_CHARACTERS)) } },
            AnySamples::BitSets(sets) => {
                let n: u32 = sets.set(at).iter().map(|word| word.count_ones()).sum();
                html! { span class="wm-small" { (n) " elements" } }
            }
            AnySamples::Grids(grids) => {
                html! { span class="wm-small" { (grids.rows()) " × " (grids.cols()) " cells" } }
            }
            _ => self.non_zeros(at).map_or_else(|| html! {}, |values| self.row(&values)),
        }
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> Cow<'_, str> {
        match self.names.and_then(|names| names.get(column)) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("column {column}")),
        }
    }

    /// The value of a column, where samples are vectors.
    pub fn value(&self, at: usize, column: usize) -> Option<f64> {
        let row = self.non_zeros(at)?;
        Some(row.iter().find(|(known, _)| *known == column).map_or(0.0, |(_, value)| *value))
    }

    /// The columns of a row that are not 0, where samples are vectors.
    fn non_zeros(&self, at: usize) -> Option<Vec<(usize, f64)>> {
        let rows = SamplesView::Other(self.samples).rows("a list of columns").ok()?;
        let mut all = Vec::new();
        rows.for_each_nonzero(at, |column, value| all.push((column, value)));
        Some(all)
    }

    /// The first few columns of a row.
    fn row(&self, values: &[(usize, f64)]) -> Markup {
        html! {
            div class="wm-small" {
                @for (column, value) in values.iter().take(MAX_COLUMNS) {
                    span class="wm-chip" { (self.name(*column)) " " (number(*value)) }
                }
                @if values.len() > MAX_COLUMNS { span class="wm-soft" { "+ " (values.len() - MAX_COLUMNS) " more" } }
            }
        }
    }
}

/// The first of some names.
pub fn listed(names: &[impl ToString], most: usize) -> String {
    let shown: Vec<String> = names.iter().take(most).map(ToString::to_string).collect();
    shown.join(", ") + if names.len() > most { ", …" } else { "" }
}

/// The beginning of a text, with visible control characters.
pub fn beginning(text: &str, most: usize) -> String {
    let visible = |c: char| if c.is_control() { '␣' } else { c };
    let mut shown: String = text.chars().take(most).map(visible).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// Places of `n` things by descending size; equal ones in their order.
pub fn descending(n: usize, size: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    order
}

/// A number in few digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.2e}")
    } else if value.fract() == 0.0 {
        format!("{value}")
    } else {
        let digits = (3 - size.log10().floor() as i32).clamp(1, 5) as usize;
        let text = format!("{value:.digits$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// An image as PNG within the page.
pub fn picture(images: &Images, at: usize) -> Markup {
    let (height, width, channels) = (images.height(), images.width(), images.channels());
    let pixels: Cow<'_, [u8]> = match channels {
        1 | 3 => Cow::Borrowed(images.image(at)),
        // The first channel.
        n => Cow::Owned(images.image(at).iter().step_by(n).copied().collect()),
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(if channels == 3 { png::ColorType::Rgb } else { png::ColorType::Grayscale });
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    if written.is_err() {
        return html! {};
    }
    let source = format!("data:image/png;base64,{}", STANDARD.encode(&bytes));
    html! { img class="wm-picture" alt={ "image of " (width) " × " (height) " pixels" } src=(source); }
}

/// The classes of lines, channel by channel.
pub const STROKES: [&str; 4] = ["wm-s1", "wm-s2", "wm-s3", "wm-s4"];

/// Points of a line: more are averaged away by the eye.
const MAX_POINTS: usize = 600;

/// The points of a channel in a box, with the range of values.
pub fn polyline(series: &Series, at: usize, channel: usize, [x, y, w, h]: [f64; 4], [low, high]: [f64; 2]) -> String {
    let (values, channels, n) = (series.series(at), series.channels(), series.length(at));
    let step = n.div_ceil(MAX_POINTS).max(1);
    let point = |t: usize| {
        let value = f64::from(values[t * channels + channel]);
        let (px, py) = place(t, n, value, [x, y, w, h], [low, high]);
        format!("{px:.1},{py:.1}")
    };
    (0..n).step_by(step).map(point).collect::<Vec<_>>().join(" ")
}

/// Where a value at a time step is in a box.
pub fn place(t: usize, n: usize, value: f64, [x, y, w, h]: [f64; 4], [low, high]: [f64; 2]) -> (f64, f64) {
    let across = if n > 1 { t as f64 / (n - 1) as f64 } else { 0.5 };
    let up = if high > low { (value - low) / (high - low) } else { 0.5 };
    (x + w * across, y + h * (1.0 - up))
}

/// The range of some values.
pub fn range(values: impl Iterator<Item = impl Into<f64>>) -> [f64; 2] {
    values.map(Into::into).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x: f64| [low.min(x), high.max(x)])
}

fn series_svg(series: &Series, at: usize) -> Markup {
    let limits = range(series.series(at).iter().copied());
    html! {
        svg class="wm-svg" viewBox="0 0 160 60" width="160" height="60" role="img" {
            title { (series.length(at)) " time steps, " (number(limits[0])) " to " (number(limits[1])) }
            @for channel in 0..series.channels().min(STROKES.len()) {
                polyline class=(STROKES[channel]) stroke-width="1.3" points=(polyline(series, at, channel, [2.0, 3.0, 156.0, 54.0], limits)) {}
            }
        }
    }
}
