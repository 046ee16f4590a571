//! Flat rows of operands and operators into expression trees, by binding power.

use std::iter::Peekable;

use pest::iterators::{Pair, Pairs};

use super::ast::{Arg, Expr, ExprKind, Name, UnaryOp};
use super::errors;
use super::from_pest::{Builder, Read};
use super::grammar::Rule;
use super::print::binary_power;
use super::sizes::MAX_NESTING;
use crate::numeric::Binary;
use crate::source::Span;

/// Binding powers, left and right. Comparison does not associate; `^` takes a unary minus on its right.
fn powers(symbol: &str) -> Option<(Binary, u8, u8)> {
    let op = Binary::ALL.into_iter().find(|op| op.sign() == Some(symbol))?;
    let left = binary_power(op);
    Some((op, left, if op == Binary::Pow { NEGATE } else { left + 1 }))
}

const NOT: u8 = 5;
const COMPARE: u8 = 7;
/// Above `*`, below `^`: `-x^2` is `-(x^2)`.
const NEGATE: u8 = 13;

/// A tree and its height, so that chains such as `1 + 1 + ..` stay within [`MAX_NESTING`] like brackets do.
struct Tall {
    expr: Expr,
    height: usize,
}

fn leaf(kind: ExprKind, span: Span) -> Tall {
    Tall { expr: Expr { kind, span }, height: 1 }
}

type Row<'i> = Peekable<Pairs<'i, Rule>>;

