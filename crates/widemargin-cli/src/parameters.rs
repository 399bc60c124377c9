//! The parameters of models on the command line; the library knows to which methods and tasks each applies.

use widemargin::select::Task::{self, Classification, OutlierDetection, Regression};
use widemargin::select::{Estimator, Method};

const EVERY_TASK: [Task; 3] = [Classification, Regression, OutlierDetection];

/// The options, in the order of a table's columns.
pub const OPTIONS: [&str; 9] =
    ["similarity", "kernel", C, "n-basis", "basis", "normalization", "loss", "class-weight", "quantile"];

/// Parameters of the library that are no settings: options of all methods, and another form of `nodes`.
const NO_SETTINGS: [&str; 4] = ["seed", "threads", "memory_limit", "n_nodes"];

/// The only option without a long name.
pub const C: &str = "C";

/// Whether a method has a parameter for a task. The automatic method of other tasks than classification is the basis
/// expansion.
pub fn applies(name: &str, method: Method, task: Task) -> bool {
    let Ok(estimator) = Estimator::new(method, task) else { return false };
    match name {
        "class-weight" => task == Classification,
        // These are not set by name; the methods that take them are those that normalize them.
        "similarity" => estimator.names().contains(&"normalization"),
        _ => estimator.names().contains(&&*name.replace('-', "_")),
    }
}

/// What a method can predict.
pub fn tasks_of(method: Method) -> impl Iterator<Item = Task> {
    EVERY_TASK.into_iter().filter(move |task| Estimator::new(method, *task).is_ok())
}

/// What some method can predict with a parameter.
pub fn tasks_with(name: &str) -> impl Iterator<Item = Task> {
    EVERY_TASK.into_iter().filter(move |task| Method::ALL.into_iter().any(|method| applies(name, method, *task)))
}

/// The parameters that are rarely needed, which follow the name of a method; by the names of the library.
pub fn settings_of(method: Method) -> Vec<&'static str> {
    let tasks = if method == Method::Auto { &EVERY_TASK[..1] } else { &EVERY_TASK };
    let estimators = tasks.iter().filter_map(|task| Estimator::new(method, *task).ok());
    let is_setting = |name: &&str| !NO_SETTINGS.contains(name) && !OPTIONS.contains(&&*name.replace('_', "-"));
    let mut names: Vec<&str> = estimators.flat_map(|one| one.names()).copied().filter(is_setting).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A parameter as it is written: an option with its hyphens, a setting without.
pub fn name_of(name: &str) -> String {
    match name {
        C => "-C".into(),
        _ if name == "method" || OPTIONS.contains(&name) => format!("--{name}"),
        _ => name.replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_is_one_of_the_library() {
        let methods = |name: &str, task| -> Vec<Method> {
            Method::ALL.into_iter().filter(|method| applies(name, *method, task)).collect()
        };
        for name in OPTIONS {
            assert!(tasks_with(name).next().is_some(), "{name}");
        }
        let [auto, basis_expansion, power_mean, thin_plate] = Method::ALL;
        assert_eq!(methods("similarity", Classification), [basis_expansion]);
        assert_eq!(methods("similarity", OutlierDetection), [auto, basis_expansion]);
        assert_eq!(methods("kernel", Classification), [power_mean, thin_plate]);
        assert_eq!(methods("class-weight", Classification), Method::ALL);
        assert_eq!(tasks_with("quantile").collect::<Vec<_>>(), [OutlierDetection]);
        assert_eq!(settings_of(auto), ["methods", "scoring"]);
        assert_eq!(settings_of(basis_expansion), ["intercept", "max_basis", "max_iter", "penalty", "shrinkage", "tol"]);
        assert_eq!(settings_of(power_mean), ["approximation", "max_iter", "nodes", "scale", "tol"]);
        assert_eq!(settings_of(thin_plate), ["max_iter", "polynomials", "standardize", "tol"]);
    }
}
