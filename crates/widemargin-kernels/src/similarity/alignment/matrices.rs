//! Substitution matrices by name, in files of the layout in which the NCBI distributes them. The amino acids include B
//! (D or N), Z (E or Q) and X (any).

use std::sync::LazyLock;

/// The scores of pairs of letters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    pub name: &'static str,
    /// In the order of rows and columns, capitals.
    pub letters: String,
    /// Row by row.
    scores: Vec<i8>,
}

/// The names, as specs have them.
pub(super) const NAMES: &[&str] = &["blosum45", "blosum62", "blosum80", "pam250", "nuc44"];

/// The matrices of these names.
pub(super) static MATRICES: LazyLock<[Matrix; 5]> = LazyLock::new(|| {
    let files = [
        include_str!("matrices/blosum45.txt"),
        include_str!("matrices/blosum62.txt"),
        include_str!("matrices/blosum80.txt"),
        include_str!("matrices/pam250.txt"),
        include_str!("matrices/nuc44.txt"),
    ];
    std::array::from_fn(|at| Matrix::read(NAMES[at], files[at]))
});

/// The padding code after a string's end; no letter has it.
pub(super) const NOTHING: i32 = -1;

/// The score of a letter with padding: no alignment benefits from it, and sums of such scores cannot overflow.
const WITH_NOTHING: i8 = -100;

impl Matrix {
    /// The matrix of a file: the letters, then a row for each, which it starts with.
    fn read(name: &'static str, text: &str) -> Matrix {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let letters = lines.next().unwrap_or_default().split_whitespace().collect();
        let scores = lines.flat_map(|line| line.split_whitespace().skip(1).filter_map(|score| score.parse().ok()));
        Matrix { name, letters, scores: scores.collect() }
    }

    pub fn named(name: &str) -> Option<&'static Matrix> {
        MATRICES.iter().find(|matrix| matrix.name == name)
    }

    /// The code of a letter, small or capital. Among nucleotides U is T, and X, I, gaps and stops are N; among amino acids U, O,
    /// J, gaps and stops are X.
    pub fn code(&self, letter: char) -> Option<i32> {
        let capital = match (letter.to_ascii_uppercase(), self.name == "nuc44") {
            ('U', true) => 'T',
            ('X' | 'I' | '*' | '-' | '.', true) => 'N',
            ('U' | 'O' | 'J' | '*' | '-' | '.', false) => 'X',
            (capital, _) => capital,
        };
        self.letters.find(capital).map(|place| place as i32)
    }

    /// The score of two codes.
    pub fn score(&self, x: i32, y: i32) -> i8 {
        if x < 0 || y < 0 {
            return WITH_NOTHING;
        }
        self.scores[x as usize * self.letters.len() + y as usize]
    }
}
