//! `--task outlier-detection`: outliers are detected without labels, and scored with them; refusals.

use serde_json::{Value, json};

use super::Folder;
use super::kinds::Chance;

/// Rows of two columns about a point, with a header.
pub fn rows(seed: u64, n: usize, shift: f64) -> Vec<String> {
    let mut chance = Chance::new(seed);
    let mut one = || shift + (chance.below(1000) + chance.below(1000) + chance.below(1000)) as f64 / 500.0 - 3.0;
    (0..n).map(|_| format!("{},{}", one(), one())).collect()
}

pub fn table(rows: &[String]) -> String {
    format!("a,b\n{}\n", rows.join("\n"))
}

/// Samples without labels, and others labeled 1 and -1.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", table(&rows(1, 200, 0.0)));
    let labeled = |label: i32, rows: Vec<String>| rows.into_iter().map(move |row| format!("{row},{label}"));
    let test: Vec<String> = labeled(1, rows(2, 60, 0.0)).chain(labeled(-1, rows(3, 40, 4.0))).collect();
    folder.write("test.csv", format!("a,b,label\n{}\n", test.join("\n")));
    folder
}

const TRAIN: &str = "train --method basis-expansion train.csv --task outlier-detection -o m";
const SHRUNK: &str = "train --method basis-expansion:shrinkage=1 train.csv --task outlier-detection -o m";

