//! The store: one SQLite table of entries, written by one process at a time, verified in full at every opening.

use super::account::Accounts;
use super::entry::{Entry, chain};
use super::error::LedgerError;
use super::head::{BESIDE, Head, beside, is_database, is_poisoned, poison, private_file, sync_folder};
use super::key::{self, ChainKey};
use super::turn;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// The longest wait for other processes.
const WAIT: Duration = Duration::from_secs(120);
/// Bytes of the log from which it is brought into the file, which takes some more forcing to the disk.
const LONG_LOG: u64 = 4 << 20;
const SCHEMA: &str = "CREATE TABLE entries (idx INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT";

/// What an opening is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Sees one moment of the ledger. It waits for nobody, and nobody waits for it.
    Read,
    /// Keeps every other writer out until the session is dropped.
    Write,
}

/// An opened ledger.
pub struct Session {
    db: Connection,
    /// The log of the database, which a writer forces to the disk itself.
    log: Option<File>,
    path: std::path::PathBuf,
    /// Of a ledger whose hashes have one.
    key: Option<ChainKey>,
    pub lines: Vec<(Entry, String)>,
    pub accounts: Accounts,
    /// Are head and witness at the last entry?
    pub current: bool,
    /// Dropped last.
    _turn: Option<File>,
}

impl Session {
    /// Makes a ledger with these first entries, which may make files of their own beside it.
    ///
    /// # Errors
    /// Exists, where any file of a ledger is there already.
    pub fn create(path: &Path, entries: impl FnOnce(&Path) -> Result<Vec<Entry>, LedgerError>) -> Result<(), LedgerError> {
        let left_over = std::iter::once("").chain(BESIDE).any(|end| beside(path, end).try_exists().unwrap_or(true));
        if left_over {
            return Err(LedgerError::Exists);
        }
        private_file().create_new(true).open(path).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => LedgerError::Exists,
            _ => LedgerError::Storage("it cannot be created here".into()),
        })?;
        entries(path).and_then(|entries| Session::fill(path, entries)).inspect_err(|_| {
            // Made by this very call, and nothing was ever charged to it.
            for end in std::iter::once("").chain(BESIDE) {
                let _ = std::fs::remove_file(beside(path, end));
            }
        })
    }

    fn fill(path: &Path, entries: Vec<Entry>) -> Result<(), LedgerError> {
        sync_folder(path).map_err(|_| LedgerError::Storage("its folder cannot be written".into()))?;
        let turn = Some(turn::take(path, WAIT)?);
        let (db, log) = connect(path, To::Write)?;
        db.execute_batch(SCHEMA).map_err(storage)?;
        let (lines, accounts, current, key) = (vec![], Accounts::default(), false, key::of_chain(path)?);
        Session { db, log, path: path.to_owned(), key, lines, accounts, current, _turn: turn }.append(entries).map(|_| ())
    }

    /// Opens and verifies: form, chain of hashes, order and sums of entries, head.
    ///
    /// # Errors
    /// Missing, Poisoned, Busy, Storage, or Locked with the first thing that does not hold.
    pub fn open(path: &Path, to: To) -> Result<Session, LedgerError> {
        if is_poisoned(path) {
            return Err(LedgerError::Poisoned);
        }
        if !path.is_file() {
            return Err(LedgerError::Missing);
        }
        // Files that SQLite or the head would open: one that is a pipe would make them wait.
        let other = |end: &&&str| beside(path, end).symlink_metadata().is_ok_and(|m| !m.is_file());
        if let Some(end) = ["-journal", "-wal", "-shm", ".head.new", ".lock"].iter().find(other) {
            return Err(locked(format!("what stands beside it is not a regular file (PATH{end})")));
        }
        // SQLite removes the log of a file that is empty.
        if !is_database(path) {
            return Err(locked("its file is damaged".into()));
        }
        let turn = (to == To::Write).then(|| turn::take(path, WAIT)).transpose()?;
        // Before the entries: a head that moves on while they are read would look newer than they are.
        let head = Head::read(path)?;
        let (db, log) = connect(path, to)?;
        // The first statement may find the log of a killed process.
        let lines = read(&db)?;
        let mut entries = Vec::with_capacity(lines.len());
        let mut previous = String::new();
        let key = key::of_chain(path)?;
        for (index, (at, body, hash)) in (0_u64..).zip(lines) {
            let linked = i64::try_from(index) == Ok(at) && chain(key.as_ref(), &previous, index, &body) == hash;
            let entry = Entry::read(&body).filter(|_| linked).ok_or_else(|| {
                locked(format!(
                    "entry {index} was altered{}",
                    if index == 0 { ", or its key is missing or another (PATH.key)" } else { "" }
                ))
            })?;
            entries.push((entry, hash.clone()));
            previous = hash;
        }
        let accounts = Accounts::replay(entries.iter().map(|(entry, _)| entry)).map_err(|at| {
            locked(if at == usize::MAX { "its entries do not add up".into() } else { format!("entry {at} is out of place") })
        })?;
        let mut session = Session { db, log, path: path.to_owned(), key, lines: entries, accounts, current: false, _turn: turn };
        session.current = session.hold_against(&head)?;
        if to == To::Write && !session.current {
            // Entries behind the head were written by a process that ended before it could answer: they count, and the
            // head follows as soon as they are certain.
            session.force_log()?;
            session.write_head(&session.head())?;
        }
        Ok(session)
    }

    /// Head and witness must be entries of this chain; are both the last?
    fn hold_against(&self, head: &Head) -> Result<bool, LedgerError> {
        if head.ledger != self.accounts.ledger {
            return Err(locked("its head file belongs to another ledger".into()));
        }
        self.contains(head, "its head file")?;
        let Some(witness) = &self.accounts.witness else { return Ok(self.head() == *head) };
        let witness = witness.read()?;
        self.contains(&witness, "its witness")?;
        Ok(self.head() == *head && self.head() == witness)
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
        self.accounts.witness.as_ref().map_or(Ok(()), |witness| witness.write(head))
    }

    /// Forces the log to the disk: entries in it are certain from here on.
    fn force_log(&self) -> Result<(), LedgerError> {
        let forced = self.log.as_ref().is_some_and(|log| log.sync_data().is_ok());
        if forced { Ok(()) } else { Err(self.poisoned()) }
    }

    fn poisoned(&self) -> LedgerError {
        poison(&self.path);
        LedgerError::Poisoned
    }

    fn failed(&self, e: rusqlite::Error) -> LedgerError {
        match e.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure) => self.poisoned(),
            _ => storage(e),
        }
    }

    /// Appends entries durably: into the log, forced to the disk, then into the head, forced to the disk. Other writers
    /// are kept out until both are there, so heads never run backwards, nor ahead of what is certain.
    ///
    /// # Errors
    /// Whatever failed; the entries may count all the same, but nobody was told that they do.
    pub fn append(mut self, entries: Vec<Entry>) -> Result<Session, LedgerError> {
        for entry in entries {
            let previous = self.lines.last().map_or("", |(_, hash)| hash.as_str());
            let index = self.lines.len() as u64;
            let body = entry.text();
            let hash = chain(self.key.as_ref(), previous, index, &body);
            let row = rusqlite::params![i64::try_from(index).unwrap_or(i64::MAX), body, hash];
            self.db.execute("INSERT INTO entries (idx, body, hash) VALUES (?1, ?2, ?3)", row).map_err(|e| self.failed(e))?;
            self.lines.push((entry, hash));
        }
        self.db.execute_batch("COMMIT").map_err(|e| self.failed(e))?;
        self.force_log()?;
        let entries = self.lines.iter().map(|(entry, _)| entry);
        self.accounts = Accounts::replay(entries).map_err(|_| locked("its entries do not add up".into()))?;
        self.write_head(&self.head())?;
        self.shorten_log()?;
        Ok(self)
    }

    /// Brings a long log into the file, unless a reader is in the way: then it is left to a later writer.
    fn shorten_log(&self) -> Result<(), LedgerError> {
        let length = self.log.as_ref().and_then(|log| log.metadata().ok()).map_or(0, |m| m.len());
        if length < LONG_LOG {
            return Ok(());
        }
        let shortened =
            self.db.busy_timeout(Duration::ZERO).and_then(|()| self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        shortened.map_err(|e| self.failed(e))
    }
}

