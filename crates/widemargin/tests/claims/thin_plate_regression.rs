//! The smoothing spline against the full system solved by elimination, and errors for invalid input.

use crate::thin_plate_common::{eliminate, gram, kernel, view};
use widemargin::data::Targets;
use widemargin::model::{ThinPlateBasis, ThinPlateRegressorParams};
use widemargin::monitor::Monitor;

const D: usize = 2;

/// Rows without structure, the last at the place of the first, and a target that bends.
fn case(n: usize) -> (Vec<f64>, Vec<f64>) {
    let noise = |at: usize| ((at as f64 * 12.9898).sin() * 43758.5453).fract();
    let mut values: Vec<f64> = (0..n * D).map(|at| 2.0 * noise(at + 1)).collect();
    values.copy_within(0..D, (n - 1) * D);
    let target =
        |row: usize| (2.0 * values[row * D]).sin() + values[row * D + 1].powi(2) + 0.1 * noise(row + 7000) + 40.0;
    let targets = (0..n).map(target).collect();
    (values, targets)
}

/// f at the samples: (Φ + λW⁻¹)α + Pβ = y, Pᵀα = 0 of the samples with weights, by elimination.
fn truth(spec: &str, degree: usize, values: &[f64], y: &[f64], weights: &[f64], c: f64) -> Vec<f64> {
    let phi = gram(kernel(spec), values, D);
    let polynomials: Vec<Vec<f64>> =
        values.chunks(D).map(|row| if degree == 0 { vec![1.0] } else { vec![1.0, row[0], row[1]] }).collect();
    let some: Vec<usize> = (0..y.len()).filter(|&i| weights[i] > 0.0).collect();
    let (m, q) = (some.len(), polynomials[0].len());
    let mut system = vec![vec![0.0; m + q]; m + q];
    let mut right = vec![0.0; m + q];
    for (a, &i) in some.iter().enumerate() {
        some.iter().enumerate().for_each(|(b, &j)| system[a][b] = phi[i][j]);
        system[a][a] += 0.5 / c / weights[i];
        for k in 0..q {
            system[a][m + k] = polynomials[i][k];
            system[m + k][a] = polynomials[i][k];
        }
        right[a] = y[i];
    }
    let solution = eliminate(system, right);
    let (alpha, beta) = solution.split_at(m);
    let value = |i: usize| -> f64 {
        let smooth: f64 = some.iter().zip(alpha).map(|(&j, a)| a * phi[i][j]).sum();
        smooth + polynomials[i].iter().zip(beta).map(|(p, b)| p * b).sum::<f64>()
    };
    (0..y.len()).map(value).collect()
}

#[test]
fn predictions_are_those_of_the_full_system() {
    let (values, y) = case(25);
    let weights: Vec<f64> = (0..25).map(|i| [1.0, 2.0, 0.5][i % 3]).collect();
    let targets = Targets::single(y.clone()).unwrap();
    for (spec, degree) in [("distance", 0), ("cityblock", 0), ("thin-plate", 1), ("cubic", 1), ("rbf:gamma=0.5", 0)] {
        for c in [0.3, 30.0] {
            let params = ThinPlateRegressorParams::new(kernel(spec)).c(c);
            let model = params.fit_with(&view(&values, D), &targets, Some(&weights), &Monitor::none()).unwrap();
            let found = model.predict(&view(&values, D), 1).unwrap().values;
            let expected = truth(spec, degree, &values, &y, &weights, c);
            let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-7, "{spec} {c}: {off}");
        }
    }
}

#[test]
fn bases_at_all_places_are_exact() {
    // All places but one: the last sample shares that of the first.
    let (values, y) = case(40);
    let targets = Targets::single(y).unwrap();
    for spec in ["distance", "cubic"] {
        let params = ThinPlateRegressorParams::new(kernel(spec)).c(2.0);
        let exact = params.fit(&view(&values, D), &targets).unwrap();
        let bases = params.clone().n_basis(Some(39)).basis(ThinPlateBasis::Random);
        let model = bases.fit(&view(&values, D), &targets).unwrap();
        assert_eq!((model.n_bases(), exact.n_bases()), (39, 39));
        let (a, b) = (exact.predict(&view(&values, D), 1).unwrap(), model.predict(&view(&values, D), 1).unwrap());
        let off = a.values.iter().zip(&b.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{spec}: {off}");
        assert!((exact.path()[0].loo_r2 - model.path()[0].loo_r2).abs() < 1e-9, "{spec}");
        assert!((exact.lambda() / model.lambda() - 1.0).abs() < 1e-6, "{spec}");
    }
}

#[test]
fn rejects_wrong_samples_and_parameters() {
    let (values, y) = case(12);
    let params = ThinPlateRegressorParams::new(kernel("distance"));
    let refused = |params: &ThinPlateRegressorParams, n: usize, y: &[f64]| {
        params.fit(&view(&values[..n * D], D), &Targets::single(y.to_vec()).unwrap()).unwrap_err().to_string()
    };
    assert!(refused(&params.clone().memory_limit(1000), 12, &y).contains("bases"));
    // Three polynomials meet three samples.
    let cubic = ThinPlateRegressorParams::new(kernel("cubic"));
    let refused = refused(&cubic, 3, &y[..3]);
    assert!(
        refused.contains("nothing left to fit")
            && refused.contains("n_samples = 3")
            && refused.contains("polynomials of cubic"),
        "{refused}"
    );
    let constant = params.fit(&view(&values, D), &Targets::single(vec![2.5; 12]).unwrap()).unwrap();
    assert!(constant.report().warnings.iter().any(|warning| warning.contains("same target")));
    assert!(constant.predict(&view(&values, D), 1).unwrap().values.iter().all(|value| *value == 2.5));
}
