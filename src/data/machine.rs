//! Runs a compiled row expression on one row: a stack of doubles, total whatever the row holds.

use crate::model::{Binary, Builtin, Range, Type, moments};

use super::project;
use super::row::settle;

/// One step of a program on a stack of doubles; `n` counts components.
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
    Clamp(Range, usize),
    Fold(Builtin, usize),
    /// How many of these rising numbers a number is not below.
    Bin(Vec<f64>),
}

/// A compiled row expression: `row` in, `width` numbers of its declared type out.
pub struct Compiled {
    pub(super) ops: Vec<Op>,
    pub(super) width: usize,
    pub(super) ty: Type,
    pub(super) range: Option<Range>,
}

impl Compiled {
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Evaluates on one row; `stack` is scratch space and holds exactly the result afterwards.
    ///
    /// Total: whatever the row, `width` finite numbers of the declared type come out (where its range is finite).
    pub fn run(&self, row: &[f64], stack: &mut Vec<f64>) {
        stack.clear();
        for op in &self.ops {
            if step(op, row, stack).is_none() {
                stack.clear();
                break;
            }
        }
        stack.resize(self.width, f64::NAN);
        match &self.ty {
            Type::Category(levels) => {
                let last = levels.len().saturating_sub(1) as f64;
                let range = Range::new(0.0, last);
                stack.iter_mut().for_each(|x| *x = project::into_range(*x, range));
            }
            Type::Int(range) => stack.iter_mut().for_each(|x| *x = project::into_range(libm::rint(*x), *range)),
            ty => {
                if let Some(range) = self.range {
                    stack.iter_mut().for_each(|x| *x = project::into_range(*x, range));
                }
                settle(stack, ty);
            }
        }
    }
}

/// Runs one step; `None` where the stack is too short, which compiling rules out.
fn step(op: &Op, row: &[f64], stack: &mut Vec<f64>) -> Option<()> {
    match op {
        Op::Push(x) => stack.push(*x),
        Op::Load { at, n: 1 } => stack.push(*row.get(*at)?),
        Op::Load { at, n } => stack.extend_from_slice(row.get(*at..at + n)?),
        Op::Unary(f, n) => {
            let start = stack.len().checked_sub(*n)?;
            for x in stack.get_mut(start..)? {
                *x = f(*x);
            }
        }
        Op::Binary(f, n) => {
            let middle = stack.len().checked_sub(*n)?;
            let (left, b) = stack.split_at_mut(middle);
            let start = left.len().checked_sub(*n)?;
            for (x, y) in left.get_mut(start..)?.iter_mut().zip(b.iter()) {
                *x = f.value(*x, *y);
            }
            stack.truncate(middle);
        }
        Op::Repeat(n) => {
            let x = stack.pop()?;
            stack.resize(stack.len() + n, x);
        }
        Op::Select(n) => {
            let start = stack.len().checked_sub(2 * n + 1)?;
            let first = *stack.get(start)? != 0.0;
            let from = if first { start + 1 } else { start + 1 + n };
            stack.copy_within(from..from + n, start);
            stack.truncate(start + n);
        }
        Op::Index(n) => {
            let index = stack.pop()?;
            let start = stack.len().checked_sub(*n)?;
            let place = index.max(1.0).min(*n as f64) as usize;
            let x = *stack.get(start + place - 1)?;
            stack.truncate(start);
            stack.push(x);
        }
        Op::Keep { n, from, size } => {
            let start = stack.len().checked_sub(*n)?;
            let end = from + size;
            if end > *n {
                return None;
            }
            stack.copy_within(start + from..start + end, start);
            stack.truncate(start + size);
        }
        Op::Dot(n) => {
            let (a, b) = last_two(stack, *n, *n)?;
            let sum = a.iter().zip(b).map(|(x, y)| x * y).sum();
            replace(stack, 2 * n, &[sum])?;
        }
        Op::MatVec { rows, columns } => {
            let (m, x) = last_two(stack, rows * columns, *columns)?;
            let out: Vec<f64> = m.chunks((*columns).max(1)).map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect();
            replace(stack, rows * columns + columns, &out)?;
        }
        Op::Norm(n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let norm = libm::sqrt(x.iter().map(|v| v * v).sum());
            replace(stack, *n, &[norm])?;
        }
        Op::Products(n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let all = moments::products(x);
            replace(stack, *n, &all)?;
        }
        Op::Project(kind, n) => {
            let radius = stack.pop()?;
            let start = stack.len().checked_sub(*n)?;
            let x = stack.get_mut(start..)?;
            x.iter_mut().for_each(|v| *v = project::into_range(*v, Range::ALL));
            match kind {
                Builtin::ProjectL1 => project::onto_l1(x, radius),
                Builtin::ProjectL2 => project::onto_l2(x, radius),
                _ => project::onto_linf(x, radius),
            }
        }
        Op::Clamp(range, n) => {
            let start = stack.len().checked_sub(*n)?;
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
            let x = stack.pop()?;
            stack.push(edges.partition_point(|e| *e <= x) as f64);
        }
        Op::Fold(f, n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let value = fold(*f, x);
            replace(stack, *n, &[value])?;
        }
    }
    Some(())
}

/// The n numbers below the last m, and the last m.
fn last_two(stack: &[f64], n: usize, m: usize) -> Option<(&[f64], &[f64])> {
    let start = stack.len().checked_sub(n + m)?;
    Some(stack.get(start..)?.split_at(n))
}

/// Replaces the last n numbers.
fn replace(stack: &mut Vec<f64>, n: usize, by: &[f64]) -> Option<()> {
    let start = stack.len().checked_sub(n)?;
    stack.truncate(start);
    stack.extend_from_slice(by);
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
