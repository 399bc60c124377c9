//! File formats.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use widemargin::suggestion;

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

/// All formats in the order of messages, with their names and the endings of their files.
pub(crate) const ALL: [(Format, &str, &[&str]); 10] = [
    (Format::Libsvm, "libsvm", &["svm", "libsvm", "txt"]),
    (Format::Csv, "csv", &["csv"]),
    (Format::Tsv, "tsv", &["tsv"]),
    (Format::Npy, "npy", &["npy"]),
    (Format::Npz, "npz", &["npz"]),
    (Format::Parquet, "parquet", &["parquet"]),
    (Format::Strings, "strings", &[]),
    (Format::Ucr, "ucr", &[]),
    (Format::Ts, "ts", &["ts"]),
    (Format::Images, "images", &IMAGE_ENDINGS),
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
        let ending = name.rsplit_once('.')?.1;
        ALL.iter().find(|(.., endings)| endings.contains(&ending)).map(|(format, ..)| *format)
    }

    /// True if the samples are vectors.
    pub fn is_vectors(self) -> bool {
        self.kind() == "vectors"
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
        let [others @ .., last] = ALL.map(|(_, name, _)| name);
        format!("{} or {last}", others.join(", "))
    }

    /// The name parsed by [`FromStr`](std::str::FromStr).
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let known = ALL.iter().find(|(_, known, _)| *known == name).map(|(format, ..)| *format);
        let suggestion = suggestion(name, ALL.iter().map(|(_, known, _)| *known));
        known.ok_or_else(|| format!("unknown format '{name}': {suggestion}expected {}", Format::names()))
    }
}
