//! `dpm compare`: every mechanism for every release, least predicted error first; with `--want` what a wanted accuracy takes.

use super::{Exit, Program, complain, inputs, print_json, progress, verdict, want};
use crate::analyze::{Candidate, candidates_text};
use crate::pipeline;
use crate::source::render;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct Compare {
    #[command(flatten)]
    program: Program,
    /// Instead: the least budget, and the least number of rows, at which a release is predicted to be so near: 'p_hat within 0.02'
    #[arg(long, value_name = "RELEASE within ERROR")]
    want: Option<want::Wish>,
}

pub fn compare(Compare { program: args, want: wish }: &Compare) -> Exit {
    let checked = match inputs::program(&args.file, &args.public.public) {
        Ok(c) => c,
        Err(exit) => return exit,
    };
    let public = match inputs::public(&checked.program, &args.public.public) {
        Ok(p) => p,
        Err(exit) => return exit,
    };
    if let Some(wish) = wish.as_ref().filter(|_| !checked.has_errors()) {
        return want::answer(args, wish, &checked, &public);
    }
    let (analysis, diagnostics) = progress::with_spinner("comparing", || pipeline::analyze(&checked, &public, true));
    if !args.json {
        complain(&checked.sources, &diagnostics);
    }
    let Some(mut analysis) = analysis else {
        if args.json {
            print_json(&render::json(&checked.sources, &diagnostics));
        }
        return verdict(&diagnostics);
    };
    for release in &mut analysis.releases {
        release.candidates.sort_by(|a, b| rank(a).total_cmp(&rank(b)).then(a.noise.total_cmp(&b.noise)));
    }
    if args.json {
        let releases: Vec<Value> = analysis
            .releases
            .iter()
            .map(|r| json!({"name": r.name, "mechanisms": r.candidates.iter().map(mechanism).collect::<Vec<_>>()}))
            .collect();
        print_json(&json!({"diagnostics": super::list(&checked.sources, &diagnostics), "releases": releases}));
    } else {
        for release in &analysis.releases {
            show!("{}", candidates_text(release));
        }
    }
    verdict(&diagnostics)
}

/// Mechanisms that do not apply come last, in table order.
fn rank(c: &Candidate) -> f64 {
    match &c.predicted_error {
        Some(e) if c.applies => e.value,
        _ => f64::INFINITY,
    }
}

fn mechanism(c: &Candidate) -> Value {
    json!({
        "mechanism": c.mechanism,
        "rule": c.rule,
        "applies": c.applies,
        "reason": c.reason,
        "parameters": super::check::parameters_json(&c.parameters),
        "predicted_error": c.predicted_error.as_ref().map(|e| json!({"measure": e.measure, "value": e.value})),
        "predicted": c.predicted_error.iter().flat_map(|e| &e.further).map(|(name, x)| ((*name).to_owned(), json!(x))).collect::<serde_json::Map<_, _>>(),
        "status": c.applies.then(|| c.status.name()),
    })
}
