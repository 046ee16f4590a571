//! The budget of a program, and costs as they are written.

use super::{Checked, Checker};
use crate::model::{Assumed, Budget, BudgetKind, releases};
use crate::numeric::amount::{above, below};
use crate::numeric::decimal::down12;
use crate::numeric::round::{add_up, mul_up};
use crate::numeric::{Amount, Interval};
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
        self.program.budget = Some(Budget { kind, assumed: None, span: call.span });
        Ok(())
    }

    /// `tv(1e-8)`
    pub(super) fn total_variation(&mut self, call: &ast::Call) -> Checked<f64> {
        let help = ("a distance that holds for every data set:", "assuming tv(1e-8)");
        match (call.path.as_slice(), call.args.as_slice()) {
            ([name], [arg]) if name.value == "tv" && arg.name.is_none() => match self.public_constant(&arg.value, "a total variation")? {
                x if x > 0.0 && x < 1.0 => Ok(x),
                _ => self.fail(
                    Diagnostic::new("E0203", "a total variation lies between 0 and 1")
                        .label(arg.value.span, "outside of (0, 1)")
                        .help(help),
                ),
            },
            _ => self
                .fail(Diagnostic::new("E0208", "convergence can be assumed, or a total variation").label(call.span, "neither").help(help)),
        }
    }

    /// What exact draws may cost where releases assume a total variation: the delta that is written less `(1 + exp(eps))` times their
    /// sum (rule book, section 11.1).
    pub(super) fn pay_for_assumptions(&mut self) -> Checked<()> {
        let assuming = |tv: Option<f64>, span: Span| Some((tv?, span));
        let all = releases(&self.program.steps);
        let all: Vec<(f64, Span)> = all.into_iter().filter_map(|r| assuming(r.mechanism.tv, r.mechanism.span.unwrap_or(r.span))).collect();
        let Some((_, first)) = all.first().copied() else { return Ok(()) };
        let tv = all.iter().fold(0.0, |sum, (x, _)| add_up(sum, above(*x)));
        let Some(Budget { kind: BudgetKind::Dp { epsilon, delta }, assumed: None, span }) = self.program.budget.clone() else {
            let d = Diagnostic::new("E0403", "a total variation is paid for by delta, and there is no budget of epsilon and delta");
            let d = d.label(first, "within a total variation of an exact draw is no other kind of guarantee");
            return self.fail(d.help("budget dp(eps = 1, delta = 1e-6)"));
        };
        let factor = (Interval::ONE + Interval::point(above(epsilon)).exp()).hi;
        let paid = mul_up(factor, tv);
        let left = down12((below(delta) - paid).next_down());
        if !(left > 0.0 && left.is_finite()) {
            let shown = crate::numeric::decimal::sig_up(paid, 3);
            return self.fail(
                Diagnostic::new(
                    "E0403",
                    format!("the total variation that is assumed takes {shown} of delta, and there is no more than {delta}"),
                )
                .label(first, "(1 + exp(eps)) times the total variation is added to delta")
                .label(span, "budget")
                .help("assume a smaller total variation, which a longer chain may have, or allow a larger delta"),
            );
        }
        self.program.budget = Some(Budget { kind: BudgetKind::Dp { epsilon, delta: left }, assumed: Some(Assumed { delta, tv }), span });
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
                Diagnostic::new("E0203", "a budget is made of positive finite numbers")
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
