//! The vector instruction sets for which loops are compiled, and detection of those available.

use std::sync::OnceLock;

/// Instruction sets, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other processors have the portable loops alone"))]
pub(crate) enum Isa {
    Avx512,
    Avx2,
    Portable,
}

impl Isa {
    /// Those of this machine, best first.
    pub fn available() -> Vec<Isa> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                all.push(Isa::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                all.push(Isa::Avx2);
            }
        }
        all.push(Isa::Portable);
        all
    }

    /// The best of this machine.
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Isa::available()[0])
    }
}

/// Compiles a loop for each instruction set; the function runs the best one available. The sequence of operations is
/// the same for all, without fused multiply-adds, so that results do not depend on the choice.
macro_rules! compiled {
    ($(#[$doc:meta])* $visible:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        $visible fn $name($($argument: $kind),*) {
            #[inline(always)]
            fn body($($argument: $kind),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512($($argument: $kind),*) {
                    body($($argument),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $kind),*) {
                    body($($argument),*);
                }
                match $crate::isa::Isa::best() {
                    // SAFETY: `Isa::best` returns what this machine supports.
                    $crate::isa::Isa::Avx512 => return unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    $crate::isa::Isa::Avx2 => return unsafe { avx2($($argument),*) },
                    $crate::isa::Isa::Portable => {}
                }
            }
            body($($argument),*);
        }
    };
}

pub(crate) use compiled;
