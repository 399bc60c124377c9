//! Command-line options of the basis expansion SVM.

use std::fmt;
use std::str::FromStr;

use clap::{ArgAction, Args, Command, FromArgMatches};
use serde_json::{Value, json};
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, Labels, Source, Targets};
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionParams, BasisExpansionRegressorParams, CChoice, Regressor};
use widemargin::monitor::Monitor;
use widemargin::problem::{AnyLoss, Intercept, Penalty, RegressionLoss};
use widemargin::select::{RegressionScoring, RegressionSearch, SimilaritySearch};
use widemargin::similarity::{AdditiveKernel, AnySimilarity};
use widemargin::{Error, Result};

use crate::args::Common;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Method, Point, c_json, grid, text};
use crate::model::Model;
use crate::one_class::{OneClassFit, OneClassSettings};
use crate::report::Failure;
use crate::samples::{check_specs, with_names};
use crate::task::Regression;
use crate::training_data::Data;

const SIMILARITY: &str = "Similarity, such as rbf:gamma=1, dtw:window=0.1 or hog:cell=4/rigid:radius=2; may be given several times to \
     combine similarities. In `cv`, `|` separates alternatives. auto compares candidates for the kind of samples, with \
     the normalization of each, by leave-one-out on at most 1000 samples. [default: auto]";

/// Parameters of the method. Options that can be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct BasisExpansionArgs {
    #[arg(long, action = ArgAction::Append, value_name = "SPEC", help = SIMILARITY, long_help = with_names(SIMILARITY))]
    similarity: Vec<String>,
    /// Number of bases, if there are as many samples; auto is 1000 to 4000, by the number of samples and leave-one-out
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "N")]
    n_basis: Vec<OrAuto<usize>>,
    /// Selection of the bases: index (evenly spaced in each class), every (evenly spaced in all samples), random,
    /// stratified, kmedoids
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "NAME")]
    basis: Vec<BasisChoice>,
    /// Normalization of the similarities: mean-norm, z-score, covariance, none, nystroem, or centered for conditionally
    /// positive definite ones, such as minus a distance; nystroem:negative-eigenvalues=flip (shift, square; default clip)
    /// says what becomes of negative eigenvalues; auto is the better of mean-norm and what suits the similarity, by
    /// leave-one-out, and mean-norm for several
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "NAME")]
    normalization: Vec<OrAuto<Normalization>>,
    /// Weight of the losses: a number, or auto, which minimizes the leave-one-out loss on a path of values (of 2000
    /// samples if there are more)
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "auto", value_name = "C")]
    c: Vec<CChoice>,
    /// Loss: hinge, squared-hinge, squared or logistic; auto is squared-hinge, or where a search takes features of a descriptor
    /// for many samples in three classes or more squared, unless squared-hinge errs less; with --task regression squared,
    /// huber (linear for large residuals), squared-epsilon-insensitive or quantile [default: auto; squared for regression]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    loss: Vec<LossArg>,
    /// With --loss huber the residual above which it is linear, with squared-epsilon-insensitive half of the width of the tube,
    /// both in the unit of the targets; auto follows the spread of the residuals [default: auto]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "NUMBER")]
    epsilon: Vec<OrAuto<f64>>,
    /// With --loss quantile: which quantile of the targets is predicted, above 0 and below 1 [default: 0.5]; with --task
    /// one-class the share of samples like those of the training that may be taken for outliers [default: 0.05]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "NUMBER")]
    quantile: Vec<f64>,
    /// With --task one-class: the penalty on the weights in units of the mean square of a feature; little follows the samples
    /// closely, much averages similarities to them [default: 0.01]
    #[arg(long, allow_hyphen_values = true, value_name = "NUMBER")]
    shrinkage: Option<f64>,
    /// Penalty on the weights: l2, or l1, which keeps only the bases it needs
    #[arg(long, value_delimiter = ',', default_value = "l2", value_name = "NAME")]
    penalty: Vec<Penalty>,
    /// Keep at most so many of the bases: those that weigh least are left out step by step
    #[arg(long, value_name = "N")]
    max_basis: Option<usize>,
    /// Intercept of the decision function: free (unpenalized; with the hinge loss penalized) or none
    #[arg(long, value_parser = intercept, value_delimiter = ',', default_value = "free", value_name = "NAME")]
    intercept: Vec<Intercept>,
    #[command(flatten)]
    class_weight: ClassWeightArg,
    /// Relative duality gap at which to stop
    #[arg(long, default_value_t = 1e-3, allow_hyphen_values = true)]
    tol: f64,
    /// Maximum number of Newton steps, with the hinge loss of passes over the samples [default: 100; 1000 for hinge]
    #[arg(long, value_name = "N")]
    max_iter: Option<u32>,
}

