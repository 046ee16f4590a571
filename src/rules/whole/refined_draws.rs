//! Draws of regression weights from the posterior that `refined_posterior` releases.
//!
//! ## Shape
//! `draw(w)`, or `draws(w, k)` of a vector, of a model that `refined_posterior` covers, but a single draw of logistic or binomial rows, which has a rule of
//! its own; `refined(sigma =)`. `auto` takes it for many draws of logistic rows where it predicts less error, and of others where nothing else meets the
//! budget.
//!
//! ## Claim
//! That of `refined_posterior` (§20): what leaves are its noisy sums. Draws are computed from these alone, so one costs as much as a thousand.
//! They are from a normal law that is approximate.
//!
//! ## Refuses
//! As `refined_posterior`.
//!
//! ## Checked by
//! As `refined_posterior`; means and covariances of draws beside the posterior from the same noise.

use super::refined_posterior::Refined;
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw};
use crate::model::Request;
use crate::privacy::Claim;
use crate::rules::glm::refined::MECHANISM;
use crate::rules::offer::{Approximate, Knob, Offer, Parameter, PredictedError, View};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers};

pub static RULE: Rule = Rule {
    name: "refined_draws",
    summary: "draws of regression weights from the posterior that noisy sums and scores say",
    section: "20",
    source: include_str!("refined_draws.rs"),
    answers: Answers::Draws,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    let Request::Draw { times, .. } = question.model()?.request else { return not_mine("releases a draw") };
    let found = Refined::of(&RULE, question)?;
    if times == 1 && found.is_logistic() {
        return not_mine("one draw of logistic rows is that of the rule refined");
    }
    Ok(vec![Box::new(Drawn(found, times))])
}

/// The posterior, and how often it is drawn from.
struct Drawn(Refined, u64);

impl Offer for Drawn {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn knob(&self) -> Knob {
        self.0.knob()
    }

    fn start(&self) -> f64 {
        self.0.start()
    }

    fn example(&self) -> f64 {
        self.0.example()
    }

    fn claim(&self, view: View, sigma: f64) -> Option<Claim> {
        self.0.claim(view, sigma)
    }

    fn premises(&self, sigma: f64) -> Vec<Premise> {
        let mut list = self.0.premises(sigma);
        list.push(Premise::holds("draws are from this posterior and cost nothing more, as many as there are", None));
        list
    }

    fn plan(&self, sigma: f64) -> Option<MechanismPlan> {
        let MechanismPlan::Whole { law, statistic } = self.0.plan(sigma)? else { return None };
        Some(MechanismPlan::Posterior { law: PosteriorLaw::Stepwise(Box::new(law)), weight: 1.0, statistic, times: self.1 })
    }

    fn predicted_error(&self, sigma: f64) -> PredictedError {
        let square = |share: f64, which: fn([f64; 2]) -> f64| which(self.0.predicted(sigma, share).squares).sqrt();
        PredictedError::of_weights(|share| square(share, |[own, _]| own)).beside_prior(square(1.0, |[_, prior]| prior))
    }

    fn remark(&self, sigma: f64) -> String {
        self.0.remark(sigma)
    }

    fn approximate(&self) -> Option<Approximate> {
        self.0.approximate()
    }

    fn derived(&self, sigma: f64) -> Vec<Parameter> {
        self.0.derived(sigma)
    }

    fn last_resort(&self) -> bool {
        // Of logistic rows both predictions were held to real tables (benches/many_draws.py).
        !self.0.is_logistic()
    }
}
