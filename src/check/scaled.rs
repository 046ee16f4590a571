//! Summaries of a released posterior times a number.

use super::scope::Binding;
use super::{Checked, Checker};
use crate::model::{Builtin, Expr, Label, Type};
use crate::numeric::Binary;
use crate::source::Span;
use crate::syntax::ast;

impl Checker<'_> {
    /// `interval(1000 * post, 0.9)` is `1000 * interval(post, 0.9)`; `None` where the first argument is not such a product.
    pub(super) fn of_scaled(&mut self, name: &str, args: &[ast::Arg], span: Span) -> Option<Checked<Expr>> {
        let [first, rest @ ..] = args else { return None };
        let ast::ExprKind::Binary(op @ (Binary::Mul | Binary::Div), a, b) = &bare(&first.value).kind else { return None };
        let (post, factor) = if self.names_posterior(a) { (a, b) } else { (b, a) };
        if !matches!(name, "mean" | "sd" | "interval" | "quantile" | "quantiles") || !self.names_posterior(post) {
            return None;
        }
        let by = match self.expr(factor) {
            Ok(by) => by,
            Err(stop) => return Some(Err(stop)),
        };
        // A negative factor turns an interval around, and what divides must not be the posterior.
        let positive = by.label == Label::Public && by.ty.is_scalar_number() && by.ty.range().is_some_and(|r| r.lo > 0.0);
        if !positive || (*op == Binary::Div && self.names_posterior(b)) {
            return None;
        }
        let own = ast::Arg { value: (**post).clone(), ..first.clone() };
        let args: Vec<ast::Arg> = std::iter::once(own).chain(rest.iter().cloned()).collect();
        Some(self.builtin(name, &args, span).and_then(|whole| self.apply(Builtin::Binary(*op), vec![whole, by], span)))
    }

    /// Is it the name of a posterior, or a part of one?
    fn names_posterior(&self, e: &ast::Expr) -> bool {
        match &bare(e).kind {
            ast::ExprKind::Name(name) => match self.scopes.find(name).map(|e| &e.binding) {
                Some(Binding::Release(id)) => self.release(*id).is_some_and(|r| matches!(r.ty, Type::Posterior(_))),
                Some(Binding::Value(e)) => matches!(e.ty, Type::Posterior(_)),
                _ => false,
            },
            ast::ExprKind::Index(base, _) | ast::ExprKind::Field(base, _) => self.names_posterior(base),
            _ => false,
        }
    }
}

fn bare(e: &ast::Expr) -> &ast::Expr {
    if let ast::ExprKind::Paren(inner) = &e.kind { bare(inner) } else { e }
}
