//! Vector register state after products.

/// Clears the upper halves of the vector registers; must be called after `faer`.
///
/// `faer`'s x86-64 kernels are in assembly and return with the upper halves of the registers in use. On Intel
/// processors every scalar or 128-bit instruction in the legacy encoding, to which the rest of this crate is compiled
/// by default, then stalls: a logarithm took ten times as long after the first product of a thread.
#[inline]
pub fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: AVX is available. No Rust function expects its caller to preserve the upper halves.
        unsafe { zero_upper() }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}
