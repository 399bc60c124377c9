//! Time series: the UCR archive's lines, and the `.ts` format.

mod lines;
mod ts;
mod ucr;

pub(crate) use ts::Reader as TsReader;
pub(crate) use ucr::Reader as UcrReader;

use std::path::Path;

use widemargin::data::{AnySamples, Label, Labels, Series};

use crate::error::{IoError, Result};
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::excerpt;
use crate::sample_problem::SeriesProblem;
use crate::table::{RowLines, Samples, Table};

/// The series read so far.
#[derive(Debug, Default)]
struct ReadSeries {
    /// \[series\]\[time\]\[channel\].
    values: Vec<f32>,
    lengths: Vec<usize>,
    labels: Vec<Label>,
    lines: RowLines,
}

impl ReadSeries {
    /// The samples, or `None` if there are none.
    fn finish(self, file: &Path, channels: usize, labelled: bool) -> Result<Option<Table>> {
        if self.lengths.is_empty() {
            return Ok(None);
        }
        let wrong = |error: widemargin::Error| {
            // The lengths were counted while reading, so that this fails only because of a bug.
            IoError::Archive { file: file.to_owned(), problem: error.to_string(), help: None }
        };
        let series = Series::new(self.values, &self.lengths, channels).map_err(wrong)?;
        let labels = labelled.then(|| Labels::new(self.labels));
        Ok(Some(Table {
            samples: Samples::Other(AnySamples::Series(series)),
            labels,
            lines: Some(self.lines),
            ..Table::default()
        }))
    }
}

/// A value, or its problem; `position` counts from 0.
fn value(text: &str, position: usize, channel: Option<usize>) -> Result<f32, SeriesProblem> {
    let (text, position) = (text.trim(), position + 1);
    if is_missing(text) {
        return Err(SeriesProblem::Missing { position, channel });
    }
    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| SeriesProblem::NotANumber { position, channel, text: excerpt(text) })
}

fn is_missing(text: &str) -> bool {
    text.is_empty() || text == "?" || text.eq_ignore_ascii_case("nan")
}

/// Whether labels are wanted; series have no columns to choose from.
fn with_labels(file: &Path, options: &ReadOptions, where_else: &'static str) -> Result<bool> {
    match options.label {
        LabelColumn::Auto => Ok(true),
        LabelColumn::None => Ok(false),
        LabelColumn::Name(_) | LabelColumn::Number(_) => {
            let (file, given) = (file.to_owned(), options.label.to_string());
            Err(IoError::LabelColumn { file, given, reason: where_else.into() })
        }
    }
}
