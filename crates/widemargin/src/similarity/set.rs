//! Similarities of sets and of counts: `tanimoto` and `cosine`.
//!
//! | | sets x, y | counts x, y |
//! |---|---|---|
//! | `tanimoto` | \|x ∩ y\| / \|x ∪ y\| | x·y / (x·x + y·y − x·y) |
//! | `cosine` | \|x ∩ y\| / √(\|x\| \|y\|) | x·y / √(x·x · y·y) |
//!
//! On vectors of 0 and 1 the columns agree. Tanimoto (Rogers and Tanimoto 1960; Jaccard 1901 on sets) is the usual
//! measure for molecules; the form with products is the usual one for counts (Willett, Barnard and Downs, *Chemical
//! similarity searching*, 1998, table 1). Both are positive semi-definite (Ralaivola et al. 2005) and 1 on the
//! diagonal: two empty sets are equal, so their similarity is 1.

mod bits;
mod counts;

pub use bits::{SetCosine, Tanimoto};
pub use counts::{CountCosine, CountTanimoto};

use super::any::either::Either;
use super::definitions::product;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built};

const COSINE: SimilarityRow = SimilarityRow {
    name: "cosine",
    class: "Cosine",
    samples: &["bit sets", "vectors"],
    formula: "x·y / √(x·x · y·y), of sets |x ∩ y| / √(|x| |y|)",
    about: "Two that are empty, or all 0, are equal.",
    parameters: &[],
    examples: &["cosine"],
    definite: Definite::Positive,
    definition: Some(Definition::Vectors(|_, x, y| {
        let size = (product(x, x) * product(y, y)).sqrt();
        Ok(if size > 0.0 { product(x, y) / size } else { f64::from(x == y) })
    })),
    onnx: Onnx::Expression("cosine"),
    build: |step| built(SetCosine::from_step(step).and_then(|sets| Ok(Either(sets, CountCosine::from_step(step)?)))),
};

pub(super) const ROWS: &[SimilarityRow] = &[
    COSINE,
    SimilarityRow {
        name: "tanimoto",
        class: "Tanimoto",
        formula: "x·y / (x·x + y·y − x·y), of sets |x ∩ y| / |x ∪ y|",
        examples: &["tanimoto"],
        definition: Some(Definition::Vectors(|_, x, y| {
            let either = product(x, x) + product(y, y) - product(x, y);
            Ok(if either > 0.0 { product(x, y) / either } else { 1.0 })
        })),
        onnx: Onnx::Expression("tanimoto"),
        build: |step| {
            built(Tanimoto::from_step(step).and_then(|sets| Ok(Either(sets, CountTanimoto::from_step(step)?))))
        },
        ..COSINE
    },
];
