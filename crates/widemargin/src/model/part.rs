//! Parts of the rows of a fit that workers hold. An answer is a function of the part, the query and the state returned
//! by an earlier answer, so that any worker that has the part, or recomputes it, can answer.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::power_mean::LargestValues;
use super::thin_plate::{ColumnSumsOf, FirstSumsOf};
use crate::data::{AnyRows, Rows};
use crate::error::{Error, Result};
use crate::expansion::{CountValues, FEATURE_QUERIES, FeaturePart, FeatureRows};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{self, Entry, SamplePart, SampleRows};
use crate::problem::{
    Block, BlockObjective, Intercept, LINEAR_QUERIES, LinearProblem, Loss, ObjectiveState, OneVsRest, ProblemTargets,
    RowFeatures,
};
use crate::solve::ridge::{RIDGE_QUERIES, RidgePart, RidgeRows, roots};
use crate::solve::thin_plate::{BASIS_QUERIES, BasisRows, Local, RowData, RowsState, with_rows};

/// The answers of workers for samples: a statistic is a file of its own and one line here.
const SAMPLE_QUERIES: &[Entry<SampleRows>] = &[
    Entry::of::<LargestValues>(),
    Entry::of::<CountValues>(),
    Entry::of::<ColumnSumsOf>(),
    Entry::of::<FirstSumsOf>(),
];

/// The class of each row, or its set of labels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartTargets {
    /// The code of each row: of its class, or of its set of labels.
    pub codes: Vec<u32>,
    /// Number of classes, or of labels.
    pub n_classes: usize,
    /// The signed weights of the sets, sets × labels; empty for classes.
    pub sets: Vec<f64>,
}

impl PartTargets {
    fn targets(&self) -> OneVsRest<'_> {
        match self.sets.is_empty() {
            true => OneVsRest::new(&self.codes, self.n_classes),
            false => OneVsRest::several(&self.codes, self.n_classes, &self.sets),
        }
    }
}

/// The kind of a part's rows, and what is known of each row besides its numbers.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the rows that each variant names")]
pub enum PartData {
    /// Samples: vectors of any form.
    Samples { weights: Vec<f64> },
    /// Similarities to bases, whose holder may normalize them in place, once.
    Features { weights: Vec<f64>, is_normalized: AtomicBool },
    /// Features of a linear model.
    Linear { targets: PartTargets, costs: Vec<f64>, loss: Loss, intercept: Intercept },
    /// Features on bases times the roots of the weights; `units` are the weights that leave-one-out removes.
    Bases { targets: PartTargets, n_penalized: usize, roots: Vec<f64>, units: Vec<f64> },
    /// Features of a regression, with standardized targets, rows × outputs.
    Ridge { targets: Vec<f64>, weights: Vec<f64>, units: Vec<f64>, features: PartFeatures },
}

/// The features of a regression.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in `RowFeatures`")]
pub enum PartFeatures {
    /// As they are, in single precision.
    Plain { has_intercept: bool },
    /// On bases, times the roots of the weights, the penalized ones first.
    Lifted { n_penalized: usize },
}

/// The state of a part between queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PartState {
    /// Of features of a linear model.
    Linear(ObjectiveState),
    /// Of features on bases.
    Bases(RowsState),
}

impl PartState {
    /// Its size in bytes.
    pub fn n_bytes(&self) -> usize {
        match self {
            PartState::Linear(state) => state.n_bytes(),
            PartState::Bases(state) => {
                2 * size_of_val(&state.scores[..])
                    + size_of_val(&state.counted[..])
                    + size_of_val(&state.multipliers[..])
            }
        }
    }
}

impl PartData {
    /// Its size in bytes.
    pub fn n_bytes(&self) -> usize {
        match self {
            PartData::Samples { weights } | PartData::Features { weights, .. } => size_of_val(&weights[..]),
            PartData::Linear { costs, .. } => 12 * costs.len(),
            PartData::Bases { roots, .. } => 20 * roots.len(),
            PartData::Ridge { targets, weights, .. } => size_of_val(&targets[..]) + 16 * weights.len(),
        }
    }

