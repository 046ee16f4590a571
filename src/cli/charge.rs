//! The ledger's part of a run: which data sets are asked for, at what cost, and the bytes that were paid for.

use super::{Exit, sealed, usage};
use crate::analyze::Analysis;
use crate::data::Source;
use crate::ledger::{Accounts, Ask, Balance, Bytes, Declaration, Intended, Ledger, LedgerError, Receipt, Reservation};
use crate::model::{Program, Table, TableId, narrow};
use crate::numeric::calendar;
use crate::pipeline::{self, Folder};
use crate::privacy::Claim;
use crate::privacy::certificate::Certificate;
use crate::source::render;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A run that is charged, with the registered data it may read.
pub struct Charged {
    ledger: Ledger,
    reservation: RefCell<Option<Reservation>>,
    receipt: Receipt,
    tables: BTreeMap<TableId, (Bytes, bool)>,
}

/// Charges a run, in the name of an analyst if one is given, and then opens its data. `None` without a ledger. `cost` answers what the run costs the people in some
/// tables; `plan` is the digest of the plan that runs, where it is one.
pub fn charge(
    ledger: Option<(&Path, Option<&str>)>,
    cost: &dyn Fn(&[TableId]) -> Option<Claim>,
    (certificate, plan): (&Certificate, Option<&str>),
    program: &Program,
    files: &[(TableId, PathBuf)],
) -> Result<Option<Charged>, Exit> {
    let registered = |path: &PathBuf| path.to_str().and_then(|p| p.strip_prefix('@')).map(str::to_owned);
    let Some((path, analyst)) = ledger else {
        return match files.iter().find_map(|(_, p)| registered(p)) {
            Some(id) => Err(usage(&format!("@{id} names registered data: --ledger PATH is missing"))),
            None => Ok(None),
        };
    };
    let mut wanted: BTreeMap<String, Vec<TableId>> = BTreeMap::new();
    for (table, path) in files {
        let Some(id) = registered(path) else {
            return Err(usage("with --ledger data are named as they are registered: --data NAME=@ID"));
        };
        wanted.entry(id).or_default().push(*table);
    }
    let refuse = |e: LedgerError| refuse(&e);
    let ledger = Ledger::at(path).map_err(refuse)?;
    let accounts = ledger.read().map_err(refuse)?.accounts;
    let mut asks = vec![];
    for (dataset, tables) in &wanted {
        let claim = cost(tables).ok_or(Exit::Bug)?;
        // Every table read from a data set has to say the same of it; the first is charged.
        for table in tables {
            let asked = program.tables.get(table.0).ok_or(Exit::Bug)?;
            let declaration = granted(&accounts, dataset, asked).map_err(refuse)?;
            asks.push(Ask { dataset: dataset.clone(), declaration, claim: claim.clone() });
        }
    }
    let releases = certificate.releases.iter().map(|r| (r.mechanism.clone(), r.status.clone())).collect();
    let (analyst, plan) = (analyst.map(str::to_owned), plan.map(str::to_owned));
    let reservation = ledger.reserve(Intended { certificate: certificate.digest(), plan, releases, analyst }, &asks).map_err(refuse)?;
    // The charge is on the disk; only now are data opened, each file once.
    let mut tables = BTreeMap::new();
    for (dataset, of) in &wanted {
        let bytes = reservation.read(dataset).map_err(|_| failed_after_charge())?;
        for table in of {
            tables.insert(*table, (bytes.clone(), reservation.compressed(dataset)));
        }
    }
    let receipt = reservation.receipt().clone();
    Ok(Some(Charged { ledger, reservation: RefCell::new(Some(reservation)), receipt, tables }))
}

/// The cost of the program for the tables of one data set: the total where no release reads any other private table,
/// else the product of the costs of its own releases, which is never less.
pub fn claim_for(analysis: &Analysis, tables: &[TableId]) -> Option<Claim> {
    let total = analysis.total.clone()?;
    let mut own = vec![];
    for release in &analysis.releases {
        let chosen = release.chosen.as_ref()?;
        // A release without a plan cannot run; until that is found out it counts.
        if chosen.plan.as_ref().is_none_or(|plan| tables.contains(&plan.table())) {
            own.push(chosen.claim.clone());
        }
    }
    Some(if own.len() == analysis.releases.len() { total } else { Claim::Product(own) })
}

