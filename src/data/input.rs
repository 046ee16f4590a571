//! Rows of cells, whatever the file is: a header, then one row after the other.

use super::block::{Block, Lines};
use super::cell::{Cell, Cells, Use};
use super::format::Format;
use super::reader::{Record, Records};
use super::sqlite::Reading;
use super::{Bound, DataError, Part, Source};
#[cfg(feature = "parquet")]
use super::{arrow::Arrow, columnar::Columnar, parquet::Parquet};
use crate::model::{Table, Type};
use std::sync::Arc;

/// Opened files of one table, one after the other.
pub struct Input {
    names: Vec<Vec<u8>>,
    rows: Kind,
    delimiter: u8,
    named: bool,
    /// Columns that were asked for, for the files behind.
    wanted: Vec<(usize, Type, Use)>,
    parts: Arc<[Part]>,
    /// The next file.
    next: usize,
}

enum Kind {
    Text(Box<Records>, Record),
    Database(Box<Reading>),
    #[cfg(feature = "parquet")]
    Columnar(Box<Columnar>),
}

/// The header of one file, before its first row.
fn header(input: Bound, delimiter: u8, named: bool, table: &str) -> Result<(Vec<Vec<u8>>, Kind), DataError> {
    let input = match input {
        Bound::Text(input) => input,
        Bound::Database(database) => {
            let rows = Reading::new(database);
            let names = rows.names().map(|name| name.as_bytes().trim_ascii().to_vec()).collect();
            return Ok((names, Kind::Database(Box::new(rows))));
        }
        #[cfg(feature = "parquet")]
        Bound::Parquet(file) => return columns(Columnar::open(|| Parquet::open(file))?),
        #[cfg(feature = "parquet")]
        Bound::Arrow(file) => return columns(Columnar::open(|| Arrow::open(file))?),
    };
    let mut records = Records::new(input, delimiter, named);
    let mut record = Record::default();
    if !records.read(&mut record).map_err(|_| DataError::Unreadable)? {
        return Err(DataError::NoHeader { table: table.into() });
    }
    let names = (0..record.len()).map(|i| record.cell(i).unwrap_or(&[]).trim_ascii().to_vec()).collect();
    Ok((names, Kind::Text(Box::new(records), record)))
}

#[cfg(feature = "parquet")]
fn columns(file: Columnar) -> Result<(Vec<Vec<u8>>, Kind), DataError> {
    let names = file.names().iter().map(|name| name.as_bytes().trim_ascii().to_vec()).collect();
    Ok((names, Kind::Columnar(Box::new(file))))
}

impl Kind {
    /// Do both files say the same of their columns?
    fn is_like(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Text(..), Kind::Text(..)) => true,
            #[cfg(feature = "parquet")]
            (Kind::Columnar(a), Kind::Columnar(b)) => a.is_like(b),
            _ => false,
        }
    }
}

impl Input {
    /// Reads the headers of all files.
    pub fn open(source: Source, table: &Table) -> Result<Input, DataError> {
        let Source { input, parts, delimiter, named } = source;
        let (names, rows) = header(input, delimiter, named, &table.name)?;
        for part in parts.iter().skip(1) {
            let (others, like) = header(part.open()?.input, delimiter, named, &table.name)?;
            if others != names || !like.is_like(&rows) {
                return Err(DataError::Apart { table: table.name.clone() });
            }
        }
        Ok(Input { names, rows, delimiter, named, wanted: vec![], parts, next: 1 })
    }

    /// Opens the next file, as the one before it; `false` if there is none.
    fn next_file(&mut self) -> Result<bool, DataError> {
        let Some(part) = self.parts.get(self.next) else { return Ok(false) };
        let (names, mut rows) = header(part.open()?.input, self.delimiter, self.named, "")?;
        if names != self.names || !rows.is_like(&self.rows) {
            return Err(DataError::Unreadable);
        }
        for (at, ty, purpose) in &self.wanted {
            place(&mut rows, *at, "", (ty, *purpose), "")?;
        }
        (self.rows, self.next) = (rows, self.next + 1);
        Ok(true)
    }

