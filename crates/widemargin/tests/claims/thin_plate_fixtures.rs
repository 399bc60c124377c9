//! The thin plate SVM against values solved in 40-digit arithmetic by an independent program.

use crate::thin_plate_common::{alpha, kernel, read_csv, read_labeled, relative, view};
use serde_json::Value;
use widemargin::model::ThinPlateParams;
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::Status;
use widemargin::solve::thin_plate::Polynomials;

fn expected() -> Value {
    let path = format!("{}/tests/data/cpd_expected.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn named(name: &str) -> ConditionalKernel {
    kernel(match name {
        "tps" => "thin-plate",
        "tps2" => "thin-plate:order=3",
        "r" => "distance",
        "pow:1.5" => "polyharmonic:exponent=1.5",
        "r3" => "cubic",
        "r5" => "polyharmonic:exponent=5",
        other => panic!("{other}"),
    })
}

fn close(ours: f64, truth: f64, tolerance: f64) {
    assert!((ours - truth).abs() <= tolerance * truth.abs(), "{ours} {truth}");
}

#[test]
fn kernel_values() {
    for case in expected()["kernel_values"]["values"].as_array().unwrap() {
        let kernel = named(case["kernel"].as_str().unwrap());
        let (r, truth) = (case["r"].as_f64().unwrap(), case["value"].as_f64().unwrap());
        close(kernel.value(r), truth, 1e-12);
        // And as a block between two points at this distance.
        let mut block = [0.0];
        kernel.block(&[r, 1.0], &[0.0, 1.0], 2, &mut block);
        if truth.abs() > 1e-300 {
            close(block[0], truth, 1e-12);
        }
    }
}

#[test]
fn definition_5_1() {
    for case in expected()["definition_5_1"]["values"].as_array().unwrap() {
        let whole = |name: &str| case[name].as_u64().unwrap() as u32;
        let kernel = ConditionalKernel::Spline { order: whole("m"), dims: whole("d") };
        kernel.check().unwrap();
        close(kernel.value(case["r"].as_f64().unwrap()), case["value"].as_f64().unwrap(), 1e-12);
        assert_eq!(kernel.degree(), Some(whole("polynomial_degree")));
    }
}

#[test]
fn solved_problems() {
    for case in expected()["problems"].as_array().unwrap() {
        let (values, d, labels, signs) = read_labeled(case["file"].as_str().unwrap());
        let test: Vec<f64> = read_csv(case["test_file"].as_str().unwrap()).concat();
        let lambda = case["lam"].as_f64().unwrap();
        let c = 0.5 / lambda;
        let params = ThinPlateParams::new(named(case["kernel"].as_str().unwrap())).c(c).polynomials(Polynomials::Free);
        let model = params.fit(&view(&values, d), &labels).unwrap();
        let report = model.report();
        assert_eq!(report.status, Status::Converged);
        assert!(report.warnings.is_empty() && report.gap() <= 1e-8, "{report:?}");
        assert!(report.max_iterations() <= 15);
        close(report.objective, c * case["objective"].as_f64().unwrap(), 1e-8);

        let violators: Vec<u64> = case["violators"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect();
        // They are stored in an order of their content.
        let mut basis_rows = model.basis_rows().to_vec();
        basis_rows.sort_unstable();
        assert_eq!(basis_rows, violators);
        let ours = alpha(&model, signs.len());
        assert!(relative(&numbers(&case["alpha"]), &ours) <= 1e-6);

        let decisions = model.decision_values(&view(&test, d), 1).unwrap();
        for (ours, truth) in decisions.iter().zip(numbers(&case["decision_test"])) {
            assert!((ours - truth).abs() <= 1e-6, "{ours} {truth}");
        }
        let left_out: Vec<f64> = model.loo_values().iter().zip(&signs).map(|(f, sign)| f * sign).collect();
        for (ours, truth) in left_out.iter().zip(numbers(&case["loo_margin_closed_form"])) {
            assert!((ours - truth).abs() <= 1e-6, "{ours} {truth}");
        }
        // Those of the closed form; `loo_error` is that of refits, in which others may cross the margin.
        let errors = left_out.iter().filter(|margin| **margin <= 0.0).count() as u64;
        assert_eq!(errors, case["loo_errors"].as_u64().unwrap());
        assert!(model.path()[0].loo_exact);
    }
}

#[test]
fn the_printed_stop_rule_stops_too_early_and_ours_does_not() {
    let case = &expected()["premature_stop"];
    let (values, d, labels, _) = read_labeled(case["file"].as_str().unwrap());
    let c = 0.5 / case["lam"].as_f64().unwrap();
    let params = ThinPlateParams::new(named(case["kernel"].as_str().unwrap())).c(c).polynomials(Polynomials::Free);
    let model = params.fit(&view(&values, d), &labels).unwrap();
    assert_eq!(model.report().status, Status::Converged);
    close(model.report().objective, c * case["optimal_objective"].as_f64().unwrap(), 1e-6);
    assert_eq!(model.basis_rows().len() as u64, case["n_violators"].as_u64().unwrap());
}
