//! Checks the name of a step.

use crate::error::{Error, Result};
use crate::spec::Step;

/// # Errors
/// [`Error::UnknownName`] for another name.
pub(super) fn expect_name(step: &Step, name: &'static str) -> Result<()> {
    if step.name() == name {
        return Ok(());
    }
    Err(Error::UnknownName {
        what: "similarity",
        given: step.name().to_owned(),
        expected: format!("here it is {name}"),
    })
}
