//! Tables as they are found: each is read rightly, or refused with its cause and a remedy, which is followed.

use crate::common::{file, labels, message, read_bytes, rows};
use widemargin::data::Label;
use widemargin_io::{Decimal, ReadOptions};

fn learn() -> ReadOptions {
    ReadOptions { learn: true, ..ReadOptions::default() }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
}

/// Two columns and a label.
const VALUES: [[f64; 2]; 4] = [[1.5, 20.0], [2.5, 30.0], [-0.5, 40.0], [4.0, 50.0]];
const LABELS: [&str; 4] = ["x", "z", "x", "z"];
const PLAIN: &str = "a,b,label\n1.5,20,x\n2.5,30,z\n-0.5,40,x\n4,50,z\n";

#[track_caller]
fn is_plain(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) {
    let table = read_bytes(name, bytes, options).unwrap_or_else(|error| panic!("{error}: {:?}", error.help()));
    assert_eq!(rows(&table), VALUES);
    assert_eq!(labels(&table), LABELS);
}

#[test]
fn dirty_tables_are_read_as_the_clean_one() {
    let semicolons = PLAIN.replace(',', ";");
    let european = semicolons.replace('.', ",");
    let headless = european.split_once('\n').unwrap().1.to_owned();
    let padded: String = PLAIN.lines().map(|line| format!("{line},,\n")).collect();
    let half_padded = PLAIN.replace("x\n", "x,\n");
    let quoted = PLAIN.replace(",x", ",\"x\"").replace(",z", ",\"z\"");
    let comments = format!("# measured, in May, 2020\n# by hand\n{}# the end\n", PLAIN);
    for (name, text) in [
        ("plain.csv", PLAIN.to_owned()),
        ("semicolons.csv", semicolons.clone()),
        ("european.csv", european.clone()),
        ("tabs.csv", PLAIN.replace(',', "\t")),
        ("pipes.csv", PLAIN.replace(',', "|")),
        ("commas.tsv", PLAIN.to_owned()),
        ("sep.csv", format!("sep=;\n{european}")),
        ("windows.csv", PLAIN.replace('\n', "\r\n")),
        ("mac.csv", PLAIN.replace('\n', "\r")),
        ("padded.csv", padded),
        ("half_padded.csv", half_padded),
        ("quoted.csv", quoted),
        ("comments.csv", comments),
        ("blank.csv", PLAIN.replace('\n', "\n\n")),
        ("spaces.csv", PLAIN.replace(',', " , ")),
    ] {
        is_plain(name, text, &learn());
    }
    is_plain("utf8.csv", format!("\u{feff}{PLAIN}"), &learn());
    is_plain("utf16le.csv", utf16(&PLAIN.replace(',', "\t"), u16::to_le_bytes), &learn());
    is_plain("utf16be.csv", utf16(PLAIN, u16::to_be_bytes), &learn());
    is_plain("headless.csv", headless, &ReadOptions { label: "-1".parse().unwrap(), ..learn() });
    let signs = PLAIN.replace("20,", "\"$20.00\",").replace("30,", "€30,").replace("50,", "5000%,");
    is_plain("signs.csv", signs, &learn());
    let thousands = read_bytes("a.csv", "a,b,label\n\"1,234.50\",1,x\n\"-12,000\",2,z\n7,3,x\n", &learn()).unwrap();
    assert_eq!(rows(&thousands), [[1234.5, 1.0], [-12000.0, 2.0], [7.0, 3.0]]);
    let european = read_bytes("a.csv", "a;b;label\n1.234,50;1;x\n-12,5;2;z\n", &learn()).unwrap();
    assert_eq!(rows(&european), [[1234.5, 1.0], [-12.5, 2.0]]);
}

#[test]
fn distinguishes_headers_from_samples() {
    let weather = "sunny,true,high,no\nrainy,false,high,yes\nrainy,true,low,no\nsunny,false,low,yes\n".repeat(4);
    let table = read_bytes(
        "w.csv",
        format!("outlook,windy,humidity,play\n{weather}"),
        &ReadOptions { label: "play".parse().unwrap(), ..learn() },
    );
    assert_eq!(table.unwrap().labels.unwrap().classes(), ["no", "yes"].map(Label::from));
    let table = read_bytes("w.csv", &weather, &ReadOptions { label: "-1".parse().unwrap(), ..learn() }).unwrap();
    assert_eq!((table.samples.n_rows(), table.labels.unwrap().classes().len()), (16, 2));
    let years: String = (0..20).map(|i| format!("{},{},{}\n", ["fr", "de"][i % 2], 7 * i * i + 3, 5 * i + 2)).collect();
    let table = read_bytes("y.csv", format!("country,2019,2020\n{years}"), &learn()).unwrap();
    assert_eq!((labels(&table)[0].as_str(), table.samples.n_rows()), ("fr", 20));
    let numbered: String = (0..20).map(|i| format!("{}.5,{}.25,{}\n", i, 3 * i, i % 2)).collect();
    let options = ReadOptions { label: "-1".parse().unwrap(), ..learn() };
    let table = read_bytes("n.csv", format!("0,1,2\n{numbered}"), &options).unwrap();
    assert_eq!((table.samples.n_rows(), table.labels.unwrap().classes().len()), (20, 2));
}

