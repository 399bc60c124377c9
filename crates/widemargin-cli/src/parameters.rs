//! The parameters of models: to which methods and tasks each applies.

use clap::ValueEnum;

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// A class or a set of labels for each sample.
    Classification,
    /// A number.
    Regression,
    /// Whether a sample is like those of the training.
    OutlierDetection,
}

/// How a model is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Whichever suits the samples.
    Auto,
    BasisExpansion,
    PowerMean,
    ThinPlate,
}

use Method::{Auto, BasisExpansion, PowerMean, ThinPlate};
use Task::{Classification, OutlierDetection, Regression};

impl Method {
    /// All of them.
    pub const ALL: [Method; 4] = [Auto, BasisExpansion, PowerMean, ThinPlate];

    /// Its name on the command line, and what it can predict.
    fn row(self) -> (&'static str, &'static [Task]) {
        match self {
            Auto => ("auto", EVERY_TASK),
            BasisExpansion => ("basis-expansion", EVERY_TASK),
            PowerMean => ("power-mean", &[Classification]),
            ThinPlate => ("thin-plate", &[Classification, Regression]),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What it can predict.
    pub fn tasks(self) -> &'static [Task] {
        self.row().1
    }
}

impl Task {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Classification => "classification",
            Regression => "regression",
            OutlierDetection => "outlier-detection",
        }
    }
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
