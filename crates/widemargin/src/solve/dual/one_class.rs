//! One two-class problem, scalar: the clear version, and the reference for the batched one.

use super::certificate::{Certificate, StopRule, Sums};
use super::order::Order;
use super::problem::{DualProblem, DualSettings, ROWS_PER_CHECK};
use super::solved::Solved;
use super::tables::{Tables, cast};
use crate::expansion::{Entries, Entry};
use crate::monitor::{Monitor, Progress, Stopped};
use crate::solve::Status;
use num_traits::Float;

/// Solves problem `k`. `Err` is a cancellation; a time limit ends with the current state.
pub(super) fn solve<T: Float>(
    problem: &DualProblem<'_>,
    tables: &Tables<T>,
    diagonal: &[T],
    k: usize,
    settings: &DualSettings,
    monitor: &Monitor<'_>,
) -> Result<Solved, ()> {
    match problem.rows.entries() {
        Entries::Narrow(entries) => Solver { problem, tables, diagonal, entries, k }.run(settings, monitor),
        Entries::Wide(entries) => Solver { problem, tables, diagonal, entries, k }.run(settings, monitor),
    }
}

struct Solver<'a, T, E> {
    problem: &'a DualProblem<'a>,
    tables: &'a Tables<T>,
    diagonal: &'a [T],
    entries: &'a [E],
    k: usize,
}

/// The state of the descent.
struct State<T> {
    weights: Vec<T>,
    alphas: Vec<T>,
    /// Rows skipped until the next exact pass.
    shrunk: Vec<bool>,
    /// Largest projected gradient of the last epoch: rows at 0 beyond it are skipped.
    threshold: T,
}

