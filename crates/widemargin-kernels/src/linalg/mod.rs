//! Dense linear algebra: the only module that uses `faer`. Matrices are passed as slices with their shapes.

mod cholesky;
pub mod eigen;
pub mod factor;
pub mod pivoted;
mod product;
mod registers;
pub mod single;
mod tall_skinny;

pub use cholesky::Cholesky;
pub use product::{Columns, Element, add, add_cross_product, add_gram, outer, times};
pub use tall_skinny::{Panel, add_combination, scores};
