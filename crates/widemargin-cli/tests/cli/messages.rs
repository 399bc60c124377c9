//! What goes wrong, in words that name the cause and a cure that works; and output that can be read.

use std::fmt::Write as _;

use crate::{Folder, histograms};

/// Two clouds of `n` rows with a header.
fn table(n: usize) -> String {
    let mut text = "a,b,c,label\n".to_owned();
    for i in 0..n {
        let noise = |step: usize| (i * step * 7919 % 1009) as f64 / 1009.0;
        let class = i % 2;
        writeln!(text, "{},{},{},{class}", noise(31) + 0.7 * class as f64, noise(57), 3.0 * noise(83)).unwrap();
    }
    text
}

#[test]
fn an_option_of_another_command_is_named() {
    let folder = Folder::new();
    folder.write("a.csv", table(20));
    for (arguments, help) in [
        ("train a.csv -o m --similarity rbf", "--similarity is an option of `train basis-expansion`"),
        ("train a.csv -o m --group b", "--group is an option of `cv`"),
        ("cv a.csv", "name the method: `cv basis-expansion DATA`"),
        ("cv auto a.csv", "`train DATA` compares them"),
    ] {
        let run = folder.run(arguments).fails(2, &[]);
        assert!(run.err.lines().nth(1).unwrap().contains(help), "{arguments}: {}", run.err);
    }
    let needed = "a whole number of at least 0 is needed";
    folder.run("train a.csv -o m --seed -1").fails(2, &["'-1'", "--seed", needed]);
    folder.run("explain m a.csv --row -1").fails(2, &["'-1'", "--row", needed]);
    folder.run("cv thin-plate a.csv --folds -5").fails(2, &["'-5'", "--folds"]);
    assert_eq!(folder.files(), ["a.csv"]);
}

#[test]
fn the_name_of_a_method_may_be_that_of_a_file() {
    let folder = Folder::new();
    folder.write("a.csv", table(40));
    folder.run("train a.csv -o thin-plate --methods power-mean").well();
    let inspected = folder.run("inspect thin-plate --json").json();
    assert_eq!(inspected["method"], "power-mean");
    folder.run("train auto a.csv -o auto --methods power-mean").well();
    folder.run("train --seed 1 thin-plate a.csv -o m -C 1").well();
    assert_eq!(folder.run("inspect m --json").json()["method"], "thin-plate");
    for arguments in ["train a.csv thin-plate -o n", "train -o n thin-plate a.csv"] {
        let run = folder.run(arguments).fails(2, &["required arguments"]);
        assert!(run.err.contains("the method comes first: `train thin-plate DATA -o MODEL`"), "{}", run.err);
    }
    folder.run("train a.csv thin-plate a.csv -o n").fails(2, &["the method comes first: `train thin-plate`"]);
    assert!(!folder.has("n"));
}

#[test]
fn what_nobody_asked_for_is_not_blamed() {
    let folder = Folder::new();
    folder.write("a.csv", table(600));
    let run = folder.run("train thin-plate a.csv -o m --memory 1MB");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(!run.err.contains("--n-basis none is") && !run.err.contains(" 0.0 GB"), "{}", run.err);
    folder.run("train thin-plate a.csv -o m -C 1 --class-weight 1:0").fails(2, &["300 samples with a weight above 0"]);
    let run = folder.run("train thin-plate a.csv -o m --class-weight yes:2");
    run.fails(2, &["--class-weight yes: 2", "no sample has this label; the labels are 0, 1"]);
    let run = folder.run("cv basis-expansion a.csv --similarity rbf:gamma=.01,rbf:gamma=.1");
    let run = run.fails(2, &["'rbf:gamma=.1' is another similarity"]);
    assert!(run.err.contains("'rbf:gamma=.01|rbf:gamma=.1'"), "{}", run.err);
    folder.run("cv basis-expansion a.csv --n-basis 20 -C 1 --folds 2 --similarity rbf:gamma=.01|rbf:gamma=.1").well();
}

#[test]
fn lines_are_short_and_numbers_too() {
    let folder = Folder::new();
    folder.write("a.csv", table(120));
    let run = folder.run("train a.csv -o m").well();
    let lines: Vec<&str> = run.err.lines().filter(|line| !line.starts_with("warning: ")).collect();
    assert!(lines.len() <= 12 && lines.iter().all(|line| line.chars().count() <= 160), "{}", run.err);
    let inspected = folder.run("inspect m").well().out;
    assert!(inspected.lines().all(|line| line.chars().count() <= 130), "{inspected}");
    for text in [&run.err, &inspected] {
        let is_long = |word: &&str| {
            word.split_once('.').is_some_and(|(_, after)| after.chars().take_while(char::is_ascii_digit).count() > 8)
        };
        assert_eq!(text.split_whitespace().find(is_long), None, "{text}");
    }
    // The search is in the seconds.
    let told = folder.run("train a.csv -o m --json").json();
    let stages = told["report"]["seconds_total"].as_f64().unwrap() + told["seconds_read"].as_f64().unwrap();
    assert!(told["seconds"].as_f64().unwrap() >= stages, "{told}");
}

#[test]
fn bases_without_weights_of_their_own_are_not_ranked() {
    let folder = Folder::new();
    folder.write("a.csv", table(60));
    let train = "train basis-expansion a.csv -o m --n-basis 30 --similarity rbf -C 1 --normalization";
    folder.run(&format!("{train} nystroem")).well();
    let inspected = folder.run("inspect m").well().out;
    assert!(!inspected.contains("important") && inspected.contains("30 bases"), "{inspected}");
    folder.run(&format!("{train} mean-norm")).well();
    let inspected = folder.run("inspect m").well().out;
    assert!(inspected.contains("the 20 most important of 30 bases") && inspected.contains("weight"), "{inspected}");
}

/// In 400 MB of addresses. An allocation that fails would end the process with a signal.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error_with_a_cure() {
    let folder = Folder::new();
    folder.write("a.svm", histograms(1, 30_000));
    for limit in [60_000, 100_000, 200_000, 400_000] {
        for command in ["train power-mean a.svm -o m -C 1", "train a.svm -o m", "convert a.svm b.csv"] {
            let line =
                format!("ulimit -v {limit}; exec '{}' {command} --time-limit 5", env!("CARGO_BIN_EXE_widemargin"));
            let run = std::process::Command::new("sh").arg("-c").arg(line).current_dir(folder.0.path()).output();
            let run = run.unwrap();
            let err = String::from_utf8(run.stderr).unwrap();
            let code = run.status.code().unwrap_or_else(|| panic!("{limit} {command}: ended by a signal: {err}"));
            assert!(code == 0 || err.contains("error: "), "{limit} {command}: {err}");
            assert!(!err.contains("--memory") || command.starts_with("train"), "{limit} {command}: {err}");
        }
    }
}
