//! Jewson, Ghalebikesabi and Holmes (2023), Figure 2: logistic regression against the number of rows and against epsilon.
//!
//! Prior normal(0, 3) on every weight for every method. Neighbours replace a row.

use super::baselines::{FIXED, gaussian_mu, noisy_descent, output_perturbation, settings, theorem_mu};
use super::certified::posterior_means;
use super::data;
use super::logistic::{SPREAD, Score, Study, mode};
use super::mechanisms::Mechanism;
use super::table::{Table, asked, error_of_mean, say};
use dpm::mechanism::OsBits;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub const DELTA: f64 = 1e-5;

/// Name, does it spend pure epsilon (else epsilon and delta), and what stands for it in the report.
pub const METHODS: [(&str, bool, &str); 12] = [
    ("beta-div", true, "dpm, beta_div drawn by NUTS: conditional on a chain that converged"),
    ("langevin", false, "dpm, `draw(w) using auto`, rows within a norm: `refined` or the Gibbs posterior by Langevin, certified"),
    ("auto-posterior", false, "dpm, `posterior(w) using auto`, rows within a norm: the mean of a whole posterior, exact"),
    ("penalty", false, "dpm, penalty: the beta-divergence by a chain that is certified at every step"),
    ("dp-sgld", false, "dpm, dp_sgld: the beta-divergence by noisy gradients of samples, certified at every step"),
    ("output", true, "output perturbation (Chaudhuri et al.) with the prior as regulariser, Lambda = 1 / (9 n)"),
    ("output-fixed", true, "output perturbation with Lambda = 1 / 9"),
    ("dp-sgd", false, "DP-SGD with all rows in each batch, exact Gaussian accounting, best of 12 settings in hindsight"),
    ("dp-sgd-fixed", false, "the same with settings fixed beforehand: 100 steps of length 1 / L, gradients uncut"),
    ("minami", false, "Gibbs posterior with the weight of Minami et al., Theorem 7"),
    ("truncated", true, "posterior on a ball (Wang et al.), eps = 2 rho c R0; R0 holds 95 % of the prior"),
    ("no-privacy", true, "the mode of the posterior, without privacy"),
];
pub const OURS: [&str; 5] = ["beta-div", "langevin", "auto-posterior", "penalty", "dp-sgld"];

/// First phase of a Langevin chain where the default would take minutes: any length is private, and this one forgets the start.
fn steps(n: usize, default: f64) -> u64 {
    (2e8 / n as f64).clamp(20_000.0, 200_000.0).min(default.ceil()) as u64
}

/// Radius of the ball that holds 95 % of the prior (Wilson and Hilferty).
pub fn radius(d: usize) -> f64 {
    let t = 2.0 / (9.0 * d as f64);
    SPREAD * (d as f64 * (1.0 - t + 1.644854 * t.sqrt()).powi(3)).sqrt()
}

/// Weight of the rows in the two Gibbs posteriors of the papers.
pub fn weight(method: &str, d: usize, bound: f64, epsilon: f64) -> f64 {
    let weight = match method {
        "minami" => theorem_mu(epsilon, DELTA) / (2.0 * bound * SPREAD),
        "langevin" => gaussian_mu(epsilon, DELTA) / (2.0 * bound * SPREAD),
        _ => epsilon / (2.0 * bound * radius(d)),
    };
    weight.min(1.0)
}

