//! Columns by their names: features in any order, labels that are classes, strings where they are.

use crate::Folder;
use crate::kinds::{Chance, labels, table};

/// The columns of a row: three that tell the class, each on a scale of its own, and the class.
const HEADER: [&str; 4] = ["width", "height", "weight", "kind"];
const ORDERS: [[&str; 4]; 2] = [["kind", "weight", "width", "height"], ["height", "kind", "weight", "width"]];
const METHODS: [&str; 3] = ["power-mean:tol=1e-6 -C 1", "basis-expansion --n-basis 20", "thin-plate -C 1 --n-basis 20"];

/// A folder with a model `m` of the method, trained on the columns in the order of [`HEADER`].
fn trained(method: &str, flags: &str) -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 60, &HEADER));
    folder.write("test.csv", table(2, 40, &HEADER));
    let (method, more) = method.split_once(' ').unwrap_or((method, ""));
    folder.train(&format!("--method {method} train.csv -o m {more} {flags}"));
    folder
}

#[test]
fn columns_in_another_order_give_the_same_decision_values() {
    for method in METHODS {
        for flags in ["", "--memory-limit 1GB"] {
            let folder = trained(method, flags);
            let scores = folder.predict("m test.csv --scores");
            let accuracy = folder.run("evaluate m test.csv --json").json()["accuracy"].clone();
            assert!(accuracy.as_f64().unwrap() > 0.8, "{method}: {accuracy}");
            for order in ORDERS {
                folder.write("other.csv", table(2, 40, &order));
                assert_eq!(folder.predict("m other.csv --scores"), scores, "{method} {flags}");
                assert_eq!(folder.run("evaluate m other.csv --json").json()["accuracy"], accuracy, "{method} {flags}");
                folder.run("convert other.csv other.npz").well();
                assert_eq!(folder.predict("m other.npz --scores"), scores, "{method} {flags}");
            }
            folder.write("bare.csv", table(2, 40, &["height", "weight", "width"]));
            assert_eq!(folder.predict("m bare.csv --scores"), scores, "{method} {flags}");
        }
    }
}

#[test]
fn missing_and_unknown_columns_are_named() {
    for method in METHODS {
        let folder = trained(method, "");
        folder.write("few.csv", table(2, 40, &["kind", "height", "width"]));
        folder.write("more.csv", table(2, 40, &["kind", "height", "width", "weight", "age"]));
        folder.write("other.csv", table(2, 40, &["kind", "height", "width", "age"]));
        for command in ["predict m", "evaluate m"] {
            folder.run(&format!("{command} few.csv")).fails(2, &["few.csv", "missing 'weight'"]);
            folder.run(&format!("{command} more.csv")).fails(2, &["more.csv", "unknown 'age'"]);
            folder.run(&format!("{command} other.csv")).fails(2, &["missing 'weight'; unknown 'age'"]);
        }
    }
    let folder = trained(METHODS[1], "");
    folder.write("few.csv", table(2, 40, &["kind", "height", "width"]));
    folder.run("transform m few.csv -o d.npy").fails(2, &["few.csv", "missing 'weight'"]);
    folder.write("other.csv", table(2, 40, &ORDERS[0]));
    folder.run("transform m other.csv -o other.npz").well();
    folder.run("transform m test.csv -o test.npz").well();
    assert!(std::fs::read(folder.path("other.npz")).unwrap() == std::fs::read(folder.path("test.npz")).unwrap());
}

#[test]
fn samples_without_names_are_taken_as_they_come() {
    let folder = trained(METHODS[0], "");
    let scores = folder.predict("m test.csv --scores");
    folder.run("convert test.csv test.svm").well();
    assert_eq!(folder.predict("m test.svm --scores"), scores);
    let inspected = folder.inspect("m");
    assert_eq!(inspected["feature_names"], serde_json::json!(["width", "height", "weight"]));
    assert!(folder.run("inspect m").well().out.contains("width, height, weight"));
    // Trained without names, columns are numbers.
    folder.run("convert train.csv train.svm").well();
    folder.train("--method power-mean:tol=1e-6 train.svm -o plain -C 1");
    assert_eq!(folder.predict("plain test.csv --scores"), scores);
    assert!(folder.inspect("plain")["feature_names"].is_null());
}

