//! Gamma posteriors whose rate is summed from rows, and the bound for a shape and a rate that move together.
//!
//! With P = Gamma(A, B) and Q = Gamma(A, B + s) the tent integral gives `D = A f(B)`. Two facts about f, with l the
//! order: `f` falls, and so does `B f(B)`. The second: scale s to 1; then `f(z) = int_z^inf l / (y (y+1) (y-c)) dy`,
//! c = l - 1, and `(z f)' = f - l / ((z+1)(z-c))`; writing the subtrahend as the integral from z of
//! `l (2y + 1 - c) / ((y+1)^2 (y-c)^2)`, the integrands compare because `(y+1)(y-c) <= y (2y + 1 - c)`.

use super::expected;
use super::facts::{Facts, Limit, point, tidy};
use crate::mechanism::plan::{PosteriorLaw, Statistic};
use crate::model::{Range, Relation};
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up};
use crate::privacy::{Claim, Family, Pair, Shift};
use crate::rules::count::{count_down, count_up};
use crate::rules::tempered::{LimitReason, Matched, Tempering};
use crate::rules::text::four_up_together;
use crate::rules::{Premise, Rule};
use crate::source::Span;

/// One unit joins or leaves a Gamma posterior: P = (A, B), Q = (A + x, B + y) with `0 <= x <= dshape`,
/// `0 <= y <= drate`, or the reverse, over all data sets with `A >= shape`, `B >= rate`, `A <= ratio B`, where the
/// joining rows keep that ratio too.
///
/// `g'' = x^2 psi1(A(t)) - 2 x y / B(t) + y^2 A(t) / B(t)^2`, and the cross term only lowers it. The first term is that
/// of a moving shape, at most `Gamma(shape)` against `Gamma(shape + dshape)`. For the second, with P smaller:
/// `A(t) <= ratio B(t)` up to t = 1, so it is at most `ratio y^2 / B(t) <= ratio (rate + drate) y^2 / b(t)^2`, b the
/// line from `rate`; beyond, `A(t) <= A <= ratio B`, and `B / (B - y (t-1))^2` falls with B. Together: the rate pair
/// of shape `ratio (rate + drate)` at `rate`. With P larger the ratio holds on the whole line, the term is at most
/// `ratio y^2 / (rate + y t)`, and mirrored about t = 1/2 that lies below.
pub(super) fn both_move(shape: f64, rate: f64, ratio: f64, dshape: f64, drate: f64) -> Claim {
    Claim::Product(vec![
        Claim::Renyi(vec![Pair::Shapes { family: Family::Gamma, coordinates: vec![(shape, dshape)], total: None }]),
        Claim::Renyi(vec![Pair::Rate { shape: mul_up(ratio, add_up(rate, drate)), rate, step: drate }]),
    ])
}

/// A draw from `Gamma(a + r n per_row, b + r S scale)`: exponential rows, or squared deviations.
pub(in crate::rules) struct RateDraw {
    pub facts: Facts,
    pub a: Range,
    pub b: Range,
    pub per_row: f64,
    pub scale: f64,
    /// Range of one row's share of the rate: `scale` times its statistic.
    pub share: Range,
    pub statistic: Statistic,
}

impl RateDraw {
    /// Largest shape and least rate of the prior with public rows.
    fn prior(&self, m: f64) -> (f64, f64) {
        let rows = mul_up(self.per_row, count_up(self.facts.public.rows));
        let sum = mul_down(self.scale, self.facts.public.sum().max(0.0));
        (div_up(add_up(self.a.hi, rows), m), div_down(add_down(self.b.lo, sum), m))
    }

    /// Least shape of the prior with public rows.
    fn least_shape(&self, m: f64) -> f64 {
        let public = mul_down(self.per_row, count_down(self.facts.public.rows));
        div_down(add_down(self.a.lo, public), m)
    }

    /// Least shape and least rate of the prior with public rows.
    pub fn least(&self) -> (f64, f64) {
        (self.least_shape(1.0), self.prior(1.0).1)
    }

