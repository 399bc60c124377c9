//! Sample collections, labels and weights.
//!
//! This module does not read files and does not know similarities: a view borrows the caller's slices, checks once that
//! they are consistent, and provides rows.

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

pub use any_samples::AnySamples;
#[doc(hidden)]
pub use any_samples::{Kind, VectorSource};
pub use bit_sets::BitSets;
#[doc(hidden)]
pub use column_roles::{ColumnRoles, RoleColumn};
#[doc(hidden)]
pub use columns::column_order;
pub use dense::{DenseMatrix, DenseView};
pub(crate) use distinct::{ABSENT, Distinct, WeightedCodes};
#[doc(hidden)]
pub use far_vectors::FarVectors;
#[doc(hidden)]
pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::fingerprints;
#[doc(hidden)]
pub use fold_classes::FoldClasses;
pub use folds::{grouped_folds, stratified_folds};
pub use images::{Grids, Images};
pub use labels::{Label, Labels};
#[doc(hidden)]
pub use offsets::{ColumnRanges, Offsets, offsets_of};
pub use resources::{Checkpoint, Resources, Scratch};
pub(crate) use resources::{load as load_checkpoint, save as save_checkpoint};
pub(crate) use rows::PickedRows;
#[doc(hidden)]
pub use rows::{Rows, visit_histogram};
pub use samples::{Samples, Source};
pub use series::Series;
#[doc(hidden)]
#[doc(hidden)]
pub use sparse::Index;
pub use sparse::{CsrMatrix, CsrView};
#[doc(hidden)]
pub use string_units::Unit;
pub(crate) use string_units::UnitCodes;
#[doc(hidden)]
pub use table_columns::{ColumnKind, Encoded, TableColumn, TableColumns, as_boolean};
pub use targets::Targets;
#[doc(hidden)]
pub use training::Training;
pub(crate) use training::{About, Mapped, Picked};
#[doc(hidden)]
pub use vectors::Vectors;
#[doc(hidden)]
#[doc(hidden)]
pub use views::AnyRows;
pub use views::SamplesView;
pub use weights::ClassWeight;
#[doc(hidden)]
pub use weights::{check_costs, effective_weights};

/// A floating-point type of a view: `f32` or `f64`.
pub trait Element: Copy + Send + Sync + Into<f64> + sealed::Sealed + 'static {}
impl Element for f32 {}
impl Element for f64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
    impl Sealed for u32 {}
    impl Sealed for usize {}
}
