//! The length of the interval that a row's beta-divergence loss lies in (rule book §5.1).

use crate::numeric::Interval;
use crate::numeric::round::{add_up, div_up};

/// What is known of the density of one observed value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RowLoss {
    /// A probability, at most 1.
    Mass,
    /// The outcome is 0 or 1, and both probabilities are at least this.
    Bernoulli { least: f64 },
    /// A density of one shape whose location and scale alone may vary: at most `peak`.
    Scaled { peak: f64 },
    /// The logarithm of a density, without a beta: it moves within an interval of this length. Where the row has a predictor of the
    /// logit link, that is at most `most`.
    Log { most: Option<f64>, width: f64 },
    /// Any density of at most `peak`.
    Bounded { peak: f64 },
}

/// `a = b - 1` of a written beta, to 15 decimal places: 0.2 for 1.2, whose double is a little less than 1.2.
///
/// What runs has `b >= 1 + a` (see [`run_beta`]), so a claim from this a covers it.
pub fn excess(beta: f64) -> f64 {
    format!("{:.15}", beta - 1.0).parse().unwrap_or(0.0)
}

/// The beta that runs: a double of at least `1 + a`.
pub(super) fn run_beta(beta: f64) -> f64 {
    add_up(1.0, excess(beta))
}

impl RowLoss {
    /// The largest value of the density.
    pub fn peak(self) -> f64 {
        match self {
            RowLoss::Mass | RowLoss::Bernoulli { .. } | RowLoss::Log { .. } => 1.0,
            RowLoss::Scaled { peak } | RowLoss::Bounded { peak } => peak,
        }
    }

    /// The range R at this beta, rounded up; infinite unless beta is above 1.
    ///
    /// It falls in beta where the density is at most 1; above, up to `1 + 1 / ln M`. So that the beta that runs, a hair
    /// larger, costs no more, the larger of the two ends is taken there.
    pub fn range(self, beta: f64) -> f64 {
        if let RowLoss::Log { width, .. } = self {
            return width;
        }
        let a = excess(beta);
        if a <= 0.0 || !a.is_finite() {
            return f64::INFINITY;
        }
        let found = if self.peak() <= 1.0 { self.at(a) } else { self.at(a).max(self.at((run_beta(beta) - 1.0).next_up())) };
        if found.is_nan() { f64::INFINITY } else { found }
    }

    fn at(self, a: f64) -> f64 {
        let mass = div_up(1.0, a);
        let exponent = Interval::point(a);
        let power = |m: f64| (exponent * Interval::point(m).ln()).exp();
        match self {
            RowLoss::Log { width, .. } => width,
            RowLoss::Mass => mass,
            RowLoss::Bernoulli { least } => {
                let most = Interval::ONE - Interval::point(least);
                let high = (exponent * most.ln()).exp();
                ((high - power(least)) / exponent).hi.min(mass)
            }
            RowLoss::Scaled { peak } => div_up(power(peak).hi, a),
            RowLoss::Bounded { peak } => {
                let beta = Interval::ONE + exponent;
                (power(peak) * (Interval::ONE / exponent + Interval::ONE / beta)).hi
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_where_the_decimal_is() {
        assert_eq!(RowLoss::Mass.range(1.2), 5.0);
        assert_eq!(RowLoss::Mass.range(1.5), 2.0);
        assert_eq!(RowLoss::Mass.range(3.0), 0.5);
        for beta in [1.2, 1.3334, 1.4516, 1.000_001, 7.3] {
            let run = run_beta(beta);
            assert!(run - 1.0 >= excess(beta) && run <= beta.next_up().next_up(), "{beta}");
        }
        for beta in [1.0, 0.5, -3.0, f64::NAN, f64::INFINITY] {
            assert_eq!(RowLoss::Mass.range(beta), f64::INFINITY);
        }
    }

    /// The numbers of the rule book, found with 30 digits.
    #[test]
    fn known_ranges() {
        let close = |found: f64, exact: f64| assert!(found >= exact * (1.0 - 1e-15) && found <= exact * (1.0 + 1e-12), "{found} {exact}");
        let normal = |sd: f64| 1.0 / (sd * std::f64::consts::TAU.sqrt());
        close(RowLoss::Scaled { peak: normal(0.5) }.range(1.5), 1.786_487_683_476_004_6);
        close(RowLoss::Scaled { peak: normal(0.05) }.range(2.5), 15.025_150_581_222_551);
        close(RowLoss::Bernoulli { least: 0.1 }.range(1.5), 1.264_911_064_067_351_8);
        close(RowLoss::Bernoulli { least: 0.01 }.range(2.0), 0.98);
        close(RowLoss::Bounded { peak: 2.0 }.range(1.5), 3.771_236_166_328_253_4);
        close(RowLoss::Bounded { peak: 0.5 }.range(2.0), 0.75);
        assert_eq!(RowLoss::Scaled { peak: f64::INFINITY }.range(1.5), f64::INFINITY);
    }
}
