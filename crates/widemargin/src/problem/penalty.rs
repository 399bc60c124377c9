//! The penalty on the weights of a linear SVM.

use crate::macros::named;

/// The penalty, which is minimized together with C Σ loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Penalty {
    /// ½‖w‖², by which the weights are small.
    #[default]
    L2,
    /// ‖w‖₁, by which most weights are 0.
    L1,
}

named!("penalty": Penalty { "l2" = Penalty::L2, "l1" = Penalty::L1 });
