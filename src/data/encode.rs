//! Rows kept for a chain: features and outcomes of every row, encoded once as the likelihood kernel reads them.

use super::StatisticError;
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

/// A matrix that grows row by row.
pub(super) struct Growing {
    builder: DesignBuilder,
    value: Vec<f64>,
    numbers: Vec<f64>,
    levels: Vec<u32>,
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

    pub fn start(&self) -> Option<Growing> {
        let builder = self.shape.builder().ok()?;
        Some(Growing { builder, value: vec![], numbers: vec![], levels: vec![] })
    }

    pub fn see(&self, row: &[f64], into: &mut Growing) {
        into.numbers.clear();
        for (number, factor) in &self.numbers {
            number.run(row, &mut into.value);
            into.numbers.extend(into.value.iter().map(|x| x * factor));
        }
        into.levels.clear();
        for level in &self.levels {
            let level = match level {
                Level::Only => 0.0,
                Level::Of(level) => {
                    level.run(row, &mut into.value);
                    into.value.first().copied().unwrap_or(0.0)
                }
            };
            into.levels.push(level.max(0.0) as u32);
        }
        self.outcome.run(row, &mut into.value);
        let outcome = into.value.first().copied().unwrap_or(0.0);
        // The lengths were checked when the encoding was made.
        let _ = into.builder.push(&into.numbers, &into.levels, outcome);
    }
}

impl Growing {
    pub fn finish(self) -> Design {
        self.builder.finish()
    }
}
