//! A log of completed visits in a checkpoint: a resumed fit gives the same bits.
//!
//! It stores every candidate, the points after the last one, and their Hessians, which contain the rounding of all
//! steps so far. Its size does not depend on the number of samples: scores are recomputed from the points.

use serde::{Deserialize, Serialize};

use super::path::Candidate;
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};

/// The version of the record: others are not read.
const FORMAT: u32 = 5;

/// Earlier visits, and the log for new ones.
pub(crate) struct Log<'a> {
    checkpoint: NamedCheckpoint<'a>,
    pub record: Record,
    at: usize,
    /// Where the problems stood after the last visit, until they have been moved there.
    pub place: Option<Place>,
}

/// A checkpoint, and the name of the log in it.
pub(crate) type NamedCheckpoint<'a> = (&'a dyn Checkpoint, &'static str);

/// Where the problems stand: points and Hessians.
pub(crate) type Place = (Vec<f64>, Vec<Vec<f64>>);

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    /// Whether nothing is left for the kernel, and the unit of λ, if known.
    pub unit: Option<(bool, f64)>,
    visits: Vec<Option<Candidate>>,
}

impl<'a> Log<'a> {
    /// Opens the log of the fit whose checkpoint this is.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if it is damaged, and errors of reading.
    pub fn open(checkpoint: NamedCheckpoint<'a>) -> Result<Self> {
        let (folder, name) = checkpoint;
        let Some(bytes) = load_checkpoint(folder, name)? else {
            let record = Record { format: FORMAT, ..Record::default() };
            return Ok(Log { checkpoint, record, at: 0, place: None });
        };
        let read = postcard::from_bytes(&bytes).ok();
        let Some((record, place)) = read.filter(|(record, _): &(Record, Place)| record.format == FORMAT) else {
            let problem = format!("'{name}' is damaged or of another version: remove it to start again");
            return Err(Error::Checkpoint { problem });
        };
        Ok(Log { checkpoint, record, at: 0, place: Some(place) })
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

    /// Adds a visit.
    pub fn add(&mut self, found: &Option<Candidate>, points: &[f64], hessians: &[Vec<f64>]) -> Result<()> {
        self.record.visits.push(found.clone());
        let bytes = postcard::to_allocvec(&(&self.record, (points, hessians)))
            .map_err(|problem| Error::Checkpoint { problem: problem.to_string() })?;
        let (folder, name) = self.checkpoint;
        save_checkpoint(folder, name, &bytes)
    }
}
