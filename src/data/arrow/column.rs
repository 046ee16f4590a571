//! One column of some rows of a batch: its buffers, and the cells that they hold.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::data_type::ByteArray;

use super::batch::Body;
use super::schema::{Index, Storage};
use crate::data::columnar::values::{Exact, Form, Kind, Values, level};
use crate::data::columnar::{Reader, Wanted};

/// The cells of a dictionary, and how many there are.
pub struct Dictionary {
    pub values: Arc<Values>,
    pub length: usize,
}

/// What the cells of a column are.
pub enum Cells {
    Stored(Storage),
    Of(Arc<Dictionary>, Index),
}

/// Where the cells are.
enum Held {
    Nothing,
    Bits(Vec<u8>),
    Fixed(Storage, Vec<u8>),
    /// Ends of so many bytes each, the first of them, and the texts from there.
    Texts(usize, Vec<u8>, u64, ByteArray),
    /// Short texts or places, and the parts of further buffers that these lie in, with their starts.
    Views(ByteArray, Vec<(u64, ByteArray)>),
    Chosen(Arc<Dictionary>, Index, Vec<u8>),
}

/// The column, and the row that it is at.
pub struct Column {
    kind: Kind,
    form: Form,
    held: Held,
    /// A bit for every row that has a cell, unless all have.
    some: Option<Vec<u8>>,
    at: usize,
    rows: usize,
}

fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// The longest text that fits into its view.
const SHORT: usize = 12;

impl Column {
    /// Reads the buffers as far as the rows from `from` on need them.
    pub fn new(
        body: &Body,
        (missing, buffers): (u64, &[[u8; 16]]),
        cells: Cells,
        wanted: &Wanted,
        (from, rows): (u64, u64),
    ) -> Option<Column> {
        let mut buffers = buffers.iter();
        // Bits of the rows; the first is the first of its byte.
        let bits = |buffer| body.bytes(buffer, from / 8..(from + rows).div_ceil(8));
        let fixed = |buffer, size: u64| body.bytes(buffer, from.checked_mul(size)?..(from + rows).checked_mul(size)?);
        let some = match cells {
            Cells::Stored(Storage::Nothing) => None,
            _ => buffers.next().filter(|_| missing > 0).map_or(Some(None), |buffer| bits(buffer).map(Some))?,
        };
        let held = match cells {
            Cells::Stored(Storage::Nothing) => Held::Nothing,
            Cells::Stored(Storage::Bits) => Held::Bits(bits(buffers.next()?)?),
            Cells::Stored(Storage::Texts(size)) if rows > 0 => {
                let bytes = size as u64;
                let ends = body.bytes(buffers.next()?, from.checked_mul(bytes)?..(from + rows + 1).checked_mul(bytes)?)?;
                let (first, last) = (end(&ends, size, 0)?, end(&ends, size, usize::try_from(rows).ok()?)?);
                Held::Texts(size, ends, first, body.bytes(buffers.next()?, first..last)?.into())
            }
            Cells::Stored(Storage::Texts(_)) => Held::Texts(4, vec![], 0, vec![].into()),
            Cells::Stored(Storage::Views) => {
                let views = fixed(buffers.next()?, 16)?;
                let parts = parts(&views, some.as_deref(), buffers.len())?;
                let part = |(buffer, range): (_, Range<u64>)| Some((range.start, body.bytes(buffer, range)?.into()));
                Held::Views(views.into(), buffers.zip(parts).map(part).collect::<Option<_>>()?)
            }
            Cells::Stored(storage) => Held::Fixed(storage, fixed(buffers.next()?, storage.bytes())?),
            Cells::Of(dictionary, index) => Held::Chosen(dictionary, index, fixed(buffers.next()?, index.bytes as u64)?),
        };
        Some(Column { kind: wanted.kind, form: wanted.form.clone(), held, some, at: 0, rows: usize::try_from(rows).ok()? })
    }

    fn has(&self, row: usize) -> bool {
        self.some.as_ref().is_none_or(|bits| bit(bits, row))
    }

