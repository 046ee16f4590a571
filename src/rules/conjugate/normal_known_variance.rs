//! Normal prior, normal rows of known spread: one draw of a mean.
//!
//! ## Shape
//! `mu ~ normal(m0, s0)`; each row `~ normal(mu, sd)` with a public sd and an outcome in `[lo, hi]`. Public rows, each
//! of its own known sd, strengthen the prior.
//!
//! ## Claim
//! Exactly mu-GDP with `mu = r k (hi - lo) / (sd^2 sqrt(P))`, `P = P0 / m + r n / sd^2` the posterior precision,
//! `P0 = 1 / s0^2` and public rows; all orders; falls with n (§3.5).
//!
//! ## Refuses
//! An outcome without bounds; a secret n (adding a row changes the spread as well as the mean, and no bound is
//! proved); an sd that may vanish; several observed columns.
//!
//! ## Checked by
//! The divergence of the two posteriors by integration; golden values.

use super::expected;
use super::facts::{
    Facts, all_observations, location_argument, one_private, outcome_range, point, positive_argument, public_argument, the_parameter,
};
use super::refusals;
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Expr, Model, Observation, ParamId, Range, Relation};
use crate::numeric::amount::stated_up;
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, sqrt_down};
use crate::privacy::Claim;
use crate::rules::count::count_down;
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge};
use crate::rules::text::{four_down, plain};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "normal_known_variance",
    summary: "normal prior, normal rows of known spread: one draw of a mean",
    section: "3.5",
    source: include_str!("normal_known_variance.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "normal(m0, s0)";

/// The known sd of a row, if it is `normal(mu, sd)` with a public number.
pub(crate) fn known_sd(o: &Observation, mu: ParamId) -> Option<&Expr> {
    match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("normal", [mean, sd]) if mean.is_param(mu) && public_argument(sd).is_ok() => Some(sd),
        _ => None,
    }
}

struct Mean {
    facts: Facts,
    m0: Range,
    s0: Range,
    sd: Range,
    range: Range,
    /// Lower bound on the precision that public rows add, and their part of precision times mean.
    public_precision: f64,
    public_moment: f64,
    statistic: Statistic,
}

fn find(model: &Model, context: &Context) -> Match<Mean> {
    let parameter = the_parameter(model, "normal", 2, SHAPE)?;
    let id = parameter.id;
    if !parameter.ty.is_scalar_number() {
        return not_mine("the parameter must be one number");
    }
    all_observations(model, "normal(mu, sd) with a public sd", |o| known_sd(o, id).is_some())?;
    let observation = one_private(model, &parameter.name)?;
    let ([m0, s0], Some(sd)) = (parameter.prior.args.as_slice(), known_sd(observation, id)) else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let range = outcome_range(observation, model, context, Range::ALL)?;
    if model.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(
            RULE.name,
            &parameter.name,
            observation.span,
            model.records,
            "one more row changes the spread of the posterior as well as its mean, so the draw is not a shifted\n\
             normal, and no bound for it is proved",
            context,
        ));
    }
    let mut facts = Facts::collect(&RULE, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(observation.outcome.span));
    let (mut public_precision, mut public_moment) = (0.0, 0.0);
    for (index, o) in model.public.iter().enumerate() {
        let sd = known_sd(o, id).map(|sd| positive_argument(sd, "a known sd")).transpose()?;
        if let (Some(t), Some(sd)) = (context.public.get(index), sd) {
            // The wider sd adds less precision.
            let each = div_down(div_down(1.0, sd.hi), sd.hi);
            public_precision = add_down(public_precision, mul_down(count_down(t.rows), each));
            public_moment += t.sums.first().copied().unwrap_or(0.0) / (sd.hi * sd.hi);
            facts.public.known &= sd.is_point();
        }
    }
    Ok(Mean {
        m0: location_argument(m0, "the prior's mean")?,
        s0: positive_argument(s0, "the prior's sd")?,
        sd: positive_argument(sd, "the known sd")?,
        range,
        public_precision,
        public_moment,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    })
}

