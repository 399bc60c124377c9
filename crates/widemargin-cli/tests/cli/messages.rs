//! What goes wrong, in words that name the cause and a cure that works; and output that can be read.

use crate::kinds::rings;
use crate::{Folder, Run, histograms};

#[test]
fn the_nearest_name_is_suggested() {
    let folder = Folder::new();
    folder.write("a.csv", rings(1, 20, true));
    for (arguments, help) in [
        ("train a.csv -o m --similarity rbf", "add --method basis-expansion"),
        ("train a.csv -o m --method power-mean --kernel chi3", "did you mean 'chi2'?"),
        ("cv a.csv --method basis-expansion --similarity lapalcian", "did you mean 'laplacian'?"),
    ] {
        folder.run(arguments).fails(2, &[]).helps(&[help]);
    }
    assert_eq!(folder.files(), ["a.csv"]);
}

#[test]
fn what_nobody_asked_for_is_not_blamed() {
    let folder = Folder::new();
    folder.write("a.csv", rings(1, 600, true));
    let run = folder.run("train --method thin-plate a.csv -o m --memory-limit 1MB");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(!run.err.contains("--n-basis none is") && !run.err.contains(" 0.0 GB"), "{}", run.err);
    let run = folder.run("train --method thin-plate a.csv -o m --memory-limit 1MB --n-basis 10");
    let run = run.fails(2, &["--memory-limit 1.00 MB: the program itself takes", "with 600 samples"]);
    let least = run.err.rsplit_once("at least ").unwrap().1.trim().to_owned();
    folder.train(&format!("--method thin-plate a.csv -o m --memory-limit {least} --n-basis 10"));
    folder
        .run("train --method thin-plate a.csv -o m -C 1 --class-weight low:0")
        .fails(2, &["300 samples with a weight above 0"]);
    let run = folder.run("train --method thin-plate a.csv -o m --class-weight yes:2");
    run.fails(2, &["--class-weight yes: 2", "no sample has this label; the labels are high, low"]);
    let run = folder.run("cv --method basis-expansion a.csv --similarity rbf:gamma=.01,rbf:gamma=.1");
    run.fails(2, &["rbf:gamma=.1"]);
    folder.run("cv --method basis-expansion a.csv --n-basis 20 -C 1 --folds 2 --similarity rbf:gamma=.01 --similarity rbf:gamma=.1").well();
}

#[test]
fn lines_are_short_and_numbers_too() {
    let folder = Folder::new();
    folder.write("a.csv", rings(1, 120, true));
    let run = folder.train("a.csv -o m");
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
    // The search is in the seconds: they are those that the command took.
    let started = std::time::Instant::now();
    let reported = folder.run("train a.csv -o m --json").json();
    let (seconds, outside) = (reported["seconds"].as_f64().unwrap(), started.elapsed().as_secs_f64());
    assert!(seconds <= outside && seconds > 0.5 * outside, "{seconds} of {outside}");
    let stages = reported["report"]["seconds_total"].as_f64().unwrap() + reported["seconds_read"].as_f64().unwrap();
    assert!(seconds >= stages, "{reported}");
}

#[test]
fn bases_without_weights_of_their_own_are_not_ranked() {
    let folder = Folder::new();
    folder.write("a.csv", rings(1, 60, true));
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
    folder.write("part.svm", histograms(1, 600));
    let run = |limit: u32, command: &str| {
        let Run { code, err, .. } = folder.run_after(&format!("ulimit -v {limit}"), command);
        let code = code.unwrap_or_else(|| panic!("{limit} {command}: ended by a signal: {err}"));
        assert!(code == 0 || err.contains("error: "), "{limit} {command}: {err}");
        (code, err)
    };
    for limit in [60_000, 100_000, 200_000, 400_000] {
        for command in ["train --method power-mean a.svm -o m -C 1", "train a.svm -o m", "convert a.svm b.csv"] {
            let (_, err) = run(limit, &format!("{command} --time-limit 5"));
            assert!(!err.contains("--memory-limit") || command.starts_with("train"), "{limit} {command}: {err}");
        }
    }
    let train = |flags: &str| {
        run(200_000, &format!("train --method basis-expansion --similarity rbf --n-basis 50 -C 1 -o m {flags}"))
    };
    let (code, err) = train("a.svm");
    assert!(code != 0 && err.contains("fewer --threads, or a part of the samples"), "{err}");
    let (code, err) = train("part.svm --threads 1");
    assert!(code == 0, "{err}");
    // A limit that leaves enough is not what is too small.
    let (code, err) = train("a.svm --threads 1 --memory-limit 150MB");
    assert!(code == 0 || (err.contains("address space") && !err.contains("allow at least")), "{err}");
}

