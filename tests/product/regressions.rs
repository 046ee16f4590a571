//! Attacks that once succeeded: each is answered as it should be.

use dpm::analyze::{Analysis, Chosen, mechanism_names};
use dpm::check::NoFiles;
use dpm::mechanism::bits::OsBits;
use dpm::mechanism::plan::{ChainLaw, MechanismPlan, PosteriorLaw};
use dpm::model::{Program, ReleaseId, releases};
use dpm::pipeline;
use dpm::run::{Bound, Known, Value};
use dpm::source::render;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output};

/// The released number `q` of a program with one private table.
fn released(program: &str, data: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (p, d) = (folder.path().join("p.dpm"), folder.path().join("d.csv"));
    fs::write(&p, program).unwrap();
    fs::write(&d, data).unwrap();
    let out =
        Command::new(env!("CARGO_BIN_EXE_dpm")).arg("run").arg(&p).args(["--json", "--anyway"]).arg("--data").arg(&d).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let record: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    record["releases"]["q"].to_string().parse().unwrap()
}

/// A well-formed cell with line breaks, longer than any buffer or beside a surplus field, is one cell of one row. The
/// noise has scale 1, so 3 rows of about 100 lie within 60 of 300 but for a chance of exp(-60).
#[test]
fn a_cell_makes_no_rows() {
    let program = "private s[3] { x: real in [100, 101] }\nrelease q = sum(x) using laplace(scale = 1)\n";
    let many = "101,z\n".repeat(12_000);
    for comment in ["a".to_string(), format!("\"\n{many}\""), "\"\n101,z\n101,z\n\",extra".to_string(), "\"x\"\"\n\"".to_string()] {
        let q = released(program, &format!("x,comment\n100,a\n100,{comment}\n100,c\n"));
        assert!((q - 300.0).abs() < 60.0, "{q}");
    }
}

/// A blank line below a header of one column is a row with an empty cell.
#[test]
fn an_empty_cell_of_one_column_is_a_row() {
    let program = "private s[2] { x: real in [100, 101] }\nrelease q = sum(x) using laplace(scale = 1)\n";
    for data in ["x\n100\n100\n", "x\n100\n\n", "x\n\n\n"] {
        let q = released(program, data);
        assert!((q - 200.0).abs() < 60.0, "{data:?}: {q}");
    }
}

/// The sum of a row vector and a large constant is rounded; the sensitivity must count that.
#[test]
fn rounding_of_a_shifted_vector_is_counted() {
    let text = "private s[n] { x: vector[2] in l1(1) }\n\
                release r = sum(x + [10000000000000002, 10000000000000002]) using laplace(scale = 1)\n";
    let checked = dpm::pipeline::check("p.dpm", text, &dpm::check::NoFiles);
    let (analysis, _) = dpm::pipeline::analyze(&checked, &dpm::run::Bound::default(), false);
    let epsilon = analysis.unwrap().total.unwrap().pure();
    // x = (1, 0) against (-1, 0): both components are even doubles near 1e16, so the sums differ by 4.
    assert!(epsilon >= 4.0, "{epsilon}");
}

fn dpm(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(args).current_dir(folder.path()).output().unwrap()
}

/// Rows of every column that the programs below read.
const ROWS: &str = "z,b,g,k,y,x_1,x_2,v_1,v_2\n0.25,1,u,3,0,0.5,-0.5,0.1,0.2\n";

