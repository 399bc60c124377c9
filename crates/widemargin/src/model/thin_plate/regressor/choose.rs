//! The kernel, and whether to standardize the columns: the largest leave-one-out R² of exact fits on at most a thousand
//! of the samples.

use super::super::choose_kernel::{KernelPoint, listed};
use super::super::remarks::scaling_warning;
use super::super::stream::compared_rows;
use super::task::{Solved, Task};
use crate::error::Result;
use crate::model::Standardize;
use crate::search::{LeftOut, Table, Tried};
use crate::similarity::ConditionalKernel;
use crate::tuning::SELECTION_SAMPLES;

/// The selected values.
pub(super) struct Choice {
    pub kernel: ConditionalKernel,
    /// The factors of the columns, if they are to be standardized.
    pub factors: Option<Vec<f64>>,
    /// The exact fit on all samples, where these were compared.
    pub solved: Option<Solved>,
    pub tried: Vec<Tried<KernelPoint>>,
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
        let (uneven, factors) = (moments.unevenness(), &moments.factors);
        let is_open = params.compares_scalings(uneven);
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
        let part = (n > SELECTION_SAMPLES).then(|| self.of_rows(&compared_rows(n, params.seed)));
        let task = part.as_ref().unwrap_or(self);
        let mut table = Table::new("choice", task.weights.len(), *self.monitor);
        let mut best: Option<Solved> = None;
        for (kernel, standardized) in candidates {
            let mut solved = None;
            let point = KernelPoint { kernel, standardized: Some(standardized), lambda: None };
            let found = table.attempt(point, |_, _| {
                let found = task.exact(kernel, factors_if(standardized).as_deref())?;
                let loss = 1.0 - found.chosen.r2();
                solved = Some(found);
                Ok(LeftOut::of(Ok(loss), None))
            })?;
            if found.is_none() {
                break;
            }
            if table.best() == found {
                best = solved;
            }
        }
        let Some((at, solved)) = table.best().zip(best) else {
            let name = |point: &KernelPoint| point.kernel.to_string();
            return Err(table.nothing(("kernel", "auto"), "a kernel that can be fitted", true, name));
        };
        let KernelPoint { kernel, standardized, .. } = table.tried[at].point;
        let standardized = standardized.unwrap_or(false);
        if !is_open {
            warnings.extend(scaling_warning(uneven, None, standardized));
        }
        let scores = listed(&table.tried, |loss| 1.0 - loss);
        let note = format!("R² of leave-one-out predictions on {} samples: {scores}", task.weights.len());
        let solved = (part.is_none() && self.n_basis().is_none()).then_some(solved);
        let (factors, tried) = (factors_if(standardized), table.tried);
        Ok(Choice { kernel, factors, solved, tried, warnings, note: Some(note) })
    }
}
