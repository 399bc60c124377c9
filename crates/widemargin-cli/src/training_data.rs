//! The samples of a fit: in memory, or on the disk.

use widemargin::data::Resources;
use widemargin_io::{Samples, Store};

/// The samples of a fit.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// In memory, and the weight of each if they have some.
    Samples(&'a Samples, Option<&'a [f64]>),
    /// On the disk, and what there is to work with.
    Store(&'a Store, &'a Resources<'a>),
}
