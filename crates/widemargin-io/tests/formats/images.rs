//! Images are read from files and folders, and errors name the file.

use std::path::{Path, PathBuf};

use image::{DynamicImage, GrayImage, RgbImage, RgbaImage};
use widemargin::data::AnySamples;
use widemargin::data::Images;
use widemargin_io::{Blocks, LabelColumn, ReadOptions, Samples, Table, read};

fn images(samples: &Table) -> &Images {
    let Samples::Other(AnySamples::Images(images)) = &samples.samples else { panic!("{samples:?}") };
    images
}

fn labels(samples: &Table) -> Vec<String> {
    let labels = samples.labels.as_ref().unwrap();
    (0..labels.len()).map(|row| labels.get(row).to_string()).collect()
}

fn save(folder: &Path, name: &str, image: impl Into<DynamicImage>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    image.into().save(&path).unwrap();
    path
}

fn message(path: &Path) -> String {
    let error = read(path, &ReadOptions::default()).unwrap_err();
    assert!(error.is_input(), "{error}");
    error.to_string()
}

fn color(seed: u8) -> RgbImage {
    RgbImage::from_fn(3, 2, |x, y| image::Rgb([seed, x as u8, y as u8]))
}

#[test]
fn reads_one_folder_per_class() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), "dog/1.png", color(7));
    save(folder.path(), "cat/b.bmp", GrayImage::from_fn(3, 2, |x, _| image::Luma([x as u8])));
    save(folder.path(), "cat/a.ppm", color(9));
    save(folder.path(), "cat/c.PNG", RgbaImage::from_fn(3, 2, |x, y| image::Rgba([1, x as u8, y as u8, 9])));
    std::fs::write(folder.path().join("cat/.hidden.png"), "x").unwrap();
    std::fs::write(folder.path().join("cat/notes.txt"), "x").unwrap();
    std::fs::write(folder.path().join("readme.md"), "x").unwrap();
    let samples = read(folder.path(), &ReadOptions::default()).unwrap();
    let all = images(&samples);
    assert_eq!((all.height(), all.width(), all.channels()), (2, 3, 3));
    assert_eq!(labels(&samples), ["cat", "cat", "cat", "dog"]);
    assert_eq!(samples.files.as_ref().unwrap()[3], Path::new("dog").join("1.png").display().to_string());
    assert_eq!(all.image(0), color(9).as_raw().as_slice());
    assert_eq!(all.image(1)[..6], [0, 0, 0, 1, 1, 1]);
    assert_eq!(all.image(2)[..6], [1, 0, 0, 1, 1, 0]);
    assert_eq!(all.image(3), color(7).as_raw().as_slice());
    let small = ReadOptions { block_bytes: Some(20), ..Default::default() };
    let blocks: Vec<_> = Blocks::open(folder.path(), &small).unwrap().map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 4);
    let pixels: Vec<u8> = blocks.iter().flat_map(|block| images(&block.table).pixels().to_vec()).collect();
    assert_eq!(pixels, all.pixels());
    // One class alone is a folder without labels.
    let cats = read(&folder.path().join("cat"), &ReadOptions::default()).unwrap();
    assert_eq!((images(&cats).pixels(), cats.labels.is_none()), (&all.pixels()[..54], true));
    let unlabeled = ReadOptions { label: LabelColumn::None, ..Default::default() };
    assert_eq!(read(folder.path(), &unlabeled).unwrap().labels, None);
}

#[test]
fn gray_images_have_one_channel() {
    let folder = tempfile::tempdir().unwrap();
    let gray = GrayImage::from_fn(4, 4, |x, y| image::Luma([(x * 16 + y) as u8]));
    save(folder.path(), "a.png", gray.clone());
    save(folder.path(), "b.png", DynamicImage::ImageLuma8(gray.clone()).into_luma16());
    let samples = read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(images(&samples).channels(), 1);
    assert_eq!(images(&samples).image(0), gray.as_raw().as_slice());
    assert_eq!(images(&samples).image(1), gray.as_raw().as_slice());
}

#[test]
fn detects_jpeg_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.jpg", RgbImage::from_pixel(8, 8, image::Rgb([200, 100, 50])));
    std::fs::rename(&path, folder.path().join("a.png")).unwrap();
    let samples = read(folder.path(), &ReadOptions::default()).unwrap();
    for (found, right) in images(&samples).image(0).iter().zip([200u8, 100, 50]) {
        assert!(found.abs_diff(right) <= 3);
    }
}

/// A JPEG file with an EXIF orientation.
fn oriented(image: GrayImage, orientation: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    DynamicImage::from(image).write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
    let mut exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    let mut bytes = bytes.into_inner();
    bytes.splice(2..2, exif);
    bytes
}

