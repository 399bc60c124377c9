//! Dual coordinate descent on features, dense or sparse.
//!
//! Hsieh, Chang, Lin, Keerthi & Sundararajan, *A Dual Coordinate Descent Method for Large-scale Linear SVM*, ICML 2008:
//! ½‖w‖² + Σ c_i ℓ(y_i (wᵀφ_i + b)) with the hinge or its square has the dual
//!
//! max over 0 ≤ α_i ≤ U_i of Σ α_i − Σ D_i α_i²/2 − ½‖w(α)‖², w(α) = Σ α_i y_i φ_i, with Σ α_i y_i = 0 if b is free,
//!
//! which is solved exactly for one coordinate at a time. Any α that satisfies the constraints gives a lower bound on the
//! minimum: a problem is solved when that bound and the objective, both in double precision, are within the tolerance.
//!
//! A penalized intercept is the weight of a feature that is always 1. For a free one the equality is maintained by the
//! method of multipliers, with the squared hinge: b is the multiplier, the constant is a feature of the rows' mean size
//! during an epoch, and after it the multiplier takes over the value of that feature. With the hinge, steps along single
//! coordinates cannot satisfy it.
//!
//! On sparse rows of some dozens of values an epoch costs little more than one Hessian product of Newton's method, and a
//! solution from the start takes hundreds of them where words or n-grams are many. At a large C, where descent takes
//! many epochs, it may end unsolved, and Newton's method goes on from there. Arithmetic per non-zero and eight problems:
//! 16 flops to evaluate, 16 more where a dual variable moves, for 64 bytes read and 64 written, a cache line of weights;
//! 8 bytes of the row. Dense rows have one problem at a time: their weights fit a cache, so that rows gain nothing from
//! being read once for several.

use super::certificate::{Certificate, Sums};
use super::descent::Descent;
use super::loss_terms::LossTerms;
use super::pack::{Frame, Pack, Weights};
use super::rows::{DualRows, Pass};
use super::shard::{Shard, State, split};
use crate::data::{CsrMatrix, DenseView, Rows};
use crate::error::{Error, Result, require};
use crate::isa::Isa;
use crate::memory::prefetch;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Intercept, LinearProblem, Loss};
use crate::simd::Simd;
use crate::solve::newton::line_search::{SlopeAt, find_zeros};
use crate::solve::{DescentSettings, ProblemReport, Report, Stage, Status};

/// Σ α y relative to Σ α that counts as 0 (decision 0028).
const DUAL_BALANCE_TOL: f64 = 1e-12;

/// Sparse problems that descend together.
const LANES: usize = 8;

/// The solved problems.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearDualSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// One per problem; 0 if there is no intercept.
    pub intercepts: Vec<f64>,
    /// Dual variables, `[problem][row]`.
    pub alphas: Vec<f64>,
    /// Of each problem. Objectives of the hinge are before the weights are rounded to single precision, of its square at
    /// exactly these weights.
    pub problems: Vec<ProblemReport>,
}

impl LinearDualSolution {
    /// Whether all problems are solved.
    pub fn is_solved(&self) -> bool {
        self.problems.iter().all(|problem| problem.status == Status::Converged)
    }

    /// The report of the fit, with a warning if a problem did not converge.
    pub fn report(&self, stages: Vec<Stage>, settings: &DescentSettings) -> Report {
        Report::of_solver(&self.problems, stages, "epochs (raise max_iter or tol)", Some(settings.tol))
    }
}

