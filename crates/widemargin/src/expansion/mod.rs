//! φ(x): features whose dot product equals or approximates a similarity.

mod additive_map;
mod affine;
mod basis_expansion;
mod coded_blocks;
mod coded_rows;
mod decision;
mod explicit;
mod inverse_root;
mod kernel_table;
mod nodes;
mod normalization;
mod own_map;
mod part_map;
mod sparse_features;
mod sparse_rows;
mod spectrum;
mod value_codes;
mod value_counts;

pub(crate) use additive_map::check_nodes_of;
pub use additive_map::{AdditiveMap, Approximation, MAX_NODES, PAPER_NODES, ReducedKernel, polynomial_nodes};
pub use affine::{FEATURE_QUERIES, FeaturePart, FeatureRows};
pub(crate) use basis_expansion::ROWS_A_CHUNK;
pub use basis_expansion::{BasisExpansion, describe};
pub(crate) use coded_blocks::{BookMaker, Gathered, Piece, PieceBuffer, ROW_BYTES, entry_bytes, gather};
pub(crate) use coded_rows::Codebook;
pub use coded_rows::{CodedRows, Entries, Entry, Narrow, Wide};
pub(crate) use decision::Decision;
pub use explicit::{Explicit, explicit, explicit_block, explicit_bytes};
pub use kernel_table::KernelTable;
pub use nodes::choose_nodes;
pub use normalization::{Definite, Normalization};
pub(crate) use own_map::own_map;
pub(crate) use part_map::PartMap;
pub use spectrum::{Negative, Spectrum, spectrum, spectrum_with};
pub(crate) use value_codes::ValueCodes;
pub use value_counts::{CountValues, ValueCounts};
