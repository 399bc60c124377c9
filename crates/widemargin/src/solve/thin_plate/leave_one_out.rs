//! Leave-one-out from the factorization at the solution.
//!
//! For a fixed set s of samples inside the margin the fit is a regression: z is linear in the targets y√w of s, with
//! noise λ (λ/r where a problem weighs samples differently, in which case λI is diag(λ/r) below). Leaving a sample out,
//! or adding another one, is then a rank-one change of the regression's covariance R(j, k) = K_jk − [K_js U_j] A⁻¹
//! [K_sk; U_kᵀ], A = [[λI + K_ss, U_s], [U_sᵀ, 0]].
//!
//! If the polynomials are dropped or penalized, the functions are Σ α_j φ(·, x_j) with Pᵀα = 0 over the *training*
//! samples, so that a fit without sample i has one function fewer: α_i = 0. That is another rank-one change: on the
//! functions orthogonal to gᵢ, for which α_i = ⟨f, gᵢ⟩, the kernel is K − gᵢ gᵢᵀ / ‖gᵢ‖².
//!
//! There are two estimates. [`closed_form`] assumes that no other sample crosses the margin: cheap enough for every C
//! of a path. [`refitted`] follows the samples that cross it until none does, which gives the solution without the
//! sample, at the cost of about one more Newton step for all samples together.

use super::exact::{Exact, Factor, Removals};
use super::exact_newton::Solution;
use super::system::{Point, Target};
use crate::linalg::factor::{Matrix, Side, add_product, add_scaled, dot, product};
use crate::tuning::{MAX_REFACTOR_FLOPS, MIN_RANK_ONE_LAMBDA, MIN_REFACTORIZATIONS, MIN_RESIDUAL_LEVERAGE};

/// Share of its score's variance that a sample that leaves the margin must keep, to limit cancellation.
const MIN_REMAINING_VARIANCE: f64 = 1e-6;

/// Rounds of samples crossing the margin before a refit is abandoned.
const MAX_REFIT_ROUNDS: usize = 60;

/// Slack relative to the scores below which a sample may count as inside or outside.
const SLACK_ROUNDING: f64 = 1e-12;

/// Share of a sample's weight below which it is left out completely.
const MIN_REMAINING_WEIGHT: f64 = 1e-12;

/// A converged two-class problem.
#[derive(Clone, Copy)]
pub(crate) struct Converged<'a> {
    pub system: &'a Exact,
    pub lambda: f64,
    pub target: Target<'a>,
    /// The part of each sample's weight that is left out: one copy.
    pub units: &'a [f64],
    point: &'a Point,
    factor: &'a Factor,
}

impl<'a> Converged<'a> {
    /// Built from a solution; `None` unless it converged and its violators determine the unpenalized part.
    pub fn new(
        system: &'a Exact,
        lambda: f64,
        target: Target<'a>,
        units: &'a [f64],
        (solved, factor): &'a Solution,
    ) -> Option<Self> {
        let factor = factor.as_ref()?;
        let determined = factor.reduced.s.len() == system.unpenalized.n_cols();
        determined.then_some(Converged { system, lambda, target, units, point: &solved.point, factor })
    }

    /// The samples inside the margin, in the order of the factor.
    fn violators(&self) -> &'a [usize] {
        &self.factor.order
    }

    /// The index of each sample among the violators; [`usize::MAX`] for a sample that is none.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![usize::MAX; self.point.scores.len()];
        self.violators().iter().enumerate().for_each(|(k, &i)| places[i] = k);
        places
    }

    /// The fraction of a sample's weight that is left out.
    fn share(&self, i: usize) -> f64 {
        (self.units[i] / (self.target.roots[i] * self.target.roots[i])).min(1.0)
    }

    /// λ/r: the noise of a sample.
    fn noise(&self, i: usize) -> f64 {
        self.target.noise(self.lambda, i)
    }

    /// α_i and ‖gᵢ‖² of a sample with which a function is lost; none of a sample that is no part of the problem.
    fn removal(&self, i: usize) -> Option<(&'a Removals, f64)> {
        let removals = self.system.removals.as_ref()?;
        let leaves = removals.norms[i] > 0.0 && self.target.has(i) && 1.0 - self.share(i) <= MIN_REMAINING_WEIGHT;
        leaves.then(|| (removals, dot(removals.functions.col(i), &self.point.coefficients)))
    }

    /// The decision value for a slack √w − y z.
    fn value(&self, i: usize, slack: f64) -> f64 {
        self.target.signs[i] * (1.0 - slack / self.target.roots[i])
    }
}

