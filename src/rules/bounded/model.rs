//! A model of bounded loss: what its rows may lose, its premises, and the log-density that a chain draws from.

use super::density::Fault;
use super::range::{RowLoss, run_beta};
use super::{refusals, told};
use crate::mechanism::plan::{ChainLaw, DensityLaw, Loss, MechanismPlan, PosteriorLaw, Statistic, StatisticKind};
use crate::model::enclose::enclose;
use crate::model::{Builtin, Expr, ExprKind, Model, Observation, Parameter, Records, Relation, Request};
use crate::numeric::decimal::{sig_up, up12};
use crate::numeric::round::{add_up, mul_up};
use crate::privacy::{Claim, work};
use crate::rules::conjugate::facts::Facts;
use crate::rules::count::count_up;
use crate::rules::offer::{Offer, PredictedError, View, assumed_rows, repeated};
use crate::rules::text::four_up;
use crate::rules::{Ask, Context, Match, Mended, Premise, Question, Refusal, Rule, Verdict, not_mine, refuse};
use crate::source::Diagnostic;
use std::rc::Rc;

/// How neighbours differ in the rows that a release sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// Up to k rows are replaced, or up to k leave and as many come.
    Replaced,
    /// Up to k rows are added or removed.
    AddedOrRemoved,
}

/// The noisy gradients of one proposal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gradients {
    /// Leapfrog steps: one gradient more is taken.
    pub steps: u64,
    /// Bound on the L2 norm of a row's gradient, enforced.
    pub clip: f64,
    /// The sd of the noise on every component of their sum.
    pub sigma: f64,
}

/// A matched model, owned.
#[derive(Clone)]
pub struct BoundedLoss {
    pub rule: &'static Rule,
    pub records: Records,
    /// One for each observed value of a row.
    pub(super) rows: Vec<RowLoss>,
    premises: Vec<Premise>,
    parameters: Vec<Parameter>,
    released: Vec<usize>,
    observations: Vec<Observation>,
    /// Every public number in it is known.
    known: bool,
}

/// What is known of the loss of one observed value.
pub(super) type RowLossOf = fn(&Observation) -> Result<RowLoss, Fault<'_>>;
/// A density without a bound, with the line that mends it and the model as it would then be.
type Unbounded = (Diagnostic, Option<(String, BoundedLoss)>);
/// The offers of a rule for a model that it has read.
type OffersOf = fn(Rc<BoundedLoss>, u64, &Question) -> Vec<Box<dyn Offer>>;

/// The verdict of a rule for bounded losses.
pub(super) fn judge(rule: &'static Rule, question: &Question, row_loss: RowLossOf, offers: OffersOf) -> Verdict {
    let times = match question.ask {
        Ask::Model(Model { request: Request::Draw { times, .. }, .. }) => *times,
        _ => 1,
    };
    match BoundedLoss::read(rule, question, row_loss) {
        Err(verdict) => verdict,
        Ok(Ok(loss)) => Verdict::Offers(offers(Rc::new(loss), times, question)),
        Ok(Err((diagnostic, mended))) => {
            let plain = Question { written: None, ..*question };
            let mended = mended.map(|(line, loss)| {
                let fact = format!("M = {}", sig_up(loss.peak(), 3));
                Mended { line, fact, offers: offers(Rc::new(loss), 1, &plain) }
            });
            Verdict::Refused(Box::new(Refusal { diagnostic, mended }))
        }
    }
}

impl BoundedLoss {
    /// Reads a model for a rule; obstacles are reported once, whatever the rule.
    fn read(rule: &'static Rule, question: &Question, row_loss: RowLossOf) -> Match<Result<BoundedLoss, Unbounded>> {
        let (model, context) = (question.model()?, &question.context);
        let Request::Draw { parameters: drawn, .. } = &model.request else {
            return not_mine("releases draws, not a whole posterior");
        };
        if model.private.is_empty() {
            return not_mine("no private rows");
        }
        if !model.public.is_empty() {
            return not_mine("public rows are not part of this rule");
        }
        let Some(first) = model.parameters.first() else { return not_mine("the model has no parameter") };
        for p in &model.parameters {
            match proper(p) {
                Prior::Proper => {}
                Prior::Flat => return refuse(refusals::flat_prior(p)),
                Prior::Vanishing => return not_mine("the spread of a prior must stay above 0"),
            }
            // What a cut leaves of a prior is a constant only if the prior is.
            if p.cut_varies() {
                return refuse(refusals::cut_prior(p, model, context));
            }
        }
        let mut found = BoundedLoss {
            rule,
            records: model.records,
            rows: vec![],
            premises: premises(rule, model, first, context),
            parameters: model.parameters.clone(),
            released: drawn.iter().filter_map(|id| model.parameters.iter().position(|p| p.id == *id)).collect(),
            observations: model.private.clone(),
            known: known(model),
        };
        let mut fault = None;
        for o in &model.private {
            match row_loss(o) {
                Ok(loss) => found.push(loss, o),
                Err(Fault::Unknown(reason)) => return not_mine(reason),
                Err(at) if fault.is_none() => fault = Some((o, at)),
                Err(_) => return not_mine("two densities are unbounded"),
            }
        }
        let Some((o, fault)) = fault else { return Ok(Ok(found)) };
        let (diagnostic, remedy) = refusals::unbounded(rule.name, o, &fault, model, context);
        let mended = remedy.map(|(line, loss)| {
            found.push(loss, o);
            (line, found)
        });
        Ok(Err((diagnostic, mended)))
    }

