//! A program typed statement by statement: what it means so far, what has run, what that cost. Knows no terminal.
//!
//! The session holds the text of a program. A statement is kept only if the program with it is right; nothing changes
//! otherwise. Releases are declared first and run later, on request: until then their budget is divided as in a file, so
//! the text gives the certificate of the same file. What has run stays as it was: a statement that would change the
//! mechanism, a parameter or the cost of an earlier release first has that release written down with the choices it ran
//! with, and is refused if it changes even that.

mod cut;
mod fixed;
mod plot;
mod show;
mod spend;
mod state;

pub use cut::{Kind, kind, statements};
pub use plot::curve;
pub use spend::Proposal;
pub use state::{Outcome, Said};

use crate::analyze::Analysis;
use crate::check::Loader;
use crate::compiled::{Given, Unfit, has_design};
use crate::data::Opened;
use crate::model::{Program, ReleaseId, Step, Table};
use crate::pipeline;
use crate::privacy::certificate::Certificate;
use crate::run::{Bound, Files, Results, RunError, Value, mentioned, resume};
use crate::source::{Diagnostic, Diagnostics, SourceMap};
use fixed::{fixed, ids, settled};
use state::{Admitted, Entry, Judged, State};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// The name certificates give the program.
const NAME: &str = "session.dpm";

pub struct Session {
    state: State,
    /// The state before the last statement, where that replaced another one.
    before: Option<State>,
    loader: Box<dyn Loader>,
}

impl Session {
    /// A session without statements. `loader` finds modules.
    pub fn new(loader: Box<dyn Loader>) -> Session {
        let checked = pipeline::check(NAME, "", loader.as_ref());
        let bound = Bound { program: Some(checked.program.clone()), ..Bound::default() };
        let (analysis, diagnostics) = crate::analyze::analyze(&checked.program, &bound, &checked.sources);
        let judged = Rc::new(Judged { checked, bound, analysis, diagnostics });
        let state = State {
            entries: vec![],
            given: Given::default(),
            public: BTreeMap::new(),
            charges: vec![],
            read: vec![],
            retired: vec![],
            judged,
        };
        Session { state, before: None, loader }
    }

    pub fn program(&self) -> &Program {
        &self.state.judged.checked.program
    }

    pub fn analysis(&self) -> &Analysis {
        &self.state.judged.analysis
    }

    /// The text of the program.
    pub fn text(&self) -> String {
        self.state.entries.iter().map(|e| e.text.as_str()).collect()
    }

    /// One statement, or one expression, or blank lines; with the line end, if the program is to have it.
    pub fn eval(&mut self, input: &str, files: &dyn Files) -> Outcome {
        let done = match kind(input) {
            Kind::Expression => match self.expression(input.trim_end(), files) {
                Some(outcome) => return outcome,
                None => self.statement(input.to_owned()),
            },
            Kind::Continuation => self.more(input),
            Kind::Blank | Kind::Statement => self.statement(input.to_owned()),
        };
        done.map_or_else(|refused| refused, Outcome::Kept)
    }

    fn statement(&mut self, text: String) -> Admitted<Option<Said>> {
        let names = cut::declared(&text);
        let mut next = self.state.clone();
        self.before = None;
        let old = next.entries.iter().position(|e| e.names.iter().any(|n| names.contains(n)));
        let Some(at) = old else {
            next.entries.push(Entry { text, names, ..Entry::default() });
            return self.admit(next, false);
        };
        self.replaceable(at, &names)?;
        let Some(entry) = next.entries.get_mut(at) else { return Ok(None) };
        if !entry.fixed.is_empty() {
            next.retired.extend(entry.names.iter().cloned());
        }
        *entry = Entry { text, names, ..Entry::default() };
        // What costs nothing is computed again from there on.
        next.entries.iter_mut().skip(at).filter(|e| e.fixed.is_empty()).for_each(|e| e.ran = false);
        // Public tables are read again: their columns may have changed.
        next.given = Given::default();
        let (before, ran) = (self.state.clone(), next.retired.len() > self.state.retired.len());
        let kept = self.admit(next, true)?;
        // The value that was paid for is not given up for one that cannot be paid.
        if ran
            && self.certificate().is_some()
            && let Some(Err(why)) = self.proposal().map(|p| self.allows(&p))
        {
            self.state = before;
            return Err(Outcome::Refused(why.to_string()));
        }
        self.before = Some(before);
        Ok(kept)
    }