/// What `check` accepts is drawn, whatever the prior waits for: a released number, vector or posterior, a public number of rows.
#[test]
fn what_is_certified_runs() {
    let numbers = "release s = mean(z) using gaussian(sigma = 1)\n";
    let vector = "release s = mean(v) using gaussian(sigma = 1)\n";
    let normal = |prior: &str| format!("{numbers}param w ~ normal({prior})\nobserve z ~ normal(w, 1)\n");
    let draw = |model: String, using: &str| format!("{model}release fit = draw(w) using {using}\n");
    let waiting = || normal("0, clip(s, 0.5, 2)");
    let logit = "param w: vector[2] ~ normal(0, clip(s, 0.5, 2))\nobserve b ~ bernoulli_logit(dot(w, x))\n";
    let counts = "release s = histogram(g) using laplace(scale = 1)\nparam w ~ dirichlet(clip(s, 1, 50))\nobserve g ~ categorical(w)\n";
    let vectors = "param w: vector[2] ~ multi_normal(s, [[1, 0], [0, 1]])\nobserve v ~ multi_normal(w, [[1, 0], [0, 1]])\n";
    let whole = "param q ~ beta(2, 2)\nobserve b ~ bernoulli(q)\nrelease s = posterior(q) using noise_aware(eps = 1)\n";
    let programs = [
        draw(waiting(), "penalty(iterations = 20, sigma = 3)"),
        draw(waiting(), "beta_div(sampler = slice, steps = 20) assuming convergence"),
        draw(waiting(), "dp_hmc(iterations = 20)"),
        draw(waiting(), "dp_sgld(iterations = 20)"),
        draw(normal("s, 1"), "penalty(iterations = 20)"),
        draw(normal("1e-110 * s, 1"), "diffuse"),
        draw(normal("0, 1 + exp(1000 * s)"), "diffuse"),
        draw(normal("log(s), 1"), "diffuse"),
        draw(normal("1 / s, 1"), "diffuse"),
        draw(format!("{numbers}{logit}"), "diffuse(sampler = slice, steps = 20) assuming convergence"),
        draw(format!("{vector}{vectors}"), "diffuse"),
        draw(
            format!("{vector}{}", vectors.replace("v ~ multi_normal(w, [[1, 0], [0, 1]])", "z ~ normal(w[1] + w[2], 1)")),
            "penalty(iterations = 20)",
        ),
        draw(counts.into(), "diffuse"),
        draw(counts.into(), "penalty(iterations = 20)"),
        draw(format!("{whole}param w ~ beta(1 + mean(s), 3)\nobserve b ~ bernoulli(w)\n"), "penalty(iterations = 20)"),
        draw("param w ~ beta(1 + n, 3)\nobserve b ~ bernoulli(w)\n".into(), "penalty(iterations = 20)"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (head, row) = ROWS.split_once('\n').unwrap();
    fs::write(folder.path().join("t.csv"), format!("{head}\n{}", row.repeat(50))).unwrap();
    for program in programs {
        let table = "private t[n >= 20] { z: real in [0, 1], b: bool, g: category {u, o}, x: vector[2] in l2(1), v: vector[2] in l2(1) }";
        fs::write(folder.path().join("p.dpm"), format!("budget dp(eps = 100, delta = 1e-5)\n{table}\n{program}")).unwrap();
        for args in [vec!["check", "p.dpm"], vec!["run", "p.dpm", "--data", "t=t.csv", "--anyway"]] {
            let out = dpm(&folder, &args);
            assert_eq!(out.status.code(), Some(0), "{}:\n{program}{}", args[0], String::from_utf8_lossy(&out.stderr));
        }
    }
}

/// A judged program.
struct Read {
    program: Program,
    analysis: Analysis,
}

impl Read {
    /// The program, or its complaints.
    fn new(text: &str) -> Result<Read, String> {
        let checked = pipeline::check("p.dpm", text, &NoFiles);
        let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
        let wrong = said.iter().any(|d| d.is_error());
        match analysis {
            Some(analysis) if !wrong => Ok(Read { program: checked.program, analysis }),
            _ => Err(format!("{text}\n{}", render::text(&checked.sources, &said, false))),
        }
    }

    #[track_caller]
    fn sure(text: &str) -> Read {
        Read::new(text).unwrap_or_else(|why| panic!("{why}"))
    }

    /// What was chosen for the last release.
    fn chosen(&self) -> &Chosen {
        self.analysis.releases.last().unwrap().chosen.as_ref().unwrap()
    }

    /// The plan that runs where the first release gave this number.
    fn plan(&self, s: f64) -> MechanismPlan {
        let released = BTreeMap::from([(ReleaseId(0), Value::Number(s))]);
        let rng = RefCell::new(OsBits::new().unwrap());
        let known = Known { released, scalars: BTreeMap::new(), laws: BTreeMap::new(), rows: BTreeMap::new(), public: &|_, _| None, rng };
        let last = releases(&self.program.steps).pop().unwrap();
        dpm::run::plan(last, false, self.chosen(), &self.program, &Bound::default(), &known).unwrap()
    }
}

/// Everything in a plan but the places in the text.
fn plain(plan: &MechanismPlan) -> String {
    // A span is `12..15`.
    let digit = |c: char| c.is_ascii_digit();
    format!("{plan:?}").split("..").map(|piece| piece.trim_matches(digit)).collect::<Vec<_>>().join("..")
}

/// A model whose prior hangs on `PRIOR`, what is asked of it, and the mechanisms that answer, with two values of every argument.
type Swept = (&'static str, &'static str, &'static [(&'static str, &'static [(&'static str, &'static str, &'static str)])]);

