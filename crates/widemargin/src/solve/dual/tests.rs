//! The loop against a clear version of itself and against other solvers, on every kind of rows.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::certificate::{Certificate, StopRule, Sums};
use super::linear::{LinearDualSolution, solve_sparse};
use super::loss_terms::LossTerms;
use super::order::Order;
use super::*;
use crate::data::{CsrMatrix, DenseView, Rows};
use crate::expansion::{AdditiveMap, CodedRows, PAPER_NODES, choose_nodes};
use crate::problem::{Block, BlockObjective, HeldOutRows, Intercept, LinearProblem, Loss, Objective, OneVsRest};
use crate::similarity::AdditiveKernel;
use crate::solve::newton::{self, NewtonSettings};
use crate::tuning::SPARSE_EPOCHS;

/// Histograms whose classes differ in which bins are full.
fn histograms(n: usize, d: usize, classes: usize, distinct: bool) -> (Vec<f64>, Vec<u32>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let codes: Vec<u32> = (0..n).map(|i| (i % classes) as u32).collect();
    let mut values = Vec::new();
    for &code in &codes {
        for j in 0..d {
            let full = (j + code as usize) % classes < 2;
            let value: f64 = if rng.random_bool(if full { 0.7 } else { 0.3 }) { rng.random() } else { 0.0 };
            values.push(if distinct { value } else { (value * 9.0).ceil() / 9.0 });
        }
    }
    (values, codes)
}

fn settings() -> DescentSettings {
    DescentSettings { tol: 1e-3, max_epochs: 500, seed: 1, threads: 1 }
}

#[test]
fn held_out_scores_equal_those_of_a_refit() {
    let (n, d, classes, held_out_rows) = (300, 40, 7, 0..60);
    let (values, codes) = histograms(n, d, classes, false);
    let samples = DenseView::new(&values, n, d).unwrap();
    let coded = |rows: Range<usize>| {
        let rows: Vec<usize> = rows.collect();
        CodedRows::new(&samples, &rows, &vec![1.0; rows.len()], None).unwrap()
    };
    let (rows, rest) = (coded(0..n), coded(held_out_rows.end..n));
    let nodes = choose_nodes(AdditiveKernel::Intersection, rows.book(), rows.counts(), 3);
    let map = AdditiveMap::nystroem(AdditiveKernel::Intersection, &nodes).unwrap();
    let loss = Loss::SquaredHinge;
    for cost in [0.01, 1.0] {
        let costs = vec![cost; n];
        let targets = OneVsRest::new(&codes, classes);
        let problem = DualProblem { rows: &rows, map: &map, targets, loss, costs: &costs };
        let targets = OneVsRest::new(&codes[held_out_rows.end..], classes);
        let held_out = &[HeldOutRows::whole(held_out_rows.clone())];
        let without = DualProblem { rows: &rest, targets, costs: &costs[held_out_rows.end..], ..problem };
        let (settings, monitor) = (&settings(), &Monitor::none());
        let found = Additive { held_out, ..Additive::new(&problem, settings, monitor) }.solve().unwrap();
        let without = solve(&without, settings, monitor).unwrap();
        let value = |weights: &[f32], row: usize, k: usize| {
            let mut read = [0.0; 3];
            let columns = values[row * d..][..d].iter().zip(weights.chunks_exact(3 * classes));
            let of_column = |(&x, weights): (&f64, &[f32])| {
                map.read(x, &mut read);
                read.iter().enumerate().map(|(node, read)| read * f64::from(weights[node * classes + k])).sum::<f64>()
            };
            columns.map(of_column).sum::<f64>()
        };
        let (mut away, mut moved) = (0.0, 0.0);
        for (k, values) in found.held_out.iter().enumerate() {
            for (row, &held_out) in held_out_rows.clone().zip(values) {
                let truth = value(&without.weights, row, k);
                away += (f64::from(held_out) - truth).powi(2);
                moved += (value(&found.weights, row, k) - truth).powi(2);
            }
        }
        assert!(away < 0.25 * moved, "C = {cost}: {away} of {moved}");
    }
}

/// One two-class problem, in double precision on plain rows: the clear version of the loop.
struct Reference {
    weights: Vec<f64>,
    epochs: u32,
    status: Status,
    gap: f64,
}

