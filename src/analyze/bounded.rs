//! Draws from posteriors of bounded loss: the ways of every rule, and the ideal draw by a chain that must converge.

use std::rc::Rc;

use super::arguments::{self, Arguments};
use super::choose::solve;
use super::parallel::View;
use super::paying;
use super::posterior::assumed_rows;
use super::report::{Parameter, PredictedError, Status};
use super::sampled;
use super::scene::Scene;
use super::ways::{Asked, Knob, Way};
use crate::mechanism::plan::{ChainLaw, MechanismPlan};
use crate::model::print::number;
use crate::model::{Model, Relation, Request};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::rules::bounded::{BoundedLoss, Moved, Unfit, loss_rules};
use crate::rules::{Context, Premise, PublicTotals};

/// Judges the rules for bounded losses.
pub fn offer(model: &Model, scene: &Scene, args: &Arguments) -> Asked {
    let mut asked = Asked::default();
    let Request::Draw { times, .. } = model.request else { return asked };
    let public = PublicTotals::unbound();
    let context = Context { program: scene.program, public: &public };
    for rule in loss_rules() {
        let name = rule.meta().name;
        match rule.judge(model, context) {
            Err(Unfit::NotMine(reason)) => asked.unmatched.push((name, reason)),
            Err(Unfit::Refused(refusal)) => asked.refused.push((name, *refusal)),
            Ok(loss) => asked.ways.push(way(name, Rc::new(loss), times, scene, args)),
        }
    }
    asked
}

/// The way of one rule, with the arguments of the program in place.
pub fn way(name: &str, loss: Rc<BoundedLoss>, times: u64, scene: &Scene, args: &Arguments) -> Box<dyn Way> {
    if let "penalty" | "dp_hmc" = name {
        return paying::way(name, loss, times, scene, args);
    }
    if name == "dp_sgld" {
        return sampled::way(loss, times, args);
    }
    let chain = match args.get("sampler").and_then(|i| arguments::SAMPLERS.get(i as usize)) {
        Some(&"slice") => ChainLaw::Slice { steps: args.get("steps").map(|x| x as u64) },
        _ => ChainLaw::Nuts { steps: args.get("steps").map(|x| x as u64) },
    };
    if loss.plain() {
        return Box::new(Ideal { loss, times, chain, free: Free::Plain, weighted: true });
    }
    let weight = args.get("weight").unwrap_or(1.0);
    let by_beta = Ideal { loss, times, chain, free: Free::Beta { weight }, weighted: args.get("weight").is_some() };
    let written = args.get("beta").is_some() || args.get("weight").is_some();
    if let (false, Some(limit), Some(beta)) = (written, scene.allotment, by_beta.loss.best_beta())
        && solve(scene.site, &by_beta, limit).is_none()
    {
        // No beta alone is enough: the one of least range, tempered.
        return Box::new(Ideal { free: Free::Weight { beta }, weighted: true, ..by_beta });
    }
    Box::new(by_beta)
}

fn moved(view: View) -> Moved {
    match view {
        View::Replace | View::Exchange => Moved::Replaced,
        View::AddRemove => Moved::AddedOrRemoved,
    }
}

/// The claim of one draw under a view, where the model's own relation allows that view.
pub fn seen(loss: &BoundedLoss, view: View, times: u64, one: impl Fn(Moved) -> Claim) -> Option<Claim> {
    if loss.records.relation == Relation::AddRemove && view != View::AddRemove {
        return None;
    }
    let one = one(moved(view));
    Some(if times == 1 { one } else { one.repeat(times) })
}

pub fn plan(loss: &BoundedLoss, beta: f64, weight: f64, times: u64, chain: ChainLaw) -> Option<MechanismPlan> {
    let (law, statistic) = loss.law(beta, chain)?;
    Some(MechanismPlan::Posterior { law, weight, statistic, times })
}

pub fn fixed(name: &'static str, value: f64) -> Parameter {
    Parameter { name, value, solved: false }
}

/// Which number of a draw is free.
#[derive(Clone, Copy)]
enum Free {
    Beta {
        weight: f64,
    },
    Weight {
        beta: f64,
    },
    /// The weight, of a loss without a beta.
    Plain,
}

