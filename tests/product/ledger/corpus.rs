//! Programs of somebody who wanted to learn one row of a registered data set, each against two files that differ in one row: what is refused, and that both runs
//! end alike. attempts.txt holds them: `== EXIT CHARGES TABLE, arguments: what was tried`, then the program, where `{t}` is the declaration of `t`.

use super::*;

const COLUMNS: &str = "age: int in 18..90, smoker: bool, income: real in [0, 200], city: category {north, south, east, west}, \
                       day from \"visit date\": date in [\"2020-01-01\", \"2024-12-31\"]";
const DAYS: &str = "private days[n >= 50] { age: public int in 18..90 else 60, pay: public real in [-10, 10], x: vector[2] in l2(1), \
                    city: public category {n, s, e, w} else n, flag: public bool else true, \
                    day: public date in [\"2020-01-01\", \"2022-12-31\"] else \"2021-06-30\", name: bool }";
const PEOPLE: &str = "private people[n >= 100] { age: int in 18..99, smoker: bool, region: public category {north, south, east, west}, \
                      income: real in [0, 200000], visits: int in 0..20, joined: date in [\"2024-01-01\", \"2024-12-31\"] }";
const TABLES: [&str; 7] = ["t", "v", "p", "q", "g", "days", "people"];

/// The declaration that a table is registered with.
fn declared(table: &str) -> String {
    match table {
        "v" => format!("private v[n] by id max 3 {{ id: text, {COLUMNS} }}"),
        "p" => format!("private p[private n] by id max 3 {{ id: text, {COLUMNS} }}"),
        "q" => format!("private q[private n] {{ {COLUMNS} }}"),
        "g" => format!("private g[200] {{ {} }}", COLUMNS.replace("city: ", "city: public ")),
        "days" => DAYS.to_string(),
        "people" => PEOPLE.to_string(),
        _ => format!("private t[n >= 100] {{ {COLUMNS} }}"),
    }
}

/// The file of a table; `odd` is the neighbour, in which row 101 has cells that nobody declared. What is public is the same in both.
fn rows(table: &str, odd: bool) -> String {
    let header = match table {
        "days" => "age,pay,x_1,x_2,city,flag,day,name\n",
        "people" => "id,age,smoker,region,income,visits,joined\n",
        _ => "id,age,smoker,income,city,visit date\n",
    };
    let row = |i: usize| {
        let (odd, day, age, place) = (odd && i == 101, 1 + i % 28, 18 + i % 60, ["north", "south", "west"][i % 3]);
        let letter = &place[..1];
        match (table, odd) {
            ("days", false) => format!("{age},{}.5,0.6,-0.3,{letter},true,2021-03-{day:02},true\n", i % 9),
            ("days", true) => format!("{age},{}.5,1e308,NA,{letter},true,2021-03-{day:02},\"a\nb\"\n", i % 9),
            ("people", false) => format!("p{i},{age},{},{place},{}.25,{},2024-07-{day:02}\n", i.is_multiple_of(3), i * 190, i % 13),
            ("people", true) => format!("p{i},1e400,\"\",{place},-{},,9999-99-99\n", "7".repeat(4000)),
            (_, false) => format!("P{:03},{age},{},{}.25,{place},2021-07-{day:02}\n", i / 2, i.is_multiple_of(3), i % 190),
            (_, true) => {
                let city = if table == "g" { place } else { "\"atlantis, or so\"" };
                format!("P{:03},1e400,\"\",-{},{city},9999-99-99\n", i / 2, "7".repeat(4000))
            }
        }
    };
    header.to_string() + &(0..200).map(row).collect::<String>()
}

struct Attempt<'a> {
    exit: i32,
    charges: u64,
    table: &'a str,
    arguments: Vec<&'a str>,
    program: String,
}

fn attempts(text: &'static str) -> Vec<Attempt<'static>> {
    let parts = text.trim_start_matches("== ").split("\n== ").map(|part| {
        let (header, body) = part.split_once('\n').unwrap();
        let words: Vec<&str> = header.split_once(": ").unwrap().0.split(' ').collect();
        let program = body.replace("{columns}", COLUMNS);
        let program = TABLES.iter().fold(program, |all, t| all.replace(&format!("{{{t}}}"), &declared(t)));
        let table = words[2].trim_end_matches(',');
        Attempt { exit: words[0].parse().unwrap(), charges: words[1].parse().unwrap(), table, arguments: words[3..].to_vec(), program }
    });
    parts.collect()
}

/// One of the two worlds, with a ledger for each table: one ledger has one kind of neighbours.
fn registered(odd: bool) -> Scene {
    let scene = Scene::new();
    for table in TABLES {
        fs::write(scene.path(&format!("{table}.csv")), rows(table, odd)).unwrap();
        fs::write(scene.path("schema.dpm"), declared(table) + "\n").unwrap();
        let line = format!("ledger init {table}.ledger --dataset {table}={table}.csv --schema schema.dpm --shared --budget zcdp(1000)");
        let made = scene.dpm(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(code(&made), 0, "{}", said(&made));
    }
    scene
}

fn charged(scene: &Scene, ledger: &str) -> u64 {
    let accounts = Ledger::at(&scene.path(ledger)).unwrap().read().unwrap().accounts.accounts;
    accounts.values().map(|account| account.spent.charges()).sum()
}

/// The short form runs what is refused, the long one (`DPM_LONG=1`) also what is charged.
#[test]
fn programs_written_to_learn_a_row_end_alike_beside_an_odd_row() {
    let long = std::env::var_os("DPM_LONG").is_some();
    let worlds = [registered(false), registered(true)];
    let mut refused = 0;
    for attempt in attempts(include_str!("attempts.txt")).iter().filter(|a| long || a.charges == 0) {
        let [one, other] = worlds.each_ref().map(|scene| {
            let (ledger, data) = (format!("{}.ledger", attempt.table), format!("{0}=@{0}", attempt.table));
            let before = charged(scene, &ledger);
            fs::write(scene.path("p.dpm"), &attempt.program).unwrap();
            let done = scene.dpm(&[&["run", "p.dpm", "--ledger", &ledger, "--data", &data][..], &attempt.arguments].concat());
            // What a chain says of itself follows from released counts.
            let words: String = said(&done).lines().filter(|l| !l.contains("is not to be trusted")).collect();
            let end = (code(&done), charged(scene, &ledger) - before, words);
            // Of what a refused run prints, nothing may differ either; what is drawn does.
            (end, if attempt.charges == 0 { String::from_utf8(done.stdout).unwrap() } else { String::new() })
        });
        assert_eq!((one.0.0, one.0.1), (attempt.exit, attempt.charges), "{}\n{}", attempt.program, one.0.2);
        assert_eq!(one, other, "{}", attempt.program);
        refused += usize::from(attempt.charges == 0);
    }
    assert!(refused > 90, "{refused}");
}
