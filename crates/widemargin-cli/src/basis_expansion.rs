//! The flags of the basis expansion SVM, and the parameters they stand for.

use clap::{ArgAction, Args};
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::basis::BasisChoice;
use widemargin::data::{ClassWeight, Labels, Resources};
use widemargin::expansion::Normalization;
use widemargin::model::BasisExpansionParams;
use widemargin::monitor::Monitor;
use widemargin::problem::{AnyLoss, Intercept};
use widemargin::similarity::AnySimilarity;
use widemargin_io::{Samples, Store};

use crate::args::Common;
use crate::class_weight::{class_weight, class_weight_json};
use crate::method::{Method, Point};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::{check_specs, default_similarity, with_names, with_source};

const SIMILARITY: &str = "Similarity, such as rbf:gamma=1, dtw:window=0.1 or hog:cell=4/rigid:radius=2; given several times, they stand \
     side by side. In `cv`, `|` separates alternatives. [default: by what the samples are: rbf for vectors, \
     hog:cell=8/rbf:gamma=1 for images, dtw:window=0.1 for series, edit for strings]";

/// Parameters of the method. Those that may be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct BasisExpansionArgs {
    #[arg(long, action = ArgAction::Append, value_name = "SPEC", help = SIMILARITY, long_help = with_names(SIMILARITY))]
    similarity: Vec<String>,
    /// Number of bases [default: 1000, or all samples where they are fewer]
    #[arg(long, value_delimiter = ',', value_name = "N")]
    n_basis: Vec<usize>,
    /// How bases are chosen: index (evenly spaced in each class), random, stratified, kmedoids
    #[arg(long, value_delimiter = ',', default_value = "index", value_name = "NAME")]
    basis: Vec<BasisChoice>,
    /// What is done to the similarities: mean-norm, z-score, none, nystrom-clip, nystrom-flip, nystrom-shift,
    /// nystrom-square, and nystrom-symmetric-clip ... where the similarity is not symmetric
    #[arg(long, value_delimiter = ',', default_value = "mean-norm", value_name = "NAME")]
    normalization: Vec<Normalization>,
    /// Weight of the losses
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "1", value_name = "C")]
    c: Vec<f64>,
    /// Loss: hinge, squared-hinge or logistic
    #[arg(long, value_delimiter = ',', default_value = "squared-hinge", value_name = "NAME")]
    loss: Vec<AnyLoss>,
    /// A constant in the decision function: free, penalised (as a feature that is always 1; so is free under hinge)
    /// or none
    #[arg(long, value_delimiter = ',', default_value = "free", value_name = "NAME")]
    intercept: Vec<Intercept>,
    /// How much the classes count: `balanced`, or LABEL:WEIGHT,... with 1 for those not named
    #[arg(long, value_parser = class_weight, value_name = "WEIGHTS")]
    class_weight: Option<ClassWeight>,
    /// Relative duality gap at which to stop
    #[arg(long, default_value_t = 1e-3, allow_hyphen_values = true)]
    tol: f64,
    /// Most Newton steps, under hinge passes over the samples [default: 100; 1000 under hinge]
    #[arg(long, value_name = "N")]
    max_iter: Option<u32>,
}

/// Bases where their number is not given and there are as many samples, as the library has it.
const USUAL_BASES: usize = 1000;

/// One choice of what may be searched.
#[derive(Clone, Debug)]
struct Choice {
    similarity: Vec<String>,
    n_basis: Option<usize>,
    basis: BasisChoice,
    normalization: Normalization,
    c: f64,
    loss: AnyLoss,
    intercept: Intercept,
}

impl Method for BasisExpansionArgs {
    const NAME: &'static str = "basis-expansion";
    const HEADS: &'static [&'static str] = &["similarity", "C", "bases", "basis", "normalization", "loss", "intercept"];

    fn lists(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("--similarity", self.similarity.iter().map(|given| given.split('|').count()).max().unwrap_or(1)),
            ("--n-basis", self.n_basis.len().max(1)),
            ("--basis", self.basis.len()),
            ("--normalization", self.normalization.len()),
            ("-C", self.c.len()),
            ("--loss", self.loss.len()),
            ("--intercept", self.intercept.len()),
        ]
    }

    fn grid(&self, common: &Common, _: Option<u64>) -> Result<Vec<Point>, Failure> {
        let first = Choice {
            similarity: Vec::new(),
            n_basis: None,
            basis: self.basis[0].clone(),
            normalization: self.normalization[0],
            c: self.c[0],
            loss: self.loss[0],
            intercept: self.intercept[0],
        };
        // Each flag multiplies what there is by its values.
        let mut choices = vec![first];
        for given in &self.similarity {
            let alternatives: Vec<String> = given.split('|').map(str::to_owned).collect();
            choices = product(&choices, &alternatives, |choice, spec| choice.similarity.push(spec.clone()));
        }
        if !self.n_basis.is_empty() {
            choices = product(&choices, &self.n_basis, |choice, n| choice.n_basis = Some(*n));
        }
        choices = product(&choices, &self.basis, |choice, basis| choice.basis = basis.clone());
        choices = product(&choices, &self.normalization, |choice, n| choice.normalization = *n);
        choices = product(&choices, &self.loss, |choice, loss| choice.loss = *loss);
        choices = product(&choices, &self.intercept, |choice, intercept| choice.intercept = *intercept);
        choices = product(&choices, &self.c, |choice, c| choice.c = *c);
        choices.into_iter().map(|choice| self.point(common, choice)).collect()
    }
}

