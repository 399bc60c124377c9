//! p, the number of nodes and C of a power mean SVM by leave-one-out on some of the samples.
//!
//! A candidate is a kernel between these samples, exact or reduced to nodes: least squares on it have leave-one-out in
//! closed form for all C at once (`solve/least_squares.rs`). p is the first whose loss of the exact kernel is near the
//! least; then come more nodes until the reduced kernel loses next to nothing; last C, the smallest that is next to the
//! best, since the loss is often flat to the right, where the solver takes longer. C keeps its meaning with the number
//! of samples: it is the weight of each.
//!
//! For n samples a candidate takes about 9 n³ flops and, for each feature, the square of the number of samples that
//! have it.

use serde::{Deserialize, Serialize};

use super::params::PowerMeanParams;
use super::sample_gram::{Columns, Scalar};
use crate::data::{Labels, Rows};
use crate::error::{Error, Result};
use crate::expansion::{CodedRows, MAX_NODES};
use crate::linalg::factor::Matrix;
use crate::model::choose_rows;
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::problem::{OneVsRest, typical_weight};
use crate::similarity::{AdditiveKernel, ScalarKernel};
pub use crate::solve::least_squares::TriedC;
use crate::solve::least_squares::{LeastSquares, path};
use crate::solve::selection::select_c;
use crate::solve::thin_plate::Problems;
use crate::tuning::{MAX_LOSS_OF_C, MAX_LOSS_OF_NODES, MAX_LOSS_OF_POWER, POWER_SAMPLES, POWERS, SELECTION_SAMPLES};

/// The candidates for the number of nodes.
const NODES: [usize; 6] = [3, 4, 6, 8, 12, MAX_NODES];

/// The selected parameters of a power mean SVM, and their selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PowerMeanChoice {
    /// The names of the selected parameters: `kernel`, `nodes`, `C`.
    pub chosen: Vec<String>,
    /// Number of samples on which C was chosen.
    pub n_samples: usize,
    /// Number of samples on which kernels were compared.
    pub n_compared: usize,
    /// The kernels compared, in order.
    pub tried: Vec<TriedKernel>,
    /// The values of C for the selected kernel, ascending.
    pub path: Vec<TriedC>,
}

