//! Turns of writers: the system's lock on a file beside the ledger, which ends with its process, waited for within a bound.

use super::error::LedgerError;
use super::head::{beside, private_file};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps every other writer out until the file is dropped.
///
/// # Errors
/// Busy after the wait; Storage.
pub fn take(path: &Path, wait: Duration) -> Result<File, LedgerError> {
    let unusable = || LedgerError::Storage("its lock cannot be taken (PATH.lock)".into());
    let file = private_file().create(true).truncate(false).open(beside(path, ".lock")).map_err(|_| unusable())?;
    let (since, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < wait => std::thread::sleep(pause),
            Err(TryLockError::WouldBlock) => return Err(LedgerError::Busy),
            Err(TryLockError::Error(_)) => return Err(unusable()),
        }
        pause = (pause * 2).min(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_waited_for_within_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let short = Duration::from_millis(50);
        let held = take(&path, short).unwrap();
        assert!(matches!(take(&path, short), Err(LedgerError::Busy)));
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || take(&path, Duration::from_secs(60)).is_ok()
        });
        std::thread::sleep(short);
        drop(held);
        assert!(waiting.join().unwrap());
    }
}
