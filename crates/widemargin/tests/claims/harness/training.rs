//! Made training sets of every task: samples of a kind, what is known of them, and weights.

use widemargin::data::{AnySamples, CsrMatrix, DenseMatrix, Label, Labels, Samples, Targets, Vectors};

/// What is to be learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    Classes(usize),
    Multilabel(usize),
    Targets(usize),
    OneClass,
}

/// The kind of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Vectors,
    Strings,
}

/// What is known of the samples.
#[derive(Clone, Debug)]
pub enum Answers {
    Labels(Labels),
    Targets(Targets),
    None,
}

/// Samples, what is known of them, and their weights.
#[derive(Clone, Debug)]
pub struct Training {
    pub samples: AnySamples,
    pub answers: Answers,
    pub weights: Option<Vec<f64>>,
}

/// Columns of vectors, of at least 0 and some of them 0.
pub const D: usize = 5;

/// Numbers from 0 to 1 without structure.
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    let one = |at: u64| {
        let mixed = (at + 1 + 7919 * (seed + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 40) as f64 / (1u64 << 24) as f64
    };
    (0..n as u64).map(one).collect()
}

/// A curved function of a sample for each label or output, with noise.
fn truth(z: &[f64], output: usize, noise: f64) -> f64 {
    let (a, b, c) = (z[output % 3], z[(output + 1) % 3], z[(output + 2) % 3]);
    (4.0 * a).sin() + 1.5 * b * b - b * c + 0.3 * (noise - 0.5)
}

fn vectors(z: &[[f64; 3]], extra: &[f64]) -> AnySamples {
    let row = |(z, extra): (&[f64; 3], &[f64])| {
        let sparse = |x: f64| if x < 0.3 { 0.0 } else { x };
        [z[0], z[1], 3.0 * z[2], sparse(extra[0]), sparse(extra[1])].map(|x| x as f32)
    };
    let values = z.iter().zip(extra.chunks(2)).flat_map(row).collect();
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: z.len(), n_cols: D }))
}

fn strings(z: &[[f64; 3]], extra: &[f64]) -> AnySamples {
    let word = |(row, (z, extra)): (usize, (&[f64; 3], &[f64]))| {
        let repeat = |part: &str, x: f64| part.repeat((5.0 * x) as usize);
        let last = ["x", "yz", "é", "x y"][(3.99 * extra[0]) as usize];
        // The number of the row in letters, so that no two are equal.
        let number: String = [1, 6, 36, 216].map(|unit| ["q", "r", "s", "t", "u", "v"][row / unit % 6]).concat();
        format!("{}{}{last}{}{number}", repeat("ab", z[0]), repeat("c", z[1]), repeat("ba", z[2]))
    };
    AnySamples::Strings(z.iter().zip(extra.chunks(2)).enumerate().map(word).collect())
}

impl Training {
    /// `n` samples, no two of them equal.
    pub fn new(kind: Kind, task: Task, n: usize, seed: u64) -> Training {
        let (z, extra, errors) = (noise(3 * n, seed), noise(2 * n, seed + 100), noise(3 * n, seed + 200));
        let z: Vec<[f64; 3]> = z.chunks(3).map(|z| [z[0], z[1], z[2]]).collect();
        let samples = match kind {
            Kind::Vectors => vectors(&z, &extra),
            Kind::Strings => strings(&z, &extra),
        };
        let of = |row: usize, output: usize| truth(&z[row], output, errors[3 * row + output % 3]);
        let answers = match task {
            Task::OneClass => Answers::None,
            Task::Targets(k) => {
                let unit = |output: usize| [100.0, -3.0, 0.01][output % 3];
                let one = |at: usize| unit(at % k) * (7.0 + of(at / k, at % k));
                Answers::Targets(Targets::new((0..n * k).map(one).collect(), k).unwrap())
            }
            Task::Multilabel(k) => {
                // A quarter of the values are unknown, of the first samples none.
                let one = |at: usize| match at / k >= 20 && (at / k * 13 + at % k * 7).is_multiple_of(4) {
                    true => f64::NAN,
                    false => f64::from(u8::from(of(at / k, at % k) > 0.9)),
                };
                let names = (0..k as i64).map(Label::Integer).collect();
                Answers::Labels(Labels::multilabel(names, &(0..n * k).map(one).collect::<Vec<_>>()).unwrap())
            }
            Task::Classes(k) => {
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| of(a, 0).total_cmp(&of(b, 0)));
                let mut classes = vec![0; n];
                order.iter().enumerate().for_each(|(rank, &row)| classes[row] = rank * k / n);
                // One label in nine is wrong.
                (0..n).filter(|row| row % 9 == 4).for_each(|row| classes[row] = (classes[row] + 1) % k);
                let name = |class: usize| char::from(b'a' + class as u8).to_string();
                Answers::Labels(Labels::new(classes.into_iter().map(name)))
            }
        };
        Training { samples, answers, weights: None }
    }

    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// With a weight of each row.
    pub fn weighted(self, of: impl Fn(usize) -> f64) -> Training {
        Training { weights: Some((0..self.len()).map(of).collect()), ..self }
    }

    /// These rows, with their weights.
    pub fn select(&self, rows: &[usize]) -> Training {
        Training {
            samples: Samples::select(&self.samples, rows),
            answers: self.answers.select(rows),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
        }
    }

    /// The same with the content of some samples there twice: of the same answer and of others.
    pub fn with_equal_samples(&self) -> Training {
        let from = |row: usize| if row % 7 == 3 { row / 2 } else { row };
        let rows: Vec<usize> = (0..self.len()).map(from).collect();
        Training { samples: Samples::select(&self.samples, &rows), ..self.clone() }
    }

    pub fn labels(&self) -> &Labels {
        let Answers::Labels(labels) = &self.answers else { panic!("no labels") };
        labels
    }

    pub fn targets(&self) -> &Targets {
        let Answers::Targets(targets) = &self.answers else { panic!("no targets") };
        targets
    }
}

impl Answers {
    pub fn select(&self, rows: &[usize]) -> Answers {
        match self {
            Answers::Labels(labels) => Answers::Labels(labels.select(rows)),
            Answers::Targets(targets) => Answers::Targets(targets.of_rows(rows)),
            Answers::None => Answers::None,
        }
    }
}

/// The rows of a dense matrix as they are, in double precision, and without zeros.
pub fn forms(samples: &AnySamples) -> Option<(DenseMatrix<f64>, CsrMatrix<f32>)> {
    let AnySamples::Vectors(Vectors::Dense(dense)) = samples else { return None };
    let values = dense.values.iter().map(|&x| f64::from(x)).collect();
    let double = DenseMatrix { values, n_rows: dense.n_rows, n_cols: dense.n_cols };
    let mut sparse = CsrMatrix { indptr: vec![0], n_cols: dense.n_cols, ..CsrMatrix::default() };
    for row in dense.values.chunks(dense.n_cols) {
        // Every other zero is stored: stored zeros must not matter.
        for (column, &value) in row.iter().enumerate().filter(|(column, value)| **value != 0.0 || column % 2 == 0) {
            sparse.indices.push(column as u32);
            sparse.values.push(value);
        }
        sparse.indptr.push(sparse.values.len());
    }
    Some((double, sparse))
}
