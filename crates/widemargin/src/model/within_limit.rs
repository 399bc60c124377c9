//! A fit within a time limit: on all samples if the limit allows it, otherwise on as many as it allows.
//!
//! Features, kernel matrices and closed-form solutions of some of the samples are of no use, so that a fit cannot just
//! be stopped. A first fit is on few samples; its time determines how many the remaining time allows, and so on until a
//! fit is on all samples or the time has passed. A fit that is not done by then is abandoned, and the one before it
//! returned. Without a time limit, or for few samples, there is only the fit on all.

use super::known::Known;
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::monitor::Monitor;
use crate::solve::{Report, Status};
use crate::tuning::{
    CUBIC_N_BASIS, FIRST_FIT_ENOUGH, FIRST_FIT_PER_CLASS, FIRST_FIT_SAMPLES, FULL_FIT_TIME_SHARE, MIN_FIT_GROWTH,
    PART_FIT_TIME_SHARE,
};

/// The size of a problem.
#[derive(Clone, Copy, Debug)]
struct Size {
    n_samples: usize,
    /// Of problems without classes 1.
    n_classes: usize,
    /// The number of bases if there are as many samples; none if all samples are bases.
    n_basis: Option<usize>,
}

impl Size {
    /// Samples of the first fit.
    fn first(&self) -> usize {
        FIRST_FIT_SAMPLES.max(FIRST_FIT_PER_CLASS.saturating_mul(self.n_classes))
    }

    /// The work of a fit on `n` samples, in a unit of its own.
    fn work(&self, n: usize) -> f64 {
        let bases = self.n_basis.map_or(n, |n_basis| n_basis.min(n)) as f64;
        n as f64 * bases * (1.0 + bases / CUBIC_N_BASIS)
    }

    /// The most samples whose fit is estimated to take at most `seconds`, where one on `n` takes `each`.
    fn affordable(&self, seconds: f64, (n, each): (usize, f64)) -> usize {
        let most = self.work(n) * seconds / each.max(1e-6);
        let (mut low, mut high) = (0, self.n_samples);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.work(middle) <= most { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// The samples of the next fit after one on `n` that took `seconds`, with `left` seconds left; none if a larger one
    /// takes longer.
    fn next(&self, left: f64, (n, seconds): (usize, f64)) -> Option<usize> {
        if self.affordable(FULL_FIT_TIME_SHARE * left, (n, seconds)) == self.n_samples {
            return Some(self.n_samples);
        }
        // Where the rest of the time does not allow another fit after the next one, the next one may take most of it.
        let sizes = [PART_FIT_TIME_SHARE, FULL_FIT_TIME_SHARE].map(|part| self.affordable(part * left, (n, seconds)));
        sizes.into_iter().find(|next| *next as f64 >= MIN_FIT_GROWTH * n as f64)
    }
}

/// Samples with what is known of them, and the weights of the caller.
pub(crate) struct TrainingSet<'a, R: ?Sized, K> {
    pub samples: &'a R,
    pub known: &'a K,
    pub sample_weight: Option<&'a [f64]>,
}

/// Some of the training samples.
pub(crate) struct Part<'a, K> {
    pub rows: &'a [usize],
    pub known: K,
    pub sample_weight: Option<Vec<f64>>,
}

/// The fit to samples, or to some of them, within the time limit of the monitor; `weights` are the effective ones.
///
/// # Errors
/// As for [`fit_by_clock`].
pub(crate) fn fit_samples<K: Known, M>(
    known: &K,
    (weights, sample_weight): (&[f64], Option<&[f64]>),
    (n_basis, seed): (Option<usize>, u64),
    monitor: &Monitor<'_>,
    fit: impl Fn(Option<Part<'_, K>>, &Monitor<'_>) -> Result<M>,
    report: fn(&mut M) -> &mut Report,
) -> Result<M> {
    let size = Size { n_samples: weights.len(), n_classes: known.n_classes(), n_basis };
    let fit = |rows: Option<&[usize]>, monitor: &Monitor<'_>| {
        let part = rows.map(|rows| {
            let sample_weight = sample_weight.map(|all| rows.iter().map(|&row| all[row]).collect());
            Part { rows, known: known.of_rows(rows), sample_weight }
        });
        fit(part, monitor)
    };
    let begun = Instant::now();
    fit_by_clock(size, monitor, || begun.elapsed().as_secs_f64(), |n| known.pick(weights, n, seed), fit, report)
}

