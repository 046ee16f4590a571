//! Choosing for one release: every offer is solved and judged; a named mechanism takes its own, `auto` the least predicted error.

use super::budget::{against, reaches};
use super::chains;
use super::doubt;
use super::messages;
use super::report::{Candidate, Chosen, ReleaseAnalysis};
use super::scene::Scene;
use super::solve::{cost, digits, pick, solve};
use super::useless;
use crate::mechanism::plan::Sampler;
use crate::model::print::query_text;
use crate::model::{BudgetKind, MechanismArg, MechanismKind};
use crate::numeric::decimal::sig_down;
use crate::rules::arguments::{self, Arg, Arguments};
use crate::rules::offer::{Chain, Knob, Offer, Parameter, Status};
use crate::rules::{Answers, Judged};
use crate::source::{Diagnostic, Diagnostics};
use std::rc::Rc;

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
    /// All where a hole is left.
    Holes,
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
        public: scene.totals().unwrap_or_default(),
        candidates: vec![],
        span: release.span,
        mechanism_span,
    };
    let mut outcome = Outcome { analysis, diagnostics: vec![] };
    match &release.mechanism.kind {
        MechanismKind::Named { name, args } if name != "auto" => match named(scene, name, args, shown, &mut outcome) {
            Ok(decision) => settle(scene, decision, shown, &mut outcome),
            Err(diagnostic) => outcome.diagnostics.push(*diagnostic),
        },
        _ => automatic(scene, shown, &mut outcome),
    }
    outcome
}

type Refusal = Box<Diagnostic>;

fn named(scene: &Scene, name: &str, args: &[MechanismArg], shown: Shown, outcome: &mut Outcome) -> Result<Decision, Refusal> {
    let Some(mechanism) = crate::rules::mechanism(name) else {
        outcome.analysis.candidates = unmatched(&scene.plain());
        return Err(Box::new(messages::unknown_mechanism(scene, name)));
    };
    if !crate::rules::mechanisms(Some(Answers::of(&scene.site.release.query))).contains(&mechanism) {
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
    let ignored = [Arg::EPS.name, Arg::RHO.name].into_iter().filter(|loss| offer.knob().name() != Some(loss));
    if let Some(at) = ignored.filter_map(|loss| arguments.span(loss)).next() {
        return Err(Box::new(messages::other_loss(scene, offer.as_ref(), at)));
    }
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
    let every = shown == Shown::Everything || (hole && shown > Shown::None);
    let solved = solve_all(scene, &judged, every);
    if every {
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
    settle(scene, Decision { offer, value, solved: true, arguments: Arguments::default() }, shown, outcome);
}

/// Never chosen are a conditional draw, a prior that the user did not write, and what must be asked for by name.
fn eligible(offer: &dyn Offer) -> bool {
    offer.status() != Status::Conditional && !offer.changes_prior() && offer.mechanism().automatic()
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

fn settle(scene: &Scene, decision: Decision, shown: Shown, outcome: &mut Outcome) {
    let (offer, value) = (decision.offer.as_ref(), decision.value);
    let Some(claim) = cost(scene.site, offer, value) else { return };
    // What a pass that only looks for the size of shares would say is said by the last one.
    let useless = (shown > Shown::None).then(|| useless::found(scene, offer, value)).flatten();
    let doubt = (shown > Shown::None && useless.is_none()).then(|| doubt::found(scene, offer, value)).flatten();
    outcome.diagnostics.extend(useless);
    if offer.status() == Status::Conditional {
        outcome.diagnostics.push(chains::conditional(scene));
    }
    if let Some(why) = offer.approximate() {
        outcome.diagnostics.push(messages::approximate(scene, why));
    }
    outcome.diagnostics.extend(doubt);
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
        chain: offer.chain(),
        status: offer.status(),
        value,
        secret_groups: scene.site.secret_groups(),
        offer: Rc::from(decision.offer),
    });
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
        noise: 0.0,
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
        noise: 0.0,
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
        noise: offer.noise(value),
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
