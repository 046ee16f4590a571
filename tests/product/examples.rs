//! The gallery: the binary on every example, with the rows that come with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

#[path = "../../examples/generate.rs"]
#[allow(clippy::print_stdout)]
mod generate;

/// A program of this version: its file, its data, its public data, and the values a run answers.
struct Example {
    file: &'static str,
    data: &'static str,
    public: Option<&'static str>,
    releases: &'static [&'static str],
    outputs: &'static [&'static str],
    /// All but the first release and all outputs stand in branches on what was released.
    branches: bool,
    /// Of the whole certificate.
    status: &'static str,
}

const fn example(file: &'static str, data: &'static str, releases: &'static [&'static str], outputs: &'static [&'static str]) -> Example {
    Example { file, data, public: None, releases, outputs, branches: false, status: "exact" }
}

const RUN: &[Example] = &[
    example("01_beta_bernoulli.dpm", "staff=examples/01_staff.csv", &["p_hat"], &[]),
    example("02_dirichlet.dpm", "votes=examples/02_votes.csv", &["share_hat"], &[]),
    example("03_gamma_poisson.dpm", "people=examples/03_people.csv", &["rate_hat"], &[]),
    example("04_normal_mean.dpm", "staff=examples/04_staff.csv", &["mu_hat"], &[]),
    example("05_statistical_query.dpm", "cohort=examples/05_cohort.csv", &["share"], &["share_percent"]),
    Example { status: "certified", ..example("06_logistic.dpm", "adult=examples/06_adult.csv", &["coef"], &[]) },
    example("10_groups.dpm", "survey=examples/10_survey.csv", &["rate"], &["shrunk"]),
    Example {
        public: Some("pilot=examples/11_pilot.csv"),
        ..example("11_public_prior.dpm", "survey=examples/11_survey.csv", &["p_hat"], &[])
    },
    example("12_noisy_posterior.dpm", "ballots=examples/12_ballots.csv", &["post"], &["share_yes", "ci_yes"]),
    example("13_two_releases.dpm", "people=examples/13_people.csv", &["mean_age", "mu_hat"], &[]),
    example("14_posterior_predictive.dpm", "trial=examples/14_trial.csv", &["p_hat"], &["next_100", "chance_over_60"]),
    example("15_by_user.dpm", "visits=examples/15_visits.csv", &["p_hat"], &[]),
    Example { branches: true, status: "certified", ..example("16_modules.dpm", "adult=examples/16_adult.csv", &["coef", "p2"], &["note"]) },
    example("17_poll.dpm", "poll=examples/17_poll.csv", &["cells"], &["post", "north", "ahead"]),
    Example { status: "certified", ..example("19_design.dpm", "survey=examples/19_survey.csv", &["coef"], &["per_year", "men"]) },
    // Without private rows.
    example("18_poll_again.dpm", "", &[], &["post", "gap", "ahead"]),
];

