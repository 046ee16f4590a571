//! The phases as one function: text -> tree -> program -> analysis -> certificate.

use crate::analyze::{self, Analysis, PublicData, Stated};
use crate::check::{self, Loader};
use crate::files::{self, Unopened};
use crate::model::{Program, ScalarId};
use crate::privacy::certificate::{Certificate, DELTAS, ORDERS};
use crate::rules::Totals;
use crate::run::{foretold, rehearse};
use crate::source::{Diagnostic, Diagnostics, FileId, SourceMap};
use crate::syntax;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A program that has been parsed and checked; its releases are not priced yet.
pub struct Checked {
    pub sources: SourceMap,
    pub main: FileId,
    pub ast: syntax::ast::Ast,
    pub program: Program,
    pub diagnostics: Diagnostics,
}

impl Checked {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.is_error())
    }
}

/// Text -> tree -> program.
pub fn check(name: &str, text: &str, loader: &dyn Loader) -> Checked {
    let mut sources = SourceMap::default();
    let main = sources.add(name, text);
    let (ast, mut diagnostics) = syntax::parse(main, text);
    let complete = !diagnostics.iter().any(|d| d.is_error());
    let (program, found) = check::check(&mut sources, main, &ast, complete, loader);
    diagnostics.extend(found);
    few(&mut diagnostics);
    Checked { sources, main, ast, program, diagnostics }
}

/// Program -> analysis. Errors of the program itself come first and end the work: a wrong program is not priced, and what
/// is priced is refused where it could not run.
///
/// `all` solves every mechanism for every release, for comparisons.
pub fn analyze(checked: &Checked, public: &dyn PublicData, all: bool) -> (Option<Analysis>, Diagnostics) {
    let (analysis, mut diagnostics) = priced(checked, public, all);
    if let Some(analysis) = analysis.as_ref().filter(|_| !diagnostics.iter().any(|d| d.is_error())) {
        let bound = analyze::bind(&checked.program, public);
        let refused = rehearse(&bound, analysis, public);
        // What cannot be drawn has no error.
        let never = |d: &Diagnostic| refused.iter().flat_map(|r| &r.labels).any(|l| d.labels.iter().any(|own| own.span == l.span));
        diagnostics.retain(|d| d.code != "W0513" || !never(d));
        diagnostics.extend(refused);
        diagnostics.extend(foretold(&bound, analysis));
    }
    (analysis, diagnostics)
}

fn priced(checked: &Checked, public: &dyn PublicData, all: bool) -> (Option<Analysis>, Diagnostics) {
    let mut diagnostics = checked.diagnostics.clone();
    if checked.has_errors() {
        return (None, diagnostics);
    }
    let run = if all { analyze::analyze_all } else { analyze::analyze };
    let (analysis, found) = run(&checked.program, public, &checked.sources);
    diagnostics.extend(found);
    few(&mut diagnostics);
    (Some(analysis), diagnostics)
}

/// Leaves the first errors, and every warning.
fn few(diagnostics: &mut Diagnostics) {
    let mut errors = 0;
    diagnostics.retain(|d| {
        errors += usize::from(d.is_error());
        !d.is_error() || errors <= syntax::MAX_COMPLAINTS
    });
}

/// Analysis -> certificate. `None` where a release has no mechanism; the diagnostics say why.
pub fn certify(checked: &Checked, analysis: &Analysis, orders: &[f64], deltas: &[f64]) -> Option<Certificate> {
    analyze::certificate(&checked.program, analysis, &checked.sources, checked.main, orders, deltas)
}

/// A certificate once more, from the program in it, under the name that it has there, and the public data that it states.
/// `None` where that program does not certify, which may be for want of its own modules.
///
/// This is not a second opinion on a number. It holds the words of a certificate (premises and their places, predictions,
/// unused facts of the header) to its program.
///
/// `files` answers for the tables whose public columns the certificate rests on, as they are at hand.
pub fn recertify(certificate: &Value, loader: &dyn Loader, files: &dyn Fn(&Program) -> Option<Box<dyn PublicData>>) -> Option<Value> {
    let program = &certificate["program"];
    let checked = check(program["file"].as_str()?, program["source"].as_str()?, loader);
    let at = |v: &Value, pointer: &str| v.pointer(pointer).cloned().unwrap_or_default();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let numbers = |v: &Value, key: &str| list(v).iter().filter_map(|e| e[key].as_f64()).collect::<Vec<f64>>();
    let values = list(&at(certificate, "/public/scalars"));
    let value = |name: &str| values.iter().find(|v| v["name"] == name).and_then(|v| v["value"].as_f64());
    // What has its value in the program is not bound.
    let free = checked.program.scalars.iter().enumerate().filter(|(_, s)| s.value.is_none());
    let scalars = free.filter_map(|(i, s)| Some((ScalarId(i), value(&s.name)?))).collect();
    let sums = |t: &Value| Some(Totals { rows: t["rows"].as_u64()?, sums: list(&t["sums"]).iter().filter_map(Value::as_f64).collect() });
    let totals: Vec<Vec<Option<Totals>>> =
        list(&certificate["releases"]).iter().map(|r| list(&r["public_totals"]).iter().map(sums).collect()).collect();
    let bound = ["/public/tables", "/public/designs", "/public/records"].iter().flat_map(|place| list(&at(certificate, place)));
    let digests = bound.filter_map(|v: Value| Some((v.get("name")?.as_str()?.to_owned(), v.get("sha256")?.as_str()?.to_owned()))).collect();
    let stated = Stated::new(&checked.program, scalars, &totals, digests);
    let stated = if certificate.pointer("/public/designs").is_some() { stated.with(files(&checked.program)?) } else { stated };
    let (analysis, diagnostics) = priced(&checked, &stated, false);
    if diagnostics.iter().any(|d| d.is_error()) {
        return None;
    }
    let profile = &at(certificate, "/total/profile");
    let limit = profile["max_order"].as_f64().unwrap_or(f64::INFINITY);
    let usual = ORDERS.iter().filter(|o| **o < limit).count();
    let asked = |rows: &str, key: &str, from: usize| numbers(&profile[rows], key).split_off(from.min(numbers(&profile[rows], key).len()));
    let mut again = certify(&checked, &analysis?, &asked("rdp", "order", usual), &asked("dp", "delta", DELTAS.len()))?;
    // A certificate of an earlier version says nothing of records.
    if certificate.pointer("/public/records").is_none() {
        again.public.records.clear();
    }
    // As a file would hold it.
    serde_json::from_str(&again.to_json().to_string()).ok()
}

