//! Jewson, Ghalebikesabi and Holmes (2023), Figure 3: regression by a network of ten hidden units against the number of rows.

use super::baselines::gaussian_mu;
use super::data::read;
use super::jewson::DELTA;
use super::logistic::normals;
use super::mechanisms::Mechanism;
use super::table::{Table, asked, error_of_mean, say};
use dpm::mechanism::OsBits;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use std::fmt::Write;

const UNITS: usize = 10;
const EPSILONS: [f64; 2] = [2.0, 10.0];
const METHODS: [(&str, &str); 6] = [
    ("beta-div", "dpm, beta_div drawn by NUTS: eps, conditional on a chain that converged"),
    ("dp-sgld", "dpm, dp_sgld: noisy gradients of samples, certified at every step: (eps, delta)"),
    ("dp-sgd", "DP-SGD with all rows in each batch, exact Gaussian accounting, best of 12 settings in hindsight: (eps, delta)"),
    ("dp-sgd-fixed", "the same with settings fixed beforehand: 200 steps, rate 0.1, clip 1"),
    ("sgd", "the same without noise, best of its settings"),
    ("mean", "the mean of all rows alone, without privacy"),
];

type Sample = (Vec<f64>, f64);

struct Study {
    train: Vec<Sample>,
    test: Vec<Sample>,
}

/// Weights in the order of the program: W1 by rows, b1, w2, b2.
fn network(w: &[f64], x: &[f64], hidden: &mut [f64]) -> f64 {
    let d = x.len();
    let (w1, rest) = w.split_at(UNITS * d);
    let (b1, rest) = rest.split_at(UNITS);
    let mut sum = rest[UNITS];
    for k in 0..UNITS {
        let t: f64 = w1[k * d..(k + 1) * d].iter().zip(x).map(|(a, b)| a * b).sum();
        hidden[k] = (t + b1[k]).tanh();
        sum += rest[k] * hidden[k];
    }
    sum
}

/// Weights of a network on d features.
fn size(d: usize) -> usize {
    UNITS * (d + 2) + 1
}

impl Study {
    /// A network with weights normal(0, 1) makes the outcomes, with normal noise of sd 0.5.
    fn simulated(d: usize, n: usize, seed: u64) -> Study {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let truth = normals(size(d), &mut rng);
        let mut sample = || {
            let x = normals(d, &mut rng);
            let y = network(&truth, &x, &mut [0.0; UNITS]) + 0.5 * normals(1, &mut rng)[0];
            (x, y)
        };
        let train = (0..n).map(|_| sample()).collect();
        Study { train, test: (0..1000).map(|_| sample()).collect() }
    }

    fn real(samples: &[Sample], n: usize, seed: u64) -> Study {
        let mut all = samples.to_vec();
        all.shuffle(&mut ChaCha20Rng::seed_from_u64(seed));
        let test = all.split_off(all.len() - all.len() / 10);
        all.truncate(n);
        Study { train: all, test }
    }

    fn dim(&self) -> usize {
        self.train[0].0.len()
    }

    fn csv(&self) -> String {
        let mut text = (1..=self.dim()).map(|j| format!("x_{j},")).collect::<String>() + "y\n";
        for (x, y) in &self.train {
            x.iter().for_each(|v| write!(text, "{v:.9},").unwrap());
            writeln!(text, "{y:.9}").unwrap();
        }
        text
    }

    /// log10 of the root mean square error on test rows.
    fn error(&self, predict: impl Fn(&[f64]) -> f64) -> f64 {
        let squares: f64 = self.test.iter().map(|(x, y)| (predict(x) - y).powi(2)).sum();
        0.5 * (squares / self.test.len() as f64).log10()
    }
}

