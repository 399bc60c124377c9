//! Train, predict, evaluate, inspect, cross-validate.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{Folder, histograms};

#[test]
fn a_model_goes_through_its_file() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 120));
    folder.write("test.svm", histograms(2, 60));
    let trained = folder.run("train --method power-mean train.svm -o m --json -C 1 --kernel -1").json();
    assert_eq!(trained["method"], "power-mean");
    assert_eq!((&trained["n_samples"], &trained["n_features"]), (&120.into(), &12.into()));
    assert_eq!(trained["classes"], serde_json::json!(["ant", "bee", "fly"]));
    assert_eq!(trained["report"]["status"], "converged");
    assert!(trained["report"]["gap"].as_f64().unwrap() <= 0.01);
    assert!(trained["report"]["seconds"]["solve"].is_f64() && trained["seconds_read"].is_f64());
    assert_eq!(trained["model_bytes"], std::fs::metadata(folder.path("m")).unwrap().len());

    let evaluated = folder.run("evaluate m test.svm --json").json();
    let accuracy = evaluated["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}");
    assert_eq!(evaluated["classes"][1]["label"], "bee");
    assert_eq!(evaluated["classes"][1]["support"], 20);
    assert!(folder.run("evaluate m test.svm").well().out.contains("bee"));

    let predicted = folder.predict("m test.svm");
    let truth = histograms(2, 60);
    let right = predicted.lines().zip(truth.lines()).filter(|(p, t)| t.starts_with(p)).count();
    assert_eq!(predicted.lines().count(), 60);
    assert!((right as f64 / 60.0 - accuracy).abs() < 1e-12);

    let inspected = folder.inspect("m");
    assert_eq!(inspected["parameters"]["kernel"], "power-mean:p=-1");
    assert_eq!(inspected["parameters"]["C"], 1.0);
    assert_eq!(inspected["report"]["objective"], trained["report"]["objective"]);
    assert!(folder.run("inspect m").well().out.contains("power-mean:p=-1"));
}

#[test]
fn probabilities_are_those_of_the_predicted_classes() {
    let folder = Folder::trained();
    let predicted = folder.predict("m train.svm");
    let with = folder.predict("m train.svm --probabilities");
    assert_eq!(predicted.lines().count(), with.lines().count());
    for (label, line) in predicted.lines().zip(with.lines()) {
        let mut words = line.split('\t');
        assert_eq!(words.next(), Some(label));
        let values: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let largest = (0..3).fold(0, |best, k| if values[k] > values[best] { k } else { best });
        assert_eq!(["ant", "bee", "fly"][largest], label);
        assert!(values.len() == 3 && (values.iter().sum::<f64>() - 1.0).abs() < 1e-8, "{line}");
    }
    folder.run("predict m train.svm --probabilities --scores").fails(2, &["cannot be used with"]);
    assert!(folder.run("inspect m").well().out.contains("calibrated on"));
    assert_eq!(folder.inspect("m")["calibration"]["on"], "held-out");
}

#[test]
fn a_summary_goes_to_standard_error_and_quiet_silences_it() {
    let folder = Folder::trained();
    let reported = folder.train("--method power-mean train.svm -o m2");
    assert!(
        reported.out.is_empty() && reported.err.contains("3 classes") && reported.err.contains("expected: accuracy"),
        "{}",
        reported.err
    );
    let quiet = folder.run("--quiet train --method power-mean train.svm -o m2").well();
    assert_eq!((quiet.out, quiet.err), (String::new(), String::new()));
}

#[test]
fn many_blocks_and_threads_give_the_answers_of_one_block() {
    let folder = Folder::trained();
    // 20 MB of text: three blocks.
    let once = folder.predict("m test.svm --scores");
    let (text, times) = (folder.read("test.svm"), 20_000_000 / folder.read("test.svm").len());
    folder.write("long.svm", text.repeat(times));
    for threads in [1, 2, 3] {
        folder.run(&format!("predict m long.svm --scores -o long --threads {threads}")).well();
        let long = folder.read("long");
        assert_eq!(long.len(), once.len() * times);
        assert!(long == once.repeat(times), "{threads} threads");
    }
}

