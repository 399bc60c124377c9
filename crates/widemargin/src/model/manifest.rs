//! The manifest of a checkpoint, which identifies the fit it belongs to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Checkpoint, Fingerprint, Labels, Samples, Source, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};

/// Its name in a checkpoint.
const NAME: &str = "fit.json";

/// The version of the checkpoint's layout; other versions are not read.
const FORMAT: u32 = 1;

/// Number of samples whose content is compared.
const FINGERPRINT_SAMPLES: usize = 64;

/// Identifies a fit by its parameters and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    method: String,
    /// By name, as written on the command line.
    parameters: Vec<(String, String)>,
    /// Identification of the samples and labels.
    data: Vec<(String, String)>,
    /// The partitioning, which a resumed fit keeps, independent of the memory that is available now.
    plan: BTreeMap<String, u64>,
}

/// The sizes of a plan by name.
pub(crate) struct Sizes(BTreeMap<String, u64>);

impl Sizes {
    /// One from 1 to `most`.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if there is none.
    pub fn get(&self, name: &str, most: usize) -> Result<usize> {
        let size = self.0.get(name).copied().and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| (1..=most).contains(size));
        size.ok_or_else(|| Error::Checkpoint { problem: format!("it does not say how many {name} there are") })
    }
}

impl Manifest {
    /// Built from the labels, the weights and some evenly spaced samples.
    pub fn new<S: Samples>(
        method: &str,
        parameters: &[(&str, String)],
        samples: &dyn Source<Samples = S>,
        labels: &Labels,
        weights: &[f64],
    ) -> Result<Self> {
        let n = samples.n_samples();
        let rows: Vec<usize> = (0..n.min(FINGERPRINT_SAMPLES)).map(|at| at * n / n.min(FINGERPRINT_SAMPLES)).collect();
        let mut content = Fingerprint::default();
        for (at, print) in samples.fingerprints(&rows)?.unwrap_or_default().into_iter().enumerate() {
            content.add(2 * at, print as u64);
            content.add(2 * at + 1, (print >> 64) as u64);
        }
        let mut codes = Fingerprint::default();
        labels.codes().iter().enumerate().for_each(|(at, &code)| codes.add(at, u64::from(code)));
        let sets = labels.signed_sets().unwrap_or_default().iter().enumerate();
        sets.for_each(|(at, signed)| codes.add(labels.len() + at, signed.to_bits()));
        let mut weighed = Fingerprint::default();
        weights.iter().enumerate().for_each(|(at, weight)| weighed.add(at, weight.to_bits()));
        let classes: Vec<String> = labels.classes().iter().map(ToString::to_string).collect();
        let hex = |print: Fingerprint| format!("{:032x}", print.finish());
        let data = [
            ("number of samples", n.to_string()),
            ("classes", classes.join(" ")),
            ("labels", hex(codes)),
            ("weights", hex(weighed)),
            ("samples", hex(content)),
        ];
        let owned = |pairs: &[(&str, String)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        Ok(Manifest {
            format: FORMAT,
            method: method.to_owned(),
            parameters: owned(parameters),
            data: owned(&data),
            plan: BTreeMap::new(),
        })
    }

    /// The plan stored in the checkpoint, if there is one, which must be of this fit.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for that of another fit.
    pub fn stored(&self, checkpoint: &dyn Checkpoint) -> Result<Option<Sizes>> {
        let Some(bytes) = load_checkpoint(checkpoint, NAME)? else { return Ok(None) };
        let there: Manifest = serde_json::from_slice(&bytes)
            .map_err(|problem| Error::Checkpoint { problem: format!("{NAME} is damaged: {problem}") })?;
        if let Some(problem) = self.difference(&there) {
            let problem = format!("{problem}; give the same data and parameters, or another folder");
            return Err(Error::Checkpoint { problem });
        }
        Ok(Some(Sizes(there.plan)))
    }

    /// The stored plan, if there is one; otherwise this plan, which is stored.
    ///
    /// # Errors
    /// As for [`Manifest::stored`].
    pub fn settle(mut self, plan: &[(&str, usize)], checkpoint: Option<&dyn Checkpoint>) -> Result<Sizes> {
        self.plan = plan.iter().map(|(name, size)| ((*name).to_owned(), *size as u64)).collect();
        let Some(checkpoint) = checkpoint else { return Ok(Sizes(self.plan)) };
        if let Some(plan) = self.stored(checkpoint)? {
            return Ok(plan);
        }
        let bytes =
            serde_json::to_vec_pretty(&self).map_err(|problem| Error::Checkpoint { problem: problem.to_string() })?;
        save_checkpoint(checkpoint, NAME, &bytes)?;
        Ok(Sizes(self.plan))
    }

    /// Describes a difference from `there`: first of the data, by which parameters are selected.
    fn difference(&self, there: &Manifest) -> Option<String> {
        if self.format != there.format {
            return Some(format!("it has format {}, this version reads {}", there.format, self.format));
        }
        if self.method != there.method {
            return Some(format!("it is of a {} fit, this is a {} fit", there.method, self.method));
        }
        let absent = "none".to_owned();
        for (kind, ours, theirs) in
            [("data", &self.data, &there.data), ("parameter", &self.parameters, &there.parameters)]
        {
            let of = |pairs: &[(String, String)], name: &str| {
                pairs.iter().find(|(known, _)| known == name).map_or_else(|| absent.clone(), |(_, value)| value.clone())
            };
            for (name, _) in ours.iter().chain(theirs) {
                let (now, then) = (of(ours, name), of(theirs, name));
                if now == then {
                    continue;
                }
                return Some(match (kind, name.as_str()) {
                    ("parameter", _) => format!("it was begun with {name} = {then}, now {name} is {now}"),
                    (_, "number of samples" | "classes") => {
                        format!("it was begun on other data: {name} {then}, now {now}")
                    }
                    _ => format!("it was begun on other data: the {name} differ"),
                });
            }
        }
        None
    }
}
