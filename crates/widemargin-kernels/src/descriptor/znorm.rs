//! Z-normalization of each series: mean 0 and standard deviation 1.

use super::Descriptor;
use super::row::{DescriptorRow, converts};
use crate::data::Series;

pub(crate) const ZNORM: DescriptorRow = DescriptorRow {
    name: "znorm",
    class: "ZNorm",
    samples: &["time series"],
    parameters: &[],
    usual: "dtw",
    build: |step| ZNORM.arguments(step).map(|_| vec![Box::new(ZNorm) as _]),
};

/// Takes from each channel of each series its mean and divides by its standard deviation (over n, not n − 1), as
/// the UCR archive has its series. It learns nothing.
///
/// A channel that is constant, up to rounding, becomes 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZNorm;

impl ZNorm {
    /// The normalized series; sums are in double precision.
    pub fn normalized(&self, mut series: Series) -> Series {
        let (lengths, channels) = (series.lengths(), series.channels());
        let mut rest = series.values_mut();
        for length in lengths {
            let (values, others) = rest.split_at_mut(length * channels);
            (0..channels).for_each(|channel| normalize(values, channels, channel, length as f64));
            rest = others;
        }
        series
    }
}

impl Descriptor for ZNorm {
    fn spec(&self) -> String {
        "znorm".into()
    }

    converts!(Series => Series, "normalizes time series", |znorm, series| znorm.normalized(series));
}

fn normalize(values: &mut [f32], channels: usize, channel: usize, n: f64) {
    let of_channel = || values.iter().skip(channel).step_by(channels).map(|&value| f64::from(value));
    let mean = of_channel().sum::<f64>() / n;
    let deviation = (of_channel().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    // A constant is the same f32 everywhere: only the mean deviates, by double-precision rounding.
    let constant = deviation <= 1e-12 * mean.abs() || deviation == 0.0;
    let scale = if constant { 0.0 } else { 1.0 / deviation };
    for value in values.iter_mut().skip(channel).step_by(channels) {
        *value = ((f64::from(*value) - mean) * scale) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    #[test]
    fn each_channel_of_each_series_by_itself() {
        let values = [1.0, 7.3, 3.0, 7.3, 5.0, 7.3, 1e6, -2.0, 1e6 + 2.0, 2.0];
        let series = ZNorm.normalized(Series::new(values.to_vec(), &[3, 2], 2).unwrap());
        let unit = 1.5f32.sqrt();
        let right = [-unit, 0.0, 0.0, 0.0, unit, 0.0, -1.0, -1.0, 1.0, 1.0];
        for (found, right) in series.values().iter().zip(right) {
            assert!((found - right).abs() < 1e-6, "{:?}", series.values());
        }
        assert_eq!(series.lengths(), [3, 2]);
        assert_eq!(ZNorm.normalized(series.clone()).len(), 2);
    }
}
