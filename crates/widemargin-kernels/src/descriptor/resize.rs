//! Images of another size.
//!
//! A pixel is the mean of the old ones around it, weighted by a triangle that spans two new pixels where the image
//! shrinks and two old ones where it grows: bilinear interpolation with antialiasing, first along rows, then along
//! columns. Ours, so that a model gives the same answers on every machine: integer weights are the same everywhere.
//!
//! A new pixel takes 2 · max(1, old side / new side) multiply-adds a channel along each side.

use super::Descriptor;
use super::row::{DescriptorRow, converts};
use crate::data::{Images, Samples};
use crate::error::Result;
use crate::memory;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(crate) const RESIZE: DescriptorRow = DescriptorRow {
    name: "resize",
    class: "Resize",
    samples: &["images"],
    parameters: &[
        Parameter::new("height", Values::Whole(1, 4096), "The height in pixels.").or("32"),
        Parameter::new("width", Values::Whole(1, 4096), "The width in pixels.").or("32"),
    ],
    usual: "hog/rbf",
    build: |step| Ok(vec![Box::new(Resize::from_step(step)?)]),
};

/// The sum of the weights of a pixel: 22 bits, so that sums of bytes fit into 32.
const WHOLE: u32 = 1 << 22;

/// Images of `height` × `width` pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resize {
    height: usize,
    width: usize,
}

impl Resize {
    /// The descriptor of a step `resize`, whose parameters are `height` (default 32) and `width` (32).
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for unknown or invalid parameters, and
    /// [`Error::UnknownName`](crate::Error::UnknownName) for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = RESIZE.arguments(step)?;
        Ok(Resize { height: arguments.value("height")?, width: arguments.value("width")? })
    }

    /// The images in the new size.
    fn resized(&self, images: &Images) -> Result<Images> {
        let (height, width, channels) = (images.height(), images.width(), images.channels());
        let needed = memory::product(&[images.len(), self.height, self.width, channels]);
        let what = || format!("{} images of {} × {} pixels", images.len(), self.height, self.width);
        memory::check(needed, what, "ask for smaller ones")?;
        let (rows, columns) = (weights(height, self.height), weights(width, self.width));
        let mut pixels = Vec::with_capacity(images.len() * self.height * self.width * channels);
        let mut narrow = vec![0; height * self.width * channels];
        for at in 0..images.len() {
            let image = images.image(at);
            let each = narrow.chunks_exact_mut(self.width * channels).zip(image.chunks_exact(width * channels));
            for (to, from) in each {
                for (out, taps) in to.chunks_exact_mut(channels).zip(&columns) {
                    for (channel, out) in out.iter_mut().enumerate() {
                        *out = taps.mean(|column| from[column * channels + channel]);
                    }
                }
            }
            for taps in &rows {
                let place = |at: usize| taps.mean(|row| narrow[row * self.width * channels + at]);
                pixels.extend((0..self.width * channels).map(place));
            }
        }
        Images::new(pixels, self.height, self.width, channels)
    }
}

/// The old pixels that a new one is made of.
struct Taps {
    first: usize,
    /// [`WHOLE`] in all.
    weights: Vec<u32>,
}

impl Taps {
    /// The weighted mean, rounded.
    fn mean(&self, value: impl Fn(usize) -> u8) -> u8 {
        let terms = self.weights.iter().enumerate().map(|(at, weight)| weight * u32::from(value(self.first + at)));
        ((terms.sum::<u32>() + WHOLE / 2) / WHOLE) as u8
    }
}

