//! Where the columns of a table lie in a row of numbers, and how cells fill that row.

use super::batch::{Batch, row_of};
use super::cell::{Cells, Columns, checked, read};
use super::project;
use crate::model::{Column, Table, Type, View};
use crate::numeric::calendar;

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
pub struct Reading {
    /// Where each component is in the input.
    pub cells: Vec<usize>,
    pub slot: usize,
    pub ty: Type,
    /// What a missing or unreadable cell counts as: one value, or one for each component; what the type says if empty.
    pub missing: Vec<f64>,
    /// Of a column that says something of another one: what, the type of that one, and what its missing cells count as.
    pub view: Option<(View, Type, Vec<f64>)>,
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

/// Where the cells of a row go.
pub struct Layout {
    pub columns: Vec<Reading>,
    pub slots: usize,
    /// Where a text is that batches keep: that of a row's unit.
    pub text: Option<usize>,
}

impl Layout {
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many cells of a row must be found, from its first.
    pub fn width(&self) -> usize {
        self.columns.iter().flat_map(|c| &c.cells).chain(&self.text).map(|at| at + 1).max().unwrap_or(0)
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

    /// Fills the row of a public table; the index of the first column with a bad cell otherwise.
    pub fn fill_checked(&self, cells: &impl Cells, row: &mut [f64]) -> Result<(), usize> {
        for (index, column) in self.columns.iter().enumerate() {
            let slots = column.slot..column.slot + width(&column.ty);
            let out = row.get_mut(slots).ok_or(index)?;
            if let (Some(view), [value]) = (&column.view, &mut *out) {
                *value = column.seen(view, cells);
                continue;
            }
            for (i, (value, at)) in out.iter_mut().zip(&column.cells).enumerate() {
                let cell = cells.cell(*at);
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

    /// Fills a batch from columns of cells.
    pub fn fill_batch(&self, cells: &impl Columns, batch: &mut Batch) {
        batch.resize(cells.rows());
        if let Some(at) = self.text {
            (0..cells.rows()).for_each(|row| batch.push_text(cells.row(row).cell(at).text()));
        }
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
