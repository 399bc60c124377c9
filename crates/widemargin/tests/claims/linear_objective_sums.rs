//! The sums of an objective over its rows: gradients by finite differences, Hessian products and Gram matrices by
//! their formulas, lines by their definition.

use crate::linear_common::{Case, INTERCEPTS, LOSSES};
use widemargin::problem::{
    Active, Diagonal, GradientAt, GramAt, HessianProduct, Intercept, Line, LineSearch, SetDirection, SetPoint,
};

/// Points of all problems, some way from 0.
fn points(case: &Case) -> Vec<f64> {
    let n = case.targets().n_problems() * (case.n_features + 1);
    (0..n).map(|i| ((i * 37 + 11) % 19) as f64 / 50.0 - 0.2).collect()
}

fn close(found: f64, right: f64, scale: f64) {
    assert!((found - right).abs() <= 1e-5 * scale, "{found} instead of {right}");
}

#[test]
fn gradients_products_and_lines() {
    for (d, classes) in [(1, 2), (7, 3), (40, 9)] {
        for loss in LOSSES {
            let mut case = Case::new(600, d, classes, 0.3, 5);
            case.loss = loss;
            case.costs.iter_mut().enumerate().for_each(|(i, c)| *c *= (i % 4) as f64);
            let (m, k) = (d + 1, case.targets().n_problems());
            let all = points(&case);
            // Every second problem, to hold the order of `live`.
            let live: Vec<usize> = (0..k).rev().step_by(2).collect();
            let mine: Vec<f64> = live.iter().flat_map(|&k| &all[k * m..(k + 1) * m]).copied().collect();
            let directions: Vec<f64> = mine.iter().map(|w| 0.3 - w).collect();
            let intercepts: Vec<f64> = mine.chunks(m).map(|point| point[d]).collect();
            let mut objective = case.objective(1);
            objective.ask(&SetPoint { live: live.clone(), points: mine.clone() }).unwrap();
            objective.ask(&SetDirection { live: live.clone(), directions: directions.clone() }).unwrap();
            let at = GradientAt { live: live.clone(), intercepts: intercepts.clone() };
            let gradient = objective.ask(&at).unwrap();
            let GradientAt { live: to, intercepts: from } = at.clone();
            let product = HessianProduct { live: to, intercepts: from, directions: directions.clone() };
            let products = objective.ask(&product).unwrap();
            let line = |&intercept: &f64| Line { intercept, step: 0.7, along: 1.0, turn: 0.1 };
            let lines = intercepts.iter().map(line).collect();
            let lines = objective.ask(&LineSearch { live: live.clone(), lines }).unwrap();
            for (at, &k) in live.iter().enumerate() {
                let (point, direction) = (&mine[at * m..(at + 1) * m], &directions[at * m..(at + 1) * m]);
                let penalty = 0.5 * point[..d].iter().map(|w| w * w).sum::<f64>();
                let value = case.value(k, point);
                close(gradient.sums[at].value, value - penalty, value);
                for j in 0..m {
                    let moved = |h: f64| {
                        let mut moved = point.to_vec();
                        moved[j] += h;
                        case.value(k, &moved) - if j < d { 0.5 * moved[j] * moved[j] } else { 0.0 }
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    close(gradient.slopes[at * m + j], slope, value);
                }
                let (_, hessian) = case.derivatives(k, point);
                for j in 0..m {
                    let right: f64 = (0..m).map(|l| hessian[j * m + l] * direction[l]).sum();
                    let right = right - if j < d { direction[j] } else { 0.0 };
                    close(products[at * m + j], right, value);
                }
                let end = |t: f64| -> f64 {
                    let moved = point.iter().zip(direction).map(|(w, d)| w + t * d);
                    let mut moved: Vec<f64> = moved.collect();
                    moved[d] = point[d] + 0.1 * t;
                    case.value(k, &moved) - 0.5 * moved[..d].iter().map(|w| w * w).sum::<f64>()
                };
                close(lines[at].value, end(0.7), value);
                close(lines[at].slope, (end(0.7 + 1e-5) - end(0.7 - 1e-5)) / 2e-5, 10.0 * value);
            }
            // Advancing is the same as placing at the other end.
            objective.take_step(&live, &vec![0.5; live.len()]).unwrap();
            let moved: Vec<f64> = mine.iter().zip(&directions).map(|(w, d)| w + 0.5 * d).collect();
            let advanced = objective.ask(&at).unwrap();
            objective.ask(&SetPoint { live, points: moved }).unwrap();
            let placed = objective.ask(&at).unwrap();
            for (a, b) in advanced.sums.iter().zip(&placed.sums) {
                close(a.value, b.value, b.value);
            }
        }
    }
}

#[test]
fn gram_and_diagonal_are_those_of_the_mean_hessian() {
    for (n, d, weighted) in [(300, 1, true), (300, 30, false), (270, 600, true)] {
        let mut case = Case::new(n, d, 3, 0.3, 8);
        case.intercept = Intercept::Penalized;
        if weighted {
            case.costs.iter_mut().enumerate().for_each(|(i, c)| *c *= (i % 3) as f64);
        }
        let (m, all) = (d + 1, points(&case));
        let small: Vec<f64> = all.iter().map(|w| w / d as f64).collect();
        let mut objective = case.objective(2);
        let live = vec![0, 1, 2];
        let intercepts: Vec<f64> = small.chunks(m).map(|point| point[d]).collect();
        objective.ask(&SetPoint { live: live.clone(), points: small.clone() }).unwrap();
        let gram = objective.ask(&GramAt { live: live.clone(), intercepts: intercepts.clone() }).unwrap().unwrap();
        let diagonal = objective.ask(&Diagonal { live, intercepts }).unwrap();
        let mut right = vec![0.0; m * m];
        for (k, point) in small.chunks(m).enumerate() {
            let (_, hessian) = case.derivatives(k, point);
            right.iter_mut().zip(hessian).for_each(|(sum, h)| *sum += h / 3.0);
        }
        let scale = right[m * m - 1];
        for i in 0..m {
            right[i * m + i] -= 1.0;
            close(diagonal[i], right[i * m + i], scale);
            for j in 0..=i {
                let found = match (i == d, j == d) {
                    (false, false) => f64::from(gram.lower[i * d + j]),
                    (true, false) => gram.column[j],
                    _ => gram.corner,
                };
                close(found, right[i * m + j], scale);
            }
        }
    }
}

#[test]
fn active_rows_make_each_hessian() {
    let mut case = Case::new(300, 12, 3, 0.3, 8);
    case.costs.iter_mut().enumerate().for_each(|(i, c)| *c *= (i % 3) as f64);
    let (m, all) = (13, points(&case));
    let mut objective = case.objective(1);
    objective.ask(&SetPoint { live: vec![0, 1, 2], points: all.clone() }).unwrap();
    let mut active_rows = |k, intercept, most| objective.ask(&Active { k, intercept, most }).unwrap();
    for (k, point) in all.chunks(m).enumerate() {
        let is_active = |&i: &usize| case.costs[i] > 0.0 && case.margin(i, k, point) < 1.0;
        let n = (0..300).filter(is_active).count();
        assert!(n > 20 && active_rows(k, point[12], n - 1).is_none());
        let active = active_rows(k, point[12], n).unwrap();
        assert_eq!((active.curvatures.len(), active.rows.len()), (n, n * m));
        let (_, hessian) = case.derivatives(k, point);
        let scale = hessian[m * m - 1];
        for i in 0..m {
            for j in 0..m {
                let rows = active.rows.chunks(m).zip(&active.curvatures);
                let found: f64 = rows.map(|(row, h)| h * row[i] * row[j]).sum();
                close(found, hessian[i * m + j] - f64::from(i == j && i < 12), scale);
            }
        }
    }
}

#[test]
fn penalties_do_not_enter_the_sums() {
    let case = Case::new(50, 4, 3, 1.0, 1);
    for intercept in INTERCEPTS {
        let case = Case { intercept, ..case.clone() };
        let mut objective = case.objective(1);
        objective.ask(&SetPoint { live: vec![0], points: vec![0.0; 5] }).unwrap();
        let sums = objective.ask(&GradientAt { live: vec![0], intercepts: vec![0.0] }).unwrap().sums[0];
        assert_eq!((sums.value, sums.dual_norm, sums.n_support), (50.0, 100.0, 50));
    }
}
