//! Sets as bit vectors.

use crate::data::{BitSets, Samples};
use crate::error::{Error, Result};
use crate::similarity::{Comparison, Pieces};

/// The elements of both sets, and of each alone.
pub(super) fn comparison(basis: &BitSets, sample: &BitSets) -> Comparison {
    let (x, y) = (elements(basis.set(0)), elements(sample.set(0)));
    let only = |some: &[usize], others: &[usize], is_there: bool| {
        let elements = some.iter().filter(|element| others.binary_search(element).is_ok() == is_there);
        elements.copied().collect::<Vec<usize>>()
    };
    let pieces = Pieces::Bits { both: only(&x, &y, true), basis: only(&x, &y, false), sample: only(&y, &x, false) };
    Comparison::of("elements in common", pieces)
}

/// The elements of a set, ascending.
fn elements(set: &[u64]) -> Vec<usize> {
    let bits = set.iter().enumerate().flat_map(|(at, &word)| (0..64).map(move |bit| (64 * at + bit, word >> bit & 1)));
    bits.filter(|(_, bit)| *bit == 1).map(|(element, _)| element).collect()
}

fn sizes(sets: &BitSets) -> Vec<f32> {
    (0..sets.len()).map(|at| sets.set(at).iter().map(|word| word.count_ones()).sum::<u32>() as f32).collect()
}

/// block\[sample\]\[basis\] = value(|both|, |sample|, |basis|). Bits are elements: a collection with fewer bits lacks the
/// further elements.
///
/// # Errors
/// [`Error::Similarity`] of this spec for sets of more elements than are counted exactly.
pub(super) fn fill(
    spec: &str,
    bases: &BitSets,
    samples: &BitSets,
    block: &mut [f32],
    value: impl Fn(f32, f32, f32) -> f32,
) -> Result<()> {
    let n_bits = bases.n_bits().max(samples.n_bits());
    if n_bits > 1 << 24 {
        return Err(Error::similarity(spec, format!("{n_bits} bits: sets of at most 2^24 are counted exactly")));
    }
    let (of_bases, of_samples) = (sizes(bases), sizes(samples));
    common_bits(bases, samples, block);
    for (row, &x) in block.chunks_mut(bases.len().max(1)).zip(&of_samples) {
        for (entry, &y) in row.iter_mut().zip(&of_bases) {
            *entry = value(*entry, x, y);
        }
    }
    Ok(())
}

/// block\[sample\]\[basis\] = |sample ∩ basis|, with the best population count instructions available.
fn common_bits(bases: &BitSets, samples: &BitSets, block: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
            // SAFETY: the instructions are available.
            return unsafe { common_bits_avx512(bases, samples, block) };
        }
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the instruction is available.
            return unsafe { common_bits_popcnt(bases, samples, block) };
        }
    }
    pairs(bases, samples, block);
}

/// Eight words per step: two loads, an `and`, a count and an addition.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn common_bits_avx512(bases: &BitSets, samples: &BitSets, block: &mut [f32]) {
    pairs(bases, samples, block);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn common_bits_popcnt(bases: &BitSets, samples: &BitSets, block: &mut [f32]) {
    pairs(bases, samples, block);
}

