//! The complaints about chains and bounded losses: what must be said, what is assumed, what would be enough.

use super::arguments;
use super::budget::against;
use super::choose::{cost, knob_text, solve};
use super::messages::not_in_this_version;
use super::parallel::View;
use super::report::Status;
use super::scene::Scene;
use super::ways::{Offer, Way};
use crate::model::BudgetKind;
use crate::rules::bounded::Mended;
use crate::source::{Diagnostic, Span};

/// E0311: a chain that is only as private as it has converged.
pub fn no_own_guarantee(scene: &Scene, mechanism: &str, sampler: &str) -> Diagnostic {
    Diagnostic::new("E0311", format!("`{sampler}` gives no guarantee of its own"))
        .label(scene.place(), UNPROVED)
        .cause("no finite run of this chain has a proved privacy bound; diagnostics of convergence prove none either")
        .help(format!(
            "use the chain that needs no convergence:    using {mechanism}(sampler = langevin)\n\
             or say what it rests on:                    {} assuming convergence",
            scene.sources.slice(scene.place())
        ))
}

const UNPROVED: &str = "its draw is as private as the posterior only once the chain has converged, which nothing proves";

/// Mechanisms whose chains pay for every answer, and assume nothing.
pub const CHAINS_THAT_PAY: [&str; 3] = ["penalty", "dp_hmc", "dp_sgld"];

/// What must be said before a draw from a posterior of bounded loss: E0311 without the words, E0208 for another sampler.
pub fn words(scene: &Scene, mechanism: &str, args: &arguments::Arguments) -> Result<(), Box<Diagnostic>> {
    let assuming = scene.site.release.mechanism.assuming_convergence;
    let sampler = args.get("sampler").and_then(|i| arguments::SAMPLERS.get(i as usize)).copied();
    if let (Some("langevin"), Some(at)) = (sampler, args.span("sampler")) {
        return Err(Box::new(
            Diagnostic::new("E0208", format!("`{mechanism}` has no Langevin chain"))
                .label(at, if mechanism == "ops" { "its guarantee is that of the ideal draw" } else { "its loss is not convex, so no bound of this chain is proved" })
                .help(match mechanism {
                    "ops" => "a chain with a guarantee of its own:    using diffuse\nor one of: nuts, slice                  using ops assuming convergence".into(),
                    _ => format!("one of: nuts, slice    using {mechanism} assuming convergence"),
                }),
        ));
    }
    if CHAINS_THAT_PAY.contains(&mechanism) {
        if !assuming {
            return Ok(());
        }
        let alone = scene.sources.slice(mechanism_alone(scene));
        return Err(Box::new(
            Diagnostic::new("E0208", format!("`{mechanism}` assumes nothing about convergence"))
                .label(scene.place(), "its guarantee is that of every state, converged or not")
                .help(format!("leave the words out:    {alone}")),
        ));
    }
    if assuming {
        return Ok(());
    }
    let place = scene.sources.slice(scene.place());
    let subject = sampler.map_or_else(|| format!("`{mechanism}`"), |s| format!("`{s}`"));
    Err(Box::new(
        Diagnostic::new("E0311", format!("{subject} gives no guarantee of its own"))
            .label(scene.place(), UNPROVED)
            .cause("no finite run of this chain has a proved privacy bound; diagnostics of convergence prove none either")
            .help(format!("say what it rests on:                       {place} assuming convergence\nor use a chain that is private by itself:    using penalty")),
    ))
}

