//! Laws of an outcome given a linear predictor z: loss, its derivative, and bounds on both.

use super::KernelError;
use crate::numeric::Interval;
use crate::numeric::fast::{LANES, Lanes, exp, ln, map};
use crate::numeric::round::{add_up, div_up, mul_up};

/// Losses are negative log-likelihoods, convex and smooth in z, but for the last; only the first three and the last have a
/// bounded derivative on the whole line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Family {
    /// y in {0, 1}, P(1) = 1 / (1 + exp(-z)).
    Logistic,
    /// y successes of `trials`, logit link.
    Binomial { trials: u32 },
    /// y a class below `classes`, one predictor a class.
    Softmax { classes: u32 },
    /// y in {0, 1}, P(1) = Phi(z).
    Probit,
    /// y in {0, 1}, P(1) = 1 - exp(-exp(z)).
    Cloglog,
    /// y a count of at most `most`, mean exp(z).
    Poisson { most: u32 },
    /// y of at most `bound` in size, mean z.
    Gaussian { variance: f64, bound: f64 },
    /// The beta-divergence of `Logistic` with b = `beta` > 1 (rule book §5); bounded, not convex.
    BetaLogistic { beta: f64 },
}

/// Counts and classes are stored as 32-bit floating numbers, exactly.
const MOST_COUNT: u32 = 1 << 24;
/// Keeps the interval functions within their range.
const FARTHEST: f64 = 700.0;

impl Family {
    pub(super) fn check(self) -> Result<(), KernelError> {
        let good = match self {
            Family::Logistic | Family::Probit | Family::Cloglog => true,
            Family::Binomial { trials: most } | Family::Poisson { most } => most <= MOST_COUNT,
            Family::Softmax { classes } => (2..=1 << 16).contains(&classes),
            Family::Gaussian { variance, bound } => variance > 0.0 && variance.is_finite() && (0.0..=1e30).contains(&bound),
            Family::BetaLogistic { beta } => beta > 1.0 && beta.is_finite(),
        };
        if good { Ok(()) } else { Err(KernelError::Family) }
    }

    /// Linear predictors of a row.
    pub fn predictors(self) -> usize {
        if let Family::Softmax { classes } = self { classes as usize } else { 1 }
    }

    /// The outcome inside its domain; every double has one.
    pub(super) fn outcome(self, y: f64) -> f64 {
        let (lo, hi) = match self {
            Family::Logistic | Family::Probit | Family::Cloglog | Family::BetaLogistic { .. } => (0.0, 1.0),
            Family::Binomial { trials: most } | Family::Poisson { most } => (0.0, f64::from(most)),
            Family::Softmax { classes } => (0.0, f64::from(classes.saturating_sub(1))),
            Family::Gaussian { bound, .. } => (-bound, bound),
        };
        let y = if y.is_nan() { 0.0 } else { y.clamp(lo, hi) };
        if matches!(self, Family::Gaussian { .. }) { y } else { y.round() }
    }

    /// At least `|d loss / dz|` for every outcome and every |z| <= `reach` (rule book §4.2, §4.3); infinite where there is
    /// no bound. For softmax, the norm of the gradient in all predictors.
    pub fn score_bound(self, reach: f64) -> f64 {
        if reach.is_nan() || reach < 0.0 {
            return f64::INFINITY;
        }
        match self {
            Family::Logistic => sigmoid_up(reach),
            Family::Binomial { trials } => mul_up(f64::from(trials), sigmoid_up(reach)),
            Family::Softmax { .. } => Interval::point(2.0).sqrt().hi,
            Family::Probit => hazard_up(reach),
            Family::Cloglog => exp_up(reach).max(1.0),
            Family::Poisson { most } => exp_up(reach).max(f64::from(most)),
            Family::Gaussian { variance, bound } => div_up(add_up(reach, bound), variance),
            // p^a q^2 + p q^b is at most q^2 + p q = q.
            Family::BetaLogistic { .. } => 1.0,
        }
    }

