//! `dpm ledger`: registering data sets, and what their budgets still hold.

use super::charge::{amounts, declared, refuse};
use super::{Exit, inputs, print_json, registered, sealed, usage};
use crate::analyze::mechanism_names;
use crate::ledger::{Account, Budget, CODE, Contents, Declaration, Entry, Head, Least, Ledger, LedgerError, NewDataset, Policy, Witness};
use crate::model::Table;
use crate::numeric::calendar;
use crate::numeric::decimal::{decimal_string, up12};
use crate::pipeline;
use crate::privacy::Claim;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub enum Command {
    /// Make a ledger and register data sets in it
    Init {
        path: PathBuf,
        /// A data set and its file; each has its own budget
        #[arg(long, value_name = "ID=FILE", required = true)]
        dataset: Vec<String>,
        /// Declares the data sets: private tables of their names, with all that programs may read
        #[arg(long, value_name = "FILE")]
        schema: PathBuf,
        /// As programs write it: "dp(eps = 1, delta = 1e-6)"
        #[arg(long)]
        budget: String,
        /// Others on this machine may read the files
        #[arg(long)]
        shared: bool,
        /// Also keep the head in this new file, best on another disk or machine: a ledger behind it is refused
        #[arg(long, value_name = "FILE")]
        witness: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Declare a registered data set anew: what was charged stays charged
    Declare {
        #[command(flatten)]
        named: Named,
        #[arg(long, value_name = "ID")]
        dataset: String,
        /// A private table of its name, with all that programs may read
        #[arg(long, value_name = "FILE")]
        schema: PathBuf,
    },
    /// Put a newer file in the place of a registered one: budget, policy and all charges stay
    Extend {
        #[command(flatten)]
        named: Named,
        /// The data set and its new file
        #[arg(long, value_name = "ID=FILE")]
        dataset: String,
        /// Others on this machine may read the file
        #[arg(long)]
        shared: bool,
    },
    /// Set what programs may do with a data set, beside its budget
    Policy {
        #[command(flatten)]
        named: Named,
        #[arg(long, value_name = "ID")]
        dataset: String,
        /// The least sure guarantee that a release may have: exact, certified or conditional
        #[arg(long, value_name = "STATUS", value_parser = least, default_value = "conditional")]
        least: Least,
        /// No program runs that was not approved by its digest
        #[arg(long)]
        approved: bool,
        /// The only mechanisms that may be used
        #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = mechanism)]
        mechanisms: Vec<String>,
        /// The last day on which programs run, as 2027-12-31
        #[arg(long, value_name = "DAY", value_parser = day)]
        until: Option<String>,
        /// What a named analyst may spend of the budget, in its terms: "ana=eps(0.5)"
        #[arg(long, value_name = "NAME=BUDGET", value_parser = share)]
        share: Vec<(String, String)>,
    },
    /// Approve one program, where a chain is assumed to have converged or the policy asks for it
    Approve {
        #[command(flatten)]
        named: Named,
        /// The digest of its certificate, as the refusal prints it, or that of a plan, as `dpm compile` prints it
        #[arg(value_parser = digest)]
        certificate: String,
    },
    /// Also keep the head in a new file from now on, best on another disk or machine: a ledger behind it is refused
    Witness {
        #[command(flatten)]
        named: Named,
        #[arg(long, value_name = "FILE", required_unless_present = "by")]
        at: Option<PathBuf>,
        /// Keep it by a program of the owner's instead: `PROGRAM put` reads it, `PROGRAM get` prints it
        #[arg(long, value_name = "PROGRAM", conflicts_with = "at")]
        by: Option<PathBuf>,
    },
    /// What every data set has spent and has left
    Show(Named),
    /// Every entry with its hash
    History(Named),
    /// The public key that signs the records of runs, in PEM
    Key(Named),
    /// Check the chain of entries and the head
    Verify {
        #[command(flatten)]
        named: Named,
        /// An entry and its hash from a run record, or the code that `show` prints: the ledger must contain it
        #[arg(long, alias = "witness", value_name = "INDEX:HASH")]
        head: Option<String>,
    },
    /// Record that the owner moved the ledger and its head file to this path
    Moved(Named),
}

#[derive(Args)]
pub struct Named {
    path: PathBuf,
    /// Exactly one JSON value on standard output
    #[arg(long)]
    json: bool,
}

pub fn ledger(command: &Command) -> Exit {
    let done = match command {
        Command::Init { path, dataset, schema, budget, shared, witness, json } => {
            let mut datasets = vec![];
            for text in dataset {
                let Some((id, file)) = inputs::pair(text) else {
                    return usage(&format!("--dataset wants ID=FILE, not `{text}`"));
                };
                let declaration = match declaration(schema, id).and_then(|(d, table)| registered::fits(&table, file.as_ref()).map(|()| d)) {
                    Ok(declaration) => declaration,
                    Err(exit) => return exit,
                };
                let (id, file) = (id.into(), file.into());
                datasets.push(NewDataset { id, file, declaration, budget: budget.clone(), shared: *shared });
            }
            let made = Ledger::init(path, &datasets).and_then(|l| match witness {
                Some(file) => l.witness(file).map(|_| l),
                None => Ok(l),
            });
            made.and_then(|l| l.read()).map(|c| show(&c, *json))
        }
        Command::Declare { named, dataset, schema } => match declaration(schema, dataset).and_then(|new| redeclared(named, dataset, new)) {
            Ok(new) => changed(named, |l| l.declare(dataset, new)),
            Err(exit) => return exit,
        },
        Command::Extend { named, dataset, shared } => match extended(named, dataset, *shared) {
            Ok(new) => changed(named, |l| l.extend(&new)),
            Err(exit) => return exit,
        },
        Command::Policy { named, dataset, least, approved, mechanisms, until, share } => {
            let (mechanisms, shares) = (mechanisms.iter().cloned().collect(), share.iter().cloned().collect());
            let policy = Policy { least: *least, approved: *approved, mechanisms, until: until.clone(), shares };
            changed(named, |l| l.set_policy(dataset, policy))
        }
        Command::Approve { named, certificate } => changed(named, |l| l.approve(certificate)),
        Command::Witness { named, at, by } => changed(named, |l| match (at, by) {
            (_, Some(command)) => l.witness_by(command),
            (at, None) => l.witness(at.as_deref().unwrap_or(Path::new(""))),
        }),
        Command::Show(named) => open(named).map(|c| show(&c, named.json)),
        Command::Key(named) => open(named).and_then(|c| key(&c, named.json)),
        Command::History(named) => open(named).map(|c| history(&c, named.json)),
        Command::Verify { named, head } => return verify(named, head.as_deref()),
        Command::Moved(named) => changed(named, Ledger::moved),
    };
    done.map_or_else(|e| refuse(&e), |()| Exit::Done)
}

/// What a file declares of a data set.
fn declaration(schema: &Path, id: &str) -> Result<(Declaration, Table), Exit> {
    let (_, text) = pipeline::read(schema).map_err(|why| {
        say_line!("error: {}", inputs::no_program(schema, why));
        Exit::Input
    })?;
    let tables = declared(&text).map_err(|why| {
        say!("{why}");
        Exit::Rejected
    })?;
    match tables.into_iter().find(|t| t.name == id) {
        Some(table) => Ok((Declaration { table: table.name.clone(), text }, table)),
        None => Err(usage(&format!("the schema does not declare `{id}`:    private {id}[n] {{ .. }}"))),
    }
}

/// A new declaration, which the registered file fits.
fn redeclared(named: &Named, id: &str, (new, table): (Declaration, Table)) -> Result<Declaration, Exit> {
    let contents = open(named).map_err(|e| refuse(&e))?;
    // One that is not registered is refused by its name.
    if let Some(account) = contents.accounts.accounts.get(id) {
        registered::fits(&table, account.registration.location.as_ref())?;
    }
    Ok(new)
}

/// A new file, which fits the declaration of its data set.
fn extended(named: &Named, dataset: &str, shared: bool) -> Result<NewDataset, Exit> {
    let (id, file) = inputs::pair(dataset).ok_or_else(|| usage(&format!("--dataset wants ID=FILE, not `{dataset}`")))?;
    let contents = open(named).map_err(|e| refuse(&e))?;
    let account = contents.accounts.accounts.get(id).ok_or_else(|| refuse(&LedgerError::UnknownDataset(id.into())))?;
    let declaration = account.registration.declaration.clone().ok_or_else(|| refuse(&LedgerError::Undeclared(id.into())))?;
    let tables = declared(&declaration.text).unwrap_or_default();
    let table = tables.iter().find(|t| t.name == declaration.table).ok_or(Exit::Bug)?;
    registered::fits(table, file.as_ref())?;
    Ok(NewDataset { id: id.into(), file: file.into(), declaration, budget: account.budget.to_string(), shared })
}

/// What an owner's command did, shown.
fn changed(named: &Named, change: impl FnOnce(&Ledger) -> Result<Head, LedgerError>) -> Result<(), LedgerError> {
    change(&Ledger::at(&named.path)?)?;
    open(named).map(|c| show(&c, named.json))
}

fn least(text: &str) -> Result<Least, String> {
    Least::parse(text).ok_or_else(|| "exact, certified or conditional".into())
}

fn mechanism(text: &str) -> Result<String, String> {
    let known = mechanism_names().any(|name| name == text);
    known.then(|| text.to_owned()).ok_or_else(|| "no mechanism has this name: `dpm explain mechanisms` lists them".into())
}

fn share(text: &str) -> Result<(String, String), String> {
    let (name, budget) = inputs::pair(text).ok_or("a share is written ana=eps(0.5)")?;
    let plain = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    let share = Budget::parse(budget).filter(|_| plain).ok_or("a share is a name and a budget: ana=eps(0.5)")?;
    Ok((name.to_owned(), share.to_string()))
}

fn day(text: &str) -> Result<String, String> {
    calendar::parse(text.as_bytes()).map(|_| text.to_owned()).ok_or_else(|| "a day is written 2027-12-31".into())
}

fn digest(text: &str) -> Result<String, String> {
    let hex = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    hex.then(|| text.to_owned()).ok_or_else(|| "a digest is 64 hexadecimal digits".into())
}

fn open(named: &Named) -> Result<Contents, LedgerError> {
    Ledger::at(&named.path)?.read()
}

fn show(contents: &Contents, as_json: bool) {
    let all = &contents.accounts;
    let head = &contents.head;
    if as_json {
        let datasets: Map<String, Value> = all.accounts.iter().map(|(id, account)| (id.clone(), account_json(account))).collect();
        print_json(&json!({
            "id": head.ledger,
            "index": head.index,
            "head": head.hash,
            "key": all.key,
            "datasets": datasets,
            "runs": {"ended": all.ended_runs.len(), "open": all.open_runs.len()},
        }));
        return;
    }
    show_line!("ledger {}, entry {}, head {}", head.ledger, head.index, head.hash);
    if let Some(key) = &all.key {
        show_line!("its runs are signed by {key}");
    }
    match &all.witness {
        Some(Witness { location, command }) => show_line!("witness {}{location}", if *command { "by " } else { "" }),
        None => show_line!("no witness; keep this code elsewhere, for `dpm ledger verify --witness`: {}", head.code()),
    }
    for (id, account) in &all.accounts {
        let r = &account.registration;
        let (runs, s) = (account.spent.charges(), if account.spent.charges() == 1 { "" } else { "s" });
        show_line!("\n{id}: budget {}, {runs} run{s} charged", account.budget);
        for line in r.declaration.iter().flat_map(|d| d.text.lines()) {
            show_line!("  {line}");
        }
        if account.policy != Policy::default() {
            show_line!("  policy: {}", account.policy.words());
        }
        show_line!("  file {}", snapshot(account));
        for b in account.balance() {
            show_line!("  {}: spent {} of {}, left {}", b.component, b.spent, b.limit, b.left);
        }
        for (name, spent) in &account.by {
            let total = spent.total(&account.budget).into_iter().flatten().zip(account.budget.components());
            total.for_each(|(x, (component, _))| show_line!("  of this {name}: {component} {x}"));
        }
        for (name, value) in odometer(&account.spent.claim()) {
            show_line!("  so far {name} = {value}");
        }
    }
    show_line!("\nruns: {} ended, {} running or interrupted (charged anyway)", all.ended_runs.len(), all.open_runs.len());
}

/// A name of the file as it was registered: it holds the salt, so it tells nothing about the rows.
fn snapshot(account: &Account) -> &str {
    let commitment = &account.registration.commitment;
    commitment.get(..CODE).unwrap_or(commitment)
}

/// For `dpm verify --key`.
fn key(contents: &Contents, as_json: bool) -> Result<(), LedgerError> {
    let none = || LedgerError::Invalid("this ledger was made by an earlier version, which signed nothing".into());
    let hex = contents.accounts.key.as_ref().ok_or_else(none)?;
    if as_json {
        print_json(&json!({"algorithm": "ed25519", "key": hex}));
    } else {
        show!("{}", sealed::pem(hex).ok_or_else(none)?);
    }
    Ok(())
}

fn account_json(account: &Account) -> Value {
    let balance = account.balance();
    let r = &account.registration;
    json!({
        "declaration": r.declaration.as_ref().map(|d| &d.text),
        "budget": account.budget.to_string(),
        "policy": serde_json::to_value(&account.policy).unwrap_or_default(),
        "snapshot": snapshot(account),
        "charges": account.spent.charges(),
        "spent": amounts(&balance, |b| &b.spent),
        "limit": amounts(&balance, |b| &b.limit),
        "remaining": amounts(&balance, |b| &b.left),
        "odometer": Value::Object(odometer(&account.spent.claim()).into_iter().map(|(k, v)| (k.into(), json!(v))).collect()),
    })
}

/// The running total of everything charged, in every unit that knows it. For reading: it limits nothing, and epsilon at a
/// delta is that of charges fixed beforehand.
fn odometer(claim: &Claim) -> Vec<(&'static str, String)> {
    let known = |name, x: f64| x.is_finite().then(|| (name, decimal_string(up12(x))));
    let all = [
        known("pure", claim.pure()),
        known("zcdp", claim.zcdp()),
        known("gdp", claim.gdp()),
        known("eps at delta 1e-5", claim.epsilon(1e-5)),
        known("eps at delta 1e-6", claim.epsilon(1e-6)),
    ];
    all.into_iter().flatten().collect()
}

/// An entry without what only its owner needs: salts, commitments and places say nothing to anybody else.
fn entry_json(index: usize, entry: &Entry, hash: &str) -> Value {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        for hidden in ["salt", "commitment", "location", "place"] {
            fields.remove(hidden);
        }
        fields.insert("index".into(), json!(index));
        fields.insert("hash".into(), json!(hash));
    }
    value
}

