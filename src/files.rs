//! Opening files to read: whatever stands at a path, opening it never waits.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// Why a file was not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unopened {
    /// Nothing is there that may be read, or a folder.
    Missing,
    /// A pipe, a device: reading it may never end.
    Irregular,
}

/// Opens a regular file.
pub fn open(path: &Path) -> Result<File, Unopened> {
    match open_or_pipe(path)? {
        (file, false) => Ok(file),
        (_, true) => Err(Unopened::Irregular),
    }
}

/// Opens a regular file, or a pipe (`true`): reading that waits for processes that have it open for writing, and ends at
/// once where there are none.
pub fn open_or_pipe(path: &Path) -> Result<(File, bool), Unopened> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(|_| Unopened::Missing)?;
    let kind = file.metadata().map_err(|_| Unopened::Missing)?.file_type();
    if kind.is_dir() {
        return Err(Unopened::Missing);
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
        // Only opening must not wait: reads of a pipe do.
        let waits = rustix::fs::fcntl_getfl(&file).and_then(|f| rustix::fs::fcntl_setfl(&file, f - rustix::fs::OFlags::NONBLOCK));
        return waits.map(|()| (file, true)).map_err(|_| Unopened::Missing);
    }
    if kind.is_file() { Ok((file, false)) } else { Err(Unopened::Irregular) }
}
