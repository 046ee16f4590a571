//! What a session spends: which releases wait, what they cost, and whether the budget of the program still allows it.

use super::{Judged, Outcome, Session, Step};
use crate::analyze::budget::{against, written};
use crate::ledger::{Account, Balance, Budget, Charge, LedgerError, Registration, afford};
use crate::model::{Query, ReleaseStep, TableId};
use crate::privacy::Claim;
use crate::run::{Files, Results, RunError, mentioned_tables};
use crate::source::Help;
use std::collections::BTreeSet;

/// Statements that wait to be run, at a cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposal {
    pub releases: Vec<String>,
    /// What all of them cost, for everybody whose rows are in any table.
    pub claim: Claim,
    /// The cost in the budget's kind, for people.
    pub cost: String,
    /// Private tables whose rows are read.
    pub tables: BTreeSet<TableId>,
}

impl Session {
    /// The releases that wait; `None` where none does.
    pub fn proposal(&self) -> Option<Proposal> {
        let waiting: Vec<usize> = self.waiting().filter(|i| self.costs(*i)).collect();
        if waiting.is_empty() {
            return None;
        }
        let all: Vec<&ReleaseStep> = waiting.iter().flat_map(|i| crate::model::releases(self.steps(*i))).collect();
        let claim = self.claim(&waiting, &|_| true);
        let budget = self.program().budget.as_ref();
        let cost = match budget {
            Some(budget) => {
                let (cost, limit) = against(&claim, &budget.kind);
                format!("{cost} of {limit}")
            }
            None => plain(&claim),
        };
        let counted = self.waiting().flat_map(|i| mentioned_tables(self.steps(i)));
        let private = |t: &TableId| self.program().tables.get(t.0).is_some_and(|t| t.private);
        let tables = all.iter().map(|r| table_of(r)).chain(counted).filter(private).collect();
        Some(Proposal { releases: all.iter().map(|r| r.name.clone()).collect(), claim, cost, tables })
    }

    /// What the proposal costs the people in some tables; never more than the claim of all.
    pub fn claim_for(&self, tables: &[TableId]) -> Claim {
        let waiting: Vec<usize> = self.waiting().filter(|i| self.costs(*i)).collect();
        self.claim(&waiting, &|t| tables.contains(&t))
    }

    fn waiting(&self) -> impl Iterator<Item = usize> {
        self.state.entries.iter().enumerate().filter(|(_, e)| !e.ran).map(|(i, _)| i)
    }

    fn costs(&self, at: usize) -> bool {
        !crate::model::releases(self.steps(at)).is_empty()
    }

    /// The total of the certificate where it is about just these statements and tables; else the product of their own
    /// costs, which is never less.
    fn claim(&self, entries: &[usize], of: &dyn Fn(TableId) -> bool) -> Claim {
        let judged = &self.state.judged;
        let whole = self.state.entries.iter().enumerate().all(|(i, _)| entries.contains(&i) || !self.costs(i));
        let every = crate::model::releases(&judged.checked.program.steps).into_iter().all(|r| of(table_of(r)));
        match &judged.analysis.total {
            Some(total) if whole && every => total.clone(),
            _ => Claim::Product(entries.iter().map(|i| product(self.steps(*i), judged, of)).collect()),
        }
    }

