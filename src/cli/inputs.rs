//! Programs, public tables and public values named on the command line.

use super::{Exit, usage};
use crate::compiled::{Given, Unfit, has_design, value_of};
use crate::data::{DataError, Opened};
use crate::model::{Program, TableId};
use crate::pipeline::{self, Checked, Folder, Unreadable};
use crate::run::Bound;
use std::path::{Path, PathBuf};

/// Reads and checks a program.
pub fn program(path: &Path, public: &[String]) -> Result<Checked, Exit> {
    checked(path, pipeline::read(path), (public, &[]))
}

/// Why a file was not read, for people.
pub fn unreadable(path: &Path, why: Unreadable) -> String {
    let why = match why {
        Unreadable::Missing => "cannot be opened".to_owned(),
        Unreadable::Irregular => "is not a regular file".to_owned(),
        Unreadable::TooLarge(limit) => format!("is larger than {} MiB", limit >> 20),
        Unreadable::NotText => "is not UTF-8 text".to_owned(),
        Unreadable::Data => "is named as data".to_owned(),
    };
    format!("{} {why}", path.display())
}

/// The same of a program, with what a program is where the file looks like something else.
pub fn no_program(path: &Path, why: Unreadable) -> String {
    let help = match why {
        Unreadable::NotText | Unreadable::Data => {
            "\n  Help: a program is text with statements such as `private`, `param` and `release`; rows go in by `dpm run FILE.dpm --data PATH`"
        }
        _ => "",
    };
    format!("the program {}{help}", unreadable(path, why))
}

/// Checks a program that was read from a path: once, as it may be another the next time. No module or record is one of `private`, and
/// records are those of `--public` first.
pub fn checked(path: &Path, read: Result<(String, String), Unreadable>, files: (&[String], &[PathBuf])) -> Result<Checked, Exit> {
    let (name, text) = read.map_err(|why| {
        say_line!("error: {}", no_program(path, why));
        Exit::Input
    })?;
    let folder = Folder::of(path).without(files.1).records(records(files.0));
    Ok(super::progress::with_spinner("checking", || pipeline::check(&name, &text, &folder)))
}

/// What `--public` names, which may be records.
pub fn records(public: &[String]) -> Vec<(String, PathBuf)> {
    public.iter().filter_map(|text| pair(text)).map(|(name, path)| (name.to_owned(), PathBuf::from(path))).collect()
}

/// `NAME=VALUE` at its first `=`.
pub fn pair(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty())
}

/// Loads the public tables and values of a program.
pub fn public(program: &Program, given: &[String]) -> Result<Bound, Exit> {
    public_texts(program, given).map(|(_, bound)| bound)
}

/// The same, also as the text that a plan carries.
pub fn public_texts(program: &Program, given: &[String]) -> Result<(Given, Bound), Exit> {
    let mut found = Given::default();
    let mut seen = std::collections::BTreeSet::new();
    for text in given {
        let Some((name, value)) = pair(text) else {
            return Err(usage(&format!("--public wants NAME=PATH or NAME=VALUE, not `{text}`")));
        };
        if !seen.insert(name) {
            return Err(usage(&format!("the public `{name}` is named twice")));
        }
        // Read when the program was checked.
        if program.records.iter().any(|r| r.name == name) {
            continue;
        }
        if let Some(scalar) = program.scalars.iter().find(|s| s.name == name) {
            if value_of(scalar, value).is_none() {
                return Err(outside(name));
            }
            found.scalars.insert(name.to_owned(), value.to_owned());
            continue;
        }
        let Some(table) = program.tables.iter().find(|t| t.name == name && (!t.private || has_design(t))) else {
            let private = program.tables.iter().any(|t| t.name == name);
            return Err(usage(&if private {
                format!("`{name}` is a private table without public columns that neighbours keep: use --data {name}=PATH with `dpm run`")
            } else {
                format!("the program declares no public `{name}`")
            }));
        };
        let opened = Opened::regular(Path::new(value));
        opened.and_then(|file| found.add_table(table, &file)).map_err(|e| input_error(&e, value))?;
    }
    let bound = found.bind(program).map_err(|why| match why {
        Unfit::Undeclared(name) => usage(&format!("the program declares no public `{name}`")),
        Unfit::Table(name, why) => input_error(&why, &name),
        Unfit::Scalar(name) => outside(&name),
        Unfit::Fixed(name) => usage(&fixed(&name)),
    })?;
    Ok((found, bound))
}