#[test]
fn outliers_are_detected_and_scored() {
    let folder = folder();
    let reported = folder.run(&format!("{TRAIN} --json")).json();
    assert_eq!(reported["method"], "basis-expansion-one-class");
    assert_eq!((&reported["n_samples"], &reported["n_features"]), (&json!(200), &json!(2)));
    assert_eq!(
        (&reported["parameters"]["task"], &reported["chosen"]["quantile"]),
        (&json!("outlier-detection"), &json!(0.05))
    );
    let threshold = reported["chosen"]["threshold"].as_f64().unwrap();
    assert!(threshold > 0.0 && threshold < 1.0, "{threshold}");
    let summary = folder.run(TRAIN).well().err;
    assert!(summary.contains("expected: 5 % of usual samples below the threshold"), "{summary}");
    assert!(summary.contains("threshold = ") && !summary.contains("label"), "{summary}");

    let out = folder.predict("m test.csv --scores");
    let lines: Vec<(&str, f64)> = out
        .lines()
        .map(|line| line.split_once('\t').map(|(label, value)| (label, value.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(lines.len(), 100);
    assert!(lines.iter().all(|(label, value)| (*label == "-1") == (*value < 0.0)));
    assert!(lines[60..].iter().all(|(label, _)| *label == "-1"));
    let alone: Vec<&str> = lines.iter().map(|(label, _)| *label).collect();
    assert_eq!(folder.predict("m test.csv").lines().collect::<Vec<_>>(), alone);

    let scores = folder.run("evaluate m test.csv --metrics accuracy,roc-auc --json").json();
    let right = alone.iter().enumerate().filter(|(row, label)| (*row < 60) == (**label == "1")).count();
    assert_eq!(scores["accuracy"].as_f64().unwrap(), right as f64 / 100.0);
    assert_eq!(scores["scores"]["roc-auc"], scores["roc_auc"]);
    assert!(scores["roc_auc"].as_f64().unwrap() > 0.99 && scores["log_loss"] == Value::Null);
    assert_eq!(scores["confusion_matrix"]["labels"], json!([-1, 1]));
    let printed = folder.run("evaluate m test.csv").well().out;
    assert!(printed.contains("ROC AUC 0.99") && printed.contains("balanced accuracy"), "{printed}");

    let inspected = folder.inspect("m");
    assert_eq!((&inspected["n_samples"], &inspected["feature_names"]), (&json!(200), &json!(["a", "b"])));
    let lines = folder.run("inspect m").well().out;
    assert!(lines.contains("threshold") && lines.contains("samples trained on  200"), "{lines}");
}

#[test]
fn the_share_of_outliers_and_the_penalty_are_chosen() {
    let folder = folder();
    let share = |flags: &str| {
        folder.run(&format!("{TRAIN} {flags}")).well();
        folder.predict("m train.csv").lines().filter(|line| *line == "-1").count()
    };
    let (few, many) = (share("--quantile 0.02"), share("--quantile 0.4"));
    assert!(few < 15 && many > 40, "{few} {many}");
    folder.run(&format!("{SHRUNK} --n-basis 20 --similarity laplacian:gamma=1 --basis random")).well();
    let reported = folder.inspect("m")["parameters"].clone();
    assert_eq!(
        (&reported["shrinkage"], &reported["n_basis"], &reported["basis"]),
        (&json!(1.0), &json!(20), &json!("random"))
    );
    assert_eq!(reported["similarity"], json!(["laplacian:gamma=1"]));
    // With nothing to choose.
    folder.train("train.csv --task outlier-detection -o n");
}

#[test]
fn labels_are_left_aside() {
    let folder = folder();
    let reported = folder.run("train --method basis-expansion test.csv --task outlier-detection -o m").well().err;
    assert!(reported.contains("note: test.csv: column 'label'") && reported.contains("left aside"), "{reported}");
    assert_eq!(folder.inspect("m")["n_features"], 2);
}

#[test]
fn strings_have_a_similarity_of_their_own() {
    let folder = Folder::new();
    let names = "rossi russo bianchi romano ricci marino bruno gallo conti costa rizzo greco ferrari";
    folder.write("names.txt", names.replace(' ', "\n") + "\n");
    let train = "train names.txt --format strings --task outlier-detection -o m";
    folder.run(train).fails(2, &["name a similarity of strings", "without labels"]);
    folder.run(&format!("{train} --similarity edit --quantile 0.1")).well();
    folder.write("new.txt", "rosso\nkrzyzewski\n");
    assert_eq!(folder.predict("m new.txt --format strings"), "1\n-1\n");
}

#[test]
fn what_is_of_labels_is_refused() {
    let folder = folder();
    for flag in ["-C 1", "--loss hinge", "--loss huber", "--class-weight balanced"] {
        let name = flag.split(' ').next().unwrap();
        folder.run(&format!("{TRAIN} {flag}")).fails(2, &[name, "applies to --task"]);
    }
    folder.run(&format!("{TRAIN} --similarity rbf --similarity cosine")).fails(2, &["--similarity", "takes one"]);
    folder.run(&format!("{TRAIN} --similarity no-such")).fails(2, &["no-such"]);
    for setting in ["penalty=l1", "max-basis=5", "intercept=none", "tol=0.1"] {
        let train = TRAIN.replace("basis-expansion", &format!("basis-expansion:{setting}"));
        folder.run(&train).fails(2, &[setting.split('=').next().unwrap(), "applies to --task"]);
    }
    folder.run(&format!("{TRAIN} --quantile 1.5")).fails(2, &["--quantile 1.5", "below 1"]);
    folder.run(&format!("{TRAIN} --quantile 0.1 --quantile 0.2")).fails(2, &["--quantile", "takes one"]);
    folder.run(&SHRUNK.replace("=1", "=-1")).fails(2, &["shrinkage", "above 0"]);
    folder.run(&format!("{TRAIN} --memory-limit 1GB")).fails(2, &["--task outlier-detection", "in memory"]);
    for method in ["power-mean", "thin-plate"] {
        let refused = folder.run(&format!("train --method {method} train.csv --task outlier-detection -o n"));
        assert!(refused.fails(2, &["--task outlier-detection", method]).err.contains("basis-expansion"));
    }
    folder.run("train --method auto:scoring=accuracy train.csv --task outlier-detection -o n").fails(2, &["scoring"]);
    folder
        .run("cv --method basis-expansion test.csv --task outlier-detection")
        .fails(2, &["--task outlier-detection", "labels"]);
    folder
        .run("train --method basis-expansion:shrinkage=1 test.csv -o n")
        .fails(2, &["shrinkage", "--task outlier-detection"]);
    folder.run("train --method basis-expansion test.csv --quantile 0.1 -o n").fails(2, &["--quantile"]);
    folder
        .run("train --method basis-expansion:shrinkage=1 test.csv --task regression -o n")
        .fails(2, &["shrinkage", "--task outlier-detection"]);
    assert!(!folder.has("n"));

    folder.run(TRAIN).well();
    folder.run("predict m test.csv --probabilities").fails(2, &["--probabilities"]);
    folder.run("evaluate m test.csv --metrics neg-log-loss").fails(2, &["neg-log-loss", "outlier detector"]);
    folder.run("evaluate m test.csv --metrics r2").fails(2, &["r2"]);
    folder.run("evaluate m train.csv --label none").fails(2, &["label"]);
    folder.write("named.csv", "a,b,label\n0,0,good\n");
    folder.run("evaluate m named.csv").fails(2, &["sample 1", "'good'"]);
    folder.run("explain m test.csv --row 1 --class 1").fails(2, &["--class", "no classes"]);
}
