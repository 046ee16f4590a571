//! Drawn components in the shape of the released type, and values as JSON and text.

use super::posterior::Posterior;
use super::value::Value;
use crate::mechanism::{Number, Released};
use crate::model::{Axis, Type, VectorType};
use crate::numeric::calendar;
use serde_json::{Value as Json, json};

/// The draws of one release as one value of its type.
pub fn shape(ty: &Type, draws: &[Released]) -> Option<Value> {
    match draws {
        [one] => part(ty, &mut one.components.iter().copied()),
        many if many.iter().all(|d| d.components.len() == 1) => {
            Some(Value::GridVector(many.iter().filter_map(|d| d.components.first().copied()).collect()))
        }
        many => Some(Value::Matrix(many.iter().map(Released::to_f64).collect())),
    }
}

fn part(ty: &Type, from: &mut dyn Iterator<Item = Number>) -> Option<Value> {
    match ty {
        Type::Record(parts) => {
            let parts: Option<Vec<(String, Value)>> = parts.iter().map(|(n, t)| part(t, from).map(|v| (n.clone(), v))).collect();
            parts.map(Value::Record)
        }
        Type::Vector(v) => Some(Value::GridVector(from.take(v.dim as usize).collect())),
        Type::Matrix { rows, columns, .. } => {
            let row = |from: &mut dyn Iterator<Item = Number>| from.take(*columns as usize).map(|n| n.to_f64()).collect();
            Some(Value::Matrix((0..*rows).map(|_| row(&mut *from)).collect()))
        }
        Type::Simplex { dim, .. } => Some(Value::GridVector(from.take(*dim as usize).collect())),
        _ => from.next().map(Value::Grid),
    }
}

/// A value as JSON: vectors are arrays, level-indexed vectors objects, grid numbers keep their fixed digits.
pub fn json(value: &Value, ty: &Type) -> Json {
    let levels = ty.levels();
    let axes = if let Type::Vector(v) = ty { v.axes.as_ref() } else { None };
    let keyed = |items: Vec<Json>| match levels {
        Some(l) if l.len() == items.len() && axes.is_some() => nested(axes.map_or(&[], |a| a.as_slice()), &mut items.into_iter()),
        Some(l) if l.len() == items.len() => Json::Object(l.iter().cloned().zip(items).collect()),
        _ => Json::Array(items),
    };
    match value {
        // The day that it lies in; no text of a day is longer than another.
        Value::Number(_) | Value::Grid(_) if matches!(ty, Type::Date(_)) => json!(calendar::text(value.as_number().unwrap_or(0.0))),
        Value::Number(x) => number(*x),
        Value::Grid(n) => grid(*n),
        Value::Bool(b) => json!(b),
        Value::Text(s) => json!(s),
        Value::Vector(v) => keyed(v.iter().map(|x| number(*x)).collect()),
        Value::GridVector(v) => keyed(v.iter().map(|n| grid(*n)).collect()),
        Value::Matrix(rows) => keyed(rows.iter().map(|r| Json::Array(r.iter().map(|x| number(*x)).collect())).collect()),
        Value::Posterior(p) => posterior(p, ty),
        Value::Record(parts) => {
            let types: Vec<Type> = match ty {
                Type::Record(types) => types.iter().map(|(_, t)| t.clone()).collect(),
                _ => vec![],
            };
            let parts = parts.iter().enumerate().map(|(i, (n, v))| (n.clone(), json(v, types.get(i).unwrap_or(ty))));
            Json::Object(parts.collect())
        }
    }
}

/// A closed posterior of several numbers says what they are called, after its parameters.
fn posterior(p: &Posterior, ty: &Type) -> Json {
    let mut found = super::posterior::json(p);
    let inner = if let Type::Posterior(inner) = ty { inner } else { ty };
    let levels = inner.levels().filter(|_| !p.is_scalar() && !matches!(p, Posterior::Draws(_)));
    if let (Some(found), Some(levels)) = (found.as_object_mut(), levels) {
        found.insert("levels".into(), json!(levels.as_slice()));
    }
    found
}