/// Descends on rows that are read as `read` and written as `write`.
fn reference(
    (read, write): (&[Vec<f64>], &[Vec<f64>]),
    diagonal: &[f64],
    (terms, k): (&LossTerms<'_>, usize),
    settings: &DescentSettings,
) -> Reference {
    let (n, loss) = (read.len(), terms.loss);
    let (mut weights, mut alphas, mut shrunk) = (vec![0.0; read[0].len()], vec![0.0; n], vec![false; n]);
    let mut threshold = f64::INFINITY;
    let (mut order, mut rule) = (Order::new(n, 4, settings.seed), StopRule::new(settings.tol));
    let dot = |row: &[f64], weights: &[f64]| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
    for epochs in 1..=settings.max_epochs {
        let (mut sums, mut largest) = (Sums::default(), 0.0f64);
        for &row in order.of(epochs) {
            let row = row as usize;
            let (cost, sign, alpha): (f64, f64, f64) = (terms.cost(row, k), terms.targets.sign(row, k), alphas[row]);
            if shrunk[row] {
                continue;
            }
            let margin = sign * dot(&read[row], &weights);
            let gradient = margin - 1.0 + alpha * loss.diagonal(cost);
            if alpha == 0.0 && gradient > threshold {
                shrunk[row] = true;
                continue;
            }
            largest = largest.max(if alpha == 0.0 { gradient.min(0.0) } else { gradient });
            let curvature = diagonal[row] + loss.diagonal(cost);
            alphas[row] = (alpha - gradient / curvature).max(0.0).min(terms.upper_bound(cost));
            let step = sign * (alphas[row] - alpha);
            weights.iter_mut().zip(&write[row]).for_each(|(w, x)| *w += step * x);
            sums.add(loss, cost, alpha, margin);
        }
        threshold = if largest > 0.0 { largest } else { f64::INFINITY };
        if !rule.is_near(sums.estimate()) && epochs < settings.max_epochs {
            continue;
        }
        let mut sums = Sums::default();
        for row in 0..n {
            let margin = terms.targets.sign(row, k) * dot(&read[row], &weights);
            sums.add(loss, terms.cost(row, k), alphas[row], margin);
        }
        let quadratic = if terms.is_symmetric { dot(&weights, &weights) } else { sums.alpha_margin };
        let gap = Certificate::new(&sums, quadratic).gap();
        if rule.is_met(gap) {
            return Reference { weights, epochs, status: Status::Converged, gap };
        } else if epochs == settings.max_epochs {
            return Reference { weights, epochs, status: Status::IterationLimit, gap };
        }
        shrunk.fill(false);
        threshold = f64::INFINITY;
    }
    unreachable!("there is at least one epoch")
}

/// The coordinates of rows by a map of each value.
fn mapped(samples: &DenseView<'_, f64>, m: usize, map: impl Fn(f64, &mut [f64])) -> Vec<Vec<f64>> {
    let of_row = |row: usize| {
        let mut all = vec![0.0; samples.n_cols() * m];
        // As the rows are coded: in single precision, and without zeros.
        samples.for_each_nonzero(row, |column, x| map(f64::from(x as f32), &mut all[column * m..][..m]));
        all
    };
    (0..samples.n_rows()).map(of_row).collect()
}

/// Every instruction set of this machine × few and many values × numbers of nodes and classes × losses, against the
/// clear version.
#[test]
fn every_path_takes_the_steps_of_the_scalar_solver() {
    let (n, d) = (300, 40);
    for (classes, n_nodes, distinct, loss) in [
        (2, 3, false, Loss::SquaredHinge),
        (7, 3, true, Loss::SquaredHinge),
        (10, 3, false, Loss::Hinge),
        (16, 4, false, Loss::SquaredHinge),
        (9, 7, true, Loss::Hinge),
        (4, 16, false, Loss::SquaredHinge),
    ] {
        let (values, codes) = histograms(n, d, classes, distinct);
        let samples = DenseView::new(&values, n, d).unwrap();
        let rows = CodedRows::new(&samples, &(0..n).collect::<Vec<_>>(), &vec![1.0; n], None).unwrap();
        let nodes = choose_nodes(AdditiveKernel::Intersection, rows.book(), rows.counts(), n_nodes);
        for map in [
            AdditiveMap::nystroem(AdditiveKernel::Intersection, &nodes).unwrap(),
            AdditiveMap::polynomial(AdditiveKernel::Chi2, &PAPER_NODES).unwrap(),
        ] {
            let costs = vec![0.01; n];
            let targets = OneVsRest::new(&codes, classes);
            let problem = DualProblem { rows: &rows, map: &map, targets, loss, costs: &costs };
            let m = map.n_nodes();
            let (read, write) =
                (mapped(&samples, m, |x, out| map.read(x, out)), mapped(&samples, m, |x, out| map.write(x, out)));
            let diagonal: Vec<f64> =
                Tables::new(&map, rows.book()).diagonal(&rows).into_iter().map(f64::from).collect();
            let truths: Vec<Reference> = (0..targets.n_problems())
                .map(|k| reference((&read, &write), &diagonal, (&problem.terms(), k), &settings()))
                .collect();
            for isa in Isa::available() {
                let (settings, monitor) = (&settings(), &Monitor::none());
                let solved = Additive { isa, ..Additive::new(&problem, settings, monitor) }.solve().unwrap();
                for (k, truth) in truths.iter().enumerate() {
                    let what = format!("{isa:?} {classes} classes {n_nodes} nodes");
                    assert_eq!(
                        (solved.problems[k].iterations, solved.problems[k].status),
                        (truth.epochs, truth.status),
                        "{what}"
                    );
                    let largest = truth.weights.iter().fold(0.0f64, |a, w| a.max(w.abs()));
                    let weights = solved.weights[k..].iter().step_by(truths.len());
                    for (ours, truth) in weights.zip(&truth.weights) {
                        assert!((f64::from(*ours) - truth).abs() <= 1e-5 * largest, "{what}: {ours} {truth}");
                    }
                    assert!(
                        (solved.problems[k].gap() - truth.gap).abs() < 1e-5,
                        "{what}: {} {}",
                        solved.problems[k].gap(),
                        truth.gap
                    );
                }
            }
        }
    }
}

/// Rows with about one in twenty of the features, of classes that prefer some of them.
fn sparse_rows(n: usize, d: usize, n_classes: usize) -> (CsrMatrix<f32>, Vec<u32>) {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let codes: Vec<u32> = (0..n).map(|row| (row % n_classes) as u32).collect();
    let mut matrix = CsrMatrix::empty(d);
    for code in &codes {
        for feature in 0..d {
            let share = if feature % n_classes == *code as usize { 0.15 } else { 0.04 };
            if uniform() < share {
                matrix.indices.push(feature as u32);
                matrix.values.push(0.2 + uniform());
            }
        }
        matrix.indptr.push(matrix.values.len());
    }
    (matrix, codes)
}

fn squared<'a>(targets: OneVsRest<'a>, costs: &'a [f64], intercept: Intercept) -> LinearProblem<'a> {
    LinearProblem { targets, costs, loss: Loss::SquaredHinge, intercept }
}

fn sparse_settings(tol: f64, threads: usize) -> DescentSettings {
    DescentSettings { tol, max_epochs: SPARSE_EPOCHS, seed: 3, threads }
}

const D: usize = 300;

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::Penalized, Intercept::None];

