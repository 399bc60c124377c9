//! What the thin plate SVM and the smoothing spline have in common: their functions, their report and their file.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::spline::{Spline, SplineLayout};
use crate::data::Label;
use crate::error::Result;
use crate::macros::getters;
use crate::model::file::{Array, Head, Reader, file_methods};
use crate::model::origin::Origin;
use crate::similarity::ConditionalKernel;
use crate::solve::Report;

/// A trained model of functions f(x) = Σ α_i φ(‖x − x_i‖) + Σ β_m p_m(x), one for each two-class problem or output.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineModel<T> {
    pub(crate) spline: Spline,
    /// What the functions are for.
    pub(crate) task: T,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
}

/// The task of such a model; as a model file has it, but for the arrays.
pub(crate) trait SplineTask:
    Clone + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The method, as model files and the command line name it.
    const METHOD: &'static str;

    /// The method in messages.
    const NAME: &'static str;

    /// The degree of the polynomials of a kernel without.
    const MIN_DEGREE: Option<u32>;

    /// Checks what was read, and returns the number of functions.
    ///
    /// # Errors
    /// [`Error::ModelFile`](crate::Error::ModelFile).
    fn check(&self, reader: &Reader<'_>, origin: &Origin) -> Result<usize>;

    /// An array besides those of the functions, of this number of functions.
    fn array(&self, _n_functions: usize) -> Option<Array<'_>> {
        None
    }

    /// Reads it.
    ///
    /// # Errors
    /// As for [`SplineTask::check`].
    fn read(&mut self, _reader: &Reader<'_>, _n_functions: usize) -> Result<()> {
        Ok(())
    }

    /// The classes or labels; none of a regression.
    fn classes(&self) -> Option<&[Label]> {
        None
    }

    /// The parameters that the model stores, and those selected automatically, besides those of the functions.
    fn parameters(&self, n_polynomials: usize, report: &Report) -> Value;

    /// Adapts it to a model of some of the samples.
    fn of_picked(&mut self) {}
}

impl<T: SplineTask> SplineModel<T> {
    file_methods!(T::METHOD);

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let layout: SplineLayout = reader.parse()?;
        layout.check(reader)?;
        let Head { task, report, origin } = reader.head::<T>(Some(layout.n_features))?;
        let (mut task, origin) = (task.into_owned(), origin.into_owned());
        let k = task.check(reader, &origin)?;
        task.read(reader, k)?;
        Ok(SplineModel {
            spline: Spline::read(reader, layout, T::MIN_DEGREE, k)?,
            task,
            report: report.into_owned(),
            origin,
        })
    }

    /// The factor by which each feature is first multiplied (one over its standard deviation), if features were
    /// standardized.
    #[doc(hidden)]
    pub fn scale(&self) -> Option<&[f64]> {
        self.spline.scale.as_deref()
    }

    /// Number of bases: training samples with a coefficient, or bases.
    pub fn n_bases(&self) -> usize {
        self.spline.basis.n_bases()
    }

    /// A basis with its original features.
    #[doc(hidden)]
    pub fn basis(&self, basis: usize) -> Vec<f64> {
        self.spline.unscaled(basis)
    }

    getters! {
        /// The report of the fit.
        report: &Report;
    }

    /// The kernel.
    pub fn kernel(&self) -> ConditionalKernel {
        self.spline.basis.kernel
    }

    /// Number of features of the training samples.
    #[doc(hidden)]
    pub fn n_features(&self) -> usize {
        self.spline.basis.n_features()
    }

    /// The bases, row-major, bases × features; their features multiplied by the factors of the scale.
    pub fn bases(&self) -> &[f64] {
        &self.spline.basis.bases
    }

    getters! {
        spline =>
        /// Row of each basis among the training samples; empty if bases are means of samples.
        hidden basis_rows: &[u64];
        /// α, row-major, two-class problems or outputs × bases.
        coefficients: &[f64];
        /// β, row-major, two-class problems or outputs × monomials of the centered and scaled features: the constant,
        /// the features, their products of degree two, and so on.
        polynomial: &[f64];
    }
}
