//! A small table from a file of a visitor: the columns of numbers, and those that may be classes.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::playground::MAX_POINTS;

/// Names of a column of classes, in lower case.
const LABEL_NAMES: [&str; 6] = ["label", "class", "target", "species", "y", "outcome"];

/// Maximum number of classes.
pub const MAX_CLASSES: usize = 4;

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The columns that are shown first: two of numbers and one of classes.
    pub suggested: [usize; 3],
    /// The number of rows of the file; the columns have fewer if that exceeds the maximum number of points.
    pub n_rows: usize,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Its name, or its number from 1.
    pub name: String,
    /// Its cells.
    pub texts: Vec<String>,
    /// Its cells as numbers, if all of them are.
    pub numbers: Option<Vec<f64>>,
    /// Number of distinct cells.
    pub n_distinct: usize,
}

/// Reads a table with commas, semicolons or tabs, with or without a line of names.
///
/// # Errors
/// A message for the visitor: the file is not text, has no rows or rows of different lengths, fewer than two columns of
/// numbers, or no column of two to four classes.
pub fn read(bytes: &[u8]) -> Result<Table, String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(
        "This file is not a table: it is not text. A table has one line per point, with values separated by commas.",
    )?;
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !line.trim().is_empty()).ok_or("The file is empty.")?;
    let count = |separator: &u8| first.bytes().filter(|byte| byte == separator).count();
    let separator = *b",;\t".iter().max_by_key(|separator| (count(separator), **separator == b',')).unwrap_or(&b',');
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(separator).has_headers(false).flexible(true).trim(csv::Trim::All);
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for record in reader.from_reader(text.as_bytes()).records() {
        let record = record.map_err(|problem| format!("The file is not a table: {problem}."))?;
        if record.iter().any(|cell| !cell.is_empty()) {
            let line = record.position().map_or(0, csv::Position::line);
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
    }
    let (first_line, width) = rows.first().map(|(line, row)| (*line, row.len())).ok_or("The file is empty.")?;
    if width < 3 {
        let cells = if width == 1 { "cell" } else { "cells" };
        return Err(format!(
            "The lines of this file have {width} {cells}. A table needs three columns at least: two of numbers and one of \
             classes, separated by commas, semicolons or tabs."
        ));
    }
    if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != width) {
        return Err(format!("Line {line} has {} cells, but line {first_line} has {width}.", row.len()));
    }
    let number = |cell: &str| cell.parse::<f64>().ok().filter(|number| number.is_finite());
    // Names are above numbers: some column has a word on top of numbers only.
    let is_named = |at: usize| {
        number(&rows[0].1[at]).is_none()
            && rows.len() > 1
            && rows[1..].iter().all(|(_, row)| number(&row[at]).is_some())
    };
    let names = if (0..width).any(is_named) { Some(rows.remove(0).1) } else { None };
    let n_rows = rows.len();
    // A pseudorandom row of each `step` if there are too many, since classes may alternate.
    let step = n_rows.div_ceil(MAX_POINTS).max(1);
    let one_of = |first: usize| {
        let mixed = (first as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        (first + mixed as usize % step).min(n_rows - 1)
    };
    let selected: Vec<usize> = (0..n_rows).step_by(step).map(one_of).collect();
    let columns: Vec<Column> = (0..width)
        .map(|at| {
            let texts: Vec<String> = selected.iter().map(|&row| rows[row].1[at].clone()).collect();
            let numbers = texts.iter().map(|cell| number(cell)).collect();
            let n_distinct = texts.iter().collect::<BTreeSet<_>>().len();
            let name = names.as_ref().map(|names| names[at].clone()).filter(|name| !name.is_empty());
            Column { name: name.unwrap_or_else(|| format!("column {}", at + 1)), texts, numbers, n_distinct }
        })
        .collect();
    let suggested = suggest(&columns)?;
    Ok(Table { columns, suggested, n_rows })
}

