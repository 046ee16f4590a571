//! Linear regression with public features and a private outcome: one draw of the weights.
//!
//! ## Shape
//! `w ~ normal(m, s)` a component or `multi_normal(m0, S0)`; each row `~ normal(dot(w, x), sd)` with public x,
//! `|x| <= c` by its type, a public sd and an outcome in `[lo, hi]`.
//!
//! ## Claim
//! mu-GDP at every order (§3.7). Unless the features are given (`--public`, §4.5: then `r / sd^2` times the least
//! eigenvalue of their X'X stands for what one row proves), they are known only at run time, so the claim holds for every
//! design the type allows. With `L = L0 / m + r X'X / sd^2` and a unit's k rows G, the rows of the unit itself are part of X:
//! `L >= L0 / m + (r / sd^2) G'G`. By Woodbury `G L^-1 G' <= H (I + a H)^-1` with `H = m G L0^-1 G'`, `a = r / sd^2`;
//! the eigenvalues h of H are at most `k q`, `q = m c^2 largest(L0^-1)`, and `h / (1 + a h)` grows with h. So
//! `mu^2 <= (r (hi - lo) / sd^2)^2 k * k q / (1 + a k q)`, reached by k equal rows along the top axis and no others.
//!
//! ## Refuses
//! Features or an outcome without bounds; a secret n; public rows of another table.
//!
//! ## Checked by
//! Random designs of up to five rows: the claim bounds every unit's mean shift, and one equal-row design reaches it.

use super::expected;
use super::facts::{Facts, one_private, outcome_range, point, positive_argument, public_argument, within_reach};
use super::refusals;
use super::vector_prior::{VectorPrior, sharpened, times, vector_prior};
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Builtin, Expr, ExprKind, Label, Model, Observation, ParamId, Parameter, Range, Relation, Request, Type, grid};
use crate::numeric::amount::stated_up;
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_up};
use crate::privacy::Claim;
use crate::rules::count::count_up;
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge};
use crate::rules::text::{four_up, plain};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::Span;

pub static RULE: Rule = Rule {
    name: "linear_public_design",
    summary: "linear regression on public features: one draw of the weights",
    section: "3.7",
    source: include_str!("linear_public_design.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

/// The parts of `normal(dot(w, x), sd)`.
pub(crate) struct Design<'a> {
    pub x: &'a Expr,
    pub sd: &'a Expr,
    /// Is every column that x reads public?
    pub public: bool,
}

/// The x of `dot(w, x)`.
pub(crate) fn dotted(e: &Expr, w: ParamId) -> Option<&Expr> {
    let ExprKind::Call(Builtin::Dot, args) = &e.kind else { return None };
    match args.as_slice() {
        [a, x] | [x, a] if a.is_param(w) && !x.mentions(w) => Some(x),
        _ => None,
    }
}

/// Is this row `normal(dot(w, x), sd)` with features x and a public sd?
pub(crate) fn design<'a>(o: &'a Observation, w: ParamId, context: &Context) -> Option<Design<'a>> {
    let ("normal", [mean, sd]) = (o.likelihood.name(), o.likelihood.args.as_slice()) else {
        return None;
    };
    let x = dotted(mean, w)?;
    public_argument(sd).ok()?;
    let mut public = matches!(x.label, Label::Public | Label::Row(_));
    x.walk(&mut |e| {
        if let ExprKind::Column(table, column) = e.kind {
            let column = context.table(table).and_then(|t| t.columns.get(column.0));
            public &= column.is_some_and(|c| c.public);
        }
    });
    Some(Design { x, sd, public })
}

struct Weights {
    facts: Facts,
    prior: VectorPrior,
    sd: Range,
    outcome: Range,
    /// Largest L2 norm of a feature vector.
    norm: f64,
    /// At most the least eigenvalue of X'X over the square of that norm; 1 where no more is known, as the unit's own rows are in it.
    counted: f64,
    statistic: Statistic,
}

