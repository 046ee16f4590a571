//! What the owner of a file may see of it: which cells are not what was declared. Nothing that an analyst runs calls this.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cell::{self, Cell, Use};
use super::input::Input;
use super::{DataError, Source, project};
use crate::model::print::type_text;
use crate::model::{Range, Table, Type};
use crate::numeric::calendar;

/// Most spellings that are kept of a column, and most bytes of one.
const MOST: usize = 20;
const LONGEST: usize = 60;

/// Cells of one declared column. It does not print itself: `cli::inspect` does, for the owner alone.
#[derive(Default)]
pub struct Cells {
    pub name: String,
    pub ty: String,
    /// Headers of the column that the file has not.
    pub absent: Vec<String>,
    pub read: u64,
    /// Blank, or absent from a short row.
    pub blank: u64,
    /// A word such as `NA`.
    pub na: u64,
    pub unreadable: u64,
    /// Read, and moved to an end of the domain.
    pub moved: u64,
    /// Read, and rounded to a whole number.
    pub rounded: u64,
    /// Unreadable spellings with how often they are there; of a category the levels that were found, too.
    pub spellings: BTreeMap<String, u64>,
    /// Were there more?
    pub more: bool,
}

/// A file of a table.
pub struct Inspected {
    pub rows: u64,
    /// Rows with fewer or more cells than the header.
    pub short: u64,
    pub long: u64,
    /// Rows with a quote that is not closed properly.
    pub stray: u64,
    /// Bytes of the longest cell.
    pub longest: usize,
    pub headers: Vec<String>,
    pub columns: Vec<Cells>,
    /// Of `by key max k`: units, those with more than k rows, and rows of the largest.
    pub units: Option<[u64; 3]>,
    /// Columns that are not declared, with a type that their cells have: no bounds.
    pub others: Vec<(String, String)>,
}

/// What is known so far of a column that is not declared.
struct Guess {
    some: bool,
    kinds: [bool; 4],
    levels: BTreeSet<Vec<u8>>,
}

fn is_na(text: &[u8]) -> bool {
    ["na", "n/a", "nan", "null", "none", "nil", "missing", "unknown", ".", "-", "?", "#n/a"]
        .iter()
        .any(|w| text.eq_ignore_ascii_case(w.as_bytes()))
}

fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell.get(..LONGEST).unwrap_or(cell)).into_owned();
    if cell.len() > LONGEST { text + ".." } else { text }
}

impl Cells {
    fn keep(&mut self, cell: &[u8]) {
        let text = shown(cell);
        if self.spellings.len() < MOST || self.spellings.contains_key(&text) {
            *self.spellings.entry(text).or_insert(0) += 1;
        } else {
            self.more = true;
        }
    }

    fn see(&mut self, cell: &[u8], ty: &Type) {
        let text = cell.trim_ascii();
        let found = cell::read(Cell::Text(cell), ty);
        if matches!(ty, Type::Category(_)) && !text.is_empty() {
            self.keep(cell);
        }
        match found {
            Some(value) => {
                self.read += 1;
                let (range, whole) = match ty {
                    Type::Int(r) => (*r, true),
                    Type::Real(r) | Type::Date(r) => (*r, false),
                    Type::Vector(v) => (v.range, false),
                    _ => return,
                };
                let raw = if matches!(ty, Type::Date(_)) { cell::date(cell) } else { cell::number(cell) };
                let raw = raw.unwrap_or(value);
                self.moved += u64::from(!range.contains(if whole { libm::rint(raw) } else { raw }));
                self.rounded += u64::from(whole && raw.is_finite() && raw.fract() != 0.0);
            }
            None if text.is_empty() => self.blank += 1,
            None if is_na(text) => self.na += 1,
            None => {
                self.unreadable += 1;
                if !matches!(ty, Type::Category(_)) {
                    self.keep(cell);
                }
            }
        }
    }
}

impl Guess {
    fn see(&mut self, cell: &[u8]) {
        let text = cell.trim_ascii();
        if text.is_empty() || is_na(text) {
            return;
        }
        self.some = true;
        let number = cell::number(cell);
        let whole = number.is_some_and(|x| x.is_finite() && x.fract() == 0.0);
        let fits = [cell::boolean(cell).is_some(), whole, number.is_some(), cell::date(cell).is_some()];
        self.kinds.iter_mut().zip(fits).for_each(|(kind, fits)| *kind &= fits);
        if self.levels.len() <= MOST {
            self.levels.insert(text.get(..LONGEST).unwrap_or(text).to_vec());
        }
    }