    /// Numbers of a fixed size.
    fn fixed<const N: usize>(&self, all: &[u8], rows: Range<usize>, exact: impl Fn([u8; N]) -> Exact) -> Option<Values> {
        let cells = all.as_chunks().0.get(rows.clone())?;
        Some(match &self.some {
            None => Values::of(cells.iter().map(|cell| exact(*cell)), self.kind, &self.form),
            Some(bits) => {
                let exact = |(cell, row): (&[u8; N], _)| if bit(bits, row) { exact(*cell) } else { Exact::Missing };
                Values::of(cells.iter().zip(rows).map(exact), self.kind, &self.form)
            }
        })
    }

    /// Texts that lie in a part of some bytes.
    fn texts<'a>(&self, mut rows: Range<usize>, text: impl Fn(usize) -> Option<(&'a ByteArray, Range<usize>)>) -> Option<Values> {
        if let Form::Levels(all) = &self.form {
            let number = |row| {
                if !self.has(row) {
                    return Some(f64::NAN);
                }
                let (bytes, range) = text(row)?;
                Some(level(bytes.data().get(range)?, all))
            };
            return Some(Values::Numbers(rows.map(number).collect::<Option<_>>()?));
        }
        let mut texts = Vec::with_capacity(rows.len());
        rows.try_for_each(|row| {
            let found = if self.has(row) { Some(text(row)?) } else { None };
            texts.push(found.map(|(bytes, range)| bytes.slice(range.start, range.len())));
            Some(())
        })?;
        Some(Values::Texts(texts))
    }

    /// Cells of a dictionary.
    fn chosen<const N: usize>(
        &self,
        dictionary: &Dictionary,
        all: &[u8],
        rows: Range<usize>,
        number: impl Fn([u8; N]) -> Option<usize>,
    ) -> Option<Values> {
        let cells = all.as_chunks().0.get(rows.clone())?.iter().zip(rows);
        let place = |(cell, row): (&[u8; N], _)| {
            if self.has(row) { number(*cell).filter(|at| *at < dictionary.length).map(Some) } else { Some(None) }
        };
        let places = cells.map(place);
        Some(match dictionary.values.as_ref() {
            Values::Numbers(all) => {
                let number = |at: Option<usize>| at.and_then(|at| all.get(at)).copied().unwrap_or(f64::NAN);
                Values::Numbers(places.map(|at| at.map(number)).collect::<Option<_>>()?)
            }
            _ => Values::Chosen(dictionary.values.clone(), places.collect::<Option<_>>()?),
        })
    }
}

