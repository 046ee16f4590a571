//! Beta prior, Bernoulli or binomial rows: one draw of a rate.
//!
//! ## Shape
//! `p ~ beta(a, b)`; each row `~ bernoulli(p)` or `~ binomial(N, p)` with a public N; several such columns of one
//! table add their trials. Real outcomes in `[0, N]` are allowed (§1.4). Public rows strengthen the prior.
//!
//! ## Claim
//! With `u = min(a, b) / m`, `v = max(a, b) / m`, weight r, w = r N and k rows a unit: the Rényi divergence of
//! `Beta(u, v + w n)` against `Beta(u + w k, v + w (n - k))`, which falls with n; finite below order `1 + u / (w k)`
//! (§1.1, §1.2). (eps, delta) by the exact curve of the worst of all reachable pairs of that kind, for a public n or a public
//! lower bound of it (§17). When rows are added or removed: the supremum over all n, `Gamma(u)` against `Gamma(u + w k)`
//! (§1.6), with its exact curve where a unit adds to one count alone.
//!
//! ## Refuses
//! An outcome without bounds; a prior whose counts may vanish; a number of trials that varies by row.
//!
//! ## Checked by
//! All data sets with n <= 4 in both roles, groups included; golden values; the closed form of the two-sided claim.

use super::expected;
use super::facts::{Facts, Limit, all_observations, outcome_range, point, positive_argument, sum, the_parameter};
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Expr, Model, Observation, ParamId, Range, Relation, Type};
use crate::numeric::round::{add_down, div_down, mul_down};
use crate::privacy::{Claim, Family, Shift};
use crate::rules::count::{count_down, count_up};
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge, out_and_in, replaced_or_added};
use crate::rules::text::{four_up_together, plain};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "beta_bernoulli",
    summary: "beta prior, bernoulli or binomial rows: one draw of a rate",
    section: "1",
    source: include_str!("beta_bernoulli.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "beta(a, b)";

/// The trials of one row, if the likelihood is `bernoulli(p)` or `binomial(N, p)`.
fn trials(o: &Observation, p: ParamId) -> Option<u64> {
    match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("bernoulli", [arg]) if arg.is_param(p) => Some(1),
        ("binomial", [n, arg]) if arg.is_param(p) => n.constant().filter(|n| n.fract() == 0.0 && (1.0..9e15).contains(n)).map(|n| n as u64),
        _ => None,
    }
}

fn find(model: &Model, context: &Context) -> Match<BetaDraw> {
    let parameter = the_parameter(model, "beta", 2, SHAPE)?;
    let id = parameter.id;
    all_observations(model, "bernoulli(p), or binomial(N, p) with a public N", |o| trials(o, id).is_some())?;
    let [a, b] = parameter.prior.args.as_slice() else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let mut facts = Facts::collect(&RULE, model, parameter, context);
    let mut all = 0u64;
    let mut value: Option<Expr> = None;
    for o in &model.private {
        let n = trials(o, id).unwrap_or(1);
        outcome_range(o, model, context, Range::new(0.0, count_down(n)))?;
        facts.premise(format!("the outcome lies in [0, {n}]"), Some(o.outcome.span));
        all = all.saturating_add(n);
        value = Some(match value {
            None => o.outcome.clone(),
            Some(e) => sum(&e, &o.outcome, Range::new(0.0, count_up(all))),
        });
    }
    let Some(value) = value else {
        return not_mine("no private rows");
    };
    let (mut successes, mut failures) = (0.0, 0.0);
    for (index, o) in model.public.iter().enumerate() {
        if let Some(t) = context.public.get(index) {
            let s = t.sums.first().copied().unwrap_or(0.0);
            let n = count_down(trials(o, id).unwrap_or(1).saturating_mul(t.rows));
            successes = add_down(successes, s.max(0.0));
            failures = add_down(failures, add_down(n, -s).max(0.0));
        }
    }
    Ok(BetaDraw {
        counts: Counts { a: positive_argument(a, "a prior count")?, b: positive_argument(b, "a prior count")?, successes, failures },
        trials: all,
        components: 1,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(value) },
        facts,
    })
}

/// The counts of the prior and of the public rows.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub a: Range,
    pub b: Range,
    pub successes: f64,
    pub failures: f64,
}

impl Counts {
    /// Lower bounds on both counts under concentration m. The divergence falls in either count (§1.5), so the lower
    /// ends of the ranges are the worst case.
    fn least(&self, m: f64) -> (f64, f64) {
        (div_down(add_down(self.a.lo, self.successes), m), div_down(add_down(self.b.lo, self.failures), m))
    }
}

