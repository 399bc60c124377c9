//! Which similarity: candidates on some of the samples, judged by leave-one-out in closed form.
//!
//! A candidate is a similarity, or several, with its normalization. Its features on at most a thousand samples, half of them
//! bases at most, are solved along a path of C, and the least mean leave-one-out squared hinge is its loss. Where a gamma was
//! learned, its neighbours by factors of two follow while the loss falls; then the next best candidates are joined to the
//! best as long as that helps (Aghazadeh & Carlsson, section 3.5). All samples then train what was found.
//!
//! A candidate costs about n·B² + n²·B + B³ flops for n samples and B bases, next to its similarities.

use std::time::Instant;

use crate::data::{AnySamples, ClassWeight, Labels, Rows, Samples, Source, Vectors, effective_weights};
use crate::error::{Error, Result};
use crate::expansion::{Definite, Normalization};
use crate::model::{BasisExpansionParams, choose_rows};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::problem::Intercept;
use crate::similarity::{AnySimilarity, Similarity, similarity_rows};
use crate::solve::thin_plate::{Problems, fit_given};

/// Samples on which candidates are compared, and their bases: a difference of a hundredth in loss is seen there.
const SAMPLES: usize = 1000;
const BASES: usize = 500;

/// Steps of a factor of two by which a learned gamma may be changed.
const GAMMA_STEPS: usize = 3;

/// A candidate whose loss is beyond this multiple of the least is not pursued.
const WITHIN: f64 = 1.25;

/// Similarities to join, and the part of the loss that each must save.
const MOST_JOINED: usize = 3;
const GAIN: f64 = 0.01;

/// Columns whose spreads differ by more than this factor may have different units.
const UNEVEN: f64 = 3.0;

/// Similarities with their normalization.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Specs, side by side.
    pub similarity: Vec<String>,
    /// How they are normalised.
    pub normalization: Normalization,
}

/// What was found of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// With learned values.
    pub candidate: Candidate,
    /// The least mean leave-one-out squared hinge on the path of C, or why there is none.
    pub loss: std::result::Result<f64, String>,
    /// The share of the samples that are misclassified when left out, there.
    pub error: Option<f64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityChoice {
    /// The candidate with the least loss.
    pub best: Candidate,
    /// All that were tried, in order.
    pub tried: Vec<Tried>,
    /// How many samples they were tried on.
    pub n_samples: usize,
}

/// A search for the similarity.
#[derive(Clone, Debug)]
pub struct SimilaritySearch {
    /// What is tried; empty for what suits the kind of samples.
    pub candidates: Vec<Candidate>,
    /// How the intercept is treated.
    pub intercept: Intercept,
    /// The class weights.
    pub class_weight: ClassWeight,
    /// Seed of the samples on which candidates are compared.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl Default for SimilaritySearch {
    fn default() -> Self {
        let (intercept, class_weight) = (Intercept::Free, ClassWeight::Uniform);
        SimilaritySearch { candidates: Vec::new(), intercept, class_weight, seed: 0, threads: 0 }
    }
}

impl SimilarityChoice {
    /// What was tried, in a line: the losses, least first.
    pub fn told(&self) -> String {
        let mut ranked: Vec<&Tried> = self.tried.iter().collect();
        let loss = |tried: &Tried| tried.loss.as_ref().copied().unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        let one = |tried: &&Tried| {
            let named = format!("{} ({})", tried.candidate.similarity.join(" + "), tried.candidate.normalization);
            match &tried.loss {
                Ok(loss) => format!("{named} {loss:.4}"),
                Err(problem) => format!("{named} failed: {problem}"),
            }
        };
        let told: Vec<String> = ranked.iter().map(one).collect();
        format!("mean leave-one-out squared hinge on {} samples: {}", self.n_samples, told.join(", "))
    }
}

impl SimilaritySearch {
    /// The search for these parameters' similarity.
    pub fn for_params<S: Similarity>(params: &BasisExpansionParams<S>) -> Self {
        SimilaritySearch {
            candidates: Vec::new(),
            intercept: params.intercept,
            class_weight: params.class_weight.clone(),
            seed: params.expander.seed,
            threads: params.threads,
        }
    }