/// A value that the program gives is not given once more.
fn fixed(name: &str) -> String {
    format!("`{name}` has its value in the program: declare it without one to bind it")
}

fn outside(name: &str) -> Exit {
    say_line!("error: the public value `{name}` is not in its declared domain");
    Exit::Input
}

/// Says why a file was refused: public facts alone.
pub fn input_error(error: &DataError, path: &str) -> Exit {
    say_line!("error: {path}: {error}");
    Exit::Input
}

/// What stands between cells.
#[derive(Clone, Copy)]
pub struct Delimiter(pub u8);

impl Default for Delimiter {
    fn default() -> Delimiter {
        Delimiter(b',')
    }
}

impl std::str::FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Delimiter, String> {
        match text {
            "," | "comma" => Ok(Delimiter(b',')),
            ";" | "semicolon" => Ok(Delimiter(b';')),
            "\t" | "tab" | "\\t" => Ok(Delimiter(b'\t')),
            _ => Err("a delimiter is `,`, `;` or `tab`".into()),
        }
    }
}

/// A path of private rows; `-` is standard input.
fn place(path: &str) -> PathBuf {
    PathBuf::from(if path == "-" { "/dev/stdin" } else { path })
}

/// The private files, one for every private table.
pub fn private(program: &Program, given: &[String]) -> Result<Vec<(TableId, PathBuf)>, Exit> {
    private_but(program, given, &[])
}

/// The same where an engine has counted the rows of some tables.
pub fn private_but(program: &Program, given: &[String], counted: &[(TableId, PathBuf)]) -> Result<Vec<(TableId, PathBuf)>, Exit> {
    let files = tables(program, "--data", given)?;
    for (i, table) in program.tables.iter().enumerate().filter(|(_, t)| t.private) {
        let name = &table.name;
        let is_counted = counted.iter().any(|(t, _)| t.0 == i);
        match files.iter().any(|(t, _)| t.0 == i) {
            true if is_counted => return Err(usage(&format!("`{name}` has either rows or what was counted of them: --data or --counted"))),
            false if !is_counted => return Err(usage(&format!("the data of `{name}` are missing: --data {name}=PATH"))),
            _ => {}
        }
    }
    if [&files[..], counted].concat().iter().filter(|(_, p)| *p == place("-")).count() > 1 {
        return Err(usage("standard input holds the rows of one table alone"));
    }
    Ok(files)
}

/// What an option names for private tables, in their order.
pub fn tables(program: &Program, option: &str, given: &[String]) -> Result<Vec<(TableId, PathBuf)>, Exit> {
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
            _ => return Err(usage(&format!("{option} wants NAME=PATH with the name of a private table, not `{text}`"))),
        };
        let table = program.tables.get(i);
        if !table.is_some_and(|t| t.private) {
            return Err(usage(&format!("`{}` is a public table: use --public", table.map_or("", |t| t.name.as_str()))));
        }
        if files.iter().any(|(t, _)| t.0 == i) {
            return Err(usage(&format!("the data of `{}` are named twice", table.map_or("", |t| t.name.as_str()))));
        }
        files.push((TableId(i), place(path)));
    }
    files.sort_by_key(|(t, _)| *t);
    Ok(files)
}

/// `name=path` rather than a path that happens to hold `=`.
fn looks_named(text: &str) -> bool {
    pair(text).is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}