type Arguments = &'static [(&'static str, &'static str, &'static str)];

const CONJUGATE: &[(&str, Arguments)] = &[("direct", &[]), ("diffuse", &[("r", "0.5", "0.25")]), ("concentrated", &[("m", "0.5", "0.25")])];
const COUNTED: &[(&str, Arguments)] = &[
    ("noise_aware", &[("eps", "1", "2")]),
    ("noise_aware", &[("rho", "1", "2")]),
    ("plug_in", &[("eps", "1", "2")]),
    ("plug_in", &[("rho", "1", "2")]),
    ("ls_hist", &[("eps", "1", "2")]),
    ("ls_dim", &[("eps", "1", "2")]),
    // An exact calibration needs a known prior.
    ("ehd", &[("eps", "1", "2"), ("calibration", "proved", "proved")]),
    ("ehds", &[("eps", "1", "2"), ("gamma", "2", "0.5"), ("calibration", "proved", "proved")]),
];
const SWEPT: &[Swept] = &[
    ("param w ~ normal(0, PRIOR)\nobserve z ~ normal(w, 1)\n", "draw(w)", CONJUGATE),
    ("param w ~ normal(PRIOR, 2)\nobserve z ~ normal(w, 1)\n", "draw(w)", CONJUGATE),
    ("param w ~ beta(PRIOR, 3)\nobserve b ~ bernoulli(w)\n", "draw(w)", CONJUGATE),
    ("param w ~ beta(3, PRIOR)\nobserve k ~ geometric(w)\n", "draw(w)", CONJUGATE),
    ("param w ~ gamma(PRIOR, 2)\nobserve k ~ poisson(w)\n", "draws(w, 2)", CONJUGATE),
    ("param w ~ gamma(2, PRIOR)\nobserve z ~ exponential(w)\n", "draw(w)", CONJUGATE),
    ("param w ~ gamma(PRIOR, PRIOR)\nobserve z ~ normal(0.5, 1 / sqrt(w))\n", "draw(w)", CONJUGATE),
    ("param w ~ dirichlet([PRIOR, 2])\nobserve g ~ categorical(w)\n", "draw(w)", CONJUGATE),
    ("param w ~ dirichlet(rep(PRIOR, 2))\nobserve c ~ multinomial(3, w)\n", "draw(w)", CONJUGATE),
    ("param w: vector[2] ~ normal(0, PRIOR)\nobserve x ~ multi_normal(w, [[1, 0], [0, 1]])\n", "draw(w)", CONJUGATE),
    ("param w: vector[2] ~ normal(PRIOR, 1)\nobserve z ~ normal(dot(w, f), 1)\n", "draw(w)", CONJUGATE),
    (
        "param w: vector[2] ~ normal(0, PRIOR)\nobserve b ~ bernoulli_logit(dot(w, x))\n",
        "draw(w)",
        &[
            ("direct", &[("sampler", "nuts", "slice"), ("steps", "70", "71")]),
            ("diffuse", &[("r", "0.5", "0.25"), ("sampler", "slice", "nuts"), ("steps", "70", "71")]),
            ("concentrated", &[("m", "0.5", "0.25"), ("sampler", "nuts", "slice"), ("steps", "70", "71")]),
            ("gibbs", &[("weight", "0.5", "0.25"), ("sampler", "slice", "nuts"), ("steps", "900000000", "71")]),
            ("direct", &[("steps", "900000000", "71")]),
            ("refined", &[("sigma", "30", "40")]),
        ],
    ),
    (
        "param w: vector[2] ~ normal(0, PRIOR)\nobserve b ~ bernoulli_logit(dot(w, x))\n",
        "posterior(w)",
        &[("score_statistics", &[("sigma", "1", "2"), ("sigma_products", "2", "3")])],
    ),
    (
        "param w: vector[2] in l2(2) ~ normal(0, PRIOR)\nobserve k ~ poisson_log(dot(w, x))\n",
        "draw(w)",
        &[("diffuse", &[("r", "0.5", "0.25"), ("steps", "70", "71")])],
    ),
    (
        "param w: vector[2] in l2(2) ~ normal(0, PRIOR)\nobserve b ~ bernoulli_logit(dot(w, x))\n",
        "draw(w)",
        &[("ops", &[("weight", "0.5", "0.25"), ("sampler", "slice", "nuts"), ("steps", "70", "71")])],
    ),
    (
        "param w ~ normal(0, PRIOR)\nobserve z ~ normal(w, 1)\n",
        "draws(w, 2)",
        &[
            ("beta_div", &[("beta", "1.5", "1.75"), ("weight", "0.5", "0.25"), ("sampler", "slice", "nuts"), ("steps", "70", "71")]),
            (
                "penalty",
                &[
                    ("iterations", "20", "21"),
                    ("sigma", "3", "4"),
                    ("step", "0.5", "0.25"),
                    ("beta", "1.5", "1.75"),
                    ("weight", "0.5", "0.25"),
                ],
            ),
            (
                "dp_hmc",
                &[
                    ("iterations", "20", "21"),
                    ("steps", "6", "7"),
                    ("clip", "2", "3"),
                    ("sigma", "3", "4"),
                    ("gradient_sigma", "5", "6"),
                    ("step", "0.5", "0.25"),
                    ("beta", "1.5", "1.75"),
                    ("weight", "0.5", "0.25"),
                ],
            ),
            (
                "dp_sgld",
                &[
                    ("iterations", "20", "21"),
                    ("batch", "7", "8"),
                    ("clip", "2", "3"),
                    ("sigma", "3", "4"),
                    ("step", "0.5", "0.25"),
                    ("beta", "1.5", "1.75"),
                    ("weight", "0.5", "0.25"),
                ],
            ),
        ],
    ),
    ("param w ~ beta(PRIOR, 3)\nobserve b ~ bernoulli(w)\n", "posterior(w)", COUNTED),
    ("param w ~ dirichlet([PRIOR, 2])\nobserve g ~ categorical(w)\n", "posterior(w)", COUNTED),
    (
        "param w ~ normal(0, PRIOR)\nobserve z ~ normal(w, 1)\n",
        "posterior(w)",
        &[("noise_aware", &[("eps", "1", "2")]), ("plug_in", &[("rho", "1", "2")])],
    ),
    ("param w: vector[2] ~ normal(0, PRIOR)\nobserve z ~ normal(dot(w, x), 1)\n", "posterior(w)", &[("noise_aware", &[("rho", "1", "2")])]),
];

