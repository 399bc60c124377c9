//! What separates the cells of a file, from the start of its text.

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::cell::trimmed;
use super::number::Numbers;
use crate::tuning::{DELIMITER_LINES, MIN_EVEN_LINES};
use widemargin::data::Decimal;

/// What may separate cells, besides what is usual for the file's name.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The start of a text, split in one way.
struct Split {
    delimiter: u8,
    /// Whether most lines have the same number of cells, at least two.
    is_table: bool,
    /// The share of numbers among the cells below the first line.
    numbers: f64,
}

impl Split {
    fn of(text: &[u8], delimiter: u8, quoting: bool) -> Split {
        let mut lines = lines(text, delimiter, quoting);
        // Comments have commas of their own.
        if lines.iter().any(|line| !is_comment(line)) {
            lines.retain(|line| !is_comment(line));
        }
        let widths: Vec<usize> = lines.iter().map(width).collect();
        let most = widths.iter().copied().max_by_key(|width| widths.iter().filter(|other| *other == width).count());
        let n_even = widths.iter().filter(|width| Some(**width) == most).count();
        let cells = lines.iter().skip(1).flat_map(|line| line.iter()).map(trimmed);
        let (mut n, mut n_numbers) = (0, 0);
        for cell in cells {
            let is_number = |decimal| Numbers { decimal: Some(decimal) }.number(cell).is_some();
            n += 1;
            n_numbers += usize::from(is_number(Decimal::Point) || is_number(Decimal::Comma));
        }
        Split {
            delimiter,
            is_table: most.is_some_and(|most| most > 1) && n_even as f64 >= MIN_EVEN_LINES * widths.len() as f64,
            numbers: n_numbers as f64 / f64::from(n.max(1)),
        }
    }
}

/// The delimiter of a text: the `usual` one, unless only another makes a table of it, or a table of more numbers.
pub(super) fn delimiter_of(text: &[u8], usual: u8, quoting: bool) -> u8 {
    let split = |delimiter| Split::of(text, delimiter, quoting);
    let others = CANDIDATES.into_iter().filter(|other| *other != usual).map(split).filter(|other| other.is_table);
    let best = others.max_by(|a, b| a.numbers.total_cmp(&b.numbers));
    let usual = split(usual);
    match best {
        Some(best) if !usual.is_table || best.numbers > usual.numbers => best.delimiter,
        Some(_) => usual.delimiter,
        None if usual.is_table => usual.delimiter,
        // Words have blanks too: only numbers tell.
        None => Some(split(b' ')).filter(|blanks| blanks.is_table && blanks.numbers > 0.5).unwrap_or(usual).delimiter,
    }
}

/// A delimiter that occurs in every line, although the lines are not a table.
pub(super) fn in_every_line(text: &[u8]) -> Option<u8> {
    CANDIDATES.into_iter().chain([b' ']).find(|&delimiter| {
        let lines = lines(text, delimiter, true);
        !lines.is_empty() && lines.iter().all(|line| line.len() > 1)
    })
}

/// Whether a line is a comment, if it has another number of cells than the table.
pub(super) fn is_comment(line: &ByteRecord) -> bool {
    line.get(0).is_some_and(|cell| cell.starts_with(b"#"))
}

/// The number of cells without empty ones at the end.
fn width(line: &ByteRecord) -> usize {
    let is_full = |at: &usize| !line[*at].trim_ascii().is_empty();
    (0..line.len()).rfind(is_full).map_or(1, |last| last + 1)
}

fn lines(text: &[u8], delimiter: u8, quoting: bool) -> Vec<ByteRecord> {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).quoting(quoting).has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
    let is_blank = |line: &ByteRecord| line.as_slice().trim_ascii().is_empty();
    let lines = builder.from_reader(text).into_byte_records().map_while(Result::ok);
    lines.filter(|line| !is_blank(line)).take(DELIMITER_LINES).collect()
}

/// The cells of a comment without the sign in front of the first, where a blank separates them.
pub(super) fn without_sign(comment: &ByteRecord) -> ByteRecord {
    let uncommented = |cell: &[u8]| cell.strip_prefix(b"# ").map(|name| name.trim_ascii().to_vec());
    let name = comment.get(0).and_then(uncommented).filter(|name| !name.is_empty());
    match name {
        Some(name) => std::iter::once(&name[..]).chain(comment.iter().skip(1)).collect(),
        None => comment.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_makes_a_table() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("1,5;2,5;x\n3,0;4,5;y\n", b';'),
            ("1,5;2\n3,0;4\n", b';'),
            ("a|b\n1|2\n", b'|'),
            ("a\tb,c\n1\t2\n", b'\t'),
            ("# made, by, hand\na;b\n1;2\n", b';'),
            // Text with semicolons, and one column.
            ("red;blue,1\ngreen;red,2\n", b','),
            ("a\n1\n2\n", b','),
            ("nice film\nbad film\n", b','),
            ("1 2.5 x\n3 4 y\n", b' '),
            // A line too few does not change it.
            ("a,b,c\n1,2,3\n1,2\n", b','),
            ("name,\"a;b\"\nx,\"c;d\"\n", b','),
        ] {
            assert_eq!(char::from(delimiter_of(text.as_bytes(), b',', true)), char::from(expected), "{text:?}");
        }
        assert_eq!(delimiter_of(b"a,b\n1,2\n", b'\t', true), b',');
        assert_eq!(in_every_line(b"a;b;c\n1;2\n"), Some(b';'));
    }
}
