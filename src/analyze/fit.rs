//! From shares to a program that fits: what is written takes what it costs, the rest is shared, and what the composition of all leaves is used.

use super::budget::over;
use super::messages;
use super::report::Analysis;
use super::site::MANY;
use crate::model::{Budget, BudgetKind, Program, releases};
use crate::source::{Diagnostic, Diagnostics};

/// The whole program judged once.
pub type Judged = (Analysis, Diagnostics);
type Failed = Box<Diagnostic>;

/// On which terms a program is judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// By how much a share without `spend` is larger than an even one.
    pub growth: f64,
    /// Is a release whose numbers are written held to its even share? Else to the whole budget: all of them together decide.
    pub even: bool,
    /// Are mechanisms that are not chosen solved as well, to be shown?
    pub shown: bool,
}

const TERMS: Terms = Terms { growth: 1.0, even: false, shown: true };
/// By how much shares are enlarged where a release cannot meet an even one; from the last on they double.
const LARGER: [f64; 4] = [1.05, 1.15, 1.4, 2.0];
/// A budget used to this part is used; passes made to get there.
const ENOUGH: f64 = 0.999;
const PASSES: u32 = 8;

/// The program on the best terms found. What fits as composed is accepted; what does not is explained by even shares.
///
/// # Errors
/// What `pass` refuses.
pub fn fitted(program: &Program, pass: &dyn Fn(Terms) -> Result<Judged, Failed>) -> Result<Judged, Failed> {
    let all = releases(&program.steps);
    let open = if all.len() > 1 { all.iter().filter(|r| r.spend.is_none()).count() } else { 0 };
    let dp = program.budget.as_ref().is_some_and(|b| matches!(b.kind, BudgetKind::Dp { .. }));
    // Of several releases the first pass only says what they cost: shares of (epsilon, delta) grow.
    let shown = !dp || open == 0;
    let first = pass(Terms { shown, ..TERMS })?;
    let Some(budget) = &program.budget else { return Ok(first) };
    match (Search { budget, open, pass }).from(&first) {
        Some(1.0) if shown => return Ok(first),
        Some(growth) => return pass(Terms { growth, ..TERMS }),
        None => {}
    }
    let (analysis, mut diagnostics) = pass(Terms { even: true, ..TERMS })?;
    if let (false, Some(total)) = (analysis.budget.as_ref().is_some_and(|b| b.met), &analysis.total) {
        diagnostics.push(messages::total_over(budget, total));
    }
    Ok((analysis, diagnostics))
}

fn wrong(said: &Diagnostics) -> bool {
    said.iter().any(Diagnostic::is_error)
}

/// The search for the size of shares, by their growth.
struct Search<'a> {
    budget: &'a Budget,
    /// The number of releases that share what no `spend` takes; 0 where there is nothing to share.
    open: usize,
    pass: &'a dyn Fn(Terms) -> Result<Judged, Failed>,
}

/// A growth of the shares and what the program then costs, over what is allowed.
type Point = (f64, f64);

/// Where a power of the growth through both points uses the budget up to the middle of what is enough.
fn power((yes, used): Point, (end, cost): Point) -> f64 {
    let exponent = (cost / used).ln() / (end / yes).ln();
    (yes * (f64::midpoint(ENOUGH, 1.0) / used).powf(1.0 / exponent)).max(yes).min(end)
}

impl Search<'_> {
    /// What the program costs at a growth, over what is allowed; `None` where a release has no mechanism.
    fn at(&self, growth: f64) -> Option<f64> {
        self.cost(&(self.pass)(Terms { growth, shown: false, ..TERMS }).ok()?)
    }

    fn cost(&self, (analysis, said): &Judged) -> Option<f64> {
        analysis.total.as_ref().filter(|_| !wrong(said)).map(|total| over(total, &self.budget.kind))
    }

    /// A growth at which the program fits, if any is found: 1 for the first pass.
    fn from(&self, first: &Judged) -> Option<f64> {
        let dp = matches!(self.budget.kind, BudgetKind::Dp { .. });
        match self.cost(first) {
            None if dp => self.larger(&first.1),
            None => None,
            Some(cost) if cost > 1.0 => self.smaller((1.0, cost)),
            // Shares of other kinds of budget add up already.
            Some(cost) => Some(if dp { self.grown((1.0, cost), None) } else { 1.0 }),
        }
    }

    /// Some release cannot meet an even share: the shares are enlarged as long as the whole may still fit.
    fn larger(&self, said: &Diagnostics) -> Option<f64> {
        let too_dear = |d: &Diagnostic| !d.is_error() || d.code == "E0401";
        if self.open < 2 || !said.iter().all(too_dear) {
            return None;
        }
        let doubled = std::iter::successors(LARGER.last().copied(), |g| Some(2.0 * g)).skip(1).take_while(|g| *g < 2.0 * self.open as f64);
        LARGER.into_iter().chain(doubled).find(|growth| self.at(*growth).is_some_and(|cost| cost <= 1.0))
    }

    /// Written parameters take more than an even share: the others get less.
    fn smaller(&self, mut no: Point) -> Option<f64> {
        for _ in 0..if self.open == 0 { 0 } else { PASSES } {
            let growth = no.0 / 2.0;
            let cost = self.at(growth)?;
            if cost <= 1.0 {
                return Some(self.grown((growth, cost), Some(no)));
            }
            // Nothing is left to give way.
            if cost > 0.999 * no.1 {
                break;
            }
            no = (growth, cost);
        }
        None
    }

    /// The largest growth found above one that fits, where releases without `spend` compose to less than the sum of their
    /// costs. `no` costs too much.
    fn grown(&self, (mut yes, mut used): Point, mut no: Option<Point>) -> f64 {
        // Costs of other kinds than (epsilon, delta) add up: between two of them they are straight.
        let adds = !matches!(self.budget.kind, BudgetKind::Dp { .. });
        let (room, enough) = if adds { (1e-11, 1.0 - 1e-9) } else { (1e-4, ENOUGH) };
        for _ in 0..PASSES {
            if used >= enough || used <= 0.0 || self.open == 0 {
                break;
            }
            // Costs are nearly proportional to shares, and nearly straight where something else is written.
            let straight = yes / used * (1.0 - room);
            let growth = match no {
                Some(no) if self.open >= MANY => power((yes, used), no),
                Some((end, cost)) if adds || straight >= end => yes + (end - yes) * (1.0 - room - used) / (cost - used),
                _ => straight,
            };
            match self.at(growth) {
                Some(cost) if cost <= 1.0 => {
                    // Some releases need no more than they have.
                    let stuck = cost - used < room;
                    (yes, used) = (growth, cost);
                    if stuck {
                        break;
                    }
                }
                Some(cost) => no = Some((growth, cost)),
                None => break,
            }
        }
        yes
    }
}
