//! Standardized columns are the columns divided by hand; `auto` takes the scaling that leave-one-out prefers; many
//! samples go to bases where the caller wants that.

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Error;
use widemargin::data::Labels;
use widemargin::model::{Standardize, ThinPlateParams, ThinPlateSvc};
use widemargin::solve::thin_plate::Polynomials;

fn params(standardize: Standardize) -> ThinPlateParams {
    ThinPlateParams::new(kernel("thin-plate")).threads(1).standardize(standardize)
}

fn warned(model: &ThinPlateSvc, of: &str) -> bool {
    model.report().warnings.iter().any(|warning| warning.contains(of))
}

/// Each column divided by its standard deviation.
fn by_hand(values: &[f64], d: usize) -> Vec<f64> {
    let n = (values.len() / d) as f64;
    let column = |at: usize| values.iter().skip(at).step_by(d);
    let spread = |at: usize| {
        let mean = column(at).sum::<f64>() / n;
        (column(at).map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt()
    };
    let spreads: Vec<f64> = (0..d).map(spread).collect();
    values.iter().enumerate().map(|(at, x)| x / spreads[at % d]).collect()
}

#[test]
fn standardized_columns_are_those_divided_by_hand() {
    let d = 4;
    let (values, labels) = blobs(120, d, 3, 8);
    let labels = Labels::new(labels);
    let uneven: Vec<f64> = values.iter().enumerate().map(|(at, x)| x * [1.0, 1e3, 1e-3, 7.0][at % d] + 2.0).collect();
    let divided = by_hand(&uneven, d);
    let model = params(Standardize::Yes).fit(&view(&uneven, d), &labels).unwrap();
    let truth = params(Standardize::No).fit(&view(&divided, d), &labels).unwrap();
    let decisions = |model: &ThinPlateSvc, values: &[f64]| model.decision_values(&view(values, d), 1).unwrap();
    assert!(relative(&decisions(&truth, &divided), &decisions(&model, &uneven)) <= 1e-8);
    assert!(!warned(&model, "spread") && truth.scale().is_none() && model.scale().unwrap().len() == d);

    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("m")).unwrap();
    let read = ThinPlateSvc::load(folder.path().join("m")).unwrap();
    assert_eq!(model, read);
    assert_eq!(decisions(&model, &uneven), decisions(&read, &uneven));
}

#[test]
fn auto_selects_the_scaling_by_leave_one_out() {
    let d = 4;
    let (values, labels) = blobs(150, d, 2, 21);
    let labels = Labels::new(labels);
    let loss = |model: &ThinPlateSvc| {
        let all = model.path().iter().map(|point| point.loo_squared_hinge.unwrap());
        all.fold(f64::INFINITY, f64::min)
    };
    // A column that says nothing, in small units: as they are, the others drown in it; in large ones it is harmless.
    for (factor, at, standardized) in [(1e4, 2, true), (1e-4, 2, false)] {
        let noise: Vec<f64> = values.chunks(d).map(|row| (1e5 * row[0]).sin()).collect();
        let rows: Vec<f64> = values
            .chunks(d)
            .zip(&noise)
            .flat_map(|(row, noise)| (0..d).map(move |j| if j == at { factor * noise } else { row[j] }))
            .collect();
        let fit = |standardize| params(standardize).fit(&view(&rows, d), &labels).unwrap();
        let (auto, yes, no) = (fit(Standardize::Auto), fit(Standardize::Yes), fit(Standardize::No));
        assert_eq!(auto.scale().is_some(), standardized, "{:?}", auto.report().warnings);
        // Up to rounding: the two begin at other points.
        let least = loss(&yes).min(loss(&no));
        assert!((loss(&auto) - least).abs() < 1e-12 * least, "{} {least}", loss(&auto));
        let note = auto.report().notes.concat();
        assert!(note.contains("mean leave-one-out squared hinge on 150 samples: thin-plate "), "{note}");
        assert!(note.contains(", thin-plate standardized ") && warned(&no, "standardize them"), "{note}");
        assert!(warned(&auto, "leave-one-out"));
        // Losses at one C say nothing of two scalings.
        let fixed = params(Standardize::Auto).c(1.0).fit(&view(&rows, d), &labels).unwrap();
        assert!(fixed.scale().is_none() && warned(&fixed, "standardize them"));
    }
    let even = params(Standardize::Auto).fit(&view(&values, d), &labels).unwrap();
    assert!(even.scale().is_none() && even.report().warnings.is_empty());
}

#[test]
fn ignores_constant_columns() {
    let (values, labels) = blobs(60, 2, 2, 3);
    let labels = Labels::new(labels);
    let rows: Vec<f64> = values.chunks(2).flat_map(|row| [row[0], 5.0, row[1]]).collect();
    let model = params(Standardize::Yes).fit(&view(&rows, 3), &labels).unwrap();
    let other: Vec<f64> = values.chunks(2).flat_map(|row| [row[0], -1e6, row[1]]).collect();
    let decisions = |rows: &[f64]| model.decision_values(&view(rows, 3), 1).unwrap();
    assert_eq!(decisions(&rows), decisions(&other));
    assert!(warned(&model, "constant"));
}

#[test]
fn many_samples_use_bases_on_request() {
    let (values, labels) = blobs(1100, 2, 2, 5);
    let labels = Labels::new(labels);
    let params = params(Standardize::No).c(1.0);
    let model = params.clone().exact_up_to(1050).fit(&view(&values, 2), &labels).unwrap();
    assert_eq!(model.n_bases(), 1000);
    assert!(warned(&model, "1100 samples") && warned(&model, "MB: 1000 bases"), "{:?}", model.report().warnings);
    let requested = params.clone().exact_up_to(1050).n_basis(Some(20)).fit(&view(&values, 2), &labels).unwrap();
    assert_eq!((requested.n_bases(), requested.report().warnings.len()), (20, 0));
    assert!(!warned(&params.exact_up_to(1100).fit(&view(&values, 2), &labels).unwrap(), "bases"));
}

#[test]
fn a_tolerance_is_a_bound_and_names_its_domain() {
    let (values, labels) = blobs(200, 2, 2, 6);
    let labels = Labels::new(labels);
    let decisions = |tol: f64| {
        let model = params(Standardize::No)
            .polynomials(Polynomials::Free)
            .c(30.0)
            .tol(tol)
            .fit(&view(&values, 2), &labels)
            .unwrap();
        (model.decision_values(&view(&values, 2), 1).unwrap(), model.report().max_iterations())
    };
    let (exact, steps) = decisions(0.0);
    let (rough, fewer) = decisions(0.2);
    assert!(fewer <= steps && relative(&exact, &rough) < 0.2);
    assert!(relative(&exact, &decisions(1e-10).0) <= 1e-8);
    for tol in [-1.0, 1.0, f64::NAN] {
        let error = params(Standardize::No).tol(tol).fit(&view(&values, 2), &labels).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "tol", .. }), "{error}");
    }
    for name in ["auto", "yes", "no"] {
        assert_eq!(name.parse::<Standardize>().unwrap().to_string(), name);
    }
    assert!("maybe".parse::<Standardize>().is_err());
}