/// The program of a method that dpm draws from.
pub fn program(method: &str, n: usize, d: usize, bound: f64, epsilon: f64) -> String {
    // The strong convexity of the prior, and the smoothness with all rows at this weight.
    let length = |rho: f64| steps(n, 3.0 * (1.0 + rho * n as f64 * (bound * SPREAD).powi(2) / 4.0));
    let rho = weight(method, d, bound, epsilon);
    let (budget, features, domain, using) = match method {
        "beta-div" => (format!("budget eps({epsilon})\n"), String::new(), String::new(), "beta_div assuming convergence".to_string()),
        "penalty" | "dp-sgld" => {
            (format!("budget dp(eps = {epsilon}, delta = {DELTA})\n"), String::new(), String::new(), method.replace('-', "_"))
        }
        "langevin" => {
            (format!("budget dp(eps = {epsilon}, delta = {DELTA})\n"), format!(" in l2({bound})"), String::new(), "auto".to_string())
        }
        _ => {
            let domain = if method == "truncated" { format!(" in l2({})", radius(d)) } else { String::new() };
            (String::new(), format!(" in l2({bound})"), domain, format!("gibbs(weight = {rho}, steps = {})", length(rho)))
        }
    };
    format!(
        "{budget}private rows[{n}] {{ x: vector[{d}]{features}, y: bool }}\nparam w: vector[{d}]{domain} ~ normal(0, {SPREAD})\n\
         observe y ~ bernoulli_logit(dot(w, x))\nrelease w_hat = draw(w) using {using}\n"
    )
}

/// The scores of a method on every repetition: one list, or one for each setting of a method that is tuned.
fn scores(studies: &[Study], method: &str, epsilon: f64) -> Vec<Vec<Score>> {
    let each = |estimate: &mut dyn FnMut(&Study) -> Vec<f64>| studies.iter().map(|s| s.score(&estimate(s))).collect::<Vec<_>>();
    let mut rng = ChaCha20Rng::seed_from_u64(2023);
    let precision = 1.0 / (SPREAD * SPREAD);
    match method {
        "no-privacy" => vec![each(&mut |s| mode(&s.train, precision))],
        "output" | "output-fixed" => vec![each(&mut |s| {
            let lambda = if method == "output" { precision / s.train.len() as f64 } else { precision };
            output_perturbation(&s.bounded(), s.bound, lambda, epsilon, &mut rng)
        })],
        "auto-posterior" => {
            let first = &studies[0];
            let text = program("langevin", first.train.len(), first.dim(), first.bound, epsilon);
            let text = format!("{}posterior(w) using auto\n", &text[..text.find("draw(").unwrap()]);
            vec![each(&mut |s| posterior_means(&text, &s.csv(), 1).remove(0))]
        }
        "dp-sgd" | "dp-sgd-fixed" => {
            let mu = gaussian_mu(epsilon, DELTA);
            let bounded: Vec<_> = studies.iter().map(Study::bounded).collect();
            let run = |setting| {
                // Noise of its own for every repetition, the same for every setting.
                let mut rng = rng.clone();
                let mut one = |(s, rows): (&Study, &Vec<_>)| s.score(&noisy_descent(rows, s.bound, precision, mu, setting, &mut rng));
                studies.iter().zip(&bounded).map(&mut one).collect()
            };
            if method == "dp-sgd" { settings() } else { vec![FIXED] }.into_iter().map(run).collect()
        }
        _ => {
            let first = &studies[0];
            let mechanism = Mechanism::new(&program(method, first.train.len(), first.dim(), first.bound, epsilon));
            vec![each(&mut |s| {
                let measured = mechanism.measure(&s.csv());
                mechanism.draws(&measured, 1, &mut OsBits::new().unwrap())[0].to_f64()
            })]
        }
    }
}

/// Mean and standard error of each score; of a tuned method each at its own best setting.
pub fn point(studies: &[Study], method: &str, epsilon: f64) -> Vec<f64> {
    let settings = scores(studies, method, epsilon);
    let best = |of: fn(&Score) -> f64, sign: f64| {
        let all = settings.iter().map(|list| error_of_mean(&list.iter().map(of).collect::<Vec<_>>()));
        all.max_by(|a, b| (sign * a[0]).total_cmp(&(sign * b[0]))).unwrap()
    };
    let parts = [best(|s| s.log_rmse, -1.0), best(|s| s.auc, 1.0), best(|s| s.signs, 1.0)];
    parts.concat().into_iter().chain([studies.len() as f64]).collect()
}

pub const HEADER: &str = "data,rows,epsilon,method,log_rmse,log_rmse_se,auc,auc_se,signs,signs_se,repetitions";

