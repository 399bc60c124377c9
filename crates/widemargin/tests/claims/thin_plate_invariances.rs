//! The classifier is invariant to translation and rotation of the data, and, with C rescaled, to their scale.

use crate::thin_plate_common::{blobs, kernel, relative, rotation, view};
use proptest::prelude::*;
use widemargin::data::Labels;
use widemargin::model::{Standardize, ThinPlateParams};
use widemargin::solve::thin_plate::Polynomials;

fn decisions(spec: &str, values: &[f64], d: usize, labels: &[i64], c: f64, polynomials: Polynomials) -> Vec<f64> {
    let n = labels.len();
    let params = ThinPlateParams::new(kernel(spec)).c(c).polynomials(polynomials).threads(1);
    let model = params.fit(&view(&values[..n * d], d), &Labels::new(labels.iter().copied())).unwrap();
    model.decision_values(&view(values, d), 1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn translation_rotation_and_dilation(
        seed in 0u64..1_000_000,
        d in 1usize..=20,
        at in 0usize..4,
        constant in any::<bool>(),
        log_c in -1.0f64..2.0,
        shift in -100.0f64..100.0,
        log_scale in -4.0f64..4.0,
    ) {
        let spec = ["thin-plate", "distance", "cubic", "polyharmonic:exponent=2.5"][at];
        let polynomials = if constant { Polynomials::Constant } else { Polynomials::Free };
        let n = 60 + 2 * d;
        // The last samples are for decisions only.
        let (values, labels) = blobs(n + 20, d, 2, seed);
        let labels = &labels[..n];
        let c = 10f64.powf(log_c);
        let truth = decisions(spec, &values, d, labels, c, polynomials);

        let shifted: Vec<f64> = values.iter().enumerate().map(|(i, x)| x + shift * (1.0 + (i % d) as f64)).collect();
        let moved = relative(&truth, &decisions(spec, &shifted, d, labels, c, polynomials));
        prop_assert!(moved <= 1e-8, "translation {} d = {}: {}", spec, d, moved);

        let turn = rotation(d, seed);
        let turned: Vec<f64> = values
            .chunks(d)
            .flat_map(|row| turn.chunks(d).map(|axis| axis.iter().zip(row).map(|(a, x)| a * x).sum::<f64>()).collect::<Vec<_>>())
            .collect();
        let moved = relative(&truth, &decisions(spec, &turned, d, labels, c, polynomials));
        prop_assert!(moved <= 1e-8, "rotation {} d = {}: {}", spec, d, moved);

        let scale = 10f64.powf(log_scale);
        let stretched: Vec<f64> = values.iter().map(|x| x * scale).collect();
        let b = kernel(spec).dilation_exponent().unwrap();
        let moved = relative(&truth, &decisions(spec, &stretched, d, labels, c * scale.powf(-b), polynomials));
        prop_assert!(moved <= 1e-8, "dilation {} d = {} by {}: {}", spec, d, scale, moved);
    }
}

#[test]
fn the_choice_of_c_does_not_notice_either() {
    let (d, n) = (3, 120);
    let (values, labels) = blobs(n, d, 2, 77);
    let labels = Labels::new(labels);
    let fit =
        |values: &[f64]| ThinPlateParams::new(kernel("thin-plate")).threads(1).fit(&view(values, d), &labels).unwrap();
    let model = fit(&values);
    let scaled = fit(&values.iter().map(|x| 1e4 * x + 3e5).collect::<Vec<_>>());
    assert!((model.lambda() - scaled.lambda()).abs() <= 1e-9 * model.lambda());
    assert!((model.c() - scaled.c() * 1e8).abs() <= 1e-6 * model.c());
    assert_eq!(model.path().len(), scaled.path().len());
}

/// Decision values with automatic C, and an automatic kernel unless it is fixed.
fn selected(values: &[f64], d: usize, labels: &[i64], spec: Option<&str>, standardize: Standardize) -> Vec<f64> {
    let params = ThinPlateParams::new(kernel(spec.unwrap_or("distance"))).standardize(standardize).threads(1);
    let params = if spec.is_none() { params.kernel_auto() } else { params };
    let samples = view(values, d);
    params.fit(&samples, &Labels::new(labels.iter().copied())).unwrap().decision_values(&samples, 1).unwrap()
}

#[test]
fn rotation_makes_no_difference_to_euclidean_distances_of_columns_as_they_are() {
    let (d, n) = (4, 150);
    let (mut values, labels) = blobs(n, d, 2, 5);
    // Columns of two units.
    values.iter_mut().skip(1).step_by(2).for_each(|x| *x *= 20.0);
    let turn = rotation(d, 5);
    let turned: Vec<f64> = values
        .chunks(d)
        .flat_map(|row| turn.chunks(d).map(move |axis| axis.iter().zip(row).map(|(a, x)| a * x).sum::<f64>()))
        .collect();
    let moved: Vec<f64> = values.iter().enumerate().map(|(at, x)| 1000.0 * x + (at % d) as f64 * 500.0).collect();
    let change = |to: &[f64], spec, standardize| {
        relative(&selected(&values, d, &labels, spec, standardize), &selected(to, d, &labels, spec, standardize))
    };
    // At defaults the axes matter, which city block and standardized columns depend on.
    for (spec, standardize) in
        [(None, Standardize::Auto), (Some("cityblock"), Standardize::No), (Some("distance"), Standardize::Yes)]
    {
        assert!(change(&turned, spec, standardize) > 1e-2, "{spec:?} {standardize:?}");
        let error = change(&moved, spec, standardize);
        assert!(error <= 1e-8, "{spec:?} {standardize:?}: {error}");
    }
    for spec in ["distance", "thin-plate", "cubic"] {
        for to in [&turned, &moved] {
            let error = change(to, Some(spec), Standardize::No);
            assert!(error <= 1e-8, "{spec}: {error}");
        }
    }
}