impl BasisExpansionArgs {
    fn check_no_shrinkage(&self, of: &str) -> std::result::Result<(), Failure> {
        match self.shrinkage {
            Some(_) => Err(Failure::input(format!("--shrinkage is of --task one-class, and not of {of}"))
                .help("leave it out: -C is the weight of the losses")),
            None => Ok(()),
        }
    }

    /// The defaults of all flags.
    pub fn usual() -> Self {
        let matches = <Self as Args>::augment_args(Command::new("")).get_matches_from([""]);
        Self::from_arg_matches(&matches).unwrap_or_else(|problem| problem.exit())
    }
}

fn intercept(text: &str) -> std::result::Result<Intercept, &'static str> {
    match text {
        "free" => Ok(Intercept::Free),
        "none" => Ok(Intercept::None),
        _ => Err("expected free or none"),
    }
}

/// Similarities side by side; none is a search.
#[derive(Clone)]
struct Specs(Vec<String>);

impl fmt::Display for Specs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [] => f.write_str("auto"),
            specs => f.write_str(&specs.join(" ")),
        }
    }
}

/// A value, or what is chosen from the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OrAuto<T> {
    Auto,
    Given(T),
}

impl<T: Copy> OrAuto<T> {
    fn given(self) -> Option<T> {
        match self {
            OrAuto::Auto => None,
            OrAuto::Given(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for OrAuto<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> std::result::Result<Self, T::Err> {
        if text == "auto" { Ok(OrAuto::Auto) } else { text.parse().map(OrAuto::Given) }
    }
}

impl<T: fmt::Display> fmt::Display for OrAuto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrAuto::Auto => f.write_str("auto"),
            OrAuto::Given(value) => value.fmt(f),
        }
    }
}

/// A loss of classes, the name of one of numbers, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LossArg {
    of_classes: Option<OrAuto<AnyLoss>>,
    of_numbers: Option<&'static str>,
}

impl FromStr for LossArg {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let of_numbers = RegressionLoss::NAMES.into_iter().find(|name| *name == text);
        let others = RegressionLoss::NAMES.join(", ");
        match text.parse() {
            Ok(of_classes) => Ok(LossArg { of_classes: Some(of_classes), of_numbers }),
            Err(_) if of_numbers.is_some() => Ok(LossArg { of_classes: None, of_numbers }),
            Err::<_, Error>(error) => Err(format!("{error}; with --task regression {others}")),
        }
    }
}

/// What a fit takes: a search decides what is open.
#[derive(Clone)]
pub struct Settings {
    specs: Specs,
    normalization: OrAuto<Normalization>,
    n_basis: OrAuto<usize>,
    loss: OrAuto<AnyLoss>,
    /// The similarity stands for those of the specs.
    params: Params,
}

type Params = BasisExpansionParams<AdditiveKernel>;

impl Settings {
    fn with(self, set: impl FnOnce(Params) -> Params) -> Self {
        Settings { params: set(self.params), ..self }
    }

    /// The parameters with all that was open, and what was tried.
    fn chosen(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionParams<AnySimilarity>, Option<String>)> {
        let counts = self.n_basis == OrAuto::Auto && self.params.can_count_bases();
        let search = SimilaritySearch::of(&self.params, &self.specs.0, self.normalization.given(), counts);
        let search = search.choosing_loss(&self.params, self.loss == OrAuto::Auto);
        let found = search.choose(samples, labels, sample_weight, monitor)?;
        Ok((found.apply(self.params.clone())?, found.told()))
    }
}

