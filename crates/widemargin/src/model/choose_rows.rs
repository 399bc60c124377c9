//! Rows that stand for all: the samples on which parameters are chosen; and those from which Newton's method computes its
//! Hessian if reading all of them costs too much, whose features stay in memory, or are brought from other machines.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Labels;
use crate::tuning::{
    HESSIAN_ROWS_OF_CLASS, HESSIAN_ROWS_PER_FEATURE, MAX_HESSIAN_BYTES, MIN_HESSIAN_ROWS_PER_FEATURE, SAMPLES_PER_CLASS,
};

/// About `n_wanted` rows among those with a weight, ascending: at random, each class by size with a minimum; all if as
/// many are wanted as there are. Of more than `n_wanted` / 10 classes, that number of evenly spaced ones is
/// represented.
pub fn choose_rows(labels: &Labels, weights: &[f64], n_wanted: usize, seed: u64) -> Vec<usize> {
    let (n_classes, most) = (labels.classes().len(), (n_wanted / SAMPLES_PER_CLASS).max(2));
    if n_classes <= most || n_wanted >= labels.len() || labels.is_multilabel() {
        return choose_of_classes(labels, weights, n_wanted, SAMPLES_PER_CLASS, seed);
    }
    let is_chosen = |code: u32| {
        let place = (code as usize * most).div_ceil(n_classes);
        place < most && place * n_classes / most == code as usize
    };
    let rows: Vec<usize> = (0..weights.len()).filter(|&row| is_chosen(labels.codes()[row])).collect();
    let of_rows: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
    let some = choose_of_classes(&labels.select(&rows), &of_rows, n_wanted.min(rows.len()), SAMPLES_PER_CLASS, seed);
    some.into_iter().map(|at| rows[at]).collect()
}

/// The rows to bring from other machines, the same ones every time; `None` where the rows with a weight are fewer than
/// `fewest`, or too few to be worth it.
pub fn brought_rows(labels: &Labels, weights: &[f64], n_features: usize, fewest: usize) -> Option<Vec<usize>> {
    let n_present = weights.iter().filter(|weight| **weight > 0.0).count();
    let of_memory = MAX_HESSIAN_BYTES / (size_of::<f32>() * n_features.max(1));
    let n_wanted = (HESSIAN_ROWS_PER_FEATURE * n_features).min(of_memory).min(n_present / 4);
    let is_worth_it = n_present >= fewest && n_wanted >= MIN_HESSIAN_ROWS_PER_FEATURE * n_features;
    is_worth_it.then(|| choose_hessian_rows(labels, weights, n_wanted, 0))
}

/// Chooses about `n_wanted` rows among those with a weight, ascending: at random, each class by size with a minimum;
/// all where as many are wanted as there are.
pub fn choose_hessian_rows(labels: &Labels, weights: &[f64], n_wanted: usize, seed: u64) -> Vec<usize> {
    choose_of_classes(labels, weights, n_wanted, HESSIAN_ROWS_OF_CLASS, seed)
}

/// The same with a minimum of `few`, or all of a class that has fewer; with none, each class has its share.
fn choose_of_classes(labels: &Labels, weights: &[f64], n_wanted: usize, few: usize, seed: u64) -> Vec<usize> {
    let labels = &*labels.as_strata();
    let n_classes = labels.classes().len();
    let present = |row: usize| weights[row] > 0.0;
    let mut left = vec![0usize; n_classes];
    labels.codes().iter().enumerate().filter(|(row, _)| present(*row)).for_each(|(_, &c)| left[c as usize] += 1);
    let total: usize = left.iter().sum();
    let few = few.min(n_wanted / n_classes.max(1));
    let share = |size: usize| {
        let rest = n_wanted.saturating_sub(few * n_classes) as f64;
        size.min(few + (rest * size as f64 / total.max(1) as f64) as usize)
    };
    let is_whole = n_wanted == labels.len();
    let mut wanted: Vec<usize> = if is_whole { left.clone() } else { left.iter().map(|&size| share(size)).collect() };
    // Selection sampling: row by row, with the probability that yields exactly the wanted number.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows = Vec::with_capacity(wanted.iter().sum());
    for (row, &code) in labels.codes().iter().enumerate().filter(|(row, _)| present(*row)) {
        let class = code as usize;
        if rng.random_range(0..left[class]) < wanted[class] {
            wanted[class] -= 1;
            rows.push(row);
        }
        left[class] -= 1;
    }
    rows
}

