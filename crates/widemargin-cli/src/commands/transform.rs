//! `widemargin transform`: the features of a model as a file, for other programs.

use std::path::PathBuf;

use clap::Args;
use indicatif::HumanCount;
use widemargin::model::Model;
use widemargin_io::{Samples, Table};

use crate::args::Input;
use crate::context::Context;
use crate::details::basis_expansion;
use crate::model::{load_for, read_for};
use crate::output::check_output;
use crate::report::{Failure, in_file};

/// Arguments of `transform`.
#[derive(Debug, Args)]
pub struct Transform {
    /// Model file
    model: PathBuf,
    /// File to write: .npz, .npy, .csv, .tsv or LIBSVM text
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    input: Input,
}

impl Transform {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (file, path) = (&self.input.data, &self.model);
        let model = load_for(path, &self.input)?;
        let svc = basis_expansion(path, &model)?;
        check_output(&self.output, Some(&self.input), Some(path))?;
        widemargin_io::Format::from_path(&self.output)?;
        let table = read_for(&model, &self.input, context)?;
        context.go_on()?;
        context.bar.say("transforming");
        let transformed = table.samples.view().and_then(|samples| {
            Model::check_samples(svc, &samples)?;
            svc.expansion().transform(&samples, context.common.threads)
        });
        let transformed = transformed.map_err(|error| in_file(error, file, &table, 0))?;
        context.bar.say(format!("writing {}", self.output.display()));
        let (n, d) = (transformed.n_rows as u64, transformed.n_cols as u64);
        let table = Table::new(Samples::DenseF32(transformed), table.labels);
        widemargin_io::write(&table, &self.output, None)?;
        context.bar.hide();
        context.note(&format!("{} samples, {} numbers each: {}", HumanCount(n), HumanCount(d), self.output.display()));
        Ok(())
    }
}
