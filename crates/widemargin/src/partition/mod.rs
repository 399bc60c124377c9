//! Questions about rows, and who holds the rows.
//!
//! All that a fit asks of its rows is a sum over them. A [`Query`] is such a question as a value: it can be put to any
//! part of the rows, and the answers of several parts make one. An [`Executor`] puts it to all of them: those in memory
//! ([`BlockObjective`](crate::problem::BlockObjective)), those that are read in passes (`PassObjective`,
//! [`SampleStream`]), or those of other machines ([`Remote`]), to which it goes as bytes. So a solver is written once,
//! and so is a new statistic.

/// A query that is a call of a part, and how the results of two parts are added.
macro_rules! part_query {
    ($(#[$attribute:meta])* $visible:vis $kind:ident: $name:ident $called:literal { $($(#[$note:meta])* $field:ident: $type:ty),* } -> $answer:ty { $($constant:ident = $value:expr),* }
     $call:expr, $add:expr) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Serialize, Deserialize)]
        $visible struct $name { $($(#[$note])* $visible $field: $type),* }

        impl Query for $name {
            type Of = $kind;
            type Answer = $answer;
            const NAME: &'static str = $called;
            $(const $constant: bool = $value;)*

            fn answer(&self, rows: &mut <$kind as Kind>::Part<'_>, monitor: &Monitor<'_>) -> Result<$answer> {
                let call: fn(&$name, &mut <$kind as Kind>::Part<'_>, &Monitor<'_>) -> Result<$answer> = $call;
                call(self, rows, monitor)
            }

            fn merge(&self, total: &mut $answer, next: $answer) -> Result<()> {
                let add: fn(&$name, &mut $answer, $answer) = $add;
                add(self, total, next);
                Ok(())
            }
        }
    };
}

pub(crate) use part_query;

mod query;
mod recorded;
mod remote;
mod samples;

pub use query::{Entry, Executor, Kind, Query, answer, is_about, merge};
pub(crate) use query::{add as add_answer, from_bytes, to_bytes};
pub(crate) use recorded::Recorded;
pub use remote::{EncodedQuery, Remote, Workers};
pub use samples::{SamplePart, SampleRows, SampleStream};
