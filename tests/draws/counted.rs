//! What an engine has counted in place of rows: the same draws as of the rows, and one fixed error on what is no answer.

use crate::data_support::{Seeded, T};
use crate::sql::{RANGES, headed, odd_rows, program};
use dpm::compiled::Compiled;
use dpm::data::eval::NoEnvironment;
use dpm::data::{Answered, Counts, DataError, Source, count_rows, scan};
use dpm::mechanism::plan::{MechanismPlan, Noise};
use dpm::mechanism::{Released, Scope, execute, prepare, sums};
use dpm::model::{ColumnId, ReleaseStep, Step, Table};
use dpm::sql::{Counted, Dialect, Request, Select, selects, united};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

fn source(text: &str) -> Source {
    Source::new(std::io::Cursor::new(text.to_owned()))
}

fn releases(compiled: &Compiled) -> Vec<(&ReleaseStep, Option<(ColumnId, usize)>)> {
    let steps = compiled.checked.program.steps.iter();
    let found = steps.flat_map(|step| match step {
        Step::Release(r) => vec![(r, None)],
        Step::Each(e) => dpm::model::releases(&e.body).into_iter().map(|r| (r, Some((e.key, e.levels.len())))).collect(),
        _ => vec![],
    });
    found.collect()
}

/// The selects of a release.
fn selected(compiled: &Compiled, release: &ReleaseStep, group: Option<ColumnId>) -> Vec<Select> {
    let table = &compiled.checked.program.tables[0];
    let request = Request { dialect: Dialect::Sqlite, id: T, table, from: "t", env: &NoEnvironment };
    let plan = compiled.analysis.release(release.id).unwrap().chosen.as_ref().unwrap().plan.as_ref().unwrap();
    let counted = Counted { name: release.name.clone(), group, statistics: sums(plan).unwrap() };
    selects(&request, &counted).unwrap_or_else(|why| panic!("{}: {}", release.name, why.text()))
}

/// The query of a program, its mark, and what its answer holds.
fn query(compiled: &Compiled) -> (String, String, Vec<Answered>) {
    let (mut all, mut answered) = (vec![], vec![]);
    for (release, group) in releases(compiled) {
        for (part, select) in selected(compiled, release, group.map(|(key, _)| key)).into_iter().enumerate() {
            let (levels, cells) = (group.map(|(_, levels)| levels), select.cells.map(|dim| dim as usize));
            answered.push(Answered { name: release.name.clone(), part, levels, cells });
            all.push(select);
        }
    }
    let (text, mark) = united(all.iter());
    (text, mark, answered)
}

/// An answer as a client of the engine writes it, a header before its lines.
fn answer(db: &rusqlite::Connection, query: &str) -> Vec<Vec<String>> {
    let mut statement = db.prepare(query).unwrap();
    let mut lines = vec![statement.column_names().map(str::to_owned).collect::<Vec<_>>()];
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cell = |i| match row.get_ref_unwrap(i) {
            rusqlite::types::ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
            cell => cell.as_i64().unwrap().to_string(),
        };
        lines.push((0..lines[0].len()).map(cell).collect());
    }
    lines
}

fn text(lines: &[Vec<String>]) -> String {
    lines.iter().map(|cells| cells.join(",") + "\n").collect()
}

/// What is drawn for a release, with so little noise that no total hides behind it where it is noise, in all of its groups.
fn drawn(compiled: &Compiled, table: &Table, csv: &str, counts: Option<&Counts>) -> Vec<Vec<Released>> {
    let mut all = vec![];
    for (release, group) in releases(compiled) {
        let mut plan = compiled.analysis.release(release.id).unwrap().chosen.as_ref().unwrap().plan.clone().unwrap();
        if let MechanismPlan::Noise { noise, .. } = &mut plan {
            let selects = selected(compiled, release, group.map(|(key, _)| key));
            let step = selects.iter().map(|s| s.grid.map_or(0, |(exponent, _)| exponent)).min().unwrap();
            *noise = Noise::Laplace { scale: 2f64.powi(step - 8) };
        }
        for level in 0..group.map_or(1, |(_, levels)| levels) {
            let scope = Scope { table, group: group.map(|(key, _)| (key, level)), env: &NoEnvironment };
            let job = prepare(&plan, &scope).unwrap();
            let measured = match counts {
                Some(counts) => counts.measured(&release.name, &job).unwrap(),
                None => scan(table, source(csv), &[job]).unwrap().remove(0),
            };
            all.push(execute(&plan, &scope, &measured, &mut Seeded::new()).unwrap());
        }
    }
    all
}

/// Rows of which all numbers are known: so little noise leaves room for these, not for as many as any file has.
fn with_rows(compiled: &Compiled, rows: usize) -> Table {
    let mut table = compiled.checked.program.tables[0].clone();
    table.rows.exactly = Some(rows as u64);
    table
}