const TABLE: &str = "private t[20] { z: real in [0, 1], b: bool, g: category {u, o}, k: int in 0..5, c: counts[2] of 3, x: vector[2] in l2(1), f: public vector[2] in l2(1) }\n";

fn program(model: &str, prior: &str, asked: &str, using: &str) -> String {
    let assuming = if ["nuts", "slice", "beta_div", "ops"].iter().any(|w| using.contains(w)) { " assuming convergence" } else { "" };
    let model = model.replace("PRIOR", prior);
    format!("{TABLE}release s = mean(z) using gaussian(sigma = 1)\n{model}release fit = {asked} using {using}{assuming}\n")
}

fn written(mechanism: &str, args: &[(&str, String)]) -> String {
    let list: Vec<String> = args.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if list.is_empty() { mechanism.into() } else { format!("{mechanism}({})", list.join(", ")) }
}

/// The arguments that a mechanism takes, from the complaint about one that it does not.
fn arguments(mechanism: &str) -> BTreeSet<String> {
    let (model, asked, _) = SWEPT.iter().find(|(.., list)| list.iter().any(|(m, _)| *m == mechanism)).unwrap();
    let complaint = Read::new(&program(model, "1.25", asked, &format!("{mechanism}(wrong = 1)"))).err().unwrap();
    let list = complaint
        .split_once(&format!("using {mechanism}("))
        .map_or("", |_| complaint.rsplit_once(&format!("using {mechanism}(")).unwrap().1);
    list.split(',').filter_map(|part| Some(part.split_once(" = ..")?.0.trim().to_owned())).collect()
}

