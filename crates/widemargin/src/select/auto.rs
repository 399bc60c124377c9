//! Selection of the method: each with its automatic parameters on some of the samples, compared by leave-one-out.
//!
//! The squared hinge is the loss of all three, and all have leave-one-out decision values, so their mean leave-one-out
//! squared hinges may be compared. Where there are more samples than are compared,
//! the method with the least is fitted again, on all; there the power mean SVM, which is the fastest by far, is
//! selected if its error is within a standard error of the other's (having no intercept, it pays in loss for classes of
//! unlike size). Histograms are left to these two: the basis expansion has the thin plate's kernels, and those for
//! histograms too. Where in the expansion these kernels are far behind others, the thin plate SVM is not tried.
//!
//! With a scoring, the highest held-out score decides instead (`held_out_score.rs`). With multilabel targets, losses
//! and scores are means over the labels.

use std::fmt::Write as _;

use super::Scoring;
use super::candidate::SimilaritySearch;
use super::held_out_score::{Labeled, check_scoring, held_out_score};
use super::method::Method;
use super::method_fit::{MethodFit, MethodPoint, MethodSettings, unsolved};
use super::usual_candidates::is_histogram;
use super::work::Work;
use crate::data::{About, AnySamples, ClassWeight, Labels, Resources, SamplesView, Source, effective_weights};
use crate::error::{Error, Result, require};
use crate::macros::setters;
use crate::model::{CChoice, Classifier, choose_rows};
use crate::monitor::{Monitor, Progress, Stopped};
use crate::search::{LeftOut, Table, Tried, listed_reasons};
use crate::tuning::{
    MAX_THIN_PLATE_LAG, REPEATED_SEARCH_COST, SEARCH_TIME_SHARE, SELECTION_SAMPLES, SELECTION_TIME_SHARE,
};

/// What is expected of the methods where none can be fitted.
const FITTED: &str = "a method that can be fitted";

/// The methods that may be compared, in the order in which they are tried.
pub(super) const METHODS: [Method; 3] = [Method::BasisExpansion, Method::ThinPlate, Method::PowerMean];

/// A fit of the best method for the samples, with automatic parameters.
#[derive(Clone, Debug)]
pub struct AutoParams {
    /// The methods to compare.
    pub methods: Vec<Method>,
    /// The score by which methods are compared, on held-out samples; `None` for the mean leave-one-out squared hinge.
    pub scoring: Option<Scoring>,
    /// The class weights.
    pub class_weight: ClassWeight,
    /// Seed of the samples on which methods are compared, and of each method.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl Default for AutoParams {
    fn default() -> Self {
        let (methods, class_weight) = (METHODS.to_vec(), ClassWeight::Uniform);
        AutoParams { methods, scoring: None, class_weight, seed: 0, threads: 0 }
    }
}

/// A trained model, and the selection of its method.
#[derive(Debug)]
pub struct AutoFit {
    /// The model.
    pub model: Box<dyn Classifier>,
    /// The methods that were tried, in order.
    pub tried: Vec<Tried<MethodPoint>>,
}

impl AutoParams {
    setters! {
        /// Seed of the samples on which methods are compared, and of each method.
        seed: u64;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] without methods, and for [`Method::Auto`] among them.
    pub(super) fn check(&self) -> Result<()> {
        let is_valid = !self.methods.is_empty() && !self.methods.contains(&Method::Auto);
        let expected = format!("one of {} at least", METHODS.map(|method| method.to_string()).join(", "));
        require(is_valid, "methods", self.names(), &expected)
    }

