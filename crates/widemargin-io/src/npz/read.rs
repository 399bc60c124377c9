//! Reads an archive into a table.

use std::fmt::Display;

use widemargin::data::{AnySamples, CsrMatrix, Element, Images, Labels, Series};

use super::archive::{Archive, in_array};
use super::sparse::{from_compressed, from_triplets};
use crate::error::{Failure, Problem, excerpt};
use crate::input::Input;
use crate::npy::{Header, Values, dense, not_finite};
use crate::options::ReadOptions;
use crate::reader::{self, SampleReader};
use crate::table::{Samples, Table};

/// Archives with more rows than this per stored value, plus a million, are rejected.
const MAX_ROWS_PER_VALUE: usize = 16;

/// The sizes that this system can count.
const AT_LEAST_0: &str = "at least 0";

/// An archive, which is loaded completely.
pub(crate) struct Reader {
    table: Option<Table>,
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader, Failure> {
        let labeled = options.wants_labels("in an NPZ archive the labels are the array 'labels' or 'y'")?;
        Ok(Reader { table: Some(read(Archive::open(input)?, labeled)?) })
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, _: usize, table: &mut Table) -> Result<bool, Failure> {
        let read = self.table.take().map(|read| *table = read);
        Ok(read.is_some())
    }

    fn layout(&self) -> reader::Layout {
        let Some(table) = &self.table else { return reader::Layout::default() };
        reader::Layout {
            n: Some(table.samples.n_cols()),
            label: table.labels.as_ref().map(|_| 0),
            has_separate_labels: true,
            names: table.feature_names.clone(),
            sparse: table.samples.is_sparse(),
            ..reader::Layout::default()
        }
    }
}

fn read(mut archive: Archive, labeled: bool) -> Result<Table, Failure> {
    let samples = match (archive.has("format"), archive.has("X")) {
        (true, _) => read_sparse(&mut archive)?,
        (false, true) => read_array(&mut archive)?,
        (false, false) => {
            let problem = Problem::new(format!("no samples: the archive holds {}", archive.names()));
            let help = "save with scipy.sparse.save_npz, or with numpy.savez(file, X=…, y=…)";
            return Err(problem.help(help).into());
        }
    };
    let labels = match ["labels", "y"].into_iter().find(|name| archive.has(name)) {
        Some(name) if labeled => {
            let labels = archive.read(name, |array| array.labels())?;
            check_length(name, labels.len(), samples.n_rows(), "a sample")?;
            Some(Labels::new(labels))
        }
        _ => None,
    };
    let feature_names = if archive.has("feature_names") {
        let names = archive.texts("feature_names")?;
        check_length("feature_names", names.len(), samples.n_cols(), "a feature")?;
        Some(names)
    } else {
        None
    };
    Ok(Table { samples, labels, feature_names, ..Table::default() })
}

/// Vectors, n × features; images, n × height × width or n × height × width × channels in bytes; or series,
/// n × length × channels, whose channels are the shorter axis.
fn read_array(archive: &mut Archive) -> Result<Samples, Failure> {
    let (header, values) = archive.read("X", |array| {
        let header = array.header.clone();
        match header.shape.len() {
            0..=2 => drop(header.matrix()?),
            _ if header.fortran => return Err(header.wrong_shape("row order (numpy.ascontiguousarray)").into()),
            _ if header.shape.contains(&0) => {
                return Err(header.wrong_shape("at least one sample and one value").into());
            }
            _ => {}
        }
        Ok((header, array.all_values()?))
    })?;
    let samples = match header.shape[..] {
        [n_rows, n_cols] => match values {
            Values::F32(values) => dense(values, n_rows, n_cols, header.fortran, 0).map(Samples::DenseF32),
            Values::F64(values) => dense(values, n_rows, n_cols, header.fortran, 0).map(Samples::DenseF64),
        },
        _ if header.dtype.is_byte() => images(&header, &singles(values)),
        [n, a, b] => series(&header, &singles(values), [n, a, b]),
        _ => {
            let expected = "two dimensions for vectors, three for series, three or four in bytes for images";
            Err(header.wrong_shape(expected))
        }
    };
    samples.map_err(|problem| in_array("X", problem))
}

fn singles(values: Values) -> Vec<f32> {
    match values {
        Values::F32(values) => values,
        Values::F64(values) => values.into_iter().map(|value| value as f32).collect(),
    }
}

fn images(header: &Header, values: &[f32]) -> Result<Samples, Problem> {
    let (height, width, channels) = match header.shape[..] {
        [_, height, width] => (height, width, 1),
        [_, height, width, channels @ (1 | 3)] => (height, width, channels),
        _ => {
            return Err(header.wrong_shape("images of bytes, n × height × width or n × height × width × 1 or 3"));
        }
    };
    // Bytes, which single precision holds.
    let pixels = values.iter().map(|&value| value as u8).collect();
    let images = Images::new(pixels, height, width, channels).map_err(|error| error.to_string())?;
    Ok(Samples::Other(AnySamples::Images(images)))
}

