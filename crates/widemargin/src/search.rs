//! The table of an automatic selection: candidates tried one after another, with the losses of samples that were left
//! out.
//!
//! Similarities, numbers of bases, kernels and methods are all selected by one. A candidate that fails is a row of the
//! table, and the next one is tried. Once a candidate has a loss, a time limit ends the selection with the best so far,
//! and one that does not end in time is abandoned; before that, there is nothing to return, and only a strict limit
//! ends it.

use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::monitor::{Monitor, Stopped};

/// A candidate that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried<P> {
    /// The candidate, with learned values.
    pub point: P,
    /// The leave-one-out loss (mean squared hinge, or 1 − R² for a regression), or the reason of a failure.
    pub loss: std::result::Result<f64, String>,
    /// The standard error of this loss, as a mean over samples.
    pub standard_error: Option<f64>,
    /// The leave-one-out error: the fraction of misclassified samples.
    pub error: Option<f64>,
    /// The number of samples.
    pub n_samples: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The losses of samples that were left out.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// The loss of all, as in [`Tried`].
    pub loss: std::result::Result<f64, String>,
    pub standard_error: Option<f64>,
    pub error: Option<f64>,
    /// The loss of each sample, where candidates are compared sample by sample.
    pub losses: Vec<f64>,
    /// The share of the problems of each sample whose answer is wrong.
    pub mistakes: Vec<f64>,
}

impl LeftOut {
    /// A loss without those of each sample.
    pub fn of(loss: std::result::Result<f64, String>, error: Option<f64>) -> Self {
        LeftOut { loss, standard_error: None, error, losses: Vec::new(), mistakes: Vec::new() }
    }
}

/// The candidates tried, in the order of their trials.
pub(crate) struct Table<'a, P> {
    stage: &'static str,
    pub monitor: Monitor<'a>,
    /// Of the candidates that follow.
    pub n_samples: usize,
    pub tried: Vec<Tried<P>>,
    /// Of each that was tried.
    pub left_out: Vec<LeftOut>,
    /// The error of a candidate: the first, or one that would need too much memory.
    problem: Option<Error>,
}

impl<'a, P> Table<'a, P> {
    pub fn new(stage: &'static str, n_samples: usize, monitor: Monitor<'a>) -> Self {
        Table { stage, monitor, n_samples, tried: Vec::new(), left_out: Vec::new(), problem: None }
    }

