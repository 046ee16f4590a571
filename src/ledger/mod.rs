//! A durable account of what was spent: reserve, open the data, compute, release, commit; nothing is ever refunded.
//!
//! Data sets are registered by their owner with relation, unit and budget, and are known by their name alone. The bytes
//! of a registered file are reached through a [`Reservation`] only, and a reservation exists only once it is on the disk.

mod account;
mod budget;
mod claims;
mod entry;
mod error;
mod filter;
mod head;
mod hex;
mod key;
mod policy;
mod register;
mod store;
mod turn;
mod witness;

pub use account::{Account, Accounts};
pub use budget::{Balance, Budget};
pub use entry::{Charge, Declaration, Entry, Registration};
pub use error::{LedgerError, OverBudget};
pub use head::{CODE, Head, is_of_a_ledger};
pub use key::Signature;
pub use policy::{Intended, Least, Policy};
pub use register::{Bytes, NewDataset};

use crate::numeric::decimal::{decimal_string, down12};
use crate::privacy::Claim;
use entry::FORMATS;
use hex::{hex, random_hex};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::{Session, To};
pub use witness::Witness;

/// A ledger on the disk. Every operation opens it for itself alone and verifies all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    path: PathBuf,
}

/// What a run asks of one data set.
#[derive(Clone, Debug)]
pub struct Ask {
    pub dataset: String,
    /// The declaration that the program was held to.
    pub declaration: Declaration,
    /// The cost of the whole program for this data set.
    pub claim: Claim,
}

/// A charge that is on the disk. It cannot be copied or made elsewhere; dropping it refunds nothing.
pub struct Reservation {
    run: String,
    receipt: Receipt,
    datasets: BTreeMap<String, Registration>,
}

/// Where the ledger stands after an entry; for run records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    pub run: String,
    pub head: Head,
    /// The public key that signs its record, if the ledger has one.
    pub key: Option<String>,
    /// What is left of every data set of the run.
    pub remaining: BTreeMap<String, Vec<Balance>>,
}

impl Ledger {
    /// Registers data sets in a new ledger.
    ///
    /// # Errors
    /// Exists; Invalid, with what cannot be registered; Storage.
    pub fn init(path: &Path, datasets: &[NewDataset]) -> Result<Ledger, LedgerError> {
        if datasets.is_empty() {
            return Err(LedgerError::Invalid("a ledger needs a data set: --dataset ID=FILE".into()));
        }
        let no_random = || LedgerError::Storage("the system has no randomness".into());
        let ledger = Ledger { path: full_path(path)? };
        let place = place(&ledger.path);
        let mut entries = vec![Entry::Open { format: FORMATS[1].into(), ledger: random_hex::<16>().ok_or_else(no_random)?, place }];
        let mut seen: Vec<Registration> = vec![];
        for dataset in datasets {
            let registration = dataset.register()?;
            // The same rows under two names would be two budgets for the same people.
            if seen.iter().any(|other| other.id == registration.id || other.holds(&dataset.file)) {
                return Err(LedgerError::Invalid(format!("the data set `{}` or its file is registered twice", registration.id)));
            }
            seen.push(registration);
        }
        entries.extend(seen.into_iter().map(Entry::Dataset));
        Session::create(&ledger.path, |path| {
            entries.push(Entry::Key { public: key::make(path)? });
            Ok(entries)
        })?;
        Ok(ledger)
    }

    /// The ledger at a path; it is verified by every operation.
    ///
    /// # Errors
    /// Missing.
    pub fn at(path: &Path) -> Result<Ledger, LedgerError> {
        Ok(Ledger { path: path.canonicalize().map_err(|_| LedgerError::Missing)? })
    }

    /// All files that it is made of, there or not.
    pub fn files(&self) -> Vec<PathBuf> {
        std::iter::once("").chain(head::BESIDE).map(|end| head::beside(&self.path, end)).collect()
    }

    fn open(&self, to: To) -> Result<Session, LedgerError> {
        let session = Session::open(&self.path, to)?;
        if session.accounts.place == place(&self.path) {
            return Ok(session);
        }
        Err(LedgerError::Locked(
            "it was made for another path or machine. A copy would spend the same budget twice; if its owner moved it, `dpm ledger moved PATH`".into(),
        ))
    }

