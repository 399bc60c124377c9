//! Rows drawn without a generator: the same wherever they are looked at, whatever their order.

/// The final mixing step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which is a bijection.
pub fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The place of a row in its run of `length` rows, and the place that is drawn in that run.
fn places(row: usize, length: usize) -> (usize, usize) {
    let run = row / length;
    // 0 stays 0 when it is mixed.
    (row - run * length, (mixed(run as u64 + 1) % length as u64) as usize)
}

/// Whether a row is the one that is drawn of its run of `one_in` rows. Evenly spaced rows would see only some of the
/// classes of samples whose classes come in a period.
pub fn is_drawn(row: usize, one_in: usize) -> bool {
    let (place, drawn) = places(row, one_in);
    place == drawn
}

/// The fold of a row: each run of `n_folds` rows has one in every fold, in an order that is drawn. Of rows that are
/// dealt in turn, folds would be classes where these come in a period.
pub fn fold_of(row: usize, n_folds: usize) -> usize {
    let (place, drawn) = places(row, n_folds);
    (place + drawn) % n_folds
}

#[cfg(test)]
mod tests {
    use super::{fold_of, is_drawn};

    #[test]
    fn each_run_of_rows_has_one_in_every_fold() {
        for run in 0..50 {
            let mut folds: Vec<usize> = (run * 5..(run + 1) * 5).map(|row| fold_of(row, 5)).collect();
            folds.sort_unstable();
            assert_eq!(folds, [0, 1, 2, 3, 4]);
        }
    }

    #[test]
    fn folds_have_rows_of_every_period_alike() {
        for period in [2, 5, 10, 20] {
            let mut counts = vec![[0usize; 5]; period];
            (0..20_000).for_each(|row| counts[row % period][fold_of(row, 5)] += 1);
            // Five standard deviations.
            let mean = 20_000.0 / (5 * period) as f64;
            let most = 5.0 * (mean * 0.8).sqrt();
            assert!(counts.iter().flatten().all(|count| (*count as f64 - mean).abs() < most), "{period}: {counts:?}");
        }
    }

    #[test]
    fn one_row_of_each_run_is_drawn() {
        for one_in in [1, 2, 7, 10, 100] {
            for run in 0..50 {
                let drawn = (run * one_in..(run + 1) * one_in).filter(|&row| is_drawn(row, one_in)).count();
                assert_eq!(drawn, 1, "run {run} of {one_in}");
            }
        }
    }

    #[test]
    fn rows_of_every_period_are_drawn_alike() {
        for one_in in [5, 10, 40] {
            for period in [2, 5, 10, 20] {
                let mut counts = vec![0; period];
                (0..2000 * one_in).filter(|&row| is_drawn(row, one_in)).for_each(|row| counts[row % period] += 1);
                // 2,000 draws: five standard deviations.
                let (mean, share) = (2000.0 / period as f64, 1.0 / period as f64);
                let most = 5.0 * (2000.0 * share * (1.0 - share)).sqrt();
                assert!(counts.iter().all(|&n| (f64::from(n) - mean).abs() < most), "{one_in} {period} {counts:?}");
            }
        }
    }
}
