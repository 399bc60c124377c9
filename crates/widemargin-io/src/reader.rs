//! What the reader of every format implements.

use std::path::Path;

use widemargin::data::{Notation, column_order};

use crate::Format;
use crate::error::{Failure, Problem, excerpt};
use crate::options::{LabelColumn, ReadOptions};
use crate::table::Table;

/// Reads samples in pieces.
pub(crate) trait SampleReader: Send {
    /// The next samples, at least one: about `bytes` of the file (for folders of images, of pixels; of LIBSVM text a block
    /// of the size requested when it was opened), or with `usize::MAX` all that the reader holds together. The memory of
    /// a `spent` table is used again, or freed before. `None` at the end.
    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure>;

    /// The columns of vectors, before the first block is read.
    fn layout(&self) -> Layout {
        Layout::default()
    }
}

/// The column layout of a file of vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// The number of columns, including the label's, if known before the last row.
    pub n: Option<usize>,
    /// The label column.
    pub label: Option<usize>,
    /// Whether labels are stored apart from the columns.
    pub has_separate_labels: bool,
    /// The column names, including the label's if it has one.
    pub names: Option<Vec<String>>,
    /// Columns that are neither features nor the label.
    pub others: Vec<usize>,
    /// Whether a row lists only its non-zero columns.
    pub sparse: bool,
    /// How the file writes numbers and indices.
    pub notation: Notation,
}

impl Layout {
    /// Options for the shards after the one with this layout: what was determined from its first lines applies to them.
    pub fn options(&self, format: Format, options: &ReadOptions) -> ReadOptions {
        let mut options = ReadOptions { notation: self.notation, ..options.clone() };
        if let Format::Csv | Format::Tsv = format {
            options.header = Some(self.names.is_some());
            options.label = match self.label_name() {
                // It may be at another position there.
                Some(name) => LabelColumn::Name(name.to_owned()),
                None => self.label.map_or(LabelColumn::None, |label| LabelColumn::Number(label as i64 + 1)),
            };
        }
        options
    }

    /// Reports the first difference between the first shard, which has this layout, and another.
    pub fn check(&self, first: &Path, other: &Layout) -> Result<(), Problem> {
        let problem = |(found, expected): (String, String)| Err(Problem::misfit(&found, first, &expected));
        self.misfit(other).map_or(Ok(()), problem)
    }

    /// The name of the label column, if it is unique.
    fn label_name(&self) -> Option<&str> {
        let names = self.names.as_ref()?;
        let name = names.get(self.label?)?;
        (names.iter().filter(|other| *other == name).count() == 1).then_some(name)
    }

    /// The names of the features, if any.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let names = self.names.as_ref()?.iter().enumerate();
        let is_feature = |column: &usize| Some(*column) != self.label && !self.others.contains(column);
        Some(names.filter(|(column, _)| is_feature(column)).map(|(_, name)| name.clone()).collect())
    }

    /// True if another shard has the same named columns, in any order.
    fn has_the_names_of(&self, other: &Layout) -> bool {
        let same = |(ours, theirs): (Vec<String>, Vec<String>)| column_order(&ours, &theirs).is_ok();
        self.label_name() == other.label_name() && self.feature_names().zip(other.feature_names()).is_some_and(same)
    }

    /// What another shard has, and what this one has instead; `None` if they agree.
    fn misfit(&self, other: &Layout) -> Option<(String, String)> {
        let columns = |n| format!("{n} column{}", if n == 1 { "" } else { "s" });
        if let (Some(n), Some(found)) = (self.n, other.n)
            && n != found
        {
            return Some((columns(found), format!("has {n}")));
        }
        if self.sparse != other.sparse {
            let name = |sparse| if sparse { "sparse" } else { "dense" };
            return Some((format!("{} samples", name(other.sparse)), format!("has {} ones", name(self.sparse))));
        }
        if self.has_the_names_of(other) {
            return None;
        }
        match (&self.names, &other.names) {
            (None, Some(_)) => return Some(("its columns have names".into(), "has none".into())),
            (Some(_), None) => return Some(("its columns have no names".into(), "has some".into())),
            (Some(names), Some(found)) => {
                if let Some(column) = (0..names.len().min(found.len())).find(|&column| names[column] != found[column]) {
                    let (name, found) = (excerpt(&names[column]), excerpt(&found[column]));
                    return Some((format!("column {} is called '{found}'", column + 1), format!("has '{name}' there")));
                }
            }
            (None, None) => {}
        }
        let has_labels = |layout: &Layout| layout.label.is_some() || layout.has_separate_labels;
        match (has_labels(self), has_labels(other), self.label.zip(other.label)) {
            (false, true, _) => Some(("it has labels".into(), "has none".into())),
            (true, false, _) => Some(("no labels".into(), "has some".into())),
            (.., Some((column, found))) if column != found => {
                Some((format!("column {} holds the labels", found + 1), format!("has them in column {}", column + 1)))
            }
            _ => None,
        }
    }
}
