//! Registered declarations: programs that ask for more are refused before any charge, narrowings run.

use super::{DPM, code, said};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// People with several visits each; `site` and `year` are public.
const SCHEMA: &str = "private visits[n >= 100] by patient max 4 {
    patient from \"id\": text,
    age: int in 18..99,
    cost: real in [0, 1000],
    urgent: bool,
    site: public category {north, south, other},
    year: public int in 2000..2030,
    ward: category {a, b, c},
    pain: vector[2] in [0, 10],
}
";

const CANARY: &str = "kanarie31337";

struct Clinic {
    folder: tempfile::TempDir,
}

impl Clinic {
    fn new() -> Clinic {
        let clinic = Clinic { folder: tempfile::tempdir().unwrap() };
        let row = |i: usize| format!("{CANARY}{},{},{}.5,{},north,2024,a,1,2\n", i / 2, 18 + i % 60, i, i % 2);
        let rows: String = (0..120).map(row).collect();
        fs::write(clinic.path("visits.csv"), format!("id,age,cost,urgent,site,year,ward,pain_1,pain_2\n{rows}")).unwrap();
        fs::write(clinic.path("schema.dpm"), SCHEMA).unwrap();
        let init = "ledger init l --dataset visits=visits.csv --schema schema.dpm --shared --budget zcdp(1)";
        let made = clinic.dpm(&init.split(' ').collect::<Vec<_>>());
        assert_eq!(code(&made), 0, "{}", said(&made));
        clinic
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dpm(&self, args: &[&str]) -> Output {
        Command::new(DPM).args(args).current_dir(self.folder.path()).output().unwrap()
    }

    fn run(&self, program: &str, more: &[&str]) -> Output {
        fs::write(self.path("p.dpm"), program).unwrap();
        let table = program.split("private ").nth(1).and_then(|t| t.split('[').next()).unwrap();
        let data = format!("{table}=@visits");
        self.dpm(&[&["run", "p.dpm", "--json", "--ledger", "l", "--data", &data], more].concat())
    }

    fn charges(&self) -> u64 {
        let shown: Value = serde_json::from_slice(&self.dpm(&["ledger", "show", "l", "--json"]).stdout).unwrap();
        shown["datasets"]["visits"]["charges"].as_u64().unwrap()
    }
}

fn program(header: &str, columns: &str, release: &str) -> String {
    format!("budget zcdp(0.001)\nprivate {header} {{ {columns} }}\n{release}\n")
}

const UNIT: &str = "t[n] by patient max 4";
const KEY: &str = "patient from \"id\": text";

fn of(column: &str, release: &str) -> String {
    program(UNIT, &format!("{KEY}, {column}"), release)
}

const COST: &str = "release s = sum(cost) using gaussian";

#[test]
fn narrowings_run() {
    let clinic = Clinic::new();
    let narrower = [
        of("cost: real in [0, 1000]", COST),
        of("cost: real in [10, 20]", COST),
        of("spent from \"cost\": real in [0, 500]", "release s = sum(spent) using gaussian"),
        program("t[n >= 100] by who max 2", "who from \"id\": text, cost: real in [0, 1000]", COST),
        of("site: category {north, south, other}, cost: real in [0, 1000]", "release s = histogram(site) using gaussian"),
        of("site: public category {south, rest}, cost: real in [0, 1000]", COST),
        of("ward: category {b, any}", "release s = histogram(ward) using gaussian"),
        of("year: public int in 2010..2020, cost: real in [0, 1]", COST),
        of("pain: vector[2] in [0, 5]", "release s = sum(pain) using gaussian"),
        of("pain: vector[2] in [2, 3], urgent: bool", "release s = count(urgent) using gaussian"),
        of("cost: real in [0, 1000] else 50, age: int in 18..99", "release s = sum(if is_na(age) then 0 else cost) using gaussian"),
    ];
    for (i, text) in narrower.iter().enumerate() {
        let output = clinic.run(text, &[]);
        assert_eq!(code(&output), 0, "{text}\n{}", said(&output));
        assert_eq!(clinic.charges(), i as u64 + 1);
    }
}

/// More public, another header, key or unit, wider bounds, other levels, more known of n: no charge, and not a cell.
#[test]
fn what_asks_for_more_is_refused_before_any_charge() {
    let clinic = Clinic::new();
    let count = "release s = count(cost > 1) using gaussian";
    let cheats = [
        // Private columns that are called public.
        of("cost: public real in [0, 1000]", "release s = count(cost > 1) using gaussian"),
        of("age: public int in 18..99, cost: real in [0, 1000]", COST),
        of("urgent: public bool, cost: real in [0, 1000]", COST),
        of("ward: public category {a, b, c}, cost: real in [0, 1000]", COST),
        of("pain: public vector[2] in [0, 10], cost: real in [0, 1000]", COST),
        of("site: public category {north, south, other}, ward: public category {a, b, c}, cost: real in [0, 1000]", COST),
        // Other headers.
        of("cost from \"id\": real in [0, 1000]", COST),
        of("x from \"pain_1\": real in [0, 10]", "release s = sum(x) using gaussian"),
        of("pain from \"pain_2, pain_1\": vector[2] in [0, 10]", "release s = sum(pain) using gaussian"),
        of("pain from \"age, cost\": vector[2] in [0, 10]", "release s = sum(pain) using gaussian"),
        of("pain: vector[3] in [0, 10]", "release s = sum(pain) using gaussian"),
        of("name from \"id\": category {kanarie313371, other}", "release s = histogram(name) using gaussian"),
        of("nothing: real in [0, 1]", "release s = sum(nothing) using gaussian"),
        // Other types.
        of("cost: int in 0..1000", COST),
        of("age: real in [18, 99]", "release s = sum(age) using gaussian"),
        of("age: bool", "release s = count(age) using gaussian"),
        of("urgent: int in 0..1", "release s = sum(urgent) using gaussian"),
        of("urgent: category {yes, no}", "release s = histogram(urgent) using gaussian"),
        of("year: public category {\"2024\", other}, cost: real in [0, 1000]", COST),
        of("site: public bool, cost: real in [0, 1000]", COST),
        // Wider bounds.
        of("cost: real in [0, 1001]", COST),
        of("cost: real in [-1, 1000]", COST),
        of("age: int in 17..99", "release s = sum(age) using gaussian"),
        of("year: public int in 1999..2030, cost: real in [0, 1000]", COST),
        of("year: public int in 2000..2031, cost: real in [0, 1000]", COST),
        of("pain: vector[2] in [0, 11]", "release s = sum(pain) using gaussian"),
        of("pain: vector[2] in l2(20)", "release s = sum(pain) using gaussian"),
        // Levels that are not registered, or that single out what the registration merges.
        of("ward: category {a, d, c}", "release s = histogram(ward) using gaussian"),
        of("ward: category {c, a}", "release s = histogram(ward) using gaussian"),
        of("site: public category {other, north}, cost: real in [0, 1000]", COST),
        of("site: public category {north, west, other}, cost: real in [0, 1000]", COST),
        // Which cells of a public column are missing.
        of(
            "year: public int in 2000..2030, cost: real in [0, 1000]",
            "release s = sum(cost) using gaussian\noutput m = count(is_na(t.year))",
        ),
        // Another unit, key or relation.
        program("t[n]", "cost: real in [0, 1000]", COST),
        program("t[private n]", "cost: real in [0, 1000]", COST),
        program("t[private n] by patient max 4", &format!("{KEY}, cost: real in [0, 1000]"), COST),
        program("t[n] by patient max 5", &format!("{KEY}, cost: real in [0, 1000]"), COST),
        program(UNIT, "patient from \"urgent\": text, cost: real in [0, 1000]", COST),
        program(UNIT, "patient: text, cost: real in [0, 1000]", COST),
        program("t[n] by visit max 1", "visit from \"cost\": text, age: int in 18..99", "release s = sum(age) using gaussian"),
        // More known of n.
        program("t[n >= 101] by patient max 4", &format!("{KEY}, cost: real in [0, 1000]"), COST),
        program("t[120] by patient max 4", &format!("{KEY}, cost: real in [0, 1000]"), COST),
        program("t[k] by patient max 4", &format!("{KEY}, cost: public real in [0, 1000]"), count),
    ];
    assert!(cheats.len() >= 40);
    for text in &cheats {
        let output = clinic.run(text, &[]);
        let why = said(&output);
        assert!([1, 4].contains(&code(&output)), "{text}\n{why}");
        assert!(code(&output) == 1 || why.contains("the registration of `visits` does not allow this"), "{text}\n{why}");
        assert!(output.stdout.is_empty() || code(&output) == 1, "{text}");
        assert!(!why.contains(&format!("{CANARY}1")) || text.contains(CANARY), "{why}");
    }
    assert_eq!(clinic.charges(), 0);
    let refused_by_the_ledger = cheats.iter().filter(|text| code(&clinic.run(text, &[])) == 4).count();
    assert!(refused_by_the_ledger >= 35, "{refused_by_the_ledger}");
}

/// A public column of a registration has its values public, not which of its cells are missing: `else` is no way to ask.
#[test]
fn missing_cells_of_public_columns_stay_private() {
    let clinic = Clinic::new();
    let schema = SCHEMA.replace("2000..2030,", "2000..2030 else 2004,").replace("other},\n    year", "other} else south,\n    year");
    fs::write(clinic.path("else.dpm"), schema).unwrap();
    assert_eq!(code(&clinic.dpm(&["ledger", "declare", "l", "--dataset", "visits", "--schema", "else.dpm"])), 0);
    let program = |column: &str| of(&format!("{column}, cost: real in [0, 1000] else 7"), COST);
    for (i, column) in [
        "year: public int in 2000..2030 else 2004",
        "year: public int in 2001..2004 else 2004",
        "year: public int in 2010..2020",
        "year: int in 2000..2030 else 2020",
        "site: public category {south, any} else south",
        "site: public category {north, any}",
        "site: category {north, south, other} else north",
    ]
    .iter()
    .enumerate()
    {
        let output = clinic.run(&program(column), &[]);
        assert_eq!((code(&output), clinic.charges()), (0, i as u64 + 1), "{column}: {}", said(&output));
    }
    for column in [
        "year: public int in 2000..2030",
        "year: public int in 2000..2030 else 2005",
        "year: public int in 2010..2020 else 2011",
        "site: public category {north, south, other}",
        "site: public category {south, any}",
        "site: public category {north, any} else north",
        "year: public int in 2000..2030 else 2004, again from \"year\": public int in 2000..2030 else 2005",
    ] {
        let output = clinic.run(&program(column), &[]);
        assert_eq!((code(&output), clinic.charges()), (4, 7), "{column}: {}", said(&output));
        assert!(said(&output).contains("which cells are missing is private"), "{column}: {}", said(&output));
    }
}

/// Registered rows are not public under any name: neither the file, nor a link, nor a copy.
#[test]
fn registered_rows_are_not_public() {
    let clinic = Clinic::new();
    fs::copy(clinic.path("visits.csv"), clinic.path("copy.csv")).unwrap();
    fs::hard_link(clinic.path("visits.csv"), clinic.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("visits.csv", clinic.path("soft.csv")).unwrap();
    let text = "budget zcdp(0.001)\nprivate t[n] by patient max 4 { patient from \"id\": text, cost: real in [0, 1000] }
public u[m] { age: int in 18..99 }\nrelease s = sum(cost) using gaussian\noutput total = sum(u.age)\n";
    for file in ["visits.csv", "copy.csv", "hard.csv", "soft.csv"] {
        let output = clinic.run(text, &["--public", &format!("u={file}")]);
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(output.stdout.is_empty() && said(&output).contains("holds private rows"), "{}", said(&output));
    }
    assert_eq!(clinic.charges(), 0);
}

/// Changing a declaration is an entry of the ledger, and what was charged stays charged.
#[test]
fn an_owner_declares_anew() {
    let clinic = Clinic::new();
    let wider = of("cost: real in [0, 2000]", COST);
    assert_eq!(code(&clinic.run(&wider, &[])), 4);
    assert_eq!(code(&clinic.run(&of("cost: real in [0, 1000]", COST), &[])), 0);
    fs::write(clinic.path("wide.dpm"), SCHEMA.replace("[0, 1000]", "[0, 2000]")).unwrap();
    let declare = clinic.dpm(&["ledger", "declare", "l", "--dataset", "visits", "--schema", "wide.dpm"]);
    assert_eq!(code(&declare), 0, "{}", said(&declare));
    assert_eq!(code(&clinic.run(&wider, &[])), 0);
    assert_eq!(clinic.charges(), 2);
    let history = String::from_utf8(clinic.dpm(&["ledger", "history", "l"]).stdout).unwrap();
    assert!(history.contains("declare visits anew"), "{history}");
    let shown = String::from_utf8(clinic.dpm(&["ledger", "show", "l"]).stdout).unwrap();
    assert!(shown.contains("cost: real in [0, 2000]"), "{shown}");
    assert_eq!(code(&clinic.dpm(&["ledger", "declare", "l", "--dataset", "nobody", "--schema", "wide.dpm"])), 2);
}

#[test]
fn a_schema_is_private_tables_alone() {
    let clinic = Clinic::new();
    for (schema, exit, part) in [
        ("private visits[n] { a: }\n", 1, "E0"),
        ("private visits[n] { a: bool }\nrelease c = count(a)\n", 1, "declares private tables and nothing else"),
        ("budget eps(1)\nprivate visits[n] { a: bool }\n", 1, "nothing else"),
        ("public visits[n] { a: bool }\n", 1, "nothing else"),
        ("private others[n] { a: bool }\n", 2, "does not declare `visits`"),
    ] {
        fs::write(clinic.path("s.dpm"), schema).unwrap();
        let init = ["ledger", "init", "m", "--dataset", "visits=visits.csv", "--schema", "s.dpm", "--shared", "--budget", "eps(1)"];
        let output = clinic.dpm(&init);
        assert!(code(&output) == exit && said(&output).contains(part), "{schema}{}", said(&output));
        assert!(!clinic.path("m").exists());
    }
}

/// Who may read the file needs no ledger: its owner is told so.
#[cfg(unix)]
#[test]
fn files_that_others_may_read_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let clinic = Clinic::new();
    let init = ["ledger", "init", "m", "--dataset", "visits=visits.csv", "--schema", "schema.dpm", "--budget", "eps(1)"];
    for (mode, exit) in [(0o644, 2), (0o640, 2), (0o604, 2), (0o600, 0)] {
        fs::set_permissions(clinic.path("visits.csv"), fs::Permissions::from_mode(mode)).unwrap();
        let output = clinic.dpm(&init);
        assert_eq!(code(&output), exit, "{mode:o}: {}", said(&output));
        assert!(exit == 0 || said(&output).contains("chmod 600"));
    }
}