#[test]
fn shards_may_have_their_columns_in_orders_of_their_own() {
    let folder = trained(METHODS[0], "");
    let scores = folder.predict("m test.csv --scores");
    std::fs::create_dir(folder.path("same")).unwrap();
    std::fs::create_dir(folder.path("mixed")).unwrap();
    for (number, order) in ORDERS.iter().enumerate() {
        folder.write(&format!("same/{number}.csv"), table(2, 40, &HEADER));
        folder.write(&format!("mixed/{number}.csv"), table(2, 40, order));
    }
    assert_eq!(folder.predict("m mixed --scores"), scores.repeat(2));
    for memory in ["", "--memory-limit 1GB"] {
        folder.train(&format!("--method power-mean:tol=1e-6 same -o one -C 1 {memory}"));
        folder.train(&format!("--method power-mean:tol=1e-6 mixed -o other -C 1 {memory}"));
        let labels = |model: &str| folder.predict(&format!("{model} test.csv"));
        assert_eq!(labels("one"), labels("other"), "{memory}");
    }
    folder.write("mixed/2.csv", table(2, 40, &["kind", "height", "width", "age"]));
    folder.run("predict m mixed -o p").fails(2, &["2.csv", "column"]);
}

/// Rows of numbers, and a first column of labels made by `label`.
fn numbers(n: usize, label: impl Fn(usize) -> String) -> String {
    let mut chance = Chance::new(3);
    (0..n).map(|row| format!("{},{},{}\n", label(row), chance.below(50), chance.below(50))).collect()
}

#[test]
fn labels_that_are_no_classes_are_refused() {
    let folder = Folder::new();
    folder.write("floats.csv", numbers(200, |row| format!("{}.5", row * 7 % 41)));
    folder.write("ids.csv", numbers(200, |row| (1000 + row).to_string()));
    folder.write("named.csv", "price,a,b\n".to_owned() + &numbers(200, |row| format!("{row}.25")));
    folder.write("target.csv", "target,a,b\n".to_owned() + &numbers(9, |row| format!("{row}.25")));
    for method in [
        "train --method power-mean",
        "cv --method power-mean",
        "train --method thin-plate",
        "train --method power-mean --memory-limit 1GB",
    ] {
        let run = |file: &str| {
            let output = if method.starts_with("cv") { "" } else { "-o m" };
            folder.run(&format!("{method} {file} {output}"))
        };
        run("floats.csv")
            .fails(2, &["floats.csv", "column 1 was taken for the label", "fractions"])
            .helps(&["--label NAME or NUMBER"]);
        run("ids.csv")
            .fails(2, &["ids.csv", "column 1 was taken", "another value in each of 200 rows"])
            .helps(&["--label NAME or NUMBER"]);
        run("named.csv --label price").fails(2, &["column 'price', the label,", "fractions"]);
        run("target.csv").fails(2, &["column 'target' was taken", "fractions"]);
    }
    assert!(!folder.has("m"));
    let floats = (0..20).fold(String::new(), |text, row| format!("{text}{row}.5 1:{row} 2:3\n"));
    folder.write("floats.svm", floats);
    folder
        .run("train --method power-mean floats.svm -o m")
        .fails(2, &["floats.svm", "the labels have numbers with fractions"]);
    let help = folder.run("train --method power-mean --help").well().out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("otherwise the first column if there is no header"), "{help}");
}

#[test]
fn labels_that_are_classes_are_taken_however_they_are_written() {
    let folder = Folder::new();
    folder.write("whole.csv", numbers(40, |row| ["1.0", "2.0"][row % 2].into()));
    folder.write("few.csv", "1,2,3\n2,5,1\n3,1,1\n");
    folder.write("halves.csv", numbers(40, |row| ["0.5", "1.5"][row % 2].into()));
    folder.train("--method power-mean whole.csv -o m");
    assert_eq!(folder.inspect("m")["classes"], serde_json::json!([1, 2]));
    folder.train("--method power-mean few.csv -o m");
    folder
        .run("train --method power-mean halves.csv -o m")
        .fails(2, &["fractions, such as"])
        .helps(&["this one too if its numbers are classes"]);
    folder.train("--method power-mean halves.csv --label 1 -o m");
    // Labels are not looked at where nothing is learned of them.
    folder.write("many.csv", numbers(40, |row| row.to_string()));
    folder.run("convert many.csv many.svm").well();
    folder.run("predict m many.csv").well();
    folder.run("evaluate m many.csv").well();
}

