//! The seal of a run's record: the ledger's key signs every character of it, and `verify` reads no other text.

use crate::json;
use crate::ledger::Signature;
use crate::verify::{Failure, seals};
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What is signed: this line and the digest of the record without its signature, every number as it is written.
pub fn text(record: &Value) -> String {
    let mut body = record.clone();
    if let Value::Object(map) = &mut body {
        map.shift_remove("signature");
    }
    let digest = Sha256::digest(body.to_string().as_bytes());
    format!("dpm record 1\n{}", digest.iter().map(|b| format!("{b:02x}")).collect::<String>())
}

/// The field of a record.
pub fn field(signature: &Signature) -> Value {
    json!({"algorithm": "ed25519", "key": signature.key, "value": signature.value})
}

/// A public key as the file that `--key` takes.
pub fn pem(hex: &str) -> Option<String> {
    let byte = |i: usize| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..32).map(byte).collect::<Option<_>>()?;
    let key = VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok()?;
    key.to_public_key_pem(LineEnding::LF).ok()
}

/// What does not hold of the seal of a record that has one, or with a key (PEM) should have one.
pub fn failures(file: &str, key: Option<&str>) -> Vec<Failure> {
    let fail = |text: &str| vec![Failure { path: "signature".into(), text: text.into() }];
    let Some(record) = json::read(file) else { return fail("the record is not JSON") };
    if record.get("signature").is_none_or(Value::is_null) && key.is_none() {
        return vec![];
    }
    if let Err(why) = seals(&record, &text(&record), key) {
        return fail(why);
    }
    // Blanks are not in the digest: there is one way to write a record, with blanks at its end.
    let written = serde_json::to_string_pretty(&record).unwrap_or_default();
    let rest = file.strip_prefix(&written).and_then(|rest| rest.strip_suffix('\n'));
    if rest.is_some_and(|rest| rest.bytes().all(|b| b == b' ')) { vec![] } else { fail("the record is not written as it was signed") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer, SigningKey};

    /// Every byte of a record changed in each of its bits (`DPM_LONG=1`; else one bit a byte): none is accepted under the key.
    #[test]
    fn no_altered_byte_is_accepted() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let mut record: Value = json!({
            "releases": {"p": 0.25, "n": -12345678901234567890_i128 as f64, "table": {"north": {"true": 3, "false": 1e-9}}},
            "outputs": {"a": [1, 2.5, 3e300], "b": "text \u{e9}", "c": null, "d": true},
            "certificate": {"digest": "ab", "budget": {"eps": "0.1"}},
            "ledger": {"index": 3, "head": "cd", "time": "2026-11-23T09:05:00Z"},
        });
        let signature = Signature { key: hex(key.verifying_key().as_bytes()), value: hex(&key.sign(text(&record).as_bytes()).to_bytes()) };
        record.as_object_mut().unwrap().insert("signature".into(), field(&signature));
        let good = serde_json::to_string_pretty(&record).unwrap() + "   \n";
        let own = pem(&signature.key).unwrap();
        assert!(failures(&good, None).is_empty() && failures(&good, Some(&own)).is_empty());
        let other = pem(&hex(SigningKey::from_bytes(&[8; 32]).verifying_key().as_bytes())).unwrap();
        assert!(!failures(&good, Some(&other)).is_empty());
        let bits = if std::env::var_os("DPM_LONG").is_some() { 0..8 } else { 0..1 };
        let mut tried = 0;
        for (at, bit) in (0..good.len()).flat_map(|at| bits.clone().map(move |bit| (at, bit))) {
            let mut bytes = good.clone().into_bytes();
            bytes[at] ^= 1 << ((at + bit) % 8);
            tried += 1;
            if let Ok(changed) = String::from_utf8(bytes) {
                assert!(!failures(&changed, Some(&own)).is_empty(), "byte {at}: {changed}");
            }
        }
        for changed in [
            good.replace("0.25", "0.250"),
            good.replace("  ", "   "),
            good.trim_end().to_owned(),
            format!("{good}\n"),
            good.replace(": ", ":"),
        ] {
            assert!(!failures(&changed, Some(&own)).is_empty(), "{changed}");
        }
        assert!(tried > 700, "{tried}");
    }
}
