//! A folder of images: one folder per class, whose name is the label; or the images themselves, without labels; or one image.
//!
//! PNG, JPEG, BMP, PNM, WebP, TIFF and GIF files (the first picture of several) are read, identified by extension; hidden and
//! other files are skipped. All images must have the same size, or are resized as they are read by the rule of
//! [`Resize`]. If all are grey they have one channel, otherwise three; transparency is dropped, and 16 bits are
//! reduced to 8.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageDecoder, ImageReader};
use rayon::prelude::*;
use widemargin::data::{Images, Label, Labels};
use widemargin::descriptor::Resize;

use super::{NO_COLUMNS, collection, problem};
use crate::error::{IoError, Result};
use crate::format::IMAGE_ENDINGS;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::sample_problem::ImageProblem;
use crate::table::Table;

/// Maximum number of pixels of an image.
const MAX_PIXELS: u64 = 1 << 27;

/// Reads files in order, class by class and by name.
#[derive(Debug)]
pub(crate) struct Reader {
    folder: PathBuf,
    /// Each file with the index of its class in `classes`.
    files: Vec<(PathBuf, usize)>,
    classes: Option<Vec<Label>>,
    next: usize,
    height: usize,
    width: usize,
    grey: bool,
    resize: Option<Resize>,
}

impl Reader {
    /// Reads the header of every file, so that mismatches are reported before any work is done, and all blocks agree on
    /// the number of channels.
    pub fn new(folder: &Path, options: &ReadOptions) -> Result<Reader> {
        let labelled = options.wants_labels(folder, NO_COLUMNS)?;
        let is_single = folder.is_file() || (!folder.is_dir() && is_image(folder));
        let (images, folders) = if is_single { (vec![folder.to_owned()], Vec::new()) } else { contents(folder)? };
        let resize = options.resize.map(|(height, width)| Resize::new(height, width)).transpose()?;
        let layout = |what| problem(folder, ImageProblem::Layout(what));
        let mut files = Vec::new();
        let classes = match (images.is_empty(), folders.is_empty()) {
            (false, false) => return Err(layout("images beside folders")),
            (_, true) => {
                files.extend(images.into_iter().map(|image| (image, 0)));
                None
            }
            (true, false) => {
                let mut classes = Vec::new();
                for class in folders {
                    let (images, folders) = contents(&class)?;
                    if let Some(inner) = folders.first() {
                        return Err(problem(inner, ImageProblem::Layout("a folder in the folder of a class")));
                    }
                    files.extend(images.into_iter().map(|image| (image, classes.len())));
                    let name = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    classes.push(Label::parse(&name));
                }
                labelled.then_some(classes)
            }
        };
        if files.is_empty() {
            let what = "no images in the folder (.png, .jpg, .bmp, .pnm, .webp, .tif, .gif)";
            return Err(IoError::Empty { file: folder.to_owned(), what });
        }
        let headers: Vec<_> = files.par_iter().map(|(file, _)| header(file)).collect();
        // In file order, so that the first problem is reported.
        let (mut first, mut grey) = (None, true);
        for (header, (file, _)) in headers.into_iter().zip(&files) {
            let (size, is_grey) = header?;
            let expected = *first.get_or_insert(size);
            if size != expected && resize.is_none() {
                let as_in = files[0].0.display().to_string();
                return Err(problem(file, ImageProblem::Size { found: size, expected, as_in }));
            }
            grey &= is_grey;
        }
        let (mut width, mut height) = first.unwrap_or_default();
        if let Some(size) = options.resize {
            (height, width) = size;
        }
        let folder = if is_single { folder.parent().unwrap_or(folder) } else { folder };
        Ok(Reader { folder: folder.to_owned(), files, classes, next: 0, height, width, grey, resize })
    }

    fn channels(&self) -> usize {
        if self.grey { 1 } else { 3 }
    }