#[test]
fn scores_are_a_column_a_class() {
    let folder = Folder::trained();
    let labels = folder.predict("m test.svm");
    let scores = folder.predict("m test.svm --scores");
    for (label, line) in labels.lines().zip(scores.lines()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let values: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let best = (0..3).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap();
        assert_eq!((cells.len(), cells[0], label), (4, ["ant", "bee", "fly"][best], label));
    }
    folder.write("two.svm", "-1 1:1 2:5\n+1 1:5 2:1\n-1 1:1 2:4\n+1 1:6 2:1\n");
    folder.train("--method power-mean two.svm -o two -C 1");
    let scores = folder.predict("two two.svm --scores");
    let first: Vec<&str> = scores.lines().next().unwrap().split('\t').collect();
    assert_eq!((first.len(), first[0]), (2, "-1"));
    assert!(first[1].parse::<f64>().unwrap() < 0.0);
}

#[test]
fn samples_without_labels_and_narrower_ones_are_predicted() {
    let folder = Folder::trained();
    let expected = folder.predict("m test.svm");
    let bare: String = folder.read("test.svm").lines().fold(String::new(), |mut text, line| {
        writeln!(text, "{}", line.split_once(' ').unwrap().1).unwrap();
        text
    });
    folder.write("bare.svm", &bare);
    assert_eq!(folder.predict("m bare.svm"), expected);
    assert_eq!(folder.run_with_input("predict m -", &bare).well().out, expected);
    folder.write("narrow.svm", "1:9 2:9\n");
    assert_eq!(folder.predict("m narrow.svm"), "ant\n");
}

