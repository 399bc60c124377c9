//! Compares one series with a group of bases, one per lane.

use super::tile::{self, Table};
use crate::data::Series;
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

/// As many bases as lanes; if there are fewer, the first fills the remaining lanes.
#[derive(Debug)]
pub(super) struct Group {
    /// \[time\]\[channel\]\[lane\]; shorter series are padded with zeros, which do not affect earlier values.
    values: Vec<f32>,
    /// Time steps of each lane.
    lengths: Vec<usize>,
    longest: usize,
    channels: usize,
    n_members: usize,
}

/// Memory for reuse.
#[derive(Debug, Default)]
pub(super) struct Work {
    row: Vec<f32>,
    limits: Vec<f32>,
    found: Vec<f32>,
}

impl Group {
    /// A group of one or more of the bases.
    pub fn new(isa: Isa, bases: &Series, members: &[usize]) -> Group {
        let (lanes, channels) = (isa.lanes(), bases.channels());
        let of_lane = |lane: usize| members.get(lane).copied().unwrap_or(members[0]);
        let lengths: Vec<usize> = (0..lanes).map(|lane| bases.length(of_lane(lane))).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut values = vec![0.0; longest * channels * lanes];
        for lane in 0..lanes {
            for (at, &value) in bases.series(of_lane(lane)).iter().enumerate() {
                values[at * lanes + lane] = value;
            }
        }
        Group { values, lengths, longest, channels, n_members: members.len() }
    }

    /// d of `x` and each member, within the members' bands.
    pub fn distances<'w>(
        &self,
        isa: Isa,
        x: &[f32],
        bands: impl Iterator<Item = usize> + Clone,
        work: &'w mut Work,
    ) -> &'w [f32] {
        let lanes = self.lengths.len();
        // Lanes that repeat the first member use its band.
        let first = bands.clone().next().unwrap_or(0);
        let (widest, narrowest) = bands.clone().fold((0, usize::MAX), |(w, n), band| (w.max(band), n.min(band)));
        work.limits.clear();
        work.limits.extend(bands.map(|band| band as f32));
        work.limits.resize(lanes, first as f32);
        work.row.clear();
        work.row.resize(self.longest * lanes, f32::INFINITY);
        // If the band of every lane covers the whole table, the bands need not be checked.
        let whole = narrowest + 1 >= self.longest.max(x.len() / self.channels);
        let table = Table {
            x,
            y: &self.values,
            channels: self.channels,
            columns: self.longest,
            band: widest,
            limits: (narrowest < widest && !whole).then_some(work.limits.as_slice()),
        };
        debug_assert!(
            x.len() / self.channels <= self.longest + widest && self.longest <= x.len() / self.channels + widest
        );
        dispatch!(isa, simd => fill(simd, table, &mut work.row));
        work.found.clear();
        let last = self.lengths.iter().enumerate().map(|(lane, length)| work.row[(length - 1) * lanes + lane]);
        work.found.extend(last.take(self.n_members));
        &work.found
    }
}

fn fill<S: Simd>(simd: S, table: Table<'_>, row: &mut [f32]) {
    // SAFETY: the group was laid out for the lanes of the instruction set. Registers: four vectors for each row of the
    // table, two of them values, and a few more.
    simd.compiled(
        #[inline(always)]
        || unsafe {
            match S::REGISTERS {
                32 => tile::fill::<S, 4>(simd, table, row),
                _ => tile::fill::<S, 2>(simd, table, row),
            }
        },
    );
}
