//! The claims of the library: those of all methods in `harness`, the others one file per claim. One program for all of
//! them: linking each separately takes minutes.

mod agrees_with_brute_force;
mod agrees_with_the_exact_kernel;
mod basis_expansion;
mod blocks_basis_expansion;
mod blocks_power_mean;
mod blocks_thin_plate;
#[path = "../../../../fuzz/src/bytes.rs"]
#[allow(dead_code, reason = "each target uses some of it")]
mod bytes;
mod choosing_c;
mod choosing_power_mean;
mod columns_far_from_0;
mod common;
#[path = "../../../widemargin-kernels/tests/definitions/mod.rs"]
mod definitions;
mod equal_samples;
mod every_similarity;
mod examples;
mod expansion_alone;
mod explanations;
mod features_alone;
mod fuzz_corpus;
mod gap_is_reached;
mod grid_fixtures;
mod harness;
mod hog_fixtures;
mod keeps_its_digits;
mod kind_to_mistakes;
mod kinds_of_samples;
mod linear_common;
mod linear_dual;
mod linear_kind_to_mistakes;
mod linear_objective_sums;
mod linear_reaches_the_minimum;
mod linear_same_answer;
mod new_statistic;
mod no_import_circles;
mod one_class;
mod own_kernels;
mod probabilities;
mod regression_losses;
mod searches;
mod thin_plate_bases;
mod thin_plate_common;
mod thin_plate_fixtures;
mod thin_plate_invariances;
mod thin_plate_kind;
mod thin_plate_regression;
mod thin_plate_scaling;
mod thin_plate_truth;
mod time_limits;
mod which_bases;
