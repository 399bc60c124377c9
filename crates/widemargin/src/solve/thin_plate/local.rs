//! The rows of this process, in blocks that are cached or recomputed in every pass.
//!
//! In addition to the blocks, 17 bytes per row and problem and 8 per row are stored. A pass processes [`SPAN`] blocks
//! at a time; sums are added in block order, so that results do not depend on the number of threads.

use std::borrow::Cow;
use std::ops::Range;

use super::block_sums::{Block, Points, Root, RowData, RowsState, absent_rows, evaluate, leave_out};
use super::feature_map::FeatureMap;
use super::row_sums::{LeaveOneOutSums, Place, PointSums, RowsShape, Sums};
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, add_outer};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Loss, SmoothLoss};

/// Rows per block.
pub(crate) const BLOCK: usize = 512;

/// Blocks processed together, between which the state of the rows does not change.
pub(crate) const SPAN: usize = 8;

/// Columns gathered before they are multiplied.
const GATHERED: usize = 256;

/// Computes the block of some rows, or finds it in memory.
pub(crate) type Blocks<'a> = &'a (dyn Fn(Range<usize>) -> Result<Cow<'a, Block>> + Sync);

/// Rows and their state.
pub(crate) struct Local<'a> {
    blocks: Blocks<'a>,
    feature_map: &'a FeatureMap,
    row_data: RowData<'a>,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
    pub state: RowsState,
    /// Whether leave-one-out decision values are stored.
    keeps: bool,
}

