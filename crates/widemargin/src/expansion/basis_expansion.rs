//! φ(x) = [s(b₁, x) … s(b_B, x)], normalized: the empirical kernel map on a few bases, for any similarity.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*, eq. 2–4.
//! Several similarities are normalized separately and concatenated.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::affine::{Affine, CHUNK_ROWS, FeatureChunks};
use super::decision::{Decision, FoldedDecision, SparseDecision};
use super::inverse_root::Precision;
use super::part_map::{Linear, PartMap, Spectrum, n_joined};
use super::sparse_rows;
use super::{Normalization, NystroemCut};
use crate::data::{AnySamples, DenseMatrix, Kind, Samples, Source, Training, Vectors};
use crate::error::{Error, Result};
use crate::macros::getters;
use crate::memory;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::partition::{Remote, Workers};
use crate::similarity::{AnySimilarity, Similarity};
use crate::tuning::BLOCK_SECONDS;

/// Negative eigenvalues of a smaller part of the positive ones are not worth a note.
const MIN_NEGATIVE_EIGENVALUES: f64 = 1e-4;

/// Similarities that differ by more than this fraction of the largest one way and the other are not symmetric.
const MAX_ASYMMETRY: f64 = 1e-4;

/// With negative eigenvalues of this part of the positive ones a similarity is far from definite.
const MIN_INDEFINITENESS: f64 = 0.5;

/// With fewer rows the fixed cost of a block is too large, however slow the similarity.
const MIN_BLOCK_ROWS: usize = 4;

/// The maps of all parts, and the similarities between the bases, if they were computed in single precision.
type NystroemParts = (Vec<(PartMap, Spectrum)>, Option<DenseMatrix<f32>>);

/// A fitted expansion: a similarity, its bases, and the normalization of each of its parts.
pub struct BasisExpansion<S: Similarity> {
    pub(super) similarity: Arc<S>,
    /// Before any descriptor, as in a model file.
    bases: Arc<S::Samples>,
    /// As the similarity compares them.
    pub(super) described: Arc<S::Samples>,
    pub(super) normalization: Normalization,
    /// One per part; empty before it is fitted.
    pub(super) maps: Vec<PartMap>,
    /// Whether parts are compared with their own bases only.
    is_own: bool,
    /// The parts that are features of sparse rows, which stay sparse where the normalization allows it.
    pub(super) sparse: Vec<bool>,
    /// Of each part, where it was fitted with a Nyström normalization.
    spectra: Vec<Spectrum>,
}

/// The clone shares the similarity and the bases.
impl<S: Similarity> Clone for BasisExpansion<S> {
    fn clone(&self) -> Self {
        BasisExpansion {
            similarity: self.similarity.clone(),
            bases: self.bases.clone(),
            described: self.described.clone(),
            normalization: self.normalization,
            maps: self.maps.clone(),
            is_own: self.is_own,
            sparse: self.sparse.clone(),
            spectra: self.spectra.clone(),
        }
    }
}

impl<S: Similarity> BasisExpansion<S> {
    /// Learns the normalization for a fitted similarity on these bases, and returns the normalized features of the
    /// training samples: samples × features, sparse where they stay so ([`BasisExpansion::is_sparse`]). `basis_rows` are
    /// the training samples that are the bases, if these are training samples.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair; [`Error::Memory`] if
    /// the features do not fit.
    pub(crate) fn fit(
        similarity: S,
        bases: S::Samples,
        normalization: (Normalization, NystroemCut),
        basis_rows: &[usize],
        training: &Training<'_, S::Samples>,
    ) -> Result<(Self, Vectors)> {
        let Training { samples, threads, monitor, .. } = *training;
        let (mut expansion, between) =
            BasisExpansion::before_normalization(similarity, bases, normalization, training)?;
        if expansion.is_sparse() {
            let mut phi = expansion.sparse_features(samples, threads, monitor)?;
            if let Some(affine) = expansion.affine() {
                expansion.maps = sparse_rows::learn(&affine, &phi, training)?;
                sparse_rows::apply(&expansion.maps, &mut phi);
            }
            return Ok((expansion, Vectors::Sparse(phi)));
        }
        let mut phi = expansion.training_features(basis_rows, between, training)?;
        expansion.normalize(&mut phi, training)?;
        Ok((expansion, Vectors::Dense(phi)))
    }