impl Builder<'_> {
    /// expr
    pub(super) fn expr(&mut self, pair: Pair<'_, Rule>) -> Read<Expr> {
        self.tall(pair).map(|tall| tall.expr)
    }

    fn tall(&mut self, pair: Pair<'_, Rule>) -> Read<Tall> {
        let span = self.span(&pair);
        let mut row = pair.into_inner().peekable();
        match row.peek().map(Pair::as_rule) {
            Some(Rule::if_) => {
                let Some(pair) = row.next() else {
                    return Err(errors::bug(span));
                };
                self.deeper(span, |builder| builder.if_(pair))
            }
            _ => self.climb(&mut row, 0, span),
        }
    }

    /// Runs `read` one level deeper; the levels are limited because it recurses.
    fn deeper<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth > MAX_NESTING {
            return Err(errors::too_deep(span));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn grow(&self, kind: ExprKind, span: Span, below: usize) -> Read<Tall> {
        if below >= MAX_NESTING {
            return Err(errors::too_deep(span));
        }
        Ok(Tall { expr: Expr { kind, span }, height: below + 1 })
    }

    /// if_
    fn if_(&mut self, pair: Pair<'_, Rule>) -> Read<Tall> {
        let span = self.span(&pair);
        let mut parts = self.parts(pair);
        let condition = self.tall(parts.take(Rule::expr)?)?;
        let then = self.tall(parts.take(Rule::expr)?)?;
        let otherwise = self.tall(parts.take(Rule::expr)?)?;
        let below = condition.height.max(then.height).max(otherwise.height);
        let kind = ExprKind::If(Box::new(condition.expr), Box::new(then.expr), Box::new(otherwise.expr));
        self.grow(kind, span, below)
    }

    fn climb(&mut self, row: &mut Row<'_>, least: u8, span: Span) -> Read<Tall> {
        self.deeper(span, |builder| builder.climb_on(row, least, span))
    }

    fn climb_on(&mut self, row: &mut Row<'_>, least: u8, span: Span) -> Read<Tall> {
        let mut left = self.operand(row, least, span)?;
        while let Some(pair) = row.peek() {
            let Some((op, left_power, right_power)) = powers(pair.as_str()) else {
                return Err(errors::bug(span));
            };
            if left_power < least {
                break;
            }
            let sign = self.span(pair);
            row.next();
            let right = self.climb(row, right_power, span)?;
            let whole = left.expr.span.to(right.expr.span);
            if left_power == COMPARE
                && let Some(next) = row.peek()
                && powers(next.as_str()).is_some_and(|(_, power, _)| power == COMPARE)
            {
                let second = next.as_str();
                row.next();
                let third = self.climb(row, right_power, span)?.expr.span;
                let parts =
                    [self.words_of(left.expr.span), self.words_of(sign), self.words_of(right.expr.span), second, self.words_of(third)];
                return Err(errors::comparison_chain(whole.to(third), parts));
            }
            let below = left.height.max(right.height);
            let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
            left = self.grow(kind, whole, below)?;
        }
        Ok(left)
    }

    /// prefix* primary (args | index | field)*
    fn operand(&mut self, row: &mut Row<'_>, least: u8, span: Span) -> Read<Tall> {
        let Some(pair) = row.next() else {
            return Err(errors::bug(span));
        };
        if pair.as_rule() == Rule::prefix {
            let start = self.span(&pair);
            let (op, power) = match pair.as_str() {
                "not" => (UnaryOp::Not, NOT),
                _ => (UnaryOp::Neg, NEGATE),
            };
            if op == UnaryOp::Not && least > NOT {
                let negated = self.operand(row, NEGATE, span)?.expr.span;
                return Err(errors::not_inside(start, start.to(negated), self.words_of(negated)));
            }
            let value = self.climb(row, power, span)?;
            let whole = start.to(value.expr.span);
            let kind = ExprKind::Unary(op, Box::new(value.expr));
            return self.grow(kind, whole, value.height);
        }
        let mut tall = self.primary(pair)?;
        while let Some(pair) = row.next_if(|next| matches!(next.as_rule(), Rule::args | Rule::index | Rule::field)) {
            let whole = tall.expr.span.to(self.span(&pair));
            tall = self.postfix(tall, pair, whole)?;
        }
        Ok(tall)
    }

    fn postfix(&mut self, tall: Tall, pair: Pair<'_, Rule>, whole: Span) -> Read<Tall> {
        let Tall { expr, height } = tall;
        match pair.as_rule() {
            Rule::args => {
                let (args, below) = self.tall_args(pair)?;
                let kind = ExprKind::Call(Box::new(expr), args);
                self.grow(kind, whole, height.max(below))
            }
            Rule::index => {
                let (indices, below) = self.tall_list(pair)?;
                self.grow(ExprKind::Index(Box::new(expr), indices), whole, height.max(below))
            }
            _ => {
                let name = self.parts(pair).take(Rule::ident)?;
                let kind = ExprKind::Field(Box::new(expr), self.name(&name));
                self.grow(kind, whole, height)
            }
        }
    }

    /// primary
    fn primary(&mut self, pair: Pair<'_, Rule>) -> Read<Tall> {
        let span = self.span(&pair);
        let text = pair.as_str();
        Ok(match pair.as_rule() {
            Rule::number => {
                let value = self.real(text, span)?;
                leaf(ExprKind::Number(value, text.to_owned()), span)
            }
            Rule::percent => {
                let value = self.real(text.trim_end_matches('%'), span)?;
                leaf(ExprKind::Percent(value / 100.0), span)
            }
            Rule::string => leaf(ExprKind::Text(text.trim_matches('"').to_owned()), span),
            Rule::boolean => leaf(ExprKind::Bool(text == "true"), span),
            Rule::hole => leaf(ExprKind::Hole, span),
            Rule::ident => leaf(ExprKind::Name(text.to_owned()), span),
            Rule::paren => {
                let inner = self.tall(self.parts(pair).take(Rule::expr)?)?;
                let kind = ExprKind::Paren(Box::new(inner.expr));
                return self.grow(kind, span, inner.height);
            }
            Rule::list => {
                let (values, below) = self.tall_list(pair)?;
                return self.grow(ExprKind::List(values), span, below);
            }
            _ => return Err(errors::bug(span)),
        })
    }

    /// A finite number; more digits than a number can hold are refused, not rounded to infinity.
    pub(super) fn real(&self, text: &str, span: Span) -> Read<f64> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(errors::number_too_large(span, "1.79e308")),
        }
    }

    fn tall_list(&mut self, pair: Pair<'_, Rule>) -> Read<(Vec<Expr>, usize)> {
        let (mut values, mut below) = (vec![], 0);
        for pair in pair.into_inner() {
            let value = self.tall(pair)?;
            below = below.max(value.height);
            values.push(value.expr);
        }
        Ok((values, below))
    }

    /// args
    pub(super) fn args(&mut self, pair: Pair<'_, Rule>) -> Read<Vec<Arg>> {
        self.tall_args(pair).map(|(args, _)| args)
    }

    fn tall_args(&mut self, pair: Pair<'_, Rule>) -> Read<(Vec<Arg>, usize)> {
        let mut below = 0;
        let mut args = vec![];
        for pair in pair.into_inner() {
            let span = self.span(&pair);
            let mut parts = self.parts(pair);
            let name: Option<Name> = parts.maybe(Rule::ident).map(|p| self.name(&p));
            let value = self.tall(parts.take(Rule::expr)?)?;
            below = below.max(value.height);
            args.push(Arg { name, value: value.expr, span });
        }
        Ok((args, below))
    }
}
