//! Laws of the rows of a regression, and what a row says of its predictor in steps (rule book §20): scores cut to a bound, and information.
//!
//! No claim rests on these formulas, the number of trials aside: whatever they give, what a row adds is held in integers.

pub mod ball;
pub mod counts;

use crate::numeric::logistic::{self, CURVATURE};
use crate::numeric::special::normal_cdf;

/// Scores of probit rows are cut here at most; those beyond have a probability of 1 in 50 at the predictor where that is most.
const PROBIT_SCORE: f64 = 2.0;
/// Predictors of probit rows beyond this count as this: the scores there are cut anyway.
const PROBIT_END: f64 = 8.0;
/// Scores of cloglog rows are cut here at most: those beyond have a probability of 1 in 11 at most.
const CLOGLOG_SCORE: f64 = 2.4;
/// Predictors of cloglog rows beyond these count as these.
const CLOGLOG_ENDS: (f64, f64) = (-40.0, 6.5);
/// Of cloglog rows whose predictors are normal with mean 0 and a variance of 1.2: the slope of the mean outcome, and the variance of outcomes.
const CLOGLOG_FIRST: (f64, f64) = (0.247, 0.159);
/// Of a logistic curve, by simulations from the model.
const FLAT: f64 = 0.6;
/// How much steeper a normal curve rises than a logistic one of its height.
const PROBIT_SLOPE: f64 = 1.65;
/// The sd of the logarithm of a count around its predictor, about: no count of mean 1 or more is further out.
const LOG_COUNT: f64 = 1.0;

/// The law of a row that is released in steps, given its predictor t.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Law {
    /// `normal(t, sd)`
    Normal { sd: f64 },
    /// `binomial_logit(trials, t)`; Bernoulli with one trial.
    Logit { trials: u64 },
    /// `bernoulli_probit(t)`
    Probit,
    /// `bernoulli_cloglog(t)`
    Cloglog,
    /// Of mean `exp(t)`: Poisson where `shape` is infinite, else negative binomial of variance `mean + mean^2 / shape`. `logs` are the ends of
    /// log(y + 1/2), `constant` the place and the value of a feature that is the same in all rows.
    Counts { shape: f64, logs: (f64, f64), constant: Option<(usize, f64)> },
    /// `categorical_logit` with one predictor a class.
    Classes { classes: u64 },
}

impl Law {
    /// The trials of a row.
    pub fn trials(self) -> f64 {
        if let Law::Logit { trials } = self { trials as f64 } else { 1.0 }
    }

    /// How many predictors a row has.
    pub fn predictors(self) -> usize {
        if let Law::Classes { classes } = self { classes as usize } else { 1 }
    }

    /// What is taken from outcomes as they are read: about their mean where predictors are spread around 0, and a sum of few powers of 2.
    pub fn centre(self) -> f64 {
        if self == Law::Cloglog { 0.625 } else { 0.5 * self.trials() }
    }

    /// The outcomes at both ends, as they are read, where those of all rows are the same.
    pub fn ends(self) -> Option<[f64; 2]> {
        matches!(self, Law::Logit { .. } | Law::Probit | Law::Cloglog).then_some([-self.centre(), self.trials() - self.centre()])
    }

    /// Of the outcomes that are summed first: the slope of their mean in the predictor, and their variance, over the whole curve.
    pub fn first(self) -> (f64, f64) {
        let variance = CURVATURE * self.trials();
        match self {
            Law::Normal { sd } => (1.0, sd * sd),
            Law::Counts { .. } => (1.0, LOG_COUNT * LOG_COUNT),
            Law::Probit => (PROBIT_SLOPE * variance, variance),
            Law::Cloglog => CLOGLOG_FIRST,
            Law::Logit { .. } => (variance, variance),
            // Of K times the indicator of a class, less 1, in differences of predictors: K times as large as those of scores.
            Law::Classes { classes } => (CURVATURE / 0.25, classes as f64 * CURVATURE / 0.25),
        }
    }

