//! Tables with categories, booleans and missing values, from training to predictions; names, weights and groups.

use crate::Folder;
use crate::kinds::table;

const ORDER: [&str; 4] = ["size", "color", "known", "kind"];

#[test]
fn a_model_takes_the_tables_it_was_trained_on() {
    for method in ["auto", "thin-plate", "basis-expansion --n-basis 30", "power-mean"] {
        let folder = Folder::new();
        folder.write("train.csv", table(1, 120, &ORDER));
        folder.write("test.csv", table(2, 60, &ORDER));
        let (name, flags) = method.split_once(' ').unwrap_or((method, ""));
        folder.train(&format!("--method {name} train.csv --label kind -o m {flags}"));
        let reported = folder.inspect("m");
        let notes = reported["report"]["notes"].to_string();
        assert!(notes.contains("column 'color': 4 categories") && notes.contains("became the median"), "{notes}");
        let accuracy = folder.score("m test.csv --label kind", "accuracy");
        assert!(accuracy > 0.65, "{method} {accuracy}");
        let scores = folder.predict("m test.csv --label kind --scores");
        folder.write("turned.csv", table(2, 60, &["known", "color", "size"]));
        assert_eq!(folder.predict("m turned.csv --scores"), scores, "{method}");
        folder.write("new.csv", "known,color,size\nyes,pink,3\nno,pink,3\nno,red,\n");
        let run = folder.run("predict m new.csv").well();
        assert_eq!(run.out.lines().count(), 3);
        assert_eq!(run.err.matches("column 'color': 'pink' did not occur in training").count(), 1, "{}", run.err);
        folder.write("few.csv", "known,color\nyes,pink\n");
        folder.run("predict m few.csv").fails(2, &["few.csv", "missing 'size'"]);
        folder.write("wrong.csv", "known,color,size\nyes,red,big\n");
        folder.run("predict m wrong.csv").fails(2, &["wrong.csv: line 2, column 'size': 'big' is not a number"]);
    }
}

#[test]
fn names_are_printed_and_weights_are_copies() {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 60, &["who", "times", "size", "color", "kind"]));
    let bare = table(1, 60, &["who", "size", "color", "kind"]);
    let copies =
        |(row, line): (usize, &str)| (line.to_owned() + "\n").repeat(if row == 0 { 1 } else { 1 + (row - 1) % 3 });
    folder.write("copies.csv", bare.lines().enumerate().map(copies).collect::<String>());
    folder.write("bare.csv", bare);
    let train =
        "train --method basis-expansion --similarity rbf:gamma=0.001 -C 1 --n-basis 20 --label kind --id who train.csv";
    folder.run(&format!("{train} -o weighted --weight-column times")).well();
    let predicted = folder.predict("weighted train.csv --label kind --id who --weight-column times");
    assert!(predicted.starts_with("n0\t") && predicted.lines().count() == 60, "{predicted}");
    let scores = |more: &str| {
        let reported = folder.run(&format!("evaluate weighted {more} --label kind --id who --json")).json();
        ["accuracy", "f1_macro", "roc_auc", "average_precision"].map(|name| reported[name].as_f64().unwrap())
    };
    let (weighted, copied) = (scores("train.csv --weight-column times"), scores("copies.csv"));
    for (weighted, copied) in weighted.iter().zip(copied) {
        assert!((weighted - copied).abs() < 1e-12, "{weighted} {copied}");
    }
    assert_ne!(weighted, scores("bare.csv"));
    // Weights change what is learned.
    folder.run(&train.replace("train.csv", "bare.csv -o plain")).well();
    let values = |model: &str| folder.predict(&format!("{model} bare.csv --label kind --id who --scores"));
    assert_ne!(values("weighted"), values("plain"));
    folder.run("train train.csv -o m --weight-column heft").fails(2, &["--weight-column 'heft'", "the columns are"]);
}

#[test]
fn series_with_missing_values_are_not_completed_by_medians() {
    let folder = Folder::new();
    folder.write("series.csv", "t0,t1,t2,kind\n1,2,,a\n2,1,3,b\n1,2,1,a\n3,1,,b\n");
    let expansion = "--method basis-expansion -C 1 --similarity";
    for command in ["train series.csv -o m", "cv series.csv --folds 2"] {
        let run = folder.run(&format!("{command} --label kind {expansion} dtw"));
        run.fails(2, &["values are missing", "as series"]).helps(&["--format ucr", ".ts"]);
    }
    folder.run(&format!("train series.csv --label kind {expansion} rbf -o m")).well();
    // The cure.
    folder.write("series.txt", "a,1,2\nb,2,1,3\na,1,2,1\nb,3,1\n");
    folder.run(&format!("train series.txt --format ucr {expansion} dtw -o m")).well();
}

