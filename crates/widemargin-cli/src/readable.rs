//! Text of reports made readable: short numbers and short lines.

use serde_json::Value;
use textwrap::{Options, WordSplitter, fill};

/// Characters of a line at most.
pub const WIDTH: usize = 100;

/// Significant digits of numbers with fractions.
const DIGITS: usize = 4;

/// A text whose numbers with many digits after the point are rounded.
pub fn rounded(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    while let Some(start) = rest.find(is_part) {
        let word = &rest[start..];
        let end = word.find(|c: char| !is_part(c)).unwrap_or(word.len());
        // The sign of an exponent is a part of the number.
        let end = match word[..end].ends_with(['e', 'E']) && word[end..].starts_with(['-', '+']) {
            true => end + 1 + word[end + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len() - end - 1),
            false => end,
        };
        out.push_str(&rest[..start]);
        out.push_str(&short(&word[..end]));
        rest = &word[end..];
    }
    out + rest
}

/// A number with fewer digits if it has many; another word as it is.
fn short(word: &str) -> String {
    let mantissa = word.split(['e', 'E']).next().unwrap_or(word);
    let n_digits = mantissa.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
    match word.parse::<f64>() {
        Ok(number) if mantissa.contains('.') && n_digits > DIGITS + 2 && number.is_finite() => number_text(number),
        _ => word.to_owned(),
    }
}

/// A number with four significant digits at most.
pub fn number_text(number: f64) -> String {
    let rounded: f64 = format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number);
    match rounded.abs() {
        0.0 | 1e-4..1e6 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// A JSON value without quotes and brackets, its numbers with few digits.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => rounded(text),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Number(number) if number.is_f64() => number_text(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

/// A text in lines of at most [`WIDTH`] characters, broken at blanks.
pub fn wrapped(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let options = Options::new(WIDTH).initial_indent(&margin).subsequent_indent(&margin);
    fill(text, options.break_words(false).word_splitter(WordSplitter::NoHyphenation)).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_fractions_are_rounded_and_names_are_not() {
        for (text, expected) in [
            ("laplacian:gamma=0.03835056627138205 (mean-norm)", "laplacian:gamma=0.03835 (mean-norm)"),
            ("C = 4.8476e-3, 1.23456789e-12.", "C = 4.8476e-3, 1.235e-12."),
            ("gamma=1234567.891, 12345.678", "gamma=1.235e6, 12350"),
            ("x_1.23456789 v1.2.3456789 0.5644 12345678", "x_1.23456789 v1.2.3456789 0.5644 12345678"),
            ("", ""),
        ] {
            assert_eq!(rounded(text), expected);
        }
    }

    #[test]
    fn long_lists_are_wrapped() {
        let list = (0..60).map(|i| format!("name{i} é")).collect::<Vec<_>>().join(", ");
        let lines = wrapped(&list, 7);
        assert!(lines.lines().all(|line| line.chars().count() <= WIDTH), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), list.split_whitespace().collect::<Vec<_>>());
    }
}
