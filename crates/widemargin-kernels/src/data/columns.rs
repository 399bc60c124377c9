//! Matching columns by name.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};

/// Maximum number of names listed in a message.
const SHOWN: usize = 8;

/// The positions of the training columns among the columns of other samples: for each of `trained`, in order, its
/// position in `names`. `None` if they are already in the same order.
///
/// # Errors
/// [`Error::FeatureNames`] if a name is missing, unknown, or, unless the order is the same, repeated.
#[doc(hidden)]
pub fn column_order(trained: &[String], names: &[String]) -> Result<Option<Vec<usize>>> {
    if trained == names {
        return Ok(None);
    }
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let known: HashSet<&str> = trained.iter().map(String::as_str).collect();
    let missing: Vec<&String> = trained.iter().filter(|name| !places.contains_key(name.as_str())).collect();
    let unknown: Vec<&String> = names.iter().filter(|name| !known.contains(name.as_str())).collect();
    if !missing.is_empty() || !unknown.is_empty() {
        let lists = [(missing, "missing"), (unknown, "unknown")].map(|(names, kind)| list(&names, kind));
        return Err(Error::FeatureNames { problem: lists.into_iter().flatten().collect::<Vec<_>>().join("; ") });
    }
    for (names, distinct, whose) in [(trained, known.len(), "model"), (names, places.len(), "samples")] {
        if names.len() > distinct {
            let mut distinct = HashSet::new();
            let twice = names.iter().find(|name| !distinct.insert(name.as_str())).map_or("", String::as_str);
            let problem = format!("the {whose} have more than one called '{twice}', and their order is another");
            return Err(Error::FeatureNames { problem });
        }
    }
    Ok(Some(trained.iter().map(|name| places[name.as_str()]).collect()))
}

/// `missing 'a', 'b'`; `None` if there are no names.
fn list(names: &[&String], kind: &str) -> Option<String> {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{kind} {}{more}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(trained: &[&str], names: &[&str]) -> Result<Option<Vec<usize>>, String> {
        let owned = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        column_order(&owned(trained), &owned(names)).map_err(|error| error.to_string())
    }

    #[test]
    fn finds_each_column_by_its_name() {
        assert_eq!(order(&["a", "b", "c"], &["a", "b", "c"]), Ok(None));
        assert_eq!(order(&["a", "b", "c"], &["c", "a", "b"]), Ok(Some(vec![1, 2, 0])));
    }

    #[test]
    fn names_missing_and_unknown_columns() {
        let error = order(&["a", "b", "c"], &["c", "d", "a"]).unwrap_err();
        assert!(error.contains("missing 'b'; unknown 'd'"), "{error}");
        assert!(order(&["a"], &["a", "b"]).unwrap_err().ends_with("unknown 'b'"));
        let many: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
        let error = column_order(&many, &many[..1]).unwrap_err().to_string();
        assert!(error.contains("'x8' and 11 more"), "{error}");
    }

    #[test]
    fn repeated_names_need_the_training_order() {
        assert_eq!(order(&["a", "a", "b"], &["a", "a", "b"]), Ok(None));
        assert!(order(&["a", "a", "b"], &["b", "a", "a"]).unwrap_err().contains("'a'"));
        assert!(order(&["a", "b"], &["b", "a", "a"]).unwrap_err().contains("'a'"));
    }
}
