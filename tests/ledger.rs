//! The ledger: exact sums, refusals, tampering, rollback, races, kills, torn files; by library and by binary.
// Helpers of tests may fail loudly; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)]

use dpm::ledger::{Ask, Entry, Ledger, LedgerError, NewDataset};
use dpm::privacy::Claim;
use serde_json::Value;
use std::fs::{self, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

const DPM: &str = env!("CARGO_BIN_EXE_dpm");

/// A folder with a table of 120 rows, programs that cost 0.1 each, and ledgers.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        let rows: String = (0..120).map(|i| format!("{}\n", i % 3 == 0)).collect();
        fs::write(scene.path("staff.csv"), format!("smoker\n{rows}")).unwrap();
        let program = |header: &str, budget: &str| {
            format!("budget {budget}\nprivate staff{header} {{ smoker: bool }}\nrelease share = mean(smoker) using laplace\n")
        };
        fs::write(scene.path("tenth.dpm"), program("[n >= 100]", "eps(0.1)")).unwrap();
        fs::write(scene.path("whole.dpm"), program("[n >= 100]", "eps(1)")).unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dataset(&self, id: &str, budget: &str) -> NewDataset {
        let file = self.path("staff.csv");
        NewDataset { id: id.into(), file, relation: "replace_one".into(), unit: "row".into(), budget: budget.into() }
    }

    fn ledger(&self, budget: &str) -> Ledger {
        Ledger::init(&self.path("ledger"), &[self.dataset("staff", budget)]).unwrap()
    }

    fn command(&self, program: &str, data: &str) -> Command {
        let mut command = Command::new(DPM);
        command.args(["run", self.path(program).to_str().unwrap(), "--json", "--data", data, "--ledger"]).arg(self.path("ledger"));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, program: &str, data: &str) -> Output {
        self.command(program, data).output().unwrap()
    }

    fn dpm(&self, args: &[&str]) -> Output {
        Command::new(DPM).args(args).current_dir(self.folder.path()).output().unwrap()
    }
}

fn ask(epsilon: f64) -> Ask {
    Ask { dataset: "staff".into(), relation: "replace_one".into(), unit: "row".into(), claim: Claim::Pure { epsilon } }
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn left(ledger: &Ledger) -> String {
    ledger.read().unwrap().accounts.accounts["staff"].balance()[0].left.clone()
}

fn charges(ledger: &Ledger) -> u64 {
    ledger.read().unwrap().accounts.accounts["staff"].spent.charges()
}

#[test]
fn ten_tenths_and_no_eleventh_of_any_size() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    for _ in 0..10 {
        let reservation = ledger.reserve("c", &[ask(0.1)]).unwrap();
        ledger.commit(reservation).unwrap();
    }
    assert_eq!(left(&ledger), "0");
    for epsilon in [0.1, 1e-9, 1e-30, 1e-300] {
        let Err(LedgerError::OverBudget(over)) = ledger.reserve("c", &[ask(epsilon)]) else { panic!("{epsilon} fits") };
        assert_eq!((over.balance[0].spent.as_str(), over.balance[0].limit.as_str(), over.fits.as_str()), ("1", "1", "eps 0"));
    }
    for epsilon in [f64::NAN, f64::INFINITY, 0.0, -0.1, 1e-320, f64::NEG_INFINITY] {
        assert!(matches!(ledger.reserve("c", &[ask(epsilon)]), Err(LedgerError::NoPrice { .. })), "{epsilon}");
    }
    assert_eq!(charges(&ledger), 10);
}

