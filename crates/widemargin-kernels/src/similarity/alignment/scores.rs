//! Scores of pairs of characters.

use super::matrices::Matrix;
use crate::macros::named;

/// The scores of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scores {
    /// By equality.
    Equal { same: i32, other: i32 },
    /// By a substitution matrix.
    Matrix(&'static Matrix),
}

/// Which alignments are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::similarity) enum Mode {
    /// Of any two substrings.
    Local,
    /// Of both strings from end to end.
    Global,
    /// Of both strings, gaps at any of their ends free.
    Semiglobal,
}

named!("mode": Mode {
    "local" = Mode::Local,
    "global" = Mode::Global,
    "semiglobal" = Mode::Semiglobal,
});
