//! The table of problems: methods × tasks × kinds of samples, with the options that change the way of a fit.

use std::sync::Arc;

use super::method::Method;
use super::training::{Kind, Task, Training};
use widemargin::data::ClassWeight;
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, Intercept, Loss,
    Polynomials, PowerMeanParams, Standardize, ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};

/// A row of the table.
#[derive(Clone)]
pub struct Problem {
    pub name: String,
    pub kind: Kind,
    pub task: Task,
    pub method: Method,
    /// Whether it can be fitted in blocks of a file, and by workers.
    pub in_blocks: bool,
    pub on_workers: bool,
    /// How far decision values of fits that sum in another order may be apart, relative to the largest.
    pub tolerance: f64,
    /// Samples of a fit in blocks, enough for several.
    pub n_blocks: usize,
}

impl Problem {
    /// Samples of this problem.
    pub fn training(&self, n: usize, seed: u64) -> Training {
        Training::new(self.kind, self.task, n, seed)
    }
}

const CLASSES: [Task; 3] = [Task::Classes(2), Task::Classes(4), Task::Multilabel(3)];

/// Similarity, normalization, loss, intercept, C.
type Expansion = (&'static [&'static str], &'static str, Loss, Intercept, CChoice);

fn basis_expansions() -> Vec<Problem> {
    use Intercept::{Free, None, Penalized};
    let (hinge, squared_hinge) = (Loss::Hinge, Loss::SquaredHinge);
    let (logistic, squared) = (Loss::Logistic, Loss::SquaredError);
    let fixed = CChoice::Value(2.0);
    let rows: [(Kind, Task, Expansion); 10] = [
        (Kind::Vectors, CLASSES[1], (&["rbf:gamma=2"], "mean-norm", squared_hinge, Free, fixed)),
        (Kind::Vectors, CLASSES[0], (&["rbf:gamma=2"], "covariance", squared_hinge, Free, CChoice::Auto)),
        (Kind::Vectors, CLASSES[1], (&["z-score/rbf", "chi2:weight=0.5"], "z-score", logistic, Penalized, fixed)),
        (Kind::Vectors, CLASSES[0], (&["mean-norm/rbf", "features"], "none", squared, None, fixed)),
        (Kind::Vectors, CLASSES[2], (&["laplacian:gamma=2"], "nystroem", squared_hinge, Free, fixed)),
        (Kind::Vectors, CLASSES[2], (&["features"], "none", squared_hinge, Free, fixed)),
        (Kind::Vectors, CLASSES[1], (&["rbf:gamma=2"], "mean-norm", hinge, Penalized, fixed)),
        (Kind::Vectors, CLASSES[1], (&["distance"], "centered", squared_hinge, Free, fixed)),
        (Kind::Strings, CLASSES[1], (&["edit"], "mean-norm", squared_hinge, Free, fixed)),
        (Kind::Strings, CLASSES[0], (&["ngrams:n=2/tanimoto"], "nystroem", logistic, Free, fixed)),
    ];
    let problem = |(kind, task, (specs, normalization, loss, intercept, c)): (Kind, Task, Expansion)| {
        let make = move || {
            let params = BasisExpansionParams::new(AnySimilarity::new(specs).unwrap());
            let params = params.normalization(normalization.parse().unwrap()).loss(loss).intercept(intercept).c(c);
            params.n_basis(12).tol(1e-5).max_iter(20_000)
        };
        let name = format!("{specs:?} {normalization} {loss} {intercept} C={c} {task:?}");
        Problem {
            kind,
            task,
            method: Method::BasisExpansion(Arc::new(make)),
            // In blocks C is selected on other samples, which has a test of its own.
            in_blocks: loss != hinge && c != CChoice::Auto,
            on_workers: loss != hinge,
            tolerance: if loss == hinge { 0.1 } else { 0.02 },
            n_blocks: if kind == Kind::Strings { 500 } else { 2000 },
            name,
        }
    };
    rows.into_iter().map(problem).collect()
}

