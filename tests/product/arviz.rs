//! The file of draws that ArviZ and R read: its shape, and that the draws are those of the released posterior.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "private t[n] { vote: category {yes, no, blank}, y: real in [0, 10], area: public category {a, b}, won: bool }
param s ~ dirichlet([1, 1, 1])
observe vote ~ categorical(s)
param mu ~ normal(5, 3)
observe y ~ normal(mu, 2)
release shares = posterior(s) using noise_aware(eps = 1)
release level = posterior(mu) using noise_aware(eps = 1)
each area of t {
  param p ~ beta(1, 1)
  observe won ~ bernoulli(p)
  release rate = posterior(p) using ls_hist(eps = 1)
}
output some = mean(sum(shares, [yes, blank]))
";

fn run(folder: &Path, program: &str, more: &[&str]) -> Output {
    let file = folder.join("p.dpm");
    std::fs::write(&file, program).unwrap();
    let mut rows = "vote,y,area,won\n".to_owned();
    for i in 0..300 {
        let vote = ["yes", "no", "blank", "yes"][i % 4];
        rows.push_str(&format!("{vote},{},{},{}\n", i % 10, ["a", "b"][i % 2], i % 3 == 0));
    }
    std::fs::write(folder.join("t.csv"), rows).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.arg("run").arg(&file).arg("--data").arg(folder.join("t.csv")).args(more);
    command.output().unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[test]
fn draws_as_inference_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("post.json");
    let out = run(folder.path(), PROGRAM, &["--json", "--arviz", file.to_str().unwrap()]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let record: Value = serde_json::from_slice(&out.stdout).unwrap();
    let data: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let keys: Vec<&String> = data.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["posterior", "coords", "dims", "attrs"]);
    for (name, size) in [("shares", 3), ("level", 1), ("rate", 2)] {
        let chains = data["posterior"][name].as_array().unwrap();
        assert_eq!(chains.len(), 4);
        for chain in chains {
            let draws = chain.as_array().unwrap();
            assert_eq!(draws.len(), 1000);
            assert!(draws.iter().all(|d| d.as_array().map_or(1, Vec::len) == size && numbers(d).iter().all(|x| x.is_finite())));
        }
    }
    assert_eq!(data["dims"]["shares"], serde_json::json!(["shares_level"]));
    assert_eq!(data["coords"]["shares_level"], serde_json::json!(["yes", "no", "blank"]));
    assert_eq!(data["coords"]["rate_level"], serde_json::json!(["a", "b"]));
    assert_eq!(data["dims"].as_object().unwrap().len(), 2);
    // The mean of 4,000 draws beside the mean of the posterior in the record, within six standard errors.
    let level = &record["releases"]["level"];
    let means: f64 =
        numbers(&level["weights"]).iter().zip(level["components"].as_array().unwrap()).map(|(w, c)| w * numbers(&c["parameters"])[0]).sum();
    let draws = numbers(&data["posterior"]["level"]);
    let mean = draws.iter().sum::<f64>() / 4000.0;
    let sd = (draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 3999.0).sqrt();
    assert!((mean - means).abs() < 6.0 * sd / 4000f64.sqrt(), "{mean} {means}");
    let shares: Vec<f64> = data["posterior"]["shares"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|c| c.as_array().unwrap())
        .map(|d| numbers(d)[0] + numbers(d)[2])
        .collect();
    let mean = shares.iter().sum::<f64>() / 4000.0;
    let sd = (shares.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 3999.0).sqrt();
    let some = record["outputs"]["some"].as_f64().unwrap();
    assert!((mean - some).abs() < 6.0 * sd / 4000f64.sqrt(), "{mean} {some}");
}

/// A program without a whole posterior is wrong use, said before any data are opened; the length of the file says nothing.
#[test]
fn only_posteriors_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("post.json");
    let draw = "private t[n] { won: bool }\nparam p ~ beta(2, 2)\nobserve won ~ bernoulli(p)\nrelease d = draw(p) using direct\n";
    let out = run(folder.path(), draw, &["--arviz", file.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("release post = posterior(p)") && !file.exists());
    let lengths: Vec<u64> = (0..3)
        .map(|_| {
            assert!(run(folder.path(), PROGRAM, &["--arviz", file.to_str().unwrap()]).status.success());
            std::fs::metadata(&file).unwrap().len()
        })
        .collect();
    assert!(lengths.iter().all(|l| *l == lengths[0]), "{lengths:?}");
}
