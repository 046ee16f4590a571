//! One streaming pass over a private file that computes every statistic a program asks of it.

use crate::kernel::Design;
use crate::kernel::density::{Columns, Op};
use crate::model::{self, ColumnId, Expr, Relation, Table, Type};
use crate::private::Private;
use std::ops::Range;

use super::batch::{Batch, row_of};
use super::encode::{Encoding, Growing, Level, Shape};
use super::eval::RowScope;
use super::groups::Grouped;
use super::layout::{offsets, width};
use super::machine::Compiled;
use super::public::check_rows;
use super::row::Rows;
use super::statistic::{Quantizer, check_sum};
use super::units::{Least, Units};
use super::{DataError, Source, StatisticError, parallel};

/// Most totals that one statistic may keep.
const MOST_SUMS: usize = 1 << 24;

/// Most totals of all jobs of which every worker may have its own.
const MOST_SHARED: usize = 1 << 20;

/// What one release asks of the rows of one table.
pub struct Job {
    pub(super) measures: Vec<Measure>,
    /// Rows to keep as they are.
    pub(super) encoding: Option<Encoding>,
    /// Row expressions to keep in doubles, side by side.
    pub(super) columns: Option<(Vec<Compiled>, Vec<Op>)>,
    /// Only rows whose key column (at this slot) is at this level.
    pub(super) group: Option<(usize, f64)>,
}

pub(super) enum Measure {
    Sum(Compiled, Quantizer, Option<Grouped>),
    Levels {
        value: Compiled,
        dim: usize,
        first: f64,
    },
    /// Of `x` and of `y`.
    Moments(Box<[(Compiled, Quantizer); 2]>),
    /// The values on a grid, one by one: the logarithms of those between two ends, where these are given.
    Values(Compiled, Quantizer, Option<model::Range>),
}

/// Exact totals of one job.
pub struct Measured {
    /// Rows kept (of the group, if there is one).
    pub(crate) rows: u64,
    pub(crate) totals: Vec<Totals>,
    /// The rows themselves, where a chain asks for them.
    pub(crate) design: Option<Design>,
    pub(crate) columns: Option<Columns>,
}

/// Integers in units of a power of two.
pub struct Totals {
    pub(crate) sums: Vec<i128>,
    pub(crate) exponent: i32,
    /// `sum x x'`, row-major, of `Moments`.
    pub(crate) products: Vec<i128>,
    pub(crate) products_exponent: i32,
    /// One of every row, in the order of the file.
    pub(crate) values: Vec<i64>,
}

impl Job {
    /// Nothing but the number of rows.
    pub fn rows(group: Option<(ColumnId, usize)>, table: &Table) -> Result<Job, StatisticError> {
        let group = match group {
            None => None,
            Some((column, level)) => {
                let (starts, _) = offsets(table);
                let slot = starts.get(column.0).ok_or(StatisticError::Expression)?;
                Some((*slot, level as f64))
            }
        };
        Ok(Job { measures: vec![], encoding: None, columns: None, group })
    }

    /// Adds the sum of a row expression; totals are in the order of the calls.
    pub fn sum(&mut self, value: &Expr, rows: &RowScope) -> Result<(), StatisticError> {
        let quantizer = Quantizer::new(&value.ty)?;
        check_sum(quantizer.largest().into())?;
        self.add(Measure::Sum(rows.compile(value)?, quantizer, Grouped::new(value, rows)?), width(&value.ty))
    }

    /// Exponents of the grids of the first sums, and of their products.
    pub fn grids(&self) -> (i32, i32) {
        match self.measures.first() {
            Some(Measure::Sum(_, quantizer, _)) => (quantizer.exponent(), 0),
            Some(Measure::Moments(parts)) => {
                let [(_, x), (_, y)] = parts.as_ref();
                (x.exponent() + y.exponent(), 2 * x.exponent())
            }
            _ => (0, 0),
        }
    }

    /// Adds the number of rows at each of `dim` levels, the first of which is `first`.
    pub fn levels(&mut self, value: &Expr, dim: u64, first: i64, rows: &RowScope) -> Result<(), StatisticError> {
        let dim = usize::try_from(dim).map_err(|_| StatisticError::Range)?;
        let value = rows.compile(value)?;
        let first = first as f64;
        self.add(Measure::Levels { value, dim, first }, dim)
    }

