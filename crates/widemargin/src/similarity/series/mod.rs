//! Dynamic time warping of series: `dtw:window=0.1,gamma=2`.
//!
//! d(x, y) is the smallest Σ ‖x_i − y_j‖² along a path of steps (1, 0), (0, 1), (1, 1) from the first pair of time
//! steps to the last (Sakoe and Chiba, *Dynamic programming algorithm optimization for spoken word recognition*, 1978;
//! no slope weights). Several channels warp together: ‖·‖² sums over them. It is the sum of the squares and not its
//! root, as in aeon; tslearn's is the root, `root=true`. Without warping (window=0) d is the squared Euclidean
//! distance of two series of one length.
//!
//! The path may leave the diagonal by at most w = max(⌊window · longer length⌋, difference of the lengths) steps,
//! |i − j| ≤ w: a band around the diagonal, wide enough that there is always a path.
//!
//! s = exp(−gamma d) with a gamma, −d without one. Neither is definite: warping breaks the triangle inequality.

use super::Similarity;
use super::named::expect_name;
use crate::data::{Samples, Series, Training};
use crate::error::{Error, Result};
use crate::spec::Step;

/// How d becomes a similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// −d.
    Negative,
    /// exp(−gamma d), gamma to be learned.
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

/// Series on each side from which `gamma=auto` takes the mean distance; where there are fewer, some come twice.
const PROBES: usize = 64;

impl Dtw {
    /// The similarity of a spec such as `dtw` or `dtw:window=0.1,gamma=2`.
    ///
    /// `window` is 0 to 1 (default 1, no band); `root` true or false; `gamma` a number, or `auto`: 1 / mean d over
    /// pairs of training series, learned by `fit` and then written as a number.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters it does not know or that are outside their domain, and
    /// [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        expect_name(step, "dtw")?;
        let mut arguments = step.arguments();
        let window = arguments
            .get("window", 1.0, "a share of the length, from 0 to 1", |window| (0.0..=1.0).contains(window))?;
        let root = arguments.get("root", false, "true or false", |_| true)?;
        let form = match arguments.text("gamma") {
            None => Form::Negative,
            Some("auto") => Form::Auto,
            Some(_) => Form::Exponential(arguments.positive("gamma", 1.0)?),
        };
        arguments.end()?;
        Ok(Dtw { window, root, form, step: step.clone() })
    }

    /// The half-width of the band for two lengths.
    fn band(&self, m: usize, n: usize) -> usize {
        // The small addition is for shares such as 0.29, whose product with 100 falls short of 29.
        let steps = (self.window * m.max(n) as f64 + 1e-9).floor() as usize;
        steps.max(m.abs_diff(n))
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
        for (what, series) in [("basis", bases), ("sample", samples)] {
            let Some(at) = series.values().iter().position(|value| !value.is_finite()) else { continue };
            let (mut number, mut time) = (0, at / series.channels());
            while time >= series.length(number) {
                time -= series.length(number);
                number += 1;
            }
            return Err(self.problem(format!(
                "{what} {number}, time step {time}, channel {} (from 0) is {}: a value must be a finite number; cut or \
                 interpolate what is missing",
                at % series.channels(),
                series.values()[at]
            )));
        }
        Ok(())
    }

    /// block\[sample\]\[basis\] = d.
    fn distances(&self, bases: &Series, samples: &Series, block: &mut [f32]) -> Result<()> {
        self.check(bases, samples)?;
        let mut rows = Vec::new();
        for (sample, row) in block.chunks_mut(bases.len().max(1)).enumerate() {
            for (basis, entry) in row.iter_mut().enumerate() {
                let band = self.band(samples.length(sample), bases.length(basis));
                let d = distance(samples.series(sample), bases.series(basis), bases.channels(), band, &mut rows);
                if !d.is_finite() {
                    return Err(self.problem(format!(
                        "sample {sample}, basis {basis} (from 0): the squared differences leave single precision; \
                         scale the series, as 'znorm' does"
                    )));
                }
                *entry = if self.root { d.sqrt() } else { d };
            }
        }
        Ok(())
    }
}

