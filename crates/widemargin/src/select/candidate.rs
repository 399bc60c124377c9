//! A search for the similarity, and its candidates: similarities with their normalization.

use crate::data::ClassWeight;
use crate::error::{Error, Result};
use crate::expansion::{NegativeEigenvalues, Normalization};
use crate::problem::Intercept;
use crate::similarity::{AnySimilarity, Similarity, Spec, similarity_rows};

/// Similarities with their normalization.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The specs of the similarities.
    pub similarity: Vec<String>,
    /// Their normalization.
    pub normalization: Normalization,
}

/// A search for the similarity.
#[derive(Clone, Debug, Default)]
pub struct SimilaritySearch {
    /// The candidates; if empty, the default ones for the kind of samples.
    pub candidates: Vec<Candidate>,
    /// The normalization of all candidates; without one that of each.
    pub normalization: Option<Normalization>,
    /// Whether the number of bases is selected too.
    pub counts_bases: bool,
    /// Whether all rows of a small table may then be bases: not within a memory limit.
    pub all_as_bases: bool,
    /// Whether the loss is selected too: the squared hinge, or the squared error for dense features of a descriptor, of
    /// more than a thousand samples in three classes or more, unless the squared hinge clearly lowers the error by 0.5
    /// percentage points.
    pub chooses_loss: bool,
    /// How the intercept is treated.
    pub intercept: Intercept,
    /// The class weights.
    pub class_weight: ClassWeight,
    /// Seed of the samples on which candidates are compared.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl Candidate {
    /// A similarity with the normalization that suits it: the Nyström map for a kernel, its centered form for minus a
    /// distance, the z-score for features, otherwise the mean norm of the paper.
    pub fn usual(spec: &str) -> Self {
        Candidate { similarity: vec![spec.to_owned()], normalization: usual_normalization(spec) }
    }

    /// Whether it joins all similarities of another.
    pub(super) fn includes(&self, other: &Candidate) -> bool {
        other.similarity.iter().all(|spec| self.similarity.contains(spec))
    }

    /// The candidates of these specs: none if there are no specs; a single similarity with its usual normalization or
    /// the mean norm, several with the mean norm.
    pub(super) fn of_specs(specs: &[String], normalization: Option<Normalization>) -> Vec<Self> {
        let mean_norm = Candidate { similarity: specs.to_vec(), normalization: Normalization::MeanNorm };
        match (specs, normalization) {
            ([], _) => Vec::new(),
            // The unchanged features times a number, which C compensates.
            ([spec], None) if usual_normalization(spec) == Normalization::None => vec![Candidate::usual(spec)],
            ([spec], None) if usual_normalization(spec) != Normalization::MeanNorm => {
                vec![Candidate::usual(spec), mean_norm]
            }
            _ => vec![mean_norm],
        }
    }
}

/// The normalization of two joined candidates, if one suits both: features that need none get that of the other
/// similarities, whose features have norms of about 1 like theirs.
pub(super) fn common_normalization(mine: &Candidate, theirs: &Candidate) -> Result<Option<Normalization>> {
    let needs_none =
        |candidate: &Candidate| Ok::<_, Error>(candidate.normalization == Normalization::None && !compares(candidate)?);
    let is_alike = compares(mine)? == compares(theirs)? && mine.normalization == theirs.normalization;
    Ok(match (needs_none(mine)?, needs_none(theirs)?) {
        (true, _) => Some(theirs.normalization),
        (_, true) => Some(mine.normalization),
        _ => is_alike.then_some(mine.normalization),
    })
}

/// Whether a candidate compares samples with bases.
pub(super) fn compares(candidate: &Candidate) -> Result<bool> {
    Ok(!AnySimilarity::new(&candidate.similarity)?.metadata().has_own_features)
}

/// The steps of a candidate without their parameters.
pub(super) fn name_of(candidate: &Candidate) -> String {
    let names = |spec: &String| -> Vec<String> {
        spec.split('/').map(|step| step.split(':').next().unwrap_or_default().to_owned()).collect()
    };
    candidate.similarity.iter().flat_map(names).collect::<Vec<_>>().join("/")
}

/// The scales that a search changes by factors of two: the gamma of a kernel, the window of a warping distance.
const SCALES: [&str; 2] = ["gamma=", "window="];

