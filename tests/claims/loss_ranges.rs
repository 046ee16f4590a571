//! The loss of a row, searched over rows and parameters for every likelihood: never outside the certified range, and near it.
//!
//! Losses are computed here, in plain doubles, from densities written out once more; only the range comes from the library.

use crate::numbers_support::{claim, ln_gamma};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};
use std::io::Write;

/// Uniform numbers, and numbers of every size.
struct Search(ChaCha20Rng);

impl Search {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }
    /// Either sign, sizes from 1e-8 to 1e8, now and then exactly 0.
    fn any(&mut self) -> f64 {
        if self.unit() < 0.02 {
            return 0.0;
        }
        let size = 10_f64.powf(self.between(-8.0, 8.0));
        if self.unit() < 0.5 { size } else { -size }
    }
    /// From `lo` up, often `lo` itself.
    fn above(&mut self, lo: f64) -> f64 {
        if self.unit() < 0.3 { lo } else { lo * (1.0 + 10_f64.powf(self.between(-6.0, 6.0))) }
    }
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

fn phi(t: f64) -> f64 {
    0.5 * libm::erfc(-t / 2_f64.sqrt())
}

/// The loss from the density of the outcome and the integral of the density to the power b.
fn loss(f: f64, integral: f64, b: f64) -> f64 {
    -f.powf(b - 1.0) / (b - 1.0) + integral / b
}

fn two(p: f64, y: bool, b: f64) -> f64 {
    loss(if y { p } else { 1.0 - p }, p.powf(b) + (1.0 - p).powf(b), b)
}

/// A probability mass function on 0, 1, 2, ..: the loss of a random outcome, the sum taken until it is spent.
fn counts(search: &mut Search, mass: &dyn Fn(f64) -> f64, centre: f64, b: f64) -> f64 {
    let reach = 60.0 + 12.0 * centre.sqrt() + centre;
    let sum: f64 = (0..=reach as u64).map(|k| mass(k as f64).powf(b)).sum();
    let y = if search.unit() < 0.5 { (centre * search.between(0.0, 2.0)).floor() } else { search.between(0.0, 1e6).floor() };
    loss(mass(y), sum, b)
}

fn choose(n: f64, k: f64) -> f64 {
    (ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)).exp()
}

/// `int g^b` of Student's t with nu degrees of freedom and scale 1, and its density.
fn student(nu: f64, b: f64) -> (f64, impl Fn(f64) -> f64) {
    let c = (ln_gamma((nu + 1.0) / 2.0) - ln_gamma(nu / 2.0)).exp() / (nu * PI).sqrt();
    // (1 + t^2 / nu)^(-b (nu + 1) / 2) integrates to sqrt(nu) B(1/2, s - 1/2) with s = b (nu + 1) / 2.
    let s = b * (nu + 1.0) / 2.0;
    let beta = (ln_gamma(0.5) + ln_gamma(s - 0.5) - ln_gamma(s)).exp();
    (c.powf(b) * nu.sqrt() * beta, move |t: f64| c * (1.0 + t * t / nu).powf(-(nu + 1.0) / 2.0))
}

type Loss = Box<dyn Fn(&mut Search, f64) -> f64>;

/// A likelihood as a program writes it, and the loss of one random row at random parameters.
struct Law {
    name: &'static str,
    column: &'static str,
    model: &'static str,
    /// Part of the certified range that a search should reach.
    reached: f64,
    loss: Loss,
}

/// A location-scale law with density `g` at scale 1 and `int g^b = integral(b)`.
fn scaled(least: f64, g: fn(f64) -> f64, integral: fn(f64) -> f64) -> Loss {
    Box::new(move |search, b| {
        let s = search.above(least);
        let z = if search.unit() < 0.3 { 0.0 } else { search.any() };
        loss(g(z) / s, integral(b) * s.powf(1.0 - b), b)
    })
}

