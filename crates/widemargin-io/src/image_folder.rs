//! The images in a folder, by the names of its files.

use std::path::{Path, PathBuf};

use crate::error::IoError;
use crate::format::IMAGE_ENDINGS;
use crate::list_folder::list;

/// Endings of images in formats that are not read.
const UNREAD_ENDINGS: [&str; 21] = [
    "jp2", "j2k", "jpx", "jxl", "avif", "heic", "heif", "ico", "svg", "psd", "tga", "dds", "exr", "hdr", "qoi", "dng",
    "cr2", "cr3", "nef", "arw", "raw",
];

/// True where a reader would find images.
pub(crate) fn has_images(folder: &Path) -> bool {
    let Ok(Contents { images, folders, .. }) = contents(folder) else { return false };
    !images.is_empty() || folders.iter().any(|class| contents(class).is_ok_and(|class| !class.images.is_empty()))
}

/// Whether a file is an image, by its name.
pub(crate) fn is_image(path: &Path) -> bool {
    ends_in(path, &IMAGE_ENDINGS)
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// What is in a folder, each in the order of names.
#[derive(Default)]
pub(crate) struct Contents {
    pub images: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
    /// Images in formats that are not read.
    #[cfg_attr(not(feature = "images"), expect(dead_code, reason = "only the reader of images reports them"))]
    pub unread: Vec<PathBuf>,
}

pub(crate) fn contents(folder: &Path) -> Result<Contents, IoError> {
    let (files, folders) = list(folder, &['.'])?;
    let (images, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_image(file));
    let unread = others.into_iter().filter(|file| ends_in(file, &UNREAD_ENDINGS)).collect();
    Ok(Contents { images, folders, unread })
}
