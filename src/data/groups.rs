//! Sums in groups: of a row whose numbers count in one group of many, this group alone is looked at.

use super::StatisticError;
use super::batch::Batch;
use super::eval::RowScope;
use super::machine::Compiled;
use super::statistic::Quantizer;
use crate::model::{Binary, Builtin, Expr, ExprKind, Type};

/// `[(key == a) * block, (key == b) * block, ..]` over all levels of a category or a bool, or of several keys: the integers that its
/// components are rounded to, without those that are 0.
pub(super) struct Grouped {
    /// Keys, and how many levels each has.
    keys: Vec<(Compiled, usize)>,
    block: Compiled,
}

impl Grouped {
    /// `None` where the expression is anything else.
    pub fn new(value: &Expr, rows: &RowScope) -> Result<Option<Grouped>, StatisticError> {
        let Some((keys, block)) = parts(value) else { return Ok(None) };
        // Zeros add nothing to a norm: what a block is moved by is what the whole vector would be.
        let block = rows.compile(block)?.typed(&value.ty);
        let keys = keys.into_iter().map(|(key, levels)| Ok((rows.compile(key)?, levels))).collect::<Result<_, _>>()?;
        Ok(Some(Grouped { keys, block }))
    }

    pub fn reads(&self, slots: &std::ops::Range<usize>) -> bool {
        self.block.reads(slots) || self.keys.iter().any(|(key, _)| key.reads(slots))
    }

    /// Adds some rows to the sums of all components.
    pub fn see(&self, batch: &Batch, q: &Quantizer, sums: &mut [i128], (a, x): (&mut Vec<f64>, &mut Vec<i64>)) {
        let rows = batch.rows().max(1);
        self.block.run(batch, a);
        q.all(a, self.block.corner(), rows, x);
        let mut groups = vec![0; rows];
        for (key, levels) in &self.keys {
            key.run(batch, a);
            groups.iter_mut().zip(a.iter()).for_each(|(group, level)| *group = *group * levels + *level as usize);
        }
        for (at, run) in x.chunks(rows).enumerate() {
            for (group, x) in groups.iter().zip(run) {
                if let Some(sum) = sums.get_mut(group * self.block.width() + at) {
                    *sum = sum.saturating_add((*x).into());
                }
            }
        }
    }
}

/// Keys, each with a level or with the number of its levels, and the block that they stand before.
type Parts<'a> = (Vec<(&'a Expr, usize)>, &'a Expr);

/// The keys with the number of their levels, and the block, where every item of the list is the same block for other levels, in their order.
fn parts(value: &Expr) -> Option<Parts<'_>> {
    let ExprKind::List(items) = &value.kind else { return None };
    let all = items.iter().map(part).collect::<Option<Vec<_>>>()?;
    let (first, block) = all.first()?;
    let levels = |key: &Expr| match &key.ty {
        Type::Category(levels) => Some(levels.len()),
        Type::Bool => Some(2),
        _ => None,
    };
    let keys = first.iter().map(|(key, _)| Some((*key, levels(key)?))).collect::<Option<Vec<_>>>()?;
    let is_in_order = |(at, (found, b)): (usize, &Parts)| {
        let same = found.len() == keys.len() && found.iter().zip(&keys).all(|((a, _), (b, _))| a.same(b)) && b.same(block);
        same && found.iter().zip(&keys).fold(0, |group, ((_, level), (_, levels))| group * levels + level) == at
    };
    // A range that holds 0 is the range of every product as well.
    let zero = value.ty.range().is_some_and(|r| r.contains(0.0));
    let whole = keys.iter().map(|(_, levels)| levels).product::<usize>() == items.len();
    (zero && whole && all.iter().enumerate().all(is_in_order)).then_some((keys, block))
}

/// The keys and their levels, and the block of one group.
fn part(item: &Expr) -> Option<Parts<'_>> {
    let ExprKind::Call(Builtin::Mul, args) = &item.kind else { return None };
    let [condition, block] = args.as_slice() else { return None };
    let mut keys = vec![];
    conditions(condition, &mut keys)?;
    Some((keys, block))
}

fn conditions<'e>(e: &'e Expr, keys: &mut Vec<(&'e Expr, usize)>) -> Option<()> {
    let ExprKind::Call(f, args) = &e.kind else { return None };
    let [a, b] = args.as_slice() else { return None };
    if *f == Builtin::Binary(Binary::And) {
        conditions(a, keys)?;
        return conditions(b, keys);
    }
    let level = match &b.kind {
        ExprKind::Level(i) => *i,
        ExprKind::Bool(b) => usize::from(*b),
        _ => return None,
    };
    (*f == Builtin::Eq).then(|| keys.push((a, level)))
}
