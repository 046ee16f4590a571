//! Logistic rows with a predictor that is linear in columns: what the fused kernel of regressions needs to know.

use super::expression::Lowering;
use crate::kernel::density::{Columns, Fused, One, Op, Operand, Two};
use crate::kernel::{Block, Design, DesignBuilder, Family, KernelError, Layout};
use crate::mechanism::plan::Loss;
use crate::numeric::{Binary, Unary};

/// Longer rows are shortened to this norm before they are stored in 32 bits; the loss is bounded whatever the row.
const LONGEST: f64 = 1e30;

/// A regression on columns: every feature with its coefficients, which are constants or shared numbers.
pub struct Linear {
    family: Family,
    outcome: u32,
    numbers: Vec<(u32, Operand)>,
    /// A column of levels (none for an intercept) and one coefficient a level.
    levels: Vec<(Option<u32>, Vec<Operand>)>,
}

impl Linear {
    /// The rows in the kernel's own order.
    pub fn design(&self, columns: &Columns) -> Result<Design, KernelError> {
        let blocks = self.levels.iter().map(|(_, table)| Block::full(table.len())).collect();
        let layout = Layout::new(self.numbers.len(), blocks, LONGEST)?;
        let mut builder = DesignBuilder::new(layout, self.family, Some(columns.rows()))?;
        let (mut numbers, mut levels) = (vec![], vec![]);
        let mut result = Ok(());
        columns.each(|row| {
            let at = |i: u32| row.get(i as usize).copied().unwrap_or(0.0);
            numbers.clear();
            numbers.extend(self.numbers.iter().map(|(i, _)| at(*i)));
            levels.clear();
            levels.extend(self.levels.iter().map(|(i, _)| i.map_or(0, |i| at(i).max(0.0) as u32)));
            result = result.and(builder.push(&numbers, &levels, at(self.outcome)));
        });
        result.map(|()| builder.finish())
    }

    /// The losses of a design as one pass.
    pub fn fused<'a>(&self, design: &'a Design) -> Result<Fused<'a>, KernelError> {
        let numbers = self.numbers.iter().map(|(_, w)| *w);
        Fused::new(design, numbers.chain(self.levels.iter().flat_map(|(_, table)| table.iter().copied())).collect())
    }
}

impl Lowering<'_> {
    /// Reads the last predictor as a sum of coefficients times columns.
    pub fn linear(&mut self, loss: Loss) -> Option<Linear> {
        let (Operand::Column(outcome), t) = self.predictor? else { return None };
        let family = match loss {
            Loss::NegativeLog => Family::Logistic,
            Loss::Beta { beta } => Family::BetaLogistic { beta },
        };
        let mut linear = Linear { family, outcome, numbers: vec![], levels: vec![] };
        self.terms(t, 1.0, &mut linear)?;
        (!linear.numbers.is_empty() || !linear.levels.is_empty()).then_some(linear)
    }

    fn terms(&mut self, t: Operand, factor: f64, into: &mut Linear) -> Option<()> {
        match t {
            Operand::Constant(_) | Operand::Shared(_) => {
                let w = self.to.scale(factor, t);
                into.levels.push((None, vec![w]));
                return Some(());
            }
            Operand::Column(i) => {
                into.numbers.push((i, Operand::Constant(factor)));
                return Some(());
            }
            Operand::Local(_) => {}
        }
        match self.to.behind(t).cloned()? {
            Op::Unary(One::Of(Unary::Neg), a) => self.terms(a, -factor, into),
            Op::Binary(Two::Of(Binary::Add), a, b) => {
                self.terms(a, factor, into)?;
                self.terms(b, factor, into)
            }
            Op::Binary(Two::Of(Binary::Sub), a, b) => {
                self.terms(a, factor, into)?;
                self.terms(b, -factor, into)
            }
            Op::Binary(Two::Of(Binary::Mul), Operand::Constant(k), a) | Op::Binary(Two::Of(Binary::Mul), a, Operand::Constant(k)) => {
                self.terms(a, factor * k, into)
            }
            Op::Binary(Two::Of(Binary::Mul), a, b) => self.product(a, b, factor, into),
            Op::Sum(items) => items.into_iter().try_for_each(|item| self.terms(item, factor, into)),
            Op::Dot(pairs) => pairs.into_iter().try_for_each(|(a, b)| self.product(a, b, factor, into)),
            Op::Gather(Operand::Column(i), table) => {
                let fixed = |w: &Operand| matches!(w, Operand::Constant(_) | Operand::Shared(_));
                if !table.iter().all(fixed) {
                    return None;
                }
                let table = table.into_iter().map(|w| self.to.scale(factor, w)).collect();
                into.levels.push((Some(i), table));
                Some(())
            }
            _ => None,
        }
    }

    fn product(&mut self, a: Operand, b: Operand, factor: f64, into: &mut Linear) -> Option<()> {
        use Operand::{Column, Constant, Shared};
        let (i, w) = match (a, b) {
            (Column(i), w @ (Constant(_) | Shared(_))) | (w @ (Constant(_) | Shared(_)), Column(i)) => (i, w),
            _ => return None,
        };
        into.numbers.push((i, self.to.scale(factor, w)));
        Some(())
    }
}
