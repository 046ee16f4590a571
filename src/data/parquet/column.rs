//! One total map for every type of column: the cells that CSV would have, as texts or as the numbers that those texts stand for.

use std::fmt::Write;

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType, DoubleType};
use ::parquet::schema::types::ColumnDescriptor;

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

/// Most digits of a decimal, and bytes that they take.
const DIGITS: i32 = 38;
const BYTES: i32 = 16;

impl Kind {
    pub fn of(column: &ColumnDescriptor) -> Result<Kind, Misfit> {
        let physical = column.physical_type();
        let whole = matches!(physical, Physical::INT32 | Physical::INT64);
        let kind = match column.logical_type_ref() {
            None => return Kind::converted(column),
            Some(LogicalType::String | LogicalType::Enum) if physical == Physical::BYTE_ARRAY => Kind::Text,
            Some(LogicalType::Integer(int)) if whole => Kind::whole(int.is_signed),
            Some(LogicalType::Decimal(decimal)) => return decimal_of(column, decimal.precision, decimal.scale),
            Some(LogicalType::Date) if physical == Physical::INT32 => Kind::Day,
            Some(LogicalType::Unknown) => Kind::Null,
            Some(LogicalType::Time(_) | LogicalType::Timestamp(_)) => return Err(Misfit::Times),
            Some(_) => return Err(Misfit::Binary),
        };
        Ok(kind)
    }

    /// What older files say instead of a logical type.
    fn converted(column: &ColumnDescriptor) -> Result<Kind, Misfit> {
        use ConvertedType::*;
        let physical = column.physical_type();
        let whole = matches!(physical, Physical::INT32 | Physical::INT64);
        match (column.converted_type(), physical) {
            (NONE, Physical::BOOLEAN) => Ok(Kind::Bool),
            (NONE | INT_8 | INT_16 | INT_32 | INT_64, _) if whole => Ok(Kind::Signed),
            (UINT_8 | UINT_16 | UINT_32 | UINT_64, _) if whole => Ok(Kind::Unsigned),
            (NONE, Physical::FLOAT) => Ok(Kind::Float),
            (NONE, Physical::DOUBLE) => Ok(Kind::Double),
            (NONE | UTF8 | ENUM, Physical::BYTE_ARRAY) => Ok(Kind::Text),
            (DECIMAL, _) => decimal_of(column, column.type_precision(), column.type_scale()),
            (DATE, Physical::INT32) => Ok(Kind::Day),
            (NONE, Physical::INT96) | (TIME_MILLIS | TIME_MICROS | TIMESTAMP_MILLIS | TIMESTAMP_MICROS, _) => Err(Misfit::Times),
            _ => Err(Misfit::Binary),
        }
    }

