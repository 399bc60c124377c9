//! The bases of a fit whose samples are read in passes: samples at their places, in their order.

use std::collections::HashSet;

use super::expand::{TrainingSamples, bases_of, choose_distinct};
use crate::basis::{self, Bases, BasisChoice};
use crate::data::{Distinct, Labels, Samples, Training, WeightedCodes};
use crate::error::{Error, Result};
use crate::similarity::Similarity;

/// The bases requested.
pub(super) struct Wanted<'a, T> {
    pub explicit: Option<T>,
    pub choice: &'a BasisChoice,
    pub n_basis: Option<usize>,
    pub seed: u64,
}

impl<T: Samples> Wanted<'_, T> {
    /// Selects distinct samples, in the order of the samples.
    pub fn bases<S>(self, similarity: &S, labels: &Labels, training: &Training<'_, T>) -> Result<(T, Bases)>
    where
        S: Similarity<Samples = T>,
    {
        if let Some(explicit) = self.explicit {
            if explicit.is_empty() {
                let expected = "at least one sample".into();
                return Err(Error::Parameter { name: "bases", value: "none".into(), expected });
            }
            let explicit = explicit.about(training.samples.needed_offsets(training.weights)?.as_ref());
            return Ok((explicit, Bases { rows: Vec::new(), warning: None }));
        }
        let mut chosen = if similarity.brings_columns() {
            Bases { rows: vec![0], warning: None }
        } else {
            let (codes, n_classes) = labels.strata();
            let n_basis = bases_of(self.n_basis, training.weights);
            if self.choice.is_by_position() {
                basis::choose(self.choice, n_basis, &codes, n_classes, self.seed, similarity, training)?
            } else {
                // The bases of a fit in memory, independent of the order of the samples: a pass over their content.
                let Training { samples, weights, threads, monitor } = *training;
                let weighted = WeightedCodes { codes: labels.codes(), weights: Some(weights), effective: weights };
                let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, threads, monitor)?;
                let codes: Vec<u32> = distinct.rows.iter().map(|&row| codes[row]).collect();
                let weights = &distinct.weights;
                let training = TrainingSamples {
                    samples,
                    distinct: &distinct,
                    weights,
                    codes: &codes,
                    n_classes,
                    threads,
                    monitor,
                };
                choose_distinct(self.choice, n_basis, self.seed, similarity, &training)?
            }
        };
        let is_row_list = matches!(self.choice, BasisChoice::Rows(_));
        if !is_row_list {
            chosen.rows.sort_unstable();
        }
        let bases = training.samples.select(&chosen.rows)?;
        basis::check_sound(similarity, &bases, &chosen.rows)?;
        if is_row_list {
            return Ok((bases, chosen));
        }
        let mut fingerprints = HashSet::new();
        let is_new = |at: &usize| bases.fingerprint(*at).is_none_or(|print| fingerprints.insert(print));
        let distinct_rows: Vec<usize> = (0..chosen.rows.len()).filter(is_new).collect();
        if distinct_rows.len() == chosen.rows.len() {
            return Ok((bases, chosen));
        }
        chosen.rows = distinct_rows.iter().map(|&at| chosen.rows[at]).collect();
        Ok((Samples::select(&bases, &distinct_rows), chosen))
    }
}
