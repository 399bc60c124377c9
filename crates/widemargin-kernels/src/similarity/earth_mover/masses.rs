//! Histograms as masses that are whole numbers: sums and differences of them are exact in double precision.

/// The mass of a histogram. It is 2⁴⁴: sums of 512 of them are exact, and rounding is far below single precision.
pub(super) const TOTAL: f64 = (1u64 << 44) as f64;

/// Appends the masses of a row of values that are finite and at least 0: its shares, so that they add up to [`TOTAL`],
/// or 0 if all of them are. Columns that the row lacks are 0.
pub(super) fn append(row: &[f32], n_bins: usize, masses: &mut Vec<f64>) {
    let begin = masses.len();
    let sum: f64 = row.iter().map(|x| f64::from(*x)).sum();
    let values = row.iter().copied().chain(std::iter::repeat(0.0)).take(n_bins);
    if sum == 0.0 {
        masses.extend(values.map(|_| 0.0));
        return;
    }
    masses.extend(values.map(|x| (f64::from(x) / sum * TOTAL).round()));
    // The remainder of rounding, at most half a unit per bin, goes to the largest.
    let masses = &mut masses[begin..];
    let left = TOTAL - masses.iter().sum::<f64>();
    let largest = (0..n_bins).fold(0, |largest, bin| if masses[bin] > masses[largest] { bin } else { largest });
    masses[largest] += left;
}

/// Whether a histogram has nothing in it.
pub(super) fn is_empty(masses: &[f64]) -> bool {
    masses.iter().all(|mass| *mass == 0.0)
}