/// The scale in a spec: the part before it, its name, and the rest of the spec from its value on.
fn scale_in(spec: &str) -> Option<(&str, &'static str, &str)> {
    SCALES.into_iter().find_map(|name| spec.rsplit_once(name).map(|(before, rest)| (before, name, rest)))
}

/// The scale of a single similarity; none if it is 0.
pub(super) fn scale_of(candidate: &Candidate) -> Option<f64> {
    let [spec] = &candidate.similarity[..] else { return None };
    let (.., rest) = scale_in(spec)?;
    rest.split(',').next()?.parse().ok().filter(|scale| *scale > 0.0)
}

/// Whether a search may change scales: not of candidates that came with one.
pub(super) fn follows_scales(candidates: &[Candidate]) -> bool {
    candidates.iter().all(|candidate| scale_of(candidate).is_none())
}

/// Whether twice the scale takes twice the time: that of a window.
pub(super) fn widens(candidate: &Candidate) -> bool {
    matches!(&candidate.similarity[..], [spec] if scale_in(spec).is_some_and(|(_, name, _)| name == "window="))
}

/// The same with another scale; windows are at most 1.
pub(super) fn with_scale(candidate: &Candidate, scale: f64) -> Candidate {
    let changed = |spec: &String| match scale_in(spec) {
        Some((before, name, rest)) => {
            let rest = rest.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
            let scale = if name == "window=" { scale.min(1.0) } else { scale };
            format!("{before}{name}{scale}{rest}")
        }
        None => spec.clone(),
    };
    let similarity = candidate.similarity.iter().map(changed).collect();
    Candidate { similarity, normalization: candidate.normalization }
}

/// A scale with four digits, which a spec can be read with.
pub(super) fn rounded(scale: f64) -> f64 {
    format!("{scale:.3e}").parse().unwrap_or(scale)
}

/// The normalization that [`Candidate::usual`] has.
fn usual_normalization(spec: &str) -> Normalization {
    let last = spec.rsplit('/').next().unwrap_or_default();
    let name = last.split(':').next().unwrap_or_default();
    if name == "features" {
        // They may each have their own unit; weighted n-grams have one.
        let before = spec.rsplit('/').nth(1).and_then(|step| step.split(':').next());
        return if before == Some("tfidf") { Normalization::None } else { Normalization::ZScore };
    }
    let step = last.parse::<Spec>().ok().and_then(|spec| spec.steps.into_iter().next());
    let row = similarity_rows().find(|row| row.name == name);
    match row.zip(step).map(|(row, step)| row.definite_of(&step)) {
        Some(crate::similarity::Definite::Positive) => Normalization::Nystroem(NegativeEigenvalues::Clip),
        Some(crate::similarity::Definite::Conditional) => Normalization::Centered(NegativeEigenvalues::Clip),
        _ => Normalization::MeanNorm,
    }
}

/// The normalization for outlier detection: one that leaves the features of unlike samples small.
pub(super) fn outlier_normalization(specs: &[String]) -> Normalization {
    let usual = if let [spec] = specs { usual_normalization(spec) } else { Normalization::MeanNorm };
    match usual {
        Normalization::Centered(_) | Normalization::None => usual,
        Normalization::ZScore => Normalization::None,
        _ => Normalization::Nystroem(NegativeEigenvalues::Clip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_read_and_changed() {
        let candidate =
            |spec: &str| Candidate { similarity: vec![spec.into()], normalization: Normalization::MeanNorm };
        let changed = with_scale(&candidate("z-score/polynomial:degree=2,gamma=0.5,coef0=1"), 4.0);
        assert_eq!(changed.similarity, ["z-score/polynomial:degree=2,gamma=4,coef0=1"]);
        assert_eq!(scale_of(&changed), Some(4.0));
        assert_eq!(scale_of(&candidate("linear")), None);
        let warped = candidate("znorm/dtw:window=0.05,root=true");
        assert_eq!(scale_of(&warped), Some(0.05));
        assert!(widens(&warped) && !widens(&changed));
        assert_eq!(with_scale(&warped, 0.1).similarity, ["znorm/dtw:window=0.1,root=true"]);
        assert_eq!(with_scale(&warped, 1.6).similarity, ["znorm/dtw:window=1,root=true"]);
        assert_eq!(scale_of(&candidate("dtw:window=0,root=true")), None);
    }
}
