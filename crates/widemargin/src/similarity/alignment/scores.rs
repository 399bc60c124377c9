//! Scores of pairs of characters.

/// The scores of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scores {
    /// By equality.
    Equal { same: i32, other: i32 },
    /// By BLOSUM62.
    Blosum62,
}

/// The padding code after a string's end; no character has it.
pub(super) const NOTHING: i32 = -1;

/// The score of a residue with padding: no alignment benefits from it, and sums of such scores cannot overflow.
pub(super) const WITH_NOTHING: i8 = -100;

impl Scores {
    /// Encodes a string, or returns a letter without a score.
    pub fn encode(&self, string: &str) -> Result<Vec<i32>, char> {
        string.chars().map(|letter| self.code(letter).ok_or(letter)).collect()
    }

    fn code(&self, letter: char) -> Option<i32> {
        match self {
            Scores::Equal { .. } => Some(u32::from(letter) as i32),
            Scores::Blosum62 => LETTERS.find(letter.to_ascii_uppercase()).map(|place| place as i32),
        }
    }
}

/// The amino acids and B (D or N), Z (E or Q), X (any), in the order of the matrix; case-insensitive.
pub(super) const LETTERS: &str = "ARNDCQEGHILKMFPSTWYVBZX";

/// The score of two codes.
pub(super) fn blosum62(x: i32, y: i32) -> i8 {
    if x < 0 || y < 0 {
        return WITH_NOTHING;
    }
    let (row, column) = (x.max(y) as usize, x.min(y) as usize);
    LOWER[row * (row + 1) / 2 + column]
}

/// The lower triangle of BLOSUM62 in half bits (Henikoff and Henikoff 1992), as the NCBI distributes it.
#[rustfmt::skip]
const LOWER: [i8; 276] = [
    4,
    -1, 5,
    -2, 0, 6,
    -2, -2, 1, 6,
    0, -3, -3, -3, 9,
    -1, 1, 0, 0, -3, 5,
    -1, 0, 0, 2, -4, 2, 5,
    0, -2, 0, -1, -3, -2, -2, 6,
    -2, 0, 1, -1, -3, 0, 0, -2, 8,
    -1, -3, -3, -3, -1, -3, -3, -4, -3, 4,
    -1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4,
    -1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5,
    -1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5,
    -2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6,
    -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,
    1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4,
    0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5,
    -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11,
    -2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7,
    0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4,
    -2, -1, 3, 4, -3, 0, 1, -1, 0, -3, -4, 0, -3, -3, -2, 0, -1, -4, -3, -3, 4,
    -1, 0, 0, 1, -3, 3, 4, -2, 0, -3, -3, 1, -1, -3, -1, 0, -1, -3, -2, -2, 1, 4,
    0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2, 0, 0, -2, -1, -1, -1, -1, -1,
];
