//! File formats.

use std::fmt;
use std::path::Path;

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
pub(crate) const ALL: [(&str, Format); 10] = [
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

    /// The name parsed by [`FromStr`](std::str::FromStr).
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
