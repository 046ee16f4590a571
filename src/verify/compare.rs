//! Two certificates field by field: what is stated against what was computed.

use super::ABOVE;
use super::facts::number;
use serde_json::Value;

/// Calls `fail` for every field that is missing, unknown, of another type or of another value. `key` is the name of the
/// field, which says on which side of the truth a number may lie.
pub fn compare(again: &Value, stated: &Value, path: &str, key: &str, fail: &mut dyn FnMut(String, String)) {
    match (again, stated) {
        (Value::Object(a), Value::Object(b)) => {
            for name in b.keys().filter(|name| !a.contains_key(*name)) {
                fail(path.to_owned(), format!("unknown field `{name}`"));
            }
            for (name, value) in a {
                let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match b.get(name) {
                    Some(found) => compare(value, found, &inner, name, fail),
                    None => fail(path.to_owned(), format!("the field `{name}` is missing")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                compare(x, y, &format!("{path}[{i}]"), key, fail);
            }
        }
        (Value::Number(_), Value::Number(_)) => {
            let (Some(x), Some(y)) = (number(again), number(stated)) else { return fail(path.to_owned(), "is not a number".into()) };
            let fits = match key {
                "max_order" => y <= x && y >= x * (1.0 - ABOVE),
                "epsilon" | "share" | "mu" | "eta" | "rho" | "pure" | "bounded_range" | "zcdp" | "gdp" => {
                    x <= y && y <= x * (1.0 + ABOVE) + 1e-300
                }
                "parameters" | "total" | "counts" | "count" | "kept" | "base" | "weight" | "shape" | "rate" | "step" | "others" => {
                    (x - y).abs() <= 1e-9 * x.abs()
                }
                _ => x == y,
            };
            if !fits {
                fail(path.to_owned(), format!("{y} against {x}"));
            }
        }
        _ if again != stated => {
            fail(path.to_owned(), format!("is not {}", again["wanted"].as_str().map_or(again.to_string(), str::to_owned)))
        }
        _ => {}
    }
}
