//! The same answer from copies and weights, from one thread and several, and from a file.

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Error;
use widemargin::data::{ClassWeight, Labels};
use widemargin::model::{PowerMeanSvc, ThinPlateParams, ThinPlateSvc, method_of};
use widemargin::monitor::Monitor;
use widemargin::solve::thin_plate::Polynomials;

#[test]
fn weights_are_copies_and_zero_is_absence() {
    let (d, n) = (3, 80);
    for classes in [2, 3] {
        let (values, labels) = blobs(n, d, classes, 31);
        let copies: Vec<usize> = (0..n).map(|i| [1, 2, 0, 3][i % 4]).collect();
        let weights: Vec<f64> = copies.iter().map(|c| *c as f64).collect();
        let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, copies[i])).collect();
        let copied: Vec<f64> = rows.iter().flat_map(|&i| values[i * d..(i + 1) * d].to_vec()).collect();
        let copied_labels = Labels::new(rows.iter().map(|&i| labels[i]));
        for (polynomials, class_weight) in [
            (Polynomials::Free, ClassWeight::Uniform),
            (Polynomials::Constant, ClassWeight::Uniform),
            (Polynomials::None, ClassWeight::Balanced),
        ] {
            for c in [None, Some(2.0)] {
                let mut params = ThinPlateParams::new(kernel("thin-plate")).polynomials(polynomials);
                params = params.class_weight(class_weight.clone());
                if let Some(c) = c {
                    params = params.c(c);
                }
                let labels = Labels::new(labels.clone());
                let weighted = params.fit_with(&view(&values, d), &labels, Some(&weights), &Monitor::none()).unwrap();
                let repeated = params.fit(&view(&copied, d), &copied_labels).unwrap();
                let what = format!("{polynomials} {c:?} {} {}", weighted.c(), repeated.c());
                assert!((weighted.c() - repeated.c()).abs() <= 1e-8 * repeated.c(), "{what}");
                let a = weighted.decision_values(&view(&values, d), 1).unwrap();
                let b = repeated.decision_values(&view(&values, d), 1).unwrap();
                assert!(relative(&a, &b) <= 1e-7, "{what}: {}", relative(&a, &b));
                let (a, b) = (weighted.report().objective, repeated.report().objective);
                assert!((a - b).abs() <= 1e-8 * a, "{what}: {a} {b}");
                for (a, b) in weighted.path().iter().zip(repeated.path()) {
                    let (a, b) = (a.loo_squared_hinge.unwrap(), b.loo_squared_hinge.unwrap());
                    assert!((a - b).abs() <= 1e-6 * a, "{what}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let (values, labels) = blobs(150, 4, 4, 2);
    let labels = Labels::new(labels);
    let fit = |threads: usize| {
        let model =
            ThinPlateParams::new(kernel("thin-plate")).threads(threads).fit(&view(&values, 4), &labels).unwrap();
        (
            model.coefficients().to_vec(),
            model.decision_values(&view(&values, 4), threads).unwrap(),
            model.path().to_vec(),
        )
    };
    assert_eq!(fit(1), fit(3));
}

#[test]
fn a_file_gives_back_the_model_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for (spec, classes) in [("thin-plate", 2), ("thin-plate:order=3", 2), ("distance", 3), ("rbf:gamma=0.5", 4)] {
        let (values, labels) = blobs(90, 3, classes, 14);
        let model = ThinPlateParams::new(kernel(spec)).fit(&view(&values, 3), &Labels::new(labels)).unwrap();
        model.save(&path).unwrap();
        let read = ThinPlateSvc::load(&path).unwrap();
        assert_eq!(model, read);
        let bits = |model: &ThinPlateSvc| -> Vec<u64> {
            model.decision_values(&view(&values, 3), 2).unwrap().iter().map(|f| f.to_bits()).collect()
        };
        assert_eq!(bits(&model), bits(&read));
        assert_eq!(method_of(&path).unwrap(), "thin-plate");
        assert!(matches!(PowerMeanSvc::load(&path), Err(Error::ModelFile { .. })));
    }
    // Cut short anywhere it is an error, never a panic.
    let bytes = std::fs::read(&path).unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert!(ThinPlateSvc::load(&path).is_err());
    }
}
