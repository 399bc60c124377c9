//! Types of the columns of a file, and the label column.

use std::sync::Arc;

use parquet::basic::{ConvertedType, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::csv::Header;
use crate::error::{Failure, Problem, excerpt};
use crate::options::{LabelColumn, ReadOptions};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Booleans and integers, signed or unsigned.
    Whole { signed: bool },
    /// `f32`.
    Single,
    /// `f64`.
    Double,
    /// UTF-8.
    Text,
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    pub header: Header,
    pub kinds: Vec<Kind>,
    pub label: Option<usize>,
}

impl Columns {
    /// Determines the columns from the schema: all must be features, except for one that may be the label.
    pub fn tell(schema: &SchemaDescriptor, options: &ReadOptions) -> Result<Columns, Failure> {
        let wrong = |column: &str, problem: Problem| problem.at(format!("column '{}'", excerpt(column)));
        let nested = || Problem::new("nested values are not read").help("write a column for each number");
        let fields = schema.root_schema().get_fields();
        if let Some(group) = fields.iter().find(|field| !field.is_primitive()) {
            return Err(wrong(group.name(), nested()));
        }
        if let Some(list) = schema.columns().iter().find(|column| column.max_rep_level() > 0) {
            return Err(wrong(list.name(), nested()));
        }
        let kind_of = |column: &Arc<ColumnDescriptor>| {
            kind(column).map_err(|found| {
                let text = format!("values of the type {found} are not read, expected numbers or booleans");
                wrong(column.name(), Problem::new(text).help("turn the column into numbers, or leave it out"))
            })
        };
        let kinds = schema.columns().iter().map(kind_of).collect::<Result<Vec<_>, _>>()?;
        let texts: Vec<usize> = (0..kinds.len()).filter(|&column| kinds[column] == Kind::Text).collect();
        let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
        let header = Header { n: kinds.len(), names: Some(names) };
        let label = match options.label {
            LabelColumn::Auto => header.label_by_name().or(texts.first().copied().filter(|_| texts.len() == 1)),
            _ => header.label(&options.label)?,
        };
        if header.n == usize::from(label.is_some()) {
            return Err(Problem::new("no feature columns").into());
        }
        if let Some(text) = texts.into_iter().find(|&text| Some(text) != label) {
            let help = match options.label {
                LabelColumn::Auto => "if this column holds the labels, name it with --label, or leave it out",
                _ => "features are numbers: leave the column out, or write its values as numbers",
            };
            let problem = Problem::new("text, and it is not the label").help(help);
            return Err(wrong(schema.column(text).name(), problem));
        }
        Ok(Columns { header, kinds, label })
    }
}

/// The type of a column, or the name in messages of an unsupported one.
fn kind(column: &ColumnDescriptor) -> Result<Kind, String> {
    let (physical, logical, converted) = (column.physical_type(), column.logical_type_ref(), column.converted_type());
    let other = || match logical {
        // Without the part in parentheses: a unit, a time zone.
        Some(logical) => format!("{logical:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase(),
        None if converted != ConvertedType::NONE => converted.to_string().to_lowercase(),
        None => physical.to_string().to_lowercase(),
    };
    use ConvertedType::{ENUM, INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64, UTF8};
    // The reader derives the converted type from the logical one, where there is any for it.
    match (physical, converted) {
        (Type::BOOLEAN, _) => Ok(Kind::Whole { signed: true }),
        (Type::FLOAT, _) => Ok(Kind::Single),
        (Type::DOUBLE, _) => Ok(Kind::Double),
        (Type::INT96, _) => Err("timestamp".into()),
        (_, NONE) if logical.is_some() => Err(other()),
        (Type::INT32 | Type::INT64, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Ok(Kind::Whole { signed: false }),
        (Type::INT32 | Type::INT64, NONE | INT_8 | INT_16 | INT_32 | INT_64) => Ok(Kind::Whole { signed: true }),
        (Type::BYTE_ARRAY, NONE | UTF8 | ENUM) => Ok(Kind::Text),
        _ => Err(other()),
    }
}
