//! Beta prior, geometric or negative binomial rows: one draw of a success probability.
//!
//! ## Shape
//! `p ~ beta(a, b)`; each row `~ geometric(p)` or `~ neg_binomial(R, p)` with a public R: failures before the first or
//! the R-th success, in `lo..K`. Public rows strengthen the prior.
//!
//! ## Claim
//! With `B = b / m + r n lo` and step `r k (K - lo)`: `Beta(A, B)` against `Beta(A, B + step)`, `A = a / m + r n R`.
//! It grows with n: where n is not exact, the limit `Gamma(B)` against `Gamma(B + step)`. Finite below order
//! `1 + B / step` (§3.4). (eps, delta) by the exact curves of these pairs (§17). When rows are added or removed
//! both counts move: the sum of one divergence for each, and conversion.
//!
//! ## Refuses
//! Counts without an upper bound; a prior whose counts may vanish; several observed columns.
//!
//! ## Checked by
//! All data sets with n <= 3, K <= 3 in both roles; golden values; added rows against the closed form.

use super::expected;
use super::facts::{Facts, Limit, all_observations, one_private, outcome_range, point, positive_argument, the_parameter, tidy};
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Model, Observation, ParamId, Range, Relation};
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up};
use crate::privacy::{Claim, Family, Pair, Shift};
use crate::rules::count::{count_down, count_up};
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge};
use crate::rules::text::{four_up_together, plain};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "beta_geometric",
    summary: "beta prior, geometric or negative binomial rows: one draw of a probability",
    section: "3.4",
    source: include_str!("beta_geometric.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "beta(a, b)";

/// The successes of one row, if it is `geometric(p)` or `neg_binomial(R, p)`.
fn successes(o: &Observation, p: ParamId) -> Option<f64> {
    match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("geometric", [arg]) if arg.is_param(p) => Some(1.0),
        ("neg_binomial", [r, arg]) if arg.is_param(p) => r.constant().filter(|r| r.is_finite() && *r > 0.0),
        _ => None,
    }
}

struct Failures {
    facts: Facts,
    a: Range,
    b: Range,
    /// Successes of all public rows.
    public_successes: f64,
    per_row: f64,
    range: Range,
    statistic: Statistic,
}

fn find(model: &Model, context: &Context) -> Match<Failures> {
    let parameter = the_parameter(model, "beta", 2, SHAPE)?;
    let id = parameter.id;
    all_observations(model, "geometric(p), or neg_binomial(R, p) with a public R", |o| successes(o, id).is_some())?;
    let observation = one_private(model, &parameter.name)?;
    let [a, b] = parameter.prior.args.as_slice() else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let range = outcome_range(observation, model, context, Range::new(0.0, f64::INFINITY))?;
    let mut facts = Facts::collect(&RULE, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(observation.outcome.span));
    let public_successes = model.public.iter().enumerate().fold(0.0, |total, (i, o)| {
        let rows = context.public.get(i).map_or(0, |t| t.rows);
        total + successes(o, id).unwrap_or(0.0) * count_down(rows)
    });
    Ok(Failures {
        a: positive_argument(a, "a prior count")?,
        b: positive_argument(b, "a prior count")?,
        public_successes,
        per_row: successes(observation, id).unwrap_or(1.0),
        range,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    })
}

impl Failures {
    /// The least B a data set can have, and how far one unit moves it.
    fn moving(&self, t: Tempering) -> (f64, f64) {
        let prior = div_down(add_down(self.b.lo, self.facts.public.sum()), t.concentration);
        let rows = mul_down(t.weight, mul_down(self.facts.sure_rows(), self.range.lo));
        (add_down(prior, rows), self.facts.unit_step(t.weight, self.range.width()))
    }

    /// The only A, where everything in it is known: the cost grows with it, so it is rounded up.
    fn fixed(&self, t: Tempering) -> Option<f64> {
        let n = self.facts.exact_rows().filter(|_| self.facts.public.known)?;
        let prior = div_up(add_up(self.a.hi, self.public_successes), t.concentration);
        let rows = mul_up(t.weight, mul_up(count_up(n), self.per_row));
        Some(add_up(prior, rows)).filter(|a| a.is_finite())
    }
}

impl Matched for Failures {
    fn rule(&self) -> &'static Rule {
        self.facts.rule
    }

    fn claim(&self, t: Tempering) -> Claim {
        if self.facts.records.relation == Relation::AddRemove {
            return self.added(t);
        }
        let (count, step) = self.moving(t);
        match self.fixed(t) {
            Some(kept) => Claim::Exact(Shift::Count { kept, count, step }),
            None => Claim::Exact(Shift::Shape { shape: count, step }),
        }
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let (a, b) = (point(self.a)?, point(self.b)?);
        let law = PosteriorLaw::BetaFailures {
            a: (a + self.public_successes) / t.concentration,
            b: (b + self.facts.public.sum()) / t.concentration,
            successes: self.per_row,
        };
        let known = self.facts.public.known;
        known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let a = self.a.lo + self.public_successes;
        let b = self.b.lo + self.facts.public.sum();
        expected::beta_failures(a, b, rows * self.per_row, t.weight, t.concentration).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let a = (self.a.lo + self.public_successes) / concentration;
        let b = (self.b.lo + self.facts.public.sum()) / concentration;
        format!("beta({})", four_up_together(&[a, b]).join(", "))
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, order: f64, t: Tempering) -> Option<LimitReason> {
        let limit = |(base, step)| Limit { family: "beta", kind: "count", shown: tidy(base), base, step };
        let first = match self.facts.records.relation {
            Relation::ReplaceOne => limit(self.moving(t)),
            Relation::AddRemove => {
                let [a, b] = self.joining(t);
                limit(a).or(limit(b))
            }
        };
        Some(self.facts.limit_reason(first, order))
    }

    fn claim_add_remove(&self, t: Tempering) -> Option<Claim> {
        Some(self.added(t))
    }
}

