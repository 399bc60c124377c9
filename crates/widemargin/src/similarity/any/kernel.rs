//! A similarity whose kind of samples is known only at run time.

use std::any::Any;

use crate::data::{AnySamples, CsrMatrix, Kind, Mapped, Training, Vectors};
use crate::error::{Error, Result};
use crate::similarity::{Comparison, Similarity};

/// The interface of the parts of [`super::AnySimilarity`], implemented by every similarity of a known kind.
pub(in crate::similarity) trait AnyKernel: Send + Sync {
    fn spec_any(&self) -> String;

    /// The kind of samples it compares.
    fn kind(&self) -> &'static str;

    /// The kinds that can be converted to it, the preferred one first.
    fn takes_any(&self) -> Vec<&'static str>;

    /// Converts samples to the kind it compares, if possible.
    fn accept(&self, samples: AnySamples) -> Result<AnySamples>;

    fn fit_any(&mut self, training: &Training<'_, AnySamples>) -> Result<()>;

    fn block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()>;

    fn sparse_block_any(&self, bases: &AnySamples, samples: &AnySamples) -> Result<Option<CsrMatrix<f32>>>;

    fn kernel_distances_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<bool>;

    fn precise_block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f64]) -> Result<bool>;

    fn seconds_per_pair_any(&self, bases: &AnySamples) -> f64;

    fn n_columns_any(&self, bases: &AnySamples) -> usize;

    fn brings_columns_any(&self) -> bool;

    fn compares_any(&self) -> bool;

    fn n_polynomials_any(&self) -> usize;

    fn depends_on_differences_any(&self) -> bool;

    fn is_symmetric_any(&self) -> bool;

    fn comparison_any(&self, bases: (&AnySamples, usize), samples: (&AnySamples, usize)) -> Result<Option<Comparison>>;

    /// For downcasting.
    fn as_any(&self) -> &dyn Any;
}

impl<S> AnyKernel for S
where
    S: Similarity + 'static,
    S::Samples: Kind,
{
    fn spec_any(&self) -> String {
        self.spec()
    }

    fn kind(&self) -> &'static str {
        S::Samples::NAME
    }

    fn takes_any(&self) -> Vec<&'static str> {
        S::Samples::TAKES.to_vec()
    }

    fn accept(&self, samples: AnySamples) -> Result<AnySamples> {
        Ok(typed::<S>(self, without_offsets(self, samples))?.into_any())
    }

    fn fit_any(&mut self, training: &Training<'_, AnySamples>) -> Result<()> {
        // Computed before `fit` borrows the similarity mutably.
        let (spec, has_differences) = (self.spec(), self.depends_on_differences());
        let source = Mapped {
            source: training.samples,
            map: |samples| {
                let samples = if has_differences { differences_of(samples) } else { samples };
                S::Samples::from_any(samples).map_err(|met| other_kind(&spec, S::Samples::NAME, &met))
            },
        };
        self.fit(&training.of(&source))
    }

    fn block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        let of = |samples| S::Samples::of(samples).ok_or_else(|| other_kind(&self.spec(), S::Samples::NAME, samples));
        self.block(of(bases)?, of(samples)?, block)
    }

    fn sparse_block_any(&self, bases: &AnySamples, samples: &AnySamples) -> Result<Option<CsrMatrix<f32>>> {
        let of = |samples| S::Samples::of(samples).ok_or_else(|| other_kind(&self.spec(), S::Samples::NAME, samples));
        self.sparse_block(0, of(bases)?, of(samples)?)
    }

    fn kernel_distances_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<bool> {
        let of = |samples| S::Samples::of(samples).ok_or_else(|| other_kind(&self.spec(), S::Samples::NAME, samples));
        self.kernel_distances(0, of(bases)?, of(samples)?, block)
    }

    fn precise_block_any(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f64]) -> Result<bool> {
        let of = |samples| S::Samples::of(samples).ok_or_else(|| other_kind(&self.spec(), S::Samples::NAME, samples));
        self.precise_block(0, of(bases)?, of(samples)?, block)
    }

    fn seconds_per_pair_any(&self, bases: &AnySamples) -> f64 {
        S::Samples::of(bases).map_or(0.0, |bases| self.seconds_per_pair(bases))
    }

    fn n_columns_any(&self, bases: &AnySamples) -> usize {
        S::Samples::of(bases).map_or(0, |bases| self.n_columns(bases))
    }

    fn brings_columns_any(&self) -> bool {
        self.brings_columns()
    }

    fn compares_any(&self) -> bool {
        self.compares()
    }

    fn n_polynomials_any(&self) -> usize {
        self.n_polynomials()
    }

    fn depends_on_differences_any(&self) -> bool {
        self.depends_on_differences()
    }

    fn is_symmetric_any(&self) -> bool {
        self.is_symmetric(0)
    }

    fn comparison_any(&self, bases: (&AnySamples, usize), samples: (&AnySamples, usize)) -> Result<Option<Comparison>> {
        let of = |samples| S::Samples::of(samples).ok_or_else(|| other_kind(&self.spec(), S::Samples::NAME, samples));
        self.comparison(0, (of(bases.0)?, bases.1), (of(samples.0)?, samples.1))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Vectors far from 0 as a similarity compares them: their differences from the offsets, where it depends on nothing
/// else.
fn without_offsets<S: Similarity>(similarity: &S, samples: AnySamples) -> AnySamples {
    if similarity.depends_on_differences() { differences_of(samples) } else { samples }
}

fn differences_of(samples: AnySamples) -> AnySamples {
    match samples {
        AnySamples::Far(vectors) => AnySamples::Vectors(Vectors::Dense(vectors.into_differences())),
        samples => samples,
    }
}

fn typed<S: Similarity>(similarity: &S, samples: AnySamples) -> Result<S::Samples>
where
    S::Samples: Kind,
{
    S::Samples::from_any(samples).map_err(|met| other_kind(&similarity.spec(), S::Samples::NAME, &met))
}

fn other_kind(spec: &str, wanted: &str, met: &AnySamples) -> Error {
    let hint = match (wanted, met) {
        ("vectors" | "grids of cells", AnySamples::Images(_)) => {
            format!(" (put a descriptor before it: hog:cell=8/{spec})")
        }
        ("vectors", AnySamples::Strings(_)) => {
            format!(" (edit, align and ngram compare strings, and ngram-counts/{spec} their parts)")
        }
        ("bit sets", AnySamples::Strings(_)) => format!(" (put a descriptor before it: ngrams/{spec})"),
        ("time series", AnySamples::Vectors(Vectors::Sparse(_))) => " (rows of a dense array would do)".to_owned(),
        (_, AnySamples::Series(_)) => " (dtw compares time series)".to_owned(),
        _ => String::new(),
    };
    Error::similarity(spec, format!("it compares {wanted}, not {}{hint}", met.kind()))
}
