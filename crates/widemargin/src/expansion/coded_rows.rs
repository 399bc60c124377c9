//! Training rows in the form read by the additive solvers: (feature, code) pairs with a codebook of values.
//!
//! Counts repeat: a bag of words scaled to [0, 1] has some hundreds of distinct values, so kernel values are computed
//! once per distinct value, and a non-zero takes 4 bytes (a 16-bit feature and a 16-bit code) instead of the 12 of CSR.
//! Data with more distinct values than [`BOOK_LIMIT`] get one codebook entry per non-zero, which the solver then reads
//! in order.

use std::sync::Arc;

use super::ValueCodes;
use super::value_counts::{BOOK_LIMIT, TOO_LARGE, ValueCounts, each_scaled};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::macros::getters;

/// A non-zero of a row: its feature, and its position in the codebook.
pub(crate) trait Entry: Copy + Send + Sync + 'static {
    /// The feature's column.
    fn feature(self) -> usize;
    /// The position in [`CodedRows::book`].
    fn code(self) -> usize;
}

/// 16 bits each, packed in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Narrow(pub(super) u32);

/// 32 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    pub(super) feature: u32,
    pub(super) code: u32,
}

impl Entry for Narrow {
    #[inline(always)]
    fn feature(self) -> usize {
        (self.0 >> 16) as usize
    }
    #[inline(always)]
    fn code(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

impl Entry for Wide {
    #[inline(always)]
    fn feature(self) -> usize {
        self.feature as usize
    }
    #[inline(always)]
    fn code(self) -> usize {
        self.code as usize
    }
}

/// The non-zeros of all rows, in the narrowest form that holds them.
#[derive(Clone, Debug)]
pub(crate) enum Entries {
    /// Up to 65,536 features and as many distinct values.
    Narrow(Vec<Narrow>),
    /// Anything else.
    Wide(Vec<Wide>),
}

/// Evaluates an expression on the entries, whatever their form.
macro_rules! on_entries {
    ($any:expr, $entries:ident => $body:expr) => {
        match $any {
            Entries::Narrow($entries) => $body,
            Entries::Wide($entries) => $body,
        }
    };
}
pub(crate) use on_entries;

/// Rows of (feature, code) pairs. The constructor ensures that every feature is below `n_features` and every code below
/// the codebook's length; the vectorized solvers rely on it.
#[derive(Clone, Debug)]
pub struct CodedRows {
    indptr: Vec<usize>,
    entries: Entries,
    book: Arc<ValueCounts>,
    n_features: usize,
}

impl CodedRows {
    /// Rows that share a codebook with others.
    ///
    /// # Errors
    /// [`Error::Shape`] for inconsistent entries, since they are read from disk.
    pub(super) fn of_parts(
        indptr: Vec<usize>,
        entries: Entries,
        book: Arc<ValueCounts>,
        n_features: usize,
    ) -> Result<Self> {
        fn fit<E: Entry>(entries: &[E], indptr: &[usize], n_features: usize, n_values: usize) -> bool {
            // Branch-free, so that it costs little more than reading them.
            let (n_features, n_values) =
                (n_features.min(u32::MAX as usize) as u32, n_values.min(u32::MAX as usize) as u32);
            let outside = |entry: &E| (entry.feature() as u32 >= n_features) | (entry.code() as u32 >= n_values);
            let fit = !entries.iter().fold(false, |any, entry| any | outside(entry));
            fit && indptr.first() == Some(&0) && indptr.last() == Some(&entries.len()) && indptr.is_sorted()
        }
        let n_values = book.values.len();
        if on_entries!(&entries, entries => fit(entries, &indptr, n_features, n_values)) {
            return Ok(CodedRows { indptr, entries, book, n_features });
        }
        Err(Error::shape(
            "rows read back from scratch",
            "other entries than were written",
            format!("features below {n_features} and codes below {n_values}"),
        ))
    }

    /// Codes these rows of `samples`, each value multiplied by its feature's factor. `weights` are the weights of
    /// these rows.
    ///
    /// Values are rounded to f32, the solvers' precision; those that become 0 are dropped.
    ///
    /// # Errors
    /// [`Error::Value`] for a value outside the range of f32; [`Error::Shape`] for 2³² or more non-zeros with more than
    /// `BOOK_LIMIT` distinct values.
    pub fn new(samples: &impl Rows, rows: &[usize], weights: &[f64], factors: Option<&[f64]>) -> Result<Self> {
        let mut coder = Coder::new(samples.n_cols(), samples.max_nonzeros());
        let mut indptr = Vec::with_capacity(rows.len() + 1);
        indptr.push(0);
        for (at, (&row, &weight)) in rows.iter().zip(weights).enumerate() {
            if let Some(&soon) = rows.get(at + 2) {
                samples.prefetch(soon);
            }
            each_scaled(samples, row, factors, TOO_LARGE, |column, _, scaled| coder.push(column, scaled, weight))?;
            indptr.push(coder.len());
        }
        coder.finish(indptr)
    }

    /// The entries, to reuse their memory.
    pub(crate) fn into_entries(self) -> Entries {
        self.entries
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of non-zeros.
    pub fn n_nonzero(&self) -> usize {
        self.indptr[self.n_rows()]
    }

    getters! {
        /// Number of features.
        copy n_features: usize;
        /// The start of each row among the entries; `n_rows + 1` positions.
        indptr: &[usize];
    }

    /// The non-zeros of all rows.
    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The value of each code.
    pub fn book(&self) -> &[f32] {
        &self.book.values
    }

    /// The weighted number of non-zeros with each code, over all rows that share the codebook.
    pub fn counts(&self) -> &[f64] {
        &self.book.counts
    }
}

/// Collects entries in the narrow form as long as they fit.
struct Coder {
    n_features: usize,
    entries: Entries,
    book: ValueCounts,
    /// `None` once there are too many values.
    codes: Option<ValueCodes>,
}

impl Coder {
    fn new(n_features: usize, most: usize) -> Self {
        // Reserved at once: growing by doubling would copy a large array several times.
        let entries = if n_features <= 1 << 16 {
            Entries::Narrow(Vec::with_capacity(most))
        } else {
            Entries::Wide(Vec::with_capacity(most))
        };
        Coder { n_features, entries, book: ValueCounts::default(), codes: Some(ValueCodes::new()) }
    }

    fn len(&self) -> usize {
        on_entries!(&self.entries, entries => entries.len())
    }

    #[inline]
    fn push(&mut self, column: usize, value: f32, weight: f64) {
        let known = self.codes.as_mut().and_then(|codes| codes.get(value));
        let code = match known {
            Some(code) => {
                self.book.counts[code as usize] += weight;
                code
            }
            None => self.new_code(value, weight),
        };
        match &mut self.entries {
            Entries::Narrow(entries) => entries.push(Narrow((column as u32) << 16 | code)),
            Entries::Wide(entries) => entries.push(Wide { feature: column as u32, code }),
        }
    }

    /// The code of a new value, or of any value if each non-zero has its own.
    fn new_code(&mut self, value: f32, weight: f64) -> u32 {
        if self.codes.as_ref().is_some_and(|codes| codes.len() == BOOK_LIMIT) {
            self.give_up_codes();
        }
        self.book.values.push(value);
        self.book.counts.push(weight);
        match &mut self.codes {
            Some(codes) => codes.insert(value),
            None => (self.book.values.len() - 1) as u32,
        }
    }

    /// Switches from one code per distinct value to one code per non-zero.
    fn give_up_codes(&mut self) {
        self.codes = None;
        let mut entries: Vec<Wide> =
            on_entries!(&self.entries, entries => entries.iter().map(|entry| widen(*entry)).collect());
        // How a value's weight is divided among its non-zeros does not matter: only their sum is used.
        let mut counts = vec![0.0; entries.len()];
        let mut is_counted = vec![false; self.book.values.len()];
        for (count, entry) in counts.iter_mut().zip(&entries) {
            if !std::mem::replace(&mut is_counted[entry.code()], true) {
                *count = self.book.counts[entry.code()];
            }
        }
        self.book.counts = counts;
        self.book.values = entries.iter().map(|entry| self.book.values[entry.code()]).collect();
        for (position, entry) in entries.iter_mut().enumerate() {
            entry.code = position as u32;
        }
        self.entries = Entries::Wide(entries);
    }

    fn finish(self, indptr: Vec<usize>) -> Result<CodedRows> {
        if self.codes.is_none() && self.len() > u32::MAX as usize {
            return Err(Error::shape(
                "samples",
                format!("{} non-zeros of more than {BOOK_LIMIT} distinct values", self.len()),
                "fewer than 2^32 (round the values, or train on a part)",
            ));
        }
        let Coder { n_features, entries, book, .. } = self;
        Ok(CodedRows { indptr, entries, book: Arc::new(book), n_features })
    }
}

fn widen(entry: impl Entry) -> Wide {
    Wide { feature: entry.feature() as u32, code: entry.code() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;

    fn decoded(rows: &CodedRows) -> Vec<Vec<(usize, f32)>> {
        fn pairs<E: Entry>(rows: &CodedRows, entries: &[E]) -> Vec<Vec<(usize, f32)>> {
            let pair = |e: &E| (e.feature(), rows.book()[e.code()]);
            rows.indptr().windows(2).map(|w| entries[w[0]..w[1]].iter().map(pair).collect()).collect()
        }
        match rows.entries() {
            Entries::Narrow(entries) => pairs(rows, entries),
            Entries::Wide(entries) => pairs(rows, entries),
        }
    }

    #[test]
    fn few_values_are_coded_narrow() {
        let values = [1.0, 0.0, 2.0, 2.0, 2.0, 0.0];
        let samples = DenseView::new(&values, 2, 3).unwrap();
        let rows = CodedRows::new(&samples, &[1, 0], &[3.0, 1.0], Some(&[0.5, 1.0, 1.0])).unwrap();
        assert!(matches!(rows.entries(), Entries::Narrow(_)));
        assert_eq!(decoded(&rows), [vec![(0, 1.0), (1, 2.0)], vec![(0, 0.5), (2, 2.0)]]);
        assert_eq!((rows.book(), rows.counts()), (&[1.0f32, 2.0, 0.5][..], &[3.0, 4.0, 1.0][..]));
    }

    #[test]
    fn each_of_many_values_has_an_entry() {
        let values: Vec<f64> = (0..100_000).map(|i| f64::from(i + 1)).collect();
        let samples = DenseView::new(&values, 1000, 100).unwrap();
        let all: Vec<usize> = (0..1000).collect();
        let rows = CodedRows::new(&samples, &all, &[1.0; 1000], None).unwrap();
        assert!(matches!(rows.entries(), Entries::Wide(_)));
        assert_eq!((rows.n_nonzero(), rows.book().len()), (100_000, 100_000));
        let back: Vec<f64> = decoded(&rows).concat().iter().map(|(_, value)| f64::from(*value)).collect();
        assert_eq!(back, values);
    }

    #[test]
    fn values_beyond_single_precision() {
        let samples = DenseView::new(&[1.0, 1e300], 2, 1).unwrap();
        let error = CodedRows::new(&samples, &[0, 1], &[1.0; 2], None).unwrap_err();
        assert!(error.to_string().starts_with("row 1, column 0 (from 0): "), "{error}");
        let tiny = DenseView::new(&[1.0, 1e-300], 2, 1).unwrap();
        assert_eq!(CodedRows::new(&tiny, &[0, 1], &[1.0; 2], None).unwrap().n_nonzero(), 1);
    }
}
