//! Programs, public tables and public values named on the command line.

use super::{Exit, usage};
use crate::data::{DataError, Source, load_public};
use crate::model::{Program, ScalarId, TableId};
use crate::pipeline::{self, Checked, Folder, Unreadable};
use crate::run::Bound;
use std::path::{Path, PathBuf};

/// Reads and checks a program.
pub fn program(path: &Path) -> Result<Checked, Exit> {
    let (name, text) = pipeline::read(path).map_err(|why| {
        let shown = path.display();
        match why {
            Unreadable::Missing => say_line!("error: the program {shown} cannot be opened"),
            Unreadable::TooLarge => say_line!("error: the program {shown} is larger than {} MiB", crate::syntax::MAX_SOURCE_BYTES >> 20),
            Unreadable::NotText => say_line!("error: the program {shown} is not UTF-8 text"),
        }
        Exit::Input
    })?;
    Ok(super::progress::with_spinner("checking", || pipeline::check(&name, &text, &Folder::of(path))))
}

/// `NAME=VALUE` at its first `=`.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty())
}

/// Loads the public tables and values of a program.
pub fn public(program: &Program, given: &[String]) -> Result<Bound, Exit> {
    let mut bound = Bound::default();
    let mut seen = std::collections::BTreeSet::new();
    for text in given {
        let Some((name, value)) = pair(text) else {
            return Err(usage(&format!("--public wants NAME=PATH or NAME=VALUE, not `{text}`")));
        };
        if !seen.insert(name) {
            return Err(usage(&format!("the public `{name}` is named twice")));
        }
        if let Some(i) = program.scalars.iter().position(|s| s.name == name) {
            bound.scalars.insert(ScalarId(i), scalar(program, i, value)?);
            continue;
        }
        let Some(i) = program.tables.iter().position(|t| t.name == name && !t.private) else {
            let private = program.tables.iter().any(|t| t.name == name);
            return Err(usage(&if private {
                format!("`{name}` is a private table: use --data {name}=PATH with `dpm run`")
            } else {
                format!("the program declares no public `{name}`")
            }));
        };
        let Some(table) = program.tables.get(i) else { continue };
        let source = Source::open(Path::new(value)).map_err(|e| input_error(&e, value))?;
        let rows = load_public(table, source).map_err(|e| input_error(&e, value))?;
        bound.tables.insert(TableId(i), rows);
    }
    bound.program = Some(program.clone());
    Ok(bound)
}

fn scalar(program: &Program, index: usize, text: &str) -> Result<f64, Exit> {
    let Some(declared) = program.scalars.get(index) else { return Err(Exit::Bug) };
    let value = match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => text.parse::<f64>().ok().filter(|x| x.is_finite()),
    };
    let whole = matches!(declared.ty, crate::model::Type::Int(_) | crate::model::Type::Bool);
    let inside = |x: &f64| declared.ty.range().is_none_or(|r| r.contains(*x)) && (!whole || x.fract() == 0.0);
    value.filter(inside).ok_or_else(|| {
        say_line!("error: the public value `{}` is not in its declared domain", declared.name);
        Exit::Input
    })
}

/// Says why a file was refused: public facts alone.
pub fn input_error(error: &DataError, path: &str) -> Exit {
    say_line!("error: {path}: {error}");
    Exit::Input
}

/// The private files, one for every private table.
pub fn private(program: &Program, given: &[String]) -> Result<Vec<(TableId, PathBuf)>, Exit> {
    let private: Vec<usize> = (0..program.tables.len()).filter(|i| program.tables.get(*i).is_some_and(|t| t.private)).collect();
    let mut files: Vec<(TableId, PathBuf)> = vec![];
    for text in given {
        let named = pair(text).and_then(|(name, path)| {
            let found = program.tables.iter().position(|t| t.name == name);
            found.map(|i| (i, path))
        });
        let (i, path) = match (named, private.as_slice()) {
            (Some((i, path)), _) => (i, path),
            (None, [one]) if !looks_named(text) => (*one, text.as_str()),
            _ => return Err(usage(&format!("--data wants NAME=PATH with the name of a private table, not `{text}`"))),
        };
        let table = program.tables.get(i);
        if !table.is_some_and(|t| t.private) {
            return Err(usage(&format!("`{}` is a public table: use --public", table.map_or("", |t| t.name.as_str()))));
        }
        if files.iter().any(|(t, _)| t.0 == i) {
            return Err(usage(&format!("the data of `{}` are named twice", table.map_or("", |t| t.name.as_str()))));
        }
        files.push((TableId(i), PathBuf::from(path)));
    }
    for i in private {
        if !files.iter().any(|(t, _)| t.0 == i) {
            let name = program.tables.get(i).map_or("", |t| t.name.as_str());
            return Err(usage(&format!("the data of `{name}` are missing: --data {name}=PATH")));
        }
    }
    files.sort_by_key(|(t, _)| *t);
    Ok(files)
}

/// `name=path` rather than a path that happens to hold `=`.
fn looks_named(text: &str) -> bool {
    pair(text).is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}