#[test]
fn tables_are_predicted_with_and_without_their_labels() {
    let folder = Folder::trained();
    let expected = folder.predict("m test.svm");
    folder.run("convert test.svm test.csv").well();
    assert_eq!(folder.predict("m test.csv"), expected);
    let cells = |line: &str| line.split(',').filter(|cell| cell.parse::<f64>().is_ok()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = folder.read("test.csv").lines().map(cells).filter(|line| !line.is_empty()).collect();
    folder.write("bare.csv", rows.join("\n"));
    assert_eq!(folder.predict("m bare.csv"), expected);
    let input = rows.join("\n");
    assert_eq!(folder.run_with_input("predict m - --format csv --label none", &input).well().out, expected);
    folder.run("predict m - --format csv --label none").fails(2, &["standard input"]);
}

#[test]
fn a_grid_is_searched_and_its_best_point_marked() {
    let folder = Folder::trained();
    let found =
        folder.run("cv --method power-mean train.svm --folds 4 -C 0.000001 -C 1 --kernel -1 --kernel -inf --kernel jensen-shannon --json");
    let found = found.json();
    let points = found["points"].as_array().unwrap();
    assert_eq!((points.len(), &found["folds"]), (6, &4.into()));
    let mean = |i: usize| points[i]["mean"].as_f64().unwrap();
    let best = found["best"].as_u64().unwrap() as usize;
    assert!((0..6).all(|i| mean(i) <= mean(best)));
    assert_eq!(points[best]["scores"].as_array().unwrap().len(), 4);
    assert_eq!(points[4]["parameters"]["kernel"], "jensen-shannon");
    let table = folder.run("cv --method power-mean train.svm -C 0.01 -C 1").well().out;
    assert_eq!((table.lines().count(), table.matches("* best").count()), (3, 1), "{table}");
    assert_eq!(folder.run("cv --method power-mean train.svm --seed 7 --json").json()["points"][0]["scores"], {
        folder.run("cv --method power-mean train.svm --seed 7 --threads 1 --json").json()["points"][0]["scores"].clone()
    });
}

#[test]
fn the_best_point_is_written() {
    let folder = Folder::trained();
    let search = "cv --method power-mean:nodes=3 train.svm -C 0.000001 -C 1 --kernel -1 --kernel -inf";
    let reported = folder.run(&format!("{search} -o best")).well();
    assert_eq!(reported.out.matches("* best").count(), 1, "{}", reported.out);
    assert!(
        reported.err.contains("the best point on all samples:") && reported.err.contains("best: "),
        "{}",
        reported.err
    );
    folder.run(&format!("{search} -o train.svm")).fails(2, &["train.svm", "is the data itself"]);
    folder.run(&format!("{search} -o nowhere/m")).fails(2, &["there is no folder"]);
    assert_eq!(folder.files(), ["best", "m", "test.svm", "train.svm"]);
}

#[test]
fn labels_the_model_does_not_know_count_as_wrong_and_are_reported() {
    let folder = Folder::trained();
    folder.write("new.svm", "wasp 1:9 2:9\nant 1:9 2:9\n");
    let run = folder.run("evaluate m new.svm --json").well();
    assert!(run.err.starts_with("warning: 1 samples have a label") && run.err.contains("'wasp'"), "{}", run.err);
    assert_eq!(run.json()["accuracy"], 0.5);
}

#[test]
fn what_power_mean_chooses_is_reported() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 150));
    for memory in ["", "--memory-limit 1GB"] {
        let command =
            format!("train --method power-mean:nodes=auto train.svm -o m --json --kernel auto -C auto {memory}");
        let trained = folder.run(&command).json();
        let reported = trained["report"]["notes"].as_array().unwrap().iter().filter_map(|note| note.as_str());
        assert!(reported.into_iter().any(|note| note.contains("by leave-one-out on 150 of the samples")), "{trained}");
        let inspected = folder.inspect("m");
        let c = inspected["parameters"]["C"].as_f64().unwrap();
        let (choice, path) = (&inspected["choice"], inspected["choice"]["path"].as_array().unwrap());
        assert!(path.iter().any(|point| point["C"] == c) && path.len() > 20, "{choice}");
        assert_eq!(choice["chosen"], serde_json::json!(["kernel", "nodes", "C"]));
        let text = folder.run("inspect m").well().out;
        assert!(text.contains("leave-one-out loss") && text.contains("exact"), "{text}");
    }
    let refused = folder.run("train --method power-mean train.svm -o m --kernel best");
    assert!(refused.err.contains("'best'"), "{}", refused.err);
}

#[test]
fn predictions_are_written_as_csv_and_jsonl() {
    let folder = Folder::trained();
    let plain = folder.predict("m test.svm --probabilities");
    let csv = folder.predict("m test.svm --probabilities --output-format csv");
    let (head, rows) = csv.split_once('\n').unwrap();
    assert_eq!(head, "prediction,probability_ant,probability_bee,probability_fly");
    assert_eq!(rows.replace(',', "\t"), plain);
    let sum = |line: &str| line.split('\t').skip(1).map(|word| word.parse::<f64>().unwrap()).sum::<f64>();
    assert!(plain.lines().all(|line| (sum(line) - 1.0).abs() < 1e-14), "{plain}");
    let scores = folder.predict("m test.svm --scores");
    let jsonl = folder.predict("m test.svm --scores --output-format jsonl");
    assert_eq!(jsonl.lines().count(), 60);
    for (line, object) in scores.lines().zip(jsonl.lines()) {
        let (words, object): (Vec<&str>, Value) = (line.split('\t').collect(), serde_json::from_str(object).unwrap());
        assert_eq!(object["prediction"], words[0]);
        assert_eq!(object["score_bee"].as_f64(), words[2].parse().ok());
    }
    folder.run("predict m test.svm --output-format xml").fails(2, &["'xml'"]);
}
