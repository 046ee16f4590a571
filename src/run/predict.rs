//! What models of released counts predict: intervals for the counts that were released, each count from the others, made-up rows.

use super::bits::Bits;
use super::draws::{Chains, Draws};
use super::fit::{Used, seed, with_model};
use super::posterior::Posterior;
use super::sums;
use super::value::Value;
use crate::data::Environment;
use crate::dist::sample;
use crate::mechanism::bits::Repeated;
use crate::mechanism::density::exposures::Model;
use crate::mechanism::plan::Noise;
use crate::mechanism::{MechanismError, Number};
use crate::model::{Builtin, Expr, ExprKind, Type};
use crate::numeric::diagnostics::{ess_mean, quantile};
use crate::numeric::loo::{Loo, point};

/// A question about the draws of a model; `values` are those of the arguments.
pub fn predict(f: Builtin, args: &[Expr], values: &[Value], env: &dyn Environment) -> Result<Value, MechanismError> {
    use Value::Posterior as Of;
    match (f, args, values) {
        (Builtin::Predictive, [cells, _], [_, Of(Posterior::Draws(post))]) => check(cells, post, env),
        (Builtin::Loo, _, [Of(Posterior::Draws(post))]) => Ok(loo_value(&loo(post, env)?)),
        (Builtin::LooCompare, _, [Of(Posterior::Draws(a)), Of(Posterior::Draws(b))]) => Ok(compared(&loo(a, env)?, &loo(b, env)?)),
        (Builtin::MadeUp, [cells, ..], [_, Of(Posterior::Draws(post)), Value::Number(rows), Value::Number(set)]) => {
            made_up(cells, post, [*rows as u64, *set as u64], env)
        }
        _ => Err(PARAMETER),
    }
}

/// What 4,000 draws can afford, and more cannot make better.
const WORST_K: f64 = 0.7;
const PARAMETER: MechanismError = MechanismError::Parameter;

fn chains(draws: &Draws) -> Result<&Chains, MechanismError> {
    draws.source.as_deref().ok_or(PARAMETER)
}

/// The axes of the table that are kept: all, or those that a margin names.
fn kept(cells: &Expr, used: &Used) -> Vec<usize> {
    margin_of(cells).unwrap_or_else(|| used.used.clone())
}

fn margin_of(cells: &Expr) -> Option<Vec<usize>> {
    let ExprKind::Call(Builtin::Margin, args) = &cells.kind else { return None };
    Some(args.iter().skip(1).filter_map(|e| Some(e.constant()? as usize)).collect())
}

fn noise(law: Noise, rng: &mut Bits) -> f64 {
    let geometric = |scale: f64, rng: &mut Bits| (-sample::positive_uniform(rng).ln() * scale).floor();
    match law {
        Noise::Geometric { scale } => geometric(scale, rng) - geometric(scale, rng),
        Noise::Rounded { sigma } => (sigma * sample::normal(rng)).round(),
        Noise::Gaussian { sigma } => sigma * sample::normal(rng),
        Noise::Laplace { scale } => scale * (sample::positive_uniform(rng) / sample::positive_uniform(rng)).ln(),
    }
}

/// Counts of so many rows a group, each of them in a cell of its group with a probability in proportion to its rate.
fn rows(rates: &[f64], groups: &[usize], totals: &[u64], rng: &mut Bits) -> Vec<f64> {
    // The rates of this cell and those behind it, summed from the end: of the last one exactly its own.
    let mut sums = vec![0.0; totals.len()];
    let mut behind: Vec<f64> = rates
        .iter()
        .zip(groups)
        .rev()
        .map(|(rate, g)| {
            let sum = sums.get_mut(*g);
            sum.map_or(0.0, |sum| {
                *sum += rate;
                *sum
            })
        })
        .collect();
    behind.reverse();
    let mut left: Vec<f64> = totals.iter().map(|n| *n as f64).collect();
    let one = |((rate, sum), g): ((&f64, f64), &usize)| {
        let Some(left) = left.get_mut(*g).filter(|n| **n > 0.0) else { return 0.0 };
        let count = sample::binomial(*left, (rate / sum).clamp(0.0, 1.0), rng);
        *left -= count;
        count
    };
    rates.iter().zip(behind).zip(groups).map(one).collect()
}

/// Counts that the model predicts for each draw of its parameters, with the noise, and what was released.
type Replicates = (Vec<Vec<f64>>, Vec<f64>);