    fn whole(signed: bool) -> Kind {
        if signed { Kind::Signed } else { Kind::Unsigned }
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

fn decimal_of(column: &ColumnDescriptor, precision: i32, scale: i32) -> Result<Kind, Misfit> {
    let bytes = match column.physical_type() {
        Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY => true,
        Physical::FIXED_LEN_BYTE_ARRAY => (1..=BYTES).contains(&column.type_length()),
        _ => false,
    };
    let scale = u32::try_from(scale).ok().filter(|_| bytes && precision <= DIGITS && scale <= precision);
    scale.map(Kind::Decimal).ok_or(Misfit::Binary)
}

/// Cells of a block.
pub enum Values {
    /// None is there.
    Missing,
    Numbers(Vec<f64>),
    /// Parts of the pages that they were in: a long text of a dictionary is there once.
    Texts(Vec<Option<ByteArray>>),
    /// Texts of numbers, one after the other, with their ends.
    Written(Vec<u8>, Vec<usize>),
}

impl Values {
    pub fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Numbers(all) => Cell::Number(all.get(row).copied().unwrap_or(f64::NAN)),
            Values::Texts(all) => all.get(row).and_then(Option::as_ref).map_or(Cell::EMPTY, |text| Cell::Text(text.data())),
            Values::Written(text, ends) => {
                let start = row.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
                let range = start.zip(ends.get(row)).and_then(|(start, end)| text.get(start..*end));
                range.map_or(Cell::EMPTY, Cell::Text)
            }
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

    /// The next rows of a column; `None` if it has not so many.
    pub fn read(reader: &mut ColumnReader, kind: Kind, form: &Form, rows: usize) -> Option<Values> {
        use ColumnReader::*;
        match (reader, kind) {
            (Int32ColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            (Int64ColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            (BoolColumnReader(r), Kind::Bool) => read(r, rows, form, |x| Exact::Whole(i128::from(*x)), kind),
            (Int32ColumnReader(r), Kind::Unsigned) => read(r, rows, form, |x| Exact::Whole(x.cast_unsigned().into()), kind),
            (Int64ColumnReader(r), Kind::Unsigned) => read(r, rows, form, |x| Exact::Whole(x.cast_unsigned().into()), kind),
            (Int32ColumnReader(r), _) => read(r, rows, form, |x| Exact::Whole((*x).into()), kind),
            (Int64ColumnReader(r), _) => read(r, rows, form, |x| Exact::Whole((*x).into()), kind),
            (FloatColumnReader(r), Kind::Float) => read(r, rows, form, |x| Exact::Float(*x), kind),
            (DoubleColumnReader(r), Kind::Double | Kind::Text) if *form != Form::Text => doubles(r, rows),
            (DoubleColumnReader(r), Kind::Double) => read(r, rows, form, |x| Exact::Double(*x), kind),
            (FixedLenByteArrayColumnReader(r), Kind::Decimal(_)) => read(r, rows, form, |x| big(x.data()), kind),
            (ByteArrayColumnReader(r), Kind::Decimal(_)) => read(r, rows, form, |x| big(x.data()), kind),
            (ByteArrayColumnReader(r), Kind::Text) => {
                let mut texts = vec![];
                spread(r, rows, |text| texts.push(text.cloned()))?;
                Some(Values::Texts(texts))
            }
            // Of a column without cells, only how many.
            (BoolColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            (FloatColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            (DoubleColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            (ByteArrayColumnReader(r), Kind::Null) => spread(r, rows, |_| ()).map(|()| Values::Missing),
            _ => None,
        }
    }
}

/// A number as the file has it.
enum Exact {
    Whole(i128),
    Float(f32),
    Double(f64),
    Missing,
}

/// Shows every cell of the next rows.
fn spread<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize, mut see: impl FnMut(Option<&T::T>)) -> Option<()> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), vec![]);
    let (records, found, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).ok()?;
    if records != rows || found != values.len() {
        return None;
    }
    let mut values = values.iter();
    if levels.is_empty() || found == rows {
        values.for_each(|x| see(Some(x)));
    } else {
        levels.iter().for_each(|level| see(if *level == 0 { None } else { values.next() }));
    }
    Some(())
}

/// Numbers that need no map.
fn doubles(reader: &mut ColumnReaderImpl<DoubleType>, rows: usize) -> Option<Values> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), vec![]);
    let (records, found, _) = reader.read_records(rows, Some(&mut levels), None, &mut values).ok()?;
    if records != rows || found != values.len() {
        return None;
    }
    if found < rows {
        let mut some = values.into_iter();
        values = levels.iter().map(|level| if *level == 0 { None } else { some.next() }.unwrap_or(f64::NAN)).collect();
    }
    (values.len() == rows).then_some(Values::Numbers(values))
}

fn read<T: DataType>(r: &mut ColumnReaderImpl<T>, rows: usize, form: &Form, exact: impl Fn(&T::T) -> Exact, kind: Kind) -> Option<Values> {
    let exact = |x: Option<&T::T>| x.map_or(Exact::Missing, &exact);
    match form {
        Form::Number | Form::Levels(_) => {
            let (mut numbers, mut scratch) = (Vec::with_capacity(rows), String::new());
            spread(r, rows, |x| numbers.push(exact(x).number(kind, &mut scratch)))?;
            Some(Values::Numbers(numbers))
        }
        Form::Text => {
            let (mut text, mut ends) = (String::new(), Vec::with_capacity(rows));
            spread(r, rows, |x| {
                exact(x).write(kind, &mut text);
                ends.push(text.len());
            })?;
            Some(Values::Written(text.into_bytes(), ends))
        }
    }
}

/// Two's complement, the first byte first; nothing if it has more digits than any decimal.
fn big(bytes: &[u8]) -> Exact {
    let negative = bytes.first().is_some_and(|b| *b > 0x7f);
    let fill = if negative { 0xff } else { 0 };
    let (more, last) = bytes.split_at_checked(bytes.len().saturating_sub(16)).unwrap_or((&[], bytes));
    let mut all = [fill; 16];
    all.iter_mut().rev().zip(last.iter().rev()).for_each(|(to, from)| *to = *from);
    let value = i128::from_be_bytes(all);
    let fits = more.iter().all(|b| *b == fill) && (value < 0) == negative;
    if fits { Exact::Whole(value) } else { Exact::Missing }
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
