//! The arrays of an archive, by name.

use std::fmt::Display;
use std::io;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Failure, Problem, excerpt};
use crate::input::{Input, ReadSeek};
use crate::npy::Array;

/// A compressed array.
type Member<'a> = zip::read::ZipFile<'a, Box<dyn ReadSeek>>;

/// The maximum compression ratio of Deflate.
const MAX_EXPANSION: u64 = 1032;

/// An opened archive.
pub(crate) struct Archive {
    zip: ZipArchive<Box<dyn ReadSeek>>,
}

impl Archive {
    pub fn open(input: Input) -> Result<Archive, Failure> {
        match ZipArchive::new(input.seekable()?) {
            Ok(zip) => Ok(Archive { zip }),
            Err(ZipError::Io(source)) if source.raw_os_error().is_some() => Err(source.into()),
            Err(error) => Err(Problem::new(format!("not a usable NPZ archive: {error}")).into()),
        }
    }

    /// Whether there is an array with this name.
    pub fn has(&self, array: &str) -> bool {
        self.zip.index_for_name(&format!("{array}.npy")).is_some()
    }

    /// The names of the arrays other than these, for messages; `None` if there are none.
    pub fn others(&self, known: &[&str]) -> Option<String> {
        let names = self.zip.file_names_raw().map(|name| String::from_utf8_lossy(name));
        let names = names.map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned());
        let others: Vec<String> = names.filter(|name| !known.contains(&name.as_str())).collect();
        let shown: Vec<String> = others.iter().take(12).map(|name| excerpt(name)).collect();
        (!others.is_empty()).then(|| shown.join(", "))
    }

    /// Reads an array, up to its end.
    pub fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Array<Member<'_>>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let found = self.zip.by_name(&format!("{name}.npy")).map_err(Failure::from).and_then(|member| {
            // Neither the header's claim nor the archive's is trusted beyond the size of the compressed data.
            let size = member.size().min(member.compressed_size().saturating_mul(MAX_EXPANSION));
            let mut array = Array::open(member)?;
            array.check_size(size)?;
            let read = read(&mut array)?;
            array.check_end()?;
            Ok(read)
        });
        found.map_err(|failure| match failure {
            Failure::Input(_, problem) => in_array(name, problem),
            Failure::System(source) if source.raw_os_error().is_none() => {
                Problem::new(format!("array '{name}' is damaged: {source}")).into()
            }
            failure => failure,
        })
    }
}

/// The failure of an array.
pub(crate) fn in_array(name: &str, problem: impl Into<Problem>) -> Failure {
    problem.into().at(format!("array '{name}'"))
}

impl From<ZipError> for Failure {
    fn from(error: ZipError) -> Self {
        Failure::System(match error {
            ZipError::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })
    }
}

/// The problem of an array of another shape than expected.
pub(crate) fn wrong_shape(found: impl Display, expected: impl Display) -> Problem {
    format!("shape {found}, expected {expected}").into()
}

/// Checks the length of a vector, which has one number or text for each of something.
pub(crate) fn check_length(name: &str, found: usize, expected: usize, each: &str) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("({expected},), one {each}");
    Err(in_array(name, wrong_shape(format!("({found},)"), expected)))
}
