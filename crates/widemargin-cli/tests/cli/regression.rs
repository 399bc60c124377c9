//! Numbers in place of classes: training, predicting and scoring them, and what is refused.

use serde_json::Value;

use super::Folder;
use super::kinds::Chance;

/// Rows of two columns and a number that follows from them, with its header.
pub fn table(seed: u64, n: usize) -> String {
    let mut chance = Chance::new(seed);
    let row = |_: usize| {
        let (a, b) = (chance.below(1000) as f64 / 100.0, chance.below(1000) as f64 / 100.0);
        format!("{a},{b},{}\n", (0.7 * a).sin() + 0.1 * b * b)
    };
    "a,b,price\n".to_owned() + &(0..n).map(row).collect::<String>()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 150));
    folder.write("test.csv", table(2, 60));
    folder
}

/// The column of prices of a table.
fn prices(table: &str) -> Vec<f64> {
    table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

const TRAIN: &str = "train.csv --label price --task regression -o m";

#[test]
fn numbers_are_trained_predicted_and_scored() {
    for method in ["thin-plate", "basis-expansion", "auto"] {
        let folder = folder();
        let reported = folder.run(&format!("train --method {method} {TRAIN} --json")).json();
        assert!(reported["method"].as_str().unwrap().ends_with("-regression"), "{reported}");
        assert_eq!((&reported["n_outputs"], &reported["n_samples"]), (&Value::from(1), &Value::from(150)));
        let r2 = reported["chosen"]["loo_r2"].as_f64().unwrap();
        assert!(r2 > 0.9 && r2 <= 1.0, "{method}: {r2}");
        let summary = folder.run(&format!("train --method {method} {TRAIN}")).well().err;
        assert!(
            summary.contains(&format!("expected: R² {r2:.4}")) && summary.contains("label: column 'price', numbers"),
            "{summary}"
        );

        let out = folder.predict("m test.csv --label price");
        let predicted: Vec<f64> = out.lines().map(|line| line.parse().unwrap()).collect();
        let truth = prices(&table(2, 60));
        assert_eq!(predicted.len(), 60);
        let reported = folder.run("evaluate m test.csv --label price --json").json();
        let mean = truth.iter().sum::<f64>() / 60.0;
        let sum = |of: &dyn Fn(f64, f64) -> f64| truth.iter().zip(&predicted).map(|(y, f)| of(*y, *f)).sum::<f64>();
        let squares = sum(&|y, f| (y - f).powi(2));
        let close = |name: &str, expected: f64| {
            let found = reported[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-9, "{name}: {found} {expected}");
        };
        close("r2", 1.0 - squares / sum(&|y, _| (y - mean).powi(2)));
        close("mean_absolute_error", sum(&|y, f| (y - f).abs()) / 60.0);
        close("root_mean_squared_error", (squares / 60.0).sqrt());
        let printed = folder.run("evaluate m test.csv --label price").well().out;
        assert!(printed.starts_with("R² ") && printed.contains("mean absolute error"), "{printed}");
        let asked = folder.run("evaluate m test.csv --label price --metrics r2,neg-mean-absolute-error --json").json();
        assert_eq!(
            asked["scores"]["neg-mean-absolute-error"].as_f64(),
            asked["mean_absolute_error"].as_f64().map(|x| -x)
        );

        let inspected = folder.inspect("m");
        assert_eq!(inspected["parameters"]["loss"], "squared-error");
        let lines = folder.run("inspect m").well().out;
        assert!(lines.contains("loo_r2") && lines.contains("columns") && lines.contains("a, b"), "{lines}");
    }
}

#[test]
fn labels_that_could_be_either_are_asked_about() {
    let folder = folder();
    for method in ["thin-plate", "basis-expansion", "auto"] {
        let asked = folder.run(&format!("train --method {method} train.csv --label price -o m"));
        asked
            .fails(2, &["train.csv", "column 'price'", "fractions"])
            .helps(&["--task regression", "--task classification"]);
    }
    let halves = (0..60).fold(String::new(), |text, row| text + &format!("{},{}.5\n", row % 9, row % 2));
    folder.write("halves.csv", halves);
    folder
        .run("train --method thin-plate halves.csv --label 2 -o m")
        .fails(2, &["classes, or numbers to predict?"])
        .helps(&["--task"]);
    folder.train("--method thin-plate halves.csv --label 2 --task classification -o m");
    assert_eq!(folder.inspect("m")["classes"], serde_json::json!(["0.5", "1.5"]));
    let whole = (0..60).fold(String::new(), |text, row| text + &format!("{},{}\n", row % 9, row % 29));
    folder.write("whole.csv", whole);
    folder.run("train --method thin-plate whole.csv --label 2 -o n").fails(2, &["29 different numbers in 60 rows"]);
    folder.train("--method thin-plate whole.csv --label 2 --task regression -o n");
}

#[test]
fn losses_are_trained_reported_and_searched() {
    let folder = folder();
    let fit = format!("train --method basis-expansion {TRAIN} --similarity rbf --normalization z-score");
    for (flags, loss, name) in [
        ("--loss huber", "huber", "loo_d2"),
        ("--loss squared-epsilon-insensitive:epsilon=0.5 -C 10", "squared-epsilon-insensitive", "loo_d2"),
        ("--loss quantile:quantile=0.9", "quantile", "fold_d2"),
    ] {
        let reported = folder.run(&format!("{fit} {flags} --json")).json();
        assert_eq!(reported["chosen"]["loss"], loss);
        let d2 = reported["chosen"][name].as_f64().unwrap();
        let summary = folder.run(&format!("{fit} {flags}")).well().err;
        assert!(summary.contains(&format!("expected: D² {d2:.4}, mean {loss} loss")), "{summary}");
        let inspected = folder.inspect("m");
        assert_eq!(inspected["parameters"]["loss"], loss);
        let path = inspected["path"].as_array().unwrap();
        assert!(path.iter().any(|point| point["d2"].as_f64() == Some(d2)), "{inspected}");
        assert_eq!(path.len() == 1, flags.contains("-C"));
        assert!(folder.run("inspect m").well().out.contains(name));
        if loss == "quantile" {
            assert_eq!(inspected["parameters"]["quantile"].as_f64(), Some(0.9));
            let out = folder.predict("m test.csv --label price");
            let above = out.lines().zip(prices(&table(2, 60))).filter(|(f, y)| *y <= f.parse().unwrap()).count();
            assert!((45..60).contains(&above), "{above}");
        } else {
            let epsilon = inspected["parameters"]["epsilon"][0].as_f64().unwrap();
            assert!(if flags.contains(":epsilon=") { epsilon == 0.5 } else { epsilon > 0.0 });
        }
    }

    let search = "cv --method basis-expansion train.csv --label price --task regression --similarity rbf -C 1 --normalization z-score";
    let reported =
        folder.run(&format!("{search} --loss huber --loss huber:epsilon=0.5 --loss huber:epsilon=2 --json")).json();
    let points = reported["points"].as_array().unwrap();
    let losses: Vec<&str> = points.iter().map(|point| point["parameters"]["loss"].as_str().unwrap()).collect();
    assert_eq!(losses, ["huber", "huber:epsilon=0.5", "huber:epsilon=2"]);
    let shown = folder.run(&format!("{search} --loss squared-error --loss huber --loss quantile")).well().out;
    assert!(["loss", "squared-error", "huber", "quantile"].iter().all(|word| shown.contains(word)), "{shown}");
    // Quantiles are judged as quantiles.
    const OF_90: &str = "neg-mean-pinball-loss:quantile=0.9";
    let reported = folder.run(&format!("{search} --loss quantile:quantile=0.9 --json")).json();
    assert_eq!(reported["scoring"], OF_90);
    folder
        .run(&format!("{search} --loss quantile:quantile=0.1 --loss quantile:quantile=0.9"))
        .fails(2, &["--scoring", "quantile=0.1", OF_90]);
    let both = folder
        .run(&format!("{search} --loss quantile:quantile=0.1 --loss quantile:quantile=0.9 --scoring {OF_90} --json"))
        .json();
    let scores: Vec<f64> =
        both["points"].as_array().unwrap().iter().map(|point| point["mean"].as_f64().unwrap()).collect();
    assert!(scores[0] < scores[1] && scores[1] < 0.0, "{both}");
    assert_eq!(reported["points"][0]["mean"], both["points"][1]["mean"]);
    folder.run(&format!("{fit} --loss quantile:quantile=0.9")).well();
    let found = folder.run(&format!("evaluate m test.csv --label price --metrics {OF_90} --json")).json();
    let out = folder.predict("m test.csv --label price");
    let loss = |(f, y): (&str, f64)| {
        let error = y - f.parse::<f64>().unwrap();
        (0.9 * error).max(-0.1 * error)
    };
    let losses: Vec<f64> = out.lines().zip(prices(&table(2, 60))).map(loss).collect();
    let mean = losses.iter().sum::<f64>() / losses.len() as f64;
    assert!((found["scores"][OF_90].as_f64().unwrap() + mean).abs() < 1e-6 * mean, "{found} and {mean}");
    let wrong = format!("evaluate m test.csv --label price --metrics {}", OF_90.replace("0.9", "9"));
    folder.run(&wrong).fails(2, &["quantile=9", "above 0 and below 1"]);
}

#[test]
fn predictions_are_explained_and_models_reported() {
    let folder = folder();
    for task in ["regression", "outlier-detection"] {
        folder.run(&format!("train train.csv --label price --task {task} -o m")).well();
        let scores = if task == "regression" { "" } else { "--scores" };
        let predicted = folder.run(&format!("predict m test.csv {scores}")).out;
        let predicted: f64 = predicted.lines().nth(4).unwrap().split('\t').next_back().unwrap().parse().unwrap();
        let found = folder.run("explain m test.csv --row 5 --json").json();
        let sum: f64 =
            found["terms"].as_array().unwrap().iter().map(|term| term["contributions"][0].as_f64().unwrap()).sum();
        let (value, intercept) = (&found["decision_values"][0], &found["intercepts"][0]);
        for value in [found["predicted"][0].as_f64().unwrap(), sum + intercept.as_f64().unwrap()] {
            assert!((value - predicted).abs() < 1e-4 * predicted.abs().max(1.0), "{task}: {value} {predicted}");
        }
        let text = folder.run("explain m test.csv --row 5").out;
        assert!(text.contains(&format!("{:.6}", value.as_f64().unwrap())) && text.contains("that raise it"), "{text}");
        for data in ["", "test.csv --label price"] {
            folder.run(&format!("report m {data} -o report.html")).well();
            let page = folder.read("report.html");
            assert!(page.contains("<title>") && (data.is_empty() || page.contains("test.csv")), "{page}");
        }
    }
}

#[test]
fn groups_are_not_divided() {
    let folder = folder();
    // Targets of nothing but chance, each row twice, as a group: only a copy among the rows trained on knows its
    // target.
    let mut chance = Chance::new(4);
    let mut row =
        |row: usize| format!("{},{},{},{row}\n", chance.below(1000), chance.below(1000), chance.below(1000)).repeat(2);
    let twice: String = (0..40).map(&mut row).collect();
    folder.write("twice.csv", "a,b,price,who\n".to_owned() + &twice);
    let mean = |flags: &str| {
        let search = format!(
            "cv --method thin-plate twice.csv --label price --task regression -C 1000 --kernel distance {flags}"
        );
        folder.run(&format!("{search} --json")).json()["points"][0]["mean"].as_f64().unwrap()
    };
    let (apart, together) = (mean("--group who"), mean(""));
    assert!(apart < 0.0 && together > 0.3, "{apart} {together}");
    // The model of the best point tells an estimate of its own, without the groups.
    let written = |flags: &str| {
        let search = "cv twice.csv --label price --task regression -o twice.model";
        folder.run(&format!("{search} {flags}")).err
    };
    assert!(written("--group who").contains("ignores the groups"), "{}", written("--group who"));
    assert!(!written("--drop who").contains("ignores the groups"));
    assert!(folder.run("inspect twice.model").out.contains("R²"));
}

#[test]
fn what_is_no_regression_is_refused_in_words() {
    let folder = folder();
    let run = |arguments: &str| folder.run(arguments);
    run(&format!("train --method power-mean {TRAIN}"))
        .fails(2, &["--task regression: power-mean is for classification"])
        .helps(&["thin-plate"]);
    let search = |method: &str| format!("cv --method {method} train.csv --label price --task regression");
    run(&search("power-mean")).fails(2, &["--task regression: power-mean is for classification"]);
    run(&format!("{} --scoring accuracy", search("thin-plate"))).fails(2, &["accuracy is a score of classes"]);
    run("cv --method thin-plate train.csv --label price --scoring r2").fails(2, &["r2 is a score of numbers"]);
    run(&format!("{} --folds 150", search("thin-plate"))).fails(2, &["fold 1 of 150 has one sample", "r2 takes two"]);
    run(&search("basis-expansion:intercept=penalized")).fails(2, &["free or none"]);
    run(&format!("train --method thin-plate {TRAIN} -C auto-per-class"))
        .fails(2, &["-C auto-per-class applies to --task classification"]);
    run(&format!("train --method basis-expansion {TRAIN} --loss logistic"))
        .fails(2, &["--loss logistic", "--task classification"]);
    let head = "a,b,price\n1,2,3.5\n4,5,";
    for (cell, problem, place) in [
        ("cat", "is no number", "sample 2"),
        ("inf", "no finite number", "sample 2"),
        ("nan", "the label is missing ('nan')", "line 3"),
    ] {
        folder.write("bad.csv", format!("{head}{cell}\n"));
        run("train --method thin-plate bad.csv --label price --task regression -o m")
            .fails(2, &["bad.csv", problem, place]);
    }
    let constant = (0..30).fold("a,price\n".to_owned(), |text, row| text + &format!("{row},2.5\n"));
    folder.write("constant.csv", constant);
    let reported = run("train --method thin-plate constant.csv --label price --task regression -o m").well().err;
    assert!(reported.contains("warning: no better than the mean: all samples have the same target"), "{reported}");

    run(&format!("train --method thin-plate {TRAIN}")).well();
    run("predict m test.csv --probabilities").fails(2, &["--probabilities is for classes"]);
    run("predict m test.csv --scores").fails(2, &["--scores is for classes"]);
    run("evaluate m test.csv --label price --metrics accuracy")
        .fails(2, &["accuracy is a score of classes"])
        .helps(&["neg-mean-absolute-error"]);
    run("evaluate m test.csv --label a").fails(2, &["test.csv"]);
    run("explain m test.csv --row 1 --class 1").fails(2, &["--class", "no classes"]);
    run("report m test.csv --label a -o r.html").fails(2, &["test.csv"]);
    let classes = (0..40).fold("a,label\n".to_owned(), |text, row| text + &format!("{row},{}\n", row / 20));
    folder.write("classes.csv", classes);
    run("train --method thin-plate classes.csv -o c").well();
    run("evaluate c classes.csv --metrics r2").fails(2, &["r2 is a score of numbers"]);
    run("evaluate c classes.csv --metrics r3").fails(2, &["r3", "neg-log-loss", "neg-mean-absolute-error"]);
}

#[test]
fn predictions_are_read_as_the_same_numbers() {
    let folder = Folder::new();
    let seconds = |row: usize| 1.7e9 + 3600.0 * (0.37 * row as f64).sin();
    let rows: String = (0..120).map(|row| format!("{},{}\n", row % 7, seconds(row))).collect();
    folder.write("train.csv", "a,price\n".to_owned() + &rows);
    folder.run(&format!("train --method thin-plate -C 1 {TRAIN}")).well();
    let predicted: Vec<f64> = folder.predict("m train.csv").lines().map(|line| line.parse().unwrap()).collect();
    let errors = predicted.iter().enumerate().map(|(row, value)| (value - seconds(row)).powi(2));
    let rmse = (errors.sum::<f64>() / 120.0).sqrt();
    assert!((folder.score("m train.csv --label price", "root_mean_squared_error") / rmse - 1.0).abs() < 1e-6, "{rmse}");
}

#[test]
fn the_summary_states_the_estimation_method() {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 60));
    let run = folder.run(&format!("train {TRAIN}")).well();
    let reported = folder.inspect("m");
    let by_folds = reported["report"]["notes"].to_string().contains("that of five folds");
    assert_eq!(run.err.contains("(five folds)"), by_folds, "{}", run.err);
    assert_eq!(reported["parameters"]["fold_r2"].is_number(), by_folds, "{reported}");
    assert!(by_folds && reported["parameters"]["loo_r2"].is_null(), "{reported}");
}