/// A candidate kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedKernel {
    /// Its spec.
    pub kernel: String,
    /// The number of nodes of its approximation; `None` for the exact kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_nodes: Option<usize>,
    /// The C with the smallest loss.
    #[serde(rename = "C", default, skip_serializing_if = "Option::is_none")]
    pub c: Option<f64>,
    /// The mean leave-one-out squared hinge at this C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loo_squared_hinge: Option<f64>,
    /// The leave-one-out error at this C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loo_error: Option<f64>,
    /// The reason, if it could not be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl PowerMeanParams {
    /// The samples with a weight on which [`PowerMeanParams::choose_on`] compares candidates: at most 1,000, of at most
    /// 100 classes.
    #[doc(hidden)]
    pub fn rows_to_choose_on(&self, labels: &Labels, weights: &[f64]) -> Vec<usize> {
        // Labels that weigh samples differently are decomposed one by one: in all as long as all at once of more
        // samples.
        let targets = OneVsRest::of(labels);
        let most = if targets.is_even() {
            SELECTION_SAMPLES
        } else {
            (SELECTION_SAMPLES as f64 / (targets.n_problems() as f64).cbrt()) as usize
        };
        choose_rows(labels, weights, most.min(weights.len()), self.seed)
    }

    /// The parameters with the selected values in place of `auto`, and the candidates, on samples whose rows are
    /// elsewhere: `samples` has those with these `numbers` among all; of all samples `labels` has the classes,
    /// `weights` the effective weights and `units` the part of each that leave-one-out removes. Features are multiplied
    /// by the `factors`.
    ///
    /// Where nothing is to be chosen, or the hinge or the polynomial keeps it from being chosen, nothing is tried.
    ///
    /// # Errors
    /// [`Error::Shape`] for other numbers of rows and weights; [`Error::Value`] for values beyond single precision;
    /// [`Error::Parameter`] if no candidate could be tried, with the reasons; [`Error::Cancelled`].
    #[doc(hidden)]
    pub fn choose_on(
        &self,
        samples: &impl Rows,
        numbers: &[usize],
        labels: &Labels,
        (weights, units): (&[f64], &[f64]),
        factors: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(Self, PowerMeanChoice)> {
        labels.check(weights.len())?;
        let n = numbers.len();
        if samples.n_rows() != n || units.len() != weights.len() || numbers.iter().any(|&row| row >= weights.len()) {
            let found = format!("{} rows, {} units", samples.n_rows(), units.len());
            return Err(Error::shape("samples to choose on", found, format!("{n} and {}", weights.len())));
        }
        if !self.chooses() {
            return Ok((self.without_choice(), PowerMeanChoice::default()));
        }
        let of_sample = |all: &[f64]| -> Vec<f64> { numbers.iter().map(|&row| all[row]).collect() };
        let (labels, weights, units) = (labels.select(numbers), of_sample(weights), of_sample(units));
        let all: Vec<usize> = (0..n).collect();
        let rows = CodedRows::new(samples, &all, &weights, factors)?;
        let part = |places: &[usize]| Part::new(&rows, (&labels, &weights, &units), places);
        let (whole, mut params) = (part(&all), self.without_choice());
        if whole.columns.is_empty() {
            // Every sample is empty: all decision values are 0, whatever the parameters.
            return Ok((params, PowerMeanChoice::default()));
        }
        let (pool, c) = (Pool::new(self.threads)?, (!self.auto.c).then_some(self.c));
        let mut choice = PowerMeanChoice { n_samples: n, ..PowerMeanChoice::default() };
        if self.auto.p || self.auto.n_nodes {
            let few = part(&choose_rows(&labels, &weights, POWER_SAMPLES.min(n), self.seed));
            let mut search = Search::new(&few, &params, c, &pool, monitor);
            if self.auto.p {
                params.kernel = search.best_kernel(&params, self.auto.n_nodes)?;
            }
            if self.auto.n_nodes {
                params.n_nodes = search.enough_nodes(&params)?;
            }
            (choice.n_compared, choice.tried) = (few.weights.len(), search.tried);
        }
        if self.auto.c {
            choice.path = Search::new(&whole, &params, None, &pool, monitor).path(&params)?;
            // The loss is often flat to the right, where the solver takes longer.
            let losses = choice.path.iter().map(|at| (at.c, Some(at.loo_squared_hinge)));
            params.c = select_c(losses, MAX_LOSS_OF_C).map_or(f64::NAN, |at| choice.path[at].c);
        }
        let names = [("kernel", self.auto.p), ("nodes", self.auto.n_nodes), ("C", self.auto.c)];
        choice.chosen = names.iter().filter(|(_, is_chosen)| *is_chosen).map(|(name, _)| (*name).to_owned()).collect();
        Ok((params, choice))
    }
}

impl PowerMeanChoice {
    /// The selected values, in a line.
    pub(super) fn summary(&self, params: &PowerMeanParams) -> String {
        let value = |name: &String| match name.as_str() {
            "kernel" => format!("kernel {}", params.kernel),
            "nodes" => format!("{} nodes", params.n_nodes),
            _ => format!("C = {:.4e}", params.c),
        };
        let values: Vec<String> = self.chosen.iter().map(value).collect();
        if values.is_empty() {
            return "nothing was chosen: all samples are empty".into();
        }
        let kernels = match self.tried.len() {
            0 => String::new(),
            tried => format!(", {tried} kernels on {}", self.n_compared),
        };
        format!("{}: by leave-one-out on {} of the samples{kernels}", values.join(", "), self.n_samples)
    }
}

/// The losses of a kernel at some values of C, or why there are none.
type Losses = std::result::Result<Vec<TriedC>, String>;

