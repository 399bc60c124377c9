//! Which training samples become bases.

mod k_medoids;
mod positions;

use std::fmt;
use std::str::FromStr;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::{Samples, Training};
use crate::error::{Error, Result};
use crate::similarity::Similarity;
use positions::{evenly_spaced, shares};

/// How bases are chosen among the training samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BasisChoice {
    /// Equally many a class, evenly spaced among the class's samples in their order: `index`.
    #[default]
    Index,
    /// Any samples, by chance: `random`.
    Random,
    /// By chance, each class with its share of the samples: `stratified`.
    Stratified,
    /// Equally many a class, the medoids of clusters by the similarity itself: `kmedoids`.
    KMedoids,
    /// The samples of these rows.
    Given(Vec<usize>),
}

impl fmt::Display for BasisChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BasisChoice::Index => "index",
            BasisChoice::Random => "random",
            BasisChoice::Stratified => "stratified",
            BasisChoice::KMedoids => "kmedoids",
            BasisChoice::Given(_) => "given",
        })
    }
}

impl FromStr for BasisChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "index" => Ok(BasisChoice::Index),
            "random" => Ok(BasisChoice::Random),
            "stratified" => Ok(BasisChoice::Stratified),
            "kmedoids" => Ok(BasisChoice::KMedoids),
            _ => Err(Error::UnknownName {
                what: "choice of bases",
                given: name.to_owned(),
                expected: "known are index, random, stratified, kmedoids".into(),
            }),
        }
    }
}

/// The rows that become bases, and what the user should know of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bases {
    /// Rows of the training samples.
    pub rows: Vec<usize>,
    /// Set where the choice is not quite what was asked for.
    pub warning: Option<String>,
}

/// Chooses up to `n_basis` bases. `codes` are the classes of the samples, each below `n_classes`; samples of weight 0
/// are absent. The choice depends on `seed` only, never on the number of threads.
///
/// # Errors
/// [`Error::Parameter`] for no basis at all or given rows that do not exist or are there twice; what the similarity
/// meets, for k-medoids.
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
    if let BasisChoice::Given(rows) = choice {
        check_given(rows, n_samples)?;
        return Ok(Bases { rows: rows.clone(), warning: None });
    }
    if n_basis == 0 {
        return Err(Error::Parameter { name: "n_basis", value: "0".into(), expected: "at least 1".into() });
    }
    let weights = training.weights;
    let present: Vec<usize> = (0..n_samples).filter(|&row| weights[row] > 0.0).collect();
    if n_basis >= present.len() {
        let warning = (n_basis > present.len())
            .then(|| format!("{n_basis} bases were asked for: all {} samples are used", present.len()));
        return Ok(Bases { rows: present, warning });
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    if *choice == BasisChoice::Random {
        let mut rows = present;
        rows.shuffle(&mut rng);
        rows.truncate(n_basis);
        rows.sort_unstable();
        return Ok(Bases { rows, warning: None });
    }
    let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
    present.iter().for_each(|&row| by_class[codes[row] as usize].push(row));
    let sizes: Vec<usize> = by_class.iter().map(Vec::len).collect();
    let wishes: Vec<f64> = match choice {
        BasisChoice::Stratified => {
            by_class.iter().map(|rows| rows.iter().map(|&row| weights[row]).sum::<f64>()).collect()
        }
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
            BasisChoice::Stratified => {
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
    let short: Vec<usize> = (0..n_classes).filter(|&class| sizes[class] > 0 && sizes[class] < even).collect();
    let warning = (*choice != BasisChoice::Stratified && !short.is_empty()).then(|| {
        let classes = if short.len() == 1 { "1 class has" } else { "some classes have" };
        format!("{classes} fewer than {even} samples: all of these are bases, and the other classes give more")
    });
    Ok(Bases { rows, warning })
}

/// That bases which are training samples can be compared; `rows` says which they are.
///
/// # Errors
/// [`Error::Sample`] naming the row of the first that cannot.
pub(crate) fn check_sound<S: Similarity>(similarity: &S, bases: &S::Samples, rows: &[usize]) -> Result<()> {
    match bases.flaw() {
        Some((at, problem)) => {
            Err(Error::Sample { similarity: similarity.spec(), is_basis: false, number: rows[at], problem })
        }
        None => Ok(()),
    }
}

pub(crate) fn check_given(rows: &[usize], n_samples: usize) -> Result<()> {
    let wrong = |value: String, expected: String| Err(Error::Parameter { name: "basis", value, expected });
    if rows.is_empty() {
        return wrong("no rows".into(), "at least one row".into());
    }
    let mut seen = vec![false; n_samples];
    for &row in rows {
        match seen.get_mut(row) {
            None => return wrong(format!("row {row}"), format!("rows from 0 to {}", n_samples.saturating_sub(1))),
            Some(true) => return wrong(format!("row {row}, twice"), "each row once".into()),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}