#[test]
fn every_kind_of_budget_stops() {
    for (budget, claim, most) in [
        ("zcdp(0.3)", Claim::Zcdp { rho: 0.1 }, 3),
        ("gdp(0.3)", Claim::Gdp { mu: 0.1 }, 9),
        ("rdp(order = [2, 8], eps = [1, 1.6])", Claim::Zcdp { rho: 0.1 }, 2),
        ("dp(eps = 0.5, delta = 1e-6)", Claim::Pure { epsilon: 0.1 }, 5),
    ] {
        let scene = Scene::new();
        let ledger = scene.ledger(budget);
        let mut accepted = 0;
        while accepted < 100 && ledger.reserve("c", &[Ask { claim: claim.clone(), ..ask(0.1) }]).is_ok() {
            accepted += 1;
        }
        assert_eq!(accepted, most, "{budget}");
    }
}

#[test]
fn a_run_is_charged_recorded_and_refused_in_the_end() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    for i in 1..=10_u64 {
        let output = scene.run("tenth.dpm", "staff=@staff");
        assert_eq!(code(&output), 0, "{}", said(&output));
        let record = json(&output)["ledger"].clone();
        let contents = ledger.read().unwrap();
        assert_eq!(record["index"].as_u64(), Some(1 + 2 * i));
        assert_eq!(record["head"].as_str(), Some(contents.head.hash.as_str()));
        assert_eq!(record["remaining"]["staff"]["eps"].as_str(), Some(left(&ledger).as_str()));
        assert!(contents.accounts.ended_runs.contains(record["run_id"].as_str().unwrap()));
    }
    let output = scene.run("tenth.dpm", "staff=@staff");
    assert_eq!(code(&output), 4);
    assert!(output.stdout.is_empty());
    let text = said(&output);
    assert!(text.contains("spent 1, asked 0.1, limit 1, left 0") && text.contains("would still fit"), "{text}");
    assert_eq!(charges(&ledger), 10);
    // The same program again is another run: nothing is replayed for free.
    let show = json(&scene.dpm(&["ledger", "show", "ledger", "--json"]));
    assert_eq!(show["datasets"]["staff"]["remaining"]["eps"], "0");
    assert_eq!(show["runs"]["ended"], 10);
    assert_eq!(code(&scene.dpm(&["ledger", "verify", "ledger"])), 0);
    let history = json(&scene.dpm(&["ledger", "history", "ledger", "--json"]));
    let entries = history["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 22);
    let text = history.to_string();
    assert!(!text.contains("salt") && !text.contains("commitment") && !text.contains("staff.csv"));
    let named = format!("5:{}", entries[5]["hash"].as_str().unwrap());
    assert_eq!(code(&scene.dpm(&["ledger", "verify", "ledger", "--head", &named])), 0);
    assert_eq!(code(&scene.dpm(&["ledger", "verify", "ledger", "--head", &named.replacen('5', "6", 1)])), 5);
}

#[test]
fn what_names_no_registered_data() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    fs::copy(scene.path("staff.csv"), scene.path("copy.csv")).unwrap();
    for unknown in ["@other", "@copy.csv", "@./staff.csv", "@STAFF", "@"] {
        let output = scene.run("tenth.dpm", &format!("staff={unknown}"));
        assert_eq!(code(&output), 4, "{unknown}: {}", said(&output));
        assert!(said(&output).contains("no data set"), "{}", said(&output));
    }
    let path = scene.path("staff.csv");
    let with_path = scene.run("tenth.dpm", &format!("staff={}", path.display()));
    assert_eq!(code(&with_path), 2);
    let program = scene.path("tenth.dpm");
    let without_ledger = scene.dpm(&["run", program.to_str().unwrap(), "--data", "staff=@staff"]);
    assert_eq!(code(&without_ledger), 2);
    let own = scene.dpm(&["run", program.to_str().unwrap(), "--data", path.to_str().unwrap()]);
    assert_eq!(code(&own), 0);
    assert!(String::from_utf8(own.stdout).unwrap().contains("not charged"));
    assert_eq!(left(&ledger), "1");
}