/// Minimizes ½‖w_k‖² + Σ_i costs_i · max(0, 1 − y_ik · (w_kᵀφ_i + b_k)) for every problem k, plus ½b_k² if the
/// intercept is penalized.
///
/// `rows` are samples × features.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings, for other losses and for [`Intercept::Free`]; [`Error::Shape`] if rows and
/// problem are inconsistent; [`Error::Weight`], [`Error::Value`] for an invalid cost or feature; [`Error::NoSamples`],
/// [`Error::Threads`]; [`Error::Cancelled`] if the monitor cancelled (a time limit is a status instead).
pub fn solve(
    rows: DenseView<'_, f32>,
    problem: LinearProblem<'_>,
    settings: &DescentSettings,
    monitor: &Monitor<'_>,
) -> Result<LinearDualSolution> {
    problem.loss.check_among(&[Loss::Hinge])?;
    let why = "penalized or none: with a free intercept the dual of the hinge has an equality, Σ α y = 0, next to \
               its bounds, and a step along one coordinate would break it";
    require(problem.intercept != Intercept::Free, "intercept", problem.intercept, why)?;
    settings.check()?;
    let n_rows = rows.n_rows();
    if n_rows == 0 {
        return Err(Error::NoSamples(""));
    }
    problem.check(n_rows)?;
    if let Some(at) = rows.values().iter().position(|value| !value.is_finite()) {
        let (row, column) = (at / rows.n_cols(), at % rows.n_cols());
        let problem = "is not a finite number: remove or impute it";
        return Err(Error::Value { row, column, value: f64::from(rows.values()[at]), problem });
    }
    descend::<_, 1>(&rows, problem, None, settings, monitor)
}

/// Rows of features, for `L` problems.
pub(crate) trait Features<const L: usize>: Sync {
    fn n_features(&self) -> usize;
    /// ‖φ‖² of a row.
    fn square(&self, row: usize) -> f64;
    /// φ·w of a row for each problem.
    fn dot(&self, row: usize, weights: &[[f64; L]]) -> [f64; L];
    /// w += step · φ for each problem.
    fn add(&self, row: usize, steps: &[f64; L], weights: &mut [[f64; L]]);
    /// Prefetches a row.
    fn prefetch(&self, _row: usize) {}
    /// Prefetches the position of a row.
    fn prefetch_start(&self, _row: usize) {}
}

impl Features<1> for DenseView<'_, f32> {
    fn n_features(&self) -> usize {
        self.n_cols()
    }

    fn square(&self, row: usize) -> f64 {
        self.row(row).iter().map(|&x| f64::from(x) * f64::from(x)).sum()
    }

    #[inline(always)]
    fn dot(&self, row: usize, weights: &[[f64; 1]]) -> [f64; 1] {
        [dot(self.row(row), weights.as_flattened())]
    }

    #[inline(always)]
    fn add(&self, row: usize, [step]: &[f64; 1], weights: &mut [[f64; 1]]) {
        add(self.row(row), *step, weights.as_flattened_mut());
    }
}

/// The columns and values of a row.
#[inline(always)]
fn entries(matrix: &CsrMatrix<f32>, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
    let range = matrix.indptr[row]..matrix.indptr[row + 1];
    let (columns, values) = (&matrix.indices[range.clone()], &matrix.values[range]);
    columns.iter().zip(values).map(|(column, x)| (*column as usize, f64::from(*x)))
}

impl<const L: usize> Features<L> for CsrMatrix<f32> {
    fn n_features(&self) -> usize {
        self.n_cols
    }

    fn square(&self, row: usize) -> f64 {
        entries(self, row).map(|(_, x)| x * x).sum()
    }

    #[inline(always)]
    fn dot(&self, row: usize, weights: &[[f64; L]]) -> [f64; L] {
        let mut sums = [0.0; L];
        for (column, x) in entries(self, row) {
            let weights = &weights[column];
            for lane in 0..L {
                sums[lane] += x * weights[lane];
            }
        }
        sums
    }

