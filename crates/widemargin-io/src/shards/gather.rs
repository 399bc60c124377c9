//! Concatenates tables.

use widemargin::data::{CsrMatrix, DenseMatrix, LabelParts};

use crate::table::{Samples, Table};

/// The concatenated rows of consecutive tables.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    table: Option<Table>,
    labels: Option<LabelParts>,
    groups: Option<LabelParts>,
}

impl Gathered {
    /// Appends the rows of a table with the same columns, and its vectors if it has any. Returns the table if its memory
    /// can be used again.
    pub fn append(&mut self, mut piece: Table) -> Table {
        if let Some(labels) = piece.labels.take() {
            self.labels.get_or_insert_default().append(&labels);
        }
        if let Some(groups) = piece.groups.take() {
            self.groups.get_or_insert_default().append(&groups);
        }
        let Some(table) = &mut self.table else {
            self.table = Some(piece);
            return Table::default();
        };
        append(&mut table.samples, &piece.samples);
        if let Some(lines) = &piece.lines {
            table.lines.get_or_insert_default().append(lines, 0);
        }
        if let Some(shards) = &piece.shards {
            table.shards.get_or_insert_default().append(shards, 0);
        }
        if let (Some(indicators), Some(piece)) = (&mut table.indicators, &piece.indicators) {
            indicators.values.extend(&piece.values);
        }
        extend(&mut table.ids, &mut piece.ids);
        extend(&mut table.weights, &mut piece.weights);
        table.remarks.append(&mut piece.remarks);
        piece
    }

    /// All rows; `None` if there are none.
    pub fn finish(self) -> Option<Table> {
        let mut table = self.table?;
        match &mut table.samples {
            Samples::SparseF32(m) => (m.indices.shrink_to_fit(), m.values.shrink_to_fit()),
            Samples::SparseF64(m) => (m.indices.shrink_to_fit(), m.values.shrink_to_fit()),
            Samples::DenseF32(m) => (m.values.shrink_to_fit(), ()),
            Samples::DenseF64(m) => (m.values.shrink_to_fit(), ()),
            Samples::Other(_) => ((), ()),
        };
        table.labels = self.labels.map(LabelParts::finish);
        table.groups = self.groups.map(LabelParts::finish);
        table.remarks.sort();
        table.remarks.dedup();
        Some(table)
    }
}

fn extend<T>(to: &mut Option<Vec<T>>, from: &mut Option<Vec<T>>) {
    if let (Some(to), Some(from)) = (to, from) {
        to.append(from);
    }
}

/// Appends samples, in double precision if either is.
fn append(to: &mut Samples, from: &Samples) {
    match (&mut *to, from) {
        (Samples::SparseF32(to), Samples::SparseF32(from)) => to.append(from, |value| value),
        (Samples::SparseF64(to), Samples::SparseF64(from)) => to.append(from, |value| value),
        (Samples::SparseF64(to), Samples::SparseF32(from)) => to.append(from, f64::from),
        (Samples::DenseF32(to), Samples::DenseF32(from)) => to.append(from, |value| value),
        (Samples::DenseF64(to), Samples::DenseF64(from)) => to.append(from, |value| value),
        (Samples::DenseF64(to), Samples::DenseF32(from)) => to.append(from, f64::from),
        (Samples::SparseF32(single), Samples::SparseF64(from)) => {
            let mut all = CsrMatrix::empty(single.n_cols);
            all.append(single, f64::from);
            all.append(from, |value| value);
            *to = all.into();
        }
        (Samples::DenseF32(single), Samples::DenseF64(from)) => {
            let mut all = DenseMatrix { n_cols: single.n_cols, ..DenseMatrix::default() };
            all.append(single, f64::from);
            all.append(from, |value| value);
            *to = all.into();
        }
        // Sparse and dense shards, or other samples, were refused earlier as mismatched shards.
        _ => {}
    }
}
