//! Where rows may be: SQLite through the binary, with the answers of CSV and nothing of its texts; `dpm sql` and `dpm sources`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What stands in every cell that no message may show, and in a number.
const SENTINEL: &str = "kanarie-31337";
const PROGRAM: &str = "private t[6] { x: real in [0, 10], g: category {u, v}, id: text }
release s = sum(x) using laplace(scale = 1e-9)
release c = count(g == u) using laplace(scale = 1e-9)
";

fn dpm(place: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    let out = command.args(args).current_dir(place).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap();
    let [shown, said] = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!said.contains(SENTINEL) && !shown.contains(SENTINEL), "{shown}{said}");
    (out.status.code(), shown, said)
}

/// Released numbers, whose noise is far smaller than what is shown.
fn answers(place: &Path, data: &str) -> Vec<i64> {
    let (code, shown, said) = dpm(place, &["run", "q.dpm", "--data", data]);
    assert_eq!(code, Some(0), "{said}");
    let lines = shown.lines().filter(|l| l.starts_with("released"));
    lines.map(|l| (l.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap() * 1000.0).round() as i64).collect()
}

fn made() -> TempDir {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("q.dpm"), PROGRAM).unwrap();
    let db = rusqlite::Connection::open(place.path().join("people.db")).unwrap();
    db.execute_batch(&format!(
        "CREATE TABLE t (x REAL, g TEXT, id TEXT);
         INSERT INTO t VALUES (1.5, 'u', '{SENTINEL}'), (NULL, 'v', '{SENTINEL}'), ('{SENTINEL}', 'w', '{SENTINEL}'), (99, '{SENTINEL}', ''), (2, '', '{SENTINEL}'), (3.25, 'u', NULL);
         CREATE TABLE short AS SELECT x, g FROM t;
         CREATE VIEW seen AS SELECT * FROM t;
         CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 1.5 AS x, '{SENTINEL}' AS g, '{SENTINEL}' AS id FROM n;"
    ))
    .unwrap();
    drop(db);
    fs::write(place.path().join("t.csv"), format!("x,g,id\n1.5,u,{SENTINEL}\n,v,\n{SENTINEL},w,\n99,{SENTINEL},\n2,,\n3.25,u,\n")).unwrap();
    place
}

#[test]
fn a_table_of_sqlite_answers_as_its_csv_and_errors_have_fixed_texts() {
    let folder = made();
    let place = folder.path();
    assert_eq!(answers(place, "t.csv"), [16_750, 2000]);
    assert_eq!(answers(place, "t=sqlite:people.db?table=t"), [16_750, 2000]);
    // Pages in the middle are overwritten: what SQLite says of it reaches nobody.
    let mut bytes = fs::read(place.join("people.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_000].fill(0xff);
    fs::write(place.join("broken.db"), bytes).unwrap();
    for (data, why) in [
        ("sqlite:people.db?table=short", "the file for `t` has no column `id`"),
        ("sqlite:people.db?table=seen", "the database has no such table (views and virtual tables are not read)"),
        ("sqlite:people.db?table=none", "the database has no such table (views and virtual tables are not read)"),
        ("sqlite:people.db", "a table of a database is named sqlite:FILE?table=NAME"),
        ("sqlite:none.db?table=t", "the file cannot be opened"),
        (
            "sqlite:t.csv?table=t",
            "the file is not an SQLite database, or it is in use or needs to be recovered: open it once with `sqlite3`",
        ),
        ("sqlite:people.db?table=many", "the file for `t` does not have exactly 6 rows"),
        ("sqlite:broken.db?table=many", "the file cannot be read"),
    ] {
        let (code, shown, said) = dpm(place, &["run", "q.dpm", "--data", data]);
        assert_eq!((code, shown.as_str(), said), (Some(3), "", format!("error: {data}: {why}\n")));
    }
    // Nothing of a database is public, and a ledger registers files alone.
    fs::write(place.join("p.dpm"), "private t[6] { x: real in [0, 10] }\npublic p { x: real in [0, 10] }\nrelease s = sum(x)\n").unwrap();
    let (code, ..) = dpm(place, &["run", "q.dpm", "--data", "sqlite:people.db?table=t", "--public", "p=people.db"]);
    assert_eq!(code, Some(2));
    fs::write(place.join("s.dpm"), "private t[6] { x: real in [0, 10], g: category {u, v}, id: text }\n").unwrap();
    let init = ["ledger", "init", "l", "--dataset", "t=sqlite:people.db?table=t", "--schema", "s.dpm", "--shared", "--budget", "eps(1)"];
    assert_ne!(dpm(place, &init).0, Some(0));
}

#[test]
fn a_query_is_printed_and_what_is_read_row_by_row_is_named() {
    let folder = made();
    let place = folder.path();
    fs::write(
        place.join("a.dpm"),
        "budget eps(1)\n\nprivate t[n] { x: real in [0, 10], g: category {u, v} }\n\nrelease s = sum(x)\nrelease h = histogram(g)\n",
    )
    .unwrap();
    for dialect in ["duckdb", "postgres", "spark", "datafusion", "sqlite"] {
        let (code, shown, said) = dpm(place, &["sql", "a.dpm", "--dialect", dialect]);
        assert_eq!((code, said.as_str()), (Some(0), ""));
        assert!(shown.contains("count(*)") && shown.contains("UNION ALL") && shown.contains("as private as the rows"), "{shown}");
    }
    let (_, query, _) = dpm(place, &["sql", "a.dpm", "--dialect", "sqlite", "--from", "t=(SELECT * FROM seen WHERE g <> 'u')"]);
    let db = rusqlite::Connection::open(place.join("people.db")).unwrap();
    let mut statement = db.prepare(&query).unwrap();
    let found = statement.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(3)?, r.get::<_, i64>(4)?)));
    let found: Vec<_> = found.unwrap().map(Result::unwrap).collect();
    assert_eq!(found, [("s".into(), 0, 4), ("h".into(), 1, 4)]);
    assert_eq!(dpm(place, &["sql", "a.dpm", "--dialect", "oracle"]).0, Some(2));
    assert_eq!(dpm(place, &["sql", "a.dpm", "--dialect", "spark", "--from", "u=x"]).0, Some(2));
    fs::write(
        place.join("b.dpm"),
        "budget eps(1)\n\nprivate t[n] { x: real in [0, 10], g: category {u, v} }\n\nrelease s = sum(x)\nrelease m = quantile(x, 0.5)\n",
    )
    .unwrap();
    let (code, shown, said) = dpm(place, &["sql", "b.dpm", "--dialect", "spark"]);
    assert_eq!((code, shown.as_str()), (Some(1), ""));
    assert!(said.contains("error: `m` is not counted by a query: its mechanism keeps every row"), "{said}");
    let (code, shown, _) = dpm(place, &["sources", "b.dpm"]);
    assert_eq!(code, Some(0));
    assert!(
        shown.contains("  s: counted by a query (dpm sql --dialect duckdb)\n  m: read row by row: its mechanism keeps every row\n"),
        "{shown}"
    );
}

