//! Reading and writing of data files.
//!
//! [`read`] loads a whole file as a [`Table`], [`Blocks`] reads blocks of rows in constant memory, and [`write()`]
//! writes a table of vectors atomically. [`Format`] lists the formats, which are determined from the file name; the
//! path `-` is standard input. A folder of files of one vector format (shards, as other programs write large tables) is
//! read as one input. Files may be compressed with gzip. [`Store`] provides the rows of files larger than memory to a
//! fit; [`ScratchFile`] and [`CheckpointFolder`] provide scratch space and checkpoints.
//!
//! | format | samples | labels |
//! |---|---|---|
//! | LIBSVM text (`.svm`, `.libsvm`, `.txt`) | sparse, `f32` | first on each line |
//! | CSV, TSV (`.csv`, `.tsv`) | dense, `f64` | a column, see [`LabelColumn`] |
//! | NPY (`.npy`) | dense, `f32` or `f64` as stored | none, or a column |
//! | NPZ (`.npz`) | SciPy's sparse layout, or the array `X`: vectors, series or images | the array `labels` or `y` |
//! | Parquet (`.parquet`), with the feature `parquet` | dense, `f32` where it holds all values | a column, see
//! [`LabelColumn`] |
//! | strings (`--format strings`) | text, see [`ReadOptions::text`] | a column, see [`LabelColumn`] |
//! | UCR lines (`--format ucr`) | series of one channel | first on each line |
//! | sktime's series (`.ts`) | series of any channels | last on each line |
//! | a folder of images | images of one size | the folder in it that an image is in |
//!
//! LIBSVM values are read as `f32`: such files hold counts, fractions and scaled features, and the values take most of
//! the memory. Features far from 0, whose digits are lost, are refused. Integer arrays become `f32` if that represents
//! all their values exactly, otherwise `f64`; they are never rounded.
//!
//! Parallel work runs in the rayon pool installed by the caller. This crate does not print and does not read the
//! environment.
#![deny(missing_docs)]

mod checkpoint_folder;
mod csv;
mod error;
mod format;
mod format_of_file;
mod image_folder;
#[cfg(feature = "images")]
mod images;
mod indicators;
mod input;
mod label_file;
mod libsvm;
mod list_folder;
mod npy;
mod npz;
mod open_file;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod positioned;
mod read;
mod reader;
mod scratch_file;
mod series;
mod shards;
mod store;
mod table;
mod text_input;
mod tuning;
mod write;
mod write_rows;

pub use checkpoint_folder::CheckpointFolder;
pub use csv::{FrameCells, FrameColumn, FrameProblem, encode_frame, learn_frame, median, number};
pub use error::{IoError, Problem, ProblemKind, Result};
pub use format::Format;
pub use indicators::Indicators;
pub use label_file::read_groups;
pub use options::{LabelColumn, ReadOptions, TrainedTable};
pub use read::{Block, Blocks, read};
pub use scratch_file::ScratchFile;
pub use store::{MEMORY_MARGIN, Store};
pub use table::{RowLines, RowPlaces, RowShards, Samples, Table};
#[doc(inline)]
pub use widemargin::data::Decimal;
pub use write::{write, write_to};
