//! Deduplication: copies become one sample with the summed weight, in an order determined by content.
//!
//! Floating-point sums depend on their order, so that a sample of weight 2 and two copies of it, or the same samples in
//! another order, would give models that differ by rounding. After this step they are bitwise identical, because they
//! are the same input.

use std::collections::HashSet;

use super::fingerprint::shuffled;
use super::{ClassWeight, Labels, effective_weights};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::tuning::{
    MAX_EQUAL_CONTENTS, MAX_FREQUENT_CONTENTS, MIN_CONTESTED_SHARE, MIN_EQUAL_COPIES, MIN_FREQUENT_COPIES,
};

/// Weights whose greatest common divisor is a smaller share of them than this have none, and the rounding of one.
const MIN_COMMON_DIVISOR: f64 = 1e-6;
const DIVISOR_ROUNDING: f64 = 1e-9;

/// Samples read by one thread at a time.
const CHUNK_ROWS: usize = 1024;

/// The samples of weight above 0, each distinct content once per class.
#[doc(hidden)]
#[derive(Debug, Default, PartialEq)]
pub struct Distinct {
    /// The first of the caller's rows with this content, in canonical order: by fingerprint, then by class. Without
    /// fingerprints, the caller's order.
    pub rows: Vec<usize>,
    /// The summed weight of all copies, from the caller's weights.
    pub weights: Vec<f64>,
    /// Whether the previous sample has the same content in another class.
    pub repeats: Vec<bool>,
    /// False if there were no fingerprints.
    pub is_canonical: bool,
    /// For each of the caller's rows, the index of its sample here; [`ABSENT`] if its weight is 0.
    pub places: Vec<usize>,
}

/// Marks a row of weight 0.
#[doc(hidden)]
pub const ABSENT: usize = usize::MAX;

/// The classes and weights of the caller's rows.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct WeightedCodes<'a> {
    /// The class of each.
    pub codes: &'a [u32],
    /// The caller's weights; `None` means 1.
    pub weights: Option<&'a [f64]>,
    /// Including class weights: a row is absent if this is 0.
    pub effective: &'a [f64],
}

impl Distinct {
    /// Finds the distinct samples. `read` returns the fingerprints of some rows, or `None` if these samples have none:
    /// they are then neither merged nor reordered. The order is a random permutation determined by the seed.
    ///
    /// Takes one pass over the samples and a parallel sort of 32 bytes per row.
    pub fn find(
        read: impl Fn(&[usize]) -> Result<Option<Vec<u128>>> + Sync + Send,
        samples: WeightedCodes<'_>,
        seed: u64,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let n = samples.codes.len();
        let present: Vec<usize> = (0..n).filter(|&row| samples.effective[row] > 0.0).collect();
        let weight = |row: usize| samples.weights.map_or(1.0, |weights| weights[row]);
        let Some(keys) = keys(read, &present, samples.codes, seed, threads, monitor)? else {
            let mut places = vec![ABSENT; n];
            present.iter().enumerate().for_each(|(at, &row)| places[row] = at);
            let weights = present.iter().map(|&row| weight(row)).collect();
            return Ok(Distinct {
                repeats: vec![false; present.len()],
                rows: present,
                weights,
                is_canonical: false,
                places,
            });
        };
        let mut distinct = Distinct { is_canonical: true, places: vec![ABSENT; n], ..Distinct::default() };
        let (mut before, mut some) = (None, Vec::new());
        for copies in keys.chunk_by(|a, b| (a.print, a.code) == (b.print, b.code)) {
            some.clear();
            some.extend(copies.iter().map(|copy| weight(copy.row)));
            // Sorted, so that the sum does not depend on the order of the copies.
            some.sort_unstable_by(f64::total_cmp);
            copies.iter().for_each(|copy| distinct.places[copy.row] = distinct.rows.len());
            distinct.rows.push(copies[0].row);
            distinct.weights.push(some.iter().sum());
            distinct.repeats.push(before == Some(copies[0].print));
            before = Some(copies[0].print);
        }
        Ok(distinct)
    }