/// What a fit of a regression model takes.
#[derive(Clone)]
struct RegressionSettings {
    specs: Specs,
    normalization: OrAuto<Normalization>,
    loss: &'static str,
    /// Given only with a loss that has it.
    epsilon: Option<f64>,
    quantile: Option<f64>,
    /// The similarity stands for those of the specs.
    params: BasisExpansionRegressorParams<AdditiveKernel>,
}

impl RegressionSettings {
    fn with(
        self,
        set: impl FnOnce(BasisExpansionRegressorParams<AdditiveKernel>) -> BasisExpansionRegressorParams<AdditiveKernel>,
    ) -> Self {
        RegressionSettings { params: set(self.params), ..self }
    }

    fn regression(self) -> Result<Regression> {
        let RegressionSettings { specs, normalization, loss, epsilon, quantile, params } = self;
        let of_residuals = RegressionLoss::new(loss, epsilon, quantile)?;
        let (params, scoring) = (params.loss(of_residuals), RegressionScoring::of_loss(of_residuals));
        let search = RegressionSearch::of(&params, &specs.0, normalization.given());
        let fit = move |data: Data<'_>, targets: &Targets, monitor: &Monitor<'_>| {
            let (model, told) = match data {
                Data::Samples(samples, weights) => {
                    let view = samples.view()?;
                    let found = search.choose(&view, targets, weights, monitor)?;
                    (found.apply(params.clone())?.fit_with(&view, targets, weights, monitor)?, found.told())
                }
                Data::Store(store, resources) => {
                    let found = search.choose(store, targets, None, monitor)?;
                    (found.apply(params.clone())?.fit_blocks(store, targets, None, resources, monitor)?, found.told())
                }
            };
            Ok(Box::new(model.with_notes(told)) as Box<dyn Regressor>)
        };
        Ok(Regression { fit: Box::new(fit), scoring })
    }
}

fn specs_json(specs: &Specs) -> Value {
    if specs.0.is_empty() { "auto".into() } else { json!(specs.0) }
}

fn epsilon_json(epsilon: &OrAuto<f64>) -> Value {
    epsilon.given().map_or_else(|| text(epsilon), |epsilon| json!(epsilon))
}

fn n_basis_json(n: &OrAuto<usize>) -> Value {
    n.given().map_or_else(|| text(n), |n| json!(n))
}

impl BasisExpansionArgs {
    /// The losses of classes that are given, or the usual one.
    fn losses_of_classes(&self) -> Vec<OrAuto<AnyLoss>> {
        let given: Vec<OrAuto<AnyLoss>> = self.loss.iter().filter_map(|loss| loss.of_classes).collect();
        if given.is_empty() { vec![OrAuto::Auto] } else { given }
    }

    /// The same of numbers.
    fn losses_of_numbers(&self) -> Vec<&'static str> {
        self.loss.iter().filter_map(|loss| loss.of_numbers).collect()
    }

    /// Every combination of the alternatives of `--similarity`.
    fn specs(&self) -> Vec<Specs> {
        // Each flag multiplies what there is by its alternatives.
        let specs = self.similarity.iter().fold(vec![Specs(Vec::new())], |before, given| {
            let with = |specs: &Specs, spec: &str| Specs([&specs.0[..], &[spec.to_owned()]].concat());
            before.iter().flat_map(|specs| given.split('|').map(|spec| with(specs, spec))).collect()
        });
        // A single `auto` is a search, which is not a spec.
        specs.into_iter().map(|specs| if specs.0 == ["auto"] { Specs(Vec::new()) } else { specs }).collect()
    }
}

impl Method for BasisExpansionArgs {
    const NAME: &'static str = "basis-expansion";
    const REGRESSES: bool = true;
    type Params = Settings;

