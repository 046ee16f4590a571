//! The long test of laws: 1e7 draws at one point and at least 1e6 at four more of every mechanism, against the law and the law
//! scaled by 0.99 and 1.01. Resumable: a line of the result file is not made again.
//!
//! `cargo bench --bench laws [-- MECHANISM..]` appends to `benches/results/laws.txt`; it exits 1 if a line fails.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout, dead_code)]

#[path = "../tests/draws/mechanisms/mod.rs"]
mod mechanisms;

use mechanisms::laws::points;
use std::io::Write;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/laws.txt");
const SCALES: [f64; 2] = [0.99, 1.01];
const LEAST: f64 = 1e-9;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let done = std::fs::read_to_string(RESULTS).unwrap_or_default();
    let mut failed = false;
    for point in points() {
        let draws: u64 = match (point.point, point.mechanism) {
            (0, _) => 10_000_000,
            // A scale tells least in a Laplace law: a million draws leave p at 1e-8.
            (_, "laplace") => 4_000_000,
            _ => 1_000_000,
        };
        let key = format!("{} point {} draws {draws:e}", point.mechanism, point.point);
        if done.lines().any(|l| l.starts_with(&key)) || !(wanted.is_empty() || wanted.iter().any(|w| w == point.mechanism)) {
            continue;
        }
        let start = std::time::Instant::now();
        let verdict = point.test(draws, &SCALES);
        let passes = verdict.right > LEAST;
        let refuses = verdict.scaled.iter().all(|p| *p < LEAST);
        failed |= !(passes && refuses);
        let line = format!(
            "{key}: by both tests p {:.3e} {}; scaled 0.99 p {:.1e}, 1.01 p {:.1e} {}; {:.0} s",
            verdict.right,
            if passes { "passes" } else { "FAILS" },
            verdict.scaled[0],
            verdict.scaled[1],
            if refuses { "refused" } else { "NOT REFUSED" },
            start.elapsed().as_secs_f64()
        );
        println!("{line}");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(RESULTS).unwrap();
        writeln!(file, "{line}").unwrap();
    }
    std::process::exit(i32::from(failed));
}
