//! Strings and series are read from files, and errors name the line.

use std::io::Write;

use crate::common::file;
use flate2::Compression;
use flate2::write::GzEncoder;
use widemargin::data::AnySamples;
use widemargin::data::Series;
use widemargin_io::{Blocks, Format, IoError, LabelColumn, ReadOptions, Samples, Table, read};

fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..Default::default() }
}

fn get(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, IoError> {
    read(&file(name, text).path, options)
}

fn strings(samples: &Table) -> Vec<&str> {
    let Samples::Other(AnySamples::Strings(strings)) = &samples.samples else { panic!("{samples:?}") };
    strings.iter().map(String::as_str).collect()
}

fn series(samples: &Table) -> &Series {
    let Samples::Other(AnySamples::Series(series)) = &samples.samples else { panic!("{samples:?}") };
    series
}

fn labels(samples: &Table) -> Vec<String> {
    let labels = samples.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.get(row).to_string()).collect()
}

/// The message from the file's name on.
fn message(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let error = get(name, text, options).unwrap_err();
    assert!(error.is_input());
    let text = error.to_string();
    text[text.find(name).unwrap() + name.len() + 2..].to_owned()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn empty_strings_are_kept_in_quotes_and_blank_lines_are_warned_of() {
    let options = options(Format::Strings);
    let found = get("a.csv", "text\nab\n\"\"\nzz\n\n", &options).unwrap();
    assert_eq!((strings(&found), found.remarks.len()), (vec!["ab", "", "zz"], 0));
    for (name, text) in [("a.txt", "ab\n\nzz\n"), ("b.txt", "ab\r\n\r\nzz"), ("a.csv", "text\n\nab\nzz\n")] {
        let found = get(name, text, &options).unwrap();
        assert_eq!(strings(&found), ["ab", "zz"]);
        assert!(found.remarks[0].starts_with("blank lines are left out"), "{:?}", found.remarks);
    }
    let labeled = get("a.tsv", "x\tab\n\ny\tzz\n", &options).unwrap();
    assert_eq!((strings(&labeled), labeled.remarks.len()), (vec!["ab", "zz"], 0));
    // A missing number of a single column is a row, too.
    let numbers = ReadOptions { learn: true, label: LabelColumn::None, ..Default::default() };
    assert_eq!(get("n.csv", "x\n1\n\"\"\n-3\n", &numbers).unwrap().samples.n_rows(), 3);
}

#[test]
fn finds_columns_of_strings_by_names_or_positions() {
    let strings_options = options(Format::Strings);
    type Case = (&'static str, &'static str, &'static [&'static str], Option<&'static [&'static str]>);
    let cases: [Case; 8] = [
        ("a.tsv", "ham\tGo on\nspam\tWin \"now\n", &["Go on", "Win \"now"], Some(&["ham", "spam"])),
        ("a.txt", "label\ttext\r\nham\tan x\ty\r\n\r\nspam\t\r\n", &["an x\ty", ""], Some(&["ham", "spam"])),
        ("a.tsv", "language\tname\nArabic\tKhoury\n", &["Khoury"], Some(&["Arabic"])),
        ("a.tsv", "label\tname\tsequence\n+\tS10\ttact\n-\tX\tggg", &["tact", "ggg"], Some(&["+", "-"])),
        ("a.csv", "smiles,p_np\n\"C,C\",1\nO,0\n", &["C,C", "O"], Some(&["1", "0"])),
        ("a.tsv", "one\ntwo\n", &["one", "two"], None),
        ("a.tsv", "日本\tå\n1.0\té\n", &["å", "é"], Some(&["日本", "1"])),
        ("a.tsv", "y\t1\n", &[], None),
    ];
    for (name, text, right, right_labels) in cases {
        let Ok(samples) = get(name, text, &strings_options) else {
            assert!(right.is_empty(), "{text}");
            continue;
        };
        assert_eq!(strings(&samples), right);
        assert_eq!(samples.labels.is_some(), right_labels.is_some());
        right_labels.into_iter().for_each(|right| assert_eq!(labels(&samples), right));
    }
    let with = |label, header| ReadOptions { label, header, ..strings_options.clone() };
    let text = "name\tb\n1\t2\n";
    assert_eq!(strings(&get("a.tsv", text, &with(LabelColumn::Auto, Some(false))).unwrap()), ["b", "2"]);
    assert_eq!(strings(&get("a.tsv", text, &with(LabelColumn::Name("b".into()), None)).unwrap()), ["1"]);
    assert_eq!(strings(&get("a.tsv", "p\tq\n", &with(LabelColumn::Number(-1), None)).unwrap()), ["p"]);
    assert_eq!(get("a.tsv", "p\tq\n", &with(LabelColumn::None, None)).unwrap().labels, None);
}

