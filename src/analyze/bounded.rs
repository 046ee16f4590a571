//! Draws from posteriors of bounded loss: the ideal one by a chain that must converge, and the penalty chain.

use std::rc::Rc;

use super::arguments::{self, Arguments};
use super::choose::solve;
use super::parallel::View;
use super::posterior::assumed_rows;
use super::report::{Parameter, PredictedError, Status};
use super::scene::Scene;
use super::ways::{Asked, Knob, Way};
use crate::mechanism::plan::{ChainLaw, MechanismPlan};
use crate::model::print::number;
use crate::model::{Model, Relation, Request};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::rules::bounded::{BoundedLoss, Moved, Unfit, loss_rules};
use crate::rules::{Context, Premise, PublicTotals};

/// Steps of a penalty chain, its beta and its noise, where neither the program nor the density says otherwise: constants, so
/// public. With much more noise than this nearly every step is refused, as the penalty is `exp(-sigma^2 / 2)`.
const ITERATIONS: u64 = 300;
const PENALTY_BETA: f64 = 1.5;
const PENALTY_SIGMA: f64 = 1.5;

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
    let weight = args.get("weight").unwrap_or(1.0);
    if name == "penalty" {
        let beta = args.get("beta").unwrap_or_else(|| loss.best_beta().map_or(PENALTY_BETA, |b| b.min(PENALTY_BETA)));
        let iterations = args.get("iterations").map_or(ITERATIONS, |x| x as u64);
        let given = |name: &str| args.get(name);
        let open = match (given("weight"), given("sigma"), given("iterations")) {
            (_, Some(sigma), None) if scene.allotment.is_some() => Open::Iterations { sigma },
            // Rows count less, so that the noise that covers them leaves the chain room to move.
            (None, sigma, _) if scene.allotment.is_some() => Open::Weight { sigma: sigma.unwrap_or(PENALTY_SIGMA) },
            _ => Open::Sigma,
        };
        return Box::new(Penalty {
            loss,
            times,
            beta,
            weight,
            iterations,
            open,
            step: args.get("step"),
            written: ["iterations", "beta", "weight", "sigma"].map(|name| args.get(name).is_some()),
        });
    }
    let chain = match args.get("sampler").and_then(|i| arguments::SAMPLERS.get(i as usize)) {
        Some(&"slice") => ChainLaw::Slice { steps: args.get("steps").map(|x| x as u64) },
        _ => ChainLaw::Nuts { steps: args.get("steps").map(|x| x as u64) },
    };
    if loss.plain() {
        return Box::new(Ideal { loss, times, chain, free: Free::Plain, weighted: true });
    }
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
fn seen(loss: &BoundedLoss, view: View, times: u64, one: impl Fn(Moved) -> Claim) -> Option<Claim> {
    if loss.records.relation == Relation::AddRemove && view != View::AddRemove {
        return None;
    }
    let one = one(moved(view));
    Some(if times == 1 { one } else { one.repeat(times) })
}

fn plan(loss: &BoundedLoss, beta: f64, weight: f64, times: u64, chain: ChainLaw) -> Option<MechanismPlan> {
    let (law, statistic) = loss.law(beta, chain)?;
    Some(MechanismPlan::Posterior { law, weight, statistic, times })
}

