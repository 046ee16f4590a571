//! One HTML page that explains what a program releases, at what risk, and why that is certified.

mod curves;
mod errors;
mod released;
mod risk;

pub use curves::{Kind, chart};
pub use errors::errors;
pub use released::released;

use crate::analyze::ReleaseAnalysis;
use crate::compiled::Compiled;
use crate::model::{Program, Relation, Table, print::number};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;
use crate::privacy::certificate::Certificate;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn up(x: f64) -> String {
    if x.is_finite() { sig_up(x, 4) } else { "none".into() }
}

/// The page of a certified program; with the released values by name (as `dpm run -o` writes them), also those.
pub fn page(compiled: &Compiled, values: Option<&serde_json::Value>) -> String {
    let Compiled { checked, analysis, certificate, .. } = compiled;
    let title = escaped(&certificate.program.file);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}: privacy report</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>\n"
    );
    summary(compiled, &mut out);
    neighbours(&checked.program, &mut out);
    listing(compiled, &mut out);
    if let Some(total) = &analysis.total {
        risk::section(total, &mut out);
        composition(compiled, total, &mut out);
        pictures(compiled, total, values, &mut out);
    }
    for (r, facts) in analysis.releases.iter().zip(&certificate.releases) {
        let _ = write!(
            out,
            "<section><h2>Why: {}</h2><p><code>{}</code> by <b>{}</b>, rule <b>{}</b> (<code>dpm explain {}</code>), status <b>{}</b>.</p><ul class=\"premises\">",
            escaped(&r.name),
            escaped(&r.query),
            facts.mechanism,
            facts.rule,
            facts.rule,
            facts.status
        );
        for p in &facts.premises {
            let place = p.place.map_or(String::new(), |(line, _)| format!(" <a href=\"#line{line}\">line {line}</a>"));
            let _ = write!(out, "<li>{}{place}</li>", escaped(&p.text));
        }
        let parameters: Vec<String> = facts.parameters.iter().map(|(n, x, _)| format!("{n} = {}", number(*x))).collect();
        let parameters = if parameters.is_empty() { "none".to_string() } else { parameters.join(", ") };
        let _ = writeln!(
            out,
            "</ul><p>Parameters: {}. Sampler: {}. Predicted error ({}): about {:.3}; a prediction, it bounds nothing.</p></section>",
            escaped(&parameters),
            facts.sampler,
            escaped(&facts.measure),
            facts.predicted_error
        );
    }
    assumptions(certificate, &mut out);
    out.push_str("</main></body></html>\n");
    out
}

fn summary(compiled: &Compiled, out: &mut String) {
    let Compiled { analysis, certificate, .. } = compiled;
    let status = analysis.status.name();
    let note = match status {
        "conditional" => "<p class=\"warn\">CONDITIONAL: the guarantee holds only if a chain has converged, which nothing proves.</p>",
        _ => "",
    };
    let _ = write!(
        out,
        "{note}<table class=\"facts\"><tr><th scope=\"row\">releases</th><td>{}</td></tr><tr><th scope=\"row\">status</th><td>{status}</td></tr>",
        analysis.releases.len()
    );
    if let Some(total) = &analysis.total {
        let _ = write!(out, "<tr><th scope=\"row\">total</th><td>({}, 1e-6)-DP", up(total.epsilon(1e-6)));
        for (name, value) in [("pure epsilon", total.pure()), ("zCDP", total.zcdp()), ("GDP", total.gdp())] {
            if value.is_finite() {
                let _ = write!(out, "; {name} {}", up(value));
            }
        }
        if total.max_order().is_finite() {
            let _ = write!(out, "; Rényi orders below {}", sig_down(total.max_order(), 4));
        }
        out.push_str("</td></tr>");
    }
    if let Some(budget) = &certificate.budget {
        let met = if budget.met { "met" } else { "NOT MET" };
        let _ = write!(out, "<tr><th scope=\"row\">budget</th><td>{} {met}</td></tr>", escaped(&crate::analyze::budget_text(&budget.kind)));
    }
    let _ = writeln!(out, "<tr><th scope=\"row\">digest</th><td><code>{}</code></td></tr></table>", certificate.digest());
}

fn neighbours(program: &Program, out: &mut String) {
    out.push_str("<section><h2>Who is protected</h2><ul>");
    for t in program.tables.iter().filter(|t| t.private) {
        let _ = write!(out, "<li><code>{}</code>: {}</li>", escaped(&t.name), escaped(&relation(t)));
    }
    out.push_str("</ul><p>The certificate bounds how much anyone who sees the releases can learn about one such unit, whatever else they know.</p></section>\n");
}

fn relation(t: &Table) -> String {
    let unit = t.unit_in_words();
    match t.relation {
        Relation::ReplaceOne => format!("neighbouring data sets differ in {unit}, replaced by any other; the number of rows is public"),
        Relation::AddRemove => format!("neighbouring data sets differ in {unit}, added or removed; the number of rows is secret"),
    }
}