/// Programs whose posterior certifies, on the condition that a chain converges, and their data: cost in eps, zcdp.
const CONDITIONAL: &[(&str, &str, f64, f64)] = &[
    ("07_betad_logistic.dpm", "loans=examples/07_loans.csv", 6.0, 3.2207),
    ("08_betad_gauss.dpm", "homes=examples/08_homes.csv", 4.0, 1.6698),
    ("09_betad_nn.dpm", "flowers=examples/09_flowers.csv", 8.0, 4.9229),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn dpm(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(args).current_dir(root()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", out(output)))
}

/// `--public` arguments: a pilot that is not bound leaves the certificate a formula.
fn public(e: &Example) -> Vec<&'static str> {
    e.public.map_or(vec![], |p| vec!["--public", p])
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_program_is_in_a_list() {
    let mut found: Vec<String> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".dpm"))
        .collect();
    found.sort();
    let mut listed: Vec<&str> = RUN.iter().map(|e| e.file).collect();
    listed.extend(CONDITIONAL.iter().map(|(f, ..)| *f));
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn programs_of_this_version_check_and_certify() {
    for e in RUN {
        let file = format!("examples/{}", e.file);
        for command in ["check", "certify", "compare"] {
            let args: Vec<&str> = [command, &file].into_iter().chain(public(e)).collect();
            let done = dpm(&args);
            assert_eq!(done.status.code(), Some(0), "{command} {file}: {}", errors(&done));
            // Of a program that releases nothing there is nothing to check the cost of, or to compare.
            assert!(e.data.is_empty() || !out(&done).is_empty(), "{command} {file}");
        }
        let args: Vec<&str> = ["certify", &file, "--json"].into_iter().chain(public(e)).collect();
        let certificate = json(&dpm(&args));
        assert_eq!(certificate["certificate"], 1, "{file}");
        assert!(certificate["budget"]["met"] == true || e.data.is_empty(), "{file}");
        assert_eq!(certificate["total"]["status"], e.status, "{file}");
        let names: Vec<&str> = certificate["releases"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
        assert_eq!(names, e.releases, "{file}");
    }
}

#[test]
fn programs_of_this_version_run_on_their_rows() {
    for e in RUN {
        let file = format!("examples/{}", e.file);
        let data = if e.data.is_empty() { vec![] } else { vec!["--data", e.data] };
        let args: Vec<&str> = ["run", &file].into_iter().chain(data).chain(public(e)).collect();
        let done = dpm(&args);
        assert_eq!(done.status.code(), Some(0), "{file}: {}", errors(&done));
        let text = out(&done);
        let sure = if e.branches { 1 } else { usize::MAX };
        for name in e.releases.iter().take(sure).chain(e.outputs.iter().filter(|_| !e.branches)) {
            assert!(text.contains(name), "{file}: {text}");
        }
        assert!(text.contains(if e.data.is_empty() { "costs nothing" } else { "not charged" }), "{file}");

        let args: Vec<&str> = args.into_iter().chain(["--json"]).collect();
        let record = json(&dpm(&args));
        let laws = record.get("laws").map(|_| "laws");
        assert_eq!(laws.is_some(), e.file == "17_poll.dpm", "{file}");
        assert_eq!(keys(&record), ["releases", "outputs", "certificate", "ledger"].into_iter().chain(laws).collect(), "{file}");
        if e.branches {
            assert!(record["releases"].get(e.releases[0]).is_some(), "{file}");
            let either = record["releases"].get(e.releases[1]).is_some() ^ record["outputs"].get(e.outputs[0]).is_some();
            assert!(either, "one branch and not the other: {record}");
            continue;
        }
        assert_eq!(keys(&record["releases"]), e.releases.iter().copied().collect(), "{file}");
        assert_eq!(keys(&record["outputs"]), e.outputs.iter().copied().collect(), "{file}");
    }
}

/// The rows are not where the certificate comes from: without them it is the same to the byte.
#[test]
fn the_certificate_of_a_run_is_that_of_certify() {
    let (file, data) = ("examples/01_beta_bernoulli.dpm", "examples/01_staff.csv");
    let alone = json(&dpm(&["certify", file, "--json"]));
    let ran = json(&dpm(&["run", file, "--data", data, "--json"]));
    assert_eq!(ran["certificate"], alone);
}

/// What rests on convergence certifies, says so everywhere, runs, and is refused by `--strict`.
#[test]
fn conditional_programs_certify_and_say_so() {
    for (file, data, eps, zcdp) in CONDITIONAL {
        let file = format!("examples/{file}");
        let done = dpm(&["certify", &file, "--json"]);
        assert_eq!(done.status.code(), Some(0), "{file}: {}", errors(&done));
        let certificate = json(&done);
        let (total, release) = (&certificate["total"], &certificate["releases"][0]);
        assert_eq!((&total["status"], &release["status"]), (&Value::from("conditional"), &Value::from("conditional")), "{file}");
        let pure = total["profile"]["pure"].as_f64().unwrap();
        assert!(pure <= *eps && pure > eps * (1.0 - 1e-9), "{file}: {pure}");
        assert!((total["profile"]["zcdp"].as_f64().unwrap() - zcdp).abs() < 5e-5, "{file}: {}", total["profile"]["zcdp"]);
        assert!(certificate["assumptions"].to_string().contains("CONDITIONAL"), "{file}");
        for command in ["certify", "check"] {
            let done = dpm(&[command, &file]);
            assert!(out(&done).contains("CONDITIONAL") && errors(&done).contains("W0508"), "{command} {file}");
        }
        let done = dpm(&["run", &file, "--data", data, "--strict"]);
        assert_eq!((done.status.code(), out(&done).as_str()), (Some(1), ""), "{file}");
        assert!(errors(&done).contains("CONDITIONAL"), "{}", errors(&done));
        // A network of 131 weights takes half a minute without optimisation.
        if !file.contains("09") {
            let done = dpm(&["run", &file, "--data", data, "--json"]);
            assert_eq!(done.status.code(), Some(0), "{file}: {}", errors(&done));
            let record = json(&done);
            assert_eq!(record["certificate"], certificate, "{file}");
            let numbers = record["releases"].to_string().matches('.').count();
            assert!(numbers >= 6, "{file}: {}", record["releases"]);
        }
    }
}

/// Every row of the gallery names its program and the command that is tested here.
#[test]
fn the_gallery_lists_every_program() {
    let gallery = fs::read_to_string(root().join("examples/README.md")).unwrap();
    for e in RUN {
        let data = if e.data.is_empty() { "`" } else { " --data " };
        assert!(gallery.contains(&format!("`dpm run examples/{}{data}", e.file)), "{}", e.file);
    }
    for (file, ..) in CONDITIONAL {
        assert!(gallery.contains(&format!("`dpm run examples/{file} --data ")), "{file}");
    }
}