fn product<T>(choices: &[Choice], values: &[T], set: impl Fn(&mut Choice, &T)) -> Vec<Choice> {
    let with = |choice: &Choice, value: &T| {
        let mut choice = choice.clone();
        set(&mut choice, value);
        choice
    };
    choices.iter().flat_map(|choice| values.iter().map(|value| with(choice, value)).collect::<Vec<_>>()).collect()
}

impl BasisExpansionArgs {
    fn point(&self, common: &Common, choice: Choice) -> Result<Point, Failure> {
        let settings = Settings {
            choice: choice.clone(),
            class_weight: self.class_weight.clone().unwrap_or_default(),
            tol: self.tol,
            max_iter: self.max_iter,
            seed: common.seed,
            threads: common.threads,
        };
        // What can be wrong with the flags is told before any file is read.
        let trial = if choice.similarity.is_empty() { vec!["rbf".to_owned()] } else { choice.similarity.clone() };
        check_specs(&trial)?;
        settings.params(&trial)?.check()?;
        let similarity: Value =
            if choice.similarity.is_empty() { Value::Null } else { choice.similarity.clone().into() };
        let json = json!({
            "similarity": similarity,
            "n_basis": choice.n_basis.unwrap_or(USUAL_BASES),
            "basis": choice.basis.to_string(),
            "normalization": choice.normalization.to_string(),
            "C": choice.c,
            "loss": choice.loss.to_string(),
            "intercept": choice.intercept.to_string(),
            "class_weight": class_weight_json(self.class_weight.as_ref()),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "seed": common.seed,
        });
        let name = if choice.similarity.is_empty() { "default".to_owned() } else { choice.similarity.join(" ") };
        let cells = vec![
            name,
            choice.c.to_string(),
            choice.n_basis.unwrap_or(USUAL_BASES).to_string(),
            choice.basis.to_string(),
            choice.normalization.to_string(),
            choice.loss.to_string(),
            choice.intercept.to_string(),
        ];
        let in_blocks = settings.clone();
        Ok(Point {
            fit: Box::new(move |samples, labels, monitor| settings.fit(samples, labels, monitor)),
            fit_blocks: Some(Box::new(move |store, labels, resources, monitor| {
                in_blocks.fit_blocks(store, labels, resources, monitor)
            })),
            json,
            cells,
        })
    }
}

/// All that a fit needs but the samples.
#[derive(Clone)]
struct Settings {
    choice: Choice,
    class_weight: ClassWeight,
    tol: f64,
    max_iter: Option<u32>,
    seed: u64,
    threads: usize,
}

impl Settings {
    fn params(&self, specs: &[String]) -> Result<BasisExpansionParams<AnySimilarity>> {
        let params = BasisExpansionParams::new(AnySimilarity::new(specs)?)
            .basis(self.choice.basis.clone())
            .normalization(self.choice.normalization)
            .c(self.choice.c)
            .loss(self.choice.loss)
            .intercept(self.choice.intercept)
            .class_weight(self.class_weight.clone())
            .tol(self.tol)
            .seed(self.seed)
            .threads(self.threads);
        let params = match self.choice.n_basis {
            Some(n_basis) => params.n_basis(n_basis),
            None => params,
        };
        Ok(match self.max_iter {
            Some(max_iter) => params.max_iter(max_iter),
            None => params,
        })
    }

    /// On samples that stay on the disk: vectors.
    fn fit_blocks(
        &self,
        store: &Store,
        labels: &Labels,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Model> {
        let default = ["rbf".to_owned()];
        let specs = if self.choice.similarity.is_empty() { &default[..] } else { &self.choice.similarity };
        let model = self.params(specs)?.fit_blocks(store, labels, None, resources, monitor)?;
        Ok(Model::BasisExpansion(model))
    }

    fn fit(&self, samples: &Samples, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        let default = [default_similarity(samples).to_owned()];
        let specs = if self.choice.similarity.is_empty() { &default[..] } else { &self.choice.similarity };
        let params = self.params(specs)?;
        let model = with_source!(samples, |source| params.fit_with(source, labels, None, monitor))?;
        Ok(Model::BasisExpansion(model))
    }
}
