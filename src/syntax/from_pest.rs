//! Pest pairs into the tree: one function per grammar rule, in the order of the grammar, no semantics.

use pest::iterators::{Pair, Pairs};

use super::ast::*;
use super::errors;
use super::grammar::Rule;
use super::split::Word;
use crate::source::{Diagnostic, FileId, Span, Spanned};

/// A part of the tree, or the one complaint that stopped it.
pub(super) type Read<T> = Result<T, Box<Diagnostic>>;

/// Turns the pairs of one piece of a file into tree nodes.
pub(super) struct Builder<'a> {
    pub file: FileId,
    /// The whole file, and its words: a pair of pest may end in blanks or a comment, a node ends in a word.
    pub text: &'a str,
    pub words: &'a [Word],
    /// Where the piece starts in the file, in bytes.
    pub base: usize,
    /// How deep the expression being read is nested.
    pub depth: usize,
}

/// The pairs below one pair, keywords and punctuation left out.
pub(super) struct Parts<'i> {
    pairs: Pairs<'i, Rule>,
    span: Span,
}

impl<'i> Parts<'i> {
    /// The next pair, which must be of `rule`.
    pub(super) fn take(&mut self, rule: Rule) -> Read<Pair<'i, Rule>> {
        self.maybe(rule).ok_or_else(|| errors::bug(self.span))
    }

    /// The next pair if it is of `rule`.
    pub(super) fn maybe(&mut self, rule: Rule) -> Option<Pair<'i, Rule>> {
        while self.pairs.peek().is_some_and(|p| is_fixed(p.as_rule())) {
            self.pairs.next();
        }
        if self.pairs.peek()?.as_rule() == rule { self.pairs.next() } else { None }
    }
}

/// Rules that stand for one fixed word.
fn is_fixed(rule: Rule) -> bool {
    use Rule::*;
    matches!(
        rule,
        k_use
            | k_budget
            | k_private
            | k_public
            | k_param
            | k_let
            | k_observe
            | k_release
            | k_output
            | k_expect
            | k_fn
            | k_model
            | k_return
            | k_each
            | k_of
            | k_when
            | k_else
            | k_if
            | k_then
            | k_by
            | k_max
            | k_order
            | k_using
            | k_assuming
            | k_from
            | k_spend
            | k_in
            | k_category
            | assign
            | tilde
            | colon
            | at_least
            | left_brace
            | end_brace
            | end_square
            | end_round
    )
}