/// Angles within pi / 2 and a distance of 0 to 1.5; conditions and output of a power plant: both to about (-2, 2) by public bounds.
fn real(name: &str) -> Vec<Sample> {
    let scaled = |v: &str, lo: f64, hi: f64| 4.0 * (v.parse::<f64>().unwrap().clamp(lo, hi) - lo) / (hi - lo) - 2.0;
    if name == "kin8nm" {
        let quarter = std::f64::consts::FRAC_PI_2;
        let row = |r: &Vec<String>| (r[..8].iter().map(|v| scaled(v, -quarter, quarter)).collect(), scaled(&r[8], 0.0, 1.5));
        return read("kin8nm/kin8nm.csv").iter().map(row).collect();
    }
    let bounds = [(-20.0, 50.0), (20.0, 90.0), (950.0, 1050.0), (0.0, 100.0)];
    let row = |r: &Vec<String>| (r.iter().zip(bounds).map(|(v, (lo, hi))| scaled(v, lo, hi)).collect(), scaled(&r[4], 400.0, 500.0));
    read("power_plant/power_plant.csv").iter().map(row).collect()
}

/// Steps, rate and clip.
type Setting = (usize, f64, f64);

const FIXED: Setting = (200, 0.1, 1.0);

fn settings() -> Vec<Setting> {
    let mut all = vec![];
    for steps in [50, 200] {
        for rate in [0.02, 0.1, 0.5] {
            for clip in [1.0, 5.0] {
                all.push((steps, rate, clip));
            }
        }
    }
    all
}

/// Noisy gradient descent on the mean square error from a random start; mu is infinite without privacy.
fn descent(rows: &[Sample], mu: f64, (steps, rate, clip): Setting, rng: &mut impl Rng) -> Vec<f64> {
    let (n, d) = (rows.len() as f64, rows[0].0.len());
    let mut w: Vec<f64> = normals(size(d), rng).iter().map(|z| z / (d as f64 + 1.0).sqrt()).collect();
    let sigma = 2.0 * clip * (steps as f64).sqrt() / mu;
    let (mut hidden, mut gradient) = ([0.0; UNITS], vec![0.0; size(d)]);
    for _ in 0..steps {
        let mut sum: Vec<f64> = normals(size(d), rng).iter().map(|z| sigma * z).collect();
        for (x, y) in rows {
            let slope = network(&w, x, &mut hidden) - y;
            for k in 0..UNITS {
                let back = slope * w[UNITS * (d + 1) + k] * (1.0 - hidden[k] * hidden[k]);
                (0..d).for_each(|j| gradient[k * d + j] = back * x[j]);
                gradient[UNITS * d + k] = back;
                gradient[UNITS * (d + 1) + k] = slope * hidden[k];
            }
            gradient[size(d) - 1] = slope;
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let factor = if norm > clip { clip / norm } else { 1.0 };
            sum.iter_mut().zip(&gradient).for_each(|(s, g)| *s += factor * g);
        }
        w.iter_mut().zip(&sum).for_each(|(v, s)| *v -= rate * s / n);
    }
    w
}

fn program(method: &str, n: usize, d: usize, epsilon: f64, steps: u64) -> String {
    let (budget, using) = match method {
        "beta-div" => (format!("eps({epsilon})"), format!("beta_div(steps = {steps}) assuming convergence")),
        _ => (format!("dp(eps = {epsilon}, delta = {DELTA})"), "dp_sgld".to_string()),
    };
    format!(
        "budget {budget}\nprivate rows[{n}] {{ x: vector[{d}], y: real }}\n\
         param W1: matrix[{UNITS}, {d}] ~ normal(0, 1)\nparam b1: vector[{UNITS}] ~ normal(0, 1)\n\
         param w2: vector[{UNITS}] ~ normal(0, 1)\nparam b2: real ~ normal(0, 1)\nparam sigma: real in [0.5, inf] ~ half_normal(1)\n\
         observe y ~ normal(dot(w2, tanh(W1 * x + b1)) + b2, sigma)\n\
         release net = draw(W1, b1, w2, b2, sigma) using {using}\n"
    )
}

