//! Samples that are all equal, or copies of a few, are fitted by every method and predicted by the constant that is
//! best for them: a fold or a leaf of a tree may hold nothing else.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use widemargin::data::{
    AnySamples, CsrMatrix, DenseMatrix, DenseView, Grids, Images, Label, Labels, Samples, SamplesView, Series, Targets,
    Vectors,
};
use widemargin::expansion::Normalization;
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, PowerMeanParams,
    ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::monitor::Monitor;
use widemargin::problem::{Intercept, Loss};
use widemargin::select::{AutoParams, SimilaritySearch};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};

const N: usize = 12;

/// A name, one sample of each kind, another one, and similarities of that kind.
fn kinds() -> Vec<(&'static str, AnySamples, Vec<&'static str>)> {
    let vectors = DenseMatrix { values: vec![0.3, 2.0, 0.7, 0.1, 0.9, 1.5], n_rows: 2, n_cols: 3 };
    let sparse =
        CsrMatrix { indptr: vec![0, 2, 4], indices: vec![0, 2, 1, 2], values: vec![0.3, 0.7, 0.9, 1.5], n_cols: 3 };
    let pixels: Vec<u8> = (0..2 * 16 * 16).map(|at| (at * 37 % 251) as u8).collect();
    let series = (0..60).map(|t| (t as f32 * 0.4).sin()).collect();
    let cells = (0..2 * 4 * 4 * 3).map(|at| (at * 7 % 11) as f32 / 11.0).collect();
    vec![
        (
            "vectors",
            AnySamples::Vectors(Vectors::Dense(vectors)),
            vec![
                "rbf",
                "linear",
                "z-score/rbf",
                "mean-norm/linear",
                "features",
                "z-score/features",
                "distance",
                "chi2",
            ],
        ),
        ("sparse vectors", AnySamples::Vectors(Vectors::Sparse(sparse)), vec!["rbf", "features", "linear"]),
        (
            "strings",
            AnySamples::Strings(vec!["some words".into(), "other".into()]),
            vec!["edit", "ngram:n=2", "align", "tfidf:min_df=2/features", "mismatch", "subsequence"],
        ),
        (
            "series",
            AnySamples::Series(Series::new(series, &[30, 30], 1).unwrap()),
            vec!["dtw:root=true", "znorm/dtw", "minirocket:features=84/features", "hydra:groups=2/features", "msm"],
        ),
        (
            "images",
            AnySamples::Images(Images::new(pixels, 16, 16, 1).unwrap()),
            vec!["hog:cell=4/rbf", "hog:cell=8/rigid:radius=1"],
        ),
        ("grids", AnySamples::Grids(Grids::new(cells, 4, 4, 3).unwrap()), vec!["rigid:radius=1", "mean-norm/rbf"]),
    ]
}

/// Samples that are all the first of two, and a few times the second with many times the first.
fn copies(two: &AnySamples) -> [(&'static str, AnySamples); 2] {
    let few: Vec<usize> = (0..N).map(|at| usize::from(at % 5 == 3)).collect();
    [("equal", two.select(&[0; N])), ("of two", two.select(&few))]
}

/// Adds the problem of a fit, if there is one: a panic, an error, or a value that is not finite.
fn problem<T: Copy + Into<f64>>(name: &str, fit: impl FnOnce() -> widemargin::Result<Vec<T>>, problems: &mut String) {
    let found = match catch_unwind(AssertUnwindSafe(fit)) {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            format!("panicked: {}", text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
        }
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(values)) if values.iter().all(|value| (*value).into().is_finite()) => return,
        Ok(Ok(_)) => "a value that is not finite".to_owned(),
    };
    writeln!(problems, "{name}: {found}").unwrap();
}

/// Seven of the first class, three and two of the others.
fn labels() -> Labels {
    Labels::new((0..N).map(|at| if at == 11 { "a" } else { ["a", "b", "a", "c"][at % 4] }))
}

/// Samples that are all equal are of the largest class.
fn assert_largest(which: &str, predicted: &[&Label]) {
    assert!(which != "equal" || predicted.iter().all(|label| **label == Label::from("a")), "{predicted:?}");
}

/// The prediction of equal samples is the mean of the targets, which is their median here.
fn assert_mean(which: &str, mean: f64, predicted: &[f64]) {
    assert!(which != "equal" || predicted.iter().all(|value| (value - mean).abs() < 1e-3), "{predicted:?}");
}

