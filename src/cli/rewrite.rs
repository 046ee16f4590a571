//! Commands that print or rewrite programs: `fmt`, `expand`, `lock`, `show --stan`.

use super::files::Output;
use super::{Exit, complain, inputs, usage, verdict};
use crate::compiled::locked;
use crate::pipeline::{self, Checked};
use crate::source::SourceMap;
use std::path::{Path, PathBuf};

pub fn fmt(files: &[PathBuf], check: bool) -> Exit {
    if files.is_empty() {
        return usage("dpm fmt FILE.dpm ..");
    }
    let mut exit = Exit::Done;
    for file in files {
        let (name, text) = match pipeline::read(file) {
            Ok(found) => found,
            Err(why) => {
                say_line!("error: {}", inputs::no_program(file, why));
                exit = Exit::Input;
                continue;
            }
        };
        match crate::syntax::format::format(&text) {
            Ok(formatted) if formatted == text => {}
            Ok(_) if check => {
                show_line!("{} would change", file.display());
                exit = Exit::Rejected;
            }
            Ok(formatted) => {
                let replaced = replace(file, &formatted);
                exit = if replaced == Exit::Done { exit } else { replaced };
            }
            Err(diagnostics) => {
                let mut sources = SourceMap::default();
                sources.add(name, text);
                complain(&sources, &diagnostics);
                exit = Exit::Rejected;
            }
        }
    }
    exit
}

/// Writes a program over itself.
fn replace(file: &Path, text: &str) -> Exit {
    Output::open(file, &[]).map_or_else(|exit| exit, |output| output.write(text.as_bytes()))
}

fn sound(file: &Path, public: &[String]) -> Result<Checked, Exit> {
    let checked = inputs::program(file, public)?;
    if checked.has_errors() {
        complain(&checked.sources, &checked.diagnostics);
        return Err(verdict(&checked.diagnostics));
    }
    Ok(checked)
}

pub fn expand(file: &Path) -> Exit {
    match sound(file, &[]) {
        Ok(checked) => {
            show!("{}", crate::model::expand::expand(&checked.program, &checked.sources));
            Exit::Done
        }
        Err(exit) => exit,
    }
}

pub fn stan(file: &Path) -> Exit {
    match sound(file, &[]) {
        Ok(checked) => match crate::model::stan::stan(&checked.program) {
            Ok(text) => {
                show!("{text}");
                Exit::Done
            }
            Err(refusal) => {
                let (line, column) = checked.sources.line_column(refusal.span.file, refusal.span.start);
                say_line!("error: {}:{line}:{column} cannot be written in Stan: {}", file.display(), refusal.why);
                Exit::Rejected
            }
        },
        Err(exit) => exit,
    }
}

/// Writes the chosen mechanism and its solved parameters behind every release.
pub fn lock(file: &Path, print: bool, public: &[String]) -> Exit {
    let checked = match sound(file, public) {
        Ok(c) => c,
        Err(exit) => return exit,
    };
    let bound = match inputs::public(&checked.program, public) {
        Ok(b) => b,
        Err(exit) => return exit,
    };
    let (analysis, diagnostics) = pipeline::analyze(&checked, &bound, false);
    complain(&checked.sources, &diagnostics);
    let (Some(analysis), Exit::Done) = (analysis, verdict(&diagnostics)) else { return verdict(&diagnostics) };
    let text = locked(&checked, &analysis);
    if print {
        show!("{text}");
        return Exit::Done;
    }
    replace(file, &text)
}
