//! `--task one-class`: models that tell outliers, from samples without labels.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::basis::BasisChoice;
use widemargin::data::Label;
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionOneClassParams, OneClass};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};
use widemargin::{Error, Result};
use widemargin_io::{Samples, Table};

use crate::args::{Common, Input};
use crate::context::Context;
use crate::report::{Failure, in_file, shown};
use crate::samples::check_specs;

/// A fit of a model of one class.
pub struct OneClassFit {
    /// Samples, with one weight for each or none.
    #[expect(clippy::type_complexity, reason = "it is named here only")]
    pub fit: Box<dyn Fn(&Samples, Option<&[f64]>, &Monitor<'_>) -> Result<Box<dyn OneClass>>>,
}

impl OneClassFit {
    /// The model of a whole table, with the names or the words of its columns; `file` is where the table is from.
    pub fn model(
        &self,
        (file, table): (&Path, &Table),
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Box<dyn OneClass>, Failure> {
        let model = (self.fit)(&table.samples, table.weights.as_deref(), monitor)
            .map_err(|error| in_file(error, file, table, 0))?;
        let model = match &table.columns {
            Some(columns) => {
                let model = model.with_table_columns(Some(columns.clone()))?;
                model.with_remarks(columns.told(), Vec::new())
            }
            None => model.with_feature_names(table.feature_names.clone())?,
        };
        Ok(model.with_column_roles(table.roles.clone())?)
    }

    /// The refusal of a method that has none.
    pub fn none_of(method: &str) -> Failure {
        Failure::input(format!("--task one-class: {method} needs samples of several classes"))
            .help("basis-expansion trains models of one class")
    }

    /// Refuses flags of labeled samples, each with whether it was given.
    pub fn check(flags: &[(&str, bool)]) -> std::result::Result<(), Failure> {
        match flags.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => {
                let failure = format!("{flag} is of classes or numbers, and not of --task one-class");
                Err(Failure::input(failure).help("leave it out"))
            }
            None => Ok(()),
        }
    }
}

/// What a model of one class on a basis expansion is fitted by; none of a parameter is its default.
pub struct OneClassSettings {
    /// The similarities; none is the default of the kind of samples.
    pub specs: Vec<String>,
    pub n_basis: Option<usize>,
    pub basis: BasisChoice,
    pub normalization: Option<Normalization>,
    pub quantile: Option<f64>,
    pub shrinkage: Option<f64>,
}

impl OneClassSettings {
    /// The fit, and the settings in JSON.
    pub fn fit(self, common: &Common) -> std::result::Result<(OneClassFit, Value), Failure> {
        let OneClassSettings { specs, n_basis, basis, normalization, quantile, shrinkage } = self;
        check_specs(&specs)?;
        let auto = || Value::from("auto");
        let json = json!({
            "task": "one-class",
            "seed": common.seed,
            "similarity": if specs.is_empty() { auto() } else { json!(specs) },
            "n_basis": n_basis.map_or_else(auto, Value::from),
            "basis": basis.to_string(),
            "normalization": normalization.map_or_else(auto, |normalization| normalization.to_string().into()),
            "quantile": quantile,
            "shrinkage": shrinkage,
        });
        // Another similarity takes the place of this one.
        let mut params = BasisExpansionOneClassParams::new(AdditiveKernel::Chi2)
            .basis(basis)
            .seed(common.seed)
            .threads(common.threads);
        if let Some(n_basis) = n_basis {
            params = params.n_basis(n_basis);
        }
        if let Some(normalization) = normalization {
            params = params.normalization(normalization);
        }
        if let Some(quantile) = quantile {
            params = params.quantile(quantile);
        }
        if let Some(shrinkage) = shrinkage {
            params = params.shrinkage(shrinkage);
        }
        params.check()?;
        let fit = move |samples: &Samples, weights: Option<&[f64]>, monitor: &Monitor<'_>| {
            let view = samples.view()?;
            let similarity = AnySimilarity::new(&specs_of(&specs, view.kind())?)?;
            let model = params.clone().with_similarity(similarity).fit_with(&view, weights, monitor)?;
            Ok(Box::new(model) as Box<dyn OneClass>)
        };
        Ok((OneClassFit { fit: Box::new(fit) }, json))
    }
}

/// The similarities: those that are given, else rbf of vectors. There are no labels by which to choose.
fn specs_of(given: &[String], kind: &'static str) -> Result<Vec<String>> {
    match (given, kind) {
        ([_, ..], _) => Ok(given.to_vec()),
        ([], "vectors") => Ok(vec!["rbf".into()]),
        ([], kind) => {
            let expected = format!("one of {kind}: there are no labels by which --task one-class could choose it");
            Err(Error::Parameter { name: "similarity", value: "auto".into(), expected })
        }
    }
}

/// Tells that labels, if there are any, are left aside.
pub fn tell_of_labels(context: &Context, input: &Input, table: &Table) {
    if table.labels.is_none() && table.indicators.is_none() {
        return;
    }
    let which = match &table.label_column {
        Some(column) if input.label.is_none() => {
            format!("column {column}, taken for the labels, is left aside (--label none makes it a feature)")
        }
        Some(column) => format!("column {column}, the labels, is left aside"),
        None => "the labels are left aside".to_owned(),
    };
    context.note(&format!("note: {}: {which}: one class is learned from all samples", shown(&input.data)));
}

/// What models of one class predict: outliers, and samples like those of the training.
pub fn answers() -> [Label; 2] {
    [Label::Integer(-1), Label::Integer(1)]
}
