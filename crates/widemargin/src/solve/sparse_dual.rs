//! Dual coordinate descent for the squared hinge on sparse rows, eight two-class problems at a time.
//!
//! Hsieh, Chang, Lin, Keerthi & Sundararajan, *A Dual Coordinate Descent Method for Large-scale Linear SVM*, ICML 2008:
//! ½‖w‖² + Σ c_i max(0, 1 − y_i (wᵀφ_i + b))² has the dual
//!
//! max over α ≥ 0 of Σ α_i − Σ α_i²/(4c_i) − ½‖w(α)‖², w(α) = Σ α_i y_i φ_i, with Σ α_i y_i = 0 if b is free,
//!
//! which is solved exactly for one coordinate at a time. For a free intercept the equality is maintained by the method
//! of multipliers: b is the multiplier, the constant is a feature of the rows' mean size during an epoch, and after it
//! the multiplier takes over the value of that feature. On rows with some dozens of values an epoch costs little more
//! than one Hessian product of Newton's method, and a solution from the start takes hundreds of them where words or
//! n-grams are many. At a large C, where descent takes many epochs, it ends unsolved, and Newton's method goes on from
//! there.
//!
//! Arithmetic per non-zero and eight problems: 16 flops to evaluate, 16 more where a dual variable moves, for 64 bytes
//! read and 64 written, a cache line of weights; 8 bytes of the row.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::dual::certificate::{StopRule, relative_gap};
use super::newton::line_search::{SlopeAt, find_zeros};
use crate::data::CsrMatrix;
use crate::error::{Error, Result};
use crate::isa::compiled;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::par::Pool;
use crate::problem::{Intercept, OneVsRest};

/// Problems that descend together.
const LANES: usize = 8;

/// A number for each of them: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Lane([f64; LANES]);

impl Lane {
    const ZERO: Lane = Lane([0.0; LANES]);
}

/// Epochs after which an unsolved problem is left to Newton's method.
pub(crate) const MAX_EPOCHS: u32 = 60;

/// Rows between two checks of the monitor.
const ROWS_PER_CHECK: usize = 1024;

/// Σ α y, relative to Σ α, up to which it counts as 0: the bound changes by less than rounding.
const BALANCED: f64 = 1e-12;

/// The arguments of the solver.
#[derive(Clone, Copy)]
pub(crate) struct SparseDual<'a> {
    pub rows: &'a CsrMatrix<f32>,
    pub targets: OneVsRest<'a>,
    /// C · weight of each row; a row with 0 is ignored.
    pub costs: &'a [f64],
    pub intercept: Intercept,
    /// The relative duality gap at which a problem is solved.
    pub tol: f64,
    /// Of the order of the rows.
    pub seed: u64,
}

/// The end of the descent. All vectors except `weights` and `alphas` have one element per problem.
pub(crate) struct SparseDualSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    pub intercepts: Vec<f64>,
    /// Dual variables, `[problem][row]`.
    pub alphas: Vec<f32>,
    pub epochs: Vec<u32>,
    /// Objectives at exactly these weights.
    pub primal: Vec<f64>,
    /// Lower bounds on the minimum.
    pub dual: Vec<f64>,
    /// Rows with a dual variable above 0.
    pub n_support: Vec<u32>,
    /// Whether all problems are solved.
    pub is_solved: bool,
}

impl SparseDualSolution {
    /// Relative duality gap of one problem.
    pub fn gap(&self, k: usize) -> f64 {
        relative_gap(self.primal[k], self.dual[k])
    }
}

/// The state of up to eight problems.
struct State {
    /// w of each feature.
    weights: Vec<Lane>,
    alphas: Vec<[f32; LANES]>,
    intercepts: Lane,
    /// Σ α y.
    balance: Lane,
    /// 1 for a problem that is not solved, else 0.
    live: Lane,
    /// Sums of an epoch, each row as of its visit: Σ c·loss, and the difference to the dual, a sum of nonnegative
    /// terms.
    loss: Lane,
    lack: Lane,
}

/// Rows as the epochs see them.
struct RowData<'a> {
    rows: &'a CsrMatrix<f32>,
    costs: &'a [f64],
    /// ‖φ_i‖² and the square of the constant.
    squares: &'a [f64],
    /// The square of the constant.
    constant: f64,
    /// Bit k: whether the row is positive in the k-th problem.
    signs: &'a [u8],
}

struct Shard {
    state: State,
    signs: Vec<u8>,
    epochs: [u32; LANES],
    primal: [f64; LANES],
    dual: [f64; LANES],
    is_solved: bool,
}

