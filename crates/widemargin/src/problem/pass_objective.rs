//! The objective over rows that do not fit in memory: each quantity takes a pass over them, in pieces.
//!
//! The state of the rows, two numbers per row and problem, is in memory as far as allowed and otherwise in the
//! scratch. Changes to it are deferred to the next pass, so that setting a point, or a direction and the step along it,
//! needs no pass of its own if another follows.

use std::ops::Range;
use std::sync::Arc;

use super::LinearProblem;
use super::block_objective::{BlockObjective, Shard};
use super::linear_queries::LinearRows;
use super::objective::{Cost, Shape};
use crate::data::{DenseView, Scratch};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::partition::{Executor, Query, add_answer};

/// The source of features that do not fit in memory.
pub(crate) trait Pieces: Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Features per row.
    fn n_features(&self) -> usize;

    /// Writes the features of consecutive rows, row-major. The same rows always give the same bits.
    ///
    /// # Errors
    /// Errors of reading samples, comparing them or reading features.
    fn fill(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()>;
}

/// The partitioning, and the memory limits.
#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub piece_rows: usize,
    /// Number of pieces whose scores are in memory; those of the others are in the scratch, from `first_byte` on.
    pub n_cached: usize,
    pub scratch: &'a dyn Scratch,
    pub first_byte: u64,
}

/// The effect of a query without an answer.
type Work = Box<dyn Fn(&mut BlockObjective<'_>, &Monitor<'_>) -> Result<()>>;

/// Sums over rows that come piece by piece. Queries without an answer wait for the next that has one, so that they cost
/// no pass of their own.
pub(crate) struct PassObjective<'a> {
    pieces: &'a dyn Pieces,
    problem: LinearProblem<'a>,
    room: Room<'a>,
    pool: Arc<Pool>,
    monitor: Monitor<'a>,
    /// The state of each piece; empty if it is in the scratch.
    memory: Vec<Vec<Shard>>,
    features: Vec<f32>,
    /// Whether it reads features, and its effect.
    waiting: Vec<(bool, Work)>,
    n_passes: u32,
}

impl<'a> PassObjective<'a> {
    /// `monitor` is checked between pieces.
    pub fn new(
        pieces: &'a dyn Pieces,
        problem: LinearProblem<'a>,
        room: Room<'a>,
        pool: Arc<Pool>,
        monitor: Monitor<'a>,
    ) -> Result<Self> {
        let (n, k) = (pieces.n_rows(), problem.targets.n_problems());
        let n_pieces = n.div_ceil(room.piece_rows);
        let rows = |at: usize| room.piece_rows.min(n - at * room.piece_rows);
        let memory = (0..n_pieces).map(|at| if at < room.n_cached { Shard::all(rows(at), k) } else { Vec::new() });
        let memory = memory.collect();
        let (features, waiting, n_passes) = (Vec::new(), Vec::new(), 0);
        let mut passes = PassObjective { pieces, problem, room, pool, monitor, memory, features, waiting, n_passes };
        for at in room.n_cached.min(n_pieces)..n_pieces {
            let zeros = Shard::all(rows(at), k);
            passes.put(at, zeros, true)?;
        }
        Ok(passes)
    }

    /// The shape of all rows, and the cost of queries.
    pub fn sizes(&self) -> (Shape, Cost) {
        let (rows, features) = (self.pieces.n_rows(), self.pieces.n_features());
        let (n, d) = (rows as f64, features as f64);
        // As a block's, but that rows are made, or come from a disk. Not measured: a solver's steps follow from it.
        let cost = Cost { pass: 100.0 * n * d, problem: 2.5 * n * d, gram: n * d * (100.0 + 0.5 * d) };
        (self.problem.shape(rows, features), cost)
    }

    /// How often all features were made or read.
    pub fn n_passes(&self) -> u32 {
        self.n_passes
    }

    /// The position of a piece's state in the scratch.
    fn place_of(&self, at: usize) -> u64 {
        let numbers = (at - self.room.n_cached) * self.room.piece_rows * self.problem.targets.n_problems() * 2;
        self.room.first_byte + (numbers * size_of::<f32>()) as u64
    }

    fn take(&mut self, at: usize) -> Result<Vec<Shard>> {
        if at < self.room.n_cached {
            return Ok(std::mem::take(&mut self.memory[at]));
        }
        let n_rows = self.room.piece_rows.min(self.pieces.n_rows() - at * self.room.piece_rows);
        let mut shards = Shard::all(n_rows, self.problem.targets.n_problems());
        let mut from = self.place_of(at);
        for numbers in shards.iter_mut().flat_map(Shard::numbers) {
            self.room.scratch.read(from, bytemuck::cast_slice_mut(numbers))?;
            from += size_of_val(numbers.as_slice()) as u64;
        }
        Ok(shards)
    }

