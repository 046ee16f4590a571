//! Linear regression with private features: always refused for a conjugate draw, with the reason.
//!
//! ## Shape
//! `w ~ normal(..)` or `multi_normal(..)`; each row `~ normal(dot(w, x), sd)` where x is a private column.
//!
//! ## Claim
//! None. One row changes the posterior's precision, the supremum over the other rows lies inside their range and
//! grows with n (one feature, c = Y = 1, prior precision 2, order 1.5: 1.00 at n = 1, at least 4.4 at n = 100), and
//! no closed form bounds it (§3.10).
//!
//! ## Refuses
//! Every model of this shape; features declared public belong to `linear_public_design`.
//!
//! ## Checked by
//! The growth of that published configuration with n.

use super::linear_public_design::{Design, design};
use crate::model::print::type_text;
use crate::model::{Model, Observation};
use crate::rules::tempered::EXACT;
use crate::rules::{Answers, Context, Question, Rule, Verdict};
use crate::source::{Diagnostic, Help, Span};

pub static RULE: Rule = Rule {
    name: "linear_private_design",
    summary: "linear regression on private features: refused, no bound is known",
    section: "3.10",
    source: include_str!("linear_private_design.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge,
};

fn judge(question: &Question) -> Verdict {
    let model = match question.model() {
        Ok(model) => model,
        Err(verdict) => return verdict,
    };
    if model.parameters.iter().any(|p| p.truncated.is_some()) {
        return Verdict::NotMine("weights are cut to a domain: glm_on_ball says more".into());
    }
    let found = model.parameters.first().and_then(|p| {
        let private = |o: &&Observation| matches!(design(o, p.id, &question.context), Some(Design { public: false, .. }));
        model.private.iter().find(private)
    });
    match found {
        Some(o) => refusal(model, o, question.statement, &question.context).into(),
        None => Verdict::NotMine("rows must be normal(dot(w, x), sd) with a private x".into()),
    }
}

fn refusal(model: &Model, o: &Observation, statement: Span, context: &Context) -> Diagnostic {
    let name = model.parameters.first().map_or("w", |p| p.name.as_str());
    let features = o.likelihood.args.first().map_or(o.span, |e| e.span);
    let mut d =
        Diagnostic::new("E0300", format!("no rule in this version covers a draw of `{name}` from a regression on private features"))
            .label(features, "the features are private");
    let mut columns = vec![];
    if let Some(mean) = o.likelihood.args.first() {
        mean.walk(&mut |e| {
            if let crate::model::ExprKind::Column(table, column) = e.kind {
                let column = context.table(table).and_then(|t| t.columns.get(column.0));
                columns.extend(column.filter(|c| !c.public));
            }
        });
    }
    for column in &columns {
        d = d.label(column.span, "private column");
    }
    let feature = columns.first().map_or("x", |c| c.name.as_str());
    d.cause(
        "one changed row changes how sharp the posterior is, not only where it lies; the worst such change lies\n\
         inside the range of the other rows, grows with n, and has no known bound",
    )
    .helps(columns.first().map(|c| {
        let code = format!("{feature}: public {}", type_text(&c.ty));
        Help::from(("if the features are public (only the outcome is private):", code)).over(c.span)
    }))
    .help(
        Help::from(("or release the posterior given noisy sums of products:", format!("release post = posterior({name})"))).over(statement),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Builtin, ColumnId, ExprKind, Label, Type};
    use crate::rules::testing::{self as t, Build, TABLE};

    #[test]
    fn refused_with_the_reason() {
        let x = t::expr(ExprKind::Column(TABLE, ColumnId(1)), t::ball(2, 1.0), Label::Row(TABLE));
        let w = t::param(0, t::ball(2, f64::INFINITY));
        let dot = ExprKind::Call(Builtin::Dot, vec![w, x]);
        let dot = t::expr(dot, Type::real(-1.0, 1.0), Label::Mix(TABLE));
        let b = Build::prior("normal", &[0.0, 1.0]).outcome(Type::real(0.0, 1.0)).observe_exprs("normal", vec![dot, t::number(1.0)]);
        let d = b.refused(&RULE);
        assert_eq!((d.code, d.labels[1].text.as_str()), ("E0300", "private column"));
        let b = Build::prior("normal", &[0.0, 1.0]).bernoulli();
        assert!(b.not_mine(&RULE).contains("private x"));
    }

    /// One feature: D of order l between two posteriors given precision and precision times mean.
    fn divergence(l: f64, p: (f64, f64), q: (f64, f64)) -> f64 {
        let c = |(s, u): (f64, f64)| u * u / (2.0 * s) - 0.5 * s.ln();
        let far = (l * p.0 - (l - 1.0) * q.0, l * p.1 - (l - 1.0) * q.1);
        if far.0 <= 0.0 {
            return f64::INFINITY;
        }
        (c(far) - l * c(p)) / (l - 1.0) + c(q)
    }

    #[test]
    fn the_cost_grows_with_the_rows() {
        let worst = |n: i32| {
            let mut worst: f64 = 0.0;
            for i in 0..=100 {
                let z = f64::from(i) / 100.0;
                let at = |x: f64, y: f64| {
                    let others = f64::from(n - 1);
                    (2.0 + others * z * z + x * x, others * z + x * y)
                };
                for (x, y, x2, y2) in [(1.0, 1.0, 1.0, -1.0), (0.0, 1.0, 1.0, -1.0), (1.0, -1.0, 0.0, 1.0)] {
                    worst = worst.max(divergence(1.5, at(x, y), at(x2, y2)));
                }
            }
            worst
        };
        assert!((worst(1) - 1.0).abs() < 0.1, "{}", worst(1));
        assert!(worst(100) > 2.0 * worst(1), "{}", worst(100));
    }
}
