//! Where results go: standard output, or a file that appears whole or not at all.

use std::io::{BufWriter, StdoutLock, Write, stdout};
use std::path::{Path, PathBuf};

use serde_json::Value;
use widemargin::output::OutputFile;
use widemargin_io::IoError;

use crate::args::Input;
use crate::report::{Failure, refused};

const BUFFER: usize = 1 << 18;

/// An opened destination.
#[derive(Debug)]
pub enum Output {
    /// Standard output.
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A file, which takes its name at the end.
    File(BufWriter<OutputFile>, PathBuf),
}

impl Output {
    /// Opens the file, or standard output for `-` and for none.
    pub fn open(file: Option<&Path>) -> Result<Self, Failure> {
        match file.filter(|file| !is_stdout(file)) {
            None => Ok(Output::Stdout(BufWriter::with_capacity(BUFFER, stdout().lock()))),
            Some(file) => {
                check_folder(file)?;
                let out = OutputFile::create(file).map_err(IoError::of_output)?;
                Ok(Output::File(BufWriter::with_capacity(BUFFER, out), file.to_owned()))
            }
        }
    }

    /// Writes some bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Output::Stdout(out) => out.write_all(bytes).map_err(|error| Failure::stdout(&error)),
            Output::File(out, file) => out.write_all(bytes).map_err(|error| not_written(file, &error)),
        }
    }

    /// Writes what is left, and gives a file its name.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Output::Stdout(mut out) => out.flush().map_err(|error| Failure::stdout(&error)),
            Output::File(out, file) => {
                let out = out.into_inner().map_err(|error| not_written(&file, error.error()))?;
                Ok(out.commit().map_err(IoError::of_output)?)
            }
        }
    }
}

fn not_written(file: &Path, error: &std::io::Error) -> Failure {
    Failure::work(format!("{}: cannot write: {error}", file.display()))
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    write_text(None, text)
}

/// Writes a text to a file, or to standard output for none.
pub fn write_text(file: Option<&Path>, text: &str) -> Result<(), Failure> {
    let mut out = Output::open(file)?;
    out.write(text.as_bytes())?;
    out.finish()
}

/// Prints one JSON object.
pub fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value}\n"))
}

/// A JSON object with the entries of another.
pub fn joined(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

/// True for the paths that mean standard output.
pub fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-" || file.as_os_str() == "/dev/stdout"
}

/// Checks that a command may write a file, before its work: the folder is there, and the file is a regular one (or none
/// yet) and nothing that the command reads, neither its data nor its model.
pub fn check_output(file: &Path, input: Option<&Input>, model: Option<&Path>) -> Result<(), Failure> {
    if is_stdout(file) {
        return Ok(());
    }
    check_folder(file)?;
    let data = input.map(|input| ("the data", &*input.data));
    let read: Vec<_> = data.into_iter().chain(model.map(|model| ("the model", model))).collect();
    Ok(widemargin::output::check(file, &read)?)
}

/// Checks that the folder of a file to be written is there.
fn check_folder(file: &Path) -> Result<(), Failure> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) else {
        return Ok(());
    };
    let (file, folder) = (file.display(), folder.display());
    refused(format!("{file}: there is no folder {folder}"), format!("make it first: mkdir -p {folder}"))
}

/// Checks that a model can be written to a file, before the work that makes it.
///
/// # Errors
/// A folder that is missing or closed to us, a target that is no regular file, and one that is read.
pub fn check_model_file(file: &Path, input: &Input) -> Result<(), Failure> {
    let name = file.display();
    if file.as_os_str() == "-" {
        return refused("a model is not written to standard output", "name a file with -o");
    }
    check_folder(file)?;
    if file.is_dir() {
        return refused(format!("{name}: is a folder"), "name a file in it");
    }
    if file.exists() && !file.is_file() {
        return refused(format!("{name}: not a regular file"), "a model needs a file of its own");
    }
    check_output(file, Some(input), None)?;
    // Created next to the file, and removed when dropped.
    OutputFile::create(file).map(drop).map_err(IoError::of_output)?;
    Ok(())
}