    /// At least the second derivative of the loss in z for |z| <= `reach`; for softmax, of the largest eigenvalue.
    pub fn curvature_bound(self, reach: f64) -> f64 {
        if reach.is_nan() || reach < 0.0 {
            return f64::INFINITY;
        }
        match self {
            Family::Logistic => 0.25,
            Family::Binomial { trials } => f64::from(trials) / 4.0,
            Family::Softmax { .. } => 0.5,
            // h' = h (h - t) lies in (0, 1) for the hazard h of the normal law (Sampford 1953).
            Family::Probit => 1.0,
            // y = 0: exp(z). y = 1, u = exp(z): u (u e^u - e^u + 1) / (e^u - 1)^2, at most u/2 and at most 0.42.
            Family::Cloglog => exp_up(reach).max(0.5),
            Family::Poisson { .. } => exp_up(reach),
            Family::Gaussian { variance, .. } => div_up(1.0, variance),
            // |a p^a q^3 - 2 p^b q^2 + p q^(b + 1) - b p^2 q^b|, term by term.
            Family::BetaLogistic { beta } => add_up(add_up(beta, beta), 2.0),
        }
    }

    /// Eight rows; not for softmax, whose predictors go together.
    #[inline(always)]
    pub(super) fn terms(self, z: Lanes, y: Lanes) -> Terms {
        match self {
            Family::Logistic => logistic(1.0, z, y),
            Family::Binomial { trials } => logistic(f64::from(trials), z, y),
            Family::Poisson { .. } => {
                let mean = map(z, exp);
                let linear = each(z, y, |z, y| z * y);
                Terms::new(each(mean, y, |m, y| m - y), each(mean, linear, |m, l| m - l))
            }
            Family::Gaussian { variance, .. } => {
                let gap = each(z, y, |z, y| z - y);
                Terms::new(map(gap, |g| g / variance), map(gap, |g| g * g / (2.0 * variance)))
            }
            Family::Probit => scalar(z, y, probit),
            Family::Cloglog => scalar(z, y, cloglog),
            Family::Softmax { .. } => Terms::new(z, y),
            Family::BetaLogistic { beta } => beta_logistic(beta, z, y),
        }
    }

    /// What the logarithm of `Terms::factor` counts in a loss.
    pub(super) fn log_weight(self) -> f64 {
        if let Family::Binomial { trials } = self { f64::from(trials) } else { 1.0 }
    }
}

/// Derivatives of eight losses, and the losses themselves as `loss + log_weight ln(factor)`: factors lie between 1 and 2,
/// so that many may be multiplied before one logarithm is taken.
pub(super) struct Terms {
    pub score: Lanes,
    pub loss: Lanes,
    pub factor: Lanes,
}

impl Terms {
    #[inline(always)]
    fn new(score: Lanes, loss: Lanes) -> Terms {
        Terms { score, loss, factor: [1.0; LANES] }
    }
}

#[inline(always)]
fn each(a: Lanes, b: Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
    let mut c = a;
    for (c, b) in c.iter_mut().zip(b) {
        *c = f(*c, b);
    }
    c
}

fn scalar(z: Lanes, y: Lanes, f: impl Fn(f64, f64) -> (f64, f64)) -> Terms {
    let (mut score, mut loss) = (z, z);
    for (((score, loss), z), y) in score.iter_mut().zip(&mut loss).zip(z).zip(y) {
        (*score, *loss) = f(z, y);
    }
    Terms::new(score, loss)
}

/// `N sigmoid(z) - y`; the loss is `N ln(1 + exp(z)) - y z`, without the binomial coefficient.
#[inline(always)]
fn logistic(trials: f64, z: Lanes, y: Lanes) -> Terms {
    // exp(-|z|) never overflows; sigmoid(z) is 1 or it, over their sum.
    let tail = map(z, |z| exp(-z.abs()));
    let share = each(tail, z, |e, z| (if z >= 0.0 { 1.0 } else { e }) / (1.0 + e));
    let loss = each(z, y, |z, y| trials * z.max(0.0) - y * z);
    Terms { score: each(share, y, |s, y| trials * s - y), loss, factor: map(tail, |e| 1.0 + e) }
}

