//! Predicted Hellinger distances between what is released and the posterior, from public facts; they bound nothing.
//!
//! Averages are over a fixed pseudo-random sample of the prior predictive and of the noise, so a program has one prediction.

use crate::numeric::hellinger::{FAR, Overlaps, dirichlet_distance, distance, global_sensitivity, histograms, inverse_smooth};
use crate::numeric::special::normal_quantile;

/// Data sets in the sample.
const DATA: usize = 24;
/// Draws of the noise for each.
const NOISE: usize = 4;
/// Candidates that are weighed at most, in all.
const WEIGHED: u64 = 100_000;

/// A fixed sequence of numbers in (0, 1): multiples of an irrational number, one for each coordinate.
struct Points {
    at: Vec<f64>,
    steps: Vec<f64>,
}

impl Points {
    /// Steps are fractions of square roots of primes.
    fn new(dim: usize) -> Points {
        let primes = (2u32..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
        let steps: Vec<f64> = primes.take(dim.min(256)).map(|p| f64::from(p).sqrt().fract()).collect();
        Points { at: vec![0.5; steps.len()], steps }
    }

    fn next(&mut self) -> Vec<f64> {
        for (x, s) in self.at.iter_mut().zip(&self.steps) {
            *x = (*x + s).fract();
        }
        self.at.iter().map(|x| x.clamp(1e-6, 1.0 - 1e-6)).collect()
    }
}

/// What noise does to counts.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// `floor(Laplace(scale))` on all but the last, which is the rest.
    Floor(f64),
    /// Discrete Laplace of a scale.
    Laplace(f64),
    /// Discrete Gaussian of a standard deviation.
    Gaussian(f64),
}

impl Kind {
    fn draw(self, u: f64) -> f64 {
        let laplace = |b: f64| if u < 0.5 { b * (2.0 * u).ln() } else { -b * (2.0 - 2.0 * u).ln() };
        match self {
            Kind::Floor(b) => laplace(b).floor(),
            Kind::Laplace(b) => laplace(b).round(),
            Kind::Gaussian(s) => (s * normal_quantile(u)).round(),
        }
    }

    fn variance(self) -> f64 {
        match self {
            Kind::Floor(b) | Kind::Laplace(b) => 2.0 * b * b,
            Kind::Gaussian(s) => s * s,
        }
    }
}

/// A share of weight `a` of `a + b`, near its law: a Beta by its normal limit on the logit scale.
fn share(a: f64, b: f64, u: f64) -> f64 {
    let sd = (1.0 / (a + 0.2) + 1.0 / (b + 0.2)).sqrt();
    let x = ((a + 0.05) / (b + 0.05)).ln() + sd * normal_quantile(u);
    1.0 / (1.0 + (-x).exp())
}

/// Counts of `total` items from the prior predictive, one share after the other.
fn data(alpha: &[f64], total: f64, u: &[f64]) -> Vec<f64> {
    let mut rest: f64 = alpha.iter().sum();
    let mut left = total;
    let mut out = Vec::with_capacity(alpha.len());
    for (i, a) in alpha.iter().enumerate() {
        rest -= a;
        let one = if i + 1 == alpha.len() { left } else { (left * share(*a, rest.max(1e-9), u.get(i).copied().unwrap_or(0.5))).round() };
        let one = one.clamp(0.0, left);
        left -= one;
        out.push(one);
    }
    out
}

/// The mean distance where noisy counts are released, and the posterior ignores (or accounts for) the noise.
pub(super) fn noise(alpha: &[f64], total: f64, kind: Kind, kept: usize, aware: bool) -> f64 {
    let k = alpha.len();
    let mut points = Points::new(2 * k);
    let prior: f64 = alpha.iter().sum();
    let mut sum = 0.0;
    for _ in 0..DATA * NOISE {
        let u = points.next();
        let counts = data(alpha, total, &u);
        let exact: Vec<f64> = alpha.iter().zip(&counts).map(|(a, c)| a + c).collect();
        let tossed = |i: usize| kind.draw(u.get(k + i).copied().unwrap_or(0.5));
        let noisy: Vec<f64> = counts.iter().enumerate().map(|(i, c)| if i < kept { c + tossed(i) } else { *c }).collect();
        let released = if aware { inflated(alpha, prior, total, &noisy, kind.variance()) } else { settled(alpha, total, &noisy, kept) };
        sum += dirichlet_distance(&exact, &released);
    }
    sum / (DATA * NOISE) as f64
}

/// Counts moved into what is left in order, the last the rest; all kept: each at least 0.
fn settled(alpha: &[f64], total: f64, noisy: &[f64], kept: usize) -> Vec<f64> {
    let mut left = total;
    let moved = noisy.iter().enumerate().map(|(i, c)| {
        if kept == alpha.len() {
            return c.max(0.0);
        }
        let c = if i + 1 == alpha.len() { left } else { c.clamp(0.0, left) };
        left -= c;
        c
    });
    moved.zip(alpha).map(|(c, a)| a + c).collect()
}

