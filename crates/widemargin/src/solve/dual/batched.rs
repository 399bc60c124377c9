//! Several two-class problems at once: a sample's non-zeros are visited once for up to 16 of them.
//!
//! Every problem takes the same steps as in [`super::one_class`] (all share the order of rows); a converged problem is
//! frozen, and when enough are frozen the live ones are packed again.

use std::ops::Range;

use super::certificate::{Certificate, StopRule, Sums};
use super::coordinate::Lanes;
use super::lanes::{LANES, MAX_VECTORS, Vector};
use super::order::Order;
use super::pack::{Frame, Pack, Pass, quadratic};
use super::problem::{DualProblem, DualSettings};
use super::solved::Solved;
use super::tables::Tables;
use crate::expansion::{Entries, Entry};
use crate::isa::Isa;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::solve::Status;

/// Splits the problems into shards that fit the lanes, at least one per thread if there are enough.
pub(super) fn shards(n_problems: usize, n_nodes: usize, threads: usize) -> Vec<Range<usize>> {
    let most = (MAX_VECTORS * LANES / n_nodes).clamp(1, LANES);
    let wanted = n_problems.div_ceil(most);
    // A whole number of shards per thread, so that all threads end together.
    let count = wanted.next_multiple_of(threads).min(n_problems);
    (0..count).map(|s| s * n_problems / count..(s + 1) * n_problems / count).collect()
}

/// Maximum bytes per row in the lanes of all shards, including its place in an order, for any number of threads up to
/// `threads`.
pub(crate) fn packed_row_bytes(n_problems: usize, n_nodes: usize, threads: usize) -> usize {
    let shards = (shards(n_problems, n_nodes, 1).len() + threads - 1).min(n_problems);
    shards * (size_of::<Vector>() + size_of::<u16>() + 2 * size_of::<u32>())
}

/// Solves the problems of one shard. `Err` is a cancellation; a time limit ends with the current state.
pub(super) fn solve(
    problem: &DualProblem<'_>,
    tables: &Tables<f32>,
    diagonal: &[f32],
    shard: Range<usize>,
    settings: &DualSettings,
    monitor: &Monitor<'_>,
) -> Result<Vec<Solved>, ()> {
    let frame = frame(problem, Isa::best());
    match problem.rows.entries() {
        Entries::Narrow(entries) => {
            Shard { pass: Pass { problem, tables, diagonal, entries }, frame }.run(shard, settings, monitor)
        }
        Entries::Wide(entries) => {
            Shard { pass: Pass { problem, tables, diagonal, entries }, frame }.run(shard, settings, monitor)
        }
    }
}

/// Without the rows held out, the descent goes on for one epoch, and one more for each 12 that it took to the solution:
/// on problems where it is slow, it is slow here too. Of more than two ranges together one for each 6.
const SOLVED_EPOCHS_PER_EPOCH: u32 = 6;

/// The decision values of rows from weights learned without them, range by range: a range's share of the weights is
/// removed, the rest is scaled, and the descent goes on for a few epochs over the other rows. `Err` is a cancellation;
/// with a time limit that has passed there are none.
pub(super) fn hold_out(
    problem: &DualProblem<'_>,
    tables: &Tables<f32>,
    diagonal: &[f32],
    shard: Range<usize>,
    (solved, ranges): (&mut [Solved], &[Range<usize>]),
    monitor: &Monitor<'_>,
) -> Result<(), ()> {
    let frame = frame(problem, Isa::best());
    let held_out_rows =
        match problem.rows.entries() {
            Entries::Narrow(entries) => Shard { pass: Pass { problem, tables, diagonal, entries }, frame }
                .hold_out(shard, solved, ranges, monitor),
            Entries::Wide(entries) => Shard { pass: Pass { problem, tables, diagonal, entries }, frame }
                .hold_out(shard, solved, ranges, monitor),
        };
    match held_out_rows {
        Err(Stopped::Cancelled) => Err(()),
        Err(Stopped::TimeLimit) => Ok(()),
        Ok(held_out_rows) => {
            solved.iter_mut().zip(held_out_rows).for_each(|(solved, values)| solved.held_out = values);
            Ok(())
        }
    }
}

fn frame(problem: &DualProblem<'_>, isa: Isa) -> Frame {
    Frame::new(isa, problem.map, problem.rows.n_features(), problem.targets.n_problems())
}

/// Constants during a shard's lifetime.
struct Shard<'a, E> {
    pass: Pass<'a, E>,
    frame: Frame,
}