#[test]
fn rejects_ambiguous_columns_of_strings() {
    let with = |label: &str, text: &str| {
        let auto = text == "auto";
        let text = if auto { LabelColumn::Auto } else { text.parse().unwrap() };
        let label = if label == "auto" { LabelColumn::Auto } else { label.parse().unwrap() };
        ReadOptions { label, text, ..options(Format::Strings) }
    };
    let three = "peptide,organism,label\nACD,human,1\nEFG,yeast,2\n";
    let error = "several columns may hold the strings: 'peptide', 'organism'";
    for label in ["auto", "label", "3", "none"] {
        assert_eq!(message("a.csv", three, &with(label, "auto")), error, "{label}");
        for text in ["peptide", "1", "-3"] {
            let table = get("a.csv", three, &with(label, text)).unwrap();
            assert_eq!(strings(&table), ["ACD", "EFG"], "{label} {text}");
            assert_eq!(table.label_column.as_deref(), (label != "none").then_some("'label'"));
        }
    }
    assert_eq!(strings(&get("a.csv", three, &with("organism", "label")).unwrap()), ["1", "2"]);
    // Names that only the caller knows make a header; a number is not a string unless requested.
    let unnamed = "peptide,organism\nACD,human\n";
    assert_eq!(strings(&get("a.csv", unnamed, &with("auto", "peptide")).unwrap()), ["ACD"]);
    assert_eq!(labels(&get("a.csv", unnamed, &with("organism", "auto")).unwrap()), ["human"]);
    let numbered = "id,peptide,label\n1,ACD,x\n";
    assert_eq!(strings(&get("a.csv", numbered, &with("auto", "auto")).unwrap()), ["ACD"]);
    assert_eq!(strings(&get("a.csv", numbered, &with("auto", "id")).unwrap()), ["1"]);
    for (text, options, right) in [
        ("a,b,c\n", with("auto", "auto"), "several columns may hold the strings: 1, 2, 3"),
        ("a,b,c\n", with("auto", "2"), "several columns may hold the labels: 1, 3"),
        (
            "text,sequence,label\na,b,c\n",
            with("auto", "auto"),
            "several columns may hold the strings: 'text', 'sequence'",
        ),
        (three, with("auto", "name"), "no text column 'name': the columns are peptide, organism, label"),
        (three, with("auto", "4"), "no text column 4: there are 3 columns"),
        (three, with("peptide", "peptide"), "no text column 'peptide': it is the column of the labels"),
        ("a,b\n", with("auto", "x"), "no text column 'x': the file has no header"),
    ] {
        assert_eq!(message("a.csv", text, &options), right);
    }
    let vectors = ReadOptions { text: LabelColumn::Number(1), ..ReadOptions::default() };
    assert_eq!(
        message("a.svm", "1 1:2\n", &vectors),
        "no text column 1: the samples of libsvm are vectors, not strings"
    );
}

#[test]
fn rejects_invalid_strings() {
    let with = |label| ReadOptions { label, ..options(Format::Strings) };
    let auto = with(LabelColumn::Auto);
    for (text, right) in [
        (b"a\tb\nc\n".as_slice(), "line 2: 1 cells, expected 2 as in line 1"),
        (b"a\tb\n\n\tc\n", "line 3, column 1: the label is missing"),
        (b"a\tb\nc\t\xFF\n", "line 2, column 2: not UTF-8 text"),
        (b"\n\n", "no samples in the file"),
        (b"label\ttext\n", "no samples in the file"),
    ] {
        assert_eq!(message("a.tsv", text, &auto), right);
    }
    let named = with(LabelColumn::Name("z".into()));
    assert_eq!(message("a.tsv", "a\tb\n", &named), "no label column 'z': the file has no header");
    let second = with(LabelColumn::Number(2));
    assert_eq!(message("a.tsv", "ab\n", &second), "no label column 2: there are 1 columns");
    let first = with(LabelColumn::Number(1));
    assert!(message("a.tsv", "ab\n", &first).contains("the only column"));
}

