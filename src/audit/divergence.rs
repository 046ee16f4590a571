//! Divergences of two laws of one family, by the trapezoid rule on a line where both densities are smooth, or by adding chances.
//!
//! What is said is a lower bound: twice the difference to the rule with half of the nodes, and what doubles lose, are taken off.

use super::laws::{Law, ln_beta, ln_rounded};

/// Nodes of the rule; it converges faster than any power of their number.
const NODES: usize = 8_001;
/// Nodes that are enough to rank pairs.
const FEW: usize = 257;
/// Most nodes of a law with kinks or steps.
const MANY: f64 = 40_000.0;

/// Log-densities of both laws at nodes, and the weights of these.
struct Grid {
    points: Vec<(f64, f64, f64)>,
    /// Chances are added: nothing is lost between the nodes.
    steps: bool,
    /// What doubles may lose of a logarithm.
    noise: f64,
}

/// A law on the line t: x = 1 / (1 + e^-t) for shares, x = e^t for rates, x = t for means.
#[derive(Clone, Copy)]
enum Line {
    Logit { a: f64, b: f64 },
    Log { shape: f64, rate: f64 },
    Mean { mean: f64, variance: f64 },
    Kink { mean: f64, scale: f64 },
    Step { mean: f64, scale: f64 },
    Rounded { mean: f64, sigma: f64 },
}