    /// A type without bounds: they are the owner's to know.
    fn ty(&self) -> String {
        match self.kinds {
            _ if !self.some => "text".into(),
            [true, ..] => "bool".into(),
            [_, true, ..] => "int in LOWEST..HIGHEST".into(),
            [_, _, true, _] => "real in [LOWEST, HIGHEST]".into(),
            [.., true] => "date in [\"FIRST\", \"LAST\"]".into(),
            _ if self.levels.len() <= MOST => {
                let levels: Vec<String> = self.levels.iter().map(|l| format!("{:?}", String::from_utf8_lossy(l))).collect();
                format!("category {{{}, other}} else other", levels.join(", "))
            }
            _ => "text".into(),
        }
    }
}

/// Reads a file from start to end; fails where it cannot be read or has no header.
pub fn inspect(table: &Table, source: Source) -> Result<Inspected, DataError> {
    let mut input = Input::open(source, table)?;
    let names = input.names().to_vec();
    let width = names.len();
    let place = |header: &String| names.iter().position(|n| n == header.trim().as_bytes());
    let declared: Vec<_> = table.declared().collect();
    let places: Vec<Vec<Option<usize>>> = declared.iter().map(|c| c.headers.iter().map(place).collect()).collect();
    let mut columns: Vec<Cells> = declared
        .iter()
        .map(|c| Cells {
            name: c.name.clone(),
            ty: match &c.ty {
                Type::Date(r) => format!("date in [\"{}\", \"{}\"]", calendar::text(r.lo), calendar::text(r.hi)),
                ty => type_text(ty),
            },
            absent: c.headers.iter().filter(|h| place(h).is_none()).cloned().collect(),
            ..Cells::default()
        })
        .collect();
    let free: Vec<usize> = (0..width).filter(|i| !places.iter().flatten().any(|p| *p == Some(*i))).collect();
    let mut guesses: Vec<Guess> = free.iter().map(|_| Guess { some: false, kinds: [true; 4], levels: BTreeSet::new() }).collect();
    let key =
        table.unit.and_then(|(key, most)| Some((places.get(key.0)?.first().copied().flatten()?, declared.get(key.0)?.ty.clone(), most)));
    for (column, at) in declared.iter().zip(&places) {
        for (at, header) in at.iter().zip(&column.headers).filter_map(|(at, h)| Some(((*at)?, h))) {
            input.place(at, header, (&column.ty, Use::Rows), table)?;
        }
    }
    // Cells are counted as texts, whatever the file has.
    let texts: Vec<Option<usize>> = (0..width).map(|at| input.place(at, "", (&Type::Text, Use::Rows), table).ok()).collect();
    let mut units: HashMap<Vec<u8>, u64> = HashMap::new();
    let (mut rows, mut short, mut long, mut longest, mut stray) = (0, 0, 0, 0, 0);
    while input.advance()? {
        let text = |at: &usize| texts.get(*at).copied().flatten().map_or(&[][..], |place| input.text(place));
        rows += 1;
        short += u64::from(input.width() < width);
        long += u64::from(input.width() > width);
        longest = texts.iter().flatten().map(|place| input.length(*place)).fold(longest, usize::max);
        stray = input.stray();
        for ((column, at), cells) in declared.iter().zip(&places).zip(&mut columns) {
            at.iter().flatten().for_each(|i| cells.see(text(i), &column.ty));
        }
        for (i, guess) in free.iter().zip(&mut guesses) {
            guess.see(text(i));
        }
        if let Some((at, ty, _)) = &key {
            let cell = text(at);
            // Keys are units as the reader takes them: bytes of a text, values of anything else.
            let unit = match ty {
                Type::Text => cell.to_vec(),
                ty => project::into_range(cell::read(Cell::Text(cell), ty).unwrap_or(f64::NAN), Range::ALL).to_le_bytes().to_vec(),
            };
            *units.entry(unit).or_insert(0) += 1;
        }
    }
    let units = key.map(|(.., most)| {
        let beyond = units.values().filter(|n| **n > most).count() as u64;
        [units.len() as u64, beyond, units.values().copied().max().unwrap_or(0)]
    });
    let lossy = |n: &Vec<u8>| String::from_utf8_lossy(n).into_owned();
    let others = free.iter().zip(&guesses).filter_map(|(i, g)| Some((lossy(names.get(*i)?), g.ty()))).collect();
    Ok(Inspected { rows, short, long, stray, longest, headers: names.iter().map(lossy).collect(), columns, units, others })
}
