//! The head kept a second time, elsewhere: in a file, or by a command of the owner's.

use super::error::LedgerError;
use super::head::{Head, LONGEST};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest wait for the command.
const WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub location: String,
    /// `LOCATION put` keeps the head on its standard input, `LOCATION get` prints the one it was given last.
    pub command: bool,
}

impl Witness {
    /// The head that was kept last.
    ///
    /// # Errors
    /// Locked or Storage.
    pub fn read(&self) -> Result<Head, LedgerError> {
        if !self.command {
            return Head::read_file(Path::new(&self.location), "its witness", &self.location);
        }
        let said = self.call("get", b"").ok_or_else(|| LedgerError::Storage(format!("its witness does not answer ({})", self.location)))?;
        let head = std::str::from_utf8(&said).ok().and_then(Head::parse);
        head.ok_or_else(|| LedgerError::Locked(format!("what its witness gives back is not a head ({})", self.location)))
    }

    /// Keeps a head. A witness that cannot be written is behind, not wrong: the next opening tries again.
    ///
    /// # Errors
    /// Storage.
    pub fn write(&self, head: &Head) -> Result<(), LedgerError> {
        let kept = if self.command {
            self.call("put", head.text().as_bytes()).is_some()
        } else {
            head.write_file(Path::new(&self.location)).is_ok()
        };
        if kept { Ok(()) } else { Err(LedgerError::Storage(format!("its witness cannot be written ({})", self.location))) }
    }

    /// What the command printed; `None` where it failed, or took too long. A head is shorter than what a pipe holds.
    fn call(&self, what: &str, input: &[u8]) -> Option<Vec<u8>> {
        let mut command = Command::new(&self.location);
        let mut child = command.arg(what).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        // One that reads nothing is judged by how it ends.
        let _ = child.stdin.take()?.write_all(input);
        let since = Instant::now();
        loop {
            match child.try_wait().ok()? {
                Some(status) if !status.success() => return None,
                Some(_) => break,
                None if since.elapsed() < WAIT => std::thread::sleep(Duration::from_millis(2)),
                None => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        }
        let mut said = vec![];
        child.stdout.take()?.take(LONGEST).read_to_end(&mut said).ok()?;
        Some(said)
    }
}
