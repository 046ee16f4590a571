//! Draws from a posterior: direct, diffuse and concentrated, for every rule that matches the model.

use std::borrow::Cow;
use std::rc::Rc;

use super::arguments::Arguments;
use super::parallel::View;
use super::report::{Parameter, PredictedError, Status};
use super::site::Site;
use super::ways::{Knob, Offer, Way};
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw, Sampler};
use crate::model::{AggregateQuery, Model, Program, Relation, Request, RowCount};
use crate::numeric::decimal::sig_down;
use crate::privacy::Claim;
use crate::rules::{Context, Matched, Premise, PublicTotals, Tempering, Verdict, posterior_rules};

/// How the posterior is weakened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Direct,
    Diffuse,
    Concentrated,
    /// A diffuse draw under the name that the literature on regression gives it.
    Gibbs,
}

/// A draw by one rule in one form.
pub struct Draw {
    matched: Rc<dyn Matched>,
    /// What `using` calls it.
    name: &'static str,
    form: Form,
    /// How neighbours differ in the model as it was judged.
    relation: Relation,
    times: u64,
    /// The number of rows that predictions assume.
    rows: f64,
    /// It answers a query: the error is then that of an answer.
    query: bool,
    given: Vec<Parameter>,
    /// The length of the chain, where the program says it.
    steps: Option<u64>,
    sampler: Sampler,
}

/// The model as it stands in its group: group sizes are not in the header, but a replaced row is in its group.
pub fn grouped<'a>(model: &'a Model, site: &Site) -> Cow<'a, Model> {
    if !site.grouped() {
        return Cow::Borrowed(model);
    }
    let mut model = model.clone();
    let at_least = u64::from(model.records.relation == Relation::ReplaceOne);
    model.records.rows = RowCount { at_least, exactly: None };
    Cow::Owned(model)
}

/// The number of rows that predictions assume: n, its lower bound, or 100 where nothing is known.
pub fn assumed_rows(rows: RowCount) -> f64 {
    match (rows.exactly, rows.at_least) {
        (Some(n), _) => n as f64,
        (None, n) if n > 1 => n as f64,
        _ => 100.0,
    }
}

/// Judges every rule. Ways come by rule in table order, and by form within a rule.
///
/// A draw by a chain is one of `sampler`; what only a chain with a guarantee of its own needs is asked of that alone.
pub fn offer(model: &Model, program: &Program, public: &PublicTotals, args: &Arguments, sampler: Sampler) -> Offer {
    let mut offer = Offer::default();
    let Request::Draw { times, .. } = model.request else {
        return offer;
    };
    let context = Context { program, public };
    for rule in posterior_rules() {
        match rule.judge(model, context) {
            Verdict::NotMine(reason) => offer.unmatched.push((rule.meta().name, reason)),
            Verdict::Refused(diagnostic) => offer.refused.push((rule.meta().name, *diagnostic)),
            Verdict::Matched(matched) => {
                let matched: Rc<dyn Matched> = Rc::from(matched);
                if let (Sampler::Langevin, Some(diagnostic)) = (sampler, matched.chain_refusal()) {
                    offer.refused.push((rule.meta().name, diagnostic));
                    continue;
                }
                let forms = [Form::Direct, Form::Diffuse, Form::Concentrated, Form::Gibbs];
                for form in forms.into_iter().filter(|f| *f != Form::Gibbs || matched.by_chain()) {
                    offer.ways.push(Box::new(Draw {
                        matched: Rc::clone(&matched),
                        name: form.name(),
                        form,
                        relation: model.records.relation,
                        times,
                        rows: assumed_rows(model.records.rows),
                        query: false,
                        given: vec![],
                        steps: args.get("steps").map(|x| x as u64),
                        sampler,
                    }));
                }
            }
        }
    }
    offer
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Direct => "direct",
            Form::Diffuse => "diffuse",
            Form::Concentrated => "concentrated",
            Form::Gibbs => "gibbs",
        }
    }
}

impl Draw {
    /// One draw that answers a query; `given` are the prior counts.
    pub fn of_query(matched: &Rc<dyn Matched>, form: Form, query: &AggregateQuery, given: Vec<Parameter>) -> Draw {
        Draw {
            name: matched.meta().name,
            matched: Rc::clone(matched),
            form,
            relation: query.records.relation,
            times: 1,
            rows: assumed_rows(query.records.rows),
            query: true,
            given,
            steps: None,
            sampler: Sampler::Langevin,
        }
    }

