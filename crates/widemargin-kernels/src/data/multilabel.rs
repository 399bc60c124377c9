//! Multilabel targets: made from an indicator matrix, checked, balanced and grouped for drawing samples.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::label_sets::LabelSets;
use super::{ClassWeight, Label, Labels};
use crate::error::{Error, Result};

impl Labels {
    /// Multilabel targets, from their names and an indicator matrix, samples × labels, row-major: 1 if the sample has
    /// the label, 0 if it does not, NaN if this is unknown.
    ///
    /// # Errors
    /// [`Error::Shape`] if the matrix has no columns, or another number than there are names; [`Error::Parameter`] for
    /// a repeated name and for another value than 0, 1 and NaN, with its row and column.
    pub fn multilabel(names: Vec<Label>, values: &[f64]) -> Result<Labels> {
        let k = names.len();
        if k == 0 || !values.len().is_multiple_of(k) {
            let found = format!("{} values for {k} labels", values.len());
            return Err(Error::shape("the label matrix", found, "one column for each of at least one label"));
        }
        Labels::from_codes(names.clone(), Vec::new())?;
        if let Some(at) = values.iter().position(|value| !(value.is_nan() || *value == 0.0 || *value == 1.0)) {
            let value = format!("{} at row {}, column {} (from 0), {}", values[at], at / k, at % k, names[at % k]);
            let expected = "1 for a label that the sample has, 0 for one that it has not, NaN";
            return Err(Error::parameter("Y", value, expected));
        }
        let key = |row: &[f64]| -> Vec<i8> {
            row.iter().map(|value| if value.is_nan() { 0 } else { 2 * (*value as i8) - 1 }).collect()
        };
        let mut sets: BTreeMap<Vec<i8>, u32> = values.chunks(k).map(|row| (key(row), 0)).collect();
        sets.values_mut().enumerate().for_each(|(place, code)| *code = place as u32);
        let codes = values.chunks(k).map(|row| sets[&key(row)]).collect();
        let signed = sets.into_keys().flatten().map(f64::from).collect();
        Ok(Labels { classes: names, codes, sets: Some(LabelSets { signed, n_labels: k }) })
    }

    /// Whether the targets are multilabel rather than classes.
    pub fn is_multilabel(&self) -> bool {
        self.sets.is_some()
    }

    /// Sets the weight of samples without a known label to 0.
    ///
    /// # Errors
    /// [`Error::Parameter`] for class weights by name, and for a label that all samples have, or none, or that is
    /// unknown for all.
    pub(super) fn check_sets(&self, weights: &mut [f64], class_weight: &ClassWeight) -> Result<()> {
        let Some(sets) = &self.sets else { return Ok(()) };
        if let ClassWeight::PerClass(_) = class_weight {
            let expected = "balanced or none for multilabel targets: there are no classes to be named";
            return Err(Error::parameter("class_weight", "a factor a class", expected));
        }
        for (weight, &code) in weights.iter_mut().zip(&self.codes) {
            if sets.of(code).iter().all(|signed| *signed == 0.0) {
                *weight = 0.0;
            }
        }
        for (label, [without, with]) in self.classes.iter().zip(sets.totals(&self.codes, weights)) {
            let problem = match (without > 0.0, with > 0.0) {
                (true, true) => continue,
                (false, true) => "every sample with a known value has it",
                (true, false) => "no sample has it",
                (false, false) => "it is known for no sample",
            };
            let expected = format!("a label needs samples that have it and samples that have it not: {problem}");
            return Err(Error::parameter("Y", format!("the column of label {label}"), expected));
        }
        Ok(())
    }
}

#[doc(hidden)]
impl Labels {
    /// Rejects multilabel targets where only classes are supported.
    ///
    /// # Errors
    /// [`Error::Parameter`], naming `purpose`.
    pub fn check_one_class(&self, purpose: &str) -> Result<()> {
        if !self.is_multilabel() {
            return Ok(());
        }
        Err(Error::parameter("Y", "a multilabel matrix", format!("one class a sample for {purpose}")))
    }

    /// The signed weights of the label sets, sets × labels; the code of a sample is the number of its set.
    pub fn signed_sets(&self) -> Option<&[f64]> {
        self.sets.as_ref().map(|sets| &sets.signed[..])
    }

    /// The label sets of multilabel targets.
    pub fn sets(&self) -> Option<&LabelSets> {
        self.sets.as_ref()
    }

    /// Groups for drawing samples, so that rare classes are drawn too: the group of each sample, and the number of
    /// groups. They are the classes; a sample with multilabel targets belongs to its rarest label, or to none.
    pub fn strata(&self) -> (Vec<u32>, usize) {
        let Some(sets) = &self.sets else { return (self.codes.clone(), self.classes.len()) };
        let k = self.classes.len();
        let totals = sets.totals(&self.codes, &vec![1.0; self.codes.len()]);
        let rarest = |code: u32| {
            let has = (0..k).filter(|&label| sets.of(code)[label] > 0.0);
            has.min_by(|&a, &b| totals[a][1].total_cmp(&totals[b][1])).map_or(k as u32, |label| label as u32)
        };
        let of_set: Vec<u32> = (0..sets.len() as u32).map(rarest).collect();
        (self.codes.iter().map(|&code| of_set[code as usize]).collect(), k + 1)
    }

