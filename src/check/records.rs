//! `public cells from "result.json"`: a table of counts that an earlier run released, read from the record of that run.

use super::expressions::some;
use super::scope::{Binding, Origin};
use super::{Checked, Checker, ReleaseInfo, Stop, vectors};
use crate::json;
use crate::model::bins;
use crate::model::record::{Counts, Noise, Record, public};
use crate::model::sums::Summed;
use crate::model::{Axis, Column, Range, ReleaseId, Type, VectorType};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use serde_json::{Value, json};
use std::sync::Arc;

/// Of one program.
const MAX_RECORDS: usize = 64;
const MAX_RECORD_BYTES: usize = 16 << 20;
/// The longest name of an axis or a level.
const LONGEST_NAME: usize = 1000;
/// The largest count that a model knows.
const MOST: i64 = 1 << 50;

/// Why a record gives no table.
#[derive(Debug)]
pub enum Unfit {
    /// It is not JSON, or not that of a run.
    NoRecord,
    /// It has no table of this name, but these.
    Unknown(Vec<String>),
    /// The noise has no law that a model knows.
    Noise(String),
    /// What does not fit together.
    Shape(&'static str),
}

impl Checker<'_> {
    /// A table of its own, as if this program had released it here.
    pub(super) fn record_statement(&mut self, name: &ast::Name, file: &ast::Name, wanted: &ast::Name, span: Span) -> Checked<()> {
        let read = self.recorded_table(name, file, wanted, span);
        let known = read.and_then(|found| {
            self.not_hiding(name)?;
            self.define(name, Binding::Release(ReleaseId(self.releases.len())))?;
            Ok(found)
        });
        let (done, ty, text, counts) = match known {
            Ok((ty, text, counts)) => (Ok(()), ty, text, Some(counts)),
            Err(Stop) => (Err(Stop), Type::Text, String::new(), None),
        };
        let id = ReleaseId(self.releases.len());
        self.releases.push(ReleaseInfo { ty, query: None, late: false, fit: None, predictor: None });
        self.program.released.push(name.value.clone());
        self.program.records.push(Record { id, name: name.value.clone(), file: file.value.clone(), text, counts, span });
        done?;
        // So that `vector[region]` knows its columns.
        self.cell_table(id, &name.value, span).map(drop)
    }

    fn recorded_table(&mut self, name: &ast::Name, file: &ast::Name, wanted: &ast::Name, span: Span) -> Checked<(Type, String, Counts)> {
        if self.program.records.len() >= MAX_RECORDS {
            return self.too_many_records(span);
        }
        let text = self.loader.record(&name.value, &file.value);
        self.record_bytes += text.as_ref().map_or(0, String::len);
        if self.record_bytes > MAX_RECORD_BYTES {
            return self.too_many_records(span);
        }
        let counts = self.recorded_counts((name, file, wanted), text.as_deref())?;
        let (ty, counts) = self.counted_type(counts, file.span)?;
        Ok((ty, text.and_then(|t| extract(&t, &wanted.value)).unwrap_or_default(), counts))
    }

    fn too_many_records<T>(&mut self, span: Span) -> Checked<T> {
        let most = format!("a program reads at most {MAX_RECORDS} records of {} MiB in all", MAX_RECORD_BYTES >> 20);
        self.fail(Diagnostic::new("E0025", most).label(span, "not read").help("compare fewer of them in one program"))
    }

