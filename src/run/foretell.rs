//! What a chain that pays for its answers would learn, foretold by running it on rows that the model makes up: public, data-free,
//! and the same on every run.

use super::bits::Bits;
use super::evaluate::{Known, evaluate};
use super::rehearse::collect;
use super::strata::replaced;
use super::value::Value;
use crate::analyze::{Analysis, Chosen};
use crate::data::eval::NoEnvironment;
use crate::data::{Environment, Source, scan};
use crate::dist::Support;
use crate::dist::sample::{Args, normal, uniform};
use crate::mechanism::bits::{OsBits, Repeated};
use crate::mechanism::plan::{ChainLaw, Loss, MechanismPlan, PosteriorLaw};
use crate::mechanism::{Scope, execute, prepare};
use crate::model::{
    Column, ColumnId, DistCall, Expr, ExprKind, Label, Model, Observation, ParamId, Parameter, Program, Query, Range, RowCount, Table, Type,
};
use crate::rules::offer::Chain;
use crate::source::Diagnostic;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Cursor;

/// Between a draw and the truth of one trial, from the pairs of all trials.
type Distance<'a> = dyn Fn(&[(f64, f64)], usize) -> f64 + 'a;

/// Parameters drawn from the prior, each with rows and a release of its own. Of a release that has nothing to do with its parameter
/// the correlation is 0.12 off by chance.
const TRIALS: u64 = 64;
/// Most rows of a trial; each counts as several where there are more.
const ROWS: u64 = 100;
/// A lower bound of so many rows is taken for their number; one below it says little about that.
const MANY: u64 = 100;
/// Most values of rows and noise that all trials may compute: a second of an unoptimised build.
const MOST: u64 = 20_000_000;
/// Noise costs as much as so many rows.
const NOISE: u64 = 20;
/// A sum over all counts of a law with a shape, which a beta-divergence asks for at every row, costs as much as so many rows.
const SUM: u64 = 100;
/// Most tries to draw a parameter inside its declared domain.
const TRIES: usize = 1000;

/// What is foretold of one released parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Foretold {
    pub parameter: String,
    /// What is left of the prior's sd once the release is known: `sqrt(1 - c)`, c the rank correlation of parameters and releases,
    /// which for draws from a posterior is the share of the variance that the rows explain.
    pub left: f64,
    /// Median distance of the release from the parameter that made the rows.
    pub error: f64,
    /// The same of another draw from the prior.
    pub of_prior: f64,
}

/// A parameter of which so much of the prior's sd is left is not learned: 0.9, less half of what chance does to the estimate.
const LEFT: f64 = 0.87;
/// Nor one whose error is so much of that of a draw from the prior: a draw from a posterior with 0.9 of the prior's sd errs so much.
const ERROR: f64 = 0.9;

/// W0510 for every chain whose last state is foretold to say next to nothing about a parameter.
pub fn foretold(program: &Program, analysis: &Analysis) -> Vec<Diagnostic> {
    let mut said = vec![];
    collect(&program.steps, None, &mut |release, each| {
        let chosen = analysis.release(release.id).and_then(|r| r.chosen.as_ref());
        let (Query::Posterior(model), Some(chosen), None) = (&release.query, chosen, each) else { return };
        let table = program.tables.get(model.records.table.0);
        let Some(found) = table.filter(|_| chosen.chain == Some(Chain::Paying)).and_then(|t| foretell(model, t, chosen)) else { return };
        let lost: Vec<&Foretold> = found.iter().filter(|f| f.left >= LEFT || f.error >= ERROR * f.of_prior).collect();
        if lost.is_empty() {
            return;
        }
        let names: Vec<String> = lost.iter().map(|f| format!("`{}`", f.parameter)).collect();
        let message = format!("`{}` is predicted to reveal almost nothing about {}", release.name, names.join(", "));
        let place = release.mechanism.span.unwrap_or(release.query_span);
        let worst = |of: fn(&Foretold) -> f64| lost.iter().map(|f| of(f)).fold(0.0, f64::max);
        let label = format!(
            "in {TRIALS} runs on rows simulated from the model, the error is {} % of that of a draw from the prior, and {} % of its sd remains",
            (100.0 * worst(|f| f.error / f.of_prior)).round(),
            (100.0 * worst(|f| f.left)).round()
        );
        said.push(
            Diagnostic::new("W0510", message)
                .label(place, label)
                .cause("the noise that the budget asks for, or the length and steps of the chain, leave it near its start or the prior"),
        );
    });
    said
}

