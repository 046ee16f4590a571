//! `dpm plot` and `dpm report`: pictures and a page of a certified program, plan, certificate or result; no private data is read.

use super::compile::{LARGEST, prepared};
use super::files::{self, Output};
use super::{Exit, Program, usage};
use crate::compiled::Compiled;
use crate::privacy::Claim;
use crate::report::{Kind, chart, errors, intervals, page, released};
use clap::Args;
use clap::ValueEnum;
use serde_json::Value;
use std::path::Path;
use std::path::PathBuf;

#[derive(Args)]
pub struct Plot {
    #[command(flatten)]
    program: Program,
    /// What the picture shows
    #[arg(long, value_enum, default_value = "rdp")]
    shows: Shown,
    /// This release alone, or this output of draws; without it all releases and their total, of errors and posteriors the first
    #[arg(long, value_name = "NAME")]
    release: Option<String>,
    /// Where the picture is written: a name that ends in .svg, or in .png where dpm was built with it
    #[arg(short, value_name = "PICTURE")]
    output: PathBuf,
}

#[derive(Args)]
pub struct Report {
    /// A program, a plan, a certificate, or a result of `dpm run -o`
    #[command(flatten)]
    program: Program,
    /// Where the page is written
    #[arg(short, value_name = "PAGE")]
    output: PathBuf,
}

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Shown {
    /// Rényi epsilon by order, with the limit order and the budget
    Rdp,
    /// Epsilon by delta
    Dp,
    /// Hits by false alarms of the best attacker
    Tradeoff,
    /// Predicted error of every mechanism, by the size of the budget
    Error,
    /// Released values beside the prior, from a result of `dpm run -o`
    Posterior,
}

/// Width and height of a picture in pixels; PNG has two dots to a pixel.
const SIZE: (u32, u32) = (800, 560);

/// What a file holds: a program that certifies, and the released values where the file is a result.
struct Opened {
    compiled: Compiled,
    values: Option<Value>,
}

/// A program, a plan, or the program inside a certificate or a result.
fn opened(args: &Program) -> Result<Opened, Exit> {
    let read = crate::pipeline::bytes(&args.file, LARGEST).unwrap_or_default();
    let value: Option<Value> = serde_json::from_slice(&read).ok().map(super::strict::numbers);
    let kind = |v: &Value| {
        let inner = v.get("certificate")?;
        // A plan also holds a certificate; it has a reader of its own.
        (inner.is_u64() || (inner.is_object() && v.get("plan").is_none())).then_some(inner.is_object())
    };
    let Some((mut value, result)) = value.and_then(|v| kind(&v).map(|k| (v, k))) else {
        return Ok(Opened { compiled: prepared(args, &[])?, values: None });
    };
    let values = result.then(|| {
        let parts = ["releases", "outputs"].into_iter().filter_map(|part| value.get(part)?.as_object());
        Value::Object(parts.flatten().map(|(name, value)| (name.clone(), value.clone())).collect())
    });
    let certificate = if result { value.get_mut("certificate").map(Value::take).unwrap_or_default() } else { value };
    let (Some(file), Some(source)) = (text(&certificate, "/program/file"), text(&certificate, "/program/source")) else {
        say_line!("error: {} is not a certificate", args.file.display());
        return Err(Exit::Failed);
    };
    let folder = crate::pipeline::Folder::of(&args.file).records(super::inputs::records(&args.public.public));
    let checked = crate::pipeline::check(file, source, &folder);
    let bound = super::inputs::public(&checked.program, &args.public.public)?;
    let Ok(compiled) = crate::compiled::compile(checked, bound) else {
        say_line!(
            "error: the program in {} does not certify: its modules must be beside it, and its public data too, or be named (--public TABLE=PATH)",
            args.file.display()
        );
        return Err(Exit::Failed);
    };
    let again: Option<Value> = serde_json::from_str(&compiled.certificate.to_json().to_string()).ok();
    if again.as_ref().and_then(|a| a.get("digest")) != certificate.get("digest") {
        say_line!(
            "error: the program in {} gives another certificate than this one; if it rests on public columns of a table, name them (--public TABLE=PATH)",
            args.file.display()
        );
        return Err(Exit::Failed);
    }
    Ok(Opened { compiled, values })
}