/// The state of each problem of the shard.
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
    fn run(&self, shard: Range<usize>, settings: &DualSettings, monitor: &Monitor<'_>) -> Result<Vec<Solved>, ()> {
        let (n_rows, size) = (self.pass.problem.rows.n_rows(), self.frame.n_weights());
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
            // Problems that continue after an exact pass may have had different numbers of epochs. Only those at the
            // same epoch share an order of the rows.
            let unsolved = |one: &&Progressing| one.status.is_none();
            let Some(epoch) = all.iter().filter(unsolved).map(|one| one.epochs).min() else {
                break;
            };
            let open: Vec<usize> =
                (0..all.len()).filter(|&i| all[i].status.is_none() && all[i].epochs == epoch).collect();
            let ended = match self.descend(&mut all, &open, &mut order, settings, monitor) {
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
            n_support: 0,
            epochs: one.epochs,
            status: one.status.unwrap_or(Status::IterationLimit),
            certificate: one.certificate,
            held_out: Vec::new(),
        };
        Ok(all.into_iter().map(solved).collect())
    }

    /// See [`hold_out`]; one vector of decision values a problem.
    fn hold_out(
        &self,
        shard: Range<usize>,
        solved: &[Solved],
        ranges: &[Range<usize>],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Vec<f32>>, Stopped> {
        let (n_rows, n_ranges) = (self.pass.problem.rows.n_rows(), ranges.len() as u32);
        let mut values = vec![Vec::new(); solved.len()];
        let mut order = Order::new(n_rows, 0);
        for range in ranges {
            let mut pack = Pack::new(self.frame, shard.clone().collect());
            pack.begin_rows(n_rows);
            for (class, one) in solved.iter().enumerate() {
                pack.set_weights(class, &one.weights);
                pack.set_alphas(class, &one.alphas);
            }
            self.pass.forget(&mut pack, range.clone());
            self.pass.rescale(&mut pack);
            let mut lanes = Lanes::new(solved.len());
            for epoch in 1.. {
                let has_ended = |one: &Solved| epoch > 1 + one.epochs / (n_ranges.max(2) * SOLVED_EPOCHS_PER_EPOCH);
                let ended = solved.iter().enumerate().filter(|(_, one)| has_ended(one));
                lanes.freeze(ended.fold(0, |bits, (class, _)| bits | 1 << class));
                if lanes.live() == 0 {
                    break;
                }
                let rest: Vec<u32> =
                    order.of(epoch).iter().copied().filter(|row| !range.contains(&(*row as usize))).collect();
                lanes.begin_epoch();
                self.pass.epoch(&mut pack, &mut lanes, &rest, false, monitor)?;
                lanes.end_epoch();
            }
            self.pass.add_scores(&pack, range.clone(), &mut values);
        }
        Ok(values)
    }

    /// Epochs until the estimated gap of every open problem is small enough, or the epochs run out.
    fn descend(
        &self,
        all: &mut [Progressing],
        open: &[usize],
        order: &mut Order,
        settings: &DualSettings,
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped> {
        let mut live = open.to_vec();
        let mut pack = self.pack(all, &live);
        let mut lanes = Lanes::new(live.len());
        let mut epochs = all[open[0]].epochs;
        loop {
            epochs += 1;
            lanes.begin_epoch();
            let epoch = self.pass.epoch(&mut pack, &mut lanes, order.of(epochs), true, monitor);
            if let Err(stopped) = epoch {
                unpack(&pack, all, &live);
                return Err(stopped);
            }
            lanes.end_epoch();
            let mut frozen = 0;
            let mut worst: f64 = 0.0;
            for (lane, &i) in live.iter().enumerate().filter(|(lane, _)| lanes.live() >> lane & 1 == 1) {
                let one = &mut all[i];
                one.epochs = epochs;
                let estimate = lanes.sums(lane).estimate();
                worst = worst.max(estimate);
                if one.rule.is_near(estimate) || epochs >= settings.max_epochs {
                    frozen |= 1 << lane;
                }
            }
            let (done, total) = (u64::from(epochs), u64::from(settings.max_epochs));
            monitor.tell(Progress { stage: "solve", done, total, gap: Some(worst) });
            lanes.freeze(frozen);
            let left = lanes.live().count_ones() as usize;
            if left == 0 {
                unpack(&pack, all, &live);
                return Ok(());
            }
            if self.frame.vectors_for(left) < pack.vectors {
                unpack(&pack, all, &live);
                let shrunk = pack.shrunk.iter().map(|&bits| squeeze(bits, lanes.live())).collect();
                live = live
                    .iter()
                    .enumerate()
                    .filter(|(lane, _)| lanes.live() >> lane & 1 == 1)
                    .map(|(_, &i)| i)
                    .collect();
                pack = self.pack(all, &live);
                pack.shrunk = shrunk;
                lanes.pack();
            }
        }
    }

    /// Gathers the state of the problems `live` into lanes.
    fn pack(&self, all: &[Progressing], live: &[usize]) -> Pack {
        let problems = live.iter().map(|&i| all[i].k).collect();
        let mut pack = Pack::new(self.frame, problems);
        pack.begin_rows(self.pass.problem.rows.n_rows());
        for (class, &i) in live.iter().enumerate().filter(|(_, i)| all[**i].epochs > 0) {
            pack.set_weights(class, &all[i].weights);
            pack.set_alphas(class, &all[i].alphas);
        }
        pack
    }

    /// The objectives at fixed weights, over all rows.
    fn certify(&self, all: &mut [Progressing], open: &[usize]) {
        let pack = self.pack(all, open);
        let mut sums = vec![Sums::default(); open.len()];
        self.pass.add_sums(&pack, &mut sums);
        for (class, &i) in open.iter().enumerate() {
            let quadratic = quadratic(self.pass.problem.map, &pack, class, &sums[class]);
            all[i].certificate = Certificate::new(&sums[class], quadratic);
        }
    }
}

/// Scatters the lanes back to the problems they belong to.
fn unpack(pack: &Pack, all: &mut [Progressing], live: &[usize]) {
    for (class, &i) in live.iter().enumerate() {
        pack.weights(class, &mut all[i].weights);
        pack.alphas(class, &mut all[i].alphas);
    }
}

/// The bits of `bits` at the positions set in `places`, compacted.
fn squeeze(bits: u16, places: u16) -> u16 {
    let (mut out, mut to) = (0, 0);
    for from in (0..LANES).filter(|from| places >> from & 1 == 1) {
        out |= (bits >> from & 1) << to;
        to += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;
    use crate::expansion::{AdditiveMap, CodedRows, PAPER_NODES, choose_nodes};
    use crate::problem::{Loss, OneVsRest};
    use crate::similarity::AdditiveKernel;
    use crate::solve::dual::{HeldOut, one_class, solve, solve_for_weights};
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Histograms whose classes differ in which bins are full.
    fn histograms(n: usize, d: usize, classes: usize, distinct: bool) -> (Vec<f64>, Vec<u32>) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let codes: Vec<u32> = (0..n).map(|i| (i % classes) as u32).collect();
        let mut values = Vec::new();
        for &code in &codes {
            for j in 0..d {
                let full = (j + code as usize) % classes < 2;
                let value: f64 = if rng.random_bool(if full { 0.7 } else { 0.3 }) { rng.random() } else { 0.0 };
                values.push(if distinct { value } else { (value * 9.0).ceil() / 9.0 });
            }
        }
        (values, codes)
    }

    fn settings() -> DualSettings {
        DualSettings { tol: 1e-3, max_epochs: 500, seed: 1, threads: 1 }
    }

    #[test]
    fn held_out_scores_equal_those_of_a_refit() {
        let (n, d, classes, held_out_rows) = (300, 40, 7, 0..60);
        let (values, codes) = histograms(n, d, classes, false);
        let samples = DenseView::new(&values, n, d).unwrap();
        let coded = |rows: Range<usize>| {
            let rows: Vec<usize> = rows.collect();
            CodedRows::new(&samples, &rows, &vec![1.0; rows.len()], None).unwrap()
        };
        let (rows, rest) = (coded(0..n), coded(held_out_rows.end..n));
        let nodes = choose_nodes(AdditiveKernel::Intersection, rows.book(), rows.counts(), 3);
        let map = AdditiveMap::nystroem(AdditiveKernel::Intersection, &nodes).unwrap();
        let loss = Loss::SquaredHinge;
        for cost in [0.01, 1.0] {
            let costs = vec![cost; n];
            let targets = OneVsRest::new(&codes, classes);
            let problem = DualProblem { rows: &rows, map: &map, targets, loss, costs: &costs };
            let targets = OneVsRest::new(&codes[held_out_rows.end..], classes);
            let held_out = HeldOut { ranges: std::slice::from_ref(&held_out_rows), is_left_to_another: false };
            let without = DualProblem { rows: &rest, targets, costs: &costs[held_out_rows.end..], ..problem };
            let found = solve_for_weights(&problem, &settings(), held_out, &Monitor::none()).unwrap();
            let without = solve(&without, &settings(), &Monitor::none()).unwrap();
            let value = |weights: &[f32], row: usize, k: usize| {
                let mut read = [0.0; 3];
                let columns = values[row * d..][..d].iter().zip(weights.chunks_exact(3 * classes));
                let of_column = |(&x, weights): (&f64, &[f32])| {
                    map.read(x, &mut read);
                    read.iter()
                        .enumerate()
                        .map(|(node, read)| read * f64::from(weights[node * classes + k]))
                        .sum::<f64>()
                };
                columns.map(of_column).sum::<f64>()
            };
            let (mut away, mut moved) = (0.0, 0.0);
            for (k, values) in found.held_out.iter().enumerate() {
                for (row, &held_out) in held_out_rows.clone().zip(values) {
                    let truth = value(&without.weights, row, k);
                    away += (f64::from(held_out) - truth).powi(2);
                    moved += (value(&found.weights, row, k) - truth).powi(2);
                }
            }
            assert!(away < 0.25 * moved, "C = {cost}: {away} of {moved}");
        }
    }

    /// Every instruction set of this machine × few and many values × numbers of nodes and classes × losses,
    /// against the scalar solver in double precision.
    #[test]
    fn every_path_takes_the_steps_of_the_scalar_solver() {
        let (n, d) = (300, 40);
        for (classes, n_nodes, distinct, loss) in [
            (2, 3, false, Loss::SquaredHinge),
            (7, 3, true, Loss::SquaredHinge),
            (10, 3, false, Loss::Hinge),
            (16, 4, false, Loss::SquaredHinge),
            (9, 7, true, Loss::Hinge),
            (4, 16, false, Loss::SquaredHinge),
        ] {
            let (values, codes) = histograms(n, d, classes, distinct);
            let samples = DenseView::new(&values, n, d).unwrap();
            let rows = CodedRows::new(&samples, &(0..n).collect::<Vec<_>>(), &vec![1.0; n], None).unwrap();
            let nodes = choose_nodes(AdditiveKernel::Intersection, rows.book(), rows.counts(), n_nodes);
            for map in [
                AdditiveMap::nystroem(AdditiveKernel::Intersection, &nodes).unwrap(),
                AdditiveMap::polynomial(AdditiveKernel::Chi2, &PAPER_NODES).unwrap(),
            ] {
                let costs = vec![0.01; n];
                let targets = OneVsRest::new(&codes, classes);
                let problem = DualProblem { rows: &rows, map: &map, targets, loss, costs: &costs };
                let all = 0..targets.n_problems();
                let exact = Tables::<f64>::new(&map, rows.book());
                let exact_diagonal = exact.diagonal(&rows);
                let truth: Vec<Solved> = all
                    .clone()
                    .map(|k| {
                        one_class::solve(&problem, &exact, &exact_diagonal, k, &settings(), &Monitor::none()).unwrap()
                    })
                    .collect();
                let tables = Tables::<f32>::new(&map, rows.book());
                let diagonal = tables.diagonal(&rows);
                let single = one_class::solve(&problem, &tables, &diagonal, 0, &settings(), &Monitor::none()).unwrap();
                assert_alike(&single, &truth[0], "single precision");
                let Entries::Narrow(entries) = rows.entries() else { panic!("12,000 values fit a narrow book") };
                for isa in Isa::available() {
                    let pass = Pass { problem: &problem, tables: &tables, diagonal: &diagonal, entries };
                    let shard = Shard { pass, frame: frame(&problem, isa) };
                    let solved = shard.run(all.clone(), &settings(), &Monitor::none()).unwrap();
                    for (ours, truth) in solved.iter().zip(&truth) {
                        assert_alike(ours, truth, &format!("{isa:?} {classes} classes {n_nodes} nodes"));
                    }
                }
            }
        }
    }

    fn assert_alike(ours: &Solved, truth: &Solved, what: &str) {
        assert_eq!((ours.epochs, ours.status), (truth.epochs, truth.status), "{what}");
        let largest = truth.weights.iter().fold(0.0f32, |a, w| a.max(w.abs()));
        for (ours, truth) in ours.weights.iter().zip(&truth.weights) {
            assert!((ours - truth).abs() <= 1e-5 * largest, "{what}: {ours} {truth} of {largest}");
        }
        let gap = ours.certificate.gap() - truth.certificate.gap();
        assert!(gap.abs() < 1e-5, "{what}: {gap}");
    }

    #[test]
    fn shards_cover_the_problems_and_share_them_evenly() {
        for (problems, nodes, threads, sizes) in [
            (1, 3, 2, vec![1]),
            (10, 3, 1, vec![10]),
            (10, 3, 2, vec![5, 5]),
            (96, 3, 2, vec![16; 6]),
            (20, 16, 1, vec![4; 5]),
            (3, 3, 8, vec![1, 1, 1]),
        ] {
            let shards = shards(problems, nodes, threads);
            assert_eq!(shards.iter().map(|s| s.len()).collect::<Vec<_>>(), sizes);
            assert_eq!((shards[0].start, shards[shards.len() - 1].end), (0, problems));
        }
        assert_eq!(squeeze(0b1010_0101, 0b1111_0000), 0b1010);
    }
}
