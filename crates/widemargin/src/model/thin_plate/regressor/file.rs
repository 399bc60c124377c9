//! The smoothing spline in a model file.

use serde::{Deserialize, Serialize};

use super::super::spline::Spline;
use super::ThinPlateRegressor;
use crate::error::Result;
use crate::model::RegressionPoint;
use crate::model::file::{Array, Reader, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::similarity::ConditionalKernel;
use crate::solve::Report;

pub(crate) const METHOD: &str = "thin-plate-regression";

/// The only loss.
const LOSS: &str = "squared-error";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    kernel: String,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    lambda: f64,
    rank: usize,
    n_features: usize,
    n_bases: usize,
    n_outputs: usize,
    standardized: bool,
    path: Vec<RegressionPoint>,
    support: Vec<u64>,
    report: Report,
    #[serde(flatten)]
    origin: Origin,
}

/// Degree of the unpenalized polynomials: the constant at least.
pub(super) fn degree(kernel: ConditionalKernel) -> Option<u32> {
    kernel.degree().or(Some(0))
}

impl ThinPlateRegressor {
    file_methods!(METHOD);

    /// The bytes that [`ThinPlateRegressor::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`](crate::Error::NotFinite) for a model with non-finite numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self.header()?, &self.arrays())
    }

    pub(crate) fn header(&self) -> Result<String> {
        self.report.check_finite()?;
        header(&Header {
            method: METHOD.into(),
            kernel: self.kernel().to_string(),
            loss: LOSS.into(),
            c: self.c,
            lambda: self.lambda,
            rank: self.rank,
            n_features: self.n_features(),
            n_bases: self.n_bases(),
            n_outputs: self.n_outputs(),
            standardized: self.scale().is_some(),
            path: self.path.clone(),
            support: self.spline.support.clone(),
            report: self.report.clone(),
            origin: self.origin.clone(),
        })
    }

    pub(crate) fn arrays(&self) -> Vec<Array<'_>> {
        self.spline.arrays()
    }

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let header: Header = reader.parse()?;
        let (n_features, n_bases, k) = (header.n_features, header.n_bases, header.n_outputs);
        if n_features == 0 || k == 0 || !(header.support.is_empty() || header.support.len() == n_bases) {
            let rows = header.support.len();
            let problem = format!("{k} outputs, {n_features} features and {rows} rows of {n_bases} bases cannot be");
            return Err(reader.wrong(problem));
        }
        if header.loss != LOSS {
            return Err(reader.wrong(format!("the loss '{}' is not known", header.loss)));
        }
        header.origin.check(Some(n_features)).map_err(|error| reader.wrong(error.to_string()))?;
        let sizes = [n_features, n_bases, k];
        Ok(ThinPlateRegressor {
            spline: Spline::read(reader, (&header.kernel, Some(0)), sizes, header.standardized, header.support)?,
            c: header.c,
            lambda: header.lambda,
            rank: header.rank,
            path: header.path,
            report: header.report,
            origin: header.origin,
        })
    }
}
