//! Folds, groups and scores of `cv` and `evaluate`.

use serde_json::Value;

use crate::{Folder, histograms, lines};

/// The first lines with these labels, this many of each.
fn some_of(text: &str, wanted: &[(&str, usize)]) -> String {
    lines(wanted.iter().flat_map(|(label, n)| text.lines().filter(move |line| line.starts_with(label)).take(*n)))
}

fn fold_scores(found: &Value) -> Vec<f64> {
    found["points"][0]["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect()
}

#[test]
fn the_table_names_the_score_and_evaluate_prints_more_of_them() {
    let folder = Folder::trained();
    let table = folder.run("cv --method power-mean:nodes=3 train.svm -C 1 --kernel -1 --scoring f1-macro").well().out;
    assert!(table.contains("f1-macro %") && !table.contains("accuracy"), "{table}");
    let reported = folder.run("evaluate m test.svm --metrics roc-auc,accuracy").well().out;
    for words in ["ROC AUC ", "accuracy ", "balanced accuracy ", "F1 "] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
    // As many samples of each class: the mean of the recalls is the accuracy.
    let reported = folder.run("evaluate m test.svm --json --metrics balanced-accuracy").json();
    assert!((reported["balanced_accuracy"].as_f64().unwrap() - reported["accuracy"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(reported["scores"]["balanced-accuracy"], reported["balanced_accuracy"]);
    assert!(reported["f1_macro"].as_f64().unwrap() > 0.8);
}

#[test]
fn scores_that_do_not_fit_are_refused_by_name() {
    let folder = Folder::trained();
    let text = histograms(3, 120);
    let cv = |file: &str, flags: &str| {
        folder.run(&format!("cv --method power-mean:nodes=3 {file} -C 1 --kernel -1 {flags}"))
    };
    cv("train.svm", "--scoring average-precision")
        .fails(2, &["average-precision", "two classes, not for 3", "roc-auc"]);
    cv("train.svm", "--scoring auc").fails(2, &["'auc'"]);
    folder.run("evaluate m test.svm --metrics average-precision").fails(2, &["average-precision", "two classes"]);
    folder.write("wasp.svm", "wasp 1:9 2:9\nant 1:9 2:9\n");
    folder.run("evaluate m wasp.svm --metrics roc-auc -q").fails(2, &["roc-auc", "'wasp'"]);
    folder.write("few.svm", some_of(&text, &[("ant", 20), ("bee", 3)]));
    let run = cv("few.svm", "--scoring roc-auc --folds 4 -q");
    let run = run.fails_after_warnings(2, &["fold ", "of 4", "roc-auc", "class 'bee'"]);
    assert!(run.err.contains("--folds") && run.err.contains("balanced-accuracy"), "{}", run.err);
    assert_eq!(fold_scores(&cv("few.svm", "--scoring roc-auc --folds 3 --json").json()).len(), 3);
    assert_eq!(fold_scores(&cv("few.svm", "--scoring average-precision --folds 3 --json").json()).len(), 3);
}

#[test]
fn rare_classes_are_reported() {
    let folder = Folder::new();
    let text = histograms(3, 120);
    folder.write("rare.svm", some_of(&text, &[("ant", 20), ("bee", 20), ("fly", 3)]));
    let run = folder.run("cv --method power-mean:nodes=3 rare.svm -C 1 --kernel -1").well();
    assert!(
        run.err.contains("warning: class 'fly' has 3 samples: ") && run.err.contains("with 3 folds"),
        "{}",
        run.err
    );
    assert_eq!(folder.run("cv --method power-mean:nodes=3 rare.svm -C 1 --kernel -1 --folds 3").well().err, "");
    folder.write("one.svm", some_of(&text, &[("ant", 20), ("bee", 20), ("fly", 1)]));
    let run = folder.run("cv --method power-mean:nodes=3 one.svm -C 1 --kernel -1").well();
    assert!(run.err.contains("warning: class 'fly' has one sample: no fold tests"), "{}", run.err);
    folder.write("two.svm", some_of(&text, &[("ant", 20), ("fly", 1)]));
    folder
        .run("cv --method power-mean two.svm -C 1")
        .fails(2, &["two.svm", "class 'fly' has one sample", "one class to train"]);
}

#[test]
fn groups_that_do_not_fit_are_reported() {
    let folder = Folder::trained();
    let text = histograms(3, 120);
    let cv = |file: &str, groups: &str| {
        folder.run(&format!("cv --method power-mean:nodes=3 {file} -C 1 --kernel -1 --group-file {groups}"))
    };
    let group = |name: &str, of: &dyn Fn(usize) -> String| folder.write(name, lines((0..120).map(of)));
    group("short", &|row| (row % 7).to_string());
    folder.write("short", folder.read("short").lines().skip(1).fold(String::new(), |text, line| text + line + "\n"));
    cv("train.svm", "short").fails(2, &["short: groups of 119 samples", "train.svm has 120"]);
    group("gap", &|row| if row == 4 { String::new() } else { row.to_string() });
    cv("train.svm", "gap").fails(2, &["gap: line 5", "empty"]);
    cv("train.svm", "nowhere").fails(2, &["nowhere"]);
    cv("train.svm", "-").fails(2, &["--group-file", "standard input"]);
    group("three", &|row| format!("person {}", row % 9 / 3));
    cv("train.svm", "three").fails(2, &["--folds 5", "number of groups, 3"]);
    cv("train.svm", "three --folds 3 -o three").fails(2, &["three", "is the file of the groups itself"]);
    cv("train.svm", "three --folds 3 -o other").well();

    // All flies are of one group.
    group("own", &|row| if row % 3 == 2 { "flies".into() } else { format!("g{}", row / 12) });
    let run = cv("train.svm", "own").well();
    let reported = "warning: all samples of class 'fly' are in group 'flies': no fold tests the class";
    assert!(run.err.contains(reported) && run.err.contains("samples of other groups"), "{}", run.err);
    folder.write("two.svm", some_of(&text, &[("ant", 20), ("fly", 20)]));
    folder.write("two", lines((0..40).map(|row| if row < 20 { row / 4 } else { 9 })));
    cv("two.svm", "two").fails(2, &["two.svm", "class 'fly' are in group '9'", "one class to train on"]);
    // In two groups they are tested by two folds of five.
    folder.write("two", lines((0..40).map(|row| row / 10 * 10 + row % 2 * usize::from(row < 20))));
    let run = cv("two.svm", "two").well();
    assert!(
        run.err.contains("samples of class 'fly' are in 2 folds") && run.err.contains("with 2 folds"),
        "{}",
        run.err
    );
    cv("two.svm", "two --scoring roc-auc -q")
        .fails_after_warnings(2, &["fold ", "roc-auc", "there is no sample of class"]);
}
