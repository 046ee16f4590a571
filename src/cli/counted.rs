//! `dpm run --counted`: the answer of a query of `dpm sql` in place of the rows of a table.

use super::sql::{Query, all_counted, asked, places, premises, query, told_apart};
use super::{Exit, inputs, usage};
use crate::analyze::Analysis;
use crate::data::{Answered, Counts, DataError, Opened};
use crate::model::{Program, Table, TableId};
use crate::run::{Bound, asked_columns};
use crate::sql::Dialect;
use crate::verify::sha256;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct Counted {
    /// What an engine counted of a private table by the query of `dpm sql`, in place of its rows: the answer as CSV with a header, as Parquet or as Arrow; `-` is standard input
    #[arg(long, value_name = "NAME=PATH")]
    pub counted: Vec<String>,
    /// Where the rows were, as `dpm sql --from` was told
    #[arg(long, value_name = "NAME=TABLE", requires = "counted")]
    from: Vec<String>,
    /// Which engine counted, for the record: `spark 3.5.1`
    #[arg(long, value_name = "NAME VERSION", requires = "counted")]
    engine: Option<String>,
}

/// A table whose rows were counted, and the queries that may have counted them.
pub struct Wanted<'a> {
    pub table: TableId,
    pub path: PathBuf,
    declared: &'a Table,
    queries: Vec<(Dialect, Query)>,
    answered: Vec<Answered>,
    engine: Option<&'a str>,
}

/// What was counted, and by what.
pub struct Answer {
    pub table: TableId,
    pub counts: Counts,
    name: String,
    dialect: Dialect,
    /// Of the text of the query.
    sha256: String,
    engine: Option<String>,
    rests: [String; 2],
}

/// The tables that `--counted` names: refused before anything is opened, unless queries count all that is asked of them.
pub fn wanted<'a>(args: &'a Counted, (program, analysis, bound): (&'a Program, &Analysis, &Bound)) -> Result<Vec<Wanted<'a>>, Exit> {
    let from = places(&args.from, program)?;
    let plain =
        |engine: &str| engine.len() <= 100 && !engine.trim().is_empty() && engine.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if args.engine.as_deref().is_some_and(|engine| !plain(engine)) {
        return Err(usage("--engine wants a name and a version in plain letters:    --engine 'spark 3.5.1'"));
    }
    let mut found = vec![];
    for (table, path) in inputs::tables(program, "--counted", &args.counted)? {
        let declared = program.tables.get(table.0).ok_or(Exit::Bug)?;
        if bound.tables.contains_key(&table) || asked_columns(&program.steps).contains(&table) {
            return Err(usage(&format!("the public columns of `{0}` are read from its rows: --data {0}=PATH", declared.name)));
        }
        let (mut queries, mut answered) = (vec![], vec![]);
        for dialect in Dialect::ALL {
            let all = asked((program, analysis, bound), dialect, &from)?;
            let of = || all.iter().filter(|a| a.table == table);
            if of().next().is_none() {
                return Err(usage(&format!("no release asks anything of `{0}`, so no query does: --data {0}=PATH", declared.name)));
            }
            if of().all(|a| a.is_counted()) {
                answered = told_apart(of())?;
                queries.push((dialect, query(declared, dialect, of())));
            } else if queries.is_empty() && Dialect::ALL.last() == Some(&dialect) {
                all_counted(of())?;
            }
        }
        found.push(Wanted { table, path, declared, queries, answered, engine: args.engine.as_deref() });
    }
    Ok(found)
}

impl Wanted<'_> {
    /// Reads the answer: of the query whose mark its header has.
    pub fn read(&self, delimiter: u8) -> Result<Answer, DataError> {
        let opened = Opened::open(&self.path)?.delimited(delimiter);
        for (dialect, query) in &self.queries {
            match Counts::read(self.declared, opened.source()?, &query.mark, &self.answered) {
                Err(DataError::Unasked { .. }) => {}
                counts => {
                    let [rows, _, trusted] = premises(self.declared);
                    return Ok(Answer {
                        table: self.table,
                        counts: counts?,
                        name: self.declared.name.clone(),
                        dialect: *dialect,
                        sha256: sha256(query.text.as_bytes()),
                        engine: self.engine.map(str::to_owned),
                        rests: [rows, trusted],
                    });
                }
            }
        }
        Err(DataError::Unasked { table: self.declared.name.clone() })
    }
}

impl Answer {
    fn is_tested(&self) -> bool {
        let named = self.engine.as_deref().and_then(|engine| engine.split_once(' '));
        named.is_some_and(|(name, version)| name.eq_ignore_ascii_case(self.dialect.name()) && self.dialect.tested().contains(&version))
    }

    /// What the release rests on beside its certificate.
    fn assumptions(&self) -> [String; 3] {
        let Answer { name, sha256, rests: [rows, trusted], .. } = self;
        let engine = match &self.engine {
            Some(engine) if self.is_tested() => format!("{engine}, which is tested"),
            Some(engine) => format!("{engine}, which is not among the tested ones"),
            None => "which is not named".to_owned(),
        };
        [
            format!(
                "the integers of `{name}` are what the query with SHA-256 {sha256} ({}) gives in an engine, {engine}",
                self.dialect.name()
            ),
            rows.clone(),
            trusted.clone(),
        ]
    }

    pub fn json(&self) -> Value {
        json!({
            "table": self.name,
            "query": self.sha256,
            "dialect": self.dialect.name(),
            "engine": self.engine,
            "tested": self.is_tested(),
            "assumes": self.assumptions(),
        })
    }

    pub fn text(&self) -> String {
        self.assumptions().map(|a| format!("assumes that {a}\n")).concat()
    }
}
