//! The basis expansion SVM on samples of every kind: each command takes each of them.

use serde_json::Value;

use crate::kinds::{image_folder, labels, rings, strings, ts, ucr};
use crate::{Folder, assert_close, histograms};

/// Trains on one file and goes through the commands with another, whose labels are given.
struct Case<'a> {
    folder: &'a Folder,
    train: &'a str,
    test: &'a str,
    truth: &'a [&'a str],
    /// Of all commands, such as `--format`.
    reading: &'a str,
}

impl Case<'_> {
    /// Every command with these flags of the method; what `inspect` and the summary of `train` say.
    #[track_caller]
    fn runs(&self, flags: &str) -> (Value, String) {
        let Case { folder, train, test, truth, reading } = self;
        let reported = folder.run(&format!("train {train} -o m {reading} --method basis-expansion{flags}")).well().err;
        let accuracy = folder.run(&format!("evaluate m {test} --json {reading}")).json()["accuracy"].clone();
        let predicted = folder.predict(&format!("m {test} {reading}"));
        // After the file of an image.
        let predicted: Vec<&str> = predicted.lines().filter_map(|line| line.rsplit('\t').next()).collect();
        assert_eq!(predicted.len(), truth.len());
        let right = predicted.iter().zip(*truth).filter(|(predicted, truth)| predicted == truth).count();
        let share = right as f64 / truth.len() as f64;
        assert_eq!(accuracy.as_f64().unwrap(), share, "{flags}");
        assert!(share > 0.85, "{flags}: {share}");
        // One thread reads and predicts in turns, two side by side.
        let scores = |threads| folder.predict(&format!("m {test} --scores {reading} --threads {threads}"));
        assert_eq!(scores(1), scores(2));
        let transformed = folder.run(&format!("transform m {test} -o d.csv {reading}")).well().err;
        assert!(transformed.starts_with(&format!("{} samples", truth.len())), "{transformed}");
        let inspected = folder.inspect("m");
        assert!(folder.run("inspect m").well().out.contains("basis-expansion"));
        (inspected, reported)
    }

    /// A grid of two values of C, and the spectrum.
    #[track_caller]
    fn searches(&self, flags: &str) {
        let Case { folder, train, reading, .. } = self;
        let search = format!("cv --method basis-expansion {train} -C 0.1 -C 1 --folds 3 --json {reading} {flags}");
        let found = folder.run(&search).json();
        assert_eq!(found["points"].as_array().unwrap().len(), 2);
        assert!(found["points"][1]["mean"].as_f64().unwrap() > 0.85, "{found}");
        folder.train(&format!("{train} -o m {reading} --method basis-expansion -C 1 {flags}"));
        let found = folder.run(&format!("inspect m --spectrum {train} --json {reading}")).json();
        assert!(found["n_samples"].as_u64().unwrap() > 10 && !found["similarities"][0]["eigenvalues"].is_null());
    }
}

#[test]
fn vectors() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    folder.write("test.csv", rings(2, 40, true));
    let truth = labels(40);
    let case = Case { folder: &folder, train: "train.csv", test: "test.csv", truth: &truth, reading: "" };
    let (inspected, reported) = case.runs(" --similarity rbf --normalization mean-norm --n-basis 20");
    assert!(
        reported.starts_with("label: column 'label', 2 classes: high (40), low (40)\ndata: 80 samples, 2 features, "),
        "{reported}"
    );
    assert_eq!((&inspected["n_features"], &inspected["parameters"]["samples"]), (&2.into(), &"vectors".into()));
    assert_eq!(inspected["bases"].as_array().unwrap().len(), 20);
    // Gamma was learned, and is kept.
    let similarity = inspected["parameters"]["similarity"][0].as_str().unwrap();
    assert!(similarity.starts_with("rbf:gamma="), "{similarity}");
    for flags in [
        " --similarity rbf:gamma=0.5+z-score/laplacian --n-basis 10 --normalization z-score",
        " --similarity polynomial:degree=2 --basis kmedoids --n-basis 10 --loss logistic",
        " --similarity rbf --n-basis 20 --loss squared-error -C 1",
        ":intercept=none --similarity distance --basis random --n-basis 30",
        " --similarity rbf --normalization nystroem --basis auto --n-basis 30 --class-weight balanced",
        " --similarity rbf:weight=2+laplacian:gamma=1,weight=0.5,bases=5 --n-basis 10 --basis every",
        " --similarity rbf --normalization covariance --n-basis 10 -C 0.1",
        ":penalty=l1 --similarity rbf -C 1 --n-basis 40",
        ":max-basis=9 --similarity rbf --n-basis 40 -C auto",
        ":max-basis=9 --n-basis 40",
    ] {
        case.runs(flags);
    }
    case.searches("--similarity rbf --n-basis 20");
    let grid = "cv --method basis-expansion train.csv --similarity linear --similarity rbf --n-basis 5 --n-basis 20 --folds 3 --json";
    let found = folder.run(grid).json();
    assert_eq!(found["points"].as_array().unwrap().len(), 4);
    assert_eq!(found["points"][found["best"].as_u64().unwrap() as usize]["parameters"]["similarity"][0], "rbf");
    // Without labels, and with the model in another format.
    folder.train("--method basis-expansion train.csv -o m --n-basis 20");
    folder.write("bare.csv", rings(2, 40, false));
    folder.run("convert test.csv test.npz").well();
    let predicted = folder.predict("m test.csv");
    assert_eq!(folder.predict("m bare.csv"), predicted);
    assert_eq!(folder.predict("m test.npz"), predicted);
}

