//! Choosing for one release: every offer is solved and judged; a named mechanism takes its own, `auto` the least predicted error.

use super::MOST_POINTS;
use super::budget::{against, over, reaches};
use super::calibrate::{Price, largest, largest_positive, smallest};
use super::chains;
use super::messages;
use super::report::{Candidate, Chosen, ReleaseAnalysis};
use super::scene::Scene;
use super::site::Site;
use crate::mechanism::plan::Sampler;
use crate::model::print::{number, query_text};
use crate::model::{BudgetKind, MechanismArg, MechanismKind};
use crate::numeric::decimal::{above, below, sig_down};
use crate::privacy::{Claim, work};
use crate::rules::arguments::{self, Arg, Arguments, Mechanism};
use crate::rules::offer::{Chain, Knob, Offer, Parameter, Status};
use crate::rules::{Answers, Judged};
use crate::source::{Diagnostic, Diagnostics};
use std::cell::Cell;
use std::rc::Rc;

/// The noise of an answer that costs nothing: far below anything one would read off it.
const FREE: f64 = 1e-9;

/// An offer at a value of its knob: what will run.
struct Decision {
    offer: Box<dyn Offer>,
    value: f64,
    /// The value was solved from the allotment, not written.
    solved: bool,
    arguments: Arguments,
}

/// What was found for one release.
pub struct Outcome {
    pub analysis: ReleaseAnalysis,
    pub diagnostics: Diagnostics,
}

/// Which mechanisms are solved besides the one that is chosen, to be shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shown {
    None,
    /// All where none is named.
    Candidates,
    /// All.
    Everything,
}

/// Judges the release in `scene`.
pub fn choose(scene: &Scene, shown: Shown) -> Outcome {
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
    let mut outcome = Outcome { analysis, diagnostics: vec![] };
    match &release.mechanism.kind {
        MechanismKind::Named { name, args } if name != "auto" => match named(scene, name, args, shown, &mut outcome) {
            Ok(decision) => settle(scene, decision, &mut outcome),
            Err(diagnostic) => outcome.diagnostics.push(*diagnostic),
        },
        _ => automatic(scene, shown, &mut outcome),
    }
    outcome
}

type Refusal = Box<Diagnostic>;

fn named(scene: &Scene, name: &str, args: &[MechanismArg], shown: Shown, outcome: &mut Outcome) -> Result<Decision, Refusal> {
    let Some((mechanism, answers)) = crate::rules::mechanism(name) else {
        outcome.analysis.candidates = unmatched(&scene.plain());
        return Err(Box::new(messages::unknown_mechanism(scene, name)));
    };
    if answers != Answers::of(&scene.site.release.query) {
        return Err(Box::new(messages::wrong_question(scene, mechanism)));
    }
    let arguments = arguments::parse(mechanism, args)?;
    let mut judged = scene.judge(Some((mechanism, &arguments)));
    if shown == Shown::Everything {
        outcome.analysis.candidates = candidates(scene, &judged, &solve_all(scene, &judged, true));
    }
    chains::words(scene, mechanism, &arguments)?;
    let Some(index) = pick(scene, &judged.offers, mechanism, &arguments) else {
        return Err(Box::new(messages::no_offer(scene, judged, Some(mechanism))));
    };
    let offer = judged.offers.swap_remove(index);
    check_sampler(scene, offer.as_ref(), &arguments)?;
    let written = offer.knob().name().and_then(|knob| arguments.get(knob));
    let value = match (offer.knob(), written, scene.allotment) {
        (Knob::None, ..) => 1.0,
        (_, Some(x), _) => x,
        (_, None, Some(limit)) => match solve(scene.site, offer.as_ref(), limit) {
            Some(x) => x,
            None => return Err(Box::new(messages::cannot_meet(scene, offer.as_ref(), limit))),
        },
        (_, None, None) => return Err(Box::new(messages::nothing_to_solve_from(scene, offer.as_ref()))),
    };
    let claim = cost(scene.site, offer.as_ref(), value);
    let free = written.is_none() && offer.knob() != Knob::None;
    match (claim, if free { scene.allotment } else { scene.most }) {
        (None, _) => Err(Box::new(messages::groups_not_covered(scene, offer.as_ref()))),
        (Some(claim), Some(limit)) if !claim.implies(limit) => {
            let at = offer.knob().name().and_then(|knob| arguments.span(knob));
            Err(Box::new(messages::too_dear(scene, offer.as_ref(), value, &claim, limit, at)))
        }
        _ => Ok(Decision { offer, value, solved: written.is_none(), arguments }),
    }
}

