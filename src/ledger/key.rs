//! The key of a ledger, which signs the records of its runs: an Ed25519 secret in a file that only its owner may read.

use super::entry::hex;
use super::error::LedgerError;
use super::head::{beside, private_file};
use crate::files;
use ed25519_dalek::{Signer, SigningKey};
use std::io::{Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// What a signature says of itself: the public key and the value, in hexadecimal.
pub struct Signature {
    pub key: String,
    pub value: String,
}

/// Makes the key of a new ledger and gives its public half in hexadecimal.
///
/// # Errors
/// Exists; Storage.
pub fn make(path: &Path) -> Result<String, LedgerError> {
    let mut secret = Zeroizing::new([0_u8; 32]);
    getrandom::fill(secret.as_mut()).map_err(|_| LedgerError::Storage("the system has no randomness".into()))?;
    let key = SigningKey::from_bytes(&secret);
    let text = Zeroizing::new(hex(secret.as_ref()));
    let mut file = private_file().create_new(true).open(beside(path, ".key")).map_err(|_| LedgerError::Exists)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|_| LedgerError::Storage("its key cannot be written (PATH.key)".into()))?;
    Ok(hex(key.verifying_key().as_bytes()))
}

/// Signs a text; `None` where the key of the ledger with this public half is not beside it.
pub fn sign(path: &Path, public: &str, text: &str) -> Option<Signature> {
    let mut secret = Zeroizing::new(String::with_capacity(65));
    files::open(&beside(path, ".key")).ok()?.take(65).read_to_string(&mut secret).ok()?;
    let mut bytes = Zeroizing::new([0_u8; 32]);
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(secret.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    let key = SigningKey::from_bytes(&bytes);
    let own = hex(key.verifying_key().as_bytes());
    (own == public && secret.len() == 64).then(|| Signature { key: own, value: hex(&key.sign(text.as_bytes()).to_bytes()) })
}
