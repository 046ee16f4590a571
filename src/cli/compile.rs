//! `dpm compile`, and the front half of `dpm run`: a program or a plan, ready to draw.

use super::certify::sign;
use super::files::{self, Output};
use super::{Exit, Program, complain, inputs, print_json, progress, strict, usage, verdict};
use crate::compiled::{self, Compiled, Given, missing};
use crate::pipeline::{self, Checked};
use crate::source::render;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct Compile {
    #[command(flatten)]
    program: Program,
    /// Where the plan is written
    #[arg(short, value_name = "PLAN")]
    output: PathBuf,
    /// Sign it with this Ed25519 key (PKCS#8, PEM)
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

/// Larger files are not plans.
pub const LARGEST: u64 = 256 << 20;

pub fn compile(args: &Compile) -> Exit {
    let (given, compiled) =
        match inputs::program(&args.program.file, &args.program.public.public).and_then(|checked| from_program(&args.program, checked)) {
            Ok(found) => found,
            Err(exit) => return exit,
        };
    if let Some(what) = missing(&compiled.checked.program, &compiled.bound) {
        return usage(&what);
    }
    let mut read = files::read(&args.program, &compiled.checked);
    read.extend(args.sign.clone());
    let output = match Output::open(&args.output, &read) {
        Ok(output) => output,
        Err(exit) => return exit,
    };
    // What would be refused when it runs is never written.
    let plan = compiled::plan(&compiled, &given).filter(|plan| compiled::open(plan, None).is_ok());
    let Some(mut plan) = plan else {
        say_line!("error: E9999: the plan does not reproduce itself; nothing was written");
        return Exit::Bug;
    };
    let digest = compiled::digest(&plan);
    if let Some(key) = &args.sign
        && !sign(key, &mut plan, &digest)
    {
        return Exit::Input;
    }
    let written = output.json(&plan, 0);
    if written != Exit::Done {
        return written;
    }
    if args.program.json {
        print_json(&plan);
    } else {
        show_line!("{}: digest {digest}", args.output.display());
    }
    Exit::Done
}

/// A program, or a plan where the file holds one, with all that `dpm run` needs besides private data.
///
/// No module is read from the `private` files.
pub fn prepared(args: &Program, private: &[PathBuf]) -> Result<Compiled, Exit> {
    let read = pipeline::bytes(&args.file, LARGEST);
    // A brace begins a plan and no program.
    match read {
        Ok(bytes) if bytes.trim_ascii_start().first() == Some(&b'{') => from_plan(args, std::str::from_utf8(&bytes).unwrap_or_default()),
        read => {
            let checked =
                inputs::checked(&args.file, read.and_then(|bytes| pipeline::text(&args.file, bytes)), (&args.public.public, private))?;
            from_program(args, checked).map(|(_, compiled)| compiled)
        }
    }
}

fn from_program(args: &Program, checked: Checked) -> Result<(Given, Compiled), Exit> {
    let (given, bound) = inputs::public_texts(&checked.program, &args.public.public)?;
    match progress::with_spinner("certifying", || compiled::compile(checked, bound)) {
        Ok(compiled) => {
            complain(&compiled.checked.sources, &compiled.diagnostics);
            Ok((given, compiled))
        }
        Err(rejected) => {
            if args.json {
                print_json(&render::json(&rejected.sources, &rejected.diagnostics));
            } else {
                complain(&rejected.sources, &rejected.diagnostics);
            }
            let exit = verdict(&rejected.diagnostics);
            Err(if exit == Exit::Done { Exit::Bug } else { exit })
        }
    }
}

fn from_plan(args: &Program, text: &str) -> Result<Compiled, Exit> {
    if !args.public.public.is_empty() {
        return Err(usage("a plan holds its public data: --public belongs to `dpm compile`"));
    }
    let shown = args.file.display();
    let refuse = |why: String| {
        if args.json {
            let label = json!({"code": "E0601", "severity": "error", "message": why, "labels": [], "notes": [], "help": []});
            print_json(&json!({"diagnostics": [label]}));
        } else {
            say_line!("error: E0601: {shown} is refused: {why}");
        }
        Exit::Rejected
    };
    let Some(value) = strict::read(text) else { return Err(refuse("it is not JSON, or has a key twice".into())) };
    match progress::with_spinner("certifying", || compiled::open(&value, None)) {
        Ok(compiled) => Ok(compiled),
        Err(why) => Err(refuse(format!("{}: {}", why.path, why.text))),
    }
}
