//! The thin plate SVM on the command line: nothing to tune, reported when data are awkward, refused when too large.

use std::fmt::Write as _;

use crate::Folder;

/// CSV of `n` points in a square, labeled `in` within a circle and `out` elsewhere, with what `more` makes of each.
pub fn circle(n: usize, more: impl Fn(f64, f64) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let at = |step: f64| (i as f64 * step).fract() * 2.0 - 1.0;
        let (x, y) = (at(0.754_877_666), at(0.569_840_291));
        let label = if x * x + y * y < 0.6 { "in" } else { "out" };
        writeln!(text, "{},{label}", more(x, y)).unwrap();
    }
    text
}

pub fn plain(x: f64, y: f64) -> String {
    format!("{x},{y}")
}

#[test]
fn with_nothing_given_it_is_a_good_classifier() {
    let folder = Folder::new();
    folder.write("train.csv", circle(300, plain));
    let all = circle(900, plain);
    folder.write("test.csv", all.lines().skip(300).collect::<Vec<_>>().join("\n"));
    let reported = folder.train("--method thin-plate train.csv -o m --kernel thin-plate");
    for words in ["2 classes: in (", "kernel = thin-plate", "C = ", "expected: accuracy ", "(leave-one-out)"] {
        assert!(reported.err.contains(words), "{words}: {}", reported.err);
    }
    assert!(!reported.err.contains("warning"), "{}", reported.err);
    let evaluated = folder.run("evaluate m test.csv --json").json();
    assert_eq!(evaluated["method"], "thin-plate");
    assert!(evaluated["accuracy"].as_f64().unwrap() > 0.95, "{evaluated}");
    assert_eq!(folder.predict("m test.csv").lines().count(), 600);
    assert!(folder.predict("m test.csv --scores").lines().all(|line| line.contains('\t')));
}

