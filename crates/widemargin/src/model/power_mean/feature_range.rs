//! Scaling histograms to [0, 1] by the largest value of each feature.

use serde::{Deserialize, Serialize};

use crate::data::{Rows, visit_histogram};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::partition::{Kind, Query, SampleRows, part_query};

/// Divides each feature by its largest value among the training samples.
///
/// Stored as factors, so that fit and predict multiply by the same numbers and agree bit for bit. A feature that is
/// always 0 has the factor 1; later samples may exceed 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMax {
    /// The factor of each feature.
    pub factors: Vec<f64>,
}

impl FeatureMax {
    /// The factors that scale these maxima to 1.
    pub fn from_largest(largest: &[f64]) -> Self {
        let factor = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 1.0 };
        // A subnormal maximum has no finite inverse: such a feature is not scaled.
        let finite = |factor: f64| if factor.is_finite() { factor } else { 1.0 };
        FeatureMax { factors: largest.iter().map(|&largest| finite(factor(largest))).collect() }
    }

    /// The factor of each feature.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }
}

/// The largest value of each feature over these rows, and their number of non-zeros, with validation of each value.
///
/// # Errors
/// [`Error::Value`](crate::Error::Value) for a value that is negative or not finite;
/// [`Error::Memory`](crate::Error::Memory) if there are too many columns.
pub fn largest_values(samples: &impl Rows, rows: &[usize]) -> Result<(Vec<f64>, u64)> {
    let n_cols = samples.n_cols();
    // The values, and the factors computed from them.
    let needed = memory::product(&[2 * size_of::<f64>(), n_cols]);
    memory::check(needed, || format!("the largest values of {n_cols} features"), memory::FEWER_COLUMNS)?;
    let (mut largest, mut n_nonzero) = (vec![0.0; n_cols], 0);
    for &row in rows {
        visit_histogram(samples, row, |column, value| {
            n_nonzero += 1;
            if value > largest[column] {
                largest[column] = value;
            }
        })?;
    }
    Ok((largest, n_nonzero))
}

part_query! {
    /// The largest value of each feature among the samples of weight above 0.
    pub SampleRows: LargestValues "largest" {} -> Vec<f64> {}
    |_, part, _| Ok(largest_values(&part.rows(), &part.present())?.0),
    |_, total, next| {
        total.resize(total.len().max(next.len()), 0.0);
        total.iter_mut().zip(next).for_each(|(total, next)| *total = total.max(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;

    #[test]
    fn the_largest_value_of_the_selected_rows_becomes_one() {
        let values = [0.0, 4.0, 0.0, 8.0, 2.0, 100.0];
        let samples = DenseView::new(&values, 2, 3).unwrap();
        let factors = |rows: &[usize]| FeatureMax::from_largest(&largest_values(&samples, rows).unwrap().0).factors;
        assert_eq!(factors(&[0, 1]), [0.125, 0.25, 0.01]);
        assert_eq!(factors(&[0]), [1.0, 0.25, 1.0]);
    }

    #[test]
    fn errors_name_the_place_of_bad_values() {
        for (bad, word) in [(-1.0, "negative"), (f64::NAN, "finite"), (f64::INFINITY, "finite")] {
            let values = [0.0, 1.0, 2.0, bad];
            let samples = DenseView::new(&values, 2, 2).unwrap();
            let message = largest_values(&samples, &[0, 1]).unwrap_err().to_string();
            assert!(message.starts_with("row 1, column 1 (from 0): ") && message.contains(word), "{message}");
        }
    }
}
