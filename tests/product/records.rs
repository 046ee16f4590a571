//! `public cells from "result.json"`: the posterior is that of the run that wrote the record, and no text passes for a record.

use dpm::check::Loader;
use dpm::pipeline;
use dpm::run::Bound;
use dpm::source::render;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn dpm(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(args).current_dir(folder).output().unwrap()
}

#[track_caller]
fn expect(code: i32, output: &Output) -> (String, String) {
    let [out, said] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
    assert_eq!(output.status.code(), Some(code), "{said}{out}");
    (out, said)
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

const POLL: &str = "budget dp(eps = 1, delta = 1e-6)
private poll[n] { region: public category {north, \"far south\"}, age: int in 1..3, vote: bool }
release cells = histogram(region, age, vote) using gaussian spend 60%
release votes = histogram(vote) using geometric spend 40%
";

/// A public and a private condition, an axis that is summed out, and a table without public axes.
const MODEL: &str = "param m ~ normal(0, 1.5)
param b ~ normal(0, 1)
param u: vector[region] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(m + b * age + u[region])
param p ~ beta(1, 1)
observe votes.vote ~ bernoulli(p)
output post = posterior(m, b, u, chains = 2, draws = 300)
output share = posterior(p)
output south = inv_logit(post.m + 2 * post.b + post.u[\"far south\"])
output young = cells[north, 1, true] + sum(margin(cells, age))
";

fn poll() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: usize| format!("{},{},{}\n", ["north", "far south"][i % 2], i % 3 + 1, usize::from(i.is_multiple_of(5)));
    fs::write(folder.path().join("poll.csv"), "region,age,vote\n".to_owned() + &(0..400).map(row).collect::<String>()).unwrap();
    fs::write(folder.path().join("first.dpm"), format!("{POLL}{MODEL}")).unwrap();
    expect(0, &dpm(folder.path(), &["run", "first.dpm", "--data", "poll.csv", "-o", "r.json", "--arviz", "r.arviz"]));
    folder
}

#[test]
fn the_same_record_gives_the_same_posterior() {
    let folder = poll();
    let at = folder.path();
    let record = read(at, "r.json");
    let law = &record["laws"]["cells"];
    assert_eq!(law["axes"][0], json!({"name": "region", "type": "category", "levels": ["north", "far south"], "public": true}));
    assert_eq!(law["axes"][1]["levels"], json!(["1", "2", "3"]));
    assert_eq!((&law["n"], &law["public_margins"]), (&json!(400), &json!({"north": 200, "far south": 200})));
    assert!(record["laws"]["votes"].get("public_margins").is_none());

    let same = |folder: &Path, args: &[&str]| {
        let run: Vec<&str> = ["run"].iter().chain(args).chain(&["-o", "s.json", "--arviz", "s.arviz"]).copied().collect();
        let (out, _) = expect(0, &dpm(folder, &run));
        assert!(out.contains("costs nothing"), "{out}");
        let again = read(folder, "s.json");
        assert_eq!(again["outputs"], record["outputs"]);
        assert_eq!(again["releases"], json!({}));
        // Every draw.
        assert_eq!(read(folder, "s.arviz")["posterior"], read(at, "r.arviz")["posterior"]);
    };
    let program = format!("public cells from \"r.json\"\npublic votes from \"r.json\"\n{MODEL}");
    fs::write(at.join("again.dpm"), &program).unwrap();
    same(at, &["again.dpm"]);
    let (out, said) = expect(0, &dpm(at, &["certify", "again.dpm"]));
    assert!(out.contains("eps 0") && said.contains("costs nothing"), "{out}{said}");

    // Under another name, from elsewhere, written out, and from a plan on a machine without the record.
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path();
    fs::write(elsewhere.join("b.dpm"), program.replace("public votes from \"r.json\"", "public votes from \"no.json\".votes")).unwrap();
    let public = ["cells", "votes"].map(|name| format!("{name}={}", at.join("r.json").display()));
    same(elsewhere, &["b.dpm", "--public", &public[0], "--public", &public[1]]);
    expect(1, &dpm(elsewhere, &["run", "b.dpm"]));
    fs::write(at.join("c.dpm"), expect(0, &dpm(at, &["expand", "again.dpm"])).0).unwrap();
    same(at, &["c.dpm"]);
    expect(0, &dpm(at, &["compile", "again.dpm", "-o", "p.plan"]));
    fs::rename(at.join("p.plan"), elsewhere.join("p.plan")).unwrap();
    same(elsewhere, &["p.plan"]);
}

/// A secret number of rows is `n` in a record, whatever the header of the table called it.
#[test]
fn a_record_of_a_secret_number_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let model = |n: &str| {
        format!(
            "param total ~ lognormal(4, 1)\nparam p ~ beta(1, 1)\nobserve cells.{n} ~ poisson(total)\nobserve cells.vote ~ bernoulli(p)\n\
             output post = posterior(p, total, chains = 1, draws = 200)\n"
        )
    };
    let table = "budget dp(eps = 1, delta = 1e-6)\nprivate poll[private voters] { vote: bool }\nrelease cells = histogram(vote)\n";
    fs::write(at.join("a.dpm"), format!("{table}{}", model("voters"))).unwrap();
    fs::write(at.join("a.csv"), "vote\n".to_owned() + &"yes\nno\nno\n".repeat(20)).unwrap();
    expect(0, &dpm(at, &["run", "a.dpm", "--data", "a.csv", "-o", "r.json"]));
    fs::write(at.join("b.dpm"), format!("public cells from \"r.json\"\n{}", model("n"))).unwrap();
    expect(0, &dpm(at, &["run", "b.dpm", "-o", "s.json"]));
    assert_eq!(read(at, "s.json")["outputs"], read(at, "r.json")["outputs"]);
}

#[test]
fn a_record_is_verified_and_neither_overwritten_nor_private() {
    let folder = poll();
    let at = folder.path();
    fs::write(at.join("again.dpm"), format!("public cells from \"r.json\"\npublic votes from \"r.json\"\n{MODEL}")).unwrap();
    expect(0, &dpm(at, &["verify", "r.json"]));
    let (_, said) = expect(2, &dpm(at, &["run", "again.dpm", "-o", "r.json"]));
    assert!(said.contains("this command reads it"), "{said}");
    // Rows are no record, whatever the program says, and nothing of them is shown.
    fs::write(at.join("rows.dpm"), "budget eps(1)\npublic cells from \"poll.csv\"\nprivate poll[n] { vote: bool }\n").unwrap();
    let (_, said) = expect(1, &dpm(at, &["run", "rows.dpm", "--data", "poll.csv"]));
    assert!(said.contains("E0212") && said.contains("cannot be read") && !said.contains("north"), "{said}");
    let (_, said) = expect(2, &dpm(at, &["run", "rows.dpm", "--data", "poll.csv", "--public", "cells=poll.csv"]));
    assert!(said.contains("holds private rows"), "{said}");

    // Noise that the certificate beside it did not pay for.
    let mut record = read(at, "r.json");
    let scale = record["laws"]["cells"]["scale"].as_f64().unwrap();
    record["laws"]["cells"]["scale"] = json!(scale / 2.0);
    fs::write(at.join("r.json"), record.to_string()).unwrap();
    let (out, _) = expect(5, &dpm(at, &["verify", "r.json"]));
    assert!(out.contains("laws.cells: its noise is not that of the certificate"), "{out}");
    let (_, said) = expect(1, &dpm(at, &["check", "again.dpm"]));
    assert!(said.contains("E0212") && said.contains("its noise is not that of the certificate"), "{said}");
}

#[test]
fn a_statement_is_printed_as_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("p.dpm"), "public   cells from\n \"a b.json\"# why\npublic old from \"r.json\" . cells\n").unwrap();
    expect(0, &dpm(at, &["fmt", "p.dpm"]));
    let text = fs::read_to_string(at.join("p.dpm")).unwrap();
    assert_eq!(text, "public cells from \"a b.json\"  # why\npublic old from \"r.json\".cells\n");
    expect(0, &dpm(at, &["fmt", "--check", "p.dpm"]));
}

/// One text for every record.
struct One(String);

impl Loader for One {
    fn load(&self, _: &[String]) -> Option<String> {
        None
    }
    fn record(&self, _: &str, _: &str) -> Option<String> {
        Some(self.0.clone())
    }
}

fn sound() -> Value {
    let axis = |name: &str, ty: &str, levels: &[&str], public: bool| json!({"name": name, "type": ty, "levels": levels, "public": public});
    let axes = [axis("region", "category", &["a", "b"], true), axis("age", "int", &["-1", "0"], false)];
    json!({
        "releases": {"cells": {"a": {"-1": 3, "0": -4}, "b": {"-1": 0, "0": 9}}},
        "laws": {"cells": {"kind": "rounded_normal", "scale": 2.5, "axes": axes, "n": 8, "public_margins": {"a": 0, "b": 8}}},
    })
}

/// The codes that a program gets with this text for a record; what it is told holds nothing that steers a terminal.
fn codes(text: &str) -> Vec<&'static str> {
    let program =
        "public cells from \"r.json\"\nparam p ~ beta(1, 1)\nobserve cells.age ~ categorical([p, 1 - p])\noutput x = sum(cells)\n";
    let program = program.replace("observe cells.age ~ categorical([p, 1 - p])\n", "");
    let checked = pipeline::check("p.dpm", &program, &One(text.to_owned()));
    let (_, found) = pipeline::analyze(&checked, &Bound::default(), false);
    let shown = render::text(&checked.sources, &found, false);
    assert!(shown.len() < 20_000 && shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown}");
    found.iter().map(|d| d.code).collect()
}

