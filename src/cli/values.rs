//! Released values and outputs as lines of a terminal: as many digits as mean something, names at every number, no line wider than it.

use crate::model::print::number;
use crate::model::{Levels, Program, Query, Type, releases};
use crate::numeric::calendar;
use crate::numeric::decimal::sig;
use crate::privacy::certificate::{Certificate, OF_EACH};
use crate::run::{Posterior, Value, by_cell, picture, table};

pub type Named = (String, Value, Type);

/// More numbers of a vector than this are left to the record.
const MOST: usize = 40;
/// And more columns of a matrix.
const ACROSS: usize = 8;
/// Columns of a number, whatever it is: what is printed for one draw is as long as for any other.
const WIDE: usize = 11;

/// What is known of releases by name.
#[derive(Default)]
pub struct Notes {
    /// What one is off by, as its certificate predicts, and the words for it; of quantiles a number of rows.
    errors: Vec<(String, f64, &'static str)>,
    /// Of draws of weights of a design its names, and by what each is divided for a change of one unit.
    scales: Vec<(String, Levels, Vec<f64>)>,
    /// Of draws of a matrix of weights the names of its rows and columns.
    sides: Vec<(String, (Levels, Levels))>,
}

const ROWS: &str = "95% bound, if values are spread evenly";

impl Notes {
    pub fn of(certificate: &Certificate, program: &Program) -> Notes {
        let known = certificate.releases.iter().filter_map(|r| {
            let each = r.predicted.iter().find(|(name, _)| *name == OF_EACH).map(|(_, each)| *each);
            let error = each.unwrap_or(r.predicted_error);
            let what = match &*r.measure {
                _ if each.is_some() => "95% bound of each",
                m if m.starts_with("95% bound of |answer") => "95% bound",
                m if m.starts_with("95% bound of the rows") => ROWS,
                m if m.ends_with("in most tables") => "one draw, if features are as in most tables",
                m if m.starts_with("root mean square") => "one draw",
                _ => return None,
            };
            (error.is_finite() && error > 0.0).then(|| (r.name.clone(), error, what))
        });
        let mut notes = Notes { errors: known.collect(), ..Notes::default() };
        for release in releases(&program.steps) {
            let Query::Posterior(model) = &release.query else { continue };
            let of = model.parameters.iter().filter_map(|p| program.design(p.ty.levels()));
            let of = of.filter(|d| d.scales.iter().any(|s| *s != 1.0));
            notes.scales.extend(of.map(|d| (release.name.clone(), d.names.clone(), d.scales.clone())));
            let sides = model.parameters.iter().find_map(|p| model.sides(p.id));
            notes.sides.extend(sides.map(|sides| (release.name.clone(), sides)));
        }
        notes
    }

    fn error(&self, name: &str) -> Option<(f64, &'static str)> {
        self.errors.iter().find(|(n, ..)| n == name).map(|(_, error, what)| (*error, *what))
    }

