//! Which formats there are, and how a file tells which it has.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{IoError, Result};
use crate::input::is_stdin;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value index:value …`, a sample a line, indices from 1.
    Libsvm,
    /// Comma-separated cells.
    Csv,
    /// Tab-separated cells.
    Tsv,
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays: SciPy's sparse layout, or `X` and `y`.
    Npz,
}

impl Format {
    /// The endings of file names we know, for messages.
    pub(crate) const ENDINGS: &'static str = ".svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy and .npz";

    /// The format that the ending of a file's name tells; LIBSVM for `-`, which is standard input.
    ///
    /// # Errors
    /// [`IoError::UnknownEnding`].
    pub fn from_path(path: &Path) -> Result<Format> {
        if is_stdin(path) {
            return Ok(Format::Libsvm);
        }
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "svm" | "libsvm" | "txt" => Ok(Format::Libsvm),
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            "npy" => Ok(Format::Npy),
            "npz" => Ok(Format::Npz),
            _ => Err(IoError::UnknownEnding { file: path.to_owned() }),
        }
    }

    /// The name that [`Format::from_str`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "libsvm",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Npy => "npy",
            Format::Npz => "npz",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = IoError;

    fn from_str(name: &str) -> Result<Format> {
        [Format::Libsvm, Format::Csv, Format::Tsv, Format::Npy, Format::Npz]
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| IoError::UnknownFormat { given: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        for (path, format) in [
            ("a.svm", Format::Libsvm),
            ("b/a.LIBSVM", Format::Libsvm),
            ("a.txt", Format::Libsvm),
            ("-", Format::Libsvm),
            ("a.b.csv", Format::Csv),
            ("a.tsv", Format::Tsv),
            ("a.npy", Format::Npy),
            ("a.npz", Format::Npz),
        ] {
            assert_eq!(Format::from_path(Path::new(path)).unwrap(), format, "{path}");
        }
        let error = Format::from_path(Path::new("data.xlsx")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.xlsx: cannot tell the format from the name: \
             known endings are .svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy and .npz"
        );
        assert!(error.help().unwrap().contains("--format"));
    }

    #[test]
    fn names_parse_back() {
        for format in [Format::Libsvm, Format::Csv, Format::Tsv, Format::Npy, Format::Npz] {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert!("excel".parse::<Format>().unwrap_err().to_string().contains("unknown format 'excel'"));
    }
}
