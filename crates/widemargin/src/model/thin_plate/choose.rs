//! The kernel, and whether to standardize the columns: the least leave-one-out loss of exact fits on at most a thousand
//! of the samples (fewer where memory is limited). λ and the losses have no scale, so that kernels of any homogeneity
//! may be compared.

use super::params::{SplineParams, Standardize};
use super::remarks::scaling_warning;
use crate::error::{Error, Result};
use crate::model::within_limit::Known;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::search::{LeftOut, Table, Tried};
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::tuning::{SELECTION_SAMPLES, SELECTION_TIME_SHARE};

/// A kernel that is compared, with columns as they are or standardized.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelPoint {
    /// The kernel.
    pub kernel: ConditionalKernel,
    /// Whether each column is divided by its standard deviation.
    pub standardized: bool,
    /// The R² of leave-one-out predictions, for a regression.
    pub r2: Option<f64>,
}

/// The selected values.
pub(super) struct Choice<S> {
    pub kernel: ConditionalKernel,
    /// The factors of the columns, if they are to be standardized.
    pub factors: Option<Vec<f64>>,
    /// What the exact fit on the compared samples found, if these are all.
    pub solved: Option<S>,
    pub tried: Vec<Tried<KernelPoint>>,
    pub warnings: Vec<String>,
    /// A note on the candidates.
    pub note: Option<String>,
}

/// The samples that are compared.
pub(super) struct Compared {
    /// Ascending.
    pub rows: Vec<usize>,
    pub threads: usize,
    /// Whether there are more.
    pub is_part: bool,
    /// The space of polynomials of the first kernel on all samples.
    pub space: PolynomialSpace,
}

impl<T> SplineParams<T> {
    /// The samples that are compared. `bytes` is the memory of an exact fit by the number of samples and of threads:
    /// where it is limited, fewer threads are used, then fewer samples, whose number does not depend on the threads.
    pub(super) fn compared(
        &self,
        known: &impl Known,
        weights: &[f64],
        space: PolynomialSpace,
        bytes: impl Fn(usize, usize) -> u64,
    ) -> Compared {
        let fits = |n, threads| bytes(n, threads) <= self.memory_limit.unwrap_or(u64::MAX);
        let numbers = [1, 2, 4].map(|part| SELECTION_SAMPLES / part);
        let n = numbers.into_iter().find(|&n| fits(n, 1)).unwrap_or(SELECTION_SAMPLES);
        let threads = (1..=Pool::count(self.threads)).rev().find(|&threads| fits(n, threads)).unwrap_or(1);
        let rows = known.pick(weights, n.min(weights.len()), self.seed);
        let is_part = rows.len() < weights.len();
        Compared { rows, threads, is_part, space }
    }

    /// Selects the kernel and the scaling, if both are automatic. `exact` is the fit to the compared samples with
    /// columns times factors, which returns the loss without each sample, and more of it.
    ///
    /// # Errors
    /// That of the candidates if none could be fitted; [`Error::Cancelled`]; [`Error::TooShort`] if the time limit
    /// passed.
    pub(super) fn choose<S>(
        &self,
        Compared { rows, is_part, space, .. }: &Compared,
        monitor: &Monitor<'_>,
        mut exact: impl FnMut(&mut KernelPoint, Option<&[f64]>, &Monitor<'_>) -> Result<(LeftOut, S)>,
    ) -> Result<Choice<S>> {
        let (uneven, factors) = (space.unevenness(), &space.factors);
        let is_open = self.compares_scalings(uneven);
        let scalings = if is_open { vec![false, true] } else { vec![self.standardize == Standardize::Yes] };
        let factors_if = |standardized: bool| standardized.then(|| factors.clone());
        let of_kernel = |&kernel| scalings.iter().map(move |&standardized| (kernel, standardized));
        let candidates: Vec<(ConditionalKernel, bool)> = self.open_kernels().iter().flat_map(of_kernel).collect();
        let (kernel, standardized) = candidates[0];
        let (factors, warnings) = (factors_if(standardized), space.warnings());
        let mut choice = Choice { kernel, factors, solved: None, tried: Vec::new(), warnings, note: None };
        if candidates.len() == 1 {
            choice.warnings.extend(scaling_warning(uneven, standardized, false));
            return Ok(choice);
        }
        let limited =
            if *is_part { monitor.with_part_of_time(SELECTION_TIME_SHARE).with_strict_limit() } else { *monitor };
        let mut table = Table::new("choice", rows.len(), limited);
        for (kernel, standardized) in candidates {
            let (mut solved, point) = (None, KernelPoint { kernel, standardized, r2: None });
            let found = table.attempt(point, |point, quiet| {
                let (left_out, found) = exact(point, factors_if(standardized).as_deref(), quiet)?;
                solved = Some(found);
                Ok(left_out)
            });
            match found {
                Err(Error::TooShort { .. }) if *is_part && monitor.ask().is_ok() => {
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
            let requested = match self.open_kernels() {
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
        choice.note = Some(format!("{measure} on {} samples: {}", rows.len(), losses.join(", ")));
        choice.warnings.extend(scaling_warning(uneven, choice.factors.is_some(), is_open));
        choice.tried = table.tried;
        Ok(choice)
    }
}
