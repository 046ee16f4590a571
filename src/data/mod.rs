//! Files to rows: readers that map every private cell totally, row expressions, exact statistics in one pass.

pub mod cell;
pub mod eval;
pub mod function;
pub mod project;
pub mod public;
pub mod reader;
pub mod row;
pub mod scan;
pub mod statistic;

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

pub use eval::Environment;
pub use public::{PublicColumn, PublicTable, load_public};
pub use scan::{Job, Measured, count_rows, scan};

/// Why a file was refused: public facts alone (exit 3). No variant holds a private cell, its row or its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataError {
    /// The file cannot be opened.
    Missing,
    /// The file cannot be read to its end, or its compression is broken.
    Unreadable,
    /// The first line is absent.
    NoHeader { table: String },
    /// The header has no such column, or has it twice.
    Column { table: String, header: String, twice: bool },
    /// The number of rows, which is public, is not what the program says.
    Rows { table: String, wanted: u64, exactly: bool },
    /// A cell of a *public* table that is not of its type.
    Cell { table: String, column: String, line: u64 },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::Missing => write!(f, "the file cannot be opened"),
            DataError::Unreadable => write!(f, "the file cannot be read"),
            DataError::NoHeader { table } => {
                write!(f, "the file for `{table}` has no header line")
            }
            DataError::Column { table, header, twice: false } => write!(f, "the file for `{table}` has no column `{header}`"),
            DataError::Column { table, header, .. } => {
                write!(f, "the file for `{table}` has two columns `{header}`")
            }
            DataError::Rows { table, wanted, exactly: true } => write!(f, "the file for `{table}` does not have exactly {wanted} rows"),
            DataError::Rows { table, wanted, .. } => {
                write!(f, "the file for `{table}` has fewer than {wanted} rows")
            }
            DataError::Cell { table, column, line } => {
                write!(f, "line {line} of the public file for `{table}`: the cell of `{column}` is not of its type")
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

/// An open file of rows, read once from start to end.
pub struct Source {
    input: Box<dyn BufRead>,
}

impl Source {
    /// Opens `.csv` or `.csv.gz`.
    pub fn open(path: &Path) -> Result<Source, DataError> {
        let file = File::open(path).map_err(|_| DataError::Missing)?;
        let is_directory = file.metadata().map_or(true, |m| m.is_dir());
        if is_directory {
            return Err(DataError::Missing);
        }
        let compressed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        Ok(if compressed { Source::new(flate2::read::MultiGzDecoder::new(file)) } else { Source::new(file) })
    }

    /// Rows from anything that can be read.
    pub fn new(input: impl Read + 'static) -> Source {
        Source { input: Box::new(BufReader::with_capacity(1 << 18, input)) }
    }
}
