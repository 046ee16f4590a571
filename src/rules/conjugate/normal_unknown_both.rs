//! Normal rows whose mean and spread are both unknown: always refused, with the reason.
//!
//! ## Shape
//! Rows `~ normal(mu, s)` where the mean is a parameter and the spread depends on another parameter
//! (normal-inverse-gamma, normal-gamma and their relatives).
//!
//! ## Claim
//! None. The divergence of two such posteriors has a closed form, but its supremum over data sets does not lie at the
//! corners: in 117 of 2278 random configurations a corner maximum was exceeded, by up to a factor 158 (§3.9).
//!
//! ## Refuses
//! Every model of this shape.
//!
//! ## Checked by
//! The published configuration whose interior exceeds its corners.

use crate::model::{Expr, ExprKind, Model, Observation, Parameter};
use crate::rules::tempered::EXACT;
use crate::rules::text::four_near;
use crate::rules::{Answers, Question, Rule, Verdict};
use crate::source::{Diagnostic, Help, Span};

pub static RULE: Rule = Rule {
    name: "normal_unknown_both",
    summary: "normal rows of unknown mean and spread: refused, no bound is known",
    section: "3.9",
    source: include_str!("normal_unknown_both.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge,
};

fn judge(question: &Question) -> Verdict {
    let model = match question.model() {
        Ok(model) => model,
        Err(verdict) => return verdict,
    };
    match model.private.iter().find(|o| both_unknown(o)) {
        Some(o) => refusal(model, o, question).into(),
        None => Verdict::NotMine("rows must be normal with unknown mean and spread".into()),
    }
}

fn both_unknown(o: &Observation) -> bool {
    let ("normal", [mean, spread]) = (o.likelihood.name(), o.likelihood.args.as_slice()) else {
        return false;
    };
    let mut unknown = false;
    spread.walk(&mut |e| unknown |= matches!(e.kind, ExprKind::Param(_)));
    matches!(mean.kind, ExprKind::Param(_)) && unknown
}

fn refusal(model: &Model, o: &Observation, question: &Question) -> Diagnostic {
    let names: Vec<String> = model.parameters.iter().map(|p| format!("`{}`", p.name)).collect();
    let mut d = Diagnostic::new("E0300", format!("no rule in this version covers a joint draw of {}", names.join(" and ")))
        .label(o.outcome.span.to(o.likelihood.span), "both the mean and the spread are unknown here");
    for p in &model.parameters {
        d = d.label(p.span, "unknown");
    }
    d.cause(
        "the worst pair of data sets lies inside the range of the outcome, not at its ends, and grows with n;\n\
         no closed form bounds it, and checking the ends alone can be too small by a factor of 158",
    )
    .helps(ways_out(model, o, question))
}

/// The statements of the two models that have a rule, in the user's names.
fn ways_out(model: &Model, o: &Observation, question: &Question) -> Vec<Help> {
    let [mean, spread] = o.likelihood.args.as_slice() else { return vec![] };
    let y = match o.outcome.kind {
        ExprKind::Column(t, c) => question.context.table(t).and_then(|t| t.columns.get(c.0)).map_or("y", |c| c.name.as_str()),
        _ => "y",
    };
    let of = |e: &Expr| model.parameters.iter().find(|p| e.mentions(p.id));
    let (Some(location), Some(scale)) = (of(mean), of(spread)) else { return vec![] };
    let (mu, sigma) = (&location.name, &scale.name);
    let centre = four_near(typical(location).unwrap_or(0.0));
    let sd = four_near(typical(scale).filter(|x| *x > 0.0).unwrap_or(1.0));
    let (mu_at, sigma_at, observe, release) = (location.span, scale.span, o.span, question.statement);
    let mut lines = vec![];
    // Each way in its lines, and what goes.
    let mut way = |lead: String, gone: &[Span], code: &[(Span, String)]| {
        let edits = code.iter().cloned().chain(gone.iter().map(|span| (*span, String::new()))).collect();
        lines.extend(Help::several(lead, code.iter().map(|(_, code)| code.clone()), edits));
    };
    way(
        format!("fix the spread, without `param {sigma}`:"),
        &[sigma_at],
        &[(observe, format!("observe {y} ~ normal({mu}, {sd})")), (release, format!("release {mu}_hat = draw({mu})"))],
    );
    // What it costs grows with the number of rows.
    if question.context.table(o.table).is_some_and(|t| t.rows.exactly.is_some()) {
        way(
            format!("or fix the mean, without `param {mu}`:"),
            &[mu_at],
            &[
                (sigma_at, "param precision ~ gamma(2, 2)".into()),
                (observe, format!("observe {y} ~ normal({centre}, 1 / sqrt(precision))")),
                (release, "release precision_hat = draw(precision)".into()),
            ],
        );
    }
    way(
        "or release both moments, without a model:".into(),
        &[mu_at, sigma_at],
        &[(observe, format!("release m1 = mean({y}) using gaussian")), (release, format!("release m2 = mean({y}^2) using gaussian"))],
    );
    lines
}

/// A value in the middle of a prior, as an example of a constant.
fn typical(p: &Parameter) -> Option<f64> {
    let args: Option<Vec<f64>> = p.prior.args.iter().map(Expr::constant).collect();
    p.prior.family.about(&args?).map(|(centre, _)| centre).filter(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParamId, Type};
    use crate::rules::testing::{self as t, Build};

    #[test]
    fn refused_with_the_reason() {
        let real = || Type::real(f64::NEG_INFINITY, f64::INFINITY);
        let mut b = Build::prior("normal", &[0.0, 1.0])
            .outcome(Type::real(0.0, 1.0))
            .observe_exprs("normal", vec![t::param(0, real()), t::param(1, real())]);
        let mut sigma = b.model.parameters[0].clone();
        sigma.id = ParamId(1);
        sigma.name = "sigma".into();
        b.model.parameters.push(sigma);
        let d = b.refused(&RULE);
        assert_eq!(d.code, "E0300");
        assert_eq!(d.message, "no rule in this version covers a joint draw of `p` and `sigma`");
        let known = Build::prior("normal", &[0.0, 1.0]).observe_exprs("normal", vec![t::param(0, real()), t::number(1.0)]);
        assert!(known.not_mine(&RULE).contains("unknown mean and spread"));
    }

    /// The pair formula of §3.9: statistics (u, T) = (k0 m0 + sum x, b0 + k0 m0^2 / 2 + sum x^2 / 2).
    fn divergence(l: f64, a: f64, kappa: f64, p: (f64, f64), q: (f64, f64)) -> f64 {
        let b = |(u, t): (f64, f64)| t - u * u / (2.0 * kappa);
        let far = (l * p.0 - (l - 1.0) * q.0, l * p.1 - (l - 1.0) * q.1);
        if b(far) <= 0.0 {
            return f64::INFINITY;
        }
        a / (l - 1.0) * (l * b(p).ln() - (l - 1.0) * b(q).ln() - b(far).ln())
    }

    #[test]
    fn corners_are_not_the_worst() {
        let (m0, k0, a0, b0, lo, hi, n, l) = (2.019, 17.14, 1.05, 0.186, 0.086, 3.544, 20.0, 1.0208);
        let at = |z: f64, x: f64| {
            let u = k0 * m0 + (n - 1.0) * z + x;
            (u, b0 + k0 * m0 * m0 / 2.0 + ((n - 1.0) * z * z + x * x) / 2.0)
        };
        let worst = |points: &[f64]| {
            let mut worst: f64 = 0.0;
            for z in points {
                for x in points {
                    for y in points {
                        let d = divergence(l, a0 + n / 2.0, k0 + n, at(*z, *x), at(*z, *y));
                        worst = worst.max(d);
                    }
                }
            }
            worst
        };
        let inside: Vec<f64> = (0..=60).map(|i| lo + (hi - lo) * f64::from(i) / 60.0).collect();
        let (all, corners) = (worst(&inside), worst(&[lo, hi]));
        assert!(all > 2.0 * corners, "{all} {corners}");
    }
}
