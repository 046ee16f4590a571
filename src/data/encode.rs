//! Rows kept for a chain: features and outcomes of every row, encoded once as the likelihood kernel reads them.

use super::StatisticError;
use super::batch::{Batch, row_of};
use super::machine::Compiled;
use crate::kernel::{Block, Design, DesignBuilder, Family, KernelError, Layout};

/// The public shape of a design matrix.
#[derive(Clone)]
pub struct Shape {
    /// Numeric columns.
    pub dense: usize,
    /// How many of them, the last, are offsets.
    pub offsets: usize,
    pub blocks: Vec<Block>,
    /// Upper bound on the norm of a row, enforced.
    pub norm: f64,
    pub family: Family,
}

impl Shape {
    fn builder(&self) -> Result<DesignBuilder, KernelError> {
        let layout = Layout::new(self.dense, self.blocks.clone(), self.norm)?.with_offsets(self.offsets)?;
        DesignBuilder::new(layout, self.family, None)
    }
}

/// What a block of indicators reads.
pub(super) enum Level {
    /// The one level there is.
    Only,
    Of(Compiled),
}

/// How a row is encoded.
pub(super) struct Encoding {
    /// Numbers and the factors they are multiplied by.
    pub numbers: Vec<(Compiled, f64)>,
    pub levels: Vec<Level>,
    pub outcome: Compiled,
    shape: Shape,
}

/// A matrix that grows, and scratch space: runs of numbers, and one row of them.
pub(super) struct Growing {
    builder: DesignBuilder,
    value: Vec<f64>,
    numbers: (Vec<f64>, Vec<f64>),
    levels: (Vec<u32>, Vec<u32>),
}

impl Encoding {
    /// Refuses shapes that the kernel does not serve.
    pub fn new(numbers: Vec<(Compiled, f64)>, levels: Vec<Level>, outcome: Compiled, shape: &Shape) -> Result<Encoding, StatisticError> {
        shape.builder().map_err(|_| StatisticError::Range)?;
        let dense: usize = numbers.iter().map(|(n, _)| n.width()).sum();
        if dense != shape.dense || levels.len() != shape.blocks.len() || outcome.width() != 1 {
            return Err(StatisticError::Expression);
        }
        Ok(Encoding { numbers, levels, outcome, shape: shape.clone() })
    }

    pub fn reads(&self, slots: &std::ops::Range<usize>) -> bool {
        let levels = self.levels.iter().filter_map(|l| if let Level::Of(value) = l { Some(value) } else { None });
        self.numbers.iter().map(|(value, _)| value).chain(levels).chain([&self.outcome]).any(|value| value.reads(slots))
    }

    pub fn start(&self) -> Option<Growing> {
        let builder = self.shape.builder().ok()?;
        Some(Growing { builder, value: vec![], numbers: Default::default(), levels: Default::default() })
    }

    pub fn see(&self, rows: &Batch, into: &mut Growing) {
        let Growing { builder, value, numbers: (numbers, row), levels: (levels, places) } = into;
        numbers.clear();
        for (number, factor) in &self.numbers {
            number.run(rows, value);
            numbers.extend(value.iter().map(|x| x * factor));
        }
        levels.clear();
        for level in &self.levels {
            match level {
                Level::Only => levels.resize(levels.len() + rows.rows(), 0),
                Level::Of(level) => {
                    level.run(rows, value);
                    levels.extend(value.iter().map(|x| x.max(0.0) as u32));
                }
            }
        }
        self.outcome.run(rows, value);
        for (at, outcome) in value.iter().enumerate() {
            row_of(numbers, rows.rows(), at, row);
            row_of(levels, rows.rows(), at, places);
            // The lengths were checked when the encoding was made.
            let _ = builder.push(row, places, *outcome);
        }
    }
}

impl Growing {
    pub fn finish(self) -> Design {
        self.builder.finish()
    }
}