fn series(header: &Header, values: &[f32], [n, a, b]: [usize; 3]) -> Result<Samples, Problem> {
    let (length, channels, is_channels_first) = match () {
        () if 2 * b <= a => (a, b, false),
        () if 2 * a <= b => (b, a, true),
        () => {
            let expected = "series whose channels are at most half as many as their steps: which axis is the time?";
            return Err(header.wrong_shape(expected));
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
                return Err(not_finite(series, step * channels + channel, f64::from(value)));
            }
            all.push(value);
        }
    }
    let series = Series::new(all, &lengths, channels).map_err(|error| error.to_string())?;
    Ok(Samples::Other(AnySamples::Series(series)))
}

/// The problem of an array of another shape than expected.
fn wrong_shape(found: impl Display, expected: impl Display) -> Problem {
    format!("shape {found}, expected {expected}").into()
}

fn check_length(name: &str, found: usize, expected: usize, each: &str) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("({expected},), one {each}");
    Err(in_array(name, wrong_shape(format!("({found},)"), expected)))
}

/// SciPy's layouts.
fn read_sparse(archive: &mut Archive) -> Result<Samples, Failure> {
    let format = archive.texts("format")?.concat();
    let shape = archive.ints::<usize>("shape", AT_LEAST_0)?;
    let [n_rows, n_cols] = shape[..] else {
        return Err(in_array("shape", wrong_shape(format!("({},)", shape.len()), "(2,)")));
    };
    let found = format!("({n_rows}, {n_cols}) for the matrix");
    if n_rows == 0 || n_cols == 0 || n_cols > u32::MAX as usize || n_rows > u32::MAX as usize {
        let expected = format!("1 to {} samples and features", u32::MAX);
        return Err(in_array("shape", wrong_shape(found, expected)));
    }
    let layout = match format.as_str() {
        "csr" => Layout::Compressed(read_starts(archive, n_rows)?, read_indices(archive, "indices", n_cols)?),
        "csc" => {
            let starts = read_starts(archive, n_cols)?;
            let rows = read_indices(archive, "indices", n_rows)?;
            check_starts(&starts, rows.len())?;
            let of_column = |column: usize| std::iter::repeat_n(column as u32, starts[column + 1] - starts[column]);
            Layout::Triplets(rows, (0..n_cols).flat_map(of_column).collect())
        }
        "coo" => Layout::Triplets(read_indices(archive, "row", n_rows)?, read_indices(archive, "col", n_cols)?),
        other => {
            let text = format!("sparse format '{}' is not read, expected csr, csc or coo", excerpt(other));
            let problem = Problem::new(text).help("convert the matrix with .tocsr() before saving it");
            return Err(problem.into());
        }
    };
    if let Layout::Triplets(rows, columns) = &layout {
        if n_rows > columns.len().saturating_mul(MAX_ROWS_PER_VALUE).saturating_add(1 << 20) {
            let expected = format!("fewer rows for {} stored values", columns.len());
            return Err(in_array("shape", wrong_shape(found, expected)));
        }
        check_length("row", rows.len(), columns.len(), "a column index")?;
    }
    match archive.read("data", |array| array.vector())? {
        Values::F32(values) => matrix(layout, values, n_rows, n_cols).map(Samples::SparseF32),
        Values::F64(values) => matrix(layout, values, n_rows, n_cols).map(Samples::SparseF64),
    }
}

/// Where the values of a sparse matrix are.
enum Layout {
    /// The start of each row, and the columns.
    Compressed(Vec<usize>, Vec<u32>),
    /// Rows and columns.
    Triplets(Vec<u32>, Vec<u32>),
}

fn matrix<T: Element + std::ops::AddAssign + Default>(
    layout: Layout,
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
) -> Result<CsrMatrix<T>, Failure> {
    let (Layout::Compressed(_, columns) | Layout::Triplets(_, columns)) = &layout;
    check_length("data", values.len(), columns.len(), "an index")?;
    let matrix = match layout {
        Layout::Compressed(starts, columns) => {
            check_starts(&starts, values.len())?;
            from_compressed(starts, columns, values, n_cols)
        }
        Layout::Triplets(rows, columns) => from_triplets(&rows, &columns, &values, n_rows, n_cols),
    };
    let is_bad = |value: &T| !Into::<f64>::into(*value).is_finite();
    let Some(at) = matrix.values.iter().position(is_bad) else { return Ok(matrix) };
    let row = matrix.indptr.partition_point(|start| *start <= at) - 1;
    Err(in_array("data", not_finite(row, matrix.indices[at] as usize, matrix.values[at].into())))
}

fn read_starts(archive: &mut Archive, n: usize) -> Result<Vec<usize>, Failure> {
    let starts = archive.ints::<usize>("indptr", AT_LEAST_0)?;
    check_length("indptr", starts.len(), n + 1, "a row or column and one more")?;
    Ok(starts)
}

fn check_starts(starts: &[usize], n_values: usize) -> Result<(), Failure> {
    let wrong = |position: usize, expected: String| Err(out_of_range("indptr", starts, position, &expected));
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

fn read_indices(archive: &mut Archive, name: &str, n: usize) -> Result<Vec<u32>, Failure> {
    let indices = archive.ints::<u32>(name, "0 to 4294967295")?;
    match indices.iter().position(|index| *index as usize >= n) {
        None => Ok(indices),
        Some(at) => Err(out_of_range(name, &indices, at, &format!("0 to {}", n - 1))),
    }
}

fn out_of_range<T: Display>(name: &str, numbers: &[T], at: usize, expected: &str) -> Failure {
    in_array(name, format!("{} at position {at}, expected {expected}", numbers[at]))
}
