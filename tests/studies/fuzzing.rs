//! No program of any shape panics, hangs or fills the memory: random programs, mutated ones, and mutated numbers.
//!
//! `cargo test` runs the short form. `benches/fuzz.sh` runs the long one: it sets `DPM_FUZZ` to the number of programs of
//! each kind, goes on where an earlier run stopped, and writes `benches/results/fuzz.txt`.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use dpm::analyze::{candidates_text, certificate_text, holes, summary_text};
use dpm::check::NoFiles;
use dpm::pipeline;
use dpm::run::Bound;
use dpm::source::{Diagnostics, SourceMap, render};
use dpm::syntax::format;

use crate::fuzz;

/// Programs of each kind in a run of `cargo test`.
const SHORT: u64 = 3_000;
/// The binary's own stack.
const STACK: usize = 256 << 20;
/// Longest time for one program, with room for a slow debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });
/// Most memory for all of it, in KiB.
const MEMORY: u64 = 512 << 10;

const KINDS: [&str; 3] = ["generated", "mutated", "renumbered"];

/// What happened to the programs of one kind.
#[derive(Clone, Default)]
struct Tally {
    programs: u64,
    parsed: u64,
    checked: u64,
    certified: u64,
    slowest: Duration,
    slowest_seed: u64,
    failures: Vec<(u64, String)>,
}

/// The texts that mutations start from.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let rules = entries(root.join("tests/rules")).collect::<Vec<_>>();
    let folders = ["examples", "stdlib", "tests/programs", "tests/wrong"].map(|folder| root.join(folder));
    let mut paths: Vec<_> =
        folders.into_iter().chain(rules).flat_map(entries).filter(|path| path.extension().is_some_and(|e| e == "dpm")).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

fn text_of(kind: usize, seed: u64, corpus: &[String]) -> String {
    let own = || &corpus[(seed % corpus.len() as u64) as usize];
    match kind {
        0 if seed.is_multiple_of(2) => fuzz::well_typed(seed),
        0 => fuzz::generate_program(seed),
        1 if seed % 16 == 15 => fuzz::soup(seed),
        1 if seed.is_multiple_of(2) => fuzz::mutate(own(), seed),
        1 => fuzz::mutate(&fuzz::generate_program(seed), seed),
        _ => fuzz::renumber(own(), seed),
    }
}

/// How far a program came: parsed, checked, certified.
fn drive(text: &str, all: bool) -> (bool, bool, bool) {
    let show = |sources: &SourceMap, said: &Diagnostics| {
        assert!(render::text(sources, said, false).len() < 4 << 20, "endless complaints");
        render::json(sources, said);
        assert!(said.iter().all(|d| !d.labels.is_empty()), "a complaint without a place is drawn without its help");
    };
    let formatted = format(text);
    if let Ok(once) = &formatted {
        let twice = format(once).expect("formatted text reads back");
        assert_eq!(*once, twice, "formatting twice changes more");
    }
    let checked = pipeline::check("fuzz.dpm", text, &NoFiles);
    if checked.has_errors() {
        show(&checked.sources, &checked.diagnostics);
        return (formatted.is_ok(), false, false);
    }
    let (analysis, mut said) = pipeline::analyze(&checked, &Bound::default(), all);
    let analysis = analysis.expect("a program without errors is analyzed");
    said.extend(holes(&analysis));
    show(&checked.sources, &said);
    summary_text(&analysis);
    analysis.releases.iter().for_each(|r| drop(candidates_text(r)));
    let wrong = said.iter().any(|d| d.is_error() && d.code != "E0501");
    let certificate = pipeline::certify(&checked, &analysis, &[1.000001, 7.5], &[1e-12]);
    assert!(wrong || certificate.is_some(), "neither a certificate nor a reason");
    if let Some(certificate) = &certificate {
        certificate_text(certificate);
        let json = certificate.to_json();
        assert_eq!(json["digest"].as_str(), Some(certificate.digest().as_str()));
    }
    (true, true, certificate.is_some() && !wrong)
}

