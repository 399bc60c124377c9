//! The task of a smoothing spline: the fit at a kernel and a scaling, exact or on bases.

use std::borrow::Cow;
use std::ops::Range;

use super::super::bases::{Placed, choose};
use super::super::choose::Choice;
use super::super::kernel_blocks::{merged, scale_rows, weighted_gram, weighted_polynomials};
use super::super::params::ThinPlateRegressorParams;
use super::super::spline_basis::SplineBasis;
use super::super::stream::ColumnMoments;
use super::spline_rows::{SplineRows, WeightedRows};
use crate::data::{DenseView, Targets};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::model::thin_plate::BasisPlan;
use crate::model::{CChoice, RegressionSelection, StandardTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Executor;
use crate::search::LeftOut;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::ridge::{Fitted, KernelSolution, PartedRidge, Ridge, RidgeRows};
use crate::solve::thin_plate::memory as solver_memory;

/// The distinct samples with weights above 0, and their task.
pub(super) struct Task<'a> {
    pub params: &'a ThinPlateRegressorParams,
    /// Row-major, unscaled.
    pub rows: Vec<f64>,
    pub n_features: usize,
    pub targets: Targets,
    pub weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    pub units: Vec<f64>,
    pub pool: &'a Pool,
    pub monitor: &'a Monitor<'a>,
}

/// A spline at the fixed or selected C, of the standardized targets.
pub(super) struct Solved {
    pub basis: SplineBasis,
    pub standard: StandardTargets,
    pub chosen: RegressionSelection,
    /// λ in units of the mean diagonal of the projected kernel.
    pub lambda: f64,
    pub rank: usize,
    /// The samples that are bases, if bases are samples.
    pub basis_rows: Vec<usize>,
    /// α of each output.
    pub alphas: Vec<Vec<f64>>,
    /// β of each output.
    pub betas: Vec<Vec<f64>>,
    /// ½‖f‖² of each output.
    pub half_norms: Vec<f64>,
}

