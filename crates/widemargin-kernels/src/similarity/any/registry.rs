//! Which names there are: a similarity is a file of its own with its rows, and its name here.

use super::kernel::AnyKernel;
use crate::descriptor::{Descriptor, DescriptorRow, colors, derivative, hog, hydra, minirocket, ngrams, phog, pixels};
use crate::descriptor::{normal_scores, resize, scaling, tfidf, weisfeiler_lehman, znorm};
use crate::error::{Error, Result};
use crate::similarity::row::SimilarityRow;
use crate::similarity::{additive, alignment, conditional, earth_mover, features, gappy, grid, mismatch, ngram};
use crate::similarity::{precomputed, series, set, subsequence, text, vector};
use crate::spec::Step;

/// The similarities, those of a file side by side. Each is a `static`, so that no other crate compiles it again.
static SIMILARITIES: &[&[SimilarityRow]] = &[
    vector::ROWS,
    set::ROWS,
    additive::ROWS,
    conditional::ROWS,
    &[vector::CANBERRA, earth_mover::EMD],
    grid::ROWS,
    grid::LATENT_ROWS,
    series::ROWS,
    &[text::EDIT, alignment::ALIGN, ngram::NGRAM, mismatch::MISMATCH, gappy::GAPPY, subsequence::SUBSEQUENCE],
    &[precomputed::PRECOMPUTED, features::FEATURES],
];

/// The descriptors, those of a file side by side.
static DESCRIPTORS: &[&[DescriptorRow]] = &[
    &[hog::HOG, pixels::PIXELS, phog::PHOG, colors::COLORS, resize::RESIZE],
    scaling::ROWS,
    &[normal_scores::NORMAL_SCORES],
    &[znorm::ZNORM, derivative::DERIVATIVE, minirocket::MINIROCKET, hydra::HYDRA],
    ngrams::ROWS,
    &[tfidf::TFIDF, weisfeiler_lehman::WL],
];

/// The rows of all similarities.
#[doc(hidden)]
pub fn similarity_rows() -> impl Iterator<Item = &'static SimilarityRow> {
    SIMILARITIES.iter().copied().flatten()
}

/// The rows of all descriptors.
#[doc(hidden)]
pub fn descriptor_rows() -> impl Iterator<Item = &'static DescriptorRow> {
    DESCRIPTORS.iter().copied().flatten()
}

/// Whether a step is a descriptor that keeps the columns of the samples, changed or not.
#[doc(hidden)]
pub fn keeps_columns(step: &Step) -> bool {
    descriptors(step).is_ok_and(|all| all.iter().all(|descriptor| descriptor.keeps_columns()))
}

pub(super) fn similarity(step: &Step) -> Result<Box<dyn AnyKernel>> {
    if let Some(row) = similarity_rows().find(|row| row.name == step.name()) {
        return (row.build)(step);
    }
    let wrong = |expected| Error::UnknownName { what: "similarity", name: step.name().to_owned(), expected };
    Err(match descriptor_rows().find(|row| row.name == step.name()) {
        Some(row) => wrong(format!("it is a descriptor, and a similarity must follow it, as in {step}/{}", row.usual)),
        None if step.name().contains('+') => {
            let specs: Vec<String> = step.name().split('+').map(|spec| format!("'{spec}'")).collect();
            wrong(format!("several similarities are a list of specs: [{}]", specs.join(", ")))
        }
        None => Error::unknown("similarity", step.name(), similarity_rows().map(|row| row.name)),
    })
}

pub(super) fn descriptors(step: &Step) -> Result<Vec<Box<dyn Descriptor>>> {
    if let Some(row) = descriptor_rows().find(|row| row.name == step.name()) {
        return (row.build)(step);
    }
    Err(if similarity_rows().any(|row| row.name == step.name()) {
        let expected = "it is a similarity, which comes last, after the descriptors".to_owned();
        Error::UnknownName { what: "descriptor", name: step.name().to_owned(), expected }
    } else {
        Error::unknown("descriptor", step.name(), descriptor_rows().map(|row| row.name))
    })
}
