//! The encoded rows: stored once, as the kernel reads them, in segments that never move.

use super::KernelError;
use super::family::Family;
use super::layout::{Layout, Part};
use super::narrow;
use super::norm::{store, toward_zero};
use crate::numeric::fast::LANES;

/// Rows of a segment; a multiple of the lanes.
pub(super) const SEGMENT: usize = 256;

/// Linear predictors of a row up to which few numeric columns are stored as `narrow` has them.
const MOST_CLASSES: usize = 16;

/// Consecutive rows. Numeric columns (unless few: see `narrow`) and joint levels are row by row, the others column by column,
/// padded to whole lanes or blocks.
pub(super) struct Segment {
    /// Numeric columns are in the order of `narrow`.
    pub narrow: bool,
    /// There are no other columns.
    pub flat: bool,
    pub rows: usize,
    /// Rows of the columns below: `rows`, up to whole lanes or blocks.
    pub height: usize,
    pub dense: Vec<f32>,
    pub joints: Vec<u8>,
    pub wide: Vec<u16>,
    pub scale: Vec<f32>,
    pub weight: Vec<f32>,
    pub outcome: Vec<f32>,
}

impl Segment {
    fn new(layout: &Layout, family: Family, rows: usize) -> Segment {
        let height = rows.next_multiple_of(if layout.narrow { narrow::BLOCK } else { LANES });
        Segment {
            narrow: layout.narrow,
            flat: layout.flat() && family.predictors() == 1,
            rows: 0,
            height,
            dense: if layout.narrow { vec![0.0; height * layout.dense] } else { Vec::with_capacity(rows * layout.dense) },
            joints: Vec::with_capacity(rows * layout.joints.len()),
            wide: vec![0; height * layout.wide.len()],
            scale: vec![0.0; if layout.scaled { height } else { 0 }],
            weight: vec![0.0; if layout.weighted { height } else { 0 }],
            outcome: vec![0.0; height],
        }
    }
}

/// A design matrix with its outcomes. It holds private rows: it cannot be shown, compared or copied.
///
/// ```compile_fail
/// fn show<T: std::fmt::Debug>(_: T) {}
/// fn leak(design: dpm::kernel::Design) { show(design) }
/// ```
/// ```compile_fail
/// fn copy<T: Clone>(_: T) {}
/// fn leak(design: dpm::kernel::Design) { copy(design) }
/// ```
/// ```
/// fn keep(design: dpm::kernel::Design) { drop(design) }
/// ```
pub struct Design {
    pub(super) layout: Layout,
    pub(super) family: Family,
    pub(super) segments: Vec<Segment>,
}

impl Design {
    /// What a row looks like.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The law of an outcome.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Coefficients of the model: those of a linear predictor, for softmax one after the other for each class.
    pub fn dimension(&self) -> usize {
        self.layout.dimension() * self.family.predictors()
    }
}

/// Takes rows one at a time. At no moment is more allocated than the encoded rows and one segment.
pub struct DesignBuilder {
    design: Design,
    declared: Option<usize>,
    rows: usize,
    buffer: Vec<f32>,
}

impl DesignBuilder {
    /// `rows`, if public, makes the last segment exact; more or fewer rows are taken all the same.
    pub fn new(mut layout: Layout, family: Family, rows: Option<usize>) -> Result<DesignBuilder, KernelError> {
        family.check()?;
        // The predictors of a segment stay in a near cache.
        layout.narrow &= family.predictors() <= MOST_CLASSES;
        let buffer = vec![0.0; layout.dense];
        Ok(DesignBuilder { design: Design { layout, family, segments: vec![] }, declared: rows, rows: 0, buffer })
    }

    /// One row: numeric columns, the level of each block, the outcome. Only a wrong number of columns is an error; values
    /// are mapped into their domains (a level too large is the last one, no number is 0).
    pub fn push(&mut self, dense: &[f64], levels: &[u32], outcome: f64) -> Result<(), KernelError> {
        self.push_weighted(dense, levels, outcome, 1.0)
    }

