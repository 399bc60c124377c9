//! What was selected for one class, where C is selected for each class by itself.

use serde::{Deserialize, Serialize};

use crate::solve::thin_plate::{NullSpace, PathPoint};

/// What was selected for one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassPath {
    /// C of the class's problem.
    #[serde(rename = "C")]
    pub c: f64,
    /// λ = 1/(2C) in scale-free units.
    pub lambda: f64,
    /// How the polynomials were treated.
    #[serde(with = "named")]
    pub null_space: NullSpace,
    /// The results at every C that was tried, by descending λ.
    pub path: Vec<PathPoint>,
}

/// A null space by its name.
mod named {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::NullSpace;

    pub fn serialize<S: Serializer>(null_space: &NullSpace, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(null_space.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<NullSpace, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
