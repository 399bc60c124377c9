//! The queries of the solver on bases to its rows: the calls of [`RowSums`].

use serde::{Deserialize, Serialize};

use super::row_sums::{Hessians, LeaveOneOutSums, PointSums, RowSums, RowsShape};
use crate::error::Result;
use crate::linalg;
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, Remote, Workers, part_query};
use crate::problem::SmoothLoss;

/// Rows of features on bases with their classes and weights; a part is the sums over some of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasisRows;

type Rows<'p> = <BasisRows as Kind>::Part<'p>;

impl Kind for BasisRows {
    type Part<'p> = dyn RowSums + 'p;

    const NAME: &'static str = "basis rows";
}

/// The answers of workers for rows on bases.
pub(crate) const BASIS_QUERIES: &[Entry<BasisRows>] = &[
    Entry::of::<SetLosses>(),
    Entry::of::<Origin>(),
    Entry::of::<Look>(),
    Entry::of::<Accept>(),
    Entry::of::<LineSearch>(),
    Entry::of::<TakeStep>(),
    Entry::of::<LeaveOneOut>(),
    Entry::of::<Without>(),
    Entry::of::<AbsentRows>(),
];

/// Changes of the Hessians of the live problems, or one Hessian for all, and the sums of each problem.
type Sums = (Vec<Vec<f64>>, Vec<PointSums>);

fn add_sums(total: &mut Sums, next: Sums) {
    total.0.iter_mut().zip(&next.0).for_each(|(total, next)| linalg::add(total, next));
    total.1.iter_mut().zip(&next.1).for_each(|(total, next)| total.add(next));
}

