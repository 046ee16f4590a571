//! One cell to a value: total for private columns, checked for public ones (language reference, section 2).

use super::project;
use crate::model::{Levels, Range, Type};
use crate::numeric::calendar;

/// Bytes of a cell that are read: public, and the same for every file.
pub const LONGEST_CELL: usize = 1 << 16;

/// What a file holds in one cell: a text, or a number where its format has numbers. Both are read alike: [`Cell::Number`] stands
/// for the shortest decimal that is that double, in a column that is declared as numbers, bools or (a day) dates.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    Text(&'a [u8]),
    /// NaN where the cell is missing.
    Number(f64),
}

/// The cells of one row.
pub trait Cells {
    /// The cell at a place; empty where a short row lacks it.
    fn cell(&self, at: usize) -> Cell<'_>;
}

/// What the cells of a column are wanted for.
#[derive(Clone, Copy, PartialEq)]
pub enum Use {
    /// Nothing: whether they could be read is asked all the same.
    None,
    Rows,
    Batches,
}

/// Blocks of rows, column by column.
pub trait Columns {
    type Row<'a>: Cells
    where
        Self: 'a;

    fn rows(&self) -> usize;

    fn row(&self, at: usize) -> Self::Row<'_>;

    /// Reads the cells at a place as components of a type.
    fn read(&self, place: usize, ty: &Type, missing: f64, out: &mut [f64]);
}

impl<'a> Cell<'a> {
    /// The cell of a short row.
    pub const EMPTY: Cell<'a> = Cell::Text(&[]);

    /// What no column has as a value; as a key of units it is one.
    pub const UNREADABLE: Cell<'a> = Cell::Text(b"\x1a");

    /// The cell, unless it is longer than a public limit: then one without meaning.
    pub fn within_limit(self) -> Cell<'a> {
        match self {
            Cell::Text(text) if text.len() > LONGEST_CELL => Cell::UNREADABLE,
            cell => cell,
        }
    }

    pub fn number(self) -> Option<f64> {
        match self {
            Cell::Text(text) => number(text),
            Cell::Number(x) => Some(x).filter(|x| !x.is_nan()),
        }
    }

    pub fn boolean(self) -> Option<f64> {
        match self {
            Cell::Text(text) => boolean(text),
            Cell::Number(x) => Some(x + 0.0).filter(|x| *x == 1.0 || *x == 0.0),
        }
    }

    pub fn date(self) -> Option<f64> {
        match self {
            Cell::Text(text) => date(text),
            Cell::Number(x) => Some(x).filter(|x| (calendar::FIRST..=calendar::LAST).contains(x)),
        }
    }

    pub fn level(self, levels: &Levels) -> Option<f64> {
        level(self.text(), levels)
    }

    /// Its bytes; a number has none, and no column of levels or texts asks for numbers.
    pub fn text(self) -> &'a [u8] {
        match self {
            Cell::Text(text) => text,
            Cell::Number(_) => &[],
        }
    }
}

/// Words for true and for false, in any case (`model::cells` has the whole table).
const WORDS: [(&[u8], f64); 8] =
    [(b"true", 1.0), (b"yes", 1.0), (b"t", 1.0), (b"y", 1.0), (b"false", 0.0), (b"no", 0.0), (b"f", 0.0), (b"n", 0.0)];

/// A number in one of the spellings of `model::cells`, or an infinity; `None` if it is anything else.
pub fn number(cell: &[u8]) -> Option<f64> {
    let text = cell.trim_ascii();
    short(text).or_else(|| plain(text)).or_else(|| adorned(text))
}

/// Most digits that are a whole number below 2^53 for certain, and the powers of ten up to as many.
const SHORT: usize = 15;
const POWERS: [f64; SHORT + 1] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A short decimal without an exponent: the quotient of two numbers that are doubles is the double nearest to it.
fn short(text: &[u8]) -> Option<f64> {
    let (signed, body) = sign(text);
    let (mut whole, mut point) = (0u64, None);
    if body.len() > SHORT + 1 {
        return None;
    }
    for (at, byte) in body.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let digits = body.len() - usize::from(point.is_some());
    let places = point.map_or(0, |at| body.len() - at - 1);
    let power = POWERS.get(places).filter(|_| (1..=SHORT).contains(&digits))?;
    Some(signed.unwrap_or(1.0) * (whole as f64 / power))
}

