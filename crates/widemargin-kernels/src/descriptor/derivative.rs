//! Derivatives of series: `derivative/dtw` is derivative dynamic time warping.

use super::Descriptor;
use super::row::{DescriptorRow, converts};
use crate::data::{Samples, Series};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(crate) const DERIVATIVE: DescriptorRow = DescriptorRow {
    name: "derivative",
    class: "Derivative",
    samples: &["time series"],
    parameters: &[Parameter::new("estimate", Values::Words(&["slope", "difference"]), "").or("slope")],
    usual: "dtw",
    build: |step| Ok(vec![Box::new(Derivative::from_step(step)?)]),
};

/// Replaces each series by its derivative, so that series are compared by shape, not by level (Keogh and Pazzani,
/// *Derivative dynamic time warping*, SIAM International Conference on Data Mining 2001). It learns nothing.
///
/// As in aeon, the ends at which the estimate is not defined are left out; the paper repeats their neighbors.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivative {
    is_slope: bool,
    step: Step,
}

impl Derivative {
    /// The descriptor of a spec such as `derivative` or `derivative:estimate=difference`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters.
    pub fn from_step(step: &Step) -> Result<Self> {
        let is_slope = DERIVATIVE.arguments(step)?.text("estimate") == Some("slope");
        Ok(Derivative { is_slope, step: step.clone() })
    }

    /// The derivatives: two time steps fewer, or one for differences. 4 flops a value, or 1.
    ///
    /// # Errors
    /// [`Error::Sample`] for a series that would have no time step left.
    pub fn derivatives(&self, series: &Series) -> Result<Series> {
        let (channels, lost) = (series.channels(), if self.is_slope { 2 } else { 1 });
        let lengths = series.lengths();
        if let Some(number) = lengths.iter().position(|&length| length <= lost) {
            let problem = format!("has {} time steps: a derivative needs at least {}", lengths[number], lost + 1);
            return Err(Error::Sample { similarity: self.spec(), is_basis: false, number, problem });
        }
        let mut values = Vec::with_capacity(series.values().len() - lost * channels * lengths.len());
        for one in (0..series.len()).map(|at| series.series(at)) {
            let rest = one.iter().zip(&one[channels..]);
            match self.is_slope {
                false => values.extend(rest.map(|(before, x)| x - before)),
                true => {
                    let slopes = rest.zip(&one[2 * channels..]);
                    values.extend(slopes.map(|((before, x), after)| 0.5 * ((x - before) + 0.5 * (after - before))));
                }
            }
        }
        Series::new(values, &lengths.into_iter().map(|length| length - lost).collect::<Vec<_>>(), channels)
    }
}

impl Descriptor for Derivative {
    fn spec(&self) -> String {
        self.step.to_string()
    }

    converts!(Series => Series, "takes the derivative of time series", |this, series| this.derivatives(&series)?);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    fn derivatives(spec: &str, values: &[f32], lengths: &[usize], channels: usize) -> Result<Series> {
        let spec: Spec = spec.parse().unwrap();
        let series = Series::new(values.to_vec(), lengths, channels).unwrap();
        Derivative::from_step(&spec.steps[0])?.derivatives(&series)
    }

    #[test]
    fn each_channel_of_each_series_by_itself() {
        let values = [1.0, 8.0, 2.0, 6.0, 4.0, 6.0, 0.0, 0.0, 3.0, 1.0, 2.0, -1.0, 5.0, 7.0];
        let slopes = derivatives("derivative", &values, &[3, 4], 2).unwrap();
        assert_eq!(slopes.values(), [1.25, -1.5, 2.0, 0.25, 0.0, 0.5]);
        assert_eq!(slopes.lengths(), [1, 2]);
        let differences = derivatives("derivative:estimate=difference", &values, &[3, 4], 2).unwrap();
        assert_eq!(differences.values(), [1.0, -2.0, 2.0, 0.0, 3.0, 1.0, -1.0, -2.0, 3.0, 8.0]);
        assert_eq!(differences.lengths(), [2, 3]);
    }

    #[test]
    fn a_line_has_its_slope_and_short_series_are_rejected() {
        let line: Vec<f32> = (0..20).map(|t| 3.0 - 0.25 * t as f32).collect();
        for spec in ["derivative", "derivative:estimate=difference"] {
            assert!(derivatives(spec, &line, &[20], 1).unwrap().values().iter().all(|&slope| slope == -0.25));
        }
        let message = derivatives("derivative", &line, &[18, 2], 1).unwrap_err().to_string();
        assert!(message.contains("sample 1 (from 0) has 2 time steps: a derivative needs at least 3"), "{message}");
        let message = derivatives("derivative:estimate=second", &line, &[20], 1).unwrap_err().to_string();
        assert!(message.contains("one of slope, difference"), "{message}");
    }
}
