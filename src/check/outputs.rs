//! What may not be output, and what to release instead: E0101 for private values, E0107 for parameters.

use super::{Checked, Checker, Stop};
use crate::model::{Builtin, Expr, ExprKind, Label, TableId};
use crate::source::{Diagnostic, Span};
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
        let (lead, release, rest) = match e.label {
            Label::Row(_) => ("release a summary of the rows:".to_owned(), format!("mean({inner})"), seen.clone()),
            _ => {
                let what = match inside.kind {
                    ExprKind::Call(Builtin::RowMean, _) => "the observed mean",
                    _ => "the private value",
                };
                let rest = self.rewritten(e.span, &[(subject.span, seen.clone())]).unwrap_or_else(|| seen.clone());
                (format!("release {what}, then compare:"), inner, rest)
            }
        };
        let (release, output) = (format!("release {seen} = {release} {using}"), format!("output {} = {rest}", name.value));
        self.fail(d.helps(bounds).help((lead, release)).help(("", output)))
    }

    /// E0107: a parameter in an output, or in the condition of `when`; `lead` is `output x =` or `when`.
    pub(super) fn parameter_in_output<T>(&mut self, e: &Expr, lead: &str) -> Checked<T> {
        let all = self.latents(std::iter::once(e));
        let Some(first) = all.first().and_then(|p| self.param(*p)).cloned() else { return Err(Stop) };
        let (mut at, mut parts, mut lines) = (e.span, Vec::<(Span, String)>::new(), vec![]);
        for p in all.iter().filter_map(|p| self.param(*p)) {
            let hat = self.fresh_name(&format!("{}_hat", p.name));
            lines.push(format!("release {hat} = draw({})", p.name));
            e.walk(&mut |x| {
                if x.is_param(p.id) {
                    if p.id == first.id {
                        at = x.span;
                    }
                    parts.push((x.span, hat.clone()));
                }
            });
        }
        let last = match self.rewritten(e.span, &parts) {
            Some(rest) => format!("{lead} {rest}"),
            None => format!("and write the released name in place of `{}`", first.name),
        };
        self.fail(
            Diagnostic::new("E0107", format!("the parameter `{}` in an output", first.name))
                .label(at, "unknown: only its posterior is known, and that is private")
                .label(first.span, "declared here")
                .cause("a parameter has no value until one is drawn and released")
                .helps(lines)
                .help(last),
        )
    }
}
