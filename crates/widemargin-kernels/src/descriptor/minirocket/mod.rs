//! MiniRocket: series as shares of convolutions above biases, `minirocket:features=10000`.
//!
//! Dempster, Schmidt and Webb, *MiniRocket: A Very Fast (Almost) Deterministic Transform for Time Series
//! Classification*, 2021. A kernel has nine weights, three of them 2 and six −1: there are 84. Each is applied at up to
//! 32 dilations, ⌊2^e⌋ with e evenly spaced up to where the kernel spans the longest training series. A feature is the
//! share of a convolution's values that is above a bias (PPV, the proportion of positive values). A bias is a quantile
//! of the convolution of one training series; the quantiles are the fractional parts of multiples of the golden ratio.
//! Half of the kernels see zeros before and after the series, the others only the time steps at which they lie within
//! the series.
//!
//! Several channels: each dilation and kernel has a random set of channels, whose convolutions are summed.
//!
//! Unequal lengths: the dilations are those of the longest training series, and the shares are over a series's own time
//! steps. A kernel longer than a series sees zeros before and after it, whichever half it belongs to; so a series
//! may have any length.
//!
//! Random choices of the paper: each convolution takes its bias from one of up to `BIAS_PROBES` training series,
//! evenly spaced in the sum of the weights; the seed draws which. It also draws the channels.

mod convolve;
mod layout;
mod tally;
#[cfg(test)]
mod tests;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::convolve::Work;
use self::layout::{Layout, N_KERNELS, quantile};
use super::channel_sets::{self, whole_numbers};
use super::row::{DescriptorRow, fitted, rows_of};
use super::{Descriptor, convolved};
use crate::data::{DenseMatrix, Samples, Series, Training, samples_at};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;
use crate::tuning::BIAS_PROBES;

pub(crate) const MINIROCKET: DescriptorRow = DescriptorRow {
    name: "minirocket",
    class: "MiniRocket",
    samples: &["time series"],
    parameters: &[
        Parameter::new("features", Values::Whole(84, 1_000_000), "The number, rounded down to a multiple of 84.")
            .or("10000")
            .written(),
        Parameter::new(
            "seed",
            Values::Whole(0, 1 << 53),
            "The seed of the selection of a series for each bias and, for several channels, of the channels to add.",
        )
        .or("0"),
    ],
    usual: "linear",
    build: |step| Ok(vec![Box::new(MiniRocket::from_step(step)?)]),
};

/// Series to vectors of shares, learned from the training series.
#[derive(Clone, Debug, PartialEq)]
pub struct MiniRocket {
    features: usize,
    seed: u64,
    fitted: Option<Fitted>,
    /// `fitted` as numbers, for the model file.
    state: [Vec<f32>; 4],
}

#[derive(Clone, Debug, PartialEq)]
struct Fitted {
    n_channels: usize,
    layout: Layout,
    /// Ordered as the features.
    biases: Vec<f32>,
}

/// The names of the arrays of the state.
const STATE: [&str; 4] = ["biases", "dilations", "counts", "channels"];

