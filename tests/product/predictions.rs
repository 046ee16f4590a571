//! What models of released counts predict, through the binary: made-up rows as a file, averages over a census, and the record.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "budget dp(eps = 1, delta = 1e-6)
private poll[n] { area: public category {north, \"far, south\"}, voted from \"has voted\": bool, age: int in 0..99 }
public census[groups] { area: category {north, \"far, south\"}, old: bool, people: int in 0.. }
release cells = histogram(poll.area, voted) using gaussian
param m ~ normal(0, 1.5)
param u: vector[area] ~ normal(0, 1)
observe cells.voted ~ bernoulli_logit(m + u[area])
output post  = posterior(m, u)
output check = predictive(cells, post)
output fit   = loo(post)
output rows  = simulate(cells, post, rows = 500)
output few   = simulate(margin(cells, voted), post, rows = 7)
output all   = poststratify(inv_logit(post.m + post.u[area] + (if old then 1 else 0)), census, people)
output hand  = 0.125 * inv_logit(post.m + post.u[north] + 1) + 0.125 * inv_logit(post.m + post.u[north]) + 0.75 * inv_logit(post.m + post.u[\"far, south\"])
output off   = mean(abs(poststratify(inv_logit(post.m + post.u[area] + (if old then 1 else 0)), census, people) - (0.125 * inv_logit(post.m + post.u[north] + 1) + 0.125 * inv_logit(post.m + post.u[north]) + 0.75 * inv_logit(post.m + post.u[\"far, south\"]))))
";

fn dpm(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(words).output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.dpm"), PROGRAM).unwrap();
    let row = |i: usize| format!("{},{},{}\n", ["north", "\"far, south\""][i % 2], i.is_multiple_of(3), i % 100);
    let rows: String = (0..600).map(row).collect();
    std::fs::write(folder.path().join("poll.csv"), format!("area,has voted,age\n{rows}")).unwrap();
    // The north twice, in rows of two kinds.
    let census = "area,old,people\nnorth,1,50\nnorth,0,50\n\"far, south\",0,250\n\"far, south\",0,50\nnorth,1,0\n";
    std::fs::write(folder.path().join("census.csv"), census).unwrap();
    folder
}

const RUN: [&str; 6] = ["run", "p.dpm", "--data", "poll.csv", "--public", "census=census.csv"];

fn with<'w>(more: &[&'w str]) -> Vec<&'w str> {
    RUN.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn made_up_rows_are_a_file_like_the_table() {
    let folder = folder();
    let done = dpm(folder.path(), &with(&["--json", "--synthetic", "rows=rows.csv", "--synthetic", "few=few.csv"]));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let outputs = serde_json::from_slice::<Value>(&done.stdout).unwrap()["outputs"].clone();
    let text = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("area,has voted"));
    let count = |line: &str| text.lines().filter(|l| *l == line).count() as u64;
    assert_eq!(lines.count(), 500);
    for (line, place) in [("north,true", "/rows/north/true"), ("\"far, south\",false", "/rows/far, south/false")] {
        assert!(count(line) > 0 && Some(count(line)) == outputs.pointer(place).unwrap().as_u64(), "{line}: {outputs}");
    }
    let few = std::fs::read_to_string(folder.path().join("few.csv")).unwrap();
    assert!(few.starts_with("has voted\n") && few.lines().count() == 8, "{few}");
    // The rows are read as those of the table.
    let again = "private poll[n] { area: public category {north, \"far, south\"}, voted from \"has voted\": bool }\noutput sizes = histogram(area)\n";
    std::fs::write(folder.path().join("again.dpm"), again).unwrap();
    let read = dpm(folder.path(), &["run", "again.dpm", "--data", "rows.csv", "--json"]);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let sizes = serde_json::from_slice::<Value>(&read.stdout).unwrap()["outputs"]["sizes"].clone();
    let sum = |area: &str| ["false", "true"].iter().map(|v| outputs["rows"][area][v].as_f64().unwrap()).sum::<f64>();
    assert_eq!(sizes["far, south"].as_f64(), Some(sum("far, south")));
}

#[test]
fn a_census_weighs_every_draw() {
    let folder = folder();
    let done = dpm(folder.path(), &with(&["--json"]));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let outputs = serde_json::from_slice::<Value>(&done.stdout).unwrap()["outputs"].clone();
    let one = |name: &str, what: &str| outputs[name]["numbers"][""][what].as_f64().unwrap();
    for what in ["mean", "sd", "q5", "q95"] {
        assert!((one("all", what) - one("hand", what)).abs() < 1e-12, "{what}: {outputs}");
    }
    assert!(outputs["off"].as_f64().unwrap() < 1e-14);
    assert_eq!(outputs["check"]["released"]["north"].as_object().unwrap().len(), 2);
    assert!(outputs["fit"]["k"]["far, south"]["true"].is_number() && outputs["fit"]["elpd"].as_f64().unwrap() < 0.0);
}

#[test]
fn what_is_printed() {
    let folder = folder();
    let done = dpm(folder.path(), &with(&["--synthetic", "few=few.csv"]));
    let (text, said) = (String::from_utf8_lossy(&done.stdout).into_owned(), String::from_utf8_lossy(&done.stderr).into_owned());
    assert!(done.status.success(), "{said}");
    for head in ["R-hat", "area        voted     released       mean        low       high\n", "within ", "elpd -"] {
        assert!(text.contains(head), "{head}: {text}");
    }
    assert!(
        said.contains("warning: the rows of `few` are made up: they keep what the model says of its cells, and nothing else"),
        "{said}"
    );
}

#[test]
fn options_that_say_nothing_are_refused() {
    let folder = folder();
    let code = |more: &[&str]| {
        let done = dpm(folder.path(), &with(more));
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (exit, said) = code(&["--synthetic", "rows.csv"]);
    assert_eq!(exit, Some(2));
    assert!(said.contains("--synthetic wants NAME=CSV with the name of an output of made-up rows, not `rows.csv`"), "{said}");
    assert_eq!(code(&["--synthetic", "rows=a.csv", "--synthetic", "few=a.csv"]).0, Some(2));
    assert_eq!(code(&["--synthetic", "rows=a.csv", "-o", "a.csv"]).0, Some(2));
    assert_eq!(code(&["--synthetic", "rows=poll.csv"]).0, Some(2));
    assert!(!folder.path().join("a.csv").exists());
}

/// A record with draws: a table of every number in the report, and a picture of their intervals.
#[test]
fn reports_and_pictures_show_draws() {
    let folder = folder();
    assert!(dpm(folder.path(), &with(&["-o", "r.json"])).status.success());
    let public = ["--public", "census=census.csv"];
    let done = dpm(folder.path(), &[&["report", "r.json", "-o", "r.html"][..], &public].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let html = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    let record: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let mean = record["outputs"]["post"]["numbers"]["u[north]"]["mean"].as_f64().unwrap();
    for part in
        ["What chains say: post", "What chains say: all", "u[far, south]", &format!("<td>{mean:.4}</td>"), "post: median and middle 90 %"]
    {
        assert!(html.contains(part), "{part}");
    }
    for name in ["post", "all"] {
        let words = ["plot", "r.json", "--shows", "posterior", "--release", name, "-o", "p.svg"];
        let done = dpm(folder.path(), &[&words[..], &public].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let svg = std::fs::read_to_string(folder.path().join("p.svg")).unwrap();
        assert!(svg.contains(&format!("{name}: median and middle 90 %")), "{name}");
    }
}

/// A parameter for every combination of two columns, averaged over a census that has both.
#[test]
fn a_census_of_two_columns() {
    let folder = folder();
    let all = "poststratify(inv_logit(post.u[area, old]) + (if area == north then 0 else 0), census, people)";
    let text = format!(
        "budget dp(eps = 1, delta = 1e-6)\nprivate poll[n] {{ area: public category {{north, south}}, old: bool, voted: bool }}\n\
         public census[groups] {{ area: category {{north, south}}, old: bool, people: int in 0.. }}\n\
         release cells = histogram(poll.area, poll.old, voted) using gaussian\nparam u: vector[poll.area, census.old] ~ normal(0, 1)\n\
         observe cells.voted ~ bernoulli_logit(u[area, old])\noutput post = posterior(u)\noutput all = {all}\n\
         output young = poststratify(inv_logit(post.u[north, false]), census, people)\n\
         output off = mean(abs({all} - (0.25 * inv_logit(post.u[north, true]) + 0.75 * inv_logit(post.u[south, false]))))\n"
    );
    std::fs::write(folder.path().join("p.dpm"), text).unwrap();
    let rows: String = (0..400).map(|i| format!("{},{},{}\n", ["north", "south"][i % 2], i % 3 == 0, i % 5 == 0)).collect();
    std::fs::write(folder.path().join("poll.csv"), format!("area,old,voted\n{rows}")).unwrap();
    std::fs::write(folder.path().join("census.csv"), "area,old,people\nnorth,true,50\nsouth,false,150\n").unwrap();
    let done = dpm(folder.path(), &with(&["--json"]));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let outputs = serde_json::from_slice::<Value>(&done.stdout).unwrap()["outputs"].clone();
    assert!(outputs["off"].as_f64().unwrap() < 1e-12, "{outputs}");
    assert!(outputs["young"]["numbers"][""]["mean"].as_f64().unwrap() > 0.0);
}