    /// May the statement at a place be written anew? Nothing that ran may rest on it.
    fn replaceable(&self, at: usize, names: &[String]) -> Admitted<()> {
        let refuse = |why: String| Err(Outcome::Refused(why));
        let Some(entry) = self.state.entries.get(at) else { return Ok(()) };
        if let Some(other) = self.state.entries.iter().skip(at + 1).find(|e| e.names.iter().any(|n| names.contains(n))) {
            return refuse(format!("this would replace two statements: `{}` and `{}`", entry.names.join(", "), other.names.join(", ")));
        }
        if names.iter().any(|n| n == cut::BUDGET) && !self.state.charges.is_empty() {
            return refuse("the budget stays: a release has run under it".into());
        }
        let ids = ids(self.steps(at));
        for (i, later) in self.state.entries.iter().enumerate().filter(|(i, e)| *i != at && !e.fixed.is_empty()) {
            if mentioned(self.steps(i)).iter().any(|id| ids.contains(id)) {
                return refuse(format!("`{}` has run with this `{}`; choose another name", later.names.join(", "), entry.names.join(", ")));
            }
        }
        Ok(())
    }

    /// A line that belongs to the statement before.
    fn more(&mut self, text: &str) -> Admitted<Option<Said>> {
        let mut next = self.state.clone();
        match next.entries.last_mut() {
            Some(last) if last.fixed.is_empty() => {
                last.text.push_str(text);
                last.names = cut::declared(&last.text);
                last.ran = false;
            }
            Some(_) => return Err(Outcome::Refused("the statement before has run; nothing can be added to it".into())),
            None => return self.statement(text.to_owned()),
        }
        self.admit(next, true)
    }

    /// Takes the last statement back, if it has not run.
    pub fn undo(&mut self) -> Outcome {
        if let Some(before) = self.before.take().filter(|b| b.charges.len() == self.state.charges.len()) {
            self.state = before;
            return Outcome::Kept(None);
        }
        let mut next = self.state.clone();
        match next.entries.pop() {
            None => return Outcome::Refused("there is nothing to take back".into()),
            Some(last) if !last.fixed.is_empty() => return Outcome::Refused("the last statement has run: what it cost stays".into()),
            Some(_) => {}
        }
        self.admit(next, true).map_or_else(|refused| refused, Outcome::Kept)
    }

    /// Binds a public table or value, now or as soon as it is declared.
    pub fn bind_public(&mut self, name: &str, value: &str) -> Outcome {
        let mut next = self.state.clone();
        next.public.insert(name.into(), value.into());
        next.given.tables.remove(name);
        next.given.scalars.remove(name);
        next.entries.iter_mut().filter(|e| e.fixed.is_empty()).for_each(|e| e.ran = false);
        self.admit(next, true).map_or_else(|refused| refused, Outcome::Kept)
    }

    /// Commits a state if its program is right and what ran stays as it ran; first as typed, then with what ran written
    /// down as it ran.
    fn admit(&mut self, next: State, recount: bool) -> Admitted<Option<Said>> {
        self.kept(next, recount).map_err(|refused| self.within_what_is_left(refused))
    }

    fn kept(&mut self, mut next: State, recount: bool) -> Admitted<Option<Said>> {
        let judged = match self.attempt(&mut next, recount) {
            Ok(judged) => judged,
            Err(refused) => {
                let mut changed = false;
                for entry in &mut next.entries {
                    if let Some(frozen) = entry.frozen.clone().filter(|f| *f != entry.text) {
                        entry.text = frozen;
                        changed = true;
                    }
                }
                // A statement that is wrong by itself is wrong either way.
                let alone = matches!(&refused, Outcome::Rejected(s) if s.diagnostics.iter().any(|d| d.is_error() && d.code < "E03"));
                if alone || !changed {
                    return Err(refused);
                }
                self.attempt(&mut next, recount).map_err(explained)?
            }
        };
        next.entries.iter_mut().filter(|e| e.steps == 0).for_each(|e| e.ran = true);
        let known: Vec<(&str, &str)> = self.state.judged.diagnostics.iter().map(|d| (d.code, d.message.as_str())).collect();
        let fresh: Diagnostics = judged.diagnostics.iter().filter(|d| !known.contains(&(d.code, d.message.as_str()))).cloned().collect();
        let said = (!fresh.is_empty()).then(|| Said { sources: judged.checked.sources.clone(), diagnostics: fresh });
        next.judged = Rc::new(judged);
        self.state = next;
        Ok(said)
    }

