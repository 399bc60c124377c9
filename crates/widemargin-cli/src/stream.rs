//! Files through a model, block by block in constant memory: the next block is read while one is scored.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use indicatif::HumanCount;
use widemargin::data::SamplesView;
use widemargin::model::Model;
use widemargin::monitor::{Monitor, Progress};
use widemargin_io::{Block, Blocks, ReadOptions, Table};

use crate::args::Input;
use crate::context::Context;
use crate::report::{Failure, in_file, refused, shown, while_reading};

/// Remarks that are printed of a file.
const MAX_REMARKS: usize = 20;

/// Calls `each` with every block of the input, in order, and what the model makes of its rows by `of`, which is called with
/// the number of threads.
pub fn through<T>(
    context: &Context,
    model: &dyn Model,
    input: &Input,
    of: impl Fn(&SamplesView<'_>, usize, &Monitor<'_>) -> widemargin::Result<T>,
    mut each: impl FnMut(&Block, &T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (file, name) = (input.data.as_path(), shown(&input.data).to_string());
    // Rows of indices are then as wide as the model, and an index beyond it is reported with its line.
    let options = ReadOptions { n_features: model.n_features(), ..input.options_for(model) };
    context.bar.say(format!("reading {name}"));
    let blocks = Blocks::open(file, &options).map_err(|error| while_reading(error, file))?;
    let mut n_rows = 0;
    let mut printed = BTreeSet::new();
    for_each_block(context, blocks, file, |block| {
        for remark in &block.table.remarks {
            if printed.len() < MAX_REMARKS && printed.insert(remark.clone()) {
                context.warn(&format!("{name}: {remark}"));
            }
        }
        let say = |n: u64| context.bar.say(format!("{name}: {} samples", HumanCount(n)));
        let sink = |progress: Progress| say(n_rows + progress.done);
        put_in_order(&mut block.table, model, file)?;
        let samples = block.table.samples.view();
        let found = samples
            .and_then(|view| of(&view, context.common.threads, &context.monitor(&sink)))
            .map_err(|error| in_file(error, file, &block.table, block.first_row))?;
        each(block, &found)?;
        n_rows += block.table.samples.n_rows() as u64;
        Ok(())
    })?;
    context.bar.hide();
    Ok(())
}

/// Puts the columns in the order in which the model was trained, by their names where both have names.
///
/// Samples without columns are refused by a model of columns with categories or missing values, which it encodes in a way
/// of its own.
pub fn put_in_order(table: &mut Table, model: &dyn Model, file: &Path) -> Result<(), Failure> {
    if model.table_columns().is_some() && table.columns.is_none() && table.feature_names.is_none() {
        let message = format!(
            "{}: the model was trained on a table whose columns are more than numbers, and these samples have no columns",
            shown(file)
        );
        return refused(message, "pass a table with such columns, as CSV or TSV");
    }
    match model.feature_names() {
        Some(names) => table.put_in_order(names).map_err(|error| in_file(error, file, table, 0)),
        None => Ok(()),
    }
}

fn for_each_block(
    context: &Context,
    mut blocks: Blocks,
    file: &Path,
    mut work: impl FnMut(&mut Block) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let pool = context.pool.clone();
    // Two blocks are in memory, and go round: one is read, one is worked on. With one thread, reading and work take turns.
    let n_blocks = pool.current_num_threads().min(2);
    let ((full, filled), (empty, emptied)) = (channel(), channel());
    (0..n_blocks).for_each(|_| drop(empty.send(Block::default())));
    // Not joined: where the work fails, nobody waits for an input that may never end.
    let reader = thread::Builder::new().name("reader".into()).spawn(move || {
        for mut block in emptied {
            match pool.install(|| blocks.read_into(&mut block)) {
                Ok(true) => drop(full.send(Ok(block))),
                Ok(false) => return,
                Err(error) => return drop(full.send(Err(error))),
            }
        }
    });
    let reader = reader.map_err(|error| Failure::work(format!("cannot start a thread: {error}")))?;
    for block in filled {
        let mut block = block.map_err(Failure::from)?;
        context.go_on()?;
        work(&mut block)?;
        // Refused where the reader has come to the end.
        drop(empty.send(block));
    }
    reader.join().map_err(|_| Failure::work(format!("{}: the reader broke down", shown(file))))
}
