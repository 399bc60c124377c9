//! C for each class: a two-class fit for each class against the others, and one model of all.
//!
//! Walder & Chapelle (section 7) choose λ so for each digit. It takes the time of as many two-class fits as there are
//! classes, since each treats the polynomials as suits its own problem.

use std::collections::HashMap;

use super::class_path::ClassPath;
use super::model::{SplineClassification, ThinPlateSvc};
use super::spline::Spline;
use super::spline_basis::SplineBasis;
use crate::data::Label;
use crate::solve::{Report, Status};

/// One model of the models of all classes against the others, in the order of the classes.
pub(super) fn joined(models: Vec<ThinPlateSvc>, classes: &[Label]) -> Option<ThinPlateSvc> {
    let paths = models.iter().map(|model| ClassPath {
        c: model.c(),
        lambda: model.lambda(),
        polynomials: model.polynomials(),
        path: model.path().to_vec(),
    });
    let per_class: Vec<ClassPath> = paths.collect();
    let geometric = |of: &dyn Fn(&ClassPath) -> f64| {
        (per_class.iter().map(|one| of(one).ln()).sum::<f64>() / per_class.len() as f64).exp()
    };
    let (c, lambda) = (geometric(&|one| one.c), geometric(&|one| one.lambda));
    let report = joined_reports(models.iter().map(ThinPlateSvc::report), classes, &per_class)?;

    // Bases of several classes are one.
    let d = models.first()?.n_features();
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    let (mut bases, mut support) = (Vec::new(), Vec::new());
    let mut placed: Vec<Vec<usize>> = Vec::new();
    for model in &models {
        let mut of_model = Vec::with_capacity(model.n_bases());
        for (at, basis) in model.bases().chunks(d).enumerate() {
            let content = basis.iter().map(|x| x.to_bits()).collect();
            let next = places.len();
            let place = *places.entry(content).or_insert(next);
            if place == next {
                bases.extend_from_slice(basis);
                support.extend(model.support().get(at));
            }
            of_model.push(place);
        }
        placed.push(of_model);
    }
    let n_bases = places.len();
    let mut coefficients = vec![0.0; models.len() * n_bases];
    for (problem, (model, places)) in models.iter().zip(&placed).enumerate() {
        let row = &mut coefficients[problem * n_bases..(problem + 1) * n_bases];
        places.iter().zip(model.coefficients()).for_each(|(&place, alpha)| row[place] += alpha);
    }
    let is_solved = models.iter().all(|model| !model.task.loo_values.is_empty());
    let loo_values =
        models.iter().filter(|_| is_solved).flat_map(|model| model.task.loo_values.iter().copied()).collect();
    let polynomial = models.iter().flat_map(|model| model.polynomial().iter().copied()).collect();
    let n_functions = models.len();
    let first = models.into_iter().next()?;
    let basis = SplineBasis { bases, ..first.spline.basis };
    let task = SplineClassification {
        c,
        lambda,
        classes: classes.to_vec(),
        loo_values,
        path: Vec::new(),
        per_class,
        ..first.task
    };
    Some(ThinPlateSvc {
        spline: Spline { basis, support, coefficients, polynomial, n_functions, ..first.spline },
        task,
        report,
        ..first
    })
}

/// One report of those of all classes.
fn joined_reports<'a>(
    reports: impl Iterator<Item = &'a Report> + Clone,
    classes: &[Label],
    per_class: &[ClassPath],
) -> Option<Report> {
    let mut all = reports.clone().next()?.clone();
    (all.iterations, all.gaps, all.n_support) = Default::default();
    (all.objective, all.dual_objective) = (0.0, 0.0);
    (all.notes, all.warnings) = Default::default();
    all.estimate = None;
    for (report, class) in reports.zip(classes) {
        if report.status != Status::Converged {
            all.status = report.status;
        }
        all.iterations.extend(&report.iterations);
        all.gaps.extend(&report.gaps);
        all.n_support.extend(&report.n_support);
        all.objective += report.objective;
        all.dual_objective += report.dual_objective;
        // The last one has the stages of all.
        all.stages.clone_from(&report.stages);
        all.notes.extend(report.notes.iter().map(|note| format!("class {class}: {note}")));
        all.warnings.extend(report.warnings.iter().map(|warning| of_class(warning, class)));
    }
    let selected: Vec<String> =
        classes.iter().zip(per_class).map(|(class, one)| format!("{class}: {:.3e}", one.c)).collect();
    all.notes.push(format!("C was selected for each class: {}", selected.join(", ")));
    Some(all)
}

/// A warning of one class; its kind is determined by its beginning.
fn of_class(warning: &str, class: &Label) -> String {
    match warning.strip_prefix("not converged") {
        Some(rest) => format!("not converged for class {class}{rest}"),
        None => format!("class {class}: {warning}"),
    }
}
