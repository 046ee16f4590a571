//! How the budget is divided among releases: shares, absolute costs, an even split of the rest.

use std::collections::BTreeMap;

use super::budget::{fraction, limits, share, written};
use crate::model::print::number;
use crate::model::{BudgetKind, Program, Query, ReleaseId, ReleaseStep, SpendKind, Step, releases};
use crate::numeric::Amount;
use crate::numeric::decimal::{sig, sig_up};
use crate::source::{Diagnostic, Help, Span};
use dashu_ratio::RBig;

/// By how much the parts may seem to exceed the whole.
const SLACK: f64 = 1e-9;

/// The part of the budget each release may cost.
pub type Allotments = BTreeMap<ReleaseId, BudgetKind>;

/// Divides the budget (LANGUAGE §9). `growth` is 1, or another number where the composed total leaves more or less of the budget to
/// the releases without `spend`.
///
/// Inside `when` each branch may use what remains; the releases inside `each` count once, since groups run in
/// parallel (what several groups cost together is part of the release's own cost).
///
/// # Errors
/// E0402 over 100 %; E0403 a `spend` of a kind that cannot be counted; E0405 a share without a budget.
pub fn allot(program: &Program, growth: f64) -> Result<Allotments, Box<Diagnostic>> {
    let mut given = Allotments::new();
    let Some(budget) = &program.budget else {
        return without_budget(&program.steps, &mut given).map(|()| given);
    };
    let mut explicit = BTreeMap::new();
    explicit_fractions(&program.steps, &budget.kind, &mut explicit)?;
    let need = need(&program.steps, &explicit);
    // Slack for costs of other kinds, which are rounded up; the total is judged on its curves anyway.
    let fixed = need.fixed.to_f64().value();
    if fixed > 1.0 + SLACK || (need.open > 0 && fixed > 1.0 - SLACK) {
        return Err(Box::new(over(program, budget.span, &budget.kind, &explicit)));
    }
    let growth = RBig::try_from(growth).unwrap_or(RBig::ONE);
    divide(&program.steps, &RBig::ONE, &budget.kind, &explicit, &growth, &mut given);
    Ok(given)
}

/// What a sequence of steps asks for: the fixed fraction, exact, and how many releases share the rest.
#[derive(Clone, Default)]
struct Need {
    fixed: RBig,
    open: u32,
}

impl Need {
    /// The fraction of the budget where each of the others has so much.
    fn with(&self, part: &RBig) -> RBig {
        &self.fixed + part * RBig::from(self.open)
    }
}

type Fractions = BTreeMap<ReleaseId, RBig>;

fn need(steps: &[Step], explicit: &Fractions) -> Need {
    let mut sum = Need::default();
    for step in steps {
        let one = match step {
            Step::Release(r) => match explicit.get(&r.id) {
                Some(p) => Need { fixed: p.clone(), open: 0 },
                None => Need { fixed: RBig::ZERO, open: 1 },
            },
            Step::When { then, otherwise, .. } => {
                let (a, b) = (need(then, explicit), need(otherwise, explicit));
                Need { fixed: a.fixed.max(b.fixed), open: a.open.max(b.open) }
            }
            Step::Each(each) => need(&each.body, explicit),
            Step::Output { .. } | Step::Expect(_) => Need::default(),
        };
        sum.fixed += one.fixed;
        sum.open = sum.open.saturating_add(one.open);
    }
    sum
}

