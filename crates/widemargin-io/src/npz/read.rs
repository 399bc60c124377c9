//! Reads an archive into a table.

use widemargin::data::{AnySamples, CsrMatrix, Element, Images, Label, Labels, Series};

use super::archive::Archive;
use super::sparse::{from_compressed, from_triplets};
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::npy::{self, Values, dense, find_non_finite, read_values};
use crate::options::ReadOptions;
use crate::problem::ArrayProblem;
use crate::reader::SampleReader;
use crate::shards::Layout;
use crate::table::{Samples, Table};

/// Archives with more rows than this per stored value, plus a million, are rejected.
const MAX_ROWS_PER_VALUE: usize = 16;

/// An archive, which is loaded completely.
#[derive(Debug)]
pub(crate) struct Reader {
    table: Option<Table>,
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader> {
        let labeled =
            options.wants_labels(&input.file, "in an NPZ archive the labels are the array 'labels' or 'y'")?;
        Ok(Reader { table: Some(read(Archive::open(input)?, labeled)?) })
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, _: usize, table: &mut Table) -> Result<bool> {
        let read = self.table.take().map(|read| *table = read);
        Ok(read.is_some())
    }

    fn layout(&self) -> Layout {
        let Some(table) = &self.table else { return Layout::default() };
        Layout {
            n: Some(table.samples.n_cols()),
            label: table.labels.as_ref().map(|_| 0),
            has_separate_labels: true,
            names: table.feature_names.clone(),
            sparse: table.samples.is_sparse(),
            ..Layout::default()
        }
    }
}

fn read(mut archive: Archive, labeled: bool) -> Result<Table> {
    let samples = if archive.has("format") {
        read_sparse(&mut archive)?
    } else if archive.has("X") && archive.shape("X")?.len() > 2 {
        read_cubes(&mut archive)?
    } else if archive.has("X") {
        let (header, values) = archive.matrix("X")?;
        let (n_rows, n_cols) = header.matrix().map_err(|problem| archive.problem("X", problem))?;
        let samples = dense(values, n_rows, n_cols, header.fortran);
        find_non_finite(&samples).map_err(|problem| archive.problem("X", problem))?;
        samples
    } else {
        return Err(IoError::Archive {
            problem: format!("no samples: the archive holds {}", archive.names()),
            file: archive.file,
            help: Some("save with scipy.sparse.save_npz, or with numpy.savez(file, X=…, y=…)"),
        });
    };
    let labels = match ["labels", "y"].into_iter().find(|name| archive.has(name)) {
        Some(name) if labeled => Some(read_labels(&mut archive, name, samples.n_rows())?),
        _ => None,
    };
    let feature_names = if archive.has("feature_names") {
        let names = archive.texts("feature_names")?;
        check_length(&archive, "feature_names", names.len(), samples.n_cols(), "a feature")?;
        Some(names)
    } else {
        None
    };
    Ok(Table { samples, labels, feature_names, ..Table::default() })
}

