//! The tree as written: every statement, type and expression of a program with its span.

use crate::numeric::Binary;
use crate::source::{Span, Spanned};

/// A name as written.
pub type Name = Spanned<String>;

/// A whole file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ast {
    pub items: Vec<Item>,
}

/// One statement and the text it covers.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ItemKind {
    /// `use std.rates`
    Use { path: Vec<Name> },
    /// `budget rdp(order = 8, eps = 0.5)`
    Budget { call: Call },
    /// `private staff[n >= 100] by id max 4 { .. }`
    Private(Table),
    /// `public pilot[m] { .. }`
    PublicTable(Table),
    /// `public cells from "result.json"`, with `.votes` behind it where the record has another name for it
    PublicRecord { name: Name, file: Name, release: Option<Name> },
    /// `public k: real in [0, 1] = 0.5`
    PublicScalar { name: Name, ty: Type, value: Option<Expr> },
    /// `param p: real in [0, 1] ~ beta(1, 1)`
    Param { name: Name, ty: Option<Type>, prior: Call },
    /// `let y: real = clip(x, 0, 1)`
    Let { name: Name, ty: Option<Type>, value: Expr },
    /// `observe staff.smoker ~ bernoulli(p)`; the outcome is a path of one or two names
    Observe { outcome: Vec<Name>, likelihood: Call },
    /// `release p_hat = draw(p) using diffuse(r = 0.5) assuming convergence spend 20%`
    Release(Release),
    /// `output y = 100 * share`
    Output { name: Name, value: Expr },
    /// `expect certificate(p_hat) <= rdp(order = 8, eps = 0.5)`
    Expect { condition: Expr },
    /// `each region of survey { .. }`
    Each { key: Name, table: Name, header: Span, body: Vec<Item> },
    /// `when m > 0.1 { .. } else { .. }`
    When { condition: Expr, then: Vec<Item>, otherwise: Option<Vec<Item>> },
    /// `fn f(x, y: real) -> real = x + y`
    Fn { name: Name, formals: Vec<Formal>, result: Option<Type>, body: Expr },
    /// `model m(y: bool) { .. return e }`
    Model { name: Name, formals: Vec<Formal>, body: Vec<Item>, result: Expr },
}

/// The header and columns of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    pub name: Name,
    pub rows: Rows,
    pub unit: Option<Unit>,
    pub columns: Vec<Column>,
    /// From the keyword to the end of `[..]` or of `by .. max ..`.
    pub header: Span,
}

/// `[1200]`, `[n]`, `[n >= 100]`, `[private n]`
#[derive(Clone, PartialEq, Debug)]
pub struct Rows {
    /// The brackets and what is between them.
    pub span: Span,
    pub kind: RowsKind,
}

#[derive(Clone, PartialEq, Debug)]
pub enum RowsKind {
    Exactly(u64),
    Named { secret: bool, name: Name, at_least: Option<Spanned<u64>> },
}

/// `by patient max 4`, `by patient max 4 order visit`
#[derive(Clone, PartialEq, Debug)]
pub struct Unit {
    pub key: Name,
    pub max_rows: Spanned<u64>,
    /// The column whose least values say which rows are kept.
    pub order: Option<Name>,
    pub span: Span,
}

/// `hours from "hours-per-week": public int in 1..99 else 40`
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    pub name: Name,
    /// Header text in the file, unquoted; a vector may name several, separated by commas.
    pub from: Option<Name>,
    pub public: bool,
    pub ty: Type,
    /// What a missing or unreadable cell means.
    pub missing: Option<Expr>,
    pub span: Span,
}

/// A type as written: `real in [0, 1]`, `vector[9] in l2(1)`, `category {a, b}`.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    pub base: TypeBase,
    pub domain: Option<Domain>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TypeBase {
    /// Level names, unquoted.
    Category(Vec<Name>),
    /// `real`, `vector[d]`, `matrix[r, c]`, `counts[k]`, ..; dims as written.
    Named { name: Name, dims: Vec<Expr> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Domain {
    pub kind: DomainKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum DomainKind {
    /// `[a, b]`
    Interval(Expr, Expr),
    /// `a..b`, `a..`
    Range(Expr, Option<Expr>),
    /// `l2(1)`
    Ball(Call),
    /// `of N`, for `counts[k] of N`
    Total(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Release {
    pub name: Name,
    pub query: Call,
    pub using: Option<Using>,
    pub spend: Option<Spend>,
}

/// `using diffuse(r = 0.5) assuming convergence`, or `assuming tv(1e-8)`
#[derive(Clone, PartialEq, Debug)]
pub struct Using {
    pub mechanism: Mechanism,
    /// Span of the words `assuming convergence`, or of those in their place.
    pub assuming: Option<Span>,
    /// `tv(1e-8)`, where it is written for `convergence`.
    pub within: Option<Call>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Mechanism {
    /// `?`
    Hole,
    Named {
        name: Name,
        args: Vec<Arg>,
    },
}

/// `spend 20%`, `spend zcdp(0.01)`
#[derive(Clone, PartialEq, Debug)]
pub struct Spend {
    pub kind: SpendKind,
    /// From `spend` to the end.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SpendKind {
    /// 20% is 20.0
    Percent(f64),
    Cost(Call),
}

/// `std_name(args)`, `a.b(args)`
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub path: Vec<Name>,
    pub args: Vec<Arg>,
    pub span: Span,
}

/// `x`, `order = 8`
#[derive(Clone, PartialEq, Debug)]
pub struct Arg {
    pub name: Option<Name>,
    pub value: Expr,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Formal {
    pub name: Name,
    pub ty: Option<Type>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// The number and its text as written (`0.10` keeps its digits for `expect`).
    Number(f64, String),
    /// 20% is 0.2 as an expression.
    Percent(f64),
    Text(String),
    Bool(bool),
    Hole,
    Name(String),
    List(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Arg>),
    /// A vector and one index, or a table and one level for each of its axes.
    Index(Box<Expr>, Vec<Expr>),
    Field(Box<Expr>, Name),
    /// A parenthesised expression: kept so that the formatter can print what was written.
    Paren(Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Neg,
    Not,
}

/// `a, true` for the level of several columns, `true` for that of a bool; `None` for a single index of another kind.
pub fn level_name(indices: &[Expr]) -> Option<String> {
    fn word(e: &Expr) -> Option<String> {
        match &e.kind {
            ExprKind::Name(word) | ExprKind::Text(word) => Some(word.clone()),
            ExprKind::Bool(b) => Some(b.to_string()),
            // A feature that has no name but its place, and one of a level, `sex[male]`.
            ExprKind::Number(x, _) if x.fract() == 0.0 => Some(x.to_string()),
            ExprKind::Index(of, at) => Some(format!("{}[{}]", word(of)?, at.iter().map(word).collect::<Option<Vec<_>>>()?.join(", "))),
            _ => None,
        }
    }
    match indices {
        [one] if !matches!(one.kind, ExprKind::Bool(_)) => None,
        several => Some(several.iter().map(word).collect::<Option<Vec<_>>>()?.join(", ")),
    }
}
