//! The sum of objectives over different rows: one objective for a training set in several blocks.

use std::fmt;
use std::sync::Arc;

use super::block::Block;
use super::block_objective::{BlockObjective, check_rows};
use super::objective::{ActiveRows, Cost, Gradient, Gram, Line, LineSums, Objective, PointSums, Shape};
use super::{Intercept, OneVsRest, SmoothLoss};
use crate::error::{Error, Result};
use crate::linalg;
use crate::monitor::Monitor;
use crate::par::Pool;

/// One-vs-rest problems over the rows of several parts.
pub struct LinearObjective<'a> {
    parts: Vec<Box<dyn Objective + Send + 'a>>,
    shape: Shape,
}

impl<'a> LinearObjective<'a> {
    /// The objective over consecutive blocks of rows in memory, in the order of `targets` and `costs`.
    ///
    /// `costs` are C · weight, one per row, finite and at least 0; `threads` threads run each pass, 0 meaning one per
    /// core. Results do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if blocks, targets and costs are inconsistent, [`Error::Weight`] for a negative or non-finite
    /// cost, [`Error::NoSamples`] without rows, [`Error::Threads`].
    pub fn new(
        blocks: &[Block<'a>],
        targets: OneVsRest<'a>,
        costs: &'a [f64],
        loss: SmoothLoss,
        intercept: Intercept,
        threads: usize,
    ) -> Result<Self> {
        check_rows(blocks, &targets, costs)?;
        let pool = Arc::new(Pool::new(threads)?);
        let mut first = 0;
        let parts = blocks.iter().map(|&block| {
            let rows = first..first + block.n_rows();
            first = rows.end;
            let (targets, costs) = (targets.part(rows.clone()), &costs[rows.clone()]);
            let part = BlockObjective::new(block, rows.start, targets, costs, (loss, intercept), pool.clone());
            Box::new(part) as Box<dyn Objective + Send>
        });
        LinearObjective::from_parts(parts.collect())
    }

    /// The sum of objectives over different rows, wherever these are stored.
    ///
    /// # Errors
    /// [`Error::NoSamples`] without parts, [`Error::Shape`] if their shapes are inconsistent.
    pub fn from_parts(parts: Vec<Box<dyn Objective + Send + 'a>>) -> Result<Self> {
        let mut shape = parts.first().ok_or(Error::NoSamples(""))?.shape();
        shape.n_rows = 0;
        for (at, part) in parts.iter().enumerate() {
            let other = part.shape();
            if (Shape { n_rows: 0, ..other }) != (Shape { n_rows: 0, ..shape }) {
                let (found, expected) = (format!("{other:?}"), format!("{shape:?}, as part 0 has"));
                return Err(Error::Shape { what: format!("part {at} of an objective"), found, expected });
            }
            shape.n_rows += other.n_rows;
        }
        Ok(LinearObjective { parts, shape })
    }
}

impl fmt::Debug for LinearObjective<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinearObjective").field("parts", &self.parts.len()).field("shape", &self.shape).finish()
    }
}

impl Objective for LinearObjective<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn cost(&self) -> Cost {
        self.parts.iter().map(|part| part.cost()).fold(Cost::default(), |a, b| Cost {
            pass: a.pass + b.pass,
            problem: a.problem + b.problem,
            gram: a.gram + b.gram,
        })
    }

    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.set_point(live, points))
    }

    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.set_direction(live, directions))
    }

    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        let mut total = vec![LineSums::default(); live.len()];
        for part in &mut self.parts {
            total.iter_mut().zip(part.line_search_eval(live, lines)?).for_each(|(total, part)| total.add(&part));
        }
        Ok(total)
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.take_step(live, steps))
    }

    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        let slopes = vec![0.0; live.len() * (self.shape.n_features + 1)];
        let mut total = Gradient { sums: vec![PointSums::default(); live.len()], slopes };
        for part in &mut self.parts {
            total.add(&part.gradient(live, intercepts)?);
        }
        Ok(total)
    }

    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>> {
        let mut total = vec![0.0; directions.len()];
        for part in &mut self.parts {
            linalg::add(&mut total, &part.hessian_product(live, intercepts, directions)?);
        }
        Ok(total)
    }

    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        let mut total: Option<Gram> = None;
        for part in &mut self.parts {
            let Some(gram) = part.gram(live, intercepts, monitor)? else { return Ok(None) };
            total = Some(match total {
                None => gram,
                Some(mut total) => {
                    total.add(&gram);
                    total
                }
            });
        }
        Ok(total)
    }

    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        let mut total = vec![0.0; self.shape.n_features + 1];
        for part in &mut self.parts {
            linalg::add(&mut total, &part.diagonal(live, intercepts)?);
        }
        Ok(total)
    }

    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        let mut total = ActiveRows::default();
        for part in &mut self.parts {
            let Some(active) = part.active_rows(k, intercept, most - total.curvatures.len())? else { return Ok(None) };
            total.add(active, most);
        }
        Ok(Some(total))
    }
}
