//! The form of a certificate: the exact set of fields and their types, the canonical text, digest and signature.

use ed25519_dalek::pkcs8::DecodePublicKey;
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Every field and its type: string, number, bound (a number or "inf"), truth, object, list, anything; `?` allows null.
const FIELDS: &str = "certificate:n dpm:s rulebook:s program:o program.file:s program.sha256:s program.source:s program.normal_form:s \
 tables:l tables.name:s tables.relation:s tables.unit:o tables.unit.key:s? tables.unit.max_rows:n tables.rows:o tables.rows.public:t \
 tables.rows.at_least:n tables.rows.exactly:n? tables.rows.name:s? tables.columns:l tables.columns.name:s tables.columns.type:s \
 tables.columns.public:t public:o public.tables:l public.tables.name:s public.tables.columns:l public.tables.columns.name:s \
 public.tables.columns.type:s public.tables.columns.public:t public.scalars:l public.scalars.name:s public.scalars.type:s \
 public.scalars.value:n? steps:l steps!:a releases:l releases.name:s releases.query:s releases.type:s releases.public_totals:l \
 releases.public_totals.rows:n releases.public_totals.sums:l releases.public_totals.sums!:n releases.mechanism:s releases.rule:s \
 releases.parameters:a releases.premises:l releases.premises.text:s releases.premises.holds:t releases.premises.line:n? \
 releases.premises.column:n? releases.claim:a releases.status:s releases.sampler:o releases.sampler.name:s releases.sampler.arguments:o \
 releases.profile:o releases.predicted_error:o releases.predicted_error.measure:s releases.predicted_error.value:n total:o \
 total.status:s total.claim:a total.profile:o budget:a assumptions:l assumptions!:s digest:s signature:a";
const PROFILE: &str = "pure:n? bounded_range:n? zcdp:n? gdp:n? max_order:n? rdp:l rdp.order:n rdp.epsilon:b dp:l dp.delta:n dp.epsilon:b";

/// Calls `fail` with the path of every field that is missing, unknown or of another type.
pub fn check(value: &Value, fail: &mut dyn FnMut(&str, String)) {
    let mut all: Vec<(String, &str)> =
        FIELDS.split_whitespace().filter_map(|f| f.split_once(':')).map(|(p, k)| (p.to_owned(), k)).collect();
    for at in ["releases", "total"] {
        all.extend(PROFILE.split_whitespace().filter_map(|f| f.split_once(':')).map(|(p, k)| (format!("{at}.profile.{p}"), k)));
    }
    object(value, "", "", &all, fail);
}

fn object(value: &Value, path: &str, pattern: &str, all: &[(String, &str)], fail: &mut dyn FnMut(&str, String)) {
    let prefix = if pattern.is_empty() { String::new() } else { format!("{pattern}.") };
    let fields = || all.iter().filter_map(|(p, k)| Some((p.strip_prefix(&prefix)?, *k))).filter(|(p, _)| !p.contains(['.', '!']));
    let Value::Object(map) = value else { return fail(path, "must be an object".into()) };
    for key in map.keys().filter(|k| !fields().any(|(f, _)| f == *k)) {
        fail(path, format!("unknown field `{key}`"));
    }
    for (field, kind) in fields() {
        match map.get(field) {
            None => fail(path, format!("the field `{field}` is missing")),
            Some(v) => node(v, &join(path, field), &format!("{prefix}{field}"), kind, all, fail),
        }
    }
}

fn node(v: &Value, path: &str, pattern: &str, kind: &str, all: &[(String, &str)], fail: &mut dyn FnMut(&str, String)) {
    let optional = kind.ends_with('?') && v.is_null();
    let fits = match kind.trim_end_matches('?') {
        "s" => v.is_string(),
        "n" => number(v).is_some_and(f64::is_finite),
        "b" => number(v).is_some_and(|x| x >= 0.0),
        "t" => v.is_boolean(),
        "o" => v.is_object(),
        "l" => v.is_array(),
        _ => true,
    };
    if !fits && !optional {
        return fail(path, "has another type".into());
    }
    match (kind, v) {
        ("o", v) => object(v, path, pattern, all, fail),
        ("l", Value::Array(items)) => {
            let each = all.iter().find(|(p, _)| *p == format!("{pattern}!")).map(|(_, k)| *k);
            for (i, item) in items.iter().enumerate() {
                let at = format!("{path}[{i}]");
                match each {
                    Some(kind) => node(item, &at, &format!("{pattern}!"), kind, all, fail),
                    // A total that is not bound is null.
                    None if item.is_null() && pattern.ends_with("public_totals") => {}
                    None => object(item, &at, pattern, all, fail),
                }
            }
        }
        _ => {}
    }
}

pub fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// A JSON number; the string "inf" is infinite.
pub fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Number(n) => n.as_f64().or_else(|| n.to_string().parse().ok()),
        Value::String(s) if s == "inf" => Some(f64::INFINITY),
        _ => None,
    }
}

/// Sorted keys, no spaces, numbers as strings of their shortest decimals.
pub fn canonical(v: &Value, out: &mut String) {
    match v {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|e| e.0);
            out.push('{');
            for (i, (key, v)) in entries.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str(&format!("{}:", Value::from(key.as_str())));
                canonical(v, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, v) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                canonical(v, out);
            }
            out.push(']');
        }
        Value::Number(n) => {
            let x = n.as_f64().unwrap_or(f64::INFINITY);
            let text = match n.as_i64() {
                Some(i) => i.to_string(),
                None if x == 0.0 => "0".into(),
                None if x.is_infinite() || (1e-5..1e16).contains(&x.abs()) => format!("{x}"),
                None => format!("{x:e}"),
            };
            out.push_str(&format!("\"{text}\""));
        }
        other => out.push_str(&other.to_string()),
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
    let mut text = String::new();
    canonical(&body, &mut text);
    sha256(text.as_bytes())
}

/// What is signed: this line and the digest in hex.
pub fn signed_text(digest: &str) -> String {
    format!("dpm certificate 1\n{digest}")
}

/// The signature is null, or `{"algorithm": "ed25519", "key", "value"}` in hex over [`signed_text`]; with a key (PEM) it must be by it.
pub fn signature(certificate: &Value, key: Option<&str>) -> Result<(), String> {
    let wanted = match key {
        Some(pem) => Some(VerifyingKey::from_public_key_pem(pem).map_err(|_| "the key is no Ed25519 public key in PEM")?),
        None => None,
    };
    let Some(Value::Object(map)) = certificate.get("signature").filter(|s| !s.is_null()) else {
        let null = certificate.get("signature").is_some_and(Value::is_null);
        return if null && wanted.is_none() { Ok(()) } else { Err("the certificate is not signed".into()) };
    };
    let text = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default();
    if map.len() != 3 || text("algorithm") != "ed25519" {
        return Err("the signature has other fields than algorithm, key and value".into());
    }
    let bytes = |name: &str| -> Option<Vec<u8>> {
        let hex = text(name);
        (0..hex.len() / 2).map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok()).collect()
    };
    let own = bytes("key").and_then(|b| VerifyingKey::from_bytes(&b.try_into().ok()?).ok()).ok_or("the key in the signature is no key")?;
    let value = bytes("value").and_then(|b| Signature::from_slice(&b).ok()).ok_or("the signature is malformed")?;
    if wanted.is_some_and(|w| w != own) {
        return Err("the certificate is signed by another key".into());
    }
    own.verify_strict(signed_text(&digest(certificate)).as_bytes(), &value).map_err(|_| "the signature does not fit".into())
}
