//! Whether the first line of a table has the names of its columns.

use crate::tuning::{MAX_HEADER_PROBABILITY, MIN_COUNTED_CELLS};
use std::collections::HashMap;

use csv::ByteRecord;

use super::cell::{is_missing, trimmed};
use super::header::{LABEL_NAMES, is_one_of};
use super::number::Numbers;

/// What is known of the first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstLine {
    Names,
    Sample,
    /// All cells of the table are text, and none of the first line occurs again.
    Unclear,
}

/// What a cell is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    Whole,
    Fraction,
    Text,
}

fn shape(cell: &str, numbers: Numbers) -> Shape {
    match numbers.number(cell) {
        None => Shape::Text,
        Some(_) if cell.chars().all(|c| c.is_ascii_digit() || "+-".contains(c)) => Shape::Whole,
        Some(_) => Shape::Fraction,
    }
}

/// Distinguishes names from a sample: names do not recur in their columns, are above numbers or include a label name;
/// a sample rarely differs from all others in every column.
pub(super) fn of(first: &ByteRecord, others: &[&ByteRecord], numbers: Numbers) -> FirstLine {
    let cells = || first.iter().map(trimmed).enumerate().filter(|(_, cell)| !is_missing(cell));
    let below = |column: usize| others.iter().filter_map(move |line| line.get(column)).map(trimmed);
    let recurs = |column: usize, cell: &str| below(column).any(|other| other == cell);
    let is_text = |cell: &str| shape(cell, numbers) == Shape::Text;
    // In joined tables the header occurs again, among numbers.
    let different: Vec<&ByteRecord> = others.iter().copied().filter(|line| !is_same(first, line)).collect();
    let are_numbers = |column: usize| {
        let mut known = different.iter().filter_map(|line| line.get(column)).map(trimmed);
        known.all(|cell| is_missing(cell) || !is_text(cell))
    };
    let is_repeated = !different.is_empty() && different.len() < others.len();
    if is_repeated && cells().any(|(column, cell)| is_text(cell) && are_numbers(column)) {
        return FirstLine::Names;
    }
    if cells().any(|(column, cell)| is_text(cell) && recurs(column, cell)) {
        return FirstLine::Sample;
    }
    let is_above_number = |(column, cell): (usize, &str)| {
        let second = below(column).find(|other| !is_missing(other));
        is_text(cell) && second.is_some_and(|second| !is_text(second))
    };
    if cells().any(|(_, cell)| is_one_of(cell, &LABEL_NAMES)) || cells().any(is_above_number) {
        return FirstLine::Names;
    }
    let counts = counts_up(first, numbers);
    let others_count = || others.iter().any(|line| counts_up(line, numbers).is_some());
    if counts.is_some_and(|(start, n)| n >= MIN_COUNTED_CELLS && (0.0..=1.0).contains(&start)) && !others_count() {
        return FirstLine::Names;
    }
    if cells().any(|(column, cell)| recurs(column, cell)) || cells().next().is_none() {
        return FirstLine::Sample;
    }
    let mut probability: f64 = cells().map(|(column, cell)| probability_of(cell, below(column), numbers)).product();
    if counts.is_some() && !others_count() {
        probability /= (others.len() + 1) as f64;
    }
    let is_all_text = || others.iter().all(|line| line.iter().map(trimmed).all(is_text));
    match () {
        () if probability < MAX_HEADER_PROBABILITY => FirstLine::Names,
        () if probability < 1.0 && first.len() > 1 && cells().all(|(_, cell)| is_text(cell)) && is_all_text() => {
            FirstLine::Unclear
        }
        () => FirstLine::Sample,
    }
}

