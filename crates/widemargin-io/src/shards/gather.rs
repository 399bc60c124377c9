//! Concatenates tables.

use std::collections::BTreeMap;

use widemargin::data::{CsrMatrix, DenseMatrix, Element, Label, Labels};

use crate::error::Result;
use crate::table::{Samples, Table};

/// The concatenated rows of consecutive tables.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    table: Option<Table>,
    labels: GatheredLabels,
}

impl Gathered {
    /// Appends the rows of a table of vectors with the same columns.
    pub fn append(&mut self, piece: &Table) {
        if let Some(labels) = &piece.labels {
            self.labels.append(labels);
        }
        let Some(table) = &mut self.table else {
            self.table = Some(Table { labels: None, ..piece.clone() });
            return;
        };
        append(&mut table.samples, &piece.samples);
        append_places(table, piece);
    }

    /// All rows; `None` if there are none.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn finish(self) -> Result<Option<Table>> {
        let Some(mut table) = self.table else { return Ok(None) };
        match &mut table.samples {
            Samples::SparseF32(m) => (m.indices.shrink_to_fit(), m.values.shrink_to_fit()),
            Samples::SparseF64(m) => (m.indices.shrink_to_fit(), m.values.shrink_to_fit()),
            Samples::DenseF32(m) => (m.values.shrink_to_fit(), ()),
            Samples::DenseF64(m) => (m.values.shrink_to_fit(), ()),
            Samples::Other(_) => ((), ()),
        };
        table.labels = self.labels.finish()?;
        Ok(Some(table))
    }
}

/// Appends the locations of the rows of a piece.
pub(crate) fn append_places(table: &mut Table, piece: &Table) {
    if let Some(lines) = &piece.lines {
        table.lines.get_or_insert_default().append(lines, 0);
    }
    if let Some(shards) = &piece.shards {
        table.shards.get_or_insert_default().append(shards, 0);
    }
}

/// The labels of consecutive tables, each with its own classes.
#[derive(Debug, Default)]
pub(crate) struct GatheredLabels {
    /// The number of each class in order of occurrence.
    numbers: BTreeMap<Label, u32>,
    codes: Vec<u32>,
    any: bool,
}

impl GatheredLabels {
    /// Appends labels: equal labels are the same class, whatever their codes.
    pub fn append(&mut self, labels: &Labels) {
        self.any = true;
        let number = |class: &Label| {
            let next = self.numbers.len() as u32;
            match self.numbers.get(class) {
                Some(number) => *number,
                None => *self.numbers.entry(class.clone()).or_insert(next),
            }
        };
        let numbers: Vec<u32> = labels.classes().iter().map(number).collect();
        self.codes.extend(labels.codes().iter().map(|&code| numbers[code as usize]));
    }

    /// All labels, with classes sorted as in [`Labels::new`]; `None` if there were none.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn finish(self) -> Result<Option<Labels>> {
        if !self.any {
            return Ok(None);
        }
        let GatheredLabels { numbers, mut codes, .. } = self;
        let mut sorted = vec![0u32; numbers.len()];
        for (position, &number) in numbers.values().enumerate() {
            sorted[number as usize] = position as u32;
        }
        codes.iter_mut().for_each(|code| *code = sorted[*code as usize]);
        codes.shrink_to_fit();
        Ok(Some(Labels::from_codes(numbers.into_keys().collect(), codes)?))
    }
}

/// Appends samples, in double precision if either is.
fn append(to: &mut Samples, from: &Samples) {
    match (&mut *to, from) {
        (Samples::SparseF32(to), Samples::SparseF32(from)) => to.append(from, |value| value),
        (Samples::SparseF64(to), Samples::SparseF64(from)) => to.append(from, |value| value),
        (Samples::SparseF64(to), Samples::SparseF32(from)) => to.append(from, f64::from),
        (Samples::DenseF32(to), Samples::DenseF32(from)) => append_dense(to, from, |value| value),
        (Samples::DenseF64(to), Samples::DenseF64(from)) => append_dense(to, from, |value| value),
        (Samples::DenseF64(to), Samples::DenseF32(from)) => append_dense(to, from, f64::from),
        (Samples::SparseF32(single), Samples::SparseF64(_)) => {
            let CsrMatrix { indptr, indices, values, n_cols } = std::mem::take(single);
            let values = values.into_iter().map(f64::from).collect();
            *to = Samples::SparseF64(CsrMatrix { indptr, indices, values, n_cols });
            append(to, from);
        }
        (Samples::DenseF32(single), Samples::DenseF64(_)) => {
            let DenseMatrix { values, n_rows, n_cols } = std::mem::take(single);
            let values = values.into_iter().map(f64::from).collect();
            *to = Samples::DenseF64(DenseMatrix { values, n_rows, n_cols });
            append(to, from);
        }
        // Sparse and dense shards, or other samples, were refused earlier as mismatched shards.
        _ => {}
    }
}

fn append_dense<T: Element, U: Element>(to: &mut DenseMatrix<T>, from: &DenseMatrix<U>, convert: impl Fn(U) -> T) {
    to.values.extend(from.values.iter().map(|value| convert(*value)));
    to.n_rows += from.n_rows;
}
