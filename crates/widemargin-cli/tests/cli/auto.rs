//! `train DATA`: the method, and all its parameters, automatically.

use crate::Folder;
use crate::kinds::rings;

#[test]
fn a_file_of_samples_is_all_that_is_needed() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    folder.write("test.csv", rings(2, 40, true));
    folder.train("train.csv -o m");
    let shown = folder.inspect("m");
    let notes = shown["report"]["notes"].to_string();
    for words in ["methods compared by the mean leave-one-out squared hinge", "basis-expansion (", "thin-plate ("] {
        assert!(notes.contains(words), "{notes}");
    }
    let accuracy = folder.score("m test.csv", "accuracy");
    assert!(accuracy > 0.85, "{accuracy}");
    // A method that is named takes the place of the comparison.
    folder.train("--method thin-plate train.csv -o t");
    folder.train("train.csv -o u --method auto:methods=thin-plate");
    assert_eq!(folder.inspect("t")["method"], folder.inspect("u")["method"]);
}

#[test]
fn methods_are_compared_by_the_score_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    let reported = folder.run("train train.csv -o m --method auto:scoring=roc-auc --json").json();
    assert_eq!(reported["parameters"]["scoring"], "roc-auc", "{reported}");
    let notes = folder.inspect("m")["report"]["notes"].to_string();
    assert!(notes.contains("methods compared by roc-auc on held-out samples: basis-expansion ("), "{notes}");
    folder.run("train train.csv -o m --method auto:scoring=r2").fails(2, &["unknown scoring 'r2'"]);
}

#[test]
fn cross_validation_without_a_method_uses_the_automatic_one() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    let found = folder.run("cv train.csv --folds 2 --scoring roc-auc --json").json();
    assert_eq!((&found["method"], found["points"].as_array().unwrap().len()), (&"auto".into(), 1));
    assert!(found["points"][0]["mean"].as_f64().unwrap() > 0.9, "{found}");
    let table = folder.run("cv train.csv --folds 2 --method basis-expansion --method thin-plate -C 1").well().out;
    assert!(table.contains("basis-expansion") && table.contains("thin-plate") && table.contains("* best"), "{table}");
}

#[test]
fn strings_are_samples_too() {
    let folder = Folder::new();
    let lines = (0..60).map(|i| format!("{}\t{}\n", ["ababab", "cdcdcd"][i % 2], ["x", "y"][i % 2]));
    folder.write("words.tsv", String::from("text\tlabel\n") + &lines.collect::<String>());
    folder.train("words.tsv -o m --format strings");
    assert_eq!(folder.inspect("m")["method"], "basis-expansion");
    folder
        .run("train words.tsv -o m --format strings --method auto:methods=thin-plate")
        .fails(2, &["no method can be fitted: thin-plate: it takes vectors, not strings"]);
}

#[test]
fn samples_in_blocks_are_the_basis_expansions() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 400, true));
    folder.train("train.csv -o m --memory-limit 64MB");
    let shown = folder.inspect("m");
    assert!(shown["report"]["notes"].to_string().contains("only the basis expansion was tried"), "{shown}");
}

#[test]
fn missing_arguments_are_named() {
    let folder = Folder::new();
    folder.run("train").fails(2, &["required"]);
    folder.write("train.csv", rings(1, 80, true));
    folder.run("train train.csv").fails(2, &["--output"]);
    folder.run("train train.csv -o m --method forest").fails(2, &["forest"]);
}
