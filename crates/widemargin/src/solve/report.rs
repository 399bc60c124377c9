//! The report of a fit.

use serde::{Deserialize, Serialize};

use super::estimate::ErrorEstimate;
use crate::error::{Error, Result};
use crate::tuning::MAX_GAP_OF_NEAR_SOLUTION;

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// The stopping rule was met.
    Converged,
    /// The iteration limit was reached; the report states the gap.
    IterationLimit,
    /// Double precision is insufficient for the range of the numbers; the report states the gap.
    PrecisionLimit,
    /// The time limit was reached; the report states the gap.
    TimeLimit,
}

impl Status {
    /// The status as written in files and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::IterationLimit => "iteration-limit",
            Status::PrecisionLimit => "precision-limit",
            Status::TimeLimit => "time-limit",
        }
    }
}

/// One stage of a fit and its duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The name of the stage.
    pub name: String,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The report of a fit: every fit returns one, and the model file stores it, except for
/// the times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The worst status of the two-class problems.
    pub status: Status,
    /// Iterations (epochs, Newton steps) of each two-class problem.
    pub iterations: Vec<u32>,
    /// Objective ½‖f‖² + C Σ loss, summed over the two-class problems.
    pub objective: f64,
    /// Dual objective, summed likewise; at most the objective, up to rounding.
    pub dual_objective: f64,
    /// Relative duality gap (objective − dual) / objective of each two-class problem.
    pub gaps: Vec<f64>,
    /// Number of samples with a dual variable above 0 in each two-class problem.
    pub n_support: Vec<u32>,
    /// The stages in order; empty for a loaded model, so that its file depends on the data only.
    #[serde(default, skip_serializing)]
    pub stages: Vec<Stage>,
    /// Notes on how the work was done, such as the number of samples that stayed in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Warnings; may be empty.
    pub warnings: Vec<String>,
    /// The estimated error of the model on new samples; `None` if it could not be estimated, with a note on the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<ErrorEstimate>,
    /// Whether the fit was stopped before it had used all samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_part: bool,
    /// The library version of the fit, such as `widemargin 0.2.0`; empty for models from before 0.2.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub library: String,
}

/// How the solution of one two-class problem, or of one output, ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProblemReport {
    /// How it ended.
    pub status: Status,
    /// Iterations: epochs of coordinate descent, or Newton steps.
    pub iterations: u32,
    /// The objective.
    pub primal: f64,
    /// A lower bound on its minimum: the best dual objective found.
    pub dual: f64,
    /// Rows with a dual variable that is not 0.
    pub n_support: u32,
}

impl ProblemReport {
    /// The relative duality gap, an upper bound on (objective − minimum) / objective.
    pub fn gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }
}

/// (primal − dual) / primal; 0 if both are zero.
pub(super) fn relative_gap(primal: f64, dual: f64) -> f64 {
    // Not with `max`, which ignores NaN.
    let gap = if primal <= 0.0 { 0.0 } else { (primal - dual) / primal };
    if gap < 0.0 { 0.0 } else { gap }
}

/// Reports of equal fits are equal: their times are not compared, which no model file holds.
impl PartialEq for Report {
    fn eq(&self, other: &Report) -> bool {
        let Report { status, iterations, objective, dual_objective, gaps, n_support, stages: _, .. } = self;
        let Report { notes, warnings, estimate, is_of_part, library, .. } = self;
        let numbers = (status, iterations, objective, dual_objective, gaps, n_support);
        let of_other = (&other.status, &other.iterations, &other.objective, &other.dual_objective);
        numbers == (of_other.0, of_other.1, of_other.2, of_other.3, &other.gaps, &other.n_support)
            && (notes, warnings, estimate, is_of_part, library)
                == (&other.notes, &other.warnings, &other.estimate, &other.is_of_part, &other.library)
    }
}

