//! Quantiles by the exponential mechanism, over all points of a public grid.
//!
//! ## Shape
//! `quantile(e, q)` with a constant q, or a list of them; `exponential(lo, hi)` gives the ends of the grid, or e's own bounds
//! do; its step is that of sums of e, or that of its logarithm for `grid = log`; `eps =`, of each level.
//!
//! ## Claim
//! Score `u(t) = -max(0, #{x < t} - q n, q n - #{x <= t})` of sensitivity k (rows replaced) or `k max(q, 1 - q)` (added or
//! removed), weights `exp(eps u / (2 D))`: the log ratio of neighbours lies in an interval of width eps, so eps-bounded range
//! (§8.7, §6), whatever the number of points; as many times as there are levels.
//!
//! ## Refuses
//! Other queries; a grid without finite ends; a logarithmic grid that does not begin above 0.
//!
//! ## Checked by
//! All data sets of three values on a small grid, both relations: the width of the log ratio; draws against enumeration.

use super::shared::{premises, quantile};
use crate::mechanism::plan::{Level, MechanismPlan, Spacing};
use crate::model::print::number;
use crate::model::{AggregateQuery, Expr, Range, Relation, Type, grid};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::mul_up;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::count::count_up;
use crate::rules::offer::{Doubt, Knob, Offer, Parameter, PredictedError, View, assumed_rows, repeated};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers, refuse};
use crate::source::Diagnostic;

/// A share of the rows by which a quantile may be off without a word, however wrong its prediction is.
const LITTLE: f64 = 0.01;

static EXPONENTIAL: Mechanism = Mechanism::new("exponential", &[Arg::real("lo"), Arg::real("hi"), Arg::GRID, Arg::EPS]);

pub static RULE: Rule = Rule {
    name: "exponential",
    summary: "quantiles over a public grid by the exponential mechanism",
    section: "8.7",
    source: include_str!("exponential.rs"),
    answers: Answers::Queries,
    mechanisms: &[&EXPONENTIAL],
    judge: |question| offers(find(question).map(|found| vec![Box::new(found) as Box<dyn Offer>])),
};

struct Noisy {
    query: AggregateQuery,
    value: Expr,
    levels: Vec<Level>,
    ty: Type,
    spacing: Spacing,
    /// Points of the grid.
    points: f64,
    /// The ends of the grid that the program gives.
    given: Vec<Parameter>,
    secret_groups: bool,
    premises: Vec<Premise>,
}

fn find(question: &Question) -> Match<Noisy> {
    let (query, args) = (question.query()?, question.arguments(&EXPONENTIAL));
    let Some((value, levels)) = quantile(&query.value) else {
        return not_mine("the query must be quantile(e, q) with a constant q in [0, 1], or a list of them");
    };
    let range = value.ty.range().filter(|_| value.ty.is_scalar_number());
    let end = |name, own: Option<f64>| args.get(name).or(own.filter(|x| x.is_finite()));
    let (Some(lo), Some(hi)) = (end("lo", range.map(|r| r.lo)), end("hi", range.map(|r| r.hi))) else {
        return refuse(no_grid(query));
    };
    let at = |name: &str| args.span(name).or(args.span("hi")).or(args.span("lo")).unwrap_or(query.value.span);
    if lo >= hi || !(hi - lo).is_finite() {
        return refuse(Diagnostic::new("E0208", "`lo` must lie below `hi`").label(at("hi"), format!("not above {}", number(lo))));
    }
    let spacing = args.spacing().unwrap_or(Spacing::Even);
    if spacing == Spacing::Log && lo <= 0.0 {
        return refuse(
            Diagnostic::new("E0208", "a logarithmic grid begins above 0")
                .label(at("grid"), format!("the grid begins at {}", number(lo)))
                .help((
                    "say where it begins; smaller values count as that:",
                    format!("using exponential({}, {}, grid = log)", number((hi / 1e6).min(1.0)), number(hi)),
                )),
        );
    }
    let ty = match &value.ty {
        Type::Bool | Type::Int(_) => Type::Int(Range::new(lo.ceil(), hi.floor())),
        _ => Type::real(lo, hi),
    };
    let Some((first, last)) =
        grid::ends(&spacing.scale(&ty)).filter(|(first, last)| last.checked_sub(*first).is_some_and(|d| d < i64::MAX))
    else {
        let d = Diagnostic::new("E0208", "no grid of numbers lies between these ends");
        return refuse(d.label(at("hi"), format!("from {} to {}", number(lo), number(hi))));
    };
    // How far one unit moves the score. Rows that are exchanged move it no further than rows that are replaced: one that
    // leaves and one that comes by 1 together, a surplus row by `max(q, 1 - q)`.
    let sensitivity = |q: f64| {
        let each = match query.records.relation {
            Relation::ReplaceOne => 1.0,
            Relation::AddRemove => q.max((1.0 - q).next_up()),
        };
        mul_up(count_up(query.records.unit_rows), each)
    };
    let levels: Vec<Level> = levels.into_iter().map(|q| Level { q, sensitivity: sensitivity(q) }).collect();
    let largest = levels.iter().map(|l| l.sensitivity).fold(0.0, f64::max);
    Ok(Noisy {
        query: query.clone(),
        value: value.clone(),
        levels,
        ty,
        spacing,
        points: (last - first) as f64 + 1.0,
        given: ["lo", "hi"].into_iter().filter_map(|name| Some(Parameter::exact(name, args.get(name)?))).collect(),
        secret_groups: question.secret_groups,
        premises: premises(query, "score", largest, &question.context),
    })
}

