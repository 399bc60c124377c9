//! Maps kernel values and polynomials to features whose inner product is the projected kernel, and back.

use super::polynomials::{filled_factor, project, span};
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, add_product, add_scaled, product, stacked};

/// How the kernel values of a row become features.
#[derive(Clone, Debug, Default)]
pub(crate) enum Lift {
    /// Not at all: nothing is left of the kernel once it is projected off the polynomials.
    #[default]
    Nothing,
    /// They are features already.
    Identity,
    /// By L of LLᵀ, the kernel between the bases projected off the polynomials there.
    Factor(Cholesky),
}

/// The map from the raw numbers of a row: φ, its kernel values with the bases, and p, its polynomials.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureMap {
    pub lift: Lift,
    /// Q, the polynomials' span at the bases.
    pub at_bases: Matrix,
    /// Sᵀp are further penalized features: S has one row per polynomial, and one column per penalized one.
    pub penalized: Matrix,
    /// u = Tᵀp are the unpenalized features: T has one row per polynomial.
    pub columns: Matrix,
    /// The multiples of an unpenalized feature that are subtracted from the penalized ones: their part along it. A
    /// change of variables that makes the Hessian well conditioned.
    pub cross: Option<Matrix>,
}

impl FeatureMap {
    /// Built from the kernel and the polynomials at the bases; without unpenalized features.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) where these cannot be used on the bases.
    pub fn new(between: Matrix, polynomials: &Matrix) -> Result<FeatureMap> {
        let at_bases = span(polynomials)?.u;
        let projected = project(between, &at_bases)?;
        // α = (I − QQᵀ)L⁻ᵀt has αᵀΦα = ‖t‖² for LLᵀ the projected kernel: the features are L⁻¹(I − QQᵀ)Φ(z, x).
        let lift = match projected.flat {
            true => Lift::Nothing,
            false => Lift::Factor(filled_factor(&projected.kernel, &at_bases)?),
        };
        let none = Matrix::zeros(polynomials.n_cols(), 0);
        Ok(FeatureMap { lift, at_bases, penalized: none.clone(), columns: none, cross: None })
    }

    pub fn n_bases(&self) -> usize {
        self.at_bases.n_rows()
    }

    pub fn n_penalized(&self) -> usize {
        self.n_bases() + self.penalized.n_cols()
    }

    pub fn n_free(&self) -> usize {
        self.columns.n_cols()
    }

    /// The same polynomials without bases.
    pub fn only_polynomials(&self, columns: Matrix) -> FeatureMap {
        FeatureMap { penalized: Matrix::zeros(columns.n_rows(), 0), columns, ..FeatureMap::default() }
    }

    /// For `n` plain features, and one polynomial, the constant; without unpenalized features.
    pub fn identity(n: usize) -> FeatureMap {
        let (at_bases, none) = (Matrix::zeros(n, 0), Matrix::zeros(1, 0));
        FeatureMap { lift: Lift::Identity, at_bases, penalized: none.clone(), columns: none, cross: None }
    }

    /// f = L⁻¹(I − QQᵀ)φ of some rows, in place of their φ, one column per row.
    pub fn penalize(&self, phi: &mut Matrix) {
        let cholesky = match &self.lift {
            Lift::Factor(cholesky) => cholesky,
            Lift::Identity => return,
            Lift::Nothing => {
                *phi = Matrix::zeros(phi.n_rows(), phi.n_cols());
                return;
            }
        };
        let q = &self.at_bases;
        if q.n_cols() > 0 {
            let along = product(Side::Transposed(q), Side::Plain(phi));
            add_product(phi, -1.0, Side::Plain(q), Side::Plain(&along));
        }
        cholesky.solve_lower(phi);
    }

    /// Features of rows from φ and p: f − C u, then the penalized polynomials, then u.
    pub fn features(&self, mut phi: Matrix, polynomials: &Matrix) -> Matrix {
        self.penalize(&mut phi);
        let free = product(Side::Transposed(&self.columns), Side::Plain(polynomials));
        if let Some(cross) = &self.cross {
            add_product(&mut phi, -1.0, Side::Plain(cross), Side::Plain(&free));
        }
        if self.penalized.n_cols() > 0 {
            phi = stacked(&phi, &product(Side::Transposed(&self.penalized), Side::Plain(polynomials)));
        }
        stacked(&phi, &free)
    }

    /// α and β of f(x) = αᵀφ + βᵀp, equal to the features' product with a point.
    pub fn coefficients(&self, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (t, gamma) = point.split_at(self.n_penalized());
        let (t, of_polynomials) = t.split_at(self.n_bases());
        let mut left = gamma.to_vec();
        if let Some(cross) = &self.cross {
            add_scaled(&mut left, -1.0, &cross.transposed_times(t));
        }
        let mut beta = self.columns.times(&left);
        if self.penalized.n_cols() > 0 {
            add_scaled(&mut beta, 1.0, &self.penalized.times(of_polynomials));
        }
        let cholesky = match &self.lift {
            Lift::Factor(cholesky) => cholesky,
            Lift::Identity => return (t.to_vec(), beta),
            Lift::Nothing => return (vec![0.0; t.len()], beta),
        };
        let mut alpha = Matrix::from_columns(t.to_vec(), t.len(), 1);
        cholesky.solve_lower_transposed(&mut alpha);
        let along = self.at_bases.transposed_times(alpha.col(0));
        add_scaled(alpha.col_mut(0), -1.0, &self.at_bases.times(&along));
        (alpha.into_values(), beta)
    }
}
