//! Files to views and back, one file a format or a claim. One program for all of them.

mod atomic_write;
#[path = "../../../../fuzz/src/bytes.rs"]
#[allow(dead_code, reason = "each target uses some of it")]
mod bytes;
mod common;
mod csv;
mod dirty_tables;
mod fuzz_corpus;
mod hostile;
mod images;
mod libsvm;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod resources;
mod round_trip;
mod samples;
mod shards;
mod store;
mod tables;
