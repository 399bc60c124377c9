//! Integer vectors.

/// The i32 vector operations of one instruction set.
///
/// # Safety
/// All methods need the instruction set; pointers must be valid for what the method reads or writes.
pub(super) unsafe trait Simd {
    type V: Copy;
    const LANES: usize;
    unsafe fn splat(value: i32) -> Self::V;
    unsafe fn load(from: *const i32) -> Self::V;
    unsafe fn store(value: Self::V, to: *mut i32);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn maximum(a: Self::V, b: Self::V) -> Self::V;
    /// `yes` in lanes where a = b, `no` in the others.
    unsafe fn where_equal(a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
}

/// Eight lanes as an array: available on every machine, vectorised by the compiler.
pub(super) struct Portable;

// SAFETY: needs no instruction set.
unsafe impl Simd for Portable {
    type V = [i32; 8];
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: i32) -> Self::V {
        [value; 8]
    }

    #[inline(always)]
    unsafe fn load(from: *const i32) -> Self::V {
        // SAFETY: the caller's pointer is valid for eight numbers.
        unsafe { from.cast::<Self::V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut i32) {
        // SAFETY: the caller's pointer is valid for eight numbers.
        unsafe { to.cast::<Self::V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|l| a[l] + b[l])
    }

    #[inline(always)]
    unsafe fn maximum(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|l| a[l].max(b[l]))
    }

    #[inline(always)]
    unsafe fn where_equal(a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        std::array::from_fn(|l| if a[l] == b[l] { yes[l] } else { no[l] })
    }
}
