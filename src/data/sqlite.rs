//! A table of an SQLite database as rows: one snapshot for all passes, in the order of its row numbers, read and never written.
//!
//! A value stands for its text, as a CSV of the table would hold it: whole numbers in decimal, others as the shortest decimal that
//! is that double, NULL as an empty cell. So one table of readings holds for all files, whatever types SQLite keeps in a column.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::DataError;
use super::block::Block;
use super::cell::Cell;
use crate::files::{self, Unopened};

/// What stands before the path of a database, and between it and the name of a table.
const SCHEME: &str = "sqlite:";
const TABLE: &str = "?table=";

/// Rows that are asked for at a time.
const PAGE: usize = 4096;

/// Why a database has no rows for us, before any is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unready {
    Unnamed,
    Closed,
    NoTable,
    Unordered,
}

impl Unready {
    pub fn text(self) -> &'static str {
        match self {
            Unready::Unnamed => "a table of a database is named sqlite:FILE?table=NAME",
            Unready::Closed => "the file is not an SQLite database, or it is in use or needs to be recovered: open it once with `sqlite3`",
            Unready::NoTable => "the database has no such table (views and virtual tables are not read)",
            Unready::Unordered => "the table has no row numbers (`WITHOUT ROWID`, or columns of their names), so its rows have no order",
        }
    }
}

/// The file of a database that this names, and its table; `None` where no database is meant.
fn named(path: &Path) -> Option<(PathBuf, Option<&str>)> {
    let place = path.to_str()?.strip_prefix(SCHEME)?;
    Some(place.rsplit_once(TABLE).map_or_else(|| (place.into(), None), |(file, table)| (file.into(), Some(table))))
}

/// The files that hold the rows of a database.
pub fn stored(path: &Path) -> Vec<PathBuf> {
    let with = |file: PathBuf| {
        ["", "-wal", "-shm", "-journal"].map(|end| {
            let mut file = file.clone().into_os_string();
            file.push(end);
            file.into()
        })
    };
    named(path).map_or_else(Vec::new, |(file, _)| with(file).to_vec())
}

/// A table of an open database.
pub struct Database {
    connection: Mutex<Connection>,
    table: String,
    names: Vec<String>,
    /// What the row numbers are called here.
    number: &'static str,
}

impl Database {
    /// Opens `sqlite:FILE?table=NAME`; `None` for other paths.
    pub fn open(path: &Path) -> Option<Result<Database, DataError>> {
        let (file, table) = named(path)?;
        Some(match table.filter(|t| !t.is_empty()) {
            None => Err(DataError::Database(Unready::Unnamed)),
            Some(table) => Self::table(&file, table),
        })
    }

