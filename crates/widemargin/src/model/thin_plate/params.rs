//! The thin plate SVM: a nonlinear classifier without a length scale and, with closed-form leave-one-out, without any
//! parameter to tune.
//!
//! Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007: minimize
//! ½‖f‖² + C Σ max(0, 1 − y f)² over f = Σ α_i φ(‖· − x_i‖) + Σ β_m p_m, the polynomials p unpenalized.

use super::bases::ThinPlateBasis;
use crate::data::{ClassWeight, Fingerprint};
use crate::error::{Error, Result};
use crate::macros::{named, setters};
use crate::model::CChoice;
use crate::problem::Loss;
use crate::similarity::ConditionalKernel;
use crate::solve::thin_plate::{PathOptions, Polynomials};
use crate::tuning::UNEVEN_SPREADS;

/// Whether each column is first divided by its standard deviation.
///
/// The method depends on distances only. It is invariant to scaling of the data by a common factor, but a column in
/// grams dominates columns in tonnes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standardize {
    /// The columns are not scaled.
    #[default]
    No,
    /// Every column is scaled, except constant ones.
    Yes,
    /// If C is selected too and the spreads of the columns differ by more than a factor of three, the variant with the
    /// smaller leave-one-out loss (on at most 1,000 samples); otherwise `No`.
    Auto,
}

named!("answer to whether to standardize": Standardize {
    "auto" = Standardize::Auto,
    "yes" = Standardize::Yes,
    "no" = Standardize::No,
});

/// The candidates of [`ThinPlateParams::kernel_auto`]: the two distances whose only polynomial is the constant, so that
/// many columns cannot overfit it.
const AUTO_KERNELS: [ConditionalKernel; 2] = [ConditionalKernel::Distance, ConditionalKernel::Cityblock];

/// The number of samples of two classes up to which an exact fit takes about a minute: a value for `exact_up_to`.
/// Memory grows with its square, time with its cube.
pub const EXACT_UP_TO: usize = 5_000;

/// The number of samples up to which an exact fit of a smoothing spline takes about a minute: a value for
/// `exact_up_to`. Memory grows with its square, time with its cube.
pub const SPLINE_EXACT_UP_TO: usize = 3_000;

/// Parameters of a thin plate SVM or a smoothing spline, with their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineParams<T> {
    pub(crate) kernel: ConditionalKernel,
    /// The candidates for the kernel, if C is automatic too.
    pub(crate) among: Vec<ConditionalKernel>,
    pub(crate) c: CChoice,
    pub(crate) standardize: Standardize,
    pub(crate) n_basis: Option<usize>,
    pub(crate) exact_up_to: usize,
    pub(crate) basis: ThinPlateBasis,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) task: T,
}

/// Parameters of a thin plate SVM, with their defaults.
pub type ThinPlateParams = SplineParams<ClassificationParams>;

/// The parameters of a thin plate SVM besides those of a spline.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationParams {
    pub(crate) loss: Loss,
    pub(crate) polynomials: Polynomials,
    pub(crate) class_weight: ClassWeight,
    pub(crate) tol: f64,
    pub(crate) max_steps: u32,
    pub(crate) per_class: bool,
    /// How C is selected, if it is automatic: refined, and its error estimated by refits, unless losses are only compared;
    /// near the λ of a fit on the same samples, if there was one.
    pub(crate) path: PathOptions,
}

/// Parameters of a smoothing spline, with their defaults.
///
/// Over f = Σ α_i φ(‖· − x_i‖) + Σ β_m p_m it minimizes ½‖f‖² + C Σ w (y − f)². The polynomials p are unpenalized; a
/// kernel that is positive definite without any gets the constant. Wahba, *Spline Models for Observational Data*, 1990;
/// with these kernels Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007, Corollary 2.3.
pub type ThinPlateRegressorParams = SplineParams<RegressionParams>;

/// The smoothing spline has no parameters besides those of a spline.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionParams;

impl<T> SplineParams<T> {
    fn of(kernel: ConditionalKernel, task: T) -> Self {
        SplineParams {
            kernel,
            among: Vec::new(),
            c: CChoice::Auto,
            standardize: Standardize::No,
            n_basis: None,
            exact_up_to: usize::MAX,
            basis: ThinPlateBasis::KMeans,
            seed: 0,
            threads: 0,
            memory_limit: None,
            task,
        }
    }

    /// The kernel.
    pub fn kernel(self, kernel: ConditionalKernel) -> Self {
        SplineParams { kernel, among: Vec::new(), ..self }
    }

    /// The better of [`ConditionalKernel::Distance`] and [`ConditionalKernel::Cityblock`], by leave-one-out on at most
    /// 1,000 samples; at a fixed C, whose meaning depends on the kernel, the former.
    pub fn kernel_auto(self) -> Self {
        SplineParams { kernel: ConditionalKernel::Distance, among: AUTO_KERNELS.to_vec(), ..self }
    }

    /// The candidates for the kernel: one if the kernel or C is fixed.
    pub(crate) fn open_kernels(&self) -> &[ConditionalKernel] {
        match self.c {
            CChoice::Auto if !self.among.is_empty() => &self.among,
            _ => std::slice::from_ref(&self.kernel),
        }
    }

