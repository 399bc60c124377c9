//! Properties of LIBSVM text, determined from its first lines: the first index, and whether it is multilabel.

use super::number::is_blank;

/// The first lines of a text: the first word of each, and the first pair.
pub(super) struct Start<'a> {
    lines: Vec<Line<'a>>,
}

struct Line<'a> {
    /// From 1.
    number: usize,
    label: &'a [u8],
    first_pair: Option<(&'a [u8], &'a [u8])>,
}

impl<'a> Start<'a> {
    pub fn of(text: &'a [u8]) -> Start<'a> {
        let line = |(at, line): (usize, &'a [u8])| {
            let content = line.split(|byte| *byte == b'#').next().unwrap_or_default();
            let mut words = content.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty()).peekable();
            let label = words.next_if(|word| !word.contains(&b':')).unwrap_or_default();
            let pair = words.next().and_then(|word| {
                let colon = memchr::memchr(b':', word)?;
                Some((&word[..colon], &word[colon + 1..]))
            });
            (!label.is_empty() || pair.is_some()).then_some(Line { number: at + 1, label, first_pair: pair })
        };
        Start { lines: text.split(|byte| *byte == b'\n').enumerate().filter_map(line).collect() }
    }

    /// 0 where a line begins with it, as scikit-learn writes files, otherwise 1.
    pub fn first_index(&self) -> u32 {
        let has_zero = self.lines.iter().any(|line| matches!(line.first_pair, Some((b"0", _))));
        u32::from(!has_zero)
    }

    /// The first line, if the values of index 0 number the rows: a kernel matrix that LIBSVM reads with `-t 4`.
    pub fn precomputed(&self) -> Option<usize> {
        let is_numbered = |(at, line): (usize, &Line<'_>)| match line.first_pair {
            Some((b"0", value)) => std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()) == Some(at + 1),
            _ => false,
        };
        let are_all = self.lines.len() > 1 && self.lines.iter().enumerate().all(is_numbered);
        self.lines.first().filter(|_| are_all).map(|line| line.number)
    }

    /// Whether all lines look like those of a table: words with commas, or numbers on the only line, and no pair.
    pub fn is_table(&self) -> bool {
        let is_row = |line: &Line<'_>| line.first_pair.is_none() && line.label.contains(&b',');
        let is_number = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|part| part.parse::<f64>().is_ok());
        let may_be_table = match &self.lines[..] {
            [] => false,
            [only] => only.label.split(|byte| *byte == b',').all(is_number),
            _ => true,
        };
        may_be_table && self.lines.iter().all(is_row)
    }

    /// Whether a line begins with a list of labels: whole numbers separated by commas.
    pub fn is_multilabel(&self) -> bool {
        let is_whole = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|part| part.parse::<i64>().is_ok());
        let is_list = |label: &[u8]| label.contains(&b',') && label.split(|byte| *byte == b',').all(is_whole);
        self.lines.iter().any(|line| is_list(line.label))
    }
}
