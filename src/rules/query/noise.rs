//! Laplace, Gaussian and two-sided geometric noise on an aggregate.
//!
//! ## Shape
//! A number or vector with finite sensitivity: D1 (L1) for `laplace(scale =)` and `geometric(scale =)`, D2 (L2) for
//! `gaussian(sigma =)`. `geometric` answers counts, histograms and sums of integers.
//!
//! ## Claim
//! Laplace noise of scale b, rounded to a public grid: pure `eps = D1 / b` with the Laplace curve. A normal draw of standard
//! deviation sigma, rounded to a public grid, to integers where the answer is one: GDP with `mu = D2 / sigma`. Noise with `P(k) ~ exp(-|k| / scale)` on the
//! integers: pure `eps = D1 / scale` with the pure-DP curve, which the discrete law attains; the continuous Laplace curve
//! would be too small (§8.7).
//!
//! ## Refuses
//! Scales outside [1e-200, 1e200]; queries that are not computed exactly; infinite sensitivity; quantiles.
//!
//! ## Checked by
//! The ratio of densities at every shift; the divergence of two shifted normals by integration; the divergence of
//! unit-shifted laws summed over the integers; program 13.

use super::sensitivity::in_group;
use super::shared::{dimension, drawable, noisy, premises, quantile, scale, with_slack};
use crate::mechanism::grid_slack;
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, Norms, Range, Relation, Type};
use crate::numeric::amount::ratio_up;
use crate::numeric::decimal::sig_up;
use crate::numeric::quotient;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::{Knob, Offer, PredictedError, View, assumed_rows};
use crate::rules::{Answers, Match, Premise, Question, Rule, Verdict, not_mine, offers};

static LAPLACE_NOISE: Mechanism = Mechanism::new("laplace", &[Arg::positive("scale")]);
static GAUSSIAN_NOISE: Mechanism = Mechanism::new("gaussian", &[Arg::positive("sigma")]);
static GEOMETRIC_NOISE: Mechanism = Mechanism::new("geometric", &[Arg::positive("scale")]);

pub static LAPLACE: Rule = rule("laplace", "Laplace noise on an aggregate", &[&LAPLACE_NOISE], |q| judge(q, &OF_LAPLACE));
pub static GAUSSIAN: Rule = rule("gaussian", "normal noise on an aggregate", &[&GAUSSIAN_NOISE], |q| judge(q, &OF_GAUSSIAN));
pub static GEOMETRIC: Rule = rule("geometric", "two-sided geometric noise on integers", &[&GEOMETRIC_NOISE], |q| judge(q, &OF_GEOMETRIC));

const fn rule(
    name: &'static str,
    summary: &'static str,
    mechanisms: &'static [&'static Mechanism],
    judge: fn(&Question) -> Verdict,
) -> Rule {
    Rule { name, summary, section: "8.7", source: include_str!("noise.rs"), answers: Answers::Queries, mechanisms, judge }
}

/// One kind of noise, as a function of its scale.
struct Kind {
    rule: &'static Rule,
    knob: Knob,
    /// The norm that counts, and its name.
    norm: fn(&Norms) -> f64,
    which: &'static str,
    integers: bool,
    /// The claim of the ratio of sensitivity and scale.
    claim: fn(f64) -> Claim,
    noise: fn(f64) -> Noise,
    /// The 95 % bound on the size of one component.
    bound: fn(f64) -> f64,
    quotient: quotient::Shape,
    /// The shape of the gamma law of the square of one component: its mean squared over its variance.
    shape: f64,
}

/// The 95 % quantile of the length of `dimension` independent components, over that of one. A sum of squares of components is taken for
/// a gamma law with its mean and variance, whose quantile is that of Wilson and Hilferty: within 3 % for normal and Laplace noise.
pub(super) fn longer(dimension: f64, shape: f64) -> f64 {
    let quantile = |k: f64| {
        let v = 1.0 / (9.0 * k * shape);
        k * (1.0 - v + 1.644_853_626_951_472_7 * v.sqrt()).powi(3)
    };
    (quantile(dimension) / quantile(1.0)).sqrt()
}

static OF_LAPLACE: Kind = Kind {
    rule: &LAPLACE,
    knob: Knob::Noise("scale"),
    norm: |n| n.l1,
    which: "L1",
    integers: false,
    claim: |epsilon| Claim::Laplace { epsilon },
    noise: |scale| Noise::Laplace { scale },
    // P(|noise| > t) = exp(-t / scale) = 0.05
    bound: |scale| scale * 20f64.ln(),
    quotient: quotient::Shape::Laplace,
    shape: 0.2,
};

