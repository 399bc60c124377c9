//! The earth mover's distance on a circle.
//!
//! The flow from bin k to the next is D_k = Σ_{j ≤ k} (x_j − y_j) less a constant, the flow from the last to the first,
//! and Σ |D_k − c| is least where c is the median of D (Werman, Peleg and Rosenfeld, *A distance metric for
//! multidimensional histograms*, 1985; Rabin, Delon and Gousseau, *Circular earth mover's distance for the comparison
//! of local features*, 2008).

/// Writes to `passed` the flow from each bin to the next, negative for the opposite direction. The masses are integers
/// with the same sum.
pub(super) fn passes(x: &[f64], y: &[f64], passed: &mut Vec<f64>) {
    cumulate(x, y, passed);
    let median = median(&mut passed.clone());
    passed.iter_mut().for_each(|passed| *passed -= median);
}

/// The least work, Σ |D_k − c|: per bin a subtraction and an addition to cumulate, a selection, a subtraction and an
/// addition.
pub(super) fn work(x: &[f64], y: &[f64], passed: &mut Vec<f64>) -> f64 {
    // From the histogram that has more in the first bin where they differ, so that turning the pair changes no bit.
    let Some(first) = x.iter().zip(y).position(|(x, y)| x != y) else { return 0.0 };
    let (x, y) = if x[first] > y[first] { (x, y) } else { (y, x) };
    cumulate(x, y, passed);
    let median = median(passed);
    passed.iter().map(|passed| (passed - median).abs()).sum()
}

fn cumulate(x: &[f64], y: &[f64], sums: &mut Vec<f64>) {
    let mut sum = 0.0;
    sums.clear();
    sums.extend(x.iter().zip(y).map(|(x, y)| {
        sum += x - y;
        sum
    }));
}

/// One of the two in the middle, if there are two.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}