#[test]
fn nothing_but_a_record_passes_for_one() {
    assert!(codes(&sound().to_string()).is_empty());
    let deep = |n: usize| format!("{}{}", "{\"releases\":".repeat(n), "}".repeat(n));
    let nested = |n: usize| format!("{{\"releases\": {{\"cells\": {}1{}}}, \"laws\": {{}}}}", "[".repeat(n), "]".repeat(n));
    let texts = ["", "{", "null", "[]", "1e999999999", "\u{feff}{}", "NaN", "\"\\ud800\"", "{\"$serde_json::private::Number\": \"x\"}"];
    let texts = texts.map(String::from).into_iter().chain([
        "{}".into(),
        deep(100),
        deep(1_000_000),
        nested(1_000_000),
        "[".repeat(1 << 20),
        sound().to_string().replacen("\"laws\"", "\"releases\": {}, \"laws\"", 1),
        sound().to_string().replacen("\"n\":8", "\"n\":8,\"\\u006e\":8", 1),
        sound().to_string().replacen("\"laws\"", "\"laws\": 1, \"lows\"", 1),
        sound().to_string().replacen("\"releases\"", "\"releases\": [], \"lows\"", 1),
    ]);
    for text in texts {
        assert_eq!(codes(&text), ["E0212"], "{}", text.get(..text.len().min(200)).unwrap_or(""));
    }
    assert_eq!(codes("{\"releases\": {}, \"laws\": {}}"), ["E0206"]);
    assert_eq!(codes("{\"releases\": {\"\\u001b[2J\": 1}, \"laws\": {\"\\u001b[2J\": 1}}"), ["E0206"]);

    // One change of a sound record each.
    let law = "/laws/cells";
    let changes = [
        ("E0315", law, Value::Null),
        ("E0315", "/laws/cells/kind", json!("laplace")),
        ("E0315", "/laws/cells/kind", json!("normal")),
        ("E0315", "/laws/cells/kind", json!("\u{1b}[31m")),
        ("E0315", "/laws/cells/kind", Value::Null),
        ("E0212", "/laws/cells/scale", json!(0)),
        ("E0212", "/laws/cells/scale", json!(-1.5)),
        ("E0212", "/laws/cells/scale", json!("2.5")),
        ("E0212", "/laws/cells/scale", Value::Null),
        ("E0212", "/laws/cells/axes", json!([])),
        ("E0212", "/laws/cells/axes", json!({})),
        ("E0212", "/laws/cells/axes/1/name", json!("region")),
        ("E0212", "/laws/cells/axes/0/name", json!("a\u{1b}[2Jb")),
        ("E0212", "/laws/cells/axes/0/name", json!("a".repeat(100_000))),
        ("E0212", "/laws/cells/axes/0/type", json!("vector[1000000000]")),
        ("E0212", "/laws/cells/axes/0/public", json!("yes")),
        ("E0212", "/laws/cells/axes/0/levels", json!(["a", "a"])),
        ("E0212", "/laws/cells/axes/0/levels", json!(["a"])),
        ("E0212", "/laws/cells/axes/0/levels", json!([])),
        ("E0212", "/laws/cells/axes/0/levels", json!(["a", "c"])),
        ("E0212", "/laws/cells/axes/0/levels", json!(1_000_000_000)),
        ("E0212", "/laws/cells/axes/1/levels", json!(["-1", "1"])),
        ("E0212", "/laws/cells/axes/1/levels", json!(["9223372036854775807", "x"])),
        ("E0212", "/laws/cells/axes/1/levels", json!(["-01", "0"])),
        ("E0212", "/laws/cells/axes/1/type", json!("bool")),
        ("E0212", "/laws/cells/n", json!(-8)),
        ("E0212", "/laws/cells/n", json!(8.5)),
        ("E0212", "/laws/cells/n", json!(9)),
        ("E0212", "/laws/cells/n", json!(u64::MAX)),
        ("E0212", "/laws/cells/public_margins", Value::Null),
        ("E0212", "/laws/cells/public_margins/a", json!(-1)),
        ("E0212", "/laws/cells/public_margins/a", json!(1)),
        ("E0212", "/releases/cells", json!([3, -4, 0, 9])),
        ("E0212", "/releases/cells/a", json!(3)),
        ("E0212", "/releases/cells/a/0", json!(3.5)),
        ("E0212", "/releases/cells/a/0", json!("3")),
        ("E0212", "/releases/cells/a/0", json!({"x": 3})),
        ("E0212", "/releases/cells/a/0", json!(u64::MAX)),
        ("E0212", "/releases/cells/a/0", serde_json::from_str("1e400").unwrap()),
        ("E0212", "/releases/cells/a/0", serde_json::from_str("99999999999999999999999999999999999999999").unwrap()),
    ];
    for (code, at, new) in changes {
        let mut record = sound();
        *record.pointer_mut(at).unwrap() = new.clone();
        let found = codes(&record.to_string());
        assert_eq!(found, [code], "{at} = {}", new.to_string().chars().take(100).collect::<String>());
    }
    // More cells than a program may have, written out in full.
    let levels: Vec<String> = (0..1100).map(|i| format!("l{i}")).collect();
    let rows: serde_json::Map<String, Value> = levels.iter().map(|l| (l.clone(), json!(1))).collect();
    let cells: serde_json::Map<String, Value> = levels.iter().map(|l| (l.clone(), Value::Object(rows.clone()))).collect();
    let axis = |name: &str| json!({"name": name, "type": "category", "levels": levels, "public": false});
    let record = json!({
        "releases": {"cells": cells},
        "laws": {"cells": {"kind": "two_sided_geometric", "scale": 1, "axes": [axis("x"), axis("y")], "n": 5}},
    });
    assert_eq!(codes(&record.to_string()), ["E0025"]);
}