impl<'a> Local<'a> {
    /// The rows of these blocks, with features of this map.
    pub fn new(
        (blocks, feature_map): (Blocks<'a>, &'a FeatureMap),
        row_data: RowData<'a>,
        keeps: bool,
        (pool, monitor): (&'a Pool, &'a Monitor<'a>),
    ) -> Self {
        let state = RowsState::new(row_data.roots.len() * row_data.targets.n_problems());
        Local { blocks, feature_map, row_data, pool, monitor, state, keeps }
    }

    /// Runs `work` on every block, in parallel within a span, and folds the results in block order; `work` reads the
    /// state, which changes only between spans.
    fn pass<T: Send>(
        &mut self,
        work: impl Fn((RowData<'_>, &RowsState, &FeatureMap), (Range<usize>, &Block)) -> T + Sync + Send,
        mut fold: impl FnMut(&mut RowsState, T),
    ) -> Result<()> {
        let Local { blocks, feature_map, row_data, pool, monitor, state, .. } = self;
        let n = row_data.roots.len();
        for first in (0..n).step_by(SPAN * BLOCK) {
            monitor.go_on("solve")?;
            let end = n.min(first + SPAN * BLOCK);
            let one = |at: usize| {
                let rows = first + at * BLOCK..end.min(first + (at + 1) * BLOCK);
                Ok::<_, Error>(work((*row_data, state, feature_map), (rows.clone(), &*blocks(rows)?)))
            };
            let found = pool.try_map((end - first).div_ceil(BLOCK), one)?;
            found.into_iter().for_each(|found| fold(state, found));
        }
        Ok(())
    }

    /// The positions of a problem's rows in the state.
    fn own(&self, problem: usize) -> Range<usize> {
        let n = self.row_data.roots.len();
        problem * n..(problem + 1) * n
    }

    /// A pass that evaluates the points, or the current ones, and counts the rows whose loss curves there. The changes
    /// of the first live problems are added to their Hessians, if there are any.
    fn gather(
        &mut self,
        live: &[usize],
        points: Option<&[f64]>,
        mut hessians: Option<&mut [Vec<f64>]>,
    ) -> Result<Vec<PointSums>> {
        let (n, p, pool, feature_map) = (self.row_data.roots.len(), self.shape().width(), self.pool, self.feature_map);
        let points = points.map(|points| Points::new(points, feature_map, self.shape()));
        let mut sums = vec![PointSums::default(); live.len()];
        let wants_changes = hessians.is_some();
        let mut outers = vec![Outer::default(); hessians.as_ref().map_or(0, |hessians| hessians.len())];
        let mut flush = |outers: &mut [Outer], least: usize| {
            let pairs = outers.iter_mut().zip(hessians.iter_mut().flat_map(|hessians| hessians.iter_mut()));
            pairs.for_each(|(outer, hessian)| outer.flush(hessian, p, least, pool));
        };
        let mut raw = false;
        self.pass(
            |all, (rows, block)| {
                let evaluation = evaluate(all, (rows, block), live, points.as_ref(), wants_changes);
                (evaluation, matches!(block, Block::Raw { .. }))
            },
            |state, (evaluation, is_raw)| {
                raw = is_raw;
                sums.iter_mut().zip(&evaluation.sums).for_each(|(sum, part)| sum.add(part));
                let changed = outers.iter_mut().zip(&evaluation.changes);
                changed.for_each(|(outer, changes)| outer.push(&evaluation.changed, changes));
                flush(&mut outers, GATHERED);
                for (at, &problem) in live.iter().enumerate() {
                    let own = problem * n + evaluation.rows.start..problem * n + evaluation.rows.end;
                    state.counted[own.clone()].copy_from_slice(&evaluation.active[at]);
                    if let Some(ahead) = evaluation.ahead.get(at) {
                        state.ahead[own].copy_from_slice(ahead);
                    }
                }
            },
        )?;
        flush(&mut outers, 1);
        if raw {
            let b = feature_map.n_bases();
            for sums in &mut sums {
                let column = |part: &[f64]| Matrix::from_columns(part.to_vec(), part.len(), 1);
                let (phi, polynomials) = sums.right.split_at(b);
                sums.right = feature_map.features(column(phi), &column(polynomials)).into_values();
            }
        }
        Ok(sums)
    }
}

/// Rows to be added to or subtracted from a Hessian.
#[derive(Clone, Debug, Default)]
struct Outer {
    columns: Vec<f64>,
    signs: Vec<f64>,
}

impl Outer {
    fn push(&mut self, changed: &Matrix, changes: &[(usize, f64)]) {
        for &(col, sign) in changes {
            self.columns.extend_from_slice(changed.col(col));
            self.signs.push(sign);
        }
    }

    /// Multiplies them if there are enough.
    fn flush(&mut self, hessian: &mut [f64], p: usize, least: usize, pool: &Pool) {
        if self.signs.len() >= least {
            let columns = Matrix::from_columns(std::mem::take(&mut self.columns), p, self.signs.len());
            add_outer(hessian, &columns, &self.signs, pool);
            self.signs.clear();
        }
    }
}

// The answers to the queries of `basis_queries.rs`.
impl Local<'_> {
    pub fn shape(&self) -> RowsShape {
        RowsShape {
            n_penalized: self.feature_map.n_penalized(),
            n_free: self.feature_map.n_free(),
            n_problems: self.row_data.targets.n_problems(),
            shares_first_hessian: self.row_data.targets.share_first_hessian() && !self.state.are_rounded(),
        }
    }

    pub fn set_losses(&mut self, losses: &[SmoothLoss], from_derivatives: bool) {
        if from_derivatives {
            self.state.multipliers = self.state.derivatives(self.row_data);
        }
        self.state.losses = losses.to_vec();
    }

    pub fn origin(&mut self) -> Result<Sums> {
        let mut hessians = vec![vec![0.0; self.shape().width().pow(2)]];
        self.state.scores.fill(0.0);
        self.state.counted.fill(0.0);
        // Every row becomes counted, equally in all problems: at 0 the squared hinge is the squared error.
        let (targets, is_shared) = (self.row_data.targets, self.shape().shares_first_hessian);
        let squares = vec![SmoothLoss::new(Loss::SquaredError); self.state.losses.len()];
        let losses = std::mem::replace(&mut self.state.losses, squares);
        self.row_data.targets = targets.evenly();
        let live: Vec<usize> = (0..if is_shared { targets.n_problems() } else { 1 }).collect();
        let sums = self.gather(&live, None, Some(&mut hessians))?;
        (self.row_data.targets, self.state.losses) = (targets, losses);
        if is_shared {
            return Ok((hessians, sums));
        }
        self.state.counted.fill(0.0);
        Ok((hessians, Vec::new()))
    }

    pub(super) fn evaluate(
        &mut self,
        live: &[usize],
        at: &Place,
        hessians: Option<&mut [Vec<f64>]>,
    ) -> Result<Vec<PointSums>> {
        let places = match at {
            Place::Points(points) => return self.gather(live, Some(points), hessians),
            Place::OnLines(places) => places,
        };
        for (&problem, t) in live.iter().zip(places) {
            let own = self.own(problem);
            let RowsState { scores, ahead, .. } = &mut self.state;
            scores[own.clone()].iter_mut().zip(&ahead[own]).for_each(|(z, to)| *z += t * (to - *z));
        }
        self.gather(live, None, hessians)
    }

    pub fn accept(&mut self, live: &[usize]) {
        for &problem in live {
            let own = self.own(problem);
            self.state.scores[own.clone()].copy_from_slice(&self.state.ahead[own]);
        }
    }

    pub fn line_search_eval(&mut self, live: &[usize], places: &[f64]) -> Vec<[f64; 3]> {
        let one = |(&problem, &t): (&usize, &f64)| {
            let (mut slope, mut curvature, mut size) = (0.0, 0.0, 0.0);
            let own = self.own(problem);
            let pairs = self.state.scores[own.clone()].iter().zip(&self.state.ahead[own]);
            for (row, (from, to)) in pairs.enumerate() {
                let present = self.state.present_share(self.row_data, row, problem);
                let (goal, pieces) = self.state.goal(self.row_data, row, problem);
                let moves = to - from;
                let at = pieces.at(goal - from - t * moves);
                slope -= present * at.pull * moves;
                size += present * (at.pull * moves).abs();
                if at.is_active {
                    curvature += present * moves * moves;
                }
            }
            [slope, curvature, size]
        };
        live.iter().zip(places).map(one).collect()
    }

    pub fn leave_one_out(&mut self, roots: &[Vec<f64>]) -> Result<(LeaveOneOutSums, Vec<Vec<f64>>)> {
        let shape = self.shape();
        let roots: Vec<Root> = roots.iter().map(|root| Root::new(root, shape)).collect();
        let mut sums = LeaveOneOutSums::default();
        let mut loo_values = if self.keeps { vec![Vec::new(); shape.n_problems] } else { Vec::new() };
        self.pass(
            |all, block| leave_out(all, block, &roots),
            |_, (found, values)| {
                sums.extend(found);
                loo_values.iter_mut().zip(&values).for_each(|(all, some)| all.extend(some));
            },
        )?;
        Ok((sums, loo_values))
    }

    pub fn without(&mut self, fold: Option<u32>) {
        self.state.exclude(self.row_data, fold);
    }

    pub fn absent_rows(&self) -> LeaveOneOutSums {
        absent_rows(self.row_data, &self.state)
    }
}
