//! A log of completed visits in a checkpoint: a resumed fit gives the same bits.
//!
//! It stores every candidate, the points after the last one, and their Hessians, which contain the rounding of all
//! steps so far. Its size does not depend on the number of samples: scores are recomputed from the points.

use serde::{Deserialize, Serialize};

use super::path::Candidate;
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};

/// Its name in the checkpoint.
const NAME: &str = "thin-plate";

/// The version of the record: others are not read.
const FORMAT: u32 = 4;

/// Earlier visits, and the log for new ones.
pub(crate) struct Log<'a> {
    checkpoint: &'a dyn Checkpoint,
    record: Record,
    at: usize,
    place: Option<Place>,
}

/// Where the problems stand: points and Hessians.
type Place = (Vec<f64>, Vec<Vec<f64>>);

#[derive(Default, Serialize, Deserialize)]
struct Record {
    format: u32,
    /// Whether nothing is left for the kernel, and the unit of λ.
    unit: Option<(bool, f64)>,
    visits: Vec<Option<Candidate>>,
}

impl<'a> Log<'a> {
    /// Opens the log of the fit whose checkpoint this is.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if it is damaged, and errors of reading.
    pub fn open(checkpoint: &'a dyn Checkpoint) -> Result<Self> {
        let Some(bytes) = load_checkpoint(checkpoint, NAME)? else {
            let record = Record { format: FORMAT, ..Record::default() };
            return Ok(Log { checkpoint, record, at: 0, place: None });
        };
        let wrong =
            |problem: &str| Error::Checkpoint { problem: format!("'{NAME}' {problem}: remove it to start again") };
        let read: Result<(Record, Place), _> = postcard::from_bytes(&bytes);
        let (record, place) = read.map_err(|_| wrong("is damaged or of another version"))?;
        if record.format != FORMAT {
            return Err(wrong("is damaged or of another version"));
        }
        Ok(Log { checkpoint, record, at: 0, place: Some(place) })
    }

    /// Whether nothing is left for the kernel, and the unit of λ, if known.
    pub fn unit(&self) -> Option<(bool, f64)> {
        self.record.unit
    }

    /// The same log, that knows it.
    pub fn with_unit(mut self, flat: bool, unit: f64) -> Self {
        self.record.unit = Some((flat, unit));
        self
    }

    /// The next visit, if it was completed before.
    pub fn next(&mut self) -> Option<Option<Candidate>> {
        let known = self.record.visits.get(self.at).cloned();
        self.at += 1;
        known
    }

    /// λ of the first visit, in scale-free units.
    pub fn began(&self) -> Option<f64> {
        self.record.visits.first()?.as_ref().map(|candidate| candidate.point.lambda)
    }

    /// Where the problems stood after the last visit, once: points and Hessians.
    pub fn place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Adds a visit.
    pub fn add(&mut self, found: &Option<Candidate>, points: &[f64], hessians: &[Vec<f64>]) -> Result<()> {
        self.record.visits.push(found.clone());
        let bytes = postcard::to_allocvec(&(&self.record, (points, hessians)))
            .map_err(|problem| Error::Checkpoint { problem: problem.to_string() })?;
        save_checkpoint(self.checkpoint, NAME, &bytes)
    }
}
