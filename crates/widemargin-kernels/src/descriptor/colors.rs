//! Histograms of colors in the parts of an image.
//!
//! Swain and Ballard, *Color Indexing*, International Journal of Computer Vision 7(1), 1991: the histogram of an
//! image's colors, each channel cut into equal intervals; here one for each part of an even grid.
//!
//! A pixel of three channels takes three table look-ups and one scattered addition.

use super::Descriptor;
use super::row::{DescriptorRow, converts, rows_of};
use crate::data::{DenseMatrix, Images, Samples, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(crate) const COLORS: DescriptorRow = DescriptorRow {
    name: "colors",
    class: "Colors",
    samples: &["images"],
    parameters: &[
        Parameter::new("cells", Values::Whole(1, 64), "The number of parts along each side.").or("2"),
        Parameter::new("bins", Values::Whole(1, 256), "The number of intervals per channel; there are bins³ colors.")
            .or("4"),
    ],
    usual: "chi2",
    build: |step| Ok(vec![Box::new(Colors::from_step(step)?)]),
};

/// The most bins of an image.
const MAX_BINS: usize = 1 << 24;

/// The share of an image's pixels in each part and of each color: `[part row][part column][color]`, the first channel
/// slowest. A pixel belongs to the part in which its upper left corner lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    cells: usize,
    bins: usize,
}

impl Colors {
    /// The descriptor of a step `colors`, whose parameters are `cells` (default 2) and `bins` (4).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = COLORS.arguments(step)?;
        Ok(Colors { cells: arguments.value("cells")?, bins: arguments.value("bins")? })
    }

    /// The histograms: images × (cells² · bins^channels).
    ///
    /// # Errors
    /// [`Error::Shape`] for images with a side of fewer pixels than parts; [`Error::Parameter`] for more than 2^24 bins
    /// an image; [`Error::Memory`].
    pub fn histograms(&self, images: &Images) -> Result<DenseMatrix<f32>> {
        let (height, width, channels) = (images.height(), images.width(), images.channels());
        let Colors { cells, bins } = *self;
        if height < cells || width < cells {
            let found = format!("{height} × {width} pixels");
            let what = format!("images for '{}'", self.spec());
            return Err(Error::shape(what, found, format!("at least {cells} × {cells}")));
        }
        let colors = (0..channels).try_fold(1usize, |all, _| all.checked_mul(bins).filter(|all| *all <= MAX_BINS));
        let n_cols = colors.map(|colors| colors * cells * cells).filter(|n_cols| *n_cols <= MAX_BINS);
        let (Some(colors), Some(n_cols)) = (colors, n_cols) else {
            return Err(Error::parameter("bins", bins, format!("fewer: bins^{channels} · cells² is above {MAX_BINS}")));
        };
        let bin_of: Vec<usize> = (0..256).map(|value| value * bins / 256).collect();
        let part_of_column: Vec<usize> = (0..width).map(|column| column * cells / width).collect();
        let share = 1.0 / (height * width) as f32;
        rows_of([images.len(), n_cols], ["bins", "images"], "ask for fewer bins or cells", |at, histogram| {
            for (row, pixels) in images.image(at).chunks_exact(width * channels).enumerate() {
                let part_of_row = row * cells / height * cells;
                for (pixel, part) in pixels.chunks_exact(channels).zip(&part_of_column) {
                    let color = pixel.iter().fold(0, |color, &value| color * bins + bin_of[usize::from(value)]);
                    histogram[(part_of_row + part) * colors + color] += 1.0;
                }
            }
            // Counts are exact; each is divided once.
            histogram.iter_mut().for_each(|count| *count *= share);
        })
    }
}

impl Descriptor for Colors {
    fn spec(&self) -> String {
        format!("{}:cells={},bins={}", COLORS.name, self.cells, self.bins)
    }

    converts!(Images => Vectors, "counts colors of images", |this, images| Vectors::Dense(this.histograms(&images)?));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::AnySamples;
    use crate::descriptor::of;

    proptest! {
        #[test]
        fn each_bin_is_the_share_of_its_pixels(
            (height, width, channels) in (3usize..9, 3usize..9, 1usize..4),
            (cells, bins) in (1usize..4, 1usize..6),
            seed in 0u8..255,
        ) {
            let pixels: Vec<u8> = (0..2 * height * width * channels).map(|at| (at * 97) as u8 ^ seed).collect();
            let images = Images::new(pixels.clone(), height, width, channels).unwrap();
            let found = Colors { cells, bins }.histograms(&images).unwrap();
            let mut expected = vec![0.0; found.values.len()];
            for (at, pixel) in pixels.chunks(channels).enumerate() {
                let (image, row, column) = (at / (height * width), at / width % height, at % width);
                let part = (row * cells / height) * cells + column * cells / width;
                let color = pixel.iter().fold(0, |sum, &value| sum * bins + usize::from(value) * bins / 256);
                expected[image * found.n_cols + part * bins.pow(channels as u32) + color] += 1.0 / (height * width) as f32;
            }
            for (found, expected) in found.values.iter().zip(expected) {
                prop_assert!((found - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn rejects_small_images_and_too_many_bins() {
        let images = Images::new(vec![0; 2 * 5 * 3], 2, 5, 3).unwrap();
        let message = Colors { cells: 3, bins: 4 }.histograms(&images).unwrap_err().to_string();
        assert!(message.contains("2 × 5") && message.contains("3 × 3"), "{message}");
        let message = of("colors:cells=1,bins=257", Colors::from_step).unwrap_err().to_string();
        assert!(message.contains("bins") && message.contains("256"), "{message}");
        let message = Colors { cells: 2, bins: 256 }.histograms(&images).unwrap_err().to_string();
        assert!(message.contains("fewer"), "{message}");
        let message = Colors { cells: 1, bins: 1 }.describe(AnySamples::Strings(Vec::new())).unwrap_err().to_string();
        assert!(message.contains("strings"), "{message}");
    }
}