    fn recorded_counts(&mut self, (name, file, wanted): (&ast::Name, &ast::Name, &ast::Name), text: Option<&str>) -> Checked<Counts> {
        let (path, called) = (&file.value, &name.value);
        let Some(text) = text else {
            let d = Diagnostic::new("E0212", format!("the record of `{called}` cannot be read"))
                .label(file.span, "no text file of this name in the folder of the program or below it");
            let d = d.help(("the run that releases the table writes it:", "dpm run FILE.dpm --data PATH -o result.json"));
            return self.fail(d.help(("from another folder:", format!("--public {called}=PATH"))));
        };
        let all = json::read(text).ok_or(Unfit::NoRecord);
        let d = match all.and_then(|all| table(&all, &wanted.value)) {
            Ok(counts) => return Ok(counts),
            Err(Unfit::NoRecord) => Diagnostic::new("E0212", format!("`{path}` is not the record of a run"))
                .label(file.span, "not JSON with `releases` and `laws`, or an object has a key twice")
                .help(("a run writes one:", "dpm run FILE.dpm --data PATH -o result.json"))
                .help(format!("rows of a public table are declared, as in `public {called}[n] {{ .. }}`, and named on the command line")),
            Err(Unfit::Unknown(names)) => {
                let d = Diagnostic::new("E0206", format!("the record has no table of counts `{}`", wanted.value));
                let names: Vec<&str> =
                    names.iter().map(String::as_str).filter(|n| n.len() <= LONGEST_NAME && crate::syntax::tokens::is_name(n)).collect();
                let d = d.label(
                    wanted.span,
                    if names.is_empty() { "it has none".into() } else { format!("it has: {}", some(names.iter().copied())) },
                );
                match names.first() {
                    Some(one) => d.help(format!("public {called} from \"{path}\".{one}")),
                    None => d.cause("a record has the tables that its run released: release cells = histogram(region, vote)"),
                }
            }
            Err(Unfit::Noise(kind)) => Diagnostic::new("E0315", format!("no model can use the distribution of the noise on `{called}`"))
                .label(file.span, kind)
                .cause("counts with integer noise have a likelihood that is computed exactly")
                .help("release it again, at its cost, with integer noise: `using geometric` or `using gaussian`"),
            Err(Unfit::Shape(why)) => Diagnostic::new("E0212", format!("`{path}` contradicts itself"))
                .label(file.span, why)
                .cause("a record that a run wrote was changed, or is of another version"),
        };
        self.fail(d)
    }

    /// The type of the table, as if it had been released here.
    fn counted_type(&mut self, counts: Counts, span: Span) -> Checked<(Type, Counts)> {
        let known = |a: &Axis| {
            let levels = self.listed(a.levels.to_vec());
            let ty = if let Type::Category(_) = a.ty { Type::Category(levels.clone()) } else { a.ty.clone() };
            Axis { levels, ty, ..a.clone() }
        };
        let axes = Arc::new(counts.axes.iter().map(known).collect::<Vec<Axis>>());
        let levels = self.cells(&axes, span)?;
        if axes.len() == 1 {
            self.more_bins(levels.len() as u64, span, "read a table with fewer levels")?;
        }
        let ty = vectors::boxed(levels.len() as u64, Range::ALL, Some(levels));
        Ok((Type::Vector(VectorType { axes: Some(axes.clone()), ..ty }), Counts { axes, ..counts }))
    }

    /// The column of this name of the only recorded table that has it.
    pub(super) fn recorded_column(&self, name: &str) -> Option<&Column> {
        let of = |t: &crate::model::Table| t.columns.iter().position(|c| c.name == name);
        let cells = self
            .origins
            .iter()
            .zip(&self.program.derived)
            .filter(|(o, _)| matches!(o, Origin::Cells(id) if self.program.records.iter().any(|r| r.id == *id)));
        let mut found = cells.filter_map(|(_, t)| t.columns.get(of(t)?));
        let first = found.next()?;
        found.all(|c| c.ty == first.ty).then_some(first)
    }
}

/// What a record says of one table, as a record of its own.
fn extract(text: &str, name: &str) -> Option<String> {
    let all = json::read(text)?;
    let of = |key: &str| Some(json!({ name: all.get(key)?.get(name)? }));
    Some(json!({"releases": of("releases")?, "laws": of("laws")?}).to_string())
}

