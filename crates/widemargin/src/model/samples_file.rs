//! Samples of any kind as tensors of a model file with a common name prefix.

use serde::{Deserialize, Serialize};

use super::file::{Array, Reader, array};
use crate::data::{
    AnySamples, BitSets, CsrMatrix, CsrView, DenseMatrix, FarVectors, Grids, Images, Samples, Series, Vectors,
};
use crate::error::{Error, Result};

/// The header's description of samples: their kind, and the sizes of the tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Shape {
    /// Dense vectors.
    Dense { n: usize, n_features: usize },
    /// Sparse vectors.
    Sparse { n: usize, n_features: usize, n_values: usize },
    /// Images of one size.
    Images { n: usize, height: usize, width: usize, channels: usize },
    /// Grids of one size.
    Grids { n: usize, rows: usize, cols: usize, depth: usize },
    /// Series with `n_steps` steps in all.
    Series { n: usize, n_steps: usize, channels: usize },
    /// Strings with `n_bytes` bytes in all.
    Strings { n: usize, n_bytes: usize },
    /// Sets of bits.
    BitSets { n: usize, n_bits: usize },
    /// Dense vectors as differences from an offset of each column.
    Far { n: usize, n_features: usize },
    /// Not in the file: the caller stores them.
    Elsewhere { n: usize },
}

/// Bases as the arrays of a model file.
///
/// # Errors
/// [`Error::Similarity`] for samples that are as a descriptor gave them, which no model keeps.
pub fn bases_arrays(bases: &AnySamples) -> Result<Vec<Array<'_>>> {
    Ok(to_arrays(BASES, bases)?.1)
}

/// The names of the arrays of bases.
pub(super) const BASES: &str = "bases";

/// Samples as arrays called `name`, or `name.…` where there are several.
pub(super) fn to_arrays<'a>(name: &str, samples: &'a AnySamples) -> Result<(Shape, Vec<Array<'a>>)> {
    let n = samples.len();
    let sub = |part: &str| format!("{name}.{part}");
    let wide = |numbers: &[usize]| numbers.iter().map(|&number| number as u64).collect::<Vec<u64>>();
    Ok(match samples {
        AnySamples::Vectors(Vectors::Dense(matrix)) => {
            let shape = vec![n, matrix.n_cols];
            (Shape::Dense { n, n_features: matrix.n_cols }, vec![array(name, shape, &matrix.values)])
        }
        AnySamples::Vectors(Vectors::Sparse(matrix)) => {
            let n_values = matrix.values.len();
            let arrays = vec![
                array(&sub("starts"), vec![n + 1], wide(&matrix.indptr)),
                array(&sub("columns"), vec![n_values], &matrix.indices),
                array(&sub("values"), vec![n_values], &matrix.values),
            ];
            (Shape::Sparse { n, n_features: matrix.n_cols, n_values }, arrays)
        }
        AnySamples::Images(images) => {
            let (height, width, channels) = (images.height(), images.width(), images.channels());
            let arrays = vec![array(name, vec![n, height, width, channels], images.pixels())];
            (Shape::Images { n, height, width, channels }, arrays)
        }
        AnySamples::Grids(grids) => {
            let (rows, cols, depth) = (grids.rows(), grids.cols(), grids.depth());
            let arrays = vec![array(name, vec![n, rows, cols, depth], &grids.cells().values)];
            (Shape::Grids { n, rows, cols, depth }, arrays)
        }
        AnySamples::Series(series) => {
            let (lengths, channels) = (series.lengths(), series.channels());
            let n_steps = lengths.iter().sum();
            let arrays = vec![
                array(&sub("lengths"), vec![n], wide(&lengths)),
                array(&sub("values"), vec![n_steps, channels], series.values()),
            ];
            (Shape::Series { n, n_steps, channels }, arrays)
        }
        AnySamples::Strings(strings) => {
            let bytes = strings.concat().into_bytes();
            let lengths: Vec<usize> = strings.iter().map(String::len).collect();
            let n_bytes = bytes.len();
            let arrays =
                vec![array(&sub("lengths"), vec![n], wide(&lengths)), array(&sub("bytes"), vec![n_bytes], bytes)];
            (Shape::Strings { n, n_bytes }, arrays)
        }
        AnySamples::BitSets(sets) => {
            let n_bits = sets.n_bits();
            (Shape::BitSets { n, n_bits }, vec![array(name, vec![n, n_bits.div_ceil(64)], sets.words())])
        }
        AnySamples::Far(vectors) => {
            let (matrix, offsets) = (&vectors.differences, &vectors.offsets);
            let n_features = matrix.n_cols;
            let differences = array(name, vec![n, n_features], &matrix.values);
            let offsets = array(&sub("offsets"), vec![n_features], &offsets[..]);
            (Shape::Far { n, n_features }, vec![differences, offsets])
        }
        AnySamples::Own(_) => (Shape::Elsewhere { n }, Vec::new()),
        AnySamples::Described(_) => {
            return Err(Error::similarity(name, "described samples have no place in a model file"));
        }
    })
}