    /// The answer of the part, whose numbers are `rows`, to a query that came as bytes, and its new state, if it has
    /// one.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are no query to such rows, or the state of others; [`Error::Shape`] for
    /// numbers of another form or of other rows; errors of the query.
    pub fn answer(
        &self,
        rows: AnyRows<'_>,
        query: &[u8],
        state: Option<&PartState>,
        monitor: &Monitor<'_>,
    ) -> Result<(Vec<u8>, Option<PartState>)> {
        let stateless = |answer: Result<Vec<u8>>| answer.map(|answer| (answer, None));
        match self {
            PartData::Samples { weights } => {
                stateless(partition::answer(SAMPLE_QUERIES, query, &mut SamplePart::new(rows, weights), monitor))
            }
            PartData::Features { weights, .. } => {
                let mut part = FeaturePart { values: single(rows)?, weights };
                stateless(partition::answer(FEATURE_QUERIES, query, &mut part, monitor))
            }
            PartData::Linear { targets, costs, loss, intercept } => {
                let block = match rows {
                    AnyRows::DenseF32(rows) => Block::from(rows),
                    AnyRows::SparseF32(rows) => Block::from(rows),
                    _ => return Err(wrong_rows("single precision")),
                };
                let problem = LinearProblem { targets: targets.targets(), costs, loss: *loss, intercept: *intercept };
                let mut objective = BlockObjective::new(block, problem, 1)?;
                match state {
                    None => {}
                    Some(PartState::Linear(state)) => objective.recall(state.clone())?,
                    Some(PartState::Bases(_)) => return Err(wrong_state("rows on bases")),
                }
                let answer = partition::answer(LINEAR_QUERIES, query, &mut objective, monitor)?;
                Ok((answer, Some(PartState::Linear(objective.into_state()))))
            }
            PartData::Bases { targets, n_penalized, roots, units } => {
                let features = PartFeatures::Lifted { n_penalized: *n_penalized }.of(rows)?;
                let targets = targets.targets().into();
                on_bases((features, RowData { targets, roots, units }), query, state, monitor)
            }
            PartData::Ridge { targets, weights, units, features } if partition::is_about::<BasisRows>(query) => {
                let (features, roots) = (features.of(rows)?, roots(weights));
                let n_outputs = targets.len() / weights.len().max(1);
                let targets = ProblemTargets::Outputs { values: targets, n_outputs };
                on_bases((features, RowData { targets, roots: &roots, units }), query, state, monitor)
            }
            PartData::Ridge { targets, weights, units, features } => {
                let mut part = RidgePart { features: features.of(rows)?, targets, weights, units };
                stateless(partition::answer(RIDGE_QUERIES, query, &mut part, monitor))
            }
        }
    }
}

impl PartFeatures {
    fn of(self, rows: AnyRows<'_>) -> Result<RowFeatures<'_>> {
        let width = rows.n_cols();
        Ok(match self {
            PartFeatures::Plain { has_intercept } => RowFeatures::Plain { values: single(rows)?, width, has_intercept },
            PartFeatures::Lifted { n_penalized } => RowFeatures::Weighted { values: double(rows)?, width, n_penalized },
        })
    }
}

/// The answer of rows of a fit on bases, and their new state.
fn on_bases(
    rows: (RowFeatures<'_>, RowData<'_>),
    query: &[u8],
    state: Option<&PartState>,
    monitor: &Monitor<'_>,
) -> Result<(Vec<u8>, Option<PartState>)> {
    let state = match state {
        None => RowsState::default(),
        Some(PartState::Bases(state)) => state.clone(),
        Some(PartState::Linear(_)) => return Err(wrong_state("rows of a linear model")),
    };
    let work = |rows: &mut Local<'_>| partition::answer(BASIS_QUERIES, query, rows, monitor);
    let (answer, state) = with_rows(rows, state, (&Pool::new(1)?, monitor), work)?;
    Ok((answer, Some(PartState::Bases(state))))
}

/// The answers of several parts to a query, as bytes in the order of the parts, as that of all of them.
///
/// # Errors
/// [`Error::Parameter`] for bytes that are no query to the rows of a fit, or no answers to it; [`Error::NoSamples`]
/// without any.
pub fn merge_answers(query: &[u8], answers: &[&[u8]]) -> Result<Vec<u8>> {
    if partition::is_about::<BasisRows>(query) {
        partition::merge(BASIS_QUERIES, query, answers)
    } else if partition::is_about::<SampleRows>(query) {
        partition::merge(SAMPLE_QUERIES, query, answers)
    } else if partition::is_about::<FeatureRows>(query) {
        partition::merge(FEATURE_QUERIES, query, answers)
    } else if partition::is_about::<RidgeRows>(query) {
        partition::merge(RIDGE_QUERIES, query, answers)
    } else {
        partition::merge(LINEAR_QUERIES, query, answers)
    }
}

fn single<'a>(rows: AnyRows<'a>) -> Result<&'a [f32]> {
    if let AnyRows::DenseF32(view) = rows { Ok(view.values()) } else { Err(wrong_rows("dense, in single precision")) }
}

fn double<'a>(rows: AnyRows<'a>) -> Result<&'a [f64]> {
    if let AnyRows::DenseF64(view) = rows { Ok(view.values()) } else { Err(wrong_rows("dense, in double precision")) }
}

fn wrong_rows(expected: &str) -> Error {
    Error::shape("the rows of a part", "rows of another form", expected)
}

fn wrong_state(of: &str) -> Error {
    Error::parameter("state", format!("that of {of}"), "that of a part of the same rows")
}
