//! Selection of bases among the training samples.

mod k_medoids;
mod positions;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{Samples, Training};
use crate::error::{Error, Result, require};
use crate::macros::named;
use crate::similarity::Similarity;
use positions::{evenly_spaced, shares};

/// How bases are selected among the training samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BasisChoice {
    /// Equally many per class, evenly spaced among the class's samples in their order: `index`.
    Index,
    /// Every (n/B)-th sample, whatever its class: `every`. (The paper's text: "uniformly sub-sampled", classes
    /// *roughly* equal.)
    Every,
    /// Uniformly at random: `random`.
    Random,
    /// At random, with each class in proportion to its samples: `auto`. As for `random` and `kmedoids`, the order of
    /// the samples does not matter.
    #[default]
    Auto,
    /// Equally many per class, the medoids of clusters under the similarity itself: `kmedoids`.
    KMedoids,
    /// The samples with these row numbers.
    Rows(Vec<usize>),
}

named!("choice of bases": BasisChoice {
    "index" = BasisChoice::Index,
    "every" = BasisChoice::Every,
    "random" = BasisChoice::Random,
    "auto" = BasisChoice::Auto,
    "kmedoids" = BasisChoice::KMedoids,
});

impl BasisChoice {
    /// Whether the order of the samples decides.
    pub(crate) fn is_by_position(&self) -> bool {
        matches!(self, BasisChoice::Index | BasisChoice::Every | BasisChoice::Rows(_))
    }
}

/// The selected rows, and a warning if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bases {
    /// Rows of the training samples.
    pub rows: Vec<usize>,
    /// Set if the selection deviates from the request.
    pub warning: Option<String>,
}

/// Selects up to `n_basis` bases. `codes` are the classes of the samples, each below `n_classes`; samples of weight 0
/// are ignored. The selection depends only on `seed`, never on the number of threads.
///
/// # Errors
/// [`Error::Parameter`] for zero bases, or rows that do not exist or are repeated; for k-medoids also errors of
/// the similarity.
pub fn choose<S: Similarity>(
    choice: &BasisChoice,
    n_basis: usize,
    codes: &[u32],
    n_classes: usize,
    seed: u64,
    similarity: &S,
    training: &Training<'_, S::Samples>,
) -> Result<Bases> {
    let n_samples = codes.len();
    if let BasisChoice::Rows(rows) = choice {
        check_rows(rows, n_samples)?;
        return Ok(Bases { rows: rows.clone(), warning: None });
    }
    require(n_basis > 0, "n_basis", n_basis, "at least 1")?;
    let expected = "auto, index, every or random: medoids are not defined for a similarity with polynomials";
    require(*choice != BasisChoice::KMedoids || similarity.metadata().n_polynomials == 0, "basis", choice, expected)?;
    let weights = training.weights;
    let present: Vec<usize> = (0..n_samples).filter(|&row| weights[row] > 0.0).collect();
    if n_basis >= present.len() {
        let warning =
            (n_basis > present.len()).then(|| format!("n_basis is {n_basis}: all {} samples are bases", present.len()));
        return Ok(Bases { rows: present, warning });
    }
    // Two choices are blind to the classes.
    let is_of_all = matches!(choice, BasisChoice::Every | BasisChoice::Random);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); if is_of_all { 1 } else { n_classes }];
    present.iter().for_each(|&row| by_class[if is_of_all { 0 } else { codes[row] as usize }].push(row));
    let sizes: Vec<usize> = by_class.iter().map(Vec::len).collect();
    let wishes: Vec<f64> = match choice {
        BasisChoice::Auto => by_class.iter().map(|rows| rows.iter().map(|&row| weights[row]).sum::<f64>()).collect(),
        _ => sizes.iter().map(|&size| if size > 0 { 1.0 } else { 0.0 }).collect(),
    };
    let shares = shares(n_basis, &wishes, &sizes);
    let mut rows = Vec::with_capacity(n_basis);
    for (class, share) in by_class.iter_mut().zip(&shares) {
        if *share >= class.len() {
            rows.extend_from_slice(class);
            continue;
        }
        match choice {
            BasisChoice::Auto | BasisChoice::Random => {
                class.shuffle(&mut rng);
                class.truncate(*share);
                class.sort_unstable();
                rows.extend_from_slice(class);
            }
            BasisChoice::KMedoids => {
                rows.extend(k_medoids::medoids(class, *share, similarity, training, &mut rng)?);
            }
            _ => rows.extend(evenly_spaced(class, weights, *share)),
        }
    }
    let even = n_basis / sizes.iter().filter(|size| **size > 0).count().max(1);
    let n_short = sizes.iter().filter(|size| (1..even).contains(*size)).count();
    let warning = (*choice != BasisChoice::Auto && n_short > 0).then(|| {
        let classes = if n_short == 1 { "1 class has" } else { "some classes have" };
        format!("{classes} fewer than {even} samples: all of these are bases, and the other classes give more")
    });
    Ok(Bases { rows, warning })
}

/// Checks that bases from the training samples can be compared; `rows` are their row numbers.
///
/// # Errors
/// [`Error::Sample`] naming the row of the first that cannot be compared.
pub(crate) fn check_sound<S: Similarity>(similarity: &S, bases: &S::Samples, rows: &[usize]) -> Result<()> {
    let sample = |number, problem| Error::Sample { similarity: similarity.spec(), is_basis: false, number, problem };
    bases.flaw().map_or(Ok(()), |(at, problem)| Err(sample(rows[at], problem)))
}

pub(crate) fn check_rows(rows: &[usize], n_samples: usize) -> Result<()> {
    let wrong = |value: String, expected: String| Err(Error::parameter("basis", value, expected));
    if rows.is_empty() {
        return wrong("no rows".into(), "at least one row".into());
    }
    let mut is_basis = vec![false; n_samples];
    for &row in rows {
        match is_basis.get_mut(row) {
            None => return wrong(format!("row {row}"), format!("rows from 0 to {}", n_samples.saturating_sub(1))),
            Some(true) => return wrong(format!("row {row}, twice"), "each row once".into()),
            Some(is_basis) => *is_basis = true,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DenseMatrix, Vectors};
    use crate::monitor::Monitor;
    use crate::similarity::AnySimilarity;

    #[test]
    fn every_ignores_classes_and_counts_weights_as_copies() {
        let similarity = AnySimilarity::new(&["linear"]).unwrap();
        let rows = |weights: &[f64]| {
            let n = weights.len();
            let values = DenseMatrix { values: vec![1.0; n], n_rows: n, n_cols: 1 };
            let samples = crate::data::AnySamples::Vectors(Vectors::Dense(values));
            let training = Training { samples: &samples, weights, threads: 1, monitor: &Monitor::none() };
            // All but one sample are of one class.
            let codes: Vec<u32> = (0..n).map(|row| u32::from(row == 1)).collect();
            choose(&BasisChoice::Every, 4, &codes, 2, 0, &similarity, &training).unwrap().rows
        };
        assert_eq!(rows(&[1.0; 10]), [0, 2, 5, 7]);
        // Samples of weight 0 are absent, and one of weight 3 takes the positions of three.
        assert_eq!(rows(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), [1, 3, 5, 8]);
        assert_eq!(rows(&[1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0]), [0, 2, 3, 5]);
    }
}
