//! The kernel, and whether to standardize the columns: the largest leave-one-out R² of exact fits on at most a thousand
//! of the samples.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::super::fit::UNEVEN;
use super::super::remarks::scaling_warning;
use super::task::{Solved, Task};
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::model::{CChoice, Standardize};
use crate::similarity::ConditionalKernel;

/// Samples on which kernels and scalings are compared.
const SAMPLES: usize = 1000;

/// The results of a kernel on original or standardized columns.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedSpline {
    /// The kernel.
    pub kernel: ConditionalKernel,
    /// Whether each column was divided by its standard deviation.
    pub standardized: bool,
    /// R² of the leave-one-out predictions at the best C of the path, or why there is none.
    pub loo_r2: std::result::Result<f64, String>,
    /// The number of samples.
    pub n_samples: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The selected values.
pub(super) struct Choice {
    pub kernel: ConditionalKernel,
    /// The factors of the columns, if they are to be standardized.
    pub factors: Option<Vec<f64>>,
    /// The exact fit on all samples, where these were compared.
    pub solved: Option<Solved>,
    pub tried: Vec<TriedSpline>,
    pub warnings: Vec<String>,
    /// A note on the candidates.
    pub note: Option<String>,
}

impl Task<'_> {
    /// Selects the kernel and the scaling, if both are automatic.
    ///
    /// # Errors
    /// That of the first candidate if none could be fitted; [`Error::Cancelled`].
    pub fn choose(&self) -> Result<Choice> {
        let (params, n) = (self.params, self.weights.len());
        let moments = self.space(&self.rows, ConditionalKernel::Distance)?;
        let (uneven, factors) = (moments.unevenness(), moments.factors());
        let is_open = params.standardize == Standardize::Auto && params.c == CChoice::Auto && uneven > UNEVEN;
        let scalings = match params.standardize {
            _ if is_open => vec![false, true],
            choice => vec![choice == Standardize::Yes],
        };
        let kernels = params.open_kernels();
        let candidates: Vec<(ConditionalKernel, bool)> =
            kernels.iter().flat_map(|&kernel| scalings.iter().map(move |&standard| (kernel, standard))).collect();
        let mut warnings = moments.warnings();
        let factors_if = |standard: bool| standard.then(|| factors.to_vec());
        if let [(kernel, standard)] = candidates[..] {
            warnings.extend(scaling_warning(uneven, None, standard));
            let (factors, tried) = (factors_if(standard), Vec::new());
            return Ok(Choice { kernel, factors, solved: None, tried, warnings, note: None });
        }
        let part = (n > SAMPLES).then(|| {
            let mut rows: Vec<usize> = (0..n).collect();
            rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(params.seed));
            rows.truncate(SAMPLES);
            rows.sort_unstable();
            self.of_rows(&rows)
        });
        let task = part.as_ref().unwrap_or(self);
        let mut tried: Vec<TriedSpline> = Vec::with_capacity(candidates.len());
        let mut best: Option<(f64, ConditionalKernel, bool, Solved)> = None;
        let mut problem: Option<Error> = None;
        for (kernel, standardized) in candidates {
            if best.is_some() && self.monitor.ask().is_err() {
                break;
            }
            let start = Instant::now();
            let loo_r2 = match task.exact(kernel, factors_if(standardized).as_deref()) {
                Err(Error::TooShort { .. }) if best.is_some() => break,
                Err(error @ (Error::Cancelled { .. } | Error::TooShort { .. })) => return Err(error),
                Err(error) => {
                    let message = error.to_string();
                    problem = problem.or(Some(error));
                    Err(message)
                }
                Ok(solved) => {
                    let r2 = solved.chosen.r2();
                    if best.as_ref().is_none_or(|(most, ..)| r2 > *most) {
                        best = Some((r2, kernel, standardized, solved));
                    }
                    Ok(r2)
                }
            };
            let seconds = start.elapsed().as_secs_f64();
            tried.push(TriedSpline { kernel, standardized, loo_r2, n_samples: task.weights.len(), seconds });
        }
        let Some((_, kernel, standardized, solved)) = best else {
            return Err(problem.unwrap_or(Error::NoSamples("")));
        };
        if !is_open {
            warnings.extend(scaling_warning(uneven, None, standardized));
        }
        let one = |one: &TriedSpline| {
            let scaling = if one.standardized { " standardized" } else { "" };
            match &one.loo_r2 {
                Ok(r2) => format!("{}{scaling} {r2:.4}", one.kernel),
                Err(problem) => format!("{}{scaling} failed: {problem}", one.kernel),
            }
        };
        let scores: Vec<String> = tried.iter().map(one).collect();
        let note = format!("R² of leave-one-out predictions on {} samples: {}", task.weights.len(), scores.join(", "));
        let solved = (part.is_none() && self.n_basis().is_none()).then_some(solved);
        Ok(Choice { kernel, factors: factors_if(standardized), solved, tried, warnings, note: Some(note) })
    }
}
