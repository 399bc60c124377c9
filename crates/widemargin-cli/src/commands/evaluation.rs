//! What the evaluations of all kinds of models have in common.

use serde_json::{Map, Value};
use widemargin::data::SamplesView;
use widemargin::model::Model;
use widemargin::monitor::Monitor;
use widemargin::select::Scoring;
use widemargin_io::Block;

use crate::args::Input;
use crate::context::Context;
use crate::report::Failure;
use crate::scoring::AnyScoring;
use crate::stream::through;

/// What is evaluated: a model on samples.
pub struct Evaluation<'a> {
    pub context: &'a Context,
    pub input: &'a Input,
    pub model: &'a dyn Model,
    /// The requested scores.
    pub metrics: &'a [AnyScoring],
}

impl Evaluation<'_> {
    /// The requested scores, which must be of classes.
    pub fn of_classes(&self) -> Result<Vec<Scoring>, Failure> {
        self.metrics.iter().map(|one| one.of_classes()).collect()
    }

    /// Calls `each` with every block of the input and its predictions by `of`.
    pub fn through<T>(
        &self,
        of: impl Fn(&SamplesView<'_>, usize, &Monitor<'_>) -> widemargin::Result<T>,
        each: impl FnMut(&Block, &T) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let Evaluation { context, input, model, .. } = self;
        let label = input.label.clone().unwrap_or_default();
        through(context, *model, input, label, |view, monitor| of(view, context.common.threads, monitor), each)
    }
}

/// The scores of a model of some kind.
pub struct Evaluated {
    pub n_samples: u64,
    /// The requested scores.
    pub scores: Map<String, Value>,
    /// What is printed of this kind of models, as JSON and as text.
    pub json: Value,
    pub text: String,
}

/// The scores, or why there are none.
pub type Outcome = Result<Evaluated, Failure>;
