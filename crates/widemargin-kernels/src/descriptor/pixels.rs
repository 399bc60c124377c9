//! The pixels of images as a grid of cells, to be compared as they are.

use super::Descriptor;
use super::row::{DescriptorRow, converts};
use crate::data::{Grids, Images};

pub(crate) const PIXELS: DescriptorRow = DescriptorRow {
    name: "pixels",
    class: "Pixels",
    samples: &["images"],
    parameters: &[],
    usual: "match",
    build: |step| PIXELS.arguments(step).map(|_| vec![Box::new(Pixels) as _]),
};

/// Each pixel is a cell of one number a channel, its byte divided by 255. It learns nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pixels;

impl Descriptor for Pixels {
    fn spec(&self) -> String {
        "pixels".into()
    }

    converts!(Images => Grids, "takes the pixels of images", |_this, images| {
        let values = images.pixels().iter().map(|&byte| f32::from(byte) / 255.0).collect();
        Grids::new(values, images.height(), images.width(), images.channels())?
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::AnySamples;

    #[test]
    fn pixels_are_cells() {
        let images = Images::new((0..24).map(|at| at * 10).collect(), 2, 4, 3).unwrap();
        let AnySamples::Grids(grids) = Pixels.describe(AnySamples::Images(images)).unwrap() else { panic!() };
        assert_eq!([grids.rows(), grids.cols(), grids.depth()], [2, 4, 3]);
        assert!(grids.grid(0).iter().enumerate().all(|(at, &value)| value == (at * 10) as f32 / 255.0));
        let message = Pixels.describe(AnySamples::Strings(Vec::new())).unwrap_err().to_string();
        assert!(message.contains("not strings"), "{message}");
    }
}
