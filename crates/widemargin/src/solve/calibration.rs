//! Probabilities from decision values, calibrated on decision values of samples that the fit did not see.
//!
//! Two classes: P(second class) = 1 / (1 + exp(−a f)), Platt's sigmoid (1999) through (0, ½). More classes:
//! P(k) = exp(g(f_k)) / Σ_j exp(g(f_j)), with one increasing function g for all classes, linear on each side of and
//! between the margins −1 and 1: three slopes, a temperature that may differ beyond the margins, where a squared hinge
//! asks for nothing more. Since a is above 0 and g increases, the most probable class is the predicted one.
//!
//! Multilabel: each label has a sigmoid of its own, as two classes have, on the samples whose label is known.
//!
//! The slopes minimize the log loss of the leave-one-out decision values, weighted, against Platt's smoothed targets:
//! of n samples each has the probability (n + 1) / (n + 2) of its own class, and the others share the rest. Platt
//! counts the samples of each class, for an offset of each class; here all samples determine the same few slopes. The
//! loss is convex; it is minimized by Newton's method with a line search (Lin, Lin & Weng 2007), projected onto the
//! bounds of the slopes.

use serde::{Deserialize, Serialize};

use crate::linalg::factor::{Cholesky, Matrix, dot};
use crate::macros::named;
use crate::problem::{HeldOutScores, OneVsRest, n_problems};
use crate::tuning::{MAX_TEMPERATURE_SLOPE, MIN_OF_THREE_SLOPES, MIN_TEMPERATURE_SLOPE, SLOPE_PENALTY};

/// Relative decrease of the loss below which a step is the last.
const CALIBRATION_LOSS_TOL: f64 = 1e-10;

/// Gradient at the minimum, relative to the sum of the weights and the scale of the decision values.
const CALIBRATION_GRADIENT_TOL: f64 = 1e-10;

/// Newton steps of a calibration, at most.
const MAX_CALIBRATION_STEPS: usize = 100;

/// The decision values between which g has a slope of its own.
const MARGINS: [f64; 2] = [-1.0, 1.0];

/// The slope where nothing was calibrated: a squared hinge estimates 2P − 1, which is tanh(a f / 2) to first order.
const UNCALIBRATED_SLOPE: f64 = 2.0;

/// The kind of decision values of a calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CalibratedOn {
    /// Leave-one-out decision values of the training samples, in closed form.
    LeaveOneOut,
    /// Decision values of samples held out of a second fit, which starts at the solution.
    HeldOut,
    /// None: the slopes are assumed.
    #[default]
    Nothing,
}

named!("calibration": CalibratedOn {
    "leave-one-out" = CalibratedOn::LeaveOneOut,
    "held-out" = CalibratedOn::HeldOut,
    "nothing" = CalibratedOn::Nothing,
});

/// The conversion of decision values to probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// a for two classes; for more the slopes of g below −1, between −1 and 1, and above 1; a of each label if
    /// multilabel. All above 0.
    slopes: Vec<f64>,
    on: String,
    /// The number of distinct samples it is calibrated on.
    n_samples: usize,
}

impl Calibration {
    /// The calibration on these scores; the assumed one if there are none, or numbers that are not finite.
    pub(crate) fn fit(scores: &HeldOutScores, n_classes: usize, on: CalibratedOn) -> Self {
        let total: f64 = scores.weights.iter().sum();
        let is_finite = scores.values.iter().all(|value| value.is_finite()) && !scores.values.is_empty();
        let usable = total > 0.0 && total.is_finite() && is_finite;
        if !usable {
            return Calibration::assumed(n_classes);
        }
        let n_samples = scores.codes.len();
        let squares = scores.values.iter().map(|value| value * value).sum::<f64>();
        let scale = (squares / scores.values.len() as f64).sqrt();
        if scale == 0.0 {
            return Calibration { on: on.to_string(), n_samples, ..Calibration::assumed(n_classes) };
        }
        let targets = SmoothedTargets::new(scores, n_classes);
        let unit = 1.0 / scale;
        let one = LogLoss { scores, targets, n_classes, prior: None };
        let [a] = minimum(&one, [unit], MIN_TEMPERATURE_SLOPE * unit, MAX_TEMPERATURE_SLOPE * unit, scale);
        let slopes = if n_classes == 2 {
            vec![a]
        } else {
            let three = LogLoss { scores, targets, n_classes, prior: Some(a) };
            minimum(&three, [a; 3], MIN_OF_THREE_SLOPES * a, MAX_TEMPERATURE_SLOPE * unit, scale).to_vec()
        };
        Calibration { slopes, on: on.to_string(), n_samples }
    }