impl Noisy {
    fn rows(&self) -> f64 {
        assumed_rows(self.query.records.rows).max(1.0)
    }

    /// The worst of the levels, for any data: how many rows off a candidate is with a chance of 5 % at most, where each that is r rows
    /// off has at most `points exp(-eps r / (2 D))` times the chance of one that is not off at all.
    fn of_any(&self, epsilon: f64) -> f64 {
        let one = |l: &Level| (2.0 * l.sensitivity / epsilon * (20.0 * (self.points - 1.0)).ln()).min(l.q.max(1.0 - l.q) * self.rows());
        self.levels.iter().map(one).fold(0.0, f64::max)
    }

    /// The same for values spread evenly, so many rows at every point of the grid: the mean over where q n falls among the rows of its
    /// point, of the worst of the levels.
    fn off(&self, epsilon: f64) -> f64 {
        const PLACES: u32 = 40;
        let each = self.rows() / self.points;
        let one = |l: &Level| {
            let (rate, most) = (epsilon / (2.0 * l.sensitivity), l.q.max(1.0 - l.q) * self.rows());
            let place = |i: u32| spread_evenly(rate, each, (f64::from(i) + 0.5) / f64::from(PLACES)).min(most);
            let mut all: Vec<f64> = (0..PLACES).map(place).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let levels: Vec<Vec<f64>> = self.levels.iter().map(one).collect();
        // The mean of the largest of independent numbers: the chance that one is larger, over all lengths.
        let mut ends: Vec<f64> = levels.iter().flatten().copied().collect();
        ends.sort_by(f64::total_cmp);
        let upto = |x: f64| levels.iter().map(|l| l.partition_point(|y| *y <= x) as f64 / f64::from(PLACES)).product::<f64>();
        let steps = std::iter::once(&0.0).chain(&ends).zip(&ends);
        steps.map(|(from, to)| (to - from) * (1.0 - upto(*from))).sum()
    }
}

/// How many rows off a point is with a chance of 5 %, where every point of the grid has `each` rows and q n lies at this share of its own;
/// a point that is r rows off has weight `exp(-rate r)`.
fn spread_evenly(rate: f64, each: f64, place: f64) -> f64 {
    // On each side the next point is as many rows off as there are left of the own one, each further one `each` more.
    let sides = [place * each, (1.0 - place) * each];
    let geometric = -1.0 / (-rate * each).exp_m1();
    let all = 1.0 + sides.iter().map(|s| (-rate * s).exp() * geometric).sum::<f64>();
    // The weight of all that are at least r rows off.
    let beyond = |r: f64| -> f64 {
        let side = |s: &f64| (-rate * (s + each * ((r - s) / each).ceil().max(0.0))).exp() * geometric;
        sides.iter().map(side).sum()
    };
    if beyond(0.0) <= 0.05 * all {
        return 0.0;
    }
    let (mut lo, mut hi) = (0.0, (40.0 + geometric.ln()) / rate);
    for _ in 0..60 {
        let middle = f64::midpoint(lo, hi);
        if beyond(middle) > 0.05 * all { lo = middle } else { hi = middle }
    }
    hi
}

fn no_grid(query: &AggregateQuery) -> Diagnostic {
    Diagnostic::new("E0202", "the quantile has no finite grid of candidates")
        .label(query.value.span, "the values are not bounded")
        .cause("the exponential mechanism chooses among public candidates between two public ends")
        .help("using exponential(0, 1000)")
}

impl Offer for Noisy {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn knob(&self) -> Knob {
        Knob::Loss("eps")
    }

