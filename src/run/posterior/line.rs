//! A scalar posterior where its density is smooth: its parts by their distance from their modes, and its distribution function as a table.

use super::Posterior;
use crate::numeric::fast::add_bell;
use crate::numeric::special::stirling;

/// Slices of the table; each is integrated by Simpson's rule. Mixtures of normal laws may have narrow components.
const SLICES: usize = 1024;
const LINE_SLICES: usize = 4096;
/// A density below `exp(-DEPTH)` of its top is left out.
const DEPTH: f64 = 45.0;
/// `ln(sqrt(2 pi))`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;

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

/// One component on its scale: counts of successes and failures, shape and rate, or mean and sd. Everything is taken from its
/// mode there, so that nothing cancels however large its numbers are.
#[derive(Clone, Copy)]
struct Part {
    scale: Scale,
    weight: f64,
    a: f64,
    b: f64,
}

/// `log1p(s expm1(u)) - s u` for s in [0, 1/2].
fn bend(s: f64, u: f64) -> f64 {
    if u.abs() < 1e-3 {
        let own = s * (1.0 - s);
        return own * u * u * (0.5 + u * ((1.0 - 2.0 * s) / 6.0 + u * (1.0 - 6.0 * own) / 24.0));
    }
    let log = if u > 700.0 { (s.ln() + u).max(0.0) } else { libm::log1p(s * u.exp_m1()) };
    log - s * u
}

impl Part {
    fn list(p: &Posterior, weight: f64, out: &mut Vec<Part>) {
        match p {
            Posterior::Beta(a, b) => out.push(Part { scale: Scale::Logit, weight, a: *a, b: *b }),
            Posterior::Gamma(a, b) => out.push(Part { scale: Scale::Log, weight, a: *a, b: *b }),
            Posterior::Normal(a, b) => out.push(Part { scale: Scale::Line, weight, a: *a, b: *b }),
            Posterior::Mixture { weights, components } => {
                weights.iter().zip(components).for_each(|(w, c)| Part::list(c, weight * w, out));
            }
            Posterior::Dirichlet(_)
            | Posterior::MultiNormal { .. }
            | Posterior::Product(_)
            | Posterior::Quotient(_)
            | Posterior::MeanOf(..)
            | Posterior::Draws(_) => {}
        }
    }

    fn mode(self) -> f64 {
        if self.scale == Scale::Line { self.a } else { self.a.ln() - self.b.ln() }
    }

    /// The mode, from that of another part.
    fn past_mode_of(self, other: Part) -> f64 {
        if self.scale == Scale::Line { self.a - other.a } else { (self.a / other.a).ln() - (self.b / other.b).ln() }
    }

    /// The logarithm of the density at the mode.
    fn ln_top(self) -> f64 {
        let Part { a, b, .. } = self;
        match self.scale {
            Scale::Logit => 0.5 * (a.min(b) * (a.max(b) / (a + b))).ln() + stirling(a + b) - stirling(a) - stirling(b) - LN_ROOT,
            Scale::Log => 0.5 * a.ln() - stirling(a) - LN_ROOT,
            Scale::Line => -b.ln() - LN_ROOT,
        }
    }

    /// How far the logarithm of the density has fallen at this distance from the mode.
    fn fallen(self, d: f64) -> f64 {
        let Part { a, b, .. } = self;
        match self.scale {
            Scale::Logit if b <= a => (a + b) * bend(b / (a + b), -d),
            Scale::Logit => (a + b) * bend(a / (a + b), d),
            Scale::Log if d.abs() < 1e-3 => a * d * d * (0.5 + d * (1.0 / 6.0 + d / 24.0)),
            Scale::Log => a * (d.exp_m1() - d),
            Scale::Line => 0.5 * (d / b) * (d / b),
        }
    }

    /// Where nearly all of it lies, from the mode: the density falls monotonously to `exp(-DEPTH)` of its top.
    fn ends(self) -> (f64, f64) {
        let Part { a, b, .. } = self;
        let sd = match self.scale {
            Scale::Line => return (-9.0 * b, 9.0 * b),
            Scale::Logit => (1.0 / a + 1.0 / b).sqrt(),
            Scale::Log => 1.0 / a.sqrt(),
        };
        let edge = |mut far: f64| {
            while self.fallen(far) < DEPTH {
                far *= 2.0;
            }
            while far.is_finite() && self.fallen(0.5 * far) >= DEPTH {
                far *= 0.5;
            }
            while far.is_finite() && self.fallen(0.9 * far) >= DEPTH {
                far *= 0.9;
            }
            far
        };
        (edge(-sd), edge(sd))
    }
}

