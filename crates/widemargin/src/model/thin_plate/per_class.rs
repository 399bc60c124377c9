//! C for each class: a two-class fit for each class against the others, and one model of all.
//!
//! Walder & Chapelle (section 7) choose λ so for each digit. It takes the time of as many two-class fits as there are
//! classes, since each treats the polynomials as suits its own problem.

use super::kernel_blocks::{merged, pick_rows};
use super::model::{ClassPath, SplineClassification, ThinPlateSvc};
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
    let (d, k) = (models.first()?.n_features(), models.len());
    let of_all = models.iter().flat_map(|model| model.bases()).copied().collect::<Vec<f64>>();
    let rows_of_all: Vec<u64> = models.iter().flat_map(|model| model.basis_rows()).copied().collect();
    let mut alpha = vec![vec![0.0; of_all.len() / d]; k];
    let mut at = 0;
    for (model, alpha) in models.iter().zip(&mut alpha) {
        alpha[at..at + model.n_bases()].copy_from_slice(model.coefficients());
        at += model.n_bases();
    }
    let (distinct, coefficients) = merged(&alpha, &of_all, d);
    let bases = pick_rows(&of_all, &distinct, d);
    let basis_rows = distinct.iter().filter_map(|&at| rows_of_all.get(at)).copied().collect();
    let coefficients = coefficients.concat();
    let is_solved = models.iter().all(|model| !model.task.loo_values.is_empty());
    let loo_values =
        models.iter().filter(|_| is_solved).flat_map(|model| model.task.loo_values.iter().copied()).collect();
    let polynomial = models.iter().flat_map(|model| model.polynomial().iter().copied()).collect();
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
        spline: Spline { basis, basis_rows, coefficients, polynomial, n_functions: k, ..first.spline },
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