/// The plan that runs, with the released value in place, is the certified one: that of the same program with the value in its text.
/// Every mechanism of draws and posteriors, every argument.
#[test]
fn a_plan_with_a_released_prior_is_the_certified_one() {
    let (s, range) = (1.25, "clip(s, 0.5, 2)");
    let mut swept: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (model, asked, mechanisms) in SWEPT {
        for (mechanism, args) in *mechanisms {
            let using = |other: usize| {
                let value = |(i, (name, first, second)): (usize, &(&'static str, &str, &str))| {
                    (*name, if i == other { *second } else { *first }.to_owned())
                };
                written(mechanism, &args.iter().enumerate().map(value).collect::<Vec<_>>())
            };
            let waits = Read::sure(&program(model, range, asked, &using(usize::MAX)));
            let known = Read::sure(&program(model, &s.to_string(), asked, &using(usize::MAX)));
            assert!(waits.chosen().plan.is_none(), "{model}{mechanism}");
            let plan = plain(&waits.plan(s));
            assert_eq!(plan, plain(known.chosen().plan.as_ref().unwrap()), "{model}{}", using(usize::MAX));
            // The certificate, for every value in the range, covers this one.
            let (all, one) = (&waits.chosen().claim, &known.chosen().claim);
            for order in [1.5, 3.0] {
                assert!(one.rdp(order) <= all.rdp(order), "{model}{mechanism} {order}");
            }
            for (i, (name, first, second)) in args.iter().enumerate() {
                swept.entry(mechanism).or_default().insert(name);
                let other = Read::sure(&program(model, range, asked, &using(i)));
                assert!(first == second || plain(&other.plan(s)) != plan, "{model}{}: `{name}` is lost", using(i));
            }
        }
    }
    // Nothing is left out: a mechanism that answers neither draws nor posteriors has no prior.
    let queries = ["beta_query", "laplace", "geometric", "gaussian", "exponential", "auto"];
    for mechanism in mechanism_names().filter(|name| !queries.contains(name)) {
        let names: BTreeSet<String> = swept.get(mechanism).into_iter().flatten().map(|n| (*n).to_owned()).collect();
        assert_eq!(names, arguments(mechanism), "{mechanism}");
    }
}

/// Numbers that are solved or taken by default are those of the certificate, also where the value would give others.
#[test]
fn solved_numbers_do_not_follow_the_released_value() {
    let model = "param w ~ normal(0, 1)\nobserve z ~ normal(w, PRIOR)\n";
    for mechanism in ["beta_div", "penalty", "dp_hmc", "dp_sgld"] {
        let program = |prior: &str, using: &str| format!("budget dp(eps = 20, delta = 1e-5)\n{}", program(model, prior, "draw(w)", using));
        let waits = Read::sure(&program("clip(s, 0.125, 2)", mechanism));
        let numbers = waits.chosen().parameters.iter().map(|p| (p.name, format!("{:?}", p.value)));
        let numbers = written(mechanism, &numbers.collect::<Vec<_>>());
        // The least scale is the worst.
        let worst = Read::sure(&program("0.125", &numbers));
        let chain = |plan: &MechanismPlan| match plan {
            MechanismPlan::Posterior { law: PosteriorLaw::Density(law), weight, .. } => (law.chain.clone(), law.loss, *weight),
            other => panic!("{other:?}"),
        };
        let found = chain(&waits.plan(1.25));
        assert_eq!(found, chain(worst.chosen().plan.as_ref().unwrap()), "{mechanism}");
        if let ChainLaw::Penalty { range, .. } | ChainLaw::Hmc { range, .. } = found.0 {
            assert!(range > 1.0, "{range}");
        }
    }
}
