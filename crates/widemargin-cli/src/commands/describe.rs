//! `widemargin describe`: converts samples to vectors for other programs.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::HumanCount;
use widemargin::data::DenseMatrix;
use widemargin::expansion::describe;
use widemargin::model::{BasisExpansionSvc, Classifier};
use widemargin::similarity::AnySimilarity;
use widemargin_io::{Samples, Table};

use crate::args::Input;
use crate::context::Context;
use crate::details::basis_expansion;
use crate::model::load_for;
use crate::output::check_output;
use crate::report::{Failure, in_file};
use crate::stream::put_in_order;

/// Arguments of `describe`.
#[derive(Debug, Args)]
pub struct Describe {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Histograms of oriented gradients of images, 31 numbers per cell, neither centered nor scaled
    Hog(HogTask),
    /// The input of the linear part of a basis expansion SVM: the normalized similarities to its bases
    BasisExpansion(ExpansionTask),
}

#[derive(Debug, Args)]
struct HogTask {
    #[command(flatten)]
    files: Files,
    /// Side of a cell in pixels
    #[arg(long, default_value_t = 8, value_name = "N")]
    cell_size: usize,
}

#[derive(Debug, Args)]
struct ExpansionTask {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    files: Files,
}

#[derive(Debug, Args)]
struct Files {
    #[command(flatten)]
    input: Input,
    /// The file to write: .npz with the labels, .npy, .csv, .tsv or LIBSVM text
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Describe {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let threads = context.common.threads;
        match self.what {
            What::Hog(task) => {
                let spec = format!("hog:cell={},scale=none/linear", task.cell_size);
                let similarity = AnySimilarity::new(&[spec])?;
                task.files.run(context, None, |samples| describe(&similarity, &samples.view()?, threads))
            }
            What::BasisExpansion(task) => {
                let model = load_for(&task.model, &task.files.input)?;
                let Some(expansion) = basis_expansion(&*model).map(BasisExpansionSvc::expansion) else {
                    let (file, method) = (task.model.display(), model.method());
                    return Err(Failure::input(format!("{file}: a model of '{method}', which has no basis expansion")));
                };
                task.files.run(context, Some((&task.model, &*model)), |samples| {
                    let samples = samples.view()?;
                    model.check_samples(&samples)?;
                    expansion.transform(&samples, threads)
                })
            }
        }
    }
}

impl Files {
    fn run(
        &self,
        context: &Context,
        model: Option<(&Path, &dyn Classifier)>,
        work: impl Fn(&Samples) -> widemargin::Result<DenseMatrix<f32>>,
    ) -> Result<(), Failure> {
        check_output(&self.output, &self.input, model.map(|(path, _)| path))?;
        widemargin_io::Format::from_path(&self.output)?;
        let file = &self.input.data;
        let options =
            model.map_or_else(|| self.input.options_to_learn(), |(_, model)| self.input.options_for(&model.into()));
        let (mut table, _) = context.read(file, &options)?;
        if let Some((_, model)) = model {
            put_in_order(&mut table, &model.into(), file)?;
        }
        context.go_on()?;
        context.bar.say("describing");
        let described = work(&table.samples).map_err(|error| in_file(error, file, &table, 0))?;
        context.bar.say(format!("writing {}", self.output.display()));
        let (n, d) = (described.n_rows as u64, described.n_cols as u64);
        let table = Table::new(Samples::DenseF32(described), table.labels);
        widemargin_io::write(&table, &self.output, None)?;
        context.bar.hide();
        context.note(&format!("{} samples, {} numbers each: {}", HumanCount(n), HumanCount(d), self.output.display()));
        Ok(())
    }
}