#[test]
fn relation_and_unit_must_be_those_of_the_table() {
    let scene = Scene::new();
    let by = |name: &str, header: &str| {
        let text =
            format!("budget eps(0.1)\nprivate staff{header} {{ who: text, smoker: bool }}\nrelease c = count(smoker) using laplace\n");
        fs::write(scene.path(name), text).unwrap();
    };
    by("add.dpm", "[private n]");
    by("unit.dpm", "[n] by who max 4");
    let ledger = scene.ledger("eps(1)");
    for (name, what) in [("add.dpm", "relation"), ("unit.dpm", "unit")] {
        let output = scene.run(name, "staff=@staff");
        assert_eq!(code(&output), 4, "{}", said(&output));
        assert!(said(&output).contains(&format!("registered with the {what}")), "{}", said(&output));
    }
    for (wrong, what) in [
        (Ask { relation: "add_remove".into(), ..ask(0.1) }, "relation"),
        (Ask { unit: "who max 4".into(), ..ask(0.1) }, "unit"),
        (Ask { unit: "row max 1".into(), ..ask(0.1) }, "unit"),
    ] {
        let Err(LedgerError::Mismatch { what: found, .. }) = ledger.reserve("c", &[wrong]) else { panic!("accepted") };
        assert_eq!(found, what);
    }
    assert_eq!(charges(&ledger), 0);
}

#[test]
fn a_changed_file_is_charged_and_refused() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let text = fs::read_to_string(scene.path("staff.csv")).unwrap();
    fs::write(scene.path("staff.csv"), format!("{text}true\n")).unwrap();
    let output = scene.run("tenth.dpm", "staff=@staff");
    assert_eq!(code(&output), 4);
    assert!(output.stdout.is_empty());
    assert_eq!(left(&ledger), "0.9");
    fs::remove_file(scene.path("staff.csv")).unwrap();
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 3);
    assert_eq!(left(&ledger), "0.9");
}

#[test]
fn registering() {
    let scene = Scene::new();
    fs::copy(scene.path("staff.csv"), scene.path("copy.csv")).unwrap();
    let init = |path: &str, more: &[&str]| {
        let base = ["ledger", "init", path, "--relation", "replace_one", "--unit", "row", "--budget", "eps(1)"];
        scene.dpm(&[&base[..], more].concat())
    };
    assert_eq!(code(&init("l", &["--dataset", "a=staff.csv", "--dataset", "b=copy.csv"])), 2);
    assert_eq!(code(&init("l", &["--dataset", "a=missing.csv"])), 2);
    assert_eq!(code(&init("l", &["--dataset", "a b=staff.csv"])), 2);
    assert!(!scene.path("l").exists());
    let made = init("l", &["--dataset", "a=staff.csv", "--json"]);
    assert_eq!(code(&made), 0, "{}", said(&made));
    assert_eq!(json(&made)["datasets"]["a"]["remaining"]["eps"], "1");
    assert_eq!(code(&init("l", &["--dataset", "a=staff.csv"])), 4);
    for budget in ["eps(0)", "eps(nan)", "eps(inf)", "eps(-1)", "eps(1e400)", "eps(1e-320)", "dp(1)"] {
        assert!(matches!(Ledger::init(&scene.path("m"), &[scene.dataset("a", budget)]), Err(LedgerError::Invalid(_))), "{budget}");
    }
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(scene.path("l")).unwrap().permissions()) & 0o77, 0);
}

/// Files of the ledger at a moment, to be put back.
fn files(scene: &Scene) -> Vec<(PathBuf, Vec<u8>)> {
    ["ledger", "ledger.head"].iter().map(|n| (scene.path(n), fs::read(scene.path(n)).unwrap())).collect()
}

fn put(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        fs::write(path, bytes).unwrap();
    }
}

fn locked(ledger: &Ledger) -> bool {
    let reserve = ledger.reserve("c", &[ask(1e-9)]);
    matches!(ledger.read(), Err(LedgerError::Locked(_))) && matches!(reserve, Err(LedgerError::Locked(_)))
}

fn spend(ledger: &Ledger, times: u32) {
    for _ in 0..times {
        let reservation = ledger.reserve("c", &[ask(0.1)]).unwrap();
        ledger.commit(reservation).unwrap();
    }
}

