//! The complaints about chains and bounded losses: what must be said, what is assumed, what would be enough.

use super::budget::against;
use super::instead::whole_instead;
use super::scene::Scene;
use super::solve::{cost, knob_text, pick, plain_offer, printed, solve};
use super::unmatched::{no_rule_matches, not_in_this_version};
use crate::mechanism::plan::Sampler;
use crate::model::BudgetKind;
use crate::rules::arguments::{Arg, Arguments, Mechanism, NONE};
use crate::rules::bounded::{beta_div::BETA_DIV, penalty::PENALTY};
use crate::rules::offer::{Offer, Status, View};
use crate::rules::tempered::DIFFUSE;
use crate::rules::{Judged, Mended, Rule, is_by_name};
use crate::source::{Diagnostic, Help, Span};

/// E0311: a chain that is only as private as it has converged.
pub fn no_own_guarantee(scene: &Scene, mechanism: &Mechanism, sampler: Sampler) -> Diagnostic {
    Diagnostic::new("E0311", format!("`{}` has no privacy guarantee without convergence", sampler.name()))
        .label(scene.place(), UNPROVED)
        .cause("no privacy bound is proved for a finite run of this chain, and convergence diagnostics do not prove one")
        .help(("use the chain that needs no convergence:", format!("using {}(sampler = langevin)", mechanism.name)))
        .help(("or accept a conditional guarantee:", format!("{} assuming convergence", scene.sources.slice(scene.place()))))
}

const UNPROVED: &str = "its draw is as private as the posterior only once the chain has converged, which cannot be proved";

/// What must be said before a release by a mechanism that is asked for by name: E0311 without the words, E0208 for another sampler.
pub fn words(scene: &Scene, mechanism: &'static Mechanism, args: &Arguments) -> Result<(), Box<Diagnostic>> {
    let assuming = scene.site.release.mechanism.assuming_convergence;
    let name = mechanism.name;
    if !is_by_name(mechanism) && mechanism.takes(&Arg::SAMPLER) {
        return Ok(());
    }
    let sampler = args.sampler();
    if let (Some(Sampler::Langevin), Some(at)) = (sampler, args.span(Arg::SAMPLER.name)) {
        let diagnostic = Diagnostic::new("E0208", format!("`{name}` has no Langevin chain"));
        return Err(Box::new(
            diagnostic
                .label(at, "no bound of this chain is proved here")
                .help(("one of: nuts, slice", format!("using {name} assuming convergence"))),
        ));
    }
    if !mechanism.takes(&Arg::SAMPLER) {
        if !assuming {
            return Ok(());
        }
        let alone = scene.sources.slice(mechanism_alone(scene));
        return Err(Box::new(
            Diagnostic::new("E0208", format!("`{name}` assumes nothing about convergence"))
                .label(scene.place(), "its guarantee does not rest on convergence")
                .help(("omit `assuming convergence`:", alone)),
        ));
    }
    if assuming {
        return Ok(());
    }
    let place = scene.sources.slice(scene.place());
    let subject = format!("`{}`", sampler.map_or(name, Sampler::name));
    let d = Diagnostic::new("E0311", format!("{subject} has no privacy guarantee without convergence"))
        .label(scene.place(), UNPROVED)
        .cause("no privacy bound is proved for a finite run of this chain, and convergence diagnostics do not prove one")
        .help(("accept a conditional guarantee:", format!("{place} assuming convergence")));
    Err(Box::new(if penalty_reaches(scene) { d.help(("or use a chain that is private by itself:", "using penalty")) } else { d }))
}

/// W0508: the guarantee rests on convergence.
pub fn conditional(scene: &Scene) -> Diagnostic {
    let name = &scene.site.release.name;
    let d = Diagnostic::new("W0508", format!("the certificate of `{name}` is conditional: it assumes that the chain has converged"))
        .label(scene.place(), "it cannot be proved, and no diagnostic of a private run may be printed");
    let judged = scene.plain();
    let langevin = judged.usual().any(|o| o.status() == Status::Conditional) && scene.site.view == View::Replace;
    let mut help = vec![];
    if langevin && judged.of(&DIFFUSE).next().is_some() {
        help.push(("the Langevin chain assumes nothing:", "using diffuse"));
    }
    if penalty_reaches(scene) {
        help.push(("a chain that is private by itself:", "using penalty"));
    }
    if help.is_empty() {
        return d.help("a conjugate model needs no chain");
    }
    d.helps(help)
}

