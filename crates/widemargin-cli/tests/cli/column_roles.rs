//! Columns that are no features: a model knows those of its training table.

use crate::Folder;
use crate::kinds::{rows, table};

#[test]
fn a_table_without_a_header_has_its_label_where_training_had_it() {
    for (order, label) in [(["y", "a", "b"], "1"), (["a", "y", "b"], "2"), (["a", "b", "y"], "-1")] {
        let folder = Folder::new();
        folder.write("train.csv", rows(1, 80, &order));
        folder.write("test.csv", rows(2, 60, &order));
        folder.write("bare.csv", rows(2, 60, &["a", "b"]));
        folder.write("named.csv", table(2, 60, &["b", "y", "a"]));
        for memory in ["", "--memory-limit 1GB"] {
            folder.train(&format!("--method power-mean train.csv --label {label} -o m -C 1 {memory}"));
            let scores = folder.predict("m bare.csv --scores");
            assert_eq!(folder.predict("m test.csv --scores"), scores, "{label} {memory}");
            let piped = folder.run_with_input("predict m - --scores", &folder.read("test.csv")).well().out;
            assert_eq!(piped, scores, "{label} {memory}");
            let right = folder.score("m test.csv", "accuracy");
            assert!(
                right > 0.8 && right == folder.score(&format!("m test.csv --label {label}"), "accuracy"),
                "{right}"
            );
            folder.run("predict m test.csv --label none").fails(2, &["test.csv", "3 features", "trained with 2"]);
        }
        folder.write("wide.csv", rows(2, 60, &["a", "b", "y", "times"]));
        folder.run("predict m wide.csv").fails(2, &["wide.csv"]);
    }
}

#[test]
fn an_unknown_column_is_not_taken_for_the_label() {
    let folder = Folder::trained();
    folder.run("convert train.svm labeled.csv").well();
    let bare: String = folder
        .read("labeled.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let (numbers, _) = line.rsplit_once(',').unwrap();
            format!("{numbers},{}\n", numbers.len() % 2)
        })
        .collect();
    folder.write("bare.csv", bare);
    for command in ["predict", "evaluate"] {
        folder
            .run(&format!("{command} m bare.csv"))
            .fails(2, &["bare.csv", "13 columns", "12 features"])
            .helps(&["--label"]);
    }
    let scores = folder.predict("m train.svm --scores");
    assert_eq!(folder.predict("m bare.csv --label -1 --scores"), scores);
    // Text cannot be a feature, and a name tells.
    assert_eq!(folder.predict("m labeled.csv --scores"), scores);
    let text: String = folder.read("labeled.csv").lines().skip(1).map(|line| format!("{line}\n")).collect();
    folder.write("text.csv", text);
    assert_eq!(folder.predict("m text.csv --scores"), scores);
}

#[test]
fn names_weights_and_dropped_columns_are_known_to_the_model() {
    let folder = Folder::new();
    let order = ["who", "a", "junk", "y", "times", "b"];
    folder.write("train.csv", table(1, 90, &order));
    folder.write("test.csv", table(2, 60, &order));
    let columns = "--label y --id who --weight-column times --drop junk";
    folder.train(&format!("--method basis-expansion train.csv -o m --n-basis 20 --similarity rbf -C 1 {columns}"));
    let inspected = folder.inspect("m");
    assert_eq!(inspected["feature_names"], serde_json::json!(["a", "b"]));
    let all = folder.predict(&format!("m test.csv --scores {columns}"));
    assert!(all.starts_with("n0\t"), "{all}");
    assert_eq!(folder.predict("m test.csv --scores"), all);
    folder.write("bare.csv", table(2, 60, &["b", "a"]));
    let bare = folder.predict("m bare.csv --scores");
    assert!(bare.lines().zip(all.lines()).all(|(bare, all)| all.ends_with(bare)), "{bare}");
    // The same table without a header: by position.
    folder.write("headless.csv", rows(2, 60, &order));
    assert_eq!(folder.predict("m headless.csv --scores"), all);
    assert_eq!(folder.score("m test.csv", "accuracy"), folder.score(&format!("m test.csv {columns}"), "accuracy"));
    // A new column is named, and can be left out.
    folder.write("more.csv", table(2, 60, &order).replace("y,times", "z,times"));
    let run = folder.run("predict m more.csv").fails(2, &["more.csv", "unknown 'z'"]);
    run.helps(&["--drop", "--id", "--label"]);
    assert_eq!(folder.predict("m more.csv --drop z --scores"), all);
    folder.write("person.csv", table(2, 60, &order).replace("who", "person"));
    folder.run("predict m person.csv --scores").fails(2, &["person.csv", "unknown 'person'"]);
    assert_eq!(folder.predict("m person.csv --id person --scores"), all);
    folder.run("train train.csv -o n --label y --drop y").fails(2, &["--drop 'y'", "label column"]);
    folder.run("train train.csv -o n --label y --drop z").fails(2, &["--drop 'z'", "the columns are"]);
}

