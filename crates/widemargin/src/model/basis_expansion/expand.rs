//! The first half of a basis expansion SVM, also available separately: selects bases and computes features.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::expansion_model::{Basis, ExpansionModel, ExpansionTask};
use crate::basis::{self, Bases, BasisChoice};
use crate::data::{
    ABSENT, About, DenseMatrix, Distinct, Labels, Picked, Samples, Source, Training, Vectors, WeightedCodes,
};
use crate::error::{Result, require};
use crate::expansion::{BasisExpansion, Normalization, NystroemCut};
use crate::model::clock::Clock;
use crate::model::known::Merged;
use crate::model::on_workers::Preparation;
use crate::model::origin::{Origin, TrainingSettings};
use crate::monitor::Monitor;
use crate::problem::{Judged, without_bases};
use crate::similarity::Similarity;
use crate::solve::{OwnFeatures, Report, Stage};
use crate::tuning::{DEFAULT_N_BASIS, MAX_SQUARED_LOSS_NUMBERS, PRUNING_SHARE};

/// Samples for each feature below which leave-one-out of whitened features is rough: of 200 samples with as many bases the
/// estimated accuracy was 4.5 ± .9 percentage points too low, with three for each feature .3 ± .8 too high.
const MIN_ROWS_PER_WHITENED_FEATURE: usize = 3;

/// Settings of an expansion.
#[derive(Clone)]
pub(crate) struct Expander<S: Similarity> {
    pub similarity: S,
    /// `None` means the default number.
    pub n_basis: Option<usize>,
    pub basis: BasisChoice,
    pub explicit: Option<S::Samples>,
    pub normalization: Normalization,
    /// Where the features of a Nyström map end.
    pub cut: NystroemCut,
    pub seed: u64,
}

/// The number of bases to select among samples of these weights. An explicit number may exceed the number of samples
/// and then causes a warning.
fn bases_of(explicit: Option<usize>, weights: &[f64]) -> usize {
    explicit.unwrap_or_else(|| weights.iter().filter(|weight| **weight > 0.0).count().clamp(1, DEFAULT_N_BASIS))
}

/// Training samples, in the caller's order, and the distinct ones.
pub(crate) struct Prepared<'a, S, K> {
    pub samples: About<'a, S>,
    pub merged: Merged<K>,
    pub threads: usize,
}

/// The parameters of a fit, and its stages so far.
pub(crate) type Before = (TrainingSettings, Vec<Stage>);

/// The result of expanding.
pub(crate) struct Expansion<S: Similarity, F = Vectors> {
    pub expansion: BasisExpansion<S>,
    /// The features of the distinct samples in memory; others have them elsewhere.
    pub phi: F,
    pub basis: Basis,
    /// A warning about the bases.
    pub warning: Option<String>,
}

impl<S: Similarity> Expansion<S, ()> {
    /// An expansion whose features workers hold, the parameters of its fit, and its stages so far.
    pub fn on_workers<'a>(
        expansion: BasisExpansion<S>,
        preparation: Preparation,
        monitor: &'a Monitor<'a>,
    ) -> (Self, TrainingSettings, Clock<'a>) {
        let Preparation { basis: choice, basis_rows: rows, training, stages } = preparation;
        let made = Expansion { expansion, phi: (), basis: Basis { choice, rows }, warning: None };
        let mut clock = Clock::start(monitor);
        clock.stages = stages;
        (made, training, clock)
    }
}

impl<S: Similarity, F> Expansion<S, F> {
    /// The last stage of a fit: the model of a solution, whose report gets the stages and the remarks on the expansion.
    pub fn model<T: ExpansionTask>(
        self,
        task: T,
        mut report: Report,
        (training, stages): Before,
    ) -> ExpansionModel<S, T> {
        report.stages = stages;
        self.expansion.add_remarks(&mut report.notes, &mut report.warnings);
        report.warnings.extend(self.warning);
        ExpansionModel::new(self.expansion, self.basis, task, report, Origin::of(training))
    }
}

