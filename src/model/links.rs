//! Links of a regression, and what a row says of its predictor in steps (rule book §20): scores cut to a bound, and information.
//!
//! No claim rests on these formulas, the number of trials aside: whatever they give, what a row adds is held in integers.

use crate::numeric::logistic::CURVATURE;
use crate::numeric::special::normal_cdf;

/// Scores of probit rows are cut here at most; those beyond have a probability of 1 in 50 at the predictor where that is most.
const PROBIT_SCORE: f64 = 2.0;
/// Predictors of probit rows beyond this count as this: the scores there are cut anyway.
const PROBIT_END: f64 = 8.0;
/// Of a logistic curve, by simulations from the model.
const FLAT: f64 = 0.6;
/// How much steeper a normal curve rises than a logistic one of its height.
const PROBIT_SLOPE: f64 = 1.65;

/// The distribution of an outcome given its linear predictor t.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Link {
    /// `binomial_logit(trials, t)`; Bernoulli with one trial.
    Logit {
        trials: u64,
    },
    /// `categorical_logit` with one predictor a level.
    Softmax {
        classes: u64,
    },
    Probit,
    Cloglog,
    /// `poisson_log(t)`
    PoissonLog,
    /// `normal(t, sd)`
    Normal {
        sd: f64,
    },
}

/// The trials of a row.
pub fn trials(link: Link) -> f64 {
    if let Link::Logit { trials } = link { trials as f64 } else { 1.0 }
}

/// Of the outcome less half of the trials: the slope of its mean in the predictor, and its variance, over the whole curve.
pub fn first(link: Link) -> (f64, f64) {
    let variance = CURVATURE * trials(link);
    (if link == Link::Probit { PROBIT_SLOPE * variance } else { variance }, variance)
}

/// The largest information of a row, and the largest score that is kept.
pub fn most(link: Link) -> (f64, f64) {
    match link {
        // 2 / pi, at 0.
        Link::Probit => (0.637, PROBIT_SCORE),
        Link::Normal { .. } => (1.0, f64::INFINITY),
        _ => (0.25 * trials(link), trials(link)),
    }
}

/// How much flatter the mean score gets where the predictor is spread out: over a normal law of variance v its slope falls about by the root of
/// 1 + this times v.
pub fn flattening(link: Link) -> f64 {
    if link == Link::Probit { FLAT * PROBIT_SLOPE * PROBIT_SLOPE } else { FLAT }
}

/// How fast information changes with the predictor, in parts of the largest, on average over rows: seen in simulations from the model.
pub fn bend(link: Link) -> f64 {
    if link == Link::Probit { 0.6 } else { 0.2 }
}

/// The variance of a row's score at this predictor; of normal rows in units of their variance.
pub fn information(link: Link, t: f64) -> f64 {
    match link {
        Link::Normal { .. } => 1.0,
        Link::Probit => {
            let (one, zero) = probit(t);
            -one * zero
        }
        _ => {
            let p = 1.0 / (1.0 + (-t).exp());
            trials(link) * p * (1.0 - p)
        }
    }
}

/// The slope of the logarithm of the likelihood of an outcome (less half of the trials) in the predictor, cut to `[-clip, clip]`; of normal
/// rows the residual. Cut scores of probit rows are moved so that their mean at the predictor stays 0.
pub fn score(link: Link, t: f64, y: f64, clip: f64) -> f64 {
    match link {
        Link::Normal { .. } => (y - t).clamp(-clip, clip),
        Link::Probit => {
            let (one, zero) = probit(t);
            let (one, zero) = (one.min(clip), zero.max(-clip));
            let p = normal_cdf(t.clamp(-PROBIT_END, PROBIT_END));
            ((if y > 0.0 { one } else { zero }) - p * one - (1.0 - p) * zero).clamp(-clip, clip)
        }
        _ => {
            let n = trials(link);
            (y + 0.5 * n - n / (1.0 + (-t).exp())).clamp(-clip, clip)
        }
    }
}

/// The scores of the outcomes 1 and 0 of a probit row.
fn probit(t: f64) -> (f64, f64) {
    let t = t.clamp(-PROBIT_END, PROBIT_END);
    let density = (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    (density / normal_cdf(t), -density / normal_cdf(-t))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of a score is 0, its variance the information where nothing is cut, and both stay inside their bounds.
    #[test]
    fn scores_and_information_belong_together() {
        for link in [Link::Logit { trials: 1 }, Link::Probit] {
            let (steepest, farthest) = most(link);
            for i in -60..=60 {
                let t = f64::from(i) / 10.0;
                let p = if link == Link::Probit { normal_cdf(t) } else { 1.0 / (1.0 + (-t).exp()) };
                let mean =
                    |clip: f64, power: i32| p * score(link, t, 0.5, clip).powi(power) + (1.0 - p) * score(link, t, -0.5, clip).powi(power);
                assert!((mean(1e9, 2) / information(link, t) - 1.0).abs() < 1e-6, "{link:?} {t}");
                assert!(mean(1e9, 1).abs() < 1e-9 && mean(farthest, 1).abs() < 0.02, "{link:?} {t} {}", mean(farthest, 1));
                assert!(information(link, t) <= steepest);
            }
            for t in [f64::NAN, f64::INFINITY, -1e300] {
                let s = score(link, t, 0.5, 0.7);
                assert!(s.is_nan() || s.abs() <= 0.7, "{link:?} {t} {s}");
            }
        }
    }

    /// A score is the slope of the logarithm of the likelihood, by differences.
    #[test]
    fn scores_are_slopes() {
        for link in [Link::Logit { trials: 7 }, Link::Probit] {
            for t in [-2.5, -0.3, 0.0, 1.1, 3.0] {
                for y in [0.0, 1.0] {
                    let ln = |t: f64| match link {
                        Link::Probit => normal_cdf(if y > 0.5 { t } else { -t }).ln(),
                        _ => y * t - 7.0 * t.exp().ln_1p(),
                    };
                    let slope = (ln(t + 1e-5) - ln(t - 1e-5)) / 2e-5;
                    assert!((score(link, t, y - 0.5 * trials(link), 1e9) - slope).abs() < 1e-6, "{link:?} {t} {y}");
                }
            }
        }
    }
}
