//! The steps of a program in order: draws, outputs, branches on released values, groups.

use super::bound::Bound;
use super::evaluate::{Known, NoValue, evaluate};
use super::late::{Law, is_late, late};
use super::mentions::{asked_columns, mentioned_releases, mentioned_tables};
use super::posterior;
use super::predict::warning;
use super::rebind::plan;
use super::shape::shape;
use super::value::Value;
use crate::analyze::{Analysis, ReleaseAnalysis};
use crate::data::eval::Environment;
use crate::data::{Counts, DataError, Measured, Source, count_rows, public_part, scan};
use crate::mechanism::bits::OsBits;
use crate::mechanism::plan::MechanismPlan;
use crate::mechanism::{MechanismError, Scope, execute as draw, prepare};
use crate::model::record::margins;
use crate::model::{ColumnId, Each, Expr, Program, Query, ReleaseId, ReleaseStep, Step, TableId, Type, VectorType, moments, releases};
use crate::private::Private;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Where private tables come from, and where randomness comes from: one source of bits for each release.
pub trait Files {
    fn open(&self, table: TableId) -> Result<Source, DataError>;
    /// What an engine has counted of the rows, in their place.
    fn counts(&self, _: TableId) -> Option<&Counts> {
        None
    }
    fn bits(&self) -> Result<OsBits, MechanismError>;
}

/// Why a run ended early. Nothing here depends on a private value.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    Data(TableId, DataError),
    /// Before any data were opened: this release has no plan, or its rows cannot be computed.
    NotRunnable(String),
    /// After data were opened; a fixed text.
    Mechanism(MechanismError),
    Value(NoValue),
}

/// What a run publishes, in program order.
#[derive(Default)]
pub struct Results {
    pub releases: Vec<(String, Value, Type)>,
    pub outputs: Vec<(String, Value, Type)>,
    /// What a model of a released table of counts needs to know of it.
    pub laws: Vec<(String, Law)>,
    /// Which values are not to be trusted, and why.
    pub warnings: Vec<String>,
    /// Why chains did not end; what they would have given is missing from the outputs.
    pub failed: Option<NoValue>,
}

/// Table, key column and level of the `each` that we are in.
type Group = Option<(TableId, ColumnId, usize)>;

/// The group as mechanisms see it; a release from another table than the grouped one has no plan (checked before).
fn scope_of(group: Group, table: TableId) -> Option<Option<(ColumnId, usize)>> {
    match group {
        None => Some(None),
        Some((t, key, level)) if t == table => Some(Some((key, level))),
        Some(_) => None,
    }
}

struct Runner<'r> {
    program: &'r Program,
    analysis: &'r Analysis,
    bound: &'r Bound,
    files: &'r dyn Files,
    known: Known<'r>,
    measured: BTreeMap<(ReleaseId, usize), Private<Measured>>,
    results: Results,
    /// Levels of the `each` that we are in.
    levels: Vec<String>,
    /// Values that come from chains.
    late: BTreeSet<ReleaseId>,
}

/// Draws every release once and computes every output. `record` is told everything but what chains compute, before they run: by then
/// nothing private is left in memory, and nothing that was paid for can be lost. It answers whether the chains are to run.
pub fn execute(
    program: &Program,
    analysis: &Analysis,
    bound: &Bound,
    files: &dyn Files,
    record: &mut dyn FnMut(&Results) -> bool,
) -> Result<Results, RunError> {
    phases((program, analysis, bound, files), &program.steps, BTreeMap::new(), record).map(|(results, _)| results)
}

/// Some steps of a program, with the values that earlier ones gave; also answers every value known in the end.
pub fn resume(
    program: &Program,
    analysis: &Analysis,
    bound: &Bound,
    files: &dyn Files,
    steps: &[Step],
    released: BTreeMap<ReleaseId, Value>,
) -> Result<(Results, BTreeMap<ReleaseId, Value>), RunError> {
    let (results, known) = phases((program, analysis, bound, files), steps, released, &mut |_| true)?;
    match results.failed {
        Some(why) => Err(RunError::Value(why)),
        None => Ok((results, known)),
    }
}