/// `-p^a / a + (p^b + q^b) / b` for the probability p of what was seen, inside its range whatever rounding does.
#[inline(always)]
fn beta_logistic(b: f64, z: Lanes, y: Lanes) -> Terms {
    let a = b - 1.0;
    // The ends of the certified interval, moved inwards past every rounding.
    let (lo, hi) = ((1.0 / b - 1.0 / a) + 1e-12 / a, 1.0 / b - 1e-12 / a);
    let s = each(z, y, |z, y| if y > 0.5 { z } else { -z });
    let tail = map(s, |s| exp(-s.abs()));
    let log = map(tail, |e| ln(1.0 + e));
    let p = each(s, tail, |s, e| (if s >= 0.0 { 1.0 } else { e }) / (1.0 + e));
    let q = each(s, tail, |s, e| (if s >= 0.0 { e } else { 1.0 }) / (1.0 + e));
    let p_a = each(s, log, |s, log| exp(a * (if s < 0.0 { s - log } else { -log })));
    let q_a = each(s, log, |s, log| exp(a * (if s > 0.0 { -s - log } else { -log })));
    let gain = each(p, p_a, |p, p_a| p_a * (p / b - 1.0 / a));
    let loss = each(gain, each(q, q_a, |q, q_a| q * q_a / b), |gain, rest| (gain + rest).clamp(lo, hi));
    let slope = each(q, each(p_a, q, |p_a, q| p_a * q), |q, x| q * x);
    let slope = each(slope, each(p, each(q, q_a, |q, q_a| q * q_a), |p, x| p * x), |x, y| x + y);
    Terms::new(each(slope, y, |slope, y| if y > 0.5 { -slope } else { slope }), loss)
}

/// The hazard `phi(t) / Phi(-t)` and `-ln Phi(-t)`.
pub(super) fn hazard(t: f64) -> (f64, f64) {
    // ln(sqrt(2 pi))
    const LN_ROOT: f64 = 0.918_938_533_204_672_8;
    if t < 4.0 {
        let tail = 0.5 * libm::erfc(t * std::f64::consts::FRAC_1_SQRT_2);
        let density = libm::exp(-t * t / 2.0 - LN_ROOT);
        return (density / tail, -libm::log(tail));
    }
    // Laplace's continued fraction t + 1/(t + 2/(t + 3/(t + ...))); more terms than these change no digit (tested).
    let terms = 3 + (132.0 / t).ceil() as u32;
    let h = (1..=terms).rev().fold(t, |h, k| t + f64::from(k) / h);
    (h, t * t / 2.0 + LN_ROOT + libm::log(h))
}

fn probit(z: f64, y: f64) -> (f64, f64) {
    if y > 0.5 {
        let (h, loss) = hazard(-z);
        (-h, loss)
    } else {
        hazard(z)
    }
}

fn cloglog(z: f64, y: f64) -> (f64, f64) {
    let u = exp(z);
    if y > 0.5 { (-u / libm::expm1(u).max(f64::MIN_POSITIVE), -libm::log(-libm::expm1(-u))) } else { (u, u) }
}

fn exp_up(x: f64) -> f64 {
    if x <= FARTHEST { Interval::point(x).exp().hi } else { f64::INFINITY }
}

fn sigmoid_up(x: f64) -> f64 {
    if x > FARTHEST {
        return 1.0;
    }
    let one = Interval::point(1.0);
    (one / (one + (-Interval::point(x)).exp())).hi.min(1.0)
}

