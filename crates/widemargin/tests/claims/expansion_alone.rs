//! An expansion without a classifier is the first half of one, and both have bytes of their own.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::vectors;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, ClassWeight, Collection, Labels, OwnSamples, Samples};
use widemargin::expansion::{BasisExpansion, spectrum};
use widemargin::model::{AnyModel, BasisExpansionParams, BasisExpansionSvc, FileMetadata, Model};
use widemargin::monitor::{Monitor, Progress};
use widemargin::similarity::{AnySimilarity, Similarity};
use widemargin::{Error, Result};

/// Points on a wave, in three classes.
fn samples(n: usize) -> (AnySamples, Labels) {
    let values = (0..n).flat_map(|i| [(0.7 * i as f32).sin(), (0.3 * i as f32).cos()]).collect();
    (vectors(values, 2), Labels::new((0..n).map(|i| (i % 7 % 3) as i64)))
}

fn params(specs: &[&str]) -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(AnySimilarity::new(specs).unwrap()).basis(BasisChoice::Index).n_basis(11).threads(1)
}

#[test]
fn it_is_the_first_half_of_a_classifier() {
    let (samples, labels) = samples(80);
    for (choice, normalization) in [("index", "mean-norm"), ("random", "z-score"), ("kmedoids", "nystroem")] {
        let params = || {
            let params = params(&["mean-norm/rbf", "laplacian:gamma=0.5"]).basis(choice.parse().unwrap());
            params.normalization(normalization.parse().unwrap()).class_weight(ClassWeight::Balanced)
        };
        let model = params().fit(&samples, &labels).unwrap();
        let alone = params().expand(&samples, Some(&labels), &Monitor::none()).unwrap();
        assert_eq!(alone.basis_rows, model.basis_rows());
        assert_eq!(alone.features, model.expansion().transform(&samples, 1).unwrap(), "{choice}");
        assert_eq!(alone.features, alone.expansion.transform(&samples, 1).unwrap(), "{choice}");
        assert!(alone.warnings.is_empty());
    }
}

#[test]
fn without_labels_all_samples_are_one_class() {
    let (samples, labels) = samples(80);
    let alone = params(&["rbf"]).n_basis(8).expand(&samples, None, &Monitor::none()).unwrap();
    let mut sorted = alone.basis_rows.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 10, 20, 30, 40, 50, 60, 70]);
    // Rows that the caller names keep their order.
    let rows = alone.basis_rows.clone();
    let fixed = params(&["rbf"]).basis(BasisChoice::Rows(rows)).expand(&samples, Some(&labels), &Monitor::none());
    assert_eq!(fixed.unwrap().features, alone.features);
    let one = Labels::new(vec!["a"; 80]);
    let one = params(&["rbf"]).n_basis(8).expand(&samples, Some(&one), &Monitor::none()).unwrap();
    assert_eq!(one.features, alone.features);
    // Bases of the caller's own are none of the samples.
    let own = params(&["rbf"]).bases(Samples::select(&samples, &[3, 5])).expand(&samples, None, &Monitor::none());
    assert_eq!(own.unwrap().basis_rows, [0usize; 0]);
    let all = params(&["rbf"]).n_basis(1000).expand(&samples, None, &Monitor::none()).unwrap();
    assert!(all.warnings[0].contains("n_basis is 1000: all"), "{:?}", all.warnings);
}

#[test]
fn rejects_wrong_samples_and_labels() {
    let (samples, _) = samples(20);
    let none = Samples::select(&samples, &[]);
    let error = params(&["rbf"]).expand(&none, None, &Monitor::none()).unwrap_err();
    assert!(matches!(error, Error::NoSamples(_)), "{error}");
    let error = params(&["rbf"]).expand(&samples, Some(&Labels::new([1i64])), &Monitor::none()).unwrap_err();
    assert!(error.to_string().contains("1 labels, expected 20"), "{error}");
    assert!(params(&["edit"]).expand(&samples, None, &Monitor::none()).is_err());
}

#[test]
fn its_bytes_give_it_back() {
    let (samples, labels) = samples(50);
    for (specs, normalization) in [
        (vec!["z-score/rbf", "linear"], "mean-norm"),
        (vec!["laplacian"], "nystroem:negative-eigenvalues=flip"),
        (vec!["rbf"], "none"),
    ] {
        let params = params(&specs).normalization(normalization.parse().unwrap());
        let alone = params.expand(&samples, None, &Monitor::none()).unwrap();
        let bytes = alone.expansion.to_bytes().unwrap();
        assert_eq!(FileMetadata::of_bytes(&bytes).unwrap().method, "expansion");
        let read = BasisExpansion::from_bytes(&bytes).unwrap();
        assert_eq!(read.transform(&samples, 1).unwrap(), alone.features);
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert!(matches!(BasisExpansion::from_bytes(&bytes[..bytes.len() / 2]), Err(Error::ModelFile { .. })));
        let error = BasisExpansionSvc::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains("a model of 'expansion', expected 'basis-expansion'"), "{error}");
    }
    let model = params(&["rbf"]).fit(&samples, &labels).unwrap().to_bytes().unwrap();
    assert!(BasisExpansion::from_bytes(&model).is_err());
}

