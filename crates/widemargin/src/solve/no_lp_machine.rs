//! Stands for the LP machine on `wasm32-unknown-unknown`, where the crate `clarabel` takes the time from a browser's
//! JavaScript by `wasm-bindgen`, which programs of other kinds do not have.

use super::l1::{L1Settings, L1Solution, check};
use crate::data::DenseView;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::problem::{Intercept, OneVsRest};

/// Refuses.
///
/// # Errors
/// Invalid parameters as elsewhere; else [`Error::Parameter`] for the loss.
pub fn solve(
    rows: &DenseView<'_, f32>,
    targets: OneVsRest<'_>,
    costs: &[f64],
    intercept: Intercept,
    settings: &L1Settings,
    _monitor: &Monitor<'_>,
) -> Result<Vec<L1Solution>> {
    check(rows, targets, costs, intercept, settings)?;
    Err(Error::parameter("loss", "hinge with the penalty l1", "squared-hinge or logistic in WebAssembly"))
}
