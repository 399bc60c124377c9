//! The common interface of trained models of all methods and tasks.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::basis_expansion::expansion_file::whole;
use super::basis_expansion::expansion_model::{ExpansionModel, ExpansionTask};
use super::explanation::checked_row;
use super::file::{self, Array, Head};
use super::importances::feature_importances;
use super::origin::Origin;
use super::samples_file::bases_arrays;
use super::scores::check_width;
use super::thin_plate::spline_model::{SplineModel, SplineTask};
use super::{Explanation, TrainingSettings};
use crate::data::{AnySamples, ColumnRoles, DenseMatrix, Images, Rows, SamplesView, TableColumns, Vectors};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::similarity::Similarity;
use crate::solve::Report;

/// A trained model of any method and task. Downcast it to access a specific method: `&dyn Model` is a `&dyn Any`.
pub trait Model: Any + fmt::Debug + Send + Sync {
    /// The method, as model files and the command line name it.
    fn method(&self) -> &'static str;

    /// The kind of samples it takes, as messages name it.
    #[doc(hidden)]
    fn kind(&self) -> &'static str {
        "vectors"
    }

    /// The report of the fit.
    fn report(&self) -> &Report;

    /// The same, mutable.
    #[doc(hidden)]
    fn report_mut(&mut self) -> &mut Report;

    /// The metadata of the training.
    #[doc(hidden)]
    fn origin(&self) -> &Origin;

    /// The same, mutable.
    #[doc(hidden)]
    fn origin_mut(&mut self) -> &mut Origin;

    /// Makes a fit to some rows, whose rows these are, one of all rows: the model names its bases by their rows.
    #[doc(hidden)]
    fn of_picked(&mut self, _rows: &[usize]) {}

    /// Number of features of the training samples; `None` if they are not vectors.
    fn n_features(&self) -> Option<usize>;

    /// Number of weights.
    #[doc(hidden)]
    fn n_weights(&self) -> usize;

    /// The parameters that the model stores, and those selected automatically.
    fn parameters(&self) -> Parameters;

    /// The samples that it compares others with, where it keeps them as a collection.
    #[doc(hidden)]
    fn bases(&self) -> Option<&AnySamples> {
        None
    }

    /// Its bases with their original features, as samples.
    #[doc(hidden)]
    fn basis_samples(&self) -> Option<Cow<'_, AnySamples>> {
        self.bases().map(Cow::Borrowed)
    }

    /// The norm over all problems or outputs of the weights of each basis, and the training rows of the bases, if they
    /// are known; empty for a model without bases.
    #[doc(hidden)]
    fn basis_weights(&self) -> (Vec<f64>, Vec<usize>) {
        (Vec::new(), Vec::new())
    }

    /// The columns of the training table by their importance to the similarity, the most important first, each with its
    /// share of the column weights ([`feature_importances`]); empty for a regression, and without column weights.
    fn column_importances(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Refuses samples of a shape that the model was not trained with, where they would else be refused as something
    /// that a descriptor made of them.
    ///
    /// # Errors
    /// [`Error::Shape`].
    #[doc(hidden)]
    fn check_samples(&self, _samples: &SamplesView<'_>) -> Result<()> {
        Ok(())
    }

    /// The explanation of one decision or prediction: its decision values, outputs, or score less the threshold as
    /// sums. The `compared` strongest similarities for or against a class or label (by default the predicted one) or
    /// for an output (by default the first) are split into their parts, if possible.
    ///
    /// # Errors
    /// As for predictions; [`Error::Parameter`] for a row beyond the samples, and for a position beyond the classes or
    /// outputs.
    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        class: Option<usize>,
        compared: usize,
    ) -> Result<Explanation>;

    /// The JSON header of its file, with the fields in `docs/model-file.md`, except the checksum.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a report whose numbers overflowed in the fit.
    #[doc(hidden)]
    fn header(&self) -> Result<String>;

    /// The arrays of its file, without those of [`Model::bases`].
    #[doc(hidden)]
    fn arrays(&self) -> Vec<Array<'_>>;

    /// The model as the bytes of its file; without a user-defined similarity and its bases, which the caller stores.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a model whose numbers overflowed in the fit.
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut arrays = self.arrays();
        if let Some(bases) = self.bases() {
            arrays.extend(bases_arrays(bases)?);
        }
        file::to_bytes(self.header()?, &arrays)
    }

    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// As for [`Model::to_bytes`]; [`Error::Output`](crate::Error::Output) and [`Error::Io`](crate::Error::Io) with the failed operation.
    fn save(&self, path: &Path) -> Result<()> {
        file::save(path, &self.to_bytes()?)
    }

    /// Refuses a model that cannot be written.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for one whose numbers overflowed in the fit.
    #[doc(hidden)]
    fn check_finite(&self) -> Result<()> {
        self.report().check_finite()?;
        file::check_finite(&self.arrays())
    }

    /// The parameters that the model was fitted with and does not show otherwise.
    fn training(&self) -> Option<&TrainingSettings> {
        self.origin().training.as_ref()
    }

    /// The names of the features, where the training samples had names.
    fn feature_names(&self) -> Option<&[String]> {
        self.origin().feature_names.as_deref()
    }

    /// Sets or removes the names of the features.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for another number of names than features.
    fn set_feature_names(&mut self, names: Option<Vec<String>>) -> Result<()> {
        *self.origin_mut() = self.origin().changed(self.n_features(), |origin| origin.feature_names = names)?;
        Ok(())
    }

    /// How the columns of a table become features, where they are more than numbers.
    #[doc(hidden)]
    fn table_columns(&self) -> Option<&TableColumns> {
        self.origin().columns.as_ref()
    }

    /// Sets or removes the columns of a table that become the model's features, and with them the names of these.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if they do not become the features of the model.
    #[doc(hidden)]
    fn set_table_columns(&mut self, columns: Option<TableColumns>) -> Result<()> {
        *self.origin_mut() = self.origin().changed(self.n_features(), |origin| origin.set_columns(columns))?;
        Ok(())
    }

    /// Which columns of the training table are no features, if the model was trained on a table.
    #[doc(hidden)]
    fn column_roles(&self) -> Option<&ColumnRoles> {
        self.origin().column_roles.as_ref()
    }

    /// Sets or removes the columns of the training table that are no features.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the others are not as many as those of the model.
    #[doc(hidden)]
    fn set_column_roles(&mut self, roles: Option<ColumnRoles>) -> Result<()> {
        *self.origin_mut() = self.origin().changed(self.n_features(), |origin| origin.column_roles = roles)?;
        Ok(())
    }

    /// Adds notes and warnings to the report.
    #[doc(hidden)]
    fn add_remarks(&mut self, notes: Vec<String>, warnings: Vec<String>) {
        let report = self.report_mut();
        report.notes.extend(notes);
        report.warnings.extend(warnings);
    }
}

