//! Why a ledger refuses: public facts alone, every one an exit with code 4.

use super::budget::Balance;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LedgerError {
    /// There is no ledger at this path. None is ever made but by `init`.
    Missing,
    /// `init` found a ledger, or what is left of one.
    Exists,
    /// What is on the disk is not what this ledger wrote last.
    Locked(String),
    /// Another process kept the ledger for longer than the wait.
    Busy,
    /// The disk failed once while the ledger wrote; the owner has to look at it.
    Poisoned,
    /// The file could not be read or written.
    Storage(String),
    UnknownDataset(String),
    /// A ledger of an earlier version did not register what programs may read.
    Undeclared(String),
    /// A table of the program asks for more than the registration grants.
    Beyond {
        dataset: String,
        why: String,
    },
    /// The rules that the owner set for the data set do not allow the program.
    Policy {
        dataset: String,
        why: String,
    },
    /// The claim costs nothing, or has no bound, in the terms of the budget.
    NoPrice {
        dataset: String,
        budget: String,
    },
    OverBudget(Box<OverBudget>),
    /// The registered file is gone; nothing was charged.
    NoFile(String),
    /// The file is not the one that was registered. The run is charged: the data were open.
    Changed(String),
    /// The run is not open: it was never reserved, or has ended.
    UnknownRun,
    /// A data set, unit, relation or budget that cannot be registered.
    Invalid(String),
}

/// A charge that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverBudget {
    pub dataset: String,
    pub budget: String,
    /// Before the charge.
    pub balance: Vec<Balance>,
    /// The cost of the claim alone, one a component.
    pub asked: Vec<String>,
    /// What would still fit, in words.
    pub fits: String,
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Missing => write!(f, "there is no ledger at this path; only `dpm ledger init` makes one"),
            LedgerError::Exists => write!(f, "there is a ledger at this path already, or a file of one; it is left as it is"),
            LedgerError::Locked(why) => write!(f, "the ledger is locked: {why}"),
            LedgerError::Busy => {
                write!(f, "other processes kept the ledger for too long; nothing was charged, and the run may be tried again")
            }
            LedgerError::Poisoned => write!(
                f,
                "the ledger is locked: the disk failed while it was written; check the disk, run `dpm ledger verify` on a copy, then remove the file that ends in .poisoned"
            ),
            LedgerError::Storage(why) => write!(f, "the ledger cannot be used: {why}"),
            LedgerError::UnknownDataset(id) => write!(f, "no data set `{id}` is registered in this ledger"),
            LedgerError::Undeclared(id) => {
                write!(
                    f,
                    "`{id}` was registered without a declaration; its owner adds one: dpm ledger declare PATH --dataset {id} --schema FILE"
                )
            }
            LedgerError::Beyond { dataset, why } => {
                write!(f, "the registration of `{dataset}` does not allow this: {why}; `dpm ledger show` prints what it declares")
            }
            LedgerError::Policy { dataset, why } => write!(f, "the policy of `{dataset}` does not allow this program: {why}"),
            LedgerError::NoPrice { dataset, budget } => {
                write!(f, "the program has no positive finite cost for `{dataset}` in the terms of its budget {budget}")
            }
            LedgerError::OverBudget(over) => over.fmt(f),
            LedgerError::NoFile(id) => write!(f, "the file of the data set `{id}` is not where it was registered; nothing was charged"),
            LedgerError::Changed(id) => write!(f, "the file of the data set `{id}` is not the one that was registered; the run is charged"),
            LedgerError::UnknownRun => write!(f, "this run is not open in the ledger"),
            LedgerError::Invalid(why) => write!(f, "{why}"),
        }
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the budget {} of `{}` does not allow this run; nothing was charged", self.budget, self.dataset)?;
        for (line, asked) in self.balance.iter().zip(&self.asked) {
            let Balance { component, spent, limit, left } = line;
            write!(f, "\n  {component}: spent {spent}, asked {asked}, limit {limit}, left {left}")?;
        }
        write!(f, "\n  would still fit: {}", self.fits)
    }
}

impl std::error::Error for LedgerError {}
