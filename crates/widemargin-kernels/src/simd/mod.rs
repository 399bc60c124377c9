//! Vectors of 32-bit numbers for each instruction set: hot loops are written once, generically over [`Simd`].
//!
//! A loop is `inline(always)`, takes the vectors as its first argument, and is called within [`Simd::compiled`];
//! [`crate::isa`] selects an instruction set at run time. Why these are not a crate's: decision 0010.

mod aligned;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use aligned::AlignedNumbers;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
pub(crate) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// The vector operations of one instruction set. A value is the proof that the machine has it.
pub trait Simd: Copy {
    /// A vector of f32.
    type F32s: Copy;
    /// A vector of i32.
    type I32s: Copy;
    /// Numbers of a vector, at most 16.
    const LANES: usize;
    /// How many vectors the registers hold.
    const REGISTERS: usize;
    /// Whether [`above`](Self::above) is one instruction.
    const COMPARES_TO_BITS: bool = false;

    /// Calls a function, which must be inlined to use the instruction set.
    #[inline(always)]
    fn compiled<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    /// A value in all lanes.
    fn splat(self, value: f32) -> Self::F32s;
    /// a + b.
    fn add(self, a: Self::F32s, b: Self::F32s) -> Self::F32s;
    /// a − b.
    fn subtract(self, a: Self::F32s, b: Self::F32s) -> Self::F32s;
    /// a · b.
    fn multiply(self, a: Self::F32s, b: Self::F32s) -> Self::F32s;
    /// |a|.
    fn abs(self, a: Self::F32s) -> Self::F32s;
    /// The square root of numbers that are not negative.
    fn sqrt(self, a: Self::F32s) -> Self::F32s;
    /// The lane-wise minimum of numbers that are not NaN.
    fn min(self, a: Self::F32s, b: Self::F32s) -> Self::F32s;
    /// The lane-wise maximum of numbers that are not NaN.
    fn max(self, a: Self::F32s, b: Self::F32s) -> Self::F32s;
    /// a · b + sum, with one rounding where there is an instruction for it.
    fn multiply_add(self, a: Self::F32s, b: Self::F32s, sum: Self::F32s) -> Self::F32s;
    /// `yes` in lanes where a ≤ b, `no` in the others.
    fn where_at_most(self, a: Self::F32s, b: Self::F32s, yes: Self::F32s, no: Self::F32s) -> Self::F32s;
    /// The sum of all lanes.
    fn sum(self, value: Self::F32s) -> f32;

    /// A whole number in all lanes.
    fn splat_i32(self, value: i32) -> Self::I32s;
    /// a + b of whole numbers.
    fn add_i32(self, a: Self::I32s, b: Self::I32s) -> Self::I32s;
    /// The larger of two whole numbers.
    fn max_i32(self, a: Self::I32s, b: Self::I32s) -> Self::I32s;
    /// `yes` in lanes where a = b, `no` in the others.
    fn where_equal_i32(self, a: Self::I32s, b: Self::I32s, yes: Self::I32s, no: Self::I32s) -> Self::I32s;
    /// The sum of all lanes.
    fn sum_i32(self, value: Self::I32s) -> i32;
    /// `counts` plus 1 in lanes where a > b.
    fn count_above(self, a: Self::F32s, b: Self::F32s, counts: Self::I32s) -> Self::I32s;

    /// Bit l is 1 where a > b in lane l.
    #[inline(always)]
    fn above(self, a: Self::F32s, b: Self::F32s) -> u16 {
        let mut lanes = [0; 16];
        self.store_i32(self.count_above(a, b, self.splat_i32(0)), &mut lanes);
        (0..16).map(|l| (lanes[l] as u16) << l).sum()
    }

    /// Adds to each count how many bits are 1 in its column. There are at most 31 rows.
    #[inline(always)]
    fn add_bits(self, rows: &[[u16; 32]], counts: &mut [i32; 32]) {
        for row in rows {
            counts.iter_mut().zip(row).for_each(|(count, bits)| *count += bits.count_ones() as i32);
        }
    }

    /// The first numbers of a slice that has those of a vector.
    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::F32s {
        // SAFETY: the slice has the numbers of a vector.
        unsafe { self.load_unchecked(from[..Self::LANES].as_ptr()) }
    }

    /// Replaces the first numbers of a slice that has those of a vector.
    #[inline(always)]
    fn store(self, value: Self::F32s, to: &mut [f32]) {
        // SAFETY: the slice has the numbers of a vector.
        unsafe { self.store_unchecked(value, to[..Self::LANES].as_mut_ptr()) }
    }

