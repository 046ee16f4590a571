//! The complaints about mechanisms and costs, worded with the user's names; every number is solved.

use super::budget::{against, kind_name, limits, reachable, reaches, short, written};
use super::chains;
use super::counted::counted;
use super::instead::{drawn_instead, whole_instead};
use super::scene::Scene;
use super::shapes::conjugate_prior;
use super::solve::{MOST_POINTS, cost, knob_text, solve};
use super::unmatched::{closest, no_rule_matches, not_in_this_version, tried_text};
use crate::model::print::{likelihood_text, number};
use crate::model::{BudgetKind, MechanismKind, Query, Request};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::rules::arguments::Mechanism;
use crate::rules::conjugate::matching_prior;
use crate::rules::offer::{Approximate, Chain, Knob, Offer};
use crate::rules::tempered::Tempering;
use crate::rules::{Answers, Judged, Rule, is_by_name, mechanisms};
use crate::source::{Diagnostic, Help, Span, suggest};

/// Names of the literature that no rule here answers to: the reason, and what does the like.
const ABSENT: &[(&str, &str, &str, (&str, &str))] = &[
    (
        "ehdl",
        "`ehdl` is not private: nothing can be released with it",
        "the scale itself reveals the data: at Beta(0.05, 0.05), 100 rows and eps = 0.1 the true loss is 1.03 eps",
        ("the same with a smooth bound on that sensitivity:", "using ehds"),
    ),
    (
        "dp_fast_mh",
        "no rule in this version covers the mechanism `dp_fast_mh`",
        "the constants in its published bound have not been verified, and dpm certifies nothing on unverified constants",
        ("a chain that is private by itself:", "using penalty"),
    ),
    (
        "langevin",
        "`langevin` is a sampler, not a mechanism",
        "regressions draw by this chain unless another is named",
        ("name the mechanism:", "using diffuse"),
    ),
];

/// E0206 or E0300: no mechanism of that name, or one without a proof here.
pub fn unknown_mechanism(scene: &Scene, name: &str) -> Diagnostic {
    let span = scene.place();
    if let Some((_, headline, cause, help)) = ABSENT.iter().find(|(absent, ..)| *absent == name) {
        let d =
            Diagnostic::new("E0300", *headline).label(span, format!("no proved guarantee for `{}`", scene.site.release.name)).cause(*cause);
        return if help.1 != "using penalty" || chains::penalty_reaches(scene) { d.help(*help) } else { d };
    }
    let diagnostic = Diagnostic::new("E0206", format!("unknown mechanism `{name}`")).label(span, "not a mechanism");
    match suggest::did_you_mean(name, mechanisms(None).iter().map(|m| m.name)) {
        Some(near) => diagnostic.help((format!("did you mean `{near}`?"), format!("using {near}"))),
        None => diagnostic.help("leave `using` out to let the analyzer choose, or write `using ?` to see what applies"),
    }
}

/// E0209: noise for a draw, or a draw for a query.
pub fn wrong_question(scene: &Scene, mechanism: &Mechanism) -> Diagnostic {
    let asked = Answers::of(&scene.site.release.query);
    let what = match asked {
        Answers::Draws => "a draw from a posterior",
        Answers::Posteriors => "a whole posterior",
        Answers::Queries => "a query over rows",
    };
    let list: Vec<&str> = mechanisms(Some(asked)).iter().map(|m| m.name).collect();
    Diagnostic::new("E0209", format!("`{}` does not answer {what}", mechanism.name))
        .label(scene.place(), format!("`{}` is {what}", scene.site.release.name))
        .help(format!("use one of: {}", list.join(", ")))
}

/// W0512: a posterior whose intervals nothing vouches for.
pub fn approximate(scene: &Scene, why: Approximate) -> Diagnostic {
    let name = &scene.site.release.name;
    Diagnostic::new("W0512", format!("`{name}` is approximate: its 90 % intervals may contain the truth less often than that"))
        .label(scene.place(), why.label)
        .help(why.help)
        .cause(format!("in simulations from the model, {}; the privacy guarantee is not affected", why.seen))
}

/// No offer of the wanted mechanism: why, and the same model of released counts where it can be one.
pub fn no_offer(scene: &Scene, judged: Judged, mechanism: Option<&'static Mechanism>) -> Diagnostic {
    let d = why_not(scene, judged, mechanism);
    match counted(scene).filter(|_| ["E0300", "E0302", "E0304", "E0306"].contains(&d.code)) {
        Some(way) => d.helps(way),
        None if d.code == "E0300" && d.help.is_empty() => d.help(
            "rules of this version: conjugate models with bounded columns, regressions with\nbounded features, and noise on sum, mean, count, histogram and quantile (`dpm explain rules`)",
        ),
        None => d,
    }
}