    fn at(&self, x: f64) -> Tempering {
        match self.form {
            Form::Direct => Tempering::DIRECT,
            Form::Diffuse | Form::Gibbs => Tempering { weight: x, concentration: 1.0 },
            Form::Concentrated => Tempering { weight: 1.0, concentration: x },
        }
    }
}

impl Way for Draw {
    fn mechanism(&self) -> &'static str {
        self.name
    }

    fn rule(&self) -> &'static str {
        self.matched.meta().name
    }

    fn knob(&self) -> Knob {
        match self.form {
            Form::Direct => Knob::None,
            Form::Diffuse => Knob::Weight("r"),
            Form::Concentrated => Knob::Weight("m"),
            Form::Gibbs => Knob::Weight("weight"),
        }
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        let tempering = self.at(x);
        let one = match (view, self.relation) {
            (View::Replace, Relation::ReplaceOne) | (View::AddRemove, Relation::AddRemove) => self.matched.claim(tempering),
            (View::AddRemove, Relation::ReplaceOne) => self.matched.claim_add_remove(tempering)?,
            (View::Exchange, Relation::ReplaceOne) if counts_units(self.rule()) => {
                Claim::Max(vec![self.matched.claim(tempering), self.matched.claim_add_remove(tempering)?])
            }
            _ => return None,
        };
        Some(if self.times == 1 { one } else { one.repeat(self.times) })
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        let tempering = self.at(x);
        let mut premises = self.matched.premises(tempering);
        // Any order will do: only the words about the prior are taken.
        if let Some(reason) = self.matched.limit_reason(2.0, tempering) {
            premises.push(Premise::holds(format!("every order lies below the limit: {}", reason.prior), Some(self.matched.prior_span())));
        }
        premises
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        let tempering = self.at(x);
        let (mut law, statistic) = self.matched.law(tempering)?;
        if let PosteriorLaw::Glm(chain) = &mut law {
            chain.steps = self.steps;
            chain.sampler = self.sampler;
        }
        Some(MechanismPlan::Posterior { law, weight: tempering.weight, statistic, times: self.times })
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        let value = self.matched.predicted_error(self.at(x), self.rows);
        if self.query {
            // The draw is nearly normal around the truth: 95 % lie within 1.96 root mean squares.
            return PredictedError { measure: "95% bound of |answer - truth|", value: 1.96 * value };
        }
        PredictedError { measure: "root mean square distance of the draw from the posterior mean", value }
    }

    fn remark(&self, x: f64) -> String {
        match self.form {
            Form::Direct => "the posterior as it is".into(),
            Form::Diffuse => format!("data weight {}%", sig_down(100.0 * x, 3)),
            Form::Gibbs => "same draw as diffuse".into(),
            Form::Concentrated => format!("prior becomes {}", self.matched.prior_text(x)),
        }
    }

    fn given(&self) -> Vec<Parameter> {
        self.given.clone()
    }

    fn tempering(&self, x: f64) -> Option<Tempering> {
        Some(self.at(x))
    }

    fn status(&self) -> Status {
        match (self.matched.by_chain(), self.sampler) {
            (false, _) => Status::Exact,
            (true, Sampler::Langevin) => Status::Certified,
            (true, Sampler::Nuts | Sampler::Slice) => Status::Conditional,
        }
    }

    fn changes_prior(&self) -> bool {
        self.form == Form::Concentrated
    }

    fn matched(&self) -> Option<&dyn Matched> {
        Some(self.matched.as_ref())
    }
}

/// Rules whose claim also covers up to k rows out and up to k others in, with another number of rows.
///
/// For Beta and Dirichlet counts the divergence is the sum over coordinates of Gamma divergences less that of the
/// total, which is at least 0 (rule book §2). If one coordinate falls and another rises, each by at most k, the sum is
/// at most that of a replacement of k rows in a group of k rows, where the total does not move; if none falls, the
/// change is an addition. So the maximum of both views bounds every exchange.
fn counts_units(rule: &str) -> bool {
    matches!(rule, "beta_bernoulli" | "dirichlet_categorical")
}
