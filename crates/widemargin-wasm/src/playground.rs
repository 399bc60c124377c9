//! Fits a model to points of the plane.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use widemargin::data::{DenseView, Label, Labels, SamplesView};
use widemargin::model::{AnyModel, Classifier};
use widemargin::monitor::Monitor;
use widemargin::select::{Answers, Compared, Estimator, Method, Place, Task};

/// Maximum number of points.
pub const MAX_POINTS: usize = 2000;

/// Separates the specs of several similarities.
const SEPARATOR: &str = " + ";

/// A request of the page.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Coordinates of the points.
    pub points: Vec<[f64; 2]>,
    /// The class of each point.
    pub labels: Vec<String>,
    /// `auto`, `basis-expansion`, `thin-plate` or `power-mean`.
    pub method: String,
    /// The spec of the similarity or kernel, or `auto`; of several similarities as in [`Summary::similarity`].
    #[serde(default = "auto")]
    pub similarity: String,
    /// The number of bases of the basis expansion; by default automatic.
    #[serde(default)]
    pub n_basis: Option<usize>,
    /// The weight C of the losses; by default selected by leave-one-out.
    #[serde(rename = "C", default)]
    pub c: Option<f64>,
}

fn auto() -> String {
    "auto".into()
}

/// The summary of a fit for the page.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The method that was fitted.
    pub method: String,
    /// Its similarity or kernel.
    pub similarity: String,
    /// The classes, in the order of the decision values and probabilities.
    pub classes: Vec<String>,
    /// C of each two-class problem.
    #[serde(rename = "C")]
    pub c: Vec<f64>,
    /// The error that the fit expects on other points, if it estimated one.
    pub estimated_error: Option<f64>,
    /// The rows of the points that are bases; none for a method without bases.
    pub bases: Option<Vec<usize>>,
    /// The compared methods, with the loss of each or the reason why there is none.
    pub tried: Vec<Tried>,
    /// Whether the solver converged.
    pub status: String,
    /// Warnings of the fit.
    pub warnings: Vec<String>,
}

/// A compared method.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The method.
    pub method: String,
    /// Its similarity or kernel.
    pub similarity: String,
    /// The mean leave-one-out squared hinge.
    pub loss: Option<f64>,
    /// The reason why there is none.
    pub problem: Option<String>,
}

/// A model and its summary.
#[derive(Debug)]
pub struct Fitted {
    /// The model.
    pub model: Box<dyn Classifier>,
    /// The summary.
    pub summary: Summary,
}

/// Fits a model.
///
/// # Errors
/// A message for the visitor: no points, one class, more points than [`MAX_POINTS`], and errors of the library.
pub fn fit(request: &Request) -> Result<Fitted, String> {
    let n = request.points.len();
    if n == 0 {
        return Err("There are no points yet. Click into the plot, take an example, or load a table.".into());
    }
    if n > MAX_POINTS {
        return Err(format!("There are {n} points; the playground takes at most {MAX_POINTS}."));
    }
    if request.labels.len() != n {
        return Err(format!("{n} points have {} classes: one each is expected", request.labels.len()));
    }
    let labels = Labels::new(request.labels.iter().map(|label| Label::parse(label)));
    if labels.classes().len() == 1 {
        return Err(format!(
            "All points are of class {}. A border needs at least two classes: choose another class and add points.",
            labels.classes()[0]
        ));
    }
    let values: Vec<f64> = request.points.iter().flatten().copied().collect();
    let rows = DenseView::new(&values, n, 2).map_err(message)?;
    fit_rows(request, &rows, &labels).map_err(message)
}

fn message(error: widemargin::Error) -> String {
    error.to_string()
}

fn fit_rows(request: &Request, rows: &DenseView<'_, f64>, labels: &Labels) -> widemargin::Result<Fitted> {
    let samples = SamplesView::Rows((*rows).into());
    let is_automatic = request.similarity == "auto" && request.c.is_none() && request.n_basis.is_none();
    let requested: Method = request.method.parse()?;
    // Without parameters, the search of the automatic method tries this method alone.
    let method = if is_automatic { Method::Auto } else { requested };
    let mut estimator = Estimator::new(method, Task::Classification)?;
    estimator.set("threads", "1")?;
    match method {
        Method::Auto if requested == Method::Auto => {}
        Method::Auto => estimator.set("methods", &request.method)?,
        Method::BasisExpansion => {
            estimator.set("loss", "squared-hinge")?;
            if let Some(n_basis) = request.n_basis {
                estimator.set("n_basis", &n_basis.to_string())?;
            }
            estimator = estimator.similarity(request.similarity.split(SEPARATOR).map(str::to_owned).collect());
        }
        Method::PowerMean | Method::ThinPlate => estimator.set("kernel", &request.similarity)?,
    }
    if let Some(c) = request.c.filter(|_| method != Method::Auto) {
        estimator.set("C", &c.to_string())?;
    }
    let answers = Answers::from(labels);
    let (model, compared) = estimator.fit(Place::Memory(&samples), Some(&answers), None, &Monitor::none())?;
    let AnyModel::Classifier(model) = model else { unreachable!("labels are fitted by a classifier") };
    let tried = if let Compared::Methods(tried) = compared { tried } else { Vec::new() };
    let tried = tried.into_iter().map(|tried| Tried {
        method: tried.point.method.to_string(),
        similarity: tried.point.chosen,
        loss: tried.loss.as_ref().ok().copied(),
        problem: tried.loss.err(),
    });
    Ok(fitted(model, tried.collect()))
}

