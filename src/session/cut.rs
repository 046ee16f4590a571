//! Input cut into statements, and what each one declares.

use crate::source::SourceMap;
use crate::syntax::ast::{Item, ItemKind};
use crate::syntax::tokens::{Token, iter};

/// What a line of input is, by its first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Nothing but spaces and comments.
    Blank,
    Statement,
    /// More of the statement before: `using diffuse` on a line of its own.
    Continuation,
    /// Anything else, to be computed and shown.
    Expression,
}

pub fn kind(text: &str) -> Kind {
    use Token::*;
    let Some((first, _)) = iter(text).find(|(token, _)| *token != Comment) else { return Kind::Blank };
    match first {
        Else | Then | By | Using | Assuming | Convergence | From | Of | Spend | In | And | Or | Assign | Tilde | Arrow | Comma | Colon
        | Plus | Times | Divide | Power | Comparison | CloseParen | CloseBracket | CloseBrace => Kind::Continuation,
        first if first.opens_statement() => Kind::Statement,
        _ => Kind::Expression,
    }
}

/// The statements of a text, each with the comments above it and the rest of its last line; together they are the text.
///
/// A text that cannot be read is one piece: the parser then says what is wrong.
pub fn statements(text: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    let file = sources.add("input", text);
    let (ast, complaints) = crate::syntax::parse(file, text);
    if complaints.iter().any(|d| d.is_error()) {
        return vec![text.to_owned()];
    }
    let mut cuts = vec![0];
    for pair in ast.items.windows(2) {
        let [before, after] = pair else { continue };
        let (end, start) = (before.span.end as usize, after.span.start as usize);
        // Behind the line that the first one ends on, if the next begins later.
        let line = text.get(end..start).and_then(|gap| gap.find('\n')).map(|i| end + i + 1);
        cuts.push(line.unwrap_or(start));
    }
    cuts.push(text.len());
    cuts.windows(2).filter_map(|c| if let [a, b] = c { text.get(*a..*b).map(str::to_owned) } else { None }).collect()
}

/// What a text declares, by name: a later statement of the same name takes its place. The budget and modules have names
/// that no user can write.
pub fn declared(text: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    let file = sources.add("input", text);
    crate::syntax::parse(file, text).0.items.iter().flat_map(names).collect()
}

fn names(item: &Item) -> Vec<String> {
    match &item.kind {
        ItemKind::Use { path } => {
            let path: Vec<&str> = path.iter().map(|n| n.value.as_str()).collect();
            vec![format!("use {}", path.join("."))]
        }
        ItemKind::Budget { .. } => vec![BUDGET.into()],
        ItemKind::Private(t) | ItemKind::PublicTable(t) => vec![t.name.value.clone()],
        ItemKind::PublicScalar { name, .. }
        | ItemKind::PublicRecord { name, .. }
        | ItemKind::Param { name, .. }
        | ItemKind::Let { name, .. }
        | ItemKind::Output { name, .. }
        | ItemKind::Fn { name, .. }
        | ItemKind::Model { name, .. } => vec![name.value.clone()],
        ItemKind::Release(r) => vec![r.name.value.clone()],
        // Releases of an `each` are visible outside it, as vectors over the groups.
        ItemKind::Each { body, .. } => {
            let releases = body.iter().filter(|i| matches!(i.kind, ItemKind::Release(_)));
            releases.flat_map(names).collect()
        }
        ItemKind::Observe { .. } | ItemKind::Expect { .. } | ItemKind::When { .. } => vec![],
    }
}

/// What [`declared`] calls the budget.
pub const BUDGET: &str = "the budget";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_pieces_are_the_text() {
        let text =
            "# head\nbudget eps(1)  # all\n\n# rows\nprivate t[n] {\n  x: bool\n}\nparam p ~ beta(1, 1) observe x ~ bernoulli(p)\n# end\n";
        let pieces = statements(text);
        assert_eq!(pieces.concat(), text);
        assert_eq!(pieces.len(), 4);
        assert_eq!(pieces.first().unwrap(), "# head\nbudget eps(1)  # all\n");
        assert_eq!(statements("budget ("), ["budget ("]);
        assert_eq!(statements(""), [""]);
    }

    #[test]
    fn kinds() {
        for (text, want) in [
            ("", Kind::Blank),
            ("  # note", Kind::Blank),
            ("release x = draw(p)", Kind::Statement),
            ("  using diffuse", Kind::Continuation),
            ("else { }", Kind::Continuation),
            ("p_hat", Kind::Expression),
            ("-1", Kind::Expression),
            ("if a then 1 else 2", Kind::Expression),
        ] {
            assert_eq!(kind(text), want, "{text}");
        }
    }

    #[test]
    fn names_of_statements() {
        assert_eq!(declared("budget eps(1)"), [BUDGET]);
        assert_eq!(declared("each g of t {\n param p ~ beta(1, 1)\n release r = draw(p)\n}"), ["r"]);
        assert_eq!(declared("use std.rates\nlet x = 1"), ["use std.rates", "x"]);
    }
}