fn laws() -> Vec<Law> {
    let law = |name, column, model, reached, loss| Law { name, column, model, reached, loss };
    vec![
        law("bernoulli_logit", "bool", "bernoulli_logit(w)", 0.999, Box::new(|s, b| two(sigmoid(s.any()), s.unit() < 0.5, b))),
        law("bernoulli_probit", "bool", "bernoulli_probit(w)", 0.999, Box::new(|s, b| two(phi(s.any()), s.unit() < 0.5, b))),
        law(
            "bernoulli_cloglog",
            "bool",
            "bernoulli_cloglog(w)",
            0.999,
            Box::new(|s, b| two(-(-s.any().exp()).exp_m1(), s.unit() < 0.5, b)),
        ),
        law(
            "bernoulli within",
            "bool",
            "bernoulli(inv_logit(clip(w, -2, 1)))",
            0.999,
            Box::new(|s, b| two(sigmoid(s.any().clamp(-2.0, 1.0)), s.unit() < 0.5, b)),
        ),
        law(
            "categorical_logit",
            "category {u, v, w}",
            "categorical_logit([w, s, 0])",
            0.999,
            Box::new(|s, b| {
                let logits = [s.any().clamp(-300.0, 300.0), s.any().clamp(-300.0, 300.0), 0.0];
                let most = logits.iter().copied().fold(f64::MIN, f64::max);
                let total: f64 = logits.iter().map(|t| (t - most).exp()).sum();
                let p = logits.map(|t| (t - most).exp() / total);
                let y = p[(s.unit() * 3.0) as usize % 3];
                loss(y, p.iter().map(|x| x.powf(b)).sum(), b)
            }),
        ),
        law(
            "binomial_logit",
            "int in 0..5",
            "binomial_logit(5, w)",
            0.99,
            Box::new(|s, b| {
                let p = sigmoid(s.any());
                let mass = |k: f64| choose(5.0, k) * p.powf(k) * (1.0 - p).powf(5.0 - k);
                let sum = (0..=5).map(|k| mass(f64::from(k)).powf(b)).sum();
                loss(mass((s.unit() * 6.0).floor().min(5.0)), sum, b)
            }),
        ),
        law(
            "poisson_log",
            "int in 0..",
            "poisson_log(w)",
            0.99,
            Box::new(|s, b| {
                let rate = s.any().clamp(-30.0, 5.0).exp();
                counts(s, &|k| (k * rate.ln() - rate - ln_gamma(k + 1.0)).exp(), rate, b)
            }),
        ),
        law(
            "poisson",
            "int in 0..",
            "poisson(exp(w))",
            0.99,
            Box::new(|s, b| {
                let rate = s.any().abs().clamp(1e-12, 150.0);
                counts(s, &|k| (k * rate.ln() - rate - ln_gamma(k + 1.0)).exp(), rate, b)
            }),
        ),
        law("bernoulli", "bool", "bernoulli(inv_logit(w))", 0.999, Box::new(|s, b| two(sigmoid(s.any()), s.unit() < 0.5, b))),
        law(
            "binomial",
            "int in 0..12",
            "binomial(12, inv_logit(w))",
            0.99,
            Box::new(|s, b| {
                let p = sigmoid(s.any());
                let mass = |k: f64| choose(12.0, k) * p.powf(k) * (1.0 - p).powf(12.0 - k);
                let sum = (0..=12).map(|k| mass(f64::from(k)).powf(b)).sum();
                loss(mass((s.unit() * 13.0).floor().min(12.0)), sum, b)
            }),
        ),
        law(
            "neg_binomial",
            "int in 0..",
            "neg_binomial(exp(s), inv_logit(w))",
            0.99,
            Box::new(|s, b| {
                let (r, p) = (10_f64.powf(s.between(-3.0, 2.0)), sigmoid(s.any().clamp(-2.0, 40.0)));
                let (log_p, log_q) = (p.ln(), (-p).ln_1p());
                counts(
                    s,
                    &|k| (ln_gamma(k + r) - ln_gamma(r) - ln_gamma(k + 1.0) + r * log_p + k * log_q.max(-700.0)).exp(),
                    2.0 * r * (1.0 - p) / p,
                    b,
                )
            }),
        ),
        law(
            "binomial of many trials",
            "int in 0..2000",
            "binomial_logit(2000, w)",
            0.99,
            Box::new(|s, b| {
                let t = s.any();
                let (log_p, log_q) = (-(-t).exp().ln_1p(), -t.exp().ln_1p());
                let part = |x: f64, l: f64| if x > 0.0 { x * l } else { 0.0 };
                let mass =
                    |k: f64| (ln_gamma(2001.0) - ln_gamma(k + 1.0) - ln_gamma(2001.0 - k) + part(k, log_p) + part(2000.0 - k, log_q)).exp();
                let mean = 2000.0 * sigmoid(t);
                let reach = 40.0 + 12.0 * (mean * sigmoid(-t)).sqrt();
                let ends = ((mean - reach).max(0.0).floor() as u32, (mean + reach).min(2000.0).ceil() as u32);
                let sum = (ends.0..=ends.1).map(|k| mass(f64::from(k)).powf(b)).sum();
                let y = if s.unit() < 0.5 { mean.round() } else { s.between(0.0, 2000.0).floor() };
                loss(mass(y), sum, b)
            }),
        ),
        law(
            "geometric",
            "int in 0..",
            "geometric(inv_logit(w))",
            0.999,
            Box::new(|s, b| {
                let t = s.any().max(-300.0);
                let (p, log_q) = (sigmoid(t), if t > 0.0 { -t - (-t).exp().ln_1p() } else { -t.exp().ln_1p() });
                let y = if s.unit() < 0.5 { 0.0 } else { (s.between(0.0, 3.0) / p).floor().min(1e6) };
                let f = p * (if y > 0.0 { y * log_q } else { 0.0 }).exp();
                // The sum of (p q^k)^b is p^b / (1 - q^b).
                loss(f, p.powf(b) / -(b * log_q).exp_m1(), b)
            }),
        ),
        law(
            "categorical",
            "category {u, v, w}",
            "categorical(q)",
            0.999,
            Box::new(|s, b| {
                let parts = [s.any().abs(), s.any().abs() + 1e-30, s.any().abs()];
                let p = parts.map(|x| x / parts.iter().sum::<f64>());
                loss(p[(s.unit() * 3.0) as usize % 3], p.iter().map(|x| x.powf(b)).sum(), b)
            }),
        ),
        law(
            "normal",
            "real",
            "normal(w, s)",
            0.999,
            scaled(0.5, |z| (-z * z / 2.0).exp() / TAU.sqrt(), |b| TAU.powf((1.0 - b) / 2.0) / b.sqrt()),
        ),
        law(
            "normal, peaked",
            "real",
            "normal(w, 0.1 * s)",
            0.999,
            scaled(0.05, |z| (-z * z / 2.0).exp() / TAU.sqrt(), |b| TAU.powf((1.0 - b) / 2.0) / b.sqrt()),
        ),
        law(
            "half_normal",
            "real in [0, inf]",
            "half_normal(s)",
            0.999,
            scaled(0.5, |z| 2.0 * (-z * z / 2.0).exp() / TAU.sqrt(), |b| 2_f64.powf(b - 1.0) * TAU.powf((1.0 - b) / 2.0) / b.sqrt()),
        ),
        law("laplace", "real", "laplace(w, s)", 0.999, scaled(0.5, |z| 0.5 * (-z.abs()).exp(), |b| 2_f64.powf(1.0 - b) / b)),
        law(
            "cauchy",
            "real",
            "cauchy(w, s)",
            0.999,
            Box::new(|s, b| {
                let scale = s.above(0.5);
                let (integral, g) = student(1.0, b);
                loss(g(s.any()) / scale, integral * scale.powf(1.0 - b), b)
            }),
        ),
        law(
            "half_cauchy",
            "real in [0, 100]",
            "half_cauchy(s)",
            0.999,
            Box::new(|s, b| {
                let scale = s.above(0.5);
                let (integral, g) = student(1.0, b);
                loss(2.0 * g(s.any()) / scale, 2_f64.powf(b - 1.0) * integral * scale.powf(1.0 - b), b)
            }),
        ),
        law(
            "logistic",
            "real",
            "logistic(w, s)",
            0.999,
            scaled(0.5, |z| sigmoid(z) * sigmoid(-z), |b| (2.0 * ln_gamma(b) - ln_gamma(2.0 * b)).exp()),
        ),
        law(
            "student_t",
            "real",
            "student_t(3, w, s)",
            0.999,
            Box::new(|s, b| {
                let scale = s.above(0.5);
                let (integral, g) = student(3.0, b);
                loss(g(s.any()) / scale, integral * scale.powf(1.0 - b), b)
            }),
        ),
        // The wider range of a shape that varies is not reached by this law.
        law(
            "student_t of any shape",
            "real",
            "student_t(exp(w), 0, s)",
            0.5,
            Box::new(|s, b| {
                let scale = s.above(0.5);
                let nu = 10_f64.powf(s.between(-2.0, 6.0));
                let (integral, g) = student(nu, b);
                loss(g(s.any()) / scale, integral * scale.powf(1.0 - b), b)
            }),
        ),
        law("exponential", "real in [0, inf]", "exponential(1 / s)", 0.999, scaled(0.5, |z| (-z.abs()).exp(), |b| 1.0 / b)),
        law(
            "gamma",
            "real in [0, inf]",
            "gamma(2, 1 / s)",
            0.98,
            Box::new(|s, b| {
                let scale = s.above(0.5);
                let z = if s.unit() < 0.5 { 1.0 } else { s.any().abs() };
                // int (z exp(-z))^b = Gamma(b + 1) / b^(b + 1).
                loss(z * (-z).exp() / scale, libm::tgamma(b + 1.0) / b.powf(b + 1.0) * scale.powf(1.0 - b), b)
            }),
        ),
        law(
            "gamma of any shape",
            "real in [0, inf]",
            "gamma(1 + exp(w), 1 / s)",
            0.4,
            Box::new(|s, b| {
                let (scale, shape) = (s.above(0.5), 1.0 + 10_f64.powf(s.between(-6.0, 3.0)));
                let z = if s.unit() < 0.5 { shape - 1.0 } else { s.any().abs() };
                let log = |z: f64| (shape - 1.0) * z.ln() - z - ln_gamma(shape);
                let power = b * (shape - 1.0) + 1.0;
                let integral = (ln_gamma(power) - power * b.ln() - b * ln_gamma(shape)).exp();
                let g = if z > 0.0 { log(z).exp() } else { 0.0 };
                loss(g / scale, integral * scale.powf(1.0 - b), b)
            }),
        ),
    ]
}