/// W0508: the guarantee rests on convergence.
pub fn conditional(scene: &Scene) -> Diagnostic {
    let name = &scene.site.release.name;
    let d = Diagnostic::new("W0508", format!("the certificate of `{name}` is conditional: it assumes that the chain has converged"))
        .label(scene.place(), "nothing proves it, and no diagnostic of a private run may be printed");
    let offer = scene.offer(&arguments::Arguments::default());
    let langevin = offer.ways.iter().any(|w| w.status() == Status::Conditional) && scene.site.view == View::Replace;
    let mut help = vec![];
    let bounded = matches!(&scene.site.release.mechanism.kind, crate::model::MechanismKind::Named { name, .. } if matches!(name.as_str(), "beta_div" | "ops"));
    if langevin && bounded {
        help.push("the Langevin chain assumes nothing:        using diffuse");
    } else if langevin {
        help.push("the Langevin chain assumes nothing:        sampler = langevin, without `assuming convergence`");
    }
    if offer.asked.ways.iter().any(|w| w.mechanism() == "penalty") {
        help.push("a chain that is private by itself:         using penalty");
    }
    if help.is_empty() {
        return d.help("a conjugate model needs no chain");
    }
    d.help(help.join("\n"))
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
pub fn no_bounded_loss(scene: &Scene, offer: Offer, mechanism: &'static str) -> Diagnostic {
    let at = offer.asked.refused.iter().position(|(name, _)| *name == mechanism);
    let why = offer.asked.unmatched.iter().find(|(name, _)| *name == "ops" && mechanism == "ops");
    if let Some((_, why)) = why {
        return Diagnostic::new("E0300", format!("`ops` does not apply: {why}")).label(scene.place(), "no rule of this mechanism matches");
    }
    let Some(index) = at else {
        return not_in_this_version(scene, &offer, Some(mechanism));
    };
    let Some((_, refusal)) = offer.asked.refused.into_iter().nth(index) else {
        return not_in_this_version(scene, &Offer::default(), Some(mechanism));
    };
    let mut d = refusal.diagnostic;
    if d.code != "E0305" {
        return d;
    }
    if mechanism == "ops" {
        return d;
    }
    d = d.label(mechanism_alone(scene), "needs a finite density bound M");
    let Some(Mended { line, loss }) = refusal.mended else { return d };
    let lead = d.help.pop().unwrap_or_default();
    let peak = crate::numeric::decimal::sig_up(loss.peak(), 3);
    let way = super::bounded::way("beta_div", std::rc::Rc::new(loss), 1, scene, &arguments::Arguments::default());
    let solved = scene.allotment.and_then(|limit| solve(scene.site, way.as_ref(), limit));
    let solved = solved.filter(|_| mechanism == "beta_div").map_or_else(String::new, |x| format!(", {}", knob_text(way.as_ref(), x)));
    d.help(format!("{lead}\n    {line}      M = {peak}{solved}\nThe bound truncates the prior; it does not clip data."))
}

/// A refused regression with the ideal posterior of bounded loss among its Help lines.
pub fn or_bounded_loss(scene: &Scene, mut d: Diagnostic) -> Diagnostic {
    let offer = scene.offer(&arguments::Arguments::default());
    let way = offer.asked.ways.iter().find(|w| w.mechanism() == "beta_div");
    let (Some(way), Some(limit)) = (way, scene.allotment) else { return d };
    let Some(x) = solve(scene.site, way.as_ref(), limit) else { return d };
    let (using, beta) = (format!("using {}", way.written("")), knob_text(way.as_ref(), x));
    let lines: Vec<String> = d.help.drain(..).flat_map(|h| h.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let (first, last) = (lines.first().cloned().unwrap_or_default(), lines.last().cloned().unwrap_or_default());
    match d.code {
        "E0303" => d.help(format!("{first}\nor a bounded loss:     {using}     any link; here {beta}")),
        "E0304" => d.help(format!("{using}      bounded loss, any network: budget {} gives {beta}\n{last}", super::budget::short(limit))),
        _ => Diagnostic { help: vec![lines.join("\n")], ..d },
    }
}

/// The line that offers the same beta with a weight: `or temper it:      using beta_div(beta = 1.2, weight = 0.6) ..`.
pub fn tempered(scene: &Scene, way: &dyn Way, value: f64, limit: &BudgetKind) -> Option<String> {
    // Every number as it is printed.
    let number = |text: &str| text.split_once(" = ").and_then(|(_, x)| x.parse::<f64>().ok());
    let beta = knob_text(way, value);
    let other = way.tempered(number(&beta)?)?;
    let weight = knob_text(other.as_ref(), solve(scene.site, other.as_ref(), limit)?);
    let claim = cost(scene.site, other.as_ref(), number(&weight)?)?;
    let using = other.written(&format!("{beta}, {weight}"));
    Some(format!("or temper it:      using {using}                {}", against(&claim, limit).0))
}

/// The same mechanism with nothing written, where that meets the limit.
pub fn bare(scene: &Scene, way: &dyn Way, limit: &BudgetKind) -> Option<String> {
    let offer = scene.offer(&arguments::Arguments::default());
    let other = offer.ways.iter().chain(&offer.asked.ways).find(|w| w.rule() == way.rule() && w.mechanism() == way.mechanism())?;
    let x = solve(scene.site, other.as_ref(), limit)?;
    Some(format!("leave the arguments out:    using {}    {}", other.mechanism(), knob_text(other.as_ref(), x)))
}
