//! The objective over rows that do not fit in memory: each quantity takes a pass over them, in pieces.
//!
//! The state of the rows, two numbers per row and problem, is kept in memory as far as allowed and otherwise in the
//! scratch. Changes to it are deferred to the next pass, so that setting a point, or a direction and the step along it,
//! needs no pass of its own if another follows.

use std::fmt;
use std::sync::Arc;

use super::block_objective::{BlockObjective, Shard};
use super::objective::{ActiveRows, Cost, Gradient, Gram, Line, LineSums, Objective, PointSums, Shape};
use super::{Intercept, OneVsRest, Pieces, SmoothLoss};
use crate::data::{DenseView, Scratch};
use crate::error::Result;
use crate::linalg;
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;

/// The targets and costs of the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets<'a> {
    pub targets: OneVsRest<'a>,
    pub costs: &'a [f64],
    pub loss: SmoothLoss,
    pub intercept: Intercept,
}

/// The partitioning, and the memory limits.
#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub rows_a_piece: usize,
    /// Number of pieces whose scores are kept in memory; those of the others are in the scratch, from `first_byte` on.
    pub n_held: usize,
    pub scratch: &'a dyn Scratch,
    pub first_byte: u64,
}

/// A deferred change of the state.
enum Move {
    SetPoint(Vec<usize>, Vec<f64>),
    SetDirection(Vec<usize>, Vec<f64>),
    TakeStep(Vec<usize>, Vec<f64>),
}

impl Move {
    fn make(&self, objective: &mut BlockObjective<'_>) -> Result<()> {
        match self {
            Move::SetPoint(live, points) => objective.set_point(live, points),
            Move::SetDirection(live, directions) => objective.set_direction(live, directions),
            Move::TakeStep(live, steps) => objective.take_step(live, steps),
        }
    }
}

/// Sums over rows read in pieces.
pub(crate) struct PassObjective<'a> {
    pieces: &'a dyn Pieces,
    problem: Targets<'a>,
    room: Room<'a>,
    pool: Arc<Pool>,
    monitor: Monitor<'a>,
    /// The state of each piece; empty if it is in the scratch.
    memory: Vec<Vec<Shard>>,
    moves: Vec<Move>,
    features: Vec<f32>,
    n_passes: u32,
}

impl<'a> PassObjective<'a> {
    /// `monitor` is checked between pieces.
    pub fn new(
        pieces: &'a dyn Pieces,
        problem: Targets<'a>,
        room: Room<'a>,
        pool: Arc<Pool>,
        monitor: Monitor<'a>,
    ) -> Result<Self> {
        let (n, k) = (pieces.n_rows(), problem.targets.n_problems());
        let n_pieces = n.div_ceil(room.rows_a_piece);
        let rows = |at: usize| room.rows_a_piece.min(n - at * room.rows_a_piece);
        let memory = (0..n_pieces).map(|at| if at < room.n_held { Shard::all(rows(at), k) } else { Vec::new() });
        let memory = memory.collect();
        let mut objective = PassObjective {
            pieces,
            problem,
            room,
            pool,
            monitor,
            memory,
            moves: vec![],
            features: vec![],
            n_passes: 0,
        };
        for at in room.n_held.min(n_pieces)..n_pieces {
            let zeros = Shard::all(rows(at), k);
            objective.put(at, zeros, true)?;
        }
        Ok(objective)
    }

    /// The number of passes that computed or read all features.
    pub fn n_passes(&self) -> u32 {
        self.n_passes
    }

    /// The position of a piece's state in the scratch.
    fn place_of(&self, at: usize) -> u64 {
        let numbers = (at - self.room.n_held) * self.room.rows_a_piece * self.problem.targets.n_problems() * 2;
        self.room.first_byte + (numbers * size_of::<f32>()) as u64
    }

    fn take(&mut self, at: usize) -> Result<Vec<Shard>> {
        if at < self.room.n_held {
            return Ok(std::mem::take(&mut self.memory[at]));
        }
        let n_rows = self.room.rows_a_piece.min(self.pieces.n_rows() - at * self.room.rows_a_piece);
        let mut shards = Shard::all(n_rows, self.problem.targets.n_problems());
        let mut from = self.place_of(at);
        let mut bytes = Vec::new();
        for numbers in shards.iter_mut().flat_map(Shard::numbers) {
            bytes.resize(size_of_val(numbers.as_slice()), 0);
            self.room.scratch.read(from, &mut bytes)?;
            from += bytes.len() as u64;
            numbers.iter_mut().zip(bytes.as_chunks().0).for_each(|(x, bytes)| *x = f32::from_le_bytes(*bytes));
        }
        Ok(shards)
    }

