//! The vector instruction sets for which loops are compiled, and detection of those available.

use std::sync::OnceLock;

#[cfg(target_arch = "aarch64")]
use crate::simd::Neon;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Portable, Simd};

/// Evaluates an expression with the [vectors](crate::simd::Simd) of an instruction set. Code that is to use its
/// instructions must be inlined into [`compiled`](crate::simd::Simd::compiled).
#[macro_export]
#[doc(hidden)]
macro_rules! dispatch {
    ($isa:expr, $simd:ident => $body:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx512($simd) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx2($simd) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::isa::Isa::Neon($simd) => $body,
            $crate::isa::Isa::Portable($simd) => $body,
        }
    };
}

/// Instruction sets, best first, each with the proof that this machine has it.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// AVX-512: 16 lanes.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// AVX2 with fused multiply-add: 8 lanes.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Neon: 4 lanes.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// Plain Rust, for every processor.
    Portable(Portable),
}

impl Isa {
    /// Those of this machine, best first.
    pub fn available() -> Vec<Isa> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            Avx512::available().map(Isa::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2::available().map(Isa::Avx2),
            #[cfg(target_arch = "aarch64")]
            Neon::available().map(Isa::Neon),
            Some(Isa::Portable(Portable)),
        ];
        all.into_iter().flatten().collect()
    }

    /// The best of this machine.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::available()[0])
    }

    /// The lanes of a vector of 32-bit numbers.
    pub fn lanes(self) -> usize {
        fn lanes<S: Simd>(_: S) -> usize {
            S::LANES
        }
        dispatch!(self, simd => lanes(simd))
    }
}

/// Compiles a loop of plain Rust for each instruction set; the function runs the best one available, or that of its
/// first argument where it is declared as `fn name(isa; …)`. The sequence of operations is the same for all, without
/// fused multiply-adds, so that results do not depend on the choice.
///
/// A function for each, not closures in [`compiled`](crate::simd::Simd::compiled): the compiler vectorizes loops over
/// references because it knows that a function's do not alias.
#[macro_export]
#[doc(hidden)]
macro_rules! compiled {
    ($(#[$doc:meta])* $visible:vis fn $name:ident$(<$type:ident: $bound:path>)?($isa:ident; $($argument:ident: $kind:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        $visible fn $name$(<$type: $bound>)?($isa: $crate::isa::Isa, $($argument: $kind),*) {
            #[inline(always)]
            fn body$(<$type: $bound>)?($($argument: $kind),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            fn avx512$(<$type: $bound>)?($($argument: $kind),*) {
                body($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2$(<$type: $bound>)?($($argument: $kind),*) {
                body($($argument),*);
            }
            match $isa {
                // SAFETY: the value is the proof that this machine has the instruction set.
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Isa::Avx512(_) => unsafe { avx512($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Isa::Avx2(_) => unsafe { avx2($($argument),*) },
                _ => body($($argument),*),
            }
        }
    };
    ($(#[$doc:meta])* $visible:vis fn $name:ident$(<$type:ident: $bound:path>)?($($argument:ident: $kind:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        $visible fn $name$(<$type: $bound>)?($($argument: $kind),*) {
            $crate::isa::compiled! {
                fn with$(<$type: $bound>)?(isa; $($argument: $kind),*) $body
            }
            with($crate::isa::Isa::best(), $($argument),*);
        }
    };
}

pub use {compiled, dispatch};
