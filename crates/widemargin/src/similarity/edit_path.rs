//! The edits that turn one string into another: the path of an edit distance.

use super::comparison::{Comparison, MAX_CELLS, PathStep, Pieces};

/// The costs of edits, and the quantity that their path counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edits {
    /// To insert, to delete, to substitute.
    pub costs: [f64; 3],
    /// Whether neighbors may be swapped at a cost of 1.
    pub swaps: bool,
    /// Whether the shares are the characters in common, not the costs.
    pub in_common: bool,
}

/// The path from the basis x to the sample y; `None` for strings whose table would be too large.
pub(super) fn path(edits: Edits, x: &[u32], y: &[u32]) -> Option<Comparison> {
    let Edits { costs: [insert, delete, substitute], swaps, in_common } = edits;
    let (m, n) = (x.len(), y.len());
    if (m + 1).saturating_mul(n + 1) > MAX_CELLS {
        return None;
    }
    let width = n + 1;
    let mut table = vec![0.0f64; (m + 1) * width];
    let pair = |i: usize, j: usize| if x[i] == y[j] { 0.0 } else { substitute };
    let is_swapped = |i: usize, j: usize| {
        swaps && i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] && x[i - 1] != y[j - 1]
    };
    for i in 0..=m {
        for j in 0..=n {
            let mut least = if i + j == 0 { 0.0 } else { f64::INFINITY };
            if i > 0 {
                least = least.min(table[(i - 1) * width + j] + delete);
            }
            if j > 0 {
                least = least.min(table[i * width + j - 1] + insert);
            }
            if i > 0 && j > 0 {
                least = least.min(table[(i - 1) * width + j - 1] + pair(i - 1, j - 1));
            }
            if is_swapped(i, j) {
                least = least.min(table[(i - 2) * width + j - 2] + 1.0);
            }
            table[i * width + j] = least;
        }
    }
    let (mut path, mut i, mut j) = (Vec::new(), m, n);
    while i + j > 0 {
        // Costs are whole numbers, so that the comparisons are exact.
        let here = table[i * width + j];
        let step = |basis: Option<usize>, sample: Option<usize>, share: f64| PathStep { basis, sample, share };
        if i > 0 && j > 0 && table[(i - 1) * width + j - 1] + pair(i - 1, j - 1) == here {
            // A character for which another is deleted and inserted is no pair.
            if substitute == 2.0 && insert + delete == 2.0 && x[i - 1] != y[j - 1] {
                path.push(step(None, Some(j - 1), insert));
                path.push(step(Some(i - 1), None, delete));
            } else {
                path.push(step(Some(i - 1), Some(j - 1), pair(i - 1, j - 1)));
            }
            (i, j) = (i - 1, j - 1);
        } else if is_swapped(i, j) && table[(i - 2) * width + j - 2] + 1.0 == here {
            path.push(step(Some(i - 1), Some(j - 2), 0.0));
            path.push(step(Some(i - 2), Some(j - 1), 1.0));
            (i, j) = (i - 2, j - 2);
        } else if i > 0 && table[(i - 1) * width + j] + delete == here {
            path.push(step(Some(i - 1), None, delete));
            i -= 1;
        } else {
            path.push(step(None, Some(j - 1), insert));
            j -= 1;
        }
    }
    path.reverse();
    if in_common {
        let is_pair = |step: &PathStep| step.basis.is_some() && step.sample.is_some();
        path.iter_mut().for_each(|step| step.share = f64::from(u8::from(is_pair(step))));
        return Some(Comparison::of("characters in common", Pieces::Characters { path }));
    }
    Some(Comparison::of("cost of the edits", Pieces::Characters { path }))
}
