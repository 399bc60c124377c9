//! Command-line options of the basis expansion SVM.

use std::fmt;

use clap::{ArgAction, Args};
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, Labels, Source};
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionParams, CChoice};
use widemargin::monitor::Monitor;
use widemargin::problem::{AnyLoss, Intercept, Penalty};
use widemargin::select::SimilaritySearch;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::args::Common;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Data, Method, c_json, text};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::{FOR_VECTORS, check_specs, default_similarity, with_names};

const SIMILARITY: &str = "Similarity, such as rbf:gamma=1, dtw:window=0.1 or hog:cell=4/rigid:radius=2; may be given several times to \
     combine similarities. In `cv`, `|` separates alternatives. auto compares candidates for the kind of samples, with \
    the normalization of each, by leave-one-out on at most 1000 samples. [default: by the kind of samples: rbf for vectors, \
     hog:cell=8/rbf:gamma=1 for images, dtw:window=0.1 for series, edit for strings]";

/// Parameters of the method. Options that can be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct BasisExpansionArgs {
    #[arg(long, action = ArgAction::Append, value_name = "SPEC", help = SIMILARITY, long_help = with_names(SIMILARITY))]
    similarity: Vec<String>,
    /// Number of bases [default: 1000, or all samples if there are fewer]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    n_basis: Vec<usize>,
    /// Selection of the bases: index (evenly spaced in each class), every (evenly spaced in all samples), random,
    /// stratified, kmedoids
    #[arg(long, value_delimiter = ',', default_value = "index", value_name = "NAME")]
    basis: Vec<BasisChoice>,
    /// Normalization of the similarities: mean-norm, z-score, covariance, none, nystrom-clip, nystrom-flip, nystrom-shift,
    /// nystrom-square, nystrom-symmetric-clip ... for asymmetric similarities, or centered-clip, centered-flip,
    /// centered-shift for conditionally positive definite ones, such as minus a distance
    #[arg(long, value_delimiter = ',', default_value = "mean-norm", value_name = "NAME")]
    normalization: Vec<Normalization>,
    /// Weight of the losses: a number, or auto, which minimises the leave-one-out loss on a path of values (of 4000
    /// samples if there are more)
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "1", value_name = "C")]
    c: Vec<CChoice>,
    /// Loss: hinge, squared-hinge or logistic
    #[arg(long, value_delimiter = ',', default_value = "squared-hinge", value_name = "NAME")]
    loss: Vec<AnyLoss>,
    /// Penalty on the weights: l2, or l1, which keeps only the bases it needs (with the hinge: the LP machine)
    #[arg(long, value_delimiter = ',', default_value = "l2", value_name = "NAME")]
    penalty: Vec<Penalty>,
    /// Keep at most so many of the bases: those that weigh least are left out step by step
    #[arg(long, value_name = "N")]
    max_basis: Option<usize>,
    /// Intercept of the decision function: free (unpenalised), penalised (as a feature that is always 1; with the hinge
    /// loss free means penalised) or none
    #[arg(long, value_delimiter = ',', default_value = "free", value_name = "NAME")]
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

/// The default number of bases, if there are as many samples; the same as in the library.
const USUAL_BASES: usize = 1000;

/// Similarities side by side; none is the default of the samples.
#[derive(Clone)]
struct Specs(Vec<String>);

impl Specs {
    fn similarity(&self, default: &str) -> Result<AnySimilarity> {
        if self.0.is_empty() { AnySimilarity::new(&[default]) } else { AnySimilarity::new(&self.0) }
    }
}

impl fmt::Display for Specs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [] => f.write_str("default"),
            specs => f.write_str(&specs.join(" ")),
        }
    }
}

/// What a fit takes: the similarity of the parameters stands for those of the specs.
#[derive(Clone)]
pub struct Settings(Specs, Params);

type Params = BasisExpansionParams<AdditiveKernel>;

