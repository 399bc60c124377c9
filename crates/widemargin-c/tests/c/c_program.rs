//! `examples/c/predict.c`, compiled and run, prints what the library computes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use widemargin::data::{AnySamples, DenseView, Labels, SamplesView, Targets};
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, Classifier, Model,
    Regressor, ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AnySimilarity, ConditionalKernel};

/// The compiled example, or none without a C compiler.
fn compiled(folder: &Path) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler (cc)");
        return None;
    }
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = folder.join("predict");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    cc.arg(top.join("../../examples/c/predict.c")).arg("-I").arg(top.join("include"));
    cc.arg("-L").arg(&libraries).arg("-lwidemargin_c").arg(format!("-Wl,-rpath,{}", libraries.display()));
    let output = cc.arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, model: &Path, samples: &[&str]) -> Output {
    Command::new(program).arg(model).args(samples).output().unwrap()
}

/// What the example should print.
fn expected(model: &dyn Classifier, samples: &SamplesView<'_>) -> String {
    let classes = model.predict(samples, 1, &Monitor::none()).unwrap();
    let values = model.decision_values(samples, 1, &Monitor::none()).unwrap();
    let probabilities = model.predict_proba(samples, 1, &Monitor::none()).unwrap();
    let n_values = values.len() / classes.len();
    let (values, probabilities) = (values.chunks(n_values), probabilities.values.chunks(probabilities.n_cols));
    let lines = classes.iter().zip(values.zip(probabilities));
    lines.map(|(class, (values, probabilities))| format!("{class} {}\n", numbers(&[values, probabilities]))).collect()
}

fn numbers(parts: &[&[f64]]) -> String {
    parts.concat().iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(" ")
}

/// Compares words, and numbers in any notation.
fn assert_same(output: &Output, expected: &str) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let words = |text: &str| -> Vec<String> {
        let number = |word: &str| word.parse::<f64>().map_or_else(|_| word.to_owned(), |number| number.to_string());
        text.split_whitespace().map(number).collect()
    };
    assert_eq!(words(&printed), words(expected));
}

#[test]
fn the_example_prints_what_the_library_computes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(folder.path()) else { return };

    // Vectors, three classes.
    let values: Vec<f64> = (0..60).map(|i| f64::from(i % 3 * 4 * (1 - i % 2)) + f64::from(i * 7 % 11) / 5.0).collect();
    let rows = DenseView::new(&values, 30, 2).unwrap();
    let labels = Labels::new((0..30).map(|i| ["red", "green", "blue"][2 * i % 3]));
    let model = ThinPlateParams::new(ConditionalKernel::Distance).threads(1).fit(&rows, &labels).unwrap();
    let file = folder.path().join("vectors.model");
    model.save(&file).unwrap();
    let sample = [2.5, 1.25];
    let view = DenseView::new(&sample, 1, 2).unwrap();
    assert_same(&run(&program, &file, &["2.5", "1.25"]), &expected(&model, &SamplesView::Rows(view.into())));

    // A vector of another length.
    let output = run(&program, &file, &["1", "2", "3"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.starts_with("cannot predict: ") && error.contains('3') && error.contains('2'), "{error}");

    // Regression on the same vectors, with names of the features.
    let targets = Targets::new(values.iter().map(|value| value * value).collect(), 2).unwrap();
    let params = ThinPlateRegressorParams::new(ConditionalKernel::Distance).threads(1);
    let mut model = params.fit(&rows, &targets).unwrap();
    model.set_feature_names(Some(vec!["width".into(), "höhe".into()])).unwrap();
    let model: Box<dyn Regressor> = Box::new(model);
    model.save(&file).unwrap();
    let predicted = model.predict(&SamplesView::Rows(view.into()), 1, &Monitor::none()).unwrap();
    assert_same(&run(&program, &file, &["2.5", "1.25"]), &numbers(&[&predicted.values]));
    assert_same(&run(&program, &file, &[]), "width höhe");

    // Texts, two classes.
    let texts: Vec<String> = (0..20).map(|i| format!("{}{}", ["aaba", "xyyx"][i % 2], "ab".repeat(i % 4))).collect();
    let labels = Labels::new((0..20).map(|i| ["ab", "xy"][i % 2]));
    let texts = AnySamples::Strings(texts);
    let params = BasisExpansionParams::new(AnySimilarity::new(&["edit"]).unwrap()).c(CChoice::Value(1.0)).threads(1);
    let model = params.fit(&texts, &labels).unwrap();
    let file = folder.path().join("texts.model");
    model.save(&file).unwrap();
    let samples = AnySamples::Strings(vec!["abab".into(), "xxÿy".into()]);
    assert_same(&run(&program, &file, &["abab", "xxÿy"]), &expected(&model, &SamplesView::Other(&samples)));

    // Regression and outlier detection on the same texts.
    let similarity = || AnySimilarity::new(&["edit"]).unwrap();
    let targets = Targets::single((0..20).map(f64::from).collect()).unwrap();
    let model = BasisExpansionRegressorParams::new(similarity()).threads(1).fit(&texts, &targets).unwrap();
    model.save(&file).unwrap();
    let predicted = model.predict(&samples, 1).unwrap();
    let lines: Vec<String> = predicted.values.iter().map(|value| format!("{value:?}")).collect();
    assert_same(&run(&program, &file, &["abab", "xxÿy"]), &lines.join("\n"));
    let model = BasisExpansionOneClassParams::new(similarity()).threads(1).fit(&texts).unwrap();
    model.save(&file).unwrap();
    let samples = AnySamples::Strings(vec!["abab".into(), "0123456789".into()]);
    let values = model.decision_function(&SamplesView::Other(&samples), 1, &Monitor::none()).unwrap();
    let output = run(&program, &file, &["abab", "0123456789"]);
    assert_same(&output, &format!("1 {:?}\n-1 {:?}", values[0], values[1]));

    // A file that is not a model.
    std::fs::write(&file, "no model").unwrap();
    let output = run(&program, &file, &["abab"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && error.starts_with("cannot load the model: "), "{error}");
}