#[test]
fn samples_in_blocks_have_weights_too() {
    let folder = Folder::new();
    let row = |row: usize| {
        let [x, y] = [row * 37 % 101, row * 53 % 89].map(|at| at as f64 / 20.0);
        format!("{x},{y},{},{}\n", row % 4, if (3.0 * x).sin() + y > 2.5 { "yes" } else { "no" })
    };
    folder.write("train.csv", format!("x,y,times,kind\n{}", (0..300).map(row).collect::<String>()));
    let scores = |weight: &str| -> Vec<f64> {
        let fit = "--method basis-expansion --similarity rbf -C 1 --n-basis 30";
        folder.run(&format!("train train.csv --label kind {fit} -o m {weight}")).well();
        let printed = folder.predict("m train.csv --label kind --drop times --scores");
        printed.lines().map(|line| line.split_whitespace().last().unwrap().parse().unwrap()).collect()
    };
    let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let weighted = scores("--weight-column times");
    assert!(difference(&weighted, &scores("--weight-column times --memory-limit 100MB")) < 1e-4);
    assert!(difference(&weighted, &scores("--drop times --memory-limit 100MB")) > 1e-2);
}

#[test]
fn groups_of_a_column_are_those_of_a_file() {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 80, &["house", "size", "color", "kind"]));
    folder.write("bare.csv", table(1, 80, &["size", "color", "kind"]));
    folder.write("groups.txt", (0..80).map(|row| format!("h{}\n", row / 2)).collect::<String>());
    let cv = "cv --method power-mean:nodes=3 -C 0.1 --kernel -1 --label kind --json";
    let by_column = folder.run(&format!("{cv} train.csv --group house")).json();
    let by_file = folder.run(&format!("{cv} bare.csv --group-file groups.txt")).json();
    assert_eq!(by_column["n_groups"], 40);
    assert_eq!(by_column["points"][0]["scores"], by_file["points"][0]["scores"]);
    folder.run(&format!("{cv} train.csv --group house --group-file groups.txt")).fails(2, &["--group"]);
}

#[test]
fn tables_of_other_programs_are_trained_on_as_the_plain_one() {
    let folder = Folder::new();
    let plain = table(1, 60, &["size", "color", "kind"]);
    folder.write("plain.csv", &plain);
    folder.write("european.csv", plain.replace(',', ";"));
    folder.write("odd.csv", plain.replace(',', "~"));
    folder.write("bare.csv", plain.split_once('\n').unwrap().1);
    let train = "train --method basis-expansion -C 1 --n-basis 20 --similarity rbf:gamma=0.01";
    folder.run(&format!("{train} plain.csv -o m --label kind")).well();
    let scores = |file: &str, flags: &str| folder.predict(&format!("m {file} {flags} --scores"));
    let expected = scores("plain.csv", "--label kind");
    assert_eq!(scores("european.csv", "--label kind"), expected);
    assert_eq!(scores("odd.csv", "--label kind --delimiter ~"), expected);
    folder.run(&format!("{train} bare.csv -o b --label 3 --header no")).well();
    folder.run("predict m plain.csv --delimiter ab").fails(2, &["--delimiter", "one ASCII character"]);
    folder.run("predict m plain.csv --header maybe").fails(2, &["--header", "yes, no"]);
    folder.write("a.svm", "1 1:1\n2 2:1\n");
    folder.run("train a.svm -o x --decimal ,").fails(2, &["--decimal is for CSV and TSV files", "libsvm"]);
}

#[test]
fn names_with_line_breaks_are_quoted() {
    let folder = Folder::new();
    let rows: String =
        (0..40).map(|row| format!("\"Ada\n{row}\",{},{}\n", row % 20, ["x", "z"][row / 10 % 2])).collect();
    folder.write("a.csv", format!("who,size,kind\n{rows}"));
    folder.train("a.csv -o m --label kind --id who");
    let out = folder.predict("m a.csv --label kind --id who");
    assert!(out.starts_with("\"Ada\n0\"\t"), "{out}");
    assert_eq!(out.matches("\"Ada\n").count(), 40);
}

#[test]
fn labels_with_leading_zeros_are_classes_of_their_own() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|row| format!("{},{}\n", row % 30, ["7", "07", "007"][row / 10 % 3])).collect();
    folder.write("a.csv", format!("size,code\n{rows}"));
    folder.train("a.csv -o m --label code --task classification");
    assert_eq!(folder.inspect("m")["classes"], serde_json::json!([7, "007", "07"]));
}

