//! `expect`: facts about types, labels and certificates; those the checker knows are decided here.

use super::scope::Binding;
use super::{Checked, Checker, Stop};
use crate::model::{Binary, Builtin, Expect, Fact, Label, ReleaseId, Step};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{self, ExprKind};

impl Checker<'_> {
    pub(super) fn expect(&mut self, condition: &ast::Expr, span: Span) -> Checked<Step> {
        self.price(span)?;
        let ExprKind::Binary(op, left, right) = &condition.kind else { return self.not_a_fact(condition.span) };
        let fact = match (&left.kind, call_name(left)) {
            (_, Some("certificate")) if *op == Binary::Le => self.cost_fact(left, right)?,
            (ExprKind::Field(base, field), _) if call_name(base) == Some("certificate") => self.field_fact(base, field, *op, right)?,
            (_, Some("rule")) if *op == Binary::Eq => Fact::RuleIs { release: self.one_release(left)?, name: self.text(right)? },
            (_, Some("status")) if *op == Binary::Eq => Fact::StatusIs { release: self.one_release(left)?, name: self.text(right)? },
            (_, Some("label")) if *op == Binary::Eq => self.label_fact(left, right)?,
            (_, Some("sensitivity")) => self.sensitivity_fact(left, *op, right)?,
            _ => return self.not_a_fact(condition.span),
        };
        Ok(Step::Expect(Expect { fact, span }))
    }

    fn not_a_fact<T>(&mut self, span: Span) -> Checked<T> {
        self.fail(
            Diagnostic::new("E0209", "`expect` states a fact about certificates, rules, labels or sensitivities").label(span, "not such a fact").help(
                "expect certificate(p_hat) <= rdp(order = 8, eps = 0.5)\nexpect certificate(p_hat).max_order == 9.978\nexpect rule(p_hat) == \"beta_bernoulli\"\nexpect sensitivity(sum(y)) == 200",
            ),
        )
    }

    fn cost_fact(&mut self, left: &ast::Expr, right: &ast::Expr) -> Checked<Fact> {
        let release = self.release_or_total(left)?;
        let ExprKind::Call(f, args) = &right.kind else { return self.not_a_fact(right.span) };
        let ExprKind::Name(name) = &f.kind else { return self.not_a_fact(right.span) };
        let call = ast::Call { path: vec![ast::Name::new(name.clone(), f.span)], args: args.clone(), span: right.span };
        Ok(Fact::CostAtMost { release, limit: self.cost(&call)? })
    }

    fn field_fact(&mut self, base: &ast::Expr, field: &ast::Name, op: Binary, right: &ast::Expr) -> Checked<Fact> {
        let release = self.release_or_total(base)?;
        if !matches!(field.value.as_str(), "max_order" | "eps" | "pure" | "bounded_range" | "zcdp" | "gdp") {
            return self.fail(
                Diagnostic::new("E0206", format!("a certificate has no field `{}`", field.value))
                    .label(field.span, "unknown field")
                    .help("max_order, pure, bounded_range, zcdp, gdp"),
            );
        }
        let compare = match op {
            Binary::Eq | Binary::Le | Binary::Ge | Binary::Lt | Binary::Gt => Builtin::Binary(op),
            _ => return self.not_a_fact(right.span),
        };
        let value = self.public_constant(right, "the expected number")?;
        Ok(Fact::Field { release, field: field.value.clone(), compare, value, tolerance: tolerance(right) })
    }

    fn label_fact(&mut self, left: &ast::Expr, right: &ast::Expr) -> Checked<Fact> {
        let arg = self.one_argument(left)?.clone();
        let e = self.expr(&arg)?;
        let found = self.label_name(e.label);
        let want = self.text(right)?;
        Ok(Fact::Checked { holds: want == found, found: format!("the label is \"{found}\"") })
    }

    /// The label as `expect label(..)` writes it.
    pub(super) fn label_name(&self, label: Label) -> &'static str {
        match label {
            Label::Public => "public",
            Label::Row(t) if !self.table(t).is_some_and(|t| t.private) => "public",
            Label::Row(_) => "row",
            Label::Aggregate(_) => "aggregate",
            Label::Latent => "latent",
            Label::Mix(_) => "mix",
        }
    }

    fn sensitivity_fact(&mut self, left: &ast::Expr, op: Binary, right: &ast::Expr) -> Checked<Fact> {
        let ExprKind::Call(_, args) = &left.kind else { return Err(Stop) };
        let (query, norm) = match args.as_slice() {
            [q] => (q, "1".to_string()),
            [q, n] if n.name.as_ref().is_some_and(|x| x.value == "norm") => (q, self.written(n.value.span)),
            _ => return self.not_a_fact(left.span),
        };
        let e = self.expr(&query.value)?;
        let Label::Aggregate(table) = e.label else {
            return self.fail(
                Diagnostic::new("E0209", "`sensitivity` is about a value of the whole table")
                    .label(e.span, "not an aggregate")
                    .help("sensitivity(sum(y))"),
            );
        };
        let records = self.records(table)?;
        let n = super::sensitivity::sensitivity(&e, &records);
        let value = match norm.as_str() {
            "1" => n.l1,
            "2" => n.l2,
            "inf" => n.linf,
            _ => return self.not_a_fact(left.span),
        };
        let want = self.public_constant(right, "the expected number")?;
        let holds = holds(value, op, want, tolerance(right));
        Ok(Fact::Checked { holds, found: format!("the sensitivity is {value}") })
    }

    fn one_argument<'e>(&mut self, call: &'e ast::Expr) -> Checked<&'e ast::Expr> {
        match &call.kind {
            ExprKind::Call(_, args) if args.len() == 1 => args.first().map(|a| &a.value).ok_or(Stop),
            _ => self.not_a_fact(call.span),
        }
    }

    fn release_or_total(&mut self, call: &ast::Expr) -> Checked<Option<ReleaseId>> {
        let arg = self.one_argument(call)?;
        match &arg.kind {
            ExprKind::Name(n) if n == "total" && self.scopes.find(n).is_none() => Ok(None),
            _ => self.one_release(call).map(Some),
        }
    }

    fn one_release(&mut self, call: &ast::Expr) -> Checked<ReleaseId> {
        let arg = self.one_argument(call)?;
        let ExprKind::Name(name) = &arg.kind else { return self.not_a_fact(arg.span) };
        match self.scopes.find(name).map(|e| e.binding.clone()) {
            Some(Binding::Release(id)) if self.program.records.iter().all(|r| r.id != id) => Ok(id),
            Some(Binding::Poisoned) => Err(Stop),
            Some(_) => self.fail(
                Diagnostic::new("E0209", format!("`{name}` is not a release"))
                    .label(arg.span, "only a release has a certificate")
                    .help("name a release, or `total`"),
            ),
            None => self.unknown(name, arg.span),
        }
    }

    fn text(&mut self, e: &ast::Expr) -> Checked<String> {
        match &e.kind {
            ExprKind::Text(s) => Ok(s.clone()),
            _ => self.fail(Diagnostic::new("E0209", "a text in quotes is expected here").label(e.span, "not a text")),
        }
    }
}

