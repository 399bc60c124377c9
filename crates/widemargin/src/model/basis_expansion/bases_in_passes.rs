//! The bases of a fit whose samples are read in passes: samples at their places, in their order.

use std::collections::HashSet;

use super::expand::{Expander, TrainingSamples, bases_of, choose_distinct};
use super::expansion_model::Basis;
use crate::basis::{self, Bases, BasisChoice};
use crate::data::{Distinct, Labels, Samples, Training, WeightedCodes};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::model::clock::Clock;
use crate::similarity::Similarity;

impl<S: Similarity> Expander<S> {
    /// The expansion on its bases before the normalization is learned, and a warning about the bases.
    pub fn before_normalization(
        mut self,
        labels: &Labels,
        training: &Training<'_, S::Samples>,
        clock: &mut Clock<'_>,
    ) -> Result<(BasisExpansion<S>, Basis, Option<String>)> {
        self.similarity.fit(training)?;
        clock.end("descriptor")?;
        let (bases, chosen) = match self.explicit_bases(training.samples, training.weights)? {
            Some(bases) => (bases, Bases { rows: Vec::new(), warning: None }),
            None => self.bases_in_order(labels, training)?,
        };
        clock.end("bases")?;
        let normalization = (self.normalization, self.cut);
        let (expansion, _) = BasisExpansion::before_normalization(self.similarity, bases, normalization, training)
            .map_err(|error| error.of_bases_and_rows(&chosen.rows, &[]))?;
        Ok((expansion, Basis::of(&self.basis, chosen.rows), chosen.warning))
    }

    /// Selects distinct samples, in the order of the samples.
    fn bases_in_order(&self, labels: &Labels, training: &Training<'_, S::Samples>) -> Result<(S::Samples, Bases)> {
        let similarity = &self.similarity;
        let mut chosen = if similarity.brings_columns() {
            Bases { rows: vec![0], warning: None }
        } else {
            let (codes, n_classes) = labels.strata();
            let n_basis = bases_of(self.n_basis, training.weights);
            if self.basis.is_by_position() {
                basis::choose(&self.basis, n_basis, &codes, n_classes, self.seed, similarity, training)?
            } else {
                // The bases of a fit in memory, independent of the order of the samples: a pass over their content.
                let Training { samples, weights, threads, monitor } = *training;
                let weighted = WeightedCodes { codes: labels.codes(), weights: Some(weights), effective: weights };
                let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, threads, monitor)?;
                let codes: Vec<u32> = distinct.rows.iter().map(|&row| codes[row]).collect();
                let (distinct, weights, codes) = (&distinct, &distinct.weights, &codes);
                let all = TrainingSamples { samples, distinct, weights, codes, threads, monitor };
                choose_distinct(&self.basis, n_basis, self.seed, similarity, &all)?
            }
        };
        let is_row_list = matches!(self.basis, BasisChoice::Rows(_));
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
