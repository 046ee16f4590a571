//! Files to rows: readers that map every private cell totally, row expressions, exact statistics in one pass.

#[cfg(feature = "parquet")]
mod arrow;
mod batch;
mod block;
pub mod cell;
#[cfg(feature = "parquet")]
mod columnar;
pub mod counted;
pub mod encode;
pub mod eval;
pub mod format;
mod gather;
mod groups;
pub mod input;
pub mod inspect;
mod lanes;
pub mod layout;
pub mod machine;
mod parallel;
#[cfg(feature = "parquet")]
mod parquet;
pub mod project;
pub mod public;
pub mod reader;
pub mod row;
pub mod scan;
mod seen;
mod sqlite;
pub mod statistic;
#[cfg(test)]
mod testing;
mod units;

use crate::files::{self, Unopened};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

pub use counted::{Answered, Counts};
pub use eval::Environment;
pub use format::Misfit;
pub use gather::{Gathered, gather};
pub use public::{PublicColumn, PublicTable, agreed_part, copy_public, load_public, public_part};
pub use scan::{Job, Measured, count_rows, scan};
pub use sqlite::stored as files_of_database;

/// Why a file was refused: public facts alone (exit 3). No variant holds a private cell, its row or its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataError {
    /// The file cannot be opened.
    Missing,
    /// A public table is not a regular file.
    Irregular,
    /// A private table is neither a regular file nor a pipe.
    Device,
    /// A pipe ended before it brought anything.
    EmptyPipe,
    /// A pipe brought more than [`LONGEST_PIPE`].
    LongPipe,
    /// A folder or a pattern with no file of rows, with a folder inside, or with more than [`MOST_FILES`].
    Folder(Gathered),
    /// A database that has no such rows.
    Database(sqlite::Unready),
    /// Files of one table with different columns.
    Apart { table: String },
    /// The file cannot be read to its end, or its compression is broken.
    Unreadable,
    /// The first line is absent.
    NoHeader { table: String },
    /// The header has no such column, or has it twice.
    Column { table: String, header: String, twice: bool },
    /// The number of rows, which is public, is not what the program says.
    Rows { table: String, wanted: u64, exactly: bool },
    /// The file is of another format, by its first bytes or its header.
    Format { table: String, format: format::Format },
    /// The column holds what is not read as its declared type: by the file's schema, whatever the rows are.
    Misfit { table: String, header: String, misfit: Misfit },
    /// A cell of a *public* table that is not of its type.
    Cell { table: String, column: String, line: u64 },
    /// The public columns of a private table are not those that the certificate rests on.
    Design { table: String },
    /// Integers in place of rows whose header is that of another query.
    Unasked { table: String },
    /// Integers in place of rows that cannot be an answer to the query, whatever the rows are.
    Miscounted { table: String },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::Missing => write!(f, "the file cannot be opened"),
            DataError::Irregular => write!(f, "the file is not a regular file"),
            DataError::Device => write!(f, "the file is neither a regular file nor a pipe"),
            DataError::EmptyPipe => write!(f, "the pipe brought nothing: start what writes to it first"),
            DataError::LongPipe => write!(f, "the pipe brought more than {} MiB: put the rows into a file", LONGEST_PIPE >> 20),
            DataError::Folder(why) => write!(f, "{}", why.text()),
            DataError::Database(why) => write!(f, "{}", why.text()),
            DataError::Apart { table } => write!(f, "the files for `{table}` do not all have the same columns in the same order"),
            DataError::Unreadable => write!(f, "the file cannot be read"),
            DataError::NoHeader { table } => {
                write!(f, "the file for `{table}` has no header line")
            }
            DataError::Column { table, header, twice: false } => write!(f, "the file for `{table}` has no column `{header}`"),
            DataError::Column { table, header, .. } => {
                write!(f, "the file for `{table}` has two columns `{header}`")
            }
            DataError::Format { table, format } => write!(f, "the file for `{table}` {}\n  Help: {}", format.is(), format.help()),
            DataError::Misfit { table, header, misfit } => {
                write!(f, "the column `{header}` of the file for `{table}` holds {}\n  Help: {}", misfit.holds(), misfit.help())
            }
            DataError::Rows { table, wanted, exactly: true } => write!(f, "the file for `{table}` does not have exactly {wanted} rows"),
            DataError::Rows { table, wanted: 1, .. } => write!(f, "the file for `{table}` has no rows"),
            DataError::Rows { table, wanted, .. } => {
                write!(f, "the file for `{table}` has fewer than {wanted} rows")
            }
            DataError::Cell { table, column, line } => {
                write!(f, "line {line} of the public file for `{table}`: the cell of `{column}` is not of its type")
            }
            DataError::Design { table } => {
                write!(
                    f,
                    "the public columns of `{table}` are not, row by row, those of the file that --public gives, on which the cost rests"
                )
            }
            DataError::Unasked { table } => {
                write!(f, "this is not an answer to the query for `{table}` that `dpm sql` prints of this program, --public and --from")
            }
            DataError::Miscounted { table } => {
                write!(
                    f,
                    "the answer to the query for `{table}` is not complete: integers are missing or malformed, or rows are \
                     counted that it cannot have"
                )
            }
        }
    }
}

