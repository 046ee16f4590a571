//! Single changes of certificates, each of which the verifier must find.

use super::{certificates, root};
use dpm::pipeline::{self, Folder};
use dpm::verify::{Against, Verifier, digest};
use serde_json::Value;
use std::collections::BTreeMap;

/// All places of a value, as JSON pointers.
fn places(v: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match v {
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), found)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| places(v, &format!("{at}/{i}"), found)),
        _ => {}
    }
}

fn nudged(v: &Value, by: f64) -> Option<Value> {
    let x = v.as_f64()?;
    let y = if x == 0.0 { by } else { x * (1.0 + by) };
    let y = if v.is_u64() && by.abs() >= 0.5 { (x + by.signum()).max(0.0) } else { y };
    let value = if v.is_u64() && y.fract() == 0.0 { Value::from(y as u64) } else { Value::from(y) };
    (value != *v).then_some(value)
}

/// A change of what stands at a place: made when it is its turn.
type Change<'a> = (&'static str, Box<dyn Fn() -> Value + 'a>);

/// Single changes at one place: what is done, and what stands there then.
fn mutations(old: &Value) -> Vec<Change<'_>> {
    let mut found: Vec<Change> = vec![];
    let mut put = |what, new: Value| {
        if new != *old {
            found.push((what, Box::new(move || new.clone())));
        }
    };
    match old {
        Value::Number(_) => {
            for (what, by) in [("lower", -3e-6), ("less", -0.02), ("half", -0.5), ("higher", 0.02), ("more", 1.0)] {
                nudged(old, by).into_iter().for_each(|new| put(what, new));
            }
            // The same number in a string is the same number.
            put("retyped", Value::from(if old.as_f64() == Some(7.0) { "8" } else { "7" }));
            put("null", Value::Null);
        }
        Value::String(s) => {
            put("longer", Value::from(format!("{s}x")));
            put("empty", Value::from(""));
            put("retyped", Value::from(3));
        }
        Value::Bool(b) => {
            put("flipped", Value::from(!b));
            put("retyped", Value::from(1));
        }
        Value::Null => {
            put("number", Value::from(0.001));
            put("text", Value::from("x"));
        }
        Value::Array(list) => {
            put("retyped", Value::Null);
            for i in 0..list.len() {
                let (before, behind) = (&list[..i], &list[i + 1..]);
                found.push(("item removed", Box::new(move || Value::from([before, behind].concat()))));
                let (with, from) = (&list[..=i], &list[i..]);
                found.push(("item twice", Box::new(move || Value::from([with, from].concat()))));
            }
            if list.iter().ne(list.iter().rev()) {
                found.push(("reversed", Box::new(|| list.iter().rev().cloned().collect())));
            }
        }
        Value::Object(map) => {
            put("retyped", Value::from("x"));
            for key in map.keys() {
                let others = move || map.iter().filter(move |(k, _)| *k != key).map(|(k, v)| (k.clone(), v.clone()));
                found.push(("field removed", Box::new(move || others().collect())));
                found.push(("field renamed", Box::new(move || others().chain([(format!("{key}_"), map[key].clone())]).collect())));
            }
            let more = || ("more".to_owned(), Value::from(1));
            found.push(("field added", Box::new(move || map.clone().into_iter().chain([more()]).collect())));
        }
    }
    found
}

fn places_of(c: &Value) -> Vec<String> {
    let mut found = vec![];
    places(c, "", &mut found);
    found
}

/// A place without its numbers.
fn field(place: &str) -> String {
    place.split('/').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join("/")
}

/// Is the change found by the words: is it another certificate than the one its program gets? The command does the same.
fn caught_by_words(c: &Value, folder: &Folder) -> bool {
    pipeline::recertify(c, folder, &|_| None).is_none_or(|again| !pipeline::differences(&again, c, "").is_empty())
}

