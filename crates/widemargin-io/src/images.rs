//! A folder of images: one folder per class, whose name is the label; or the images themselves, without labels; or one image.
//!
//! PNG, JPEG, BMP, PNM, WebP, TIFF and GIF files (the first picture of several) are read, identified by extension, and
//! rotated by their EXIF orientation. Hidden and other files are skipped; images in other formats are reported.
//! All images must have the same size. If all are gray they have one channel, otherwise three; transparency is dropped,
//! and 16 bits are reduced to 8.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use rayon::prelude::*;
use widemargin::data::{AnySamples, Images, Label, Labels};

use crate::error::{Failure, IoError, Problem};
use crate::image_folder::{Contents, contents, is_image};
use crate::options::ReadOptions;
use crate::reader::SampleReader;
use crate::table::{Samples, Table};

/// Maximum number of pixels of an image.
const MAX_PIXELS: u64 = 1 << 27;

/// The cure for a format that is not read.
const CONVERT: &str = "convert them to PNG or JPEG";

/// Maximum number of names of files of each unsupported format.
const MAX_NAMES: usize = 3;

/// Reads files in order, class by class and by name.
pub(crate) struct Reader {
    folder: PathBuf,
    /// Each file with its label.
    files: Vec<(PathBuf, Option<Label>)>,
    /// Images in formats that are not read.
    unread: Vec<PathBuf>,
    next: usize,
    height: usize,
    width: usize,
    channels: usize,
}

impl Reader {
    /// Reads the header of every file, so that mismatches are reported before any work is done, and all blocks agree on
    /// the number of channels.
    pub fn new(folder: &Path, options: &ReadOptions) -> Result<Reader, Failure> {
        let labeled = options.wants_labels("images have no columns")?;
        let is_single = folder.is_file() || (!folder.is_dir() && is_image(folder));
        let Contents { images, folders, mut unread } = match is_single {
            true => Contents { images: vec![folder.to_owned()], ..Contents::default() },
            false => contents(folder)?,
        };
        let misplaced = |text: &str, at: &Path| {
            let help = "put the images of each class into a folder of its own, or all into one folder";
            Problem::new(text).help(help).of(at)
        };
        if !images.is_empty() && !folders.is_empty() {
            return Err(misplaced("images next to folders", folder).into());
        }
        let mut files: Vec<_> = images.into_iter().map(|image| (image, None)).collect();
        for class in folders {
            let Contents { images, folders, unread: other } = contents(&class)?;
            if let Some(inner) = folders.first() {
                return Err(misplaced("a folder in the folder of a class", inner).into());
            }
            let name = class.file_name().unwrap_or_default().to_string_lossy();
            let label = labeled.then(|| Label::parse(&name));
            files.extend(images.into_iter().map(|image| (image, label.clone())));
            unread.extend(other);
        }
        if let (true, Some(first)) = (files.is_empty(), unread.first()) {
            let what = format!("images of the format {} are not read: {CONVERT}", ending_of(first));
            return Err(undecodable(first, what).into());
        }
        if files.is_empty() {
            let text = "no images in the folder (.png, .jpg, .bmp, .pnm, .webp, .tif, .gif)";
            return Err(Problem::new(text).into());
        }
        let headers: Vec<_> = files.par_iter().map(|(file, _)| header(file)).collect();
        // In file order, so that the first problem is reported.
        let (mut first, mut gray) = (None, true);
        for (header, (file, _)) in headers.into_iter().zip(&files) {
            let (size, is_gray) = header?;
            let expected = *first.get_or_insert(size);
            if size != expected {
                return Err(other_size(file, size, expected, &files[0].0.display().to_string()).into());
            }
            gray &= is_gray;
        }
        let ((width, height), channels) = (first.unwrap_or_default(), if gray { 1 } else { 3 });
        let folder = if is_single { folder.parent().unwrap_or(folder) } else { folder };
        Ok(Reader { folder: folder.to_owned(), files, unread, next: 0, height, width, channels })
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

    fn decode(&self, file: &Path, pixels: &mut [u8]) -> Result<(), IoError> {
        let image = upright(file)?;
        let found = (image.width() as usize, image.height() as usize);
        // The file may have been replaced since its header was read.
        if found != (self.width, self.height) {
            return Err(other_size(file, found, (self.width, self.height), "its header"));
        }
        let decoded = if self.channels == 1 { image.into_luma8().into_raw() } else { image.into_rgb8().into_raw() };
        pixels.copy_from_slice(&decoded);
        Ok(())
    }
}

impl SampleReader for Reader {
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        drop(spent);
        let size = self.height * self.width * self.channels;
        let n = (bytes / size.max(1)).clamp(1, self.files.len());
        let files = &self.files[self.next..self.files.len().min(self.next + n)];
        if files.is_empty() {
            return Ok(None);
        }
        let mut pixels = Vec::new();
        let needed = files.len().checked_mul(size).filter(|&needed| pixels.try_reserve_exact(needed).is_ok());
        let Some(needed) = needed else {
            let text = format!("{} images of {size} bytes do not fit in memory", files.len());
            return Err(Problem::new(text).into());
        };
        pixels.resize(needed, 0);
        let images = pixels.par_chunks_mut(size.max(1)).zip(files);
        let results: Vec<_> = images.map(|(pixels, (file, _))| self.decode(file, pixels)).collect();
        results.into_iter().collect::<Result<Vec<()>, _>>()?;
        let labels = files.iter().map(|(_, label)| label.clone()).collect::<Option<Vec<_>>>().map(Labels::new);
        let names: Vec<String> = files.iter().map(|(file, _)| self.shown(file)).collect();
        // The pixels were read image by image, so that only a size of 0 can fail.
        let images = Images::new(pixels, self.height, self.width, self.channels)
            .map_err(|error| undecodable(&self.folder, error.to_string()))?;
        let samples = Samples::Other(AnySamples::Images(images));
        let remarks = if self.next == 0 { self.remark().into_iter().collect() } else { Vec::new() };
        self.next += files.len();
        Ok(Some(Table { files: Some(names), remarks, ..Table::new(samples, labels) }))
    }
}

