//! Estimates of fits whose similarity was selected on few samples: the least of several leave-one-out errors of the same
//! samples is optimistic, so that the similarity is selected again without each fifth of them.

use super::candidate::SimilaritySearch;
use super::similarity_search::SimilarityChoice;
use crate::basis::BasisChoice;
use crate::data::{About, AnySamples, Distinct, Labels, Picked, Source, Targets, effective_weights};
use crate::error::{Error, Result};
use crate::model::known::Merged;
use crate::model::{
    BasisExpansionParams, BasisExpansionRegressor, BasisExpansionRegressorParams, RegressionPoint, RegressionSelection,
    StandardTargets,
};
use crate::monitor::Monitor;
use crate::problem::{HeldOutScores, Loss, OneVsRest, count};
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::EstimateMethod;
use crate::solve::ridge::Fitted;
use crate::tuning::{
    MIN_SAMPLES_OF_SELECTED_ESTIMATE, MIN_SAMPLES_OF_WEIGHTED_ESTIMATE, N_FOLDS, SELECTION_TIME_SHARE,
};

/// The note where there are no folds.
const OPTIMISTIC: &str = "on so few samples the estimate of the best of several is optimistic";

/// The places of each fold and those of the others, ascending: each fold has its share of every stratum.
fn folds_of(strata: &[u32]) -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
    let mut ranked: Vec<usize> = (0..strata.len()).collect();
    ranked.sort_by_key(|&place| strata[place]);
    let mut folds = vec![0; strata.len()];
    ranked.into_iter().enumerate().for_each(|(rank, place)| folds[place] = rank % N_FOLDS as usize);
    (0..N_FOLDS as usize).map(move |fold| (0..folds.len()).partition(|&place| folds[place] == fold))
}

/// The rows of some distinct samples, and their weights.
fn rows_of(distinct: &Distinct, places: &[usize]) -> (Vec<usize>, Vec<f64>) {
    places.iter().map(|&place| (distinct.rows[place], distinct.weights[place])).unzip()
}

impl SimilaritySearch {
    /// Whether the samples are so few that the estimate of the best of several is optimistic: more where the columns were
    /// weighted on them. Bases by row numbers are not those of a fold.
    fn has_folds(&self, choice: &SimilarityChoice, basis: &BasisChoice) -> bool {
        let has_weights = choice.best.similarity.iter().any(|spec| spec.contains(":weights="));
        let learns_columns = self.candidates.is_empty() && has_weights;
        let enough = if learns_columns { MIN_SAMPLES_OF_WEIGHTED_ESTIMATE } else { MIN_SAMPLES_OF_SELECTED_ESTIMATE };
        let is_few = choice.tried.len() > 1 && choice.tried.last().is_some_and(|last| last.n_samples < enough);
        is_few && !matches!(basis, BasisChoice::Rows(_))
    }

    /// The parameters with the results of a search, and where its similarity was selected on few samples, or its columns
    /// weighted on not many more, with the decision values of five folds of searches and fits, for the estimate. None
    /// where contents are drawn several times; a note for multilabel targets, and where the time limit or a fold does not
    /// allow them.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; as for [`AnySimilarity::new`].
    pub(crate) fn with_folds<S: Similarity + Clone>(
        &self,
        (params, choice): (&BasisExpansionParams<S>, &SimilarityChoice),
        samples: &dyn Source<Samples = AnySamples>,
        (labels, sample_weight): (&Labels, Option<&[f64]>),
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionParams<AnySimilarity>, Option<String>)> {
        let mut chosen = params.clone().with_choice(choice)?;
        if !self.has_folds(choice, &params.expander.basis) {
            return Ok((chosen, None));
        }
        if !labels.is_multilabel() {
            match self.scores_of_folds(params, samples, (labels, sample_weight), monitor) {
                Ok(scores) => {
                    chosen.task.held_out = scores;
                    return Ok((chosen, None));
                }
                Err(error @ Error::Cancelled { .. }) => return Err(error),
                // The samples of a fold may be too few for what all can be fitted with.
                Err(_) => {}
            }
        }
        Ok((chosen, Some(OPTIMISTIC.into())))
    }

