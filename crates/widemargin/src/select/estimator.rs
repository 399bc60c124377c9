//! Estimators of all methods and tasks, whose parameters are set by their names and texts, as on the command line, in
//! Python and on the site.

use std::fmt;

use super::auto::{AutoFit, AutoParams};
use super::by_name::ByName;
use super::candidate::SimilaritySearch;
use super::candidate::outlier_normalization;
use super::method::{Method, Task};
use super::method_fit::MethodPoint;
use super::subset::{Answers, SimilarityPoint};
use super::unseen_columns::{outlier_similarity, unseen_columns};
use crate::basis::BasisChoice;
use crate::data::{AnySamples, ClassWeight, Resources, SamplesView, Source};
use crate::error::{Error, Result};
use crate::expansion::Normalization;
use crate::instant::Instant;
use crate::model::{
    AnyModel, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, EXACT_UP_TO,
    KernelPoint, PowerMeanParams, SPLINE_EXACT_UP_TO, Standardize, ThinPlateParams, ThinPlateRegressorParams,
};
use crate::monitor::Monitor;
use crate::search::Tried;
use crate::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel, ScalarKernel};
use crate::tuning::DEFAULT_N_BASIS;

/// The place of the samples of a fit.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// In memory.
    Memory(&'a SamplesView<'a>),
    /// On disk; they are read in blocks with these resources.
    Blocks(&'a dyn Source<Samples = AnySamples>, &'a Resources<'a>),
}

/// The candidates that were compared for a model.
#[derive(Debug)]
pub enum Compared {
    /// Similarities with their normalizations.
    Similarities(Vec<Tried<SimilarityPoint>>),
    /// Kernels and scalings.
    Kernels(Vec<Tried<KernelPoint>>),
    /// Methods.
    Methods(Vec<Tried<MethodPoint>>),
}

/// Those of a basis expansion have a similarity that is replaced in the fit.
#[derive(Clone, Debug)]
enum Params {
    Auto(AutoParams),
    PowerMean(PowerMeanParams),
    ThinPlate(ThinPlateParams),
    Spline(ThinPlateRegressorParams),
    Classifier(BasisExpansionParams<AdditiveKernel>),
    Regressor(BasisExpansionRegressorParams<AdditiveKernel>),
    OneClass(BasisExpansionOneClassParams<AdditiveKernel>),
}

/// Evaluates an expression on the parameters of any method.
macro_rules! on_params {
    ($params:expr, $each:ident => $body:expr) => {
        match $params {
            Params::Auto($each) => $body,
            Params::PowerMean($each) => $body,
            Params::ThinPlate($each) => $body,
            Params::Spline($each) => $body,
            Params::Classifier($each) => $body,
            Params::Regressor($each) => $body,
            Params::OneClass($each) => $body,
        }
    };
}

/// The samples of a fit with their weights, and its monitor.
#[derive(Clone, Copy)]
struct Data<'a> {
    samples: Place<'a>,
    weights: Option<&'a [f64]>,
    monitor: &'a Monitor<'a>,
}

/// The model of samples in memory, as an expression takes them, or on a disk.
macro_rules! fitted {
    ($params:expr, $answers:expr, $data:ident, $view:ident => $samples:expr) => {
        match $data.samples {
            Place::Memory($view) => $params.fit_with($samples, $answers, $data.weights, $data.monitor)?,
            Place::Blocks(source, resources) => {
                $params.fit_blocks(source, $answers, $data.weights, resources, $data.monitor)?
            }
        }
    };
}

/// A thin plate model, and the kernels that were compared. On a disk, an automatic number of bases is the default one.
macro_rules! spline {
    ($params:ident, $answers:expr, $data:ident, $name:literal) => {
        match $data.samples {
            Place::Memory(view) => $params.fit_tried(&view.rows($name)?, $answers, $data.weights, $data.monitor)?,
            Place::Blocks(source, resources) => {
                let usual = ($params.exact_up_to < usize::MAX).then_some(DEFAULT_N_BASIS);
                let params = $params.clone().n_basis($params.n_basis.or(usual));
                (params.fit_blocks(source, $answers, $data.weights, resources, $data.monitor)?, Vec::new())
            }
        }
    };
}

/// The model with the similarity of a search, and the result of that.
macro_rules! searched {
    ($search:ident, $answers:expr, $data:ident, $found:ident => $chosen:expr) => {{
        let start = Instant::now();
        let all_as_bases = matches!($data.samples, Place::Memory(_));
        let $found = SimilaritySearch { all_as_bases, ..$search.clone() }.choose($data.samples.source(), $answers, $data.weights, $data.monitor)?;
        let (params, note): (_, Option<String>) = $chosen;
        let seconds = start.elapsed().as_secs_f64();
        let model = fitted!(params, $answers, $data, view => view);
        let model = model.with_notes($found.summary().into_iter().chain(note));
        let model = if $found.tried.is_empty() { model } else { model.with_search(seconds, $found.cut_after()) };
        (model, $found)
    }};
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Place::Memory(_) = self { "Memory" } else { "Blocks" })
    }
}

