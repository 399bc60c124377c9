//! Small tables of plain text.

use indicatif::HumanCount;

/// The number of samples, or the sum of their weights, in a table.
pub fn support_text(support: f64) -> String {
    match support.fract() == 0.0 && support < 9.0e15 {
        true => HumanCount(support as u64).to_string(),
        false => format!("{support:.2}"),
    }
}

/// The first of some names.
pub fn beginning(names: &[impl ToString]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(ToString::to_string).collect();
    shown.join(", ") + if names.len() > shown.len() { ", …" } else { "" }
}

/// A number with this many digits behind the point, where there is one.
pub fn fixed(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

/// A share in percent, where it is defined.
pub fn percent(share: Option<f64>) -> String {
    fixed(share.map(|share| 100.0 * share), 2)
}

/// Lines of a table with a head: the first column, and those without a head, to the left, the others to the right.
pub fn text_table(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<_> = rows.into_iter().collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).zip(heads).enumerate().map(|(column, ((cell, &width), head))| {
            if column == 0 || head.is_empty() { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut heads.iter().copied());
    for row in &rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "22".into()]];
        assert_eq!(text_table(&["name", "n"], rows), "name   n\na      1\nlong  22\n");
    }
}
