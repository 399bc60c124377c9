//! The fit of one method with automatic parameters, and its fits to other samples with the same parameters.

use super::candidate::SimilaritySearch;
use super::held_out_score::Labeled;
use super::method::Method;
use super::subset::SimilarityPoint;
use crate::data::{AnySamples, ClassWeight, Vectors};
use crate::error::{Error, Result};
use crate::expansion::Normalization;
use crate::instant::Instant;
use crate::model::{BasisExpansionParams, CChoice, Classifier, PowerMeanParams, Standardize, ThinPlateParams};
use crate::monitor::{Monitor, Stopped};
use crate::search::Tried;
use crate::similarity::{AdditiveKernel, ConditionalKernel};
use crate::solve::Report;
use crate::tuning::AUTO_EXACT_SAMPLES;

/// A method that was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodPoint {
    /// The method.
    pub method: Method,
    /// The selected similarities or kernel.
    pub chosen: String,
    /// The score by which it was compared, with a scoring.
    pub score: Option<f64>,
}

/// A fit with selected parameters, of samples with labels and weights, at a C or with C selected again; a power mean SVM
/// has its own C.
pub(super) type Refit = dyn Fn(Labeled<'_>, CChoice, &Monitor<'_>) -> Result<Box<dyn Classifier>>;

/// A model with the estimates of its own error.
pub(super) struct MethodFit {
    pub model: Box<dyn Classifier>,
    pub chosen: String,
    /// The fit of other samples with the same parameters.
    pub refit: Box<Refit>,
    /// The mean leave-one-out squared hinge; `None` where C was selected on held-out samples, as it is for many sparse
    /// rows.
    pub loss: Option<f64>,
    pub error: Option<f64>,
    /// By how much the best kernel of the thin plate SVM was behind the best similarity, if they were compared.
    pub behind: Option<f64>,
}

/// What all methods are fitted with.
pub(super) struct MethodSettings<'a> {
    pub class_weight: &'a ClassWeight,
    pub seed: u64,
    pub threads: usize,
}

impl Method {
    /// Its relative time, with the selection of its parameters, on tables of a few hundred to a thousand rows: for the
    /// progress only.
    pub(super) fn cost(self) -> f64 {
        match self {
            Method::BasisExpansion => 5.0,
            Method::PowerMean => 4.0,
            _ => 1.0,
        }
    }

    /// Why it does not support these samples; none if it does.
    pub(super) fn reason_against(self, samples: &AnySamples) -> Option<String> {
        let values = match (self, samples) {
            (Method::BasisExpansion, _) | (Method::ThinPlate, AnySamples::Vectors(_) | AnySamples::Far(_)) => {
                return None;
            }
            (Method::PowerMean, AnySamples::Far(vectors)) => &vectors.rounded().values,
            (Method::PowerMean, AnySamples::Vectors(Vectors::Dense(matrix))) => &matrix.values,
            (Method::PowerMean, AnySamples::Vectors(Vectors::Sparse(matrix))) => &matrix.values,
            _ => return Some(format!("it takes vectors, not {}", samples.kind())),
        };
        let negative = values.iter().find(|value| **value < 0.0)?;
        Some(format!("it takes vectors without values below 0, such as {negative:?}"))
    }
}