#[test]
fn the_solution_is_that_of_newtons_method() {
    for (n_classes, c) in [(2, 0.02), (3, 0.1), (11, 0.05)] {
        let (rows, codes) = sparse_rows(400, D, n_classes);
        let targets = OneVsRest::new(&codes, n_classes);
        let costs: Vec<f64> =
            (0..400).map(|row| if row % 7 == 0 { 0.0 } else { c * (1.0 + (row % 3) as f64) }).collect();
        for intercept in INTERCEPTS {
            let problem = squared(targets, &costs, intercept);
            let found = solve_sparse(&rows, problem, None, &sparse_settings(1e-4, 1), &Monitor::none()).unwrap();
            assert!(found.is_solved(), "{n_classes} classes, {intercept}: {:?}", found.problems);
            let again = solve_sparse(&rows, problem, None, &sparse_settings(1e-4, 3), &Monitor::none()).unwrap();
            assert_eq!((&again.weights, &again.intercepts), (&found.weights, &found.intercepts));
            let block = Block::Sparse(rows.view().unwrap());
            let mut objective = Objective::in_memory(BlockObjective::new(block, problem, 1).unwrap());
            let settings = NewtonSettings { tol: 1e-7, threads: 1, ..NewtonSettings::default() };
            let truth = newton::solve(&mut objective, &settings, None, &Monitor::none()).unwrap();
            for k in 0..targets.n_problems() {
                let (weights, b) = (&found.weights[k * D..(k + 1) * D], found.intercepts[k]);
                let mut primal = 0.5 * weights.iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
                if intercept == Intercept::Penalized {
                    primal += 0.5 * b * b;
                }
                for (row, cost) in costs.iter().enumerate() {
                    let score: f64 = {
                        let sample = rows.indptr[row]..rows.indptr[row + 1];
                        sample
                            .map(|at| f64::from(rows.values[at]) * f64::from(weights[rows.indices[at] as usize]))
                            .sum()
                    };
                    primal += cost * (1.0 - targets.sign(row, k) * (score + b)).max(0.0).powi(2);
                }
                // Its own report, and bounds on the minimum that agree with Newton's method.
                assert!(
                    (found.problems[k].primal / primal - 1.0).abs() < 1e-12,
                    "{} {primal}",
                    found.problems[k].primal
                );
                assert!(
                    found.problems[k].gap() <= 1e-4
                        && found.problems[k].dual <= truth.problems[k].primal * (1.0 + 1e-6)
                );
                assert!(found.problems[k].primal >= truth.problems[k].dual * (1.0 - 1e-6));
                assert!((b - truth.intercepts[k]).abs() < 0.03, "{b} {}", truth.intercepts[k]);
            }
        }
    }
}

