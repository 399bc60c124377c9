//! How an expansion uses one of its similarities: `weight=W` and `bases=B` among the parameters of any spec.

use crate::error::{Error, Result};
use crate::spec::Step;

/// The options of one part.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartOptions {
    /// The factor of the part's normalized features, above 0; `None` is `weight=auto`, learned from the training
    /// samples.
    pub weight: Option<f64>,
    /// The number of bases with which samples are compared, evenly spaced among all; `None` for all.
    pub n_basis: Option<usize>,
}

impl Default for PartOptions {
    fn default() -> Self {
        PartOptions { weight: Some(1.0), n_basis: None }
    }
}

impl PartOptions {
    /// Takes the options out of a step.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a weight that is not above 0, and for no bases.
    pub(crate) fn take(step: &mut Step) -> Result<Self> {
        let mut options = PartOptions::default();
        if let Some(text) = step.remove("weight") {
            let is_above_0 = |weight: &f64| *weight > 0.0 && weight.is_finite();
            options.weight = match text.parse().ok().filter(is_above_0) {
                Some(weight) => Some(weight),
                None if text == "auto" => None,
                None => return Err(Error::parameter("weight", text, "a finite number above 0, or auto")),
            };
        }
        if let Some(text) = step.remove("bases") {
            let n_basis = text.parse().ok().filter(|n_basis: &usize| *n_basis > 0);
            let wrong = || Error::parameter("bases", text, "how many of the bases, at least 1");
            options.n_basis = Some(n_basis.ok_or_else(wrong)?);
        }
        Ok(options)
    }

    /// Writes the options that are not the default into a step.
    pub(crate) fn put(&self, step: &mut Step) {
        match self.weight {
            Some(1.0) => drop(step.remove("weight")),
            Some(weight) => step.set("weight", weight),
            None => step.set("weight", "auto"),
        }
        if let Some(n_basis) = self.n_basis {
            step.set("bases", n_basis);
        }
    }

    /// The factor of the features: 1 where it has not been learned yet.
    pub fn factor(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }

    /// The bases that the part is compared with, among `n`: those at ⌊i·n/k⌋.
    pub fn columns(&self, n: usize) -> Vec<usize> {
        let k = self.width(n);
        (0..k).map(|i| i * n / k).collect()
    }

    /// How many these are.
    pub fn width(&self, n: usize) -> usize {
        self.n_basis.map_or(n, |k| k.min(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    #[test]
    fn options_are_read_and_written() {
        for (text, weight, n_basis) in [
            ("rbf", Some(1.0), None),
            ("rbf:gamma=2,weight=0.5", Some(0.5), None),
            ("rbf:weight=auto,bases=7", None, Some(7)),
        ] {
            let mut step = text.parse::<Spec>().unwrap().steps.remove(0);
            let options = PartOptions::take(&mut step).unwrap();
            assert_eq!(options, PartOptions { weight, n_basis });
            assert!(!step.to_string().contains("weight") && !step.to_string().contains("bases"));
            options.put(&mut step);
            assert_eq!(step.to_string(), text);
        }
        for wrong in ["rbf:weight=0", "rbf:weight=-1", "rbf:weight=nan", "rbf:bases=0", "rbf:bases=1.5"] {
            let mut step = wrong.parse::<Spec>().unwrap().steps.remove(0);
            assert!(PartOptions::take(&mut step).is_err(), "{wrong}");
        }
    }

    #[test]
    fn columns_are_evenly_spaced() {
        let options = |n_basis| PartOptions { n_basis, ..PartOptions::default() };
        assert_eq!(options(Some(4)).columns(10), [0, 2, 5, 7]);
        assert_eq!(options(Some(12)).columns(3), [0, 1, 2]);
        assert_eq!(options(None).columns(3), [0, 1, 2]);
    }
}
