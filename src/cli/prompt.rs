//! The line editor of `dpm repl`: when a line is whole, what Tab offers, colours, and what the history keeps.

use super::complete::{COMMANDS, complete};
use super::{Repl, highlight};
use crate::syntax::tokens::is_complete;
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;
use std::path::PathBuf;

/// The line editor's view of the session.
pub struct Prompt {
    pub names: Vec<String>,
    pub colour: bool,
}

impl Completer for Prompt {
    type Candidate = String;
    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(line, at, &self.names))
    }
}

impl Hinter for Prompt {
    type Hint = String;
}

impl Highlighter for Prompt {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.colour { Cow::Owned(highlight::coloured(line)) } else { Cow::Borrowed(line) }
    }
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.colour
    }
}

impl Validator for Prompt {
    fn validate(&self, input: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = input.input();
        let whole = text.starts_with(':') || is_complete(text);
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Helper for Prompt {}

/// The history file, made readable for its owner alone. `None` where there is no place for one.
pub fn history_file(args: &Repl) -> Option<PathBuf> {
    if args.no_history {
        return None;
    }
    let state = || {
        let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state"))).map(|s| s.join("dpm/history"))
    };
    let path = args.history.clone().or_else(state)?;
    // Opening a pipe would wait.
    if path.try_exists().is_ok_and(|there| there && !path.is_file()) {
        return None;
    }
    path.parent().map(std::fs::create_dir_all)?.ok()?;
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).ok()?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).ok()?;
    drop(file);
    Some(path)
}

/// Lines that may name where data are stay out of the history; so does what is not a command, since it may be one misspelt.
pub fn may_be_remembered(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("");
    let places = [":data", ":public", ":load"];
    let silent = word.starts_with(':') && (places.contains(&word) || !COMMANDS.iter().any(|(command, _)| *command == word));
    let lower = line.to_lowercase();
    let file = [".csv", ".tsv", ".parquet", ".arrow", ".feather"].iter().any(|end| lower.contains(end));
    !(word.is_empty() || silent || file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_history_keeps() {
        for line in ["release p_hat = draw(p)", ":budget", "  :type mean(x)", "p_hat"] {
            assert!(may_be_remembered(line), "{line}");
        }
        for line in
            ["", ":data t=rows", " :data t=rows", ":dta t=rows", ":load x.dpm", ":public k=3", "# see /home/me/Rows.CSV", ":type t.csv.gz"]
        {
            assert!(!may_be_remembered(line), "{line}");
        }
    }
}
