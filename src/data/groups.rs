//! Sums in groups: of a row whose numbers count in one group of many, this group alone is looked at.

use super::StatisticError;
use super::batch::Batch;
use super::machine::Compiled;
use super::scan::RowScope;
use super::statistic::Quantizer;
use crate::model::{Builtin, Expr, ExprKind, Type};

/// `[(key == a) * block, (key == b) * block, ..]` over all levels of a category: the integers that its components are rounded to, without
/// those that are 0.
pub(super) struct Grouped {
    key: Compiled,
    block: Compiled,
}

impl Grouped {
    /// `None` where the expression is anything else.
    pub fn new(value: &Expr, rows: &RowScope) -> Result<Option<Grouped>, StatisticError> {
        let Some((key, block)) = parts(value) else { return Ok(None) };
        // Zeros add nothing to a norm: what a block is moved by is what the whole vector would be.
        let block = rows.compile(block)?.typed(&value.ty);
        Ok(Some(Grouped { key: rows.compile(key)?, block }))
    }

    pub fn reads(&self, slots: &std::ops::Range<usize>) -> bool {
        self.key.reads(slots) || self.block.reads(slots)
    }

    /// Adds some rows to the sums of all components.
    pub fn see(&self, batch: &Batch, q: &Quantizer, sums: &mut [i128], (a, x): (&mut Vec<f64>, &mut Vec<i64>)) {
        let rows = batch.rows().max(1);
        self.block.run(batch, a);
        q.all(a, self.block.corner(), rows, x);
        self.key.run(batch, a);
        for (at, run) in x.chunks(rows).enumerate() {
            for (level, x) in a.iter().zip(run) {
                if let Some(sum) = sums.get_mut(*level as u32 as usize * self.block.width() + at) {
                    *sum = sum.wrapping_add((*x).into());
                }
            }
        }
    }
}

/// The key and the block, where every item of the list is the same block for another level, in their order.
fn parts(value: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::List(items) = &value.kind else { return None };
    let all = items.iter().zip(0..).map(|(item, level)| part(item, level)).collect::<Option<Vec<_>>>()?;
    let (key, block) = *all.first()?;
    let Type::Category(levels) = &key.ty else { return None };
    let same = all.iter().all(|(k, b)| k.same(key) && b.same(block));
    // A range that holds 0 is the range of every product as well.
    let zero = value.ty.range().is_some_and(|r| r.contains(0.0));
    (same && zero && levels.len() == items.len()).then_some((key, block))
}

/// The key and the block of one level.
fn part(item: &Expr, level: usize) -> Option<(&Expr, &Expr)> {
    let ExprKind::Call(Builtin::Mul, args) = &item.kind else { return None };
    let [Expr { kind: ExprKind::Call(Builtin::Eq, sides), .. }, block] = args.as_slice() else { return None };
    let [key, Expr { kind: ExprKind::Level(found), .. }] = sides.as_slice() else { return None };
    (*found == level).then_some((key, block))
}
