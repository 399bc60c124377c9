//! Targets of a regression: one number, or several, for each sample.

use super::weights::check_weights;
use crate::error::{Error, Result};

/// The targets of samples: samples × outputs, all of them finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// Row-major.
    values: Vec<f64>,
    n_outputs: usize,
}

impl Targets {
    /// One target for each sample.
    ///
    /// # Errors
    /// As for [`Targets::new`].
    pub fn single(values: Vec<f64>) -> Result<Self> {
        Targets::new(values, 1)
    }

    /// Targets of `n_outputs` numbers for each sample, row-major.
    ///
    /// # Errors
    /// [`Error::Shape`] for no outputs, or numbers that do not fill whole rows; [`Error::Target`] for one that is not
    /// finite.
    pub fn new(values: Vec<f64>, n_outputs: usize) -> Result<Self> {
        if n_outputs == 0 || !values.len().is_multiple_of(n_outputs) {
            let found = format!("{} numbers in rows of {n_outputs}", values.len());
            return Err(Error::shape("targets", found, "whole rows of at least one number"));
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(Error::Target { row: at / n_outputs, output: at % n_outputs, value: values[at] }),
            None => Ok(Targets { values, n_outputs }),
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_outputs
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of targets of each sample.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// All targets, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

#[doc(hidden)]
impl Targets {
    /// The targets of one sample.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_outputs..][..self.n_outputs]
    }

    /// One target of all samples.
    pub fn output(&self, output: usize) -> Vec<f64> {
        self.values.iter().skip(output).step_by(self.n_outputs).copied().collect()
    }

    /// The targets of some of the samples.
    pub fn of_rows(&self, rows: &[usize]) -> Targets {
        let values = rows.iter().map(|&row| self.row(row)).collect::<Vec<_>>().concat();
        Targets { values, n_outputs: self.n_outputs }
    }

    /// The weights of the samples, 1 by default; there must be as many as samples.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of samples or weights; [`Error::NoSamples`] if there are none or none has a
    /// weight; [`Error::Weight`] for a weight that is negative or not finite.
    pub fn weights(&self, n_samples: usize, sample_weight: Option<&[f64]>) -> Result<Vec<f64>> {
        if self.len() != n_samples {
            let found = format!("{} targets for {n_samples} samples", self.len());
            return Err(Error::shape("targets", found, "as many as samples"));
        }
        if n_samples == 0 {
            return Err(Error::NoSamples(""));
        }
        let weights = check_weights(n_samples, sample_weight)?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(Error::NoSamples(": all weights are zero"));
        }
        Ok(weights)
    }

    /// A number for each sample, equal where all targets are.
    pub fn codes(&self) -> Vec<u32> {
        // 0 and −0 are the same target.
        let bits = |row: usize| self.row(row).iter().map(|value| (value + 0.0).to_bits()).collect::<Vec<u64>>();
        let mut order: Vec<(Vec<u64>, usize)> = (0..self.len()).map(|row| (bits(row), row)).collect();
        order.sort_unstable();
        let (mut codes, mut code) = (vec![0; order.len()], 0);
        for (at, (value, row)) in order.iter().enumerate() {
            code += u32::from(at > 0 && order[at - 1].0 != *value);
            codes[*row] = code;
        }
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_non_finite_targets() {
        let refused = |values: &[f64], n| Targets::new(values.to_vec(), n).unwrap_err().to_string();
        assert!(refused(&[1.0, 2.0, f64::NAN, 4.0], 2).contains("row 1"));
        assert!(refused(&[1.0, f64::INFINITY], 1).contains("inf"));
        assert!(refused(&[1.0, 2.0, 3.0], 2).contains("whole rows") && refused(&[], 0).contains("whole rows"));
        let targets = Targets::single(vec![1.0, 2.0]).unwrap();
        assert!(targets.weights(3, None).unwrap_err().to_string().contains("2 targets for 3 samples"));
        assert!(targets.weights(2, Some(&[0.0, 0.0])).is_err() && targets.weights(2, Some(&[1.0, -1.0])).is_err());
        assert!(targets.weights(2, Some(&[1.0])).is_err());
    }

    #[test]
    fn equal_targets_have_one_code() {
        let targets = Targets::new(vec![0.0, 1.0, 5.0, 1.0, -0.0, 1.0, 5.0, 2.0], 2).unwrap();
        let codes = targets.codes();
        assert!(codes[0] == codes[2] && codes[0] != codes[1] && codes[1] != codes[3]);
        assert_eq!((targets.output(1), targets.of_rows(&[3]).values()), (vec![1.0, 1.0, 1.0, 2.0], &[5.0, 2.0][..]));
    }
}
