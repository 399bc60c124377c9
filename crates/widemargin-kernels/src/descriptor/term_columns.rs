//! Terms that are known by a hash, and the columns that they have in sparse vectors.

use rustc_hash::FxHashMap;

/// The bits of a hash, which fit two single-precision numbers: n distinct terms have n²/2⁴⁹ collisions.
const BITS: u32 = 48;

/// The column of each term.
pub(super) type Columns = FxHashMap<u64, u32>;

/// In how many samples each term is.
pub(super) type Counts = FxHashMap<u64, f64>;

/// The part of a hash by which a term is known.
pub(super) fn cut(hash: u64) -> u64 {
    hash >> (u64::BITS - BITS)
}

/// Terms as the numbers of a model file: their upper halves, and their lower ones.
pub(super) fn halves_of(terms: impl Iterator<Item = u64> + Clone) -> [Vec<f32>; 2] {
    let low = (1 << (BITS / 2)) - 1;
    [terms.clone().map(|term| (term >> (BITS / 2)) as f32).collect(), terms.map(|term| (term & low) as f32).collect()]
}

/// The columns of terms from [`halves_of`] them; none where they are damaged: terms ascend.
pub(super) fn columns_of(high: &[f32], low: &[f32]) -> Option<Columns> {
    let number = |half: f32| (half >= 0.0 && half < (1u64 << (BITS / 2)) as f32).then_some(half as u64);
    let whole = |(high, low): (&f32, &f32)| Some(number(*high)? << (BITS / 2) | number(*low)?);
    let terms = high.iter().zip(low).map(whole).collect::<Option<Vec<u64>>>()?;
    let is_sound = high.len() == low.len() && terms.is_sorted_by(|a, b| a < b);
    is_sound.then(|| terms.into_iter().zip(0..).collect())
}
