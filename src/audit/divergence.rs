//! Divergences of two laws of one family, by the trapezoid rule on a line where both densities are smooth.

use super::laws::{Law, ln_beta};

/// Nodes of the rule; it converges faster than any power of their number.
const NODES: usize = 8_001;

/// Log-densities of both laws at nodes of equal weight `ln_step`.
pub struct Grid {
    points: Vec<(f64, f64)>,
    ln_step: f64,
}

/// A law on the line t: x = 1 / (1 + e^-t) for shares, x = e^t for rates, x = t for means.
#[derive(Clone, Copy)]
enum Line {
    Logit { a: f64, b: f64 },
    Log { shape: f64, rate: f64 },
    Mean { mean: f64, variance: f64 },
    Kink { mean: f64, scale: f64 },
}

impl Line {
    fn ln_density(self, t: f64) -> f64 {
        match self {
            Line::Logit { a, b } => -a * (-t).exp().ln_1p_or(-t) - b * t.exp().ln_1p_or(t) - ln_beta(a, b),
            Line::Log { shape, rate } => shape * (rate.ln() + t) - rate * t.exp() - libm::lgamma(shape),
            Line::Kink { mean, scale } => -(t - mean).abs() / scale - (2.0 * scale).ln(),
            Line::Mean { mean, variance } => -0.5 * ((t - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln()),
        }
    }

    /// Outside of this the density is below e^-60 of its peak.
    fn span(self) -> (f64, f64) {
        match self {
            Line::Logit { a, b } => {
                let (middle, sd) = ((a / b).ln(), (1.0 / a + 1.0 / b).sqrt());
                (middle - (60.0 / a).max(12.0 * sd) - 2.0, middle + (60.0 / b).max(12.0 * sd) + 2.0)
            }
            Line::Log { shape, rate } => {
                let (middle, sd) = ((shape / rate).ln(), shape.powf(-0.5));
                (middle - (60.0 / shape).max(12.0 * sd), middle + 12.0 * sd.min(1.0) + 5.0 * sd.max(1.0).ln() + 5.0)
            }
            Line::Kink { mean, scale } => (mean - 40.0 * scale, mean + 40.0 * scale),
            Line::Mean { mean, variance } => (mean - 12.0 * variance.sqrt(), mean + 12.0 * variance.sqrt()),
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
            (Line::Kink { .. }, Line::Kink { .. }) => self,
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
/// one of the two alone, which is Beta.
fn lines(p: &Law, q: &Law) -> Option<(Line, Line)> {
    Some(match (p, q) {
        (Law::Beta(a, b), Law::Beta(c, d)) => (Line::Logit { a: *a, b: *b }, Line::Logit { a: *c, b: *d }),
        (Law::Gamma { shape, rate }, Law::Gamma { shape: s, rate: r }) => {
            (Line::Log { shape: *shape, rate: *rate }, Line::Log { shape: *s, rate: *r })
        }
        (Law::Normal { mean, variance }, Law::Normal { mean: m, variance: v }) => {
            (Line::Mean { mean: *mean, variance: *variance }, Line::Mean { mean: *m, variance: *v })
        }
        (Law::Laplace { mean, scale }, Law::Laplace { mean: m, scale: s }) => {
            (Line::Kink { mean: *mean, scale: *scale }, Line::Kink { mean: *m, scale: *s })
        }
        (Law::Dirichlet(x), Law::Dirichlet(y)) => {
            let moved: Vec<(f64, f64)> = x.iter().zip(y).filter(|(a, b)| (**a - **b).abs() > 1e-12).map(|(a, b)| (*a, *b)).collect();
            let [(a, c), (b, d)] = moved.as_slice() else { return None };
            if (a + b - c - d).abs() > 1e-9 {
                return None;
            }
            (Line::Logit { a: *a, b: *b }, Line::Logit { a: *c, b: *d })
        }
        _ => return None,
    })
}

/// The nodes for this pair; with an order, also where its integrand lives.
pub fn nodes(p: &Law, q: &Law, order: Option<f64>) -> Option<Grid> {
    let (p, q) = lines(p, q)?;
    let tilted = match order {
        Some(l) => Some(p.tilted(q, l)?),
        None => None,
    };
    let spans = [Some(p), Some(q), tilted].into_iter().flatten().map(Line::span);
    let (lo, hi) = spans.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    let (lo, step, count) = match (p, q) {
        // Kinks must be nodes, else the rule converges slowly.
        (Line::Kink { mean, scale }, Line::Kink { mean: m, .. }) => {
            let (apart, fine) = ((mean - m).abs(), scale / 300.0);
            let step = if apart > 0.0 { apart / (apart / fine).ceil() } else { fine };
            let before = ((mean.min(m) - lo) / step).ceil();
            (mean.min(m) - before * step, step, (2.0 * before + apart / step) as usize)
        }
        _ => (lo, (hi - lo) / (NODES - 1) as f64, NODES),
    };
    let points = (0..count).map(|i| lo + step * i as f64).map(|t| (p.ln_density(t), q.ln_density(t))).collect();
    Some(Grid { points, ln_step: step.ln() })
}

impl Grid {
    /// `1/(l-1) ln int p^l q^(1-l)`
    pub fn renyi(&self, order: f64) -> f64 {
        let terms: Vec<f64> = self.points.iter().map(|(p, q)| order * p - (order - 1.0) * q).filter(|t| !t.is_nan()).collect();
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|t| (t - most).exp()).sum();
        (most + sum.ln() + self.ln_step) / (order - 1.0)
    }

    /// `int max(p - e^epsilon q, 0)`
    pub fn hockey_stick(&self, epsilon: f64) -> f64 {
        let step = self.ln_step.exp();
        self.points.iter().map(|(p, q)| (p.exp() - (epsilon + q).exp()).max(0.0) * step).sum()
    }

    /// The least epsilon with that delta.
    pub fn epsilon(&self, delta: f64) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        if self.hockey_stick(lo) <= delta {
            return 0.0;
        }
        while self.hockey_stick(hi) > delta && hi < 1e6 {
            (lo, hi) = (hi, 2.0 * hi);
        }
        for _ in 0..50 {
            let middle = f64::midpoint(lo, hi);
            if self.hockey_stick(middle) > delta { lo = middle } else { hi = middle }
        }
        lo
    }
}

/// Distribution function of a law of one number.
pub fn distribution(law: &Law) -> Option<impl Fn(f64) -> f64 + use<>> {
    let line = lines(law, law)?.0;
    if matches!(law, Law::Dirichlet(_)) {
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
    Some(move |x: f64| {
        let t = match line {
            Line::Logit { .. } => (x / (1.0 - x)).ln(),
            Line::Log { .. } => x.ln(),
            Line::Mean { .. } | Line::Kink { .. } => x,
        };
        let place = ((t - lo) / step).clamp(0.0, (NODES - 1) as f64);
        let at = |i: usize| sums.get(i).copied().unwrap_or(1.0);
        let (i, part) = (place as usize, place.fract());
        (at(i) + part * (at(i + 1).min(1.0) - at(i))).clamp(0.0, 1.0)
    })
}