#[test]
fn copies_rollbacks_and_deletions() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 1);
    let old = files(&scene);
    spend(&ledger, 1);
    let new = files(&scene);
    // The old ledger, the old head, no head, a head of another ledger, no ledger, an empty one.
    put(&old[..1]);
    assert!(locked(&ledger));
    put(&new);
    put(&old[1..]);
    assert_eq!(left(&ledger), "0.8");
    assert_eq!(fs::read(scene.path("ledger.head")).unwrap(), new[1].1, "the head follows the ledger");
    fs::remove_file(scene.path("ledger.head")).unwrap();
    assert!(locked(&ledger));
    Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    fs::copy(scene.path("other.head"), scene.path("ledger.head")).unwrap();
    assert!(locked(&ledger));
    put(&new);
    fs::copy(scene.path("other"), scene.path("ledger")).unwrap();
    assert!(locked(&ledger));
    put(&new);
    fs::write(scene.path("ledger"), b"").unwrap();
    assert!(locked(&ledger));
    fs::remove_file(scene.path("ledger")).unwrap();
    assert!(matches!(ledger.read(), Err(LedgerError::Missing)));
    assert!(matches!(Ledger::init(&scene.path("ledger"), &[scene.dataset("staff", "eps(1)")]), Err(LedgerError::Exists)));
    put(&new);
    assert_eq!(left(&ledger), "0.8");
    // A copy elsewhere, with its head, and a second name of the same file.
    for (end, bytes) in [("", &new[0].1), (".head", &new[1].1)] {
        fs::write(scene.path(&format!("copy{end}")), bytes).unwrap();
    }
    let copy = Ledger::at(&scene.path("copy")).unwrap();
    assert!(locked(&copy));
    fs::hard_link(scene.path("ledger"), scene.path("hard")).unwrap();
    fs::write(scene.path("hard.head"), &new[1].1).unwrap();
    assert!(locked(&Ledger::at(&scene.path("hard")).unwrap()));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(scene.path("ledger"), scene.path("soft")).unwrap();
        assert_eq!(left(&Ledger::at(&scene.path("soft")).unwrap()), "0.8");
    }
    // Its owner may say that it moved; that is recorded.
    copy.moved().unwrap();
    assert_eq!(left(&copy), "0.8");
    assert!(matches!(copy.read().unwrap().lines.last(), Some((Entry::Moved { .. }, _))));
}

#[test]
fn a_reservation_of_a_killed_run_counts_and_none_is_used_twice() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    drop(ledger.reserve("c", &[ask(0.3)]).unwrap());
    assert_eq!(left(&ledger), "0.7");
    let reservation = ledger.reserve("c", &[ask(0.3)]).unwrap();
    assert!(reservation.read("staff").is_ok());
    assert!(matches!(reservation.read("other"), Err(LedgerError::UnknownDataset(_))));
    // A reservation of one ledger is nothing in another.
    let other = Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    assert!(matches!(other.commit(reservation), Err(LedgerError::UnknownRun)));
    assert_eq!((left(&ledger), left(&other)), ("0.4".into(), "1".into()));
}

