//! The thin plate SVM against the full optimality system solved by elimination.

use crate::thin_plate_common::{alpha, blobs, eliminate, gram, kernel, view};
use widemargin::data::Labels;
use widemargin::model::{ThinPlateParams, ThinPlateSvc};
use widemargin::solve::Status;
use widemargin::solve::thin_plate::Polynomials;

const KERNELS: [(&str, usize); 9] = [
    ("thin-plate", 1),
    ("thin-plate:order=3", 2),
    ("distance", 0),
    ("cubic", 1),
    ("polyharmonic:exponent=2.5", 1),
    ("spline:order=2,dims=2", 1),
    ("cityblock", 0),
    ("log:gamma=0.3", 0),
    ("multiquadric:gamma=0.3", 0),
];

/// Kernels that are positive definite.
const DEFINITE: [&str; 3] = ["rbf:gamma=0.3", "laplacian:gamma=0.3", "inverse-multiquadric:gamma=0.3"];

/// The degree of no polynomial at all.
const NONE: usize = usize::MAX;

/// Monomials up to degree 2 of one sample.
fn monomials(row: &[f64], degree: usize) -> Vec<f64> {
    if degree == NONE {
        return Vec::new();
    }
    let mut all = vec![1.0];
    if degree >= 1 {
        all.extend(row);
    }
    if degree >= 2 {
        for (i, x) in row.iter().enumerate() {
            all.extend(row[i..].iter().map(|y| x * y));
        }
    }
    all
}

fn signs(labels: &[i64]) -> Vec<f64> {
    labels.iter().map(|label| if *label == 1 { 1.0 } else { -1.0 }).collect()
}

/// Largest violation of λα = y max(0, 1 − y f) over the training samples.
fn kkt(model: &ThinPlateSvc, values: &[f64], d: usize, signs: &[f64]) -> f64 {
    let f = model.decision_values(&view(values, d), 1).unwrap();
    let lambda = 0.5 / model.c();
    let pairs = alpha(model, signs.len()).into_iter().zip(signs).zip(f);
    pairs.map(|((a, y), f)| (lambda * a - y * (1.0 - y * f).max(0.0)).abs()).fold(0.0, f64::max)
}

#[test]
fn free_polynomials_solve_the_bordered_system() {
    for (spec, degree) in KERNELS.into_iter().chain(DEFINITE.map(|spec| (spec, NONE))) {
        for (d, c) in [(1, 0.5), (2, 100.0), (3, 5.0), (7, 1e4)] {
            let (values, labels) = blobs(160, d, 2, 11 + d as u64);
            let y = signs(&labels);
            let params = ThinPlateParams::new(kernel(spec)).c(c).polynomials(Polynomials::Free);
            let model = params.fit(&view(&values, d), &Labels::new(labels)).unwrap();
            let what = format!("{spec} d = {d} C = {c}: {:?}", model.report());
            assert_eq!(model.report().status, Status::Converged, "{what}");
            assert!(model.report().gap() <= 1e-8, "{what}");

            // The violators as the model has them: those of the system's own solution must be the same, which
            // makes it the minimum of a convex problem.
            let s: Vec<usize> = model.basis_rows().iter().map(|&row| row as usize).collect();
            let phi = gram(kernel(spec), &values, d);
            let p: Vec<Vec<f64>> = values.chunks(d).map(|row| monomials(row, degree)).collect();
            let (m, q, lambda) = (s.len(), p[0].len(), 0.5 / c);
            let mut system = vec![vec![0.0; m + q]; m + q];
            let mut right = vec![0.0; m + q];
            for (a, &i) in s.iter().enumerate() {
                for (b, &j) in s.iter().enumerate() {
                    system[a][b] = phi[i][j] + if a == b { lambda } else { 0.0 };
                }
                for k in 0..q {
                    system[a][m + k] = p[i][k];
                    system[m + k][a] = p[i][k];
                }
                right[a] = y[i];
            }
            let solution = eliminate(system, right);
            let (truth, beta) = solution.split_at(m);
            let f = |i: usize| -> f64 {
                let smooth: f64 = s.iter().zip(truth).map(|(&j, a)| a * phi[i][j]).sum();
                smooth + p[i].iter().zip(beta).map(|(p, b)| p * b).sum::<f64>()
            };
            let violators: Vec<usize> = (0..y.len()).filter(|&i| y[i] * f(i) < 1.0).collect();
            let mut basis_rows = s.clone();
            basis_rows.sort_unstable();
            assert_eq!(violators, basis_rows, "{what}");
            let penalty: f64 = s
                .iter()
                .zip(truth)
                .map(|(&i, a)| a * s.iter().zip(truth).map(|(&j, b)| b * phi[i][j]).sum::<f64>())
                .sum();
            let loss: f64 = s.iter().map(|&i| (1.0 - y[i] * f(i)).powi(2)).sum();
            let objective = 0.5 * penalty + c * loss;
            assert!((model.report().objective - objective).abs() <= 1e-8 * objective, "{objective} {what}");
            let ours = alpha(&model, y.len());
            let size = truth.iter().map(|a| a * a).sum::<f64>().sqrt();
            for (&i, a) in s.iter().zip(truth) {
                assert!((ours[i] - a).abs() <= 1e-6 * size, "{what}");
            }
            let moments = s.iter().fold(vec![0.0; q], |mut sums, &i| {
                sums.iter_mut().zip(&p[i]).for_each(|(sum, p)| *sum += ours[i] * p);
                sums
            });
            assert!(moments.iter().all(|moment| moment.abs() <= 1e-10 * size), "{moments:?} {what}");
            assert!(kkt(&model, &values, d, &y) <= 1e-8, "{what}");
        }
    }
}