    fn put(&mut self, at: usize, mut shards: Vec<Shard>, changed: bool) -> Result<()> {
        if at < self.room.n_held {
            self.memory[at] = shards;
            return Ok(());
        }
        if !changed {
            return Ok(());
        }
        let bytes: Vec<u8> = (shards.iter_mut().flat_map(Shard::numbers))
            .flat_map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()))
            .collect();
        self.room.scratch.write(self.place_of(at), &bytes)
    }

    /// One pass: applies deferred changes, then runs `work` on each piece, in order.
    fn pass<T>(
        &mut self,
        reads_features: bool,
        mut work: impl FnMut(&mut BlockObjective<'_>) -> Result<T>,
        mut fold: impl FnMut(T),
    ) -> Result<()> {
        let moves = std::mem::take(&mut self.moves);
        let reads = reads_features || moves.iter().any(|one| !matches!(one, Move::TakeStep(..)));
        let (n, d) = (self.pieces.n_rows(), self.pieces.n_features());
        self.n_passes += u32::from(reads);
        for at in 0..self.memory.len() {
            self.monitor.go_on("solve")?;
            let rows = at * self.room.rows_a_piece..((at + 1) * self.room.rows_a_piece).min(n);
            let mut features = std::mem::take(&mut self.features);
            if reads {
                features.resize(rows.len() * d, 0.0);
                self.pieces.fill(rows.clone(), &mut features)?;
                self.monitor.tell(Progress { stage: "pass", done: rows.end as u64, total: n as u64, gap: None });
            }
            let view =
                if reads { DenseView::new(&features, rows.len(), d)? } else { DenseView::new(&[], rows.len(), 0)? };
            let Targets { targets, costs, loss, intercept } = self.problem;
            let (targets, costs, kind) = (targets.part(rows.clone()), &costs[rows.clone()], (loss, intercept));
            let (pool, shards) = (self.pool.clone(), self.take(at)?);
            let mut block = BlockObjective::of_shards(view.into(), rows.start, targets, costs, kind, pool, shards);
            moves.iter().try_for_each(|one| one.make(&mut block))?;
            fold(work(&mut block)?);
            let shards = block.into_shards();
            self.features = features;
            self.put(at, shards, !moves.is_empty())?;
        }
        Ok(())
    }
}

impl Objective for PassObjective<'_> {
    fn shape(&self) -> Shape {
        Shape {
            n_rows: self.pieces.n_rows(),
            n_features: self.pieces.n_features(),
            n_problems: self.problem.targets.n_problems(),
            loss: self.problem.loss,
            intercept: self.problem.intercept,
        }
    }

    fn cost(&self) -> Cost {
        let (n, d) = (self.pieces.n_rows() as f64, self.pieces.n_features() as f64);
        // As for a block, plus computing rows or reading them from disk. Not measured, since the solver's steps depend
        // on it.
        Cost { pass: 100.0 * n * d, problem: 2.5 * n * d, gram: n * d * (100.0 + 0.5 * d) }
    }

    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.moves.push(Move::SetPoint(live.to_vec(), points.to_vec()));
        Ok(())
    }

    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.moves.push(Move::SetDirection(live.to_vec(), directions.to_vec()));
        Ok(())
    }

    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        let mut total = vec![LineSums::default(); live.len()];
        let add = |part: Vec<LineSums>| total.iter_mut().zip(&part).for_each(|(total, part)| total.add(part));
        self.pass(false, |block| block.line_search_eval(live, lines), add)?;
        Ok(total)
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.moves.push(Move::TakeStep(live.to_vec(), steps.to_vec()));
        Ok(())
    }

    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        let slopes = vec![0.0; live.len() * (self.pieces.n_features() + 1)];
        let mut total = Gradient { sums: vec![PointSums::default(); live.len()], slopes };
        self.pass(true, |block| block.gradient(live, intercepts), |part| total.add(&part))?;
        Ok(total)
    }

    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>> {
        let mut total = vec![0.0; directions.len()];
        self.pass(
            true,
            |block| block.hessian_product(live, intercepts, directions),
            |part| linalg::add(&mut total, &part),
        )?;
        Ok(total)
    }

    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        let mut total: Option<Gram> = None;
        let mut whole = true;
        let fold = |part: Option<Gram>| match (&mut total, part) {
            (_, None) => whole = false,
            (None, part) => total = part,
            (Some(total), Some(part)) => total.add(&part),
        };
        self.pass(true, |block| block.gram(live, intercepts, monitor), fold)?;
        Ok(total.filter(|_| whole))
    }

    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        let mut total = vec![0.0; self.pieces.n_features() + 1];
        self.pass(true, |block| block.diagonal(live, intercepts), |part| linalg::add(&mut total, &part))?;
        Ok(total)
    }

    /// One pass. If there are too many rows it is wasted, except for the deferred changes.
    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        let mut total = Some(ActiveRows::default());
        let fold = |part: Option<ActiveRows>| {
            total = total.take().zip(part).and_then(|(mut total, part)| total.add(part, most).then_some(total));
        };
        self.pass(true, |block| block.active_rows(k, intercept, most), fold)?;
        Ok(total)
    }
}

