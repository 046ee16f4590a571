//! The store: one SQLite table of entries, opened by one process at a time, verified in full at every opening.

use super::account::Accounts;
use super::entry::{Entry, chain};
use super::error::LedgerError;
use super::head::{Head, beside, is_poisoned, poison, private_file, sync_folder};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// The longest wait for other processes.
const WAIT: Duration = Duration::from_secs(30);
const SCHEMA: &str = "CREATE TABLE entries (idx INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT";

/// An opened ledger. No other process can read or write it until this is dropped.
pub struct Session {
    db: Connection,
    path: std::path::PathBuf,
    pub lines: Vec<(Entry, String)>,
    pub accounts: Accounts,
}

impl Session {
    /// Makes a ledger with these first entries, which may make files of their own beside it.
    ///
    /// # Errors
    /// Exists, where any file of a ledger is there already.
    pub fn create(path: &Path, entries: impl FnOnce(&Path) -> Result<Vec<Entry>, LedgerError>) -> Result<(), LedgerError> {
        let left_over =
            ["", ".head", ".head.new", ".key", ".poisoned", "-journal"].iter().any(|end| beside(path, end).try_exists().unwrap_or(true));
        if left_over {
            return Err(LedgerError::Exists);
        }
        private_file().create_new(true).open(path).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => LedgerError::Exists,
            _ => LedgerError::Storage("it cannot be created here".into()),
        })?;
        entries(path).and_then(|entries| Session::fill(path, entries)).inspect_err(|_| {
            // Made by this very call, and nothing was ever charged to it.
            for end in ["", ".head", ".key", ".poisoned", "-journal"] {
                let _ = std::fs::remove_file(beside(path, end));
            }
        })
    }

    fn fill(path: &Path, entries: Vec<Entry>) -> Result<(), LedgerError> {
        sync_folder(path).map_err(|_| LedgerError::Storage("its folder cannot be written".into()))?;
        let db = connect(path)?;
        db.execute_batch(SCHEMA).map_err(storage)?;
        Session { db, path: path.to_owned(), lines: vec![], accounts: Accounts::default() }.append(entries).map(|_| ())
    }

    /// Opens and verifies: form, chain of hashes, order and sums of entries, head.
    ///
    /// # Errors
    /// Missing, Poisoned, Busy, Storage, or Locked with the first thing that does not hold.
    pub fn open(path: &Path) -> Result<Session, LedgerError> {
        if is_poisoned(path) {
            return Err(LedgerError::Poisoned);
        }
        if !path.is_file() {
            return Err(LedgerError::Missing);
        }
        // Files that SQLite or the head would open: one that is a pipe would make them wait.
        let other = |end: &&&str| beside(path, end).symlink_metadata().is_ok_and(|m| !m.is_file());
        if let Some(end) = ["-journal", "-wal", "-shm", ".head.new"].iter().find(other) {
            return Err(locked(format!("what stands beside it is not a regular file (PATH{end})")));
        }
        let db = connect(path)?;
        // The first statement may find a journal of a killed process and roll it back.
        let lines = read(&db)?;
        let mut entries = Vec::with_capacity(lines.len());
        let mut previous = String::new();
        for (index, (at, body, hash)) in (0_u64..).zip(lines) {
            let linked = i64::try_from(index) == Ok(at) && chain(&previous, index, &body) == hash;
            let entry = Entry::read(&body).filter(|_| linked).ok_or_else(|| locked(format!("entry {index} was altered")))?;
            entries.push((entry, hash.clone()));
            previous = hash;
        }
        let accounts = Accounts::replay(entries.iter().map(|(entry, _)| entry)).map_err(|at| {
            locked(if at == usize::MAX { "its entries do not add up".into() } else { format!("entry {at} is out of place") })
        })?;
        let session = Session { db, path: path.to_owned(), lines: entries, accounts };
        session.hold_against_head()?;
        Ok(session)
    }

    /// The head must be an entry of this chain. Entries behind it were written by a process that ended before it could
    /// answer: they count, and the head follows.
    fn hold_against_head(&self) -> Result<(), LedgerError> {
        let head = Head::read(&self.path)?;
        if head.ledger != self.accounts.ledger {
            return Err(locked("its head file belongs to another ledger".into()));
        }
        self.contains(&head, "its head file")?;
        let mut current = self.head() == head;
        if let Some(location) = &self.accounts.witness {
            let witness = Head::read_file(Path::new(location), "its witness", location)?;
            self.contains(&witness, "its witness")?;
            current &= self.head() == witness;
        }
        if current { Ok(()) } else { self.write_head(&self.head()) }
    }

    fn contains(&self, head: &Head, what: &str) -> Result<(), LedgerError> {
        let at = usize::try_from(head.index).unwrap_or(usize::MAX);
        match self.lines.get(at) {
            Some((_, hash)) if *hash == head.hash => Ok(()),
            Some(_) => Err(locked(format!("entry {at} is not the one {what} names"))),
            None => Err(locked(format!("it is older than {what}, which names entry {at}: a copy was restored"))),
        }
    }

    /// The last entry.
    pub fn head(&self) -> Head {
        let index = self.lines.len().saturating_sub(1) as u64;
        let hash = self.lines.last().map(|(_, hash)| hash.clone()).unwrap_or_default();
        Head { ledger: self.accounts.ledger.clone(), index, hash }
    }

    fn write_head(&self, head: &Head) -> Result<(), LedgerError> {
        head.write(&self.path).map_err(|e| {
            // A full disk leaves the old head in its place, and the next opening brings it forward.
            if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
                return LedgerError::Storage("the disk is full; the last entry counts".into());
            }
            poison(&self.path);
            LedgerError::Poisoned
        })?;
        // A witness that cannot be written is behind, not wrong: the next opening tries again.
        let Some(location) = &self.accounts.witness else { return Ok(()) };
        head.write_file(Path::new(location)).map_err(|_| LedgerError::Storage(format!("its witness cannot be written ({location})")))
    }

    /// Appends entries durably: into the table, forced to the disk, then into the head, forced to the disk. The lock is
    /// kept until both are there, so heads never run backwards.
    ///
    /// # Errors
    /// Whatever failed; the entries may count all the same, but nobody was told that they do.
    pub fn append(mut self, entries: Vec<Entry>) -> Result<Session, LedgerError> {
        let failed = |e: rusqlite::Error| {
            let hard = matches!(e.sqlite_error_code(), Some(ErrorCode::SystemIoFailure));
            if hard {
                poison(&self.path);
                return LedgerError::Poisoned;
            }
            storage(e)
        };
        for entry in entries {
            let previous = self.lines.last().map_or("", |(_, hash)| hash.as_str());
            let index = self.lines.len() as u64;
            let body = entry.text();
            let hash = chain(previous, index, &body);
            let row = rusqlite::params![i64::try_from(index).unwrap_or(i64::MAX), body, hash];
            self.db.execute("INSERT INTO entries (idx, body, hash) VALUES (?1, ?2, ?3)", row).map_err(failed)?;
            self.lines.push((entry, hash));
        }
        self.db.execute_batch("COMMIT").map_err(failed)?;
        let entries = self.lines.iter().map(|(entry, _)| entry);
        self.accounts = Accounts::replay(entries).map_err(|_| locked("its entries do not add up".into()))?;
        self.write_head(&self.head())?;
        Ok(self)
    }
}

