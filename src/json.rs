//! JSON text whose objects have no key twice: readers disagree about which of the two counts.

use serde_json::Value;
use std::collections::BTreeSet;

/// The value of a JSON text; `None` where it is malformed or an object repeats a key.
pub fn read(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    (!repeats(text)).then_some(value)
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
