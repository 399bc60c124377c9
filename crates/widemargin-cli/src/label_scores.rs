//! The labels of samples in the order of a multilabel model's.

use widemargin::data::{Label, Labels};
use widemargin_io::Indicators;

use crate::args::Input;
use crate::report::{Failure, shown};

/// The labels of all samples in the order of the model's.
pub fn labels_of_model(several: &Indicators, names: &[Label], input: &Input) -> Result<Labels, Failure> {
    Ok(Labels::multilabel(names.to_vec(), &in_order(several, names, input)?)?)
}

/// The indicators, samples × labels, in the order of the model's labels. Their column is that of the name, or of the place
/// where a matrix has no names; where samples list their labels, a label that none has is 0.
pub fn in_order(several: &Indicators, names: &[Label], input: &Input) -> Result<Vec<f64>, Failure> {
    let are_numbers = several.names.iter().enumerate().all(|(at, name)| *name == Label::Integer(at as i64));
    if are_numbers && several.names.len() == names.len() {
        return Ok(several.values.clone());
    }
    let place = |name: &Label| match several.names.iter().position(|known| known.class_among(names) == Some(name)) {
        None if !several.are_listed => {
            let failure = format!("{}: there is no label '{name}', which the model predicts", shown(&input.data));
            Err(Failure::input(failure).help("give the columns of all labels of the model"))
        }
        place => Ok(place),
    };
    let order = names.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let row = |row: &[f64]| order.iter().map(|at| at.map_or(0.0, |at| row[at])).collect::<Vec<_>>();
    Ok(several.values.chunks(several.names.len().max(1)).flat_map(row).collect())
}

/// The indicators of samples, which a multilabel model is evaluated on.
///
/// # Errors
/// Samples without the labels that the model predicts.
pub fn require_indicators<'a>(several: &'a Option<Indicators>, input: &Input) -> Result<&'a Indicators, Failure> {
    several.as_ref().ok_or_else(|| {
        let data = shown(&input.data);
        let failure =
            Failure::input(format!("{data}: the model is multilabel, and the samples have none of its labels"));
        failure.help("name their columns with --label A,B or their file with --label-file, as in training")
    })
}
