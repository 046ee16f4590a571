//! `dpm sql` and `dpm sources`: the queries that count what a program asks of its rows, and what is read row by row instead.

use super::compile::prepared;
use super::{Exit, Public, usage};
use crate::analyze::Analysis;
use crate::compiled::{Compiled, missing};
use crate::data::{Answered, Environment};
use crate::mechanism::sums;
use crate::model::{self, Each, Expr, ExprKind, Program, ReleaseStep, ScalarId, Step, Table, TableId, Type};
use crate::run::Bound;
use crate::sql::{Counted, Dialect, Request, Select, Streamed, selects, united};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The query for this table alone; without it one query for every table
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
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

/// A release, its `each`, and what is counted for it.
pub struct Asked<'a> {
    release: &'a ReleaseStep,
    group: Option<&'a Each>,
    pub table: TableId,
    selects: Result<Vec<Select>, Streamed>,
}

impl Asked<'_> {
    pub fn is_counted(&self) -> bool {
        self.selects.is_ok()
    }

    /// What an answer of its query holds of it.
    pub fn answered(&self) -> impl Iterator<Item = Answered> {
        let levels = self.group.map(|each| each.levels.len());
        self.selects.iter().flatten().enumerate().map(move |(part, select)| {
            let cells = select.cells.map(|dim| usize::try_from(dim).unwrap_or(usize::MAX));
            Answered { name: self.release.name.clone(), part, levels, cells }
        })
    }
}

