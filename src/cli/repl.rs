//! `dpm repl`: the loop around a session; reads lines, asks before it spends, prints.

use super::charge::{Charged, charge, failed_after_charge, receipt_text, refuse};
use super::complete::COMMANDS;
use super::files::{Known, Output};
use super::prompt::{Prompt, history_file, may_be_remembered};
use super::{Exit, Repl, complain, draw, inputs, say_error, usage, values};
use crate::analyze::certificate_text;
use crate::data::{DataError, Opened, Source};
use crate::ledger::Ledger;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::OsBits;
use crate::model::TableId;
use crate::pipeline;
use crate::run::{Files, Results, RunError};
use crate::session::{Kind, Outcome, Proposal, Session, curve, kind, statements};
use crate::syntax::tokens::{Token, tokens};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Where the rows of a private table are.
enum Rows {
    File(PathBuf, Opened),
    Registered(String),
}

struct Loop {
    session: Session,
    rows: BTreeMap<String, Rows>,
    known: Known,
    ledger: Option<PathBuf>,
    analyst: Option<String>,
    /// The last charged data, with the private tables there were then.
    charged: Option<(Charged, Vec<String>)>,
    editor: Editor<Prompt, FileHistory>,
    history: Option<PathBuf>,
    terminal: bool,
    /// What was said last about something that waits.
    note: String,
}

/// What the session may read: files of the owner, or what a ledger was charged for.
struct Access<'a> {
    names: Vec<String>,
    rows: &'a BTreeMap<String, Rows>,
    charged: Option<&'a Charged>,
}

impl Files for Access<'_> {
    fn open(&self, table: TableId) -> Result<Source, DataError> {
        let name = self.names.get(table.0).ok_or(DataError::Missing)?;
        match self.rows.get(name) {
            Some(Rows::File(_, opened)) => opened.source(),
            Some(Rows::Registered(_)) => self.charged.and_then(|c| c.source(table)).ok_or(DataError::Missing),
            None => Err(DataError::Missing),
        }
    }

    fn bits(&self) -> Result<OsBits, MechanismError> {
        OsBits::new()
    }
}

pub fn repl(args: &Repl) -> Exit {
    let terminal = std::io::stdin().is_terminal();
    let colour = terminal && super::coloured(&std::io::stdout());
    let known = match Known::new(args) {
        Ok(known) => known,
        Err(exit) => return exit,
    };
    let Ok(mut editor) = Editor::with_history(Config::default(), FileHistory::new()) else {
        return usage("this terminal cannot be used");
    };
    editor.set_helper(Some(Prompt { names: vec![], colour }));
    let history = history_file(args).filter(|_| terminal);
    if let Some(path) = &history {
        let _ = editor.load_history(path);
    }
    let session = Session::new(Box::new(known.clone()));
    let (ledger, analyst, rows) = (args.ledger.clone(), args.analyst.clone(), BTreeMap::new());
    let mut state = Loop { session, rows, known, ledger, analyst, charged: None, editor, history, terminal, note: String::new() };
    for binding in &args.data {
        if let Err(why) = state.bind(binding) {
            say_error(&why.1);
            return why.0;
        }
    }
    for binding in &args.public.public {
        if let Err(why) = state.bind_public(binding) {
            return usage(&why);
        }
    }
    if terminal {
        show_line!("dpm {}: a program, statement by statement. `help` lists the commands, `quit` leaves.", env!("CARGO_PKG_VERSION"));
    }
    state.read()
}

impl Loop {
    fn read(&mut self) -> Exit {
        let mut ahead: Option<String> = None;
        loop {
            if let Some(helper) = self.editor.helper_mut() {
                helper.names = self.session.names();
            }
            let line = match ahead.take() {
                Some(line) => line,
                None => match self.editor.readline("dpm> ") {
                    Ok(line) => line,
                    // Ctrl-C drops what was being typed.
                    Err(ReadlineError::Interrupted) => continue,
                    Err(ReadlineError::Eof) => return Exit::Done,
                    Err(ReadlineError::Io(why)) if why.kind() == std::io::ErrorKind::InvalidData => {
                        say_error("that line is not UTF-8 text");
                        continue;
                    }
                    Err(_) => return Exit::Input,
                },
            };
            self.remember(&line);
            // What other prompts understand, unless the program has a value of that name.
            let word = line.trim();
            let bare = ["quit", "exit", "help"].contains(&word) && !self.session.names().iter().any(|n| n == word);
            match word.strip_prefix(':').or(bare.then_some(word)) {
                Some("quit" | "q" | "exit") => return Exit::Done,
                Some(command) => ahead = self.command(command),
                None => ahead = self.enter(&format!("{line}\n")),
            }
        }
    }

