//! Files that hold columns in groups of rows, as rows of cells: columns that are asked for are decoded a block of rows at a time, groups
//! in turn or side by side.
//!
//! What is wrong with a file, wherever it is, has one text. Decoders of crates may panic on a broken file, so every call is contained.

pub mod values;

use std::io::{Read, SeekFrom};
use std::sync::{Arc, Mutex};

use self::values::{Form, Kind, Values};
use super::cell::{Cell, Cells, Columns, Use};
use super::format::{Format, Misfit};
use super::{DataError, Seekable};
use crate::model::Type;
use crate::private::contained;

/// Rows that are decoded at a time, where they are looked at one by one.
const BLOCK: usize = 1024;

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

/// A column in one form.
#[derive(Clone, PartialEq)]
pub struct Wanted {
    /// Its number in the file.
    pub column: usize,
    pub kind: Kind,
    pub form: Form,
}

/// A format of files: an opened file of it, of which nothing but its description has been read.
pub trait Stored: Send + Sync {
    /// Names of the columns; one that is nested has one name.
    fn names(&self) -> Vec<&str>;

    /// What the columns hold: files of one table are alike in this.
    fn kinds(&self) -> Vec<(usize, Result<Kind, Misfit>)>;

    /// What a column holds, if all its groups can be read.
    fn kind(&self, column: usize) -> Result<Kind, Refused>;

    /// Can its readers bring texts as numbers of levels?
    fn counts(&self, column: usize) -> bool;

    fn groups(&self) -> usize;

    /// How many rows a group has, and readers of columns of it.
    fn readers(&self, group: usize, wanted: &[Wanted]) -> Option<(u64, Vec<Box<dyn Reader>>)>;
}

/// One column of a group.
pub trait Reader: Send {
    /// The next rows, in the form that was asked for; `None` if it has not so many.
    fn read(&mut self, rows: usize) -> Option<Values>;
}

/// A file that the columns read in turn.
pub type Shared = Arc<Mutex<Box<dyn Seekable>>>;

/// So many bytes from a place that lies within the file.
pub fn bytes(file: &mut dyn Seekable, start: u64, length: usize) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(start)).ok()?;
    // No longer than the file, which was asked for its length.
    let mut all = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut all).ok()?;
    (all.len() == length).then_some(all)
}

/// Exactly so many bytes, with room made as they come.
pub fn limited(unpacked: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut all = Vec::with_capacity(size.saturating_add(1).min(1 << 20));
    unpacked.take((size as u64).saturating_add(1)).read_to_end(&mut all).ok()?;
    (all.len() == size).then_some(all)
}

/// A file, and the row that it is at.
pub struct Columnar {
    stored: Arc<dyn Stored>,
    wanted: Vec<Wanted>,
    /// The next group, and the one that is read.
    group: usize,
    decoding: Option<Decoding>,
    /// The row of its block that was moved to last, from 1.
    at: usize,
    passed: u64,
}

impl Columnar {
    /// Opens a file in the way of its format.
    pub fn open<S: Stored + 'static>(open: impl FnOnce() -> Option<S>) -> Result<Columnar, DataError> {
        let stored = Arc::new(contained(open).flatten().ok_or(DataError::Unreadable)?);
        Ok(Columnar { stored, wanted: vec![], group: 0, decoding: None, at: 0, passed: 0 })
    }

    pub fn names(&self) -> Vec<&str> {
        self.stored.names()
    }

    /// Do both files say the same of their columns?
    pub fn is_like(&self, other: &Columnar) -> bool {
        self.stored.kinds() == other.stored.kinds()
    }

    /// Asks for a column, by its number, in the form that a type is read from. Answers the place of its cells, if there is a use for them.
    pub fn select(&mut self, column: usize, ty: &Type, purpose: Use) -> Result<usize, Refused> {
        let kind = self.stored.kind(column)?;
        let mut form = kind.form(ty).map_err(Refused::Misfit)?;
        if purpose == Use::None {
            return Ok(column);
        }
        if let (Use::Batches, Kind::Text, Type::Category(all)) = (purpose, kind, ty)
            && self.stored.counts(column)
        {
            form = Form::Levels(all.clone());
        }
        let wanted = Wanted { column, kind, form };
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

    /// The next group as a whole, to be decoded elsewhere; `None` behind the last.
    pub fn next_group(&mut self) -> Option<Group> {
        let number = self.group;
        (number < self.stored.groups()).then(|| {
            self.group += 1;
            Group { stored: self.stored.clone(), wanted: self.wanted.clone(), number }
        })
    }

    /// The cell at a place that [`Columnar::select`] gave.
    pub fn cell(&self, place: usize) -> Cell<'_> {
        self.decoding.as_ref().map_or(Cell::EMPTY, |decoding| decoding.cell(place, self.at.wrapping_sub(1)))
    }

    pub fn rows_read(&self) -> u64 {
        self.passed
    }
}

/// A group of rows with the columns that are asked for.
pub struct Group {
    stored: Arc<dyn Stored>,
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
        let readers = contained(|| self.stored.readers(self.number, &self.wanted)).flatten();
        let (left, readers) = readers.ok_or(DataError::Unreadable)?;
        let columns = readers.into_iter().map(|reader| (reader, Values::Missing)).collect();
        Ok(Decoding { columns, left, rows: 0 })
    }
}

/// A group of rows, and the block of them that it is at.
pub struct Decoding {
    columns: Vec<(Box<dyn Reader>, Values)>,
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
        for (reader, values) in &mut self.columns {
            *values = reader.read(rows)?;
            if self.left == 0 && reader.read(1).is_some() {
                return None;
            }
        }
        self.rows = rows;
        Some(())
    }

    fn cell(&self, place: usize, row: usize) -> Cell<'_> {
        self.columns.get(place).map_or(Cell::EMPTY, |(_, values)| values.cell(row))
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
        if let Some((_, values)) = self.columns.get(place) {
            values.fill(ty, missing, out);
        }
    }
}