/// The refusal of the rule that has the right shape, a prior that is not conjugate, or a model of no rule.
fn why_not(scene: &Scene, mut judged: Judged, mechanism: Option<&'static Mechanism>) -> Diagnostic {
    // What a rule with a mechanism of its own says counts for that mechanism alone.
    let asked = Answers::of(&scene.site.release.query);
    let is_own = |rule: &Rule| rule.answers == asked && mechanism.is_some_and(|m| rule.mechanisms == [m]);
    if mechanism.is_some_and(is_by_name) {
        return chains::no_bounded_loss(scene, judged, is_own);
    }
    let wanted = |rule: &Rule| match mechanism {
        Some(_) if asked == Answers::Posteriors => is_own(rule),
        _ => !rule.by_name(),
    };
    let own = judged.refused.iter().position(|(rule, _)| is_own(rule));
    if let Some(index) = own.or_else(|| judged.refused.iter().position(|(rule, _)| wanted(rule))) {
        let (rule, refusal) = judged.refused.swap_remove(index);
        return does_not_apply(scene, rule, refusal.diagnostic, mechanism);
    }
    let named = |m: &Mechanism, why: &str| no_rule_matches(scene, &format!("`{}` does not apply", m.name), why);
    if let (Some(m), Some((_, why))) = (mechanism, judged.unmatched.iter().find(|(rule, _)| is_own(rule))) {
        return named(m, why);
    }
    if asked != Answers::Draws {
        let text = judged.unmatched.first().map_or("no mechanism answers it", |(_, r)| r.as_str());
        return match mechanism {
            Some(m) => named(m, text),
            None if matches!(scene.site.release.query, Query::Aggregate(_)) => no_rule_matches(scene, "no mechanism applies", text),
            None => drawn_instead(scene, &judged)
                .or_else(|| not_conjugate(scene, &judged, mechanism))
                .unwrap_or_else(|| not_in_this_version(scene, &judged)),
        };
    }
    not_conjugate(scene, &judged, mechanism).unwrap_or_else(|| not_in_this_version(scene, &judged))
}

/// The refusal of a rule for regression, with the mechanism that was asked for in its headline and a label on it.
fn does_not_apply(scene: &Scene, rule: &Rule, refusal: Diagnostic, mechanism: Option<&Mechanism>) -> Diagnostic {
    let needs = match refusal.code {
        "E0303" => "a convex loss with bounded slope",
        "E0304" => "a convex loss",
        "E0306" => "a strongly log-concave prior",
        _ => return refusal,
    };
    let subject = mechanism.map_or("no rule applies".to_owned(), |m| format!("`{}` does not apply", m.name));
    let Diagnostic { code, message, labels, cause, notes, help, .. } = refusal;
    let mut d = Diagnostic::new(code, format!("{subject}: {message}"));
    let asked = format!("rule `{}` needs {needs}", rule.name);
    // The place to edit comes first: the likelihood or the prior, or, where nothing in the model is wrong, the mechanism.
    if code == "E0304" {
        d = d.label(scene.place(), asked.clone());
    }
    d.labels.extend(labels);
    if code != "E0304" {
        d = d.label(scene.place(), asked);
    }
    let d = Diagnostic { cause, notes, help, ..d };
    chains::or_bounded_loss(scene, d)
}

/// E0208: the noise of this model is of another kind.
pub(super) fn other_loss(scene: &Scene, offer: &dyn Offer, at: Span) -> Diagnostic {
    let (name, knob) = (offer.mechanism().name, offer.knob().name().unwrap_or("no loss"));
    let solved = scene.allotment.map(|_| ("solved from the budget:", format!("using {name}")));
    Diagnostic::new("E0208", format!("`{name}` takes `{knob}` here")).label(at, "the noise of this model is of another kind").helps(solved)
}

/// E0208: an exact draw has no chain.
pub fn exact_without_sampler(mechanism: &Mechanism, at: Span) -> Diagnostic {
    Diagnostic::new("E0208", "this draw is exact: it has no sampler to choose")
        .label(at, "only chains have a sampler and a number of steps")
        .help(format!("using {}", mechanism.name))
}

