//! A log of completed visits in a checkpoint: a resumed fit gives the same bits.
//!
//! It stores every candidate, the points after the last one, and their Hessians, which contain the rounding of all
//! steps so far. Its size does not depend on the number of samples: scores are recomputed from the points.

use super::path::{Candidate, PathPoint, Solved};
use super::system::Point;
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::solve::Status;

/// Its name in the checkpoint.
const NAME: &str = "thin-plate";

/// Its first word, including the format version.
const MAGIC: u64 = 0x7769_6465_7470_0001;

/// Earlier visits, and the log for new ones.
pub(crate) struct Log<'a> {
    checkpoint: &'a dyn Checkpoint,
    fingerprint: u128,
    visits: Vec<Option<Candidate>>,
    at: usize,
    place: Option<(Vec<f64>, Vec<Vec<f64>>)>,
    unit: Option<(bool, f64)>,
}

impl<'a> Log<'a> {
    /// Opens the log of the fit with this fingerprint.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is for another fit or damaged, and read errors.
    pub fn open(checkpoint: &'a dyn Checkpoint, fingerprint: u128) -> Result<Self> {
        let mut log = Log { checkpoint, fingerprint, visits: Vec::new(), at: 0, place: None, unit: None };
        if let Some(bytes) = load_checkpoint(checkpoint, NAME)? {
            log.read(&bytes)?;
        }
        Ok(log)
    }

    /// Whether nothing is left for the kernel, and the unit of λ, if known.
    pub fn unit(&self) -> Option<(bool, f64)> {
        self.unit
    }

    /// The same log with these values.
    pub fn with_unit(self, flat: bool, unit: f64) -> Self {
        Log { unit: Some((flat, unit)), ..self }
    }

    /// The next visit, if it was completed before.
    pub fn next(&mut self) -> Option<Option<Candidate>> {
        let known = self.visits.get(self.at).cloned();
        self.at += 1;
        known
    }

    /// λ of the first visit, in scale-free units.
    pub fn began(&self) -> Option<f64> {
        self.visits.first()?.as_ref().map(|candidate| candidate.point.lambda)
    }

    /// The points and Hessians after the last visit; taken once.
    pub fn place(&mut self) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
        self.place.take()
    }

    /// Adds a visit.
    pub fn add(&mut self, found: &Option<Candidate>, points: &[f64], hessians: &[Vec<f64>]) -> Result<()> {
        self.visits.push(found.clone());
        let mut bytes = Bytes::default();
        bytes.word(MAGIC);
        bytes.word(self.fingerprint as u64);
        bytes.word((self.fingerprint >> 64) as u64);
        let (flat, unit) = self.unit.unwrap_or_default();
        bytes.word(u64::from(flat));
        bytes.number(unit);
        bytes.numbers(points);
        bytes.word(hessians.len() as u64);
        hessians.iter().for_each(|hessian| bytes.numbers(hessian));
        bytes.word(self.visits.len() as u64);
        self.visits.iter().for_each(|visit| bytes.candidate(visit.as_ref()));
        save_checkpoint(self.checkpoint, NAME, &bytes.0)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let mut from = Reader { bytes };
        let parts = (|| {
            let (magic, low, high) = (from.word()?, from.word()?, from.word()?);
            let fingerprint = u128::from(high) << 64 | u128::from(low);
            let unit = (from.word()? == 1, from.number()?);
            let points = from.numbers()?;
            let hessians = (0..from.word()?).map(|_| from.numbers()).collect::<Option<Vec<_>>>()?;
            let visits = (0..from.word()?).map(|_| from.candidate()).collect::<Option<Vec<_>>>()?;
            (magic == MAGIC && from.bytes.is_empty()).then_some((fingerprint, unit, points, hessians, visits))
        })();
        let wrong =
            |problem: &str| Error::Checkpoint { problem: format!("'{NAME}' {problem}: delete it to start again") };
        let (fingerprint, unit, points, hessians, visits) =
            parts.ok_or_else(|| wrong("is damaged or of another version"))?;
        if fingerprint != self.fingerprint {
            return Err(wrong("is of a fit with other samples, labels, weights or parameters"));
        }
        (self.visits, self.place, self.unit) = (visits, Some((points, hessians)), Some(unit));
        Ok(())
    }
}

/// Little-endian words.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn word(&mut self, word: u64) {
        self.0.extend(word.to_le_bytes());
    }

    fn number(&mut self, number: f64) {
        self.word(number.to_bits());
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.word(numbers.len() as u64);
        numbers.iter().for_each(|&number| self.number(number));
    }

    fn maybe(&mut self, number: Option<f64>) {
        self.word(u64::from(number.is_some()));
        self.number(number.unwrap_or_default());
    }

    fn candidate(&mut self, candidate: Option<&Candidate>) {
        self.word(u64::from(candidate.is_some()));
        let Some(Candidate { solutions, point, .. }) = candidate else { return };
        let PathPoint { c, lambda, objective, loo_squared_hinge, loo_error, violators, steps, .. } = *point;
        [c, lambda, objective].into_iter().for_each(|number| self.number(number));
        [loo_squared_hinge, loo_error].into_iter().for_each(|number| self.maybe(number));
        self.word(violators);
        self.word(steps.into());
        self.word(solutions.len() as u64);
        for Solved { point, n_inside, steps, status, objective, dual } in solutions {
            self.numbers(&point.coefficients);
            self.numbers(&point.free);
            self.word(*n_inside);
            self.word((*steps).into());
            self.word(u64::from(*status == Status::Converged));
            self.number(*objective);
            self.number(*dual);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn number(&mut self) -> Option<f64> {
        self.word().map(f64::from_bits)
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        let n = usize::try_from(self.word()?).ok().filter(|n| *n <= self.bytes.len() / 8)?;
        (0..n).map(|_| self.number()).collect()
    }

    fn maybe(&mut self) -> Option<Option<f64>> {
        let is_there = self.word()? == 1;
        self.number().map(|number| is_there.then_some(number))
    }

    fn candidate(&mut self) -> Option<Option<Candidate>> {
        if self.word()? == 0 {
            return Some(None);
        }
        let point = PathPoint {
            c: self.number()?,
            lambda: self.number()?,
            objective: self.number()?,
            loo_squared_hinge: self.maybe()?,
            loo_error: self.maybe()?,
            loo_exact: false,
            fold_error: None,
            violators: self.word()?,
            steps: u32::try_from(self.word()?).ok()?,
        };
        let solutions = (0..self.word()?)
            .map(|_| {
                let point = Point { coefficients: self.numbers()?, free: self.numbers()?, ..Point::default() };
                let (n_inside, steps) = (self.word()?, u32::try_from(self.word()?).ok()?);
                let status = if self.word()? == 1 { Status::Converged } else { Status::IterationLimit };
                Some(Solved { point, n_inside, steps, status, objective: self.number()?, dual: self.number()? })
            })
            .collect::<Option<_>>()?;
        Some(Some(Candidate { solutions, left_out: Vec::new(), point }))
    }
}