impl<T: Float, E: Entry> Solver<'_, T, E> {
    fn run(&self, settings: &DualSettings, monitor: &Monitor<'_>) -> Result<Solved, ()> {
        let n = self.problem.rows.n_rows();
        let mut state = State {
            weights: vec![T::zero(); self.problem.rows.n_features() * self.problem.map.n_nodes()],
            alphas: vec![T::zero(); n],
            shrunk: vec![false; n],
            threshold: T::infinity(),
        };
        let mut order = Order::new(n, settings.seed);
        let (mut epochs, mut rule) = (0, StopRule::new(settings.tol));
        let (status, certificate) = loop {
            if epochs == settings.max_epochs {
                break (Status::IterationLimit, self.certify(&state));
            }
            epochs += 1;
            let estimate = match self.epoch(&mut state, order.of(epochs), monitor) {
                Ok(estimate) => estimate,
                Err(Stopped::Cancelled) => return Err(()),
                Err(Stopped::TimeLimit) => break (Status::TimeLimit, self.certify(&state)),
            };
            let gap = Some(estimate);
            let total = u64::from(settings.max_epochs);
            monitor.tell(Progress { stage: "solve", done: u64::from(epochs), total, gap });
            if rule.is_near(estimate) {
                let certificate = self.certify(&state);
                if rule.is_met(certificate.gap()) {
                    break (Status::Converged, certificate);
                }
                state.shrunk.fill(false);
                state.threshold = T::infinity();
            }
        };
        let narrow = |values: Vec<T>| values.into_iter().map(|v| v.to_f32().unwrap_or(f32::NAN)).collect();
        let (weights, alphas) = (narrow(state.weights), narrow(state.alphas));
        Ok(Solved { weights, alphas, n_support: 0, epochs, status, certificate, held_out: Vec::new() })
    }

    /// One pass over the rows that are not skipped; returns an estimate of the relative gap.
    fn epoch(&self, state: &mut State<T>, order: &[u32], monitor: &Monitor<'_>) -> Result<f64, Stopped> {
        let loss = self.problem.loss;
        let mut sums = Sums::default();
        let mut largest = T::neg_infinity();
        for (at, &row) in order.iter().enumerate() {
            if at % ROWS_PER_CHECK == 0 {
                monitor.ask()?;
            }
            let row = row as usize;
            if state.shrunk[row] {
                continue;
            }
            let cost = self.problem.cost(row, self.k);
            if cost == 0.0 {
                continue;
            }
            let (upper, ridge) = (cast::<T>(self.problem.upper_bound(cost)), cast::<T>(loss.diagonal(cost)));
            let sign = cast::<T>(self.problem.targets.sign(row, self.k));
            let alpha = state.alphas[row];
            let margin = sign * self.score(&state.weights, row);
            let gradient = margin - T::one() + alpha * ridge;
            let at_zero = alpha == T::zero();
            if at_zero && gradient > state.threshold {
                state.shrunk[row] = true;
                continue;
            }
            let projected = if at_zero { gradient.min(T::zero()) } else { gradient };
            largest = largest.max(projected);
            let curvature = self.diagonal[row] + ridge;
            let moved = if curvature > T::zero() {
                (alpha - gradient / curvature).max(T::zero()).min(upper)
            } else {
                // An empty row with the hinge loss: its margin is always 0, so its α goes to the bound.
                upper
            };
            if moved != alpha {
                state.alphas[row] = moved;
                self.update(&mut state.weights, row, (moved - alpha) * sign);
            }
            let as_f64 = |value: T| value.to_f64().unwrap_or(f64::NAN);
            sums.add(loss, cost, as_f64(alpha), as_f64(margin));
        }
        state.threshold = largest.max(T::zero());
        if state.threshold == T::zero() {
            state.threshold = T::infinity();
        }
        Ok(sums.estimate())
    }

    /// The objectives at fixed weights, over all rows.
    fn certify(&self, state: &State<T>) -> Certificate {
        let mut sums = Sums::default();
        for row in 0..self.problem.rows.n_rows() {
            let score = self.score(&state.weights, row).to_f64().unwrap_or(f64::NAN);
            let alpha = state.alphas[row].to_f64().unwrap_or(f64::NAN);
            let margin = self.problem.targets.sign(row, self.k) * score;
            sums.add(self.problem.loss, self.problem.cost(row, self.k), alpha, margin);
        }
        Certificate::new(&sums, self.quadratic(&state.weights, &sums))
    }

    /// ‖f‖²: from the weights if they are coordinates of f, otherwise from the margins.
    fn quadratic(&self, weights: &[T], sums: &Sums) -> f64 {
        if self.problem.map.is_symmetric() {
            weights.iter().map(|w| w.to_f64().unwrap_or(f64::NAN).powi(2)).sum()
        } else {
            sums.alpha_margin
        }
    }

    fn row(&self, row: usize) -> &[E] {
        let indptr = self.problem.rows.indptr();
        &self.entries[indptr[row]..indptr[row + 1]]
    }

    fn score(&self, weights: &[T], row: usize) -> T {
        match self.problem.map.n_nodes() {
            3 => self.score_with::<3>(weights, row),
            m => self.score_of(m, weights, row),
        }
    }

    /// Three nodes are the default: a constant lets the compiler unroll the loop.
    fn score_with<const M: usize>(&self, weights: &[T], row: usize) -> T {
        self.score_of(M, weights, row)
    }

    #[inline(always)]
    fn score_of(&self, m: usize, weights: &[T], row: usize) -> T {
        let (stride, table) = (self.tables.stride, self.tables.read());
        let mut sum = T::zero();
        for entry in self.row(row) {
            let weights = &weights[entry.feature() * m..][..m];
            let read = &table[entry.code() * stride..][..m];
            for (weight, read) in weights.iter().zip(read) {
                sum = sum + *weight * *read;
            }
        }
        sum
    }

    fn update(&self, weights: &mut [T], row: usize, step: T) {
        match self.problem.map.n_nodes() {
            3 => self.update_with::<3>(weights, row, step),
            m => self.update_of(m, weights, row, step),
        }
    }

    fn update_with<const M: usize>(&self, weights: &mut [T], row: usize, step: T) {
        self.update_of(M, weights, row, step);
    }

    #[inline(always)]
    fn update_of(&self, m: usize, weights: &mut [T], row: usize, step: T) {
        let (stride, table) = (self.tables.stride, self.tables.write());
        for entry in self.row(row) {
            let weights = &mut weights[entry.feature() * m..][..m];
            let write = &table[entry.code() * stride..][..m];
            for (weight, write) in weights.iter_mut().zip(write) {
                *weight = *weight + step * *write;
            }
        }
    }
}
