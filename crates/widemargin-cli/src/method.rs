//! The interface of methods for `train` and `cv`: their options as points of a grid, each of which can be fitted.

use clap::Args;
use serde_json::Value;
use widemargin::Result;
use widemargin::data::{Labels, Resources};
use widemargin::monitor::Monitor;
use widemargin_io::{Samples, Store};

use crate::args::Common;
use crate::model::Model;
use crate::report::Failure;

/// Trains on samples and their labels.
pub type Fit = dyn Fn(&Samples, &Labels, &Monitor<'_>) -> Result<Model>;

/// Trains on samples on disk.
pub type FitBlocks = dyn Fn(&Store, &Labels, &Resources<'_>, &Monitor<'_>) -> Result<Model>;

/// One choice of a method's parameters.
pub struct Point {
    /// Fits with these parameters, which have been checked.
    pub fit: Box<Fit>,
    /// The same in blocks, if the method supports it with these parameters.
    pub fit_blocks: Option<Box<FitBlocks>>,
    /// The parameters by name.
    pub json: Value,
    /// Parameters that can be searched, as shown in a table: one for each of [`Method::HEADS`].
    pub cells: Vec<String>,
}

/// The options of a method. Those that can be searched hold a list.
pub trait Method: Args {
    /// The method's name on the command line.
    const NAME: &'static str;
    /// The column headings of its points; a table always shows the first two.
    const HEADS: &'static [&'static str];

    /// Whether a fit on samples in memory supports a memory limit.
    const KEEPS_WITHIN_MEMORY: bool = false;

    /// The options that take a list, and the number of values given for each.
    fn lists(&self) -> Vec<(&'static str, usize)>;

    /// Every combination of the given values, each to be fitted within `memory` bytes.
    fn grid(&self, common: &Common, memory: Option<u64>) -> Result<Vec<Point>, Failure>;

    /// The single choice of the parameters.
    fn single(&self, common: &Common, memory: Option<u64>) -> Result<Point, Failure> {
        if let Some((name, n)) = self.lists().into_iter().find(|(_, n)| *n > 1) {
            let failure = Failure::input(format!("{name}: {n} values given, `train` takes one"));
            return Err(failure.help(format!("`widemargin cv {}` searches lists of values", Self::NAME)));
        }
        Ok(self.grid(common, memory)?.swap_remove(0))
    }
}
