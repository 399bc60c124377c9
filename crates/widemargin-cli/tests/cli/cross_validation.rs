//! Folds, groups and scores of `cv` and `evaluate`.

use serde_json::Value;

use crate::{Folder, histograms, lines};

/// The lines with these labels, so many of each.
fn some_of(text: &str, wanted: &[(&str, usize)]) -> String {
    lines(wanted.iter().flat_map(|(label, n)| text.lines().filter(move |line| line.starts_with(label)).take(*n)))
}

fn fold_scores(found: &Value) -> Vec<f64> {
    found["points"][0]["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect()
}

#[test]
fn a_fold_of_groups_is_what_training_on_the_others_gives() {
    let folder = Folder::trained();
    // Labels that are wrong, so that scores differ.
    let label = |(row, line): (usize, &str)| if row % 7 == 0 { line.replace("ant", "bee") } else { line.into() };
    let text = lines(histograms(3, 90).lines().enumerate().map(label));
    folder.write("all.svm", &text);
    // Every third line is of one class: parts of both groups have all classes.
    let group = |row: usize| if row % 9 < 6 { "first" } else { "second" };
    folder.write("groups.txt", lines((0..90).map(group)));
    let part =
        |name: &str| lines(text.lines().enumerate().filter(|(row, _)| group(*row) == name).map(|(_, line)| line));
    folder.write("first.svm", part("first"));
    folder.write("second.svm", part("second"));
    for scoring in ["accuracy", "balanced-accuracy", "f1-macro", "roc-auc"] {
        let search = format!("cv --method power-mean:nodes=3 all.svm -C 0.0001 --kernel -1 --scoring {scoring} --json");
        let found = folder.run(&format!("{search} --group-file groups.txt --folds 2")).json();
        assert_eq!((&found["n_groups"], &found["scoring"]), (&2.into(), &scoring.into()));
        let mut expected = Vec::new();
        for (train, test) in [("first", "second"), ("second", "first")] {
            folder.run(&format!("train --method power-mean:nodes=3 {train}.svm -o part -C 0.0001 --kernel -1")).well();
            let told = folder.run(&format!("evaluate part {test}.svm --metrics {scoring} --json")).json();
            expected.push(told["scores"][scoring].as_f64().unwrap());
        }
        let mut scores = fold_scores(&found);
        scores.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        assert_eq!(scores, expected, "{scoring}");
        assert!(expected[0] < 1.0, "{scoring}: nothing to tell apart");
        assert_eq!(folder.run(&search).json()["n_groups"], Value::Null);
    }
}

#[test]
fn the_table_names_the_score_and_evaluate_prints_more_of_them() {
    let folder = Folder::trained();
    let table = folder.run("cv --method power-mean:nodes=3 train.svm -C 1 --kernel -1 --scoring f1-macro").well().out;
    assert!(table.contains("f1-macro %") && !table.contains("accuracy"), "{table}");
    let told = folder.run("evaluate m test.svm --metrics roc-auc,accuracy").well().out;
    for words in ["ROC AUC ", "accuracy ", "balanced accuracy ", "F1 "] {
        assert!(told.contains(words), "{words}: {told}");
    }
    // As many samples of each class: the mean of the recalls is the accuracy.
    let told = folder.run("evaluate m test.svm --json --metrics balanced-accuracy").json();
    assert!((told["balanced_accuracy"].as_f64().unwrap() - told["accuracy"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(told["scores"]["balanced-accuracy"], told["balanced_accuracy"]);
    assert!(told["f1_macro"].as_f64().unwrap() > 0.8);
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
fn rare_classes_are_told() {
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
fn groups_that_do_not_fit_are_told() {
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
    let told = "warning: all samples of class 'fly' are in group 'flies': no fold tests the class";
    assert!(run.err.contains(told) && run.err.contains("samples of other groups"), "{}", run.err);
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