/// Of the offers of one mechanism that whose free number is written; else the one that meets the budget with the least
/// predicted error, last resorts and other priors after all others; else the first.
pub fn pick(scene: &Scene, offers: &[Box<dyn Offer>], mechanism: &Mechanism, args: &Arguments) -> Option<usize> {
    let own: Vec<(usize, &dyn Offer)> = offers.iter().map(AsRef::as_ref).enumerate().filter(|(_, o)| o.mechanism() == mechanism).collect();
    let first = own.first().map(|(i, _)| *i);
    if own.len() < 2 {
        return first;
    }
    let written = own.iter().find(|(_, o)| o.knob().name().is_some_and(|k| args.get(k).is_some()));
    let solved = |(i, o): &(usize, &dyn Offer)| {
        let error = o.predicted_error(solve(scene.site, *o, scene.allotment?)?).value;
        Some(((o.changes_prior(), o.last_resort()), error, *i))
    };
    let best = || own.iter().filter_map(solved).min_by(|(a, x, _), (b, y, _)| a.cmp(b).then(x.total_cmp(y))).map(|(.., i)| i);
    written.map(|(i, _)| *i).or_else(best).or(first)
}

/// The offer of a mechanism where nothing is written after its name.
pub fn plain_offer(scene: &Scene, mechanism: &Mechanism) -> Option<Box<dyn Offer>> {
    let mut judged = scene.plain();
    pick(scene, &judged.offers, mechanism, &arguments::NONE).map(|i| judged.offers.swap_remove(i))
}

/// Exact draws have no sampler and no length; a chain without a guarantee of its own needs the words that say so.
fn check_sampler(scene: &Scene, offer: &dyn Offer, args: &Arguments) -> Result<(), Refusal> {
    let (mechanism, assuming) = (offer.mechanism(), scene.site.release.mechanism.assuming_convergence);
    match (offer.chain(), args.sampler()) {
        (None, _) => match args.span(Arg::SAMPLER.name).or(args.span(Arg::STEPS.name)) {
            Some(at) => Err(Box::new(messages::exact_without_sampler(mechanism, at))),
            None => Ok(()),
        },
        (Some(Chain::Converged(_)), Some(sampler @ (Sampler::Nuts | Sampler::Slice))) if !assuming => {
            Err(Box::new(chains::no_own_guarantee(scene, mechanism, sampler)))
        }
        _ => Ok(()),
    }
}

fn automatic(scene: &Scene, shown: Shown, outcome: &mut Outcome) {
    let mut judged = scene.plain();
    let hole = outcome.analysis.hole;
    let solved = solve_all(scene, &judged, shown > Shown::None);
    if shown > Shown::None {
        outcome.analysis.candidates = candidates(scene, &judged, &solved);
    }
    let first = judged.usual().next().is_some();
    if !first {
        // What must be named answers a hole all the same.
        if !hole || judged.offers.is_empty() {
            outcome.diagnostics.push(messages::no_offer(scene, judged, None));
        }
        return;
    }
    let Some(limit) = scene.allotment else {
        if !hole {
            outcome.diagnostics.push(messages::auto_without_budget(scene, &judged));
        }
        return;
    };
    let Some((index, value)) = best(&judged, &solved) else {
        // A hole that nothing fills yet is not an error of the program: its candidates say why.
        if let (false, Some(offer)) = (hole, judged.usual().next()) {
            outcome.diagnostics.push(messages::cannot_meet(scene, offer, limit));
        }
        return;
    };
    let offer = judged.offers.swap_remove(index);
    settle(scene, Decision { offer, value, solved: true, arguments: Arguments::default() }, outcome);
}

/// Never chosen are a conditional draw, a prior that the user did not write, and what must be asked for by name.
fn eligible(offer: &dyn Offer) -> bool {
    offer.status() != Status::Conditional && !offer.changes_prior() && offer.mechanism().auto
}

