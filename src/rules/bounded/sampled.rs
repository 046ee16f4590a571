//! Chains that pay for gradients of random samples of the rows.

use super::model::BoundedLoss;
use super::paying::beta_of;
use crate::mechanism::plan::{ChainLaw, MechanismPlan};
use crate::model::Relation;
use crate::model::print::number;
use crate::numeric::decimal::sig_up;
use crate::privacy::Claim;
use crate::rules::offer::{Chain, Knob, Offer, Parameter, PredictedError, View, repeated};
use crate::rules::{Premise, Question, Rule};
use std::rc::Rc;

/// A sample of this part of the rows is weighed beside all of them where the program leaves it open, if it has so many rows at least.
const PART: u64 = 4;
const FEWEST: u64 = 10;
/// Steps and the norm of a row's gradient in prior spreads, where the program says nothing: constants, so public.
const STEPS: u64 = 500;
const CLIP: f64 = 1.0;

/// The last state of a chain; its noise is free.
#[derive(Clone)]
struct Sampled {
    loss: Rc<BoundedLoss>,
    times: u64,
    iterations: u64,
    /// Rows of a sample; all of them where there is none.
    batch: Option<u64>,
    clip: f64,
    beta: f64,
    weight: f64,
    step: Option<f64>,
    /// Names that the program gives.
    written: Vec<&'static str>,
}

/// The offers of the rule `dp_sgld`: of all rows, and of a sample where no mechanism is written.
pub(super) fn offer(loss: Rc<BoundedLoss>, times: u64, question: &Question) -> Vec<Box<dyn Offer>> {
    let args = question.arguments(loss.rule.own());
    let all = Sampled {
        times,
        iterations: args.count("iterations").unwrap_or(STEPS),
        batch: args.count("batch"),
        clip: args.get("clip").unwrap_or(CLIP),
        beta: beta_of(&loss, args),
        weight: args.get("weight").unwrap_or(1.0),
        step: args.get("step"),
        written: ["iterations", "batch", "clip", "beta", "weight"].into_iter().filter(|name| args.get(name).is_some()).collect(),
        loss,
    };
    let batch = Some(all.rows() / PART).filter(|batch| question.written.is_none() && *batch >= FEWEST);
    let sample = batch.map(|_| Sampled { batch, ..all.clone() });
    std::iter::once(all).chain(sample).map(|s| -> Box<dyn Offer> { Box::new(s) }).collect()
}

impl Sampled {
    /// The least that the header promises, which the share of a sample is of.
    fn rows(&self) -> u64 {
        let rows = self.loss.records.rows;
        rows.exactly.unwrap_or(rows.at_least).max(1)
    }

    /// A number that the program gives, or that is public by default.
    fn own(&self, parameter: Parameter) -> Parameter {
        let solved = !self.written.contains(&parameter.name);
        parameter.solved(solved)
    }
}

impl Offer for Sampled {
    fn rule(&self) -> &'static Rule {
        self.loss.rule
    }

    fn knob(&self) -> Knob {
        Knob::Noise("sigma")
    }

    /// What the whole would cost about 1 at, sampled or not.
    fn start(&self) -> f64 {
        self.clip * (2.0 * self.iterations as f64).sqrt()
    }

    fn example(&self) -> f64 {
        self.start()
    }

    /// For replaced rows alone: a row that leaves a group changes the size of its samples.
    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        if view != View::Replace || self.loss.records.relation != Relation::ReplaceOne {
            return None;
        }
        Some(repeated(self.loss.sampled_claim(self.iterations, self.batch, self.clip, x), self.times))
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        let mut list = self.loss.premises(self.beta);
        list.push(Premise::holds(
            format!(
                "each of {} steps takes {}, cuts the gradient of each to norm {}, rounds them to integers and adds normal noise rounded to integers",
                self.iterations,
                self.batch.map_or("all rows".into(), |rows| format!("{rows} rows drawn without replacement")),
                number(self.clip)
            ),
            None,
        ));
        list
    }

    fn plan_of(&self, question: &Question, x: f64) -> Option<MechanismPlan> {
        Sampled { loss: Rc::new(self.loss.of(question.model().ok()?)), ..self.clone() }.plan(x)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let chain = ChainLaw::Sgld { iterations: self.iterations, batch: self.batch, clip: self.clip, sigma: x, step: self.step };
        self.loss.plan(self.beta, self.weight, self.times, chain)
    }

    fn predicted_error(&self, _: f64) -> PredictedError {
        // How far the chain moves is not predicted: as if it stayed where the prior put it.
        self.loss.at_start()
    }

    /// Of the mean gradient of a step: the noise that is added, and what a sample leaves to chance of gradients that are cut.
    fn noise(&self, x: f64) -> f64 {
        let n = self.rows() as f64;
        let batch = self.batch.map_or(n, |b| b as f64).min(n);
        (x / batch).hypot(self.clip * ((1.0 - batch / n) / batch).sqrt())
    }

    fn remark(&self, x: f64) -> String {
        let rows = self.batch.map_or("all rows".into(), |rows| format!("{rows} rows"));
        let mean = if self.rows() < FEWEST { String::new() } else { format!(", {} on their mean", sig_up(self.noise(x), 3)) };
        format!("{} steps of {rows} with noise {} on each gradient{mean}", self.iterations, sig_up(x, 3))
    }

    fn given(&self) -> Vec<Parameter> {
        let numbers = [("iterations", Some(self.iterations as f64)), ("batch", self.batch.map(|b| b as f64)), ("clip", Some(self.clip))];
        let mut list: Vec<Parameter> = numbers.into_iter().filter_map(|(name, x)| Some(self.own(Parameter::exact(name, x?)))).collect();
        list.extend(self.step.map(|x| Parameter::exact("step", x)));
        list.extend([self.own(Parameter::up("beta", self.beta)), self.own(Parameter::down("weight", self.weight))]);
        list
    }

    fn chain(&self) -> Option<Chain> {
        Some(Chain::Paying)
    }

    fn written(&self, given: &str) -> String {
        let value = |name: &str| match name {
            "iterations" => self.iterations as f64,
            "batch" => self.batch.unwrap_or_default() as f64,
            "clip" => self.clip,
            "beta" => self.beta,
            _ => self.weight,
        };
        let own = self.written.iter().map(|name| (*name, value(name))).chain(self.step.map(|x| ("step", x)));
        let own: Vec<String> = own.map(|(name, x)| format!("{name} = {}", number(x))).collect();
        let list = if given.is_empty() { own.join(", ") } else { given.to_owned() };
        if list.is_empty() { self.mechanism().name.to_owned() } else { format!("{}({list})", self.mechanism().name) }
    }
}
