//! What came out, first of all: every released value and output with what it is worth.

use crate::analyze::Analysis;
use crate::numeric::decimal::sig;
use crate::privacy::certificate::ReleaseFacts;
use crate::run::marginals_from_json;
use maud::{Markup, html};
use serde_json::Value;

/// Numbers of one value that are shown.
const SHOWN: usize = 40;

/// One number with its name and what is known of it.
struct Row {
    name: String,
    value: String,
    spread: String,
}

/// The table of results; nothing before a run.
pub(super) fn section(analysis: &Analysis, facts: &[ReleaseFacts], values: &Value) -> Markup {
    let all: Vec<(&String, &Value)> = values.as_object().into_iter().flatten().collect();
    html! {
        section {
            h2 { "What came out" }
            div class="wide" tabindex="0" role="region" aria-label="results" {
                table class="numbers" {
                    tr { @for head in ["", "value", "how good it is"] { th scope="col" { (head) } } }
                    @for (name, value) in all {
                        @for row in rows(name, value, facts.iter().find(|f| f.name == *name)) {
                            tr { th scope="row" { (row.name) } td { (row.value) } td class="words" { (row.spread) } }
                        }
                    }
                }
            }
            p {
                "Released values were drawn at random, so another run would give others. What is computed from them (an output) costs nothing. "
                @if analysis.releases.len() == 1 { "One value was released." } @else { (analysis.releases.len()) " values were released." }
            }
        }
    }
}

/// A posterior by its mean and middle 90 %, anything else by its numbers.
fn rows(name: &str, value: &Value, facts: Option<&ReleaseFacts>) -> Vec<Row> {
    if let Some(marginals) = marginals_from_json(value) {
        let count = marginals.len();
        let one = |(i, p): (usize, crate::run::Posterior)| {
            let q = p.quantiles(&[0.05, 0.95]);
            let at = |i: usize| q.get(i).map_or("-".into(), |x| sig(*x, 4));
            let name = if count == 1 { name.to_owned() } else { format!("{name}[{}]", i + 1) };
            let mean = p.mean().first().map_or("-".into(), |x| sig(*x, 4));
            Row { name, value: format!("mean {mean}"), spread: format!("with probability 90 % from {} to {}", at(0), at(1)) }
        };
        return marginals.into_iter().take(SHOWN).enumerate().map(one).collect();
    }
    let mut found = vec![];
    leaves(name, value, &mut found);
    let spread = facts.map_or("computed from what was released".to_owned(), |f| {
        format!("{}: about {} (an estimate)", f.measure, sig(f.predicted_error, 3))
    });
    found.truncate(SHOWN);
    found.into_iter().map(|(name, value)| Row { name, value, spread: spread.clone() }).collect()
}

/// Every number below a value, with its name; what chains say has a table of its own.
fn leaves(name: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(parts) if parts.get("family").is_some() => {}
        Value::Object(parts) => parts.iter().for_each(|(k, v)| leaves(&format!("{name}[{k}]"), v, out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| leaves(&format!("{name}[{}]", i + 1), v, out)),
        Value::Number(n) if n.as_i64().is_some() => out.push((name.to_owned(), n.to_string())),
        Value::Number(n) => out.push((name.to_owned(), n.as_f64().map_or("-".into(), |x| sig(x, 4)))),
        other => out.push((name.to_owned(), other.to_string())),
    }
}
