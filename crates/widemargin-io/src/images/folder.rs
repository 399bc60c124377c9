//! A folder of images: one folder per class, whose name is the label; or the images themselves, without labels; or one image.
//!
//! PNG, JPEG, BMP, PNM, WebP, TIFF and GIF files (the first picture of several) are read, identified by extension, and
//! rotated by their EXIF orientation. Hidden and other files are skipped; images in other formats are reported.
//! All images must have the same size. If all are gray they have one channel, otherwise three; transparency is dropped,
//! and 16 bits are reduced to 8.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use rayon::prelude::*;
use widemargin::data::{Label, Labels};

use super::{NO_COLUMNS, collection, problem};
use crate::error::{IoError, Result};
use crate::format::IMAGE_ENDINGS;
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::sample_problem::ImageProblem;
use crate::table::Table;

/// Maximum number of pixels of an image.
const MAX_PIXELS: u64 = 1 << 27;

/// Endings of images in formats that are not read.
const UNREAD_ENDINGS: [&str; 21] = [
    "jp2", "j2k", "jpx", "jxl", "avif", "heic", "heif", "ico", "svg", "psd", "tga", "dds", "exr", "hdr", "qoi", "dng",
    "cr2", "cr3", "nef", "arw", "raw",
];

/// Maximum number of names of files of each unsupported format.
const MAX_NAMES: usize = 3;

/// Reads files in order, class by class and by name.
#[derive(Debug)]
pub(crate) struct Reader {
    folder: PathBuf,
    /// Each file with the index of its class in `classes`.
    files: Vec<(PathBuf, usize)>,
    classes: Option<Vec<Label>>,
    /// Images in formats that are not read.
    unread: Vec<PathBuf>,
    next: usize,
    height: usize,
    width: usize,
    gray: bool,
}

impl Reader {
    /// Reads the header of every file, so that mismatches are reported before any work is done, and all blocks agree on
    /// the number of channels.
    pub fn new(folder: &Path, options: &ReadOptions) -> Result<Reader> {
        let labeled = options.wants_labels(folder, NO_COLUMNS)?;
        let is_single = folder.is_file() || (!folder.is_dir() && is_image(folder));
        let Contents { images, folders, mut unread } = match is_single {
            true => Contents { images: vec![folder.to_owned()], ..Contents::default() },
            false => contents(folder)?,
        };
        let layout = |what| problem(folder, ImageProblem::Layout(what));
        let mut files = Vec::new();
        let classes = match (images.is_empty(), folders.is_empty()) {
            (false, false) => return Err(layout("images next to folders")),
            (_, true) => {
                files.extend(images.into_iter().map(|image| (image, 0)));
                None
            }
            (true, false) => {
                let mut classes = Vec::new();
                for class in folders {
                    let Contents { images, folders, unread: other } = contents(&class)?;
                    if let Some(inner) = folders.first() {
                        return Err(problem(inner, ImageProblem::Layout("a folder in the folder of a class")));
                    }
                    unread.extend(other);
                    files.extend(images.into_iter().map(|image| (image, classes.len())));
                    let name = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    classes.push(Label::parse(&name));
                }
                labeled.then_some(classes)
            }
        };
        if let (true, Some(first)) = (files.is_empty(), unread.first()) {
            let what = format!("images of the format {} are not read: {CONVERT}", ending_of(first));
            return Err(problem(first, ImageProblem::Undecodable(what)));
        }
        if files.is_empty() {
            let what = "no images in the folder (.png, .jpg, .bmp, .pnm, .webp, .tif, .gif)";
            return Err(IoError::Empty { file: folder.to_owned(), what });
        }
        let headers: Vec<_> = files.par_iter().map(|(file, _)| header(file)).collect();
        // In file order, so that the first problem is reported.
        let (mut first, mut gray) = (None, true);
        for (header, (file, _)) in headers.into_iter().zip(&files) {
            let (size, is_gray) = header?;
            let expected = *first.get_or_insert(size);
            if size != expected {
                let as_in = files[0].0.display().to_string();
                return Err(problem(file, ImageProblem::Size { found: size, expected, as_in }));
            }
            gray &= is_gray;
        }
        let (width, height) = first.unwrap_or_default();
        let folder = if is_single { folder.parent().unwrap_or(folder) } else { folder };
        Ok(Reader { folder: folder.to_owned(), files, classes, unread, next: 0, height, width, gray })
    }

    fn channels(&self) -> usize {
        if self.gray { 1 } else { 3 }
    }

    /// A file's path in the folder.
    fn shown(&self, file: &Path) -> String {
        file.strip_prefix(&self.folder).unwrap_or(file).display().to_string()
    }

