//! Geumlek, Song and Chaudhuri (2017), Figures 1 and 2, and Figures 1 and 2 of the appendix: a rate from yes-or-no rows.
//!
//! The paper writes the prior of beta(a, b) as (a, a + b): its (6, 18) is beta(6, 12), its (1, 2) is uniform. All laws here are
//! mixtures of beta laws and all numbers integrals; nothing is sampled.

use super::baselines::largest;
use super::certified::{chosen, parameter};
use super::mechanisms::Seeded;
use super::table::{Table, say};
use dpm::analyze::Chosen;
use dpm::mechanism::Released;
use dpm::mechanism::grid::Number;
use dpm::mechanism::plan::{MechanismPlan, WholeNoise};
use dpm::numeric::special::{digamma, ln_gamma, normal_cdf};
use dpm::run::{Posterior, posterior_of};
use std::collections::BTreeMap;
use std::fmt::Write;

const ROWS: f64 = 100.0;
type Prior = (f64, f64);

/// Weight and counts of the beta laws of which an output is a mixture.
type Mixture = Vec<(f64, f64, f64)>;

const MECHANISMS: [(&str, &str); 7] = [
    ("alg-2", "diffused posterior, r by the four pairs that Corollary 2 prints"),
    ("alg-3", "concentrated posterior, m by the same pairs"),
    ("gauss", "Gaussian noise on the count, printed variance order / eps, clamped, as if exact"),
    ("gauss-half", "the same with half the variance, which is enough"),
    ("dpm-draw", "dpm, `draw(p) using auto`"),
    ("dpm-posterior", "dpm, a draw from what `posterior(p) using auto` releases"),
    ("posterior", "the posterior, without privacy"),
];

/// Rényi divergence of beta laws, infinite where an argument is not positive.
fn divergence(p: Prior, q: Prior, order: f64) -> f64 {
    let ln_beta = |(a, b): Prior| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let mixed = (order * p.0 - (order - 1.0) * q.0, order * p.1 - (order - 1.0) * q.1);
    if [p.0, p.1, q.0, q.1, mixed.0, mixed.1].iter().any(|x| *x <= 0.0) {
        return f64::INFINITY;
    }
    (ln_beta(mixed) - order * ln_beta(p)) / (order - 1.0) + ln_beta(q)
}

/// The largest divergence over the pairs as printed: from a corner, one row of weight r outward or inward.
fn printed((a, b): Prior, r: f64, order: f64) -> f64 {
    let corners = [(a, b + r * ROWS), (a + r * ROWS, b)];
    let pairs = corners.iter().flat_map(|p| [r, -r].map(|s| divergence(*p, (p.0 + s, p.1 - s), order)));
    pairs.fold(0.0, f64::max)
}

fn release((a, b): Prior, budget: &str, query: &str, using: &str) -> Chosen {
    let text = format!(
        "{budget}private rows[{ROWS}] {{ x: bool }}\nparam p ~ beta({a}, {b})\nobserve x ~ bernoulli(p)\nrelease q = {query}(p) using {using}\n"
    );
    chosen(&text)
}

/// What comes out where c of the rows are ones.
struct Law(Box<dyn Fn(usize) -> Mixture>);

