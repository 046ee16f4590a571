//! Links: the slope and curvature of a row's loss in its predictor, on the whole line and where it is bounded.

use crate::mechanism::plan::Link;
use crate::model::{Observation, Range, Type};
use crate::numeric::Interval;
use crate::numeric::round::{add_up, div_up, mul_down, mul_up, sqrt_up};
use crate::numeric::stored::LEAST;
use crate::rules::conjugate::facts::{point, positive_argument};
use crate::rules::{Match, not_mine};

/// Beyond this a predictor's exponential leaves every useful scale.
const MOST_PREDICTOR: f64 = 50.0;

/// The likelihoods of generalised linear models.
pub(super) const FAMILIES: &[&str] =
    &["bernoulli_logit", "binomial_logit", "categorical_logit", "bernoulli_probit", "bernoulli_cloglog", "poisson_log", "normal"];

/// The link of an observation, its predictor's place in the arguments, and the range of its outcome.
pub(super) struct Outcome<'a> {
    pub link: Link,
    pub predictor: &'a crate::model::Expr,
    pub range: Range,
}

/// Why a loss has no bounded slope on the whole line, for a label.
pub(super) fn unbounded_slope(link: Link) -> Option<(&'static str, &'static str)> {
    match link {
        Link::Logit { .. } | Link::Softmax { .. } => None,
        Link::Probit => Some(("probit", "-log Phi(t) has slope ~ |t|, unbounded as t -> -inf")),
        Link::Cloglog => Some(("cloglog", "the loss of a 0 is exp(t), whose slope is exp(t), unbounded as t -> inf")),
        Link::PoissonLog => Some(("Poisson", "the loss is exp(t) - y t, whose slope exp(t) - y is unbounded as t -> inf")),
        Link::Normal { .. } => Some(("squared", "the slope is (t - y) / sd^2, unbounded in t")),
    }
}

/// Reads the likelihood of one observation.
pub(super) fn outcome(o: &Observation) -> Match<Outcome<'_>> {
    let args = o.likelihood.args.as_slice();
    let numbers = o.outcome.ty.range().filter(|_| o.outcome.ty.is_scalar_number());
    let trials = |e: &crate::model::Expr| e.constant().filter(|n| (1.0..=1e9).contains(n) && n.fract() == 0.0);
    let (link, predictor, range) = match (o.likelihood.name(), args) {
        ("bernoulli_logit", [t]) => (Link::Logit { trials: 1 }, t, Range::UNIT),
        ("binomial_logit", [n, t]) => match trials(n) {
            Some(n) => (Link::Logit { trials: n as u64 }, t, Range::new(0.0, n)),
            None => return not_mine("the number of trials must be a constant"),
        },
        ("categorical_logit", [t]) => match &o.outcome.ty {
            Type::Category(levels) => (Link::Softmax { classes: levels.len() as u64 }, t, Range::UNIT),
            _ => return not_mine("the outcome must be a category"),
        },
        ("bernoulli_probit", [t]) => (Link::Probit, t, Range::UNIT),
        ("bernoulli_cloglog", [t]) => (Link::Cloglog, t, Range::UNIT),
        ("poisson_log", [t]) => (Link::PoissonLog, t, numbers.unwrap_or(Range::ALL)),
        ("normal", [t, sd]) => match point(positive_argument(sd, "the known sd")?) {
            Some(sd) => (Link::Normal { sd }, t, numbers.unwrap_or(Range::ALL)),
            None => return not_mine("the sd must be a constant"),
        },
        _ => return not_mine("rows must follow a generalised linear model"),
    };
    Ok(Outcome { link, predictor, range })
}

/// Upper bound on the slope anywhere on the line; infinite where there is none (rule book §4.2).
pub(super) fn slope(link: Link) -> f64 {
    match link {
        Link::Logit { trials } => trials as f64,
        // |p - e_y| <= sqrt(2), the diameter of the simplex.
        Link::Softmax { .. } => sqrt_up(2.0),
        _ => f64::INFINITY,
    }
}

