//! Queries of `dpm sql`: in SQLite their integers are the totals that the same cells have as CSV, to the last digit.

use crate::data_support::{Seeded, T, span};
use dpm::check::NoFiles;
use dpm::compiled::{self, Compiled};
use dpm::data::eval::NoEnvironment;
use dpm::data::{Source, scan};
use dpm::mechanism::plan::{MechanismPlan, Noise};
use dpm::mechanism::{Number, Scope, execute, prepare, sums};
use dpm::model::{Builtin, ColumnId, Expr, ExprKind, Label, Range, Step, Table, Type};
use dpm::pipeline;
use dpm::run::Bound;
use dpm::sql::{Counted, Dialect, Request, Streamed, selects};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use rusqlite::types::Value;
use std::collections::BTreeMap;

const HEADERS: [&str; 9] = ["x", "y", "k", "m", "b", "c", "g", "h", "id"];

/// Every kind of expression that an engine may be asked for.
const ASKED: &str = "
release a0 = sum(x)
release a1 = sum(y)
release a2 = sum(k)
release a3 = count(b)
release a4 = histogram(g)
release a5 = histogram(g, b)
release a6 = histogram(m, h, c)
release a7 = sum(if b then x else 0)
release a8 = count(k < 40 and not c or m == 2)
release a9 = sum(m * k - 2)
release b0 = sum(x * y)
release b1 = sum(abs(m) + max(k, 20))
release b2 = sum(clip(x, 0.15, 0.25))
release b3 = sum(min(y, -y))
release b4 = count(is_na(x))
release b5 = count(is_na(g) or is_na(b))
release b6 = sum(y + k)
release b7 = sum(y, where = g == north)
release b9 = histogram(bin(y, [0.15, 0.2]))
each h of t {
  release c0 = sum(y)
  release c1 = histogram(g)
}
";

/// Ranges of `x`: wide, narrow, far from 0, subnormal, and with a grid coarser than doubles.
pub const RANGES: [(f64, f64); 9] =
    [(0.0, 10.0), (-5.0, 5.0), (2.0, 3.0), (0.1, 0.3), (-3.0, -1.0), (0.0, 1e15), (-1e90, 1e90), (0.0, 1e-90), (1e6, 1e6 + 0.1)];

pub fn program(lo: f64, hi: f64) -> Compiled {
    headed(lo, hi, "private t[n] {")
}

/// The same under another header, whose first columns may follow it.
pub fn headed(lo: f64, hi: f64, header: &str) -> Compiled {
    let text = format!(
        "budget eps(1)\n\n{header}\n  x: real in [{lo:?}, {hi:?}],\n  y: real in [0.1, 0.3] else 0.2,\n  k: int in 17..90,\n  m: int in -3..3 else 1,\n  b: bool,\n  c: bool else true,\n  g: category {{north, \"O'Hare\", \"a\\\\b\", \"été\", last}},\n  h: category {{a, b}} else a\n}}\n{ASKED}"
    );
    let checked = pipeline::check("a.dpm", &text, &NoFiles);
    assert!(!checked.diagnostics.iter().any(|d| d.is_error()), "{:?}", checked.diagnostics);
    compiled::compile(checked, Bound::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics))
}

/// Numbers at which a range, its grid or a double ends.
fn reals(lo: f64, hi: f64) -> Vec<f64> {
    let step = f64::powi(2.0, (lo.abs().max(hi.abs()).log2().floor() as i32 - 60).max((hi - lo).log2().floor() as i32 - 40));
    let mut all = vec![
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2e-308,
        1e-200,
        -1e-200,
        f64::MAX,
        f64::MIN,
        1e18,
        -1e18,
        9.3e18,
        lo,
        hi,
    ];
    all.extend([lo.next_down(), lo.next_up(), hi.next_up(), hi.next_down(), (lo + hi) / 2.0]);
    for k in [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, 0.499_999_999_999_999_94, 0.500_000_000_000_000_1, 1e9 + 0.5] {
        all.extend([lo + k * step, k * step, hi - k * step]);
    }
    all
}

/// A value of SQLite, and the text that CSV has for it.
fn number(x: f64) -> (Value, String) {
    (Value::Real(x), format!("{x:?}"))
}

fn whole(x: i64) -> (Value, String) {
    (Value::Integer(x), x.to_string())
}

