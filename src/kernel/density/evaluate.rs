//! A program on its rows: log-density, gradient, and the losses of single rows.

use multiversion::multiversion;
use rayon::prelude::*;

use super::cells::Cells;
use super::columns::{Columns, Lane, ROWS};
use super::fused::Fused;
use super::tape::{Adjoints, Inputs, forward, reverse, total};
use super::{Loss, OfNumbers, Operand, Program};
use std::sync::Arc;

/// Ranges of rows that are summed by themselves. A constant, so that sums do not depend on the number of threads.
const RANGES: usize = 16;
/// Fewer blocks than this are done faster by one thread.
const FEW: usize = 8;

/// A log-density with the rows it is of and the buffers that its evaluation needs.
pub struct Density<'a> {
    program: &'a Program,
    weight: f64,
    rows: Rows<'a>,
    /// Coordinates and what follows from them alone, as a tape of width 1.
    shared: Vec<[f64; 1]>,
    shared_adjoints: Vec<[f64; 1]>,
    values: Vec<f64>,
    sums: Vec<f64>,
    /// Of all rows, where cells need them: losses, and derivatives by them.
    losses: Vec<f64>,
    seeds: Vec<f64>,
}

enum Rows<'a> {
    Tape(Vec<Range<'a>>),
    Fused(Fused<'a>),
    /// A row a cell: its loss is minus the log rate.
    Cells(Vec<Range<'a>>, Box<Cells>),
    /// No rows, but numbers that follow from parameters.
    Numbers(Vec<Operand>, Arc<dyn OfNumbers>),
}

/// Neighbouring blocks, and room for their results.
struct Range<'a> {
    blocks: Vec<(&'a [Lane], usize)>,
    locals: Vec<Lane>,
    adjoints: Vec<Lane>,
    shared: Vec<f64>,
    loss: f64,
    /// Of single rows, where they are asked for.
    losses: Vec<f64>,
    /// Derivatives of the whole by the losses of single rows; all 1 where it is empty.
    seeds: Vec<f64>,
}

impl<'a> Density<'a> {
    /// `columns` are those that the program reads, derived ones included.
    pub fn new(program: &'a Program, columns: &'a Columns, weight: f64) -> Density<'a> {
        Density::with(program, weight, Rows::Tape(ranges(program, columns)))
    }

    /// The same with rows that one fused pass reads.
    pub fn fused(program: &'a Program, rows: Fused<'a>, weight: f64) -> Density<'a> {
        Density::with(program, weight, Rows::Fused(rows))
    }

    /// Noisy counts whose log rates are minus the losses of the rows, which are unbounded. A loss that is infinite or not a number
    /// makes the density 0; where expected counts may be 0, `f64::MAX` as the upper end of the losses allows it.
    pub fn cells(program: &'a Program, columns: &'a Columns, cells: Cells, weight: f64) -> Density<'a> {
        Density::with(program, weight, Rows::Cells(ranges(program, columns), Box::new(cells)))
    }

    /// Noisy sums whose law has these numbers.
    pub fn of_numbers(program: &'a Program, numbers: Vec<Operand>, likelihood: Arc<dyn OfNumbers>) -> Density<'a> {
        Density::with(program, 1.0, Rows::Numbers(numbers, likelihood))
    }

    fn with(program: &'a Program, weight: f64, rows: Rows<'a>) -> Density<'a> {
        let width = program.dimension + program.shared.len();
        let (one, zeros) = (|| vec![[0.0]; width], || vec![0.0; width]);
        Density {
            program,
            weight,
            rows,
            shared: one(),
            shared_adjoints: one(),
            values: zeros(),
            sums: zeros(),
            losses: vec![],
            seeds: vec![],
        }
    }

    pub fn dimension(&self) -> usize {
        self.program.dimension
    }

    /// What the operands stand for at the coordinates `u`: numbers of all rows, such as parameters.
    pub fn shared(&mut self, u: &[f64], of: &[Operand]) -> Vec<f64> {
        self.forward_shared(u);
        of.iter().map(|o| self.number(*o)).collect()
    }

    /// The log-density at `u`, up to a constant. Not a number, or infinite, where it does not exist.
    pub fn value(&mut self, u: &[f64]) -> f64 {
        let prior = self.forward_shared(u);
        prior - self.weight * self.rows(false)
    }

    /// The log-density and its gradient; derivatives that are not a finite numbers are 0.
    pub fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> f64 {
        let prior = self.forward_shared(u);
        self.sums.fill(0.0);
        let loss = self.rows(true);
        self.sums.iter_mut().for_each(|s| *s *= -self.weight);
        self.back_to_coordinates(gradient);
        prior - self.weight * loss
    }

    /// The gradient of the log prior alone.
    pub fn prior_gradient(&mut self, u: &[f64], gradient: &mut [f64]) {
        self.forward_shared(u);
        self.sums.fill(0.0);
        self.back_to_coordinates(gradient);
    }

    /// Carries what is in `sums` and the terms of the log prior back to the coordinates.
    fn back_to_coordinates(&mut self, gradient: &mut [f64]) {
        let Density { program, shared, shared_adjoints, sums, .. } = self;
        for term in &program.log_prior {
            if let Operand::Shared(i) = term
                && let Some(sum) = sums.get_mut(*i as usize)
            {
                *sum += 1.0;
            }
        }
        shared_adjoints.iter_mut().zip(sums.iter()).for_each(|([a], s)| *a = *s);
        backwards(program, shared, shared_adjoints);
        for (g, [a]) in gradient.iter_mut().zip(shared_adjoints.iter()) {
            *g = if a.is_finite() { *a } else { 0.0 };
        }
    }

    /// Writes the loss of every row, and returns the log prior. Writes nothing for fused rows.
    pub fn losses(&mut self, u: &[f64], out: &mut Vec<f64>) -> f64 {
        out.clear();
        let prior = self.forward_shared(u);
        if let Rows::Tape(ranges) | Rows::Cells(ranges, _) = &mut self.rows {
            row_losses(self.program, &self.values, ranges, out);
        }
        prior
    }

    /// For every cell the log-density of its noisy count given all others and the totals, and its expected count.
    pub fn cell_laws(&mut self, u: &[f64]) -> Vec<(f64, f64)> {
        self.forward_shared(u);
        let Density { program, rows, values, losses, .. } = self;
        let Rows::Cells(ranges, cells) = rows else { return vec![] };
        row_losses(program, values, ranges, losses);
        cells.each(losses).collect()
    }

    /// Runs the shared tape; the log prior.
    fn forward_shared(&mut self, u: &[f64]) -> f64 {
        let Density { program, shared, values, .. } = self;
        shared.iter_mut().zip(u).for_each(|([s], u)| *s = *u);
        forwards(program, shared);
        values.iter_mut().zip(shared.iter()).for_each(|(v, [s])| *v = *s);
        self.program.log_prior.iter().map(|o| self.number(*o)).sum()
    }

    fn number(&self, o: Operand) -> f64 {
        number(&self.values, o)
    }

    /// The sum of losses; with `slopes`, their derivatives are added to `sums`.
    fn rows(&mut self, slopes: bool) -> f64 {
        let Density { program, rows, values, sums, losses, seeds, .. } = self;
        match rows {
            Rows::Fused(fused) => fused.loss(values, slopes.then_some(sums)),
            Rows::Numbers(numbers, likelihood) => {
                losses.clear();
                losses.extend(numbers.iter().map(|o| number(values, *o)));
                let loss = likelihood.total(losses, seeds);
                for (o, by) in numbers.iter().zip(seeds.iter()) {
                    if let (true, Operand::Shared(i)) = (slopes, o)
                        && let Some(sum) = sums.get_mut(*i as usize)
                    {
                        *sum += by;
                    }
                }
                loss
            }
            Rows::Tape(ranges) => {
                each(ranges, |range| pass(program, values, range, (slopes, false)));
                if slopes {
                    collect(ranges, sums);
                }
                ranges.iter().map(|r| r.loss).sum()
            }
            Rows::Cells(ranges, cells) => {
                row_losses(program, values, ranges, losses);
                let loss = cells.total(losses, seeds);
                if slopes {
                    let mut rest = seeds.as_slice();
                    for range in ranges.iter_mut() {
                        let (own, others) = rest.split_at(range.losses.len().min(rest.len()));
                        range.seeds.clear();
                        range.seeds.extend_from_slice(own);
                        rest = others;
                    }
                    each(ranges, |range| pass(program, values, range, (true, true)));
                    collect(ranges, sums);
                }
                loss
            }
        }
    }
}

