//! Dense linear algebra: the only module that uses `faer`. Matrices are passed as slices with their shapes.

mod cholesky;
pub(crate) mod eigen;
pub(crate) mod factor;
pub(crate) mod pivoted;
mod product;
mod registers;
pub(crate) mod single;
mod tall_skinny;

pub(crate) use cholesky::Cholesky;
pub(crate) use product::{Columns, Real, add, add_cross_product, add_gram, outer, times};
pub(crate) use tall_skinny::{Panel, add_combination, scores};