/// Can the chain that pays for every answer meet what the release may cost?
pub fn penalty_reaches(scene: &Scene) -> bool {
    let Some(offer) = plain_offer(scene, &PENALTY) else { return false };
    scene.allotment.is_none_or(|limit| solve(scene.site, offer.as_ref(), limit).is_some())
}

/// The mechanism without the words behind it.
fn mechanism_alone(scene: &Scene) -> Span {
    let span = scene.place();
    let text = scene.sources.slice(span);
    let named = text.find("assuming").and_then(|at| text.get(..at)).unwrap_or(text).trim_end();
    let start = usize::try_from(span.start).unwrap_or(0);
    Span::new(span.file, start, start.saturating_add(named.len()))
}

/// No draw of bounded loss: the premise that fails, with the line that mends it solved for the budget.
pub fn no_bounded_loss(scene: &Scene, mut judged: Judged, own: impl Fn(&Rule) -> bool) -> Diagnostic {
    let Some(index) = judged.refused.iter().position(|(rule, _)| own(rule)) else {
        return match judged.unmatched.iter().find(|(rule, _)| own(rule)) {
            Some((rule, why)) => no_rule_matches(scene, &format!("`{}` does not apply", rule.name), why),
            None => not_in_this_version(scene, &judged),
        };
    };
    let (rule, refusal) = judged.refused.swap_remove(index);
    let mut d = refusal.diagnostic;
    let Some(Mended { line, fact, mut offers }) = refusal.mended else { return d };
    d = d.label(mechanism_alone(scene), "needs a finite density bound M");
    let offer = pick(scene, &offers, rule.own(), &NONE).map(|i| offers.swap_remove(i));
    let solved = offer.zip(scene.allotment).and_then(|(o, limit)| Some(knob_text(o.as_ref(), solve(scene.site, o.as_ref(), limit)?)));
    let solved = solved.map_or_else(String::new, |text| format!(", {text}"));
    d.help(("", line, format!("{fact}{solved}"))).help("The bound truncates the prior; it does not clip data.")
}

/// A refused regression with the ideal posterior of bounded loss among its Help lines.
pub fn or_bounded_loss(scene: &Scene, mut d: Diagnostic) -> Diagnostic {
    let (Some(offer), Some(limit)) = (plain_offer(scene, &BETA_DIV), scene.allotment) else { return d };
    let Some(x) = solve(scene.site, offer.as_ref(), limit) else { return d };
    let (using, beta) = (format!("using {}", offer.written("")), knob_text(offer.as_ref(), x));
    match d.code {
        "E0303" => d.helps(whole_instead(scene, limit, "or release the whole posterior:")).help((
            "or a bounded loss:",
            using,
            format!("any link; here {beta}"),
        )),
        "E0304" => {
            let last = d.help.pop();
            d.help.clear();
            let effect = format!("bounded loss, any network: budget {} gives {beta}", super::budget::short(limit));
            d.help(("", using, effect)).helps(last)
        }
        _ => d,
    }
}

/// The same beta with a weight: the code, `using beta_div(beta = 1.2, weight = 0.6) ..`, and what it costs.
pub fn tempered(scene: &Scene, offer: &dyn Offer, value: f64, limit: &BudgetKind) -> Option<(String, String)> {
    // Every number as it is printed.
    let beta = printed(offer, value);
    let other = offer.tempered(beta)?;
    let weight = printed(other.as_ref(), solve(scene.site, other.as_ref(), limit)?);
    let claim = cost(scene.site, other.as_ref(), weight)?;
    let using = other.written(&format!("{}, {}", knob_text(offer, beta), knob_text(other.as_ref(), weight)));
    Some((format!("using {using}"), against(&claim, limit).0))
}

/// The same mechanism with nothing written, where that meets the limit.
pub fn bare(scene: &Scene, offer: &dyn Offer, limit: &BudgetKind) -> Option<Help> {
    let other = plain_offer(scene, offer.mechanism()).filter(|o| o.rule() == offer.rule())?;
    let x = solve(scene.site, other.as_ref(), limit)?;
    Some(("leave the arguments out:", format!("using {}", other.mechanism().name), knob_text(other.as_ref(), x)).into())
}
