//! Names: what each one stands for, in nested scopes and in modules.

use crate::model::{Expr, ParamId, ReleaseId, ScalarId, TableId};
use crate::source::Span;
use crate::syntax::ast;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a name stands for.
#[derive(Clone)]
pub enum Binding {
    /// A `let`, a formal, a count name: the checked expression it abbreviates.
    Value(Rc<Expr>),
    Param(ParamId),
    Release(ReleaseId),
    Scalar(ScalarId),
    Table(TableId),
    /// The name of a secret number of rows.
    SecretCount(TableId),
    Fn(Rc<FnDef>),
    Model(Rc<ModelDef>),
    /// A name whose statement was wrong: mentioning it is silent, so that one cause makes one error.
    Poisoned,
}

/// A table that no file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// One row a cell of a released table of counts.
    Cells(ReleaseId),
    /// One row a draw of a fitted posterior.
    Draws(ReleaseId),
}

pub struct FnDef {
    pub formals: Vec<ast::Formal>,
    pub body: ast::Expr,
    pub home: Home,
}

pub struct ModelDef {
    pub formals: Vec<ast::Formal>,
    pub body: Vec<ast::Item>,
    pub result: ast::Expr,
    pub home: Home,
}

/// Whose functions and models a body may call: the program's, or those of one module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    Program,
    Module(usize),
}

#[derive(Clone)]
pub struct Entry {
    pub binding: Binding,
    pub span: Span,
}

/// Ordered, so that suggestions never depend on hashing.
pub type Names = BTreeMap<String, Entry>;

/// One level of names.
#[derive(Default)]
pub struct Frame {
    pub names: Names,
    /// The body of a function or model: the caller's names are out of sight.
    pub body_of: Option<Home>,
}

/// The stack of scopes; frame 0 holds the program's own names.
pub struct Scopes {
    frames: Vec<Frame>,
    /// Functions and models of each module in use.
    pub modules: Vec<Names>,
    /// Modules each home has opened, in order: index 0 is the program, `1 + i` module `i`.
    pub opened: Vec<Vec<usize>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Scopes { frames: vec![Frame::default()], modules: vec![], opened: vec![vec![]] }
    }
}

impl Scopes {
    pub fn push(&mut self, body_of: Option<Home>) {
        self.frames.push(Frame { names: Names::new(), body_of });
    }

    pub fn pop(&mut self) -> Frame {
        self.frames.pop().unwrap_or_default()
    }

    pub fn bind(&mut self, name: &str, binding: Binding, span: Span) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names.insert(name.to_string(), Entry { binding, span });
        }
    }

    /// The entry in the innermost frame only.
    pub fn here(&self, name: &str) -> Option<&Entry> {
        self.frames.last().and_then(|f| f.names.get(name))
    }

    /// The program's own entry, in sight or not.
    pub fn outermost(&self, name: &str) -> Option<&Entry> {
        self.frames.first().and_then(|f| f.names.get(name))
    }

    /// Are we inside the body of a function or model?
    pub fn in_body(&self) -> bool {
        self.frames.iter().any(|f| f.body_of.is_some())
    }

    pub fn find(&self, name: &str) -> Option<&Entry> {
        for frame in self.frames.iter().rev() {
            if let Some(entry) = frame.names.get(name) {
                return Some(entry);
            }
            if let Some(home) = frame.body_of {
                return self.global(home, name);
            }
        }
        self.imported(0, name)
    }

    fn global(&self, home: Home, name: &str) -> Option<&Entry> {
        let (own, opened) = match home {
            Home::Program => (self.frames.first().map(|f| &f.names), 0),
            Home::Module(i) => (self.modules.get(i), i + 1),
        };
        let callable = |e: &&Entry| matches!(e.binding, Binding::Fn(_) | Binding::Model(_));
        own.and_then(|n| n.get(name)).filter(callable).or_else(|| self.imported(opened, name))
    }

    fn imported(&self, opened: usize, name: &str) -> Option<&Entry> {
        let list = self.opened.get(opened)?;
        list.iter().rev().find_map(|m| self.modules.get(*m).and_then(|n| n.get(name)))
    }

    /// Names in sight, for suggestions.
    pub fn visible(&self) -> Vec<&str> {
        let mut out = vec![];
        for frame in self.frames.iter().rev() {
            out.extend(frame.names.keys().map(String::as_str));
            if frame.body_of.is_some() {
                break;
            }
        }
        out.extend(self.modules.iter().flat_map(|m| m.keys().map(String::as_str)));
        out
    }
}
