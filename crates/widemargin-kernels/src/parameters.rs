//! Parameters of similarities and descriptors: their values, and how they are read from a step of a spec.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::spec::Step;

/// A parameter: its name in specs and in Python, its possible values and its default.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key in a spec.
    pub name: &'static str,
    /// The possible values.
    pub values: Values,
    /// The default.
    pub default: DefaultValue,
    /// A word that is accepted instead of a number, such as `auto`: the number is then learned.
    pub word: Option<&'static str>,
    /// Whether Python writes it into a spec even if it has its default value.
    pub is_written: bool,
    /// Its effect, in sentences; its range and its default are listed separately.
    pub about: &'static str,
}

/// The possible values of a parameter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values {
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A whole number from the first to the second, or two with a hyphen between: from one to the other.
    Span(i64, i64),
    /// A number from `least` to `most`, which `range` describes in words.
    Number {
        /// The least value.
        least: f64,
        /// The largest value.
        most: f64,
        /// Such as "above 0"; empty where any finite number will do.
        range: &'static str,
    },
    /// Numbers of at least 0 with a semicolon between two, written `1;0.5;0`.
    List,
    /// One of these words.
    Words(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// Finite numbers of at least 0, written `1;0.5;0`.
#[derive(Clone, Debug, PartialEq)]
pub struct List(pub Vec<f32>);

impl FromStr for List {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let number = |text: &str| text.trim().parse().ok().filter(|value: &f32| value.is_finite() && *value >= 0.0);
        text.split(';').map(|one| number(one).ok_or(())).collect::<std::result::Result<_, ()>>().map(List)
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, value)| write!(f, "{}{value}", if at == 0 { "" } else { ";" }))
    }
}

/// Whole numbers from the first to the last, written `3` or `1-3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub first: i64,
    /// The last, at least the first.
    pub last: i64,
}

impl FromStr for Span {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let number = |text: &str| text.parse::<i64>().map_err(|_| ());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let span = Span { first: number(first)?, last: number(last)? };
        if span.first <= span.last { Ok(span) } else { Err(()) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { first, last } = self;
        if first == last { write!(f, "{first}") } else { write!(f, "{first}-{last}") }
    }
}

/// The default of a parameter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// There is none: the parameter is required.
    Required,
    /// No value, as explained in `about`.
    Nothing,
    /// This value.
    Is(&'static str),
}

impl Values {
    /// Any finite number.
    pub const FINITE: Self = Values::Number { least: f64::MIN, most: f64::MAX, range: "" };
    /// A finite number above 0.
    pub const POSITIVE: Self = Values::Number { least: f64::from_bits(1), most: f64::MAX, range: "above 0" };
    /// A finite number that is not negative.
    pub const NOT_NEGATIVE: Self = Values::Number { least: 0.0, most: f64::MAX, range: "at least 0" };
    /// A share.
    pub const SHARE: Self = Values::Number { least: 0.0, most: 1.0, range: "from 0 to 1" };

    fn contain(&self, text: &str) -> bool {
        match *self {
            Values::Whole(from, to) => text.parse().is_ok_and(|value| (from..=to).contains(&value)),
            Values::Span(from, to) => text.parse().is_ok_and(|span: Span| from <= span.first && span.last <= to),
            Values::Number { least, most, .. } => text.parse().is_ok_and(|value| (least..=most).contains(&value)),
            Values::List => text.parse::<List>().is_ok(),
            Values::Words(words) => words.contains(&text),
            Values::Flag => text.parse::<bool>().is_ok(),
        }
    }

    /// The range in words: "from 1 to 16", "above 0"; empty where there is none.
    pub fn range(&self) -> String {
        match self {
            Values::Whole(from, to) | Values::Span(from, to) => format!("from {from} to {to}"),
            Values::Number { range, .. } => (*range).to_owned(),
            Values::List => "each at least 0".to_owned(),
            Values::Words(words) => words.join(", "),
            Values::Flag => String::new(),
        }
    }

