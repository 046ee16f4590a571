//! What may not be output, and what to release instead: E0101 for private values, E0107 for parameters.

use super::{Checked, Checker, Stop};
use crate::model::{BudgetKind, Builtin, Expr, ExprKind, Label, TableId};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

impl Checker<'_> {
    /// E0101: a private value in an output.
    pub(super) fn private_output<T>(&mut self, e: &Expr, table: TableId, name: &ast::Name) -> Checked<T> {
        let inside = self.aggregate_inside(e).clone();
        let (text, subject) = match e.label {
            Label::Row(_) => (format!("private: one value for each row of `{}`", self.table_name(table)), e),
            _ => (format!("private: {}", self.aggregate_text(&inside, table)), &inside),
        };
        let d = Diagnostic::new("E0101", "private value in an output").label(subject.span, text);
        let d = self.label_column(d, e, "private column");
        let d = d.cause("`output` is free because it may only post-process released values;\nthis looks at the data again");
        let seen = self.fresh_name("seen");
        let inner = self.written(subject.span);
        let (using, bounds) = (self.using_text(), self.bounds_first(e));
        if self.shares >= 100.0 {
            return self
                .fail(d.help("release it before, with a share that the other releases leave (`spend 80%` there, `spend 20%` here)"));
        }
        let (lead, release, rest) = match e.label {
            Label::Row(_) => ("release a summary of the rows:".to_owned(), format!("mean({inner})"), None),
            _ => {
                let what = match inside.kind {
                    ExprKind::Call(Builtin::RowMean, _) => "the observed mean",
                    _ => "the private value",
                };
                (format!("release {what}, then compare:"), inner, self.rewritten(e.span, &[(subject.span, seen.clone())]))
            }
        };
        let place = if rest.is_some() { subject.span } else { e.span };
        let rest = rest.unwrap_or_else(|| seen.clone());
        let (release, output) = (format!("release {seen} = {release} {using}"), format!("output {} = {rest}", name.value));
        let edits = vec![(self.before_statement(), format!("{release}\n")), (place, seen)];
        self.fail(d.helps(bounds).helps(Help::several(lead, [release, output], edits)))
    }

    /// E0107: a parameter in an output, or in the condition of `when`; `lead` is `output x =` or `when`.
    pub(super) fn parameter_in_output<T>(&mut self, e: &Expr, lead: &str) -> Checked<T> {
        let all = self.latents(std::iter::once(e));
        let Some(first) = all.first().and_then(|p| self.param(*p)).cloned() else { return Err(Stop) };
        let (mut at, mut parts, mut lines) = (e.span, Vec::<(Span, String)>::new(), vec![]);
        // Few draws have a pure epsilon; whole posteriors from noisy counts do.
        let pure = matches!(self.program.budget.as_ref().map(|b| &b.kind), Some(BudgetKind::Pure(_)));
        for p in all.iter().filter_map(|p| self.param(*p)) {
            let hat = self.fresh_name(&format!("{}_{}", p.name, if pure { "post" } else { "hat" }));
            lines.push(format!("release {hat} = {}({})", if pure { "posterior" } else { "draw" }, p.name));
            e.walk(&mut |x| {
                if x.is_param(p.id) {
                    if p.id == first.id {
                        at = x.span;
                    }
                    parts.push((x.span, if pure { format!("mean({hat})") } else { hat.clone() }));
                }
            });
        }
        let help = match self.rewritten(e.span, &parts) {
            Some(rest) => {
                let mut edits = vec![(self.before_statement(), lines.join("\n") + "\n")];
                edits.extend(parts.into_iter().filter(|(s, _)| s.file == e.span.file && e.span.start <= s.start && s.end <= e.span.end));
                lines.push(format!("{lead} {rest}"));
                Help::several("", lines, edits)
            }
            None => {
                lines.push(format!("and write the released name in place of `{}`", first.name));
                lines.into_iter().map(Help::from).collect()
            }
        };
        self.fail(
            Diagnostic::new("E0107", format!("the parameter `{}` in an output", first.name))
                .label(at, "unknown: only its posterior is known, and that is private")
                .label(first.span, "declared here")
                .cause("a parameter has no value until one is drawn and released")
                .helps(help),
        )
    }
}
