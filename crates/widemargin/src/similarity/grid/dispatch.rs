//! Which compiled loops a machine and a precision get.

use super::kernels::Kernels;
use super::matching::Precision;
use super::pack::Format;
use super::portable;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::isa::Isa;

impl Kernels {
    /// The fastest of this machine's.
    pub fn best(precision: Precision) -> Kernels {
        match (Isa::best(), precision) {
            #[cfg(target_arch = "x86_64")]
            (isa, Precision::Bf16) if isa.has_bf16() && x86::pairs_pay() => x86::avx512_pairs(),
            (isa, precision) => Self::new(isa, precision),
        }
    }

    /// The loops for an instruction set of [`Isa::available`] with multiplications in single precision.
    pub fn new(isa: Isa, precision: Precision) -> Kernels {
        let format = match precision {
            Precision::F32 => Format::Single,
            Precision::Bf16 => Format::Rounded,
        };
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::avx512(format),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::avx2(format),
            _ => portable::kernels(format),
        }
    }

    /// All that can run here.
    #[cfg(test)]
    pub fn all(precision: Precision) -> Vec<Kernels> {
        let mut all: Vec<Kernels> = Isa::available().into_iter().map(|isa| Self::new(isa, precision)).collect();
        #[cfg(target_arch = "x86_64")]
        if precision == Precision::Bf16 && Isa::best().has_bf16() {
            all.push(x86::avx512_pairs());
        }
        all
    }
}
