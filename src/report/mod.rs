//! One HTML page that explains what a program releases, at what risk, and why that is certified.

mod curves;
mod errors;
mod intervals;
mod released;
mod results;
mod risk;

pub use curves::{Kind, chart};
pub use errors::errors;
pub use intervals::intervals;
pub use released::released;
pub use risk::{after, best_guess, chance};

use crate::analyze::{ReleaseAnalysis, Status};
use crate::compiled::Compiled;
use crate::model::{Program, Relation, Table, print::number};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::privacy::certificate::{Certificate, ReleaseFacts};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

fn up(x: f64) -> String {
    if x.is_finite() { sig_up(x, 4) } else { "none".into() }
}

/// The page of a certified program; with the released values by name (as `dpm run -o` writes them), also those.
pub fn page(compiled: &Compiled, values: Option<&serde_json::Value>) -> String {
    let Compiled { checked, analysis, certificate, .. } = compiled;
    let file = &certificate.program.file;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (file) ": privacy report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (file) }
                    @if let Some(values) = values {
                        (results::section(analysis, &certificate.releases, values))
                        (intervals::section(values))
                    }
                    (summary(compiled))
                    @if let Some(total) = &analysis.total { (risk::section(total)) }
                    (neighbours(&checked.program))
                    (listing(compiled))
                    @if let Some(total) = &analysis.total {
                        (composition(compiled, total))
                        (pictures(compiled, total, values))
                    }
                    @for (r, facts) in analysis.releases.iter().zip(&certificate.releases) { (why(r, facts)) }
                    (assumptions(certificate))
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn why(r: &ReleaseAnalysis, facts: &ReleaseFacts) -> Markup {
    let parameters: Vec<String> = facts.parameters.iter().map(|(n, x, _)| format!("{n} = {}", number(*x))).collect();
    let parameters = if parameters.is_empty() { "none".to_string() } else { parameters.join(", ") };
    html! {
        section {
            h2 { "Why: " (r.name) }
            p {
                code { (r.query) } " by " b { (facts.mechanism) } ", rule " b { (facts.rule) } " (" code { "dpm explain " (facts.rule) }
                "), status " b { (facts.status) } "."
            }
            ul class="premises" {
                @for p in &facts.premises {
                    li { (p.text) @if let Some((line, _)) = p.place { " " a href={ "#line" (line) } { "line " (line) } } }
                }
            }
            p {
                "Parameters: " (parameters) ". Sampler: " (facts.sampler) ". Predicted error (" (facts.measure) "): about "
                (format!("{:.3}", facts.predicted_error)) "; an estimate, not a guarantee."
            }
        }
    }
}

fn summary(compiled: &Compiled) -> Markup {
    let Compiled { analysis, certificate, .. } = compiled;
    let row = |head: &str, text: Markup| html! { tr { th scope="row" { (head) } td { (text) } } };
    let total = |total: &Claim| {
        let mut text = format!("({}, 1e-6)-DP", up(total.epsilon(1e-6)));
        for (name, value) in [("pure epsilon", total.pure()), ("zCDP", total.zcdp()), ("GDP", total.gdp())] {
            if value.is_finite() {
                text += &format!("; {name} {}", up(value));
            }
        }
        if total.max_order().is_finite() {
            text += &format!("; Rényi orders below {}", sig_down(total.max_order(), 4));
        }
        html! { (text) }
    };
    html! {
        @if analysis.status == Status::Conditional {
            p class="warn" { "CONDITIONAL: the guarantee holds only if a chain has converged, which cannot be proved." }
        }
        table class="facts" {
            (row("releases", html! { (analysis.releases.len()) }))
            (row("status", html! { (analysis.status.name()) }))
            @if let Some(claim) = &analysis.total { (row("total", total(claim))) }
            @if let Some(budget) = &certificate.budget {
                (row("budget", html! { (crate::analyze::budget_text(&budget.kind)) " " (if budget.met { "met" } else { "NOT MET" }) }))
            }
        }
    }
}

fn neighbours(program: &Program) -> Markup {
    html! {
        section {
            h2 { "Who is protected" }
            ul { @for t in program.tables.iter().filter(|t| t.private) { li { code { (t.name) } ": " (relation(t)) } } }
            p { "The certificate bounds how much anyone who sees the releases can learn about one such unit, whatever else they know." }
        }
    }
}

fn relation(t: &Table) -> String {
    let unit = t.unit_in_words();
    match t.relation {
        Relation::ReplaceOne => format!("neighbouring data sets differ in {unit}, replaced by any other; the number of rows is public"),
        Relation::AddRemove => format!("neighbouring data sets differ in {unit}, added or removed; the number of rows is secret"),
    }
}

/// The program, each release's cost beside its line.
fn listing(compiled: &Compiled) -> Markup {
    let Compiled { checked, analysis, .. } = compiled;
    let text = checked.sources.get(checked.main).map_or("", |f| f.text.as_str());
    let mut costs = std::collections::BTreeMap::new();
    for r in analysis.releases.iter().filter(|r| r.span.file == checked.main) {
        costs.entry(checked.sources.line_column(r.span.file, r.span.start).0).or_insert_with(Vec::new).push(cost(r));
    }
    html! {
        section {
            h2 { "The program" }
            ol class="program" {
                @for (number, line) in (1..).zip(text.lines()) {
                    li id={ "line" (number) } {
                        code { (line) }
                        @if let Some(costs) = costs.get(&number) { span class="cost" { (costs.join("; ")) } }
                    }
                }
            }
        }
    }
}

fn cost(r: &ReleaseAnalysis) -> String {
    let Some(c) = &r.chosen else { return "no mechanism".into() };
    format!("{}: ({}, 1e-6)-DP, {}", r.name, up(c.claim.epsilon(1e-6)), c.status.name())
}

fn composition(compiled: &Compiled, total: &Claim) -> Markup {
    let chosen = compiled.analysis.releases.iter().filter_map(|r| Some((r.name.as_str(), r.chosen.as_ref()?)));
    let rows = chosen.map(|(name, c)| (name, c.mechanism.name, &c.claim)).chain([("total", "", total)]);
    html! {
        section {
            h2 { "How the costs add up" }
            div class="wide" tabindex="0" role="region" aria-label="costs" {
                table class="numbers" {
                    tr {
                        th scope="col" class="name" { "release" }
                        @for head in ["mechanism", "epsilon at 1e-6", "pure", "zCDP", "GDP", "orders below"] { th scope="col" { (head) } }
                    }
                    @for (name, mechanism, c) in rows {
                        tr {
                            th scope="row" { (name) }
                            td { (mechanism) }
                            @for cost in [c.epsilon(1e-6), c.pure(), c.zcdp(), c.gdp()] { td { (up(cost)) } }
                            td { @if c.max_order().is_finite() { (sig_down(c.max_order(), 4)) } @else { "all" } }
                        }
                    }
                }
            }
            p { "Each number is a separate upper bound (limits on the order are lower bounds)." }
        }
    }
}

fn pictures(compiled: &Compiled, total: &Claim, values: Option<&serde_json::Value>) -> Markup {
    let budget = compiled.checked.program.budget.as_ref();
    let claims = [("certified".to_string(), total)];
    let mut charts = vec![
        (chart(Kind::Rdp, "Rényi epsilon by order", &claims, budget), "what the releases cost at every Rényi order, together"),
        (chart(Kind::Dp, "epsilon by delta", &claims, budget), "epsilon for every delta, together"),
        (
            chart(Kind::Tradeoff, "an attacker's trade-off", &claims, budget),
            "the highest true positive rate of any attacker at every false positive rate",
        ),
    ];
    let program = &compiled.checked.program;
    for (name, predicted) in errors(program, &compiled.bound, &compiled.checked.sources) {
        charts.push((predicted, "predicted error by mechanism and size of the budget: estimates, not guarantees"));
        let value = values.and_then(|v| v.get(&name));
        charts.push((value.and_then(|v| released(program, &name, v)), "what was released, and what was assumed before"));
    }
    let free = values.and_then(serde_json::Value::as_object).into_iter().flatten().filter_map(|(name, v)| intervals(name, v));
    charts.extend(free.map(|chart| (Some(chart), "computed by chains from released values")));
    let drawn =
        charts.into_iter().filter_map(|(chart, caption)| Some((chart.as_ref()?.svg(460, 380)?, format!("{}: {caption}", chart?.title))));
    html! {
        section {
            h2 { "Pictures" }
            div class="pictures" {
                @for (svg, caption) in drawn {
                    figure {
                        div role="img" aria-label=(caption) { (PreEscaped(scalable(&svg))) }
                        figcaption { (caption) }
                    }
                }
            }
        }
    }
}

/// The picture shrinks with the page.
fn scalable(svg: &str) -> String {
    svg.replacen("<svg width=\"460\" height=\"380\" ", "<svg class=\"chart\" ", 1)
}

fn assumptions(certificate: &Certificate) -> Markup {
    let file = &certificate.program.file;
    html! {
        section {
            h2 { "What this rests on" }
            ul { @for a in &certificate.assumptions { li { (a) } } }
            p { "Digest of the certificate: " code { (certificate.digest()) } }
            p {
                "To check every number by separate code: " code { "dpm certify " (file) " -o cert.json" } ", then "
                code { "dpm verify cert.json --program " (file) } ". To attack it: " code { "dpm audit " (file) } "."
            }
        }
    }
}
