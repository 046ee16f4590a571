//! A normal mean of a secret number of rows: the sum of their distances from the middle of their range leaves, and their number.

use super::normal::Mean;
use super::predicted::Prediction;
use super::sum::{DRAWABLE, Sum, Summed};
use super::{Answer, Whole};
use crate::mechanism::plan::{MechanismPlan, WholeFamily, WholeLaw, WholeNoise};
use crate::model::{Range, Relation};
use crate::numeric::amount::below;
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{div_up, mul_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::conjugate::Facts;
use crate::rules::count::count_up;
use crate::rules::offer::{Offer, Parameter, View};
use crate::rules::text::four_up;
use crate::rules::{Premise, Question};

/// Discrete Gaussian noise on both.
struct Noisy {
    sum: Sum<Mean>,
    /// The range of an outcome.
    range: Range,
    /// The name of the number of rows.
    rows: String,
}

/// `None` where the number of rows is public.
pub(super) fn find(sum: &Sum<Mean>, question: &Question) -> Option<Vec<Box<dyn Offer>>> {
    let added = sum.facts.records.relation == Relation::AddRemove;
    let rows = question.context.table(sum.facts.records.table).map_or("n", |t| t.public_name()).to_owned();
    let noisy = Noisy { sum: sum.clone(), range: sum.model.range, rows };
    (added || question.secret_groups).then(|| -> Vec<Box<dyn Offer>> { vec![Box::new(Answer(noisy))] })
}

impl Noisy {
    /// Of rho, what a unit pays that only enters or leaves: in groups of a private key one that is replaced moves the sum by the whole
    /// width and their number not at all, which costs as much as two such moves (rule book §15).
    fn entering(&self, value: f64) -> f64 {
        if self.added() { value } else { 0.5 * value }
    }

    /// Do neighbours add or remove a unit?
    fn added(&self) -> bool {
        self.sum.facts.records.relation == Relation::AddRemove
    }

    /// How far a unit that enters moves the sum and the number of rows.
    fn moved(&self) -> [f64; 2] {
        [self.sum.facts.unit_step(0.5, self.sum.apart), count_up(self.sum.facts.records.unit_rows)]
    }

    /// Standard deviations, rounded up: half of the cost for each.
    fn sizes(&self, value: f64) -> [f64; 2] {
        let root = sqrt_down(below(self.entering(value)));
        self.moved().map(|moved| div_up(moved, root))
    }
}

impl Whole for Noisy {
    fn facts(&self) -> &Facts {
        &self.sum.facts
    }

    fn knob(&self) -> &'static str {
        "rho"
    }

    fn claim(&self, value: f64) -> Claim {
        let drawable = |(size, moved): (f64, f64)| DRAWABLE.contains(size / moved);
        if !self.sizes(value).into_iter().zip(self.moved()).all(drawable) {
            return Claim::Pure { epsilon: f64::INFINITY };
        }
        Claim::Zcdp { rho: value }
    }

    fn seen(&self, view: View, value: f64) -> Option<Claim> {
        let added = self.added();
        match (view, self.claim(value)) {
            (View::Crossing, _) => None,
            (View::AddRemove, Claim::Zcdp { rho }) if !added => Some(Claim::Zcdp { rho: mul_up(0.5, rho) }),
            (View::Replace | View::Exchange, _) if added => None,
            (_, claim) => Some(claim),
        }
    }

    fn premises(&self, value: f64) -> Vec<Premise> {
        let mut list = self.sum.facts.premises.clone();
        let ([sum, rows], [of_sum, of_rows]) = (self.moved(), self.sizes(value));
        let (n, sizes) = (&self.rows, [of_sum, of_rows].map(|x| sig_up(x, 4)));
        let text = format!(
            "discrete Gaussian noise of sd {} on the sum of how far outcomes lie from the middle of their range, which one unit moves by at most {} where it enters or leaves, and of sd {} on their number {n}, which it moves by at most {}",
            sizes[0],
            four_up(sum),
            sizes[1],
            four_up(rows),
        );
        list.push(Premise::holds(text, None));
        list.push(Premise::holds("the posterior given the noisy sum and the noisy number of rows is computed from them alone", None));
        list
    }

    fn plan(&self, value: f64) -> Option<MechanismPlan> {
        let facts = &self.sum.facts;
        let family = self.sum.model.family(facts).filter(|_| facts.public.known)?;
        let WholeFamily::Normal { mean, precision, sd, .. } = family else { return None };
        let [sum, rows] = self.sizes(value);
        let family = WholeFamily::Normal { mean, precision, sd, secret: Some(self.range) };
        let law = WholeLaw { family, noise: WholeNoise::Rows { gaussian: true, rows, sum }, aware: true };
        Some(MechanismPlan::Whole { law, statistic: self.sum.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<Parameter> {
        let [sum, rows] = self.sizes(value);
        vec![Parameter::up("sigma", sum), Parameter::up("sigma_rows", rows)]
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let [sum, of_rows] = self.sizes(value);
        let away = self.sum.model.away(f64::midpoint(self.range.lo, self.range.hi)).min(0.5 * self.sum.apart);
        // A row more or less counts with the distance of the mean from the middle.
        self.sum.model.predicted(&self.sum.facts, sum.hypot(away * of_rows).powi(2), rows, true)
    }

    fn ignores_noise(&self) -> bool {
        false
    }
}
