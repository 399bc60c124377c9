//! Dense vectors whose columns are far from 0, such as map coordinates and times: differences from an offset of each
//! column.
//!
//! Single precision has 24 bits: of a column around 10⁷ whole numbers are left. A similarity that depends on
//! differences alone loses nothing where the offset is subtracted in double precision first; so does a descriptor that
//! centers its columns.

use super::{DenseMatrix, Offsets, Rows, Samples};

/// Dense vectors, stored as differences from the offsets of their columns.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct FarVectors {
    /// Differences from the offsets.
    pub differences: DenseMatrix<f32>,
    /// The offset of each column.
    pub offsets: Offsets,
}

impl FarVectors {
    /// The vectors in single precision.
    pub fn rounded(&self) -> DenseMatrix<f32> {
        self.differences_from(&vec![0.0; self.offsets.len()])
    }

    /// Differences from other offsets.
    pub(super) fn differences_from(&self, offsets: &[f64]) -> DenseMatrix<f32> {
        let moved: Vec<f64> = self.offsets.iter().zip(offsets).map(|(own, other)| own - other).collect();
        shifted(&self.differences, &moved)
    }
}

/// A matrix with a number added to each column, in double precision.
pub(super) fn shifted(matrix: &DenseMatrix<f32>, by: &[f64]) -> DenseMatrix<f32> {
    let rows = matrix.values.chunks(matrix.n_cols.max(1));
    let values = rows.flat_map(|row| row.iter().zip(by).map(|(x, by)| (f64::from(*x) + by) as f32)).collect();
    DenseMatrix { values, ..*matrix }
}

impl Samples for FarVectors {
    fn len(&self) -> usize {
        self.differences.n_rows
    }

    fn select(&self, rows: &[usize]) -> Self {
        FarVectors { differences: self.differences.select(rows), offsets: self.offsets.clone() }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        self.differences.fingerprint(at)
    }

    fn offsets(&self) -> Option<&Offsets> {
        Some(&self.offsets)
    }
}

impl Rows for FarVectors {
    fn n_rows(&self) -> usize {
        self.differences.n_rows
    }

    fn n_cols(&self) -> usize {
        self.differences.n_cols
    }

    fn for_each_nonzero(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let numbers = self.differences.row(row).iter().zip(&*self.offsets);
        let numbers = numbers.map(|(difference, offset)| offset + f64::from(*difference)).enumerate();
        numbers.filter(|(_, x)| *x != 0.0).for_each(|(column, x)| visit(column, x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, DenseView, SamplesView, Source, Vectors, offsets_of};

    #[test]
    fn columns_far_from_0_have_offsets() {
        // Near 0, far from it, years, a constant, one with a zero, thousandths around 1.
        let row = |at: usize| {
            let t = at as f64 / 7.0;
            [t - 1.0, 1e7 + t, 1990.0 + at as f64, 0.1, if at == 3 { 0.0 } else { 1e7 + t }, 1.0 + 1e-6 * t]
        };
        let values: Vec<f64> = (0..8).flat_map(row).collect();
        let view = DenseView::new(&values, 8, 6).unwrap();
        let offsets = offsets_of(&view, &[1.0; 8]).unwrap();
        assert_eq!(offsets[..5], [0.0, 1e7 + 0.5, 0.0, 0.0, 0.0]);
        assert!((offsets[5] - 1.0 - 0.5e-6).abs() < 1e-15);
        // Without weight the zero is absent.
        let weights: Vec<f64> = (0..8).map(|at| f64::from(at != 3)).collect();
        assert_eq!(offsets_of(&view, &weights).unwrap()[4], 1e7 + 0.5);
        let rows = SamplesView::from(view);
        let far = rows.chunk_about(0..8, &offsets).unwrap();
        let AnySamples::Far(far) = far else { panic!() };
        for at in 0..8 {
            // The column with a zero has the digits of single precision.
            let within = |column: usize| if column == 4 { 1.0 } else { 1e-7 };
            far.for_each_nonzero(at, |column, x| {
                assert!((x - row(at)[column]).abs() < within(column), "{at} {column}: {x}");
            });
        }
        let plain = AnySamples::Far(far).about(None);
        assert_eq!(plain, rows.chunk(0..8).unwrap());
        let single = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: vec![1e7; 4], n_rows: 2, n_cols: 2 }));
        assert!(single.offsets().is_none() && Source::needed_offsets(&single, &[1.0; 2]).unwrap().is_none());
    }
}
