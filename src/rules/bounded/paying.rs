//! Chains that pay for every answer: penalty chains, and Hamiltonian ones with noisy gradients.

use super::model::{BoundedLoss, Gradients, Moved};
use crate::mechanism::plan::{ChainLaw, MechanismPlan};
use crate::model::print::number;
use crate::numeric::decimal::{sig_down, sig_up, up12};
use crate::privacy::Claim;
use crate::rules::arguments::Arguments;
use crate::rules::offer::{Chain, Knob, Offer, Parameter, PredictedError, View};
use crate::rules::{Premise, Question, Rule};
use std::rc::Rc;

/// Steps of a penalty chain and proposals of a Hamiltonian one, beta and noise, where neither the program nor the density says
/// otherwise: constants, so public. With much more noise than this nearly every step is refused, as the penalty is
/// `exp(-sigma^2 / 2)`.
const ITERATIONS: u64 = 300;
const PROPOSALS: u64 = 50;
const BETA: f64 = 1.5;
const SIGMA: f64 = 1.5;
/// Leapfrog steps of a proposal, and the norm of a row's gradient in prior spreads.
const STEPS: u64 = 5;
const CLIP: f64 = 1.0;

/// Which number is solved.
#[derive(Clone, Copy)]
enum Open {
    /// The noise, at a written weight.
    Sigma,
    /// The length, at a written weight and noise.
    Iterations { sigma: f64 },
    /// The weight of a row, at a noise that lets the chain move.
    Weight { sigma: f64 },
}

/// The last state of a chain; one of its weight, noise and length is free.
#[derive(Clone)]
struct Paying {
    loss: Rc<BoundedLoss>,
    times: u64,
    beta: f64,
    weight: f64,
    iterations: u64,
    open: Open,
    step: Option<f64>,
    /// Steps and clip; `None` for a penalty chain.
    gradients: Option<(u64, f64)>,
    /// The noise on gradients; left out, they cost as much as the losses.
    gradient_sigma: Option<f64>,
    /// Names that the program gives.
    written: Vec<&'static str>,
}

/// The offer of the rule `penalty`.
pub(super) fn penalty(loss: Rc<BoundedLoss>, times: u64, question: &Question) -> Vec<Box<dyn Offer>> {
    offer(loss, times, question, false)
}

/// The offer of the rule `dp_hmc`.
pub(super) fn hamiltonian(loss: Rc<BoundedLoss>, times: u64, question: &Question) -> Vec<Box<dyn Offer>> {
    offer(loss, times, question, true)
}

fn offer(loss: Rc<BoundedLoss>, times: u64, question: &Question, hamiltonian: bool) -> Vec<Box<dyn Offer>> {
    let args = question.arguments(loss.rule.own());
    let open = match (args.get("weight"), args.get("sigma"), args.get("iterations")) {
        (Some(_), Some(sigma), None) if question.budgeted => Open::Iterations { sigma },
        // Rows count less, so that the noise that covers them leaves the chain room to move.
        (None, sigma, _) if question.budgeted => Open::Weight { sigma: sigma.unwrap_or(SIGMA) },
        _ => Open::Sigma,
    };
    let written = ["iterations", "steps", "clip", "sigma", "gradient_sigma", "beta", "weight"];
    vec![Box::new(Paying {
        times,
        beta: beta_of(&loss, args),
        weight: args.get("weight").unwrap_or(1.0),
        iterations: args.count("iterations").unwrap_or(if hamiltonian { PROPOSALS } else { ITERATIONS }),
        open,
        step: args.get("step"),
        gradients: hamiltonian.then(|| (args.count("steps").unwrap_or(STEPS), args.get("clip").unwrap_or(CLIP))),
        gradient_sigma: args.get("gradient_sigma"),
        written: written.into_iter().filter(|name| args.get(name).is_some()).collect(),
        loss,
    })]
}

/// The beta that the program gives, or one that keeps the loss narrow.
pub(super) fn beta_of(loss: &BoundedLoss, args: &Arguments) -> f64 {
    args.get("beta").unwrap_or_else(|| loss.best_beta().map_or(BETA, |b| b.min(BETA)))
}

impl Paying {
    /// Length, sigma and weight at a value of the knob.
    fn at(&self, x: f64) -> (u64, f64, f64) {
        match self.open {
            Open::Sigma => (self.iterations, x, self.weight),
            Open::Iterations { sigma } => (x as u64, sigma, self.weight),
            Open::Weight { sigma } => (self.iterations, sigma, x),
        }
    }

    /// The noisy gradients at a value of the knob, their noise as it is printed.
    fn gradients(&self, x: f64) -> Option<Gradients> {
        let (steps, clip) = self.gradients?;
        let (_, sigma, weight) = self.at(x);
        // D / sigma and G / gradient_sigma are alike over all steps of a proposal.
        let even = || up12(sigma * clip * (steps as f64 + 1.0).sqrt() / (weight * self.loss.range(self.beta)));
        Some(Gradients { steps, clip, sigma: self.gradient_sigma.unwrap_or_else(even) })
    }

