//! Public tables and values bound on the command line: what rules and outputs may read of them.

use super::value::Value;
use crate::analyze::PublicData;
use crate::data::eval::{Environment, NoEnvironment, compile};
use crate::data::layout::width;
use crate::data::{PublicTable, agreed_part};
use crate::mechanism::plan::{Feature, Statistic, StatisticKind};
use crate::model::{Builtin, Expr, ExprKind, Program, ScalarId, Table, TableId};
use crate::rules::{Design, Features, Totals};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Everything that `--public` named.
#[derive(Default)]
pub struct Bound {
    pub tables: BTreeMap<TableId, PublicTable>,
    pub scalars: BTreeMap<ScalarId, f64>,
    pub program: Option<Program>,
    /// Designs that were asked for.
    pub designs: RefCell<Vec<(Features, Option<Design>)>>,
}

impl Bound {
    /// A table as its rows are kept: of a private one the columns that neighbours keep.
    fn declared(&self, table: TableId) -> Option<Cow<'_, Table>> {
        let declared = self.program.as_ref()?.tables.get(table.0)?;
        Some(if declared.private { Cow::Owned(agreed_part(declared)) } else { Cow::Borrowed(declared) })
    }

    /// `X'X` over all rows, upper triangle, row by row.
    fn products(&self, wanted: &Features) -> Option<Design> {
        let (rows, declared) = (self.tables.get(&wanted.table)?, self.declared(wanted.table)?);
        let read = |e: &Expr| compile(e, wanted.table, &declared, &NoEnvironment).ok();
        let parts: Option<Vec<_>> = wanted
            .columns
            .iter()
            .map(|(feature, sd)| match feature {
                Feature::One => Some((None, *sd, 1)),
                Feature::Value(e, factor) => Some((Some(read(e)?), factor * sd, 0)),
                Feature::Level(e, factor) => Some((Some(read(e)?), factor * sd, e.ty.levels()?.len())),
            })
            .collect();
        let parts = parts?;
        let (mut stack, mut x, mut products) = (vec![], vec![], vec![0.0; wanted.dim * (wanted.dim + 1) / 2]);
        for i in 0..rows.rows {
            let row = rows.row(i);
            x.clear();
            for (value, factor, levels) in &parts {
                match value {
                    None => x.push(*factor),
                    Some(value) => {
                        value.row(&row, &mut stack);
                        let at = stack.first().map_or(0.0, |level| level.max(0.0));
                        match levels {
                            0 => x.extend(stack.iter().map(|v| v * factor)),
                            levels => x.extend((0..*levels).map(|l| if l as f64 == at { *factor } else { 0.0 })),
                        }
                    }
                }
            }
            if x.len() != wanted.dim {
                return None;
            }
            let mut sums = products.iter_mut();
            for (j, a) in x.iter().enumerate() {
                let line = x.get(j..).unwrap_or(&[]);
                line.iter().zip(&mut sums).for_each(|(b, sum)| *sum += a * b);
            }
        }
        Design::new(rows.rows as u64, products)
    }

    /// Visits the values of a row expression, row by row.
    fn rows(&self, table: TableId, value: &Expr, env: &dyn Environment, mut visit: impl FnMut(&[f64])) -> Option<()> {
        let (rows, declared) = (self.tables.get(&table)?, self.declared(table)?);
        let compiled = compile(value, table, &declared, env).ok()?;
        let mut stack = vec![];
        for i in 0..rows.rows {
            compiled.row(&rows.row(i), &mut stack);
            visit(&stack);
        }
        Some(())
    }

    fn sums(&self, table: TableId, value: &Expr, env: &dyn Environment) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; width(&value.ty)];
        self.rows(table, value, env, |row| sums.iter_mut().zip(row).for_each(|(s, x)| *s += x))?;
        Some(sums)
    }

    fn levels(&self, (table, value): (TableId, &Expr), dim: u64, first: i64, env: &dyn Environment) -> Option<Vec<f64>> {
        let mut counts = vec![0.0; usize::try_from(dim).ok()?];
        self.rows(table, value, env, |row| {
            let at = row.first().copied().unwrap_or(0.0) - first as f64;
            if let Some(c) = counts.get_mut(if at > 0.0 { at as usize } else { 0 }) {
                *c += 1.0;
            }
        })?;
        Some(counts)
    }

    /// An aggregate over a public table, or over public columns, with what else is known to everyone.
    pub fn aggregate(&self, e: &Expr, env: &dyn Environment) -> Option<Value> {
        let ExprKind::Call(f, args) = &e.kind else { return None };
        let x = args.first()?;
        let mut table = None;
        x.walk(&mut |e| {
            if let ExprKind::Column(t, _) = e.kind {
                table = Some(t);
            }
        });
        let table = table?;
        let scalar = |v: Vec<f64>| match v.as_slice() {
            [x] => Value::Number(*x),
            _ => Value::Vector(v),
        };
        let flat = || {
            let mut all = vec![];
            self.rows(table, x, env, |row| all.extend_from_slice(row)).map(|()| all)
        };
        match f {
            Builtin::RowSum => self.sums(table, x, env).map(scalar),
            Builtin::RowMean => {
                let n = self.tables.get(&table)?.rows.max(1) as f64;
                self.sums(table, x, env).map(|s| scalar(s.into_iter().map(|s| s / n).collect()))
            }
            Builtin::Poststratify => flat().map(Value::Vector),
            Builtin::RowMin => flat().map(|v| Value::Number(v.into_iter().fold(f64::INFINITY, f64::min))),
            Builtin::RowMax => flat().map(|v| Value::Number(v.into_iter().fold(f64::NEG_INFINITY, f64::max))),
            Builtin::RowHistogram => {
                let levels = e.ty.levels()?.len() as u64;
                let first = x.ty.range().filter(|_| !matches!(x.ty, crate::model::Type::Bool)).map_or(0, |r| r.lo as i64);
                self.levels((table, x), levels, first, env).map(Value::Vector)
            }
            Builtin::RowQuantile => {
                let level = args.get(1)?;
                let levels = level.constant().map(|q| vec![q]).or_else(|| env.value(level))?;
                let mut v = flat()?;
                v.sort_by(f64::total_cmp);
                let at = |q: f64| v.get((q * v.len().saturating_sub(1) as f64).round() as usize).copied();
                levels.into_iter().map(at).collect::<Option<Vec<f64>>>().map(scalar)
            }
            _ => None,
        }
    }
}