/// The decision value of every sample when it is left out, assuming that no other sample then crosses the margin;
/// `None` if the others do not determine it.
pub(crate) fn closed_form(at: &Converged<'_>) -> Option<Vec<f64>> {
    let (Converged { system, target, .. }, violators) = (*at, at.violators());
    let Factor { cholesky, reduced, .. } = at.factor;
    let (n, place) = (at.point.scores.len(), at.places());

    // [A⁻¹]_ii: the upper left block of A⁻¹ is L⁻ᵀ(I − uuᵀ)L⁻¹ for L⁻¹U_s = u diag(s) vᵀ.
    let penalized = cholesky.inverse_diagonal();
    let mut columns = reduced.u.clone();
    cholesky.solve_lower_transposed(&mut columns);
    let mut inverse = penalized.clone();
    for k in 0..columns.n_cols() {
        inverse.iter_mut().zip(columns.col(k)).for_each(|(d, x)| *d -= x * x);
    }
    let determined = inverse.iter().zip(&penalized).all(|(d, p)| *d > MIN_RESIDUAL_LEVERAGE * p);
    if !determined {
        return None;
    }

    // Of the function that the space loses with each sample: the remaining norm, and the remaining value at the sample.
    let (mut remaining, mut own) = (Vec::new(), Vec::new());
    if let Some(removals) = &system.removals {
        let mut half = removals.functions.select_rows(violators);
        cholesky.solve_lower(&mut half);
        let free = at.factor.eliminate(&mut half);
        remaining = (0..n).map(|i| removals.norms[i] - dot(half.col(i), half.col(i))).collect();
        cholesky.solve_lower_transposed(&mut half);
        own = vec![0.0; n];
        for i in 0..n {
            own[i] = if place[i] == usize::MAX {
                let kernel = system.kernel.col(i);
                let smooth: f64 = violators.iter().zip(half.col(i)).map(|(&j, x)| kernel[j] * x).sum();
                let unpenalized: f64 = (0..free.n_rows()).map(|k| system.unpenalized.at(i, k) * free.at(k, i)).sum();
                removals.functions.at(i, i) - smooth - unpenalized
            } else {
                at.noise(i) * half.at(place[i], i)
            };
        }
    }

    let mut values = Vec::with_capacity(n);
    for i in 0..n {
        let sign = target.signs[i];
        let mut slack = target.slack(&at.point.scores, i);
        let inside = place[i] != usize::MAX;
        let lambda = at.noise(i);
        if inside {
            // √w − y z = λ y a at the solution, computed without cancellation.
            slack = lambda * sign * at.point.coefficients[i];
        }
        let removed = at.removal(i).map(|(removals, alpha)| (removals.norms[i], alpha));
        let mut open = if inside { lambda * lambda * inverse[place[i]] } else { 0.0 };
        if let Some((norm, alpha)) = removed {
            let determined = remaining[i] > MIN_RESIDUAL_LEVERAGE * norm;
            if !determined {
                return None;
            }
            slack += sign * own[i] * alpha / remaining[i];
            open += own[i] * own[i] / remaining[i];
        }
        if inside {
            let share = at.share(i);
            slack *= lambda / (lambda * (1.0 - share) + share * open);
        }
        values.push(at.value(i, slack));
    }
    Some(values)
}

/// The same if other samples may cross the margin: the solution without the sample. `None` if it is not determined, not
/// found, or too expensive: [`MAX_REFACTOR_FLOPS`] for a few violators,
/// [`MIN_REFACTORIZATIONS`] for many.
pub(crate) fn refitted(at: &Converged<'_>) -> Option<Vec<f64>> {
    let covariance = Covariance::new(at);
    // A solution from scratch is a Cholesky factorization: m³/3 flops for m violators.
    let m = at.violators().len() as u64;
    let afresh = (MAX_REFACTOR_FLOPS / (m * m * m / 3).max(1)).max(MIN_REFACTORIZATIONS);
    let mut shared = Shared::new(at, &covariance, afresh);
    (0..at.point.scores.len()).map(|i| SampleRefit::new(at, &covariance, &mut shared, i).solve()).collect()
}

