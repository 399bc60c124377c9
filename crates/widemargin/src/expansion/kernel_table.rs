//! A user-defined kernel, reduced to its values at the nodes.
//!
//! The function is called only for the distinct values that occur in training (the training data of histograms have
//! few), and for the nodes. More than [`MAX_VALUES`] distinct values are represented by that number, at equal steps in
//! their order, so that the table is dense where values are. Between two tabulated values the table is linear, from 0
//! at 0 to the first, and constant beyond the last: a model never extrapolates a kernel beyond its training values.

use std::iter::repeat_n;

use crate::error::Result;
use crate::macros::getters;
use crate::similarity::OwnKernel;

/// The maximum number of distinct values in a table.
pub(super) const MAX_VALUES: usize = 4096;

/// k(c, ·) for each node c, and k(x, x), at some values of x.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTable {
    name: String,
    /// Ascending, above 0.
    values: Vec<f64>,
    /// Rows of one number a value: k(c, ·) of each node c, and last k(x, x).
    rows: Vec<f64>,
}

impl KernelTable {
    /// Of a kernel at these nodes, for these training values; only distinct ones matter.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a kernel that is not zero where x or y is, or not finite;
    /// errors of the function.
    pub fn new(kernel: &OwnKernel, nodes: &[f64], values: &[f64]) -> Result<Self> {
        let mut values: Vec<f64> = values.iter().chain(nodes).copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let n = values.len();
        let left = nodes.iter().flat_map(|&node| repeat_n(node, n)).chain(values.iter().copied());
        let right = values.repeat(nodes.len() + 1);
        let rows = kernel.values(&left.collect::<Vec<_>>(), &right)?;
        Ok(KernelTable { name: kernel.to_string(), values, rows })
    }

    /// From [`KernelTable::values`] and [`KernelTable::rows`]; `None` if they are inconsistent.
    pub fn of_parts(name: String, values: Vec<f64>, rows: Vec<f64>) -> Option<Self> {
        let n = values.len();
        let fits = n > 0
            && rows.len().is_multiple_of(n)
            && rows.len() > n
            && values[0] > 0.0
            && values.is_sorted_by(|a, b| a < b)
            && values.iter().chain(&rows).all(|number| number.is_finite());
        fits.then_some(KernelTable { name, values, rows })
    }

    getters! {
        /// The kernel's name.
        name: &str;
        /// The tabulated values, ascending.
        values: &[f64];
        /// The rows one after the other: k(c, ·) of each node c, and k(x, x).
        rows: &[f64];
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.rows.len() / self.values.len() - 1
    }

    /// The same with these of the nodes.
    pub(super) fn keep(&mut self, nodes: &[usize]) {
        let rows = nodes.iter().copied().chain([self.n_nodes()]).flat_map(|row| self.row(row).to_vec());
        self.rows = rows.collect();
    }

    /// k(c, x) at the node of this number, x above 0.
    pub(super) fn at_node(&self, node: usize, x: f64) -> f64 {
        self.between(self.row(node), x)
    }

    /// k(x, x), x above 0.
    pub(super) fn diagonal(&self, x: f64) -> f64 {
        self.between(self.row(self.n_nodes()), x)
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.values.len()..][..self.values.len()]
    }

    fn between(&self, row: &[f64], x: f64) -> f64 {
        let above = self.values.partition_point(|value| *value < x);
        if above == row.len() {
            return row[above - 1];
        }
        if self.values[above] == x {
            return row[above];
        }
        let (low, at_low) = if above == 0 { (0.0, 0.0) } else { (self.values[above - 1], row[above - 1]) };
        at_low + (row[above] - at_low) * ((x - low) / (self.values[above] - low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_values_are_exact_and_those_between_are_linear() {
        let chi2 = |x: f64, y: f64| 2.0 * x * y / (x + y);
        let table = KernelTable::new(&OwnKernel::new("chi2", chi2), &[3.0, 1.0], &[1.0, 2.0, 7.0]).unwrap();
        assert_eq!((table.values(), table.n_nodes()), (&[1.0, 2.0, 3.0, 7.0][..], 2));
        for x in [1.0, 2.0, 3.0, 7.0] {
            assert_eq!((table.at_node(0, x), table.at_node(1, x)), (chi2(3.0, x), chi2(1.0, x)));
            assert_eq!(table.diagonal(x), x);
        }
        assert_eq!(table.at_node(0, 0.25), 0.25 * chi2(3.0, 1.0));
        assert_eq!(table.at_node(0, 5.0), 0.5 * (chi2(3.0, 3.0) + chi2(3.0, 7.0)));
        assert_eq!(table.at_node(0, 1e9), chi2(3.0, 7.0));
        let back = KernelTable::of_parts("own:chi2".into(), table.values().to_vec(), table.rows().to_vec());
        assert_eq!(back, Some(table.clone()));
        for (values, flat) in [(vec![2.0, 1.0], vec![0.0; 4]), (vec![1.0], vec![f64::NAN]), (vec![], vec![])] {
            assert_eq!(KernelTable::of_parts("own:bad".into(), values, flat), None);
        }
    }
}