/// What the release would say about every parameter it names; `None` where its rows cannot be made up, their number is not known, or
/// the chain is too long to try.
pub fn foretell(model: &Model, table: &Table, chosen: &Chosen) -> Option<Vec<Foretold>> {
    let n = table.rows.exactly.or(Some(table.rows.at_least).filter(|n| *n >= MANY))?;
    let few = n.min(ROWS);
    if work(chosen.plan.as_ref()?, few)? > MOST {
        return None;
    }
    let plan = smaller(chosen.plan.as_ref()?, n, few)?;
    let MechanismPlan::Posterior { law: PosteriorLaw::Density(law), .. } = &plan else { return None };
    let table = Table { rows: RowCount { at_least: few, exactly: Some(few) }, ..table.clone() };
    let nothing = |_: &Expr, _: &dyn Environment| None::<Value>;
    let known = Known {
        released: BTreeMap::new(),
        scalars: BTreeMap::new(),
        laws: BTreeMap::new(),
        rows: BTreeMap::new(),
        public: &nothing,
        rng: RefCell::new(OsBits::new().ok()?),
    };
    let scope = Scope { table: &table, group: None, env: &NoEnvironment };
    let wanted: Vec<&Parameter> = law.released.iter().filter_map(|i| law.parameters.get(*i)).collect();
    let mut pairs: Vec<Vec<(f64, f64)>> = vec![];
    for trial in 0..TRIALS {
        let mut made = Made { model, table: &table, known: &known, bits: Repeated::new([7; 32], 2 * trial) };
        let truth = made.parameters()?;
        let file = made.file(&truth, few)?;
        let job = prepare(&plan, &scope).ok()?;
        let measured = scan(&table, Source::new(Cursor::new(file.into_bytes())), &[job]).ok()?;
        let released = execute(&plan, &scope, measured.first()?, &mut Repeated::new([7; 32], 2 * trial + 1)).ok()?;
        let released = released.first()?.to_f64();
        let truth: Vec<f64> = wanted.iter().filter_map(|p| truth.get(&p.id)).flatten().copied().collect();
        if truth.len() != released.len() {
            return None;
        }
        pairs.resize(truth.len(), vec![]);
        pairs.iter_mut().zip(truth.into_iter().zip(released)).for_each(|(all, pair)| all.push(pair));
    }
    let mut rest = pairs.as_slice();
    let of = |p: &&Parameter| {
        let (own, more) = rest.split_at_checked(width(&p.ty)?)?;
        rest = more;
        let explained = own.iter().map(|p| correlation(p)).sum::<f64>() / own.len().max(1) as f64;
        // Between every draw and the truth of its own trial, or of the next one.
        let median = |of: &Distance<'_>| {
            let square = |i: usize| own.iter().map(|pairs| of(pairs, i).powi(2)).sum::<f64>();
            let mut all: Vec<f64> = (0..TRIALS as usize).map(|i| square(i).sqrt()).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let at = |pairs: &[(f64, f64)], i: usize| pairs.get(i % pairs.len().max(1)).copied().unwrap_or_default();
        Some(Foretold {
            parameter: p.name.clone(),
            left: (1.0 - explained.clamp(0.0, 1.0)).sqrt(),
            error: median(&|pairs, i| at(pairs, i).1 - at(pairs, i).0),
            of_prior: median(&|pairs, i| at(pairs, i + 1).0 - at(pairs, i).0),
        })
    };
    wanted.iter().map(of).collect()
}

fn width(ty: &Type) -> Option<usize> {
    match ty {
        Type::Bool | Type::Int(_) | Type::Real(_) => Some(1),
        Type::Vector(v) if !v.ordered => usize::try_from(v.dim).ok(),
        _ => None,
    }
}