fn law(mechanism: &str, prior: Prior, order: f64, epsilon: f64) -> Law {
    let (a, b) = prior;
    // Weight of the rows and sharpness of the prior.
    let tempered = move |r: f64, m: f64| Law(Box::new(move |c| vec![(1.0, a / m + r * c as f64, b / m + r * (ROWS - c as f64))]));
    let budget = format!("budget rdp(order = {order}, eps = {epsilon})\n");
    match mechanism {
        "posterior" => tempered(1.0, 1.0),
        "alg-2" => tempered(largest(|r| printed(prior, r, order) <= epsilon, 1.0), 1.0),
        "alg-3" => tempered(1.0, largest(|m| printed((a / m.max(1e-9), b / m.max(1e-9)), 1.0, order) <= epsilon, 1.0)),
        "gauss" | "gauss-half" => {
            let variance = order / epsilon / if mechanism == "gauss" { 1.0 } else { 2.0 };
            let sd = variance.sqrt();
            // Noise in steps of a quarter of a row or a thirtieth of its spread; what leaves [0, n] is put at the ends.
            let step = (sd / 30.0).min(0.25);
            Law(Box::new(move |c| {
                let at = |x: f64| normal_cdf((x - c as f64) / sd);
                let inner = (0..(ROWS / step).ceil() as usize).map(|i| {
                    let (x, y) = (i as f64 * step, ((i + 1) as f64 * step).min(ROWS));
                    (at(y) - at(x), 0.5 * (x + y))
                });
                let all = inner.chain([(at(0.0), 0.0), (1.0 - at(ROWS), ROWS)]);
                all.filter(|(w, _)| *w > 1e-12).map(|(w, x)| (w, a + x, b + ROWS - x)).collect()
            }))
        }
        "dpm-draw" => {
            let chosen = release(prior, &budget, "draw", "auto");
            tempered(parameter(&chosen, "r").unwrap_or(1.0), parameter(&chosen, "m").unwrap_or(1.0))
        }
        _ => whole(&release(prior, &budget, "posterior", "auto")),
    }
}

/// All noisy counts with their posteriors, computed once.
fn whole(chosen: &Chosen) -> Law {
    let Some(MechanismPlan::Whole { law, .. }) = &chosen.plan else { panic!("{:?}", chosen.parameters) };
    let weight: Box<dyn Fn(f64) -> f64> = match law.noise {
        WholeNoise::Gaussian { sigma } => Box::new(move |t| (-0.5 * (t / sigma).powi(2)).exp()),
        WholeNoise::Geometric { scale } => Box::new(move |t| (-t.abs() / scale).exp()),
        ref other => panic!("{other:?}"),
    };
    let reach = (1..).find(|t| weight(f64::from(*t)) < 1e-12).unwrap();
    let total: f64 = (-reach..=reach).map(|t| weight(f64::from(t))).sum();
    let components = |m: i32| -> Mixture {
        let numbers = [ROWS as i128, i128::from(m)].map(|x| Number::new(x, 0)).to_vec();
        let number = |p: &Posterior| if let Posterior::Beta(a, b) = p { (*a, *b) } else { panic!("beta") };
        match posterior_of(law, &Released { components: numbers }, true, &mut Seeded::new(0)).unwrap() {
            Posterior::Mixture { weights, components } => {
                weights.iter().zip(&components).map(|(w, p)| (*w, number(p).0, number(p).1)).collect()
            }
            one => vec![(1.0, number(&one).0, number(&one).1)],
        }
    };
    let posteriors: BTreeMap<i32, Mixture> = (-reach..=reach + ROWS as i32).map(|m| (m, components(m))).collect();
    let weights: Vec<(i32, f64)> = (-reach..=reach).map(|t| (t, weight(f64::from(t)) / total)).collect();
    Law(Box::new(move |c| {
        // The same counts come from many noises.
        let mut sum: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for (t, w) in &weights {
            for (v, a, b) in &posteriors[&(c as i32 + t)] {
                *sum.entry((a.to_bits(), b.to_bits())).or_insert(0.0) += w * v;
            }
        }
        sum.into_iter().map(|((a, b), w)| (w, f64::from_bits(a), f64::from_bits(b))).collect()
    }))
}

/// `KL(beta(a, b) || mixture)` by the trapezoidal rule on logits.
fn divergence_from((a, b): Prior, law: &Mixture) -> f64 {
    let log = |(a, b): Prior, l: f64, m: f64| ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * l + b * m;
    let (centre, sd) = ((a / b).ln(), (1.0 / a + 1.0 / b).sqrt());
    let step = 0.03 * sd;
    let constants: Vec<f64> = law.iter().map(|(w, a, b)| w.ln() + log((*a, *b), 0.0, 0.0)).collect();
    let node = |i: i32| {
        let u = centre + step * f64::from(i);
        let (l, m) = (-(-u).exp().ln_1p(), -u.exp().ln_1p());
        let p = log((a, b), l, m);
        let terms = || law.iter().zip(&constants).map(|((_, a, b), c)| c + a * l + b * m);
        let top = terms().fold(f64::NEG_INFINITY, f64::max);
        let q = top + terms().map(|t| (t - top).exp()).sum::<f64>().ln();
        p.exp() * (p - q) * step
    };
    (-400..=400).map(node).sum()
}