/// Some of the samples with their labels and weights.
struct Part {
    labels: Labels,
    weights: Vec<f64>,
    units: Vec<f64>,
    columns: Columns,
}

impl Part {
    /// Those at some places of the samples.
    fn new(rows: &CodedRows, (labels, weights, units): (&Labels, &[f64], &[f64]), places: &[usize]) -> Self {
        let of_part = |all: &[f64]| -> Vec<f64> { places.iter().map(|&at| all[at]).collect() };
        let (weights, units) = (of_part(weights), of_part(units));
        // The classes that there are among them.
        Part { labels: labels.select(places), columns: Columns::new(rows, places, &weights), weights, units }
    }
}

struct Search<'a> {
    problems: Problems<'a>,
    columns: &'a Columns,
    /// The mean of k(x, x), the unit of 1/C; of a kernel of one's own it is another each time.
    unit: Option<f64>,
    /// As of [`typical_weight`].
    typical_weight: f64,
    /// C if it is fixed.
    c: Option<f64>,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
    tried: Vec<TriedKernel>,
}

impl<'a> Search<'a> {
    fn new(part: &'a Part, params: &PowerMeanParams, c: Option<f64>, pool: &'a Pool, monitor: &'a Monitor<'a>) -> Self {
        let Part { labels, weights, units, columns } = part;
        // Of a power mean Σ x, whatever p and the nodes are.
        let unit = columns.total() / weights.iter().sum::<f64>();
        let targets = match labels.is_multilabel() {
            true => OneVsRest::of(labels),
            false => OneVsRest::new(labels.codes(), labels.classes().len().max(2)),
        };
        Search {
            problems: Problems { targets, weights, units },
            columns,
            unit: matches!(params.kernel, ScalarKernel::BuiltIn(_)).then_some(unit),
            typical_weight: typical_weight(units),
            c,
            pool,
            monitor,
            tried: Vec::new(),
        }
    }

    /// The losses of a kernel at C, or along the path.
    fn losses(&self, gram: Matrix) -> Result<Losses> {
        let beyond = "its values are beyond double precision";
        let Some(machine) = LeastSquares::new(gram, &self.problems) else { return Ok(Err(beyond.into())) };
        let unit = || self.typical_weight * self.unit.unwrap_or_else(|| machine.unit());
        let losses = match self.c {
            Some(c) => vec![machine.leave_one_out(c, self.monitor)?],
            None => path(&machine, unit(), self.monitor)?,
        };
        let all = losses.iter().all(|at| at.loo_squared_hinge.is_finite());
        Ok(if all { Ok(losses) } else { Err(beyond.into()) })
    }

    /// Notes a kernel and returns its least loss.
    fn note(&mut self, kernel: &ScalarKernel, n_nodes: Option<usize>, losses: &Losses) -> Option<f64> {
        let best = losses
            .as_ref()
            .ok()
            .and_then(|all| all.iter().min_by(|a, b| a.loo_squared_hinge.total_cmp(&b.loo_squared_hinge)));
        self.tried.push(TriedKernel {
            kernel: kernel.to_string(),
            n_nodes,
            c: best.map(|best| best.c),
            loo_squared_hinge: best.map(|best| best.loo_squared_hinge),
            loo_error: best.map(|best| best.loo_error),
            problem: losses.as_ref().err().cloned(),
        });
        best.map(|best| best.loo_squared_hinge)
    }

    /// The losses of the reduced kernel, and its number of nodes.
    fn reduced(&self, params: &PowerMeanParams) -> Result<(Losses, usize)> {
        let map = params.map(&self.columns.values, &self.columns.counts)?;
        Ok((self.losses(self.columns.gram(Scalar::Reduced(&map)))?, map.n_nodes()))
    }