/// E0302: the rows have a conjugate prior and this is not it.
fn not_conjugate(scene: &Scene, judged: &Judged, mechanism: Option<&Mechanism>) -> Option<Diagnostic> {
    let model = scene.model.as_deref()?;
    let observation = model.private.first()?;
    let parameter = model.parameters.iter().find(|p| observation.likelihood.args.iter().any(|a| a.mentions(p.id)))?;
    let wanted = conjugate_prior(&observation.likelihood, parameter.id)?;
    if parameter.prior.name() == wanted.family && parameter.truncated.is_none() {
        return None;
    }
    let likelihood = likelihood_text(model, observation, scene.program);
    let subject = mechanism.map_or("no rule applies".to_owned(), |m| format!("`{}` does not apply", m.name));
    let no_rule = mechanism.map_or("no rule matches this model".to_owned(), |m| format!("no rule for `{}` matches this model", m.name));
    let shown = match parameter.truncated {
        Some(_) if matches!(&parameter.ty, crate::model::Type::Vector(v) if v.ordered) => {
            format!("a {} prior of ordered numbers", parameter.prior.name())
        }
        Some(_) => format!("a truncated {} prior", parameter.prior.name()),
        None => format!("{} {} prior", article(parameter.prior.name()), parameter.prior.name()),
    };
    let mut diagnostic =
        Diagnostic::new("E0302", format!("{subject}: the prior of `{}` is not conjugate to `{likelihood}`", parameter.name))
            .label(scene.place(), no_rule)
            .label(parameter.prior.span, shown)
            .label(observation.outcome.span.to(observation.likelihood.span), format!("the conjugate prior here is {}", wanted.written))
            .note(tried_text(&closest(scene, judged)));
    if let Some(same) = matching_prior(parameter, &observation.likelihood) {
        let (sentence, prior) = (same.sentence(), &same.text);
        diagnostic = diagnostic.help((format!("{sentence}:"), format!("param {} ~ {prior}", parameter.name)));
    }
    Some(diagnostic)
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" }
}

/// A cost above the limit at the value the program gives: E0301, E0403 or E0401.
pub fn too_dear(scene: &Scene, offer: &dyn Offer, value: f64, claim: &Claim, limit: &BudgetKind, at: Option<Span>) -> Diagnostic {
    if let Some(order) = infinite_order(claim, limit) {
        return order_too_high(scene, offer, value, claim, order, limit);
    }
    if !reaches(claim, limit) {
        return not_reachable(scene, offer, claim, limit);
    }
    let (costs, allows) = against(claim, limit);
    let whose = match &scene.program.budget {
        _ if scene.site.release.spend.is_some() => "its share allows",
        Some(budget) if budget.kind != *limit => "an even share of the budget allows",
        _ => "the budget allows",
    };
    let name = &scene.site.release.name;
    let reckoning = offer.reckoning().filter(|_| matches!(limit, BudgetKind::Pure(_)));
    let label = reckoning.as_ref().map_or(costs.clone(), |(formula, _)| costs.replacen("= ", &format!("= {formula} = "), 1));
    let mut diagnostic =
        Diagnostic::new("E0401", format!("`{name}` costs {costs}, {whose} {allows}")).label(at.unwrap_or_else(|| scene.place()), label);
    if let Some((span, text)) = scene.limit_place() {
        diagnostic = diagnostic.label(span, text);
    }
    let mut help: Vec<Help> = Vec::new();
    if let Some(knob) = offer.knob().name()
        && let Some(x) = solve(scene.site, offer, limit)
    {
        let lead = format!("omit the argument: {knob} is solved from the budget");
        help.push((lead, format!("using {}", offer.written("")), knob_text(offer, x)).into());
    }
    if let Some((code, effect)) = chains::tempered(scene, offer, value, limit) {
        help.push((if help.is_empty() { "temper it:" } else { "or temper it:" }, code, effect).into());
    }
    help.extend(weaker(scene, offer, limit));
    if help.is_empty() {
        help.extend(chains::bare(scene, offer, limit));
    }
    diagnostic.cause(reckoning.map_or_else(|| format!("rule {}: {costs} > {allows}", offer.rule().name), |(_, cause)| cause)).helps(help)
}

/// Nothing on the knob meets the limit.
pub fn cannot_meet(scene: &Scene, offer: &dyn Offer, limit: &BudgetKind) -> Diagnostic {
    let x = offer.example();
    match cost(scene.site, offer, x) {
        Some(claim) => too_dear(scene, offer, x, &claim, limit, None),
        None => groups_not_covered(scene, offer),
    }
}

/// The first order of the budget at which the claim is infinite.
fn infinite_order(claim: &Claim, limit: &BudgetKind) -> Option<f64> {
    let BudgetKind::Rdp(points) = limit else { return None };
    let orders = points.iter().map(|(order, _)| *order);
    orders.filter(|o| *o >= claim.max_order()).fold(None, |least: Option<f64>, o| Some(least.map_or(o, |l| l.min(o))))
}