/// Mean and standard deviation of the log-likelihood of 100 new rows at a draw, over rows, new rows and draws.
fn likelihood(law: &Law, rate: f64) -> [f64; 2] {
    let (n, q) = (ROWS, 1.0 - rate);
    let binomial = |c: usize| {
        let c = c as f64;
        (ln_gamma(n + 1.0) - ln_gamma(c + 1.0) - ln_gamma(n - c + 1.0) + c * rate.ln() + (n - c) * q.ln()).exp()
    };
    // Moments of the number of ones h among the new rows: of h^2, h (n - h), (n - h)^2.
    let spread = n * rate * q;
    let squares = [spread + (n * rate).powi(2), n * n * rate * q - spread, spread + (n * q).powi(2)];
    let (mut mean, mut square) = (0.0, 0.0);
    for c in 0..=n as usize {
        let chance = binomial(c);
        if chance < 1e-13 {
            continue;
        }
        for (w, a, b) in (law.0)(c) {
            let (l, m) = (digamma(a) - digamma(a + b), digamma(b) - digamma(a + b));
            let common = trigamma(a + b);
            let moments = [l * l + trigamma(a) - common, l * m - common, m * m + trigamma(b) - common];
            mean += chance * w * n * (rate * l + q * m);
            square += chance * w * (squares[0] * moments[0] + 2.0 * squares[1] * moments[1] + squares[2] * moments[2]);
        }
    }
    [mean, (square - mean * mean).max(0.0).sqrt()]
}

/// Curves of the guarantee over the order.
pub fn figure_1(_full: bool) {
    let name = "geumlek-1";
    let mut table = Table::open(&format!("{name}.csv"), 3, "mechanism,constant,order,certified,printed");
    let prior = (6.0, 12.0);
    let constants = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
    // Evenly on a logarithmic axis, and just below every asymptote.
    let even = (0..=147).map(|i| 1.0 + 0.05 * 1.05f64.powi(i));
    let orders: Vec<f64> = even.chain(constants.map(|c| 0.999 * (1.0 + 6.0 / c))).collect();
    let mut differ = vec![];
    for (mechanism, argument) in [("diffuse", "r"), ("concentrated", "m")] {
        for constant in constants {
            let chosen = release(prior, "", "draw", &format!("{mechanism}({argument} = {constant})"));
            for &order in &orders {
                let key = [mechanism.to_string(), constant.to_string(), format!("{order:06.3}")];
                let v = table.at(&key, || {
                    let (r, m) = if mechanism == "diffuse" { (constant, 1.0) } else { (1.0, constant) };
                    vec![chosen.claim.rdp(order), printed((prior.0 / m, prior.1 / m), r, order)]
                });
                if (v[0] - v[1]).abs() > 1e-5 * v[0].max(1e-3) && v[0].is_finite() {
                    differ.push(format!("{mechanism}({constant}) order {order:.3}: certified {:.5}, printed {:.5}", v[0], v[1]));
                }
            }
        }
    }
    // At the cost of `diffuse(r = 0.5)` at order 2, the curve of counts with noise has no asymptote.
    let target = release(prior, "", "draw", "diffuse(r = 0.5)").claim.rdp(2.0);
    let noisy = release(prior, &format!("budget rdp(order = 2, eps = {target})\n"), "posterior", "noise_aware");
    for &order in &orders {
        table.at(&["noise_aware".into(), "equal".into(), format!("{order:06.3}")], || vec![noisy.claim.rdp(order), f64::NAN]);
    }
    let mut text = format!(
        "Geumlek et al. (2017), Figure 1: guarantees of diffused and concentrated posteriors, prior beta(6, 12), {ROWS} rows.\n\
         Curves end at an asymptote, 1 + 6 / r or 1 + 6 / m. dpm certifies the exact largest divergence of neighbours; printed: the\n\
         largest of the four pairs of Corollary 2, of which two leave the set of posteriors and one is never the worst.\n\
         The curve beside, noise_aware at the same cost at order 2, has no asymptote: eps = {:.4} at order 30.\n\n",
        noisy.claim.rdp(30.0)
    );
    writeln!(text, "certified and printed differ in {} of {} places", differ.len(), table.points.len()).unwrap();
    differ.iter().take(10).for_each(|d| writeln!(text, "  {d}").unwrap());
    let asymptotes: Vec<String> = [("diffuse", "r"), ("concentrated", "m")]
        .iter()
        .flat_map(|(mechanism, argument)| {
            constants.map(|c| {
                let chosen = release(prior, "", "draw", &format!("{mechanism}({argument} = {c})"));
                format!(
                    "  {mechanism}({argument} = {c}): orders below {:.4}, eps {:.5} at order 2\n",
                    chosen.claim.max_order(),
                    chosen.claim.rdp(2.0)
                )
            })
        })
        .collect();
    text += &asymptotes.concat();
    say(name, &text);
}