    /// The first power mean whose loss is near the least: of the exact kernels where nodes are chosen too, else of the
    /// reduced ones.
    fn best_kernel(&mut self, params: &PowerMeanParams, is_exact: bool) -> Result<ScalarKernel> {
        let all = POWERS.map(|p| AdditiveKernel::PowerMean { p });
        let found = self.pool.try_map(all.len(), |at| {
            self.monitor.go_on("choose")?;
            if is_exact {
                return Ok((self.losses(self.columns.gram(Scalar::Exact(all[at])))?, None));
            }
            let (losses, n_nodes) = self.reduced(&params.clone().kernel(all[at]))?;
            Ok::<_, Error>((losses, Some(n_nodes)))
        })?;
        let noted = |(kernel, (losses, n_nodes)): (&AdditiveKernel, &(Losses, Option<usize>))| {
            self.note(&(*kernel).into(), *n_nodes, losses)
        };
        let losses: Vec<Option<f64>> = all.iter().zip(&found).map(noted).collect();
        self.tell(1);
        let least = losses.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let near = losses.iter().position(|loss| loss.is_some_and(|loss| loss <= least * (1.0 + MAX_LOSS_OF_POWER)));
        near.map(|at| all[at].into()).ok_or_else(|| self.nothing("kernel"))
    }

    /// The smallest number of nodes with which the reduced kernel loses next to nothing of the exact one.
    fn enough_nodes(&mut self, params: &PowerMeanParams) -> Result<usize> {
        let exact = match &params.kernel {
            ScalarKernel::BuiltIn(kernel) => {
                let known = self.tried.iter().find(|tried| tried.kernel == kernel.to_string());
                match known.and_then(|known| known.loo_squared_hinge) {
                    Some(loss) => Some(loss),
                    None => {
                        let losses = self.losses(self.columns.gram(Scalar::Exact(*kernel)))?;
                        self.note(&params.kernel, None, &losses)
                    }
                }
            }
            // Many nodes stand for a kernel of one's own: its function is called for few pairs only.
            ScalarKernel::Own(_) => {
                let (losses, n_nodes) = self.reduced(&params.clone().n_nodes(MAX_NODES))?;
                self.note(&params.kernel, Some(n_nodes), &losses)
            }
        };
        let Some(exact) = exact else { return Err(self.nothing("nodes")) };
        let mut found: Vec<(usize, f64)> = Vec::new();
        for n_nodes in NODES {
            self.monitor.go_on("choose")?;
            let (losses, n_found) = self.reduced(&params.clone().n_nodes(n_nodes))?;
            if let Some(loss) = self.note(&params.kernel, Some(n_found), &losses) {
                found.push((n_nodes, loss));
            }
            // With fewer nodes than requested, there are no more.
            if n_found < n_nodes || found.last().is_some_and(|(_, loss)| *loss <= exact * (1.0 + MAX_LOSS_OF_NODES)) {
                break;
            }
        }
        self.tell(2);
        let least = found.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
        let enough = found.iter().find(|(_, loss)| *loss <= least * (1.0 + MAX_LOSS_OF_NODES));
        enough.map(|(n_nodes, _)| *n_nodes).ok_or_else(|| self.nothing("nodes"))
    }

    /// The path of C of the kernel as it will be fitted.
    fn path(&self, params: &PowerMeanParams) -> Result<Vec<TriedC>> {
        self.monitor.go_on("choose")?;
        let (losses, _) = self.reduced(params)?;
        self.tell(3);
        losses.map_err(|problem| {
            let expected = format!("a kernel that can be tried: {}: {problem}", params.kernel);
            Error::parameter("C", "auto", expected)
        })
    }

    fn tell(&self, done: u64) {
        self.monitor.tell(Progress { stage: "choose", done, total: 3, gap: None });
    }

    /// The error where no candidate could be tried.
    fn nothing(&self, name: &'static str) -> Error {
        let reason =
            |tried: &TriedKernel| format!("{}: {}", tried.kernel, tried.problem.as_deref().unwrap_or("no loss"));
        let reasons: Vec<String> = self.tried.iter().map(reason).collect();
        Error::parameter(name, "auto", format!("a candidate that can be tried: {}", reasons.join("; ")))
    }
}
