//! Images of one size, and grids of feature vectors cut from them.

use super::{DenseMatrix, Fingerprint, Samples};
use crate::error::{Error, Result};
use crate::macros::getters;

/// Images of one size: 8 bits per channel, row by row, with interleaved channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Images {
    pixels: Vec<u8>,
    height: usize,
    width: usize,
    channels: usize,
}

impl Images {
    /// Images whose `pixels` are \[image\]\[row\]\[column\]\[channel\].
    ///
    /// # Errors
    /// [`Error::Shape`] if the pixels do not make whole images, or a side is 0.
    pub fn new(pixels: Vec<u8>, height: usize, width: usize, channels: usize) -> Result<Self> {
        size_of_one("images", "bytes", pixels.len(), [height, width, channels])?;
        Ok(Images { pixels, height, width, channels })
    }

    /// One image, row by row.
    #[doc(hidden)]
    pub fn image(&self, image: usize) -> &[u8] {
        let size = self.size();
        &self.pixels[image * size..(image + 1) * size]
    }

    getters! {
        /// All pixels, image by image.
        hidden pixels: &[u8];
        /// Rows of pixels.
        hidden copy height: usize;
        /// Columns of pixels.
        hidden copy width: usize;
        /// Channels per pixel: 1 for gray, 3 for color.
        hidden copy channels: usize;
    }

    fn size(&self) -> usize {
        self.height * self.width * self.channels
    }
}

impl Samples for Images {
    fn len(&self) -> usize {
        // A default collection has size 0 and no images.
        self.pixels.len().checked_div(self.size()).unwrap_or(0)
    }

    fn select(&self, rows: &[usize]) -> Self {
        let pixels = rows.iter().map(|&row| self.image(row)).collect::<Vec<_>>().concat();
        Images { pixels, ..*self }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        Some(Fingerprint::of_bytes(self.image(at)))
    }
}

/// Grids of cells, each cell a vector of `depth` numbers: one matrix row per sample, \[row\]\[column\]\[depth\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grids {
    cells: DenseMatrix<f32>,
    rows: usize,
    cols: usize,
    depth: usize,
}

impl Grids {
    /// Grids whose `values` are \[sample\]\[row\]\[column\]\[depth\].
    ///
    /// # Errors
    /// [`Error::Shape`] if the values do not make whole grids, or a side is 0.
    pub fn new(values: Vec<f32>, rows: usize, cols: usize, depth: usize) -> Result<Self> {
        let n_cols = size_of_one("grids", "values", values.len(), [rows, cols, depth])?;
        let cells = DenseMatrix { n_rows: values.len() / n_cols, n_cols, values };
        Ok(Grids { cells, rows, cols, depth })
    }

    /// The grids as plain vectors.
    #[doc(hidden)]
    pub fn cells(&self) -> &DenseMatrix<f32> {
        &self.cells
    }

    /// The grids as plain vectors, without a copy.
    pub(crate) fn into_cells(self) -> DenseMatrix<f32> {
        self.cells
    }

    /// The values, mutable.
    #[doc(hidden)]
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.cells.values
    }

    /// One grid, \[row\]\[column\]\[depth\].
    #[doc(hidden)]
    pub fn grid(&self, sample: usize) -> &[f32] {
        self.cells.row(sample)
    }

    getters! {
        /// Rows of cells.
        hidden copy rows: usize;
        /// Columns of cells.
        hidden copy cols: usize;
        /// Numbers per cell.
        hidden copy depth: usize;
    }
}

impl Samples for Grids {
    fn len(&self) -> usize {
        self.cells.n_rows
    }

    fn select(&self, rows: &[usize]) -> Self {
        Grids { cells: self.cells.select(rows), ..*self }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        self.cells.fingerprint(at)
    }
}

/// The number of values of one image or grid; `n` must be a multiple of it.
fn size_of_one(what: &'static str, unit: &str, n: usize, [a, b, c]: [usize; 3]) -> Result<usize> {
    let size = a.checked_mul(b).and_then(|size| size.checked_mul(c)).unwrap_or(0);
    if size == 0 || !n.is_multiple_of(size) {
        let expected = format!("a multiple of {a} × {b} × {c}, none of them 0");
        return Err(Error::shape(what, format!("{n} {unit}"), expected));
    }
    Ok(size)
}