    /// Adds `sum x y`, for each number of y one after the other, and `sum x x'`.
    pub fn moments(&mut self, x: &Expr, y: &Expr, rows: &RowScope) -> Result<(), StatisticError> {
        let (qx, qy) = (Quantizer::new(&x.ty)?, Quantizer::new(&y.ty)?);
        let (a, b) = (u128::from(qx.largest()), u128::from(qy.largest()));
        check_sum(a * b)?;
        check_sum(a * a)?;
        let totals = width(&x.ty).saturating_mul(width(&x.ty).max(width(&y.ty)));
        let parts = [(rows.compile(x)?, qx), (rows.compile(y)?, qy)];
        self.add(Measure::Moments(Box::new(parts)), totals)
    }

    /// Keeps features and outcome of every row; `None` for an intercept.
    pub fn encode(
        &mut self,
        features: &[Option<(&Expr, f64)>],
        outcome: &Expr,
        shape: &Shape,
        rows: &RowScope,
    ) -> Result<(), StatisticError> {
        let (mut numbers, mut levels) = (vec![], vec![]);
        for feature in features {
            match feature {
                None => levels.push(Level::Only),
                Some((e, _)) if matches!(e.ty, Type::Category(_)) => levels.push(Level::Of(rows.compile(e)?)),
                Some((e, factor)) => numbers.push((rows.compile(e)?, *factor)),
            }
        }
        self.encoding = Some(Encoding::new(numbers, levels, rows.compile(outcome)?, shape)?);
        Ok(())
    }

    /// Keeps row expressions of every row, a vector as one column a component, and what follows from them.
    pub fn columns(&mut self, values: &[Expr], derived: Vec<Op>, rows: &RowScope) -> Result<(), StatisticError> {
        let values = values.iter().map(|e| rows.compile(e)).collect::<Result<_, _>>()?;
        self.columns = Some((values, derived));
        Ok(())
    }

    fn add(&mut self, measure: Measure, totals: usize) -> Result<(), StatisticError> {
        if totals > MOST_SUMS {
            return Err(StatisticError::Range);
        }
        self.measures.push(measure);
        Ok(())
    }

    /// Keeps a row expression on the grid of a type: its logarithm, moved between two ends first, where these are given.
    pub fn values(&mut self, value: &Expr, ty: &Type, log_of: Option<model::Range>, rows: &RowScope) -> Result<(), StatisticError> {
        self.add(Measure::Values(rows.compile(value)?, Quantizer::new(ty)?, log_of), 0)
    }

    /// Is any of these slots of a row looked at?
    fn reads(&self, slots: &Range<usize>) -> bool {
        let of = |m: &Measure| match m {
            Measure::Sum(_, _, Some(groups)) => groups.reads(slots),
            Measure::Sum(value, ..) | Measure::Levels { value, .. } | Measure::Values(value, ..) => value.reads(slots),
            Measure::Moments(parts) => parts.iter().any(|(value, _)| value.reads(slots)),
        };
        let values = self.columns.iter().flat_map(|(values, _)| values);
        self.group.is_some_and(|(slot, _)| slots.contains(&slot))
            || self.measures.iter().any(of)
            || self.encoding.as_ref().is_some_and(|e| e.reads(slots))
            || values.into_iter().any(|value| value.reads(slots))
    }

    /// Do all jobs add integers alone, few enough for every worker to have its own?
    fn only_add(jobs: &[Job]) -> bool {
        let sums = |m: &Measure| match m {
            Measure::Values(..) => None,
            other => Some(other.zero()).map(|t| t.sums.len() + t.products.len()),
        };
        let of = |job: &Job| match (&job.encoding, &job.columns) {
            (None, None) => job.measures.iter().map(sums).sum::<Option<usize>>(),
            _ => None,
        };
        jobs.iter().map(of).sum::<Option<usize>>().is_some_and(|all| all <= MOST_SHARED)
    }

    fn empty(&self) -> Measured {
        let columns = self.columns.as_ref().map(|(c, _)| Columns::new(c.iter().map(Compiled::width).sum()));
        Measured { rows: 0, totals: self.measures.iter().map(Measure::zero).collect(), design: None, columns }
    }
}

/// Scratch space of one pass.
#[derive(Default)]
struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
    x: Vec<i64>,
    y: Vec<i64>,
}

