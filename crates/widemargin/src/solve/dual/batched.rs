//! Several two-class problems at once: a sample's non-zeros are visited once for up to 16 of them.
//!
//! Every problem takes the same steps as in [`super::one_class`] (one order of rows serves all); a problem
//! that has converged is frozen, and when enough are frozen the live ones are packed closer.

use std::ops::Range;

use super::Solved;
use super::certificate::{Certificate, StopRule, Sums};
use super::coordinate::{Lanes, Limits, Visit};
use super::lanes::{Isa, LANES, Loops, MAX_VECTORS, Pattern, Vector, loops};
use super::one_class::ROWS_A_QUESTION;
use super::order::Order;
use super::problem::{DualProblem, DualSettings};
use super::tables::Tables;
use crate::expansion::{Entries, Entry};
use crate::memory::prefetch;
use crate::solve::{Progress, Status, Stopped, Watch};

/// How many rows ahead memory is called for.
const AHEAD: usize = 2;

/// Splits the problems into shards that fit the lanes, at least one a thread where there are enough.
pub(super) fn shards(n_problems: usize, n_nodes: usize, threads: usize) -> Vec<Range<usize>> {
    let most = (MAX_VECTORS * LANES / n_nodes).clamp(1, LANES);
    let wanted = n_problems.div_ceil(most);
    // A whole number of shards a thread, so that all threads end together.
    let count = wanted.next_multiple_of(threads).min(n_problems);
    (0..count).map(|s| s * n_problems / count..(s + 1) * n_problems / count).collect()
}

/// Solves the problems of one shard. `Err` is a cancellation; a time limit ends with what there is.
pub(super) fn solve(
    problem: &DualProblem<'_>,
    tables: &Tables<f32>,
    shard: Range<usize>,
    settings: &DualSettings,
    watch: &Watch<'_>,
) -> Result<Vec<Solved>, ()> {
    let isa = Isa::available()[0];
    match problem.rows.entries() {
        Entries::Narrow(entries) => Shard { problem, tables, entries, isa }.run(shard, settings, watch),
        Entries::Wide(entries) => Shard { problem, tables, entries, isa }.run(shard, settings, watch),
    }
}

/// What stays the same for all of a shard's life.
struct Shard<'a, E> {
    problem: &'a DualProblem<'a>,
    tables: &'a Tables<f32>,
    entries: &'a [E],
    isa: Isa,
}

/// The live problems, packed into lanes.
struct Pack<E> {
    /// The problem of each class lane.
    problems: Vec<usize>,
    /// The class lane of each problem; [`LANES`] and more for those not here.
    lane_of: Vec<u8>,
    loops: Loops<E>,
    pattern: Pattern,
    vectors: usize,
    /// `weights[feature * vectors + v]`: lane l of a feature is node l / classes, class l % classes.
    weights: Vec<Vector>,
    /// One vector a row; lane c belongs to `problems[c]`.
    alphas: Vec<Vector>,
}

/// What each problem of the shard has come to.
struct Progressing {
    k: usize,
    epochs: u32,
    rule: StopRule,
    status: Option<Status>,
    weights: Vec<f32>,
    alphas: Vec<f32>,
    certificate: Certificate,
}

