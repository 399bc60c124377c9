//! The first half of a basis expansion SVM, which also stands alone: bases are chosen, and samples become features.

use crate::basis::{self, Bases, BasisChoice};
use crate::data::{DenseMatrix, Distinct, Picked, Samples, Source, Training};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization};
use crate::model::clock::Clock;
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// Bases where their number is not given and there are as many samples.
pub(crate) const USUAL_BASES: usize = 1000;

/// What an expansion is made by.
#[derive(Clone)]
pub(crate) struct Expander<S: Similarity> {
    pub similarity: S,
    /// None is the usual number.
    pub n_basis: Option<usize>,
    pub basis: BasisChoice,
    pub given: Option<S::Samples>,
    pub normalization: Normalization,
    pub seed: u64,
}

/// How many bases are to be chosen among samples of these weights; what was given may be more than there are, and is
/// then worth a warning.
pub(crate) fn bases_of(given: Option<usize>, weights: &[f64]) -> usize {
    given.unwrap_or_else(|| weights.iter().filter(|weight| **weight > 0.0).count().clamp(1, USUAL_BASES))
}

/// What became of it.
pub(crate) struct Expansion<S: Similarity> {
    pub expansion: BasisExpansion<S>,
    /// The features of the distinct samples.
    pub phi: DenseMatrix<f32>,
    /// The caller's rows that are bases; none where the bases were given.
    pub chosen: Bases,
    /// How the bases were chosen.
    pub basis: String,
}

/// The samples that are learned from.
pub(crate) struct Learned<'a, S> {
    /// As the caller has them.
    pub samples: &'a dyn Source<Samples = S>,
    /// Which of them there are, each once.
    pub distinct: &'a Distinct,
    /// Effective weights of these.
    pub weights: &'a [f64],
    /// Classes of these, each below `n_classes`; only the choice of bases sees them.
    pub codes: &'a [u32],
    pub n_classes: usize,
    pub threads: usize,
    pub monitor: &'a Monitor<'a>,
}

impl<S: Similarity> Expander<S> {
    /// Learns from the distinct samples, and gives their features.
    pub fn fit(mut self, learned: &Learned<'_, S::Samples>, clock: &mut Clock<'_>) -> Result<Expansion<S>> {
        let Learned { weights, threads, monitor, .. } = *learned;
        let rows = &learned.distinct.rows;
        let source = Picked { source: learned.samples, rows };
        let training = Training { samples: &source, weights, threads, monitor };
        self.similarity.fit(&training).map_err(|error| error.of_rows(rows))?;
        clock.end("descriptor")?;

        let (bases, chosen) = self.choose_bases(learned)?;
        clock.end("bases")?;

        let (expansion, phi) = BasisExpansion::fit(self.similarity, bases, self.normalization, &training)
            .map_err(|error| error.of_bases_and_rows(&chosen.rows, rows))?;
        clock.end("similarity")?;

        let basis = if chosen.rows.is_empty() { "given".into() } else { self.basis.to_string() };
        Ok(Expansion { expansion, phi, chosen, basis })
    }

    fn choose_bases(&mut self, learned: &Learned<'_, S::Samples>) -> Result<(S::Samples, Bases)> {
        if let Some(given) = self.given.take() {
            if given.is_empty() {
                let expected = "at least one sample".into();
                return Err(Error::Parameter { name: "bases", value: "none".into(), expected });
            }
            return Ok((given, Bases { rows: Vec::new(), warning: None }));
        }
        let distinct = learned.distinct;
        let chosen = match &self.basis {
            // Any sample tells how many columns there are.
            _ if self.similarity.brings_columns() => {
                Bases { rows: distinct.rows.iter().min().copied().into_iter().collect(), warning: None }
            }
            BasisChoice::Given(rows) => {
                basis::check_given(rows, learned.samples.n_samples())?;
                Bases { rows: rows.clone(), warning: None }
            }
            choice => self.choose(choice, learned)?,
        };
        let bases = learned.samples.select(&chosen.rows)?;
        basis::check_sound(&self.similarity, &bases, &chosen.rows)?;
        Ok((bases, chosen))
    }

    /// Chooses among the samples as the caller has them in order, and holds what was chosen in the order of the
    /// distinct ones: where all become bases, the order of the caller's rows then makes no difference.
    fn choose(&self, choice: &BasisChoice, learned: &Learned<'_, S::Samples>) -> Result<Bases> {
        let (distinct, order) = (learned.distinct, learned.distinct.in_callers_order());
        let rows: Vec<usize> = order.iter().map(|&at| distinct.rows[at]).collect();
        let weights: Vec<f64> = order.iter().map(|&at| learned.weights[at]).collect();
        let codes: Vec<u32> = order.iter().map(|&at| learned.codes[at]).collect();
        let source = Picked { source: learned.samples, rows: &rows };
        let training =
            Training { samples: &source, weights: &weights, threads: learned.threads, monitor: learned.monitor };
        let chosen = basis::choose(
            choice,
            bases_of(self.n_basis, &weights),
            &codes,
            learned.n_classes,
            self.seed,
            &self.similarity,
            &training,
        )
        .map_err(|error| error.of_rows(&rows))?;
        let mut places: Vec<usize> = chosen.rows.iter().map(|&at| order[at]).collect();
        if distinct.is_canonical {
            places.sort_unstable();
            // One content in two classes is one basis.
            places.dedup_by_key(|at| distinct.content(*at));
        }
        let is_merged = distinct.n_present() > distinct.rows.len();
        let told = |warning| if is_merged { format!("{warning} (equal samples are one)") } else { warning };
        let warning = chosen.warning.map(told);
        Ok(Bases { rows: places.into_iter().map(|at| distinct.rows[at]).collect(), warning })
    }
}
