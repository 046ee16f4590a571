//! The report of an audit as one HTML page without outside parts.

use super::{Outcome, ReleaseAudit};
use crate::plot::{Axis, Chart, Line};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;margin:1rem 0}th,td{border-bottom:1px solid #ccc;padding:.25rem .75rem;text-align:right}\
th:first-child,td:first-child{text-align:left}figure{margin:1rem 0;background:#fff}svg{max-width:100%;height:auto}\
.bad{color:#a00;font-weight:bold}@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}th,td{border-color:#444}.bad{color:#ff8080}}";

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
    Chart {
        title: format!("{}: telling two neighbours apart", r.name),
        x: unit("false positive rate"),
        y: unit("true positive rate"),
        lines,
    }
    .svg(640, 480)
}

fn release(r: &ReleaseAudit) -> Markup {
    html! {
        h2 { (r.name) }
        p {
            (r.mechanism) " (rule " (r.rule) "), " (r.trials) " draws from each of two neighbours: " (r.neighbours) ". Draws are ranked by "
            (r.score.words()) ". The lower bounds of the attack hold together with probability " (r.confidence) ". Result: "
            @if r.ok { (r.verdict()) } @else { span class="bad" { (r.verdict()) } }
            "."
        }
        table {
            tr { th { "delta" } th { "attack: epsilon at least" } th { "by integration" } th { "certified" } }
            @for b in &r.bounds {
                tr { td { (delta(b.delta)) } td { (shown(b.attack)) } td { (b.exact.map_or("-".into(), shown)) } td { (shown(b.certified)) } }
            }
        }
        @if !r.exact.is_empty() {
            table {
                tr { th { "Rényi order" } th { "by integration" } th { "certified" } }
                @for e in &r.exact { tr { td { (e.order) } td { (shown(e.found)) } td { (shown(e.certified)) } } }
            }
        }
        @if let Some(law) = &r.law {
            p { (format!("Distribution of the draws: Kolmogorov-Smirnov distance {:.5}, p = {:.3}.", law.distance, law.p_value)) }
        }
        @if let Some(svg) = curves(r) {
            figure role="img" aria-label="true positive rate against false positive rate" { (PreEscaped(svg)) }
        }
    }
}

/// The page.
pub fn page(program: &str, outcomes: &[Outcome]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { "Audit of " (program) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Audit of " (program) }
                p {
                    "Rows are made up from the declared types and the numbers of the release. An audit is evidence: it gives lower bounds on "
                    "what an attacker learns. A lower bound at or below the certificate does not prove the certificate."
                }
                @for outcome in outcomes {
                    @match outcome {
                        Ok(r) => (release(r)),
                        Err(n) => { h2 { (n.name) } p { "Not audited: " (n.reason) "." } },
                    }
                }
            }
        }
    };
    page.into_string() + "\n"
}
