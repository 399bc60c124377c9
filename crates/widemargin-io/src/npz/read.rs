//! Reads an archive into a table.

use widemargin::data::{AnySamples, Images, Labels, Series};

use super::archive::{Archive, check_length, in_array};
use super::sparse::{SPARSE, read_sparse};
use crate::error::{Failure, Problem};
use crate::input::Input;
use crate::npy::{Header, Values, dense, not_finite};
use crate::options::ReadOptions;
use crate::reader::{Layout, SampleReader};
use crate::table::{Samples, Table};

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
    fn next(&mut self, _: usize, _: Table) -> Result<Option<Table>, Failure> {
        Ok(self.table.take())
    }

    fn layout(&self) -> Layout {
        let Some(table) = &self.table else { return Layout::default() };
        Layout {
            n: Some(table.samples.n_cols()),
            has_separate_labels: table.labels.is_some(),
            names: table.feature_names.clone(),
            sparse: table.samples.is_sparse(),
            ..Layout::default()
        }
    }
}

fn read(mut archive: Archive, labeled: bool) -> Result<Table, Failure> {
    let samples = match (archive.has("format"), archive.has("X")) {
        (true, _) => read_sparse(&mut archive)?,
        (false, true) => read_array(&mut archive)?,
        (false, false) => {
            let names = archive.others(&[]).unwrap_or_else(|| "nothing".into());
            let problem = Problem::new(format!("no samples: the archive holds {names}"));
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
        let names = archive.read("feature_names", |array| array.texts())?;
        check_length("feature_names", names.len(), samples.n_cols(), "a feature")?;
        Some(names)
    } else {
        None
    };
    Ok(Table { samples, labels, feature_names, remarks: unused(&archive).into_iter().collect(), ..Table::default() })
}

/// The remark on arrays that are not read.
fn unused(archive: &Archive) -> Option<String> {
    let samples: &[&str] = if archive.has("format") { &SPARSE } else { &["X"] };
    let names = archive.others(&[samples, &["labels", "y", "feature_names"]].concat())?;
    Some(format!(
        "arrays not used: {names}; weights, groups and names of samples are read from columns of a CSV or TSV file, with \
         --weight-column, --group and --id"
    ))
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
        let values = array.values(header.n_elements())?;
        Ok((header, values))
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
