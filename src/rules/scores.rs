//! Noisy scores and products of features of rows of trials or counts at weight 0: what one unit moves, and the models they fit.

use super::classes;
use super::conjugate::facts::{self, Facts};
use super::conjugate::{NormalWeights, dotted, normal_weights, unbounded_features};
use super::text::{four_up, plain};
use super::whole::secret_rows;
use super::{Match, Premise, Question, Rule, not_mine, refuse};
use crate::mechanism::plan::{Law, Statistic, StatisticKind, WholeFamily};
use crate::model::expr::addends::{apart, apart_in_exponent};
use crate::model::{Builtin, Expr, ExprKind, Observation, ParamId, Range, Relation, Type, Unary, grid};
use crate::numeric::Interval;
use crate::numeric::amount::stated_up;
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{add_up, div_down, div_up, mul_down, mul_up, sqrt_up};
use crate::rules::count::count_up;
use crate::source::Diagnostic;

/// Noise on so many products is drawn.
const MOST_WEIGHTS: usize = 100;
/// Standard deviations of noise that samplers draw on the grid and certificates print well.
const DRAWABLE: Range = Range { lo: 1e-6, hi: 1e12 };
/// How far predictors of levels may be apart before the rows are seen.
const MOST_APART: f64 = 1e4;
/// Counts that are read, and shapes of their laws.
const COUNTS: Range = Range { lo: 0.0, hi: 1e9 };
const SHAPES: Range = Range { lo: 1e-3, hi: 1e6 };
/// Below this what is summed first is all rounding.
const LEAST_LOG: f64 = 1e-6;

/// E0202: an offset without bounds.
fn unbounded_addition(e: &Expr) -> Diagnostic {
    Diagnostic::new("E0202", "what is added to the predictor has no bounds, so one person can move the posterior without limit")
        .label(e.span, "any number, for some row")
        .cause("the logarithm of a count less what is added is what a row adds to the first sums")
        .help("declare ranges of the columns in it, or clip it as in `clip(o, -2, 2)`")
}

/// Noise on products over that on scores where scores and norms are at most 1/2 and 1: near the least error at a given cost.
const RATIO: f64 = 1.5;

/// Standard deviations of the noise on scores, and on squares of features; on a product of two it is `products / sqrt(2)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sizes {
    pub scores: f64,
    pub products: f64,
}

impl Sizes {
    pub fn drawable(self) -> bool {
        DRAWABLE.contains(self.scores) && DRAWABLE.contains(self.products)
    }
}

/// A matched regression: rows of trials or counts around `dot(w, x)`.
#[derive(Clone)]
pub(super) struct Scores {
    pub facts: Facts,
    pub prior: NormalWeights,
    pub law: Law,
    pub trials: f64,
    /// Largest size of the outcomes that are summed, and what they are.
    pub most: f64,
    pub summed: String,
    /// Largest L2 norm of a row's features on their grid.
    pub norm: f64,
    pub statistic: Statistic,
}

/// A row as it is read: its features, what is added to `dot(w, x)`, and its law.
struct Row<'a> {
    x: &'a Expr,
    added: Option<Expr>,
    law: Law,
}

type Read = fn(&Observation, ParamId) -> Option<Row<'_>>;

/// A row of trials.
fn trials(o: &Observation, w: ParamId) -> Option<Row<'_>> {
    let (t, law) = match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("bernoulli_logit", [t]) => (t, Law::Logit { trials: 1 }),
        ("binomial_logit", [n, t]) => {
            let trials = n.constant().filter(|n| n.fract() == 0.0 && (1.0..=1e6).contains(n))? as u64;
            (t, Law::Logit { trials })
        }
        ("bernoulli_probit", [t]) => (t, Law::Probit),
        ("bernoulli_cloglog", [t]) => (t, Law::Cloglog),
        _ => return None,
    };
    dotted(t, w).map(|x| Row { x, added: None, law })
}