fn phases(
    (program, analysis, bound, files): (&Program, &Analysis, &Bound, &dyn Files),
    steps: &[Step],
    released: BTreeMap<ReleaseId, Value>,
    record: &mut dyn FnMut(&Results) -> bool,
) -> Result<(Results, BTreeMap<ReleaseId, Value>), RunError> {
    if !releases(steps).is_empty() {
        same_designs(program, bound, files)?;
    }
    let part = public_columns(program, files, steps)?;
    let aggregates = |e: &Expr, env: &dyn Environment| bound.aggregate(e, env).or_else(|| part.aggregate(e, env));
    let rng = RefCell::new(files.bits().map_err(RunError::Mechanism)?);
    let mut scalars = bound.scalars.clone();
    for (i, s) in program.scalars.iter().enumerate() {
        if let Some(x) = s.value.as_ref().and_then(Expr::constant) {
            scalars.entry(crate::model::ScalarId(i)).or_insert(x);
        }
    }
    let rows = bound.tables.iter().chain(&part.tables).map(|(t, rows)| (*t, rows.rows as u64)).collect();
    let noise = |r: &&ReleaseAnalysis| match r.chosen.as_ref()?.plan.as_ref()? {
        MechanismPlan::Noise { noise, .. } => Some((r.id, *noise)),
        _ => None,
    };
    let read = || program.records.iter().filter_map(|r| Some((r.id, r.counts.as_ref()?)));
    let laws = analysis.releases.iter().filter_map(|r| noise(&r)).chain(read().map(|(id, c)| (id, c.noise))).collect();
    let released = read().map(|(id, c)| (id, Value::Vector(c.cells.clone()))).chain(released).collect();
    let known = Known { released, scalars, laws, rows, public: &aggregates, rng };
    let mut runner = Runner {
        program,
        analysis,
        bound,
        files,
        known,
        measured: BTreeMap::new(),
        results: Results::default(),
        levels: vec![],
        late: late(program),
    };
    runner.count_public_rows(steps)?;
    runner.steps(steps, None)?;
    runner.measured.clear();
    let later = |step: &&Step| is_late(step, &runner.late);
    let mut later: Vec<&Step> = steps.iter().filter(later).collect();
    if !later.is_empty() && !record(&runner.results) {
        later.clear();
    }
    for step in later {
        if let Step::Output { id, name, value, shown, .. } = step
            && let Err(RunError::Value(why)) = runner.output(*id, name, value, *shown, None)
        {
            // What was released stays released.
            runner.results.failed = Some(why);
            break;
        }
    }
    Ok((runner.results, runner.known.released))
}