/// The certified range, from the claim of a program with this likelihood.
fn certified_range(law: &Law, b: f64) -> f64 {
    let drawn = ["w", "q", "s"].into_iter().find(|name| law.model.contains(name)).unwrap();
    let text = format!(
        "private t[private n] {{ y: {} }}\nparam w ~ normal(0, 1)\nparam s: real in [0.5, inf] ~ half_normal(1)\n\
         param q ~ dirichlet([1, 1, 1])\nobserve y ~ {}\n\
         release v = draw({drawn}) using beta_div(beta = {b}) assuming convergence\n",
        law.column, law.model
    );
    claim(&text).pure()
}

/// Part of the certified range at this beta that so many random rows reach; never more than all of it.
fn share(law: &Law, b: f64, rows: u32, random: &mut Search) -> f64 {
    let range = certified_range(law, b);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..rows {
        let l = (law.loss)(random, b);
        assert!(l.is_finite(), "{} at beta {b}: {l}", law.name);
        (least, most) = (least.min(l), most.max(l));
    }
    let share = (most - least) / range;
    assert!(share <= 1.0 + 1e-9, "{} at beta {b}: searched {} above certified {range}", law.name, most - least);
    share
}

const BETAS: [f64; 5] = [1.05, 1.2, 1.5, 2.0, 3.0];