/// d of two series, \[time\]\[channel\], in a band of half-width `band` ≥ the difference of their lengths.
fn distance(x: &[f32], y: &[f32], channels: usize, band: usize, rows: &mut Vec<f32>) -> f32 {
    let (m, n) = (x.len() / channels, y.len() / channels);
    // The last row of the table, one column to the left of the first series' first step.
    rows.clear();
    rows.resize(n + 1, f32::INFINITY);
    rows[0] = 0.0;
    for i in 0..m {
        let (from, to) = (i.saturating_sub(band), n.min(i + band + 1));
        let mut diagonal = rows[from];
        // What is left of the band is out of reach, and so is the corner after the first row.
        rows[from] = f32::INFINITY;
        let mut left = f32::INFINITY;
        for j in from..to {
            let up = rows[j + 1];
            let x = &x[i * channels..(i + 1) * channels];
            let y = &y[j * channels..(j + 1) * channels];
            let cost: f32 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            left = cost + left.min(up).min(diagonal);
            diagonal = up;
            rows[j + 1] = left;
        }
    }
    rows[n]
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
        // Evenly spaced in the sum of the weights: the same series where a weight stands for copies.
        let series = |offset: f64| training.samples.select(&evenly(training.weights, offset));
        let (x, y) = (series(0.25)?, series(0.75)?);
        let mut block = vec![0.0; x.len() * y.len()];
        self.distances(&y, &x, &mut block)?;
        // A series beside itself says nothing of the scale.
        let apart: Vec<f64> = block.into_iter().filter(|d| *d > 0.0).map(f64::from).collect();
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        let gamma = if mean > 0.0 { 1.0 / mean } else { 1.0 };
        self.form = Form::Exponential(gamma);
        self.step.set("gamma", gamma);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::sequence_tests::{agrees_by_number, chunks_change_nothing, of};
    use crate::similarity::{Spec, pairwise};
    use crate::watch::Watch;
    use proptest::prelude::*;

    fn dtw(spec: &str) -> Dtw {
        of(spec, Dtw::from_step)
    }

    fn series(lengths: &[usize], channels: usize, seed: u32) -> Series {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 22) as f32 - 2.0
        };
        let n = lengths.iter().sum::<usize>() * channels;
        Series::new((0..n).map(|_| next()).collect(), lengths, channels).unwrap()
    }

    /// The whole table, in double precision, straight from the definition.
    fn brute(x: &[f32], y: &[f32], channels: usize, band: usize) -> f64 {
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

    #[test]
    fn agrees_with_the_definition() {
        for channels in [1, 3] {
            let lengths: Vec<usize> = (0..40).map(|i| if i < 20 { 30 } else { 1 + i * 7 % 41 }).collect();
            let (bases, samples) = (series(&lengths, channels, 1), series(&lengths[15..25], channels, 2));
            for window in [0.0, 0.05, 0.29, 0.5, 1.0] {
                let right = |sample: usize, basis: usize| {
                    let (x, y) = (samples.series(sample), bases.series(basis));
                    let (m, n) = (samples.length(sample), bases.length(basis));
                    let band = ((window * m.max(n) as f64 + 1e-9) as usize).max(m.abs_diff(n));
                    brute(x, y, channels, band)
                };
                let spec = format!("dtw:window={window}");
                agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| -right(i, j));
                let spec = format!("dtw:gamma=0.01,window={window}");
                agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| (-0.01 * right(i, j)).exp());
                let spec = format!("dtw:root=true,window={window}");
                agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| -right(i, j).sqrt());
                chunks_change_nothing(&dtw(&spec), &bases, &samples);
            }
        }
    }

    #[test]
    fn the_band_is_counted_exactly() {
        let s = dtw("dtw:window=0.29");
        assert_eq!([s.band(100, 100), s.band(99, 100), s.band(100, 40), s.band(3, 3)], [29, 29, 60, 0]);
        assert_eq!(dtw("dtw").band(7, 5), 7);
    }

    #[test]
    fn what_cannot_be_compared_is_told_with_its_place() {
        let mut broken = series(&[3, 4], 2, 1);
        broken.values_mut()[6 + 5] = f32::NAN;
        let whole = series(&[3], 2, 1);
        let message = pairwise(&dtw("dtw:window=0.5"), &whole, &broken).unwrap_err().to_string();
        let expected = "similarity 'dtw:window=0.5': sample 1, time step 2, channel 1 (from 0) is NaN: ";
        assert!(message.starts_with(expected), "{message}");
        let message = pairwise(&dtw("dtw"), &whole, &series(&[3], 1, 1)).unwrap_err().to_string();
        assert!(message.contains("1 channels, the bases 2"), "{message}");
        let mut large = series(&[3], 2, 1);
        large.values_mut()[0] = 1e30;
        let message = pairwise(&dtw("dtw"), &large, &whole).unwrap_err().to_string();
        assert!(message.contains("leave single precision"), "{message}");
        for (wrong, word) in [("dtw:window=2", "from 0 to 1"), ("dtw:gamma=-1", "above 0"), ("dtw:band=1", "'band'")] {
            let spec: Spec = wrong.parse().unwrap();
            let message = Dtw::from_step(&spec.steps[0]).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn gamma_is_learned_and_written_and_copies_are_weights() {
        let copies = [0, 0, 2, 3, 3, 3, 4];
        let all = series(&[9, 8, 12, 7, 10], 1, 5);
        let fit = |samples: &Series, weights: &[f64]| {
            let mut s = dtw("dtw:gamma=auto,window=0.5");
            assert!(s.block(samples, samples, &mut vec![0.0; samples.len().pow(2)]).is_err());
            s.fit(&Training { samples, weights, threads: 1, watch: &Watch::none() }).unwrap();
            s.spec()
        };
        let spec = fit(&all.clone(), &[2.0, 0.0, 1.0, 3.0, 1.0]);
        let learned: f64 =
            spec.strip_prefix("dtw:gamma=").unwrap().strip_suffix(",window=0.5").unwrap().parse().unwrap();
        assert!(learned > 0.001 && learned < 1.0, "{spec}");
        assert_eq!(fit(&all.select(&copies), &[1.0; 7]), spec);
        assert_eq!(fit(&all.select(&[0]), &[1.0]), "dtw:gamma=1,window=0.5");
    }

    proptest! {
        #[test]
        fn invariants(
            lengths in prop::collection::vec(1usize..12, 2..9), channels in 1usize..3, seed in any::<u32>(),
        ) {
            let all = series(&lengths, channels, seed);
            let n = lengths.len();
            let mut wider = vec![f32::INFINITY; n * n];
            for window in [0.0, 0.2, 0.6, 1.0] {
                let block = chunks_change_nothing(&dtw(&format!("dtw:window={window}")), &all, &all);
                for i in 0..n {
                    prop_assert_eq!(block[i * n + i], 0.0);
                    for j in 0..n {
                        let d = -block[i * n + j];
                        prop_assert_eq!(block[i * n + j], block[j * n + i]);
                        prop_assert!(d <= wider[i * n + j] * (1.0 + 1e-5));
                        wider[i * n + j] = d;
                    }
                }
            }
        }
    }
}