    /// Trains.
    ///
    /// # Errors
    /// See [`AutoParams::fit_with`].
    pub fn fit(&self, samples: &SamplesView<'_>, labels: &Labels) -> Result<AutoFit> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Its time limit ends the comparison with the best method so far
    /// (after half of the time if not all samples are compared), and so does cancellation once a method has been
    /// fitted; the report warns of omissions. If the limit does not allow a fit on all samples, the model is fitted to
    /// a subset.
    ///
    /// # Errors
    /// Invalid labels and weights; [`Error::Parameter`] without methods, or if none could be tried, with the reasons;
    /// [`Error::Score`] for a scoring that these labels do not allow, or for a class or label of one sample;
    /// [`Error::TooShort`] if the time limit passed before one method was fitted; [`Error::Cancelled`].
    pub fn fit_with(
        &self,
        samples: &SamplesView<'_>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<AutoFit> {
        self.check()?;
        labels.check(samples.n_samples())?;
        let weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let rows = choose_rows(labels, &weights, SELECTION_SAMPLES.min(weights.len()), self.seed);
        let is_part = weights.iter().filter(|weight| **weight > 0.0).count() > SELECTION_SAMPLES;
        let some = About::new(samples, &weights)?.select(&rows)?;
        let reason = |method: &Method| Some((method.to_string(), method.reason_against(&some)?));
        let mut methods = self.methods.clone();
        methods.retain(|method| reason(method).is_none());
        if let (AnySamples::Vectors(vectors), true) = (&some, methods.contains(&Method::BasisExpansion)) {
            methods.retain(|method| *method != Method::ThinPlate || !is_histogram(vectors));
        }
        if methods.is_empty() {
            let expected = format!("{FITTED}: {}", listed_reasons(self.methods.iter().filter_map(reason)));
            return Err(Error::parameter("methods", self.names(), expected));
        }
        if let ([only], true) = (&methods[..], is_part) {
            let fitted = self.settings().fit(*only, (samples, labels, sample_weight), [monitor, monitor])?;
            return Ok(AutoFit { model: fitted.model, tried: Vec::new() });
        }
        let of_part = labels.present(&rows);
        if let Some(scoring) = self.scoring {
            check_scoring(scoring, &of_part)?;
        }
        let weights_of_part: Option<Vec<f64>> =
            sample_weight.map(|weights| rows.iter().map(|&row| weights[row]).collect());
        let (view, all) = (SamplesView::Other(&some), (samples, labels, sample_weight));
        let part = (&view, &of_part, weights_of_part.as_deref());
        let whole = &monitor.with_strict_limit();
        let monitor = &if is_part { whole.with_part_of_time(SELECTION_TIME_SHARE) } else { *whole };
        let mut table = Table::new("methods", rows.len(), *monitor);
        // The best with its place in the table.
        let mut best: Option<(usize, MethodFit)> = None;
        let (mut n_done, mut left_out) = (0, None);
        // Where these are a part, the best is fitted on all: the one that takes longest, say.
        let on_all = if is_part { weights.len() as f64 / rows.len() as f64 } else { 0.0 };
        let costs = methods.iter().map(|method| method.cost());
        let mut work = Work::default();
        work.expect(costs.clone().sum::<f64>() + on_all * costs.fold(0.0, f64::max));
        for &method in &methods {
            monitor.tell(work.progress("methods"));
            if best.is_some() && monitor.ask().is_err() {
                break;
            }
            let behind = best.as_ref().and_then(|(_, best)| best.behind).filter(|behind| *behind > MAX_THIN_PLATE_LAG);
            if let (Method::ThinPlate, Some(behind)) = (method, behind) {
                let reason = "thin-plate was left out: in the expansion the loss of its kernels is";
                left_out = Some(format!("{reason} {:.0} % above the least", 100.0 * behind));
                work.add(method.cost());
                n_done += 1;
                continue;
            }
            let part_done = |inner: Progress| {
                if let Some(share) = inner.share().filter(|_| ["similarity search", "choose"].contains(&inner.stage)) {
                    let mut within = work;
                    within.add(SEARCH_TIME_SHARE * share * method.cost());
                    monitor.tell(within.progress("methods"));
                }
            };
            let quiet = monitor.with_progress(&part_done);
            // The first is fitted even if that leaves no time for the others.
            let of_fit = if best.is_none() { whole.with_progress(&part_done) } else { quiet };
            let mut fitted: Option<MethodFit> = None;
            let point = MethodPoint { method, chosen: String::new(), score: None };
            let found = table.attempt(point, |point, _| {
                let found = self.settings().fit(method, if is_part { part } else { all }, [&quiet, &of_fit])?;
                let is_cut = best.is_none() && monitor.ask() == Err(Stopped::TimeLimit);
                if found.loss.is_none() && !is_cut {
                    return Err(unsolved());
                }
                if let Some(scoring) = self.scoring.filter(|_| found.loss.is_some()) {
                    let (settings, quiet) = ((self.seed, self.threads), monitor.without_progress());
                    let c = CChoice::Value(found.model.c(0));
                    let fit = |some: Labeled<'_>, monitor: &Monitor<'_>| (found.refit)(some, c, monitor);
                    point.score = match held_out_score(fit, scoring, part, settings, &quiet) {
                        // The first is better than nothing, if without a score.
                        Err(Error::Cancelled { .. } | Error::TooShort { .. }) if best.is_none() => None,
                        score => Some(score?),
                    };
                }
                point.chosen.clone_from(&found.chosen);
                let loss = found.loss.ok_or_else(|| "the time limit passed before leave-one-out".to_owned());
                let left_out = LeftOut::of(loss, found.error);
                fitted = Some(found);
                Ok(left_out)
            });
            work.add(method.cost());
            let found = match found {
                Err(Error::Cancelled { .. } | Error::TooShort { .. }) if best.is_some() => None,
                found => found?,
            };
            let Some(at) = found else { break };
            n_done += 1;
            let is_better = |best: usize| {
                let [one, other] = [at, best].map(|at| &table.tried[at]);
                if let Some((score, known)) = one.point.score.zip(other.point.score).filter(|(a, b)| a != b) {
                    return score > known;
                }
                let is_fast = is_part && method == Method::PowerMean;
                table.loss(at) < table.loss(best) || (is_fast && is_level(one.error, other.error, rows.len()))
            };
            if let Some(fitted) = fitted
                && best.as_ref().is_none_or(|(best, _)| is_better(*best))
            {
                best = Some((at, fitted));
            }
        }
        let Some((best, fitted)) = best else {
            let of = ("methods", &self.names()[..]);
            return Err(table.nothing(of, FITTED, false, |point| point.method.to_string()));
        };
        let tried = table.tried;
        let (mut model, mut is_whole) = (fitted.model, !is_part);
        if is_part {
            // If the time limit is short for another selection, parameters are those selected on some.
            let is_short = |left: f64| left < REPEATED_SEARCH_COST * tried[best].seconds;
            let on_all = match whole.seconds_left().is_some_and(is_short) {
                true => (fitted.refit)(all, CChoice::Auto, whole),
                false => self.settings().fit(tried[best].point.method, all, [whole, whole]).map(|fitted| fitted.model),
            };
            let on_all = match on_all {
                Err(Error::Cancelled { .. } | Error::TooShort { .. }) => None,
                found => Some(found?).filter(|model| !model.report().has_unbegun()),
            };
            is_whole = on_all.is_some();
            model = on_all.unwrap_or_else(|| {
                model.of_picked(&rows);
                model
            });
        }
        model.report_mut().is_of_part |= !is_whole;
        let warning = match whole.ask() {
            Err(Stopped::Cancelled) => Some("interrupted"),
            _ if n_done < methods.len() || !is_whole => Some("the time limit passed"),
            _ => None,
        };
        let warning = warning.map(|why| ended_early(why, &tried, &methods[n_done..], is_whole));
        let notes = [summary(&tried, self.scoring)].into_iter().chain(left_out).collect();
        model.add_remarks(notes, warning.into_iter().collect());
        Ok(AutoFit { model, tried })
    }

    /// Trains on samples in blocks, with a part of them in memory: only the basis expansion is tried,
    /// with a note in the report.
    ///
    /// # Errors
    /// As for [`AutoParams::fit_with`]; [`Error::Parameter`] without the basis expansion among the methods; errors of a
    /// fit in blocks.
    pub fn fit_blocks(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<AutoFit> {
        if !self.methods.contains(&Method::BasisExpansion) {
            return Err(Error::parameter("methods", self.names(), "basis-expansion among them for samples in blocks"));
        }
        let params = self.settings().basis_expansion();
        let search = SimilaritySearch { all_as_bases: false, ..SimilaritySearch::of(&params, &[], None, false) };
        let found = search.choose(samples, labels, sample_weight, monitor)?;
        let model = params.with_choice(&found)?.fit_blocks(samples, labels, sample_weight, resources, monitor)?;
        let mut note = "samples in blocks: only the basis expansion was tried".to_owned();
        if let Some(scoring) = self.scoring {
            scoring.check(labels, labels.classes())?;
            let _ = write!(note, ", so that {scoring} compared nothing");
        }
        Ok(AutoFit { model: Box::new(model.with_notes(found.summary().into_iter().chain([note]))), tried: Vec::new() })
    }

    /// The methods, side by side.
    fn names(&self) -> String {
        let names: Vec<String> = self.methods.iter().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(",") }
    }

    fn settings(&self) -> MethodSettings<'_> {
        MethodSettings { class_weight: &self.class_weight, seed: self.seed, threads: self.threads }
    }
}

