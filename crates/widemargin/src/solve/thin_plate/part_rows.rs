//! Rows of one partition: a step is a function of their features, of the stored state and of the arguments, so that it
//! can run on any machine that has or can compute the features.

use std::borrow::Cow;
use std::ops::Range;

use super::block_sums::{Block, RowData, RowsState};
use super::feature_map::FeatureMap;
use super::local::Local;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{ProblemTargets, RowFeatures};

/// The rows of one partition.
#[derive(Clone, Copy, Debug)]
pub struct PartRows<'a> {
    /// The features.
    pub features: RowFeatures<'a>,
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
        work: impl FnOnce(&mut Local<'_>) -> Result<T>,
    ) -> Result<(T, RowsState)> {
        let (n, k) = (self.roots.len(), self.targets.n_problems());
        let ((n_numbers, width), (n_penalized, n_free)) = (self.features.size(), self.features.shape());
        let fits = width * n == n_numbers && (n_penalized <= width || n == 0) && self.units.len() == n;
        let empty = state == RowsState::default();
        let known = [state.scores.len(), state.ahead.len(), state.counted.len()];
        if !fits || self.targets.n_samples() != n || (!empty && known != [n * k; 3]) {
            return Err(Error::shape(
                "rows of a fit",
                format!("{n_numbers} numbers and {known:?} remembered"),
                format!("{n} rows of features and {} remembered", n * k),
            ));
        }
        let (at_bases, columns) = (Matrix::zeros(n_penalized, 0), Matrix::zeros(0, n_free));
        let feature_map = FeatureMap { at_bases, columns, ..FeatureMap::default() };
        let pool = Pool::new(self.threads)?;
        let row_data = RowData { targets: self.targets, roots: self.roots, units: self.units };
        let blocks = |rows: Range<usize>| {
            let (n_rows, values) = (rows.len(), self.features.weighted(rows, self.roots));
            Ok(Cow::Owned(Block::Lifted(Matrix::from_columns(values, n_penalized + n_free, n_rows))))
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
            features: RowFeatures::Weighted { values: &[1.0; 7], width: 3, n_penalized: 1 },
            targets: OneVsRest::new(&codes, 2).into(),
            roots: &[1.0; 2],
            units: &[1.0; 2],
            threads: 1,
        };
        let hinge = [SmoothLoss::new(Loss::SquaredHinge)];
        let error = rows.with(RowsState::default(), &Monitor::none(), |rows| rows.origin()).unwrap_err();
        assert!(error.to_string().contains("2 rows of features"), "{error}");
        let features = RowFeatures::Weighted { values: &[1.0; 6], width: 3, n_penalized: 1 };
        let rows = PartRows { features, ..rows };
        let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
        assert!(
            rows.with(state, &Monitor::none(), |rows| {
                rows.accept(&[0]);
                Ok(())
            })
            .is_err()
        );
        assert!(
            rows.with(RowsState::default(), &Monitor::none(), |rows| {
                rows.set_losses(&hinge, false);
                rows.origin()
            })
            .is_ok()
        );
    }
}
