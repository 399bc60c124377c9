//! Computations on one block of rows: scores, derivatives of the losses, rows that came to another piece of theirs,
//! leave-one-out decision values.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::feature_map::FeatureMap;
use super::path::Problems;
use super::row_sums::{LeaveOneOutSums, PointSums, RowsShape};
use crate::draw::{fold_of, is_drawn};
use crate::linalg::factor::{Matrix, Side, dot, lower_times, product, stacked};
use crate::problem::{HeldOutScores, LossPieces, OneVsRest, PieceAt, ProblemTargets, SmoothLoss, count};
use crate::tuning::{MAX_ROWS_TO_CALIBRATE, MIN_RESIDUAL_LEVERAGE_IN_BLOCKS, N_FOLDS};

/// The features of some rows times √w, one column per row.
#[derive(Clone)]
pub(crate) enum Block {
    /// In the form used by the solver.
    Lifted(Matrix),
    /// Kernel values and polynomials, which are much cheaper: mapping them takes bases² per row.
    Raw {
        /// Bases × rows.
        phi: Matrix,
        /// Polynomials × rows.
        polynomials: Matrix,
    },
}

impl Block {
    /// z of the rows, problems × rows.
    fn scores(&self, points: &Points) -> Matrix {
        match self {
            Block::Lifted(features) => transposed_product(&points.features, features),
            Block::Raw { phi, polynomials } => {
                let mut scores = transposed_product(&points.alpha, phi);
                let rest = transposed_product(&points.beta, polynomials);
                for row in 0..scores.n_cols() {
                    scores.col_mut(row).iter_mut().zip(rest.col(row)).for_each(|(z, more)| *z += more);
                }
                scores
            }
        }
    }

    /// Sums of the rows times `pulls` (rows × problems), in this form of the features.
    fn weighted_sum(&self, pulls: &Matrix) -> Matrix {
        match self {
            Block::Lifted(features) => plain_product(features, pulls),
            Block::Raw { phi, polynomials } => stacked(&plain_product(phi, pulls), &plain_product(polynomials, pulls)),
        }
    }

    /// The features of some of the rows.
    pub fn columns(&self, feature_map: &FeatureMap, rows: &[usize]) -> Matrix {
        match self {
            Block::Lifted(features) => features.select_cols(rows),
            Block::Raw { phi, polynomials } => {
                feature_map.features(phi.select_cols(rows), &polynomials.select_cols(rows))
            }
        }
    }
}

/// Columns up to which products with each take less time than a product of matrices.
const MAX_COLUMNS: usize = 4;

/// AᵀB for an A of one column per problem. Of few problems, the numbers of each are those that it has alone.
fn transposed_product(a: &Matrix, b: &Matrix) -> Matrix {
    if a.n_cols() > MAX_COLUMNS {
        return product(Side::Transposed(a), Side::Plain(b));
    }
    let rows: Vec<Vec<f64>> = (0..a.n_cols()).map(|problem| b.transposed_times(a.col(problem))).collect();
    Matrix::from_columns(rows.concat(), b.n_cols(), rows.len()).transposed()
}

/// AB for a B of one column per problem, likewise.
fn plain_product(a: &Matrix, b: &Matrix) -> Matrix {
    if b.n_cols() > MAX_COLUMNS {
        return product(Side::Plain(a), Side::Plain(b));
    }
    let columns: Vec<Vec<f64>> = (0..b.n_cols()).map(|problem| a.times(b.col(problem))).collect();
    Matrix::from_columns(columns.concat(), a.n_rows(), b.n_cols())
}

/// One point per problem, in both forms of the features.
pub(crate) struct Points {
    features: Matrix,
    alpha: Matrix,
    beta: Matrix,
}

impl Points {
    /// Built from concatenated points.
    pub fn new(points: &[f64], feature_map: &FeatureMap, shape: RowsShape) -> Self {
        let k = shape.n_problems;
        let features = Matrix::from_columns(points.to_vec(), shape.width(), k);
        let (alpha, beta): (Vec<_>, Vec<_>) =
            (0..k).map(|problem| feature_map.coefficients(features.col(problem))).unzip();
        let matrix = |columns: Vec<Vec<f64>>, n| Matrix::from_columns(columns.concat(), n, k);
        let (alpha, beta) = (matrix(alpha, feature_map.n_bases()), matrix(beta, feature_map.columns.n_rows()));
        Points { features, alpha, beta }
    }
}