/// The tape of single numbers. Compiled for what processors have, as the rows are: without, each `mul_add` is a call.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2"))]
fn forwards(program: &Program, shared: &mut [[f64; 1]]) {
    forward(&program.shared, program.dimension, Inputs { shared: &[], columns: &[] }, shared);
}

#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2"))]
fn backwards(program: &Program, shared: &[[f64; 1]], adjoints: &mut [[f64; 1]]) {
    let mut adjoints = Adjoints { locals: adjoints, shared: &mut [] };
    reverse(&program.shared, program.dimension, Inputs { shared: &[], columns: &[] }, shared, &mut adjoints);
}

fn number(values: &[f64], o: Operand) -> f64 {
    match o {
        Operand::Constant(x) => x,
        Operand::Shared(i) => values.get(i as usize).copied().unwrap_or(f64::NAN),
        Operand::Column(_) | Operand::Local(_) => f64::NAN,
    }
}

fn ranges<'a>(program: &Program, columns: &'a Columns) -> Vec<Range<'a>> {
    let blocks: Vec<_> = columns.blocks().collect();
    let per_range = blocks.len().div_ceil(RANGES).max(1);
    let range = |blocks: &[(&'a [Lane], usize)]| Range {
        blocks: blocks.to_vec(),
        locals: vec![[0.0; ROWS]; program.rows.len()],
        adjoints: vec![[0.0; ROWS]; program.rows.len()],
        shared: vec![0.0; program.dimension + program.shared.len()],
        loss: 0.0,
        losses: vec![],
        seeds: vec![],
    };
    blocks.chunks(per_range).map(range).collect()
}

