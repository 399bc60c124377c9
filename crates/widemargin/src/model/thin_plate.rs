//! The thin plate SVM: a nonlinear classifier with no length scale, and with leave-one-out in closed form no
//! parameter at all.
//!
//! Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007: minimise
//! ½‖f‖² + C Σ max(0, 1 − y f)² over f = Σ α_i φ(‖· − x_i‖) + Σ β_m p_m, the polynomials p unpenalised.

use std::fmt;
use std::str::FromStr;

use super::ThinPlateSvc;
use super::clock::Clock;
use super::thin_plate_blocks::{dense_rows, first_of_equals, weighted_block, weighted_gram, weighted_polynomials};
use super::thin_plate_landmarks::{LandmarkChoice, choose};
use crate::data::{ClassWeight, Labels, Rows, effective_weights};
use crate::error::{Error, Result};
use crate::par::Pool;
use crate::problem::n_problems;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::{
    FitSettings, Fitted, LandmarkBlocks, NullSpace, Problems, fit_exact, fit_landmarks, memory,
};
use crate::solve::{Report, Stage, Status};
use crate::watch::Watch;

/// How C is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CChoice {
    /// The C of a path with the least mean leave-one-out squared hinge loss.
    #[default]
    Auto,
    /// This C, above 0.
    Value(f64),
}

impl From<f64> for CChoice {
    fn from(c: f64) -> Self {
        CChoice::Value(c)
    }
}

impl fmt::Display for CChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CChoice::Auto => f.write_str("auto"),
            CChoice::Value(c) => c.fmt(f),
        }
    }
}

impl FromStr for CChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(CChoice::Auto);
        }
        text.parse().map(CChoice::Value).map_err(|_| Error::Parameter {
            name: "C",
            value: text.to_owned(),
            expected: "auto, or a finite number above 0".into(),
        })
    }
}

/// Parameters of a thin plate SVM, with their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinPlateParams {
    kernel: ConditionalKernel,
    c: CChoice,
    null_space: NullSpace,
    n_basis: Option<usize>,
    landmarks: LandmarkChoice,
    seed: u64,
    class_weight: ClassWeight,
    max_steps: u32,
    threads: usize,
    memory_limit: Option<u64>,
}

impl ThinPlateParams {
    /// The defaults for a kernel: C by leave-one-out, polynomials free unless they alone separate the data, one
    /// thread a core.
    pub fn new(kernel: ConditionalKernel) -> Self {
        ThinPlateParams {
            kernel,
            c: CChoice::Auto,
            null_space: NullSpace::Auto,
            n_basis: None,
            landmarks: LandmarkChoice::KMeans,
            seed: 0,
            class_weight: ClassWeight::Uniform,
            max_steps: 100,
            threads: 0,
            memory_limit: None,
        }
    }

    /// The weight C of the losses in ½‖f‖² + C Σ loss, a number above 0 or [`CChoice::Auto`].
    pub fn c(self, c: impl Into<CChoice>) -> Self {
        ThinPlateParams { c: c.into(), ..self }
    }

    /// What becomes of the polynomials the kernel is definite against.
    pub fn null_space(self, null_space: NullSpace) -> Self {
        ThinPlateParams { null_space, ..self }
    }

    /// Landmarks that carry the kernel, from 1; `None` is the exact solver, in which every sample is one. Time
    /// grows with the samples times this squared.
    pub fn n_basis(self, n_basis: Option<usize>) -> Self {
        ThinPlateParams { n_basis, ..self }
    }

    /// How landmarks are chosen.
    pub fn landmarks(self, landmarks: LandmarkChoice) -> Self {
        ThinPlateParams { landmarks, ..self }
    }

    /// Seed of the landmarks' choice.
    pub fn seed(self, seed: u64) -> Self {
        ThinPlateParams { seed, ..self }
    }

    /// How much the samples of each class count.
    pub fn class_weight(self, class_weight: ClassWeight) -> Self {
        ThinPlateParams { class_weight, ..self }
    }

    /// The most Newton steps a two-class problem and C; a few suffice.
    pub fn max_steps(self, max_steps: u32) -> Self {
        ThinPlateParams { max_steps, ..self }
    }

