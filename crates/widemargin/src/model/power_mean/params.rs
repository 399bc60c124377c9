//! The parameters of a power mean SVM.

use crate::data::ClassWeight;
use crate::error::{Result, require, require_cost, require_gap};
use crate::expansion::{
    AdditiveMap, Approximation, MAX_NODES, check_nodes_of, choose_nodes, own_map, polynomial_nodes,
};
use crate::macros::setters;
use crate::model::CChoice;
use crate::model::origin::TrainingSettings;
use crate::problem::Loss;
use crate::similarity::{AdditiveKernel, ScalarKernel};
use crate::solve::DescentSettings;

/// Which parameters are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Auto {
    pub p: bool,
    pub n_nodes: bool,
    pub c: bool,
}

impl Auto {
    pub fn any(self) -> bool {
        self.p || self.n_nodes || self.c
    }
}

/// Parameters of a power mean SVM, with their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerMeanParams {
    pub(crate) kernel: ScalarKernel,
    pub(crate) loss: Loss,
    pub(crate) c: f64,
    pub(crate) approximation: Approximation,
    pub(crate) n_nodes: usize,
    pub(crate) nodes: Option<Vec<f64>>,
    pub(crate) scale: bool,
    pub(crate) class_weight: ClassWeight,
    pub(crate) tol: f64,
    pub(crate) max_epochs: u32,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    /// Whether C, p and the number of nodes are chosen; the fields of those that are have the defaults.
    pub(super) auto: Auto,
}

impl PowerMeanParams {
    /// The defaults for a kernel: squared hinge, C = 0.01, three data-dependent Nyström nodes, features scaled by their
    /// maximum, a relative duality gap of 0.01, one thread per core.
    pub fn new(kernel: impl Into<ScalarKernel>) -> Self {
        PowerMeanParams {
            kernel: kernel.into(),
            loss: Loss::SquaredHinge,
            c: 0.01,
            approximation: Approximation::Nystroem,
            n_nodes: 3,
            nodes: None,
            scale: true,
            class_weight: ClassWeight::Uniform,
            tol: 1e-2,
            max_epochs: 1000,
            seed: 0,
            threads: 0,
            auto: Auto::default(),
        }
    }

    /// The same, with p, the number of nodes and C selected on a subset of the samples.
    pub fn auto() -> Self {
        PowerMeanParams::new(AdditiveKernel::Chi2).c(CChoice::Auto).choose_p().choose_n_nodes()
    }

    /// Sets the kernel: built-in or user-defined.
    pub fn kernel(self, kernel: impl Into<ScalarKernel>) -> Self {
        PowerMeanParams { kernel: kernel.into(), auto: Auto { p: false, ..self.auto }, ..self }
    }

    /// Selects the kernel among power means: the first p of −1, −½, −2, 0, −4, −8 and −∞ whose leave-one-out loss is
    /// within 5 % of the smallest.
    ///
    /// Parameters are selected on at most 1,000 samples, by the squared hinge loss of the leave-one-out decision values
    /// of least squares, which have a closed form. With the hinge loss or the polynomial, nothing is selected: p is −1,
    /// C is 0.01, and there are three nodes.
    pub fn choose_p(self) -> Self {
        let kernel = AdditiveKernel::PowerMean { p: -1.0 }.into();
        PowerMeanParams { kernel, auto: Auto { p: true, ..self.auto }, ..self }
    }

    /// Selects the number of nodes, from 3 to 16: the smallest for which the leave-one-out loss is close to that of the
    /// exact kernel. See [`PowerMeanParams::choose_p`].
    pub fn choose_n_nodes(self) -> Self {
        PowerMeanParams { n_nodes: 3, nodes: None, auto: Auto { n_nodes: true, ..self.auto }, ..self }
    }

    /// The weight C of the losses in ½‖f‖² + C Σ loss: a number above 0, or [`CChoice::Auto`], the smallest C whose
    /// leave-one-out loss is within 2 % of the smallest loss. See [`PowerMeanParams::choose_p`].
    pub fn c(self, c: impl Into<CChoice>) -> Self {
        let c = c.into();
        PowerMeanParams { c: c.value().unwrap_or(0.01), auto: Auto { c: c == CChoice::Auto, ..self.auto }, ..self }
    }