#[test]
fn sparse_vectors() {
    let folder = Folder::new();
    folder.write("train.svm", histograms(1, 90));
    folder.write("test.svm", histograms(2, 60));
    let truth: Vec<&str> = (0..60).map(|row| ["ant", "bee", "fly"][row % 3]).collect();
    let case = Case { folder: &folder, train: "train.svm", test: "test.svm", truth: &truth, reading: "" };
    for flags in ["", " --similarity chi2 --n-basis 30", " --similarity cosine+intersection --n-basis 9"] {
        let (inspected, _) = case.runs(flags);
        assert_eq!(inspected["n_features"], 12);
    }
    case.searches("--similarity jensen-shannon --n-basis 30");
    folder.write("wide.svm", "ant 1:1\nant 13:1\n");
    folder.run("predict m wide.svm").fails(2, &["wide.svm", "line 2", "index 13", "12 features"]);
    // A row of few indices is as wide as the model.
    folder.write("short.svm", "1:8 2:8 3:9\n");
    assert_eq!(folder.predict("m short.svm"), "ant\n");
    folder.run_with_input("predict m -", "1:8 2:8 3:9\n").well();
    // A line of the second block, of 8 MiB, is named by its number in the file.
    folder.train("--method basis-expansion train.svm -o m --similarity hellinger --n-basis 3");
    let text = histograms(2, 60);
    let times = (9 << 20) / text.len() + 1;
    folder.write("long.svm", text.repeat(times) + "ant 1:-1\n");
    let run = folder.run("predict m long.svm -o p").fails(2, &["long.svm", "value -1"]);
    assert!(run.err.contains(&format!("line {}:", 60 * times + 1)), "{}", run.err);
}

#[test]
fn similarities_that_were_computed_before() {
    let folder = Folder::new();
    folder.write("raw.svm", histograms(1, 60));
    folder.train("--method basis-expansion raw.svm -o raw --similarity chi2 --n-basis 12 --normalization none");
    folder.run("transform raw raw.svm -o block.npz").well();
    let truth: Vec<&str> = (0..60).map(|row| ["ant", "bee", "fly"][row % 3]).collect();
    let case = Case { folder: &folder, train: "block.npz", test: "block.npz", truth: &truth, reading: "" };
    let (inspected, _) = case.runs(" --similarity precomputed --normalization none");
    assert_eq!((&inspected["n_features"], &inspected["n_weights"]), (&12.into(), &36.into()));
    // The same numbers, so the same weights but for rounding: rows go by their content, which is another here.
    let [direct, before] =
        ["predict raw raw.svm --scores", "predict m block.npz --scores"].map(|c| folder.run(c).well().out);
    assert_close(&direct, &before, 0.005);
    let nystroem = "train --method basis-expansion block.npz -o x --similarity precomputed --normalization nystroem";
    folder.run(nystroem).fails(2, &["block.npz", "similarities between the bases"]);
    folder.run("inspect m --spectrum block.npz").fails(2, &["between the samples themselves"]);
}

