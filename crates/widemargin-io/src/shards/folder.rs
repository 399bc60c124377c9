//! Which files of a folder are shards, in which order, and of which format.

use std::cmp::Ordering;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{IoError, Result};
use crate::{Format, images};

/// The format of vectors that the files of a folder have; `None` where it is no folder of shards.
///
/// # Errors
/// [`IoError::Shards`] where only some of the files have it.
pub(crate) fn format_of(folder: &Path) -> Result<Option<Format>> {
    // A folder that cannot be listed, or has others in it, is left to the reader of images to complain about.
    let Ok((files, _)) = contents(folder) else { return Ok(None) };
    let formats: Vec<_> = files.iter().map(|file| Format::from_ending(file)).collect();
    let known = formats.iter().position(|format| format.is_some_and(Format::is_vectors));
    let Some((known, format)) = known.and_then(|known| Some((known, formats[known]?))) else { return Ok(None) };
    // Texts may lie beside images: a list of them, a licence.
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

/// The files that are shards, at least one, in their order.
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

/// The files and the folders that are not to be passed over.
fn contents(folder: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with(['.', '_']) {
            names.push(name);
        }
    }
    // Names that are the same but for leading zeros keep one order on every machine.
    names.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()).then_with(|| a.cmp(b)));
    Ok(names.into_iter().map(|name| folder.join(name)).partition(|path| !path.is_dir()))
}

/// Texts by their characters, and numbers in them by their value.
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

/// The digits a text starts with, and the rest.
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
