//! The same model in other ways: from samples on disk, from weights for copies, fold by fold, and as the best of a grid.

use widemargin::data::{Labels, grouped_folds, stratified_folds};

use crate::kinds::rings;
use crate::{Folder, lines, outliers, regression, several_labels};

/// A folder with tables of each task.
fn tables() -> Folder {
    let folder = Folder::new();
    for (name, seed) in [("", 1), ("-test", 2)] {
        folder.write(&format!("prices{name}.csv"), regression::table(seed, 150));
        folder.write(&format!("labels{name}.csv"), several_labels::csv(&several_labels::points(seed, 300, true)));
        // Histograms have no number below 0.
        let shifted = several_labels::points(seed, 300, true).into_iter().map(|([x, y], of)| ([x + 1.0, y + 1.0], of));
        folder.write(&format!("shifted{name}.csv"), several_labels::csv(&shifted.collect::<Vec<_>>()));
    }
    let row = |row: usize| format!("{},{};2,{}5;{}\n", row / 4, row % 4, row, if row > 20 { "p" } else { "q" });
    let european = "a;b;label\n".to_owned() + &(0..40).map(row).collect::<String>();
    folder.write("european.csv", &european);
    folder.write("european-test.csv", european);
    folder
}

#[test]
fn a_fit_on_disk_is_that_of_memory() {
    let folder = tables();
    let price = "--label price";
    let of_numbers = "--task regression --method basis-expansion --similarity z-score/rbf --n-basis 40 --loss";
    let (labels, rbf) = ("--label right,near,3", "--method basis-expansion --similarity rbf:gamma=2 -C 1");
    for (data, label, flags, limit, score, tolerance) in [
        ("prices", price, format!("{of_numbers} squared-error"), "", "r2", 1e-3),
        ("prices", price, format!("{of_numbers} huber"), "", "r2", 1e-3),
        ("prices", price, format!("{of_numbers} squared-epsilon-insensitive"), "", "r2", 1e-3),
        ("prices", price, format!("{of_numbers} quantile -C 2"), "", "r2", 1e-3),
        (
            "prices",
            price,
            "--task regression --method thin-plate --n-basis 40 --basis index".into(),
            "--checkpoint begun",
            "r2",
            1e-6,
        ),
        ("labels", labels, rbf.into(), "", "f1_macro", 0.01),
        ("labels", labels, "--method thin-plate --n-basis 40 --basis index -C 10".into(), "", "f1_macro", 0.01),
        (
            "shifted",
            labels,
            "--method power-mean:nodes=3,tol=1e-4 -C 1 --kernel -1".into(),
            "",
            "subset_accuracy",
            0.02,
        ),
        ("european", "--label label", format!("{rbf} --n-basis 10"), "", "accuracy", 0.0),
    ] {
        let fit = |limit: &str| {
            let summary = folder.run(&format!("train {data}.csv {label} {flags} -o m {limit}")).well().err;
            (summary, folder.score(&format!("m {data}-test.csv {label}"), score))
        };
        let ((_, memory), (summary, disk)) = (fit(""), fit(&format!("--memory-limit 300MB {limit}")));
        assert!(summary.contains("on disk"), "{summary}");
        assert!((memory - disk).abs() <= tolerance, "{data} {flags}: {disk} instead of {memory}");
    }
    assert!(folder.path("begun").is_dir());
}

/// A table, the fold of each row, and a grid over C.
struct Grid<'a> {
    text: String,
    folds: Vec<usize>,
    /// The options of all commands, of `cv` and `train`, of `cv` alone, and of `train` alone.
    options: [&'a str; 4],
    c: &'a [&'a str],
    scoring: &'a [&'a str],
}

impl Grid<'_> {
    /// With the rows of each fold in files of their own, `train` and `evaluate` find the scores of `cv`; its best point is
    /// what `train` makes of all samples.
    #[track_caller]
    fn check(&self) {
        let Grid { text, folds, options: [label, fit, of_cv, of_train], c, scoring } = self;
        let folder = Folder::new();
        folder.write("all.csv", text);
        let train = |arguments: &str| folder.train(&format!("{label} {fit} {of_train} --seed 7 {arguments}"));
        for scoring in *scoring {
            let grid: String = c.iter().map(|c| format!("-C {c} ")).collect();
            let search =
                format!("cv all.csv {label} {fit} {of_cv} {grid} --folds 3 --seed 7 --scoring {scoring} -o best");
            let found = folder.run(&format!("{search} --json")).json();
            let (points, best) = (found["points"].as_array().unwrap(), found["best"].as_u64().unwrap() as usize);
            assert_eq!((points.len(), &found["scoring"]), (c.len(), &(*scoring).into()));
            let mean = |at: usize| points[at]["mean"].as_f64().unwrap();
            assert!((0..c.len()).all(|at| mean(at) <= mean(best)), "{found}");
            for (fold, score) in points[c.len() - 1]["scores"].as_array().unwrap().iter().enumerate() {
                folder.write_fold(text, folds, fold);
                train(&format!("part.csv -o f -C {}", c[c.len() - 1]));
                let alone = folder.run(&format!("evaluate f rest.csv {label} --metrics {scoring} --json")).json();
                let (alone, score) = (alone["scores"][scoring].as_f64().unwrap(), score.as_f64().unwrap());
                assert!((alone - score).abs() < 1e-9, "{fit} {scoring} {fold}: {alone} {score}");
            }
            assert_eq!(found["parameters"], points[best]["parameters"]);
            assert_eq!(found["model_bytes"], std::fs::metadata(folder.path("best")).unwrap().len());
            train(&format!("all.csv -o same -C {}", c[best]));
            let predicted = |model: &str| folder.predict(&format!("{model} all.csv {label}"));
            assert_eq!(predicted("best"), predicted("same"));
        }
    }
}