/// A similarity that no file knows.
#[derive(Clone)]
struct Nearness {
    scale: f64,
}

impl Similarity for Nearness {
    type Samples = Vec<f64>;

    fn spec(&self) -> String {
        "nearness".into()
    }

    fn block(&self, bases: &Vec<f64>, samples: &Vec<f64>, block: &mut [f32]) -> Result<()> {
        for (row, sample) in block.chunks_mut(bases.len()).zip(samples) {
            row.iter_mut().zip(bases).for_each(|(out, basis)| *out = (-(basis - sample).abs() / self.scale) as f32);
        }
        Ok(())
    }
}

#[test]
fn user_defined_similarities_are_supplied_by_the_caller() {
    let samples: Vec<f64> = (0..60).map(|i| f64::from(i * 17 % 60)).collect();
    let labels = Labels::new(samples.iter().map(|x| i64::from(*x > 20.0)));
    let own = Nearness { scale: 9.0 };
    for normalization in ["mean-norm", "z-score", "covariance", "nystroem:negative-eigenvalues=flip"] {
        let params = BasisExpansionParams::new(own.clone()).n_basis(7).normalization(normalization.parse().unwrap());
        let model = params.clone().fit(&samples, &labels).unwrap();
        let bytes = Model::to_bytes(&model).unwrap();
        let bases = model.expansion().bases().clone();
        let read = BasisExpansionSvc::from_bytes_with(&bytes, own.clone(), bases.clone()).unwrap();
        let values = |model: &BasisExpansionSvc<Nearness>| model.decision_function(&samples, 1).unwrap();
        assert_eq!(values(&read), values(&model));
        assert_eq!(
            (read.basis_rows(), read.classes(), read.report()),
            (model.basis_rows(), model.classes(), model.report())
        );
        assert_eq!(Model::to_bytes(&read).unwrap(), bytes);

        let error = BasisExpansionSvc::from_bytes_with(&bytes, own.clone(), bases[1..].to_vec()).unwrap_err();
        assert!(error.to_string().contains("6 of them, expected the 7 it was trained with"), "{error}");
        let error = BasisExpansionSvc::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains("its similarity is code of the program that trained it"), "{error}");

        let alone = params.expand(&samples, Some(&labels), &Monitor::none()).unwrap();
        let bytes = alone.expansion.to_bytes().unwrap();
        let bases = alone.expansion.bases().clone();
        let read = BasisExpansion::from_bytes_with(&bytes, own.clone(), bases).unwrap();
        assert_eq!(read.transform(&samples, 1).unwrap(), alone.features);
        let error = BasisExpansion::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains("only that program can load it"), "{error}");
    }
}

/// Numbers of a user-defined type.
#[derive(Debug)]
struct Numbers(Vec<f64>);

impl Collection for Numbers {
    fn pick(self: Arc<Self>, rows: Arc<[usize]>) -> Result<Arc<dyn Collection>> {
        Ok(Arc::new(Numbers(rows.iter().map(|&row| self.0[row]).collect())))
    }
}

fn numbers(samples: &OwnSamples) -> Vec<f64> {
    let all = &(&*samples.whole as &dyn Any).downcast_ref::<Numbers>().unwrap().0;
    samples.rows.as_ref().map_or_else(|| all.clone(), |rows| rows.iter().map(|&row| all[row]).collect())
}

#[derive(Clone)]
struct NearnessOfNumbers(Nearness);

impl Similarity for NearnessOfNumbers {
    type Samples = OwnSamples;

    fn spec(&self) -> String {
        "<nearness>".into()
    }

