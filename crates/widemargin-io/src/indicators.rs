//! Indicators of multilabel samples: for each label 1 if the sample has it, 0 if not, NaN if unknown.

use widemargin::data::{Label, Labels};

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
