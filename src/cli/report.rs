//! `dpm plot` and `dpm report`: pictures and a page of a certified program, plan or certificate; no private data is read.

use super::certify::write_text;
use super::compile::{LARGEST, bytes, prepared};
use super::{Exit, Plot, Program, Report, usage};
use crate::compiled::Compiled;
use crate::privacy::Claim;
use crate::report::{Kind, chart, page};
use clap::ValueEnum;

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Shown {
    /// Rényi epsilon by order, with the limit order and the budget
    Rdp,
    /// Epsilon by delta
    Dp,
    /// Hits by false alarms of the best attacker
    Tradeoff,
}

/// A program, a plan, or the program inside a certificate.
fn opened(args: &Program) -> Result<Compiled, Exit> {
    let read = bytes(&args.file, LARGEST).unwrap_or_default();
    let value: Option<serde_json::Value> = serde_json::from_slice(&read).ok();
    let Some(certificate) = value.filter(|v| v.get("certificate").is_some_and(serde_json::Value::is_u64)) else {
        return prepared(args);
    };
    let (Some(file), Some(source)) = (text(&certificate, "/program/file"), text(&certificate, "/program/source")) else {
        say_line!("error: {} is no certificate", args.file.display());
        return Err(Exit::Failed);
    };
    let checked = crate::pipeline::check(file, source, &crate::pipeline::Folder::of(&args.file));
    let bound = super::inputs::public(&checked.program, &args.public.public)?;
    let Ok(compiled) = crate::compiled::compile(checked, bound) else {
        say_line!("error: the program in {} does not certify (its modules and public data must be beside it)", args.file.display());
        return Err(Exit::Failed);
    };
    let again: Option<serde_json::Value> = serde_json::from_str(&compiled.certificate.to_json().to_string()).ok();
    if again.as_ref().and_then(|a| a.get("digest")) != certificate.get("digest") {
        say_line!("error: the program in {} gives another certificate than this one", args.file.display());
        return Err(Exit::Failed);
    }
    Ok(compiled)
}

fn text<'a>(value: &'a serde_json::Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

pub fn report(args: &Report) -> Exit {
    match opened(&args.program) {
        Ok(compiled) if write_text(&args.output, &page(&compiled)) => Exit::Done,
        Ok(_) => Exit::Input,
        Err(exit) => exit,
    }
}

pub fn plot(args: &Plot) -> Exit {
    let compiled = match opened(&args.program) {
        Ok(compiled) => compiled,
        Err(exit) => return exit,
    };
    let releases = &compiled.analysis.releases;
    let found = |name: &str| releases.iter().find(|r| r.name == name).and_then(|r| r.chosen.as_ref()).map(|c| &c.claim);
    let claims: Vec<(String, &Claim)> = match &args.release {
        Some(name) => match found(name) {
            Some(claim) => vec![(name.clone(), claim)],
            None => return usage(&format!("the program has no release `{name}`")),
        },
        None => {
            let each = releases.iter().filter_map(|r| Some((r.name.clone(), found(&r.name)?)));
            let total = compiled.analysis.total.as_ref().map(|t| ("total".to_string(), t));
            total.into_iter().chain(each.filter(|_| releases.len() > 1)).collect()
        }
    };
    let kind = match args.shows {
        Shown::Rdp => Kind::Rdp,
        Shown::Dp => Kind::Dp,
        Shown::Tradeoff => Kind::Tradeoff,
    };
    let title = compiled.certificate.program.file.clone();
    let drawn = chart(kind, &title, &claims, compiled.checked.program.budget.as_ref()).and_then(|c| c.svg(800, 560));
    match drawn {
        Some(svg) if write_text(&args.output, &svg) => Exit::Done,
        Some(_) => Exit::Input,
        None => usage("there is nothing to draw"),
    }
}
