//! Eight rows of encoded columns: their linear predictors, and their share of a gradient.

use super::design::Segment;
use super::layout::TABLE;
use super::tables::Tables;
use crate::numeric::fast::{LANES, Lanes, total};

/// Eight rows of a segment, the last of which may be missing.
pub(super) struct Tile<'a> {
    segment: &'a Segment,
    start: usize,
    /// Rows that exist; the others have residual 0.
    pub live: usize,
    pub outcome: Lanes,
}

impl<'a> Tile<'a> {
    #[inline(always)]
    pub fn of(segment: &'a Segment, start: usize) -> Tile<'a> {
        let live = segment.rows.saturating_sub(start).min(LANES);
        Tile { segment, start, live, outcome: lanes(&segment.outcome, start, |y| f64::from(*y)) }
    }

    /// The eight rows of numeric columns; a missing row is empty.
    #[inline(always)]
    fn dense(&self, width: usize) -> [&'a [f32]; LANES] {
        let mut rows: [&[f32]; LANES] = [&[]; LANES];
        let from = self.segment.dense.get(self.start * width..).unwrap_or(&[]);
        rows.iter_mut().zip(from.chunks_exact(width)).for_each(|(r, f)| *r = f);
        rows
    }

    /// The joint levels of the eight rows, row by row.
    #[inline(always)]
    fn joints(&self, width: usize) -> &'a [u8] {
        let levels = &self.segment.joints;
        levels.get(self.start * width..levels.len().min((self.start + LANES) * width)).unwrap_or(&[])
    }

    #[inline(always)]
    fn scale(&self) -> Option<Lanes> {
        self.factors(&self.segment.scale)
    }

    /// What the losses of the rows are multiplied by.
    #[inline(always)]
    pub fn weight(&self) -> Option<Lanes> {
        self.factors(&self.segment.weight)
    }

    #[inline(always)]
    fn factors(&self, column: &[f32]) -> Option<Lanes> {
        if column.is_empty() { None } else { Some(lanes(column, self.start, |s| f64::from(*s))) }
    }

    /// Predictors, but for the share of numeric columns that are few.
    #[inline(always)]
    pub fn predict(&self, w: &Tables) -> Lanes {
        let mut z = [0.0; LANES];
        // Row by row: gathering eight entries by one instruction is slower than loading them.
        let levels = self.joints(w.joints.len());
        match w.joints.len() {
            0 => {}
            1 => look_up::<1>(&mut z, levels, &w.joints),
            2 => look_up::<2>(&mut z, levels, &w.joints),
            3 => look_up::<3>(&mut z, levels, &w.joints),
            4 => look_up::<4>(&mut z, levels, &w.joints),
            5 => look_up::<5>(&mut z, levels, &w.joints),
            6 => look_up::<6>(&mut z, levels, &w.joints),
            7 => look_up::<7>(&mut z, levels, &w.joints),
            many => {
                for (z, levels) in z.iter_mut().zip(levels.chunks_exact(many)) {
                    for (table, level) in w.joints.iter().zip(levels) {
                        *z += entry(table, *level);
                    }
                }
            }
        }
        for (table, column) in w.wide.iter().zip(self.segment.wide.chunks_exact(self.segment.height)) {
            if let Some(levels) = column.get(self.start..).and_then(|c| c.first_chunk::<LANES>()) {
                for (z, level) in z.iter_mut().zip(levels) {
                    *z += table.get(usize::from(*level)).unwrap_or(&0.0);
                }
            }
        }
        if let Some(scale) = self.scale() {
            z.iter_mut().zip(scale).for_each(|(z, s)| *z *= s);
        }
        if !self.segment.narrow && !w.dense.is_empty() {
            for (z, row) in z.iter_mut().zip(self.dense(w.dense.len())) {
                *z += product(row, &w.dense);
            }
        }
        z
    }