/// The model with its summary.
fn fitted(model: Box<dyn Classifier>, tried: Vec<Tried>) -> Fitted {
    let parameters = serde_json::to_value(model.parameters()).unwrap_or_default();
    let similarity = match &parameters["similarity"] {
        Value::Array(specs) => specs.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(SEPARATOR),
        _ => parameters["kernel"].as_str().unwrap_or_default().to_owned(),
    };
    let report = model.report();
    let summary = Summary {
        method: model.method().to_owned(),
        similarity,
        classes: model.classes().iter().map(ToString::to_string).collect(),
        c: (0..model.n_problems()).map(|problem| model.c(problem)).collect(),
        estimated_error: report.estimate.as_ref().map(|estimate| estimate.error),
        bases: model.basis_samples().map(|_| model.basis_weights().1),
        tried,
        status: report.status.as_str().to_owned(),
        warnings: report.warnings.clone(),
    };
    Fitted { model, summary }
}

/// Decision values of points (x and y in turn), one per point for two classes and one per class for more, followed by the
/// probability of each class.
///
/// # Errors
/// Errors of the library.
pub fn evaluate(model: &dyn Classifier, points: &[f64]) -> Result<Vec<f64>, String> {
    let rows = DenseView::new(points, points.len() / 2, 2).map_err(message)?;
    let samples = SamplesView::Rows(rows.into());
    let mut values = model.decision_values(&samples, 1, &Monitor::none()).map_err(message)?;
    if let Some(calibration) = model.calibration() {
        values.extend(calibration.probabilities(&values, model.classes().len()));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str) -> Request {
        // Two rings, the outer of class b.
        let at = |i: usize| {
            let (angle, radius) = (i as f64 * 0.9, if i.is_multiple_of(2) { 1.0 } else { 2.5 });
            [3.0 + radius * angle.cos(), 3.0 + radius * angle.sin()]
        };
        let labels = (0..40).map(|i| if i % 2 == 0 { "a" } else { "b" }.to_owned()).collect();
        let points = (0..40).map(at).collect();
        Request { points, labels, method: method.into(), similarity: auto(), n_basis: None, c: None }
    }

    fn wrong(model: &dyn Classifier, request: &Request) -> usize {
        let points: Vec<f64> = request.points.iter().flatten().copied().collect();
        let values = evaluate(model, &points).unwrap();
        assert_eq!(values.len(), 3 * 40, "a decision value and two probabilities per point");
        let is_wrong = |i: usize| (values[i] > 0.0) != (request.labels[i] == "b");
        for i in 0..40 {
            let [p, q] = [values[40 + 2 * i], values[41 + 2 * i]];
            assert!((p + q - 1.0).abs() < 1e-12);
            assert_eq!(q > p, values[i] > 0.0);
        }
        (0..40).filter(|&i| is_wrong(i)).count()
    }

    #[test]
    fn each_method_separates_two_rings() {
        for method in ["auto", "basis-expansion", "thin-plate"] {
            let request = request(method);
            let fitted = fit(&request).unwrap();
            assert_eq!(wrong(&*fitted.model, &request), 0, "{method}");
            assert_eq!(fitted.summary.classes, ["a", "b"]);
            assert!(fitted.summary.bases.unwrap().iter().all(|&row| row < 40));
            assert!(fitted.summary.estimated_error.unwrap() < 0.1, "{method}");
        }
        // Additive kernels cannot, without products of the coordinates; but they fit.
        let fitted = fit(&request("power-mean")).unwrap();
        assert_eq!((fitted.summary.method.as_str(), fitted.summary.bases), ("power-mean", None));
    }

    #[test]
    fn uses_the_parameters_of_the_request() {
        let summary = |method: &str, similarity: &str, n_basis, c| {
            fit(&Request { similarity: similarity.into(), n_basis, c, ..request(method) }).unwrap().summary
        };
        let fit = summary("basis-expansion", "rbf:gamma=1", Some(12), Some(3.0));
        assert_eq!((fit.similarity.as_str(), fit.c, fit.bases.unwrap().len()), ("rbf:gamma=1", vec![3.0], 12));
        let joined = "rbf:gamma=1 + distance";
        assert_eq!(summary("basis-expansion", joined, None, None).similarity, joined);
        let fit = summary("thin-plate", "thin-plate", None, None);
        assert_eq!(fit.similarity, "thin-plate");
        assert_eq!(summary("thin-plate", "auto", None, Some(2.0)).c, [2.0]);
        let fit = summary("power-mean", "intersection", None, Some(1.0));
        assert_eq!((fit.similarity.as_str(), fit.c), ("intersection", vec![1.0]));
    }

    #[test]
    fn rejects_invalid_requests() {
        let fails = |change: &dyn Fn(&mut Request), expected: &str| {
            let mut request = request("auto");
            change(&mut request);
            let error = fit(&request).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        fails(&|r| (r.points, r.labels) = (vec![], vec![]), "no points yet");
        fails(&|r| r.labels.fill("a".into()), "All points are of class a");
        fails(&|r| r.points = vec![[0.0; 2]; 2001], "at most 2000");
        fails(&|r| r.labels.truncate(3), "40 points have 3 classes");
        fails(&|r| r.points[2][1] = f64::NAN, "NaN");
        fails(&|r| r.method = "forest".into(), "power-mean");
        fails(&|r| (r.method, r.points[0][0]) = ("power-mean".into(), -1.0), "power-mean");
        fails(&|r| (r.method, r.c) = ("thin-plate".into(), Some(-1.0)), "C");
    }
}