/// Gives every release below `steps` its part, with the fraction `total` of the budget for all of them.
fn divide(steps: &[Step], total: &RBig, budget: &BudgetKind, explicit: &Fractions, growth: &RBig, given: &mut Allotments) {
    let all = need(steps, explicit);
    let part = (total - all.fixed).max(RBig::ZERO) / RBig::from(all.open.max(1));
    for step in steps {
        match step {
            Step::Release(r) => {
                let kind = match (&r.spend, explicit.get(&r.id)) {
                    (Some(spend), Some(p)) => match &spend.kind {
                        SpendKind::Cost(kind) => kind.clone(),
                        SpendKind::Share(_) => share(budget, p),
                    },
                    _ => share(budget, &(&part * growth)),
                };
                given.insert(r.id, kind);
            }
            Step::When { then, otherwise, .. } => {
                let mine = need(std::slice::from_ref(step), explicit).with(&part);
                divide(then, &mine, budget, explicit, growth, given);
                divide(otherwise, &mine, budget, explicit, growth, given);
            }
            Step::Each(each) => {
                let mine = need(&each.body, explicit).with(&part);
                divide(&each.body, &mine, budget, explicit, growth, given);
            }
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

fn explicit_fractions(steps: &[Step], budget: &BudgetKind, found: &mut Fractions) -> Result<(), Box<Diagnostic>> {
    for release in releases(steps) {
        let Some(spend) = &release.spend else { continue };
        let part = match &spend.kind {
            SpendKind::Share(p) => Amount::of(*p).map_or(RBig::ZERO, |p| p.ratio()),
            SpendKind::Cost(cost) => fraction(cost, budget).ok_or_else(|| {
                let (cost, budget) = (written(cost), written(budget));
                Diagnostic::new("E0403", format!("`spend {cost}` cannot be counted against the budget {budget}"))
                    .label(spend.span, "a cost of another kind")
                    .cause("this kind of cost has no bound in the budget's own unit")
                    .help(("spend a share:", "spend 20%"))
            })?,
        };
        found.insert(release.id, part);
    }
    Ok(())
}

fn without_budget(steps: &[Step], given: &mut Allotments) -> Result<(), Box<Diagnostic>> {
    for release in releases(steps) {
        match release.spend.as_ref().map(|s| (&s.kind, s.span)) {
            Some((SpendKind::Cost(kind), _)) => {
                given.insert(release.id, kind.clone());
            }
            Some((SpendKind::Share(p), span)) => {
                let percent = number(100.0 * p);
                return Err(Box::new(
                    Diagnostic::new("E0405", format!("`spend {percent}%` of what? the program has no budget"))
                        .label(span, "a share of the budget")
                        .help(("add a line such as:", "budget dp(eps = 1, delta = 1e-6)"))
                        .help(("or spend an absolute cost:", "spend zcdp(0.01)")),
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// The releases of the dearest path: where branches differ, the one that asks for more.
fn dearest<'a>(steps: &'a [Step], explicit: &Fractions) -> Vec<&'a ReleaseStep> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Release(r) => found.push(r),
            Step::When { then, otherwise, .. } => {
                let (a, b) = (need(then, explicit), need(otherwise, explicit));
                let branch = if (&b.fixed, b.open) > (&a.fixed, a.open) { otherwise } else { then };
                found.extend(dearest(branch, explicit));
            }
            Step::Each(each) => found.extend(dearest(&each.body, explicit)),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    found
}

/// E0402: the parts add up to more than the whole, or leave nothing for a release without `spend`.
fn over(program: &Program, budget_span: Span, budget: &BudgetKind, explicit: &Fractions) -> Diagnostic {
    let path = dearest(&program.steps, explicit);
    let spending: Vec<&ReleaseStep> = path.iter().copied().filter(|r| r.spend.is_some()).collect();
    let total = spending.iter().filter_map(|r| explicit.get(&r.id)).fold(RBig::ZERO, |sum, p| sum + p);
    let left_out = path.iter().find(|r| r.spend.is_none());
    let headline = match left_out {
        Some(release) if total.to_f64().value() <= 1.0 + SLACK => {
            format!("nothing of the budget is left for `{}`", release.name)
        }
        _ => format!("releases are allotted {}% of the budget", up(&total, 100.0)),
    };
    let mut diagnostic = Diagnostic::new("E0402", headline);
    if let Some(release) = left_out {
        diagnostic = diagnostic.label(release.query_span, format!("`{}` has no `spend`: it shares the rest", release.name));
    }
    // The last spend goes first: it is the place to edit.
    for release in spending.iter().rev() {
        let Some(spend) = &release.spend else { continue };
        let amount = match &spend.kind {
            SpendKind::Share(p) => format!("{}%", sig(100.0 * p, 4)),
            SpendKind::Cost(kind) => written(kind),
        };
        diagnostic = diagnostic.label(spend.span, format!("{amount}  `{}`", release.name));
    }
    diagnostic.label(budget_span, "total budget").cause(sum_text(&spending, budget, explicit, &total)).help(evenly(&spending))
}

/// A fraction of a whole in four digits, never below it.
fn up(part: &RBig, whole: f64) -> String {
    sig_up((part * Amount::of(whole).map_or(RBig::ZERO, |x| x.ratio())).to_f64().value(), 4)
}

/// `releases from the same table compose sequentially: 0.02 + 0.08 + 0.02 = 0.12 > 0.1`
fn sum_text(spending: &[&ReleaseStep], budget: &BudgetKind, explicit: &Fractions, total: &RBig) -> String {
    let unit = limits(budget).first().copied().unwrap_or(0.0);
    let parts: Vec<String> = spending.iter().filter_map(|r| explicit.get(&r.id)).map(|p| up(p, unit)).collect();
    let first = spending.first().map(|r| table_of(&r.query));
    let same = spending.iter().all(|r| Some(table_of(&r.query)) == first);
    let who = if same {
        "releases from the same table compose sequentially"
    } else {
        "one person may be in every table, so their releases compose sequentially"
    };
    let sign = if total.to_f64().value() > 1.0 + SLACK { ">" } else { "of" };
    format!("{who}: {} = {} {sign} {}", parts.join(" + "), up(total, unit), number(unit))
}

fn evenly(spending: &[&ReleaseStep]) -> Help {
    let drop = Help::from("drop the `spend` clauses to split evenly, or lower them to 100% in total.");
    let clauses = spending.iter().filter_map(|r| r.spend.as_ref());
    clauses.fold(drop, |drop, spend| drop.edit(spend.span, ""))
}

/// The private table that a query reads.
pub fn table_of(query: &Query) -> crate::model::TableId {
    match query {
        Query::Posterior(model) => model.records.table,
        Query::Aggregate(query) => query.table,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::model::SpendKind::{Cost, Share};

    fn parts(budget: BudgetKind, steps: Vec<Step>) -> Vec<BudgetKind> {
        allot(&program(Some(budget), steps), 1.0).unwrap().into_values().collect()
    }

    #[test]
    fn the_rest_is_split_evenly() {
        let steps = vec![release(0, Some(Share(0.2))), release(1, None), release(2, None)];
        let got = parts(BudgetKind::Zcdp(0.1), steps);
        assert_eq!(got, [BudgetKind::Zcdp(0.02), BudgetKind::Zcdp(0.04), BudgetKind::Zcdp(0.04)]);
    }

    /// Percentages and amounts are decimals: parts of 0.3 and of 0.1 are no longer.
    #[test]
    fn parts_are_exact() {
        let eps = |x| BudgetKind::Pure(x);
        let steps = vec![release(0, Some(Cost(eps(0.1)))), release(1, None)];
        assert_eq!(parts(eps(0.3), steps), [eps(0.1), eps(0.2)]);
        let steps = vec![release(0, Some(Share(0.7))), release(1, None), release(2, None), release(3, None)];
        assert_eq!(parts(eps(0.1), steps), [eps(0.07), eps(0.01), eps(0.01), eps(0.01)]);
        let steps = vec![release(0, Some(Share(0.36))), release(1, None)];
        assert_eq!(parts(BudgetKind::Gdp(0.1), steps), [BudgetKind::Gdp(0.06), BudgetKind::Gdp(0.08)]);
        let thirds = parts(eps(0.1), vec![release(0, None), release(1, None), release(2, None)]);
        assert_eq!(thirds, [eps(0.033_333_333_333_3), eps(0.033_333_333_333_3), eps(0.033_333_333_333_3)]);
    }

    #[test]
    fn shares_follow_the_unit_of_the_budget() {
        let steps = || vec![release(0, Some(Share(0.25))), release(1, None)];
        let dp = parts(BudgetKind::Dp { epsilon: 1.0, delta: 1e-6 }, steps());
        assert_eq!(dp[0], BudgetKind::Dp { epsilon: 0.25, delta: 2.5e-7 });
        assert_eq!(parts(BudgetKind::Gdp(2.0), steps())[0], BudgetKind::Gdp(1.0));
        let rdp = parts(BudgetKind::Rdp(vec![(2.0, 0.1), (8.0, 0.4)]), steps());
        assert_eq!(rdp[0], BudgetKind::Rdp(vec![(2.0, 0.025), (8.0, 0.1)]));
    }

    #[test]
    fn each_branch_may_use_what_remains() {
        let steps = vec![release(0, Some(Share(0.5))), when(vec![release(1, None), release(2, None)], vec![release(3, None)])];
        let got = parts(BudgetKind::Pure(1.0), steps);
        let eps = |x| BudgetKind::Pure(x);
        assert_eq!(got, [eps(0.5), eps(0.25), eps(0.25), eps(0.5)]);
    }

    #[test]
    fn an_absolute_cost_counts_as_its_fraction() {
        let steps = vec![release(0, Some(Cost(BudgetKind::Zcdp(0.01)))), release(1, None)];
        let got = parts(BudgetKind::Zcdp(0.2), steps);
        assert_eq!(got, [BudgetKind::Zcdp(0.01), BudgetKind::Zcdp(0.19)]);
    }

    #[test]
    fn over_the_budget_names_every_spend() {
        let steps = vec![release(0, Some(Share(0.2))), release(1, Some(Share(0.8))), release(2, Some(Share(0.2)))];
        let d = allot(&program(Some(BudgetKind::Zcdp(0.1)), steps), 1.0).unwrap_err();
        assert_eq!((d.code, d.message.as_str()), ("E0402", "releases are allotted 120% of the budget"));
        let texts: Vec<&str> = d.labels.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(texts, ["20%  `x2`", "80%  `x1`", "20%  `x0`", "total budget"]);
        assert_eq!(d.cause.unwrap(), "releases from the same table compose sequentially: 0.02 + 0.08 + 0.02 = 0.12 > 0.1");
    }

    #[test]
    fn nothing_left_for_a_release_without_a_share_is_an_error() {
        let steps = vec![release(0, Some(Share(1.0))), release(1, None)];
        let d = allot(&program(Some(BudgetKind::Pure(1.0)), steps), 1.0).unwrap_err();
        assert_eq!(d.message, "nothing of the budget is left for `x1`");
    }

    #[test]
    fn a_share_of_no_budget_is_an_error() {
        let d = allot(&program(None, vec![release(0, Some(Share(0.2)))]), 1.0).unwrap_err();
        assert_eq!(d.code, "E0405");
    }
}
