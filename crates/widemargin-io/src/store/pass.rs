//! The single pass over a file that builds a store.

use std::path::Path;

use widemargin::monitor::{Monitor, Progress, Stopped};
use widemargin::{Error, Result};

use crate::ReadOptions;
use crate::error::{IoError, Problem};
use crate::input::{is_stdin, open, shown};
use crate::read::{Block, Blocks};
use crate::shards::{self, Gathered};
use crate::table::{Samples, Table};

/// Peak memory of reading a block of text, in blocks: twice its numbers as they are parsed, in pieces and concatenated,
/// and once more as they are written; and all that for the next block as well.
const PEAK_BLOCKS: u64 = 32;

/// Minimum block size; smaller blocks are inefficient.
const MIN_BLOCK_BYTES: u64 = 64 << 10;

const STAGE: &str = "read";

/// The options with the sizes of a block and of a line that keep reading within the memory limit.
pub(super) fn within(options: &ReadOptions, memory: u64) -> ReadOptions {
    let most = (memory / PEAK_BLOCKS).max(MIN_BLOCK_BYTES) as usize;
    ReadOptions {
        block_bytes: Some(options.block_bytes().min(most)),
        max_line_bytes: Some(options.max_line_bytes().min(most)),
        ..options.clone()
    }
}

/// Refuses in advance archives, which are loaded as a whole, if they would not fit.
pub(super) fn check_archives(path: &Path, memory: u64) -> Result<(), IoError> {
    let files = if path.is_dir() { shards::files(path)? } else { vec![path.to_owned()] };
    // A pipe can only be opened once.
    for file in files.iter().filter(|file| file.is_file() || is_stdin(file)) {
        let length = if is_stdin(file) { Ok(None) } else { open(file).map(|input| input.length) };
        let Some(length) = length.map_err(|failure| failure.reading(file))? else {
            let problem = Problem::new("a compressed file or a stream of this format is read into memory as a whole");
            let help = "decompress it first, or save the samples as .npy or as LIBSVM text";
            return Err(problem.help(help).of(&shown(file)));
        };
        // Compressed, it takes even more than this.
        check_fits(file, 2 * length, memory, "loading the archive", "save the samples as .npy or as LIBSVM text")?;
    }
    Ok(())
}

/// Refuses a file that is loaded as a whole if the bytes needed exceed the memory.
pub(super) fn check_fits(file: &Path, needed: u64, memory: u64, what: &str, hint: &'static str) -> Result<()> {
    let what = format!("{}: {what}", file.display());
    if needed > memory { Err(Error::Memory { what, needed, free: memory, hint }) } else { Ok(()) }
}

/// Passes the samples of all blocks to `each`, in order; returns everything else as a table without samples. The next
/// block is read meanwhile.
pub(super) fn read(
    path: &Path,
    options: &ReadOptions,
    monitor: &Monitor<'_>,
    mut each: impl FnMut(&Samples) -> Result<()> + Send,
) -> Result<Table, IoError> {
    let mut blocks = Blocks::open(path, options)?;
    let (mut block, mut next, mut outline) = (Block::default(), Block::default(), Gathered::default());
    let mut any = blocks.read_into(&mut block)?;
    let mut done = 0;
    while any {
        // A partial store is useless, so that the time limit does not apply.
        if let Err(Stopped::Cancelled) = monitor.ask() {
            return Err(Error::Cancelled { stage: STAGE }.into());
        }
        let (read, worked) = rayon::join(|| blocks.read_into(&mut next), || each(&block.table.samples));
        worked.map_err(|error| located(error, path, &block.table))?;
        any = read?;
        done += block.table.samples.n_rows() as u64;
        // All but the samples, whose memory is used again.
        let samples = std::mem::take(&mut block.table.samples);
        outline.append(std::mem::take(&mut block.table));
        block.table.samples = samples;
        monitor.tell(Progress { stage: STAGE, done, total: 0, gap: None });
        std::mem::swap(&mut block, &mut next);
    }
    Ok(outline.finish().unwrap_or_default())
}

/// An error about a value of a block, with its place in the file.
fn located(error: Error, path: &Path, table: &Table) -> IoError {
    match error {
        Error::Value { row, column, value, problem } => {
            let names = table.feature_names.as_ref();
            let column = names.map_or_else(|| (column + 1).to_string(), |names| format!("'{}'", names[column]));
            Problem::new(format!("{value:?} {problem}"))
                .help("rescale the column, or remove the row")
                .at(format!("{}, column {column}", table.place(row)))
                .reading(&shown(path))
        }
        error => error.into(),
    }
}
