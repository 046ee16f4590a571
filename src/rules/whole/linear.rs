//! Linear regression with private features: the second moments of its bounded rows leave with noise.

use super::predicted::Prediction;
use super::predicted_normal;
use super::{Answer, Whole, refusals};
use crate::mechanism::plan::{MechanismPlan, Statistic, StatisticKind, WholeFamily, WholeLaw, WholeNoise};
use crate::model::{Range, Relation, Type, grid};
use crate::numeric::amount::below;
use crate::numeric::decimal::sig_up;
use crate::numeric::round::{add_up, div_down, div_up, mul_up, sqrt_down};
use crate::privacy::Claim;
use crate::rules::conjugate::facts::{self, Facts};
use crate::rules::conjugate::{NormalWeights, design, normal_weights, unbounded_features};
use crate::rules::offer::{Offer, Parameter};
use crate::rules::text::{four_up, plain};
use crate::rules::{Match, Premise, Question, Rule, not_mine, refuse};

/// More weights have too many products for the chain over them.
const MOST_WEIGHTS: usize = 20;
/// Noise between these multiples of what one unit moves.
const DRAWABLE: Range = Range { lo: 1e-6, hi: 1e12 };

/// A matched regression.
#[derive(Clone)]
pub(super) struct Regression {
    pub facts: Facts,
    pub prior: NormalWeights,
    pub sd: Range,
    /// Largest L2 norm of a row's features, with what rounding may add, and largest magnitude of its outcome.
    pub norm: f64,
    pub reach: f64,
    pub statistic: Statistic,
}

impl Regression {
    /// What is released without noise; `None` while an argument of the model is not known.
    pub fn family(&self) -> Option<WholeFamily> {
        let prior = &self.prior;
        let (mean, precision) = (prior.mean.clone()?, prior.precision.clone()?);
        Some(WholeFamily::Weights { mean, precision, sd: facts::point(self.sd)?, norm: self.norm })
    }
}

/// `None` where the one parameter is not a vector with a normal prior, or the rows do not follow `normal(dot(w, x), sd)`.
pub(super) fn find(rule: &'static Rule, question: &Question) -> Match<Option<Regression>> {
    let (model, context) = (question.model()?, &question.context);
    let [parameter] = model.parameters.as_slice() else {
        let normal = model.parameters.iter().all(|p| p.prior.name().ends_with("normal"));
        return if normal { not_mine("the model must have one parameter; an intercept is a feature that is 1") } else { Ok(None) };
    };
    let rows = |o| design(o, parameter.id, context);
    if !matches!(parameter.ty, Type::Vector(_)) || model.private.is_empty() || !model.private.iter().all(|o| rows(o).is_some()) {
        return Ok(None);
    }
    let prior = normal_weights(parameter)?;
    if !model.public.is_empty() {
        return not_mine("public rows are not part of this rule");
    }
    if prior.dim > MOST_WEIGHTS {
        return not_mine(format!("at most {MOST_WEIGHTS} weights"));
    }
    let observation = facts::one_private(model, &parameter.name)?;
    let Some(row) = rows(observation) else { return Ok(None) };
    let norm = match &row.x.ty {
        ty @ Type::Vector(v) => add_up(v.sup.l2, grid::slack(ty).l2),
        _ => f64::INFINITY,
    };
    let y = &observation.outcome;
    if !norm.is_finite() {
        return refuse(unbounded_features(row.x, y.span.to(observation.likelihood.span), context));
    }
    facts::within_reach(norm, row.x.span, "the bound on the features")?;
    let range = facts::outcome_range(observation, model, context, Range::ALL)?;
    let mut facts = Facts::collect(rule, model, parameter, context);
    if model.records.relation == Relation::AddRemove {
        return refuse(refusals::secret_rows(
            &facts,
            question,
            ("the products of {n} rows are bounded by {n}", "the posterior that accounts for the noise needs {n}"),
            None,
        ));
    }
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(y.span));
    facts.premise(format!("the features have norm at most {}", four_up(norm)), Some(row.x.span));
    let sd = facts::positive_argument(row.sd, "the known sd")?;
    let kind = StatisticKind::Moments { x: row.x.clone(), y: y.clone(), added: None };
    let statistic = Statistic { table: model.records.table, kind };
    Ok(Some(Regression { prior, sd, norm, reach: range.magnitude(), statistic, facts }))
}

