//! `dpm audit`: attacks every release on made-up neighbours and compares with its certificate.

use super::{Exit, Program, complain, files, inputs, print_json, progress, verdict};
use crate::audit::{Options, Outcome, ReleaseAudit, audit, page};
use crate::mechanism::bits::OsBits;
use crate::pipeline;
use crate::source::render;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct Audit {
    #[command(flatten)]
    program: Program,
    /// Draws from each of two neighbouring data sets, 20 to 10 million (default: 20,000; 1,000 of a regression, 100 of a bounded loss)
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Attack this release alone
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Chance that all lower bounds of a release hold together
    #[arg(long, default_value_t = 0.999_999_999, value_name = "P")]
    confidence: f64,
    /// Write the report as one HTML page
    #[arg(short, value_name = "PAGE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Audit) -> Exit {
    if !(0.5..1.0).contains(&args.confidence) {
        return super::usage("--confidence must lie between 0.5 and 1");
    }
    if args.trials.is_some_and(|n| !(20..=10_000_000).contains(&n)) {
        return super::usage("--trials must lie between 20 and 10000000");
    }
    let checked = match inputs::program(&args.program.file, &args.program.public.public) {
        Ok(c) => c,
        Err(exit) => return exit,
    };
    let public = match inputs::public(&checked.program, &args.program.public.public) {
        Ok(p) => p,
        Err(exit) => return exit,
    };
    if public.tables.keys().any(|id| checked.program.tables.get(id.0).is_some_and(|t| t.private)) {
        return super::usage("`dpm audit` makes up its rows, public columns too: leave their --public out");
    }
    let (analysis, diagnostics) = pipeline::analyze(&checked, &public, false);
    let Some(analysis) = analysis.filter(|_| !diagnostics.iter().any(|d| d.is_error())) else {
        if args.program.json {
            print_json(&render::json(&checked.sources, &diagnostics));
        } else {
            complain(&checked.sources, &diagnostics);
        }
        return verdict(&diagnostics);
    };
    let only = args.release.as_deref();
    if let Some(name) = only.filter(|name| !analysis.releases.iter().any(|r| r.name == *name)) {
        return super::usage(&format!("the program has no release `{name}`"));
    }
    let output = match files::output(args.output.as_deref(), &files::read(&args.program, &checked)) {
        Ok(output) => output,
        Err(exit) => return exit,
    };
    let options = Options { trials: args.trials, confidence: args.confidence };
    let attack = || audit(&checked.program, &analysis, &public, only, options, &mut OsBits::new()?);
    let outcomes = match progress::with_spinner("attacking", attack) {
        Ok(outcomes) => outcomes,
        Err(why) => {
            super::say_error(&why.to_string());
            return Exit::Bug;
        }
    };
    let file = args.program.file.file_name().map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    if args.program.json {
        print_json(&json!({"releases": outcomes.iter().map(|o| to_json(o, args.confidence)).collect::<Vec<_>>()}));
    } else {
        outcomes.iter().for_each(show);
    }
    // Last: what was found is not lost to a page that cannot be written.
    let written = output.map_or(Exit::Done, |output| output.write(page(&file, &outcomes).as_bytes()));
    if written != Exit::Done {
        return written;
    }
    let failed = outcomes.iter().any(|o| o.as_ref().is_ok_and(|r| !r.ok));
    if failed { Exit::Failed } else { Exit::Done }
}

/// Numbers; what has no bound is the string of certificates.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { json!("inf") }
}

fn to_json(outcome: &Outcome, confidence: f64) -> Value {
    let r = match outcome {
        Ok(r) => r,
        Err(n) => {
            let (name, reason) = (&n.name, &n.reason);
            return json!({"name": name, "audited": false, "reason": reason, "trials": 0, "confidence": confidence, "lower_bounds": [], "certified": [], "ok": null});
        }
    };
    json!({
        "name": r.name,
        "audited": true,
        "mechanism": r.mechanism,
        "rule": r.rule,
        "trials": r.trials,
        "confidence": r.confidence,
        "neighbours": r.neighbours,
        "score": r.score.name(),
        "lower_bounds": r.bounds.iter().map(|b| json!({"delta": b.delta, "epsilon": b.attack})).collect::<Vec<_>>(),
        "integrals": r.bounds.iter().filter_map(|b| Some(json!({"delta": b.delta, "epsilon": b.exact?}))).collect::<Vec<_>>(),
        "certified": r.bounds.iter().map(|b| json!({"delta": b.delta, "epsilon": number(b.certified)})).collect::<Vec<_>>(),
        "renyi": r.exact.iter().map(|e| json!({"order": e.order, "found": number(e.found), "certified": number(e.certified)})).collect::<Vec<_>>(),
        "law": r.law.as_ref().map(|l| json!({"distance": l.distance, "p_value": l.p_value})),
        "roc": r.roc,
        "certified_roc": r.certified_roc,
        "ok": r.ok,
    })
}

fn show(outcome: &Outcome) {
    match outcome {
        Ok(r) => show_release(r),
        Err(n) => show_line!("{}: not audited: {}\n", n.name, n.reason),
    }
}

/// `0`, `1e-6`
fn delta(x: f64) -> String {
    if x == 0.0 { "0".into() } else { format!("{x:e}") }
}

fn show_release(r: &ReleaseAudit) {
    let number = |x: f64| match x {
        x if !x.is_finite() => "none".into(),
        x if x > 0.0 && x < 1e-3 => format!("{x:.3e}"),
        x => format!("{x:.4}"),
    };
    show_line!("{}: {} ({}), {} draws from each of two neighbours", r.name, r.mechanism, r.rule, r.trials);
    show_line!("  {}", r.neighbours);
    show_line!("  draws are ranked by {}", r.score.words());
    show_line!("  {:>8}  {:>16}  {:>14}  {:>9}", "delta", "attack: at least", "by integration", "certified");
    for b in &r.bounds {
        let exact = b.exact.map_or("-".into(), number);
        show_line!("  {:>8}  {:>16}  {exact:>14}  {:>9}", delta(b.delta), number(b.attack), number(b.certified));
    }
    if !r.exact.is_empty() {
        show_line!("  {:>8}  {:>16}  {:>14}  {:>9}", "order", "", "by integration", "certified");
        for e in &r.exact {
            show_line!("  {:>8}  {:>16}  {:>14}  {:>9}", e.order, "", number(e.found), number(e.certified));
        }
    }
    if let Some(most) = r.too_few() {
        show_line!(
            "  with {} draws no attack can show more than epsilon = {most:.2}: too few to contradict the certificate (--trials)",
            r.trials
        );
    }
    if let Some(law) = &r.law {
        show_line!("  distribution of the draws: Kolmogorov-Smirnov distance {:.5}, p = {}", law.distance, number(law.p_value));
    }
    show_line!("  {} (the bounds of the attack hold together with probability {})\n", r.verdict(), r.confidence);
}