impl Runner<'_> {
    /// Numbers of rows that expressions mention, where they are public.
    fn count_public_rows(&mut self, steps: &[Step]) -> Result<(), RunError> {
        // How many rows of units there are is told only where a program asks.
        let by_row = |t: &TableId| self.program.tables.get(t.0).is_some_and(|t| t.unit.is_none());
        let of_counts = releases(steps).into_iter().filter_map(|r| match (&r.query, &r.ty) {
            (Query::Aggregate(q), Type::Vector(v)) if v.axes.is_some() || moments::columns(&q.value).is_some() => {
                Some(q.table).filter(by_row)
            }
            _ => None,
        });
        let tables: Vec<TableId> = mentioned_tables(steps).into_iter().chain(of_counts).collect();
        for table in tables {
            let counted = self.known.rows.contains_key(&table);
            let Some(declared) = self.program.tables.get(table.0).filter(|t| t.private && !counted) else { continue };
            let rows = match self.files.counts(table) {
                Some(counts) => Ok(counts.public_rows(declared)),
                None => self.files.open(table).and_then(|source| count_rows(declared, source)),
            };
            if let Some(n) = rows.map_err(|e| RunError::Data(table, e))? {
                self.known.rows.insert(table, n);
            }
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], group: Group) -> Result<(), RunError> {
        for (i, step) in steps.iter().enumerate() {
            match step {
                Step::Release(release) => {
                    self.measure(steps.get(i..).unwrap_or(&[]), release, group)?;
                    let value = self.release(release, group)?;
                    if group.is_none() {
                        self.results.laws.extend(self.law(release));
                        self.results.releases.push((release.name.clone(), value.clone(), release.ty.clone()));
                    }
                    self.known.released.insert(release.id, value);
                }
                Step::Output { .. } if is_late(step, &self.late) => {}
                Step::Output { id, name, value, shown, .. } => self.output(*id, name, value, *shown, group)?,
                Step::When { condition, then, otherwise, .. } => {
                    let c = evaluate(condition, &self.known).map_err(RunError::Value)?;
                    let branch = if c.as_number().is_some_and(|x| x != 0.0) { then } else { otherwise };
                    self.steps(branch, group)?;
                }
                Step::Each(each) => self.each(each, steps.get(i..).unwrap_or(&[]))?,
                Step::Expect(_) => {}
            }
        }
        Ok(())
    }

    fn law(&self, release: &ReleaseStep) -> Option<(String, Law)> {
        let (Type::Vector(VectorType { axes: Some(axes), .. }), Query::Aggregate(q)) = (&release.ty, &release.query) else { return None };
        let noise = *self.known.laws.get(&release.id)?;
        let margins = margins(&q.value).and_then(|e| evaluate(&e, &self.known).ok()).map(|v| v.numbers());
        Some((release.name.clone(), Law { noise, axes: axes.clone(), n: self.known.rows.get(&q.table).copied(), margins }))
    }

    fn output(&mut self, id: Option<ReleaseId>, name: &str, value: &Expr, shown: bool, group: Group) -> Result<(), RunError> {
        let v = evaluate(value, &self.known).map_err(RunError::Value)?;
        self.results.warnings.extend(warning(name, value, &v));
        if let Some(id) = id {
            self.known.released.insert(id, v.clone());
        }
        if shown {
            self.results.outputs.push((self.at_level(name, group), v, value.ty.clone()));
        }
        Ok(())
    }

    /// `rate[north]` inside `each`, the name itself elsewhere.
    fn at_level(&self, name: &str, group: Group) -> String {
        match (group, self.levels.get(group.map_or(usize::MAX, |(.., level)| level))) {
            (Some(_), Some(level)) => format!("{name}[{level}]"),
            _ => name.to_string(),
        }
    }

    /// One copy of the body per level; released names become vectors over the levels.
    fn each(&mut self, each: &Each, rest: &[Step]) -> Result<(), RunError> {
        let names = releases(&each.body);
        self.levels = each.levels.to_vec();
        let mut by_level: BTreeMap<ReleaseId, Vec<Value>> = BTreeMap::new();
        if let Some(first) = names.first() {
            self.measure(rest, first, Some((each.table, each.key, 0)))?;
        }
        for level in 0..each.levels.len() {
            self.steps(&each.body, Some((each.table, each.key, level)))?;
            for release in &names {
                let Some(v) = self.known.released.remove(&release.id) else { continue };
                // A release inside `when` has no value at some levels and is not visible outside.
                if inside_when(&each.body, release.id) {
                    let name = self.at_level(&release.name, Some((each.table, each.key, level)));
                    self.results.releases.push((name, v, release.ty.clone()));
                } else {
                    by_level.entry(release.id).or_default().push(v);
                }
            }
        }
        for release in names {
            let Some(values) = by_level.remove(&release.id) else { continue };
            let whole = match values.as_slice() {
                v if v.iter().all(|v| matches!(v, Value::Grid(_))) => {
                    Value::GridVector(v.iter().filter_map(|v| if let Value::Grid(n) = v { Some(*n) } else { None }).collect())
                }
                v if v.iter().all(|v| matches!(v, Value::Posterior(_))) => {
                    let parts = v.iter().filter_map(|v| if let Value::Posterior(p) = v { Some(p.clone()) } else { None });
                    Value::Posterior(posterior::Posterior::Product(parts.collect()))
                }
                v => Value::Matrix(v.iter().map(Value::numbers).collect()),
            };
            let ty = crate::check::by_level(&release.ty, &each.levels);
            self.results.releases.push((release.name.clone(), whole.clone(), ty));
            self.known.released.insert(release.id, whole);
        }
        Ok(())
    }

    /// Measures the rows for `wanted` and, in the same pass, for every later release that is ready.
    fn measure(&mut self, steps: &[Step], wanted: &ReleaseStep, group: Group) -> Result<(), RunError> {
        let level = |g: Group| g.map_or(usize::MAX, |(.., l)| l);
        if self.measured.contains_key(&(wanted.id, level(group))) {
            return Ok(());
        }
        let mut batch: Vec<(&ReleaseStep, Group)> = vec![(wanted, group)];
        for (release, g) in ready(steps, group, &self.known.released) {
            let fresh = !self.measured.contains_key(&(release.id, level(g))) && !batch.iter().any(|(r, h)| r.id == release.id && *h == g);
            if fresh {
                batch.push((release, g));
            }
        }
        let mut by_table: BTreeMap<TableId, Vec<(&ReleaseStep, usize, crate::data::Job)>> = BTreeMap::new();
        for (release, g) in batch {
            let chosen = self.analysis.release(release.id).and_then(|r| r.chosen.as_ref());
            let not_runnable = || RunError::NotRunnable(release.name.clone());
            let chosen = chosen.ok_or_else(not_runnable)?;
            let plan = plan(release, g.is_some(), chosen, self.program, self.bound, &self.known).ok_or_else(not_runnable)?;
            let table = plan.table();
            let declared = self.program.tables.get(table.0).ok_or_else(not_runnable)?;
            let inside = scope_of(g, table).ok_or_else(not_runnable)?;
            let job = prepare(&plan, &Scope { table: declared, group: inside, env: &self.known }).map_err(|_| not_runnable())?;
            by_table.entry(table).or_default().push((release, level(g), job));
        }
        for (table, jobs) in by_table {
            let Some(declared) = self.program.tables.get(table.0) else { continue };
            let mut keys = vec![];
            let mut work = vec![];
            for (release, l, job) in jobs {
                if let Some(counts) = self.files.counts(table) {
                    let found = counts.measured(&release.name, &job).ok_or_else(|| RunError::NotRunnable(release.name.clone()))?;
                    self.measured.insert((release.id, l), found);
                    continue;
                }
                keys.push((release.id, l));
                work.push(job);
            }
            if work.is_empty() {
                continue;
            }
            let source = self.files.open(table).map_err(|e| RunError::Data(table, e))?;
            let found = scan(declared, source, &work).map_err(|e| RunError::Data(table, e))?;
            self.measured.extend(keys.into_iter().zip(found));
        }
        Ok(())
    }

    fn release(&mut self, release: &ReleaseStep, group: Group) -> Result<Value, RunError> {
        let not_runnable = || RunError::NotRunnable(release.name.clone());
        let chosen = self.analysis.release(release.id).and_then(|r| r.chosen.as_ref()).ok_or_else(not_runnable)?;
        let plan = plan(release, group.is_some(), chosen, self.program, self.bound, &self.known).ok_or_else(not_runnable)?;
        let declared = self.program.tables.get(plan.table().0).ok_or_else(not_runnable)?;
        let key = (release.id, group.map_or(usize::MAX, |(.., l)| l));
        // Taken out: a second draw from the same rows would have to measure, and pay, again.
        let measured = self.measured.remove(&key).ok_or_else(not_runnable)?;
        let inside = scope_of(group, plan.table()).ok_or_else(not_runnable)?;
        let scope = Scope { table: declared, group: inside, env: &self.known };
        let mut bits = self.files.bits().map_err(RunError::Mechanism)?;
        let draws = draw(&plan, &scope, &measured, &mut bits).map_err(RunError::Mechanism)?;
        if let (MechanismPlan::Whole { law, .. }, [one]) = (&plan, draws.as_slice()) {
            let found = posterior::released(law, one, scope.rows_are_public(), &mut *self.known.rng.borrow_mut());
            return found.map(Value::Posterior).ok_or(RunError::Mechanism(MechanismError::Expression));
        }
        shape(&release.ty, &draws).ok_or(RunError::Mechanism(MechanismError::Expression))
    }
}