/// What all trials with so many rows compute.
fn work(plan: &MechanismPlan, rows: u64) -> Option<u64> {
    let MechanismPlan::Posterior { law: PosteriorLaw::Density(law), .. } = plan else { return None };
    let numbers: usize = law.parameters.iter().map(|p| width(&p.ty)).sum::<Option<usize>>()?;
    let shaped = |o: &Observation| o.likelihood.family.support == Support::Counts && o.likelihood.args.len() > 1;
    let sums = matches!(law.loss, Loss::Beta { .. }) && law.rows.iter().any(shaped);
    let (times, rows) = match &law.chain {
        ChainLaw::Penalty { iterations, .. } => (*iterations, rows.saturating_mul(2)),
        ChainLaw::Hmc { iterations, steps, .. } => (iterations.saturating_mul(*steps), rows.saturating_mul(2)),
        ChainLaw::Sgld { iterations, batch, .. } => (*iterations, batch.map_or(rows, |asked| rows.min(asked)).saturating_mul(2)),
        ChainLaw::Nuts { .. } | ChainLaw::Slice { .. } => return None,
    };
    let step = rows.saturating_mul(if sums { SUM } else { 1 }).saturating_add(NOISE.saturating_mul(numbers as u64));
    Some(TRIALS.saturating_mul(times).saturating_mul(step))
}

/// The same chain for fewer rows, each of which weighs as much more: sums of rows and noise on them stay what they are.
fn smaller(plan: &MechanismPlan, n: u64, few: u64) -> Option<MechanismPlan> {
    let mut plan = plan.clone();
    let MechanismPlan::Posterior { law: PosteriorLaw::Density(law), weight, times, .. } = &mut plan else { return None };
    let more = n as f64 / few as f64;
    *times = 1;
    *weight *= more;
    match &mut law.chain {
        ChainLaw::Penalty { .. } => {}
        ChainLaw::Hmc { gradient_sigma, .. } => *gradient_sigma /= more,
        ChainLaw::Sgld { batch, sigma, .. } if batch.is_none_or(|rows| rows > few) => {
            *sigma *= few as f64 / batch.unwrap_or(n) as f64;
            *batch = None;
        }
        ChainLaw::Sgld { .. } => {}
        ChainLaw::Nuts { .. } | ChainLaw::Slice { .. } => return None,
    }
    Some(plan)
}

/// Rows that the model makes up.
struct Made<'a> {
    model: &'a Model,
    table: &'a Table,
    known: &'a Known<'a>,
    bits: Repeated,
}

type Values = BTreeMap<ParamId, Vec<f64>>;

