//! `widemargin train`: trains a model on a file of samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use widemargin::select::{Place, Task};

use crate::args::Input;
use crate::context::Context;
use crate::fit::{check_series, estimator_of, fit, fits_blocks};
use crate::options::ModelArgs;
use crate::output::{check_model_file, print_json};
use crate::report::{Failure, in_file, refused};
use crate::resources::{Memory, OnDisk};
use crate::summary::{Fitted, Stopping};
use crate::task::{answers, described};

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct Train {
    /// Model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    #[command(flatten)]
    stopping: Stopping,
    #[command(flatten)]
    memory: Memory,
    /// Folder for the checkpoint of a fit in blocks
    ///
    /// If the process is killed, rerunning it with the same data and parameters resumes the fit and gives the same
    /// model. The scratch file of a fit in blocks is in the folder that the environment variable TMPDIR names, or in
    /// the folder of the model file.
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Print one JSON object instead of a summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: ModelArgs,
}

impl Train {
    /// Runs the command: check, read, fit, write, summarize.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let choice = self.model.single()?;
        let estimator = estimator_of(&choice, &context.common, self.memory.limit)?;
        let (data, output) = (&self.input.data, &self.output);
        check_model_file(output, &self.input)?;
        if let Some(folder) = &self.checkpoint {
            // In the data folder, its files would be read as samples.
            widemargin::output::check(&folder.join("checkpoint"), &[("the data", data)])?;
        }
        let in_blocks = self.memory.limit.is_some() || self.checkpoint.is_some();
        if in_blocks && choice.task == Task::OutlierDetection {
            let help = "leave --memory-limit out, or train on a part of the samples";
            return refused("--task outlier-detection holds all samples in memory", help);
        }
        let in_blocks = in_blocks && fits_blocks(&choice);
        if self.checkpoint.is_some() && !in_blocks {
            let help = "pass --n-basis NUMBER to train it in blocks, or leave --checkpoint out";
            return refused("--checkpoint: the exact thin plate SVM has no checkpoint", help);
        }
        let (sink, task) = (|progress| context.bar.fit("", progress), self.model.task);
        let monitor = context.monitor(&sink);
        let (fitted, label, seconds_read) = if in_blocks {
            self.input.check_blocks()?;
            let start = Instant::now();
            let on_disk =
                OnDisk::open(context, data, &self.input.options(), self.memory, (self.checkpoint.as_deref(), output))?;
            let (seconds, table) = (start.elapsed().as_secs_f64(), on_disk.store.outline());
            let answers = answers(context, task, choice.method, &self.input, table)?;
            let weights = table.weights.as_deref();
            let model = on_disk.fit(data, |samples| fit(&estimator, samples, answers.as_ref(), weights, &monitor))?;
            (Fitted::on_disk(model, &on_disk.store)?, described(table, answers.as_ref()), seconds)
        } else {
            let (table, seconds) = context.read(data, &self.input.options_to_learn())?;
            check_series(&choice, &table)?;
            let answers = answers(context, task, choice.method, &self.input, &table)?;
            let (view, weights) = (table.samples.view()?, table.weights.as_deref());
            let model = fit(&estimator, Place::Memory(&view), answers.as_ref(), weights, &monitor);
            let model = model.map_err(|error| in_file(error, data, &table, 0))?;
            (Fitted::of(model, &table)?, described(&table, answers.as_ref()), seconds)
        };
        fitted.write(context, output, self.stopping)?;
        label.into_iter().for_each(|label| context.note(&label));
        match self.json {
            true => print_json(&fitted.json(context, output, seconds_read, choice.json(&context.common)))?,
            false => context.note(&fitted.summary(context, output)),
        }
        context.check_interrupted()
    }
}
