//! The path of an elastic distance: the table once more, whole, and from its last cell back to where each came from.

use super::lanes::Group;
use super::rule::{Extra, Neighbors, Place, Rule, Table};
use crate::data::Series;
use crate::isa::Isa;
use crate::simd::{Portable, Simd};
use crate::similarity::comparison::{Comparison, MAX_CELLS, PathStep, Pieces};

/// The path between a basis y and a sample x within a band; `None` for a rule that has no single path, and for series whose
/// table would be too large. The share of a step is its part of the last cell, before [`Rule::finish`].
pub(super) fn path<F: Rule>(rule: F, band: usize, y: &Series, x: &Series) -> Option<Comparison> {
    let (m, n) = (x.length(0), y.length(0));
    if !F::HAS_PATH || m.saturating_mul(n) > MAX_CELLS {
        return None;
    }
    let isa = Isa::Portable(Portable);
    let extra = |series: &Series| vec![rule.extra(series.series(0), series.channels())];
    let (of_y, of_x): (Vec<Extra>, Vec<Extra>) = (extra(y), extra(x));
    let group = Group::new(isa, y, &of_y, &[0]);
    let (offsets, mut numbers) = (rule.offsets(m.max(n)), Vec::new());
    let numbers = group.offsets_of(m, band, &offsets, &mut numbers);
    let table = group.table((of_x[0].side(x.series(0)), m, false), (band, None), numbers);
    table.check::<F>(isa.lanes());
    let mut filled = Filled { rule, table, values: vec![f32::INFINITY; m * n], edges: [&of_x[0].edge, &of_y[0].edge] };
    filled.fill();
    let path = filled.back();
    Some(Comparison::of("cost of the path", Pieces::TimeSteps { path }))
}

/// A table with a row for each step of the sample and a column for each of the basis.
struct Filled<'a, F> {
    rule: F,
    table: Table<'a>,
    values: Vec<f32>,
    /// The values before the first column, a row each, and above the first row; empty where a path begins at the first
    /// pair.
    edges: [&'a [f32]; 2],
}

impl<F: Rule> Filled<'_, F> {
    /// The value after the first `row` steps of the sample and `col` of the basis.
    fn value(&self, row: usize, col: usize) -> f32 {
        let edge = |numbers: &[f32], at: usize| match numbers.get(at - 1) {
            Some(value) if at <= self.table.band => *value,
            _ => f32::INFINITY,
        };
        match (row, col) {
            (0, 0) => 0.0,
            (0, col) => edge(self.edges[1], col),
            (row, 0) => edge(self.edges[0], row),
            _ => self.values[(row - 1) * self.table.columns + col - 1],
        }
    }

    /// The values above, before in both, and to the left of a cell.
    fn before(&self, row: usize, col: usize) -> [f32; 3] {
        [self.value(row, col + 1), self.value(row, col), self.value(row + 1, col)]
    }

    fn cell(&self, row: usize, col: usize, [above, diagonal, left]: [f32; 3]) -> f32 {
        let splat = |value| Portable.splat(value);
        let neighbors = Neighbors { above: splat(above), diagonal: splat(diagonal), left: splat(left) };
        let place = Place::<'_, Portable, false> {
            simd: Portable,
            table: self.table,
            row,
            column: col,
            x: splat(0.0),
            y: splat(0.0),
        };
        self.rule.cell(&place, neighbors)[0]
    }

    fn fill(&mut self) {
        let (rows, columns) = (self.table.rows, self.table.columns);
        for row in 0..rows {
            for col in (0..columns).filter(|col| row.abs_diff(*col) <= self.table.band) {
                self.values[row * columns + col] = self.cell(row, col, self.before(row, col));
            }
        }
    }

    fn back(&self) -> Vec<PathStep> {
        const NO: f32 = f32::INFINITY;
        let (mut row, mut col, mut path) = (self.table.rows, self.table.columns, Vec::new());
        while row > 0 && col > 0 {
            let [above, diagonal, left] = self.before(row - 1, col - 1);
            // In a tie both series go on.
            let ways = [((1, 1), [NO, diagonal, NO]), ((1, 0), [above, NO, NO]), ((0, 1), [NO, NO, left])];
            let values = ways.map(|(steps, before)| (steps, self.cell(row - 1, col - 1, before)));
            let Some(((down, along), _)) = values.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            let (before_row, before_col) = (row - down, col - along);
            let share = f64::from(self.value(row, col)) - f64::from(self.value(before_row, before_col));
            let [sample, basis] = [(row, down), (col, along)].map(|(at, n)| (n > 0 || F::REPEATS).then(|| at - 1));
            if down == along && !F::is_pair(share as f32) {
                path.push(PathStep { basis, sample: None, share: 0.0 });
                path.push(PathStep { basis: None, sample, share });
            } else {
                path.push(PathStep { basis, sample, share });
            }
            (row, col) = (before_row, before_col);
        }
        for at in (0..row).rev() {
            let share = f64::from(self.value(at + 1, 0)) - f64::from(self.value(at, 0));
            path.push(PathStep { basis: None, sample: Some(at), share });
        }
        for at in (0..col).rev() {
            let share = f64::from(self.value(0, at + 1)) - f64::from(self.value(0, at));
            path.push(PathStep { basis: Some(at), sample: None, share });
        }
        path.reverse();
        path
    }
}
