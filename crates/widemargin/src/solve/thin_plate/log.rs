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

/// Of what is kept: another is not read.
const FORMAT: u32 = 3;

/// Earlier visits, and the log for new ones.
pub(crate) struct Log<'a> {
    checkpoint: &'a dyn Checkpoint,
    kept: Kept,
    at: usize,
    place: Option<Place>,
}

/// Where the problems stand: points and Hessians.
type Place = (Vec<f64>, Vec<Vec<f64>>);

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    format: u32,
    /// What the fit is known by.
    fingerprint: u128,
    /// Whether nothing is left for the kernel, and the unit of λ.
    unit: Option<(bool, f64)>,
    visits: Vec<Option<Candidate>>,
}

impl<'a> Log<'a> {
    /// Opens the log of the fit with this fingerprint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where it is of another fit or damaged, and what reading meets.
    pub fn open(checkpoint: &'a dyn Checkpoint, fingerprint: u128) -> Result<Self> {
        let Some(bytes) = load_checkpoint(checkpoint, NAME)? else {
            let kept = Kept { format: FORMAT, fingerprint, ..Kept::default() };
            return Ok(Log { checkpoint, kept, at: 0, place: None });
        };
        let wrong =
            |problem: &str| Error::Checkpoint { problem: format!("'{NAME}' {problem}: remove it to begin anew") };
        let read: Result<(Kept, Place), _> = postcard::from_bytes(&bytes);
        let (kept, place) = read.map_err(|_| wrong("is damaged or of another version"))?;
        if kept.format != FORMAT {
            return Err(wrong("is damaged or of another version"));
        }
        if kept.fingerprint != fingerprint {
            return Err(wrong("is of a fit with other samples, labels, weights or parameters"));
        }
        Ok(Log { checkpoint, kept, at: 0, place: Some(place) })
    }

    /// Whether nothing is left for the kernel, and the unit of λ, if known.
    pub fn unit(&self) -> Option<(bool, f64)> {
        self.kept.unit
    }

    /// The same log, that knows it.
    pub fn with_unit(mut self, flat: bool, unit: f64) -> Self {
        self.kept.unit = Some((flat, unit));
        self
    }

    /// The next visit, if it was completed before.
    pub fn next(&mut self) -> Option<Option<Candidate>> {
        let known = self.kept.visits.get(self.at).cloned();
        self.at += 1;
        known
    }

    /// λ of the first visit, in scale-free units.
    pub fn began(&self) -> Option<f64> {
        self.kept.visits.first()?.as_ref().map(|candidate| candidate.point.lambda)
    }

    /// Where the problems stood after the last visit, once: points and Hessians.
    pub fn place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Adds a visit.
    pub fn add(&mut self, found: &Option<Candidate>, points: &[f64], hessians: &[Vec<f64>]) -> Result<()> {
        self.kept.visits.push(found.clone());
        let bytes = postcard::to_allocvec(&(&self.kept, (points, hessians)))
            .map_err(|problem| Error::Checkpoint { problem: problem.to_string() })?;
        save_checkpoint(self.checkpoint, NAME, &bytes)
    }
}
