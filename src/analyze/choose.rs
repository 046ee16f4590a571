//! Choosing for one release: every way is solved and judged; a named mechanism takes its own, `auto` the least predicted error.

use super::arguments::{self, Answers, Arguments};
use super::bounded::beta_text;
use super::budget::{against, over, reaches};
use super::calibrate::{largest, largest_positive, smallest};
use super::chains;
use super::messages;
use super::report::{Candidate, Chosen, Parameter, ReleaseAnalysis, Status};
use super::scene::Scene;
use super::site::Site;
use super::ways::{Knob, Offer, Way};
use super::whole;
use crate::model::print::{number, query_text};
use crate::model::{BudgetKind, MechanismKind, Query, Request};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::source::Diagnostics;

/// The noise of an answer that costs nothing: far below anything one would read off it.
const FREE: f64 = 1e-9;

/// A way at a value of its knob: what will run.
pub struct Decision {
    pub way: Box<dyn Way>,
    pub value: f64,
    /// The value was solved from the allotment, not written.
    pub solved: bool,
}

/// What was found for one release.
pub struct Outcome {
    pub analysis: ReleaseAnalysis,
    pub decision: Option<Decision>,
    pub diagnostics: Diagnostics,
}

/// Judges the release in `scene`. `all` solves every mechanism even where one is named.
pub fn choose(scene: &Scene, all: bool) -> Outcome {
    let release = scene.site.release;
    let mechanism_span = release.mechanism.span.unwrap_or(release.query_span);
    let analysis = ReleaseAnalysis {
        id: release.id,
        name: release.name.clone(),
        query: query_text(&release.query, scene.program),
        hole: release.mechanism.kind == MechanismKind::Hole,
        allotment: scene.allotment.cloned(),
        chosen: None,
        public: scene.model.as_ref().map_or_else(Vec::new, |m| super::public::totals(m, scene.public).observations),
        candidates: vec![],
        span: release.span,
        mechanism_span,
    };
    let mut outcome = Outcome { analysis, decision: None, diagnostics: vec![] };
    match &release.mechanism.kind {
        MechanismKind::Named { name, args } if name != "auto" => match named(scene, name, args, all, &mut outcome) {
            Ok(decision) => settle(scene, decision, &mut outcome),
            Err(diagnostic) => outcome.diagnostics.push(*diagnostic),
        },
        _ => automatic(scene, &mut outcome),
    }
    outcome
}

type Refusal = Box<crate::source::Diagnostic>;

