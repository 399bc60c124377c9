//! Scores of pairs of characters.

use super::matrices::Matrix;

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
pub(super) enum Mode {
    /// Of any two substrings.
    Local,
    /// Of both strings from end to end.
    Global,
    /// Of both strings, gaps at any of their ends free.
    Semiglobal,
}

impl Mode {
    pub const NAMES: &[&str] = &["local", "global", "semiglobal"];

    pub fn named(name: Option<&str>) -> Mode {
        match name {
            Some("global") => Mode::Global,
            Some("semiglobal") => Mode::Semiglobal,
            _ => Mode::Local,
        }
    }
}
