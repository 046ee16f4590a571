//! Jewson, Ghalebikesabi and Holmes (2023), Figures 1 and 4: what one row weighs, and how well an attacker finds out who was there.

use super::baselines::{gaussian_mu, largest, theorem_mu};
use super::certified::{chosen, parameter};
use super::jewson::{DELTA, HEADER, METHODS, key, point, program, radius, weight};
use super::logistic::{SPREAD, Study, mode, sigmoid};
use super::mechanisms::Mechanism;
use super::table::{Table, say};
use dpm::mechanism::OsBits;
use dpm::numeric::special::normal_cdf;
use std::fmt::Write;

/// Loss of a row whose linear predictor, signed by its outcome, is t: the beta-divergence of the logistic law.
fn beta_loss(t: f64, beta: f64) -> f64 {
    let (p, q) = (sigmoid(t), sigmoid(-t));
    -p.powf(beta - 1.0) / (beta - 1.0) + (p.powf(beta) + q.powf(beta)) / beta
}

/// `ln(1 + e^-t)` without overflow.
fn log_loss(t: f64) -> f64 {
    (-t).max(0.0) + (-t.abs()).exp().ln_1p()
}

/// The beta of a pure epsilon where densities are at most 1: `2 / (beta - 1) = eps`.
fn beta_of(epsilon: f64) -> f64 {
    1.0 + 2.0 / epsilon
}

/// What multiplies the prior, on a line.
pub fn figure_1(full: bool) {
    let name = if full { "jewson-1-full" } else { "jewson-1" };
    let mut table = Table::open(&format!("{name}.csv"), 3, "model,posterior,at,factor,slope");
    let epsilon = 6.0;
    // The same with features of norm at most 1, as the printed Gibbs weight has it, and the prior of the paper.
    let (printed, own) = (0.09, (gaussian_mu(epsilon, DELTA) / (2.0 * SPREAD)).min(1.0));
    let beta = beta_of(epsilon);
    // Gaussian rows, sd 1: the integral of the squared density does not depend on where it is.
    let peak = 1.0 / std::f64::consts::TAU.sqrt();
    let gauss_beta = 1.0 + largest(|a| 2.0 * peak.powf(1.0 / a) * a <= epsilon, 1e3).recip();
    let gauss = move |t: f64| {
        let a = gauss_beta - 1.0;
        -(peak * (-0.5 * t * t).exp()).powf(a) / a + peak.powf(a) * gauss_beta.powf(-1.5)
    };
    let losses: [(&str, &str, Loss); 6] = [
        ("logistic", "bayes", Box::new(log_loss)),
        ("logistic", "gibbs, printed weight", Box::new(move |t| printed * log_loss(t))),
        ("logistic", "gibbs, dpm", Box::new(move |t| own * log_loss(t))),
        ("logistic", "beta-div, dpm", Box::new(move |t| beta_loss(t, beta))),
        ("gaussian", "bayes", Box::new(|t| 0.5 * t * t)),
        ("gaussian", "beta-div, dpm", Box::new(gauss)),
    ];
    for (model, posterior, loss) in &losses {
        // The best place is worth 1 everywhere, so that the curves can be compared.
        let least = (-400..=400).map(|i| loss(f64::from(i) * 0.1)).fold(f64::INFINITY, f64::min);
        for i in -80..=80 {
            let t = 0.1 * f64::from(i);
            let slope = (loss(t + 1e-5) - loss(t - 1e-5)) / 2e-5;
            table.at(&[model.to_string(), posterior.replace(',', ""), format!("{t:.1}")], || vec![(least - loss(t)).exp(), slope]);
        }
    }
    let range = |loss: &dyn Fn(f64) -> f64| loss(-40.0) - loss(40.0);
    let text = format!(
        "Figure 1: what one row multiplies the prior by, and its slope (the influence), at epsilon {epsilon}.\n\
         logistic: beta = {beta:.4}; losses from t = -40 to 40 differ by {:.4} (claimed: 1 / (beta - 1) = {:.4}), those of Bayes by 40.\n\
         gaussian, sd at least 1: beta = {gauss_beta:.4}; range {:.4} of at most {:.4}.\n\
         gibbs: weight {printed} as printed, {own:.4} by the Gaussian guarantee (delta = {DELTA}, features of norm 1, prior sd {SPREAD}): its\n\
         loss is a multiple of that of Bayes and has no bound; the privacy comes from its slope, and needs features of bounded norm.\n\
         The beta-divergence gives up influence of rows that the model finds unlikely, and keeps near 0 the slope {:.4} of Bayes' {:.4}.\n",
        range(&|t| beta_loss(t, beta)),
        1.0 / (beta - 1.0),
        gauss(40.0) - gauss(0.0),
        epsilon / 2.0,
        (beta_loss(-1e-5, beta) - beta_loss(1e-5, beta)) / 2e-5,
        0.5,
    );
    say(name, &text);
}

/// A loss of the predictor of one row.
type Loss = Box<dyn Fn(f64) -> f64>;