/// A draw from the ideal posterior by a chain that must converge.
struct Ideal {
    loss: Rc<BoundedLoss>,
    times: u64,
    chain: ChainLaw,
    free: Free,
    /// The weight is part of what is shown.
    weighted: bool,
}

impl Ideal {
    /// Beta and weight at a value of the knob.
    fn at(&self, x: f64) -> (f64, f64) {
        match self.free {
            Free::Beta { weight } => (x, weight),
            Free::Weight { beta } => (beta, x),
            Free::Plain => (2.0, x),
        }
    }
}

impl Way for Ideal {
    fn mechanism(&self) -> &'static str {
        self.loss.meta.name
    }

    fn rule(&self) -> &'static str {
        self.loss.meta.name
    }

    fn knob(&self) -> Knob {
        match self.free {
            Free::Beta { .. } => Knob::Beta("beta"),
            Free::Weight { .. } | Free::Plain => Knob::Weight("weight"),
        }
    }

    fn start(&self) -> f64 {
        self.loss.best_beta().unwrap_or(2.0)
    }

    fn example(&self) -> f64 {
        if matches!(self.free, Free::Beta { .. }) { self.start() } else { 1.0 }
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let (beta, weight) = self.at(x);
        seen(&self.loss, view, self.times, |moved| self.loss.draw_claim(beta, weight, moved))
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        self.loss.premises(self.at(x).0)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let (beta, weight) = self.at(x);
        plan(&self.loss, beta, weight, self.times, self.chain.clone())
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        let (beta, weight) = self.at(x);
        // A row of fit f weighs f^(b-1) of what it does in the ordinary posterior: about half at the middle of a probability.
        let by_fit = if self.loss.plain() { 1.0 } else { 0.5_f64.powf(beta - 1.0) };
        let rows = assumed_rows(self.loss.records.rows) * weight * by_fit;
        PredictedError { measure: "root mean square distance of the draw from the posterior mean", value: self.loss.predicted_error(rows) }
    }

    fn remark(&self, x: f64) -> String {
        if self.loss.plain() {
            return format!("data weight {}%", sig_down(100.0 * x, 3));
        }
        "data weight depends on fit".into()
    }

    fn given(&self) -> Vec<Parameter> {
        match self.free {
            Free::Beta { weight } if self.weighted => vec![fixed("weight", weight)],
            Free::Beta { .. } | Free::Plain => vec![],
            // Chosen from the density alone, and written out where the choice is locked.
            Free::Weight { beta } => vec![Parameter { name: "beta", value: beta, solved: true }],
        }
    }

    fn status(&self) -> Status {
        Status::Conditional
    }

    fn written(&self, given: &str) -> String {
        let sampler = if matches!(self.chain, ChainLaw::Slice { .. }) { "sampler = slice" } else { "" };
        // A weight that the program writes stays, while beta is solved.
        let own = match self.free {
            Free::Beta { weight } if self.weighted && given.is_empty() => format!("weight = {}", number(weight)),
            _ => given.to_owned(),
        };
        let list: Vec<&str> = [own.as_str(), sampler].into_iter().filter(|t| !t.is_empty()).collect();
        let arguments = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
        format!("{}{arguments} assuming convergence", self.mechanism())
    }

    fn reckoning(&self) -> Option<(String, String)> {
        let Free::Beta { weight } = self.free else { return None };
        Some((self.loss.formula(weight), self.loss.reason()))
    }

    fn tempered(&self, x: f64) -> Option<Box<dyn Way>> {
        let Free::Beta { .. } = self.free else { return None };
        Some(Box::new(Ideal {
            loss: Rc::clone(&self.loss),
            chain: self.chain.clone(),
            free: Free::Weight { beta: x },
            weighted: true,
            ..*self
        }))
    }
}

/// `beta = 1.3334`: four digits of what beta is above 1, rounded up.
pub fn beta_text(x: f64) -> String {
    if x >= 1e15 {
        return number(x);
    }
    let above = sig_up(crate::rules::bounded::excess(x), 4);
    let places = above.split_once('.').map_or(0, |(_, digits)| digits.len());
    above.parse::<f64>().map_or_else(|_| number(x), |a| format!("{:.places$}", 1.0 + a))
}