fn pools(lo: f64, hi: f64) -> [Vec<(Value, String)>; 9] {
    let null = (Value::Null, String::new());
    let numbers = |lo: f64, hi: f64| {
        let mut all: Vec<_> = reals(lo, hi).into_iter().map(number).collect();
        all.extend([0, 1, 7, i64::MAX, i64::MIN, 9_007_199_254_740_993].map(whole));
        all.extend([(Value::Null, String::new()), (Value::Null, String::new())]);
        all
    };
    let mut wholes: Vec<_> = [-4, -3, -1, 0, 1, 2, 3, 4, 16, 17, 18, 89, 90, 91, i64::MAX, i64::MIN].map(whole).to_vec();
    wholes.extend([2.5, 3.5, -2.5, 16.5, 17.5, 90.49, 1e300, -1e300, f64::INFINITY].map(number));
    wholes.push(null.clone());
    let mut bools: Vec<_> = [0, 1, 2, -1].map(whole).to_vec();
    bools.extend([1.0, 0.5].map(number));
    bools.push(null.clone());
    let texts = [
        "north",
        "North",
        "north ",
        "\tnorth\r\n",
        "\u{b}north",
        "O'Hare",
        "a\\b",
        "a\\\\b",
        "été",
        "e\u{301}te\u{301}",
        "",
        " ",
        "zzz",
        "last",
        "a",
        " b",
        "b\u{a0}",
        "1",
    ];
    let mut texts: Vec<_> = texts.iter().map(|t| (Value::Text((*t).into()), format!("\"{t}\""))).collect();
    let long = " ".repeat(70_000) + "north";
    texts.push((Value::Text(long.clone()), long));
    texts.push(null.clone());
    texts.push(whole(1));
    let mut ids: Vec<_> =
        ["", "a", "A", " a", "a ", "é", "7", "07", "a\u{301}"].iter().map(|t| (Value::Text((*t).into()), format!("\"{t}\""))).collect();
    ids.extend([null, whole(7), whole(8)]);
    [numbers(lo, hi), numbers(0.1, 0.3), wholes.clone(), wholes, bools.clone(), bools, texts.clone(), texts, ids]
}

/// Rows of odd cells in a table of SQLite, and as CSV.
pub fn odd_rows(lo: f64, hi: f64, rows: usize, rng: &mut ChaCha20Rng) -> (rusqlite::Connection, String) {
    let pools = pools(lo, hi);
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch(&format!("CREATE TABLE t ({})", HEADERS.join(", "))).unwrap();
    let mut csv = HEADERS.join(",") + "\n";
    for i in 0..rows {
        // Every value of every pool, then any.
        let row: Vec<_> = pools.iter().map(|p| &p[if i < p.len() { i } else { rng.next_u32() as usize % p.len() }]).collect();
        db.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", rusqlite::params_from_iter(row.iter().map(|(v, _)| v)))
            .unwrap();
        csv += &(row.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>().join(",") + "\n");
    }
    (db, csv)
}

/// Totals in steps of a power of two, read off a release whose noise is far below a step.
fn totals(value: &Expr, table: &Table, csv: &[u8], group: Option<(ColumnId, usize)>, exponent: i32) -> Vec<i128> {
    let plan = MechanismPlan::Noise { table: T, value: value.clone(), noise: Noise::Laplace { scale: 2f64.powi(exponent - 8) } };
    let scope = Scope { table, group, env: &NoEnvironment };
    let source = Source::stored(std::io::Cursor::new(csv.to_vec()), false).unwrap();
    let measured = scan(table, source, &[prepare(&plan, &scope).unwrap()]).unwrap();
    let released = execute(&plan, &scope, &measured[0], &mut Seeded::new()).unwrap().remove(0);
    let whole = |x: Number| (x.index + (1 << (exponent - x.exponent - 1))) >> (exponent - x.exponent);
    released.components.into_iter().map(whole).collect()
}

/// The row aggregates of an expression, in the order of a walk, means as sums.
fn aggregates(value: &Expr) -> Vec<Expr> {
    let mut found = vec![];
    value.walk(&mut |e| match &e.kind {
        ExprKind::Call(Builtin::RowHistogram, _) => found.push(e.clone()),
        ExprKind::Call(f, args) if f.over_rows() && !args.is_empty() => {
            let kind = ExprKind::Call(Builtin::RowSum, vec![args[0].clone()]);
            found.push(Expr { kind, ty: Type::Real(Range::ALL), label: Label::Aggregate(T), span: span() });
        }
        _ => {}
    });
    found
}

/// (level, cell) to the integers of a row.
fn answered(db: &rusqlite::Connection, query: &str) -> BTreeMap<(i64, i64), [i64; 4]> {
    let mut statement = db.prepare(query).unwrap_or_else(|e| panic!("{e}\n{query}"));
    let rows = statement.query_map([], |r| Ok(((r.get(2)?, r.get(3)?), [r.get(4)?, r.get(5)?, r.get(6)?, r.get(7)?])));
    rows.unwrap().map(|row| row.unwrap_or_else(|e| panic!("{e}\n{query}"))).collect()
}