/// Constant data of each row.
#[derive(Clone, Copy)]
pub(crate) struct RowData<'a> {
    pub targets: ProblemTargets<'a>,
    /// √w; 0 for an excluded row.
    pub roots: &'a [f64],
    /// The part of the weight removed by leave-one-out; 0 of a row that is a basis. It is not judged: without its loss,
    /// the coefficient of its own basis is left to the others, which is no question that a new sample asks.
    pub units: &'a [f64],
}

impl RowData<'_> {
    /// The share of a row that belongs to a fold. A row is as many samples as its weight has units, which are dealt to
    /// the folds in turn: otherwise the copies of a sample would all be excluded together, and those of the same sample
    /// in another class, a row of its own, would not.
    pub fn share_in(&self, fold: u32, row: usize) -> f64 {
        let copies = count(self.roots[row] * self.roots[row], self.units[row]).min(1e9) as u32;
        let first = (fold + N_FOLDS - fold_of(row, N_FOLDS as usize) as u32) % N_FOLDS;
        let absent = copies / N_FOLDS + u32::from(first < copies % N_FOLDS);
        f64::from(absent) / f64::from(copies)
    }
}

/// The state of the rows, `[problem][row]`; empty at the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowsState {
    /// z at the current point.
    pub scores: Vec<f64>,
    /// z at the point evaluated last.
    pub ahead: Vec<f64>,
    /// The share of the row that is counted in the problem's Hessian.
    pub counted: Vec<f32>,
    /// The fold whose copies of samples are excluded.
    pub absent: Option<u32>,
    /// The loss of each problem.
    pub losses: Vec<SmoothLoss>,
    /// The multipliers of rounded losses; empty if there are none, or all are 0.
    pub multipliers: Vec<f64>,
    /// Those of the fits of all rows and without each fold, while another one is solved.
    pub multipliers_of_others: Vec<Vec<f64>>,
}

impl RowsState {
    pub(crate) fn new(n: usize) -> Self {
        let zeros = vec![0.0; n];
        RowsState { scores: zeros.clone(), ahead: zeros, counted: vec![0.0; n], ..RowsState::default() }
    }

    /// The target of a row in a problem times the root of its weight, and the pieces of its loss.
    #[inline]
    pub(crate) fn goal(&self, row_data: RowData<'_>, row: usize, problem: usize) -> (f64, LossPieces) {
        let (root, y) = (row_data.roots[row], row_data.targets.value(row, problem));
        let multiplier = self.multipliers.get(problem * row_data.roots.len() + row).copied().unwrap_or(0.0);
        (root * y, self.losses[problem].pieces(y, root, multiplier))
    }

    /// Whether a loss is rounded.
    pub(crate) fn are_rounded(&self) -> bool {
        self.losses.iter().any(|loss| loss.is_rounded())
    }

    /// The derivatives of rounded losses at the current points: the multipliers of the next, narrower ones.
    pub(crate) fn derivatives(&self, row_data: RowData<'_>) -> Vec<f64> {
        let n = row_data.roots.len().max(1);
        let one = |(at, z): (usize, &f64)| {
            let (row, problem) = (at % n, at / n);
            let (goal, pieces) = self.goal(row_data, row, problem);
            pieces.at(goal - z).pull / (self.losses[problem].width * row_data.roots[row]).max(f64::MIN_POSITIVE)
        };
        self.scores.iter().enumerate().map(one).collect()
    }

    /// Excludes a fold, or none. Rounded losses go on with the multipliers of the last fit without it, or of that of all
    /// rows.
    pub(crate) fn exclude(&mut self, row_data: RowData<'_>, fold: Option<u32>) {
        if self.are_rounded() {
            self.multipliers_of_others.resize(1 + N_FOLDS as usize, Vec::new());
            let place = |fold: Option<u32>| fold.map_or(0, |fold| 1 + fold as usize);
            self.multipliers_of_others[place(self.absent)] = self.derivatives(row_data);
            self.multipliers = std::mem::take(&mut self.multipliers_of_others[place(fold)]);
            if self.multipliers.is_empty() {
                self.multipliers.clone_from(&self.multipliers_of_others[0]);
            }
        }
        self.absent = fold;
    }

