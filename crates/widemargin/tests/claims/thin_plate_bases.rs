//! The thin plate SVM on bases: the same as the exact one where every sample is a basis, and near it where they are
//! fewer.

use std::collections::BTreeSet;

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Error;
use widemargin::data::Labels;
use widemargin::model::{ThinPlateBasis, ThinPlateParams, ThinPlateSvc};
use widemargin::solve::Status;
use widemargin::solve::thin_plate::Polynomials;

fn params(spec: &str) -> ThinPlateParams {
    ThinPlateParams::new(kernel(spec)).threads(1)
}

/// Samples whose second half repeats the first, some of them in another class (those of one class are merged): the
/// first half as bases is all there is.
fn doubled(n: usize, d: usize, classes: usize) -> (Vec<f64>, Labels) {
    let (mut values, mut labels) = blobs(n, d, classes, 17);
    values.extend(values.clone());
    let again: Vec<_> = (0..n).map(|i| labels[if i % 5 == 0 { (i + 1) % n } else { i }]).collect();
    labels.extend(again);
    (values, Labels::new(labels))
}

#[test]
fn with_all_places_as_bases_it_is_the_exact_solution() {
    for spec in ["thin-plate", "distance", "cubic", "rbf:gamma=0.4"] {
        for polynomials in [Polynomials::Free, Polynomials::Constant, Polynomials::None] {
            let (n, d) = (70, 3);
            let (values, labels) = doubled(n, d, 3);
            let params = params(spec).polynomials(polynomials).c(2.0);
            let exact = params.fit(&view(&values, d), &labels).unwrap();
            let bases = params.basis(ThinPlateBasis::Index).n_basis(Some(n));
            let model = bases.fit(&view(&values, d), &labels).unwrap();
            let what = format!("{spec} {polynomials} {:?}", model.report());
            // Of samples that are alike one is a basis.
            let distinct: BTreeSet<Vec<u64>> =
                values.chunks(d).map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
            assert_eq!((model.report().status, model.n_bases()), (Status::Converged, distinct.len()), "{what}");
            let (a, b) = (exact.report().objective, model.report().objective);
            assert!((a - b).abs() <= 1e-8 * a, "{a} {b} {what}");
            assert!(model.report().gap() <= 1e-7, "{what}");
            let decisions = |model: &ThinPlateSvc| model.decision_values(&view(&values, d), 1).unwrap();
            assert!(relative(&decisions(&exact), &decisions(&model)) <= 1e-6, "{what}");
            // Where polynomials are dropped, the exact model loses a function with a sample; a basis stays.
            if polynomials == Polynomials::Free {
                assert!(relative(exact.loo_values(), model.loo_values()) <= 1e-6, "{what}");
            }
            assert!((exact.lambda() - model.lambda()).abs() <= 1e-6 * exact.lambda(), "{what}");
        }
    }
}

#[test]
fn few_bases_do_nearly_as_well() {
    let (n, d) = (1200, 3);
    let (values, labels) = blobs(n, d, 3, 29);
    let labels = Labels::new(labels);
    let (train, test) = (view(&values[..800 * d], d), view(&values[800 * d..], d));
    let (of_train, of_test) =
        (labels.select(&(0..800).collect::<Vec<_>>()), labels.select(&(800..n).collect::<Vec<_>>()));
    let errors = |model: &ThinPlateSvc| {
        assert_eq!(model.report().status, Status::Converged, "{:?}", model.report());
        let predicted = model.predict(&test, 1).unwrap();
        predicted.iter().enumerate().filter(|(i, label)| **label != of_test.get(*i)).count()
    };
    let exact = errors(&params("thin-plate").fit(&train, &of_train).unwrap());
    for choice in [ThinPlateBasis::Index, ThinPlateBasis::Random, ThinPlateBasis::KMeans, ThinPlateBasis::KMedoids] {
        let params = params("thin-plate").basis(choice).n_basis(Some(60)).seed(1);
        let model = params.fit(&train, &of_train).unwrap();
        assert!(errors(&model) <= exact + 20, "{choice}: {} {exact}", errors(&model));
        let again = params.threads(3).fit(&train, &of_train).unwrap();
        assert_eq!((model.coefficients(), model.path()), (again.coefficients(), again.path()));
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path().join("m")).unwrap();
        assert_eq!(model, ThinPlateSvc::load(folder.path().join("m")).unwrap());
    }
}

