//! Multilabel targets: trained with, predicted and evaluated.

use std::fmt::Write as _;

use crate::kinds::Chance;
use crate::{Folder, assert_close};

/// Two coordinates from −1 to 1, and three labels: right, upper, and near the middle; some unknown.
pub fn points(seed: u64, n: usize, with_unknown: bool) -> Vec<([f64; 2], [Option<bool>; 3])> {
    let mut chance = Chance::new(seed);
    let mut points = Vec::new();
    for row in 0..n {
        let [x, y] = [2.0 * chance.uniform() - 1.0, 2.0 * chance.uniform() - 1.0];
        let known = |label: usize, has: bool| (!with_unknown || row % 5 != label).then_some(has);
        points.push(([x, y], [known(0, x > 0.2), known(1, y > 0.0), known(2, x * x + y * y < 0.5)]));
    }
    points
}

/// The labels between the coordinates; unknown ones are empty cells.
pub fn csv(points: &[([f64; 2], [Option<bool>; 3])]) -> String {
    let mut text = "right,u,upper,v,near\n".to_owned();
    for ([x, y], labels) in points {
        let [right, upper, near] = labels.map(|label| label.map_or("", |has| if has { "1" } else { "no" }));
        writeln!(text, "{right},{x},{upper},{y},{near}").unwrap();
    }
    text
}

const LABELS: &str = "--label right,near,3";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", csv(&points(1, 300, true)));
    folder.write("test.csv", csv(&points(2, 120, true)));
    folder
}

#[test]
fn columns_are_trained_with_and_every_score_is_that_of_its_definition() {
    let folder = folder();
    let reported = folder.run(&format!("train --method thin-plate train.csv {LABELS} -o m --json")).json();
    assert_eq!(
        (&reported["classes"], &reported["n_features"]),
        (&serde_json::json!(["right", "near", "upper"]), &2.into())
    );
    let found = folder.run(&format!("evaluate m test.csv {LABELS} --json")).json();
    let out = folder.predict(&format!("m test.csv {LABELS}"));
    let answers: Vec<Vec<bool>> =
        out.lines().map(|line| line.split(['\t', ',', ' ']).map(|word| word == "1").collect()).collect();
    let truth: Vec<[Option<bool>; 3]> =
        points(2, 120, true).iter().map(|(_, [right, upper, near])| [*right, *near, *upper]).collect();
    assert_eq!(answers.len(), truth.len());
    let right = |(answers, truth): (&Vec<bool>, &[Option<bool>; 3])| {
        answers.iter().zip(truth).all(|(answer, truth)| truth.is_none_or(|truth| truth == *answer))
    };
    let subset = answers.iter().zip(&truth).filter(|(a, t)| right((a, t))).count() as f64 / 120.0;
    assert!((found["subset_accuracy"].as_f64().unwrap() - subset).abs() < 1e-12 && subset > 0.8, "{found}");
    let mut f1 = 0.0;
    for label in 0..3 {
        let known = answers.iter().zip(&truth).filter_map(|(a, t)| Some((a[label], t[label]?)));
        let (mut both, mut said, mut has, mut equal, mut n) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (answer, truth) in known {
            both += f64::from(u8::from(answer && truth));
            said += f64::from(u8::from(answer));
            has += f64::from(u8::from(truth));
            equal += f64::from(u8::from(answer == truth));
            n += 1.0;
        }
        f1 += 2.0 * both / (said + has) / 3.0;
        let of = |name: &str| found["labels"][label][name].as_f64().unwrap();
        for (name, value) in [("known", n), ("support", has), ("accuracy", equal / n), ("recall", both / has)] {
            assert!((of(name) - value).abs() < 1e-12, "{name} of label {label}: {found}");
        }
        assert!(of("roc_auc") > 0.97 && of("average_precision") > 0.95);
    }
    assert!((found["f1_macro"].as_f64().unwrap() - f1).abs() < 1e-12);
    let asked = folder.run(&format!("evaluate m test.csv {LABELS} --metrics f1-macro,roc-auc --json")).json();
    assert_eq!((&asked["scores"]["f1-macro"], &asked["scores"]["roc-auc"]), (&found["f1_macro"], &found["roc_auc"]));
    let text = folder.run(&format!("evaluate m test.csv {LABELS}")).well().out;
    assert!(text.starts_with("label  known  have it") && text.contains("have all known labels right"), "{text}");
}

