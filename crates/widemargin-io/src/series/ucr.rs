//! Lines with a label and values, as in the UCR archive.
//!
//! The label ends at the first tab or, without a tab, at the first comma or white space; values are separated by tabs,
//! commas or white space. The archive pads shorter series with NaN: trailing missing values mark the end of a series,
//! missing values elsewhere are refused.

use widemargin::data::Label;

use super::lines::Lines;
use super::{ReadSeries, is_missing, value};
use crate::error::Result;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::sample_problem::SeriesProblem;
use crate::table::Table;
use crate::text_input::TextInput;

/// Reads consecutive lines.
#[derive(Debug)]
pub(crate) struct Reader {
    lines: Lines,
    labeled: bool,
}

impl Reader {
    pub fn new(input: TextInput, options: &ReadOptions) -> Result<Reader> {
        let labeled = options.wants_labels(&input.file, "in lines of the UCR archive it is what comes first")?;
        Ok(Reader { lines: Lines::new(input), labeled })
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let mut series = ReadSeries::default();
        let start = self.lines.bytes;
        while (series.lengths.is_empty() || self.lines.bytes - start < bytes as u64) && self.lines.advance()? {
            read_line(self.lines.text()?, self.labeled, &mut series).map_err(|p| self.lines.problem(p))?;
            series.lines.push(self.lines.number);
        }
        series.finish(1, self.labeled, table)
    }
}

fn read_line(line: &str, labeled: bool, series: &mut ReadSeries) -> Result<(), SeriesProblem> {
    let values = if labeled {
        let separator = if line.contains('\t') { |c| c == '\t' } else { |c: char| c == ',' || c.is_whitespace() };
        let line = if line.contains('\t') { line } else { line.trim_start() };
        let (label, values) = line.split_once(separator).ok_or(SeriesProblem::NoValues)?;
        if label.trim().is_empty() {
            return Err(SeriesProblem::LabelMissing);
        }
        series.labels.push(Label::parse(label.trim()));
        values
    } else {
        line
    };
    // A cell between two tabs or commas may be empty; white space next to a separator is part of it.
    let cells = values.trim().split([',', '\t']).flat_map(|cell| {
        let mut words = cell.split_whitespace().peekable();
        let empty = words.peek().is_none().then_some("");
        words.chain(empty)
    });
    let cells: Vec<&str> = cells.collect();
    let length = cells.iter().rposition(|cell| !is_missing(cell)).map_or(0, |last| last + 1);
    if length == 0 {
        return Err(SeriesProblem::NoValues);
    }
    for (position, cell) in cells[..length].iter().enumerate() {
        series.values.push(value(cell, position, None)?);
    }
    series.lengths.push(length);
    Ok(())
}
