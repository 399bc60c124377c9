//! Products of samples' features with weights, without the features where that is less work.

use std::sync::OnceLock;

use crate::data::Source;
use crate::error::Result;
use crate::expansion::{BasisExpansion, Decision};
use crate::linalg;
use crate::model::Scores;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::Similarity;

/// w·φ(x) of each sample, samples × problems: from the form of the weights in which that is less work, if there is one,
/// else from the weights, `[problem][feature]`.
///
/// Uses `threads` threads, 0 meaning one per core; the values do not depend on it. The monitor receives progress and
/// may cancel.
///
/// # Errors
/// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair; [`Error::Cancelled`].
pub(super) fn products<S: Similarity>(
    expansion: &BasisExpansion<S>,
    (decision, weights): (Option<&Decision>, &[f32]),
    k: usize,
    samples: &dyn Source<Samples = S::Samples>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Vec<f32>> {
    let n = samples.n_samples();
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

/// The same of weights in double precision, `[output][feature]`: each output's are divided by the largest of them, so
/// that they are within single precision. The form of the weights that is used is computed once.
pub(super) fn precise_products<S: Similarity>(
    expansion: &BasisExpansion<S>,
    (once, weights): (&OnceLock<Option<Decision>>, &[f64]),
    k: usize,
    samples: &dyn Source<Samples = S::Samples>,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Vec<f64>> {
    let d = expansion.n_features();
    let scale = |output: usize| {
        let most = weights[output * d..][..d].iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
        if most > 0.0 { most } else { 1.0 }
    };
    let scales: Vec<f64> = (0..k).map(scale).collect();
    let decision = once.get_or_init(|| {
        let scaled: Vec<f64> = weights.iter().enumerate().map(|(at, weight)| weight / scales[at / d.max(1)]).collect();
        Some(expansion.decision(&scaled, k))
    });
    let products = products(expansion, (decision.as_ref(), &[]), k, samples, threads, monitor)?;
    Ok(products.iter().enumerate().map(|(at, product)| f64::from(*product) * scales[at % k]).collect())
}
