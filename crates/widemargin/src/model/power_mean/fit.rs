//! The power mean SVM: a classifier with additive kernels on histograms, with the training cost of a linear SVM.
//!
//! Wu, *Power Mean SVM for Large Scale Visual Classification*, CVPR 2012. Samples are scaled by the largest training
//! value of each feature; the scalar kernel is reduced to a few numbers per value ([`AdditiveMap`]); one-vs-rest
//! problems are solved by dual coordinate descent ([`dual`]).

use crate::data::{
    ClassWeight, Distinct, Given, Label, Labels, Rows, check_costs, effective_weights, fingerprints, visit_histogram,
};
use crate::descriptor::{FeatureMax, largest_values};
use crate::error::{Error, Result, require, require_cost, require_gap};
use crate::expansion::{
    AdditiveMap, Approximation, CodedRows, MAX_NODES, ValueCodes, check_nodes_of, choose_nodes, own_map,
    polynomial_nodes,
};
use crate::macros::{getters, setters};
use crate::memory;
use crate::model::Scores;
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings, tells_origin};
use crate::model::scores::check_width;
use crate::monitor::{Monitor, RowCount};
use crate::par;
use crate::problem::{Loss, OneVsRest, n_problems};
use crate::similarity::ScalarKernel;
use crate::solve::dual::{self, DualProblem, DualSettings, DualSolution, Engine};
use crate::solve::{Report, Stage};

/// Rows scored at a time by one thread.
const ROWS_A_CHUNK: usize = 1024;

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
    pub(crate) shrinking: bool,
    pub(crate) engine: Engine,
}

impl PowerMeanParams {
    /// The defaults for a kernel: squared hinge, C = 0.01, three data-dependent Nyström nodes, features scaled by their
    /// maximum, a relative duality gap of 0.01, one thread per core.
    pub fn new(kernel: impl Into<ScalarKernel>) -> Self {
        PowerMeanParams {
            kernel: kernel.into(),
            loss: Loss::SquaredHinge,
            c: 0.01,
            approximation: Approximation::Nystrom,
            n_nodes: 3,
            nodes: None,
            scale: true,
            class_weight: ClassWeight::Uniform,
            tol: 1e-2,
            max_epochs: 1000,
            seed: 0,
            threads: 0,
            shrinking: true,
            engine: Engine::Auto,
        }
    }

    /// Sets the kernel: one of the library's, or one of your own.
    pub fn kernel(self, kernel: impl Into<ScalarKernel>) -> Self {
        PowerMeanParams { kernel: kernel.into(), ..self }
    }

    setters! {
        /// The weight C of the losses in ½‖f‖² + C Σ loss; above 0.
        c: f64;
        /// The loss.
        loss: Loss;
        /// How the kernel is reduced to a few numbers per feature.
        approximation: Approximation;
    }

    /// Sets the number of nodes: 1 to [`MAX_NODES`] for Nyström, chosen by the data; at least 2 for the polynomial, whose
    /// degree is one less, at [`polynomial_nodes`].
    pub fn n_nodes(self, n_nodes: usize) -> Self {
        PowerMeanParams { n_nodes, nodes: None, ..self }
    }

    /// Sets the nodes themselves, in units of the scaled features. Those of a polynomial are at most 1.
    pub fn nodes(self, nodes: Vec<f64>) -> Self {
        PowerMeanParams { n_nodes: nodes.len(), nodes: Some(nodes), ..self }
    }

