//! What `train` and `cv` need of a method: its flags as points of a grid, each of which can be fitted.

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

/// Trains on samples that stay on the disk.
pub type FitBlocks = dyn Fn(&Store, &Labels, &Resources<'_>, &Monitor<'_>) -> Result<Model>;

/// One choice of a method's parameters.
pub struct Point {
    /// Fits with them; they are already checked.
    pub fit: Box<Fit>,
    /// The same in blocks, where the method can with these parameters.
    pub fit_blocks: Option<Box<FitBlocks>>,
    /// The parameters by name.
    pub json: Value,
    /// Those that may be searched, as a table shows them: one for each of [`Method::HEADS`].
    pub cells: Vec<String>,
}

/// The flags of a method. Those that may be searched hold a list.
pub trait Method: Args {
    /// The method, as the command line names it.
    const NAME: &'static str;
    /// What the cells of its points are; a table always shows the first two.
    const HEADS: &'static [&'static str];

    /// Whether a fit on samples in memory can be told to keep within a limit.
    const KEEPS_WITHIN_MEMORY: bool = false;

    /// The flags that take a list, and how many values each was given.
    fn lists(&self) -> Vec<(&'static str, usize)>;

    /// Every combination of the values given, each to be fitted within `memory` bytes.
    fn grid(&self, common: &Common, memory: Option<u64>) -> Result<Vec<Point>, Failure>;

    /// The only choice of the parameters.
    fn single(&self, common: &Common, memory: Option<u64>) -> Result<Point, Failure> {
        if let Some((name, n)) = self.lists().into_iter().find(|(_, n)| *n > 1) {
            let failure = Failure::input(format!("{name}: {n} values given, `train` takes one"));
            return Err(failure.help(format!("`widemargin cv {}` searches lists of values", Self::NAME)));
        }
        Ok(self.grid(common, memory)?.swap_remove(0))
    }
}