fn of_counts(cells: &Expr, source: &Chains, seed: [u8; 32], env: &dyn Environment) -> Result<Replicates, MechanismError> {
    with_model(source, env, |model, used| {
        let (groups, totals, noises) = (used.groups(), used.totals(&source.totals), used.summed_out());
        let kept = kept(cells, used);
        let one = |draw: usize, laws: &[(f64, f64)]| {
            let mut bits = Repeated::new(seed, draw as u64);
            let mut rng = Bits::new(&mut bits);
            let rates: Vec<f64> = laws.iter().map(|(_, rate)| *rate).collect();
            let mut counts: Vec<f64> = match totals.is_empty() {
                true => rates.iter().map(|rate| sample::poisson(*rate, &mut rng)).collect(),
                false => rows(&rates, &groups, &totals, &mut rng),
            };
            counts.iter_mut().for_each(|c| *c += (0..noises).map(|_| noise(source.noise, &mut rng)).sum::<f64>());
            used.margin(&counts, &used.used, &kept)
        };
        Ok((model.each(&source.states, one)?, used.margin(&source.noisy, &used.all, &kept)))
    })
}

/// The same of sums: numbers of events for the exact exposures of each draw, in the units of what was released.
fn of_sums(cells: &Expr, source: &Chains, seed: [u8; 32], model: &Model) -> Result<Replicates, MechanismError> {
    let table = source.of.tables.first().ok_or(PARAMETER)?;
    let observed: Vec<(usize, f64)> = source.of.observed_sums().into_iter().filter_map(|i| Some((i, table.sums.get(i)?.unit))).collect();
    let by = Used::groups_of(table);
    let kept: Vec<usize> = margin_of(cells).unwrap_or_else(|| by.all.clone()).into_iter().filter(|i| by.all.contains(i)).collect();
    // One sum after the other: each is added up by groups alone.
    let by_sum = |all: &[f64]| -> Vec<f64> {
        let sums = (0..observed.len()).map(|i| all.iter().skip(i).step_by(observed.len()).copied().collect::<Vec<f64>>());
        let sums: Vec<Vec<f64>> = sums.map(|sum| by.margin(&sum, &by.all, &kept)).collect();
        (0..sums.first().map_or(0, Vec::len)).flat_map(|g| sums.iter().filter_map(move |s| s.get(g).copied())).collect()
    };
    let one = |draw: usize, laws: &[(f64, f64)]| {
        let mut bits = Repeated::new(seed, draw as u64);
        let mut rng = Bits::new(&mut bits);
        let sum =
            |((_, mean), (_, unit)): (&(f64, f64), &(usize, f64))| sample::poisson(*mean, &mut rng) / unit + noise(source.noise, &mut rng);
        by_sum(&laws.iter().zip(observed.iter().cycle()).map(sum).collect::<Vec<f64>>())
    };
    let released: Vec<f64> = source
        .noisy
        .chunks(table.sums.len().max(1))
        .flat_map(|group| observed.iter().filter_map(|(i, _)| group.get(*i).copied()))
        .collect();
    Ok((model.each(&source.states, one)?, by_sum(&released)))
}

/// For every cell what was released, and the mean and the middle 90 % of what the model predicts: rows of each draw of its
/// parameters, with the noise.
fn check(cells: &Expr, draws: &Draws, env: &dyn Environment) -> Result<Value, MechanismError> {
    let source = chains(draws)?;
    let seed = seed(source, if source.of.prior { "prior predictive" } else { "predictive" });
    let sums = sums::of_source(source, env).transpose()?;
    let whole = sums.is_none();
    let (replicates, released) = match sums {
        Some(model) => of_sums(cells, source, seed, &model)?,
        None => of_counts(cells, source, seed, env)?,
    };
    let (mut mean, mut low, mut high, mut within) = (vec![], vec![], vec![], 0.0);
    for (cell, y) in released.iter().enumerate() {
        let mut all: Vec<f64> = replicates.iter().filter_map(|r| r.get(cell).copied()).collect();
        all.sort_by(f64::total_cmp);
        let (from, to) = (quantile(&all, 0.05), quantile(&all, 0.95));
        let (from, to) = if whole { (from.floor(), to.ceil()) } else { (from, to) };
        within += f64::from(u8::from(from <= *y && *y <= to));
        mean.push(all.iter().sum::<f64>() / all.len() as f64);
        low.push(from);
        high.push(to);
    }
    let parts = [("released", released), ("mean", mean), ("low", low), ("high", high)];
    let parts = parts.into_iter().map(|(name, v)| (name.to_owned(), Value::Vector(v)));
    Ok(Value::Record(parts.chain([("within".to_owned(), Value::Number(within))]).collect()))
}

