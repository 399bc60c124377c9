//! Centering and scaling by statistics of the training samples: mean norm, z-score, min-max.

use crate::data::{AnySamples, DenseMatrix, Grids, Kind, Offsets, Samples, Training, Vectors};
use crate::descriptor::moments::{Spread, mean, spread_about, variances};
use crate::error::{Error, Result};
use std::borrow::Cow;

use super::Descriptor;
use super::row::DescriptorRow;
use crate::parameters::{List, Parameter, Values};

const MEAN_NORM: DescriptorRow = DescriptorRow {
    name: "mean-norm",
    class: "MeanNorm",
    samples: &["vectors", "grids of cells"],
    parameters: &[],
    usual: "rbf",
    build: |step| MEAN_NORM.arguments(step).map(|_| vec![Box::new(Scaler::new(Scaling::MeanNorm)) as _]),
};

const WEIGHTS: Parameter =
    Parameter::new("weights", Values::List, "The factors of the standardized features, one per feature.").optional();

const Z_SCORE: DescriptorRow = DescriptorRow {
    name: "z-score",
    class: "ZScore",
    parameters: &[WEIGHTS],
    build: |step| {
        let weights: Option<List> = Z_SCORE.arguments(step)?.get("weights")?;
        let scaler = Scaler::new(Scaling::ZScore);
        Ok(vec![Box::new(Scaler { weights: weights.map_or(Vec::new(), |list| list.0), ..scaler }) as _])
    },
    ..MEAN_NORM
};

pub(crate) const ROWS: &[DescriptorRow] = &[MEAN_NORM, Z_SCORE];

/// The part of its mean below which the deviation of a column in single precision is rounding.
const MEAN_ROUNDING: f64 = 1e-7;

/// The kind of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// (x − mean) / mean ‖x − mean‖, where the norm is one number for all features (BE-SVM, eq. 4).
    MeanNorm,
    /// (x_j − mean_j) / standard deviation_j; a constant feature becomes 0.
    ZScore,
}

/// A scaling of vectors or grids, learned from the training samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaler {
    scaling: Scaling,
    center: Vec<f32>,
    /// The low part of the center of columns far from 0, which needs more digits; empty if there are none.
    center_low: Vec<f32>,
    /// One factor for all features, or one per feature.
    factors: Vec<f32>,
    /// The factors of the standardized features; empty for 1.
    weights: Vec<f32>,
}

impl Scaler {
    /// A scaling that is not fitted yet.
    pub fn new(scaling: Scaling) -> Self {
        Scaler { scaling, center: Vec::new(), center_low: Vec::new(), factors: Vec::new(), weights: Vec::new() }
    }

    /// Scales rows from which these offsets were subtracted.
    fn apply(&self, rows: &mut [f32], n_cols: usize, offsets: Option<&Offsets>) -> Result<()> {
        if self.center.len() != n_cols {
            let (found, trained) = (n_cols, self.center.len());
            return Err(Error::FeatureCount { found, trained, hint: ": they were centered with as many" });
        }
        if offsets.is_some() || !self.center_low.is_empty() {
            self.apply_precisely(rows, offsets);
            return Ok(());
        }
        for row in rows.chunks_mut(n_cols.max(1)) {
            let centered = row.iter_mut().zip(&self.center);
            match self.factors.as_slice() {
                [one] => centered.for_each(|(x, center)| *x = (*x - center) * one),
                all => centered.zip(all).for_each(|((x, center), factor)| *x = (*x - center) * factor),
            }
        }
        Ok(())
    }

    /// The same with centers and offsets in double precision.
    fn apply_precisely(&self, rows: &mut [f32], offsets: Option<&Offsets>) {
        let low = |column: usize| f64::from(self.center_low.get(column).copied().unwrap_or(0.0));
        let offset = |column: usize| offsets.map_or(0.0, |offsets| offsets[column]);
        let high = self.center.iter().enumerate();
        let moved: Vec<f64> = high.map(|(column, high)| offset(column) - f64::from(*high) - low(column)).collect();
        for row in rows.chunks_mut(moved.len().max(1)) {
            let factors = self.factors.iter().cycle();
            let columns = row.iter_mut().zip(&moved).zip(factors);
            columns.for_each(|((x, moved), factor)| *x = (f64::from(*x) + moved) as f32 * factor);
        }
    }
}

impl Descriptor for Scaler {
    fn spec(&self) -> String {
        match self.scaling {
            Scaling::MeanNorm => "mean-norm".into(),
            Scaling::ZScore if self.weights.is_empty() => "z-score".into(),
            Scaling::ZScore => format!("z-score:weights={}", List(self.weights.clone())),
        }
    }