    fn remember(&mut self, line: &str) {
        let Some(path) = &self.history else { return };
        let known = self.rows.values().any(|rows| match rows {
            Rows::File(path, _) => {
                let file = path.file_name().map(|f| f.to_string_lossy().into_owned());
                line.contains(&*path.to_string_lossy()) || file.is_some_and(|f| line.contains(&f))
            }
            Rows::Registered(id) => line.contains(&format!("@{id}")),
        });
        if !known && may_be_remembered(line) && self.editor.add_history_entry(line).unwrap_or(false) {
            let _ = self.editor.append_history(path);
        }
    }

    /// Statements or an expression; releases among them wait for one question at the end. Answers a line that was typed
    /// where an answer was asked for, to be read next.
    fn enter(&mut self, text: &str) -> Option<String> {
        let kind = kind(text);
        let pieces = if kind == Kind::Statement { statements(text) } else { vec![text.to_owned()] };
        for piece in pieces {
            let outcome = self.with_files(|session, files| session.eval(&piece, files));
            if !self.told(outcome) {
                return None;
            }
        }
        self.settle();
        let asks = kind == Kind::Continuation || tokens(text).iter().any(|(token, _)| *token == Token::Release);
        self.session.proposal().filter(|_| asks && self.session.certificate().is_some()).and_then(|p| self.offer(&p))
    }

