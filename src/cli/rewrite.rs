//! Commands that print or rewrite programs: `fmt`, `expand`, `lock`, `show --stan`.

use super::{Exit, complain, inputs, usage, verdict};
use crate::analyze::Analysis;
use crate::model::{MechanismKind, ReleaseStep, Step};
use crate::numeric::decimal::decimal_string;
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
            Err(_) => {
                say_line!("error: the program {} cannot be read", file.display());
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
                if !replace(file, &formatted) {
                    exit = Exit::Input;
                }
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

/// Writes beside the file and renames, so that a crash leaves the old text or the new one.
fn replace(file: &Path, text: &str) -> bool {
    let beside = file.with_extension("dpm.tmp");
    let done = std::fs::write(&beside, text).is_ok() && std::fs::rename(&beside, file).is_ok();
    if !done {
        say_line!("error: {} cannot be written", file.display());
    }
    done
}

fn sound(file: &Path) -> Result<Checked, Exit> {
    let checked = inputs::program(file)?;
    if checked.has_errors() {
        complain(&checked.sources, &checked.diagnostics);
        return Err(verdict(&checked.diagnostics));
    }
    Ok(checked)
}

pub fn expand(file: &Path) -> Exit {
    match sound(file) {
        Ok(checked) => {
            show!("{}", crate::model::expand::expand(&checked.program, &checked.sources));
            Exit::Done
        }
        Err(exit) => exit,
    }
}

pub fn stan(file: &Path) -> Exit {
    match sound(file) {
        Ok(checked) => {
            show!("{}", crate::model::stan::stan(&checked.program));
            Exit::Done
        }
        Err(exit) => exit,
    }
}

/// Writes the chosen mechanism and its solved parameters behind every release.
pub fn lock(file: &Path, print: bool, public: &[String]) -> Exit {
    let checked = match sound(file) {
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
    if replace(file, &text) { Exit::Done } else { Exit::Input }
}

fn locked(checked: &Checked, analysis: &Analysis) -> String {
    let mut text = checked.sources.get(checked.main).map_or_else(String::new, |f| f.text.clone());
    let mut edits: Vec<(usize, usize, String)> = vec![];
    for release in releases(&checked.program.steps) {
        let chosen = analysis.release(release.id).and_then(|r| r.chosen.as_ref());
        let inside = release.query_span.file == checked.main;
        let (Some(chosen), true) = (chosen, inside) else { continue };
        let solved: Vec<String> =
            chosen.parameters.iter().filter(|p| p.solved).map(|p| format!("{} = {}", p.name, decimal_string(p.value))).collect();
        // What the user wrote between the parentheses stays; solved values are added to it.
        let written = match (&release.mechanism.kind, release.mechanism.span) {
            (MechanismKind::Named { args, .. }, Some(_)) => {
                args.iter().map(|a| checked.sources.slice(a.span).to_string()).collect::<Vec<_>>()
            }
            _ => vec![],
        };
        let all: Vec<String> = written.into_iter().chain(solved).collect();
        let arguments = if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
        let using = format!("using {}{arguments}", chosen.mechanism);
        match release.mechanism.span {
            Some(span) => edits.push((span.start as usize, span.end as usize, using)),
            None => {
                let end = release.query_span.end as usize;
                edits.push((end, end, format!(" {using}")));
            }
        }
    }
    edits.sort();
    for (start, end, new) in edits.into_iter().rev() {
        if text.get(start..end).is_some() {
            text.replace_range(start..end, &new);
        }
    }
    text
}

fn releases(steps: &[Step]) -> Vec<&ReleaseStep> {
    let mut out = vec![];
    for step in steps {
        match step {
            Step::Release(r) => out.push(r),
            Step::When { then, otherwise, .. } => {
                out.extend(releases(then));
                out.extend(releases(otherwise));
            }
            Step::Each(e) => out.extend(releases(&e.body)),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    out
}