    fn axes(&self) -> Vec<Axis<Settings>> {
        let alternatives = self.similarity.iter().map(|given| given.split('|').count());
        let similarity =
            Axis::new("similarity", &self.specs(), specs_json, |s: Settings, specs| Settings { specs, ..s });
        let n_basis = Axis::new("n_basis", &self.n_basis, n_basis_json, |s: Settings, n_basis| {
            let s = Settings { n_basis, ..s };
            match n_basis {
                OrAuto::Auto => s,
                OrAuto::Given(n) => s.with(|p| p.n_basis(n)),
            }
        });
        let normalization = Axis::new("normalization", &self.normalization, text, |s: Settings, normalization| {
            let s = Settings { normalization, ..s };
            match normalization {
                OrAuto::Auto => s,
                OrAuto::Given(given) => s.with(|p| p.normalization(given)),
            }
        });
        let loss = Axis::new("loss", &self.losses_of_classes(), text, |s: Settings, loss| {
            let s = Settings { loss, ..s };
            match loss {
                OrAuto::Auto => s,
                OrAuto::Given(given) => s.with(|p| p.loss(given)),
            }
        });
        vec![
            Axis { n_given: alternatives.max().unwrap_or(1), ..similarity },
            Axis::new("C", &self.c, c_json, |s: Settings, c| s.with(|p| p.c(c))),
            Axis { head: "bases", ..n_basis },
            Axis::new("basis", &self.basis, text, |s: Settings, basis| s.with(|p| p.basis(basis))),
            normalization,
            Axis { n_given: self.loss.len(), ..loss },
            Axis::new("penalty", &self.penalty, text, |s: Settings, penalty| s.with(|p| p.penalty(penalty))),
            Axis::new("intercept", &self.intercept, text, |s: Settings, i| s.with(|p| p.intercept(i))),
        ]
    }

    fn params(&self, common: &Common, _: Option<u64>) -> Settings {
        let params = BasisExpansionParams::new(AdditiveKernel::Chi2)
            .max_basis(self.max_basis)
            .class_weight(self.class_weight.weights())
            .tol(self.tol)
            .seed(common.seed)
            .threads(common.threads);
        let params = match self.max_iter {
            Some(max_iter) => params.max_iter(max_iter),
            None => params,
        };
        let (normalization, n_basis, loss) = (OrAuto::Auto, OrAuto::Auto, OrAuto::Auto);
        Settings { specs: Specs(Vec::new()), normalization, n_basis, loss, params }
    }

    fn json(&self) -> Value {
        json!({ "class_weight": self.class_weight.json(), "tol": self.tol, "max_iter": self.max_iter })
    }

    fn check(settings: &Settings) -> std::result::Result<(), Failure> {
        let specs = &settings.specs.0;
        if specs.is_empty() {
            return Ok(settings.params.check()?);
        }
        check_specs(specs)?;
        Ok(settings.params.clone().with_similarity(AnySimilarity::new(specs)?).check()?)
    }

