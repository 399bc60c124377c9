//! Decision values of samples that refits at the same C do not see: they estimate the error and calibrate probabilities
//! where leave-one-out on all samples has not, and select C where that would take too long.

use super::choose::{LabeledSamples, SelectedC, Validation};
use super::solver::{Solution, Solver, Start};
use crate::data::Vectors;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::{
    self, Block, HeldOutRows, HeldOutScores, Intercept, OneVsRest, Penalty, count, n_independent, typical_weight,
};
use crate::solve::EstimateMethod;
use crate::solve::thin_plate::PathPoint;
use crate::tuning::{
    COMPARISON_TOL, HELD_OUT_PATH_TOL, HELD_OUT_PATH_WIDTH, HELD_OUT_VALUES, MAX_HELD_OUT, MAX_REFITS,
    SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES,
};

/// How many of `n` samples of `k` classes are held out of a fit: each of few classes has one at least.
pub(super) fn n_held_out(n: usize, k: usize) -> usize {
    MAX_HELD_OUT.min(n / 10).max((2 * k).min(n / 2))
}

/// Decision values of samples held out of refits: of one for many samples, of up to ten for few, each without a tenth.
/// `costs` are C times the weights; `judged` are the rows that are held out first, and how often each counts. `made` returns
/// the features of a refit without some rows, if they are not `phi`. Fewer, or none, if time is up. A refit starts at 0: at a
/// small C the gap is small at the solution on all already, whose weights depend on the samples.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn held_out_scores(
    phi: &Vectors,
    samples: LabeledSamples<'_>,
    costs: &[f64],
    made: &dyn Fn(&HeldOutRows) -> Result<Option<Vectors>>,
    judged: &problem::Judged,
    solver: &Solver,
    monitor: &Monitor<'_>,
) -> Result<HeldOutScores> {
    let mut scores = HeldOutScores::default();
    // Whether the solver takes few passes.
    let is_quick = solver.loss.is_smooth() && solver.penalty == Penalty::L2;
    let (tol, wanted) =
        if is_quick { (COMPARISON_TOL, HELD_OUT_VALUES) } else { (SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES) };
    let LabeledSamples { labels, weights, units } = samples;
    let n = n_independent(weights, units);
    let n_refits = (wanted / n.max(1)).clamp(1, MAX_REFITS);
    let (size, quiet) = (n_held_out(n, labels.classes().len()), monitor.without_progress());
    let is_spared = |row: usize| judged.units[row] <= 0.0;
    for held_out in HeldOutRows::sets(labels, (weights, units), is_spared, (size, n_refits), solver.seed) {
        if monitor.ask().is_err() {
            break;
        }
        let made = made(&held_out)?;
        let (phi, rest) = (made.as_ref().unwrap_or(phi), held_out.rest(costs.to_vec()));
        let solver = Solver { start: None, tol, ..solver.clone() };
        let solution = solver.solve(phi, labels, &rest, &quiet)?;
        if monitor.ask().is_err() {
            break;
        }
        let rows = Block::of(phi)?;
        let solved = (&solution.weights[..], &solution.intercepts[..]);
        scores.extend(judge(rows, samples, (&held_out, &judged.factors), solved).scores);
    }
    Ok(scores)
}

/// Features for a refit without the samples of some bases, whose similarities to themselves are not those of new samples:
/// the features `own` that compare with them are 0. The others are centered again, by the weights in the refit, if there are
/// any. `None` where nothing changes.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for inconsistent rows.
pub(super) fn features_without(phi: &Vectors, own: &[usize], weights: Option<&[f64]>) -> Result<Option<Vectors>> {
    if own.is_empty() && weights.is_none() {
        return Ok(None);
    }
    let mut phi = without_features(phi, own);
    if let Some(weights) = weights {
        let (sums, total) = (Block::of(&phi)?.combination(weights), weights.iter().sum::<f64>());
        if let Vectors::Dense(matrix) = &mut phi {
            let rows = matrix.values.iter_mut().zip(sums.iter().cycle());
            rows.for_each(|(x, sum)| *x = (f64::from(*x) - sum / total) as f32);
        }
    }
    Ok(Some(phi))
}

