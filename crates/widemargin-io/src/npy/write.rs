//! Arrays as NPY.

use std::io::{self, Write};

use crate::error::{Failure, Problem};
use crate::table::Table;
use crate::write_rows::for_each_row;

/// Writes the samples as a dense matrix.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    if table.labels.is_some() {
        let problem = Problem::new("it holds one array, and the samples have labels");
        return Err(problem.help("write .npz, which holds both, or read the samples with --label none").into());
    }
    let (samples, single) = (&table.samples, table.samples.is_single());
    write_header(out, if single { "<f4" } else { "<f8" }, &[samples.n_rows(), samples.n_cols()])?;
    for_each_row(samples, |_, values| {
        for &value in values {
            match single {
                true => out.write_all(&(value as f32).to_le_bytes())?,
                false => out.write_all(&value.to_le_bytes())?,
            }
        }
        Ok(())
    })
}

/// Writes the header of an array in row-major order.
pub(crate) fn write_header(out: &mut impl Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let sizes = if shape.len() > 1 { sizes.trim_end_matches(',') } else { &sizes };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Magic, version, length and text are padded to a multiple of 64 bytes, so that the data is aligned.
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}