fn named(scene: &Scene, name: &str, args: &[crate::model::MechanismArg], all: bool, outcome: &mut Outcome) -> Result<Decision, Refusal> {
    let span = outcome.analysis.mechanism_span;
    if name == "ehdl" {
        return Err(Box::new(messages::never_released(span)));
    }
    let (mechanism, answers) = arguments::find(name).ok_or_else(|| Box::new(messages::unknown_mechanism(name, span)))?;
    let offer = scene.offer(&Arguments::default());
    if answers == Answers::Later {
        outcome.analysis.candidates = unmatched(&offer);
        return Err(Box::new(messages::not_in_this_version(scene, &offer, Some(mechanism))));
    }
    let asked = asked(scene);
    if answers != asked {
        return Err(Box::new(messages::wrong_question(scene, mechanism, asked)));
    }
    let args = arguments::parse(mechanism, args, span)?;
    let offer = scene.offer(&args);
    if all {
        outcome.analysis.candidates = candidates(scene, &offer, &solve_all(scene, &offer));
    }
    // A loss that is bounded is never chosen unasked.
    let bounded = matches!(mechanism, "beta_div" | "ops") || chains::CHAINS_THAT_PAY.contains(&mechanism);
    if bounded {
        chains::words(scene, mechanism, &args)?;
    }
    let refused = |offer: Offer| Box::new(messages::no_way(scene, offer, Some(mechanism)));
    let ways = if bounded { &offer.asked.ways } else { &offer.ways };
    if !ways.iter().any(|w| w.mechanism() == mechanism) {
        return Err(refused(offer));
    }
    // `beta_query` has two forms: the knob that is written, else the first.
    let own = |w: &dyn Way| {
        w.mechanism() == mechanism && (args.get("m").is_none() || w.knob().name() == Some("m") || mechanism == "concentrated")
    };
    let index = match asked {
        Answers::Posteriors => whole::pick(scene, ways, mechanism, &args),
        _ => ways.iter().position(|w| own(w.as_ref())),
    };
    let ways = if bounded { offer.asked.ways } else { offer.ways };
    let Some(way) = index.and_then(|i| ways.into_iter().nth(i)) else {
        return Err(refused(Offer::default()));
    };
    if !bounded {
        check_sampler(scene, mechanism, way.as_ref(), &args)?;
    }
    let written = way.knob().name().and_then(|knob| args.get(knob));
    let solved = written.is_none();
    let value = match (way.knob(), written) {
        (Knob::None, _) => 1.0,
        (_, Some(x)) => x,
        (_, None) => match scene.allotment {
            Some(limit) => match solve(scene.site, way.as_ref(), limit) {
                Some(x) => x,
                None => return Err(Box::new(messages::cannot_meet(scene, way.as_ref(), limit))),
            },
            None => return Err(Box::new(messages::nothing_to_solve_from(scene, way.as_ref()))),
        },
    };
    let claim = cost(scene.site, way.as_ref(), value);
    match (claim, scene.allotment) {
        (None, _) => Err(Box::new(messages::groups_not_covered(scene, way.as_ref()))),
        (Some(claim), Some(limit)) if !claim.implies(limit) => {
            let at = way.knob().name().and_then(|knob| args.span(knob));
            Err(Box::new(messages::too_dear(scene, way.as_ref(), value, &claim, limit, at)))
        }
        _ => Ok(Decision { way, value, solved }),
    }
}

/// Exact draws have no sampler and no length; a chain without a guarantee of its own needs the words that say so.
fn check_sampler(scene: &Scene, mechanism: &str, way: &dyn Way, args: &Arguments) -> Result<(), Refusal> {
    let named = args.get("sampler").and_then(|i| arguments::SAMPLERS.get(i as usize)).copied();
    let assuming = scene.site.release.mechanism.assuming_convergence;
    match named {
        _ if way.status() == Status::Exact => match args.span("sampler").or(args.span("steps")) {
            Some(at) => Err(Box::new(messages::exact_without_sampler(mechanism, at))),
            None => Ok(()),
        },
        Some(sampler @ ("nuts" | "slice")) if !assuming => Err(Box::new(chains::no_own_guarantee(scene, mechanism, sampler))),
        _ => Ok(()),
    }
}

fn automatic(scene: &Scene, outcome: &mut Outcome) {
    let offer = scene.offer(&Arguments::default());
    let hole = outcome.analysis.hole;
    let solved = solve_all(scene, &offer);
    outcome.analysis.candidates = candidates(scene, &offer, &solved);
    if offer.ways.is_empty() {
        // What must be named answers a hole all the same.
        if !hole || offer.asked.ways.is_empty() {
            outcome.diagnostics.push(messages::no_way(scene, offer, None));
        }
        return;
    }
    let Some(limit) = scene.allotment else {
        if !hole {
            outcome.diagnostics.push(messages::auto_without_budget(scene, &offer));
        }
        return;
    };
    let Some((index, value)) = best(&offer, &solved) else {
        // A hole that nothing fills yet is no error of the program: its candidates say why.
        if !hole && let Some(way) = offer.ways.first() {
            outcome.diagnostics.push(messages::cannot_meet(scene, way.as_ref(), limit));
        }
        return;
    };
    if let Some(way) = offer.ways.into_iter().nth(index) {
        let solved = true;
        settle(scene, Decision { way, value, solved }, outcome);
    }
}