/// The declaration of a data set, if the table asks for no more.
fn granted(accounts: &Accounts, dataset: &str, asked: &Table) -> Result<Declaration, LedgerError> {
    let account = accounts.accounts.get(dataset).ok_or_else(|| LedgerError::UnknownDataset(dataset.into()))?;
    let declaration = account.registration.declaration.clone().ok_or_else(|| LedgerError::Undeclared(dataset.into()))?;
    let beyond = |why| LedgerError::Beyond { dataset: dataset.into(), why };
    let tables = declared(&declaration.text).map_err(|_| beyond("this version does not understand its declaration".into()))?;
    let registered = tables.iter().find(|t| t.name == declaration.table);
    let registered = registered.ok_or_else(|| beyond("its declaration has no such table".into()))?;
    narrow::beyond(asked, registered).map_or(Ok(declaration), |why| Err(beyond(why)))
}

/// The tables of a text that declares private tables and nothing else.
///
/// # Errors
/// What is wrong with it, as the compiler says it or in a line.
pub fn declared(text: &str) -> Result<Vec<Table>, String> {
    let checked = pipeline::check("schema.dpm", text, &Folder::none());
    if checked.has_errors() {
        return Err(render::text(&checked.sources, &checked.diagnostics, false));
    }
    let program = checked.program;
    let only_tables = program.steps.is_empty() && program.budget.is_none() && program.scalars.is_empty() && program.records.is_empty();
    if !only_tables || program.tables.is_empty() || program.tables.iter().any(|t| !t.private) {
        return Err("error: a schema declares private tables and nothing else:    private staff[n] { smoker: bool }\n".into());
    }
    Ok(program.tables)
}

impl Charged {
    /// The rows of a table, from memory.
    pub fn source(&self, table: TableId) -> Option<Source> {
        let (bytes, compressed) = self.tables.get(&table)?;
        Source::stored(Cursor::new(bytes.clone()), *compressed).ok()
    }

    /// Records the end of the run. The charge is durable already, so a failure here takes nothing from the caller.
    pub fn commit(&self) -> Receipt {
        let ended = self.reservation.borrow_mut().take().map(|reservation| self.ledger.commit(reservation));
        match ended {
            Some(Ok(receipt)) => receipt,
            Some(Err(error)) => {
                say_line!("warning: the run is charged, but its end could not be recorded: {error}");
                self.receipt.clone()
            }
            None => self.receipt.clone(),
        }
    }
}

impl Charged {
    /// Signs the record by the key of the ledger, as its last field.
    pub fn seal(&self, record: &mut Value) {
        let key = self.receipt.key.as_ref();
        let Some(signature) = key.and_then(|key| self.ledger.sign(key, &sealed::text(record))) else { return };
        if let Some(map) = record.as_object_mut() {
            map.insert("signature".into(), sealed::field(&signature));
        }
    }
}

/// The one failure behind a charge, whatever went wrong: what the rows are is not told by how a run ends.
pub fn failed_after_charge() -> Exit {
    say_line!("error: the run is charged and released nothing: it could not be completed on the registered file");
    Exit::Ledger
}

/// One line for a refusal, and its exit code.
pub fn refuse(error: &LedgerError) -> Exit {
    say_line!("error: {error}");
    match error {
        LedgerError::NoFile(_) => Exit::Input,
        LedgerError::Invalid(_) => Exit::Usage,
        _ => Exit::Ledger,
    }
}

/// Amounts by component, as text: they are exact.
pub fn amounts(balance: &[Balance], of: impl Fn(&Balance) -> &String) -> Value {
    Value::Object(balance.iter().map(|b| (b.component.clone(), json!(of(b)))).collect())
}

pub fn receipt_json(receipt: &Receipt) -> Value {
    let remaining: Map<String, Value> = receipt.remaining.iter().map(|(id, b)| (id.clone(), amounts(b, |b| &b.left))).collect();
    json!({
        "id": receipt.head.ledger,
        "index": receipt.head.index,
        "head": receipt.head.hash,
        "run_id": receipt.run,
        "time": now(),
        "remaining": remaining,
    })
}

/// The moment, UTC, by the machine's clock: `2026-11-23T09:05:00Z`.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |s| s.as_secs());
    let (day, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{}T{:02}:{:02}:{:02}Z", calendar::text(day as f64), rest / 3600, rest / 60 % 60, rest % 60)
}

pub fn receipt_text(receipt: &Receipt) -> String {
    let head = &receipt.head;
    let mut text = format!("charged to ledger {}, entry {}, head {}\nrun {}\n", head.ledger, head.index, head.hash, receipt.run);
    for (id, balance) in &receipt.remaining {
        for b in balance {
            text.push_str(&format!("left of {id}: {} {} of {}\n", b.component, b.left, b.limit));
        }
    }
    text
}