/// Lines of a table of counts by several axes, the levels of the last one side by side. Numbers before the point take
/// eleven columns, whatever they are; `None` for other values, and for tables of more than so many lines or columns.
pub fn table(value: &Value, ty: &Type) -> Option<Vec<String>> {
    const MOST: usize = 40;
    let Type::Vector(VectorType { axes: Some(axes), .. }) = ty else { return None };
    let (last, rest) = axes.split_last().filter(|(last, rest)| !rest.is_empty() && last.levels.len() <= 12)?;
    let sizes: Vec<usize> = rest.iter().map(|a| a.levels.len()).collect();
    let cells: Vec<String> = match value {
        Value::GridVector(v) => v.iter().map(|n| n.decimal()).collect(),
        value => value.numbers().iter().map(f64::to_string).collect(),
    };
    let columns = last.levels.len();
    if cells.len() != columns * sizes.iter().product::<usize>() || cells.len() > MOST * columns {
        return None;
    }
    let wide = |names: &mut dyn Iterator<Item = &String>| names.map(|n| n.chars().count()).max().unwrap_or(0);
    let keys: Vec<usize> = rest.iter().map(|a| wide(&mut a.levels.iter().chain([&a.name]))).collect();
    // Digits after the point are those of the grid, which is public.
    let after = cells.iter().filter_map(|c| c.split_once('.')).map(|(_, digits)| digits.len() + 1).max().unwrap_or(0);
    let width = wide(&mut last.levels.iter()).max(11 + after);
    let line = |names: Vec<&String>, cells: &[String]| {
        let names = names.iter().zip(&keys).map(|(n, k)| format!("{n:<k$}  ", k = *k)).collect::<String>();
        names + &cells.iter().map(|c| format!("  {c:>width$}")).collect::<String>()
    };
    let head = line(rest.iter().map(|a| &a.name).collect(), &last.levels);
    let mut out = vec![format!("{head}  {}", last.name)];
    for (i, row) in cells.chunks(columns).enumerate() {
        let place = |axis: usize| i / sizes.iter().skip(axis + 1).product::<usize>().max(1) % sizes.get(axis).copied().unwrap_or(1);
        let names = rest.iter().enumerate().filter_map(|(k, a)| a.levels.get(place(k))).collect();
        out.push(line(names, row));
    }
    Some(out)
}

/// Lines of what is said of every cell of a table, a line a cell, and then of all cells together; of numbers alone their names and
/// they; `None` for other values. For what follows from released values alone: its lines are as long as they are.
pub fn by_cell(value: &Value, ty: &Type) -> Option<Vec<String>> {
    const MOST: usize = 40;
    let (Value::Record(parts), Type::Record(types)) = (value, ty) else { return None };
    let numbers = |v: &Value| v.numbers().iter().map(|x| short(*x)).collect::<Vec<_>>();
    // Computed numbers alone: a draw of several parameters is made of grid numbers.
    if parts.iter().all(|(_, v)| matches!(v, Value::Number(_))) {
        let wide = |n: &str, cell: String| (format!("{n:>11}"), format!("{cell:>width$}", width = n.len().max(11)));
        let (head, row): (Vec<_>, Vec<_>) = parts.iter().map(|(n, v)| wide(n, numbers(v).concat())).unzip();
        return Some(vec![head.concat(), row.concat()]);
    }
    let Some((_, Type::Vector(VectorType { axes: Some(axes), dim, .. }))) = types.first() else { return None };
    let (columns, rest): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, v)| !v.is_scalar());
    let columns: Vec<(&str, Vec<String>)> = columns.into_iter().map(|(n, v)| (n.as_str(), numbers(v))).collect();
    let wide = |names: &mut dyn Iterator<Item = &String>| names.map(|n| n.chars().count()).max().unwrap_or(0);
    let keys: Vec<usize> = axes.iter().map(|a| wide(&mut a.levels.iter().chain([&a.name]))).collect();
    let line = |names: &[&str], cells: &mut dyn Iterator<Item = &str>| {
        let names = names.iter().zip(&keys).map(|(n, k)| format!("{n:<k$}  ", k = *k)).collect::<String>();
        names + &cells.map(|c| format!("{c:>11}")).collect::<String>()
    };
    let mut out = vec![line(&axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), &mut columns.iter().map(|(n, _)| *n))];
    for i in 0..(*dim as usize).min(MOST) {
        let mut left = i;
        let mut names: Vec<&str> = axes
            .iter()
            .rev()
            .map(|a| {
                let level = a.levels.get(left % a.levels.len().max(1)).map_or("?", String::as_str);
                left /= a.levels.len().max(1);
                level
            })
            .collect();
        names.reverse();
        out.push(line(&names, &mut columns.iter().map(|(_, all)| all.get(i).map_or("", String::as_str))));
    }
    if *dim as usize > MOST {
        out.push(format!(".. {dim} cells; the record has them all"));
    }
    let all: Vec<String> = rest.into_iter().map(|(n, v)| format!("{n} {}", numbers(v).concat())).collect();
    out.push(all.join("  "));
    Some(out)
}

