//! Which compiled loops a machine and a precision get.

use super::Precision;
use super::pack::Format;
use super::portable;
use super::tile::{Products, Windows};
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::isa::Isa;

/// A loop for tiles of one shape.
pub(super) type ProductsLoop = unsafe fn(&Products);

/// A loop for windows of one kind.
pub(super) type WindowsLoop = unsafe fn(&Windows);

/// Compiled loops, and the shapes they are for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// How cells are laid out for the loops.
    pub format: Format,
    /// Lanes of a vector.
    pub lanes: usize,
    /// The most samples of a tile.
    pub most_samples: usize,
    /// Products of tiles of 1 … `most_samples` samples and one or two vectors of bases.
    ///
    /// # Safety of what it returns
    /// All that [`Products`] points to may be read and written.
    pub products: fn(samples: usize, vectors: usize) -> ProductsLoop,
    /// Maxima over windows of given shifts, local radii and penalty. Safe to call as [`Machine::products`] is, with
    /// windows of that kind.
    pub windows: fn(shifts: [usize; 2], local: [usize; 2], penalised: bool) -> WindowsLoop,
    pub add: fn(&mut [f32], &[f32]),
    pub keep_best: fn(&mut [f32], &[f32], f32),
}

impl Machine {
    /// The fastest of this machine's.
    pub fn best(precision: Precision) -> Machine {
        match (Isa::best(), precision) {
            #[cfg(target_arch = "x86_64")]
            (isa, Precision::Bf16) if isa.has_bf16() && x86::pairs_pay() => x86::avx512_pairs(),
            (isa, precision) => Self::new(isa, precision),
        }
    }

    /// The loops for an instruction set of [`Isa::available`] with multiplications in single precision.
    pub fn new(isa: Isa, precision: Precision) -> Machine {
        let format = match precision {
            Precision::F32 => Format::Single,
            Precision::Bf16 => Format::Rounded,
        };
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::avx512(format),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::avx2(format),
            _ => portable::machine(format),
        }
    }

    /// All that can run here.
    #[cfg(test)]
    pub fn all(precision: Precision) -> Vec<Machine> {
        let mut all: Vec<Machine> = Isa::available().into_iter().map(|isa| Self::new(isa, precision)).collect();
        #[cfg(target_arch = "x86_64")]
        if precision == Precision::Bf16 && Isa::best().has_bf16() {
            all.push(x86::avx512_pairs());
        }
        all
    }
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

/// Picks the monomorphic windows: those of radius 1 have loops of their own for the usual shifts.
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