/// The offer of least predicted error, last resorts after all others; ties go to exact before certified, then to table order.
fn best(judged: &Judged, solved: &[Option<f64>]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64, (bool, f64), Status)> = None;
    for (index, (offer, value)) in judged.offers.iter().zip(solved).enumerate() {
        let (Some(value), status, true) = (*value, offer.status(), eligible(offer.as_ref())) else { continue };
        let error = (offer.last_resort(), offer.predicted_error(value).value);
        if best.is_none_or(|(_, _, e, s)| error < e || (error == e && status < s)) {
            best = Some((index, value, error, status));
        }
    }
    best.map(|(index, value, ..)| (index, value))
}

/// Every offer solved for the allotment, or only those that may be chosen; all `None` without an allotment.
fn solve_all(scene: &Scene, judged: &Judged, every: bool) -> Vec<Option<f64>> {
    let wanted = |o: &dyn Offer| scene.allotment.filter(|_| every || eligible(o));
    judged.offers.iter().map(|o| solve(scene.site, o.as_ref(), wanted(o.as_ref())?)).collect()
}

fn settle(scene: &Scene, decision: Decision, outcome: &mut Outcome) {
    let (offer, value) = (decision.offer.as_ref(), decision.value);
    let Some(claim) = cost(scene.site, offer, value) else { return };
    if let Knob::Weight(name) = offer.knob()
        && decision.solved
        && value < 0.001
    {
        outcome.diagnostics.push(messages::useless(scene, name, value));
    }
    if offer.status() == Status::Conditional {
        outcome.diagnostics.push(chains::conditional(scene));
    }
    outcome.analysis.chosen = Some(Chosen {
        mechanism: offer.mechanism(),
        rule: offer.rule(),
        arguments: decision.arguments,
        parameters: parameters(offer, value, decision.solved),
        tempering: offer.tempering(value),
        plan: offer.plan(value),
        claim,
        premises: offer.premises(value),
        predicted_error: offer.predicted_error(value),
        counts_public_rows: offer.matched().is_some_and(|m| m.counts_public_rows()),
        chain: offer.chain(),
        status: offer.status(),
        value,
        offer: Rc::from(decision.offer),
    });
}

/// The cost of an offer for the whole release; `None` where a group around it is not covered.
pub fn cost(site: &Site, offer: &dyn Offer, value: f64) -> Option<Claim> {
    site.cost(&|view| offer.claim(view, value))
}

/// The value of the knob that uses the limit up, on the private side.
pub fn solve(site: &Site, offer: &dyn Offer, limit: &BudgetKind) -> Option<f64> {
    let priced = |x: f64, of: &dyn Fn(&Claim) -> f64| match cost(site, offer, x) {
        Some(claim) if work::done() <= MOST_POINTS => of(&claim),
        _ => f64::INFINITY,
    };
    let exact = |x: f64| priced(x, &|claim| over(claim, limit));
    let last = Cell::new(None);
    let near = |x: f64| match limit {
        BudgetKind::Dp { epsilon, delta } => priced(x, &|claim| claim.epsilon_near(*delta, &last) / epsilon),
        _ => exact(x),
    };
    let fits = |x: f64| exact(x) <= 1.0;
    let price = Price { exact: &exact, near: &near };
    match offer.knob() {
        Knob::None => fits(1.0).then_some(1.0),
        Knob::Weight(_) => largest(1.0, price),
        // A query that no row can move is free at any noise.
        Knob::Noise(_) if offer.start() == 0.0 => fits(1.0).then_some(FREE),
        Knob::Noise(_) => smallest(offer.start(), price),
        Knob::Loss(_) if offer.start() == 0.0 => fits(1.0).then_some(1.0),
        Knob::Loss(_) => largest_positive(offer.start(), price),
        Knob::Beta(_) => smallest(offer.start(), price),
        Knob::Count(_) => largest_positive(offer.start(), price).map(f64::floor).filter(|x| *x >= 1.0),
    }
}

fn parameters(offer: &dyn Offer, value: f64, solved: bool) -> Vec<Parameter> {
    let knob = offer.knob().at(value).map(|p| p.solved(solved));
    offer.given().into_iter().chain(knob).chain(offer.derived(value)).collect()
}