/// What only words can protect: no privacy number depends on these fields.
const WORDS: [&str; 18] = [
    "/assumptions",
    "/budget",
    "/budget/delta",
    "/budget/epsilon",
    "/budget/mu",
    "/budget/order",
    "/budget/rho",
    "/program/normal_form",
    "/public",
    "/releases/parameters",
    "/releases/predicted_error",
    "/releases/premises",
    // Of public rows: a little more or less of them changes no number by as much as the verifier tells apart.
    "/releases/public_totals",
    "/releases/sampler/name",
    "/releases/type",
    "/tables",
    "/steps",
    // Larger by less than what conversions may be off by: it is proved all the same.
    "/total/profile/dp/epsilon",
];

/// Public inputs that a certificate states. Changed by so little that all else stays as it is, or where nothing else depends
/// on them, they make the certificate of another input, the one that the compiler writes for it: no lie to be found. So does
/// another name of the file: the text of the program decides.
const INPUTS: [&str; 4] = ["/program/file", "/public/scalars/value", "/releases/public_totals/sums", "/releases/public_totals/rows"];

/// Certificates that take seconds to verify: a sample takes one of ten of their changes.
const LONG: [&str; 4] = ["chains_in_groups", "samples_of_fixed_size", "accept_sample_of_a_hundredth", "accept_known_share"];

/// Single changes of all certificates, digests made anew; each must be found, by numbers or by words. Of each kind of
/// field every `stride`-th change is tried.
fn mutate(stride: usize) -> BTreeMap<String, usize> {
    let verifier = Verifier::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let (mut accepted, mut turn) = (vec![], 0_usize);
    for (name, c) in certificates() {
        let folder = Folder::of(&root().join(name));
        let stride = if LONG.iter().any(|long| name.contains(long)) { (10 * stride).min(stride * stride) } else { stride };
        let program = c["program"]["source"].as_str();
        for place in places_of(c) {
            let Some(old) = c.pointer(&place) else { continue };
            for (what, new) in mutations(old) {
                turn += 1;
                // From 1e-323 to 2e-323 is less than any double can tell; equal claims in another order are the same certificate up
                // to the twelfth digit.
                let same = old.as_f64().is_some_and(f64::is_subnormal) || (what == "reversed" && place.ends_with("/claims"));
                if same || !turn.is_multiple_of(stride) {
                    continue;
                }
                let mut changed = c.clone();
                *changed.pointer_mut(&place).unwrap() = new();
                let mut count = |what: &str| *counts.entry(what.to_owned()).or_default() += 1;
                let found = |c: &Value| !verifier.verify(c, Against { program, key: None }).is_empty();
                let as_it_is = changed.clone();
                if !changed.is_object() || place == "/digest" || changed.get("digest").is_none() {
                    count("as they are");
                    assert!(found(&as_it_is), "{name}: {what} at {place}");
                    continue;
                }
                changed["digest"] = Value::from(digest(&changed));
                count("with a new digest");
                if found(&changed) {
                    count("with a new digest, found by numbers");
                    continue;
                }
                count("as they are");
                assert!(found(&as_it_is), "{name}: {what} at {place}, digest as it was");
                if caught_by_words(&changed, &folder) {
                    count("with a new digest, found by words");
                    *words.entry(field(&place)).or_default() += 1;
                } else if INPUTS.contains(&field(&place).as_str()) {
                    count("with a new digest, of another public input");
                } else {
                    accepted.push(format!("{name}: {what} at {place} {:?} -> {:?}", c.pointer(&place), changed.pointer(&place)));
                }
            }
        }
    }
    eprintln!("{counts:#?}\nfound by words alone: {words:#?}");
    assert!(accepted.is_empty(), "{} accepted:\n{}", accepted.len(), accepted[..accepted.len().min(60)].join("\n"));
    let unknown: Vec<&String> = words.keys().filter(|w| !WORDS.iter().any(|known| w.starts_with(known))).collect();
    assert!(unknown.is_empty(), "numbers should find: {unknown:?}");
    counts
}

/// A sample for every run: every 701st change.
#[test]
fn rejects_a_sample_of_mutations() {
    let counts = mutate(701);
    assert!(counts["with a new digest"] >= 500, "{counts:?}");
}

/// All of them: many minutes (`benches/verify.sh`).
#[test]
#[ignore = "minutes"]
fn rejects_ten_thousand_mutations() {
    let counts = mutate(1);
    assert!(counts["with a new digest"] >= 10_000, "{counts:?}");
}
