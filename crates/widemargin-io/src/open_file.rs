//! Opens a file of any format.

use std::path::Path;

use crate::error::Failure;
use crate::input::open;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::{Format, csv, libsvm, npy, npz, series};

/// Opens one file, or a folder of images.
pub(crate) fn open_file(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>, Failure> {
    Ok(match format {
        Format::Libsvm => Box::new(libsvm::Reader::new(path, options)?),
        Format::Csv => Box::new(csv::Reader::new(path, b',', options)?),
        Format::Tsv => Box::new(csv::Reader::new(path, b'\t', options)?),
        Format::Npy => Box::new(npy::Reader::new(open(path)?, options)?),
        Format::Npz => Box::new(npz::Reader::new(open(path)?, options)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::parquet::Reader::new(open(path)?, options)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(not_built(path, "parquet", "write the samples as .npy or .csv")),
        Format::Strings => Box::new(csv::open_strings(path, options)?),
        Format::Ucr | Format::Ts => Box::new(series::Reader::new(path, format, options)?),
        #[cfg(feature = "images")]
        Format::Images => Box::new(crate::images::Reader::new(path, options)?),
        #[cfg(not(feature = "images"))]
        Format::Images => return Err(not_built(path, "images", "write the pixels as .npz")),
    })
}

/// The error of a format that is a cargo feature, where it is left out.
#[cfg(not(all(feature = "images", feature = "parquet")))]
fn not_built(path: &Path, feature: &str, otherwise: &str) -> Failure {
    let help = format!("build it with the cargo feature '{feature}' (--features {feature}), or {otherwise}");
    let problem = || crate::error::Problem::new(format!("this build does not read {feature}")).help(help).into();
    path.metadata().map_or_else(Failure::System, |_| problem())
}