    /// Would the session's own budget, that of the program, allow the proposal? Without a budget everything is allowed.
    ///
    /// # Errors
    /// OverBudget, NoPrice; or what keeps a release from running at all, as `Invalid`.
    pub fn allows(&self, proposal: &Proposal) -> Result<(), LedgerError> {
        if self.certificate().is_none() {
            return Err(LedgerError::Invalid(
                "the program is not right yet: nothing runs before it is, or its last statement is taken back (:undo)".into(),
            ));
        }
        if let Some(what) = crate::compiled::missing(self.program(), &self.state.judged.bound) {
            return Err(LedgerError::Invalid(what.replace("--public ", ":public ")));
        }
        match self.account()? {
            Some(account) if !free(&proposal.claim) => afford(&account, &proposal.claim).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// What is spent of the program's budget, and left; empty without one.
    ///
    /// # Errors
    /// As [`Session::allows`], where what has run cannot be counted against the budget.
    pub fn balance(&self) -> Result<Vec<Balance>, LedgerError> {
        Ok(self.account()?.map_or_else(Vec::new, |a| a.balance()))
    }

    /// E0402 where something has run: only what is typed now can be made smaller.
    pub(super) fn within_what_is_left(&self, refused: Outcome) -> Outcome {
        let Outcome::Rejected(mut said) = refused else { return refused };
        let part = |b: &Balance| Some(b.left.parse::<f64>().ok()? / b.limit.parse::<f64>().ok()?);
        let parts: Option<Vec<f64>> = self.balance().ok().and_then(|all| all.iter().map(part).collect());
        let left = parts.unwrap_or_default().into_iter().reduce(f64::min).map_or(0.0, |p| (p * 100.0).floor());
        for d in said.diagnostics.iter_mut().filter(|d| d.code == "E0402" && !self.state.charges.is_empty()) {
            let spend = d.labels.first().map(|l| l.span).filter(|s| said.sources.slice(*s).starts_with("spend"));
            let help = match spend {
                Some(span) if left > 0.0 => Help::from(("what is left of the budget:", format!("spend {left}%"))).over(span),
                _ => format!("what has run keeps its cost: about {left}% of the budget is left (:budget)").into(),
            };
            d.help = vec![help];
        }
        Outcome::Rejected(said)
    }

    /// Everything that ran, as one claim.
    pub fn spent(&self) -> Claim {
        Claim::Product(self.state.charges.clone())
    }

    /// How many times something was charged, and the releases among them whose names now mean something else.
    pub fn charged(&self) -> (usize, &[String]) {
        (self.state.charges.len(), &self.state.retired)
    }

    /// An account with every charge of the session, under the program's budget: a filter that holds for releases chosen
    /// after earlier ones were seen.
    fn account(&self) -> Result<Option<Account>, LedgerError> {
        let Some(declared) = &self.program().budget else { return Ok(None) };
        let text = written(&declared.kind);
        let none = String::new;
        let no_price = || LedgerError::NoPrice { dataset: "session".into(), budget: text.clone() };
        let budget = Budget::parse(&text).ok_or_else(no_price)?;
        let (id, location, salt, commitment) = ("session".to_owned(), none(), none(), none());
        let registration =
            Registration { id, declaration: None, relation: None, unit: None, budget: text.clone(), location, salt, commitment };
        let mut account = Account::new(registration, budget);
        for claim in self.state.charges.iter().filter(|c| !free(c)) {
            let charge = Charge::new("session", &account.budget, claim).ok_or_else(no_price)?;
            account.book(&charge, None).ok_or_else(no_price)?;
        }
        Ok(Some(account))
    }

    /// Runs everything that waits, in program order, up to and with the proposal where there is one. Its cost is booked
    /// first and stays, whatever comes of it.
    ///
    /// # Errors
    /// `LedgerError` before anything was booked or opened.
    pub fn run(&mut self, proposal: Option<&Proposal>, files: &dyn Files) -> Result<(Results, Option<RunError>), LedgerError> {
        if let Some(proposal) = proposal {
            self.allows(proposal)?;
            if self.proposal().as_ref() != Some(proposal) {
                return Err(LedgerError::Invalid("something else waits by now".into()));
            }
            self.state.charges.push(proposal.claim.clone());
            let read = proposal.tables.iter().filter_map(|t| self.program().tables.get(t.0)).cloned();
            let new: Vec<_> = read.filter(|t| self.state.read.iter().all(|known| known.name != t.name)).collect();
            self.state.read.extend(new);
        }
        let mut all = Results::default();
        let waiting: Vec<usize> = self.waiting().collect();
        for at in waiting {
            if self.costs(at) && proposal.is_none() {
                break;
            }
            match self.run_entry(at, files) {
                Ok(results) => {
                    all.releases.extend(results.releases);
                    all.outputs.extend(results.outputs);
                    all.warnings.extend(results.warnings);
                }
                Err(error) => return Ok((all, Some(error))),
            }
        }
        Ok((all, None))
    }
}

fn table_of(release: &ReleaseStep) -> TableId {
    match &release.query {
        Query::Posterior(model) => model.records.table,
        Query::Aggregate(query) => query.table,
    }
}

/// The costs of releases that read some table, one after the other; of branches the dearer.
fn product(steps: &[Step], judged: &Judged, of: &dyn Fn(TableId) -> bool) -> Claim {
    let mut parts = vec![];
    for step in steps {
        match step {
            Step::Release(r) if of(table_of(r)) => {
                let chosen = judged.analysis.release(r.id).and_then(|a| a.chosen.as_ref());
                // What is not decided has no certificate.
                parts.push(chosen.map_or(Claim::Pure { epsilon: f64::INFINITY }, |c| c.claim.clone()));
            }
            Step::When { then, otherwise, .. } => {
                let (a, b) = (product(then, judged, of), product(otherwise, judged, of));
                match (free(&a), free(&b)) {
                    (_, true) => parts.push(a),
                    (true, false) => parts.push(b),
                    (false, false) => parts.push(Claim::Max(vec![a, b])),
                }
            }
            // A release in groups has the cost of all its groups.
            Step::Each(each) => parts.push(product(&each.body, judged, of)),
            Step::Release(_) | Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    parts.retain(|p| !free(p));
    match (parts.pop(), parts.is_empty()) {
        (Some(one), true) => one,
        (last, _) => Claim::Product(parts.into_iter().chain(last).collect()),
    }
}

/// Nothing can be learned: the release is the same for all neighbours.
fn free(claim: &Claim) -> bool {
    claim.pure() == 0.0 || claim.gdp() == 0.0
}

/// A cost without a budget, in the plainest kind it has.
fn plain(claim: &Claim) -> String {
    use crate::numeric::decimal::sig_up;
    let kinds = [("eps", claim.pure()), ("gdp", claim.gdp()), ("zcdp", claim.zcdp())];
    let found = kinds.into_iter().find(|(_, x)| x.is_finite());
    found.map_or_else(|| format!("eps {} at delta 1e-6", sig_up(claim.epsilon(1e-6), 3)), |(name, x)| format!("{name} {}", sig_up(x, 3)))
}
