//! Runs a compiled row expression on the rows of a batch: a stack of runs of doubles, total whatever the rows hold.

use crate::model::{self, Binary, Builtin, Type, moments};
use std::ops::Range;

use super::batch::{Batch, row_of};
use super::layout::{is_settled, settle_all};
use super::{lanes, project};

/// One step of a program on a stack of runs, one number a row each; `n` counts components.
pub(super) enum Op {
    Push(f64),
    Load {
        at: usize,
        n: usize,
    },
    Unary(fn(f64) -> f64, usize),
    Binary(Binary, usize),
    /// One number to n equal ones.
    Repeat(usize),
    /// Condition, n numbers, n numbers: the first n if the condition holds.
    Select(usize),
    /// n numbers and a 1-based index.
    Index(usize),
    /// n numbers, of which `size` from `from` are kept.
    Keep {
        n: usize,
        from: usize,
        size: usize,
    },
    Dot(usize),
    MatVec {
        rows: usize,
        columns: usize,
    },
    Norm(usize),
    Products(usize),
    /// n numbers and a radius.
    Project(Builtin, usize),
    /// n numbers moved into a range.
    Clamp(model::Range, usize),
    Fold(Builtin, usize),
    /// How many of these rising numbers a number is not below.
    Bin(Vec<f64>),
}

/// A compiled row expression: `row` in, `width` numbers of its declared type out.
pub struct Compiled {
    pub(super) ops: Vec<Op>,
    pub(super) width: usize,
    pub(super) ty: Type,
    pub(super) range: Option<model::Range>,
    /// What every component is at most, in magnitude.
    pub(super) corner: Vec<f64>,
    /// Does nothing within the corner have to be moved into the type?
    pub(super) settled: bool,
}

impl Compiled {
    pub fn width(&self) -> usize {
        self.width
    }

    /// What every component is at most, in magnitude.
    pub fn corner(&self) -> &[f64] {
        &self.corner
    }

    /// The same numbers as a vector of this type.
    pub fn typed(self, ty: &Type) -> Compiled {
        Compiled { ty: ty.clone(), range: ty.range(), settled: is_settled(ty, &self.corner), ..self }
    }

    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Reads it any of these slots of a row?
    pub fn reads(&self, slots: &Range<usize>) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Load { at, n } if *at < slots.end && slots.start < at + n))
    }

    /// Evaluates on one row, for what looks at few.
    pub fn row(&self, row: &[f64], stack: &mut Vec<f64>) {
        self.run(&Batch::of(row), stack);
    }

    /// Evaluates on all rows; `stack` is scratch space and holds exactly the result afterwards: one run of numbers a component.
    ///
    /// Total: whatever the rows, `width` finite numbers of the declared type come out for each (where its range is finite).
    pub fn run(&self, batch: &Batch, stack: &mut Vec<f64>) {
        stack.clear();
        let rows = batch.rows();
        for op in &self.ops {
            if step(op, batch, stack).is_none() {
                stack.clear();
                break;
            }
        }
        stack.resize(self.width * rows, f64::NAN);
        match &self.ty {
            Type::Category(levels) => {
                let last = levels.len().saturating_sub(1) as f64;
                let range = model::Range::new(0.0, last);
                lanes::into_range(stack, range);
            }
            Type::Int(range) => stack.iter_mut().for_each(|x| *x = project::into_range(libm::rint(*x), *range)),
            ty => {
                if let Some(range) = self.range.filter(|r| r.is_finite()) {
                    lanes::into_range(stack, range);
                } else if let Some(range) = self.range {
                    stack.iter_mut().for_each(|x| *x = project::into_range(*x, range));
                }
                if self.settled {
                    // They are there already, but for what no rule of rounding says.
                    let runs = stack.chunks_mut(rows.max(1)).zip(&self.corner).filter(|(_, c)| c.is_finite());
                    runs.for_each(|(run, c)| lanes::into_range(run, model::Range::new(-c, *c)));
                } else {
                    settle_all(stack, rows, ty);
                }
            }
        }
    }
}