    fn table(file: &Path, table: &str) -> Result<Database, DataError> {
        files::open(file).map_err(|why| match why {
            Unopened::Missing => DataError::Missing,
            Unopened::Irregular => DataError::Irregular,
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags).map_err(closed)?;
        // Nothing that the file's author wrote into its schema is run. The first query begins the snapshot.
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN").map_err(closed)?;
        let stored = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1";
        let found = connection.query_row(stored, [table], |_| Ok(())).optional().map_err(closed)?;
        found.ok_or(DataError::Database(Unready::NoTable))?;
        let names = columns(&connection, table).map_err(closed)?;
        let is_free = |number: &&str| !names.iter().any(|n| n.eq_ignore_ascii_case(number));
        let number = ["rowid", "_rowid_", "oid"].into_iter().find(is_free);
        let ordered = number.filter(|number| connection.prepare(&format!("SELECT {number} FROM {}", quoted(table))).is_ok());
        let number = ordered.ok_or(DataError::Database(Unready::Unordered))?;
        Ok(Database { connection: Mutex::new(connection), table: table.into(), names, number })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

fn closed(_: rusqlite::Error) -> DataError {
    DataError::Database(Unready::Closed)
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut names = connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid")?;
    names.query_map([table], |row| row.get(0))?.collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Some columns of a table, a page at a time.
pub struct Reading {
    database: Arc<Database>,
    /// Their numbers in the table.
    wanted: Vec<usize>,
    /// The least row number that was not read; none behind the last.
    next: Option<i64>,
    /// Cells of the page, one behind the other, and where each ends.
    cells: Vec<u8>,
    ends: Vec<usize>,
    rows: usize,
    /// The row after this one.
    at: usize,
    passed: u64,
}

impl Reading {
    pub fn new(database: Arc<Database>) -> Reading {
        Reading { database, wanted: vec![], next: Some(i64::MIN), cells: vec![], ends: vec![], rows: 0, at: 0, passed: 0 }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.database.names()
    }

    /// Asks for a column; the place of its cells.
    pub fn select(&mut self, column: usize) -> usize {
        self.wanted.iter().position(|w| *w == column).unwrap_or_else(|| {
            self.wanted.push(column);
            self.wanted.len() - 1
        })
    }

    /// Moves to the next row; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        if self.at == self.rows && !self.page()? {
            return Ok(false);
        }
        self.at += 1;
        self.passed += 1;
        Ok(true)
    }

    /// Adds the rows of the next page to a block; `false` at the end.
    pub fn take(&mut self, block: &mut Block) -> Result<bool, DataError> {
        let some = self.page()?;
        for row in 0..self.rows {
            let cells = (0..self.wanted.len()).map(|place| self.bytes(row, place));
            block.push_cells(cells);
        }
        self.at = self.rows;
        Ok(some)
    }

    pub fn cell(&self, place: usize) -> Cell<'_> {
        self.at.checked_sub(1).map_or(Cell::EMPTY, |row| Cell::Text(self.bytes(row, place)))
    }

    pub fn rows_read(&self) -> u64 {
        self.passed
    }

    fn bytes(&self, row: usize, place: usize) -> &[u8] {
        if place >= self.wanted.len() {
            return &[];
        }
        let at = row * self.wanted.len() + place;
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        start.zip(self.ends.get(at)).and_then(|(start, end)| self.cells.get(start..*end)).unwrap_or(&[])
    }

    /// Reads the next rows; `false` if there are none.
    fn page(&mut self) -> Result<bool, DataError> {
        (self.rows, self.at) = (0, 0);
        self.cells.clear();
        self.ends.clear();
        if let Some(from) = self.next {
            // No text of SQLite reaches anyone: it may hold a cell.
            self.rows_from(from).map_err(|_| DataError::Unreadable)?;
        }
        Ok(self.rows > 0)
    }

    fn rows_from(&mut self, from: i64) -> rusqlite::Result<()> {
        let Database { connection, table, names, number } = self.database.as_ref();
        let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let columns: Vec<String> = self.wanted.iter().filter_map(|w| names.get(*w)).map(|name| quoted(name)).collect();
        let columns = [vec![(*number).to_owned()], columns].concat().join(", ");
        let text = format!("SELECT {columns} FROM {} WHERE {number} >= ?1 ORDER BY {number} LIMIT {PAGE}", quoted(table));
        let mut query = connection.prepare_cached(&text)?;
        let mut found = query.query([from])?;
        let mut last = None;
        while let Some(row) = found.next()? {
            last = Some(row.get(0)?);
            for place in 0..self.wanted.len() {
                write(row.get_ref(place + 1)?, &mut self.cells);
                self.ends.push(self.cells.len());
            }
            self.rows += 1;
        }
        self.next = last.and_then(|last: i64| last.checked_add(1));
        Ok(())
    }
}

/// The text that a value stands for.
fn write(value: ValueRef, cells: &mut Vec<u8>) {
    let mut number = String::new();
    let text = match value {
        ValueRef::Null => &[],
        ValueRef::Text(text) | ValueRef::Blob(text) => text,
        ValueRef::Integer(x) => {
            // Writing to a string does not fail.
            let _ = write!(number, "{x}");
            number.as_bytes()
        }
        ValueRef::Real(x) => {
            let _ = write!(number, "{x:?}");
            number.as_bytes()
        }
    };
    cells.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NAMES, table};
    use super::super::{Opened, parallel, row::Rows};
    use super::*;

    fn place(file: &Path, table: &str) -> PathBuf {
        format!("{SCHEME}{}{TABLE}{table}", file.display()).into()
    }

    /// Rows of a file as its table reads them, with the bytes of the text.
    fn rows(opened: &Opened) -> Vec<(Vec<u8>, Vec<u64>)> {
        let mut rows = Rows::open(&table(), opened.source().unwrap()).unwrap();
        let (mut row, mut found) = (vec![0.0; rows.slots()], vec![]);
        while rows.advance().unwrap() {
            rows.fill(&mut row);
            found.push((rows.bytes(0).to_vec(), row.iter().map(|x| x.to_bits()).collect()));
        }
        found
    }

