//! Every mechanism with five points of its parameters, and the law that theory says its releases have.

use dpm::mechanism::Released;
use statrs::distribution::{Beta, ContinuousCDF, Gamma, Laplace, Normal};

use super::statistics::Tally;
use super::{Mechanism, Seeded, csv};

/// A probability of `x` (a distribution function or a mass) under the law with its scale times `s`.
type Law = Box<dyn Fn(f64, f64) -> f64>;

/// One mechanism at one point: a program, its data, and the laws of numbers read off its release.
pub struct Point {
    pub mechanism: &'static str,
    pub point: usize,
    program: String,
    data: String,
    views: Vec<View>,
}

/// One number read off a release.
struct View {
    read: fn(&Released) -> f64,
    tally: fn(&View) -> Tally,
    range: (f64, f64),
    values: Vec<f64>,
    law: Law,
    discrete: bool,
}

/// What a test of one point says, worst view first: p-values under the law and under the law scaled.
pub struct Verdict {
    pub right: f64,
    pub scaled: Vec<f64>,
}

const BLOCK: u64 = 100_000;

impl Point {
    /// Draws and tests; `scales` are wrong laws, whose p-values ought to be small.
    pub fn test(&self, draws: u64, scales: &[f64]) -> Verdict {
        let mechanism = Mechanism::new(&self.program);
        let measured = mechanism.measure(&self.data);
        let mut tallies: Vec<Tally> = self.views.iter().map(|v| (v.tally)(v)).collect();
        for block in 0..draws.div_ceil(BLOCK) {
            let mut bits = Seeded::new(1000 * self.point as u64 + (block << 20) + 1);
            let count = BLOCK.min(draws - block * BLOCK);
            for release in mechanism.draws(&measured, count, &mut bits) {
                for (view, tally) in self.views.iter().zip(&mut tallies) {
                    tally.add((view.read)(&release));
                }
            }
        }
        let p = |view: &View, tally: &Tally, s: f64| {
            if view.discrete { tally.discrete(|x| (view.law)(x, s)) } else { tally.continuous(|x| (view.law)(x, s)) }
        };
        let least = |s: f64| self.views.iter().zip(&tallies).map(|(v, t)| p(v, t, s)).fold(1.0, f64::min);
        Verdict { right: least(1.0), scaled: scales.iter().map(|s| least(*s)).collect() }
    }
}

fn first(r: &Released) -> f64 {
    r.components[0].to_f64()
}

fn second(r: &Released) -> f64 {
    r.components[1].to_f64()
}

fn third(r: &Released) -> f64 {
    r.components[2].to_f64()
}

fn sum_of_two(r: &Released) -> f64 {
    first(r) + second(r)
}

/// The law with distribution function `cdf`, scaled about 0.
fn continuous(read: fn(&Released) -> f64, range: (f64, f64), cdf: impl Fn(f64) -> f64 + 'static) -> View {
    let law = Box::new(move |x: f64, s: f64| cdf(x / s));
    View { read, tally: |v| Tally::cells(v.range.0, v.range.1), range, values: vec![], law, discrete: false }
}

/// The law of these masses; how a scale changes them is the law's own.
fn discrete(values: Vec<f64>, mass: impl Fn(f64, f64) -> f64 + 'static) -> View {
    View { read: first, tally: |v| Tally::values(v.values.clone()), range: (0.0, 0.0), values, law: Box::new(mass), discrete: true }
}

fn beta_view(read: fn(&Released) -> f64, a: f64, b: f64) -> View {
    let law = Beta::new(a, b).unwrap();
    let (mean, sd) = (a / (a + b), (a * b / (a + b + 1.0)).sqrt() / (a + b));
    let range = ((mean - 8.0 * sd).max(0.0), (mean + 8.0 * sd).min(1.0));
    continuous(read, range, move |x| law.cdf(x.clamp(0.0, 1.0)))
}

fn gamma_view(a: f64, rate: f64) -> View {
    let law = Gamma::new(a, rate).unwrap();
    let (mean, sd) = (a / rate, a.sqrt() / rate);
    continuous(first, ((mean - 8.0 * sd).max(0.0), mean + 12.0 * sd), move |x| law.cdf(x.max(0.0)))
}

fn normal_view(read: fn(&Released) -> f64, mean: f64, variance: f64) -> View {
    let law = Normal::new(mean, variance.sqrt()).unwrap();
    let sd = variance.sqrt();
    continuous(read, (mean - 8.0 * sd, mean + 8.0 * sd), move |x| law.cdf(x))
}

