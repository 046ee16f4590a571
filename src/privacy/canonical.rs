//! The canonical text of a JSON value, of which digests are taken.

use crate::numeric::decimal::decimal_string;
use serde_json::Value;

/// JSON with sorted keys, no spaces, and numbers as strings of decimal digits: what the digest is taken of.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            let fields: Vec<String> =
                entries.into_iter().map(|(key, v)| format!("{}:{}", Value::from(key.as_str()), canonical(v))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Number(n) => {
            let digits = n.as_i64().map(|i| i.to_string());
            let digits = digits.unwrap_or_else(|| n.as_f64().map_or("inf".into(), decimal_string));
            format!("\"{digits}\"")
        }
        other => other.to_string(),
    }
}
