//! Numbers in large, and tables of small ones.

use maud::{Markup, html};

/// A number in large, with what it is.
pub fn tile(value: String, what: &str) -> Markup {
    html! { div class="wm-tile" { b { (value) } span class="wm-small wm-soft" { (what) } } }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A share in percent without the unit, where it is defined.
pub fn share(share: Option<f64>) -> String {
    share.map_or("–".into(), |share| format!("{:.2}", 100.0 * share))
}

/// A table with its first column to the left.
pub fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Markup {
    let class = |column: usize| (column == 0).then_some("wm-left");
    html! {
        div class="wm-scroll" {
            table class="wm-table" {
                thead { tr { @for (column, head) in heads.iter().enumerate() { th class=[class(column)] { (head) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (column, cell) in row.iter().enumerate() { td class=[class(column)] { (cell) } } }
                    }
                }
            }
        }
    }
}

/// How many things are not shown, if they are more than `most`.
pub fn more(n: usize, most: usize, things: &str) -> Markup {
    html! { @if n > most { p class="wm-small wm-soft" { (n - most) " more " (things) } } }
}