    /// Searches.
    ///
    /// # Errors
    /// Invalid labels and weights; [`Error::Parameter`] if no candidate could be tried, with the reasons;
    /// [`Error::Cancelled`]. A time limit ends the search with the best so far.
    pub fn choose(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        labels.check(samples.n_samples())?;
        let weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let rows = choose_rows(labels, &weights, SAMPLES.min(weights.len()), self.seed);
        let codes: Vec<u32> = rows.iter().map(|&row| labels.codes()[row]).collect();
        let units = rows.iter().map(|&row| weights[row] / sample_weight.map_or(1.0, |given| given[row].max(1.0)));
        let some = samples.select(&rows)?;
        let mut trial = Trial {
            search: self,
            labels: Labels::from_codes(labels.classes().to_vec(), codes)?,
            weights: rows.iter().map(|&row| weights[row]).collect(),
            units: units.collect(),
            samples: some,
            pool: Pool::new(self.threads)?,
            monitor,
            tried: Vec::new(),
        };
        let candidates = match &self.candidates[..] {
            [] => candidates_for(&trial.samples),
            given => given.to_vec(),
        };
        let total = candidates.len() as u64;
        for (at, candidate) in candidates.into_iter().enumerate() {
            trial.run(candidate)?;
            monitor.tell(Progress { stage: "similarity search", done: at as u64 + 1, total, gap: None });
        }
        trial.climb()?;
        trial.join()?;
        let Some(best) = trial.ranked().first().map(|&at| trial.tried[at].candidate.clone()) else {
            let reason = |tried: &Tried| {
                let problem = tried.loss.as_ref().err().map_or("", String::as_str);
                format!("{}: {problem}", tried.candidate.similarity.join(" "))
            };
            let reasons: Vec<String> = trial.tried.iter().map(reason).collect();
            let expected = format!("a candidate that can be tried: {}", reasons.join("; "));
            return Err(Error::parameter("similarity", "auto", expected));
        };
        Ok(SimilarityChoice { best, tried: trial.tried, n_samples: rows.len() })
    }
}

/// The samples and what was tried on them.
struct Trial<'a> {
    search: &'a SimilaritySearch,
    samples: AnySamples,
    labels: Labels,
    weights: Vec<f64>,
    units: Vec<f64>,
    pool: Pool,
    monitor: &'a Monitor<'a>,
    tried: Vec<Tried>,
}

