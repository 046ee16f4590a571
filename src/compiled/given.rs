//! Public tables and values as text: as a plan carries them, and bound to a program again.

use crate::data::{DataError, Opened, PublicTable, Source, agreed_part, copy_public, load_public, public_part};
use crate::model::{Program, Scalar, ScalarId, Table, TableId, Type};
use crate::run::Bound;
use std::collections::BTreeMap;
use std::io::Cursor;

/// What `--public` named, as text: CSV with the declared columns alone, numbers as they were typed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Given {
    pub tables: BTreeMap<String, String>,
    pub scalars: BTreeMap<String, String>,
}

/// Why public data do not fit a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// The program declares no such public table or value.
    Undeclared(String),
    Table(String, DataError),
    /// The value is not in its declared domain.
    Scalar(String),
    /// The program gives the value itself.
    Fixed(String),
}

impl Given {
    /// Reads a public table, or the public columns of a private one, into text.
    ///
    /// # Errors
    /// As for any public table: a missing column, a bad cell with its line, a wrong number of rows.
    pub fn add_table(&mut self, table: &Table, file: &Opened) -> Result<(), DataError> {
        load(table, file.source()?)?;
        let copied = if table.private { agreed_part(table) } else { table.clone() };
        self.tables.insert(table.name.clone(), copy_public(&copied, file.source()?)?);
        Ok(())
    }

    /// Binds everything to the program that declares it; every cell and value is checked as if it came from a file.
    ///
    /// # Errors
    /// The first thing that does not fit.
    pub fn bind(&self, program: &Program) -> Result<Bound, Unfit> {
        let mut bound = Bound::default();
        for (name, text) in &self.tables {
            let found = program.tables.iter().enumerate().find(|(_, t)| t.name == *name && (!t.private || has_design(t)));
            let (i, table) = found.ok_or_else(|| Unfit::Undeclared(name.clone()))?;
            let rows = load(table, reader(text)).map_err(|e| Unfit::Table(name.clone(), e))?;
            bound.tables.insert(TableId(i), rows);
        }
        for (name, text) in &self.scalars {
            let found = program.scalars.iter().enumerate().find(|(_, s)| s.name == *name);
            let (i, scalar) = found.ok_or_else(|| Unfit::Undeclared(name.clone()))?;
            if scalar.value.is_some() {
                return Err(Unfit::Fixed(name.clone()));
            }
            bound.scalars.insert(ScalarId(i), value_of(scalar, text).ok_or_else(|| Unfit::Scalar(name.clone()))?);
        }
        bound.program = Some(program.clone());
        Ok(bound)
    }
}

/// Has a private table public columns that neighbours agree on, row by row?
pub fn has_design(table: &Table) -> bool {
    table.private && agreed_part(table).columns.iter().any(|c| c.public && !c.headers.is_empty())
}

/// All of a public table; of a private one its public columns, whose cells are moved into their domains as in a run.
fn load(table: &Table, source: Source) -> Result<PublicTable, DataError> {
    if table.private { public_part(table, source).map(|(_, rows)| rows) } else { load_public(table, source) }
}

fn reader(text: &str) -> Source {
    Source::new(Cursor::new(text.to_owned()))
}

/// The value of a public scalar as typed; `None` outside its declared domain.
pub fn value_of(declared: &Scalar, text: &str) -> Option<f64> {
    let value = match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => text.parse::<f64>().ok().filter(|x| x.is_finite()),
    };
    let whole = matches!(declared.ty, Type::Int(_) | Type::Bool);
    let inside = |x: &f64| declared.ty.range().is_none_or(|r| r.contains(*x)) && (!whole || x.fract() == 0.0);
    value.filter(inside)
}

/// A public table or value that the program needs and nobody gave: `--public NAME=..` in words.
pub fn missing(program: &Program, bound: &Bound) -> Option<String> {
    for (i, table) in program.tables.iter().enumerate() {
        if !table.private && !bound.tables.contains_key(&TableId(i)) {
            return Some(format!("the public table `{0}` is missing: --public {0}=PATH", table.name));
        }
    }
    for (i, scalar) in program.scalars.iter().enumerate() {
        if scalar.value.is_none() && !bound.scalars.contains_key(&ScalarId(i)) {
            return Some(format!("the public value `{0}` is missing: --public {0}=VALUE", scalar.name));
        }
    }
    None
}