    /// Every kind of value in every column, more rows than a page, and a CSV of the same texts as the oracle.
    #[test]
    fn a_table_is_read_as_its_csv() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.db");
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch("CREATE TABLE t (\"b\", g, t TEXT, x REAL, extra, k INTEGER)").unwrap();
        let values: [(rusqlite::types::Value, &str); 16] = [
            (rusqlite::types::Value::Null, ""),
            (0.into(), "0"),
            (1.into(), "1"),
            (7.into(), "7"),
            (i64::MIN.into(), "-9223372036854775808"),
            (9_007_199_254_740_993i64.into(), "9007199254740993"),
            (2.5.into(), "2.5"),
            ((-0.25).into(), "-0.25"),
            (1e300.into(), "1e300"),
            (f64::INFINITY.into(), "inf"),
            (5e-324.into(), "5e-324"),
            ("a".to_owned().into(), "a"),
            ("12abc".to_owned().into(), "12abc"),
            ("yes".to_owned().into(), "yes"),
            ("SENTINEL, \"quoted\"".to_owned().into(), "\"SENTINEL, \"\"quoted\"\"\""),
            (vec![0xff_u8, b'"'].into(), "\"?\"\"\""),
        ];
        let mut csv = format!("{}\n", NAMES.join(","));
        {
            let whole = connection.unchecked_transaction().unwrap();
            for i in 0..10_000usize {
                let of = |column: usize| &values[(i / 16usize.pow(column as u32 % 3) + column) % 16];
                // Columns with a declared type change what they are given; those without keep it.
                let put = "INSERT INTO t (t, x, k, g, b) VALUES (?1, ?2, ?3, ?4, ?5)";
                let number = values[i % 11].0.clone();
                whole.execute(put, rusqlite::params![i.to_string(), number, values[i % 6].0, of(1).0, of(2).0]).unwrap();
                csv += &format!("{i},{},{},{},{}\n", values[i % 11].1, values[i % 6].1, of(1).1, of(2).1);
            }
            whole.commit().unwrap();
        }
        let other = folder.path().join("people.csv");
        std::fs::write(&other, csv).unwrap();
        let opened = Opened::open(&place(&file, "t")).unwrap();
        let found = rows(&opened);
        assert_eq!(found.len(), 10_000);
        assert!(found == rows(&Opened::open(&other).unwrap()));
        // Passes see one snapshot, whatever is written meanwhile, and blocks hold the same rows.
        let _ = connection.pragma_update(None, "busy_timeout", 0);
        let _ = connection.execute("DELETE FROM t WHERE rowid < 9000", []);
        assert!(found == rows(&opened));
        let all = Rows::open(&table(), opened.source().unwrap()).unwrap();
        let parts = parallel::in_parts(all, Vec::new, |seen, rows| {
            seen.extend((0..rows.rows()).map(|at| (0..).map_while(|slot| Some(rows.slot(slot)?[at].to_bits())).collect::<Vec<_>>()))
        })
        .unwrap();
        let (mut seen, mut wanted) = (parts.concat(), found.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
        seen.sort();
        wanted.sort();
        assert!(seen == wanted);
    }

    /// What is not a plain table is refused in fixed words, before a row is read.
    #[test]
    fn what_has_no_rows_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.db");
        Connection::open(&file)
            .and_then(|c| {
                c.execute_batch(
                    "CREATE TABLE t (x); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM t;
                     CREATE TABLE w (x PRIMARY KEY) WITHOUT ROWID; CREATE TABLE all_taken (rowid, _rowid_, oid);
                     CREATE TABLE taken (rowid)",
                )
            })
            .unwrap();
        let refused = |table: &str| Database::open(&place(&file, table)).unwrap().err();
        for (table, why) in [
            ("v", Unready::NoTable),
            ("none", Unready::NoTable),
            ("", Unready::Unnamed),
            ("w", Unready::Unordered),
            ("all_taken", Unready::Unordered),
        ] {
            assert_eq!(refused(table), Some(DataError::Database(why)), "{table}");
        }
        assert_eq!(refused("taken"), None);
        let text = folder.path().join("rows.csv");
        std::fs::write(&text, "x\n1\n".repeat(1000)).unwrap();
        assert_eq!(Database::open(&place(&text, "t")).unwrap().err(), Some(DataError::Database(Unready::Closed)));
        assert_eq!(Database::open(&place(&folder.path().join("no.db"), "t")).unwrap().err(), Some(DataError::Missing));
        assert!(!folder.path().join("no.db").exists());
        assert!(Database::open(&text).is_none());
    }
}
