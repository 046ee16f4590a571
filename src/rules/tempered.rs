//! Draws from a tempered posterior: direct, diffuse, concentrated and gibbs, for every rule that matches the model.

use super::arguments::{Arg, Mechanism};
use super::offer::{Chain, Doubt, Knob, Offer, Parameter, PredictedError, View, assumed_rows, repeated};
use super::{Context, Match, Premise, Question, Rule, Verdict, not_mine, refuse};
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw, Sampler, Statistic};
use crate::model::{Model, Records, Relation, Request};
use crate::numeric::decimal::sig_down;
use crate::privacy::{Claim, Family, Shift};
use crate::source::{Diagnostic, Span};
use std::rc::Rc;

/// How a posterior is weakened: `weight` r in (0, 1] multiplies every private row's statistic; `concentration` m in
/// (0, 1] divides the whole prior (public rows included).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tempering {
    pub weight: f64,
    pub concentration: f64,
}

impl Tempering {
    pub const DIRECT: Tempering = Tempering { weight: 1.0, concentration: 1.0 };
}

/// Why a claim is infinite from some order on, in the words of E0301.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitReason {
    /// For a label on the prior: `the smallest prior count is 6, and 1 + min(6, 18) = 7`.
    pub prior: String,
    /// For the cause of a refusal.
    pub cause: String,
}

/// A model that a rule has matched: pure, sees no data.
pub trait Matched {
    fn rule(&self) -> &'static Rule;
    /// Upper bound on the privacy loss of **one** draw, for every data set and every n that the header allows.
    /// A smaller weight or concentration never costs more, so that bisection finds the largest (values found are checked again).
    fn claim(&self, tempering: Tempering) -> Claim;
    fn premises(&self, tempering: Tempering) -> Vec<Premise>;
    /// The law drawn from and its statistic.
    ///
    /// Its parameters are at least as private as those of `claim`. Counts, shapes and rates: rounding to nearest is
    /// monotone, so the nearest double of a sum and quotient lies between the same rounded down and rounded up, and the
    /// claim takes the end that costs more. Precisions, which pass through an inverse: rounded up here, after a proved
    /// bound where the inverse is of a full matrix. The weight r is the same double in both, exact from there on.
    ///
    /// `None` while a public or released argument of the prior, or a public
    /// table, is known by its range alone: judge the model again once it is bound.
    fn law(&self, tempering: Tempering) -> Option<(PosteriorLaw, Statistic)>;
    /// Does the claim depend on the number of public rows alone, and not on their sums?
    fn counts_public_rows(&self) -> bool {
        false
    }
    /// Does the claim depend on a public design, where one is given?
    fn reads_design(&self) -> bool {
        false
    }
    /// Is the draw exact, or the last state of a Langevin chain whose own guarantee is proved?
    fn by_chain(&self) -> bool {
        false
    }
    /// Is the error predicted as if features filled their bounds, of which alone it is known? So for regressions, where real rows
    /// tell less than that.
    fn takes_features_as_bounded(&self) -> bool {
        self.by_chain()
    }
    /// Why no chain with a guarantee of its own draws from this model, where the ideal draw has a claim all the same.
    fn chain_refusal(&self) -> Option<Diagnostic> {
        None
    }
    /// Root mean square distance of the draw from the posterior mean of the untempered model, averaged over the prior
    /// predictive at n rows (root of the sum of squares for vectors). Bounds nothing.
    fn predicted_error(&self, tempering: Tempering, rows: f64) -> f64;
    /// The prior under concentration m, as the user would write it: `beta(11.42, 34.26)` with 4 digits.
    fn prior_text(&self, concentration: f64) -> String;
    /// Where the prior is written.
    fn prior_span(&self) -> Span;
    /// Why the claim is infinite at this order; `None` for rules whose claims are finite at every order.
    fn limit_reason(&self, order: f64, tempering: Tempering) -> Option<LimitReason>;
    /// The same model seen under add-or-remove of one unit, any number of rows; for private groups. `None` where no
    /// bound is proved.
    fn claim_add_remove(&self, tempering: Tempering) -> Option<Claim>;
    /// The same where up to k rows leave and up to k others come, with another number of rows.
    fn claim_exchange(&self, _: Tempering) -> Option<Claim> {
        None
    }
    /// The same of two groups together, where one row leaves the one and enters the other; `None` where no more is proved than two
    /// additions.
    fn claim_crossing(&self, _: Tempering) -> Option<Claim> {
        None
    }
}