    fn decode(&self, file: &Path, pixels: &mut [u8]) -> Result<()> {
        let image = opened(file)?.decode().map_err(|error| undecodable(file, error))?;
        let found = (image.width() as usize, image.height() as usize);
        // The file may have been replaced since its header was read.
        if found != (self.width, self.height) && self.resize.is_none() {
            let (expected, as_in) = ((self.width, self.height), "its header".into());
            return Err(problem(file, ImageProblem::Size { found, expected, as_in }));
        }
        let decoded = match (self.grey, image) {
            (true, DynamicImage::ImageLuma8(image)) => image.into_raw(),
            (true, image) => image.into_luma8().into_raw(),
            (false, image) => image.into_rgb8().into_raw(),
        };
        match &self.resize {
            None => pixels.copy_from_slice(&decoded),
            Some(resize) => {
                let one = Images::new(decoded, found.1, found.0, self.channels())?;
                pixels.copy_from_slice(resize.resized(&one)?.image(0));
            }
        }
        Ok(())
    }
}

impl SampleReader for Reader {
    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        let size = self.height * self.width * self.channels();
        let n = (bytes / size.max(1)).clamp(1, self.files.len());
        let files = &self.files[self.next..self.files.len().min(self.next + n)];
        if files.is_empty() {
            return Ok(false);
        }
        let mut pixels = Vec::new();
        let needed = files.len().checked_mul(size).filter(|&needed| pixels.try_reserve_exact(needed).is_ok());
        let needed =
            needed.ok_or_else(|| problem(&self.folder, ImageProblem::TooLarge { images: files.len(), size }))?;
        pixels.resize(needed, 0);
        let images = pixels.par_chunks_mut(size.max(1)).zip(files);
        let results: Vec<_> = images.map(|(pixels, (file, _))| self.decode(file, pixels)).collect();
        results.into_iter().collect::<Result<Vec<()>>>()?;
        let labels = self.classes.as_ref();
        let labels = labels.map(|classes| Labels::new(files.iter().map(|(_, class)| classes[*class].clone())));
        let shown = |file: &Path| file.strip_prefix(&self.folder).unwrap_or(file).display().to_string();
        let names = files.iter().map(|(file, _)| shown(file)).collect();
        *table = collection(&self.folder, pixels, (self.height, self.width, self.channels()), labels, Some(names))?;
        self.next += files.len();
        Ok(true)
    }
}

/// True where the reader would find images.
pub(crate) fn has_images(folder: &Path) -> bool {
    let Ok((images, folders)) = contents(folder) else { return false };
    !images.is_empty() || folders.iter().any(|class| contents(class).is_ok_and(|(images, _)| !images.is_empty()))
}

/// Whether a file is an image, by its name.
fn is_image(path: &Path) -> bool {
    IMAGE_ENDINGS.iter().any(|known| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(known)))
}

/// The images and the folders in a folder, each sorted by name.
fn contents(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut images, mut folders) = (Vec::new(), Vec::new());
    let refused = |source: io::Error| IoError::Read { file: folder.to_owned(), action: "cannot list", source };
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            folders.push(path);
        } else if is_image(&path) {
            images.push(path);
        }
    }
    images.sort();
    folders.sort();
    Ok((images, folders))
}

fn opened(file: &Path) -> Result<ImageReader<BufReader<File>>> {
    let refused = |source| IoError::Read { file: file.to_owned(), action: "cannot open", source };
    // By content: a JPEG with extension .png is read as JPEG.
    ImageReader::open(file).and_then(ImageReader::with_guessed_format).map_err(refused)
}

/// Width and height, and whether it is grey.
fn header(file: &Path) -> Result<((usize, usize), bool)> {
    let decoder = opened(file)?.into_decoder().map_err(|error| undecodable(file, error))?;
    let (width, height) = decoder.dimensions();
    // In addition to the decoder's own memory limit; also bounds products of sizes elsewhere.
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let what = format!("{width} × {height} pixels, at most {MAX_PIXELS} are read");
        return Err(problem(file, ImageProblem::Undecodable(what)));
    }
    Ok(((width as usize, height as usize), !decoder.color_type().has_color()))
}

fn undecodable(file: &Path, error: image::ImageError) -> IoError {
    match error {
        image::ImageError::IoError(source) if source.raw_os_error().is_some() => IoError::reading(file)(source),
        error => problem(file, ImageProblem::Undecodable(error.to_string())),
    }
}
