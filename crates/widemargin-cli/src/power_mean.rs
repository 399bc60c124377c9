//! The power mean SVM of a choice of parameters.

use widemargin::Error;
use widemargin::model::{CChoice, PowerMeanParams};
use widemargin::similarity::{AdditiveKernel, ScalarKernel};

use crate::args::Common;
use crate::class_weight::class_weight;
use crate::fit::{Data, Fit, with};
use crate::options::Choice;
use crate::parameters::C;
use crate::report::Failure;
use crate::samples::rows;

/// The fit of a classifier.
pub fn classes(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let params = PowerMeanParams::auto().class_weight(class_weight(choice)?).seed(common.seed).threads(common.threads);
    let params = with(params, choice.read("kernel", kernel)?, |params, kernel| params.kernel(kernel));
    let params = params.c(choice.get::<CChoice>(C)?.unwrap_or_default());
    let params = with(params, choice.get("loss")?, PowerMeanParams::loss);
    let params = with(params, choice.get("approximation")?, PowerMeanParams::approximation);
    let params = with(params, choice.read("nodes", nodes)?, |params, nodes| match nodes {
        Nodes::Number(number) => params.n_nodes(number),
        Nodes::At(nodes) => params.nodes(nodes),
    });
    let params = with(params, choice.read("scale", yes_or_no)?, PowerMeanParams::scale);
    let params = with(params, choice.number("tol")?, PowerMeanParams::tol);
    let params = with(params, choice.whole("max-iter")?, PowerMeanParams::max_epochs);
    params.check()?;
    Ok(Fit::Classes(Box::new(move |data, labels, monitor| {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, labels, None, resources, monitor)?,
        }))
    })))
}

/// A kernel by its name, or by the exponent of a power mean.
fn kernel(text: &str) -> Result<ScalarKernel, Error> {
    match text.parse() {
        Ok(p) => Ok(AdditiveKernel::power_mean(p)?.into()),
        Err(_) => text.parse(),
    }
}

/// How many nodes, or which.
enum Nodes {
    Number(usize),
    At(Vec<f64>),
}

fn nodes(text: &str) -> Result<Nodes, Error> {
    if let Ok(number) = text.parse() {
        return Ok(Nodes::Number(number));
    }
    let nodes = text.split(':').map(str::parse).collect::<Result<_, _>>();
    nodes.map(Nodes::At).map_err(|_| Error::Parameter {
        name: "nodes",
        value: text.to_owned(),
        expected: "a number of nodes, such as 3, or nodes with colons between them, such as 0.01:0.06:0.75".into(),
    })
}

fn yes_or_no(text: &str) -> Result<bool, Error> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(Error::Parameter { name: "scale", value: text.to_owned(), expected: "yes or no".into() }),
    }
}