#[test]
fn without_polynomials_it_is_an_svm_on_the_reduced_kernel() {
    for (spec, degree) in KERNELS {
        for (polynomials, d) in
            [(Polynomials::None, 2), (Polynomials::Constant, 2), (Polynomials::None, 5), (Polynomials::Constant, 5)]
        {
            let (values, labels) = blobs(70, d, 2, 5);
            let y = signs(&labels);
            let (n, c) = (y.len(), 3.0);
            let params = ThinPlateParams::new(kernel(spec)).c(c).polynomials(polynomials);
            let model = params.fit(&view(&values, d), &Labels::new(labels)).unwrap();
            let what = format!("{spec} {polynomials} d = {d}: {:?}", model.report());
            assert!(model.report().gap() <= 1e-8, "{what}");

            // K₀ = Φ − P(PᵀΦ⁻¹P)⁻¹Pᵀ, as printed.
            let phi = gram(kernel(spec), &values, d);
            let p: Vec<Vec<f64>> = values.chunks(d).map(|row| monomials(row, degree)).collect();
            let q = p[0].len();
            let columns: Vec<Vec<f64>> =
                (0..q).map(|k| eliminate(phi.clone(), p.iter().map(|row| row[k]).collect())).collect();
            let mut middle = vec![vec![0.0; q]; q];
            for a in 0..q {
                for b in 0..q {
                    middle[a][b] = (0..n).map(|i| p[i][a] * columns[b][i]).sum();
                }
            }
            let reduced: Vec<Vec<f64>> = (0..n)
                .map(|i| {
                    let part = eliminate(middle.clone(), p[i].clone());
                    (0..n).map(|j| phi[i][j] - (0..q).map(|k| part[k] * p[j][k]).sum::<f64>()).collect()
                })
                .collect();

            let f = model.decision_values(&view(&values, d), 1).unwrap();
            let s: Vec<usize> = (0..n).filter(|&i| y[i] * f[i] < 1.0).collect();
            let free = usize::from(polynomials == Polynomials::Constant);
            let m = s.len();
            let mut system = vec![vec![0.0; m + free]; m + free];
            let mut right = vec![0.0; m + free];
            for (a, &i) in s.iter().enumerate() {
                for (b, &j) in s.iter().enumerate() {
                    system[a][b] = reduced[i][j] + if a == b { 0.5 / c } else { 0.0 };
                }
                if free == 1 {
                    system[a][m] = 1.0;
                    system[m][a] = 1.0;
                }
                right[a] = y[i];
            }
            let solution = eliminate(system, right);
            let truth = |i: usize| -> f64 {
                let smooth: f64 = s.iter().zip(&solution).map(|(&j, v)| v * reduced[i][j]).sum();
                smooth + if free == 1 { solution[m] } else { 0.0 }
            };
            for i in 0..n {
                assert!((f[i] - truth(i)).abs() <= 1e-6, "{i}: {} {} {what}", f[i], truth(i));
                assert_eq!(s.contains(&i), y[i] * truth(i) < 1.0, "{what}");
            }
            let penalty: f64 =
                s.iter().zip(&solution).map(|(&i, v)| v * (truth(i) - if free == 1 { solution[m] } else { 0.0 })).sum();
            let objective = 0.5 * penalty + c * s.iter().map(|&i| (1.0 - y[i] * truth(i)).powi(2)).sum::<f64>();
            assert!((model.report().objective - objective).abs() <= 1e-8 * objective, "{objective} {what}");
        }
    }
}
