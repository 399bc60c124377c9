//! The rule of an elastic distance: how the value of a cell follows from its neighbors.

use crate::error::Result;
use crate::parameters::Arguments;
use crate::simd::Simd;
use crate::similarity::row::SimilarityRow;

/// An elastic distance: a path through the table of pairs of time steps, least in the sum of its costs.
pub(super) trait Rule: Copy + std::fmt::Debug + PartialEq + Send + Sync + 'static {
    const ROW: &'static SimilarityRow;
    /// With eight lanes or more, of one channel.
    const SECONDS_PER_CELL: f64;
    /// Whether a path may begin in the middle of an edge of the table: [`Extra::edge`] has the values there. Otherwise
    /// it begins at the first pair.
    const HAS_EDGES: bool = false;
    /// Whether there is one path that the value comes from.
    const HAS_PATH: bool = true;
    /// Whether a step of one series after another is paired with the same step of the other, not left alone.
    const REPEATS: bool = true;

    /// Reads its own parameters.
    fn read(arguments: &Arguments<'_>) -> Result<Self>;

    /// Precomputed values of a series, \[time\]\[channel\].
    fn extra(self, _series: &[f32], _channels: usize) -> Extra {
        Extra::default()
    }

    /// Numbers that depend on |i − j|, for series of at most `longest` steps.
    fn offsets(self, _longest: usize) -> Offsets {
        Offsets::default()
    }

    /// The distance of two series of these lengths, from the last cell.
    fn finish(self, last: f32, _lengths: [usize; 2]) -> f32 {
        last
    }

    /// Whether steps that go on in both series are a pair at this cost.
    fn is_pair(_cost: f32) -> bool {
        true
    }

    /// Whether half of the distances of the two series to themselves are subtracted.
    fn subtracts_own(self) -> bool {
        false
    }

    /// The value of a cell from those above it (an earlier step of the sample), before it in both, and to the left (an
    /// earlier step of the basis); those outside the table or the band are infinite.
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s;
}

/// The values of the neighbors of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbors<S: Simd> {
    pub above: S::F32s,
    pub diagonal: S::F32s,
    pub left: S::F32s,
}

impl<S: Simd> Neighbors<S> {
    #[inline(always)]
    pub fn least(self, simd: S) -> S::F32s {
        simd.min(simd.min(self.above, self.diagonal), self.left)
    }
}

/// Precomputed values of a series; empty for a rule that needs none.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    /// A second number for each value, \[time\]\[channel\].
    pub second: Vec<f32>,
    /// The cost, or part of it, of a time step without a partner.
    pub gaps: Vec<f32>,
    /// The values of the cells before the first step of the other series.
    pub edge: Vec<f32>,
}

impl Extra {
    /// A side of a table with these values and a series' own.
    pub fn side<'a>(&'a self, values: &'a [f32]) -> Side<'a> {
        Side { values, second: &self.second, gaps: &self.gaps, edge: &self.edge }
    }
}

/// Numbers that depend on a = |i − j|, and perhaps on the length M of the longer series.
#[derive(Clone, Debug, Default)]
pub(super) struct Offsets {
    /// At a, or at 2 a − M + the longest of all.
    pub numbers: Vec<f32>,
    /// Whether they depend on M.
    pub by_length: bool,
}

/// The series of one side of a table; those of the bases have a lane each within a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    /// \[time\]\[channel\].
    pub values: &'a [f32],
    /// As [`Extra`].
    pub second: &'a [f32],
    pub gaps: &'a [f32],
    pub edge: &'a [f32],
}

/// Where the numbers of [`Offsets`] are for a pair.
#[derive(Clone, Copy, Debug)]
pub(super) enum OffsetsOfPair<'a> {
    /// The same for all lanes: at `start` + `stride` · a.
    Shared { numbers: &'a [f32], start: usize, stride: usize },
    /// \[a\]\[lane\].
    Lanes(&'a [f32]),
}

/// A sample and a group of bases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// The sample: one row of the table per time step.
    pub x: Side<'a>,
    /// The bases: one column per time step.
    pub y: Side<'a>,
    /// Whether the samples are as many as bases, a lane each.
    pub x_has_lanes: bool,
    pub channels: usize,
    pub rows: usize,
    pub columns: usize,
    /// The widest band of any lane, at least the difference of rows and columns.
    pub band: usize,
    /// The band of each lane, if they differ.
    pub limits: Option<&'a [f32]>,
    pub offsets: OffsetsOfPair<'a>,
}