fn found<'a>(steps: &'a [Step], group: Option<&'a Each>, out: &mut Vec<(&'a ReleaseStep, Option<&'a Each>)>) {
    for step in steps {
        match step {
            Step::Release(release) => out.push((release, group)),
            Step::When { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|steps| found(steps, group, out)),
            Step::Each(each) => found(&each.body, Some(each), out),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

/// What a program asks of its private tables, release by release.
pub fn asked<'a>(
    (program, analysis, bound): (&'a Program, &Analysis, &Bound),
    dialect: Dialect,
    from: &BTreeMap<String, String>,
) -> Result<Vec<Asked<'a>>, Exit> {
    let env = Given(program, bound.scalars.clone());
    let mut releases = vec![];
    found(&program.steps, None, &mut releases);
    let mut all = vec![];
    for (release, group) in releases {
        let chosen = analysis.release(release.id).and_then(|r| r.chosen.as_ref());
        let plan = chosen.and_then(|c| c.plan.as_ref());
        let table = match (&release.query, plan) {
            (_, Some(plan)) => plan.table(),
            (model::Query::Aggregate(q), None) => q.table,
            (model::Query::Posterior(m), None) => m.records.table,
        };
        let declared = program.tables.get(table.0).ok_or(Exit::Bug)?;
        let place = from.get(&declared.name).cloned().unwrap_or_else(|| dialect.identifier(&declared.name));
        let request = Request { dialect, id: table, table: declared, from: &place, env: &env };
        let selects = plan.ok_or(Streamed::Late).and_then(|plan| {
            let statistics = sums(plan).ok_or(Streamed::Rows)?;
            selects(&request, &Counted { name: release.name.clone(), group: group.map(|each| each.key), statistics })
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
        (Type::Text, _) => "a text or whole numbers",
        (_, Dialect::Sqlite) => "numbers or NULL alone, which STRICT tables hold to",
        (Type::Bool, _) => "BOOLEAN",
        (Type::Int(_), _) => "whole numbers of at most 64 bits",
        _ => "DOUBLE, or whole numbers of at most 64 bits",
    }
}

fn columns(table: &Table) -> impl Iterator<Item = (&str, &Type)> {
    let key = table.order.and(table.unit).and_then(|(key, _)| table.columns.get(key.0));
    let plain = |ty: &Type| matches!(ty, Type::Bool | Type::Int(_) | Type::Real(_) | Type::Category(_));
    table.declared().filter(move |c| plain(&c.ty) || key == Some(*c)).flat_map(|c| c.headers.iter().map(|h| (h.trim(), &c.ty)))
}

/// What no query can show.
pub fn premises(table: &Table) -> [String; 3] {
    let person = match table.unit.and_then(|(key, _)| table.columns.get(key.0)) {
        Some(key) => format!("one `{}` is one person, and there are fewer than 2^34 rows", key.name),
        None => "one row is one person, and there are fewer than 2^34 of them".to_owned(),
    };
    [
        person,
        "the integers are as private as the rows: they are what a mechanism adds noise to, and no release".to_owned(),
        "the engine, its machines and its logs are trusted as those that hold the rows are".to_owned(),
    ]
}

pub fn sql(args: &Sql) -> Exit {
    match written(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// Where rows are, by the names of their tables.
pub fn places(from: &[String], program: &Program) -> Result<BTreeMap<String, String>, Exit> {
    let mut places = BTreeMap::new();
    for text in from {
        let (name, place) =
            super::inputs::pair(text).ok_or_else(|| usage(&format!("--from wants NAME=TABLE or NAME=(QUERY), not `{text}`")))?;
        if !program.tables.iter().any(|t| t.private && t.name == name) {
            return Err(usage(&format!("the program declares no private `{name}`")));
        }
        places.insert(name.to_owned(), place.to_owned());
    }
    Ok(places)
}

/// Refuses what is read row by row, by the names of the releases.
pub fn all_counted<'a>(all: impl Iterator<Item = &'a Asked<'a>>) -> Result<(), Exit> {
    let mut streamed = false;
    for (a, why) in all.filter_map(|a| Some((a, *a.selects.as_ref().err()?))) {
        say_line!("error: `{}` is not counted by a query: {}", a.release.name, why.text());
        streamed = true;
    }
    if streamed {
        say_line!(
            "  Help: dpm reads the rows of such a release itself: `dpm sources` says which, `dpm run --data` takes files and SQLite;\n        --table NAME prints the query of another table"
        );
        return Err(Exit::Rejected);
    }
    Ok(())
}

/// What an answer holds, by names of releases that must differ.
pub fn told_apart<'a>(all: impl Iterator<Item = &'a Asked<'a>>) -> Result<Vec<Answered>, Exit> {
    let answered: Vec<_> = all.flat_map(Asked::answered).collect();
    let mut seen = BTreeSet::new();
    match answered.iter().find(|a| !seen.insert((&a.name, a.part))) {
        Some(a) => Err(usage(&format!("two releases are called `{}`, and an answer tells them apart by name: rename one", a.name))),
        None => Ok(answered),
    }
}

fn written(args: &Sql) -> Result<Exit, Exit> {
    let Compiled { checked, analysis, bound, .. } = compiled(&args.file, &args.public)?;
    let program = &checked.program;
    let from = places(&args.from, program)?;
    let all = asked((program, &analysis, &bound), args.dialect, &from)?;
    let named = |i: usize| args.table.as_ref().is_none_or(|name| program.tables.get(i).is_some_and(|t| t.name == *name));
    let of = |i: usize| all.iter().filter(move |a| a.table.0 == i);
    let wanted: Vec<_> = program.tables.iter().enumerate().filter(|(i, _)| named(*i) && of(*i).next().is_some()).collect();
    if let (Some(name), []) = (&args.table, wanted.as_slice()) {
        return Err(usage(&format!("no release asks anything of a private table `{name}`")));
    }
    all_counted(all.iter().filter(|a| named(a.table.0)))?;
    wanted.iter().try_for_each(|(i, _)| told_apart(of(*i)).map(drop))?;
    for (i, declared) in wanted {
        show!("{}", query(declared, args.dialect, of(i)).text);
    }
    Ok(Exit::Done)
}

/// The query for a table, as it is printed, and the column that marks its answers.
pub struct Query {
    pub text: String,
    pub mark: String,
}

/// One query for a table, with what it assumes.
pub fn query<'a>(table: &Table, dialect: Dialect, all: impl Iterator<Item = &'a Asked<'a>>) -> Query {
    let mut out = format!(
        "-- What the program asks of `{}`, in integers ({}). total = low + 2^20 mid + 2^40 high + n first\n",
        table.name,
        dialect.name()
    );
    out += "-- It rests on this:\n";
    for premise in premises(table) {
        out += &format!("--   {premise}\n");
    }
    for (header, ty) in columns(table) {
        out += &format!("--   column {header:?} holds {}\n", needs(ty, dialect));
    }
    out += "-- Its answer goes back, as CSV with a header, as Parquet or as Arrow, by dpm run --counted\n";
    let mut selects = vec![];
    for a in all {
        for (part, select) in a.selects.iter().flatten().enumerate() {
            let what = match select.grid {
                Some((exponent, first)) => format!("a sum in steps of 2^{exponent}, first = {first}"),
                None => "numbers of rows".into(),
            };
            let levels = if a.group.is_some() { ", by level" } else { "" };
            out += &format!("-- {} part {part}: {what}{levels}\n", a.release.name);
            selects.push(select);
        }
    }
    let (query, mark) = united(selects.into_iter());
    Query { text: out + &query, mark }
}

pub fn sources(args: &Sources) -> Exit {
    match listed(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn listed(args: &Sources) -> Result<Exit, Exit> {
    let Compiled { checked, analysis, bound, .. } = compiled(&args.file, &args.public)?;
    let all = asked((&checked.program, &analysis, &bound), args.dialect, &BTreeMap::new())?;
    for (i, table) in checked.program.tables.iter().enumerate().filter(|(_, t)| t.private) {
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
    show_line!("\n`dpm run --data NAME=PATH` reads rows from CSV, Parquet, Arrow, folders of them, a pipe, or sqlite:FILE?table=NAME.");
    Ok(Exit::Done)
}
