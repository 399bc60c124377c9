//! Which formats there are, and how a file tells which it has.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{IoError, Result};
use crate::images::cifar10;
use crate::input::is_stdin;
use crate::shards;

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
    /// Columns of a data frame, where the crate is built with its feature `parquet`.
    Parquet,
    /// Strings: a label and a string a line, between them a tab; or two columns of a `.csv`.
    Strings,
    /// Time series as the UCR archive has them: a label and the values on each line.
    Ucr,
    /// Time series in the `.ts` format of sktime and aeon: several channels, any length.
    Ts,
    /// A folder of images, a folder a class in it.
    Images,
    /// The binary files of CIFAR-10, one or a folder of them.
    Cifar10,
    /// The IDX files of MNIST, the labels' beside the images'.
    Idx,
}

/// Every format, as messages list them.
const ALL: [(&str, Format); 12] = [
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
    ("cifar10", Format::Cifar10),
    ("idx", Format::Idx),
];

impl Format {
    /// The endings of file names we know, for messages.
    pub(crate) const ENDINGS: &'static str = ".svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy, .npz, .parquet, .ts, \
         .bin (CIFAR-10) and -ubyte (IDX), each with .gz too; a folder is one of such files or of images";

    /// The format that the ending of a file's name tells, `.gz` after it or not; LIBSVM for `-`, which is standard
    /// input. A folder has the format of vectors that all files in it have; otherwise it is one of images, or of CIFAR-10
    /// where there is a `.bin` in it.
    ///
    /// # Errors
    /// [`IoError::UnknownEnding`], [`IoError::Shards`].
    pub fn from_path(path: &Path) -> Result<Format> {
        if is_stdin(path) {
            return Ok(Format::Libsvm);
        }
        if path.is_dir() {
            if cifar10::has_batches(path) {
                return Ok(Format::Cifar10);
            }
            return Ok(shards::format_of(path)?.unwrap_or(Format::Images));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with("-ubyte") || name.ends_with(".idx") {
            return Ok(Format::Idx);
        }
        match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "svm" | "libsvm" | "txt" => Ok(Format::Libsvm),
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            "npy" => Ok(Format::Npy),
            "npz" => Ok(Format::Npz),
            "parquet" => Ok(Format::Parquet),
            "ts" => Ok(Format::Ts),
            "bin" => Ok(Format::Cifar10),
            _ => Err(IoError::UnknownEnding { file: path.to_owned() }),
        }
    }

    /// True where the samples are vectors.
    pub fn is_vectors(self) -> bool {
        use Format::{Csv, Libsvm, Npy, Npz, Parquet, Tsv};
        matches!(self, Libsvm | Csv | Tsv | Npy | Npz | Parquet)
    }

    /// The kind of samples that the format holds, as messages name it.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Format::Strings => "strings",
            Format::Ucr | Format::Ts => "time series",
            Format::Images | Format::Cifar10 | Format::Idx => "images",
            _ => "vectors",
        }
    }

    /// The names of all formats, for messages.
    pub(crate) fn names() -> String {
        let names = ALL.map(|(name, _)| name);
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        format!("{} or {last}", others.join(", "))
    }

    /// The name that [`Format::from_str`] takes.
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
        known.ok_or_else(|| IoError::UnknownFormat { given: name.to_owned() })
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
            ("data_batch_1.bin", Format::Cifar10),
            ("train-images-idx3-ubyte.gz", Format::Idx),
        ] {
            assert_eq!(Format::from_path(Path::new(path)).unwrap(), format, "{path}");
        }
        let error = Format::from_path(Path::new("data.xlsx")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.xlsx: cannot tell the format from the name: \
             known endings are .svm, .libsvm, .txt (LIBSVM), .csv, .tsv, .npy, .npz, .parquet, .ts, .bin (CIFAR-10) \
             and -ubyte (IDX), each with .gz too; a folder is one of such files or of images"
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
