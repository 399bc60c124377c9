//! Indicators of multilabel samples: for each label 1 if the sample has it, 0 if not, NaN if unknown.

use std::io::Read;
use std::path::Path;

use widemargin::data::{Label, Labels, as_boolean};

use crate::csv::{Header, Numbers, Records, is_missing, text_of};
use crate::error::{IoError, Result};
use crate::npy::{self, Failure};
use crate::problem::{ArrayProblem, CsvProblem, shown};

/// The labels of multilabel samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Indicators {
    /// The names of the labels.
    pub names: Vec<Label>,
    /// Samples × labels, row-major.
    pub values: Vec<f64>,
    /// Whether samples list their labels, as in LIBSVM text, so that labels without samples have no name.
    pub are_listed: bool,
}

impl Indicators {
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.values.len() / self.names.len().max(1)
    }

    /// As labels to train with.
    ///
    /// # Errors
    /// [`widemargin::Error::Parameter`] for a repeated name.
    pub fn labels(&self) -> widemargin::Result<Labels> {
        Labels::multilabel(self.names.clone(), &self.values)
    }

    /// The indicators of consecutive samples.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Indicators {
        let k = self.names.len();
        Indicators {
            names: self.names.clone(),
            values: self.values[rows.start * k..rows.end * k].to_vec(),
            are_listed: self.are_listed,
        }
    }
}

/// The number of a cell: of 1 and 0, true and false, yes and no, and of missing values.
pub(crate) fn indicator(cell: &[u8], numbers: Numbers) -> Result<f64, CsvProblem> {
    if is_missing(cell) {
        return Ok(f64::NAN);
    }
    let is_set = text_of(cell)?.and_then(as_boolean);
    let value = is_set.map(|is_set| f64::from(u8::from(is_set))).or_else(|| numbers.number(cell));
    value.filter(|value| [0.0, 1.0].contains(value)).ok_or_else(|| CsvProblem::Indicator(shown(cell)))
}

/// The columns of a CSV or TSV file with a header that names the labels.
pub(crate) fn of_table(mut records: Records) -> Result<Indicators> {
    let cells: Vec<Vec<u8>> = records.first().0.iter().map(|cell| cell.trim_ascii().to_vec()).collect();
    let name = |cell: &Vec<u8>| String::from_utf8(cell.clone());
    let names = cells.iter().map(name).collect::<Result<Vec<_>, _>>();
    let names = names.map_err(|_| records.first_problem(CsvProblem::NotText))?;
    let (header, numbers) = (Header { names: Some(names.clone()), n: records.n }, records.numbers);
    if let Some(column) = cells.iter().position(|cell| indicator(cell, numbers).is_ok()) {
        let problem = CsvProblem::NoHeader(shown(&cells[column]));
        return Err(IoError::Column { file: records.file.clone(), column: (column + 1).to_string(), problem });
    }
    records.skip_header();
    let mut found =
        Indicators { names: names.into_iter().map(Label::Text).collect(), values: Vec::new(), are_listed: false };
    while let Some(line) = records.next()? {
        if records.record.len() != records.n {
            return Err(records.ragged(line));
        }
        for column in 0..records.n {
            let value = indicator(records.record[column].trim_ascii(), numbers);
            found.values.push(value.map_err(|p| records.problem(line, Some(header.called(column)), p))?);
        }
    }
    Ok(found)
}

/// A `.npy` matrix, samples × labels, whose labels are called by their numbers from 0.
pub(crate) fn of_array(input: &mut dyn Read, header: &npy::Header) -> Result<Indicators, Failure> {
    let (n, k) = header.matrix()?;
    if k == 0 {
        return Err(header.wrong_shape("a column for each of at least one label").into());
    }
    let values: Vec<f64> = match npy::read_values(input, &header.dtype, n * k)? {
        npy::Values::F32(values) => values.into_iter().map(f64::from).collect(),
        npy::Values::F64(values) => values,
    };
    let values = if header.fortran { (0..n * k).map(|at| values[(at % k) * n + at / k]).collect() } else { values };
    if let Some(at) = values.iter().position(|value| !(value.is_nan() || [0.0, 1.0].contains(value))) {
        let (row, column, value) = (at / k, at % k, values[at]);
        return Err(ArrayProblem::Indicator { row, column, value }.into());
    }
    Ok(Indicators { names: (0..k as i64).map(Label::Integer).collect(), values, are_listed: false })
}

/// What separates the cells of a file that is a table by its name.
pub(crate) fn delimiter_of(path: &Path) -> Option<u8> {
    let ending = path.extension()?;
    if ending.eq_ignore_ascii_case("csv") {
        return Some(b',');
    }
    ending.eq_ignore_ascii_case("tsv").then_some(b'\t')
}
