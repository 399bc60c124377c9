//! The fit that compares methods, each with its automatic parameters.

use widemargin::select::{AutoMethod, AutoParams};

use crate::args::Common;
use crate::class_weight::class_weight;
use crate::fit::{Data, Fit};
use crate::options::Choice;
use crate::report::Failure;

/// The fit of a classifier.
pub fn classes(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let methods = choice.read("methods", |text| text.split('+').map(str::parse).collect())?;
    let params = AutoParams {
        methods: methods.unwrap_or_else(|| AutoMethod::ALL.to_vec()),
        scoring: choice.get("scoring")?,
        class_weight: class_weight(choice)?,
        seed: common.seed,
        threads: common.threads,
    };
    Ok(Fit::Classes(Box::new(move |data, labels, monitor| {
        let found = match data {
            Data::Samples(samples, weights) => params.fit_with(&samples.view()?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, labels, None, resources, monitor)?,
        };
        Ok(found.model)
    })))
}
