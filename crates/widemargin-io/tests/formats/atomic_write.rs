//! A file appears whole or not at all.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use widemargin::data::{DenseMatrix, Label, Labels};
use widemargin::output::OutputFile;
use widemargin_io::{Format, Samples, Table, write, write_to};

fn table() -> Table {
    let samples = Samples::DenseF64(DenseMatrix { values: vec![1.0; 20_000], n_rows: 10_000, n_cols: 2 });
    Table::new(samples, Some(Labels::new((0..10_000).map(|n| Label::Integer(n % 2)))))
}

#[test]
fn an_unfinished_file_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    drop(file);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.commit().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn permissions_and_links_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    write(&table(), &path, None).unwrap();
    let fresh = folder.path().join("fresh");
    std::fs::write(&fresh, "").unwrap();
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), mode(&fresh), "a new file is as readable as any other");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    write(&table(), &link, None).unwrap();
    assert_eq!(mode(&path), 0o640);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn rejects_a_missing_folder_and_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/a.csv");
    let error = write(&table(), &path, None).unwrap_err();
    assert!(error.is_input());
    let expected = format!("{}: cannot find its folder: ", path.display());
    assert!(
        error.to_string().starts_with(&expected) && error.to_string().ends_with("(nothing was written)"),
        "{error}"
    );
    let error = write(&table(), folder.path(), Some(Format::Csv)).unwrap_err();
    assert!(error.to_string().contains("cannot write") && error.is_input(), "{error}");
}

/// Room for some bytes, then the error of a full disk.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn every_writer_reports_a_full_disk() {
    let path = std::path::Path::new("some/file");
    for format in [Format::Libsvm, Format::Csv, Format::Tsv, Format::Npz, Format::Npy] {
        let mut table = table();
        if format == Format::Npy {
            table.labels = None;
        }
        for room in [0, 40, 20_000] {
            let error = write_to(&table, format, &mut Full(room), path).unwrap_err();
            assert!(error.to_string().starts_with("some/file: cannot write: "), "{error}");
            assert!(error.to_string().ends_with("(nothing was written)") && !error.is_input(), "{error}");
        }
    }
}

#[test]
fn devices_are_refused_and_not_replaced() {
    for device in ["/dev/null", "/dev/full"].map(std::path::Path::new) {
        if device.exists() {
            let error = write(&table(), device, Some(Format::Npz)).unwrap_err();
            assert!(error.is_input() && error.to_string().contains("not a regular file"), "{error}");
            assert!(!std::fs::metadata(device).unwrap().is_file());
        }
    }
}

#[test]
fn permissions_stay_whatever_the_mask() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "old").unwrap();
    for mode in [0o666, 0o602, 0o400] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        write(&table(), &path, None).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn creates_the_target_of_a_dangling_link_and_rejects_a_circle() {
    let folder = tempfile::tempdir().unwrap();
    let (link, circle) = (folder.path().join("link.csv"), folder.path().join("circle.csv"));
    symlink("target.csv", &link).unwrap();
    symlink("circle.csv", &circle).unwrap();
    write(&table(), &link, None).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::symlink_metadata(folder.path().join("target.csv")).unwrap().is_file());
    let error = write(&table(), &circle, None).unwrap_err();
    assert!(error.to_string().contains("leads back to itself"), "{error}");
}