/// The density of a scalar at x inside its support; at an end what it tends to.
pub fn density(p: &Posterior, x: f64) -> f64 {
    let mut parts = vec![];
    Part::list(p, 1.0, &mut parts);
    // At an end `x^(a - 1)` is infinite, a number or 0, and so is `(1 - x)^(b - 1)`.
    let end = |count: f64, other: f64| match count.total_cmp(&1.0) {
        std::cmp::Ordering::Less => f64::INFINITY,
        std::cmp::Ordering::Equal => other,
        std::cmp::Ordering::Greater => 0.0,
    };
    let one = |part: &Part| {
        let slope = match part.scale {
            Scale::Logit if !(0.0..=1.0).contains(&x) => return 0.0,
            Scale::Log if x < 0.0 => return 0.0,
            Scale::Logit | Scale::Log if x == 0.0 => return part.weight * end(part.a, part.b),
            Scale::Logit if x == 1.0 => return part.weight * end(part.b, part.a),
            Scale::Logit => x * (1.0 - x),
            Scale::Log => x,
            Scale::Line => 1.0,
        };
        part.weight * (part.ln_top() - part.fallen(part.scale.to(x) - part.mode())).exp() / slope
    };
    parts.iter().map(one).sum()
}

pub struct Line {
    scale: Scale,
    /// The mode of the first part; the table counts from it.
    origin: f64,
    from: f64,
    step: f64,
    /// At the ends of the slices.
    density: Vec<f64>,
    cdf: Vec<f64>,
}

impl Line {
    pub fn new(p: &Posterior) -> Line {
        let mut parts = vec![];
        Part::list(p, 1.0, &mut parts);
        let first = parts.first().copied().unwrap_or(Part { scale: Scale::Line, weight: 1.0, a: f64::NAN, b: f64::NAN });
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        // From the mode of the first: every mode, and where nearly all of the part lies.
        let place = |part: Part| {
            let (mode, (left, right)) = (part.past_mode_of(first), part.ends());
            (part, mode, mode + left, mode + right)
        };
        let placed: Vec<(Part, f64, f64, f64)> = parts.into_iter().map(place).collect();
        for (_, _, from, to) in placed.iter().filter(|(p, ..)| p.weight > 1e-12) {
            (lo, hi) = (lo.min(*from), hi.max(*to));
        }
        let slices = if first.scale == Scale::Line { LINE_SLICES } else { SLICES };
        let step = (hi - lo) / slices as f64;
        // At the ends and in the middle of every slice.
        let half = 0.5 * step;
        let mut heights = vec![0.0; 2 * slices + 1];
        for (part, mode, from, to) in placed {
            let top = part.weight * part.ln_top().exp();
            let (first, last) = (((from - lo) / half).max(0.0) as usize, ((to - lo) / half).ceil() as usize);
            let last = last.saturating_add(1).min(heights.len());
            let Some(some) = heights.get_mut(first..last) else { continue };
            let start = lo + first as f64 * half - mode;
            if part.scale == Scale::Line {
                add_bell(top, (start / part.b, half / part.b), some);
            } else {
                some.iter_mut().zip(0u32..).for_each(|(height, i)| *height += top * (-part.fallen(start + f64::from(i) * half)).exp());
            }
        }
        let mut cdf = Vec::with_capacity(slices + 1);
        let mut sum = 0.0;
        cdf.push(0.0);
        for three in heights.windows(3).step_by(2) {
            let [left, middle, right] = three else { continue };
            sum += step / 6.0 * (left + right + 4.0 * middle);
            cdf.push(sum);
        }
        cdf.iter_mut().for_each(|c| *c /= sum);
        let density = heights.into_iter().step_by(2).map(|d| d / sum).collect();
        Line { scale: first.scale, origin: first.mode(), from: lo, step, density, cdf }
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
        y.max(a.min(b)).min(a.max(b))
    }

    /// `P(X <= x)`
    pub fn cdf(&self, x: f64) -> f64 {
        match (self.scale.to(x) - self.origin - self.from) / self.step {
            at if at <= 0.0 => 0.0,
            at if at >= self.slices() as f64 => 1.0,
            at if at.is_nan() => at,
            at => self.inside(at as usize, at.fract()),
        }
    }

    /// The x with `P(X <= x) = q`.
    pub fn quantile(&self, q: f64) -> f64 {
        if self.cdf.last().is_none_or(|c| c.is_nan()) {
            return f64::NAN;
        }
        let i = self.cdf.partition_point(|c| *c < q).saturating_sub(1).min(self.slices().saturating_sub(1));
        let (mut lo, mut hi) = (0.0, 1.0);
        for _ in 0..50 {
            let t = 0.5 * (lo + hi);
            if self.inside(i, t) < q { lo = t } else { hi = t }
        }
        self.scale.from(self.origin + (self.from + (i as f64 + 0.5 * (lo + hi)) * self.step))
    }
}