/// Discrete Gaussian noise on products and sums, of equal parts of the cost.
pub(super) fn noisy(regression: Regression) -> Vec<Box<dyn Offer>> {
    vec![Box::new(Answer(Noisy(regression)))]
}

struct Noisy(Regression);

impl Noisy {
    /// How far one unit moves the products `x x'` (those with i <= j) and the sums `x y`, in L2.
    ///
    /// `|x x' - z z'|^2 = |x|^4 + |z|^4 - 2 (x'z)^2 <= 2 c^4`, and those with i <= j are some of all; `|x y - z v| <= 2 c |y|`.
    fn moved(&self) -> (f64, f64) {
        let one = |extent: f64| self.0.facts.unit_step(1.0, extent);
        let square = mul_up(self.0.norm, self.0.norm);
        (one(mul_up(std::f64::consts::SQRT_2.next_up(), square)), one(mul_up(2.0, mul_up(self.0.norm, self.0.reach))))
    }

    /// Standard deviations of the noise on products and sums: with `D / sqrt(rho)` each would cost rho / 2, but no two rows move both
    /// so far (rule book, section 15).
    fn sizes(&self, value: f64) -> (f64, f64) {
        let (products, sums) = self.moved();
        let together = if self.0.prior.dim == 1 { 0.5 } else { 25.0 / 32.0 };
        let root = sqrt_down(div_down(below(value), together));
        (div_up(products, root), div_up(sums, root))
    }
}

impl Whole for Noisy {
    fn facts(&self) -> &Facts {
        &self.0.facts
    }

    fn knob(&self) -> &'static str {
        "rho"
    }

    fn claim(&self, value: f64) -> Claim {
        let ((a, b), (products, sums)) = (self.moved(), self.sizes(value));
        let drawable = DRAWABLE.contains(products / a) && DRAWABLE.contains(sums / b);
        if drawable { Claim::Zcdp { rho: value } } else { Claim::Pure { epsilon: f64::INFINITY } }
    }

    fn premises(&self, value: f64) -> Vec<Premise> {
        let mut list = self.0.facts.premises.clone();
        let ((a, b), (products, sums)) = (self.moved(), self.sizes(value));
        for (what, size, moved) in [("products of features", products, a), ("products with the outcome", sums, b)] {
            list.push(Premise::holds(
                format!(
                    "discrete Gaussian noise of sd {} on the sums of {what}, which one unit moves by at most {} (L2)",
                    sig_up(size, 4),
                    four_up(moved)
                ),
                None,
            ));
        }
        list.push(Premise::holds(
            "what is certified are these noisy sums; the posterior is computed from them alone, by a chain, and is approximate",
            None,
        ));
        list
    }

    fn plan(&self, value: f64) -> Option<MechanismPlan> {
        let (products, sums) = self.sizes(value);
        let law = WholeLaw { family: self.0.family()?, noise: WholeNoise::Moments { products, sums }, aware: true };
        Some(MechanismPlan::Whole { law, statistic: self.0.statistic.clone() })
    }

    fn parameters(&self, value: f64) -> Vec<Parameter> {
        let (products, sums) = self.sizes(value);
        vec![Parameter::up("sigma", sums), Parameter::up("sigma_products", products)]
    }

    fn predicted(&self, value: f64, rows: f64) -> Prediction {
        let (products, sums) = self.sizes(value);
        // As if the features were spread evenly over the axes at their largest norm.
        let each = rows * self.0.norm * self.0.norm / self.0.prior.dim as f64;
        predicted_normal::weights(1.0 / self.0.prior.largest, (self.0.sd.hi, 0.0), each, (products, sums), self.0.prior.dim)
    }

    fn ignores_noise(&self) -> bool {
        false
    }
}