fn find(model: &Model, context: &Context) -> Match<Weights> {
    const SHAPE: &str = "rows must be normal(dot(w, x), sd) with public x and sd";
    let ([parameter], Request::Draw { .. }) = (model.parameters.as_slice(), &model.request) else {
        return not_mine("the model must have one vector parameter with a normal prior");
    };
    let prior = vector_prior(parameter)?;
    let found = |o| design(o, parameter.id, context).filter(|d| d.public);
    if model.private.is_empty() || !model.private.iter().all(|o| found(o).is_some()) {
        return not_mine(SHAPE);
    }
    if !model.public.is_empty() {
        return not_mine("public rows are not part of this rule");
    }
    let observation = one_private(model, &parameter.name)?;
    let (Some(d), Some(y)) = (found(observation), Some(&observation.outcome)) else {
        return not_mine(SHAPE);
    };
    let norm = match &d.x.ty {
        // The features are rounded to a grid before they are multiplied.
        ty @ Type::Vector(v) => add_up(v.sup.l2, grid::slack(ty).l2),
        _ => f64::INFINITY,
    };
    if !norm.is_finite() {
        let span = y.span.to(observation.likelihood.span);
        return refuse(refusals::unbounded_features(d.x, span, context));
    }
    within_reach(norm, d.x.span, "the bound on the features")?;
    let outcome = outcome_range(observation, model, context, Range::ALL)?;
    if model.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(
            RULE.name,
            &parameter.name,
            observation.span,
            model.records,
            "the features of every row are public, so their number is too",
            context,
        ));
    }
    let spread = known_spread(parameter, norm, context);
    let mut facts = Facts::collect(&RULE, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(outcome.lo), plain(outcome.hi)), Some(y.span));
    facts.premise(format!("the features are public, of norm at most {}", four_up(norm)), Some(d.x.span));
    if let Some((n, _)) = spread.filter(|s| s.1 > 1.0) {
        let text = format!("the features of all {n} rows are known: by the least eigenvalue of their X'X they bound what a row can move");
        facts.premise(text, Some(d.x.span));
    }
    Ok(Weights {
        counted: spread.map_or(1.0, |s| s.1.max(1.0)),
        sd: positive_argument(d.sd, "the known sd")?,
        norm,
        outcome,
        prior,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Moments { x: d.x.clone(), y: y.clone(), added: None } },
        facts,
    })
}

/// Rows of a design that is bound, and the least eigenvalue of their X'X over the square of the norm, rounded down.
fn known_spread(parameter: &Parameter, norm: f64, context: &Context) -> Option<(u64, f64)> {
    let design = context.public.design.as_ref()?;
    // Products are those of features times the sd of a normal prior, which is then a constant.
    let unit = if parameter.prior.name() == "normal" { parameter.prior.args.get(1)?.constant()? } else { 1.0 };
    let longest = mul_up(norm, unit);
    Some((design.rows, div_down(design.stored_least(longest), mul_up(longest, longest))))
}

impl Matched for Weights {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn reads_design(&self) -> bool {
        true
    }

    fn claim(&self, t: Tempering) -> Claim {
        // mu^2 = r^2 w^2 k / (sd^4 / (k q) + r sd^2): the smallest sd and the largest q are the worst. A design is known for k = 1
        // alone, where r sd^2 counts as often as X'X proves.
        let k = count_up(self.facts.records.unit_rows);
        let q = mul_up(mul_up(self.norm, self.norm), mul_up(self.prior.largest, t.concentration));
        let variance = mul_down(self.sd.lo, self.sd.lo);
        let spread = div_down(mul_down(variance, variance), mul_up(k, q));
        let below = add_down(spread, mul_down(mul_down(t.weight, self.counted), variance));
        let moved = mul_up(t.weight, self.outcome.width());
        let square = div_up(mul_up(mul_up(moved, moved), k), below);
        Claim::Gdp { mu: if q == 0.0 { 0.0 } else { stated_up(sqrt_up(square)) } }
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        // mu falls with the precision and the variance: the precision is rounded up on top of what `largest` allows
        // for, and sd * sd is not below its rounding down in the claim. The mean of the prior only moves the draw.
        let sd = point(self.sd)?;
        let own = &self.prior.precision.as_ref()?.entries;
        let moment = times(own, self.prior.mean.as_ref()?);
        let law = PosteriorLaw::Linear {
            dim: self.prior.dim,
            precision: own.iter().map(|x| sharpened(*x, t.concentration)).collect(),
            precision_mean: moment.iter().map(|x| x / t.concentration).collect(),
            variance: sd * sd,
        };
        Some((law, self.statistic.clone()))
    }

