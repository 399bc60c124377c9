//! The support vector machine with conditionally positive definite kernels.
//!
//! Walder & Chapelle, *Learning with Transformation Invariant Kernels*, NIPS 2007: minimize
//! ½‖f‖² + C Σ max(0, 1 − y f)² over f = Σ α_i φ(·, x_i) + Σ β_m p_m with Pᵀα = 0. With λ = 1/(2C), at the
//! minimum λα_i = y_i max(0, 1 − y_i f_i).
//!
//! The O(n³) parts: one Cholesky factorization of the violators' block per Newton step (m³/3 for m violators), one
//! inverse of a triangle per C for leave-one-out (m³/3), one factorization of the whole matrix if the polynomials are
//! dropped (n³/3, shared by all problems and all C), and for fewer than 1,000 samples one for the first step (n³/3,
//! shared by all problems); with more samples the solver starts on a part of them.
//!
//! On B bases f = Σ α_j φ(·, z_j) + Σ β_m p_m: n·B² for the features and for the first Hessian, then the change of
//! the violators times B² per Newton step, and violators times B² per C for leave-one-out. All two-class problems are
//! solved together (`batched_newton.rs`), so that one pass over the samples serves them all: one per Newton step and
//! one per C. Features that do not fit in memory are recomputed in each pass, n·B² each. The solver accesses its
//! samples only through queries (`basis_queries.rs`), so that they may be remote.

mod basis_queries;
mod basis_sums;
mod basis_visits;
mod batched_newton;
mod block_fit;
mod block_sums;
mod exact;
mod exact_fit;
mod exact_newton;
mod exact_visits;
mod factor;
mod feature_map;
mod feature_matrix;
mod leave_one_out;
mod local;
mod log;
pub(crate) mod memory;
mod newton;
mod part_rows;
mod path;
mod polynomials;
mod row_sums;
mod settings;
mod squared_fit;
mod system;

pub(crate) use basis_queries::{BASIS_QUERIES, BasisRows};
pub(crate) use basis_sums::{FirstSums, Settled, fit_rows, rows_separate};
pub(crate) use block_fit::{BlockStorage, RawRows, fit_blocks};
pub(crate) use block_sums::RowData;
pub use block_sums::RowsState;
pub(crate) use exact_fit::fit_exact;
pub(crate) use feature_map::FeatureMap;
pub(crate) use feature_matrix::{FeatureFit, fit_features, leave_one_out_path, settings_of};
pub(crate) use local::{BLOCK, Local, SPAN};
pub(crate) use newton::Stop;
pub(crate) use part_rows::with_rows;
pub use path::PathPoint;
pub(crate) use path::{FitSettings, LossSettings, PathOptions, Problems, Run, Solved};
pub use polynomials::Polynomials;
pub(crate) use row_sums::{LeaveOneOutSums, RowsShape};
pub(crate) use settings::{Fitted, WhyNotFree};
pub(crate) use squared_fit::{fit_squared, numbers_of_squared};
pub(crate) use system::Point;