#[test]
fn recomputed_features_are_those_in_memory() {
    // More than sixteen blocks, which are summed in parts.
    let (n, d) = (9000, 2);
    let (values, labels) = blobs(n, d, 2, 13);
    let labels = Labels::new(labels);
    for polynomials in [Polynomials::Free, Polynomials::Constant] {
        let params =
            params("thin-plate").polynomials(polynomials).c(0.1).n_basis(Some(25)).basis(ThinPlateBasis::Random);
        let in_memory = params.clone().fit(&view(&values, d), &labels).unwrap();
        assert!(in_memory.report().warnings.is_empty(), "{:?}", in_memory.report().warnings);
        // Just more than the minimum, and half of the rest.
        for bytes in [3_600_000, 4_600_000] {
            let model = params.clone().memory_limit(bytes).fit(&view(&values, d), &labels).unwrap();
            let note = model.report().warnings.concat();
            assert!(note.contains("recomputed at every pass"), "{note}");
            assert_eq!(
                (model.coefficients(), model.polynomial()),
                (in_memory.coefficients(), in_memory.polynomial()),
                "{note}"
            );
            assert_eq!((model.path(), model.loo_values()), (in_memory.path(), in_memory.loo_values()), "{note}");
        }
        let threads = params.threads(3).fit(&view(&values, d), &labels).unwrap();
        assert_eq!((threads.coefficients(), threads.path()), (in_memory.coefficients(), in_memory.path()));
    }
}

#[test]
fn kernels_are_compared_on_as_many_samples_as_memory_allows() {
    let (n, d) = (1500, 3);
    let (values, labels) = blobs(n, d, 3, 31);
    let labels = Labels::new(labels);
    let params = params("distance").kernel_auto().n_basis(Some(20)).memory_limit(20_000_000);
    let fit = |threads| params.clone().threads(threads).fit(&view(&values, d), &labels).unwrap();
    let (one, three) = (fit(1), fit(3));
    // On 1,000 samples and one thread the exact solver takes 48 MB.
    let notes = one.report().notes.concat();
    assert!(["on 499 samples", "on 500 samples"].iter().any(|some| notes.contains(some)), "{notes}");
    assert_eq!((one.kernel(), one.coefficients()), (three.kernel(), three.coefficients()));
}

#[test]
fn awkward_bases() {
    let (values, labels) = blobs(60, 4, 2, 5);
    let labels = Labels::new(labels);
    // Fewer bases than polynomials: a polynomial classifier, said so.
    let model = params("thin-plate").n_basis(Some(3)).fit(&view(&values, 4), &labels).unwrap();
    assert!(model.report().warnings.iter().any(|w| w.contains("nothing is left")), "{:?}", model.report().warnings);
    assert!(model.decision_values(&view(&values, 4), 1).unwrap().iter().all(|f| f.is_finite()));
    // As many as samples is the exact solver.
    let all = params("thin-plate").n_basis(Some(60)).fit(&view(&values, 4), &labels).unwrap();
    assert_eq!(all.coefficients(), params("thin-plate").fit(&view(&values, 4), &labels).unwrap().coefficients());
    let error = params("thin-plate").n_basis(Some(0)).fit(&view(&values, 4), &labels).unwrap_err();
    assert!(error.to_string().starts_with("n_basis = 0"), "{error}");
    let error = params("thin-plate").n_basis(Some(20)).memory_limit(5000).fit(&view(&values, 4), &labels).unwrap_err();
    assert!(matches!(error, Error::Parameter { .. }) && error.to_string().starts_with("n_basis = 20"), "{error}");
    assert!("kmedians".parse::<ThinPlateBasis>().is_err());
}