impl Measure {
    pub(super) fn zero(&self) -> Totals {
        let of = |n: usize, exponent| Totals { sums: vec![0; n], exponent, products: vec![], products_exponent: 0, values: vec![] };
        match self {
            Measure::Sum(value, q, _) => of(value.width(), q.exponent()),
            Measure::Levels { dim, .. } => of(*dim, 0),
            Measure::Values(_, q, _) => of(0, q.exponent()),
            Measure::Moments(parts) => {
                let [x, y] = parts.as_ref();
                let d = x.0.width();
                Totals {
                    sums: vec![0; d * y.0.width()],
                    exponent: x.1.exponent() + y.1.exponent(),
                    products: vec![0; d * d],
                    products_exponent: 2 * x.1.exponent(),
                    values: vec![],
                }
            }
        }
    }

    /// Adds some rows. Sums saturate; their bound was checked before the data was opened.
    fn see(&self, batch: &Batch, totals: &mut Totals, scratch: &mut Scratch) {
        let rows = batch.rows().max(1);
        let Scratch { a, b, x, y } = scratch;
        match self {
            Measure::Sum(_, q, Some(groups)) => groups.see(batch, q, &mut totals.sums, (a, x)),
            Measure::Sum(value, q, None) => {
                value.run(batch, a);
                q.all(a, value.corner(), rows, x);
                for (sum, run) in totals.sums.iter_mut().zip(x.chunks(rows)) {
                    *sum = sum.saturating_add(run.iter().map(|x| i128::from(*x)).sum());
                }
            }
            Measure::Levels { value, dim, first } => {
                value.run(batch, a);
                let last = dim.saturating_sub(1) as f64;
                for x in a.iter() {
                    let bin = (x - first).max(0.0).min(last) as usize;
                    if let Some(sum) = totals.sums.get_mut(bin) {
                        *sum = sum.saturating_add(1);
                    }
                }
            }
            Measure::Values(value, q, log_of) => {
                value.run(batch, a);
                let log = |x: &f64| log_of.map_or(*x, |ends| libm::log(x.max(ends.lo).min(ends.hi)));
                totals.values.extend(a.iter().map(|x| q.scalar(log(x))));
            }
            Measure::Moments(parts) => {
                let [of_x, of_y] = parts.as_ref();
                of_x.0.run(batch, a);
                of_y.0.run(batch, b);
                of_x.1.all(a, of_x.0.corner(), rows, x);
                of_y.1.all(b, of_y.0.corner(), rows, y);
                // Of a product of 127 bits at most: `check_sum` bounds the sum over any file.
                let product =
                    |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| i128::from(*a) * i128::from(*b)).fold(0, i128::saturating_add);
                let d = x.chunks(rows).len().max(1);
                let pairs = y.chunks(rows).flat_map(|y| x.chunks(rows).map(move |x| (x, y)));
                for (sum, (x, y)) in totals.sums.iter_mut().zip(pairs) {
                    *sum = sum.saturating_add(product(x, y));
                }
                for (sums, a) in totals.products.chunks_mut(d).zip(x.chunks(rows)) {
                    for (sum, b) in sums.iter_mut().zip(x.chunks(rows)) {
                        *sum = sum.saturating_add(product(a, b));
                    }
                }
            }
        }
    }
}

/// What a pass keeps of the rows that it has seen.
struct Pass<'a> {
    jobs: &'a [Job],
    all: Vec<Measured>,
    growing: Vec<Option<Growing>>,
    scratch: Scratch,
    /// The rows of one group.
    part: Batch,
    kept: u64,
}