/// Every byte of every cell of every row, changed through SQLite; rows removed, swapped, renumbered, inserted.
#[test]
fn tampering_with_rows_is_found() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 2);
    let good = files(&scene);
    let rows: Vec<(i64, String, String)> = {
        let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
        let mut query = db.prepare("SELECT idx, body, hash FROM entries ORDER BY idx").unwrap();
        query.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap().map(Result::unwrap).collect()
    };
    let tamper = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        put(&good);
        let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
        db.pragma_update(None, "synchronous", "OFF").unwrap();
        db.execute(sql, values).unwrap();
        drop(db);
        assert!(matches!(ledger.read(), Err(LedgerError::Locked(_))), "{sql}");
    };
    let mut tried = 0;
    for (idx, body, hash) in &rows {
        for (column, text) in [("body", body), ("hash", hash)] {
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                tamper(&format!("UPDATE entries SET {column} = ?1 WHERE idx = ?2"), &[&changed, idx]);
                tried += 1;
            }
        }
        tamper("DELETE FROM entries WHERE idx = ?1", &[idx]);
        tamper("UPDATE entries SET idx = 100 WHERE idx = ?1", &[idx]);
    }
    assert!(tried > 1000, "{tried}");
    tamper("DELETE FROM entries WHERE idx > 3", &[]);
    tamper("UPDATE entries SET idx = CASE idx WHEN 2 THEN -4 ELSE -2 END WHERE idx IN (2, 4)", &[]);
    tamper("UPDATE entries SET idx = idx + 1000", &[]);
    let (_, body, hash) = rows.last().unwrap();
    tamper("INSERT INTO entries VALUES (?1, ?2, ?3)", &[&(rows.len() as i64), body, hash]);
    tamper("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE idx > 2; END", &[]);
    tamper("CREATE TABLE more (x)", &[]);
    put(&good);
    assert_eq!(left(&ledger), "0.8");
}

/// The raw file: a byte flipped, the file cut, a tail of zeros or of the older file (a torn write). What is read is the
/// state before or after, or nothing: the ledger is locked.
#[test]
fn torn_and_flipped_files() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 2);
    let before = files(&scene);
    spend(&ledger, 1);
    let after = files(&scene);
    let states = ["0.8", "0.7"];
    let (old, new) = (&before[0].1, &after[0].1);
    let mut refused = 0_u32;
    let mut judge = |bytes: &[u8], head: &[u8], what: &str| {
        fs::write(scene.path("ledger"), bytes).unwrap();
        fs::write(scene.path("ledger.head"), head).unwrap();
        match ledger.read() {
            Ok(contents) => {
                let left = contents.accounts.accounts["staff"].balance()[0].left.clone();
                assert!(states.contains(&left.as_str()), "{what}: {left}");
                // With the newer head nothing older is ever accepted.
                assert!(head != after[1].1 || left == "0.7", "{what}: {left}");
            }
            Err(LedgerError::Locked(_) | LedgerError::Storage(_)) => refused += 1,
            Err(other) => panic!("{what}: {other}"),
        }
    };
    for at in (0..new.len()).step_by(61) {
        let mut torn = new[..at].to_vec();
        judge(&torn, &after[1].1, &format!("cut at {at}"));
        torn.extend_from_slice(old.get(at..).unwrap_or(&[]));
        judge(&torn, &before[1].1, &format!("old tail from {at}"));
        judge(&torn, &after[1].1, &format!("old tail from {at}, new head"));
        let mut flipped = new.clone();
        flipped[at] ^= 0x40;
        judge(&flipped, &after[1].1, &format!("flipped at {at}"));
    }
    assert!(refused > 300, "{refused}");
}

/// Many runs at once: what is accepted is exactly what fits.
#[test]
fn races_never_exceed_the_budget() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let mut commands: Vec<Command> = (0..4).map(|_| scene.command("tenth.dpm", "staff=@staff")).collect();
            std::thread::spawn(move || commands.iter_mut().map(|c| code(&c.output().unwrap())).collect::<Vec<i32>>())
        })
        .collect();
    let codes: Vec<i32> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    assert!(codes.iter().all(|c| *c == 0 || *c == 4), "{codes:?}");
    assert_eq!(codes.iter().filter(|c| **c == 0).count(), 10);
    assert_eq!((charges(&ledger), left(&ledger).as_str()), (10, "0"));
}