    /// A remark on images in unsupported formats, if there are any.
    fn remark(&self) -> Option<String> {
        let mut formats: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in &self.unread {
            formats.entry(ending_of(file)).or_default().push(self.shown(file));
        }
        let one = |(ending, files): (&String, &Vec<String>)| {
            let named = files[..files.len().min(MAX_NAMES)].join(", ");
            let more =
                if files.len() > MAX_NAMES { format!(" and {} more", files.len() - MAX_NAMES) } else { String::new() };
            format!("{ending} ({named}{more})")
        };
        let formats: Vec<String> = formats.iter().map(one).collect();
        let n = self.unread.len();
        let what = if n == 1 { "1 image is" } else { &format!("{n} images are") };
        (n > 0).then(|| format!("{what} left out, in formats that are not read: {}; {CONVERT}", formats.join(", ")))
    }

    fn decode(&self, file: &Path, pixels: &mut [u8]) -> Result<()> {
        let image = upright(file)?;
        let found = (image.width() as usize, image.height() as usize);
        // The file may have been replaced since its header was read.
        if found != (self.width, self.height) {
            let (expected, as_in) = ((self.width, self.height), "its header".into());
            return Err(problem(file, ImageProblem::Size { found, expected, as_in }));
        }
        let decoded = match (self.gray, image) {
            (true, DynamicImage::ImageLuma8(image)) => image.into_raw(),
            (true, image) => image.into_luma8().into_raw(),
            (false, image) => image.into_rgb8().into_raw(),
        };
        pixels.copy_from_slice(&decoded);
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
        let names = files.iter().map(|(file, _)| self.shown(file)).collect();
        *table = collection(&self.folder, pixels, (self.height, self.width, self.channels()), labels, Some(names))?;
        if self.next == 0 {
            table.remarks.extend(self.remark());
        }
        self.next += files.len();
        Ok(true)
    }
}

/// True where the reader would find images.
pub(crate) fn has_images(folder: &Path) -> bool {
    let Ok(Contents { images, folders, .. }) = contents(folder) else { return false };
    !images.is_empty() || folders.iter().any(|class| contents(class).is_ok_and(|class| !class.images.is_empty()))
}

/// The cure for a format that is not read.
const CONVERT: &str = "convert them to PNG or JPEG";

/// Whether a file is an image, by its name.
fn is_image(path: &Path) -> bool {
    ends_in(path, &IMAGE_ENDINGS)
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The ending of a file's name, in lower case with its point.
fn ending_of(path: &Path) -> String {
    format!(".{}", path.extension().unwrap_or_default().to_string_lossy().to_lowercase())
}

/// What is in a folder, each sorted by name.
#[derive(Default)]
struct Contents {
    images: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Images in formats that are not read.
    unread: Vec<PathBuf>,
}

fn contents(folder: &Path) -> Result<Contents> {
    let mut found = Contents::default();
    let refused = |source: io::Error| IoError::Read { file: folder.to_owned(), action: "cannot list", source };
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            found.folders.push(path);
        } else if is_image(&path) {
            found.images.push(path);
        } else if ends_in(&path, &UNREAD_ENDINGS) {
            found.unread.push(path);
        }
    }
    for list in [&mut found.images, &mut found.folders, &mut found.unread] {
        list.sort();
    }
    Ok(found)
}

fn opened(file: &Path) -> Result<ImageReader<BufReader<File>>> {
    let refused = |source| IoError::Read { file: file.to_owned(), action: "cannot open", source };
    // By content: a JPEG with extension .png is read as JPEG.
    ImageReader::open(file).and_then(ImageReader::with_guessed_format).map_err(refused)
}

/// The image, in the orientation of its metadata.
fn upright(file: &Path) -> Result<DynamicImage> {
    let wrong = |error| undecodable(file, error);
    let mut decoder = opened(file)?.into_decoder().map_err(wrong)?;
    let mut limits = Limits::default();
    limits.reserve(decoder.total_bytes()).map_err(wrong)?;
    decoder.set_limits(limits).map_err(wrong)?;
    let orientation = orientation(&mut decoder);
    let mut image = DynamicImage::from_decoder(decoder).map_err(wrong)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// The orientation of an image; upright if its metadata cannot be read.
fn orientation(decoder: &mut impl ImageDecoder) -> Orientation {
    decoder.orientation().unwrap_or(Orientation::NoTransforms)
}

/// Width and height of the upright image, and whether it is gray.
fn header(file: &Path) -> Result<((usize, usize), bool)> {
    let mut decoder = opened(file)?.into_decoder().map_err(|error| undecodable(file, error))?;
    let (mut width, mut height) = decoder.dimensions();
    // In addition to the decoder's own memory limit; also bounds products of sizes elsewhere.
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let what = format!("{width} × {height} pixels, at most {MAX_PIXELS} are read");
        return Err(problem(file, ImageProblem::Undecodable(what)));
    }
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    if matches!(orientation(&mut decoder), Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH) {
        (width, height) = (height, width);
    }
    Ok(((width as usize, height as usize), !decoder.color_type().has_color()))
}

fn undecodable(file: &Path, error: image::ImageError) -> IoError {
    match error {
        image::ImageError::IoError(source) if source.raw_os_error().is_some() => IoError::reading(file)(source),
        error => problem(file, ImageProblem::Undecodable(error.to_string())),
    }
}
