//! The thin plate SVM in a model file.

use serde::{Deserialize, Serialize};

use super::class_path::ClassPath;
use super::spline::Spline;
use crate::data::Label;
use crate::error::{Error, Result};
use crate::model::ThinPlateSvc;
use crate::model::file::{Array, Reader, array, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::solve::Report;
use crate::solve::thin_plate::PathPoint;

pub(crate) const METHOD: &str = "thin-plate";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    kernel: String,
    #[serde(rename = "C")]
    c: f64,
    lambda: f64,
    polynomials: String,
    rank: usize,
    n_features: usize,
    n_bases: usize,
    n_loo_values: usize,
    standardized: bool,
    classes: Vec<Label>,
    path: Vec<PathPoint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    per_class: Vec<ClassPath>,
    support: Vec<u64>,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

impl ThinPlateSvc {
    file_methods!(METHOD);

    /// The bytes that [`ThinPlateSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self.header()?, &self.arrays())
    }

    pub(crate) fn header(&self) -> Result<String> {
        self.report.check_finite()?;
        header(&Header {
            method: METHOD.into(),
            kernel: self.kernel().to_string(),
            c: self.c,
            lambda: self.lambda,
            polynomials: self.polynomials.to_string(),
            rank: self.rank,
            n_features: self.n_features(),
            n_bases: self.n_bases(),
            n_loo_values: self.loo_values.len() / self.n_problems(),
            standardized: self.scale().is_some(),
            classes: self.classes.clone(),
            path: self.path.clone(),
            per_class: self.per_class.clone(),
            support: self.spline.support.clone(),
            report: self.report.clone(),
            origin: self.origin.clone(),
        })
    }

    pub(crate) fn arrays(&self) -> Vec<Array<'_>> {
        let k = self.n_problems();
        let mut arrays = self.spline.arrays();
        arrays.push(array("loo_values", vec![k, self.loo_values.len() / k], &self.loo_values));
        arrays
    }

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let header: Header = reader.parse()?;
        let (n_features, n_bases, classes) = (header.n_features, header.n_bases, header.classes.len());
        if n_features == 0 || !(header.support.is_empty() || header.support.len() == n_bases) {
            let problem = format!(
                "{classes} classes, {n_features} features and {} rows of {n_bases} bases cannot be",
                header.support.len()
            );
            return Err(reader.wrong(problem));
        }
        let file_error = |error: Error| reader.wrong(error.to_string());
        header.origin.check(Some(n_features)).map_err(file_error)?;
        if let Some(problem) = header.origin.problem(classes) {
            return Err(reader.wrong(problem));
        }
        if !(header.per_class.is_empty() || header.per_class.len() == classes) {
            return Err(reader.wrong(format!("{} values of C for {classes} classes", header.per_class.len())));
        }
        let k = header.origin.n_problems(classes);
        let sizes = [n_features, n_bases, k];
        Ok(ThinPlateSvc {
            spline: Spline::read(reader, (&header.kernel, None), sizes, header.standardized, header.support)?,
            loo_values: reader.tensor("loo_values", &[k, header.n_loo_values])?,
            c: header.c,
            lambda: header.lambda,
            polynomials: header.polynomials.parse().map_err(file_error)?,
            rank: header.rank,
            classes: header.classes,
            path: header.path,
            per_class: header.per_class,
            report: header.report,
            origin: header.origin,
        })
    }
}