fn point(studies: &[Study], method: &str, epsilon: f64, steps: u64) -> Vec<f64> {
    let (n, d) = (studies[0].train.len(), studies[0].dim());
    let predict = |s: &Study, w: &[f64]| s.error(|x| network(w, x, &mut [0.0; UNITS]));
    let of = |list: Vec<f64>| error_of_mean(&list);
    let [mean, se] = match method {
        "beta-div" | "dp-sgld" => {
            let mechanism = Mechanism::new(&program(method, n, d, epsilon, steps));
            let draw = |s: &Study| mechanism.draws(&mechanism.measure(&s.csv()), 1, &mut OsBits::new().unwrap())[0].to_f64();
            of(studies.iter().map(|s| predict(s, &draw(s))).collect())
        }
        "mean" => {
            let level = |s: &Study| s.train.iter().map(|r| r.1).sum::<f64>() / n as f64;
            of(studies.iter().map(|s| s.error(|_| level(s))).collect())
        }
        _ => {
            let mu = if method == "sgd" { f64::INFINITY } else { gaussian_mu(epsilon, DELTA) };
            let run = |setting| {
                let each = |(i, s): (usize, &Study)| predict(s, &descent(&s.train, mu, setting, &mut ChaCha20Rng::seed_from_u64(i as u64)));
                of(studies.iter().enumerate().map(each).collect())
            };
            let tried = if method == "dp-sgd-fixed" { vec![FIXED] } else { settings() };
            tried.into_iter().map(run).min_by(|a, b| a[0].total_cmp(&b[0])).unwrap()
        }
    };
    vec![mean, se, studies.len() as f64]
}

/// A point should take ten minutes at most. On one core that had nothing else to do, the slowest, beta-div, took 30 s for ten repetitions of 500
/// rows; 100,000 rows would take half an hour. DP-SGD with its 12 settings took 6 s, so it will take six minutes.
const TOO_LONG: (&str, usize) = ("beta-div", 100_000);
const SETS: [&str; 4] = ["simulated-2", "simulated-10", "kin8nm", "power-plant"];

fn sizes(full: bool, data: &str) -> &'static [usize] {
    match (full, data.starts_with("simulated")) {
        (false, _) => &[100, 500],
        (_, false) => &[100, 500, 1000, 7000],
        _ => &[100, 500, 1000, 10_000, 100_000],
    }
}

fn repetitions(full: bool, n: usize) -> u64 {
    if full && n < 1000 { 10 } else { 3 }
}

fn key(data: &str, n: usize, epsilon: f64, method: &str) -> [String; 4] {
    [data.to_string(), format!("{n:05}"), format!("{epsilon:04.1}"), method.to_string()]
}

fn studies(data: &str, n: usize, repetitions: u64) -> Vec<Study> {
    let samples = if data.starts_with("simulated") { vec![] } else { real(data) };
    let study = |seed| match data {
        "simulated-2" => Study::simulated(2, n, seed),
        "simulated-10" => Study::simulated(10, n, seed),
        _ => Study::real(&samples, n, seed),
    };
    (0..repetitions).map(study).collect()
}

pub fn figure_3(full: bool) {
    let name = if full { "jewson-3-full" } else { "jewson-3" };
    let mut table = Table::open(&format!("{name}.csv"), 4, "data,rows,epsilon,method,log_rmse,se,repetitions");
    let steps = 200;
    // What does not depend on epsilon is computed once.
    let free = |method: &str| ["mean", "sgd"].contains(&method);
    // Small studies and quick methods first: what is stopped has most of the picture.
    for size in 0..5 {
        let at_size = |data: &&'static str| Some((*data, *sizes(full, data).get(size)?)).filter(|_| !asked("--report"));
        let studies: Vec<_> = SETS.iter().filter_map(at_size).map(|(data, n)| (data, n, studies(data, n, repetitions(full, n)))).collect();
        let mut places = vec![];
        for (data, n, own) in &studies {
            for (epsilon, (method, _)) in EPSILONS.iter().flat_map(|e| METHODS.map(|m| (*e, m))) {
                if (epsilon == EPSILONS[0] || !free(method)) && (method, *n) != TOO_LONG {
                    places.push((key(data, *n, epsilon, method), (own, method, epsilon)));
                }
            }
        }
        places.sort_by_key(|(_, (_, method, _))| *method == TOO_LONG.0);
        table.all(&places, |(studies, method, epsilon)| point(studies, method, *epsilon, steps));
        for (data, n, _) in &studies {
            for method in ["mean", "sgd"] {
                let Some(once) = table.points.get(&key(data, *n, EPSILONS[0], method)[..]).cloned() else { continue };
                for epsilon in &EPSILONS[1..] {
                    table.at(&key(data, *n, *epsilon, method), || once.clone());
                }
            }
        }
    }
    report(&table, name, full, steps);
}

