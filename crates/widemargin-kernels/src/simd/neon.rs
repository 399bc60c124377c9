//! Four lanes of NEON (32 registers), which every 64-bit ARM processor with floating-point numbers has.

use std::arch::aarch64::*;

use super::{Simd, operations};

/// NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    pub fn available() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Neon(()))
    }
}

impl Simd for Neon {
    type F32s = float32x4_t;
    type I32s = int32x4_t;
    const LANES: usize = 4;
    const REGISTERS: usize = 32;

    operations! { float32x4_t:
        add(a, b) = vaddq_f32(a, b);
        subtract(a, b) = vsubq_f32(a, b);
        multiply(a, b) = vmulq_f32(a, b);
        abs(a) = vabsq_f32(a);
        sqrt(a) = vsqrtq_f32(a);
        min(a, b) = vminq_f32(a, b);
        max(a, b) = vmaxq_f32(a, b);
        multiply_add(a, b, sum) = vfmaq_f32(sum, a, b);
        where_at_most(a, b, yes, no) = vbslq_f32(vcleq_f32(a, b), yes, no);
    }
    operations! { int32x4_t:
        add_i32(a, b) = vaddq_s32(a, b);
        max_i32(a, b) = vmaxq_s32(a, b);
        where_equal_i32(a, b, yes, no) = vbslq_s32(vceqq_s32(a, b), yes, no);
    }

    operations! {
        splat(value: f32) -> float32x4_t = vdupq_n_f32(value);
        splat_i32(value: i32) -> int32x4_t = vdupq_n_s32(value);
        sum(value: float32x4_t) -> f32 = vaddvq_f32(value);
        sum_i32(value: int32x4_t) -> i32 = vaddvq_s32(value);
        // A lane of all ones is −1.
        count_above(a: float32x4_t, b: float32x4_t, counts: int32x4_t) -> int32x4_t =
            vsubq_s32(counts, vreinterpretq_s32_u32(vcgtq_f32(a, b)));
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(self, numbers: *const f32, pattern: int32x4_t) -> float32x4_t {
        // SAFETY: `self` is the proof that the machine has the instruction set; sixteen numbers may be read where WIDE, else four.
        unsafe {
            // A table of bytes: number i is bytes 4 i to 4 i + 3.
            let first = vmulq_s32(pattern, vdupq_n_s32(0x0404_0404));
            let bytes = vreinterpretq_u8_s32(vaddq_s32(first, vdupq_n_s32(0x0302_0100)));
            let numbers = numbers.cast::<u8>();
            vreinterpretq_f32_u8(match WIDE {
                true => vqtbl4q_u8(vld1q_u8_x4(numbers), bytes),
                false => vqtbl1q_u8(vld1q_u8(numbers), bytes),
            })
        }
    }
}
