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

#[cfg(test)]
mod tests {
    use super::*;

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
}