/// A copy of the rows in which some features are 0.
fn without_features(phi: &Vectors, features: &[usize]) -> Vectors {
    let mut is_excluded = vec![false; phi.n_cols()];
    features.iter().for_each(|&feature| is_excluded[feature] = true);
    let mut phi = phi.clone();
    match &mut phi {
        Vectors::Dense(matrix) => {
            for row in matrix.values.chunks_mut(is_excluded.len().max(1)) {
                row.iter_mut().zip(&is_excluded).filter(|(_, out)| **out).for_each(|(x, _)| *x = 0.0);
            }
        }
        Vectors::Sparse(matrix) => {
            let entries = matrix.values.iter_mut().zip(&matrix.indices);
            entries.filter(|(_, column)| is_excluded[**column as usize]).for_each(|(x, _)| *x = 0.0);
        }
    }
    phi
}

/// How good a fit is on samples that it did not see.
pub(super) struct Judged {
    /// Their mean squared hinge, over samples and problems.
    pub squared_hinge: f64,
    /// Their decision values.
    pub scores: HeldOutScores,
}

/// Judges weights and intercepts by samples that were held out. Each counts as often as its factor, or once without
/// factors.
pub(super) fn judge(
    rows: Block<'_>,
    samples: LabeledSamples<'_>,
    (held_out, factors): (&HeldOutRows, &[f64]),
    (all_weights, intercepts): (&[f32], &[f64]),
) -> Judged {
    let LabeledSamples { labels, weights, units } = samples;
    let (targets, d) = (OneVsRest::of(labels), rows.n_features());
    let (mut hinge, mut total) = (0.0, 0.0);
    let mut found = HeldOutScores::default();
    for (row, share) in held_out.shares() {
        let of = |(problem, intercept): (usize, &f64)| rows.dot(row, &all_weights[problem * d..][..d]) + intercept;
        let scores: Vec<f64> = intercepts.iter().enumerate().map(of).collect();
        let slack = |(problem, score): (usize, &f64)| {
            targets.weight(row, problem) * (1.0 - targets.sign(row, problem) * score).max(0.0).powi(2)
        };
        let weight = share * weights[row] * factors.get(row).unwrap_or(&1.0);
        total += weight * targets.mean_weight(row);
        hinge += weight * scores.iter().enumerate().map(slack).sum::<f64>() / scores.len() as f64;
        found.push(scores, labels.codes()[row], weight, (share * count(weights[row], units[row])).max(1.0));
    }
    Judged { squared_hinge: hinge / total, scores: found }
}

/// A path of C that is judged on held-out samples.
pub(super) struct HeldOutPath<'a> {
    /// The samples.
    pub held_out: &'a HeldOutRows,
    /// How often each sample counts; once without factors.
    pub factors: &'a [f64],
    /// λ where the path begins, in units of the mean squared norm of the centered features.
    pub near: f64,
}

