//! Every similarity straight from its formula, one pair at a time and in double precision: what the claims and the unit
//! tests compare blocks with.

mod earth_mover;
mod series;
pub mod strings;
mod vectors;

use widemargin::Result;
use widemargin::similarity::Arguments;

/// s(x, y) of two samples; x is the basis.
#[derive(Clone, Copy, Debug)]
pub enum Definition {
    /// Of two vectors. A set is a vector of 0 and 1.
    Vectors(OfVectors),
    /// Of two strings.
    Strings(OfStrings),
    /// Of two series, \[time step\]\[channel\], and the number of channels.
    Series(OfSeries),
}

pub type OfVectors = fn(&Arguments<'_>, &[f64], &[f64]) -> Result<f64>;
pub type OfStrings = fn(&Arguments<'_>, &[char], &[char]) -> Result<f64>;
pub type OfSeries = fn(&Arguments<'_>, &[f32], &[f32], usize) -> Result<f64>;

/// The definition of the similarity with this name; `None` where the tests of its module have their own.
pub fn of(name: &str) -> Option<Definition> {
    let vectors = vectors::of(name).map(Definition::Vectors);
    vectors.or_else(|| strings::of(name).map(Definition::Strings)).or_else(|| series::of(name).map(Definition::Series))
}
