//! The distribution function of a scalar posterior, tabulated where its density is smooth.

use super::Posterior;
use crate::numeric::special::{digamma, ln_gamma, trigamma};

/// Slices of the table; each is integrated by Simpson's rule. Mixtures of normal laws may have narrow components.
const SLICES: usize = 1024;
const LINE_SLICES: usize = 4096;

/// The scale on which a density has no poles: shares by logit, positive numbers by logarithm, others as they are.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Scale {
    Logit,
    Log,
    Line,
}

impl Scale {
    fn to(self, x: f64) -> f64 {
        match self {
            Scale::Logit if x >= 1.0 => f64::INFINITY,
            Scale::Logit => x.max(0.0).ln() - libm::log1p(-x.max(0.0)),
            Scale::Log => x.max(0.0).ln(),
            Scale::Line => x,
        }
    }

    fn from(self, y: f64) -> f64 {
        match self {
            Scale::Logit => 1.0 / (1.0 + (-y).exp()),
            Scale::Log => y.exp(),
            Scale::Line => y,
        }
    }
}

/// `weight * exp(a ln p + b ln(1 - p) - ln_beta)` on the logit scale, `weight * exp(a (y + ln rate) - rate e^y - ..)` on the log
/// scale, the normal density of mean a and sd b on the line.
struct Part {
    weight: f64,
    a: f64,
    b: f64,
    constant: f64,
}

pub struct Line {
    scale: Scale,
    from: f64,
    step: f64,
    /// At the ends of the slices.
    density: Vec<f64>,
    cdf: Vec<f64>,
}

fn parts(p: &Posterior, weight: f64, scale: &mut Scale, out: &mut Vec<Part>) {
    match p {
        Posterior::Beta(a, b) => {
            *scale = Scale::Logit;
            out.push(Part { weight, a: *a, b: *b, constant: ln_gamma(a + b) - ln_gamma(*a) - ln_gamma(*b) });
        }
        Posterior::Gamma(a, b) => {
            *scale = Scale::Log;
            out.push(Part { weight, a: *a, b: *b, constant: a * b.ln() - ln_gamma(*a) });
        }
        Posterior::Normal(mean, sd) => {
            *scale = Scale::Line;
            out.push(Part { weight, a: *mean, b: *sd, constant: -(sd * std::f64::consts::TAU.sqrt()).ln() });
        }
        Posterior::Mixture { weights, components } => {
            weights.iter().zip(components).for_each(|(w, c)| parts(c, weight * w, scale, out));
        }
        Posterior::Dirichlet(_) | Posterior::MultiNormal { .. } | Posterior::Product(_) => {}
    }
}

impl Line {
    pub fn new(p: &Posterior) -> Line {
        let (mut scale, mut list) = (Scale::Logit, vec![]);
        parts(p, 1.0, &mut scale, &mut list);
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for part in list.iter().filter(|p| p.weight > 1e-12) {
            let (centre, variance, right) = match scale {
                Scale::Line => {
                    lo = lo.min(part.a - 9.0 * part.b);
                    hi = hi.max(part.a + 9.0 * part.b);
                    continue;
                }
                Scale::Logit => (digamma(part.a) - digamma(part.b), trigamma(part.a) + trigamma(part.b), 40.0 / part.b),
                // On the right a Gamma falls faster than any exponential.
                Scale::Log => (digamma(part.a) - part.b.ln(), trigamma(part.a), 0.0),
            };
            let sd = variance.sqrt();
            lo = lo.min(centre - 8.0 * sd - 40.0 / part.a);
            hi = hi.max(centre + 8.0 * sd + right);
        }
        let slices = if scale == Scale::Line { LINE_SLICES } else { SLICES };
        let step = (hi - lo) / slices as f64;
        let at = |y: f64| -> f64 {
            let value = |part: &Part| {
                let ln = match scale {
                    Scale::Line => {
                        let z = (y - part.a) / part.b;
                        // Most of many narrow components are far away.
                        if z.abs() > 12.0 {
                            return 0.0;
                        }
                        -0.5 * z * z
                    }
                    Scale::Logit => -part.a * libm::log1p((-y).exp()) - part.b * libm::log1p(y.exp()),
                    Scale::Log => part.a * y - part.b * y.exp(),
                };
                part.weight * (part.constant + ln).exp()
            };
            list.iter().map(value).sum()
        };
        let density: Vec<f64> = (0..=slices).map(|i| at(lo + i as f64 * step)).collect();
        let mut cdf = Vec::with_capacity(slices + 1);
        let mut sum = 0.0;
        cdf.push(0.0);
        for (i, pair) in density.windows(2).enumerate() {
            let middle = at(lo + (i as f64 + 0.5) * step);
            sum += step / 6.0 * (pair.iter().sum::<f64>() + 4.0 * middle);
            cdf.push(sum);
        }
        cdf.iter_mut().for_each(|c| *c /= sum);
        Line { scale, from: lo, step, density: density.into_iter().map(|d| d / sum).collect(), cdf }
    }

    fn slices(&self) -> usize {
        self.cdf.len().saturating_sub(1)
    }

    fn get(values: &[f64], i: usize) -> f64 {
        values.get(i).or(values.last()).copied().unwrap_or(f64::NAN)
    }

    /// Inside slice i at the part t in [0, 1], by the cubic with the slopes at both ends.
    fn inside(&self, i: usize, t: f64) -> f64 {
        let (a, b) = (Line::get(&self.cdf, i), Line::get(&self.cdf, i + 1));
        let (s, e) = (self.step * Line::get(&self.density, i), self.step * Line::get(&self.density, i + 1));
        let u = 1.0 - t;
        let y = a * u * u * (1.0 + 2.0 * t) + b * t * t * (1.0 + 2.0 * u) + s * t * u * u - e * t * t * u;
        y.clamp(a.min(b), a.max(b))
    }

    /// `P(X <= x)`
    pub fn cdf(&self, x: f64) -> f64 {
        let at = (self.scale.to(x) - self.from) / self.step;
        if at.is_nan() || at <= 0.0 {
            return 0.0;
        }
        if at >= self.slices() as f64 {
            return 1.0;
        }
        self.inside(at as usize, at.fract())
    }

    /// The x with `P(X <= x) = q`.
    pub fn quantile(&self, q: f64) -> f64 {
        let q = if q.is_nan() { 0.5 } else { q.clamp(0.0, 1.0) };
        let i = self.cdf.partition_point(|c| *c < q).saturating_sub(1).min(self.slices().saturating_sub(1));
        let (mut lo, mut hi) = (0.0, 1.0);
        for _ in 0..50 {
            let t = 0.5 * (lo + hi);
            if self.inside(i, t) < q { lo = t } else { hi = t }
        }
        self.scale.from(self.from + (i as f64 + 0.5 * (lo + hi)) * self.step)
    }
}