/// On all cores where that pays.
fn each<'a>(ranges: &mut [Range<'a>], work: impl Fn(&mut Range<'a>) + Sync + Send) {
    if ranges.iter().map(|r| r.blocks.len()).sum::<usize>() < FEW {
        ranges.iter_mut().for_each(work);
    } else {
        ranges.par_iter_mut().with_max_len(1).for_each(work);
    }
}

/// Adds up the derivatives by shared numbers.
fn collect(ranges: &[Range], sums: &mut [f64]) {
    for range in ranges {
        sums.iter_mut().zip(&range.shared).for_each(|(s, r)| *s += r);
    }
}

/// Writes the loss of every row.
fn row_losses(program: &Program, shared: &[f64], ranges: &mut [Range], out: &mut Vec<f64>) {
    each(ranges, |range| {
        let Range { blocks, locals, losses, .. } = range;
        losses.clear();
        for (block, live) in blocks.iter() {
            losses.extend(block_losses(program, block, shared, locals).iter().take(*live));
        }
    });
    out.clear();
    ranges.iter().for_each(|range| out.extend_from_slice(&range.losses));
}

/// The losses of a block, each inside its range.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
fn block_losses(program: &Program, columns: &[Lane], shared: &[f64], locals: &mut [Lane]) -> Lane {
    let inputs = Inputs { shared, columns };
    forward(&program.rows, 0, inputs, locals);
    let mut sum = [0.0; ROWS];
    for loss in &program.losses {
        let x = inputs.copy(loss.value, locals);
        sum.iter_mut().zip(x).for_each(|(s, x)| *s += inside(x, loss));
    }
    sum
}

#[inline(always)]
fn inside(x: f64, loss: &Loss) -> f64 {
    let x = if x.is_nan() { middle(loss) } else { x };
    if x < loss.lo {
        loss.lo
    } else if x > loss.hi {
        loss.hi
    } else {
        x
    }
}

/// Of an unbounded range, infinity: a state where a loss is not a number is not entered.
fn middle(loss: &Loss) -> f64 {
    if loss.lo.is_finite() && loss.hi.is_finite() { 0.5 * loss.lo + 0.5 * loss.hi } else { f64::INFINITY }
}

/// Losses and, with `slopes`, their derivatives; `known` where `row_losses` has just run, whose numbers of a single block are still there.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
fn pass(program: &Program, shared: &[f64], range: &mut Range, (slopes, known): (bool, bool)) {
    let Range { blocks, locals, adjoints, shared: sums, loss, seeds, .. } = range;
    let mut seeds = seeds.chunks(ROWS);
    *loss = 0.0;
    sums.fill(0.0);
    for (columns, live) in blocks.iter() {
        let inputs = Inputs { shared, columns };
        if !known || blocks.len() > 1 {
            forward(&program.rows, 0, inputs, locals);
        }
        let exists = |i: usize| i < *live;
        let given = seeds.next().unwrap_or(&[]);
        adjoints.iter_mut().for_each(|a| a.fill(0.0));
        let mut back = Adjoints { locals: adjoints, shared: sums };
        for term in &program.losses {
            let x = inputs.copy(term.value, locals);
            let (mut kept, mut seed) = ([0.0; ROWS], [0.0; ROWS]);
            for (((kept, seed), x), i) in kept.iter_mut().zip(&mut seed).zip(x).zip(0usize..) {
                if exists(i) {
                    *kept = inside(x, term);
                    // Beyond the ends of its range a loss is flat.
                    *seed = if x >= term.lo && x <= term.hi { given.get(i).copied().unwrap_or(1.0) } else { 0.0 };
                }
            }
            *loss += total(&kept);
            back.add(term.value, &seed);
        }
        if slopes {
            reverse(&program.rows, 0, inputs, locals, &mut back);
        }
    }
}