impl SparseDual<'_> {
    /// Descends from dual variables `[problem][row]`, or from 0, until all problems are solved, [`MAX_EPOCHS`] have
    /// passed or the time is up.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Threads`].
    pub fn solve(&self, start: Option<&[f32]>, pool: &Pool, monitor: &Monitor<'_>) -> Result<SparseDualSolution> {
        let (n, d, k) = (self.costs.len(), self.rows.n_cols, self.targets.n_problems());
        let squares: Vec<f64> = (0..n).map(|row| self.row(row).map(|(_, x)| x * x).sum()).collect();
        let present: Vec<u32> = (0..n as u32).filter(|&row| self.costs[row as usize] > 0.0).collect();
        let constant = match self.intercept {
            Intercept::None => 0.0,
            Intercept::Penalized => 1.0,
            Intercept::Free => {
                present.iter().map(|&row| squares[row as usize]).sum::<f64>() / present.len().max(1) as f64
            }
        };
        let squares: Vec<f64> = squares.iter().map(|square| square + constant).collect();
        let start = start.filter(|start| start.len() == n * k);
        let n_shards = k.div_ceil(LANES);
        let shards = pool.try_map(n_shards, |shard| {
            let problems = shard * k / n_shards..(shard + 1) * k / n_shards;
            self.descend(problems, (&squares, constant, &present), start, monitor)
        });
        let shards = shards.map_err(|()| Error::Cancelled { stage: "solve" })?;
        let mut solution = SparseDualSolution {
            weights: Vec::with_capacity(k * d),
            intercepts: Vec::new(),
            alphas: Vec::with_capacity(k * n),
            epochs: Vec::new(),
            primal: Vec::new(),
            dual: Vec::new(),
            n_support: Vec::new(),
            is_solved: shards.iter().all(|shard| shard.is_solved),
        };
        for (at, shard) in shards.into_iter().enumerate() {
            let State { weights, alphas, intercepts, .. } = shard.state;
            for lane in 0..(at + 1) * k / n_shards - at * k / n_shards {
                solution.weights.extend(weights.iter().map(|weights| weights.0[lane] as f32));
                solution.intercepts.push(intercepts.0[lane]);
                solution.alphas.extend(alphas.iter().map(|alphas| alphas[lane]));
                solution.epochs.push(shard.epochs[lane]);
                solution.primal.push(shard.primal[lane]);
                solution.dual.push(shard.dual[lane]);
                solution.n_support.push(alphas.iter().filter(|alphas| alphas[lane] > 0.0).count() as u32);
            }
        }
        Ok(solution)
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let CsrMatrix { indptr, indices, values, .. } = self.rows;
        let range = indptr[row]..indptr[row + 1];
        indices[range.clone()].iter().zip(&values[range]).map(|(column, x)| (*column as usize, f64::from(*x)))
    }

    fn descend(
        &self,
        problems: std::ops::Range<usize>,
        (squares, constant, present): (&[f64], f64, &[u32]),
        start: Option<&[f32]>,
        monitor: &Monitor<'_>,
    ) -> Result<Shard, ()> {
        let (n, n_live) = (self.costs.len(), problems.len());
        let sign = |row: usize, lane: usize| self.targets.sign(row, problems.start + lane);
        let bits = |row: usize| (0..n_live).fold(0, |bits, lane| bits | u8::from(sign(row, lane) > 0.0) << lane);
        let mut shard = Shard {
            state: State {
                weights: vec![Lane::ZERO; self.rows.n_cols],
                alphas: vec![[0.0; LANES]; n],
                intercepts: Lane::ZERO,
                balance: Lane::ZERO,
                live: Lane(std::array::from_fn(|lane| f64::from(u8::from(lane < n_live)))),
                loss: Lane::ZERO,
                lack: Lane::ZERO,
            },
            signs: (0..n).map(bits).collect(),
            epochs: [0; LANES],
            primal: [f64::INFINITY; LANES],
            dual: [0.0; LANES],
            is_solved: false,
        };
        if let Some(start) = start {
            self.begin(&mut shard, &start[problems.start * n..problems.end * n], constant);
        }
        // Every shard has the same orders of rows, so that a problem's steps do not depend on the other problems.
        let (mut order, mut rng) = (present.to_vec(), Xoshiro256PlusPlus::seed_from_u64(self.seed));
        let mut rules = [StopRule::new(self.tol); LANES];
        for epoch in 1..=MAX_EPOCHS {
            order.shuffle(&mut rng);
            let Shard { state, signs, epochs, .. } = &mut shard;
            (state.loss, state.lack) = (Lane::ZERO, Lane::ZERO);
            let data = RowData { rows: self.rows, costs: self.costs, squares, constant, signs };
            for some in order.chunks(ROWS_PER_CHECK) {
                match monitor.ask() {
                    Err(Stopped::Cancelled) => return Err(()),
                    Err(Stopped::TimeLimit) => {
                        self.certify(&mut shard, n_live, present);
                        return Ok(shard);
                    }
                    Ok(()) => visit(some, &data, state),
                }
            }
            let mut worst = 0.0f64;
            let mut is_near = false;
            for lane in (0..n_live).filter(|&lane| state.live.0[lane] > 0.0) {
                epochs[lane] = epoch;
                let quadratic: f64 = state.weights.iter().map(|weights| weights.0[lane] * weights.0[lane]).sum();
                let primal = 0.5 * quadratic + state.loss.0[lane];
                let estimate = if primal > 0.0 { state.lack.0[lane] / primal } else { 0.0 };
                worst = worst.max(estimate);
                is_near |= rules[lane].is_near(estimate);
                if self.intercept == Intercept::Free {
                    state.intercepts.0[lane] += constant * state.balance.0[lane];
                }
            }
            let (done, total) = (u64::from(epoch), u64::from(MAX_EPOCHS));
            monitor.tell(Progress { stage: "solve", done, total, gap: Some(worst) });
            if is_near || epoch == MAX_EPOCHS {
                self.certify(&mut shard, n_live, present);
                for (lane, rule) in rules.iter_mut().enumerate().take(n_live) {
                    if shard.state.live.0[lane] > 0.0 && rule.is_met(relative_gap(shard.primal[lane], shard.dual[lane]))
                    {
                        shard.state.live.0[lane] = 0.0;
                    }
                }
                if shard.state.live.0 == [0.0; LANES] {
                    shard.is_solved = true;
                    break;
                }
            }
        }
        Ok(shard)
    }

    /// Sets the dual variables, and the weights that are theirs; rows that are ignored have none.
    fn begin(&self, shard: &mut Shard, start: &[f32], constant: f64) {
        let n = self.costs.len();
        let Shard { state, signs, .. } = shard;
        for (lane, alphas) in start.chunks(n.max(1)).enumerate() {
            for row in (0..n).filter(|&row| alphas[row] > 0.0 && self.costs[row] > 0.0) {
                state.alphas[row][lane] = alphas[row];
                let signed = if signs[row] >> lane & 1 == 1 { f64::from(alphas[row]) } else { -f64::from(alphas[row]) };
                state.balance.0[lane] += signed;
                self.row(row).for_each(|(feature, x)| state.weights[feature].0[lane] += signed * x);
            }
            match self.intercept {
                Intercept::None => {}
                Intercept::Penalized => state.intercepts.0[lane] = constant * state.balance.0[lane],
                Intercept::Free => {
                    let scores = self.scores(&state.weights, lane);
                    state.intercepts.0[lane] = self.center(0.0, signs, lane, &scores);
                }
            }
        }
    }

    /// wᵀφ of every row.
    fn scores(&self, weights: &[Lane], lane: usize) -> Vec<f64> {
        (0..self.costs.len()).map(|row| self.row(row).map(|(j, x)| x * weights[j].0[lane]).sum()).collect()
    }

    /// The free intercept with the least loss for these scores.
    fn center(&self, from: f64, signs: &[u8], lane: usize, scores: &[f64]) -> f64 {
        let mut place = [from];
        let brackets = vec![(f64::NEG_INFINITY, f64::INFINITY)];
        let found = find_zeros(&mut place, brackets, |_, places| {
            let (mut slope, mut curvature, mut dual_norm) = (0.0, 0.0, 0.0);
            for ((score, cost), bits) in scores.iter().zip(self.costs).zip(signs) {
                let sign = if bits >> lane & 1 == 1 { 1.0 } else { -1.0 };
                let slack = 1.0 - sign * (score + places[0]);
                if slack > 0.0 {
                    slope -= 2.0 * cost * slack * sign;
                    curvature += 2.0 * cost;
                    dual_norm += 2.0 * cost * slack;
                }
            }
            Ok(vec![SlopeAt { slope, curvature, tolerance: BALANCED * dual_norm }])
        });
        if found.is_ok() { place[0] } else { from }
    }

    /// Both objectives of the live problems, from their definitions: the primal at weights in single precision, the
    /// dual at α, whose larger side is scaled down where an equality wants both to be equal.
    fn certify(&self, shard: &mut Shard, n_live: usize, present: &[u32]) {
        let Shard { state, signs, .. } = shard;
        for lane in (0..n_live).filter(|&lane| state.live.0[lane] > 0.0) {
            let is_positive = |row: usize| signs[row] >> lane & 1 == 1;
            let (mut linear, mut curved) = ([0.0; 2], [0.0; 2]);
            // w = u − v, of the positive and of the negative rows.
            let mut positive = vec![0.0; self.rows.n_cols];
            for row in present.iter().map(|&row| row as usize) {
                let alpha = f64::from(state.alphas[row][lane]);
                if alpha > 0.0 {
                    let side = usize::from(is_positive(row));
                    linear[side] += alpha;
                    curved[side] += alpha * alpha / (4.0 * self.costs[row]);
                    if side == 1 {
                        self.row(row).for_each(|(feature, x)| positive[feature] += alpha * x);
                    }
                }
            }
            let (mut squares, mut across) = ([0.0; 2], 0.0);
            let mut quadratic = 0.0;
            for (u, weights) in positive.iter().zip(&mut state.weights) {
                let v = u - weights.0[lane];
                squares[1] += u * u;
                squares[0] += v * v;
                across += u * v;
                weights.0[lane] = f64::from(weights.0[lane] as f32);
                quadratic += weights.0[lane] * weights.0[lane];
            }
            let scale = match self.intercept {
                Intercept::Free => {
                    let least = linear[0].min(linear[1]);
                    [0, 1].map(|side: usize| if linear[side] > 0.0 { least / linear[side] } else { 0.0 })
                }
                _ => [1.0, 1.0],
            };
            let both = |of: [f64; 2], power: i32| of[0] * scale[0].powi(power) + of[1] * scale[1].powi(power);
            let mut dual =
                both(linear, 1) - both(curved, 2) - 0.5 * (both(squares, 2) - 2.0 * scale[0] * scale[1] * across);
            let scores = self.scores(&state.weights, lane);
            match self.intercept {
                Intercept::None => {}
                Intercept::Penalized => {
                    dual -= 0.5 * (linear[1] - linear[0]).powi(2);
                    quadratic += state.intercepts.0[lane].powi(2);
                }
                Intercept::Free => {
                    state.intercepts.0[lane] = self.center(state.intercepts.0[lane], signs, lane, &scores);
                }
            }
            let loss = |row: usize| {
                let sign = if is_positive(row) { 1.0 } else { -1.0 };
                self.costs[row] * (1.0 - sign * (scores[row] + state.intercepts.0[lane])).max(0.0).powi(2)
            };
            shard.primal[lane] = 0.5 * quadratic + present.iter().map(|&row| loss(row as usize)).sum::<f64>();
            shard.dual[lane] = dual.max(0.0);
        }
    }
}