/// Numbers that no run writes, but that fit together: whatever the chains do, the program ends well.
#[test]
fn extreme_records_end_well() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("p.dpm"),
        "public cells from \"r.json\"\nparam p ~ beta(1, 1)\nobserve cells.vote ~ bernoulli(p)\noutput post = posterior(p)\n",
    )
    .unwrap();
    let most = 1_i64 << 50;
    for (kind, scale, a, b, n) in [
        ("rounded_normal", 1e300, 1, 2, 3),
        ("rounded_normal", 1e-300, 10, -5, 3),
        ("two_sided_geometric", 1e300, 1, 2, 3),
        ("two_sided_geometric", 1e-300, 1, 2, 3),
        ("rounded_normal", 2.0, most, -most, most),
        ("two_sided_geometric", 2.0, most, -most, 1),
        ("rounded_normal", 2.0, 1, 0, most),
    ] {
        let axes = [json!({"name": "vote", "type": "bool", "levels": ["false", "true"], "public": false})];
        let record = json!({
            "releases": {"cells": {"false": a, "true": b}},
            "laws": {"cells": {"kind": kind, "scale": scale, "axes": axes, "n": n}},
        });
        fs::write(at.join("r.json"), record.to_string()).unwrap();
        let done = dpm(at, &["run", "p.dpm"]);
        let said = String::from_utf8_lossy(&done.stderr);
        let refused = done.status.code() == Some(1) && said.contains("E0314");
        assert!(refused || done.status.code() == Some(0), "{kind} {scale} {a} {b} {n}: {:?} {said}", done.status.code());
    }
}

