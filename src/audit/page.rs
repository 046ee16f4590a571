//! The report of an audit as one HTML page without outside parts.

use super::{Outcome, ReleaseAudit};
use crate::plot::{Axis, Chart, Line};
use std::fmt::Write;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;margin:1rem 0}th,td{border-bottom:1px solid #ccc;padding:.25rem .75rem;text-align:right}\
th:first-child,td:first-child{text-align:left}figure{margin:1rem 0;background:#fff}svg{max-width:100%;height:auto}\
.bad{color:#a00;font-weight:bold}@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}.bad{color:#ff8080}}";

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn shown(x: f64) -> String {
    if x.is_finite() { format!("{x:.4}") } else { "no bound".into() }
}

/// `0`, `1e-6`
fn delta(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:e}") }
}

/// Hits against false alarms: the attacker's curve must stay below the certificate's.
fn curves(r: &ReleaseAudit) -> Option<String> {
    let unit = |name: &str| Axis { name: name.into(), lo: 0.0, hi: 1.0, logarithmic: false };
    let line = |name: &str, points: &[(f64, f64)], dashed| Line { name: name.into(), points: points.to_vec(), dashed };
    let lines = vec![
        line("attack", &r.roc, false),
        line("most that the certificate allows", &r.certified_roc, false),
        line("guessing", &[(0.0, 0.0), (1.0, 1.0)], true),
    ];
    Chart { title: format!("{}: telling two neighbours apart", r.name), x: unit("false alarms"), y: unit("hits"), lines }.svg(640, 480)
}

fn release(r: &ReleaseAudit, out: &mut String) {
    let verdict = if r.ok { r.verdict().to_owned() } else { format!("<span class=bad>{}</span>", r.verdict()) };
    let _ = write!(
        out,
        "<h2>{}</h2><p>{} (rule {}), {} draws from each of two neighbours: {}. Draws are ranked by {}. The lower bounds of the attack hold together with \
         probability {}. Result: {verdict}.</p>",
        escaped(&r.name),
        r.mechanism,
        r.rule,
        r.trials,
        escaped(&r.neighbours),
        r.score.words(),
        r.confidence
    );
    out.push_str("<table><tr><th>delta</th><th>attack: epsilon at least</th><th>by integration</th><th>certified</th></tr>");
    for b in &r.bounds {
        let exact = b.exact.map_or("-".into(), shown);
        let _ =
            write!(out, "<tr><td>{}</td><td>{}</td><td>{exact}</td><td>{}</td></tr>", delta(b.delta), shown(b.attack), shown(b.certified));
    }
    out.push_str("</table>");
    if !r.exact.is_empty() {
        out.push_str("<table><tr><th>Rényi order</th><th>by integration</th><th>certified</th></tr>");
        for e in &r.exact {
            let _ = write!(out, "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", e.order, shown(e.found), shown(e.certified));
        }
        out.push_str("</table>");
    }
    if let Some(law) = &r.law {
        let _ = write!(out, "<p>Law of the draws: Kolmogorov distance {:.5}, p = {:.3}.</p>", law.distance, law.p_value);
    }
    if let Some(svg) = curves(r) {
        let _ = write!(out, "<figure role=img aria-label=\"hits against false alarms\">{svg}</figure>");
    }
}

/// The page.
pub fn page(program: &str, outcomes: &[Outcome]) -> String {
    let mut out = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>Audit of {0}</title><style>{STYLE}</style></head><body><h1>Audit of {0}</h1>\
         <p>Rows are made up from the declared types and the numbers of the release. An audit is evidence: it gives lower bounds on what an attacker \
         learns. A lower bound at or below the certificate does not prove the certificate.</p>",
        escaped(program)
    );
    for outcome in outcomes {
        match outcome {
            Ok(r) => release(r, &mut out),
            Err(n) => {
                let _ = write!(out, "<h2>{}</h2><p>Not audited: {}.</p>", escaped(&n.name), escaped(&n.reason));
            }
        }
    }
    out.push_str("</body></html>\n");
    out
}