/// A draw from a Beta posterior whose rows hold `trials` trials each; of as many posteriors as the statistic has components.
pub(crate) struct BetaDraw {
    pub facts: Facts,
    pub counts: Counts,
    pub trials: u64,
    pub components: u64,
    pub statistic: Statistic,
}

impl BetaDraw {
    fn smallest(&self, m: f64) -> (f64, f64) {
        let (a, b) = self.counts.least(m);
        (a.min(b), a.max(b))
    }

    fn step(&self, r: f64) -> f64 {
        self.facts.unit_step(r, count_up(self.trials))
    }

    /// Does one row add to one count alone? A row of several trials, or of a part of one, may add to both.
    fn single(&self) -> bool {
        let whole = |e: &Expr| matches!(e.ty, Type::Bool | Type::Int(_));
        self.trials == 1 && matches!(&self.statistic.kind, StatisticKind::Sum(value) if whole(value))
    }
}

impl Matched for BetaDraw {
    fn rule(&self) -> &'static Rule {
        self.facts.rule
    }

    fn claim(&self, t: Tempering) -> Claim {
        if self.facts.records.relation == Relation::AddRemove {
            return beta_add_remove(self, t);
        }
        // The cost falls in either count, so the fewest other rows count, and their weight down.
        let rows = mul_down(count_down(self.trials), self.facts.fewest_others());
        let counts = self.smallest(t.concentration);
        Claim::Exact(Shift::Beta { family: Family::Beta, counts, step: self.step(t.weight), others: mul_down(t.weight, rows) })
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let known = self.facts.public.known;
        let (a, b) = (point(self.counts.a)?, point(self.counts.b)?);
        let law = PosteriorLaw::Beta {
            a: (a + self.counts.successes) / t.concentration,
            b: (b + self.counts.failures) / t.concentration,
            trials: self.trials,
        };
        known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let (a, b) = self.counts.least(1.0);
        let trials = rows * count_down(self.trials);
        (count_up(self.components) * expected::beta(a, b, trials, t.weight, t.concentration)).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let (a, b) = self.counts.least(concentration);
        format!("beta({})", four_up_together(&[a, b]).join(", "))
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, order: f64, t: Tempering) -> Option<LimitReason> {
        let (a, b) = self.counts.least(t.concentration);
        let limit = Limit {
            family: "beta",
            kind: "count",
            shown: format!("min({}, {})", plain(a), plain(b)),
            base: a.min(b),
            step: self.step(t.weight),
        };
        Some(self.facts.limit_reason(limit, order))
    }

    fn claim_add_remove(&self, t: Tempering) -> Option<Claim> {
        Some(beta_add_remove(self, t))
    }

    fn claim_exchange(&self, t: Tempering) -> Option<Claim> {
        replaced_or_added(self, t)
    }

    fn claim_crossing(&self, t: Tempering) -> Option<Claim> {
        self.single().then(|| out_and_in(Family::Beta, self.smallest(t.concentration).0, self.step(t.weight)))
    }
}

