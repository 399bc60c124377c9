//! The estimate of a regression whose similarity was selected on few samples: the least of several leave-one-out errors
//! of the same samples is optimistic, so that the similarity is selected again without each fifth of them.

use super::similarity_search::{SimilarityChoice, SimilaritySearch};
use crate::data::{About, AnySamples, Distinct, Picked, Source, Targets, WeightedCodes};
use crate::error::{Error, Result};
use crate::model::{
    BasisExpansionRegressor, BasisExpansionRegressorParams, RegressionPoint, RegressionSelection, StandardTargets,
};
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::EstimateMethod;
use crate::solve::ridge::Fitted;
use crate::tuning::{MIN_SAMPLES_OF_REGRESSION_ESTIMATE, MIN_SAMPLES_OF_WEIGHTED_ESTIMATE, N_FOLDS};

impl SimilaritySearch {
    /// The model of a search with an estimate that knows of the search: where its similarity was selected on few
    /// samples, or its columns weighted on not many more, R² in five folds of searches and fits, in place of leave-one-out. Of other losses than the squared one,
    /// and where the time limit does not allow it, a note says that the estimate is optimistic.
    ///
    /// # Errors
    /// Those of a search and of a fit.
    pub fn confirmed<S: Similarity + Clone>(
        &self,
        (params, choice): (&BasisExpansionRegressorParams<S>, &SimilarityChoice),
        model: BasisExpansionRegressor<AnySimilarity>,
        samples: &dyn Source<Samples = AnySamples>,
        (targets, sample_weight): (&Targets, Option<&[f64]>),
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionRegressor<AnySimilarity>> {
        let [_, .., last] = &choice.tried[..] else { return Ok(model) };
        let learns_columns = self.candidates.is_empty() && choice.best.has_column_weights();
        let enough = if learns_columns { MIN_SAMPLES_OF_WEIGHTED_ESTIMATE } else { MIN_SAMPLES_OF_REGRESSION_ESTIMATE };
        if last.n_samples >= enough || model.path().is_empty() {
            return Ok(model);
        }
        let found = match model.loss() {
            Loss::SquaredError => self.folds(params, model.c(), samples, (targets, sample_weight), monitor),
            _ => Err(Error::TooShort { stage: "folds", needs: 0.0 }),
        };
        match found {
            Ok((point, warning)) => Ok(model.with_estimate(point, warning)),
            Err(Error::TooShort { .. }) => {
                Ok(model.with_notes(["on so few samples the estimate of the best of several is optimistic".into()]))
            }
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
        let (codes, effective) = (targets.codes(), targets.weights(samples.n_samples(), sample_weight)?);
        let samples = &About::new(samples, &effective)?;
        let all = WeightedCodes { codes: &codes, weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), all, 0, self.threads, monitor)?;
        let (weights, units) = (&distinct.weights, distinct.removed_weights_of_targets(&codes));
        if distinct.rows.len() < 3 || units.iter().zip(weights).all(|(unit, weight)| unit < weight) {
            // A fold would leave a single sample, too few for a selection, or hold out all copies of draws.
            return Err(Error::TooShort { stage: "folds", needs: 0.0 });
        }
        let standard = StandardTargets::new(&targets.of_rows(&distinct.rows), (weights, &units), true)?;
        let mut values = standard.values.clone();
        for fold in 0..N_FOLDS as usize {
            // In an order by content, so that equal samples are in one fold.
            let (out, others): (Vec<usize>, Vec<usize>) =
                (0..distinct.rows.len()).partition(|place| place % N_FOLDS as usize == fold);
            let rows_of = |places: &[usize]| places.iter().map(|&place| distinct.rows[place]).collect::<Vec<usize>>();
            let (rows, rows_out) = (rows_of(&others), rows_of(&out));
            let own_weights: Vec<f64> = others.iter().map(|&place| weights[place]).collect();
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
        let fitted = Fitted { targets: standard.values.clone(), weights: weights.clone(), units: weights.clone() };
        let estimate = fitted.leave_one_out(0.5 / c, &values, &vec![1.0; weights.len()]);
        let point = RegressionPoint { c, method: EstimateMethod::Folds, ..standard.point(&estimate) };
        let selection = RegressionSelection { lambda: estimate.lambda, path: vec![point.clone()] };
        Ok((point, selection.warning(&standard)))
    }
}
