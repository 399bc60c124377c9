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
use crate::problem::RowFeatures;

/// Runs `work` on the rows of one partition, with the stored state.
///
/// # Errors
/// [`Error::Shape`] if features, classes, weights and state are for different rows; errors of `work`.
pub(crate) fn with_rows<T>(
    (features, row_data): (RowFeatures<'_>, RowData<'_>),
    state: RowsState,
    (pool, monitor): (&Pool, &Monitor<'_>),
    work: impl FnOnce(&mut Local<'_>) -> Result<T>,
) -> Result<(T, RowsState)> {
    let (n, k) = (row_data.roots.len(), row_data.targets.n_problems());
    let ((n_numbers, width), (n_penalized, n_free)) = (features.size(), features.shape());
    let fits = width * n == n_numbers && (n_penalized <= width || n == 0) && row_data.units.len() == n;
    let empty = state == RowsState::default();
    let known = [state.scores.len(), state.ahead.len(), state.counted.len()];
    if !fits || row_data.targets.n_samples() != n || (!empty && known != [n * k; 3]) {
        return Err(Error::shape(
            "rows of a fit",
            format!("{n_numbers} numbers and {known:?} remembered"),
            format!("{n} rows of features and {} remembered", n * k),
        ));
    }
    let (at_bases, columns) = (Matrix::zeros(n_penalized, 0), Matrix::zeros(0, n_free));
    let feature_map = FeatureMap { at_bases, columns, ..FeatureMap::default() };
    let blocks = |rows: Range<usize>| {
        let (n_rows, values) = (rows.len(), features.weighted(rows, row_data.roots));
        Ok(Cow::Owned(Block::Lifted(Matrix::from_columns(values, n_penalized + n_free, n_rows))))
    };
    let mut local = Local::new((&blocks, &feature_map), row_data, false, (pool, monitor));
    if !empty {
        local.state = state;
    }
    let sums = work(&mut local)?;
    Ok((sums, local.state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Loss, OneVsRest, SmoothLoss};

    #[test]
    fn rejects_rows_and_states_that_do_not_fit() {
        let (codes, pool, monitor) = ([0, 1], Pool::new(1).unwrap(), Monitor::none());
        let row_data = RowData { targets: OneVsRest::new(&codes, 2).into(), roots: &[1.0; 2], units: &[1.0; 2] };
        let origin = |values: &[f64], state: RowsState| {
            let features = RowFeatures::Weighted { values, width: 3, n_penalized: 1 };
            with_rows((features, row_data), state, (&pool, &monitor), |rows| {
                rows.set_losses(&[SmoothLoss::new(Loss::SquaredHinge)], false);
                rows.origin()
            })
        };
        let error = origin(&[1.0; 7], RowsState::default()).unwrap_err();
        assert!(error.to_string().contains("2 rows of features"), "{error}");
        let state = RowsState { scores: vec![0.0; 3], ..RowsState::default() };
        assert!(origin(&[1.0; 6], state).is_err());
        assert!(origin(&[1.0; 6], RowsState::default()).is_ok());
    }
}
