//! The binary version of CIFAR-10 (Krizhevsky 2009): records of a label and 32 × 32 pixels, in color planes.
//!
//! A folder stands for its `data_batch_*.bin`, the training images, or, without these, for all its `.bin`. The labels
//! are the class names of `batches.meta.txt` if it is in the same folder, otherwise 0 to 9.

use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use widemargin::data::{Label, Labels};

use super::{NO_COLUMNS, collection, problem, read_up_to};
use crate::error::{IoError, Result};
use crate::input::{Input, is_stdin, open};
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::sample_problem::ImageProblem;
use crate::table::Table;

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;
const RECORD: usize = 1 + 3 * PLANE;
const N_CLASSES: usize = 10;

/// Reads consecutive records of one or several files.
#[derive(Debug)]
pub(crate) struct Reader {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<(BufReader<Input>, PathBuf)>,
    /// Number of records read from the open file.
    record: usize,
    classes: Vec<Label>,
    labeled: bool,
}

/// True for a folder with a `.bin` file in it.
pub(crate) fn has_batches(folder: &Path) -> bool {
    binaries(folder).is_ok_and(|files| !files.is_empty())
}

impl Reader {
    pub fn new(path: &Path, options: &ReadOptions) -> Result<Reader> {
        let labeled = options.wants_labels(path, NO_COLUMNS)?;
        let folder = path.is_dir();
        let files = if folder { batches(path)? } else { vec![path.to_owned()] };
        let beside = if folder { path } else { path.parent().unwrap_or(path) };
        let classes = if is_stdin(path) { Vec::new() } else { class_names(&beside.join(CLASS_NAMES))? };
        let mut reader = Reader { files: files.into_iter(), open: None, record: 0, classes, labeled };
        // A missing file is reported now, not at the first block.
        reader.open_next()?;
        Ok(reader)
    }

    /// False after the last file.
    fn open_next(&mut self) -> Result<bool> {
        self.record = 0;
        self.open = match self.files.next() {
            Some(path) => {
                let input = open(&path)?;
                let file = input.file.clone();
                Some((BufReader::with_capacity(1 << 18, input), file))
            }
            None => None,
        };
        Ok(self.open.is_some())
    }

    fn label(&self, label: u8, file: &Path) -> Result<Label> {
        let class = usize::from(label);
        if class >= N_CLASSES {
            let record = self.record;
            return Err(problem(file, ImageProblem::Label { record, label, most: N_CLASSES - 1 }));
        }
        Ok(self.classes.get(class).cloned().unwrap_or(Label::Integer(i64::from(label))))
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        let mut record = [0; RECORD];
        let mut place = PathBuf::new();
        while pixels.is_empty() || pixels.len() < bytes {
            let Some((input, file)) = &mut self.open else { break };
            let held = read_up_to(input, &mut record).map_err(IoError::reading(file))?;
            place.clone_from(file);
            if held == 0 {
                self.open_next()?;
                continue;
            }
            if held < RECORD {
                let truncated = ImageProblem::Truncated { format: "CIFAR-10", record: self.record, size: RECORD, held };
                return Err(problem(&place, truncated));
            }
            labels.push(self.label(record[0], &place)?);
            let [red, green, blue] = [1, 1 + PLANE, 1 + 2 * PLANE].map(|start| &record[start..start + PLANE]);
            let colors = red.iter().zip(green).zip(blue);
            pixels.extend(colors.flat_map(|((red, green), blue)| [*red, *green, *blue]));
            self.record += 1;
        }
        if labels.is_empty() {
            return Ok(false);
        }
        let labels = self.labeled.then(|| Labels::new(labels));
        *table = collection(&place, pixels, (SIDE, SIDE, 3), labels, None)?;
        Ok(true)
    }
}

/// The files of a folder that are read.
fn batches(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = binaries(folder).map_err(IoError::reading(folder))?;
    let is_training = |file: &PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().to_ascii_lowercase().starts_with("data_batch"))
    };
    if files.iter().any(is_training) {
        files.retain(is_training);
    }
    if files.is_empty() {
        return Err(IoError::Empty { file: folder.to_owned(), what: "no .bin file in the folder" });
    }
    Ok(files)
}

/// The `.bin` files of a folder, by name.
fn binaries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bin")) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The file next to the batches with the class names.
pub(crate) const CLASS_NAMES: &str = "batches.meta.txt";

fn class_names(file: &Path) -> Result<Vec<Label>> {
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let names = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(names.take(N_CLASSES).map(Label::parse).collect())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(IoError::reading(file)(error)),
    }
}
