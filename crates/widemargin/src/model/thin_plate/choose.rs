//! The kernel, and whether to standardize the columns: the least leave-one-out loss of exact fits on at most a thousand
//! of the samples (fewer where memory is limited). λ and the losses have no scale, so that kernels of any homogeneity
//! may be compared.

use std::borrow::Cow;

use super::kernel_blocks::{pick_rows, scale_rows};
use super::params::{SplineParams, Standardize};
use super::remarks::scaling_warning;
use super::task::{KernelPoint, Problem, Solution, SplineFit};
use crate::error::{Error, Result};
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::par::Pool;
use crate::search::{Table, Tried};
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::tuning::{SELECTION_SAMPLES, SELECTION_TIME_SHARE, TRANSFERABLE_LAMBDAS};

/// The selected values.
pub(super) struct Choice<T: SplineFit> {
    pub kernel: ConditionalKernel,
    /// The factors of the columns, if they are to be standardized.
    pub factors: Option<Vec<f64>>,
    /// λ of the exact fit on the compared samples, if these are all, and its solution, if that is reused.
    pub solved: Option<(f64, Option<Solution<T>>)>,
    pub tried: Vec<Tried<KernelPoint>>,
    pub warnings: Vec<String>,
    /// A note on the candidates.
    pub note: Option<String>,
}

impl<T: SplineFit> Problem<'_, T> {
    /// The samples that are compared, ascending, and the number of threads. Where memory is limited, fewer threads are
    /// used, then fewer samples, whose number does not depend on the threads.
    fn compared(&self) -> (Vec<usize>, usize) {
        let Problem { params, known, weights, .. } = *self;
        let bytes = |n, threads| T::EXACT_BYTES(n, 1, T::n_problems(known), threads);
        let fits = |n, threads| bytes(n, threads) <= params.memory_limit.unwrap_or(u64::MAX);
        let numbers = [1, 2, 4].map(|part| SELECTION_SAMPLES / part);
        let n = numbers.into_iter().find(|&n| fits(n, 1)).unwrap_or(SELECTION_SAMPLES);
        let threads = (1..=Pool::count(params.threads)).rev().find(|&threads| fits(n, threads)).unwrap_or(1);
        (known.pick(weights, n.min(weights.len()), params.seed), threads)
    }

    /// Selects the kernel and the scaling, if both are automatic, for row-major samples; `space` has the spreads of their
    /// columns.
    ///
    /// # Errors
    /// That of the candidates if none could be fitted; [`Error::Cancelled`]; [`Error::TooShort`] if the time limit
    /// passed.
    pub(super) fn choose(&self, rows: &[f64], space: &PolynomialSpace, clock: &mut Clock<'_>) -> Result<Choice<T>> {
        let Problem { params, known, weights, units, n_features, .. } = *self;
        let (uneven, factors) = (space.unevenness(), &space.factors);
        let is_open = params.compares_scalings(uneven);
        let scalings = if is_open { vec![false, true] } else { vec![params.standardize == Standardize::Yes] };
        let factors_if = |standardized: bool| standardized.then(|| factors.clone());
        let of_kernel = |&kernel| scalings.iter().map(move |&standardized| (kernel, standardized));
        let candidates: Vec<(ConditionalKernel, bool)> = params.open_kernels().iter().flat_map(of_kernel).collect();
        let (kernel, standardized) = candidates[0];
        let (factors, warnings) = (factors_if(standardized), space.warnings());
        let mut choice = Choice { kernel, factors, solved: None, tried: Vec::new(), warnings, note: None };
        if candidates.len() == 1 {
            choice.warnings.extend(scaling_warning(uneven, standardized, false));
            return Ok(choice);
        }
        let (some, threads) = self.compared();
        let (monitor, is_part, rows) = (clock.monitor, some.len() < weights.len(), pick_rows(rows, &some, n_features));
        let part = |all: &[f64]| -> Vec<f64> { some.iter().map(|&row| all[row]).collect() };
        let (known, weights, units, pool) = (&known.of_rows(&some), &part(weights), &part(units), &Pool::new(threads)?);
        let limited =
            if is_part { monitor.with_part_of_time(SELECTION_TIME_SHARE).with_strict_limit() } else { *monitor };
        let (mut table, mut last) = (Table::new("choice", some.len(), limited), None);
        for (kernel, standardized) in candidates {
            // λ of another kernel says little: without errors in training it may be any small one.
            let is_same = |(of, lambda): &(_, f64)| *of == kernel && TRANSFERABLE_LAMBDAS.contains(lambda);
            let near = last.filter(is_same).map(|(_, lambda)| lambda);
            let params = &SplineParams { task: params.task.comparing(near), ..params.clone().kernel(kernel) };
            let fit = Problem { params, known, weights, units, pool, ..*self };
            let (mut solved, point) = (None, KernelPoint { kernel, standardized, r2: None });
            let found = table.attempt(point, |point, quiet| {
                let mut scaled = Cow::Borrowed(&rows[..]);
                if standardized {
                    scale_rows(scaled.to_mut(), Some(&space.factors));
                }
                let solution = fit.exact(&scaled, &mut Clock::start(quiet))?;
                let (left_out, lambda) = T::compared(&solution.found, point);
                last = Some((kernel, lambda));
                solved = Some((lambda, T::IS_REUSED.then_some(solution)));
                Ok(left_out)
            });
            match found {
                Err(Error::TooShort { .. }) if is_part && monitor.ask().is_ok() => {
                    let kernel = choice.kernel;
                    choice.note =
                        Some(format!("kernel {kernel} without a comparison: the time limit is too short for it"));
                    return Ok(choice);
                }
                found => match found? {
                    Some(at) if table.best() == Some(at) => {
                        (choice.kernel, choice.factors) = (kernel, factors_if(standardized));
                        choice.solved = solved.filter(|_| !is_part);
                    }
                    Some(_) => {}
                    None => break,
                },
            }
        }
        if table.best().is_none() {
            // Errors of one candidate, such as too little memory, occur with the others too.
            let is_common = table.tried.windows(2).all(|pair| pair[0].loss == pair[1].loss);
            let name = |point: &KernelPoint| point.kernel.to_string();
            let requested = match params.open_kernels() {
                [kernel] => kernel.to_string(),
                _ => "auto".into(),
            };
            return Err(table.nothing(("kernel", &requested), "a kernel that can be fitted", is_common, name));
        }
        let one = |tried: &Tried<KernelPoint>| {
            let KernelPoint { kernel, standardized, r2 } = tried.point;
            let scaling = if standardized { " standardized" } else { "" };
            match &tried.loss {
                Ok(loss) => format!("{kernel}{scaling} {:.4}", r2.unwrap_or(*loss)),
                Err(problem) => format!("{kernel}{scaling} failed: {problem}"),
            }
        };
        let is_regression = table.tried.iter().any(|tried| tried.point.r2.is_some());
        let measure =
            if is_regression { "R² of leave-one-out predictions" } else { "mean leave-one-out squared hinge" };
        let losses: Vec<String> = table.tried.iter().map(one).collect();
        choice.note = Some(format!("{measure} on {} samples: {}", some.len(), losses.join(", ")));
        choice.warnings.extend(scaling_warning(uneven, choice.factors.is_some(), is_open));
        choice.tried = table.tried;
        clock.end("choice")?;
        Ok(choice)
    }
}