/// The way of least predicted error, last resorts after all others; ties go to exact before certified, then to table order. Never chosen are a
/// conditional way, and a way that replaces the prior the user wrote: that is the user's to ask for.
fn best(offer: &Offer, solved: &[Option<f64>]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64, (bool, f64), Status)> = None;
    for (index, (way, value)) in offer.ways.iter().zip(solved).enumerate() {
        let (Some(value), status) = (*value, way.status()) else { continue };
        if status == Status::Conditional || way.changes_prior() {
            continue;
        }
        let error = (way.last_resort(), way.predicted_error(value).value);
        if best.is_none_or(|(_, _, e, s)| error < e || (error == e && status < s)) {
            best = Some((index, value, error, status));
        }
    }
    best.map(|(index, value, ..)| (index, value))
}

/// Every way solved for the allotment; all `None` without one.
fn solve_all(scene: &Scene, offer: &Offer) -> Vec<Option<f64>> {
    let ways = offer.ways.iter();
    ways.map(|w| scene.allotment.and_then(|limit| solve(scene.site, w.as_ref(), limit))).collect()
}

fn settle(scene: &Scene, decision: Decision, outcome: &mut Outcome) {
    let (way, value) = (decision.way.as_ref(), decision.value);
    let Some(claim) = cost(scene.site, way, value) else { return };
    if let Knob::Weight(name) = way.knob()
        && decision.solved
        && value < 0.001
    {
        outcome.diagnostics.push(messages::useless(scene, name, value));
    }
    if way.status() == Status::Conditional {
        outcome.diagnostics.push(chains::conditional(scene));
    }
    outcome.analysis.chosen = Some(Chosen {
        mechanism: way.mechanism(),
        rule: way.rule(),
        parameters: parameters(way, value, decision.solved),
        tempering: way.tempering(value),
        plan: way.plan(value),
        claim,
        premises: way.premises(value),
        predicted_error: way.predicted_error(value),
        status: way.status(),
    });
    outcome.decision = Some(decision);
}

/// What the release asks for.
fn asked(scene: &Scene) -> Answers {
    match &scene.site.release.query {
        Query::Posterior(m) if matches!(m.request, Request::Posterior { .. }) => Answers::Posteriors,
        Query::Posterior(_) => Answers::Draws,
        Query::Aggregate(_) => Answers::Queries,
    }
}

/// The cost of a way for the whole release; `None` where a group around it is not covered.
pub fn cost(site: &Site, way: &dyn Way, value: f64) -> Option<Claim> {
    site.cost(&|view| way.claim(view, value))
}

/// The value of the knob that uses the limit up, on the private side.
pub fn solve(site: &Site, way: &dyn Way, limit: &BudgetKind) -> Option<f64> {
    let price = |x: f64| cost(site, way, x).map_or(f64::INFINITY, |claim| over(&claim, limit));
    let fits = |x: f64| price(x) <= 1.0;
    match way.knob() {
        Knob::None => fits(1.0).then_some(1.0),
        Knob::Weight(_) => largest(1.0, &price),
        // A query that no row can move is free at any noise.
        Knob::Noise(_) if way.start() == 0.0 => fits(1.0).then_some(FREE),
        Knob::Noise(_) => smallest(way.start(), &price),
        Knob::Loss(_) if way.start() == 0.0 => fits(1.0).then_some(1.0),
        Knob::Loss(_) => largest_positive(way.start(), &price),
        Knob::Beta(_) => smallest(way.start(), &price),
        Knob::Count(_) => largest_positive(way.start(), &price).map(f64::floor).filter(|x| *x >= 1.0),
    }
}

fn parameters(way: &dyn Way, value: f64, solved: bool) -> Vec<Parameter> {
    let mut list = way.given();
    if let Some(name) = way.knob().name() {
        list.push(Parameter { name, value, solved });
    }
    list.extend(way.derived(value));
    list
}

