//! A statistic of one's own, answered by every executor: the example of CONTRIBUTING.

use crate::common::vectors;
use serde::{Deserialize, Serialize};
use widemargin::Result;
use widemargin::data::{DenseView, Rows};
use widemargin::model::LargestValues;
use widemargin::monitor::Monitor;
use widemargin::partition::{
    self, EncodedQuery, Entry, Executor, Kind, Query, Remote, SamplePart, SampleRows, SampleStream, Workers,
};

/// Σ w over the samples that have each column.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NonZeros;

impl Query for NonZeros {
    type Of = SampleRows;
    type Answer = Vec<f64>;
    const NAME: &'static str = "non_zeros";

    fn answer(&self, part: &mut SamplePart<'_>, _: &Monitor<'_>) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; part.rows().n_cols()];
        for row in part.present() {
            part.rows().for_each_nonzero(row, |column, _| sums[column] += part.weights[row]);
        }
        Ok(sums)
    }

    fn merge(&self, total: &mut Vec<f64>, next: Vec<f64>) -> Result<()> {
        total.iter_mut().zip(next).for_each(|(total, next)| *total += next);
        Ok(())
    }
}

/// Two workers, each with some of the rows; all that reaches them are bytes.
struct TwoWorkers<'a>(&'a [f64], &'a [f64]);

impl Workers for TwoWorkers<'_> {
    fn ask(&mut self, request: EncodedQuery<'_>) -> Result<Vec<u8>> {
        assert_eq!((request.name, request.changes_state, request.has_answer), ("non_zeros", false, true));
        let queries = &[Entry::of::<NonZeros>()];
        let answers = [0..4, 4..9].map(|rows| {
            let view = DenseView::new(&self.0[rows.start * 3..rows.end * 3], rows.len(), 3)?;
            partition::answer(queries, request.query, &mut SamplePart::new(view, &self.1[rows]), &Monitor::none())
        });
        let [first, second] = answers;
        partition::merge(queries, request.query, &[&first?, &second?])
    }
}

#[test]
fn every_executor_answers_a_new_statistic() {
    let values: Vec<f64> = (0..27).map(|at| f64::from(at * at % 4)).collect();
    let weights: Vec<f64> = (0..9).map(|row| f64::from(row % 3)).collect();
    let has = |column: usize, row: usize| if values[3 * row + column] == 0.0 { 0.0 } else { weights[row] };
    let truth: Vec<f64> = (0..3).map(|column| (0..9).map(|row| has(column, row)).sum()).collect();

    let samples = vectors(values.iter().map(|&x| x as f32).collect(), 3);
    let mut source = SampleStream::new(&samples, &weights, 2, 2).unwrap();
    assert_eq!(source.reduce(&NonZeros, &Monitor::none()).unwrap(), truth);

    let mut workers = Remote::new(TwoWorkers(&values, &weights));
    assert_eq!(workers.reduce(&NonZeros, &Monitor::none()).unwrap(), truth);
}

#[test]
fn rejects_bytes_that_are_not_a_query() {
    let values = [1.0; 3];
    let view = DenseView::new(&values, 1, 3).unwrap();
    for bytes in [&b""[..], b"abc", &[200; 40]] {
        let queries = &[Entry::of::<NonZeros>()];
        let refused = partition::answer(queries, bytes, &mut SamplePart::new(view, &[1.0]), &Monitor::none());
        assert!(refused.unwrap_err().to_string().contains("a query or an answer of this version"));
        assert!(!partition::is_about::<SampleRows>(bytes));
    }
    assert_eq!(SampleRows::NAME, "samples");
}

#[test]
fn errors_name_a_bad_value_with_its_row_among_all() {
    let mut values = vec![1.0; 12];
    values[9] = -2.0;
    let samples = vectors(values, 2);
    let mut source = SampleStream::new(&samples, &[1.0; 6], 4, 1).unwrap();
    let error = source.reduce(&LargestValues {}, &Monitor::none()).unwrap_err().to_string();
    assert!(error.starts_with("row 4, column 1 (from 0): "), "{error}");
}