impl fmt::Debug for PassObjective<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassObjective").field("shape", &self.shape()).field("n_passes", &self.n_passes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::newton::{self, NewtonSettings};

    struct Matrix(Vec<f32>, usize);

    impl Pieces for Matrix {
        fn n_rows(&self) -> usize {
            self.0.len() / self.1
        }
        fn n_features(&self) -> usize {
            self.1
        }
        fn fill(&self, rows: std::ops::Range<usize>, out: &mut [f32]) -> Result<()> {
            out.copy_from_slice(&self.0[rows.start * self.1..rows.end * self.1]);
            Ok(())
        }
    }

    struct NoScratch;

    impl Scratch for NoScratch {
        fn write(&self, _: u64, _: &[u8]) -> Result<()> {
            panic!("nothing is to be written")
        }
        fn read(&self, _: u64, _: &mut [u8]) -> Result<()> {
            panic!("nothing was written")
        }
        fn room(&self) -> Option<u64> {
            Some(0)
        }
    }

    #[test]
    fn a_large_c_takes_the_steps_and_factors_that_it_takes_in_memory() {
        let (n, d) = (900, 150);
        let mut state = 3u64;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        };
        let codes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
        let values = codes.iter().flat_map(|&class| {
            let one = |j: usize| uniform() + uniform() + if j % 3 == class as usize { 0.4 } else { 0.0 };
            (0..d).map(one).collect::<Vec<f32>>()
        });
        let rows = Matrix(values.collect(), d);
        let costs = vec![1e4; n];
        let (targets, kind) = (OneVsRest::new(&codes, 3), (SmoothLoss::SquaredHinge, Intercept::Free));
        let block = DenseView::new(&rows.0, n, d).unwrap().into();
        let mut here = BlockObjective::alone(block, targets, &costs, kind.0, kind.1, 1).unwrap();
        let settings = NewtonSettings { threads: 1, ..NewtonSettings::default() };
        let memory = newton::solve(&mut here, &settings, None, &Monitor::none()).unwrap();

        let problem = Targets { targets, costs: &costs, loss: kind.0, intercept: kind.1 };
        let room = Room { rows_a_piece: 128, n_held: 8, scratch: &NoScratch, first_byte: 0 };
        let pool = Arc::new(Pool::new(1).unwrap());
        let mut passes = PassObjective::new(&rows, problem, room, pool, Monitor::none()).unwrap();
        passes.set_point(&[0], &vec![0.0; d + 1]).unwrap();
        let rows_of = |passes: &mut PassObjective<'_>, most| passes.active_rows(0, 0.0, most).unwrap();
        assert_eq!(rows_of(&mut passes, n).unwrap().curvatures.len(), n);
        assert!(rows_of(&mut passes, n - 1).is_none());
        let resources = newton::solve(&mut passes, &settings, None, &Monitor::none()).unwrap();
        // Its passes are dearer, so that a Hessian of few rows pays a little sooner: the steps are the same or fewer.
        let steps = resources.iterations.iter().zip(&memory.iterations);
        assert!(steps.clone().all(|(resources, memory)| resources <= memory), "{resources:?} {memory:?}");
        assert!(resources.passes < memory.passes && resources.n_factors > 10, "{resources:?} {memory:?}");
        for (a, b) in resources.primal.iter().zip(&memory.primal) {
            assert!((a - b).abs() <= 2.0 * settings.tol * b, "{a} instead of {b}");
        }
    }
}