/// Noise on a value: the scale of the noise is what is scaled, about the value.
fn noise_view(value: f64, width: f64, cdf: impl Fn(f64) -> f64 + 'static) -> View {
    let law = Box::new(move |x: f64, s: f64| cdf(value + (x - value) / s));
    let range = (value - 20.0 * width, value + 20.0 * width);
    View { read: first, tally: |v| Tally::cells(v.range.0, v.range.1), range, values: vec![], law, discrete: false }
}

/// `rows` rows, the first `ones` of them `yes`, the others `no`.
fn rows(rows: usize, ones: usize, yes: &'static str, no: &'static str) -> String {
    let lines: Vec<&str> = (0..rows).map(|i| if i < ones { yes } else { no }).collect();
    csv("y", &lines)
}

/// All mechanisms, five points each; the first point of each is the long one.
pub fn points() -> Vec<Point> {
    let mut out = vec![];
    let mut add = |mechanism, point, program: String, data: String, views: Vec<View>| {
        out.push(Point { mechanism, point, program, data, views });
    };
    let table = |ty: &str| format!("private t[n] {{ y: {ty} }}\n");
    for (i, (a, b, n, ones, r)) in
        [(2.0, 3.0, 4, 3, 0.5), (0.75, 0.6, 3, 1, 0.5), (6.0, 18.0, 100, 30, 0.25), (1.5, 1.5, 0, 0, 0.5), (40.0, 2.0, 1000, 999, 1.0)]
            .into_iter()
            .enumerate()
    {
        let text =
            format!("{}param p ~ beta({a}, {b})\nobserve y ~ bernoulli(p)\nrelease x = draw(p) using diffuse(r = {r})\n", table("bool"));
        let view = beta_view(first, a + r * ones as f64, b + r * (n - ones) as f64);
        add("beta", i, text, rows(n, ones, "1", "0"), vec![view]);
    }
    for (i, (a, rate, n, threes, r)) in
        [(4.0, 1.0, 4, 2, 0.5), (1.6, 2.0, 1, 0, 0.5), (40.0, 10.0, 200, 77, 0.5), (3.5, 0.5, 0, 0, 0.25), (900.0, 3.0, 5000, 4000, 1.0)]
            .into_iter()
            .enumerate()
    {
        let text = format!(
            "{}param l ~ gamma({a}, {rate})\nobserve y ~ poisson(l)\nrelease x = draw(l) using diffuse(r = {r})\n",
            table("int in 0..3")
        );
        let view = gamma_view(a + r * 3.0 * threes as f64, rate + r * n as f64);
        add("gamma", i, text, rows(n, threes, "3", "0"), vec![view]);
    }
    for (i, (alpha, n, us, r)) in [
        ([2.0, 3.0, 4.0], 4, 3, 0.5),
        ([0.8, 0.9, 0.7], 2, 1, 0.5),
        ([8.0, 8.0, 8.0], 300, 100, 0.5),
        ([1.0, 1.0, 30.0], 0, 0, 0.5),
        ([50.0, 5.0, 2.0], 1000, 10, 1.0),
    ]
    .into_iter()
    .enumerate()
    {
        let prior = format!("[{}, {}, {}]", alpha[0], alpha[1], alpha[2]);
        let text = format!(
            "{}param s ~ dirichlet({prior})\nobserve y ~ categorical(s)\nrelease x = draw(s) using diffuse(r = {r})\n",
            table("category {u, v, w}")
        );
        let shapes = [alpha[0] + r * us as f64, alpha[1] + r * (n - us) as f64, alpha[2]];
        let total: f64 = shapes.iter().sum();
        let reads: [fn(&Released) -> f64; 3] = [first, second, third];
        let views = shapes.iter().zip(reads).map(|(a, read)| beta_view(read, *a, total - a)).collect();
        add("dirichlet", i, text, rows(n, us, "u", "v"), views);
    }
    for (i, (mean, sd, noise, n, ones)) in
        [(0.0, 1.0, 1.0, 1, 1), (0.5, 3.0, 2.0, 10, 4), (60.0, 50.0, 30.0, 1000, 700), (-2.0, 0.1, 1.0, 0, 0), (1e6, 1.0, 5.0, 7, 7)]
            .into_iter()
            .enumerate()
    {
        let text = format!(
            "{}param m ~ normal({mean}, {sd})\nobserve y ~ normal(m, {noise})\nrelease x = draw(m) using direct\n",
            table("real in [0, 1]")
        );
        let precision = 1.0 / (sd * sd) + n as f64 / (noise * noise);
        let centre = (mean / (sd * sd) + ones as f64 / (noise * noise)) / precision;
        let mut view = normal_view(first, centre, 1.0 / precision);
        // Scaled about its own centre: about 0 a far mean would make the test too easy.
        let law = Normal::new(centre, precision.sqrt().recip()).unwrap();
        view.law = Box::new(move |x, s| law.cdf(centre + (x - centre) / s));
        add("normal", i, text, rows(n, ones, "1", "0"), vec![view]);
    }
    for (i, (v, w, c, n, ones)) in
        [(1.0, 1.0, 0.5, 1, 1), (2.0, 1.0, 0.0, 10, 3), (4.0, 9.0, -1.5, 100, 60), (1.0, 1.0, 0.9, 0, 0), (0.25, 4.0, 0.1, 5, 5)]
            .into_iter()
            .enumerate()
    {
        let text = format!(
            "private t[n] {{ y: vector[2] in l2(1) }}\nparam m: vector[2] ~ multi_normal([0, 0], [[{v}, {c}], [{c}, {w}]])\n\
             observe y ~ multi_normal(m, [[1, 0], [0, 2]])\nrelease x = draw(m) using direct\n"
        );
        // Precision is the inverse of the prior covariance plus n diag(1, 1/2).
        let det = v * w - c * c;
        let (p11, p22, p12) = (w / det + n as f64, v / det + n as f64 / 2.0, -c / det);
        let d = p11 * p22 - p12 * p12;
        let (s11, s22, s12) = (p22 / d, p11 / d, -p12 / d);
        // Rows are (1, 0) or (0, 0): the noise precision times their sum is (ones, 0).
        let (m1, m2) = (s11 * ones as f64, s12 * ones as f64);
        let views =
            vec![normal_view(first, m1, s11), normal_view(second, m2, s22), normal_view(sum_of_two, m1 + m2, s11 + s22 + 2.0 * s12)];
        let lines: Vec<&str> = (0..n).map(|i| if i < ones { "1,0" } else { "0,0" }).collect();
        add("mv_normal", i, text, csv("y_1,y_2", &lines), views);
    }
    for (i, (scale, n, ones)) in [(1.0, 4, 3), (0.01, 2, 1), (250.0, 10, 10), (2.5, 0, 0), (7.0, 1000, 500)].into_iter().enumerate() {
        let text = format!("{}release x = sum(y) using laplace(scale = {scale})\n", table("real in [0, 1]"));
        let law = Laplace::new(ones as f64, scale).unwrap();
        add("laplace", i, text, rows(n, ones, "1", "0"), vec![noise_view(ones as f64, scale, move |x| law.cdf(x))]);
        let text = format!("{}release x = sum(y) using gaussian(sigma = {scale})\n", table("real in [0, 1]"));
        let law = Normal::new(ones as f64, scale).unwrap();
        add("gaussian", i, text, rows(n, ones, "1", "0"), vec![noise_view(ones as f64, scale, move |x| law.cdf(x))]);
    }
    for (i, (scale, n, ones)) in [(2.0, 4, 3), (0.5, 2, 1), (20.0, 10, 10), (1.0, 0, 0), (5.5, 1000, 500)].into_iter().enumerate() {
        let text = format!("{}release x = count(y) using geometric(scale = {scale})\n", table("bool"));
        let centre = ones as f64;
        let mass = move |x: f64, s: f64| {
            let q = (-1.0 / (scale * s)).exp();
            (1.0 - q) / (1.0 + q) * q.powf((x - centre).abs())
        };
        let values = (-400..=400).map(|k| centre + f64::from(k)).collect();
        add("geometric", i, text, rows(n, ones, "1", "0"), vec![discrete(values, mass)]);
    }
    for (i, (q, eps, n, ones)) in
        [(0.5, 1.0, 10, 4), (0.25, 1.0, 12, 0), (0.9, 0.4, 20, 20), (0.1, 3.0, 3, 0), (0.2, 0.1, 100, 0)].into_iter().enumerate()
    {
        let text = format!("{}release x = quantile(y, {q}) using exponential(0, 8, eps = {eps})\n", table("int in 0..8"));
        // Rows are 6 or 1; the score of t is minus how far q n is from what lies between #{x < t} and #{x <= t}, of sensitivity 1.
        let weight = move |t: f64, s: f64| {
            let rows = |least: f64, other: f64| (if t > least { n - ones } else { 0 }) + (if t > other { ones } else { 0 });
            let (less, most, rank) = (rows(1.0, 6.0), rows(0.5, 5.5), q * f64::from(n));
            (-(f64::from(less) - rank).max(rank - f64::from(most)).max(0.0) * eps * s / 2.0).exp()
        };
        let mass = move |t: f64, s: f64| weight(t, s) / (0..9).map(|k| weight(f64::from(k), s)).sum::<f64>();
        let data = rows(n as usize, ones as usize, "6", "1");
        add("quantile", i, text, data, vec![discrete((0..9).map(f64::from).collect(), mass)]);
    }
    out
}
