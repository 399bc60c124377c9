//! Types of the columns of a file, and the label column.

use parquet::basic::{ConvertedType, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::csv::Header;
use crate::error::{Failure, Problem, excerpt};
use crate::options::{LabelColumn, ReadOptions};

/// The columns of a file and its label column by the schema: all must be features, except for one that may be the label.
pub(super) fn columns(schema: &SchemaDescriptor, options: &ReadOptions) -> Result<(Header, Option<usize>), Failure> {
    let wrong = |column: &str, problem: Problem| problem.at(format!("column '{}'", excerpt(column)));
    let nested = || Problem::new("nested values are not read").help("write a column for each number");
    let fields = schema.root_schema().get_fields();
    if let Some(group) = fields.iter().find(|field| !field.is_primitive()) {
        return Err(wrong(group.name(), nested()));
    }
    if let Some(list) = schema.columns().iter().find(|column| column.max_rep_level() > 0) {
        return Err(wrong(list.name(), nested()));
    }
    if let Some((column, found)) = schema.columns().iter().find_map(|column| Some((column, unread(column)?))) {
        let text = format!("values of the type {found} are not read, expected numbers or booleans");
        return Err(wrong(column.name(), Problem::new(text).help("turn the column into numbers, or leave it out")));
    }
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let header = Header { n: schema.num_columns(), names: Some(names) };
    let is_text = |column: &usize| schema.column(*column).physical_type() == Type::BYTE_ARRAY;
    let texts: Vec<usize> = (0..header.n).filter(is_text).collect();
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
    Ok((header, label))
}

/// The name in messages of the type of a column, if it is neither numbers nor booleans nor text.
fn unread(column: &ColumnDescriptor) -> Option<String> {
    use ConvertedType::{ENUM, INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64, UTF8};
    let (physical, logical, converted) = (column.physical_type(), column.logical_type_ref(), column.converted_type());
    // The reader derives the converted type from the logical one, where there is any for it.
    let is_plain = converted == NONE && logical.is_none();
    let is_whole = matches!(converted, INT_8 | INT_16 | INT_32 | INT_64 | UINT_8 | UINT_16 | UINT_32 | UINT_64);
    match physical {
        Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => return None,
        Type::INT32 | Type::INT64 if is_plain || is_whole => return None,
        Type::BYTE_ARRAY if is_plain || matches!(converted, UTF8 | ENUM) => return None,
        Type::INT96 => return Some("timestamp".into()),
        _ => {}
    }
    Some(match logical {
        // Without the part in parentheses: a unit, a time zone.
        Some(logical) => format!("{logical:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase(),
        None if converted != NONE => converted.to_string().to_lowercase(),
        None => physical.to_string().to_lowercase(),
    })
}