compiled! {
    /// One step of each live problem along the coordinate of each of some rows.
    fn visit(rows: &[u32], data: &RowData<'_>, state: &mut State) {
        let CsrMatrix { indptr, indices, values, .. } = data.rows;
        let State { weights, alphas, intercepts, balance, live, loss, lack } = state;
        for &row in rows {
            let row = row as usize;
            let range = indptr[row]..indptr[row + 1];
            let (features, values) = (&indices[range.clone()], &values[range]);
            let mut scores = intercepts.0;
            for (&feature, &x) in features.iter().zip(values) {
                let (weights, x) = (&weights[feature as usize].0, f64::from(x));
                for lane in 0..LANES {
                    scores[lane] += x * weights[lane];
                }
            }
            let (cost, bits, alphas) = (data.costs[row], data.signs[row], &mut alphas[row]);
            // The second derivative of α²/(4c), and one over that along the coordinate.
            let own = 0.5 / cost;
            let inverse = 1.0 / (data.squares[row] + own);
            let mut steps = [0.0f64; LANES];
            let mut moves = 0.0f64;
            for lane in 0..LANES {
                let sign = f64::from(bits >> lane & 1) * 2.0 - 1.0;
                let alpha = f64::from(alphas[lane]);
                let ahead = sign * scores[lane] - 1.0;
                let slack = (-ahead).max(0.0);
                let gradient = ahead + alpha * own;
                let moved = (alpha - gradient * inverse * live.0[lane]).max(0.0) as f32;
                loss.0[lane] += cost * slack * slack;
                lack.0[lane] += cost * slack * slack + alpha * (ahead + 0.5 * alpha * own);
                steps[lane] = sign * (f64::from(moved) - alpha);
                moves += steps[lane].abs();
                alphas[lane] = moved;
            }
            if moves == 0.0 {
                continue;
            }
            for (&feature, &x) in features.iter().zip(values) {
                let (weights, x) = (&mut weights[feature as usize].0, f64::from(x));
                for lane in 0..LANES {
                    weights[lane] += x * steps[lane];
                }
            }
            for ((balance, intercept), step) in balance.0.iter_mut().zip(&mut intercepts.0).zip(&steps) {
                *balance += step;
                *intercept += data.constant * step;
            }
        }
    }
}

#[cfg(test)]
#[path = "sparse_dual_tests.rs"]
mod tests;
