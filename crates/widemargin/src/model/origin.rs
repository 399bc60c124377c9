//! Metadata of a model's training: column names and parameters.

use serde::{Deserialize, Serialize};

use crate::data::{ClassWeight, ColumnRoles, Label, Labels, Notation, TableColumns};
use crate::error::{Error, Result};
use crate::problem::n_problems;
use crate::solve::Calibration;

/// The header fields common to all methods; absent in older files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The names of the features, if the training samples had names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_names: Option<Vec<String>>,
    /// How the columns of a table become features, if they are not all numeric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<TableColumns>,
    /// The columns of the training table that are not features, if the model was trained on a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_roles: Option<ColumnRoles>,
    /// How the training file writes numbers and indices.
    #[serde(default, skip_serializing_if = "Notation::is_unknown")]
    pub notation: Notation,
    /// The parameters of the fit that are not stored elsewhere in the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingSettings>,
    /// The calibration, which converts decision values to probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Whether the model is multilabel; its classes are then the labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multilabel: bool,
}

impl Origin {
    /// Metadata without names.
    pub fn of(training: TrainingSettings) -> Self {
        Origin { training: Some(training), ..Origin::default() }
    }

    /// The same for these labels.
    pub fn labeled(self, labels: &Labels) -> Self {
        Origin { multilabel: labels.is_multilabel(), ..self }
    }

    /// Number of two-class problems of a model with this number of classes or labels.
    pub fn n_problems(&self, n_classes: usize) -> usize {
        if self.multilabel { n_classes } else { n_problems(n_classes) }
    }

    /// The same with a calibration.
    pub fn calibrated(self, calibration: Calibration) -> Self {
        Origin { calibration: Some(calibration), ..self }
    }

    /// The problem of the classes of a model that was read, or of their calibration.
    pub fn problem(&self, n_classes: usize) -> Option<String> {
        if n_classes < if self.multilabel { 1 } else { 2 } {
            return Some(format!("{n_classes} classes cannot be"));
        }
        self.calibration.as_ref()?.problem(n_classes, self.multilabel)
    }

    /// The same with other names or columns, which must be those of this number of features, if it is known.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn changed(&self, n_features: Option<usize>, change: impl FnOnce(&mut Origin)) -> Result<Self> {
        let mut origin = self.clone();
        change(&mut origin);
        origin.check(n_features)?;
        Ok(origin)
    }

    /// Takes columns of a table that become features, and the names of these.
    pub fn set_columns(&mut self, columns: Option<TableColumns>) {
        self.feature_names = columns.as_ref().and_then(TableColumns::feature_names);
        self.columns = columns;
    }

    /// Why the columns of the training table are not those of the model.
    fn problem_of_roles(&self, roles: &ColumnRoles, n_features: Option<usize>) -> Option<String> {
        if let Some(problem) = roles.problem() {
            return Some(problem);
        }
        let expected = self.columns.as_ref().map_or(n_features, |columns| Some(columns.0.len()))?;
        let found = roles.n_features();
        (found != expected).then(|| format!("{found} columns of features for {expected}"))
    }

    /// Checks that there is one name per feature, or none at all, and that the columns of a table become all features.
    pub fn check(&self, n_features: Option<usize>) -> Result<()> {
        if let (Some(columns), Some(expected)) = (&self.columns, n_features) {
            let found = columns.n_features();
            if found != expected {
                let found = format!("{found} features of them");
                return Err(Error::shape("columns of a table", found, format!("{expected} features of the model")));
            }
            if let Some(problem) = columns.problem() {
                return Err(Error::shape("columns of a table", problem, "columns with different names"));
            }
        }
        if let Some(problem) = self.column_roles.as_ref().and_then(|roles| self.problem_of_roles(roles, n_features)) {
            return Err(Error::shape("columns of the training table", problem, "features and others"));
        }
        match (&self.feature_names, n_features) {
            (Some(names), Some(n)) if names.len() != n => {
                let (found, expected) = (format!("{} names", names.len()), format!("{n}, one a feature"));
                Err(Error::shape("names of features", found, expected))
            }
            _ => Ok(()),
        }
    }
}

/// Parameters of a fit that are not stored elsewhere in the model. Together with those of the model, they suffice to
/// repeat the fit on other samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingSettings {
    /// The class weights.
    #[serde(with = "class_weight")]
    pub class_weight: ClassWeight,
    /// The tolerance of the solver.
    pub tol: f64,
    /// The maximum number of steps or passes of the solver.
    pub max_iter: u32,
    /// The random seed.
    pub seed: u64,
    /// For a power mean SVM, the nodes if they are explicit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<f64>>,
    /// For a thin plate SVM, how its bases were selected, or `none` for the exact solver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// For a basis expansion, the number of bases that was set, if any: the model may have fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_basis: Option<usize>,
    /// For a basis expansion SVM, the number of bases that remained at most, if it was limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_basis: Option<usize>,
}

/// Class weights in JSON: null, "balanced", or a list of pairs, since labels can be integers as well as texts.
mod class_weight {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{ClassWeight, Deserialize, Label, Serialize};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        None(()),
        Named(String),
        Pairs(Vec<(Label, f64)>),
    }

    pub fn serialize<S: Serializer>(weight: &ClassWeight, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match weight {
            ClassWeight::Uniform => Form::None(()),
            ClassWeight::Balanced => Form::Named("balanced".into()),
            ClassWeight::PerClass(factors) => Form::Pairs(factors.iter().map(|(l, w)| (l.clone(), *w)).collect()),
        };
        form.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClassWeight, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::None(()) => Ok(ClassWeight::Uniform),
            Form::Named(name) if name == "balanced" => Ok(ClassWeight::Balanced),
            Form::Named(name) => Err(D::Error::custom(format!("unknown class weight '{name}'"))),
            Form::Pairs(pairs) => Ok(ClassWeight::PerClass(pairs.into_iter().collect())),
        }
    }
}