    fn push(&mut self, loss: RowLoss, o: &Observation) {
        let text = match loss {
            RowLoss::Mass => "the outcome is discrete: its probability is at most 1".to_owned(),
            RowLoss::Bernoulli { least } => {
                format!("the outcome is 0 or 1, and both probabilities are at least {}", crate::rules::text::four_down(least))
            }
            RowLoss::Log { most: Some(most), width } => {
                format!(
                    "the predictor is at most {} in size, so the loss moves within an interval of length {}",
                    four_up(most),
                    four_up(width)
                )
            }
            RowLoss::Log { most: None, width } => {
                format!("over the bounded domain of the parameters the loss of a row moves within an interval of length {}", four_up(width))
            }
            RowLoss::Scaled { peak } => format!("the density is at most M = {}; its shape is fixed", four_up(peak)),
            RowLoss::Bounded { peak } => {
                format!("the density is at most M = {}; its shape varies: the wider range M^(beta-1) (1/(beta-1) + 1/beta)", four_up(peak))
            }
        };
        self.premises.push(Premise::holds(text, Some(o.likelihood.span)));
        self.rows.push(loss);
    }

    /// Length R of the interval of one row's loss, rounded up; the ranges of its observed values add.
    pub fn range(&self, beta: f64) -> f64 {
        let mut last = None;
        let ranges = self.rows.iter().map(|row| match last {
            Some((same, range)) if same == row => range,
            _ => {
                work::count(1);
                let range = row.range(beta);
                last = Some((row, range));
                range
            }
        });
        ranges.fold(0.0, add_up)
    }

    /// Is the loss the negative log-likelihood itself, with no beta in it?
    pub fn plain(&self) -> bool {
        self.rows.iter().all(|r| matches!(r, RowLoss::Log { .. }))
    }

    /// The largest value of any of the densities.
    pub fn peak(&self) -> f64 {
        self.rows.iter().map(|r| r.peak()).fold(0.0, f64::max)
    }

    /// Where the range is least: `1 + 1 / ln M` if a density passes 1; `None` if it falls for ever.
    pub fn best_beta(&self) -> Option<f64> {
        let peak = self.peak();
        (peak > 1.0).then(|| up12(1.0 + 1.0 / peak.ln())).filter(|b| b.is_finite() && *b < 1e6)
    }

    /// How far the weighted loss of all rows may move between neighbours, up to a constant: the width `k w R`, doubled for
    /// rows that are replaced.
    pub fn width(&self, beta: f64, weight: f64, moved: Moved) -> f64 {
        let one = mul_up(count_up(self.records.unit_rows), mul_up(weight, self.range(beta)));
        match moved {
            Moved::Replaced => 2.0 * one,
            Moved::AddedOrRemoved => one,
        }
    }

    /// The same loss, with the range that was proved for all values, of the model with values in place.
    pub fn of(&self, model: &Model) -> BoundedLoss {
        BoundedLoss { parameters: model.parameters.clone(), observations: model.private.clone(), known: true, ..self.clone() }
    }

    /// The claim of so many draws under a view, where the model's own relation allows that view.
    pub fn seen(&self, view: View, times: u64, one: impl Fn(Moved) -> Claim) -> Option<Claim> {
        let moved = match view {
            View::AddRemove => Moved::AddedOrRemoved,
            View::Crossing => return None,
            View::Replace | View::Exchange if self.records.relation == Relation::AddRemove => return None,
            View::Replace | View::Exchange => Moved::Replaced,
        };
        Some(repeated(one(moved), times))
    }

    /// The plan of so many draws by a chain.
    pub fn plan(&self, beta: f64, weight: f64, times: u64, chain: ChainLaw) -> Option<MechanismPlan> {
        let (law, statistic) = self.law(beta, chain)?;
        Some(MechanismPlan::Posterior { law, weight, statistic, times })
    }

    /// The premises at this beta, with the range that follows.
    pub fn premises(&self, beta: f64) -> Vec<Premise> {
        let mut list = self.premises.clone();
        let span = self.observations.first().map(|o| o.span);
        let range = format!("the loss of a row lies in an interval of length {}", four_up(self.range(beta)));
        list.push(Premise::holds(range, span));
        list
    }

    /// What a chain draws from, and its columns; `None` while a public number is known by its range alone.
    fn law(&self, beta: f64, chain: ChainLaw) -> Option<(PosteriorLaw, Statistic)> {
        if !self.known {
            return None;
        }
        let law = DensityLaw {
            parameters: self.parameters.clone(),
            released: self.released.clone(),
            rows: self.observations.clone(),
            loss: if self.plain() { Loss::NegativeLog } else { Loss::Beta { beta: run_beta(beta) } },
            chain,
        };
        let statistic = Statistic { table: self.records.table, kind: StatisticKind::Columns(law.columns()) };
        Some((PosteriorLaw::Density(Box::new(law)), statistic))
    }

