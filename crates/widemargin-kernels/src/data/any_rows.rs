//! Borrowed rows of numbers whose form is known only when the program runs.

use super::{CsrView, DenseView, FarVectors, Rows};

/// Rows of numbers, dense or sparse, in single or double precision.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum AnyRows<'a> {
    /// Dense rows in single precision.
    DenseF32(DenseView<'a, f32>),
    /// Dense rows in double precision.
    DenseF64(DenseView<'a, f64>),
    /// Sparse rows in single precision.
    SparseF32(CsrView<'a, f32>),
    /// Sparse rows in double precision.
    SparseF64(CsrView<'a, f64>),
    /// Dense rows with columns far from 0.
    Far(&'a FarVectors),
}

/// Evaluates an expression on the rows, whatever their form.
macro_rules! on_rows {
    ($any:expr, $rows:ident => $body:expr) => {
        match $any {
            AnyRows::DenseF32($rows) => $body,
            AnyRows::DenseF64($rows) => $body,
            AnyRows::SparseF32($rows) => $body,
            AnyRows::SparseF64($rows) => $body,
            AnyRows::Far($rows) => $body,
        }
    };
}

impl Rows for AnyRows<'_> {
    fn n_rows(&self) -> usize {
        on_rows!(self, rows => rows.n_rows())
    }

    fn n_cols(&self) -> usize {
        on_rows!(self, rows => rows.n_cols())
    }

    #[inline]
    fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64)) {
        on_rows!(self, rows => rows.for_each_nonzero(row, visit))
    }

    fn prefetch(&self, row: usize) {
        on_rows!(self, rows => rows.prefetch(row))
    }

    fn stored(&self) -> Option<usize> {
        on_rows!(self, rows => rows.stored())
    }
}

macro_rules! from_view {
    ($($view:ty => $variant:ident),*) => {$(
        impl<'a> From<$view> for AnyRows<'a> {
            fn from(view: $view) -> Self {
                AnyRows::$variant(view)
            }
        }
    )*};
}
from_view!(
    DenseView<'a, f32> => DenseF32, DenseView<'a, f64> => DenseF64,
    CsrView<'a, f32> => SparseF32, CsrView<'a, f64> => SparseF64
);
