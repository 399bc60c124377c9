//! The options of models: one flat set for all methods; each method has some.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use widemargin::nearest;
use widemargin::select::{Method, Task, split_spec};
use widemargin::similarity::{descriptor_rows, similarity_rows};

use crate::args::Common;
use crate::parameters::{C, OPTIONS, applies, name_of, settings_of, tasks_of, tasks_with};
use crate::report::{Failure, refused};
use crate::text_table::list;

const SIMILARITY: &str = "\
Similarity to the bases, such as rbf:gamma=1, dtw, hog:cell=4/rigid

Descriptors precede the similarity and are separated from it by `/`. Several similarities are joined by `+`: \
hog:cell=4/rigid+hog:cell=8/rbf. auto compares the similarities that suit the samples, each with its normalization, by \
leave-one-out on at most 1000 samples.";

/// The options of models. In `cv` an option may be repeated, to compare its values.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Model options")]
pub struct ModelArgs {
    /// classification, regression or outlier-detection
    ///
    /// By default, labels are classes, and ambiguous labels are refused: numbers with fractions, or many different
    /// numbers. Outlier detection ignores labels, and learns from all samples what inliers are like.
    #[arg(long, value_name = "TASK", hide_possible_values = true, value_parser = tasks())]
    pub task: Option<Task>,
    /// Method: auto, basis-expansion, power-mean or thin-plate
    ///
    /// auto, the default, compares all methods that suit the samples. basis-expansion accepts samples of any kind,
    /// power-mean histograms and other non-negative features, and thin-plate from a few to some thousand numeric
    /// columns. Parameters that are rarely needed are appended to the name, as in power-mean:nodes=3,tol=0.001:
    ///
    /// auto: methods=NAMES joined by + (default: all), scoring=NAME (the score that compares them; default: the
    /// leave-one-out squared hinge loss)
    ///
    /// basis-expansion: intercept=free|none, penalty=l2|l1 (l1 removes bases), max-basis=N (removes the least important
    /// bases), shrinkage=NUMBER (for outlier detection; default 0.01), tol=NUMBER (relative duality gap; default
    /// 0.001), max-iter=N
    ///
    /// power-mean: nodes=N or 0.01:0.06:0.75 (the nodes of each feature), approximation=nystroem|polynomial,
    /// scale=yes|no (divide each feature by its largest value), tol=NUMBER (relative duality gap; default 0.01),
    /// max-iter=N
    ///
    /// thin-plate: polynomials=auto|free|penalized|constant|none, standardize=auto|yes|no, tol=NUMBER, max-iter=N
    #[arg(long, value_name = "METHOD")]
    method: Vec<String>,
    #[arg(long, value_name = "SPEC", help = first_line(SIMILARITY), long_help = with_names(SIMILARITY))]
    similarity: Vec<String>,
    /// Kernel of power-mean (chi2, -1, ...) or thin-plate (distance, ...)
    ///
    /// With power-mean: chi2, hellinger, intersection or jensen-shannon, or the exponent of a power mean, from -inf to
    /// 0 (-1 is chi2, 0 hellinger, -inf intersection). With thin-plate: distance (-r), cityblock (-|x - y|_1),
    /// thin-plate (r^2 log r), thin-plate:order=N, cubic (r^3), polyharmonic:exponent=B, spline:order=N,dims=D,
    /// log:gamma=G, multiquadric:gamma=G; or a positive definite kernel: rbf:gamma=G, laplacian:gamma=G,
    /// inverse-multiquadric:gamma=G. auto compares exponents, or distance and cityblock, by leave-one-out.
    #[arg(long, value_name = "KERNEL", allow_hyphen_values = true)]
    kernel: Vec<String>,
    /// Weight of the losses: a number, or auto (by leave-one-out)
    ///
    /// With thin-plate, auto-per-class selects C for each class separately.
    #[arg(short = 'C', value_name = "NUMBER", allow_hyphen_values = true)]
    c: Vec<String>,
    /// Number of bases; with thin-plate, none is the exact solver
    ///
    /// With basis-expansion, auto is all rows of a table of up to 4000 rows, and otherwise 1000 to 4000, depending on
    /// leave-one-out. With thin-plate, auto is none for up to 5000 samples of two classes (2300 of ten), and otherwise
    /// 1000.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    n_basis: Vec<String>,
    /// Selection of the bases: random, kmedoids, index, ...
    ///
    /// Both methods have random, kmedoids and index. thin-plate also has kmeans, its default; basis-expansion also has
    /// every (evenly spaced among all samples), and its default is a random selection within each class. index selects
    /// the first samples with thin-plate, and evenly spaced samples of each class with basis-expansion.
    #[arg(long, value_name = "NAME")]
    basis: Vec<String>,
    /// Normalization of the similarities: mean-norm, z-score, none, ...
    ///
    /// One of mean-norm, z-score, covariance, none, nystroem, and centered, which is for conditionally positive
    /// definite similarities such as a negative distance. nystroem:negative-eigenvalues=flip (or shift, square; default
    /// clip) sets the treatment of negative eigenvalues. auto selects mean-norm or the normalization that suits the
    /// similarity, by leave-one-out; for several similarities it is mean-norm.
    #[arg(long, value_name = "NAME")]
    normalization: Vec<String>,
    /// Loss: squared-hinge, hinge, ...; for regression huber, ...
    ///
    /// For classification: squared-hinge, hinge; with basis-expansion and thin-plate also squared-error, and with
    /// basis-expansion logistic. For regression: squared-error, huber:epsilon=NUMBER (linear for residuals above epsilon),
    /// squared-epsilon-insensitive:epsilon=NUMBER (epsilon is half of the width of the tube) or
    /// quantile:quantile=NUMBER (default 0.5). By default, epsilon is determined from the spread of the residuals.
    #[arg(long, value_name = "NAME")]
    loss: Vec<String>,
    /// Class weights: balanced, or LABEL:WEIGHT,... (others: 1)
    #[arg(long, value_name = "WEIGHTS", allow_hyphen_values = true)]
    class_weight: Vec<String>,
    /// Fraction of usual samples below the threshold of outliers [default: 0.05]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    quantile: Vec<String>,
}