#[test]
fn targets_are_written_in_any_way_that_features_are() {
    let (plain, folder) = (table(3, 60), Folder::new());
    folder.write("plain.csv", &plain);
    let train = "--label price --task regression --method thin-plate -C 1 --n-basis none";
    folder.train(&format!("plain.csv {train} -o plain"));
    let scores = folder.predict("plain plain.csv");
    let comma = plain.replace(',', ";").replace('.', ",");
    let dollars: String = plain.lines().map(|line| line.replace(",", ",$") + "\n").collect();
    let dollars = dollars.replace(",$b,$price", ",b,price");
    for (name, text) in [("comma.csv", comma), ("dollars.csv", dollars)] {
        folder.write(name, text);
        folder.train(&format!("{name} {train} -o m"));
        assert_eq!(folder.predict("m plain.csv --decimal ."), scores, "{name}");
        assert_eq!(folder.score(&format!("m {name}"), "r2"), folder.score("plain plain.csv", "r2"));
    }
    folder.write("h.csv", "a;y\n1,5;2,5\n2,5;3,5\n");
    let written = folder.run("convert h.csv - --output-format libsvm").well().out;
    assert_eq!(written, "2.5 1:1.5\n3.5 1:2.5\n");
    // A comma that could separate thousands, in a column of its own.
    folder.write("open.csv", "a,y\n1,\"1,234\"\n2,\"2,345\"\n3,\"3,456\"\n");
    folder.run("train open.csv -o m --task regression").fails(2, &["'1,234'", "no number"]).helps(&["--decimal"]);
}