#[test]
fn a_start_saves_epochs_and_rows_without_cost_are_ignored() {
    let (mut rows, codes) = sparse_rows(600, D, 9);
    let targets = OneVsRest::new(&codes, 9);
    for intercept in INTERCEPTS {
        let costs = vec![0.05; 600];
        let problem = squared(targets, &costs, intercept);
        let solve = |rows: &CsrMatrix<f32>, problem: LinearProblem<'_>, start: Option<&[f32]>| {
            solve_sparse(rows, problem, start, &sparse_settings(1e-3, 1), &Monitor::none()).unwrap()
        };
        let all = solve(&rows, problem, None);
        let start: Vec<f32> = all.alphas.iter().map(|alpha| *alpha as f32).collect();
        let rest: Vec<f64> = (0..600).map(|row| if row % 10 == 0 { 0.0 } else { 0.06 }).collect();
        let problem = LinearProblem { costs: &rest, ..problem };
        let (cold, warm) = (solve(&rows, problem, None), solve(&rows, problem, Some(&start)));
        let epochs =
            |solution: &LinearDualSolution| solution.problems.iter().map(|problem| problem.iterations).sum::<u32>();
        assert!(cold.is_solved() && warm.is_solved() && epochs(&warm) < epochs(&cold), "{intercept}");
        for k in 0..9 {
            assert!(
                warm.problems[k].primal >= cold.problems[k].dual && cold.problems[k].primal >= warm.problems[k].dual
            );
            assert!((0..600).step_by(10).all(|row| warm.alphas[k * 600 + row] == 0.0));
        }
        let before = warm.weights;
        (0..600).step_by(10).for_each(|row| {
            let range = rows.indptr[row]..rows.indptr[row + 1];
            rows.values[range].iter_mut().for_each(|x| *x *= 1.5);
        });
        // A free intercept's constant is the mean size of the rows that count.
        let problem = squared(targets, &rest, intercept);
        assert_eq!(solve(&rows, problem, Some(&start)).weights, before);
    }
}

#[test]
fn reports_no_convergence_at_a_large_c() {
    let (rows, codes) = sparse_rows(400, D, 3);
    let targets = OneVsRest::new(&codes, 3);
    let costs = vec![1e6; 400];
    let problem = squared(targets, &costs, Intercept::Free);
    let found = solve_sparse(&rows, problem, None, &sparse_settings(1e-6, 1), &Monitor::none()).unwrap();
    assert!(!found.is_solved() && (0..3).any(|k| found.problems[k].gap() > 1e-6));
    assert_eq!(found.problems.iter().map(|problem| problem.iterations).max(), Some(SPARSE_EPOCHS));
}