    fn regressions(&self, common: &Common, _: Option<u64>) -> std::result::Result<Vec<Point<Regression>>, Failure> {
        Regression::check(&[
            ("--loss", self.loss.iter().any(|loss| loss.of_numbers.is_none())),
            ("--penalty", self.penalty != [Penalty::default()]),
            ("--max-basis", self.max_basis.is_some()),
            ("--class-weight", self.class_weight.is_given()),
        ])?;
        self.check_no_shrinkage("--task regression")?;
        type Chosen = RegressionSettings;
        let n_basis = Axis::new("n_basis", &self.n_basis, n_basis_json, |s: Chosen, n| match n {
            OrAuto::Auto => s,
            OrAuto::Given(n) => s.with(|p| p.n_basis(n)),
        });
        let mut axes = vec![
            Axis::new("similarity", &self.specs(), specs_json, |s: Chosen, specs| Chosen { specs, ..s }),
            Axis::new("C", &self.c, c_json, |s: Chosen, c| s.with(|p| p.c(c))),
            Axis { head: "bases", ..n_basis },
            Axis::new("basis", &self.basis, text, |s: Chosen, basis| s.with(|p| p.basis(basis))),
            Axis::new("normalization", &self.normalization, text, |s: Chosen, normalization| Chosen {
                normalization,
                ..s
            }),
            Axis::new("intercept", &self.intercept, text, |s: Chosen, intercept| {
                s.with(|p| p.intercept(intercept == Intercept::Free))
            }),
        ];
        let params = BasisExpansionRegressorParams::new(AdditiveKernel::Chi2).seed(common.seed).threads(common.threads);
        // Those that are not given are no columns of a table.
        if !self.loss.is_empty() {
            let losses = self.losses_of_numbers();
            axes.push(Axis::new("loss", &losses, text, |s: Chosen, loss| Chosen { loss, ..s }));
        }
        if !self.epsilon.is_empty() {
            axes.push(Axis::new("epsilon", &self.epsilon, epsilon_json, |s: Chosen, epsilon| Chosen {
                epsilon: epsilon.given(),
                ..s
            }));
        }
        if !self.quantile.is_empty() {
            axes.push(Axis::new(
                "quantile",
                &self.quantile,
                |q| json!(q),
                |s: Chosen, quantile| Chosen { quantile: Some(quantile), ..s },
            ));
        }
        let params = RegressionSettings {
            specs: Specs(Vec::new()),
            normalization: OrAuto::Auto,
            loss: RegressionLoss::default().name(),
            epsilon: None,
            quantile: None,
            params,
        };
        let json = json!({ "task": "regression", "seed": common.seed });
        let points = grid(Point { params, json, cells: Vec::new() }, &axes).into_iter();
        let fits = points.map(|Point { params, json, cells }| Ok(Point { params: params.regression()?, json, cells }));
        fits.collect()
    }

    fn one_class(&self, common: &Common) -> std::result::Result<Point<OneClassFit>, Failure> {
        OneClassFit::check(&[
            ("-C", self.c != [CChoice::Auto]),
            ("--loss", !self.loss.is_empty()),
            ("--epsilon", !self.epsilon.is_empty()),
            ("--penalty", self.penalty != [Penalty::default()]),
            ("--max-basis", self.max_basis.is_some()),
            ("--intercept", self.intercept != [Intercept::Free]),
            ("--class-weight", self.class_weight.is_given()),
        ])?;
        if self.quantile.len() > 1 {
            let failure = format!("--quantile: {} values given, `train` takes one", self.quantile.len());
            return Err(Failure::input(failure).help("give the share of outliers to be expected, such as 0.05"));
        }
        let (fit, json) = OneClassSettings {
            specs: self.specs().swap_remove(0).0,
            n_basis: self.n_basis[0].given(),
            basis: self.basis[0].clone(),
            normalization: self.normalization[0].given(),
            quantile: self.quantile.first().copied(),
            shrinkage: self.shrinkage,
        }
        .fit(common)?;
        Ok(Point { params: fit, json, cells: Vec::new() })
    }

    fn check_classes(&self) -> std::result::Result<(), Failure> {
        self.check_no_shrinkage("classes")?;
        let of_numbers = self.loss.iter().find(|loss| loss.of_classes.is_none()).and_then(|loss| loss.of_numbers);
        let of_numbers = of_numbers.map(|name| format!("--loss {name}"));
        let epsilon = (!self.epsilon.is_empty()).then(|| "--epsilon".to_owned());
        let quantile = (!self.quantile.is_empty()).then(|| "--quantile".to_owned());
        match of_numbers.or(epsilon).or(quantile) {
            Some(flag) => Err(Failure::input(format!("{flag} is of numbers, and not of classes"))
                .help("add --task regression to predict numbers, or leave it out")),
            None => Ok(()),
        }
    }

    fn fit(settings: &Settings, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => {
                let view = samples.view()?;
                let (params, note) = settings.chosen(&view, labels, weights, monitor)?;
                params.fit_with(&view, labels, weights, monitor)?.with_notes(note)
            }
            Data::Store(store, resources) => {
                let (params, note) = settings.chosen(store, labels, None, monitor)?;
                params.fit_blocks(store, labels, None, resources, monitor)?.with_notes(note)
            }
        }))
    }
}