    /// Threads, 0 meaning one a core. The result does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        ThinPlateParams { threads, ..self }
    }

    /// Bytes the fit may take; without a limit, what the machine has free where it tells.
    pub fn memory_limit(self, bytes: u64) -> Self {
        ThinPlateParams { memory_limit: Some(bytes), ..self }
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is outside its domain.
    pub fn check(&self) -> Result<()> {
        self.kernel.check()?;
        let wrong =
            |name, value: String, expected: &str| Err(Error::Parameter { name, value, expected: expected.to_owned() });
        match self.c {
            CChoice::Value(c) if !(c > 0.0 && c.is_finite()) => {
                return wrong("C", c.to_string(), "auto, or a finite number above 0");
            }
            _ => {}
        }
        if self.n_basis == Some(0) {
            return wrong("n_basis", "0".into(), "at least 1, or none for the exact solver");
        }
        if self.max_steps == 0 {
            return wrong("max_iter", "0".into(), "at least 1");
        }
        Ok(())
    }

    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`ThinPlateParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, labels: &Labels) -> Result<ThinPlateSvc> {
        self.fit_with(samples, labels, None, &Watch::none())
    }

    /// Trains with a weight a sample (weight k is k copies) and a watch.
    ///
    /// Not converging is a status in the report and a warning there, not an error.
    ///
    /// # Errors
    /// Parameters, shapes, values or labels that cannot be used, each saying which and what would be right;
    /// [`Error::Parameter`] on `n_basis`, with the figure, where the kernel matrix does not fit in memory;
    /// [`Error::Cancelled`] where the watch was.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        watch: &Watch<'_>,
    ) -> Result<ThinPlateSvc> {
        self.check()?;
        labels.check(samples.n_rows())?;
        if samples.n_cols() == 0 {
            return Err(Error::Shape {
                what: "samples".into(),
                found: "no features".into(),
                expected: "at least one column".into(),
            });
        }
        let all_weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let mut clock = Clock::start(watch);

        // Samples of weight 0 are absent from everything, the polynomials' scaling included.
        let kept: Vec<usize> = (0..all_weights.len()).filter(|&row| all_weights[row] > 0.0).collect();
        let weights: Vec<f64> = kept.iter().map(|&row| all_weights[row]).collect();
        let codes: Vec<u32> = kept.iter().map(|&row| labels.codes()[row]).collect();
        // What leave-one-out takes away is one copy, which weighs what the class makes of it.
        let copies = |row: usize| sample_weight.map_or(1.0, |weights| weights[row]);
        let units: Vec<f64> = kept.iter().zip(&weights).map(|(&row, weight)| weight / copies(row).max(1.0)).collect();
        let problems = Problems { codes: &codes, n_classes: labels.classes().len(), weights: &weights, units: &units };
        let pool = Pool::new(self.threads)?;
        let n_features = samples.n_cols();
        let rows = dense_rows(samples, &kept, n_features)?;
        let space = PolynomialSpace::fit(&rows, &weights, n_features, self.kernel.degree())?;
        let inputs = Inputs { rows: &rows, n_features, weights: &weights, space: &space };
        // As many landmarks as samples: nothing is saved by them.
        let n_basis = self.n_basis.filter(|&n_basis| n_basis < kept.len());
        let (fitted, bases, support) = match n_basis {
            None => self.exact(&inputs, &problems, &pool, &mut clock)?,
            Some(n_basis) => self.on_landmarks(n_basis, &inputs, &problems, &pool, &mut clock)?,
        };

        let best = &fitted.outcome.best;
        let mut report = self.report(&fitted, clock.stages);
        report.warnings.splice(0..0, space.warnings());
        Ok(ThinPlateSvc {
            kernel: self.kernel,
            c: best.point.c,
            lambda: best.point.lambda,
            null_space: fitted.null_space,
            rank: fitted.rank,
            n_features,
            classes: labels.classes().to_vec(),
            bases,
            support: support.iter().map(|&i| kept[i] as u64).collect(),
            coefficients: fitted.alpha.concat(),
            space,
            polynomial: fitted.beta.concat(),
            left_out: best.left_out.concat(),
            path: fitted.outcome.path.clone(),
            report,
        })
    }

    /// The exact fit; with the bases and which samples they are. Samples at the same place are one base,
    /// those without a coefficient are none.
    fn exact(
        &self,
        inputs: &Inputs<'_>,
        problems: &Problems<'_>,
        pool: &Pool,
        clock: &mut Clock<'_>,
    ) -> Result<(Fitted, Vec<f64>, Vec<usize>)> {
        let Inputs { rows, n_features, weights, space } = *inputs;
        let (n, k) = (weights.len(), n_problems(problems.n_classes));
        let needed = memory::exact_bytes(n, space.len(), k, pool.threads());
        memory::check(needed, self.memory_limit, n, None, "set n_basis, the number of landmarks, to 1000 or so")?;
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let gram = weighted_gram(self.kernel, rows, n_features, &roots, pool)?;
        let polynomials = weighted_polynomials(space, rows, n_features, &roots);
        clock.end("kernel")?;
        let mut fitted = fit_exact(gram, &polynomials, problems, &self.settings(), pool, clock.watch)?;
        clock.end("solve")?;

        let alpha = merged(&fitted.alpha, &first_of_equals(rows, n_features));
        let support: Vec<usize> = (0..n).filter(|&i| alpha.iter().any(|alpha| alpha[i] != 0.0)).collect();
        fitted.alpha = alpha.iter().map(|alpha| support.iter().map(|&i| alpha[i]).collect()).collect();
        let bases = support.iter().flat_map(|&i| &rows[i * n_features..(i + 1) * n_features]).copied().collect();
        Ok((fitted, bases, support))
    }

    /// The fit on landmarks; with the landmarks and which samples they are, if they are samples.
    fn on_landmarks(
        &self,
        n_basis: usize,
        inputs: &Inputs<'_>,
        problems: &Problems<'_>,
        pool: &Pool,
        clock: &mut Clock<'_>,
    ) -> Result<(Fitted, Vec<f64>, Vec<usize>)> {
        let Inputs { rows, n_features, weights, space } = *inputs;
        let (n, k) = (weights.len(), n_problems(problems.n_classes));
        let needed = memory::landmark_bytes(n, n_basis, space.len(), k);
        memory::check(needed, self.memory_limit, n, Some(n_basis), "take fewer landmarks")?;
        let (bases, support) = choose(self.landmarks, n_basis, rows, n_features, weights, self.seed, pool)?;
        clock.end("landmarks")?;
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let ones = vec![1.0; bases.len() / n_features];
        let blocks = LandmarkBlocks {
            between: weighted_gram(self.kernel, &bases, n_features, &ones, pool)?,
            to_samples: weighted_block(self.kernel, rows, &bases, n_features, &roots, pool)?,
            polynomials: weighted_polynomials(space, &bases, n_features, &ones),
            sample_polynomials: weighted_polynomials(space, rows, n_features, &roots),
        };
        clock.end("kernel")?;
        let fitted = fit_landmarks(blocks, problems, &self.settings(), pool, clock.watch)?;
        clock.end("solve")?;
        Ok((fitted, bases, support))
    }

    fn settings(&self) -> FitSettings {
        let c = match self.c {
            CChoice::Auto => None,
            CChoice::Value(c) => Some(c),
        };
        FitSettings { null_space: self.null_space, c, max_steps: self.max_steps }
    }

    fn report(&self, fitted: &Fitted, stages: Vec<Stage>) -> Report {
        let best = &fitted.outcome.best;
        let primal: Vec<f64> = best.solutions.iter().map(|solution| best.point.c * solution.objective).collect();
        let gap = |(primal, dual): (&f64, &f64)| ((primal - dual) / primal.max(f64::MIN_POSITIVE)).max(0.0);
        let worst = |a: Status, b: Status| if a == Status::Converged { b } else { a };
        let mut report = Report {
            status: best.solutions.iter().map(|solution| solution.status).fold(Status::Converged, worst),
            iterations: best.solutions.iter().map(|solution| solution.steps).collect(),
            objective: primal.iter().sum(),
            dual_objective: fitted.dual.iter().sum(),
            gaps: primal.iter().zip(&fitted.dual).map(gap).collect(),
            n_support: best.solutions.iter().map(|solution| solution.violators.len() as u32).collect(),
            stages,
            warnings: warnings(fitted, self.kernel),
        };
        let what = match report.status {
            Status::Converged => return report,
            Status::IterationLimit => format!("after {} Newton steps (raise max_iter)", self.max_steps),
            Status::TimeLimit => "when the time limit passed".to_owned(),
        };
        report.warnings.push(format!("not converged {what}: the largest relative duality gap is {:.2e}", report.gap()));
        report
    }
}

/// The training samples as a solver's matrices are made of them.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    /// Row-major.
    rows: &'a [f64],
    n_features: usize,
    weights: &'a [f64],
    space: &'a PolynomialSpace,
}

/// Sums the coefficients of equal samples into the first of them.
fn merged(alpha: &[Vec<f64>], first: &[usize]) -> Vec<Vec<f64>> {
    let one = |alpha: &Vec<f64>| {
        let mut sums = vec![0.0; alpha.len()];
        alpha.iter().zip(first).for_each(|(alpha, &at)| sums[at] += alpha);
        sums
    };
    alpha.iter().map(one).collect()
}

/// What the user should know of the fit.
fn warnings(fitted: &Fitted, kernel: ConditionalKernel) -> Vec<String> {
    let mut warnings = Vec::new();
    let (rank, columns) = (fitted.rank, fitted.beta.first().map_or(0, Vec::len));
    if rank < columns {
        warnings.push(format!(
            "the {columns} polynomials of {kernel} have rank {rank} on these samples (constant or dependent columns, \
             or too few samples): the smallest of the equivalent solutions was taken",
        ));
    }
    if fitted.flat {
        warnings.push(
            "the polynomials reach every sample, nothing is left for the kernel: the classifier is a polynomial, \
             and C has no effect"
                .into(),
        );
    }
    if fitted.separated && fitted.null_space == NullSpace::Constant {
        warnings.push(
            "the polynomials alone separate a class from the others, so the free form would ignore C: only the \
             constant was kept (null_space = constant)"
                .into(),
        );
    } else if fitted.separated {
        warnings.push(format!(
            "the polynomials alone separate a class from the others: that classifier is a polynomial and ignores C; \
             with so few samples for {rank} polynomials they were kept (null_space = free), 'constant' drops them",
        ));
    }
    if let Some(asked) = fitted.outcome.raised {
        warnings.push(format!(
            "C is beyond double precision on these samples (λ = {asked:.1e} in units of the kernel's mean diagonal): \
             C = {:.3e} was used",
            fitted.outcome.best.point.c,
        ));
    }
    warnings
}
