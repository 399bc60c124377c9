//! Which compiled loops a machine and a precision get.

use super::Precision;
use super::pack::Format;
use super::portable;
use super::tile::{Products, Windows};
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::isa::Isa;

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
    pub products: fn(samples: usize, vectors: usize) -> unsafe fn(&Products),
    /// Maxima over windows, with a penalty or without. Safe to call as [`Machine::products`] is.
    pub windows: fn(penalised: bool) -> unsafe fn(&Windows),
    pub add: fn(&mut [f32], &[f32]),
    pub keep_best: fn(&mut [f32], &[f32], f32),
}

impl Machine {
    /// The loops for an instruction set of [`Isa::available`].
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
