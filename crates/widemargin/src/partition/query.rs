//! The queries to rows, and how queries and answers are serialized.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::monitor::Monitor;

/// A kind of rows: samples, or the features of a linear model. Each has queries of its own.
pub trait Kind: Sized + 'static {
    /// Some of the rows, with their state between queries.
    type Part<'p>: ?Sized;

    /// Unique among the kinds.
    const NAME: &'static str;
}

/// A question that any part of the rows can answer. Answers are merged in the order of the parts.
pub trait Query: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The rows that it is about.
    type Of: Kind;

    /// The answer of some rows, and of all of them.
    type Answer: Default + Serialize + DeserializeOwned + Send;

    /// Unique among the queries of its kind.
    const NAME: &'static str;

    /// Whether it changes the state of a part.
    const CHANGES_STATE: bool = false;

    /// Whether it reads features. Where it does not, none are made or read for it.
    const READS_FEATURES: bool = true;

    /// Whether it has an answer: one without can wait for the next that has.
    const HAS_ANSWER: bool = true;

    /// Whether it is about the Hessian of a step, which some of the rows suffice for.
    const IS_OF_HESSIAN: bool = false;

    /// Whether it is about a preconditioner, for which some of the rows suffice in any step.
    const IS_OF_PRECONDITIONER: bool = false;

    /// Whether a checkpoint stores its answer; otherwise the query is repeated after a restart.
    const IS_RECORDED: bool = true;

    /// The answer of some rows.
    ///
    /// # Errors
    /// An error of the rows; [`Error::Cancelled`] if the monitor says so.
    fn answer(&self, part: &mut <Self::Of as Kind>::Part<'_>, monitor: &Monitor<'_>) -> Result<Self::Answer>;

    /// Adds the answer of the rows that follow.
    ///
    /// # Errors
    /// [`Error::Shape`] where the two have different sizes.
    fn merge(&self, total: &mut Self::Answer, next: Self::Answer) -> Result<()>;

    /// Adds the answer of some rows; in place, where it is large.
    ///
    /// # Errors
    /// As for [`Query::answer`] and [`Query::merge`].
    fn accumulate(&self, part: &mut <Self::Of as Kind>::Part<'_>, total: &mut Self::Answer) -> Result<()> {
        self.merge(total, self.answer(part, &Monitor::none())?)
    }
}

/// Adds the answer of the rows that follow to that of those before, if there were any.
pub(crate) fn add<Q: Query>(query: &Q, total: &mut Option<Q::Answer>, next: Q::Answer) -> Result<()> {
    match total {
        None => {
            *total = Some(next);
            Ok(())
        }
        Some(total) => query.merge(total, next),
    }
}

/// Puts queries to all rows of a kind.
pub trait Executor<K: Kind> {
    /// The answer of all rows. `monitor` is checked between parts.
    ///
    /// # Errors
    /// An error of the parts or of their holder; [`Error::Cancelled`].
    fn reduce<Q: Query<Of = K>>(&mut self, query: &Q, monitor: &Monitor<'_>) -> Result<Q::Answer>;

    /// Adds the answer of all rows.
    ///
    /// # Errors
    /// As for [`Executor::reduce`].
    fn accumulate<Q: Query<Of = K>>(&mut self, total: &mut Q::Answer, query: &Q) -> Result<()> {
        query.merge(total, self.reduce(query, &Monitor::none())?)
    }
}

type Merging = fn(&[u8], &[&[u8]]) -> Result<Vec<u8>>;
type Answering<K> = fn(&[u8], &mut <K as Kind>::Part<'_>, &Monitor<'_>) -> Result<Vec<u8>>;

/// A query that may come as bytes.
#[derive(Debug)]
pub struct Entry<K: Kind> {
    name: &'static str,
    answer: Answering<K>,
    merge: Merging,
}

impl<K: Kind> Entry<K> {
    /// The entry of a query.
    pub const fn of<Q: Query<Of = K>>() -> Self {
        Entry {
            name: Q::NAME,
            answer: |bytes, part, monitor| to_bytes(&from_bytes::<Q>(bytes)?.answer(part, monitor)?),
            merge: |bytes, answers| {
                let query: Q = from_bytes(bytes)?;
                let mut answers = answers.iter().map(|answer| from_bytes::<Q::Answer>(answer));
                let mut total = answers.next().ok_or(Error::NoSamples(""))??;
                answers.try_for_each(|next| query.merge(&mut total, next?))?;
                to_bytes(&total)
            },
        }
    }
}

/// The answer of some rows to one of `queries`, which came as bytes.
///
/// # Errors
/// [`Error::Parameter`] for bytes that are none of them, and as for [`Query::answer`].
pub fn answer<K: Kind>(
    queries: &[Entry<K>],
    query: &[u8],
    part: &mut K::Part<'_>,
    monitor: &Monitor<'_>,
) -> Result<Vec<u8>> {
    let (entry, query) = entry(queries, query)?;
    (entry.answer)(query, part, monitor)
}

/// The answers of several parts to one of `queries`, which came as bytes, in the order of the parts, as that of all of
/// them.
///
/// # Errors
/// As for [`answer`], and [`Error::NoSamples`] without any.
pub fn merge<K: Kind>(queries: &[Entry<K>], query: &[u8], answers: &[&[u8]]) -> Result<Vec<u8>> {
    let (entry, query) = entry(queries, query)?;
    (entry.merge)(query, answers)
}

/// A query as bytes: its kind and name, and its values.
pub(super) fn encoded<Q: Query>(query: &Q) -> Result<Vec<u8>> {
    to_bytes(&(<Q::Of as Kind>::NAME, Q::NAME, query))
}

/// Whether a query that came as bytes is about rows of a kind.
pub fn is_about<K: Kind>(query: &[u8]) -> bool {
    postcard::take_from_bytes::<&str>(query).is_ok_and(|(kind, _)| kind == K::NAME)
}

fn entry<'e, 'q, K: Kind>(queries: &'e [Entry<K>], query: &'q [u8]) -> Result<(&'e Entry<K>, &'q [u8])> {
    let read = postcard::take_from_bytes::<(&str, &str)>(query);
    let ((kind, name), rest) = read.map_err(|problem| unreadable(&problem.to_string()))?;
    match queries.iter().find(|entry| kind == K::NAME && entry.name == name) {
        Some(entry) => Ok((entry, rest)),
        None => Err(unreadable(&format!("{name} is no query to {} but to {kind}", K::NAME))),
    }
}

pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|problem| unreadable(&problem.to_string()))
}

pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|problem| unreadable(&problem.to_string()))
}

fn unreadable(problem: &str) -> Error {
    Error::parameter("bytes of a query", problem, "a query or an answer of this version of the library")
}
