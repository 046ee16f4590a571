//! Dirichlet prior, multinomial rows of N items or at most N: one draw of all shares.
//!
//! ## Shape
//! `s ~ dirichlet(alpha)`; each row is `counts[d] of N`, or `counts[d] of at_most(N)`, and `~ multinomial(N, s)`. Public rows strengthen
//! the prior.
//!
//! ## Claim
//! The neighbour that holds all `N k` items on one category is the worst Q, but P may spread them over the others, and
//! which spread is worst depends on the order: the dearest pair is found by a dynamic programme over allocations,
//! with the other rows' items on one category (§2.3). Finite below order `1 + min(alpha) / (r N k)`. Rows of at most N items: the
//! other rows may be empty, so the same search without them; the supremum, whatever n is (§2.4).
//! When rows are added or removed: `Gamma(a1)` against `Gamma(a1 + r N k)`.
//!
//! ## Refuses
//! Counts that may vanish; bounds on the total other than N; so many items and categories that the search would not end soon.
//!
//! ## Checked by
//! All pairs of histograms for small N, n and d in both roles, rows of fewer items among them; golden values.

use super::expected;
use super::facts::{Facts, Limit, all_observations, one_private, point, positive_argument, the_parameter};
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Builtin, Expr, ExprKind, Model, Observation, Parameter, Range, Relation, Type};
use crate::numeric::round::{add_down, div_down, mul_down};
use crate::privacy::{Claim, Family, Pair, Shift};
use crate::rules::count::{count_down, count_up};
use crate::rules::tempered::{EXACT, LimitReason, Matched, Tempering, judge, out_and_in, replaced_or_added};
use crate::rules::text::{four_up, four_up_together};
use crate::rules::{Answers, Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::{Diagnostic, Span};

pub static RULE: Rule = Rule {
    name: "dirichlet_multinomial",
    summary: "dirichlet prior, multinomial rows of N items or fewer: one draw of all shares",
    section: "2.3",
    source: include_str!("dirichlet_multinomial.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

/// More categories than this do not fit a plan.
const MOST_CATEGORIES: u64 = 1 << 24;
/// Table entries and additions of one evaluation of the dynamic programme.
const MOST_ENTRIES: u64 = 2048;
const MOST_STEPS: u64 = 1_000_000;
/// Up to this many entries the other rows' place is searched too; beyond, they are left out, which costs more.
const MOST_PLACED: u64 = 256;

/// The most items of one row, if the outcome is `counts[d] of N` or `of at_most(N)` and the likelihood `multinomial(N, s)`.
fn items(o: &Observation) -> Option<u64> {
    let (Type::Counts { total, .. }, [n, _]) = (&o.outcome.ty, o.likelihood.args.as_slice()) else {
        return None;
    };
    (*total >= 1 && n.constant() == Some(*total as f64)).then_some(*total)
}

fn find(model: &Model, context: &Context) -> Match<Shares> {
    let parameter = the_parameter(model, "dirichlet", 1, "dirichlet(alpha)")?;
    let id = parameter.id;
    all_observations(model, "multinomial(N, s) of counts[d] of N", |o| {
        let args = o.likelihood.args.as_slice();
        o.likelihood.name() == "multinomial" && matches!(args, [_, s] if s.is_param(id)) && items(o).is_some()
    })?;
    let observation = one_private(model, &parameter.name)?;
    let (Some(n), Type::Counts { dim, .. }) = (items(observation), &observation.outcome.ty) else {
        return not_mine("rows must be counts[d] of N or of at_most(N)");
    };
    let alpha = alphas(parameter)?;
    if usize::try_from(*dim).ok() != Some(alpha.len()) {
        return not_mine(format!("{} prior counts for {dim} categories", alpha.len()));
    }
    let facts = Facts::collect(&RULE, model, parameter, context);
    let statistic = Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) };
    Shares::new(facts, alpha, n, statistic, observation)
}

/// The prior counts of a Dirichlet prior, each at least 0 and known at least by its range.
pub(crate) fn alphas(parameter: &Parameter) -> Match<Vec<Range>> {
    let what = "a prior count";
    let ([alpha], Type::Simplex { dim, .. }) = (parameter.prior.args.as_slice(), &parameter.ty) else {
        return not_mine("prior must be dirichlet(alpha)");
    };
    let repeated = |e: &Expr| -> Match<Vec<Range>> {
        let range = positive_argument(e, what)?;
        match usize::try_from(*dim) {
            Ok(d) if *dim <= MOST_CATEGORIES => Ok(vec![range; d]),
            _ => not_mine("too many categories for one plan"),
        }
    };
    match &alpha.kind {
        ExprKind::List(items) => items.iter().map(|e| positive_argument(e, what)).collect(),
        ExprKind::Call(Builtin::Rep, args) => match args.first() {
            Some(each) => repeated(each),
            None => not_mine("prior must be dirichlet(alpha)"),
        },
        // A public vector: only the range of its components is known.
        _ => match alpha.ty.range() {
            Some(range) => {
                let each = Expr { ty: Type::Real(range), ..alpha.clone() };
                repeated(&each)
            }
            None => not_mine("the prior's arguments must be public numbers"),
        },
    }
}

pub(super) fn levels_match(kind: &StatisticKind, alpha: &[Range]) -> Match<()> {
    match kind {
        StatisticKind::Levels { dim, .. } if usize::try_from(*dim).ok() == Some(alpha.len()) => Ok(()),
        StatisticKind::Levels { dim, .. } => not_mine(format!("{} prior counts for {dim} levels", alpha.len())),
        _ => not_mine("the outcome must have levels"),
    }
}

/// A draw from a Dirichlet posterior whose rows hold `items` items each.
pub(super) struct Shares {
    facts: Facts,
    alpha: Vec<Range>,
    /// Lower bounds on the smallest prior counts with public rows, ascending: all that a claim can need.
    smallest: Vec<f64>,
    items: u64,
    /// May a row hold fewer?
    fewer: bool,
    statistic: Statistic,
}

impl Shares {
    pub fn new(mut facts: Facts, alpha: Vec<Range>, items: u64, statistic: Statistic, observation: &Observation) -> Match<Shares> {
        if alpha.len() < 2 {
            return not_mine("one category has nothing to learn");
        }
        let sums = &facts.public.sums;
        let mut smallest: Vec<f64> =
            alpha.iter().enumerate().map(|(i, a)| add_down(a.lo, sums.get(i).copied().unwrap_or(0.0).max(0.0))).collect();
        let moved = items.saturating_mul(facts.records.unit_rows);
        // Q's category and the at most `moved` categories of P: with two more at hand the others' items sit elsewhere,
        // and moving everything to the smallest counts in order raises every term (each falls with its base).
        let enough = usize::try_from(moved.saturating_add(2)).unwrap_or(usize::MAX);
        if smallest.len() > enough {
            smallest.select_nth_unstable_by(enough - 1, f64::total_cmp);
            smallest.truncate(enough);
        }
        smallest.sort_unstable_by(f64::total_cmp);
        let d = smallest.len() as u64;
        let entries = d.saturating_mul(moved);
        let searched = moved > 1 && d > 2 && facts.records.relation == Relation::ReplaceOne;
        if searched && (entries > MOST_ENTRIES || entries.saturating_mul(moved) > MOST_STEPS) {
            return refuse(too_large(observation, moved));
        }
        let d = alpha.len();
        let fewer = matches!(observation.outcome.ty, Type::Counts { fewer: true, .. });
        let most = if fewer { "at most " } else { "" };
        facts.premise(format!("the outcome is {most}{items} of {d} categories"), Some(observation.outcome.span));
        Ok(Shares { facts, alpha, smallest, items, fewer, statistic })
    }

    fn counts(&self, m: f64) -> Vec<f64> {
        self.smallest.iter().map(|a| div_down(*a, m)).collect()
    }

    fn first(&self, m: f64) -> f64 {
        self.smallest.first().map_or(0.0, |a| div_down(*a, m))
    }

    /// Is a row one item?
    fn categories(&self) -> bool {
        self.items == 1 && matches!(self.statistic.kind, StatisticKind::Levels { .. })
    }

    /// Items of one unit.
    fn moved(&self) -> u64 {
        self.items.saturating_mul(self.facts.records.unit_rows)
    }

    fn step(&self, r: f64) -> f64 {
        self.facts.unit_step(r, count_up(self.items))
    }

    /// Rows of at most N items (§2.4): the others are empty, the total is left out, and either neighbour may hold all that it can.
    fn fewer_items(&self, mut counts: Vec<f64>, step: f64, weight: f64) -> Claim {
        let pair = match counts.as_slice() {
            [a, b] => {
                let coordinates = vec![(*a, step), (add_down(*b, step), -step)];
                Pair::Shapes { family: Family::Dirichlet, coordinates, total: None }
            }
            _ => {
                counts.truncate(usize::try_from(self.moved().saturating_add(1)).unwrap_or(usize::MAX));
                Pair::Allocation { counts, base: 0.0, items: self.moved(), weight }
            }
        };
        Claim::Renyi(vec![pair])
    }

    /// The prior and public counts under concentration m, nearest doubles.
    fn centre(&self, m: f64) -> impl Iterator<Item = f64> {
        let sums = &self.facts.public.sums;
        let public = move |i: usize| sums.get(i).copied().unwrap_or(0.0);
        let alpha = self.alpha.iter().enumerate();
        alpha.map(move |(i, a)| (a.lo + public(i)) / m)
    }
}

impl Matched for Shares {
    fn rule(&self) -> &'static Rule {
        self.facts.rule
    }

    fn claim(&self, t: Tempering) -> Claim {
        if self.facts.records.relation == Relation::AddRemove {
            return added(self, t);
        }
        let step = self.step(t.weight);
        let mut counts = self.counts(t.concentration);
        let rows = self.facts.fewest_rows();
        if self.fewer {
            return self.fewer_items(counts, step, t.weight);
        }
        let pair = match counts.as_slice() {
            // Two categories: a Beta draw (§1.1), the other rows on either side.
            [a, b] if self.alpha.len() == 2 => {
                let others = mul_down(count_down(self.items), self.facts.fewest_others());
                return two(*a, *b, step, mul_down(t.weight, others));
            }
            // One item: Q takes the smallest count, P the next, the other rows a third.
            [a, b, ..] if self.moved() == 1 => return two(*a, *b, step, 0.0),
            _ => {
                let others = rows.saturating_sub(self.facts.records.unit_rows);
                let mut base = mul_down(t.weight, mul_down(count_down(self.items), count_down(others)));
                if counts.len() as u64 >= self.moved().saturating_add(2) {
                    counts.pop();
                    base = 0.0;
                }
                // Every term falls with its base, so no base is an upper bound.
                if (counts.len() as u64).saturating_mul(self.moved()) > MOST_PLACED {
                    base = 0.0;
                }
                Pair::Allocation { counts, base, items: self.moved(), weight: t.weight }
            }
        };
        Claim::Renyi(vec![pair])
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.facts.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        let known = self.facts.public.known && self.alpha.iter().all(|a| point(*a).is_some());
        known.then(|| {
            let alpha = self.centre(t.concentration).collect();
            (PosteriorLaw::Dirichlet { alpha }, self.statistic.clone())
        })
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        let total: f64 = self.centre(1.0).sum();
        let trials = rows * count_down(self.items);
        // A million equal counts are one.
        let mut last = (f64::NAN, 0.0);
        let squares = self.centre(1.0).map(|a| {
            if a != last.0 {
                last = (a, expected::beta(a, (total - a).max(0.0), trials, t.weight, t.concentration));
            }
            last.1
        });
        squares.sum::<f64>().sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        if self.alpha.len() <= 12 {
            let counts: Vec<f64> = self.centre(concentration).collect();
            return format!("dirichlet([{}])", four_up_together(&counts).join(", "));
        }
        let mut counts = self.centre(concentration);
        let first = counts.next().unwrap_or(0.0);
        if counts.all(|x| x == first) {
            format!("dirichlet(rep({}, {}))", four_up(first), self.alpha.len())
        } else {
            let factor = four_up(1.0 / concentration);
            format!("the same dirichlet with every count times {factor}")
        }
    }

    fn prior_span(&self) -> Span {
        self.facts.prior_span
    }

    fn limit_reason(&self, order: f64, t: Tempering) -> Option<LimitReason> {
        let limit = Limit {
            family: "dirichlet",
            kind: "count",
            shown: "min(alpha)".to_string(),
            base: self.first(t.concentration),
            step: self.step(t.weight),
        };
        Some(self.facts.limit_reason(limit, order))
    }

    fn claim_add_remove(&self, t: Tempering) -> Option<Claim> {
        Some(added(self, t))
    }

    fn claim_exchange(&self, t: Tempering) -> Option<Claim> {
        if self.categories() { replaced_or_added(self, t) } else { None }
    }

    fn claim_crossing(&self, t: Tempering) -> Option<Claim> {
        (self.categories() && self.moved() == 1).then(|| out_and_in(Family::Dirichlet, self.first(t.concentration), self.step(t.weight)))
    }
}

