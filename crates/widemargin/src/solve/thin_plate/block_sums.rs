//! Computations on one block of rows: scores, slacks, rows that crossed the margin, leave-one-out decision values.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::feature_map::FeatureMap;
use super::path::Problems;
use super::row_sums::{LeaveOneOutSums, PointSums, RowsShape};
use crate::draw::{fold_of, is_drawn};
use crate::linalg::factor::{Matrix, Side, dot, lower_times, product, stacked};
use crate::problem::{HeldOutScores, OneVsRest, count};
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
            Block::Lifted(features) => product(Side::Transposed(&points.features), Side::Plain(features)),
            Block::Raw { phi, polynomials } => {
                let mut scores = product(Side::Transposed(&points.alpha), Side::Plain(phi));
                let rest = product(Side::Transposed(&points.beta), Side::Plain(polynomials));
                for row in 0..scores.n_cols() {
                    scores.col_mut(row).iter_mut().zip(rest.col(row)).for_each(|(z, more)| *z += more);
                }
                scores
            }
        }
    }

    /// Sums of the rows times `slacks` (rows × problems), in this form of the features.
    fn weighted_sum(&self, slacks: &Matrix) -> Matrix {
        match self {
            Block::Lifted(features) => product(Side::Plain(features), Side::Plain(slacks)),
            Block::Raw { phi, polynomials } => stacked(
                &product(Side::Plain(phi), Side::Plain(slacks)),
                &product(Side::Plain(polynomials), Side::Plain(slacks)),
            ),
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
    pub targets: OneVsRest<'a>,
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
}

impl RowsState {
    pub(crate) fn new(n: usize) -> Self {
        RowsState { scores: vec![0.0; n], ahead: vec![0.0; n], counted: vec![0.0; n], absent: None }
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
    /// The share of a row that is inside the margin, one vector per live problem.
    pub inside: Vec<Vec<f32>>,
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
    let mut slacks = Matrix::zeros(n, k);
    let (mut place, mut changed) = (vec![usize::MAX; n], Vec::new());
    let mut evaluation = BlockEvaluation { rows: rows.clone(), ..BlockEvaluation::default() };
    for &problem in live {
        let own = problem * all + rows.start..problem * all + rows.end;
        let z: Vec<f64> = match &scores {
            Some(scores) => (0..n).map(|i| scores.at(problem, i)).collect(),
            None => state.scores[own.clone()].to_vec(),
        };
        let (mut sums, mut changes, mut inside) = (PointSums::default(), Vec::new(), vec![0.0; n]);
        for (i, counted) in state.counted[own].iter().enumerate() {
            let (root, sign) = (row_data.roots[rows.start + i], row_data.targets.sign(rows.start + i, problem));
            let present = state.present_share(row_data, rows.start + i, problem);
            let slack = if present > 0.0 { root - sign * z[i] } else { 0.0 };
            sums.size = sums.size.max(z[i].abs());
            if slack > 0.0 {
                inside[i] = present as f32;
                slacks.set(i, problem, present * sign * slack);
                sums.loss += present * slack * slack;
                sums.slack_sum += present * slack * root;
                sums.n_inside += 1;
            }
            if inside[i] != *counted {
                sums.crossing = sums.crossing.max(slack.abs()).max(f64::MIN_POSITIVE);
                if place[i] == usize::MAX {
                    place[i] = changed.len();
                    changed.push(i);
                }
                changes.push((place[i], f64::from(inside[i]) - f64::from(*counted)));
            }
        }
        if scores.is_some() {
            evaluation.ahead.push(z);
        }
        evaluation.inside.push(inside);
        evaluation.sums.push(sums);
        evaluation.changes.push(changes);
    }
    // For all problems, including those that are not live: the shape of a product can change its last bits.
    let weighted_sum = block.weighted_sum(&slacks);
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
    let counted = |problem: usize, i: usize| state.counted[problem * all + rows.start + i] > 0.0;
    let some: Vec<usize> = (0..n).filter(|&i| (0..roots.len()).any(|problem| counted(problem, i))).collect();
    let features = block.columns(feature_map, &some);
    let mut values = Vec::with_capacity(roots.len());
    for (problem, root) in roots.iter().enumerate() {
        let scores = &state.scores[problem * all + rows.start..];
        let scale = |i: usize| row_data.roots[rows.start + i];
        let plain = |i: usize| if scale(i) > 0.0 { scores[i] / scale(i) } else { 0.0 };
        let mut mine: Vec<f64> = (0..n).map(plain).collect();
        let inside: Vec<usize> = (0..some.len()).filter(|&at| counted(problem, some[at])).collect();
        let leverages = root.leverages(&features.select_cols(&inside));
        for (&at, leverage) in inside.iter().zip(leverages) {
            let i = some[at];
            let (weight_root, sign) = (scale(i), row_data.targets.sign(rows.start + i, problem));
            // With A the bordered matrix of the violators this is the paper's 1 − y_i α_i / [A⁻¹]_ii, since y_i α_i =
            // ξ_i / λ and λ [A⁻¹]_ii = 1 − leverage.
            let leverage = (f64::from(state.counted[problem * all + rows.start + i]) * leverage).clamp(0.0, 1.0);
            let rest = 1.0 - row_data.units[rows.start + i] / (weight_root * weight_root) * leverage;
            let slack = 1.0 - sign * scores[i] / weight_root;
            mine[i] = sign * if rest > MIN_RESIDUAL_LEVERAGE_IN_BLOCKS { 1.0 - slack / rest } else { 0.0 };
        }
        values.push(mine);
    }
    let mut sums = LeaveOneOutSums::default();
    for (i, row) in rows.enumerate() {
        sums.add(row_data, (row, 1.0), values.iter().map(|values| values[i]));
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
            sums.add(row_data, (row, share), values);
        }
    }
    sums
}

impl LeaveOneOutSums {
    /// Of decision values that are all known, one vector per problem.
    pub(crate) fn of(values: &[Vec<f64>], problems: &Problems<'_>) -> Self {
        let (roots, mut sums) = (problems.roots(), LeaveOneOutSums::default());
        let row_data = RowData { targets: problems.targets, roots: &roots, units: problems.units };
        for row in 0..roots.len() {
            sums.add(row_data, (row, 1.0), values.iter().map(|values| values[row]));
        }
        LeaveOneOutSums { some: HeldOutScores::default(), ..sums }
    }

    /// Adds a share of a row with its decision value in each problem.
    pub(super) fn add(&mut self, row_data: RowData<'_>, (row, share): (usize, f64), values: impl Iterator<Item = f64>) {
        if row_data.units[row] == 0.0 {
            return;
        }
        let values: Vec<f64> = values.collect();
        let weight = share * row_data.roots[row] * row_data.roots[row];
        let (targets, code) = (row_data.targets, row_data.targets.code(row));
        if self.of_groups.is_empty() {
            self.is_multilabel = targets.is_multilabel();
            self.of_groups = vec![[0.0; 2]; targets.n_classes()];
        }
        if !self.is_multilabel {
            let [wrong, all] = &mut self.of_groups[code as usize];
            *wrong += weight * targets.mistakes(row, &values);
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
        if weight > 0.0 && is_drawn(row, row_data.roots.len().div_ceil(MAX_ROWS_TO_CALIBRATE)) {
            self.some.push(values, code, weight, count(weight, row_data.units[row]));
        }
    }
}
