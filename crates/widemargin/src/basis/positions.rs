//! The number of bases per class, and which of its samples they are.

use crate::data::samples_at;

/// Splits `n` among classes in proportion to `wishes`, none above its size; the remainder from rounding goes to the
/// largest fractions, the earlier class winning ties. `n` is at most the sum of the sizes.
pub(super) fn shares(n: usize, wishes: &[f64], sizes: &[usize]) -> Vec<usize> {
    let mut shares = vec![0; wishes.len()];
    let mut open: Vec<usize> = (0..wishes.len()).filter(|&class| sizes[class] > 0 && wishes[class] > 0.0).collect();
    let mut left = n;
    // Classes too small for their share take all they have; the others split the rest again.
    loop {
        let total: f64 = open.iter().map(|&class| wishes[class]).sum();
        let full = |class: usize| left as f64 * wishes[class] / total >= sizes[class] as f64;
        let (filled, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|class| full(**class));
        if filled.is_empty() || rest.is_empty() {
            let exact = |class: usize| (left as f64 * wishes[class] / total).min(sizes[class] as f64);
            open.iter().for_each(|&class| shares[class] = exact(class).floor() as usize);
            let mut short = left - open.iter().map(|&class| shares[class]).sum::<usize>().min(left);
            let mut order = open.clone();
            let fraction = |class: usize| exact(class) - exact(class).floor();
            order.sort_by(|&a, &b| fraction(b).total_cmp(&fraction(a)).then(a.cmp(&b)));
            while short > 0 {
                let before = short;
                for &class in &order {
                    if short > 0 && shares[class] < sizes[class] {
                        shares[class] += 1;
                        short -= 1;
                    }
                }
                if short == before {
                    break;
                }
            }
            return shares;
        }
        filled.iter().for_each(|&class| shares[class] = sizes[class]);
        left -= filled.iter().map(|&class| sizes[class]).sum::<usize>();
        open = rest;
    }
}

/// `k` of a class's rows at the positions ⌊i·n/k⌋, counting each row as often as its weight: a row of weight 2 takes
/// the positions of two copies.
pub(super) fn evenly_spaced(rows: &[usize], weights: &[f64], k: usize) -> Vec<usize> {
    let total: f64 = rows.iter().map(|&row| weights[row]).sum();
    let places = (0..k).map(|i| i as f64 * total / k as f64);
    samples_at(|at| weights[rows[at]], rows.len(), places).into_iter().map(|at| rows[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn positions_are_evenly_spaced() {
        let rows: Vec<usize> = (0..10).map(|i| 3 * i).collect();
        assert_eq!(evenly_spaced(&rows, &[1.0; 28], 4), [0, 6, 15, 21]);
        // A weight of two is two copies side by side.
        let mut weights = vec![1.0; 28];
        weights[0] = 2.0;
        let copied = [0, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27];
        assert_eq!(evenly_spaced(&rows, &weights, 4), evenly_spaced(&copied, &[1.0; 28], 4));
    }

    #[test]
    fn small_classes_give_all_their_samples() {
        assert_eq!(shares(10, &[1.0; 3], &[2, 100, 100]), [2, 4, 4]);
        assert_eq!(shares(10, &[1.0; 3], &[100, 100, 100]), [4, 3, 3]);
        assert_eq!(shares(10, &[1.0, 0.0, 1.0], &[6, 0, 4]), [6, 0, 4]);
        assert_eq!(shares(4, &[9.0, 1.0], &[900, 100]), [4, 0]);
    }

    proptest! {
        #[test]
        fn shares_sum_up(sizes in proptest::collection::vec(0usize..40, 1..12), n in 1usize..200, even: bool) {
            let all: usize = sizes.iter().sum();
            prop_assume!(n <= all);
            let wishes: Vec<f64> = sizes.iter().map(|&s| if even { f64::from(u8::from(s > 0)) } else { s as f64 }).collect();
            let shares = shares(n, &wishes, &sizes);
            prop_assert_eq!(shares.iter().sum::<usize>(), n);
            prop_assert!(shares.iter().zip(&sizes).all(|(share, size)| share <= size));
        }
    }
}
