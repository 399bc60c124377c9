//! File formats.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{IoError, Result};
use crate::input::is_stdin;
use crate::problem::Problem;
use crate::shards;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value index:value …`, one sample per line, indices from 1.
    Libsvm,
    /// Comma-separated cells.
    Csv,
    /// Tab-separated cells.
    Tsv,
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays: SciPy's sparse layout, or `X` and `y`.
    Npz,
    /// Columns of a data frame, if the crate is built with its feature `parquet`.
    Parquet,
    /// Strings: a label and a string per line, separated by a tab; or two columns of a `.csv`.
    Strings,
    /// Time series as in the UCR archive: a label and the values on each line.
    Ucr,
    /// Time series in the `.ts` format of sktime and aeon: several channels, any length.
    Ts,
    /// A folder of images, with one folder per class; or one image.
    Images,
}

/// All formats in the order of messages: the name, the kind of samples, and the endings of file names.
const ALL: [(Format, &str, &str, &[&str]); 10] = [
    (Format::Libsvm, "libsvm", "vectors", &["svm", "libsvm", "txt"]),
    (Format::Csv, "csv", "vectors", &["csv"]),
    (Format::Tsv, "tsv", "vectors", &["tsv"]),
    (Format::Npy, "npy", "vectors", &["npy"]),
    (Format::Npz, "npz", "vectors", &["npz"]),
    (Format::Parquet, "parquet", "vectors", &["parquet"]),
    (Format::Strings, "strings", "strings", &[]),
    (Format::Ucr, "ucr", "time series", &[]),
    (Format::Ts, "ts", "time series", &["ts"]),
    (Format::Images, "images", "images", &IMAGE_ENDINGS),
];

/// Endings of the images that are read.
pub(crate) const IMAGE_ENDINGS: [&str; 12] =
    ["png", "jpg", "jpeg", "bmp", "pbm", "pgm", "ppm", "pnm", "webp", "tif", "tiff", "gif"];

impl Format {
    /// The format according to the file name, with or without a final `.gz`; LIBSVM for `-`, which is standard input. A
    /// folder has the vector format common to all its files; otherwise its format is images.
    ///
    /// # Errors
    /// [`IoError::Input`] for an unknown ending, and for files of several formats in a folder.
    pub fn from_path(path: &Path) -> Result<Format> {
        if is_stdin(path) {
            return Ok(Format::Libsvm);
        }
        if path.is_dir() {
            return Ok(shards::format_of(path)?.unwrap_or(Format::Images));
        }
        Format::from_ending(path).ok_or_else(|| {
            let text = format!("cannot tell the format from the name: known endings are {}", Format::endings());
            Problem::new(text).help(format!("name the format with --format {}", Format::names())).of(path)
        })
    }

    /// The recognized file name extensions, for messages.
    pub(crate) fn endings() -> String {
        let parquet = if cfg!(feature = "parquet") { " .parquet," } else { "" };
        format!(
            ".svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy, .npz,{parquet} .ts, each with .gz too; a folder of such files or \
             of images"
        )
    }

    /// The format according to the file name's extension, with or without a final `.gz`.
    pub(crate) fn from_ending(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let ending = name.rsplit_once('.')?.1;
        ALL.iter().find(|(.., endings)| endings.contains(&ending)).map(|(format, ..)| *format)
    }

    /// True if the samples are vectors.
    pub fn is_vectors(self) -> bool {
        self.kind() == "vectors"
    }

    /// The kind of samples of the format, as named in messages.
    pub fn kind(self) -> &'static str {
        ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, _, kind, _)| kind)
    }

    /// The names of all formats, for messages.
    pub(crate) fn names() -> String {
        let names = ALL.map(|(_, name, ..)| name);
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// The name parsed by [`FromStr`](std::str::FromStr).
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, ..)| name)
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
        let known = ALL.iter().find(|(_, known, ..)| *known == name).map(|(format, ..)| *format);
        known.ok_or_else(|| IoError::UnknownFormat { name: name.to_owned() })
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
            ("part-0.snappy.parquet", Format::Parquet),
            ("a.tsv.GZ", Format::Tsv),
            ("a_TRAIN.ts", Format::Ts),
            ("a.PNG", Format::Images),
        ] {
            assert_eq!(Format::from_path(Path::new(path)).unwrap(), format, "{path}");
        }
        let error = Format::from_path(Path::new("data.xlsx")).unwrap_err();
        let parquet = if cfg!(feature = "parquet") { ".parquet, " } else { "" };
        assert_eq!(
            error.to_string(),
            format!(
                "data.xlsx: cannot tell the format from the name: \
                 known endings are .svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy, .npz, {parquet}.ts, each with .gz \
                 too; a folder of such files or of images"
            )
        );
        assert!(error.help().unwrap().contains("--format"));
    }

    #[test]
    fn names_parse_back() {
        for (format, ..) in ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert!("excel".parse::<Format>().unwrap_err().to_string().contains("unknown format 'excel'"));
    }
}