#[test]
fn cross_validation_of_numbers_is_training_and_evaluating_fold_by_fold() {
    let of_numbers = "--task regression --method";
    for (fit, c) in [
        ("thin-plate --kernel distance", &["0.1", "1", "10"][..]),
        ("thin-plate --n-basis 20", &["1"]),
        ("basis-expansion --similarity laplacian:gamma=0.1 --normalization z-score", &["auto", "1"]),
    ] {
        Grid {
            text: regression::table(1, 150),
            folds: stratified_folds(&Labels::new(vec![0i64; 150]), 3, 7).unwrap(),
            options: ["--label price", &format!("{of_numbers} {fit}"), "", ""],
            c,
            scoring: &["r2", "neg-mean-absolute-error", "neg-root-mean-squared-error"],
        }
        .check();
    }
}

#[test]
fn cross_validation_of_labels_is_training_and_evaluating_fold_by_fold() {
    Grid {
        text: several_labels::csv(&several_labels::points(1, 300, true)),
        folds: stratified_folds(&Labels::new(vec![0i64; 300]), 3, 7).unwrap(),
        options: ["--label right,near,3", "--method thin-plate", "", ""],
        c: &["0.01", "1"],
        scoring: &["accuracy", "f1-macro", "roc-auc", "average-precision"],
    }
    .check();
}

#[test]
fn cross_validation_of_groups_is_training_and_evaluating_fold_by_fold() {
    // Labels that are wrong, so that scores differ.
    let wrong = |(row, line): (usize, &str)| match row {
        0 => format!("{line},who"),
        _ if row % 7 == 0 => format!("{},p{}", line.replace("low", "high"), row / 6),
        _ => format!("{line},p{}", row / 6),
    };
    let text = lines(rings(3, 120, true).lines().enumerate().map(wrong));
    let column = |at: usize| Labels::new(text.lines().skip(1).map(move |line| line.split(',').nth(at).unwrap()));
    Grid {
        folds: grouped_folds(&column(2), &column(3), 3, 7).unwrap(),
        text: text.clone(),
        options: ["--label label", "--method basis-expansion --similarity rbf:gamma=1", "--group who", "--drop who"],
        c: &["0.001", "1"],
        scoring: &["accuracy", "balanced-accuracy", "f1-macro", "roc-auc"],
    }
    .check();
}

#[test]
fn weights_count_as_copies() {
    let folder = Folder::new();
    for (text, label, fit, scores) in [
        (regression::table(3, 80), "--label price", "--method thin-plate --task regression", ""),
        (
            outliers::table(&outliers::rows(5, 60, 0.0)),
            "--label none",
            "--method basis-expansion --task outlier-detection",
            "--scores",
        ),
    ] {
        let (head, rows) = text.split_once('\n').unwrap();
        let rows = || rows.lines().enumerate();
        let weighted = rows().map(|(row, line)| format!("{line},{}", row % 3));
        folder.write("weighted.csv", format!("{head},w\n{}", lines(weighted)));
        let copies = rows().flat_map(|(row, line)| std::iter::repeat_n(line, row % 3));
        folder.write("copies.csv", format!("{head}\n{}", lines(copies)));
        folder.write("all.csv", &text);
        folder.train(&format!("weighted.csv {label} --weight-column w {fit} -o m"));
        folder.train(&format!("copies.csv {label} {fit} -o n"));
        let predicted = |model: &str| folder.predict(&format!("{model} all.csv {label} {scores}"));
        assert_eq!(predicted("m"), predicted("n"), "{fit}");
        if fit.contains("regression") {
            let weighted = folder.score("m weighted.csv --label price --weight-column w", "r2");
            let copied = folder.score("m copies.csv --label price", "r2");
            assert!((weighted - copied).abs() < 1e-9, "{weighted} {copied}");
        }
    }
}
