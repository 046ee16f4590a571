//! A certificate as data: what was promised for every release and in total, why, and under which assumptions.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::Claim;
use super::canonical::canonical;
use super::claim_json::{claim, number};
use crate::model::{BudgetKind, Relation};
use crate::numeric::decimal::{down12, up12};

/// Orders that every profile reports, where they lie below the limit order.
pub const ORDERS: [f64; 16] = [1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0];
/// Deltas that every profile reports.
pub const DELTAS: [f64; 2] = [1e-5, 1e-6];
/// Of answers of several numbers: what 95 % of them are off by at most, each.
pub const OF_EACH: &str = "of_each_number";
/// The edition of the rule book the rules come from.
pub const RULEBOOK: &str = "1";

/// What a program promises. Every number is rounded to the private side when it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Certificate {
    pub program: ProgramText,
    pub tables: Vec<TableFacts>,
    pub public: PublicFacts,
    /// How the releases follow each other; leaves are places in `releases`.
    pub steps: Vec<StepFacts>,
    pub releases: Vec<ReleaseFacts>,
    pub total: Total,
    pub budget: Option<BudgetFacts>,
    /// In plain words.
    pub assumptions: Vec<String>,
    /// Further orders asked for with `--order`.
    pub orders: Vec<f64>,
    /// Further deltas asked for with `--delta`.
    pub deltas: Vec<f64>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ProgramText {
    pub file: String,
    pub source: String,
    pub normal_form: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TableFacts {
    pub name: String,
    pub relation: Relation,
    /// The key column of `by key max k`.
    pub unit_key: Option<String>,
    pub unit_rows: u64,
    /// The column of `order`.
    pub unit_order: Option<String>,
    pub rows_public: bool,
    pub at_least: u64,
    pub exactly: Option<u64>,
    /// The name of the number of rows.
    pub count_name: Option<String>,
    pub columns: Vec<ColumnFacts>,
}

/// Public tables and values, with what is known of them.
#[derive(Clone, PartialEq, Debug)]
pub struct PublicFacts {
    pub tables: Vec<(String, Vec<ColumnFacts>)>,
    /// Private tables whose public columns are bound.
    pub designs: Vec<String>,
    /// Records of earlier releases.
    pub records: Vec<String>,
    /// SHA-256 of the tables, columns and records that are bound, by name: other public data are another program.
    pub digests: BTreeMap<String, String>,
    pub scalars: Vec<ScalarFacts>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ScalarFacts {
    pub name: String,
    pub ty: String,
    /// Bound, or the default; `None` where only the type is known.
    pub value: Option<f64>,
}

/// One step that costs.
#[derive(Clone, PartialEq, Debug)]
pub enum StepFacts {
    Release(usize),
    When { then: Vec<StepFacts>, otherwise: Vec<StepFacts> },
    Each { table: String, key: String, levels: usize, public_key: bool, steps: Vec<StepFacts> },
}

/// Sums over the rows of one public observation.
#[derive(Clone, PartialEq, Debug)]
pub struct TotalsFacts {
    pub rows: u64,
    pub sums: Vec<f64>,
}

/// The products of the features of all rows of a private table, which are public.
#[derive(Clone, PartialEq, Debug)]
pub struct DesignFacts {
    pub rows: u64,
    pub products: Vec<f64>,
    pub least: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ColumnFacts {
    pub name: String,
    pub ty: String,
    pub public: bool,
    /// What a missing or unreadable cell counts as, where the program says so.
    pub missing: Option<String>,
}

/// How a parameter is shown: a weight is rounded down, noise up, a count or a public number not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Down,
    Up,
    Exact,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ReleaseFacts {
    pub name: String,
    pub query: String,
    /// The type of what is released.
    pub ty: String,
    /// Totals of the public observations of its model, in order; `None` where the table is not bound.
    pub public_totals: Vec<Option<TotalsFacts>>,
    /// The design of its rows, where it is public, bound and of use to its rule.
    pub public_design: Option<DesignFacts>,
    pub mechanism: String,
    pub rule: String,
    pub parameters: Vec<(String, f64, Side)>,
    pub premises: Vec<PremiseFacts>,
    pub claim: Claim,
    pub status: String,
    pub sampler: String,
    pub measure: String,
    pub predicted_error: f64,
    /// Other predictions, by name: for people, in the JSON only that of each number.
    pub predicted: Vec<(&'static str, f64)>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PremiseFacts {
    pub text: String,
    pub holds: bool,
    /// 1-based line and column of the place in the program that says so.
    pub place: Option<(usize, usize)>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Total {
    pub claim: Claim,
    pub status: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BudgetFacts {
    pub kind: BudgetKind,
    pub met: bool,
    /// What is left, in the unit of the budget; one number an order for rdp.
    pub unspent: Vec<f64>,
}

impl Certificate {
    /// The certificate as CONTRACT describes it, with its digest.
    pub fn to_json(&self) -> Value {
        let mut value = self.body();
        let digest = sha256(canonical(&value).as_bytes());
        if let Value::Object(map) = &mut value {
            map.insert("digest".into(), Value::String(digest));
            map.insert("signature".into(), Value::Null);
        }
        value
    }

    /// Says that nothing is promised, and why, in place of every status.
    pub fn make_void(&mut self, why: &str) {
        self.total.status = "void".into();
        self.releases.iter_mut().for_each(|r| r.status = "void".into());
        self.assumptions.insert(0, why.into());
    }

    /// SHA-256 of the canonical form without digest and signature, in hex.
    pub fn digest(&self) -> String {
        sha256(canonical(&self.body()).as_bytes())
    }

    fn body(&self) -> Value {
        json!({
            "certificate": 1,
            "dpm": env!("CARGO_PKG_VERSION"),
            "rulebook": RULEBOOK,
            "program": {
                "file": self.program.file,
                "sha256": sha256(self.program.source.as_bytes()),
                "source": self.program.source,
                "normal_form": self.program.normal_form,
            },
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "public": public(&self.public),
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "releases": self.releases.iter().map(|r| self.release(r)).collect::<Vec<_>>(),
            "total": {
                "status": self.total.status,
                "claim": claim(&self.total.claim),
                "profile": self.profile(&self.total.claim),
            },
            "budget": self.budget.as_ref().map_or(Value::Null, budget),
            "assumptions": self.assumptions,
        })
    }

    fn release(&self, r: &ReleaseFacts) -> Value {
        let mut parameters = Map::new();
        // Solved values are already rounded to their private side, written ones stay as written.
        for (name, value, _) in &r.parameters {
            parameters.insert(name.clone(), number(*value));
        }
        let mut release = json!({
            "name": r.name,
            "query": r.query,
            "type": r.ty,
            "public_totals": r.public_totals.iter().map(totals).collect::<Vec<_>>(),
            "mechanism": r.mechanism,
            "rule": r.rule,
            "parameters": parameters,
            "premises": r.premises.iter().map(premise).collect::<Vec<_>>(),
            "claim": claim(&r.claim),
            "status": r.status,
            "sampler": {"name": r.sampler, "arguments": {}},
            "profile": self.profile(&r.claim),
            "predicted_error": {"measure": r.measure, "value": number(r.predicted_error)},
        });
        let error = release.pointer_mut("/predicted_error").and_then(Value::as_object_mut);
        if let (Some((_, each)), Some(error)) = (r.predicted.iter().find(|(name, _)| *name == OF_EACH), error) {
            error.insert(OF_EACH.into(), number(*each));
        }
        if let (Some(d), Some(fields)) = (&r.public_design, release.as_object_mut()) {
            let products = d.products.iter().map(|x| number(*x)).collect::<Vec<_>>();
            fields.insert("public_design".into(), json!({"rows": d.rows, "products": products, "least": number(d.least)}));
        }
        release
    }

    /// Bounds in every kind: bounds rounded up, the limit order down.
    fn profile(&self, claim: &Claim) -> Value {
        let max_order = claim.max_order();
        let asked = self.orders.iter().filter(|o| !ORDERS.contains(o) || **o >= max_order);
        let orders = distinct(ORDERS.iter().filter(|o| **o < max_order).chain(asked));
        let deltas = distinct(DELTAS.iter().chain(&self.deltas));
        let rdp = orders.iter().map(|&order| json!({"order": number(order), "epsilon": bound(claim.rdp(order))}));
        let dp = deltas.iter().map(|&delta| json!({"delta": number(delta), "epsilon": bound(claim.epsilon(delta))}));
        json!({
            "pure": finite(claim.pure()),
            "bounded_range": finite(claim.bounded_range()),
            "zcdp": finite(claim.zcdp()),
            "gdp": finite(claim.gdp()),
            "max_order": if max_order.is_finite() { number(down12(max_order)) } else { Value::Null },
            "rdp": rdp.collect::<Vec<_>>(),
            "dp": dp.collect::<Vec<_>>(),
        })
    }
}

impl TableFacts {
    /// The relation as certificates and ledgers write it.
    pub fn relation_name(&self) -> &'static str {
        match self.relation {
            Relation::ReplaceOne => "replace_one",
            Relation::AddRemove => "add_remove",
        }
    }
}

fn columns(list: &[ColumnFacts]) -> Value {
    let column = |c: &ColumnFacts| {
        let mut map = json!({"name": c.name, "type": c.ty, "public": c.public});
        // Only where it is declared: a certificate of a program without it stays what it was.
        if let (Some(missing), Some(fields)) = (&c.missing, map.as_object_mut()) {
            fields.insert("else".into(), missing.as_str().into());
        }
        map
    };
    list.iter().map(column).collect()
}

fn public(p: &PublicFacts) -> Value {
    let named = |name: &String, mut map: Value| {
        if let (Some(digest), Some(fields)) = (p.digests.get(name), map.as_object_mut()) {
            fields.insert("sha256".into(), digest.as_str().into());
        }
        map
    };
    let tables = p.tables.iter().map(|(name, list)| named(name, json!({"name": name, "columns": columns(list)})));
    let scalars = p.scalars.iter().map(|s| json!({"name": s.name, "type": s.ty, "value": s.value.map(number)}));
    let mut map = json!({"tables": tables.collect::<Vec<_>>(), "scalars": scalars.collect::<Vec<_>>()});
    for (key, names) in [("designs", &p.designs), ("records", &p.records)] {
        if let (false, Some(fields)) = (names.is_empty(), map.as_object_mut()) {
            fields.insert(key.into(), names.iter().map(|name| named(name, json!({"name": name}))).collect());
        }
    }
    map
}

fn step(s: &StepFacts) -> Value {
    let list = |steps: &[StepFacts]| steps.iter().map(step).collect::<Vec<_>>();
    match s {
        StepFacts::Release(index) => json!({"release": index}),
        StepFacts::When { then, otherwise } => json!({"then": list(then), "else": list(otherwise)}),
        StepFacts::Each { table, key, levels, public_key, steps } => {
            json!({"each": {"table": table, "key": key, "levels": levels, "public": public_key}, "steps": list(steps)})
        }
    }
}

fn totals(t: &Option<TotalsFacts>) -> Value {
    let sums = |t: &TotalsFacts| t.sums.iter().map(|x| number(*x)).collect::<Vec<_>>();
    t.as_ref().map_or(Value::Null, |t| json!({"rows": t.rows, "sums": sums(t)}))
}

/// Every number once, however often it is asked for.
fn distinct<'a>(all: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    all.fold(vec![], |mut found, x| {
        found.extend((!found.contains(x)).then_some(*x));
        found
    })
}

fn table(t: &TableFacts) -> Value {
    let mut unit = json!({"key": t.unit_key, "max_rows": t.unit_rows});
    if let (Some(order), Some(fields)) = (&t.unit_order, unit.as_object_mut()) {
        fields.insert("ordered_by".into(), json!(order));
    }
    json!({
        "name": t.name,
        "relation": t.relation_name(),
        "unit": unit,
        "rows": {"public": t.rows_public, "at_least": t.at_least, "exactly": t.exactly, "name": t.count_name},
        "columns": columns(&t.columns),
    })
}

fn premise(p: &PremiseFacts) -> Value {
    json!({
        "text": p.text,
        "holds": p.holds,
        "line": p.place.map(|(line, _)| line),
        "column": p.place.map(|(_, column)| column),
    })
}

fn budget(b: &BudgetFacts) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.into(), value);
    };
    match &b.kind {
        BudgetKind::Pure(epsilon) => {
            put("kind", "eps".into());
            put("epsilon", number(*epsilon));
        }
        BudgetKind::Dp { epsilon, delta } => {
            put("kind", "dp".into());
            put("epsilon", number(*epsilon));
            put("delta", number(*delta));
        }
        BudgetKind::Zcdp(rho) => {
            put("kind", "zcdp".into());
            put("rho", number(*rho));
        }
        BudgetKind::Gdp(mu) => {
            put("kind", "gdp".into());
            put("mu", number(*mu));
        }
        BudgetKind::Rdp(points) => {
            put("kind", "rdp".into());
            match points.as_slice() {
                [(order, epsilon)] => {
                    put("order", number(*order));
                    put("epsilon", number(*epsilon));
                }
                _ => {
                    put("order", points.iter().map(|(o, _)| number(*o)).collect());
                    put("epsilon", points.iter().map(|(_, e)| number(*e)).collect());
                }
            }
        }
    }
    put("met", b.met.into());
    Value::Object(map)
}

/// An upper bound, `"inf"` where there is none.
fn bound(x: f64) -> Value {
    if x.is_finite() { number(up12(x)) } else { Value::String("inf".into()) }
}

/// An upper bound, null where there is none.
fn finite(x: f64) -> Value {
    if x.is_finite() { number(up12(x)) } else { Value::Null }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}
