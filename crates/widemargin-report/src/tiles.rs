//! Numbers in large, tables of small ones, and bars.

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

/// A small bar of a share from −1 to 1.
pub fn bar(share: f64) -> Markup {
    let width = 80.0 * share.abs().min(1.0);
    html! {
        svg class="wm-svg" viewBox="0 0 80 10" width="80" height="10" {
            rect class=(if share < 0.0 { "wm-con" } else { "wm-pro" }) x="0" y="1" height="8" rx="1.5" width=(format!("{width:.1}")) {}
        }
    }
}

/// A table of things with a bar for each: its name, further cells, its value and that as text. There may be no heads.
pub fn bars(heads: &[&str], rows: impl Iterator<Item = (String, Vec<String>, f64, String)>) -> Markup {
    let is_left = |column: usize| column == 0 || column + 2 == heads.len();
    let rows: Vec<_> = rows.collect();
    let largest = rows.iter().map(|(_, _, value, _)| value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        table class="wm-table" {
            @if !heads.is_empty() {
                thead { tr { @for (column, head) in heads.iter().enumerate() { th class=[is_left(column).then_some("wm-left")] { (head) } } } }
            }
            tbody {
                @for (name, cells, value, text) in rows {
                    tr { td class="wm-left" { (name) } @for cell in cells { td { (cell) } } td { (bar(value / largest)) } td { (text) } }
                }
            }
        }
    }
}

/// How many things are not shown, if they are more than `most`.
pub fn more(n: usize, most: usize, things: &str) -> Markup {
    html! { @if n > most { p class="wm-small wm-soft" { (n - most) " more " (things) } } }
}
