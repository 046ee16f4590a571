//! A program compiled to one file: resolved text, solved parameters, public data, certificate, digest.
//!
//! A plan is accepted only if compiling what it holds gives the same plan again: every field is held against one that is
//! computed anew, so nothing in it can be altered, left out or added, by accident or with a fresh digest.

mod given;
mod lock;

pub use given::{Given, Unfit, has_design, missing, value_of};
pub use lock::{Edit, edited, edits, locked};

use crate::analyze::{self, Analysis, Chosen};
use crate::check::{Loader, STD};
use crate::model::expand::expand;
use crate::model::record::Record;
use crate::pipeline::{self, Checked};
use crate::privacy::Claim;
use crate::privacy::canonical::canonical;
use crate::privacy::certificate::{Certificate, RULEBOOK};
use crate::run::Bound;
use crate::source::{Diagnostics, SourceMap};
use crate::verify;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The edition of the plan's form.
const PLAN: u64 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A program that can run: nothing about it is open but the private rows.
pub struct Compiled {
    pub checked: Checked,
    pub bound: Bound,
    pub analysis: Analysis,
    pub certificate: Certificate,
    /// The digest of the plan that it was opened from.
    pub plan: Option<String>,
    /// Warnings, and what else was said on the way.
    pub diagnostics: Diagnostics,
}

/// A program that was rejected, with the texts that its complaints point into.
pub struct Rejected {
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
}

/// Analyzes and certifies. Holes are refused.
///
/// # Errors
/// The complaints, at least one of them an error; none where dpm itself is at fault.
pub fn compile(checked: Checked, bound: Bound) -> Result<Compiled, Rejected> {
    let (analysis, mut diagnostics) = pipeline::analyze(&checked, &bound, false);
    let mut certificate = None;
    if let Some(analysis) = &analysis {
        diagnostics.extend(analyze::holes(analysis));
        certificate = pipeline::certify(&checked, analysis, &[], &[]);
    }
    let sound = !diagnostics.iter().any(|d| d.is_error());
    match (analysis, certificate) {
        (Some(analysis), Some(certificate)) if sound => Ok(Compiled { checked, bound, analysis, certificate, plan: None, diagnostics }),
        _ => Err(Rejected { sources: checked.sources, diagnostics }),
    }
}

/// The plan of a compiled program; `given` is what `compiled.bound` was made from.
///
/// `None` where the written-out program cannot be read again: a bug in dpm.
pub fn plan(compiled: &Compiled, given: &Given) -> Option<Value> {
    let Compiled { checked, bound, analysis, certificate, .. } = compiled;
    let modules: Vec<Value> = modules(checked).into_iter().map(|(name, source)| json!({"name": name, "source": source})).collect();
    let table = |(name, csv): (&String, &String)| json!({"name": name, "sha256": sha256(csv), "csv": csv});
    let record = |r: &Record| json!({"name": r.name, "sha256": sha256(&r.text), "json": r.text});
    let certificate = certificate.to_json();
    let mut plan = json!({
        "plan": PLAN,
        "dpm": VERSION,
        "rulebook": RULEBOOK,
        "program": resolved(checked, analysis, bound)?,
        "modules": modules,
        "public": {
            "tables": given.tables.iter().map(table).collect::<Vec<_>>(),
            "records": checked.program.records.iter().map(record).collect::<Vec<_>>(),
            "scalars": given.scalars.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
        },
        "releases": certificate.get("releases").and_then(Value::as_array)?.iter().map(decision).collect::<Vec<_>>(),
        "certificate": certificate,
    });
    let digest = digest(&plan);
    if let Value::Object(map) = &mut plan {
        map.insert("digest".into(), digest.into());
        map.insert("signature".into(), Value::Null);
    }
    Some(plan)
}

