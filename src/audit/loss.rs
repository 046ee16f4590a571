//! The Bayes-optimal membership score where a posterior is known by the losses of its rows (rule book §11.2).
//!
//! The other rows cancel: the log odds of two candidates are the weighted difference of their losses at what was released,
//! and a constant. The attacker's probability is the logistic function of that, which keeps the order.

use super::neighbours::Neighbours;
use crate::data::Environment;
use crate::data::eval::{NoEnvironment, compile};
use crate::mechanism::density::losses;
use crate::mechanism::plan::{Feature, GlmLaw, Link, MechanismPlan, PosteriorLaw, StatisticKind};
use crate::model::{Expr, Table, TableId};

/// The score of every draw, larger for the first data set; `None` where the plan is of another kind or keeps a weight back.
///
/// `rows` are the corner rows as numbers, `unit` how many rows a unit has.
pub fn scores(
    plan: &MechanismPlan,
    (table, env): (&Table, &dyn Environment),
    rows: &[Vec<f64>],
    (neighbours, unit): (&Neighbours, u64),
    draws: &[Vec<f64>],
) -> Option<Vec<f64>> {
    let MechanismPlan::Posterior { law, weight, statistic, .. } = plan else { return None };
    let value = |e: &Expr, row: &[f64]| evaluate(e, (table, statistic.table), row);
    // The two candidates; one that is absent loses nothing.
    let pair: Vec<&Vec<f64>> = [neighbours.first, neighbours.second].into_iter().flatten().filter_map(|i| rows.get(i)).collect();
    let each: Vec<Vec<f64>> = match (law, &statistic.kind) {
        (PosteriorLaw::Glm(law), StatisticKind::Rows { features, outcome }) => {
            let read = |row: &&Vec<f64>| Some((inputs(law, features, &value, row)?, *value(outcome, row)?.first()?));
            let pair: Vec<(Inputs, f64)> = pair.iter().map(read).collect::<Option<_>>()?;
            draws
                .iter()
                .map(|w| pair.iter().map(|(x, y)| Some(loss(law.link, &x.predictors(law, w)?, *y))).collect())
                .collect::<Option<_>>()?
        }
        (PosteriorLaw::Density(law), StatisticKind::Columns(columns)) => {
            let read = |row: &&Vec<f64>| Some(columns.iter().map(|e| value(e, row)).collect::<Option<Vec<_>>>()?.concat());
            let pair: Vec<Vec<f64>> = pair.iter().map(read).collect::<Option<_>>()?;
            losses(law, columns, &pair, env, draws)?
        }
        _ => return None,
    };
    let scale = weight * unit as f64;
    let score = |l: &Vec<f64>| match (neighbours.first, neighbours.second, l.as_slice()) {
        (Some(_), Some(_), [first, second]) => Some(scale * (second - first)),
        (Some(_), None, [first]) => Some(-scale * first),
        (None, Some(_), [second]) => Some(scale * second),
        _ => None,
    };
    each.iter().map(score).collect()
}

fn evaluate(e: &Expr, (table, id): (&Table, TableId), row: &[f64]) -> Option<Vec<f64>> {
    let mut stack = vec![];
    compile(e, id, table, &NoEnvironment).ok()?.row(row, &mut stack);
    Some(stack)
}

/// What an expression is at a row.
type Value<'a> = dyn Fn(&Expr, &[f64]) -> Option<Vec<f64>> + 'a;

/// The features of one row, block by block.
struct Inputs(Vec<Vec<f64>>);

fn inputs(law: &GlmLaw, features: &[Feature], value: &Value<'_>, row: &[f64]) -> Option<Inputs> {
    let one = |(feature, dim): (&Feature, usize)| {
        Some(match feature {
            Feature::One => vec![1.0],
            Feature::Value(e, factor) => value(e, row)?.iter().map(|x| x * factor).collect(),
            Feature::Level(e, factor) => {
                let level = *value(e, row)?.first()?;
                (0..dim).map(|j| if j as f64 == level { *factor } else { 0.0 }).collect()
            }
        })
    };
    features.iter().zip(law.blocks.iter().map(|b| b.dim)).map(one).collect::<Option<_>>().map(Inputs)
}

impl Inputs {
    /// One predictor a class, from the weights as they are released: block after block in the order of the request, class
    /// after class in each.
    fn predictors(&self, law: &GlmLaw, weights: &[f64]) -> Option<Vec<f64>> {
        let classes = if let Link::Softmax { classes } = law.link { usize::try_from(classes).ok()? } else { 1 };
        // The last blocks are offsets: the number 1 stands for their weight, in every class.
        let own = law.blocks.len().checked_sub(law.offsets)?;
        let mut order: Vec<(usize, usize, &Vec<f64>)> =
            law.blocks.iter().zip(&self.0).take(own).map(|(b, x)| Some((b.released?, b.dim, x))).collect::<Option<_>>()?;
        let fixed: f64 = self.0.iter().skip(own).flatten().sum();
        order.sort_by_key(|(place, ..)| *place);
        let (mut found, mut at) = (vec![fixed; classes], 0);
        for (_, dim, x) in order {
            for predictor in &mut found {
                *predictor += weights.get(at..at + dim)?.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                at += dim;
            }
        }
        Some(found)
    }
}

/// Minus the log-likelihood of an outcome, up to a constant of the outcome.
fn loss(link: Link, predictors: &[f64], y: f64) -> f64 {
    let t = predictors.first().copied().unwrap_or(0.0);
    let softplus = |t: f64| t.max(0.0) + libm::log1p(libm::exp(-t.abs()));
    match link {
        Link::Logit { trials } => trials as f64 * softplus(t) - y * t,
        Link::Softmax { .. } => {
            let most = predictors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = predictors.iter().map(|t| libm::exp(t - most)).sum();
            most + libm::log(sum) - predictors.get(y as usize).copied().unwrap_or(0.0)
        }
        Link::Probit => -libm::log(0.5 * libm::erfc(if y > 0.5 { -t } else { t } * std::f64::consts::FRAC_1_SQRT_2)),
        Link::Cloglog if y > 0.5 => -libm::log(-libm::expm1(-libm::exp(t))),
        Link::Cloglog => libm::exp(t),
        Link::PoissonLog => libm::exp(t) - y * t,
        Link::Normal { sd } => (y - t) * (y - t) / (2.0 * sd * sd),
    }
}