    fn scores_of_folds<S: Similarity + Clone>(
        &self,
        params: &BasisExpansionParams<S>,
        samples: &dyn Source<Samples = AnySamples>,
        (labels, sample_weight): (&Labels, Option<&[f64]>),
        monitor: &Monitor<'_>,
    ) -> Result<Option<HeldOutScores>> {
        let monitor = &monitor.with_strict_limit().with_part_of_time(SELECTION_TIME_SHARE).without_progress();
        let effective = effective_weights(labels, sample_weight, &self.class_weight)?;
        let samples = &About::new(samples, &effective)?;
        let read = |rows: &[usize]| samples.fingerprints(rows);
        let (known, of) = ((labels, &self.class_weight), (sample_weight, &effective[..]));
        let merged = Merged::find(read, known, of, (0, self.threads), monitor)?;
        let Merged { distinct, known: labels, weights, units, .. } = merged;
        // A fold holds out all of a content's copies in a class, and none in the others: where these are draws, the others
        // would predict it.
        if units.iter().zip(&weights).any(|(unit, weight)| unit < weight) {
            return Ok(None);
        }
        let mut sizes = vec![0; labels.classes().len()];
        labels.codes().iter().for_each(|&code| sizes[code as usize] += 1);
        let mut scores = HeldOutScores::default();
        for (mut out, mut others) in folds_of(labels.codes()) {
            let only = out.extract_if(.., |place| sizes[labels.codes()[*place] as usize] == 1);
            others.extend(only);
            others.sort_unstable();
            let ((rows, own_weights), (rows_out, _)) = (rows_of(&distinct, &others), rows_of(&distinct, &out));
            let (picked, own) = (Picked { source: samples, rows: &rows }, labels.present(&others));
            let choice = self.choose(&picked, &own, Some(&own_weights), monitor)?;
            let fitted = params.clone().with_choice(&choice)?.fit_with(&picked, &own, Some(&own_weights), monitor)?;
            let found =
                fitted.decision_function_with(&Picked { source: samples, rows: &rows_out }, self.threads, monitor)?;
            for (at, &place) in out.iter().enumerate() {
                let values = found.row(at).iter().copied().map(f64::from);
                scores.push(values, labels.codes()[place], weights[place], count(weights[place], units[place]));
            }
        }
        // Without its only sample a class is unknown: that sample is taken for one of the largest class.
        let (targets, largest) = (OneVsRest::of(&labels), (0..sizes.len()).max_by_key(|&code| sizes[code]));
        for place in (0..weights.len()).filter(|&place| sizes[labels.codes()[place] as usize] == 1) {
            let value = |problem| if Some(problem) == largest { 1.0 } else { -1.0 };
            let values = match targets.n_problems() {
                1 => vec![-targets.sign(place, 0)],
                n_problems => (0..n_problems).map(value).collect(),
            };
            scores.push(values, labels.codes()[place], weights[place], 1.0);
        }
        Ok(Some(scores))
    }

    /// The model of a search with an estimate that knows of the search, as [`SimilaritySearch::with_folds`]: R² in five
    /// folds in place of leave-one-out. Of other losses than the squared one, and where the time limit does not allow it,
    /// a note says that the estimate is optimistic.
    ///
    /// # Errors
    /// Those of a search and of a fit.
    pub(crate) fn confirmed<S: Similarity + Clone>(
        &self,
        (params, choice): (&BasisExpansionRegressorParams<S>, &SimilarityChoice),
        model: BasisExpansionRegressor<AnySimilarity>,
        samples: &dyn Source<Samples = AnySamples>,
        (targets, sample_weight): (&Targets, Option<&[f64]>),
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionRegressor<AnySimilarity>> {
        if !self.has_folds(choice, &params.expander.basis) || model.path().is_empty() {
            return Ok(model);
        }
        let found = match model.loss() {
            Loss::SquaredError => self.folds(params, model.c(), samples, (targets, sample_weight), monitor),
            _ => Err(Error::TooShort { stage: "folds", needs: 0.0 }),
        };
        match found {
            Ok((point, warning)) => Ok(model.with_estimate(point, warning)),
            Err(Error::TooShort { .. }) => Ok(model.with_notes([OPTIMISTIC.into()])),
            Err(error) => Err(error),
        }
    }

    fn folds<S: Similarity + Clone>(
        &self,
        params: &BasisExpansionRegressorParams<S>,
        c: f64,
        samples: &dyn Source<Samples = AnySamples>,
        (targets, sample_weight): (&Targets, Option<&[f64]>),
        monitor: &Monitor<'_>,
    ) -> Result<(RegressionPoint, Option<String>)> {
        let monitor = &monitor.with_strict_limit().without_progress();
        let effective = targets.weights(samples.n_samples(), sample_weight)?;
        let samples = &About::new(samples, &effective)?;
        let read = |rows: &[usize]| samples.fingerprints(rows);
        let (known, of) = ((targets, &self.class_weight), (sample_weight, &effective[..]));
        let merged = Merged::find(read, known, of, (0, self.threads), monitor)?;
        let Merged { distinct, known, weights, units, .. } = merged;
        if distinct.rows.len() < 3 || units.iter().zip(&weights).all(|(unit, weight)| unit < weight) {
            // A fold would leave a single sample, too few for a selection, or hold out all copies of draws.
            return Err(Error::TooShort { stage: "folds", needs: 0.0 });
        }
        let standard = StandardTargets::new(&known, (&weights, &units), true)?;
        let mut values = standard.values.clone();
        // In an order by content, so that equal samples are in one fold.
        for (out, others) in folds_of(&vec![0; distinct.rows.len()]) {
            let ((rows, own_weights), (rows_out, _)) = (rows_of(&distinct, &others), rows_of(&distinct, &out));
            let (picked, own) = (Picked { source: samples, rows: &rows }, targets.of_rows(&rows));
            let choice = self.choose(&picked, &own, Some(&own_weights), monitor)?;
            let fitted = params.clone().with_choice(&choice)?.fit_with(&picked, &own, Some(&own_weights), monitor)?;
            let found = fitted.predict_with(&Picked { source: samples, rows: &rows_out }, self.threads, monitor)?;
            for (at, &place) in out.iter().enumerate() {
                for (output, scale) in standard.scales.iter().enumerate() {
                    values.set(
                        place,
                        output,
                        (found.values[at * found.n_cols + output] - standard.means[output]) / scale,
                    );
                }
            }
        }
        let fitted = Fitted::new(&standard.values, weights.clone(), weights.clone());
        let estimate = fitted.leave_one_out(0.5 / c, &values, &vec![1.0; weights.len()]);
        let point = RegressionPoint { c, method: EstimateMethod::Folds, ..standard.point(&estimate) };
        let selection = RegressionSelection { lambda: estimate.lambda, path: vec![point.clone()] };
        Ok((point, selection.warning(&standard)))
    }
}