impl HeldOutPath<'_> {
    /// The C with the least squared hinge on the held-out samples; none where the features of all samples are equal. It serves
    /// sparse features of many samples, whose leave-one-out in closed form would take a factorization of the size of the
    /// features, possibly tens of thousands, and where C on a few samples of rare features says less about all; and dense
    /// features of many samples, for which C may be larger than on some of them.
    ///
    /// The path is solved on the other samples, each point from the last and to a loose gap. The error there is the estimate
    /// too: it is the least of a few.
    ///
    /// # Errors
    /// As for the fit on all samples.
    pub fn select(
        &self,
        phi: &Vectors,
        samples: LabeledSamples<'_>,
        solver: &Solver,
        monitor: &Monitor<'_>,
    ) -> Result<Option<SelectedC>> {
        let LabeledSamples { labels, weights, units } = samples;
        let unit = mean_square(phi, weights, solver.intercept)? * typical_weight(units);
        if unit <= 0.0 {
            return Ok(None);
        }
        let quiet = monitor.without_progress();
        let mut path: Vec<PathPoint> = Vec::new();
        let mut best: Option<BestOnPath> = None;
        // Toward larger C first: each point begins at the solution of the last.
        for direction in [1, -1] {
            let mut start = best.as_ref().map(|best| best.start.clone());
            for step in (if direction == 1 { 0 } else { 1 })..=HELD_OUT_PATH_WIDTH {
                if monitor.ask().is_err() && best.is_some() {
                    break;
                }
                let lambda = self.near * 10f64.powf(-0.5 * f64::from(direction * step));
                let c = 0.5 / (lambda * unit);
                let costs = self.held_out.rest(weights.iter().map(|weight| c * weight).collect());
                let at = Solver { start: start.take(), tol: HELD_OUT_PATH_TOL.max(solver.tol), ..solver.clone() };
                let Solution { weights, intercepts, alphas, report, .. } = at.solve(phi, labels, &costs, &quiet)?;
                let held_out = (self.held_out, self.factors);
                let judged = judge(Block::of(phi)?, samples, held_out, (&weights, &intercepts));
                path.push(PathPoint {
                    c,
                    lambda,
                    objective: report.objective,
                    held_out_squared_hinge: Some(judged.squared_hinge),
                    n_support: report.n_support.iter().map(|&n| u64::from(n)).sum(),
                    steps: report.max_iterations(),
                    ..PathPoint::default()
                });
                if best.as_ref().is_some_and(|best| judged.squared_hinge >= best.judged.squared_hinge) {
                    break;
                }
                let solved = Start { weights, intercepts, alphas };
                start = Some(solved.clone());
                best = Some(BestOnPath { c, start: solved, judged });
            }
            // Values better than the start of the path lie on one side of it.
            if best.as_ref().is_some_and(|best| best.c != path[0].c) {
                break;
            }
        }
        let Some(BestOnPath { c, start, judged }) = best else { return Ok(None) };
        let note = Some(format!("C was selected by {} samples that were held out", self.held_out.len()));
        path.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
        let validation = Some(Validation::of(judged.scores, EstimateMethod::HeldOut));
        Ok(Some(SelectedC { c, path, start: Some(start), note, validation }))
    }
}

/// The best of a path so far.
struct BestOnPath {
    c: f64,
    start: Start,
    judged: Judged,
}