impl<S: Similarity> Expansion<S> {
    /// The distinct samples that are bases, each with the position of its basis.
    pub fn bases_of_rows(&self, distinct: &Distinct) -> HashMap<usize, usize> {
        if self.expansion.similarity().metadata().brings_columns {
            return HashMap::new();
        }
        let places = self.basis.rows.iter().map(|&row| distinct.places[row]).enumerate();
        places.map(|(basis, place)| (place, basis)).collect()
    }

    /// The samples that leave-one-out judges.
    pub fn judged<K>(&self, merged: &Merged<K>) -> Judged {
        let Merged { distinct, weights, strata, draws, units, .. } = merged;
        let places = self.bases_of_rows(distinct).into_keys().filter(|&at| at < weights.len());
        // A sample with the content of a basis is one, whichever of them was taken.
        let contents: HashSet<usize> = places.map(|at| distinct.content(at)).collect();
        let bases: Vec<usize> = (0..weights.len()).filter(|&at| contents.contains(&distinct.content(at))).collect();
        without_bases((units.clone(), weights), &bases, |row| draws[row], |row| strata[row])
    }

    /// The features of the bases that leave-one-out judges, by the part of each weight that it removes, and takes away
    /// with them, unless the content of the basis remains; none where matrices would be too large.
    pub fn own_features<K>(&self, merged: &Merged<K>, units: &[f64]) -> Vec<OwnFeatures> {
        let Merged { distinct, weights, draws, .. } = merged;
        let (n_features, bases) = (self.expansion.n_features(), self.bases_of_rows(distinct));
        if n_features * n_features.max(weights.len()) > MAX_SQUARED_LOSS_NUMBERS {
            return Vec::new();
        }
        let of_row = |row: usize| {
            let features = bases.get(&row).map_or_else(Vec::new, |&basis| self.expansion.features_of_basis(basis));
            OwnFeatures { row, features, share: units[row] / weights[row] }
        };
        let remains = |row: usize| draws[row] || distinct.is_contested(row);
        let rows = (0..weights.len()).filter(|&row| units[row] > 0.0 && !remains(row));
        rows.map(of_row).filter(|own| !own.features.is_empty()).collect()
    }

    /// A copy, of features that each belong to a basis.
    pub fn copy(&self) -> Self {
        let all: Vec<usize> = (0..self.expansion.n_columns()).collect();
        let (phi, basis, warning) = (self.phi.clone(), self.basis.clone(), None);
        Expansion { expansion: self.expansion.select_bases(&all), phi, basis, warning }
    }

    /// Keeps some of its bases, ascending.
    ///
    /// # Errors
    /// Those of making sparse features dense, which have no bases to leave out.
    pub fn keep(&mut self, bases: &[usize]) -> Result<()> {
        let n_columns = self.expansion.n_columns();
        let Expansion { expansion, phi, basis, .. } = self;
        let dense = std::mem::replace(phi, Vectors::Dense(DenseMatrix::default())).into_dense()?;
        *expansion = expansion.select_bases(bases);
        let mut values = Vec::with_capacity(dense.n_rows * expansion.n_features());
        for part in dense.values.chunks(n_columns.max(1)) {
            values.extend(bases.iter().map(|&at| part[at]));
        }
        if !basis.rows.is_empty() {
            basis.rows = bases.iter().map(|&at| basis.rows[at]).collect();
        }
        *phi = Vectors::Dense(DenseMatrix { values, n_rows: dense.n_rows, n_cols: expansion.n_features() });
        Ok(())
    }

    /// Removes a share of the bases, but leaves at least `most` of them: those with the smallest weights over all
    /// problems and parts, `[problem][feature]` (recursive elimination: Guyon, Weston, Barnhill & Vapnik, *Gene Selection
    /// for Cancer Classification using Support Vector Machines*, 2002).
    ///
    /// An L1 penalty that leaves few bases is so strong that each class keeps those that suit it alone: fitted again
    /// without it, the 8 to 170 remaining bases of a thousand on three tasks were .5 to 12 points worse than as many
    /// evenly spaced ones, where elimination is .8 to 6.5 points better (`benchmarks/sparse_bases`).
    ///
    /// # Errors
    /// As for [`Expansion::keep`].
    pub fn remove_least_important(&mut self, weights: &[f32], most: usize) -> Result<()> {
        let sums = self.expansion.squares_of_bases(weights);
        let n = self.expansion.n_columns();
        let mut order: Vec<usize> = (0..sums.len()).collect();
        // In a tie the first.
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
        order.truncate(((n as f64 * PRUNING_SHARE) as usize).clamp(most.min(n), n));
        order.sort_unstable();
        self.keep(&order)
    }

