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
        ("train a.csv -o m --similarity rbf", "add --method basis-expansion"),
        ("train a.csv -o m --folds 3", "--folds is an option of `cv`"),
        ("train a.csv -o m --similarty rbf", "did you mean --similarity?"),
        ("train a.csv -o m --method thin-plat", "did you mean thin-plate?"),
        ("train a.csv -o m --method power-mean --kernel chi3", "did you mean 'chi2'?"),
        ("cv a.csv --method basis-expansion --similarity lapalcian", "did you mean 'laplacian'?"),
        ("inspec m", "did you mean inspect?"),
    ] {
        let run = folder.run(arguments).fails(2, &[]);
        assert!(run.err.lines().nth(1).unwrap().contains(help), "{arguments}: {}", run.err);
    }
    let needed = "a whole number of at least 0 is needed";
    folder.run("train a.csv -o m --seed -1").fails(2, &["'-1'", "--seed", needed]);
    folder.run("explain m a.csv --row -1").fails(2, &["'-1'", "--row", needed]);
    folder.run("cv --method thin-plate a.csv --folds -5").fails(2, &["'-5'", "--folds"]);
    assert_eq!(folder.files(), ["a.csv"]);
}

#[test]
fn an_option_of_another_method_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("a.csv", table(40));
    for (flags, words) in [
        ("--kernel chi2", "--kernel applies to --method power-mean and thin-plate"),
        ("--method thin-plate --normalization none", "--normalization applies to --method basis-expansion"),
        ("--method power-mean --n-basis 5", "--n-basis applies to --method basis-expansion and thin-plate"),
        ("--method basis-expansion:nodes=3", "basis-expansion has no parameter 'nodes'"),
        ("--contamination 0.1", "--contamination applies to --task outlier-detection"),
    ] {
        for command in ["train a.csv -o m", "cv a.csv"] {
            folder.run(&format!("{command} {flags}")).fails(2, &[words]);
        }
    }
    folder.run("train --seed 1 --method thin-plate a.csv -o m -C 1").well();
    assert_eq!(folder.run("inspect m --json").json()["method"], "thin-plate");
}

#[test]
fn what_nobody_asked_for_is_not_blamed() {
    let folder = Folder::new();
    folder.write("a.csv", table(600));
    let run = folder.run("train --method thin-plate a.csv -o m --memory-limit 1MB");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(!run.err.contains("--n-basis none is") && !run.err.contains(" 0.0 GB"), "{}", run.err);
    let run = folder.run("train --method thin-plate a.csv -o m --memory-limit 1MB --n-basis 10");
    let run = run.fails(2, &["--memory-limit 1.00 MB: the program itself takes", "with 600 samples"]);
    let least = run.err.rsplit_once("at least ").unwrap().1.trim().to_owned();
    folder.run(&format!("train --method thin-plate a.csv -o m --memory-limit {least} --n-basis 10")).well();
    folder
        .run("train --method thin-plate a.csv -o m -C 1 --class-weight 1:0")
        .fails(2, &["300 samples with a weight above 0"]);
    let run = folder.run("train --method thin-plate a.csv -o m --class-weight yes:2");
    run.fails(2, &["--class-weight yes: 2", "no sample has this label; the labels are 0, 1"]);
    let run = folder.run("cv --method basis-expansion a.csv --similarity rbf:gamma=.01,rbf:gamma=.1");
    run.fails(2, &["rbf:gamma=.1"]);
    folder.run("cv --method basis-expansion a.csv --n-basis 20 -C 1 --folds 2 --similarity rbf:gamma=.01 --similarity rbf:gamma=.1").well();
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
    let train = "train --method basis-expansion a.csv -o m --n-basis 30 --similarity rbf -C 1 --normalization";
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
        for command in ["train --method power-mean a.svm -o m -C 1", "train a.svm -o m", "convert a.svm b.csv"] {
            let line =
                format!("ulimit -v {limit}; exec '{}' {command} --time-limit 5", env!("CARGO_BIN_EXE_widemargin"));
            let run = std::process::Command::new("sh").arg("-c").arg(line).current_dir(folder.0.path()).output();
            let run = run.unwrap();
            let err = String::from_utf8(run.stderr).unwrap();
            let code = run.status.code().unwrap_or_else(|| panic!("{limit} {command}: ended by a signal: {err}"));
            assert!(code == 0 || err.contains("error: "), "{limit} {command}: {err}");
            assert!(!err.contains("--memory-limit") || command.starts_with("train"), "{limit} {command}: {err}");
        }
    }
}

#[test]
fn tables_without_labels_list_their_columns() {
    let folder = Folder::new();
    let words = |row: usize| (["red", "blue"][row % 2], ["x", "y", "z"][row % 3], ["yes", "no"][row / 2 % 2]);
    let row = |row: usize| format!("{row}.5,{},{},{}\n", words(row).0, words(row).1, words(row).2);
    folder.write("text.csv", "n,kind,shape,half\n".to_owned() + &(0..60).map(row).collect::<String>());
    let run = folder.run("train text.csv -o m").fails(2, &["text.csv: no labels"]);
    assert!(run.err.contains("--label: n, kind, shape, half"), "{}", run.err);
    folder.run("train text.csv -o m --label half").well();
    folder.write("x.csv", (0..60).map(|row| format!("{row},{}\n", row % 7)).collect::<String>());
    folder.write("two.csv", "a,b\n".to_owned() + &(0..60).map(|row| format!("p{},q\n", row % 2)).collect::<String>());
    folder.run("train x.csv --label-file two.csv -o m").fails(2, &["two.csv: line 2, column 'a'", "not an indicator"]);
}

#[test]
fn european_tables_are_read_in_blocks_as_in_memory() {
    let folder = Folder::new();
    let row = |row: usize| format!("{},{};2,{}5;{}\n", row / 4, row % 4, row, if row > 20 { "p" } else { "q" });
    folder.write("e.csv", "a;b;label\n".to_owned() + &(0..40).map(row).collect::<String>());
    let train = "train e.csv --method basis-expansion --similarity rbf:gamma=1 --n-basis 10 -C 1";
    folder.run(&format!("{train} -o memory")).well();
    folder.run(&format!("{train} -o blocks --memory-limit 300MB")).well();
    let [memory, blocks] = ["memory", "blocks"].map(|model| folder.run(&format!("predict {model} e.csv")).well().out);
    assert_eq!(memory, blocks);
}