/// The program, each release's cost beside its line.
fn listing(compiled: &Compiled, out: &mut String) {
    let Compiled { checked, analysis, .. } = compiled;
    let text = checked.sources.get(checked.main).map_or("", |f| f.text.as_str());
    let mut costs = std::collections::BTreeMap::new();
    for r in &analysis.releases {
        if r.span.file == checked.main {
            costs.entry(checked.sources.line_column(r.span.file, r.span.start).0).or_insert_with(Vec::new).push(cost(r));
        }
    }
    out.push_str("<section><h2>The program</h2><ol class=\"program\">");
    for (i, line) in text.lines().enumerate() {
        let cost = costs.get(&(i + 1)).map_or(String::new(), |c| format!("<span class=\"cost\">{}</span>", escaped(&c.join("; "))));
        let _ = write!(out, "<li id=\"line{}\"><code>{}</code>{cost}</li>", i + 1, escaped(line));
    }
    out.push_str("</ol></section>\n");
}

fn cost(r: &ReleaseAnalysis) -> String {
    let Some(c) = &r.chosen else { return "no mechanism".into() };
    format!("{}: ({}, 1e-6)-DP, {}", r.name, up(c.claim.epsilon(1e-6)), c.status.name())
}

fn composition(compiled: &Compiled, total: &Claim, out: &mut String) {
    out.push_str("<section><h2>How the costs add up</h2><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"costs\"><table class=\"numbers\"><tr>");
    for (i, head) in ["release", "mechanism", "epsilon at 1e-6", "pure", "zCDP", "GDP", "orders below"].iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{head}</th>", if i == 0 { " class=\"name\"" } else { "" });
    }
    out.push_str("</tr>");
    let mut row = |name: &str, mechanism: &str, c: &Claim| {
        let limit = if c.max_order().is_finite() { sig_down(c.max_order(), 4) } else { "all".into() };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{mechanism}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{limit}</td></tr>",
            escaped(name),
            up(c.epsilon(1e-6)),
            up(c.pure()),
            up(c.zcdp()),
            up(c.gdp())
        );
    };
    for r in &compiled.analysis.releases {
        if let Some(c) = &r.chosen {
            row(&r.name, c.mechanism.name, &c.claim);
        }
    }
    row("total", "", total);
    out.push_str("</table></div><p>Every number is an upper bound of its own (limits are lower bounds).</p></section>\n");
}

fn pictures(compiled: &Compiled, total: &Claim, values: Option<&serde_json::Value>, out: &mut String) {
    out.push_str("<section><h2>Pictures</h2><div class=\"pictures\">");
    let budget = compiled.checked.program.budget.as_ref();
    let claims = [("certified".to_string(), total)];
    let mut charts = vec![
        (chart(Kind::Rdp, "Rényi epsilon by order", &claims, budget), "what the releases cost at every Rényi order, together"),
        (chart(Kind::Dp, "epsilon by delta", &claims, budget), "epsilon for every delta, together"),
        (chart(Kind::Tradeoff, "an attacker's trade-off", &claims, budget), "the most hits of any attacker at every rate of false alarms"),
    ];
    let program = &compiled.checked.program;
    for (name, predicted) in errors(program, &compiled.bound, &compiled.checked.sources) {
        charts.push((predicted, "predicted error by mechanism and size of the budget; it bounds nothing"));
        let value = values.and_then(|v| v.get(&name));
        charts.push((value.and_then(|v| released(program, &name, v)), "what was released, and what was assumed before"));
    }
    for (chart, caption) in charts {
        let Some(chart) = chart else { continue };
        let Some(svg) = chart.svg(460, 380) else { continue };
        let title = escaped(&chart.title);
        let _ = write!(
            out,
            "<figure><div role=\"img\" aria-label=\"{title}: {caption}\">{}</div><figcaption>{title}: {caption}</figcaption></figure>",
            scalable(&svg)
        );
    }
    out.push_str("</div></section>\n");
}

/// The picture shrinks with the page.
fn scalable(svg: &str) -> String {
    svg.replacen("<svg width=\"460\" height=\"380\" ", "<svg class=\"chart\" ", 1)
}

fn assumptions(certificate: &Certificate, out: &mut String) {
    out.push_str("<section><h2>What this rests on</h2><ul>");
    certificate.assumptions.iter().for_each(|a| {
        let _ = write!(out, "<li>{}</li>", escaped(a));
    });
    let _ = writeln!(
        out,
        "</ul><p>To check every number by separate code: <code>dpm certify {0} -o cert.json</code>, then <code>dpm verify cert.json --program {0}</code>. \
         To attack it: <code>dpm audit {0}</code>.</p></section>",
        escaped(&certificate.program.file)
    );
}