/// Every offer with its solved value, then the rules that do not match.
fn candidates(scene: &Scene, judged: &Judged, solved: &[Option<f64>]) -> Vec<Candidate> {
    let both: Vec<(&dyn Offer, Option<f64>)> = judged.offers.iter().map(AsRef::as_ref).zip(solved.iter().copied()).collect();
    // Of a mechanism with a last resort beside other offers: that alone where it alone meets the budget, else the others.
    let shown = |offer: &dyn Offer| {
        let own: Vec<_> = both.iter().filter(|(o, _)| o.mechanism() == offer.mechanism()).collect();
        let mixed = own.iter().any(|(o, _)| o.last_resort()) && own.iter().any(|(o, _)| !o.last_resort());
        let resort =
            mixed && own.iter().any(|(o, x)| o.last_resort() && x.is_some()) && !own.iter().any(|(o, x)| !o.last_resort() && x.is_some());
        !mixed || offer.last_resort() == resort
    };
    let mut list: Vec<Candidate> = both.iter().filter(|(o, _)| shown(*o)).map(|(o, x)| candidate(scene, *o, *x)).collect();
    list.extend(unmatched(judged));
    list
}

fn unmatched(judged: &Judged) -> Vec<Candidate> {
    let refused = judged.refused.iter().map(|(rule, r)| (rule.name, r.diagnostic.message.clone()));
    let unmatched = judged.unmatched.iter().map(|(rule, reason)| (rule.name, reason.clone()));
    let of = |(name, reason)| Candidate {
        mechanism: name,
        rule: Some(name),
        applies: false,
        reason,
        parameters: vec![],
        predicted_error: None,
        status: Status::Exact,
    };
    refused.chain(unmatched).map(of).collect()
}

fn candidate(scene: &Scene, offer: &dyn Offer, solved: Option<f64>) -> Candidate {
    let blank = Candidate {
        mechanism: offer.mechanism().name,
        rule: Some(offer.rule().name),
        applies: false,
        reason: String::new(),
        parameters: vec![],
        predicted_error: None,
        status: offer.status(),
    };
    let Some(limit) = scene.allotment else {
        let reason = match offer.knob().name() {
            None => "no budget to meet".to_owned(),
            Some(name) => format!("no budget: {name} is free"),
        };
        return Candidate { applies: true, reason, ..blank };
    };
    let Some(value) = solved else {
        return Candidate { reason: refusal(scene, offer, limit), ..blank };
    };
    let reason = match offer.knob() {
        Knob::None => {
            let spent = cost(scene.site, offer, value).map(|c| against(&c, limit));
            spent.map_or(String::new(), |(cost, limit)| format!("{cost} <= {limit}"))
        }
        knob => format!("{}: {}", digits(knob, value, 4), offer.remark(value)),
    };
    Candidate {
        applies: true,
        reason,
        parameters: parameters(offer, value, true),
        predicted_error: Some(offer.predicted_error(value)),
        ..blank
    }
}

/// Why no value of the knob meets the limit, in a few words.
fn refusal(scene: &Scene, offer: &dyn Offer, limit: &BudgetKind) -> String {
    let Some(claim) = cost(scene.site, offer, offer.example()) else {
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
pub fn knob_text(offer: &dyn Offer, value: f64) -> String {
    match offer.knob() {
        Knob::Weight(name) | Knob::Loss(name) if value >= 1.0 => format!("{name} = {}", number(value)),
        knob => digits(knob, value, 3),
    }
}

/// `r = 0.668`: so many digits, rounded to the private side.
fn digits(knob: Knob, value: f64, digits: usize) -> String {
    match knob {
        Knob::None => String::new(),
        Knob::Weight(name) | Knob::Loss(name) => format!("{name} = {}", below(value, digits)),
        Knob::Noise(name) => format!("{name} = {}", above(value, digits)),
        Knob::Beta(name) => format!("{name} = {}", beta_text(value)),
        Knob::Count(name) => format!("{name} = {}", number(value)),
    }
}

/// `beta = 1.3334`: four digits of what beta is above 1, rounded up.
pub fn beta_text(x: f64) -> String {
    if x >= 1e15 {
        return number(x);
    }
    let Ok(excess) = above(crate::rules::bounded::excess(x), 4).parse::<f64>() else { return number(x) };
    let places = (3.0 - excess.log10().floor()).max(0.0) as usize;
    let text = format!("{:.places$}", 1.0 + excess);
    if places > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
