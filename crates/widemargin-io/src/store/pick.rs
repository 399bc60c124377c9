//! Reads scattered rows from a source of ranges.

use std::ops::Range;

use widemargin::Result;
use widemargin::data::{Samples, Vectors};

/// Bytes read at once for rows that are close together.
pub(super) const SPAN: usize = 1 << 20;

/// Gaps between two rows up to this size are read rather than skipped: a separate request costs as much.
const GAP: usize = 16 << 10;

/// Appends the rows, in their order, to `none`; `read` returns a range of rows.
pub(super) fn pick(
    rows: &[usize],
    row_bytes: usize,
    none: Vectors,
    read: impl Fn(Range<usize>) -> Result<Vectors>,
) -> Result<Vectors> {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut picked = none;
    let (gap, span) = ((GAP / row_bytes).max(1), (SPAN / row_bytes).max(1));
    let mut rest = sorted.as_slice();
    while let Some(&first) = rest.first() {
        let mut n = 1;
        while rest.get(n).is_some_and(|&row| row - rest[n - 1] <= gap && row - first < span) {
            n += 1;
        }
        let (near, after) = rest.split_at(n);
        let range = first..near[n - 1] + 1;
        let mut found = read(range.clone())?;
        if range.len() > n {
            let near: Vec<usize> = near.iter().map(|row| row - first).collect();
            found = found.select(&near);
        }
        append(&mut picked, found);
        rest = after;
    }
    if sorted == rows {
        return Ok(picked);
    }
    // Every row is found: it is in the sorted list.
    let order: Vec<usize> = rows.iter().map(|row| sorted.partition_point(|other| other < row)).collect();
    Ok(picked.select(&order))
}

fn append(to: &mut Vectors, from: Vectors) {
    match (to, from) {
        (Vectors::Dense(to), Vectors::Dense(mut from)) => {
            to.values.append(&mut from.values);
            to.n_rows += from.n_rows;
        }
        (Vectors::Sparse(to), Vectors::Sparse(from)) => {
            to.append(&from, |value| value);
        }
        // All rows of a store are of one kind.
        _ => {}
    }
}