/// The mean squared norm of the features, centered where the intercept is free; 0 if it is the rounding of equal rows.
fn mean_square(phi: &Vectors, weights: &[f64], intercept: Intercept) -> Result<f64> {
    let (rows, total) = (Block::of(phi)?, weights.iter().sum::<f64>());
    let (mut squares, mut mean) = (0.0, vec![0.0; phi.n_cols()]);
    for (row, weight) in weights.iter().enumerate() {
        rows.for_each_nonzero(row, |feature, x| {
            squares += weight * x * x;
            mean[feature] += weight * x;
        });
    }
    let of_mean = mean.iter().map(|sum| (sum / total).powi(2)).sum::<f64>();
    let square = squares / total;
    let rest = square - if intercept == Intercept::Free { of_mean } else { 0.0 };
    Ok(if rest > 64.0 * f64::EPSILON * square { rest } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use crate::data::{AnySamples, CsrMatrix, DenseMatrix, Labels, Vectors};
    use crate::expansion::Normalization;
    use crate::model::{BasisExpansionParams, BasisExpansionSvc, CChoice};
    use crate::problem::Loss;
    use crate::similarity::AnySimilarity;
    use crate::solve::EstimateMethod;

    /// Rows with five of 400 features each, of two classes that prefer one half of the features.
    fn rows(n: usize, seed: u64) -> (AnySamples, Labels) {
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut matrix, mut labels) = (CsrMatrix::empty(400), Vec::new());
        for _ in 0..n {
            let class = draw(2);
            let half = |draw: &mut dyn FnMut(u64) -> u64| if draw(10) < 7 { class } else { 1 - class };
            let mut columns: Vec<u32> = (0..5).map(|_| (200 * half(&mut draw) + draw(200)) as u32).collect();
            columns.sort_unstable();
            columns.dedup();
            matrix.values.extend(columns.iter().map(|_| 0.5f32));
            matrix.indices.extend(columns);
            matrix.indptr.push(matrix.values.len());
            labels.push(class as i64);
        }
        (AnySamples::Vectors(Vectors::Sparse(matrix)), Labels::new(labels))
    }

    /// Points of the unit square on both sides of a sine; one in twenty has the other class.
    fn points(n: usize, seed: u64) -> (AnySamples, Labels) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let values: Vec<f32> = (0..2 * n).map(|_| rng.random()).collect();
        let side = |row: &[f32]| row[1] > 0.5 + 0.4 * (9.0 * row[0]).sin();
        let labels: Vec<i64> =
            values.chunks_exact(2).map(|row| i64::from(side(row) != (rng.random::<f64>() < 0.05))).collect();
        (AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: 2 })), Labels::new(labels))
    }

    fn params(of: &str) -> BasisExpansionParams<AnySimilarity> {
        let normalization = if of == "features" { Normalization::None } else { Normalization::default() };
        BasisExpansionParams::new(AnySimilarity::new(&[of]).unwrap()).normalization(normalization).n_basis(300)
    }

    fn check(of: &str, (samples, labels): &(AnySamples, Labels), (new, of_new): &(AnySamples, Labels)) {
        let error = |model: &BasisExpansionSvc<AnySimilarity>| {
            let classes = model.predict(new, 1).unwrap();
            let wrong = classes.iter().zip(of_new.codes()).filter(|(a, b)| ***a != of_new.classes()[**b as usize]);
            wrong.count() as f64 / 4000.0
        };
        let fit = |threads| params(of).c(CChoice::Auto).threads(threads).fit(samples, labels).unwrap();
        let model = fit(1);
        let (estimate, error_of_fit) = (model.report().estimate.clone().unwrap(), error(&model));
        assert!((estimate.error - error_of_fit).abs() < 3.0 * estimate.standard_error, "{estimate:?} {error_of_fit}");
        assert_eq!(estimate.method, EstimateMethod::HeldOut);
        assert!(model.path().is_sorted_by(|a, b| a.lambda > b.lambda) && model.path().len() > 1);
        let losses = model.path().iter().map(|point| point.held_out_squared_hinge.unwrap());
        let least = model.path().iter().zip(losses).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        assert_eq!(least.c, model.c());
        assert!(model.report().notes.iter().any(|note| note.contains("samples that were held out")));
        for factor in [0.01, 100.0] {
            assert!(error(&params(of).c(factor * model.c()).fit(samples, labels).unwrap()) > error_of_fit - 0.005);
        }
        let again = fit(3);
        assert_eq!((again.c(), again.weights()), (model.c(), model.weights()));
    }

    #[test]
    fn the_estimate_is_that_of_new_samples_and_the_choice_is_the_best_of_its_neighbors() {
        check("features", &rows(3000, 1), &rows(4000, 2));
        check("rbf:gamma=20", &points(4500, 1), &points(4000, 2));
    }

    #[test]
    fn of_another_loss_c_is_that_of_the_squared_hinge_on_some_samples() {
        let (samples, labels) = points(4500, 1);
        let model = params("rbf:gamma=20").c(CChoice::Auto).loss(Loss::Logistic).fit(&samples, &labels).unwrap();
        assert!(model.path().iter().all(|point| point.held_out_squared_hinge.is_none()));
        assert!(model.report().notes.iter().any(|note| note.contains("selected for the squared hinge")));
    }
}
