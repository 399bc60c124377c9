//! Common parts of descriptors that convolve series: reading the training series, errors, and the descriptor itself.

use crate::data::{Series, Training};
use crate::error::{Error, Result};

/// Series read at a time for their lengths.
const CHUNK_SERIES: usize = 256;

/// The length of the longest training series, and the number of channels.
pub(super) fn shape(training: &Training<'_, Series>) -> Result<(usize, usize)> {
    let (mut longest, mut channels) = (0, 1);
    let work = |series: Series, weights: &[f64]| {
        let lengths = series.lengths().into_iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        Ok((lengths.map(|(length, _)| length).max().unwrap_or(0), series.channels()))
    };
    training.fold("describe", CHUNK_SERIES, work, |(length, n)| (longest, channels) = (length.max(longest), n))?;
    Ok((longest, channels))
}

/// Rejects series with another number of channels than the training series, and values that are not finite numbers.
pub(super) fn check(spec: &str, series: &Series, n_channels: usize) -> Result<()> {
    if series.channels() != n_channels {
        let found = series.channels();
        let problem =
            format!("the samples have {found} channels, the training samples {n_channels}: they need the same");
        return Err(Error::similarity(spec, problem));
    }
    let wrong = |(number, problem)| Error::Sample { similarity: spec.to_owned(), is_basis: false, number, problem };
    series.problem().map_or(Ok(()), |problem| Err(wrong(problem)))
}

/// Implements the descriptor whose kernels are drawn or learned at the fit, with its row and its first parameter.
macro_rules! descriptor {
    ($descriptor:ty: $row:ident, $size:ident) => {
        impl Descriptor for $descriptor {
            fn spec(&self) -> String {
                let seed = if self.seed == 0 { String::new() } else { format!(",seed={}", self.seed) };
                format!("{}:{}={}{seed}", $row.name, stringify!($size), self.$size)
            }

            fitted!(Series, "convolves time series", fit: fit_series, vectors: Dense(features), restore: set_state);
        }

        impl $descriptor {
            fn set_state(&mut self, arrays: [Vec<f32>; STATE.len()]) -> Result<()> {
                let lengths = STATE.iter().zip(&arrays).map(|(name, array)| format!("{} {name}", array.len()));
                let found = lengths.collect::<Vec<_>>().join(", ");
                let what = format!("learned parameters of '{}'", self.spec());
                let wrong = || Error::shape(what, found, "arrays that belong together");
                self.set(Self::read(self.$size, arrays).ok_or_else(wrong)?);
                Ok(())
            }
        }
    };
}
pub(super) use descriptor;

#[cfg(test)]
pub(super) fn check_state<D: super::Descriptor + PartialEq + std::fmt::Debug>(fitted: &D, unfitted: &mut D) {
    let state = fitted.state();
    let of = |wanted: &str| state.iter().find(|(name, _)| *name == wanted).unwrap().1.to_vec();
    unfitted.restore(&mut |name| Ok(of(name))).unwrap();
    assert_eq!(fitted, unfitted);
    for (cut, _) in &state {
        let mut cut_state = |name: &str| {
            let mut values = of(name);
            if name == *cut {
                values.pop();
            }
            Ok(values)
        };
        assert!(unfitted.restore(&mut cut_state).is_err(), "{cut} of {}", fitted.spec());
    }
}
