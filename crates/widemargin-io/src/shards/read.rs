//! Reads the shards of a folder in order.

use std::fs;
use std::path::{Path, PathBuf};

use super::Layout;
use crate::Format;
use crate::error::{IoError, Result};
use crate::open_file::open_file;
use crate::options::{LabelColumn, ReadOptions};
use crate::reader::{SampleReader, gather};
use crate::table::{RowShards, Table};

/// Reads tables of consecutive rows of a shard.
#[derive(Debug)]
pub(crate) struct Reader {
    folder: PathBuf,
    files: std::vec::IntoIter<PathBuf>,
    format: Format,
    /// The caller's options for the first shard, then those derived from it.
    options: ReadOptions,
    first: Option<(PathBuf, Layout)>,
    /// The names of the features in the first shard.
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
            return Err(IoError::Empty { file: reader.folder, what: "all files in the folder are empty" });
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
            if let (Err(IoError::LabelColumn { .. }), Some((_, Layout { label: Some(label), .. }))) =
                (&reader, &self.first)
            {
                // No column has the name of the first shard's label: report the column at its position instead.
                let options = ReadOptions { label: LabelColumn::Number(*label as i64 + 1), ..self.options.clone() };
                reader = open_file(&file, self.format, &options);
            }
            let reader = match (reader, &self.first) {
                // The label column of the first shard is missing in this one.
                (Err(IoError::LabelColumn { file, reason, .. }), Some((first, Layout { label: Some(label), .. }))) => {
                    let expected = format!("has the labels in column {}", label + 1);
                    return Err(IoError::Shards { file, found: reason, first: first.clone(), expected });
                }
                // Columns that are not those of the model.
                (Err(IoError::Library(error)), Some((first, _))) => {
                    let (found, expected) = (error.to_string(), "has these".to_owned());
                    return Err(IoError::Shards { file, found, first: first.clone(), expected });
                }
                (reader, _) => reader?,
            };
            let layout = reader.layout();
            match &self.first {
                Some((first, expected)) => expected.check(first, &file, &layout)?,
                None => {
                    self.options = layout.options(self.format, &self.options);
                    self.names = layout.feature_names();
                    self.first = Some((file.clone(), layout));
                }
            }
            self.open = Some((file, reader));
            return Ok(true);
        }
        Ok(false)
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        loop {
            let Some((file, reader)) = &mut self.open else { return Ok(false) };
            if reader.next_into(bytes, table)? {
                // A shard may have its columns in another order, identified by name.
                if let Some(names) = &self.names {
                    table.put_in_order(names)?;
                }
                if table.indicators.is_some() {
                    return Err(IoError::Multilabel { file: file.clone() });
                }
                table.shards = Some(RowShards::one(file, self.n_read, table.samples.n_rows()));
                self.n_read += table.samples.n_rows();
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