/// Every cell that the model uses is a point: its noisy count, given all others and the totals; of sums, every noisy number of events,
/// given all others and the noisy exposures.
fn loo(draws: &Draws, env: &dyn Environment) -> Result<Loo, MechanismError> {
    let source = chains(draws)?;
    let log = |_: usize, laws: &[(f64, f64)]| laws.iter().map(|l| l.0).collect::<Vec<f64>>();
    let logs = match sums::of_source(source, env).transpose()? {
        Some(model) => model.each(&source.states, log)?,
        None => with_model(source, env, |model, _| model.each(&source.states, log))?,
    };
    let one = |cell: usize| {
        let log: Vec<f64> = logs.iter().filter_map(|l| l.get(cell).copied()).collect();
        let most = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let density: Vec<f64> = log.iter().map(|l| (l - most).exp()).collect();
        point(&log, ess_mean(&draws.by_chain(&density)) / log.len() as f64)
    };
    Ok(Loo::new((0..logs.first().map_or(0, Vec::len)).map(one).collect()))
}

fn record(parts: Vec<(&str, Value)>) -> Value {
    Value::Record(parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The shape of the tail of a cell's weights; 0 where leaving the cell out changes nothing, which needs no weights.
fn shapes(loo: &Loo) -> Vec<f64> {
    loo.points.iter().map(|p| if (p.lpd - p.elpd).abs() < 1e-9 { 0.0 } else { p.k }).collect()
}

fn loo_value(loo: &Loo) -> Value {
    let each = loo.points.iter().map(|p| p.elpd).collect();
    record(vec![
        ("cells", Value::Vector(each)),
        ("k", Value::Vector(shapes(loo))),
        ("elpd", Value::Number(loo.elpd)),
        ("se", Value::Number(loo.se)),
        ("p", Value::Number(loo.p)),
    ])
}

fn compared(a: &Loo, b: &Loo) -> Value {
    let difference = a.compare(b);
    // A number that is not comparable is the worst.
    let worst = |worst: f64, k: f64| if k <= worst { worst } else { k };
    let k = shapes(a).into_iter().chain(shapes(b)).fold(f64::NEG_INFINITY, worst);
    record(vec![("elpd_diff", Value::Number(difference.elpd)), ("se_diff", Value::Number(difference.se)), ("k", Value::Number(k))])
}

/// What must be known of a value to use it.
pub fn warning(name: &str, e: &Expr, value: &Value) -> Option<String> {
    match e.kind {
        ExprKind::Call(Builtin::Loo | Builtin::LooCompare, _) => doubtful(name, value, &e.ty),
        ExprKind::Call(Builtin::MadeUp, _) => Some(format!(
            "the rows of `{name}` are made up: they keep what the model says of its cells, and nothing else; all come from one draw \
             of its parameters, so standard errors need several sets"
        )),
        _ => None,
    }
}

/// Why estimates by `loo` are not to be trusted.
fn doubtful(name: &str, value: &Value, ty: &Type) -> Option<String> {
    let (Value::Record(parts), Type::Record(types)) = (value, ty) else { return None };
    let at = parts.iter().position(|(n, _)| n == "k")?;
    let (k, ty) = (parts.get(at)?.1.numbers(), &types.get(at)?.1);
    let bad: Vec<usize> = k.iter().enumerate().filter(|(_, k)| k.is_nan() || **k > WORST_K).map(|(i, _)| i).collect();
    let cells: Vec<String> = bad.iter().take(6).filter_map(|i| ty.levels()?.get(*i).cloned()).collect();
    let more = if bad.len() > 6 { "; .." } else { "" };
    let which = if cells.is_empty() { String::new() } else { format!(": {}{more}", cells.join("; ")) };
    (!bad.is_empty())
        .then(|| format!("`{name}` is not to be trusted: Pareto k is above {WORST_K} (one cell changes the posterior by much){which}"))
}

/// The counts of made-up rows by cell: one draw of the parameters, and from it all rows.
fn made_up(cells: &Expr, draws: &Draws, [n, set]: [u64; 2], env: &dyn Environment) -> Result<Value, MechanismError> {
    let source = chains(draws)?;
    let mut bits = Repeated::new(seed(source, "rows"), set);
    let mut rng = Bits::new(&mut bits);
    let at = (sample::uniform(&mut rng) * source.states.len() as f64) as usize;
    let state = source.states.get(at).cloned().ok_or(PARAMETER)?;
    with_model(source, env, |model, used| {
        let rates: Vec<f64> = model.each(&[state], |_, laws| laws.iter().map(|l| l.1).collect::<Vec<f64>>())?.concat();
        let counts = rows(&rates, &vec![0; rates.len()], &[n], &mut rng);
        let counts = used.margin(&counts, &used.used, &kept(cells, used));
        Ok(Value::GridVector(counts.into_iter().map(|n| Number::new(n as i128, 0)).collect()))
    })
}
