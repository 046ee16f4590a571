//! Where the columns of a table lie in a row of numbers, and how a record fills that row.

use crate::model::{Column, Range, Table, Type, View};
use crate::numeric::calendar;

use super::batch::{Batch, row_of};
use super::cell::{Cell, Cells};
use super::input::{Input, Use};
use super::{DataError, Source, project};

/// Number of doubles a value takes; texts, records and posteriors take none.
pub fn width(ty: &Type) -> usize {
    let size = |d: u64| usize::try_from(d).unwrap_or(usize::MAX);
    match ty {
        Type::Bool | Type::Int(_) | Type::Real(_) | Type::Category(_) | Type::Date(_) => 1,
        Type::Vector(v) => size(v.dim),
        Type::Matrix { rows, columns, .. } => size(rows.saturating_mul(*columns)),
        Type::Simplex { dim, .. } | Type::Counts { dim, .. } => size(*dim),
        Type::Text | Type::Posterior(_) | Type::Record(_) => 0,
    }
}

/// First slot of every column of a table, in order, and the number of slots.
pub fn offsets(table: &Table) -> (Vec<usize>, usize) {
    let mut next = 0;
    let starts = table
        .columns
        .iter()
        .map(|c| {
            let at = next;
            next += width(&c.ty);
            at
        })
        .collect();
    (starts, next)
}

/// One column of an opened file.
struct Reading {
    /// Where each component is in the input.
    cells: Vec<usize>,
    slot: usize,
    ty: Type,
    /// What a missing or unreadable cell counts as: one value, or one for each component; what the type says if empty.
    missing: Vec<f64>,
    /// Of a column that says something of another one: what, the type of that one, and what its missing cells count as.
    view: Option<(View, Type, Vec<f64>)>,
}

impl Reading {
    /// What counts in place of the cell of this component.
    fn instead(&self, component: usize) -> Option<f64> {
        self.missing.get(component).or(self.missing.first()).copied()
    }

    /// What a view says of the cells of its column.
    fn seen(&self, (view, ty, missing): &(View, Type, Vec<f64>), cells: &impl Cells) -> f64 {
        let cell = |at: &usize| read(cells.cell(*at), ty);
        let day = || self.cells.first().and_then(cell).or(missing.first().copied()).unwrap_or_else(|| default(ty));
        match view {
            View::Missing => f64::from(u8::from(self.cells.iter().any(|at| cell(at).is_none()))),
            View::Year => calendar::year(day()),
            View::Month => calendar::month(day()),
            View::Weekday => calendar::weekday(day()),
        }
    }
}

/// An opened file of a table: its header matched with the program's columns.
pub struct Rows {
    input: Input,
    layout: Layout,
}

/// Where the cells of a row go.
pub struct Layout {
    columns: Vec<Reading>,
    slots: usize,
}

impl Rows {
    /// Reads the header, to go through the file row by row.
    pub fn open(table: &Table, source: Source) -> Result<Rows, DataError> {
        Rows::opened(table, source, |_| Use::Rows)
    }

    /// Reads the header, to go through the file batch by batch: of columns whose slots are not wanted no cell is looked at.
    pub fn batches(table: &Table, source: Source, wanted: impl Fn(&std::ops::Range<usize>) -> bool) -> Result<Rows, DataError> {
        let slots = |at: usize, start: usize| start..start + table.columns.get(at).map_or(0, |c| width(&c.ty));
        let starts = offsets(table).0;
        // Some column must say how many rows there are.
        let first = starts.iter().enumerate().position(|(at, start)| wanted(&slots(at, *start))).unwrap_or(0);
        Rows::opened(table, source, |at| {
            let start = starts.get(at).copied().unwrap_or(0);
            if at == first || wanted(&slots(at, start)) { Use::Batches } else { Use::None }
        })
    }