/// Tuned or whole posteriors: what they release has no one density that this attacker could compare.
const NO_DENSITY: [&str; 3] = ["dp-sgd", "dp-sgd-fixed", "auto-posterior"];

const EPSILONS: [f64; 5] = [0.5, 1.0, 2.0, 6.0, 12.0];

/// A row of one feature, and of a second one that changes nothing, for each of the two data sets.
const PAIRS: [(&str, f64); 2] = [("x = 1 and -1", 1.0), ("x = 1000 and -1000", 1000.0)];

/// Spacing and half width of the grid on which posteriors are integrated.
const STEP: f64 = 0.001;
const REACH: f64 = 30.0;

/// Minus log-density of an output of a method, not normalised, given a row (x, 1); the row (0, 0) adds a constant.
fn potential(method: &str, x: f64, epsilon: f64) -> Box<dyn Fn(f64) -> f64> {
    let prior = |t: f64| 0.5 * (t / SPREAD).powi(2);
    // Of one feature dpm knows a smaller Lipschitz constant: its weight is read from what it certifies.
    let rho = match method {
        "langevin" => parameter(&chosen(&program(method, 2, 1, 1.0, epsilon)), "r").unwrap(),
        _ => weight(method, 1, 1.0, epsilon),
    };
    // Radius of the ball, and infinity for the others.
    let edge = if method == "truncated" { radius(1) } else { f64::INFINITY };
    match method {
        "beta-div" => Box::new(move |t| prior(t) + beta_loss(x * t, beta_of(epsilon))),
        "output" | "output-fixed" => {
            let lambda = if method == "output" { 1.0 / (18.0) } else { 1.0 / 9.0 };
            let centre = mode(&[(vec![x], true), (vec![0.0], false)], 2.0 * lambda)[0];
            Box::new(move |t| (t - centre).abs() * lambda * epsilon)
        }
        _ => Box::new(move |t| if t.abs() > edge { f64::INFINITY } else { prior(t) + rho * log_loss(x * t) }),
    }
}

