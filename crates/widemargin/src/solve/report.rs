//! What a fit tells about itself.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// The stop rule was met.
    Converged,
    /// The iterations ran out first; the report says what gap was reached.
    IterationLimit,
    /// The numbers are too far apart for double precision; the report says what gap was reached.
    PrecisionLimit,
    /// The time limit came first; the report says what gap was reached.
    TimeLimit,
}

impl Status {
    /// The status as it is written in files and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::IterationLimit => "iteration-limit",
            Status::PrecisionLimit => "precision-limit",
            Status::TimeLimit => "time-limit",
        }
    }
}

/// One stage of a fit and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What was done.
    pub name: String,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The account of a fit: every fit returns one, and the model file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended: the worst status among the two-class problems.
    pub status: Status,
    /// Iterations (epochs, Newton steps) a two-class problem.
    pub iterations: Vec<u32>,
    /// Objective ½‖f‖² + C Σ loss, summed over the two-class problems.
    pub objective: f64,
    /// Dual objective, summed likewise; never above the objective but for rounding.
    pub dual_objective: f64,
    /// Relative duality gap (objective − dual) / objective of each two-class problem.
    pub gaps: Vec<f64>,
    /// Samples with a dual variable above 0, a two-class problem.
    pub n_support: Vec<u32>,
    /// Stages in their order.
    pub stages: Vec<Stage>,
    /// How the work was done, where there was a choice: whether features were kept or made anew, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the user should know; empty when there is nothing.
    pub warnings: Vec<String>,
    /// The library that made the fit, such as `widemargin 0.2.0`; empty for a model of before 0.2.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub library: String,
}

/// This library, as a report names it.
fn library() -> String {
    concat!("widemargin ", env!("CARGO_PKG_VERSION")).to_owned()
}

impl Report {
    /// The account of a fit, of one element a two-class problem.
    pub(crate) fn of(
        status: &[Status],
        iterations: Vec<u32>,
        (primal, dual): (&[f64], &[f64]),
        gaps: Vec<f64>,
        n_support: Vec<u32>,
        stages: Vec<Stage>,
    ) -> Report {
        let late = |(status, steps): &(&Status, &u32)| **status == Status::TimeLimit && **steps == 0;
        let (n, not_begun) = (status.len(), status.iter().zip(&iterations).filter(late).count());
        let warning = || {
            format!("the time limit passed before {not_begun} of {n} classes were begun: they are where they started")
        };
        let worst = |a: Status, b: Status| if a == Status::Converged { b } else { a };
        Report {
            status: status.iter().copied().fold(Status::Converged, worst),
            iterations,
            objective: primal.iter().sum(),
            dual_objective: dual.iter().sum(),
            gaps,
            n_support,
            stages,
            notes: Vec::new(),
            warnings: (not_begun > 0).then(warning).into_iter().collect(),
            library: library(),
        }
    }

    /// Warns where the solver did not converge: `at_limit` says what ended at the limit of iterations, `asked` is the
    /// gap that was asked for.
    pub(crate) fn warn_unless_converged(&mut self, at_limit: &str, asked: Option<f64>) {
        let what = match self.status {
            Status::Converged => return,
            Status::IterationLimit => at_limit,
            Status::PrecisionLimit => {
                "within double precision (C or the weights are too large, or too far apart, for these samples)"
            }
            Status::TimeLimit => "when the time limit passed",
        };
        let asked = asked.map(|gap| format!(", {gap:.2e} was asked for")).unwrap_or_default();
        let gap = self.gap();
        self.warnings.push(format!("not converged {what}: the largest relative duality gap is {gap:.2e}{asked}"));
    }

    /// The largest relative gap among the two-class problems; NaN where one is not known.
    pub fn gap(&self) -> f64 {
        // `f64::max` passes over NaN.
        self.gaps
            .iter()
            .copied()
            .fold(0.0, |most: f64, gap| if most.is_nan() || gap.is_nan() { f64::NAN } else { most.max(gap) })
    }

    /// Whether its numbers are numbers, as they are unless the fit overflowed.
    ///
    /// # Errors
    /// [`Error::NotFinite`] naming the first that is not.
    pub fn check_finite(&self) -> Result<()> {
        let whole = [("the objective", self.objective), ("the dual objective", self.dual_objective)];
        let gaps = self.gaps.iter().map(|&gap| ("a duality gap", gap));
        match whole.into_iter().chain(gaps).find(|(_, value)| !value.is_finite()) {
            Some((what, value)) => Err(Error::NotFinite { what: what.into(), value }),
            None => Ok(()),
        }
    }

    /// The most iterations any two-class problem took.
    pub fn max_iterations(&self) -> u32 {
        self.iterations.iter().copied().max().unwrap_or(0)
    }

    /// Seconds of all stages together.
    pub fn seconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.seconds).sum()
    }
}