/// A⁻¹ and derived quantities.
struct Covariance {
    /// The index of a sample among the violators.
    place: Vec<usize>,
    /// The upper left block of A⁻¹, m × m.
    inverse: Matrix,
    /// W = [K_·s U] A⁻¹ [I; 0], samples × m.
    influence: Matrix,
    /// [K_·s U] A⁻¹ [0; I], samples × q.
    free: Matrix,
    /// For the functions lost with the samples, if any.
    removed: Option<Removed>,
    /// Whether λ is large enough for accurate sums of rank-one changes.
    is_precise: bool,
}

/// R applied to the functions gᵢ that are lost with the samples.
struct Removed {
    /// The residuals of gᵢ at the samples, one column per sample.
    rests: Matrix,
    /// The remaining part of ‖gᵢ‖².
    remaining: Vec<f64>,
}

impl Covariance {
    /// 2 n m² flops for n samples, m of them violators; 2 n² m and 2 n m² more if functions are lost with the samples.
    fn new(at: &Converged<'_>) -> Self {
        let Factor { cholesky, reduced, .. } = at.factor;
        let (n, m, q) = (at.point.scores.len(), at.violators().len(), reduced.s.len());
        let mut half = cholesky.inverse_lower();
        let gamma = at.factor.eliminate(&mut half);
        let inverse = product(Side::Transposed(&half), Side::Plain(&half));
        // Γ = v s⁻¹ uᵀ L⁻¹ and Δ = v s⁻² vᵀ, the rest of A⁻¹ = [[·, Γᵀ], [Γ, −Δ]].
        let mut directions = reduced.v.clone();
        for k in 0..q {
            directions.col_mut(k).iter_mut().for_each(|x| *x /= reduced.s[k]);
        }
        let delta = product(Side::Plain(&directions), Side::Transposed(&directions));

        let kernel = at.system.kernel.select_cols(at.violators());
        let unpenalized = &at.system.unpenalized;
        let mut influence = product(Side::Plain(&kernel), Side::Plain(&inverse));
        add_product(&mut influence, 1.0, Side::Plain(unpenalized), Side::Plain(&gamma));
        for (k, &i) in at.violators().iter().enumerate() {
            // On the violators I − λ B, computed without cancellation.
            for col in 0..m {
                influence.set(i, col, f64::from(k == col) - at.noise(i) * inverse.at(k, col));
            }
        }
        let mut free = product(Side::Plain(&kernel), Side::Transposed(&gamma));
        add_product(&mut free, -1.0, Side::Plain(unpenalized), Side::Plain(&delta));
        let removed = at.system.removals.as_ref().map(|removals| {
            let at_violators = removals.functions.select_rows(at.violators());
            let mut rests = removals.functions.clone();
            add_product(&mut rests, -1.0, Side::Plain(&influence), Side::Plain(&at_violators));
            let along = product(Side::Plain(&inverse), Side::Plain(&at_violators));
            let remaining = (0..n).map(|i| removals.norms[i] - dot(at_violators.col(i), along.col(i))).collect();
            Removed { rests, remaining }
        });
        let mean = (0..n).map(|i| at.system.kernel.at(i, i)).sum::<f64>() / n as f64;
        Covariance {
            place: at.places(),
            inverse,
            influence,
            free,
            removed,
            is_precise: at.lambda > MIN_RANK_ONE_LAMBDA * mean,
        }
    }

    /// R(·, j) of a violator.
    fn of_violator(&self, at: &Converged<'_>, j: usize) -> Vec<f64> {
        self.influence.col(self.place[j]).iter().map(|w| at.noise(j) * w).collect()
    }

    /// R(·, j) of some non-violators, one column each: 2 n m flops per column.
    fn of_others(&self, at: &Converged<'_>, some: &[usize]) -> Matrix {
        let mut columns = at.system.kernel.select_cols(some);
        let at_violators = columns.select_rows(at.violators());
        add_product(&mut columns, -1.0, Side::Plain(&self.influence), Side::Plain(&at_violators));
        let unpenalized = at.system.unpenalized.select_rows(some);
        add_product(&mut columns, -1.0, Side::Plain(&self.free), Side::Transposed(&unpenalized));
        columns
    }
}

/// Shared by the refits.
struct Shared {
    /// Columns of R of samples outside the margin, which several problems need.
    columns: Vec<Option<Vec<f64>>>,
    /// Samples outside the margin, the nearest last: those likely to be needed.
    likely: Vec<usize>,
    /// How many more factorizations are allowed.
    afresh: u64,
}

/// Columns of R computed together: a matrix product is much faster than as many products with vectors.
const TOGETHER: usize = 64;