/// At least the normal hazard, which increases and is at most `t + 1/t`.
fn hazard_up(t: f64) -> f64 {
    let far = add_up(t, div_up(1.0, t));
    if t > 30.0 {
        return far;
    }
    let t = Interval::point(t);
    let two_pi = Interval::new(std::f64::consts::TAU.next_down(), std::f64::consts::TAU.next_up());
    let density = (-(t * t) / Interval::point(2.0)).exp() / two_pi.sqrt();
    (density / (-t).normal_cdf()).hi.min(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const ALL: [Family; 7] = [
        Family::Logistic,
        Family::Binomial { trials: 5 },
        Family::Probit,
        Family::Cloglog,
        Family::Poisson { most: 4 },
        Family::Gaussian { variance: 2.0, bound: 3.0 },
        Family::BetaLogistic { beta: 4.0 / 3.0 },
    ];

    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-9 && a >= b * (1.0 - 1e-16), "{a} {b}");
    }

    /// The continued fraction ends where further terms change the last digit at most.
    #[test]
    fn hazards_far_out_have_all_digits() {
        for i in 0..20_000 {
            let t = 4.0 * 1.0005f64.powi(i);
            let (found, long) = (hazard(t).0, (1..=400).rev().fold(t, |h, k| t + f64::from(k) / h));
            assert!((found / long - 1.0).abs() <= f64::EPSILON, "{t}: {found} {long}");
        }
        assert_eq!(hazard(f64::INFINITY), (f64::INFINITY, f64::INFINITY));
    }

    /// Golden cases glm_ball, quantity lipschitz.
    #[test]
    fn score_bounds_on_a_ball() {
        close(Family::Probit.score_bound(2.0), 2.373215532822841);
        close(Family::Cloglog.score_bound(1.0), std::f64::consts::E);
        close(Family::Poisson { most: 4 }.score_bound(0.5), 4.0);
        close(Family::Logistic.score_bound(1.0), 0.7310585786300049);
        close(Family::Logistic.score_bound(f64::INFINITY), 1.0);
        assert!(Family::Poisson { most: 4 }.score_bound(f64::INFINITY).is_infinite());
        assert!(Family::Probit.score_bound(f64::INFINITY).is_infinite());
    }

    /// On a grid of the whole interval: bounds hold, are nearly reached, and the score is the slope of the loss.
    #[test]
    fn bounds_hold_and_scores_are_slopes() {
        for family in ALL {
            for reach in [0.5, 1.0, 3.0, 6.0] {
                let (score, curvature) = (family.score_bound(reach), family.curvature_bound(reach));
                let (mut top, mut bend) = (0.0f64, 0.0f64);
                for i in 0..=2_000 {
                    let z = reach * (f64::from(i) / 1_000.0 - 1.0);
                    for y in 0..=5 {
                        let y =
                            family.outcome(if matches!(family, Family::Gaussian { .. }) { f64::from(y) * 1.2 - 3.0 } else { f64::from(y) });
                        let at = |z: f64| {
                            let terms = family.terms([z; 8], [y; 8]);
                            (terms.score[3], terms.loss[5] + family.log_weight() * terms.factor[2].ln())
                        };
                        let h = 1e-5;
                        let (s, _) = at(z);
                        assert!(s.abs() <= score * (1.0 + 1e-15), "{family:?} {z} {y} {s}");
                        let slope = (at(z + h).1 - at(z - h).1) / (2.0 * h);
                        assert!((slope - s).abs() <= 1e-8 * (1.0 + s.abs() + at(z).1.abs()), "{family:?} {z} {y}: {slope} {s}");
                        top = top.max(s.abs());
                        bend = bend.max((at(z + h).0 - at(z - h).0) / (2.0 * h));
                    }
                }
                // The book's bound for counts, max(e^cR, K), leaves out that the mean is positive.
                let tight = match family {
                    Family::Poisson { .. } => 0.8,
                    Family::BetaLogistic { .. } => 0.3,
                    _ => 0.97,
                };
                assert!(top >= tight * score, "{family:?} {reach}: {top} {score}");
                assert!(bend <= curvature * (1.0 + 1e-8), "{family:?} {reach}: {bend} {curvature}");
            }
        }
    }

    #[test]
    fn far_predictors_stay_finite() {
        for family in ALL {
            for z in [-1e9, -700.0, -40.0, 40.0, 700.0, 1e9] {
                for y in [0.0, 1.0] {
                    let terms = family.terms([z; 8], [y; 8]);
                    assert!(!terms.score[0].is_nan() && !terms.loss[0].is_nan(), "{family:?} {z}");
                    assert!((1.0..=2.0).contains(&terms.factor[0]));
                }
            }
        }
    }
}