    /// Says what came of an input; false if nothing was kept.
    fn told(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Kept(said) => {
                if let Some(said) = said {
                    complain(&said.sources, &said.diagnostics);
                    if said.diagnostics.iter().any(|d| d.is_error()) {
                        show_line!("kept; nothing runs before this is put right (:undo takes it back)");
                    }
                }
                return true;
            }
            Outcome::Value(results) => self.show_results(&results),
            Outcome::Rejected(said) => complain(&said.sources, &said.diagnostics),
            Outcome::Refused(why) => say_error(&why),
        }
        false
    }

    fn notes(&self) -> values::Notes {
        self.session.certificate().map(|c| values::Notes::of(&c, self.session.program())).unwrap_or_default()
    }

    fn with_files<T>(&mut self, work: impl FnOnce(&mut Session, &dyn Files) -> T) -> T {
        let names: Vec<String> = self.session.program().tables.iter().map(|t| t.name.clone()).collect();
        let same = |c: &&(Charged, Vec<String>)| c.1 == names;
        let access = Access { charged: self.charged.as_ref().filter(same).map(|c| &c.0), names, rows: &self.rows };
        work(&mut self.session, &access)
    }

    fn show_results(&self, results: &Results) {
        show!("{}", values::text(&results.releases, &results.outputs, &self.notes()));
        super::run::warn(results);
    }

    /// Computes what waits and costs nothing.
    fn settle(&mut self) {
        if let Ok((results, error)) = self.with_files(|session, files| session.run(None, files)) {
            self.show_results(&results);
            if error.is_some() {
                self.note("an output waits for data or public values (:data, :public)".into());
            }
        }
    }

    fn note(&mut self, text: String) {
        if text != self.note {
            show_line!("{text}");
            self.note = text;
        }
    }

    /// Asks whether to run what waits, where it could. Answers a line that is not an answer.
    fn offer(&mut self, proposal: &Proposal) -> Option<String> {
        let names = proposal.releases.join(", ");
        let unbound: Vec<String> = self.unbound(proposal);
        if !unbound.is_empty() {
            let wanted: Vec<String> = unbound.iter().map(|t| format!(":data {t}=..")).collect();
            self.note(format!("waiting: {names}, {}; needs {}, then :run", proposal.cost, wanted.join(", ")));
            return None;
        }
        if let Err(why) = self.session.allows(proposal) {
            say_error(&why.to_string());
            return None;
        }
        if !self.terminal {
            self.note(format!("waiting: {names}, {}; :run", proposal.cost));
            return None;
        }
        let question = format!("{names}: {}. Spend it and run? [y/N] ", proposal.cost);
        let answer = self.editor.readline(&question).unwrap_or_default();
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => self.spend(proposal),
            "" | "n" | "no" => show_line!("not run; :run asks again"),
            // Something else was typed or pasted: it is the next input.
            _ => {
                show_line!("not run; :run asks again");
                return Some(answer);
            }
        }
        None
    }

    fn unbound(&self, proposal: &Proposal) -> Vec<String> {
        let tables = proposal.tables.iter().filter_map(|t| self.session.program().tables.get(t.0));
        tables.filter(|t| !self.rows.contains_key(&t.name)).map(|t| t.name.clone()).collect()
    }

    /// Charges the durable ledger where there is one, then the session, then runs.
    fn spend(&mut self, proposal: &Proposal) {
        if let Err(why) = self.session.allows(proposal) {
            return say_error(&why.to_string());
        }
        if let Some(ledger) = self.ledger.clone() {
            let registered = |t: &TableId| match self.rows.get(&self.session.program().tables.get(t.0)?.name)? {
                Rows::Registered(id) => Some((*t, PathBuf::from(format!("@{id}")))),
                Rows::File(..) => None,
            };
            let files: Option<Vec<_>> = proposal.tables.iter().map(registered).collect();
            let Some((files, certificate)) = files.zip(self.session.certificate()) else { return };
            let cost = |tables: &[TableId]| Some(self.session.claim_for(tables));
            let payer = Some((ledger.as_path(), self.analyst.as_deref()));
            let Ok(charged) = charge(payer, &cost, (&certificate, None), self.session.program(), &files) else { return };
            self.charged = charged.map(|c| (c, self.session.program().tables.iter().map(|t| t.name.clone()).collect()));
        }
        // From here on private data may be open: nothing is printed until the end of the run.
        let done = self.with_files(|session, files| session.run(Some(proposal), files));
        let receipt = self.charged.as_ref().filter(|_| self.ledger.is_some()).map(|(c, _)| c.commit());
        match done {
            Err(why) => say_error(&why.to_string()),
            Ok((results, error)) => {
                self.show_results(&results);
                if let Some(error) = error {
                    self.failed(&error);
                }
                show_line!("charged to this session: {}", proposal.cost);
            }
        }
        if let Some(receipt) = receipt {
            show!("{}", receipt_text(&receipt));
        }
    }

    /// Why a run ended: public facts, or a fixed text.
    fn failed(&self, error: &RunError) {
        match error {
            _ if self.charged.is_some() => _ = failed_after_charge(),
            RunError::Data(table, why) => {
                let name = self.session.program().tables.get(table.0).map_or("data", |t| t.name.as_str());
                say_error(&format!("{name}: {why}"));
            }
            RunError::NotRunnable(name) => {
                say_error(&format!("`{name}` is certified, but this version cannot compute its statistic exactly"))
            }
            RunError::Mechanism(_) | RunError::Value(_) => say_error("E9999: the run ended; nothing was released"),
        }
    }

    /// Binds the rows of a private table.
    fn bind(&mut self, binding: &str) -> Result<(), (Exit, String)> {
        let wrong = |why: String| Err((Exit::Usage, why));
        let Some((name, place)) = inputs::pair(binding) else {
            return wrong(format!("data are named NAME=PATH, or NAME=@ID with --ledger, not `{binding}`"));
        };
        let rows = match (place.strip_prefix('@'), &self.ledger) {
            (Some(id), Some(_)) => Rows::Registered(id.into()),
            (Some(id), None) => return wrong(format!("@{id} names registered data: start with --ledger PATH")),
            (None, Some(_)) => return wrong("with --ledger data are named as they are registered: NAME=@ID".into()),
            (None, None) => {
                self.known.private(place).map_err(|why| (Exit::Usage, why))?;
                Rows::File(place.into(), Opened::open(Path::new(place)).map_err(|why| (Exit::Input, format!("{place}: {why}")))?)
            }
        };
        // Rows that were charged for stay open under their name; other data under it would be read without a charge.
        if let (Some(Rows::Registered(old)), Rows::Registered(new)) = (self.rows.get(name), &rows)
            && old != new
            && self.charged.is_some()
        {
            return wrong(format!("`{name}` stays @{old}: something was charged for it in this session"));
        }
        self.rows.insert(name.into(), rows);
        Ok(())
    }

    /// Binds a public table or value.
    fn bind_public(&mut self, binding: &str) -> Result<Outcome, String> {
        let pair = inputs::pair(binding);
        let (name, value) = pair.ok_or_else(|| format!("public data are named NAME=PATH or NAME=VALUE, not `{binding}`"))?;
        self.known.open_as(name, value)?;
        Ok(self.session.bind_public(name, value))
    }

    /// A command without its colon. Answers a line to be read next, as [`Loop::offer`].
    fn command(&mut self, command: &str) -> Option<String> {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match word {
            "help" | "h" => COMMANDS.iter().for_each(|(name, what)| show_line!("{name:<13} {what}")),
            "type" => match self.session.type_of(rest) {
                Ok(text) => show_line!("{text}"),
                Err(outcome) => drop(self.told(outcome)),
            },
            "model" => show!("{}", self.session.model_text()),
            "text" => show!("{}", self.session.text()),
            "rules" => match self.session.rules_text(rest) {
                Ok(text) => show!("{text}"),
                Err(outcome) => drop(self.told(outcome)),
            },
            "curve" => match self.session.claim_of(rest) {
                Some(claim) => show!("{}", curve(rest, &claim)),
                None => say_error(":curve wants the name of a release, or `total`"),
            },
            "plot" => match draw::plot(&self.session, rest) {
                Ok(text) => show!("{text}"),
                Err(why) => say_error(&why),
            },
            "budget" => self.budget(),
            "certificate" => self.certificate(rest),
            "load" => return self.load(rest),
            "data" if rest.is_empty() => {
                for table in self.session.private_tables() {
                    let bound = if self.rows.contains_key(&table) { "bound" } else { "not bound" };
                    show_line!("{table}: {bound}");
                }
            }
            "data" => match self.bind(rest) {
                Ok(()) => self.settle(),
                Err((_, why)) => say_error(&why),
            },
            "public" => match self.bind_public(rest) {
                Ok(outcome) => {
                    if self.told(outcome) {
                        self.settle();
                    }
                }
                Err(why) => say_error(&why),
            },
            "run" => match self.session.proposal() {
                None => show_line!("nothing waits"),
                Some(p) if !self.terminal && self.unbound(&p).is_empty() => self.spend(&p),
                Some(p) => {
                    self.note.clear();
                    return self.offer(&p);
                }
            },
            "undo" => {
                let outcome = self.session.undo();
                self.told(outcome);
            }
            _ => say_error("no such command; :help lists them"),
        }
        None
    }

    fn budget(&self) {
        show!("{}", self.session.budget_text());
        let Some(path) = &self.ledger else { return };
        let accounts = match Ledger::at(path).and_then(|l| l.read()) {
            Ok(contents) => contents.accounts.accounts,
            Err(error) => {
                refuse(&error);
                return;
            }
        };
        for rows in self.rows.values() {
            let Rows::Registered(id) = rows else { continue };
            for b in accounts.get(id).map_or_else(Vec::new, |a| a.balance()) {
                show_line!("{id} in the ledger: {}: spent {} of {}, left {}", b.component, b.spent, b.limit, b.left);
            }
        }
    }

    fn certificate(&self, path: &str) {
        let Some(certificate) = self.session.certificate() else {
            return say_error("the program has errors, so there is no certificate");
        };
        let (_, retired) = self.session.charged();
        if !retired.is_empty() {
            show_line!("not part of this program, but paid for: {}", retired.join(", "));
        }
        if path.is_empty() {
            show!("{}", certificate_text(&certificate));
        } else {
            // What cannot be written was said.
            let read = self.known.all(self.session.parts().1);
            let _ = Output::open(Path::new(path), &read).map(|output| output.json(&certificate.to_json(), 0));
        }
    }

    fn load(&mut self, path: &str) -> Option<String> {
        if let Err(why) = self.known.open(path) {
            say_error(&why);
            return None;
        }
        let text = match pipeline::read(Path::new(path)) {
            Ok((_, text)) => text,
            Err(why) => {
                say_error(&inputs::no_program(Path::new(path), why));
                return None;
            }
        };
        self.enter(&text)
    }
}