fn inside_when(body: &[Step], id: ReleaseId) -> bool {
    !body.iter().any(|s| matches!(s, Step::Release(r) if r.id == id))
}

/// Releases from here on whose expressions mention only values known now; branches are not looked into.
fn ready<'s>(steps: &'s [Step], group: Group, known: &BTreeMap<ReleaseId, Value>) -> Vec<(&'s ReleaseStep, Group)> {
    let mut out = vec![];
    for step in steps {
        match step {
            Step::Release(r) if mentioned_releases(r).iter().all(|id| known.contains_key(id)) => out.push((r, group)),
            Step::Each(each) if group.is_none() => {
                for level in 0..each.levels.len() {
                    out.extend(ready(&each.body, Some((each.table, each.key, level)), known));
                }
            }
            _ => {}
        }
    }
    out
}

/// Are the public columns of private rows those that were bound? Public facts: neighbours agree on them.
fn same_designs(program: &Program, bound: &Bound, files: &dyn Files) -> Result<(), RunError> {
    for (id, rows) in &bound.tables {
        let Some(declared) = program.tables.get(id.0).filter(|t| t.private) else { continue };
        let found = files.open(*id).and_then(|source| public_part(declared, source));
        if found.map_err(|e| RunError::Data(*id, e))?.1 != *rows {
            return Err(RunError::Data(*id, DataError::Design { table: declared.name.clone() }));
        }
    }
    Ok(())
}

/// The public columns of private tables that some public value is asked of.
fn public_columns(program: &Program, files: &dyn Files, steps: &[Step]) -> Result<Bound, RunError> {
    let mut found = Bound::default();
    let mut parts = Program { tables: program.tables.clone(), ..Program::default() };
    for id in asked_columns(steps) {
        let Some(declared) = parts.tables.get_mut(id.0).filter(|t| t.private) else { continue };
        let source = files.open(id).map_err(|e| RunError::Data(id, e))?;
        let (part, rows) = public_part(declared, source).map_err(|e| RunError::Data(id, e))?;
        *declared = part;
        found.tables.insert(id, rows);
    }
    found.program = Some(parts);
    Ok(found)
}