impl PublicData for Bound {
    fn totals(&self, statistic: &Statistic) -> Option<Totals> {
        let rows = self.tables.get(&statistic.table)?.rows as u64;
        let sums = match &statistic.kind {
            StatisticKind::Sum(value) => self.sums(statistic.table, value, &NoEnvironment)?,
            StatisticKind::Levels { value, dim, first } => self.levels((statistic.table, value), *dim, *first, &NoEnvironment)?,
            StatisticKind::Moments { .. } | StatisticKind::Rows { .. } | StatisticKind::Columns(_) => return None,
        };
        Some(Totals { rows, sums })
    }

    fn design(&self, wanted: &Features) -> Option<Design> {
        let known = self.designs.borrow().iter().find(|(f, _)| f == wanted).map(|(_, d)| d.clone());
        known.unwrap_or_else(|| {
            let found = self.products(wanted);
            self.designs.borrow_mut().push((wanted.clone(), found.clone()));
            found
        })
    }

    fn scalars(&self) -> &BTreeMap<ScalarId, f64> {
        &self.scalars
    }

    fn digest(&self, name: &str) -> Option<String> {
        let program = self.program.as_ref()?;
        // Among those that are bound: a program may declare tens of thousands.
        let named = |id: &TableId| program.tables.get(id.0).is_some_and(|t| t.name == name);
        self.tables.iter().find(|(id, _)| named(id)).map(|(_, table)| table.digest())
    }
}
