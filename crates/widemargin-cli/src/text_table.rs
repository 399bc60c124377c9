//! Lists and small tables of plain text.

use indicatif::HumanCount;

/// The number of samples, or the sum of their weights, in a table.
pub fn support_text(support: f64) -> String {
    match support.fract() == 0.0 && support < 9.0e15 {
        true => HumanCount(support as u64).to_string(),
        false => format!("{support:.2}"),
    }
}

/// Names in a line.
pub fn list(names: impl IntoIterator<Item = impl ToString>, between: &str) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(between)
}

/// The first of some names.
pub fn beginning(names: impl IntoIterator<Item = impl ToString>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown = list(names.by_ref().take(most), ", ");
    if names.next().is_some() { shown + ", …" } else { shown }
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
    let head = heads.iter().map(|head| (*head).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).zip(heads).enumerate().map(|(column, ((cell, &width), head))| {
            if column == 0 || head.is_empty() { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
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
