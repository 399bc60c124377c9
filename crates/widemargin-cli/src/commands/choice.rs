//! The methods as subcommands of `train` and `cv`.

use clap::{Args, Subcommand};

use crate::basis_expansion::BasisExpansionArgs;
use crate::context::Context;
use crate::method::Method;
use crate::power_mean::PowerMeanArgs;
use crate::report::Failure;
use crate::thin_plate::ThinPlateArgs;

/// A method with its options, and what is to be done with it.
#[derive(Debug, Subcommand)]
pub enum Choice<T: Task> {
    /// Basis expansion SVM: any similarity, with a few bases
    ///
    /// In `cv`, -C, --n-basis, --basis, --normalization, --loss and --intercept take lists.
    BasisExpansion(Chosen<T, BasisExpansionArgs>),
    /// Power mean SVM: additive kernels on histograms, features of at least 0
    ///
    /// In `cv`, --kernel, -C, --loss, --approximation and --nodes take lists.
    PowerMean(Chosen<T, PowerMeanArgs>),
    /// Thin plate SVM: nothing to tune, for a few to some thousand numeric columns
    ///
    /// In `cv`, --kernel, -C, --polynomials, --n-basis, --basis and --standardize take lists.
    ThinPlate(Chosen<T, ThinPlateArgs>),
}

/// The options of a method and of the task.
#[derive(Debug, Args)]
pub struct Chosen<T: Task, M: Args> {
    #[command(flatten)]
    task: T,
    #[command(flatten)]
    method: M,
}

impl<T: Task, M: Method> Chosen<T, M> {
    /// Runs the task with the method.
    pub fn run(&self, context: &Context) -> Result<(), Failure> {
        self.task.run(&self.method, context)
    }
}

/// What is done with a method: training, or cross-validation.
pub trait Task: Args {
    /// Does it.
    fn run<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure>;
}

impl<T: Task> Choice<T> {
    /// Runs the task with the method.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Choice::BasisExpansion(chosen) => chosen.run(context),
            Choice::PowerMean(chosen) => chosen.run(context),
            Choice::ThinPlate(chosen) => chosen.run(context),
        }
    }
}