impl Failures {
    /// P has (A, B), Q adds (r k' R, r y) with k' <= k and y <= k' K, or the reverse. With `g'' = dA^2 psi1(A) +
    /// dB^2 psi1(B) - (dA + dB)^2 psi1(A + B)` the last term only lowers g'', so D is at most the sum of the two
    /// one-count divergences; each falls with its base, grows with its step, and costs most when the smaller
    /// parameter is P (as in `beta_bernoulli`).
    fn added(&self, t: Tempering) -> Claim {
        Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: self.joining(t).to_vec(), total: None }])
    }

    /// The least of both counts without rows, and how far one joining unit moves each.
    fn joining(&self, t: Tempering) -> [(f64, f64); 2] {
        let a = add_down(self.a.lo, self.public_successes.next_down().max(0.0));
        let b = add_down(self.b.lo, self.facts.public.sum());
        [(a, self.per_row), (b, self.range.hi)]
            .map(|(count, extent)| (div_down(count, t.concentration), self.facts.unit_step(t.weight, extent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Build, assert_bounds, assert_tight, beta, diverge, tempered};

    fn build(a: f64, b: f64, lo: f64, hi: f64, per_row: f64) -> Build {
        let b = Build::beta(a, b).outcome_range(lo, hi);
        if per_row == 1.0 { b.observe("geometric", &[]) } else { b.observe("neg_binomial", &[per_row]) }
    }

    #[test]
    fn the_worst_neighbours_of_all_small_data_sets() {
        for (a, b, n, lo, hi, k, per_row, r, m) in
            [(2.0, 3.0, 3u64, 0u64, 3u64, 1u64, 1.0, 1.0, 1.0), (1.0, 2.0, 2, 1, 3, 2, 3.0, 0.4, 0.5)]
        {
            let model = build(a, b, lo as f64, hi as f64, per_row).exactly(n).unit(k);
            let claim = model.matched(&RULE).claim(tempered(r, m));
            for l in [1.1, 1.6, 2.0] {
                let mut worst: f64 = 0.0;
                for s in n * lo..=n * hi {
                    for d in 0..=k * (hi - lo) {
                        let q = s + d;
                        if q > n * hi {
                            continue;
                        }
                        let at = |s: u64| [a / m + r * n as f64 * per_row, b / m + r * s as f64];
                        worst = worst.max(beta(l, at(s), at(q))).max(beta(l, at(q), at(s)));
                    }
                }
                assert_tight(diverge(&claim, l), worst, (a, b, n, l));
            }
            let unknown = build(a, b, lo as f64, hi as f64, per_row).unit(k);
            let limit = unknown.matched(&RULE).claim(tempered(r, m));
            assert_bounds(diverge(&limit, 1.1), diverge(&claim, 1.1), "limit");
        }
    }

    #[test]
    fn published_values() {
        let m = build(2.0, 3.0, 0.0, 2.0, 1.0).exactly(5);
        let got = diverge(&m.matched(&RULE).claim(Tempering::DIRECT), 1.8);
        assert!((got - 1.093_404_295_063_210_7).abs() < 1e-9, "{got}");
        let m = build(1.0, 2.0, 0.0, 4.0, 3.0).exactly(6);
        let got = diverge(&m.matched(&RULE).claim(tempered(0.25, 1.0)), 2.0);
        assert!((got - 0.550_046_336_919_272).abs() < 1e-9, "{got}");
    }

    #[test]
    fn added_rows_stay_below_the_sum() {
        let (a, b, hi, r) = (1.5, 2.0, 3u32, 0.4);
        let m = build(a, b, 0.0, f64::from(hi), 1.0).add_remove();
        let claim = m.matched(&RULE).claim(tempered(r, 1.0));
        let (mut worst, mut at) = (0.0f64, 0.0);
        for l in [1.2, 2.0, 2.5] {
            for n in [0u32, 1, 2, 10, 3000] {
                for s in [0, n / 2, n, n * hi] {
                    for y in 0..=hi {
                        let p = [a + r * f64::from(n), b + r * f64::from(s)];
                        let q = [p[0] + r, p[1] + r * f64::from(y)];
                        let d = beta(l, p, q).max(beta(l, q, p));
                        assert_bounds(diverge(&claim, l), d, (l, n, s, y));
                        if d > worst {
                            (worst, at) = (d, diverge(&claim, l));
                        }
                    }
                }
            }
        }
        assert!(at < 1.5 * worst, "{worst} {at}");
    }

    #[test]
    fn what_it_refuses() {
        let m = build(1.0, 1.0, 0.0, f64::INFINITY, 1.0);
        assert_eq!(m.refused(&RULE).code, "E0202");
        assert_eq!(Build::gamma(1.0, 1.0).bernoulli().not_mine(&RULE), "prior must be beta(a, b)");
    }
}