/// Does `work` with room for the changes of the live problems' Hessians, and keeps these.
fn with_changes(
    rows: &mut Rows<'_>,
    live: &[usize],
    work: impl FnOnce(&mut Rows<'_>, &mut Hessians) -> Result<Vec<PointSums>>,
) -> Result<Sums> {
    let (square, n_problems) = (rows.shape().width().pow(2), rows.shape().n_problems);
    let room = |problem| if live.contains(&problem) { vec![0.0; square] } else { Vec::new() };
    let mut hessians: Vec<Vec<f64>> = (0..n_problems).map(room).collect();
    let sums = work(rows, &mut hessians)?;
    Ok((live.iter().map(|&problem| std::mem::take(&mut hessians[problem])).collect(), sums))
}

part_query! { BasisRows: SetLosses "set_losses" { losses: Vec<SmoothLoss>, from_derivatives: bool } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| rows.set_losses(&at.losses, at.from_derivatives), |_, (), ()| () }

part_query! { BasisRows: Origin "origin" {} -> Sums { CHANGES_STATE = true }
|_, rows, _| rows.origin().map(|(hessian, sums)| (vec![hessian], sums)), |_, total, next| add_sums(total, next) }

part_query! { BasisRows: Look "look" { live: Vec<usize>, points: Vec<f64>, counts: bool } -> Sums { CHANGES_STATE = true }
|at, rows, _| match at.counts {
    true => with_changes(rows, &at.live, |rows, room| rows.look(&at.live, &at.points, Some(room))),
    false => Ok((Vec::new(), rows.look(&at.live, &at.points, None)?)),
},
|_, total, next| add_sums(total, next) }

part_query! { BasisRows: Accept "accept" { live: Vec<usize> } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| rows.accept(&at.live), |_, (), ()| () }

part_query! { BasisRows: LineSearch "line_search_eval" { live: Vec<usize>, places: Vec<f64> } -> Vec<[f64; 3]> { READS_FEATURES = false }
|at, rows, _| rows.line_search_eval(&at.live, &at.places),
|_, total, next| linalg::add(total.as_flattened_mut(), next.as_flattened()) }

part_query! { BasisRows: TakeStep "take_step" { live: Vec<usize>, places: Vec<f64> } -> Sums { CHANGES_STATE = true }
|at, rows, _| with_changes(rows, &at.live, |rows, room| rows.take_step(&at.live, &at.places, room)),
|_, total, next| add_sums(total, next) }

part_query! { BasisRows: LeaveOneOut "leave_one_out" { roots: Vec<Vec<f64>> } -> LeaveOneOutSums {}
|at, rows, _| rows.leave_one_out(&at.roots).map(|(sums, _)| sums), |_, total, next| total.extend(next) }

part_query! { BasisRows: Without "without" { fold: Option<u32> } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| rows.without(at.fold), |_, (), ()| () }

part_query! { BasisRows: AbsentRows "absent_rows" {} -> LeaveOneOutSums { READS_FEATURES = false }
|_, rows, _| rows.absent_rows(), |_, total, next| total.extend(next) }

/// Sums over rows that workers hold.
#[derive(Debug)]
pub(crate) struct RemoteRowSums<W> {
    rows: Remote<BasisRows, W>,
    shape: RowsShape,
}

impl<W: Workers> RemoteRowSums<W> {
    /// `shape` is that of all their rows together.
    pub fn new(workers: W, shape: RowsShape) -> Self {
        RemoteRowSums { rows: Remote::new(workers), shape }
    }

    fn ask<Q: Query<Of = BasisRows>>(&mut self, query: &Q) -> Result<Q::Answer> {
        self.rows.reduce(query, &Monitor::none())
    }
}

fn add_changes(hessians: &mut Hessians, live: &[usize], changes: &[Vec<f64>]) {
    live.iter().zip(changes).for_each(|(&problem, change)| linalg::add(&mut hessians[problem], change));
}

impl<W: Workers> RowSums for RemoteRowSums<W> {
    fn shape(&self) -> RowsShape {
        self.shape
    }

    fn set_losses(&mut self, losses: &[SmoothLoss], from_derivatives: bool) -> Result<()> {
        self.ask(&SetLosses { losses: losses.to_vec(), from_derivatives })
    }

    fn origin(&mut self) -> Result<(Vec<f64>, Vec<PointSums>)> {
        let (mut hessians, sums) = self.ask(&Origin {})?;
        Ok((hessians.pop().unwrap_or_default(), sums))
    }

    fn look(&mut self, live: &[usize], points: &[f64], hessians: Option<&mut Hessians>) -> Result<Vec<PointSums>> {
        let (live, points, counts) = (live.to_vec(), points.to_vec(), hessians.is_some());
        let query = Look { live, points, counts };
        let (changes, sums) = self.ask(&query)?;
        if let Some(hessians) = hessians {
            add_changes(hessians, &query.live, &changes);
        }
        Ok(sums)
    }

    fn accept(&mut self, live: &[usize]) -> Result<()> {
        self.ask(&Accept { live: live.to_vec() })
    }

    fn line_search_eval(&mut self, live: &[usize], places: &[f64]) -> Result<Vec<[f64; 3]>> {
        self.ask(&LineSearch { live: live.to_vec(), places: places.to_vec() })
    }

    fn take_step(&mut self, live: &[usize], places: &[f64], hessians: &mut Hessians) -> Result<Vec<PointSums>> {
        let (changes, sums) = self.ask(&TakeStep { live: live.to_vec(), places: places.to_vec() })?;
        add_changes(hessians, live, &changes);
        Ok(sums)
    }

    fn leave_one_out(&mut self, roots: &[Vec<f64>]) -> Result<(LeaveOneOutSums, Vec<Vec<f64>>)> {
        Ok((self.ask(&LeaveOneOut { roots: roots.to_vec() })?, Vec::new()))
    }

    fn without(&mut self, fold: Option<u32>) -> Result<()> {
        self.ask(&Without { fold })
    }

    fn absent_rows(&mut self) -> Result<LeaveOneOutSums> {
        self.ask(&AbsentRows {})
    }
}
