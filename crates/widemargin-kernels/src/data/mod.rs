//! Sample collections, labels and weights.
//!
//! This module does not read files and does not know similarities: a view borrows the caller's slices, checks once that
//! they are consistent, and provides rows.

mod any_rows;
mod any_samples;
mod bit_sets;
mod column_roles;
mod columns;
mod dense;
mod distinct;
mod far_vectors;
mod fingerprint;
mod fold_classes;
mod folds;
mod images;
mod label_sets;
mod labels;
mod multilabel;
mod notation;
mod offsets;
mod resources;
mod rows;
mod samples;
mod series;
mod sparse;
mod string_units;
mod table_columns;
mod targets;
mod training;
mod vectors;
mod views;
mod weights;

pub use crate::linalg::Element;
pub use any_samples::{AnySamples, Collection, OwnSamples};
pub use bit_sets::BitSets;
pub use dense::{DenseMatrix, DenseView};
pub use fingerprint::Fingerprint;
pub use folds::{grouped_folds, stratified_folds};
pub use images::{Grids, Images};
pub use labels::{Label, Labels};
pub use resources::{Checkpoint, Resources, Scratch};
pub use rows::Rows;
pub use samples::{Samples, Source};
pub use series::Series;
pub use sparse::{CsrMatrix, CsrView};
pub(crate) use string_units::UnitCodes;
pub use targets::Targets;
pub(crate) use training::Mapped;
pub use training::Training;
pub use vectors::Vectors;
pub use views::SamplesView;
pub use weights::ClassWeight;
#[doc(hidden)]
pub use {
    any_rows::AnyRows, any_samples::Kind, any_samples::VectorSource, column_roles::ColumnRoles,
    column_roles::RoleColumn, columns::column_order, distinct::ABSENT, distinct::Distinct, distinct::WeightedCodes,
    distinct::common_divisor_of, far_vectors::FarVectors, fingerprint::fingerprints, fold_classes::FoldClasses,
    labels::LabelParts, notation::Decimal, notation::Notation, offsets::ColumnRanges, offsets::Offsets,
    offsets::offsets_of, resources::load as load_checkpoint, resources::save as save_checkpoint, rows::PickedRows,
    rows::visit_histogram, string_units::Unit, table_columns::ColumnKind, table_columns::Encoded,
    table_columns::TableColumn, table_columns::TableColumns, table_columns::as_boolean, training::About,
    training::Picked, weights::check_costs, weights::effective_weights, weights::samples_at,
};
