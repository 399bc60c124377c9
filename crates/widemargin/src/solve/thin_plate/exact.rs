//! The exact solver's linear systems: [[λR⁻¹ + K_ss, U_s], [U_sᵀ, 0]] on the violators s, with R the weights of the
//! samples in the problem: 1 except for multilabel targets.

use std::sync::{Arc, Mutex, PoisonError};

use super::system::{Point, Target};
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_product, add_scaled, dot, product};
use crate::tuning::MIN_SINGULAR_VALUE;

/// The functions that the space loses with each sample.
#[derive(Debug)]
pub(crate) struct Removals {
    /// gᵢ at the samples, a column a sample.
    pub functions: Matrix,
    /// ‖gᵢ‖²; 0 if nothing is lost.
    pub norms: Vec<f64>,
}

/// f = K a + U γ with a positive semi-definite K (samples × samples) and orthonormal unpenalized columns U.
///
/// At the minimum λ a_i = r_i y_i (√w_i − y_i z_i)₊: only violators have a coefficient, and Uᵀa = 0.
#[derive(Debug)]
pub(crate) struct Exact {
    pub(super) kernel: Matrix,
    pub(super) unpenalized: Matrix,
    /// The functions that the space loses with each sample; `None` if it loses none.
    pub(super) removals: Option<Removals>,
    /// Every problem starts with all samples as violators: the factorization is shared.
    whole: Mutex<Option<Arc<Factor>>>,
}

/// λR⁻¹ + K_ss = L Lᵀ, and the singular values of L⁻¹U_s.
#[derive(Debug)]
pub(crate) struct Factor {
    /// The violators s in the order of the rows of L: from those deepest inside the margin, which are the last to leave
    /// it.
    pub(super) order: Vec<usize>,
    lambda: f64,
    pub(super) cholesky: Cholesky,
    pub(super) reduced: Svd,
}

impl Factor {
    /// Removes from L⁻¹X the part that the unpenalized columns explain, and returns their coefficients v s⁻¹ uᵀ L⁻¹X,
    /// for L⁻¹U_s = u diag(s) vᵀ.
    pub fn eliminate(&self, half: &mut Matrix) -> Matrix {
        let Svd { u, s, v } = &self.reduced;
        let mut along = product(Side::Transposed(u), Side::Plain(half));
        add_product(half, -1.0, Side::Plain(u), Side::Plain(&along));
        for col in 0..along.n_cols() {
            along.col_mut(col).iter_mut().zip(s).for_each(|(x, s)| *x /= s);
        }
        product(Side::Plain(v), Side::Plain(&along))
    }
}

impl Exact {
    pub fn new(kernel: Matrix, unpenalized: Matrix, removals: Option<Removals>) -> Self {
        Exact { kernel, unpenalized, removals, whole: Mutex::new(None) }
    }

    /// The factor for a set of violators, which continues from the last one where it can.
    fn factor(
        &self,
        lambda: f64,
        violators: &[usize],
        target: Target<'_>,
        scores: &[f64],
        last: Option<&Factor>,
    ) -> Option<Arc<Factor>> {
        let all = violators.len() == self.kernel.n_rows() && target.weights.is_none();
        if !all {
            let last = last.filter(|last| last.lambda == lambda);
            let (order, n_reused) = order(violators, target, scores, last);
            let leading = last.map(|last| (&last.cholesky, n_reused));
            return Some(Arc::new(self.fresh_factor(lambda, order, target, leading)?));
        }
        // Locked while factoring, so that other threads wait for it instead of doing the same.
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(factor) = whole.as_ref().filter(|factor| factor.lambda == lambda) {
            return Some(factor.clone());
        }
        // The parts that all problems share depend on none of them.
        let (order, _) = order(violators, target, &vec![0.0; scores.len()], None);
        let factor = Arc::new(self.fresh_factor(lambda, order, target, None)?);
        *whole = Some(factor.clone());
        Some(factor)
    }