const SUMS: &str = "param rate: vector[sex] ~ gamma(2, 20)
observe s.died ~ poisson(rate[sex] * years)
output post = posterior(rate)
output more = mean(post.rate[m] > post.rate[f])
";

/// Groups of a bool, and what is predicted from a record.
#[test]
fn sums_by_a_bool_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let row = |i: usize| format!("{},{},{}\n", i % 2, usize::from(i.is_multiple_of(7)), i % 13);
    fs::write(at.join("t.csv"), "old,died,years\n".to_owned() + &(0..300).map(row).collect::<String>()).unwrap();
    let model = "param a ~ gamma(2, 20)\nparam b ~ gamma(2, 20)\nobserve s.died ~ poisson((if old then a else b) * years)\n\
                 output post = posterior(a, b)\noutput before = prior(a, b)\noutput check = predictive(s, post)\n\
                 output first = predictive(s, before)\noutput fit = loo(post)\n";
    let table = "private t[n] { old: bool, died: bool, years: real in [0, 15] }\n";
    fs::write(at.join("a.dpm"), format!("budget eps(3)\n{table}release s = sums(died, years, groups = old)\n{model}")).unwrap();
    expect(0, &dpm(at, &["run", "a.dpm", "--data", "t.csv", "-o", "r.json"]));
    let record = read(at, "r.json");
    expect(0, &dpm(at, &["verify", "r.json"]));
    assert_eq!(
        (&record["laws"]["s"]["axes"][0]["type"], &record["laws"]["s"]["axes"][0]["levels"]),
        (&json!("bool"), &json!(["false", "true"]))
    );
    fs::write(at.join("b.dpm"), format!("public s from \"r.json\"\n{model}")).unwrap();
    expect(0, &dpm(at, &["run", "b.dpm", "-o", "s.json"]));
    assert_eq!(read(at, "s.json")["outputs"], record["outputs"]);
    assert!(record["outputs"]["check"]["high"]["true"]["died"].is_number(), "{}", record["outputs"]["check"]);
}

