//! A linear SVM as the demo's yardstick: ½‖w‖² + C Σ max(0, 1 − y w·x)², one-vs-rest, no intercept, which is
//! what LIBLINEAR solves with `-s 1`; here by the library's Newton's method.

use widemargin::Result;
use widemargin::data::{DenseMatrix, Label, Labels};
use widemargin::monitor::Monitor;
use widemargin::problem::{Block, Intercept, LinearObjective, Loss, OneVsRest};
use widemargin::solve::newton::{self, NewtonSettings};

/// A trained linear SVM: a weight vector a class.
#[derive(Debug)]
pub struct LinearSvm {
    weights: Vec<f32>,
    classes: Vec<Label>,
}

impl LinearSvm {
    /// Trains on three or more classes until the relative duality gap of each is at most `tol`.
    pub fn fit(samples: &DenseMatrix<f64>, labels: &Labels, c: f64, tol: f64) -> Result<Self> {
        let values = samples.values.iter().map(|x| *x as f32).collect();
        let rows = DenseMatrix { values, n_rows: samples.n_rows, n_cols: samples.n_cols };
        let targets = OneVsRest::new(labels.codes(), labels.classes().len());
        let (blocks, costs, loss) = ([Block::from(rows.view()?)], vec![c; labels.len()], Loss::SquaredHinge);
        let mut objective = LinearObjective::new(&blocks, targets, &costs, loss, Intercept::None, 1)?;
        let settings = NewtonSettings { tol, threads: 1, ..NewtonSettings::default() };
        let weights = newton::solve(&mut objective, &settings, None, &Monitor::none())?.weights;
        Ok(LinearSvm { weights, classes: labels.classes().to_vec() })
    }

    /// The label of a sample.
    pub fn predict(&self, sample: &[f64]) -> &Label {
        let score = |w: &[f32]| w.iter().zip(sample).map(|(w, x)| f64::from(*w) * x).sum();
        let scores: Vec<f64> = self.weights.chunks_exact(sample.len()).map(score).collect();
        &self.classes[OneVsRest::decide(&scores)]
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        self.weights.len()
    }
}
