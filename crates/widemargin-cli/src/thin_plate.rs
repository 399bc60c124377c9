//! Command-line options of the thin plate SVM.

use std::fmt;
use std::str::FromStr;

use clap::{ArgAction, Args};
use serde_json::{Value, json};
use widemargin::data::{Labels, Targets};
use widemargin::model::{
    CChoice, EXACT_UP_TO, Regressor, SPLINE_EXACT_UP_TO, Standardize, ThinPlateBasis, ThinPlateParams,
    ThinPlateRegressorParams,
};
use widemargin::monitor::Monitor;
use widemargin::select::RegressionScoring;
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::thin_plate::Polynomials;

use crate::args::Common;
use crate::class_weight::ClassWeightArg;
use crate::method::{Axis, Method, Point, c_json, grid, text};
use crate::model::Model;
use crate::report::Failure;
use crate::samples::rows;
use crate::task::Regression;
use crate::training_data::Data;

/// Parameters of the method. Options that can be searched hold a list.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method options")]
pub struct ThinPlateArgs {
    /// Kernel: auto (distance or cityblock, whichever has the lower leave-one-out loss on up to 1000 samples; distance
    /// where C is given), distance (-r), cityblock (-|x - y|_1), thin-plate (r^2 log r), cubic (r^3), thin-plate:order=N,
    /// polyharmonic:exponent=B, spline:order=N,dims=D, log:gamma=G, multiquadric:gamma=G; positive definite ones:
    /// rbf:gamma=G, laplacian:gamma=G, inverse-multiquadric:gamma=G
    #[arg(long, value_parser = kernels, action = ArgAction::Append, default_value = "auto", value_name = "NAME")]
    kernel: Vec<Kernels>,
    /// Weight of the losses: a number, or auto, which minimizes the leave-one-out loss on a path of values;
    /// auto-per-class selects C, and the treatment of the polynomials, for each class separately, by as many two-class
    /// fits as there are classes
    #[arg(short = 'C', value_delimiter = ',', allow_hyphen_values = true, default_value = "auto", value_name = "C")]
    c: Vec<CArg>,
    /// Treatment of the polynomials that the kernel leaves unpenalized: free, penalized, constant (keep only the
    /// constant), none, or auto: free if there are 100 samples per polynomial and they alone do not separate the data,
    /// otherwise penalized or constant, whichever has the lower leave-one-out loss (on bases and under a time limit
    /// penalized)
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "NAME")]
    polynomials: Vec<Polynomials>,
    /// Number of bases, or none for the exact solver; auto is none for up to 5,000 samples of two classes (2,300 of ten),
    /// otherwise 1000
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, default_value = "auto", value_name = "N")]
    n_basis: Vec<BasisSize>,
    /// Selection of the bases: index (the first samples), random, kmeans, kmedoids
    #[arg(long, value_delimiter = ',', default_value = "kmeans", value_name = "NAME")]
    basis: Vec<ThinPlateBasis>,
    /// Divide each column by its standard deviation: yes, no, or auto: if C is auto and the columns' spreads differ by
    /// more than a factor of 3, try both on up to 1000 samples and use the one with the lower leave-one-out loss
    #[arg(long, value_delimiter = ',', default_value = "auto", value_name = "WHEN")]
    standardize: Vec<Standardize>,
    #[command(flatten)]
    class_weight: ClassWeightArg,
    /// Largest violation of the optimality conditions, in units of the margin, at which to stop
    #[arg(long, default_value_t = 1e-10, allow_hyphen_values = true)]
    tol: f64,
    /// Maximum number of Newton steps per class and C
    #[arg(long, default_value_t = 100, value_name = "N")]
    max_iter: u32,
}

/// C: one for all classes, or one selected for each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CArg {
    Shared(CChoice),
    AutoPerClass,
}

impl FromStr for CArg {
    type Err = widemargin::Error;

    fn from_str(text: &str) -> Result<Self, widemargin::Error> {
        if text == "auto-per-class" { Ok(CArg::AutoPerClass) } else { text.parse().map(CArg::Shared) }
    }
}