/// Opens the file, takes it for this process alone, and begins a transaction.
fn connect(path: &Path) -> Result<Connection, LedgerError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags).map_err(storage)?;
    db.busy_timeout(WAIT).map_err(storage)?;
    // EXTRA also forces the folder to the disk when the journal is removed. The exclusive locking mode keeps the lock of
    // the transaction to the end of the session, over its commit. It is set last: a process in that mode that fails to
    // begin keeps its lock for reading, and then nobody else can begin either.
    db.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN EXCLUSIVE; PRAGMA locking_mode = EXCLUSIVE")
        .map_err(storage)?;
    Ok(db)
}

type Row = (i64, String, String);

fn read(db: &Connection) -> Result<Vec<Row>, LedgerError> {
    let damaged = |e: rusqlite::Error| match e.sqlite_error_code() {
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => locked("its file is damaged".into()),
        Some(_) => storage(e),
    };
    let text = |sql: &str| db.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(damaged);
    let schema = text("SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || sql, ';') FROM sqlite_schema")?;
    if schema != format!("table entries entries {SCHEMA}") || text("PRAGMA journal_mode")? != "delete" {
        return Err(locked("its table is not the one this program makes".into()));
    }
    if text("PRAGMA integrity_check(1)")? != "ok" {
        return Err(locked("its file is damaged".into()));
    }
    let mut query = db.prepare("SELECT idx, body, hash FROM entries ORDER BY idx").map_err(damaged)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(damaged)?;
    rows.collect::<Result<_, _>>().map_err(damaged)
}

fn locked(why: String) -> LedgerError {
    LedgerError::Locked(why)
}

/// SQLite's errors in our words.
fn storage(e: rusqlite::Error) -> LedgerError {
    let why = match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return LedgerError::Busy,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => return locked("its file is damaged".into()),
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "it may not be written",
        Some(ErrorCode::CannotOpen) => "it cannot be opened",
        _ => "its file cannot be read or written",
    };
    LedgerError::Storage(why.into())
}