fn tasks() -> impl TypedValueParser<Value = Task> {
    let names = ["classification", "regression", "outlier-detection"];
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Task>())
}

/// The line of a help text that the table of options shows.
fn first_line(text: &'static str) -> &'static str {
    text.lines().next().unwrap_or(text)
}

/// A help text, and the names that a similarity may have.
fn with_names(text: &str) -> String {
    let similarities = list(similarity_rows().map(|row| row.usage()), ", ");
    let descriptors = list(descriptor_rows().map(|row| row.name), ", ");
    format!("{text}\n\nSimilarities: {similarities}\n\nDescriptors, which can precede them: {descriptors}")
}

/// One value of each option.
#[derive(Clone, Debug)]
pub struct Choice {
    pub method: Method,
    pub task: Task,
    /// The method with its settings, as it was passed.
    spec: String,
    /// Options and settings that were passed.
    values: Vec<(&'static str, String)>,
}

impl ModelArgs {
    fn passed(&self, name: &str) -> &[String] {
        match name {
            "method" => &self.method,
            "similarity" => &self.similarity,
            "kernel" => &self.kernel,
            C => &self.c,
            "n-basis" => &self.n_basis,
            "basis" => &self.basis,
            "normalization" => &self.normalization,
            "loss" => &self.loss,
            "class-weight" => &self.class_weight,
            _ => &self.quantile,
        }
    }

    /// Every combination of the values, those of C next to each other.
    pub fn grid(&self) -> Result<Vec<Choice>, Failure> {
        let task = self.task.unwrap_or_default();
        let auto = ["auto".to_owned()];
        let methods = if self.method.is_empty() { &auto[..] } else { &self.method };
        let mut choices = methods.iter().map(|spec| Choice::of_method(spec, task)).collect::<Result<Vec<_>, _>>()?;
        // auto is what a method does without the option.
        for option in OPTIONS.into_iter().filter(|option| self.passed(option).iter().any(|value| value != "auto")) {
            choices.iter().try_for_each(|choice| choice.check(option))?;
        }
        for option in OPTIONS.into_iter().filter(|option| *option != C).chain([C]) {
            let passed = self.passed(option);
            if !passed.is_empty() {
                let with = |choice: &Choice, value: &String| choice.clone().with(option, value);
                choices = choices.iter().flat_map(|choice| passed.iter().map(|value| with(choice, value))).collect();
            }
        }
        Ok(choices)
    }

    /// The only combination; refuses several, which only `cv` takes.
    pub fn single(&self) -> Result<Choice, Failure> {
        let mut names = ["method"].into_iter().chain(OPTIONS);
        if let Some(name) = names.find(|name| self.passed(name).len() > 1) {
            let (option, n) = (name_of(name), self.passed(name).len());
            let help = if name == "similarity" { "; similarities are joined by +" } else { "" };
            let help = format!("`widemargin cv` compares several values{help}");
            return refused(format!("{option}: {n} values passed, `train` takes one"), help);
        }
        Ok(self.grid()?.swap_remove(0))
    }
}

/// What to do about an unknown name: the nearest of the known ones, and all of them.
fn known(what: &str, name: &str, names: impl Iterator<Item = impl ToString>) -> String {
    let names: Vec<String> = names.map(|name| name.to_string()).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    format!("{near}{what} {}", list(names, ", "))
}

impl Choice {
    fn of_method(spec: &str, task: Task) -> Result<Self, Failure> {
        let wrong = |problem: String| Failure::input(format!("--method {spec}: {problem}"));
        let (name, settings) = split_spec(spec).map_err(wrong)?;
        let Ok(method) = name.parse::<Method>() else {
            let help = known("methods are", name, Method::ALL.iter());
            return refused(format!("--method: unknown method '{name}'"), help);
        };
        if tasks_of(method).all(|own| own != task) {
            let own = list(tasks_of(method), " and ");
            let others = Method::ALL.into_iter().filter(|method| tasks_of(*method).any(|own| own == task));
            let help = format!("methods for it are {}", list(others, ", "));
            return refused(format!("--task {task}: {name} is for {own}"), help);
        }
        let mut choice = Choice { method, task, spec: spec.to_owned(), values: Vec::new() };
        for (key, value) in settings {
            let own = settings_of(method);
            let Some(&setting) = own.iter().find(|setting| name_of(setting) == key) else {
                let help = known("it has", key, own.iter().map(|setting| name_of(setting)));
                return Err(wrong(format!("{name} has no parameter '{key}'")).help(help));
            };
            choice.check(setting)?;
            choice = choice.with(setting, value);
        }
        Ok(choice)
    }

    /// Refuses a parameter that the method or the task has no use for.
    fn check(&self, name: &str) -> Result<(), Failure> {
        if self.has(name) {
            return Ok(());
        }
        let option = name_of(name);
        if tasks_with(name).all(|task| task != self.task) {
            let tasks = list(tasks_with(name), " and ");
            let help = format!("leave it out with --task {}", self.task);
            return refused(format!("{option} applies to --task {tasks}"), help);
        }
        let methods: Vec<Method> = Method::ALL.into_iter().filter(|method| applies(name, *method, self.task)).collect();
        let help = match self.method {
            Method::Auto => format!("add --method {}", methods[0]),
            method => format!("leave it out with --method {method}"),
        };
        let others = methods.len().saturating_sub(2);
        let methods = list(methods, " and ").replacen(" and ", ", ", others);
        refused(format!("{option} applies to --method {methods}"), help)
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.values.push((name, value.to_owned()));
        self
    }

    /// The text of an option or a setting, unless it is automatic.
    pub fn text(&self, name: &str) -> Option<&str> {
        let value = self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        value.filter(|value| *value != "auto")
    }

    /// The options and settings that are not automatic; of one that was passed twice the first value comes last.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let values = self.values.iter().map(|(name, value)| (*name, value.as_str()));
        values.filter(|(_, value)| *value != "auto").rev()
    }

    /// The similarities that `--similarity` joins: a `+` stands before the name of the next.
    pub fn similarities(&self) -> Vec<String> {
        let mut specs: Vec<String> = Vec::new();
        for part in self.text("similarity").into_iter().flat_map(|text| text.split('+')) {
            let begins = part.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
            match specs.last_mut() {
                // The sign of an exponent.
                Some(spec) if !begins => *spec += &format!("+{part}"),
                _ => specs.push(part.trim().to_owned()),
            }
        }
        specs
    }

    /// All parameters by name, as `--json` prints them.
    pub fn json(&self, common: &Common) -> serde_json::Value {
        let mut all = json!({ "method": self.method.to_string(), "task": self.task.to_string(), "seed": common.seed });
        let options = OPTIONS.into_iter().filter(|option| self.has(option));
        for name in options.chain(self.values().map(|(name, _)| name)) {
            all[name.replace('-', "_")] = match (name, self.text(name)) {
                ("class-weight", None) => json!(null),
                ("similarity", Some(_)) => json!(self.similarities()),
                (_, None) => "auto".into(),
                ("kernel", Some(text)) => text.into(),
                ("n-basis" | "max_basis" | "max_iter" | "nodes", Some(text)) => {
                    text.parse::<u64>().map_or_else(|_| text.into(), Into::into)
                }
                (_, Some(text)) => text.parse::<f64>().map_or_else(|_| text.into(), Into::into),
            };
        }
        all
    }

    /// Whether the method has a parameter for the task.
    fn has(&self, name: &str) -> bool {
        applies(name, self.method, self.task)
    }

    /// The method and the options as a table shows them: a head, and a value if the method has the option.
    pub fn cells(&self) -> Vec<(&'static str, Option<String>)> {
        let text = |name: &str| self.has(name).then(|| self.text(name).unwrap_or("auto").to_owned());
        let options = OPTIONS.into_iter().map(|name| (name, text(name)));
        [("method", Some(self.spec.clone()))].into_iter().chain(options).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        model: ModelArgs,
    }

    fn grid(line: &str) -> Result<Vec<Choice>, String> {
        let words = ["line"].into_iter().chain(line.split_whitespace());
        let grid = Line::try_parse_from(words).unwrap().model.grid();
        grid.map_err(|failure| format!("{} ({})", failure.message, failure.help.unwrap_or_default()))
    }

    #[test]
    fn repeated_options_make_a_grid() {
        let choices =
            grid("--method thin-plate -C auto -C 1 --kernel cubic --kernel log:gamma=1,exponent=0.5").unwrap();
        let texts: Vec<_> = choices.iter().map(|one| (one.text("kernel").unwrap(), one.text(C))).collect();
        let kernels = ["cubic", "cubic", "log:gamma=1,exponent=0.5", "log:gamma=1,exponent=0.5"];
        assert_eq!(texts, kernels.into_iter().zip([None, Some("1"), None, Some("1")]).collect::<Vec<_>>());
        let choices = grid("--method power-mean:nodes=0.1:0.5 --method power-mean:tol=1e-3").unwrap();
        assert_eq!((choices[0].text("nodes"), choices[1].text("tol")), (Some("0.1:0.5"), Some("1e-3")));
    }

    #[test]
    fn auto_applies_to_every_method() {
        for line in ["-C auto --similarity auto --kernel auto", "--method thin-plate --normalization auto"] {
            assert_eq!(grid(line).unwrap()[0].values().count(), 0, "{line}");
        }
    }

    #[test]
    fn parameters_that_do_not_apply_are_refused_by_name() {
        for (line, expected) in [
            ("--kernel chi2", "--kernel applies to --method power-mean and thin-plate (add --method power-mean)"),
            ("--method thin-plate --normalization none", "--normalization applies to --method basis-expansion"),
            ("--quantile 0.1", "--quantile applies to --task outlier-detection"),
            ("--method basis-expansion:nodes=3", "basis-expansion has no parameter 'nodes'"),
            ("--method power-mean:node=3", "did you mean nodes?"),
            ("--method thin-plait", "did you mean thin-plate?"),
            ("--method power-mean --task regression", "power-mean is for classification"),
            ("--method basis-expansion:shrinkage=1", "shrinkage applies to --task outlier-detection"),
            ("--method power-mean:nodes", "'nodes' is not key=value"),
        ] {
            let refused = grid(line).unwrap_err();
            assert!(refused.contains(expected), "{line}: {refused}");
        }
    }

    #[test]
    fn similarities_are_joined_by_plus() {
        let of = |text: &str| grid(&format!("--method basis-expansion --similarity {text}")).unwrap()[0].similarities();
        assert_eq!(of("hog:cell=4/rigid+rbf:gamma=1e+3"), ["hog:cell=4/rigid", "rbf:gamma=1e+3"]);
        assert_eq!(of("auto"), Vec::<String>::new());
    }
}
