//! Parameters of a smoothing spline.

use crate::error::{Result, require};
use crate::macros::setters;
use crate::model::{AUTO_KERNELS, CChoice, Standardize, ThinPlateBasis};
use crate::similarity::ConditionalKernel;
use crate::tuning::DEFAULT_N_BASIS;

/// Samples up to which an exact fit takes about a minute: a value for
/// [`ThinPlateRegressorParams::exact_up_to`]. Memory grows with their square, time with their cube.
pub const SPLINE_EXACT_UP_TO: usize = 3_000;

/// Parameters of a smoothing spline, with their defaults.
///
/// Over f = Σ α_i φ(‖· − x_i‖) + Σ β_m p_m it minimizes ½‖f‖² + C Σ w (y − f)². The polynomials p are unpenalized; a
/// kernel that is positive definite without any gets the constant. Wahba, *Spline Models for Observational Data*, 1990;
/// with these kernels Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007, Corollary 2.3.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinPlateRegressorParams {
    pub(super) kernels: Vec<ConditionalKernel>,
    pub(super) c: CChoice,
    pub(super) standardize: Standardize,
    pub(crate) n_basis: Option<usize>,
    pub(crate) exact_up_to: usize,
    pub(super) basis: ThinPlateBasis,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) memory_limit: Option<u64>,
}

impl ThinPlateRegressorParams {
    /// The defaults for a kernel: C by leave-one-out, columns as they are, every sample a basis, one thread per core.
    pub fn new(kernel: ConditionalKernel) -> Self {
        ThinPlateRegressorParams {
            kernels: vec![kernel],
            c: CChoice::Auto,
            standardize: Standardize::No,
            n_basis: None,
            exact_up_to: usize::MAX,
            basis: ThinPlateBasis::KMeans,
            seed: 0,
            threads: 0,
            memory_limit: None,
        }
    }

    /// The kernel.
    pub fn kernel(self, kernel: ConditionalKernel) -> Self {
        ThinPlateRegressorParams { kernels: vec![kernel], ..self }
    }

    /// The best of [`AUTO_KERNELS`], by leave-one-out on at most 1,000 samples; at a fixed C, whose meaning depends on
    /// the kernel, [`ConditionalKernel::Distance`].
    pub fn kernel_auto(self) -> Self {
        ThinPlateRegressorParams { kernels: AUTO_KERNELS.to_vec(), ..self }
    }

    setters! {
        /// Whether each column is first divided by its standard deviation. [`Standardize::Auto`] is by the
        /// leave-one-out squared error on at most 1,000 samples, where C is selected too and the columns' spreads
        /// differ by more than a factor of three.
        standardize: Standardize;
        /// Number of bases, from 1; `None` selects the exact solver, in which every sample is a basis. Time grows with
        /// samples × bases² and bases³.
        n_basis: Option<usize>;
        /// Where `n_basis` is none and there are more samples than this, 1,000 bases are used nevertheless, with a
        /// warning. Without a limit the exact solver refuses samples that do not fit in memory.
        exact_up_to: usize;
        /// How bases are selected.
        basis: ThinPlateBasis;
        /// Seed of the selection of bases, and of the samples on which kernels are compared.
        seed: u64;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
        /// Bytes the fit may use; by default the free memory, if the system reports it.
        memory_limit: u64 => memory_limit = Some(memory_limit);
    }

    /// The weight C of the losses in ½‖f‖² + C Σ (y − f)²: a number above 0, or [`CChoice::Auto`], the C with the least
    /// leave-one-out squared error (of several outputs, the largest mean R²).
    pub fn c(self, c: impl Into<CChoice>) -> Self {
        ThinPlateRegressorParams { c: c.into(), ..self }
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        self.kernels.iter().try_for_each(ConditionalKernel::check)?;
        self.c.check()?;
        require(self.n_basis != Some(0), "n_basis", "0", "at least 1, or none for the exact solver")
    }

    /// The number of bases of a fit on `n` samples; none for the exact solver.
    pub(super) fn basis_size(&self, n: usize) -> Option<usize> {
        let bases = self.n_basis.or((n > self.exact_up_to).then_some(DEFAULT_N_BASIS));
        // With as many bases as samples nothing is saved.
        bases.filter(|&n_basis| n_basis < n)
    }

    /// The candidate kernels: only the first one if C is fixed.
    pub(super) fn open_kernels(&self) -> &[ConditionalKernel] {
        if self.c == CChoice::Auto { &self.kernels } else { &self.kernels[..1] }
    }
}
