//! Labeled graphs as sparse vectors of the patterns of labels around their vertices: `wl:iterations=3`.
//!
//! Each vertex has a color, at first its label. An iteration gives it a new one: that of the pair of its color and the
//! sorted colors of its neighbors, each with the label of the edge to it. The vector of a graph counts, for the labels
//! and for the colors of each iteration, how many vertices have each: `wl/linear` is the Weisfeiler–Lehman subtree
//! kernel of Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt, *Weisfeiler-Lehman graph kernels*, JMLR
//! 2011, and
//! `wl/cosine` the same normalized. Isomorphic graphs have equal vectors.
//!
//! Colors are hashes, so that they are the same in every graph and every process. Those of the training graphs become
//! columns; one more column has the norm of the counts of all others, which no training graph has: it is in x·x alone,
//! so that
//! `cosine` and `tanimoto` of a new graph and a training graph are those of all their patterns. An iteration takes a
//! hash of 8 or 16 bytes a vertex and end of an edge, and a sort of each vertex's neighbors.
//!
//! A graph is a string of JSON.

mod graph;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use self::graph::Graph;
use super::Descriptor;
use super::ngrams::Fnv;
use super::row::{DescriptorRow, fitted};
use super::term_columns::{Columns, columns_of, cut, halves_of};
use crate::data::{CsrMatrix, Training};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(crate) const WL: DescriptorRow = DescriptorRow {
    name: "wl",
    class: "WeisfeilerLehman",
    samples: &["strings"],
    parameters: &[
        Parameter::new("iterations", Values::Whole(0, 20), "The number of iterations; 0 counts the labels alone.")
            .or("3")
            .written(),
        Parameter::new("directed", Values::Flag, "Whether edges have a direction.").or("false"),
    ],
    usual: "cosine",
    build: |step| Ok(vec![Box::new(WeisfeilerLehman::from_step(step)?)]),
};

/// Graphs read at a time.
const CHUNK_GRAPHS: usize = 256;

/// Whether all strings are graphs.
pub fn are_graphs(strings: &[String]) -> bool {
    !strings.is_empty() && strings.iter().all(|string| Graph::read(string).is_ok())
}

/// Graphs to sparse vectors of counts of colors, which are learned from the training samples.
#[derive(Clone, Debug, PartialEq)]
pub struct WeisfeilerLehman {
    iterations: usize,
    directed: bool,
    columns: Columns,
    /// The hashes in two halves, ascending.
    state: [Vec<f32>; 2],
}

/// The names of the arrays of the state.
const STATE: [&str; 2] = ["high", "low"];