fn history(contents: &Contents, as_json: bool) {
    if as_json {
        let entries: Vec<Value> = contents.lines.iter().enumerate().map(|(i, (entry, hash))| entry_json(i, entry, hash)).collect();
        return print_json(&json!({"id": contents.head.ledger, "entries": entries}));
    }
    for (i, (entry, hash)) in contents.lines.iter().enumerate() {
        let what = match entry {
            Entry::Open { ledger, .. } => format!("open ledger {ledger}"),
            Entry::Dataset(r) => format!("register {}: budget {}", r.id, r.budget),
            Entry::Declare { dataset, .. } => format!("declare {dataset} anew"),
            Entry::Extend { dataset, .. } => format!("extend {dataset}"),
            Entry::Policy { dataset, policy } => format!("policy of {dataset}: {}", policy.words()),
            Entry::Approve { certificate } => format!("approve {certificate}"),
            Entry::Witness { .. } => "name a witness".into(),
            Entry::Key { public } => format!("key {public}"),
            Entry::Reserve { run, analyst, charges, .. } => {
                let costs = charges.iter().map(|c| {
                    let amounts: Vec<String> = c.amounts.iter().map(|(name, x)| format!("{name} {x}")).collect();
                    format!("{}: {}", c.dataset, amounts.join(", "))
                });
                let by = analyst.as_ref().map_or(String::new(), |name| format!("  by {name}"));
                format!("reserve {run}  {}{by}", costs.collect::<Vec<_>>().join("; "))
            }
            Entry::Commit { run } => format!("commit  {run}"),
            Entry::Moved { .. } => "moved by its owner".into(),
        };
        show_line!("{i:>6}  {}  {what}", hash.get(..16).unwrap_or(hash));
    }
}