    #[inline(always)]
    fn add(&self, row: usize, steps: &[f64; L], weights: &mut [[f64; L]]) {
        for (column, x) in entries(self, row) {
            let weights = &mut weights[column];
            for lane in 0..L {
                weights[lane] += x * steps[lane];
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        let range = self.indptr[row]..self.indptr[row + 1];
        prefetch(&self.indices[range.clone()]);
        prefetch(&self.values[range]);
    }

    #[inline(always)]
    fn prefetch_start(&self, row: usize) {
        prefetch(&self.indptr[row..row + 1]);
    }
}

/// Solves the problems on sparse features, from dual variables `[problem][row]` if there are any. A row of cost 0 is
/// ignored; the intercept is free only with the squared hinge.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Threads`].
pub(crate) fn solve_sparse(
    features: &CsrMatrix<f32>,
    problem: LinearProblem<'_>,
    start: Option<&[f32]>,
    settings: &DescentSettings,
    monitor: &Monitor<'_>,
) -> Result<LinearDualSolution> {
    if problem.targets.n_problems() == 1 {
        descend::<_, 1>(features, problem, start, settings, monitor)
    } else {
        descend::<_, LANES>(features, problem, start, settings, monitor)
    }
}

fn descend<M: Features<L>, const L: usize>(
    features: &M,
    problem: LinearProblem<'_>,
    start: Option<&[f32]>,
    settings: &DescentSettings,
    monitor: &Monitor<'_>,
) -> Result<LinearDualSolution> {
    let rows = LinearRows::new(features, &problem);
    let LinearProblem { targets, loss, costs, .. } = problem;
    let (n, d, k) = (costs.len(), rows.n_features, targets.n_problems());
    let terms = LossTerms { targets, loss, costs, is_symmetric: true };
    let start = start.filter(|start| start.len() == n * k);
    // The same for any number of threads: a row takes as long for one problem as for all lanes.
    let shards = split(k, L, 1);
    let pool = Pool::new(settings.threads)?;
    let solved = pool.try_map(shards.len(), |at| {
        let pass = Pass::<_, L> { isa: Isa::best(), rows: &rows, terms };
        let mut shard = Shard::new(rows.frame(k), settings, shards[at].clone(), n);
        if let Some(start) = start {
            rows.begin(&pass, &start[shards[at].start * n..], &mut shard);
        }
        let mut descent = Descent::in_memory(pass, shard, monitor);
        descent.run()?;
        Ok::<_, Error>(descent.shards.remove(0).states)
    })?;
    let solved: Vec<State<f64>> = solved.into_iter().flatten().collect();
    Ok(LinearDualSolution {
        weights: solved.iter().flat_map(|one| one.weights[..d].iter().map(|w| *w as f32)).collect(),
        intercepts: solved.iter().map(|one| one.weights[d]).collect(),
        alphas: solved.iter().flat_map(|one| one.alphas.iter().copied()).collect(),
        problems: solved.iter().map(State::report).collect(),
    })
}

/// Features as coordinate descent sees them. After their weights come the intercept b, which is read as 1 and written as
/// the constant, and Σ α y.
struct LinearRows<'a, M, const L: usize> {
    features: &'a M,
    n_features: usize,
    /// ‖φ‖² of each row, with that of the constant.
    squares: Vec<f64>,
    /// The square of the constant.
    constant: f64,
    is_free: bool,
}

impl<'a, M: Features<L>, const L: usize> LinearRows<'a, M, L> {
    fn new(features: &'a M, problem: &LinearProblem<'_>) -> Self {
        let LinearProblem { costs, intercept, .. } = *problem;
        let squares: Vec<f64> = (0..costs.len()).map(|row| features.square(row)).collect();
        let constant = match intercept {
            Intercept::None => 0.0,
            Intercept::Penalized => 1.0,
            Intercept::Free => {
                let present = || squares.iter().zip(costs).filter(|(_, cost)| **cost > 0.0);
                present().map(|(square, _)| square).sum::<f64>() / present().count().max(1) as f64
            }
        };
        let squares = squares.into_iter().map(|square| square + constant).collect();
        let (n_features, is_free) = (features.n_features(), intercept == Intercept::Free);
        LinearRows { features, n_features, squares, constant, is_free }
    }

    fn frame(&self, n_problems: usize) -> Frame {
        Frame { n_features: self.n_features + 2, n_nodes: 1, n_problems }
    }

    /// Sets the problems to these dual variables, `[problem][row]`, and to the weights that are theirs; rows without cost
    /// have none.
    fn begin(&self, pass: &Pass<'_, Self, L>, start: &[f32], shard: &mut Shard<f64, L>) {
        let (n, d) = (self.squares.len(), self.n_features);
        shard.pack_zeros();
        let pack = &mut shard.pack;
        pass.add_rows(0..n, pack, |row, class, alpha| {
            if pass.terms.costs[row] > 0.0 {
                *alpha = start[class * n + row].into();
            }
            *alpha
        });
        if self.is_free {
            pack.weights.lanes[d] = [0.0; L];
            self.center(pass, pack);
        }
        shard.unpack();
    }

