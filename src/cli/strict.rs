//! JSON as certificates, plans and records hold it: no key twice, since readers disagree about which of the two counts, and
//! numbers as numbers or as strings.

use serde_json::Value;
use std::collections::BTreeSet;

/// The value of a JSON text; `None` where it is malformed or an object repeats a key.
pub fn read(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    (!repeats(text)).then(|| numbers(value))
}

/// Fields of certificates that hold a number or a list of numbers; those of `parameters` go by any name.
const NUMBERS: &str = "plan certificate max_rows at_least exactly release levels times rows sums parameters line column value pure \
                       bounded_range zcdp gdp max_order order delta epsilon rho mu eta total counts base items weight share";

/// The same with numbers that were written as strings as numbers. Outside of certificates strings stay: they are values as
/// they were typed, and names.
pub fn numbers(file: Value) -> Value {
    let wrapped = file.get("certificate").is_some_and(Value::is_object);
    match file {
        Value::Object(map) if wrapped => {
            let inside = |(key, v): (String, Value)| match key.as_str() {
                "plan" | "certificate" => (key.clone(), field(&key, v)),
                // Decisions of a plan; in the record of a run these are values by name.
                "releases" if v.is_array() => (key, field("", v)),
                _ => (key, v),
            };
            map.into_iter().map(inside).collect()
        }
        file => field("", file),
    }
}

fn field(key: &str, v: Value) -> Value {
    match v {
        Value::String(s) if NUMBERS.split(' ').any(|name| name == key) => serde_json::from_str(&s).map_or(Value::String(s), Value::Number),
        Value::Array(list) => list.into_iter().map(|v| field(key, v)).collect(),
        Value::Object(map) if key != "signature" => {
            let name = |inner: &str| if key == "parameters" { key.to_owned() } else { inner.to_owned() };
            map.into_iter().map(|(inner, v)| (inner.clone(), field(&name(&inner), v))).collect()
        }
        other => other,
    }
}

/// Does any object of this well-formed text have a key twice?
fn repeats(text: &str) -> bool {
    // The keys of every open object; nothing for an open array.
    let mut open: Vec<Option<BTreeSet<String>>> = vec![];
    let mut rest = text;
    while let Some(at) = rest.find(['"', '{', '}', '[', ']']) {
        let (sign, after) = rest.split_at(at).1.split_at(1);
        rest = after;
        match sign {
            "{" => open.push(Some(BTreeSet::new())),
            "[" => open.push(None),
            "}" | "]" => drop(open.pop()),
            _ => {
                let end = closing(rest);
                let (inner, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                rest = after.get(1..).unwrap_or_default();
                let key = rest.trim_start().starts_with(':');
                if let (true, Some(Some(keys))) = (key, open.last_mut()) {
                    // Escapes may write one key in two ways.
                    let key = serde_json::from_str(&format!("\"{inner}\"")).unwrap_or_else(|_| inner.to_owned());
                    if !keys.insert(key) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Where a string ends that begins here.
fn closing(text: &str) -> usize {
    let mut escaped = false;
    let quote = text.bytes().position(|b| {
        let closes = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    });
    quote.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_key_stands_once_in_its_object() {
        for good in [r#"{"a": {"a": 1}, "b": ["a", "a", {"a": "a\"b"}]}"#, "[]", r#""{\"a\":1,\"a\":2}""#] {
            assert!(read(good).is_some(), "{good}");
        }
        for bad in [r#"{"a": 1, "a": 1}"#, r#"[{"x": {"a": 1, "b": 2, "\u0061": 3}}]"#, r#"{"a": 1"#] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }
}