/// Runs the programs `from..to` of one kind; a watchdog ends the process if one of them hangs.
fn sweep(kind: usize, from: u64, to: u64, tally: &mut Tally) {
    let corpus = corpus();
    let now = AtomicU64::new(from);
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK);
        let worker = worker.spawn_scoped(scope, || {
            for seed in from..to {
                now.store(seed, Relaxed);
                let text = text_of(kind, seed, &corpus);
                let start = thread_time();
                match catch_unwind(AssertUnwindSafe(|| drive(&text, seed.is_multiple_of(8)))) {
                    Ok((parsed, checked, certified)) => {
                        tally.parsed += u64::from(parsed);
                        tally.checked += u64::from(checked);
                        tally.certified += u64::from(certified);
                    }
                    Err(why) => {
                        let why = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
                        tally.failures.push((seed, why.unwrap_or("a panic").to_owned()));
                    }
                }
                let took = thread_time().saturating_sub(start);
                if took > tally.slowest {
                    (tally.slowest, tally.slowest_seed) = (took, seed);
                }
                if took > LIMIT {
                    tally.failures.push((seed, format!("took {took:?}")));
                }
                tally.programs += 1;
            }
        });
        let worker = worker.unwrap();
        let (mut last, mut since) = (u64::MAX, Instant::now());
        while !worker.is_finished() {
            thread::sleep(Duration::from_millis(20));
            let current = now.load(Relaxed);
            if current != last {
                (last, since) = (current, Instant::now());
            } else if since.elapsed() > 15 * LIMIT {
                eprintln!("{} program {current} hangs:\n{}", KINDS[kind], text_of(kind, current, &corpus));
                std::process::exit(101);
            }
        }
    });
}

/// Time this thread has been at work, so that a busy machine makes no program slow; wall time where the system does
/// not say.
fn thread_time() -> Duration {
    let spent = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split_whitespace().next()?.parse().ok());
    spent.map_or_else(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(), Duration::from_nanos)
}

/// The most memory this process ever had resident, in KiB; 0 where the system does not say.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn failures(tallies: &[Tally]) -> String {
    let mut out = String::new();
    for (kind, tally) in KINDS.iter().zip(tallies) {
        for (seed, why) in tally.failures.iter().take(20) {
            let _ = writeln!(out, "{kind} program {seed}: {why}");
        }
    }
    out
}

#[test]
fn no_program_panics_or_hangs() {
    let mut tallies = vec![Tally::default(); KINDS.len()];
    for (kind, tally) in tallies.iter_mut().enumerate() {
        sweep(kind, 0, SHORT, tally);
        println!(
            "{}: {} programs (seeds 0..{SHORT}), {} parse, {} check, {} certify, slowest {:?} (seed {})",
            KINDS[kind], tally.programs, tally.parsed, tally.checked, tally.certified, tally.slowest, tally.slowest_seed,
        );
    }
    let found = failures(&tallies);
    assert!(found.is_empty(), "of {SHORT} programs of each kind:\n{found}");
    let peak = peak_memory();
    assert!(peak < MEMORY, "{SHORT} programs of each kind took {peak} KiB");
    // A sweep that never reaches the rules would prove little.
    assert!(tallies.iter().map(|t| t.certified).sum::<u64>() > SHORT / 4, "too few programs reach a certificate");
}

/// One program of the sweep again: `DPM_FUZZ_ONE=generated:17 cargo test --test studies fuzzing::one -- --ignored --nocapture`.
#[test]
#[ignore = "shows one program by its seed"]
fn one() {
    let Ok(which) = std::env::var("DPM_FUZZ_ONE") else { return };
    let (kind, seed) = which.split_once(':').unwrap();
    let kind = KINDS.iter().position(|k| *k == kind).unwrap();
    let text = text_of(kind, seed.parse().unwrap(), &corpus());
    println!("{text}\n-----");
    let checked = pipeline::check("fuzz.dpm", &text, &NoFiles);
    let (_, said) = pipeline::analyze(&checked, &Bound::default(), true);
    println!("{}", render::text(&checked.sources, &said, false));
    let worker = thread::Builder::new().stack_size(STACK);
    println!("{:?}", worker.spawn(move || drive(&text, true)).unwrap().join().unwrap());
}