#[test]
fn a_file_of_its_own_says_the_same() {
    let folder = folder();
    let (mut samples, mut labels) = (String::new(), "right,near,upper\n".to_owned());
    for ([x, y], [right, upper, near]) in points(1, 300, true) {
        let cell = |label: Option<bool>| label.map_or("nan", |has| if has { "1" } else { "0" });
        writeln!(samples, "0 1:{x} 2:{y}").unwrap();
        writeln!(labels, "{},{},{}", cell(right), cell(near), cell(upper)).unwrap();
    }
    folder.write("samples.svm", samples.clone());
    folder.write("labels.csv", labels);
    for (model, data) in [("a", format!("train.csv {LABELS}")), ("b", "samples.svm --label-file labels.csv".into())] {
        folder.train(&format!("--method basis-expansion {data} -o {model} --similarity rbf --n-basis 40 -C 1"));
    }
    // Dense and sparse rows are rounded otherwise.
    let [one, other] = ["a", "b"].map(|model| folder.predict(&format!("{model} samples.svm --scores")));
    assert_close(&one, &other, 1e-4);
    assert_eq!(one.split_whitespace().count(), 6 * 300);
    let of = |data: &str| folder.run(&format!("evaluate a {data} --json")).json()["labels"].clone();
    assert_eq!(of("samples.svm --label-file labels.csv"), of(&format!("train.csv {LABELS}")));
}

