//! Gamma prior, Poisson rows: one draw of a rate of counts.
//!
//! ## Shape
//! `rate ~ gamma(a, b)`; each row `~ poisson(rate)` with a count in `lo..K`. Public rows strengthen the prior.
//!
//! ## Claim
//! `Gamma(A)` against `Gamma(A + r k (K - lo))` at one rate, `A = a / m + r n lo`, for every n; finite below order
//! `1 + A / (r k (K - lo))` (§3.1); (eps, delta) by the exact curve of this pair (§17). When rows are added or removed the rate moves too: the sum of that divergence and
//! one of a moving rate whose shape is bounded by the largest mean count (proof in `gamma_moves.rs`).
//!
//! ## Refuses
//! Counts without an upper bound; a prior shape or rate that may vanish; several observed columns.
//!
//! ## Checked by
//! All data sets with n <= 3, K <= 3 in both roles; golden values; added rows against the closed form.

use super::expected;
use super::facts::{Facts, Limit, all_observations, one_private, outcome_range, point, positive_argument, the_parameter, tidy};
use super::gamma_moves::both_move;
use super::refusals;
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Model, Range, Relation};
use crate::numeric::round::{add_down, div_down, div_up, mul_down};
use crate::privacy::{Claim, Shift};
use crate::rules::count::count_down;
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge};
use crate::rules::text::{four_up_together, plain};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "gamma_poisson",
    summary: "gamma prior, poisson rows: one draw of a rate of counts",
    section: "3.1",
    source: include_str!("gamma_poisson.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "gamma(a, b)";

struct CountRate {
    facts: Facts,
    a: Range,
    b: Range,
    range: Range,
    /// The largest mean count a public row can contribute; 0 without public rows.
    public_mean: f64,
    statistic: Statistic,
}

fn find(model: &Model, context: &Context) -> Match<CountRate> {
    let parameter = the_parameter(model, "gamma", 2, SHAPE)?;
    let id = parameter.id;
    all_observations(model, "poisson(rate)", |o| {
        let args = o.likelihood.args.as_slice();
        o.likelihood.name() == "poisson" && matches!(args, [rate] if rate.is_param(id))
    })?;
    let observation = one_private(model, &parameter.name)?;
    let [a, b] = parameter.prior.args.as_slice() else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let range = outcome_range(observation, model, context, Range::new(0.0, f64::INFINITY))?;
    let mut facts = Facts::collect(&RULE, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(observation.outcome.span));
    let bound = |o: &crate::model::Observation| o.outcome.ty.range().map_or(f64::INFINITY, |r| r.hi);
    let unbound = model.public.iter().enumerate();
    let unbound = unbound.filter(|(i, _)| context.public.get(*i).is_none());
    let public_mean = unbound.map(|(_, o)| bound(o)).fold(0.0, f64::max);
    let draw = CountRate {
        a: positive_argument(a, "the prior's shape")?,
        b: positive_argument(b, "the prior's rate")?,
        range,
        public_mean,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    };
    if model.records.relation == Relation::AddRemove && public_mean == f64::INFINITY {
        return refuse(refusals::secret_rows(
            RULE.name,
            &parameter.name,
            observation.span,
            model.records,
            "before the public rows are bound their mean count has no bound",
            context,
        ));
    }
    Ok(draw)
}

impl CountRate {
    fn shape(&self, m: f64) -> f64 {
        div_down(add_down(self.a.lo, self.facts.public.sum()), m)
    }

    fn rate(&self, m: f64) -> f64 {
        let rows = count_down(self.facts.public.rows);
        div_down(add_down(self.b.lo, rows), m)
    }

    /// The least shape of any data set, and how far one unit moves it.
    fn moving(&self, t: Tempering) -> (f64, f64) {
        let rows = mul_down(t.weight, mul_down(self.facts.sure_rows(), self.range.lo));
        (add_down(self.shape(t.concentration), rows), self.facts.unit_step(t.weight, self.range.width()))
    }
}

impl Matched for CountRate {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn claim(&self, t: Tempering) -> Claim {
        if self.facts.records.relation == Relation::AddRemove {
            // Matching refused the only case without a bound.
            return self.claim_add_remove(t).unwrap_or(Claim::Gdp { mu: f64::INFINITY });
        }
        let (shape, step) = self.moving(t);
        Claim::Exact(Shift::Shape { shape, step })
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let (a, b) = (point(self.a)?, point(self.b)?);
        let public = &self.facts.public;
        let law =
            PosteriorLaw::GammaShape { shape: (a + public.sum()) / t.concentration, rate: (b + count_down(public.rows)) / t.concentration };
        public.known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let public = &self.facts.public;
        let (a, b) = (self.a.lo + public.sum(), self.b.lo + count_down(public.rows));
        expected::gamma_shape(a, b, rows, t.weight, t.concentration).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let (shape, rate) = (self.shape(concentration), self.rate(concentration));
        format!("gamma({})", four_up_together(&[shape, rate]).join(", "))
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, order: f64, t: Tempering) -> Option<LimitReason> {
        let limit = |kind, (base, step)| Limit { family: "gamma", kind, shown: tidy(base), base, step };
        let first = match self.facts.records.relation {
            Relation::ReplaceOne => limit("shape", self.moving(t)),
            Relation::AddRemove => {
                let step = |extent| self.facts.unit_step(t.weight, extent);
                let shape = (self.shape(t.concentration), step(self.range.hi));
                limit("shape", shape).or(limit("rate", (self.rate(t.concentration), step(1.0))))
            }
        };
        Some(self.facts.limit_reason(first, order))
    }

    fn claim_add_remove(&self, t: Tempering) -> Option<Claim> {
        let m = t.concentration;
        let public = &self.facts.public;
        // Bound rows are in both; unbound ones pull the ratio towards at most their own largest mean.
        let rate = self.rate(m);
        let shape = div_up((self.a.hi + public.sum().next_up()).next_up(), m);
        let ratio = div_up(shape, rate).max(self.range.hi).max(self.public_mean);
        ratio.is_finite().then(|| {
            let step = |extent| self.facts.unit_step(t.weight, extent);
            both_move(self.shape(m), rate, ratio, step(self.range.hi), step(1.0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{Build, assert_bounds, assert_tight, diverge, gamma, tempered};

    fn build(a: f64, b: f64, lo: f64, hi: f64) -> Build {
        Build::gamma(a, b).outcome_range(lo, hi).observe("poisson", &[])
    }

    #[test]
    fn the_worst_neighbours_of_all_small_data_sets() {
        for (a, b, n, lo, hi, k, r, m) in [(2.0, 1.0, 3u64, 0u64, 3u64, 1u64, 1.0, 1.0), (0.7, 2.0, 3, 1, 3, 2, 0.4, 0.5)] {
            let model = build(a, b, lo as f64, hi as f64).exactly(n).unit(k);
            let claim = model.matched(&RULE).claim(tempered(r, m));
            for l in [1.05, 1.4, 1.6, 2.2] {
                let mut worst: f64 = 0.0;
                for s in n * lo..=n * hi {
                    for q in s..=(s + k * (hi - lo)).min(n * hi) {
                        let at = |s: u64| [a / m + r * s as f64, b / m + r * n as f64];
                        worst = worst.max(gamma(l, at(s), at(q))).max(gamma(l, at(q), at(s)));
                    }
                }
                assert_tight(diverge(&claim, l), worst, (a, b, n, l));
            }
        }
    }

    #[test]
    fn published_values() {
        let got = diverge(&build(2.0, 1.0, 0.0, 3.0).matched(&RULE).claim(Tempering::DIRECT), 1.4);
        assert!((got - 3.558_203_026_347_539_6).abs() < 1e-9, "{got}");
        let m = build(0.7, 2.0, 0.0, 1.0).matched(&RULE);
        let got = diverge(&m.claim(tempered(0.5, 1.0)), 1.9);
        assert!((got - 0.795_042_306_142_087).abs() < 1e-9, "{got}");
        assert_eq!(diverge(&m.claim(tempered(0.5, 1.0)), 2.4), f64::INFINITY);
        assert_eq!(m.prior_text(0.5), "gamma(1.4, 4)");
        let told = m.limit_reason(3.0, Tempering::DIRECT).unwrap();
        assert_eq!(told.prior, "the prior shape is 0.7, and 1 + 0.7 = 1.7");
    }

    #[test]
    fn program_03() {
        let m = build(40.0, 10.0, 0.0, 10.0).matched(&RULE);
        let dp = |r: f64| m.claim(tempered(r, 1.0)).epsilon(1e-6);
        assert!(dp(0.133) <= 1.0 && dp(0.134) > 1.0);
        // Orders below 33.7 at the solved weight, 5 when direct.
        assert_eq!(m.claim(Tempering::DIRECT).max_order(), 5.0);
        assert!((33.6..33.8).contains(&m.claim(tempered(0.1222, 1.0)).max_order()));
        assert!((dp(1.0) - 9.2329).abs() < 1e-4, "{}", dp(1.0));
    }

    #[test]
    fn added_rows_stay_below_the_bound() {
        for (a, b, hi, k, r, m) in [(40.0, 10.0, 10u64, 1u64, 0.3, 1.0), (2.0, 5.0, 3, 2, 0.5, 0.7), (30.0, 1.0, 2, 1, 0.2, 1.0)] {
            let model = build(a, b, 0.0, hi as f64).add_remove().unit(k);
            let claim = model.matched(&RULE).claim(tempered(r, m));
            let (mut worst, mut at) = (0.0f64, 1.0);
            for l in [1.1, 1.5, 2.0, 4.0, 6.0] {
                for n in [0u64, 1, 2, 5, 30, 1000] {
                    for s in [0, n / 2, n, n * hi / 2, n * hi] {
                        for j in 1..=k {
                            for y in 0..=j * hi {
                                let p = [a / m + r * s as f64, b / m + r * n as f64];
                                let q = [p[0] + r * y as f64, p[1] + r * j as f64];
                                let d = gamma(l, p, q).max(gamma(l, q, p));
                                assert_bounds(diverge(&claim, l), d, (a, b, l, n, s, y));
                                if diverge(&claim, l).is_finite() && d > worst {
                                    (worst, at) = (d, diverge(&claim, l));
                                }
                            }
                        }
                    }
                }
            }
            assert!(at < 4.0 * worst, "{worst} {at}");
        }
    }

    #[test]
    fn unbounded_counts_are_refused_in_the_words_of_the_manual() {
        let d = build(40.0, 10.0, f64::NEG_INFINITY, f64::INFINITY).refused(&RULE);
        assert_eq!(d.code, "E0202");
        assert_eq!(d.message, "`y` has no bounds, so one person can move the posterior without limit");
        assert_eq!(d.labels[0].text, "the sum of `y` is the sufficient statistic here");
        assert_eq!(d.labels[1].text, "unbounded private column");
        assert_eq!(d.cause.as_deref(), Some("sensitivity of sum(y) is (largest - smallest) value, which is infinite"));
        assert_eq!(
            crate::source::help::lines(&d.help),
            [
                "declare public bounds:   y: int in 0..10   (rows outside are clamped)",
                "or clip in the model:    let v = clip(y, 0, 10)",
                "                         observe v ~ poisson(p)",
                "Do not read the bound off the data: that itself leaks (E0102).",
            ]
        );
    }

    #[test]
    fn the_limit_names_what_runs_out_first() {
        let m = build(40.0, 1.0, 0.0, 10.0).add_remove();
        let told = m.matched(&RULE).limit_reason(4.0, Tempering::DIRECT);
        assert_eq!(told.unwrap().prior, "the prior rate is 1, and 1 + 1 = 2");
    }

    #[test]
    fn two_columns_are_refused() {
        let m = build(2.0, 1.0, 0.0, 3.0).observe("poisson", &[]);
        assert_eq!(m.refused(&RULE).code, "E0300");
    }
}
