//! Similarities of series by any elastic distance.

use super::lanes::{Group, Work};
use super::path::path;
use super::rule::{Extra, Offsets, Rule};
use crate::data::{Samples, Series, Training, samples_at};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::parameters::{Parameter, Values};
use crate::similarity::{Comparison, Similarity};
use crate::spec::Step;
use crate::tuning::GAMMA_PROBES;

/// The parameter of the band, which all have.
pub(super) const WINDOW: Parameter = Parameter::new(
    "window",
    Values::SHARE,
    "The half-width of the band of warping paths, as a fraction of the longer series, but at least the difference of the \
     lengths; 1 means no band.",
)
.or("1");

/// How a distance becomes a similarity.
pub(super) const GAMMA: Parameter = Parameter::new(
    "gamma",
    Values::POSITIVE,
    "If not set, the similarity is −d. `auto` is 1 / mean d over pairs of training series.",
)
.optional()
.or_word("auto");

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

/// Similarity of series by an elastic distance, in single precision.
///
/// A pair costs about (2w + 1) · length cells, w half the width of its band.
#[derive(Clone, Debug, PartialEq)]
pub struct Elastic<F> {
    pub(super) rule: F,
    window: f64,
    form: Form,
    step: Step,
}

#[allow(private_bounds, reason = "the rules are the library's")]
impl<F: Rule> Elastic<F> {
    /// The similarity of a spec such as `dtw` or `dtw:window=0.1,gamma=2`.
    ///
    /// `window` is 0 to 1 (default 1, no band); `gamma` a number, or `auto`: 1 / mean d over pairs of training series,
    /// learned by `fit` and then shown as a number.
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = F::ROW.arguments(step)?;
        let form = match arguments.get("gamma")? {
            None if arguments.is_word("gamma") => Form::Auto,
            None => Form::Negative,
            Some(gamma) => Form::Exponential(gamma),
        };
        Ok(Elastic { rule: F::read(&arguments)?, window: arguments.value("window")?, form, step: step.clone() })
    }

    /// The half-width of the band for two lengths: a share of the longer one, wide enough that there is a path.
    pub(super) fn band(&self, m: usize, n: usize) -> usize {
        // The small addition is for shares such as 0.29, whose product with 100 falls short of 29.
        let steps = (self.window * m.max(n) as f64 + 1e-9).floor() as usize;
        steps.max(m.abs_diff(n))
    }

    fn check(&self, bases: &Series, samples: &Series) -> Result<()> {
        if bases.channels() != samples.channels() {
            let (found, trained) = (samples.channels(), bases.channels());
            let problem = format!("the samples have {found} channels, the bases {trained}: they need the same");
            return Err(Error::similarity(self.spec(), problem));
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
        let longest = bases.lengths().into_iter().chain(samples.lengths()).max().unwrap_or(0);
        let offsets = self.rule.offsets(longest);
        let (of_bases, of_samples) = (self.extras(bases), self.extras(samples));
        let own = self.rule.subtracts_own().then(|| {
            let own = |series, extras: &[Extra]| self.own_distances(isa, series, extras, &offsets);
            (own(bases, &of_bases), own(samples, &of_samples))
        });
        let order = by_length(bases);
        for members in order.chunks(isa.lanes()) {
            let group = Group::new(isa, bases, &of_bases, members);
            for sample in 0..samples.len() {
                let bands = members.iter().map(|&basis| self.band(samples.length(sample), bases.length(basis)));
                let x = (samples.series(sample), &of_samples[sample]);
                let found = group.distances(isa, self.rule, x, bands, &offsets, &mut work);
                for (&basis, &d) in members.iter().zip(found) {
                    let d = own.as_ref().map_or(d, |(y, x)| d - 0.5 * (x[sample] + y[basis]));
                    if !d.is_finite() {
                        let problem = format!(
                            "sample {sample}, basis {basis} (from 0): the differences leave single precision; scale \
                             the series, as 'znorm' does"
                        );
                        return Err(Error::similarity(self.spec(), problem));
                    }
                    block[sample * n + basis] = d;
                }
            }
        }
        Ok(())
    }

    pub(super) fn extras(&self, series: &Series) -> Vec<Extra> {
        (0..series.len()).map(|at| self.rule.extra(series.series(at), series.channels())).collect()
    }

    /// d of each series and itself.
    fn own_distances(&self, isa: Isa, series: &Series, extras: &[Extra], offsets: &Offsets) -> Vec<f32> {
        let (mut own, mut work) = (vec![0.0; series.len()], Work::default());
        for equal in by_length(series).chunk_by(|&a, &b| series.length(a) == series.length(b)) {
            for members in equal.chunks(isa.lanes()) {
                let group = Group::new(isa, series, extras, members);
                let length = series.length(members[0]);
                let found = group.own_distances(isa, self.rule, self.band(length, length), offsets, &mut work);
                members.iter().zip(found).for_each(|(&at, &d)| own[at] = d);
            }
        }
        own
    }
}

impl<F: Rule> Similarity for Elastic<F> {
    type Samples = Series;

    crate::macros::symmetric_step!();

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
        let distances: Vec<f64> = block.into_iter().filter(|d| *d > 0.0).map(f64::from).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let gamma = if mean > 0.0 { 1.0 / mean } else { 1.0 };
        self.form = Form::Exponential(gamma);
        self.step.set("gamma", gamma);
        Ok(())
    }

    fn seconds_per_pair(&self, bases: &Series) -> f64 {
        let cells = |length: usize| (length * (2 * self.band(length, length) + 1).min(length)) as f64;
        let total: f64 = bases.lengths().into_iter().map(cells).sum();
        F::SECONDS_PER_CELL * bases.channels() as f64 * total / bases.len().max(1) as f64
    }

    fn block(&self, bases: &Series, samples: &Series, block: &mut [f32]) -> Result<()> {
        self.distances(bases, samples, block)?;
        match self.form {
            Form::Negative => block.iter_mut().for_each(|d| *d = -*d),
            Form::Exponential(gamma) => block.iter_mut().for_each(|d| *d = (-gamma * f64::from(*d)).exp() as f32),
            Form::Auto => {
                let problem = "its gamma has not been learned yet: give one, or fit it";
                return Err(Error::similarity(self.spec(), problem));
            }
        }
        Ok(())
    }

    fn comparison(&self, _part: usize, basis: &Series, sample: &Series) -> Result<Option<Comparison>> {
        self.check(basis, sample)?;
        Ok(path(self.rule, self.band(sample.length(0), basis.length(0)), basis, sample))
    }
}

/// Sorted by length, so that the series of a group end together. A pair's arithmetic does not depend on the lane.
fn by_length(series: &Series) -> Vec<usize> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by_key(|&at| series.length(at));
    order
}

/// Rows at [`GAMMA_PROBES`] evenly spaced places of the sum of the weights.
fn evenly(weights: &[f64], offset: f64) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let places = (0..GAMMA_PROBES).map(|probe| (probe as f64 + offset) / GAMMA_PROBES as f64 * total);
    samples_at(|row| weights[row], weights.len(), places)
}
