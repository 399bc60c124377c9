//! Compares one series with a group of bases, one per lane.

use super::rule::{Extra, Offsets, OffsetsOfPair, Rule, Side, Table};
use super::tile;
use crate::data::Series;
use crate::isa::{Isa, dispatch};
use crate::simd::Simd;

/// As many bases as lanes; if there are fewer, the first fills the remaining lanes.
///
/// Values of time steps are \[time\]\[lane\], those of channels \[time\]\[channel\]\[lane\]; shorter series are
/// padded with zeros, which do not affect earlier values.
#[derive(Debug)]
pub(super) struct Group {
    values: Vec<f32>,
    extra: Extra,
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
    offsets: Vec<f32>,
    found: Vec<f32>,
}

impl Group {
    /// A group of one or more of the bases, with their precomputed values.
    pub fn new<'a>(isa: Isa, bases: &'a Series, extras: &'a [Extra], members: &[usize]) -> Group {
        let (lanes, channels) = (isa.lanes(), bases.channels());
        let of_lane = |lane: usize| members.get(lane).copied().unwrap_or(members[0]);
        let lengths: Vec<usize> = (0..lanes).map(|lane| bases.length(of_lane(lane))).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let interleaved = |of: &dyn Fn(usize) -> &'a [f32], a_step: usize| {
            if of(members[0]).is_empty() {
                return Vec::new();
            }
            let mut numbers = vec![0.0; longest * a_step * lanes];
            for lane in 0..lanes {
                for (at, &number) in of(of_lane(lane)).iter().enumerate() {
                    numbers[at * lanes + lane] = number;
                }
            }
            numbers
        };
        let extra = Extra {
            second: interleaved(&|basis| &extras[basis].second, channels),
            gaps: interleaved(&|basis| &extras[basis].gaps, 1),
            edge: interleaved(&|basis| &extras[basis].edge, 1),
        };
        let values = interleaved(&|basis| bases.series(basis), channels);
        Group { values, extra, lengths, longest, channels, n_members: members.len() }
    }

    /// d of a sample and each member, within the members' bands.
    pub fn distances<'w, F: Rule>(
        &self,
        isa: Isa,
        rule: F,
        (x, extra): (&[f32], &Extra),
        bands: impl Iterator<Item = usize> + Clone,
        offsets: &Offsets,
        work: &'w mut Work,
    ) -> &'w [f32] {
        let x = extra.side(x);
        self.fill(isa, rule, (x, x.values.len() / self.channels, false), bands, offsets, work)
    }

    /// d of each member and itself: they are of one length.
    pub fn own_distances<'w, F: Rule>(
        &self,
        isa: Isa,
        rule: F,
        band: usize,
        offsets: &Offsets,
        work: &'w mut Work,
    ) -> &'w [f32] {
        let bands = std::iter::repeat_n(band, self.n_members);
        self.fill(isa, rule, (self.side(), self.longest, true), bands, offsets, work)
    }

    /// The table of a sample and the members, within a band and the limits of each lane, laid out for the lanes that the
    /// group was made for.
    pub fn table<'a>(
        &'a self,
        (x, rows, x_has_lanes): (Side<'a>, usize, bool),
        (band, limits): (usize, Option<&'a [f32]>),
        offsets: OffsetsOfPair<'a>,
    ) -> Table<'a> {
        let (channels, columns) = (self.channels, self.longest);
        let table = Table { x, y: self.side(), x_has_lanes, channels, rows, columns, band, limits, offsets };
        assert!(tile::reaches(&table, self.lengths.len()));
        table
    }

    fn side(&self) -> Side<'_> {
        self.extra.side(&self.values)
    }

    fn fill<'w, F: Rule>(
        &self,
        isa: Isa,
        rule: F,
        (x, rows, x_has_lanes): (Side<'_>, usize, bool),
        bands: impl Iterator<Item = usize> + Clone,
        offsets: &Offsets,
        work: &'w mut Work,
    ) -> &'w [f32] {
        let (lanes, columns) = (self.lengths.len(), self.longest);
        // Lanes that repeat the first member use its band.
        let first = bands.clone().next().unwrap_or(0);
        let (band, narrowest) = bands.clone().fold((0, usize::MAX), |(w, n), band| (w.max(band), n.min(band)));
        work.limits.clear();
        work.limits.extend(bands.map(|band| band as f32));
        work.limits.resize(lanes, first as f32);
        self.put_edge::<F>(band, work);
        // If the band of every lane covers the whole table, the bands need not be checked.
        let whole = narrowest + 1 >= columns.max(rows);
        let limits = (narrowest < band && !whole).then_some(work.limits.as_slice());
        let offsets = self.offsets_of(rows, band, offsets, &mut work.offsets);
        let table = self.table((x, rows, x_has_lanes), (band, limits), offsets);
        debug_assert!(rows <= columns + band && columns <= rows + band);
        dispatch!(isa, simd => fill(simd, rule, table, &mut work.row));
        work.found.clear();
        let last = self.lengths.iter().enumerate().map(|(lane, &n)| {
            let m = if x_has_lanes { n } else { rows };
            rule.finish(work.row[(n - 1) * lanes + lane], [m, n])
        });
        work.found.extend(last.take(self.n_members));
        &work.found
    }

    /// Writes the cells above the first row, as far as the band, in lanes whose band is more than the diagonal.
    fn put_edge<F: Rule>(&self, band: usize, work: &mut Work) {
        let lanes = self.lengths.len();
        work.row.clear();
        work.row.resize(self.longest * lanes, f32::INFINITY);
        if F::HAS_EDGES {
            let edges = self.extra.edge.chunks(lanes).take(band.saturating_add(1));
            for (row, edge) in work.row.chunks_mut(lanes).zip(edges) {
                let in_band = row.iter_mut().zip(edge).zip(&work.limits).filter(|(_, limit)| **limit >= 1.0);
                in_band.for_each(|((value, edge), _)| *value = *edge);
            }
        }
    }

    /// The numbers of the pairs of a sample of `rows` steps and each member.
    pub fn offsets_of<'a>(
        &self,
        rows: usize,
        band: usize,
        offsets: &'a Offsets,
        work: &'a mut Vec<f32>,
    ) -> OffsetsOfPair<'a> {
        let numbers = offsets.numbers.as_slice();
        if !offsets.by_length {
            return OffsetsOfPair::Shared { numbers, start: 0, stride: 1 };
        }
        // Numbers at −L, …, L.
        let start = |n: &usize| numbers.len() / 2 - rows.max(*n);
        if self.lengths.iter().all(|n| start(n) == start(&self.lengths[0])) {
            return OffsetsOfPair::Shared { numbers, start: start(&self.lengths[0]), stride: 2 };
        }
        work.clear();
        for away in 0..=band.min(rows.max(self.longest) - 1) {
            // Beyond the longer of two series there is no pair.
            let at = |n: &usize| numbers.get(start(n) + 2 * away).copied().unwrap_or(0.0);
            work.extend(self.lengths.iter().map(at));
        }
        OffsetsOfPair::Lanes(work)
    }
}

fn fill<S: Simd, F: Rule>(simd: S, rule: F, table: Table<'_>, row: &mut [f32]) {
    // Registers: four vectors for each row of the table, two of them values, and a few more.
    simd.compiled(
        #[inline(always)]
        || match S::REGISTERS {
            32 => tile::fill::<S, F, 4>(simd, rule, table, row),
            _ => tile::fill::<S, F, 2>(simd, rule, table, row),
        },
    );
}
