//! What the basis expansion SVM says of specs and samples that it cannot take.

use crate::Folder;
use crate::kinds::{image_folder, rings, strings, ts, ucr};

/// A folder with samples of every kind.
fn every_kind() -> Folder {
    let folder = Folder::new();
    folder.write("rings.csv", rings(1, 40, true));
    folder.write("words.tsv", strings(1, 40, 8, true));
    folder.write("waves.tsv", ucr(1, 20, true));
    folder.write("waves.ts", ts(1, 20));
    image_folder(&folder, "images", 1, 20, 16, true);
    folder
}

const WORDS: &str = "words.tsv --format strings";

#[test]
fn samples_that_a_similarity_does_not_compare() {
    let folder = every_kind();
    for (data, similarity, words, help) in [
        (WORDS, "rbf", "compares vectors, not strings", "ngram-counts/rbf"),
        (WORDS, "tanimoto", "not strings", "ngram"),
        (WORDS, "hog/rbf", "describes images, not strings", ""),
        ("waves.ts", "edit", "compares strings, not time series", "dtw"),
        ("waves.ts", "ngrams/tanimoto", "cuts strings, not time series", ""),
        ("images", "rbf", "compares vectors, not images", "hog:cell=8/rbf"),
        ("images", "rigid", "compares grids of cells, not images", "hog:cell=8/rigid"),
        ("rings.csv", "edit", "compares strings, not vectors", ""),
        ("rings.csv", "hog/rbf", "describes images, not vectors", ""),
        ("images", "hog:cell=3/rbf", "16 × 16 pixels, expected sides that the cell size 3 divides", "2, 4, 8, 16"),
        ("rings.csv", "chi2", "it has the value -", "histograms"),
    ] {
        let file = data.split(' ').next().unwrap();
        for command in ["train --method basis-expansion", "cv --method basis-expansion"] {
            let output = if command.starts_with("train") { "-o m" } else { "" };
            let run = folder.run(&format!("{command} {data} {output} --similarity {similarity}"));
            let run = run.fails(2, &[&format!("{file}: "), words]);
            assert!(run.err.lines().nth(1).unwrap_or("help").contains(help) || run.err.contains(help), "{}", run.err);
        }
    }
    for method in ["power-mean", "thin-plate"] {
        for (data, kind) in [(WORDS, "strings"), ("waves.ts", "time series"), ("images", "images")] {
            let file = data.split(' ').next().unwrap();
            let run = folder.run(&format!("train --method {method} {data} -o m"));
            run.fails(2, &[file, &format!("the samples are {kind}"), "vectors", "basis-expansion"]);
            folder.run(&format!("cv --method {method} {data}")).fails(2, &[file, &format!("the samples are {kind}")]);
        }
    }
    assert!(!folder.has("m"));
}

#[test]
fn samples_are_named_by_their_lines_and_files() {
    let folder = Folder::new();
    folder.write("words.tsv", strings(1, 400, 8, true) + "low\tAC?\n");
    // The bases are evenly spaced, so that the last line is none of five, and all lines are bases of 500.
    for (n_basis, basis) in [(5, "index"), (500, "index"), (300, "kmedoids")] {
        let flags = format!("--similarity align:matrix=blosum62 --n-basis {n_basis} --basis {basis}");
        let run = folder.run(&format!("train --method basis-expansion words.tsv --format strings -o m {flags}"));
        run.fails(2, &["words.tsv: line 401: ", "'?'", "blosum62"]);
    }
    let flags = "--similarity align:matrix=blosum62 --n-basis 50";
    folder
        .run(&format!("cv --method basis-expansion words.tsv --format strings {flags}"))
        .fails(2, &["line 401: ", "'?'"]);
    folder.write("a.csv", "x,y,label\n1,2,a\n\n3,-4,b\n");
    folder
        .run("train --method basis-expansion a.csv -o m --similarity chi2")
        .fails(2, &["a.csv: line 4: ", "value -4"]);
    folder.write("a.csv", "x,y,label\n1,2,a\n\n3,inf,b\n");
    folder.run("train --method basis-expansion a.csv -o m").fails(2, &["a.csv: line 4, column 'y'", "finite"]);
    folder.write("a.tsv", "1\t0.5\t0.7\n2\t0.5\t?\t0.1\n");
    folder
        .run("train --method basis-expansion a.tsv --format ucr -o m")
        .fails(2, &["a.tsv: line 2: value 2: missing"])
        .helps(&["interpolate"]);
    folder.write("a.ts", "@classLabel true a b\n@data\n1,2,3:a\n1,?,2:b\n");
    folder.run("train --method basis-expansion a.ts -o m").fails(2, &["a.ts: line 4: value 2: missing"]);
    image_folder(&folder, "images", 1, 6, 8, true);
    folder.write("images/low/000.png", "not a picture");
    folder.run("train --method basis-expansion images -o m").fails(2, &["000.png", "cannot be decoded"]);
}