    /// The largest information of a row, and the largest score that is kept.
    pub fn most(self) -> (f64, f64) {
        match self {
            // 2 / pi, at 0.
            Law::Probit => (0.637, PROBIT_SCORE),
            // Where exp(t) = 1.594.
            Law::Cloglog => (0.648, CLOGLOG_SCORE),
            Law::Normal { .. } => (1.0, f64::INFINITY),
            Law::Logit { .. } => (0.25 * self.trials(), self.trials()),
            Law::Counts { shape, .. } => (shape, f64::INFINITY),
            // Information of two classes is at most 1/2; of more a row lies in many directions, each of which is so much shorter, about. Larger ones are
            // cut. No score is longer than sqrt(2).
            Law::Classes { classes } => {
                let others = classes.max(2) as f64 - 1.0;
                (0.5 * (1.3 / others).min(1.0), std::f64::consts::SQRT_2)
            }
        }
    }

    /// Beside so many sds a score is kept that is larger by this: one event alone where they are rare.
    pub fn beyond(self) -> f64 {
        if let Law::Counts { .. } = self { 1.0 } else { 0.0 }
    }

    /// How much flatter the mean score gets where the predictor is spread out: over a normal law of variance v its slope falls about by the root of
    /// 1 + this times v.
    pub fn flattening(self) -> f64 {
        match self {
            Law::Probit | Law::Logit { .. } | Law::Cloglog => {
                let (slope, variance) = self.first();
                FLAT * (slope / variance).powi(2)
            }
            // Rows of classes are added with it.
            Law::Normal { .. } | Law::Counts { .. } | Law::Classes { .. } => 0.0,
        }
    }

    /// By what part of themselves the sums that leave first count as off that are taken for scores of a quadratic, and how many times the variance of the
    /// noise on their products counts, which makes features that move together look apart: so large that intervals of simulations from the model hold the
    /// truth, with features of real tables, too. Of counts `None`: what leaves first are their logarithms.
    pub fn first_is_off(self) -> Option<(f64, f64)> {
        match self {
            Law::Normal { .. } => Some((0.0, 10.0)),
            Law::Logit { .. } => Some((0.8, 1.0)),
            Law::Probit | Law::Cloglog => Some((2.0, 1.0)),
            Law::Counts { .. } | Law::Classes { .. } => None,
        }
    }

    /// By what the slope of the mean outcome that is summed first is off where predictors have this mean square: their mean slope over a normal law. Not
    /// above 1.5, where they are near 0.
    pub fn flatter(self, square: f64) -> f64 {
        let at = match self {
            Law::Normal { .. } | Law::Counts { .. } | Law::Classes { .. } => return 1.0,
            Law::Logit { .. } => 0.25 / logistic::flatter(square).sqrt() / CURVATURE,
            Law::Probit => 1.0 / (std::f64::consts::TAU * (1.0 + square)).sqrt() / (PROBIT_SLOPE * CURVATURE),
            Law::Cloglog => 1.0 / (std::f64::consts::E * (1.0 + 0.9 * square).sqrt()) / CLOGLOG_FIRST.0,
        };
        at.min(1.5)
    }

    /// How fast information changes with the predictor, in parts of the largest, on average over rows: seen in simulations from the model.
    pub fn bend(self) -> f64 {
        match self {
            Law::Probit | Law::Cloglog => 0.6,
            Law::Logit { .. } => 0.2,
            Law::Classes { .. } => 1.0,
            Law::Normal { .. } => 0.0,
            Law::Counts { .. } => 0.3,
        }
    }

    /// The slope of a row's mean score in its own predictor, cut to `most`; of normal rows in units of their variance. Where no score is cut that is the
    /// variance of the score.
    pub fn information(self, t: f64, most: f64) -> f64 {
        match self {
            Law::Normal { .. } | Law::Classes { .. } => 1.0,
            Law::Probit | Law::Cloglog => {
                let ((one, zero, p), (_, farthest)) = (self.binary(t), self.most());
                one * p * (one.min(farthest) - zero.max(-farthest))
            }
            Law::Logit { .. } => {
                let p = 1.0 / (1.0 + (-t).exp());
                self.trials() * p * (1.0 - p)
            }
            Law::Counts { shape, .. } => counts::information(shape, t),
        }
        .min(most)
    }