    /// The description of a value: "a whole number from 1 to 16".
    pub fn expected(&self) -> String {
        let kind = match self {
            Values::Whole(..) => "a whole number",
            Values::Span(..) => "a whole number, or two such as 1-3,",
            Values::Number { least, .. } if least.is_infinite() => "a number",
            Values::Number { .. } => "a finite number",
            Values::List => "finite numbers with a semicolon between two,",
            Values::Words([_]) => "nothing but",
            Values::Words(_) => "one of",
            Values::Flag => "true or false",
        };
        format!("{kind} {}", self.range()).trim_end().to_owned()
    }
}

impl Parameter {
    /// A required parameter.
    pub const fn new(name: &'static str, values: Values, about: &'static str) -> Self {
        Parameter { name, values, default: DefaultValue::Required, word: None, is_written: false, about }
    }

    /// With a default.
    pub const fn or(self, default: &'static str) -> Self {
        Parameter { default: DefaultValue::Is(default), ..self }
    }

    /// An optional parameter.
    pub const fn optional(self) -> Self {
        Parameter { default: DefaultValue::Nothing, ..self }
    }

    /// That may also be a word.
    pub const fn or_word(self, word: &'static str) -> Self {
        Parameter { word: Some(word), ..self }
    }

    /// That Python always writes.
    pub const fn written(self) -> Self {
        Parameter { is_written: true, ..self }
    }

    /// The description of a value.
    pub fn expected(&self) -> String {
        self.word.map_or(self.values.expected(), |word| format!("{}, or {word}", self.values.expected()))
    }
}

/// The parameters of a step, whose values have been checked.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// The step that was read.
    pub step: &'a Step,
    parameters: &'static [Parameter],
}

impl<'a> Arguments<'a> {
    /// The parameters of a step that must have this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another name; [`Error::Parameter`] for a parameter that is not known, that is
    /// missing, or whose value it may not have.
    pub fn read(step: &'a Step, name: &str, parameters: &'static [Parameter]) -> Result<Self> {
        if step.name() != name {
            let expected = format!("here it is {name}");
            return Err(Error::UnknownName { what: "similarity", name: step.name().to_owned(), expected });
        }
        let arguments = Arguments { step, parameters };
        let of_step = |expected| Err(Error::parameter("similarity", format!("'{step}'"), expected));
        for (key, text) in step.values() {
            match parameters.iter().find(|parameter| parameter.name == key) {
                Some(parameter) if parameter.values.contain(text) || parameter.word == Some(text) => {}
                Some(parameter) => return Err(arguments.wrong(parameter.name, parameter.expected())),
                None => {
                    let known = match parameters {
                        [] => format!("'{name}' has no parameters"),
                        known => format!(
                            "the parameters of '{name}' are {}",
                            known.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
                        ),
                    };
                    return of_step(format!("'{key}' is not known: {known}"));
                }
            }
        }
        let missing = |parameter: &&Parameter| {
            parameter.default == DefaultValue::Required && !step.values().any(|(key, _)| key == parameter.name)
        };
        match parameters.iter().find(missing) {
            None => Ok(arguments),
            Some(missing) => {
                of_step(format!("it needs {}, {}: {name}:{}=NUMBER", missing.name, missing.expected(), missing.name))
            }
        }
    }

