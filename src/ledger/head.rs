//! Files beside the ledger: the head, which remembers the last entry apart from the ledger, and the mark of a failed disk.

use super::error::LedgerError;
use crate::files::{self, Unopened};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const TITLE: &str = "dpm ledger head 1";
/// Endings of the files beside a ledger.
pub const BESIDE: [&str; 8] = [".head", ".head.new", ".key", ".lock", ".poisoned", "-journal", "-wal", "-shm"];
/// A head is shorter; anything longer was not written by this program.
pub const LONGEST: u64 = 1024;
/// Digits of a hash that are enough to tell entries apart: 64 bits.
pub const CODE: usize = 16;

/// The last entry a reservation or commit was answered for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    pub ledger: String,
    pub index: u64,
    pub hash: String,
}

impl Head {
    pub fn text(&self) -> String {
        format!("{TITLE}\n{}\n{}\n{}\n", self.ledger, self.index, self.hash)
    }

    pub fn parse(text: &str) -> Option<Head> {
        let mut lines = text.lines();
        (lines.next()? == TITLE).then_some(())?;
        let head = Head { ledger: lines.next()?.into(), index: lines.next()?.parse().ok()?, hash: lines.next()?.into() };
        (head.text() == text).then_some(head)
    }

    /// Reads the head of the ledger at `path`.
    ///
    /// # Errors
    /// Locked, where it is missing or not as it was written.
    pub fn read(path: &Path) -> Result<Head, LedgerError> {
        Head::read_file(&beside(path, ".head"), "its head file", "PATH.head")
    }

    /// Reads a head from a file, which messages call `what`, at `place`.
    pub fn read_file(file: &Path, what: &str, place: &str) -> Result<Head, LedgerError> {
        let locked = |why: &str| LedgerError::Locked(format!("{what} {why} ({place})"));
        let opened = files::open(file).map_err(|why| match why {
            Unopened::Missing if file.try_exists().is_ok_and(|there| !there) => locked("is missing"),
            Unopened::Missing => LedgerError::Storage(format!("{what} cannot be opened ({place})")),
            Unopened::Irregular => locked("is not a regular file"),
        })?;
        let mut text = String::new();
        opened.take(LONGEST).read_to_string(&mut text).map_err(|_| locked("cannot be read"))?;
        Head::parse(&text).ok_or_else(|| locked("is damaged"))
    }

    /// Writes the head of the ledger at `path`.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        self.write_file(&beside(path, ".head"))
    }

    /// Writes the head: a new file, forced to the disk, then put in the place of the old one. The exchange itself need not be
    /// certain: a disk that lost it has the old head, which is behind and not wrong.
    pub fn write_file(&self, at: &Path) -> io::Result<()> {
        let new = beside(at, ".new");
        let mut file = private_file().create(true).truncate(true).open(&new)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&new, at)
    }

    /// A short name of the head, to be kept on paper: the number of its entry and the first digits of its hash.
    pub fn code(&self) -> String {
        format!("{}:{}", self.index, self.hash.get(..CODE).unwrap_or(&self.hash))
    }
}

fn begins(file: &Path, with: &[u8]) -> bool {
    let mut start = vec![0; with.len()];
    file.is_file() && File::open(file).and_then(|mut f| f.read_exact(&mut start)).is_ok() && start == with
}

pub fn is_database(file: &Path) -> bool {
    begins(file, b"SQLite format 3\0")
}

/// Is this file a ledger, or the place of a file beside one? No ledger has to be named for it to be found out.
pub fn is_of_a_ledger(path: &Path) -> bool {
    let before = |ending: &&str| path.to_str().and_then(|p| p.strip_suffix(ending)).is_some_and(|p| is_database(Path::new(p)));
    is_database(path) || begins(path, TITLE.as_bytes()) || BESIDE.iter().any(before)
}

/// `PATH` with an ending behind its whole name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(ending);
    name.into()
}

/// Options of a file that only its owner may read.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes new names in the folder of `path` durable.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// After a failed write nobody knows what the disk holds: no process uses the ledger until its owner has looked.
pub fn poison(path: &Path) {
    let mark = private_file().create(true).truncate(true).open(beside(path, ".poisoned"));
    if let Ok(file) = mark {
        let _ = file.sync_all();
    }
    let _ = sync_folder(path);
}

pub fn is_poisoned(path: &Path) -> bool {
    // Where even this cannot be found out, the ledger is not used.
    beside(path, ".poisoned").try_exists().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_reads_back_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let head = Head { ledger: "ab".into(), index: 7, hash: "cd".into() };
        assert!(matches!(Head::read(&path), Err(LedgerError::Locked(_))));
        head.write(&path).unwrap();
        assert_eq!(Head::read(&path), Ok(head.clone()));
        let text = head.text();
        for end in 0..text.len() {
            fs::write(beside(&path, ".head"), &text[..end]).unwrap();
            assert!(matches!(Head::read(&path), Err(LedgerError::Locked(_))), "{end}");
        }
    }
}
