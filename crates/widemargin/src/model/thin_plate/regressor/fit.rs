//! The fit of a smoothing spline.

use super::super::choose::{Choice, KernelPoint};
use super::super::kernel_blocks::dense_rows;
use super::super::params::ThinPlateRegressorParams;
use super::super::remarks::{crowded, dependent};
use super::super::spline::Spline;
use super::task::{Solved, Task, exact_bytes};
use super::{SplineRegression, ThinPlateRegressor};
use crate::data::{Distinct, PickedRows, Rows, Targets, WeightedCodes, fingerprints};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::regression_path::{StandardTargets, closed_form_report};
use crate::model::within_limit::{Part, TrainingSet, fit_samples};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Loss;
use crate::search::Tried;
use crate::solve::Stage;

impl ThinPlateRegressorParams {
    /// Trains on samples and their targets.
    ///
    /// # Errors
    /// See [`ThinPlateRegressorParams::fit_with`].
    pub fn fit(&self, samples: &impl Rows, targets: &Targets) -> Result<ThinPlateRegressor> {
        self.fit_with(samples, targets, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples does not matter (except for
    /// [`ThinPlateBasis::Index`](crate::model::ThinPlateBasis::Index)): all bit for bit.
    ///
    /// The leave-one-out errors in the model are exact, as from refits without one copy of each sample; with `n_basis`,
    /// from refits on the same bases. If a time limit does not allow a fit on all samples, the model is fitted to a
    /// subset, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, shapes, values or targets, with their names and the expected values; [`Error::Parameter`] on
    /// `n_basis`, with the size, if the kernel matrix does not fit in memory, and on `C` if it is to be selected and
    /// each sample is fitted regardless of the others; [`Error::Cancelled`] if the monitor cancelled;
    /// [`Error::TooShort`] if its time limit passed before a fit on few samples.
    pub fn fit_with(
        &self,
        samples: &impl Rows,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<ThinPlateRegressor> {
        Ok(self.fit_tried(samples, targets, sample_weight, monitor)?.0)
    }

    /// The same, with the results of each kernel and scaling, if there was a choice.
    ///
    /// # Errors
    /// As for [`ThinPlateRegressorParams::fit_with`].
    pub(crate) fn fit_tried(
        &self,
        samples: &impl Rows,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateRegressor, Vec<Tried<KernelPoint>>)> {
        self.check()?;
        let n = samples.n_rows();
        let weights = targets.weights(n, sample_weight)?;
        let n_basis = self.basis_size(n, 1);
        let fit = |part: Option<Part<'_, Targets>>, monitor: &Monitor<'_>| {
            let Some(Part { rows, known, sample_weight }) = part else {
                return self.fit_rows(TrainingSet { samples, known: targets, sample_weight }, monitor);
            };
            let (samples, sample_weight) = (&PickedRows { source: samples, rows }, sample_weight.as_deref());
            let set = TrainingSet { samples, known: &known, sample_weight };
            let (mut model, tried) = self.clone().n_basis(n_basis).fit_rows(set, monitor)?;
            model.of_picked(rows);
            Ok((model, tried))
        };
        let weights = (&weights[..], sample_weight);
        fit_samples(targets, weights, (n_basis, self.seed), monitor, fit, |(model, _)| &mut model.report)
    }

    fn fit_rows<R: Rows>(
        &self,
        set: TrainingSet<'_, R, Targets>,
        monitor: &Monitor<'_>,
    ) -> Result<(ThinPlateRegressor, Vec<Tried<KernelPoint>>)> {
        let TrainingSet { samples, known: targets, sample_weight } = set;
        let n_features = samples.n_cols();
        if n_features == 0 {
            return Err(Error::shape("samples", "no features", "at least one column"));
        }
        let weights = targets.weights(samples.n_rows(), sample_weight)?;
        let mut clock = Clock::start(monitor);
        let codes = targets.codes();
        let weighted = WeightedCodes { codes: &codes, weights: sample_weight, effective: &weights };
        let read = |rows: &[usize]| Ok(Some(fingerprints(samples, rows)));
        let distinct = Distinct::find(read, weighted, 0, self.threads, monitor)?;
        let pool = Pool::new(self.threads)?;
        let task = Task {
            params: self,
            rows: dense_rows(samples, &distinct.rows, n_features)?,
            n_features,
            targets: targets.of_rows(&distinct.rows),
            weights: distinct.weights.clone(),
            units: distinct.removed_weights_of_targets(&codes),
            pool: &pool,
            monitor,
        };
        clock.end("merge")?;
        let Choice { kernel, factors, solved, tried, mut warnings, note } = task.choose()?;
        if !tried.is_empty() {
            clock.end("choice")?;
        }
        let n_basis = task.n_basis();
        let solved = match (n_basis, solved) {
            // Where all samples were compared, the same fit has been solved.
            (None, Some(solved)) => solved,
            (None, None) => task.exact(kernel, factors.as_deref(), monitor)?,
            (Some(n_basis), _) => task.on_bases(kernel, factors.as_deref(), n_basis, &distinct.in_callers_order())?,
        };
        clock.end_solved("solve")?;
        let n = task.weights.len();
        if self.n_basis.is_none() && n > self.exact_up_to {
            warnings.push(crowded((n, 1), exact_bytes(n)));
        }
        let bases = n_basis.map_or_else(|| "none".into(), |_| self.basis.to_string());
        let training = TrainingSettings { seed: self.seed, basis: Some(bases), ..TrainingSettings::default() };

        let basis_rows = solved.basis_rows.iter().map(|&i| distinct.rows[i]).collect();
        let mut model = Solved { basis_rows, ..solved }.into_model(n, training, clock.stages);
        model.spline.scale = factors;
        model.report.notes.extend(note);
        model.report.warnings.splice(0..0, warnings);
        Ok((model, tried))
    }
}

impl Solved {
    /// The model of n samples, in the unit of the targets; without factors of columns.
    pub fn into_model(self, n: usize, training: TrainingSettings, stages: Vec<Stage>) -> ThinPlateRegressor {
        let (k, space) = (self.alphas.len(), &self.basis.space);
        let mut report = closed_form_report(&self.half_norms, n, stages);
        report.warnings.extend(dependent(self.basis.kernel, space.n_monomials(), self.rank));
        report.warnings.extend(self.chosen.warning(&self.standard));
        let StandardTargets { means, scales, .. } = &self.standard;
        let restored = |functions: &[Vec<f64>]| {
            let one = |(values, scale): (&Vec<f64>, &f64)| values.iter().map(|x| x * scale).collect::<Vec<f64>>();
            functions.iter().zip(scales).flat_map(one).collect::<Vec<f64>>()
        };
        let mut polynomial = restored(&self.betas);
        // The first monomial is the constant.
        polynomial.iter_mut().step_by(space.n_monomials()).zip(means).for_each(|(constant, mean)| *constant += mean);
        let (coefficients, basis_rows) =
            (restored(&self.alphas), self.basis_rows.iter().map(|&row| row as u64).collect());
        let spline = Spline { basis: self.basis, scale: None, basis_rows, coefficients, polynomial, n_functions: k };
        let task = SplineRegression {
            loss: Loss::SquaredError,
            c: self.chosen.c(),
            lambda: self.lambda,
            rank: self.rank,
            n_outputs: k,
            path: self.chosen.path,
        };
        ThinPlateRegressor { spline, task, report, origin: Origin::of(training) }
    }
}