    /// The scores of all rows at the weights, `[row][class]`; a free intercept moves to where their loss is least.
    fn center(&self, pass: &Pass<'_, Self, L>, pack: &mut Pack<f64, L>) -> Vec<f64> {
        let (n, n_classes, terms) = (self.squares.len(), pack.problems.len(), &pass.terms);
        let mut scores = Vec::with_capacity(n * n_classes);
        pass.each_score(0..n, pack, |_, of_row| scores.extend_from_slice(of_row));
        if !self.is_free {
            return scores;
        }
        let mut shifts = vec![0.0; n_classes];
        let brackets = vec![(f64::NEG_INFINITY, f64::INFINITY); n_classes];
        let found = find_zeros(&mut shifts, brackets, |open, places| {
            let mut slopes = vec![SlopeAt { slope: 0.0, curvature: 0.0, tolerance: 0.0 }; open.len()];
            for (row, scores) in scores.chunks_exact(n_classes).enumerate() {
                for ((&class, place), at) in open.iter().zip(places).zip(&mut slopes) {
                    let problem = pack.problems[class];
                    let (sign, cost) = (terms.targets.sign(row, problem), terms.cost(row, problem));
                    let slack = 1.0 - sign * (scores[class] + place);
                    if slack > 0.0 {
                        at.slope -= 2.0 * cost * slack * sign;
                        at.curvature += 2.0 * cost;
                        at.tolerance += DUAL_BALANCE_TOL * 2.0 * cost * slack;
                    }
                }
            }
            Ok(slopes)
        });
        if found.is_ok() {
            let intercepts = pack.weights.lanes[self.n_features].iter_mut();
            intercepts.zip(&shifts).for_each(|(intercept, shift)| *intercept += shift);
            for scores in scores.chunks_exact_mut(n_classes) {
                scores.iter_mut().zip(&shifts).for_each(|(score, shift)| *score += shift);
            }
        }
        scores
    }

    /// By what the dual variables of the negative and of the positive rows of each class are multiplied to satisfy the
    /// constraint, if there is one.
    fn scales(&self, terms: &LossTerms<'_>, pack: &Pack<f64, L>) -> Vec<[f64; 2]> {
        if !self.is_free {
            return vec![[1.0; 2]; pack.problems.len()];
        }
        let mut sides = vec![[0.0; 2]; pack.problems.len()];
        for (row, alphas) in pack.alphas.iter().enumerate() {
            for ((sides, &problem), alpha) in sides.iter_mut().zip(&pack.problems).zip(alphas) {
                sides[usize::from(terms.targets.sign(row, problem) > 0.0)] += alpha;
            }
        }
        sides.into_iter().map(balanced).collect()
    }

    /// ‖w‖² of a class, with the square of a penalized intercept.
    fn quadratic(&self, weights: &Weights<f64, L>, class: usize) -> f64 {
        let n = if self.is_free { self.n_features } else { self.n_features + 1 };
        weights.lanes[..n].iter().map(|weights| weights[class] * weights[class]).sum()
    }
}

impl<M: Features<L>, const L: usize> DualRows<L> for LinearRows<'_, M, L> {
    type Number = f64;

    fn n_rows(&self) -> usize {
        self.squares.len()
    }

    #[inline(always)]
    fn diagonal(&self, row: usize) -> f64 {
        self.squares[row]
    }

    #[inline(always)]
    fn dot<S: Simd>(&self, _simd: S, row: usize, weights: &Weights<f64, L>) -> [f64; L] {
        let (weights, rest) = weights.lanes.split_at(self.n_features);
        let mut scores = self.features.dot(row, weights);
        scores.iter_mut().zip(&rest[0]).for_each(|(score, intercept)| *score += intercept);
        scores
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _simd: S, row: usize, steps: &[f64; L], weights: &mut Weights<f64, L>) {
        let (weights, rest) = weights.lanes.split_at_mut(self.n_features);
        self.features.add(row, steps, weights);
        for lane in 0..L {
            rest[0][lane] += self.constant * steps[lane];
            rest[1][lane] += steps[lane];
        }
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        self.features.prefetch(row);
    }