    /// The labels of these samples, of the classes that have some, and their effective weights.
    pub fn labeled(&self, labels: &Labels, class_weight: &ClassWeight) -> Result<(Labels, Vec<f64>)> {
        let labels = labels.of_rows(&self.rows);
        let weights = effective_weights(&labels, Some(&self.weights), class_weight).map_err(|error| match error {
            Error::Weight { row, value } => Error::Weight { row: self.rows[row], value },
            error => error,
        })?;
        Ok((labels.weighted(class_weight, &weights), weights))
    }

    /// The part of each effective weight that leave-one-out removes. Equal samples of one class are left out together,
    /// since they may be one sample that was weighted or repeated: the fit would otherwise include the sample that it
    /// predicts. But where the same content occurs in several classes, they are independent draws, and one is left out:
    /// without all of them the content would belong to the other classes. The rule depends on the merged samples alone,
    /// so that weight k remains equivalent to k copies.
    pub fn removed_weights(&self, effective: &[f64]) -> Vec<f64> {
        let unit = if self.has_many_copies() { self.unit().min(1.0) } else { self.unit() };
        let part = |(at, is_draw): (usize, &bool)| if *is_draw { (unit / self.weights[at]).min(1.0) } else { 1.0 };
        self.draws().iter().enumerate().map(part).zip(effective).map(|(part, weight)| part * weight).collect()
    }

    /// Whether each sample is one of several independent draws of its content: whether that occurs in several classes,
    /// unless such samples are few; or whether there are few contents, each with many copies.
    pub fn draws(&self) -> Vec<bool> {
        let n = self.rows.len();
        if self.has_few_contents() {
            return vec![true; n];
        }
        let contested: f64 = (0..n).filter(|&at| self.is_contested(at)).map(|at| self.weights[at]).sum();
        let are_many = contested > MIN_CONTESTED_SHARE * self.weights.iter().sum::<f64>();
        (0..n).map(|at| are_many && self.is_contested(at)).collect()
    }

    /// Whether the content of a sample also occurs in another class, or with another target.
    pub fn is_contested(&self, at: usize) -> bool {
        self.repeats[at] || self.repeats.get(at + 1) == Some(&true)
    }

    /// Whether few contents have many copies each, as in a table of a few columns with few values. Leave-one-out of all
    /// copies would then leave nothing to predict a sample from.
    fn has_few_contents(&self) -> bool {
        let n_draws = common_divisor_of(&self.weights).map_or(0.0, |draw| self.weights.iter().sum::<f64>() / draw);
        let n = self.n_contents();
        self.has_many_copies() || (n <= MAX_FREQUENT_CONTENTS && n_draws >= MIN_FREQUENT_COPIES * n as f64)
    }

    /// The same for fewer contents, whose weights may all be equal.
    fn has_many_copies(&self) -> bool {
        let (n, total) = (self.n_contents(), self.weights.iter().sum::<f64>());
        n <= MAX_EQUAL_CONTENTS && total >= MIN_EQUAL_COPIES * n as f64
    }

    fn n_contents(&self) -> usize {
        self.repeats.iter().filter(|repeats| !**repeats).count()
    }

    /// The weight of one draw: the largest that all weights are multiples of, as of samples that all have the same
    /// weight, or the smallest weight if they are multiples of none. At least 1, unless the weights are too small to be
    /// numbers of copies, as if they are divided by their sum.
    fn unit(&self) -> f64 {
        let of = |pick: fn(f64, f64) -> f64| self.weights.iter().copied().reduce(pick).unwrap_or(1.0);
        let (least, total) = (of(f64::min), self.weights.iter().sum::<f64>());
        match common_divisor_of(&self.weights) {
            Some(draw) if total <= draw * self.n_present() as f64 * (1.0 + MIN_COMMON_DIVISOR) => draw,
            _ if of(f64::max) < 1.0 => least,
            draw => draw.unwrap_or(least).max(1.0),
        }
    }

    /// The same of targets, from a number for each target of the caller's rows.
    pub fn removed_weights_of_targets(&self, codes: &[u32]) -> Vec<f64> {
        if self.are_draws(codes) { self.removed_weights(&self.weights) } else { self.weights.clone() }
    }

    /// Whether samples of equal content may be independent draws: where most targets are unlike all others, equal
    /// samples with equal targets are not, and are left out together.
    pub fn are_draws(&self, codes: &[u32]) -> bool {
        let n_targets = self.rows.iter().map(|&row| codes[row]).collect::<HashSet<u32>>().len();
        2 * n_targets <= self.rows.len() || self.n_contents() == 1 || self.has_few_contents()
    }