/// The probability that a sample has a value that no other sample has, or one of another shape: the share of values that
/// occur once (Good-Turing estimate).
fn probability_of<'a>(cell: &str, below: impl Iterator<Item = &'a str>, numbers: Numbers) -> f64 {
    let (mut values, mut shapes, mut n) = (HashMap::new(), HashMap::new(), 0);
    for other in below.filter(|other| !is_missing(other)) {
        *values.entry(other).or_insert(0) += 1;
        *shapes.entry(shape(other, numbers)).or_insert(0) += 1;
        n += 1;
    }
    let once = values.values().filter(|&&count| count == 1).count();
    let of_value = (once + 1) as f64 / f64::from(n + 1);
    let of_shape = if shapes.contains_key(&shape(cell, numbers)) { 1.0 } else { 1.0 / f64::from(n + 1) };
    of_value.min(of_shape)
}

/// The first number and how many there are, where all numbers of a line are whole and each is one more than the last.
fn counts_up(line: &ByteRecord, numbers: Numbers) -> Option<(f64, usize)> {
    let cells = line.iter().map(trimmed).filter(|cell| !is_missing(cell));
    let found: Vec<f64> = cells.filter_map(|cell| numbers.number(cell)).collect();
    let counts = found.windows(2).all(|pair| pair[1] == pair[0] + 1.0) && found.iter().all(|x| x.fract() == 0.0);
    (counts && found.len() > 1).then(|| (found[0], found.len()))
}

/// Whether two lines have the same cells.
pub(super) fn is_same(a: &ByteRecord, b: &ByteRecord) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.trim_ascii() == b.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line_of(text: &str) -> FirstLine {
        let lines: Vec<ByteRecord> = text.lines().map(|line| line.split(',').collect::<Vec<_>>().into()).collect();
        of(&lines[0], &lines[1..].iter().collect::<Vec<_>>(), Numbers::USUAL)
    }

    #[test]
    fn distinguishes_names_from_samples() {
        let weather = "sunny,true,high,no\nrainy,false,high,yes\nrainy,true,low,no\nsunny,false,low,yes\n".repeat(3);
        let years: String =
            (0..20).map(|i| format!("{},{},{}\n", ["fr", "de"][i % 2], 7 * i * i + 3, 5 * i + 2)).collect();
        let floats: String = (0..20).map(|i| format!("{}.5,{}.25,{}\n", i, 3 * i, i % 2)).collect();
        let counts: String = (0..20).map(|i| format!("{},{},{},{}\n", i, i + 1, i + 2, i + 3)).collect();
        let digits: String = (0..40).map(|i| format!("{},{},{},{},{}\n", i % 10, 0, i % 7, i % 3, i % 2)).collect();
        for (text, expected) in [
            (format!("outlook,windy,humidity,play\n{weather}"), FirstLine::Names),
            (weather.clone(), FirstLine::Sample),
            (format!("country,2019,2020\n{years}"), FirstLine::Names),
            (years.clone(), FirstLine::Sample),
            (format!("0,1,2\n{floats}"), FirstLine::Names),
            (
                format!(",0,1,2\n{}", floats.lines().map(|line| format!("7,{line}\n")).collect::<String>()),
                FirstLine::Names,
            ),
            (floats, FirstLine::Sample),
            (counts, FirstLine::Sample),
            (format!("0,1,2,3,4\n{digits}"), FirstLine::Names),
            (digits, FirstLine::Sample),
            // Votes: no label column called y.
            ("republican,n,y\ndemocrat,y,y\nrepublican,n,n\n".into(), FirstLine::Sample),
            ("a,b\n1,2\n".into(), FirstLine::Names),
            ("a,b\n,x\n1,y\n".into(), FirstLine::Names),
            ("1,2,3\n4,5,6\n".into(), FirstLine::Sample),
            ("5.1,3.5,setosa\n4.9,3,setosa\n".into(), FirstLine::Sample),
            ("outlook,play\nsunny,no\nrainy,yes\nsunny,yes\n".into(), FirstLine::Unclear),
        ] {
            assert_eq!(first_line_of(&text), expected, "{text}");
        }
    }
}