/// The table `name` of a record.
///
/// # Errors
/// What keeps it from being read; nothing of a record is trusted.
pub fn table(all: &Value, name: &str) -> Result<Counts, Unfit> {
    let (releases, none) = (all["releases"].as_object().ok_or(Unfit::NoRecord)?, serde_json::Map::new());
    let laws = all.get("laws").map_or(Some(&none), Value::as_object).ok_or(Unfit::NoRecord)?;
    let (Some(cells), law) = (releases.get(name), laws.get(name)) else {
        return Err(Unfit::Unknown(laws.keys().filter(|n| releases.contains_key(*n)).cloned().collect()));
    };
    let Some(law) = law else { return Err(Unfit::Noise("the record does not say what noise was added".into())) };
    let sums = law["axes"].as_array().and_then(|axes| axes.last()).is_some_and(|a| a["type"] == "sums");
    let noise = noise(law, sums)?;
    let certificate = all.pointer("/certificate/releases").and_then(Value::as_array);
    if !certificate.is_none_or(|releases| certified(releases, name, law)) {
        return Err(Unfit::Shape("its noise is not that of the certificate beside it"));
    }
    let shape = |why| move || Unfit::Shape(why);
    let axes: Option<Vec<Axis>> = law["axes"].as_array().and_then(|axes| axes.iter().map(axis).collect());
    let axes = Arc::new(axes.filter(|a| apart(a.iter().map(|a| &a.name))).ok_or_else(shape("its axes are not those of a table"))?);
    if sums && !axes.iter().all(|a| matches!(a.ty, Type::Category(_) | Type::Bool)) {
        return Err(Unfit::Shape("the groups of its sums are neither levels of categories nor bools"));
    }
    let (mut counts, mut totals) = (vec![], vec![]);
    let cell = |v: &Value| if sums { v.as_f64().filter(|x| x.abs() <= MOST as f64) } else { whole(v, -MOST) };
    numbers(cells, &axes, &cell, &mut counts).ok_or_else(shape("its cells are not one whole number for each combination of levels"))?;
    let public = if sums { vec![] } else { public(&axes) };
    if law["n"] != Value::Null {
        let n = law["n"].as_i64().filter(|n| (1..=MOST).contains(n)).ok_or_else(shape("`n` is not a number of rows"))?;
        if public.is_empty() {
            totals.push(n as f64);
        } else {
            numbers(&law["public_margins"], &public, &|v| whole(v, 0), &mut totals)
                .ok_or_else(shape("`public_margins` are not numbers of rows"))?;
        }
        if totals.iter().sum::<f64>() != n as f64 {
            return Err(Unfit::Shape("`public_margins` do not add up to `n`"));
        }
    }
    Ok(Counts { noise, axes, cells: counts, totals })
}

fn noise(law: &Value, sums: bool) -> Result<Noise, Unfit> {
    let scale = law["scale"].as_f64().filter(|s| s.is_finite() && *s > 0.0);
    match (law["kind"].as_str(), scale) {
        (Some("two_sided_geometric"), Some(scale)) => Ok(Noise::Geometric { scale }),
        (Some("rounded_normal"), Some(sigma)) => Ok(Noise::Rounded { sigma }),
        (Some("laplace"), Some(scale)) if sums => Ok(Noise::Laplace { scale }),
        (Some("normal"), Some(sigma)) if sums => Ok(Noise::Gaussian { sigma }),
        (Some("two_sided_geometric" | "rounded_normal"), None) => Err(Unfit::Shape("the scale of its noise is not above 0")),
        (Some(kind @ ("laplace" | "normal")), _) => Err(Unfit::Noise(format!("{kind} noise, which is not an integer"))),
        _ => Err(Unfit::Noise("noise of an unknown kind".into())),
    }
}