impl<'a> Pass<'a> {
    fn new(jobs: &'a [Job]) -> Pass<'a> {
        let growing = jobs.iter().map(|j| j.encoding.as_ref().and_then(Encoding::start)).collect();
        Pass { jobs, all: jobs.iter().map(Job::empty).collect(), growing, scratch: Scratch::default(), part: Batch::default(), kept: 0 }
    }

    fn see(&mut self, batch: &Batch) {
        let Pass { jobs, all, growing, scratch, part, kept } = self;
        *kept += batch.rows() as u64;
        for ((job, measured), matrix) in jobs.iter().zip(all).zip(growing) {
            let rows = match job.group {
                None => batch,
                Some((slot, level)) => {
                    batch.only(slot, level, part);
                    &*part
                }
            };
            if rows.rows() == 0 {
                continue;
            }
            measured.rows += rows.rows() as u64;
            if let (Some(encoding), Some(matrix)) = (&job.encoding, matrix) {
                encoding.see(rows, matrix);
            }
            if let (Some((values, _)), Some(columns)) = (&job.columns, &mut measured.columns) {
                scratch.b.clear();
                for value in values {
                    value.run(rows, &mut scratch.a);
                    scratch.b.extend_from_slice(&scratch.a);
                }
                for at in 0..rows.rows() {
                    row_of(&scratch.b, rows.rows(), at, &mut scratch.a);
                    columns.push(&scratch.a);
                }
            }
            for (measure, totals) in job.measures.iter().zip(&mut measured.totals) {
                measure.see(rows, totals, scratch);
            }
        }
    }

    /// Adds the sums of other rows.
    fn add(&mut self, other: &Pass) {
        self.kept += other.kept;
        for (ours, theirs) in self.all.iter_mut().zip(&other.all) {
            ours.rows += theirs.rows;
            for (a, b) in ours.totals.iter_mut().zip(&theirs.totals) {
                let sums = a.sums.iter_mut().zip(&b.sums);
                sums.chain(a.products.iter_mut().zip(&b.products)).for_each(|(a, b)| *a = a.saturating_add(*b));
            }
        }
    }
}

/// Shows all kept rows, in the order of the file, or unit by unit where a column says which are kept.
fn each_batch(table: &Table, rows: Rows, mut see: impl FnMut(&Batch)) -> Result<(), DataError> {
    let Some(mut units) = Units::new(table) else { return parallel::in_order(rows, see) };
    let mut batch = Batch::new(rows.slots());
    let mut keep = |row: &[f64]| {
        batch.push(row);
        if batch.is_full() {
            see(&batch);
            batch.clear();
        }
    };
    match Least::new(table) {
        Some(mut least) => {
            parallel::in_order(rows, |some| least.see(some))?;
            least.rows().for_each(|row| keep(&row));
        }
        None => {
            let mut done = Ok(());
            parallel::in_order(rows, |some| {
                if done.is_ok() {
                    done = units.see(some, &mut keep);
                }
            })?;
            done?;
            units.finish(&mut keep)?;
        }
    }
    see(&batch);
    Ok(())
}

/// Opens a file for what looks at these slots; an order of a unit's rows is one by all columns.
fn opened(table: &Table, source: Source, wanted: impl Fn(&Range<usize>) -> bool) -> Result<Rows, DataError> {
    Rows::batches(table, source, |slots| table.order.is_some() || wanted(slots))
}

/// Is the number of rows public?
pub fn rows_are_public(table: &Table) -> bool {
    !table.private || table.relation == Relation::ReplaceOne
}

/// The public number of kept rows of a table with public n; `None` where n is secret.
pub fn count_rows(table: &Table, source: Source) -> Result<Option<u64>, DataError> {
    let rows = opened(table, source, |_| false)?;
    if !rows_are_public(table) {
        return Ok(None);
    }
    let mut count = 0u64;
    if table.unit.is_none() {
        count = parallel::in_parts(rows, || 0u64, |count, rows| *count += rows.rows() as u64)?.iter().sum();
    } else {
        each_batch(table, rows, |rows| count += rows.rows() as u64)?;
    }
    check_rows(table, count)?;
    Ok(Some(count))
}

/// Runs every job in one pass; the answers are in the order of the jobs.
///
/// Fails only on public facts: the header, the file itself, a public number of rows.
pub fn scan(table: &Table, source: Source, jobs: &[Job]) -> Result<Vec<Private<Measured>>, DataError> {
    let mut pass = Pass::new(jobs);
    let rows = opened(table, source, |slots| jobs.iter().any(|job| job.reads(slots)))?;
    if table.unit.is_none() && Job::only_add(jobs) {
        for part in parallel::in_parts(rows, || Pass::new(jobs), Pass::see)? {
            pass.add(&part);
        }
    } else {
        each_batch(table, rows, |rows| pass.see(rows))?;
    }
    if rows_are_public(table) {
        check_rows(table, pass.kept)?;
    }
    for ((measured, matrix), job) in pass.all.iter_mut().zip(pass.growing).zip(jobs) {
        measured.design = matrix.map(Growing::finish);
        if let (Some(columns), Some((_, derived))) = (&mut measured.columns, &job.columns) {
            columns.derive(derived);
        }
    }
    Ok(pass.all.into_iter().map(Private::new).collect())
}
