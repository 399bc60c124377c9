//! Weights of similarities, one factor each, by leave-one-out in closed form (`weight=auto` in a spec).
//!
//! A linear SVM on features w_m φ_m has the Gram matrix Σ w_m² K_m: one scale a similarity says how much it counts. The
//! loss is minimized over powers of √2, one weight at a time, in steps that get smaller; each value costs a path of C,
//! or one fit at a fixed C.

use super::choose_c::{LabeledSamples, Sampled};
use super::expand::{scale_columns, unweighted};
use super::solver::Solver;
use crate::data::DenseView;
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::model::clock::Clock;
use crate::par::Pool;
use crate::problem::Block;
use crate::similarity::Similarity;
use crate::solve::thin_plate::{PathOptions, fit_features};
use crate::tuning::{MAX_WEIGHT_POWER, MIN_WEIGHT_GAIN, WEIGHT_SAMPLES, WEIGHT_STEPS};

/// Learns the weights that are open, at C if it is fixed, and applies them to an expansion and its features; returns a
/// note, if any were.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn learn_weights<S: Similarity>(
    expansion: &mut BasisExpansion<S>,
    phi: &mut [f32],
    samples: LabeledSamples<'_>,
    (c, solver): (Option<f64>, &Solver),
    clock: &mut Clock<'_>,
) -> Result<Option<String>> {
    let open = unweighted(expansion.similarity());
    if open.is_empty() {
        return Ok(None);
    }
    let width = expansion.n_features();
    let columns = |part: usize| expansion.part_columns(part).unwrap_or_default();
    let view = DenseView::new(phi, samples.labels.len(), width)?;
    let sampled = Sampled::new(view.into(), samples, WEIGHT_SAMPLES, solver.seed)?;
    let (pool, monitor) = (Pool::new(solver.threads)?, &clock.monitor.without_progress());
    let loss = |powers: &[f64]| -> Result<f64> {
        let Block::Dense(rows) = sampled.phi()? else { return Ok(f64::INFINITY) };
        let mut scaled = rows.values().to_vec();
        for (&part, power) in open.iter().zip(powers) {
            scale_columns(&mut scaled, width, columns(part), power.exp2());
        }
        let (scaled, path) =
            (DenseView::new(&scaled, sampled.n_rows(), width)?, PathOptions { c, ..PathOptions::default() });
        let found = fit_features(scaled.into(), &sampled.problems(), path, solver.intercept, &pool, monitor)?;
        Ok(found.outcome.best.point.loo_squared_hinge.unwrap_or(f64::INFINITY))
    };
    let mut powers = vec![0.0; open.len()];
    let mut least = loss(&powers)?;
    // Where C is chosen too, a common factor changes nothing.
    let first = usize::from(c.is_none() && open.len() == expansion.similarity().n_parts());
    for step in WEIGHT_STEPS {
        for at in first..open.len() {
            for direction in [step, -step] {
                let before = powers[at];
                while (powers[at] + direction).abs() <= MAX_WEIGHT_POWER {
                    powers[at] += direction;
                    let met = loss(&powers)?;
                    if met >= least * (1.0 - MIN_WEIGHT_GAIN) {
                        powers[at] -= direction;
                        break;
                    }
                    least = met;
                }
                if powers[at] != before {
                    break;
                }
            }
        }
    }
    let of = if sampled.is_part() { format!(" on {} of the samples", sampled.n_rows()) } else { String::new() };
    drop(sampled);
    let ranges: Vec<_> = open.iter().map(|&part| columns(part)).collect();
    let mut weights = Vec::new();
    for ((&part, power), columns) in open.iter().zip(&powers).zip(ranges) {
        scale_columns(phi, width, columns, power.exp2());
        weights.push(format!("{:.3} for {}", power.exp2(), expansion.similarity().part(part)));
        expansion.weigh(part, power.exp2())?;
    }
    clock.end("weights")?;
    Ok(Some(format!("weights of similarities were learned{of}: {}", weights.join(", "))))
}