    /// Charges a run, durably, before any of its data are opened.
    ///
    /// # Errors
    /// UnknownDataset, Undeclared, Policy, Busy, NoPrice, OverBudget and NoFile charge nothing. After any other error the charge may count.
    pub fn reserve(&self, run: impl Into<Intended>, asks: &[Ask]) -> Result<Reservation, LedgerError> {
        let intended = run.into();
        let session = self.open(To::Write)?;
        let approved =
            [Some(&intended.certificate), intended.plan.as_ref()].into_iter().flatten().any(|d| session.accounts.approved.contains(d));
        let mut charges: Vec<Charge> = vec![];
        let mut datasets = BTreeMap::new();
        for ask in asks {
            let account = session.accounts.accounts.get(&ask.dataset);
            let account = account.ok_or_else(|| LedgerError::UnknownDataset(ask.dataset.clone()))?;
            let charge = judge(account, ask)?;
            let policy = &account.policy;
            let refused = policy.refuses(&intended, approved, &ask.dataset, policy::today());
            if let Some(why) = refused.or_else(|| account.beyond_share(&charge, intended.analyst.as_deref())) {
                return Err(LedgerError::Policy { dataset: ask.dataset.clone(), why });
            }
            if !Path::new(&account.registration.location).is_file() {
                return Err(LedgerError::NoFile(ask.dataset.clone()));
            }
            // Two tables may read one data set: the second only has to say the same of it.
            let known = charges.iter().find(|c| c.dataset == ask.dataset);
            if known.is_some_and(|c| *c != charge) {
                return Err(LedgerError::Invalid(format!("two costs for the data set `{}`", ask.dataset)));
            }
            if known.is_some() {
                continue;
            }
            datasets.insert(ask.dataset.clone(), account.registration.clone());
            charges.push(charge);
        }
        if charges.is_empty() {
            return Err(LedgerError::Invalid("the run asks for no data set".into()));
        }
        let run = random_hex::<16>().ok_or_else(|| LedgerError::Storage("the system has no randomness".into()))?;
        let session = session.append(vec![Entry::Reserve {
            run: run.clone(),
            analyst: intended.analyst,
            certificate: intended.certificate,
            charges,
        }])?;
        let receipt = receipt(&session, &run, datasets.keys());
        Ok(Reservation { run, receipt, datasets })
    }

    /// Records that a run ended with its releases.
    ///
    /// # Errors
    /// UnknownRun where the run is not open. The charge stays in any case.
    pub fn commit(&self, reservation: Reservation) -> Result<Receipt, LedgerError> {
        let session = self.open(To::Write)?;
        if !session.accounts.open_runs.contains(&reservation.run) {
            return Err(LedgerError::UnknownRun);
        }
        let session = session.append(vec![Entry::Commit { run: reservation.run.clone() }])?;
        Ok(receipt(&session, &reservation.run, reservation.datasets.keys()))
    }

    /// Declares a registered data set anew, for its owner: what was charged stays charged.
    ///
    /// # Errors
    /// UnknownDataset.
    pub fn declare(&self, dataset: &str, declaration: Declaration) -> Result<Head, LedgerError> {
        let session = self.open(To::Write)?;
        if !session.accounts.accounts.contains_key(dataset) {
            return Err(LedgerError::UnknownDataset(dataset.into()));
        }
        Ok(session.append(vec![Entry::Declare { dataset: dataset.into(), declaration }])?.head())
    }

    /// Puts another file in the place of a registered one, for its owner: the same people and more of them, or a later month.
    /// Budget, policy and all charges stay.
    ///
    /// # Errors
    /// UnknownDataset; Invalid, where the file cannot be registered.
    pub fn extend(&self, dataset: &NewDataset) -> Result<Head, LedgerError> {
        let Registration { id, location, salt, commitment, .. } = dataset.register()?;
        let session = self.open(To::Write)?;
        if !session.accounts.accounts.contains_key(&id) {
            return Err(LedgerError::UnknownDataset(id));
        }
        if session.accounts.accounts.values().any(|a| a.registration.holds(&dataset.file)) {
            return Err(LedgerError::Invalid("these very rows are registered already".into()));
        }
        Ok(session.append(vec![Entry::Extend { dataset: id, location, salt, commitment }])?.head())
    }