/// A claim for up to k rows out and up to k others in, with another number of rows, where rows are counted in categories.
///
/// For Beta and Dirichlet counts the divergence is the sum over coordinates of Gamma divergences less that of the
/// total, which is at least 0 (rule book §2). If one coordinate falls and another rises, each by at most k, the sum is
/// at most that of a replacement of k rows in a group of k rows, where the total does not move; if none falls, the
/// change is an addition. So the maximum of both views bounds every exchange.
pub(super) fn replaced_or_added(matched: &dyn Matched, t: Tempering) -> Option<Claim> {
    Some(Claim::Max(vec![matched.claim(t).converted(), matched.claim_add_remove(t)?]))
}

/// One row leaves a group and enters another, where a row adds `step` to one count alone (rule book §1.7): in the group that it
/// enters P lacks it, in the other Q does, and either count is at least this: the pair of a replaced row whose counts these are (§17).
pub(super) fn out_and_in(family: Family, count: f64, step: f64) -> Claim {
    Claim::Exact(Shift::Beta { family, counts: (count, count), step, others: 0.0 })
}

pub static DIRECT: Mechanism = Mechanism::new("direct", &[Arg::SAMPLER, Arg::STEPS]).called("a direct draw");
pub static DIFFUSE: Mechanism =
    Mechanism::new("diffuse", &[Arg::share("r"), Arg::SAMPLER, Arg::STEPS]).called("a tempered draw").advice("weaken the data:");
pub static CONCENTRATED: Mechanism =
    Mechanism::new("concentrated", &[Arg::share("m"), Arg::SAMPLER, Arg::STEPS]).advice("strengthen the prior:");
/// A diffuse draw under the name that the literature on regression gives it.
pub static GIBBS: Mechanism = Mechanism::new("gibbs", &[Arg::WEIGHT, Arg::SAMPLER, Arg::STEPS]);

/// The mechanisms of exact draws.
pub const EXACT: &[&Mechanism] = &[&DIRECT, &DIFFUSE, &CONCENTRATED];
/// The mechanisms of draws by a chain.
pub const BY_CHAIN: &[&Mechanism] = &[&DIRECT, &DIFFUSE, &CONCENTRATED, &GIBBS];

/// How the posterior is weakened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Direct,
    /// Rows count less.
    Diffuse,
    /// The prior counts more.
    Concentrated,
}

impl Form {
    /// The form that a mechanism of draws stands for.
    fn of(mechanism: &Mechanism) -> Form {
        match () {
            () if *mechanism == DIRECT => Form::Direct,
            () if *mechanism == CONCENTRATED => Form::Concentrated,
            () => Form::Diffuse,
        }
    }

    fn at(self, x: f64) -> Tempering {
        match self {
            Form::Direct => Tempering::DIRECT,
            Form::Diffuse => Tempering { weight: x, concentration: 1.0 },
            Form::Concentrated => Tempering { weight: 1.0, concentration: x },
        }
    }
}

/// A draw by one rule in one form.
struct Draw {
    matched: Rc<dyn Matched>,
    mechanism: &'static Mechanism,
    form: Form,
    /// How neighbours differ in the model as it was judged.
    records: Records,
    times: u64,
    /// Independent posteriors that one draw is made from, each of which a unit moves as far as it can.
    components: u64,
    /// It answers a query: the error is then that of an answer.
    query: bool,
    given: Vec<Parameter>,
    /// The length of the chain, where the program says it.
    steps: Option<u64>,
    sampler: Sampler,
}

/// The verdict of a rule for draws: every mechanism of the rule, for the model that `find` matches.
pub(super) fn judge<M: Matched + 'static>(question: &Question, find: fn(&Model, &Context) -> Match<M>) -> Verdict {
    super::offers(question.model().and_then(|model| draws(question, model, Rc::new(find(model, &question.context)?))))
}

fn draws(question: &Question, model: &Model, matched: Rc<dyn Matched>) -> Match<Vec<Box<dyn Offer>>> {
    let Request::Draw { times, .. } = model.request else { return not_mine("releases draws, not a whole posterior") };
    let draw = |mechanism: &'static Mechanism| {
        let args = question.arguments(mechanism);
        // The chain of a draw that has one: the sampler named, or what `assuming convergence` means alone.
        let alone = if question.assuming_convergence { Sampler::Nuts } else { Sampler::Langevin };
        Draw {
            matched: Rc::clone(&matched),
            mechanism,
            form: Form::of(mechanism),
            records: model.records,
            times,
            components: 1,
            query: false,
            given: vec![],
            steps: args.count(Arg::STEPS.name),
            sampler: args.sampler().unwrap_or(alone),
        }
    };
    let all: Vec<Draw> = matched.rule().mechanisms.iter().map(|m| draw(m)).collect();
    let refusal = matched.chain_refusal().filter(|_| all.iter().all(|d| d.sampler == Sampler::Langevin));
    match refusal {
        Some(diagnostic) => refuse(diagnostic),
        None => Ok(all.into_iter().map(|d| Box::new(d) as Box<dyn Offer>).collect()),
    }
}