    /// The slope of the logarithm of the likelihood of an outcome, as it was read, in the predictor, cut to `[-clip, clip]`; of normal rows the
    /// residual, of counts whose information is above `most` less by as much. Cut scores of probit and cloglog rows and of counts are moved so that their
    /// mean at the predictor stays 0. `added` is what the predictor has beside `dot(w, x)`.
    pub fn score(self, (t, added): (f64, f64), y: f64, (clip, most): (f64, f64)) -> f64 {
        match self {
            Law::Normal { .. } | Law::Classes { .. } => (y - t).clamp(-clip, clip),
            Law::Probit | Law::Cloglog => {
                let (one, zero, p) = self.binary(t);
                let (one, zero) = (one.min(clip), zero.max(-clip));
                ((if y > 0.0 { one } else { zero }) - p * one - (1.0 - p) * zero).clamp(-clip, clip)
            }
            Law::Logit { .. } => {
                let n = self.trials();
                (y + 0.5 * n - n / (1.0 + (-t).exp())).clamp(-clip, clip)
            }
            // Read as the logarithm of a half more, less what is added.
            Law::Counts { shape, .. } => counts::score(shape, t, ((y + added).exp() - 0.5).round(), (clip, most)),
        }
    }

    /// The scores of the outcomes 1 and 0 of a probit or cloglog row, and the chance of 1.
    fn binary(self, t: f64) -> (f64, f64, f64) {
        if self == Law::Cloglog {
            let rate = t.clamp(CLOGLOG_ENDS.0, CLOGLOG_ENDS.1).exp();
            return (rate / rate.exp_m1(), -rate, -(-rate).exp_m1());
        }
        let t = t.clamp(-PROBIT_END, PROBIT_END);
        let (density, p) = ((-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt(), normal_cdf(t));
        (density / p, -density / normal_cdf(-t), p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chances of 1 and 0.
    fn chances(law: Law, t: f64) -> [f64; 2] {
        match law {
            Law::Probit => [t, -t].map(normal_cdf),
            Law::Cloglog => [-(-t.exp()).exp_m1(), (-t.exp()).exp()],
            _ => [t, -t].map(|t| 1.0 / (1.0 + (-t).exp())),
        }
    }

    /// The mean of a score is 0, and rises with the row's own predictor by the information, which is the variance where nothing is cut; both stay inside
    /// their bounds.
    #[test]
    fn scores_and_information_belong_together() {
        for law in [Law::Logit { trials: 1 }, Law::Probit, Law::Cloglog] {
            let (steepest, farthest) = law.most();
            for i in -60..=60 {
                let t = f64::from(i) / 10.0;
                let [p, q] = chances(law, t);
                let score = |y: f64, clip: f64| law.score((t, 0.0), y, (clip, 1.0));
                let mean = |clip: f64, power: i32| p * score(0.5, clip).powi(power) + q * score(-0.5, clip).powi(power);
                let uncut = score(0.5, 1e9).abs().max(score(-0.5, 1e9).abs()) < farthest;
                assert!(!uncut || (mean(1e9, 2) / law.information(t, 1.0) - 1.0).abs() < 1e-6, "{law:?} {t}");
                let at = |t: f64| chances(law, t).into_iter().zip([0.5, -0.5]).map(|(p, y)| p * score(y, farthest)).sum::<f64>();
                let slope = (at(t + 1e-4) - at(t - 1e-4)) / 2e-4;
                assert!((slope - law.information(t, 1.0)).abs() < 0.02 * slope.abs() + 1e-6, "{law:?} {t} {slope}");
                assert!(mean(1e9, 1).abs() < 1e-9 && mean(farthest, 1).abs() < 0.02, "{law:?} {t} {}", mean(farthest, 1));
                assert!(law.information(t, 1.0) <= steepest);
            }
            for t in [f64::NAN, f64::INFINITY, -1e300] {
                let s = law.score((t, 0.0), 0.5, (0.7, 1.0));
                assert!(s.is_nan() || s.abs() <= 0.7, "{law:?} {t} {s}");
            }
        }
    }

    /// A score is the slope of the logarithm of the likelihood, by differences.
    #[test]
    fn scores_are_slopes() {
        for law in [Law::Logit { trials: 7 }, Law::Probit, Law::Cloglog] {
            for t in [-2.5, -0.3, 0.0, 1.1, 3.0] {
                for y in [0.0, 1.0] {
                    let ln = |t: f64| match law {
                        Law::Logit { .. } => y * t - 7.0 * t.exp().ln_1p(),
                        _ => chances(law, t).map(f64::ln).into_iter().nth(usize::from(y < 0.5)).unwrap_or(f64::NAN),
                    };
                    let slope = (ln(t + 1e-5) - ln(t - 1e-5)) / 2e-5;
                    let found = law.score((t, 0.0), y - law.centre(), (1e9, 1.0));
                    assert!((found - slope).abs() < 1e-6, "{law:?} {t} {y}");
                }
            }
        }
    }
}
