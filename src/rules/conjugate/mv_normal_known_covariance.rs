//! Multivariate normal prior, rows of known covariance: one draw of a mean vector.
//!
//! ## Shape
//! `mu ~ multi_normal(m0, S0)` (or `normal(m, s)` a component); each row `~ multi_normal(mu, S)` with a constant S and
//! an outcome of bounded L2 diameter. Public rows of the same S strengthen the prior.
//!
//! ## Claim
//! mu-GDP with `mu = r k diameter / sqrt(lambda)`, lambda a lower bound on the smallest eigenvalue of
//! `S S0^-1 S / m + r n S`; all orders; falls with n (§3.6). Exact for diagonal S0 and S; otherwise
//! `lambda = least(S)^2 / (m largest(S0)) + r n least(S)` with proved eigenvalue bounds.
//!
//! ## Refuses
//! An outcome without bounds; a secret n; a covariance that is not a constant positive definite matrix.
//!
//! ## Checked by
//! The mean shift of antipodal rows along every axis and on a circle of directions; golden values.

use super::expected;
use super::facts::{Facts, all_observations, one_private, within_reach};
use super::refusals;
use super::vector_prior::{Covariance, Inverse, VectorPrior, sharpened, times, vector_prior};
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Model, Relation, Request, Type, grid};
use crate::numeric::amount::stated_up;
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::count::count_down;
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge};
use crate::rules::text::plain;
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "mv_normal_known_covariance",
    summary: "multivariate normal prior, rows of known covariance: one draw of a mean vector",
    section: "3.6",
    source: include_str!("mv_normal_known_covariance.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

pub(in crate::rules) struct MeanVector {
    pub facts: Facts,
    prior: VectorPrior,
    covariance: Covariance,
    /// The inverse of the covariance, for public rows.
    noise: Inverse,
    least: f64,
    pub diameter: f64,
    pub statistic: Statistic,
}

fn find(model: &Model, context: &Context) -> Match<MeanVector> {
    let ([parameter], Request::Draw { .. }) = (model.parameters.as_slice(), &model.request) else {
        return not_mine("the model must have one vector parameter with a normal prior");
    };
    let means = matched(&RULE, model, context)?;
    if model.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(
            RULE.name,
            &parameter.name,
            one_private(model, &parameter.name)?.span,
            model.records,
            "one more row changes the spread of the posterior as well as its mean, so the draw is not a shifted\n\
             normal, and no bound for it is proved",
            context,
        ));
    }
    Ok(means)
}

/// The model without premises about the number of rows, whatever is asked of it.
pub(in crate::rules) fn matched(rule: &'static Rule, model: &Model, context: &Context) -> Match<MeanVector> {
    let [parameter] = model.parameters.as_slice() else {
        return not_mine("the model must have one vector parameter with a normal prior");
    };
    let id = parameter.id;
    let prior = vector_prior(parameter)?;
    let dim = prior.dim;
    all_observations(model, "multi_normal(mu, S)", |o| {
        let args = o.likelihood.args.as_slice();
        o.likelihood.name() == "multi_normal" && matches!(args, [mu, _] if mu.is_param(id))
    })?;
    if model.private.is_empty() {
        return not_mine("no private rows");
    }
    let observation = one_private(model, &parameter.name)?;
    let covariance = |o: &crate::model::Observation| o.likelihood.args.get(1).and_then(|s| Covariance::literal(s, dim));
    let Some(known) = covariance(observation) else {
        return not_mine("S must be a constant positive definite matrix");
    };
    if model.public.iter().any(|o| covariance(o).as_ref() != Some(&known)) {
        return not_mine("public rows must have the same covariance");
    }
    let Type::Vector(v) = &observation.outcome.ty else {
        return not_mine("the outcome must be a vector");
    };
    let noise = known.checked(observation.likelihood.span)?;
    // Rows are rounded to a grid before they are summed.
    let diameter = add_up(v.diam.l2, grid::slack(&observation.outcome.ty).l2);
    if !diameter.is_finite() {
        return refuse(refusals::unbounded_rows(model, observation, context));
    }
    within_reach(diameter, observation.outcome.span, "the diameter of the outcome")?;
    let mut facts = Facts::collect(rule, model, parameter, context);
    facts.premise(format!("the outcome has L2 diameter {}", plain(diameter)), Some(observation.outcome.span));
    Ok(MeanVector {
        least: known.least(),
        covariance: known,
        noise,
        diameter,
        prior,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    })
}

