//! Parquet files as rows of cells: columns that are asked for are read a block of rows at a time, row group by row group.
//!
//! Nothing that a file says of its sizes is believed: pages are found and unpacked here, within bounds, and the decoders of
//! the crate, which may panic on a broken file, are contained. What is wrong with a file, wherever it is, has one text.

mod column;
mod page;
mod thrift;

use std::io::SeekFrom;
use std::sync::{Arc, Mutex};

use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use self::column::{Form, Kind, Values};
use self::page::{Pages, Shared};
use super::cell::Cell;
use super::format::{Format, Misfit};
use super::{DataError, Seekable};
use crate::model::Type;
use crate::private::contained;

/// Rows that are decoded at a time.
const BLOCK: usize = 8192;
/// Most bytes of a footer, which describes the file.
const LONGEST_FOOTER: u64 = 1 << 28;

/// Why a column cannot be read, before any row is.
pub enum Refused {
    Misfit(Misfit),
    Codec,
    Broken,
}

impl Refused {
    pub fn of(self, table: &str, header: &str) -> DataError {
        let table = table.to_owned();
        match self {
            Refused::Misfit(misfit) => DataError::Misfit { table, header: header.into(), misfit },
            Refused::Codec => DataError::Format { table, format: Format::Codec },
            Refused::Broken => DataError::Unreadable,
        }
    }
}

/// A file, and the block of rows that it is at.
pub struct Parquet {
    file: Shared,
    length: u64,
    meta: ParquetMetaData,
    wanted: Vec<Wanted>,
    /// The next row group.
    group: usize,
    /// Rows of the current group behind the block.
    left: u64,
    /// Rows of the block, and the one that was moved to last, from 1.
    rows: usize,
    at: usize,
    passed: u64,
}

/// A column in one form.
struct Wanted {
    leaf: usize,
    kind: Kind,
    form: Form,
    reader: Option<ColumnReader>,
    values: Values,
}

impl Parquet {
    /// Reads the footer.
    pub fn open(mut file: Box<dyn Seekable>) -> Result<Parquet, DataError> {
        let (length, footer) = footer(file.as_mut()).ok_or(DataError::Unreadable)?;
        let meta = contained(|| ParquetMetaDataReader::decode_metadata(&footer).ok()).flatten().ok_or(DataError::Unreadable)?;
        let file = Arc::new(Mutex::new(file));
        Ok(Parquet { file, length, meta, wanted: vec![], group: 0, left: 0, rows: 0, at: 0, passed: 0 })
    }

    /// Names of the columns; one that is nested has one name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.meta.file_metadata().schema().get_fields().iter().map(|field| field.name())
    }

    /// What the columns hold: files of one table are alike in this.
    pub fn kinds(&self) -> Vec<(usize, Result<Kind, Misfit>)> {
        let schema = self.meta.file_metadata().schema_descr();
        (0..schema.num_columns()).map(|leaf| (schema.get_column_root_idx(leaf), Kind::of(&schema.column(leaf)))).collect()
    }

    /// Asks for a column, by its number, in the form that a type is read from. Answers the place of its cells.
    pub fn select(&mut self, column: usize, ty: &Type) -> Result<usize, Refused> {
        let schema = self.meta.file_metadata().schema_descr();
        let leaf = (0..schema.num_columns()).find(|leaf| schema.get_column_root_idx(*leaf) == column);
        let leaf = leaf.ok_or(Refused::Misfit(Misfit::Nested))?;
        let described = schema.column(leaf);
        if described.path().parts().len() != 1 || described.max_rep_level() != 0 || described.max_def_level() > 1 {
            return Err(Refused::Misfit(Misfit::Nested));
        }
        let kind = Kind::of(&described).map_err(Refused::Misfit)?;
        let form = kind.form(ty).map_err(Refused::Misfit)?;
        for group in self.meta.row_groups() {
            let chunk = group.columns().get(leaf).ok_or(Refused::Broken)?;
            if chunk.column_type() != described.physical_type() || chunk.file_path().is_some() {
                return Err(Refused::Broken);
            }
            if !page::unpacks(chunk.compression()) || chunk.encodings().any(|e| !page::decodes(e)) {
                return Err(Refused::Codec);
            }
        }
        if let Some(place) = self.wanted.iter().position(|w| w.leaf == leaf && w.form == form) {
            return Ok(place);
        }
        self.wanted.push(Wanted { leaf, kind, form, reader: None, values: Values::Missing });
        Ok(self.wanted.len() - 1)
    }

    /// Moves to the next row; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        if self.at == self.rows {
            while self.left == 0 {
                if self.group == self.meta.num_row_groups() {
                    return Ok(false);
                }
                contained(|| self.next_group()).flatten().ok_or(DataError::Unreadable)?;
            }
            contained(|| self.next_block()).flatten().ok_or(DataError::Unreadable)?;
        }
        self.at += 1;
        self.passed += 1;
        Ok(true)
    }

    /// The cell at a place that [`Parquet::select`] gave.
    pub fn cell(&self, place: usize) -> Cell<'_> {
        let row = self.at.wrapping_sub(1);
        self.wanted.get(place).map_or(Cell::EMPTY, |wanted| wanted.values.cell(row))
    }

    pub fn rows_read(&self) -> u64 {
        self.passed
    }

    fn next_group(&mut self) -> Option<()> {
        let group = self.meta.row_groups().get(self.group)?;
        let schema = self.meta.file_metadata().schema_descr();
        for wanted in &mut self.wanted {
            let described = schema.column(wanted.leaf);
            let pages = Pages::new(self.file.clone(), self.length, group.columns().get(wanted.leaf)?, described.max_def_level())?;
            wanted.reader = Some(get_column_reader(described, Box::new(pages)));
        }
        self.left = u64::try_from(group.num_rows()).ok()?;
        self.group += 1;
        Some(())
    }

    /// Every column brings the next rows, and none has more than its group.
    fn next_block(&mut self) -> Option<()> {
        let rows = usize::try_from(self.left.min(BLOCK as u64)).ok()?;
        self.left -= rows as u64;
        for wanted in &mut self.wanted {
            let reader = wanted.reader.as_mut()?;
            wanted.values = Values::read(reader, wanted.kind, wanted.form, rows)?;
            if self.left == 0 && Values::read(reader, wanted.kind, wanted.form, 1).is_some() {
                return None;
            }
        }
        (self.rows, self.at) = (rows, 0);
        Some(())
    }
}

/// The length of a file and its footer.
fn footer(file: &mut dyn Seekable) -> Option<(u64, Vec<u8>)> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    let tail = page::bytes(file, length.checked_sub(8)?, 8)?;
    let (size, magic) = tail.split_first_chunk::<4>()?;
    let size = u64::from(u32::from_le_bytes(*size));
    if magic != b"PAR1" || size > LONGEST_FOOTER {
        return None;
    }
    let start = (length - 8).checked_sub(size)?;
    Some((length, page::bytes(file, start, usize::try_from(size).ok()?)?))
}
