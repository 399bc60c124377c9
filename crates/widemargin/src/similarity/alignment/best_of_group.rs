//! The best alignments of a string with a group of others, with the best instruction set available.

use super::lanes::{Gaps, Group, NEVER, Work, fill};
use super::simd::Portable;
#[cfg(target_arch = "x86_64")]
use super::x86;
use crate::isa::Isa;

impl Group {
    /// The score of the best alignment of `sample` with each string.
    pub fn scores<'w>(&self, isa: Isa, local: bool, gaps: Gaps, sample: &[i32], work: &'w mut Work) -> &'w [i32] {
        let (edge, places) = (|length| if local { 0 } else { gaps.score(length) }, self.longest + 1);
        work.best.clear();
        work.best.extend((0..places * self.lanes).map(|at| edge(at / self.lanes)));
        work.down.clear();
        work.down.resize(self.longest * self.lanes, NEVER);
        work.highest.clear();
        work.highest.resize(self.lanes, 0);
        match isa {
            // SAFETY: the instruction set is available (`Isa::available`); the memory was laid out for its lanes.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { x86::fill_avx512(self, local, gaps, sample, work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { x86::fill_avx2(self, local, gaps, sample, work) },
            // SAFETY: the memory was laid out for its lanes.
            _ => unsafe { fill::<Portable>(self, local, gaps, sample, work) },
        }
        if !local {
            let last = self.lengths.iter().enumerate().map(|(lane, length)| work.best[length * self.lanes + lane]);
            work.highest.clear();
            work.highest.extend(last);
        }
        &work.highest[..self.lengths.len()]
    }
}
