//! The option `--class-weight`.

use std::collections::BTreeMap;

use widemargin::Error;
use widemargin::data::{ClassWeight, Label};

use crate::options::Choice;
use crate::report::Failure;

/// The weights that are passed, or equal ones.
pub fn class_weight(choice: &Choice) -> Result<ClassWeight, Failure> {
    let wrong = |value: &str, expected| Error::Parameter { name: "class_weight", value: value.to_owned(), expected };
    let read = |text: &str| parse(text).map_err(|expected| wrong(text, expected));
    Ok(choice.read("class-weight", read)?.unwrap_or_default())
}

/// Parses `balanced` or LABEL:WEIGHT,...
fn parse(text: &str) -> Result<ClassWeight, String> {
    if text == "balanced" {
        return Ok(ClassWeight::Balanced);
    }
    let mut weights = BTreeMap::new();
    for pair in text.split(',') {
        let parsed = pair.rsplit_once(':').and_then(|(label, weight)| Some((label, weight.parse::<f64>().ok()?)));
        let Some((label, weight)) = parsed else {
            return Err(format!("'{pair}' is not LABEL:WEIGHT; `balanced` is the other choice"));
        };
        if weights.insert(Label::parse(label), weight).is_some() {
            return Err(format!("the label '{label}' occurs twice"));
        }
    }
    Ok(ClassWeight::PerClass(weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_read() {
        assert_eq!(parse("balanced"), Ok(ClassWeight::Balanced));
        let expected = ClassWeight::PerClass([(Label::Integer(-1), 2.0), ("a:b".into(), 0.5)].into());
        assert_eq!(parse("-1:2,a:b:0.5"), Ok(expected));
        for wrong in ["", "1", "1:x", "1:2,", "1:2,1:3", "1:2,+1:3"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
