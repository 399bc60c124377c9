//! Indicators of multilabel samples: for each label 1 if the sample has it, 0 if not, NaN if unknown.

use std::io::Read;

use widemargin::data::{Label, Labels, as_boolean};

use crate::csv::{Numbers, is_missing};
use crate::error::{Failure, Problem, excerpt};
use crate::npy::{Array, Values};

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

    /// The indicators of a sample.
    pub(crate) fn of(&self, row: usize) -> &[f64] {
        let k = self.names.len();
        &self.values[row * k..(row + 1) * k]
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
pub(crate) fn indicator(cell: &str, numbers: Numbers) -> Result<f64, Problem> {
    if is_missing(cell) {
        return Ok(f64::NAN);
    }
    let value = as_boolean(cell).map(|is_set| f64::from(u8::from(is_set))).or_else(|| numbers.number(cell));
    let expected = "is not an indicator: 1 if the sample has the label, 0 if not, empty if unknown";
    value.filter(|value| [0.0, 1.0].contains(value)).ok_or_else(|| format!("'{}' {expected}", excerpt(cell)).into())
}

/// A `.npy` matrix, samples × labels, whose labels are called by their numbers from 0.
pub(crate) fn of_array(array: &mut Array<impl Read>) -> Result<Indicators, Failure> {
    let (n, k) = array.header.matrix()?;
    let values: Vec<f64> = match array.values(n * k)? {
        Values::F32(values) => values.into_iter().map(f64::from).collect(),
        Values::F64(values) => values,
    };
    let is_fortran = array.header.fortran;
    let values = if is_fortran { (0..n * k).map(|at| values[(at % k) * n + at / k]).collect() } else { values };
    if let Some(at) = values.iter().position(|value| !(value.is_nan() || [0.0, 1.0].contains(value))) {
        let (row, column, value) = (at / k, at % k, values[at]);
        let expected = "expected 1 for a label that the sample has, 0 or NaN";
        return Err(Problem::new(format!("row {row}, column {column} (from 0): {value}, {expected}")).into());
    }
    Ok(Indicators { names: (0..k as i64).map(Label::Integer).collect(), values, are_listed: false })
}
