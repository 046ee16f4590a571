//! Noise and draws that answer a query over rows, for every query rule that fits.

use super::arguments::Arguments;
use super::parallel::View;
use super::posterior::{Draw, Form, assumed_rows};
use super::report::{Parameter, PredictedError};
use super::scene::Scene;
use super::sensitivity::in_group;
use super::ways::{Knob, Offer, Way};
use crate::mechanism::plan::MechanismPlan;
use crate::model::{AggregateQuery, MechanismArg, MechanismKind, Relation};
use crate::privacy::Claim;
use crate::rules::{Context, MatchedQuery, Premise, PublicTotals, QueryRule, QueryVerdict, query_rules};

/// Noise on a query, or a noisy quantile, with its claim under every view that the groups around it need.
struct Noisy {
    matched: Box<dyn MatchedQuery>,
    /// How neighbours differ in the query as it stands.
    view: View,
    /// The same query when rows come or go, and when they are exchanged; only inside groups of a private key.
    others: Vec<(View, Box<dyn MatchedQuery>)>,
    given: Vec<Parameter>,
    rows: f64,
}

/// Judges every query rule; the arguments of the program go to the mechanism it names.
pub fn offer(query: &AggregateQuery, scene: &Scene, args: &Arguments) -> Offer {
    let mut offer = Offer::default();
    for rule in query_rules() {
        let written = written_for(rule.meta().name, scene);
        let judge = |q: &AggregateQuery| judge(*rule, q, &written, scene);
        match judge(query) {
            QueryVerdict::NotMine(reason) => offer.unmatched.push((rule.meta().name, reason)),
            QueryVerdict::Refused(diagnostic) => offer.refused.push((rule.meta().name, *diagnostic)),
            QueryVerdict::Matched(matched) => offer.ways.push(Box::new(Noisy {
                matched,
                view: query.records.relation.into(),
                others: other_views(query, scene, &judge),
                given: given(args, &["lo", "hi"]),
                rows: assumed_rows(query.records.rows),
            })),
            QueryVerdict::Posterior { draw, weight, concentration } => {
                let draw = std::rc::Rc::from(draw);
                for form in [Form::Diffuse, Form::Concentrated] {
                    // The program may fix one of the two; the other is then 1.
                    let fixed = match form {
                        Form::Diffuse => concentration.is_some(),
                        _ => weight.is_some(),
                    };
                    if !fixed {
                        let given = given(args, &["a", "b"]);
                        offer.ways.push(Box::new(Draw::of_query(&draw, form, query, given)));
                    }
                }
            }
        }
    }
    offer
}

fn judge(rule: &dyn QueryRule, query: &AggregateQuery, args: &[MechanismArg], scene: &Scene) -> QueryVerdict {
    let public = PublicTotals::unbound();
    let context = Context { program: scene.program, public: &public };
    rule.judge(query, args, context)
}

/// The arguments that the program writes for this mechanism.
fn written_for(mechanism: &str, scene: &Scene) -> Vec<MechanismArg> {
    match &scene.site.release.mechanism.kind {
        MechanismKind::Named { name, args } if name == mechanism => args.clone(),
        _ => vec![],
    }
}

fn given(args: &Arguments, names: &[&'static str]) -> Vec<Parameter> {
    let list = names.iter().filter_map(|name| {
        let value = args.get(name)?;
        Some(Parameter { name, value, solved: false })
    });
    list.collect()
}

/// The query as rows that come, go or are exchanged see it: with the sensitivities of that view.
fn other_views(
    query: &AggregateQuery,
    scene: &Scene,
    judge: &dyn Fn(&AggregateQuery) -> QueryVerdict,
) -> Vec<(View, Box<dyn MatchedQuery>)> {
    let mut found = Vec::new();
    if !scene.site.secret_groups() || query.records.relation == Relation::AddRemove {
        return found;
    }
    for view in [View::AddRemove, View::Exchange] {
        let mut seen = query.clone();
        seen.sensitivity = in_group(query, view);
        if view == View::AddRemove {
            seen.records.relation = Relation::AddRemove;
        }
        if let QueryVerdict::Matched(matched) = judge(&seen) {
            found.push((view, matched));
        }
    }
    found
}

impl Way for Noisy {
    fn mechanism(&self) -> &'static str {
        self.matched.meta().name
    }

    fn rule(&self) -> &'static str {
        self.matched.meta().name
    }

    fn knob(&self) -> Knob {
        let knob = self.matched.knob();
        match knob.larger_is_cheaper {
            true => Knob::Noise(knob.name),
            false => Knob::Loss(knob.name),
        }
    }

    fn start(&self) -> f64 {
        self.matched.knob().unit
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        if view == self.view {
            return Some(self.matched.claim(x));
        }
        let (_, matched) = self.others.iter().find(|(v, _)| *v == view)?;
        Some(matched.claim(x))
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        self.matched.premises()
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        Some(self.matched.plan(x))
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        PredictedError { measure: "95% bound of |answer - truth|", value: self.matched.predicted_error(x, self.rows) }
    }

    fn remark(&self, x: f64) -> String {
        let error = self.matched.predicted_error(x, self.rows);
        format!("95% of answers within {}", crate::numeric::decimal::sig_up(error, 3))
    }

    fn given(&self) -> Vec<Parameter> {
        self.given.clone()
    }
}
