//! Reads the shards of a folder in order.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Format;
use crate::error::{Failure, IoError, Problem, ProblemKind};
use crate::open_file::open_file;
use crate::options::{BLOCK_BYTES, LabelColumn, ReadOptions};
use crate::reader::{Layout, SampleReader};
use crate::table::{RowShards, Table};

/// Reads tables of consecutive rows of a shard.
struct Reader {
    files: std::vec::IntoIter<PathBuf>,
    format: Format,
    /// The caller's options for the first shard, then those derived from it.
    options: ReadOptions,
    first: Option<(PathBuf, Layout)>,
    /// The names of the features in the first rows.
    names: Option<Vec<String>>,
    open: Option<(PathBuf, Box<dyn SampleReader>)>,
    /// Number of rows read from the open shard.
    n_read: usize,
}

/// Opens the first non-empty shard of a folder.
pub(crate) fn open(folder: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>, Failure> {
    let (files, options) = (super::files(folder)?.into_iter(), options.clone());
    let mut reader = Reader { files, format, options, first: None, names: None, open: None, n_read: 0 };
    match reader.open_next()? {
        true => Ok(Box::new(reader)),
        false => Err(Problem::new("all files in the folder are empty").into()),
    }
}

impl Reader {
    /// False after the last shard.
    fn open_next(&mut self) -> Result<bool, IoError> {
        (self.open, self.n_read) = (None, 0);
        let is_text = matches!(self.format, Format::Libsvm | Format::Csv | Format::Tsv);
        let is_empty = |file: &Path| is_text && fs::metadata(file).is_ok_and(|metadata| metadata.len() == 0);
        let Some(file) = self.files.find(|file| !is_empty(file)) else { return Ok(false) };
        let reader = self.open(&file).map_err(|failure| failure.reading(&file))?;
        self.open = Some((file, reader));
        Ok(true)
    }

    /// Opens a shard, which must have the columns of the first.
    fn open(&mut self, file: &Path) -> Result<Box<dyn SampleReader>, Failure> {
        let opened = open_file(file, self.format, &self.options);
        let Some((first, expected)) = &self.first else {
            let reader = opened?;
            let layout = reader.layout();
            self.options = layout.options(self.format, &self.options);
            self.first = Some((file.to_owned(), layout));
            return Ok(reader);
        };
        let opened = match (opened, expected.label) {
            (Err(failure), Some(label)) if missing_label(&failure).is_some() => {
                // No column has the name of the first shard's label: report the column at its position instead.
                let options = ReadOptions { label: LabelColumn::Number(label as i64 + 1), ..self.options.clone() };
                open_file(file, self.format, &options)
            }
            (opened, _) => opened,
        };
        let reader = opened.map_err(|failure| match (missing_label(&failure), expected.label, &failure) {
            (Some(reason), Some(label), _) => {
                Problem::misfit(reason, first, &format!("has the labels in column {}", label + 1)).into()
            }
            // Columns that are not those of the model.
            (_, _, Failure::Known(IoError::Library(other))) => {
                Problem::misfit(&other.to_string(), first, "has these").into()
            }
            _ => failure,
        })?;
        expected.check(first, &reader.layout())?;
        Ok(reader)
    }
}

/// The reason why there is no label column.
fn missing_label(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::Input(_, Problem { kind: ProblemKind::NoLabelColumn(reason), .. }) => Some(reason),
        _ => None,
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, mut spent: Table) -> Result<Option<Table>, Failure> {
        while let Some((file, reader)) = &mut self.open {
            let read = reader.next(bytes.min(BLOCK_BYTES), std::mem::take(&mut spent));
            let Some(mut table) = read.map_err(|failure| failure.reading(file))? else {
                self.open_next()?;
                continue;
            };
            // A shard may have its columns in another order, identified by name.
            match &self.names {
                Some(names) => table.put_in_order(names)?,
                None => self.names.clone_from(&table.feature_names),
            }
            if table.indicators.is_some() {
                return Err(Problem::multilabel().of(file).into());
            }
            let n_rows = table.samples.n_rows();
            table.shards.insert(RowShards::default()).push(file.clone(), self.n_read, n_rows);
            self.n_read += n_rows;
            return Ok(Some(table));
        }
        Ok(None)
    }
}