fn epsilons(full: bool) -> Vec<f64> {
    let points = if full { 40 } else { 12 };
    (0..=points).map(|i| 0.01 * 1000f64.powf(f64::from(i) / f64::from(points))).collect()
}

/// One picture: a measure of every mechanism over epsilon.
fn curves(table: &mut Table, panel: &str, prior: Prior, order: f64, epsilons: &[f64], measure: &dyn Fn(&Law) -> Vec<f64>) {
    for &epsilon in epsilons {
        for (mechanism, _) in MECHANISMS {
            let key = [panel.to_string(), mechanism.to_string(), format!("{epsilon:07.4}")];
            table.at(&key, || measure(&law(mechanism, prior, order, epsilon)));
        }
    }
}

fn finish(table: &Table, name: &str, head: &str, panels: &[(&str, bool)]) {
    let mut text = head.to_string();
    for (mechanism, words) in MECHANISMS {
        writeln!(text, "{mechanism:13} {words}").unwrap();
    }
    let (mut compared, mut behind) = (0, BTreeMap::<&str, Vec<String>>::new());
    for (panel, smaller) in panels {
        writeln!(text, "\n{panel}\n{:>8} {}", "eps", MECHANISMS.map(|m| format!("{:>20}", m.0)).concat()).unwrap();
        let places: std::collections::BTreeSet<_> = table.points.keys().filter(|k| k[0] == *panel).map(|k| k[2].clone()).collect();
        for epsilon in places {
            let of = |m: &str| &table.points[&vec![panel.to_string(), m.to_string(), epsilon.clone()]];
            let cell = |v: &Vec<f64>| if *smaller { format!("{:.5}", v[0]) } else { format!("{:.3} (sd {:.3})", v[0], v[1]) };
            writeln!(text, "{epsilon:>8} {}", MECHANISMS.map(|(m, _)| format!("{:>20}", cell(of(m)))).concat()).unwrap();
            let sign = if *smaller { 1.0 } else { -1.0 };
            let ours = ["dpm-draw", "dpm-posterior"].map(|m| sign * of(m)[0]).into_iter().fold(f64::INFINITY, f64::min);
            for m in ["alg-2", "alg-3", "gauss", "gauss-half"] {
                compared += 1;
                let other = sign * of(m)[0];
                if ours > other + 1e-6 * other.abs() {
                    behind.entry(m).or_default().push(format!("{panel}, eps {epsilon}: {:.5} against {:.5}", sign * ours, sign * other));
                }
            }
        }
    }
    let sum: usize = behind.values().map(Vec::len).sum();
    writeln!(text, "\nThe best of ours is behind a mechanism of the paper in {sum} of {compared} places.").unwrap();
    for (m, list) in &behind {
        writeln!(text, "  behind {m}:").unwrap();
        list.iter().for_each(|l| writeln!(text, "    {l}").unwrap());
    }
    text += WHY;
    say(name, &text);
}

