//! A trained basis expansion SVM.

use std::fmt;
use std::sync::OnceLock;

use crate::data::{DenseMatrix, Label, Labels, Samples, Source};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Decision};
use crate::linalg;
use crate::model::Scores;
use crate::model::origin::{Origin, tells_origin};
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::problem::{AnyLoss, Intercept, OneVsRest, n_problems};
use crate::similarity::Similarity;
use crate::solve::Report;

/// A basis expansion SVM: it holds its bases, and compares every sample with them alone.
#[derive(Clone)]
pub struct BasisExpansionSvc<S: Similarity> {
    pub(crate) expansion: BasisExpansion<S>,
    /// How the bases were chosen.
    pub(crate) basis: String,
    /// Which training samples they were; empty where they were given.
    pub(crate) basis_rows: Vec<usize>,
    pub(crate) c: f64,
    pub(crate) loss: AnyLoss,
    pub(crate) intercept: Intercept,
    pub(crate) classes: Vec<Label>,
    /// `[problem][feature]`.
    pub(crate) weights: Vec<f32>,
    pub(crate) intercepts: Vec<f64>,
    pub(crate) report: Report,
    /// The weights as prediction takes them, once they were asked for.
    pub(crate) decision: OnceLock<Option<Decision>>,
    pub(crate) origin: Origin,
}

impl<S: Similarity> BasisExpansionSvc<S> {
    // How many features its samples have, only their kind knows.
    tells_origin!(|_| None);

    /// Decision values of samples: one column for two classes (above 0 votes for the second), else one a class.
    ///
    /// `threads` work in parallel, 0 meaning one a core; the values do not depend on it.
    ///
    /// # Errors
    /// What the similarity meets; [`crate::Error::Similarity`] for a value that is not finite, naming the pair.
    pub fn decision_function(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Scores> {
        self.decision_function_with(samples, threads, &Monitor::none())
    }

    /// The same with a watch: it is told how many samples are done, and may cancel (a time limit is not heard).
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`]; [`Error::Cancelled`].
    pub fn decision_function_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Scores> {
        let (n, k) = (samples.n_samples(), n_problems(self.classes.len()));
        let decision = self.decision.get_or_init(|| self.expansion.decision(&self.weights, k)).as_ref();
        let (maps, d) = match decision {
            Some(decision) => (&decision.maps[..], decision.width()),
            None => (self.expansion.maps(), self.expansion.n_features()),
        };
        Scores::check_memory(n, k)?;
        let mut values = vec![0.0f32; n * k];
        let a_chunk = self.expansion.rows_a_chunk();
        let mut chunks: Vec<&mut [f32]> = values.chunks_mut(a_chunk * k).collect();
        let pool = Pool::new(if n <= a_chunk { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let work = |at: usize, out: &mut &mut [f32]| {
            count.go_on()?;
            let rows = at * a_chunk..((at + 1) * a_chunk).min(n);
            let mut phi = vec![0.0f32; rows.len() * d];
            self.expansion.mapped_into(maps, samples.chunk(rows.clone())?, rows.start, &mut phi)?;
            match decision {
                Some(decision) => decision.values(&phi, out),
                None => linalg::outer(out, &phi, &self.weights, d),
            }
            for row in out.chunks_mut(k) {
                row.iter_mut().zip(&self.intercepts).for_each(|(score, b)| *score = (f64::from(*score) + b) as f32);
            }
            count.add(rows.len());
            Ok(())
        };
        pool.map_mut(&mut chunks, work).into_iter().collect::<Result<()>>()?;
        Ok(Scores::new(values, k))
    }

    /// The predicted class of each sample.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`].
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<&Label>> {
        Ok(self.decision_function(samples, threads)?.decide(&self.classes))
    }

    /// The geometric margin 1/‖w‖ of each two-class problem: how far, in the normalised feature space, the points
    /// with decision values of ±1 are from the boundary. Infinite where all weights are 0.
    ///
    /// It is a distance between features φ(x), not between samples, and its unit is that of the normalization (under
    /// `mean-norm`, the mean distance of a sample from the centre). An intercept is no part of ‖w‖, penalised or not:
    /// it moves the boundary and does not turn it.
    pub fn margins(&self) -> Vec<f64> {
        self.norms().into_iter().map(|norm| 1.0 / norm).collect()
    }

    /// The signed distance y·f(x)/‖w‖ of each sample from the boundary of each two-class problem in the normalised
    /// feature space: samples × problems, above 0 where the sample is on its own side.
    ///
    /// `labels` has one a sample; y is 1 in the problem of the sample's class and −1 in the others (for two classes,
    /// 1 for the second). Where all weights are 0 the distance is infinite with the sign of y·f(x), or 0.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`]; [`Error::Shape`] where labels and samples differ in number;
    /// [`Error::Parameter`] for a label that is none of the classes trained.
    pub fn sample_margins(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        threads: usize,
    ) -> Result<DenseMatrix<f64>> {
        let n_rows = samples.n_samples();
        if labels.len() != n_rows {
            let (found, expected) = (format!("{} labels", labels.len()), format!("{n_rows}, one a sample"));
            return Err(Error::Shape { what: "labels".into(), found, expected });
        }
        let code = |label: &Label| {
            let known = self.classes.iter().position(|class| class == label);
            known.map(|code| code as u32).ok_or_else(|| Error::Parameter {
                name: "label",
                value: label.to_string(),
                expected: "one of the classes the machine was trained with".into(),
            })
        };
        let own: Vec<u32> = labels.classes().iter().map(code).collect::<Result<_>>()?;
        let codes: Vec<u32> = labels.codes().iter().map(|&code| own[code as usize]).collect();
        let (targets, norms) = (OneVsRest::new(&codes, self.classes.len()), self.norms());
        let scores = self.decision_function(samples, threads)?;
        let n_cols = norms.len();
        let margin = |(at, score): (usize, &f32)| {
            let (row, problem) = (at / n_cols, at % n_cols);
            let signed = targets.sign(row, problem) * f64::from(*score);
            if signed == 0.0 { 0.0 } else { signed / norms[problem] }
        };
        let values = scores.values().iter().enumerate().map(margin).collect();
        Ok(DenseMatrix { values, n_rows, n_cols })
    }

    /// ‖w‖ of each problem.
    fn norms(&self) -> Vec<f64> {
        let d = self.expansion.n_features();
        let norm =
            |k: usize| self.weights[k * d..(k + 1) * d].iter().map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
        (0..self.intercepts.len()).map(norm).collect()
    }

    /// The expansion: similarity, bases and normalization.
    pub fn expansion(&self) -> &BasisExpansion<S> {
        &self.expansion
    }

    /// How the bases were chosen.
    pub fn basis(&self) -> &str {
        &self.basis
    }

    /// Which training samples the bases were, one a basis; empty where they were given.
    pub fn basis_rows(&self) -> &[usize] {
        &self.basis_rows
    }

    /// Number of bases.
    pub fn n_bases(&self) -> usize {
        self.expansion.bases().len()
    }

    /// The classes, in the order of the decision values' columns.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// The weights, `[problem][feature]`.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The intercepts, one a problem.
    pub fn intercepts(&self) -> &[f64] {
        &self.intercepts
    }

    /// The weight C of the losses.
    pub fn c(&self) -> f64 {
        self.c
    }

    /// The loss.
    pub fn loss(&self) -> AnyLoss {
        self.loss
    }

    /// What is done about a constant in the decision function.
    pub fn intercept(&self) -> Intercept {
        self.intercept
    }

    /// The account of the fit.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionSvc<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionSvc")
            .field("expansion", &self.expansion)
            .field("classes", &self.classes)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
