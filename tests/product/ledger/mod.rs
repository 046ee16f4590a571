//! The ledger: exact sums, refusals, tampering, rollback, races, kills, torn files; by library and by binary.

mod attacks;
mod attempts;
mod corpus;
mod outputs;
mod policy;
mod processes;
mod schema;
mod signed;
use dpm::ledger::{Ask, Declaration, Entry, Ledger, LedgerError, NewDataset};
use dpm::privacy::Claim;
use serde_json::Value;
use std::fs::{self, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// All that is said when a run fails behind its charge.
const FAILED: &str = "error: the run is charged and released nothing: it could not be completed on the registered file\n";
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
        NewDataset { id: id.into(), file, declaration: declaration(), budget: budget.into(), shared: true }
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

fn declaration() -> Declaration {
    Declaration { table: "staff".into(), text: "private staff[n >= 100] { smoker: bool }\n".into() }
}

fn ask(epsilon: f64) -> Ask {
    Ask { dataset: "staff".into(), declaration: declaration(), claim: Claim::Pure { epsilon } }
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

/// What is asked of public columns is read after the charge of something else, and adds nothing to it; alone it has no price.
#[test]
fn public_columns_are_read_after_a_charge() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let header = "private staff[n >= 100] { smoker: public bool }\n";
    ledger.declare("staff", Declaration { table: "staff".into(), text: header.into() }).unwrap();
    fs::write(scene.path("free.dpm"), format!("{header}output smokers = count(smoker)\n")).unwrap();
    let refused = scene.run("free.dpm", "staff=@staff");
    assert_eq!((code(&refused), charges(&ledger)), (4, 0), "{}", said(&refused));
    let own = scene.dpm(&["run", "free.dpm", "--data", "staff.csv", "--json"]);
    let smokers = json(&own)["outputs"]["smokers"].clone();
    assert_eq!(code(&own), 0, "{}", said(&own));
    // A second name of the column that is not public is charged.
    let both = "private staff[n >= 100] { smoker: public bool, s from \"smoker\": bool }\n";
    let text = format!("budget eps(0.5)\n{both}output smokers = count(smoker)\nrelease noisy = count(s)\n");
    fs::write(scene.path("both.dpm"), text).unwrap();
    let run = scene.run("both.dpm", "staff=@staff");
    assert_eq!(code(&run), 0, "{}", said(&run));
    assert_eq!((json(&run)["outputs"]["smokers"].clone(), charges(&ledger), left(&ledger)), (smokers, 1, "0.5".to_owned()));
    let assumed = json(&run)["certificate"]["assumptions"].to_string();
    assert!(assumed.contains("the column `smoker` of `staff` is public: neighbours keep it"), "{assumed}");
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
        assert_eq!(record["index"].as_u64(), Some(2 + 2 * i));
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
    assert_eq!(entries.len(), 23);
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
fn a_changed_file_is_charged_and_refused() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let text = fs::read_to_string(scene.path("staff.csv")).unwrap();
    fs::write(scene.path("staff.csv"), format!("{text}true\n")).unwrap();
    let output = scene.run("tenth.dpm", "staff=@staff");
    assert_eq!(code(&output), 4);
    assert!(output.stdout.is_empty());
    assert_eq!(left(&ledger), "0.9");
    assert_eq!(said(&output), FAILED);
    // So is one that was cut, or can no longer be read as what it was: one failure for all of them.
    for other in ["", "smoker", "other\ntrue\n"] {
        fs::write(scene.path("staff.csv"), other).unwrap();
        let output = scene.run("tenth.dpm", "staff=@staff");
        assert_eq!((code(&output), said(&output).as_str(), output.stdout.len()), (4, FAILED, 0));
    }
    fs::remove_file(scene.path("staff.csv")).unwrap();
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 3);
    assert_eq!(left(&ledger), "0.6");
}

/// Malformed files are refused when they are registered, in words that quote no cell.
#[test]
fn files_are_held_to_their_declaration() {
    let scene = Scene::new();
    fs::write(scene.path("s.dpm"), "private a[n >= 3] { id: text, x: int in 0..9 }\n").unwrap();
    let init = |name: &str, text: &str| {
        fs::write(scene.path("a.csv"), text).unwrap();
        scene.dpm(&["ledger", "init", name, "--schema", "s.dpm", "--shared", "--budget", "eps(1)", "--dataset", "a=a.csv"])
    };
    let secret = "geheim";
    let long = "y".repeat((1 << 16) + 1);
    for (text, why) in [
        (format!("id,x\n{secret}\na,1\nb,2\n"), "fewer cells"),
        (format!("id,x\n{secret},1,2\na,1\nb,2\n"), "more cells"),
        (format!("id,x\n\"{secret},1\na,1\nb,2\n"), "quote"),
        (format!("id,x\n\"{secret}\"z,1\na,1\nb,2\n"), "quote"),
        (format!("id,x\n{secret}{long},1\na,1\nb,2\n"), "more than 65536 bytes"),
        (format!("id,y\n{secret},1\na,1\nb,2\n"), "no column `x`"),
        (format!("id,x\n{secret},1\na,1\n"), "rows"),
        (String::new(), "header"),
    ] {
        let refused = init("l", &text);
        assert!(code(&refused) == 3 && said(&refused).contains(why), "{why}: {}", said(&refused));
        assert!(!said(&refused).contains(secret) && refused.stdout.is_empty() && !scene.path("l").exists());
    }
    // Odd cells are none of these: each has its reading.
    let made = init("l", &format!("id,x\n{secret},\n\"a\n\"\"b\",seven\n,1e9\n"));
    assert_eq!(code(&made), 0, "{}", said(&made));
    let shown = json(&scene.dpm(&["ledger", "show", "l", "--json"]));
    assert_eq!(shown["datasets"]["a"]["snapshot"].as_str().unwrap().len(), 16);
    // A new declaration is held to the file as well.
    fs::write(scene.path("s.dpm"), "private a[n >= 3] { id: text, z: int in 0..9 }\n").unwrap();
    assert_eq!(code(&scene.dpm(&["ledger", "declare", "l", "--dataset", "a", "--schema", "s.dpm"])), 3);
}

#[test]
fn registering() {
    let scene = Scene::new();
    fs::copy(scene.path("staff.csv"), scene.path("copy.csv")).unwrap();
    let init = |path: &str, more: &[&str]| {
        fs::write(scene.path("s.dpm"), "private a[n] { smoker: bool }\nprivate b[m] { smoker: bool }\n").unwrap();
        let base = ["ledger", "init", path, "--schema", "s.dpm", "--shared", "--budget", "eps(1)"];
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