/// A number in four digits, a whole one with all of them.
fn short(x: f64) -> String {
    match x {
        x if x.fract() == 0.0 || !x.is_finite() => format!("{x}"),
        x if (1e-3..1e6).contains(&x.abs()) => format!("{x:.*}", if x.abs() < 10.0 { 3 } else { 1 }),
        x => format!("{x:.2e}"),
    }
}

/// The cells of a table as objects by axis.
pub(super) fn nested(axes: &[Axis], cells: &mut dyn Iterator<Item = Json>) -> Json {
    match axes {
        [] => cells.next().unwrap_or(Json::Null),
        [axis, rest @ ..] => Json::Object(axis.levels.iter().map(|l| (l.clone(), nested(rest, cells))).collect()),
    }
}

fn number(x: f64) -> Json {
    if x.is_finite() { json!(x) } else { json!(super::super::check::plain(x)) }
}

/// The decimal text of a grid number is kept to its last digit, so that its length tells nothing.
fn grid(n: Number) -> Json {
    let text = n.decimal();
    match text.parse::<serde_json::Number>() {
        Ok(number) => Json::Number(number),
        Err(_) => json!(text),
    }
}

/// What a leaf of a value may take at most as text: a function of its grid or type, never of the draw.
///
/// Doubles: a sign, 17 digits, a point, `e-308`; or `"-inf"` in quotes.
const WIDEST_DOUBLE: usize = 26;
/// `false`
const WIDEST_BOOL: usize = 5;

fn widths(value: &Value, out: &mut Vec<usize>) {
    match value {
        Value::Number(_) => out.push(WIDEST_DOUBLE),
        Value::Grid(n) => out.push(n.widest()),
        Value::Bool(_) => out.push(WIDEST_BOOL),
        Value::Text(s) => out.push(s.len()),
        Value::Vector(v) => out.extend(v.iter().map(|_| WIDEST_DOUBLE)),
        Value::GridVector(v) => out.extend(v.iter().map(|n| n.widest())),
        Value::Matrix(rows) => out.extend(rows.iter().flatten().map(|_| WIDEST_DOUBLE)),
        Value::Record(parts) => parts.iter().for_each(|(_, v)| widths(v, out)),
        Value::Posterior(p) => super::posterior::widths(p, out),
    }
}

fn leaves(json: &Json, out: &mut Vec<usize>) {
    match json {
        Json::Array(items) => items.iter().for_each(|i| leaves(i, out)),
        Json::Object(items) => items.values().for_each(|i| leaves(i, out)),
        leaf => out.push(leaf.to_string().len()),
    }
}

/// The same for so many doubles.
pub fn padding_of(numbers: usize, shown: &Json) -> usize {
    let mut taken = vec![];
    leaves(shown, &mut taken);
    (numbers * WIDEST_DOUBLE).saturating_sub(taken.iter().sum())
}

/// Spaces that bring the text of a value, or of its first leaves, to a length that does not depend on the draw.
pub fn padding<'j>(value: &Value, shown: impl IntoIterator<Item = &'j Json>) -> usize {
    let (mut widest, mut taken) = (vec![], vec![]);
    widths(value, &mut widest);
    shown.into_iter().for_each(|j| leaves(j, &mut taken));
    widest.iter().zip(&taken).map(|(w, t)| w.saturating_sub(*t)).sum()
}