/// Reads the result of [`to_arrays`].
pub(super) fn from_arrays(reader: &Reader<'_>, name: &str, shape: &Shape) -> Result<AnySamples> {
    let sub = |part: &str| format!("{name}.{part}");
    let file_error = |error: Error| reader.wrong(error.to_string());
    let narrow = |numbers: Vec<u64>| -> Result<Vec<usize>> {
        let number =
            |number: u64| usize::try_from(number).map_err(|_| reader.wrong(format!("{name}: a size of {number}")));
        numbers.into_iter().map(number).collect()
    };
    let product = |sizes: &[usize]| -> Result<()> {
        let all = sizes.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        all.map(|_| ()).ok_or_else(|| reader.wrong(format!("{name}: sizes of {sizes:?} cannot be")))
    };
    Ok(match *shape {
        Shape::Dense { n, n_features } => {
            let values = reader.tensor(name, &[n, n_features])?;
            AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: n_features }))
        }
        Shape::Sparse { n, n_features, n_values } => {
            product(&[n, 2])?;
            let indptr = narrow(reader.tensor(&sub("starts"), &[n + 1])?)?;
            let indices: Vec<u32> = reader.tensor(&sub("columns"), &[n_values])?;
            let values: Vec<f32> = reader.tensor(&sub("values"), &[n_values])?;
            CsrView::new(&indptr, &indices, &values, n_features).map_err(file_error)?;
            AnySamples::Vectors(Vectors::Sparse(CsrMatrix { indptr, indices, values, n_cols: n_features }))
        }
        Shape::Images { n, height, width, channels } => {
            let pixels = reader.tensor(name, &[n, height, width, channels])?;
            AnySamples::Images(Images::new(pixels, height, width, channels).map_err(file_error)?)
        }
        Shape::Grids { n, rows, cols, depth } => {
            let values = reader.tensor(name, &[n, rows, cols, depth])?;
            AnySamples::Grids(Grids::new(values, rows, cols, depth).map_err(file_error)?)
        }
        Shape::Series { n, n_steps, channels } => {
            let lengths = narrow(reader.tensor(&sub("lengths"), &[n])?)?;
            let values = reader.tensor(&sub("values"), &[n_steps, channels])?;
            AnySamples::Series(Series::new(values, &lengths, channels).map_err(file_error)?)
        }
        Shape::Strings { n, n_bytes } => {
            let lengths = narrow(reader.tensor(&sub("lengths"), &[n])?)?;
            let bytes: Vec<u8> = reader.tensor(&sub("bytes"), &[n_bytes])?;
            let mut rest = bytes.as_slice();
            let mut strings = Vec::with_capacity(n);
            for length in lengths {
                let (string, after) = rest
                    .split_at_checked(length)
                    .ok_or_else(|| reader.wrong(format!("{name}: lengths beyond the end")))?;
                let string = std::str::from_utf8(string)
                    .map_err(|_| reader.wrong(format!("{name}: a string that is not UTF-8")))?;
                strings.push(string.to_owned());
                rest = after;
            }
            reader.require(rest.is_empty(), format_args!("{name}: bytes that belong to no string"))?;
            AnySamples::Strings(strings)
        }
        Shape::BitSets { n, n_bits } => {
            let words = reader.tensor(name, &[n, n_bits.div_ceil(64)])?;
            AnySamples::BitSets(BitSets::new(words, n, n_bits).map_err(file_error)?)
        }
        Shape::Far { n, n_features } => {
            let values = reader.tensor(name, &[n, n_features])?;
            let offsets: Vec<f64> = reader.tensor(&sub("offsets"), &[n_features])?;
            let differences = DenseMatrix { values, n_rows: n, n_cols: n_features };
            AnySamples::Far(FarVectors { differences, offsets: offsets.into() })
        }
        Shape::Elsewhere { n } => {
            return Err(reader.wrong(format!(
                "its similarity is code of the program that trained it, which keeps the {n} {name} too: only that \
                 program can load it"
            )));
        }
    })
}