    /// The same with a weight between 0 and 1, rounded down, which counts where the layout has weights.
    pub fn push_weighted(&mut self, dense: &[f64], levels: &[u32], outcome: f64, weight: f64) -> Result<(), KernelError> {
        let Design { layout, family, segments } = &mut self.design;
        if dense.len() != layout.dense || levels.len() != layout.blocks.len() {
            return Err(KernelError::Length);
        }
        if self.rows.is_multiple_of(SEGMENT) {
            let left = self.declared.map_or(SEGMENT, |n| n.saturating_sub(self.rows));
            segments.push(Segment::new(layout, *family, left.clamp(1, SEGMENT)));
        }
        let fixed = if layout.scaled { layout.indicators_up(levels) } else { 0.0 };
        let features = layout.dense - layout.offsets;
        let (row, offsets) = dense.split_at_checked(features).ok_or(KernelError::Length)?;
        let (stored, rest) = self.buffer.split_at_mut_checked(features).ok_or(KernelError::Length)?;
        let factor = store(row, fixed, layout.limit, stored);
        rest.iter_mut().zip(offsets).for_each(|(s, x)| *s = toward_zero(*x));
        let Some(segment) = segments.last_mut() else {
            return Err(KernelError::Length);
        };
        let (row, height) = (segment.rows, segment.height);
        if row == height {
            grow(segment, layout, *family);
        }
        let height = segment.height;
        if layout.narrow {
            for (column, value) in self.buffer.iter().enumerate() {
                set(&mut segment.dense, narrow::place(row, column, layout.dense), *value);
            }
        } else {
            segment.dense.extend_from_slice(&self.buffer);
        }
        let level = |p: &Part| levels.get(p.index).map_or(0, |l| (*l as usize).min(p.block.levels - 1));
        let joined = |parts: &[Part]| parts.iter().map(|p| level(p) * p.stride).sum::<usize>();
        segment.joints.extend(layout.joints.iter().map(|j| joined(&j.parts) as u8));
        for (part, column) in layout.wide.iter().zip(segment.wide.chunks_exact_mut(height)) {
            set(column, row, level(part) as u16);
        }
        set(&mut segment.scale, row, factor);
        set(&mut segment.weight, row, toward_zero(weight.clamp(0.0, 1.0)));
        set(&mut segment.outcome, row, toward_zero(family.outcome(outcome)));
        segment.rows += 1;
        self.rows += 1;
        Ok(())
    }

    /// The matrix, after its last row.
    pub fn finish(self) -> Design {
        self.design
    }
}

fn set<T>(column: &mut [T], row: usize, value: T) {
    if let Some(cell) = column.get_mut(row) {
        *cell = value;
    }
}

/// More rows came than were declared: the columns of the last segment are laid out anew for a whole segment.
fn grow(segment: &mut Segment, layout: &Layout, family: Family) {
    let old = segment.height;
    let mut whole = Segment::new(layout, family, SEGMENT);
    whole.rows = segment.rows;
    fn spread<T: Copy>(from: &[T], old: usize, to: &mut [T]) {
        for (from, to) in from.chunks_exact(old).zip(to.chunks_exact_mut(SEGMENT)) {
            to.iter_mut().zip(from).for_each(|(to, x)| *to = *x);
        }
    }
    spread(&segment.wide, old, &mut whole.wide);
    spread(&segment.scale, old, &mut whole.scale);
    spread(&segment.weight, old, &mut whole.weight);
    spread(&segment.outcome, old, &mut whole.outcome);
    if layout.narrow {
        // Blocks lie one behind the other.
        whole.dense.iter_mut().zip(&segment.dense).for_each(|(to, x)| *to = *x);
    } else {
        whole.dense.extend_from_slice(&segment.dense);
    }
    whole.joints.extend_from_slice(&segment.joints);
    *segment = whole;
}
