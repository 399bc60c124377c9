//! Bilinear votes of pixels for the cells around them.
//!
//! Voting is separable: a row of pixels votes horizontally for a row of cells (2 scattered additions per pixel), and
//! that row is then added to the two adjacent rows of cells (4 vectorized operations for each of the 18 · columns
//! numbers). Voting in both directions at once would take 4 scattered additions per pixel.

/// Signed orientations.
pub(super) const SIGNED: usize = 18;

/// Histograms of all cells, with a one-cell frame that receives the votes outside the grid.
#[derive(Debug)]
pub(super) struct Votes {
    pub rows: usize,
    pub cols: usize,
    /// For each inner pixel of a row, the offset in `row` of the cell to its left.
    left: Vec<u32>,
    /// For each such pixel, the weight of the cell to its right.
    right_share: Vec<f32>,
    /// For each row of pixels, the framed row of cells above it, and the weight of the one below.
    above: Vec<(usize, f32)>,
    /// One framed row of cells, twice, so that neighbors with the same direction do not depend on each other.
    row: [Vec<f32>; 2],
    /// \[framed row\]\[framed column\]\[18\].
    cells: Vec<f32>,
}

impl Votes {
    pub fn new(cell_size: usize, height: usize, width: usize) -> Self {
        let (rows, cols) = (height / cell_size, width / cell_size);
        // The frame shifts cell −1 to 0.
        let place = |pixel: usize| {
            let at = (pixel as f64 + 0.5) / cell_size as f64 + 0.5;
            (at.floor() as usize, (at - at.floor()) as f32)
        };
        let inner = 1..width.saturating_sub(1).max(1);
        let row_len = (cols + 2) * SIGNED;
        Votes {
            rows,
            cols,
            left: inner.clone().map(|x| (place(x).0 * SIGNED) as u32).collect(),
            right_share: inner.map(|x| place(x).1).collect(),
            above: (0..height).map(place).collect(),
            row: std::array::from_fn(|_| vec![0.0; row_len]),
            cells: vec![0.0; (rows + 2) * row_len],
        }
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.cells.fill(0.0);
    }

    /// Adds the votes of row `y`: directions and lengths at its inner pixels.
    #[inline(always)]
    pub fn add_row(&mut self, y: usize, directions: &[u32], lengths: &[f32]) {
        let [even, odd] = &mut self.row;
        even.fill(0.0);
        odd.fill(0.0);
        let mut pixels = self.left.iter().zip(&self.right_share).zip(directions.iter().zip(lengths));
        while let Some(((left, share), (direction, length))) = pixels.next() {
            vote(even, left + direction, *length, *share);
            if let Some(((left, share), (direction, length))) = pixels.next() {
                vote(odd, left + direction, *length, *share);
            }
        }
        let (above, below_share) = self.above[y];
        let above_share = 1.0 - below_share;
        let row_len = even.len();
        let (upper, lower) = self.cells[above * row_len..][..2 * row_len].split_at_mut(row_len);
        for (((upper, lower), even), odd) in upper.iter_mut().zip(lower).zip(even).zip(odd) {
            let sum = *even + *odd;
            *upper += above_share * sum;
            *lower += below_share * sum;
        }
    }

    /// The histogram of a cell inside the grid.
    #[inline(always)]
    pub fn cell(&self, row: usize, col: usize) -> &[f32; SIGNED] {
        let at = ((row + 1) * (self.cols + 2) + col + 1) * SIGNED;
        self.cells[at..].first_chunk().expect("a cell inside the frame")
    }
}

/// Adds `share` of a vote to the cell after `at`, the rest to `at`.
#[inline(always)]
fn vote(row: &mut [f32], at: u32, length: f32, share: f32) {
    let at = at as usize;
    let right = share * length;
    row[at] += length - right;
    row[at + SIGNED] += right;
}
