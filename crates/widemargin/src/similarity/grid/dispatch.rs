//! Selection of the compiled loops.

use super::kernels::Kernels;
use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::isa::Isa;

impl Kernels {
    /// The loops for an instruction set of [`Isa::available`].
    pub fn new(isa: Isa) -> Kernels {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::avx512(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::avx2(),
            _ => portable::kernels(),
        }
    }
}