    /// The scores are scaled by the sensitivity under the table's own relation, which is the largest of all views.
    fn claim(&self, view: View, epsilon: f64) -> Option<Claim> {
        let covered =
            view == View::from(self.query.records.relation) || (self.secret_groups && self.query.records.relation == Relation::ReplaceOne);
        covered.then_some(repeated(Claim::BoundedRange { eta: epsilon }, self.levels.len() as u64))
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, epsilon: f64) -> Option<MechanismPlan> {
        Some(MechanismPlan::Quantile {
            table: self.query.table,
            value: self.value.clone(),
            levels: self.levels.clone(),
            ty: self.ty.clone(),
            spacing: self.spacing,
            epsilon,
        })
    }

    /// Beside it what holds for any data: one candidate, the value at q n, is never off.
    fn predicted_error(&self, epsilon: f64) -> PredictedError {
        let (rows, most) = (self.off(epsilon), self.of_any(epsilon));
        let width = self.ty.range().filter(|_| self.spacing == Spacing::Even).map(Range::width);
        let number = width.map(|w| rows / self.rows() * w);
        let matters = most > 2.0 * rows && most > LITTLE * self.rows();
        PredictedError {
            further: number.map(|x| ("as_a_number", x)).into_iter().chain([("for_any_data", most)]).collect(),
            beside: number.zip(width).map(|(x, w)| [x, 0.5 * w]),
            doubt: matters.then_some(Doubt::Ties { most }),
            ..PredictedError::sure("95% bound of the rows between answer and quantile, if values are spread evenly", rows)
        }
    }

    fn remark(&self, epsilon: f64) -> String {
        format!("95% of answers within {} rows of the quantile", sig_up(self.of_any(epsilon), 3))
    }

    fn given(&self) -> Vec<Parameter> {
        self.given.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::spread_evenly;

    /// Against the sum of the weights of all points, one by one.
    #[test]
    fn the_rows_that_are_predicted_are_those_of_the_law() {
        for (rate, each, place) in [(0.5, 1e-3, 0.3), (0.5, 4.0, 0.1), (0.1, 20.0, 0.5), (0.5, 55.0, 0.05), (0.5, 55.0, 0.5)] {
            let sides = |i: u32| [place, 1.0 - place].map(|p| (p + f64::from(i)) * each);
            let mut off: Vec<f64> = (0..200_000).flat_map(sides).chain([0.0]).collect();
            off.sort_by(f64::total_cmp);
            let all: f64 = off.iter().map(|r| (-rate * r).exp()).sum();
            let mut beyond = all;
            let law = off.iter().find(|r| {
                beyond -= (-rate * **r).exp();
                beyond <= 0.05 * all
            });
            let (law, found) = (*law.unwrap(), spread_evenly(rate, each, place));
            assert!((law - found).abs() <= 1e-9 + each.min(1.0) * 2e-2 * law, "{rate} {each} {place}: {law}, {found}");
        }
        let fine = spread_evenly(0.5, 1e-6, 0.5);
        assert!((fine - 20_f64.ln() / 0.5).abs() < 1e-4, "{fine}");
    }
}