fn losses() -> [Loss; 4] {
    [Loss::Hinge, Loss::SquaredHinge, Loss::Logistic, Loss::SquaredError]
}

/// Normalizations of a similarity; features are no similarities, and others need not be symmetric.
fn normalizations(spec: &str) -> Vec<Normalization> {
    let learned = ["mean-norm", "z-score", "covariance", "none"];
    let maps = ["nystroem", "centered", "centered:negative-eigenvalues=flip", "centered:negative-eigenvalues=shift"];
    let is_map = if spec.ends_with("features") { 0 } else { maps.len() };
    learned.into_iter().chain(maps.into_iter().take(is_map)).map(|name| name.parse().unwrap()).collect()
}

#[test]
fn basis_expansion_classifies_equal_samples() {
    let mut problems = String::new();
    for (kind, two, specs) in kinds() {
        for (which, samples) in copies(&two) {
            for spec in specs.iter() {
                for normalization in normalizations(spec) {
                    for (loss, c) in losses().into_iter().flat_map(|loss| [(loss, CChoice::Auto), (loss, 1.0.into())]) {
                        let name = format!("{kind} {which} {spec} {normalization} {loss} C={c}");
                        let fit = || {
                            let params = BasisExpansionParams::new(AnySimilarity::new(&[spec])?);
                            let params = params.normalization(normalization).loss(loss).c(c).threads(1);
                            let model = params.fit(&samples, &labels())?;
                            assert_largest(which, &model.predict(&samples, 1)?);
                            Ok(model.decision_function(&samples, 1)?.values().to_vec())
                        };
                        problem(&name, fit, &mut problems);
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}

#[test]
fn basis_expansion_regresses_equal_samples_on_their_mean() {
    let values: Vec<f64> = (0..N).map(|at| 3.0 + (at % 3) as f64).collect();
    let targets = Targets::single(values).unwrap();
    let mut problems = String::new();
    for (kind, two, specs) in kinds() {
        for (which, samples) in copies(&two) {
            for spec in specs.iter() {
                for normalization in normalizations(spec) {
                    for loss in [Loss::SquaredError, Loss::Huber { epsilon: None }, Loss::Quantile { quantile: 0.5 }] {
                        let name = format!("{kind} {which} {spec} {normalization} {loss:?}");
                        let fit = || {
                            let params = BasisExpansionRegressorParams::new(AnySimilarity::new(&[spec])?);
                            let params = params.normalization(normalization).loss(loss).threads(1);
                            let found = params.fit(&samples, &targets)?.predict(&samples, 1)?.values;
                            assert_mean(which, 4.0, &found);
                            Ok(found)
                        };
                        problem(&name, fit, &mut problems);
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}

#[test]
fn one_class_models_know_equal_samples() {
    let mut problems = String::new();
    for (kind, two, specs) in kinds() {
        for (which, samples) in copies(&two) {
            for spec in specs.iter().filter(|spec| !spec.ends_with("features")) {
                let fit = || {
                    let params = BasisExpansionOneClassParams::new(AnySimilarity::new(&[spec])?);
                    params.fit(&samples)?.score_samples(&samples, 1)
                };
                problem(&format!("{kind} {which} {spec}"), fit, &mut problems);
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}

#[test]
fn searches_end_on_equal_samples() {
    let (monitor, mut problems) = (Monitor::none(), String::new());
    let targets = Targets::single((0..N).map(|at| (at % 3) as f64).collect()).unwrap();
    for (kind, two, _) in kinds() {
        for (which, samples) in copies(&two) {
            let search = || {
                let found = SimilaritySearch::default().choose(&samples, &labels(), None, &monitor)?;
                let params =
                    BasisExpansionParams::new(AnySimilarity::new(&["rbf"])?).c(CChoice::Auto).with_choice(&found)?;
                let model = params.fit(&samples, &labels())?;
                assert_largest(which, &model.predict(&samples, 1)?);
                Ok(model.decision_function(&samples, 1)?.values().to_vec())
            };
            problem(&format!("{kind} {which} classes"), search, &mut problems);
            let search = || {
                let found = SimilaritySearch::default().choose(&samples, &targets, None, &monitor)?;
                let params = BasisExpansionRegressorParams::new(AnySimilarity::new(&["rbf"])?).with_choice(&found)?;
                let found = params.fit(&samples, &targets)?.predict(&samples, 1)?.values;
                assert_mean(which, 1.0, &found);
                Ok(found)
            };
            problem(&format!("{kind} {which} numbers"), search, &mut problems);
            let auto = || {
                let found = AutoParams::default().fit(&SamplesView::Other(&samples), &labels())?;
                Ok(found.model.decision_function(&SamplesView::Other(&samples), 1, &monitor)?.values().to_vec())
            };
            problem(&format!("{kind} {which} methods"), auto, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}

#[test]
fn vector_methods_fit_equal_samples() {
    let mut problems = String::new();
    let targets = Targets::single((0..N).map(|at| (at % 3) as f64).collect()).unwrap();
    for row in [[0.3, 2.0], [0.0, 0.0], [1e-30, 5.0], [1e8, 3.0]] {
        for (which, odd) in [("equal", 1.0), ("of two", 2.0)] {
            let values: Vec<f64> = (0..N).flat_map(|at| row.map(|x| if at % 5 == 3 { odd * x } else { x })).collect();
            let rows = DenseView::new(&values, N, 2).unwrap();
            for c in [CChoice::Auto, 1.0.into()] {
                let name = format!("{which} {row:?} C={c}");
                let chi2 = || {
                    let model = PowerMeanParams::new(AdditiveKernel::Chi2).c(c).threads(1).fit(&rows, &labels())?;
                    assert_largest(which, &model.predict(&rows, 1)?);
                    Ok(model.decision_function(&rows, 1)?.values().to_vec())
                };
                problem(&format!("power mean {name}"), chi2, &mut problems);
                let auto = || {
                    let model = PowerMeanParams::auto().c(c).threads(1).fit(&rows, &labels())?;
                    Ok(model.decision_function(&rows, 1)?.values().to_vec())
                };
                problem(&format!("power mean of any kernel {name}"), auto, &mut problems);
                for kernel in ["thin-plate", "distance", "cityblock"] {
                    let kernel: ConditionalKernel = kernel.parse().unwrap();
                    let fit = || {
                        let model = ThinPlateParams::new(kernel).c(c).threads(1).fit(&rows, &labels())?;
                        assert_largest(which, &model.predict(&rows, 1)?);
                        Ok(model.decision_function(&rows, 1)?.values().to_vec())
                    };
                    problem(&format!("{kernel} SVM {name}"), fit, &mut problems);
                    let fit = || {
                        let model = ThinPlateRegressorParams::new(kernel).c(c).threads(1).fit(&rows, &targets)?;
                        let found = model.predict(&rows, 1)?.values;
                        assert_mean(which, 1.0, &found);
                        Ok(found)
                    };
                    problem(&format!("{kernel} regression {name}"), fit, &mut problems);
                }
                let open = || {
                    let params = ThinPlateParams::new("distance".parse()?).kernel_auto().c(c).threads(1);
                    Ok(params.fit(&rows, &labels())?.decision_function(&rows, 1)?.values().to_vec())
                };
                problem(&format!("thin plate of any kernel {name}"), open, &mut problems);
                let open = || {
                    let params = ThinPlateRegressorParams::new("distance".parse()?).kernel_auto().c(c).threads(1);
                    Ok(params.fit(&rows, &targets)?.predict(&rows, 1)?.values)
                };
                problem(&format!("thin plate regression of any kernel {name}"), open, &mut problems);
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}

#[test]
fn intercepts_of_any_kind_fit_equal_samples() {
    let mut problems = String::new();
    let (_, two, _) = kinds().remove(0);
    for (which, samples) in copies(&two) {
        for intercept in [Intercept::Free, Intercept::Penalized, Intercept::None] {
            for loss in losses() {
                for spec in ["rbf", "features"] {
                    let fit = || {
                        let params = BasisExpansionParams::new(AnySimilarity::new(&[spec])?).c(CChoice::Auto);
                        let model = params.loss(loss).intercept(intercept).fit(&samples, &labels())?;
                        Ok(model.decision_function(&samples, 1)?.values().to_vec())
                    };
                    problem(&format!("{which} {spec} {intercept} {loss}"), fit, &mut problems);
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{problems}", problems.lines().count());
}