impl MethodSettings<'_> {
    /// The basis expansion with automatic C; another similarity replaces this one.
    pub fn basis_expansion(&self) -> BasisExpansionParams<AdditiveKernel> {
        BasisExpansionParams::new(AdditiveKernel::Chi2)
            .c(CChoice::Auto)
            .class_weight(self.class_weight.clone())
            .seed(self.seed)
            .threads(self.threads)
    }

    /// A fit of one method, with automatic parameters; the first monitor is for a search before the fit.
    pub fn fit(&self, method: Method, labeled: Labeled<'_>, monitors: [&Monitor<'_>; 2]) -> Result<MethodFit> {
        let start = Instant::now();
        // Where the time is up, an unsolved problem is not an error of the samples.
        let too_short = || Error::TooShort { stage: "fit", needs: start.elapsed().as_secs_f64() };
        match self.fitted(method, labeled, monitors) {
            Ok(fitted) if fitted.model.report().has_unbegun() => Err(too_short()),
            Err(Error::Parameter { .. }) if monitors[1].ask() == Err(Stopped::TimeLimit) => Err(too_short()),
            found => found,
        }
    }

    fn fitted(
        &self,
        method: Method,
        (samples, labels, sample_weight): Labeled<'_>,
        [of_search, monitor]: [&Monitor<'_>; 2],
    ) -> Result<MethodFit> {
        match method {
            Method::BasisExpansion => {
                let params = self.basis_expansion();
                let search = SimilaritySearch::of(&params, &[], None, false);
                let start = Instant::now();
                let found = search.choose(samples, labels, sample_weight, of_search)?;
                let seconds = start.elapsed().as_secs_f64();
                let (chosen, note) = search.with_folds((&params, &found), samples, (labels, sample_weight), monitor)?;
                let model = chosen.fit_with(samples, labels, sample_weight, monitor)?;
                let point = model.chosen().ok_or_else(unsolved)?;
                let (loss, error) = (point.loo_squared_hinge, error_of(model.report()));
                let notes = found.summary().into_iter().chain(note);
                let (model, behind) =
                    (model.with_notes(notes).with_search(seconds, found.cut_after()), behind(&found.tried));
                let chosen = model.expansion().similarity().specs().join(" + ");
                let refit: Box<Refit> = Box::new(move |(samples, labels, sample_weight), c, monitor| {
                    let params = params.clone().c(c).with_choice(&found)?;
                    Ok(Box::new(params.fit_with(samples, labels, sample_weight, monitor)?))
                });
                Ok(MethodFit { model: Box::new(model), chosen, refit, loss, error, behind })
            }
            Method::ThinPlate => {
                let params = ThinPlateParams::new(ConditionalKernel::Distance)
                    .kernel_auto()
                    .standardize(Standardize::Auto)
                    .exact_up_to(AUTO_EXACT_SAMPLES)
                    .class_weight(self.class_weight.clone())
                    .seed(self.seed)
                    .threads(self.threads);
                let rows = samples.rows("the thin plate SVM")?;
                let model = params.fit_with(&rows, labels, sample_weight, monitor)?;
                let point = model.chosen().ok_or_else(unsolved)?;
                let (loss, error) = (point.loo_squared_hinge, error_of(model.report()));
                let is_scaled = if model.scale().is_some() { Standardize::Yes } else { Standardize::No };
                let chosen = model.kernel().to_string();
                let params = params.kernel(model.kernel()).polynomials(model.polynomials()).standardize(is_scaled);
                let refit: Box<Refit> = Box::new(move |(samples, labels, sample_weight), c, monitor| {
                    let rows = samples.rows("the thin plate SVM")?;
                    Ok(Box::new(params.clone().c(c).fit_with(&rows, labels, sample_weight, monitor)?))
                });
                Ok(MethodFit { model: Box::new(model), chosen, refit, loss, error, behind: None })
            }
            Method::Auto => unreachable!("it is refused among the methods"),
            Method::PowerMean => {
                let params = PowerMeanParams::auto()
                    .class_weight(self.class_weight.clone())
                    .seed(self.seed)
                    .threads(self.threads);
                let rows = samples.rows("the power mean SVM")?;
                let model = params.fit_with(&rows, labels, sample_weight, monitor)?;
                let path = model.choice().map_or(&[][..], |choice| &choice.path[..]);
                let point = path.iter().find(|point| point.c == model.c()).ok_or_else(unsolved)?;
                let kernel: AdditiveKernel = model.map().kernel().to_string().parse()?;
                let chosen = model.map().kernel().to_string();
                let params = params.kernel(kernel).n_nodes(model.map().n_nodes()).c(model.c());
                // Its parameters are selected on as many samples in any case.
                let refit: Box<Refit> = Box::new(move |(samples, labels, sample_weight), _, monitor| {
                    let rows = samples.rows("the power mean SVM")?;
                    Ok(Box::new(params.fit_with(&rows, labels, sample_weight, monitor)?))
                });
                let (loss, error) = (Some(point.loo_squared_hinge), Some(point.loo_error));
                Ok(MethodFit { model: Box::new(model), chosen, refit, loss, error, behind: None })
            }
        }
    }
}

fn error_of(report: &Report) -> Option<f64> {
    report.estimate.as_ref().map(|estimate| estimate.error)
}

pub(super) fn unsolved() -> Error {
    Error::parameter("C", "auto", "a problem that can be solved at some C of the path")
}

/// By how much, as a share, the least loss of minus a distance is above the least of all on the same samples, the most
/// on which there is one.
fn behind(tried: &[Tried<SimilarityPoint>]) -> Option<f64> {
    let is_distance =
        |tried: &Tried<SimilarityPoint>| matches!(tried.point.candidate.normalization, Normalization::Centered(_));
    let most = tried.iter().filter(|tried| is_distance(tried)).map(|tried| tried.n_samples).max()?;
    let least = |is_counted: &dyn Fn(&Tried<SimilarityPoint>) -> bool| {
        let alike = tried.iter().filter(|tried| tried.n_samples == most && is_counted(tried));
        alike.filter_map(|tried| tried.loss.as_ref().ok()).copied().min_by(f64::total_cmp)
    };
    Some(least(&is_distance)? / least(&|_| true)?.max(f64::MIN_POSITIVE) - 1.0)
}