pub fn key(data: &str, n: usize, epsilon: f64, method: &str) -> [String; 4] {
    [data.to_string(), format!("{n:06}"), format!("{epsilon:04.1}"), method.to_string()]
}

/// Those whose points take longest: they come last, so that what is stopped has most of the picture.
const SLOW: [&str; 2] = ["beta-div", "auto-posterior"];

/// All slow or all other methods at these numbers of rows and epsilons.
fn fill(table: &mut Table, slow: bool, data: &str, n: usize, epsilons: &[f64], repetitions: u64, study: impl Fn(u64) -> Study) {
    let methods: Vec<&str> = METHODS.map(|m| m.0).into_iter().filter(|m| SLOW.contains(m) == slow).collect();
    let missing = |m: &str, e: f64| !table.points.contains_key(&key(data, n, e, m)[..]);
    if asked("--report") || !methods.iter().any(|m| epsilons.iter().any(|e| missing(m, *e))) {
        return;
    }
    let studies: Vec<Study> = (0..repetitions).map(study).collect();
    let places = epsilons.iter().flat_map(|&e| methods.iter().map(move |m| (key(data, n, e, m), (*m, e))));
    // What does not depend on epsilon is computed once.
    let once = table.at(&key(data, n, epsilons[0], "no-privacy"), || point(&studies, "no-privacy", 1.0)).to_vec();
    for epsilon in epsilons {
        table.at(&key(data, n, *epsilon, "no-privacy"), || once.clone());
    }
    table.all(&places.collect::<Vec<_>>(), |(method, epsilon)| point(&studies, method, *epsilon));
}

const EPSILONS: [f64; 5] = [0.2, 0.6, 2.0, 6.0, 20.0];
/// Rows of the simulated data of the pictures over epsilon.
const SWEPT: usize = 1000;
/// The epsilon of the pictures over the number of rows; its beta is 4 / 3.
const MIDDLE: f64 = 6.0;

pub fn figure_2(full: bool) {
    let name = if full { "jewson-2-full" } else { "jewson-2" };
    let mut table = Table::open(&format!("{name}.csv"), 4, HEADER);
    // Small studies first: what is stopped has most of the picture.
    for slow in [false, true] {
        for (n, sizes) in [(100, 8), (SWEPT, 8), (10_000, 3)] {
            simulated(&mut table, slow, n, if full { 20 } else { sizes });
        }
        for set in [data::breast(), data::ionosphere(), data::abalone(), data::adult()] {
            let rows = set.train.len() + set.test.len();
            // As many rows to learn from as the test rows leave, 3,000 at most.
            let most = (rows - rows / 10).min(3000);
            let every: Vec<_> = set.train.iter().chain(&set.test).cloned().collect();
            let truth = mode(&every, 1.0 / (SPREAD * SPREAD));
            for n in [most, most / 8] {
                let epsilons = if n == most { &EPSILONS[..] } else { &[MIDDLE] };
                let repetitions = match (full, set.dim() < 50) {
                    (true, _) => 20,
                    (_, true) => 6,
                    _ => 3,
                };
                fill(&mut table, slow, set.name, n, epsilons, repetitions, |seed| Study::real(&set, &truth, n, seed));
            }
        }
        simulated(&mut table, slow, 100_000, if full { 20 } else { 3 });
    }
    report(&table, name, full);
}

/// All epsilons at `SWEPT` rows; elsewhere only the one in the middle.
fn simulated(table: &mut Table, slow: bool, n: usize, repetitions: u64) {
    let epsilons = if n == SWEPT { &EPSILONS[..] } else { &[MIDDLE] };
    for d in [2, 10] {
        fill(table, slow, &format!("simulated-{d}"), n, epsilons, repetitions, |seed| Study::simulated(d, n, seed));
    }
}

const MEASURES: [(usize, &str); 3] = [(0, "log10 RMSE"), (2, "test AUC"), (4, "right signs")];