    /// The calibration on these scores of samples with these targets, which number the codes of the scores.
    pub(crate) fn of(scores: &HeldOutScores, targets: OneVsRest<'_>, on: CalibratedOn) -> Self {
        let k = targets.n_problems();
        if !targets.is_multilabel() {
            return Calibration::fit(scores, targets.n_classes(), on);
        }
        let targets = targets.with_codes(&scores.codes);
        let of_label = |label: usize| {
            let mut known = HeldOutScores::default();
            for (row, weight) in scores.weights.iter().enumerate() {
                let weight = weight * targets.weight(row, label);
                if weight > 0.0 {
                    known.values.push(scores.values[row * k + label]);
                    known.codes.push(u32::from(targets.sign(row, label) > 0.0));
                    known.weights.push(weight);
                }
            }
            Calibration::fit(&known, 2, on)
        };
        let labels: Vec<Calibration> = (0..k).map(of_label).collect();
        let is_on = labels.iter().any(|label| label.on() == on);
        let slopes = labels.into_iter().flat_map(|label| label.slopes).collect();
        let (on, n_samples) = if is_on { (on, scores.codes.len()) } else { (CalibratedOn::Nothing, 0) };
        Calibration { slopes, on: on.to_string(), n_samples }
    }

    /// The calibration of a model without held-out scores.
    pub(crate) fn assumed(n_classes: usize) -> Self {
        let n_slopes = if n_classes == 2 { 1 } else { MARGINS.len() + 1 };
        Calibration { slopes: vec![UNCALIBRATED_SLOPE; n_slopes], on: CalibratedOn::Nothing.to_string(), n_samples: 0 }
    }

    /// The problem of a calibration that was read, for a model with this number of classes, or labels if multilabel.
    pub(crate) fn problem(&self, n_classes: usize, is_multilabel: bool) -> Option<String> {
        let n_slopes = match n_classes {
            labels if is_multilabel => labels,
            2 => 1,
            _ => MARGINS.len() + 1,
        };
        let is_sound = |slope: &f64| *slope > 0.0 && slope.is_finite();
        let sound = self.slopes.len() == n_slopes && self.slopes.iter().all(is_sound);
        (!sound).then(|| format!("the slopes {:?} of its probabilities, expected {n_slopes} above 0", self.slopes))
    }

    /// The probabilities of the classes, samples × classes, of decision values, samples × problems. The largest of a
    /// sample is that of the class with the largest decision value, the first of several.
    pub fn probabilities(&self, values: &[f64], n_classes: usize) -> Vec<f64> {
        self.of_log_odds(values, n_classes, |scores, out| {
            let predicted = OneVsRest::decide(scores);
            softmax(out, predicted);
            // Decision values next to each other may round to the same probability.
            if out[..predicted].contains(&out[predicted]) {
                out[predicted] *= 1.0 + 2.0 * f64::EPSILON;
            }
        })
    }

    /// What `finish` makes of each sample's scores and logits, in place of these: the probabilities are their softmax.
    fn of_log_odds(&self, values: &[f64], n_classes: usize, finish: impl Fn(&[f64], &mut [f64])) -> Vec<f64> {
        let mut out = vec![0.0; values.len() / n_problems(n_classes) * n_classes];
        for (scores, out) in values.chunks_exact(n_problems(n_classes)).zip(out.chunks_exact_mut(n_classes)) {
            for (class, odds) in out.iter_mut().enumerate() {
                let mut parts = [0.0; 3];
                parts_of(scores, class, &mut parts[..self.slopes.len()]);
                *odds = dot(&self.slopes, &parts[..self.slopes.len()]);
            }
            finish(scores, out);
        }
        out
    }
}

