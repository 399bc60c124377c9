//! Tasks, and the methods by which models are trained for them.

use crate::macros::named;

/// What a model predicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// A class or a set of labels for each sample.
    #[default]
    Classification,
    /// One or several numbers for each sample.
    Regression,
    /// Whether a sample is an outlier.
    OutlierDetection,
}

named!("task": Task, all "All of them." {
    "classification" = Task::Classification,
    "regression" = Task::Regression,
    "outlier-detection" = Task::OutlierDetection,
});

/// The method by which a model is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The best of the methods that suit the samples; a basis expansion for other tasks than classification.
    #[default]
    Auto,
    /// A basis expansion, for samples of any kind.
    BasisExpansion,
    /// The power mean SVM, for non-negative vectors.
    PowerMean,
    /// The thin plate SVM and the smoothing spline, for vectors.
    ThinPlate,
}

named!("method": Method, all "All of them." {
    "auto" = Method::Auto,
    "basis-expansion" = Method::BasisExpansion,
    "power-mean" = Method::PowerMean,
    "thin-plate" = Method::ThinPlate,
});
