//! Audits of the examples, of random certified programs and of Gaussian mechanisms, at confidence 1 - 1e-9.
//!
//! Every lower bound stays at or below its certificate; integrals of the Gaussian mechanisms reach at least 95 % of the
//! certified mu. Here: 6 random programs with 1,000 draws of either side, and every Gaussian mechanism with a closed law by
//! integration. `benches/audit.sh` runs the long form: all examples and 500 random programs.

use crate::enumerable;
use dpm::audit::{Options, Outcome, ReleaseAudit, audit};
use dpm::check::NoFiles;
use dpm::mechanism::OsBits;
use dpm::pipeline;
use dpm::privacy::gdp;
use dpm::run::Bound;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const CONFIDENCE: f64 = 1.0 - 1e-9;

/// All releases of a program audited; `None` where it does not certify.
fn audited(text: &str, trials: u64) -> Option<Vec<Outcome>> {
    let checked = pipeline::check("study.dpm", text, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
    let analysis = analysis.filter(|_| !said.iter().any(|d| d.is_error()))?;
    let options = Options { trials: Some(trials), confidence: CONFIDENCE };
    Some(audit(&checked.program, &analysis, &Bound::default(), None, options, &mut OsBits::new().unwrap()).unwrap())
}

/// The seeds of certified programs and their texts, in order.
fn random_programs() -> impl Iterator<Item = (u64, String)> {
    (0u64..).map(|seed| (seed, enumerable::Program::random(seed).text())).filter(|(_, text)| {
        let checked = pipeline::check("study.dpm", text, &NoFiles);
        let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
        analysis.is_some() && !said.iter().any(|d| d.is_error())
    })
}

/// What the bounds of one release found against its certificate, in one line.
fn line(r: &ReleaseAudit) -> String {
    let bounds: Vec<String> = r
        .bounds
        .iter()
        .map(|b| format!("{:e}: {:.4} {} of {:.4}", b.delta, b.attack, b.exact.map_or("-".into(), |e| format!("{e:.4}")), b.certified))
        .collect();
    let verdict = if r.ok { "below the certificate" } else { "ABOVE THE CERTIFICATE" };
    format!("{} {} {} draws; at delta, attack, integral of certified: {}; {verdict}", r.name, r.mechanism, r.trials, bounds.join(", "))
}

/// The least mu whose curve passes through (epsilon, delta): what a lower bound on epsilon proves.
fn mu_of(epsilon: f64, delta: f64) -> f64 {
    let (mut lo, mut hi) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(lo, hi);
        if gdp::delta(middle, epsilon) < delta { lo = middle } else { hi = middle }
    }
    lo
}

/// Exactly Gaussian mechanisms, and the certified mu of each.
fn gaussians() -> Vec<(&'static str, &'static str)> {
    vec![
        (
            "normal mean",
            "private t[20] { x: real in [0, 4] }\nparam m ~ normal(1, 2)\nobserve x ~ normal(m, 0.5)\nrelease d = draw(m) using direct\n",
        ),
        (
            "diffuse normal mean",
            "private t[5] { x: real in [0, 4] }\nparam m ~ normal(1, 2)\nobserve x ~ normal(m, 1)\nrelease d = draw(m) using diffuse(r = 0.7)\n",
        ),
        (
            "concentrated normal mean",
            "private t[9] { x: real in [-1, 1] }\nparam m ~ normal(0, 1)\nobserve x ~ normal(m, 0.3)\nrelease d = draw(m) using concentrated(m = 0.5)\n",
        ),
        (
            "normal mean, two rows a unit",
            "private t[8] by u max 2 { u: text, x: real in [0, 1] }\nparam m ~ normal(0, 1)\nobserve x ~ normal(m, 0.4)\nrelease d = draw(m) using direct\n",
        ),
        ("noise on a sum", "private t[n >= 4] { x: real in [0, 3] }\nrelease d = sum(x) using gaussian(sigma = 1.5)\n"),
        ("noise on a mean", "private t[30] { x: real in [0, 1] }\nrelease d = mean(x) using gaussian(sigma = 0.015)\n"),
        ("noise on a count, rows come and go", "private t[private n] { y: bool }\nrelease d = count(y) using gaussian(sigma = 0.6)\n"),
        (
            "noise on a sum of two rows a unit",
            "private t[n] by u max 2 { u: text, x: real in [0, 1] }\nrelease d = sum(x) using gaussian(sigma = 1)\n",
        ),
    ]
}

/// Parts of the certified mu that integration and attack reach.
fn reached(text: &str, trials: u64) -> (f64, f64, f64) {
    let checked = pipeline::check("study.dpm", text, &NoFiles);
    let (analysis, _) = pipeline::analyze(&checked, &Bound::default(), false);
    let mu = analysis.unwrap().releases[0].chosen.as_ref().unwrap().claim.gdp();
    let r = audited(text, trials).unwrap().remove(0).unwrap();
    assert!(r.ok, "{text}\n{r:?}");
    // The divergence of order l is l mu^2 / 2.
    let integral = r.exact.iter().map(|e| (2.0 * e.found / e.order).sqrt()).fold(0.0, f64::max);
    let attack = r.bounds.iter().filter(|b| b.delta > 0.0 && b.attack > 0.0).map(|b| mu_of(b.attack, b.delta)).fold(0.0, f64::max);
    (mu, integral / mu, attack / mu)
}