    /// Sets the rules of a registered data set, for its owner.
    ///
    /// # Errors
    /// UnknownDataset; Invalid, with a share that is not in the terms of the budget.
    pub fn set_policy(&self, dataset: &str, policy: Policy) -> Result<Head, LedgerError> {
        let session = self.open(To::Write)?;
        let account = session.accounts.accounts.get(dataset).ok_or_else(|| LedgerError::UnknownDataset(dataset.into()))?;
        let unlike = policy.shares.values().find(|share| Budget::parse(share).is_none_or(|b| !b.is_like(&account.budget)));
        if let Some(share) = unlike {
            return Err(LedgerError::Invalid(format!("the share `{share}` is not in the terms of the budget {}", account.budget)));
        }
        Ok(session.append(vec![Entry::Policy { dataset: dataset.into(), policy }])?.head())
    }

    /// Approves one program, by the digest of its certificate or of its plan.
    pub fn approve(&self, certificate: &str) -> Result<Head, LedgerError> {
        Ok(self.open(To::Write)?.append(vec![Entry::Approve { certificate: certificate.into() }])?.head())
    }

    /// From here on the head is also kept in this file, best on another disk or machine: a ledger behind it is refused.
    ///
    /// # Errors
    /// Invalid, where there is a file already or none can be made.
    pub fn witness(&self, file: &Path) -> Result<Head, LedgerError> {
        let session = self.open(To::Write)?;
        let at = full_path(file)?;
        let taken = at.try_exists().unwrap_or(true);
        let location = at.to_str().filter(|_| !taken).map(str::to_owned);
        let location = location.ok_or_else(|| LedgerError::Invalid("a witness is a new file: there is one at this path already".into()))?;
        Ok(session.append(vec![Entry::Witness { location, command: false }])?.head())
    }

    /// The same, kept by a command of the owner's, which `dpm` calls with `put` and `get`.
    ///
    /// # Errors
    /// Invalid, where the command does not give back what it was given.
    pub fn witness_by(&self, command: &Path) -> Result<Head, LedgerError> {
        let session = self.open(To::Write)?;
        let invalid = |why: &str| LedgerError::Invalid(format!("a witness by command {why}"));
        let at = command.canonicalize().ok().filter(|c| c.is_file()).and_then(|c| c.to_str().map(str::to_owned));
        let witness = Witness { location: at.ok_or_else(|| invalid("is the path of a program"))?, command: true };
        let kept = witness.write(&session.head()).and_then(|()| witness.read());
        if kept.is_ok_and(|head| head == session.head()) {
            let entry = Entry::Witness { location: witness.location, command: true };
            return Ok(session.append(vec![entry])?.head());
        }
        Err(invalid("keeps what `put` is given on standard input, and `get` prints it: this one did not"))
    }

    /// Signs the record of a run by the key with this public half; `None` where it is gone.
    pub fn sign(&self, public: &str, text: &str) -> Option<Signature> {
        key::sign(&self.path, public, text)
    }

    /// Verifies everything and says what it holds: the state, the entries with their hashes, the head.
    pub fn read(&self) -> Result<Contents, LedgerError> {
        let session = match self.open(To::Read) {
            Ok(session) if session.current => session,
            // A writer may be between an entry and its head, or have gone on meanwhile: after it the answer is certain.
            Ok(_) | Err(LedgerError::Locked(_)) => self.open(To::Write)?,
            Err(other) => return Err(other),
        };
        Ok(Contents { head: session.head(), accounts: session.accounts.clone(), lines: session.lines.clone() })
    }

    /// The owner moved the ledger and its head file here: the place is recorded. The copy left behind, if there is one,
    /// can still be used where it is.
    pub fn moved(&self) -> Result<Head, LedgerError> {
        if second_name(&self.path) {
            return Err(LedgerError::Locked("its file has a second name (a hard link), which would not share its log".into()));
        }
        let session = Session::open(&self.path, To::Write)?;
        let place = place(&self.path);
        if session.accounts.place == place {
            return Ok(session.head());
        }
        Ok(session.append(vec![Entry::Moved { place }])?.head())
    }
}

/// What a ledger holds.
pub struct Contents {
    pub head: Head,
    pub accounts: Accounts,
    pub lines: Vec<(Entry, String)>,
}