impl std::error::Error for DataError {}

/// Why a statistic cannot be computed; known before any data is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatisticError {
    /// An expression that has no meaning on a row.
    Expression,
    /// The declared range is infinite, or the sums do not fit 127 bits.
    Range,
}

/// Most bytes of a pipe, which is kept in memory. Whether it is refused depends on its length alone.
pub const LONGEST_PIPE: u64 = 1 << 30;

/// Files opened once and read as often as a run needs them: a path that is swapped meanwhile cannot mix two files.
pub struct Opened {
    parts: Arc<[Part]>,
    delimiter: u8,
}

/// One file of a table.
struct Part {
    bytes: Bytes,
    compressed: bool,
}

enum Bytes {
    File(File),
    /// What can be read only once (a pipe), kept.
    Memory(Arc<[u8]>),
    Database(Arc<sqlite::Database>),
}

impl Opened {
    /// Opens CSV, which may be compressed, Parquet or Arrow: a regular file, a pipe, which is read to its end, or all files of a folder or a
    /// pattern; or the table of a database.
    pub fn open(path: &Path) -> Result<Opened, DataError> {
        if let Some(database) = sqlite::Database::open(path) {
            let bytes = Bytes::Database(Arc::new(database?));
            return Ok(Opened { parts: [Part { bytes, compressed: false }].into(), delimiter: b',' });
        }
        if let Some(paths) = gather(path) {
            let parts = paths.map_err(DataError::Folder)?.iter().map(|p| Part::regular(p)).collect::<Result<_, _>>()?;
            return Ok(Opened { parts, delimiter: b',' });
        }
        let (file, pipe) = files::open_or_pipe(path).map_err(|why| match why {
            Unopened::Missing => DataError::Missing,
            Unopened::Irregular => DataError::Device,
        })?;
        let bytes = if pipe { Bytes::Memory(whole(file, LONGEST_PIPE)?.into()) } else { Bytes::File(file) };
        Ok(Opened { parts: [Part { bytes, compressed: compressed(path) }].into(), delimiter: b',' })
    }

    /// Opens a regular file alone.
    pub fn regular(path: &Path) -> Result<Opened, DataError> {
        Ok(Opened { parts: [Part::regular(path)?].into(), delimiter: b',' })
    }

    /// Cells are parted by this byte.
    pub fn delimited(self, delimiter: u8) -> Opened {
        Opened { delimiter, ..self }
    }

    /// All of it from the start. Passes share one position in a file: each must end before the next begins.
    pub fn source(&self) -> Result<Source, DataError> {
        let first = self.parts.first().ok_or(DataError::Missing)?.open()?;
        Ok(Source { delimiter: self.delimiter, named: true, parts: self.parts.clone(), ..first })
    }
}

impl Part {
    fn regular(path: &Path) -> Result<Part, DataError> {
        let file = files::open(path).map_err(|why| match why {
            Unopened::Missing => DataError::Missing,
            Unopened::Irregular => DataError::Irregular,
        })?;
        Ok(Part { bytes: Bytes::File(file), compressed: compressed(path) })
    }

