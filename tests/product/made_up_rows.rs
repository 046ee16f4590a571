//! Every certified program of the tests runs on made-up rows: what is certified can be drawn.

use dpm::model::{Table, Type};
use dpm::pipeline;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Larger tables, and chains that take longer, are left to the long form.
const MOST_ROWS: u64 = 1000;
const LIMIT: Duration = Duration::from_secs(10);
/// Chains that are known to take longer.
const LONG: [&str; 5] = ["09_betad_nn", "accept_network_for_classes", "accept_network_for_numbers", "eight_schools", "unknown_sd"];

fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("examples"), root.join("tests")];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "dpm") {
                found.push(path);
            }
        }
    }
    found.retain(|path| long() || !LONG.iter().any(|name| path.ends_with(format!("{name}.dpm"))));
    found.sort();
    found
}

/// The cells of one column in row `i`, one a header.
fn cells(ty: &Type, i: u64, headers: usize) -> Vec<String> {
    let number = |lo: f64, hi: f64, j: u64| {
        let (lo, hi) = (lo.max(-9.0).min(hi), hi.min(lo.max(-9.0) + 20.0));
        lo + (hi - lo) * ((i * 7 + j * 3) % 11) as f64 / 10.0
    };
    match ty {
        Type::Bool => vec![(i % 2).to_string()],
        Type::Category(levels) => vec![format!("\"{}\"", levels[i as usize % levels.len()])],
        Type::Int(r) => vec![number(r.lo, r.hi, 0).round().to_string()],
        Type::Counts { total, .. } => (0..headers).map(|j| if j == 0 { total.to_string() } else { "0".into() }).collect(),
        Type::Text => vec![format!("u{i}")],
        ty => {
            let r = ty.range().unwrap_or(dpm::model::Range::UNIT);
            (0..headers as u64).map(|j| number(r.lo, r.hi, j).to_string()).collect()
        }
    }
}

/// A file of a table, or `None` where it must have more rows than wanted.
fn file(table: &Table) -> Option<String> {
    let rows = table.rows.exactly.unwrap_or(table.rows.at_least.max(20));
    let most = if long() { 100 * MOST_ROWS } else { MOST_ROWS };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let quoted = |h: &String| format!("\"{h}\"");
    // Views read the header of another column.
    let columns = || table.columns.iter().filter(|c| c.view.is_none());
    let header = line(columns().flat_map(|c| c.headers.iter().map(quoted)).collect());
    let row = |i| line(columns().flat_map(|c| cells(&c.ty, i, c.headers.len())).collect());
    (rows <= most).then(|| header + &(0..rows).map(row).collect::<String>())
}

fn long() -> bool {
    std::env::var_os("DPM_LONG").is_some()
}

/// `Some` answer says how a program ended: `None` in it for one that took too long.
fn run(path: &Path, scratch: &Path) -> Option<Option<(Option<i32>, String)>> {
    let text = fs::read_to_string(path).unwrap();
    let loader = pipeline::Folder::of(path);
    let checked = pipeline::check("p.dpm", &text, &loader);
    if checked.has_errors() {
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.args(["run", "--anyway"]).arg(path);
    for (i, table) in checked.program.tables.iter().enumerate() {
        let data = scratch.join(format!("{i}.csv"));
        fs::write(&data, file(table)?).unwrap();
        command.arg(if table.private { "--data" } else { "--public" }).arg(format!("{}={}", table.name, data.display()));
    }
    for s in checked.program.scalars.iter().filter(|s| s.value.is_none()) {
        let r = s.ty.range().unwrap_or(dpm::model::Range::UNIT);
        command.arg("--public").arg(format!("{}={}", s.name, r.lo.max(-1e6).max(r.hi.min(1.0))));
    }
    // What it takes to certify with these public data.
    let mut certify = Command::new(env!("CARGO_BIN_EXE_dpm"));
    let public: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    certify.arg("certify").arg(path);
    public.windows(2).filter(|w| w[0] == "--public").for_each(|w| {
        certify.args(w);
    });
    if !certify.output().unwrap().status.success() {
        return None;
    }
    let (out, err) = (scratch.join("out"), scratch.join("err"));
    command.stdin(Stdio::null()).stdout(fs::File::create(out).unwrap()).stderr(fs::File::create(&err).unwrap());
    let (mut child, start) = (command.spawn().unwrap(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(Some((status.code(), fs::read_to_string(err).unwrap())));
        }
        if start.elapsed() > LIMIT && !long() {
            child.kill().unwrap();
            child.wait().unwrap();
            return Some(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Longer than ten seconds are chains by design; one that joins them is seen here. The long form is
/// `DPM_LONG=1 cargo test --release --test product made_up`.
#[test]
fn certified_programs_run_on_made_up_rows() {
    let (programs, next) = (programs(), AtomicUsize::new(0));
    let work = || {
        let scratch = tempfile::tempdir().unwrap();
        let (mut ran, mut late) = (0, vec![]);
        while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match run(path, scratch.path()) {
                None => {}
                Some(None) => late.push(path.file_stem().unwrap().to_string_lossy().into_owned()),
                // An expectation may fail on these rows.
                Some(Some((Some(0 | 5), _))) => ran += 1,
                Some(Some((code, err))) => panic!("{}: {code:?}\n{err}", path.display()),
            }
        }
        (ran, late)
    };
    let found = std::thread::scope(|s| [s.spawn(work), s.spawn(work)].map(|t| t.join().unwrap()));
    let (ran, late): (Vec<i32>, Vec<Vec<String>>) = found.into_iter().unzip();
    assert!(ran.iter().sum::<i32>() > 100, "{ran:?}");
    assert!(late.concat().len() < 10, "{late:?}");
}
