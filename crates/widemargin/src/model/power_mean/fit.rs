//! The power mean SVM: a classifier with additive kernels on histograms, with the training cost of a linear SVM.
//!
//! Wu, *Power Mean SVM for Large Scale Visual Classification*, CVPR 2012. Samples are scaled by the largest training
//! value of each feature; the scalar kernel is reduced to a few numbers per value ([`AdditiveMap`]); one-vs-rest
//! problems are solved by dual coordinate descent ([`dual`]).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::choose::PowerMeanChoice;
use super::feature_range::{FeatureMax, largest_values};
use super::held_out::{held_out_scores, held_out_sets};
use super::params::PowerMeanParams;
use crate::data::{Label, Labels, PickedRows, Rows, SamplesView, check_costs, fingerprints};
use crate::error::{Error, Result, require};
use crate::expansion::{AdditiveMap, CodedRows, MAX_NODES, ValueCodes, each_scaled};
use crate::macros::getters;
use crate::memory;
use crate::model::clock::Clock;
use crate::model::file::by_name;
use crate::model::known::{Known, Merged};
use crate::model::origin::Origin;
use crate::model::scores::check_width;
use crate::model::within_limit::{Part, TrainingSet, fit_samples};
use crate::model::{Classifier, Scores, assess};
use crate::monitor::{Monitor, RowCount};
use crate::par;
use crate::problem::{HeldOutScores, Loss, OneVsRest};
use crate::solve::dual::{Additive, DualProblem, DualSolution};
use crate::solve::{EstimateMethod, Report, Stage};
use crate::tuning::{MAX_STORED_VALUES, SELECTION_SAMPLES, SELECTION_TIME_SHARE};

/// Rows scored at a time by one thread.
const CHUNK_ROWS: usize = 1024;