    /// The scales of the components of a value with these names.
    fn scales(&self, release: &str, names: Option<&Levels>) -> Option<&[f64]> {
        self.scales.iter().find(|(n, of, _)| n == release && Some(of) == names).map(|(.., scales)| scales.as_slice())
    }
}

/// Values by name; every line as long as it would be for any other draw.
pub fn text(releases: &[Named], outputs: &[Named], notes: &Notes) -> String {
    let width = releases.iter().chain(outputs).map(|(n, ..)| n.chars().count()).max().unwrap_or(0).min(40);
    let mut lines = vec![];
    for (kind, values) in [("released", releases), ("output", outputs)] {
        for (name, value, ty) in values {
            let error = notes.error(name);
            let scales = |ty: &Type| notes.scales(name, ty.levels()).filter(|_| kind == "released").map(<[f64]>::to_vec);
            // A number of rows says nothing of the digits of a value.
            let error_of_each = error.filter(|(_, what)| *what != ROWS).map(|(e, _)| e);
            let sides = notes.sides.iter().find(|(n, _)| n == name && kind == "released").map(|(_, sides)| sides);
            let mut found = match (value, sides) {
                (Value::Matrix(rows), Some(sides)) => matrix(rows, Some(sides), error_of_each),
                _ => shown(value, ty, error_of_each, &scales),
            };
            if let (Some((error, what)), Some(first)) = (error, found.first_mut()) {
                let unit = if what == ROWS { " rows" } else { "" };
                first.push_str(&format!("   \u{b1} {}{unit} ({what})", sig(error, 2)));
            }
            let head = format!("{kind:<8}  {name:<width$}");
            let blank = " ".repeat(4);
            let mut found = found.into_iter();
            lines.push(format!("{head}  {}", found.next().unwrap_or_default()));
            lines.extend(found.map(|l| format!("{blank}{l}")));
        }
    }
    let most = columns();
    lines.into_iter().map(|l| l.chars().take(most).collect::<String>().trim_end_matches('\n').to_owned() + "\n").collect()
}

/// The width of the terminal; a file or a pipe takes lines of any length.
fn columns() -> usize {
    let term = console::Term::stdout();
    if term.is_term() { usize::from(term.size().1).max(40) } else { usize::MAX }
}

/// A value: the end of its first line, and the lines below.
fn shown(value: &Value, ty: &Type, error: Option<f64>, scales: &dyn Fn(&Type) -> Option<Vec<f64>>) -> Vec<String> {
    let head = |first: String, rest: Vec<String>| std::iter::once(first).chain(rest).collect();
    if let Value::Posterior(p) = value {
        return head(p.described(), posterior(p, ty));
    }
    if let Some(lines) = table(value, ty).or_else(|| by_cell(value, ty)) {
        return head(String::new(), lines);
    }
    match value {
        Value::Text(s) => vec![s.clone()],
        Value::Bool(b) => vec![format!("{b:>WIDE$}")],
        Value::Number(_) | Value::Grid(_) if matches!(ty, Type::Date(_)) => vec![calendar::text(value.as_number().unwrap_or(0.0))],
        Value::Number(_) | Value::Grid(_) => vec![one(value, error)],
        Value::Matrix(rows) => matrix(rows, None, error),
        Value::Record(parts) => {
            let types: &[(String, Type)] = if let Type::Record(types) = ty { types } else { &[] };
            let mut lines = vec![];
            for (i, (name, part)) in parts.iter().enumerate() {
                let mut found = shown(part, types.get(i).map_or(ty, |(_, t)| t), error, scales).into_iter();
                lines.push(format!("{name}  {}", found.next().unwrap_or_default()));
                lines.extend(found.map(|l| format!("  {l}")));
            }
            head(String::new(), lines)
        }
        Value::Vector(_) | Value::GridVector(_) => {
            let cells: Vec<String> = match value {
                Value::GridVector(v) => v.iter().map(|n| one(&Value::Grid(*n), error)).collect(),
                other => other.numbers().into_iter().map(|x| plain(x, error)).collect(),
            };
            if ty.levels().is_none() && cells.len() <= 3 {
                return vec![format!("[{}]", cells.join(", "))];
            }
            let names = names(ty, cells.len());
            let width = widest(&names);
            let lines = names.iter().zip(&cells).map(|(n, x)| format!("{n:<width$} {x}"));
            match scales(ty).filter(|s| s.len() == cells.len()) {
                None => head(size(cells.len()), cut(lines.collect(), cells.len())),
                Some(scales) => {
                    let unit = |(x, s): (f64, &f64)| plain(x / s, error.map(|e| e / s));
                    let units = value.numbers().into_iter().zip(&scales).map(unit);
                    let lines = lines.zip(units).map(|(line, unit)| format!("{line} {unit}")).collect();
                    let columns = format!("{:<width$} {:>WIDE$} {:>WIDE$}", "", "scaled", "per unit");
                    head(size(cells.len()), std::iter::once(columns).chain(cut(lines, cells.len())).collect())
                }
            }
        }
        Value::Posterior(_) => vec![],
    }
}

/// A line for every row of a matrix, whose rows and columns have names where they are those of weights.
fn matrix(rows: &[Vec<f64>], sides: Option<&(Levels, Levels)>, error: Option<f64>) -> Vec<String> {
    let names = sides.map(|(names, _)| names.to_vec()).filter(|n| n.len() == rows.len()).unwrap_or_else(|| places(rows.len()));
    let columns: &[String] = sides.map_or(&[], |(_, columns)| columns);
    let wide = columns.iter().take(ACROSS).map(|c| c.chars().count()).max().unwrap_or(0).clamp(WIDE, 30);
    let width = widest(&names);
    let row = |name: &str, cells: Vec<String>| {
        let shown: String = cells.iter().take(ACROSS).map(|c| format!(" {c:>wide$}")).collect();
        format!("{name:<width$} {shown}{}", if cells.len() > ACROSS { "  .." } else { "" })
    };
    let lines = names.iter().zip(rows).map(|(name, r)| row(name, r.iter().map(|x| plain(*x, error)).collect())).collect();
    let above = (!columns.is_empty()).then(|| row("", columns.to_vec()));
    [size(rows.len())].into_iter().chain(above).chain(cut(lines, rows.len())).collect()
}

fn size(count: usize) -> String {
    format!("{count} values")
}

fn cut(mut lines: Vec<String>, all: usize) -> Vec<String> {
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines.push(format!(".. {all} values; the record (-o) and --json have them all"));
    }
    lines
}

/// The levels of a vector, or places counted from 1.
fn names(ty: &Type, count: usize) -> Vec<String> {
    match ty.levels() {
        Some(levels) if levels.len() == count => levels.to_vec(),
        _ => places(count),
    }
}

fn places(count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("[{i}]")).collect()
}

fn widest(names: &[String]) -> usize {
    names.iter().take(MOST).map(|n| n.chars().count()).max().unwrap_or(0).min(60)
}

/// One number: a whole one with all its digits.
fn one(value: &Value, error: Option<f64>) -> String {
    match value {
        Value::Grid(n) if !n.decimal().contains(['.', 'e']) => format!("{:>WIDE$}", n.decimal()),
        Value::Grid(n) => plain(n.to_f64(), error),
        other => plain(other.as_number().unwrap_or(f64::NAN), error),
    }
}

/// Two digits of what a number is off by, or else four of its own.
fn plain(x: f64, error: Option<f64>) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) {
        return format!("{x:>WIDE$.3e}");
    }
    if x.fract() == 0.0 && error.is_none() {
        return format!("{:>WIDE$}", number(x));
    }
    let places = match error {
        Some(error) => 1.0 - error.log10().floor(),
        None => 3.0 - size.max(1e-4).log10().floor(),
    };
    format!("{x:>WIDE$.*}", places.clamp(0.0, 6.0) as usize)
}

/// A line with a picture for every number of a posterior, named by its level.
fn posterior(p: &Posterior, ty: &Type) -> Vec<String> {
    let inner = if let Type::Posterior(inner) = ty { inner } else { ty };
    let names: Vec<String> = inner.levels().map_or_else(Vec::new, |l| l.to_vec());
    picture(p, &names)
}
