//! What a row of a design matrix looks like: numeric columns, then one-hot groups, and the norm that every row obeys.

use super::narrow::WIDE;
use super::{KernelError, norm};
use crate::numeric::round::{add_up, mul_up, sub_down};

/// A categorical column as indicator columns: level `l` is `value` in one column and 0 in the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Number of levels, 1 to 65,536.
    pub levels: usize,
    /// The level without a column, if any: all its indicators are 0.
    pub reference: Option<usize>,
    /// What is in the column of a level, usually 1.
    pub value: f64,
}

impl Block {
    /// One indicator of 1 a level.
    pub fn full(levels: usize) -> Block {
        Block { levels, reference: None, value: 1.0 }
    }

    fn columns(&self) -> usize {
        let without = self.reference.is_some_and(|r| r < self.levels);
        self.levels - usize::from(without)
    }

    /// The column of a level inside the block.
    pub(super) fn column(&self, level: usize) -> Option<usize> {
        match self.reference {
            Some(r) if level == r => None,
            Some(r) if level > r => Some(level - 1),
            _ => Some(level),
        }
    }
}

/// Entries of a table that one byte addresses.
pub(super) const TABLE: usize = 256;
const MOST_LEVELS: usize = 1 << 16;

/// A block inside a table, or a table by itself.
pub(super) struct Part {
    pub block: Block,
    /// Its place among the blocks of the layout.
    pub index: usize,
    /// Its first coefficient.
    pub first: usize,
    /// Its level is `joint / stride % levels`.
    pub stride: usize,
}

/// Several blocks read as one: their joint level fits a byte.
pub(super) struct Joint {
    pub parts: Vec<Part>,
    pub levels: usize,
}

/// Coefficients in order: numeric columns first, then the columns of each block.
pub struct Layout {
    pub(super) dense: usize,
    /// The last numeric columns, which no norm bounds: their coefficients are fixed.
    pub(super) offsets: usize,
    pub(super) blocks: Vec<Block>,
    pub(super) joints: Vec<Joint>,
    /// Blocks of more than 256 levels.
    pub(super) wide: Vec<Part>,
    /// Rows are scaled as a whole, indicators included.
    pub(super) scaled: bool,
    /// Numeric columns are few: stored as `narrow` has them.
    pub(super) narrow: bool,
    /// Every row has a weight, at most 1.
    pub(super) weighted: bool,
    /// Largest square of the norm of the stored numeric columns (of the whole row, if `scaled`), rounded down.
    pub(super) limit: f64,
    dimension: usize,
    norm: f64,
}

impl Layout {
    /// Rows of at most `norm` by their type: indicators are kept as they are, and what is left of the norm bounds the
    /// numeric columns, which a row that breaks its type is scaled to.
    pub fn new(dense: usize, blocks: Vec<Block>, norm: f64) -> Result<Layout, KernelError> {
        let fixed = blocks.iter().fold(0.0, |sum, b| add_up(sum, mul_up(b.value, b.value)));
        let limit = sub_down(norm::limit(norm), fixed);
        if limit >= 0.0 { Layout::with(dense, blocks, (norm, limit, false)) } else { Err(KernelError::Norm) }
    }

    /// Rows are projected onto the ball of radius `norm`: longer ones are scaled, their indicators too.
    pub fn projected(dense: usize, blocks: Vec<Block>, norm: f64) -> Result<Layout, KernelError> {
        let scaled = !blocks.is_empty();
        Layout::with(dense, blocks, (norm, norm::limit(norm), scaled))
    }

