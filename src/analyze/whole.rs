//! Whole posteriors: every mechanism that releases one, as ways with a privacy loss to solve.

use super::arguments::Arguments;
use super::choose::solve;
use super::parallel::View;
use super::posterior::assumed_rows;
use super::report::{Parameter, PredictedError};
use super::scene::Scene;
use super::ways::{Knob, Offer, Way};
use crate::mechanism::plan::MechanismPlan;
use crate::model::{MechanismKind, Model, Relation};
use crate::privacy::Claim;
use crate::rules::{Asked, Context, MatchedWhole, Premise, WholeVerdict, whole_rules};

/// What is predicted of a released posterior.
pub const MEASURE: &str = "expected Hellinger distance to the posterior";

struct Whole {
    matched: Box<dyn MatchedWhole>,
    /// How neighbours differ in the model as it was judged.
    view: View,
    rows: f64,
}

/// Judges every rule for whole posteriors; the arguments of the program go to the mechanism it names.
pub fn offer(model: &Model, scene: &Scene, args: &Arguments) -> Offer {
    let mut offer = Offer::default();
    let public = super::public::totals(model, scene.public);
    for rule in whole_rules() {
        let name = rule.meta().name;
        let named = matches!(&scene.site.release.mechanism.kind, MechanismKind::Named { name: n, .. } if n == name);
        let number = |argument: &str| if named { args.get(argument) } else { None };
        let context = Context { program: scene.program, public: &public };
        match rule.judge(&Asked { model, context, place: scene.place(), number: &number }) {
            WholeVerdict::NotMine(reason) => offer.unmatched.push((name, reason)),
            WholeVerdict::Refused(diagnostic) => offer.refused.push((name, *diagnostic)),
            WholeVerdict::Matched(list) => offer.ways.extend(list.into_iter().map(|matched| {
                let rows = assumed_rows(model.records.rows);
                let view = match model.records.relation {
                    Relation::ReplaceOne => View::Replace,
                    Relation::AddRemove => View::AddRemove,
                };
                Box::new(Whole { matched, view, rows }) as Box<dyn Way>
            })),
        }
    }
    offer
}

/// Of a mechanism with several free numbers the way whose number is written; else the one that meets the budget with the
/// least predicted error; else the first.
pub fn pick(scene: &Scene, ways: &[Box<dyn Way>], mechanism: &str, args: &Arguments) -> Option<usize> {
    let own: Vec<usize> = (0..ways.len()).filter(|i| ways.get(*i).is_some_and(|w| w.mechanism() == mechanism)).collect();
    let way = |i: &usize| ways.get(*i);
    let written = own.iter().copied().find(|i| way(i).and_then(|w| w.knob().name()).is_some_and(|k| args.get(k).is_some()));
    let solved = |i: &usize| {
        let (way, limit) = (way(i)?, scene.allotment?);
        Some((way.predicted_error(solve(scene.site, way.as_ref(), limit)?).value, *i))
    };
    let best = || own.iter().filter_map(solved).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i);
    written.or_else(best).or_else(|| own.first().copied())
}

impl Way for Whole {
    fn mechanism(&self) -> &'static str {
        self.matched.meta().name
    }

    fn rule(&self) -> &'static str {
        self.matched.meta().name
    }

    fn knob(&self) -> Knob {
        Knob::Loss(self.matched.knob())
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        (view == self.view).then(|| self.matched.claim(x))
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        self.matched.premises(x)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        self.matched.plan(x)
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        PredictedError { measure: MEASURE, value: self.matched.predicted(x, self.rows).hellinger }
    }

    fn remark(&self, x: f64) -> String {
        let error = self.matched.predicted(x, self.rows).hellinger;
        let noise = if self.matched.ignores_noise() { ", intervals too narrow" } else { "" };
        format!("expected Hellinger distance {}{noise}", crate::numeric::decimal::sig_up(error, 3))
    }

    fn further(&self, x: f64) -> Vec<(&'static str, f64)> {
        let found = self.matched.predicted(x, self.rows);
        vec![("kl", found.kl), ("interval_width", found.width)]
    }

    fn derived(&self, x: f64) -> Vec<Parameter> {
        self.matched.parameters(x).into_iter().map(|(name, value)| Parameter { name, value, solved: false }).collect()
    }

    fn last_resort(&self) -> bool {
        self.matched.ignores_noise()
    }
}
