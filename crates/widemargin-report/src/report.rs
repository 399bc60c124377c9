//! The report on a model of any kind.

use widemargin::data::SamplesView;
use widemargin::model::AnyModel;
use widemargin::monitor::Monitor;
use widemargin::select::Answers;
use widemargin::{Error, Result};

use crate::page::ClassReport;
use crate::values::{OneClassReport, RegressionReport};

/// Samples on which a model is measured.
#[derive(Debug)]
pub struct Measurement<'a> {
    /// The samples.
    pub samples: &'a SamplesView<'a>,
    /// Their labels or targets; an outlier detector needs none.
    pub answers: Option<&'a Answers<'a>>,
    /// One weight for each sample.
    pub weights: Option<&'a [f64]>,
    /// Their name, such as the name of their file.
    pub name: String,
}

/// The report on a model as a page: HTML with inline style and pictures, without external requests. `title` names the
/// model; without samples, or without their labels or targets, nothing is measured.
///
/// # Errors
/// Errors of the model on the samples; [`Error::Parameter`] for labels or targets of another task.
pub fn report_html(
    model: &AnyModel,
    title: String,
    data: Option<Measurement<'_>>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<String> {
    match model {
        AnyModel::Classifier(model) => {
            let data = match data {
                Some(Measurement { samples, answers: Some(Answers::Labels(labels)), weights, name }) => {
                    Some(((samples, &**labels, weights), name))
                }
                Some(Measurement { answers: Some(Answers::Targets(_)), .. }) => return Err(unsuitable("labels")),
                _ => None,
            };
            ClassReport { model: &**model, title, data }.html(threads, monitor)
        }
        AnyModel::Regressor(model) => {
            let data = match data {
                Some(Measurement { samples, answers: Some(Answers::Targets(targets)), weights, name }) => {
                    Some((samples, &**targets, weights, name))
                }
                Some(Measurement { answers: Some(Answers::Labels(_)), .. }) => return Err(unsuitable("targets")),
                _ => None,
            };
            RegressionReport { model: &**model, title, data }.html(threads, monitor)
        }
        AnyModel::OneClass(model) => {
            let data = data.map(|Measurement { samples, name, .. }| (samples, name));
            OneClassReport { model: &**model, title, data }.html(threads, monitor)
        }
    }
}

fn unsuitable(expected: &str) -> Error {
    Error::Parameter { name: "answers", value: "those of another task".into(), expected: expected.into() }
}
