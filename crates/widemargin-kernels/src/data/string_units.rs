//! The units of strings: code points or grapheme clusters.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::macros::named;
use crate::parameters::{Parameter, Values};

/// The unit of strings.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A Unicode code point.
    #[default]
    Character,
    /// An extended grapheme cluster (Unicode Standard Annex 29), one character to a reader: a letter with its
    /// combining marks, a flag, an emoji with its modifiers. Clusters are equal whose code points are; texts of several
    /// sources should have one normal form, such as NFC.
    Grapheme,
}

named!("unit": Unit {
    "character" = Unit::Character,
    "grapheme" = Unit::Grapheme,
});

impl Unit {
    /// The option of similarities and descriptors of strings.
    pub(crate) const PARAMETER: Parameter = Parameter::new(
        "unit",
        Values::Words(&["character", "grapheme"]),
        "Whether to compare code points, or grapheme clusters such as a letter with its accents.",
    )
    .or("character");

    /// The units of a string.
    pub fn split(self, string: &str) -> Vec<&str> {
        let mut units = Vec::new();
        self.each(string, |unit| units.push(unit));
        units
    }

    /// The units of a string, one after another.
    pub(crate) fn each<'s>(self, string: &'s str, mut unit: impl FnMut(&'s str)) {
        match self {
            Unit::Character => string.char_indices().for_each(|(at, c)| unit(&string[at..at + c.len_utf8()])),
            Unit::Grapheme => string.graphemes(true).for_each(unit),
        }
    }
}

/// The units of some strings as numbers, equal where the units are.
#[derive(Debug, Default)]
pub(crate) struct UnitCodes<'s> {
    unit: Unit,
    /// Of clusters of several code points.
    clusters: HashMap<&'s str, u32>,
}

/// Above all code points.
const FIRST_CLUSTER: u32 = char::MAX as u32 + 1;

impl<'s> UnitCodes<'s> {
    pub fn new(unit: Unit) -> Self {
        UnitCodes { unit, ..UnitCodes::default() }
    }

    /// A string's units: a code point as it is, clusters of several numbered in the order in which they are met.
    pub fn of(&mut self, string: &'s str) -> Vec<u32> {
        if self.unit == Unit::Character {
            return string.chars().map(u32::from).collect();
        }
        let code = |cluster: &'s str| {
            let mut characters = cluster.chars();
            match (characters.next(), characters.next()) {
                (Some(one), None) => u32::from(one),
                _ => {
                    let next = FIRST_CLUSTER + self.clusters.len() as u32;
                    *self.clusters.entry(cluster).or_insert(next)
                }
            }
        };
        string.graphemes(true).map(code).collect()
    }

    /// The units of each of several strings.
    pub fn of_all(&mut self, strings: &'s [String]) -> Vec<Vec<u32>> {
        strings.iter().map(|string| self.of(string)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// e with a combining accent, a family of three and a flag are one unit each.
    const TEXT: &str = "ae\u{301}\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{1F1EC}\u{1F1F7}e";

    #[test]
    fn clusters_are_units() {
        let units = |unit: Unit| {
            let mut found = Vec::new();
            unit.each(TEXT, |one| found.push(one));
            assert_eq!(found.concat(), TEXT);
            found.len()
        };
        assert_eq!((units(Unit::Character), units(Unit::Grapheme)), (11, 5));
    }

    #[test]
    fn codes_are_equal_where_units_are() {
        let mut codes = UnitCodes::new(Unit::Grapheme);
        let (first, again) = (codes.of(TEXT), codes.of("e\u{301}e\u{300}e"));
        assert_eq!(first.len(), 5);
        assert_eq!((again[0], again[2]), (first[1], u32::from('e')));
        assert!(again[1] != again[0] && again[1] >= FIRST_CLUSTER);
        assert_eq!(UnitCodes::new(Unit::Character).of("é"), [0xE9]);
    }
}
