//! Lists folders in the natural order of names, part-2 before part-10.

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{IoError, Result};

/// The files and folders in a folder, without those whose names begin with a `skipped` character.
pub(crate) fn list(folder: &Path, skipped: &[char]) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let names = entries.map_err(IoError::refused(folder, "cannot list"))?.into_iter().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with(skipped)).collect();
    // Names that differ only by leading zeros have the same order on every machine.
    names.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()).then_with(|| a.cmp(b)));
    Ok(names.into_iter().map(|name| folder.join(name)).partition(|path| !path.is_dir()))
}

/// Compares text by characters, and numbers within it by value.
fn natural(a: &str, b: &str) -> Ordering {
    pieces(a).cmp(pieces(b))
}

/// The characters of a text. A number is one piece: a digit, the number of its digits, and these.
fn pieces(mut text: &str) -> impl Iterator<Item = (char, usize, &str)> {
    std::iter::from_fn(move || {
        let first = text.chars().next()?;
        let n_digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (piece, rest) = text.split_at(n_digits.max(first.len_utf8()));
        text = rest;
        let digits = piece.trim_start_matches('0');
        Some(if n_digits == 0 { (first, 0, "") } else { ('0', digits.len(), digits) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let sorted = [
            "part",
            "part-",
            "part-1.csv",
            "part-02.csv",
            "part-2b.csv",
            "part-9.csv",
            "part-10.csv",
            "part-10a.csv",
            "part-18446744073709551616.csv",
            "part-a",
            "ä1",
            "ä2",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(natural(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(natural("part-01", "part-1"), Ordering::Equal);
    }
}