impl MeanVector {
    /// Precision of the prior with public rows and variance of a row, component by component, as if both matrices were diagonal.
    pub fn parts(&self) -> Vec<(f64, f64)> {
        let public = count_down(self.facts.public.rows);
        let part = |i: usize| {
            let s = self.covariance.at(i, i);
            let v = self.prior.covariance.as_ref().map_or(self.prior.largest, |c| c.at(i, i));
            (1.0 / v + public / s, s)
        };
        (0..self.prior.dim).map(part).collect()
    }

    /// Lower bound on the smallest eigenvalue of `S P0 S + rows S`, P0 the sharpened precision; public rows count 1 / m.
    fn lambda(&self, t: Tempering) -> f64 {
        let private = mul_down(t.weight, count_down(self.facts.fewest_rows()));
        // The law adds public rows by a computed inverse of S, which may be below S^-1 by its excess.
        let public = div_down(mul_down(count_down(self.facts.public.rows), self.noise.share()), t.concentration);
        let rows = add_down(private, public);
        let at = |s: f64, v: f64| {
            let prior = div_down(mul_down(s, s), mul_up(v, t.concentration));
            add_down(prior, mul_down(rows, s))
        };
        let prior = self.prior.covariance.as_ref().and_then(Covariance::diagonal);
        match (prior, self.covariance.diagonal()) {
            (Some(v), Some(s)) => s.iter().zip(&v).map(|(s, v)| at(*s, v.next_up())).fold(f64::INFINITY, f64::min),
            // S P0 S >= least(P0) S^2 and S >= least(S).
            _ => at(self.least, self.prior.largest),
        }
    }
}

impl Matched for MeanVector {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn claim(&self, t: Tempering) -> Claim {
        // The means differ by V S^-1 r k (x - x'), and V^-1/2 of that has norm at most r k |x - x'| times the root of
        // the norm of S^-1 V S^-1, whose inverse is S V^-1 S.
        let moved = self.facts.unit_step(t.weight, self.diameter);
        Claim::Gdp { mu: stated_up(div_up(moved, sqrt_down(self.lambda(t)))) }
    }

