//! Elastic distances once more: one pair, the whole table in double precision, straight from the recursion.

use super::elastic::band;
use crate::error::Result;
use crate::parameters::Arguments;

/// Two series, \[time\]\[channel\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub x: &'a [f32],
    pub y: &'a [f32],
    pub channels: usize,
}

impl<'a> Pair<'a> {
    pub fn lengths(self) -> [usize; 2] {
        [self.x.len() / self.channels, self.y.len() / self.channels]
    }

    /// A time step of x.
    pub fn x(self, at: usize) -> &'a [f32] {
        &self.x[at * self.channels..][..self.channels]
    }

    /// A time step of y.
    pub fn y(self, at: usize) -> &'a [f32] {
        &self.y[at * self.channels..][..self.channels]
    }

    /// The last value of the table, in which row i and column j stand for the first i steps of x and j of y: `start` of
    /// the row and the column 0, `cell` of the others, from the steps i − 1 and j − 1 and the values above, at the
    /// diagonal and to the left; infinite where |i − j| is beyond the band.
    pub fn last_value(
        self,
        band: usize,
        start: impl Fn(usize, usize) -> f64,
        cell: impl Fn(usize, usize, [f64; 3]) -> f64,
    ) -> f64 {
        let [m, n] = self.lengths();
        let mut table = vec![vec![f64::INFINITY; n + 1]; m + 1];
        for i in 0..=m {
            for j in (0..=n).filter(|j| i.abs_diff(*j) <= band) {
                table[i][j] = match (i, j) {
                    (0, _) | (_, 0) => start(i, j),
                    _ => cell(i - 1, j - 1, [table[i - 1][j], table[i - 1][j - 1], table[i][j - 1]]),
                };
            }
        }
        table[m][n]
    }
}

/// The similarity that a row defines: `distance` within a band.
pub(super) fn similarity(
    arguments: &Arguments<'_>,
    x: &[f32],
    y: &[f32],
    channels: usize,
    distance: impl Fn(Pair<'_>, usize) -> Result<f64>,
) -> Result<f64> {
    let pair = Pair { x, y, channels };
    let [m, n] = pair.lengths();
    let d = distance(pair, band(arguments.value("window")?, m, n))?;
    Ok(arguments.get::<f64>("gamma")?.map_or(-d, |gamma| (-gamma * d).exp()))
}

/// A path begins at the first pair.
pub(super) fn at_first_pair(i: usize, j: usize) -> f64 {
    if i + j == 0 { 0.0 } else { f64::INFINITY }
}

pub(super) fn least(values: [f64; 3]) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// ‖a − b‖².
pub(super) fn squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
}

/// ‖a − b‖.
pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    squared(a, b).sqrt()
}
