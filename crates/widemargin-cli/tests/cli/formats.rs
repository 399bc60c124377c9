//! Converting between formats, and training from each of them.

use crate::{Folder, lines};

const FORMATS: [&str; 4] = ["svm", "csv", "tsv", "npz"];

#[test]
fn every_format_becomes_every_other_and_comes_back() {
    let folder = Folder::trained();
    let original = folder.read("test.svm");
    for first in FORMATS {
        folder.run(&format!("convert test.svm a.{first} --quiet")).well();
        for second in FORMATS {
            folder.run(&format!("convert a.{first} b.{second}")).well();
            folder.run(&format!("convert b.{second} back.svm")).well();
            assert_eq!(folder.read("back.svm"), original, "{first}, {second}");
        }
    }
}

#[test]
fn a_dense_file_gives_the_same_model_in_every_format() {
    let folder = Folder::new();
    let noise = |at: usize| (at * 7919 % 1009) as f64 / 1009.0 + 0.001;
    let row = |row: usize| format!("{},{},{}\n", noise(31 * row) + 0.7 * (row % 2) as f64, noise(57 * row), row % 2);
    folder.write("a.csv", "x,z,label\n".to_owned() + &(0..120).map(row).collect::<String>());
    folder.run("convert a.csv a.svm --quiet").well();
    let [csv, svm] = ["csv", "svm"].map(|name| folder.run(&format!("train a.{name} -o m --seed 0 --json")).json());
    // The candidates and their losses to four digits.
    assert_eq!(csv["report"]["notes"], svm["report"]["notes"]);
}

#[test]
fn an_array_alone_has_the_samples_and_takes_labels_as_a_column() {
    let folder = Folder::new();
    folder.write("a.csv", "x,z,label\n1,2,1\n0,4,2\n5,6,1\n7,0,2\n");
    folder.run("convert a.csv a.npy --label none").well();
    folder.run("convert a.npy b.csv --label -1").well();
    let cells = folder.read("b.csv");
    assert!(cells.lines().next_back().unwrap().contains('7'), "{cells}");
    folder.train("--method power-mean a.npy -o m --label -1 -C 1");
    assert_eq!(folder.predict("m a.npy --label 3"), folder.predict("m a.csv"));
    folder.run("train --method power-mean a.npy -o m2").fails(2, &["a.npy", "no labels"]);
    folder.run("predict m a.npy").fails(2, &["3 features", "trained with 2"]).helps(&["--label COLUMN"]);
}

#[test]
fn standard_input_and_output_are_files_too() {
    let folder = Folder::trained();
    let text = folder.read("test.svm");
    let csv = folder.run("convert test.svm - --output-format csv").well().out;
    let back = folder.run_with_input("convert - - --format csv --output-format libsvm", &csv).well().out;
    assert_eq!(back, text);
    folder.run("convert test.svm -").fails(2, &["no name"]).helps(&["--output-format"]);
    folder.run_with_input("train --method power-mean - -o m2 -C 1", &folder.read("train.svm")).well();
    assert_eq!(folder.run_with_input("predict m2 -", &text).well().out, folder.predict("m test.svm -o -"));
}

#[test]
fn odd_names_need_their_format_named() {
    let folder = Folder::trained();
    folder.run("convert test.svm a.data").fails(2, &["a.data"]).helps(&["--output-format"]);
    folder.run("convert test.svm a.data --output-format tsv").well();
    folder.run("predict m a.data").fails(2, &["a.data", "format"]);
    assert_eq!(folder.predict("m a.data --format tsv"), folder.predict("m test.svm"));
}

#[test]
fn every_format_trains_the_same_model() {
    let folder = Folder::trained();
    let expected = folder.predict("m test.svm --scores");
    for format in FORMATS {
        folder.run(&format!("convert train.svm a.{format}")).well();
        folder.train(&format!("--method power-mean a.{format} -o m2 -C 1"));
        assert_eq!(folder.predict("m2 test.svm --scores"), expected, "{format}");
    }
}

#[test]
fn indices_start_where_those_of_the_training_file_do() {
    let folder = Folder::trained();
    let from_zero = |text: &str| {
        let pair = |word: &str| match word.split_once(':') {
            Some((index, value)) => format!("{}:{value}", index.parse::<u32>().unwrap() - 1),
            None => word.to_owned(),
        };
        let line = |line: &str| line.split(' ').map(pair).collect::<Vec<_>>().join(" ") + "\n";
        text.lines().map(line).collect::<String>()
    };
    let without_first = lines(folder.read("test.svm").lines().filter(|line| !line.contains(" 1:")));
    folder.write("test.svm", &without_first);
    folder.write("test0.svm", from_zero(&without_first));
    folder.write("train0.svm", from_zero(&folder.read("train.svm")));
    for memory in ["", "--memory-limit 1GB"] {
        for (data, model) in [("train.svm", "one"), ("train0.svm", "zero")] {
            folder.train(&format!("--method power-mean {data} -o {model} -C 1 {memory}"));
        }
        assert_eq!(folder.predict("zero test0.svm --scores"), folder.predict("one test.svm --scores"), "{memory}");
        folder.run("predict zero test.svm").fails(2, &["line 1", "12 features, whose indices start at 0"]);
    }
    folder.run("predict m train0.svm").fails(2, &["index 0", "as in the training data"]).helps(&["add 1"]);
}

