//! A kernel on bases, with the polynomials that it does not penalize.

use std::borrow::Cow;
use std::ops::Range;

use super::kernel_blocks::{dense_rows, weighted_gram, weighted_polynomials};
use crate::data::Rows;
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{from_bytes, to_bytes};
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::{BLOCK, FeatureMap, FirstSums, RawRows};

/// Reads dense rows of a range, row-major, scaled.
pub(crate) type ReadRows<'a> = dyn Fn(Range<usize>) -> Result<Cow<'a, [f64]>> + Sync + 'a;

/// What a spline is a combination of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SplineBasis {
    pub kernel: ConditionalKernel,
    /// Row-major, scaled.
    pub bases: Vec<f64>,
    pub space: PolynomialSpace,
}

impl SplineBasis {
    pub fn n_features(&self) -> usize {
        self.space.center.len()
    }

    pub fn n_bases(&self) -> usize {
        self.bases.len() / self.n_features().max(1)
    }

    /// The factors by which a dilation changes the size of each polynomial, in that of the kernel.
    pub fn spreads(&self) -> Vec<f64> {
        self.space.spreads(self.kernel.dilation_exponent())
    }

    /// A basis.
    pub fn row(&self, basis: usize) -> &[f64] {
        &self.bases[basis * self.n_features()..(basis + 1) * self.n_features()]
    }

    /// Kernel values of samples, row-major: samples × bases.
    pub fn block(&self, samples: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; samples.len() / self.n_features().max(1) * self.n_bases()];
        self.kernel.block(samples, &self.bases, self.n_features(), &mut values);
        values
    }

    /// Computes these of rows times `roots`, √w, for the solver.
    pub fn raw<'a>(
        &'a self,
        read: &'a ReadRows<'_>,
        roots: &'a [f64],
    ) -> impl Fn(Range<usize>, bool) -> Result<(Matrix, Matrix)> + Sync + Send {
        move |rows, with_kernel| Ok(self.weighted(&read(rows.clone())?, &roots[rows], with_kernel))
    }

    /// Does work on the samples of weight above 0 of a part.
    pub fn on_part<T>(
        &self,
        samples: &impl Rows,
        weights: &[f64],
        work: impl FnOnce(RawRows<'_>, Range<usize>) -> Result<T>,
    ) -> Result<T> {
        let present: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        let roots: Vec<f64> = present.iter().map(|&row| weights[row].sqrt()).collect();
        let read = |rows: Range<usize>| dense_rows(samples, &present[rows], self.n_features()).map(Cow::Owned);
        work(&self.raw(&read, &roots), 0..present.len())
    }

    /// Of a few samples, one column per sample: Φ(bases, samples) √W, if that is requested, and their polynomials times
    /// √W.
    fn weighted(&self, samples: &[f64], roots: &[f64], with_kernel: bool) -> (Matrix, Matrix) {
        let polynomials = weighted_polynomials(&self.space, samples, self.n_features(), roots).transposed();
        if !with_kernel {
            return (Matrix::zeros(0, roots.len()), polynomials);
        }
        let (b, mut values) = (self.n_bases(), self.block(samples));
        for (values, root) in values.chunks_exact_mut(b).zip(roots) {
            values.iter_mut().for_each(|value| *value *= root);
        }
        (Matrix::from_columns(values, b, roots.len()), polynomials)
    }

    /// The map from kernel values and polynomials to features.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) where the kernel or its polynomials cannot be used on these bases.
    pub fn feature_map(&self, pool: &Pool, monitor: &Monitor<'_>) -> Result<FeatureMap> {
        let (d, ones) = (self.n_features(), vec![1.0; self.n_bases()]);
        let between = weighted_gram(self.kernel, &self.bases, d, &ones, pool, monitor)?;
        FeatureMap::new(between, &weighted_polynomials(&self.space, &self.bases, d, &ones))
    }

    /// As bytes, for another machine.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let PolynomialSpace { degree, center, factors, .. } = &self.space;
        to_bytes(&(self.kernel.to_string(), &self.bases, degree, center, factors))
    }

    /// The basis of these bytes.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for bytes that are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (kernel, bases, degree, center, factors): (String, _, _, _, _) = from_bytes(bytes)?;
        Ok(SplineBasis { kernel: kernel.parse()?, bases, space: PolynomialSpace::new(degree, center, factors)? })
    }
}

/// Calls `visit` with kernel values, if they are requested, and polynomials of some rows, in blocks.
fn for_blocks(
    raw: RawRows<'_>,
    rows: Range<usize>,
    with_kernel: bool,
    mut visit: impl FnMut(Matrix, Matrix),
) -> Result<()> {
    for start in rows.clone().step_by(BLOCK) {
        let (phi, polynomials) = raw(start..rows.end.min(start + BLOCK), with_kernel)?;
        visit(phi, polynomials);
    }
    Ok(())
}

/// Sums over some rows for deciding about the polynomials.
pub(super) fn first_sums(raw: RawRows<'_>, rows: Range<usize>) -> Result<FirstSums> {
    let mut all = FirstSums::default();
    for_blocks(raw, rows, true, |phi, polynomials| all.add(FirstSums::of(&phi, &polynomials)))?;
    Ok(all)
}

/// The features of some rows, times √w, penalized ones first: row-major.
pub(super) fn lifted(raw: RawRows<'_>, rows: Range<usize>, map: &FeatureMap) -> Result<Vec<f64>> {
    let mut features = Vec::with_capacity(rows.len() * (map.n_penalized() + map.n_free()));
    for_blocks(raw, rows, map.n_bases() > 0, |phi, polynomials| {
        features.extend(map.features(phi, &polynomials).into_values());
    })?;
    Ok(features)
}
