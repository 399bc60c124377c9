//! The option `--class-weight` of all methods.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use widemargin::data::{ClassWeight, Label};

/// The flag.
#[derive(Clone, Debug, Args)]
pub struct ClassWeightArg {
    /// Class weights: `balanced`, or LABEL:WEIGHT,... with 1 for classes not listed
    #[arg(long, value_parser = class_weight, value_name = "WEIGHTS")]
    class_weight: Option<ClassWeight>,
}

impl ClassWeightArg {
    /// The weights given.
    pub fn weights(&self) -> ClassWeight {
        self.class_weight.clone().unwrap_or_default()
    }

    /// Whether there are any.
    pub fn is_given(&self) -> bool {
        self.class_weight.is_some()
    }

    /// The same for `--json`.
    pub fn json(&self) -> Value {
        match &self.class_weight {
            Some(ClassWeight::Balanced) => "balanced".into(),
            Some(ClassWeight::PerClass(map)) => map
                .iter()
                .map(|(label, weight)| (label.to_string(), json!(weight)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            _ => Value::Null,
        }
    }
}

/// Parses `balanced` or LABEL:WEIGHT,...
fn class_weight(text: &str) -> Result<ClassWeight, String> {
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
        assert_eq!(class_weight("balanced"), Ok(ClassWeight::Balanced));
        let expected = ClassWeight::PerClass([(Label::Integer(-1), 2.0), ("a:b".into(), 0.5)].into());
        assert_eq!(class_weight("-1:2,a:b:0.5"), Ok(expected));
        for wrong in ["", "1", "1:x", "1:2,", "1:2,1:3", "1:2,+1:3"] {
            assert!(class_weight(wrong).is_err(), "{wrong}");
        }
    }
}
