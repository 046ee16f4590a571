//! The table of planted bugs fits the sources, and the recorded run names a catcher of each and a sole catcher for every layer.
//!
//! `benches/planted/run.sh` plants the bugs, runs every layer of tests against each, and writes the record.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const LAYERS: [&str; 6] = ["golden", "brute force", "integration", "law", "audit", "verifier"];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// One place of a bug: file, context, and the expression in it.
struct Place {
    file: String,
    context: Option<String>,
    old: String,
}

/// Every bug with its places, and how many broken expressions it has.
fn bugs() -> BTreeMap<String, (Vec<Place>, usize)> {
    let mut found: BTreeMap<String, (Vec<Place>, usize)> = BTreeMap::new();
    let mut name = String::new();
    for line in read("benches/planted/bugs.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let (key, value) = line.split_once(": ").unwrap();
        let value = value.to_owned();
        if key == "bug" {
            assert!(found.insert(value.clone(), (vec![], 0)).is_none(), "{value} twice");
            name = value;
            continue;
        }
        let (places, broken) = found.get_mut(&name).unwrap();
        match key {
            "file" => places.push(Place { file: value, context: None, old: String::new() }),
            "in" => places.last_mut().unwrap().context = Some(value),
            "old" => places.last_mut().unwrap().old = value,
            "new" => *broken += 1,
            other => assert!(["what", "likely", "long", "kind", "alone"].contains(&other), "{line}"),
        }
    }
    found
}

#[test]
fn every_bug_can_be_planted() {
    let bugs = bugs();
    assert!(bugs.len() >= 40, "{}", bugs.len());
    for (name, (places, broken)) in &bugs {
        assert!(!places.is_empty() && places.len() == *broken, "{name}");
        for place in places {
            let text = read(&place.file);
            let context = place.context.as_ref().unwrap_or(&place.old);
            assert!(!place.old.is_empty(), "{name}");
            assert_eq!(text.matches(context.as_str()).count(), 1, "{name}: {context}");
            assert_eq!(context.matches(place.old.as_str()).count(), 1, "{name}: {}", place.old);
        }
    }
}

#[test]
fn every_bug_was_caught() {
    let record = read("benches/results/planted.txt");
    let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
    let lines: Vec<Vec<&str>> = record.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(" | ").collect()).collect();
    let rows: Vec<&Vec<&str>> = lines.iter().filter(|l| l.len() == 5).collect();
    let recorded: Vec<&str> = rows.iter().map(|l| l[0]).collect();
    for name in bugs().keys() {
        assert_eq!(recorded.iter().filter(|r| **r == name.as_str()).count(), 1, "{name} is not in the record: run benches/planted/run.sh");
    }
    assert_eq!(recorded.len(), bugs().len(), "the record has bugs that the table has not");
    assert!(recorded.len() >= 40, "{} bugs", recorded.len());
    for row in rows {
        let layers: Vec<&str> = row[2].split(", ").collect();
        for layer in &layers {
            assert!(LAYERS.contains(layer) || layer.starts_with("others ("), "{}: caught by {layer}", row[0]);
        }
        if let ([one], "every layer") = (layers.as_slice(), row[3]) {
            *alone.entry(one).or_default() += 1;
        }
    }
    for layer in LAYERS {
        assert!(alone.contains_key(layer), "no bug is caught by {layer} alone");
    }
}