    /// The expansion before its normalization has been learned from samples, with the similarities between the bases
    /// where they were computed. A Nyström map, which depends only on the bases, is included.
    pub(crate) fn before_normalization(
        similarity: S,
        bases: S::Samples,
        (normalization, cut): (Normalization, NystroemCut),
        training: &Training<'_, S::Samples>,
    ) -> Result<(Self, Option<DenseMatrix<f32>>)> {
        let n_polynomials = similarity.metadata().n_polynomials;
        if n_polynomials > 0 && !matches!(normalization, Normalization::Centered(_)) {
            let expected = "centered: polynomials belong to a conditionally positive definite similarity";
            return Err(Error::parameter("normalization", normalization, expected));
        }
        if similarity.metadata().has_own_features && normalization.negative_eigenvalues().is_some() {
            let expected = "mean-norm, z-score, covariance or none: features are no similarities between bases";
            return Err(Error::parameter("normalization", normalization, expected));
        }
        let mut expansion = BasisExpansion::from_parts(similarity, bases, normalization, Vec::new())?.unnormalized();
        let mut between = None;
        if normalization.negative_eigenvalues().is_some() {
            let parts;
            (parts, between) = expansion.nystroem(cut, training)?;
            (expansion.maps, expansion.spectra) = parts.into_iter().unzip();
        }
        if !normalization.is_learned() {
            let weighted = |(part, map): (usize, PartMap)| map.scaled(expansion.similarity.options(part).factor());
            expansion.maps = std::mem::take(&mut expansion.maps).into_iter().enumerate().map(weighted).collect();
        }
        Ok((expansion, between))
    }

    /// The unnormalized similarities of all parts to all bases, for a fitted similarity.
    ///
    /// # Errors
    /// Errors of the similarity.
    pub fn raw(similarity: Arc<S>, bases: S::Samples) -> Result<Self> {
        let mut raw = Self::from_parts(similarity, bases, Normalization::None, Vec::new())?;
        let n_parts = raw.similarity.n_parts();
        if n_parts > 1 && (0..n_parts).any(|part| raw.similarity.own_features(part, &raw.described).is_some()) {
            let problem = "features are no similarities between samples: leave them out";
            return Err(Error::similarity(raw.similarity.spec(), problem));
        }
        raw.is_own = false;
        Ok(raw.unnormalized())
    }

    /// The same expansion with unnormalized similarities, without the weights of its parts.
    pub fn unnormalized(self) -> Self {
        BasisExpansion { maps: self.widths().into_iter().map(PartMap::identity).collect(), ..self }
    }

    /// An expansion from its stored parts.
    pub(crate) fn from_parts(
        similarity: impl Into<Arc<S>>,
        bases: S::Samples,
        normalization: Normalization,
        maps: Vec<PartMap>,
    ) -> Result<Self> {
        let similarity = similarity.into();
        let described = Arc::new(similarity.describe(bases.clone())?);
        let sparse = sparse_rows::sparse_parts(&*similarity, &described)?;
        Ok(BasisExpansion {
            sparse,
            similarity,
            bases: Arc::new(bases),
            described,
            normalization,
            maps,
            is_own: true,
            spectra: Vec::new(),
        })
    }

    /// The same expansion with a normalization that is learned from all rows of its features, which workers hold, and
    /// whose weights sum to `total`. A normalization by the bases alone is unchanged.
    ///
    /// # Errors
    /// Errors of the rows; [`Error::Cancelled`].
    pub fn normalized(
        self,
        normalization: Normalization,
        workers: impl Workers,
        total: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let expansion = BasisExpansion { normalization, ..self };
        match expansion.affine() {
            None => Ok(expansion),
            Some(affine) => {
                Ok(BasisExpansion { maps: affine.learn(&mut Remote::new(workers), total, monitor)?, ..expansion })
            }
        }
    }

    getters! {
        /// The similarity.
        similarity: &S;
        /// The bases, before any descriptor.
        bases: &S::Samples;
        /// The normalization.
        copy normalization: Normalization;
    }

    /// The similarity, shared with this expansion.
    pub fn share_similarity(&self) -> Arc<S> {
        self.similarity.clone()
    }

