//! Scores of a task.

use widemargin::select::Scoring;

use crate::report::{Failure, refused};
use crate::text_table::list;

/// Refuses a score of the other task: of a regression those of classes, of a classification those of numbers.
pub fn check_task(scoring: Scoring, is_regression: bool) -> Result<(), Failure> {
    match (scoring.is_of_numbers(), is_regression) {
        (true, false) => {
            let failure = format!("{scoring} is a score of numbers, and the model predicts classes");
            refused(failure, "name a score of classes, such as accuracy or neg-log-loss")
        }
        (false, true) => {
            let failure = format!("{scoring} is a score of classes, and this is a regression model");
            let names = list(Scoring::all().filter(|known| known.is_of_numbers()), ", ");
            refused(failure, format!("name one of {names}"))
        }
        _ => Ok(()),
    }
}