impl<'a> Place<'a> {
    fn source(self) -> &'a dyn Source<Samples = AnySamples> {
        match self {
            Place::Memory(view) => view,
            Place::Blocks(source, _) => source,
        }
    }

    fn in_memory(self) -> Result<&'a SamplesView<'a>> {
        match self {
            Place::Memory(view) => Ok(view),
            Place::Blocks(..) => Err(Error::parameter("samples", "blocks", "in memory for outlier detection")),
        }
    }
}

/// A method with its parameters. Parameters that are not set are automatic or have their defaults.
#[derive(Clone, Debug)]
pub struct Estimator {
    params: Params,
    /// Specs; none are a search.
    similarity: Vec<String>,
    /// `None` if it is selected.
    normalization: Option<Normalization>,
    has_loss: bool,
}

impl Estimator {
    /// A method for a task.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a task that the method does not have.
    pub fn new(method: Method, task: Task) -> Result<Self> {
        let (replaced, distance) = (AdditiveKernel::Chi2, ConditionalKernel::Distance);
        let params = match (method, task) {
            (Method::Auto, Task::Classification) => Params::Auto(AutoParams::default()),
            (Method::PowerMean, Task::Classification) => Params::PowerMean(PowerMeanParams::auto()),
            (Method::ThinPlate, Task::Classification) => {
                let params = ThinPlateParams::new(distance).kernel_auto().exact_up_to(EXACT_UP_TO);
                Params::ThinPlate(params.standardize(Standardize::Auto))
            }
            (Method::ThinPlate, Task::Regression) => {
                let params = ThinPlateRegressorParams::new(distance).kernel_auto().exact_up_to(SPLINE_EXACT_UP_TO);
                Params::Spline(params.standardize(Standardize::Auto))
            }
            (Method::PowerMean, _) | (Method::ThinPlate, Task::OutlierDetection) => {
                return Err(Error::parameter("task", task, format!("{method} is not for it")));
            }
            (_, Task::Classification) => Params::Classifier(BasisExpansionParams::new(replaced).c(CChoice::Auto)),
            (_, Task::Regression) => Params::Regressor(BasisExpansionRegressorParams::new(replaced)),
            (_, Task::OutlierDetection) => Params::OneClass(BasisExpansionOneClassParams::new(replaced)),
        };
        Ok(Estimator { params, similarity: Vec::new(), normalization: None, has_loss: false })
    }

    /// The names of the parameters that are set from text.
    pub fn names(&self) -> &'static [&'static str] {
        fn names<P: ByName>(_: &P) -> &'static [&'static str] {
            P::NAMES
        }
        on_params!(&self.params, params => names(params))
    }

    /// Sets a parameter from text; `auto` leaves it unchanged.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for a parameter that the method does not have; errors of a text that is no such value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        if text == "auto" {
            return Ok(());
        }
        on_params!(&mut self.params, params => params.set(name, text))?;
        match name {
            "normalization" => self.normalization = Some(text.parse()?),
            "loss" => self.has_loss = true,
            _ => {}
        }
        Ok(())
    }

    /// The specs of the similarities of a basis expansion, which are concatenated; if empty or `auto`, one is selected.
    #[must_use]
    pub fn similarity(self, mut specs: Vec<String>) -> Self {
        if specs == ["auto"] {
            specs.clear();
        }
        Estimator { similarity: specs, ..self }
    }

    /// The class weights of a classifier.
    #[must_use]
    pub fn class_weight(mut self, class_weight: ClassWeight) -> Self {
        match &mut self.params {
            Params::Auto(params) => params.class_weight = class_weight,
            Params::PowerMean(params) => params.class_weight = class_weight,
            Params::ThinPlate(params) => params.task.class_weight = class_weight,
            Params::Classifier(params) => params.task.class_weight = class_weight,
            _ => {}
        }
        self
    }

    /// Trains with labels, with targets, or with neither for outlier detection, with one weight per sample and a
    /// monitor. Also returns the candidates that were compared.
    ///
    /// # Errors
    /// Those of the method; [`Error::Parameter`] for labels or targets of another task.
    pub fn fit(
        &self,
        samples: Place<'_>,
        answers: Option<&Answers<'_>>,
        weights: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(AnyModel, Compared)> {
        self.check()?;
        let data = Data { samples, weights, monitor };
        Ok(match (&self.params, answers) {
            (Params::Auto(params), Some(Answers::Labels(labels))) => {
                let AutoFit { model, tried } = fitted!(params, labels, data, view => view);
                (AnyModel::Classifier(model), Compared::Methods(tried))
            }
            (Params::PowerMean(params), Some(Answers::Labels(labels))) => {
                let model = fitted!(params, labels, data, view => &view.rows("the power mean SVM")?);
                (AnyModel::Classifier(Box::new(model)), Compared::Kernels(Vec::new()))
            }
            (Params::ThinPlate(params), Some(Answers::Labels(labels))) => {
                let (model, tried) = spline!(params, labels, data, "the thin plate SVM");
                (AnyModel::Classifier(Box::new(model)), Compared::Kernels(tried))
            }
            (Params::Spline(params), Some(Answers::Targets(targets))) => {
                let (model, tried) = spline!(params, targets, data, "the smoothing spline");
                (AnyModel::Regressor(Box::new(model)), Compared::Kernels(tried))
            }
            (Params::Classifier(params), Some(Answers::Labels(labels))) => {
                let search = SimilaritySearch::of(params, &self.similarity, self.normalization, self.has_loss);
                let (model, found) = searched!(search, &**labels, data, found => match samples {
                    Place::Memory(view) => search.with_folds((params, &found), view, (&**labels, weights), monitor)?,
                    Place::Blocks(..) => (params.clone().with_choice(&found)?, None),
                });
                (AnyModel::Classifier(Box::new(model)), Compared::Similarities(found.tried))
            }
            (Params::Regressor(params), Some(Answers::Targets(targets))) => {
                let search = SimilaritySearch::of_regression(params, &self.similarity, self.normalization);
                let (model, found) =
                    searched!(search, &**targets, data, found => (params.clone().with_choice(&found)?, None));
                let source = samples.source();
                let model = search.confirmed((params, &found), model, source, (&**targets, weights), monitor)?;
                (AnyModel::Regressor(Box::new(model)), Compared::Similarities(found.tried))
            }
            (Params::OneClass(params), None) => {
                let view = samples.in_memory()?;
                let specs = match &self.similarity[..] {
                    [] => vec![outlier_similarity(view, weights)?.to_owned()],
                    specs => specs.to_vec(),
                };
                let similarity = AnySimilarity::new(&specs)?;
                let warning = unseen_columns(view, weights, &similarity)?;
                let mut params = params.clone().with_similarity(similarity);
                if self.normalization.is_none() {
                    params = params.normalization(outlier_normalization(&specs));
                }
                let mut model = params.fit_with(view, weights, monitor)?;
                model.report.warnings.extend(warning);
                (AnyModel::OneClass(Box::new(model)), Compared::Similarities(Vec::new()))
            }
            (_, answers) => return Err(unsuitable(answers)),
        })
    }
}

