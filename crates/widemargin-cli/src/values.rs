//! The values of options and settings, from their texts.

use std::collections::BTreeMap;
use std::str::FromStr;

use widemargin::data::{ClassWeight, Label};
use widemargin::expansion::Normalization;
use widemargin::model::{Approximation, CChoice, Penalty, Standardize, ThinPlateBasis};
use widemargin::problem::{Intercept, Loss};
use widemargin::select::{AutoMethod, Scoring};
use widemargin::similarity::{AdditiveKernel, ConditionalKernel, ScalarKernel};
use widemargin::solve::thin_plate::Polynomials;
use widemargin::{Error, Result, basis::BasisChoice};

/// The value of a parameter.
pub(crate) trait Value: Sized {
    /// The value of the parameter of this name.
    ///
    /// # Errors
    /// A text that is no such value, with what is expected.
    fn of_text(name: &'static str, text: &str) -> Result<Self>;
}

/// Values that the library reads.
macro_rules! parsed {
    ($($type:ty),+ $(,)?) => {$(
        impl Value for $type {
            fn of_text(_: &'static str, text: &str) -> Result<Self> {
                text.parse()
            }
        }
    )+};
}

parsed! {
    Approximation, BasisChoice, CChoice, ConditionalKernel, Normalization, Penalty, Polynomials, Scoring, Standardize,
    ThinPlateBasis,
}

/// The refusal of a value.
pub fn parameter(name: &'static str, value: &str, expected: impl Into<String>) -> Error {
    Error::Parameter { name, value: value.to_owned(), expected: expected.into() }
}

/// Values of a type of the standard library.
fn parse<T: FromStr>(name: &'static str, text: &str, expected: &str) -> Result<T> {
    text.parse().map_err(|_| parameter(name, text, expected))
}

/// One of two words.
fn one_of<T>(name: &'static str, text: &str, words: [(&str, T); 2]) -> Result<T> {
    let expected = format!("{} or {}", words[0].0, words[1].0);
    let found = words.into_iter().find(|(word, _)| *word == text).map(|(_, value)| value);
    found.ok_or_else(|| parameter(name, text, expected))
}

/// Numbers, with what is expected of them.
macro_rules! numbers {
    ($($type:ty: $expected:literal),+) => {$(
        impl Value for $type {
            fn of_text(name: &'static str, text: &str) -> Result<Self> {
                parse(name, text, $expected)
            }
        }
    )+};
}

numbers!(f64: "a number is needed");
numbers!(usize: "a whole number of at least 0 is needed", u32: "a whole number of at least 0 is needed");

/// A number, where `none` is one too.
impl Value for Option<usize> {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        match text {
            "none" => Ok(None),
            _ => parse(name, text, "auto, none or a whole number above 0").map(Some),
        }
    }
}

impl Value for bool {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        one_of(name, text, [("yes", true), ("no", false)])
    }
}

impl Value for Intercept {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        one_of(name, text, [("free", Intercept::Free), ("none", Intercept::None)])
    }
}

/// A kernel by its name, or by the exponent of a power mean.
impl Value for ScalarKernel {
    fn of_text(_: &'static str, text: &str) -> Result<Self> {
        match text.parse() {
            Ok(p) => Ok(AdditiveKernel::power_mean(p)?.into()),
            Err(_) => text.parse(),
        }
    }
}

/// Methods that are compared, joined by `+`.
impl Value for Vec<AutoMethod> {
    fn of_text(_: &'static str, text: &str) -> Result<Self> {
        text.split('+').map(str::parse).collect()
    }
}

/// The nodes of a kernel.
pub enum Nodes {
    Number(usize),
    At(Vec<f64>),
}

impl Value for Nodes {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        if let Ok(number) = text.parse() {
            return Ok(Nodes::Number(number));
        }
        let expected = "a number of nodes, such as 3, or nodes with colons between them, such as 0.01:0.06:0.75";
        text.split(':').map(|node| parse(name, node, expected)).collect::<Result<_>>().map(Nodes::At)
    }
}

/// `balanced` or LABEL:WEIGHT,...
impl Value for ClassWeight {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        if text == "balanced" {
            return Ok(ClassWeight::Balanced);
        }
        let mut weights = BTreeMap::new();
        for pair in text.split(',') {
            let parsed = pair.rsplit_once(':').and_then(|(label, weight)| Some((label, weight.parse::<f64>().ok()?)));
            let Some((label, weight)) = parsed else {
                let expected = format!("'{pair}' is not LABEL:WEIGHT; `balanced` is the other choice");
                return Err(parameter(name, text, expected));
            };
            if weights.insert(Label::parse(label), weight).is_some() {
                return Err(parameter(name, text, format!("the label '{label}' occurs twice")));
            }
        }
        Ok(ClassWeight::PerClass(weights))
    }
}

/// The refusal of a loss of another task.
fn of_task(task: &str, loss: &str) -> Error {
    parameter("loss", loss, format!("it applies to --task {task}"))
}

/// A loss of classes.
impl Value for Loss {
    fn of_text(_: &'static str, text: &str) -> Result<Self> {
        let name = text.split(':').next().unwrap_or(text);
        text.parse().map_err(|error| match Loss::OF_TARGETS.contains(&name) {
            true => of_task("regression", text),
            false => error,
        })
    }
}

/// A loss of targets with its parameter: `huber:epsilon=0.5`.
pub struct LossOfTargets(pub Loss);

impl Value for LossOfTargets {
    fn of_text(name: &'static str, text: &str) -> Result<Self> {
        let wrong = |expected: String| parameter(name, text, expected);
        let (loss, pairs) = split_spec(text).map_err(wrong)?;
        let (mut epsilon, mut quantile) = (None, None);
        for (key, value) in pairs {
            let number = || value.parse().map_err(|_| wrong(format!("{key} is a number")));
            match key {
                "epsilon" if value == "auto" => {}
                "epsilon" => epsilon = Some(number()?),
                "quantile" => quantile = Some(number()?),
                _ => return Err(wrong("its parameters are epsilon and quantile".into())),
            }
        }
        Loss::of_targets(loss, epsilon, quantile).map(LossOfTargets).map_err(|error| match loss.parse::<Loss>() {
            Ok(_) if !Loss::OF_TARGETS.contains(&loss) => of_task("classification", loss),
            _ => error,
        })
    }
}

/// Keys and values of a name.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// A name and parameters: `name:key=value,key=value`.
pub fn split_spec(text: &str) -> Result<(&str, Pairs<'_>), String> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let pairs = rest.into_iter().flat_map(|rest| rest.split(','));
    let pair = |pair: &'_ str| format!("'{pair}' is not key=value");
    Ok((name, pairs.map(|text| text.split_once('=').ok_or_else(|| pair(text))).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_read() {
        let read = |text: &str| ClassWeight::of_text("class_weight", text);
        assert_eq!(read("balanced").unwrap(), ClassWeight::Balanced);
        let expected = ClassWeight::PerClass([(Label::Integer(-1), 2.0), ("a:b".into(), 0.5)].into());
        assert_eq!(read("-1:2,a:b:0.5").unwrap(), expected);
        for wrong in ["", "1", "1:x", "1:2,", "1:2,1:3", "1:2,+1:3"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