    /// Names of the columns.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// Where the cells of the column with this header will be, if it can be read as a type.
    pub fn column(&mut self, header: &str, ty: &Type, table: &Table, purpose: Use) -> Result<usize, DataError> {
        let mut places = (0..).zip(&self.names).filter(|(_, name)| **name == header.trim().as_bytes()).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(at), None) => self.place(at, header, (ty, purpose), table),
            (None, _) if self.format().is_some() => {
                let format = self.format().unwrap_or_default();
                Err(DataError::Format { table: table.name.clone(), format })
            }
            (first, _) => Err(DataError::Column { table: table.name.clone(), header: header.into(), twice: first.is_some() }),
        }
    }

    /// Where the cells of a column will be, by its number in the file.
    pub fn place(&mut self, at: usize, header: &str, (ty, purpose): (&Type, Use), table: &Table) -> Result<usize, DataError> {
        let found = place(&mut self.rows, at, header, (ty, purpose), &table.name)?;
        self.wanted.push((at, ty.clone(), purpose));
        Ok(found)
    }

    fn format(&self) -> Option<Format> {
        match &self.rows {
            Kind::Text(records, _) => records.format(),
            _ => None,
        }
    }

    /// Moves to the next row; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            let some = match &mut self.rows {
                Kind::Text(records, record) => records.read(record).map_err(|_| DataError::Unreadable)?,
                Kind::Database(rows) => rows.advance()?,
                #[cfg(feature = "parquet")]
                Kind::Columnar(file) => file.advance()?,
            };
            if some || !self.next_file()? {
                return Ok(some);
            }
        }
    }

    /// How the rows of its blocks are to be taken apart.
    pub fn lines(&self) -> Lines {
        Lines { delimiter: self.delimiter, blank: self.names.len() == 1 }
    }

    /// The next rows, as many as a block holds; `false` behind the last.
    pub fn block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        block.clear();
        while !block.is_full() {
            let some = match &mut self.rows {
                Kind::Text(records, record) => records.take(block, record).map_err(|_| DataError::Unreadable)?,
                Kind::Database(rows) => rows.take(block)?,
                #[cfg(feature = "parquet")]
                Kind::Columnar(file) => {
                    let group = if block.is_empty() { file.next_group() } else { None };
                    group.map(|group| block.put_group(group)).is_some()
                }
            };
            if !some && !self.next_file()? {
                break;
            }
        }
        Ok(!block.is_empty())
    }

    /// The bytes of the cell at a place that was asked for as text.
    pub fn text(&self, at: usize) -> &[u8] {
        self.cell(at).text()
    }

    /// The cell at a place, however long.
    fn whole(&self, at: usize) -> Cell<'_> {
        match &self.rows {
            Kind::Text(_, record) => record.cell(at).map_or(Cell::EMPTY, Cell::Text),
            Kind::Database(rows) => rows.cell(at),
            #[cfg(feature = "parquet")]
            Kind::Columnar(file) => file.cell(at),
        }
    }

    /// Bytes of the cell at a place that was asked for as text.
    pub fn length(&self, at: usize) -> usize {
        self.whole(at).text().len()
    }

    /// Rows so far in which a quote is not closed properly, or closed too early.
    pub fn stray(&self) -> u64 {
        match &self.rows {
            Kind::Text(records, _) => records.stray(),
            _ => 0,
        }
    }

    /// Number of cells of the row.
    pub fn width(&self) -> usize {
        match &self.rows {
            Kind::Text(_, record) => record.len(),
            _ => self.names.len(),
        }
    }

    /// Number of the line that the row ended on; of other files the row's, as if a header stood above.
    pub fn line(&self) -> u64 {
        match &self.rows {
            Kind::Text(records, _) => records.line_number(),
            Kind::Database(rows) => rows.rows_read().saturating_add(1),
            #[cfg(feature = "parquet")]
            Kind::Columnar(file) => file.rows_read().saturating_add(1),
        }
    }
}

impl Cells for Input {
    fn cell(&self, at: usize) -> Cell<'_> {
        self.whole(at).within_limit()
    }
}

#[cfg_attr(not(feature = "parquet"), allow(unused_variables))]
fn place(rows: &mut Kind, at: usize, header: &str, (ty, purpose): (&Type, Use), table: &str) -> Result<usize, DataError> {
    match rows {
        Kind::Text(..) => Ok(at),
        Kind::Database(rows) => Ok(if purpose == Use::None { at } else { rows.select(at) }),
        #[cfg(feature = "parquet")]
        Kind::Columnar(file) => file.select(at, ty, purpose).map_err(|why| why.of(table, header)),
    }
}
