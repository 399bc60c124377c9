//! The selection for one class, if C is selected for each class.

use serde::{Deserialize, Serialize};

use crate::solve::thin_plate::{PathPoint, Polynomials};

/// The selection for one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassPath {
    /// C of the problem of the class.
    #[serde(rename = "C")]
    pub c: f64,
    /// λ = 1/(2C) in scale-free units.
    pub lambda: f64,
    /// How the polynomials were treated.
    pub polynomials: Polynomials,
    /// The results at every evaluated C, by descending λ.
    pub path: Vec<PathPoint>,
}