/// A comment right above the table, with as many cells.
#[test]
fn comments_are_headers_only_where_they_are_names() {
    let headless = PLAIN.split_once('\n').unwrap().1;
    let last = || ReadOptions { label: "-1".parse().unwrap(), ..learn() };
    // What cannot be names, as there are numbers among them or the table has a header of its own.
    is_plain("dated.csv", format!("# measured in May, by hand, 2020\n{headless}"), &learn());
    is_plain("above.csv", format!("# in the lab, by hand, in May\n{PLAIN}"), &learn());
    is_plain("two.csv", format!("# by hand\n# in the lab, by hand, in May\n{PLAIN}"), &learn());
    is_plain("row.csv", format!("# 9.5,10,x\n{headless}"), &last());
    is_plain(
        "yes.csv",
        format!("# in the lab, by hand, in May\n{PLAIN}"),
        &ReadOptions { header: Some(true), ..learn() },
    );
    // Names, as NumPy writes them.
    for (header, options) in [
        ("# a,b,label", learn()),
        ("# label,b,a", ReadOptions { label: "a".parse().unwrap(), ..learn() }),
        ("# a,b,kind", last()),
        ("# a,in cm,kind", ReadOptions { label: "kind".parse().unwrap(), ..learn() }),
        ("# a,in cm,kind", ReadOptions { header: Some(true), ..last() }),
    ] {
        let table = read_bytes("numpy.csv", format!("{header}\n{headless}"), &options).unwrap();
        assert_eq!((rows(&table), labels(&table)), (VALUES.map(Vec::from).to_vec(), LABELS.map(String::from).to_vec()));
        assert_eq!(table.feature_names.unwrap()[0], header[2..].split(',').next().unwrap());
    }
}

/// The message of an error, its remedy, and the options or the text that follow the remedy.
struct Refusal {
    text: Vec<u8>,
    cause: &'static str,
    remedy: &'static str,
    options: ReadOptions,
    mended: Option<Vec<u8>>,
}