    fn with(dense: usize, blocks: Vec<Block>, (norm, limit, scaled): (f64, f64, bool)) -> Result<Layout, KernelError> {
        if !(norm.is_finite() && norm > 0.0) {
            return Err(KernelError::Norm);
        }
        let fits = |b: &Block| (1..=MOST_LEVELS).contains(&b.levels) && b.value.is_finite();
        if !blocks.iter().all(fits) || blocks.len() > MOST_LEVELS || dense > u32::MAX as usize {
            return Err(KernelError::Shape);
        }
        let mut dimension = dense;
        let mut parts = vec![];
        for (index, block) in blocks.iter().enumerate() {
            parts.push(Part { block: *block, index, first: dimension, stride: 1 });
            dimension += block.columns();
        }
        if dimension == 0 {
            return Err(KernelError::Shape);
        }
        let (joints, wide) = pack(parts);
        Ok(Layout {
            dense,
            offsets: 0,
            blocks,
            joints,
            wide,
            scaled,
            narrow: (1..WIDE).contains(&dense),
            weighted: false,
            limit,
            dimension,
            norm,
        })
    }

    /// The last of the numeric columns are offsets: no part of a row's norm, as their coefficients never move.
    pub fn with_offsets(self, offsets: usize) -> Result<Layout, KernelError> {
        if offsets <= self.dense { Ok(Layout { offsets, ..self }) } else { Err(KernelError::Shape) }
    }

    /// The loss of every row is multiplied by a weight of its own.
    pub fn with_weights(self) -> Layout {
        Layout { weighted: true, ..self }
    }

    /// Coefficients of one linear predictor.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The bound `c` on the norm of every stored row.
    pub fn norm(&self) -> f64 {
        self.norm
    }

    /// Bytes of an encoded row, outcome included.
    pub fn row_bytes(&self) -> usize {
        4 * self.dense + self.joints.len() + 2 * self.wide.len() + 4 * usize::from(self.scaled) + 4 * usize::from(self.weighted) + 4
    }

    /// There is nothing but a few numeric columns.
    pub(super) fn flat(&self) -> bool {
        self.narrow && self.joints.is_empty() && self.wide.is_empty() && !self.scaled
    }

    /// At least the square of the norm of the indicators of a row before scaling.
    pub(super) fn indicators_up(&self, levels: &[u32]) -> f64 {
        let squares = self.blocks.iter().zip(levels).filter(|(b, l)| b.column(**l as usize).is_some());
        squares.fold(0.0, |sum, (b, _)| add_up(sum, mul_up(b.value, b.value)))
    }
}

/// Blocks into joint tables of at most 256 entries, the largest first, each into the first table that has room.
fn pack(mut parts: Vec<Part>) -> (Vec<Joint>, Vec<Part>) {
    parts.sort_by_key(|p| std::cmp::Reverse(p.block.levels));
    let (mut joints, mut wide): (Vec<Joint>, Vec<Part>) = (vec![], vec![]);
    for mut part in parts {
        let levels = part.block.levels;
        if levels > TABLE {
            wide.push(part);
        } else if let Some(joint) = joints.iter_mut().find(|j| j.levels * levels <= TABLE) {
            part.stride = joint.levels;
            joint.levels *= levels;
            joint.parts.push(part);
        } else {
            joints.push(Joint { levels, parts: vec![part] });
        }
    }
    (joints, wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_share_bytes() {
        let blocks = [9, 16, 7, 15, 6, 5, 2, 42].map(Block::full).to_vec();
        let layout = Layout::new(6, blocks, 4.0).unwrap();
        assert_eq!((layout.dimension(), layout.joints.len(), layout.wide.len()), (108, 4, 0));
        assert_eq!(layout.row_bytes(), 6 * 4 + 4 + 4);
    }

    #[test]
    fn refuses_public_nonsense() {
        let refused = |l: Result<Layout, KernelError>| l.err();
        assert_eq!(refused(Layout::new(0, vec![], 1.0)), Some(KernelError::Shape));
        assert_eq!(refused(Layout::new(1, vec![Block::full(0)], 1.0)), Some(KernelError::Shape));
        assert_eq!(refused(Layout::new(1, vec![Block::full(70_000)], 2.0)), Some(KernelError::Shape));
        assert_eq!(refused(Layout::new(1, vec![Block::full(3)], 0.5)), Some(KernelError::Norm));
        assert_eq!(refused(Layout::new(1, vec![], f64::NAN)), Some(KernelError::Norm));
        assert!(refused(Layout::projected(1, vec![Block::full(3)], 0.5)).is_none());
    }
}
