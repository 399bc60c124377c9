//! Reads a LIBSVM file in blocks, each parsed in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;
use widemargin::data::{DenseView, Label, Labels, Notation, offsets_of};

use super::parse::{LARGE, ParsedRows, Rules};
use super::start::Start;
use super::text::{TextBlocks, split_lines};
use crate::error::{Failure, Problem};
use crate::indicators::Indicators;
use crate::options::ReadOptions;
use crate::reader::{Layout, SampleReader};
use crate::table::{Samples, Table};
use crate::text_input::TextInput;

/// Minimum text size per thread.
const MIN_PIECE: usize = 128 << 10;

/// Reads tables of successive lines.
pub(crate) struct Reader {
    text: TextBlocks<TextInput>,
    rules: Rules,
    lines_before: usize,
    /// Whether there were rows so far, and an index:value pair in one.
    has_rows: bool,
    has_pairs: bool,
    /// One per piece of the block, to reuse its memory.
    pieces: Vec<ParsedRows>,
}

impl Reader {
    pub fn new(path: &Path, options: &ReadOptions) -> Result<Reader, Failure> {
        let input = TextInput::open(path, options.max_line_bytes())?;
        let labels = options.wants_labels("in LIBSVM text the label is the first word of each line")?;
        let start = Start::of(input.start());
        if let Some(line) = start.precomputed().filter(|_| options.notation.first_index != Some(0)) {
            let text = "the values of index 0 number the rows, as in LIBSVM's files of precomputed kernels";
            let help = "remove the pairs 0:1, 0:2, … and pass --similarity precomputed: the other columns are the \
                        similarities to the training samples";
            return Err(Problem::new(text).help(help).at(format!("line {line}, column 1")));
        }
        // If the number of features is specified, rows without pairs are samples; those of a table are not.
        if start.is_table() {
            return Err(Problem::no_pairs().into());
        }
        let multilabel = labels && start.is_multilabel();
        let first = options.notation.first_index.unwrap_or_else(|| start.first_index());
        Ok(Reader {
            text: TextBlocks::new(input, options.block_bytes()),
            rules: Rules { labels, n_features: options.n_features, first, multilabel },
            lines_before: 0,
            has_rows: false,
            has_pairs: false,
            pieces: Vec::new(),
        })
    }

    /// Appends the rows of the next block of text; false at the end.
    fn parse_block(&mut self, rows: &mut ParsedRows) -> Result<bool, Failure> {
        let Some(text) = self.text.next()? else { return Ok(false) };
        let n_pieces = (text.len() / MIN_PIECE).clamp(1, 2 * rayon::current_num_threads());
        let rules = self.rules;
        let parsed = if n_pieces == 1 || rayon::current_num_threads() == 1 {
            rows.parse(text, rules)
        } else {
            let texts = split_lines(text, n_pieces);
            self.pieces.resize_with(texts.len().max(self.pieces.len()), ParsedRows::default);
            let results: Vec<_> =
                self.pieces.par_iter_mut().zip(texts).map(|(piece, text)| piece.parse(text, rules)).collect();
            // In text order, so that the first problem of the file is reported.
            self.pieces.iter_mut().zip(results).try_for_each(|(piece, result)| {
                rows.append(piece);
                result
            })
        };
        self.lines_before = rows.n_lines;
        // Lines are counted up to that of the problem.
        parsed.map_err(|(column, problem)| problem.at(format!("line {}, column {column}", rows.n_lines)))?;
        Ok(true)
    }

    /// Refuses rows with an index whose digits are lost: most of its values are large and close together.
    fn check_digits(&self, rows: &ParsedRows) -> Result<(), Failure> {
        let (matrix, n_rows) = (&rows.matrix, rows.matrix.indptr.len() - 1);
        let rounded = rows.rounded.iter().map(|(at, _)| (matrix.indices[*at], Vec::new()));
        let (mut columns, mut exact) = (rounded.collect::<BTreeMap<u32, Vec<f64>>>(), rows.rounded.iter().peekable());
        if columns.is_empty() {
            return Ok(());
        }
        for (at, (column, value)) in matrix.indices.iter().zip(&matrix.values).enumerate() {
            let exact = exact.next_if(|(place, _)| *place == at).map(|(_, exact)| *exact);
            if let Some(values) = columns.get_mut(column).filter(|_| value.abs() >= LARGE) {
                values.push(exact.unwrap_or_else(|| f64::from(*value)));
            }
        }
        for (column, values) in columns.iter().filter(|(_, values)| 2 * values.len() >= n_rows) {
            let ones = vec![1.0; values.len()];
            if DenseView::new(values, values.len(), 1).is_ok_and(|view| offsets_of(&view, &ones).is_some()) {
                let text = "its values lie so far from 0 for their range that single precision, in which LIBSVM text is \
                            read, loses their digits";
                let help = "subtract their mean, or write the samples as CSV, which is read in double precision";
                let place = format!("index {}", column + self.rules.first);
                return Err(Problem::new(text).help(help).at(place));
            }
        }
        Ok(())
    }

    fn notation(&self) -> Notation {
        Notation { decimal: None, first_index: Some(self.rules.first) }
    }

    fn table(&self, mut rows: ParsedRows) -> Result<Table, Failure> {
        self.check_digits(&rows)?;
        rows.matrix.n_cols = self.rules.n_features.unwrap_or(rows.matrix.n_cols);
        let indicators = self.rules.multilabel.then(|| indicators_of(&rows.labels));
        let labels = (self.rules.labels && indicators.is_none()).then(|| Labels::new(rows.labels));
        let (samples, lines) = (Samples::SparseF32(rows.matrix), Some(rows.lines));
        Ok(Table { samples, labels, indicators, lines, notation: self.notation(), ..Table::default() })
    }
}

/// The indicators of texts such as `1,3`.
fn indicators_of(texts: &[Label]) -> Indicators {
    let of_text = |text: &Label| -> Vec<Label> {
        text.to_string().split(',').filter(|part| !part.is_empty()).map(Label::parse).collect()
    };
    let all: Vec<Vec<Label>> = texts.iter().map(of_text).collect();
    let names: Vec<Label> = all.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let value = |labels: &Vec<Label>, name: &Label| f64::from(u8::from(labels.contains(name)));
    let values = all.iter().flat_map(|labels| names.iter().map(move |name| value(labels, name))).collect();
    Indicators { names, values, are_listed: true }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        let is_whole = bytes == usize::MAX;
        let mut rows = ParsedRows::default();
        if let Samples::SparseF32(matrix) = spent.samples {
            rows.matrix = matrix;
            rows.clear();
        }
        rows.n_lines = self.lines_before;
        // A block of comments has no rows, and is not the end.
        while (is_whole || rows.matrix.indptr.len() == 1) && self.parse_block(&mut rows)? {}
        let any = rows.matrix.indptr.len() > 1;
        self.has_pairs |= rows.matrix.n_cols > 0;
        self.has_rows |= any;
        // Rows may be empty, but not those of the whole file.
        if (is_whole || !any) && self.has_rows && !self.has_pairs && self.rules.n_features.is_none() {
            return Err(Problem::no_pairs().into());
        }
        any.then(|| self.table(rows)).transpose()
    }

    fn layout(&self) -> Layout {
        let (has_separate_labels, notation) = (self.rules.labels, self.notation());
        Layout { has_separate_labels, notation, sparse: true, ..Layout::default() }
    }
}
