//! The parameters of all methods by their names, and their values from texts: the one place for the command line, Python
//! and the site.

use std::str::FromStr;

use super::Scoring;
use super::auto::{AutoParams, METHODS};
use super::method::Method;
use crate::error::{Error, Result};
use crate::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, PowerMeanParams,
    ThinPlateParams, ThinPlateRegressorParams,
};
use crate::problem::{Intercept, Loss};
use crate::similarity::{AdditiveKernel, ScalarKernel};

/// Parameters that are set by name.
pub(super) trait ByName: Sized {
    /// The names.
    const NAMES: &'static [&'static str];

    /// # Errors
    /// [`Error::UnknownName`] for another name; errors of a text that is no such value.
    fn set(&mut self, name: &str, text: &str) -> Result<()>;
}

/// The parameters with each of these names set to a text, and what all have: seed and threads.
macro_rules! by_name {
    ($type:ty, |$params:ident, $name:ident, $text:ident| { $($known:literal => $set:expr,)+ }) => {
        impl ByName for $type {
            const NAMES: &'static [&'static str] = &[$($known,)+ "seed", "threads"];

            fn set(&mut self, name: &str, $text: &str) -> Result<()> {
                let Some(&$name) = Self::NAMES.iter().find(|known| **known == name) else {
                    return Err(Error::unknown("parameter", name, Self::NAMES.iter().copied()));
                };
                let $params = self.clone();
                *self = match $name {
                    $($known => $set,)+
                    "seed" => $params.seed(whole($name, $text)?),
                    _ => $params.threads(whole($name, $text)?),
                };
                Ok(())
            }
        }
    };
}

by_name!(AutoParams, |params, name, text| {
    "methods" => AutoParams { methods: methods(text)?, ..params },
    "scoring" => AutoParams { scoring: Some(Scoring::among(text, |one| !one.is_of_numbers())?), ..params },
});

by_name!(PowerMeanParams, |params, name, text| {
    "kernel" => params.kernel(scalar_kernel(text)?),
    "C" => params.c(text.parse::<CChoice>()?),
    "loss" => params.loss(text.parse()?),
    "approximation" => params.approximation(text.parse()?),
    "n_nodes" => params.n_nodes(whole(name, text)?),
    "nodes" => nodes(params, text)?,
    "scale" => params.scale(one_of(name, text, [("yes", true), ("no", false)])?),
    "tol" => params.tol(number(name, text)?),
    "max_iter" => params.max_epochs(whole(name, text)?),
});

by_name!(ThinPlateParams, |params, name, text| {
    "kernel" => params.kernel(text.parse()?),
    "C" => if text == PER_CLASS { params.c_auto_per_class() } else { params.c(text.parse::<CChoice>()?) },
    "loss" => params.loss(text.parse()?),
    "n_basis" => params.n_basis(whole_or_none(name, text)?).exact_up_to(usize::MAX),
    "basis" => params.basis(text.parse()?),
    "polynomials" => params.polynomials(text.parse()?),
    "standardize" => params.standardize(text.parse()?),
    "tol" => params.tol(number(name, text)?),
    "max_iter" => params.max_steps(whole(name, text)?),
    "memory_limit" => params.memory_limit(whole(name, text)?),
});

by_name!(ThinPlateRegressorParams, |params, name, text| {
    "kernel" => params.kernel(text.parse()?),
    "C" => params.c(text.parse::<CChoice>()?),
    "n_basis" => params.n_basis(whole_or_none(name, text)?).exact_up_to(usize::MAX),
    "basis" => params.basis(text.parse()?),
    "standardize" => params.standardize(text.parse()?),
    "memory_limit" => params.memory_limit(whole(name, text)?),
});

by_name!(BasisExpansionParams<AdditiveKernel>, |params, name, text| {
    "C" => params.c(text.parse::<CChoice>()?),
    "n_basis" => params.n_basis(whole(name, text)?),
    "basis" => params.basis(text.parse()?),
    "normalization" => params.normalization(text.parse()?),
    "loss" => params.loss(text.parse()?),
    "penalty" => params.penalty(text.parse()?),
    "intercept" => params.intercept(one_of(name, text, [("free", Intercept::Free), ("none", Intercept::None)])?),
    "max_basis" => params.max_basis(whole_or_none(name, text)?),
    "tol" => params.tol(number(name, text)?),
    "max_iter" => params.max_iter(whole(name, text)?),
});

