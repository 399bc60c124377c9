//! Histograms of oriented gradients: an image becomes a grid of cells of 31 numbers.
//!
//! Felzenszwalb, Girshick, McAllester and Ramanan, *Object Detection with Discriminatively Trained Part-Based
//! Models*, PAMI 2010, section 6, but keeping the border cells.
//!
//! Three steps run row by row: `gradients` finds the direction and length of each pixel's gradient, `votes` adds it to
//! the surrounding cells, `blocks` normalizes the cells. No operations are fused, and integers are exact, so that an
//! image gives the same bits on every machine.
//!
//! A color image of 32 × 32 pixels with cells of 4 has 900 gradients of some 65 operations, 1,800 scattered
//! additions, 16 · 640 sums of votes and 64 cells of some 400 operations: in vectors of 16 that is 3 µs at best;
//! half of it is the scattered additions, one after another. It takes 9 µs.

mod blocks;
mod gradients;
mod votes;

use std::fmt;

use crate::data::{Grids, Images, Samples};
use crate::descriptor::Descriptor;
use crate::descriptor::row::{DescriptorRow, converts};
use crate::descriptor::scaling::{Scaler, Scaling};
use crate::error::{Error, Result};
use crate::isa::{Isa, compiled};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

use blocks::DEPTH;
pub(super) use gradients::RowGradients;
use votes::Votes;

pub(crate) const HOG: DescriptorRow = DescriptorRow {
    name: "hog",
    class: "HOG",
    samples: &["images"],
    parameters: &[
        Parameter::new(
            "cell",
            Values::Whole(1, 1 << 16),
            "The side length of a cell in pixels; it must divide the height and width of the images.",
        )
        .or("8"),
        Parameter::new("scale", Values::Words(&["mean-norm", "none"]), "The scaling of the cells.").or("mean-norm"),
    ],
    usual: "rbf",
    build: |step| {
        let mut descriptors: Vec<Box<dyn Descriptor>> = vec![Box::new(Hog::from_step(step)?)];
        // The scaling that the similarities of BE-SVM expect of it.
        if HOG.arguments(step)?.text("scale") == Some("mean-norm") {
            descriptors.push(Box::new(Scaler::new(Scaling::MeanNorm)));
        }
        Ok(descriptors)
    },
};

/// The HOG descriptor with square cells.
///
/// - Gradients are centered differences of pixels 0…255, where both neighbors exist; of three color channels the one
///   with the largest gradient counts, the first one in a tie.
/// - Each gradient votes with its length for one of 18 directions (0°, 20°, …), the one with the largest dot product,
///   and bilinearly for the cells around its pixel; votes outside the grid are dropped.
/// - A cell is divided by the norm of each of its four blocks of 2 × 2 cells, where cells outside the grid are replaced
///   by the nearest cell inside, and clipped at 0.2; the four are summed and halved.
///
/// The 31 numbers of a cell are 18 signed directions, 9 unsigned ones, and the texture of the four blocks in the
/// order below right, above right, below left, above left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hog {
    cell_size: usize,
}

impl Hog {
    /// The descriptor of a step such as `hog:cell=4`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another name, and [`Error::Parameter`].
    pub fn from_step(step: &Step) -> Result<Self> {
        Ok(Hog { cell_size: HOG.arguments(step)?.value("cell")? })
    }

    /// The grids of some images, \[image\]\[row\]\[column\]\[31\]: images of 32 × 32 pixels have 8 × 8 cells of size 4.
    /// Runs on the caller's thread; to parallelize, split the images into chunks.
    ///
    /// # Errors
    /// [`Error::Shape`] for images whose sides are not multiples of the cell size, or that are neither gray (one
    /// channel) nor color (three).
    pub fn describe(&self, images: &Images) -> Result<Grids> {
        self.describe_with(Isa::best(), images)
    }

    fn describe_with(&self, isa: Isa, images: &Images) -> Result<Grids> {
        let (height, width, channels) = (images.height(), images.width(), images.channels());
        let wrong =
            |found: String, expected: String| Err(Error::shape(format!("images for '{self}'"), found, expected));
        if images.is_empty() && height == 0 {
            return wrong("images without a size".into(), "a height and a width".into());
        }
        if channels != 1 && channels != 3 {
            return wrong(format!("{channels} channels"), "1 (gray) or 3 (color)".into());
        }
        if !height.is_multiple_of(self.cell_size) || !width.is_multiple_of(self.cell_size) {
            return wrong(
                format!("{height} × {width} pixels"),
                format!(
                    "sides that the cell size {} divides, as after resize:height={},width={}",
                    self.cell_size,
                    near_multiple(height, self.cell_size),
                    near_multiple(width, self.cell_size),
                ),
            );
        }
        let (rows, cols) = (height / self.cell_size, width / self.cell_size);
        let size = rows * cols * DEPTH;
        let mut values = vec![0.0; images.len() * size];
        let mut worker = Worker::new(self.cell_size, height, width, channels);
        for (image, grid) in values.chunks_exact_mut(size).enumerate() {
            describe(isa, &mut worker, images.image(image), grid);
        }
        Grids::new(values, rows, cols, DEPTH)
    }
}

/// The multiple of a cell size nearest to the side of an image, at least one cell.
pub fn near_multiple(side: usize, cell: usize) -> usize {
    (side + cell / 2).max(cell) / cell * cell
}

impl fmt::Display for Hog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hog:cell={}", self.cell_size)
    }
}

impl Descriptor for Hog {
    fn spec(&self) -> String {
        self.to_string()
    }

    converts!(Images => Grids, "describes images", |hog, images| Hog::describe(hog, &images)?);
}

/// The image size and scratch memory, reused from image to image.
#[derive(Debug)]
struct Worker {
    height: usize,
    gradients: RowGradients,
    votes: Votes,
    normalizers: Vec<f32>,
}

impl Worker {
    fn new(cell_size: usize, height: usize, width: usize, channels: usize) -> Self {
        let votes = Votes::new(cell_size, height, width);
        Worker { height, gradients: RowGradients::new(width, channels), votes, normalizers: Vec::new() }
    }
}

compiled! {
    /// The descriptor of one image.
    fn describe(isa; worker: &mut Worker, pixels: &[u8], grid: &mut [f32]) {
        worker.votes.clear();
        worker.gradients.start(pixels);
        for y in 1..worker.height.saturating_sub(1) {
            let (directions, lengths) = worker.gradients.next_row(pixels, y);
            worker.votes.add_row(y, directions, lengths);
        }
        blocks::normalize(&worker.votes, &mut worker.normalizers, grid);
    }
}

#[cfg(test)]
mod tests;
