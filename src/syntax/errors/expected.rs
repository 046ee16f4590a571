//! The last resort: what was found, and in plain words what could have stood there.

use super::super::grammar::Rule;
use super::scene::Scene;
use super::structure::new;
use crate::source::Diagnostic;

/// A rule as a user would call it; none for what is too fine to mention.
fn plain(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::ident | Rule::path | Rule::outcome => "a name",
        Rule::expr | Rule::number | Rule::primary => "a value",
        Rule::call => "a call such as beta(1, 1)",
        Rule::args => "`(`",
        Rule::type_ => "a type",
        Rule::domain | Rule::interval => "bounds",
        Rule::int => "a whole number",
        Rule::string => "a text in double quotes",
        Rule::percent => "a share such as 20%",
        Rule::level => "a level",
        Rule::columns | Rule::block => "`{`",
        Rule::rows | Rule::index | Rule::dims => "`[`",
        Rule::column => "a column",
        Rule::infix => "an operator",
        Rule::tilde => "`~`",
        Rule::colon => "`:`",
        Rule::at_least => "`>=`",
        Rule::left_brace => "`{`",
        Rule::end_brace => "`}`",
        Rule::end_square => "`]`",
        Rule::end_round => "`)`",
        Rule::assign => "`=`",
        Rule::unit | Rule::k_by => "`by`",
        Rule::using | Rule::k_using => "`using`",
        Rule::spend | Rule::k_spend => "`spend`",
        Rule::k_max => "`max`",
        Rule::k_order => "`order`",
        Rule::k_of | Rule::total => "`of`",
        Rule::k_in => "`in`",
        Rule::k_then => "`then`",
        Rule::k_else => "`else`",
        Rule::k_from => "`from`",
        Rule::EOI => "the next statement",
        _ => return None,
    })
}

/// What pest found and expected.
pub(super) fn generic(scene: &Scene<'_>) -> Diagnostic {
    let mut words: Vec<&str> = scene.expected.iter().filter_map(|rule| plain(*rule)).collect();
    words.sort_unstable();
    words.dedup();
    let expected = match words.split_last() {
        None => "not expected here".to_owned(),
        Some((last, [])) => format!("expected {last}"),
        Some((last, rest)) => format!("expected {} or {last}", rest.join(", ")),
    };
    let found = scene.word(scene.at);
    let headline = if found.is_empty() {
        format!("the `{}` statement ends too early", scene.word(0))
    } else {
        format!("unexpected `{found}` in this `{}` statement", scene.word(0))
    };
    new("E0001", headline).label(scene.here(), expected).help(format!("dpm explain {}", scene.word(0)))
}
