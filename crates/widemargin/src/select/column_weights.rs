//! Kernels of a regression on weighted columns: scales that make the targets most likely (`column_scales.rs`), where
//! scales of their own make the targets so much more likely than one scale of all columns that chance hardly explains
//! it. The error alone is not enough: weights that were learned from the same samples lower it even where they are
//! worse.

use super::candidate::{Candidate, rounded};
use super::column_scales::{Difference, Likely, Scales, Table};
use super::subset::{Judge, Subset};
use crate::data::DenseMatrix;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stopped};
use crate::parameters::List;
use crate::tuning::{
    FIRST_NOISE, FURTHER_EVALUATIONS, MIN_LOG_ODDS, SCALE_EVALUATIONS, TIED_EVALUATIONS, WEIGHTED_COLUMNS,
};

/// The scales of the columns by the likelihood of a kernel.
pub(super) struct ColumnLikelihood {
    pub kernel: &'static str,
    /// One scale of all columns.
    tied: Likely,
    /// One of each.
    each: Likely,
    /// By how much scales of their own must raise the logarithm of the likelihood.
    penalty: f64,
    n_samples: usize,
}

impl ColumnLikelihood {
    /// By how much scales of their own raise the logarithm of the likelihood.
    fn gain(&self) -> f64 {
        self.tied.cost - self.each.cost
    }

    /// Whether the odds are for scales of their own.
    pub fn is_likely(&self) -> bool {
        self.gain() - self.penalty > MIN_LOG_ODDS
    }

    /// Whether these scales are likelier than those of another kernel.
    pub fn is_likelier(&self, other: &ColumnLikelihood) -> bool {
        self.each.cost < other.each.cost - MIN_LOG_ODDS
    }

    /// The kernel on weighted columns, the largest weight 1.
    pub fn candidate(&self) -> Candidate {
        let scales = &self.each.scales.columns;
        let largest = scales.iter().copied().fold(0.0, f64::max);
        let weight = |scale: &f64| {
            let share = scale / largest;
            let weight = if self.kernel == "rbf" { share.sqrt() } else { share };
            ((1000.0 * weight).round() / 1000.0) as f32
        };
        let weights = List(scales.iter().map(weight).collect());
        Candidate::usual(&format!("z-score:weights={weights}/{}:gamma={}", self.kernel, rounded(largest)))
    }
}

/// The scales of columns that make the targets of a regression most likely, for both kernels of distances; after a first
/// look, from the scales found there, and only where the same evidence per sample is enough on all.
pub(super) fn learn_columns(
    subset: &Subset<'_>,
    before: &[ColumnLikelihood],
    monitor: &Monitor<'_>,
) -> Result<Vec<ColumnLikelihood>> {
    let (Judge::Targets(_, standard), Some(matrix)) = (&subset.judge, subset.table()) else { return Ok(Vec::new()) };
    if !WEIGHTED_COLUMNS.contains(&matrix.n_cols) {
        return Ok(Vec::new());
    }
    let (columns, n) = (standardized(matrix, &subset.weights), subset.len() as f64);
    // By the Bayesian information criterion each parameter more costs ½ log n.
    let n_varying = columns.iter().filter(|column| !is_constant(column)).count();
    let penalty = 0.5 * (n_varying as f64 - 1.0) * n.ln();
    let mut found = Vec::new();
    for (kernel, difference) in [("rbf", Difference::Squared), ("laplacian", Difference::Absolute)] {
        monitor.go_on("similarity search")?;
        if monitor.ask().is_err() {
            break;
        }
        let known = before.iter().find(|known| known.kernel == kernel);
        let is_hopeless =
            |known: &ColumnLikelihood| known.gain() * n / known.n_samples as f64 - penalty <= MIN_LOG_ODDS;
        if known.map_or(!before.is_empty(), is_hopeless) {
            continue;
        }
        let table = Table { columns: &columns, targets: &standard.values, weights: &subset.weights, difference };
        let go_on = || match monitor.ask() {
            Err(Stopped::TimeLimit) => Err(Error::TooShort { stage: "similarity search", needs: 0.0 }),
            _ => monitor.go_on("similarity search"),
        };
        let in_time = |found| match found {
            Err(Error::TooShort { .. }) => Ok(None),
            found => found,
        };
        let first = || Scales { columns: vec![0.5 / columns.len() as f64; columns.len()], noise: FIRST_NOISE };
        let start = known.map_or_else(first, |known| known.tied.scales.clone());
        let Some(tied) = in_time(table.likely(&start, true, TIED_EVALUATIONS, go_on))? else { continue };
        let (start, most) = match known {
            Some(known) => (&known.each.scales, FURTHER_EVALUATIONS),
            None => (&tied.scales, SCALE_EVALUATIONS),
        };
        let Some(mut each) = in_time(table.likely(start, false, most, go_on))? else { continue };
        for (scale, _) in each.scales.columns.iter_mut().zip(&columns).filter(|(_, column)| is_constant(column)) {
            *scale = 0.0;
        }
        found.push(ColumnLikelihood { kernel, tied, each, penalty, n_samples: subset.len() });
    }
    Ok(found)
}

/// The columns with mean 0 and variance 1; a constant one is 0.
pub(super) fn standardized(matrix: &DenseMatrix<f32>, weights: &[f64]) -> Vec<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    let mean = |values: &[f64]| values.iter().zip(weights).map(|(x, weight)| weight / total * x).sum::<f64>();
    let one = |column: usize| {
        let mut values: Vec<f64> =
            matrix.values.iter().skip(column).step_by(matrix.n_cols).map(|x| f64::from(*x)).collect();
        if is_constant(&values) {
            return vec![0.0; values.len()];
        }
        let center = mean(&values);
        values.iter_mut().for_each(|x| *x -= center);
        let spread = mean(&values.iter().map(|x| x * x).collect::<Vec<f64>>()).sqrt();
        values.iter_mut().for_each(|x| *x /= spread);
        values
    };
    (0..matrix.n_cols).map(one).collect()
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|x| *x == values[0])
}