/// The taps of each of `new` pixels along a side of `old`.
fn weights(old: usize, new: usize) -> Vec<Taps> {
    let scale = old as f64 / new as f64;
    let reach = scale.max(1.0);
    let taps = |at: usize| {
        let center = (at as f64 + 0.5) * scale;
        let first = (center - reach).max(0.0) as usize;
        let end = old.min((center + reach).ceil() as usize);
        let triangle = |pixel: usize| (1.0 - ((pixel as f64 + 0.5 - center) / reach).abs()).max(0.0);
        let sum: f64 = (first..end).map(triangle).sum();
        let mut weights: Vec<u32> =
            (first..end).map(|pixel| (triangle(pixel) / sum * f64::from(WHOLE)).round() as u32).collect();
        // The remainder of rounding goes to the largest weight: an even image is unchanged.
        let total: u32 = weights.iter().sum();
        if let Some(largest) = weights.iter_mut().max() {
            *largest = largest.wrapping_add(WHOLE.wrapping_sub(total));
        }
        Taps { first, weights }
    };
    (0..new).map(taps).collect()
}

impl Descriptor for Resize {
    fn spec(&self) -> String {
        format!("{}:height={},width={}", RESIZE.name, self.height, self.width)
    }

    converts!(Images => Images, "resizes images", |resize, images| resize.resized(&images)?);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::AnySamples;
    use crate::descriptor::of;

    proptest! {
        #[test]
        fn its_own_size_and_an_even_image_are_unchanged(
            (height, width, channels) in (1usize..9, 1usize..9, 1usize..4), (rows, columns) in (1usize..20, 1usize..20),
            seed in 0u8..255,
        ) {
            let pixels: Vec<u8> = (0..height * width * channels).map(|at| (at * 91) as u8 ^ seed).collect();
            let image = Images::new(pixels.clone(), height, width, channels).unwrap();
            prop_assert_eq!(&Resize { height, width }.resized(&image).unwrap(), &image);
            let even = Images::new(vec![seed; height * width * channels], height, width, channels).unwrap();
            let found = Resize { height: rows, width: columns }.resized(&even).unwrap();
            prop_assert!(found.pixels().iter().all(|value| *value == seed));
            prop_assert_eq!((found.height(), found.width(), found.channels()), (rows, columns, channels));
            // Nothing is brighter or darker than in the old image.
            let found = Resize { height: rows, width: columns }.resized(&image).unwrap();
            let range = |pixels: &[u8]| (*pixels.iter().min().unwrap(), *pixels.iter().max().unwrap());
            let (old, new) = (range(&pixels), range(found.pixels()));
            prop_assert!(old.0 <= new.0 && new.1 <= old.1);
        }
    }

    /// Pillow 13, `Image.resize` with `Resampling.BILINEAR`, on a ramp with a step: `PILLOW` has its bytes.
    #[test]
    fn agrees_with_pillow() {
        let pixels: Vec<u8> = (0..6 * 7).map(|at| if at % 7 < 3 { at * 5 } else { 250 - at * 3 }).collect();
        let image = Images::new(pixels, 6, 7, 1).unwrap();
        for ((height, width), expected) in PILLOW {
            let found = Resize { height, width }.resized(&image).unwrap();
            let difference = found.pixels().iter().zip(expected).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            assert!(difference <= 1, "{height} × {width}: {:?}", found.pixels());
        }
    }

    const PILLOW: [((usize, usize), &[u8]); 2] = [
        ((3, 4), &[28, 88, 223, 219, 91, 122, 186, 182, 153, 156, 148, 144]),
        (
            (8, 9),
            &[
                0, 3, 7, 61, 241, 239, 236, 234, 232, 22, 25, 29, 75, 228, 226, 223, 221, 219, 48, 51, 55, 92, 212,
                210, 207, 205, 203, 74, 77, 81, 109, 196, 194, 191, 189, 187, 101, 104, 108, 126, 181, 179, 176, 174,
                172, 127, 130, 134, 143, 165, 163, 160, 158, 156, 153, 156, 160, 160, 149, 147, 144, 142, 140, 175,
                178, 182, 174, 136, 134, 131, 129, 127,
            ],
        ),
    ];

    #[test]
    fn rejects_other_samples_and_empty_sizes() {
        assert!(of("resize:height=0,width=3", Resize::from_step).unwrap_err().to_string().contains("height"));
        let message = Resize { height: 2, width: 3 }.describe(AnySamples::Strings(Vec::new())).unwrap_err().to_string();
        assert!(message.contains("strings"), "{message}");
    }
}
