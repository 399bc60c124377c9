//! Tables as CSV.

use std::io::Write;

use widemargin::data::RoleColumn;

use super::records::io_error;
use crate::error::Failure;
use crate::table::Table;
use crate::write_rows::{Number, for_each_row};

/// Writes a header and one sample per line: its id, one column per feature, its weight, and last the label. A
/// multilabel sample has one indicator per label, empty where it is unknown whether the sample has it.
///
/// Unnamed features are called x1, x2, …: a header is always written, so that the label column is identified, or its
/// absence. The columns of ids and weights have the names that they had in a table.
pub(crate) fn write(table: &Table, delimiter: u8, out: &mut impl Write) -> Result<(), Failure> {
    let mut csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let roles = table.roles.as_ref();
    let named = |column: Option<&RoleColumn>, other: &str| match column {
        Some(RoleColumn { name, .. }) if !name.is_empty() => name.clone(),
        _ => other.to_owned(),
    };
    let id = table.ids.as_ref().map(|_| named(roles.and_then(|roles| roles.id.as_ref()), "id"));
    let feature = |column: usize| match &table.feature_names {
        Some(names) => names[column].clone(),
        None => format!("x{}", column + 1),
    };
    let weight = table.weights.as_ref().map(|_| named(roles.and_then(|roles| roles.weight.as_ref()), "weight"));
    let label = table.labels.as_ref().map(|_| "label".to_owned());
    let several = table.indicators.iter().flat_map(|indicators| &indicators.names).map(ToString::to_string);
    let features = (0..table.samples.n_cols()).map(feature);
    csv.write_record(id.into_iter().chain(features).chain(weight).chain(label).chain(several)).map_err(io_error)?;
    let (single, mut cell) = (table.samples.is_single(), Vec::new());
    for_each_row(&table.samples, |row, values| {
        if let Some(ids) = &table.ids {
            csv.write_field(&ids[row]).map_err(io_error)?;
        }
        let weight = table.weights.iter().map(|weights| (weights[row], false));
        let indicators = table.indicators.iter().flat_map(|indicators| indicators.of(row)).map(|value| (*value, false));
        for (value, single) in values.iter().map(|value| (*value, single)).chain(weight).chain(indicators) {
            cell.clear();
            if !value.is_nan() {
                write!(cell, "{}", Number { value, single })?;
            }
            csv.write_field(&cell).map_err(io_error)?;
        }
        if let Some(labels) = &table.labels {
            csv.write_field(labels.get(row).to_string()).map_err(io_error)?;
        }
        Ok(csv.write_record(None::<&[u8]>).map_err(io_error)?)
    })?;
    Ok(csv.flush()?)
}
