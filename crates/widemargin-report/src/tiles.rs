//! Numbers in large.

use maud::{Markup, html};

/// A number in large, with what it is.
pub fn tile(value: String, what: &str) -> Markup {
    html! { div class="wm-tile" { b { (value) } span class="wm-small wm-soft" { (what) } } }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
