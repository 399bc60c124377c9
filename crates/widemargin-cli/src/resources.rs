//! Training on data larger than memory: the limit, the scratch file, the checkpoint, and the samples on disk.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use widemargin::data::{Checkpoint, Resources, Source};
use widemargin::memory;
use widemargin::monitor::Progress;
use widemargin::select::Place;
use widemargin_io::{CheckpointFolder, MEMORY_MARGIN, ReadOptions, ScratchFile, Store};

use crate::context::Context;
use crate::report::{Failure, in_file, refused, shown};

/// The memory limit of `train` and `cv`.
#[derive(Clone, Copy, Debug, Args)]
pub struct Memory {
    /// Memory limit, such as 4G, 500MB or 4GiB
    ///
    /// A number without a unit is in GB. With a limit, `train` reads the samples in blocks, from files of any size, if
    /// the method supports it. Otherwise, values that do not fit in memory are recomputed, or the fit is refused.
    #[arg(long = "memory-limit", value_parser = size, value_name = "SIZE")]
    pub limit: Option<u64>,
}

/// Memory of the program itself: code, stacks, the reader's blocks, allocator overhead. It is not measured, since that
/// would differ by some KiB from run to run, and with it the number of samples that stay in memory and the model.
const OWN: u64 = 40 << 20;
/// Limits that are proposed are multiples of this.
const LIMIT_STEP: u64 = 10_000_000;

/// Samples on disk, and the resources for a fit.
#[derive(Debug)]
pub struct OnDisk {
    /// The samples.
    pub store: Store,
    /// Bytes of memory for the fit itself.
    memory: u64,
    scratch: ScratchFile,
    checkpoint: Option<CheckpointFolder>,
}

impl OnDisk {
    /// Reads the samples once, unless they can be read in place.
    pub fn open(
        context: &Context,
        data: &Path,
        options: &ReadOptions,
        memory: Memory,
        (checkpoint, output): (Option<&Path>, &Path),
    ) -> Result<Self, Failure> {
        if data.as_os_str() == "-" {
            let failure = "standard input cannot be read in blocks: it can be read only once";
            return refused(failure, "write it to a file first");
        }
        // Not the system's default temporary folder, which may be in memory.
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::env::var_os("TMPDIR").map_or_else(|| folder.to_owned(), PathBuf::from);
        let checkpoint = checkpoint.map(CheckpointFolder::open).transpose()?;
        let requested = memory.limit;
        let limit = requested.unwrap_or_else(Store::default_memory);
        let scratch = ScratchFile::create(&folder)?;
        let name = shown(data).to_string();
        context.bar.say(format!("reading {name}"));
        let sink = |progress: Progress| context.bar.say(format!("{name}: {} samples", HumanCount(progress.done)));
        let rows = ScratchFile::create(&folder)?;
        let monitor = context.monitor(&sink);
        let store = context.pool.install(|| Store::open(data, options, rows, limit / 8, &monitor))?;
        let mut memory = store.memory_of(limit).saturating_sub(OWN);
        if let Some(left) = address_space_left(context.pool.current_num_threads()) {
            let of_addresses = store.memory_of(left).saturating_sub(OWN);
            if memory > 0 && of_addresses == 0 {
                let failure =
                    format!("{} of the process's address space are left, too few for a fit", DecimalBytes(left));
                return refused(failure, "raise its limit (ulimit -v), or pass fewer --threads");
            }
            memory = memory.min(of_addresses);
        }
        if memory == 0
            && let Some(limit) = requested
        {
            let own = OWN + store.label_bytes();
            let least = ((2 * own) as f64 / (1.0 - MEMORY_MARGIN) / LIMIT_STEP as f64).ceil() as u64 * LIMIT_STEP;
            let (limit, own, n) = (DecimalBytes(limit), DecimalBytes(own), HumanCount(store.n_samples() as u64));
            let failure = format!("--memory-limit {limit}: the program itself takes {own} with {n} samples");
            return refused(failure, format!("allow at least {}MB", least / 1_000_000));
        }
        Ok(OnDisk { store, memory, scratch, checkpoint })
    }

    /// What `fit` makes of the samples.
    pub fn fit<T>(&self, data: &Path, fit: impl FnOnce(Place<'_>) -> widemargin::Result<T>) -> Result<T, Failure> {
        let checkpoint = self.checkpoint.as_ref().map(|folder| folder as &dyn Checkpoint);
        let resources = Resources { memory: self.memory, scratch: &self.scratch, checkpoint };
        fit(Place::Blocks(&self.store, &resources)).map_err(|error| in_file(error, data, self.store.outline(), 0))
    }
}

/// A number of bytes: with a unit, or in GB.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[number.len()..].to_ascii_lowercase();
    let (prefix, base) = match unit.strip_suffix('b').unwrap_or(&unit) {
        "" if unit.is_empty() => ("g", 1000.0_f64),
        prefix => prefix.strip_suffix('i').map_or((prefix, 1000.0), |prefix| (prefix, 1024.0)),
    };
    let exponent = ["k", "m", "g", "t"].iter().position(|known| *known == prefix).map(|at| at as i32 + 1);
    let bytes = number.trim().parse::<f64>().ok().zip(exponent).map(|(number, exponent)| number * base.powi(exponent));
    bytes.filter(|bytes| *bytes > 0.0 && bytes.is_finite()).map(|bytes| bytes as u64).ok_or_else(|| {
        "a number above 0 is needed, with K, M, G, KB, MB, GB, KiB, MiB or GiB behind it (alone it is in GB)".into()
    })
}

/// Bytes of address space that the process may still use, if it has a limit (`ulimit -v`). Matrix products reserve two
/// last-level caches per thread, which they hardly touch: address space, not memory.
fn address_space_left(threads: usize) -> Option<u64> {
    let cache = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
    let cache = cache.and_then(|text| text.trim().strip_suffix('K')?.parse::<u64>().ok()).unwrap_or(0) * 1024;
    Some(memory::addresses_left()?.saturating_sub(2 * cache * threads as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("4GiB", 4 << 30),
            ("500MB", 500_000_000),
            ("1.5", 1_500_000_000),
            ("8 KiB", 8192),
            ("4G", 4_000_000_000),
            ("2gi", 2 << 30),
            ("700m", 700_000_000),
        ] {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
        for wrong in ["0", "-1GB", "much", "nan", "4X", "G", "é", ""] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