fn report(table: &Table, name: &str, full: bool, steps: u64) {
    let mut text = format!(
        "Jewson et al. (2023), Figure 3: regression by a network of {UNITS} hidden units ({}), delta = {DELTA}; log10 of the test RMSE.\n",
        if full { "--full" } else { "--quick" }
    );
    for (method, words) in METHODS {
        writeln!(text, "{method:9} {words}").unwrap();
    }
    writeln!(
        text,
        "Weights have the prior normal(0, 1), sigma at least 0.5. Each draw of beta-div is the last of {steps} states of NUTS, of which three in\n\
         four adapt; the posterior of a network has many modes, so its guarantee rests on an assumption that no run can check.\n\
         dp-sgld assumes nothing; its clip, step and length are the defaults, where dp-sgd gets the best of its settings for nothing.\n\n\
         {:12} {:>6} {:>4} {}",
        "data",
        "rows",
        "eps",
        METHODS.map(|(m, _)| format!(" {m:>16}")).concat()
    )
    .unwrap();
    let (mut places, mut behind, mut ahead) = (0, vec![], 0);
    let known: BTreeSet<_> = table.points.keys().map(|k| k[..3].to_vec()).collect();
    for key in known {
        let of = |m: &str| table.points.get(&[&key[..], &[m.to_string()]].concat());
        let cells = METHODS.map(|(m, _)| format!(" {:>16}", of(m).map_or(String::new(), |v| format!("{:.3} +- {:.3}", v[0], v[1]))));
        let (rows, epsilon) = (key[1].trim_start_matches('0'), key[2].parse::<f64>().unwrap());
        writeln!(text, "{:12} {rows:>6} {epsilon:>4} {}", key[0], cells.concat()).unwrap();
        let (Some(first), Some(second), Some(other)) = (of("beta-div"), of("dp-sgld"), of("dp-sgd")) else { continue };
        let ours = if first[0] <= second[0] { first } else { second };
        places += 1;
        let spread = 2.0 * ours[1].hypot(other[1]);
        ahead += usize::from(other[0] - ours[0] > spread);
        if ours[0] - other[0] > spread {
            behind.push(format!("  {}, {rows} rows, eps {epsilon}: {:.3} against {:.3}", key[0], ours[0], other[0]));
        }
    }
    writeln!(
        text,
        "\nThe better of beta-div and dp-sgld against dp-sgd in {places} places: ahead by more than two standard errors of the difference in {ahead}, behind in {}.",
        behind.len()
    )
    .unwrap();
    behind.iter().for_each(|b| writeln!(text, "{b}").unwrap());
    let runs = |n: usize| repetitions(full, n);
    writeln!(text, "\nMeans of {} repetitions, of {} from 1000 rows on; an empty cell was not computed.", runs(100), runs(1000)).unwrap();
    if full {
        writeln!(text, "Left out: {} with {} rows, whose points would take half an hour each on one core.", TOO_LONG.0, TOO_LONG.1)
            .unwrap();
    }
    for data in SETS {
        for &n in sizes(full, data) {
            let missing = |m: &&str| (*m, n) != TOO_LONG && EPSILONS.iter().any(|e| !table.points.contains_key(&key(data, n, *e, m)[..]));
            let missing: Vec<&str> = METHODS.map(|m| m.0).into_iter().filter(missing).collect();
            if !missing.is_empty() {
                writeln!(text, "Not run so far: {data} with {n} rows: {}", missing.join(", ")).unwrap();
            }
        }
    }
    say(name, &text);
}