impl Builder<'_> {
    pub(super) fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        let start = self.base + span.start();
        let limit = self.base + span.end();
        let after = self.words.partition_point(|(_, word)| word.end <= limit);
        let end = after.checked_sub(1).and_then(|i| self.words.get(i)).map_or(limit, |(_, word)| word.end);
        Span::new(self.file, start, end.max(start))
    }

    /// The text under a span of this file.
    pub(super) fn words_of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub(super) fn parts<'i>(&self, pair: Pair<'i, Rule>) -> Parts<'i> {
        Parts { span: self.span(&pair), pairs: pair.into_inner() }
    }

    pub(super) fn name(&self, pair: &Pair<'_, Rule>) -> Name {
        let span = pair.as_span();
        // A name is one word: its pair has no blanks to cut off.
        let span = Span::new(self.file, self.base + span.start(), self.base + span.end());
        Spanned::new(pair.as_str().trim_matches('"').to_owned(), span)
    }

    fn path(&self, pair: Pair<'_, Rule>) -> Vec<Name> {
        pair.into_inner().map(|p| self.name(&p)).collect()
    }

    fn int(&self, pair: &Pair<'_, Rule>) -> Read<Spanned<u64>> {
        let span = self.span(pair);
        match pair.as_str().parse() {
            Ok(value) => Ok(Spanned::new(value, span)),
            Err(_) => Err(errors::number_too_large(span, "1.8e19")),
        }
    }

    /// Any statement that has no block of its own.
    pub(super) fn statement(&mut self, pair: Pair<'_, Rule>) -> Read<ItemKind> {
        let rule = pair.as_rule();
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        Ok(match rule {
            Rule::use_ => ItemKind::Use { path: self.path(parts.take(Rule::path)?) },
            Rule::budget => ItemKind::Budget { call: self.call(parts.take(Rule::call)?)? },
            Rule::private_ => {
                let name = self.name(&parts.take(Rule::ident)?);
                ItemKind::Private(self.table(name, parts, span)?)
            }
            Rule::public_ => {
                let name = self.name(&parts.take(Rule::ident)?);
                if let Some(file) = parts.maybe(Rule::string) {
                    let release = parts.maybe(Rule::field).and_then(|pair| pair.into_inner().next());
                    return Ok(ItemKind::PublicRecord { name, file: self.name(&file), release: release.map(|pair| self.name(&pair)) });
                }
                match parts.maybe(Rule::type_) {
                    None => ItemKind::PublicTable(self.table(name, parts, span)?),
                    Some(ty) => ItemKind::PublicScalar { name, ty: self.type_(ty)?, value: self.maybe_expr(&mut parts)? },
                }
            }
            Rule::param => ItemKind::Param {
                name: self.name(&parts.take(Rule::ident)?),
                ty: self.maybe_type(&mut parts)?,
                prior: self.call(parts.take(Rule::call)?)?,
            },
            Rule::let_ => ItemKind::Let {
                name: self.name(&parts.take(Rule::ident)?),
                ty: self.maybe_type(&mut parts)?,
                value: self.expr(parts.take(Rule::expr)?)?,
            },
            Rule::observe => {
                ItemKind::Observe { outcome: self.path(parts.take(Rule::outcome)?), likelihood: self.call(parts.take(Rule::call)?)? }
            }
            Rule::release => ItemKind::Release(self.release(parts)?),
            Rule::output => ItemKind::Output { name: self.name(&parts.take(Rule::ident)?), value: self.expr(parts.take(Rule::expr)?)? },
            Rule::expect => ItemKind::Expect { condition: self.expr(parts.take(Rule::expr)?)? },
            Rule::fn_ => ItemKind::Fn {
                name: self.name(&parts.take(Rule::ident)?),
                formals: self.formals(parts.take(Rule::formals)?)?,
                result: self.maybe_type(&mut parts)?,
                body: self.expr(parts.take(Rule::expr)?)?,
            },
            // The blocks of these are put in by the caller, who cut them off.
            Rule::each_head => ItemKind::Each {
                key: self.name(&parts.take(Rule::ident)?),
                table: self.name(&parts.take(Rule::ident)?),
                header: span,
                body: vec![],
            },
            Rule::when_head => ItemKind::When { condition: self.expr(parts.take(Rule::expr)?)?, then: vec![], otherwise: None },
            _ => return Err(errors::bug(span)),
        })
    }

    fn table(&mut self, name: Name, mut parts: Parts<'_>, whole: Span) -> Read<Table> {
        let rows = self.rows(parts.take(Rule::rows)?)?;
        let unit = match parts.maybe(Rule::unit) {
            Some(pair) => Some(self.unit(pair)?),
            None => None,
        };
        let columns = parts.take(Rule::columns)?.into_inner();
        let columns = columns.filter(|pair| pair.as_rule() == Rule::column);
        let columns = columns.map(|pair| self.column(pair));
        let columns = columns.collect::<Read<Vec<Column>>>()?;
        let end = unit.as_ref().map_or(rows.span, |unit| unit.span);
        let header = Span { end: end.end, ..whole };
        Ok(Table { name, rows, unit, columns, header })
    }

    fn rows(&mut self, pair: Pair<'_, Rule>) -> Read<Rows> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        if let Some(pair) = parts.maybe(Rule::int) {
            let kind = RowsKind::Exactly(self.int(&pair)?.value);
            return Ok(Rows { span, kind });
        }
        let secret = parts.maybe(Rule::secret).is_some();
        let name = self.name(&parts.take(Rule::ident)?);
        let at_least = match parts.maybe(Rule::int) {
            Some(pair) => Some(self.int(&pair)?),
            None => None,
        };
        let kind = RowsKind::Named { secret, name, at_least };
        Ok(Rows { span, kind })
    }

    fn unit(&mut self, pair: Pair<'_, Rule>) -> Read<Unit> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        Ok(Unit {
            key: self.name(&parts.take(Rule::ident)?),
            max_rows: self.int(&parts.take(Rule::int)?)?,
            order: parts.maybe(Rule::ident).map(|pair| self.name(&pair)),
            span,
        })
    }

    fn column(&mut self, pair: Pair<'_, Rule>) -> Read<Column> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        Ok(Column {
            name: self.name(&parts.take(Rule::ident)?),
            from: parts.maybe(Rule::string).map(|pair| self.name(&pair)),
            public: parts.maybe(Rule::open).is_some(),
            ty: self.type_(parts.take(Rule::type_)?)?,
            missing: match parts.maybe(Rule::missing) {
                Some(pair) => Some(self.expr(self.parts(pair).take(Rule::expr)?)?),
                None => None,
            },
            span,
        })
    }

    fn release(&mut self, mut parts: Parts<'_>) -> Read<Release> {
        Ok(Release {
            name: self.name(&parts.take(Rule::ident)?),
            query: self.call(parts.take(Rule::call)?)?,
            using: match parts.maybe(Rule::using) {
                Some(pair) => Some(self.using(pair)?),
                None => None,
            },
            spend: match parts.maybe(Rule::spend) {
                Some(pair) => Some(self.spend(pair)?),
                None => None,
            },
        })
    }

    fn using(&mut self, pair: Pair<'_, Rule>) -> Read<Using> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let mechanism = if parts.maybe(Rule::hole).is_some() {
            Mechanism::Hole
        } else {
            Mechanism::Named {
                name: self.name(&parts.take(Rule::ident)?),
                args: match parts.maybe(Rule::args) {
                    Some(pair) => self.args(pair)?,
                    None => vec![],
                },
            }
        };
        let (mut assuming, mut within) = (None, None);
        if let Some(pair) = parts.maybe(Rule::assuming) {
            assuming = Some(self.span(&pair));
            let mut words = self.parts(pair);
            if words.maybe(Rule::k_convergence).is_none() {
                within = Some(self.call(words.take(Rule::call)?)?);
            }
        }
        Ok(Using { mechanism, assuming, within, span })
    }

    fn spend(&mut self, pair: Pair<'_, Rule>) -> Read<Spend> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let kind = match parts.maybe(Rule::percent) {
            Some(share) => SpendKind::Percent(self.real(share.as_str().trim_end_matches('%'), span)?),
            None => SpendKind::Cost(self.call(parts.take(Rule::call)?)?),
        };
        Ok(Spend { kind, span })
    }

    /// The name and formals of `model m(..)`.
    pub(super) fn model_head(&mut self, pair: Pair<'_, Rule>) -> Read<(Name, Vec<Formal>)> {
        let mut parts = self.parts(pair);
        let name = self.name(&parts.take(Rule::ident)?);
        Ok((name, self.formals(parts.take(Rule::formals)?)?))
    }

    /// return_
    pub(super) fn result(&mut self, pair: Pair<'_, Rule>) -> Read<Expr> {
        let mut parts = self.parts(pair);
        self.expr(parts.take(Rule::expr)?)
    }

    fn formals(&mut self, pair: Pair<'_, Rule>) -> Read<Vec<Formal>> {
        let formals = pair.into_inner();
        let formals = formals.filter(|pair| pair.as_rule() == Rule::formal);
        let formals = formals.map(|pair| {
            let mut parts = self.parts(pair);
            Ok(Formal { name: self.name(&parts.take(Rule::ident)?), ty: self.maybe_type(&mut parts)? })
        });
        formals.collect()
    }

    fn maybe_type(&mut self, parts: &mut Parts<'_>) -> Read<Option<Type>> {
        match parts.maybe(Rule::type_) {
            Some(pair) => Ok(Some(self.type_(pair)?)),
            None => Ok(None),
        }
    }

    fn maybe_expr(&mut self, parts: &mut Parts<'_>) -> Read<Option<Expr>> {
        match parts.maybe(Rule::expr) {
            Some(pair) => Ok(Some(self.expr(pair)?)),
            None => Ok(None),
        }
    }

    fn type_(&mut self, pair: Pair<'_, Rule>) -> Read<Type> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let base = match parts.maybe(Rule::levels) {
            Some(pair) => {
                let mut names = vec![];
                let levels = pair.into_inner().filter(|p| p.as_rule() == Rule::level);
                names.extend(levels.map(|pair| self.name(&pair)));
                TypeBase::Category(names)
            }
            None => TypeBase::Named {
                name: self.name(&parts.take(Rule::ident)?),
                dims: match parts.maybe(Rule::dims) {
                    Some(pair) => pair.into_inner().map(|pair| self.expr(pair)).collect::<Read<Vec<Expr>>>()?,
                    None => vec![],
                },
            },
        };
        let domain = if let Some(pair) = parts.maybe(Rule::domain) {
            Some(self.domain(pair)?)
        } else if let Some(pair) = parts.maybe(Rule::total) {
            let total = self.expr(self.parts(pair).take(Rule::expr)?)?;
            let span = total.span;
            let kind = DomainKind::Total(total);
            Some(Domain { kind, span })
        } else {
            None
        };
        Ok(Type { base, domain, span })
    }

    fn domain(&mut self, pair: Pair<'_, Rule>) -> Read<Domain> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let kind = if let Some(pair) = parts.maybe(Rule::interval) {
            let mut ends = self.parts(pair);
            let low = self.expr(ends.take(Rule::expr)?)?;
            DomainKind::Interval(low, self.expr(ends.take(Rule::expr)?)?)
        } else {
            let first = self.expr(parts.take(Rule::expr)?)?;
            if parts.maybe(Rule::to).is_some() {
                DomainKind::Range(first, self.maybe_expr(&mut parts)?)
            } else {
                let words = self.words_of(span).to_owned();
                let call = ball(first).ok_or_else(|| errors::not_a_domain(span, &words))?;
                DomainKind::Ball(call)
            }
        };
        Ok(Domain { kind, span })
    }

    fn call(&mut self, pair: Pair<'_, Rule>) -> Read<Call> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        Ok(Call { path: self.path(parts.take(Rule::path)?), args: self.args(parts.take(Rule::args)?)?, span })
    }
}

/// `l2(1)` read as an expression, as the call it is.
fn ball(expr: Expr) -> Option<Call> {
    let span = expr.span;
    let ExprKind::Call(callee, args) = expr.kind else {
        return None;
    };
    let ExprKind::Name(name) = callee.kind else {
        return None;
    };
    let path = vec![Spanned::new(name, callee.span)];
    Some(Call { path, args, span })
}