fn thin_plates() -> Vec<Problem> {
    use Loss::{Hinge, SquaredError, SquaredHinge};
    use Polynomials::{Auto, Constant, Free, None as NoPolynomials, Penalized};
    let auto = CChoice::Auto;
    let rows = [
        (CLASSES[1], "thin-plate", Auto, None, Standardize::Auto, auto, SquaredHinge),
        (CLASSES[0], "distance", Free, None, Standardize::Yes, CChoice::Value(3.0), SquaredHinge),
        (CLASSES[2], "distance", Free, None, Standardize::No, auto, SquaredHinge),
        (CLASSES[1], "distance", Auto, None, Standardize::No, auto, SquaredError),
        (CLASSES[0], "distance", Free, None, Standardize::No, auto, Hinge),
        (CLASSES[1], "thin-plate", Auto, Some(15), Standardize::No, auto, SquaredHinge),
        (CLASSES[0], "thin-plate", Constant, Some(15), Standardize::Auto, auto, SquaredHinge),
        (CLASSES[1], "distance", NoPolynomials, Some(15), Standardize::No, CChoice::Value(0.3), SquaredHinge),
        (CLASSES[0], "cubic", Penalized, Some(15), Standardize::No, auto, SquaredHinge),
        (CLASSES[0], "rbf:gamma=2", Auto, Some(15), Standardize::Yes, auto, SquaredHinge),
        (CLASSES[2], "distance", Free, Some(15), Standardize::No, CChoice::Value(3.0), SquaredHinge),
        (CLASSES[2], "thin-plate", Free, Some(15), Standardize::No, auto, SquaredError),
        (CLASSES[1], "distance", Free, Some(15), Standardize::No, CChoice::Value(30.0), Hinge),
        (CLASSES[0], "thin-plate", Free, Some(15), Standardize::No, CChoice::Value(3.0), Hinge),
    ];
    type Row = (Task, &'static str, Polynomials, Option<usize>, Standardize, CChoice, Loss);
    let problem = |(task, spec, polynomials, n_basis, standardize, c, loss): Row| {
        let kernel: ConditionalKernel = spec.parse().unwrap();
        let params = ThinPlateParams::new(kernel).polynomials(polynomials).n_basis(n_basis).standardize(standardize);
        let params = params.c(c).loss(loss);
        Problem {
            name: format!("{spec} {polynomials} {n_basis:?} bases standardize={standardize} C={c} {loss} {task:?}"),
            kind: Kind::Vectors,
            task,
            method: Method::ThinPlate(params, polynomials),
            in_blocks: n_basis.is_some(),
            on_workers: n_basis.is_some() && standardize == Standardize::No,
            // The hinge is solved to a gap of 1e-7, to which the distance of two solutions is a root.
            tolerance: if loss == Hinge { 1e-3 } else { 1e-6 },
            n_blocks: 1500,
        }
    };
    rows.into_iter().map(problem).collect()
}

fn power_means() -> Vec<Problem> {
    let kernel = |kernel| PowerMeanParams::new(kernel);
    let rows = [
        (CLASSES[1], kernel(AdditiveKernel::Chi2).c(0.3), 0.02),
        (CLASSES[0], kernel(AdditiveKernel::JensenShannon).loss(Loss::Hinge).c(0.1), 0.05),
        (CLASSES[1], kernel(AdditiveKernel::Intersection).c(CChoice::Auto).scale(false), 0.02),
        (CLASSES[2], kernel(AdditiveKernel::PowerMean { p: -2.0 }).nodes(vec![0.02, 0.1, 0.3, 0.7]).scale(false), 0.02),
        (CLASSES[0], kernel(AdditiveKernel::Hellinger).choose_n_nodes().c(1.0), 0.05),
        // More problems than are solved at once, and many epochs.
        (Task::Classes(19), kernel(AdditiveKernel::Chi2).c(30.0), 0.05),
    ];
    let problem = |(task, params, tolerance): (Task, PowerMeanParams, f64)| Problem {
        name: format!("{} {task:?}", params.scalar_kernel()),
        kind: Kind::Vectors,
        task,
        method: Method::PowerMean(params.tol(1e-5).max_epochs(5000)),
        in_blocks: task != Task::Classes(19),
        on_workers: false,
        tolerance,
        n_blocks: 300,
    };
    rows.into_iter().map(problem).collect()
}

fn regressions() -> Vec<Problem> {
    use Loss::{Huber, Quantile, SquaredEpsilonInsensitive};
    let (auto, fixed) = (CChoice::Auto, CChoice::Value(2.0));
    let rows = [
        (Kind::Vectors, "rbf:gamma=2", "mean-norm", Loss::SquaredError, true, auto),
        (Kind::Vectors, "laplacian:gamma=1", "covariance", Loss::SquaredError, false, fixed),
        (Kind::Strings, "edit", "nystroem", Loss::SquaredError, true, auto),
        (Kind::Vectors, "rbf:gamma=2", "none", Huber { epsilon: None }, true, auto),
        (Kind::Vectors, "rbf:gamma=2", "z-score", Huber { epsilon: Some(0.2) }, false, fixed),
        (Kind::Vectors, "rbf:gamma=2", "mean-norm", SquaredEpsilonInsensitive { epsilon: None }, true, auto),
        (Kind::Vectors, "rbf:gamma=2", "mean-norm", Quantile { quantile: 0.8 }, true, fixed),
    ];
    type Row = (Kind, &'static str, &'static str, Loss, bool, CChoice);
    let problem = |(kind, spec, normalization, loss, intercept, c): Row| {
        let make = move || {
            let params = BasisExpansionRegressorParams::new(AnySimilarity::new(&[spec]).unwrap());
            let params = params.normalization(normalization.parse().unwrap()).loss(loss).intercept(intercept).c(c);
            params.n_basis(12)
        };
        Problem {
            name: format!("regression on {spec} {normalization} {loss:?} intercept={intercept} C={c}"),
            kind,
            task: Task::Targets(2),
            method: Method::Regression(Arc::new(make)),
            in_blocks: true,
            on_workers: true,
            tolerance: 1e-5,
            n_blocks: if kind == Kind::Strings { 500 } else { 2000 },
        }
    };
    rows.into_iter().map(problem).collect()
}

fn splines() -> Vec<Problem> {
    let (auto, fixed) = (CChoice::Auto, CChoice::Value(10.0));
    let rows = [
        ("distance", None, Standardize::Auto, auto),
        ("cubic", None, Standardize::No, fixed),
        ("distance", Some(15), Standardize::No, auto),
        ("thin-plate", Some(15), Standardize::Yes, auto),
        ("rbf:gamma=1", Some(15), Standardize::No, fixed),
        ("cubic", Some(15), Standardize::No, auto),
    ];
    let problem = |(spec, n_basis, standardize, c): (&str, Option<usize>, _, CChoice)| {
        let kernel: ConditionalKernel = spec.parse().unwrap();
        let params = ThinPlateRegressorParams::new(kernel).n_basis(n_basis).standardize(standardize).c(c);
        Problem {
            name: format!("spline {spec} {n_basis:?} bases standardize={standardize} C={c}"),
            kind: Kind::Vectors,
            task: Task::Targets(2),
            method: Method::Spline(params),
            in_blocks: n_basis.is_some(),
            on_workers: n_basis.is_some() && standardize == Standardize::No,
            tolerance: 1e-6,
            n_blocks: 1500,
        }
    };
    rows.into_iter().map(problem).collect()
}

fn outlier_detectors() -> Vec<Problem> {
    let rows = [
        (Kind::Vectors, "rbf:gamma=2", "nystroem"),
        (Kind::Vectors, "distance", "centered"),
        (Kind::Strings, "edit", "none"),
    ];
    let problem = |(kind, spec, normalization): (Kind, &'static str, &'static str)| {
        let make = move || {
            let params = BasisExpansionOneClassParams::new(AnySimilarity::new(&[spec]).unwrap());
            params.normalization(normalization.parse().unwrap()).n_basis(12).quantile(0.2).shrinkage(0.03)
        };
        Problem {
            name: format!("one class on {spec} {normalization}"),
            kind,
            task: Task::OneClass,
            method: Method::OneClass(Arc::new(make)),
            in_blocks: false,
            on_workers: normalization == "nystroem",
            tolerance: 1e-6,
            n_blocks: 0,
        }
    };
    rows.into_iter().map(problem).collect()
}

/// All rows; classes are balanced in every other one.
pub fn problems() -> Vec<Problem> {
    let all = [basis_expansions(), thin_plates(), power_means(), regressions(), splines(), outlier_detectors()];
    let balanced = |(at, problem): (usize, Problem)| match at % 2 {
        0 => Problem { method: problem.method.class_weight(ClassWeight::Balanced), ..problem },
        _ => problem,
    };
    all.into_iter().flatten().enumerate().map(balanced).collect()
}