#[test]
fn tables_without_labels_list_their_columns() {
    let folder = Folder::new();
    let words = |row: usize| (["red", "blue"][row % 2], ["x", "y", "z"][row % 3], ["yes", "no"][row / 2 % 2]);
    let row = |row: usize| format!("{row}.5,{},{},{}\n", words(row).0, words(row).1, words(row).2);
    folder.write("text.csv", "n,kind,shape,half\n".to_owned() + &(0..60).map(row).collect::<String>());
    folder.run("train text.csv -o m").fails(2, &["text.csv: no labels"]).helps(&["--label: n, kind, shape, half"]);
    folder.train("text.csv -o m --label half");
    folder.write("x.csv", (0..60).map(|row| format!("{row},{}\n", row % 7)).collect::<String>());
    folder.write("two.csv", "a,b\n".to_owned() + &(0..60).map(|row| format!("p{},q\n", row % 2)).collect::<String>());
    folder.run("train x.csv --label-file two.csv -o m").fails(2, &["two.csv: line 2, column 'a'", "not an indicator"]);
}

#[test]
fn numbers_beyond_their_range_are_named_and_short() {
    let folder = Folder::new();
    let value = |row: usize, step: usize| (row * step * 7919 % 1009) as f64 / 1009.0;
    let row = |i: usize| format!("{},{},{},{}\n", value(i, 31), value(i, 57), 3.0 * value(i, 83), i % 2);
    let rows = (1..60).map(row).collect::<String>();
    folder.write("huge.csv", format!("a,b,c,label\n1e300,0,0,0\n{rows}"));
    for method in ["basis-expansion", "thin-plate", "power-mean"] {
        let run = folder.run(&format!("train huge.csv -o m --method {method}"));
        assert!(!run.err.contains("00000000") && !run.err.contains("--kernel"), "{method}: {}", run.err);
        assert!(method != "basis-expansion" || run.err.contains("column 'a': 1e300 is not a finite"), "{}", run.err);
    }
    let tiny = |line: &str| format!("{}e-30,{}\n", line.split_once(',').unwrap().0, line.split_once(',').unwrap().1);
    folder.write("tiny.csv", "a,b,c,label\n".to_owned() + &rows.lines().map(tiny).collect::<String>());
    let run = folder.train("tiny.csv -o m --method thin-plate");
    let factor = run.err.split_once("differ in spread by a factor of ").unwrap().1.split_once(':').unwrap().0;
    assert!(factor.len() <= 8 && (1e28..1e32).contains(&factor.parse::<f64>().unwrap()), "{}", run.err);
}

#[test]
fn methods_that_cannot_be_fitted_have_their_reasons() {
    let folder = Folder::new();
    let table = rings(1, 60, true);
    folder.write("a.csv", &table);
    let run = folder.run("train a.csv -o m --method auto:methods=power-mean");
    let run =
        run.fails(2, &["no method can be fitted: power-mean: it takes vectors without values below 0, such as -"]);
    let negative = run.err.split_once("such as ").unwrap().1.split_whitespace().next().unwrap();
    assert!(table.contains(negative.trim_end_matches("0")), "{negative}");
    // The other samples have no weight in double precision.
    let weighted = |(at, line): (usize, &str)| match at {
        0 => format!("{line},weight\n"),
        1 => format!("{line},1e17\n"),
        _ => format!("{line},1\n"),
    };
    folder.write("w.csv", table.lines().enumerate().map(weighted).collect::<String>());
    let run = folder.run("train w.csv -o m --weight-column weight");
    let run = run.fails(2, &["no method can be fitted: ", "basis-expansion", "thin-plate", "at some C of the path"]);
    assert!(!run.err.contains("a method that can be fitted") && !run.err.contains("methods "), "{}", run.err);
    assert_eq!(folder.files(), ["a.csv", "w.csv"]);
}