impl Reservation {
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Reads a registered file, once, and checks the bytes against the commitment.
    ///
    /// # Errors
    /// UnknownDataset, where the reservation is for another; Storage or Changed. The run stays charged.
    pub fn read(&self, dataset: &str) -> Result<Bytes, LedgerError> {
        let registration = self.datasets.get(dataset).ok_or_else(|| LedgerError::UnknownDataset(dataset.into()))?;
        register::read_registered(registration)
    }

    /// The registered file's name ends in `.gz`.
    pub fn compressed(&self, dataset: &str) -> bool {
        let location = self.datasets.get(dataset).map(|r| Path::new(&r.location));
        location.and_then(Path::extension).is_some_and(|e| e.eq_ignore_ascii_case("gz"))
    }
}

/// The charge for what was asked, if it may be made.
fn judge(account: &Account, ask: &Ask) -> Result<Charge, LedgerError> {
    match &account.registration.declaration {
        None => Err(LedgerError::Undeclared(ask.dataset.clone())),
        // Declared anew since the program was held to it.
        Some(declaration) if *declaration != ask.declaration => Err(LedgerError::Busy),
        Some(_) => afford(account, &ask.claim),
    }
}

/// The charge for a claim, if the account allows it.
///
/// # Errors
/// NoPrice, OverBudget.
pub fn afford(account: &Account, claim: &Claim) -> Result<Charge, LedgerError> {
    let dataset = &account.registration.id;
    let no_price = || LedgerError::NoPrice { dataset: dataset.clone(), budget: account.budget.to_string() };
    let charge = Charge::new(dataset, &account.budget, claim).ok_or_else(no_price)?;
    if account.with(&charge).is_some() {
        return Ok(charge);
    }
    let asked = charge.amounts(&account.budget).unwrap_or_default();
    Err(LedgerError::OverBudget(Box::new(OverBudget {
        dataset: dataset.clone(),
        budget: account.budget.to_string(),
        balance: account.balance(),
        asked: asked.iter().map(ToString::to_string).collect(),
        fits: fits(account),
    })))
}

/// What one more run may cost, in words.
fn fits(account: &Account) -> String {
    let balance = account.balance();
    if !matches!(account.budget, Budget::Dp { .. }) {
        let left: Vec<String> = balance.iter().map(|b| format!("{} {}", b.component, b.left)).collect();
        return left.join(", ");
    }
    // The price at delta is not a sum: look for the largest pure epsilon that is accepted.
    let accepted = |epsilon: f64| {
        let charge = Charge::new(&account.registration.id, &account.budget, &Claim::Pure { epsilon });
        charge.is_some_and(|c| account.with(&c).is_some())
    };
    let (mut yes, mut no) = (0.0, balance.first().and_then(|b| b.limit.parse().ok()).unwrap_or(0.0));
    for _ in 0..30 {
        let middle = down12(f64::midpoint(yes, no));
        if accepted(middle) { yes = middle } else { no = middle }
    }
    if yes > 0.0 { format!("a run of pure epsilon {}", decimal_string(yes)) } else { "nothing".into() }
}

fn receipt<'d>(session: &Session, run: &str, datasets: impl Iterator<Item = &'d String>) -> Receipt {
    let balance = |id: &String| Some((id.clone(), session.accounts.accounts.get(id)?.balance()));
    Receipt { run: run.into(), head: session.head(), key: session.accounts.key.clone(), remaining: datasets.filter_map(balance).collect() }
}

/// The absolute path of a file that is not there yet.
fn full_path(path: &Path) -> Result<PathBuf, LedgerError> {
    let no_folder = || LedgerError::Storage("its folder does not exist".into());
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|_| no_folder())?;
    Ok(folder.join(path.file_name().ok_or_else(no_folder)?))
}

fn second_name(path: &Path) -> bool {
    #[cfg(unix)]
    return path.metadata().is_ok_and(|m| std::os::unix::fs::MetadataExt::nlink(&m) > 1);
    #[cfg(not(unix))]
    return false;
}

/// Where a ledger lives: this machine and this path, hashed.
fn place(path: &Path) -> String {
    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    hex(&Sha256::digest(format!("{}\n{}", machine.trim(), path.to_string_lossy())))
}