/// One of many processes: spends a tenth as often as the file `attempts` in its folder says.
#[test]
#[ignore = "a part of the tests below, which start it many times"]
fn one_process() {
    let Ok(attempts) = fs::read_to_string("attempts") else { return };
    let ledger = Ledger::at(Path::new("ledger")).unwrap();
    let (mut accepted, mut refused, mut busy) = (0, 0, 0);
    for _ in 0..attempts.trim().parse::<u32>().unwrap() {
        match ledger.reserve("c", &[ask(0.1)]) {
            Ok(reservation) => {
                accepted += 1;
                // A busy ledger may keep the end of a run out; its charge is there.
                let _ = ledger.commit(reservation);
            }
            Err(LedgerError::OverBudget(_)) => refused += 1,
            Err(LedgerError::Busy) => busy += 1,
            Err(other) => panic!("{other}"),
        }
    }
    println!("RESULT {accepted} {refused} {busy}");
}

fn many_processes(processes: usize, attempts: u64, budget: &str, fits: u64) -> String {
    let scene = Scene::new();
    let ledger = scene.ledger(budget);
    fs::write(scene.path("attempts"), attempts.to_string()).unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "one_process", "--ignored", "--nocapture"]).current_dir(scene.folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..processes).map(|_| start()).collect();
    let mut sums = [0_u64; 3];
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|l| l.split_once("RESULT ")).unwrap_or_else(|| panic!("{text}")).1.to_owned();
        for (sum, n) in sums.iter_mut().zip(line.split(' ')) {
            *sum += n.parse::<u64>().unwrap();
        }
    }
    let [accepted, refused, busy] = sums;
    assert_eq!(accepted + refused + busy, processes as u64 * attempts);
    // A process that was told no is told so because the budget is gone.
    assert_eq!((accepted, charges(&ledger), left(&ledger).as_str()), (fits, fits, "0"));
    format!("{processes} processes x {attempts}: accepted {accepted}, refused {refused}, busy {busy}")
}

#[test]
fn sixteen_processes() {
    many_processes(16, 20, "eps(10)", 100);
}

#[test]
#[ignore = "minutes: the long form of the test above"]
fn sixty_four_processes_by_a_thousand() {
    println!("{}", many_processes(64, 1000, "eps(5)", 50));
}

/// Makes the next read of the file move its access time; true afterwards if somebody read it.
fn watch(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    fs::File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_accessed(past)).unwrap();
}

fn was_read(path: &Path) -> bool {
    fs::metadata(path).unwrap().accessed().unwrap() > SystemTime::UNIX_EPOCH + Duration::from_secs(2)
}

/// 200 runs killed after a random time. A run whose data were read, or whose release was seen, is charged.
#[test]
fn kills_leave_no_free_run() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1000)");
    let data = scene.path("staff.csv");
    watch(&data);
    fs::read(&data).unwrap();
    let visible = was_read(&data);
    let started = SystemTime::now();
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    let whole = started.elapsed().unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut before, mut read_runs, mut unfinished) = (1, 0, 0);
    for i in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let delay = whole.mul_f64((seed >> 11) as f64 / (1_u64 << 53) as f64 * 1.2);
        watch(&data);
        let mut child = scene.command("tenth.dpm", "staff=@staff").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let read = visible && was_read(&data);
        let now = charges(&ledger);
        assert!(now == before || now == before + 1, "run {i}: {before} -> {now} charges");
        if read || !output.stdout.is_empty() {
            assert_eq!(now, before + 1, "run {i} read the data and is not charged");
            read_runs += 1;
        }
        unfinished += u64::from(now > before && output.stdout.is_empty());
        before = now;
    }
    assert!(!visible || read_runs > 0, "no run got as far as the data");
    let contents = ledger.read().unwrap();
    assert_eq!((contents.accounts.ended_runs.len() + contents.accounts.open_runs.len()) as u64, before);
    assert!(unfinished < 200);
}

#[test]
#[ignore = "a measurement, not a check"]
fn latency() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1000)");
    for _ in 0..20 {
        let mut times: Vec<Duration> = (0..50)
            .map(|_| {
                let start = std::time::Instant::now();
                drop(ledger.reserve("c", &[ask(0.1)]).unwrap());
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{:>5} entries: median {:?}, slowest {:?} a reservation", ledger.read().unwrap().lines.len(), times[25], times[49]);
    }
}
