//! Lists folders in the natural order of names, part-2 before part-10.

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
    names.sort_by_cached_key(|name| (natural(&name.to_string_lossy()), name.clone()));
    Ok(names.into_iter().map(|name| folder.join(name)).partition(|path| !path.is_dir()))
}

/// A key that orders text by characters, and numbers within it by value: of a number its digits and how many there are.
fn natural(text: &str) -> Vec<(char, usize, String)> {
    let (mut key, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let (digits, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        if digits.is_empty() {
            key.push((first, 0, String::new()));
            rest = &rest[first.len_utf8()..];
        } else {
            let digits = digits.trim_start_matches('0');
            key.push(('0', digits.len(), digits.to_owned()));
            rest = after;
        }
    }
    key
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
                assert_eq!(natural(a).cmp(&natural(b)), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(natural("part-01"), natural("part-1"));
    }
}
