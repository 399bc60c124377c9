//! Parses a piece of LIBSVM text into rows.

use memchr::memchr;
use widemargin::data::{CsrMatrix, Label};

use super::number::{is_blank, short_pair};
use crate::error::{IMPUTE, Problem, shown};
use crate::table::RowLines;

/// What the caller expects of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether each line starts with a label; otherwise a first word that is not a pair is skipped.
    pub labels: bool,
    /// The number of features, if known.
    pub n_features: Option<usize>,
    /// The index of the first feature: 1, or 0 as scikit-learn writes it.
    pub first: u32,
    /// Whether samples have any number of labels, separated by commas.
    pub multilabel: bool,
}

/// The rows of a text, in reusable vectors.
#[derive(Clone, Debug)]
pub(crate) struct ParsedRows {
    pub labels: Vec<Label>,
    pub matrix: CsrMatrix<f32>,
    /// The places among the values of the matrix of large numbers that single precision changed, and these numbers.
    pub rounded: Vec<(usize, f64)>,
    /// The line of each row, counted from 1 in this text.
    pub lines: RowLines,
    /// The number of lines of the text.
    pub n_lines: usize,
}

impl Default for ParsedRows {
    fn default() -> Self {
        let (matrix, lines) = (CsrMatrix::empty(0), RowLines::default());
        ParsedRows { labels: Vec::new(), matrix, rounded: Vec::new(), lines, n_lines: 0 }
    }
}

impl ParsedRows {
    /// Removes all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.matrix.indptr.clear();
        self.matrix.indptr.push(0);
        self.matrix.indices.clear();
        self.matrix.values.clear();
        self.matrix.n_cols = 0;
        self.rounded.clear();
        self.lines = RowLines::default();
        self.n_lines = 0;
    }

    /// Appends the rows of the subsequent text, and clears it.
    pub fn append(&mut self, piece: &mut ParsedRows) {
        self.labels.append(&mut piece.labels);
        let before = self.matrix.values.len();
        self.matrix.append(&piece.matrix, |value| value);
        self.rounded.extend(piece.rounded.iter().map(|(at, exact)| (before + at, *exact)));
        self.lines.append(&piece.lines, self.n_lines);
        self.n_lines += piece.n_lines;
        piece.clear();
    }

    /// Parses whole lines (the last need not be terminated) and appends their rows.
    ///
    /// # Errors
    /// A problem in the last line counted, and the byte within it, from 1.
    pub fn parse(&mut self, text: &[u8], rules: Rules) -> Result<(), (usize, Problem)> {
        let mut line_start = 0;
        while line_start < text.len() {
            self.n_lines += 1;
            let parsed = self.parse_line(text, line_start, rules);
            line_start = parsed.map_err(|(at, problem)| (at - line_start + 1, problem))?;
        }
        Ok(())
    }

    /// Parses the line that starts at `start`; returns the start of the next one.
    fn parse_line(&mut self, text: &[u8], start: usize, rules: Rules) -> Result<usize, (usize, Problem)> {
        let mut at = skip_blanks(text, start);
        if let Some(next) = line_end(text, at) {
            return Ok(next);
        }
        let first = word(text, at);
        let label = if first.contains(&b':') { &first[..0] } else { first };
        if rules.labels {
            if label.is_empty() && !rules.multilabel {
                return Err((at, label_missing(first)));
            }
            let label = std::str::from_utf8(label).map_err(|_| (at, "the label is not UTF-8 text".into()))?;
            self.labels.push(if rules.multilabel { Label::Text(label.to_owned()) } else { Label::parse(label) });
        }
        at += label.len();
        // The least index that may follow.
        let mut next_index = u64::from(rules.first);
        let next = loop {
            at = skip_blanks(text, at);
            let (index, value, length) = match short_pair(&text[at..]) {
                Some(pair) => pair,
                None => match line_end(text, at) {
                    Some(next) => break next,
                    None => any_pair(word(text, at)).map_err(|(offset, problem)| (at + offset, problem))?,
                },
            };
            if value.abs() >= LARGE
                && let Some(exact) = rounded(&text[at..at + length], value)
            {
                self.rounded.push((self.matrix.values.len(), exact));
            }
            if u64::from(index) < next_index {
                return Err((at, index_problem(index, (next_index - 1) as u32)));
            }
            let column = index - rules.first;
            next_index = u64::from(index) + 1;
            if value != 0.0 {
                self.matrix.indices.push(column);
                self.matrix.values.push(value);
            }
            at += length;
            if let Some(n_features) = rules.n_features.filter(|n| column as usize >= *n) {
                let (from, help) = match rules.first {
                    0 => (", whose indices start at 0", "subtract 1 from every index if those of this file start at 1"),
                    _ => ("", "the model was trained without that feature, and cannot use it: leave it out"),
                };
                let problem = Problem::new(format!("index {index}: there are only {n_features} features{from}"));
                return Err((at - length, problem.help(help)));
            }
        };
        // A stored zero counts here: it shows that the feature exists.
        self.matrix.n_cols = self.matrix.n_cols.max((next_index - u64::from(rules.first)) as usize);
        self.matrix.indptr.push(self.matrix.values.len());
        self.lines.push((), self.n_lines, 1);
        Ok(next)
    }
}

