//! A fit with nothing given: which method, and all its parameters.

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::monitor::Monitor;
use widemargin::select::{AutoMethod, AutoParams, Scoring};

use crate::args::Common;
use crate::basis_expansion::BasisExpansionArgs;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Method, Point};
use crate::model::Model;
use crate::one_class::OneClassFit;
use crate::report::Failure;
use crate::task::Regression;
use crate::training_data::Data;

/// What may be said about a fit that chooses by itself.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct AutoArgs {
    /// Methods to compare: basis-expansion, thin-plate, power-mean [default: all that take the samples]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    methods: Vec<AutoMethod>,
    /// The score by which methods are compared, of samples that no fit saw: accuracy, balanced-accuracy, f1-macro, roc-auc,
    /// average-precision, neg-log-loss, neg-brier-score [default: the mean leave-one-out squared hinge, least first]
    #[arg(long, value_name = "NAME")]
    scoring: Option<Scoring>,
    #[command(flatten)]
    class_weight: ClassWeightArg,
}

impl Method for AutoArgs {
    const NAME: &'static str = "auto";
    const REGRESSES: bool = true;
    type Params = AutoParams;

    fn axes(&self) -> Vec<Axis<AutoParams>> {
        Vec::new()
    }

    fn params(&self, common: &Common, _: Option<u64>) -> AutoParams {
        let methods = if self.methods.is_empty() { AutoMethod::ALL.to_vec() } else { self.methods.clone() };
        let class_weight = self.class_weight.weights();
        AutoParams { methods, scoring: self.scoring, class_weight, seed: common.seed, threads: common.threads }
    }

    fn json(&self) -> Value {
        let methods: Vec<String> = self.methods.iter().map(ToString::to_string).collect();
        let methods = if methods.is_empty() { "auto".into() } else { json!(methods) };
        let scoring = self.scoring.map(|scoring| scoring.to_string());
        json!({ "methods": methods, "scoring": scoring, "class_weight": self.class_weight.json() })
    }

    fn check(_: &AutoParams) -> std::result::Result<(), Failure> {
        Ok(())
    }

    fn regressions(
        &self,
        common: &Common,
        memory: Option<u64>,
    ) -> std::result::Result<Vec<Point<Regression>>, Failure> {
        Regression::check(&[
            ("--methods", !self.methods.is_empty()),
            ("--scoring", self.scoring.is_some()),
            ("--class-weight", self.class_weight.is_given()),
        ])?;
        // A basis expansion takes any samples, with nothing to choose.
        BasisExpansionArgs::usual().regressions(common, memory)
    }

    fn one_class(&self, common: &Common) -> std::result::Result<Point<OneClassFit>, Failure> {
        OneClassFit::check(&[
            ("--methods", !self.methods.is_empty()),
            ("--scoring", self.scoring.is_some()),
            ("--class-weight", self.class_weight.is_given()),
        ])?;
        BasisExpansionArgs::usual().one_class(common)
    }

    fn fit(params: &AutoParams, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        let found = match data {
            Data::Samples(samples, weights) => params.fit_with(&samples.view()?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, labels, None, resources, monitor)?,
        };
        Ok(found.model)
    }
}
