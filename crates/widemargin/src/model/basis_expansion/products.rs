//! Products of samples' features with weights, without the features where that is less work.

use super::expansion_model::{ExpansionModel, ExpansionTask};
use crate::data::Source;
use crate::error::Result;
use crate::expansion::Decision;
use crate::linalg;
use crate::model::Scores;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::Similarity;

impl<S: Similarity, T: ExpansionTask> ExpansionModel<S, T> {
    /// w·φ(x) of each sample, samples × problems: from the form of the weights in which that is less work, if there is
    /// one, else from the weights, `[problem][feature]`.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it. The monitor receives progress and
    /// may cancel.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`](crate::Error::Similarity) for a non-finite value, naming the pair;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn products(
        &self,
        (decision, weights): (Option<&Decision>, &[f32]),
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f32>> {
        let (expansion, n, k) = (&self.expansion, samples.n_samples(), self.task.n_problems());
        Scores::check_memory(n, k)?;
        let mut values = vec![0.0f32; n * k];
        let chunk_rows = expansion.chunk_rows();
        let mut chunks: Vec<&mut [f32]> = values.chunks_mut(chunk_rows * k).collect();
        let pool = Pool::new(if n <= chunk_rows { 1 } else { threads })?;
        let count = RowCount::new(monitor, "predict", n);
        let work = |at: usize, out: &mut &mut [f32]| {
            count.go_on()?;
            let rows = at * chunk_rows..((at + 1) * chunk_rows).min(n);
            let chunk = || expansion.read(samples, rows.clone());
            match decision {
                Some(Decision::Folded(folded)) => {
                    let mut mapped = vec![0.0; rows.len() * folded.width()];
                    expansion.folded_into(folded, chunk()?, rows.start, &mut mapped)?;
                    folded.values(&mapped, out);
                }
                Some(Decision::Sparse(sparse)) => sparse.values(&expansion.sparse_rows(chunk()?, rows.start)?, out)?,
                None => {
                    let d = expansion.n_features();
                    let mut phi = vec![0.0f32; rows.len() * d];
                    expansion.features_into(chunk()?, rows.start, &mut phi)?;
                    linalg::outer(out, &phi, weights, d);
                }
            }
            count.add(rows.len());
            Ok(())
        };
        pool.map_mut(&mut chunks, work).into_iter().collect::<Result<()>>()?;
        Ok(values)
    }

    /// The same of weights in double precision: each output's are divided by the largest of them, so that they are within
    /// single precision. The form of the weights that is used is computed once.
    pub(super) fn precise_products(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        let (d, k) = (self.expansion.n_features(), self.task.n_problems());
        let weights: Vec<f64> = self.task.weights().iter().map(|&weight| weight.into()).collect();
        let scale = |output: usize| {
            let most = weights[output * d..][..d].iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
            if most > 0.0 { most } else { 1.0 }
        };
        let scales: Vec<f64> = (0..k).map(scale).collect();
        let decision = self.decision.get_or_init(|| {
            let scaled: Vec<f64> =
                weights.iter().enumerate().map(|(at, weight)| weight / scales[at / d.max(1)]).collect();
            Some(self.expansion.decision(&scaled, k))
        });
        let products = self.products((decision.as_ref(), &[]), samples, threads, monitor)?;
        Ok(products.iter().enumerate().map(|(at, product)| f64::from(*product) * scales[at % k]).collect())
    }
}
