//! The best alignments of a string with a group of others, with the best instruction set available.

use super::lanes::{Gaps, Group, NEVER, Work, fill};
use super::scores::Mode;
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

impl Group {
    /// The score of the best alignment of `sample` with each string.
    pub fn scores<'w>(&self, isa: Isa, mode: Mode, gaps: Gaps, sample: &[i32], work: &'w mut Work) -> &'w [i32] {
        let (edge, places) = (|length| if mode == Mode::Global { gaps.score(length) } else { 0 }, self.longest + 1);
        work.best.clear();
        work.best.extend((0..places * self.lanes).map(|at| edge(at / self.lanes)));
        work.down.clear();
        work.down.resize(self.longest * self.lanes, NEVER);
        work.highest.clear();
        work.highest.resize(self.lanes, 0);
        // SAFETY: the memory was laid out for the lanes of the instruction set.
        dispatch!(isa, simd => simd.compiled(#[inline(always)] || unsafe { fill(simd, self, mode, gaps, sample, work) }));
        for (lane, &length) in self.lengths.iter().enumerate() {
            // H of a lane's positions in the last row, and before them.
            let last = |place: usize| work.best[place * self.lanes + lane];
            match mode {
                Mode::Local => {}
                Mode::Global => work.highest[lane] = last(length),
                Mode::Semiglobal => work.highest[lane] = (0..=length).map(last).fold(work.highest[lane], i32::max),
            }
        }
        &work.highest[..self.lengths.len()]
    }
}
