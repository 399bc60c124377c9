//! Probabilities and estimated error of a fit, from held-out scores.

use crate::data::Labels;
use crate::problem::{HeldOutScores, OneVsRest};
use crate::solve::{CalibratedOn, Calibration, ErrorEstimate, EstimateMethod, Report};

/// The calibration of a model on held-out scores, whose error is the estimate of the report, with a warning if it is no
/// better than chance. `weights` are those of all training samples, without class weights.
pub fn assess(
    report: &mut Report,
    scores: &HeldOutScores,
    labels: &Labels,
    weights: &[f64],
    method: EstimateMethod,
) -> Calibration {
    let (targets, population) = (OneVsRest::of(labels), labels.population(weights));
    let estimate = ErrorEstimate::of(scores, targets, &population, method);
    report_estimate(report, estimate, labels, weights, reason_for_none(scores));
    let on = match method {
        EstimateMethod::HeldOut => CalibratedOn::HeldOut,
        _ => CalibratedOn::LeaveOneOut,
    };
    Calibration::of(scores, targets, on)
}

fn reason_for_none(scores: &HeldOutScores) -> &'static str {
    if scores.codes.is_empty() {
        return "no refit without some samples was made: there are too few samples, or too little time";
    }
    "the samples that refits did not see are of too few classes"
}

/// Stores an estimate, with a warning unless it beats a constant by the weights of the fit, or the reason why there is
/// none.
pub(crate) fn report_estimate(
    report: &mut Report,
    estimate: Option<(ErrorEstimate, bool)>,
    labels: &Labels,
    weights: &[f64],
    reason: &str,
) {
    match &estimate {
        None => report.notes.push(format!("the error is not estimated: {reason}")),
        Some((estimate, _)) if labels.is_multilabel() => {
            let constant = OneVsRest::of(labels).constant_errors(weights);
            report.warnings.extend(estimate.constant_warning(labels.classes(), &constant));
        }
        Some((estimate, beats_constant)) => {
            report.warnings.extend(estimate.chance_warning(&labels.population(weights), *beats_constant));
        }
    }
    report.estimate = estimate.map(|(estimate, _)| estimate);
}
