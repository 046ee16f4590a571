//! One total map for every type of column: the cells that CSV would have, as texts or as the numbers that those texts stand for.

use std::fmt::Write;
use std::sync::Arc;

use ::parquet::data_type::ByteArray;

use crate::data::cell::{self, Cell};
use crate::data::format::Misfit;
use crate::data::project;
use crate::model::{Levels, Type};
use crate::numeric::calendar;

/// What a column holds, by its schema.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Bool,
    Signed,
    Unsigned,
    /// The shortest decimal that is this number in 24 bits, not the number in 53 bits: CSV has that decimal.
    Float,
    Double,
    /// Digits behind the point.
    Decimal(u32),
    /// Days from 1970-01-01.
    Day,
    Text,
    /// No cell is there.
    Null,
}

/// How cells are asked for.
#[derive(Clone, PartialEq)]
pub enum Form {
    Number,
    Text,
    /// Numbers of levels; what is not a level is missing.
    Levels(Levels),
}

/// Most digits of a decimal.
const DIGITS: i32 = 38;

impl Kind {
    pub fn whole(signed: bool) -> Kind {
        if signed { Kind::Signed } else { Kind::Unsigned }
    }

    pub fn decimal(precision: i32, scale: i32) -> Result<Kind, Misfit> {
        let scale = u32::try_from(scale).ok().filter(|_| precision <= DIGITS && scale <= precision);
        scale.map(Kind::Decimal).ok_or(Misfit::Binary)
    }

    /// How a declared type is read from such a column, unless none of its cells could be: public, by the schema alone.
    pub fn form(self, ty: &Type) -> Result<Form, Misfit> {
        match (self, ty) {
            (_, Type::Category(_) | Type::Text | Type::Posterior(_) | Type::Record(_)) | (Kind::Text | Kind::Null, _) => Ok(Form::Text),
            (Kind::Bool, Type::Bool) | (Kind::Day, Type::Date(_)) => Ok(Form::Number),
            (Kind::Bool, _) => Err(Misfit::Booleans),
            (Kind::Day, _) => Err(Misfit::Days),
            (_, Type::Date(_)) => Err(Misfit::Numbers),
            _ => Ok(Form::Number),
        }
    }
}

/// Cells of a block.
pub enum Values {
    /// None is there.
    Missing,
    Numbers(Vec<f64>),
    /// Parts of the pages or buffers that they were in: a long text of a dictionary is there once.
    Texts(Vec<Option<ByteArray>>),
    /// Texts of numbers, one after the other, with their ends.
    Written(Vec<u8>, Vec<usize>),
    /// Cells of a dictionary that other blocks have too, by their numbers.
    Chosen(Arc<Values>, Vec<Option<usize>>),
}

impl Values {
    /// Numbers in a form.
    pub fn of(cells: impl ExactSizeIterator<Item = Exact>, kind: Kind, form: &Form) -> Values {
        match form {
            Form::Number | Form::Levels(_) => {
                let mut scratch = String::new();
                Values::Numbers(cells.map(|x| x.number(kind, &mut scratch)).collect())
            }
            Form::Text => {
                let (mut text, mut ends) = (String::new(), Vec::with_capacity(cells.len()));
                for x in cells {
                    x.write(kind, &mut text);
                    ends.push(text.len());
                }
                Values::Written(text.into_bytes(), ends)
            }
        }
    }

    /// Adds cells of the same column behind these.
    pub fn append(&mut self, more: Values) -> Option<()> {
        match (self, more) {
            (Values::Missing, Values::Missing) => {}
            (Values::Numbers(all), Values::Numbers(more)) => all.extend(more),
            (Values::Texts(all), Values::Texts(more)) => all.extend(more),
            (Values::Written(all, ends), Values::Written(more, others)) => {
                ends.extend(others.iter().map(|end| all.len() + end));
                all.extend(more);
            }
            _ => return None,
        }
        Some(())
    }

