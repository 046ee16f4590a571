//! The state of a ledger: every entry replayed in order, with everything that must hold between them.

use super::budget::{Balance, Budget};
use super::claims;
use super::entry::{Charge, Entry, FORMATS, Registration};
use super::filter::Spent;
use super::policy::Policy;
use super::witness::Witness;
use crate::privacy::canonical::canonical;
use std::collections::{BTreeMap, BTreeSet};

/// One registered data set and what was charged to it.
#[derive(Clone, Debug)]
pub struct Account {
    pub registration: Registration,
    pub budget: Budget,
    pub policy: Policy,
    pub spent: Spent,
    /// The part of it that each named analyst spent.
    pub by: BTreeMap<String, Spent>,
}

/// What all entries together say.
#[derive(Clone, Default, Debug)]
pub struct Accounts {
    pub ledger: String,
    pub place: String,
    pub accounts: BTreeMap<String, Account>,
    /// Runs with a reservation that have not ended: running, failed or killed. All of them are charged.
    pub open_runs: BTreeSet<String>,
    pub ended_runs: BTreeSet<String>,
    /// Digests of certificates and plans that the owner approved.
    pub approved: BTreeSet<String>,
    /// Where the head is kept a second time.
    pub witness: Option<Witness>,
    /// Of the ledger, in hexadecimal; a ledger of an earlier version has none.
    pub key: Option<String>,
}

impl Accounts {
    /// Replays entries.
    ///
    /// # Errors
    /// The index of the first entry that cannot stand where it stands.
    pub fn replay<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Result<Accounts, usize> {
        let mut all = Accounts::default();
        for (i, entry) in entries.into_iter().enumerate() {
            all.apply(i == 0, entry).ok_or(i)?;
        }
        // Once is enough: sums never fall. A price at delta may rise with a later version of the conversions; an account
        // above its limit then is exhausted, not wrong.
        let sums = |a: &&Account| !matches!(a.budget, Budget::Dp { .. });
        let within = all.accounts.values().filter(sums).all(|a| a.spent.within(&a.budget));
        if within && !all.ledger.is_empty() { Ok(all) } else { Err(usize::MAX) }
    }

    fn apply(&mut self, first: bool, entry: &Entry) -> Option<()> {
        if first != matches!(entry, Entry::Open { .. }) {
            return None;
        }
        match entry {
            Entry::Open { format, ledger, place } => {
                FORMATS.contains(&format.as_str()).then_some(())?;
                self.ledger.clone_from(ledger);
                self.place.clone_from(place);
            }
            Entry::Dataset(registration) => {
                let budget = Budget::parse(&registration.budget)?;
                let before = self.accounts.insert(registration.id.clone(), Account::new(registration.clone(), budget));
                before.is_none().then_some(())?;
            }
            Entry::Declare { dataset, declaration } => {
                self.accounts.get_mut(dataset)?.registration.declaration = Some(declaration.clone());
            }
            Entry::Extend { dataset, location, salt, commitment } => {
                let registration = &mut self.accounts.get_mut(dataset)?.registration;
                registration.location.clone_from(location);
                registration.salt.clone_from(salt);
                registration.commitment.clone_from(commitment);
            }
            Entry::Reserve { run, analyst, charges, .. } => {
                let new = !self.ended_runs.contains(run) && self.open_runs.insert(run.clone());
                (new && !charges.is_empty()).then_some(())?;
                let mut seen = BTreeSet::new();
                for charge in charges {
                    seen.insert(&charge.dataset).then_some(())?;
                    self.accounts.get_mut(&charge.dataset)?.book(charge, analyst.as_deref())?;
                }
            }
            Entry::Commit { run } => {
                self.open_runs.remove(run).then_some(())?;
                self.ended_runs.insert(run.clone());
            }
            Entry::Policy { dataset, policy } => self.accounts.get_mut(dataset)?.policy.clone_from(policy),
            Entry::Approve { certificate } => {
                self.approved.insert(certificate.clone());
            }
            Entry::Key { public } => self.key.replace(public.clone()).is_none().then_some(())?,
            Entry::Witness { location, command } => self.witness = Some(Witness { location: location.clone(), command: *command }),
            Entry::Moved { place } => self.place.clone_from(place),
        }
        Some(())
    }
}

impl Account {
    pub fn new(registration: Registration, budget: Budget) -> Account {
        Account { registration, budget, policy: Policy::default(), spent: Spent::default(), by: BTreeMap::new() }
    }

    /// Adds a charge without asking whether it fits; `None` if it is not a charge of this budget.
    pub fn book(&mut self, charge: &Charge, analyst: Option<&str>) -> Option<()> {
        let claim = claims::decode(&charge.claim)?;
        let amounts = charge.amounts(&self.budget)?;
        let own = analyst.map(|name| self.by.entry(name.to_owned()).or_default());
        for spent in own.into_iter().chain([&mut self.spent]) {
            spent.add(&canonical(&charge.claim), &claim, &amounts);
        }
        Some(())
    }

    /// The account with one more charge, if that stays within the budget.
    pub fn with(&self, charge: &Charge) -> Option<Account> {
        let mut next = self.clone();
        next.book(charge, None)?;
        next.spent.within(&next.budget).then_some(next)
    }

    /// Why the share of an analyst does not allow a charge, in words; whoever has none gets nothing where there are shares.
    pub fn beyond_share(&self, charge: &Charge, analyst: Option<&str>) -> Option<String> {
        if self.policy.shares.is_empty() {
            return None;
        }
        let Some((name, share)) = analyst.and_then(|name| Some((name, self.policy.shares.get(name)?))) else {
            return Some("its budget is shared out among named analysts, and this run names none of them:    --analyst NAME".into());
        };
        let mut next = self.clone();
        let fits = next.book(charge, analyst).and_then(|()| Some(next.by.get(name)?.within(&Budget::parse(share)?)));
        (fits != Some(true)).then(|| format!("it does not fit what is left of the share {share} of `{name}`"))
    }