/// E0301.
fn order_too_high(scene: &Scene, offer: &dyn Offer, value: f64, claim: &Claim, order: f64, limit: &BudgetKind) -> Diagnostic {
    let max = sig_down(claim.max_order(), 4);
    let at = number(order);
    let what = match offer.mechanism().draw {
        "" => format!("a {} draw", offer.mechanism().name),
        words => words.to_owned(),
    };
    let mut diagnostic = Diagnostic::new("E0301", format!("{what} of {} has no finite guarantee at RDP order {at}", scene.drawn()))
        .label(scene.place(), format!("infinite at order {at}; finite only for orders below {max}"));
    if let Some(span) = scene.order_place() {
        diagnostic = diagnostic.label(span, "order required here");
    }
    let tempering = offer.tempering(value).unwrap_or(Tempering::DIRECT);
    if let Some(matched) = offer.matched()
        && let Some(reason) = matched.limit_reason(order, tempering)
    {
        diagnostic = diagnostic.label(matched.prior_span(), reason.prior).cause(reason.cause);
    }
    let mut help = weaker(scene, offer, limit);
    if let Some(knob) = offer.knob().name()
        && let Some(x) = solve(scene.site, offer, limit)
    {
        help.insert(0, (format!("leave {knob} out:"), format!("using {}", offer.written("")), knob_text(offer, x)).into());
    }
    let below = claim.max_order().ceil() - 1.0;
    if below >= 2.0 && matches!(limit, BudgetKind::Rdp(p) if p.len() == 1) {
        let lead = if help.is_empty() { "lower the order:" } else { "or lower the order:" };
        // A share of the budget says nothing of what the whole must be.
        let whole = scene.program.budget.as_ref().is_some_and(|b| b.kind == *limit);
        let eps = Some(claim.rdp(below)).filter(|e| whole && e.is_finite()).map_or_else(|| "...".to_owned(), |e| sig_up(e, 4));
        help.push((lead, format!("budget rdp(order = {}, eps = {eps})", number(below))).into());
    }
    diagnostic.helps(help)
}

/// Lines that offer the tempered draws of the same model, solved for the limit.
fn weaker(scene: &Scene, offer: &dyn Offer, limit: &BudgetKind) -> Vec<Help> {
    let mut lines = Vec::new();
    if offer.matched().is_none() {
        return lines;
    }
    let judged = scene.plain();
    for other in judged.usual().filter(|o| o.rule() == offer.rule() && o.mechanism() != offer.mechanism()) {
        let (Some(lead), Some(x)) = (other.mechanism().advice, solve(scene.site, other, limit)) else { continue };
        let effect = if other.changes_prior() { other.remark(x) } else { format!("{}, certifies {}", knob_text(other, x), short(limit)) };
        lines.push((lead, format!("using {}", other.mechanism().name), effect).into());
    }
    lines
}

/// E0403.
fn not_reachable(scene: &Scene, offer: &dyn Offer, claim: &Claim, limit: &BudgetKind) -> Diagnostic {
    let kind = kind_name(limit);
    let max = claim.max_order();
    let reason = if max.is_finite() {
        format!("{} has no guarantee above order {}, so it cannot satisfy {kind}", noun(scene, offer), sig_down(max, 4))
    } else {
        format!("{} has no {kind} guarantee at any scale", noun(scene, offer))
    };
    let mut diagnostic = Diagnostic::new("E0403", reason);
    if let Some((span, _)) = scene.limit_place() {
        diagnostic = diagnostic.label(span, format!("{kind} cannot be reached"));
    }
    diagnostic = diagnostic.label(scene.place(), format!("rule {}", offer.rule().name));
    if let Some(other) = other_mechanism(scene, offer, limit) {
        return diagnostic.help(("a mechanism that reaches it:", format!("using {other}")));
    }
    if let Some(way) = whole_instead(scene, limit, "release the whole posterior:") {
        return diagnostic.help(way);
    }
    let offers = reachable(claim);
    if offers.is_empty() {
        return diagnostic;
    }
    let lead =
        |i: usize| if i == 0 { format!("budgets that would do for `{}` on its own:", offer.mechanism().name) } else { String::new() };
    diagnostic.helps(offers.into_iter().enumerate().map(|(i, code)| (lead(i), code)))
}

/// Another mechanism of the same release that meets the limit.
fn other_mechanism(scene: &Scene, offer: &dyn Offer, limit: &BudgetKind) -> Option<&'static str> {
    let judged = scene.plain();
    let mut others = judged.usual().filter(|o| o.mechanism() != offer.mechanism() && !o.changes_prior());
    others.find(|o| solve(scene.site, *o, limit).is_some()).map(|o| o.mechanism().name)
}

