//! The UCI optical digits, 8 × 8 pixels of 0 to 16, as scikit-learn ships them. CC BY 4.0:
//! E. Alpaydin, C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning Repository,
//! 1998, <https://doi.org/10.24432/C50P49>. `data/LICENSE` describes the file.

use widemargin::data::{DenseMatrix, Labels};
use widemargin_io::Samples;

/// How many of the images, the first, are for training.
pub const N_TRAIN: usize = 1000;

const TEXT: &str = include_str!("../data/digits.txt");
/// Pixels of an image.
pub const N_PIXELS: usize = 64;

/// Images and their labels.
pub struct Digits {
    /// An image a row; pixels from 0 to 1.
    pub images: Samples,
    /// The digit each shows.
    pub labels: Labels,
}

/// The images for training and those for testing.
pub fn digits() -> (Digits, Digits) {
    let lines: Vec<&str> = TEXT.lines().collect();
    let (train, test) = lines.split_at(N_TRAIN);
    (part(train), part(test))
}

fn part(lines: &[&str]) -> Digits {
    let number = |c: char| c.to_digit(17).unwrap_or(0);
    let label = |line: &&str| i64::from(line.chars().next().map_or(0, number));
    let pixels = lines.iter().flat_map(|line| line[2..].chars().map(|c| f64::from(number(c)) / 16.0));
    let images = DenseMatrix { values: pixels.collect(), n_rows: lines.len(), n_cols: N_PIXELS };
    Digits { images: Samples::DenseF64(images), labels: Labels::new(lines.iter().map(label)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole() {
        let (train, test) = digits();
        assert_eq!((train.labels.len(), test.labels.len()), (1000, 797));
        let mut sum = 0.0;
        for part in [&train, &test] {
            assert_eq!(part.labels.classes().len(), 10);
            let Samples::DenseF64(images) = &part.images else { panic!("pixels are numbers") };
            assert!(images.view().is_ok() && images.n_rows == part.labels.len());
            assert!(images.values.iter().all(|x| (0.0..=1.0).contains(x)));
            sum += images.values.iter().sum::<f64>();
        }
        // scikit-learn's load_digits: the sum of all pixels.
        assert_eq!(sum * 16.0, SUM);
    }

    const SUM: f64 = 561718.0;
}