/// Images, n × height × width or n × height × width × channels in bytes, or series, n × length × channels; the
/// channels are the shorter axis.
fn read_cubes(archive: &mut Archive) -> Result<Samples> {
    let (header, values) = archive.read("X", |header, data| {
        if header.fortran {
            return Err(header.wrong_shape("row order (numpy.ascontiguousarray)").into());
        }
        if header.shape.contains(&0) {
            return Err(header.wrong_shape("at least one sample and one value").into());
        }
        Ok((header.clone(), read_values(data, &header.dtype, header.n_elements()?)?))
    })?;
    let values: Vec<f32> = match values {
        Values::F32(values) => values,
        Values::F64(values) => values.into_iter().map(|value| value as f32).collect(),
    };
    if header.dtype.is_byte() {
        let (height, width, channels) = match header.shape[..] {
            [_, height, width] => (height, width, 1),
            [_, height, width, channels @ (1 | 3)] => (height, width, channels),
            _ => {
                let expected = "images of bytes, n × height × width or n × height × width × 1 or 3";
                return Err(archive.problem("X", header.wrong_shape(expected)));
            }
        };
        // Bytes, which single precision holds.
        let pixels = values.into_iter().map(|value| value as u8).collect();
        return Ok(Samples::Other(AnySamples::Images(Images::new(pixels, height, width, channels)?)));
    }
    let [n, a, b] = header.shape[..] else {
        let expected = "two dimensions for vectors, three for series, three or four in bytes for images";
        return Err(archive.problem("X", header.wrong_shape(expected)));
    };
    let (length, channels, is_channels_first) = match () {
        () if 2 * b <= a => (a, b, false),
        () if 2 * a <= b => (b, a, true),
        () => {
            let expected = "series whose channels are at most half as many as their steps: which axis is the time?";
            return Err(archive.problem("X", header.wrong_shape(expected)));
        }
    };
    let at = |series: usize, step: usize, channel: usize| {
        let within = if is_channels_first { channel * length + step } else { step * channels + channel };
        values[series * length * channels + within]
    };
    let (mut all, mut lengths) = (Vec::with_capacity(values.len()), Vec::with_capacity(n));
    for series in 0..n {
        // Steps at the end without any value are beyond the series.
        let is_there = |step: &usize| (0..channels).any(|channel| !at(series, *step, channel).is_nan());
        let steps = (0..length).rfind(is_there).map_or(0, |last| last + 1);
        lengths.push(steps);
        for (step, channel) in (0..steps).flat_map(|step| (0..channels).map(move |channel| (step, channel))) {
            let value = at(series, step, channel);
            if !value.is_finite() {
                let (row, column, value) = (series, step * channels + channel, f64::from(value));
                return Err(archive.problem("X", ArrayProblem::NotFinite { row, column, value }));
            }
            all.push(value);
        }
    }
    Ok(Samples::Other(AnySamples::Series(Series::new(all, &lengths, channels)?)))
}

fn read_labels(archive: &mut Archive, name: &str, n_rows: usize) -> Result<Labels> {
    let labels: Vec<Label> = archive.read(name, |header, data| {
        let [n] = header.shape[..] else {
            return Err(header.wrong_shape("one dimension").into());
        };
        npy::read_labels(data, &header.dtype, n)
    })?;
    check_length(archive, name, labels.len(), n_rows, "a sample")?;
    Ok(Labels::new(labels))
}

fn check_length(archive: &Archive, name: &str, found: usize, expected: usize, each: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("({expected},), one {each}");
    Err(archive.problem(name, ArrayProblem::Shape { found: format!("({found},)"), expected }))
}

fn read_sparse(archive: &mut Archive) -> Result<Samples> {
    let format = archive.texts("format")?.concat();
    let shape = archive.ints::<usize>("shape")?;
    let [n_rows, n_cols] = shape[..] else {
        let problem = ArrayProblem::Shape { found: format!("({},)", shape.len()), expected: "(2,)".into() };
        return Err(archive.problem("shape", problem));
    };
    if n_rows == 0 || n_cols == 0 || n_cols > u32::MAX as usize || n_rows > u32::MAX as usize {
        return Err(archive.problem(
            "shape",
            ArrayProblem::Shape {
                found: format!("({n_rows}, {n_cols}) for the matrix"),
                expected: format!("1 to {} samples and features", u32::MAX),
            },
        ));
    }
    match format.as_str() {
        "csr" => {
            let starts = read_starts(archive, n_rows)?;
            let indices = read_indices(archive, "indices", n_cols)?;
            match archive.values("data")? {
                Values::F32(v) => csr(archive, starts, indices, v, n_cols).map(Samples::SparseF32),
                Values::F64(v) => csr(archive, starts, indices, v, n_cols).map(Samples::SparseF64),
            }
        }
        "csc" | "coo" => {
            let (rows, columns) = if format == "csc" {
                let starts = read_starts(archive, n_cols)?;
                let rows = read_indices(archive, "indices", n_rows)?;
                check_starts(archive, &starts, rows.len())?;
                let of_column = |column: usize| std::iter::repeat_n(column as u32, starts[column + 1] - starts[column]);
                (rows, (0..n_cols).flat_map(of_column).collect())
            } else {
                (read_indices(archive, "row", n_rows)?, read_indices(archive, "col", n_cols)?)
            };
            if n_rows > columns.len().saturating_mul(MAX_ROWS_PER_VALUE).saturating_add(1 << 20) {
                let expected = format!("fewer rows for {} stored values", columns.len());
                let problem = ArrayProblem::Shape { found: format!("({n_rows}, {n_cols}) for the matrix"), expected };
                return Err(archive.problem("shape", problem));
            }
            let values = archive.values("data")?;
            check_length(archive, "row", rows.len(), columns.len(), "a column index")?;
            match values {
                Values::F32(v) => triplets(archive, &rows, &columns, &v, n_rows, n_cols).map(Samples::SparseF32),
                Values::F64(v) => triplets(archive, &rows, &columns, &v, n_rows, n_cols).map(Samples::SparseF64),
            }
        }
        other => Err(IoError::Archive {
            file: archive.file.clone(),
            problem: format!(
                "sparse format '{}' is not read, expected csr, csc or coo",
                crate::problem::excerpt(other)
            ),
            help: Some("convert the matrix with .tocsr() before saving it"),
        }),
    }
}