#[test]
fn a_table_is_read_from_standard_input() {
    let folder = Folder::new();
    folder.write("train.csv", table(1, 80, &["a", "b", "y"]));
    folder.write("test.csv", table(2, 60, &["b", "a", "y"]));
    folder.train("--method thin-plate train.csv -o m -C 1");
    let test = folder.read("test.csv");
    for command in ["predict m", "evaluate m", "explain m --row 3"] {
        let direct = folder.run(&format!("{command} test.csv")).well().out;
        let piped = folder.run_with_input(&format!("{command} -"), &test).well().out;
        // Seconds differ.
        assert_eq!(piped.lines().next(), direct.lines().next(), "{command}");
        assert_eq!(piped.lines().count(), direct.lines().count(), "{command}");
    }
    folder.write("test.txt", &test);
    for command in ["predict m test.txt", "evaluate m test.txt", "explain m test.txt --row 3"] {
        let run = folder.run(command);
        assert_eq!(run.code, Some(2), "{command}: {}", run.err);
        assert!(run.err.contains("--format"), "{command}: {}", run.err);
    }
    // A model of samples without columns.
    let folder = Folder::trained();
    folder.write("wrong.txt", "1,2,3\n4,5,6\n");
    for command in ["predict m", "evaluate m", "explain m --row 1"] {
        folder.run_with_input(&format!("{command} -"), "1,2,3\n4,5,6\n").fails(2, &["index:value pair", "--format"]);
        folder.run(&format!("{command} wrong.txt")).fails(2, &["wrong.txt", "index:value pair"]);
    }
}

#[test]
fn a_missing_label_is_no_class() {
    let folder = Folder::new();
    for (missing, words) in [("NA", "('NA')"), ("", "label is missing"), ("?", "('?')"), ("NaN", "('NaN')")] {
        folder.write("train.csv", format!("{}1,2,{missing}\n", table(1, 40, &["a", "b", "y"])));
        folder.run("train train.csv -o m").fails(2, &["line 42, column 'y'", words]);
    }
    folder.write("train.csv", table(1, 40, &["a", "b", "y"]).replace(",1\n", ",none\n"));
    folder.train("--method thin-plate train.csv -o m -C 1");
    assert_eq!(folder.inspect("m")["classes"], serde_json::json!([0, "none"]));
    // They are not needed where they are to be predicted.
    folder.write("new.csv", "a,b,y\n3,80,\n60,20,NA\n");
    assert_eq!(folder.predict("m new.csv").lines().count(), 2);
    folder.run("evaluate m new.csv").fails(2, &["new.csv: line 2, column 'y'", "missing"]);
}

#[test]
fn a_model_of_categories_takes_no_bare_numbers() {
    let folder = Folder::new();
    let table = |n: usize| {
        (0..n).fold("c,a,y\n".to_owned(), |text, i| format!("{text}{},{i},{}\n", ["red", "blue"][i % 2], i % 2))
    };
    folder.write("train.csv", table(40));
    folder.train("--method basis-expansion train.csv -o m --n-basis 10 -C 1");
    folder.write("test.svm", "1 1:1 3:7\n0 2:1 3:8\n");
    folder.run("predict m test.svm").fails(2, &["test.svm", "no columns"]).helps(&["CSV"]);
    folder.run("evaluate m test.svm").fails(2, &["test.svm", "no columns"]);
    folder.write("headless.csv", "red,3\nblue,4\n");
    assert_eq!(folder.predict("m headless.csv"), "0\n1\n");
}

