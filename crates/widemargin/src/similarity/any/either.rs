//! One name for two similarities of different kinds of samples: `tanimoto` of sets and of counts.

use std::any::Any;

use super::kernel::AnyKernel;
use crate::data::{AnySamples, CsrMatrix, Training};
use crate::error::{Error, Result};
use crate::similarity::Comparison;

/// The first similarity for the kind of samples that it compares, the second otherwise.
pub(in crate::similarity) struct Either<A, B>(pub A, pub B);

impl<A: AnyKernel + 'static, B: AnyKernel + 'static> Either<A, B> {
    /// The one that compares these samples.
    fn of(&self, samples: &AnySamples) -> &dyn AnyKernel {
        if samples.kind() == self.0.kind() { &self.0 } else { &self.1 }
    }
}

impl<A: AnyKernel + 'static, B: AnyKernel + 'static> AnyKernel for Either<A, B> {
    fn spec_any(&self) -> String {
        self.0.spec_any()
    }

    fn kind(&self) -> &'static str {
        "either"
    }

    fn takes_any(&self) -> Vec<&'static str> {
        let mut kinds = self.0.takes_any();
        kinds.extend(self.1.takes_any().into_iter().filter(|kind| !self.0.takes_any().contains(kind)));
        kinds
    }

    fn accept(&self, samples: AnySamples) -> Result<AnySamples> {
        if samples.kind() == self.0.kind() {
            return self.0.accept(samples);
        }
        self.1.accept(samples).map_err(|error| match error {
            Error::Similarity { similarity, problem } => {
                // The hint stays at the end.
                let (problem, hint) = problem.split_once(" (").unwrap_or((&problem, ""));
                let hint = if hint.is_empty() { String::new() } else { format!(" ({hint}") };
                Error::similarity(similarity, format!("{problem}; {} would do as well{hint}", self.0.kind()))
            }
            error => error,
        })
    }

    fn fit_any(&mut self, _training: &Training<'_, AnySamples>) -> Result<()> {
        // Neither has parameters to learn.
        Ok(())
    }

    fn block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        self.of(samples).block_any(bases, samples, block)
    }

    fn sparse_block_any(&self, bases: &AnySamples, samples: &AnySamples) -> Result<Option<CsrMatrix<f32>>> {
        self.of(samples).sparse_block_any(bases, samples)
    }

    fn kernel_distances_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<bool> {
        self.of(samples).kernel_distances_any(bases, samples, block)
    }

    fn precise_block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f64]) -> Result<bool> {
        self.of(samples).precise_block_any(bases, samples, block)
    }

    fn seconds_per_pair_any(&self, bases: &AnySamples) -> f64 {
        self.of(bases).seconds_per_pair_any(bases)
    }

    fn n_columns_any(&self, bases: &AnySamples) -> usize {
        self.of(bases).n_columns_any(bases)
    }

    fn n_polynomials_any(&self) -> usize {
        0
    }

    fn brings_columns_any(&self) -> bool {
        false
    }

    fn compares_any(&self) -> bool {
        true
    }

    fn depends_on_differences_any(&self) -> bool {
        self.0.depends_on_differences_any() && self.1.depends_on_differences_any()
    }

    fn is_symmetric_any(&self) -> bool {
        self.0.is_symmetric_any() && self.1.is_symmetric_any()
    }

    fn comparison_any(&self, bases: (&AnySamples, usize), samples: (&AnySamples, usize)) -> Result<Option<Comparison>> {
        self.of(samples.0).comparison_any(bases, samples)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