/// Noisy sums keep their law and their columns, and a changed unit or scale is seen.
#[test]
fn sums_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let row = |i: usize| format!("{},{},{}\n", ["f", "m"][i % 2], usize::from(i.is_multiple_of(7)), i % 13);
    fs::write(at.join("t.csv"), "sex,died,years\n".to_owned() + &(0..300).map(row).collect::<String>()).unwrap();
    let table = "private t[n] { sex: category {f, m}, died: bool, years: real in [0, 15] }\n";
    fs::write(at.join("a.dpm"), format!("budget eps(3)\n{table}release s = sums(died, years, groups = sex)\n{SUMS}")).unwrap();
    expect(0, &dpm(at, &["run", "a.dpm", "--data", "t.csv", "-o", "r.json"]));
    let mut record = read(at, "r.json");
    expect(0, &dpm(at, &["verify", "r.json"]));
    let law = &record["laws"]["s"];
    assert_eq!((&law["n"], &law["kind"], &law["axes"][1]["levels"]), (&json!(300), &json!("laplace"), &json!(["died", "years / 15"])));
    assert_eq!(law["axes"][1]["sums"][1], json!({"name": "years", "unit": 15.0, "whole": false}));
    fs::write(at.join("b.dpm"), format!("public s from \"r.json\"\n{SUMS}")).unwrap();
    expect(0, &dpm(at, &["run", "b.dpm", "-o", "s.json"]));
    assert_eq!(read(at, "s.json")["outputs"], record["outputs"]);
    // Written out it is the same program.
    fs::write(at.join("c.dpm"), expect(0, &dpm(at, &["expand", "a.dpm"])).0).unwrap();
    let certificate = |name: &str| read(at, name)["releases"].clone();
    for name in ["a", "c"] {
        expect(0, &dpm(at, &["certify", &format!("{name}.dpm"), "-o", &format!("{name}.json")]));
    }
    assert_eq!(certificate("a.json")[0]["claim"], certificate("c.json")[0]["claim"]);
    let sound = record.clone();
    for (place, value, code) in [
        ("/laws/s/axes/1/sums/1/unit", json!(1.5), "E0212"),
        ("/laws/s/axes/1/sums/1/unit", json!(0), "E0212"),
        ("/laws/s/axes/1/sums", json!([]), "E0212"),
        ("/laws/s/axes/0/type", json!("bool"), "E0212"),
        ("/laws/s/axes/1/type", json!("category"), "E0315"),
        ("/laws/s/scale", json!(0.01), "E0212"),
        ("/laws/s/kind", json!("cauchy"), "E0315"),
        ("/laws/s/n", json!(0), "E0212"),
    ] {
        record.clone_from(&sound);
        *record.pointer_mut(place).unwrap() = value;
        fs::write(at.join("r.json"), record.to_string()).unwrap();
        let (_, said) = expect(1, &dpm(at, &["check", "b.dpm"]));
        assert!(said.contains(code), "{place}: {said}");
    }
}