by_name!(BasisExpansionRegressorParams<AdditiveKernel>, |params, name, text| {
    "C" => params.c(text.parse::<CChoice>()?),
    "n_basis" => params.n_basis(whole(name, text)?),
    "basis" => params.basis(text.parse()?),
    "normalization" => params.normalization(text.parse()?),
    "loss" => params.loss(loss_of_targets(text)?),
    "intercept" => params.intercept(one_of(name, text, [("free", true), ("none", false)])?),
});

by_name!(BasisExpansionOneClassParams<AdditiveKernel>, |params, name, text| {
    "n_basis" => params.n_basis(whole(name, text)?),
    "basis" => params.basis(text.parse()?),
    "normalization" => params.normalization(text.parse()?),
    "quantile" => params.quantile(number(name, text)?),
    "shrinkage" => params.shrinkage(number(name, text)?),
});

/// The value of C by which the thin plate SVM selects C for each class separately.
pub const PER_CLASS: &str = "auto-per-class";

/// A value of a type of the standard library.
fn parsed<T: FromStr>(name: &'static str, text: &str, expected: &str) -> Result<T> {
    text.parse().map_err(|_| Error::parameter(name, text, expected))
}

fn number(name: &'static str, text: &str) -> Result<f64> {
    parsed(name, text, "a number is needed")
}

fn whole<T: FromStr>(name: &'static str, text: &str) -> Result<T> {
    parsed(name, text, "a whole number of at least 0 is needed")
}

fn whole_or_none(name: &'static str, text: &str) -> Result<Option<usize>> {
    match text {
        "none" => Ok(None),
        _ => parsed(name, text, "auto, none or a whole number above 0").map(Some),
    }
}

/// One of two words.
fn one_of<T>(name: &'static str, text: &str, words: [(&str, T); 2]) -> Result<T> {
    let expected = format!("{} or {}", words[0].0, words[1].0);
    let found = words.into_iter().find(|(word, _)| *word == text).map(|(_, value)| value);
    found.ok_or_else(|| Error::parameter(name, text, expected))
}

/// Methods with `+` between two.
fn methods(text: &str) -> Result<Vec<Method>> {
    let names = METHODS.map(|method| method.to_string());
    let method = |name: &str| {
        let at = names.iter().position(|known| known == name);
        at.map(|at| METHODS[at]).ok_or_else(|| Error::unknown("method", name, names.iter().map(String::as_str)))
    };
    if text.is_empty() { Ok(Vec::new()) } else { text.split('+').map(method).collect() }
}

/// A kernel by its name, or by the exponent of a power mean.
fn scalar_kernel(text: &str) -> Result<ScalarKernel> {
    match text.parse() {
        Ok(p) => Ok(AdditiveKernel::power_mean(p)?.into()),
        Err(_) => text.parse(),
    }
}

/// A number of nodes, or the nodes with colons between them.
fn nodes(params: PowerMeanParams, text: &str) -> Result<PowerMeanParams> {
    if let Ok(number) = text.parse() {
        return Ok(params.n_nodes(number));
    }
    let expected = "a number of nodes, such as 3, or nodes with colons between them, such as 0.01:0.06:0.75";
    Ok(params.nodes(text.split(':').map(|node| parsed("nodes", node, expected)).collect::<Result<_>>()?))
}

/// A loss of targets with its parameter, such as `huber:epsilon=0.5`.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::Parameter`]: as for [`Loss::of_targets`], and for a text that is none.
pub fn loss_of_targets(text: &str) -> Result<Loss> {
    let wrong = |expected: String| Error::parameter("loss", text, expected);
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
    Loss::of_targets(loss, epsilon, quantile)
}

/// A name, and its keys with their values.
type NameAndPairs<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// A name and parameters: `name:key=value,key=value`.
///
/// # Errors
/// The problem, with the part that is no pair.
pub fn split_spec(text: &str) -> Result<NameAndPairs<'_>, String> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let pairs = rest.into_iter().flat_map(|rest| rest.split(','));
    let pair = |pair: &'_ str| format!("'{pair}' is not key=value");
    Ok((name, pairs.map(|text| text.split_once('=').ok_or_else(|| pair(text))).collect::<Result<_, _>>()?))
}
