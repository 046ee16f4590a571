//! Public tables: the same files, but a bad cell is an error that names its line; and the public columns of private tables.

use crate::model::{Relation, Table, Type};
use sha2::{Digest, Sha256};

use super::layout;
use super::row::Rows;
use super::{DataError, Source};

/// A public table in memory.
#[derive(Clone, PartialEq, Debug)]
pub struct PublicTable {
    pub rows: usize,
    pub columns: Vec<PublicColumn>,
}

/// The values of one public column.
#[derive(Clone, PartialEq, Debug)]
pub enum PublicColumn {
    /// `width` numbers a row; bools are 0 or 1, categories the index of their level.
    Numbers {
        width: usize,
        values: Vec<f64>,
    },
    Text(Vec<String>),
}

impl PublicTable {
    /// SHA-256 of its values, column by column, as hexadecimal digits: the same for every file that says the same.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update((self.rows as u64).to_le_bytes());
        for column in &self.columns {
            match column {
                PublicColumn::Numbers { values, .. } => values.iter().for_each(|x| hash.update(x.to_bits().to_le_bytes())),
                PublicColumn::Text(texts) => texts.iter().for_each(|text| {
                    hash.update((text.len() as u64).to_le_bytes());
                    hash.update(text);
                }),
            }
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }

    /// All numbers of one row in column order, as row expressions read them.
    pub fn row(&self, index: usize) -> Vec<f64> {
        let mut out = vec![];
        for column in &self.columns {
            if let PublicColumn::Numbers { width, values } = column {
                let slots = index * width..(index + 1) * width;
                out.extend_from_slice(values.get(slots).unwrap_or(&[]));
            }
        }
        out
    }
}

/// Checks a public number of rows.
pub(super) fn check_rows(table: &Table, rows: u64) -> Result<(), DataError> {
    let broken = |wanted, exactly| Err(DataError::Rows { table: table.name.clone(), wanted, exactly });
    match table.rows.exactly {
        Some(n) if n != rows => broken(n, true),
        // The checker takes a public number of rows of a private table to be at least 1, whatever the header says.
        _ if rows < table.rows.at_least => broken(table.rows.at_least, false),
        _ => Ok(()),
    }
}

/// Reads a public table whole.
///
/// Fails with the line of the first cell that is not of its type or outside its domain.
pub fn load_public(table: &Table, source: Source) -> Result<PublicTable, DataError> {
    load(table, source, Rows::fill_checked)
}

/// The public columns of a private table, if neighbours agree on them row by row: those of a file that may have no others.
///
/// The table that is answered has texts without a header in place of the other columns: nothing that reads one compiles against it.
pub fn agreed_part(table: &Table) -> Table {
    let agreed = table.relation == Relation::ReplaceOne && table.unit.is_none();
    let mut part = table.clone();
    for column in part.columns.iter_mut().filter(|c| !(agreed && c.public)) {
        (column.ty, column.headers, column.view) = (Type::Text, vec![], None);
    }
    part
}

/// What everyone may know of the rows of a private table. Bad cells are mapped as in any private table.
pub fn public_part(table: &Table, source: Source) -> Result<(Table, PublicTable), DataError> {
    let part = agreed_part(table);
    let rows = load(&part, source, |rows, slots| {
        rows.fill(slots);
        Ok(())
    })?;
    Ok((part, rows))
}

fn load(table: &Table, source: Source, fill: impl Fn(&Rows, &mut [f64]) -> Result<(), usize>) -> Result<PublicTable, DataError> {
    let mut rows = Rows::open(table, source)?;
    let mut columns: Vec<PublicColumn> = table
        .columns
        .iter()
        .map(|c| match c.ty {
            Type::Text => PublicColumn::Text(vec![]),
            _ => PublicColumn::Numbers { width: layout::width(&c.ty), values: vec![] },
        })
        .collect();
    let mut slots = vec![0.0; rows.slots()];
    let mut count = 0usize;
    while rows.advance()? {
        fill(&rows, &mut slots).map_err(|column| {
            let name = table.columns.get(column).map(|c| c.name.clone());
            DataError::Cell { table: table.name.clone(), column: name.unwrap_or_default(), line: rows.line_number() }
        })?;
        let mut rest = slots.as_slice();
        for (index, column) in columns.iter_mut().enumerate() {
            match column {
                PublicColumn::Text(texts) if !table.private => {
                    texts.push(String::from_utf8_lossy(rows.bytes(index)).into_owned());
                }
                // Of a private table no text is kept.
                PublicColumn::Text(_) => {}
                PublicColumn::Numbers { width, values } => {
                    let (mine, after) = rest.split_at((*width).min(rest.len()));
                    values.extend_from_slice(mine);
                    rest = after;
                }
            }
        }
        count += 1;
    }
    check_rows(table, count as u64)?;
    Ok(PublicTable { rows: count, columns })
}

/// The declared columns of a public table as CSV, cell by cell as they are in the file; other columns are left out.
///
/// Reading the copy gives what reading the file gives. Nothing is checked here: [`load_public`] does that.
pub fn copy_public(table: &Table, source: Source) -> Result<String, DataError> {
    // Texts of all cells, also where the file has numbers.
    let mut texts = table.clone();
    texts.columns.iter_mut().for_each(|c| c.ty = Type::Text);
    let mut rows = Rows::open(&texts, source)?;
    let headers: Vec<&str> = table.columns.iter().flat_map(|c| &c.headers).map(|h| h.trim()).collect();
    // Two columns may read one header; it is written once.
    let first: Vec<bool> = headers.iter().enumerate().map(|(i, h)| headers.iter().position(|other| other == h) == Some(i)).collect();
    let mut out = String::new();
    write_record(&mut out, headers.iter().map(|h| h.as_bytes()).zip(&first));
    while rows.advance()? {
        write_record(&mut out, rows.cells().zip(&first));
    }
    Ok(out)
}

/// One line; a cell in quotes where a reader could take it for something else.
fn write_record<'c>(out: &mut String, cells: impl Iterator<Item = (&'c [u8], &'c bool)>) {
    for (i, (cell, _)) in cells.filter(|(_, wanted)| **wanted).enumerate() {
        let text = String::from_utf8_lossy(cell);
        out.push_str(if i > 0 { "," } else { "" });
        if text.is_empty() || text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
            out.push_str(&format!("\"{}\"", text.replace('"', "\"\"")));
        } else {
            out.push_str(&text);
        }
    }
    out.push('\n');
}