    /// As [`load`](Self::load).
    #[inline(always)]
    fn load_i32(self, from: &[i32]) -> Self::I32s {
        // SAFETY: the slice has the numbers of a vector.
        unsafe { self.load_i32_unchecked(from[..Self::LANES].as_ptr()) }
    }

    /// As [`store`](Self::store).
    #[inline(always)]
    fn store_i32(self, value: Self::I32s, to: &mut [i32]) {
        // SAFETY: the slice has the numbers of a vector.
        unsafe { self.store_i32_unchecked(value, to[..Self::LANES].as_mut_ptr()) }
    }

    /// # Safety
    /// A vector may be read.
    #[inline(always)]
    unsafe fn load_unchecked(self, from: *const f32) -> Self::F32s {
        // SAFETY: guaranteed by the caller; a vector is its lanes without padding, and any bits are numbers.
        unsafe { from.cast::<Self::F32s>().read_unaligned() }
    }

    /// # Safety
    /// A vector may be written.
    #[inline(always)]
    unsafe fn store_unchecked(self, value: Self::F32s, to: *mut f32) {
        // SAFETY: as in `load_unchecked`.
        unsafe { to.cast::<Self::F32s>().write_unaligned(value) }
    }

    /// # Safety
    /// A vector may be read.
    #[inline(always)]
    unsafe fn load_i32_unchecked(self, from: *const i32) -> Self::I32s {
        // SAFETY: as in `load_unchecked`.
        unsafe { from.cast::<Self::I32s>().read_unaligned() }
    }

    /// # Safety
    /// A vector may be written.
    #[inline(always)]
    unsafe fn store_i32_unchecked(self, value: Self::I32s, to: *mut i32) {
        // SAFETY: as in `load_unchecked`.
        unsafe { to.cast::<Self::I32s>().write_unaligned(value) }
    }

    /// The numbers of a slice that has at most those of a vector; the other lanes are 0.
    #[inline(always)]
    fn load_part(self, from: &[f32]) -> Self::F32s {
        let mut lanes = [0.0; 16];
        lanes[..from.len()].copy_from_slice(from);
        self.load(&lanes)
    }

    /// Stores as many lanes as the slice has numbers, at most those of a vector.
    #[inline(always)]
    fn store_part(self, value: Self::F32s, to: &mut [f32]) {
        let mut lanes = [0.0; 16];
        self.store(value, &mut lanes);
        to.copy_from_slice(&lanes[..to.len()]);
    }

    /// Sets lane l to `numbers[pattern[l]]`.
    ///
    /// # Safety
    /// 16 numbers may be read if `WIDE`, otherwise 4; each lane of the pattern is one of them.
    unsafe fn spread<const WIDE: bool>(self, numbers: *const f32, pattern: Self::I32s) -> Self::F32s;
}

/// Implements operations by expressions, with intrinsics of the instruction set; those on vectors of one type by their
/// names alone.
macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty),+) -> $value:ty = $result:expr;)+) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $type),+) -> $value {
                // SAFETY: `self` is the proof that the machine has the instruction set.
                unsafe { $result }
            }
        )+
    };
    ($vector:ty: $($name:ident($($argument:ident),+) = $result:expr;)+) => {
        operations! { $($name($($argument: $vector),+) -> $vector = $result;)+ }
    };
}
use operations;