    fn attempt(&self, next: &mut State, recount: bool) -> Admitted<Judged> {
        let judged = self.judge(next)?;
        if recount {
            self.recount(&mut next.entries);
        } else if let Some((last, before)) = next.entries.split_last_mut() {
            let total = judged.checked.program.steps.len();
            last.steps = total.saturating_sub(before.iter().map(|e| e.steps).sum());
        }
        settled(&next.entries, &judged)?;
        let stays = |old: &&Table| judged.checked.program.tables.iter().any(|new| same_table(old, new));
        if let Some(table) = next.read.iter().find(|t| !stays(t)) {
            let why = format!("`{}` stays as it was declared: something was charged for its rows, its unit and its relation", table.name);
            return Err(Outcome::Refused(why));
        }
        Ok(judged)
    }

    /// Counts the steps of every statement: those of each beginning of the text, less those of the one before.
    fn recount(&self, entries: &mut [Entry]) {
        let (mut text, mut before) = (String::new(), 0);
        for entry in entries {
            text.push_str(&entry.text);
            let steps = pipeline::check(NAME, &text, self.loader.as_ref()).program.steps.len();
            entry.steps = steps.saturating_sub(before);
            before = steps;
        }
    }

    fn judge(&self, next: &mut State) -> Admitted<Judged> {
        let text: String = next.entries.iter().map(|e| e.text.as_str()).collect();
        let checked = pipeline::check(NAME, &text, self.loader.as_ref());
        if checked.has_errors() {
            return Err(Outcome::Rejected(Said { sources: checked.sources, diagnostics: checked.diagnostics }));
        }
        let bound = bind(next, &checked.program)?;
        let (analysis, diagnostics) = pipeline::analyze(&checked, &bound, false);
        let total = analysis.as_ref().is_some_and(|a| a.total.is_some());
        // What the statements that follow may put right is kept, and nothing runs before it is: an expectation that does
        // not hold, a budget that is still to come, a total that is over by what conversions lose until shares are smaller.
        let early = next.charges.is_empty();
        let later = |code: &str| code == "E0501" || (early && (code == "E0405" || (code == "E0402" && total)));
        let wrong = diagnostics.iter().any(|d| d.is_error() && !later(d.code));
        match analysis {
            Some(analysis) if !wrong => Ok(Judged { checked, bound, analysis, diagnostics }),
            _ => Err(Outcome::Rejected(Said { sources: checked.sources, diagnostics })),
        }
    }

    /// Computes an expression from what is public. `None` if it is not an expression.
    fn expression(&self, input: &str, files: &dyn Files) -> Option<Outcome> {
        let mut sources = SourceMap::default();
        let file = sources.add("input", input);
        crate::syntax::parse_expr(file, input).ok()?;
        let mut name = "shown_value".to_owned();
        while self.text().contains(&name) || input.contains(&name) {
            name.push('1');
        }
        let text = format!("{}output {name} = {input}\n", self.text());
        let checked = pipeline::check(NAME, &text, self.loader.as_ref());
        if checked.has_errors() {
            return Some(Outcome::Rejected(Said { sources: checked.sources, diagnostics: checked.diagnostics }));
        }
        let new = checked.program.steps.get(self.program().steps.len()..).unwrap_or(&[]);
        let known = self.known();
        let made = ids(new);
        let read = |id: &ReleaseId| checked.program.records.iter().any(|r| r.id == *id);
        if mentioned(new).iter().any(|id| !known.contains_key(id) && !made.contains(id) && !read(id)) {
            return Some(Outcome::Refused("a release in it has not run yet (:run)".into()));
        }
        let judged = &self.state.judged;
        let bound = Bound {
            tables: judged.bound.tables.clone(),
            scalars: judged.bound.scalars.clone(),
            program: Some(checked.program.clone()),
            ..Bound::default()
        };
        Some(match resume(&checked.program, &judged.analysis, &bound, files, new, known) {
            Ok((mut results, _)) => {
                results.outputs.iter_mut().for_each(|(n, ..)| *n = input.trim().to_owned());
                Outcome::Value(results)
            }
            Err(_) => Outcome::Refused("it needs data or public values that are not bound (:data, :public)".into()),
        })
    }

