//! Grid similarities against one pair at a time in 64 bits, on every instruction set.

use proptest::prelude::*;

use super::*;
use crate::data::Samples;
use crate::isa::Isa;
use crate::similarity::{Spec, pairwise};

/// Grids of zero mean and unit norm, as normalized HOG grids are.
fn grids(n: usize, [rows, cols, depth]: [usize; 3], seed: u32) -> Grids {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut values: Vec<f32> = (0..n * rows * cols * depth)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    for grid in values.chunks_mut(rows * cols * depth) {
        let norm = grid.iter().map(|x| x * x).sum::<f32>().sqrt();
        grid.iter_mut().for_each(|x| *x /= norm);
    }
    Grids::new(values, rows, cols, depth).unwrap()
}

/// The definition, one pair.
fn plain(s: &GridMatching, bases: &Grids, basis: usize, samples: &Grids, sample: usize) -> f64 {
    let (rows, cols, depth) = (bases.rows() as isize, bases.cols() as isize, bases.depth());
    let cell = |grids: &Grids, i: usize, row: isize, col: isize| -> Vec<f64> {
        let inside = (0..rows).contains(&row) && (0..cols).contains(&col);
        let at = |k: usize| f64::from(grids.grid(i)[(row * cols + col) as usize * depth + k]);
        (0..depth).map(|k| if inside { at(k) } else { 0.0 }).collect()
    };
    let square = |radius: usize| {
        let radius = radius as isize;
        (-radius..=radius).flat_map(move |down| (-radius..=radius).map(move |across| (down, across)))
    };
    let cost = |(down, across): (isize, isize)| s.penalty * (down * down + across * across) as f64;
    let of_shift = |z: (isize, isize)| -> f64 {
        let mut sum = -cost(z);
        for row in 0..rows {
            for col in 0..cols {
                let base = cell(bases, basis, row, col);
                let of_cell = |u: (isize, isize)| -> f64 {
                    let other = cell(samples, sample, row + z.0 + u.0, col + z.1 + u.1);
                    base.iter().zip(&other).map(|(a, b)| a * b).sum::<f64>() - cost(u)
                };
                sum += square(s.local()).map(of_cell).fold(f64::NEG_INFINITY, f64::max);
            }
        }
        sum
    };
    square(s.radius).map(of_shift).fold(f64::NEG_INFINITY, f64::max)
}

fn block(isa: Isa, s: GridMatching, bases: &Grids, samples: &Grids) -> Vec<f32> {
    let mut block = vec![f32::NAN; bases.len() * samples.len()];
    PackedBases::with(isa, &[s], bases).fill(samples, &mut [&mut block]).unwrap();
    block
}

fn check(s: GridMatching, bases: &Grids, samples: &Grids) {
    for isa in Isa::available() {
        let ours = block(isa, s, bases, samples);
        for i in 0..samples.len() {
            for j in 0..bases.len() {
                let truth = plain(&s, bases, j, samples, i);
                let ours = f64::from(ours[i * bases.len() + j]);
                let lanes = isa.lanes();
                assert!((ours - truth).abs() <= 2e-5, "{s}, {lanes} lanes, sample {i} basis {j}: {ours} {truth}");
            }
        }
    }
}

#[test]
fn agrees_with_the_definition() {
    for shape in [[8, 8, 31], [4, 4, 31], [3, 5, 7], [1, 6, 2], [2, 2, 1]] {
        let (bases, samples) = (grids(3, shape, 1), grids(4, shape, 2));
        for (rigid, local) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2)] {
            let s = if local == 0 { GridMatching::rigid(rigid) } else { GridMatching::deformable(rigid, local) };
            check(s, &bases, &samples);
            check(s.penalty(0.01).unwrap(), &bases, &samples);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_shape_and_radius(
        shape in (1_usize..6, 1_usize..6, 1_usize..9),
        rigid in 0_usize..7,
        local in 0_usize..7,
        penalty in prop_oneof![Just(0.0), 0.0..0.1],
        (bases, samples) in (1_usize..4, 1_usize..4),
    ) {
        let shape = [shape.0, shape.1, shape.2];
        let s = GridMatching::deformable(rigid, local).penalty(penalty).unwrap();
        check(s, &grids(bases, shape, 3), &grids(samples, shape, 4));
    }
}

#[test]
fn a_pair_has_the_same_bits_in_any_block() {
    let shape = [4, 4, 31];
    let (bases, samples) = (grids(71, shape, 5), grids(33, shape, 6));
    let all: Vec<GridMatching> = vec![
        GridMatching::rigid(1),
        GridMatching::deformable(0, 1),
        GridMatching::deformable(1, 1).penalty(0.01).unwrap(),
        GridMatching::rigid(2),
    ];
    for s in &all {
        for isa in Isa::available() {
            let whole = block(isa, *s, &bases, &samples);
            for (base, sample, n) in [(0, 0, 1), (70, 32, 1), (16, 3, 14), (40, 20, 13), (3, 1, 31), (38, 0, 33)] {
                let some_bases = bases.select(&(base..71).collect::<Vec<_>>());
                let some_samples = samples.select(&(sample..sample + n).collect::<Vec<_>>());
                let part = block(isa, *s, &some_bases, &some_samples);
                for (i, row) in part.chunks(71 - base).enumerate() {
                    assert_eq!(row, &whole[(sample + i) * 71 + base..(sample + i + 1) * 71], "{s}");
                }
            }
        }
    }
}