/// A model as one of a method, such as `PowerMeanSvc`; none if it is of another method.
pub fn as_method<M: Model>(model: &dyn Model) -> Option<&M> {
    (model as &dyn Any).downcast_ref()
}

/// The methods of [`Model`] that all models have as their own, or as fields.
macro_rules! model_methods {
    ($method:expr) => {
        fn method(&self) -> &'static str {
            $method
        }

        fn report(&self) -> &crate::solve::Report {
            &self.report
        }

        fn report_mut(&mut self) -> &mut crate::solve::Report {
            &mut self.report
        }

        fn origin(&self) -> &crate::model::origin::Origin {
            &self.origin
        }

        fn origin_mut(&mut self) -> &mut crate::model::origin::Origin {
            &mut self.origin
        }
    };
}

pub(super) use model_methods;

impl<S: Similarity, T: ExpansionTask> Model for ExpansionModel<S, T> {
    model_methods!(T::METHOD);

    fn kind(&self) -> &'static str {
        Model::bases(self).map_or("objects", AnySamples::kind)
    }

    fn of_picked(&mut self, rows: &[usize]) {
        self.basis.rows.iter_mut().for_each(|row| *row = rows[*row]);
        self.task.of_picked();
    }

    fn n_features(&self) -> Option<usize> {
        match Model::bases(self)? {
            AnySamples::Vectors(vectors) => Some(vectors.n_cols()),
            AnySamples::Far(vectors) => Some(vectors.differences.n_cols),
            _ => None,
        }
    }

    fn n_weights(&self) -> usize {
        self.task.weights().len()
    }

    fn parameters(&self) -> Parameters {
        let own = json!({
            "similarity": self.specs(),
            "samples": Model::kind(self),
            "normalization": self.expansion.normalization().to_string(),
            "n_basis": self.n_bases(),
            "basis": self.basis(),
        });
        Parameters::of(self.task.parameters()).and(own)
    }

    fn bases(&self) -> Option<&AnySamples> {
        whole(&self.expansion).map(BasisExpansion::bases)
    }

    fn basis_weights(&self) -> (Vec<f64>, Vec<usize>) {
        let norms = self.expansion.norms_of_bases(self.task.weights(), self.task.n_problems());
        (norms, self.basis.rows.clone())
    }

    fn column_importances(&self) -> Vec<(String, f64)> {
        let columns = self.table_columns();
        let has_columns = T::WEIGHTS_ARE_IMPORTANCES && self.n_features().is_some();
        let specs = if has_columns { self.specs() } else { Vec::new() };
        let found = feature_importances(&specs, columns);
        let names = columns.map_or_else(|| self.feature_names().map(<[String]>::to_vec), TableColumns::names);
        let name = |at: usize| names.as_ref().map_or_else(|| format!("column {at}"), |names| names[at].clone());
        let mut named: Vec<(String, f64)> =
            found.into_iter().flatten().enumerate().map(|(at, share)| (name(at), share)).collect();
        named.sort_by(|a, b| b.1.total_cmp(&a.1));
        named
    }

    fn check_samples(&self, samples: &SamplesView<'_>) -> Result<()> {
        let (Some(AnySamples::Images(known)), SamplesView::Other(AnySamples::Images(images))) =
            (Model::bases(self), samples)
        else {
            return Ok(());
        };
        if (images.height(), images.width()) == (known.height(), known.width()) {
            return Ok(());
        }
        let pixels = |images: &Images| format!("{} × {} pixels", images.height(), images.width());
        Err(Error::shape("images", pixels(images), format!("{} as the model was trained with", pixels(known))))
    }

    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        class: Option<usize>,
        compared: usize,
    ) -> Result<Explanation> {
        self.check_samples(samples)?;
        let samples = S::source(samples)?;
        let sample = self.expansion.read(samples, checked_row(row, samples.n_samples())?)?;
        let decided = T::decide(self, &sample)?;
        let (parts, terms) = (self.specs(), self.terms(&sample, row)?);
        self.compare(sample, compared, decided.explanation(T::METHOD, &self.origin, class, parts, terms)?)
    }

    fn header(&self) -> Result<String> {
        self.file_header()
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        self.file_arrays()
    }
}