    fn takes(&self) -> &'static [&'static str] {
        &[Vectors::NAME, Grids::NAME]
    }

    fn keeps_columns(&self) -> bool {
        true
    }

    fn fit(&mut self, training: &Training<'_, AnySamples>) -> Result<()> {
        let first = training.samples.chunk(0..training.samples.n_samples().min(1))?;
        let offset = |column: usize| first.offsets().map_or(0.0, |offsets| offsets[column]);
        // Of differences from the offsets.
        let center = mean(training, dense_of_any)?;
        let inverse = |spread: f64| if spread > 0.0 { (1.0 / spread) as f32 } else { 0.0 };
        self.factors = match self.scaling {
            Scaling::MeanNorm => vec![inverse(spread_about(training, dense_of_any, &center, Spread::Norm)?)],
            Scaling::ZScore => {
                let variances = variances(training, dense_of_any, &center)?;
                // Below this a column differs from a constant only by rounding to single precision.
                let is_constant =
                    |at: usize| offset(at) == 0.0 && variances[at].sqrt() <= MEAN_ROUNDING * center[at].abs();
                let factor = |at: usize| if is_constant(at) { 0.0 } else { inverse(variances[at].sqrt()) };
                (0..center.len()).map(factor).collect()
            }
        };
        if !self.weights.is_empty() {
            if self.weights.len() != center.len() {
                let (found, expected) = (self.weights.len().to_string(), center.len().to_string());
                return Err(Error::shape("weights of 'z-score'", found, format!("{expected}, one per feature")));
            }
            self.factors.iter_mut().zip(&self.weights).for_each(|(factor, weight)| *factor *= weight);
        }
        let wide: Vec<f64> = center.iter().enumerate().map(|(column, mean)| offset(column) + mean).collect();
        self.center = wide.iter().map(|center| *center as f32).collect();
        let low = wide.iter().zip(&self.center).map(|(wide, high)| (wide - f64::from(*high)) as f32);
        self.center_low = if first.offsets().is_some() { low.collect() } else { Vec::new() };
        Ok(())
    }

    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        if let AnySamples::Grids(mut grids) = samples {
            let n_cols = grids.cells().n_cols;
            self.apply(grids.values_mut(), n_cols, None)?;
            return Ok(AnySamples::Grids(grids));
        }
        let (mut matrix, offsets) = dense_rows(samples, self.center.len(), |met| refused(&self.spec(), met))?;
        let n_cols = matrix.n_cols;
        self.apply(&mut matrix.values, n_cols, offsets.as_ref())?;
        Ok(AnySamples::Vectors(Vectors::Dense(matrix)))
    }

    fn state(&self) -> Vec<(&'static str, &[f32])> {
        let low = (!self.center_low.is_empty()).then_some(("center_low", &self.center_low[..]));
        [("center", &self.center[..]), ("factors", &self.factors[..])].into_iter().chain(low).collect()
    }

    fn restore(&mut self, state: &mut dyn FnMut(&str) -> Result<Vec<f32>>) -> Result<()> {
        self.center = state("center")?;
        self.factors = state("factors")?;
        // Files of models whose columns are near 0 have none.
        self.center_low = state("center_low").unwrap_or_default();
        if self.factors.len() == 1 || self.factors.len() == self.center.len() {
            return Ok(());
        }
        let (what, expected) = (format!("factors of '{}'", self.spec()), format!("1 or {}", self.center.len()));
        Err(Error::shape(what, self.factors.len().to_string(), expected))
    }
}

/// Vectors as dense rows of at least `n_cols` columns, with the offsets that were subtracted from them.
pub(super) fn dense_rows(
    samples: AnySamples,
    n_cols: usize,
    refused: impl FnOnce(&AnySamples) -> Error,
) -> Result<(DenseMatrix<f32>, Option<Offsets>)> {
    match samples {
        AnySamples::Vectors(Vectors::Sparse(mut matrix)) => {
            // A sparse sample may have fewer columns than the training samples.
            matrix.n_cols = matrix.n_cols.max(n_cols);
            Ok((Vectors::Sparse(matrix).into_dense()?, None))
        }
        AnySamples::Vectors(Vectors::Dense(matrix)) => Ok((matrix, None)),
        AnySamples::Far(vectors) => Ok((vectors.differences, Some(vectors.offsets))),
        other => Err(refused(&other)),
    }
}

/// Vectors or grids as dense rows.
pub(super) fn dense_of_any(samples: &AnySamples) -> Result<Cow<'_, DenseMatrix<f32>>> {
    match samples {
        AnySamples::Vectors(vectors) => vectors.dense(),
        AnySamples::Far(vectors) => Ok(Cow::Borrowed(&vectors.differences)),
        AnySamples::Grids(grids) => Ok(Cow::Borrowed(grids.cells())),
        other => Err(refused("scaling", other)),
    }
}

fn refused(name: &str, met: &AnySamples) -> Error {
    Error::similarity(name, format!("it scales vectors and grids, not {}", met.kind()))
}