/// Every way of the offer with its solved value, then the rules that do not match.
fn candidates(scene: &Scene, offer: &Offer, solved: &[Option<f64>]) -> Vec<Candidate> {
    let ways = offer.ways.iter().zip(solved);
    let mut list: Vec<Candidate> = ways.map(|(w, x)| candidate(scene, w.as_ref(), *x)).collect();
    let asked = offer.asked.ways.iter();
    list.extend(asked.map(|w| candidate(scene, w.as_ref(), scene.allotment.and_then(|limit| solve(scene.site, w.as_ref(), limit)))));
    list.extend(unmatched(offer));
    list
}

fn unmatched(offer: &Offer) -> Vec<Candidate> {
    let refused = offer.refused.iter().map(|(name, d)| (*name, d.message.clone()));
    let asked = offer.asked.refused.iter().map(|(name, r)| (*name, r.diagnostic.message.clone()));
    refused
        .chain(asked)
        .chain(offer.unmatched.iter().cloned())
        .chain(offer.asked.unmatched.iter().cloned())
        .map(|(name, reason)| Candidate {
            mechanism: name,
            rule: Some(name),
            applies: false,
            reason,
            parameters: vec![],
            predicted_error: None,
            further: vec![],
            status: Status::Exact,
        })
        .collect()
}

fn candidate(scene: &Scene, way: &dyn Way, solved: Option<f64>) -> Candidate {
    let blank = Candidate {
        mechanism: way.mechanism(),
        rule: Some(way.rule()),
        applies: false,
        reason: String::new(),
        parameters: vec![],
        predicted_error: None,
        further: vec![],
        status: way.status(),
    };
    let Some(limit) = scene.allotment else {
        let reason = match way.knob().name() {
            None => "no budget to meet".to_owned(),
            Some(name) => format!("no budget: {name} is free"),
        };
        return Candidate { applies: true, reason, ..blank };
    };
    let Some(value) = solved else {
        return Candidate { reason: refusal(scene, way, limit), ..blank };
    };
    let reason = match way.knob() {
        Knob::None => {
            let spent = cost(scene.site, way, value).map(|c| against(&c, limit));
            spent.map_or(String::new(), |(cost, limit)| format!("{cost} <= {limit}"))
        }
        Knob::Weight(name) | Knob::Loss(name) => {
            format!("{name} = {}: {}", sig_down(value, 4), way.remark(value))
        }
        Knob::Noise(name) => format!("{name} = {}: {}", sig_up(value, 4), way.remark(value)),
        Knob::Beta(name) => format!("{name} = {}: {}", beta_text(value), way.remark(value)),
        Knob::Count(name) => format!("{name} = {}: {}", number(value), way.remark(value)),
    };
    Candidate {
        applies: true,
        reason,
        parameters: parameters(way, value, true),
        predicted_error: Some(way.predicted_error(value)),
        further: way.further(value),
        ..blank
    }
}

/// Why no value of the knob meets the limit, in a few words.
fn refusal(scene: &Scene, way: &dyn Way, limit: &BudgetKind) -> String {
    let Some(claim) = cost(scene.site, way, way.example()) else {
        return "no guarantee for groups by a private key".into();
    };
    if !reaches(&claim, limit) {
        let order = claim.max_order();
        return if order.is_finite() {
            format!("finite only for orders below {}", sig_down(order, 4))
        } else {
            "cannot reach a budget of this kind".into()
        };
    }
    let (cost, limit) = against(&claim, limit);
    format!("{cost} > {limit}")
}

/// A value of a knob as text, rounded to its private side.
pub fn knob_text(way: &dyn Way, value: f64) -> String {
    match way.knob() {
        Knob::None => String::new(),
        Knob::Weight(name) | Knob::Loss(name) if value < 1.0 => {
            format!("{name} = {}", sig_down(value, 3))
        }
        Knob::Weight(name) | Knob::Loss(name) | Knob::Count(name) => format!("{name} = {}", number(value)),
        Knob::Noise(name) => format!("{name} = {}", sig_up(value, 3)),
        Knob::Beta(name) => format!("{name} = {}", beta_text(value)),
    }
}
