use super::*;
use crate::problem::{Block, LinearObjective, Loss};
use crate::solve::newton::{self, NewtonSettings};

/// Rows with about one in twenty of the features, of classes that prefer some of them.
fn rows(n: usize, d: usize, n_classes: usize) -> (CsrMatrix<f32>, Vec<u32>) {
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

const D: usize = 300;

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::Penalized, Intercept::None];

#[test]
fn the_solution_is_that_of_newtons_method() {
    for (n_classes, c) in [(2, 0.02), (3, 0.1), (11, 0.05)] {
        let (rows, codes) = rows(400, D, n_classes);
        let targets = OneVsRest::new(&codes, n_classes);
        let costs: Vec<f64> =
            (0..400).map(|row| if row % 7 == 0 { 0.0 } else { c * (1.0 + (row % 3) as f64) }).collect();
        for intercept in INTERCEPTS {
            let problem = SparseDual { rows: &rows, targets, costs: &costs, intercept, tol: 1e-4, seed: 3 };
            let pool = |threads| Pool::new(threads).unwrap();
            let found = problem.solve(None, &pool(1), &Monitor::none()).unwrap();
            assert!(found.is_solved, "{n_classes} classes, {intercept}: {:?}", found.epochs);
            let again = problem.solve(None, &pool(3), &Monitor::none()).unwrap();
            assert_eq!((&again.weights, &again.intercepts), (&found.weights, &found.intercepts));
            let block = Block::Sparse(rows.view().unwrap());
            let loss = Loss::SquaredHinge;
            let mut objective = LinearObjective::new(&[block], targets, &costs, loss, intercept, 1).unwrap();
            let settings = NewtonSettings { tol: 1e-7, threads: 1, ..NewtonSettings::default() };
            let truth = newton::solve(&mut objective, &settings, None, &Monitor::none()).unwrap();
            for k in 0..targets.n_problems() {
                let (weights, b) = (&found.weights[k * D..(k + 1) * D], found.intercepts[k]);
                let mut primal = 0.5 * weights.iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
                if intercept == Intercept::Penalized {
                    primal += 0.5 * b * b;
                }
                for (row, cost) in costs.iter().enumerate() {
                    let score: f64 = problem.row(row).map(|(feature, x)| x * f64::from(weights[feature])).sum();
                    primal += cost * (1.0 - targets.sign(row, k) * (score + b)).max(0.0).powi(2);
                }
                // Its own report, and bounds on the minimum that agree with Newton's method.
                assert!((found.primal[k] / primal - 1.0).abs() < 1e-12, "{} {primal}", found.primal[k]);
                assert!(found.gap(k) <= 1e-4 && found.dual[k] <= truth.primal[k] * (1.0 + 1e-6));
                assert!(found.primal[k] >= truth.dual[k] * (1.0 - 1e-6));
                assert!((b - truth.intercepts[k]).abs() < 0.03, "{b} {}", truth.intercepts[k]);
            }
        }
    }
}

#[test]
fn a_start_saves_epochs_and_rows_without_cost_are_ignored() {
    let (mut rows, codes) = rows(600, D, 9);
    let targets = OneVsRest::new(&codes, 9);
    for intercept in INTERCEPTS {
        let costs = vec![0.05; 600];
        let problem = SparseDual { rows: &rows, targets, costs: &costs, intercept, tol: 1e-3, seed: 0 };
        let solve = |problem: &SparseDual<'_>, start: Option<&[f32]>| {
            problem.solve(start, &Pool::new(1).unwrap(), &Monitor::none()).unwrap()
        };
        let all = solve(&problem, None);
        let rest: Vec<f64> = (0..600).map(|row| if row % 10 == 0 { 0.0 } else { 0.06 }).collect();
        let problem = SparseDual { costs: &rest, ..problem };
        let (cold, warm) = (solve(&problem, None), solve(&problem, Some(&all.alphas)));
        let epochs = |solution: &SparseDualSolution| solution.epochs.iter().sum::<u32>();
        assert!(cold.is_solved && warm.is_solved && epochs(&warm) < epochs(&cold), "{intercept}");
        for k in 0..9 {
            assert!(warm.primal[k] >= cold.dual[k] && cold.primal[k] >= warm.dual[k]);
            assert!((0..600).step_by(10).all(|row| warm.alphas[k * 600 + row] == 0.0));
        }
        let before = warm.weights;
        (0..600).step_by(10).for_each(|row| {
            let range = rows.indptr[row]..rows.indptr[row + 1];
            rows.values[range].iter_mut().for_each(|x| *x *= 1.5);
        });
        // A free intercept's constant is the mean size of the rows that count.
        let problem = SparseDual { rows: &rows, targets, costs: &rest, intercept, tol: 1e-3, seed: 0 };
        assert_eq!(solve(&problem, Some(&all.alphas)).weights, before);
    }
}

#[test]
fn reports_no_convergence_at_a_large_c() {
    let (rows, codes) = rows(400, D, 3);
    let targets = OneVsRest::new(&codes, 3);
    let costs = vec![1e6; 400];
    let problem = SparseDual { rows: &rows, targets, costs: &costs, intercept: Intercept::Free, tol: 1e-6, seed: 0 };
    let found = problem.solve(None, &Pool::new(1).unwrap(), &Monitor::none()).unwrap();
    assert!(!found.is_solved && (0..3).any(|k| found.gap(k) > 1e-6));
    assert_eq!(found.epochs.iter().max(), Some(&MAX_EPOCHS));
}
