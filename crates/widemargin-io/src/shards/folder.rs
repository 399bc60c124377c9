//! The shards of a folder: files, order and format.

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{IoError, Result};
use crate::{Format, images};

/// The vector format of the files of a folder; `None` if it is not a folder of shards.
///
/// # Errors
/// [`IoError::Shards`] if only some of the files have it.
pub(crate) fn format_of(folder: &Path) -> Result<Option<Format>> {
    // A folder that cannot be listed, or contains folders, is left to the image reader, which reports errors.
    let Ok((files, _)) = contents(folder) else { return Ok(None) };
    let formats: Vec<_> = files.iter().map(|file| Format::from_ending(file)).collect();
    let known = formats.iter().position(|format| format.is_some_and(Format::is_vectors));
    let Some((known, format)) = known.and_then(|known| Some((known, formats[known]?))) else { return Ok(None) };
    // Text files may accompany images: a list of them, a license.
    if images::folder::has_images(folder) {
        return Ok(None);
    }
    match formats.iter().position(|other| *other != Some(format)) {
        None => Ok(Some(format)),
        Some(other) => Err(IoError::Shards {
            file: files[other].clone(),
            found: formats[other].map_or("its name tells no format".into(), |format| format!("its format is {format}")),
            first: files[known].clone(),
            expected: format!("is {format}"),
        }),
    }
}

/// The shards in order, at least one.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Empty`], and [`IoError::Archive`] for a folder among them.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let refused = |source| IoError::Read { file: folder.to_owned(), action: "cannot list", source };
    let (files, folders) = contents(folder).map_err(refused)?;
    if let Some(inner) = folders.into_iter().next() {
        let problem = "a folder among files that are read as one input".into();
        let help = Some("name the folder that holds the files, or begin the name of the inner one with _");
        return Err(IoError::Archive { file: inner, problem, help });
    }
    if files.is_empty() {
        return Err(IoError::Empty { file: folder.to_owned(), what: "no files in the folder" });
    }
    Ok(files)
}

/// The files and folders that are not skipped.
fn contents(folder: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with(['.', '_']) {
            names.push(name);
        }
    }
    // Names that differ only by leading zeros have the same order on every machine.
    names.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()).then_with(|| a.cmp(b)));
    Ok(names.into_iter().map(|name| folder.join(name)).partition(|path| !path.is_dir()))
}

/// Compares text by characters, and numbers within it by value.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let ((left, rest_a), (right, rest_b)) = (digits(a), digits(b));
        let order = if left.is_empty() || right.is_empty() {
            match (a.chars().next(), b.chars().next()) {
                (None, None) => return Ordering::Equal,
                (left, right) if left != right => return left.cmp(&right),
                (Some(same), _) => {
                    (a, b) = (&a[same.len_utf8()..], &b[same.len_utf8()..]);
                    continue;
                }
                (None, Some(_)) => return Ordering::Less,
            }
        } else {
            let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
            left.len().cmp(&right.len()).then_with(|| left.cmp(right))
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
}

/// The leading digits of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
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
