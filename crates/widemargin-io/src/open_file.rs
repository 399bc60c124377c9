//! Opens a file of any format.

use std::path::Path;

use crate::error::Failure;
use crate::input::open;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::text_input::open_text;
use crate::{Format, csv, images, libsvm, npy, npz, series};

/// Opens one file, or a folder of images.
pub(crate) fn open_file(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>, Failure> {
    Ok(match format {
        Format::Libsvm => Box::new(libsvm::Reader::new(open_text(path, options.max_line_bytes())?, options)?),
        Format::Csv => Box::new(csv::Reader::new(path, b',', options)?),
        Format::Tsv => Box::new(csv::Reader::new(path, b'\t', options)?),
        Format::Npy => Box::new(npy::Reader::new(open(path)?, options)?),
        Format::Npz => Box::new(npz::Reader::new(open(path)?, options)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Reader::new(open(path)?, options)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let help =
                "build it with the cargo feature 'parquet' (--features parquet), or write the samples as .npy or .csv";
            open(path)?;
            return Err(crate::error::Problem::new("this build does not read parquet").help(help).into());
        }
        Format::Strings => Box::new(csv::open_strings(path, options)?),
        Format::Ucr | Format::Ts => {
            Box::new(series::Reader::new(open_text(path, options.max_line_bytes())?, format, options)?)
        }
        Format::Images => Box::new(images::Reader::new(path, options)?),
    })
}