    /// Number of the caller's rows with weight above 0, copies included.
    pub fn n_present(&self) -> usize {
        self.places.iter().filter(|place| **place != ABSENT).count()
    }

    /// Expands numbers per distinct sample to all of the caller's rows with weight above 0.
    pub fn of_present<'a>(&'a self, numbers: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.places.iter().filter(|place| **place != ABSENT).map(|&place| numbers[place])
    }

    /// These samples in the order of the caller's rows.
    pub fn in_callers_order(&self) -> Vec<usize> {
        let is_first = |(row, place): &(usize, usize)| *place != ABSENT && self.rows[*place] == *row;
        self.places.iter().copied().enumerate().filter(is_first).map(|(_, place)| place).collect()
    }

    /// The first sample with the same content.
    pub fn content(&self, mut at: usize) -> usize {
        while self.repeats[at] {
            at -= 1;
        }
        at
    }
}

/// The largest number that all weights above 0 are multiples of, unless it is so small that it is none of copies.
#[doc(hidden)]
pub fn common_divisor_of(weights: &[f64]) -> Option<f64> {
    let mut present = weights.iter().copied().filter(|weight| *weight > 0.0);
    let least = present.clone().fold(f64::INFINITY, f64::min);
    present.try_fold(0.0, |divisor, weight| {
        Some(common_divisor(divisor, weight)).filter(|divisor| *divisor > MIN_COMMON_DIVISOR * least)
    })
}

/// The greatest common divisor, by Euclid's algorithm.
fn common_divisor(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a.max(b), a.min(b));
    let rounding = DIVISOR_ROUNDING * a;
    while b > rounding {
        (a, b) = (b, (a - b * (a / b).round()).abs());
    }
    a
}

/// The sort key of a row. The row index comes last, so that the first copy comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    print: u128,
    code: u32,
    row: usize,
}