impl Task<'_> {
    /// The same with some of the samples.
    pub fn of_rows(&self, some: &[usize]) -> Self {
        let d = self.n_features;
        Task {
            rows: some.iter().flat_map(|&row| &self.rows[row * d..(row + 1) * d]).copied().collect(),
            targets: self.targets.of_rows(some),
            weights: some.iter().map(|&row| self.weights[row]).collect(),
            units: some.iter().map(|&row| self.units[row]).collect(),
            ..*self
        }
    }

    /// The number of bases; `None` for the exact solver.
    pub fn n_basis(&self) -> Option<usize> {
        self.params.basis_size(self.weights.len(), 1)
    }

    /// Selects the kernel and the scaling, if they are automatic.
    ///
    /// # Errors
    /// As for [`SplineParams::choose`](super::super::params::SplineParams).
    pub fn choose(&self) -> Result<Choice<Solved>> {
        let space = self.space(&self.rows, ConditionalKernel::Distance)?;
        let compared = self.params.compared(&self.targets, &self.weights, space, |n, _| exact_bytes(n));
        let part = compared.is_part.then(|| self.of_rows(&compared.rows));
        let task = part.as_ref().unwrap_or(self);
        self.params.choose(&compared, self.monitor, |point, factors, quiet| {
            let solved = task.exact(point.kernel, factors, quiet)?;
            let r2 = solved.chosen.r2();
            point.r2 = Some(r2);
            Ok((LeftOut::of(Ok(1.0 - r2), None), solved))
        })
    }

    /// The polynomials at the samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for too many.
    pub fn space(&self, rows: &[f64], kernel: ConditionalKernel) -> Result<PolynomialSpace> {
        PolynomialSpace::fit(rows, &self.weights, self.n_features, degree(kernel))
    }

    fn scaled(&self, factors: Option<&[f64]>) -> Cow<'_, [f64]> {
        let mut rows = Cow::Borrowed(&self.rows[..]);
        if factors.is_some() {
            scale_rows(rows.to_mut(), factors);
        }
        rows
    }

    fn fitted(&self, standard: &StandardTargets) -> Fitted {
        Fitted::new(&standard.values, self.weights.clone(), self.units.clone())
    }

    /// The exact fit: every sample is a basis, those at the same place one.
    pub fn exact(&self, kernel: ConditionalKernel, factors: Option<&[f64]>, monitor: &Monitor<'_>) -> Result<Solved> {
        let (n, d, params) = (self.weights.len(), self.n_features, self.params);
        solver_memory::check(exact_bytes(n), params.memory_limit, n, None, "take bases (n_basis)")?;
        let rows = self.scaled(factors);
        let space = self.space(&rows, kernel)?;
        let ones = vec![1.0; n];
        let gram = weighted_gram(kernel, &rows, d, &ones, self.pool, monitor)?;
        let polynomials = weighted_polynomials(&space, &rows, d, &ones);
        monitor.go_on("solve")?;
        let standard = StandardTargets::new(&self.targets, (&self.weights, &self.units), true)?;
        let not_finite = || Error::NotFinite { what: "a kernel value of the samples".into(), value: f64::NAN };
        let ridge = Ridge::of_kernel(gram, polynomials, self.fitted(&standard)).ok_or_else(not_finite)?;
        let problem = (&ridge.parted, &mut ridge.rows());
        let chosen = select(params.c, &standard, (kernel, &space), problem, monitor)?;
        let KernelSolution { alphas, betas } = ridge.solution(chosen.lambda);
        // αᵀΦα = αᵀ(f − Pβ) = αᵀf, and λα = w(y − f).
        let half_norm = |output: usize| {
            let numbers = alphas.col(output).iter().zip(standard.values.col(output)).zip(&self.weights);
            0.5 * numbers.map(|((a, y), weight)| a * (y - chosen.lambda * a / weight)).sum::<f64>().max(0.0)
        };
        let half_norms = (0..alphas.n_cols()).map(half_norm).collect();
        let (basis_rows, alphas) = merged(&columns(&alphas), &rows, d);
        let bases = basis_rows.iter().flat_map(|&i| &rows[i * d..(i + 1) * d]).copied().collect();
        Ok(Solved {
            lambda: chosen.lambda / (ridge.parted.spectrum.unit() * standard.typical_weight),
            rank: ridge.n_free(),
            alphas,
            betas: columns(&betas),
            half_norms,
            basis: SplineBasis { kernel, bases, space },
            standard,
            chosen,
            basis_rows,
        })
    }

    /// The fit on bases, which are fewer than the samples.
    pub fn on_bases(
        &self,
        kernel: ConditionalKernel,
        factors: Option<&[f64]>,
        n_basis: usize,
        first_come: &[usize],
    ) -> Result<Solved> {
        let (n, n_features, params) = (self.weights.len(), self.n_features, self.params);
        let rows = self.scaled(factors);
        let n_columns = self.space(&rows, kernel)?.n_monomials();
        let needed = memory::product(&[8, n_basis, n_basis, 6]) + memory::product(&[8, n, 3, n_columns]);
        solver_memory::check(needed, params.memory_limit, n, Some(n_basis), "take fewer bases")?;
        let placed = Placed { rows: &rows, n_features, weights: &self.weights, first_come };
        let (bases, basis_rows) = choose(params.basis, n_basis, placed, params.seed, self.pool)?;
        let moments = ColumnMoments::of(&DenseView::new(&rows, n, n_features)?, &self.weights)?;
        let plan = BasisPlan::new(kernel, degree(kernel), bases, moments)?;
        let standard = StandardTargets::new(&self.targets, (&self.weights, &self.units), true)?;
        let fitted = self.fitted(&standard);
        let read = |some: Range<usize>| Ok(Cow::Borrowed(&rows[some.start * n_features..some.end * n_features]));
        let source = WeightedRows { read: &read, weights: &self.weights };
        let settled = plan.polynomials_of(source, self.pool, self.monitor)?;
        let rows = &mut SplineRows::new(&plan, &settled, source, &fitted, self.pool);
        let of_all = (&standard, fitted.total());
        let solved = plan.solve_spline(&settled, of_all, params.c, (rows, usize::MAX), self.monitor)?;
        Ok(Solved { basis_rows, ..solved })
    }
}

/// Degree of the unpenalized polynomials: the constant at least.
pub(super) fn degree(kernel: ConditionalKernel) -> Option<u32> {
    kernel.degree().or(Some(0))
}

/// C by leave-one-out, or an error with the number of polynomials.
pub(super) fn select(
    c: CChoice,
    standard: &StandardTargets,
    (kernel, space): (ConditionalKernel, &PolynomialSpace),
    problem: (&PartedRidge, &mut impl Executor<Of = RidgeRows>),
    monitor: &Monitor<'_>,
) -> Result<RegressionSelection> {
    RegressionSelection::of(c, standard, problem, monitor).map_err(|error| match error {
        Error::Parameter { name, value, expected } if name == "C" => {
            let p = space.n_monomials();
            let expected = format!("{expected}; polynomials of {kernel} that are not penalized: {p}");
            Error::Parameter { name, value, expected }
        }
        other => other,
    })
}

/// Peak memory of the exact solver: the kernel, projected and decomposed.
pub(super) fn exact_bytes(n: usize) -> u64 {
    memory::product(&[8, n, n, 6])
}

pub(super) fn columns(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.n_cols()).map(|at| matrix.col(at).to_vec()).collect()
}
