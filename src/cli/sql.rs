//! `dpm sql` and `dpm sources`: the queries that count what a program asks of its rows, and what is read row by row instead.

use super::compile::prepared;
use super::{Exit, Public, usage};
use crate::compiled::{Compiled, missing};
use crate::data::eval::Environment;
use crate::mechanism::sums;
use crate::model::{ColumnId, Expr, ExprKind, Program, Query, ReleaseStep, ScalarId, Step, Table, TableId, Type};
use crate::sql::{Counted, Dialect, Request, Select, Streamed, selects};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Sql {
    file: PathBuf,
    #[command(flatten)]
    public: Public,
    /// Whose SQL it is; `datafusion` is also Ballista's
    #[arg(long)]
    dialect: Dialect,
    /// Where the rows of a table are: `staff=hr.staff`, `staff=(SELECT ..)`; without it a table of the same name
    #[arg(long, value_name = "NAME=TABLE")]
    from: Vec<String>,
}

#[derive(Args)]
pub struct Sources {
    file: PathBuf,
    #[command(flatten)]
    public: Public,
    /// Which engine would count
    #[arg(long, default_value = "duckdb")]
    dialect: Dialect,
}

impl clap::ValueEnum for Dialect {
    fn value_variants<'a>() -> &'a [Dialect] {
        &Dialect::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

/// Public values that are known before the program runs.
struct Given<'a>(&'a Program, BTreeMap<ScalarId, f64>);

impl Environment for Given<'_> {
    fn value(&self, e: &Expr) -> Option<Vec<f64>> {
        let ExprKind::Scalar(id) = e.kind else { return None };
        let written = || self.0.scalars.get(id.0)?.value.as_ref()?.constant();
        self.1.get(&id).copied().or_else(written).map(|x| vec![x])
    }
}

/// A release, the key of its `each`, and what is counted for it.
struct Asked<'a> {
    release: &'a ReleaseStep,
    group: Option<(TableId, ColumnId)>,
    table: TableId,
    selects: Result<Vec<Select>, Streamed>,
}

fn found<'a>(steps: &'a [Step], group: Option<(TableId, ColumnId)>, out: &mut Vec<(&'a ReleaseStep, Option<(TableId, ColumnId)>)>) {
    for step in steps {
        match step {
            Step::Release(release) => out.push((release, group)),
            Step::When { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|steps| found(steps, group, out)),
            Step::Each(each) => found(&each.body, Some((each.table, each.key)), out),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

/// What a program asks of its private tables, release by release.
fn asked<'a>(compiled: &'a Compiled, dialect: Dialect, from: &BTreeMap<String, String>) -> Result<Vec<Asked<'a>>, Exit> {
    let program = &compiled.checked.program;
    let env = Given(program, compiled.bound.scalars.clone());
    let mut releases = vec![];
    found(&program.steps, None, &mut releases);
    let mut all = vec![];
    for (release, group) in releases {
        let chosen = compiled.analysis.release(release.id).and_then(|r| r.chosen.as_ref());
        let plan = chosen.and_then(|c| c.plan.as_ref());
        let table = match (&release.query, plan) {
            (_, Some(plan)) => plan.table(),
            (Query::Aggregate(q), None) => q.table,
            (Query::Posterior(m), None) => m.records.table,
        };
        let declared = program.tables.get(table.0).ok_or(Exit::Bug)?;
        let place = from.get(&declared.name).cloned().unwrap_or_else(|| dialect.identifier(&declared.name));
        let request = Request { dialect, id: table, table: declared, from: &place, env: &env };
        let selects = plan.ok_or(Streamed::Late).and_then(|plan| {
            let statistics = sums(plan).ok_or(Streamed::Rows)?;
            selects(&request, &Counted { name: release.name.clone(), group: group.map(|(_, key)| key), statistics })
        });
        all.push(Asked { release, group, table, selects });
    }
    Ok(all)
}

fn compiled(file: &Path, public: &Public) -> Result<Compiled, Exit> {
    let args = super::Program { file: file.into(), public: Public { public: public.public.clone() }, json: false };
    let compiled = prepared(&args, &[])?;
    match missing(&compiled.checked.program, &compiled.bound) {
        Some(what) => Err(usage(&what)),
        None => Ok(compiled),
    }
}

/// The type that a column must have, so that its cells mean to the engine what they mean to dpm.
fn needs(ty: &Type, dialect: Dialect) -> &'static str {
    match (ty, dialect) {
        (Type::Category(_), Dialect::Sqlite) => "TEXT or INTEGER",
        (Type::Category(_), _) => "a text (with binary collation), whole numbers or BOOLEAN",
        (_, Dialect::Sqlite) => "numbers or NULL alone, which STRICT tables hold to",
        (Type::Bool, _) => "BOOLEAN",
        (Type::Int(_), _) => "whole numbers of at most 64 bits",
        _ => "DOUBLE, or whole numbers of at most 64 bits",
    }
}