    /// Scales the features such that the mean norm of each part is 1 again, after bases were removed; `weights` are those
    /// of the samples.
    pub fn restore_mean_norm(&mut self, weights: &[f64]) {
        let Vectors::Dense(phi) = &mut self.phi else { return };
        if self.expansion.normalization() != Normalization::MeanNorm {
            return;
        }
        let (width, total) = (phi.n_cols, weights.iter().sum::<f64>());
        for part in 0..self.expansion.similarity().n_parts() {
            let Some(columns) = self.expansion.part_columns(part) else { continue };
            let norm = |row: &[f32]| row[columns.clone()].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let rows = phi.values.chunks(width.max(1)).zip(weights);
            let mean = rows.map(|(row, weight)| weight * norm(row)).sum::<f64>() / total;
            if mean > 0.0 {
                let factor = self.expansion.similarity().options(part).factor() / mean;
                scale_columns(&mut phi.values, width, columns, factor);
                self.expansion.scale(part, factor);
            }
        }
    }
}

/// The parts whose weights are to be learned.
pub(super) fn unweighted<S: Similarity>(similarity: &S) -> Vec<usize> {
    (0..similarity.n_parts()).filter(|&part| similarity.options(part).weight.is_none()).collect()
}

/// Multiplies some columns of rows of `width` numbers.
pub(super) fn scale_columns(rows: &mut [f32], width: usize, columns: Range<usize>, factor: f64) {
    for row in rows.chunks_mut(width.max(1)) {
        row[columns.clone()].iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}

impl<S: Similarity> Expander<S> {
    /// The same for another similarity; explicit bases are dropped.
    pub fn with_similarity<T: Similarity>(self, similarity: T) -> Expander<T> {
        let Expander { n_basis, basis, normalization, cut, seed, .. } = self;
        Expander { similarity, n_basis, basis, explicit: None, normalization, cut, seed }
    }

    /// A copy for a fit on some of the samples; none if that is not of the same kind, because bases are rows of all
    /// samples or samples are rows of similarities to all, or if the similarity cannot be copied.
    pub fn for_some(&self) -> Option<Self> {
        if matches!(self.basis, BasisChoice::Rows(_)) || self.similarity.metadata().brings_columns {
            return None;
        }
        let similarity = self.similarity.unfitted()?;
        let explicit =
            self.explicit.as_ref().map(|explicit| Samples::select(explicit, &(0..explicit.len()).collect::<Vec<_>>()));
        Some(Expander { similarity, basis: self.basis.clone(), explicit, ..*self })
    }

    /// The number of bases if there are as many samples.
    pub fn most_bases(&self) -> usize {
        self.explicit.as_ref().map_or(self.n_basis.unwrap_or(DEFAULT_N_BASIS), Samples::len)
    }

    /// Checks the parameters; weights of similarities are learned for classes only.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter).
    pub fn check(&self, has_classes: bool) -> Result<()> {
        let learned = "a number: weights of similarities are learned for classes";
        require(has_classes || unweighted(&self.similarity).is_empty(), "weight", "auto", learned)?;
        require(self.n_basis != Some(0), "n_basis", "0", "at least 1")
    }

    /// The parameters that a model of a task without others stores.
    pub fn training(&self) -> TrainingSettings {
        TrainingSettings { seed: self.seed, n_basis: self.n_basis, ..TrainingSettings::default() }
    }

    /// Fits the expansion to the distinct samples and computes their features.
    pub fn fit<K>(mut self, all: &Prepared<'_, S::Samples, K>, clock: &mut Clock<'_>) -> Result<Expansion<S>> {
        let (Merged { distinct, weights, .. }, monitor) = (&all.merged, clock.monitor);
        let rows = &distinct.rows;
        let source = Picked { source: &all.samples, rows };
        let training = Training { samples: &source, weights, threads: all.threads, monitor };
        self.similarity.fit(&training).map_err(|error| error.of_rows(rows))?;
        clock.end("descriptor")?;

        let (bases, chosen) = self.choose_bases(all, monitor)?;
        clock.end("bases")?;

        let basis_rows: Vec<usize> =
            chosen.rows.iter().map(|&row| distinct.places[row]).filter(|place| *place != ABSENT).collect();
        let normalization = (self.normalization, self.cut);
        let (expansion, phi) = BasisExpansion::fit(self.similarity, bases, normalization, &basis_rows, &training)
            .map_err(|error| error.of_bases_and_rows(&chosen.rows, rows))?;
        clock.end("similarity")?;

        let (n, d) = (rows.len(), expansion.n_features());
        let is_rough = self.normalization == Normalization::Covariance && n < MIN_ROWS_PER_WHITENED_FEATURE * d;
        let rough = is_rough.then(|| {
            format!(
                "estimates of the error may be off in either direction: {n} samples whiten {d} features, and leave-one-out \
                 does not repeat that (fewer n_basis, or normalization=mean_norm)"
            )
        });
        let warning = chosen.warning.or(rough);
        Ok(Expansion { expansion, phi, basis: Basis::of(&self.basis, chosen.rows), warning })
    }

    /// The explicit bases, if there are any.
    fn explicit_bases(
        &mut self,
        samples: &dyn Source<Samples = S::Samples>,
        weights: &[f64],
    ) -> Result<Option<(S::Samples, Bases)>> {
        let Some(explicit) = self.explicit.take() else { return Ok(None) };
        require(!explicit.is_empty(), "bases", "none", "at least one sample")?;
        let explicit = explicit.about(samples.needed_offsets(weights)?.as_ref());
        Ok(Some((explicit, Bases { rows: Vec::new(), warning: None })))
    }

    /// The parameters that affect the result, as written on the command line.
    pub fn identity(&self) -> Vec<(&'static str, String)> {
        vec![
            ("similarity", self.similarity.spec()),
            ("n_basis", self.n_basis.map_or_else(|| "default".into(), |n| n.to_string())),
            ("basis", self.basis.to_string()),
            ("bases", if self.explicit.is_some() { "explicit" } else { "none" }.into()),
            ("normalization", self.normalization.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }

    fn choose_bases<K>(
        &mut self,
        Prepared { samples, merged, threads }: &Prepared<'_, S::Samples, K>,
        monitor: &Monitor<'_>,
    ) -> Result<(S::Samples, Bases)> {
        let Merged { distinct, weights, strata, .. } = merged;
        if let Some(explicit) = self.explicit_bases(samples, weights)? {
            return Ok(explicit);
        }
        let chosen = match &self.basis {
            choice if self.similarity.metadata().brings_columns => {
                // Any sample shows how many columns there are.
                let first: Vec<usize> = distinct.rows.iter().min().copied().into_iter().collect();
                let n_samples = samples.n_samples();
                let described = self.similarity.describe(samples.select(&first)?)?;
                let n_columns = self.similarity.n_columns(&described) - self.similarity.metadata().n_polynomials;
                // A Nyström map needs the similarities between the bases: the rows of samples that are the columns.
                let rows = match choice {
                    _ if self.normalization.negative_eigenvalues().is_none() => first,
                    BasisChoice::Rows(rows) if rows.len() == n_columns => {
                        basis::check_rows(rows, n_samples)?;
                        rows.clone()
                    }
                    _ if n_columns == n_samples => (0..n_samples).collect(),
                    _ => first,
                };
                Bases { rows, warning: None }
            }
            BasisChoice::Rows(rows) => {
                basis::check_rows(rows, samples.n_samples())?;
                Bases { rows: rows.clone(), warning: None }
            }
            choice => {
                let n_basis = bases_of(self.n_basis, weights);
                let training = Training { samples, weights, threads: *threads, monitor };
                choose_distinct(choice, (n_basis, self.seed), &self.similarity, (distinct, strata), &training)?
            }
        };
        let bases = samples.select(&chosen.rows)?.detached()?;
        basis::check_sound(&self.similarity, &bases, &chosen.rows)?;
        Ok((bases, chosen))
    }

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
            Some(explicit) => explicit,
            None => self.bases_in_order(labels, training)?,
        };
        clock.end("bases")?;
        let normalization = (self.normalization, self.cut);
        let (expansion, _) = BasisExpansion::before_normalization(self.similarity, bases, normalization, training)
            .map_err(|error| error.of_bases_and_rows(&chosen.rows, &[]))?;
        Ok((expansion, Basis::of(&self.basis, chosen.rows), chosen.warning))
    }

    /// Selects distinct samples, in the order of the samples, for a fit that reads them in passes.
    fn bases_in_order(&self, labels: &Labels, training: &Training<'_, S::Samples>) -> Result<(S::Samples, Bases)> {
        let similarity = &self.similarity;
        let mut chosen = if similarity.metadata().brings_columns {
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
                let strata: Vec<u32> = distinct.rows.iter().map(|&row| codes[row]).collect();
                let training = Training { weights: &distinct.weights, ..*training };
                choose_distinct(&self.basis, (n_basis, self.seed), similarity, (&distinct, &strata), &training)?
            }
        };
        let is_row_list = matches!(self.basis, BasisChoice::Rows(_));
        if !is_row_list {
            chosen.rows.sort_unstable();
        }
        let bases = training.samples.select(&chosen.rows)?;
        basis::check_sound(similarity, &bases, &chosen.rows)?;
        let mut fingerprints = HashSet::new();
        let is_new = |at: &usize| is_row_list || bases.fingerprint(*at).is_none_or(|print| fingerprints.insert(print));
        let distinct_rows: Vec<usize> = (0..chosen.rows.len()).filter(is_new).collect();
        if distinct_rows.len() == chosen.rows.len() {
            return Ok((bases, chosen));
        }
        chosen.rows = distinct_rows.iter().map(|&at| chosen.rows[at]).collect();
        Ok((Samples::select(&bases, &distinct_rows), chosen))
    }
}