/// How far the slope at one predictor, in `t`, moves when the label alone is replaced: the loss is A(t) - y t for canonical links,
/// so it is the width of y. Infinite where no bound is proved.
pub(super) fn label_slope(link: Link, range: Range, t: Interval) -> f64 {
    match link {
        Link::Logit { .. } | Link::PoissonLog => range.width(),
        Link::Softmax { .. } => sqrt_up(2.0),
        // Outcomes are stored in 32 bits, toward zero: each moves by less than 2^-23 of its magnitude, or 2^-149 of the smallest.
        Link::Normal { sd } => {
            let stored = add_up(mul_up(range.magnitude(), f64::from(f32::EPSILON)), LEAST);
            div_up(add_up(range.width(), stored), mul_down(sd, sd))
        }
        _ if t.magnitude().is_nan() || t.magnitude() > MOST_PREDICTOR => f64::INFINITY,
        // The slopes are h(t) and -h(-t), with h convex: their distance is largest where |t| is.
        Link::Probit => add_up(hazard(t.magnitude()).hi, hazard(-t.magnitude()).hi),
        // With u = exp(t), u and -u / (e^u - 1): u / (1 - e^-u), which rises.
        Link::Cloglog => {
            let u = Interval::point(t.hi).exp();
            (u / -(-u).exp_m1()).hi
        }
    }
}

/// Lower bound on the second derivative where the predictor is in `t`, whatever the label; 0 where none is proved (§4.4).
pub(super) fn least_curvature(link: Link, t: Interval) -> f64 {
    if t.magnitude().is_nan() || t.magnitude() > MOST_PREDICTOR {
        return 0.0;
    }
    let far = Interval::point(t.magnitude());
    let least = match link {
        Link::Logit { trials } => {
            let tail = (-far).exp();
            Interval::point(trials as f64) * tail / (Interval::ONE + tail).square()
        }
        // One predictor may move with all others, which changes no loss.
        Link::Softmax { .. } => return 0.0,
        // h (h + t) at t for -log Phi(t), falling (Sampford 1953), and the same at -t for the other label.
        Link::Probit => {
            let h = hazard(-t.magnitude());
            h * (h + far)
        }
        Link::Cloglog => {
            let ends = [t.lo, t.hi].map(|t| complementary(Interval::point(t).exp()).lo);
            return ends[0].min(ends[1]).min(Interval::point(t.lo).exp().lo).max(0.0);
        }
        Link::PoissonLog => Interval::point(t.lo).exp(),
        Link::Normal { sd } => Interval::ONE / Interval::point(sd).square(),
    };
    least.lo.max(0.0)
}

/// The second derivative of `-log(1 - exp(-u))`, u = exp(t): q s with q = u / (e^u - 1), s = u + q - 1. It rises and then falls,
/// so it is least at an end: its derivative in u is `q / u (u - s (s + q))`, where `s / u` and `s + q` rise since q is convex
/// and falls by at most 1/2 (rule book §4.4). As `q >= 1 - u / 2`, s is at least u / 2, which does not cancel.
fn complementary(u: Interval) -> Interval {
    let q = u / u.exp_m1();
    let s = u + (q - Interval::ONE);
    q * Interval::new(s.lo.max(u.lo / 2.0), s.hi)
}

/// `phi(t) / Phi(-t)`, which rises.
fn hazard(t: f64) -> Interval {
    let t = Interval::point(t);
    // The double nearest pi is below pi.
    let circle = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
    let density = (-(t.square() * Interval::point(0.5))).exp() / circle.sqrt();
    (density.ln() - (-t).ln_normal_cdf()).exp()
}

/// How far the gradient of a logistic loss with one weight and one feature in [-c, c] moves, over c: less than 2.
///
/// Without an offset: with `t = w c`, gradients fill the range of `a sigma(a t)`, `|a| <= 1`: a row of outcome 1 and feature a has that of
/// outcome 0 and feature -a. Its largest value is `sigma(t)` and its least `-max(u sigma(-u), u <= t) / t`, so the width is
/// `sigma(t) + sigma(-t) = 1` up to the peak of `u sigma(-u)`, 0.27847 at 1.2785, and `sigma(t) + 0.27847 / t` beyond,
/// which is at most 1.0517 (proved cell by cell in the tests of this file; rule book §4.2 finds 1.05163).
pub(super) const ONE_WEIGHT: f64 = 1.0517;

/// Upper bound on the second derivative (for softmax, its largest eigenvalue) where `|t| <= most`.
pub(super) fn curvature(link: Link, most: f64) -> f64 {
    match link {
        Link::Logit { trials } => trials as f64 / 4.0,
        Link::Softmax { .. } => 0.5,
        // h(t) (h(t) - t) for -log Phi(-t) rises from 0 to 1 (Sampford 1953).
        Link::Probit => 1.0,
        Link::Normal { sd } => div_up(1.0, mul_down(sd, sd)),
        Link::PoissonLog => exp_up(most),
        // y = 0: exp(t). y = 1: the loss is -log(1 - exp(-u)) with u = exp(t); its second derivative in t is
        // q (u + q - 1) with q = u / (e^u - 1) <= 1, at most u q = u^2 / (e^u - 1) <= 1.
        Link::Cloglog => exp_up(most).max(1.0),
    }
}

