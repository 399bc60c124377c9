//! Every method behind one interface: parameters that are fitted to a training set at a place, and the model.

use std::any::Any;
use std::sync::Arc;

use super::places::{Chunked, Place};
use super::training::{Answers, Training};
use super::workers;
use widemargin::Result;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, ClassWeight, SamplesView};
use widemargin::model::{
    AnyModel, BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressor,
    BasisExpansionRegressorParams, BasisExpansionSvc, CChoice, Polynomials, PowerMeanParams, PowerMeanSvc,
    ThinPlateBasis, ThinPlateParams, ThinPlateRegressor, ThinPlateRegressorParams, ThinPlateSvc,
};
use widemargin::monitor::Monitor;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Report;

/// Makes parameters, which cannot be copied where they own a similarity.
pub type Make<P> = Arc<dyn Fn() -> P + Send + Sync>;

/// A method with its parameters.
#[derive(Clone)]
pub enum Method {
    BasisExpansion(Make<BasisExpansionParams<AnySimilarity>>),
    /// With the treatment of the polynomials.
    ThinPlate(ThinPlateParams, Polynomials),
    PowerMean(PowerMeanParams),
    Regression(Make<BasisExpansionRegressorParams<AnySimilarity>>),
    Spline(ThinPlateRegressorParams),
    OneClass(Make<BasisExpansionOneClassParams<AnySimilarity>>),
}

/// Makes the parameters with a change.
fn then<P: 'static>(make: Make<P>, change: impl Fn(P) -> P + Send + Sync + 'static) -> Make<P> {
    Arc::new(move || change(make()))
}

/// The method with a change of the parameters of each kind that is named; the others stay as they are.
macro_rules! change {
    ($method:expr, |$params:ident| $($kind:ident => $call:expr),+) => {
        match $method {
            $(change!(@pattern $kind $params polynomials) => change!(@made $kind $params polynomials, $call),)+
            #[allow(unreachable_patterns)]
            other => other,
        }
    };
    (@pattern ThinPlate $params:ident $polynomials:ident) => { Method::ThinPlate($params, $polynomials) };
    (@pattern $kind:ident $params:ident $polynomials:ident) => { Method::$kind($params) };
    (@made ThinPlate $params:ident $polynomials:ident, $call:expr) => { Method::ThinPlate($call, $polynomials) };
    (@made PowerMean $params:ident $polynomials:ident, $call:expr) => { Method::PowerMean($call) };
    (@made Spline $params:ident $polynomials:ident, $call:expr) => { Method::Spline($call) };
    (@made $kind:ident $params:ident $polynomials:ident, $call:expr) => {
        Method::$kind(then($params, move |$params| $call))
    };
}

impl Method {
    pub fn threads(self, n: usize) -> Method {
        change!(self, |params| BasisExpansion => params.threads(n), ThinPlate => params.threads(n),
            PowerMean => params.threads(n), Regression => params.threads(n), Spline => params.threads(n),
            OneClass => params.threads(n))
    }

    pub fn c(self, c: CChoice) -> Method {
        change!(self, |params| BasisExpansion => params.c(c), ThinPlate => params.c(c), PowerMean => params.c(c),
            Regression => params.c(c), Spline => params.c(c))
    }

    pub fn class_weight(self, weight: ClassWeight) -> Method {
        change!(self, |params| BasisExpansion => params.class_weight(weight.clone()),
            ThinPlate => params.class_weight(weight), PowerMean => params.class_weight(weight))
    }

    /// Another number of bases; the same where there is none.
    pub fn n_basis(self, n: usize) -> Method {
        change!(self, |params| BasisExpansion => params.n_basis(n), ThinPlate => params.n_basis(Some(n)),
            Regression => params.n_basis(n), Spline => params.n_basis(Some(n)), OneClass => params.n_basis(n))
    }

    /// With the first samples as bases, of whatever content.
    pub fn first_bases(self) -> Method {
        change!(self, |params| BasisExpansion => params.basis(BasisChoice::Index),
            ThinPlate => params.basis(ThinPlateBasis::Index), Regression => params.basis(BasisChoice::Index),
            Spline => params.basis(ThinPlateBasis::Index), OneClass => params.basis(BasisChoice::Index))
    }

    /// With some samples as bases that have weight, by their rows, for a basis expansion.
    pub fn bases_by_row(self) -> Method {
        change!(self, |params| BasisExpansion => params.basis(BasisChoice::Rows((0..12).map(|at| 3 * at).collect())))
    }

    pub fn fit(&self, training: &Training, place: Place<'_>, monitor: &Monitor<'_>) -> Result<Model> {
        let Training { samples, answers, weights } = training;
        match place {
            Place::Memory => self.fit_view(&SamplesView::Other(samples), answers, weights.as_deref(), monitor),
            Place::Blocks(resources) => {
                let (source, weights) = (Chunked::new(samples), weights.as_deref());
                macro_rules! blocks {
                    ($params:expr, $answers:expr) => {
                        $params.fit_blocks(&source, $answers, weights, &resources, monitor)?
                    };
                }
                Ok(match (self, answers) {
                    (Method::BasisExpansion(make), Answers::Labels(labels)) => {
                        Model::of_classes(blocks!(make(), labels))
                    }
                    (Method::ThinPlate(params, _), Answers::Labels(labels)) => {
                        Model::of_classes(blocks!(params.clone(), labels))
                    }
                    (Method::PowerMean(params), Answers::Labels(labels)) => {
                        Model::of_classes(blocks!(params.clone(), labels))
                    }
                    (Method::Regression(make), Answers::Targets(targets)) => {
                        Model(AnyModel::Regressor(Box::new(blocks!(make(), targets))))
                    }
                    (Method::Spline(params), Answers::Targets(targets)) => {
                        Model(AnyModel::Regressor(Box::new(blocks!(params, targets))))
                    }
                    _ => panic!("no fit in blocks"),
                })
            }
            Place::Workers(ends) => workers::fit(self, training, ends, monitor),
        }
    }

