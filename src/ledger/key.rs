//! The key of a ledger, in a file that only its owner may read: an Ed25519 secret, which signs the records of its runs and keys the
//! chain of its entries.

use super::error::LedgerError;
use super::head::{beside, private_file};
use super::hex::hex;
use crate::files::{self, Unopened};
use ed25519_dalek::{Signer, SigningKey};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// What a signature says of itself: the public key and the value, in hexadecimal.
pub struct Signature {
    pub key: String,
    pub value: String,
}

/// What a key begins with that also keys the chain; one of an earlier version is digits alone. All in one line: read as a table it has no row.
const TITLE: &str = "dpm ledger key 2 ";

/// What the hashes of a ledger are made with.
pub struct ChainKey(Zeroizing<[u8; 32]>);

impl ChainKey {
    pub fn of(secret: &[u8; 32]) -> ChainKey {
        let mut digest = Sha256::new();
        digest.update("dpm ledger chain\n");
        digest.update(secret);
        ChainKey(Zeroizing::new(digest.finalize().into()))
    }

    /// HMAC-SHA256 (RFC 2104).
    pub fn authenticate(&self, text: &str) -> [u8; 32] {
        let part = |pad: u8, text: &[u8]| -> [u8; 32] {
            let block: Zeroizing<Vec<u8>> = Zeroizing::new(self.0.iter().chain(&[0; 32]).map(|b| b ^ pad).collect());
            let mut digest = Sha256::new();
            digest.update(block.as_slice());
            digest.update(text);
            digest.finalize().into()
        };
        part(0x5c, &part(0x36, text.as_bytes()))
    }
}

/// Makes the key of a new ledger and gives its public half in hexadecimal.
///
/// # Errors
/// Exists; Storage.
pub fn make(path: &Path) -> Result<String, LedgerError> {
    let mut secret = Zeroizing::new([0_u8; 32]);
    getrandom::fill(secret.as_mut()).map_err(|_| LedgerError::Storage("the system has no randomness".into()))?;
    let key = SigningKey::from_bytes(&secret);
    let text = Zeroizing::new(format!("{TITLE}{}\n", hex(secret.as_ref())));
    let mut file = private_file().create_new(true).open(beside(path, ".key")).map_err(|_| LedgerError::Exists)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|_| LedgerError::Storage("its key cannot be written (PATH.key)".into()))?;
    Ok(hex(key.verifying_key().as_bytes()))
}

/// The secret, and does it key the chain?
type Secret = (Zeroizing<[u8; 32]>, bool);

/// The secret of a ledger; `None` where there is no file.
///
/// # Errors
/// Locked, where it is not as it was written; Storage.
fn read(path: &Path) -> Result<Option<Secret>, LedgerError> {
    let file = match files::open(&beside(path, ".key")) {
        Ok(file) => file,
        Err(Unopened::Missing) if beside(path, ".key").try_exists().is_ok_and(|there| !there) => return Ok(None),
        Err(_) => return Err(LedgerError::Storage("its key cannot be opened (PATH.key)".into())),
    };
    let mut text = Zeroizing::new(String::with_capacity(128));
    let damaged = || LedgerError::Locked("its key is damaged (PATH.key)".into());
    file.take(127).read_to_string(&mut text).map_err(|_| damaged())?;
    let keyed = text.strip_prefix(TITLE).and_then(|rest| rest.strip_suffix('\n'));
    let digits = keyed.unwrap_or(&text);
    let mut bytes = Zeroizing::new([0_u8; 32]);
    for (i, byte) in bytes.iter_mut().enumerate() {
        let pair = digits.get(2 * i..2 * i + 2).filter(|p| p.bytes().all(|b| b.is_ascii_hexdigit()));
        *byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or_else(damaged)?;
    }
    if digits.len() == 64 { Ok(Some((bytes, keyed.is_some()))) } else { Err(damaged()) }
}

/// What the chain of the ledger at `path` is made with; `None` for one of an earlier version.
///
/// # Errors
/// As [`read`].
pub fn of_chain(path: &Path) -> Result<Option<ChainKey>, LedgerError> {
    Ok(read(path)?.filter(|(_, keyed)| *keyed).map(|(secret, _)| ChainKey::of(&secret)))
}

/// Signs a text; `None` where the key of the ledger with this public half is not beside it.
pub fn sign(path: &Path, public: &str, text: &str) -> Option<Signature> {
    let (secret, _) = read(path).ok()??;
    let key = SigningKey::from_bytes(&secret);
    let own = hex(key.verifying_key().as_bytes());
    (own == public).then(|| Signature { key: own, value: hex(&key.sign(text.as_bytes()).to_bytes()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 2 of RFC 4231, whose key is shorter: the pads do not depend on how a key was made.
    #[test]
    fn the_code_is_that_of_the_standard() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let code = ChainKey(Zeroizing::new(key)).authenticate("what do ya want for nothing?");
        assert_eq!(hex(&code), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