const WHY: &str = "\nThe best of ours is the better of two in hindsight, as the paper's are listed one by one. `draw(p) using auto` never changes a\n\
prior: it is alg-2 with the exact constants, and by name `concentrated` is alg-3 with them. Where ours is behind gauss-half,\n\
continuous Gaussian noise on the count is nearer: dpm spends a Renyi budget on discrete Laplace or discrete Gaussian noise,\n\
whichever it predicts to be better. dpm-posterior is wider than the posterior by the noise that it accounts for, which this\n\
measure counts against it; its intervals are honest, and any number of draws from it is free, where the others pay for each\n\
draw. posterior is not private.\n";

/// Distance from the posterior, and log-likelihood of new rows, at orders 2 and 15.
pub fn figure_2(full: bool) {
    let name = if full { "geumlek-2-full" } else { "geumlek-2" };
    let prior = (6.0, 12.0);
    let mut table = Table::open(&format!("{name}.csv"), 3, "panel,mechanism,epsilon,value,sd");
    for (order, kl, log) in [(2.0, "(a) order 2", "(c) order 2"), (15.0, "(b) order 15", "(d) order 15")] {
        let from = (prior.0 + 38.0, prior.1 + 62.0);
        curves(&mut table, kl, prior, order, &epsilons(full), &|law| vec![divergence_from(from, &(law.0)(38)), 0.0]);
        curves(&mut table, log, prior, order, &epsilons(full), &|law| likelihood(law, 0.5).to_vec());
    }
    let head = "Geumlek et al. (2017), Figure 2: prior beta(6, 12). (a), (b): KL from the posterior of 38 ones in 100 rows to the output; less is\n\
                better. (c), (d): log-likelihood of 100 new rows at a draw, rate 0.5; more is better. Exact expectations, not runs.\n";
    finish(&table, name, head, &[("(a) order 2", true), ("(b) order 15", true), ("(c) order 2", false), ("(d) order 15", false)]);
}

fn appendix(name: &str, full: bool, prior: Prior, rates: &[(&str, f64)]) {
    let file = format!("geumlek-appendix-{name}{}", if full { "-full" } else { "" });
    let mut table = Table::open(&format!("{file}.csv"), 3, "panel,mechanism,epsilon,value,sd");
    for (panel, rate) in rates {
        curves(&mut table, panel, prior, 15.0, &epsilons(full), &|law| likelihood(law, *rate).to_vec());
    }
    let head = format!(
        "Geumlek et al. (2017), appendix, Figure {name}: log-likelihood of 100 new rows at a draw, prior beta({}, {}), order 15; more is better.\n\
         Exact expectations, not runs.\n",
        prior.0, prior.1
    );
    let panels: Vec<_> = rates.iter().map(|(panel, _)| (*panel, false)).collect();
    finish(&table, &file, &head, &panels);
}

pub fn appendix_1(full: bool) {
    appendix("1", full, (6.0, 12.0), &[("(a) rate 1/3", 1.0 / 3.0), ("(b) rate 1/2", 0.5), ("(c) rate 2/3", 2.0 / 3.0)]);
}

pub fn appendix_2(full: bool) {
    appendix("2", full, (1.0, 1.0), &[("rate 0.2", 0.2)]);
}

/// Second derivative of `ln_gamma` for positive `x`: the recurrence, then the asymptotic series.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let w = 1.0 / (x * x);
    let series =
        w * (1.0 / 6.0 - w * (1.0 / 30.0 - w * (1.0 / 42.0 - w * (1.0 / 30.0 - w * (5.0 / 66.0 - w * (691.0 / 2730.0 - w * 7.0 / 6.0))))));
    sum + (1.0 + 0.5 / x + series) / x
}