#[test]
fn several_labels_ids_and_weights_are_written_or_refused() {
    let folder = Folder::new();
    folder.write("ml.svm", "1,2 1:1 2:2\n3 1:1\n 2:5\n");
    let note = folder.run("convert ml.svm ml.csv").well().err;
    assert!(note.contains("--label -3,-2,-1"), "{note}");
    assert_eq!(folder.read("ml.csv"), "x1,x2,1,2,3\n1,2,1,1,0\n1,0,0,0,1\n0,5,0,0,0\n");
    for data in ["ml.svm", "ml.csv --label -3,-2,-1"] {
        folder.run(&format!("convert {} back.svm {}", &data[..6], &data[6..])).well();
        assert_eq!(folder.read("back.svm"), "1,2 1:1 2:2\n3 1:1\n 2:5\n", "{data}");
    }
    for out in ["o.npz", "o.npy"] {
        folder.run(&format!("convert ml.svm {out}")).fails(2, &["multilabel targets"]).helps(&["--label none"]);
        folder.run(&format!("convert ml.svm {out} --label none")).well();
    }
    // What would be read as something else.
    folder.write("sets.csv", "a,u,v\n1,1,1\n2,0,1\n");
    folder.run("convert sets.csv o.svm --label u,v").fails(2, &["whole numbers", "'u'"]).helps(&[".csv"]);
    folder.write("sets.csv", "a,1,2\n1,1,0\n2,0,1\n");
    folder.run("convert sets.csv o.svm --label -2,-1 --header yes").fails(2, &["two labels"]);
    folder.write("sets.csv", "a,1,2\n1,1,1\n2,0,\n");
    folder.run("convert sets.csv o.svm --label -2,-1 --header yes").fails(2, &["may have a label or not"]);
    folder.write("sets.csv", "a,y\n1.5,\"1,2\"\n2.5,b\n");
    folder.run("convert sets.csv o.svm").fails(2, &["'1,2' would not be read back"]);

    folder.write("who.csv", "who,a,times,label\nn0,1.5,2,x\nn1,2.5,1,z\n");
    let columns = "--id who --weight-column times";
    let note = folder.run(&format!("convert who.csv o.csv {columns}")).well().err;
    assert_eq!(folder.read("o.csv"), folder.read("who.csv"));
    assert!(note.contains("--id 1 --weight-column 3"), "{note}");
    for out in ["o.svm", "o.npz"] {
        let run = folder.run(&format!("convert who.csv {out} {columns}"));
        run.fails(2, &["ids and weights", "no place"]).helps(&["--drop"]);
        folder.run(&format!("convert who.csv {out} --drop who,times")).well();
    }
}

#[test]
fn formats_without_column_names_raise_a_warning() {
    let folder = Folder::new();
    folder.write("a.csv", "c,y\nred,1\nblue,2\nred,1\n");
    folder.write("turned.csv", "c,y\nblue,2\nred,1\nred,1\n");
    let run = folder.run("convert a.csv - --output-format libsvm").well();
    assert_eq!(run.out, "1 2:1\n2 1:1\n1 2:1\n");
    assert!(run.err.starts_with("warning: a.csv: categories or missing cells became columns"), "{}", run.err);
    let turned = folder.run("convert turned.csv - --output-format libsvm").well().out;
    assert_eq!(turned, "2 1:1\n1 2:1\n1 2:1\n");
    folder.write("missing.csv", "a,y\n1,1\n,2\n3,1\n");
    assert!(folder.run("convert missing.csv a.svm").well().err.contains("warning: missing.csv"));
    folder.write("plain.csv", "a,b,y\n1,yes,1\n2,no,2\n");
    for named in ["a.csv o.csv", "a.csv o.npz", "plain.csv o.svm"] {
        assert!(!folder.run(&format!("convert {named}")).well().err.contains("warning"), "{named}");
    }
}

#[cfg(unix)]
#[test]
fn standard_input_may_be_compressed() {
    let folder = Folder::trained();
    let plain = folder.predict("m test.svm --scores");
    for before in ["gzip -c test.svm > test.gz", "gzip -c test.svm > test.gz; mkfifo pipe; (cat test.gz > pipe) & :"] {
        let data = if before.contains("pipe") { "pipe --format libsvm" } else { "- < test.gz" };
        assert_eq!(folder.run_after(before, &format!("predict m --scores {data}")).well().out, plain, "{data}");
    }
}
