//! Scores of multilabel models.

use widemargin::Result;
use widemargin::data::{Label, Labels};
use widemargin::select::LabelScores;
use widemargin_io::Indicators;

use crate::args::Input;
use crate::report::{Failure, shown};

/// Indicators, decision values (both samples × labels, in the order of the model's labels) and weights of all samples.
#[derive(Default)]
pub struct LabelValues {
    truth: Vec<f64>,
    values: Vec<f32>,
    pub weights: Vec<f64>,
}

impl LabelValues {
    /// Adds rows of the indicators, whose columns have the order of the model's labels, and the decision values of these
    /// rows; `weights` has those of all rows of the indicators.
    pub fn add(
        &mut self,
        several: &Indicators,
        order: &[Option<usize>],
        rows: impl IntoIterator<Item = usize>,
        values: &[f32],
        weights: Option<&[f64]>,
    ) {
        let k = several.names.len();
        for row in rows {
            self.truth.extend(order.iter().map(|at| at.map_or(0.0, |at| several.values[row * k + at])));
            self.weights.push(weights.map_or(1.0, |weights| weights[row]));
        }
        self.values.extend_from_slice(values);
    }

    /// What is counted of the labels of these names.
    ///
    /// # Errors
    /// Those of [`LabelScores::of`].
    pub fn scores(&self, names: &[Label]) -> Result<LabelScores> {
        LabelScores::of(&Labels::multilabel(names.to_vec(), &self.truth)?, &self.values, Some(&self.weights))
    }
}

/// The labels of all samples in the order of the model's.
pub fn labels_of_model(several: &Indicators, names: &[Label], input: &Input) -> Result<Labels, Failure> {
    let (order, k) = (order_of(several, names, input)?, several.names.len());
    let values: Vec<f64> =
        several.values.chunks(k.max(1)).flat_map(|row| order.iter().map(|at| at.map_or(0.0, |at| row[at]))).collect();
    Ok(Labels::multilabel(names.to_vec(), &values)?)
}

/// The column of each of the model's labels: by name, or by place where a matrix has no names; none where samples list their
/// labels and none has it.
pub fn order_of(several: &Indicators, names: &[Label], input: &Input) -> Result<Vec<Option<usize>>, Failure> {
    let are_numbers = several.names.iter().enumerate().all(|(at, name)| *name == Label::Integer(at as i64));
    if are_numbers && several.names.len() == names.len() {
        return Ok((0..names.len()).map(Some).collect());
    }
    let place = |name: &Label| match several.names.iter().position(|given| given.class_among(names) == Some(name)) {
        None if !several.are_listed => {
            let failure = format!("{}: there is no label '{name}', which the model predicts", shown(&input.data));
            Err(Failure::input(failure).help("give the columns of all labels of the model"))
        }
        place => Ok(place),
    };
    names.iter().map(place).collect()
}

/// The refusal of samples without the labels that a model predicts.
pub fn no_labels(input: &Input) -> Failure {
    let failure = format!("{}: the model is multilabel, and the samples have none of its labels", shown(&input.data));
    Failure::input(failure).help("name their columns with --label A,B or their file with --label-file, as in training")
}
