//! Public rows: the sums a conjugate rule needs of each public observation, and the totals once its table is bound.

use super::Design;
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{Model, Observation, Type};

/// Sums over the rows of one public observation.
#[derive(Clone, PartialEq, Debug)]
pub struct Totals {
    pub rows: u64,
    /// The statistic of [`public_statistics`]: one number, one a component, or one a level.
    pub sums: Vec<f64>,
}

/// Totals of each of `Model::public`, in order; `None` where the table is not bound. And the design of the rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PublicTotals {
    pub observations: Vec<Option<Totals>>,
    /// The design of the private rows, if it is public and bound.
    pub design: Option<Design>,
}

impl PublicTotals {
    /// No public table is bound.
    pub fn unbound() -> PublicTotals {
        PublicTotals::default()
    }

    /// Totals of the `index`-th public observation.
    pub fn get(&self, index: usize) -> Option<&Totals> {
        self.observations.get(index).and_then(Option::as_ref)
    }
}

/// What to sum over the rows of each public observation of a model; `None` for a likelihood that no conjugate rule
/// reads (its rows then never enter a certificate).
pub fn public_statistics(model: &Model) -> Vec<Option<Statistic>> {
    model.public.iter().map(|o| statistic(o, model)).collect()
}

fn statistic(observation: &Observation, model: &Model) -> Option<Statistic> {
    let outcome = || observation.outcome.clone();
    let kind = match observation.likelihood.name() {
        "bernoulli" | "binomial" | "poisson" | "exponential" | "gamma" | "geometric" | "neg_binomial" | "multinomial" | "multi_normal" => {
            StatisticKind::Sum(outcome())
        }
        "categorical" => levels(&observation.outcome)?,
        "normal" => super::conjugate::normal_statistic(observation, model)?,
        _ => return None,
    };
    Some(Statistic { table: observation.table, kind })
}

/// One count a level of a category, a bool or a bounded int.
pub(crate) fn levels(value: &crate::model::Expr) -> Option<StatisticKind> {
    let (dim, first) = match &value.ty {
        Type::Category(levels) => (u64::try_from(levels.len()).ok()?, 0),
        Type::Bool => (2, 0),
        // Both ends must be exact integers far from overflow.
        Type::Int(r) if r.is_finite() && r.magnitude() < 9e15 && r.lo <= r.hi => ((r.hi - r.lo) as u64 + 1, r.lo as i64),
        _ => return None,
    };
    Some(StatisticKind::Levels { value: value.clone(), dim, first })
}
