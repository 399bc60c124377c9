//! The state in which a product leaves the vector registers.

/// To be called after `faer`: clears the upper halves of the vector registers.
///
/// `faer`'s kernels on x86-64 are in assembly and return with the registers' upper halves in use. On Intel processors
/// every scalar or 128-bit instruction of the older encoding, which is what the rest of this crate is compiled to by
/// default, then waits for them: a logarithm took ten times as long after the first product of a thread.
#[inline]
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: AVX is there. No function of Rust expects its caller to keep the upper halves.
        unsafe { zero_upper() }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}