/// Runs one step; `None` where the stack is too short, which compiling rules out.
fn step(op: &Op, batch: &Batch, stack: &mut Vec<f64>) -> Option<()> {
    let rows = batch.rows();
    match op {
        Op::Push(x) => stack.resize(stack.len() + rows, *x),
        Op::Load { at, n } => {
            for slot in *at..at + n {
                stack.extend_from_slice(batch.slot(slot)?);
            }
        }
        Op::Unary(f, n) => {
            let start = stack.len().checked_sub(n * rows)?;
            for x in stack.get_mut(start..)? {
                *x = f(*x);
            }
        }
        Op::Binary(f, n) => {
            let middle = stack.len().checked_sub(n * rows)?;
            let (left, b) = stack.split_at_mut(middle);
            let start = left.len().checked_sub(n * rows)?;
            lanes::binary(*f, left.get_mut(start..)?, b);
            stack.truncate(middle);
        }
        Op::Repeat(n) => {
            let start = stack.len().checked_sub(rows)?;
            (1..*n).for_each(|_| stack.extend_from_within(start..start + rows));
            stack.truncate(start + n * rows);
        }
        Op::Select(n) => {
            let middle = stack.len().checked_sub(2 * n * rows)?;
            let (conditions, values) = stack.split_at_mut_checked(middle)?;
            let (first, second) = values.split_at_mut_checked(n * rows)?;
            let start = conditions.len().checked_sub(rows)?;
            let conditions = conditions.get(start..)?.iter().cycle();
            for ((a, b), holds) in first.iter_mut().zip(second.iter()).zip(conditions) {
                *a = if *holds != 0.0 { *a } else { *b };
            }
            stack.truncate(start + rows + n * rows);
            stack.drain(start..start + rows);
        }
        Op::Index(n) => {
            let start = stack.len().checked_sub((n + 1) * rows)?;
            let (vector, places) = stack.get_mut(start..)?.split_at_mut_checked(n * rows)?;
            for (row, place) in places.iter_mut().enumerate() {
                let at = place.max(1.0).min(*n as f64) as usize - 1;
                *place = *vector.get(at * rows + row)?;
            }
            stack.drain(start..start + n * rows);
        }
        Op::Keep { n, from, size } => {
            let start = stack.len().checked_sub(n * rows)?;
            if from + size > *n {
                return None;
            }
            stack.copy_within(start + from * rows..start + (from + size) * rows, start);
            stack.truncate(start + size * rows);
        }
        Op::Dot(n) => by_row(stack, rows, (2 * n, 1), |row| {
            let (a, b) = row.split_at(*n);
            let sum = a.iter().zip(b).map(|(x, y)| x * y).sum();
            only(row, sum);
        })?,
        Op::MatVec { rows: all, columns } => by_row(stack, rows, (all * columns + columns, *all), |row| {
            let (m, x) = row.split_at(all * columns);
            *row = m.chunks((*columns).max(1)).map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect();
        })?,
        Op::Norm(n) => by_row(stack, rows, (*n, 1), |row| {
            let norm = libm::sqrt(row.iter().map(|v| v * v).sum());
            only(row, norm);
        })?,
        Op::Products(n) => by_row(stack, rows, (*n, n + n * (n + 1) / 2), |row| *row = moments::products(row))?,
        Op::Project(kind, n) => by_row(stack, rows, (n + 1, *n), |row| {
            let radius = row.pop().unwrap_or(0.0);
            row.iter_mut().for_each(|v| *v = project::into_range(*v, model::Range::ALL));
            match kind {
                Builtin::ProjectL1 => project::onto_l1(row, radius),
                Builtin::ProjectL2 => project::onto_l2(row, radius),
                _ => project::onto_linf(row, radius),
            }
        })?,
        Op::Clamp(range, n) => {
            let start = stack.len().checked_sub(n * rows)?;
            for x in stack.get_mut(start..)? {
                // What is not a number stays so until the end.
                *x = if *x < range.lo {
                    range.lo
                } else if *x > range.hi {
                    range.hi
                } else {
                    *x
                };
            }
        }
        Op::Bin(edges) => {
            let start = stack.len().checked_sub(rows)?;
            for x in stack.get_mut(start..)? {
                *x = edges.partition_point(|e| e <= x) as f64;
            }
        }
        Op::Fold(f, n) => by_row(stack, rows, (*n, 1), |row| {
            let value = fold(*f, row);
            only(row, value);
        })?,
    }
    Some(())
}

/// One number in place of a row.
fn only(row: &mut Vec<f64>, x: f64) {
    row.clear();
    row.push(x);
}

/// Replaces the last `n` runs by `m`, row by row: `f` makes m numbers of n.
fn by_row(stack: &mut Vec<f64>, rows: usize, (n, m): (usize, usize), mut f: impl FnMut(&mut Vec<f64>)) -> Option<()> {
    let start = stack.len().checked_sub(n * rows)?;
    let (mut all, mut row) = (vec![0.0; m * rows], vec![]);
    for at in 0..rows {
        row_of(stack.get(start..)?, rows, at, &mut row);
        f(&mut row);
        all.iter_mut().skip(at).step_by(rows).zip(&row).for_each(|(to, x)| *to = *x);
    }
    stack.truncate(start);
    stack.append(&mut all);
    Some(())
}

/// A vector to one number.
pub fn fold(f: Builtin, x: &[f64]) -> f64 {
    let n = x.len().max(1) as f64;
    let sum: f64 = x.iter().sum();
    match f {
        Builtin::VecSum => sum,
        Builtin::VecMean => sum / n,
        Builtin::VecMin => x.iter().copied().fold(f64::INFINITY, f64::min),
        Builtin::VecMax => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Builtin::VecSd => {
            let mean = sum / n;
            let squares: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
            libm::sqrt(squares / (n - 1.0).max(1.0))
        }
        _ => f64::NAN,
    }
}