    /// Tries a candidate and returns its place; none once the time is up.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::TooShort`] before a candidate has a loss.
    pub fn attempt(
        &mut self,
        mut point: P,
        leave_out: impl FnOnce(&mut P, &Monitor<'a>) -> Result<LeftOut>,
    ) -> Result<Option<usize>> {
        let is_first = self.best().is_none();
        if !is_first && self.monitor.ask() == Err(Stopped::TimeLimit) {
            return Ok(None);
        }
        self.monitor.go_on(self.stage)?;
        let quiet = self.monitor.without_progress();
        let quiet = if is_first { quiet.without_time_limit() } else { quiet };
        let start = Instant::now();
        let found = match leave_out(&mut point, &quiet) {
            Err(Error::TooShort { .. }) if !is_first => return Ok(None),
            Err(error @ (Error::Cancelled { .. } | Error::TooShort { .. })) => return Err(error),
            Err(problem) => {
                let message = problem.to_string();
                if self.problem.is_none() || matches!(problem, Error::Memory { .. }) {
                    self.problem = Some(problem);
                }
                LeftOut::of(Err(message), None)
            }
            Ok(found) => found,
        };
        let LeftOut { loss, standard_error, error, .. } = found.clone();
        let (n_samples, seconds) = (self.n_samples, start.elapsed().as_secs_f64());
        self.tried.push(Tried { point, loss, standard_error, error, n_samples, seconds });
        self.left_out.push(found);
        Ok(Some(self.tried.len() - 1))
    }

    /// The loss of a candidate, infinite where it failed.
    pub fn loss(&self, at: usize) -> f64 {
        self.tried[at].loss.as_ref().copied().unwrap_or(f64::INFINITY)
    }

    /// The candidates that have a loss on the most samples, by ascending loss; of equal ones the first is first.
    pub fn ranked(&self) -> Vec<usize> {
        let solved = (0..self.tried.len()).filter(|&at| self.tried[at].loss.is_ok());
        let most = solved.clone().map(|at| self.tried[at].n_samples).max();
        let mut order: Vec<usize> = solved.filter(|&at| Some(self.tried[at].n_samples) == most).collect();
        order.sort_by(|&a, &b| self.loss(a).total_cmp(&self.loss(b)));
        order
    }

    /// The candidate with the least loss.
    pub fn best(&self) -> Option<usize> {
        self.ranked().first().copied()
    }

    /// The error of a parameter where no candidate has a loss: that of a candidate if it is one of memory or `is_common`
    /// to all, else the reasons of all.
    pub fn nothing(
        &mut self,
        (parameter, value): (&'static str, &str),
        expected: &str,
        is_common: bool,
        name: impl Fn(&P) -> String,
    ) -> Error {
        match self.problem.take() {
            Some(error) if is_common || matches!(error, Error::Memory { .. }) => error,
            _ => {
                let reason =
                    |tried: &Tried<P>| (name(&tried.point), tried.loss.as_ref().err().cloned().unwrap_or_default());
                let reasons = listed_reasons(self.tried.iter().map(reason));
                Error::parameter(parameter, value, format!("{expected}: {reasons}"))
            }
        }
    }
}

/// Names with their reasons, in a line; those that share a reason are named together.
pub(crate) fn listed_reasons(all: impl Iterator<Item = (String, String)>) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (name, reason) in all {
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    let groups: Vec<String> = groups.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect();
    groups.join("; ")
}

/// A weighted mean, and its standard error for this number of samples.
pub(crate) fn mean_and_error(values: &[f64], weights: &[f64], n: f64) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 { values.iter().zip(weights).map(|(x, weight)| weight * of(*x)).sum() };
    let mean = sum(&|x| x) / total;
    let variance = sum(&|x| (x - mean).powi(2)) / total;
    (!values.is_empty() && mean.is_finite()).then(|| (mean, (variance / n).sqrt()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of(loss: f64) -> Result<LeftOut> {
        Ok(LeftOut::of(Ok(loss), None))
    }

    #[test]
    fn failures_are_reported_and_the_first_of_equal_losses_is_best() {
        let mut table = Table::new("test", 10, Monitor::none());
        let refused = |_: &mut &str, _: &Monitor<'_>| Err(Error::parameter("gamma", 0, "a number above 0"));
        assert_eq!(table.attempt("a", refused).unwrap(), Some(0));
        assert_eq!(table.best(), None);
        for (point, loss) in [("b", 0.3), ("c", 0.2), ("d", 0.2)] {
            table.attempt(point, |_, _| of(loss)).unwrap();
        }
        assert_eq!((table.ranked(), table.loss(0)), (vec![2, 3, 1], f64::INFINITY));
        assert!(table.tried[0].loss.as_ref().unwrap_err().contains("above 0") && table.tried[2].n_samples == 10);
    }

    #[test]
    fn the_error_of_a_table_without_losses_has_all_reasons() {
        let mut table = Table::new("test", 10, Monitor::none());
        for point in ["a", "b"] {
            let refused = |point: &mut &str, _: &Monitor<'_>| Err(Error::parameter("gamma", *point, "a number"));
            table.attempt(point, refused).unwrap();
        }
        let error = table.nothing(("kernel", "auto"), "one of them", false, |point| point.to_string()).to_string();
        assert!(error.contains("one of them: a: gamma = a") && error.contains("; b: gamma = b"), "{error}");
        table.attempt("c", |_, _| Err(Error::parameter("gamma", "c", "a number"))).unwrap();
        let same = listed_reasons([("a", "x"), ("b", "y"), ("c", "x")].map(|(a, b)| (a.into(), b.into())).into_iter());
        assert_eq!(same, "a, c: x; b: y");
        let common = table.nothing(("kernel", "auto"), "one of them", true, |point| point.to_string()).to_string();
        assert!(common.starts_with("gamma = c"), "{common}");
    }

    #[test]
    fn a_time_limit_ends_the_selection_once_there_is_a_loss() {
        let monitor = Monitor::none().with_time_limit(Duration::ZERO);
        let mut table = Table::new("test", 10, monitor);
        let too_short = |_: &mut &str, _: &Monitor<'_>| Err(Error::TooShort { stage: "test", needs: 1.0 });
        assert!(matches!(table.attempt("a", too_short), Err(Error::TooShort { .. })));
        let first = |_: &mut &str, quiet: &Monitor<'_>| {
            assert!(quiet.ask().is_ok());
            of(1.0)
        };
        assert_eq!(table.attempt("a", first).unwrap(), Some(0));
        assert_eq!(table.attempt("b", |_, _| of(0.5)).unwrap(), None);
        table.monitor = Monitor::none();
        assert_eq!(table.attempt("b", too_short).unwrap(), None);
        assert_eq!((table.tried.len(), table.best()), (1, Some(0)));
    }
}