    #[inline(always)]
    fn prefetch_start(&self, row: usize) {
        self.features.prefetch_start(row);
        prefetch(&self.squares[row..row + 1]);
    }

    fn end_epoch(&self, live: u16, weights: &mut Weights<f64, L>) {
        if self.is_free {
            let rest = &mut weights.lanes[self.n_features..];
            for lane in (0..L).filter(|lane| live >> lane & 1 == 1) {
                rest[0][lane] += self.constant * rest[1][lane];
            }
        }
    }

    /// The dual objective is of the dual variables, and the weights become exactly theirs unless there is a multiplier.
    fn certify(&self, pass: &Pass<'_, Self, L>, pack: &mut Pack<f64, L>) -> Vec<Certificate> {
        let (n, terms, problems) = (self.squares.len(), &pass.terms, pack.problems.clone());
        let scales = self.scales(terms, pack);
        let scaled = |row: usize, class: usize, alpha: f64| {
            alpha * scales[class][usize::from(terms.targets.sign(row, problems[class]) > 0.0)]
        };
        let zeros = Weights::zeros(&self.frame(terms.targets.n_problems()), problems.len());
        let before = std::mem::replace(&mut pack.weights, zeros);
        pass.add_rows(0..n, pack, |row, class, alpha| scaled(row, class, *alpha));
        let half_norms = |pack: &Pack<f64, L>| -> Vec<f64> {
            (0..problems.len()).map(|class| 0.5 * self.quadratic(&pack.weights, class)).collect()
        };
        let of_dual = half_norms(pack);
        if self.is_free {
            pack.weights = before;
        }
        // Not with the hinge: its support vectors are at a corner of the loss, and rounding moves all of them off it, at
        // a cost proportional to C, which hides the gap at a large C.
        if terms.loss == Loss::SquaredHinge {
            let rounded = pack.weights.lanes[..self.n_features].as_flattened_mut();
            rounded.iter_mut().for_each(|weight| *weight = f64::from(*weight as f32));
        }
        let scores = self.center(pass, pack);
        // The primal objective begins with half the norm.
        let of_primal = half_norms(pack).into_iter();
        let mut sums: Vec<Sums> = of_primal.map(|loss| Sums { loss, ..Sums::default() }).collect();
        for (row, scores) in scores.chunks_exact(problems.len()).enumerate() {
            for (class, (sums, score)) in sums.iter_mut().zip(scores).enumerate() {
                let (cost, margin) =
                    (terms.cost(row, problems[class]), terms.targets.sign(row, problems[class]) * score);
                sums.add(terms.loss, cost, scaled(row, class, pack.alphas[row][class]), margin);
            }
        }
        let certificate = |(Sums { loss, linear, n_support, .. }, norm): (Sums, f64)| Certificate {
            primal: loss,
            dual: (linear - norm).max(0.0),
            n_support,
        };
        sums.into_iter().zip(of_dual).map(certificate).collect()
    }
}

/// By what the dual variables of the negative and of the positive rows, with these sums, are multiplied so that Σ α y = 0:
/// those of the larger side are scaled down.
pub(in crate::solve) fn balanced(sides: [f64; 2]) -> [f64; 2] {
    let least = sides[0].min(sides[1]);
    sides.map(|side| if side > 0.0 { least / side } else { 0.0 })
}

/// Number of accumulators, to hide the latency of additions.
const ACCUMULATORS: usize = 8;

pub(in crate::solve) fn dot(row: &[f32], weights: &[f64]) -> f64 {
    let mut sums = [0.0f64; ACCUMULATORS];
    let (rows, rest) = row.as_chunks::<ACCUMULATORS>();
    let (heads, tail) = weights.as_chunks::<ACCUMULATORS>();
    for (x, w) in rows.iter().zip(heads) {
        for lane in 0..ACCUMULATORS {
            sums[lane] += f64::from(x[lane]) * w[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(tail).map(|(x, w)| f64::from(*x) * w).sum::<f64>()
}

pub(in crate::solve) fn add(row: &[f32], step: f64, weights: &mut [f64]) {
    weights.iter_mut().zip(row).for_each(|(w, x)| *w += step * f64::from(*x));
}