    fn unfitted(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn block(&self, bases: &OwnSamples, samples: &OwnSamples, block: &mut [f32]) -> Result<()> {
        self.0.block(&numbers(bases), &numbers(samples), block)
    }
}

#[test]
fn user_defined_similarities_are_combined_with_known_ones() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i * 17 % 60)).collect();
    let labels = Labels::new(values.iter().map(|x| i64::from(*x > 20.0)));
    let own = NearnessOfNumbers(Nearness { scale: 9.0 });
    let built_in = vectors(values.iter().map(|x| *x as f32).collect(), 1);
    let samples = AnySamples::Own(OwnSamples {
        whole: Arc::new(Numbers(values.clone())),
        rows: None,
        n: values.len(),
        fingerprints: Arc::default(),
        built_in: Some(Arc::new(built_in.clone())),
    });
    let similarity = AnySimilarity::with_own(&["z-score/rbf".to_owned()], vec![own.clone()]).unwrap();
    let model = BasisExpansionParams::new(similarity).n_basis(7).threads(1).fit(&samples, &labels).unwrap();
    let similarity = model.expansion().similarity();
    let specs = similarity.specs();
    assert_eq!((specs.len(), &*specs[1]), (2, "<nearness>"));
    assert_eq!(similarity.unfitted().unwrap().specs(), specs);

    // The features are those of both, and the model has its bases alone.
    let features = |expansion: &BasisExpansion<_>, samples: &AnySamples| expansion.transform(samples, 1).unwrap();
    let alone = |similarity, samples: &AnySamples| {
        let params = BasisExpansionParams::new(similarity).basis(BasisChoice::Rows(model.basis_rows().to_vec()));
        params.threads(1).expand(samples, None, &Monitor::none()).unwrap().features
    };
    let of_own = alone(AnySimilarity::with_own(&[], vec![own.clone()]).unwrap(), &samples);
    let of_known = alone(AnySimilarity::new(&["z-score/rbf"]).unwrap(), &built_in);
    let both = features(model.expansion(), &samples);
    for (row, both) in both.values.chunks(14).enumerate() {
        let parts = [&of_known, &of_own].map(|part| &part.values[7 * row..7 * row + 7]).concat();
        assert!(both.iter().zip(parts).all(|(x, y)| (x - y).abs() < 1e-5), "row {row}");
    }
    let AnySamples::Own(bases) = model.expansion().bases() else { panic!() };
    let stored = (&*bases.whole as &dyn Any).downcast_ref::<Numbers>().unwrap();
    assert_eq!((stored.0.len(), bases.rows.is_none()), (7, true));

    // The parameters of the descriptors are in the file.
    let bytes = model.to_bytes().unwrap();
    let again = || AnySimilarity::with_own(&specs[..1], vec![own.clone()]).unwrap();
    let bases = model.expansion().bases().clone();
    let read = BasisExpansionSvc::from_bytes_with(&bytes, again(), bases.clone()).unwrap();
    assert_eq!(features(read.expansion(), &samples), both);
    assert_eq!(read.to_bytes().unwrap(), bytes);
    assert!(AnyModel::from_bytes_with(&bytes, again(), bases).is_ok());
    let error = AnyModel::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("its similarity is code of the program that trained it"), "{error}");
}

#[test]
fn a_complete_file_needs_no_similarity() {
    let (samples, labels) = samples(40);
    let model = params(&["rbf"]).fit(&samples, &labels).unwrap();
    let (whole, similarity) = (model.to_bytes().unwrap(), AnySimilarity::new(&["rbf"]).unwrap());
    let error = BasisExpansionSvc::from_bytes_with(&whole, similarity, model.expansion().bases().clone()).unwrap_err();
    assert!(error.to_string().contains("none must be passed"), "{error}");
}

/// Features and spectra report their progress, and end soon after they are cancelled.
#[test]
fn transforms_and_spectra_are_watched() {
    let ((few, labels), (many, _)) = (samples(60), samples(3000));
    let model = params(&["rbf", "linear"]).fit(&few, &labels).unwrap();
    let expansion = model.expansion();
    type Work<'a> = &'a dyn Fn(&Monitor<'_>) -> Result<()>;
    let transform: Work<'_> = &|monitor| expansion.transform_with(&many, 2, monitor).map(drop);
    let spectra: Work<'_> = &|monitor| spectrum(expansion.share_similarity(), &few, 2, monitor).map(drop);
    for (n, work) in [(3000, transform), (60, spectra)] {
        let reports: Mutex<Vec<Progress>> = Mutex::default();
        let sink = |progress| reports.lock().unwrap().push(progress);
        work(&Monitor::none().with_progress(&sink).with_time_limit(Duration::ZERO)).unwrap();
        let is_all = |at: &Progress| (at.stage, at.done, at.total) == ("similarity", n, n);
        assert!(reports.lock().unwrap().iter().any(is_all), "{reports:?}");
        let cancel = AtomicBool::new(false);
        let sink = |_: Progress| cancel.store(true, Ordering::Relaxed);
        let cancelled = work(&Monitor::none().with_progress(&sink).with_cancel(&cancel));
        assert!(matches!(cancelled, Err(Error::Cancelled { .. })), "{cancelled:?}");
    }
}