impl Trial<'_> {
    /// Tries a candidate and returns its place; none once the time is up.
    fn run(&mut self, candidate: Candidate) -> Result<Option<usize>> {
        self.monitor.go_on("similarity search")?;
        if self.monitor.ask().is_err() && !self.tried.is_empty() {
            return Ok(None);
        }
        let (start, mut learned) = (Instant::now(), candidate.clone());
        let found = self.features_and_loss(&mut learned);
        let (loss, error) = match found {
            Err(Error::Cancelled { stage }) => return Err(Error::Cancelled { stage }),
            Err(problem) => (Err(problem.to_string()), None),
            Ok((loss, error)) => (Ok(loss), error),
        };
        let seconds = start.elapsed().as_secs_f64();
        self.tried.push(Tried { candidate: learned, loss, error, seconds });
        Ok(Some(self.tried.len() - 1))
    }

    fn features_and_loss(&self, candidate: &mut Candidate) -> Result<(f64, Option<f64>)> {
        let quiet = self.monitor.without_progress();
        let params = BasisExpansionParams::new(AnySimilarity::new(&candidate.similarity)?)
            .normalization(candidate.normalization)
            .n_basis(BASES.min(self.labels.len()))
            .seed(self.search.seed)
            .threads(self.search.threads);
        let expanded = params.expand(&self.samples, Some(&self.labels), &quiet)?;
        candidate.similarity = expanded.expansion.similarity().specs();
        let (codes, n_classes) = (self.labels.codes(), self.labels.classes().len());
        let problems = Problems { codes, n_classes, weights: &self.weights, units: &self.units };
        let phi = expanded.features.view()?;
        let fitted = fit_given(phi, &problems, None, self.search.intercept, false, &self.pool, &quiet)?;
        let point = fitted.outcome.best.point;
        let loss = point.loo_squared_hinge.filter(|loss| loss.is_finite());
        let unsolved = || Error::parameter("C", "auto", "a problem that can be solved at some C of the path");
        Ok((loss.ok_or_else(unsolved)?, point.loo_error))
    }

    fn loss(&self, at: usize) -> f64 {
        self.tried[at].loss.as_ref().copied().unwrap_or(f64::INFINITY)
    }

    /// The candidates that could be tried, by ascending loss.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tried.len()).filter(|&at| self.tried[at].loss.is_ok()).collect();
        order.sort_by(|&a, &b| self.loss(a).total_cmp(&self.loss(b)));
        order
    }

    /// Changes the gamma of the good candidates while that helps.
    fn climb(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(least) = ranked.first().map(|&at| self.loss(at)) else { return Ok(()) };
        for start in ranked.into_iter().filter(|&at| self.loss(at) <= WITHIN * least).collect::<Vec<_>>() {
            let Some(gamma) = gamma_of(&self.tried[start].candidate) else { continue };
            for factor in [2.0, 0.5] {
                let mut best = start;
                for step in 1..=GAMMA_STEPS {
                    let candidate = with_gamma(&self.tried[start].candidate, gamma * f64::powi(factor, step as i32));
                    let Some(at) = self.run(candidate)? else { return Ok(()) };
                    if self.loss(at) >= self.loss(best) {
                        break;
                    }
                    best = at;
                }
                if best != start {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Joins the next best similarities of the same normalization to the best while that helps.
    fn join(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let (mut best, mut joined) = (first, vec![name_of(&self.tried[first].candidate)]);
        for &other in &ranked[1..] {
            if joined.len() > MOST_JOINED || self.loss(other) > WITHIN * self.loss(first) {
                break;
            }
            let (mine, theirs) = (self.tried[best].candidate.clone(), self.tried[other].candidate.clone());
            // Neighbours in gamma add nothing.
            if joined.contains(&name_of(&theirs)) || mine.normalization != theirs.normalization {
                continue;
            }
            let similarity = [mine.similarity, theirs.similarity.clone()].concat();
            let Some(at) = self.run(Candidate { similarity, normalization: mine.normalization })? else { break };
            joined.push(name_of(&theirs));
            if self.loss(at) < self.loss(best) * (1.0 - GAIN) {
                best = at;
            }
        }
        Ok(())
    }
}

/// The steps of a candidate without their parameters.
fn name_of(candidate: &Candidate) -> String {
    let names = |spec: &String| -> Vec<String> {
        spec.split('/').map(|step| step.split(':').next().unwrap_or_default().to_owned()).collect()
    };
    candidate.similarity.iter().flat_map(names).collect::<Vec<_>>().join("/")
}

/// The gamma of a single similarity.
fn gamma_of(candidate: &Candidate) -> Option<f64> {
    let [spec] = &candidate.similarity[..] else { return None };
    spec.rsplit_once("gamma=")?.1.split(',').next()?.parse().ok()
}

fn with_gamma(candidate: &Candidate, gamma: f64) -> Candidate {
    let changed = |spec: &String| match spec.rsplit_once("gamma=") {
        Some((before, after)) => {
            let rest = after.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
            format!("{before}gamma={gamma}{rest}")
        }
        None => spec.clone(),
    };
    let similarity = candidate.similarity.iter().map(changed).collect();
    Candidate { similarity, normalization: candidate.normalization }
}

/// The normalization that suits a similarity: of a kernel the Nyström map, of minus a distance its centred form, else
/// that of the paper.
pub fn usual_normalization(spec: &str) -> Normalization {
    let last = spec.rsplit(['/', '>']).next().unwrap_or_default();
    let name = last.split(':').next().unwrap_or_default();
    let definite = similarity_rows().find(|row| row.name == name).map(|row| row.definite);
    match definite {
        Some(crate::similarity::Definite::Positive) => Normalization::Nystrom(Definite::Clip),
        Some(crate::similarity::Definite::Conditional) => Normalization::CenteredNystrom(Definite::Clip),
        _ => Normalization::MeanNorm,
    }
}

/// What is tried for a kind of samples.
fn candidates_for(samples: &AnySamples) -> Vec<Candidate> {
    let usual = |spec: &str| Candidate { similarity: vec![spec.to_owned()], normalization: usual_normalization(spec) };
    let centred = |spec: &str| Candidate {
        similarity: vec![spec.to_owned()],
        normalization: Normalization::CenteredNystrom(Definite::Flip),
    };
    match samples {
        AnySamples::Vectors(vectors) => {
            let prefix = if is_uneven(vectors) { "z-score/" } else { "" };
            let names = ["laplacian", "distance", "cityblock", "rbf", "linear"];
            let mut all: Vec<Candidate> = names.iter().map(|name| usual(&format!("{prefix}{name}"))).collect();
            if is_histogram(vectors) {
                all.extend(["chi2", "intersection"].map(usual));
            }
            all
        }
        AnySamples::Strings(_) => {
            vec![centred("edit"), usual("ngram:n=2"), usual("ngram:n=3"), usual("align"), usual("edit")]
        }
        AnySamples::Series(_) => {
            let spec = |window: &str| format!("dtw:window={window},root=true");
            let windows = ["0", "0.05", "0.1"].map(spec);
            windows.iter().flat_map(|spec| [centred(spec), centred(&format!("znorm/{spec}"))]).collect()
        }
        AnySamples::Images(_) => {
            ["hog:cell=4/rbf", "hog:cell=8/rbf", "hog:cell=4/rigid:radius=1", "hog:cell=8/rigid:radius=1"]
                .map(usual)
                .to_vec()
        }
        AnySamples::Grids(_) => ["rigid:radius=1", "rigid:radius=2"].map(usual).to_vec(),
        AnySamples::BitSets(_) => ["tanimoto", "cosine"].map(usual).to_vec(),
        AnySamples::Described(_) => Vec::new(),
    }
}

/// Whether the spreads of dense columns differ so much that they may have different units.
fn is_uneven(vectors: &Vectors) -> bool {
    let Vectors::Dense(matrix) = vectors else { return false };
    let spread = |column: usize| {
        let values = matrix.values.iter().skip(column).step_by(matrix.n_cols.max(1)).map(|x| f64::from(*x));
        let mean = values.clone().sum::<f64>() / matrix.n_rows as f64;
        (values.map(|x| (x - mean).powi(2)).sum::<f64>() / matrix.n_rows as f64).sqrt()
    };
    let spreads: Vec<f64> = (0..matrix.n_cols).map(spread).filter(|spread| *spread > 0.0).collect();
    let (least, most) = spreads.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &s| (a.min(s), b.max(s)));
    most > UNEVEN * least
}

/// Whether rows look like histograms: nothing below 0, and more than half of all values 0.
fn is_histogram(vectors: &Vectors) -> bool {
    let (mut n_zero, mut n_all) = (0usize, 0usize);
    match vectors {
        Vectors::Dense(matrix) => {
            n_all = matrix.values.len();
            n_zero = matrix.values.iter().filter(|x| **x == 0.0).count();
            matrix.values.iter().all(|x| *x >= 0.0) && 2 * n_zero > n_all
        }
        Vectors::Sparse(matrix) => {
            let Ok(view) = matrix.view() else { return false };
            let mut is_positive = true;
            for row in 0..vectors.len() {
                view.for_each_nonzero(row, |_, value| {
                    is_positive &= value >= 0.0;
                    n_zero += 1;
                });
                n_all += vectors.n_cols();
            }
            is_positive && 2 * n_zero < n_all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseMatrix;

    /// Rings: linear similarities fail, and gamma matters.
    fn rings(n: usize) -> (AnySamples, Labels) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (radius, angle) =
                (if i % 2 == 0 { 1.0 } else { 1.6 } + 0.3 * ((i * 37 % 101) as f64 / 101.0), i as f64 * 0.7);
            values.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
            labels.push((i % 2) as i64);
        }
        let matrix = DenseMatrix { values, n_rows: n, n_cols: 2 };
        (AnySamples::Vectors(Vectors::Dense(matrix)), Labels::new(labels))
    }

    #[test]
    fn the_best_of_the_candidates_is_found_and_all_are_told() {
        let (samples, labels) = rings(200);
        let search = SimilaritySearch::default();
        let found = search.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        let loss_of = |name: &str| {
            let of_name = found.tried.iter().filter(|tried| tried.candidate.similarity[0].starts_with(name));
            of_name.filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min)
        };
        let least = found.tried.iter().filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min);
        let best = found.tried.iter().find(|tried| tried.candidate == found.best).unwrap();
        assert_eq!(best.loss, Ok(least));
        assert!(least < 0.8 * loss_of("linear"), "{least}");
        // The order of threads is not seen.
        let again =
            SimilaritySearch { threads: 3, ..search }.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert_eq!(again.best, found.best);
        assert_eq!(found.n_samples, 200);
    }

    #[test]
    fn a_candidate_that_fails_is_told_and_all_failing_is_an_error() {
        let (samples, labels) = rings(60);
        let of = |specs: &[&str]| SimilaritySearch {
            candidates: specs
                .iter()
                .map(|spec| Candidate {
                    similarity: vec![(*spec).to_owned()],
                    normalization: usual_normalization(spec),
                })
                .collect(),
            ..SimilaritySearch::default()
        };
        let found = of(&["rbf", "chi2"]).choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert!(found.best.similarity[0].starts_with("rbf"));
        assert!(found.tried[1].loss.as_ref().unwrap_err().contains("at least 0"), "{:?}", found.tried[1]);
        let error = of(&["edit", "chi2"]).choose(&samples, &labels, None, &Monitor::none()).unwrap_err().to_string();
        assert!(error.contains("edit") && error.contains("chi2"), "{error}");
    }

    #[test]
    fn gamma_is_read_and_changed() {
        let candidate =
            |spec: &str| Candidate { similarity: vec![spec.into()], normalization: Normalization::MeanNorm };
        let changed = with_gamma(&candidate("z-score/polynomial:degree=2,gamma=0.5,coef0=1"), 4.0);
        assert_eq!(changed.similarity, ["z-score/polynomial:degree=2,gamma=4,coef0=1"]);
        assert_eq!(gamma_of(&changed), Some(4.0));
        assert_eq!(gamma_of(&candidate("linear")), None);
    }
}