/// The bases of a block (256 B each at 2048 bits) stay in the second-level cache across samples. One `and`, one count
/// and one addition per word of 64 elements; two words read.
#[inline(always)]
fn pairs(bases: &BitSets, samples: &BitSets, block: &mut [f32]) {
    let a_set = bases.n_bits().div_ceil(64);
    let shared = a_set.min(samples.n_bits().div_ceil(64));
    if shared == 0 {
        return block.fill(0.0);
    }
    for (sample, row) in block.chunks_mut(bases.len().max(1)).enumerate() {
        let sample = &samples.set(sample)[..shared];
        for (basis, entry) in bases.words().chunks_exact(a_set).zip(row) {
            let common: u64 = sample.iter().zip(&basis[..shared]).map(|(x, y)| u64::from((x & y).count_ones())).sum();
            *entry = common as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::AnySamples;
    use crate::similarity::sequence_tests::{agrees_by_number, chunks_change_nothing, of};
    use crate::similarity::{SetMeasure, pairwise};
    use proptest::prelude::*;

    fn sets(elements: &[Vec<usize>], n_bits: usize) -> BitSets {
        let a_set = n_bits.div_ceil(64);
        let mut words = vec![0; elements.len() * a_set];
        for (set, elements) in elements.iter().enumerate() {
            elements.iter().for_each(|&bit| words[set * a_set + bit / 64] |= 1 << (bit % 64));
        }
        BitSets::new(words, elements.len(), n_bits).unwrap()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            elements in prop::collection::vec(prop::collection::btree_set(0usize..200, 0..60), 2..7),
        ) {
            let elements: Vec<Vec<usize>> = elements.into_iter().map(|set| set.into_iter().collect()).collect();
            let sets = AnySamples::BitSets(sets(&elements, 200));
            let both = |i: usize, j: usize| elements[i].iter().filter(|e| elements[j].contains(e)).count() as f64;
            let size = |i: usize| elements[i].len() as f64;
            let right = |i: usize, j: usize| match size(i) + size(j) - both(i, j) {
                0.0 => 1.0,
                either => both(i, j) / either,
            };
            let tanimoto = of("tanimoto", SetMeasure::from_step);
            agrees_by_number(&tanimoto, &sets, &sets, right);
            let block = chunks_change_nothing(&tanimoto, &sets, &sets);
            let n = elements.len();
            for i in 0..n {
                prop_assert_eq!(block[i * n + i], 1.0);
                for j in 0..n {
                    prop_assert!((0.0..=1.0).contains(&block[i * n + j]));
                    prop_assert_eq!(block[i * n + j], block[j * n + i]);
                }
            }
            let right = |i: usize, j: usize| match (size(i) * size(j)).sqrt() {
                0.0 => f64::from(size(i) == size(j)),
                size => both(i, j) / size,
            };
            agrees_by_number(&of("cosine", SetMeasure::from_step), &sets, &sets, right);
        }
    }

    #[test]
    fn every_way_of_counting_is_the_same() {
        let words: Vec<u64> =
            (1..=120u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32)).collect();
        let sets = BitSets::new(words, 12, 640).unwrap();
        let (mut best, mut plain) = (vec![0.0; 144], vec![0.0; 144]);
        common_bits(&sets, &sets, &mut best);
        pairs(&sets, &sets, &mut plain);
        assert_eq!(best, plain);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the instruction is available.
            unsafe { common_bits_popcnt(&sets, &sets, &mut best) };
            assert_eq!(best, plain);
        }
    }

    #[test]
    fn sets_of_fewer_bits_have_none_of_the_further_ones() {
        let sets = |elements: &[Vec<usize>], n_bits| AnySamples::BitSets(sets(elements, n_bits));
        let (few, many) = (sets(&[vec![1, 3], vec![]], 64), sets(&[vec![1, 3, 700], vec![700], vec![1]], 701));
        let tanimoto = of("tanimoto", SetMeasure::from_step);
        let third = 2.0f32 / 3.0;
        assert_eq!(pairwise(&tanimoto, &few, &many).unwrap(), [third, 0.0, 0.0, 0.0, 0.5, 0.0]);
        assert_eq!(pairwise(&tanimoto, &many, &few).unwrap(), [third, 0.0, 0.5, 0.0, 0.0, 0.0]);
        let nothing = sets(&[vec![], vec![]], 0);
        assert_eq!(pairwise(&tanimoto, &nothing, &nothing).unwrap(), [1.0; 4]);
        let huge = sets(&[vec![1]], (1 << 24) + 1);
        assert!(pairwise(&tanimoto, &huge, &few).unwrap_err().to_string().contains("at most 2^24"));
    }
}
