//! Predictions of how far what is released is from the posterior, from public facts; they bound nothing.
//!
//! Averages are over a fixed pseudo-random sample of the prior predictive and of the noise, so a program has one prediction.

use crate::numeric::hellinger::{Overlaps, dirichlet_distance, distance, global_sensitivity, histograms, inverse_smooth};
use crate::numeric::special::{digamma, ln_gamma, normal_quantile};
use crate::privacy::work;
use crate::rules::offer::PredictedError;
use std::cell::RefCell;
use std::collections::HashMap;

/// Data sets in the sample.
pub(super) const DATA: usize = 24;
/// Draws of the noise for each.
const NOISE: usize = 4;
/// Candidates that are weighed at most, in all.
const WEIGHED: u64 = 100_000;
/// Counts that are drawn at most, in all, where one data set has no more.
const COUNTS: usize = 2_000;
/// Levels of laws that take as long to compare as a point of a privacy curve to compute.
const A_POINT: usize = 5;
/// Predictions that are kept, of at most so many levels each.
const KEPT: usize = 1_000;
const LEVELS: usize = 64;

thread_local! {
    static KNOWN: RefCell<HashMap<Vec<u64>, Prediction>> = RefCell::default();
}

/// What these public numbers predict, worked out once: equal releases ask for it many times.
fn once(alpha: &[f64], others: &[f64], predict: impl FnOnce() -> Prediction) -> Prediction {
    if alpha.len() > LEVELS {
        return predict();
    }
    let key: Vec<u64> = others.iter().chain(alpha).map(|x| x.to_bits()).collect();
    let known = KNOWN.with_borrow(|all| all.get(&key).copied());
    known.unwrap_or_else(|| {
        let found = predict();
        KNOWN.with_borrow_mut(|all| {
            if all.len() >= KEPT {
                all.clear();
            }
            all.insert(key, found);
        });
        found
    })
}

/// Expectations over data sets and noise.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Prediction {
    /// Hellinger distance between what is released and the posterior.
    pub hellinger: f64,
    /// Divergence (Kullback-Leibler) of what is released from the posterior, in nats.
    pub kl: f64,
    /// Width of a 90 % interval of what is released, on average over its numbers.
    pub width: f64,
    /// Square of the distance from the mean of the posterior: of a draw from what is released, and of one from the prior.
    pub squares: [f64; 2],
}

impl Prediction {
    pub fn error(self) -> PredictedError {
        let further = vec![("kl", self.kl), ("interval_width", self.width)];
        let beside = Some(self.squares.map(f64::sqrt));
        PredictedError { further, beside, ..PredictedError::sure("expected Hellinger distance to the posterior", self.hellinger) }
    }

    /// Beside that of a draw from the prior.
    pub(super) fn beside_prior(self, square: f64) -> Prediction {
        let [own, _] = self.squares;
        Prediction { squares: [own, square], ..self }
    }

    pub(super) fn add(&mut self, other: Prediction, times: f64) {
        self.hellinger += times * other.hellinger;
        self.kl += times * other.kl;
        self.width += times * other.width;
        self.squares.iter_mut().zip(other.squares).for_each(|(own, x)| *own += times * x);
    }

    pub(super) fn over(self, total: f64) -> Prediction {
        let squares = self.squares.map(|x| x / total);
        Prediction { hellinger: self.hellinger / total, kl: self.kl / total, width: self.width / total, squares }
    }
}

/// Twice the 95 % quantile of the normal law: the width of a 90 % interval in standard deviations.
pub(super) const WIDTH: f64 = 3.29;

/// What one level of a Dirichlet law with `other` there adds to the squared distance of its draws from the mean of one with `own`; `sum`
/// and `total` are those of all levels.
fn square(own: f64, total: f64, other: f64, sum: f64) -> f64 {
    let mean = other / sum;
    mean * (1.0 - mean) / (sum + 1.0) + (mean - own / total).powi(2)
}

/// The same over all levels.
fn squares(exact: &[f64], other: &[f64]) -> f64 {
    let (total, sum): (f64, f64) = (exact.iter().sum(), other.iter().sum());
    exact.iter().zip(other).map(|(a, b)| square(*a, total, *b, sum)).sum()
}

