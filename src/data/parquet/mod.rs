//! Parquet files as rows of cells: columns that are asked for are decoded a block of rows at a time, row groups in turn or side by side.
//!
//! Nothing that a file says of its sizes is believed: pages are found and unpacked here, within bounds, and the decoders of
//! the crate, which may panic on a broken file, are contained. What is wrong with a file, wherever it is, has one text.

mod column;
mod levels;
mod page;
mod thrift;

use std::io::SeekFrom;
use std::sync::{Arc, Mutex};

use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use self::column::{Form, Kind, Values};
use self::page::{Pages, Shared};
use super::cell::{Cell, Cells, Columns, Use};
use super::format::{Format, Misfit};
use super::{DataError, Seekable};
use crate::model::Type;
use crate::private::contained;

/// Rows that are decoded at a time, where they are looked at one by one.
const BLOCK: usize = 1024;
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

/// A file and its footer.
struct Stored {
    file: Shared,
    length: u64,
    meta: ParquetMetaData,
}

/// A column in one form.
#[derive(Clone, PartialEq)]
struct Wanted {
    leaf: usize,
    kind: Kind,
    form: Form,
}

/// A file, and the row that it is at.
pub struct Parquet {
    stored: Arc<Stored>,
    wanted: Vec<Wanted>,
    /// The next row group, and the one that is read.
    group: usize,
    decoding: Option<Decoding>,
    /// The row of its block that was moved to last, from 1.
    at: usize,
    passed: u64,
}

impl Parquet {
    /// Reads the footer.
    pub fn open(mut file: Box<dyn Seekable>) -> Result<Parquet, DataError> {
        let (length, footer) = footer(file.as_mut()).ok_or(DataError::Unreadable)?;
        let meta = contained(|| ParquetMetaDataReader::decode_metadata(&footer).ok()).flatten().ok_or(DataError::Unreadable)?;
        let stored = Arc::new(Stored { file: Arc::new(Mutex::new(file)), length, meta });
        Ok(Parquet { stored, wanted: vec![], group: 0, decoding: None, at: 0, passed: 0 })
    }

    /// Names of the columns; one that is nested has one name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.stored.meta.file_metadata().schema().get_fields().iter().map(|field| field.name())
    }

    /// What the columns hold: files of one table are alike in this.
    pub fn kinds(&self) -> Vec<(usize, Result<Kind, Misfit>)> {
        let schema = self.stored.meta.file_metadata().schema_descr();
        (0..schema.num_columns()).map(|leaf| (schema.get_column_root_idx(leaf), Kind::of(&schema.column(leaf)))).collect()
    }

    /// Asks for a column, by its number, in the form that a type is read from. Answers the place of its cells, if there is a use for them.
    pub fn select(&mut self, column: usize, ty: &Type, purpose: Use) -> Result<usize, Refused> {
        let schema = self.stored.meta.file_metadata().schema_descr();
        let leaf = (0..schema.num_columns()).find(|leaf| schema.get_column_root_idx(*leaf) == column);
        let leaf = leaf.ok_or(Refused::Misfit(Misfit::Nested))?;
        let described = schema.column(leaf);
        if described.path().parts().len() != 1 || described.max_rep_level() != 0 || described.max_def_level() > 1 {
            return Err(Refused::Misfit(Misfit::Nested));
        }
        let kind = Kind::of(&described).map_err(Refused::Misfit)?;
        let mut form = kind.form(ty).map_err(Refused::Misfit)?;
        let mut counted = purpose == Use::Batches && kind == Kind::Text;
        for group in self.stored.meta.row_groups() {
            let chunk = group.columns().get(leaf).ok_or(Refused::Broken)?;
            if chunk.column_type() != described.physical_type() || chunk.file_path().is_some() {
                return Err(Refused::Broken);
            }
            if !page::unpacks(chunk.compression()) || chunk.encodings().any(|e| !page::decodes(e)) {
                return Err(Refused::Codec);
            }
            counted &= chunk.encodings().all(levels::counts);
        }
        if purpose == Use::None {
            return Ok(column);
        }
        if let (true, Type::Category(all)) = (counted, ty) {
            form = Form::Levels(all.clone());
        }
        let wanted = Wanted { leaf, kind, form };
        if let Some(place) = self.wanted.iter().position(|w| *w == wanted) {
            return Ok(place);
        }
        self.wanted.push(wanted);
        Ok(self.wanted.len() - 1)
    }

    /// Moves to the next row; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        while self.decoding.as_ref().is_none_or(|d| self.at == d.rows) {
            self.at = 0;
            let more = self.decoding.as_mut().map_or(Ok(false), |d| d.advance(BLOCK))?;
            if !more {
                let Some(group) = self.next_group() else { return Ok(false) };
                self.decoding = Some(group.start()?);
            }
        }
        self.at += 1;
        self.passed += 1;
        Ok(true)
    }

    /// The next row group as a whole, to be decoded elsewhere; `None` behind the last.
    pub fn next_group(&mut self) -> Option<Group> {
        let group = self.group;
        (group < self.stored.meta.num_row_groups()).then(|| {
            self.group += 1;
            Group { stored: self.stored.clone(), wanted: self.wanted.clone(), number: group }
        })
    }

    /// The cell at a place that [`Parquet::select`] gave.
    pub fn cell(&self, place: usize) -> Cell<'_> {
        self.decoding.as_ref().map_or(Cell::EMPTY, |decoding| decoding.cell(place, self.at.wrapping_sub(1)))
    }

    pub fn rows_read(&self) -> u64 {
        self.passed
    }
}