/// The fit within the time limit of the monitor, by a clock in seconds. `fit` is called with the rows of some samples, or
/// with none for all samples; `pick` returns the rows of a number of samples; `report` is the report of a fit.
///
/// # Errors
/// Those of `fit`; [`Error::TooShort`] if the first fit did not end in time.
fn fit_by_clock<M>(
    size: Size,
    monitor: &Monitor<'_>,
    clock: impl Fn() -> f64,
    pick: impl Fn(usize) -> Vec<usize>,
    fit: impl Fn(Option<&[usize]>, &Monitor<'_>) -> Result<M>,
    report: fn(&mut M) -> &mut Report,
) -> Result<M> {
    let fit = |rows: Option<&[usize]>, monitor: &Monitor<'_>| {
        let mut found = fit(rows, monitor)?;
        let report = report(&mut found);
        if report.is_far_from_solved() {
            // The estimate is the error of the solution.
            report.estimate = None;
        }
        Ok(found)
    };
    let monitor = &monitor.with_strict_limit();
    if !monitor.has_time_limit() || size.n_samples <= FIRST_FIT_ENOUGH * size.first() {
        return fit(None, monitor);
    }
    let mut last = (size.first(), 0.0);
    let mut start = clock();
    let end = start + monitor.seconds_left().unwrap_or(f64::INFINITY);
    let rows = pick(last.0);
    let mut best = fit(Some(&rows), &monitor.without_progress()).map_err(|error| of_picked(error, &rows))?;
    // A model without any solved problem is as good as none.
    if report(&mut best).has_unbegun() && report(&mut best).iterations.iter().all(|steps| *steps == 0) {
        return Err(Error::TooShort { stage: "fit", needs: clock() - start });
    }
    let mut n_fitted = rows.len();
    loop {
        let now = clock();
        last.1 = now - start;
        let Some(next) = size.next((end - now).max(0.0), last) else { break };
        start = now;
        let is_all = next == size.n_samples;
        let rows = if is_all { Vec::new() } else { pick(next) };
        let found = match is_all {
            true => fit(None, monitor),
            false => fit(Some(&rows), &monitor.without_progress()).map_err(|error| of_picked(error, &rows)),
        };
        let mut found = match found {
            Err(Error::TooShort { .. }) => break,
            found => found?,
        };
        let is_worse = report(&mut found).has_unbegun() || report(&mut found).is_far_from_solved();
        if is_worse && !report(&mut best).is_far_from_solved() {
            break;
        }
        if is_all {
            return Ok(found);
        }
        (best, n_fitted, last) = (found, rows.len(), (next, 0.0));
    }
    let report = report(&mut best);
    report.status = Status::TimeLimit;
    report.is_of_part = true;
    let n = size.n_samples;
    report.warnings.push(format!(
        "the time limit passed: the model was trained on {n_fitted} of {n} samples (a longer time limit allows more)"
    ));
    Ok(best)
}