impl WeisfeilerLehman {
    /// The descriptor of a step, whose parameters are `iterations` (default 3) and `directed` (false).
    ///
    /// # Errors
    /// [`Error::Parameter`] for unknown or invalid parameters, and [`Error::UnknownName`] for another name.
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = WL.arguments(step)?;
        Ok(WeisfeilerLehman {
            iterations: arguments.value("iterations")?,
            directed: arguments.value("directed")?,
            columns: Columns::default(),
            state: Default::default(),
        })
    }

    fn read(&self, number: usize, text: &str) -> Result<Graph> {
        let problem = |problem| Error::Sample { similarity: self.spec(), is_basis: false, number, problem };
        Graph::read(text).map_err(problem)
    }

    /// The colors of all vertices, of the labels and after each iteration.
    fn colors(&self, graph: &Graph) -> Vec<u64> {
        let hash = |text: &str| Fnv::default().with(text.as_bytes()).mixed();
        let mut neighbors: Vec<Vec<(u64, usize)>> = vec![Vec::new(); graph.nodes.len()];
        for edge in &graph.edges {
            // A direction is a label too.
            let (along, against) = if self.directed { (1, 2) } else { (0, 0) };
            let label = hash(&edge.label);
            neighbors[edge.from].push((label ^ along, edge.to));
            if edge.from != edge.to || self.directed {
                neighbors[edge.to].push((label ^ against, edge.from));
            }
        }
        let mut colors: Vec<u64> = graph.nodes.iter().map(|label| hash(label)).collect();
        let mut all = Vec::with_capacity(colors.len() * (self.iterations + 1));
        let mut around = Vec::new();
        for iteration in 0..=self.iterations {
            let counted = |color: &u64| cut(Fnv::default().with(&[iteration as u8]).with(&color.to_le_bytes()).mixed());
            all.extend(colors.iter().map(counted));
            if iteration == self.iterations {
                break;
            }
            let next = |(vertex, neighbors): (usize, &Vec<(u64, usize)>)| {
                around.clear();
                around.extend(neighbors.iter().map(|&(label, other)| (colors[other], label)));
                around.sort_unstable();
                let own = Fnv::default().with(&colors[vertex].to_le_bytes());
                let add =
                    |hash: Fnv, (color, label): &(u64, u64)| hash.with(&color.to_le_bytes()).with(&label.to_le_bytes());
                around.iter().fold(own, add).mixed()
            };
            colors = neighbors.iter().enumerate().map(next).collect();
        }
        all
    }

    /// Learns which colors there are in the graphs of some weight.
    ///
    /// # Errors
    /// [`Error::Sample`] for a string that is not a graph; [`Error::Similarity`] where the graphs have no vertices;
    /// [`Error::Cancelled`].
    pub fn fit_graphs(&mut self, training: &Training<'_, Vec<String>>) -> Result<()> {
        let mut all = BTreeSet::new();
        let work = |graphs: Vec<String>, weights: &[f64]| {
            let mut colors = Vec::new();
            for (at, (text, _)) in graphs.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight > 0.0) {
                colors.extend(self.colors(&self.read(at, text)?));
            }
            colors.sort_unstable();
            colors.dedup();
            Ok(colors)
        };
        training.fold("describe", CHUNK_GRAPHS, work, |colors| all.extend(colors))?;
        if all.is_empty() {
            return Err(Error::similarity(self.spec(), "the training graphs have no vertices"));
        }
        self.set(halves_of(all.iter().copied()))
    }

    fn set(&mut self, state: [Vec<f32>; 2]) -> Result<()> {
        let [high, low] = &state;
        let found = || format!("{} high, {} low", high.len(), low.len());
        let columns = columns_of(high, low).ok_or_else(|| {
            Error::shape(format!("learned patterns of '{}'", self.spec()), found(), "as many of each, ascending")
        })?;
        (self.columns, self.state) = (columns, state);
        Ok(())
    }

    /// The vectors of graphs.
    ///
    /// # Errors
    /// [`Error::Sample`] for a string that is not a graph, and [`Error::Similarity`] where it was not fitted.
    pub fn vectors(&self, graphs: &[String]) -> Result<CsrMatrix<f32>> {
        if self.columns.is_empty() {
            return Err(Error::similarity(self.spec(), "its patterns have not been learned yet: fit it first"));
        }
        let new = self.columns.len() as u32;
        let mut matrix = CsrMatrix::empty(self.columns.len() + 1);
        let mut columns: Vec<(u32, u64)> = Vec::new();
        for (number, text) in graphs.iter().enumerate() {
            let colors = self.colors(&self.read(number, text)?);
            columns.clear();
            columns.extend(colors.iter().map(|color| (self.columns.get(color).copied().unwrap_or(new), *color)));
            columns.sort_unstable();
            let mut squares = 0.0;
            for same in columns.chunk_by(|a, b| a == b) {
                let count = same.len() as f32;
                if same[0].0 == new {
                    squares += count * count;
                } else {
                    matrix.indices.push(same[0].0);
                    matrix.values.push(count);
                }
            }
            if squares > 0.0 {
                matrix.indices.push(new);
                matrix.values.push(squares.sqrt());
            }
            matrix.indptr.push(matrix.values.len());
        }
        Ok(matrix)
    }
}

impl Descriptor for WeisfeilerLehman {
    fn spec(&self) -> String {
        let directed = if self.directed { ",directed=true" } else { "" };
        format!("wl:iterations={}{directed}", self.iterations)
    }

    fitted!(Vec<String>, "reads graphs written as strings", fit: fit_graphs, vectors: Sparse(vectors), restore: set);
}