fn keys(
    read: impl Fn(&[usize]) -> Result<Option<Vec<u128>>> + Sync + Send,
    present: &[usize],
    codes: &[u32],
    seed: u64,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<Key>>> {
    // One row suffices to find out whether there are fingerprints.
    if present.is_empty() || read(&present[..1])?.is_none() {
        return Ok(None);
    }
    let pool = Pool::new(if present.len() <= CHUNK_ROWS { 1 } else { threads })?;
    let (mut keys, mut all) = (Vec::with_capacity(present.len()), true);
    let work = |range: std::ops::Range<usize>| {
        monitor.go_on("merge")?;
        let rows = &present[range];
        Ok((rows, read(rows)?))
    };
    pool.fold_chunks(present.len(), CHUNK_ROWS, work, |(rows, prints)| {
        let Some(prints) = prints else {
            all = false;
            return Ok(());
        };
        keys.extend(rows.iter().zip(prints).map(|(&row, print)| Key {
            print: shuffled(print, seed),
            code: codes[row],
            row,
        }));
        Ok::<(), Error>(())
    })?;
    pool.sort(&mut keys);
    Ok(all.then_some(keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose contents are numbers.
    fn find(contents: &[u128], codes: &[u32], weights: &[f64], seed: u64, threads: usize) -> Distinct {
        let samples = WeightedCodes { codes, weights: Some(weights), effective: weights };
        let read = |rows: &[usize]| Ok(Some(rows.iter().map(|&row| contents[row]).collect()));
        Distinct::find(read, samples, seed, threads, &Monitor::none()).unwrap()
    }

    #[test]
    fn copies_are_one_sample() {
        let contents = [7 << 64, 3 << 64, 7 << 64, 7 << 64, 9 << 64, 3 << 64];
        let (codes, weights) = ([0, 1, 0, 1, 0, 1], [1.0, 0.1, 2.0, 1.0, 0.0, 0.2]);
        let distinct = find(&contents, &codes, &weights, 0, 1);
        let mut found: Vec<(usize, f64)> = distinct.rows.iter().copied().zip(distinct.weights.clone()).collect();
        found.sort_by_key(|pair| pair.0);
        assert_eq!(found, [(0, 3.0), (1, 0.1 + 0.2), (3, 1.0)]);
        assert_eq!(distinct.places[4], ABSENT);
        for (row, &place) in distinct.places.iter().enumerate().filter(|(row, _)| *row != 4) {
            let first = distinct.rows[place];
            assert!(contents[first] == contents[row] && codes[first] == codes[row] && first <= row);
        }
        // Row 3 is row 0 in another class.
        assert_eq!(distinct.places[3], distinct.places[0] + 1);
        assert_eq!(distinct.content(distinct.places[3]), distinct.places[0]);
        assert_eq!(distinct.repeats.iter().filter(|repeats| **repeats).count(), 1);
        assert_eq!(distinct.in_callers_order(), [distinct.places[0], distinct.places[1], distinct.places[3]]);
    }

    #[test]
    fn equal_samples_are_left_out_together_unless_labels_contradict() {
        let (weights, none) = (vec![0.5; 100], vec![0; 100]);
        let contents: Vec<u128> = (0..100).map(|i| (i / 2) << 64).collect();
        let merged = find(&contents, &none, &weights, 0, 1);
        assert_eq!(merged.removed_weights(&vec![12.0; 50]), vec![12.0; 50]);
        // Of 50 points two have both classes: 4 % of the weight. Of 8 copies in a class one goes.
        let codes: Vec<u32> = (0..100).map(|i| u32::from(i < 4 && i % 2 == 1)).collect();
        for (weight, removed) in [(8.0, 8.0), (0.5, 0.5)] {
            let found = find(&contents, &codes, &[weight; 100], 0, 1);
            assert!(found.removed_weights(&found.weights).iter().zip(&found.weights).all(|(a, b)| a == b), "{removed}");
        }
        let weights: Vec<f64> = (0..100).map(|i| if i < 4 { 8.0 } else { 0.5 }).collect();
        let found = find(&contents, &codes, &weights, 0, 1);
        let effective: Vec<f64> = found.weights.iter().map(|copies| 3.0 * copies).collect();
        for (removed, weight) in found.removed_weights(&effective).iter().zip(&found.weights) {
            assert_eq!(*removed, if *weight == 8.0 { 3.0 } else { 3.0 * weight });
        }
        // A single contradiction is an error of a label.
        let codes: Vec<u32> = (0..100).map(|i| u32::from(i == 1)).collect();
        let one = find(&contents, &codes, &[8.0; 100], 0, 1);
        assert_eq!(one.removed_weights(&one.weights), one.weights);
    }

    #[test]
    fn equal_samples_with_equal_targets_are_draws_if_targets_recur() {
        // 40 points, each with two targets, one of them repeated.
        let contents: Vec<u128> = (0..120).map(|i| (i / 3) << 64).collect();
        let of = |codes: &[u32]| {
            let found = find(&contents, codes, &[1.0; 120], 0, 1);
            assert_eq!(found.weights.iter().sum::<f64>(), 120.0);
            found.removed_weights_of_targets(codes).iter().sum::<f64>()
        };
        assert_eq!(of(&(0..120).map(|i| u32::from(i % 3 == 0)).collect::<Vec<_>>()), 80.0);
        assert_eq!(of(&(0..120).map(|i| 2 * (i / 3) + u32::from(i % 3 == 0)).collect::<Vec<_>>()), 120.0);
    }

    #[test]
    fn the_weight_of_one_draw_is_what_all_weights_are_multiples_of() {
        let unit = |weights: &[f64], n_rows: usize| {
            Distinct { weights: weights.to_vec(), places: vec![0; n_rows], ..Distinct::default() }.unit()
        };
        for (weights, unit_of_ones) in [
            (vec![13.0, 7.0], 1.0),
            (vec![26.0, 14.0, 8.0], 2.0),
            (vec![390.0, 210.0], 30.0),
            (vec![0.5; 3], 0.5),
            (vec![6.5, 3.5], 1.0),
            ((1..=40).map(|n| 0.3 * f64::from(n) * 10.0).collect(), 3.0),
            (vec![13.0f64.sqrt(), 7.0f64.sqrt(), 3.0], 7.0f64.sqrt()),
            (vec![12.0, 0.7], 1.0),
        ] {
            assert!((unit(&weights, 3) - unit_of_ones).abs() < 1e-6, "{weights:?}: {}", unit(&weights, 3));
        }
        assert_eq!(common_divisor_of(&[0.0, 4.0, 6.0]), Some(2.0));
        // Sums of many weights.
        let sums: Vec<f64> = [391u32, 118, 404, 87].map(|n| (0..n).map(|_| 0.01).sum()).to_vec();
        assert!((unit(&sums, 1000) - 0.01).abs() < 1e-9);
        // Weights that are divided by their sum.
        let counts = [260.0, 90.0, 380.0, 270.0];
        assert!((unit(&counts.map(|n| n / 1000.0), 1000) - 0.01).abs() < 1e-9);
        let uneven = [2.6f64, 0.9, 3.8, 2.7].map(f64::sqrt);
        let total: f64 = uneven.iter().sum();
        assert!((unit(&uneven.map(|n| n / total), 1000) - 0.9f64.sqrt() / total).abs() < 1e-9);
    }

    #[test]
    fn few_contents_with_many_copies_are_draws() {
        let removed = |n_contents: u32, copies: &dyn Fn(u32) -> f64| {
            let contents: Vec<u128> = (0..n_contents).map(|i| u128::from(i) << 64).collect();
            let weights: Vec<f64> = (0..n_contents).map(copies).collect();
            let codes: Vec<u32> = (0..n_contents).collect();
            let found = find(&contents, &vec![0; contents.len()], &weights, 0, 1);
            let (classes, targets) = (found.removed_weights(&found.weights), found.removed_weights_of_targets(&codes));
            assert_eq!(classes, targets);
            classes.iter().zip(&found.weights).filter(|(part, weight)| part < weight).count()
        };
        assert_eq!((removed(4, &|_| 100.0), removed(1, &|_| 40.0)), (4, 1));
        assert_eq!(removed(60, &|i| f64::from(20 + i % 7)), 60);
        // Weights of samples: all equal, without a common divisor, or of few copies.
        assert_eq!((removed(4, &|_| 10.0), removed(1, &|_| 10.0)), (0, 0));
        assert_eq!((removed(60, &|_| 100.0), removed(60, &|i| 100.0 + f64::from(i).sqrt())), (0, 0));
        assert_eq!((removed(60, &|i| f64::from(1 + i % 4)), removed(70, &|i| f64::from(20 + i % 7))), (0, 0));
    }

    #[test]
    fn the_order_of_rows_makes_no_difference() {
        let n = 5000;
        let contents: Vec<u128> = (0..n).map(|i| u128::from(i as u64 * i as u64 % 991) << 64 | 5).collect();
        let codes: Vec<u32> = (0..n).map(|i| i as u32 % 3).collect();
        let weights: Vec<f64> = (0..n).map(|i| f64::from(i as u32 % 7) * 0.1).collect();
        let turned = |i: usize| i * 1237 % n;
        let pick = |rows: usize| turned(rows);
        let (a, b) = (
            find(&contents, &codes, &weights, 3, 1),
            find(
                &(0..n).map(|i| contents[pick(i)]).collect::<Vec<_>>(),
                &(0..n).map(|i| codes[pick(i)]).collect::<Vec<_>>(),
                &(0..n).map(|i| weights[pick(i)]).collect::<Vec<_>>(),
                3,
                3,
            ),
        );
        assert!(a.rows.len() < n / 2);
        let bits = |distinct: &Distinct| distinct.weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&a), &a.repeats), (bits(&b), &b.repeats));
        let contents_of = |distinct: &Distinct, at: &dyn Fn(usize) -> usize| -> Vec<(u128, u32)> {
            distinct.rows.iter().map(|&row| (contents[at(row)], codes[at(row)])).collect()
        };
        assert_eq!(contents_of(&a, &|row| row), contents_of(&b, &pick));
        assert_ne!(a.rows, find(&contents, &codes, &weights, 4, 1).rows);
    }

    #[test]
    fn without_fingerprints_nothing_moves() {
        let weights = [1.0, 0.0, 2.5, 1.0];
        let samples = WeightedCodes { codes: &[0; 4], weights: None, effective: &weights };
        let distinct = Distinct::find(|_: &[usize]| Ok(None), samples, 1, 1, &Monitor::none()).unwrap();
        assert_eq!((distinct.rows, distinct.weights), (vec![0, 2, 3], vec![1.0; 3]));
        assert_eq!(distinct.places, [0, ABSENT, 1, 2]);
    }
}