fn place(path: &Path, args: &Program, opened: &Opened) -> Result<Output, Exit> {
    Output::open(path, &files::read(args, &opened.compiled.checked))
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

pub fn report(args: &Report) -> Exit {
    match opened(&args.program).and_then(|o| Ok((place(&args.output, &args.program, &o)?, o))) {
        Ok((output, o)) => {
            let page = super::progress::with_spinner("writing the page", || page(&o.compiled, o.values.as_ref()));
            output.write(page.as_bytes())
        }
        Err(exit) => exit,
    }
}

pub fn plot(args: &Plot) -> Exit {
    let (output, Opened { compiled, values }) = match opened(&args.program).and_then(|o| Ok((place(&args.output, &args.program, &o)?, o))) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let program = &compiled.checked.program;
    let releases = &compiled.analysis.releases;
    if let (Shown::Posterior, Some(name)) = (args.shows, &args.release)
        && let Some(svg) = values.as_ref().and_then(|v| intervals(name, v.get(name)?)?.svg(SIZE.0, SIZE.1))
    {
        return write_picture(&args.output, output, &svg);
    }
    let named = args.release.as_ref().or(releases.first().map(|r| &r.name));
    let Some(release) = named.and_then(|name| releases.iter().find(|r| r.name == *name)) else {
        return usage(&format!("the program has no release `{}`", args.release.as_deref().unwrap_or_default()));
    };
    let claim = || claims(&compiled, args.release.as_deref());
    let title = &compiled.certificate.program.file;
    let of = |kind| chart(kind, title, &claim(), program.budget.as_ref());
    let drawn = match args.shows {
        Shown::Rdp => of(Kind::Rdp),
        Shown::Dp => of(Kind::Dp),
        Shown::Tradeoff => of(Kind::Tradeoff),
        Shown::Error => {
            errors(program, &compiled.bound, &compiled.checked.sources).into_iter().find(|(n, _)| *n == release.name).and_then(|f| f.1)
        }
        Shown::Posterior => match values.as_ref().and_then(|v| v.get(&release.name)) {
            Some(value) => released(program, &release.name, value),
            None => return usage("what was released is in a result: `dpm run .. -o RESULT`, then `dpm plot RESULT --shows posterior`"),
        },
    };
    match drawn.and_then(|c| c.svg(SIZE.0, SIZE.1)) {
        Some(svg) => write_picture(&args.output, output, &svg),
        None => usage("there is nothing to draw"),
    }
}

/// One release, or the total and every release.
fn claims<'c>(compiled: &'c Compiled, release: Option<&str>) -> Vec<(String, &'c Claim)> {
    let releases = &compiled.analysis.releases;
    let each = releases.iter().filter_map(|r| Some((r.name.clone(), &r.chosen.as_ref()?.claim)));
    match release {
        Some(name) => each.filter(|(n, _)| n == name).collect(),
        None => {
            let total = compiled.analysis.total.as_ref().map(|t| ("total".to_string(), t));
            total.into_iter().chain(each.filter(|_| releases.len() > 1)).collect()
        }
    }
}

/// SVG, or PNG where the name of the file says so.
fn write_picture(path: &Path, output: Output, svg: &str) -> Exit {
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return output.write(svg.as_bytes());
    }
    #[cfg(feature = "png")]
    {
        crate::plot::png(svg, 2.0).map_or_else(|why| usage(&why), |bytes| output.write(&bytes))
    }
    #[cfg(not(feature = "png"))]
    usage("this dpm was built without PNG (`cargo install --path . --features png` has it): name a file that ends in .svg")
}