#[test]
fn other_tables_are_refused_with_a_remedy_that_works() {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let dates: String = (1..13).map(|i| format!("2024-01-{i:02},{i}.5,{}\n", ["x", "z"][i % 2])).collect();
    let dates = format!("when,b,label\n{dates}");
    let without_dates: String = dates.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect();
    let ids: String = (0..12).map(|i| format!("n{i},{i}.5,{}\n", ["x", "z"][i % 2])).collect();
    for Refusal { text, cause, remedy, options, mended } in [
        Refusal {
            text: bytes("outlook,play\nsunny,no\nrainy,yes\nsunny,yes\n"),
            cause: "line 1: 'outlook', 'play' could be the names of the columns, or a sample",
            remedy: "--header yes",
            options: ReadOptions { header: Some(true), label: "-1".parse().unwrap(), ..learn() },
            mended: None,
        },
        Refusal {
            text: bytes(&format!("# by hand\n\n# in the lab,by hand,in May\n{}", PLAIN.split_once('\n').unwrap().1)),
            cause: "line 3: '# in the lab', 'by hand', 'in May' could be the names of the columns, or a comment",
            remedy: "--header no",
            options: ReadOptions { header: Some(false), label: "-1".parse().unwrap(), ..learn() },
            mended: None,
        },
        Refusal {
            text: bytes("a;b;label\n1;2;x;\n3;4;z\n5;6;x;7\n"),
            cause: "line 1: no feature columns: the lines have one cell where ',' separates cells",
            remedy: "pass --delimiter ';'",
            options: ReadOptions { delimiter: Some(b';'), ..learn() },
            mended: Some(bytes("a;b;label\n1;2;x;\n3;4;z\n5;6;x\n")),
        },
        Refusal {
            text: bytes("a,label\n1,x\n2,\"z\n3,x\n4,z\n"),
            cause: "line 3: a quote begins a cell and is not closed",
            remedy: "close the quote",
            options: learn(),
            mended: Some(bytes("a,label\n1,x\n2,\"z\"\n3,x\n4,z\n")),
        },
        Refusal {
            text: bytes("a,b,label\n\"1,234\",1,x\n\"5,678\",2,z\n"),
            cause: "line 2, column 'a': '1,234' may have a comma that separates thousands, or a decimal comma",
            remedy: "--decimal , if",
            options: ReadOptions { decimal: Some(Decimal::Comma), ..learn() },
            mended: None,
        },
        Refusal {
            text: bytes("a,b,label\n\"3,5\",1.5,x\n2,2,z\n\"4,5\",2,z\n"),
            cause: "line 2, column 'a': '3,5' has a decimal comma; numbers are read with a decimal point here",
            remedy: "write all numbers in one way",
            options: learn(),
            mended: Some(bytes("a,b,label\n\"3,5\",\"1,5\",x\n2,2,z\n\"4,5\",2,z\n")),
        },
        Refusal {
            text: bytes(&dates),
            cause: "line 2, column 'when': '2024-01-01' is a date, not a number or a category",
            remedy: "--drop 1",
            options: learn(),
            mended: Some(without_dates.into_bytes()),
        },
        Refusal {
            text: bytes("mass,label\n1,x\n2,z\n<0.1,x\n3,z\n"),
            cause: "line 4, column 'mass': '<0.1' is not a number, as 3 other cells of the column are",
            remedy: "leave the cell empty if '<0.1' means a missing value",
            options: learn(),
            mended: Some(bytes("mass,label\n1,x\n2,z\n,x\n3,z\n")),
        },
        Refusal {
            text: bytes("mass,label\n-,x\n3,z\n-,x\n-,z\nmissing,x\n5,x\n4.5,x\n"),
            cause: "line 2, column 'mass': '-' is not a number, as 3 other cells of the column are",
            remedy: "leave the cell empty if '-' means a missing value",
            options: learn(),
            mended: Some(bytes("mass,label\n,x\n3,z\n,x\n,z\n,x\n5,x\n4.5,x\n")),
        },
        Refusal {
            text: bytes("mass,label\n(12),x\n3,z\n(7),x\n(3),z\n"),
            cause: "line 2, column 'mass': '(12)' may be a negative number, or a missing value",
            remedy: "with a minus sign",
            options: learn(),
            mended: Some(bytes("mass,label\n-12,x\n3,z\n-7,x\n-3,z\n")),
        },
        Refusal {
            text: bytes("grade,label\n1,x\n2,z\na,x\n"),
            cause: "line 4, column 'grade': 'a' is not a number, as 2 other cells of the column are",
            remedy: "pass --categorical 1",
            options: ReadOptions { categorical: vec!["1".parse().unwrap()], ..learn() },
            mended: None,
        },
        Refusal {
            text: bytes("a,b,label\n1,2,x\n3,4,z\na,b,label\n5,6,x\n"),
            cause: "line 4: repeats the names of the columns in line 1",
            remedy: "remove the line",
            options: learn(),
            mended: Some(bytes("a,b,label\n1,2,x\n3,4,z\n5,6,x\n")),
        },
        Refusal {
            text: bytes("a,a,label\n1,2,x\n3,4,z\n"),
            cause: "line 1: columns 1 and 2 are both called 'a'",
            remedy: "rename one",
            options: learn(),
            mended: Some(bytes("a,b,label\n1,2,x\n3,4,z\n")),
        },
        Refusal {
            text: bytes(&format!("name,b,label\n{ids}")),
            cause: "column 'name': 12 different texts in 12 rows: they cannot be categories",
            remedy: "pass --id 1",
            options: ReadOptions { id: Some("1".parse().unwrap()), ..learn() },
            mended: None,
        },
        Refusal {
            text: bytes("a,b,label\n1,2,x\n3,4,5,z\n"),
            cause: "line 3: 4 cells, expected 3 as in line 1",
            remedy: "put cells that contain ',' in quotes",
            options: learn(),
            mended: Some(bytes("a,b,label\n1,2,x\n3,\"4,5\",z\n")),
        },
        Refusal {
            text: b"gr\xF6\xDFe,label\n1,x\n2,z\n".to_vec(),
            cause: "line 1: not UTF-8 text",
            remedy: "iconv -f WINDOWS-1252 -t UTF-8",
            options: learn(),
            mended: Some(bytes("größe,label\n1,x\n2,z\n")),
        },
    ] {
        let (found, help) = message(
            "a.csv",
            &text,
            &ReadOptions {
                header: None,
                delimiter: None,
                decimal: None,
                id: None,
                categorical: Vec::new(),
                ..options.clone()
            },
        );
        assert!(found.starts_with(cause), "{found}");
        assert!(help.as_ref().is_some_and(|help| help.contains(remedy)), "{found}: {help:?}");
        let scratch = file("a.csv", mended.unwrap_or(text));
        let table = widemargin_io::read(&scratch.path, &options).unwrap_or_else(|error| panic!("{remedy}: {error}"));
        assert!(table.samples.n_rows() >= 2 && table.labels.unwrap().classes().len() == 2, "{remedy}");
    }
}

