//! `dpm check`: is the program right, and what would each release cost?

use super::{Check, Exit, complain, emit, inputs, print_json, progress, verdict};
use crate::analyze::{Analysis, candidates_text};
use crate::pipeline;
use serde_json::{Value, json};

pub fn check(Check { program: args, emit: phase }: &Check) -> Exit {
    let checked = match inputs::program(&args.file, &args.public.public) {
        Ok(c) => c,
        Err(exit) => return exit,
    };
    let public = match inputs::public(&checked.program, &args.public.public) {
        Ok(p) => p,
        Err(exit) => return exit,
    };
    let (analysis, diagnostics) =
        progress::with_spinner("certifying", || pipeline::analyze(&checked, &public, args.json || *phase == Some(emit::Phase::Offers)));
    if args.json {
        let releases = analysis.as_ref().map(releases_json).unwrap_or_default();
        print_json(&json!({"diagnostics": super::list(&checked.sources, &diagnostics), "releases": releases}));
    } else {
        complain(&checked.sources, &diagnostics);
        if let Some(phase) = phase {
            show!("{}", emit::text(*phase, &checked, analysis.as_ref()));
        } else if let Some(analysis) = &analysis {
            show!("{}", text(analysis, verdict(&diagnostics)));
        }
    }
    verdict(&diagnostics)
}

fn text(analysis: &Analysis, exit: Exit) -> String {
    let mut out = String::new();
    for release in &analysis.releases {
        if release.hole {
            out.push_str(&candidates_text(release));
        }
    }
    if exit == Exit::Done {
        out.push_str(&crate::analyze::summary_text(analysis));
    }
    out
}

pub fn releases_json(analysis: &Analysis) -> Vec<Value> {
    let release = |r: &crate::analyze::ReleaseAnalysis| {
        let rules: Vec<Value> = r
            .candidates
            .iter()
            .map(|c| {
                json!({
                    "mechanism": c.mechanism,
                    "rule": c.rule,
                    "applies": c.applies,
                    "reason": c.reason,
                    "parameters": parameters_json(&c.parameters),
                })
            })
            .collect();
        json!({"name": r.name, "rules": rules})
    };
    analysis.releases.iter().map(release).collect()
}

pub fn parameters_json(parameters: &[crate::analyze::Parameter]) -> Value {
    let mut out = serde_json::Map::new();
    for p in parameters {
        out.insert(p.name.to_string(), json!(p.value));
    }
    Value::Object(out)
}