/// Peptides of two alphabets, the organism each is of, and a label.
fn peptides(header: &str, cells: impl Fn(&str, &str, &str) -> String) -> String {
    let mut chance = Chance::new(5);
    let mut text = header.to_owned() + "\n";
    for (row, label) in labels(60).into_iter().enumerate() {
        let alphabet: &[u8] = if label == "low" { b"ACDE" } else { b"EFGH" };
        let peptide: String = (0..8).map(|_| char::from(alphabet[chance.below(4) as usize])).collect();
        text += &cells(&peptide, ["yeast", "human", "mouse"][row % 3], label);
        text.push('\n');
    }
    text
}

#[test]
fn the_column_of_the_strings_is_asked_for_where_several_could_be_meant() {
    let folder = Folder::new();
    folder.write("a.csv", peptides("peptide,organism,label", |p, o, l| format!("{p},{o},{l}")));
    let train = "train --method basis-expansion a.csv -o m --n-basis 20 --format strings";
    folder.run(train).fails(2, &["a.csv", "may hold the strings: 'peptide', 'organism'"]).helps(&["--format strings:"]);
    for column in ["peptide", "1", "-3"] {
        folder.run(&format!("{train}:{column}")).well();
        let reported = folder.run(&format!("evaluate m a.csv --format strings:{column} --json")).json();
        assert!(reported["accuracy"].as_f64().unwrap() > 0.9, "{reported}");
    }
    folder.run("predict m a.csv --format strings").fails(2, &["'peptide', 'organism'"]);
    assert_eq!(folder.predict("m a.csv --format strings:peptide").lines().count(), 60);
    folder.run(&format!("{train}:sequence")).fails(2, &["no text column 'sequence'"]);
    folder.run(&format!("{train}:1 --label 1")).fails(2, &["text column 1", "column of the labels"]);

    folder.write("b.csv", peptides("id,peptide,label", |p, _, l| format!("7,{p},{l}")));
    folder.train("--method basis-expansion b.csv --format strings -o m --n-basis 20");
    assert!(folder.score("m b.csv --format strings", "accuracy") > 0.9);
    folder.write("c.csv", peptides("text,organism,outcome", |p, o, l| format!("{p},{o},{l}")));
    let asked = folder.run("train --method basis-expansion c.csv --format strings -o m");
    asked.fails(2, &["may hold the labels: 'organism', 'outcome'"]).helps(&["--label"]);
    folder.train("--method basis-expansion c.csv --format strings -o m --label outcome --n-basis 20");
    assert_eq!(folder.predict("m c.csv --format strings").lines().count(), 60);
}

#[test]
fn advice_on_a_column_of_text_does_not_go_in_circles() {
    let folder = Folder::new();
    folder.write("a.csv", peptides("peptide,organism,weight", |p, o, _| format!("{p},{o},1")));
    for label in ["", "--label 2"] {
        let run = folder.run(&format!("train --method power-mean a.csv -o m {label}"));
        run.fails(2, &["column 'peptide'", "different texts in", "they cannot be categories"])
            .helps(&["--id 1", "--format strings:1"]);
    }
    // In blocks columns are numbers.
    let run =
        folder.run("train --method power-mean a.csv -o m --label 2 --memory-limit 64MB").fails(2, &["is not a number"]);
    assert!(!run.err.contains("pass --label") && run.err.contains("--format strings:1"), "{}", run.err);
}

#[test]
fn the_importance_of_columns_is_inspected_and_reported() {
    let folder = Folder::new();
    let rows = (0..60).map(|i| format!("{},{},{},{}\n", i % 7, ["red", "blue"][i % 2], i % 11, ["a", "b"][i % 2]));
    folder.write("table.csv", format!("height,color,width,class\n{}", rows.collect::<String>()));
    // The features are height, color=blue, color=red and width.
    let spec = "z-score:weights=1;2;4;1/rbf";
    folder.train(&format!("table.csv -o m --method basis-expansion --similarity {spec} -C 1"));
    let inspected = folder.run("inspect m").well().out;
    assert!(inspected.contains("color 75.00, height 12.50, width 12.50"), "{inspected}");
    assert_eq!(folder.inspect("m")["column_importances"][0], serde_json::json!(["color", 0.75]));
    folder.run("report m -o report.html -q").well();
    let page = folder.read("report.html");
    assert!(page.contains("Importance of the columns") && page.contains(">75.0<"), "{page}");
    folder.train("table.csv -o m --method basis-expansion --similarity rbf -C 1");
    assert!(!folder.run("inspect m").well().out.contains("importance"));
    assert!(folder.inspect("m").get("column_importances").is_none());
}