fn call_name(e: &ast::Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Call(f, _) => match &f.kind {
            ExprKind::Name(n) => Some(n.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Half a unit of the last digit written: `9.978` stands for 9.9775 to 9.9785.
fn tolerance(e: &ast::Expr) -> f64 {
    let ExprKind::Number(_, text) = &e.kind else { return 1e-12 };
    let (mantissa, exponent) = match text.to_ascii_lowercase().split_once('e') {
        Some((m, x)) => (m.to_string(), x.parse::<i32>().unwrap_or(0)),
        None => (text.clone(), 0),
    };
    let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len().min(300)) as i32;
    // A whole number written without a point is meant exactly, up to rounding of what is computed.
    let unit = libm::pow(10.0, f64::from(exponent.saturating_sub(decimals)));
    if decimals == 0 && exponent == 0 { 1e-9 } else { unit / 2.0 }
}

/// `==` holds to the digits written; limits are rounded down, so a value may lie a whole unit above what is written.
pub(crate) fn holds(value: f64, op: Binary, want: f64, tolerance: f64) -> bool {
    match op {
        Binary::Eq => (value - want).abs() <= tolerance * (1.0 + 1e-9) + 1e-9 * want.abs(),
        Binary::Le => value <= want,
        Binary::Ge => value >= want,
        Binary::Lt => value < want,
        Binary::Gt => value > want,
        Binary::Ne => value != want,
        _ => false,
    }
}
