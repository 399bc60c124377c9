//! Common parts of descriptors that convolve series: reading the training series, errors, and restoring the fitted
//! state.

use super::row::of_kind;
use crate::data::{AnySamples, DenseMatrix, Samples, Series, Training};
use crate::error::{Error, Result};
use crate::memory;

/// Series read at a time for their lengths.
const CHUNK_SERIES: usize = 256;

/// The length of the longest training series, and the number of channels.
pub(super) fn shape(training: &Training<'_, Series>) -> Result<(usize, usize)> {
    let n = training.samples.n_samples();
    let (mut longest, mut channels) = (0, 1);
    for first in (0..n).step_by(CHUNK_SERIES) {
        training.go_on("describe")?;
        let chunk = training.samples.chunk(first..n.min(first + CHUNK_SERIES))?;
        let weights = &training.weights[first..];
        let lengths = chunk.lengths().into_iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        longest = lengths.map(|(length, _)| length).fold(longest, usize::max);
        channels = chunk.channels();
    }
    Ok((longest, channels))
}

/// Rejects series with another number of channels than the training series, and values that are not finite numbers.
pub(super) fn check(spec: &str, series: &Series, n_channels: usize) -> Result<()> {
    if series.channels() != n_channels {
        let found = series.channels();
        return Err(Error::similarity(
            spec,
            format!("the samples have {found} channels, the training samples {n_channels}: they need the same"),
        ));
    }
    let wrong = |(number, problem)| Error::Sample { similarity: spec.to_owned(), is_basis: false, number, problem };
    series.problem().map_or(Ok(()), |problem| Err(wrong(problem)))
}

/// Samples as series.
pub(super) fn series_of(spec: &str, samples: AnySamples) -> Result<Series> {
    of_kind(spec, "convolves time series", samples)
}

/// A row of features for each series, set by `describe`; `advice` on reducing their number is for the message.
pub(super) fn features(
    series: &Series,
    n_cols: usize,
    advice: &'static str,
    mut describe: impl FnMut(&[f32], &mut [f32]),
) -> Result<DenseMatrix<f32>> {
    let n_rows = series.len();
    let needed = memory::product(&[size_of::<f32>(), n_rows, n_cols]);
    memory::check(needed, || format!("the {n_cols} features of {n_rows} series"), advice)?;
    let mut values = vec![0.0; n_rows * n_cols];
    for (at, out) in values.chunks_mut(n_cols).enumerate() {
        describe(series.series(at), out);
    }
    Ok(DenseMatrix { values, n_rows, n_cols })
}

/// The arrays of a state by their names, and the error for those that do not belong together.
pub(super) fn arrays<const N: usize>(
    spec: &str,
    names: [&str; N],
    state: &mut dyn FnMut(&str) -> Result<Vec<f32>>,
) -> Result<([Vec<f32>; N], Error)> {
    let mut arrays = [const { Vec::new() }; N];
    for (array, name) in arrays.iter_mut().zip(names) {
        *array = state(name)?;
    }
    let found = names.iter().zip(&arrays).map(|(name, array)| format!("{} {name}", array.len()));
    let (what, found) = (format!("learned parameters of '{spec}'"), found.collect::<Vec<_>>().join(", "));
    Ok((arrays, Error::shape(what, found, "arrays that belong together")))
}

/// The state of a fitted descriptor is restored in an unfitted one, which refuses each array when it is cut.
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