/// What one level adds to the divergence of a Dirichlet law with `own` there from one with `other`, whose sums are `total`
/// and `sum`, and to the width of its interval.
fn level(own: f64, total: f64, other: f64, sum: f64) -> (f64, f64) {
    let mean = other / sum;
    let kl = ln_gamma(other) - ln_gamma(own) + (own - other) * (digamma(own) - digamma(total));
    (kl, WIDTH * (mean * (1.0 - mean).max(0.0) / (sum + 1.0)).sqrt())
}

/// A released Dirichlet law beside the exact one.
fn beside(exact: &[f64], released: &[f64]) -> Prediction {
    let (total, sum): (f64, f64) = (exact.iter().sum(), released.iter().sum());
    let levels = exact.iter().zip(released).map(|(a, b)| level(*a, total, *b, sum));
    let (kl, width) = levels.fold((ln_gamma(total) - ln_gamma(sum), 0.0), |(k, w), (a, b)| (k + a, w + b));
    let squares = [squares(exact, released), 0.0];
    Prediction { hellinger: dirichlet_distance(exact, released), kl: kl.max(0.0), width: width / exact.len().max(1) as f64, squares }
}

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

    fn numbers(self) -> [f64; 2] {
        match self {
            Kind::Floor(b) => [1.0, b],
            Kind::Laplace(b) => [2.0, b],
            Kind::Gaussian(s) => [3.0, s],
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

/// The means where noisy counts are released, and the posterior ignores (or accounts for) the noise.
pub(super) fn noise(alpha: &[f64], total: f64, kind: Kind, kept: usize, aware: bool) -> Prediction {
    let [law, scale] = kind.numbers();
    once(alpha, &[law, scale, total, kept as f64, f64::from(u8::from(aware))], || noisy_counts(alpha, total, kind, kept, aware))
}

fn noisy_counts(alpha: &[f64], total: f64, kind: Kind, kept: usize, aware: bool) -> Prediction {
    let k = alpha.len();
    let mut points = Points::new(2 * k);
    let prior: f64 = alpha.iter().sum();
    let mut sum = Prediction::default();
    // Many counts average by themselves.
    let draws = (COUNTS / k.max(1)).clamp(1, DATA * NOISE);
    work::count(draws * k / A_POINT);
    for _ in 0..draws {
        let u = points.next();
        let counts = data(alpha, total, &u);
        let exact: Vec<f64> = alpha.iter().zip(&counts).map(|(a, c)| a + c).collect();
        let tossed = |i: usize| kind.draw(u.get(k + i).copied().unwrap_or(0.5));
        let mut noisy: Vec<f64> = counts.iter().enumerate().map(|(i, c)| if i < kept { c + tossed(i) } else { *c }).collect();
        // The one count that gets no noise is what the others leave of the total, not what the rows say.
        if let [others @ .., last] = noisy.as_mut_slice()
            && kept + 1 == k
        {
            *last = total - others.iter().sum::<f64>();
        }
        let released = if aware { inflated(alpha, prior, total, &noisy, kind.variance()) } else { settled(alpha, total, &noisy, kept) };
        sum.add(beside(&exact, &released).beside_prior(squares(&exact, alpha)), 1.0);
    }
    sum.over(draws as f64)
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

/// The means of the Hellinger mechanisms. Where there are too many candidates to weigh, a smaller number of
/// items is used instead, with the same counts in proportion: distances scale alike.
pub(super) fn hellinger(alpha: &[f64], total: f64, epsilon: f64, gamma: Option<f64>) -> Prediction {
    // No gamma is as negative as this one.
    once(alpha, &[0.0, total, epsilon, gamma.unwrap_or(-1.0)], || candidates(alpha, total, epsilon, gamma))
}

fn candidates(alpha: &[f64], total: f64, epsilon: f64, gamma: Option<f64>) -> Prediction {
    let k = alpha.len();
    let mut items = total.clamp(1.0, 1e8) as u64;
    let data_sets = if k == 2 { DATA } else { 4 };
    while k > 2 && histograms(items, k).saturating_mul(data_sets as u64) > WEIGHED && items > 1 {
        items = (items / 2).max(1);
    }
    let weighed = if k > 2 { histograms(items, k) as usize } else { 2 * 64 * items.ilog2() as usize };
    work::count(data_sets * weighed / A_POINT);
    let mut points = Points::new(k);
    let mut sum = Prediction::default();
    for _ in 0..data_sets {
        let counts: Vec<u64> = data(alpha, items as f64, &points.next()).iter().map(|c| *c as u64).collect();
        let strength = match gamma {
            None => epsilon / (2.0 * global_sensitivity(alpha, items)),
            Some(g) => epsilon / (2.0 * (1.0 + g)) * inverse_smooth(alpha, &counts, g),
        };
        let exact: Vec<f64> = alpha.iter().zip(&counts).map(|(a, c)| a + *c as f64).collect();
        let (mut mass, mut mean) = (0.0, Prediction::default());
        let mut weigh = |at: Prediction, times: f64| {
            let w = times * (-strength * at.hellinger).exp();
            mass += w;
            mean.add(at, w);
        };
        match (alpha, counts.as_slice()) {
            ([a, b], [c, d]) => line([*a, *b], [*c, *d], &mut weigh),
            _ => {
                let sum = alpha.iter().sum::<f64>() + items as f64;
                let of = |(a, c): (&f64, &u64)| {
                    let own = a + *c as f64;
                    let each = |t: u64| {
                        let (kl, width) = level(own, sum, a + t as f64, sum);
                        [kl, width, square(own, sum, a + t as f64, sum)]
                    };
                    let levels = (0..=items).map(each).collect();
                    Level { overlaps: Overlaps::new(*a, *c, 0, items), levels }
                };
                let tables: Vec<Level> = alpha.iter().zip(&counts).map(of).collect();
                weigh_all(&tables, items, [0.0; 4], &mut |[overlap, kl, width, square]| {
                    weigh(Prediction { hellinger: distance(overlap), kl, width: width / k as f64, squares: [square, 0.0] }, 1.0);
                });
            }
        }
        let found = if mass > 0.0 { mean.over(mass) } else { Prediction { hellinger: 1.0, ..mean } };
        sum.add(found.beside_prior(squares(&exact, alpha)), 1.0);
    }
    sum.over(data_sets as f64)
}

/// Both sides of two counts, in strides that grow with the distance.
fn line([a, b]: [f64; 2], [c, d]: [u64; 2], weigh: &mut dyn FnMut(Prediction, f64)) {
    let from = [a + c as f64, b + d as f64];
    weigh(beside(&from, &from), 1.0);
    for (side, c) in [(-1.0, c), (1.0, d)] {
        let mut t = 0u64;
        while t < c {
            let stride = (t / 64 + 1).min(c - t);
            t += stride;
            let [x, y] = from;
            weigh(beside(&from, &[x + side * t as f64, y - side * t as f64]), stride as f64);
        }
    }
}

/// What one level adds, by how many items are there.
struct Level {
    overlaps: Overlaps,
    levels: Vec<[f64; 3]>,
}

impl Level {
    fn add(&self, items: u64, [overlap, kl, width, square]: [f64; 4]) -> [f64; 4] {
        let [k, w, s] = usize::try_from(items).ok().and_then(|i| self.levels.get(i)).copied().unwrap_or_default();
        [overlap + self.overlaps.at(items), kl + k, width + w, square + s]
    }
}

fn weigh_all(tables: &[Level], left: u64, sum: [f64; 4], weigh: &mut dyn FnMut([f64; 4])) {
    match tables {
        [] => {}
        [last] => weigh(last.add(left, sum)),
        [first, rest @ ..] => (0..=left).for_each(|c| weigh_all(rest, left - c, first.add(c, sum), weigh)),
    }
}

/// The means for a Gamma posterior with a noisy sum, by its mean and spread.
pub(super) fn gamma(shape: f64, rate: f64, rows: f64, kind: Kind, aware: bool) -> Prediction {
    let mut points = Points::new(2);
    let mut sum = Prediction::default();
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
        let exact = (shape + s, rate + rows);
        sum.add(gamma_beside(exact, (a, b)).beside_prior(gamma_square(exact, (shape, rate))), 1.0);
    }
    sum.over((DATA * NOISE) as f64)
}

/// The same for a chance whose rows count failures before so many successes, with a noisy sum.
pub(super) fn failures([a, b]: [f64; 2], successes: f64, kind: Kind, aware: bool) -> Prediction {
    let mut points = Points::new(2);
    let mut sum = Prediction::default();
    for _ in 0..DATA * NOISE {
        let u = points.next();
        let at = |i: usize| u.get(i).copied().unwrap_or(0.5);
        let p = share(a, b, at(0)).clamp(1e-9, 1.0 - 1e-9);
        let s = (successes * (1.0 - p) / p).round();
        let noisy = (s + kind.draw(at(1))).max(0.0);
        // Failures alone spread by (wins + losses) losses / wins.
        let (wins, losses) = (a + successes, b + noisy);
        let spread = if aware { 1.0 + kind.variance() * wins / ((wins + losses) * losses.max(1.0)) } else { 1.0 };
        let exact = [a + successes, b + s];
        sum.add(beside(&exact, &[wins / spread, losses / spread]).beside_prior(squares(&exact, &[a, b])), 1.0);
    }
    sum.over((DATA * NOISE) as f64)
}

/// Of draws from a gamma law with `c` and `d` from the mean of one with `a` and `b`.
fn gamma_square((a, b): (f64, f64), (c, d): (f64, f64)) -> f64 {
    c / (d * d) + (a / b - c / d).powi(2)
}

fn gamma_beside((a, b): (f64, f64), (c, d): (f64, f64)) -> Prediction {
    let part = |a: f64, b: f64| ln_gamma(a) - a * b.ln();
    let hellinger = distance(part(0.5 * (a + c), 0.5 * (b + d)) - 0.5 * (part(a, b) + part(c, d)));
    let kl = (a - c) * digamma(a) - ln_gamma(a) + ln_gamma(c) + c * (b / d).ln() + a * (d - b) / b;
    let squares = [gamma_square((a, b), (c, d)), 0.0];
    Prediction { hellinger, kl: kl.max(0.0), width: WIDTH * c.sqrt() / d, squares }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    /// Divergences against integrals of the densities, at midpoints.
    #[test]
    fn divergences_meet_their_definition() {
        let (p, q) = ([3.0, 5.0], [4.5, 4.0]);
        let ln = |a: [f64; 2], x: f64| {
            ln_gamma(a[0] + a[1]) - ln_gamma(a[0]) - ln_gamma(a[1]) + (a[0] - 1.0) * x.ln() + (a[1] - 1.0) * (1.0 - x).ln()
        };
        let n = 100_000;
        let beta: f64 =
            (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).map(|x| ln(p, x).exp() * (ln(p, x) - ln(q, x))).sum::<f64>() / f64::from(n);
        assert!((beside(&p, &q).kl - beta).abs() < 1e-6, "{beta}");
        let ln = |(a, b): (f64, f64), x: f64| a * b.ln() - ln_gamma(a) + (a - 1.0) * x.ln() - b * x;
        let (p, q) = ((3.0, 2.0), (4.0, 1.5));
        let h = 40.0 / f64::from(n);
        let gamma: f64 = (0..n).map(|i| (f64::from(i) + 0.5) * h).map(|x| h * ln(p, x).exp() * (ln(p, x) - ln(q, x))).sum();
        assert!((gamma_beside(p, q).kl - gamma).abs() < 1e-6, "{gamma}");
    }

    /// By levels, as the Hellinger mechanisms sum it, and at once.
    #[test]
    fn parts_of_levels_add_up() {
        let (alpha, from, to) = ([0.5, 1.0, 3.0], [4u64, 2, 5], [1u64, 7, 3]);
        let counts = |c: [u64; 3]| [0, 1, 2].map(|i| alpha[i] + c[i] as f64);
        let (p, q) = (counts(from), counts(to));
        let total: f64 = p.iter().sum();
        let parts = [0, 1, 2].map(|i| level(p[i], total, q[i], total));
        let whole = beside(&p, &q);
        assert!((parts.iter().map(|x| x.0).sum::<f64>() - whole.kl).abs() < 1e-9);
        assert!((parts.iter().map(|x| x.1).sum::<f64>() / 3.0 - whole.width).abs() < 1e-12);
    }
}
