//! The queries of the solver on bases to its rows.

use serde::{Deserialize, Serialize};

use super::local::Local;
use super::row_sums::{LeaveOneOutSums, Place, Sums};
use crate::error::Result;
use crate::linalg;
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, part_query};
use crate::problem::SmoothLoss;

/// Rows of features on bases with their classes and weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasisRows;

impl Kind for BasisRows {
    type Part<'p> = Local<'p>;

    const NAME: &'static str = "basis rows";
}

impl Executor<BasisRows> for Local<'_> {
    fn reduce<Q: Query<Of = BasisRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        query.answer(self, monitor)
    }

    fn accumulate<Q: Query<Of = BasisRows>>(&mut self, total: &mut Q::Answer, query: &Q) -> Result<()> {
        query.accumulate(self, total)
    }
}

/// The answers of workers for rows on bases.
pub(crate) const BASIS_QUERIES: &[Entry<BasisRows>] = &[
    Entry::of::<SetLosses>(),
    Entry::of::<Origin>(),
    Entry::of::<Evaluate>(),
    Entry::of::<Accept>(),
    Entry::of::<LineSearch>(),
    Entry::of::<LeaveOneOut>(),
    Entry::of::<Without>(),
    Entry::of::<AbsentRows>(),
];

fn add_sums(total: &mut Sums, next: Sums) {
    total.0.iter_mut().zip(&next.0).for_each(|(total, next)| linalg::add(total, next));
    if total.1.is_empty() {
        total.1 = next.1;
    } else {
        total.1.iter_mut().zip(&next.1).for_each(|(total, next)| total.add(next));
    }
}

// Sets the loss of each problem. The multipliers of rounded losses, 0 at first, stay as they are, or become the
// derivatives at the current points.
part_query! { pub(super) BasisRows: SetLosses "set_losses" { losses: Vec<SmoothLoss>, from_derivatives: bool } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| { rows.set_losses(&at.losses, at.from_derivatives); Ok(()) }, |_, (), ()| () }

// Sets every problem to 0, and counts every row. Where problems do not share the Hessian, nothing is counted afterwards,
// there are no sums, and it is that of all rows with equal weights.
part_query! { pub(super) BasisRows: Origin "origin" {} -> Sums { CHANGES_STATE = true }
|_, rows, _| rows.origin(), |_, total, next| add_sums(total, next) }

/// Evaluates live problems. If `counts`, the rows whose loss curves there are counted from now on, which changes the Hessians.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Evaluate {
    pub live: Vec<usize>,
    pub at: Place,
    pub counts: bool,
}

impl Query for Evaluate {
    type Of = BasisRows;
    type Answer = Sums;
    const NAME: &'static str = "evaluate";
    const CHANGES_STATE: bool = true;

    fn answer(&self, rows: &mut Local<'_>, _: &Monitor<'_>) -> Result<Sums> {
        let n_counted = if self.counts { self.live.len() } else { 0 };
        let mut total = (vec![vec![0.0; rows.shape().width().pow(2)]; n_counted], Vec::new());
        self.accumulate(rows, &mut total)?;
        Ok(total)
    }

    fn merge(&self, total: &mut Sums, next: Sums) -> Result<()> {
        add_sums(total, next);
        Ok(())
    }

    fn accumulate(&self, rows: &mut Local<'_>, total: &mut Sums) -> Result<()> {
        let hessians = self.counts.then_some(&mut total.0[..]);
        let sums = rows.evaluate(&self.live, &self.at, hessians)?;
        self.merge(total, (Vec::new(), sums))
    }
}

// Moves problems to the points evaluated last.
part_query! { pub(super) BasisRows: Accept "accept" { live: Vec<usize> } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| { rows.accept(&at.live); Ok(()) }, |_, (), ()| () }

// Half the first and second derivative of Σ loss at positions on the lines, and the sum of the sizes of the first one's
// terms.
part_query! { pub(super) BasisRows: LineSearch "line_search_eval" { live: Vec<usize>, places: Vec<f64> } -> Vec<[f64; 3]> { READS_FEATURES = false }
|at, rows, _| Ok(rows.line_search_eval(&at.live, &at.places)),
|_, total, next| linalg::add(total.as_flattened_mut(), next.as_flattened()) }

// Leave-one-out at the current points. A row's leverage is ‖R x‖², for a square column-major R per problem whose first
// rows, as many as there are penalized features, are lower triangular. With the decision values, one vector per problem,
// where they are stored.
part_query! { pub(super) BasisRows: LeaveOneOut "leave_one_out" { roots: Vec<Vec<f64>> } -> (LeaveOneOutSums, Vec<Vec<f64>>) {}
|at, rows, _| rows.leave_one_out(&at.roots), |_, total, next| total.0.extend(next.0) }

// Excludes the samples of a fold from now on: they are not counted at the next evaluation. `None` includes all. A row that
// stands for several samples may be excluded in part. The multipliers of rounded losses are then those of the last fit
// without this fold, or of that of all rows.
part_query! { pub(super) BasisRows: Without "without" { fold: Option<u32> } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| { rows.without(at.fold); Ok(()) }, |_, (), ()| () }

// Sums over the excluded rows at the current points.
part_query! { pub(super) BasisRows: AbsentRows "absent_rows" {} -> LeaveOneOutSums { READS_FEATURES = false }
|_, rows, _| Ok(rows.absent_rows()), |_, total, next| total.extend(next) }