#[doc(hidden)]
impl Estimator {
    /// The rows of the bases of a basis expansion.
    #[must_use]
    pub fn basis_rows(mut self, rows: Vec<usize>) -> Self {
        let basis = BasisChoice::Rows(rows);
        match &mut self.params {
            Params::Classifier(params) => params.expander.basis = basis,
            Params::Regressor(params) => params.expander.basis = basis,
            Params::OneClass(params) => params.expander.basis = basis,
            _ => {}
        }
        self
    }

    /// The kernel of a power mean SVM.
    #[must_use]
    pub fn scalar_kernel(mut self, kernel: ScalarKernel) -> Self {
        if let Params::PowerMean(params) = &mut self.params {
            *params = params.clone().kernel(kernel);
        }
        self
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid; errors of the specs.
    pub fn check(&self) -> Result<()> {
        match &self.params {
            Params::Classifier(params) if !self.similarity.is_empty() => {
                params.clone().with_similarity(AnySimilarity::new(&self.similarity)?).check()
            }
            params => on_params!(params, params => params.check()),
        }
    }

    /// The same for a basis expansion with these similarities, without a selection of other parameters.
    ///
    /// # Errors
    /// As for [`Estimator::fit`]; [`Error::Parameter`] for another method.
    pub fn fit_with(
        &self,
        similarity: AnySimilarity,
        samples: &SamplesView<'_>,
        answers: Option<&Answers<'_>>,
        weights: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<AnyModel> {
        Ok(match (self.params.clone(), answers) {
            (Params::Classifier(params), Some(Answers::Labels(labels))) => {
                let model = params.with_similarity(similarity).fit_with(samples, labels, weights, monitor)?;
                AnyModel::Classifier(Box::new(model))
            }
            (Params::Regressor(params), Some(Answers::Targets(targets))) => {
                let model = params.with_similarity(similarity).fit_with(samples, targets, weights, monitor)?;
                AnyModel::Regressor(Box::new(model))
            }
            (Params::OneClass(params), None) => {
                let model = params.with_similarity(similarity).fit_with(samples, weights, monitor)?;
                AnyModel::OneClass(Box::new(model))
            }
            (_, answers) => return Err(unsuitable(answers)),
        })
    }
}

fn unsuitable(answers: Option<&Answers<'_>>) -> Error {
    let found = match answers {
        Some(Answers::Labels(_)) => "labels",
        Some(Answers::Targets(_)) => "targets",
        None => "none",
    };
    Error::parameter("answers", found, "labels for a classifier, targets for a regression, none for outlier detection")
}