#[test]
fn integers_of_sqlite_are_the_totals_of_csv() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let rows = if std::env::var_os("DPM_LONG").is_some() { 20_000 } else { 600 };
    let mut cells = 0;
    for (lo, hi) in RANGES {
        let compiled = program(lo, hi);
        let program = &compiled.checked.program;
        // So little noise leaves room for this many rows, not for as many as any file has.
        let table = &mut program.tables[0].clone();
        table.rows.exactly = Some(rows as u64);
        let table = &*table;
        let (db, csv) = odd_rows(lo, hi, rows, &mut rng);
        for step in &program.steps {
            let (releases, group) = match step {
                Step::Release(r) => (vec![r], None),
                Step::Each(each) => (dpm::model::releases(&each.body), Some(each.key)),
                _ => continue,
            };
            for release in releases {
                let plan = compiled.analysis.release(release.id).unwrap().chosen.as_ref().unwrap().plan.as_ref().unwrap();
                let MechanismPlan::Noise { value, .. } = plan else { panic!("{}", release.name) };
                let statistics = sums(plan).unwrap();
                let counted = Counted { name: release.name.clone(), group, statistics };
                let request = Request { dialect: Dialect::Sqlite, id: T, table, from: "t", env: &NoEnvironment };
                let found = selects(&request, &counted).unwrap_or_else(|why| panic!("{}: {}", release.name, why.text()));
                let aggregates = aggregates(value);
                assert!(!aggregates.is_empty() && found.len() == aggregates.len(), "{}", release.name);
                for (select, aggregate) in found.iter().zip(&aggregates) {
                    let answer = answered(&db, &select.query);
                    for level in 0..if group.is_some() { 2 } else { 1 } {
                        let inside = group.map(|key| (key, level as usize));
                        let exponent = select.grid.map_or(0, |(exponent, _)| exponent);
                        for (cell, wanted) in totals(aggregate, table, csv.as_bytes(), inside, exponent).into_iter().enumerate() {
                            let [n, low, mid, high] = answer.get(&(level, cell as i64)).copied().unwrap_or_default().map(i128::from);
                            let total = match select.grid {
                                None => n,
                                Some((_, first)) => low + (mid << 20) + (high << 40) + n * i128::from(first),
                            };
                            assert_eq!(total, wanted, "{} on [{lo}, {hi}], level {level}, cell {cell}\n{}", release.name, select.query);
                            cells += rows;
                        }
                    }
                }
            }
        }
    }
    assert!(cells > 100_000, "{cells}");
}

/// What no query counts, and why; and that every dialect writes what SQLite is asked.
#[test]
fn what_is_not_counted_is_said() {
    let refused = |declared: &str, release: &str, dialect: Dialect| {
        let text = format!("budget eps(1)\n\nprivate t[n] {declared}\nrelease r = {release}\n");
        let checked = pipeline::check("a.dpm", &text, &NoFiles);
        let compiled = compiled::compile(checked, Bound::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let plan = compiled.analysis.releases[0].chosen.as_ref().unwrap().plan.clone().unwrap();
        let Some(statistics) = sums(&plan) else { return Some(Streamed::Rows) };
        let table = &compiled.checked.program.tables[0];
        let request = Request { dialect, id: T, table, from: "t", env: &NoEnvironment };
        selects(&request, &Counted { name: "r".into(), group: None, statistics }).err()
    };
    for dialect in Dialect::ALL {
        for (declared, release, why) in [
            ("{ x: real in [0, 1] }", "sum(x)", None),
            ("{ x: real in [0, 1] }", "quantile(x, 0.5)", Some(Streamed::Rows)),
            ("{ x: real in [0, 1] }", "sum(exp(x))", Some(Streamed::Function)),
            ("{ x: real in [0, 1] }", "sum(x / 3)", Some(Streamed::Function)),
            ("{ x: real in [0, 1], b: bool }", "mean(x, where = b)", Some(Streamed::Vector)),
            ("{ x: vector[2] in [0, 1] }", "sum(x)", Some(Streamed::Vector)),
            ("{ d: date in [\"2020-01-01\", \"2024-12-31\"] }", "histogram(month(d))", Some(Streamed::Date)),
            ("by u max 2 { u: text, x: real in [0, 1] }", "sum(x)", Some(Streamed::Units)),
            ("by u max 2 order x { u: text, x: real in [0, 1] }", "sum(x)", None),
            ("by u max 2 order x { u: real in [0, 1], x: real in [0, 1] }", "sum(x)", Some(Streamed::Key)),
            ("by u max 2 order x { u: text, x: real in [0, 1], v: vector[2] in [0, 1] }", "sum(x)", Some(Streamed::Ties)),
            ("{ x: real in [0, 1] }", "sum(x * x)", Some(Streamed::Product).filter(|_| dialect == Dialect::Postgres)),
        ] {
            assert_eq!(refused(declared, release, dialect), why, "{dialect:?}: {release}");
        }
    }
}