/// A row of trials, or of counts with a logarithmic link.
fn any(o: &Observation, w: ParamId) -> Option<Row<'_>> {
    let weights = |e| dotted(e, w);
    let ((x, added), shape) = match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("poisson_log", [t]) => (apart(t, weights)?, f64::INFINITY),
        ("poisson", [mean]) => (apart_in_exponent(mean, weights)?, f64::INFINITY),
        ("neg_binomial_2", [mean, shape]) => (apart_in_exponent(mean, weights)?, shape.constant().filter(|s| SHAPES.contains(*s))?),
        ("categorical_logit", _) => {
            let (x, classes) = classes::features(o, w)?;
            return Some(Row { x, added: None, law: Law::Classes { classes } });
        }
        _ => return trials(o, w),
    };
    if added.as_ref().is_some_and(|e| e.mentions(w)) {
        return None;
    }
    let logs = o.outcome.ty.range().map_or((0.0, 0.0), |r| ((r.lo + 0.5).ln(), (r.hi + 0.5).ln()));
    let same = |(place, e): (usize, &Expr)| e.ty.range().filter(|r| r.is_point() && r.lo != 0.0).map(|r| (place, r.lo));
    let constants = if let ExprKind::List(items) = &x.kind { items.iter().enumerate().filter_map(same).collect() } else { vec![] };
    let constant = constants.into_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    Some(Row { x, added, law: Law::Counts { shape, logs, constant } })
}

/// The logarithm of a count and a half, less what is added to its predictor, with its largest size; `None` where a range is not a number's.
fn logarithm(y: &Expr, added: Option<&Expr>, span: crate::source::Span) -> Option<(Expr, f64)> {
    let range = |i: Interval| Range::new(i.lo, i.hi);
    let more = y.ty.range().map(|r| Interval::new(r.lo, r.hi) + Interval::point(0.5))?;
    let half = facts::apply(Builtin::Add, vec![y.clone(), facts::literal(0.5, span)], range(more), span);
    let log = facts::apply(Builtin::Unary(Unary::Log), vec![half], range(more.ln()), span);
    let (of, logs) = match added {
        None => (log, more.ln()),
        Some(e) => {
            let part = e.ty.range().filter(|r| r.is_finite() && e.ty.is_scalar_number()).map(|r| Interval::new(r.lo, r.hi))?;
            let logs = more.ln() - part;
            (facts::apply(Builtin::Sub, vec![log, e.clone()], range(logs), span), logs)
        }
    };
    Some((of, logs.magnitude()))
}

impl Scores {
    /// Reads the model of a question whose rows are logistic; `Refused` where it is one but for a bound or a public n.
    pub fn logistic(rule: &'static Rule, question: &Question) -> Match<Scores> {
        const ROWS: &str = "rows must be bernoulli_logit(dot(w, x)) or binomial_logit(N, dot(w, x))";
        Scores::find(rule, question, ROWS, |o, w| trials(o, w).filter(|row| matches!(row.law, Law::Logit { .. })))
    }

    /// The same, where they may also have another link or be counts.
    pub fn of_rows(rule: &'static Rule, question: &Question) -> Match<Scores> {
        const ROWS: &str =
            "rows must be normal, logistic, binomial, probit, cloglog or counts around one dot(w, x), or categorical_logit(W * x)";
        Scores::find(rule, question, ROWS, any)
    }

