//! Releases that are predicted to learn next to nothing: a warning, and no run without a word.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The programs of new users whose answers told nothing; the bool says whether the prediction sees it.
const PROGRAMS: &[(&str, &str, bool)] = &[
    (
        "a spread that a chain never finds",
        "budget dp(eps = 1, delta = 1e-5)\nprivate t[2000] { y: real in [0, 120] }\nparam mu ~ normal(50, 20)\n\
         param s: real in [5, inf] ~ half_normal(20)\nobserve y ~ normal(mu, s)\nrelease d = draw(mu, s) using dp_sgld\n",
        true,
    ),
    (
        "a penalty chain with hardly any weight",
        "budget dp(eps = 1, delta = 1e-5)\nprivate t[2000] { y: real in [0, 120] }\nparam mu ~ normal(50, 20)\n\
         param s: real in [5, inf] ~ half_normal(20)\nobserve y ~ normal(mu, s)\nrelease d = draw(mu, s) using penalty(weight = 0.0048)\n",
        true,
    ),
    (
        "a regression with bounds on its weights",
        "budget dp(eps = 1, delta = 1e-6)\nprivate t[n >= 1000] { x: vector[4] in [-1, 1], y: int in 0..50 }\n\
         param w: vector[4] in [-5, 5] ~ normal(0, 1)\nobserve y ~ poisson_log(dot(w, x))\nrelease d = draw(w) using diffuse\n",
        true,
    ),
    (
        "a mean whose noise is as wide as its range",
        "budget eps(0.1)\nprivate t[30] { y: real in [-50000, 50000] }\nrelease m = mean(y)\n",
        true,
    ),
    ("a mean", "budget eps(1)\nprivate t[30] { y: real in [-50000, 50000] }\nrelease m = mean(y)\n", false),
    ("a quantile of a few rows", "budget eps(0.1)\nprivate t[30] { y: real in [0, 1000] }\nrelease m = quantile(y, 0.5)\n", true),
    (
        "a mean of a number of rows that is not given",
        "budget eps(1)\nprivate t[n] { income: real in [0, 1000000] }\nrelease m = mean(income)\n",
        true,
    ),
    ("a count that the noise hides", "budget eps(0.01)\nprivate t[100] { y: bool }\nrelease c = count(y)\n", true),
    ("a sum that the noise hides", "budget eps(0.01)\nprivate t[100] { x: real in [0, 10] }\nrelease s = sum(x)\n", true),
    ("a histogram that the noise hides", "budget eps(0.01)\nprivate t[80] { x: category {a, b, c} }\nrelease h = histogram(x)\n", true),
    ("a count of rows that may be many", "budget eps(0.01)\nprivate t[n >= 100] { y: bool }\nrelease c = count(y)\n", false),
    ("a count of rows that may be few", "budget eps(1)\nprivate t[n] { y: bool }\nrelease c = count(y)\n", false),
    ("a count of many rows", "budget eps(0.01)\nprivate t[n >= 10000] { y: bool }\nrelease c = count(y)\n", false),
    (
        "a whole posterior that the noise hides",
        "budget eps(0.001)\nprivate t[500] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease q = posterior(p)\n",
        true,
    ),
    (
        "a whole posterior whose intervals leave the noise out",
        "budget eps(0.001)\nprivate t[500] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease q = posterior(p) using plug_in\n",
        true,
    ),
    (
        "a rate that the noise hides",
        "budget eps(0.001)\nprivate t[500] { y: int in 0..50 }\nparam m ~ gamma(4, 2)\nobserve y ~ poisson(m)\nrelease q = posterior(m)\n",
        true,
    ),
    (
        "a normal mean that the noise hides",
        "budget eps(0.001)\nprivate t[500] { y: real in [0, 100] }\nparam m ~ normal(50, 10)\nobserve y ~ normal(m, 10)\nrelease q = posterior(m)\n",
        true,
    ),
    (
        "a whole posterior of enough rows",
        "budget eps(0.1)\nprivate t[500] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease q = posterior(p)\n",
        false,
    ),
    (
        "many rows and one number",
        "budget dp(eps = 1, delta = 1e-6)\nprivate t[5000] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease d = draw(p)\n",
        false,
    ),
    (
        "a chain with room to move",
        "private t[2000] { y: real in [0, 120] }\nparam mu ~ normal(50, 20)\nobserve y ~ normal(mu, 12)\n\
         release d = draw(mu) using penalty(iterations = 400, sigma = 1, weight = 0.1)\n",
        false,
    ),
];

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("dpm-useless-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn dpm(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } =
            Command::new(env!("CARGO_BIN_EXE_dpm")).args(arguments).current_dir(&self.0).env_clear().output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_would_tell_nothing_is_warned_about() {
    let folder = Folder::new("programs");
    for (name, text, warned) in PROGRAMS {
        folder.write("a.dpm", text);
        let (code, _, said) = folder.dpm(&["check", "a.dpm"]);
        assert_eq!((code, said.contains("W0510")), (0, *warned), "{name}: {said}");
    }
}

/// Without a terminal it ends before data are looked for, and says how to go on; with `--anyway` it goes on.
#[test]
fn a_run_that_would_tell_nothing_wants_a_word() {
    let folder = Folder::new("run");
    let text = "budget rdp(order = 100, eps = 0.001)\nprivate t[3] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\n\
                release d = draw(p) using diffuse\n";
    folder.write("a.dpm", text);
    let (code, out, said) = folder.dpm(&["run", "a.dpm", "--data", "missing.csv"]);
    assert_eq!((code, out.as_str()), (1, ""), "{said}");
    assert!(said.contains("W0510") && said.contains("--anyway"), "{said}");
    let (code, ..) = folder.dpm(&["run", "a.dpm", "--data", "missing.csv", "--anyway"]);
    assert_eq!(code, 3);
    folder.write("t.csv", "y\n1\n0\n1\n");
    let (code, out, said) = folder.dpm(&["run", "a.dpm", "--data", "t.csv", "--anyway"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("released  d"), "{out}");
    // Nothing is charged.
    folder.write("schema.dpm", "private t[3] { y: bool }\n");
    let budget = "--budget=rdp(order = 100, eps = 0.002)";
    let (code, _, said) = folder.dpm(&["ledger", "init", "l", "--dataset", "t=t.csv", "--schema", "schema.dpm", "--shared", budget]);
    assert_eq!(code, 0, "{said}");
    let before = folder.dpm(&["ledger", "history", "l"]);
    assert_eq!(folder.dpm(&["run", "a.dpm", "--data", "t=@t", "--ledger", "l"]).0, 1);
    assert_eq!(folder.dpm(&["ledger", "history", "l"]), before);
    // A plan asks as the program does.
    let (code, ..) = folder.dpm(&["compile", "a.dpm", "-o", "a.plan"]);
    assert_eq!(code, 0);
    let (code, out, _) = folder.dpm(&["run", "a.plan", "--data", "t.csv"]);
    assert_eq!((code, out.as_str()), (1, ""));
    let (code, ..) = folder.dpm(&["run", "a.plan", "--data", "t.csv", "--anyway"]);
    assert_eq!(code, 0);
}