fn columns(table: &Table) -> impl Iterator<Item = (&str, &Type)> {
    let plain = |ty: &Type| matches!(ty, Type::Bool | Type::Int(_) | Type::Real(_) | Type::Category(_));
    table.declared().filter(move |c| plain(&c.ty)).flat_map(|c| c.headers.iter().map(|h| (h.trim(), &c.ty)))
}

/// What no query can show.
const PREMISES: [&str; 3] = [
    "one row is one person, and there are fewer than 2^34 of them",
    "the integers are as private as the rows: they are what a mechanism adds noise to, and no release",
    "the engine, its machines and its logs are trusted as those that hold the rows are",
];

pub fn sql(args: &Sql) -> Exit {
    match written(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn written(args: &Sql) -> Result<Exit, Exit> {
    let mut from = BTreeMap::new();
    for text in &args.from {
        let (name, place) =
            super::inputs::pair(text).ok_or_else(|| usage(&format!("--from wants NAME=TABLE or NAME=(QUERY), not `{text}`")))?;
        from.insert(name.to_owned(), place.to_owned());
    }
    let compiled = compiled(&args.file, &args.public)?;
    let program = &compiled.checked.program;
    if let Some(name) = from.keys().find(|name| !program.tables.iter().any(|t| t.private && t.name == **name)) {
        return Err(usage(&format!("the program declares no private `{name}`")));
    }
    let all = asked(&compiled, args.dialect, &from)?;
    let streamed: Vec<_> = all.iter().filter_map(|a| Some((a, *a.selects.as_ref().err()?))).collect();
    for (a, why) in &streamed {
        say_line!("error: `{}` is not counted by a query: {}", a.release.name, why.text());
    }
    if !streamed.is_empty() {
        say_line!("  Help: dpm reads the rows of such a release itself: `dpm sources` says which, `dpm run --data` takes files and SQLite");
        return Err(Exit::Rejected);
    }
    let tables: Vec<TableId> = (0..program.tables.len()).map(TableId).filter(|t| all.iter().any(|a| a.table == *t)).collect();
    for table in tables {
        let Some(declared) = program.tables.get(table.0) else { return Err(Exit::Bug) };
        show!("{}", text(declared, args.dialect, all.iter().filter(|a| a.table == table)));
    }
    Ok(Exit::Done)
}

/// One query for a table, with what it assumes.
fn text<'a>(table: &Table, dialect: Dialect, all: impl Iterator<Item = &'a Asked<'a>>) -> String {
    let mut out = format!(
        "-- What the program asks of `{}`, in integers ({}). total = low + 2^20 mid + 2^40 high + n first\n",
        table.name,
        dialect.name()
    );
    out += "-- It rests on this:\n";
    for premise in PREMISES {
        out += &format!("--   {premise}\n");
    }
    for (header, ty) in columns(table) {
        out += &format!("--   column {header:?} holds {}\n", needs(ty, dialect));
    }
    let mut queries = vec![];
    for a in all {
        for (part, select) in a.selects.iter().flatten().enumerate() {
            let what = match select.grid {
                Some((exponent, first)) => format!("a sum in steps of 2^{exponent}, first = {first}"),
                None => "numbers of rows".into(),
            };
            let levels = if a.group.is_some() { ", by level" } else { "" };
            out += &format!("-- {} part {part}: {what}{levels}\n", a.release.name);
            queries.push(select.query.clone());
        }
    }
    out + &queries.join("\nUNION ALL\n") + ";\n"
}

pub fn sources(args: &Sources) -> Exit {
    match listed(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn listed(args: &Sources) -> Result<Exit, Exit> {
    let compiled = compiled(&args.file, &args.public)?;
    let all = asked(&compiled, args.dialect, &BTreeMap::new())?;
    for (i, table) in compiled.checked.program.tables.iter().enumerate().filter(|(_, t)| t.private) {
        show_line!("{}", table.name);
        for a in all.iter().filter(|a| a.table.0 == i) {
            let how = match &a.selects {
                Ok(_) => format!("counted by a query (dpm sql --dialect {})", args.dialect.name()),
                Err(why) => format!("read row by row: {}", why.text()),
            };
            show_line!("  {}: {how}", a.release.name);
        }
        for (header, ty) in columns(table) {
            show_line!("  column {header:?}: {}", needs(ty, args.dialect));
        }
    }
    show_line!("\n`dpm run --data NAME=PATH` reads rows from CSV, Parquet, folders of them, a pipe, or sqlite:FILE?table=NAME.");
    Ok(Exit::Done)
}