#[test]
fn strings_by_every_similarity_of_them() {
    let folder = Folder::new();
    folder.write("train.tsv", strings(1, 60, 12, true));
    folder.write("test.tsv", strings(2, 40, 12, true));
    let truth = labels(40);
    let reading = "--format strings";
    let case = Case { folder: &folder, train: "train.tsv", test: "test.tsv", truth: &truth, reading };
    let (inspected, reported) = case.runs(" --n-basis 20");
    assert!(reported.starts_with("label: column 1, 2 classes: high (30), low (30)\ndata: 60 strings\n"), "{reported}");
    assert_eq!((&inspected["n_features"], &inspected["parameters"]["samples"]), (&Value::Null, &"strings".into()));
    assert_eq!(inspected["parameters"]["similarity"][0], "edit");
    assert!(inspected["bases"][0]["sample"].as_str().unwrap().len() >= 12);
    for flags in [
        " --similarity ngram:n=2",
        " --similarity align:mode=local --n-basis 10",
        " --similarity ngrams:n=2/tanimoto --n-basis 30",
        " --similarity ngram-counts:n=2/rbf+edit:metric=jaro --n-basis 20",
    ] {
        case.runs(flags);
    }
    case.searches("--similarity ngrams:n=1/tanimoto --n-basis 20");
    // Strings alone, from a file and from standard input.
    folder.train("--method basis-expansion train.tsv -o m --format strings --n-basis 20");
    let predicted = folder.predict("m test.tsv --format strings");
    let bare = strings(2, 40, 12, false);
    folder.write("bare.txt", &bare);
    assert_eq!(folder.predict("m bare.txt --format strings"), predicted);
    assert_eq!(folder.run_with_input("predict m - --format strings", &bare).well().out, predicted);
    let trained =
        folder.run_with_input("train --method basis-expansion - -o n --format strings", &strings(1, 60, 12, true));
    assert!(trained.well().err.contains("60 strings"));
}

#[test]
fn c_is_chosen_on_a_distance_and_said() {
    let folder = Folder::new();
    folder.write("train.tsv", strings(1, 60, 12, true));
    let train =
        "train --method basis-expansion train.tsv -o m --format strings --similarity edit --normalization centered";
    let reported = folder.run(&format!("{train} -C auto")).well().err;
    for part in ["C = ", "expected: accuracy ", "(leave-one-out)"] {
        assert!(reported.contains(part), "{reported}");
    }
    let header: Value = serde_json::from_str(&folder.run("inspect m --json").well().out).unwrap();
    let notes = header["report"]["notes"].to_string();
    assert!(notes.contains("negative eigenvalues") && notes.contains("made edit definite"), "{header}");
    assert_eq!(header["parameters"]["normalization"], "centered");
    folder.run(&format!("{train} -C auto --loss logistic")).well();
    let logistic = folder.run("inspect m").well().out;
    assert!(logistic.contains("C was selected for the squared hinge"), "{logistic}");
    // The squared error has its own, whose estimate is exact, and is not that of numbers here.
    let squared = folder.run(&format!("{train} -C auto --loss squared-error")).well().err;
    assert!(squared.contains("(leave-one-out)") && !squared.contains("squared hinge"), "{squared}");
    let header: Value = serde_json::from_str(&folder.run("inspect m --json").well().out).unwrap();
    assert_eq!(header["parameters"]["loss"], "squared-error");
    folder.run(&format!("{train} --loss huber")).fails(2, &["--loss huber", "--task regression"]);
    folder.run(&format!("{train} -C some")).fails(2, &["auto, or a finite number above 0"]);
}