/// Translates the row of an error about picked samples to a row of all samples.
fn of_picked(error: Error, rows: &[usize]) -> Error {
    match error {
        Error::Value { row, column, value, problem } if row < rows.len() => {
            Error::Value { row: rows[row], column, value, problem }
        }
        error => error.of_rows(rows),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use super::*;
    use crate::solve::ProblemReport;

    fn solved() -> Report {
        report_of(Status::Converged, 0.0)
    }

    fn stopped(gap: f64) -> Report {
        report_of(Status::TimeLimit, gap)
    }

    fn report_of(status: Status, gap: f64) -> Report {
        Report::of(&[ProblemReport { status, iterations: 3, primal: 1.0, dual: 1.0 - gap, n_support: 1 }], Vec::new())
    }

    /// The numbers of samples that are fitted within an hour, and the report, where a fit of `n` samples yields `of`.
    fn fitted(size: Size, of: impl Fn(usize) -> Result<Report>) -> (Vec<usize>, Result<Report>) {
        let sizes = RefCell::new(Vec::new());
        let fit = |rows: Option<&[usize]>, _: &Monitor<'_>| {
            let n = rows.map_or(size.n_samples, <[usize]>::len);
            sizes.borrow_mut().push(n);
            of(n)
        };
        let monitor = Monitor::none().with_time_limit(Duration::from_secs(3600));
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let found = fit_by_clock(size, &monitor, clock, |n| (0..n).collect(), fit, |report| report);
        (sizes.into_inner(), found)
    }

    const LARGE: Size = Size { n_samples: 100_000, n_classes: 3, n_basis: Some(1000) };

    #[test]
    fn fits_all_samples_within_a_sufficient_limit() {
        let (sizes, found) = fitted(LARGE, |_| Ok(solved()));
        assert_eq!((sizes, found.unwrap()), (vec![100, 100_000], solved()));
        let few = Size { n_samples: 400, ..LARGE };
        assert_eq!(fitted(few, |_| Ok(solved())).0, [400]);
        let without_limit = fit_by_clock(
            LARGE,
            &Monitor::none(),
            || 0.0,
            |n| (0..n).collect(),
            |rows, _| {
                assert!(rows.is_none());
                Ok(solved())
            },
            |report| report,
        );
        assert_eq!(without_limit.unwrap(), solved());
    }

    #[test]
    fn a_fit_that_does_not_end_leaves_the_one_before() {
        let too_short = || Error::TooShort { stage: "similarity", needs: 1.0 };
        for of_all in [|| Err(Error::TooShort { stage: "similarity", needs: 1.0 }), || Ok(stopped(0.9))] {
            let (sizes, found) = fitted(LARGE, |n| if n < 100_000 { Ok(solved()) } else { of_all() });
            let found = found.unwrap();
            assert_eq!((sizes, found.status), (vec![100, 100_000], Status::TimeLimit));
            let message = "the time limit passed: the model was trained on 100 of 100000 samples";
            assert!(found.warnings[0].starts_with(message), "{found:?}");
        }
        // A solution that is nearly complete is one of all samples.
        let (_, found) = fitted(LARGE, |n| Ok(if n < 100_000 { solved() } else { stopped(0.01) }));
        assert_eq!(found.unwrap(), stopped(0.01));
        assert!(matches!(fitted(LARGE, |_| Err(too_short())).1, Err(Error::TooShort { .. })));
    }

    /// The samples used under a limit of 5 seconds by a fit that takes `seconds(n)` on n samples;
    /// and the time that passes.
    fn fitted_in_five_seconds(size: Size, seconds: impl Fn(usize) -> f64) -> (usize, f64) {
        let (now, fitted) = (Cell::new(0.0), Cell::new(0));
        let fit = |rows: Option<&[usize]>, _: &Monitor<'_>| {
            let n = rows.map_or(size.n_samples, <[usize]>::len);
            let end = now.get() + seconds(n);
            now.set(end.min(5.0));
            if end > 5.0 {
                return Err(Error::TooShort { stage: "similarity", needs: end });
            }
            fitted.set(n);
            Ok(solved())
        };
        let monitor = Monitor::none().with_time_limit(Duration::from_secs(5));
        let found = fit_by_clock(size, &monitor, || now.get(), |n| (0..n).collect(), fit, |report| report).unwrap();
        let n_samples = fitted.get();
        let warning =
            format!("the time limit passed: the model was trained on {n_samples} of {} samples", size.n_samples);
        assert_eq!((found.status, found.is_of_part), (Status::TimeLimit, true));
        assert!(found.warnings[0].starts_with(&warning), "{found:?}");
        (n_samples, now.get())
    }

    #[test]
    fn the_number_of_samples_is_in_proportion_to_the_time() {
        let share = |n: usize, size: Size| n as f64 / size.n_samples as f64;
        let exact = Size { n_samples: 20_000, n_basis: None, ..LARGE };
        // All samples take 31 seconds.
        let by_samples = |n: usize| 31.0 * share(n, LARGE);
        let with_overhead = |n: usize| 0.2 + 30.8 * share(n, LARGE);
        let ever_slower = |n: usize| 31.0 * share(n, LARGE).powf(1.3);
        let cubic = |n: usize| 0.05 + 31.0 * share(n, exact).powi(3);
        let times: [(Size, &dyn Fn(usize) -> f64); 4] =
            [(LARGE, &by_samples), (LARGE, &with_overhead), (LARGE, &ever_slower), (exact, &cubic)];
        for (size, seconds) in times {
            let most = (1..=size.n_samples).rfind(|&n| seconds(n) <= 5.0).unwrap();
            let (n, time) = fitted_in_five_seconds(size, seconds);
            assert!(4 * n >= most && time <= 5.0, "{n} of {most} samples that 5 seconds allow, in {time} seconds");
        }
    }

    #[test]
    fn samples_follow_from_the_time_that_few_take() {
        // 1,000 bases from 1,000 samples on: the work is proportional to the samples.
        assert_eq!(LARGE.next(1000.0, (1000, 1.0)), Some(100_000));
        assert_eq!(LARGE.next(100.0, (1000, 1.0)), Some(40_000));
        // The last fit may take most of the time.
        assert_eq!(LARGE.next(3.0, (1000, 1.0)), Some(2400));
        assert_eq!(LARGE.next(1.5, (1000, 1.0)), None);
        // All samples are bases: eight times the work for twice the samples, or less.
        let exact = Size { n_basis: None, ..LARGE };
        let next = exact.next(20.0, (1000, 1.0)).unwrap();
        assert!((2000..2400).contains(&next), "{next}");
        assert_eq!(exact.next(f64::INFINITY, (100, 0.0)), Some(100_000));
        assert_eq!(Size { n_classes: 300, ..LARGE }.first(), 3000);
    }

    #[test]
    fn rows_of_errors_are_those_of_all_samples() {
        let of = |row| Error::Value { row, column: 2, value: -1.0, problem: "negative" };
        assert!(matches!(of_picked(of(1), &[4, 9]), Error::Value { row: 9, column: 2, .. }));
    }
}