fn search(rows: u32) {
    let mut random = Search(ChaCha20Rng::seed_from_u64(20));
    for law in laws() {
        let reached = BETAS.into_iter().map(|b| share(&law, b, rows, &mut random)).fold(0.0, f64::max);
        println!("{:24} reaches {reached:.6} of its range", law.name);
        assert!(reached >= law.reached, "{}: a search that reaches {reached} of the range finds nothing", law.name);
    }
}

#[test]
fn a_short_search_stays_inside() {
    search(4_000);
}

/// 10^6 rows and parameters for each law at each beta, one line each; what stands in the file that `LOSS_RANGES` names is not
/// searched again (`benches/loss_ranges.sh`).
#[test]
#[ignore = "minutes"]
fn a_million_rows_stay_inside() {
    let path = std::env::var("LOSS_RANGES").unwrap();
    let done = std::fs::read_to_string(&path).unwrap_or_default();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    for (i, law) in laws().iter().enumerate() {
        let mut reached: f64 = 0.0;
        for b in BETAS {
            let start = format!("{:24} beta {b:<4} ", law.name);
            if let Some(line) = done.lines().find(|l| l.starts_with(&start)) {
                reached = reached.max(line.rsplit(' ').next().unwrap().parse().unwrap());
                continue;
            }
            let mut random = Search(ChaCha20Rng::seed_from_u64(1_000 * (i as u64 + 1) + (100.0 * b) as u64));
            let found = share(law, b, 1_000_000, &mut random);
            writeln!(file, "{start}1000000 rows and parameters reach {found:.6}").unwrap();
            reached = reached.max(found);
        }
        assert!(reached >= law.reached, "{}: a search that reaches {reached} of the range finds nothing", law.name);
    }
}

/// A weight and several observed values: ranges add, and the weight multiplies.
#[test]
fn ranges_add() {
    let text = |using: &str| {
        format!(
            "private t[n] {{ a: bool, b: real }}\nparam w ~ normal(0, 1)\nobserve a ~ bernoulli_logit(w)\nobserve b ~ normal(w, 1)\n\
             release v = draw(w) using {using} assuming convergence\n"
        )
    };
    let (b, peak) = (1.5_f64, 1.0 / TAU.sqrt());
    let both = 1.0 / (b - 1.0) + peak.powf(b - 1.0) / (b - 1.0);
    for (using, weight) in [("beta_div(beta = 1.5)", 1.0), ("beta_div(beta = 1.5, weight = 0.25)", 0.25)] {
        let found = claim(&text(using)).pure();
        assert!((found / (2.0 * weight * both) - 1.0).abs() < 1e-12, "{using}: {found}");
    }
}