    /// Spent and left of every component, as decimal text; `inf` and 0 where nothing is known any more.
    pub fn balance(&self) -> Vec<Balance> {
        let total = self.spent.total(&self.budget);
        let components = self.budget.components().into_iter().enumerate();
        let line = |(i, (component, limit)): (usize, (String, crate::numeric::Amount))| {
            let spent = total.as_ref().and_then(|t| t.get(i));
            Balance {
                spent: spent.map_or("inf".into(), ToString::to_string),
                left: spent.map_or("0".into(), |s| limit.minus(s).to_string()),
                limit: limit.to_string(),
                component,
            }
        };
        components.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Declaration;
    use crate::privacy::Claim;

    fn open() -> Entry {
        Entry::Open { format: "1".into(), ledger: "l".into(), place: "p".into() }
    }

    fn dataset(id: &str) -> Entry {
        let text = String::new;
        let (location, salt, commitment) = (text(), text(), text());
        let (relation, unit, declaration) = (None, None, Some(Declaration { table: id.into(), text: text() }));
        Entry::Dataset(Registration { id: id.into(), declaration, relation, unit, budget: "eps(1)".into(), location, salt, commitment })
    }

    fn reserve(run: &str, dataset: &str, epsilon: f64) -> Entry {
        let charge = Charge::new(dataset, &Budget::parse("eps(1)").unwrap(), &Claim::Pure { epsilon }).unwrap();
        Entry::Reserve { run: run.into(), analyst: None, certificate: "c".into(), charges: vec![charge] }
    }

    fn commit(run: &str) -> Entry {
        Entry::Commit { run: run.into() }
    }

    #[test]
    fn charges_add_up_and_no_entry_gives_back() {
        let mut entries = vec![open(), dataset("a"), dataset("b")];
        for i in 0..9 {
            entries.push(reserve(&i.to_string(), "a", 0.1));
        }
        entries.push(commit("3"));
        let all = Accounts::replay(&entries).unwrap();
        let left = |id: &str| all.accounts[id].balance()[0].left.clone();
        assert_eq!((left("a"), left("b")), ("0.1".into(), "1".into()));
        assert_eq!((all.open_runs.len(), all.ended_runs.len()), (8, 1));
        entries.push(reserve("9", "a", 0.1));
        assert!(Accounts::replay(&entries).is_ok());
        entries.push(reserve("10", "a", 1e-30));
        assert!(Accounts::replay(&entries).is_err());
    }

    /// Every policy takes ten runs that cost a tenth of it, in whatever parts a run states that, and no eleventh.
    #[test]
    fn ten_tenths_and_no_eleventh() {
        let parts = |one: fn(f64) -> Claim| Claim::Product([0.01, 0.02, 0.07].map(one).to_vec());
        let pure = |epsilon| Claim::Pure { epsilon };
        let laplace = |epsilon| Claim::Laplace { epsilon };
        let zcdp = |rho| Claim::Zcdp { rho };
        // 0.06^2 + 0.08^2 = 0.1^2
        let gdp = Claim::Product([0.06, 0.08].map(|mu| Claim::Gdp { mu }).to_vec());
        for (policy, claim) in [
            ("eps(1)", parts(pure)),
            ("eps(1)", parts(laplace)),
            ("zcdp(1)", parts(zcdp)),
            ("gdp(0.31622776601683794)", Claim::Gdp { mu: 0.1 }),
            ("gdp(0.5)", gdp.repeat(2)),
            ("rdp(order = [1.1, 3.3], eps = [1.1, 3.3])", parts(zcdp)),
            ("dp(eps = 1, delta = 1e-300)", parts(pure)),
        ] {
            let fits = if policy == "gdp(0.5)" { 12 } else { 10 };
            let budget = Budget::parse(policy).unwrap();
            let Entry::Dataset(registration) = dataset("a") else { panic!() };
            let mut account = Account::new(registration, budget.clone());
            let charge = Charge::new("a", &budget, &claim).unwrap();
            for i in 0..fits {
                // What is written to the disk is what is read back.
                let text = serde_json::to_string(&charge).unwrap();
                account = account.with(&serde_json::from_str(&text).unwrap()).unwrap_or_else(|| panic!("{policy}: run {i}"));
            }
            assert!(account.with(&charge).is_none(), "{policy}: {:?}", account.balance());
            let hair = Charge::new("a", &budget, &if policy.starts_with("gdp") { Claim::Gdp { mu: 1e-9 } } else { pure(1e-30) });
            let exact = account.balance().iter().all(|b| b.left == "0");
            assert!(!exact || account.with(&hair.unwrap()).is_none(), "{policy}: a little more");
        }
    }

    #[test]
    fn entries_out_of_place() {
        let start = || vec![open(), dataset("a")];
        let wrong = [
            vec![],
            vec![dataset("a")],
            vec![open(), open()],
            vec![open(), dataset("a"), dataset("a")],
            [start(), vec![reserve("r", "b", 0.1)]].concat(),
            [start(), vec![reserve("r", "a", 0.1), reserve("r", "a", 0.1)]].concat(),
            [start(), vec![commit("r")]].concat(),
            [start(), vec![reserve("r", "a", 0.1), commit("r"), commit("r")]].concat(),
            [start(), vec![reserve("r", "a", 0.1), commit("r"), reserve("r", "a", 0.1)]].concat(),
        ];
        for (i, entries) in wrong.iter().enumerate() {
            assert!(Accounts::replay(entries).is_err(), "{i}");
        }
    }
}