/// Where two certificates differ, signatures aside; the first place in every field.
pub fn differences(a: &Value, b: &Value, path: &str) -> Vec<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) if x.len() == y.len() && x.keys().all(|k| y.contains_key(k)) => {
            let inner = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let fields = x.iter().filter(|(name, _)| !(path.is_empty() && *name == "signature"));
            fields.flat_map(|(name, v)| differences(v, &y[name], &inner(name))).collect()
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            x.iter().zip(y).enumerate().flat_map(|(i, (v, w))| differences(v, w, &format!("{path}[{i}]"))).collect()
        }
        (Value::Number(x), Value::Number(y)) if x.as_f64() == y.as_f64() => vec![],
        _ if a == b => vec![],
        _ => vec![path.to_owned()],
    }
}

/// Why a program text, a plan or a certificate could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    Missing,
    /// A pipe or a device.
    Irregular,
    /// More than so many bytes.
    TooLarge(u64),
    NotText,
    /// Named as data are.
    Data,
}

/// How names of data end: a message shows lines of a program, so none of these is read as one.
const DATA: [&str; 14] = ["arrow", "bz2", "csv", "feather", "gz", "json", "jsonl", "ndjson", "parquet", "tab", "tsv", "xlsx", "xz", "zst"];

/// Reads a program. The name it is shown under is the file's own, without folders, so that certificates do not depend
/// on the place.
pub fn read(path: &Path) -> Result<(String, String), Unreadable> {
    text(path, bytes(path, syntax::MAX_SOURCE_BYTES as u64)?)
}

/// All of a regular file that is no longer than the limit.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let file = files::open(path).map_err(|why| match why {
        Unopened::Missing => Unreadable::Missing,
        Unopened::Irregular => Unreadable::Irregular,
    })?;
    let mut bytes = vec![];
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| Unreadable::Missing)?;
    if bytes.len() as u64 > limit { Err(Unreadable::TooLarge(limit)) } else { Ok(bytes) }
}

/// The name and text of a program whose bytes were read from `path`.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<(String, String), Unreadable> {
    if bytes.len() > syntax::MAX_SOURCE_BYTES {
        return Err(Unreadable::TooLarge(syntax::MAX_SOURCE_BYTES as u64));
    }
    if path.extension().is_some_and(|e| DATA.iter().any(|data| e.eq_ignore_ascii_case(data))) {
        return Err(Unreadable::Data);
    }
    let text = String::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
    let name = path.file_name().map_or_else(|| "program.dpm".into(), |n| n.to_string_lossy().into_owned());
    Ok((name, text))
}

/// Is it one file, whatever the spelling of its paths and the links of either kind that lead to it?
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    let id = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        path.metadata().ok().map(|m| (m.dev(), m.ino()))
    };
    #[cfg(not(unix))]
    let id = |path: &Path| path.canonicalize().ok();
    id(a).is_some_and(|file| id(b) == Some(file))
}

/// The most bytes of the record of a run that another program reads.
const LARGEST_RECORD: u64 = 16 << 20;

/// Modules and records of the user: files below the folder of the main program.
pub struct Folder {
    root: Option<PathBuf>,
    /// Files that are not modules, wherever they are.
    without: Vec<PathBuf>,
    /// Records by the names of their tables, wherever they are.
    records: Vec<(String, PathBuf)>,
}

impl Folder {
    /// No modules but the standard ones.
    pub fn none() -> Folder {
        Folder { root: None, without: vec![], records: vec![] }
    }
    pub fn of(program: &Path) -> Folder {
        let folder = match program.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        Folder { root: folder.canonicalize().ok(), ..Folder::none() }
    }
    /// The same without these files: messages show lines of modules, and none of private rows.
    pub fn without(self, files: &[PathBuf]) -> Folder {
        Folder { without: files.to_vec(), ..self }
    }
    /// The same with other records than the program says.
    pub fn records(self, records: Vec<(String, PathBuf)>) -> Folder {
        Folder { records, ..self }
    }

    /// A file below the folder; a link that leads out of it is not followed.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.as_ref()?;
        root.join(path).canonicalize().ok().filter(|file| file.starts_with(root))
    }

    fn allowed(&self, file: &Path) -> bool {
        !self.without.iter().any(|f| same_file(f, file))
    }
}

impl Loader for Folder {
    fn load(&self, path: &[String]) -> Option<String> {
        let file = self.below(&path.iter().collect::<PathBuf>().with_extension("dpm")).filter(|f| self.allowed(f))?;
        read(&file).ok().map(|(_, text)| text)
    }

    fn record(&self, name: &str, path: &str) -> Option<String> {
        let given = self.records.iter().find(|(table, _)| table == name).map(|(_, file)| file.clone());
        let file = given.or_else(|| self.below(Path::new(path))).filter(|f| self.allowed(f))?;
        String::from_utf8(bytes(&file, LARGEST_RECORD).ok()?).ok()
    }
}