    /// What is predicted of a draw where every row counts `weight` times.
    pub fn predicted_error(&self, weight: f64) -> PredictedError {
        told::predicted(&self.parameters, &self.observations, assumed_rows(self.records.rows), weight)
    }

    /// The same of a chain that stays where the prior puts it.
    pub fn at_start(&self) -> PredictedError {
        PredictedError::of_start(self.predicted_error(0.0).value)
    }
}

fn premises(rule: &'static Rule, model: &Model, first: &Parameter, context: &Context) -> Vec<Premise> {
    let mut facts = Facts::of_rows(rule, model, first, context);
    facts.premise("every prior is a proper law", Some(first.prior.span));
    facts.premises
}

enum Prior {
    Proper,
    /// An argument is infinite: no law.
    Flat,
    /// An argument that must be positive may be 0 with positive probability.
    Vanishing,
}

/// A bounded loss keeps a proper prior proper and makes no flat one so.
fn proper(p: &Parameter) -> Prior {
    let finite = |e: &Expr| e.constant().is_none_or(f64::is_finite);
    let mut flat = p.truncated.is_some_and(|r| r.is_point());
    for arg in &p.prior.args {
        arg.walk(&mut |e| flat |= !finite(e));
    }
    if flat {
        return Prior::Flat;
    }
    let may_vanish = |(e, (_, kind)): (&Expr, &(&str, crate::dist::ArgKind))| {
        let positive = match kind {
            crate::dist::ArgKind::Scalar(range) => range.lo == 0.0,
            crate::dist::ArgKind::PositiveVector => true,
            _ => false,
        };
        // A parameter, or an exponential of one, is 0 with probability 0.
        let almost_never = match &e.kind {
            ExprKind::Param(_) | ExprKind::Call(Builtin::Exp, _) => true,
            ExprKind::Index(base, _) => matches!(base.kind, ExprKind::Param(_)),
            _ => false,
        };
        positive && !almost_never && enclose(e).lo <= 0.0
    };
    if p.prior.args.iter().zip(p.prior.family.args).any(may_vanish) { Prior::Vanishing } else { Prior::Proper }
}

/// Is every public number in the model a constant by now?
fn known(model: &Model) -> bool {
    let mut known = true;
    let priors = model.parameters.iter().flat_map(|p| &p.prior.args);
    let rows = model.private.iter().flat_map(|o| std::iter::once(&o.outcome).chain(&o.likelihood.args));
    for e in priors.chain(rows) {
        e.walk(&mut |e| {
            let open = matches!(e.kind, ExprKind::Released(_) | ExprKind::Scalar(_) | ExprKind::RowCount(_) | ExprKind::EachLevel);
            known &= !open || e.constant().is_some();
        });
    }
    known
}

/// The words for a claim's width at neighbours of this kind: "replacing a row costs twice that".
fn cost_words(records: Records) -> String {
    let unit = if records.unit_rows == 1 { "a row".to_owned() } else { format!("{} rows of one unit", records.unit_rows) };
    match records.relation {
        Relation::ReplaceOne if records.unit_rows == 1 => "replacing a row costs twice that".into(),
        Relation::ReplaceOne => format!("replacing {unit} costs {} times that", records.unit_rows.saturating_mul(2)),
        Relation::AddRemove if records.unit_rows == 1 => "adding or removing a row costs that".into(),
        Relation::AddRemove => format!("adding or removing {unit} costs {} times that", records.unit_rows),
    }
}

impl BoundedLoss {
    /// Epsilon of one draw in beta: `2 / (beta - 1)`.
    pub fn formula(&self, weight: f64) -> String {
        let doubled = if self.records.relation == Relation::ReplaceOne { 2.0 } else { 1.0 };
        let factor = doubled * count_up(self.records.unit_rows) * weight;
        let shown = crate::rules::text::four_near(
            factor * if self.rows.iter().all(|r| *r == RowLoss::Mass) { self.rows.len() as f64 } else { 1.0 },
        );
        match self.rows.as_slice() {
            rows if rows.iter().all(|r| *r == RowLoss::Mass) => format!("{shown} / (beta - 1)"),
            [RowLoss::Scaled { peak }] => format!("{shown} * {}^(beta - 1) / (beta - 1)", four_up(*peak)),
            _ => format!("{shown} * R(beta)"),
        }
    }

    /// Why the claim is what it is, for its cause.
    pub fn reason(&self) -> String {
        let discrete = self.rows.iter().all(|r| *r == RowLoss::Mass);
        let peak = if discrete { "for a discrete outcome M = 1".to_owned() } else { format!("here M = {}", four_up(self.peak())) };
        format!(
            "rule {}: the loss of one row lies in an interval of length M^(beta-1)/(beta-1);\n{peak}; {} (Jewson et al. 2023, Thm 1)",
            self.rule.name,
            cost_words(self.records)
        )
    }
}