#[test]
fn numbers_that_are_categories_are_encoded_as_text_is() {
    let folder = Folder::new();
    let table = table(1, 120, &ORDER);
    let numbers = ["blue", "green", "red", "amber"].iter().zip(["30", "7", "19", "4"]);
    let numbered = numbers.fold(table.clone(), |text, (color, number)| text.replace(color, number));
    folder.write("text.csv", &table);
    folder.write("codes.csv", &numbered);
    let train = "--method thin-plate --label kind -C 1";
    folder.train(&format!("text.csv -o text {train}"));
    folder.train(&format!("codes.csv -o codes {train} --categorical color"));
    let notes = folder.inspect("codes")["report"]["notes"].to_string();
    assert!(notes.contains("column 'color': 4 categories"), "{notes}");
    let scores = |model: &str| folder.predict(&format!("{model} {model}.csv --label kind --scores"));
    assert_eq!(scores("codes"), scores("text"));
    folder.write("new.csv", "size,color,known\n3,8,yes\n");
    let run = folder.run("predict codes new.csv").well();
    assert!(run.err.contains("column 'color': '8' did not occur in training"), "{}", run.err);
    // A column of categories is not the label, wherever it is.
    folder.write("bare.csv", (0..60).map(|row| format!("{},{}\n", row % 3, row % 2)).collect::<String>());
    folder.train("bare.csv -o bare --method thin-plate --categorical 1 --label 2");
    for (arguments, words) in [
        ("codes.csv --categorical hue", "--categorical 'hue'"),
        ("codes.csv --categorical kind --label kind", "it is also the label column"),
        ("codes.csv --categorical color --label kind --method power-mean --memory-limit 1GB", "--categorical"),
        ("- --format csv --categorical color", "read twice"),
    ] {
        folder.run(&format!("train {arguments} -o m")).fails(2, &[words]);
    }
}

#[test]
fn dirty_tables_are_read_in_blocks_as_in_memory() {
    let row = |row: usize| format!("{}.{},2.{}5,{}\n", row / 4, row % 4, row, if row > 20 { "p" } else { "q" });
    let plain = "a,b,label\n".to_owned() + &(0..40).map(row).collect::<String>();
    let european = plain.replace(',', ";").replace('.', ",");
    let utf16 = |text: &str| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let folder = Folder::new();
    let train = |name: &str, memory: &str| {
        let flags = "--method basis-expansion --similarity rbf:gamma=1 --n-basis 10 -C 1";
        folder.train(&format!("{name} -o m {flags} {memory}"));
        folder.predict(&format!("m {name} --scores"))
    };
    let limits = ["", "--memory-limit 300MB"];
    folder.write("plain.csv", &plain);
    let expected = limits.map(|limit| train("plain.csv", limit));
    for (name, bytes) in [
        ("european.csv", european.clone().into_bytes()),
        ("sep.csv", format!("sep=;\n{european}").into_bytes()),
        ("mac.csv", plain.replace('\n', "\r").into_bytes()),
        ("comments.csv", format!("# measured, in May, 2020\n# by hand\n{plain}# the end\n").into_bytes()),
        ("padded.csv", plain.replace('\n', ",,\n").into_bytes()),
        ("quoted.csv", plain.replace(",p", ",\"p\"").into_bytes()),
        ("dollars.csv", plain.replace(",2.", ",$2.").into_bytes()),
        ("utf16.csv", utf16(&plain.replace(',', "\t"))),
    ] {
        folder.write(name, bytes);
        assert_eq!(limits.map(|limit| train(name, limit)), expected, "{name}");
    }
    folder.write("open.csv", plain.replacen(",p", ",\"p", 1));
    folder.run("train open.csv -o m --memory-limit 300MB").fails(2, &["open.csv: line 23", "quote"]);
}

#[test]
fn tables_of_few_cells_are_learned() {
    let folder = Folder::new();
    let lines = |header: &str, row: &dyn Fn(usize) -> String| {
        header.to_owned() + &(0..400).map(|at| row(at) + "\n").collect::<String>()
    };
    folder.write("and.csv", lines("a,b,label\n", &|at| format!("{},{},{}", at % 2, at / 2 % 2, at % 4 / 3)));
    folder.write("three.csv", lines("t,label\n", &|at| format!("{},{}", 10 + at % 3, ["x", "y", "z"][at % 3])));
    folder
        .write("wrong.csv", lines("t,label\n", &|at| format!("{},{}", at % 2, u8::from(at % 2 == 1 || at % 20 == 0))));
    for (data, accuracy) in [("and", 1.0), ("three", 1.0), ("wrong", 0.95)] {
        let run = folder.run(&format!("train {data}.csv -o m")).well();
        assert!(run.err.contains(&format!("expected: accuracy {:.2} %", 100.0 * accuracy)), "{data}: {}", run.err);
        assert_eq!(folder.score(&format!("m {data}.csv"), "accuracy"), accuracy, "{data}");
    }
}
