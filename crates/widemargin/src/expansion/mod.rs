//! φ(x): coordinates in which a similarity becomes a dot product, or nearly.

mod additive_map;
mod coded_rows;
mod explicit;
mod nodes;
mod value_codes;

pub use additive_map::{AdditiveMap, Approximation, MAX_NODES, PAPER_NODES};
pub use coded_rows::{CodedRows, Entries, Entry, Narrow, Wide};
pub use explicit::{explicit, explicit_bytes};
pub use nodes::choose_nodes;
pub(crate) use value_codes::ValueCodes;
