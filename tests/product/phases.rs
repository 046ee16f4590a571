//! The two phases of a run: what was shown is on the disk, what is not on the disk was not shown, whoever stops the run and whenever.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const MODEL: &str = "param m ~ normal(0, 1.5)
param tau ~ half_normal(1)
param u: vector[region] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(m + tau * u[region])
output post = posterior(m, tau, u)
";

fn place() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let release = "budget eps(1)
private poll[n] { region: public category {north, south, east, west}, vote: bool }
release cells = histogram(region, vote)
";
    let row = |i: usize| format!("{},{}\n", ["north", "south", "east", "west"][i % 4], usize::from(i.is_multiple_of(3)));
    fs::write(folder.path().join("rows.csv"), "region,vote\n".to_owned() + &(0..600).map(row).collect::<String>()).unwrap();
    // More chains than a busy machine runs before somebody stops them.
    let more = (0..2).map(|i| format!("output more_{i} = posterior(m)\n")).collect::<String>();
    fs::write(folder.path().join("chains.dpm"), format!("{release}{MODEL}{more}")).unwrap();
    fs::write(folder.path().join("plain.dpm"), release).unwrap();
    fs::write(folder.path().join("again.dpm"), format!("public cells from \"r.json\"\n{MODEL}")).unwrap();
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.current_dir(folder);
    command
}

fn run(folder: &Path) -> Child {
    let mut run = command(folder);
    run.args(["run", "chains.dpm", "--data", "rows.csv", "-o", "r.json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn record(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("r.json")).unwrap()).unwrap()
}

/// Every row of the table that was shown is in the record.
fn recorded(shown: &str, record: &Value) {
    for region in ["north", "south", "east", "west"] {
        let row = shown.lines().find(|l| l.trim_start().starts_with(region)).unwrap();
        let counts: Vec<i64> = row.split_whitespace().skip(1).map(|x| x.parse().unwrap()).collect();
        let cells = &record["releases"]["cells"][region];
        assert_eq!(counts, [cells["false"].as_i64().unwrap(), cells["true"].as_i64().unwrap()], "{shown}");
    }
}

#[test]
fn a_full_disk_shows_nothing() {
    let folder = place();
    let at = folder.path();
    for (program, before) in [("plain.dpm", None), ("chains.dpm", None), ("chains.dpm", Some("{}"))] {
        if let Some(text) = before {
            fs::write(at.join("r.json"), text).unwrap();
        }
        // No file may grow beyond a block, and whoever tries is told so.
        let line = "trap '' XFSZ; ulimit -f 1; exec \"$0\" run \"$1\" --data rows.csv -o r.json";
        let mut shell = Command::new("sh");
        let out = shell.args(["-c", line, env!("CARGO_BIN_EXE_dpm"), program]).current_dir(at).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(3), "{program}: {said}");
        assert!(out.stdout.is_empty(), "{program}: {}", String::from_utf8_lossy(&out.stdout));
        assert!(said.contains("r.json cannot be written"), "{program}: {said}");
        assert_eq!(fs::read_to_string(at.join("r.json")).ok().as_deref(), before, "{program}");
        let left: Vec<_> =
            fs::read_dir(at).unwrap().map(|f| f.unwrap().file_name()).filter(|f| f.to_string_lossy().starts_with('.')).collect();
        assert!(left.is_empty(), "{program}: {left:?}");
    }
}

/// Stopped while chains run, as by Ctrl-C (which what runs in the background ignores) and by force: another program goes on from the record.
#[test]
fn whoever_stops_the_chains_keeps_what_was_shown() {
    let folder = place();
    let at = folder.path();
    for signal in ["-TERM", "-KILL"] {
        let mut child = run(at);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut shown = String::new();
        while !shown.contains("west ") {
            assert!(out.read_line(&mut shown).unwrap() > 0, "{shown}");
        }
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert!(!child.wait().unwrap().success(), "the chains had ended already");
        out.read_to_string(&mut shown).unwrap();
        assert!(!shown.contains("output"), "{shown}");

        let record = record(at);
        recorded(&shown, &record);
        assert_eq!(record["chains"], "the chains did not end");
        assert_eq!(record["outputs"], serde_json::json!({}));
        for arguments in [["verify", "r.json"], ["run", "again.dpm"]] {
            let out = command(at).args(arguments).output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        }
        fs::remove_file(at.join("r.json")).unwrap();
    }
    // Left alone, the record says nothing of chains.
    assert!(run(at).wait().unwrap().success());
    assert!(record(at).get("chains").is_none() && record(at)["outputs"]["post"].is_object());
}

/// Killed at any time: what was shown was recorded, and a record is whole or not there.
#[test]
fn kills_at_any_time_lose_nothing_that_was_shown() {
    let folder = place();
    let at = folder.path();
    let (mut with, mut without) = (0, 0);
    for i in 0..12 {
        let mut child = run(at);
        std::thread::sleep(Duration::from_millis(40 * i));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut shown = String::new();
        child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
        if at.join("r.json").exists() {
            with += 1;
            assert_eq!(record(at)["releases"]["cells"].as_object().unwrap().len(), 4);
        } else {
            without += 1;
            assert!(!shown.contains("released"), "{shown}");
        }
        if shown.contains("west ") && shown.ends_with('\n') {
            recorded(&shown, &record(at));
        }
        let _ = fs::remove_file(at.join("r.json"));
    }
    println!("{with} with a record, {without} without");
    assert!(without > 0, "the first is killed before it can draw");
}
