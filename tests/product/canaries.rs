//! 10,000 planted values through every way in and every failure: none comes out anywhere.

use crate::noninterference;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const CANARIES: usize = 10_000;
/// Canaries a file: 12 rows of about this many cells each.
const IN_FILE: usize = 250;

/// Values that are text in every column, and numbers whose digits could be printed; each is told by a mark of its own.
fn canary(i: usize) -> String {
    match i % 3 {
        0 => format!("CANARY{i:05}"),
        1 => format!("-3.{:012}", 774_411_000_000 + i),
        _ => format!("774411{i:05}993"),
    }
}

fn marks(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("CANARY") || text.contains("774411")
}

/// Planted cells in every column, in surplus columns, quoted, and in the keys.
fn file(first: usize) -> Vec<u8> {
    let mut next = first;
    let mut out = noninterference::HEADER.to_vec();
    for row in 0..noninterference::ROWS {
        let cells = if row + 1 == noninterference::ROWS { first + IN_FILE - next } else { IN_FILE / noninterference::ROWS };
        for cell in 0..cells {
            let value = canary(next);
            next += 1;
            let text = match next % 5 {
                0 => format!("\"{value}\""),
                1 => format!("\"{value}"),
                2 => format!("{value}\0"),
                _ => value,
            };
            let comma = if cell == 0 { "" } else { "," };
            out.extend_from_slice(format!("{comma}{text}").as_bytes());
        }
        out.push(b'\n');
    }
    assert_eq!(next, first + IN_FILE);
    out
}

/// Runs in a folder of its own with its own temporary folder; everything that is printed or left behind.
fn leaves(arguments: &[&str], folder: &Path, input: Option<&[u8]>) -> (Option<i32>, Vec<u8>) {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dpm"))
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .env("RUST_BACKTRACE", "full")
        .env("RUST_LOG", "trace")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(input) = input {
        let _ = child.stdin.take().unwrap().write_all(input);
    }
    let out = child.wait_with_output().unwrap();
    let mut all = [out.stdout, out.stderr].concat();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(place) = folders.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.file_name().unwrap().to_string_lossy().starts_with("planted") {
                all.extend(std::fs::read(path).unwrap());
            }
        }
    }
    (out.status.code(), all)
}

#[test]
fn planted_values_never_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let programs = noninterference::programs();
    for (i, text) in programs.iter().enumerate() {
        std::fs::write(folder.path().join(format!("p{i}.dpm")), text).unwrap();
    }
    std::fs::write(folder.path().join("few.dpm"), programs[0].replace("n >= 5", "n >= 500")).unwrap();
    std::fs::write(folder.path().join("exact.dpm"), programs[7].replace("n >= 5", "11")).unwrap();
    std::fs::write(folder.path().join("column.dpm"), programs[1].replace("k: int", "k from \"absent\": int")).unwrap();
    let by = "private t[n] by who max 2 { who from \"u\": text x: real in [0, 9] }\nrelease a = mean(x) using laplace(scale = 3)\n";
    std::fs::write(folder.path().join("by.dpm"), by).unwrap();
    let mut ends = std::collections::BTreeMap::new();
    for (round, first) in (0..CANARIES).step_by(IN_FILE).enumerate() {
        let bytes = file(first);
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("planted.csv"), &bytes).unwrap();
        let program = format!("p{}.dpm", round % programs.len());
        let mut runs: Vec<(Vec<&str>, Option<&[u8]>)> = vec![
            (vec!["run", &program, "--data", "planted.csv", "--anyway", "--json"], None),
            (vec!["run", &program, "--data", "t=planted.csv", "--anyway", "-o", "out.json"], None),
        ];
        // Every failure, and every other way in, once in a while.
        match round % 8 {
            0 => runs.push((vec!["run", "few.dpm", "--data", "planted.csv"], None)),
            1 => runs.push((vec!["run", "exact.dpm", "--anyway", "--data", "planted.csv", "--json"], None)),
            2 => runs.push((vec!["run", "column.dpm", "--data", "planted.csv"], None)),
            3 => runs.push((vec!["run", "by.dpm", "--anyway", "--data", "planted.csv"], None)),
            4 => runs.push((vec!["run", &program, "--data", "/dev/stdin", "--anyway"], Some(&bytes))),
            5 => {
                // Compressed; and cut short, so that reading fails in the middle.
                let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
                gz.write_all(&bytes).unwrap();
                let gz = gz.finish().unwrap();
                std::fs::write(place("planted.csv.gz"), &gz).unwrap();
                std::fs::write(place("planted_cut.csv.gz"), &gz[..gz.len() / 2]).unwrap();
                runs.push((vec!["run", &program, "--data", "planted.csv.gz", "--anyway"], None));
                runs.push((vec!["run", &program, "--data", "planted_cut.csv.gz", "--anyway"], None));
            }
            6 => runs.push((vec!["run", &program, "--data", "planted.csv", "-o", "/nowhere/out.json", "--anyway"], None)),
            // The data in place of the program: it is not echoed beyond what diagnostics of a *program* show, so only
            // where it is not a UTF-8 text at all.
            _ => {
                std::fs::write(place("planted.dpm"), [&bytes[..], b"\xff"].concat()).unwrap();
                runs.push((vec!["check", "planted.dpm"], None));
            }
        }
        for (arguments, input) in runs {
            let (code, all) = leaves(&arguments, folder.path(), input);
            assert!(!marks(&all), "{arguments:?} shows a planted value");
            *ends.entry(code).or_insert(0) += 1;
        }
    }
    // Ways in that work and failures were both reached, and nothing crashed.
    assert!(ends.keys().all(|c| matches!(c, Some(0 | 3))), "{ends:?}");
    assert!(ends[&Some(0)] > 80 && ends[&Some(3)] > 20, "{ends:?}");
}

/// The control: a canary that is published is found.
#[test]
fn the_search_finds_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let text = "private CANARY[n] { b: bool }\nrelease a = count(b) using geometric(scale = 1)\n";
    std::fs::write(folder.path().join("planted.dpm"), text).unwrap();
    let (_, all) = leaves(&["certify", "planted.dpm", "-o", "cert.json"], folder.path(), None);
    assert!(marks(&all));
}