#[doc(hidden)]
impl Calibration {
    /// a for two classes; for more the slopes of g below −1, between −1 and 1, and above 1; a of each label if
    /// multilabel.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The decision values of the calibration.
    pub fn on(&self) -> CalibratedOn {
        self.on.parse().unwrap_or_default()
    }

    /// The number of distinct samples.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The probabilities of multilabel decision values, samples × labels, or the logarithms of these. Above ½
    /// where the decision value is above 0.
    pub fn of_labels(&self, values: &[f64], logarithm: bool) -> Vec<f64> {
        let one = |(value, slope): (&f64, &f64)| {
            let z = slope * value;
            // log(1 + e^x) without overflow.
            let log = -((-z).max(0.0) + (-z.abs()).exp().ln_1p());
            if logarithm {
                log
            } else if z > 0.0 {
                log.exp().max(0.5 + f64::EPSILON)
            } else {
                log.exp().min(0.5)
            }
        };
        values.iter().zip(self.slopes.iter().cycle()).map(one).collect()
    }

    /// The logarithms of the probabilities of classes, without underflow.
    pub fn log_probabilities(&self, values: &[f64], n_classes: usize) -> Vec<f64> {
        self.of_log_odds(values, n_classes, |_, out| {
            let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = out.iter().map(|z| (z - largest).exp()).sum::<f64>().ln();
            out.iter_mut().for_each(|z| *z = (*z - largest) - sum);
        })
    }
}

/// In place, where `largest` has the largest exponent.
fn softmax(z: &mut [f64], largest: usize) {
    let largest = z[largest];
    z.iter_mut().for_each(|z| *z = (*z - largest).exp());
    let sum: f64 = z.iter().sum();
    z.iter_mut().for_each(|z| *z /= sum);
}

/// The factor of each slope for one class, so that the sum is the class's log-odds: for two classes 0 and f.
fn parts_of(scores: &[f64], class: usize, parts: &mut [f64]) {
    let score = match scores {
        [score] if class == 1 => *score,
        [_] => 0.0,
        _ => scores[class],
    };
    match parts {
        [part] => *part = score,
        [below, within, above] => {
            *below = (score - MARGINS[0]).min(0.0);
            *within = score.clamp(MARGINS[0], MARGINS[1]);
            *above = (score - MARGINS[1]).max(0.0);
        }
        _ => parts.fill(0.0),
    }
}

/// Platt's targets: the probabilities of a sample's own class and of each other one.
#[derive(Clone, Copy)]
struct SmoothedTargets {
    own: f64,
    other: f64,
}

impl SmoothedTargets {
    fn new(scores: &HeldOutScores, n_classes: usize) -> Self {
        // Weights that add up to less than the number of samples are in other units than samples.
        let total = scores.weights.iter().sum::<f64>().max(scores.codes.len() as f64);
        let rest = 1.0 / (total + 2.0);
        SmoothedTargets { own: (total + 1.0) * rest, other: rest / (n_classes - 1) as f64 }
    }
}

/// The log loss as a function of P slopes.
#[derive(Clone, Copy)]
struct LogLoss<'a, const P: usize> {
    scores: &'a HeldOutScores,
    targets: SmoothedTargets,
    n_classes: usize,
    /// The slope that each tends to.
    prior: Option<f64>,
}

/// Its value, gradient and Hessian.
struct Derivatives<const P: usize> {
    value: f64,
    gradient: [f64; P],
    /// The lower triangle; 0 above it.
    hessian: [[f64; P]; P],
}