    /// The share of a row that belongs to the excluded fold.
    pub(crate) fn absent_share(&self, row_data: RowData<'_>, row: usize) -> f64 {
        self.absent.map_or(0.0, |fold| row_data.share_in(fold, row))
    }

    /// The rest of it times the row's weight in a problem, as the Hessian counts it.
    pub(crate) fn present_share(&self, row_data: RowData<'_>, row: usize, problem: usize) -> f64 {
        f64::from((row_data.targets.weight(row, problem) * (1.0 - self.absent_share(row_data, row))) as f32)
    }
}

/// The results of a block for the live problems.
#[derive(Default)]
pub(crate) struct BlockEvaluation {
    pub rows: Range<usize>,
    /// z at the points, one vector per live problem; empty if the current points were evaluated.
    pub ahead: Vec<Vec<f64>>,
    /// The share of a row that is to be counted, one vector per live problem.
    pub active: Vec<Vec<f32>>,
    /// Sums in the block's form of the features.
    pub sums: Vec<PointSums>,
    /// Features of the rows whose counting changed in any live problem, if requested.
    pub changed: Matrix,
    /// Which of these changed in each live problem, and by which share.
    pub changes: Vec<Vec<(usize, f64)>>,
}

/// Evaluates a block at the points, or at the current ones.
pub(crate) fn evaluate(
    (row_data, state, feature_map): (RowData<'_>, &RowsState, &FeatureMap),
    (rows, block): (Range<usize>, &Block),
    live: &[usize],
    points: Option<&Points>,
    wants_changes: bool,
) -> BlockEvaluation {
    let (n, k, all) = (rows.len(), row_data.targets.n_problems(), row_data.roots.len());
    let scores = points.map(|points| block.scores(points));
    let mut pulls = Matrix::zeros(n, k);
    let (mut place, mut changed) = (vec![usize::MAX; n], Vec::new());
    let mut evaluation = BlockEvaluation { rows: rows.clone(), ..BlockEvaluation::default() };
    for &problem in live {
        let own = problem * all + rows.start..problem * all + rows.end;
        let z: Vec<f64> = match &scores {
            Some(scores) => (0..n).map(|i| scores.at(problem, i)).collect(),
            None => state.scores[own.clone()].to_vec(),
        };
        let (mut sums, mut changes, mut active) = (PointSums::default(), Vec::new(), vec![0.0; n]);
        for (i, counted) in state.counted[own.clone()].iter().enumerate() {
            let row = rows.start + i;
            let present = state.present_share(row_data, row, problem);
            sums.size = sums.size.max(z[i].abs());
            if present > 0.0 && row_data.roots[row] > 0.0 {
                let (goal, pieces) = state.goal(row_data, row, problem);
                let (residual, before) = (goal - z[i], pieces.piece(goal - state.scores[own.start + i]));
                let at = pieces.at(residual);
                if at.is_active {
                    active[i] = present as f32;
                    sums.curved += present * row_data.roots[row] * row_data.roots[row];
                }
                pulls.set(i, problem, present * at.pull);
                sums.loss += present * at.value;
                sums.linear += present * at.pull * goal;
                sums.pulls += present * at.pull.abs() * row_data.roots[row];
                sums.n_support += u64::from(at.pull != 0.0);
                let exact = pieces.exact(residual, at);
                (0..2).for_each(|at| sums.exact[at] += present * exact[at]);
                if pieces.piece(residual) != before {
                    let distance = pieces.distance(residual, before);
                    sums.crossing = sums.crossing.max(distance).max(f64::MIN_POSITIVE);
                }
            }
            if active[i] != *counted {
                if place[i] == usize::MAX {
                    place[i] = changed.len();
                    changed.push(i);
                }
                changes.push((place[i], f64::from(active[i]) - f64::from(*counted)));
            }
        }
        if scores.is_some() {
            evaluation.ahead.push(z);
        }
        evaluation.active.push(active);
        evaluation.sums.push(sums);
        evaluation.changes.push(changes);
    }
    // For all problems, including those that are not live: the shape of a product can change its last bits.
    let weighted_sum = block.weighted_sum(&pulls);
    for (sums, &problem) in evaluation.sums.iter_mut().zip(live) {
        sums.right = weighted_sum.col(problem).to_vec();
    }
    if wants_changes && !changed.is_empty() {
        evaluation.changed = block.columns(feature_map, &changed);
    }
    evaluation
}

/// R of a row's leverage ‖R x‖², in its two parts.
pub(crate) struct Root {
    lower: Matrix,
    below: Matrix,
}

impl Root {
    /// Built from a column-major square.
    pub fn new(values: &[f64], shape: RowsShape) -> Self {
        let (b, p) = (shape.n_penalized, shape.width());
        let part = |rows: Range<usize>, n_cols: usize| {
            let columns = values.chunks(p.max(1)).take(n_cols).flat_map(|column| &column[rows.clone()]);
            Matrix::from_columns(columns.copied().collect(), rows.len(), n_cols)
        };
        Root { lower: part(0..b, b), below: part(b..p, p) }
    }

    /// The leverage of each row for a weight of 1 in the problem.
    fn leverages(&self, features: &Matrix) -> Vec<f64> {
        let b = self.lower.n_rows();
        let penalized = features.select_row_range(0..b);
        let (above, below) =
            (lower_times(&self.lower, &penalized), product(Side::Plain(&self.below), Side::Plain(features)));
        let square = |x: &[f64]| dot(x, x);
        (0..features.n_cols()).map(|col| square(above.col(col)) + square(below.col(col))).collect()
    }
}

/// Leave-one-out decision values of a block's rows, one vector per problem, and their sums.
pub(crate) fn leave_out(
    (row_data, state, feature_map): (RowData<'_>, &RowsState, &FeatureMap),
    (rows, block): (Range<usize>, &Block),
    roots: &[Root],
) -> (LeaveOneOutSums, Vec<Vec<f64>>) {
    let (n, all) = (rows.len(), row_data.roots.len());
    // The derivatives of the losses of the rows; a row without one is not missed when it is left out.
    let of_problem = |problem: usize| -> Vec<PieceAt> {
        let scores = &state.scores[problem * all + rows.start..];
        let at = |(i, row): (usize, usize)| {
            let (goal, pieces) = state.goal(row_data, row, problem);
            let present = state.present_share(row_data, row, problem) > 0.0 && row_data.roots[row] > 0.0;
            pieces.at(if present { goal - scores[i] } else { 0.0 })
        };
        rows.clone().enumerate().map(at).collect()
    };
    let derivatives: Vec<Vec<PieceAt>> = (0..roots.len()).map(of_problem).collect();
    let is_support = |problem: usize, i: usize| derivatives[problem][i].pull != 0.0;
    let some: Vec<usize> = (0..n).filter(|&i| (0..roots.len()).any(|problem| is_support(problem, i))).collect();
    let features = block.columns(feature_map, &some);
    let undetermined = if matches!(row_data.targets, ProblemTargets::Classes(_)) { 0.0 } else { f64::INFINITY };
    let mut values = Vec::with_capacity(roots.len());
    for (problem, root) in roots.iter().enumerate() {
        let scores = &state.scores[problem * all + rows.start..];
        let scale = |i: usize| row_data.roots[rows.start + i];
        let plain = |i: usize| if scale(i) > 0.0 { scores[i] / scale(i) } else { 0.0 };
        let mut mine: Vec<f64> = (0..n).map(plain).collect();
        let support: Vec<usize> = (0..some.len()).filter(|&at| is_support(problem, some[at])).collect();
        let leverages = root.leverages(&features.select_cols(&support));
        for (&at, leverage) in support.iter().zip(leverages) {
            let (i, row) = (some[at], rows.start + some[at]);
            let PieceAt { pull, is_active, .. } = derivatives[problem][i];
            let share = row_data.units[row] / (scale(i) * scale(i));
            let leverage = share * state.present_share(row_data, row, problem) * leverage;
            // Of the squared hinge, with A the bordered matrix of the violators, this is the paper's 1 − y_i α_i /
            // [A⁻¹]_ii, since y_i α_i = ξ_i / λ and λ [A⁻¹]_ii = 1 − leverage.
            let rest = if is_active { 1.0 - leverage.clamp(0.0, share) } else { 1.0 };
            let value = || mine[i] - leverage * (pull / scale(i)) / rest;
            mine[i] = if rest > MIN_RESIDUAL_LEVERAGE_IN_BLOCKS { value() } else { undetermined };
        }
        values.push(mine);
    }
    let mut sums = LeaveOneOutSums::default();
    for (i, row) in rows.enumerate() {
        sums.add((row_data, &state.losses), (row, 1.0), values.iter().map(|values| values[i]));
    }
    (sums, values)
}

/// Sums of the current decision values of the rows of the absent fold.
pub(crate) fn absent_rows(row_data: RowData<'_>, state: &RowsState) -> LeaveOneOutSums {
    let n = row_data.roots.len();
    let mut sums = LeaveOneOutSums::default();
    for row in (0..n).filter(|&row| row_data.roots[row] > 0.0) {
        let share = state.absent_share(row_data, row);
        if share > 0.0 {
            let values = state.scores.chunks(n).map(|scores| scores[row] / row_data.roots[row]);
            sums.add((row_data, &state.losses), (row, share), values);
        }
    }
    sums
}

impl LeaveOneOutSums {
    /// Of decision values that are all known, one vector per problem.
    pub(crate) fn of(values: &[Vec<f64>], problems: &Problems<'_>) -> Self {
        let (roots, mut sums) = (problems.roots(), LeaveOneOutSums::default());
        let row_data = RowData { targets: problems.targets.into(), roots: &roots, units: problems.units };
        for row in 0..roots.len() {
            sums.add((row_data, &[]), (row, 1.0), values.iter().map(|values| values[row]));
        }
        LeaveOneOutSums { some: HeldOutScores::default(), ..sums }
    }

    /// Adds a share of a row with its decision value in each problem.
    pub(super) fn add(
        &mut self,
        (row_data, losses): (RowData<'_>, &[SmoothLoss]),
        (row, share): (usize, f64),
        values: impl Iterator<Item = f64>,
    ) {
        if row_data.units[row] == 0.0 {
            return;
        }
        let values: Vec<f64> = values.collect();
        let weight = share * row_data.roots[row] * row_data.roots[row];
        let is_drawn = weight > 0.0 && is_drawn(row, row_data.roots.len().div_ceil(MAX_ROWS_TO_CALIBRATE));
        let code = match row_data.targets {
            ProblemTargets::Classes(targets) => {
                self.add_classes(targets, row, (weight, &values));
                targets.code(row)
            }
            ProblemTargets::Outputs { .. } => {
                self.of_outputs.resize(values.len(), [0.0; 3]);
                for (output, value) in values.iter().enumerate() {
                    let loss = losses[output].loss.value(row_data.targets.value(row, output), *value);
                    let terms = [weight * loss, weight * loss * loss, weight];
                    self.of_outputs[output].iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
                0
            }
        };
        if is_drawn {
            let found = (0..values.len()).map(|problem| match row_data.targets {
                ProblemTargets::Classes(_) => values[problem],
                outputs => outputs.value(row, problem) - values[problem],
            });
            self.some.push(found, code, weight, count(weight, row_data.units[row]));
        }
    }

    /// Adds the decision values of a row of classes or labels.
    fn add_classes(&mut self, targets: OneVsRest<'_>, row: usize, (weight, values): (f64, &[f64])) {
        if self.of_groups.is_empty() {
            self.is_multilabel = targets.is_multilabel();
            self.of_groups = vec![[0.0; 2]; targets.n_classes()];
        }
        if !self.is_multilabel {
            let [wrong, all] = &mut self.of_groups[targets.code(row) as usize];
            *wrong += weight * targets.mistakes(row, values);
            *all += weight;
        }
        for (problem, value) in values.iter().enumerate() {
            let weight = weight * targets.weight(row, problem);
            if self.is_multilabel {
                let [wrong, all] = &mut self.of_groups[problem];
                *all += weight;
                *wrong += if (*value > 0.0) == (targets.sign(row, problem) > 0.0) { 0.0 } else { weight };
            }
            self.hinge += weight * (1.0 - targets.sign(row, problem) * value).max(0.0).powi(2);
        }
    }
}
