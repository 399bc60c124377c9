//! Dynamic time warping of series: `dtw:window=0.1,gamma=2`.
//!
//! d(x, y) is the smallest Σ ‖x_i − y_j‖² along a path of steps (1, 0), (0, 1), (1, 1) from the first pair of time
//! steps to the last (Sakoe and Chiba, *Dynamic programming algorithm optimization for spoken word recognition*, 1978;
//! no slope weights). All channels share one path: ‖·‖² sums over them. As in aeon, d is the sum of squares, not its
//! square root; tslearn's is the root, `root=true`. Without warping (window=0) d is the squared Euclidean distance of
//! two series of equal length.
//!
//! The path may deviate from the diagonal by at most w = max(⌊window · longer length⌋, difference of the lengths)
//! steps, |i − j| ≤ w: a band around the diagonal, wide enough to contain a path.
//!
//! s = exp(−gamma d) with a gamma, −d without one. Neither is definite: warping violates the triangle inequality.

mod lanes;
#[cfg(test)]
mod tests;
mod tile;

use self::lanes::{Group, Work};
use super::Similarity;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built};
use crate::data::{Samples, Series, Training};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const DTW: SimilarityRow = SimilarityRow {
    name: "dtw",
    class: "DTW",
    samples: &["time series"],
    formula: "−d(x, y), with a gamma exp(−gamma d(x, y)), d the least sum of squared differences along a warping path",
    about: "",
    parameters: &[
        Parameter::new(
            "window",
            Values::SHARE,
            "Half-width of the band the path stays in, as a share of the longer series; 1 is no band.",
        )
        .or("1"),
        Parameter::new(
            "gamma",
            Values::POSITIVE,
            "Without one it is −d; `auto` learns 1 / mean d from pairs of training series.",
        )
        .optional()
        .or_word("auto"),
        Parameter::new("root", Values::Flag, "Take the root of the sum.").or("false"),
    ],
    examples: &["dtw", "dtw:window=0.1", "dtw:window=0.2,gamma=0.05", "dtw:gamma=auto", "dtw:root=true"],
    definite: Definite::No,
    definition: Some(Definition::Series(|arguments, x, y, channels| {
        let band = band(arguments.value("window")?, x.len() / channels, y.len() / channels);
        let d = warped(x, y, channels, band);
        let d = if arguments.value("root")? { d.sqrt() } else { d };
        Ok(arguments.get::<f64>("gamma")?.map_or(-d, |gamma| (-gamma * d).exp()))
    })),
    onnx: Onnx::NO_VECTORS,
    build: |step| built(Dtw::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[DTW];

/// How d becomes a similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// −d.
    Negative,
    /// exp(−gamma d) with a learned gamma.
    Auto,
    /// exp(−gamma d).
    Exponential(f64),
}

/// Similarity of series by dynamic time warping, in single precision.
///
/// A pair costs about (2w + 1) · length cells of 3 + 2 · channels operations each.
#[derive(Clone, Debug, PartialEq)]
pub struct Dtw {
    window: f64,
    root: bool,
    form: Form,
    step: Step,
}

/// With eight lanes or more.
const SECONDS_A_CELL: f64 = 0.3e-9;

/// Number of series on each side from which `gamma=auto` takes the mean distance; with fewer, some are repeated.
const PROBES: usize = 64;

impl Dtw {
    /// The similarity of a spec such as `dtw` or `dtw:window=0.1,gamma=2`.
    ///
    /// `window` is 0 to 1 (default 1, no band); `root` true or false; `gamma` a number, or `auto`: 1 / mean d over
    /// pairs of training series, learned by `fit` and then shown as a number.
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = DTW.arguments(step)?;
        let form = match arguments.get("gamma")? {
            None if arguments.is_word("gamma") => Form::Auto,
            None => Form::Negative,
            Some(gamma) => Form::Exponential(gamma),
        };
        Ok(Dtw { window: arguments.value("window")?, root: arguments.value("root")?, form, step: step.clone() })
    }

    /// The half-width of the band for two lengths.
    fn band(&self, m: usize, n: usize) -> usize {
        band(self.window, m, n)
    }

    fn problem(&self, problem: String) -> Error {
        Error::Similarity { similarity: self.step.to_string(), problem }
    }

    fn check(&self, bases: &Series, samples: &Series) -> Result<()> {
        if bases.channels() != samples.channels() {
            return Err(self.problem(format!(
                "the samples have {} channels, the bases {}: they need the same",
                samples.channels(),
                bases.channels()
            )));
        }
        for (is_basis, series) in [(true, bases), (false, samples)] {
            let Some((number, problem)) = series.problem() else { continue };
            return Err(Error::Sample { similarity: self.step.to_string(), is_basis, number, problem });
        }
        Ok(())
    }

    /// block\[sample\]\[basis\] = d.
    fn distances(&self, bases: &Series, samples: &Series, block: &mut [f32]) -> Result<()> {
        self.check(bases, samples)?;
        let (isa, n, mut work) = (Isa::best(), bases.len(), Work::default());
        // Sorted by length, so that the series of a group end together. A pair's arithmetic does not depend on the
        // lane.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&basis| bases.length(basis));
        for members in order.chunks(isa.lanes()) {
            let group = Group::new(isa, bases, members);
            for sample in 0..samples.len() {
                let bands = members.iter().map(|&basis| self.band(samples.length(sample), bases.length(basis)));
                let found = group.distances(isa, samples.series(sample), bands, &mut work);
                for (&basis, &d) in members.iter().zip(found) {
                    if !d.is_finite() {
                        return Err(self.problem(format!(
                            "sample {sample}, basis {basis} (from 0): the squared differences leave single precision; \
                             scale the series, as 'znorm' does"
                        )));
                    }
                    block[sample * n + basis] = if self.root { d.sqrt() } else { d };
                }
            }
        }
        Ok(())
    }
}