    /// Adds the residuals times the rows, but for numeric columns that are few.
    #[inline(always)]
    pub fn collect(&self, mut r: Lanes, g: &mut Tables) {
        if !self.segment.narrow && !g.dense.is_empty() {
            accumulate(self.dense(g.dense.len()), r, &mut g.dense);
        }
        if let Some(scale) = self.scale() {
            r.iter_mut().zip(scale).for_each(|(r, s)| *r *= s);
        }
        let levels = self.joints(g.joints.len());
        match g.joints.len() {
            0 => {}
            1 => tally::<1>(r, levels, &mut g.joints),
            2 => tally::<2>(r, levels, &mut g.joints),
            3 => tally::<3>(r, levels, &mut g.joints),
            4 => tally::<4>(r, levels, &mut g.joints),
            5 => tally::<5>(r, levels, &mut g.joints),
            6 => tally::<6>(r, levels, &mut g.joints),
            7 => tally::<7>(r, levels, &mut g.joints),
            many => {
                for (r, levels) in r.iter().zip(levels.chunks_exact(many)) {
                    for (table, level) in g.joints.iter_mut().zip(levels) {
                        add_entry(table, *level, *r);
                    }
                }
            }
        }
        for (table, column) in g.wide.iter_mut().zip(self.segment.wide.chunks_exact(self.segment.height)) {
            if let Some(levels) = column.get(self.start..).and_then(|c| c.first_chunk::<LANES>()) {
                for (r, level) in r.iter().zip(levels) {
                    if let Some(entry) = table.get_mut(usize::from(*level)) {
                        *entry += r;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn entry(table: &[f64; TABLE], level: u8) -> f64 {
    table.get(usize::from(level)).copied().unwrap_or(0.0)
}

#[inline(always)]
fn add_entry(table: &mut [f64; TABLE], level: u8, x: f64) {
    if let Some(entry) = table.get_mut(usize::from(level)) {
        *entry += x;
    }
}

/// Adds the entries of each row, for a number of tables known to the compiler.
#[inline(always)]
fn look_up<const N: usize>(z: &mut Lanes, levels: &[u8], tables: &[[f64; TABLE]]) {
    let Some(tables) = tables.first_chunk::<N>() else { return };
    for (z, levels) in z.iter_mut().zip(levels.as_chunks::<N>().0) {
        for (table, level) in tables.iter().zip(levels) {
            *z += entry(table, *level);
        }
    }
}

/// Adds each row's number to the entries of the row.
#[inline(always)]
fn tally<const N: usize>(r: Lanes, levels: &[u8], tables: &mut [[f64; TABLE]]) {
    let Some(tables) = tables.first_chunk_mut::<N>() else { return };
    for (r, levels) in r.iter().zip(levels.as_chunks::<N>().0) {
        for (table, level) in tables.iter_mut().zip(levels) {
            add_entry(table, *level, *r);
        }
    }
}

#[inline(always)]
fn lanes<T>(column: &[T], start: usize, f: impl Fn(&T) -> f64) -> Lanes {
    let mut out = [0.0; LANES];
    let from = column.get(start..).unwrap_or(&[]);
    out.iter_mut().zip(from).for_each(|(o, x)| *o = f(x));
    out
}

#[inline(always)]
pub(super) fn widened(x: &[f32; LANES]) -> Lanes {
    let mut out = [0.0; LANES];
    out.iter_mut().zip(x).for_each(|(o, x)| *o = f64::from(*x));
    out
}

/// The inner product of a row and the weights, in sixteen sums that are added up at the end.
#[inline(always)]
fn product(row: &[f32], w: &[f64]) -> f64 {
    const WIDTH: usize = 2 * LANES;
    let ((rows, row), (weights, w)) = (row.as_chunks::<WIDTH>(), w.as_chunks::<WIDTH>());
    let mut sums = [0.0; WIDTH];
    for (x, w) in rows.iter().zip(weights) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            *sum = f64::from(*x).mul_add(*w, *sum);
        }
    }
    let mut halves = [0.0; LANES];
    let (low, high) = sums.split_at(LANES);
    halves.iter_mut().zip(low).zip(high).for_each(|((s, l), h)| *s = l + h);
    let mut sum = total(halves);
    for (x, w) in row.iter().zip(w) {
        sum = f64::from(*x).mul_add(*w, sum);
    }
    sum
}

/// Adds the eight rows, each times its residual.
#[inline(always)]
fn accumulate(rows: [&[f32]; LANES], r: Lanes, g: &mut [f64]) {
    let [a, b, c, d, e, f, h, i] = rows;
    let [ra, rb, rc, rd, re, rf, rh, ri] = r;
    if i.len() == g.len() {
        // One plain loop over the columns: compilers turn it into vector instructions.
        for ((((((((g, a), b), c), d), e), f), h), i) in g.iter_mut().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f).zip(h).zip(i) {
            let term = |x: &f32, r: f64, sum: f64| f64::from(*x).mul_add(r, sum);
            let low = term(a, ra, term(b, rb, term(c, rc, f64::from(*d) * rd)));
            let high = term(e, re, term(f, rf, term(h, rh, f64::from(*i) * ri)));
            *g += low + high;
        }
    } else {
        for (row, r) in rows.iter().zip(r) {
            for (g, x) in g.iter_mut().zip(*row) {
                *g = f64::from(*x).mul_add(r, *g);
            }
        }
    }
}
