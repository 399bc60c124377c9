//! Compiled loops, and the shapes they are for.

use super::tile::{Products, Windows};

/// A loop for tiles of one shape.
pub(super) type ProductsLoop = unsafe fn(&Products);

/// A loop for windows of one kind.
pub(super) type WindowsLoop = unsafe fn(&Windows);

/// Compiled loops, and the shapes they are for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels {
    /// Lanes of a vector.
    pub lanes: usize,
    /// The maximum number of samples of a tile.
    pub most_samples: usize,
    /// Products of tiles of 1 … `most_samples` samples and one or two vectors of bases.
    ///
    /// # Safety of what it returns
    /// All memory that [`Products`] points to must be valid for reads and writes.
    pub products: fn(samples: usize, vectors: usize) -> ProductsLoop,
    /// Maxima over windows of given shifts, local radii and penalty. Safety as for [`Kernels::products`], with windows
    /// of that kind.
    pub windows: fn(shifts: [usize; 2], local: [usize; 2], penalised: bool) -> WindowsLoop,
    pub add: fn(&mut [f32], &[f32]),
    pub keep_best: fn(&mut [f32], &[f32], f32),
}

/// Picks the monomorphic products for a run-time number of samples and vectors.
macro_rules! pick_products {
    ($products:ident, $samples:expr, $vectors:expr, [$($n:literal)*]) => {
        match ($samples, $vectors) {
            $(($n, 1) => $products::<$n, 1>,)*
            $(($n, 2) => $products::<$n, 2>,)*
            _ => unreachable!("a tile larger than `most_samples`, or of more than two vectors"),
        }
    };
}
pub(super) use pick_products;

/// Picks the monomorphic windows: radius 1 has specialised loops for the usual shifts.
macro_rules! pick_windows {
    ($windows:ident, $windows_of_three:ident, $shifts:expr, $local:expr, $penalised:expr) => {
        match ($shifts[1], $local, $penalised) {
            (1, [1, 1], false) => $windows_of_three::<1, false>,
            (3, [1, 1], false) => $windows_of_three::<3, false>,
            (5, [1, 1], false) => $windows_of_three::<5, false>,
            (1, [1, 1], true) => $windows_of_three::<1, true>,
            (3, [1, 1], true) => $windows_of_three::<3, true>,
            (5, [1, 1], true) => $windows_of_three::<5, true>,
            (_, _, false) => $windows::<false>,
            (_, _, true) => $windows::<true>,
        }
    };
}
pub(super) use pick_windows;