    fn opened(table: &Table, source: Source, purpose: impl Fn(usize) -> Use) -> Result<Rows, DataError> {
        let mut input = Input::open(source, table)?;
        let (starts, slots) = offsets(table);
        let mut columns = vec![];
        for ((column, slot), at) in table.columns.iter().zip(starts).zip(0..) {
            let view = column.view.and_then(|(of, view)| table.columns.get(of.0).map(|of| (view, of.ty.clone(), of.missing.clone())));
            let ty = view.as_ref().map_or(&column.ty, |(_, ty, _)| ty);
            let purpose = match (purpose(at), &view) {
                // A view asks whether a cell is there.
                (Use::Batches, Some(_)) => Use::Rows,
                (purpose, _) => purpose,
            };
            let cells = column.headers.iter().map(|header| input.column(header, ty, table, purpose)).collect::<Result<_, _>>()?;
            if purpose != Use::None {
                columns.push(Reading { cells, slot, ty: column.ty.clone(), missing: column.missing.clone(), view });
            }
        }
        Ok(Rows { input, layout: Layout { columns, slots } })
    }

    /// The file and the places of its cells.
    pub fn parts(self) -> (Input, Layout) {
        (self.input, self.layout)
    }

    pub fn slots(&self) -> usize {
        self.layout.slots()
    }

    pub fn line_number(&self) -> u64 {
        self.input.line()
    }

    /// Moves to the next record; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        self.input.advance()
    }

    /// The raw bytes of a text column's cell; empty where a short row lacks it.
    pub fn bytes(&self, column: usize) -> &[u8] {
        self.layout.columns.get(column).and_then(|c| c.cells.first()).map_or(&[], |at| self.input.text(*at))
    }

    /// The raw bytes of every declared cell in column order; empty where a short row lacks it.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.layout.columns.iter().flat_map(|c| &c.cells).map(|at| self.input.text(*at))
    }

    /// Fills the row totally: whatever the record holds, every slot gets a value of its column's type.
    pub fn fill(&self, row: &mut [f64]) {
        self.layout.fill(&self.input, row);
    }

    /// Fills the row of a public table; the index of the first column with a bad cell otherwise.
    pub fn fill_checked(&self, row: &mut [f64]) -> Result<(), usize> {
        for (index, column) in self.layout.columns.iter().enumerate() {
            let slots = column.slot..column.slot + width(&column.ty);
            let out = row.get_mut(slots).ok_or(index)?;
            if let (Some(view), [value]) = (&column.view, &mut *out) {
                *value = column.seen(view, &self.input);
                continue;
            }
            for (i, (value, at)) in out.iter_mut().zip(&column.cells).enumerate() {
                let cell = self.input.cell(*at);
                *value = match read(cell, &column.ty) {
                    Some(_) => checked(cell, &column.ty).ok_or(index)?,
                    None => column.instead(i).ok_or(index)?,
                };
            }
            let before: Vec<f64> = out.to_vec();
            settle(out, &column.ty);
            let moved = before.iter().zip(out.iter()).any(|(a, b)| (a - b).abs() > 1e-9 * a.abs());
            if moved {
                return Err(index);
            }
        }
        Ok(())
    }
}

impl Layout {
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many cells of a row must be found, from its first.
    pub fn width(&self) -> usize {
        self.columns.iter().flat_map(|c| &c.cells).map(|at| at + 1).max().unwrap_or(0)
    }

    /// Fills the row totally: whatever the cells hold, every slot gets a value of its column's type.
    pub fn fill(&self, cells: &impl Cells, row: &mut [f64]) {
        for column in &self.columns {
            let slots = column.slot..column.slot + width(&column.ty);
            let Some(out) = row.get_mut(slots) else { continue };
            if let (Some(view), [value]) = (&column.view, &mut *out) {
                *value = column.seen(view, cells);
                continue;
            }
            for (i, (value, at)) in out.iter_mut().zip(&column.cells).enumerate() {
                let found = read(cells.cell(*at), &column.ty);
                *value = found.or_else(|| column.instead(i)).unwrap_or_else(|| default(&column.ty));
            }
            settle(out, &column.ty);
        }
    }

