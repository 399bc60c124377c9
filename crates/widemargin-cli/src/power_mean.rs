//! Command-line options of the power mean SVM.

use clap::{Args, ValueEnum};
use serde_json::json;
use widemargin::data::{ClassWeight, Labels};
use widemargin::expansion::Approximation;
use widemargin::model::PowerMeanParams;
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::dual::Engine;
use widemargin_io::Samples;

use crate::args::Common;
use crate::class_weight::{class_weight, class_weight_json};
use crate::method::{FitBlocks, Method, Point};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::with_rows;

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
    /// Class weights: `balanced`, or LABEL:WEIGHT,... with 1 for classes not listed
    #[arg(long, value_parser = class_weight, value_name = "WEIGHTS")]
    class_weight: Option<ClassWeight>,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Solver {
    Auto,
    Batched,
    OneClass,
}

impl Method for PowerMeanArgs {
    const NAME: &'static str = "power-mean";
    const HEADS: &'static [&'static str] = &["kernel", "C", "loss", "approximation", "nodes"];

    fn lists(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("--p and --kernel", self.p.len() + self.kernel.len()),
            ("-C", self.c.len()),
            ("--loss", self.loss.len()),
            ("--approximation", self.approximation.len()),
            ("--nodes", self.nodes.len()),
        ]
    }

    fn grid(&self, common: &Common, _: Option<u64>) -> Result<Vec<Point>, Failure> {
        let mut kernels: Vec<_> = self.p.iter().chain(&self.kernel).copied().collect();
        if kernels.is_empty() {
            kernels.push(AdditiveKernel::PowerMean { p: -1.0 });
        }
        let mut points = Vec::new();
        for &kernel in &kernels {
            for &loss in &self.loss {
                for &approximation in &self.approximation {
                    for &nodes in &self.nodes {
                        for &c in &self.c {
                            points.push(self.point(common, kernel, loss, approximation, nodes, c)?);
                        }
                    }
                }
            }
        }
        Ok(points)
    }
}

impl PowerMeanArgs {
    fn point(
        &self,
        common: &Common,
        kernel: AdditiveKernel,
        loss: Loss,
        approximation: Approximation,
        nodes: usize,
        c: f64,
    ) -> Result<Point, Failure> {
        let engine = match self.solver {
            Solver::Auto => Engine::Auto,
            Solver::Batched => Engine::Batched,
            Solver::OneClass => Engine::OneClass,
        };
        let params = PowerMeanParams::new(kernel)
            .c(c)
            .loss(loss)
            .approximation(approximation)
            .n_nodes(nodes)
            .scale(!self.no_scale)
            .class_weight(self.class_weight.clone().unwrap_or_default())
            .tol(self.tol)
            .max_epochs(self.max_iter)
            .shrinking(!self.no_shrinking)
            .engine(engine)
            .seed(common.seed)
            .threads(common.threads);
        params.check()?;
        let json = json!({
            "kernel": kernel.to_string(),
            "C": c,
            "loss": loss.to_string(),
            "approximation": approximation.to_string(),
            "n_nodes": nodes,
            "scale": !self.no_scale,
            "class_weight": class_weight_json(self.class_weight.as_ref()),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "shrinking": !self.no_shrinking,
            "seed": common.seed,
        });
        let cells =
            vec![kernel.to_string(), c.to_string(), loss.to_string(), approximation.to_string(), nodes.to_string()];
        let in_blocks = params.clone();
        let blocks: Box<FitBlocks> = Box::new(move |store, labels, resources, monitor| {
            let params = in_blocks.clone();
            params.fit_blocks(store, labels, None, resources, monitor).map(Model::PowerMean)
        });
        let fit = Box::new(move |samples: &Samples, labels: &Labels, monitor: &Monitor<'_>| {
            with_rows!(samples, |view| params.fit_with(&view, labels, None, monitor)).map(Model::PowerMean)
        });
        Ok(Point { fit, fit_blocks: Some(blocks), json, cells })
    }
}

fn power_mean(text: &str) -> Result<AdditiveKernel, String> {
    let p = text.parse().map_err(|_| "not a number".to_owned())?;
    AdditiveKernel::power_mean(p).map_err(|error| match error {
        widemargin::Error::Parameter { expected, .. } => expected,
        error => error.to_string(),
    })
}
