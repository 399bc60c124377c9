//! The programs in `examples/rust` run, and find what they say.

#[path = "../../../../examples/rust/first_model.rs"]
mod first_model;
#[path = "../../../../examples/rust/own_similarity.rs"]
mod own_similarity;
#[path = "../../../../examples/rust/regression.rs"]
mod regression;
#[path = "../../../../examples/rust/strings.rs"]
mod strings;
