//! Rows of one partition: a step is a function of their features, of the stored state and of the arguments, so that it
//! can run on any machine that has or can compute the features.

use std::borrow::Cow;
use std::ops::Range;

use super::block_sums::{Block, RowData, RowsState};
use super::feature_map::FeatureMap;
use super::local::Local;
use super::row_sums::RowSums;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::ProblemTargets;

/// The features of rows, row-major.
#[derive(Clone, Copy, Debug)]
pub enum BasisFeatures<'a> {
    /// Times √w.
    Weighted(&'a [f64]),
    /// As they are; the constant is a feature that is not penalized if there is an intercept.
    Plain {
        /// Rows × penalized features.
        values: &'a [f32],
        /// Whether there is an intercept.
        has_intercept: bool,
    },
}

impl BasisFeatures<'_> {
    /// How many there are of n rows, with the constant.
    fn len(&self, n: usize) -> usize {
        match self {
            BasisFeatures::Weighted(values) => values.len(),
            BasisFeatures::Plain { values, has_intercept } => values.len() + n * usize::from(*has_intercept),
        }
    }

    /// Those of some rows, `width` in each, times √w.
    fn weighted(&self, rows: Range<usize>, width: usize, roots: &[f64]) -> Vec<f64> {
        match self {
            BasisFeatures::Weighted(values) => values[rows.start * width..rows.end * width].to_vec(),
            BasisFeatures::Plain { values, has_intercept } => {
                let d = width - usize::from(*has_intercept);
                let one = |row: usize| {
                    let of_row = values[row * d..(row + 1) * d].iter().map(move |x| roots[row] * f64::from(*x));
                    of_row.chain(has_intercept.then_some(roots[row]))
                };
                rows.flat_map(one).collect()
            }
        }
    }
}

/// The rows of one partition.
#[derive(Clone, Copy, Debug)]
pub struct PartRows<'a> {
    /// The features.
    pub features: BasisFeatures<'a>,
    /// Number of penalized features, which come first.
    pub n_penalized: usize,
    /// The targets of each row.
    pub targets: ProblemTargets<'a>,
    /// √w of each row, above 0.
    pub roots: &'a [f64],
    /// The part of each row's weight removed by leave-one-out.
    pub units: &'a [f64],
    /// Number of threads, 0 meaning one per core.
    pub threads: usize,
}

impl PartRows<'_> {
    /// Runs `work` on the rows with the stored state.
    ///
    /// # Errors
    /// [`Error::Shape`] if features, classes, weights and state are for different rows; errors of `work`.
    pub fn with<T>(
        &self,
        state: RowsState,
        monitor: &Monitor<'_>,
        work: impl FnOnce(&mut dyn RowSums) -> Result<T>,
    ) -> Result<(T, RowsState)> {
        let (n, k) = (self.roots.len(), self.targets.n_problems());
        let n_numbers = self.features.len(n);
        let p = n_numbers.checked_div(n).unwrap_or(self.n_penalized);
        let fits = p * n == n_numbers && self.n_penalized <= p && self.units.len() == n;
        let empty = state == RowsState::default();
        let known = [state.scores.len(), state.ahead.len(), state.counted.len()];
        if !fits || self.targets.n_samples() != n || (!empty && known != [n * k; 3]) {
            return Err(Error::shape(
                "rows of a fit",
                format!("{n_numbers} numbers and {known:?} remembered"),
                format!("{n} rows of features and {} remembered", n * k),
            ));
        }
        let (at_bases, columns) = (Matrix::zeros(self.n_penalized, 0), Matrix::zeros(0, p - self.n_penalized));
        let feature_map = FeatureMap { at_bases, columns, ..FeatureMap::default() };
        let pool = Pool::new(self.threads)?;
        let row_data = RowData { targets: self.targets, roots: self.roots, units: self.units };
        let blocks = |rows: Range<usize>| {
            let n_rows = rows.len();
            let values = self.features.weighted(rows, p, self.roots);
            Ok(Cow::Owned(Block::Lifted(Matrix::from_columns(values, p, n_rows))))
        };
        let mut local = Local::new((&blocks, &feature_map), row_data, false, (&pool, monitor));
        if !empty {
            local.state = state;
        }
        let sums = work(&mut local)?;
        Ok((sums, local.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Loss, OneVsRest, SmoothLoss};

    #[test]
    fn rejects_rows_and_states_that_do_not_fit() {
        let codes = [0, 1];
        let rows = PartRows {
            features: BasisFeatures::Weighted(&[1.0; 7]),
            n_penalized: 1,
            targets: OneVsRest::new(&codes, 2).into(),
            roots: &[1.0; 2],
            units: &[1.0; 2],
            threads: 1,
        };
        let hinge = [SmoothLoss::new(Loss::SquaredHinge)];
        let error = rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).unwrap_err();
        assert!(error.to_string().contains("2 rows of features"), "{error}");
        let rows = PartRows { features: BasisFeatures::Weighted(&[1.0; 6]), ..rows };
        let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
        assert!(rows.with(state, &Monitor::none(), |rows| rows.accept(&[0])).is_err());
        assert!(
            rows.with(RowsState::default(), &Monitor::none(), |rows| {
                rows.set_losses(&hinge, false)?;
                rows.origin()
            })
            .is_ok()
        );
    }
}
