//! Made linear problems, and a plain dense Newton method in double precision as the truth.

use crate::thin_plate_common::eliminate;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::DenseView;
use widemargin::monitor::Monitor;
use widemargin::problem::{Block, BlockObjective, Intercept, LinearProblem, Loss, Objective, OneVsRest};
use widemargin::solve::newton::{NewtonSettings, NewtonSolution, solve};

/// Rows of Φ, classes, and how they are to be learned.
#[derive(Clone, Debug)]
pub struct Case {
    pub phi: Vec<f32>,
    pub n_features: usize,
    pub codes: Vec<u32>,
    pub n_classes: usize,
    pub costs: Vec<f64>,
    pub loss: Loss,
    pub intercept: Intercept,
}

impl Case {
    /// `n` rows off center, of classes of unlike size that overlap.
    pub fn new(n: usize, d: usize, n_classes: usize, c: f64, seed: u64) -> Case {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut normal = move || (0..6).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let means: Vec<f64> = (0..n_classes * d).map(|_| 0.7 * normal()).collect();
        let codes: Vec<u32> = (0..n).map(|i| if i % 3 == 0 { 0 } else { (i % n_classes) as u32 }).collect();
        let phi = codes.iter().flat_map(|&class| {
            let mean = &means[class as usize * d..][..d];
            mean.iter().map(|m| (0.5 + m + normal()) as f32).collect::<Vec<_>>()
        });
        let (phi, costs) = (phi.collect(), vec![c; n]);
        Case { phi, n_features: d, codes, n_classes, costs, loss: Loss::SquaredHinge, intercept: Intercept::Free }
    }

    pub fn n_rows(&self) -> usize {
        self.codes.len()
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.phi[row * self.n_features..(row + 1) * self.n_features]
    }

    pub fn targets(&self) -> OneVsRest<'_> {
        OneVsRest::new(&self.codes, self.n_classes)
    }

    /// The rows as one dense block.
    pub fn block(&self) -> Block<'_> {
        DenseView::new(&self.phi, self.n_rows(), self.n_features).unwrap().into()
    }

    pub fn objective(&self, threads: usize) -> Objective<'_, BlockObjective<'_>> {
        let problem =
            LinearProblem { targets: self.targets(), costs: &self.costs, loss: self.loss, intercept: self.intercept };
        Objective::in_memory(BlockObjective::new(self.block(), problem, threads).unwrap())
    }

    pub fn solve(&self, tol: f64) -> NewtonSolution {
        self.solve_with(&NewtonSettings { tol, ..NewtonSettings::default() })
    }

    pub fn solve_with(&self, settings: &NewtonSettings) -> NewtonSolution {
        solve(&mut self.objective(1), settings, None, &Monitor::none()).unwrap()
    }

    /// The objective of problem `k` at a point (weights, then intercept), from its definition.
    pub fn value(&self, k: usize, point: &[f64]) -> f64 {
        let d = self.n_features;
        let counted = if self.intercept == Intercept::Penalized { d + 1 } else { d };
        let penalty: f64 = point[..counted].iter().map(|w| w * w).sum();
        let losses = (0..self.n_rows()).map(|i| self.costs[i] * self.loss.at(1.0, self.margin(i, k, point)).value);
        0.5 * penalty + losses.sum::<f64>()
    }

    pub fn margin(&self, row: usize, k: usize, point: &[f64]) -> f64 {
        let score: f64 = self.row(row).iter().zip(point).map(|(x, w)| f64::from(*x) * w).sum();
        self.targets().sign(row, k) * (score + point[self.n_features])
    }

    /// Gradient and Hessian of problem `k`, from their definitions.
    pub fn derivatives(&self, k: usize, point: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let m = self.n_features + 1;
        let penalty = |j: usize| f64::from(j < m - 1 || self.intercept == Intercept::Penalized);
        let mut gradient: Vec<f64> = (0..m).map(|j| penalty(j) * point[j]).collect();
        let mut hessian = vec![0.0; m * m];
        (0..m).for_each(|j| hessian[j * m + j] = penalty(j));
        for i in 0..self.n_rows() {
            let at = self.loss.at(1.0, self.margin(i, k, point));
            let mut x: Vec<f64> = self.row(i).iter().map(|x| f64::from(*x)).collect();
            x.push(if self.intercept == Intercept::None { 0.0 } else { 1.0 });
            for a in 0..m {
                gradient[a] -= self.costs[i] * at.dual * self.targets().sign(i, k) * x[a];
                for b in 0..m {
                    hessian[a * m + b] += self.costs[i] * at.curvature * x[a] * x[b];
                }
            }
        }
        if self.intercept == Intercept::None {
            hessian[m * m - 1] = 1.0;
        }
        (gradient, hessian)
    }

    /// The minimum of problem `k` by a dense Newton method with halved steps.
    pub fn minimum(&self, k: usize) -> (f64, Vec<f64>) {
        let mut point = vec![0.0; self.n_features + 1];
        let mut value = self.value(k, &point);
        for _ in 0..200 {
            let (gradient, mut hessian) = self.derivatives(k, &point);
            let m = point.len();
            // No more than rounding, where no row has any curvature.
            (0..m).for_each(|j| hessian[j * m + j] += 1e-12);
            let direction = eliminate(hessian.chunks(m).map(<[f64]>::to_vec).collect(), gradient);
            let mut step = 1.0;
            loop {
                let next: Vec<f64> = point.iter().zip(&direction).map(|(w, d)| w - step * d).collect();
                let found = self.value(k, &next);
                if found < value {
                    (point, value) = (next, found);
                    break;
                }
                step *= 0.5;
                if step < 1e-9 {
                    return (value, point);
                }
            }
        }
        (value, point)
    }
}

pub const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::Penalized, Intercept::None];
pub const LOSSES: [Loss; 3] = [Loss::SquaredHinge, Loss::SquaredError, Loss::Logistic];