/// P = (a, b + step), Q = (a + step, b), and more by the other rows; the total is fixed.
fn two(a: f64, b: f64, step: f64, others: f64) -> Claim {
    Claim::Exact(Shift::Beta { family: Family::Dirichlet, counts: (a, b), step, others })
}

/// As for the Beta (§1.6): the total's part is negative and vanishes with n; without it D is convex in Q, so all of
/// the unit's items sit on the smallest count. Removing costs less: term by term `Gamma(a + s)` against `Gamma(a)` is
/// at most `Gamma(a)` against `Gamma(a + s)`, whose sum over a spread is again at most that of the vertex. Both orders of the pair of
/// one item bound every f-divergence (§17).
fn added(shares: &Shares, t: Tempering) -> Claim {
    let added = Claim::Exact(Shift::Shape { shape: shares.first(t.concentration), step: shares.step(t.weight) });
    if shares.moved() == 1 { added } else { added.converted() }
}

fn too_large(o: &Observation, items: u64) -> Diagnostic {
    Diagnostic::new("E0300", format!("{items} items of one unit are too many for an exact certificate"))
        .label(o.span, "every way to spread one unit's items over the categories is searched")
        .cause("the worst neighbour may spread its items, and which spread is worst depends on the order")
        .help("cap the rows of a unit (`by id max k`), or merge categories")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Label;
    use crate::rules::testing::{self as t, Build, diverge, tempered};

    fn build(alpha: &[f64], n: u64) -> Build {
        let list = alpha.iter().map(|a| t::number(*a)).collect();
        let list = t::expr(ExprKind::List(list), Type::real(0.0, 1.0), Label::Public);
        let dim = alpha.len() as u64;
        let simplex = Type::Simplex { dim, levels: None };
        Build::prior_exprs("dirichlet", vec![list], simplex)
            .outcome(Type::Counts { dim, total: n, fewer: false })
            .observe("multinomial", &[n as f64])
    }

    #[test]
    fn published_values() {
        for (alpha, n, rows, l, want) in [
            (vec![0.1; 3], 2, 2, 1.04, 42.220_768_507_276_356),
            (vec![1.0, 2.0, 3.0], 2, 2, 1.4, 5.435_456_784_091_827),
            (vec![0.5, 1.0, 2.0], 3, 1, 1.15, 18.765_915_924_801_36),
            // The spread beats the concentrated pair here.
            (vec![0.1; 4], 2, 2, 1.04, 42.809),
        ] {
            let m = build(&alpha, n).exactly(rows);
            let got = diverge(&m.matched(&RULE).claim(Tempering::DIRECT), l);
            let slack = if want == 42.809 { 5e-4 } else { 1e-8 };
            assert!((got - want).abs() < slack, "{alpha:?}: {got} {want}");
        }
    }

    #[test]
    fn rows_of_fewer_items_do_not_depend_on_n() {
        let fewer = |alpha: &[f64], n: u64| build(alpha, n).outcome(Type::Counts { dim: alpha.len() as u64, total: n, fewer: true });
        for (alpha, n, at, l, want) in [
            (vec![0.5, 1.0, 2.0], 2, Tempering::DIRECT, 1.2, 9.416_813_687_249_784),
            (vec![0.3, 0.3, 0.3, 2.0], 3, tempered(0.5, 1.0), 1.1, 7.827_751_551_615_534),
        ] {
            for rows in [1, 7] {
                let got = diverge(&fewer(&alpha, n).exactly(rows).matched(&RULE).claim(at), l);
                assert!((got - want).abs() < 1e-8, "{got} {want}");
            }
            // Rows of exactly N items are some of these, and reach the same where other rows are on a third category or there are none.
            let exact = |rows: u64| diverge(&build(&alpha, n).exactly(rows).matched(&RULE).claim(at), l);
            assert!((exact(1) - want).abs() < 1e-8 && exact(7) < want + 1e-8);
        }
    }

    #[test]
    fn only_the_smallest_counts_matter() {
        let all = build(&[0.3, 0.2, 0.5, 4.0, 5.0, 6.0], 2);
        let few = build(&[0.3, 0.2, 0.5, 9.0], 2);
        let at = tempered(0.4, 1.0);
        let claim = |b: &Build| b.matched(&RULE).claim(at);
        assert_eq!(claim(&all), claim(&few));
    }

    #[test]
    fn what_it_refuses() {
        let m = build(&[1.0; 400], 400);
        assert_eq!(m.refused(&RULE).code, "E0300");
        let m = build(&[1.0; 2], 3).outcome(Type::Counts { dim: 2, total: 4, fewer: false });
        let m = m.observe("multinomial", &[3.0]);
        assert!(m.not_mine(&RULE).starts_with("rows must be multinomial"));
    }
}
