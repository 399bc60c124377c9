//! The loss of samples by fits without their folds, on features that are shared.

use super::newton::{Point, State, Task};
use super::path::Moments;
use crate::data::{Labels, stratified_folds};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::tuning::{FOLD_TOL, N_FOLDS};

/// Fits of one output, each without a fold, from one C to the next.
pub(super) struct Folds {
    fits: Vec<FoldFit>,
}

struct FoldFit {
    /// The samples of the fold.
    test: Vec<usize>,
    /// The weights of all samples, 0 for those.
    weights: Vec<f64>,
    point: Option<Point>,
}

impl Folds {
    /// Samples divided at random by a seed; none if there are fewer than two.
    ///
    /// # Errors
    /// None of those of the division.
    pub fn new(weights: &[f64], seed: u64) -> Result<Option<Self>> {
        let n = weights.len();
        if n < 2 {
            return Ok(None);
        }
        let n_folds = (N_FOLDS as usize).min(n);
        let of = stratified_folds(&Labels::new(vec![0i64; n]), n_folds, seed)?;
        let fit = |fold| {
            let test: Vec<usize> = (0..n).filter(|&row| of[row] == fold).collect();
            let mut weights = weights.to_vec();
            test.iter().for_each(|&row| weights[row] = 0.0);
            FoldFit { test, weights, point: None }
        };
        Ok(Some(Folds { fits: (0..n_folds).map(fit).collect() }))
    }

    /// The weighted mean loss of the samples, each by the fit without its fold, and that of the squares.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn loss(&mut self, task: &Task<'_, '_>, loss: Loss, c: f64) -> Result<Moments> {
        let sums = self.fits.iter_mut().map(|fit| fit.loss(task, loss, c));
        let total: f64 = task.weights.iter().sum();
        let sums = sums.collect::<Result<Vec<Moments>>>()?;
        Ok([0, 1].map(|power| sums.iter().map(|of_fold| of_fold[power]).sum::<f64>() / total))
    }
}

impl FoldFit {
    /// The weighted sums of the losses of the fold's samples, and of their squares.
    fn loss(&mut self, task: &Task<'_, '_>, loss: Loss, c: f64) -> Result<Moments, Error> {
        let quiet: Monitor<'_> = task.monitor.without_progress();
        let own = Task { weights: &self.weights, monitor: &quiet, ..*task };
        let mut state = State::new(task.rows);
        if let Some(point) = self.point.take() {
            state.point = point;
        }
        own.solve(loss, c, &mut state, FOLD_TOL)?;
        let residuals = own.residuals(&state.point);
        self.point = Some(state.point);
        let losses = || self.test.iter().map(|&row| (task.weights[row], loss.value(residuals[row], 0.0)));
        Ok([losses().map(|(w, loss)| w * loss).sum(), losses().map(|(w, loss)| w * loss * loss).sum()])
    }
}