impl Shared {
    fn new(at: &Converged<'_>, covariance: &Covariance, afresh: u64) -> Self {
        let n = at.point.scores.len();
        let mut likely: Vec<usize> = (0..n).filter(|&j| covariance.place[j] == usize::MAX).collect();
        likely.sort_by(|&a, &b| at.target.slack(&at.point.scores, a).total_cmp(&at.target.slack(&at.point.scores, b)));
        Shared { columns: vec![None; n], likely, afresh }
    }

    /// R(·, j) of a sample outside the margin of the whole problem.
    fn column(&mut self, at: &Converged<'_>, covariance: &Covariance, j: usize) -> Vec<f64> {
        if self.columns[j].is_none() {
            let mut some = vec![j];
            while some.len() < TOGETHER
                && let Some(next) = self.likely.pop()
            {
                if next != j && self.columns[next].is_none() {
                    some.push(next);
                }
            }
            let made = covariance.of_others(at, &some);
            some.iter().enumerate().for_each(|(k, &sample)| self.columns[sample] = Some(made.col(k).to_vec()));
        }
        self.columns[j].clone().unwrap_or_default()
    }
}

/// The problem without one sample, starting from the solution with it.
struct SampleRefit<'a, 'c> {
    at: &'a Converged<'c>,
    covariance: &'a Covariance,
    shared: &'a mut Shared,
    sample: usize,
    z: Vec<f64>,
    inside: Vec<bool>,
    /// R is that of the solution with all samples, plus Σ factor · u uᵀ.
    changes: Vec<(Vec<f64>, f64)>,
    /// Whether everything is determined so far.
    sound: bool,
}

impl<'a, 'c> SampleRefit<'a, 'c> {
    fn new(at: &'a Converged<'c>, covariance: &'a Covariance, shared: &'a mut Shared, sample: usize) -> Self {
        let inside = covariance.place.iter().map(|place| *place != usize::MAX).collect();
        let (z, changes) = (at.point.scores.to_vec(), Vec::new());
        SampleRefit { at, covariance, shared, sample, z, inside, changes, sound: true }
    }

    /// The sample's decision value.
    fn solve(mut self) -> Option<f64> {
        let (i, share) = (self.sample, self.at.share(self.sample));
        if let Some((removals, alpha)) = self.at.removal(i) {
            self.forget(removals.norms[i], alpha);
        }
        let left = 1.0 - share;
        if self.inside[i] {
            self.weaken(share);
            self.inside[i] = left > MIN_REMAINING_WEIGHT;
        }
        // For most samples nothing crosses the margin: they are done at once.
        let mut afresh = false;
        for round in 0..2 * MAX_REFIT_ROUNDS {
            let crossing = self.crossing(left);
            if crossing.is_empty() && self.sound {
                return Some(self.at.value(i, self.at.target.slack(&self.z, i)));
            }
            if !afresh && self.sound && self.covariance.is_precise && round < MAX_REFIT_ROUNDS {
                // Samples that enter come first: they keep the others determined.
                let (leaving, coming): (Vec<usize>, Vec<usize>) = crossing.iter().partition(|&&j| self.inside[j]);
                coming.into_iter().chain(leaving).for_each(|j| self.cross(j, left));
                continue;
            }
            // Rank-one changes lost too much precision, or cycled. If λ is small, few samples are inside.
            if left > MIN_REMAINING_WEIGHT {
                return None;
            }
            if afresh {
                crossing.into_iter().for_each(|j| self.inside[j] = !self.inside[j]);
            }
            self.shared.afresh = self.shared.afresh.checked_sub(1)?;
            self.z = self.solve_afresh()?;
            (afresh, self.sound) = (true, true);
        }
        None
    }

    /// The samples that are on the wrong side of the margin for their count.
    fn crossing(&self, left: f64) -> Vec<usize> {
        let size = self.z.iter().fold(1.0_f64, |most, z| most.max(z.abs()));
        let crossed = |j: &usize| {
            let slack = self.at.target.slack(&self.z, *j);
            self.at.target.has(*j)
                && self.at.target.violates(slack) != self.inside[*j]
                && slack.abs() > SLACK_ROUNDING * size
                && (*j != self.sample || left > MIN_REMAINING_WEIGHT)
        };
        (0..self.z.len()).filter(crossed).collect()
    }

