//! Posteriors known by draws of chains: the middle of every number as a table and as a picture.

use crate::plot::{Axis, Chart, Line};
use maud::{Markup, html};
use serde_json::Value;

/// More lines than this cannot be told apart.
const SHOWN: usize = 16;

/// Of every number its name and what was recorded of it; nothing for other values.
fn numbers(value: &Value) -> Vec<(&str, &Value)> {
    let draws = value.get("family").and_then(Value::as_str) == Some("draws");
    let all = value.get("numbers").and_then(Value::as_object).filter(|_| draws);
    all.into_iter().flatten().map(|(name, number)| (name.as_str(), number)).collect()
}

/// The middle 90 % of every number, with its median.
pub fn intervals(name: &str, value: &Value) -> Option<Chart> {
    let all = numbers(value);
    let line = |(i, (number, s)): (usize, &(&str, &Value))| {
        let at = |what: &str| s.get(what).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let y = -(i as f64) - 1.0;
        let (gap, points) = ((f64::NAN, f64::NAN), [(at("q5"), y), (at("q95"), y)]);
        let median = [(at("median"), y - 0.25), (at("median"), y + 0.25)];
        let name = if number.is_empty() { name } else { number };
        Line { name: name.to_owned(), points: [&points[..], &[gap], &median].concat(), dashed: false }
    };
    let lines: Vec<Line> = all.iter().take(SHOWN).enumerate().map(line).collect();
    let x = Axis::around("value", lines.iter().flat_map(|l| &l.points).map(|p| p.0), false)?;
    let shown = if all.len() > SHOWN { format!(", {SHOWN} of its {} numbers", all.len()) } else { String::new() };
    let y = Axis { name: "numbers, the first on top".into(), lo: -(lines.len() as f64) - 0.5, hi: -0.5, logarithmic: false };
    Some(Chart { title: format!("{name}: median and middle 90 %{shown}"), x, y, lines })
}

/// The table of every posterior that chains computed.
pub(super) fn section(values: &Value) -> Markup {
    let all = values.as_object().into_iter().flatten().filter(|(_, v)| !numbers(v).is_empty());
    let heads = [("mean", "mean"), ("sd", "sd"), ("q5", "5 %"), ("median", "50 %"), ("q95", "95 %"), ("mcse", "MCSE")];
    let more = [("ess_bulk", "ESS bulk", 0), ("ess_tail", "ESS tail", 0), ("rhat", "R-hat", 3)];
    let text = |s: &Value, what: &str, digits: usize| s.get(what).and_then(Value::as_f64).map_or("-".into(), |x| format!("{x:.digits$}"));
    html! {
        @for (name, value) in all {
            section {
                h2 { "What chains say: " (name) }
                div class="wide" tabindex="0" role="region" aria-label=(name) {
                    table class="numbers" {
                        tr {
                            th scope="col" class="name" { "number" }
                            @for (_, head) in heads { th scope="col" { (head) } }
                            @for (_, head, _) in more { th scope="col" { (head) } }
                        }
                        @for (number, s) in numbers(value) {
                            tr {
                                th scope="row" { @if number.is_empty() { (name) } @else { (number) } }
                                @for (what, _) in heads { td { (text(s, what, 4)) } }
                                @for (what, _, digits) in more { td { (text(s, what, digits)) } }
                            }
                        }
                    }
                }
                p { "Computed from released values alone: free. R-hat above 1.01, or fewer than 400 effective draws, means that the chains are not to be trusted." }
            }
        }
    }
}