#[test]
fn inspect_shows_the_path_and_what_was_chosen() {
    let folder = Folder::new();
    folder.write("train.csv", circle(200, plain));
    let trained = folder.run("train --method thin-plate train.csv -o m --kernel thin-plate --json").json();
    assert_eq!((&trained["parameters"]["C"], &trained["parameters"]["n_basis"]), (&"auto".into(), &"auto".into()));
    let inspected = folder.inspect("m");
    let (parameters, path) = (&inspected["parameters"], inspected["path"].as_array().unwrap());
    assert_eq!((&parameters["rank"], &parameters["n_polynomials"]), (&3.into(), &3.into()));
    assert_eq!((&parameters["kernel"], &parameters["polynomials"]), (&"thin-plate".into(), &"penalized".into()));
    assert_eq!(parameters["C_by_leave_one_out"], true);
    assert!(parameters["n_support"].as_u64().unwrap() > 0 && path.len() > 5);
    let loss = |point: &serde_json::Value| point["loo_squared_hinge"].as_f64().unwrap();
    let best = path.iter().min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
    assert_eq!(best["C"], parameters["C"]);
    let text = folder.run("inspect m").well().out;
    for words in ["rank ", "support vectors", "leave-one-out loss", "* chosen", "polynomials", "Newton steps"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(text.matches("* chosen").count(), 1);
}

#[test]
fn the_kernel_is_chosen_and_reported() {
    let folder = Folder::new();
    folder.write("train.csv", circle(150, plain));
    let kernel_of = |flags: &str| {
        let run = folder.train(&format!("--method thin-plate train.csv -o m --n-basis 30 {flags}"));
        let reported = folder.inspect("m");
        (reported["parameters"]["kernel"].as_str().unwrap().to_owned(), run.err)
    };
    let (kernel, reported) = kernel_of("");
    assert!(reported.contains("kernel = "), "{reported}");
    let notes = folder.inspect("m")["report"]["notes"].to_string();
    assert!(notes.contains("squared hinge on 150 samples: distance "), "{notes}");
    // Larger than memory it is the same, and at a C that is given the first.
    assert_eq!(kernel_of("--memory-limit 200MB").0, kernel);
    assert_eq!(kernel_of("-C 1").0, "distance");
    assert_eq!(kernel_of("--kernel cityblock").0, "cityblock");
}

#[test]
fn c_is_chosen_for_each_class() {
    let folder = Folder::new();
    let corners: String =
        (0..90).map(|i| format!("{},{},{}\n", ["a", "b", "c"][i % 3], (i % 3) * 5 + i % 7, i % 11)).collect();
    folder.write("train.csv", corners);
    folder.train("--method thin-plate train.csv --label 1 -o m -C auto-per-class");
    let inspected = folder.inspect("m");
    assert_eq!(inspected["per_class"].as_array().unwrap().len(), 3);
    assert_eq!(inspected["parameters"]["C_per_class"].as_array().unwrap().len(), 3);
    assert_eq!(inspected["margins"].as_array().unwrap().len(), 3);
    let shown = folder.run("inspect m").well().out;
    assert!(shown.contains("class a\n") && shown.contains("class c\n"), "{shown}");
}

#[test]
fn lists_are_searched() {
    let folder = Folder::new();
    folder.write("train.csv", circle(150, plain));
    let found =
        folder.run("cv --method thin-plate train.csv --folds 3 -C auto -C 1 -C 100 --kernel thin-plate --kernel distance --json").json();
    assert_eq!((&found["method"], found["points"].as_array().unwrap().len()), (&"thin-plate".into(), 6));
    assert_eq!(found["points"][0]["parameters"]["C"], "auto");
    assert_eq!(found["points"][1]["parameters"]["C"], 1.0);
    assert!(found["points"].as_array().unwrap().iter().all(|point| point["mean"].as_f64().unwrap() > 0.8));
    let table = folder
        .run("cv train.csv --method thin-plate --method thin-plate:polynomials=none --n-basis 10 --n-basis none")
        .well()
        .out;
    assert_eq!((table.lines().count(), table.matches("* best").count()), (5, 1), "{table}");
    assert!(table.contains("n-basis") && table.contains("polynomials=none") && !table.contains(" basis "), "{table}");
}

#[test]
fn what_does_not_fit_in_memory_is_refused_with_its_figure_and_a_way_out() {
    let folder = Folder::new();
    let mut text = String::new();
    // No two are alike: copies would be one sample.
    (0..300_000).for_each(|i| writeln!(text, "{},{}", i * 7, i % 2).unwrap());
    folder.write("many.csv", text);
    folder
        .run("train --method thin-plate many.csv --label 2 -o m --n-basis none")
        .fails(2, &["GB for 300000 samples"])
        .helps(&["--n-basis 1000"]);
    folder
        .run("train --method thin-plate many.csv --label 2 -o m --n-basis 100000")
        .fails(2, &["--n-basis 100000", "fewer bases"]);
    assert_eq!(folder.files(), ["many.csv"]);
}

#[test]
fn many_samples_go_to_bases_by_default_and_are_reported() {
    let folder = Folder::new();
    folder.write("many.csv", circle(10_001, plain));
    let run = folder.train("--method thin-plate many.csv -o m -C 1");
    assert!(run.err.contains("10001 samples are many") && run.err.contains("1000 bases"), "{}", run.err);
    assert_eq!(folder.inspect("m")["parameters"]["n_bases"], 1000);
    // In blocks the machine is the same, on the same bases.
    let few = folder.train("--method thin-plate many.csv -o m -C 1 --n-basis 50 --basis index");
    assert!(!few.err.contains("warning"), "{}", few.err);
    folder.train("--method thin-plate many.csv -o m2 -C 1 --n-basis 50 --basis index --memory-limit 200MB");
    let (whole, blocks) = (folder.predict("m many.csv"), folder.predict("m2 many.csv"));
    let differ = whole.lines().zip(blocks.lines()).filter(|(a, b)| a != b).count();
    assert!(differ <= 10, "{differ} of 10001 predictions");
}

#[test]
fn remarks_on_columns_are_warnings() {
    let folder = Folder::new();
    folder.write("a.csv", (0..60).fold(String::new(), |text, i| text + &format!("{i},{}\n", ["a", "b"][i / 30])));
    let run = folder.train("--method thin-plate a.csv -o m --kernel thin-plate");
    assert!(run.err.contains("warning: a.csv: column 1 numbers the rows"), "{}", run.err);
}

#[test]
fn values_too_large_are_refused() {
    let folder = Folder::new();
    folder.write("far.csv", circle(30, |x, y| format!("{},{}", 1e200 * x, 1e200 * y)));
    let run = folder.run("train --method thin-plate far.csv -o m2").fails(2, &["too large for double precision"]);
    assert!(!run.err.contains("--kernel"), "{}", run.err);
    assert!(!folder.has("m2"));
}