impl Mean {
    /// Least precision of the prior with public rows; the widest prior is the worst.
    fn precision(&self) -> f64 {
        let own = div_down(div_down(1.0, self.s0.hi), self.s0.hi);
        add_down(own, self.public_precision)
    }
}

impl Matched for Mean {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn claim(&self, t: Tempering) -> Claim {
        // mu = r k w / sqrt(sd^4 P0 / m + r n sd^2) falls with sd, P0 and n: every factor at its lower end.
        let moved = self.facts.unit_step(t.weight, self.range.width());
        let variance = mul_down(self.sd.lo, self.sd.lo);
        let prior = mul_down(mul_down(variance, variance), div_down(self.precision(), t.concentration));
        let rows = mul_down(mul_down(t.weight, count_down(self.facts.fewest_rows())), variance);
        Claim::Gdp { mu: stated_up(div_up(moved, sqrt_down(add_down(prior, rows)))) }
    }

    fn counts_public_rows(&self) -> bool {
        true
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let (m0, s0, sd) = (point(self.m0)?, point(self.s0)?, point(self.sd)?);
        // mu falls with the precision and the variance: the precision is rounded up from the same public part, and
        // sd * sd, within reach and so rounded once, is not below its rounding down in the claim.
        let own = div_up(1.0, mul_down(s0, s0));
        let law = PosteriorLaw::Normal {
            precision: div_up(add_up(own, self.public_precision), t.concentration),
            precision_mean: (own * m0 + self.public_moment) / t.concentration,
            variance: sd * sd,
        };
        let known = self.facts.public.known;
        known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let data = rows / (self.sd.hi * self.sd.hi);
        expected::normal(self.precision(), data, t.weight, t.concentration).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let sd = (concentration / self.precision()).sqrt();
        let own = 1.0 / (self.s0.hi * self.s0.hi);
        let mean = (own * self.m0.lo + self.public_moment) / self.precision();
        format!("normal({}, {})", super::facts::tidy(mean), four_down(sd))
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, _: f64, _: Tempering) -> Option<LimitReason> {
        None
    }

    fn claim_add_remove(&self, _: Tempering) -> Option<Claim> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Type;
    use crate::rules::testing::{self as t, Build, diverge, tempered};

    fn build(m0: f64, s0: f64, sd: f64, lo: f64, hi: f64) -> Build {
        let mu = t::param(0, Type::real(f64::NEG_INFINITY, f64::INFINITY));
        Build::prior("normal", &[m0, s0]).outcome(Type::real(lo, hi)).observe_exprs("normal", vec![mu, t::number(sd)])
    }

    fn mu(b: &Build, at: Tempering) -> f64 {
        match b.matched(&RULE).claim(at) {
            Claim::Gdp { mu } => mu,
            other => panic!("{other:?}"),
        }
    }

    /// D_l between N(a, v) and N(b, v) by the trapezoid rule.
    fn integrated(l: f64, a: f64, b: f64, v: f64) -> f64 {
        let mid = l * a + (1.0 - l) * b;
        let sd = v.sqrt();
        let step = sd / 200.0;
        let density = |x: f64, m: f64| -(x - m) * (x - m) / (2.0 * v) - 0.5 * (std::f64::consts::TAU * v).ln();
        let total: f64 = (-2400..=2400)
            .map(|i| {
                let x = mid + f64::from(i) * step;
                (l * density(x, a) + (1.0 - l) * density(x, b)).exp() * step
            })
            .sum();
        total.ln() / (l - 1.0)
    }