/// A warning with the omissions of a comparison that ended early.
fn ended_early(why: &str, tried: &[Tried<MethodPoint>], left: &[Method], is_whole: bool) -> String {
    let left: Vec<String> = left.iter().map(ToString::to_string).collect();
    let n_samples = tried.first().map_or(0, |tried| tried.n_samples);
    let mut warning = format!("{why}: the best so far was selected");
    if !left.is_empty() {
        let _ = write!(warning, ", without trying {}", left.join(" and "));
    }
    if !is_whole {
        let _ = write!(warning, ", trained on {n_samples} samples only");
    }
    warning
}

/// Whether an error is at most a standard error of the other above it.
fn is_level(error: Option<f64>, other: Option<f64>, n_samples: usize) -> bool {
    error.zip(other).is_some_and(|(error, other)| error <= other + (other * (1.0 - other) / n_samples as f64).sqrt())
}

/// The methods that were tried, in a line.
fn summary(tried: &[Tried<MethodPoint>], scoring: Option<Scoring>) -> String {
    let measure = match scoring {
        None => "the mean leave-one-out squared hinge".to_owned(),
        Some(scoring) => format!("{scoring} on held-out samples"),
    };
    let one = |Tried { point: MethodPoint { method, chosen, score }, loss, .. }: &Tried<MethodPoint>| match loss {
        Ok(_) if scoring.is_some() && score.is_none() => format!("{method} ({chosen}) not known"),
        Ok(loss) => format!("{method} ({chosen}) {:.4}", score.unwrap_or(*loss)),
        Err(problem) => format!("{method} failed: {problem}"),
    };
    let methods: Vec<String> = tried.iter().map(one).collect();
    let n_samples = tried.first().map_or(0, |tried| tried.n_samples);
    format!("methods compared by {measure}: {}, on {n_samples} samples", methods.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::data::{DenseMatrix, Label, Vectors};
    use crate::instant::Instant;

    /// Rings, in two columns of different units.
    fn rings(n: usize) -> (AnySamples, Labels) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let noise = 0.5 * ((i * 37 % 101) as f64 / 101.0);
            let (radius, angle) = (if i % 2 == 0 { 1.0 } else { 1.5 } + noise, i as f64 * 0.7);
            values.extend([(radius * angle.cos()) as f32, (100.0 * radius * angle.sin()) as f32]);
            labels.push((i % 2) as i64);
        }
        let matrix = DenseMatrix { values, n_rows: n, n_cols: 2 };
        (AnySamples::Vectors(Vectors::Dense(matrix)), Labels::new(labels))
    }

    /// Two clouds that overlap, for which distances do as well as anything.
    fn clouds(n: usize) -> (AnySamples, Labels) {
        let noise =
            |i: usize, step: usize| (0..4).map(|j| ((i * step + j * 71) * 389 % 1009) as f32 / 1009.0).sum::<f32>();
        let values = (0..n).flat_map(|i| [noise(i, 31) + (i % 2) as f32, noise(i, 57)]).collect();
        let matrix = DenseMatrix { values, n_rows: n, n_cols: 2 };
        (AnySamples::Vectors(Vectors::Dense(matrix)), Labels::new((0..n as i64).map(|i| i % 2)))
    }

    #[test]
    fn the_thin_plate_is_left_out_where_its_kernels_are_far_behind() {
        let (samples, labels) = rings(300);
        let found = AutoParams::default().fit(&SamplesView::Other(&samples), &labels).unwrap();
        assert_eq!((found.tried.len(), found.model.method()), (1, "basis-expansion"));
        let notes = &found.model.report().notes;
        assert!(notes.iter().any(|note| note.starts_with("thin-plate was left out")), "{notes:?}");
        assert!(found.model.report().warnings.is_empty(), "{:?}", found.model.report().warnings);
    }

    #[test]
    fn the_method_with_the_least_loss_is_fitted_and_all_are_reported() {
        let (samples, labels) = clouds(300);
        let view = SamplesView::Other(&samples);
        let found = AutoParams::default().fit(&view, &labels).unwrap();
        assert_eq!(found.tried.len(), 3);
        let loss = |tried: &Tried<MethodPoint>| tried.loss.clone().unwrap();
        let least = found.tried.iter().min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
        assert_eq!(found.model.method(), least.point.method.to_string());
        assert!(found.model.report().notes.iter().any(|note| note.contains("methods compared")));
        // A method has the same results alone.
        for (method, tried) in METHODS.into_iter().zip(&found.tried) {
            let alone = AutoParams { methods: vec![method], threads: 2, ..AutoParams::default() };
            let alone = alone.fit(&view, &labels).unwrap();
            assert_eq!(alone.tried[0].loss, tried.loss);
            assert_eq!(alone.model.method(), method.to_string());
        }
    }

    #[test]
    fn many_samples_are_all_fitted_with_the_method_chosen_on_some() {
        let (samples, labels) = rings(1500);
        let found = AutoParams::default().fit(&SamplesView::Other(&samples), &labels).unwrap();
        assert!(found.tried.iter().all(|tried| tried.n_samples <= 1000));
        let scores = found.model.decision_function(&SamplesView::Other(&samples), 1, &Monitor::none()).unwrap();
        let right = (0..1500).filter(|&i| (scores.values()[i] > 0.0) == (i % 2 == 1)).count();
        assert!(right > 1450, "{right}");
    }

    /// The number of progress reports of methods before the last method begins.
    fn reports_before_the_last(samples: &AnySamples, labels: &Labels) -> usize {
        let reports = AtomicUsize::new(0);
        let sink = |progress: Progress| {
            if progress.stage == "methods" {
                assert!(progress.total == Progress::PARTS && progress.done <= progress.total, "{progress:?}");
                reports.fetch_add(1, Ordering::Relaxed);
            }
        };
        let monitor = Monitor::none().with_progress(&sink);
        AutoParams::default().fit_with(&SamplesView::Other(samples), labels, None, &monitor).unwrap();
        reports.into_inner() - 1
    }

    #[test]
    fn an_interruption_leaves_the_best_so_far() {
        let (samples, labels) = rings(1500);
        let view = SamplesView::Other(&samples);
        let cut_at = |place: usize| {
            let (cancel, reports) = (AtomicBool::new(false), AtomicUsize::new(0));
            let sink = |progress: Progress| {
                if progress.stage == "methods" && reports.fetch_add(1, Ordering::Relaxed) == place {
                    cancel.store(true, Ordering::Relaxed);
                }
            };
            let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
            AutoParams::default().fit_with(&view, &labels, None, &monitor)
        };
        assert!(matches!(cut_at(0), Err(Error::Cancelled { .. })));
        let found = cut_at(reports_before_the_last(&samples, &labels)).unwrap();
        assert_eq!((found.tried.len(), found.model.method()), (1, "basis-expansion"));
        assert!(found.model.report().is_partial());
        let [warning] = &found.model.report().warnings[..] else { panic!("{:?}", found.model.report()) };
        assert!(warning.contains("without trying thin-plate, trained on 1000 samples only"), "{warning}");
        let scores = found.model.decision_function(&view, 1, &Monitor::none()).unwrap();
        let right = (0..1500).filter(|&i| (scores.values()[i] > 0.0) == (i % 2 == 1)).count();
        assert!(right > 1400, "{right}");
    }

    #[test]
    fn a_time_limit_without_time_for_a_fit_reports_the_needed_time() {
        for (samples, labels) in [rings(300), rings(1500)] {
            let fit = |seconds: f64| {
                let monitor = Monitor::none().with_time_limit(Duration::from_secs_f64(seconds));
                AutoParams::default().fit_with(&SamplesView::Other(&samples), &labels, None, &monitor)
            };
            let Err(error) = fit(0.0) else { panic!("a fit in no time") };
            let Error::TooShort { needs, .. } = error else { panic!("{error}") };
            assert!(error.to_string().contains("time limit is too short"), "{error}");
            // A lower estimate, on a machine that may have other work.
            let longer = (0..8).map(|step| 10f64.powi(step) * needs.max(1e-4));
            let found = longer.map(fit).find_map(|found| match found {
                Err(error) => {
                    assert!(matches!(error, Error::TooShort { .. }), "{error}");
                    None
                }
                Ok(found) => Some(found),
            });
            assert!(!found.unwrap().model.report().has_unbegun());
        }
    }

    #[test]
    fn a_longer_time_limit_trains_on_more_samples_than_were_compared() {
        let (samples, labels) = rings(20_000);
        let view = SamplesView::Other(&samples);
        let rows: Vec<usize> = (0..SELECTION_SAMPLES).collect();
        let some = About::new(&view, &vec![1.0; labels.len()]).unwrap().select(&rows).unwrap();
        let start = Instant::now();
        AutoParams::default().fit(&SamplesView::Other(&some), &labels.select(&rows)).unwrap();
        // Enough for the comparison and as much again, on a machine that may have other work.
        let monitor = Monitor::none().with_time_limit(4 * start.elapsed());
        let found = AutoParams::default().fit_with(&view, &labels, None, &monitor).unwrap();
        let warnings = &found.model.report().warnings;
        let n_trained = warnings.iter().find_map(|warning| {
            let (_, rest) = warning.split_once("the model was trained on ")?;
            rest.split(' ').next()?.parse::<usize>().ok()
        });
        assert!(n_trained.is_none_or(|n| n > SELECTION_SAMPLES), "{warnings:?}");
        assert!(!warnings.iter().any(|warning| warning.contains("samples only")), "{warnings:?}");
    }

    #[test]
    fn a_time_limit_ends_the_comparison_with_the_best_so_far() {
        let (samples, labels) = rings(1001);
        let alone = AutoParams { methods: vec![Method::BasisExpansion], ..AutoParams::default() };
        let start = Instant::now();
        alone.fit(&SamplesView::Other(&samples), &labels).unwrap();
        let limit = 8 * start.elapsed();
        let (place, reports) = (reports_before_the_last(&samples, &labels), AtomicUsize::new(0));
        let start = Instant::now();
        let sink = |progress: Progress| {
            if progress.stage == "methods" && reports.fetch_add(1, Ordering::Relaxed) == place {
                std::thread::sleep((limit / 4 * 3).saturating_sub(start.elapsed()));
            }
        };
        let monitor = Monitor::none().with_progress(&sink).with_time_limit(limit);
        let found = AutoParams::default().fit_with(&SamplesView::Other(&samples), &labels, None, &monitor).unwrap();
        assert_eq!((found.tried.len(), found.model.method()), (1, "basis-expansion"));
        let warnings = &found.model.report().warnings;
        let expected = "the time limit passed: the best so far was selected, without trying thin-plate";
        assert!(warnings.iter().any(|warning| warning.starts_with(expected)), "{warnings:?}");
    }

    #[test]
    fn many_strings_whose_c_is_chosen_on_held_out_samples_are_fitted() {
        let word = |i: usize| {
            let letters = if i.is_multiple_of(2) { "abcd" } else { "abef" }.as_bytes();
            (0..6).map(|k| char::from(letters[(i * 31 + k * k * 17 + i / 7) % 4])).collect::<String>() + &i.to_string()
        };
        let samples = AnySamples::Strings((0..2400).map(word).collect());
        let labels = Labels::new((0..2400).map(|i| i % 2));
        let found = AutoParams::default().fit(&SamplesView::Other(&samples), &labels).unwrap();
        assert_eq!(found.model.method(), "basis-expansion");
        assert!(found.tried.is_empty());
    }

    #[test]
    fn all_labels_of_multilabel_targets_have_one_method() {
        let (samples, of_first) = clouds(400);
        let matrix = match &samples {
            AnySamples::Vectors(Vectors::Dense(matrix)) => matrix,
            other => panic!("{other:?}"),
        };
        // The class, the half-plane, and whether both are so; every fifth answer to the second is unknown.
        let mut answers = Vec::new();
        for (i, point) in matrix.values.chunks(2).enumerate() {
            let (is_second, is_high) = (of_first.codes()[i] == 1, point[1] > 2.0);
            let high = if i % 5 == 0 { f64::NAN } else { f64::from(u8::from(is_high)) };
            answers.extend([f64::from(u8::from(is_second)), high, f64::from(u8::from(is_second && is_high))]);
        }
        let names = ["second", "high", "both"].map(Label::from).to_vec();
        let labels = Labels::multilabel(names, &answers).unwrap();
        let view = SamplesView::Other(&samples);
        let found = AutoParams::default().fit(&view, &labels).unwrap();
        assert!(found.tried.len() >= 2 && found.model.is_multilabel(), "{:?}", found.tried);
        // Losses are of the same kind: means over samples and labels.
        let losses: Vec<f64> = found.tried.iter().map(|tried| tried.loss.clone().unwrap()).collect();
        let (least, most) = (losses.iter().copied().fold(1.0, f64::min), losses.iter().copied().fold(0.0, f64::max));
        assert!(least > 0.05 && most < 3.0 * least, "{losses:?}");
        assert!(found.tried.iter().all(|tried| tried.error.is_some_and(|error| error < 0.25)), "{:?}", found.tried);

        let by = |scoring: Scoring| AutoParams { scoring: Some(scoring), ..AutoParams::default() }.fit(&view, &labels);
        for scoring in [Scoring::Accuracy, Scoring::F1Macro, Scoring::RocAuc, Scoring::AveragePrecision] {
            let found = by(scoring).unwrap();
            let scores: Vec<f64> = found.tried.iter().map(|tried| tried.point.score.unwrap()).collect();
            let highest = scores.iter().copied().fold(0.0, f64::max);
            assert!(scores.iter().all(|score| (0.4..1.0).contains(score)), "{scoring}: {scores:?}");
            let selected =
                found.tried.iter().find(|tried| tried.point.method.to_string() == found.model.method()).unwrap();
            assert_eq!(selected.point.score.unwrap(), highest, "{scoring}");
        }
        let refused = by(Scoring::BalancedAccuracy).unwrap_err().to_string();
        assert!(refused.contains("multilabel targets have accuracy"), "{refused}");
    }

    #[test]
    fn methods_that_do_not_support_the_samples_have_their_reasons() {
        use Method::{PowerMean, ThinPlate};
        let (samples, labels) = rings(60);
        let of = |methods: &[Method], samples: &AnySamples| {
            let params = AutoParams { methods: methods.to_vec(), ..AutoParams::default() };
            params.fit(&SamplesView::Other(samples), &labels).unwrap_err().to_string()
        };
        assert_eq!(
            of(&[], &samples),
            "methods = none is not allowed: one of basis-expansion, thin-plate, power-mean at least"
        );
        let AnySamples::Vectors(Vectors::Dense(matrix)) = &samples else { panic!("{samples:?}") };
        let negative = matrix.values.iter().find(|value| **value < 0.0).unwrap();
        let expected = "methods = power-mean is not allowed: a method that can be fitted: power-mean: it takes vectors without \
                        values below 0, such as";
        assert_eq!(of(&[PowerMean], &samples), format!("{expected} {negative}"));
        let strings = AnySamples::Strings((0..60).map(|i| format!("text {i}")).collect());
        let expected = "a method that can be fitted: thin-plate, power-mean: it takes vectors, not strings";
        assert!(of(&[ThinPlate, PowerMean], &strings).ends_with(expected), "{}", of(&[ThinPlate, PowerMean], &strings));
    }

    #[test]
    fn methods_that_cannot_be_fitted_have_their_reasons() {
        let (samples, labels) = clouds(60);
        // The other samples have no weight in double precision.
        let weights: Vec<f64> = (0..60).map(|row| if row == 0 { 1e17 } else { 1.0 }).collect();
        let fit = |methods: &[Method]| {
            let params = AutoParams { methods: methods.to_vec(), ..AutoParams::default() };
            params.fit_with(&SamplesView::Other(&samples), &labels, Some(&weights), &Monitor::none())
        };
        let methods = [Method::BasisExpansion, Method::ThinPlate];
        let all = fit(&methods).unwrap_err().to_string();
        for method in methods {
            let alone = fit(&[method]).unwrap_err().to_string();
            let (_, reason) = alone.split_once(&format!("a method that can be fitted: {method}: ")).unwrap();
            assert!(all.contains(&method.to_string()) && all.contains(reason), "{reason} in {all}");
            assert!(!reason.is_empty() && reason.len() < 300, "{reason}");
        }
    }
}
