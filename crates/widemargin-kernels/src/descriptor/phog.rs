//! Histograms of gradient directions in the parts of a pyramid, for images of any size.
//!
//! Bosch, Zisserman and Munoz, *Representing Shape with a Spatial Pyramid Kernel*, 2007: the lengths of the gradients
//! are added up by direction in the whole image, its quarters, its sixteenths and so on, and all of these numbers are
//! divided by their sum. The paper takes gradients at edges only (of Canny's detector); here all count, by their
//! length.
//!
//! A pixel takes the some 65 operations of its gradient and one scattered addition a level.

use super::Descriptor;
use super::hog::RowGradients;
use super::row::{DescriptorRow, converts, rows_of};
use crate::data::{DenseMatrix, Images, Samples, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(crate) const PHOG: DescriptorRow = DescriptorRow {
    name: "phog",
    class: "PHOG",
    samples: &["images"],
    parameters: &[
        Parameter::new("levels", Values::Whole(0, 6), "The number of divisions of the image into quarters.").or("3"),
        Parameter::new("signed", Values::Flag, "Whether opposite directions differ: 18 bins, not 9.").or("false"),
    ],
    usual: "chi2",
    build: |step| Ok(vec![Box::new(Phog::from_step(step)?)]),
};

/// Signed directions.
const DIRECTIONS: usize = 18;

/// Histograms of gradient directions, \[level\]\[part row\]\[part column\]\[direction\]. An image without gradients is
/// 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phog {
    levels: usize,
    signed: bool,
}

impl Phog {
    /// The descriptor of a step `phog`, whose parameters are `levels` (default 3) and `signed` (false).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = PHOG.arguments(step)?;
        Ok(Phog { levels: arguments.value("levels")?, signed: arguments.value("signed")? })
    }

    /// The histograms: images × (9 or 18 · (4^(levels + 1) − 1) / 3).
    ///
    /// # Errors
    /// [`Error::Shape`] for images that have fewer pixels along a side than the last level parts, or that are neither
    /// gray (one channel) nor color (three); [`Error::Memory`].
    pub fn histograms(&self, images: &Images) -> Result<DenseMatrix<f32>> {
        let (height, width, channels) = (images.height(), images.width(), images.channels());
        let wrong =
            |found: String, expected: String| Error::shape(format!("images for '{}'", self.spec()), found, expected);
        if channels != 1 && channels != 3 {
            return Err(wrong(format!("{channels} channels"), "1 (gray) or 3 (color)".into()));
        }
        let side = 1usize << self.levels;
        if height < side || width < side {
            return Err(wrong(format!("{height} × {width} pixels"), format!("at least {side} × {side}")));
        }
        let directions = if self.signed { DIRECTIONS } else { DIRECTIONS / 2 };
        let n_cols = ((1 << (2 * (self.levels + 1))) - 1) / 3 * directions;
        let mut gradients = RowGradients::new(width, channels);
        rows_of([images.len(), n_cols], ["numbers", "images"], "ask for fewer levels", |at, out| {
            let pixels = images.image(at);
            // The parts of the last level; the others are sums of theirs.
            let last = n_cols - side * side * directions;
            let finest = &mut out[last..];
            gradients.start(pixels);
            for y in 1..height.saturating_sub(1) {
                let part_of_row = y * side / height * side;
                let (found, lengths) = gradients.next_row(pixels, y);
                for (x, (&direction, &length)) in found.iter().zip(lengths).enumerate() {
                    let part = part_of_row + (x + 1) * side / width;
                    finest[part * directions + direction as usize % directions] += length;
                }
            }
            self.coarser(out, directions);
            let sum: f32 = out.iter().sum();
            if sum > 0.0 {
                out.iter_mut().for_each(|value| *value /= sum);
            }
        })
    }

    /// Adds up the four parts of the next level in each part of a level, from the last level on.
    fn coarser(&self, out: &mut [f32], directions: usize) {
        let start = |level: usize| ((1 << (2 * level)) - 1) / 3 * directions;
        for level in (0..self.levels).rev() {
            let (coarse, fine) = out[start(level)..].split_at_mut(start(level + 1) - start(level));
            let side = 2 << level;
            for (part, histogram) in fine.chunks_exact(directions).take(side * side).enumerate() {
                let (row, column) = (part / side / 2, part % side / 2);
                let sums = &mut coarse[(row * (side / 2) + column) * directions..][..directions];
                sums.iter_mut().zip(histogram).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}

impl Descriptor for Phog {
    fn spec(&self) -> String {
        format!("{}:levels={},signed={}", PHOG.name, self.levels, self.signed)
    }

    converts!(Images => Vectors, "takes gradients of images", |this, images| Vectors::Dense(this.histograms(&images)?));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::descriptor::of;

    proptest! {
        /// Each level alone, with directions from angles.
        #[test]
        fn each_level_is_the_sum_of_lengths(
            (height, width) in (4usize..12, 4usize..12), levels in 0usize..3, signed: bool, seed in 0u32..1000,
        ) {
            let pixels: Vec<u8> = (0..height * width).map(|at| ((at as u32 * 7919 + seed * 31) % 251) as u8).collect();
            let images = Images::new(pixels.clone(), height, width, 1).unwrap();
            let found = Phog { levels, signed }.histograms(&images).unwrap();
            let directions = if signed { 18 } else { 9 };
            let pixel = |y: usize, x: usize| f64::from(pixels[y * width + x]);
            let mut expected = vec![0.0; found.n_cols];
            let mut first = 0;
            for level in 0..=levels {
                let side = 1 << level;
                for y in 1..height - 1 {
                    for x in 1..width - 1 {
                        let (dx, dy) = (pixel(y, x + 1) - pixel(y, x - 1), pixel(y + 1, x) - pixel(y - 1, x));
                        // The nearest of 0°, 20°, …; the pixels are such that none lies in the middle of two.
                        let nearest = (dy.atan2(dx).to_degrees() / 20.0).round().rem_euclid(18.0) as usize;
                        // The last level decides which part a pixel belongs to.
                        let most = 1 << levels;
                        let (row, column) = (y * most / height * side / most, x * most / width * side / most);
                        expected[first + (row * side + column) * directions + nearest % directions] += dx.hypot(dy);
                    }
                }
                first += side * side * directions;
            }
            let sum: f64 = expected.iter().sum();
            let difference: f64 =
                found.values.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b / sum.max(1e-300)).abs()).sum();
            // Rounded constants may put a gradient near the middle of two directions into the other.
            prop_assert!(difference < 0.02, "{difference}");
            prop_assert!(sum == 0.0 || (found.values.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn rejects_small_images_and_other_channels_and_an_even_image_is_zero() {
        let phog = |levels| Phog { levels, signed: false };
        let gray = |height: usize, width: usize| Images::new(vec![9; height * width], height, width, 1).unwrap();
        assert!(phog(1).histograms(&gray(5, 4)).unwrap().values.iter().all(|value| *value == 0.0));
        let message = phog(3).histograms(&gray(9, 7)).unwrap_err().to_string();
        assert!(message.contains("9 × 7") && message.contains("8 × 8"), "{message}");
        let message = phog(0).histograms(&Images::new(vec![0; 8], 2, 2, 2).unwrap()).unwrap_err().to_string();
        assert!(message.contains("2 channels"), "{message}");
        assert!(of("phog:levels=7,signed=true", Phog::from_step).unwrap_err().to_string().contains("levels"));
    }
}