#[test]
fn a_nystroem_map_of_an_asymmetric_similarity_warns() {
    let folder = every_kind();
    let train =
        "train --method basis-expansion images -o m --similarity hog:cell=4/deformable --n-basis 10 --normalization";
    let run = folder.run(&format!("{train} nystroem")).well();
    assert!(["not symmetric", "symmetric part", "mean-norm"].iter().all(|part| run.err.contains(part)), "{}", run.err);
}

#[test]
fn rounding_of_a_kernel_is_not_negative() {
    // Rows of rank 2, far from the origin: all eigenvalues but two are zero, in single precision often below it.
    let folder = Folder::new();
    let row = |i: usize| (i % 2, 100.0 + (0.37 * i as f64).sin(), 100.0 + (0.73 * i as f64).cos());
    let rows: Vec<_> = (0..120).map(row).map(|(label, x, y)| format!("{label},{x:.4},{y:.4}\n")).collect();
    folder.write("near.csv", rows.concat());
    folder.train("--method basis-expansion near.csv -o linear --similarity linear -C 1");
    let reported = folder.run("inspect linear --spectrum near.csv --json").json();
    let values = reported["similarities"][0]["eigenvalues"]["symmetric_part"].as_array().unwrap();
    assert!(values.iter().any(|value| value.as_f64().unwrap() < 0.0), "nothing to tell apart");
    assert_eq!(reported["similarities"][0]["negative"]["symmetric_part"]["ratio"], 0.0);
    assert!(reported["similarities"][0]["rounding"].as_f64().unwrap() > 0.0);
    let reported = folder.run("inspect linear --spectrum near.csv").well().out;
    assert!(reported.contains("  0.00") && reported.contains("on these samples it is a kernel"), "{reported}");
    // Where it is none, the table and the line below it say so together.
    folder.train("--method basis-expansion near.csv -o distance --similarity distance -C 1");
    let reported = folder.run("inspect distance --spectrum near.csv").well().out;
    assert!(reported.contains("0.83") && !reported.contains("it is a kernel"), "{reported}");
}

#[test]
fn more_bases_than_samples_are_a_warning() {
    let folder = every_kind();
    let run = folder.train("--method basis-expansion rings.csv -o m --n-basis 50");
    assert!(run.err.contains("warning: n_basis is 50: all 40 samples are bases"), "{}", run.err);
    let report = folder.inspect("m")["report"].clone();
    assert_eq!(report["warnings"][0], "n_basis is 50: all 40 samples are bases");
    assert!(
        folder
            .run("train --method basis-expansion rings.csv -o m --n-basis 40")
            .well()
            .err
            .lines()
            .all(|l| !l.contains("warning"))
    );
    // Nobody asked for the usual thousand.
    for command in [
        "train --method basis-expansion rings.csv -o m",
        "train --method basis-expansion rings.csv -o m --memory-limit 100MB",
    ] {
        let run = folder.run(command).well();
        assert!(!run.err.contains("warning") && !run.err.contains("asked for"), "{}", run.err);
        assert_eq!(folder.inspect("m")["parameters"]["n_basis"], 40);
    }
}