/// Selects among distinct samples: at positions of the caller's rows where the choice is by position, and otherwise in
/// an order of content, so that the order of the caller's rows does not matter. Bases are stored in the order of the
/// distinct samples, whose weights `training` has.
fn choose_distinct<S: Similarity>(
    choice: &BasisChoice,
    (n_basis, seed): (usize, u64),
    similarity: &S,
    (distinct, strata): (&Distinct, &[u32]),
    training: &Training<'_, S::Samples>,
) -> Result<Bases> {
    let order = match distinct.is_canonical && !choice.is_by_position() {
        true => (0..distinct.rows.len()).collect(),
        false => distinct.in_callers_order(),
    };
    let rows: Vec<usize> = order.iter().map(|&at| distinct.rows[at]).collect();
    let weights: Vec<f64> = order.iter().map(|&at| training.weights[at]).collect();
    let codes: Vec<u32> = order.iter().map(|&at| strata[at]).collect();
    let source = Picked { source: training.samples, rows: &rows };
    let training = Training { samples: &source, weights: &weights, ..*training };
    let n_classes = codes.iter().max().map_or(1, |&last| last as usize + 1);
    let chosen = basis::choose(choice, n_basis, &codes, n_classes, seed, similarity, &training)
        .map_err(|error| error.of_rows(&rows))?;
    let mut places: Vec<usize> = chosen.rows.iter().map(|&at| order[at]).collect();
    if distinct.is_canonical {
        places.sort_unstable();
        // The same content in two classes is one basis.
        places.dedup_by_key(|at| distinct.content(*at));
    }
    let is_merged = distinct.n_present() > distinct.rows.len();
    let counted = |warning| if is_merged { format!("{warning} (equal samples are one)") } else { warning };
    let warning = chosen.warning.map(counted);
    Ok(Bases { rows: places.into_iter().map(|at| distinct.rows[at]).collect(), warning })
}