#[test]
fn similarities_side_by_side_are_those_alone() {
    let shape = [5, 4, 31];
    let (bases, samples) = (grids(20, shape, 7), grids(17, shape, 8));
    let sets = [
        vec![GridMatching::rigid(2), GridMatching::deformable(0, 1)],
        vec![GridMatching::rigid(1), GridMatching::rigid(2), GridMatching::rigid(0).penalty(0.1).unwrap()],
        vec![
            GridMatching::deformable(1, 1),
            GridMatching::deformable(0, 2),
            GridMatching::rigid(1),
            GridMatching::rigid(7).penalty(0.05).unwrap(),
        ],
    ];
    for isa in Isa::available() {
        for set in &sets {
            let mut blocks = vec![vec![f32::NAN; 20 * 17]; set.len()];
            let mut views: Vec<&mut [f32]> = blocks.iter_mut().map(Vec::as_mut_slice).collect();
            let packed = PackedBases::with(isa, set, &bases);
            packed.fill(&samples, &mut views).unwrap();
            for (s, shared) in set.iter().zip(&blocks) {
                let alone = block(isa, *s, &bases, &samples);
                for (a, b) in shared.iter().zip(&alone) {
                    assert!((a - b).abs() < 1e-6, "{s} {isa:?}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn a_rigid_similarity_is_symmetric_and_blind_to_shifts_of_both() {
    let (x, y) = (grids(6, [4, 5, 31], 11), grids(6, [4, 5, 31], 12));
    let s = GridMatching::rigid(2);
    assert!(s.is_symmetric(0) && !GridMatching::deformable(0, 1).is_symmetric(0));
    let (there, back) = (pairwise(&s, &x, &y).unwrap(), pairwise(&s, &y, &x).unwrap());
    for i in 0..6 {
        for j in 0..6 {
            assert_eq!(there[i * 6 + j], back[j * 6 + i]);
        }
    }
}

#[test]
fn a_shifted_grid_is_as_similar_as_itself() {
    // A grid with an empty frame, moved by one cell: the maximum finds it again; a deformable one sees each cell.
    let cells = |at: usize| {
        let mut values = vec![0.0; 25 * 3];
        for row in 1..4 {
            for col in 1..3 {
                for k in 0..3 {
                    values[(row * 5 + col + at) * 3 + k] = (1 + row * 7 + col * 3 + k) as f32;
                }
            }
        }
        Grids::new(values, 5, 5, 3).unwrap()
    };
    let (here, there) = (cells(0), cells(1));
    let own: f32 = here.grid(0).iter().map(|x| x * x).sum();
    assert_eq!(pairwise(&GridMatching::rigid(1), &here, &there).unwrap(), [own]);
    assert!(pairwise(&GridMatching::rigid(0), &here, &there).unwrap()[0] < own);
    assert!(pairwise(&GridMatching::deformable(0, 1), &here, &there).unwrap()[0] >= own);
    let dear = GridMatching::rigid(1).penalty(3.0).unwrap();
    assert_eq!(pairwise(&dear, &here, &there).unwrap(), [own - 3.0]);
}

#[test]
fn rejects_grids_of_two_shapes() {
    let s = GridMatching::deformable(2, 1);
    let message = pairwise(&s, &grids(1, [4, 4, 31], 1), &grids(1, [8, 8, 31], 1)).unwrap_err().to_string();
    assert!(message.contains("4 × 4 cells") && message.contains("8 × 8 cells"), "{message}");
    assert!(message.contains("deformable:rigid=2,local=1"), "{message}");
    let four = grids(2, [4, 4, 31], 1);
    assert!(s.block(&four, &four, &mut [0.0; 3]).is_err());
    assert!(pairwise(&s, &four, &grids(0, [4, 4, 31], 1)).unwrap().is_empty());
    assert!(GridMatching::rigid(1).penalty(-1.0).is_err());
}

#[test]
fn its_spec_is_read_and_written() {
    let read = |text: &str| -> Result<String> {
        let spec: Spec = text.parse()?;
        Ok(GridMatching::from_step(&spec.steps[0])?.to_string())
    };
    for text in
        ["rigid:radius=2", "deformable:rigid=2,local=1", "deformable:rigid=2,local=0", "rigid:radius=0,penalty=0.25"]
    {
        assert_eq!(read(text).unwrap(), text);
    }
    assert_eq!(read("rigid").unwrap(), "rigid:radius=1");
    for wrong in ["rigid:radius=-1", "rigid:local=1", "deformable:precision=bf16", "rigid:penalty=-2"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn useful_flops_are_those_of_the_papers_grids() {
    let hog4 = |s: GridMatching| s.useful_flops(8, 8, 31);
    assert_eq!(hog4(GridMatching::rigid(1)), 30_008);
    assert_eq!(hog4(GridMatching::deformable(1, 1)), 71_672);
    assert_eq!(hog4(GridMatching::deformable(2, 1)), 120_032);
    assert_eq!(GridMatching::rigid(1).useful_flops(4, 4, 31), 6_200);
}
