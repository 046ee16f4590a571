//! Queries whose results are the exact statistics of a program, as integers, for engines that count where the rows are.
//!
//! A sum is that of `q - first`, q the place of a value on the public grid of its type (`data::statistic`), in parts of 20 binary
//! digits, so that no engine's sums can overflow: `total = low + 2^20 mid + 2^40 high + n first`, in units of the grid.

mod dialect;
mod request;
mod row;

pub use dialect::Dialect;
pub use request::{Request, Streamed};

use crate::data::layout::width;
use crate::data::statistic::Quantizer;
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{ColumnId, Type};
use row::Rows;
use sha2::{Digest, Sha256};

/// What a release counts.
pub struct Counted {
    pub name: String,
    /// The key column of its `each`.
    pub group: Option<ColumnId>,
    pub statistics: Vec<Statistic>,
}

/// The select of one statistic, and what its integers mean.
pub struct Select {
    pub query: String,
    /// Exponent of the grid, and its first point; none of a table of counts.
    pub grid: Option<(i32, i64)>,
    /// Cells of a table of counts.
    pub cells: Option<u64>,
}

/// One query of all selects, and the column that its answers alone have: its name is a digest of their text.
pub fn united<'a>(selects: impl Iterator<Item = &'a Select>) -> (String, String) {
    let all = selects.map(|s| s.query.as_str()).collect::<Vec<_>>().join("\nUNION ALL\n");
    let digest = Sha256::digest(all.as_bytes());
    let mark = digest.iter().take(8).fold("dpm_".to_owned(), |mark, byte| mark + &format!("{byte:02x}"));
    (format!("SELECT dpm_all.*, 0 AS {mark} FROM (\n{all}\n) AS dpm_all;\n"), mark)
}

/// One select for every statistic; for the number of rows alone, if there is none.
pub fn selects(request: &Request, counted: &Counted) -> Result<Vec<Select>, Streamed> {
    if request.table.unit.is_some() && request.table.order.is_none() {
        return Err(Streamed::Units);
    }
    if counted.statistics.is_empty() {
        return Ok(vec![select(request, counted, 0, None)?]);
    }
    counted.statistics.iter().enumerate().map(|(part, statistic)| select(request, counted, part, Some(statistic))).collect()
}

fn select(request: &Request, counted: &Counted, part: usize, statistic: Option<&Statistic>) -> Result<Select, Streamed> {
    let d = request.dialect;
    let mut rows = Rows::new(request);
    let level = counted.group.map(|key| rows.column(key)).transpose()?;
    let level = level.map(|level| rows.name(level));
    let kept = rows.kept()?;
    let (mut cell, mut parts, mut grid, mut cells) = (None, ["0", "0", "0"].map(str::to_owned), None, None);
    match statistic.map(|s| &s.kind) {
        None => {}
        Some(StatisticKind::Levels { value, first, dim }) => {
            cells = Some(*dim);
            let mut place = rows.number(value)?;
            place.text = format!("({} - {})", place.text, d.whole((*first).into()));
            cell = Some(rows.name(place));
        }
        Some(StatisticKind::Sum(value)) if width(&value.ty) == 1 => {
            let quantizer = Quantizer::new(&value.ty).map_err(|_| Streamed::Infinite)?;
            let (lo, hi) = quantizer.ends();
            let number = rows.number(value)?;
            let mut place = match value.ty {
                Type::Bool | Type::Int(_) if number.real => return Err(Streamed::Function),
                Type::Bool | Type::Int(_) => number,
                _ => {
                    let x = rows.real(number);
                    let x = rows.name(x);
                    let scaled = rows.scaled(x, quantizer.exponent());
                    rows.placed(scaled, lo, hi)
                }
            };
            place.text = format!("({} - {})", place.text, d.whole(lo.into()));
            parts = sums(d, &rows.name(place).text, hi.abs_diff(lo));
            grid = Some((quantizer.exponent(), lo));
        }
        Some(StatisticKind::Moments { .. }) => return Err(Streamed::Moments),
        Some(StatisticKind::Sum(_)) => return Err(Streamed::Vector),
        Some(StatisticKind::Rows { .. } | StatisticKind::Columns(_)) => return Err(Streamed::Rows),
    }
    let of = |x: &Option<row::Number>| x.as_ref().map_or_else(|| "0".to_owned(), |x| x.text.clone());
    let keys: Vec<String> = level.iter().chain(&cell).map(|x| x.text.clone()).collect();
    let by = if keys.is_empty() { String::new() } else { format!("\nGROUP BY {}", keys.join(", ")) };
    let [low, mid, high] = parts;
    let query = format!(
        "SELECT {} AS name, {part} AS part, {} AS group_level, {} AS cell, count(*) AS n,\n  {low} AS low, {mid} AS mid, {high} AS high\nFROM (\n{}\n) AS dpm{kept}{by}",
        d.text(&counted.name),
        of(&level),
        of(&cell),
        rows.select()
    );
    Ok(Select { query, grid, cells })
}

/// Sums of a whole number from 0 to `most`, which fit 63 bits each for fewer than 2^34 rows; a wider type would reach many clients as a double.
fn sums(d: Dialect, x: &str, most: u64) -> [String; 3] {
    let sum = |of: String| d.to_whole(&format!("coalesce(sum({of}), 0)"));
    let (mid, high) = (d.shifted(x, 20), d.shifted(x, 40));
    let last = |x: &str| format!("({x} & 1048575)");
    match u64::BITS - most.leading_zeros() {
        0..=28 => [sum(x.to_owned()), "0".into(), "0".into()],
        29..=48 => [sum(last(x)), sum(mid), "0".into()],
        _ => [sum(last(x)), sum(last(&mid)), sum(high)],
    }
}
