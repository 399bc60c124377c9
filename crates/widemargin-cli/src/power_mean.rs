//! Command-line options of the power mean SVM.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::expansion::Approximation;
use widemargin::model::{CChoice, PowerMeanParams};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::{AdditiveKernel, ScalarKernel};

use crate::args::Common;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Method, c_json, text};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::rows;
use crate::training_data::Data;

/// Parameters of the method. Options that can be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct PowerMeanArgs {
    /// Kernel: chi2, hellinger, intersection or jensen-shannon; the exponent of a power mean, from -inf to 0 (-1 is
    /// chi-squared, 0 Hellinger, -inf intersection); or auto, the first exponent of -1, -0.5, -2, 0, -4, -8 and -inf whose
    /// leave-one-out loss is near the least (on 500 samples if there are more)
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, default_value = "auto", value_name = "KERNEL")]
    kernel: Vec<KernelOrAuto>,
    /// Weight of the losses: a number, or auto, the smallest whose leave-one-out loss is next to the least (on 1000 samples
    /// if there are more). With the hinge or the polynomial nothing is chosen: C is 0.01, p -1, and there are three nodes
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "auto", value_name = "C")]
    c: Vec<CChoice>,
    /// Loss: squared-hinge or hinge
    #[arg(long, value_delimiter = ',', default_value = "squared-hinge")]
    loss: Vec<Loss>,
    /// Reduction of the kernel to a few numbers per feature: nystroem or polynomial
    #[arg(long, value_delimiter = ',', default_value = "nystroem", value_name = "NAME")]
    approximation: Vec<Approximation>,
    /// Numbers per feature (nodes), 1 to 16, or the nodes themselves, such as 0.01:0.06:0.75; the polynomial has one
    /// more than its degree. auto takes as few as lose nothing of the kernel's leave-one-out loss
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "N")]
    nodes: Vec<Nodes>,
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
}

/// The kernel until that of the option is set.
const DEFAULT: AdditiveKernel = AdditiveKernel::PowerMean { p: -1.0 };

/// A kernel, or the choice among power means.
#[derive(Clone, Debug)]
enum KernelOrAuto {
    Auto,
    Kernel(ScalarKernel),
}

impl FromStr for KernelOrAuto {
    type Err = widemargin::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse::<f64>() {
            _ if text == "auto" => Ok(KernelOrAuto::Auto),
            Ok(p) => Ok(KernelOrAuto::Kernel(AdditiveKernel::power_mean(p)?.into())),
            Err(_) => Ok(KernelOrAuto::Kernel(text.parse()?)),
        }
    }
}

impl fmt::Display for KernelOrAuto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelOrAuto::Auto => f.write_str("auto"),
            KernelOrAuto::Kernel(kernel) => kernel.fmt(f),
        }
    }
}

impl KernelOrAuto {
    fn set(params: PowerMeanParams, kernel: KernelOrAuto) -> PowerMeanParams {
        match kernel {
            KernelOrAuto::Auto => params.choose_p(),
            KernelOrAuto::Kernel(kernel) => params.kernel(kernel),
        }
    }
}

/// How many nodes, or which.
#[derive(Clone, Debug)]
enum Nodes {
    Auto,
    Number(usize),
    At(Vec<f64>),
}

impl FromStr for Nodes {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Nodes::Auto);
        }
        if let Ok(number) = text.parse() {
            return Ok(Nodes::Number(number));
        }
        let nodes: Vec<f64> = text.split(':').map_while(|node| node.parse().ok()).collect();
        if nodes.len() == text.split(':').count() {
            return Ok(Nodes::At(nodes));
        }
        Err("auto, a number of nodes, such as 3, or nodes with colons between them, such as 0.01:0.06:0.75")
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nodes::Auto => f.write_str("auto"),
            Nodes::Number(number) => write!(f, "{number}"),
            Nodes::At(nodes) => write!(f, "{}", nodes.iter().map(f64::to_string).collect::<Vec<_>>().join(":")),
        }
    }
}

impl Nodes {
    fn json(&self) -> Value {
        match self {
            Nodes::Auto => json!("auto"),
            Nodes::Number(number) => json!(number),
            Nodes::At(nodes) => json!(nodes),
        }
    }

    fn set(params: PowerMeanParams, nodes: Nodes) -> PowerMeanParams {
        match nodes {
            Nodes::Auto => params.choose_n_nodes(),
            Nodes::Number(number) => params.n_nodes(number),
            Nodes::At(nodes) => params.nodes(nodes),
        }
    }
}

impl Method for PowerMeanArgs {
    const NAME: &'static str = "power-mean";
    type Params = PowerMeanParams;

    fn axes(&self) -> Vec<Axis<PowerMeanParams>> {
        let nodes = Axis::new("n_nodes", &self.nodes, Nodes::json, Nodes::set);
        vec![
            Axis::new("kernel", &self.kernel, text, KernelOrAuto::set),
            Axis::new("C", &self.c, c_json, PowerMeanParams::c),
            Axis::new("loss", &self.loss, text, PowerMeanParams::loss),
            Axis::new("approximation", &self.approximation, text, PowerMeanParams::approximation),
            Axis { flag: "--nodes".into(), head: "nodes", ..nodes },
        ]
    }

    fn params(&self, common: &Common, _: Option<u64>) -> PowerMeanParams {
        PowerMeanParams::new(DEFAULT)
            .scale(!self.no_scale)
            .class_weight(self.class_weight.weights())
            .tol(self.tol)
            .max_epochs(self.max_iter)
            .seed(common.seed)
            .threads(common.threads)
    }

    fn json(&self) -> Value {
        json!({
            "scale": !self.no_scale,
            "class_weight": self.class_weight.json(),
            "tol": self.tol,
            "max_iter": self.max_iter,
        })
    }

    fn check(params: &PowerMeanParams) -> std::result::Result<(), Failure> {
        Ok(params.check()?)
    }

    fn fit(params: &PowerMeanParams, data: Data<'_>, labels: &Labels, monitor: &Monitor<'_>) -> Result<Model> {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, labels, None, resources, monitor)?,
        }))
    }
}