#[test]
fn lines_of_the_archive() {
    let ucr = options(Format::Ucr);
    for text in
        ["1\t1.5\t-2\n-1\t3\tNaN\n", "1,1.5,-2\r\n-1,3,", "  1.0000000e+00  1.5 -2.0\n -1 3 ?\n", "1\t1.5,-2\n-1\t3\n"]
    {
        let samples = get("X_TRAIN.tsv", text, &ucr).unwrap();
        assert_eq!(series(&samples), &Series::new(vec![1.5, -2.0, 3.0], &[2, 1], 1).unwrap(), "{text}");
        assert_eq!(labels(&samples), ["1", "-1"]);
        assert_eq!(samples.place(1), "line 2");
    }
    let samples = get("a.tsv", "big cat\t1 2 3\n", &ucr).unwrap();
    assert_eq!((labels(&samples), series(&samples).lengths()), (vec!["big cat".into()], vec![3]));
    let unlabeled = ReadOptions { label: LabelColumn::None, ..ucr.clone() };
    let samples = get("a.tsv", "1\t2\n", &unlabeled).unwrap();
    assert_eq!((series(&samples).values(), samples.labels.is_none()), ([1.0, 2.0].as_slice(), true));
    for (text, right) in [
        ("1\t2\n1\tNaN\t3\n", "line 2: value 1: missing"),
        ("1\t2\n\n1\t3\tx\n", "line 3: value 2: 'x' is not a finite single-precision number"),
        ("1\t1e39\n", "line 1: value 1: '1e39' is not a finite single-precision number"),
        ("1\t2\n5\n", "line 2: no values"),
        ("1\tNaN\tNaN\n", "line 1: no values"),
        ("\t1\t2\n", "line 1: label missing"),
    ] {
        assert_eq!(message("a.tsv", text, &ucr), right);
    }
    let second = ReadOptions { label: LabelColumn::Number(2), ..ucr };
    assert!(message("a.tsv", "1\t2\n", &second).starts_with("no label column 2: in lines of the UCR archive"));
}

#[test]
fn the_ts_format() {
    let header = "# a comment\n@problemName X\n@timeStamps false\n@dimensions 2\n@classLabel true a b\n@data\n";
    let auto = ReadOptions::default();
    let samples = get("X_TRAIN.ts", format!("{header}1,2,3:4,5,6:a\n\n7:8: b \n"), &auto).unwrap();
    let right = Series::new(vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 7.0, 8.0], &[3, 1], 2).unwrap();
    assert_eq!(series(&samples), &right);
    assert_eq!((labels(&samples), samples.place(1)), (vec!["a".into(), "b".into()], "line 9".into()));
    // Filled up at the end: only what no channel has is left out.
    let filled = get("X_TRAIN.ts", format!("{header}1,2,?,NaN:3,4,?,?:a\n5,?:6,nan:b\n"), &auto).unwrap();
    assert_eq!(series(&filled), &Series::new(vec![1.0, 3.0, 2.0, 4.0, 5.0, 6.0], &[2, 1], 2).unwrap());
    let no_labels = get("a.ts", "@classLabel false\n@data\n1,2:3,4\n", &auto).unwrap();
    assert_eq!((series(&no_labels).channels(), no_labels.labels.is_none()), (2, true));
    for (text, right) in [
        (format!("{header}1,2:3:a\n"), "line 7: channel 2 has 1 values, channel 1 has 2"),
        (format!("{header}1,2:3,?:a\n"), "line 7: value 2 of channel 2: missing"),
        (format!("{header}1,?,3:4,?,?:a\n"), "line 7: value 2 of channel 1: missing"),
        (format!("{header}?,?:?,?:a\n"), "line 7: no values"),
        (format!("{header}1,2:a\n"), "line 7: 1 channels, expected 2"),
        (format!("{header}1:x:a\n"), "line 7: value 1 of channel 2: 'x' is not a finite single-precision number"),
        (format!("{header}1:2:\n"), "line 7: label missing"),
        (format!("{header}1\n"), "line 7: label missing"),
        ("@classLabel false\n@data\n1:2\n1\n".into(), "line 4: 1 channels, expected 2"),
        ("@timeStamps true\n@data\n".into(), "line 1: time stamps are not read"),
        (
            "@dimensions 0\n@data\n".into(),
            "line 1: '@dimensions 0' is not of a .ts header: expected a line that starts with @",
        ),
        ("1,2,3:a\n".into(), "line 1: '1,2,3:a' is not of a .ts header: expected a line that starts with @"),
        ("@problemName X\n".into(), "no line @data, after which series come"),
        (header.into(), "no samples in the file"),
    ] {
        assert_eq!(message("a.ts", text, &auto), right);
    }
}