static OF_GAUSSIAN: Kind = Kind {
    rule: &GAUSSIAN,
    knob: Knob::Noise("sigma"),
    norm: |n| n.l2,
    which: "L2",
    integers: false,
    claim: |mu| Claim::Gdp { mu },
    noise: |sigma| Noise::Gaussian { sigma },
    bound: |sigma| 1.959_963_984_540_054 * sigma,
    quotient: quotient::Shape::Normal,
    shape: 0.5,
};

static OF_GEOMETRIC: Kind = Kind {
    rule: &GEOMETRIC,
    knob: Knob::Noise("scale"),
    norm: |n| n.l1,
    which: "L1",
    integers: true,
    claim: |epsilon| Claim::Pure { epsilon },
    noise: |scale| Noise::Geometric { scale },
    // P(|k| > t) = 2 p^(t + 1) / (1 + p), p = exp(-1 / scale); the least integer t with at most 0.05.
    bound: |scale| {
        let p = (-1.0 / scale).exp();
        ((0.025 * (1.0 + p)).ln() / p.ln() - 1.0).ceil().max(0.0)
    },
    quotient: quotient::Shape::Laplace,
    shape: 0.2,
};

/// `sum(c * [(x - middle) / half, weight])` with a bool c, the parts of a mean: half and weight.
fn parts_of_mean(value: &Expr) -> Option<(f64, f64)> {
    let call = |e: &'_ Expr, f: Builtin| matches!(&e.kind, ExprKind::Call(g, _) if *g == f);
    let [row] = value.parts().try_into().ok().filter(|_| call(value, Builtin::RowSum))?;
    let [c, list] = row.parts().try_into().ok().filter(|_| call(row, Builtin::Mul))?;
    let [x, weight] = list.parts().try_into().ok().filter(|_| matches!(list.kind, ExprKind::List(_)) && c.ty == Type::Bool)?;
    let half = match x.parts().as_slice() {
        [_, by] if call(x, Builtin::Div) => by.constant()?,
        _ => 1.0,
    };
    let scaled = x.ty.is_scalar_number() && x.ty.range().is_some_and(|r| r.within(Range::new(-1.0, 1.0)));
    weight.constant().filter(|w| scaled && *w > 0.0 && half > 0.0).map(|w| (half, w))
}

/// Is the value an integer (or a vector of integers) whatever the data are?
fn integer(e: &Expr) -> bool {
    let rows = |e: &Expr| matches!(e.ty, Type::Bool | Type::Int(_) | Type::Counts { .. });
    match &e.kind {
        ExprKind::Call(Builtin::RowCountAgg | Builtin::RowHistogram, _) => true,
        ExprKind::Call(Builtin::RowSum, args) => args.iter().all(rows),
        ExprKind::Call(Builtin::Add | Builtin::Sub | Builtin::Neg, args) => args.iter().all(integer),
        ExprKind::Call(Builtin::Mul, args) => args.iter().all(integer),
        ExprKind::RowCount(_) => true,
        _ => e.constant().is_some_and(|x| x.fract() == 0.0 && x.abs() < 9e15),
    }
}

/// Noise on a query, with its sensitivity under every view that the groups around it need.
struct Noisy {
    kind: &'static Kind,
    query: AggregateQuery,
    dimension: f64,
    /// That of neighbours as the query stands first; inside groups of a private key also of rows that come or go, or are exchanged.
    sensitivity: Vec<(View, f64)>,
    premises: Vec<Premise>,
}

fn judge(question: &Question, kind: &'static Kind) -> Verdict {
    offers(find(question, kind).map(|noisy| vec![Box::new(noisy) as Box<dyn Offer>]))
}