impl MiniRocket {
    /// The descriptor of a step, whose parameters are `features` (default 10000) and `seed` (0).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = MINIROCKET.arguments(step)?;
        let (features, seed) = (arguments.value("features")?, arguments.value("seed")?);
        Ok(MiniRocket { features, seed, fitted: None, state: Default::default() })
    }

    /// Learns the dilations and biases.
    ///
    /// # Errors
    /// A series with a value that is not a finite number, with its row.
    pub fn fit_series(&mut self, training: &Training<'_, Series>) -> Result<()> {
        let (length, n_channels) = convolved::shape(training)?;
        let layout = Layout::new(self.features, length, n_channels, self.seed);
        let places = probes(training.weights);
        let mut rows = places.clone();
        rows.dedup();
        let probes = training.samples.select(&rows)?;
        convolved::check(&self.spec(), &probes, n_channels).map_err(|error| error.of_rows(&rows))?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 0x6269_6173);
        let mut biases = Vec::with_capacity(layout.n_features());
        let mut work = Work::new(&layout, Isa::best(), n_channels);
        let mut values = Vec::new();
        for (dilation, &count) in layout.counts.iter().enumerate() {
            training.go_on("describe")?;
            for kernel in 0..N_KERNELS {
                let row = places[random.random_range(0..BIAS_PROBES)];
                let probe = probes.series(rows.binary_search(&row).expect("a row of a place"));
                work.convolution(probe, dilation, kernel, &mut values);
                let first = biases.len();
                let quantiles = (first..first + count).map(quantile).collect::<Vec<_>>();
                biases.extend(interpolated(&mut values, &quantiles));
            }
        }
        self.set(Fitted { n_channels, layout, biases });
        Ok(())
    }

    /// The features of each series.
    ///
    /// # Errors
    /// Series with another number of channels or with a value that is not a finite number, and where it was not fitted.
    pub fn features(&self, series: &Series) -> Result<DenseMatrix<f32>> {
        let Some(Fitted { n_channels, layout, biases }) = &self.fitted else {
            return Err(Error::similarity(self.spec(), "its biases have not been learned yet: fit it first"));
        };
        convolved::check(&self.spec(), series, *n_channels)?;
        let mut work = Work::new(layout, Isa::best(), *n_channels);
        let advice = "ask for fewer features, as in minirocket:features=2000";
        rows_of([series.len(), biases.len()], ["features", "series"], advice, |at, out| {
            work.features(series.series(at), biases, out);
        })
    }

    fn set(&mut self, fitted: Fitted) {
        let Fitted { layout, biases, n_channels } = &fitted;
        let numbers = |values: &[usize]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
        let channels = channel_sets::to_numbers(*n_channels, &layout.channels);
        self.state = [biases.clone(), numbers(&layout.dilations), numbers(&layout.counts), channels];
        self.fitted = Some(fitted);
    }

    /// Reads the fitted state from its arrays.
    fn read(_features: usize, [biases, dilations, counts, channels]: [Vec<f32>; 4]) -> Option<Fitted> {
        let (dilations, counts) = (whole_numbers(&dilations)?, whole_numbers(&counts)?);
        let (n_channels, sets) = channel_sets::from_numbers(&channels)?;
        let n_groups = dilations.len() * N_KERNELS;
        let sets_hold = sets.len() == if n_channels > 1 { n_groups } else { 0 };
        let dilations_hold = !dilations.is_empty()
            && dilations.iter().all(|&d| d > 0)
            && dilations.is_sorted()
            && counts.len() == dilations.len();
        let layout = Layout { dilations, counts, channels: sets };
        let holds = sets_hold && dilations_hold && layout.n_features() == biases.len();
        (holds && !biases.is_empty()).then_some(Fitted { n_channels, layout, biases })
    }
}

convolved::descriptor!(MiniRocket: MINIROCKET, features);

/// The row at each of [`BIAS_PROBES`] evenly spaced places of the sum of the weights: a weight is a number of copies.
fn probes(weights: &[f64]) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let places = (0..BIAS_PROBES).map(|probe| (probe as f64 + 0.5) / BIAS_PROBES as f64 * total);
    samples_at(|row| weights[row], weights.len(), places)
}

/// The quantiles of numbers, linear between two of them.
fn interpolated(values: &mut [f32], quantiles: &[f64]) -> Vec<f32> {
    let last = values.len() - 1;
    let places: Vec<f64> = quantiles.iter().map(|quantile| quantile * last as f64).collect();
    let mut needed: Vec<usize> = places.iter().map(|place| place.floor() as usize).collect();
    needed.extend(needed.clone().into_iter().map(|place| (place + 1).min(last)));
    needed.sort_unstable();
    needed.dedup();
    // Each needed value moves to its place, among those behind the previous one.
    let mut done = 0;
    for place in needed {
        values[done..].select_nth_unstable_by(place - done, f32::total_cmp);
        done = place + 1;
    }
    let at = |place: &f64| {
        let (below, share) = (place.floor() as usize, place.fract());
        let above = values[(below + 1).min(last)];
        (f64::from(values[below]) * (1.0 - share) + f64::from(above) * share) as f32
    };
    places.iter().map(at).collect()
}
