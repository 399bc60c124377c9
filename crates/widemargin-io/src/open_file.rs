//! Opens a file of any format.

use std::path::Path;

use crate::error::Result;
use crate::input::open;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::text_input::open_text;
use crate::{Format, csv, images, libsvm, npy, npz, series, strings};

/// Opens one file, or a folder of images.
pub(crate) fn open_file(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>> {
    Ok(match format {
        Format::Libsvm => Box::new(libsvm::Reader::new(open_text(path)?, options)?),
        Format::Csv => Box::new(csv::Reader::new(open_text(path)?, b',', options)?),
        Format::Tsv => Box::new(csv::Reader::new(open_text(path)?, b'\t', options)?),
        Format::Npy => Box::new(npy::Reader::new(open(path)?, options)?),
        Format::Npz => Box::new(npz::Reader::new(open(path)?, options)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Reader::new(open(path)?, options)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(crate::IoError::NotBuilt { file: open(path)?.file, format }),
        Format::Strings => Box::new(strings::Reader::new(open_text(path)?, options)?),
        Format::Ucr => Box::new(series::UcrReader::new(open_text(path)?, options)?),
        Format::Ts => Box::new(series::TsReader::new(open_text(path)?, options)?),
        Format::Images => Box::new(images::folder::Reader::new(path, options)?),
    })
}