/// Upper bound on the slope where `|t| <= most` (rule book §4.3); infinite beyond every useful scale.
pub(super) fn slope_within(link: Link, range: Range, most: f64) -> f64 {
    if most.is_nan() || most > MOST_PREDICTOR {
        return slope(link);
    }
    match link {
        Link::Logit { trials } => {
            // trials * sigma(most)
            let t = Interval::point(most);
            let sigma = Interval::ONE / (Interval::ONE + (-t).exp());
            mul_up(trials as f64, sigma.hi)
        }
        Link::Softmax { .. } => slope(link),
        Link::Probit => hazard(most).hi,
        Link::Cloglog => exp_up(most).max(1.0),
        Link::PoissonLog => exp_up(most).max(range.hi),
        Link::Normal { sd } => div_up(add_up(range.magnitude(), most), mul_down(sd, sd)),
    }
}

fn exp_up(t: f64) -> f64 {
    Interval::point(t).exp().hi
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_one_weight_is_bounded() {
        let point = Interval::point;
        let sigma = |t: Interval| Interval::ONE / (Interval::ONE + (-t).exp());
        // Upper bound of u sigma(-u): cell by cell, the larger u and the larger sigma(-u).
        let cells = |lo: f64, hi: f64, n: u32| {
            (0..n).map(move |i| {
                let at = |i: u32| lo + (hi - lo) * f64::from(i) / f64::from(n);
                (at(i), at(i + 1))
            })
        };
        let peak = cells(0.0, 40.0, 400_000).map(|(a, b)| (point(b) * sigma(-point(a))).hi).fold(0.0, f64::max);
        assert!(peak < 0.2786 && 40.0 * sigma(point(-40.0)).hi < 0.2, "{peak}");
        // Below 1.25 the peak is not reached and the width is 1; the bound holds there all the more.
        let most = cells(1.25, 60.0, 400_000).map(|(a, b)| (sigma(point(b)) + point(peak) / point(a)).hi).fold(0.0, f64::max);
        assert!(most < ONE_WEIGHT && 1.0 + peak / 60.0 < ONE_WEIGHT, "{most}");
        let rising = cells(0.0, 1.25, 1000).all(|(a, b)| (point(a) * sigma(-point(a))).hi < (point(b) * sigma(-point(b))).lo);
        assert!(rising);
    }

    /// Slopes and curvatures against differences of the losses themselves, in plain doubles.
    #[test]
    fn slopes_and_curvatures_bound_the_losses() {
        let phi = |t: f64| crate::numeric::special::normal_cdf(t);
        type Loss = Box<dyn Fn(f64, f64) -> f64>;
        let losses: [(Link, Loss); 5] = [
            (Link::Logit { trials: 3 }, Box::new(|t, y| 3.0 * t.exp().ln_1p() - y * t)),
            (Link::Probit, Box::new(move |t, y| if y > 1.0 { -phi(t).ln() } else { -phi(-t).ln() })),
            (Link::Cloglog, Box::new(|t, y| if y > 1.0 { -(-(-t.exp()).exp_m1()).ln() } else { t.exp() })),
            (Link::PoissonLog, Box::new(|t, y| t.exp() - y * t)),
            (Link::Normal { sd: 0.5 }, Box::new(|t, y| (t - y).powi(2) / 0.5)),
        ];
        for (link, loss) in &losses {
            let range = Range::new(0.0, 3.0);
            for most in [0.3, 1.0, 2.5] {
                let (slope, curve) = (slope_within(*link, range, most), curvature(*link, most));
                let (mut steepest, h): (f64, f64) = (0.0, 1e-4);
                for i in 0..=400 {
                    let t = most * (f64::from(i) / 200.0 - 1.0);
                    for y in [0.0, 1.0, 3.0] {
                        let (a, b, c) = (loss(t - h, y), loss(t, y), loss(t + h, y));
                        steepest = steepest.max(((c - a) / (2.0 * h)).abs());
                        assert!((a - 2.0 * b + c) / (h * h) <= curve + 1e-5, "{link:?} {t} {y}");
                    }
                }
                assert!(steepest <= slope * (1.0 + 1e-6) && steepest > 0.7 * slope, "{link:?} {most}: {steepest} {slope}");
            }
        }
    }
}
