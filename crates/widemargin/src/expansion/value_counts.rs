//! Weighted counts of values of distributed samples, for choosing nodes.
//!
//! Counts of parts add up to the counts of all, with the same values for any partitioning: up to [`BOOK_LIMIT`]
//! distinct values are exact, more are rounded to the middle of fixed bins.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::data::{Rows, visit_histogram};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::partition::{Kind, Query, SampleRows, part_query};

/// Bits of the mantissa that a bin drops: 12 of 23 bits remain, and a value changes by at most 1 in 8,192. The
/// resulting loss of a node is negligible.
const BIN_BITS: u32 = 11;

/// The maximum number of distinct values that share codes; beyond it every non-zero has its own entry.
pub(super) const BOOK_LIMIT: usize = 1 << 16;

/// Visits the columns of a row that are not 0, with their values, and with these multiplied by the feature's factor and
/// rounded to f32; those that become 0 are ignored. `too_large` is the problem of a value outside the range of f32.
///
/// # Errors
/// [`Error::Value`] for a value outside the range of f32, or that is negative or not finite.
#[inline]
pub(crate) fn each_scaled(
    samples: &impl Rows,
    row: usize,
    factors: Option<&[f64]>,
    too_large: &'static str,
    mut visit: impl FnMut(usize, f64, f32),
) -> Result<()> {
    let mut found = None;
    visit_histogram(samples, row, |column, value| {
        let scaled = (value * factors.map_or(1.0, |f| f[column])) as f32;
        if !scaled.is_finite() {
            found.get_or_insert((column, value));
        } else if scaled > 0.0 {
            visit(column, value, scaled);
        }
    })?;
    found.map_or(Ok(()), |(column, value)| Err(Error::Value { row, column, value, problem: too_large }))
}

/// The problem of a training value outside the range of f32.
pub(super) const TOO_LARGE: &str = "is beyond single precision: scale the data (the default feature range does)";

/// Values above 0 and the weight with which each occurs: counts of samples, or the codebook of coded rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueCounts {
    /// Distinct; ascending, or in the order of their codes.
    pub values: Vec<f32>,
    /// The summed weight of the non-zeros with each value.
    pub counts: Vec<f64>,
    /// Whether the values are rounded.
    pub rounded: bool,
}

impl ValueCounts {
    /// Counts the non-zeros of all samples of weight above 0, each multiplied by its feature's factor; `weights` has
    /// one number per sample.
    ///
    /// # Errors
    /// [`Error::Value`] for a value outside the range of single precision.
    pub fn of(samples: &impl Rows, weights: &[f64], factors: Option<&[f64]>) -> Result<Self> {
        let mut found = Counter::default();
        for (row, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            each_scaled(samples, row, factors, TOO_LARGE, |_, _, scaled| found.add(scaled, weight))?;
        }
        Ok(found.finish())
    }

    /// The sum of both counts.
    pub fn merged(&self, other: &ValueCounts) -> ValueCounts {
        let mut found = Counter { counts: FxHashMap::default(), rounded: self.rounded || other.rounded };
        for part in [self, other] {
            part.values.iter().zip(&part.counts).for_each(|(&value, &count)| found.add(value, count));
        }
        found.finish()
    }
}

part_query! {
    /// How often each value occurs among the samples of weight above 0, once features are multiplied by their factors.
    pub SampleRows: CountValues "value_counts" {
        /// One a feature; none for 1 everywhere.
        factors: Option<Vec<f64>>
    } -> ValueCounts {}
    |query, part, _| ValueCounts::of(&part.rows(), part.weights, query.factors.as_deref()),
    |_, total, next| *total = total.merged(&next)
}

/// Counts by the bits of a value, which ascend as the values do.
#[derive(Default)]
struct Counter {
    counts: FxHashMap<u32, f64>,
    rounded: bool,
}

impl Counter {
    fn add(&mut self, value: f32, weight: f64) {
        let bits = if self.rounded { middle(value.to_bits()) } else { value.to_bits() };
        *self.counts.entry(bits).or_insert(0.0) += weight;
        if !self.rounded && self.counts.len() > BOOK_LIMIT {
            self.rounded = true;
            let exact = self.sorted();
            exact.into_iter().for_each(|(bits, count)| *self.counts.entry(middle(bits)).or_insert(0.0) += count);
        }
    }

    fn sorted(&mut self) -> Vec<(u32, f64)> {
        let mut all: Vec<(u32, f64)> = self.counts.drain().collect();
        all.sort_unstable_by_key(|(bits, _)| *bits);
        all
    }

    fn finish(mut self) -> ValueCounts {
        let (bits, counts): (Vec<u32>, Vec<f64>) = self.sorted().into_iter().unzip();
        ValueCounts { values: bits.into_iter().map(f32::from_bits).collect(), counts, rounded: self.rounded }
    }
}

/// The center of a value's bin; it is its own center.
fn middle(bits: u32) -> u32 {
    bits >> BIN_BITS << BIN_BITS | 1 << (BIN_BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;

    fn of(values: &[f64]) -> ValueCounts {
        let samples = DenseView::new(values, values.len(), 1).unwrap();
        ValueCounts::of(&samples, &vec![1.0; values.len()], None).unwrap()
    }

    #[test]
    fn few_values_are_counted_as_they_are() {
        let samples = DenseView::new(&[1.0, 0.0, 2.0, 2.0, 4.0, 9.0], 3, 2).unwrap();
        let found = ValueCounts::of(&samples, &[3.0, 1.0, 0.0], Some(&[1.0, 0.5])).unwrap();
        assert_eq!((found.values, found.counts), (vec![1.0, 2.0], vec![4.0, 1.0]));
        let merged = of(&[1.0, 3.0]).merged(&of(&[3.0, 2.0]));
        assert_eq!((merged.values, merged.counts, merged.rounded), (vec![1.0, 2.0, 3.0], vec![1.0, 1.0, 2.0], false));
        let error = ValueCounts::of(&DenseView::new(&[1.0, 1e300], 2, 1).unwrap(), &[1.0; 2], None).unwrap_err();
        assert!(error.to_string().starts_with("row 1, column 0 (from 0): "), "{error}");
    }

    #[test]
    fn many_values_are_the_same_bins_however_they_are_cut() {
        let values: Vec<f64> = (0..200_000).map(|i| 1e-3 * f64::from(i + 1)).collect();
        let whole = of(&values);
        assert!(whole.rounded && whole.values.len() < BOOK_LIMIT);
        assert_eq!(whole.counts.iter().sum::<f64>(), 200_000.0);
        for cut in [10, 60_000, 150_000] {
            let (a, b) = (of(&values[..cut]), of(&values[cut..]));
            assert_eq!(a.merged(&b), whole);
            assert_eq!(b.merged(&a), whole);
        }
        for value in values.iter().step_by(997) {
            let near = f32::from_bits(middle((*value as f32).to_bits()));
            assert!((f64::from(near) / value - 1.0).abs() <= 1.0 / 4096.0);
        }
    }
}