/// Opens the file and begins a transaction. A writer gets the log beside it.
fn connect(path: &Path, to: To) -> Result<(Connection, Option<File>), LedgerError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags).map_err(storage)?;
    db.busy_timeout(WAIT).map_err(storage)?;
    // The log is forced to the disk by `force_log`, once an entry, and brought into the file by `shorten_log` alone, whose
    // failures are seen. What SQLite forces by itself is what keeps log and file whole.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(storage)?;
    db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON").map_err(storage)?;
    db.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(())).map_err(storage)?;
    if to == To::Read {
        db.execute_batch("BEGIN").map_err(storage)?;
        return Ok((db, None));
    }
    // A ledger of an earlier version has a journal in place of the log.
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(storage)?;
    if mode != "wal" {
        return Err(LedgerError::Busy);
    }
    db.execute_batch("BEGIN IMMEDIATE").map_err(storage)?;
    let log = File::open(beside(path, "-wal")).map_err(|_| LedgerError::Storage("its log cannot be opened (PATH-wal)".into()))?;
    Ok((db, Some(log)))
}

type Row = (i64, String, String);

fn read(db: &Connection) -> Result<Vec<Row>, LedgerError> {
    let damaged = |e: rusqlite::Error| match e.sqlite_error_code() {
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => locked("its file is damaged".into()),
        Some(_) => storage(e),
    };
    let text = |sql: &str| db.query_row(sql, [], |row| row.get::<_, String>(0)).map_err(damaged);
    let schema = text("SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || sql, ';') FROM sqlite_schema")?;
    if schema != format!("table entries entries {SCHEMA}") || !["wal", "delete"].contains(&text("PRAGMA journal_mode")?.as_str()) {
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
