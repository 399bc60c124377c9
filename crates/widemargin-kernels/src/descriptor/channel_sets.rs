//! Random sets of channels whose sum is convolved.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The largest set.
const LARGEST: usize = 9;

/// n sets of at most nine channels, as MiniRocket draws them: 2^u of them, rounded down, u uniform from 0 to
/// log₂(most + 1).
pub(super) fn draw(n: usize, channels: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let most = channels.min(LARGEST);
    let most_exponent = ((most + 1) as f64).log2();
    let mut all: Vec<usize> = (0..channels).collect();
    let mut combination = || {
        let size = ((most_exponent * random.random::<f64>()).exp2() as usize).clamp(1, most);
        for at in 0..size {
            let other = random.random_range(at..channels);
            all.swap(at, other);
        }
        let mut set = all[..size].to_vec();
        set.sort_unstable();
        set
    };
    (0..n).map(|_| combination()).collect()
}

/// The numbers of a state: that of channels, then each set with its size before it.
pub(super) fn to_numbers(n_channels: usize, sets: &[Vec<usize>]) -> Vec<f32> {
    let of_sets = sets.iter().flat_map(|set| std::iter::once(set.len()).chain(set.iter().copied()));
    std::iter::once(n_channels).chain(of_sets).map(|number| number as f32).collect()
}

/// The number of channels and the sets, from the numbers of a state; none where they are not such sets.
pub(super) fn from_numbers(numbers: &[f32]) -> Option<(usize, Vec<Vec<usize>>)> {
    let numbers = whole_numbers(numbers)?;
    let (&n_channels, mut rest) = numbers.split_first()?;
    let mut sets = Vec::new();
    while let Some((&size, after)) = rest.split_first() {
        let (set, after) = after.split_at_checked(size)?;
        if set.is_empty() || set.iter().any(|&channel| channel >= n_channels) {
            return None;
        }
        sets.push(set.to_vec());
        rest = after;
    }
    (n_channels > 0).then_some((n_channels, sets))
}

/// Numbers of a state as the whole numbers that they are; none where one is not.
pub(super) fn whole_numbers(numbers: &[f32]) -> Option<Vec<usize>> {
    // Up to 2^24 each is itself.
    let whole = |value: &f32| (*value >= 0.0 && *value <= 16_777_216.0).then_some(*value as usize);
    numbers.iter().map(whole).collect()
}