    /// In memory, on samples in any form.
    pub fn fit_view(
        &self,
        samples: &SamplesView<'_>,
        answers: &Answers,
        weights: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<Model> {
        let rows = || samples.rows("a test");
        Ok(match (self, answers) {
            (Method::BasisExpansion(make), Answers::Labels(labels)) => {
                Model::of_classes(make().fit_with(samples, labels, weights, monitor)?)
            }
            (Method::ThinPlate(params, _), Answers::Labels(labels)) => {
                Model::of_classes(params.fit_with(&rows()?, labels, weights, monitor)?)
            }
            (Method::PowerMean(params), Answers::Labels(labels)) => {
                Model::of_classes(params.fit_with(&rows()?, labels, weights, monitor)?)
            }
            (Method::Regression(make), Answers::Targets(targets)) => {
                Model(AnyModel::Regressor(Box::new(make().fit_with(samples, targets, weights, monitor)?)))
            }
            (Method::Spline(params), Answers::Targets(targets)) => {
                Model(AnyModel::Regressor(Box::new(params.fit_with(&rows()?, targets, weights, monitor)?)))
            }
            (Method::OneClass(make), Answers::None) => {
                Model(AnyModel::OneClass(Box::new(make().fit_with(samples, weights, monitor)?)))
            }
            (_, answers) => panic!("a method for other answers than {answers:?}"),
        })
    }
}

/// A trained model of any method.
#[derive(Debug)]
pub struct Model(pub AnyModel);

impl Model {
    pub fn of_classes(model: impl widemargin::model::Classifier) -> Model {
        Model(AnyModel::Classifier(Box::new(model)))
    }

    /// The model as its own type, if it is of that.
    pub fn own<T: Any>(&self) -> Option<&T> {
        let any: &dyn Any = match &self.0 {
            AnyModel::Classifier(model) => &**model,
            AnyModel::Regressor(model) => &**model,
            AnyModel::OneClass(model) => &**model,
        };
        any.downcast_ref()
    }

    pub fn report(&self) -> &Report {
        match &self.0 {
            AnyModel::Classifier(model) => model.report(),
            AnyModel::Regressor(model) => model.report(),
            AnyModel::OneClass(model) => model.report(),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = match &self.0 {
            AnyModel::Classifier(model) => model.to_bytes(),
            AnyModel::Regressor(model) => model.to_bytes(),
            AnyModel::OneClass(model) => model.to_bytes(),
        };
        bytes.unwrap()
    }

    /// The decision values, predictions or scores of samples.
    pub fn try_values(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        Ok(match &self.0 {
            AnyModel::Classifier(model) => model.decision_values(samples, threads, monitor)?,
            AnyModel::Regressor(model) => model.predict(samples, threads, monitor)?.values,
            AnyModel::OneClass(model) => model.decision_function(samples, threads, monitor)?,
        })
    }

    pub fn values(&self, samples: &AnySamples) -> Vec<f64> {
        self.try_values(&SamplesView::Other(samples), 1, &Monitor::none()).unwrap()
    }

    /// C of every problem, or the threshold of an outlier detector.
    pub fn c(&self) -> Vec<f64> {
        match &self.0 {
            AnyModel::Classifier(model) => vec![model.c(0)],
            AnyModel::Regressor(model) => vec![model.c()],
            AnyModel::OneClass(model) => vec![model.threshold()],
        }
    }

    /// The training rows of the bases, as far as the model has them, ascending.
    pub fn bases(&self) -> Vec<usize> {
        let mut rows = if let Some(model) = self.own::<ThinPlateSvc>() {
            model.basis_rows().iter().map(|&row| row as usize).collect()
        } else if let Some(model) = self.own::<ThinPlateRegressor>() {
            model.basis_rows().iter().map(|&row| row as usize).collect()
        } else if let Some(model) = self.own::<BasisExpansionSvc<AnySimilarity>>() {
            model.basis_rows().to_vec()
        } else if let Some(model) = self.own::<BasisExpansionRegressor<AnySimilarity>>() {
            model.basis_rows().to_vec()
        } else {
            self.own::<BasisExpansionOneClass<AnySimilarity>>()
                .map(|model| model.basis_rows().to_vec())
                .unwrap_or_default()
        };
        rows.sort_unstable();
        rows
    }

    /// The leave-one-out losses of the path of C.
    pub fn path(&self) -> Vec<f64> {
        match &self.0 {
            AnyModel::Classifier(_) => {
                if let Some(choice) = self.own::<PowerMeanSvc>().and_then(PowerMeanSvc::choice) {
                    return choice.path.iter().map(|point| point.loo_squared_hinge).collect();
                }
                let path = match self.own::<ThinPlateSvc>() {
                    Some(model) => model.path(),
                    None => {
                        self.own::<BasisExpansionSvc<AnySimilarity>>().map(|model| model.path()).unwrap_or_default()
                    }
                };
                path.iter().filter_map(|point| point.loo_squared_hinge).collect()
            }
            AnyModel::Regressor(model) => {
                let squared = model.path().iter().flat_map(|point| point.loo_rmse.iter().copied());
                squared.chain(model.loss_path().iter().flat_map(|point| point.loss.iter().copied())).collect()
            }
            AnyModel::OneClass(model) => model.loo_scores().to_vec(),
        }
    }

    /// The values of samples and the path, bit for bit.
    pub fn bits(&self, samples: &AnySamples) -> Vec<u64> {
        self.values(samples).into_iter().chain(self.path()).chain(self.c()).map(f64::to_bits).collect()
    }
}