#[test]
fn gaussian_mechanisms_reach_their_mu() {
    for (name, text) in gaussians() {
        let (mu, integral, attack) = reached(text, 1_000);
        assert!((0.95..=1.0 + 1e-5).contains(&integral), "{name}: {integral} of {mu}");
        assert!(attack <= 1.0, "{name}: the attack proves {attack} of {mu}");
    }
}

#[test]
fn random_programs_stay_below() {
    for (seed, text) in random_programs().take(6) {
        for r in audited(&text, 1_000).unwrap().into_iter().flatten() {
            assert!(r.ok, "seed {seed}\n{text}\n{}", line(&r));
        }
    }
}

/// Lines of the record that are there already, and a way to add one.
struct Record {
    path: String,
    done: String,
}

impl Record {
    fn open() -> Record {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/audit.txt").to_owned();
        let done = fs::read_to_string(&path).unwrap_or_default();
        Record { path, done }
    }

    fn has(&self, key: &str) -> bool {
        self.done.lines().any(|l| l.starts_with(&format!("{key}: ")))
    }

    fn add(&self, key: &str, text: &str) {
        println!("{key}: {text}");
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        writeln!(file, "{key}: {text}").unwrap();
    }
}

/// One example by the command line, with its public data.
fn example(name: &str, trials: u64) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(std::env::var("DPM_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_dpm").into()));
    command.current_dir(root).args(["audit", "--json", "--confidence", "0.999999999", "--trials", &trials.to_string()]);
    command.arg(format!("examples/{name}"));
    if name.starts_with("11_") {
        command.args(["--public", "pilot=examples/11_pilot.csv"]);
    }
    let out = command.output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&out.stderr)))
}

/// Every release of every example; chains take few draws.
fn examples(record: &Record) {
    let mut names: Vec<String> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|n| n.ends_with(".dpm"));
    names.sort();
    // Exact ones first: a chain on the rows of an example is seconds a draw.
    let chain = |name: &str| ["06", "07", "08", "09", "16"].iter().any(|n| name.starts_with(n));
    names.sort_by_key(|n| chain(n));
    for name in names {
        let key = format!("example {name}");
        let asked = std::env::var("DPM_EXAMPLE").map_or(true, |prefix| name.starts_with(&prefix));
        if record.has(&key) || !asked {
            continue;
        }
        let found = example(&name, if chain(&name) { number("DPM_CHAIN_DRAWS", 100) } else { 20_000 });
        let one = |r: &Value| {
            if r["audited"] == false {
                return format!("{} not audited: {}", r["name"], r["reason"]);
            }
            let bounds = r["lower_bounds"].as_array().unwrap().iter().zip(r["certified"].as_array().unwrap());
            let bounds: Vec<String> =
                bounds.map(|(a, c)| format!("{}: {:.4} of {}", a["delta"], a["epsilon"].as_f64().unwrap(), c["epsilon"])).collect();
            let verdict = if r["ok"] == true { "below the certificate" } else { "ABOVE THE CERTIFICATE" };
            format!("{} {} {} draws; {}; {verdict}", r["name"], r["mechanism"], r["trials"], bounds.join(", "))
        };
        let all: Vec<String> = found["releases"].as_array().unwrap().iter().map(one).collect();
        record.add(&key, &all.join(" | "));
    }
}

/// A number that the environment may set.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// `benches/audit.sh` runs it.
#[test]
#[ignore = "hours"]
fn long_form() {
    let record = Record::open();
    for (name, text) in gaussians() {
        let key = format!("gaussian {name}");
        if !record.has(&key) {
            let (mu, integral, attack) = reached(text, number("DPM_GAUSSIAN_DRAWS", 1_500_000));
            record.add(&key, &format!("certified mu {mu:.4}, by integration {integral:.6} of it, by the attack at least {attack:.4}"));
        }
    }
    let (programs, trials) = (number("DPM_PROGRAMS", 500), number("DPM_DRAWS", 2_000));
    for (seed, text) in random_programs().take(programs as usize) {
        let key = format!("random {seed}");
        if !record.has(&key) {
            let found = audited(&text, trials).unwrap();
            let all: Vec<String> =
                found.iter().map(|o| o.as_ref().map_or_else(|n| format!("{} not audited: {}", n.name, n.reason), line)).collect();
            record.add(&key, &all.join(" | "));
        }
    }
    examples(&record);
    let all = fs::read_to_string(&record.path).unwrap();
    assert!(!all.contains("ABOVE THE CERTIFICATE"));
}
