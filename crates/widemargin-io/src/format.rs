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

/// All formats by name, in the order of messages.
const ALL: [(&str, Format); 10] = [
    ("libsvm", Format::Libsvm),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("parquet", Format::Parquet),
    ("strings", Format::Strings),
    ("ucr", Format::Ucr),
    ("ts", Format::Ts),
    ("images", Format::Images),
];

/// Endings of the images that are read.
pub(crate) const IMAGE_ENDINGS: [&str; 12] =
    ["png", "jpg", "jpeg", "bmp", "pbm", "pgm", "ppm", "pnm", "webp", "tif", "tiff", "gif"];

impl Format {
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
        match name.rsplit_once('.')?.1 {
            "svm" | "libsvm" | "txt" => Some(Format::Libsvm),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "npy" => Some(Format::Npy),
            "npz" => Some(Format::Npz),
            "parquet" => Some(Format::Parquet),
            "ts" => Some(Format::Ts),
            image if IMAGE_ENDINGS.contains(&image) => Some(Format::Images),
            _ => None,
        }
    }

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

    /// True if the samples are vectors.
    pub fn is_vectors(self) -> bool {
        use Format::{Csv, Libsvm, Npy, Npz, Parquet, Tsv};
        matches!(self, Libsvm | Csv | Tsv | Npy | Npz | Parquet)
    }

    /// The kind of samples of the format, as named in messages.
    pub fn kind(self) -> &'static str {
        match self {
            Format::Strings => "strings",
            Format::Ucr | Format::Ts => "time series",
            Format::Images => "images",
            _ => "vectors",
        }
    }

    /// The names of all formats, for messages.
    pub(crate) fn names() -> String {
        let names = ALL.map(|(name, _)| name);
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// The name parsed by [`FromStr`].
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
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
        let known = ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format);
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
        for (_, format) in ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert!("excel".parse::<Format>().unwrap_err().to_string().contains("unknown format 'excel'"));
    }
}
