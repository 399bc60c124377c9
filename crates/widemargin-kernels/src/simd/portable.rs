//! Eight lanes as an array: available on every machine, vectorized by the compiler.

use std::array::from_fn;

use super::{Simd, operations};

const LANES: usize = 8;

/// No instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

#[allow(unused_unsafe, reason = "the operations of other instruction sets are intrinsics")]
impl Simd for Portable {
    type F32s = [f32; LANES];
    type I32s = [i32; LANES];
    const LANES: usize = LANES;
    /// Pairs of the sixteen registers of four lanes that most machines have.
    const REGISTERS: usize = 8;

    operations! { [f32; LANES]:
        add(a, b) = from_fn(|l| a[l] + b[l]);
        subtract(a, b) = from_fn(|l| a[l] - b[l]);
        multiply(a, b) = from_fn(|l| a[l] * b[l]);
        abs(a) = a.map(f32::abs);
        sqrt(a) = a.map(f32::sqrt);
        // Not `f32::min` and `f32::max`, which check for NaN.
        min(a, b) = from_fn(|l| if a[l] < b[l] { a[l] } else { b[l] });
        max(a, b) = from_fn(|l| if a[l] > b[l] { a[l] } else { b[l] });
        // Not `mul_add`: without the instruction it is a function call.
        multiply_add(a, b, sum) = from_fn(|l| a[l] * b[l] + sum[l]);
        where_at_most(a, b, yes, no) = from_fn(|l| if a[l] <= b[l] { yes[l] } else { no[l] });
    }
    operations! { [i32; LANES]:
        add_i32(a, b) = from_fn(|l| a[l] + b[l]);
        max_i32(a, b) = from_fn(|l| a[l].max(b[l]));
        where_equal_i32(a, b, yes, no) = from_fn(|l| if a[l] == b[l] { yes[l] } else { no[l] });
    }

    operations! {
        splat(value: f32) -> [f32; LANES] = [value; LANES];
        splat_i32(value: i32) -> [i32; LANES] = [value; LANES];
        sum(value: [f32; LANES]) -> f32 = value.iter().sum();
        sum_i32(value: [i32; LANES]) -> i32 = value.iter().sum();
        count_above(a: [f32; LANES], b: [f32; LANES], counts: [i32; LANES]) -> [i32; LANES] =
            from_fn(|l| counts[l] + i32::from(a[l] > b[l]));
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(self, numbers: *const f32, pattern: Self::I32s) -> Self::F32s {
        // SAFETY: the lanes of the pattern are numbers that may be read.
        from_fn(|l| unsafe { *numbers.add(pattern[l] as usize) })
    }
}