    fn open(&self) -> Result<Source, DataError> {
        match &self.bytes {
            Bytes::Database(database) => Ok(Source::of(Bound::Database(database.clone()))),
            Bytes::Memory(all) => Source::stored(Cursor::new(all.clone()), self.compressed),
            Bytes::File(file) => {
                let mut file = file.try_clone().map_err(|_| DataError::Unreadable)?;
                file.rewind().map_err(|_| DataError::Unreadable)?;
                Source::stored(file, self.compressed)
            }
        }
    }
}

fn compressed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

/// All that a pipe brings.
fn whole(pipe: impl Read, most: u64) -> Result<Vec<u8>, DataError> {
    let mut all = vec![];
    pipe.take(most.saturating_add(1)).read_to_end(&mut all).map_err(|_| DataError::Unreadable)?;
    match all.len() as u64 {
        0 => Err(DataError::EmptyPipe),
        n if n > most => Err(DataError::LongPipe),
        _ => Ok(all),
    }
}

/// An open file of rows, read once from start to end.
pub struct Source {
    input: Bound,
    /// All files of the table, of which this is the first; none where there is no other.
    parts: Arc<[Part]>,
    delimiter: u8,
    /// May an error name the format? Not of registered data, whose errors have one text.
    named: bool,
}

/// What can be read at any place.
pub trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

enum Bound {
    Text(Box<dyn BufRead>),
    Database(Arc<sqlite::Database>),
    #[cfg(feature = "parquet")]
    Parquet(Box<dyn Seekable>),
    #[cfg(feature = "parquet")]
    Arrow(Box<dyn Seekable>),
}

impl Source {
    /// Opens data to be read once.
    pub fn open(path: &Path) -> Result<Source, DataError> {
        Opened::open(path)?.source()
    }

    /// Rows of CSV from anything that can be read.
    pub fn new(input: impl Read + 'static) -> Source {
        Source::buffered(BufReader::with_capacity(1 << 18, input))
    }

    fn buffered(input: impl BufRead + 'static) -> Source {
        Source::of(Bound::Text(Box::new(input)))
    }

    fn of(input: Bound) -> Source {
        Source { input, parts: [].into(), delimiter: b',', named: false }
    }

    /// Rows of a file that stands at its start: Parquet, Arrow or zstd by its first bytes, else CSV, which may be compressed with gzip.
    pub fn stored(mut input: impl Seekable + 'static, compressed: bool) -> Result<Source, DataError> {
        if compressed {
            return Ok(Source::new(flate2::read::MultiGzDecoder::new(input)));
        }
        let mut first = vec![];
        let read = Read::by_ref(&mut input).take(MAGIC).read_to_end(&mut first);
        read.and_then(|_| input.rewind()).map_err(|_| DataError::Unreadable)?;
        #[cfg(feature = "parquet")]
        if format::is_parquet(&first) {
            return Ok(Source::of(Bound::Parquet(Box::new(input))));
        }
        #[cfg(feature = "parquet")]
        if format::is_arrow(&first) {
            return Ok(Source::of(Bound::Arrow(Box::new(input))));
        }
        #[cfg(feature = "parquet")]
        if format::is_zstd(&first) {
            return zstd::stream::read::Decoder::new(input).map(Source::new).map_err(|_| DataError::Unreadable);
        }
        Ok(Source::new(input))
    }
}

/// How many first bytes say what a file is.
const MAGIC: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pipe of one length ends in the same way, whatever its bytes.
    #[test]
    fn a_pipe_is_refused_by_its_length_alone() {
        for bytes in [&b"x\n1\n22\n"[..], b"\n\n\n\n\n\n\n", b"\"\"\"\",,\xff"] {
            assert_eq!(whole(bytes, 7), Ok(bytes.to_vec()));
            assert_eq!(whole(bytes, 6), Err(DataError::LongPipe));
        }
        assert_eq!(whole(&b""[..], 6), Err(DataError::EmptyPipe));
    }
}