#[test]
fn long_strings_are_shown_by_their_beginning() {
    let folder = Folder::new();
    let line = |i: usize| format!("{}\t{}\n", i % 2, ["ab", "cd"][i % 2].repeat(if i == 3 { 2000 } else { 3 + i }));
    folder.write("long.tsv", (0..30).map(line).collect::<String>());
    folder.train("--method basis-expansion long.tsv -o m --format strings --similarity edit");
    let reported = folder.run("inspect m").well().out;
    let shown = format!("{}… (4,000 characters)", "cd".repeat(20));
    assert!(reported.contains(&shown), "{reported}");
    let longest = reported.lines().filter(|line| !line.starts_with("warning")).map(|line| line.chars().count()).max();
    assert!(longest < Some(120), "{reported}");
    // The JSON has it whole.
    let bases = folder.inspect("m")["bases"].clone();
    let longest = bases.as_array().unwrap().iter().map(|basis| basis["sample"].as_str().unwrap().len()).max();
    assert_eq!(longest, Some(4000));
}

#[test]
fn a_descriptor_alone_is_no_similarity() {
    let train = "train --method basis-expansion images -o m --similarity hog:cell=8";
    every_kind().run(train).fails(2, &["'hog'"]).helps(&["as in hog:cell=8/rbf"]);
}

#[test]
fn samples_of_another_kind_than_the_models() {
    let folder = every_kind();
    for (model, data) in [("words", WORDS), ("rings", "rings.csv"), ("waves", "waves.ts"), ("images", "images")] {
        folder.train(&format!("--method basis-expansion {data} -o {model}.model --n-basis 10"));
    }
    for (model, data, takes, holds) in [
        ("words", "rings.csv", "strings", "csv holds vectors"),
        ("words", "waves.ts", "strings", "ts holds time series"),
        ("rings", WORDS, "vectors", "strings holds strings"),
        ("rings", "images", "vectors", "images holds images"),
        ("waves", "images", "time series", "images holds images"),
        ("images", "rings.csv", "images", "csv holds vectors"),
    ] {
        let file = data.split(' ').next().unwrap();
        for command in ["predict", "evaluate"] {
            let run = folder.run(&format!("{command} {model}.model {data}"));
            run.fails(2, &[file, &format!("the model takes {takes}, and {holds}")]).helps(&["--format"]);
        }
        let transformed = folder.run(&format!("transform {model}.model {data} -o d.npz"));
        transformed.fails(2, &[file, &format!("the model takes {takes}")]);
    }
    folder.run_with_input("predict words.model -", "abc\n").fails(2, &["standard input", "strings", "libsvm"]);
    image_folder(&folder, "large", 1, 6, 24, true);
    for command in ["predict images.model large", "transform images.model large -o d.npz"] {
        folder.run(command).fails(2, &["large", "24 × 24 pixels, expected 16 × 16 pixels", "trained with"]);
    }
    folder.write("wide.csv", "1,2,3\n4,5,6\n");
    folder.run("predict rings.model wide.csv --label none").fails(2, &["wide.csv", "3 features", "2"]);
    folder.run("transform rings.csv rings.csv -o d.npz").fails(2, &["rings.csv", "not a usable model"]);
    assert!(!folder.has("d.npz"));
}

/// The features would be 4 TB: refused before any of them is made.
#[test]
#[cfg(target_os = "linux")]
fn features_that_no_memory_holds() {
    let folder = Folder::new();
    // No two are alike: copies would be one sample.
    let lines = (0..1_000_000).map(|row| format!("{} 1:{row}\n", 1 + row % 2));
    folder.write("many.svm", lines.collect::<String>());
    folder
        .run("train --method basis-expansion many.svm -o m --similarity rbf --n-basis 1000000")
        .fails(2, &["1000000 samples", "GB"])
        .helps(&["--n-basis"]);
}
