//! Helpers of the tests of similarities of sequences and sets.

use super::{Similarity, pairwise};
use crate::data::Samples;
use crate::error::Result;
use crate::spec::{Spec, Step};

/// The similarity of a spec that is right.
pub(crate) fn of<S>(spec: &str, from_step: impl Fn(&Step) -> Result<S>) -> S {
    let spec: Spec = spec.parse().unwrap();
    from_step(&spec.steps[0]).unwrap()
}

/// The block agrees with the definition, pair by pair: `right` of (basis, sample).
pub(crate) fn agrees<T, S>(similarity: &S, bases: &Vec<T>, samples: &Vec<T>, right: impl Fn(&T, &T) -> f64)
where
    T: Clone + Send + Sync + std::fmt::Debug,
    S: Similarity<Samples = Vec<T>>,
{
    let pairs = |sample: usize, basis: usize| right(&bases[basis], &samples[sample]);
    agrees_by_number(similarity, bases, samples, pairs);
}

/// As [`agrees`] for any collection: `right` of the indices of (sample, basis).
pub(crate) fn agrees_by_number<S: Similarity>(
    similarity: &S,
    bases: &S::Samples,
    samples: &S::Samples,
    right: impl Fn(usize, usize) -> f64,
) {
    let block = pairwise(similarity, bases, samples).unwrap();
    for sample in 0..samples.len() {
        for basis in 0..bases.len() {
            let (found, right) = (f64::from(block[sample * bases.len() + basis]), right(sample, basis));
            let spec = similarity.spec();
            let close = (found - right).abs() <= 2e-5 * right.abs().max(1.0);
            assert!(close, "{spec}: sample {sample}, basis {basis}: {found}, not {right}");
        }
    }
}

/// Any chunk and any choice and order of bases gives the same bits; returns the block.
pub(crate) fn chunks_change_nothing<S: Similarity>(
    similarity: &S,
    bases: &S::Samples,
    samples: &S::Samples,
) -> Vec<f32> {
    let whole = pairwise(similarity, bases, samples).unwrap();
    let n = bases.len();
    for size in [1, 3] {
        for from in (0..samples.len()).step_by(size) {
            let rows: Vec<usize> = (from..samples.len().min(from + size)).collect();
            let piece = pairwise(similarity, bases, &samples.select(&rows)).unwrap();
            assert_eq!(piece, whole[from * n..(from + rows.len()) * n], "{} from sample {from}", similarity.spec());
        }
    }
    // Backwards and without the first: every basis stands elsewhere.
    let order: Vec<usize> = (1..n).rev().collect();
    let turned = pairwise(similarity, &bases.select(&order), samples).unwrap();
    for sample in 0..samples.len() {
        for (at, &basis) in order.iter().enumerate() {
            let (found, right) = (turned[sample * order.len() + at], whole[sample * n + basis]);
            assert_eq!(found.to_bits(), right.to_bits(), "{}: {sample}, {basis}", similarity.spec());
        }
    }
    whole
}