impl Reader for Column {
    fn read(&mut self, rows: usize) -> Option<Values> {
        let to = self.at.checked_add(rows).filter(|to| *to <= self.rows)?;
        let rows = self.at..to;
        self.at = to;
        let unsigned = self.kind == Kind::Unsigned;
        let whole = |x: i64| Exact::Whole(x.into());
        match &self.held {
            Held::Nothing => Some(Values::Missing),
            Held::Bits(all) => {
                let exact = |row| if self.has(row) { Exact::Whole(bit(all, row).into()) } else { Exact::Missing };
                Some(Values::of(rows.map(exact), self.kind, &self.form))
            }
            Held::Fixed(storage, all) => match (storage, unsigned) {
                (Storage::Whole(1), true) => self.fixed(all, rows, |x| whole(u8::from_le_bytes(x).into())),
                (Storage::Whole(2), true) => self.fixed(all, rows, |x| whole(u16::from_le_bytes(x).into())),
                (Storage::Whole(4), true) => self.fixed(all, rows, |x| whole(u32::from_le_bytes(x).into())),
                (Storage::Whole(8), true) => self.fixed(all, rows, |x| Exact::Whole(u64::from_le_bytes(x).into())),
                (Storage::Whole(1), _) => self.fixed(all, rows, |x| whole(i8::from_le_bytes(x).into())),
                (Storage::Whole(2), _) => self.fixed(all, rows, |x| whole(i16::from_le_bytes(x).into())),
                (Storage::Whole(4), _) => self.fixed(all, rows, |x| whole(i32::from_le_bytes(x).into())),
                (Storage::Whole(8), _) => self.fixed(all, rows, |x| whole(i64::from_le_bytes(x))),
                (Storage::Whole(16), _) => self.fixed(all, rows, |x| Exact::Whole(i128::from_le_bytes(x))),
                (Storage::Half, _) => self.fixed(all, rows, |x| Exact::Double(half(u16::from_le_bytes(x)))),
                (Storage::Single, _) => self.fixed(all, rows, |x| Exact::Float(f32::from_le_bytes(x))),
                (Storage::Double, _) => self.fixed(all, rows, |x| Exact::Double(f64::from_le_bytes(x))),
                (Storage::Milliseconds, _) => self.fixed(all, rows, |x| whole(i64::from_le_bytes(x).div_euclid(DAY))),
                _ => None,
            },
            Held::Texts(size, ends, first, all) => self.texts(rows, |row| {
                let [start, end] = [row, row + 1].map(|at| end(ends, *size, at)?.checked_sub(*first).and_then(|x| usize::try_from(x).ok()));
                let range = start?..end?;
                (range.start <= range.end && range.end <= all.len()).then_some((all, range))
            }),
            Held::Views(views, parts) => self.texts(rows, |row| {
                let view = views.data().as_chunks().0.get(row)?;
                Some(match place(view)? {
                    Err(length) => (views, 16 * row + 4..16 * row + 4 + length),
                    Ok((buffer, range)) => {
                        let (first, all) = parts.get(buffer)?;
                        let [start, end] = [range.start, range.end].map(|x| usize::try_from(x.checked_sub(*first)?).ok());
                        (all, start?..end.filter(|end| *end <= all.len())?)
                    }
                })
            }),
            Held::Chosen(dictionary, index, all) => match (index.bytes, index.signed) {
                (1, true) => self.chosen(dictionary, all, rows, |x| usize::try_from(i8::from_le_bytes(x)).ok()),
                (2, true) => self.chosen(dictionary, all, rows, |x| usize::try_from(i16::from_le_bytes(x)).ok()),
                (4, true) => self.chosen(dictionary, all, rows, |x| usize::try_from(i32::from_le_bytes(x)).ok()),
                (1, false) => self.chosen(dictionary, all, rows, |x| Some(u8::from_le_bytes(x).into())),
                (2, false) => self.chosen(dictionary, all, rows, |x| Some(u16::from_le_bytes(x).into())),
                (4, false) => self.chosen(dictionary, all, rows, |x| usize::try_from(u32::from_le_bytes(x)).ok()),
                // No dictionary has so many that the sign matters.
                _ => self.chosen(dictionary, all, rows, |x| usize::try_from(i64::from_le_bytes(x)).ok()),
            },
        }
    }
}

/// The end of the text before the one with this number.
fn end(ends: &[u8], size: usize, at: usize) -> Option<u64> {
    let end = ends.get(size.checked_mul(at)?..)?;
    if size == 8 {
        u64::try_from(i64::from_le_bytes(*end.first_chunk()?)).ok()
    } else {
        u64::try_from(i32::from_le_bytes(*end.first_chunk()?)).ok()
    }
}

/// Where a text lies: in a further buffer, or, being so short, in the view.
fn place(view: &[u8; 16]) -> Option<Result<(usize, Range<u64>), usize>> {
    let number = |at: usize| u32::try_from(i32::from_le_bytes(*view.get(at..)?.first_chunk()?)).ok();
    let length = number(0)?;
    if length as usize <= SHORT {
        return Some(Err(length as usize));
    }
    let start = u64::from(number(12)?);
    Some(Ok((number(8)? as usize, start..start + u64::from(length))))
}

/// Which part of every further buffer the texts lie in.
fn parts(views: &[u8], some: Option<&[u8]>, buffers: usize) -> Option<Vec<Range<u64>>> {
    let mut parts: Vec<Option<Range<u64>>> = vec![None; buffers];
    for (view, row) in views.as_chunks().0.iter().zip(0..) {
        if some.is_some_and(|bits| !bit(bits, row)) {
            continue;
        }
        if let Ok((buffer, range)) = place(view)? {
            let part = parts.get_mut(buffer)?;
            *part = Some(part.take().map_or(range.clone(), |part| part.start.min(range.start)..part.end.max(range.end)));
        }
    }
    Some(parts.into_iter().map(Option::unwrap_or_default).collect())
}

/// A number of five bits of exponent and ten of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => libm::ldexp(fraction, -24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(1024.0 + fraction, exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_exact() {
        for (bits, x) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x3555, 0.333_251_953_125),
            (0xfc00, -f64::INFINITY),
        ] {
            assert_eq!(half(bits), x);
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
    }
}