/// Two columns of numbers, and one of classes: by its name, the last of words, or the last.
fn suggest(columns: &[Column]) -> Result<[usize; 3], String> {
    let may_be_label = |at: &usize| (2..=MAX_CLASSES).contains(&columns[*at].n_distinct);
    let is_called = |at: &usize| LABEL_NAMES.contains(&columns[*at].name.to_lowercase().as_str());
    let candidates: Vec<usize> = (0..columns.len()).filter(may_be_label).collect();
    let words = |at: &usize| columns[*at].numbers.is_none();
    let label = candidates.iter().copied().find(is_called);
    let label = label.or_else(|| candidates.iter().copied().rfind(words)).or(candidates.last().copied());
    let Some(label) = label else {
        let counts: Vec<String> = columns.iter().map(|c| format!("{} has {}", c.name, c.n_distinct)).collect();
        return Err(format!(
            "No column can be the classes, from two to {MAX_CLASSES}. Numbers of distinct values: {}.",
            counts.join(", ")
        ));
    };
    let mut numbers = (0..columns.len()).filter(|at| *at != label && columns[*at].numbers.is_some());
    match (numbers.next(), numbers.next()) {
        (Some(x), Some(y)) => Ok([x, y, label]),
        _ => Err(format!(
            "The table needs two columns of numbers next to the classes ({}); every cell of such a column must be a number.",
            columns[label].name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn reads_separators_names_and_quotes() {
        for text in [
            "height,weight,kind\n1,2,\"a, or so\"\n3,4,b\n",
            "\u{feff}height;weight;kind\r\n1;2;a, or so\r\n\r\n3;4;b",
            "height\tweight\tkind\n 1\t2 \ta, or so\n3\t4\tb\n",
        ] {
            let table = read(text.as_bytes()).unwrap();
            assert_eq!(names(&table), ["height", "weight", "kind"]);
            assert_eq!(table.columns[1].numbers.as_deref(), Some(&[2.0, 4.0][..]));
            assert_eq!(table.columns[2].texts, ["a, or so", "b"]);
            assert_eq!(table.suggested, [0, 1, 2]);
        }
        let table = read(b"1,2,a\n3,4,b\n5,6,b\n").unwrap();
        assert_eq!((names(&table)[0], table.n_rows, table.columns[2].n_distinct), ("column 1", 3, 2));
    }

    #[test]
    fn finds_the_classes_by_name_or_words() {
        assert_eq!(read(b"class,u,v\n0,1,2\n1,3,5\n1,3,8\n").unwrap().suggested, [1, 2, 0]);
        assert_eq!(read(b"u,kind,v\n1,a,2\n3,b,5\n").unwrap().suggested, [0, 2, 1]);
        assert_eq!(read(b"1,2,0\n3,5,1\n4,9,1\n").unwrap().suggested, [0, 1, 2]);
    }

    #[test]
    fn takes_one_of_each_few_rows_of_a_long_table() {
        let text: String = (0..5000).map(|i| format!("{i},{},{}\n", i + 1, i % 3)).collect();
        let table = read(text.as_bytes()).unwrap();
        assert_eq!((table.n_rows, table.columns[0].texts.len()), (5000, 1667));
        let numbers = table.columns[0].numbers.as_ref().unwrap();
        assert!(numbers.iter().enumerate().all(|(at, row)| *row as usize / 3 == at));
        assert_eq!(table.columns[2].n_distinct, 3);
    }

    #[test]
    fn rejects_files_that_are_not_tables() {
        let fails = |bytes: &[u8], expected: &str| {
            let error = read(bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        fails(b"", "empty");
        fails(b" \n\n", "empty");
        fails(b"\x89PNG\r\n\x1a\n\0\0", "not a table");
        fails(b"Once upon a time\nthere was\n", "1 cell");
        fails(b"1,a\n2,b\n", "2 cells");
        fails(b"1,2,a\n3,4,b\n5,6\n", "Line 3 has 2 cells, but line 1 has 3");
        fails(b"x,y,z\n1,2,3\n4,5,6\n7,8,9\n0,1,1\n2,0,2\n", "No column can be the classes");
        fails(b"x,word,kind\n1,one,a\n2,two,b\n3,six,b\n", "two columns of numbers next to the classes (kind)");
        fails(b"x,y,kind\n1,2,a\n", "No column can be the classes");
    }
}