    #[test]
    fn the_two_posteriors_integrated() {
        for (s0, sd, lo, hi, n, k, r, m) in [(2.0, 1.5, -1.0, 2.0, 4u64, 1u64, 0.7, 1.0), (0.5, 3.0, 0.0, 1.0, 7, 3, 1.0, 0.4)] {
            let claim = build(0.3, s0, sd, lo, hi).exactly(n).unit(k);
            let claim = claim.matched(&RULE).claim(tempered(r, m));
            let precision = 1.0 / (s0 * s0 * m) + r * n as f64 / (sd * sd);
            let mean = |sum: f64| (0.3 / (s0 * s0 * m) + r * sum / (sd * sd)) / precision;
            let others = (n - k) as f64 * lo;
            let (p, q) = (mean(others + k as f64 * lo), mean(others + k as f64 * hi));
            for l in [1.5, 3.0] {
                let exact = integrated(l, p, q, 1.0 / precision);
                t::assert_tight(diverge(&claim, l), exact, (s0, n, k, l));
            }
        }
    }

    #[test]
    fn published_values() {
        for (v0, v, lo, hi, n, r, want) in [
            (1.0f64, 1.0f64, -1.0, 1.0, 10, 1.0, 0.603_022_689_155_527_2),
            (4.0, 2.0, 0.0, 1.0, 50, 0.5, 0.070_014_004_201_400_49),
            (100.0, 1.0, -3.0, 3.0, 200, 1.0, 0.424_253_462_507_941_7),
        ] {
            let b = build(0.0, v0.sqrt(), v.sqrt(), lo, hi).exactly(n);
            let got = mu(&b, tempered(r, 1.0));
            assert!(got >= want && got < want * (1.0 + 1e-12), "{got} {want}");
        }
        // Programs 04 and 13; printed costs are rounded up.
        for (s0, least, rho) in [(50.0, 1000, 0.0223), (50.0, 100, 0.2215), (40.0, 500, 0.0444)] {
            let m = build(60.0, s0, 30.0, 0.0, 200.0).at_least(least);
            let got = mu(&m, Tempering::DIRECT).powi(2) / 2.0;
            assert!(rho - 1e-4 < got && got <= rho, "{got} {rho}");
        }
        let m = build(60.0, 50.0, 30.0, 0.0, 200.0).at_least(1000);
        assert!((mu(&m, Tempering::DIRECT) - 0.2108).abs() < 5e-5);
    }

    #[test]
    fn what_it_refuses() {
        let open = build(0.0, 1.0, 1.0, 0.0, f64::INFINITY);
        assert_eq!(open.refused(&RULE).code, "E0202");
        let secret = build(0.0, 1.0, 1.0, 0.0, 1.0).add_remove();
        let d = secret.refused(&RULE);
        assert_eq!(d.code, "E0307");
        assert_eq!(d.help[0].to_string(), "if n is public:   private t[n] { ... }");
        assert_eq!(build(0.0, 1.0, 0.0, 0.0, 1.0).refused(&RULE).code, "E0203");
        // Numbers whose squares are not doubles: the law and the claim would part.
        for (m0, s0, sd, hi) in [
            (0.0, 1e155, 1.0, 1.0),
            (0.0, 1e-155, 1.0, 1.0),
            (0.0, f64::INFINITY, 1.0, 1.0),
            (1e200, 1.0, 1.0, 1.0),
            (0.0, 1.0, 1e120, 1.0),
            (0.0, 1.0, 1e-120, 1.0),
            (0.0, 1.0, 1.0, 1e101),
            (0.0, 1.0, 1.0, 1e-101),
        ] {
            assert_eq!(build(m0, s0, sd, 0.0, hi).refused(&RULE).code, "E0203", "{m0} {s0} {sd} {hi}");
        }
    }

    #[test]
    fn the_law_is_at_least_as_sharp_as_the_claim() {
        for s0 in [0.1, 0.3, 0.7, 1.1, 3.3, 1e-90, 1e90] {
            for m in [1.0, 0.3, 0.7] {
                let b = build(0.0, s0, 1.7, 0.0, 1.0).exactly(3);
                let Some((PosteriorLaw::Normal { precision, .. }, _)) = b.matched(&RULE).law(tempered(1.0, m)) else {
                    panic!("a normal law");
                };
                assert!(precision >= div_down(div_down(div_down(1.0, s0), s0), m), "{s0} {m}");
            }
        }
    }
}
