//! JSON as certificates, plans and records hold it: no key twice, and numbers as numbers or as strings.

use crate::json;
use serde_json::Value;

/// The value of a JSON text; `None` where it is malformed or an object repeats a key.
pub fn read(text: &str) -> Option<Value> {
    json::read(text).map(numbers)
}

/// Fields of certificates that hold a number or a list of numbers; those of `parameters` go by any name.
const NUMBERS: &str = "plan certificate max_rows at_least exactly release levels times rows sums parameters line column value pure \
                       bounded_range zcdp gdp max_order order delta epsilon rho mu eta total counts base items weight share shape rate step others";

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