    fn counts_public_rows(&self) -> bool {
        true
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let public = &self.facts.public;
        // mu falls with the precision, in the Loewner order: sums and quotients of its entries are rounded up on top of
        // what `largest` and `share` allow for. The precision's product with the mean only moves the draw.
        let own = &self.prior.precision.as_ref()?.entries;
        let noise = &self.noise.entries;
        let rows = count_down(public.rows);
        let mut sums = public.sums.clone();
        sums.resize(self.prior.dim, 0.0);
        let moment = times(own, self.prior.mean.as_ref()?);
        let more = times(noise, &sums);
        let more_precise = |(a, b): (&f64, &f64)| sharpened(if *b == 0.0 { *a } else { add_up(*a, mul_up(rows, *b)) }, t.concentration);
        let law = PosteriorLaw::MvNormal {
            dim: self.prior.dim,
            precision: own.iter().zip(noise).map(more_precise).collect(),
            precision_mean: moment.iter().zip(more).map(|(a, b)| (a + b) / t.concentration).collect(),
            covariance: self.covariance.entries.clone(),
        };
        public.known.then(|| (law, self.statistic.clone()))
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let parts = self.parts();
        let squares = parts.iter().map(|(own, s)| expected::normal(*own, rows / s, t.weight, t.concentration));
        squares.sum::<f64>().sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        (self.prior.text)(&self.prior, concentration)
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
    use crate::model::{Expr, ExprKind, Label};
    use crate::rules::Verdict;
    use crate::rules::testing::{self as t, Build, diverge, tempered};

    pub fn matrix(dim: usize, entries: &[f64]) -> Expr {
        let list = |items| t::expr(ExprKind::List(items), t::ball(dim as u64, 1.0), Label::Public);
        let rows = entries.chunks(dim);
        list(rows.map(|r| list(r.iter().map(|x| t::number(*x)).collect())).collect())
    }

    fn build(prior: &[f64], noise: &[f64], dim: usize, radius: f64) -> Build {
        let mu = || t::param(0, t::ball(dim as u64, f64::INFINITY));
        Build::prior_exprs("multi_normal", vec![t::number(0.0), matrix(dim, prior)], mu().ty)
            .outcome(t::ball(dim as u64, radius))
            .observe_exprs("multi_normal", vec![mu(), matrix(dim, noise)])
    }

    #[test]
    fn published_values() {
        let b = build(&[1.0, 0.0, 0.0, 0.5], &[1.0, 0.0, 0.0, 3.0], 2, 1.0).exactly(10);
        let got = diverge(&b.matched(&RULE).claim(Tempering::DIRECT), 2.0);
        assert!((got - 0.363_636_363_636_363_65).abs() < 1e-12, "{got}");
        let prior = [10.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.2];
        let noise = [2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5];
        let b = build(&prior, &noise, 3, 0.5).exactly(20);
        let got = diverge(&b.matched(&RULE).claim(tempered(0.5, 1.0)), 4.0);
        assert!((got - 0.08).abs() < 1e-12, "{got}");
    }

    #[test]
    fn no_direction_costs_more() {
        let (prior, noise) = ([2.0, 0.6, 0.6, 1.0], [1.0, -0.3, -0.3, 0.7]);
        let (n, k, r, m) = (4u64, 2u64, 0.6, 0.5);
        let b = build(&prior, &noise, 2, 1.5).exactly(n).unit(k);
        let Claim::Gdp { mu } = b.matched(&RULE).claim(tempered(r, m)) else {
            panic!("a normal draw is GDP");
        };
        let inverse = |c: &[f64]| {
            let c = Covariance { dim: 2, entries: c.to_vec() };
            c.inverse().unwrap().entries
        };
        let (p0, w) = (inverse(&prior), inverse(&noise));
        let precision: Vec<f64> = (0..4).map(|i| p0[i] / m + r * n as f64 * w[i]).collect();
        let v = inverse(&precision);
        let mut worst: f64 = 0.0;
        for i in 0..720 {
            let angle = f64::from(i) * std::f64::consts::PI / 720.0;
            let x = [3.0 * angle.cos(), 3.0 * angle.sin()];
            let moved: Vec<f64> = times(&w, &x).iter().map(|z| r * k as f64 * z).collect();
            let shift = times(&v, &moved);
            worst = worst.max(moved.iter().zip(&shift).map(|(a, b)| a * b).sum::<f64>().sqrt());
        }
        assert!(worst <= mu && mu < 1.3 * worst, "{worst} {mu}");
    }

    #[test]
    fn what_it_refuses() {
        let b = build(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 1.0], 2, f64::INFINITY);
        assert_eq!(b.refused(&RULE).code, "E0202");
        let b = build(&[1.0, 0.0, 0.0, 1.0], &[1.0, 2.0, 2.0, 1.0], 2, 1.0);
        assert!(b.not_mine(&RULE).contains("positive definite"));
        let b = build(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 1.0], 2, 1.0).add_remove();
        assert_eq!(b.refused(&RULE).code, "E0307");
    }

    #[test]
    fn a_nearly_singular_prior_is_refused() {
        let attack = [
            0.0011637356962434192,
            0.012905101284169421,
            -0.014014060773836188,
            0.012905101284169421,
            0.1431095173972896,
            -0.15540718576773685,
            -0.014014060773836188,
            -0.15540718576773685,
            0.16876161620531802,
        ];
        let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        for (prior, noise) in [(attack, unit), (unit, attack)] {
            match build(&prior, &noise, 3, 1.0).exactly(1).judge(&RULE) {
                Verdict::Refused(r) => assert_eq!(r.diagnostic.code, "E0203"),
                Verdict::NotMine(reason) => assert!(reason.contains("positive definite"), "{reason}"),
                Verdict::Offers(_) => panic!("matched"),
            }
        }
    }

    #[test]
    fn rounding_to_the_grid_counts_in_the_diameter() {
        // A part of a ball: the first component is known to be in [0, 1], so rounding inwards is not proved.
        let mut b = build(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 1.0], 2, 1.0).exactly(10);
        let plain = diverge(&b.matched(&RULE).claim(Tempering::DIRECT), 2.0);
        if let Type::Vector(v) = &mut b.model.private[0].outcome.ty {
            v.sup.l2 *= 1.5;
            v.sup.l1 *= 1.5;
            assert!(grid::slack(&Type::Vector(v.clone())).l2 > 0.0);
        }
        assert!(diverge(&b.matched(&RULE).claim(Tempering::DIRECT), 2.0) > plain);
    }
}
