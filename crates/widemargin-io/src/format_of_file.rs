//! Determines the format of a file.

use std::path::Path;

use crate::error::{Problem, Result};
use crate::format::Format;
use crate::input::is_stdin;
use crate::shards;

impl Format {
    /// The format according to the file name, with or without a final `.gz`; LIBSVM for `-`, which is standard input. A
    /// folder has the vector format common to all its files; otherwise its format is images.
    ///
    /// # Errors
    /// [`IoError::Input`](crate::IoError::Input) for an unknown ending, and for files of several formats in a folder.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ALL;

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
        assert!("cvs".parse::<Format>().unwrap_err().contains("did you mean 'csv'?"));
    }
}