/// Success of the Bayes-optimal attacker, `1/2 (1 + TV)`, by sums on a grid.
fn ideal(method: &str, x: f64, epsilon: f64) -> f64 {
    let reach = if method.starts_with("output") { 40.0 * 18.0 / epsilon } else { REACH };
    let step = reach * STEP / REACH;
    let density = |x: f64| {
        let f = potential(method, x, epsilon);
        let raw: Vec<f64> = (0..=(2.0 * REACH / STEP) as usize).map(|i| (-f(i as f64 * step - reach)).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.into_iter().map(|p| p / total).collect::<Vec<_>>()
    };
    let (p, q) = (density(x), density(-x));
    0.5 + 0.25 * p.iter().zip(&q).map(|(a, b)| (a - b).abs()).sum::<f64>()
}

/// What the guarantee allows: a bounded range, pure epsilon, or a Gaussian.
fn allowed(method: &str, epsilon: f64) -> f64 {
    match method {
        "beta-div" | "truncated" => 0.5 * (1.0 + (epsilon / 4.0).tanh()),
        "output" | "output-fixed" => sigmoid(epsilon),
        "minami" => normal_cdf(0.5 * theorem_mu(epsilon, DELTA)),
        _ => normal_cdf(0.5 * gaussian_mu(epsilon, DELTA)),
    }
}

/// Share of right guesses on what the product drew: the attacker takes the data set whose ideal posterior is denser there.
fn drawn(method: &str, x: f64, epsilon: f64, draws: u64) -> f64 {
    let bound = if method == "beta-div" { x } else { 1.0 };
    let mechanism = Mechanism::new(&program(method, 2, 1, bound, epsilon));
    let guess = potential(method, x, epsilon);
    let other = potential(method, -x, epsilon);
    let mut right = 0.0;
    for (side, sign) in [(0, 1.0), (1, -1.0)] {
        let measured = mechanism.measure(&format!("x_1,y\n{},1\n0,0\n", sign * x));
        for w in mechanism.draws(&measured, draws, &mut OsBits::new().unwrap()) {
            let t = w.to_f64()[0];
            // log M / (1 - M): the normalisers of the two are equal by symmetry.
            let first = guess(t) < other(t);
            right += f64::from(u8::from(first == (side == 0)));
        }
    }
    right / (2.0 * draws as f64)
}

pub fn figure_4(full: bool) {
    let name = if full { "jewson-4-full" } else { "jewson-4" };
    let mut errors = Table::open(&format!("{name}-errors.csv"), 4, HEADER);
    let mut attacks = Table::open(&format!("{name}.csv"), 3, "pair,method,epsilon,success,allowed,drawn,draws");
    let (repetitions, draws) = if full { (100, 20_000) } else { (12, 2000) };
    let studies: Vec<Study> = (0..repetitions).map(|seed| Study::simulated(2, 1000, seed)).collect();
    // Chains that pay for every step have no density that an attacker could compute; a tuned one has many.
    let methods = || METHODS.iter().map(|m| m.0).filter(|m| !["penalty", "dp-sgld", "no-privacy"].contains(m) && !NO_DENSITY.contains(m));
    for epsilon in EPSILONS {
        for method in methods() {
            errors.at(&key("simulated-2", 1000, epsilon, method), || point(&studies, method, epsilon));
            for (pair, x) in PAIRS.iter().filter(|p| p.1 == 1.0 || method == "beta-div") {
                let key = [pair.to_string(), method.to_string(), format!("{epsilon:04.1}")];
                // At large epsilon the posterior of the far pair is a step, on which NUTS takes seconds a draw.
                let seen = || match method {
                    "beta-div" | "langevin" if full || *x == 1.0 || epsilon <= 2.0 => (drawn(method, *x, epsilon, draws), draws),
                    _ => (f64::NAN, 0),
                };
                attacks.at(&key, || {
                    let (share, draws) = seen();
                    vec![ideal(method, *x, epsilon), allowed(method, epsilon), share, 2.0 * draws as f64]
                });
            }
        }
    }
    let error = |m: &str| errors.points.iter().filter(|(k, _)| k[3] == m).map(|(_, v)| (v[0], 2.0 * v[1])).collect::<Vec<_>>();
    report_4(&attacks, name, full, &error);
}

fn report_4(attacks: &Table, name: &str, full: bool, error: &dyn Fn(&str) -> Vec<(f64, f64)>) {
    let mut text = format!(
        "Jewson et al. (2023), Figure 4: membership attack on {{(x, 1), (0, 0)}} against {{(-x, 1), (0, 0)}} ({}).\n\
         The attacker takes the set whose output density is the larger: the Bayes-optimal rule M > 1/2. success: 1/2 (1 + TV) of the\n\
         ideal law by integration; drawn: share of right guesses on draws of dpm. Bounds: 1/2 (1 + tanh(eta / 4)) of a bounded range\n\
         eta = eps, e^eps / (1 + e^eps) of pure eps, Phi(mu / 2) of a Gaussian guarantee. log10 RMSE: n = 1000, d = 2.\n\n",
        if full { "--full" } else { "--quick" }
    );
    writeln!(text, "{:20} {:12} {:>4} {:>8} {:>8} {:>16} {:>16}", "pair", "method", "eps", "success", "bound", "drawn", "log10 RMSE")
        .unwrap();
    let (mut above, mut tight) = (vec![], 1.0f64);
    for (k, v) in &attacks.points {
        let se = (v[2] * (1.0 - v[2]) / v[3]).sqrt();
        let drawn = if v[3] > 0.0 { format!("{:.4} +- {se:.4}", v[2]) } else { "-".into() };
        let at = attacks.points.keys().filter(|o| o[0] == k[0] && o[1] == k[1] && o[2] < k[2]).count();
        let (e, s) = error(&k[1])[at];
        let epsilon: f64 = k[2].parse().unwrap();
        writeln!(text, "{:20} {:12} {epsilon:>4} {:8.4} {:8.4} {drawn:>16} {:>16}", k[0], k[1], v[0], v[1], format!("{e:.3} +- {s:.3}"))
            .unwrap();
        if v[0] > v[1] + 1e-6 || v[3] > 0.0 && v[2] - 4.0 * se > v[1] {
            above.push(format!("{} {} eps {epsilon}", k[0], k[1]));
        }
        if k[0] == PAIRS[1].0 {
            tight = tight.min((v[0] - 0.5) / (v[1] - 0.5));
        }
    }
    writeln!(
        text,
        "\nAbove its bound (ideal law, or draws by four standard errors): {}.",
        if above.is_empty() { "none".into() } else { above.join(", ") }
    )
    .unwrap();
    writeln!(
        text,
        "On the pair with x = 1000, which no bound on features forbids, beta-div reaches at least {:.1} % of what its bound allows.",
        100.0 * tight
    )
    .unwrap();
    // At equal success: the least error of each method among the points whose success is at most that of ours.
    let points = |m: &str| -> Vec<(f64, f64)> {
        attacks
            .points
            .iter()
            .filter(|(k, _)| k[0] == PAIRS[0].0 && k[1] == m)
            .map(|(_, v)| v[0])
            .zip(error(m))
            .map(|(s, e)| (s, e.0))
            .collect()
    };
    for ours in ["beta-div", "langevin"] {
        for method in METHODS
            .iter()
            .map(|m| m.0)
            .filter(|m| !["beta-div", "langevin", "penalty", "dp-sgld", "no-privacy"].contains(m) && !NO_DENSITY.contains(m))
        {
            let others = points(method);
            let behind = points(ours).iter().filter(|(s, e)| others.iter().any(|(t, f)| t <= s && f < e)).count();
            writeln!(
                text,
                "{ours}: of its {} points, {behind} have more error than a point of {method} with no more success.",
                EPSILONS.len()
            )
            .unwrap();
        }
    }
    say(name, &text);
}