/// SHA-256 over the canonical form without digest and signature, in hex.
pub fn digest(plan: &Value) -> String {
    let body = plan.as_object().into_iter().flatten().filter(|(key, _)| !matches!(key.as_str(), "digest" | "signature"));
    sha256(&canonical(&Value::Object(body.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// What was decided for a release.
fn decision(release: &Value) -> Value {
    let of = |key: &str| release.get(key).cloned().unwrap_or_default();
    json!({"name": of("name"), "mechanism": of("mechanism"), "rule": of("rule"), "parameters": of("parameters")})
}

/// The modules of the user that the program opens, by their names.
fn modules(checked: &Checked) -> BTreeMap<String, &str> {
    let files = checked.sources.files().iter();
    let built_in = |name: &str| STD.iter().any(|(std, _)| name == format!("std.{std}"));
    let others = files.skip(1).map(|f| (f.name.trim_end_matches(".dpm").replace('/', "."), f.text.as_str()));
    others.filter(|(name, _)| !built_in(name)).collect()
}

/// The program with modules, functions and models written out, and mechanisms with their parameters in place; `None`
/// unless what is written out, judged by itself, gets the same mechanisms and makes the same claims.
///
/// It is judged before the parameters are put in: a share of an (epsilon, delta) budget may be enlarged by what composing
/// saves, and such a parameter is over its share where it is read as the user's own.
fn resolved(checked: &Checked, analysis: &Analysis, bound: &Bound) -> Option<String> {
    let name = checked.sources.get(checked.main).map_or("program.dpm", |f| f.name.as_str());
    let records = checked.program.records.iter().map(|r| (r.name.clone(), r.text.clone())).collect();
    let loader = Embedded { modules: BTreeMap::new(), records };
    let expanded = pipeline::check(name, &expand(&checked.program, &checked.sources), &loader);
    let (judged, _) = pipeline::analyze(&expanded, bound, false);
    let facts = |a: &Analysis| -> Vec<_> { a.releases.iter().map(|r| (r.name.clone(), r.chosen.as_ref().map(decided))).collect() };
    let same = judged.is_some_and(|j| facts(&j) == facts(analysis) && j.total == analysis.total);
    same.then(|| locked(&expanded, analysis))
}

fn decided(chosen: &Chosen) -> (&'static str, &'static str, Claim) {
    (chosen.mechanism.name, chosen.rule.name, chosen.claim.clone())
}

/// Why a plan is refused, and where in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub path: String,
    pub text: String,
}

fn refuse<T>(path: &str, text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { path: path.into(), text: text.into() })
}

/// Opens a plan: compiles what it holds, and refuses it unless the same plan comes out.
///
/// `key` is the signer's public key in PEM, where the caller insists on one.
///
/// # Errors
/// The first thing that is wrong.
pub fn open(plan: &Value, key: Option<&str>) -> Result<Compiled, Refusal> {
    for (path, want) in [("plan", Value::from(PLAN)), ("dpm", VERSION.into()), ("rulebook", RULEBOOK.into())] {
        match plan.get(path) {
            Some(found) if *found == want => {}
            Some(found) => {
                return refuse(path, format!("is {found}: this is dpm {VERSION}, which runs plans with {want}; compile it again"));
            }
            None => return refuse(path, "is missing: this is not a plan"),
        }
    }
    if plan.get("digest").and_then(Value::as_str) != Some(&digest(plan)) {
        return refuse("digest", "is not the digest of this plan: it was altered");
    }
    if let Err(why) = verify::signature(plan, key) {
        return refuse("signature", why.replace("certificate", "plan"));
    }
    let modules: BTreeMap<Vec<String>, String> = pairs(plan, "/modules", "source")?
        .into_iter()
        .map(|(name, source)| (name.split('.').map(str::to_owned).collect(), source))
        .collect();
    let records = pairs(plan, "/public/records", "json")?.into_iter().collect();
    let given = Given {
        tables: pairs(plan, "/public/tables", "csv")?.into_iter().collect(),
        scalars: pairs(plan, "/public/scalars", "value")?.into_iter().collect(),
    };
    let name = text(plan, "/certificate/program/file")?;
    let checked = pipeline::check(name, text(plan, "/certificate/program/source")?, &Embedded { modules, records });
    let bound = given.bind(&checked.program).or_else(|why| match why {
        Unfit::Undeclared(name) => refuse("public", format!("the program declares no public `{name}`")),
        Unfit::Table(_, why) => refuse("public.tables", why.to_string()),
        Unfit::Scalar(name) => refuse("public.scalars", format!("`{name}` is not in its declared domain")),
        Unfit::Fixed(name) => refuse("public.scalars", format!("`{name}` has its value in the program")),
    })?;
    if let Some(what) = missing(&checked.program, &bound) {
        return refuse("public", what);
    }
    let compiled = compile(checked, bound).or_else(|rejected| {
        let first = rejected.diagnostics.iter().find(|d| d.is_error());
        refuse("certificate.program.source", first.map_or("is rejected".into(), |d| format!("is rejected: {}: {}", d.code, d.message)))
    })?;
    let Some(mut again) = self::plan(&compiled, &given) else { return refuse("program", "cannot be written out") };
    if let (Some(slot), Some(signature)) = (again.get_mut("signature"), plan.get("signature")) {
        slot.clone_from(signature);
    }
    match difference(plan, &again, "") {
        None => Ok(Compiled { plan: Some(digest(plan)), ..compiled }),
        Some(path) => refuse(&path, "is not what compiling this program gives"),
    }
}

/// The modules and records that a plan carries.
struct Embedded {
    modules: BTreeMap<Vec<String>, String>,
    records: BTreeMap<String, String>,
}

impl Loader for Embedded {
    fn load(&self, path: &[String]) -> Option<String> {
        self.modules.get(path).cloned()
    }

    fn record(&self, name: &str, _: &str) -> Option<String> {
        self.records.get(name).cloned()
    }
}

fn text<'p>(plan: &'p Value, pointer: &str) -> Result<&'p str, Refusal> {
    let found = plan.pointer(pointer).and_then(Value::as_str);
    found.map_or_else(|| refuse(&dotted(pointer), "is missing or no text"), Ok)
}

fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// Names and one further field of a list of objects.
fn pairs(plan: &Value, pointer: &str, field: &str) -> Result<Vec<(String, String)>, Refusal> {
    let Some(list) = plan.pointer(pointer).and_then(Value::as_array) else { return refuse(&dotted(pointer), "is missing or no list") };
    let pair = |v: &Value| Some((v.get("name")?.as_str()?.to_owned(), v.get(field)?.as_str()?.to_owned()));
    let found: Option<Vec<_>> = list.iter().map(pair).collect();
    found.map_or_else(|| refuse(&dotted(pointer), format!("every entry has `name` and `{field}`")), Ok)
}

/// Where two values differ first, as their digests see them.
fn difference(a: &Value, b: &Value, path: &str) -> Option<String> {
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let extra = x.keys().find(|k| !y.contains_key(*k)).map(|k| inside(k));
            extra.or_else(|| y.iter().find_map(|(k, v)| x.get(k).map_or_else(|| Some(inside(k)), |u| difference(u, v, &inside(k)))))
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            x.iter().zip(y).enumerate().find_map(|(i, (u, v))| difference(u, v, &format!("{path}[{i}]")))
        }
        _ => (a != b && canonical(a) != canonical(b)).then(|| path.to_owned()),
    }
}
