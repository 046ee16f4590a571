//! Dates: their domains, the text that means a day, and what may be computed of them.

use super::expressions::number;
use super::messages::type_text;
use super::{Checked, Checker};
use crate::model::{Builtin, Expr, ExprKind, Range, Type};
use crate::numeric::calendar;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

const DOMAIN: &str = "date in [\"2020-01-01\", \"2024-12-31\"]";

impl Checker<'_> {
    /// `"2020-02-29"` as the number of its day.
    pub(super) fn day(&mut self, e: &ast::Expr) -> Checked<f64> {
        match &e.kind {
            ast::ExprKind::Text(text) => self.day_of(text, e.span),
            _ => {
                let d = Diagnostic::new("E0209", "a date is written in quotes: year, month, day").label(e.span, "not a date");
                self.fail(d.help("\"2020-02-29\""))
            }
        }
    }

    fn day_of(&mut self, text: &str, span: Span) -> Checked<f64> {
        match calendar::parse(text.as_bytes()) {
            Some(x) => Ok(x),
            None => {
                let d =
                    Diagnostic::new("E0209", "this text is not a day of the calendar").label(span, "four, two and two digits: 2020-02-29");
                self.fail(d.help("a year, a month and a day that the calendar has, in quotes"))
            }
        }
    }

    /// The first and the last day of a `date`.
    pub(super) fn date_domain(&mut self, domain: Option<&ast::Domain>, span: Span) -> Checked<Range> {
        let Some(ast::Domain { kind: ast::DomainKind::Interval(a, b), .. }) = domain else {
            let d = Diagnostic::new("E0203", "a date type needs a first and a last day").label(span, "which days are possible?");
            return self.fail(d.help(Help::from(DOMAIN).over(span)));
        };
        let (lo, hi) = (self.day(a)?, self.day(b)?);
        if lo > hi {
            let d = Diagnostic::new("E0203", "this domain is empty").label(span, "the last day lies before the first");
            let [first, last] = [hi, lo].map(calendar::text);
            return self.fail(d.help(Help::from(("the earlier day first:", format!("date in [\"{first}\", \"{last}\"]"))).over(span)));
        }
        Ok(Range::new(lo, hi))
    }

    /// The arguments of an operation with dates as numbers of days: they are compared and subtracted, nothing else.
    pub(super) fn as_days(&mut self, op: Builtin, args: Vec<Expr>) -> Checked<Vec<Expr>> {
        let Some(date) = args.iter().find(|a| matches!(a.ty, Type::Date(_))) else { return Ok(args) };
        let compared = matches!(op, Builtin::Le | Builtin::Ge | Builtin::Lt | Builtin::Gt | Builtin::Eq | Builtin::Ne);
        if !compared && op != Builtin::Sub {
            let (span, written) = (date.span, self.written(date.span));
            let d = Diagnostic::new("E0209", "a date is not a number").label(span, "a date");
            let days = Help::from(("count days from a fixed date:", format!("({written} - \"2020-01-01\")"))).over(span);
            return self.fail(d.help(days));
        }
        let day = |checker: &mut Self, e: Expr| -> Checked<Expr> {
            match (&e.ty, &e.kind) {
                (Type::Date(_), _) => Ok(days(e)),
                (Type::Text, ExprKind::Text(text)) => Ok(number(checker.day_of(&text.clone(), e.span)?, e.span)),
                (other, _) => {
                    let what = type_text(other);
                    let d = Diagnostic::new("E0209", "a date goes with another date").label(e.span, what);
                    checker.fail(d.help(("a day in quotes:", "\"2020-02-29\"")))
                }
            }
        };
        args.into_iter().map(|e| day(self, e)).collect()
    }
}

/// A date as a number of days: of a row a whole one.
pub(super) fn days(e: Expr) -> Expr {
    let ty = match (&e.ty, &e.kind) {
        (Type::Date(r), ExprKind::Column(..)) => Type::Int(*r),
        (Type::Date(r), _) => Type::Real(*r),
        _ => return e,
    };
    Expr { ty, ..e }
}