    /// A number that the program gives, or that is public by default.
    fn own(&self, parameter: Parameter) -> Parameter {
        let solved = !self.written.contains(&parameter.name);
        parameter.solved(solved)
    }
}

impl Offer for Paying {
    fn rule(&self) -> &'static Rule {
        self.loss.rule
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

    /// A value that costs about 1 in zCDP, half the square of mu.
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
        self.loss.seen(view, self.times, |moved| match self.gradients(x) {
            None => self.loss.chain_claim(self.beta, weight, iterations, sigma, moved),
            Some(gradients) => self.loss.hmc_claim(self.beta, weight, (iterations, sigma), gradients, moved),
        })
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        let mut list = self.loss.premises(self.beta);
        let steps = self.at(x).0;
        list.push(match self.gradients(x) {
            None => Premise::holds(format!("each of {steps} steps adds normal noise, rounded to integers, to a sum of integers, and proposes from public facts alone"), None),
            Some(g) => Premise::holds(
                format!(
                    "each of {steps} proposals takes {} sums of gradients, every row's cut to norm {} and rounded to integers, and one sum of losses, all with normal noise rounded to integers",
                    g.steps.saturating_add(1),
                    number(g.clip)
                ),
                None,
            ),
        });
        list
    }

    fn plan_of(&self, question: &Question, x: f64) -> Option<MechanismPlan> {
        Paying { loss: Rc::new(self.loss.of(question.model().ok()?)), ..self.clone() }.plan(x)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let (iterations, sigma, weight) = self.at(x);
        let (step, range) = (self.step, self.loss.range(self.beta));
        let chain = match self.gradients(x) {
            None => ChainLaw::Penalty { iterations, sigma, step, range },
            Some(g) => ChainLaw::Hmc { iterations, steps: g.steps, sigma, step, range, clip: g.clip, gradient_sigma: g.sigma },
        };
        self.loss.plan(self.beta, weight, self.times, chain)
    }

    fn predicted_error(&self, _: f64) -> PredictedError {
        // How far the chain moves is not predicted: as if it stayed where the prior put it.
        self.loss.at_start()
    }

    fn remark(&self, x: f64) -> String {
        let (iterations, sigma, weight) = self.at(x);
        let unit = if self.gradients.is_some() { "proposals" } else { "steps" };
        format!("{iterations} {unit} with noise {} on each log-ratio, data weight {}", sig_up(sigma, 3), sig_down(weight, 2))
    }

    fn given(&self) -> Vec<Parameter> {
        let mut list = vec![];
        if !matches!(self.open, Open::Iterations { .. }) {
            list.push(self.own(Parameter::exact("iterations", self.iterations as f64)));
        }
        if let Some((steps, clip)) = self.gradients {
            list.extend([self.own(Parameter::exact("steps", steps as f64)), self.own(Parameter::exact("clip", clip))]);
        }
        match self.open {
            Open::Iterations { sigma } | Open::Weight { sigma } => list.push(self.own(Parameter::up("sigma", sigma))),
            Open::Sigma => {}
        }
        list.extend(self.gradient_sigma.map(|x| Parameter::up("gradient_sigma", x)));
        list.extend(self.step.map(|x| Parameter::exact("step", x)));
        list.push(self.own(Parameter::up("beta", self.beta)));
        if !matches!(self.open, Open::Weight { .. }) {
            list.push(self.own(Parameter::down("weight", self.weight)));
        }
        list
    }

    fn derived(&self, x: f64) -> Vec<Parameter> {
        let solved = self.gradients(x).filter(|_| self.gradient_sigma.is_none());
        solved.map(|g| Parameter::up("gradient_sigma", g.sigma).solved(true)).into_iter().collect()
    }

    fn chain(&self) -> Option<Chain> {
        Some(Chain::Paying)
    }

    fn written(&self, given: &str) -> String {
        let sigma = match self.open {
            Open::Iterations { sigma } | Open::Weight { sigma } => sigma,
            Open::Sigma => f64::NAN,
        };
        let (steps, clip) = self.gradients.unwrap_or_default();
        let value = |name: &str| match name {
            "iterations" => self.iterations as f64,
            "steps" => steps as f64,
            "clip" => clip,
            "sigma" => sigma,
            "gradient_sigma" => self.gradient_sigma.unwrap_or(f64::NAN),
            "beta" => self.beta,
            _ => self.weight,
        };
        let own = self.written.iter().map(|name| (*name, value(name))).filter(|(_, x)| !x.is_nan());
        let own: Vec<String> = own.chain(self.step.map(|x| ("step", x))).map(|(name, x)| format!("{name} = {}", number(x))).collect();
        let list = if given.is_empty() { own.join(", ") } else { given.to_owned() };
        if list.is_empty() { self.mechanism().name.to_owned() } else { format!("{}({list})", self.mechanism().name) }
    }
}
