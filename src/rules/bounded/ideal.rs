//! Draws from an ideal posterior of bounded loss, by a chain that must converge.

use super::model::BoundedLoss;
use crate::mechanism::plan::{ChainLaw, MechanismPlan, Sampler};
use crate::model::print::number;
use crate::numeric::decimal::{sig_down, up12};
use crate::privacy::Claim;
use crate::rules::arguments::Arg;
use crate::rules::offer::{Chain, Knob, Offer, Parameter, PredictedError, View};
use crate::rules::{Premise, Question, Rule};
use std::rc::Rc;

/// The largest beta that is solved alone: `1 + 1 / ln 2`. A row of density f counts `w f^(b - 1)` times, and within one range
/// `w / (b - 1)` that is most at `b - 1 = -1 / ln f`; for a row at the middle of a probability there. Beyond it a smaller
/// weight leaves more.
const MOST_BETA: f64 = 1.0 + std::f64::consts::LOG2_E;

/// The draw with beta free; and, where nothing is written, that of the beta of least range, or of [`MOST_BETA`], with the weight
/// free, should no beta up to there be enough.
pub(super) fn offer(loss: Rc<BoundedLoss>, times: u64, question: &Question) -> Vec<Box<dyn Offer>> {
    let args = question.arguments(loss.rule.own());
    let steps = args.count(Arg::STEPS.name);
    let chain = if args.sampler() == Some(Sampler::Slice) { ChainLaw::Slice { steps } } else { ChainLaw::Nuts { steps } };
    let weight = args.get("weight");
    if loss.plain() {
        return vec![Box::new(Ideal { loss, times, chain, free: Free::Plain, weighted: true })];
    }
    let open = weight.is_none() && question.budgeted;
    let written = args.get("beta");
    let most = up12(MOST_BETA);
    let best = open.then(|| loss.best_beta().map_or(most, |b| b.min(most)));
    let free = Free::Beta { weight: weight.unwrap_or(1.0), most: best.unwrap_or(f64::INFINITY), written };
    let by_beta = Ideal { loss, times, chain, free, weighted: weight.is_some() };
    let tempered = best
        .filter(|_| written.is_none())
        .map(|beta| Box::new(Ideal { free: Free::Weight { beta }, weighted: true, ..by_beta.clone() }) as Box<dyn Offer>);
    std::iter::once(Box::new(by_beta) as Box<dyn Offer>).chain(tempered).collect()
}

/// Which number of a draw is free.
#[derive(Clone, Copy)]
enum Free {
    Beta {
        weight: f64,
        /// Beyond it beta is not solved.
        most: f64,
        /// The beta that the program gives.
        written: Option<f64>,
    },
    Weight {
        beta: f64,
    },
    /// The weight, of a loss without a beta.
    Plain,
}

/// A draw from the ideal posterior by a chain that must converge.
#[derive(Clone)]
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
            Free::Beta { weight, .. } => (x, weight),
            Free::Weight { beta } => (beta, x),
            Free::Plain => (2.0, x),
        }
    }
}

impl Offer for Ideal {
    fn rule(&self) -> &'static Rule {
        self.loss.rule
    }

    fn knob(&self) -> Knob {
        match self.free {
            Free::Beta { .. } => Knob::Beta("beta"),
            Free::Weight { .. } | Free::Plain => Knob::Weight("weight"),
        }
    }

    fn start(&self) -> f64 {
        match self.free {
            Free::Beta { most, written: None, .. } if most.is_finite() => most,
            _ => self.loss.best_beta().unwrap_or(2.0),
        }
    }

    fn example(&self) -> f64 {
        if matches!(self.free, Free::Beta { .. }) { self.start() } else { 1.0 }
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let (beta, weight) = self.at(x);
        if matches!(self.free, Free::Beta { most, written, .. } if x > most && written != Some(x)) {
            return Some(Claim::BoundedRange { eta: f64::INFINITY });
        }
        self.loss.seen(view, self.times, |moved| self.loss.draw_claim(beta, weight, moved))
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        self.loss.premises(self.at(x).0)
    }

    fn plan_of(&self, question: &Question, x: f64) -> Option<MechanismPlan> {
        Ideal { loss: Rc::new(self.loss.of(question.model().ok()?)), ..self.clone() }.plan(x)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let (beta, weight) = self.at(x);
        self.loss.plan(beta, weight, self.times, self.chain.clone())
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        let (beta, weight) = self.at(x);
        // A row of fit f weighs f^(b-1) of what it does in the ordinary posterior: about half at the middle of a probability.
        let by_fit = if self.loss.plain() { 1.0 } else { 0.5_f64.powf(beta - 1.0) };
        self.loss.predicted_error(weight * by_fit)
    }

    fn remark(&self, x: f64) -> String {
        if self.loss.plain() {
            return format!("data weight {}%", sig_down(100.0 * x, 3));
        }
        "data weight depends on fit".into()
    }

    fn given(&self) -> Vec<Parameter> {
        match self.free {
            Free::Beta { weight, .. } if self.weighted => vec![Parameter::down("weight", weight)],
            Free::Beta { .. } | Free::Plain => vec![],
            // Chosen from the density alone, and written out where the choice is locked.
            Free::Weight { beta } => vec![Parameter::up("beta", beta).solved(true)],
        }
    }

    fn chain(&self) -> Option<Chain> {
        Some(Chain::Converged(self.chain.name()))
    }

    fn last_resort(&self) -> bool {
        matches!(self.free, Free::Weight { .. })
    }

    fn written(&self, given: &str) -> String {
        let sampler = if matches!(self.chain, ChainLaw::Slice { .. }) { "sampler = slice" } else { "" };
        // A weight that the program writes stays, while beta is solved.
        let own = match self.free {
            Free::Beta { weight, .. } if self.weighted && given.is_empty() => format!("weight = {}", number(weight)),
            _ => given.to_owned(),
        };
        let list: Vec<&str> = [own.as_str(), sampler].into_iter().filter(|t| !t.is_empty()).collect();
        let arguments = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
        format!("{}{arguments} assuming convergence", self.mechanism().name)
    }

    fn reckoning(&self) -> Option<(String, String)> {
        let Free::Beta { weight, .. } = self.free else { return None };
        Some((self.loss.formula(weight), self.loss.reason()))
    }

    fn tempered(&self, x: f64) -> Option<Box<dyn Offer>> {
        let Free::Beta { .. } = self.free else { return None };
        Some(Box::new(Ideal { free: Free::Weight { beta: x }, weighted: true, ..self.clone() }))
    }
}
