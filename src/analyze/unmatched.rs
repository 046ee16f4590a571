//! The complaints where no rule has the shape of the model: what was tried, and what comes nearest.

use super::scene::Scene;
use super::solve::solve;
use crate::model::print::likelihood_text;
use crate::rules::Judged;
use crate::rules::arguments::Mechanism;
use crate::rules::offer::Offer;
use crate::source::Diagnostic;

/// E0300: no rule has the shape of the model.
pub fn not_in_this_version(scene: &Scene, judged: &Judged) -> Diagnostic {
    let mut diagnostic = Diagnostic::new("E0300", "no rule in this version covers this model")
        .label(scene.place(), format!("no proved guarantee for `{}`", scene.site.release.name));
    if let Some(model) = &scene.model {
        for o in &model.private {
            let text = likelihood_text(model, o, scene.program);
            diagnostic = diagnostic.label(o.likelihood.span, format!("the rows follow {text}"));
        }
    }
    let tried = closest(scene, judged);
    if !tried.is_empty() {
        diagnostic = diagnostic.note(tried_text(&tried));
    }
    if judged.usual().next().is_none() {
        let mut named: Vec<&Mechanism> = vec![];
        let meets = |o: &&dyn Offer| scene.allotment.is_none_or(|l| solve(scene.site, *o, l).is_some());
        let first = judged.by_name().filter(meets).filter(|o| {
            !named.contains(&o.mechanism()) && {
                named.push(o.mechanism());
                true
            }
        });
        return diagnostic.helps(first.map(|o| ("a bounded loss covers it:", format!("using {}", o.written("")))));
    }
    match judged.usual().find(|o| scene.allotment.is_some_and(|l| solve(scene.site, *o, l).is_some())) {
        Some(offer) => diagnostic.help(("one draw has a rule:", format!("using {}", offer.mechanism().name))),
        None => diagnostic,
    }
}

/// E0300 where one mechanism is meant.
pub fn no_rule_matches(scene: &Scene, subject: &str, why: &str) -> Diagnostic {
    Diagnostic::new("E0300", format!("{subject}: {why}")).label(scene.place(), "no rule of this mechanism matches")
}

/// The rules whose name mentions the likelihood or the prior of the model; all of them if none does.
pub fn closest<'a>(scene: &Scene, judged: &'a Judged) -> Vec<(&'a str, &'a str)> {
    let all = || judged.unmatched.iter().filter(|(rule, _)| !rule.by_name()).map(|(rule, r)| (rule.name, r.as_str()));
    let Some(model) = &scene.model else { return all().collect() };
    // Rows with a linear predictor are a matter of the rules for regression.
    let regression = |family: &str| ["_logit", "_probit", "_cloglog", "_log"].iter().any(|link| family.ends_with(link));
    if model.private.iter().any(|o| regression(o.likelihood.name())) {
        return all().filter(|(n, _)| n.contains("glm")).collect();
    }
    let word = |family: &str| family.split('_').next().unwrap_or(family).to_owned();
    let likelihoods: Vec<String> = model.private.iter().map(|o| word(o.likelihood.name())).collect();
    let priors: Vec<String> = model.parameters.iter().map(|p| word(p.prior.name())).collect();
    let names = |words: &[String]| {
        let found: Vec<(&'a str, &'a str)> = all().filter(|(n, _)| words.iter().any(|w| n.contains(w.as_str()))).collect();
        found
    };
    [names(&likelihoods), names(&priors)].into_iter().find(|l| !l.is_empty()).unwrap_or_else(|| all().collect())
}

/// `rules tried: beta_bernoulli   prior must be beta(a, b)   [no]`, one rule a line, aligned.
pub fn tried_text(rules: &[(&str, &str)]) -> String {
    let name = rules.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
    let reason = rules.iter().map(|(_, r)| r.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = rules
        .iter()
        .enumerate()
        .map(|(i, (n, r))| {
            let lead = if i == 0 { "rules tried: " } else { "             " };
            format!("{lead}{n:name$}   {r:reason$}   [no]")
        })
        .collect();
    lines.join("\n")
}