/// A sign, or none, and the rest.
fn sign(text: &[u8]) -> (Option<f64>, &[u8]) {
    match text {
        [b'-', rest @ ..] => (Some(-1.0), rest),
        [b'+', rest @ ..] => (Some(1.0), rest),
        _ => (None, text),
    }
}

/// The grammar's decimal syntax with an optional sign, or an infinity; digits may be missing on one side of the point.
fn plain(text: &[u8]) -> Option<f64> {
    let (signed, body) = sign(text);
    let infinite = body.eq_ignore_ascii_case(b"inf") || body.eq_ignore_ascii_case(b"infinity");
    let magnitude = match infinite {
        true => f64::INFINITY,
        false if is_decimal(body) => std::str::from_utf8(body).ok()?.parse().ok()?,
        false => return None,
    };
    Some(signed.unwrap_or(1.0) * magnitude)
}

/// `$1,234.50`, `-£3`, `1,234`, `12%`: no exponent, and a comma only between groups of three digits.
fn adorned(text: &[u8]) -> Option<f64> {
    let (first, body) = sign(text);
    let money = body.strip_prefix(b"$").or(body.strip_prefix("£".as_bytes())).map(<[u8]>::trim_ascii_start);
    let (second, body) = match (first, money) {
        (None, Some(rest)) => sign(rest),
        (_, rest) => (first, rest.unwrap_or(body)),
    };
    let percent = body.strip_suffix(b"%").filter(|_| money.is_none()).map(<[u8]>::trim_ascii_end);
    let mut digits = ungrouped(percent.unwrap_or(body))?;
    // The nearest double to the decimal, not a quotient of two.
    digits.extend_from_slice(if percent.is_some() { b"e-2" } else { b"" });
    let magnitude: f64 = std::str::from_utf8(&digits).ok()?.parse().ok()?;
    Some(second.unwrap_or(1.0) * magnitude)
}

/// Digits without the commas between their groups, with a fraction or without.
fn ungrouped(body: &[u8]) -> Option<Vec<u8>> {
    let at = body.iter().position(|b| *b == b'.').unwrap_or(body.len());
    let (whole, fraction) = body.split_at_checked(at)?;
    let is_digits = |s: &[u8]| s.iter().all(u8::is_ascii_digit);
    let digits: Vec<u8> = whole.iter().copied().filter(|b| *b != b',').collect();
    if digits.len() < whole.len() {
        let mut groups = whole.split(|b| *b == b',');
        // A group that begins with 0 is more likely behind a decimal comma.
        let first = groups.next().is_some_and(|g| (1..=3).contains(&g.len()) && !g.starts_with(b"0"));
        if !first || groups.any(|g| g.len() != 3) {
            return None;
        }
    }
    let rest = fraction.get(1..).unwrap_or(&[]);
    let some = is_digits(&digits) && is_digits(rest) && digits.len() + rest.len() > 0;
    some.then(|| [digits.as_slice(), fraction].concat())
}

/// `digits (. digits)? (e sign? digits)?`, where digits may be missing on one side of the point.
fn is_decimal(body: &[u8]) -> bool {
    let digits = |s: &[u8]| s.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(body);
    let mut rest = body.get(whole..).unwrap_or(&[]);
    let mut part = 0;
    if let [b'.', fraction @ ..] = rest {
        part = digits(fraction);
        rest = fraction.get(part..).unwrap_or(&[]);
    }
    if whole + part == 0 {
        return false;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let (_, exponent) = sign(exponent);
        let n = digits(exponent);
        if n == 0 {
            return false;
        }
        rest = exponent.get(n..).unwrap_or(&[]);
    }
    rest.is_empty()
}

/// 1 or 0; `None` if it is neither a word for one of them nor a number equal to one.
pub fn boolean(cell: &[u8]) -> Option<f64> {
    let text = cell.trim_ascii();
    let word = WORDS.iter().find(|(w, _)| text.eq_ignore_ascii_case(w)).map(|(_, x)| *x);
    word.or_else(|| plain(text).filter(|x| *x == 1.0 || *x == 0.0).map(|x| x + 0.0))
}

/// The number of a day.
pub fn date(cell: &[u8]) -> Option<f64> {
    calendar::parse(cell.trim_ascii())
}

