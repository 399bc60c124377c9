//! The pieces of the similarity of one basis and one sample: columns, cells, time steps, characters, terms or bits.

use std::collections::BTreeMap;

use serde::Serialize;

use super::term_index::counts;
use crate::data::{Rows, Vectors};
use crate::error::Result;

/// The parts of the similarity of a basis and a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The sum of the shares, such as `squared distance` or `cost of the path`; the similarity is a function of it.
    pub quantity: &'static str,
    /// Σ shares.
    pub total: f64,
    /// The pieces in which basis and sample are compared.
    #[serde(flatten)]
    pub pieces: Pieces,
}

/// The pieces of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pieces {
    /// Columns of vectors, ascending; omitted columns have a share of 0.
    Columns {
        /// Which.
        columns: Vec<usize>,
        /// The share of each.
        shares: Vec<f64>,
    },
    /// Columns that are terms of strings, such as n-grams.
    Terms {
        /// Which.
        terms: Vec<String>,
        /// The share of each.
        shares: Vec<f64>,
    },
    /// Cells of grids, or parts of pictures.
    Cells {
        /// Rows and columns of the grid.
        grid: [usize; 2],
        /// The pairs of matched cells.
        cells: Vec<CellMatch>,
    },
    /// Time steps of series, in order: a path.
    TimeSteps {
        /// The path.
        path: Vec<PathStep>,
    },
    /// Characters of strings, in order: an alignment.
    Characters {
        /// The path.
        path: Vec<PathStep>,
    },
    /// Elements of sets.
    Bits {
        /// Of both.
        both: Vec<usize>,
        /// Of the basis alone.
        basis: Vec<usize>,
        /// Of the sample alone.
        sample: Vec<usize>,
    },
}

/// A pair of a path, or a step or character without a partner. Positions are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathStep {
    /// The position in the basis.
    pub basis: Option<usize>,
    /// The position in the sample.
    pub sample: Option<usize>,
    /// Its share of the total.
    pub share: f64,
}

/// A cell of the basis and the cell of the sample that it was matched with, each as \[row, column\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellMatch {
    /// The cell of the basis.
    pub basis: [usize; 2],
    /// The cell of the sample; `None` outside its grid.
    pub sample: Option<[usize; 2]>,
    /// Its share of the total.
    pub share: f64,
}

/// The meaning of the columns of a part's vectors.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ColumnMeaning {
    /// Not known.
    #[default]
    Unknown,
    /// The columns of the samples before any descriptor.
    Input,
    /// Numbers of the cells of a grid, \[row\]\[column\]\[number\].
    Cells {
        /// Rows of the grid.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// Numbers of a cell.
        depth: usize,
    },
    /// Terms of strings, by column.
    Terms(BTreeMap<usize, String>),
}

/// Σ (x_j − y_j)².
pub(crate) const SQUARED_DISTANCE: &str = "squared distance";

/// Σ |x_j − y_j|.
pub(crate) const CITY_BLOCK: &str = "city-block distance";

/// Paths in larger tables are not traced back: the table would be too large.
pub(super) const MAX_CELLS: usize = 1 << 24;

impl Comparison {
    /// One whose total is the sum of the shares.
    pub fn of(quantity: &'static str, pieces: Pieces) -> Self {
        let total = pieces.shares().sum();
        Comparison { quantity, total, pieces }
    }

    /// Of two vectors: Σ_j f(x_j, y_j), x being the basis. A column that one of them lacks is 0.
    pub(super) fn of_columns(
        quantity: &'static str,
        basis: &Vectors,
        sample: &Vectors,
        share: impl Fn(f64, f64) -> f64,
    ) -> Result<Self> {
        let mut pairs: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        basis.view()?.for_each_nonzero(0, |column, x| pairs.entry(column).or_default().0 = x);
        sample.view()?.for_each_nonzero(0, |column, y| pairs.entry(column).or_default().1 = y);
        let all = pairs.into_iter().map(|(column, (x, y))| (column, share(x, y)));
        let (columns, shares) = all.filter(|(_, share)| *share != 0.0).unzip();
        Ok(Comparison::of(quantity, Pieces::Columns { columns, shares }))
    }

    /// Of the terms of two strings, with repeats: the products of their counts over the root of the sums of squares.
    pub(super) fn of_terms(basis: impl Iterator<Item = String>, sample: impl Iterator<Item = String>) -> Self {
        let ((x, xx), (y, yy)) = (counts(basis), counts(sample));
        let size = (xx as f64 * yy as f64).sqrt();
        let product = |term: &String, count: u32| Some(f64::from(count) * f64::from(*y.get(term)?));
        let common = x.into_iter().filter_map(|(term, count)| Some((product(&term, count)? / size, term)));
        let mut common: Vec<(f64, String)> = common.collect();
        common.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let (shares, terms) = common.into_iter().unzip();
        Comparison::of("cosine", Pieces::Terms { terms, shares })
    }

    /// The same with the meaning of the columns, where they have one.
    #[doc(hidden)]
    pub fn meant(self, meaning: &ColumnMeaning) -> Self {
        let (columns, shares) = match (self.pieces, meaning) {
            (Pieces::Columns { columns, shares }, _) => (columns, shares),
            // Positions of n-grams.
            (Pieces::Bits { both, .. }, ColumnMeaning::Terms(_)) => {
                let shares = vec![1.0; both.len()];
                (both, shares)
            }
            (pieces, _) => return Comparison { pieces, ..self },
        };
        let pieces = match meaning {
            &ColumnMeaning::Cells { rows, cols, depth } if depth > 0 => {
                let mut sums = vec![0.0; rows * cols];
                for (column, share) in columns.iter().zip(&shares) {
                    if let Some(sum) = sums.get_mut(column / depth) {
                        *sum += share;
                    }
                }
                let cell = |(at, share): (usize, f64)| {
                    let place = [at / cols, at % cols];
                    CellMatch { basis: place, sample: Some(place), share }
                };
                Pieces::Cells { grid: [rows, cols], cells: sums.into_iter().enumerate().map(cell).collect() }
            }
            ColumnMeaning::Terms(names) => {
                let name = |column: &usize| names.get(column).cloned().unwrap_or_else(|| format!("column {column}"));
                Pieces::Terms { terms: columns.iter().map(name).collect(), shares }
            }
            _ => Pieces::Columns { columns, shares },
        };
        Comparison { pieces, ..self }
    }
}

impl Pieces {
    /// The share of each piece; of bits 1 for each that both have.
    #[doc(hidden)]
    pub fn shares(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Pieces::Columns { shares, .. } | Pieces::Terms { shares, .. } => Box::new(shares.iter().copied()),
            Pieces::Cells { cells, .. } => Box::new(cells.iter().map(|cell| cell.share)),
            Pieces::TimeSteps { path } | Pieces::Characters { path } => Box::new(path.iter().map(|step| step.share)),
            Pieces::Bits { both, .. } => Box::new(both.iter().map(|_| 1.0)),
        }
    }
}