    /// z of the fit to the samples counted as inside the margin, by a new factorization.
    fn solve_afresh(&self) -> Option<Vec<f64>> {
        let Converged { system, lambda, target, .. } = *self.at;
        let inside: Vec<usize> = (0..self.z.len()).filter(|&j| self.inside[j]).collect();
        if inside.is_empty() {
            return None;
        }
        let (point, factor) = system.solve(lambda, &inside, target, &system.origin(), &mut None)?;
        let Factor { order, cholesky, reduced, .. } = factor.as_ref();
        if reduced.s.len() < system.unpenalized.n_cols() {
            return None;
        }
        let mut z = point.scores;
        if let Some((removals, _)) = self.at.removal(self.sample) {
            let g = removals.functions.col(self.sample);
            let at_violators = order.iter().map(|&k| g[k]).collect();
            let mut half = Matrix::from_columns(at_violators, order.len(), 1);
            cholesky.solve_lower(&mut half);
            let free = factor.eliminate(&mut half);
            let remaining = removals.norms[self.sample] - dot(half.col(0), half.col(0));
            cholesky.solve_lower_transposed(&mut half);
            let mut c = g.to_vec();
            for (&k, h) in order.iter().zip(half.col(0)) {
                add_scaled(&mut c, -h, system.kernel.col(k));
            }
            add_scaled(&mut c, -1.0, &system.unpenalized.times(free.col(0)));
            add_scaled(&mut z, -dot(g, &point.coefficients) / remaining, &c);
        }
        z.iter().all(|z| z.is_finite()).then_some(z)
    }

    /// The residual y√w − z of a sample.
    fn residual(&self, j: usize) -> f64 {
        self.at.target.signs[j] * self.at.target.roots[j] - self.z[j]
    }

    /// R(·, j).
    fn column(&mut self, j: usize) -> Vec<f64> {
        let (at, covariance) = (self.at, self.covariance);
        let mut column = match covariance.place[j] {
            usize::MAX => self.shared.column(at, covariance, j),
            _ => covariance.of_violator(at, j),
        };
        for (u, factor) in &self.changes {
            add_scaled(&mut column, factor * u[j], u);
        }
        column
    }

    /// λ − R(j, j), which would cancel if λ is small, for a violator of the whole problem.
    fn open(&self, j: usize) -> f64 {
        let (lambda, place) = (self.at.noise(j), self.covariance.place[j]);
        let own = lambda * lambda * self.covariance.inverse.at(place, place);
        own - self.changes.iter().map(|(u, factor)| factor * u[j] * u[j]).sum::<f64>()
    }

    /// R := R + factor · u uᵀ and z := z + step · u.
    fn change(&mut self, u: Vec<f64>, factor: f64, step: f64) {
        self.sound &= factor.is_finite() && step.is_finite();
        add_scaled(&mut self.z, step, &u);
        self.changes.push((u, factor));
    }

    /// Imposes α_i = 0.
    fn forget(&mut self, norm: f64, alpha: f64) {
        let Some(removed) = &self.covariance.removed else { return };
        let remaining = removed.remaining[self.sample];
        self.sound &= remaining > MIN_RESIDUAL_LEVERAGE * norm;
        self.change(removed.rests.col(self.sample).to_vec(), -1.0 / remaining, -alpha / remaining);
    }

    /// Removes a fraction of the sample's weight.
    fn weaken(&mut self, share: f64) {
        let (i, lambda) = (self.sample, self.at.noise(self.sample));
        let open = self.open(i);
        self.sound &= open > 0.0;
        let (u, rest) = (self.column(i), lambda * (1.0 - share) + share * open);
        let residual = self.residual(i);
        self.change(u, share / rest, -share * residual / rest);
    }

    /// Lets a sample cross the margin; `left` is the remaining weight of the excluded sample.
    fn cross(&mut self, j: usize, left: f64) {
        let lambda = self.at.noise(j);
        let noise = if j == self.sample { lambda / left } else { lambda };
        let u = self.column(j);
        // λ − R(j, j).
        let open = if self.covariance.place[j] == usize::MAX { lambda - u[j] } else { self.open(j) };
        let residual = self.residual(j);
        if self.inside[j] {
            let rest = noise - lambda + open;
            let place = self.covariance.place[j];
            let before = match place {
                usize::MAX => lambda,
                _ => lambda * lambda * self.covariance.inverse.at(place, place),
            };
            self.sound &= rest > MIN_REMAINING_VARIANCE * before;
            self.change(u, 1.0 / rest, -residual / rest);
        } else {
            let rest = noise + lambda - open;
            self.change(u, -1.0 / rest, residual / rest);
        }
        self.inside[j] = !self.inside[j];
    }
}