impl Table<'_> {
    /// Checks the lengths of all that the table refers to, for a rule and vectors of some lanes.
    ///
    /// # Panics
    /// If a side or the limits have another length: cells are computed without looking.
    pub fn check<F: Rule>(&self, lanes: usize) {
        let (n_x, n_y) = (self.rows, self.columns * lanes);
        assert!(self.y.values.len() == n_y * self.channels);
        assert!(self.x.values.len() == n_x * self.channels * if self.x_has_lanes { lanes } else { 1 });
        for (side, n) in [(&self.x, n_x), (&self.y, n_y)] {
            assert!(side.second.is_empty() || side.second.len() == n * self.channels);
            assert!(side.gaps.is_empty() || side.gaps.len() == n);
            assert!(side.edge.len() == if F::HAS_EDGES { n } else { 0 });
        }
        assert!(self.limits.is_none_or(|limits| limits.len() == lanes));
    }
}

/// A cell of a [checked](Table::check) table: a time step of the sample and one of each basis. `ONE`: there is one
/// channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a, S: Simd, const ONE: bool> {
    pub simd: S,
    pub table: Table<'a>,
    pub row: usize,
    pub column: usize,
    /// For one channel: their values.
    pub x: S::F32s,
    pub y: S::F32s,
}

impl<S: Simd, const ONE: bool> Place<'_, S, ONE> {
    /// A number of the sample's time step.
    #[inline(always)]
    pub fn of_x(&self, numbers: &[f32]) -> S::F32s {
        self.simd.splat(numbers[self.row])
    }

    /// A number of the bases' time step.
    #[inline(always)]
    pub fn of_y(&self, numbers: &[f32]) -> S::F32s {
        self.simd.load(&numbers[self.column * S::LANES..])
    }

    /// A channel of `numbers` of the sample, such as its values.
    #[inline(always)]
    pub fn x_at(&self, numbers: &[f32], channel: usize) -> S::F32s {
        let at = self.row * self.table.channels + channel;
        match self.table.x_has_lanes {
            true => self.simd.load(&numbers[at * S::LANES..]),
            false => self.simd.splat(numbers[at]),
        }
    }

    /// A channel of `numbers` of the bases.
    #[inline(always)]
    pub fn y_at(&self, numbers: &[f32], channel: usize) -> S::F32s {
        self.simd.load(&numbers[(self.column * self.table.channels + channel) * S::LANES..])
    }

    /// ‖x − y‖²: 2 flops a channel.
    #[inline(always)]
    pub fn squared(&self) -> S::F32s {
        let simd = self.simd;
        if ONE {
            let difference = simd.subtract(self.x, self.y);
            return simd.multiply(difference, difference);
        }
        self.squared_of(self.table.x.values, self.table.y.values)
    }

    /// ‖x − y‖² + sum.
    #[inline(always)]
    pub fn add_squared(&self, sum: S::F32s) -> S::F32s {
        if ONE {
            let difference = self.simd.subtract(self.x, self.y);
            return self.simd.multiply_add(difference, difference, sum);
        }
        self.simd.add(self.squared(), sum)
    }

    #[inline(always)]
    fn squared_of(&self, x: &[f32], y: &[f32]) -> S::F32s {
        let Table { channels, x_has_lanes, .. } = self.table;
        let (simd, step) = (self.simd, if x_has_lanes { S::LANES } else { 1 });
        let mut sum = simd.splat(0.0);
        for channel in 0..channels {
            // SAFETY: the place is in a checked table.
            let [x, y] = unsafe {
                let x = x.as_ptr().add((self.row * channels + channel) * step);
                let x = if x_has_lanes { simd.load_unchecked(x) } else { simd.splat(*x) };
                [x, simd.load_unchecked(y.as_ptr().add((self.column * channels + channel) * S::LANES))]
            };
            let difference = simd.subtract(x, y);
            sum = simd.multiply_add(difference, difference, sum);
        }
        sum
    }

    /// ‖x − y‖.
    #[inline(always)]
    pub fn distance(&self) -> S::F32s {
        if ONE {
            return self.simd.abs(self.simd.subtract(self.x, self.y));
        }
        self.simd.sqrt(self.squared())
    }

    /// ‖x' − y'‖ of the second numbers.
    #[inline(always)]
    pub fn second_distance(&self) -> S::F32s {
        let (x, y) = (self.table.x.second, self.table.y.second);
        match ONE {
            true => self.simd.abs(self.simd.subtract(self.of_x(x), self.of_y(y))),
            false => self.simd.sqrt(self.squared_of(x, y)),
        }
    }

    /// The number of this |row − column|.
    #[inline(always)]
    pub fn offset(&self) -> S::F32s {
        let away = self.row.abs_diff(self.column);
        match self.table.offsets {
            OffsetsOfPair::Shared { numbers, start, stride } => self.simd.splat(numbers[start + stride * away]),
            OffsetsOfPair::Lanes(numbers) => self.simd.load(&numbers[away * S::LANES..]),
        }
    }
}

/// ‖a − b‖ of two time steps.
pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>().sqrt()
}
