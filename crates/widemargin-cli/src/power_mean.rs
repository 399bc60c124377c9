//! Command-line options of the power mean SVM.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::expansion::Approximation;
use widemargin::model::PowerMeanParams;
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::dual::Engine;

use crate::args::Common;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Data, Method, text};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::rows;

/// Parameters of the method. Options that can be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct PowerMeanArgs {
    /// Exponent of the power mean kernel, from -inf to 0: -1 is chi-squared, 0 Hellinger, -inf intersection
    /// [default: -1]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_parser = power_mean, value_name = "P")]
    p: Vec<AdditiveKernel>,
    /// Kernel by name: chi2, hellinger, intersection, jensen-shannon, power-mean:p=NUMBER
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    kernel: Vec<AdditiveKernel>,
    /// Weight of the losses
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "0.01", value_name = "C")]
    c: Vec<f64>,
    /// Loss: squared-hinge or hinge
    #[arg(long, value_delimiter = ',', default_value = "squared-hinge")]
    loss: Vec<Loss>,
    /// Reduction of the kernel to a few numbers per feature: nystrom or polynomial
    #[arg(long, value_delimiter = ',', default_value = "nystrom", value_name = "NAME")]
    approximation: Vec<Approximation>,
    /// Numbers per feature (Nystrom nodes), 1 to 16
    #[arg(long, value_delimiter = ',', default_value = "3", value_name = "N")]
    nodes: Vec<usize>,
    /// Do not divide each feature by its largest training value
    #[arg(long)]
    no_scale: bool,
    #[command(flatten)]
    class_weight: ClassWeightArg,
    /// Relative duality gap at which to stop
    #[arg(long, default_value_t = 0.01, allow_hyphen_values = true)]
    tol: f64,
    /// Maximum number of passes over the samples
    #[arg(long, default_value_t = 1000, value_name = "N")]
    max_iter: u32,
    /// Visit every sample in every pass (no shrinking)
    #[arg(long)]
    no_shrinking: bool,
    /// Implementation of the solver; affects speed only
    #[arg(long, value_enum, default_value_t = Solver::Auto)]
    solver: Solver,
}

/// The kernel where none is named: chi-squared.
const DEFAULT: AdditiveKernel = AdditiveKernel::PowerMean { p: -1.0 };

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Solver {
    Auto,
    Batched,
    OneClass,
}

impl Method for PowerMeanArgs {
    const NAME: &'static str = "power-mean";
    type Params = PowerMeanParams;

    fn axes(&self) -> Vec<Axis<PowerMeanParams>> {
        let mut kernels: Vec<_> = self.p.iter().chain(&self.kernel).copied().collect();
        if kernels.is_empty() {
            kernels.push(DEFAULT);
        }
        let kernels = Axis::new("kernel", &kernels, text, PowerMeanParams::kernel);
        let nodes = Axis::new("n_nodes", &self.nodes, |n| json!(n), PowerMeanParams::n_nodes);
        vec![
            Axis { flag: "--p and --kernel".into(), ..kernels },
            Axis::new("C", &self.c, |c| json!(c), PowerMeanParams::c),
            Axis::new("loss", &self.loss, text, PowerMeanParams::loss),
            Axis::new("approximation", &self.approximation, text, PowerMeanParams::approximation),
            Axis { flag: "--nodes".into(), head: "nodes", ..nodes },
        ]
    }

    fn params(&self, common: &Common, _: Option<u64>) -> PowerMeanParams {
        let engine = match self.solver {
            Solver::Auto => Engine::Auto,
            Solver::Batched => Engine::Batched,
            Solver::OneClass => Engine::OneClass,
        };
        PowerMeanParams::new(DEFAULT)
            .scale(!self.no_scale)
            .class_weight(self.class_weight.weights())
            .tol(self.tol)
            .max_epochs(self.max_iter)
            .shrinking(!self.no_shrinking)
            .engine(engine)
            .seed(common.seed)
            .threads(common.threads)
    }

    fn json(&self) -> Value {
        json!({
            "scale": !self.no_scale,
            "class_weight": self.class_weight.json(),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "shrinking": !self.no_shrinking,
        })
    }

    fn check(params: &PowerMeanParams) -> std::result::Result<(), Failure> {
        Ok(params.check()?)
    }

    fn fit(params: &PowerMeanParams, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        Ok(Box::new(match data {
            Data::Samples(samples) => params.fit_with(&rows(samples)?, labels, None, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, labels, None, resources, monitor)?,
        }))
    }
}

fn power_mean(text: &str) -> std::result::Result<AdditiveKernel, String> {
    let p = text.parse().map_err(|_| "not a number".to_owned())?;
    AdditiveKernel::power_mean(p).map_err(|error| match error {
        widemargin::Error::Parameter { expected, .. } => expected,
        error => error.to_string(),
    })
}
