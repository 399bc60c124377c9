//! The parameters of models: to which methods and tasks each applies.

use widemargin::select::Estimator;
use widemargin::select::Method::{self, Auto, BasisExpansion, PowerMean, ThinPlate};
use widemargin::select::Task::{self, Classification, OutlierDetection, Regression};

/// What a method can predict.
pub fn tasks_of(method: Method) -> impl Iterator<Item = Task> {
    EVERY_TASK.iter().copied().filter(move |task| Estimator::new(method, *task).is_ok())
}

/// A parameter of some methods and tasks.
pub struct Parameter {
    pub name: &'static str,
    pub methods: &'static [Method],
    pub tasks: &'static [Task],
}

const fn parameter(name: &'static str, methods: &'static [Method], tasks: &'static [Task]) -> Parameter {
    Parameter { name, methods, tasks }
}

const EVERY_TASK: &[Task] = &[Classification, Regression, OutlierDetection];

/// The options, in the order of a table's columns.
pub const OPTIONS: &[Parameter] = &[
    parameter("similarity", &[BasisExpansion], EVERY_TASK),
    parameter("kernel", &[PowerMean, ThinPlate], EVERY_TASK),
    parameter(C, &[BasisExpansion, PowerMean, ThinPlate], &[Classification, Regression]),
    parameter("n-basis", &[BasisExpansion, ThinPlate], EVERY_TASK),
    parameter("basis", &[BasisExpansion, ThinPlate], EVERY_TASK),
    parameter("normalization", &[BasisExpansion], EVERY_TASK),
    parameter("loss", &[BasisExpansion, PowerMean], &[Classification, Regression]),
    parameter("class-weight", &Method::ALL, &[Classification]),
    parameter("contamination", &[Auto, BasisExpansion], &[OutlierDetection]),
];

/// The parameters that are rarely needed: they follow the name of the method.
pub const SETTINGS: &[Parameter] = &[
    parameter("methods", &[Auto], &[Classification]),
    parameter("scoring", &[Auto], &[Classification]),
    parameter("intercept", &[BasisExpansion], &[Classification, Regression]),
    parameter("penalty", &[BasisExpansion], &[Classification]),
    parameter("max-basis", &[BasisExpansion], &[Classification]),
    parameter("shrinkage", &[BasisExpansion], &[OutlierDetection]),
    parameter("approximation", &[PowerMean], EVERY_TASK),
    parameter("nodes", &[PowerMean], EVERY_TASK),
    parameter("scale", &[PowerMean], EVERY_TASK),
    parameter("polynomials", &[ThinPlate], &[Classification]),
    parameter("standardize", &[ThinPlate], EVERY_TASK),
    parameter("tol", &[BasisExpansion, PowerMean, ThinPlate], &[Classification]),
    parameter("max-iter", &[BasisExpansion, PowerMean, ThinPlate], &[Classification]),
];

/// The only option without a long name.
pub const C: &str = "C";

/// A parameter as it is written: an option with its hyphens, a setting without.
pub fn name_of(name: &str) -> String {
    match name {
        C => "-C".into(),
        _ if name == "method" || OPTIONS.iter().any(|option| option.name == name) => format!("--{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_library() {
        for (method, &task) in
            Method::ALL.into_iter().flat_map(|method| EVERY_TASK.iter().map(move |task| (method, task)))
        {
            let Ok(estimator) = Estimator::new(method, task) else { continue };
            for setting in SETTINGS {
                let applies = setting.methods.contains(&method) && setting.tasks.contains(&task);
                let is_known = estimator.names().contains(&&*setting.name.replace('-', "_"));
                assert!(!applies || is_known, "{} of {method}, {task}", setting.name);
            }
        }
    }
}
