//! The best alignments of a string with a group of others, with the best instruction set available.

use super::lanes::{Gaps, Group, NEVER, Work, fill};
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

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
        // SAFETY: the memory was laid out for the lanes of the instruction set.
        dispatch!(isa, simd => simd.compiled(#[inline(always)] || unsafe { fill(simd, self, local, gaps, sample, work) }));
        if !local {
            let last = self.lengths.iter().enumerate().map(|(lane, length)| work.best[length * self.lanes + lane]);
            work.highest.clear();
            work.highest.extend(last);
        }
        &work.highest[..self.lengths.len()]
    }
}
