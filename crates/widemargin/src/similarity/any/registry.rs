//! The registry of names: a similarity or a descriptor is one file and one line here.

use super::either::Either;
use super::kernel::AnyKernel;
use crate::data::AnySamples;
use crate::descriptor::{Descriptor, Hog, NGrams, Scaler, Scaling, ZNorm};
use crate::error::{Error, Result};
use crate::similarity::{
    AdditiveKernel, Alignment, Arguments, ConditionalKernel, CountCosine, CountTanimoto, Dtw, Edit, GridMatching,
    NGram, Precomputed, SetCosine, Step, Tanimoto, VectorSimilarity,
};

type Build = fn(&Step) -> Result<Box<dyn AnyKernel>>;
type BuildDescriptors = fn(&Step) -> Result<Vec<Box<dyn Descriptor>>>;

/// The similarities by name.
const SIMILARITIES: &[(&str, Build)] = &[
    ("linear", vector),
    ("rbf", vector),
    ("laplacian", vector),
    ("polynomial", vector),
    ("sigmoid", vector),
    ("chi2", additive),
    ("hellinger", additive),
    ("intersection", additive),
    ("jensen-shannon", additive),
    ("power-mean", additive),
    ("thin-plate", conditional),
    ("distance", conditional),
    ("cubic", conditional),
    ("polyharmonic", conditional),
    ("spline", conditional),
    ("rigid", |step| grid(step, GridMatching::rigid_from_arguments)),
    ("deformable", |step| grid(step, GridMatching::deformable_from_arguments)),
    ("dtw", |step| Ok(Box::new(Dtw::from_step(step)?))),
    ("edit", |step| Ok(Box::new(Edit::from_step(step)?))),
    ("align", |step| Ok(Box::new(Alignment::from_step(step)?))),
    ("ngram", |step| Ok(Box::new(NGram::from_step(step)?))),
    ("tanimoto", |step| Ok(Box::new(Either(Tanimoto::from_step(step)?, CountTanimoto::from_step(step)?)))),
    ("cosine", |step| Ok(Box::new(Either(SetCosine::from_step(step)?, CountCosine::from_step(step)?)))),
    ("precomputed", |step| step.arguments().end().map(|()| Box::new(Precomputed) as _)),
];

/// The descriptors by name.
const DESCRIPTORS: &[(&str, BuildDescriptors)] = &[
    ("hog", hog),
    ("mean-norm", |step| scaler(step, Scaling::MeanNorm)),
    ("z-score", |step| scaler(step, Scaling::ZScore)),
    ("znorm", |step| step.arguments().end().map(|()| vec![Box::new(ZNorm) as _])),
    ("ngrams", |step| Ok(vec![Box::new(NGrams::from_step(step)?)])),
    ("ngram-counts", |step| Ok(vec![Box::new(NGrams::from_step(step)?)])),
];

/// The names of the similarities.
pub fn similarity_names() -> Vec<&'static str> {
    SIMILARITIES.iter().map(|(name, _)| *name).collect()
}

/// The names of the descriptors.
pub fn descriptor_names() -> Vec<&'static str> {
    DESCRIPTORS.iter().map(|(name, _)| *name).collect()
}

/// The default similarity for samples of a kind.
pub fn default_spec(samples: &AnySamples) -> &'static str {
    match samples {
        AnySamples::Images(_) => "hog:cell=8/rbf:gamma=1",
        AnySamples::Grids(_) => "mean-norm/rbf:gamma=1",
        AnySamples::Series(_) => "dtw:window=0.1",
        AnySamples::Strings(_) => "edit",
        AnySamples::BitSets(_) => "tanimoto",
        _ => "rbf",
    }
}

pub(super) fn similarity(step: &Step) -> Result<Box<dyn AnyKernel>> {
    match SIMILARITIES.iter().find(|(name, _)| *name == step.name()) {
        Some((_, build)) => build(step),
        None if descriptor_names().contains(&step.name()) => {
            let usual = match step.name() {
                "ngrams" => "tanimoto",
                "znorm" => "dtw",
                _ => "rbf",
            };
            let expected = format!("it is a descriptor, and a similarity must follow it, as in {step}/{usual}");
            Err(Error::UnknownName { what: "similarity", given: step.name().to_owned(), expected })
        }
        None => Err(unknown("similarity", step.name(), &similarity_names())),
    }
}

pub(super) fn descriptors(step: &Step) -> Result<Vec<Box<dyn Descriptor>>> {
    match DESCRIPTORS.iter().find(|(name, _)| *name == step.name()) {
        Some((_, build)) => build(step),
        None if similarity_names().contains(&step.name()) => {
            let expected = "it is a similarity, which comes last, after the descriptors".to_owned();
            Err(Error::UnknownName { what: "descriptor", given: step.name().to_owned(), expected })
        }
        None => Err(unknown("descriptor", step.name(), &descriptor_names())),
    }
}

/// A placeholder for a similarity while it is fitted.
pub(super) fn nothing() -> Precomputed {
    Precomputed
}

fn unknown(what: &'static str, given: &str, known: &[&str]) -> Error {
    Error::UnknownName { what, given: given.to_owned(), expected: format!("known are {}", known.join(", ")) }
}

fn vector(step: &Step) -> Result<Box<dyn AnyKernel>> {
    Ok(Box::new(VectorSimilarity::from_step(step)?))
}

fn additive(step: &Step) -> Result<Box<dyn AnyKernel>> {
    let kernel: AdditiveKernel = step.to_string().parse()?;
    Ok(Box::new(kernel))
}

fn conditional(step: &Step) -> Result<Box<dyn AnyKernel>> {
    let kernel: ConditionalKernel = step.to_string().parse()?;
    Ok(Box::new(kernel))
}

fn scaler(step: &Step, scaling: Scaling) -> Result<Vec<Box<dyn Descriptor>>> {
    step.arguments().end()?;
    Ok(vec![Box::new(Scaler::new(scaling))])
}

fn grid(step: &Step, read: fn(&mut Arguments<'_>) -> Result<GridMatching>) -> Result<Box<dyn AnyKernel>> {
    let mut arguments = step.arguments();
    let matching = read(&mut arguments)?;
    arguments.end()?;
    Ok(Box::new(matching))
}

/// HOG, followed by the scaling that the similarities of BE-SVM expect, unless `scale=none`.
fn hog(step: &Step) -> Result<Vec<Box<dyn Descriptor>>> {
    let mut arguments = step.arguments();
    let hog = Hog::from_arguments(&mut arguments)?;
    let scaled = match arguments.text("scale") {
        None | Some("mean-norm") => true,
        Some("none") => false,
        Some(other) => {
            let expected = "mean-norm or none".into();
            return Err(Error::Parameter { name: "scale", value: format!("{other} in '{step}'"), expected });
        }
    };
    arguments.end()?;
    let mut descriptors: Vec<Box<dyn Descriptor>> = vec![Box::new(hog)];
    if scaled {
        descriptors.push(Box::new(Scaler::new(Scaling::MeanNorm)));
    }
    Ok(descriptors)
}
