//! Direction and length of the gradient at each pixel of a row.
//!
//! All numbers up to the length are integers below 2²⁴, which f32 represents exactly: the choice of channel and
//! direction involves no rounding. A pixel takes some 15 operations per channel and 20 more, all vectorized.

/// The most recent rows of pixels as planes of f32, and the results of a row.
#[derive(Debug)]
pub(in crate::descriptor) struct RowGradients {
    width: usize,
    channels: usize,
    /// Three rows, y mod 3, each \[channel\]\[x\].
    rows: [Vec<f32>; 3],
    dx: Vec<f32>,
    dy: Vec<f32>,
    squares: Vec<f32>,
    directions: Vec<u32>,
    lengths: Vec<f32>,
}

/// Between the directions at 20°·k and 20°·(k + 1), in the first quadrant, the later wins if dy · `RISE`\[k\] > dx ·
/// `RUN`\[k\]: differences of the sines and of the cosines, rounded to 4 decimals as in the original, times 10⁴.
const RISE: [f32; 4] = [3420.0, 3008.0, 2232.0, 1188.0];
const RUN: [f32; 4] = [603.0, 1737.0, 2660.0, 3264.0];

impl RowGradients {
    pub fn new(width: usize, channels: usize) -> Self {
        let inner = width.saturating_sub(2);
        RowGradients {
            width,
            channels,
            rows: std::array::from_fn(|_| vec![0.0; width * channels]),
            dx: vec![0.0; inner],
            dy: vec![0.0; inner],
            squares: vec![0.0; inner],
            directions: vec![0; inner],
            lengths: vec![0.0; inner],
        }
    }

    /// Starts an image, \[row\]\[column\]\[channel\].
    #[inline(always)]
    pub fn start(&mut self, pixels: &[u8]) {
        for y in 0..2.min(pixels.len() / (self.width * self.channels)) {
            self.read_row(pixels, y);
        }
    }

    /// Directions (0…17) and lengths at the pixels 1 … width − 2 of row `y`. Rows must be requested in order from 1.
    #[inline(always)]
    pub fn next_row(&mut self, pixels: &[u8], y: usize) -> (&[u32], &[f32]) {
        self.read_row(pixels, y + 1);
        let n = self.squares.len();
        let (dx, dy, squares) = (&mut self.dx[..n], &mut self.dy[..n], &mut self.squares[..n]);
        for channel in 0..self.channels {
            let plane = |y: usize| &self.rows[y % 3][channel * self.width..][..self.width];
            let (above, below) = (plane(y - 1), plane(y + 1));
            let (left, right) = (&plane(y)[..n], &plane(y)[self.width - n..]);
            let (above, below) = (&above[1..=n], &below[1..=n]);
            if channel == 0 {
                for x in 0..n {
                    (dx[x], dy[x]) = (right[x] - left[x], below[x] - above[x]);
                    squares[x] = dx[x] * dx[x] + dy[x] * dy[x];
                }
            } else {
                for x in 0..n {
                    let (across, down) = (right[x] - left[x], below[x] - above[x]);
                    let square = across * across + down * down;
                    let larger = square > squares[x];
                    dx[x] = if larger { across } else { dx[x] };
                    dy[x] = if larger { down } else { dy[x] };
                    squares[x] = if larger { square } else { squares[x] };
                }
            }
        }
        let (directions, lengths) = (&mut self.directions[..n], &mut self.lengths[..n]);
        for x in 0..n {
            directions[x] = direction(dx[x], dy[x]);
            lengths[x] = squares[x].sqrt();
        }
        (directions, lengths)
    }

    /// Row `y` as planes.
    #[inline(always)]
    fn read_row(&mut self, pixels: &[u8], y: usize) {
        let row = &pixels[y * self.width * self.channels..][..self.width * self.channels];
        let planes = &mut self.rows[y % 3];
        if self.channels == 3 {
            let (red, rest) = planes.split_at_mut(self.width);
            let (green, blue) = rest.split_at_mut(self.width);
            for (((pixel, red), green), blue) in row.chunks_exact(3).zip(red).zip(green).zip(blue) {
                (*red, *green, *blue) = (f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2]));
            }
        } else {
            for (to, &pixel) in planes.iter_mut().zip(row) {
                *to = f32::from(pixel);
            }
        }
    }
}

/// The direction (20° each, y down) with the largest dot product; the lower one in a tie, which occurs only at dx = 0.
/// By symmetry the first quadrant decides for all four, without a branch.
#[inline(always)]
pub(super) fn direction(dx: f32, dy: f32) -> u32 {
    let (run, rise) = (dx.abs(), dy.abs());
    let mut quarter = 0;
    for k in 0..4 {
        quarter += u32::from(rise * RISE[k] > run * RUN[k]);
    }
    let above = if dx < 0.0 { 9 - quarter } else { quarter };
    let below = if dx > 0.0 { 18 - quarter } else { 9 + quarter };
    let direction = if dy < 0.0 { below } else { above };
    if direction == 18 { 0 } else { direction }
}