impl fmt::Display for CArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CArg::Shared(c) => c.fmt(f),
            CArg::AutoPerClass => f.write_str("auto-per-class"),
        }
    }
}

impl CArg {
    fn json(&self) -> Value {
        match self {
            CArg::Shared(c) => c_json(c),
            CArg::AutoPerClass => text(self),
        }
    }

    fn set(params: ThinPlateParams, c: CArg) -> ThinPlateParams {
        match c {
            CArg::Shared(c) => params.c(c),
            CArg::AutoPerClass => params.c_auto_per_class(),
        }
    }
}

/// A list of kernels. Specs may contain commas, so that clap cannot split the list.
#[derive(Clone, Debug)]
struct Kernels(Vec<KernelArg>);

/// A kernel, or the choice of one.
#[derive(Clone, Copy, Debug)]
enum KernelArg {
    Auto,
    Given(ConditionalKernel),
}

impl fmt::Display for KernelArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelArg::Auto => f.write_str("auto"),
            KernelArg::Given(kernel) => kernel.fmt(f),
        }
    }
}

impl FromStr for KernelArg {
    type Err = widemargin::Error;

    fn from_str(text: &str) -> Result<Self, widemargin::Error> {
        if text == "auto" { Ok(KernelArg::Auto) } else { text.parse().map(KernelArg::Given) }
    }
}

fn kernels(list: &str) -> Result<Kernels, widemargin::Error> {
    let mut specs: Vec<String> = Vec::new();
    for part in list.split(',') {
        match specs.last_mut() {
            // `dims=2` continues the previous spec.
            Some(spec) if part.contains('=') && !part.contains(':') => *spec += &format!(",{part}"),
            _ => specs.push(part.to_owned()),
        }
    }
    specs.iter().map(|spec| spec.parse()).collect::<Result<_, _>>().map(Kernels)
}

/// Number of bases.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BasisSize {
    Auto,
    Exact,
    Bases(usize),
}

impl FromStr for BasisSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(BasisSize::Auto),
            "none" => Ok(BasisSize::Exact),
            _ => text.parse().map(BasisSize::Bases).map_err(|_| "not auto, none or a whole number above 0".into()),
        }
    }
}

impl fmt::Display for BasisSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BasisSize::Auto => f.write_str("auto"),
            BasisSize::Exact => f.write_str("none"),
            BasisSize::Bases(n) => n.fmt(f),
        }
    }
}

fn size_json(size: &BasisSize) -> Value {
    match size {
        BasisSize::Bases(n) => json!(n),
        named => text(named),
    }
}

impl ThinPlateArgs {
    fn kernels(&self) -> Vec<KernelArg> {
        self.kernel.iter().flat_map(|list| list.0.iter().copied()).collect()
    }
}

impl Method for ThinPlateArgs {
    const NAME: &'static str = "thin-plate";
    const KEEPS_WITHIN_MEMORY: bool = true;
    const REGRESSES: bool = true;
    type Params = ThinPlateParams;

    fn axes(&self) -> Vec<Axis<ThinPlateParams>> {
        let polynomials = Axis::new("polynomials", &self.polynomials, text, ThinPlateParams::polynomials);
        let size = Axis::new("n_basis", &self.n_basis, size_json, |params: ThinPlateParams, size| match size {
            BasisSize::Auto => params.exact_up_to(EXACT_UP_TO),
            BasisSize::Exact => params,
            BasisSize::Bases(n) => params.n_basis(Some(n)),
        });
        vec![
            Axis::new("kernel", &self.kernels(), text, |params: ThinPlateParams, kernel| match kernel {
                KernelArg::Auto => params.kernel_auto(),
                KernelArg::Given(kernel) => params.kernel(kernel),
            }),
            Axis::new("C", &self.c, CArg::json, CArg::set),
            Axis { head: "polynomials", ..polynomials },
            Axis { head: "bases", ..size },
            Axis::new("basis", &self.basis, text, ThinPlateParams::basis),
            Axis::new("standardize", &self.standardize, text, ThinPlateParams::standardize),
        ]
    }

