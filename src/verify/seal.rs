//! The seal of a certificate: the canonical text, its digest, the signature over it.

use ed25519_dalek::pkcs8::DecodePublicKey;
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Sorted keys, and numbers as texts of their shortest decimals.
fn canonical(v: &Value) -> Value {
    match v {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            sorted.into_iter().map(|(key, v)| (key.clone(), canonical(v))).collect()
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Number(n) => {
            let x = n.as_f64().unwrap_or(f64::INFINITY);
            Value::from(match n.as_i64() {
                Some(i) => i.to_string(),
                None if x == 0.0 => "0".into(),
                None if x.is_infinite() || (1e-5..1e16).contains(&x.abs()) => format!("{x}"),
                None => format!("{x:e}"),
            })
        }
        other => other.clone(),
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The digest of a certificate: of everything but digest and signature.
pub fn digest(certificate: &Value) -> String {
    let mut body = certificate.clone();
    if let Value::Object(map) = &mut body {
        map.shift_remove("digest");
        map.shift_remove("signature");
    }
    sha256(canonical(&body).to_string().as_bytes())
}

/// What is signed: this line and the digest in hex.
pub fn signed_text(digest: &str) -> String {
    format!("dpm certificate 1\n{digest}")
}

/// Of a certificate: [`seals`] over [`signed_text`].
pub fn signature(certificate: &Value, key: Option<&str>) -> Result<(), &'static str> {
    seals(certificate, &signed_text(&digest(certificate)), key)
}

/// The field `signature` is null, or `{"algorithm": "ed25519", "key", "value"}` in hex over a text; with a key (PEM) it must be by it.
pub fn seals(file: &Value, signed: &str, key: Option<&str>) -> Result<(), &'static str> {
    let wanted = key.map(VerifyingKey::from_public_key_pem).transpose().map_err(|_| "the key is not an Ed25519 public key in PEM")?;
    let Some(map) = file.get("signature").and_then(Value::as_object) else {
        let null = file.get("signature").is_some_and(Value::is_null);
        return if null && wanted.is_none() { Ok(()) } else { Err("it is not signed") };
    };
    let text = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default();
    // Digits have one spelling: `+f` and `0F` are not bytes.
    let spelt = |name: &str| text(name).bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if map.len() != 3 || text("algorithm") != "ed25519" || !spelt("key") || !spelt("value") {
        return Err("the signature has other fields than algorithm, key and value");
    }
    let bytes = |name: &str| -> Option<Vec<u8>> {
        let pair = |i: usize| u8::from_str_radix(text(name).get(2 * i..2 * i + 2)?, 16).ok();
        (0..text(name).len().div_ceil(2)).map(pair).collect()
    };
    let own =
        bytes("key").and_then(|b| VerifyingKey::from_bytes(&b.try_into().ok()?).ok()).ok_or("the key in the signature is not a key")?;
    let value = bytes("value").and_then(|b| Signature::from_slice(&b).ok()).ok_or("the signature is malformed")?;
    if wanted.is_some_and(|w| w != own) {
        return Err("it is signed by another key");
    }
    own.verify_strict(signed.as_bytes(), &value).map_err(|_| "the signature does not fit")
}
