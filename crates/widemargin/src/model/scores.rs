//! Decision values and the predicted classes.

use crate::data::{Label, Rows};
use crate::error::{Error, Result};
use crate::macros::getters;
use crate::memory;
use crate::problem::OneVsRest;

/// Decision values, with one row per sample. There is one column for two classes (values above 0 predict the second
/// class), otherwise one column per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    values: Vec<f32>,
    n_cols: usize,
}

impl Scores {
    pub(crate) fn new(values: Vec<f32>, n_cols: usize) -> Self {
        Scores { values, n_cols }
    }

    /// Refuses decision values that do not fit in memory: those of `n` samples and `k` problems, and a copy while they
    /// are gathered.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(super) fn check_memory(n: usize, k: usize) -> Result<()> {
        let needed = memory::product(&[2 * size_of::<f32>(), n, k]);
        let what = || format!("the decision values of {n} samples for {k} problems");
        memory::check(needed, what, "predict fewer samples at a time")
    }

    /// Number of samples.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_cols
    }

    getters! {
        /// Number of columns.
        copy n_cols: usize;
        /// All decision values, row by row.
        values: &[f32];
    }

    /// The decision values of one sample.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.n_cols..(row + 1) * self.n_cols]
    }

    /// The predicted label of each sample.
    pub fn decide<'a>(&self, classes: &'a [Label]) -> Vec<&'a Label> {
        self.values.chunks_exact(self.n_cols).map(|row| &classes[OneVsRest::decide(row)]).collect()
    }
}

/// Checks that samples have `trained` features; sparse ones may have fewer.
///
/// # Errors
/// [`Error::FeatureCount`].
pub(super) fn check_width(samples: &impl Rows, trained: usize) -> Result<()> {
    let found = samples.n_cols();
    if found == trained || (samples.is_sparse() && found < trained) {
        return Ok(());
    }
    let hint = if samples.is_sparse() {
        ": a feature that training never saw cannot be used"
    } else {
        ": the columns must be the same, in the same order"
    };
    Err(Error::FeatureCount { found, trained, hint })
}
