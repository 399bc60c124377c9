//! What the solver on landmarks asks of its rows: sums over them, wherever they are.
//!
//! A row of weight w is a vector x of features times √w: first the penalised ones, then the unpenalised. A point is a
//! vector as long; z = x · point is the row's weighted score, and its slack is √w − y z, above 0 inside the margin.
//! Whoever answers remembers for each row and problem z at the point where the problem stands, z at the point that was
//! looked at last, and whether the row is counted in the problem's Hessian Σ x xᵀ, which the solver keeps.
//!
//! All problems are asked about at once: what a pass over the rows costs is reading them and computing their features.

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Sizes of a fit on landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsShape {
    /// Rows.
    pub n_rows: usize,
    /// Features that are penalised: one a landmark.
    pub n_penalised: usize,
    /// Features that are not: the polynomials that are left free.
    pub n_free: usize,
    /// Two-class problems.
    pub n_problems: usize,
}

impl RowsShape {
    /// Features of a row.
    pub fn width(&self) -> usize {
        self.n_penalised + self.n_free
    }
}

/// Sums over the rows of one problem at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointSums {
    /// Σ y slack x over the rows inside the margin.
    pub right: Vec<f64>,
    /// Σ slack² over them.
    pub loss: f64,
    /// Σ √w slack over them.
    pub pull: f64,
    /// The largest |slack| of a row that is inside the margin here and was not counted, or the reverse; above 0 where
    /// there is one.
    pub apart: f64,
    /// The largest |z|.
    pub size: f64,
    /// Rows inside the margin.
    pub n_inside: u64,
}

impl PointSums {
    /// Both together.
    pub fn add(&mut self, other: &PointSums) {
        if self.right.is_empty() {
            self.right.clone_from(&other.right);
        } else {
            self.right.iter_mut().zip(&other.right).for_each(|(sum, x)| *sum += x);
        }
        self.loss += other.loss;
        self.pull += other.pull;
        self.apart = self.apart.max(other.apart);
        self.size = self.size.max(other.size);
        self.n_inside += other.n_inside;
    }
}

/// Left-out decision values, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftOutSums {
    /// Σ w max(0, 1 − y value)² over rows and problems.
    pub hinge: f64,
    /// Σ w over the rows that get the wrong class.
    pub wrong: f64,
}

/// Parts into which the rows are dealt for a cross-validation.
pub(crate) const FOLDS: u32 = 5;

/// Hessians, column-major squares of which the lower triangle counts, one a problem.
pub type Hessians = [Vec<f64>];

/// Rows that can be asked for sums over all of them. Vectors for all problems come one after another, also those of
/// problems that are not `live`, which are passed over.
pub trait RowSums {
    /// The sizes.
    fn shape(&self) -> RowsShape;

    /// Puts every problem at 0, where every row is inside the margin and counted: the Hessian, the same for all, and
    /// what each problem's rows tell.
    ///
    /// # Errors
    /// What reading the rows meets.
    fn origin(&mut self) -> Result<(Vec<f64>, Vec<PointSums>)>;

    /// Looks at points (problems × width), at which the rows inside the margin are counted from now on; the change is
    /// added to the Hessians, where there are any. One element a live problem.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn look(&mut self, live: &[usize], points: &[f64], hessians: Option<&mut Hessians>) -> Result<Vec<PointSums>>;

    /// Moves problems to the points that were looked at.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn accept(&mut self, live: &[usize]) -> Result<()>;

    /// On the way from where the problems stand (0) to the points that were looked at (1): half the derivative of
    /// Σ slack² at the given places, and half the second one.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn line_search_eval(&mut self, live: &[usize], places: &[f64]) -> Result<Vec<[f64; 2]>>;

    /// Moves problems to places on that way, and counts the rows that are inside the margin there.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn take_step(&mut self, live: &[usize], places: &[f64], hessians: &mut Hessians) -> Result<Vec<PointSums>>;

    /// Leave-one-out where all problems stand. A row's leverage is ‖R x‖², for a square column-major R a problem whose
    /// first rows, as many as there are penalised features, are a lower triangle.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn leave_one_out(&mut self, roots: &[Vec<f64>]) -> Result<LeftOutSums>;

    /// From now on the rows of a fold are absent: at the next look they are not counted. `None`: all are present.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn without(&mut self, fold: Option<u32>) -> Result<()>;

    /// What the problems, where they stand, make of the rows that are absent.
    ///
    /// # Errors
    /// As for [`RowSums::origin`].
    fn absent_rows(&mut self) -> Result<LeftOutSums>;

    /// The left-out decision values that were summed last, a vector a problem, where they are kept.
    fn left_out(&mut self) -> Vec<Vec<f64>> {
        Vec::new()
    }
}
