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