#[test]
fn every_command_reads_the_tables_that_train_reads() {
    let folder = Folder::new();
    let text = (0..30).fold("c,a,y\n".to_owned(), |text, i| {
        let number = if i % 5 == 0 { String::new() } else { i.to_string() };
        format!("{text}{},{number},{}\n", ["red", "blue"][i % 2], i % 2)
    });
    folder.write("train.csv", text);
    folder.run("convert train.csv out.csv").well();
    assert!(
        folder.read("out.csv").starts_with("c=blue,c=red,a,a is missing,label\n0,1,"),
        "{}",
        folder.read("out.csv")
    );
    folder.train("--method basis-expansion train.csv -o m --similarity rbf:gamma=0.1 -C 1");
    let found = folder.run("inspect m --spectrum train.csv --json").json();
    assert!(found.to_string().contains("eigenvalues"), "{found}");
}

#[test]
fn the_decimal_mark_is_that_of_the_training_table() {
    let folder = Folder::new();
    let row = |row: u64| {
        format!("{}.{:03};0,{};{}\n", row % 9 + 1, 37 * row % 1000, row % 10, ["hi", "lo"][row as usize % 9 / 5])
    };
    folder.write("train.csv", "a;b;label\n".to_owned() + &(0..90).map(row).collect::<String>());
    // No cell with a decimal comma.
    folder.write("test.csv", "a;b\n9.500;1\n1.250;0\n");
    folder.write("comma.csv", "a;b\n9500,0;1,0\n1250,0;0\n");
    folder.write("point.csv", "a;b\n9500.0;1.0\n1250.0;0\n");
    for memory in ["", "--memory-limit 1GB"] {
        folder.train(&format!("train.csv --method basis-expansion --n-basis 20 --similarity rbf -C 1 -o m {memory}"));
        let scores = folder.predict("m comma.csv --scores");
        assert_eq!(folder.predict("m test.csv --scores"), scores, "{memory}");
        let piped = folder.run_with_input("predict m - --scores", &folder.read("test.csv")).well().out;
        assert_eq!(piped, scores);
        assert_eq!(folder.predict("m point.csv --decimal . --scores"), scores);
        folder.run("predict m point.csv").fails(2, &["line 2, column 'a'", "'9500.0'"]).helps(&["--decimal ."]);
    }
}

#[test]
fn a_folder_of_tables_is_one_table() {
    let folder = Folder::new();
    let rows = |from: usize, n: usize| {
        let row = |i: usize| format!("n{i},{},{},{}\n", ["red", "blue"][i / 2 % 2], i % 7, (i / 2 + i / 7) % 2);
        (from..from + n).map(row).collect::<String>()
    };
    let head = "who,color,a,label\n";
    folder.write("all.csv", format!("{head}{}", rows(0, 80)));
    std::fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/1.csv", format!("{head}{}", rows(0, 30)));
    folder.write("parts/2.csv", format!("{head}{}", rows(30, 50)));
    folder.train("all.csv --method basis-expansion --n-basis 20 --similarity rbf -C 1 --id who -o m");
    let scores = folder.predict("m all.csv --scores");
    assert!(scores.starts_with("n0\t"), "{scores}");
    assert_eq!(folder.predict("m parts --scores"), scores);
    assert_eq!(folder.score("m parts", "accuracy"), folder.score("m all.csv", "accuracy"));
    let train = "--method basis-expansion --n-basis 20 --similarity rbf -C 1 --id who --drop color";
    folder.train(&format!("all.csv {train} -o one"));
    folder.train(&format!("parts {train} -o parted"));
    assert_eq!(folder.predict("parted parts --scores"), folder.predict("one all.csv --scores"));
}