impl<E: Entry> Shard<'_, E> {
    fn run(&self, shard: Range<usize>, settings: &DualSettings, watch: &Watch<'_>) -> Result<Vec<Solved>, ()> {
        let (n_rows, size) = (self.problem.rows.n_rows(), self.problem.rows.n_features() * self.problem.map.n_nodes());
        let mut all: Vec<Progressing> = shard
            .map(|k| Progressing {
                k,
                epochs: 0,
                rule: StopRule::new(settings.tol),
                status: None,
                weights: vec![0.0; size],
                alphas: vec![0.0; n_rows],
                certificate: Certificate::default(),
            })
            .collect();
        let mut order = Order::new(n_rows, settings.seed);
        loop {
            let open: Vec<usize> = (0..all.len()).filter(|&i| all[i].status.is_none()).collect();
            if open.is_empty() {
                break;
            }
            let ended = match self.descend(&mut all, &open, &mut order, settings, watch) {
                Ok(()) => None,
                Err(Stopped::TimeLimit) => Some(Status::TimeLimit),
                Err(Stopped::Cancelled) => return Err(()),
            };
            self.certify(&mut all, &open);
            for &i in &open {
                let one = &mut all[i];
                one.status = if one.rule.is_met(one.certificate.gap()) {
                    Some(Status::Converged)
                } else if ended.is_some() {
                    ended
                } else {
                    (one.epochs >= settings.max_epochs).then_some(Status::IterationLimit)
                };
            }
        }
        let solved = |one: Progressing| Solved {
            weights: one.weights,
            alphas: one.alphas,
            epochs: one.epochs,
            status: one.status.unwrap_or(Status::IterationLimit),
            certificate: one.certificate,
        };
        Ok(all.into_iter().map(solved).collect())
    }

    /// Epochs until every open problem's estimated gap is what it wants, or the epochs run out.
    fn descend(
        &self,
        all: &mut [Progressing],
        open: &[usize],
        order: &mut Order,
        settings: &DualSettings,
        watch: &Watch<'_>,
    ) -> Result<(), Stopped> {
        let mut live = open.to_vec();
        let mut pack = self.pack(all, &live);
        order.restore();
        let mut lanes = Lanes::new(live.len());
        loop {
            let epoch = self.epoch(&mut pack, &mut lanes, order, settings.shrinking, watch);
            let mut frozen = 0;
            let mut worst: f64 = 0.0;
            for (lane, &i) in live.iter().enumerate() {
                if !lanes.live[lane] {
                    continue;
                }
                let one = &mut all[i];
                one.epochs += 1;
                let estimate = lanes.sums(lane).estimate();
                worst = worst.max(estimate);
                if one.rule.is_near(estimate) || one.epochs >= settings.max_epochs {
                    lanes.live[lane] = false;
                    frozen += 1;
                }
            }
            if let Err(stopped) = epoch {
                self.unpack(&pack, all, &live);
                return Err(stopped);
            }
            let done = live.iter().map(|&i| all[i].epochs).max().unwrap_or(0);
            let total = u64::from(settings.max_epochs);
            watch.tell(Progress { stage: "solve", done: u64::from(done), total, gap: Some(worst) });
            let left = lanes.live.iter().filter(|live| **live).count();
            if left == 0 {
                self.unpack(&pack, all, &live);
                return Ok(());
            }
            if frozen > 0 && self.vectors_for(left) < pack.vectors {
                self.unpack(&pack, all, &live);
                let keep = lanes.live;
                live = live.iter().zip(keep).filter(|(_, keep)| *keep).map(|(&i, _)| i).collect();
                pack = self.pack(all, &live);
                lanes.keep(keep);
            }
        }
    }

    fn vectors_for(&self, classes: usize) -> usize {
        (classes * self.problem.map.n_nodes()).div_ceil(LANES)
    }

    /// Gathers the state of the problems `live` into lanes.
    fn pack(&self, all: &[Progressing], live: &[usize]) -> Pack<E> {
        let (m, classes) = (self.problem.map.n_nodes(), live.len());
        let vectors = self.vectors_for(classes);
        let mut pattern = [[0; LANES]; MAX_VECTORS];
        for lane in 0..m * classes {
            pattern[lane / LANES][lane % LANES] = (lane / classes) as i32;
        }
        let n_features = self.problem.rows.n_features();
        let mut weights = vec![Vector::ZERO; n_features * vectors];
        let mut alphas = vec![Vector::ZERO; self.problem.rows.n_rows()];
        for (class, &i) in live.iter().enumerate() {
            if all[i].epochs == 0 {
                continue;
            }
            for (at, &weight) in all[i].weights.iter().enumerate() {
                let lane = (at % m) * classes + class;
                weights[at / m * vectors + lane / LANES].0[lane % LANES] = weight;
            }
            for (lanes, &alpha) in alphas.iter_mut().zip(&all[i].alphas) {
                lanes.0[class] = alpha;
            }
        }
        let problems: Vec<usize> = live.iter().map(|&i| all[i].k).collect();
        let mut lane_of = vec![u8::MAX; self.problem.targets.n_problems()];
        for (lane, &k) in problems.iter().enumerate() {
            lane_of[k] = lane as u8;
        }
        let loops = loops(self.isa, vectors, self.tables.stride > 4);
        Pack { problems, lane_of, loops, pattern, vectors, weights, alphas }
    }

    /// Scatters the lanes back to the problems they belong to.
    fn unpack(&self, pack: &Pack<E>, all: &mut [Progressing], live: &[usize]) {
        let (m, classes) = (self.problem.map.n_nodes(), live.len());
        for (class, &i) in live.iter().enumerate() {
            for (at, weight) in all[i].weights.iter_mut().enumerate() {
                let lane = (at % m) * classes + class;
                *weight = pack.weights[at / m * pack.vectors + lane / LANES].0[lane % LANES];
            }
            for (lanes, alpha) in pack.alphas.iter().zip(&mut all[i].alphas) {
                *alpha = lanes.0[class];
            }
        }
    }

    /// One pass over `order`; rows that no live problem needs for now are taken out of it.
    fn epoch(
        &self,
        pack: &mut Pack<E>,
        lanes: &mut Lanes,
        order: &mut Order,
        shrinking: bool,
        watch: &Watch<'_>,
    ) -> Result<(), Stopped> {
        lanes.begin_epoch();
        let classes = pack.problems.len();
        let m = self.problem.map.n_nodes();
        let (mut left_out, mut n_left_out) = (vec![false; self.problem.rows.n_rows()], 0);
        let visits = order.next();
        // Room past the last lane: a node's steps are copied sixteen at a time.
        let mut spread = [0.0; LANES * (MAX_VECTORS + 1)];
        for (at, &row) in visits.iter().enumerate() {
            if at % ROWS_A_QUESTION == 0 {
                watch.ask()?;
            }
            // Without this the first non-zeros of each row would wait for memory.
            if let Some(&soon) = visits.get(at + AHEAD) {
                prefetch(self.row(soon as usize));
                prefetch(std::slice::from_ref(&pack.alphas[soon as usize]));
            }
            let row = row as usize;
            let mut signs = [-1.0; LANES];
            if let Some(k) = self.problem.targets.positive_problem(row)
                && let Some(sign) = signs.get_mut(usize::from(pack.lane_of[k]))
            {
                *sign = 1.0;
            }
            let scores = self.scores(pack, row);
            let limits = Limits::new(self.problem.loss, self.problem.costs[row], self.tables.diagonal[row]);
            // SAFETY: the loops are those of an instruction set that this machine has.
            match unsafe { (pack.loops.visit)(lanes, &scores, &signs, &mut pack.alphas[row].0, &limits, shrinking) } {
                Visit::NotNeeded => {
                    left_out[row] = true;
                    n_left_out += 1;
                }
                Visit::Still => {}
                Visit::Moved(steps) => {
                    for node in 0..m {
                        spread[node * classes..][..LANES].copy_from_slice(&steps);
                    }
                    let mut step = [Vector::ZERO; MAX_VECTORS];
                    for (vector, spread) in step.iter_mut().zip(spread.chunks_exact(LANES)) {
                        vector.0.copy_from_slice(spread);
                    }
                    let (write, weights) = (self.tables.write().as_ptr(), pack.weights.as_mut_ptr());
                    // SAFETY: `CodedRows` has every feature below n_features and every code in the book, and
                    // `pack` and `Tables` were sized by those.
                    unsafe { (pack.loops.update)(self.row(row), write, &pack.pattern, weights, &step) };
                }
            }
        }
        order.leave_out(&left_out, n_left_out);
        lanes.end_epoch();
        Ok(())
    }

    fn row(&self, row: usize) -> &[E] {
        let indptr = self.problem.rows.indptr();
        &self.entries[indptr[row]..indptr[row + 1]]
    }

    /// f(x) of one row for every class lane.
    fn scores(&self, pack: &Pack<E>, row: usize) -> [f32; LANES] {
        let mut sums = [Vector::ZERO; MAX_VECTORS];
        let read = self.tables.read().as_ptr();
        // SAFETY: `CodedRows` has every feature below n_features and every code in the book, and `pack` and
        // `Tables` were sized by those.
        unsafe { (pack.loops.dot)(self.row(row), read, &pack.pattern, pack.weights.as_ptr(), &mut sums) };
        let classes = pack.problems.len();
        let mut flat = [0.0; LANES * (MAX_VECTORS + 1)];
        flat[..LANES * MAX_VECTORS].copy_from_slice(sums.map(|v| v.0).as_flattened());
        // Lanes past the classes hold what belongs to others; no one asks for them.
        let mut scores = [0.0; LANES];
        for node in 0..self.problem.map.n_nodes() {
            for (score, sum) in scores.iter_mut().zip(&flat[node * classes..][..LANES]) {
                *score += sum;
            }
        }
        scores
    }

    /// ‖f‖² of one class lane.
    fn quadratic(&self, pack: &Pack<E>, class: usize, sums: &Sums) -> f64 {
        if !self.problem.map.is_symmetric() {
            return sums.alpha_margin;
        }
        let classes = pack.problems.len();
        let lanes: Vec<usize> = (0..self.problem.map.n_nodes()).map(|node| node * classes + class).collect();
        let square = |lane: &usize| {
            pack.weights[lane / LANES..]
                .iter()
                .step_by(pack.vectors)
                .map(|v| f64::from(v.0[lane % LANES]).powi(2))
                .sum::<f64>()
        };
        lanes.iter().map(square).sum()
    }

    /// The objectives at fixed weights, over all rows.
    fn certify(&self, all: &mut [Progressing], open: &[usize]) {
        let pack = self.pack(all, open);
        let mut sums = vec![Sums::default(); open.len()];
        for row in 0..self.problem.rows.n_rows() {
            let scores = self.scores(&pack, row);
            for (class, sums) in sums.iter_mut().enumerate() {
                let sign = self.problem.targets.sign(row, pack.problems[class]);
                let alpha = f64::from(pack.alphas[row].0[class]);
                sums.add(self.problem.loss, self.problem.costs[row], alpha, sign * f64::from(scores[class]));
            }
        }
        for (class, &i) in open.iter().enumerate() {
            all[i].certificate = Certificate::new(&sums[class], self.quadratic(&pack, class, &sums[class]));
        }
    }
}