/// Exit 5 where the ledger does not hold, 4 where it cannot be opened at all.
fn verify(named: &Named, head: Option<&str>) -> Exit {
    let wanted = match head.map(|h| h.split_once(':').and_then(|(i, hash)| Some((i.parse::<usize>().ok()?, hash)))) {
        Some(None) => return usage("--head wants INDEX:HASH"),
        Some(Some(wanted)) => Some(wanted),
        None => None,
    };
    let failure = match open(named) {
        Ok(contents) => {
            let there = |(i, hash): (usize, &str)| contents.lines.get(i).is_some_and(|(_, h)| hash.len() >= CODE && h.starts_with(hash));
            wanted
                .filter(|w| !there(*w))
                .map(|(i, _)| format!("entry {i} is not the one that was witnessed: the ledger was rolled back, or is another"))
        }
        Err(LedgerError::Locked(why)) => Some(why),
        Err(other) => return refuse(&other),
    };
    if named.json {
        let failures: Vec<Value> = failure.iter().map(|text| json!({"path": "ledger", "text": text})).collect();
        print_json(&json!({"ok": failure.is_none(), "failures": failures}));
    } else {
        match &failure {
            Some(why) => say_line!("error: {why}"),
            None => show_line!("the ledger is intact"),
        }
    }
    if failure.is_some() { Exit::Failed } else { Exit::Done }
}
