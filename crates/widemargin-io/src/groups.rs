//! Groups of samples: a text file with one name a line, in the order of the samples.

use std::io::Read as _;
use std::path::Path;

use widemargin::data::{Label, Labels};

use crate::error::{IoError, Result};
use crate::text_input::open_text;

/// Reads the group of each sample, as text: `1` and `01` are two groups. Blanks around a name do not count.
///
/// # Errors
/// [`IoError::Read`] and [`IoError::Empty`]; [`IoError::Group`] for an empty line before the last, and for text that is not
/// UTF-8.
pub fn read_groups(path: &Path) -> Result<Labels> {
    let mut input = open_text(path)?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(IoError::reading(path))?;
    let bytes = bytes.trim_ascii_end();
    if bytes.is_empty() {
        return Err(IoError::Empty { file: path.to_owned(), what: "no groups in the file" });
    }
    let mut groups = Vec::new();
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let problem = match std::str::from_utf8(line).map(str::trim) {
            Ok("") => "the line is empty",
            Ok(group) => {
                groups.push(Label::Text(group.to_owned()));
                continue;
            }
            Err(_) => "the text is not UTF-8",
        };
        return Err(IoError::Group { file: path.to_owned(), line: number + 1, problem });
    }
    Ok(Labels::new(groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Labels> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups");
        std::fs::write(&path, bytes).unwrap();
        read_groups(&path)
    }

    #[test]
    fn a_line_is_a_group() {
        let groups = read(b"\xEF\xBB\xBF01\r\n 1 \r\nthe third\r\n01\r\n\r\n").unwrap();
        let names: Vec<String> = (0..groups.len()).map(|row| groups.get(row).to_string()).collect();
        assert_eq!(names, ["01", "1", "the third", "01"]);
        assert_eq!(read(b"a\nb").unwrap().len(), 2);
    }

    #[test]
    fn errors_name_the_line() {
        assert!(read(b"a\n\nb\n").unwrap_err().to_string().ends_with("line 2: the line is empty"));
        assert!(read(b"a\nb\nc\xFF\n").unwrap_err().to_string().ends_with("line 3: the text is not UTF-8"));
        for empty in [&b""[..], b"\n \n"] {
            assert!(matches!(read(empty), Err(IoError::Empty { .. })));
        }
    }
}
