//! The samples on which parameters are chosen.

use super::basis_expansion::choose_of_classes;
use crate::data::Labels;
use crate::tuning::SAMPLES_PER_CLASS;

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
}
