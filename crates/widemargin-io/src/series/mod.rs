//! Time series: the UCR archive's lines, and the `.ts` format.

mod lines;
mod ts;
mod ucr;

pub(crate) use ts::Reader as TsReader;
pub(crate) use ucr::Reader as UcrReader;

use widemargin::data::{AnySamples, Label, Labels, Series};

use crate::error::Result;
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
    /// Puts the samples into `table`; false if there are none.
    fn finish(self, channels: usize, labeled: bool, table: &mut Table) -> Result<bool> {
        if self.lengths.is_empty() {
            return Ok(false);
        }
        // The lengths were counted while reading, so that this fails only because of a bug.
        let series = Series::new(self.values, &self.lengths, channels)?;
        let labels = labeled.then(|| Labels::new(self.labels));
        let samples = Samples::Other(AnySamples::Series(series));
        *table = Table { samples, labels, lines: Some(self.lines), ..Table::default() };
        Ok(true)
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
