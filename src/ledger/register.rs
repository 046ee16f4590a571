//! Registered data sets: what can be registered, the commitment to a file, and the one way to its bytes.

use super::budget::Budget;
use super::entry::{Declaration, Registration};
use super::error::LedgerError;
use super::hex::{hex, random_hex};
use crate::files;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// What an owner registers.
#[derive(Clone, Debug)]
pub struct NewDataset {
    /// Letters, digits, `_` and `-`; at most 64.
    pub id: String,
    pub file: PathBuf,
    pub declaration: Declaration,
    /// As the language writes budgets.
    pub budget: String,
    /// May others on the machine read the file?
    pub shared: bool,
}

impl NewDataset {
    /// Reads the file once and makes the entry.
    ///
    /// # Errors
    /// Invalid, with what cannot be registered and why.
    pub fn register(&self) -> Result<Registration, LedgerError> {
        let id_fits = (1..=64).contains(&self.id.len()) && self.id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        if !id_fits {
            return invalid(format!("`{}` is not a name of a data set: letters, digits, `_` and `-`, at most 64", self.id));
        }
        let Some(budget) = Budget::parse(&self.budget) else {
            return invalid(format!(
                "`{}` is not a budget: eps(1), dp(eps = 1, delta = 1e-6), zcdp(0.5), gdp(1), rdp(order = 8, eps = 0.5)",
                self.budget
            ));
        };
        let missing = || LedgerError::Invalid(format!("the file of `{}` cannot be read", self.id));
        if self.file.is_dir() {
            return invalid(format!("`{}` is a folder: a data set is one file, of which the ledger has the digest", self.id));
        }
        let location = self.file.canonicalize().ok().filter(|f| f.is_file()).ok_or_else(missing)?;
        if !self.shared && open_to_others(&location) {
            return invalid(format!(
                "others on this machine may read the file of `{}`, past any ledger: chmod 600 FILE, or --shared if that is meant",
                self.id
            ));
        }
        let location_text = location.to_str().ok_or_else(missing)?.to_owned();
        let salt = random_hex::<32>().ok_or_else(|| LedgerError::Storage("the system has no randomness".into()))?;
        let commitment = files::open(&location).ok().and_then(|mut f| commitment(&salt, &mut f).ok()).ok_or_else(missing)?;
        Ok(Registration {
            id: self.id.clone(),
            declaration: Some(self.declaration.clone()),
            relation: None,
            unit: None,
            budget: budget.to_string(),
            location: location_text,
            salt,
            commitment,
        })
    }
}

fn open_to_others(file: &Path) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|m| std::os::unix::fs::MetadataExt::mode(&m) & 0o044 != 0);
    #[cfg(not(unix))]
    return false;
}

fn invalid<T>(why: String) -> Result<T, LedgerError> {
    Err(LedgerError::Invalid(why))
}

/// SHA-256 over the salt and the SHA-256 of the salt and the bytes: without the salt it says nothing about a small file.
fn commitment(salt: &str, input: &mut dyn Read) -> io::Result<String> {
    let mut inner = Sha256::new();
    inner.update(salt);
    let mut buffer = Zeroizing::new(vec![0_u8; 1 << 16]);
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        inner.update(buffer.get(..read).unwrap_or(&[]));
    }
    let mut outer = Sha256::new();
    outer.update(salt);
    outer.update(inner.finalize());
    Ok(hex(&outer.finalize()))
}

impl Registration {
    /// Does this file hold the registered bytes?
    pub fn holds(&self, file: &Path) -> bool {
        let found = files::open(file).ok().and_then(|mut f| commitment(&self.salt, &mut f).ok());
        found.is_some_and(|c| c == self.commitment)
    }
}

/// The bytes of a registered file, read once and held in memory; they are wiped when the run ends.
#[derive(Clone)]
pub struct Bytes(Arc<Zeroizing<Vec<u8>>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Opens the registered file and checks the very bytes that will be used.
///
/// # Errors
/// Storage where it cannot be read; Changed where the bytes are not the registered ones.
pub fn read_registered(registration: &Registration) -> Result<Bytes, LedgerError> {
    let unreadable = || LedgerError::Storage(format!("the file of `{}` cannot be read; the run is charged", registration.id));
    let mut file = files::open(Path::new(&registration.location)).map_err(|_| unreadable())?;
    let size = file.metadata().map_err(|_| unreadable())?.len();
    // Room for all of it at once: a vector that grows would leave copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1)));
    file.read_to_end(&mut bytes).map_err(|_| unreadable())?;
    let found = commitment(&registration.salt, &mut bytes.as_slice()).map_err(|_| unreadable())?;
    if found != registration.commitment {
        return Err(LedgerError::Changed(registration.id.clone()));
    }
    Ok(Bytes(Arc::new(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commitment_binds_every_byte_and_the_salt() {
        let of = |salt: &str, bytes: &[u8]| commitment(salt, &mut &*bytes).unwrap();
        let base = of("s", b"x\n1\n");
        assert_eq!(base, of("s", b"x\n1\n"));
        for (salt, bytes) in [("t", &b"x\n1\n"[..]), ("s", b"x\n2\n"), ("s", b"x\n1"), ("s", b"x\n1\n\n"), ("s", b"")] {
            assert_ne!(base, of(salt, bytes));
        }
    }
}