    /// The factor of rows in this order; that of the first rows may be known.
    fn fresh_factor(
        &self,
        lambda: f64,
        order: Vec<usize>,
        target: Target<'_>,
        leading: Option<(&Cholesky, usize)>,
    ) -> Option<Factor> {
        let n_reused = leading.map_or(0, |(_, n_reused)| n_reused);
        let mut block = Matrix::zeros(order.len(), order.len());
        for (at, &col) in order.iter().enumerate() {
            let from = self.kernel.col(col);
            let first = at.max(n_reused);
            for (to, &row) in block.col_mut(at)[first..].iter_mut().zip(&order[first..]) {
                *to = from[row];
            }
            if at >= n_reused {
                block.set(at, at, from[col] + target.noise(lambda, col));
            }
        }
        let cholesky = Cholesky::with_leading(leading, block)?;
        let mut reduced = self.unpenalized.select_rows(&order);
        cholesky.solve_lower(&mut reduced);
        Some(Factor { order, lambda, cholesky, reduced: Svd::new(&reduced, MIN_SINGULAR_VALUE)? })
    }

    /// The constant 0.
    pub fn origin(&self) -> Point {
        let n = self.kernel.n_rows();
        let free = vec![0.0; self.unpenalized.n_cols()];
        Point { coefficients: vec![0.0; n], free, smooth: vec![0.0; n], scores: vec![0.0; n] }
    }

    /// The function of another kernel's coefficients.
    pub fn point_of(&self, other: &Point) -> Point {
        let smooth = self.kernel.times(&other.coefficients);
        let mut scores = self.unpenalized.times(&other.free);
        add_scaled(&mut scores, 1.0, &smooth);
        Point { smooth, scores, ..other.clone() }
    }

    /// The minimizer of the quadratic that equals the objective where exactly `violators` are inside the margin; if
    /// they do not determine the unpenalized part, the minimizer nearest to `from`. `last` is the last factor of the
    /// problem.
    ///
    /// `None` if the factorization fails in double precision: λ is too small.
    pub fn solve(
        &self,
        lambda: f64,
        violators: &[usize],
        target: Target<'_>,
        from: &Point,
        last: &mut Option<Arc<Factor>>,
    ) -> Option<(Point, Arc<Factor>)> {
        let factor = self.factor(lambda, violators, target, &from.scores, last.as_deref())?;
        *last = Some(factor.clone());
        let violators = &factor.order[..];
        let cholesky = &factor.cholesky;
        // Elimination: with X = L⁻¹U_s and b = L⁻¹y, γ solves min ‖b − Xγ‖ and a = L⁻ᵀ(b − Xγ). Solving for the change
        // of γ with X's pseudo-inverse gives the smallest change from the current γ.
        let wanted = violators.iter().map(|&i| target.signs[i] * target.roots[i]).collect();
        let mut rest = Matrix::from_columns(wanted, violators.len(), 1);
        let known = self.unpenalized.select_rows(violators).times(&from.free);
        add_scaled(rest.col_mut(0), -1.0, &known);
        cholesky.solve_lower(&mut rest);
        let mut free = factor.eliminate(&mut rest).into_values();
        free.iter_mut().zip(&from.free).for_each(|(change, from)| *change += from);
        cholesky.solve_lower_transposed(&mut rest);

        let mut point = Point { free, ..self.origin() };
        for (&i, &value) in violators.iter().zip(rest.col(0)) {
            point.coefficients[i] = value;
            add_scaled(&mut point.smooth, value, self.kernel.col(i));
        }
        point.scores = self.unpenalized.times(&point.free);
        add_scaled(&mut point.scores, 1.0, &point.smooth);
        Some((point, factor))
    }

    /// ⟨h, h'⟩ of two points.
    pub fn inner(&self, a: &Point, b: &Point) -> f64 {
        dot(&a.coefficients, &b.smooth)
    }
}

/// Violators from those deepest inside the margin, and how many of them begin as in the last factor: its rows up to the
/// first that is no violator any more. Near the solution only samples close to the margin, which are the last rows,
/// enter or leave.
fn order(violators: &[usize], target: Target<'_>, scores: &[f64], last: Option<&Factor>) -> (Vec<usize>, usize) {
    let mut is_new = vec![false; scores.len()];
    violators.iter().for_each(|&i| is_new[i] = true);
    let mut order: Vec<usize> =
        last.map_or(Vec::new(), |last| last.order.iter().copied().take_while(|&i| is_new[i]).collect());
    let n_reused = order.len();
    order.iter().for_each(|&i| is_new[i] = false);
    order.extend(violators.iter().copied().filter(|&i| is_new[i]));
    order[n_reused..].sort_by(|&i, &j| target.slack(scores, j).total_cmp(&target.slack(scores, i)));
    (order, n_reused)
}