/// The classes of some rows, and their costs, scaled so that each class has the total cost of all its samples. For
/// multilabel targets their sets, scaled so that the samples whose rarest label is the same have their total cost.
pub fn stand_ins(rows: &[usize], labels: &Labels, costs: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let strata = labels.as_strata();
    let of_row = |row: usize| strata.codes()[row] as usize;
    let (mut all, mut here) = (vec![0.0; strata.classes().len()], vec![0.0; strata.classes().len()]);
    costs.iter().enumerate().for_each(|(row, cost)| all[of_row(row)] += cost);
    rows.iter().for_each(|&row| here[of_row(row)] += costs[row]);
    let stands = |&row: &usize| costs[row] * (all[of_row(row)] / here[of_row(row)]);
    (rows.iter().map(|&row| labels.codes()[row]).collect(), rows.iter().map(stands).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_classes_some_are_represented_by_several() {
        // 700 classes of 7, and 30 of 100.
        for (n_classes, per, n_represented) in
            [(700u32, 7, 100), (30, 100, 30), (101, 40, 100), (2000, 2, 100), (1000, 1, 1000)]
        {
            let n = n_classes as usize * per;
            let names = (0..i64::from(n_classes)).map(Into::into).collect();
            let labels = Labels::from_codes(names, (0..n as u32).map(|row| row % n_classes).collect()).unwrap();
            let rows = choose_rows(&labels, &vec![1.0; n], 1000, 3);
            let mut classes: Vec<u32> = rows.iter().map(|&row| labels.codes()[row]).collect();
            assert!(rows.is_sorted() && rows.len() <= 1000, "{}", rows.len());
            classes.sort_unstable();
            classes.dedup();
            assert_eq!(classes.len(), n_represented, "{n_classes} classes of {per}");
            assert!(rows.len() >= n_represented * per.min(9), "{} of {n_classes} classes", rows.len());
        }
    }

    #[test]
    fn rows_are_of_all_classes() {
        let labels = Labels::new((0..10_000).map(|i| i64::from(i % 500 == 3)));
        let mut weights = vec![1.0; 10_000];
        weights[503] = 0.0;
        let rows = choose_hessian_rows(&labels, &weights, 1000, 7);
        assert!(rows.is_sorted() && rows.len() <= 1000 && rows.len() > 900, "{}", rows.len());
        let rare = rows.iter().filter(|row| *row % 500 == 3).count();
        assert_eq!(rare, 19, "all with a weight");
        assert_eq!(choose_hessian_rows(&labels, &weights, 10_000, 7).len(), 9999);
        let (codes, costs) = stand_ins(&rows, &labels, &weights);
        for (class, total) in [(0, 9980.0), (1, 19.0)] {
            let sum: f64 = codes.iter().zip(&costs).filter(|(code, _)| **code == class).map(|(_, cost)| cost).sum();
            assert!((sum - total).abs() < 1e-9, "{sum} instead of {total}");
        }
    }

    #[test]
    fn rows_are_brought_where_they_are_worth_it() {
        let labels = Labels::new((0..10_000).map(|i| i64::from(i % 2 == 0)));
        let brought =
            |n_features, fewest| brought_rows(&labels, &[1.0; 10_000], n_features, fewest).map(|rows| rows.len());
        assert!(brought(50, 1000).is_some_and(|n| (1590..=1600).contains(&n)));
        assert!(brought(500, 1000).is_some_and(|n| (2490..=2500).contains(&n)));
        assert_eq!((brought(700, 1000), brought(50, 10_001)), (None, None));
    }
}