    /// The steps of one statement.
    fn steps(&self, at: usize) -> &[Step] {
        let from: usize = self.state.entries.iter().take(at).map(|e| e.steps).sum();
        let count = self.state.entries.get(at).map_or(0, |e| e.steps);
        self.program().steps.get(from..from.saturating_add(count)).unwrap_or(&[])
    }

    /// Every value that something which ran has left.
    fn known(&self) -> BTreeMap<ReleaseId, Value> {
        let mut known = BTreeMap::new();
        for (i, entry) in self.state.entries.iter().enumerate().filter(|(_, e)| e.ran) {
            let found = ids(self.steps(i)).into_iter().zip(&entry.values);
            known.extend(found.filter_map(|(id, v)| Some((id, v.clone()?))));
        }
        known
    }

    /// Runs one statement and keeps what it gave.
    fn run_entry(&mut self, at: usize, files: &dyn Files) -> Result<Results, RunError> {
        let judged = Rc::clone(&self.state.judged);
        let steps = self.steps(at);
        let (results, known) = resume(&judged.checked.program, &judged.analysis, &judged.bound, files, steps, self.known())?;
        let values = ids(steps).iter().map(|id| known.get(id).cloned()).collect();
        let fixed = fixed(steps, &judged);
        let frozen = self.state.frozen(at);
        if let Some(entry) = self.state.entries.get_mut(at) {
            entry.frozen = Some(frozen).filter(|_| !fixed.is_empty());
            (entry.ran, entry.values, entry.fixed) = (true, values, fixed);
        }
        Ok(results)
    }

    /// The certificate of the text; `None` while there is none (a hole, an expectation that fails).
    pub fn certificate(&self) -> Option<Certificate> {
        let judged = &self.state.judged;
        let sound = !judged.diagnostics.iter().any(|d| d.is_error()) && crate::analyze::holes(&judged.analysis).is_empty();
        sound.then(|| pipeline::certify(&judged.checked, &judged.analysis, &[], &[])).flatten()
    }
}

/// The same rows, units, neighbours and columns. What was charged for one unit says nothing about another, and a number of
/// rows that was secret stays secret.
fn same_table(old: &Table, new: &Table) -> bool {
    let header = |t: &Table| (t.name.clone(), t.private, t.relation, t.count_name.clone(), t.rows, t.unit, t.order);
    let columns = |t: &Table| {
        t.declared().map(|c| (c.name.clone(), c.headers.clone(), c.public, c.ty.clone(), c.missing.clone())).collect::<Vec<_>>()
    };
    header(old) == header(new) && columns(old) == columns(new)
}

/// Says that a text is not the one that was typed.
fn explained(refused: Outcome) -> Outcome {
    match refused {
        Outcome::Rejected(mut said) => {
            let note = |d: Diagnostic| d.note("releases that have run are written here as they ran: neither they nor their costs change");
            said.diagnostics = said.diagnostics.into_iter().map(note).collect();
            Outcome::Rejected(said)
        }
        other => other,
    }
}

/// Public data for the program: what was asked for, read where it is declared.
fn bind(next: &mut State, program: &Program) -> Admitted<Bound> {
    let refuse = |why: String| Err(Outcome::Refused(why));
    for table in program.tables.iter().filter(|t| !t.private || has_design(t)) {
        let Some(path) = next.public.get(&table.name) else { continue };
        if !next.given.tables.contains_key(&table.name) {
            let opened = Opened::regular(Path::new(path));
            if let Err(why) = opened.and_then(|file| next.given.add_table(table, &file)) {
                return refuse(format!("{path}: {why}"));
            }
        }
    }
    for scalar in &program.scalars {
        if let Some(value) = next.public.get(&scalar.name) {
            next.given.scalars.insert(scalar.name.clone(), value.clone());
        }
    }
    let declared = |name: &String| program.tables.iter().any(|t| t.name == *name) || program.scalars.iter().any(|s| s.name == *name);
    next.given.tables.retain(|name, _| declared(name));
    next.given.scalars.retain(|name, _| declared(name));
    next.given.bind(program).or_else(|why| match why {
        Unfit::Undeclared(name) => refuse(format!("the program declares no public `{name}`")),
        Unfit::Table(name, why) => refuse(format!("`{name}`: {why}")),
        Unfit::Scalar(name) => refuse(format!("the public value `{name}` is not in its declared domain")),
        Unfit::Fixed(name) => refuse(format!("`{name}` has its value in the program: declare it without one to bind it")),
    })
}
