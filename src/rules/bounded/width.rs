//! How far the log-density of a row moves over arguments that stay within intervals (rule book §7).

use crate::model::{Expr, Label, Observation, Range};
use crate::numeric::Interval;
use crate::numeric::round::div_up;

/// Length of the interval that holds the loss of one row over all parameters, whatever the row: its outcome lies in `y`, arguments
/// lie in `within`. Infinite where there is no bound, `None` where no formula is known here.
///
/// Losses of a share, a rate, and a normal mean are linear in y but for what no parameter moves. The length of their interval is a
/// supremum of differences, so convex in y, and largest at an end.
pub(super) fn width(o: &Observation, y: Range, within: impl Fn(&Expr) -> Interval) -> Option<f64> {
    let args = o.likelihood.args.as_slice();
    let number = |e: &Expr| e.constant().filter(|x| *x > 0.0 && x.is_finite());
    let ends = |one: &dyn Fn(f64) -> f64| one(y.lo).max(one(y.hi));
    let found = match (o.likelihood.name(), args) {
        ("bernoulli", [p]) => ends(&|y| share(y, 1.0 - y, within(p))),
        ("bernoulli_probit", [t]) => two(|t| t.ln_normal_cdf(), |t| (-t).ln_normal_cdf(), within(t)),
        // With u = e^t: the outcomes have the logarithms ln(1 - e^-u) and -u.
        ("bernoulli_cloglog", [t]) => two(|t| (-(-t.exp()).exp_m1()).ln(), |t| -t.exp(), within(t)),
        ("binomial", [n, p]) => {
            let n = number(n)?;
            ends(&|y| share(y, n - y, within(p)))
        }
        ("geometric", [p]) => ends(&|y| share(1.0, y, within(p))),
        ("neg_binomial", [n, p]) => {
            let n = number(n)?;
            ends(&|y| share(n, y, within(p)))
        }
        ("poisson", [rate]) => ends(&|y| of_rate(1.0, y, within(rate))),
        ("poisson_log", [t]) => ends(&|y| of_rate(1.0, y, within(t).exp())),
        ("exponential", [rate]) => ends(&|y| of_rate(y, 1.0, within(rate))),
        ("gamma", [shape, rate]) => {
            let shape = number(shape)?;
            // At an outcome of 0 the density is 0 or infinite, for every rate alike: there is no posterior to draw from.
            if y.lo <= 0.0 && shape != 1.0 {
                return Some(f64::INFINITY);
            }
            ends(&|y| of_rate(y, shape, within(rate)))
        }
        ("normal", [mean, sd]) if !latent(sd) => ends(&|y| normal(y, within(mean), within(sd).lo)),
        ("normal", [mean, sd]) => spread(y, within(mean), within(sd)),
        // The slope of these losses is at most 1 over the scale.
        ("laplace" | "logistic" | "cauchy", [place, scale]) if !latent(scale) => steep(within(place), within(scale).lo),
        _ => return None,
    };
    Some(if found.is_nan() { f64::INFINITY } else { found })
}

fn latent(e: &Expr) -> bool {
    matches!(e.label, Label::Latent | Label::Mix(_))
}

/// How far a convex function moves over x; its minimum over all numbers is at a point of `bottom`.
fn convex(f: impl Fn(Interval) -> Interval, x: Interval, bottom: Interval) -> f64 {
    let (low, high) = (f(Interval::point(x.lo)), f(Interval::point(x.hi)));
    let least = match () {
        () if bottom.hi <= x.lo => low.lo,
        () if bottom.lo >= x.hi => high.lo,
        () => f(bottom).lo,
    };
    (Interval::point(low.max(high).hi) - Interval::point(least)).hi
}

/// `c ln x`, which is 0 at c = 0 whatever x is.
fn times_ln(c: f64, x: Interval) -> Interval {
    if c == 0.0 { Interval::ZERO } else { Interval::point(c) * x.ln() }
}

/// `-(a ln p + b ln(1 - p))`
fn share(a: f64, b: f64, p: Interval) -> f64 {
    if p.lo < 0.0 || p.hi > 1.0 || a < 0.0 || b < 0.0 {
        return f64::INFINITY;
    }
    let (a_, b_) = (Interval::point(a), Interval::point(b));
    convex(|p| -(times_ln(a, p) + times_ln(b, Interval::ONE - p)), p, a_ / (a_ + b_))
}

/// `u x - v ln x`
fn of_rate(u: f64, v: f64, x: Interval) -> f64 {
    if x.lo < 0.0 || u < 0.0 || v < 0.0 {
        return f64::INFINITY;
    }
    let bottom = if u == 0.0 { Interval::point(f64::INFINITY) } else { Interval::point(v) / Interval::point(u) };
    let linear = |x: Interval| if u == 0.0 { Interval::ZERO } else { Interval::point(u) * x };
    convex(|x| linear(x) - times_ln(v, x), x, bottom)
}

/// Two logarithms of an argument, of which one rises and one falls.
fn two(rising: impl Fn(Interval) -> Interval, falling: impl Fn(Interval) -> Interval, t: Interval) -> f64 {
    let (lo, hi) = (Interval::point(t.lo), Interval::point(t.hi));
    (rising(hi) - rising(lo)).hi.max((falling(lo) - falling(hi)).hi)
}

/// Of a normal mean: every row has an sd of its own, of at least `sd`.
fn normal(y: f64, mean: Interval, sd: f64) -> f64 {
    if sd <= 0.0 {
        return f64::INFINITY;
    }
    let at = Interval::point(y);
    let scaled = |m: Interval| ((at - m) / Interval::point(sd)).square() / Interval::point(2.0);
    convex(scaled, mean, at)
}

/// `d^2 / (2 s^2) + ln s`, where parameters move s: it is largest at an end of s and the largest d, and at least the logarithm of the
/// least s.
fn spread(y: Range, mean: Interval, sd: Interval) -> f64 {
    if sd.lo <= 0.0 {
        return f64::INFINITY;
    }
    let d = (Interval::new(y.lo, y.hi) - mean).magnitude();
    let (least, most) = (Interval::point(sd.lo), Interval::point(sd.hi));
    let far = |s: Interval| (Interval::point(d) / s).square() / Interval::point(2.0);
    far(least).hi.max((far(most) + (most / least).ln()).hi)
}

fn steep(place: Interval, scale: f64) -> f64 {
    if scale > 0.0 { div_up((Interval::point(place.hi) - Interval::point(place.lo)).hi, scale) } else { f64::INFINITY }
}
