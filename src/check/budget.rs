//! The budget of a program, and costs as they are written.

use super::{Checked, Checker};
use crate::model::{Budget, BudgetKind};
use crate::numeric::Amount;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;

/// Every release is priced at every order of a budget.
const MAX_ORDERS: usize = 100;

impl Checker<'_> {
    pub(super) fn declare_budget(&mut self, call: &ast::Call, span: Span) -> Checked<()> {
        if let Some(first) = self.program.budget.as_ref().map(|b| b.span) {
            return self.fail(
                Diagnostic::new("E0207", "a program has one budget")
                    .label(span, "again here")
                    .label(first, "first here")
                    .help("split it among releases: `spend 20%`"),
            );
        }
        let kind = self.cost(call)?;
        self.program.budget = Some(Budget { kind, span: call.span });
        Ok(())
    }

    /// `eps(1)`, `dp(eps = 1, delta = 1e-6)`, `rdp(order = 8, eps = 0.5)`, `zcdp(0.1)`, `gdp(1)`.
    pub(super) fn cost(&mut self, call: &ast::Call) -> Checked<BudgetKind> {
        let name = call.path.last().map(|n| n.value.clone()).unwrap_or_default();
        let names: &[&str] = match name.as_str() {
            "eps" | "zcdp" | "gdp" => &["value"],
            "dp" => &["eps", "delta"],
            "rdp" => &["order", "eps"],
            _ => {
                let near = crate::source::suggest::did_you_mean(&name, ["eps", "dp", "rdp", "zcdp", "gdp"]);
                let d = Diagnostic::new("E0206", format!("there is no budget `{name}`")).label(call.span, "not a privacy budget");
                return self.fail(match near {
                    Some(n) => d.near(call.path.first().map_or(call.span, |name| name.span), &n),
                    None => d.help("eps(1), dp(eps = 1, delta = 1e-6), rdp(order = 8, eps = 0.5), zcdp(0.1), gdp(1)"),
                });
            }
        };
        let mut slots: Vec<Option<Vec<f64>>> = names.iter().map(|_| None).collect();
        for (i, arg) in call.args.iter().enumerate() {
            let at = match &arg.name {
                Some(n) => {
                    names.iter().position(|k| *k == n.value || *k == "value" && (n.value == "eps" || n.value == "rho" || n.value == "mu"))
                }
                None => Some(i),
            };
            let order = at.and_then(|i| names.get(i)) == Some(&"order");
            let Some(slot) = at.and_then(|i| slots.get_mut(i)).filter(|s| s.is_none()) else {
                return self.cost_arity(&name, call.span);
            };
            if let ast::ExprKind::Percent(_) = arg.value.kind {
                return self.fail(
                    Diagnostic::new("E0203", "a budget is an amount, not a share")
                        .label(arg.value.span, "percent of what?")
                        .help(format!("budget {}", form(&name))),
                );
            }
            let values = match &arg.value.kind {
                ast::ExprKind::List(items) if name == "rdp" => {
                    items.iter().map(|e| self.amount(e, order)).collect::<Checked<Vec<f64>>>()?
                }
                _ => vec![self.amount(&arg.value, order)?],
            };
            *slot = Some(values);
        }
        let given: Vec<Vec<f64>> = slots.into_iter().flatten().collect();
        let positive = given.iter().flatten().all(|x| *x > 0.0 && x.is_finite());
        if given.len() != names.len() {
            return self.cost_arity(&name, call.span);
        }
        if !positive {
            return self.fail(
                Diagnostic::new("E0203", "the numbers of a budget must be positive and finite")
                    .label(call.span, "here")
                    .help(format!("{name} with values above 0")),
            );
        }
        let one = |i: usize| given.get(i).and_then(|v| v.first().copied()).unwrap_or(0.0);
        match name.as_str() {
            "eps" => Ok(BudgetKind::Pure(one(0))),
            "zcdp" => Ok(BudgetKind::Zcdp(one(0))),
            "gdp" => Ok(BudgetKind::Gdp(one(0))),
            "dp" if one(1) >= 1.0 => self.fail(
                Diagnostic::new("E0203", "delta is a probability well below 1")
                    .label(call.span, format!("delta = {}", one(1)))
                    .help("delta = 1e-6"),
            ),
            "dp" => Ok(BudgetKind::Dp { epsilon: one(0), delta: one(1) }),
            _ => {
                let (orders, eps) = (given.first().cloned().unwrap_or_default(), given.get(1).cloned().unwrap_or_default());
                if orders.len() != eps.len() || orders.iter().any(|o| *o <= 1.0) {
                    return self.fail(
                        Diagnostic::new("E0203", "every Rényi order lies above 1 and has its own eps")
                            .label(call.span, format!("{} orders, {} eps", orders.len(), eps.len()))
                            .help("rdp(order = [2, 8], eps = [0.1, 0.5])"),
                    );
                }
                if orders.len() > MAX_ORDERS {
                    return self.fail(
                        Diagnostic::new("E0025", format!("{} Rényi orders, the limit is {MAX_ORDERS}", orders.len()))
                            .label(call.span, "too many orders")
                            .help(("keep the orders that matter, for example:", "rdp(order = [2, 8, 32], eps = [0.1, 0.4, 1.6])")),
                    );
                }
                Ok(BudgetKind::Rdp(orders.into_iter().zip(eps).collect()))
            }
        }
    }

    /// A number of a budget. Digits that no double holds are rounded to the private side: an order up, all else down.
    fn amount(&mut self, e: &ast::Expr, order: bool) -> Checked<f64> {
        let x = self.public_constant(e, "a budget")?;
        let ast::ExprKind::Number(_, text) = &e.kind else { return Ok(x) };
        let (held, written) = (Amount::of(x), Amount::parse(text));
        let private = if order { held < written } else { held > written };
        // A text too long for an amount is not an exact one either.
        Ok(match (private || written.is_none(), order) {
            (false, _) => x,
            (true, true) => x.next_up(),
            (true, false) => x.next_down(),
        })
    }

    fn cost_arity<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        self.fail(
            Diagnostic::new("E0208", format!("`{name}` is written with other arguments"))
                .label(span, "wrong number or names")
                .help(form(name)),
        )
    }
}

/// An example of each kind of budget.
fn form(name: &str) -> &'static str {
    match name {
        "dp" => "dp(eps = 1, delta = 1e-6)",
        "rdp" => "rdp(order = 8, eps = 0.5)",
        "zcdp" => "zcdp(0.1)",
        "gdp" => "gdp(1)",
        _ => "eps(1)",
    }
}
