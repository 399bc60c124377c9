//! NPZ: a zip archive of NPY arrays.
//!
//! Reads SciPy's `save_npz` layouts csr, csc and coo, and dense archives with the array `X`; either may also contain
//! `labels` or `y`, and `feature_names`. Writes SciPy's csr layout, or `X`, with `y` or `labels`.

mod archive;
mod read;
mod sparse;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::write;