impl<const P: usize> LogLoss<'_, P> {
    /// An exponential and about 10 operations for each sample and class, and as many for each slope.
    fn at(&self, slopes: &[f64; P]) -> Derivatives<P> {
        let LogLoss { scores, targets: SmoothedTargets { own, other }, n_classes, prior } = *self;
        let mut found = Derivatives { value: 0.0, gradient: [0.0; P], hessian: [[0.0; P]; P] };
        let (mut parts, mut odds) = (vec![[0.0; P]; n_classes], vec![0.0; n_classes]);
        let rows = scores.values.chunks_exact(n_problems(n_classes));
        for ((row, &code), &weight) in rows.zip(&scores.codes).zip(&scores.weights) {
            let mut largest = f64::NEG_INFINITY;
            for (class, (parts, odds)) in parts.iter_mut().zip(&mut odds).enumerate() {
                parts_of(row, class, parts);
                *odds = dot(slopes, parts);
                largest = largest.max(*odds);
            }
            // Sums over the classes: of exponentials, of the parts under their probabilities, and of all alike.
            let (mut sum, mut mean, mut square) = (0.0, [0.0; P], [[0.0; P]; P]);
            let (mut all_odds, mut all_parts) = (0.0, [0.0; P]);
            for (parts, odds) in parts.iter().zip(&odds) {
                let exponential = (odds - largest).exp();
                sum += exponential;
                all_odds += odds;
                for i in 0..P {
                    let part = exponential * parts[i];
                    mean[i] += part;
                    all_parts[i] += parts[i];
                    for j in 0..=i {
                        square[i][j] += part * parts[j];
                    }
                }
            }
            let (code, more) = (code as usize, own - other);
            found.value += weight * (largest + sum.ln() - other * all_odds - more * odds[code]);
            for i in 0..P {
                mean[i] /= sum;
                found.gradient[i] += weight * (mean[i] - other * all_parts[i] - more * parts[code][i]);
                for j in 0..=i {
                    found.hessian[i][j] += weight * (square[i][j] / sum - mean[i] * mean[j]);
                }
            }
        }
        if let Some(prior) = prior {
            for (i, slope) in slopes.iter().enumerate() {
                let away = slope / prior - 1.0;
                found.value += 0.5 * SLOPE_PENALTY * away * away;
                found.gradient[i] += SLOPE_PENALTY * away / prior;
                found.hessian[i][i] += SLOPE_PENALTY / (prior * prior);
            }
        }
        found
    }
}

/// The minimum with all slopes between two bounds, by projected Newton steps; `scale` is that of the decision values.
fn minimum<const P: usize>(loss: &LogLoss<'_, P>, start: [f64; P], least: f64, most: f64, scale: f64) -> [f64; P] {
    let total: f64 = loss.scores.weights.iter().sum();
    let mut slopes = start.map(|slope| slope.clamp(least, most));
    let mut at = loss.at(&slopes);
    for _ in 0..MAX_CALIBRATION_STEPS {
        let is_at_bound = |i: &usize| {
            let gradient = at.gradient[*i];
            (slopes[*i] <= least && gradient > 0.0) || (slopes[*i] >= most && gradient < 0.0)
        };
        let open: Vec<usize> = (0..P).filter(|i| !is_at_bound(i)).collect();
        if open.iter().all(|&i| at.gradient[i].abs() <= CALIBRATION_GRADIENT_TOL * total * scale) {
            break;
        }
        let step = newton_step(&at, &open);
        let decrement: f64 = -open.iter().zip(&step).map(|(&i, step)| at.gradient[i] * step).sum::<f64>();
        if decrement <= CALIBRATION_LOSS_TOL * at.value {
            // Newton's method converges quadratically: further steps would change nothing.
            for (&i, step) in open.iter().zip(&step) {
                slopes[i] = (slopes[i] + step).clamp(least, most);
            }
            break;
        }
        let mut length = 1.0;
        let next = loop {
            let mut next = slopes;
            for (&i, step) in open.iter().zip(&step) {
                next[i] = (slopes[i] + length * step).clamp(least, most);
            }
            let promised: f64 = open.iter().map(|&i| at.gradient[i] * (next[i] - slopes[i])).sum();
            let found = loss.at(&next);
            if found.value <= at.value + 1e-4 * promised && next != slopes {
                break Some((next, found));
            }
            length *= 0.5;
            if length < 1e-12 {
                break None;
            }
        };
        // Smaller values are equal in double precision.
        let Some((next, found)) = next else { break };
        (slopes, at) = (next, found);
    }
    slopes
}

