//! Parquet files: the footer says which columns there are and where their pages lie.
//!
//! Nothing that a file says of its sizes is believed: pages are found and unpacked here, within bounds, for the decoders of the crate.

mod column;
mod levels;
mod page;
mod thrift;

use std::io::SeekFrom;
use std::sync::{Arc, Mutex};

use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::schema::types::SchemaDescriptor;

use self::page::Pages;
use super::Seekable;
use super::columnar::values::{Form, Kind, Values};
use super::columnar::{Reader, Refused, Shared, Stored, Wanted, bytes};
use super::format::Misfit;

/// Most bytes of a footer, which describes the file.
const LONGEST_FOOTER: u64 = 1 << 28;

/// A file and its footer.
pub struct Parquet {
    file: Shared,
    length: u64,
    meta: ParquetMetaData,
}

impl Parquet {
    /// Reads the footer.
    pub fn open(mut file: Box<dyn Seekable>) -> Option<Parquet> {
        let (length, footer) = footer(file.as_mut())?;
        let meta = ParquetMetaDataReader::decode_metadata(&footer).ok()?;
        Some(Parquet { file: Arc::new(Mutex::new(file)), length, meta })
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.meta.file_metadata().schema_descr()
    }

    /// The number of the only leaf of a column.
    fn leaf(&self, column: usize) -> Option<usize> {
        (0..self.schema().num_columns()).find(|leaf| self.schema().get_column_root_idx(*leaf) == column)
    }

    fn reader(&self, group: &RowGroupMetaData, wanted: &Wanted) -> Option<Box<dyn Reader>> {
        let leaf = self.leaf(wanted.column)?;
        let described = self.schema().column(leaf);
        let mut pages = Pages::new(self.file.clone(), self.length, group.columns().get(leaf)?, described.max_def_level())?;
        let described = match &wanted.form {
            Form::Levels(all) => {
                pages.number(all);
                levels::column(&described)?
            }
            _ => described,
        };
        Some(Box::new(Chunk { pages: get_column_reader(described, Box::new(pages)), kind: wanted.kind, form: wanted.form.clone() }))
    }
}

impl Stored for Parquet {
    fn names(&self) -> Vec<&str> {
        self.schema().root_schema().get_fields().iter().map(|field| field.name()).collect()
    }

    fn kinds(&self) -> Vec<(usize, Result<Kind, Misfit>)> {
        let schema = self.schema();
        (0..schema.num_columns()).map(|leaf| (schema.get_column_root_idx(leaf), column::kind(&schema.column(leaf)))).collect()
    }

    fn kind(&self, column: usize) -> Result<Kind, Refused> {
        let leaf = self.leaf(column).ok_or(Refused::Misfit(Misfit::Nested))?;
        let described = self.schema().column(leaf);
        if described.path().parts().len() != 1 || described.max_rep_level() != 0 || described.max_def_level() > 1 {
            return Err(Refused::Misfit(Misfit::Nested));
        }
        let kind = column::kind(&described).map_err(Refused::Misfit)?;
        for group in self.meta.row_groups() {
            let chunk = group.columns().get(leaf).ok_or(Refused::Broken)?;
            if chunk.column_type() != described.physical_type() || chunk.file_path().is_some() {
                return Err(Refused::Broken);
            }
            if !page::unpacks(chunk.compression()) || chunk.encodings().any(|e| !page::decodes(e)) {
                return Err(Refused::Codec);
            }
        }
        Ok(kind)
    }

    fn counts(&self, column: usize) -> bool {
        let Some(leaf) = self.leaf(column) else { return false };
        let mut chunks = self.meta.row_groups().iter().flat_map(|group| group.columns().get(leaf));
        chunks.all(|chunk| chunk.encodings().all(levels::counts))
    }

    fn groups(&self) -> usize {
        self.meta.num_row_groups()
    }

    fn readers(&self, group: usize, wanted: &[Wanted]) -> Option<(u64, Vec<Box<dyn Reader>>)> {
        let group = self.meta.row_groups().get(group)?;
        let readers = wanted.iter().map(|wanted| self.reader(group, wanted)).collect::<Option<_>>()?;
        Some((u64::try_from(group.num_rows()).ok()?, readers))
    }
}

/// One column of a row group.
struct Chunk {
    pages: ColumnReader,
    kind: Kind,
    form: Form,
}

impl Reader for Chunk {
    fn read(&mut self, rows: usize) -> Option<Values> {
        column::read(&mut self.pages, self.kind, &self.form, rows)
    }
}

/// The length of a file and its footer.
fn footer(file: &mut dyn Seekable) -> Option<(u64, Vec<u8>)> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    let tail = bytes(file, length.checked_sub(8)?, 8)?;
    let (size, magic) = tail.split_first_chunk::<4>()?;
    let size = u64::from(u32::from_le_bytes(*size));
    if magic != b"PAR1" || size > LONGEST_FOOTER {
        return None;
    }
    let start = (length - 8).checked_sub(size)?;
    Some((length, bytes(file, start, usize::try_from(size).ok()?)?))
}