#[test]
fn columns_that_are_hardly_features_are_warned_of() {
    let text: String =
        (0..40).map(|i| format!("{},c{},{}.5,{},{}\n", i + 1, i % 15, i * i, ["x", "z"][i % 2], i % 2)).collect();
    let table = read_bytes(
        "a.csv",
        format!("id,city,b,label,Class\n{text}"),
        &ReadOptions { label: "label".parse().unwrap(), ..learn() },
    );
    let remarks = table.unwrap().remarks;
    assert!(
        remarks.iter().any(|one| one.starts_with("column 'id' numbers the rows") && one.contains("--id 1")),
        "{remarks:?}"
    );
    assert!(remarks.iter().any(|one| one.starts_with("column 'city' has 15 categories in 40 rows")), "{remarks:?}");
    assert!(
        remarks.iter().any(|one| one.starts_with("column 'Class' is a feature") && one.contains("--drop 5")),
        "{remarks:?}"
    );
    assert_eq!(remarks.len(), 3, "{remarks:?}");
    let clean = read_bytes("a.csv", PLAIN, &learn()).unwrap();
    assert!(clean.remarks.is_empty());
    // Row names as R writes them: a header without a name for them.
    let text: String = (0..12).map(|i| format!("{},{}.5,{}\n", i + 1, i * i, ["x", "z"][i % 2])).collect();
    let table = read_bytes("r.csv", format!("b,label\n{text}"), &learn()).unwrap();
    assert_eq!(rows(&table)[3], [4.0, 9.5]);
    assert!(table.remarks[0].starts_with("column 1 numbers the rows"), "{:?}", table.remarks);
    let read = |names: &str| {
        message("a.csv", format!("{names}\n1,2,x\n"), &ReadOptions { label: "l".parse().unwrap(), ..learn() })
    };
    assert!(read("l,b,l").0.contains("columns 1 and 3 have this name"));
}

#[test]
fn labels_that_are_numbers_are_read_as_features_are() {
    let auto = ReadOptions::default;
    let comma = || ReadOptions { decimal: Some(Decimal::Comma), ..auto() };
    for (text, options, expected) in [
        ("a;y\n1,5;2,5\n2,5;1.016\n", auto(), ["2.5", "1016"]),
        ("a;y\n1;2,5\n2;-1.016,25\n", comma(), ["2.5", "-1016.25"]),
        ("a,y\n0.5,\"5,059.68\"\n1.5,\"1,234\"\n", auto(), ["5059.68", "1234"]),
        // Classes, as they are spelled.
        ("a;y\n1,5;007\n2,5;5%\n", auto(), ["007", "5%"]),
        ("a,y\n1.5,\"1,2\"\n2.5,$1050\n", auto(), ["1,2", "$1050"]),
        ("a,y\n1,\"1,234\"\n2,b\n", auto(), ["1,234", "b"]),
    ] {
        assert_eq!(labels(&read_bytes("a.csv", text, &options).unwrap()), expected, "{text}");
    }
    let (error, help) = message("a.csv", "a;y\n1,5;2,5\n2,5;3.5\n", &comma());
    assert!(error.starts_with("line 3, column 'y': '3.5' has a decimal point"), "{error}");
    assert!(help.unwrap().contains("--decimal ."));
    // In a file of their own.
    for (name, text) in [("y.txt", "2,5\n1.016\n"), ("y.csv", "y\n\"2,5\"\n1.016\n")] {
        let of_labels = file(name, text);
        let options = ReadOptions { label_file: Some(of_labels.path.clone()), ..auto() };
        assert_eq!(labels(&read_bytes("a.svm", "1:1\n2:1\n", &options).unwrap()), ["2.5", "1016"], "{name}");
    }
}