    setters! {
        /// Whether each column is first divided by its standard deviation.
        standardize: Standardize;
        /// Number of bases, from 1; `None` selects the exact solver, in which every sample is a basis. Time grows with
        /// samples × bases², and for a smoothing spline also with bases³.
        n_basis: Option<usize>;
        /// Where `n_basis` is none and there are more samples than this, 1,000 bases are used nevertheless, with a
        /// warning: for automatic settings. The number is for regression and two classes; for more, with a two-class
        /// problem for each, it is divided by the cube root of their number, so that an exact fit takes no longer.
        /// Without a limit the exact solver refuses samples that do not fit in memory.
        exact_up_to: usize;
        /// How bases are selected.
        basis: ThinPlateBasis;
        /// Seed of the selection of bases, and of the samples on which candidates are compared.
        seed: u64;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
        /// Bytes the fit may use; by default the free memory, if the system reports it.
        memory_limit: u64 => memory_limit = Some(memory_limit);
    }

    /// Whether leave-one-out decides about standardizing columns whose spreads differ by this factor. Losses at a fixed C
    /// are not comparable: its meaning depends on the scaling.
    pub(super) fn compares_scalings(&self, uneven: f64) -> bool {
        self.standardize == Standardize::Auto && self.c == CChoice::Auto && uneven > UNEVEN_SPREADS
    }

    /// All parameters that affect the result, and the content of the samples; `own` are those of the task.
    pub(super) fn identity(
        &self,
        content: Fingerprint,
        own: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Vec<(&'static str, String)> {
        let kernels: Vec<String> = self.open_kernels().iter().map(ToString::to_string).collect();
        let shared = [
            ("kernel", kernels.join(" or ")),
            ("C", self.c.to_string()),
            ("standardize", self.standardize.to_string()),
            ("n_basis", self.n_basis.map_or("none".into(), |n_basis| n_basis.to_string())),
            ("basis", self.basis.to_string()),
            ("seed", self.seed.to_string()),
            ("content of the samples", format!("{:032x}", content.finish())),
        ];
        shared.into_iter().chain(own).collect()
    }

    /// The number of bases of a fit on samples in blocks, which must be given.
    pub(super) fn n_basis_of_blocks(&self) -> Result<usize> {
        let expected = "a number of bases: the exact solver holds the kernel of all pairs of samples";
        self.n_basis.ok_or_else(|| Error::parameter("n_basis", "none", expected))
    }
}

impl ThinPlateParams {
    /// The defaults for a kernel: C by leave-one-out, polynomials free unless they alone separate the data, one thread
    /// per core.
    pub fn new(kernel: ConditionalKernel) -> Self {
        let task = ClassificationParams {
            loss: Loss::SquaredHinge,
            polynomials: Polynomials::Auto,
            class_weight: ClassWeight::Uniform,
            tol: 1e-10,
            max_steps: 100,
            per_class: false,
            path: PathOptions { refines: true, confirms: true, ..PathOptions::default() },
        };
        SplineParams::of(kernel, task)
    }

    /// The weight C of the losses in ½‖f‖² + C Σ loss, a number above 0 or [`CChoice::Auto`].
    pub fn c(mut self, c: impl Into<CChoice>) -> Self {
        (self.c, self.task.per_class) = (c.into(), false);
        self
    }

    /// Selects C and the treatment of the polynomials for each class separately, by the leave-one-out loss of its
    /// two-class problem. This takes one fit per class, and the error of the whole model is not estimated.
    pub fn c_auto_per_class(mut self) -> Self {
        (self.c, self.task.per_class) = (CChoice::Auto, true);
        self
    }

    setters! {
        /// The loss: the squared hinge, the squared error (1 − y f)², or the hinge. With the hinge, all samples are bases
        /// unless there is a number of bases, kernels are compared with the squared hinge, and C is selected and the error
        /// estimated by fits without each fifth of the samples.
        loss: Loss => task.loss = loss;
        /// How the polynomials of the kernel are treated.
        polynomials: Polynomials => task.polynomials = polynomials;
        /// The class weights.
        class_weight: ClassWeight => task.class_weight = class_weight;
        /// The largest violation of the optimality conditions, in units of the margin, at which a fit counts as solved.
        /// The last Newton step usually ends at rounding, for any tolerance.
        tol: f64 => task.tol = tol;
        /// The maximum number of Newton steps per two-class problem and C; a few suffice.
        max_steps: u32 => task.max_steps = max_steps;
    }
}

impl ThinPlateRegressorParams {
    /// The defaults for a kernel: C by leave-one-out, columns that are not scaled, every sample a basis, one thread per
    /// core.
    pub fn new(kernel: ConditionalKernel) -> Self {
        SplineParams::of(kernel, RegressionParams)
    }

    /// The weight C of the losses in ½‖f‖² + C Σ (y − f)²: a number above 0, or [`CChoice::Auto`], the C with the
    /// smallest leave-one-out squared error (with several outputs, the largest mean R²).
    pub fn c(self, c: impl Into<CChoice>) -> Self {
        ThinPlateRegressorParams { c: c.into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::DEFAULT_N_BASIS;

    #[test]
    fn many_samples_or_classes_take_bases() {
        let params = ThinPlateParams::new(ConditionalKernel::Distance).exact_up_to(EXACT_UP_TO);
        let bases = Some(DEFAULT_N_BASIS);
        for (n, n_problems, expected) in
            [(5_000, 1, None), (5_001, 1, bases), (2_499, 8, None), (2_501, 8, bases), (9_000, 5, bases)]
        {
            assert_eq!(params.basis_size(n, n_problems), expected, "{n} samples, {n_problems} problems");
        }
    }
}