    /// Adds notes and warnings on the digits of columns far from 0, and on changes by a Nyström normalization: asymmetry
    /// and negative eigenvalues.
    pub(crate) fn add_remarks(&self, notes: &mut Vec<String>, warnings: &mut Vec<String>) {
        let column = self.bases.offsets().and_then(|offsets| offsets.iter().position(|offset| *offset != 0.0));
        if let Some(column) = column.filter(|_| !self.similarity.metadata().depends_on_differences) {
            let spec = self.similarity.spec();
            warnings.push(format!(
                "column {column} lies so far from 0 for its range that '{spec}' loses digits in single precision: subtract \
                 its mean, or describe the samples before, as in z-score/{spec}"
            ));
        }
        let is_conditional = matches!(self.normalization, Normalization::Centered(_));
        for (part, &Spectrum { negative, asymmetry }) in self.spectra.iter().enumerate() {
            let name = self.similarity.part(part);
            if asymmetry > MAX_ASYMMETRY && !self.similarity.is_symmetric(part) {
                warnings.push(format!(
                    "'{name}' is not symmetric: s(a, b) and s(b, a) of two bases differ by up to {:.2} % of the largest \
                     value, so that '{}' uses the symmetric part (S + Sᵀ)/2; 'mean-norm' needs no symmetry",
                    100.0 * asymmetry,
                    self.normalization,
                ));
            }
            if negative <= MIN_NEGATIVE_EIGENVALUES {
                continue;
            }
            let remark = format!(
                "{} made {name} definite: between the bases, its negative eigenvalues have {:.2} % of the sum of its \
                 positive ones",
                self.normalization,
                100.0 * negative,
            );
            if is_conditional && self.is_indefinite(part) {
                warnings.push(remark + ", which is far from conditionally positive definite")
            } else {
                notes.push(remark)
            }
        }
    }

    /// Whether a Nyström map of a part took away much: a similarity that is far from definite.
    pub(crate) fn is_indefinite(&self, part: usize) -> bool {
        self.spectra.get(part).is_some_and(|spectrum| spectrum.negative > MIN_INDEFINITENESS)
    }