impl Made<'_> {
    /// A draw from the prior.
    fn parameters(&mut self) -> Option<Values> {
        let (mut found, model) = (Values::new(), self.model);
        for p in &model.parameters {
            let args = self.arguments(&p.prior, &found, &[])?;
            let fits = |x: &[f64]| match &p.ty {
                Type::Vector(v) => x.iter().map(|x| x * x).sum::<f64>().sqrt() <= v.sup.l2,
                _ => true,
            };
            let range = p.ty.range()?;
            let one = |i: usize, bits: &mut Repeated| {
                let own = args.iter().map(|a| if a.len() > 1 { a.get(i).map(|x| vec![*x]) } else { Some(a.clone()) });
                let own: Vec<Vec<f64>> = own.collect::<Option<_>>()?;
                let draw = p.prior.family.draw?;
                let mut rng = Bits::new(bits);
                (0..TRIES).map(|_| draw(&Args(&own), &mut rng)).find(|x| range.contains(*x))
            };
            let count = width(&p.ty)?;
            let value = (0..TRIES).find_map(|_| {
                let x: Option<Vec<f64>> = (0..count).map(|i| one(i, &mut self.bits)).collect();
                x.filter(|x| fits(x))
            })?;
            found.insert(p.id, value);
        }
        Some(found)
    }

    fn arguments(&self, law: &DistCall, parameters: &Values, row: &[(ColumnId, Vec<f64>)]) -> Option<Vec<Vec<f64>>> {
        let of = |e: &Expr| match e.kind {
            ExprKind::Param(id) => Some(parameters.get(&id).and_then(|v| literal(e, v))),
            ExprKind::Column(_, id) => Some(row.iter().find(|(c, _)| *c == id).and_then(|(_, v)| literal(e, v))),
            _ => None,
        };
        law.args.iter().map(|a| evaluate(&replaced(a, &of)?, self.known).ok().map(|v| v.numbers())).collect()
    }

    /// A file of rows whose outcomes follow the model.
    fn file(&mut self, parameters: &Values, rows: u64) -> Option<String> {
        let (model, table) = (self.model, self.table);
        let quoted = |x: &str| format!("\"{}\"", x.replace('"', "\"\""));
        let headers: Vec<String> = table.columns.iter().flat_map(|c| &c.headers).map(|h| quoted(h)).collect();
        let mut out = headers.join(",") + "\n";
        for row in 0..rows {
            let mut values: Vec<(ColumnId, Vec<f64>)> = vec![];
            for (i, column) in table.columns.iter().enumerate() {
                values.push((ColumnId(i), self.cells(column, row)?));
            }
            for o in &model.private {
                let ExprKind::Column(_, id) = o.outcome.kind else { return None };
                let args = self.arguments(&o.likelihood, parameters, &values)?;
                let y = (o.likelihood.family.draw?)(&Args(&args), &mut Bits::new(&mut self.bits));
                // Levels of a category count from 1 in samplers.
                let y = if matches!(o.outcome.ty, Type::Category(_)) { y - 1.0 } else { y };
                values.iter_mut().filter(|(c, _)| *c == id).for_each(|(_, v)| *v = vec![y]);
            }
            let cells = values.iter().zip(&table.columns).flat_map(|((_, v), column)| match &column.ty {
                Type::Category(levels) => vec![quoted(v.first().and_then(|x| levels.get(*x as usize)).map_or("", String::as_str))],
                _ => v.iter().map(|x| format!("{x}")).collect(),
            });
            out.push_str(&(cells.collect::<Vec<_>>().join(",") + "\n"));
        }
        Some(out)
    }

    /// A value of a column that no outcome is about: anywhere in its domain.
    fn cells(&mut self, column: &Column, row: u64) -> Option<Vec<f64>> {
        let mut rng = Bits::new(&mut self.bits);
        let mut within = |r: Range| {
            let unit = uniform(&mut rng);
            if r.is_finite() { r.lo + (r.hi - r.lo) * unit } else { normal(&mut rng).max(r.lo).min(r.hi) }
        };
        Some(match &column.ty {
            Type::Bool => vec![(within(Range::UNIT) + 0.5).floor()],
            Type::Int(r) => vec![within(*r).round()],
            Type::Real(r) => vec![within(*r)],
            Type::Category(levels) => vec![(within(Range::UNIT) * levels.len() as f64).floor().min(levels.len() as f64 - 1.0)],
            Type::Vector(v) => {
                // Inside the ball, where there is one.
                let x: Vec<f64> = (0..v.dim).map(|_| within(v.range)).collect();
                let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                x.into_iter().map(|x| if norm > v.sup.l2 { x * v.sup.l2 / norm } else { x }).collect()
            }
            Type::Text => vec![row as f64],
            _ => return None,
        })
    }
}

/// A value in the place of a parameter or a column.
fn literal(e: &Expr, value: &[f64]) -> Option<Expr> {
    let kind = match (&e.ty, value) {
        (Type::Category(_), [x]) => ExprKind::Level(*x as usize),
        (Type::Bool, [x]) => ExprKind::Bool(*x != 0.0),
        (Type::Int(_) | Type::Real(_), [x]) => ExprKind::Number(*x),
        (Type::Vector(_), all) => {
            let number =
                |x: &f64| Expr { kind: ExprKind::Number(*x), ty: Type::Real(Range::point(*x)), label: Label::Public, span: e.span };
            ExprKind::List(all.iter().map(number).collect())
        }
        _ => return None,
    };
    Some(Expr { kind, label: Label::Public, ..e.clone() })
}

/// Of the ranks.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |of: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<(f64, usize)> = pairs.iter().map(of).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks: Vec<(usize, f64)> = order.into_iter().map(|(_, i)| i).zip((0..).map(f64::from)).collect();
        ranks.sort_by_key(|(i, _)| *i);
        ranks.into_iter().map(|(_, rank)| rank).collect::<Vec<f64>>()
    };
    let (a, b) = (ranks(|p| p.0), ranks(|p| p.1));
    let n = pairs.len() as f64;
    let apart: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
    1.0 - 6.0 * apart / (n * (n * n - 1.0))
}