    fn takes_features_as_bounded(&self) -> bool {
        true
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        // As if the features were spread evenly over the axes at their largest norm.
        let dim = self.prior.dim as f64;
        let data = rows * self.norm * self.norm / (dim * self.sd.hi * self.sd.hi);
        let squares = (0..self.prior.dim).map(|i| {
            let v = self.prior.covariance.as_ref().map_or(self.prior.largest, |c| c.at(i, i));
            expected::normal(1.0 / v, data, t.weight, t.concentration)
        });
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
    use super::super::vector_prior::Covariance;
    use super::*;
    use crate::model::ColumnId;
    use crate::rules::testing::{self as t, Build, TABLE, tempered};

    fn build(prior_sd: f64, sd: f64, norm: f64, lo: f64, hi: f64) -> Build {
        let x = t::expr(ExprKind::Column(TABLE, ColumnId(1)), t::ball(2, norm), Label::Public);
        let w = t::param(0, t::ball(2, f64::INFINITY));
        let dot = ExprKind::Call(Builtin::Dot, vec![w.clone(), x]);
        let dot = t::expr(dot, Type::real(-norm, norm), Label::Latent);
        let prior = vec![t::number(0.0), t::number(prior_sd)];
        let mut b = Build::prior_exprs("normal", prior, w.ty).outcome(Type::real(lo, hi)).observe_exprs("normal", vec![dot, t::number(sd)]);
        b.program.tables[0].columns[1].public = true;
        b
    }

    fn mu(b: &Build, at: Tempering) -> f64 {
        match b.matched(&RULE).claim(at) {
            Claim::Gdp { mu } => mu,
            other => panic!("{other:?}"),
        }
    }

    /// The mean shift in units of the posterior's spread when the first k outcomes move by `e`.
    fn shift(rows: &[[f64; 2]], e: &[f64], prior_sd: f64, sd: f64, r: f64, m: f64) -> f64 {
        let mut l = [1.0 / (prior_sd * prior_sd * m), 0.0, 0.0, 1.0 / (prior_sd * prior_sd * m)];
        for x in rows {
            for i in 0..4 {
                l[i] += r / (sd * sd) * x[i / 2] * x[i % 2];
            }
        }
        let mut d = [0.0; 2];
        for (x, e) in rows.iter().zip(e) {
            d[0] += r / (sd * sd) * e * x[0];
            d[1] += r / (sd * sd) * e * x[1];
        }
        let l = Covariance { dim: 2, entries: l.to_vec() };
        let v = times(&l.inverse().unwrap().entries, &d);
        (v[0] * d[0] + v[1] * d[1]).sqrt()
    }

    #[test]
    fn no_design_costs_more_and_one_costs_as_much() {
        let (prior_sd, sd, norm, lo, hi, r, m) = (1.3, 0.8, 1.5, -1.0, 2.0, 0.7, 0.6);
        for k in [1usize, 2, 3] {
            let b = build(prior_sd, sd, norm, lo, hi).unit(k as u64);
            let bound = mu(&b, tempered(r, m));
            let equal = vec![[norm, 0.0]; k];
            let reached = shift(&equal, &vec![hi - lo; k], prior_sd, sd, r, m);
            t::assert_tight(bound, reached, k);
            // A fixed pseudo-random sequence of designs (a linear congruence).
            let mut state = 12345u64;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            for _ in 0..2000 {
                let n = k + (next() * 3.0) as usize;
                let rows: Vec<[f64; 2]> = (0..n)
                    .map(|_| {
                        let (angle, length) = (6.3 * next(), norm * next().sqrt());
                        [length * angle.cos(), length * angle.sin()]
                    })
                    .collect();
                let signs: Vec<f64> = (0..k).map(|_| if next() < 0.5 { hi - lo } else { lo - hi }).collect();
                assert!(shift(&rows, &signs, prior_sd, sd, r, m) <= bound * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn what_it_refuses() {
        let b = build(1.0, 1.0, f64::INFINITY, 0.0, 1.0);
        assert_eq!(b.refused(&RULE).code, "E0202");
        let b = build(1.0, 1.0, 1.0, 0.0, f64::INFINITY);
        assert_eq!(b.refused(&RULE).code, "E0202");
        let b = build(1.0, 1.0, 1.0, 0.0, 1.0).add_remove();
        assert_eq!(b.refused(&RULE).code, "E0307");
        let mut b = build(1.0, 1.0, 1.0, 0.0, 1.0);
        b.program.tables[0].columns[1].public = false;
        assert!(b.not_mine(&RULE).starts_with("rows must be normal(dot"));
    }
}