/// The text of a query, which is one of the lines that a program prints, and its answer in SQLite as CSV.
fn asked(place: &Path, args: &[&str], answer: &str) {
    let (code, query, said) = dpm(place, &[&["sql"], args].concat());
    assert_eq!((code, said.as_str()), (Some(0), ""));
    fs::write(place.join(answer.replace("csv", "sql")), &query).unwrap();
    let db = rusqlite::Connection::open(place.join("people.db")).unwrap();
    let mut statement = db.prepare(&query).unwrap();
    let mut csv = statement.column_names().collect::<Vec<_>>().join(",") + "\n";
    let width = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cell =
            |i| row.get::<_, rusqlite::types::Value>(i).map(|v| if let rusqlite::types::Value::Text(t) = v { t } else { integer(&v) });
        csv += &((0..width).map(|i| cell(i).unwrap()).collect::<Vec<_>>().join(",") + "\n");
    }
    fs::write(place.join(answer), csv).unwrap();
}

fn integer(value: &rusqlite::types::Value) -> String {
    if let rusqlite::types::Value::Integer(n) = value { n.to_string() } else { panic!("{value:?}") }
}

#[test]
fn what_an_engine_counted_is_released_as_rows_are() {
    let folder = made();
    let place = folder.path();
    asked(place, &["q.dpm", "--dialect", "sqlite"], "a.csv");
    let wanted = "released  s";
    let (code, shown, said) = dpm(place, &["run", "q.dpm", "--counted", "t=a.csv", "--engine", "sqlite 3.54.1", "-o", "r.json"]);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{shown}");
    assert!(shown.contains(wanted) && shown.contains("16.750") && shown.contains("2.000"), "{shown}");
    let query = fs::read(place.join("a.sql")).unwrap();
    let digest = dpm::verify::sha256(&query);
    assert!(shown.contains(&format!("assumes that the integers of `t` are what the query with SHA-256 {digest} (sqlite) gives in an engine, sqlite 3.54.1, which is tested\n")), "{shown}");
    let record: serde_json::Value = serde_json::from_slice(&fs::read(place.join("r.json")).unwrap()).unwrap();
    assert_eq!(record["counted"][0]["query"], digest);
    assert_eq!(record["counted"][0]["tested"], true);
    assert_eq!(record["counted"][0]["assumes"].as_array().unwrap().len(), 3);
    // The certificate is that of the program, whoever counts.
    let (_, certificate, _) = dpm(place, &["certify", "q.dpm", "--json"]);
    let certificate: serde_json::Value = serde_json::from_str(&certificate).unwrap();
    assert_eq!(record["certificate"], certificate);
    // A bare path, another engine, and rows elsewhere, which are another query.
    let (code, shown, _) = dpm(place, &["run", "q.dpm", "--counted", "a.csv", "--engine", "trino 450"]);
    assert!(code == Some(0) && shown.contains("trino 450, which is not among the tested ones"), "{shown}");
    asked(place, &["q.dpm", "--dialect", "sqlite", "--from", "t=seen"], "b.csv");
    let not_asked = "this is not an answer to the query for `t` that `dpm sql` prints of this program, --public and --from\n";
    let (code, shown, said) = dpm(place, &["run", "q.dpm", "--counted", "b.csv"]);
    assert_eq!((code, shown.as_str(), said), (Some(3), "", format!("error: b.csv: {not_asked}")));
    assert_eq!(dpm(place, &["run", "q.dpm", "--counted", "b.csv", "--from", "t=seen"]).0, Some(0));
    assert_eq!(dpm(place, &["run", "q.dpm", "--counted", "t.csv"]).0, Some(3));
    // One text for everything that no answer holds.
    let text = fs::read_to_string(place.join("a.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let not_whole = "error: c.csv: the answer to the query for `t` is not complete: integers are missing or malformed, or rows are counted that it cannot have\n";
    let not_six = "error: c.csv: the file for `t` does not have exactly 6 rows\n";
    let broken = [
        (lines[..2].join("\n"), not_whole),
        (text.replace(",6,", &format!(",{SENTINEL},")), not_whole),
        (text.replace(",6,", ",7,"), not_six),
        (text.replace(",6,", ",-6,"), not_six),
        (format!("{text}{}\n", lines[1]), not_whole),
    ];
    for (text, wanted) in broken {
        fs::write(place.join("c.csv"), text).unwrap();
        let (code, shown, said) = dpm(place, &["run", "q.dpm", "--counted", "c.csv"]);
        assert_eq!((code, shown.as_str(), said.as_str()), (Some(3), "", wanted));
    }
}

#[test]
fn what_cannot_be_counted_is_refused_before_anything_is_opened() {
    let folder = made();
    let place = folder.path();
    fs::write(
        place.join("b.dpm"),
        "budget eps(1)\nprivate t[6] { x: real in [0, 10] }\nrelease s = sum(x)\nrelease m = quantile(x, 0.5)\n",
    )
    .unwrap();
    fs::write(
        place.join("two.dpm"),
        "budget eps(9)\nprivate t[6] { x: real in [0, 10] }\nprivate u[6] { x: real in [0, 10] }\nrelease s = sum(t.x)\n",
    )
    .unwrap();
    let said = |args: &[&str]| {
        let (code, shown, said) = dpm(place, &[&["run", "--anyway"], args].concat());
        assert_eq!(shown, "");
        (code, said.lines().find(|line| line.starts_with("error: ")).unwrap_or_default().to_owned())
    };
    let refused = |code, text: &str| (Some(code), format!("error: {text}"));
    assert_eq!(said(&["b.dpm", "--counted", "t=none.csv"]), refused(1, "`m` is not counted by a query: its mechanism keeps every row"));
    assert_eq!(said(&["q.dpm", "--counted", "none.csv"]), refused(3, "none.csv: the file cannot be opened"));
    assert_eq!(
        said(&["q.dpm", "--counted", "a.csv", "--data", "t.csv"]),
        refused(2, "`t` has either rows or what was counted of them: --data or --counted")
    );
    assert_eq!(
        said(&["q.dpm", "--counted", "v=a.csv"]),
        refused(2, "--counted wants NAME=PATH with the name of a private table, not `v=a.csv`")
    );
    assert_eq!(
        said(&["q.dpm", "--counted", "a.csv", "--engine", "a\u{1b}b"]),
        refused(2, "--engine wants a name and a version in plain letters:    --engine 'spark 3.5.1'")
    );
    assert_eq!(
        said(&["q.dpm", "--counted", "a.csv", "--ledger", "l"]),
        refused(
            2,
            "a ledger charges for registered rows, and what an engine has counted is not registered: --counted cannot be used with --ledger"
        )
    );
    fs::write(
        place.join("when.dpm"),
        "private t[6] { x: real in [0, 10] }\nrelease s = sum(x) using laplace(scale = 90)\n\
         when s > 10 { release a = sum(x) using laplace(scale = 90) } else { release a = sum(x) using laplace(scale = 99) }\n",
    )
    .unwrap();
    let twice = "two releases are called `a`, and an answer tells them apart by name: rename one";
    assert_eq!(said(&["when.dpm", "--counted", "a.csv"]), refused(2, twice));
    let wrong = said(&["two.dpm", "--counted", "u=a.csv", "--data", "t=t.csv"]);
    assert_eq!(wrong, refused(2, "no release asks anything of `u`, so no query does: --data u=PATH"));
}