#[test]
fn rotates_photographs_by_their_orientation() {
    let folder = tempfile::tempdir().unwrap();
    // Dark on the left and bright on the right.
    let image = || GrayImage::from_fn(32, 16, |x, _| image::Luma([if x < 16 { 10 } else { 240 }]));
    for (orientation, size, dark) in
        [(1, (16, 32), "left"), (3, (16, 32), "right"), (6, (32, 16), "top"), (8, (32, 16), "bottom")]
    {
        let path = folder.path().join("photo.jpg");
        std::fs::write(&path, oriented(image(), orientation)).unwrap();
        let table = read(&path, &ReadOptions::default()).unwrap();
        let all = images(&table);
        assert_eq!((all.height(), all.width()), size, "{orientation}");
        let is_dark = |row: usize, column: usize| all.image(0)[row * size.1 + column] < 100;
        let (last_row, last_column) = (size.0 - 1, size.1 - 1);
        let corners = [is_dark(0, 0), is_dark(0, last_column), is_dark(last_row, 0), is_dark(last_row, last_column)];
        let expected = match dark {
            "left" => [true, false, true, false],
            "right" => [false, true, false, true],
            "top" => [true, true, false, false],
            _ => [false, false, true, true],
        };
        assert_eq!(corners, expected, "{orientation}");
    }
}

#[test]
fn reports_images_in_unsupported_formats() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), "cat/1.png", color(7));
    save(folder.path(), "dog/1.png", color(8));
    for name in ["cat/2.HEIC", "dog/2.avif", "dog/a.heic", "dog/b.heic", "dog/c.heic", "dog/notes.txt"] {
        std::fs::write(folder.path().join(name), "x").unwrap();
    }
    let table = read(folder.path(), &ReadOptions::default()).unwrap();
    let named =
        |names: &[&str]| names.iter().map(|name| Path::new(name).display().to_string()).collect::<Vec<_>>().join(", ");
    let (avif, heic) = (named(&["dog/2.avif"]), named(&["cat/2.HEIC", "dog/a.heic", "dog/b.heic"]));
    assert_eq!(
        table.remarks,
        [format!(
            "5 images are left out, in formats that are not read: .avif ({avif}), .heic ({heic} and 1 more); convert them to \
             PNG or JPEG"
        )]
    );
    std::fs::remove_file(folder.path().join("cat/1.png")).unwrap();
    std::fs::remove_file(folder.path().join("dog/1.png")).unwrap();
    let error = message(folder.path());
    assert!(
        error.contains("2.HEIC") && error.contains("images of the format .heic are not read: convert them to PNG"),
        "{error}"
    );
}

#[test]
fn rejects_invalid_folders() {
    let folder = tempfile::tempdir().unwrap();
    assert!(message(folder.path()).contains("no images in the folder"));
    assert!(message(&folder.path().join("gone.png")).contains("gone.png: cannot open"));
    save(folder.path(), "a/1.png", color(1));
    let wide = save(folder.path(), "b/2.png", RgbImage::new(4, 2));
    let error = message(folder.path());
    assert!(error.contains("2.png: 4 × 2 pixels, but ") && error.contains("1.png has 3 × 2"), "{error}");
    std::fs::write(&wide, "not an image").unwrap();
    let error = message(folder.path());
    assert!(error.contains("2.png: cannot be decoded"), "{error}");
    let png = std::fs::read(folder.path().join("a/1.png")).unwrap();
    for length in 0..png.len() {
        std::fs::write(&wide, &png[..length]).unwrap();
        // The last bytes of a PNG only mark its end.
        let read = read(folder.path(), &ReadOptions::default());
        assert!(read.is_err() || length + 16 > png.len(), "{length} of {}", png.len());
    }
    std::fs::create_dir_all(folder.path().join("b/deeper")).unwrap();
    assert!(message(folder.path()).contains("a folder in the folder of a class"));
    save(folder.path(), "0.png", color(1));
    assert!(message(folder.path()).contains("images next to folders"));
}

#[test]
fn rejects_headers_of_huge_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "a.bmp", color(1));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[18..22].copy_from_slice(&60_000u32.to_le_bytes());
    bytes[22..26].copy_from_slice(&60_000u32.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    assert!(message(folder.path()).contains("60000 × 60000 pixels, at most"), "{}", message(folder.path()));
    std::fs::write(&path, "P5\n4000000000 4000000000\n255\n").unwrap();
    assert!(message(folder.path()).contains("a.bmp"));
}

#[test]
fn other_formats_one_image_and_images_of_other_sizes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.webp", "b.tiff", "c.gif"] {
        let path = save(folder.path(), name, color(200));
        let table = read(&path, &ReadOptions::default()).unwrap();
        // The palette of a GIF has all six colors.
        assert_eq!(images(&table).image(0), color(200).as_raw().as_slice(), "{name}");
        assert_eq!((table.labels.is_none(), table.files.as_deref()), (true, Some(&[name.to_owned()][..])), "{name}");
    }
    save(folder.path(), "d.png", RgbImage::from_fn(9, 8, |x, y| image::Rgb([x as u8, y as u8, 0])));
    let error = message(folder.path());
    assert!(error.contains("d.png: 9 × 8 pixels, but") && error.ends_with("a.webp has 3 × 2"), "{error}");
}
