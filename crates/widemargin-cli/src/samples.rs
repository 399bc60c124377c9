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
        }
    };
}
pub(crate) use with_rows;

use widemargin::Result;
use widemargin::data::Rows;
use widemargin_io::Samples;

/// Number of non-zeros.
pub fn count_nonzeros(samples: &Samples) -> Result<u64> {
    with_rows!(samples, |view| {
        let mut n = 0;
        (0..view.n_rows()).for_each(|row| view.for_each_nonzero(row, |_, _| n += 1));
        Ok(n)
    })
}