    /// Largest shape and least rate with `n` private rows.
    fn with_rows(&self, t: Tempering, n: u64) -> (f64, f64) {
        let (a, b) = self.prior(t.concentration);
        let shape = mul_up(t.weight, mul_up(self.per_row, count_up(n)));
        let rate = mul_down(t.weight, mul_down(count_down(n), self.share.lo));
        (add_up(a, shape), add_down(b, rate))
    }

    fn step(&self, r: f64) -> f64 {
        self.facts.unit_step(r, self.share.width())
    }

    /// Can a bound hold for every number of rows? Only if every row adds something to the rate.
    pub fn bounded_in_rows(&self) -> bool {
        self.share.lo > 0.0
    }

    fn least_rows(&self) -> u64 {
        self.facts.exact_rows().unwrap_or(self.facts.records.rows.at_least).max(1)
    }
}

impl Matched for RateDraw {
    fn rule(&self) -> &'static Rule {
        self.facts.rule
    }

    fn claim(&self, t: Tempering) -> Claim {
        if self.facts.records.relation == Relation::AddRemove {
            // Not matched unless the share is bounded away from 0; the empty bound would be no bound at all.
            return self.claim_add_remove(t).unwrap_or(Claim::Gdp { mu: f64::INFINITY });
        }
        let (mut shape, rate) = self.with_rows(t, self.least_rows());
        let step = self.step(t.weight);
        if self.facts.exact_rows().is_none() {
            // A(n) <= ratio B(n) with the larger of the first ratio and per_row / lo, and B f(B) falls.
            let slope = div_up(self.per_row, self.share.lo);
            shape = shape.max(mul_up(slope, rate));
            return Claim::Renyi(vec![Pair::Rate { shape, rate, step }]);
        }
        Claim::Exact(Shift::Rate { shape, rate, step })
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let (a, b) = (point(self.a)?, point(self.b)?);
        let public = &self.facts.public;
        let law = PosteriorLaw::GammaRate {
            shape: (a + self.per_row * count_down(public.rows)) / t.concentration,
            rate: (b + self.scale * public.sum()) / t.concentration,
            per_row: self.per_row,
            scale: self.scale,
        };
        public.known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let (a, b) = self.prior(1.0);
        expected::gamma_rate(a, b, self.per_row * rows, t.weight, t.concentration).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let (a, b) = self.prior(concentration);
        format!("gamma({})", four_up_together(&[a, b]).join(", "))
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, order: f64, t: Tempering) -> Option<LimitReason> {
        let limit = |kind, base, step| Limit { family: "gamma", kind, shown: tidy(base), base, step };
        let step = |extent| self.facts.unit_step(t.weight, extent);
        let first = match self.facts.records.relation {
            Relation::ReplaceOne => {
                let (_, rate) = self.with_rows(t, self.least_rows());
                limit("rate", rate, self.step(t.weight))
            }
            Relation::AddRemove => {
                let (_, rate) = self.prior(t.concentration);
                limit("rate", rate, step(self.share.hi)).or(limit("shape", self.least_shape(t.concentration), step(self.per_row)))
            }
        };
        Some(self.facts.limit_reason(first, order))
    }

    fn claim_add_remove(&self, t: Tempering) -> Option<Claim> {
        if !self.bounded_in_rows() {
            return None;
        }
        let (high, rate) = self.prior(t.concentration);
        let shape = self.least_shape(t.concentration);
        let ratio = div_up(high, rate).max(div_up(self.per_row, self.share.lo));
        Some(both_move(shape, rate, ratio, self.facts.unit_step(t.weight, self.per_row), self.facts.unit_step(t.weight, self.share.hi)))
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::gamma;

    #[test]
    fn b_f_of_b_falls() {
        for l in [1.01, 1.5, 3.0, 40.0] {
            let mut last = f64::INFINITY;
            for i in 1..400 {
                let b = (l - 1.0) * 1.02f64.powi(i) + 1e-9;
                let d = gamma(l, [b, b], [b, b + 1.0]);
                assert!(d <= last * (1.0 + 1e-7), "{l} {b}: {d} > {last}");
                last = d;
            }
        }
    }
}