#[test]
fn a_matrix_of_distances_gives_a_thin_plate_machine() {
    let folder = Folder::new();
    let points: Vec<f64> = (0..40).map(|i| f64::from(i % 20) + if i < 20 { 0.0 } else { 30.5 }).collect();
    let matrix = |sign: f64, with_polynomial: bool| -> String {
        let row = |(i, x): (usize, &f64)| {
            let mut cells: Vec<String> = points.iter().map(|y| format!("{}", sign * (x - y).abs())).collect();
            cells.extend(with_polynomial.then(|| x.to_string()));
            cells.insert(0, if i < 20 { "near".into() } else { "far".into() });
            cells.join(",") + "\n"
        };
        points.iter().enumerate().map(row).collect()
    };
    folder.write("distances.csv", matrix(1.0, false));
    folder.write("similarities.csv", matrix(-1.0, false));
    folder.write("polynomial.csv", matrix(1.0, true));
    let train = |data: &str, spec: &str, model: &str| {
        let flags = "--label 1 --normalization centered -C auto";
        folder.run(&format!("train --method basis-expansion {data}.csv -o {model} --similarity {spec} {flags}"))
    };
    train("distances", "precomputed:distance=negative", "d").well();
    train("similarities", "precomputed", "s").well();
    train("similarities", "precomputed --n-basis 3", "n").fails(2, &["every column is a basis"]);
    let [distances, similarities] = [("d", "distances"), ("s", "similarities")]
        .map(|(m, data)| folder.predict(&format!("{m} {data}.csv --label 1")));
    assert_eq!(distances, similarities);
    assert_eq!(distances.lines().filter(|line| *line == "near").count(), 20);
    train("polynomial", "precomputed:distance=negative,polynomials=1", "p").well();
    folder.run("evaluate p polynomial.csv --label 1").well();
    train("similarities", "precomputed:distance=negative", "w").fails(2, &["is no distance"]);
    let wrong = "train --method basis-expansion polynomial.csv -o w --label 1 --similarity precomputed:polynomials=1";
    folder.run(wrong).fails(2, &["normalization", "centered"]);
}

#[test]
fn a_similarity_is_chosen_and_reported() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    folder.write("test.csv", rings(2, 40, true));
    folder.train("--method basis-expansion train.csv -o m");
    let shown = folder.inspect("m");
    let chosen = shown["parameters"]["similarity"][0].as_str().unwrap();
    assert!(!chosen.contains("linear"), "{chosen}");
    let notes = shown["report"]["notes"].to_string();
    assert!(notes.contains("mean leave-one-out squared hinge on 80 samples") && notes.contains("linear"), "{notes}");
    let accuracy = folder.score("m test.csv", "accuracy");
    assert!(accuracy > 0.85, "{accuracy}");
}

#[test]
fn learned_weights_and_margins_are_shown() {
    let folder = Folder::new();
    folder.write("train.csv", rings(1, 80, true));
    folder.train("--method basis-expansion train.csv -o m -C 1 --similarity rbf:weight=auto+linear:weight=auto");
    let shown = folder.inspect("m");
    let specs = shown["parameters"]["similarity"].as_array().unwrap();
    // Rings are not linear.
    let weight = |at: usize| -> f64 {
        let spec = specs[at].as_str().unwrap();
        spec.split_once("weight=").map_or(1.0, |(_, weight)| weight.parse().unwrap())
    };
    assert!(weight(0) > 2.0 * weight(1), "{specs:?}");
    let notes = shown["report"]["notes"].to_string();
    assert!(notes.contains("weights of similarities were learned"), "{notes}");
    assert!(shown["margins"][0].as_f64().unwrap() > 0.0);
    assert!(folder.run("inspect m").well().out.contains("\nmargins "));
    let wrong = "train --method basis-expansion train.csv -o m --similarity";
    folder.run(&format!("{wrong} rbf:weight=0")).fails(2, &["weight", "above 0, or auto"]);
    folder
        .run("train --method basis-expansion:penalty=l1 train.csv -o m --similarity rbf -C auto")
        .fails(2, &["C", "a number above 0 with penalty l1"]);
    folder
        .run("train --method basis-expansion:max-basis=5 train.csv -o m --similarity rbf --normalization nystroem")
        .fails(2, &["normalization"]);
    folder.run(&format!("{wrong} rbf:bases=none")).fails(2, &["bases", "at least 1"]);
}

#[test]
fn strings_in_blocks_are_the_same_as_whole() {
    let folder = Folder::new();
    folder.write("train.tsv", strings(1, 40, 300, true));
    folder.train("--method basis-expansion train.tsv -o m --format strings --similarity edit --n-basis 6");
    let test = strings(2, 50, 300, true);
    folder.write("test.tsv", &test);
    // More than a block of 8 MiB.
    let times = (9 << 20) / test.len() + 1;
    folder.write("long.tsv", test.repeat(times));
    let once = folder.predict("m test.tsv --format strings --scores");
    assert_eq!(folder.predict("m long.tsv --format strings --scores"), once.repeat(times));
}

