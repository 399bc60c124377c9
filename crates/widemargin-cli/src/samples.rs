//! From the samples of a file to the views that the library takes.

/// Runs an expression with `$view` bound to the view of the samples, whatever they are.
///
/// The expression is compiled once for each kind of samples; its error type must be made from the library's.
macro_rules! with_rows {
    ($samples:expr, |$view:ident| $body:expr) => {
        match $samples {
            widemargin_io::Samples::SparseF32(matrix) => matrix.view().and_then(|$view| $body),
            widemargin_io::Samples::SparseF64(matrix) => matrix.view().and_then(|$view| $body),
            widemargin_io::Samples::DenseF32(matrix) => matrix.view().and_then(|$view| $body),
            widemargin_io::Samples::DenseF64(matrix) => matrix.view().and_then(|$view| $body),
            widemargin_io::Samples::Other(samples) => Err(crate::samples::no_vectors(samples)),
        }
    };
}
pub(crate) use with_rows;

use widemargin::data::{AnySamples, Rows, Source};
use widemargin::similarity::default_spec;
use widemargin::{Error, Result};
use widemargin_io::Samples;

/// Runs an expression with `$source` bound to the samples as a similarity's source, whatever they are.
macro_rules! with_source {
    ($samples:expr, |$source:ident| $body:expr) => {
        match $samples {
            widemargin_io::Samples::Other(samples) => {
                let $source = samples;
                $body
            }
            vectors => crate::samples::with_rows!(vectors, |view| {
                let $source = &widemargin::data::VectorSource(&view);
                $body
            }),
        }
    };
}
pub(crate) use with_source;

/// The samples as any similarity takes them: a copy.
pub fn any_samples(samples: &Samples) -> Result<AnySamples> {
    with_source!(samples, |source| Source::chunk(source, 0..source.n_samples()))
}

/// The similarity for samples of a kind where none is named.
pub fn default_similarity(samples: &Samples) -> &'static str {
    match samples {
        Samples::Other(samples) => default_spec(samples),
        _ => "rbf",
    }
}

/// What a method that compares vectors says of other samples.
pub fn no_vectors(samples: &AnySamples) -> Error {
    Error::Kind { given: samples.kind(), method: "this method".into(), wanted: "vectors (basis-expansion takes all)" }
}

/// Some of the samples.
pub fn select(samples: &Samples, rows: &[usize]) -> Result<Samples> {
    Ok(match samples {
        Samples::SparseF32(matrix) => Samples::SparseF32(matrix.view()?.select(rows)),
        Samples::SparseF64(matrix) => Samples::SparseF64(matrix.view()?.select(rows)),
        Samples::DenseF32(matrix) => Samples::DenseF32(matrix.view()?.select(rows)),
        Samples::DenseF64(matrix) => Samples::DenseF64(matrix.view()?.select(rows)),
        Samples::Other(samples) => Samples::Other(widemargin::data::Samples::select(samples, rows)),
    })
}

/// Number of non-zeros; 0 where the samples are no vectors.
pub fn count_nonzeros(samples: &Samples) -> Result<u64> {
    if let Samples::Other(_) = samples {
        return Ok(0);
    }
    with_rows!(samples, |view| {
        let mut n = 0;
        (0..view.n_rows()).for_each(|row| view.for_each_nonzero(row, |_, _| n += 1));
        Ok(n)
    })
}
