//! Gradients of the losses of single rows, handed one by one to a sum of integers.
//!
//! The tape of what follows from parameters alone stands before that of rows, as operations on rows: so derivatives reach the
//! coordinates without being added up over rows on their way.

use multiversion::multiversion;
use rayon::prelude::*;

use super::columns::{Columns, Lane, ROWS};
use super::tape::{Adjoints, Inputs, forward, reverse};
use super::{Loss, Op, Operand, Program};

/// Blocks of rows that share buffers.
const RANGES: usize = 16;

/// The losses of a program on its rows.
pub struct RowGradients<'a> {
    dimension: usize,
    ops: Vec<Op>,
    losses: Vec<Loss>,
    ranges: Vec<Range<'a>>,
}

struct Range<'a> {
    blocks: Vec<(&'a [Lane], usize)>,
    /// Of the coordinates, then of every operation.
    locals: Vec<Lane>,
    adjoints: Vec<Lane>,
    row: Vec<f64>,
    sums: Vec<i128>,
}

impl<'a> RowGradients<'a> {
    /// `columns` are those that the program reads, derived ones included.
    pub fn new(program: &Program, columns: &'a Columns) -> RowGradients<'a> {
        let before = u32::try_from(program.dimension + program.shared.len()).unwrap_or(u32::MAX);
        let place = |o: Operand| match o {
            Operand::Shared(i) => Operand::Local(i),
            Operand::Local(i) => Operand::Local(i.saturating_add(before)),
            Operand::Constant(_) | Operand::Column(_) => o,
        };
        let mut ops = program.shared.clone();
        for op in &program.rows {
            let mut op = op.clone();
            op.operands(&mut |o| *o = place(*o));
            ops.push(op);
        }
        let losses = program.losses.iter().map(|l| Loss { value: place(l.value), ..*l }).collect();
        let blocks: Vec<_> = columns.blocks().collect();
        let width = program.dimension + ops.len();
        let range = |blocks: &[(&'a [Lane], usize)]| Range {
            blocks: blocks.to_vec(),
            locals: vec![[0.0; ROWS]; width],
            adjoints: vec![[0.0; ROWS]; width],
            row: vec![0.0; program.dimension],
            sums: vec![0; program.dimension],
        };
        let ranges = blocks.chunks(blocks.len().div_ceil(RANGES).max(1)).map(range).collect();
        RowGradients { dimension: program.dimension, ops, losses, ranges }
    }

    /// Calls `add` with the gradient of the losses of every row at the coordinates `u`, not weighted, and the sums that it may
    /// add integers to, one for each coordinate; these sums. What a row is given depends on that row and on `u` alone.
    pub fn sum(&mut self, u: &[f64], add: impl Fn(&[f64], &mut [i128]) + Sync) -> Vec<i128> {
        let RowGradients { dimension, ops, losses, ranges } = self;
        ranges.par_iter_mut().with_max_len(1).for_each(|range| {
            let Range { blocks, locals, adjoints, row, sums } = range;
            sums.fill(0);
            for (block, live) in blocks.iter() {
                locals.iter_mut().zip(u.iter().take(*dimension)).for_each(|(l, u)| l.fill(*u));
                derivatives(ops, losses, *dimension, block, locals, adjoints);
                for i in 0..*live {
                    row.iter_mut().zip(adjoints.iter()).for_each(|(x, lane)| *x = lane.get(i).copied().unwrap_or(0.0));
                    add(row, sums);
                }
            }
        });
        let mut all = vec![0i128; *dimension];
        for range in ranges.iter() {
            all.iter_mut().zip(&range.sums).for_each(|(a, s)| *a = a.saturating_add(*s));
        }
        all
    }
}

/// Derivatives of the losses of a block by every coordinate and operation.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
fn derivatives(ops: &[Op], losses: &[Loss], dimension: usize, columns: &[Lane], locals: &mut [Lane], adjoints: &mut [Lane]) {
    let inputs = Inputs { shared: &[], columns };
    forward(ops, dimension, inputs, locals);
    adjoints.iter_mut().for_each(|a| a.fill(0.0));
    let mut back = Adjoints { locals: adjoints, shared: &mut [] };
    for loss in losses {
        let mut seed = inputs.copy(loss.value, locals);
        // Beyond the ends of its range a loss is flat.
        seed.iter_mut().for_each(|x| *x = if *x >= loss.lo && *x <= loss.hi { 1.0 } else { 0.0 });
        back.add(loss.value, &seed);
    }
    reverse(ops, dimension, inputs, locals, &mut back);
}