    pub fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Numbers(all) => Cell::Number(all.get(row).copied().unwrap_or(f64::NAN)),
            Values::Texts(all) => all.get(row).and_then(Option::as_ref).map_or(Cell::EMPTY, |text| Cell::Text(text.data())),
            Values::Written(text, ends) => {
                let start = row.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
                let range = start.zip(ends.get(row)).and_then(|(start, end)| text.get(start..*end));
                range.map_or(Cell::EMPTY, Cell::Text)
            }
            Values::Chosen(all, rows) => rows.get(row).copied().flatten().map_or(Cell::EMPTY, |row| all.cell(row)),
            Values::Missing => Cell::EMPTY,
        }
    }

    /// Reads the cells as components of a type, moved into it; what is missing or unreadable counts as `missing`.
    pub fn fill(&self, ty: &Type, missing: f64, out: &mut [f64]) {
        match (self, ty) {
            (Values::Numbers(all), Type::Real(range) | Type::Int(range)) => {
                let whole = matches!(ty, Type::Int(_));
                for (to, x) in out.iter_mut().zip(all) {
                    // What is missing counts as a number of the type.
                    let x = if x.is_nan() { missing } else { *x };
                    *to = project::into_range(if whole { libm::rint(x) } else { x }, *range);
                }
            }
            (Values::Numbers(all), Type::Category(_)) => {
                out.iter_mut().zip(all).for_each(|(to, x)| *to = if x.is_nan() { missing } else { *x });
            }
            _ => {
                let read = |row| cell::read(self.cell(row).within_limit(), ty).unwrap_or(missing);
                out.iter_mut().zip(0..).for_each(|(to, row)| *to = read(row));
            }
        }
    }
}

/// The number of the level that a text is, or no number.
pub fn level(text: &[u8], levels: &Levels) -> f64 {
    Cell::Text(text).within_limit().level(levels).unwrap_or(f64::NAN)
}

/// A number as the file has it.
pub enum Exact {
    Whole(i128),
    Float(f32),
    Double(f64),
    Missing,
}

/// Whole numbers and powers of ten up to these are doubles, so that a quotient of both is the double nearest to it.
const WHOLE: u128 = 1 << 53;
const POWERS: u32 = 22;

impl Exact {
    /// The double that the text of the cell stands for.
    fn number(&self, kind: Kind, scratch: &mut String) -> f64 {
        match (self, kind) {
            (Exact::Double(x), _) => *x,
            (Exact::Float(x), _) if !x.is_finite() || x.fract() == 0.0 && x.abs() < 16_777_216.0 => f64::from(*x),
            (Exact::Whole(x), Kind::Decimal(scale)) if scale <= POWERS && x.unsigned_abs() <= WHOLE => *x as f64 / 10u128.pow(scale) as f64,
            (Exact::Whole(x), kind) if !matches!(kind, Kind::Decimal(_)) => i64::try_from(*x).map_or_else(|_| *x as f64, |x| x as f64),
            (Exact::Missing, _) => f64::NAN,
            _ => {
                scratch.clear();
                self.write(kind, scratch);
                scratch.parse().unwrap_or(f64::NAN)
            }
        }
    }

    /// The text of the cell; none if it is missing.
    fn write(&self, kind: Kind, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match (self, kind) {
            (Exact::Whole(x), Kind::Bool) => write!(out, "{}", *x != 0),
            (Exact::Whole(x), Kind::Day) => {
                let day = *x as f64;
                let some = (calendar::FIRST..=calendar::LAST).contains(&day);
                out.write_str(&if some { calendar::text(day) } else { String::new() })
            }
            (Exact::Whole(x), Kind::Decimal(scale)) if scale > 0 => {
                let (sign, scale) = (if *x < 0 { "-" } else { "" }, scale as usize);
                let digits = format!("{:0>1$}", x.unsigned_abs(), scale + 1);
                let (whole, part) = digits.split_at_checked(digits.len() - scale).unwrap_or((&digits, ""));
                write!(out, "{sign}{whole}.{part}")
            }
            (Exact::Whole(x), _) => write!(out, "{x}"),
            (Exact::Float(x), _) => write!(out, "{x}"),
            (Exact::Double(x), _) => write!(out, "{x}"),
            (Exact::Missing, _) => Ok(()),
        };
    }
}
