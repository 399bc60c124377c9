//! The queries of Newton's method to the rows of a linear model, and the calls that put them: an [`Objective`].

use serde::{Deserialize, Serialize};

use super::block_objective::BlockObjective;
use super::held_out::HeldOutScores;
use super::objective::{ActiveRows, Cost, Gradient, Gram, Line, LineSums, Shape};
use crate::error::{Error, Result};
use crate::linalg;
use crate::monitor::Monitor;
use crate::partition::{Entry, Executor, Kind, Query, Remote, Workers, part_query};
use crate::tuning::{MAX_PARTED_FEATURES, SAMPLED_STEPS};

/// Rows of features with their targets and costs; a part is the objective over some of them.
#[derive(Clone, Copy, Debug)]
pub struct LinearRows;

impl Kind for LinearRows {
    type Part<'p> = BlockObjective<'p>;

    const NAME: &'static str = "linear rows";
}

/// The answers of workers for the rows of a linear model.
pub const LINEAR_QUERIES: &[Entry<LinearRows>] = &[
    Entry::of::<Sizes>(),
    Entry::of::<SetPoint>(),
    Entry::of::<SetDirection>(),
    Entry::of::<TakeStep>(),
    Entry::of::<LineSearch>(),
    Entry::of::<GradientAt>(),
    Entry::of::<HessianProduct>(),
    Entry::of::<GramAt>(),
    Entry::of::<Diagonal>(),
    Entry::of::<Active>(),
    Entry::of::<HoldOut>(),
    Entry::of::<HeldOut>(),
];

part_query! { LinearRows: Sizes "sizes" {} -> Option<(Shape, Cost)> { READS_FEATURES = false, IS_RECORDED = false }
|_, rows, _| Ok(Some((rows.shape(), rows.cost()))),
|_, total, next| if let (Some((shape, cost)), Some((other, others))) = (total, next) {
    shape.n_rows += other.n_rows;
    cost.pass += others.pass;
    cost.problem += others.problem;
    cost.gram += others.gram;
} }

// Sets the current points: scores ← Φw. A non-finite score is [`Error::Value`], naming the feature responsible.
part_query! { pub LinearRows: SetPoint "set_point" { live: Vec<usize>, points: Vec<f64> } -> () { CHANGES_STATE = true, HAS_ANSWER = false }
|at, rows, _| rows.set_point(&at.live, &at.points), |_, (), ()| () }

// Sets the current directions.
part_query! { pub LinearRows: SetDirection "set_direction" { live: Vec<usize>, directions: Vec<f64> } -> () { CHANGES_STATE = true, HAS_ANSWER = false }
|at, rows, _| rows.set_direction(&at.live, &at.directions), |_, (), ()| () }

part_query! { LinearRows: TakeStep "take_step" { live: Vec<usize>, steps: Vec<f64> } -> ()
{ CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|at, rows, _| rows.take_step(&at.live, &at.steps), |_, (), ()| () }

// Sums at a point on each problem's line.
part_query! { pub LinearRows: LineSearch "line_search_eval" { live: Vec<usize>, lines: Vec<Line> } -> Vec<LineSums> { READS_FEATURES = false }
|at, rows, _| rows.line_search_eval(&at.live, &at.lines),
|_, total, next| total.iter_mut().zip(&next).for_each(|(total, next)| total.add(next)) }

// Sums and gradients at the current points with these intercepts; a non-finite gradient is [`Error::Value`].
part_query! { pub LinearRows: GradientAt "gradient" { live: Vec<usize>, intercepts: Vec<f64> } -> Gradient {}
|at, rows, _| rows.gradient(&at.live, &at.intercepts), |_, total, next| total.add(&next) }

// Σ_i c_i loss″_ik (φ_i, 1)(φ_i, 1)ᵀ d_k for `directions` d, as points.
part_query! { pub LinearRows: HessianProduct "hessian_product" { live: Vec<usize>, intercepts: Vec<f64>, directions: Vec<f64> } -> Vec<f64> { IS_OF_HESSIAN = true }
|at, rows, _| rows.hessian_product(&at.live, &at.intercepts, &at.directions),
|_, total, next| linalg::add(total, &next) }

// Matrices and rows are much larger than sums, and can be recomputed at the same points: they are not recorded.

// A matrix that approximates the Hessians of all live problems, or `None` if the monitor says to stop.
part_query! { pub LinearRows: GramAt "gram" { live: Vec<usize>, intercepts: Vec<f64> } -> Option<Gram>
{ IS_RECORDED = false, IS_OF_PRECONDITIONER = true }
|at, rows, monitor| rows.gram(&at.live, &at.intercepts, monitor),
|_, total, next| match (total.as_mut(), next) {
    (Some(total), Some(next)) => total.add(&next),
    _ => *total = None,
} }

// The diagonal of that matrix, `n_features + 1` numbers.
part_query! { pub LinearRows: Diagonal "diagonal" { live: Vec<usize>, intercepts: Vec<f64> } -> Vec<f64>
{ IS_RECORDED = false, IS_OF_PRECONDITIONER = true }
|at, rows, _| rows.diagonal(&at.live, &at.intercepts), |_, total, next| linalg::add(total, &next) }

// The rows with a curvature above 0 in problem `k`, or `None` if there are more than `most`. For squared hinge these are
// the rows inside the margin.
part_query! { pub LinearRows: Active "active_rows" { k: usize, intercept: f64, most: usize } -> Option<ActiveRows> { IS_RECORDED = false, IS_OF_HESSIAN = true }
|at, rows, _| rows.active_rows(at.k, at.intercept, at.most),
|at, total, next| *total = total.take().zip(next).and_then(|(mut total, next)| {
    total.add(next, at.most).then_some(total)
}) }

part_query! { LinearRows: HoldOut "hold_out" {} -> () { CHANGES_STATE = true, HAS_ANSWER = false, READS_FEATURES = false }
|_, rows, _| { rows.holds_out = true; Ok(()) }, |_, (), ()| () }

// The decision values of the rows held out at the current points with these intercepts; none if rows cannot be held out.
part_query! { pub LinearRows: HeldOut "held_out" { intercepts: Vec<f64> } -> HeldOutScores { READS_FEATURES = false }
|at, rows, _| rows.held_out(&at.intercepts), |_, total, next| total.extend(next) }

/// Sums over the rows of a linear model, wherever they are, for many problems at once. See `objective.rs` for the layout
/// of the arguments.
///
/// The Hessian may be that of a sample of the rows. If the rows are on disk or on other machines, reading all of them
/// dominates the cost. Newton's method needs the Hessian only for a direction, but conjugate gradients would read all rows
/// for every product. A direction from m rows of D features leaves about D/m of the gap (which is small to begin with at
/// the solution on those rows, the starting point): gradients, line searches and the certificate use all rows, so the
/// solution is the same. Byrd, Chin, Neveitt and Nocedal, *On the use of stochastic Hessian information in optimization
/// methods for machine learning*, SIAM J. Optim. 21 (2011).
#[derive(Debug)]
pub struct Objective<'s, E> {
    /// All rows.
    pub rows: E,
    shape: Shape,
    cost: Cost,
    sample: Option<BlockObjective<'s>>,
    steps: u32,
}