impl Similarity for Dtw {
    type Samples = Series;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    fn fit(&mut self, training: &Training<'_, Series>) -> Result<()> {
        if self.form != Form::Auto {
            return Ok(());
        }
        // Evenly spaced in cumulative weight, so that a weight selects the same series as copies.
        let (rows, bases) = (evenly(training.weights, 0.25), evenly(training.weights, 0.75));
        let (x, y) = (training.samples.select(&rows)?, training.samples.select(&bases)?);
        let mut block = vec![0.0; x.len() * y.len()];
        self.distances(&y, &x, &mut block).map_err(|error| error.of_bases_and_rows(&bases, &rows))?;
        // The distance of a series to itself carries no information about the scale.
        let apart: Vec<f64> = block.into_iter().filter(|d| *d > 0.0).map(f64::from).collect();
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        let gamma = if mean > 0.0 { 1.0 / mean } else { 1.0 };
        self.form = Form::Exponential(gamma);
        self.step.set("gamma", gamma);
        Ok(())
    }

    fn seconds_a_pair(&self, bases: &Series) -> f64 {
        let cells = |length: usize| (length * (2 * self.band(length, length) + 1).min(length)) as f64;
        let total: f64 = bases.lengths().into_iter().map(cells).sum();
        SECONDS_A_CELL * bases.channels() as f64 * total / bases.len().max(1) as f64
    }

    fn block(&self, bases: &Series, samples: &Series, block: &mut [f32]) -> Result<()> {
        self.distances(bases, samples, block)?;
        match self.form {
            Form::Negative => block.iter_mut().for_each(|d| *d = -*d),
            Form::Exponential(gamma) => block.iter_mut().for_each(|d| *d = (-gamma * f64::from(*d)).exp() as f32),
            Form::Auto => return Err(self.problem("its gamma has not been learned yet: give one, or fit it".into())),
        }
        Ok(())
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

/// The half-width of the band, a share of the longer of two lengths, wide enough that there is a path.
fn band(window: f64, m: usize, n: usize) -> usize {
    // The small addition is for shares such as 0.29, whose product with 100 falls short of 29.
    let steps = (window * m.max(n) as f64 + 1e-9).floor() as usize;
    steps.max(m.abs_diff(n))
}

/// The whole table, in double precision, straight from the definition.
fn warped(x: &[f32], y: &[f32], channels: usize, band: usize) -> f64 {
    let (m, n) = (x.len() / channels, y.len() / channels);
    let mut table = vec![vec![f64::INFINITY; n]; m];
    for i in 0..m {
        for j in 0..n {
            let difference = |c: usize| f64::from(x[i * channels + c]) - f64::from(y[j * channels + c]);
            let cost: f64 = (0..channels).map(|c| difference(c).powi(2)).sum();
            let before = [(1, 0), (0, 1), (1, 1)].map(|(di, dj)| match (i.checked_sub(di), j.checked_sub(dj)) {
                (Some(i), Some(j)) => table[i][j],
                _ => f64::INFINITY,
            });
            let best = if i + j == 0 { 0.0 } else { before.into_iter().fold(f64::INFINITY, f64::min) };
            table[i][j] = if i.abs_diff(j) <= band { cost + best } else { f64::INFINITY };
        }
    }
    table[m - 1][n - 1]
}

/// Rows at [`PROBES`] evenly spaced places of the sum of the weights.
fn evenly(weights: &[f64], offset: f64) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let mut rows = Vec::with_capacity(PROBES);
    let (mut before, mut row) = (0.0, 0);
    for probe in 0..PROBES {
        let place = (probe as f64 + offset) / PROBES as f64 * total;
        while row + 1 < weights.len() && before + weights[row] <= place {
            before += weights[row];
            row += 1;
        }
        rows.push(row);
    }
    rows
}