    fn find(rule: &'static Rule, question: &Question, wanted: &str, read: Read) -> Match<Scores> {
        let (model, context) = (question.model()?, &question.context);
        let [parameter] = model.parameters.as_slice() else {
            return not_mine("the model must have one vector of weights; an intercept is a feature that is 1");
        };
        if model.private.is_empty() || !model.private.iter().all(|o| read(o, parameter.id).is_some()) {
            return not_mine(wanted);
        }
        let prior = normal_weights(parameter)?;
        if !model.public.is_empty() {
            return not_mine("public rows are not part of this rule");
        }
        if prior.dim > MOST_WEIGHTS {
            return not_mine(format!("at most {MOST_WEIGHTS} weights"));
        }
        let observation = facts::one_private(model, &parameter.name)?;
        let Some(Row { x, added, law }) = read(observation, parameter.id) else { return not_mine(wanted) };
        let trials = law.trials();
        let norm = match &x.ty {
            ty @ Type::Vector(v) => add_up(v.sup.l2, grid::slack(ty).l2),
            _ => f64::INFINITY,
        };
        let y = &observation.outcome;
        if !norm.is_finite() {
            return refuse(unbounded_features(x, y.span.to(observation.likelihood.span), context));
        }
        facts::within_reach(norm, x.span, "the bound on the features")?;
        if norm == 0.0 {
            return not_mine("no feature moves the predictor");
        }
        // Beyond this doubles lose differences of weights in what all share.
        if law.predictors() > 1 && prior.largest.sqrt() * norm > MOST_APART {
            return not_mine(format!("of several levels the prior's sd times the norm of the features is at most {MOST_APART:e}"));
        }
        let (counts, levels) = (matches!(law, Law::Counts { .. }), law.predictors());
        if levels == 1 {
            facts::outcome_range(observation, model, context, if counts { COUNTS } else { Range::new(0.0, trials) })?;
        }
        let mut facts = Facts::collect(rule, model, parameter, context);
        if model.records.relation == Relation::AddRemove {
            let why = ("the bound is for a public {n}", "a row that comes or goes moves the sums in another way than one that is replaced");
            return refuse(secret_rows(&facts, question, why, None));
        }
        let top = y.ty.range().map_or(trials, |r| r.hi);
        let inside = format!("the outcome lies in [0, {}]", plain(if counts { top } else { trials }));
        facts.premise(if levels > 1 { format!("the outcome is one of {levels} levels") } else { inside }, Some(y.span));
        facts.premise(format!("the features, rounded toward 0 to their grid, have norm at most {}", four_up(norm)), Some(x.span));
        let (summed, (of, most)) = if counts {
            let text = if added.is_some() { "(log(y + 1/2) less what is added to dot(w, x)) x" } else { "log(y + 1/2) x" };
            let Some(found) = logarithm(y, added.as_ref(), y.span) else {
                return refuse(unbounded_addition(added.as_ref().unwrap_or(y)));
            };
            if found.1 < LEAST_LOG {
                return not_mine("all outcomes say the same");
            }
            facts::within_reach(found.1, y.span, "the logarithm of the outcome")?;
            facts.premise(
                format!("log(y + 1/2){} is at most {} in size", if added.is_some() { " less what is added" } else { "" }, four_up(found.1)),
                Some(y.span),
            );
            (text.to_owned(), found)
        } else if let Law::Classes { classes } = law {
            let Some(found) = classes::indicators(y, classes) else { return not_mine(wanted) };
            (format!("v x for each level, where v is {} at the row's own and -1 at others", levels - 1), found)
        } else {
            let centre = law.centre();
            let range = Range::new(-centre, trials - centre);
            let centred = facts::apply(Builtin::Sub, vec![y.clone(), facts::literal(centre, y.span)], range, y.span);
            (format!("(y - {}) x", plain(centre)), (centred, centre))
        };
        let kind = StatisticKind::Moments { x: x.clone(), y: of, added };
        Ok(Scores { facts, prior, law, trials, most, summed, norm, statistic: Statistic { table: model.records.table, kind } })
    }

    /// Noise on products beside this noise on scores, where the program does not say it.
    pub fn beside(&self, scores: f64) -> Sizes {
        beside(scores, self.most, self.norm)
    }

    /// The GDP of both sums together (rule book §20), upwards.
    pub fn mu(&self, sizes: Sizes) -> f64 {
        stated_up(mul_up(count_up(self.facts.records.unit_rows), mu(self.most, self.norm, sizes)))
    }