fn find(question: &Question, kind: &'static Kind) -> Match<Noisy> {
    let (query, context) = (question.query()?, &question.context);
    let fits = |e: &Expr| if kind.integers { integer(e) } else { quantile(e).is_none() };
    let Some(dimension) = dimension(&query.value).filter(|_| fits(&query.value)) else {
        return not_mine(if kind.integers {
            "the query must be a count, a histogram or a sum of integers"
        } else {
            "the query must be a sum, mean, count or histogram"
        });
    };
    scale(question.arguments(kind.rule.own()), kind.knob)?;
    let of = |query: &AggregateQuery| noisy(query, (kind.norm)(&query.sensitivity), kind.which, context);
    let own = of(query)?;
    let mut premises = premises(query, kind.which, own, context);
    if kind.integers {
        premises.push(Premise::holds("the answer is an integer", Some(query.value.span)));
    }
    let mut sensitivity = vec![(View::from(query.records.relation), own)];
    if question.secret_groups && query.records.relation == Relation::ReplaceOne {
        for view in [View::AddRemove, View::Exchange] {
            let seen = AggregateQuery { sensitivity: in_group(query, view), ..query.clone() };
            sensitivity.extend(of(&seen).ok().map(|moved| (view, moved)));
        }
    }
    Ok(Noisy { kind, query: query.clone(), dimension, sensitivity, premises })
}

impl Noisy {
    fn noise(&self, x: f64) -> MechanismPlan {
        let plan = |noise| MechanismPlan::Noise { table: self.query.table, value: self.query.value.clone(), noise };
        let noise = (self.kind.noise)(x);
        if let Noise::Gaussian { sigma } = noise {
            // An integer plus a normal number, rounded, is the integer plus the rounded number: post-processing, with the same claim.
            let rounded = plan(Noise::Rounded { sigma });
            let quotient = matches!(self.query.value.kind, ExprKind::Call(Builtin::RowMean | Builtin::Div, _));
            if !quotient && grid_slack(&rounded) == 0.0 {
                return rounded;
            }
        }
        plan(noise)
    }

    fn bound(&self, x: f64) -> f64 {
        (self.kind.bound)(x) * longer(self.dimension, self.kind.shape)
    }

    /// How far the middle of what the answer can be is from the truth at most.
    fn middle(&self) -> Option<f64> {
        let radius = |e: &Expr| {
            let half = 0.5 * e.ty.range()?.width();
            Some(if let Type::Vector(v) = &e.ty { (half * (v.dim as f64).sqrt()).min(v.sup.l2) } else { half })
        };
        let rows = assumed_rows(self.query.records.rows);
        let found = match (&self.query.value.kind, self.query.value.parts().as_slice()) {
            (ExprKind::Call(Builtin::RowMean, _), [x]) => radius(x),
            (ExprKind::Call(Builtin::RowSum, _), [x]) => radius(x).map(|r| rows * r),
            (ExprKind::Call(Builtin::RowHistogram, _), _) => Some(rows),
            _ => radius(&self.query.value),
        };
        found.filter(|m| m.is_finite() && *m > 0.0)
    }
}

impl Offer for Noisy {
    fn rule(&self) -> &'static Rule {
        self.kind.rule
    }

    fn knob(&self) -> Knob {
        self.kind.knob
    }

    fn start(&self) -> f64 {
        self.sensitivity.first().map_or(1.0, |(_, moved)| *moved)
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let (_, moved) = self.sensitivity.iter().find(|(v, _)| *v == view)?;
        if !drawable(x) {
            return Some((self.kind.claim)(f64::INFINITY));
        }
        // Once for every row of a unit: it may have rows in as many groups.
        let places = self.dimension * self.query.records.unit_rows as f64;
        Some((self.kind.claim)(ratio_up(with_slack(*moved, places, &self.noise(x)), x)))
    }

    /// On integers, noise that keeps them integers comes first: models of released counts know its law.
    fn last_resort(&self) -> bool {
        std::ptr::eq(self.kind, &raw const OF_LAPLACE) && integer(&self.query.value)
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        Some(self.noise(x))
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        match parts_of_mean(&self.query.value) {
            Some((half, weight)) => {
                let rows = 0.5 * assumed_rows(self.query.records.rows);
                // The mean may lie anywhere between the bounds: the mean of its square is a third, where they are -1 and 1.
                let noise = [x, x / (weight * 3_f64.sqrt())];
                PredictedError::of_mean((quotient::bound(self.kind.quotient, noise) * half / rows).min(half), half)
            }
            None if self.dimension > 1.0 => PredictedError::of_answers(self.bound(x), (self.kind.bound)(x), self.middle()),
            None => PredictedError::of_answer(self.bound(x), self.middle()),
        }
    }

    fn remark(&self, x: f64) -> String {
        match parts_of_mean(&self.query.value) {
            Some(_) => format!("95% of means within {}, if half of the rows are chosen", sig_up(self.predicted_error(x).value, 3)),
            None => format!("95% of answers within {}", sig_up(self.bound(x), 3)),
        }
    }
}