/// `a Dirichlet draw`, `laplace noise`.
fn noun(scene: &Scene, offer: &dyn Offer) -> String {
    if offer.chain() == Some(Chain::Paying) {
        return offer.mechanism().draw.to_owned();
    }
    let Some(model) = &scene.model else {
        return format!("`{}`", offer.mechanism().name);
    };
    if matches!(model.request, Request::Posterior { .. }) {
        return format!("`{}`", offer.mechanism().name);
    }
    let family = model.parameters.first().map_or("posterior", |p| p.prior.name());
    let mut letters = family.chars();
    let name: String = letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect());
    format!("{} {name} draw", article(&name))
}

/// The claim does not extend to groups of a private key.
pub fn groups_not_covered(scene: &Scene, offer: &dyn Offer) -> Diagnostic {
    let d = Diagnostic::new("E0300", format!("no rule in this version covers `{}` in groups of a private key", scene.site.release.name))
        .label(scene.place(), format!("rule {} has no bound for rows that change their group", offer.rule().name))
        .cause("a replaced row may leave one group and enter another, so group sizes are secret")
        .help("if the key is public by design: declare the column `public category { .. }`");
    d.helps(counted(scene).unwrap_or_default())
}

/// E0405 for `auto`.
pub fn auto_without_budget(scene: &Scene, judged: &Judged) -> Diagnostic {
    let named = judged.usual().find(|o| o.knob() == Knob::None).or(judged.usual().next());
    let mut diagnostic =
        Diagnostic::new("E0405", format!("`{}` has no mechanism, and without a budget none can be chosen", scene.site.release.name))
            .label(scene.place(), "`auto` needs a budget to solve for")
            .help(("add a line such as:", "budget dp(eps = 1, delta = 1e-6)"));
    if let Some(offer) = named {
        let name = offer.mechanism().name;
        let call = match offer.knob() {
            Knob::None => name.to_owned(),
            Knob::Weight(n) | Knob::Loss(n) => format!("{name}({n} = 0.5)"),
            Knob::Noise(n) | Knob::Beta(n) | Knob::Count(n) => format!("{name}({n} = 1)"),
        };
        diagnostic = diagnostic.help(("or name the mechanism:", format!("using {call}")));
    }
    diagnostic
}

/// E0405 for a named mechanism whose number is left to be solved.
pub fn nothing_to_solve_from(scene: &Scene, offer: &dyn Offer) -> Diagnostic {
    let knob = offer.knob().name().unwrap_or("parameter");
    let example = match offer.knob() {
        Knob::Noise(_) => "1",
        Knob::Beta(_) => "1.5",
        Knob::Count(_) => "1000",
        _ => "0.5",
    };
    Diagnostic::new("E0405", format!("`{}` needs {knob}, or a budget to solve it from", offer.mechanism().name))
        .label(scene.place(), format!("{knob} is not given"))
        .help(("add a line such as:", "budget dp(eps = 1, delta = 1e-6)"))
        .help(("or give the number:", format!("using {}", offer.written(&all_arguments(scene, &format!("{knob} = {example}"))))))
}

/// The arguments as written, and one more.
fn all_arguments(scene: &Scene, more: &str) -> String {
    let written = match &scene.site.release.mechanism.kind {
        MechanismKind::Named { args, .. } => args.as_slice(),
        _ => &[],
    };
    let texts = written.iter().map(|a| scene.sources.slice(a.span)).chain([more]);
    texts.collect::<Vec<_>>().join(", ")
}

/// The total exceeds the budget although no release alone does.
pub fn total_over(budget: &crate::model::Budget, claim: &Claim) -> Diagnostic {
    let (costs, allows) = against(claim, &budget.kind);
    Diagnostic::new("E0402", format!("the releases together cost {costs}, the budget allows {allows}"))
        .label(budget.span, format!("total budget {}", written(&budget.kind)))
        .cause("releases compose sequentially")
        .help(format!(
            "lower the fixed parameters, or raise the budget above {}",
            limits(&budget.kind).first().map_or(String::new(), |x| number(*x))
        ))
}

/// E0025: pricing stops at a limit, so that any program is answered soon.
pub fn too_much_work(span: Span) -> Diagnostic {
    Diagnostic::new("E0025", format!("computing the cost of this program takes more than {MOST_POINTS} points on privacy curves"))
        .label(span, "the limit is reached here")
        .cause("each parameter left open is found by computing the cost of its release many times, at many orders for a `dp` budget")
        .help("write the parameters yourself, such as using diffuse(r = 0.1); or split the program")
}