    /// Samples of a source, with the offsets of the bases.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    pub(crate) fn read(&self, samples: &dyn Source<Samples = S::Samples>, rows: Range<usize>) -> Result<S::Samples> {
        match self.bases.offsets() {
            Some(offsets) => samples.chunk_about(rows, offsets),
            None => samples.chunk(rows),
        }
    }

    /// Samples as the similarity compares them.
    ///
    /// # Errors
    /// As for [`Similarity::describe`].
    pub(crate) fn describe(&self, samples: S::Samples) -> Result<S::Samples> {
        self.similarity.describe(samples.about(self.bases.offsets()))
    }

    /// The bases as the similarity compares them.
    pub(crate) fn described(&self) -> &S::Samples {
        &self.described
    }

    pub(crate) fn maps(&self) -> &[PartMap] {
        &self.maps
    }

    /// Columns of a similarity to all bases: their number.
    pub fn n_columns(&self) -> usize {
        self.similarity.n_columns(&self.described)
    }

    /// The bases of one part, positions among all bases; of a part that is features, their numbers.
    pub fn columns_of(&self, part: usize) -> Vec<usize> {
        if let Some(n_features) = self.similarity.own_features(part, &self.described) {
            return (0..n_features).collect();
        }
        let n = self.n_columns();
        if self.is_own { self.similarity.options(part).columns(n) } else { (0..n).collect() }
    }

    /// The number of bases of each part.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let n = self.n_columns();
        let of_bases = |part: usize| if self.is_own { self.similarity.options(part).width(n) } else { n };
        let features = |part: usize| self.similarity.own_features(part, &self.described);
        let width = |part: usize| features(part).unwrap_or_else(|| of_bases(part));
        (0..self.similarity.n_parts()).map(width).collect()
    }

    /// Number of features per sample.
    pub fn n_features(&self) -> usize {
        n_joined(&self.maps)
    }

    /// The feature columns of one similarity (part); `None` if there is no such part.
    pub fn part_columns(&self, part: usize) -> Option<Range<usize>> {
        let n_features = self.maps.get(part)?.n_features;
        let first = n_joined(&self.maps[..part]);
        Some(first..first + n_features)
    }

    /// The features of samples: samples × features, the same for any number of threads.
    ///
    /// # Errors
    /// Errors of the similarity, [`Error::Sample`] for a non-finite value, [`Error::Memory`] if the features do not
    /// fit.
    pub fn transform(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<DenseMatrix<f32>> {
        self.transform_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform`]; [`Error::Cancelled`].
    pub fn transform_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f32>> {
        let (n_rows, n_cols) = (samples.n_samples(), self.n_features());
        self.check_memory(n_rows)?;
        let mut values = vec![0.0f32; n_rows * n_cols];
        let chunk_rows = self.chunk_rows();
        let mut chunks: Vec<&mut [f32]> = values.chunks_mut((chunk_rows * n_cols).max(1)).collect();
        let (pool, count) = (Pool::new(threads)?, RowCount::new(monitor, "similarity", n_rows));
        let work = |at: usize, out: &mut &mut [f32]| {
            count.go_on()?;
            let rows = at * chunk_rows..((at + 1) * chunk_rows).min(n_rows);
            self.features_into(self.read(samples, rows.clone())?, rows.start, out)?;
            count.add(rows.len());
            Ok(())
        };
        pool.map_mut(&mut chunks, work).into_iter().collect::<Result<()>>()?;
        Ok(DenseMatrix { values, n_rows, n_cols })
    }

    /// The number of rows compared at a time.
    pub(crate) fn chunk_rows(&self) -> usize {
        let seconds_per_row = self.similarity.seconds_per_pair(&self.described) * self.n_columns() as f64;
        ((BLOCK_SECONDS / seconds_per_row) as usize).clamp(MIN_BLOCK_ROWS, CHUNK_ROWS)
    }

    /// Whether weights in another order or on similarities, instead of features, save work.
    pub(crate) fn has_decision(&self) -> bool {
        self.is_sparse() || self.maps.iter().any(|map| !matches!(map.linear, Linear::Factors(_)))
    }

    /// Weights in another order, of sparse features, or on similarities instead of features.
    pub(crate) fn decision<W: Copy + Into<f64>>(&self, weights: &[W], n_problems: usize) -> Decision {
        if self.is_sparse() {
            return Decision::Sparse(SparseDecision::new(weights, n_problems));
        }
        Decision::Folded(FoldedDecision::new(&self.maps, weights, n_problems))
    }

    /// Multiplies the features of one part by a learned weight.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the similarity is shared with another expansion, which a fit's is not.
    pub(crate) fn weigh(&mut self, part: usize, weight: f64) -> Result<()> {
        let shared = || Error::parameter("weight", "auto", "an expansion of its own");
        Arc::get_mut(&mut self.similarity).ok_or_else(shared)?.set_weight(part, weight);
        self.scale(part, weight);
        Ok(())
    }

    /// Multiplies the features of one part.
    pub(crate) fn scale(&mut self, part: usize, factor: f64) {
        self.maps[part] = self.maps[part].clone().scaled(factor);
    }

    /// Rejects an expansion whose bases cannot be left out.
    ///
    /// # Errors
    /// [`Error::Parameter`] for normalizations that mix the bases, and for parts with bases of their own.
    pub(crate) fn check_prunable(&self) -> Result<()> {
        if !self.normalization.has_feature_per_basis() {
            let expected = "mean-norm, z-score or none, where each feature belongs to a basis, to leave bases out";
            return Err(Error::parameter("normalization", self.normalization, expected));
        }
        let similarity = &self.similarity;
        let parts = 0..similarity.n_parts();
        let has_own = parts.clone().any(|part| similarity.options(part).n_basis.is_some());
        let has_features = parts.clone().any(|part| similarity.own_features(part, &self.described).is_some());
        if has_own || has_features || similarity.metadata().brings_columns {
            let expected = "similarities that compare with all bases (no bases=…, not precomputed, not features), to leave bases out";
            return Err(Error::parameter("similarity", similarity.spec(), expected));
        }
        Ok(())
    }

    /// The features that compare with a basis; none where maps mix the bases.
    pub(crate) fn features_of_basis(&self, basis: usize) -> Vec<usize> {
        if !self.normalization.has_feature_per_basis() {
            return Vec::new();
        }
        let parts = (0..self.maps.len()).filter(|&part| self.similarity.own_features(part, &self.described).is_none());
        let of_part = |part: usize| {
            let columns = self.columns_of(part).into_iter().zip(self.part_columns(part).unwrap_or_default());
            columns.filter(|(column, _)| *column == basis).map(|(_, feature)| feature).collect::<Vec<_>>()
        };
        parts.flat_map(of_part).collect()
    }

    /// Σ weight² of each basis over all problems and parts, where each feature belongs to one; weights are
    /// `[problem][feature]`.
    pub(crate) fn squares_of_bases(&self, weights: &[impl Copy + Into<f64>]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_columns()];
        for part in 0..self.maps.len() {
            let (columns, features) = (self.columns_of(part), self.part_columns(part).unwrap_or_default());
            for of_problem in weights.chunks(self.n_features().max(1)) {
                let weights = columns.iter().zip(&of_problem[features.clone()]);
                weights.for_each(|(&basis, &weight)| sums[basis] += weight.into().powi(2));
            }
        }
        sums
    }

    /// The bases that have a weight: at least the first.
    pub(crate) fn used_bases(&self, weights: &[f32]) -> Vec<usize> {
        let squares = self.squares_of_bases(weights);
        let used: Vec<usize> = (0..squares.len()).filter(|&basis| squares[basis] > 0.0).collect();
        if used.is_empty() { vec![0] } else { used }
    }

    /// The weights of some of the bases.
    pub(crate) fn weights_of_bases(&self, weights: &[f32], selected: &[usize]) -> Vec<f32> {
        weights.chunks(self.n_columns().max(1)).flat_map(|part| selected.iter().map(|&at| part[at])).collect()
    }

    /// The same expansion with some of its bases, ascending, where each feature belongs to one of them and all parts
    /// are compared with all; the features of the others are unchanged.
    pub(crate) fn select_bases(&self, selected: &[usize]) -> Self {
        let select = |values: &[f32]| -> Vec<f32> { selected.iter().map(|&at| values[at]).collect() };
        let map = |map: &PartMap| match &map.linear {
            Linear::Factors(all) if all.len() == 1 => PartMap::affine(select(&map.center), all.clone()),
            Linear::Factors(factors) => PartMap::affine(select(&map.center), select(factors)),
            _ => map.clone(),
        };
        let maps = self.maps.iter().map(map).collect();
        let bases = Arc::new(Samples::select(&*self.bases, selected));
        let described = Arc::new(Samples::select(&*self.described, selected));
        BasisExpansion { bases, described, maps, ..self.clone() }
    }

    fn nystroem(&self, cut: NystroemCut, training: &Training<'_, S::Samples>) -> Result<NystroemParts> {
        let (n, n_columns, n_polynomials) =
            (self.bases.len(), self.n_columns(), self.similarity.metadata().n_polynomials);
        if n_columns != n + n_polynomials {
            let (spec, normalization) = (self.similarity.spec(), self.normalization);
            let problem = format!(
                "{normalization} needs the similarities between the bases: give those between all samples, a square matrix"
            );
            return Err(Error::similarity(spec, problem));
        }
        let (similarity, bases) = (self.similarity.clone(), self.bases().clone());
        let raw = Self::from_parts(similarity, bases, Normalization::None, Vec::new())?.unnormalized();
        let widths = raw.widths();
        // Where the columns of each part begin.
        let firsts: Vec<usize> = (0..widths.len()).map(|part| widths[..part].iter().sum()).collect();
        let monitor = training.monitor.without_progress();
        // Here the samples are the bases.
        let of_bases = |error| match error {
            Error::Sample { similarity, number, problem, .. } => {
                Error::Sample { similarity, is_basis: true, number, problem }
            }
            other => other,
        };
        let is_precise = |part| Ok(cut.is_precise() && raw.has_double_precision(part).map_err(of_bases)?);
        let is_precise = (0..widths.len()).map(is_precise).collect::<Result<Vec<bool>>>()?;
        let between = match is_precise.contains(&false) {
            true => Some(raw.between_bases(training.threads, &monitor).map_err(of_bases)?),
            false => None,
        };
        let nothing = DenseMatrix::default();
        let part = |part: usize| {
            if let Some(n_features) = self.similarity.own_features(part, &self.described) {
                return Ok((PartMap::identity(n_features), Spectrum::default()));
            }
            let own = self.similarity.options(part).columns(n);
            let (block, precision) = if is_precise[part] {
                let all = raw.precise_similarities(part, self.bases(), training.threads, &monitor).map_err(of_bases)?;
                let rows = own.iter().flat_map(|&row| &all[row * widths[part]..][..widths[part]]);
                (rows.copied().collect::<Vec<f64>>(), Precision::Double)
            } else {
                let DenseMatrix { values, n_cols, .. } = between.as_ref().unwrap_or(&nothing);
                let row = |&row: &usize| &values[row * n_cols + firsts[part]..][..widths[part]];
                (own.iter().flat_map(row).map(|&x| f64::from(x)).collect(), Precision::Single)
            };
            let sizes = (own.len(), n_polynomials);
            let spec = self.similarity.part(part);
            PartMap::nystroem((&block, precision), sizes, (self.normalization, cut), &spec)
        };
        let parts = (0..self.maps.len()).map(part).collect::<Result<_>>()?;
        Ok((parts, between))
    }

    /// The statistics that the normalization needs from samples; `None` if it needs none.
    pub(crate) fn affine(&self) -> Option<Affine> {
        let weights = (0..self.similarity.n_parts()).map(|part| self.similarity.options(part).factor()).collect();
        let stays = |is_sparse: &bool| *is_sparse && self.is_sparse();
        let uncentered = self.sparse.iter().map(stays).collect();
        Affine::of(self.normalization, self.widths(), weights, uncentered)
    }

    /// The same expansion with these maps.
    pub(crate) fn with_maps(self, maps: Vec<PartMap>) -> Self {
        BasisExpansion { maps, ..self }
    }

    /// Normalizes rows of features in place, which were made before the normalization was learned.
    pub fn apply_in_place(&self, rows: &mut [f32]) {
        let (width, mut first) = (self.n_features(), 0);
        for map in self.maps.iter().filter(|_| self.normalization.is_learned()) {
            map.apply_in_place(rows, width, first);
            first += map.n_features;
        }
    }

    /// Learns the center and the scale of each part from the raw features, and applies them in place.
    fn normalize(&mut self, phi: &mut DenseMatrix<f32>, training: &Training<'_, S::Samples>) -> Result<()> {
        let Some(affine) = self.affine() else { return Ok(()) };
        let (weights, width, pool) = (training.weights, affine.width(), Pool::new(training.threads)?);
        let mut rows = FeatureChunks { values: &phi.values, weights, width, pool: &pool };
        self.maps = affine.learn(&mut rows, weights.iter().sum(), training.monitor)?;
        let mut chunks: Vec<&mut [f32]> = phi.values.chunks_mut((CHUNK_ROWS * width).max(1)).collect();
        pool.map_mut(&mut chunks, |_, chunk| self.apply_in_place(chunk));
        Ok(())
    }

    /// Rejects features that do not fit in available memory.
    fn check_memory(&self, n_rows: usize) -> Result<()> {
        let n_features = self.n_features();
        let what = || format!("the features of {n_rows} samples, {n_features} each,");
        let hint = "choose fewer bases (n_basis, --n-basis) or fewer similarities";
        memory::check(memory::product(&[n_rows, n_features, size_of::<f32>()]), what, hint)
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansion<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansion")
            .field("similarity", &self.similarity.spec())
            .field("n_bases", &self.bases.len())
            .field("normalization", &self.normalization)
            .finish_non_exhaustive()
    }
}

/// The output of the descriptors of a single fitted similarity, as dense rows.
///
/// # Errors
/// Errors of the descriptors; [`Error::Similarity`] if their output is neither vectors nor grids.
pub fn describe(
    similarity: &AnySimilarity,
    samples: &dyn Source<Samples = AnySamples>,
    threads: usize,
) -> Result<DenseMatrix<f32>> {
    let vectors = |described: AnySamples| match Vectors::from_any(described) {
        Ok(vectors) => vectors.into_dense(),
        Err(other) => {
            let problem = format!("its descriptors give {}, which are no vectors", other.kind());
            Err(Error::similarity(similarity.spec(), problem))
        }
    };
    let chunk = |rows: Range<usize>| match similarity.describe(samples.chunk(rows)?)? {
        AnySamples::Described(views) => views.into_iter().next().map(vectors).transpose(),
        _ => Ok(None),
    };
    let mut all = DenseMatrix::default();
    Pool::new(threads)?.fold_chunks(samples.n_samples(), CHUNK_ROWS, chunk, |part| {
        if let Some(DenseMatrix { values, n_rows, n_cols }) = part {
            all.n_cols = n_cols;
            all.n_rows += n_rows;
            all.values.extend(values);
        }
        Ok(())
    })?;
    Ok(all)
}