impl Line {
    fn ln_density(self, t: f64) -> f64 {
        match self {
            Line::Logit { a, b } => -a * (-t).exp().ln_1p_or(-t) - b * t.exp().ln_1p_or(t) - ln_beta(a, b),
            Line::Log { shape, rate } => shape * (rate.ln() + t) - rate * t.exp() - libm::lgamma(shape),
            Line::Kink { mean, scale } => -(t - mean).abs() / scale - (2.0 * scale).ln(),
            Line::Step { mean, scale } => -(t - mean).abs() / scale + (0.5 / scale).tanh().ln(),
            Line::Rounded { mean, sigma } => ln_rounded(t - mean, sigma),
            Line::Mean { mean, variance } => -0.5 * ((t - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln()),
        }
    }

    /// Outside of this the density is below e^-60 of its peak.
    fn span(self) -> (f64, f64) {
        match self {
            Line::Logit { a, b } => {
                let (middle, sd) = ((a / b).ln(), (1.0 / a + 1.0 / b).sqrt());
                let more = (100.0 * sd).min(2.0);
                (middle - (60.0 / a).max(12.0 * sd) - more, middle + (60.0 / b).max(12.0 * sd) + more)
            }
            Line::Log { shape, rate } => {
                let (middle, sd) = ((shape / rate).ln(), shape.powf(-0.5));
                (middle - (60.0 / shape).max(12.0 * sd), middle + 12.0 * sd.min(1.0) + 5.0 * sd.max(1.0).ln() + (100.0 * sd).min(5.0))
            }
            Line::Kink { mean, scale } | Line::Step { mean, scale } => (mean - 40.0 * scale, mean + 40.0 * scale),
            Line::Rounded { mean, sigma } => (mean - 12.0 * sigma - 1.0, mean + 12.0 * sigma + 1.0),
            Line::Mean { mean, variance } => (mean - 12.0 * variance.sqrt(), mean + 12.0 * variance.sqrt()),
        }
    }

    /// Standard deviation on the line, about: wider steps do not see the density.
    fn width(self) -> f64 {
        match self {
            Line::Logit { a, b } => (1.0 / a + 1.0 / b).sqrt(),
            Line::Log { shape, .. } => shape.powf(-0.5),
            Line::Mean { variance, .. } => variance.sqrt(),
            Line::Rounded { sigma, .. } => sigma,
            Line::Kink { scale, .. } | Line::Step { scale, .. } => scale,
        }
    }

    /// Size of the largest terms of the log-density around its peak.
    fn size(self) -> f64 {
        match self {
            Line::Logit { a, b } => (a + b) * (a + b + 2.0).ln(),
            Line::Log { shape, rate } => (shape + 1.0) * ((shape + 2.0).ln() + rate.ln().abs()),
            _ => 100.0,
        }
    }

    /// The member of the family that order `l` looks at: `l` times the first minus `l - 1` times the second, if it exists.
    fn tilted(self, other: Line, l: f64) -> Option<Line> {
        let mix = |p: f64, q: f64| l * p - (l - 1.0) * q;
        Some(match (self, other) {
            (Line::Logit { a, b }, Line::Logit { a: c, b: d }) => Line::Logit { a: positive(mix(a, c))?, b: positive(mix(b, d))? },
            (Line::Log { shape, rate }, Line::Log { shape: s, rate: r }) => {
                Line::Log { shape: positive(mix(shape, s))?, rate: positive(mix(rate, r))? }
            }
            (Line::Mean { mean, variance }, Line::Mean { mean: m, variance: v }) => {
                let precision = positive(mix(1.0 / variance, 1.0 / v))?;
                Line::Mean { mean: mix(mean / variance, m / v) / precision, variance: 1.0 / precision }
            }
            // No member of the family: the integrand falls as the densities do.
            (Line::Kink { .. }, Line::Kink { .. }) | (Line::Step { .. }, Line::Step { .. }) => self,
            (Line::Rounded { mean, sigma }, Line::Rounded { mean: m, .. }) => Line::Rounded { mean: mix(mean, m), sigma },
            _ => return None,
        })
    }
}

trait Ln1p {
    /// `ln(1 + self)`, or `t` where `self = e^t` has overflowed.
    fn ln_1p_or(self, t: f64) -> f64;
}

impl Ln1p for f64 {
    fn ln_1p_or(self, t: f64) -> f64 {
        if self.is_finite() { self.ln_1p() } else { t }
    }
}

fn positive(x: f64) -> Option<f64> {
    (x > 0.0).then_some(x)
}

/// Both laws on one line. For Dirichlet laws that differ in two coordinates the ratio of densities depends on the share of
/// one of the two alone, which is Beta; for those that differ in one, on that coordinate; for independent normal numbers, on the
/// direction from one mean to the other.
fn lines(p: &Law, q: &Law) -> Option<(Line, Line)> {
    Some(match (p, q) {
        (Law::Beta(a, b), Law::Beta(c, d)) => (Line::Logit { a: *a, b: *b }, Line::Logit { a: *c, b: *d }),
        (Law::Gamma { shape, rate }, Law::Gamma { shape: s, rate: r }) => {
            (Line::Log { shape: *shape, rate: *rate }, Line::Log { shape: *s, rate: *r })
        }
        (Law::Normal { mean, variance }, Law::Normal { mean: m, variance: v }) => {
            (Line::Mean { mean: *mean, variance: *variance }, Line::Mean { mean: *m, variance: *v })
        }
        (Law::Normals { means, variance }, Law::Normals { means: other, variance: v }) => {
            let squares: f64 = means.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum();
            (Line::Mean { mean: 0.0, variance: *variance }, Line::Mean { mean: squares.sqrt(), variance: *v })
        }
        (Law::Laplace { mean, scale }, Law::Laplace { mean: m, scale: s }) => {
            (Line::Kink { mean: *mean, scale: *scale }, Line::Kink { mean: *m, scale: *s })
        }
        (Law::Geometric { mean, scale }, Law::Geometric { mean: m, scale: s }) if mean.fract() == 0.0 && m.fract() == 0.0 => {
            (Line::Step { mean: *mean, scale: *scale }, Line::Step { mean: *m, scale: *s })
        }
        (Law::Rounded { mean, sigma }, Law::Rounded { mean: m, sigma: s }) if mean.fract() == 0.0 && m.fract() == 0.0 => {
            (Line::Rounded { mean: *mean, sigma: *sigma }, Line::Rounded { mean: *m, sigma: *s })
        }
        (Law::Dirichlet(x), Law::Dirichlet(y)) => {
            let moved: Vec<(f64, f64)> = x.iter().zip(y).filter(|(a, b)| (**a - **b).abs() > 1e-12).map(|(a, b)| (*a, *b)).collect();
            match moved.as_slice() {
                [(a, c), (b, d)] if (a + b - c - d).abs() <= 1e-9 => (Line::Logit { a: *a, b: *b }, Line::Logit { a: *c, b: *d }),
                [(a, c)] => {
                    let rest = x.iter().sum::<f64>() - a;
                    (Line::Logit { a: *a, b: rest }, Line::Logit { a: *c, b: rest })
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// About so many nodes for this pair and what an integrand looks at besides; `None` where too many would be needed.
fn grid((p, q): (Line, Line), tilted: Option<Line>, nodes: usize) -> Option<Grid> {
    let seen = || [Some(p), Some(q), tilted].into_iter().flatten();
    let spans = seen().map(Line::span);
    let (lo, hi) = spans.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    let few = nodes < NODES;
    let most = if few { nodes as f64 } else { MANY };
    let steps = matches!(p, Line::Step { .. } | Line::Rounded { .. });
    // From each of these to the next in equal steps, an even number of them.
    let (corners, step) = match (p, q) {
        // Kinks must be nodes, also of every second node, else the rule converges slowly.
        (Line::Kink { mean, scale }, Line::Kink { mean: m, .. }) => {
            (vec![lo, mean.min(m), mean.max(m), hi], (scale / 300.0).max((hi - lo) / most))
        }
        (Line::Step { .. } | Line::Rounded { .. }, _) if few => (vec![lo.floor(), hi.ceil()], ((hi - lo) / most).ceil().max(1.0)),
        (Line::Step { .. } | Line::Rounded { .. }, _) => (vec![lo.floor(), lo.floor() + 2.0 * ((hi - lo) / 2.0).ceil() + 2.0], 1.0),
        _ => (vec![lo, hi], (hi - lo) / (nodes - 1) as f64),
    };
    let narrowest = seen().map(Line::width).fold(f64::INFINITY, f64::min);
    let sees = few || steps || step * 2.0 <= narrowest;
    let count = (hi - lo) / step;
    if !sees || count.is_nan() || count > MANY + 10.0 {
        return None;
    }
    let mut points: Vec<(f64, f64, f64)> = vec![];
    for (a, b) in corners.iter().zip(corners.iter().skip(1)).filter(|(a, b)| a < b) {
        let halves = ((b - a) / (2.0 * step) - 1e-9).ceil().max(1.0);
        let h = (b - a) / (2.0 * halves);
        // A corner counts half a step on either side; the far ends count for nothing.
        let before = points.pop().map_or(h, |(_, _, w)| 0.5 * (w + h));
        let weight = |i: usize| if i == 0 { before } else { h };
        points.extend((0..=2 * halves as usize).map(|i| (a + h * i as f64, weight(i))).map(|(t, w)| (p.ln_density(t), q.ln_density(t), w)));
    }
    let noise = 64.0 * f64::EPSILON * seen().map(Line::size).fold(0.0, f64::max);
    Some(Grid { points, steps, noise })
}

/// Two choices among the same points.
fn chances(p: &Law, q: &Law) -> Option<Grid> {
    let (Law::Choice { logs: p, .. }, Law::Choice { logs: q, .. }) = (p, q) else { return None };
    let size = p.iter().chain(q).map(|l| l.abs()).fold(1.0, f64::max);
    Some(Grid { points: p.iter().zip(q).map(|(p, q)| (*p, *q, 1.0)).collect(), steps: true, noise: 64.0 * f64::EPSILON * size })
}

/// What doubles lose of the distance of two means, as a part of it; `None` where that is too much. The means are sums over all rows.
fn lost((p, q): (Line, Line)) -> Option<f64> {
    let mean = |line| match line {
        Line::Mean { mean, .. } | Line::Kink { mean, .. } | Line::Step { mean, .. } | Line::Rounded { mean, .. } => mean,
        Line::Logit { .. } | Line::Log { .. } => 0.0,
    };
    let (a, b): (f64, f64) = (mean(p), mean(q));
    let part = if a == b { 0.0 } else { 16.0 * f64::EPSILON * a.abs().max(b.abs()) / (a - b).abs() };
    (part <= 1e-3).then_some(part)
}

/// `1/(l-1) ln int p^l q^(1-l)` from below; infinite where the integral is, `None` where it is not taken.
pub fn renyi(p: &Law, q: &Law, order: f64) -> Option<f64> {
    if let (Law::Each(p), Law::Each(q)) = (p, q) {
        // Divergences of independent numbers add up.
        return p.iter().zip(q).filter(|(p, q)| p != q).map(|(p, q)| renyi(p, q, order)).sum();
    }
    if let Some(grid) = chances(p, q) {
        return Some(grid.below(|every| grid.renyi(order, every), grid.noise * order / (order - 1.0)));
    }
    let (p, q) = lines(p, q)?;
    let Some(tilted) = p.tilted(q, order) else { return Some(f64::INFINITY) };
    let part = lost((p, q))?;
    let grid = grid((p, q), Some(tilted), NODES)?;
    // It grows with the square of the distance at most.
    Some((1.0 - 3.0 * part) * grid.below(|every| grid.renyi(order, every), grid.noise * order / (order - 1.0)))
}

/// The same by few nodes, to rank pairs by.
pub fn rough(p: &Law, q: &Law, order: f64) -> Option<f64> {
    if let (Law::Each(p), Law::Each(q)) = (p, q) {
        return p.iter().zip(q).filter(|(p, q)| p != q).map(|(p, q)| rough(p, q, order)).sum();
    }
    if let Some(grid) = chances(p, q) {
        return Some(grid.renyi(order, 1));
    }
    let (p, q) = lines(p, q)?;
    let Some(tilted) = p.tilted(q, order) else { return Some(f64::INFINITY) };
    let found = grid((p, q), Some(tilted), FEW)?.renyi(order, 1);
    Some(if found.is_nan() { 0.0 } else { found })
}

/// The least epsilon at a delta, from below.
pub fn epsilon(p: &Law, q: &Law, delta: f64) -> Option<f64> {
    if let (Law::Each(p), Law::Each(q)) = (p, q) {
        let mut differ = p.iter().zip(q).filter(|(p, q)| p != q);
        let (one, other) = (differ.next(), differ.next());
        return one.filter(|_| other.is_none()).and_then(|(p, q)| epsilon(p, q, delta));
    }
    if let Some(grid) = chances(p, q) {
        return Some(grid.below(|every| grid.epsilon(delta, every), 2.0 * grid.noise));
    }
    let (p, q) = lines(p, q)?;
    let part = lost((p, q))?;
    let grid = grid((p, q), None, NODES)?;
    let found = grid.below(|every| grid.epsilon(delta, every), 2.0 * grid.noise);
    // Of normal laws at distance mu it moves by no more than `mu + z` times what the distance does, at a quantile z below 10.
    Some((found - part * (2.0 * found + 20.0 * found.sqrt() + 2.0)).max(0.0))
}

impl Grid {
    /// A value from all nodes, less twice its distance to that from every second node, and what doubles lose: where the error falls
    /// with the step or faster, that is more than the error.
    fn below(&self, value: impl Fn(usize) -> f64, noise: f64) -> f64 {
        let fine = value(1);
        let lost = if self.steps { 0.0 } else { 2.0 * (fine - value(2)).abs() };
        let found = fine - lost - noise - 1e-10 * fine.abs();
        if found.is_nan() { 0.0 } else { found.max(0.0) }
    }

    fn renyi(&self, order: f64, every: usize) -> f64 {
        let of = |(p, q, w): &(f64, f64, f64)| order * p - (order - 1.0) * q + w.ln();
        let terms: Vec<f64> = self.points.iter().step_by(every).map(of).filter(|t| !t.is_nan()).collect();
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|t| (t - most).exp()).sum();
        (most + sum.ln() + (every as f64).ln()) / (order - 1.0)
    }

    /// `int max(p - e^epsilon q, 0)` over the nodes where it is above 0: the ends of these stretches count half, so that what is cut
    /// off is less than the whole, and the rule is below the integral of a function that falls towards 0.
    fn hockey_stick(&self, epsilon: f64, every: usize) -> f64 {
        let (mut sum, mut before, mut last) = (0.0, false, 0.0);
        for (p, q, w) in self.points.iter().step_by(every) {
            let inside = *p > epsilon + q;
            let term = if inside { (p.exp() - (epsilon + q).exp()) * w } else { 0.0 };
            sum += term;
            if inside != before && !self.steps {
                sum -= 0.5 * (term + last);
            }
            (before, last) = (inside, term);
        }
        sum * every as f64
    }

    /// The least epsilon with that delta.
    fn epsilon(&self, delta: f64, every: usize) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        if self.hockey_stick(lo, every) <= delta {
            return 0.0;
        }
        while self.hockey_stick(hi, every) > delta && hi < 1e15 {
            (lo, hi) = (hi, 2.0 * hi);
        }
        for _ in 0..50 {
            let middle = f64::midpoint(lo, hi);
            if self.hockey_stick(middle, every) > delta { lo = middle } else { hi = middle }
        }
        lo
    }
}

/// Distribution function of a law of one number.
pub fn distribution(law: &Law) -> Option<impl Fn(f64) -> f64 + use<>> {
    if matches!(law, Law::Dirichlet(_) | Law::Normals { .. } | Law::Geometric { .. } | Law::Rounded { .. }) {
        return None;
    }
    let line = lines(law, law)?.0;
    // Where doubles lose the shape of the density there is no test.
    if f64::EPSILON * line.size() > 1e-4 {
        return None;
    }
    let (lo, hi) = line.span();
    let step = (hi - lo) / (NODES - 1) as f64;
    let mut sums = vec![0.0];
    let mut before = line.ln_density(lo).exp();
    for i in 1..NODES {
        let now = line.ln_density(lo + step * i as f64).exp();
        sums.push(sums.last().copied().unwrap_or(0.0) + 0.5 * step * (before + now));
        before = now;
    }
    // Its constant, a difference of large logarithms, is lost before.
    let whole = sums.last().copied().filter(|w| *w > 0.0)?;
    sums.iter_mut().for_each(|s| *s /= whole);
    Some(move |x: f64| {
        let t = match line {
            Line::Logit { .. } if x <= 0.0 => return 0.0,
            Line::Logit { .. } if x >= 1.0 => return 1.0,
            Line::Log { .. } if x <= 0.0 => return 0.0,
            Line::Logit { .. } => (x / (1.0 - x)).ln(),
            Line::Log { .. } => x.ln(),
            Line::Mean { .. } | Line::Kink { .. } | Line::Step { .. } | Line::Rounded { .. } => x,
        };
        let place = ((t - lo) / step).clamp(0.0, (NODES - 1) as f64);
        let at = |i: usize| sums.get(i).copied().unwrap_or(1.0);
        let (i, part) = (place as usize, place.fract());
        (at(i) + part * (at(i + 1).min(1.0) - at(i))).clamp(0.0, 1.0)
    })
}