    fn put(&mut self, at: usize, mut shards: Vec<Shard>, changed: bool) -> Result<()> {
        if at < self.room.n_cached {
            self.memory[at] = shards;
            return Ok(());
        }
        if !changed {
            return Ok(());
        }
        let numbers: Vec<f32> =
            shards.iter_mut().flat_map(Shard::numbers).flat_map(|some| some.iter().copied()).collect();
        self.room.scratch.write(self.place_of(at), bytemuck::cast_slice(&numbers))
    }

    /// Does `work` on a piece, with its features if they are needed, and stores its state if that changes.
    fn with_piece(
        &mut self,
        at: usize,
        (reads_features, changes_state): (bool, bool),
        work: impl FnOnce(&mut BlockObjective<'_>) -> Result<()>,
    ) -> Result<()> {
        self.monitor.go_on("solve")?;
        let (n, d) = (self.pieces.n_rows(), if reads_features { self.pieces.n_features() } else { 0 });
        let rows = at * self.room.piece_rows..((at + 1) * self.room.piece_rows).min(n);
        let mut features = std::mem::take(&mut self.features);
        if reads_features {
            features.resize(rows.len() * d, 0.0);
            self.pieces.fill(rows.clone(), &mut features)?;
            self.monitor.tell(Progress { stage: "pass", done: rows.end as u64, total: n as u64, gap: None });
        }
        let view = DenseView::new(&features[..rows.len() * d], rows.len(), d)?;
        let (of_block, shards) = ((view.into(), rows.start), self.take(at)?);
        let mut block = BlockObjective::of_shards(of_block, self.problem.part(rows), self.pool.clone(), shards);
        work(&mut block)?;
        let shards = block.shards;
        self.features = features;
        self.put(at, shards, changes_state)
    }
}

impl Executor<LinearRows> for PassObjective<'_> {
    fn reduce<Q: Query<Of = LinearRows>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer> {
        if !Q::HAS_ANSWER {
            let query = query.clone();
            let work: Work = Box::new(move |part, monitor| query.answer(part, monitor).map(drop));
            self.waiting.push((Q::READS_FEATURES, work));
            return Ok(Q::Answer::default());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let reads_features = Q::READS_FEATURES || waiting.iter().any(|(reads, _)| *reads);
        let changes_state = Q::CHANGES_STATE || !waiting.is_empty();
        self.n_passes += u32::from(reads_features);
        let mut total = None;
        for at in 0..self.memory.len() {
            monitor.go_on("solve")?;
            self.with_piece(at, (reads_features, changes_state), |part| {
                waiting.iter().try_for_each(|(_, work)| work(part, monitor))?;
                add_answer(query, &mut total, query.answer(part, monitor)?)
            })?;
        }
        total.ok_or(Error::NoSamples(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Active, Intercept, Loss, Objective, OneVsRest, SetPoint};
    use crate::solve::newton::{self, NewtonSettings};

    struct Matrix(Vec<f32>, usize);

    impl Pieces for Matrix {
        fn n_rows(&self) -> usize {
            self.0.len() / self.1
        }
        fn n_features(&self) -> usize {
            self.1
        }
        fn fill(&self, rows: Range<usize>, out: &mut [f32]) -> Result<()> {
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
        let (targets, loss) = (OneVsRest::new(&codes, 3), Loss::SquaredHinge);
        let problem = LinearProblem { targets, costs: &costs, loss, intercept: Intercept::Free };
        let block = DenseView::new(&rows.0, n, d).unwrap().into();
        let mut here = Objective::in_memory(BlockObjective::new(block, problem, 1).unwrap());
        let settings = NewtonSettings { threads: 1, ..NewtonSettings::default() };
        let memory = newton::solve(&mut here, &settings, None, &Monitor::none()).unwrap();

        let room = Room { piece_rows: 128, n_cached: 8, scratch: &NoScratch, first_byte: 0 };
        let pool = Arc::new(Pool::new(1).unwrap());
        let passes = PassObjective::new(&rows, problem, room, pool, Monitor::none()).unwrap();
        let sizes = passes.sizes();
        let mut passes = Objective::new(passes, sizes);
        passes.ask(&SetPoint { live: vec![0], points: vec![0.0; d + 1] }).unwrap();
        let mut rows_of = |most| passes.ask(&Active { k: 0, intercept: 0.0, most }).unwrap();
        assert_eq!(rows_of(n).unwrap().curvatures.len(), n);
        assert!(rows_of(n - 1).is_none());
        let resources = newton::solve(&mut passes, &settings, None, &Monitor::none()).unwrap();
        // Its passes are dearer, so that a Hessian of few rows pays a little sooner: the steps are the same or fewer.
        let steps = resources.problems.iter().zip(&memory.problems).map(|(a, b)| (a.iterations, b.iterations));
        assert!(steps.clone().all(|(resources, memory)| resources <= memory), "{resources:?} {memory:?}");
        assert!(resources.passes < memory.passes && resources.n_factors > 10, "{resources:?} {memory:?}");
        for (a, b) in resources.problems.iter().zip(&memory.problems).map(|(a, b)| (a.primal, b.primal)) {
            assert!((a - b).abs() <= 2.0 * settings.tol * b, "{a} instead of {b}");
        }
    }
}
