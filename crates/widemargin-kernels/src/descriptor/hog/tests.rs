//! The fast descriptor against a plain one in 64 bits.

use super::gradients::direction;
use super::*;

const COSINES: [f64; 9] = [1.0, 0.9397, 0.7660, 0.5, 0.1736, -0.1736, -0.5, -0.7660, -0.9397];
const SINES: [f64; 9] = [0.0, 0.3420, 0.6428, 0.8660, 0.9848, 0.9848, 0.8660, 0.6428, 0.3420];

fn plain_direction(dx: i32, dy: i32) -> u32 {
    // In units of 1e-4, so that level directions are level.
    let whole = |x: f64| (x * 1e4).round() as i64;
    let dots = (0..18).map(|o| {
        let sign = if o < 9 { 1 } else { -1 };
        sign * (whole(COSINES[o % 9]) * i64::from(dx) + whole(SINES[o % 9]) * i64::from(dy))
    });
    let dots: Vec<i64> = dots.collect();
    let best = *dots.iter().max().unwrap();
    dots.iter().position(|&dot| dot == best).unwrap() as u32
}

#[test]
fn every_gradient_goes_the_way_of_the_largest_dot_product() {
    for dx in -255..=255 {
        for dy in -255..=255 {
            assert_eq!(direction(dx as f32, dy as f32), plain_direction(dx, dy), "{dx} {dy}");
        }
    }
}

/// The definition, a vote at a time.
fn plain(image: &[u8], height: usize, width: usize, channels: usize, size: usize) -> Vec<f64> {
    let (rows, cols) = (height / size, width / size);
    let mut votes = vec![[0.0; 18]; rows * cols];
    let pixel = |y: usize, x: usize, c: usize| i32::from(image[(y * width + x) * channels + c]);
    for y in 1..height.saturating_sub(1) {
        for x in 1..width.saturating_sub(1) {
            let mut best = (-1, 0, 0);
            for c in 0..channels {
                let (dx, dy) = (pixel(y, x + 1, c) - pixel(y, x - 1, c), pixel(y + 1, x, c) - pixel(y - 1, x, c));
                if dx * dx + dy * dy > best.0 {
                    best = (dx * dx + dy * dy, dx, dy);
                }
            }
            let o = plain_direction(best.1, best.2) as usize;
            let place = |p: usize| {
                let at = (p as f64 + 0.5) / size as f64 - 0.5;
                (at.floor() as isize, at - at.floor())
            };
            let ((row, down), (col, right)) = (place(y), place(x));
            for (r, wy) in [(row, 1.0 - down), (row + 1, down)] {
                for (c, wx) in [(col, 1.0 - right), (col + 1, right)] {
                    if (0..rows as isize).contains(&r) && (0..cols as isize).contains(&c) {
                        votes[r as usize * cols + c as usize][o] += wx * wy * f64::from(best.0).sqrt();
                    }
                }
            }
        }
    }
    let energy = |r: isize, c: isize| -> f64 {
        let cell = votes[r.clamp(0, rows as isize - 1) as usize * cols + c.clamp(0, cols as isize - 1) as usize];
        (0..9).map(|o| (cell[o] + cell[o + 9]).powi(2)).sum()
    };
    let mut out = Vec::new();
    for r in 0..rows as isize {
        for c in 0..cols as isize {
            let cell = votes[r as usize * cols + c as usize];
            let blocks: Vec<f64> = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
                .iter()
                .map(|(y, x)| {
                    let sum = energy(r, c) + energy(r + y, c) + energy(r, c + x) + energy(r + y, c + x);
                    1.0 / (sum + 1e-4).sqrt()
                })
                .collect();
            let clipped = |h: f64| 0.5 * blocks.iter().map(|n| (h * n).min(0.2)).sum::<f64>();
            out.extend(cell.iter().map(|&h| clipped(h)));
            out.extend((0..9).map(|o| clipped(cell[o] + cell[o + 9])));
            out.extend(blocks.iter().map(|n| 0.2357 * cell.iter().map(|h| (h * n).min(0.2)).sum::<f64>()));
        }
    }
    out
}

/// Images with smooth parts, edges and noise.
fn images(n: usize, height: usize, width: usize, channels: usize) -> Images {
    let mut state = 7_u32;
    let mut pixels = Vec::new();
    for i in 0..n {
        for y in 0..height {
            for x in 0..width {
                for c in 0..channels {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let noise = if i % 2 == 0 { state >> 24 } else { (state >> 30) + 20 * u32::from(x > y) };
                    pixels.push((noise as usize + 3 * x + c * y).min(255) as u8);
                }
            }
        }
    }
    Images::new(pixels, height, width, channels).unwrap()
}

#[test]
fn agrees_with_the_definition_for_every_shape_and_instruction_set() {
    let shapes =
        [(32, 32, 3, 4), (32, 32, 3, 8), (12, 20, 1, 4), (9, 15, 3, 3), (5, 4, 1, 1), (2, 2, 3, 2), (40, 8, 3, 8)];
    for (height, width, channels, size) in shapes {
        let images = images(3, height, width, channels);
        let hog = Hog { cell_size: size };
        let first = hog.describe(&images).unwrap();
        assert_eq!((first.rows(), first.cols(), first.depth()), (height / size, width / size, 31));
        for isa in Isa::available() {
            assert_eq!(hog.describe_with(isa, &images).unwrap(), first, "{isa:?}: other bits");
        }
        for i in 0..3 {
            let truth = plain(images.image(i), height, width, channels, size);
            for (at, (ours, truth)) in first.grid(i).iter().zip(&truth).enumerate() {
                let gap = (f64::from(*ours) - truth).abs();
                assert!(gap < 2e-5, "{height}×{width}×{channels} cell {size}, image {i}, {at}: {ours} {truth}");
            }
        }
    }
}

#[test]
fn rejects_images_of_other_sizes() {
    let hog = Hog { cell_size: 8 };
    let message = hog.describe(&images(1, 28, 32, 1)).unwrap_err().to_string();
    assert!(message.contains("28 × 32") && message.contains("cell size 8"), "{message}");
    let message = hog.describe(&images(1, 32, 32, 2)).unwrap_err().to_string();
    assert!(message.contains("2 channels"), "{message}");
    assert!(hog.describe(&Images::default()).is_err());
    assert_eq!(hog.describe(&Images::new(Vec::new(), 32, 32, 3).unwrap()).unwrap().len(), 0);
}

#[test]
fn its_spec_is_read_and_written() {
    let read = |text: &str| {
        let spec: crate::similarity::Spec = text.parse().unwrap();
        Hog::from_step(&spec.steps[0]).map(|hog| hog.to_string())
    };
    assert_eq!(read("hog").unwrap(), "hog:cell=8");
    assert_eq!(read("hog:cell=4").unwrap(), "hog:cell=4");
    assert!(read("hog:cell=0").is_err());
}