/// Index of the level with exactly this label, or with this label without the blanks around it.
pub fn level(cell: &[u8], levels: &Levels) -> Option<f64> {
    // Labels are often of one length and differ in their last byte.
    let is = |label: &[u8], text: &[u8]| label.len() == text.len() && label.last() == text.last() && label == text;
    let place = |text: &[u8]| levels.iter().position(|l| is(l.as_bytes(), text));
    place(cell).or_else(|| place(cell.trim_ascii())).map(|i| i as f64)
}

/// A cell as one component of a type, moved into it; `None` where it is missing or unreadable.
pub fn read(cell: Cell, ty: &Type) -> Option<f64> {
    let real = |range: Range| cell.number().map(|x| project::into_range(x, range));
    let int = |range: Range| cell.number().map(|x| project::into_range(libm::rint(x), range));
    match ty {
        Type::Bool => cell.boolean(),
        Type::Int(range) => int(*range),
        Type::Real(range) | Type::Matrix { range, .. } => real(*range),
        Type::Category(levels) => cell.level(levels),
        Type::Date(range) => cell.date().map(|x| project::into_range(x, *range)),
        Type::Vector(v) => real(v.range),
        Type::Simplex { .. } => real(Range::UNIT),
        Type::Counts { total, .. } => int(counts_range(*total)),
        Type::Text | Type::Posterior(_) | Type::Record(_) => Some(0.0),
    }
}

/// A public cell that is exactly of its type.
pub fn checked(cell: Cell, ty: &Type) -> Option<f64> {
    let inside = |range: Range| cell.number().filter(|x| x.is_finite() && range.contains(*x));
    let whole = |range: Range| inside(range).filter(|x| libm::rint(*x) == *x);
    match ty {
        Type::Bool => cell.boolean(),
        Type::Int(range) => whole(*range),
        Type::Real(range) => inside(*range),
        Type::Category(levels) => cell.level(levels),
        Type::Date(range) => cell.date().filter(|x| range.contains(*x)),
        Type::Vector(v) => inside(v.range),
        Type::Matrix { range, .. } => inside(*range),
        Type::Simplex { .. } => inside(Range::UNIT),
        Type::Counts { total, .. } => whole(counts_range(*total)),
        Type::Text | Type::Posterior(_) | Type::Record(_) => Some(0.0),
    }
}

fn counts_range(total: u64) -> Range {
    Range::new(0.0, total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cells::READINGS;
    use std::sync::Arc;

    /// The public table says what is read: every cell in it.
    #[test]
    fn cells_are_read_as_the_table_says() {
        let levels: Levels = Arc::new(vec!["north".into(), " west".into(), "other".into()]);
        for reading in READINGS {
            for (cell, value) in reading.cells {
                let found = match reading.ty {
                    "date" => date(cell.as_bytes()),
                    "bool" => boolean(cell.as_bytes()),
                    "category {north, \" west\", other}" => level(cell.as_bytes(), &levels),
                    _ => number(cell.as_bytes()),
                };
                assert_eq!(found, *value, "{cell:?} as {}", reading.ty);
            }
        }
    }

    /// What is read of a number is the double nearest to its decimal, and blanks around a cell change nothing.
    #[test]
    fn spellings_of_one_number_are_one_number() {
        for x in [0.0, 0.07, 12.0, 999.0, 1000.0, 1234.5, 65_536.0, 1_234_567.875, 999_999_999.0] {
            let (whole, part) = (f64::trunc(x) as u64, format!("{x}"));
            let part = part.split_once('.').map_or(String::new(), |(_, p)| format!(".{p}"));
            let mut grouped = String::new();
            for (i, c) in whole.to_string().chars().rev().enumerate() {
                grouped.insert_str(0, if i > 0 && i % 3 == 0 { "," } else { "" });
                grouped.insert(0, c);
            }
            let percent: f64 = format!("{whole}{part}e-2").parse().unwrap();
            for (spelling, value) in [
                (format!("{whole}{part}"), x),
                (format!("{grouped}{part}"), x),
                (format!("${grouped}{part}"), x),
                (format!("£ {whole}{part}"), x),
                (format!("{whole}{part}%"), percent),
                (format!("{grouped}{part} %"), percent),
            ] {
                for text in [spelling.clone(), format!(" +{spelling}\t")] {
                    assert_eq!(number(text.as_bytes()), Some(value), "{text}");
                }
                assert_eq!(number(format!("-{spelling}").as_bytes()), Some(-value), "-{spelling}");
                assert_eq!(number(format!("--{spelling}").as_bytes()), None);
            }
        }
    }
}