    /// The text of a parameter, or its default.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let value = self.step.values().find(|(key, _)| *key == name).map(|(_, text)| text);
        let default = || match self.parameters.iter().find(|parameter| parameter.name == name)?.default {
            DefaultValue::Is(text) => Some(text),
            _ => None,
        };
        value.or_else(default)
    }

    /// Whether the word stands there that says that the number is learned.
    pub fn is_word(&self, name: &str) -> bool {
        let word = self.parameters.iter().find(|parameter| parameter.name == name).and_then(|known| known.word);
        word.is_some() && self.text(name) == word
    }

    /// A parameter, or none if it is missing and has no default, or is to be learned.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a text that is no `T`.
    pub fn get<T: FromStr>(&self, name: &'static str) -> Result<Option<T>> {
        match self.text(name) {
            Some(text) if !self.is_word(name) => {
                text.parse().map(Some).map_err(|_| self.wrong(name, "another value".into()))
            }
            _ => Ok(None),
        }
    }

    /// A parameter that is required or has a default.
    ///
    /// # Errors
    /// [`Error::Parameter`] where there is none, or for a text that is no `T`.
    pub fn value<T: FromStr>(&self, name: &'static str) -> Result<T> {
        self.get(name)?.ok_or_else(|| self.wrong(name, "a value".into()))
    }

    /// The error of a parameter that has a value which another one, say, forbids.
    pub fn wrong(&self, name: &'static str, expected: String) -> Error {
        let text = self.text(name).unwrap_or("nothing");
        Error::parameter(name, format!("{text} in '{}'", self.step), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    const PARAMETERS: &[Parameter] = &[
        Parameter::new("size", Values::Whole(1, 8), "").or("3"),
        Parameter::new("gamma", Values::POSITIVE, "").optional().or_word("auto"),
        Parameter::new("kind", Values::Words(&["round", "square"]), "").or("round"),
        Parameter::new("root", Values::Flag, "").or("false"),
        Parameter::new("spread", Values::Span(1, 9), "").or("1-3"),
        Parameter::new("heights", Values::List, "").optional(),
        Parameter::new("p", Values::Number { least: f64::NEG_INFINITY, most: 0.0, range: "from -inf to 0" }, ""),
    ];

    #[test]
    fn reads_parameters_and_fills_in_defaults() {
        let spec: Spec = "form:p=-inf,size=8,gamma=0.5".parse().unwrap();
        let arguments = Arguments::read(&spec.steps[0], "form", PARAMETERS).unwrap();
        assert_eq!(arguments.value::<usize>("size").unwrap(), 8);
        assert_eq!(arguments.get("gamma").unwrap(), Some(0.5));
        assert_eq!(arguments.value::<Span>("spread").unwrap(), Span { first: 1, last: 3 });
        assert_eq!((arguments.text("kind"), arguments.value("root").unwrap()), (Some("round"), false));
        assert_eq!(arguments.value::<f64>("p").unwrap(), f64::NEG_INFINITY);
        let spec: Spec = "form:p=0,heights=1;0.25;0".parse().unwrap();
        let arguments = Arguments::read(&spec.steps[0], "form", PARAMETERS).unwrap();
        let heights: List = arguments.value("heights").unwrap();
        assert_eq!((heights.to_string(), heights), ("1;0.25;0".to_owned(), List(vec![1.0, 0.25, 0.0])));
        let spec: Spec = "form:p=0,gamma=auto".parse().unwrap();
        let arguments = Arguments::read(&spec.steps[0], "form", PARAMETERS).unwrap();
        assert_eq!((arguments.is_word("gamma"), arguments.get::<f64>("gamma").unwrap()), (true, None));
        assert_eq!(arguments.value::<usize>("size").unwrap(), 3);
    }

    #[test]
    fn errors_name_the_problem_and_the_expected_value() {
        for (wrong, words) in [
            ("form:p=0,size=9", "size = 9 in 'form:p=0,size=9' is not allowed: a whole number from 1 to 8"),
            ("form:p=0,size=1.5", "a whole number from 1 to 8"),
            ("form:p=0,gamma=0", "a finite number above 0, or auto"),
            ("form:p=0,gamma=inf", "a finite number above 0"),
            ("form:p=nan", "a number from -inf to 0"),
            ("form:p=0,spread=3-2", "a whole number, or two such as 1-3, from 1 to 9"),
            ("form:p=0,spread=0-2", "from 1 to 9"),
            ("form:p=0,heights=1;-2", "finite numbers with a semicolon between two, each at least 0"),
            ("form:p=0,heights=1;", "finite numbers with a semicolon between two, each at least 0"),
            ("form:p=0,kind=long", "one of round, square"),
            ("form:p=0,root=1", "true or false"),
            ("form:size=2", "it needs p, a number from -inf to 0"),
            (
                "form:p=0,color=1",
                "'color' is not known: the parameters of 'form' are size, gamma, kind, root, spread, heights, p",
            ),
            ("shape:p=0", "here it is form"),
        ] {
            let spec: Spec = wrong.parse().unwrap();
            let message = Arguments::read(&spec.steps[0], "form", PARAMETERS).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