impl PowerMeanParams {
    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`PowerMeanParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, labels: &Labels) -> Result<PowerMeanSvc> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples does not matter: all bit for bit.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error. If a time limit does
    /// not allow a fit on all samples, the model is fitted to a subset, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values or labels, with their names and the expected values; [`Error::Memory`] if
    /// features × nodes × problems do not fit; [`Error::Cancelled`] if the monitor cancelled; [`Error::TooShort`] if
    /// its time limit passed before a fit on few samples.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<PowerMeanSvc> {
        self.check()?;
        let weights = labels.weights(samples.n_rows(), sample_weight, (&self.class_weight, self.c.into()))?;
        let fit = |part: Option<Part<'_, Labels>>, monitor: &Monitor<'_>| {
            let Some(Part { rows, known, sample_weight }) = part else {
                return self.fit_rows(TrainingSet { samples, known: labels, sample_weight }, monitor);
            };
            let (samples, sample_weight) = (&PickedRows { source: samples, rows }, sample_weight.as_deref());
            self.fit_rows(TrainingSet { samples, known: &known, sample_weight }, monitor)
        };
        // Parameters are chosen on about as many samples as other methods have bases.
        let size = (Some(SELECTION_SAMPLES), self.seed);
        match fit_samples(labels, (&weights, sample_weight), size, monitor, fit, |model| &mut model.report) {
            Err(Error::TooShort { .. }) if self.chooses() && monitor.ask().is_ok() => {
                let preset = self.without_choice();
                let mut model = preset.fit_with(samples, labels, sample_weight, monitor)?;
                let PowerMeanParams { kernel, n_nodes, c, .. } = preset;
                let used = format!("kernel {kernel}, {n_nodes} nodes and C = {c} were used without a choice");
                model.report.warnings.push(format!("{used}, for which the time limit is too short"));
                Ok(model)
            }
            fitted => fitted,
        }
    }

    fn fit_rows<R: Rows>(&self, set: TrainingSet<'_, R, Labels>, monitor: &Monitor<'_>) -> Result<PowerMeanSvc> {
        let TrainingSet { samples, known: labels, sample_weight } = set;
        self.check_memory(samples.n_cols(), OneVsRest::of(labels).n_problems())?;
        let effective = labels.weights(samples.n_rows(), sample_weight, (&self.class_weight, self.c.into()))?;
        let mut clock = Clock::start(monitor);

        // Samples of weight 0 are ignored everywhere, including the scaling.
        let present: Vec<usize> = (0..effective.len()).filter(|&row| effective[row] > 0.0).collect();
        // The values are checked without a scaling too.
        let (largest, _) = largest_values(samples, &present)?;
        let scaling = self.scale.then(|| FeatureMax::from_largest(&largest));
        clock.end("scale")?;

        // Copies are merged. The order is random, so that rows near each other in memory are a random sample.
        let fingerprints = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let (known, of) = ((labels, &self.class_weight), (sample_weight, &effective[..]));
        let merged = Merged::find(fingerprints, known, of, (self.seed, self.threads), monitor)?;
        let Merged { distinct, known: labels, weights, units, .. } = merged;
        clock.end("merge")?;

        let factors = scaling.as_ref().map(FeatureMax::factors);
        let rows = CodedRows::new(samples, &distinct.rows, &weights, factors)?;
        clock.end("encode")?;

        let (mut params, mut choice) = (Cow::Borrowed(self), None);
        if self.chooses() {
            let some = self.rows_to_choose_on(&labels, &weights);
            let picked: Vec<usize> = some.iter().map(|&at| distinct.rows[at]).collect();
            let picked = PickedRows { source: samples, rows: &picked };
            let (judged, monitor) = ((&weights[..], &units[..]), &monitor.with_strict_part(SELECTION_TIME_SHARE));
            let (chosen, found) = self.choose_on(&picked, &some, &labels, judged, factors, monitor)?;
            chosen.check_memory(samples.n_cols(), OneVsRest::of(&labels).n_problems())?;
            check_costs(chosen.c, &weights, labels.classes().len())?;
            (params, choice) = (Cow::Owned(chosen), Some(found));
            clock.end("choose")?;
        }
        let costs: Vec<f64> = weights.iter().map(|weight| params.c * weight).collect();
        let map = params.map(rows.book(), rows.counts())?;
        clock.end("nodes")?;

        let targets = OneVsRest::of(&labels);
        let problem = DualProblem { rows: &rows, map: &map, targets, loss: params.loss, costs: &costs };
        let settings = params.limit(&problem, params.settings(params.threads));
        let held_out = held_out_sets(&labels, &weights, &units, self.seed);
        let mut descent = Additive::new(&problem, &settings, monitor);
        (descent.keep_alphas, descent.held_out) = (false, &held_out);
        descent.is_left_to_another = settings.max_epochs < params.max_epochs;
        let mut solution = descent.solve()?;
        clock.end_solved("solve")?;
        if params.wants_primal(&problem, &solution, settings.max_epochs) {
            let shares: Vec<f64> = units.iter().zip(&weights).map(|(unit, weight)| unit / weight).collect();
            match params.finish_in_primal(&problem, &mut solution, (&held_out, &shares), monitor) {
                Err(Error::TooShort { .. }) => solution.end_at_time_limit(),
                finished => finished?,
            }
            clock.end_solved("newton")?;
        }

        let scores = held_out_scores(&solution, &held_out, labels.codes(), (&weights, &units));
        let features = (map, scaling, samples.n_cols());
        let model = params.model(features, (&labels, &distinct.weights), (solution, &scores), clock.stages);
        Ok(model.with_choice(&params, choice))
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

    /// The model of a solution, with its report. `weights` are those of all training samples, without class weights.
    pub(super) fn model(
        &self,
        (map, scaling, n_features): (AdditiveMap, Option<FeatureMax>, usize),
        (labels, weights): (&Labels, &[f64]),
        (solution, scores): (DualSolution, &HeldOutScores),
        stages: Vec<Stage>,
    ) -> PowerMeanSvc {
        let iterations = "epochs and steps (raise max_iter)";
        let mut report = Report::of_solver(&solution.problems, stages, iterations, Some(self.tol));
        let calibration = assess(&mut report, scores, labels, weights, EstimateMethod::HeldOut);
        let task = Task { loss: self.loss, c: self.c, classes: labels.classes().to_vec(), choice: None };
        let origin = Origin::of(self.training()).labeled(labels).calibrated(calibration);
        PowerMeanSvc { map, task, scaling, n_features, weights: solution.weights, report, origin }
    }
}

/// A trained power mean SVM.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerMeanSvc {
    pub(crate) map: AdditiveMap,
    pub(crate) task: Task,
    pub(crate) scaling: Option<FeatureMax>,
    pub(crate) n_features: usize,
    /// `weights[(feature * n_nodes + node) * n_problems + problem]`.
    pub(crate) weights: Vec<f32>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
}

/// The task of a power mean SVM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    #[serde(with = "by_name")]
    pub loss: Loss,
    #[serde(rename = "C")]
    pub c: f64,
    pub classes: Vec<Label>,
    /// The selected parameters; `None` if nothing was automatic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<PowerMeanChoice>,
}

impl PowerMeanSvc {
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
    #[doc(hidden)]
    pub fn decision_function_with(&self, samples: &impl Rows, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        check_width(samples, self.n_features)?;
        let (n, k) = (samples.n_rows(), self.n_problems());
        Scores::check_memory(n, k)?;
        let pool = par::Pool::new(if n <= CHUNK_ROWS { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let chunk = |at: usize| {
            count.go_on()?;
            let rows = at * CHUNK_ROWS..((at + 1) * CHUNK_ROWS).min(n);
            let mut values = vec![0.0; rows.len() * k];
            let mut memory = Memory::new(&self.map);
            for (row, scores) in rows.clone().zip(values.chunks_exact_mut(k)) {
                self.score(samples, row, &mut memory, scores)?;
            }
            count.add(rows.len());
            Ok::<_, Error>(values)
        };
        Ok(Scores::new(pool.try_map(n.div_ceil(CHUNK_ROWS), chunk)?.concat(), k))
    }

    /// The predicted label of each sample.
    ///
    /// # Errors
    /// As for [`PowerMeanSvc::decision_function`].
    pub fn predict(&self, samples: &impl Rows, threads: usize) -> Result<Vec<&Label>> {
        Ok(self.decision_function(samples, threads)?.decide(&self.task.classes))
    }

    getters! {
        /// The report of the fit.
        report: &Report;
        /// Number of features of the training samples.
        hidden copy n_features: usize;
        /// The reduced kernel, with its nodes.
        hidden map: &AdditiveMap;
        /// a_j, in the order feature, node, problem.
        hidden weights: &[f32];
    }

    getters! {
        task =>
        /// The classes, in the order of the decision values' columns.
        classes: &[Label];
        /// The loss.
        hidden copy loss: Loss;
        /// The weight C of the losses.
        hidden copy c: f64;
    }

    /// The scaling of the features, if any.
    #[doc(hidden)]
    pub fn scaling(&self) -> Option<&FeatureMax> {
        self.scaling.as_ref()
    }

    /// With the selection of its parameters, if there was one, which is noted in the report.
    pub(super) fn with_choice(mut self, params: &PowerMeanParams, choice: Option<PowerMeanChoice>) -> Self {
        self.report.notes.extend(choice.as_ref().map(|choice| choice.summary(params)));
        self.task.choice = choice;
        self
    }

    /// The selected parameters and their candidates; `None` if nothing was automatic.
    pub fn choice(&self) -> Option<&PowerMeanChoice> {
        self.task.choice.as_ref()
    }

    pub(crate) fn n_problems(&self) -> usize {
        self.origin.n_problems(self.task.classes.len())
    }

    /// Adds read(x_j) · a_j over a row's non-zeros to `scores`, which must be 0.
    fn score(&self, samples: &impl Rows, row: usize, memory: &mut Memory<'_>, scores: &mut [f32]) -> Result<()> {
        let (m, k) = (self.map.n_nodes(), scores.len());
        self.visit_scaled(samples, row, |column, _, scaled| {
            let weights = &self.weights[column * m * k..(column + 1) * m * k];
            for (read, weights) in memory.read(scaled).iter().zip(weights.chunks_exact(k)) {
                for (score, weight) in scores.iter_mut().zip(weights) {
                    *score += read * weight;
                }
            }
        })
    }

    /// The columns of a row that are not 0, their values, and their contributions to the decision values: read(x_j) ·
    /// a_j.
    pub(crate) fn contributions(&self, samples: &impl Rows, row: usize) -> Result<Vec<(usize, f64, Vec<f64>)>> {
        let (m, k) = (self.map.n_nodes(), self.n_problems());
        let (mut memory, mut all) = (Memory::new(&self.map), Vec::new());
        self.visit_scaled(samples, row, |column, value, scaled| {
            let mut sums = vec![0.0; k];
            let weights = self.weights[column * m * k..(column + 1) * m * k].chunks_exact(k);
            for (&read, weights) in memory.read(scaled).iter().zip(weights) {
                sums.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += f64::from(read) * f64::from(weight));
            }
            all.push((column, value, sums));
        })?;
        Ok(all)
    }

    /// Calls `visit` with the column, the value and the scaled value of a row's non-zeros.
    #[inline]
    fn visit_scaled(&self, samples: &impl Rows, row: usize, visit: impl FnMut(usize, f64, f32)) -> Result<()> {
        let factors = self.scaling.as_ref().map(FeatureMax::factors);
        each_scaled(samples, row, factors, "is beyond single precision (once scaled as in training)", visit)
    }
}

impl Classifier for PowerMeanSvc {
    fn classes(&self) -> &[Label] {
        &self.task.classes
    }

    fn iterations(&self) -> &'static str {
        "epochs"
    }

    fn c(&self, _problem: usize) -> f64 {
        self.task.c
    }

    fn loss(&self) -> Loss {
        self.task.loss
    }

    /// In the features of the symmetric approximation; the polynomial approximation, which is not symmetric, has no such
    /// features.
    fn squared_norms(&self, _threads: usize) -> Result<Vec<f64>> {
        let expected = "nystroem: the polynomial approximation is not symmetric and has no norm";
        require(self.map.is_symmetric(), "approximation", self.map.approximation(), expected)?;
        let mut sums = vec![0.0; self.n_problems()];
        for weights in self.weights.chunks_exact(sums.len()) {
            weights.iter().zip(&mut sums).for_each(|(&weight, sum)| *sum += f64::from(weight).powi(2));
        }
        Ok(sums)
    }

    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        self.decision_function_with(&samples.rows("the power mean SVM")?, threads, monitor)
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
        if self.codes.len() < MAX_STORED_VALUES {
            self.codes.insert(x);
            self.table.extend_from_slice(&self.last[..m]);
        }
        &self.last[..m]
    }
}