/// A row group with the columns that are asked for.
pub struct Group {
    stored: Arc<Stored>,
    wanted: Vec<Wanted>,
    number: usize,
}

/// One row of a block.
pub struct Row<'a>(&'a Decoding, usize);

impl Cells for Row<'_> {
    fn cell(&self, at: usize) -> Cell<'_> {
        self.0.cell(at, self.1).within_limit()
    }
}

impl Group {
    /// Decodes the group, some rows at a time.
    pub fn start(&self) -> Result<Decoding, DataError> {
        contained(|| self.readers()).flatten().ok_or(DataError::Unreadable)
    }

    fn readers(&self) -> Option<Decoding> {
        let Stored { file, length, meta } = self.stored.as_ref();
        let group = meta.row_groups().get(self.number)?;
        let schema = meta.file_metadata().schema_descr();
        let reader = |wanted: &Wanted| {
            let described = schema.column(wanted.leaf);
            let mut pages = Pages::new(file.clone(), *length, group.columns().get(wanted.leaf)?, described.max_def_level())?;
            let described = match &wanted.form {
                Form::Levels(all) => {
                    pages.number(all);
                    levels::column(&described)?
                }
                _ => described,
            };
            Some((wanted.clone(), get_column_reader(described, Box::new(pages)), Values::Missing))
        };
        let columns = self.wanted.iter().map(reader).collect::<Option<_>>()?;
        Some(Decoding { columns, left: u64::try_from(group.num_rows()).ok()?, rows: 0 })
    }
}

/// A row group, and the block of rows that it is at.
pub struct Decoding {
    columns: Vec<(Wanted, ColumnReader, Values)>,
    /// Rows behind the block.
    left: u64,
    /// Rows of the block.
    rows: usize,
}

impl Decoding {
    /// Moves to the next block of at most so many rows; `false` at the end.
    pub fn advance(&mut self, most: usize) -> Result<bool, DataError> {
        self.rows = 0;
        if self.left > 0 {
            contained(|| self.decode(most)).flatten().ok_or(DataError::Unreadable)?;
        }
        Ok(self.rows > 0)
    }

    /// Every column brings the next rows, and none has more than its group.
    fn decode(&mut self, most: usize) -> Option<()> {
        let rows = usize::try_from(self.left.min(most as u64)).ok()?;
        self.left -= rows as u64;
        for (wanted, reader, values) in &mut self.columns {
            *values = Values::read(reader, wanted.kind, &wanted.form, rows)?;
            if self.left == 0 && Values::read(reader, wanted.kind, &wanted.form, 1).is_some() {
                return None;
            }
        }
        self.rows = rows;
        Some(())
    }

    fn cell(&self, place: usize, row: usize) -> Cell<'_> {
        self.columns.get(place).map_or(Cell::EMPTY, |(.., values)| values.cell(row))
    }
}

impl Columns for Decoding {
    type Row<'a> = Row<'a>;

    fn rows(&self) -> usize {
        self.rows
    }

    fn row(&self, at: usize) -> Row<'_> {
        Row(self, at)
    }

    fn read(&self, place: usize, ty: &Type, missing: f64, out: &mut [f64]) {
        if let Some((.., values)) = self.columns.get(place) {
            values.fill(ty, missing, out);
        }
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