impl Report {
    /// The report of a fit of these problems.
    pub(crate) fn of(problems: &[ProblemReport], stages: Vec<Stage>) -> Report {
        let late = |problem: &&ProblemReport| problem.status == Status::TimeLimit && problem.iterations == 0;
        let (n, not_begun) = (problems.len(), problems.iter().filter(late).count());
        let warning = || {
            format!("the time limit passed before {not_begun} of {n} classes were begun: they are where they started")
        };
        // A problem that was not begun must not be hidden by one that only ran out of iterations.
        let worst = |a, b| if a == Status::Converged || b == Status::TimeLimit { b } else { a };
        Report {
            status: problems.iter().map(|problem| problem.status).fold(Status::Converged, worst),
            iterations: problems.iter().map(|problem| problem.iterations).collect(),
            objective: problems.iter().map(|problem| problem.primal).sum(),
            dual_objective: problems.iter().map(|problem| problem.dual).sum(),
            gaps: problems.iter().map(ProblemReport::gap).collect(),
            n_support: problems.iter().map(|problem| problem.n_support).collect(),
            stages,
            notes: Vec::new(),
            warnings: (not_begun > 0).then(warning).into_iter().collect(),
            estimate: None,
            is_of_part: false,
            library: concat!("widemargin ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// The same, with a warning if a problem did not converge: `iterations` names them and the remedy, `requested` is the
    /// requested gap.
    pub(crate) fn of_solver(
        problems: &[ProblemReport],
        stages: Vec<Stage>,
        iterations: &str,
        requested: Option<f64>,
    ) -> Report {
        let mut report = Report::of(problems, stages);
        report.warn_unless_converged(&format!("after {} {iterations}", report.max_iterations()), requested);
        report
    }

    /// Warns if the solver did not converge: `at_limit` names the reached limit of iterations, `requested` is the
    /// requested gap.
    pub(crate) fn warn_unless_converged(&mut self, at_limit: &str, requested: Option<f64>) {
        let what = match self.status {
            Status::Converged => return,
            Status::IterationLimit => at_limit,
            Status::PrecisionLimit => {
                "within double precision (C or the weights or their differences are too large for these samples)"
            }
            Status::TimeLimit => "when the time limit passed",
        };
        let requested = requested.map(|gap| format!(", {gap:.2e} was requested")).unwrap_or_default();
        let gap = self.gap();
        let unknown = if self.is_far_from_solved() { "; the error of this model is not estimated" } else { "" };
        self.warnings
            .push(format!("not converged {what}: the largest relative duality gap is {gap:.2e}{requested}{unknown}"));
    }

    /// Whether the time limit passed before some two-class problems were begun. A fit of some samples has its status from
    /// the limit, and no iterations where it began at the solution.
    pub(crate) fn has_unbegun(&self) -> bool {
        self.status == Status::TimeLimit && !self.is_of_part && self.iterations.contains(&0)
    }

    /// Whether the time limit stopped the solver far from the solution, to which any estimated error would refer.
    #[doc(hidden)]
    pub fn is_far_from_solved(&self) -> bool {
        let is_near = self.gap() <= MAX_GAP_OF_NEAR_SOLUTION;
        self.status == Status::TimeLimit && !is_near
    }

    /// Whether the fit was stopped before it used all samples, or before it began all two-class problems: the model is
    /// worse than that of a longer fit, possibly no better than chance.
    pub fn is_partial(&self) -> bool {
        self.is_of_part || self.has_unbegun()
    }

    /// The largest relative gap of the two-class problems; NaN if any is unknown.
    pub fn gap(&self) -> f64 {
        // `f64::max` ignores NaN.
        self.gaps
            .iter()
            .copied()
            .fold(0.0, |most: f64, gap| if most.is_nan() || gap.is_nan() { f64::NAN } else { most.max(gap) })
    }

    /// Checks that the numbers are finite, as they are unless the fit overflowed.
    ///
    /// # Errors
    /// [`Error::NotFinite`] naming the first non-finite number.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let whole = [("the objective", self.objective), ("the dual objective", self.dual_objective)];
        let gaps = self.gaps.iter().map(|&gap| ("a duality gap", gap));
        match whole.into_iter().chain(gaps).find(|(_, value)| !value.is_finite()) {
            Some((what, value)) => Err(Error::NotFinite { what: what.into(), value }),
            None => Ok(()),
        }
    }

    /// The largest number of iterations of the two-class problems.
    pub fn max_iterations(&self) -> u32 {
        self.iterations.iter().copied().max().unwrap_or(0)
    }

    /// Total seconds of all stages.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}
