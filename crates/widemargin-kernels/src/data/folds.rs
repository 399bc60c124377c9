//! Folds for cross-validation.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Labels;
use crate::error::{Error, Result};

/// The fold of each sample: `n_folds` folds of nearly equal size with the classes spread evenly.
///
/// The same seed gives the same folds on every machine.
///
/// # Errors
/// [`Error::Parameter`] for fewer than 2 folds or more folds than samples.
pub fn stratified_folds(labels: &Labels, n_folds: usize, seed: u64) -> Result<Vec<usize>> {
    if n_folds < 2 || n_folds > labels.len() {
        return Err(Error::parameter("folds", n_folds, format!("from 2 to the number of samples, {}", labels.len())));
    }
    let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); labels.classes().len()];
    for (row, &code) in labels.codes().iter().enumerate() {
        by_class[code as usize].push(row);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut folds = vec![0; labels.len()];
    // Dealing round-robin, continuing where the last class ended, also balances the fold sizes.
    let mut next = 0;
    for rows in &mut by_class {
        rows.shuffle(&mut rng);
        for &row in rows.iter() {
            folds[row] = next % n_folds;
            next += 1;
        }
    }
    Ok(folds)
}

/// The fold of each sample, such that no group of samples is split between folds: `groups` has the group of each
/// sample.
///
/// The groups are dealt one after another, the largest first and those of one size in an order that the seed gives.
/// Each goes to the fold that has the smallest share of its classes, Σ_c g_c n_c / N_c² with g_c samples of class c in
/// the group, n_c in the fold and N_c in all; of equal folds to the one with the fewest samples, then to the first.
/// This keeps Σ (n_c / N_c)² over folds and classes small, and no fold is empty.
///
/// The same seed gives the same folds on every machine.
///
/// # Errors
/// [`Error::Shape`] for another number of groups than labels, [`Error::Parameter`] for fewer than 2 folds or more folds
/// than groups.
pub fn grouped_folds(labels: &Labels, groups: &Labels, n_folds: usize, seed: u64) -> Result<Vec<usize>> {
    if groups.len() != labels.len() {
        let found = format!("a group for {} samples", groups.len());
        return Err(Error::shape("groups", found, format!("one for each of the {} samples", labels.len())));
    }
    let mut members = vec![Vec::new(); groups.classes().len()];
    groups.codes().iter().enumerate().for_each(|(row, &group)| members[group as usize].push(row));
    members.retain(|rows| !rows.is_empty());
    if n_folds < 2 || n_folds > members.len() {
        let expected = format!("from 2 to the number of groups, {}", members.len());
        return Err(Error::parameter("folds", n_folds, expected));
    }
    members.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    members.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    let n_classes = labels.classes().len();
    let count = |rows: &mut dyn Iterator<Item = usize>| {
        let mut counts = vec![0usize; n_classes];
        rows.for_each(|row| counts[labels.codes()[row] as usize] += 1);
        counts
    };
    let totals = count(&mut (0..labels.len()));
    let (mut counts, mut sizes) = (vec![vec![0usize; n_classes]; n_folds], vec![0usize; n_folds]);
    let mut folds = vec![0; labels.len()];
    for rows in &members {
        let group = count(&mut rows.iter().copied());
        let share = |fold: usize| {
            let of_class = |class: usize| {
                let total = totals[class].max(1) as f64;
                group[class] as f64 * counts[fold][class] as f64 / (total * total)
            };
            (0..n_classes).map(of_class).sum::<f64>()
        };
        let shares: Vec<f64> = (0..n_folds).map(share).collect();
        let better = |a: &usize, b: &usize| shares[*a].total_cmp(&shares[*b]).then(sizes[*a].cmp(&sizes[*b]));
        let fold = (0..n_folds).min_by(better).expect("there are at least two folds");
        rows.iter().for_each(|&row| folds[row] = fold);
        counts[fold].iter_mut().zip(&group).for_each(|(all, one)| *all += one);
        sizes[fold] += rows.len();
    }
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::FoldClasses;
    use proptest::prelude::*;

    #[test]
    fn folds_are_level_in_size_and_in_classes() {
        let labels = Labels::new((0..103).map(|i| i64::from(i % 7 == 0)));
        let folds = stratified_folds(&labels, 5, 1).unwrap();
        for fold in 0..5 {
            let size = folds.iter().filter(|f| **f == fold).count();
            let ones = (0..103).filter(|&i| folds[i] == fold && labels.codes()[i] == 1).count();
            assert!((20..=21).contains(&size), "{size}");
            assert!((3..=3).contains(&ones), "{ones}");
        }
        assert_eq!(folds, stratified_folds(&labels, 5, 1).unwrap());
        assert_ne!(folds, stratified_folds(&labels, 5, 2).unwrap());
        assert!(stratified_folds(&labels, 1, 0).is_err());
        assert!(stratified_folds(&labels, 104, 0).is_err());
    }

    #[test]
    fn groups_are_spread_by_their_classes() {
        // Two groups of each class, and one of both: by hand.
        let labels = Labels::new([0i64, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1]);
        let groups = Labels::new(["a", "a", "a", "b", "b", "b", "c", "c", "d", "d", "e", "e"]);
        for seed in 0..5 {
            let folds = grouped_folds(&labels, &groups, 2, seed).unwrap();
            assert_ne!(folds[0], folds[6], "the two groups of class 0");
            assert_ne!(folds[3], folds[8], "the two groups of class 1");
            assert_eq!(FoldClasses::new(&labels, Some(&groups), &folds).n_folds(), [2, 2]);
        }
        let folds = grouped_folds(&labels, &groups, 5, 0).unwrap();
        assert_eq!((0..5).filter(|fold| folds.contains(fold)).count(), 5);
        assert_eq!(FoldClasses::new(&labels, Some(&groups), &folds).n_folds(), [3, 3]);
    }

    #[test]
    fn rejects_more_folds_than_groups_and_a_missing_group() {
        let (labels, groups) = (Labels::new([0i64, 1, 0, 1]), Labels::new(["a", "b", "b", "a"]));
        let message = grouped_folds(&labels, &groups, 3, 0).unwrap_err().to_string();
        assert_eq!(message, "folds = 3 is not allowed: from 2 to the number of groups, 2");
        assert!(grouped_folds(&labels, &groups, 1, 0).is_err());
        let message = grouped_folds(&labels, &Labels::new(["a", "b"]), 2, 0).unwrap_err().to_string();
        assert!(message.contains("a group for 2 samples") && message.contains("each of the 4 samples"), "{message}");
        // A group without samples is none.
        let empty = Labels::from_codes(vec!["a".into(), "b".into(), "c".into()], vec![0, 1, 1, 0]).unwrap();
        assert!(grouped_folds(&labels, &empty, 3, 0).is_err());
        assert!(grouped_folds(&labels, &empty, 2, 0).is_ok());
    }

    proptest! {
        #[test]
        fn groups_stay_whole_and_no_fold_is_empty(
            rows in proptest::collection::vec((0i64..4, 0i64..12), 2..80), n_folds in 2usize..6, seed: u64,
        ) {
            let labels = Labels::new(rows.iter().map(|row| row.0));
            let groups = Labels::new(rows.iter().map(|row| row.1));
            prop_assume!(groups.classes().len() >= n_folds);
            let folds = grouped_folds(&labels, &groups, n_folds, seed).unwrap();
            for (a, b) in (0..rows.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert!(rows[a].1 != rows[b].1 || folds[a] == folds[b]);
            }
            prop_assert_eq!((0..n_folds).filter(|fold| folds.contains(fold)).count(), n_folds);
            prop_assert!(folds.iter().all(|&fold| fold < n_folds));
            prop_assert_eq!(&folds, &grouped_folds(&labels, &groups, n_folds, seed).unwrap());
        }

        #[test]
        fn groups_of_one_sample_are_stratified(
            classes in proptest::collection::vec(0i64..4, 6..80), n_folds in 2usize..6, seed: u64,
        ) {
            let labels = Labels::new(classes);
            let folds = grouped_folds(&labels, &Labels::new(0..labels.len() as i64), n_folds, seed).unwrap();
            for class in 0..labels.classes().len() as u32 {
                let count = |fold| (0..folds.len()).filter(|&i| folds[i] == fold && labels.codes()[i] == class).count();
                let counts: Vec<usize> = (0..n_folds).map(count).collect();
                prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
            }
        }

        #[test]
        fn fold_sizes_of_one_class_differ_by_one_group(
            groups in proptest::collection::vec(0i64..12, 12..80), n_folds in 2usize..6, seed: u64,
        ) {
            let (labels, groups) = (Labels::new(groups.iter().map(|_| 1i64)), Labels::new(groups));
            prop_assume!(groups.classes().len() >= n_folds);
            let folds = grouped_folds(&labels, &groups, n_folds, seed).unwrap();
            let sizes: Vec<usize> = (0..n_folds).map(|fold| folds.iter().filter(|f| **f == fold).count()).collect();
            let size = |group| groups.codes().iter().filter(|code| **code == group).count();
            let largest = (0..groups.classes().len() as u32).map(size).max().unwrap();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= largest, "{sizes:?}");
        }
    }
}