#[test]
fn integers_are_as_good_as_rows() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for (lo, hi) in RANGES {
        let compiled = program(lo, hi);
        let (db, csv) = odd_rows(lo, hi, 200, &mut rng);
        let (query, mark, answered) = query(&compiled);
        let mut lines = answer(&db, &query);
        // In any order.
        lines[1..].reverse();
        let table = with_rows(&compiled, 200);
        let counts = Counts::read(&table, source(&text(&lines)), &mark, &answered).unwrap();
        assert_eq!(counts.public_rows(&table), Some(200));
        assert!(drawn(&compiled, &table, &csv, None) == drawn(&compiled, &table, &csv, Some(&counts)), "[{lo}, {hi}]");
    }
}

/// Rows of units that a column chooses: the engine numbers them, dpm sorts them.
#[test]
fn an_engine_keeps_the_least_rows_of_every_unit() {
    let mut rng = ChaCha20Rng::seed_from_u64(13);
    for (lo, hi) in RANGES {
        for unit in [
            "by id max 2 order x { id: text,",
            "by id max 30 order k { id: text,",
            "by g max 3 order h {",
            "by m max 4 order y {",
            "by b max 20 order g {",
        ] {
            let compiled = headed(lo, hi, &format!("private t[n] {unit}"));
            let (db, csv) = odd_rows(lo, hi, 200, &mut rng);
            let (query, mark, answered) = query(&compiled);
            let mut table = compiled.checked.program.tables[0].clone();
            table.rows.exactly = count_rows(&table, source(&csv)).unwrap();
            assert!(table.rows.exactly.unwrap() < 200);
            let counts = Counts::read(&table, source(&text(&answer(&db, &query))), &mark, &answered).unwrap();
            assert!(drawn(&compiled, &table, &csv, None) == drawn(&compiled, &table, &csv, Some(&counts)), "{unit} on [{lo}, {hi}]");
        }
    }
}

/// A program that asks for one count.
fn counting(header: &str) -> Compiled {
    let text = format!("budget eps(1)\n\nprivate t[n] {header}\nrelease r = count(b)\n");
    let checked = dpm::pipeline::check("a.dpm", &text, &dpm::check::NoFiles);
    dpm::compiled::compile(checked, Default::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics))
}

/// Keys that are too long are one key, which is not that of empty cells: rows as in files.
#[test]
fn long_keys_are_not_empty_ones() {
    let compiled = counting("by u max 1 order k { u: text, k: int in 0..99, b: bool }");
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE t (u, k, b)").unwrap();
    let mut csv = "u,k,b\n".to_owned();
    let [at_most, long, longer] = [1 << 16, (1 << 16) + 1, 70_000].map(|n| "a".repeat(n));
    for (k, u) in ["", &long, "x", &longer, &at_most, ""].into_iter().enumerate() {
        db.execute("INSERT INTO t VALUES (?1, ?2, 1)", rusqlite::params![u, k as i64]).unwrap();
        csv += &format!("{u},{k},1\n");
    }
    let (query, mark, answered) = query(&compiled);
    let mut table = compiled.checked.program.tables[0].clone();
    table.rows.exactly = count_rows(&table, source(&csv)).unwrap();
    assert_eq!(table.rows.exactly, Some(4));
    let counts = Counts::read(&table, source(&text(&answer(&db, &query))), &mark, &answered).unwrap();
    assert!(drawn(&compiled, &table, &csv, None) == drawn(&compiled, &table, &csv, Some(&counts)));
}

/// Parsers bound how many selects stand in each other: their number does not grow with that of the columns.
#[test]
fn selects_are_nested_no_deeper_for_more_columns() {
    let depth = |columns: usize| {
        let more: String = (0..columns).map(|i| format!(", x{i}: real in [0, 1]")).collect();
        let compiled = counting(&format!("by u max 2 order k {{ u: text, k: int in 0..9, b: bool{more} }}"));
        query(&compiled).0.matches("FROM (").count()
    };
    assert_eq!(depth(1), depth(30));
}

/// No setting of a session changes what a literal stands for.
#[test]
fn literals_mean_one_text_in_every_session() {
    let text = "a\\b'c${d}";
    assert_eq!(Dialect::Sqlite.text(text), "'a\\b''c${d}'");
    assert_eq!(Dialect::DuckDb.text(text), "'a\\b''c${d}'");
    assert_eq!(Dialect::Postgres.text(text), "E'a\\\\b''c${d}'");
    assert_eq!(Dialect::Spark.text(text), "concat('a', char(92), 'b', char(39), 'c', char(36), '{d}')");
    assert_eq!(Dialect::Spark.text("plain"), "'plain'");
}