    /// Fills a batch from columns of cells.
    #[cfg(feature = "parquet")]
    pub fn fill_batch(&self, cells: &super::parquet::Decoding, batch: &mut Batch) {
        batch.resize(cells.rows());
        for column in &self.columns {
            if let Some(view) = &column.view {
                let seen = (0..).map(|row| column.seen(view, &cells.row(row)));
                batch.slot_mut(column.slot).unwrap_or(&mut []).iter_mut().zip(seen).for_each(|(x, seen)| *x = seen);
                continue;
            }
            for ((i, at), slot) in column.cells.iter().enumerate().zip(column.slot..column.slot + width(&column.ty)) {
                let missing = column.instead(i).unwrap_or_else(|| default(&column.ty));
                cells.read(*at, &column.ty, missing, batch.slot_mut(slot).unwrap_or(&mut []));
            }
            let (runs, most) = batch.runs(column.slot..column.slot + width(&column.ty));
            settle_all(runs, most, &column.ty);
        }
    }
}

fn counts_range(total: u64) -> Range {
    Range::new(0.0, total as f64)
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

/// What a missing or unreadable cell counts as where the program does not say.
fn default(ty: &Type) -> f64 {
    match ty {
        Type::Category(levels) => levels.len().saturating_sub(1) as f64,
        // The first day, not the one nearest to an arbitrary day 0.
        Type::Date(range) => range.lo,
        Type::Int(range) | Type::Real(range) | Type::Matrix { range, .. } => project::nearest_zero(*range),
        Type::Vector(v) => project::nearest_zero(v.range),
        _ => 0.0,
    }
}

/// A public cell that is exactly of its type.
fn checked(cell: Cell, ty: &Type) -> Option<f64> {
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

/// Is every vector whose components are at most these in magnitude of this type already?
pub fn is_settled(ty: &Type, corner: &[f64]) -> bool {
    match ty {
        Type::Vector(v) => project::lies_within(corner, (v.sup.l1, v.sup.l2)),
        Type::Counts { .. } | Type::Simplex { .. } => false,
        _ => true,
    }
}

/// Brings rows of a type, given as runs of components, into it.
pub fn settle_all(runs: &mut [f64], rows: usize, ty: &Type) {
    let some = match ty {
        Type::Vector(v) if v.sup.l1.is_finite() || v.sup.l2.is_finite() => project::suspects(runs, rows, (v.sup.l1, v.sup.l2)),
        Type::Counts { .. } | Type::Simplex { .. } => (0..rows).collect(),
        _ => return,
    };
    let mut row = vec![];
    for at in some {
        row_of(runs, rows, at, &mut row);
        settle(&mut row, ty);
        runs.iter_mut().skip(at).step_by(rows.max(1)).zip(&row).for_each(|(to, x)| *to = *x);
    }
}

/// Brings a whole vector into its type: norm balls by projection, counts to their total.
pub fn settle(x: &mut [f64], ty: &Type) {
    match ty {
        Type::Vector(v) => {
            // Facts of a box are no smaller than the box, so these projections move nothing there.
            if v.sup.l1.is_finite() {
                project::onto_l1(x, v.sup.l1);
            }
            if v.sup.l2.is_finite() {
                project::onto_l2(x, v.sup.l2);
            }
        }
        Type::Counts { total, fewer, .. } => settle_counts(x, *total, *fewer),
        Type::Simplex { .. } => settle_simplex(x),
        _ => {}
    }
}

/// Counts take, in order, what is left of the total; the last takes the rest, unless there may be fewer.
fn settle_counts(x: &mut [f64], total: u64, fewer: bool) {
    let mut left = total as f64;
    for v in x.iter_mut() {
        *v = v.min(left).max(0.0);
        left -= *v;
    }
    if let (Some(last), false) = (x.last_mut(), fewer) {
        *last += left;
    }
}

/// Probabilities are scaled to sum to one; nothing at all becomes the last category.
fn settle_simplex(x: &mut [f64]) {
    let sum: f64 = x.iter().sum();
    if sum > 0.0 {
        x.iter_mut().for_each(|v| *v /= sum);
    } else if let Some(last) = x.last_mut() {
        *last = 1.0;
    }
}

/// The type of a column that names units, read as bytes or as mapped numbers.
pub fn is_text(column: &Column) -> bool {
    column.ty == Type::Text
}
