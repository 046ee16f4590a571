//! Columns of Parquet: what they hold by the schema, and their next rows by the decoders of the crate.

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::schema::types::ColumnDescriptor;

use crate::data::columnar::values::{Exact, Form, Kind, Values};
use crate::data::format::Misfit;

/// Most bytes of a decimal.
const BYTES: i32 = 16;

pub fn kind(column: &ColumnDescriptor) -> Result<Kind, Misfit> {
    let physical = column.physical_type();
    let whole = matches!(physical, Physical::INT32 | Physical::INT64);
    let kind = match column.logical_type_ref() {
        None => return converted(column),
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

fn decimal_of(column: &ColumnDescriptor, precision: i32, scale: i32) -> Result<Kind, Misfit> {
    match column.physical_type() {
        Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY => Kind::decimal(precision, scale),
        Physical::FIXED_LEN_BYTE_ARRAY if (1..=BYTES).contains(&column.type_length()) => Kind::decimal(precision, scale),
        _ => Err(Misfit::Binary),
    }
}

/// The next rows of a column; `None` if it has not so many.
pub fn read(reader: &mut ColumnReader, kind: Kind, form: &Form, rows: usize) -> Option<Values> {
    use ColumnReader::*;
    match (reader, kind) {
        // Of a column without cells, only how many.
        (Int32ColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (Int64ColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (BoolColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (FloatColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (DoubleColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (ByteArrayColumnReader(r), Kind::Null) => found(r, rows).map(|_| Values::Missing),
        (BoolColumnReader(r), Kind::Bool) => numbers(r, rows, form, |x| Exact::Whole(i128::from(*x)), kind),
        (Int32ColumnReader(r), Kind::Unsigned) => numbers(r, rows, form, |x| Exact::Whole(x.cast_unsigned().into()), kind),
        (Int64ColumnReader(r), Kind::Unsigned) => numbers(r, rows, form, |x| Exact::Whole(x.cast_unsigned().into()), kind),
        (Int32ColumnReader(r), _) => numbers(r, rows, form, |x| Exact::Whole((*x).into()), kind),
        (Int64ColumnReader(r), _) => numbers(r, rows, form, |x| Exact::Whole((*x).into()), kind),
        (FloatColumnReader(r), Kind::Float) => numbers(r, rows, form, |x| Exact::Float(*x), kind),
        (DoubleColumnReader(r), Kind::Double | Kind::Text) if *form != Form::Text => found(r, rows).map(doubles),
        (DoubleColumnReader(r), Kind::Double) => numbers(r, rows, form, |x| Exact::Double(*x), kind),
        (FixedLenByteArrayColumnReader(r), Kind::Decimal(_)) => numbers(r, rows, form, |x| big(x.data()), kind),
        (ByteArrayColumnReader(r), Kind::Decimal(_)) => numbers(r, rows, form, |x| big(x.data()), kind),
        (ByteArrayColumnReader(r), Kind::Text) => found(r, rows).map(|cells| Values::Texts(cells.optional())),
        _ => None,
    }
}

/// Cells of some rows: all of them, or those that are there and, of every row, whether it has one.
enum Found<T> {
    All(Vec<T>),
    Some(Vec<T>, Vec<i16>),
}

impl<T> Found<T> {
    fn optional(self) -> Vec<Option<T>> {
        match self {
            Found::All(cells) => cells.into_iter().map(Some).collect(),
            Found::Some(cells, levels) => {
                let mut cells = cells.into_iter();
                levels.iter().map(|level| if *level == 0 { None } else { cells.next() }).collect()
            }
        }
    }
}

fn found<T: DataType>(reader: &mut ColumnReaderImpl<T>, rows: usize) -> Option<Found<T::T>> {
    let (mut cells, mut levels) = (Vec::with_capacity(rows), vec![]);
    let (records, found, _) = reader.read_records(rows, Some(&mut levels), None, &mut cells).ok()?;
    match records == rows && found == cells.len() {
        true if found == rows => Some(Found::All(cells)),
        true if levels.len() == rows => Some(Found::Some(cells, levels)),
        _ => None,
    }
}

/// Numbers that need no map.
fn doubles(cells: Found<f64>) -> Values {
    Values::Numbers(match cells {
        Found::All(cells) => cells,
        some => some.optional().into_iter().map(|x| x.unwrap_or(f64::NAN)).collect(),
    })
}

fn numbers<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    form: &Form,
    exact: impl Fn(&T::T) -> Exact,
    kind: Kind,
) -> Option<Values> {
    Some(match found(reader, rows)? {
        Found::All(cells) => Values::of(cells.iter().map(exact), kind, form),
        Found::Some(cells, levels) => {
            let mut cells = cells.iter();
            let next = |level: &i16| if *level == 0 { None } else { cells.next() };
            Values::of(levels.iter().map(next).map(|x| x.map_or(Exact::Missing, &exact)), kind, form)
        }
    })
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
