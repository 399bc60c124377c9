//! What the shards of one input have in common.

use crate::Format;
use std::path::Path;

use widemargin::data::column_order;

use crate::error::{IoError, Result};
use crate::options::{LabelColumn, ReadOptions};
use crate::problem::excerpt;

/// What a file of vectors says of its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// How many columns it has, the label's too, where that is known before the last row is.
    pub n: Option<usize>,
    /// The column of the labels, or 0 where they are not in a column.
    pub label: Option<usize>,
    /// Whether the labels are beside the columns and not in one of them.
    pub beside: bool,
    /// The columns' names, the label's too where it has one.
    pub names: Option<Vec<String>>,
    /// Whether a row lists only the columns it has.
    pub sparse: bool,
}

impl Layout {
    /// How to read the shards after the one that has this layout: what was told from its first lines holds for them.
    pub fn options(&self, format: Format, options: &ReadOptions) -> ReadOptions {
        let mut options = options.clone();
        if let Format::Csv | Format::Tsv = format {
            options.header = Some(self.names.is_some());
            options.label = match (self.label, self.label_name()) {
                (None, _) => LabelColumn::None,
                // It may be in another place there.
                (Some(_), Some(name)) => LabelColumn::Name(name.to_owned()),
                (Some(label), None) => LabelColumn::Number(label as i64 + 1),
            };
        }
        options
    }

    /// Tells the first difference of the shard that has this layout, the first one, and another.
    pub fn check(&self, first: &Path, file: &Path, other: &Layout) -> Result<()> {
        match self.misfit(other) {
            None => Ok(()),
            Some((found, expected)) => {
                Err(IoError::Shards { file: file.to_owned(), found, first: first.to_owned(), expected })
            }
        }
    }

    /// The name of the labels' column, where it has one that no other column has.
    fn label_name(&self) -> Option<&str> {
        let names = self.names.as_ref()?;
        let name = names.get(self.label.filter(|_| !self.beside)?)?;
        (names.iter().filter(|other| *other == name).count() == 1).then_some(name)
    }

    /// The names of the features, where there are names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let names = self.names.as_ref()?.iter().enumerate();
        let label = self.label.filter(|_| !self.beside);
        Some(names.filter(|(column, _)| Some(*column) != label).map(|(_, name)| name.clone()).collect())
    }

    /// True where another shard has the same columns, all with names, in whatever order.
    fn has_the_names_of(&self, other: &Layout) -> bool {
        let same = |(ours, theirs): (Vec<String>, Vec<String>)| column_order(&ours, &theirs).is_ok();
        self.label_name() == other.label_name() && self.feature_names().zip(other.feature_names()).is_some_and(same)
    }

    /// What another shard has, and what this one has in its place; `None` where they agree.
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
        match (self.label, other.label) {
            (None, Some(_)) => Some(("it has labels".into(), "has none".into())),
            (Some(_), None) => Some(("no labels".into(), "has some".into())),
            (Some(column), Some(found)) if column != found => {
                Some((format!("column {} holds the labels", found + 1), format!("has them in column {}", column + 1)))
            }
            _ => None,
        }
    }
}