    setters! {
        /// The loss.
        loss: Loss;
        /// How the kernel is reduced to a few numbers per feature.
        approximation: Approximation;
    }

    /// Sets the number of nodes: 1 to [`MAX_NODES`] data-dependent nodes for Nyström; at least 2 for the polynomial,
    /// whose degree is one less, at [`polynomial_nodes`].
    pub fn n_nodes(self, n_nodes: usize) -> Self {
        PowerMeanParams { n_nodes, nodes: None, auto: Auto { n_nodes: false, ..self.auto }, ..self }
    }

    /// Sets the nodes themselves, in units of the scaled features. Those of a polynomial are at most 1.
    pub fn nodes(self, nodes: Vec<f64>) -> Self {
        let auto = Auto { n_nodes: false, ..self.auto };
        PowerMeanParams { n_nodes: nodes.len(), nodes: Some(nodes), auto, ..self }
    }

    setters! {
        /// Whether features are first divided by their largest training value.
        scale: bool;
        /// The class weights.
        class_weight: ClassWeight;
        /// The relative duality gap at which a two-class problem counts as solved; in (0, 1). Weights are single
        /// precision, so that a gap below about 1e-5 may not be reached.
        tol: f64;
        /// The maximum number of passes over the samples.
        max_epochs: u32;
        /// Seed of the order of the samples.
        seed: u64;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
    }

    /// Whether something is to be chosen that can be: leave-one-out here is for the squared hinge and for symmetric
    /// kernels.
    pub(super) fn chooses(&self) -> bool {
        self.auto.any() && self.loss == Loss::SquaredHinge && self.approximation == Approximation::Nystroem
    }

    /// The same parameters with nothing chosen.
    pub(super) fn without_choice(&self) -> Self {
        PowerMeanParams { auto: Auto::default(), ..self.clone() }
    }

    /// The settings of the descent.
    pub(crate) fn settings(&self, threads: usize) -> DescentSettings {
        DescentSettings { tol: self.tol, max_epochs: self.max_epochs, seed: self.seed, threads }
    }

    /// The settings stored in the model.
    pub(crate) fn training(&self) -> TrainingSettings {
        TrainingSettings {
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_epochs,
            seed: self.seed,
            nodes: self.nodes.clone(),
            ..TrainingSettings::default()
        }
    }

    /// The reduced kernel for values with these counts.
    pub(crate) fn map(&self, values: &[f32], counts: &[f64]) -> Result<AdditiveMap> {
        let nodes = match self.approximation {
            Approximation::Polynomial if self.nodes.is_none() => Some(polynomial_nodes(self.n_nodes)),
            _ => self.nodes.clone(),
        };
        match &self.kernel {
            ScalarKernel::Own(kernel) => own_map(kernel, self.approximation, nodes, self.n_nodes, (values, counts)),
            ScalarKernel::BuiltIn(kernel) => {
                let mut nodes = nodes.unwrap_or_else(|| choose_nodes(*kernel, values, counts, self.n_nodes));
                if nodes.is_empty() {
                    // Every sample is empty: any node will do, and all decision values are 0.
                    nodes.push(1.0);
                }
                AdditiveMap::reduced(self.approximation, *kernel, &nodes)
            }
        }
    }
}

#[doc(hidden)]
impl PowerMeanParams {
    /// C, if it is fixed or has been selected; otherwise its placeholder.
    pub fn cost(&self) -> f64 {
        self.c
    }

    /// The kernel, if it is fixed or has been selected; otherwise its placeholder.
    pub fn scalar_kernel(&self) -> &ScalarKernel {
        &self.kernel
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        if let ScalarKernel::BuiltIn(kernel) = &self.kernel {
            kernel.require_kernel()?;
        }
        require_cost(self.c)?;
        self.loss.check_among(&[Loss::SquaredHinge, Loss::Hinge])?;
        require_gap(self.tol, "0.01")?;
        require(self.max_epochs > 0, "max_iter", "0", "at least 1")?;
        let least = if self.approximation == Approximation::Polynomial { 2 } else { 1 };
        let expected = format!("from {least} to {MAX_NODES}");
        require((least..=MAX_NODES).contains(&self.n_nodes), "n_nodes", self.n_nodes, &expected)?;
        if let Some(nodes) = &self.nodes {
            check_nodes_of(self.approximation, nodes)?;
        }
        Ok(())
    }
}