fn csr<T: Element + std::ops::AddAssign>(
    archive: &Archive,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
    n_cols: usize,
) -> Result<CsrMatrix<T>> {
    check_length(archive, "data", values.len(), indices.len(), "an index")?;
    check_starts(archive, &starts, values.len())?;
    let matrix = from_compressed(starts, indices, values, n_cols);
    check_finite(archive, matrix)
}

fn triplets<T: Element + std::ops::AddAssign + Default>(
    archive: &Archive,
    rows: &[u32],
    columns: &[u32],
    values: &[T],
    n_rows: usize,
    n_cols: usize,
) -> Result<CsrMatrix<T>> {
    check_length(archive, "data", values.len(), columns.len(), "an index")?;
    check_finite(archive, from_triplets(rows, columns, values, n_rows, n_cols))
}

fn read_starts(archive: &mut Archive, n: usize) -> Result<Vec<usize>> {
    let starts = archive.ints::<usize>("indptr")?;
    check_length(archive, "indptr", starts.len(), n + 1, "a row or column and one more")?;
    Ok(starts)
}

fn check_starts(archive: &Archive, starts: &[usize], n_values: usize) -> Result<()> {
    let wrong = |position: usize, expected: String| {
        let value = starts[position] as i128;
        Err(archive.problem("indptr", ArrayProblem::OutOfRange { value, position, expected }))
    };
    let last = starts.len() - 1;
    if starts[0] != 0 {
        return wrong(0, "0".into());
    }
    if let Some(fall) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
        return wrong(fall + 1, format!("at least {}", starts[fall]));
    }
    if starts[last] != n_values {
        return wrong(last, format!("{n_values}, the number of stored values"));
    }
    Ok(())
}

fn read_indices(archive: &mut Archive, name: &str, n: usize) -> Result<Vec<u32>> {
    let indices = archive.ints::<u32>(name)?;
    match indices.iter().position(|index| *index as usize >= n) {
        None => Ok(indices),
        Some(position) => {
            let (value, expected) = (i128::from(indices[position]), format!("0 to {}", n - 1));
            Err(archive.problem(name, ArrayProblem::OutOfRange { value, position, expected }))
        }
    }
}

fn check_finite<T: Element>(archive: &Archive, matrix: CsrMatrix<T>) -> Result<CsrMatrix<T>> {
    let not_finite = |value: &T| !Into::<f64>::into(*value).is_finite();
    match matrix.values.iter().position(not_finite) {
        None => Ok(matrix),
        Some(at) => Err(archive.problem(
            "data",
            ArrayProblem::NotFinite {
                row: matrix.indptr.partition_point(|start| *start <= at) - 1,
                column: matrix.indices[at] as usize,
                value: matrix.values[at].into(),
            },
        )),
    }
}
