//! Hydra: series as how often, and how strongly, random kernels win against others, `hydra:groups=64`.
//!
//! Dempster, Schmidt and Webb, *Hydra: Competing convolutional kernels for fast and accurate time series
//! classification*,
//! 2023. The kernels have nine normal weights, less their mean and divided by the sum of their sizes, and come in groups of
//! eight. Each group is applied at one dilation, 2^e for each e up to where the kernel spans the longest training
//! series, to the series or to its differences, with zeros before and after. At each time step the kernel with the
//! largest response gets that response, and the kernel with the least response is counted. A feature is the square root
//! of such a sum.
//!
//! Here a sum is divided by the number of time steps, so that series of any length can be compared; in series of one
//! length that is a common factor. Several channels: each dilation and group has a random set of channels, as in
//! [MiniRocket](super::MiniRocket), whose sum it is applied to.

mod compete;
#[cfg(test)]
mod tests;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::compete::{GROUP_SIZE, LENGTH, SLACK, compete};
use super::channel_sets::{self, whole_numbers};
use super::row::{DescriptorRow, fitted, rows_of};
use super::{Descriptor, convolved};
use crate::data::{DenseMatrix, Samples, Series, Training};
use crate::error::{Error, Result};
use crate::isa::{Isa, dispatch};
use crate::parameters::{Parameter, Values};
use crate::simd::Simd;
use crate::spec::Step;

pub(crate) const HYDRA: DescriptorRow = DescriptorRow {
    name: "hydra",
    class: "Hydra",
    samples: &["time series"],
    parameters: &[
        Parameter::new("groups", Values::Whole(2, 1024), "The number of groups per dilation, even.").or("64").written(),
        Parameter::new(
            "seed",
            Values::Whole(0, 1 << 53),
            "The seed of the kernels and, for several channels, of the channels to add.",
        )
        .or("0"),
    ],
    usual: "linear",
    build: |step| Ok(vec![Box::new(Hydra::from_step(step)?)]),
};

/// The sources of a group's kernels: the series, and its differences.
const SOURCES: usize = 2;

/// Series to vectors of the wins of competing kernels, for series of the length of the training series.
#[derive(Clone, Debug, PartialEq)]
pub struct Hydra {
    groups: usize,
    seed: u64,
    fitted: Option<Fitted>,
    /// `fitted` as numbers, for the model file.
    state: [Vec<f32>; 3],
}

#[derive(Clone, Debug, PartialEq)]
struct Fitted {
    n_channels: usize,
    /// Ascending.
    dilations: Vec<usize>,
    /// \[dilation\]\[source\]\[group\]: the channels whose sum it is applied to; empty for series of one channel.
    channels: Vec<Vec<usize>>,
    /// \[dilation\]\[source\]\[group\]\[kernel\]\[place\].
    weights: Vec<f32>,
}

/// The names of the arrays of the state.
const STATE: [&str; 3] = ["weights", "dilations", "channels"];

impl Hydra {
    /// The descriptor of a step, whose parameters are `groups` (default 64) and `seed` (0).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = HYDRA.arguments(step)?;
        let (groups, seed): (usize, u64) = (arguments.value("groups")?, arguments.value("seed")?);
        if !groups.is_multiple_of(SOURCES) {
            return Err(arguments.wrong("groups", "an even number from 2 to 1024".into()));
        }
        Ok(Hydra { groups, seed, fitted: None, state: Default::default() })
    }

    /// Draws the kernels for the length of the longest training series.
    ///
    /// # Errors
    /// Those of reading the series.
    pub fn fit_series(&mut self, training: &Training<'_, Series>) -> Result<()> {
        let (length, n_channels) = convolved::shape(training)?;
        let dilations = dilations(length);
        let n_groups = dilations.len() * self.groups;
        let channels = if n_channels > 1 { channel_sets::draw(n_groups, n_channels, self.seed) } else { Vec::new() };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ 0x6879_6472);
        let weights = (0..n_groups * GROUP_SIZE).flat_map(|_| kernel(&mut random)).collect();
        self.set(Fitted { n_channels, dilations, channels, weights });
        Ok(())
    }

    /// The features of each series.
    ///
    /// # Errors
    /// Series with another number of channels or with a value that is not a finite number, and where it was not fitted.
    pub fn features(&self, series: &Series) -> Result<DenseMatrix<f32>> {
        let Some(fitted) = &self.fitted else {
            return Err(Error::similarity(self.spec(), "its kernels have not been drawn yet: fit it first"));
        };
        convolved::check(&self.spec(), series, fitted.n_channels)?;
        let mut work = Work { fitted, isa: Isa::best(), sources: Default::default(), sum: Vec::new() };
        let advice = "ask for fewer groups, as in hydra:groups=16";
        rows_of([series.len(), fitted.n_features()], ["features", "series"], advice, |at, out| {
            work.features(series.series(at), out);
        })
    }

    fn set(&mut self, fitted: Fitted) {
        let dilations = fitted.dilations.iter().map(|&dilation| dilation as f32).collect();
        let channels = channel_sets::to_numbers(fitted.n_channels, &fitted.channels);
        self.state = [fitted.weights.clone(), dilations, channels];
        self.fitted = Some(fitted);
    }

    /// Reads the drawn kernels from the arrays of the state.
    fn read(groups: usize, [weights, dilations, channels]: [Vec<f32>; 3]) -> Option<Fitted> {
        let dilations = whole_numbers(&dilations)?;
        let (n_channels, sets) = channel_sets::from_numbers(&channels)?;
        let n_groups = dilations.len() * groups;
        let sets_hold = sets.len() == if n_channels > 1 { n_groups } else { 0 };
        let dilations_hold = !dilations.is_empty() && dilations.iter().all(|&d| d > 0) && dilations.is_sorted();
        let weights_hold = weights.len() == n_groups * GROUP_SIZE * LENGTH && weights.iter().all(|w| w.is_finite());
        let holds = sets_hold && dilations_hold && weights_hold;
        holds.then_some(Fitted { n_channels, dilations, channels: sets, weights })
    }
}

