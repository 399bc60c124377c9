//! `widemargin convert`: converts samples from one format to another.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::HumanCount;
use widemargin::data::{ColumnKind, TableColumn};
use widemargin_io::{Format, IoError, Table};

use crate::args::Input;
use crate::context::Context;
use crate::output::{check_output, is_stdout};
use crate::report::{Failure, refused, shown};

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    input: Input,
    /// File to write; `-` is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the output: libsvm, csv, tsv, npy or npz
    ///
    /// By default, the format follows from the file name.
    #[arg(long, value_name = "FORMAT")]
    output_format: Option<Format>,
}

impl Convert {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let stdout = is_stdout(&self.output);
        let format = match self.output_format {
            Some(format) => format,
            None if stdout => {
                let help = "name it with --output-format libsvm, csv, tsv, npy or npz";
                return refused("standard output has no name to tell a format", help);
            }
            None => Format::from_path(&self.output).map_err(|error| {
                Failure::from(error).help("name the format with --output-format libsvm, csv, tsv, npy or npz")
            })?,
        };
        check_output(&self.output, Some(&self.input), None)?;
        let (table, _) = context.read(&self.input.data, &self.input.options_to_learn())?;
        match format {
            Format::Csv | Format::Tsv => note_columns(context, &table),
            Format::Libsvm | Format::Npy => warn_of_columns(context, &table, &self.input.data, format),
            _ => {}
        }
        context.go_on()?;
        context.bar.say(format!("writing {}", self.output.display()));
        if stdout {
            let mut out = BufWriter::new(std::io::stdout().lock());
            widemargin_io::write_to(&table, format, &mut out, Path::new("standard output")).map_err(to_stdout)?;
            return out.flush().map_err(|error| Failure::stdout(&error));
        }
        widemargin_io::write(&table, &self.output, Some(format))?;
        let (n, d) = (HumanCount(table.samples.n_rows() as u64), HumanCount(table.samples.n_cols() as u64));
        let (from, to) = (shown(&self.input.data), self.output.display());
        context.note(&format!("{n} samples of {d} features: {from} to {to}"));
        Ok(())
    }
}

/// Warns that the columns of a format without names depend on the file.
fn warn_of_columns(context: &Context, table: &Table, file: &Path, format: Format) {
    let depends = |column: &TableColumn| column.has_missing || matches!(column.kind, ColumnKind::Category { .. });
    if table.columns.iter().flat_map(|columns| &columns.0).any(depends) {
        context.warn(&format!(
            "{}: categories or missing cells became columns, which have no names in {format}: another file may get other \
             columns; convert both as one, or write .csv or .npz, which have names",
            shown(file)
        ));
    }
}

/// Notes the options that read columns other than features and one label.
fn note_columns(context: &Context, table: &Table) {
    let (n_ids, n_cols) = (usize::from(table.ids.is_some()), table.samples.n_cols());
    let id = table.ids.as_ref().map(|_| "--id 1".to_owned());
    let weight = table.weights.as_ref().map(|_| format!("--weight-column {}", n_ids + n_cols + 1));
    let labels = table.indicators.as_ref().map(|indicators| {
        let columns = (1..=indicators.names.len()).rev().map(|column| format!("-{column}"));
        format!("--label {}", columns.collect::<Vec<_>>().join(","))
    });
    let options: Vec<String> = [id, weight, labels].into_iter().flatten().collect();
    if !options.is_empty() {
        context.note(&format!("note: read the table with {}", options.join(" ")));
    }
}

fn to_stdout(error: IoError) -> Failure {
    match error {
        IoError::Write { source, .. } => Failure::stdout(&source),
        error => error.into(),
    }
}