/// The ending of a file's name, in lower case with its point.
fn ending_of(path: &Path) -> String {
    format!(".{}", path.extension().unwrap_or_default().to_string_lossy().to_lowercase())
}

fn decoder(file: &Path) -> Result<impl ImageDecoder + use<>, IoError> {
    // By content: a JPEG with extension .png is read as JPEG.
    let reader = ImageReader::open(file).and_then(ImageReader::with_guessed_format);
    let reader = reader.map_err(IoError::refused(file, "cannot open"))?;
    reader.into_decoder().map_err(|error| undecoded(file, error))
}

/// The image, in the orientation of its metadata.
fn upright(file: &Path) -> Result<DynamicImage, IoError> {
    let wrong = |error| undecoded(file, error);
    let (mut decoder, mut limits) = (decoder(file)?, Limits::default());
    limits.reserve(decoder.total_bytes()).map_err(wrong)?;
    decoder.set_limits(limits).map_err(wrong)?;
    let orientation = decoder.orientation();
    let mut image = DynamicImage::from_decoder(decoder).map_err(wrong)?;
    // Upright, if its metadata cannot be read.
    image.apply_orientation(orientation.unwrap_or(Orientation::NoTransforms));
    Ok(image)
}

/// Width and height of the upright image, and whether it is gray.
fn header(file: &Path) -> Result<((usize, usize), bool), IoError> {
    let mut decoder = decoder(file)?;
    let (mut width, mut height) = decoder.dimensions();
    // In addition to the decoder's own memory limit; also bounds products of sizes elsewhere.
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        let what = format!("{width} × {height} pixels, at most {MAX_PIXELS} are read");
        return Err(undecodable(file, what));
    }
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    if let Ok(Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH) = decoder.orientation() {
        (width, height) = (height, width);
    }
    Ok(((width as usize, height as usize), !decoder.color_type().has_color()))
}

/// The decoder's error, or the system's.
fn undecoded(file: &Path, error: image::ImageError) -> IoError {
    match error {
        image::ImageError::IoError(source) if source.raw_os_error().is_some() => Failure::System(source).reading(file),
        error => undecodable(file, error.to_string()),
    }
}

fn undecodable(file: &Path, why: String) -> IoError {
    Problem::new(format!("cannot be decoded: {why}")).of(file)
}

/// The error of an image of another width and height than expected.
fn other_size(file: &Path, found: (usize, usize), expected: (usize, usize), as_in: &str) -> IoError {
    let text = format!("{} × {} pixels, but {as_in} has {} × {}", found.0, found.1, expected.0, expected.1);
    Problem::new(text).help("crop or resize all images to one size").of(file)
}