fn report(table: &Table, name: &str, full: bool) {
    let mut text = format!(
        "Jewson et al. (2023), Figure 2: private logistic regression ({}). Neighbours replace a row; delta = {DELTA} where a method has one.\n",
        if full { "--full" } else { "--quick" }
    );
    for (method, pure, words) in METHODS {
        writeln!(text, "{method:12} {} {words}", if pure { "eps         " } else { "(eps, delta)" }).unwrap();
    }
    text += NOTES;
    let mut compared = 0;
    let (mut beaten, mut best): (BTreeMap<&str, Vec<String>>, BTreeMap<&str, usize>) = (BTreeMap::new(), BTreeMap::new());
    for (column, measure) in MEASURES {
        writeln!(text, "\n{measure}, mean +- standard error").unwrap();
        writeln!(text, "{:12} {:>6} {:>4} {}", "data", "rows", "eps", METHODS.map(|m| format!(" {:>13}", m.0)).concat()).unwrap();
        let places: BTreeSet<_> = table.points.keys().map(|k| k[..3].to_vec()).collect();
        for place in places {
            let of = |m: &str| table.points.get(&[&place[..], &[m.to_string()]].concat()).map(|v| (v[column], v[column + 1]));
            let cells = METHODS.map(|(m, ..)| of(m).map_or(String::new(), |(x, s)| format!("{x:.3} +- {s:.3}")));
            let (data, rows) = (&place[0], place[1].trim_start_matches('0'));
            let epsilon: f64 = place[2].parse().unwrap();
            writeln!(text, "{data:12} {rows:>6} {epsilon:>4} {}", cells.map(|c| format!(" {c:>13}")).concat()).unwrap();
            let sign = if column == 0 { -1.0 } else { 1.0 };
            let better = |a: &str, b: &str| Some(sign * of(a)?.0 > sign * of(b)?.0);
            let known = OURS.into_iter().filter(|m| of(m).is_some());
            let Some(ours) = known.reduce(|a, b| if better(b, a) == Some(true) { b } else { a }) else { continue };
            *best.entry(ours).or_default() += 1;
            compared += 1;
            let Some(own) = of(ours) else { continue };
            for (m, ..) in METHODS.iter().filter(|(m, ..)| !OURS.contains(m) && *m != "no-privacy") {
                let Some(other) = of(m) else { continue };
                if sign * (other.0 - own.0) > 2.0 * (own.1.powi(2) + other.1.powi(2)).sqrt() {
                    let words = format!("{measure} on {data}, {rows} rows, eps {epsilon}: {:.3} against {:.3} of {ours}", other.0, own.0);
                    beaten.entry(m).or_default().push(words);
                }
            }
        }
    }
    writeln!(text, "\nBest of ours, in {compared} places: {best:?}.").unwrap();
    writeln!(text, "Where the best of ours is behind by more than two standard errors of the difference:").unwrap();
    for (method, list) in &beaten {
        writeln!(text, "  behind {method} in {} places", list.len()).unwrap();
        list.iter().for_each(|w| writeln!(text, "    {w}").unwrap());
    }
    if beaten.is_empty() {
        writeln!(text, "  nowhere").unwrap();
    }
    say(name, &text);
}

const NOTES: &str = "
Features of simulated rows are normal(0, 1): beta-div, penalty and dp-sgld take them as they are, the others move rows onto a ball that one in
300 leaves. Real rows have norm 1, scaled by public bounds; their truth is the fit to all rows without privacy. A study is one drawing
of weights and rows (or one split), shared by all methods. dp-sgd gets its steps, rate and clip from the results at no cost, which no
real release can do. The corrected constants are used: 2 rho c R0 (printed: twice that), Theorem 7 instead of Corollary 8 of Minami et
al., which fails above eps = 1.01, and norms of rows for the Lipschitz constant 2 of the paper, which holds up to four features.
Langevin chains are at most 20,000 to 200,000 steps long: their guarantee holds at any length, their accuracy may suffer.
An empty cell was not computed.
";