#[test]
fn blocks_are_the_whole_in_pieces() {
    let text: String = (0..500).map(|i| format!("{}\t{}\n", i % 3, "ab".repeat(i % 7 + 1))).collect();
    let numbers: String = (0..500).map(|i| format!("{}\t{}\n", i % 3, "1,2,".repeat(i % 7 + 1))).collect();
    for (format, text) in [(Format::Strings, text), (Format::Ucr, numbers)] {
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            let scratch = file("a.tsv.gz", bytes);
            let whole = read(&scratch.path, &options(format)).unwrap();
            let small = ReadOptions { block_bytes: Some(100), ..options(format) };
            let (mut n, mut n_blocks) = (0, 0);
            for block in Blocks::open(&scratch.path, &small).unwrap() {
                let block = block.unwrap();
                assert_eq!(block.first_row, n);
                for row in 0..block.table.samples.n_rows() {
                    assert_eq!(labels(&block.table)[row], labels(&whole)[n]);
                    assert_eq!(block.table.place(row), whole.place(n));
                    match &block.table.samples {
                        Samples::Other(AnySamples::Strings(block)) => assert_eq!(block[row], strings(&whole)[n]),
                        Samples::Other(AnySamples::Series(block)) => {
                            assert_eq!(block.series(row), series(&whole).series(n))
                        }
                        other => panic!("{other:?}"),
                    }
                    n += 1;
                }
                n_blocks += 1;
            }
            assert_eq!(n, 500);
            assert!(n_blocks > 5);
        }
    }
}

#[test]
fn compressed_files_of_every_kind_and_damaged_ones() {
    let svm = gzip(b"1 1:2\n-1 2:3\n");
    let scratch = file("a.svm.gz", &svm);
    assert_eq!(read(&scratch.path, &ReadOptions::default()).unwrap().samples.n_rows(), 2);
    // The name does not matter, the bytes do; several members are one file.
    let samples = get("a.csv", [gzip(b"x1,y\n1,a\n"), gzip(b"2,b\n")].concat(), &ReadOptions::default()).unwrap();
    assert_eq!(samples.samples.n_rows(), 2);
    for length in 0..svm.len() {
        let error = get("a.svm.gz", &svm[..length], &ReadOptions::default()).unwrap_err();
        assert!(error.is_input() && error.to_string().contains("a.svm.gz"), "{length}: {error}");
    }
    let table = read(&scratch.path, &ReadOptions::default()).unwrap();
    let error = widemargin_io::write(&table, &scratch.path, None).unwrap_err();
    assert!(error.to_string().contains("compressed files are read, not written"), "{error}");
}

#[test]
fn other_samples_are_not_written_as_vectors() {
    let scratch = file("a.ts", "@data\n1\n");
    let table = read(&scratch.path, &ReadOptions::default()).unwrap();
    for name in ["b.csv", "b.svm", "b.npz"] {
        let error = widemargin_io::write(&table, &scratch.folder.path().join(name), None).unwrap_err();
        assert!(error.to_string().contains("time series are not vectors") && error.help().is_some(), "{error}");
        assert!(!scratch.folder.path().join(name).exists());
    }
}

/// Some programs begin text with a mark, which is no part of it.
#[test]
fn a_byte_order_mark_is_no_part_of_any_text() {
    let both = |name: &str, text: &str, format: Format| {
        let plain = get(name, text, &options(format)).unwrap();
        let marked = get(name, format!("\u{feff}{text}"), &options(format)).unwrap();
        assert_eq!(marked, plain, "{format}");
        assert!(!labels(&marked).iter().any(|label| label.contains('\u{feff}')), "{format}");
    };
    both("a", "1\t0.5\t0.25\n2\t1\t3\n", Format::Ucr);
    both("a", "one,0.5,0.25\ntwo,1,3\n", Format::Ucr);
    both("a.ts", "@univariate true\n@classLabel true a b\n@data\n1,2,3:a\n4,5,6:b\n", Format::Ts);
    both("a.tsv", "ham\tGo on\nspam\tWin\n", Format::Strings);
    both("a.csv", "label,text\nham,Go on\nspam,Win\n", Format::Strings);
    both("a.svm", "1 1:2\n2 2:1\n", Format::Libsvm);
    both("a.csv", "label,x\n1,2\n2,3\n", Format::Csv);
    both("a.csv", "a,2\nb,3\n", Format::Csv);
}