/// The long form, in slices of 10,000 programs, each written down before the next one starts.
#[test]
#[ignore = "takes long: benches/fuzz.sh"]
fn long_form() {
    let Some(size) = std::env::var("DPM_FUZZ").ok().and_then(|n| n.parse::<u64>().ok()) else { return };
    let minutes = std::env::var("DPM_FUZZ_MINUTES").ok().and_then(|n| n.parse::<u64>().ok()).unwrap_or(u64::MAX / 60);
    let state = std::env::var("DPM_FUZZ_STATE").unwrap_or_else(|_| "target/fuzz.json".into());
    let report = std::env::var("DPM_FUZZ_REPORT").unwrap_or_else(|_| "benches/results/fuzz.txt".into());
    let mut tallies = load(&state);
    let start = Instant::now();
    let slice = 10_000.min(size);
    // Other numbers in the examples: a fifth as many as programs of other shapes.
    let wanted = [size, size, size / 5];
    while tallies.iter().zip(wanted).any(|(t, n)| t.programs < n) && start.elapsed().as_secs() < minutes * 60 {
        for (kind, (tally, wanted)) in tallies.iter_mut().zip(wanted).enumerate() {
            let from = tally.programs;
            sweep(kind, from, (from + slice).min(wanted.max(from)), tally);
        }
        save(&state, &tallies);
        fs::write(&report, summary(&tallies)).unwrap();
    }
    println!("{}", summary(&tallies));
    assert!(failures(&tallies).is_empty(), "{}", failures(&tallies));
    assert!(peak_memory() < MEMORY, "{} KiB", peak_memory());
}

fn summary(tallies: &[Tally]) -> String {
    let mut out = String::from("Random programs through parse, format, check, analyze, certify and all texts (benches/fuzz.sh).\n");
    let _ = writeln!(
        out,
        "A failure is a panic, over {LIMIT:?} of processor time for one program, or one with neither a certificate nor a reason.\n"
    );
    let _ = writeln!(out, "{:<11}{:>10}{:>10}{:>10}{:>10}{:>10}  slowest", "kind", "programs", "parse", "check", "certify", "failures");
    for (kind, t) in KINDS.iter().zip(tallies) {
        let _ = writeln!(
            out,
            "{kind:<11}{:>10}{:>10}{:>10}{:>10}{:>10}  {:.0} ms (seed {}); seeds 0..{}",
            t.programs,
            t.parsed,
            t.checked,
            t.certified,
            t.failures.len(),
            t.slowest.as_secs_f64() * 1e3,
            t.slowest_seed,
            t.programs,
        );
    }
    let _ = writeln!(out, "\npeak memory of the whole process: {} MiB", peak_memory() >> 10);
    out + &failures(tallies)
}

fn save(path: &str, tallies: &[Tally]) {
    let row = |t: &Tally| {
        let slowest = t.slowest.as_micros() as u64;
        serde_json::json!([[t.programs, t.parsed, t.checked, t.certified, slowest, t.slowest_seed], t.failures])
    };
    let all: Vec<_> = tallies.iter().map(row).collect();
    let whole = format!("{path}.new");
    fs::write(&whole, serde_json::json!(all).to_string()).unwrap();
    fs::rename(whole, path).unwrap();
}

fn load(path: &str) -> Vec<Tally> {
    type Row = ([u64; 6], Vec<(u64, String)>);
    let read = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Vec<Row>>(&text).ok());
    let row = |([programs, parsed, checked, certified, slowest, slowest_seed], failures): Row| Tally {
        programs,
        parsed,
        checked,
        certified,
        slowest: Duration::from_micros(slowest),
        slowest_seed,
        failures,
    };
    let tallies: Vec<Tally> = read.unwrap_or_default().into_iter().map(row).collect();
    if tallies.len() == KINDS.len() { tallies } else { vec![Tally::default(); KINDS.len()] }
}
