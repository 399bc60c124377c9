//! The fit of a choice of parameters, by its method and task.

use crate::args::Common;
use crate::fit::Fit;
use crate::options::Choice;
use crate::parameters::{Method, Task};
use crate::report::Failure;
use crate::{auto, basis_expansion, power_mean, thin_plate};

/// The fit of a choice, within `memory` bytes.
pub fn fit_of(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    match (choice.method, choice.task) {
        (Method::Auto, Task::Classification) => auto::classes(choice, common),
        (Method::Auto | Method::BasisExpansion, Task::Regression) => basis_expansion::numbers(choice, common),
        (Method::BasisExpansion, Task::Classification) => basis_expansion::classes(choice, common),
        (Method::ThinPlate, Task::Regression) => thin_plate::numbers(choice, common, memory),
        (Method::ThinPlate, _) => thin_plate::classes(choice, common, memory),
        (Method::PowerMean, _) => power_mean::classes(choice, common),
        (_, Task::OutlierDetection) => basis_expansion::outliers(choice, common),
    }
}
