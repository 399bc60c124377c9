//! Reads the shards of a folder in order.

use std::fs;
use std::path::{Path, PathBuf};

use super::Layout;
use crate::Format;
use crate::error::{IoError, Result};
use crate::open_file::open_file;
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::{Problem, ProblemKind};
use crate::reader::{SampleReader, gather};
use crate::table::{RowShards, Table};

/// Reads tables of consecutive rows of a shard.
pub(crate) struct Reader {
    folder: PathBuf,
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

impl Reader {
    /// Opens the first non-empty shard.
    pub fn new(folder: &Path, format: Format, options: &ReadOptions) -> Result<Reader> {
        let files = super::files(folder)?.into_iter();
        let (folder, options) = (folder.to_owned(), options.clone());
        let mut reader = Reader { folder, files, format, options, first: None, names: None, open: None, n_read: 0 };
        if !reader.open_next()? {
            return Err(Problem::new("all files in the folder are empty").of(&reader.folder));
        }
        Ok(reader)
    }

    /// False after the last shard.
    fn open_next(&mut self) -> Result<bool> {
        (self.open, self.n_read) = (None, 0);
        for file in self.files.by_ref() {
            let is_text = matches!(self.format, Format::Libsvm | Format::Csv | Format::Tsv);
            if is_text && fs::metadata(&file).is_ok_and(|metadata| metadata.len() == 0) {
                continue;
            }
            let mut reader = open_file(&file, self.format, &self.options);
            if let (Err(error), Some((_, Layout { label: Some(label), .. }))) = (&reader, &self.first)
                && missing_label(error).is_some()
            {
                // No column has the name of the first shard's label: report the column at its position instead.
                let options = ReadOptions { label: LabelColumn::Number(*label as i64 + 1), ..self.options.clone() };
                reader = open_file(&file, self.format, &options);
            }
            let reader = match (reader, &self.first) {
                // The label column of the first shard is missing in this one.
                (Err(error), Some((first, Layout { label, .. }))) => {
                    return Err(match (missing_label(&error), label, &error) {
                        (Some(reason), Some(label), _) => {
                            IoError::misfit(&file, reason, first, &format!("has the labels in column {}", label + 1))
                        }
                        // Columns that are not those of the model.
                        (_, _, IoError::Library(other)) => {
                            IoError::misfit(&file, &other.to_string(), first, "has these")
                        }
                        _ => error,
                    });
                }
                (reader, _) => reader?,
            };
            let layout = reader.layout();
            match &self.first {
                Some((first, expected)) => expected.check(first, &file, &layout)?,
                None => {
                    self.options = layout.options(self.format, &self.options);
                    self.first = Some((file.clone(), layout));
                }
            }
            self.open = Some((file, reader));
            return Ok(true);
        }
        Ok(false)
    }
}

/// The reason why there is no label column.
fn missing_label(error: &IoError) -> Option<&str> {
    match error {
        IoError::Input { problem: Problem { kind: ProblemKind::NoLabelColumn(reason), .. }, .. } => Some(reason),
        _ => None,
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        loop {
            let Some((file, reader)) = &mut self.open else { return Ok(false) };
            if reader.next_into(bytes, table)? {
                // A shard may have its columns in another order, identified by name.
                match &self.names {
                    Some(names) => table.put_in_order(names)?,
                    None => self.names.clone_from(&table.feature_names),
                }
                if table.indicators.is_some() {
                    return Err(IoError::multilabel(file));
                }
                let n_rows = table.samples.n_rows();
                table.shards.insert(RowShards::default()).push(file.clone(), self.n_read, n_rows);
                self.n_read += n_rows;
                return Ok(true);
            }
            self.open_next()?;
        }
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        let table = gather(self)?;
        match &table {
            Some(table) if table.samples.n_cols() == 0 => Err(IoError::no_pairs(&self.folder)),
            _ => Ok(table),
        }
    }
}