/// 2^e up to where the kernel spans a series of this length.
fn dilations(length: usize) -> Vec<usize> {
    let most = length.saturating_sub(1) / (LENGTH - 1);
    std::iter::successors(Some(1), |dilation| Some(2 * dilation)).take_while(|&d| d == 1 || d <= most).collect()
}

/// Normal weights less their mean, divided by the sum of their sizes.
fn kernel(random: &mut Xoshiro256PlusPlus) -> [f32; LENGTH] {
    // Box & Muller, A note on the generation of random normal deviates, 1958.
    let mut normal = || {
        let (radius, angle) = (1.0 - random.random::<f64>(), std::f64::consts::TAU * random.random::<f64>());
        (-2.0 * radius.ln()).sqrt() * angle.cos()
    };
    let mut weights = [0.0; LENGTH];
    weights.iter_mut().for_each(|weight| *weight = normal());
    let mean = weights.iter().sum::<f64>() / LENGTH as f64;
    weights.iter_mut().for_each(|weight| *weight -= mean);
    let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
    weights.map(|weight| (weight / size) as f32)
}

impl Fitted {
    fn n_features(&self) -> usize {
        self.weights.len() / (GROUP_SIZE * LENGTH) * 2 * GROUP_SIZE
    }

    /// Zeros before and after a channel, so that all kernels at all time steps are within.
    fn padding(&self) -> usize {
        LENGTH / 2 * self.dilations.last().copied().unwrap_or(0)
    }
}

/// Buffers for one series at a time.
struct Work<'a> {
    fitted: &'a Fitted,
    isa: Isa,
    /// The series and its differences, \[channel\]\[padding + time + padding + slack\].
    sources: [Padded; SOURCES],
    /// Of several channels.
    sum: Vec<f32>,
}

#[derive(Default)]
struct Padded {
    n_steps: usize,
    /// Numbers of a channel.
    stride: usize,
    values: Vec<f32>,
}

impl Padded {
    /// Sets a source to `value` of each channel and time step.
    fn set(&mut self, n_steps: usize, n_channels: usize, padding: usize, value: impl Fn(usize, usize) -> f32) {
        (self.n_steps, self.stride) = (n_steps, 2 * padding + n_steps + SLACK);
        self.values.clear();
        self.values.resize(n_channels * self.stride, 0.0);
        for (channel, values) in self.values.chunks_mut(self.stride).enumerate() {
            values[padding..][..n_steps].iter_mut().enumerate().for_each(|(t, out)| *out = value(channel, t));
        }
    }

    fn channel(&self, channel: usize) -> &[f32] {
        &self.values[channel * self.stride..][..self.stride]
    }
}

impl Work<'_> {
    /// The features of a series, \[time\]\[channel\].
    fn features(&mut self, values: &[f32], out: &mut [f32]) {
        let Fitted { n_channels, dilations, channels, weights } = self.fitted;
        let (n_channels, padding) = (*n_channels, self.fitted.padding());
        let n_steps = values.len() / n_channels;
        let at = |channel: usize, t: usize| values[t * n_channels + channel];
        let [plain, differences] = &mut self.sources;
        plain.set(n_steps, n_channels, padding, at);
        // The numbers are finite, but their difference may overflow.
        let difference = |channel, t| (at(channel, t + 1) - at(channel, t)).clamp(f32::MIN, f32::MAX);
        differences.set(n_steps - 1, n_channels, padding, difference);
        let n_groups = weights.len() / (GROUP_SIZE * LENGTH) / dilations.len();
        let groups = weights.chunks_exact(GROUP_SIZE * LENGTH).zip(out.as_chunks_mut::<{ 2 * GROUP_SIZE }>().0);
        for (number, (weights, out)) in groups.enumerate() {
            let dilation = dilations[number / n_groups];
            let source = &self.sources[number % n_groups / (n_groups / SOURCES)];
            let x = match channels.get(number) {
                None => source.channel(0),
                Some(set) => {
                    self.sum.clear();
                    self.sum.resize(source.stride, 0.0);
                    for &channel in set {
                        self.sum.iter_mut().zip(source.channel(channel)).for_each(|(sum, x)| *sum += x);
                    }
                    &self.sum
                }
            };
            let (x, span) = (&x[padding - LENGTH / 2 * dilation..], (dilation, source.n_steps));
            dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || compete(simd, x, span, weights, out)));
            // A sum of responses may be below 0, and counts as 0.
            out.iter_mut().for_each(|share| *share = share.max(0.0).sqrt());
        }
    }
}

convolved::descriptor!(Hydra: HYDRA, groups);
