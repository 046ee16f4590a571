//! The long attack: 2e7 draws of each of two neighbours for every pair and event, against the certificate.
//!
//! `cargo bench --bench audits [-- NAME..]` writes a line an event to `benches/results/audits.txt`; blocks that are done
//! are kept in `target/audits-NAME.txt`, so it can be stopped at any time. It exits 1 if an event beats its certificate.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout, dead_code)]

#[path = "../tests/draws/mechanisms/mod.rs"]
mod mechanisms;

use mechanisms::attacks::{DELTAS, EVENTS, Hits, Pair, excess, pairs};
use mechanisms::statistics::epsilon;
use std::io::Write;

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/audits.txt");
const DRAWS: u64 = 20_000_000;
const BLOCK: u64 = 500_000;

/// Hits of all blocks; those on disk are not drawn again.
fn hits(pair: &Pair, mechanism: &mechanisms::Mechanism) -> Hits {
    let name = pair.name.replace(' ', "-");
    let path = format!("{}/target/audits-{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let mut all: Hits = [[0; 2]; 8];
    let mut first = 0;
    for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
        let numbers: Vec<u64> = line.split(' ').filter_map(|n| n.parse().ok()).collect();
        if numbers.len() == 16 {
            all.iter_mut().flatten().zip(numbers).for_each(|(a, n)| *a += n);
            first += 1;
        }
    }
    for block in first..DRAWS / BLOCK {
        let mut one = [[0; 2]; 8];
        pair.block(mechanism, block, BLOCK, &mut one);
        all.iter_mut().flatten().zip(one.as_flattened()).for_each(|(a, n)| *a += n);
        let line: Vec<String> = one.as_flattened().iter().map(u64::to_string).collect();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        writeln!(file, "{}", line.join(" ")).unwrap();
    }
    all
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let done = std::fs::read_to_string(RESULTS).unwrap_or_default();
    let mut failed = false;
    for pair in pairs() {
        if done.contains(pair.name) || !(wanted.is_empty() || wanted.iter().any(|w| pair.name.starts_with(w.as_str()))) {
            continue;
        }
        let mechanism = pair.mechanism();
        let mut text = String::new();
        let mut lines = |kind: &str, hits: Hits, draws: u64, exact: bool| {
            for (event, hits) in EVENTS.iter().zip(hits) {
                let good = excess(&mechanism, hits, draws) <= 0.0;
                failed |= exact && !good;
                let bounds =
                    DELTAS.map(|d| format!("at delta {d:e} {:.4} (certified {:.4})", epsilon(hits, draws, d), mechanism.epsilon(d)));
                let verdict = if good { "below the certificate" } else { "BEATS THE CERTIFICATE" };
                text += &format!(
                    "{} {kind}, {draws:e} draws a side, {event}: hits {hits:?}, epsilon >= {}: {verdict}\n",
                    pair.name,
                    bounds.join(", ")
                );
            }
        };
        lines("exact", hits(&pair, &mechanism), DRAWS, true);
        if let Some(hits) = pair.naive(DRAWS) {
            lines("in doubles (control)", hits, DRAWS, false);
        }
        print!("{text}");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(RESULTS).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
    std::process::exit(i32::from(failed));
}