/// §1.6. P has counts (A, B) and Q adds x successes and y failures, x + y <= w k, or the reverse. The total grows, and
/// its part of the divergence is negative and vanishes as n grows, so it is dropped. What is left is a sum over the
/// two counts that is convex in Q: all of it on one count, the smaller. The reverse direction costs less: with the
/// tent mirrored, psi1 falling puts less of it under the weight. Where a unit adds to one count alone, both orders of this pair bound
/// every f-divergence (§17).
fn beta_add_remove(draw: &BetaDraw, t: Tempering) -> Claim {
    let added = Claim::Exact(Shift::Shape { shape: draw.smallest(t.concentration).0, step: draw.step(t.weight) });
    if draw.single() && draw.facts.records.unit_rows == 1 { added } else { added.converted() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ExprKind, Label, ScalarId, Type};
    use crate::rules::testing::{self as t, beta, diverge, tempered};

    #[test]
    fn counts_out_of_reach_are_refused() {
        for a in [f64::INFINITY, 1e101, 1e-101] {
            assert_eq!(t::Build::beta(a, 1.0).exactly(3).bernoulli().refused(&RULE).code, "E0203");
            assert_eq!(t::Build::beta(1.0, a).exactly(3).bernoulli().refused(&RULE).code, "E0203");
        }
    }

    #[test]
    fn the_worst_neighbours_of_all_small_data_sets() {
        for (a, b, n, k, r, m) in
            [(0.7, 2.0, 3u64, 1u64, 1.0, 1.0), (3.0, 1.2, 4, 2, 0.5, 1.0), (2.0, 2.5, 4, 3, 0.3, 0.4), (1.0, 1.0, 1, 1, 0.9, 0.9)]
        {
            let model = t::Build::beta(a, b).exactly(n).unit(k).bernoulli();
            let m_ = model.matched(&RULE);
            let claim = m_.claim(tempered(r, m));
            for l in [1.05, 1.3, 1.9, 3.0] {
                let mut worst: f64 = 0.0;
                for s in 0..=n {
                    for s2 in s.saturating_sub(k)..=(s + k).min(n) {
                        let at = |s: u64| [a / m + r * s as f64, b / m + r * (n - s) as f64];
                        worst = worst.max(beta(l, at(s), at(s2)));
                    }
                }
                t::assert_tight(diverge(&claim, l), worst, (a, b, n, k, l));
            }
        }
    }

    #[test]
    fn added_rows_never_cost_more_and_nearly_cost_it() {
        let (a, b, r) = (0.8, 1.5, 0.6);
        let m_ = t::Build::beta(a, b).add_remove().bernoulli();
        let claim = m_.matched(&RULE).claim(tempered(r, 1.0));
        for l in [1.2, 2.0, 2.3] {
            let bound = diverge(&claim, l);
            let mut worst: f64 = 0.0;
            for n in [0u32, 1, 2, 5, 40, 20_000] {
                for s in [0, 1, n / 2, n] {
                    let p = [a + r * f64::from(s.min(n)), b + r * f64::from(n - s.min(n))];
                    for q in [[p[0] + r, p[1]], [p[0], p[1] + r], [p[0] + r / 2.0, p[1] + r / 2.0]] {
                        worst = worst.max(beta(l, p, q)).max(beta(l, q, p));
                    }
                }
            }
            assert!(worst <= bound * (1.0 + 1e-9), "{l}: {worst} > {bound}");
            assert!(worst > 0.99 * bound, "{l}: {worst} against {bound}");
        }
    }

    #[test]
    fn published_values() {
        // alpha 3, beta 4, three rows of two trials; alpha 6, beta 7, groups of three; alpha 2, beta 3, a query.
        for (a, b, n, trials, k, r, l, want) in [
            (3.0, 4.0, 3, 2, 1, 1.0, 1.7, 1.701_191_604_242_565_2),
            (5.0, 2.0, 4, 3, 1, 0.5, 1.8, 1.586_163_635_257_667_6),
            (6.0, 7.0, 6, 1, 3, 1.0, 2.1, 2.617_699_949_829_448),
            (8.0, 5.0, 3, 2, 2, 1.0, 1.9, 4.915_005_477_078_54),
        ] {
            let m = t::Build::beta(a, b).exactly(n).unit(k).binomial(trials);
            let got = diverge(&m.matched(&RULE).claim(tempered(r, 1.0)), l);
            assert!((got - want).abs() < 1e-9 * want, "{got} {want}");
        }
    }

    #[test]
    fn the_programs_of_the_manual() {
        let solved = |b: t::Build, limit: f64, l: f64| {
            let m = b.bernoulli();
            let m = m.matched(&RULE);
            assert!(diverge(&m.claim(tempered(limit, 1.0)), l) <= 0.5);
            diverge(&m.claim(tempered(limit + 1e-3, 1.0)), l)
        };
        assert!(solved(t::Build::beta(6.0, 18.0).at_least(100), 0.668, 8.0) > 0.5);
        assert!(solved(t::Build::beta(10.0, 10.0), 0.890, 6.0) > 0.5);
        assert!(solved(t::Build::beta(20.0, 20.0).unit(4), 0.459, 3.0) > 0.5);
        let m = t::Build::beta(12.0, 12.0).bernoulli();
        let cost = diverge(&m.matched(&RULE).claim(Tempering::DIRECT), 5.0);
        assert!((cost - 0.427).abs() < 5e-4, "{cost}");
        let m = t::Build::beta(8.0, 8.0).add_remove().bernoulli();
        let cost = diverge(&m.matched(&RULE).claim(Tempering::DIRECT), 3.0);
        // Printed as 0.2107: upper bounds are rounded up.
        assert!((0.2106..0.2107).contains(&cost), "{cost}");
    }

    #[test]
    fn program_01_concentrated() {
        let m = t::Build::beta(6.0, 18.0).at_least(100).bernoulli();
        let m = m.matched(&RULE);
        let meets = |c: f64| m.claim(tempered(1.0, c)).rdp(8.0) <= 0.5;
        let solved = crate::numeric::search::greatest(1e-3, 1.0, meets).unwrap();
        assert_eq!(m.prior_text(solved), "beta(11.42, 34.26)");
        let limit = m.claim(tempered(0.668, 1.0)).max_order();
        assert!((9.97..9.99).contains(&limit), "{limit}");
    }

    #[test]
    fn public_rows_strengthen_the_prior_once_bound() {
        let m = t::Build::beta(1.0, 1.0).bernoulli().public_rows(Some((200, 40.0)));
        let matched = m.matched(&RULE);
        assert_eq!(matched.prior_text(1.0), "beta(41, 161)");
        assert!(diverge(&matched.claim(tempered(0.849, 1.0)), 20.0) <= 0.25);
        assert!(diverge(&matched.claim(tempered(0.850, 1.0)), 20.0) > 0.25);
        assert!(matched.law(Tempering::DIRECT).is_some());
        let m = t::Build::beta(1.0, 1.0).bernoulli().public_rows(None);
        let matched = m.matched(&RULE);
        assert_eq!(matched.prior_text(1.0), "beta(1, 1)");
        assert!(matched.law(Tempering::DIRECT).is_none());
        assert!(diverge(&matched.claim(tempered(0.052, 1.0)), 20.0) <= 0.25);
    }

    #[test]
    fn the_limit_is_told_in_the_words_of_the_manual() {
        let m = t::Build::beta(6.0, 18.0).at_least(100).bernoulli();
        let reason = m.matched(&RULE).limit_reason(8.0, Tempering::DIRECT).unwrap();
        assert_eq!(reason.prior, "the smallest prior count is 6, and 1 + min(6, 18) = 7");
        assert_eq!(
            reason.cause,
            "one changed row moves one count by 1; at order 8 the divergence integral is that\n\
             of a beta with count 6 + 1 - 8 = -1, which diverges (Geumlek et al. 2017, Cor. 1)"
        );
    }

    #[test]
    fn several_columns_add_their_trials() {
        let two = t::Build::beta(2.0, 3.0).exactly(3).bernoulli().bernoulli();
        let two = two.matched(&RULE);
        let one = t::Build::beta(2.0, 3.0).exactly(3).binomial(2);
        let one = one.matched(&RULE);
        let at = tempered(0.5, 0.8);
        assert_eq!(two.claim(at), one.claim(at));
        let (law, statistic) = two.law(at).unwrap();
        assert_eq!(law, PosteriorLaw::Beta { a: 2.5, b: 3.0 / 0.8, trials: 2 });
        let StatisticKind::Sum(value) = statistic.kind else {
            panic!("a sum");
        };
        assert_eq!(value.ty.range(), Some(Range::new(0.0, 2.0)));
        assert_eq!(value.label, Label::Row(t::TABLE));
    }

    #[test]
    fn a_prior_known_by_its_range_is_judged_at_its_worst_end() {
        let mut m = t::Build::beta(2.0, 3.0).bernoulli();
        let a = &mut m.model.parameters[0].prior.args[0];
        a.kind = ExprKind::Scalar(ScalarId(0));
        a.ty = Type::real(2.0, 9.0);
        let open = m.matched(&RULE);
        let least = t::Build::beta(2.0, 3.0).bernoulli();
        let at = tempered(0.7, 1.0);
        assert_eq!(open.claim(at), least.matched(&RULE).claim(at));
        assert!(open.law(at).is_none());
        m.model.parameters[0].prior.args[0].ty = Type::real(0.0, 9.0);
        assert_eq!(m.refused(&RULE).code, "E0202");
    }

    #[test]
    fn what_it_refuses() {
        let m = t::Build::beta(6.0, 18.0).outcome_range(0.0, f64::INFINITY).bernoulli();
        assert_eq!(m.refused(&RULE).code, "E0202");
        let m = t::Build::prior("normal", &[0.2, 0.1]).bernoulli();
        assert_eq!(m.not_mine(&RULE), "prior must be beta(a, b)");
        let m = t::Build::beta(6.0, 18.0).observe("poisson", &[]);
        assert!(m.not_mine(&RULE).starts_with("rows must be bernoulli(p)"));
    }
}