/// Posteriors, whose plans ask for one statistic, of public and of secret n.
#[test]
fn posteriors_are_drawn_from_integers() {
    for (rows, release) in [
        ("n", "param p ~ beta(2, 3)\nobserve b ~ bernoulli(p)\nrelease r = draw(p) using diffuse(r = 0.5)"),
        ("n", "param q ~ dirichlet([1, 2, 3])\nobserve g ~ categorical(q)\nrelease r = draw(q) using diffuse(r = 0.5)"),
        ("n", "param l ~ gamma(2, 3)\nobserve k ~ poisson(l)\nrelease r = draw(l) using diffuse(r = 0.01)"),
        ("private n", "param p ~ beta(2, 3)\nobserve b ~ bernoulli(p)\nrelease r = posterior(p)"),
        ("n", "param m ~ normal(0, 1)\nobserve x ~ normal(m, 2)\nrelease r = posterior(m)"),
        ("private n", "param q ~ dirichlet([1, 2, 3])\nobserve g ~ categorical(q)\nrelease r = posterior(q)"),
    ] {
        let text_of = format!(
            "budget eps(1)\n\nprivate t[{rows}] {{ x: real in [0, 1], b: bool, g: category {{u, v, w}}, k: int in 0..9 }}\n{release}\n"
        );
        let text_of =
            if release.contains("gamma") || release.contains("diffuse") { text_of.replace("budget eps(1)\n", "") } else { text_of };
        let checked = dpm::pipeline::check("a.dpm", &text_of, &dpm::check::NoFiles);
        let compiled = dpm::compiled::compile(checked, Default::default()).unwrap_or_else(|r| panic!("{text_of}{:?}", r.diagnostics));
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE TABLE t (x, b, g, k); INSERT INTO t VALUES (0.3, 1, 'u', 3), (0.7, 0, 'w', 12), (NULL, NULL, NULL, NULL), (2.5, 1, 'v', 1), (0.1, 1, 'u', -4)",
        )
        .unwrap();
        let csv = "x,b,g,k\n0.3,1,u,3\n0.7,0,w,12\n,,,\n2.5,1,v,1\n0.1,1,u,-4\n";
        let (query, mark, answered) = query(&compiled);
        let table = compiled.checked.program.tables[0].clone();
        let counts = Counts::read(&table, source(&text(&answer(&db, &query))), &mark, &answered).unwrap();
        assert_eq!(counts.public_rows(&table), Some(5).filter(|_| rows == "n"));
        assert!(drawn(&compiled, &table, csv, None) == drawn(&compiled, &table, csv, Some(&counts)), "{text_of}");
    }
}

/// Whatever stands in an answer, there is one error, and without it draws of what rows might have given.
#[test]
fn what_is_no_answer_has_one_error() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let compiled = program(0.0, 10.0);
    let (db, csv) = odd_rows(0.0, 10.0, 50, &mut rng);
    let (query, mark, answered) = query(&compiled);
    let lines = answer(&db, &query);
    let table = with_rows(&compiled, 50);
    let read = |text: &str| Counts::read(&table, source(text), &mark, &answered);
    let broken = Some(DataError::Miscounted { table: "t".into() });
    let most = i128::MAX.to_string();
    let odd =
        ["", "x", "-1", "0", "1e3", "2.0", "99", "0x1", "NULL", "18446744073709551616", &most, "170141183460469231731687303715884105728"];
    let mut taken = 0;
    for _ in 0..400 {
        let mut lines = lines.clone();
        let at = 1 + rng.next_u32() as usize % (lines.len() - 1);
        match rng.next_u32() % 8 {
            0 => drop(lines.remove(at)),
            1 => lines.push(lines[at].clone()),
            _ => lines[at][rng.next_u32() as usize % 8] = odd[rng.next_u32() as usize % odd.len()].into(),
        }
        match read(&text(&lines)) {
            Ok(counts) => {
                taken += 1;
                drawn(&compiled, &table, &csv, Some(&counts));
            }
            error => assert_eq!(error.err(), broken),
        }
    }
    assert!(taken > 20, "{taken}");
    // Sums beyond what so many rows can have are moved to their ends.
    let set = |n: usize, to: &str| {
        let mut lines = lines.clone();
        let line = lines.iter_mut().find(|l| l[0] == "a0").unwrap();
        line[n] = to.into();
        drawn(&compiled, &table, &csv, Some(&read(&text(&lines)).unwrap()))[0].clone()
    };
    assert!(set(7, &most) == set(6, "99999999999999999999") && set(5, "-1") != set(7, &most));
    // Other tables, other numbers of rows, and the mark of another query.
    let unasked = Some(DataError::Unasked { table: "t".into() });
    assert_eq!(read(&text(&lines).replacen(&mark, "dpm_0123456789abcdef", 1)).err(), unasked);
    assert_eq!(read("x,y\n1,2\n").err(), unasked);
    assert_eq!(read("").err(), Some(DataError::NoHeader { table: "t".into() }));
    assert_eq!(read(&text(&lines[..1])).err(), broken);
    let fifty_one = Some(DataError::Rows { table: "t".into(), wanted: 51, exactly: true });
    assert_eq!(Counts::read(&with_rows(&compiled, 51), source(&text(&lines)), &mark, &answered).err(), fifty_one);
}