/// Does the certificate of a run say the same of the noise?
fn certified(releases: &[Value], name: &str, law: &Value) -> bool {
    let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok());
    let same = |r: &Value| {
        let scale = ["/parameters/sigma", "/parameters/scale"].iter().find_map(|at| number(r.pointer(at)?));
        let kind = r["name"] == name && r.pointer("/sampler/name") == law.get("kind");
        kind && scale.is_none_or(|s| number(&law["scale"]) == Some(s))
    };
    releases.iter().any(same)
}

/// What the text of a program could name.
fn plain(name: &&str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(|c: char| c == '"' || c.is_control())
}

fn apart<'n>(names: impl Iterator<Item = &'n String>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().all(|n| seen.insert(n)) && !seen.is_empty()
}

fn axis(v: &Value) -> Option<Axis> {
    let text = |v: &Value| v.as_str().filter(plain).map(str::to_owned);
    let levels: Vec<String> = v["levels"].as_array()?.iter().map(text).collect::<Option<_>>()?;
    let (mut edges, mut sums) = (vec![], vec![]);
    let ty = match v["type"].as_str()? {
        kind @ ("int" | "real") if v["ends"] != Value::Null => {
            let ends: Vec<f64> = v["ends"].as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
            let whole = |e: &f64| kind == "real" || e.fract() == 0.0;
            let rise = ends.iter().zip(ends.iter().skip(1)).all(|(a, b)| a < b) && ends.iter().all(|e| e.abs() <= MOST as f64 && whole(e));
            let [first, between @ .., last] = ends.as_slice() else { return None };
            edges = between.to_vec();
            let ty = if kind == "int" { Type::Int(Range::new(*first, last - 1.0)) } else { Type::Real(Range::new(*first, *last)) };
            (rise && !edges.is_empty() && bins::names(&ty, &ends) == levels).then_some(ty)?
        }
        "bool" if levels == ["false", "true"] => Type::Bool,
        "int" => {
            let first: i64 = levels.first()?.parse().ok()?;
            let last = first.checked_add(i64::try_from(levels.len()).ok()? - 1)?;
            let each = (first..=last).zip(&levels).all(|(i, l)| i.to_string() == *l) && first >= -MOST && last <= MOST;
            each.then(|| Type::Int(Range::new(first as f64, last as f64)))?
        }
        "sums" if apart(levels.iter()) => {
            sums = v["sums"].as_array()?.iter().map(summed).collect::<Option<Vec<Summed>>>()?;
            let same = sums.iter().map(Summed::label).eq(levels.iter().cloned()) && apart(sums.iter().map(|s| &s.name));
            same.then(|| Type::Category(Arc::new(levels.clone())))?
        }
        "category" if apart(levels.iter()) => Type::Category(Arc::new(levels.clone())),
        _ => return None,
    };
    Some(Axis { name: text(&v["name"])?, ty, levels: Arc::new(levels), public: v["public"].as_bool()?, edges, sums })
}

fn summed(v: &Value) -> Option<Summed> {
    let unit = v["unit"].as_f64().filter(|u| *u > 0.0 && *u <= MOST as f64)?;
    let name = v["name"].as_str().filter(plain).filter(|n| crate::syntax::tokens::is_name(n))?;
    let whole = v["whole"].as_bool().filter(|w| !w || unit.fract() == 0.0)?;
    Some(Summed { name: name.to_owned(), unit, whole })
}

/// A whole number of at least `least`.
fn whole(v: &Value, least: i64) -> Option<f64> {
    v.as_i64().filter(|x| (least..=MOST).contains(x)).map(|x| x as f64)
}

/// One number for each combination of levels, as objects by axis.
fn numbers(v: &Value, axes: &[Axis], cell: &dyn Fn(&Value) -> Option<f64>, out: &mut Vec<f64>) -> Option<()> {
    let [axis, rest @ ..] = axes else {
        out.push(cell(v)?);
        return Some(());
    };
    let cells = v.as_object().filter(|o| o.len() == axis.levels.len())?;
    axis.levels.iter().try_for_each(|level| numbers(cells.get(level)?, rest, cell, out))
}
