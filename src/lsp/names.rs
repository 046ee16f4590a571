//! Names of a program: where each is declared, and where it stands.

use crate::source::Span;
use crate::syntax::ast::{Ast, Formal, Item, ItemKind, Name, RowsKind, Table, TypeBase};
use crate::syntax::tokens::{Token, iter};
use std::ops::Range;

/// What a declaration makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Table,
    Column,
    Rows,
    /// A table that is read from a record.
    Record,
    Value,
    Parameter,
    Let,
    Release,
    Output,
    Function,
    Model,
    Formal,
    Level,
}

/// A declared name, and the text in which it is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    pub name: String,
    pub kind: Kind,
    /// The name itself.
    pub span: Span,
    /// The statement or column that declares it.
    pub whole: Span,
    /// Where it is known; `None` for the whole file.
    pub scope: Option<Span>,
}

/// Every declaration of a file, in order.
pub fn declarations(ast: &Ast) -> Vec<Declaration> {
    let mut found = vec![];
    ast.items.iter().for_each(|i| item(i, None, &mut found));
    found
}

fn item(i: &Item, scope: Option<Span>, found: &mut Vec<Declaration>) {
    let mut add = |name: &Name, kind, whole, scope| {
        found.push(Declaration { name: name.value.clone(), kind, span: name.span, whole, scope });
    };
    match &i.kind {
        ItemKind::Private(t) | ItemKind::PublicTable(t) => table(t, i.span, scope, found),
        ItemKind::PublicRecord { name, .. } => add(name, Kind::Record, i.span, scope),
        ItemKind::PublicScalar { name, .. } => add(name, Kind::Value, i.span, scope),
        ItemKind::Param { name, .. } => add(name, Kind::Parameter, i.span, scope),
        ItemKind::Let { name, .. } => add(name, Kind::Let, i.span, scope),
        ItemKind::Release(r) => add(&r.name, Kind::Release, i.span, scope),
        ItemKind::Output { name, .. } => add(name, Kind::Output, i.span, scope),
        ItemKind::Fn { name, formals: list, .. } => {
            add(name, Kind::Function, i.span, scope);
            formals(list, i.span, found);
        }
        ItemKind::Model { name, formals: list, body, .. } => {
            add(name, Kind::Model, i.span, scope);
            formals(list, i.span, found);
            body.iter().for_each(|b| item(b, Some(i.span), found));
        }
        ItemKind::Each { body, .. } => body.iter().for_each(|b| item(b, scope, found)),
        ItemKind::When { then, otherwise, .. } => {
            then.iter().chain(otherwise.iter().flatten()).for_each(|b| item(b, scope, found));
        }
        ItemKind::Use { .. } | ItemKind::Budget { .. } | ItemKind::Observe { .. } | ItemKind::Expect { .. } => {}
    }
}

fn formals(list: &[Formal], whole: Span, found: &mut Vec<Declaration>) {
    for f in list {
        found.push(Declaration { name: f.name.value.clone(), kind: Kind::Formal, span: f.name.span, whole, scope: Some(whole) });
    }
}

fn table(t: &Table, whole: Span, scope: Option<Span>, found: &mut Vec<Declaration>) {
    let mut add = |name: &Name, kind, whole| found.push(Declaration { name: name.value.clone(), kind, span: name.span, whole, scope });
    add(&t.name, Kind::Table, whole);
    if let RowsKind::Named { name, .. } = &t.rows.kind {
        add(name, Kind::Rows, t.header);
    }
    for c in &t.columns {
        add(&c.name, Kind::Column, c.span);
        if let TypeBase::Category(levels) = &c.ty.base {
            levels.iter().for_each(|l| add(l, Kind::Level, c.span));
        }
    }
}

/// The name at an offset or right before it.
pub fn at(text: &str, offset: usize) -> Option<Range<usize>> {
    let names = iter(text).filter(|(t, _)| *t == Token::Name).map(|(_, r)| r);
    names.filter(|r| r.start <= offset && offset <= r.end).last()
}

/// The declaration that a name at a place means: the innermost scope that knows it.
pub fn declaration<'a>(all: &'a [Declaration], name: &str, offset: usize) -> Option<&'a Declaration> {
    let known = |d: &&Declaration| d.name == name && d.scope.is_none_or(|s| (s.start as usize..s.end as usize).contains(&offset));
    let size = |d: &&Declaration| d.scope.map_or(u32::MAX, |s| s.end - s.start);
    all.iter().filter(known).min_by_key(size)
}

/// Every place of the name that means this declaration; names of arguments (`r = 0.5`) mean something else.
pub fn places(text: &str, all: &[Declaration], wanted: &Declaration) -> Vec<Range<usize>> {
    let words: Vec<(Token, Range<usize>)> = iter(text).collect();
    let mut found = vec![];
    let mut depth = 0_i64;
    for (i, (token, range)) in words.iter().enumerate() {
        match text.get(range.clone()) {
            Some("(") => depth += 1,
            Some(")") => depth -= 1,
            _ => {}
        }
        if *token != Token::Name || text.get(range.clone()) != Some(wanted.name.as_str()) {
            continue;
        }
        let next = words.get(i + 1).and_then(|(_, r)| text.get(r.clone()));
        let argument = depth > 0 && next == Some("=");
        // `from "result.json".cells` is a name in the record.
        let recorded = i.checked_sub(2).and_then(|i| words.get(i)).is_some_and(|(token, _)| *token == Token::Text);
        if !argument && !recorded && declaration(all, &wanted.name, range.start).is_some_and(|d| d.span == wanted.span) {
            found.push(range.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    const TEXT: &str = "private t[n] { r: bool, g: category {r, s} }\nmodel m(p: real) { param q ~ beta(p, 1) observe t.r ~ bernoulli(q) return q }\nparam p ~ beta(1, 2)\nobserve r ~ bernoulli(p)\nrelease a = draw(p) using diffuse(r = 0.5)\n";

    #[test]
    fn scopes_and_arguments() {
        let (ast, errors) = crate::syntax::parse(FileId(0), TEXT);
        assert!(errors.is_empty());
        let all = declarations(&ast);
        let find = |name: &str, nth: usize| {
            let at = TEXT.match_indices(name).map(|(i, _)| i).nth(nth).unwrap();
            declaration(&all, name, at).unwrap()
        };
        let outer = find("p", TEXT.matches('p').count() - 1);
        let starts: Vec<&str> = places(TEXT, &all, all.iter().find(|d| d.kind == Kind::Parameter && d.name == "p").unwrap())
            .iter()
            .map(|r| &TEXT[r.start - 1..r.end + 1])
            .collect();
        assert_eq!(starts, [" p ", "(p)", "(p)"]);
        let _ = outer;
        let formal = all.iter().find(|d| d.kind == Kind::Formal).unwrap();
        assert_eq!(places(TEXT, &all, formal).len(), 2);
        // The argument `r = 0.5` is not the column.
        let column = all.iter().find(|d| d.kind == Kind::Column && d.name == "r").unwrap();
        assert!(places(TEXT, &all, column).iter().all(|r| !TEXT[r.end..].starts_with(" = 0.5")));
    }
}