/// Prefetches a cache line; any address is allowed.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, dispatch};

    /// Each operation against its definition, lane by lane.
    fn check<S: Simd>(simd: S) {
        let x: [f32; 16] = std::array::from_fn(|l| l as f32 * 0.75 - 3.0);
        let y: [f32; 16] = std::array::from_fn(|l| 2.5 - (l * 7 % 16) as f32 * 0.5);
        let (i, j) = (x.map(|x| x as i32), y.map(|y| y as i32));
        let pattern: [i32; 16] = std::array::from_fn(|l| (l as i32 * 5 + 3) % 16);
        let four = pattern.map(|l| l % 4);
        let lanes = |value: S::F32s| {
            let mut lanes = [f32::NAN; 16];
            simd.store(value, &mut lanes);
            lanes[..S::LANES].to_vec()
        };
        let integers = |value: S::I32s| {
            let mut lanes = [i32::MAX; 16];
            simd.store_i32(value, &mut lanes);
            lanes[..S::LANES].to_vec()
        };
        let each = |f: &dyn Fn(usize) -> f32| (0..S::LANES).map(f).collect::<Vec<f32>>();
        let each_i32 = |f: &dyn Fn(usize) -> i32| (0..S::LANES).map(f).collect::<Vec<i32>>();
        let (a, b, c) = (simd.load(&x), simd.load(&y), simd.splat(0.5));
        assert_eq!(lanes(simd.add(a, b)), each(&|l| x[l] + y[l]));
        assert_eq!(lanes(simd.subtract(a, b)), each(&|l| x[l] - y[l]));
        assert_eq!(lanes(simd.multiply(a, b)), each(&|l| x[l] * y[l]));
        assert_eq!(lanes(simd.abs(a)), each(&|l| x[l].abs()));
        assert_eq!(lanes(simd.sqrt(simd.abs(a))), each(&|l| x[l].abs().sqrt()));
        assert_eq!(lanes(simd.min(a, b)), each(&|l| x[l].min(y[l])));
        assert_eq!(lanes(simd.max(a, b)), each(&|l| x[l].max(y[l])));
        assert_eq!(lanes(simd.multiply_add(a, b, c)), each(&|l| x[l] * y[l] + 0.5));
        assert_eq!(lanes(simd.where_at_most(a, b, c, a)), each(&|l| if x[l] <= y[l] { 0.5 } else { x[l] }));
        assert_eq!(simd.sum(a), x[..S::LANES].iter().sum::<f32>());
        let (wide, narrow) = (simd.load_i32(&pattern), simd.load_i32(&four));
        // SAFETY: sixteen numbers; the patterns are below sixteen and four.
        let spread = unsafe { [simd.spread::<true>(x.as_ptr(), wide), simd.spread::<false>(x.as_ptr(), narrow)] };
        assert_eq!(lanes(spread[0]), each(&|l| x[pattern[l] as usize]));
        assert_eq!(lanes(spread[1]), each(&|l| x[four[l] as usize]));
        for n in 0..=S::LANES {
            assert_eq!(lanes(simd.load_part(&x[..n])), each(&|l| if l < n { x[l] } else { 0.0 }));
            let mut part = y;
            simd.store_part(a, &mut part[..n]);
            assert!((0..16).all(|l| part[l] == if l < n { x[l] } else { y[l] }));
        }
        let (a, b, c) = (simd.load_i32(&i), simd.load_i32(&j), simd.splat_i32(-7));
        assert_eq!(simd.sum_i32(a), i[..S::LANES].iter().sum::<i32>());
        let above = simd.count_above(simd.load(&x), simd.load(&y), a);
        assert_eq!(integers(above), each_i32(&|l| i[l] + i32::from(x[l] > y[l])));
        let nowhere = simd.count_above(simd.splat(f32::NEG_INFINITY), simd.splat(f32::NEG_INFINITY), a);
        assert_eq!(integers(nowhere), each_i32(&|l| i[l]));
        let (low, high) = (simd.load(&x), simd.load(&y));
        let bits = each_i32(&|l| i32::from(x[l] > y[l]) << l).into_iter().sum::<i32>();
        assert_eq!(i32::from(simd.above(low, high)), bits);
        for n_rows in [0, 1, 2, 31] {
            let bits = |row: usize, at: usize| if at == 5 { u16::MAX } else { (row * 2909 + at * 40_503) as u16 };
            let rows: Vec<[u16; 32]> = (0..n_rows).map(|row| std::array::from_fn(|at| bits(row, at))).collect();
            let mut counts: [i32; 32] = std::array::from_fn(|at| 1000 * at as i32);
            let ones = |at: usize| rows.iter().map(|row| row[at].count_ones() as i32).sum::<i32>();
            let right = std::array::from_fn(|at| counts[at] + ones(at));
            simd.add_bits(&rows, &mut counts);
            assert_eq!(counts, right);
        }
        assert_eq!(integers(simd.add_i32(a, b)), each_i32(&|l| i[l] + j[l]));
        assert_eq!(integers(simd.max_i32(a, b)), each_i32(&|l| i[l].max(j[l])));
        assert_eq!(integers(simd.where_equal_i32(a, b, c, a)), each_i32(&|l| if i[l] == j[l] { -7 } else { i[l] }));
    }

    #[test]
    fn every_instruction_set_computes_the_definitions() {
        for isa in Isa::available() {
            dispatch!(isa, simd => simd.compiled(#[inline(always)] || check(simd)));
        }
    }
}