/// −H⁻¹ g in the open slopes; along −g where H is singular.
fn newton_step<const P: usize>(at: &Derivatives<P>, open: &[usize]) -> Vec<f64> {
    let n = open.len();
    let entry = |place: usize| at.hessian[open[place / n].max(open[place % n])][open[place / n].min(open[place % n])];
    let hessian: Vec<f64> = (0..n * n).map(entry).collect();
    let downhill: Vec<f64> = open.iter().map(|&i| -at.gradient[i]).collect();
    let largest = (0..n).map(|i| hessian[i * n + i]).fold(0.0, f64::max);
    match Cholesky::new(Matrix::from_columns(hessian, n, n)) {
        Some(factor) => factor.solve(downhill),
        None => downhill.into_iter().map(|x| x / largest.max(f64::MIN_POSITIVE)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision values of two classes that mirror each other, so that a sigmoid with an offset has none.
    fn mirrored(weights: [f64; 8]) -> HeldOutScores {
        let right = [0.3, 1.2, -0.4, 2.0, 0.7, -0.1, 1.5, 0.9];
        let values = right.iter().copied().chain(right.iter().map(|f| -f)).collect();
        let codes = (0..16).map(|at| u32::from(at < 8)).collect();
        HeldOutScores { values, codes, weights: [weights, weights].concat(), counts: vec![1.0; 16] }
    }

    /// The slopes that `sklearn.calibration._sigmoid_calibration` of scikit-learn 1.9 finds, with weights and without,
    /// where each class counts for itself; half of all samples are in each.
    #[test]
    fn two_classes_have_the_sigmoid_of_scikit_learn() {
        for (weights, slope) in
            [([1.0; 8], 1.464_362_176_6), ([1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0], 1.944_858_200_5)]
        {
            let scores = mirrored(weights);
            let n: f64 = weights.iter().sum();
            let targets = SmoothedTargets { own: (n + 1.0) / (n + 2.0), other: 1.0 / (n + 2.0) };
            let loss = LogLoss { scores: &scores, targets, n_classes: 2, prior: None };
            let slopes = minimum(&loss, [0.1], 1e-3, 1e3, 1.0).to_vec();
            // Its own minimum is found to seven digits.
            assert!((slopes[0] - slope).abs() < 1e-6, "{slopes:?}");
            let found = Calibration { slopes, ..Calibration::assumed(2) };
            let probabilities = found.probabilities(&[0.5, -0.5], 2);
            assert!((probabilities[1] - 1.0 / (1.0 + (-0.5 * slope).exp())).abs() < 1e-6);
            assert!((probabilities[0] - probabilities[3]).abs() < 1e-15);
        }
    }

    fn three_classes() -> HeldOutScores {
        let mut scores = HeldOutScores::default();
        for i in 0..30usize {
            let class = i % 3;
            let value = |k: usize| ((i * 7 + k * 11) % 13) as f64 / 6.5 - 1.6 + if k == class { 1.1 } else { 0.0 };
            scores.values.extend((0..3).map(value));
            scores.codes.push(class as u32);
            scores.weights.push(if i < 15 { [1.0, 2.0, 0.5][i % 3] } else { 1.0 });
        }
        scores
    }

    /// The minimum that Nelder and Mead's method of SciPy 1.17 finds.
    #[test]
    fn more_classes_have_the_minimum_of_the_log_loss() {
        let scores = three_classes();
        let found = Calibration::fit(&scores, 3, CalibratedOn::HeldOut);
        for (slope, truth) in found.slopes.iter().zip([2.456_099_85, 2.258_999_74, 2.394_809_87]) {
            assert!((slope - truth).abs() < 1e-6, "{found:?}");
        }
        let probabilities = found.probabilities(&scores.values, 3);
        for (ours, truth) in probabilities[12..15].iter().zip([0.031_723_94, 0.201_242_02, 0.767_034_04]) {
            assert!((ours - truth).abs() < 1e-7, "{:?}", &probabilities[12..15]);
        }
        let logs = found.log_probabilities(&scores.values, 3);
        assert!(logs.iter().zip(&probabilities).all(|(log, p)| (log.exp() - p).abs() < 1e-14));
    }

    #[test]
    fn a_weight_is_as_many_copies_and_the_scale_of_decision_values_is_free() {
        let once = three_classes();
        let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
        let weighted = HeldOutScores { weights: weights.clone(), ..once.clone() };
        let mut copied = HeldOutScores::default();
        for (row, &weight) in weights.iter().enumerate() {
            for _ in 0..weight as usize {
                copied.values.extend(&once.values[row * 3..row * 3 + 3]);
                copied.codes.push(once.codes[row]);
                copied.weights.push(1.0);
            }
        }
        let of = |scores: &HeldOutScores| Calibration::fit(scores, 3, CalibratedOn::LeaveOneOut).slopes;
        for (a, b) in of(&weighted).iter().zip(of(&copied)) {
            assert!((a - b).abs() < 1e-9);
        }
        let mut two = mirrored([1.0; 8]);
        let slope = Calibration::fit(&two, 2, CalibratedOn::LeaveOneOut).slopes[0];
        two.values.iter_mut().for_each(|value| *value *= 1e-6);
        let scaled = Calibration::fit(&two, 2, CalibratedOn::LeaveOneOut).slopes[0];
        assert!((scaled * 1e-6 / slope - 1.0).abs() < 1e-8);
    }

    #[test]
    fn separable_useless_and_missing_scores_have_finite_slopes_above_0() {
        let of = |values: Vec<f64>, weights: f64| {
            let n = values.len();
            let codes = (0..n).map(|at| u32::from(at % 2 == 1)).collect();
            let (weights, counts) = (vec![weights; n], vec![1.0; n]);
            Calibration::fit(&HeldOutScores { values, codes, weights, counts }, 2, CalibratedOn::LeaveOneOut)
        };
        let separable = of((0..10).map(|at| f64::from(2 * (at % 2) - 1)).collect(), 1.0);
        // Targets of 11/12: ln 11.
        assert!((separable.slopes[0] - 11f64.ln()).abs() < 1e-8, "{separable:?}");
        let wrong = of((0..10).map(|at| f64::from(1 - 2 * (at % 2))).collect(), 1.0);
        assert!(wrong.slopes[0] > 0.0 && (wrong.probabilities(&[1.0], 2)[1] - 0.5).abs() < 1e-3);
        assert_eq!(of(vec![0.0; 6], 1.0).probabilities(&[0.0], 2), [0.5, 0.5]);
        for (values, weight) in [(vec![], 1.0), (vec![f64::NAN, 1.0], 1.0), (vec![1.0, -1.0], 0.0)] {
            let none = of(values, weight);
            assert_eq!((none.on(), none.n_samples(), none.slopes()), (CalibratedOn::Nothing, 0, &[2.0][..]));
        }
        let tiny = of((0..10).map(|at| f64::from(2 * (at % 2) - 1)).collect(), 1e-9);
        assert!((tiny.slopes[0] - separable.slopes[0]).abs() < 1e-6, "{tiny:?}");
    }

    #[test]
    fn the_most_probable_class_is_the_predicted_one() {
        let two = Calibration::assumed(2);
        for score in [1e-300, -1e-300, 0.0, 1e-17, 50.0, -800.0, 800.0] {
            let p = two.probabilities(&[score], 2);
            let largest = usize::from(p[1] > p[0]);
            assert_eq!(largest, OneVsRest::decide(&[score]), "{score}: {p:?}");
            assert!((p[0] + p[1] - 1.0).abs() < 1e-15);
        }
        let many = Calibration::fit(&three_classes(), 3, CalibratedOn::LeaveOneOut);
        for scores in [
            [1.0, 1.0 + f64::EPSILON, 1.0],
            [-700.0, -900.0, -699.0],
            [0.3, 0.3, 0.3],
            [-2.0, -2.0, -1.999],
            [1e9, 2e9, 0.0],
        ] {
            let p = many.probabilities(&scores, 3);
            assert_eq!(OneVsRest::decide(&p), OneVsRest::decide(&scores), "{scores:?}: {p:?}");
            let logs = many.log_probabilities(&scores, 3);
            assert!(logs.iter().all(|log| log.is_finite()) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }
}