    /// The same as labels of one class each, for drawing by class.
    pub fn as_strata(&self) -> Cow<'_, Labels> {
        if self.sets.is_none() {
            return Cow::Borrowed(self);
        }
        let (codes, n) = self.strata();
        let classes = (0..n as i64).map(Label::Integer).collect();
        Cow::Owned(Labels { classes, codes, sets: None })
    }

    /// The labels with the weights of multilabel targets, and without classes whose samples all have weight 0. Samples
    /// of such a class, which no sum counts, get the first of the others.
    pub fn weighted(self, class_weight: &ClassWeight, weights: &[f64]) -> Labels {
        self.with_classes_of(|sample| weights[sample] > 0.0).balanced(class_weight, weights)
    }

    /// With balanced weights, for each label the samples that have it weigh as much as those that do not, and together
    /// as much as before. Classes are unchanged: their weights are those of their samples.
    pub fn balanced(mut self, class_weight: &ClassWeight, weights: &[f64]) -> Labels {
        if *class_weight == ClassWeight::Balanced
            && let Some(sets) = &mut self.sets
        {
            let totals = sets.totals(&self.codes, weights);
            for row in sets.signed.chunks_mut(sets.n_labels) {
                for (signed, sides) in row.iter_mut().zip(&totals) {
                    // 0 where only samples of weight 0 are on this side.
                    let own = sides[usize::from(*signed > 0.0)];
                    let factor = if *signed == 0.0 || own == 0.0 { 0.0 } else { (sides[0] + sides[1]) / (2.0 * own) };
                    *signed = signed.signum() * factor;
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::effective_weights;

    const NAN: f64 = f64::NAN;

    fn matrix(values: &[f64]) -> Result<Labels> {
        Labels::multilabel((0..3).map(Label::Integer).collect(), values)
    }

    #[test]
    fn samples_with_equal_labels_share_a_set() {
        let labels = matrix(&[1.0, 0.0, NAN, 0.0, 0.0, 1.0, 1.0, 0.0, NAN, 0.0, 1.0, 1.0]).unwrap();
        assert_eq!((labels.len(), labels.codes()), (4, &[2, 0, 2, 1][..]));
        assert_eq!(labels.sets().unwrap().of(2), [1.0, -1.0, 0.0]);
        // Label 1 is rarer than 0 and 2.
        assert_eq!(labels.strata(), (vec![0, 2, 0, 1], 4));
        let part = labels.select(&[1, 2]);
        assert_eq!((part.codes(), part.classes().len(), part.is_multilabel()), (&[0, 2][..], 3, true));
    }

    #[test]
    fn each_label_is_balanced_separately() {
        let values = [1.0, 0.0, 0.0, 0.0, 1.0, NAN, 0.0, 1.0, 1.0, NAN, NAN, NAN];
        let labels = matrix(&values).unwrap();
        let weights = effective_weights(&labels, Some(&[1.0, 2.0, 3.0, 1.0]), &ClassWeight::Balanced).unwrap();
        assert_eq!(weights, [1.0, 2.0, 3.0, 0.0], "nothing is known of the last sample");
        let balanced = labels.balanced(&ClassWeight::Balanced, &weights);
        let sets = balanced.sets().unwrap();
        assert_eq!(sets.totals(balanced.codes(), &weights), [[5.0, 1.0], [1.0, 5.0], [1.0, 3.0]]);
        let of = |row: usize, label: usize| sets.of(balanced.codes()[row])[label] * weights[row];
        for label in 0..3 {
            let all: Vec<f64> = (0..4).map(|row| of(row, label)).collect();
            assert!(all.iter().sum::<f64>().abs() < 1e-12, "{all:?}");
            let total: f64 = all.iter().map(|signed| signed.abs()).sum();
            assert!((total - [6.0, 6.0, 4.0][label]).abs() < 1e-12);
        }
    }

    #[test]
    fn a_side_of_weight_0_has_no_factor() {
        let labels = matrix(&[1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        let balanced = labels.balanced(&ClassWeight::Balanced, &[0.0, 2.0, 3.0]);
        let of = |row: usize| balanced.sets().unwrap().of(balanced.codes()[row]).to_vec();
        assert_eq!([of(0)[0], of(1)[0]], [0.0, -0.5]);
        assert!((0..3).flat_map(of).all(f64::is_finite));
    }

    #[test]
    fn rejects_wrong_matrices() {
        let message = |values: &[f64]| matrix(values).unwrap_err().to_string();
        assert!(message(&[1.0, 0.0]).contains("2 values for 3 labels"));
        assert!(
            message(&[1.0, 0.0, 2.0]).contains("Y = 2 at row 0, column 2 (from 0), 2"),
            "{}",
            message(&[1.0, 0.0, 2.0])
        );
        let empty = |values: &[f64]| {
            effective_weights(&matrix(values).unwrap(), None, &ClassWeight::Uniform).unwrap_err().to_string()
        };
        assert!(empty(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]).contains("column of label 1"));
        assert!(empty(&[1.0, 1.0, 0.0, 0.0, 1.0, 1.0]).contains("every sample with a known value has it"));
        assert!(empty(&[1.0, NAN, 0.0, 0.0, NAN, 1.0]).contains("it is known for no sample"));
        let labels = matrix(&[1.0, 0.0, 0.0, 0.0, 1.0, 1.0]).unwrap();
        let named = ClassWeight::PerClass([(Label::Integer(0), 2.0)].into());
        assert!(effective_weights(&labels, None, &named).unwrap_err().to_string().contains("multilabel"));
    }
}
