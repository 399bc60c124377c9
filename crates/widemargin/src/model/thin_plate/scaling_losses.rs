//! The leave-one-out losses of original and of standardized columns.

/// The least leave-one-out loss of a path, and its λ in scale-free units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeastLoss {
    pub loss: f64,
    pub lambda: f64,
}

/// The leave-one-out losses of original and of standardized columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalingLosses {
    pub plain: LeastLoss,
    pub standard: LeastLoss,
    /// Whether of all samples.
    pub is_of_all: bool,
}

impl ScalingLosses {
    /// Whether standardized columns have the lower loss.
    pub fn standardize(&self) -> bool {
        self.standard.loss < self.plain.loss
    }
}
