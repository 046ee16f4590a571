//! `dpm compile`, and the front half of `dpm run`: a program or a plan, ready to draw.

use super::certify::{sign, write};
use super::{Compile, Exit, Program, complain, inputs, print_json, progress, usage, verdict};
use crate::compiled::{self, Compiled, Given, missing};
use crate::source::render;
use serde_json::{Value, json};
use std::path::Path;

/// Larger files are no plans.
pub const LARGEST: u64 = 256 << 20;

pub fn compile(args: &Compile) -> Exit {
    let (given, compiled) = match from_program(&args.program) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if let Some(what) = missing(&compiled.checked.program, &compiled.bound) {
        return usage(&what);
    }
    // What would be refused when it runs is never written.
    let plan = compiled::plan(&compiled, &given).filter(|plan| compiled::open(plan, None).is_ok());
    let Some(mut plan) = plan else {
        say_line!("error: E9999: the plan does not give itself again; nothing was written");
        return Exit::Bug;
    };
    let digest = compiled::digest(&plan);
    if let Some(key) = &args.sign
        && !sign(key, &mut plan, &digest)
    {
        return Exit::Input;
    }
    if !write(&args.output, &plan, 0) {
        return Exit::Input;
    }
    if args.program.json {
        print_json(&plan);
    } else {
        show_line!("{}: digest {digest}", args.output.display());
    }
    Exit::Done
}

/// A program, or a plan where the file holds one, with all that `dpm run` needs besides private data.
pub fn prepared(args: &Program) -> Result<Compiled, Exit> {
    match plan_text(&args.file) {
        Some(text) => from_plan(args, &text?),
        None => from_program(args).map(|(_, compiled)| compiled),
    }
}

fn from_program(args: &Program) -> Result<(Given, Compiled), Exit> {
    let checked = inputs::program(&args.file)?;
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
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Err(refuse("it is not JSON".into())) };
    match progress::with_spinner("certifying", || compiled::open(&value, None)) {
        Ok(compiled) => Ok(compiled),
        Err(why) => Err(refuse(format!("{}: {}", why.path, why.text))),
    }
}

/// The text of a file that is a plan: its first character is a brace, which begins no program. `None` for other files,
/// and for those that cannot be read, which are the program reader's to refuse.
fn plan_text(file: &Path) -> Option<Result<String, Exit>> {
    use std::io::Read;
    let mut opened = std::fs::File::open(file).ok()?;
    let mut start = [0; 64];
    let read = opened.read(&mut start).ok()?;
    if start.get(..read)?.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let small = opened.metadata().is_ok_and(|m| m.len() <= LARGEST);
    let text = small.then(|| std::fs::read_to_string(file).ok()).flatten();
    Some(text.ok_or_else(|| {
        say_line!("error: the plan {} cannot be read", file.display());
        Exit::Input
    }))
}
