//! On the UCI optical digits: the reduced χ² kernel against a solver on the exact kernel matrix.

use crate::common::{brute_force_dual, objectives};
use widemargin::data::{DenseMatrix, DenseView, Labels, Rows};
use widemargin::expansion::{AdditiveMap, CodedRows, PAPER_NODES, choose_nodes};
use widemargin::model::PowerMeanParams;
use widemargin::monitor::Monitor;
use widemargin::problem::{Loss, OneVsRest};
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::DescentSettings;
use widemargin::solve::dual::{DualProblem, solve};

const N_TRAIN: usize = 1000;
const C: f64 = 0.01;

/// 8 × 8 images of handwritten digits, values 0 … 16 divided by 16; a line a sample, a base-17 digit a pixel.
fn digits() -> (DenseMatrix<f64>, Vec<i64>) {
    let text = include_str!("../../../widemargin-cli/data/digits.txt");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (label, pixels) = line.split_once(' ').unwrap();
        labels.push(label.parse().unwrap());
        values.extend(pixels.chars().map(|pixel| f64::from(pixel.to_digit(17).unwrap()) / 16.0));
    }
    (DenseMatrix { n_rows: labels.len(), n_cols: 64, values }, labels)
}

fn exact_gram(a: &DenseView<'_, f64>, b: &DenseView<'_, f64>) -> Vec<f64> {
    let pairs = (0..a.n_rows()).flat_map(|i| (0..b.n_rows()).map(move |j| (i, j)));
    let chi2 = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(&x, &y)| AdditiveKernel::Chi2.value(x, y)).sum::<f64>();
    pairs.map(|(i, j)| chi2(a.row(i), b.row(j))).collect()
}

fn accuracy(predicted: &[usize], labels: &[i64]) -> f64 {
    predicted.iter().zip(labels).filter(|(p, y)| **p as i64 == **y).count() as f64 / labels.len() as f64
}

#[test]
fn accuracy_agreement_and_true_gap() {
    let (samples, labels) = digits();
    let train_rows = (0..N_TRAIN).collect::<Vec<_>>();
    let train = samples.select(&train_rows);
    let test = samples.select(&(N_TRAIN..samples.n_rows).collect::<Vec<_>>());
    let (train, test) = (train.view().unwrap(), test.view().unwrap());
    let (train_labels, test_labels) = (Labels::new(labels[..N_TRAIN].iter().copied()), &labels[N_TRAIN..]);

    // The truth: the exact kernel matrix, solved until nothing moves.
    let gram = exact_gram(&train, &train);
    let cross = exact_gram(&test, &train);
    let targets = OneVsRest::new(train_labels.codes(), 10);
    let mut truth = vec![0.0; test.n_rows() * 10];
    for class in 0..10 {
        let signs: Vec<f64> = (0..N_TRAIN).map(|row| targets.sign(row, class)).collect();
        let alphas = brute_force_dual(&gram, &signs, f64::INFINITY, 0.5 / C);
        for row in 0..test.n_rows() {
            let kernel = &cross[row * N_TRAIN..(row + 1) * N_TRAIN];
            truth[row * 10 + class] = (0..N_TRAIN).map(|j| alphas[j] * signs[j] * kernel[j]).sum();
        }
    }
    let exact: Vec<usize> = truth.chunks_exact(10).map(OneVsRest::decide).collect();

    let rows = CodedRows::new(&train, &train_rows, &[1.0; N_TRAIN], None).unwrap();
    let nodes = choose_nodes(AdditiveKernel::Chi2, rows.book(), rows.counts(), 3);
    for map in [
        AdditiveMap::nystroem(AdditiveKernel::Chi2, &nodes).unwrap(),
        AdditiveMap::polynomial(AdditiveKernel::Chi2, &PAPER_NODES).unwrap(),
    ] {
        let what = map.approximation();
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(C).scale(false).approximation(what);
        let model = params.fit(&train, &train_labels).unwrap();
        let scores = model.decision_function(&test, 1).unwrap();
        let ours: Vec<usize> = (0..test.n_rows()).map(|row| OneVsRest::decide(scores.row(row))).collect();
        let agreement = ours.iter().zip(&exact).filter(|(a, b)| a == b).count() as f64 / ours.len() as f64;
        assert!(agreement >= 0.985, "{what}: {agreement}");
        let (a, b) = (accuracy(&ours, test_labels), accuracy(&exact, test_labels));
        // A gap of 1 % leaves this open: in ten random orders of the rows it is from 0.915 to 0.925.
        assert!((a - b).abs() <= 0.007, "{what}: {a} {b}");
        assert!((a - 0.9172).abs() <= 0.007, "{what}: {a}, where Algorithm 3 gives 0.9172");
        // Few epochs for most classes; by chance one needs up to 17.
        let mut epochs = model.report().iterations.clone();
        epochs.sort_unstable();
        assert!((4..=7).contains(&epochs[4]) && epochs[9] <= 20, "{what}: {epochs:?}");

        // The true gap: the dual variables of the reduced problem, measured by the exact kernel.
        let costs = [C; N_TRAIN];
        let problem = DualProblem { rows: &rows, map: &map, targets, loss: Loss::SquaredHinge, costs: &costs };
        let settings = DescentSettings { tol: 1e-4, max_epochs: 1000, seed: 0, threads: 1 };
        let solution = solve(&problem, &settings, &Monitor::none()).unwrap();
        let (mut primal, mut dual) = (0.0, 0.0);
        for (class, alphas) in solution.alphas.iter().enumerate() {
            let signs: Vec<f64> = (0..N_TRAIN).map(|row| targets.sign(row, class)).collect();
            let alphas: Vec<f64> = alphas.iter().map(|&a| a.into()).collect();
            let (p, d) = objectives(&gram, &signs, &alphas, C, true);
            primal += p;
            dual += d;
        }
        let gap = (primal - dual) / primal;
        assert!(gap <= 5e-3, "{what}: {gap}");
    }
}