#[test]
fn time_series() {
    let folder = Folder::new();
    folder.write("train.tsv", ucr(1, 40, true));
    folder.write("test.tsv", ucr(2, 30, true));
    let truth = labels(30);
    let case = Case { folder: &folder, train: "train.tsv", test: "test.tsv", truth: &truth, reading: "--format ucr" };
    let (inspected, reported) = case.runs(" --n-basis 10");
    assert!(reported.starts_with("label: 2 classes: high (20), low (20)\ndata: 40 time series\n"), "{reported}");
    assert_eq!(inspected["parameters"]["samples"], "time series");
    assert_eq!(inspected["bases"][0]["sample"], "24 steps");
    case.runs(" --similarity znorm/dtw:gamma=auto --n-basis 10 --normalization nystroem:negative-eigenvalues=flip");
    case.searches("--similarity dtw:window=0.2 --n-basis 10");
    // Without labels: recognized by the length of the series.
    let predicted = folder.predict("m test.tsv --format ucr");
    folder.write("bare.tsv", ucr(2, 30, false));
    assert_eq!(folder.predict("m bare.tsv --format ucr"), predicted);
    assert_eq!(folder.predict("m bare.tsv --format ucr --label none"), predicted);
    // Two channels and lengths that differ.
    folder.write("train.ts", ts(1, 40));
    folder.write("test.ts", ts(2, 30));
    let case = Case { train: "train.ts", test: "test.ts", reading: "", ..case };
    case.runs(" --similarity dtw:window=0.1+dtw:gamma=auto --n-basis 10");
    folder.run("predict m test.tsv --format ucr").fails(2, &["test.tsv", "1 channels, the bases 2"]);
    case.runs(" --similarity minirocket:features=500/linear --n-basis 10");
    case.runs(" --similarity minirocket:features=500/features");
    folder.run("predict m test.tsv --format ucr").fails(2, &["test.tsv", "1 channels, the training samples 2"]);
}

#[test]
fn images() {
    let folder = Folder::new();
    image_folder(&folder, "train", 1, 40, 16, true);
    let truth = image_folder(&folder, "test", 2, 20, 16, true);
    let case = Case { folder: &folder, train: "train", test: "test", truth: &truth, reading: "" };
    let (inspected, reported) = case.runs(" --n-basis 10");
    let summary = "label: 2 classes: high (20), low (20)\ndata: 40 images, 16 × 16 pixels, gray\n";
    assert!(reported.starts_with(summary), "{reported}");
    assert!(inspected["parameters"]["similarity"][0].as_str().unwrap().starts_with("hog:cell="), "{inspected}");
    case.runs(" --similarity hog:cell=4/rigid --n-basis 10");
    case.runs(" --similarity hog:cell=4/deformable+hog:cell=4/rbf+hog:cell=8/linear");
    case.searches("--similarity hog:cell=4/deformable --n-basis 10");
    let (inspected, _) = case.runs(" --similarity hog:cell=4/match:base=rbf,basis_radius=1 --n-basis 10");
    let spec = inspected["parameters"]["similarity"][0].as_str().unwrap();
    assert!(spec.starts_with("hog:cell=4/match:base=rbf,basis_radius=1"), "{spec}");
    case.runs(" --similarity hog:cell=8/match:radius=0,local=1,smooth=0.01+hog:cell=8/jitter:basis_radius=1");
    case.runs(" --similarity pixels/mean-norm/match:quadratic=0.01 --n-basis 10");
    // Without classes, in the order of the names.
    image_folder(&folder, "bare", 3, 10, 16, false);
    let predicted = folder.predict("m bare");
    let (files, predicted): (Vec<&str>, Vec<&str>) = predicted.lines().filter_map(|line| line.split_once('\t')).unzip();
    assert_eq!((predicted, files.is_sorted()), (labels(10), true));
    let one = folder.run(&format!("predict m bare/{}", files[3])).well().out;
    assert_eq!(one, format!("{}\t{}\n", files[3], labels(10)[3]));
    folder.run("evaluate m bare").fails(2, &["bare", "no labels"]);
}