/// The Dirichlet law with about the mean and spread of the posterior that accounts for noise of this variance.
fn inflated(alpha: &[f64], prior: f64, total: f64, noisy: &[f64], noise: f64) -> Vec<f64> {
    let (mut centre, mut own, mut all) = (vec![], 0.0, 0.0);
    for (a, s) in alpha.iter().zip(noisy) {
        let p = a / prior;
        let before = total * p * (1.0 - p) * (prior + total) / (prior + 1.0);
        let kept = before / (before + noise).max(1e-300);
        let c = (total * p + kept * (s - total * p)).clamp(0.0, total);
        let mean = (a + c) / (prior + total);
        own += mean * (1.0 - mean) / (prior + total + 1.0);
        all += mean * (1.0 - mean) / (prior + total + 1.0) + kept * noise / (prior + total).powi(2);
        centre.push(mean);
    }
    let scale: f64 = centre.iter().sum();
    let strength = ((prior + total + 1.0) * own / all.max(1e-300) - 1.0).max(1e-3);
    centre.iter().map(|m| (m / scale * strength).max(1e-6)).collect()
}

/// The mean distance of the Hellinger mechanisms. Where there are too many candidates to weigh, a smaller number of
/// items stands in, with the same counts in proportion: distances scale alike.
pub(super) fn hellinger(alpha: &[f64], total: f64, epsilon: f64, gamma: Option<f64>) -> f64 {
    let k = alpha.len();
    let mut items = total.clamp(1.0, 1e8) as u64;
    let data_sets = if k == 2 { DATA } else { 4 };
    while k > 2 && histograms(items, k).saturating_mul(data_sets as u64) > WEIGHED && items > 1 {
        items = (items / 2).max(1);
    }
    let mut points = Points::new(k);
    let mut sum = 0.0;
    for _ in 0..data_sets {
        let counts: Vec<u64> = data(alpha, items as f64, &points.next()).iter().map(|c| *c as u64).collect();
        let strength = match gamma {
            None => epsilon / (2.0 * global_sensitivity(alpha, items)),
            Some(g) => epsilon / (2.0 * (1.0 + g)) * inverse_smooth(alpha, &counts, g),
        };
        let mut mass = (0.0, 0.0);
        let mut weigh = |h: f64, times: f64| {
            let w = times * (-strength * h).exp();
            mass = (mass.0 + w, mass.1 + w * h);
        };
        match (alpha, counts.as_slice()) {
            ([a, b], [c, d]) => line([*a, *b], [*c, *d], &mut weigh),
            _ => {
                let tables: Vec<Overlaps> = alpha.iter().zip(&counts).map(|(a, c)| Overlaps::new(*a, *c, 0, items)).collect();
                weigh_all(&tables, items, 0.0, &mut |o| weigh(distance(o), 1.0));
            }
        }
        sum += if mass.0 > 0.0 { mass.1 / mass.0 } else { 1.0 };
    }
    sum / data_sets as f64
}

/// Both sides of two counts, in strides that grow with the distance.
fn line([a, b]: [f64; 2], [c, d]: [u64; 2], weigh: &mut dyn FnMut(f64, f64)) {
    weigh(0.0, 1.0);
    for ((a, c), (b, d)) in [((a, c), (b, d)), ((b, d), (a, c))] {
        let (mut t, mut o) = (0u64, 0.0);
        while t < c {
            let stride = (t / 64 + 1).min(c - t);
            t += stride;
            if o > -FAR {
                let from = [a + c as f64, b + d as f64];
                let to = [a + (c - t) as f64, b + (d + t) as f64];
                let h = dirichlet_distance(&from, &to);
                o = if h >= 1.0 { -FAR } else { 0.0 };
                weigh(h, stride as f64);
            } else {
                weigh(1.0, (c - t + stride) as f64);
                break;
            }
        }
    }
}

fn weigh_all(tables: &[Overlaps], left: u64, sum: f64, weigh: &mut dyn FnMut(f64)) {
    match tables {
        [] => {}
        [last] => weigh(sum + last.at(left)),
        [first, rest @ ..] => (0..=left).for_each(|c| weigh_all(rest, left - c, sum + first.at(c), weigh)),
    }
}

/// The mean distance for a Gamma posterior with a noisy sum, by its mean and spread.
pub(super) fn gamma(shape: f64, rate: f64, rows: f64, kind: Kind, aware: bool) -> f64 {
    let mut points = Points::new(2);
    let mut sum = 0.0;
    for _ in 0..DATA * NOISE {
        let u = points.next();
        let at = |i: usize| u.get(i).copied().unwrap_or(0.5);
        let lambda = (shape / rate * (normal_quantile(at(0)) / (shape + 0.5).sqrt()).exp()).max(1e-12);
        let s = (rows * lambda).round();
        let noisy = (s + kind.draw(at(1))).max(0.0);
        let (mut a, mut b) = (shape + noisy, rate + rows);
        if aware {
            let spread = 1.0 + kind.variance() / a.max(1.0);
            (a, b) = (a / spread, b / spread);
        }
        sum += gamma_distance((shape + s, rate + rows), (a, b));
    }
    sum / (DATA * NOISE) as f64
}

fn gamma_distance((a, b): (f64, f64), (c, d): (f64, f64)) -> f64 {
    use crate::numeric::special::ln_gamma;
    let part = |a: f64, b: f64| ln_gamma(a) - a * b.ln();
    distance(part(0.5 * (a + c), 0.5 * (b + d)) - 0.5 * (part(a, b) + part(c, d)))
}