impl<T: SplineTask> Model for SplineModel<T> {
    model_methods!(T::METHOD);

    fn of_picked(&mut self, rows: &[usize]) {
        self.spline.basis_rows.iter_mut().for_each(|row| *row = rows[*row as usize] as u64);
        self.task.of_picked();
    }

    fn parameters(&self) -> Parameters {
        let own = json!({
            "kernel": self.kernel().to_string(),
            "standardized": self.scale().is_some(),
            "n_bases": self.n_bases(),
            "bases": if self.basis_rows().is_empty() { "centers" } else { "samples" },
        });
        Parameters::of(self.task.parameters(self.spline.basis.space.n_monomials(), &self.report)).and(own)
    }

    fn explain(
        &self,
        samples: &SamplesView<'_>,
        row: usize,
        class: Option<usize>,
        compared: usize,
    ) -> Result<Explanation> {
        let samples = samples.rows(T::NAME)?;
        checked_row(row, samples.n_rows())?;
        check_width(&samples, Self::n_features(self))?;
        let sample = self.spline.scaled(&samples, row)?;
        let names = self.origin.feature_names.as_deref();
        let (terms, decided) = self.spline.terms(&sample, self.task.classes(), names);
        let parts = vec![self.kernel().to_string()];
        let explanation = decided.explanation(T::METHOD, &self.origin, class, parts, terms)?;
        Ok(self.spline.compare(&sample, compared, explanation))
    }

    fn n_features(&self) -> Option<usize> {
        Some(Self::n_features(self))
    }

    fn n_weights(&self) -> usize {
        self.bases().len() + self.coefficients().len() + self.polynomial().len()
    }

    fn basis_samples(&self) -> Option<Cow<'_, AnySamples>> {
        let (n_rows, n_cols) = (self.n_bases(), Self::n_features(self));
        let values = (0..n_rows).flat_map(|basis| self.basis(basis)).map(|value| value as f32).collect();
        Some(Cow::Owned(AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows, n_cols }))))
    }

    fn basis_weights(&self) -> (Vec<f64>, Vec<usize>) {
        let n = self.n_bases();
        let norm = |basis: usize| self.coefficients().iter().skip(basis).step_by(n).map(|a| a * a).sum::<f64>().sqrt();
        ((0..n).map(norm).collect(), self.basis_rows().iter().map(|&row| row as usize).collect())
    }

    fn header(&self) -> Result<String> {
        let head = Head::of(&self.task, &self.report, &self.origin);
        file::model_header(T::METHOD, &self.spline.layout(), Model::n_features(self), head)
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        self.spline.arrays().into_iter().chain(self.task.array(self.spline.n_functions)).collect()
    }
}

/// Parameters of a model by their names; a JSON object to [`serde`] and to [`fmt::Display`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameters(Map<String, Value>);

impl Parameters {
    pub(super) fn of(object: Value) -> Self {
        match object {
            Value::Object(map) => Parameters(map),
            _ => Parameters(Map::new()),
        }
    }

    /// The same with those of another object.
    fn and(mut self, object: Value) -> Self {
        self.0.extend(Parameters::of(object).0);
        self
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}
