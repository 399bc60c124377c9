//! The `.ts` format of sktime and aeon: a header of `@` lines, then one series per line.
//!
//! Channels are separated by `:`, their values by `,`, and the label follows the last `:`. The header lines used are
//! `@classLabel` (or `@targetLabel`), for whether there are labels, `@dimensions` and `@timeStamps`. Trailing
//! time steps at which every channel is missing (`?` or NaN) mark the end of a series; missing values elsewhere are
//! refused.

use super::values::label_missing;
use crate::error::{Problem, excerpt};

/// What the header says of the lines.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Whether each line ends with a label.
    pub has_label: bool,
    pub channels: Option<usize>,
}

impl Header {
    /// Adds a line.
    pub fn add(&mut self, line: &str) -> Result<(), Problem> {
        if line.starts_with('#') {
            return Ok(());
        }
        let other = || {
            let text = format!("'{}' is not of a .ts header: expected a line that starts with @", excerpt(line));
            Problem::new(text).help("if this is another format, name it with --format")
        };
        let mut words = line.strip_prefix('@').ok_or_else(other)?.split_whitespace();
        let (key, first) = (words.next().unwrap_or("").to_ascii_lowercase(), words.next().unwrap_or(""));
        let is_true = first.eq_ignore_ascii_case("true");
        match key.as_str() {
            "timestamps" if is_true => {
                let problem = Problem::new("time stamps are not read");
                return Err(problem.help("resample to even times and leave the times out"));
            }
            "classlabel" | "targetlabel" => self.has_label |= is_true,
            "univariate" if is_true => self.channels = Some(1),
            "dimensions" | "dimension" => {
                self.channels = Some(first.parse().ok().filter(|channels| *channels > 0).ok_or_else(other)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The label of a line, and the cells of each channel.
pub(super) fn split(line: &str, has_label: bool) -> Result<(Option<&str>, Vec<Vec<&str>>), Problem> {
    let (values, label) = match has_label {
        true => line.rsplit_once(':').map(|(values, label)| (values, Some(label))).ok_or_else(label_missing)?,
        false => (line, None),
    };
    Ok((label, values.split(':').map(|text| text.split(',').map(str::trim).collect()).collect()))
}