/// Numbers from which digits of columns far from 0 may be lost.
pub(super) const LARGE: f32 = 65536.0;

/// The value of a pair in double precision, if single precision changed it.
#[cold]
fn rounded(word: &[u8], value: f32) -> Option<f64> {
    let colon = memchr(b':', word)?;
    let exact: f64 = std::str::from_utf8(&word[colon + 1..]).ok()?.parse().ok()?;
    (exact != f64::from(value)).then_some(exact)
}

#[inline]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| is_blank(*byte)) {
        at += 1;
    }
    at
}

/// The start of the next line, if the rest of this one is empty.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        None => Some(text.len()),
        Some(b'\n') => Some(at + 1),
        Some(b'#') => Some(memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)),
        Some(_) => None,
    }
}

/// The bytes up to the next blank, comment or line end.
fn word(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at..];
    let end = rest.iter().position(|byte| is_blank(*byte) || matches!(byte, b'\n' | b'#'));
    &rest[..end.unwrap_or(rest.len())]
}

/// A pair in any notation. Errors include the byte offset within the word.
fn any_pair(word: &[u8]) -> Result<(u32, f32, usize), (usize, Problem)> {
    let Some(colon) = memchr(b':', word) else {
        let problem = Problem::new(format!("'{}' is not an index:value pair", shown(word)));
        return Err((0, problem.help("if this is another format, name it with --format")));
    };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    let Some(index) = std::str::from_utf8(index).ok().and_then(|text| text.parse().ok()) else {
        if index == b"qid" {
            let problem = Problem::new(format!("'{}': ranking groups are not read", shown(word)));
            return Err((0, problem.help("remove the qid entries")));
        }
        return Err((0, format!("index '{}' is not a whole number from 1 to {}", shown(index), u32::MAX).into()));
    };
    match std::str::from_utf8(value).ok().and_then(|text| text.parse::<f32>().ok()) {
        Some(number) if number.is_finite() => Ok((index, number, word.len())),
        Some(_) => {
            let problem = Problem::new(format!("value '{}' is not a finite single-precision number", shown(value)));
            Err((colon + 1, problem.help(IMPUTE)))
        }
        None => Err((colon + 1, format!("value '{}' is not a number", shown(value)).into())),
    }
}

#[cold]
fn label_missing(word: &[u8]) -> Problem {
    Problem::new(format!("label missing: the line starts with '{}'", shown(word)))
        .help("begin each line with a label, or pass --label none if the samples have none")
}

#[cold]
fn index_problem(index: u32, previous: u32) -> Problem {
    if index == 0 {
        return Problem::new("index 0: the indices start at 1, as in the training data or in the first lines").help(
            "write all files alike: with dump_svmlight_file(…, zero_based=False), or add 1 to every index; indices count \
             from 0 only where the first lines, of the training data if there is a model, have index 0",
        );
    }
    let text = match index == previous {
        true => format!("index {index} occurs twice"),
        false => format!("index {index} after {previous}: indices must ascend"),
    };
    Problem::new(text).help("sort the pairs of each line by index and sum those that share one")
}