#[test]
fn the_method_is_chosen_and_answers_are_explained() {
    let folder = folder();
    for scoring in ["", "--method auto:scoring=f1-macro"] {
        folder.train(&format!("train.csv {LABELS} -o m {scoring}"));
        let notes = folder.inspect("m")["report"]["notes"].to_string();
        assert!(notes.contains("methods compared by"), "{notes}");
        let found = folder.run(&format!("evaluate m test.csv {LABELS} --json")).json();
        assert!(found["f1_macro"].as_f64().unwrap() > 0.9, "{found}");
    }
    let line = |row: usize, flag: &str| {
        let out = folder.predict(&format!("m test.csv {LABELS} {flag}"));
        out.lines().nth(row).unwrap().split(['\t', ' ']).map(|word| word.parse().unwrap()).collect::<Vec<f64>>()
    };
    let scores = line(4, "--scores");
    let scores = &scores[scores.len() - 3..];
    let reported = folder.run(&format!("explain m test.csv {LABELS} --row 5 --class near --json")).json();
    assert_eq!((&reported["explained"], &reported["multilabel"]), (&"near".into(), &true.into()));
    let names = ["right", "near", "upper"];
    let predicted: Vec<&str> =
        names.iter().zip(scores).filter(|(_, score)| **score > 0.0).map(|(name, _)| *name).collect();
    assert_eq!(reported["predicted"], serde_json::json!(predicted));
    for (label, score) in scores.iter().enumerate() {
        let terms = reported["terms"].as_array().unwrap().iter();
        let sum: f64 = terms.map(|term| term["contributions"][label].as_f64().unwrap()).sum();
        assert!((sum + reported["intercepts"][label].as_f64().unwrap() - score).abs() < 1e-4, "{label}: {sum} {score}");
    }
    let text = folder.run(&format!("explain m test.csv {LABELS} --row 5 --class near")).well().out;
    let value = reported["decision_values"][1].as_f64().unwrap();
    for words in ["explained: near, probability", &format!("decision value for it {value:.6}")] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn a_report_has_the_scores_of_each_label_and_explains_wrong_answers() {
    let folder = folder();
    folder.train(&format!("--method thin-plate train.csv {LABELS} -o m"));
    // In another order than the model's.
    folder.run("report m test.csv --label upper,right,near -o r.html -q").well();
    let html = folder.read("r.html");
    let found = folder.run(&format!("evaluate m test.csv {LABELS} --json")).json();
    let number = |name: &str| found[name].as_f64().unwrap();
    for shown in [
        format!("<b>{:.2} %</b>", 100.0 * number("f1_macro")),
        format!("<b>{:.2} %</b>", 100.0 * number("subset_accuracy")),
        format!("<b>{:.4}</b>", number("roc_auc")),
        format!("<td>{:.4}</td>", found["labels"][2]["roc_auc"].as_f64().unwrap()),
        "Explained: <b>".into(),
    ] {
        assert!(html.contains(&shown), "{shown}");
    }
    let wrong = |label: &serde_json::Value| {
        let [known, accuracy] = ["known", "accuracy"].map(|name| label[name].as_f64().unwrap());
        known * (1.0 - accuracy)
    };
    let n_wrong: f64 = found["labels"].as_array().unwrap().iter().map(wrong).sum();
    assert!(html.contains(&format!("{n_wrong:.0} labels of 120 samples are predicted wrongly")), "{n_wrong}");
    assert!(html.contains(": predicted to have ") || html.contains(": predicted not to have "));
    folder.run("report m -o r.html -q").well();
}

#[test]
fn what_is_wrong_is_said() {
    let folder = folder();
    folder.train(&format!("--method thin-plate train.csv {LABELS} -o m"));
    folder.write("plain.csv", "u,v\n0.1,0.2\n");
    let refused: [(&str, &[&str]); 13] = [
        ("train --method thin-plate train.csv --label right,far -o n", &["no label column 'far'", "right, u"]),
        ("train --method thin-plate train.csv --label right,1 -o n", &["twice"]),
        ("train --method thin-plate train.csv --label right,u -o n", &["line 2", "'u'", "not an indicator"]),
        ("train --method thin-plate train.csv --label right,near --id near -o n", &["--id", "also the label column"]),
        ("train --method auto:scoring=neg-log-loss train.csv --label right,near -o n", &["one class each", "f1-macro"]),
        ("explain m test.csv --label right,near,3 --row 1 --class left", &["--class left", "does not know"]),
        ("report m plain.csv -o r.html", &["multilabel", "none of its labels"]),
        ("train --method thin-plate train.csv --label right,near --task regression -o n", &["multilabel"]),
        (
            "cv --method thin-plate train.csv --label right,near --scoring neg-log-loss",
            &["of samples with one class each"],
        ),
        ("cv --method thin-plate train.csv --label right,near --task regression", &["multilabel"]),
        ("evaluate m plain.csv", &["multilabel", "none of its labels"]),
        ("evaluate m test.csv --label right,near", &["test.csv", "no label 'upper'", "the model predicts"]),
        ("evaluate m test.csv --label right,near,3 --metrics neg-log-loss", &["neg-log-loss", "one class each"]),
    ];
    for (arguments, words) in refused {
        folder.run(arguments).fails(2, words);
    }
    // The model knows which columns are its labels, and an empty cell is an unknown label.
    let with_gap = |(at, line): (usize, &str)| {
        let (label, rest) = line.split_once(',').unwrap();
        format!("{},{rest}\n", if (1..9).contains(&at) { "" } else { label })
    };
    folder.write("gap.csv", folder.read("test.csv").lines().enumerate().map(with_gap).collect::<String>());
    let [whole, gap] = ["test", "gap"].map(|name| folder.run(&format!("evaluate m {name}.csv --json")).json());
    assert_ne!(whole["labels"], gap["labels"]);
    folder.write("labels.csv", "1,0\n0,1\n");
    folder.run("train --method thin-plate train.csv --label-file labels.csv -o n").fails(2, &["labels.csv", "header"]);
    folder.write("labels.csv", "a,b\n0,1\n1,2\n");
    folder.run("train --method thin-plate train.csv --label-file labels.csv -o n").fails(2, &["line 3", "'b'", "'2'"]);
    folder.write("labels.csv", "a,b\n0,1\n1,0\n");
    folder
        .run("train --method thin-plate train.csv --label-file labels.csv -o n")
        .fails(2, &["labels.csv", "2", "300"]);
    let with_all = |line: &str| format!("1,{}\n", line.split_once(',').unwrap().1);
    let constant: String = csv(&points(1, 50, false)).lines().skip(1).map(with_all).collect();
    folder.write("constant.csv", format!("all,u,upper,v,near\n{constant}"));
    folder.run("train --method thin-plate constant.csv --label all,upper,near -o n").fails(2, &["column of label all"]);
    assert!(!folder.has("n"));
}