    fn params(&self, common: &Common, memory: Option<u64>) -> ThinPlateParams {
        let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE)
            .class_weight(self.class_weight.weights())
            .tol(self.tol)
            .max_steps(self.max_iter)
            .seed(common.seed)
            .threads(common.threads);
        match memory {
            Some(bytes) => params.memory_limit(bytes),
            None => params,
        }
    }

    fn json(&self) -> Value {
        json!({ "class_weight": self.class_weight.json(), "tol": self.tol, "max_iter": self.max_iter })
    }

    fn check(params: &ThinPlateParams) -> Result<(), Failure> {
        Ok(params.check()?)
    }

    fn regressions(&self, common: &Common, memory: Option<u64>) -> Result<Vec<Point<Regression>>, Failure> {
        Regression::check(&[
            ("-C auto-per-class", self.c.contains(&CArg::AutoPerClass)),
            ("--polynomials", self.polynomials != [Polynomials::Auto]),
            ("--class-weight", self.class_weight.is_given()),
        ])?;
        type Params = ThinPlateRegressorParams;
        let size = Axis::new("n_basis", &self.n_basis, size_json, |params: Params, size| match size {
            BasisSize::Auto => params.exact_up_to(SPLINE_EXACT_UP_TO),
            BasisSize::Exact => params,
            BasisSize::Bases(n) => params.n_basis(Some(n)),
        });
        let axes = [
            Axis::new("kernel", &self.kernels(), text, |params: Params, kernel| match kernel {
                KernelArg::Auto => params.kernel_auto(),
                KernelArg::Given(kernel) => params.kernel(kernel),
            }),
            Axis::new("C", &self.c, CArg::json, |params: Params, c| match c {
                CArg::Shared(c) => params.c(c),
                CArg::AutoPerClass => params,
            }),
            Axis { head: "bases", ..size },
            Axis::new("basis", &self.basis, text, Params::basis),
            Axis::new("standardize", &self.standardize, text, Params::standardize),
        ];
        let params = Params::new(ConditionalKernel::Distance).seed(common.seed).threads(common.threads);
        let params = memory.map_or(params.clone(), |bytes| params.memory_limit(bytes));
        let json = json!({ "task": "regression", "seed": common.seed });
        let regression = |params: Params| {
            let fit = move |data: Data<'_>, targets: &Targets, monitor: &Monitor<'_>| {
                Ok(Box::new(match data {
                    Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, targets, weights, monitor)?,
                    Data::Store(store, resources) => params.fit_blocks(store, targets, None, resources, monitor)?,
                }) as Box<dyn Regressor>)
            };
            Regression { fit: Box::new(fit), scoring: RegressionScoring::R2 }
        };
        let points = grid(Point { params, json, cells: Vec::new() }, &axes).into_iter();
        Ok(points.map(|point| point.map(regression)).collect())
    }

    fn fit(
        params: &ThinPlateParams,
        data: Data<'_>,
        labels: &Labels,
        monitor: &Monitor<'_>,
    ) -> widemargin::Result<Model> {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.clone().fit_blocks(store, labels, None, resources, monitor)?,
        }))
    }

    fn fits_blocks(params: &ThinPlateParams) -> bool {
        params.fits_blocks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_kernels_know_their_own_commas() {
        let specs = |list: &str| kernels(list).map(|list| list.0.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            specs("auto,thin-plate,spline:order=2,dims=3,rbf:gamma=0.5,log:gamma=1,exponent=0.5,cityblock").unwrap(),
            ["auto", "thin-plate", "spline:order=2,dims=3", "rbf:gamma=0.5", "log:gamma=1,exponent=0.5", "cityblock"]
        );
        for wrong in ["", "thin-plate,", "dims=3", "rbf:gamma=0.5,dims=3", "chi2"] {
            assert!(specs(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_of_the_basis_are_read() {
        for text in ["auto", "none", "250"] {
            assert_eq!(text.parse::<BasisSize>().unwrap().to_string(), text);
        }
        assert!("-3".parse::<BasisSize>().is_err() && "some".parse::<BasisSize>().is_err());
    }
}