    /// Noise that costs about 1 for the whole of it.
    pub fn start(&self) -> f64 {
        count_up(self.facts.records.unit_rows) * 2.416 * self.norm * self.most
    }

    /// What is released without noise, and its prior; `None` while an argument of the prior is not known.
    pub fn family(&self) -> Option<WholeFamily> {
        let prior = &self.prior;
        Some(WholeFamily::Scored { mean: prior.mean.clone()?, precision: prior.precision.clone()?, law: self.law })
    }

    pub fn premises(&self, sizes: Sizes) -> Vec<Premise> {
        let mut list = self.facts.premises.clone();
        let (a, b) = (sig_up(sizes.scores, 4), sig_up(sizes.products, 4));
        list.push(Premise::holds(
            format!(
                "normal noise of sd {a} on the sums of {}, of sd {b} on the sums of squares of features, divided by sqrt(2) on those of products of two",
                self.summed
            ),
            None,
        ));
        list
    }
}

/// Noise on products beside this noise on scores of at most `most`.
pub(super) fn beside(scores: f64, most: f64, norm: f64) -> Sizes {
    Sizes { scores, products: RATIO * scores * norm / (2.0 * most) }
}

/// `mu` of `sum s x` with sd `scores`, |s| <= `most`, beside `sum x x'` with sd `products` on and `products / sqrt(2)` off the
/// diagonal, |x| <= `norm`, where one row is replaced (rule book §20): with A = (most norm / scores)^2 and D = (norm^2 / products)^2,
/// `mu^2 = 2 A + 2 D + A^2 / (2 D)` if A <= 2 D, else 4 A. The first is never below the second.
pub(super) fn mu(most: f64, norm: f64, sizes: Sizes) -> f64 {
    let square = |x: f64| mul_up(x, x);
    let (a, d) = (square(div_up(mul_up(most, norm), sizes.scores)), square(div_up(square(norm), sizes.products)));
    let low = |x: f64| mul_down(x, x);
    let (a_low, d_low) = (low(div_down(mul_down(most, norm), sizes.scores)), low(div_down(low(norm), sizes.products)));
    let squared = if a_low >= 2.0 * d {
        mul_up(4.0, a)
    } else {
        add_up(add_up(mul_up(2.0, a), mul_up(2.0, d)), div_up(square(a), mul_down(2.0, d_low)))
    };
    if squared.is_nan() { f64::INFINITY } else { sqrt_up(squared) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    /// The cases `stage_one` of the golden values: sd of scores, sd of products, mu, at norm 1 and outcomes 0 and 1.
    const GOLDEN: [(f64, f64, f64); 8] = [
        (9.467, 7.574, 0.201_658_647_789_577_37),
        (31.619, 47.428, 0.038_204_283_136_085_745),
        (38.095, 30.476, 0.050_116_506_344_761_21),
        (22.562, 67.686, 0.044_322_311_851_786_186),
        (9.306, 7.445, 0.205_152_011_573_111_9),
        (40.282, 32.226, 0.047_395_067_833_633_81),
        (2.329, 1.165, 1.251_884_717_206_874_3),
        (36.787, 55.18, 0.032_837_149_668_449_07),
    ];

    #[test]
    fn golden_values() {
        for (scores, products, wanted) in GOLDEN {
            let found = mu(0.5, 1.0, Sizes { scores, products });
            assert!(found >= wanted * (1.0 - 1e-15) && found <= wanted * (1.0 + 1e-12), "{found} {wanted}");
        }
    }

    /// The squared shift of two rows, over the scales, counted entry by entry as they leave.
    fn shift((x, s): (&[f64], f64), (z, v): (&[f64], f64), sizes: Sizes) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            total += ((x[i] * s - z[i] * v) / sizes.scores).powi(2);
            for j in i..x.len() {
                let sd = if i == j { sizes.products } else { sizes.products / f64::sqrt(2.0) };
                total += ((x[i] * x[j] - z[i] * z[j]) / sd).powi(2);
            }
        }
        total
    }

    /// Every pair of rows on small grids in the ball, in two dimensions: never above the bound, and near it.
    #[test]
    fn all_pairs_of_small_grids() {
        // 7^2 + 24^2 = 25^2: many of them lie on the edge.
        let steps = 25i32;
        let at = |i: i32| f64::from(i) / f64::from(steps);
        let rows: Vec<[f64; 2]> = (-steps..=steps)
            .flat_map(|i| (-steps..=steps).map(move |j| (i, j)))
            .filter(|(i, j)| i * i + j * j <= steps * steps)
            .map(|(i, j)| [at(i), at(j)])
            .collect();
        for (scores, products) in [(1.0, 1.5), (1.0, 0.3), (1.0, 3.0), (2.0, 1.0), (0.1, 5.0)] {
            let sizes = Sizes { scores, products };
            let bound = mu(0.5, 1.0, sizes).powi(2);
            // One of the two in a quadrant, by symmetry.
            let first = rows.iter().filter(|x| x[0] >= 0.0 && x[1] >= 0.0);
            let pairs = first.flat_map(|x| rows.iter().map(move |z| (x, z)));
            let worst = pairs.map(|(x, z)| shift((x, 0.5), (z, 0.5), sizes).max(shift((x, 0.5), (z, -0.5), sizes))).fold(0.0, f64::max);
            assert!(worst <= bound * (1.0 + 1e-12) && worst > 0.99 * bound, "{scores} {products}: {worst} {bound}");
        }
    }

    /// Random pairs in one to five dimensions (`SCORE_PAIRS` says how many; the long form is 1e6).
    #[test]
    fn random_pairs_attain_the_bound_and_never_pass_it() {
        let pairs: usize = std::env::var("SCORE_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut closest: f64 = 0.0;
        for pair in 0..pairs {
            let (d, norm, most) = (1 + pair % 5, 0.3 + 2.0 * uniform(), 0.5 + (3.0 * uniform()).floor());
            let sizes = Sizes { scores: 0.1 + 3.0 * uniform(), products: 0.1 + 3.0 * uniform() };
            let mut point = |edge: bool| {
                let v: Vec<f64> = (0..d).map(|_| 2.0 * uniform() - 1.0).collect();
                let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                let part = if edge { norm } else { norm * uniform() };
                v.iter().map(|x| x * part / length).collect::<Vec<f64>>()
            };
            let (x, z) = (point(pair % 3 > 0), point(pair % 7 > 0));
            let (s, v) = (most * (2.0 * uniform() - 1.0), most * (2.0 * uniform() - 1.0));
            let (one, other) = (if pair % 2 == 0 { most } else { s }, if pair % 4 < 2 { most } else { v });
            let bound = mu(most, norm, sizes).powi(2);
            let found = shift((&x, one), (&z, other), sizes).max(shift((&x, one), (&z, -other), sizes));
            assert!(found <= bound * (1.0 + 1e-12), "{d} {norm} {most} {sizes:?} {x:?} {z:?} {one} {other}: {found} {bound}");
            closest = closest.max(found / bound);
        }
        assert!(closest > 0.995, "{closest}");
    }

    /// More noise costs less, whichever of the two it is; so a solver finds its edge.
    #[test]
    fn more_noise_costs_less() {
        for k in 0..60 {
            let size = |i: i32| 0.05 * 1.15_f64.powi(i);
            for l in 0..60 {
                let at = |i, j| mu(0.5, 1.0, Sizes { scores: size(i), products: size(j) });
                assert!(at(k, l) >= at(k + 1, l) && at(k, l) >= at(k, l + 1), "{k} {l}");
            }
        }
    }
}
