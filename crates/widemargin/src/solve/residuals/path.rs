//! C on a path of values, from small to large, by an estimate of the loss of other samples.

use serde::{Deserialize, Serialize};

use super::parted_rows::PartedRows;
use crate::error::Result;
use crate::monitor::{Monitor, Progress};
use crate::solve::{effective_number, explained_standard_error};
use crate::tuning::{MAX_C_BEYOND_BEST, MIN_PATH_LAMBDA};

/// The estimated loss on new samples at one C: by leave-one-out for the Huber and the squared ε-insensitive loss, by
/// five-fold cross-validation for the quantile loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LossPoint {
    /// C of ½‖w‖² + C Σ loss(y − f).
    #[serde(rename = "C")]
    pub c: f64,
    /// The weighted mean loss of each output, in the unit of its targets (quantile loss) or of their squares.
    pub loss: Vec<f64>,
    /// 1 − loss / loss of the best constant, averaged over the outputs that no constant fits exactly; 1 if there are
    /// none.
    pub d2: f64,
    /// The standard error of this D², with the loss of the constant assumed to be known.
    pub d2_std: f64,
}

/// The weighted mean of the losses of an output, and of their squares.
pub(super) type Moments = [f64; 2];

/// 1/(2C) from ten times the largest eigenvalue of Σ v φφᵀ, where the fit is nearly constant, to where it follows each
/// sample; `per_decade` values of C for each factor of ten, ascending.
///
/// # Errors
/// [`Error::Cancelled`].
pub(super) fn costs(
    rows: &PartedRows<'_>,
    weights: &[f64],
    per_decade: i32,
    monitor: &Monitor<'_>,
) -> Result<Vec<f64>> {
    let (trace, largest) = rows.extent(weights, monitor)?;
    let unit = trace / weights.iter().sum::<f64>();
    if unit <= 0.0 || unit.is_nan() {
        // No feature varies.
        return Ok(vec![0.5]);
    }
    let first = ((10.0 * largest.max(unit) / unit).log10() * f64::from(per_decade)).ceil() as i32;
    let last = (MIN_PATH_LAMBDA.log10() * f64::from(per_decade)).round() as i32;
    Ok((last..=first).rev().map(|at| 0.5 / (unit * 10f64.powf(f64::from(at) / f64::from(per_decade)))).collect())
}

/// The estimates at values of C, ascending, until C is [`MAX_C_BEYOND_BEST`] times the best or the time is up; those that are not finite
/// are omitted. `constant` has the loss of the best constant of each output, `weights` are those of the samples, and the
/// parts of them that leave-one-out removes.
///
/// # Errors
/// Those of `losses`; [`Error::Cancelled`].
pub(super) fn walk(
    costs: &[f64],
    constant: &[f64],
    (weights, units): (&[f64], &[f64]),
    monitor: &Monitor<'_>,
    mut losses: impl FnMut(f64) -> Result<Vec<Moments>>,
) -> Result<Vec<LossPoint>> {
    let n_effective = effective_number(weights, units);
    let (mut path, mut best): (Vec<LossPoint>, Option<(f64, f64)>) = (Vec::new(), None);
    for (done, &c) in costs.iter().enumerate() {
        if monitor.is_time_up("path")? && !path.is_empty() {
            break;
        }
        monitor.tell(Progress { stage: "path", done: done as u64, total: costs.len() as u64, gap: None });
        let moments = losses(c)?;
        let loss: Vec<f64> = moments.iter().map(|[mean, _]| *mean).collect();
        if !loss.iter().all(|loss| loss.is_finite()) {
            continue;
        }
        let d2 = d2(&loss, constant);
        if best.is_none_or(|(_, most)| d2 > most) {
            best = Some((c, d2));
        }
        let d2_std = explained_standard_error(&moments, constant, n_effective);
        path.push(LossPoint { c, loss, d2, d2_std });
        // Independent of the rounding of a C that is exactly this multiple of the best.
        if best.is_some_and(|(at, _)| c > MAX_C_BEYOND_BEST * at * (1.0 + 1e-9)) {
            break;
        }
    }
    Ok(path)
}

/// The C of the largest D², the smallest of those.
pub(super) fn best(path: &[LossPoint]) -> Option<f64> {
    let better = |best: Option<&LossPoint>, point: &LossPoint| best.is_none_or(|best| point.d2 > best.d2);
    path.iter().fold(None, |best, point| if better(best, point) { Some(point) } else { best }).map(|point| point.c)
}

fn d2(losses: &[f64], constant: &[f64]) -> f64 {
    let varying = || losses.iter().zip(constant).filter(|(_, constant)| **constant > 0.0);
    match varying().count() {
        0 => 1.0,
        n => 1.0 - varying().map(|(loss, constant)| loss / constant).sum::<f64>() / n as f64,
    }
}