/// Draws that answer a query of so many components; `given` are the prior counts.
pub(super) fn of_query(
    matched: Rc<dyn Matched>,
    records: Records,
    components: u64,
    forms: &[Form],
    given: &[Parameter],
) -> Vec<Box<dyn Offer>> {
    let mechanism = matched.rule().own();
    let draw = |form: &Form| -> Box<dyn Offer> {
        Box::new(Draw {
            matched: Rc::clone(&matched),
            mechanism,
            form: *form,
            records,
            times: 1,
            components,
            query: true,
            given: given.to_vec(),
            steps: None,
            sampler: Sampler::Langevin,
        })
    };
    forms.iter().map(draw).collect()
}

impl Offer for Draw {
    fn rule(&self) -> &'static Rule {
        self.matched.rule()
    }

    fn mechanism(&self) -> &'static Mechanism {
        self.mechanism
    }

    fn knob(&self) -> Knob {
        match self.form {
            Form::Direct => Knob::None,
            Form::Diffuse if *self.mechanism == GIBBS => Knob::Weight("weight"),
            Form::Diffuse => Knob::Weight("r"),
            Form::Concentrated => Knob::Weight("m"),
        }
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let tempering = self.form.at(x);
        let one = match (view, self.records.relation) {
            (View::Replace, Relation::ReplaceOne) | (View::AddRemove, Relation::AddRemove) => self.matched.claim(tempering),
            (View::AddRemove, Relation::ReplaceOne) => self.matched.claim_add_remove(tempering)?,
            (View::Exchange, Relation::ReplaceOne) if !self.query => self.matched.claim_exchange(tempering)?,
            _ => return None,
        };
        Some(repeated(one, self.times.saturating_mul(self.components)))
    }

    fn crossing(&self, x: f64) -> Option<Claim> {
        let one = if self.query { None } else { self.matched.claim_crossing(self.form.at(x)) };
        one.map(|one| repeated(one, self.times)).or_else(|| {
            let added = self.claim(View::AddRemove, x)?;
            Some(Claim::Product(vec![added.clone(), added]))
        })
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        let tempering = self.form.at(x);
        let mut premises = self.matched.premises(tempering);
        // Any order will do: only the words about the prior are taken.
        if let Some(reason) = self.matched.limit_reason(2.0, tempering) {
            premises.push(Premise::holds(format!("every order lies below the limit: {}", reason.prior), Some(self.matched.prior_span())));
        }
        premises
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let tempering = self.form.at(x);
        let (mut law, statistic) = self.matched.law(tempering)?;
        if let PosteriorLaw::Glm(chain) = &mut law {
            chain.steps = self.steps;
            chain.sampler = self.sampler;
        }
        Some(MechanismPlan::Posterior { law, weight: tempering.weight, statistic, times: self.times })
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        let rows = assumed_rows(self.records.rows);
        let of = |share: f64| self.matched.predicted_error(self.form.at(x), share * rows);
        // The draw is nearly normal around the truth: 95 % lie within 1.96 root mean squares.
        if self.query {
            return PredictedError::of_answer(1.96 * of(1.0), None);
        }
        let nothing = Tempering { weight: f64::MIN_POSITIVE, ..self.form.at(x) };
        let weights = self.matched.takes_features_as_bounded();
        let mut predicted = if weights { PredictedError::of_weights(of) } else { PredictedError::of_draw(of(1.0)) };
        if self.form == Form::Concentrated {
            let least = self.matched.predicted_error(Tempering::DIRECT, rows);
            predicted.doubt = (predicted.value > 2.0 * least).then_some(Doubt::Prior { least });
        }
        predicted.beside_prior(self.matched.predicted_error(nothing, rows))
    }

    fn remark(&self, x: f64) -> String {
        match self.form {
            Form::Direct => "the posterior as it is".into(),
            Form::Diffuse if *self.mechanism == GIBBS => "same draw as diffuse".into(),
            Form::Diffuse => format!("data weight {}%", sig_down(100.0 * x, 3)),
            Form::Concentrated => format!("prior becomes {}", self.matched.prior_text(x)),
        }
    }

    fn given(&self) -> Vec<Parameter> {
        self.given.clone()
    }

    fn changes_prior(&self) -> bool {
        self.form == Form::Concentrated
    }

    fn chain(&self) -> Option<Chain> {
        match (self.matched.by_chain(), self.sampler) {
            (false, _) => None,
            (true, Sampler::Langevin) => Some(Chain::Langevin),
            (true, sampler) => Some(Chain::Converged(sampler.name())),
        }
    }

    fn matched(&self) -> Option<Rc<dyn Matched>> {
        Some(Rc::clone(&self.matched))
    }

    fn tempering(&self, x: f64) -> Option<Tempering> {
        Some(self.form.at(x))
    }
}