impl Settings {
    fn with(self, set: impl FnOnce(Params) -> Params) -> Self {
        Settings(self.0, set(self.1))
    }

    /// The parameters with a similarity, which `auto` chooses, with its normalization, on some of the samples.
    fn chosen(
        &self,
        default: &str,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionParams<AnySimilarity>, Option<String>)> {
        if self.0.0 != ["auto"] {
            return Ok((self.params(default)?, None));
        }
        let found = SimilaritySearch::for_params(&self.1).choose(samples, labels, None, monitor)?;
        let params = self.1.clone().with_similarity(AnySimilarity::new(&found.best.similarity)?);
        Ok((params.normalization(found.best.normalization), Some(found.told())))
    }

    fn params(&self, default: &str) -> Result<BasisExpansionParams<AnySimilarity>> {
        Ok(self.1.clone().with_similarity(self.0.similarity(default)?))
    }
}

impl Method for BasisExpansionArgs {
    const NAME: &'static str = "basis-expansion";
    type Params = Settings;

    fn axes(&self) -> Vec<Axis<Settings>> {
        let alternatives: Vec<Vec<&str>> = self.similarity.iter().map(|given| given.split('|').collect()).collect();
        // Each flag multiplies what there is by its alternatives.
        let specs = alternatives.iter().fold(vec![Specs(Vec::new())], |before, alternatives| {
            let with = |specs: &Specs, spec: &str| Specs([&specs.0[..], &[spec.to_owned()]].concat());
            before.iter().flat_map(|specs| alternatives.iter().map(|spec| with(specs, spec))).collect()
        });
        let specs_json = |specs: &Specs| if specs.0.is_empty() { Value::Null } else { json!(specs.0) };
        let similarity = Axis::new("similarity", &specs, specs_json, |s: Settings, specs| Settings(specs, s.1));
        // Where it is not given, there may be fewer samples without a word.
        let n_basis = match &self.n_basis[..] {
            [] => Axis::new("n_basis", &[USUAL_BASES], |n| json!(n), |s: Settings, _| s),
            given => Axis::new("n_basis", given, |n| json!(n), |s: Settings, n| s.with(|p| p.n_basis(n))),
        };
        vec![
            Axis { n_given: alternatives.iter().map(Vec::len).max().unwrap_or(1), ..similarity },
            Axis::new("C", &self.c, c_json, |s: Settings, c| s.with(|p| p.c(c))),
            Axis { head: "bases", ..n_basis },
            Axis::new("basis", &self.basis, text, |s: Settings, basis| s.with(|p| p.basis(basis))),
            Axis::new("normalization", &self.normalization, text, |s: Settings, n| s.with(|p| p.normalization(n))),
            Axis::new("loss", &self.loss, text, |s: Settings, loss| s.with(|p| p.loss(loss))),
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
        Settings(
            Specs(Vec::new()),
            match self.max_iter {
                Some(max_iter) => params.max_iter(max_iter),
                None => params,
            },
        )
    }

    fn json(&self) -> Value {
        json!({ "class_weight": self.class_weight.json(), "tol": self.tol, "max_iter": self.max_iter })
    }

    fn check(settings: &Settings) -> std::result::Result<(), Failure> {
        if settings.0.0 == ["auto"] {
            return Ok(settings.1.check()?);
        }
        check_specs(&settings.0.0)?;
        Ok(settings.params(FOR_VECTORS)?.check()?)
    }

    fn fit(settings: &Settings, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        Ok(Box::new(match data {
            Data::Samples(samples) => {
                let view = samples.view()?;
                let (params, note) = settings.chosen(default_similarity(samples), &view, labels, monitor)?;
                params.fit_with(&view, labels, None, monitor)?.with_notes(note)
            }
            Data::Store(store, resources) => {
                let (params, note) = settings.chosen(FOR_VECTORS, store, labels, monitor)?;
                params.fit_blocks(store, labels, None, resources, monitor)?.with_notes(note)
            }
        }))
    }
}
