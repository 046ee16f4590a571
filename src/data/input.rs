//! Rows of cells, whatever the file is: a header, then one row after the other.

use super::cell::Cell;
use super::format::Format;
use super::reader::{Record, Records};
use super::{Bound, DataError, Source};
use crate::model::{Table, Type};

/// An opened file, before its first row.
pub struct Input {
    names: Vec<Vec<u8>>,
    rows: Kind,
}

enum Kind {
    Text(Box<Records>, Record),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Parquet>),
}

impl Input {
    /// Reads the header.
    pub fn open(source: Source, table: &Table) -> Result<Input, DataError> {
        let Source { input, delimiter, named } = source;
        let input = match input {
            Bound::Text(input) => input,
            #[cfg(feature = "parquet")]
            Bound::Parquet(file) => {
                let file = super::parquet::Parquet::open(file)?;
                let names = file.names().map(|name| name.as_bytes().trim_ascii().to_vec()).collect();
                return Ok(Input { names, rows: Kind::Parquet(Box::new(file)) });
            }
        };
        let mut records = Records::new(input, delimiter, named);
        let mut record = Record::default();
        if !records.read(&mut record).map_err(|_| DataError::Unreadable)? {
            return Err(DataError::NoHeader { table: table.name.clone() });
        }
        let names = (0..record.len()).map(|i| record.cell(i).unwrap_or(&[]).trim_ascii().to_vec()).collect();
        Ok(Input { names, rows: Kind::Text(Box::new(records), record) })
    }

    /// Names of the columns.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// Where the cells of the column with this header will be, if it can be read as a type.
    pub fn column(&mut self, header: &str, ty: &Type, table: &Table) -> Result<usize, DataError> {
        let mut places = (0..).zip(&self.names).filter(|(_, name)| **name == header.trim().as_bytes()).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(at), None) => self.place(at, header, ty, table),
            (None, _) if self.format().is_some() => {
                let format = self.format().unwrap_or_default();
                Err(DataError::Format { table: table.name.clone(), format })
            }
            (first, _) => Err(DataError::Column { table: table.name.clone(), header: header.into(), twice: first.is_some() }),
        }
    }

    /// Where the cells of a column will be, by its number in the file.
    #[cfg_attr(not(feature = "parquet"), allow(unused_variables))]
    pub fn place(&mut self, at: usize, header: &str, ty: &Type, table: &Table) -> Result<usize, DataError> {
        match &mut self.rows {
            Kind::Text(..) => Ok(at),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.select(at, ty).map_err(|why| why.of(&table.name, header)),
        }
    }

    fn format(&self) -> Option<Format> {
        match &self.rows {
            Kind::Text(records, _) => records.format(),
            #[cfg(feature = "parquet")]
            Kind::Parquet(_) => None,
        }
    }

    /// Moves to the next row; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        match &mut self.rows {
            Kind::Text(records, record) => records.read(record).map_err(|_| DataError::Unreadable),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.advance(),
        }
    }

    /// The cell at a place; empty where a short row lacks it.
    pub fn cell(&self, at: usize) -> Cell<'_> {
        match &self.rows {
            Kind::Text(_, record) => record.cell(at).map_or(Cell::EMPTY, Cell::Text),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.cell(at),
        }
    }

    /// The bytes of the cell at a place that was asked for as text.
    pub fn text(&self, at: usize) -> &[u8] {
        self.cell(at).text()
    }

    /// Number of cells of the row.
    pub fn width(&self) -> usize {
        match &self.rows {
            Kind::Text(_, record) => record.len(),
            #[cfg(feature = "parquet")]
            Kind::Parquet(_) => self.names.len(),
        }
    }

    /// Number of the line that the row ended on; of other files the row's, as if a header stood above.
    pub fn line(&self) -> u64 {
        match &self.rows {
            Kind::Text(records, _) => records.line_number(),
            #[cfg(feature = "parquet")]
            Kind::Parquet(file) => file.rows_read().saturating_add(1),
        }
    }
}
