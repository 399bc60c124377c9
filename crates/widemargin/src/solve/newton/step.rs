//! The half of the main loop that moves: intercepts, preconditioner, directions, line searches.

use super::Preconditioning;
use super::conjugate::{self, Targets, dot};
use super::descent::Descent;
use super::few_rows::RowsFactor;
use super::line_search::{SlopeAt, find_zeros};
use super::preconditioner::Preconditioner;
use crate::error::Result;
use crate::problem::{Intercept, Line, LineSums, Objective};
use crate::tuning::{
    CG_SHARE_OF_GAP, CG_STEPS_PER_TENTH, FIRST_CG_RESIDUAL, FIRST_HESSIAN_TO_PENALTY, LINE_SEARCH_SLOPE_TOL,
    MAX_CG_PRODUCTS, MAX_GRAM_SIZE, MIN_CG_RESIDUAL, PASSES_WITHOUT_GRAM, PENALTY_PATH_FACTOR,
    PENALTY_PATH_ROWS_PER_FEATURE, WOODBURY_ROWS_PER_FEATURE,
};

/// Σ α y relative to Σ α that counts as 0 in a step, less than in a certificate (decision 0028).
const STEP_BALANCE_TOL: f64 = 1e-11;

impl<O: Objective> Descent<'_, O> {
    /// Sets unpenalized intercepts such that Σ α y = 0, the minimum for the current weights.
    pub(super) fn center(&mut self) -> Result<()> {
        if self.shape.intercept != Intercept::Free {
            return Ok(());
        }
        let mut places = self.intercepts();
        let brackets = vec![(f64::NEG_INFINITY, f64::INFINITY); places.len()];
        let (objective, live) = (&mut *self.objective, &self.live);
        find_zeros(&mut places, brackets, |open, places| {
            let ids: Vec<usize> = open.iter().map(|&at| live[at]).collect();
            let lines: Vec<Line> =
                places.iter().map(|&intercept| Line { intercept, step: 0.0, along: 0.0, turn: 1.0 }).collect();
            let sums = objective.line_search_eval(&ids, &lines)?;
            let slopes = sums.iter().map(|sums| SlopeAt {
                slope: sums.slope,
                curvature: sums.curvature,
                tolerance: STEP_BALANCE_TOL * sums.dual_norm,
            });
            Ok(slopes.collect())
        })?;
        for (&k, place) in self.live.iter().zip(places) {
            self.points[(k + 1) * self.size - 1] = place;
        }
        Ok(())
    }

    /// Computes the preconditioner, or a better one once products have cost as much. False if the time is up.
    pub(super) fn prepare(&mut self) -> Result<bool> {
        let d = self.shape.n_features;
        let cost = self.objective.cost();
        let factoring = cost.gram + (d as f64).powi(3) / 6.0;
        let pass = cost.pass + self.live.len() as f64 * cost.problem;
        let wanted = match self.settings.preconditioner {
            Preconditioning::Auto => {
                let cheap = self.preconditioner.is_none() && factoring <= PASSES_WITHOUT_GRAM * pass;
                d <= MAX_GRAM_SIZE && (cheap || self.spent > factoring)
            }
            Preconditioning::Gram => d <= MAX_GRAM_SIZE && (self.preconditioner.is_none() || self.spent > factoring),
            Preconditioning::Diagonal => false,
        };
        let intercepts = self.intercepts();
        if wanted {
            let Some(gram) = self.objective.gram(&self.live, &intercepts, self.monitor)? else { return Ok(false) };
            let diagonal = gram.lower.iter().step_by(d + 1).map(|&h| f64::from(h));
            self.begin_path(diagonal.sum());
            if let Some(made) = Preconditioner::from_gram(&self.shape, &gram, self.ridge, &self.pool) {
                self.preconditioner = Some(made);
                self.n_factors += 1;
            }
            self.spent = 0.0;
        }
        if matches!(self.preconditioner, None | Some(Preconditioner::Diagonal(_))) {
            let diagonal = self.objective.diagonal(&self.live, &intercepts)?;
            self.begin_path(diagonal[..d].iter().sum());
            self.preconditioner = Some(Preconditioner::from_diagonal(&self.shape, diagonal, self.ridge));
        }
        Ok(true)
    }

    /// Newton directions of the live problems.
    pub(super) fn directions(&mut self, gradients: &[f64]) -> Result<Vec<f64>> {
        let Some(preconditioner) = self.preconditioner.take() else { return Ok(Vec::new()) };
        let mut directions = vec![0.0; gradients.len()];
        let mut shared = Vec::new();
        for at in 0..self.live.len() {
            match self.own_preconditioner(at)? {
                Some(own) => {
                    self.solve_group(&[at], &own, gradients, &mut directions)?;
                }
                None => shared.push(at),
            }
        }
        if !shared.is_empty() {
            let products = self.solve_group(&shared, &preconditioner, gradients, &mut directions)?;
            for (&at, products) in shared.iter().zip(products) {
                self.problems[self.live[at]].products_of_shared = products;
            }
        }
        // If conjugate gradients did not find a descent direction, the preconditioned gradient is used.
        let down = |at: usize| {
            let range = at * self.size..(at + 1) * self.size;
            dot(&gradients[range.clone()], &directions[range]) < 0.0
        };
        let bad: Vec<usize> = (0..self.live.len()).filter(|&at| !down(at)).collect();
        for at in bad {
            let range = at * self.size..(at + 1) * self.size;
            let steepest = preconditioner.apply(&gradients[range.clone()]);
            directions[range].iter_mut().zip(steepest).for_each(|(d, g)| *d = -g);
        }
        self.preconditioner = Some(preconditioner);
        Ok(directions)
    }

    /// Sets the factor of the penalty in the first steps, from the trace of the losses' Hessian at 0.
    fn begin_path(&mut self, trace: f64) {
        let d = self.shape.n_features.max(1);
        let is_wanted = self.shape.n_rows <= d.saturating_mul(PENALTY_PATH_ROWS_PER_FEATURE) && trace.is_finite();
        if std::mem::take(&mut self.is_cold) && is_wanted {
            self.ridge = (trace / (d as f64 * FIRST_HESSIAN_TO_PENALTY)).max(1.0);
        }
    }

    /// The factored Hessian of one problem alone, if it costs less than the products with the shared preconditioner in
    /// its last step: at large C, where each problem has few active rows of its own.
    fn own_preconditioner(&mut self, at: usize) -> Result<Option<Preconditioner>> {
        let k = self.live[at];
        let d = self.shape.n_features;
        if d > MAX_GRAM_SIZE || self.settings.preconditioner == Preconditioning::Diagonal {
            return Ok(None);
        }
        let cost = self.objective.cost();
        let active = |k: usize| self.problems[k].n_support as f64 / self.shape.n_rows.max(1) as f64;
        // A shared pass visits, for every problem, the rows that are active in any.
        let visited = self.live.iter().map(|&k| active(k)).sum::<f64>().min(1.0);
        let product = visited * (cost.problem + cost.pass / self.live.len() as f64);
        let of_gram = active(k) * cost.gram + (d as f64).powi(3) / 6.0;
        let n_active = self.problems[k].n_support as f64;
        let of_rows = RowsFactor::cost(n_active, d as f64);
        let products = f64::from(self.problems[k].products_of_shared) * product;
        let intercept = self.points[(k + 1) * self.size - 1];
        let most = (WOODBURY_ROWS_PER_FEATURE * d as f64) as usize;
        if products > of_rows
            && of_rows < of_gram
            && let Some(active) = self.objective.active_rows(k, intercept, most)?
            && let Some(made) = RowsFactor::new(&self.shape, active, self.ridge, &self.pool, self.monitor)
        {
            self.n_factors += 1;
            return Ok(Some(Preconditioner::Rows(made)));
        }
        if products <= of_gram {
            return Ok(None);
        }
        let Some(gram) = self.objective.gram(&[k], &[intercept], self.monitor)? else { return Ok(None) };
        let made = Preconditioner::from_gram(&self.shape, &gram, self.ridge, &self.pool);
        self.n_factors += u32::from(made.is_some());
        Ok(made)
    }

    /// Conjugate gradients for some of the live problems, into their directions; returns the number of products for
    /// each.
    fn solve_group(
        &mut self,
        group: &[usize],
        preconditioner: &Preconditioner,
        gradients: &[f64],
        directions: &mut [f64],
    ) -> Result<Vec<u32>> {
        let size = self.size;
        let live: Vec<usize> = group.iter().map(|&at| self.live[at]).collect();
        let allowed = |&k: &usize| CG_SHARE_OF_GAP * self.settings.tol * self.problems[k].dual.max(f64::MIN_POSITIVE);
        let half_squares: Vec<f64> = live.iter().map(allowed).collect();
        let steps = live.iter().map(|&k| self.problems[k].iterations).max().unwrap_or(0);
        let left = (FIRST_CG_RESIDUAL * 0.1f64.powf(f64::from(steps) / CG_STEPS_PER_TENTH)).max(MIN_CG_RESIDUAL);
        let targets = Targets { left, half_squares: &half_squares, most: MAX_CG_PRODUCTS };
        let all = self.intercepts();
        let intercepts: Vec<f64> = group.iter().map(|&at| all[at]).collect();
        let cost = self.objective.cost();
        let right: Vec<f64> = group.iter().flat_map(|&at| &gradients[at * size..(at + 1) * size]).copied().collect();
        let found = conjugate::solve(&right, size, preconditioner, &targets, |open, paths| {
            // At least one product is computed, since otherwise there would be no direction.
            let ids: Vec<usize> = open.iter().map(|&at| live[at]).collect();
            let b: Vec<f64> = open.iter().map(|&at| intercepts[at]).collect();
            let mut products = self.objective.hessian_product(&ids, &b, paths)?;
            self.add_penalty(&mut products, paths);
            self.passes += 1;
            self.spent += cost.pass + ids.len() as f64 * cost.problem;
            Ok(if self.monitor.is_time_up("solve")? { None } else { Some(products) })
        })?;
        for ((&at, direction), products) in group.iter().zip(found.points.chunks(size)).zip(&found.products) {
            directions[at * size..(at + 1) * size].copy_from_slice(direction);
            self.problems[self.live[at]].products += products;
        }
        Ok(found.products)
    }

    /// Moves along the directions to the minimum on each line.
    pub(super) fn step(&mut self, gradients: &[f64], directions: Vec<f64>) -> Result<()> {
        let (size, live) = (self.size, &self.live);
        self.objective.set_direction(live, &directions)?;
        let counted = if self.shape.intercept == Intercept::Penalized { size } else { size - 1 };
        let of = |at: usize| &directions[at * size..(at + 1) * size];
        // The penalty along the line is ½‖w‖² + t·wᵀd + ½t²·dᵀd.
        let penalty = |at: usize, k: usize| {
            let direction = &of(at)[..counted];
            (dot(direction, &self.point(k)[..counted]), dot(direction, direction))
        };
        let penalties: Vec<(f64, f64)> = live.iter().enumerate().map(|(at, &k)| penalty(at, k)).collect();
        let slopes: Vec<f64> = (0..live.len()).map(|at| dot(&gradients[at * size..(at + 1) * size], of(at))).collect();
        let intercepts = self.intercepts();
        let mut steps = vec![1.0; live.len()];
        let (objective, ridge) = (&mut *self.objective, self.ridge);
        find_zeros(&mut steps, vec![(0.0, f64::INFINITY); live.len()], |open, places| {
            let ids: Vec<usize> = open.iter().map(|&at| live[at]).collect();
            let line = |(&at, &step): (&usize, &f64)| Line {
                intercept: intercepts[at],
                step,
                along: 1.0,
                turn: of(at)[size - 1],
            };
            let lines: Vec<Line> = open.iter().zip(places).map(line).collect();
            let sums = objective.line_search_eval(&ids, &lines)?;
            let slope = |((&at, &step), sums): ((&usize, &f64), &LineSums)| {
                let (first, second) = penalties[at];
                SlopeAt {
                    slope: sums.slope + ridge * (first + step * second),
                    curvature: sums.curvature + ridge * second,
                    tolerance: LINE_SEARCH_SLOPE_TOL * slopes[at].abs(),
                }
            };
            Ok(open.iter().zip(places).zip(&sums).map(slope).collect())
        })?;
        self.objective.take_step(live, &steps)?;
        for ((&k, step), direction) in live.iter().zip(&steps).zip(directions.chunks(size)) {
            let point = &mut self.points[k * size..(k + 1) * size];
            point.iter_mut().zip(direction).for_each(|(w, d)| *w += step * d);
        }
        self.ridge = (self.ridge / PENALTY_PATH_FACTOR).max(1.0);
        Ok(())
    }
}