    setters! {
        /// Whether features are first divided by their largest training value.
        scale: bool;
        /// The class weights.
        class_weight: ClassWeight;
        /// The relative duality gap at which a two-class problem counts as solved; in (0, 1). Weights are single precision,
        /// so that a gap below about 1e-5 may not be reached.
        tol: f64;
        /// The maximum number of passes over the samples.
        max_epochs: u32;
        /// Seed of the order of the samples.
        seed: u64;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
        /// Whether samples that stay outside the margin are temporarily skipped (shrinking).
        shrinking: bool;
        /// The implementation of the solver; affects speed only.
        engine: Engine;
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        if let ScalarKernel::BuiltIn(kernel) = &self.kernel {
            kernel.require_kernel()?;
        }
        require_cost(self.c)?;
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

    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`PowerMeanParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, labels: &Labels) -> Result<PowerMeanSvc> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to absence, and
    /// the order of the samples does not matter: all bit for bit.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values or labels, each saying which and what is expected; [`Error::Memory`] if
    /// features × nodes × problems do not fit; [`Error::Cancelled`] if the monitor cancelled.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<PowerMeanSvc> {
        self.check()?;
        labels.check(samples.n_rows())?;
        self.check_memory(samples.n_cols(), n_problems(labels.classes().len()))?;
        let effective = effective_weights(labels, sample_weight, &self.class_weight)?;
        check_costs(self.c, &effective, labels.classes().len())?;
        let mut clock = Clock::start(monitor);

        // Samples of weight 0 are ignored everywhere, including the scaling.
        let kept: Vec<usize> = (0..effective.len()).filter(|&row| effective[row] > 0.0).collect();
        let scaling = if self.scale {
            Some(FeatureMax::fit(samples, &kept)?)
        } else {
            largest_values(samples, &kept)?;
            None
        };
        clock.end("scale")?;

        // Copies are merged. The order is random, so that rows near each other in memory are a random sample.
        let fingerprints = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let given = Given { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(fingerprints, given, self.seed, self.threads, monitor)?;
        let (labels, weights) = distinct.labelled(labels, &self.class_weight)?;
        clock.end("merge")?;

        let rows = CodedRows::new(samples, &distinct.rows, &weights, scaling.as_ref().map(FeatureMax::factors))?;
        let costs: Vec<f64> = weights.iter().map(|weight| self.c * weight).collect();
        clock.end("encode")?;

        let map = self.map(rows.book(), rows.counts())?;
        clock.end("nodes")?;

        let targets = OneVsRest::new(labels.codes(), labels.classes().len());
        let problem = DualProblem { rows: &rows, map: &map, targets, loss: self.loss, costs: &costs };
        let settings = self.limit(&problem, self.settings(self.threads));
        let mut solution = dual::solve_for_weights(&problem, &settings, monitor)?;
        clock.end("solve")?;
        if self.wants_primal(&problem, &solution, settings.max_epochs) {
            self.finish_in_primal(&problem, &mut solution, monitor)?;
            clock.end("newton")?;
        }

        let report = report(&solution, clock.stages, self);
        Ok(self.model(map, scaling, samples.n_cols(), &labels, solution.weights, report))
    }

    /// Refuses weights that do not fit in memory before anything is allocated.
    fn check_memory(&self, n_features: usize, n_problems: usize) -> Result<()> {
        let n_nodes = self.n_nodes;
        // The maxima and the factors; the weights by problem and in the model's layout.
        let needed = memory::product(&[2 * size_of::<f64>(), n_features]).saturating_add(memory::product(&[
            2 * size_of::<f32>(),
            n_features,
            n_nodes,
            n_problems,
        ]));
        let what = || format!("the weights of {n_features} features × {n_nodes} nodes × {n_problems} problems");
        memory::check(needed, what, memory::FEWER_COLUMNS)
    }

    /// The settings of the descent.
    pub(crate) fn settings(&self, threads: usize) -> DualSettings {
        let PowerMeanParams { tol, max_epochs, seed, shrinking, engine, .. } = *self;
        DualSettings { tol, max_epochs, seed, threads, shrinking, engine }
    }

    /// The trained model.
    pub(crate) fn model(
        &self,
        map: AdditiveMap,
        scaling: Option<FeatureMax>,
        n_features: usize,
        labels: &Labels,
        weights: Vec<f32>,
        report: Report,
    ) -> PowerMeanSvc {
        let (classes, origin) = (labels.classes().to_vec(), Origin::of(self.training()));
        PowerMeanSvc { map, loss: self.loss, c: self.c, scaling, n_features, classes, weights, report, origin }
    }

    /// The settings stored in the model.
    pub(crate) fn training(&self) -> TrainingSettings {
        TrainingSettings {
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_epochs,
            seed: self.seed,
            shrinking: Some(self.shrinking),
            nodes: self.nodes.clone(),
            landmarks: None,
        }
    }

    /// The reduced kernel for values with the given counts.
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

pub(crate) fn report(solution: &DualSolution, stages: Vec<Stage>, params: &PowerMeanParams) -> Report {
    let gaps = (0..solution.primal.len()).map(|k| solution.gap(k)).collect();
    let (iterations, objectives) = (solution.epochs.clone(), (&solution.primal[..], &solution.dual[..]));
    let mut report = Report::of(&solution.status, iterations, objectives, gaps, solution.n_support.clone(), stages);
    let at_limit = format!("after {} epochs and steps (raise max_iter)", report.max_iterations());
    report.warn_unless_converged(&at_limit, Some(params.tol));
    report
}

/// A trained power mean SVM.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerMeanSvc {
    pub(crate) map: AdditiveMap,
    pub(crate) loss: Loss,
    pub(crate) c: f64,
    pub(crate) scaling: Option<FeatureMax>,
    pub(crate) n_features: usize,
    pub(crate) classes: Vec<Label>,
    /// `weights[(feature * n_nodes + node) * n_problems + problem]`.
    pub(crate) weights: Vec<f32>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
}

impl PowerMeanSvc {
    tells_origin!(|model| Some(model.n_features));

    /// Decision values of the samples, computed by `threads` threads, 0 meaning one per core.
    ///
    /// # Errors
    /// [`Error::FeatureCount`] for more features than in training (for dense samples: a different number),
    /// [`Error::Value`] for a negative or non-finite value.
    pub fn decision_function(&self, samples: &impl Rows, threads: usize) -> Result<Scores> {
        self.decision_function_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`PowerMeanSvc::decision_function`]; [`Error::Cancelled`].
    pub fn decision_function_with(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        check_width(samples, self.n_features)?;
        let (n, k) = (samples.n_rows(), self.n_problems());
        Scores::check_memory(n, k)?;
        let pool = par::Pool::new(if n <= ROWS_A_CHUNK { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let chunk = |at: usize| {
            count.go_on()?;
            let rows = at * ROWS_A_CHUNK..((at + 1) * ROWS_A_CHUNK).min(n);
            let mut values = vec![0.0; rows.len() * k];
            let mut memory = Memory::new(&self.map);
            for (row, scores) in rows.clone().zip(values.chunks_exact_mut(k)) {
                self.score(samples, row, &mut memory, scores)?;
            }
            count.add(rows.len());
            Ok::<_, Error>(values)
        };
        Ok(Scores::new(pool.try_map(n.div_ceil(ROWS_A_CHUNK), chunk)?.concat(), k))
    }

    /// The predicted label of each sample.
    ///
    /// # Errors
    /// As for [`PowerMeanSvc::decision_function`].
    pub fn predict(&self, samples: &impl Rows, threads: usize) -> Result<Vec<&Label>> {
        Ok(self.decision_function(samples, threads)?.decide(&self.classes))
    }

    getters! {
        /// The report of the fit.
        report: &Report;
        /// The classes, in the order of the decision values' columns.
        classes: &[Label];
        /// Number of features of the training samples.
        copy n_features: usize;
        /// The reduced kernel, with its nodes.
        map: &AdditiveMap;
        /// The loss.
        copy loss: Loss;
        /// The weight C of the losses.
        copy c: f64;
    }

    /// The scaling of the features, if any.
    pub fn scaling(&self) -> Option<&FeatureMax> {
        self.scaling.as_ref()
    }

    /// a_j, in the order feature, node, problem.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// ‖w‖² of each two-class problem in the features of the symmetric approximation.
    ///
    /// # Errors
    /// [`Error::Parameter`] for the polynomial approximation, which is not symmetric and has no such features.
    pub fn squared_norms(&self) -> Result<Vec<f64>> {
        if !self.map.is_symmetric() {
            let expected = "nystrom: the polynomial approximation is not symmetric and has no norm";
            return Err(Error::parameter("approximation", self.map.approximation(), expected));
        }
        let mut sums = vec![0.0; self.n_problems()];
        for weights in self.weights.chunks_exact(sums.len()) {
            weights.iter().zip(&mut sums).for_each(|(&weight, sum)| *sum += f64::from(weight).powi(2));
        }
        Ok(sums)
    }

    pub(crate) fn n_problems(&self) -> usize {
        n_problems(self.classes.len())
    }

    /// Adds read(x_j) · a_j over a row's non-zeros to `scores`, which must be 0.
    fn score(&self, samples: &impl Rows, row: usize, memory: &mut Memory<'_>, scores: &mut [f32]) -> Result<()> {
        let (m, k) = (self.map.n_nodes(), scores.len());
        let factors = self.scaling.as_ref().map(FeatureMax::factors);
        let mut too_large = None;
        visit_histogram(samples, row, |column, value| {
            let scaled = (value * factors.map_or(1.0, |f| f[column])) as f32;
            if scaled == 0.0 {
                // Too small for single precision: ignored, as in training.
                return;
            }
            if !scaled.is_finite() {
                too_large.get_or_insert((column, value));
                return;
            }
            let weights = &self.weights[column * m * k..(column + 1) * m * k];
            for (read, weights) in memory.read(scaled).iter().zip(weights.chunks_exact(k)) {
                for (score, weight) in scores.iter_mut().zip(weights) {
                    *score += read * weight;
                }
            }
        })?;
        match too_large {
            None => Ok(()),
            Some((column, value)) => {
                let problem = "is beyond single precision (once scaled as in training)";
                Err(Error::Value { row, column, value, problem })
            }
        }
    }
}

/// Caches read(x): values repeat in histograms, and a general power mean costs a microsecond.
struct Memory<'a> {
    map: &'a AdditiveMap,
    codes: ValueCodes,
    table: Vec<f32>,
    last: [f32; MAX_NODES],
}

impl<'a> Memory<'a> {
    /// With more distinct values than this they hardly repeat.
    const MOST: usize = 1 << 14;

    fn new(map: &'a AdditiveMap) -> Self {
        Memory { map, codes: ValueCodes::new(), table: Vec::new(), last: [0.0; MAX_NODES] }
    }

    #[inline]
    fn read(&mut self, x: f32) -> &[f32] {
        let m = self.map.n_nodes();
        if let Some(code) = self.codes.get(x) {
            return &self.table[code as usize * m..][..m];
        }
        self.compute(x)
    }

    #[cold]
    fn compute(&mut self, x: f32) -> &[f32] {
        let m = self.map.n_nodes();
        let mut read = [0.0; MAX_NODES];
        self.map.read(x.into(), &mut read);
        self.last = read.map(|r| r as f32);
        if self.codes.len() < Self::MOST {
            self.codes.insert(x);
            self.table.extend_from_slice(&self.last[..m]);
        }
        &self.last[..m]
    }
}