fn fixed(name: &'static str, value: f64) -> Parameter {
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

/// Which number of a penalty chain is solved.
#[derive(Clone, Copy)]
enum Open {
    /// The noise, at a written weight.
    Sigma,
    /// The length, at a written noise.
    Iterations { sigma: f64 },
    /// The weight of a row, at a noise that lets the chain move.
    Weight { sigma: f64 },
}

/// The last state of a penalty chain; one of its weight, noise and length is free.
struct Penalty {
    loss: Rc<BoundedLoss>,
    times: u64,
    beta: f64,
    weight: f64,
    iterations: u64,
    open: Open,
    step: Option<f64>,
    /// Are length, beta, weight and sigma given by the program?
    written: [bool; 4],
}

impl Penalty {
    /// Length, sigma and weight at a value of the knob.
    fn at(&self, x: f64) -> (u64, f64, f64) {
        match self.open {
            Open::Sigma => (self.iterations, x, self.weight),
            Open::Iterations { sigma } => (x as u64, sigma, self.weight),
            Open::Weight { sigma } => (self.iterations, sigma, x),
        }
    }
}

impl Way for Penalty {
    fn mechanism(&self) -> &'static str {
        self.loss.meta.name
    }

    fn rule(&self) -> &'static str {
        self.loss.meta.name
    }

    fn knob(&self) -> Knob {
        match self.open {
            Open::Sigma => Knob::Noise("sigma"),
            Open::Iterations { .. } => Knob::Count("iterations"),
            Open::Weight { .. } => Knob::Weight("weight"),
        }
    }

    fn start(&self) -> f64 {
        match self.open {
            Open::Sigma => self.loss.width(self.beta, self.weight, Moved::Replaced) * (self.iterations as f64 / 2.0).sqrt(),
            Open::Iterations { .. } | Open::Weight { .. } => 1.0,
        }
    }

    /// A value that costs about 1 in zCDP.
    fn example(&self) -> f64 {
        match self.open {
            Open::Weight { sigma } => {
                let width = self.loss.width(self.beta, 1.0, Moved::Replaced);
                (sigma * (2.0 / self.iterations as f64).sqrt() / width).min(1.0)
            }
            Open::Sigma | Open::Iterations { .. } => self.start(),
        }
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let (iterations, sigma, weight) = self.at(x);
        seen(&self.loss, view, self.times, |moved| self.loss.chain_claim(self.beta, weight, iterations, sigma, moved))
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        let mut list = self.loss.premises(self.beta);
        let steps = self.at(x).0;
        list.push(Premise::holds(format!("each of {steps} steps answers with normal noise, and proposes from public facts alone"), None));
        list
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let (iterations, sigma, weight) = self.at(x);
        let chain = ChainLaw::Penalty { iterations, sigma, step: self.step, range: self.loss.range(self.beta) };
        plan(&self.loss, self.beta, weight, self.times, chain)
    }

    fn predicted_error(&self, _: f64) -> PredictedError {
        // How far the chain moves is not predicted: as if it stayed where the prior put it.
        PredictedError { measure: "root mean square distance of the draw from the posterior mean", value: self.loss.prior_spread() }
    }

    fn remark(&self, x: f64) -> String {
        let (iterations, sigma, weight) = self.at(x);
        format!("{iterations} steps with noise {} on each log-ratio, data weight {}", sig_up(sigma, 3), sig_down(weight, 2))
    }

    fn given(&self) -> Vec<Parameter> {
        let mut list = vec![];
        if !matches!(self.open, Open::Iterations { .. }) {
            list.push(Parameter { name: "iterations", value: self.iterations as f64, solved: !self.written[0] });
        }
        match self.open {
            Open::Iterations { sigma } => list.push(fixed("sigma", sigma)),
            Open::Weight { sigma } => list.push(Parameter { name: "sigma", value: sigma, solved: !self.written[3] }),
            Open::Sigma => {}
        }
        list.extend(self.step.map(|x| fixed("step", x)));
        list.push(Parameter { name: "beta", value: self.beta, solved: !self.written[1] });
        if !matches!(self.open, Open::Weight { .. }) {
            list.push(Parameter { name: "weight", value: self.weight, solved: !self.written[2] });
        }
        list
    }

    fn status(&self) -> Status {
        Status::Certified
    }

    fn written(&self, given: &str) -> String {
        let [iterations, beta, weight, noise] = self.written;
        let sigma = match self.open {
            Open::Iterations { sigma } | Open::Weight { sigma } => Some(sigma).filter(|_| noise),
            Open::Sigma => None,
        };
        let own = [
            iterations.then(|| format!("iterations = {}", self.iterations)),
            sigma.map(|x| format!("sigma = {}", number(x))),
            self.step.map(|x| format!("step = {}", number(x))),
            beta.then(|| format!("beta = {}", number(self.beta))),
            weight.then(|| format!("weight = {}", number(self.weight))),
        ];
        let own: Vec<String> = own.into_iter().flatten().collect();
        let list = if given.is_empty() { own.join(", ") } else { given.to_owned() };
        if list.is_empty() { self.mechanism().to_owned() } else { format!("{}({list})", self.mechanism()) }
    }
}

/// `beta = 1.3334`: four digits of what beta is above 1, rounded up.
pub fn beta_text(x: f64) -> String {
    let above = sig_up(crate::rules::bounded::excess(x), 4);
    let places = above.split_once('.').map_or(0, |(_, digits)| digits.len());
    above.parse::<f64>().map_or_else(|_| number(x), |a| format!("{:.places$}", 1.0 + a))
}
