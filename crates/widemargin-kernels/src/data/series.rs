//! Time series of any length, with one or several channels.

use super::{DenseMatrix, Fingerprint, Samples};
use crate::error::{Error, Result};

/// Series with a common number of channels and individual lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// \[series\]\[time\]\[channel\].
    values: Vec<f32>,
    /// Where each series starts, in time steps, and the end of the last.
    starts: Vec<usize>,
    channels: usize,
}

impl Series {
    /// Series of these `lengths` (time steps), whose `values` are \[series\]\[time\]\[channel\].
    ///
    /// # Errors
    /// [`Error::Shape`] if values and lengths are inconsistent, or a series is empty.
    pub fn new(values: Vec<f32>, lengths: &[usize], channels: usize) -> Result<Self> {
        let wrong = |found: String, expected: String| Error::shape("series", found, expected);
        if channels == 0 {
            return Err(wrong("0 channels".into(), "at least 1".into()));
        }
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0usize;
        starts.push(end);
        for (at, &length) in lengths.iter().enumerate() {
            if length == 0 {
                return Err(wrong(format!("series {at} (from 0) is empty"), "at least one time step".into()));
            }
            end = end.saturating_add(length);
            starts.push(end);
        }
        if end.checked_mul(channels) != Some(values.len()) {
            let expected = format!("{end} time steps of {channels} channels");
            return Err(wrong(format!("{} values", values.len()), expected));
        }
        Ok(Series { values, starts, channels })
    }

    /// Dense rows as series of one channel and equal length; returns the rows if they have no columns.
    pub(super) fn of_rows(rows: DenseMatrix<f32>) -> std::result::Result<Self, DenseMatrix<f32>> {
        if rows.n_cols == 0 || rows.values.len() != rows.n_rows * rows.n_cols {
            return Err(rows);
        }
        let starts = (0..=rows.n_rows).map(|row| row * rows.n_cols).collect();
        Ok(Series { values: rows.values, starts, channels: 1 })
    }

    /// One series, \[time\]\[channel\].
    pub fn series(&self, at: usize) -> &[f32] {
        &self.values[self.starts[at] * self.channels..self.starts[at + 1] * self.channels]
    }

    /// The first series with a value that is not a finite number, and a message.
    pub(crate) fn problem(&self) -> Option<(usize, String)> {
        let at = self.values.iter().position(|value| !value.is_finite())?;
        let step = at / self.channels;
        let number = self.starts.partition_point(|&start| start <= step) - 1;
        let problem = format!(
            "is {} at time step {}, channel {} (from 0): a value must be a finite number; cut or interpolate missing \
             values",
            self.values[at],
            step - self.starts[number],
            at % self.channels
        );
        Some((number, problem))
    }
}

#[doc(hidden)]
impl Series {
    /// Time steps of one series.
    pub fn length(&self, at: usize) -> usize {
        self.starts[at + 1] - self.starts[at]
    }

    /// All values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, mutable.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Numbers per time step.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The lengths of the series in time steps.
    pub fn lengths(&self) -> Vec<usize> {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

impl Samples for Series {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn select(&self, rows: &[usize]) -> Self {
        let mut picked = Series { values: Vec::new(), starts: vec![0], channels: self.channels };
        for &row in rows {
            picked.values.extend_from_slice(self.series(row));
            picked.starts.push(picked.values.len() / self.channels);
        }
        picked
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        let mut fingerprint = Fingerprint::default();
        // Zeros of either sign are equal, and trailing zeros count.
        let values = self.series(at).iter().enumerate();
        values.for_each(|(at, value)| fingerprint.add(at, f64::from(value + 0.0).to_bits()));
        Some(fingerprint.finish())
    }
}
