//! What a choice of parameters is fitted by: for all methods and tasks the same.

use std::borrow::Cow;

use widemargin::Result;
use widemargin::data::{Labels, Resources, Targets};
use widemargin::model::{AnyModel, Classifier, OneClass, Regressor};
use widemargin::monitor::Monitor;
use widemargin::select::RegressionScoring;
use widemargin_io::{Samples, Store};

/// The samples of a fit.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// In memory, with their weights if they have some.
    Samples(&'a Samples, Option<&'a [f64]>),
    /// On the disk, and what there is to work with.
    Store(&'a Store, &'a Resources<'a>),
}

/// What is to be predicted.
pub enum Answers<'a> {
    Classes(Cow<'a, Labels>),
    Numbers(Targets),
    /// Outliers are detected without labels.
    None,
}

impl Answers<'_> {
    /// Those of some rows.
    pub fn select(&self, rows: &[usize]) -> Answers<'static> {
        match self {
            Answers::Classes(labels) => Answers::Classes(Cow::Owned(labels.select(rows))),
            Answers::Numbers(targets) => Answers::Numbers(targets.of_rows(rows)),
            Answers::None => Answers::None,
        }
    }
}

type FitClasses = dyn Fn(Data<'_>, &Labels, &Monitor<'_>) -> Result<Box<dyn Classifier>>;
type FitNumbers = dyn Fn(Data<'_>, &Targets, &Monitor<'_>) -> Result<Box<dyn Regressor>>;
type FitOutliers = dyn Fn(Data<'_>, &Monitor<'_>) -> Result<Box<dyn OneClass>>;

/// A fit for a task; its parameters are already checked.
pub enum Fit {
    Classes(Box<FitClasses>),
    /// And the score that suits the loss.
    Numbers(Box<FitNumbers>, RegressionScoring),
    Outliers(Box<FitOutliers>),
}

impl Fit {
    /// Trains on samples and what is to be predicted, which are those of the task.
    pub fn run(&self, data: Data<'_>, answers: &Answers<'_>, monitor: &Monitor<'_>) -> Result<AnyModel> {
        match (self, answers) {
            (Fit::Classes(fit), Answers::Classes(labels)) => fit(data, labels, monitor).map(AnyModel::Classifier),
            (Fit::Numbers(fit, _), Answers::Numbers(targets)) => fit(data, targets, monitor).map(AnyModel::Regressor),
            (Fit::Outliers(fit), _) => fit(data, monitor).map(AnyModel::OneClass),
            _ => unreachable!("a fit is run on answers of its task"),
        }
    }
}

/// Parameters with one of them set, where there is a value.
pub fn with<P, T>(params: P, value: Option<T>, set: impl FnOnce(P, T) -> P) -> P {
    match value {
        Some(value) => set(params, value),
        None => params,
    }
}