impl<'s> Objective<'s, BlockObjective<'s>> {
    /// Over rows in memory.
    pub fn in_memory(rows: BlockObjective<'s>) -> Self {
        let sizes = (rows.shape(), rows.cost());
        Objective::new(rows, sizes)
    }
}

impl<W: Workers> Objective<'_, Remote<W>> {
    /// Over rows that workers hold, which are asked for the sizes of all of them.
    ///
    /// # Errors
    /// An error of the workers; [`Error::Cancelled`]; [`Error::NoSamples`] where they have no rows.
    pub fn of_workers(workers: W, monitor: &Monitor<'_>) -> Result<Self> {
        let mut rows = Remote::new(workers);
        let (shape, mut cost) = rows.reduce(&Sizes {}, monitor)?.ok_or(Error::NoSamples(""))?;
        if shape.n_features > MAX_PARTED_FEATURES {
            cost.gram = f64::INFINITY;
        }
        Ok(Objective::new(rows, (shape, cost)))
    }
}

impl<'s, E: Executor<LinearRows>> Objective<'s, E> {
    /// Over rows of this shape and cost.
    pub(crate) fn new(rows: E, (shape, cost): (Shape, Cost)) -> Self {
        Objective { rows, shape, cost, sample: None, steps: 0 }
    }

    /// With the Hessian of some of the rows, whose costs are scaled up such that both sums are about equal.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two differ in more than their rows.
    pub fn sampled(self, sample: BlockObjective<'s>) -> Result<Self> {
        let (shape, other) = (self.shape, sample.shape());
        if (Shape { n_rows: 0, ..shape }) != (Shape { n_rows: 0, ..other }) {
            let (found, expected) = (format!("{other:?}"), format!("{shape:?}, as all rows have"));
            return Err(Error::shape("a sample's objective", found, expected));
        }
        Ok(Objective { sample: Some(sample), ..self })
    }

    /// The answer of all rows. Queries about a preconditioner are to the sample, those about the Hessian as long as it is
    /// enough; what changes the state of rows is for both.
    ///
    /// # Errors
    /// Errors of the holder of the rows; [`Error::Cancelled`].
    pub fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        if let Some(sample) = &mut self.sample {
            if Q::IS_OF_PRECONDITIONER || Q::IS_OF_HESSIAN && self.steps < SAMPLED_STEPS {
                return query.answer(sample, monitor);
            }
            if Q::CHANGES_STATE {
                query.answer(sample, monitor)?;
            }
        }
        self.rows.reduce(query, monitor)
    }

    /// The same without a monitor.
    ///
    /// # Errors
    /// As for [`Objective::reduce`].
    pub fn ask<Q: Query<Of = LinearRows>>(&mut self, query: &Q) -> Result<Q::Answer> {
        self.reduce(query, &Monitor::none())
    }

    /// Dimensions and kind.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The cost of the calls below.
    pub fn cost(&self) -> Cost {
        match self.sample.as_ref().map(BlockObjective::cost) {
            Some(of_sample) if self.steps < SAMPLED_STEPS => of_sample,
            Some(of_sample) => Cost { gram: of_sample.gram, ..self.cost },
            None => self.cost,
        }
    }

    /// Moves the current points: scores ← scores + step · direction. Does not read φ.
    ///
    /// # Errors
    /// Errors of the holder of the rows.
    pub fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.steps += 1;
        self.ask(&TakeStep { live: live.to_vec(), steps: steps.to_vec() })
    }

    /// Gives some rows, evenly spaced, the cost 0 from now on, so that a fit does not see them: a tenth of few. The sample
    /// keeps all of its rows: it is used for directions only.
    ///
    /// # Errors
    /// As for [`Objective::take_step`].
    pub fn hold_out(&mut self) -> Result<()> {
        self.steps = 0;
        self.rows.reduce(&HoldOut {}, &Monitor::none())
    }
}

impl Executor<LinearRows> for BlockObjective<'_> {
    fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        query.answer(self, monitor)
    }
}
