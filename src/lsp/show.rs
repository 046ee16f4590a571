//! What a place in a program says about itself: hovers, costs beside releases, colours.

use super::document::{Document, loader};
use super::lines;
use super::names::{self, Declaration, Kind};
use crate::analyze::ReleaseAnalysis;
use crate::explain;
use crate::model::print::number;
use crate::numeric::decimal::sig_up;
use crate::source::SourceMap;
use crate::syntax::ast::{Item, ItemKind};
use crate::syntax::tokens::{Token, iter};
use lsp_types as lsp;

/// The page of what stands at an offset, as Markdown, and its place.
pub fn hover(document: &Document, offset: usize) -> Option<lsp::Hover> {
    let (range, text) = declared(document, offset).or_else(|| word(document, offset))?;
    let contents = lsp::HoverContents::Markup(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text });
    Some(lsp::Hover { contents, range: Some(lines::range(&document.text, range.start, range.end)) })
}

type Found = (std::ops::Range<usize>, String);

fn declared(document: &Document, offset: usize) -> Option<Found> {
    let range = names::at(&document.text, offset)?;
    let name = document.text.get(range.clone())?;
    let all = names::declarations(&document.checked.ast);
    let d = names::declaration(&all, name, offset)?;
    let whole = document.text.get(d.whole.start as usize..d.whole.end as usize)?;
    let mut text = format!("```dpm\n{}\n```\n", first_lines(whole));
    if let Some(facts) = facts(document, d) {
        text.push_str(&facts);
    }
    if let Some(r) = document.analysis.as_ref().and_then(|a| a.releases.iter().find(|r| d.kind == Kind::Release && r.name == *name)) {
        text.push_str(&release(r));
    }
    Some((range, text))
}

fn first_lines(text: &str) -> String {
    text.lines().take(6).collect::<Vec<_>>().join("\n")
}

/// Type, label and sensitivity of a name that is an expression.
fn facts(document: &Document, d: &Declaration) -> Option<String> {
    if matches!(d.kind, Kind::Table | Kind::Model | Kind::Function | Kind::Formal | Kind::Level) {
        return None;
    }
    let mut sources = SourceMap::default();
    let main = sources.add("program.dpm", document.text.as_str());
    let (ast, _) = crate::syntax::parse(main, &document.text);
    let file = sources.add("name", d.name.as_str());
    let e = crate::syntax::parse_expr(file, &d.name).ok()?;
    let found = crate::check::describe(&mut sources, main, &ast, &e, loader(document.folder.as_ref()).as_ref()).ok()?;
    let mut text = format!("type `{}`, label `{}`", found.ty, found.label);
    if let Some(n) = found.sensitivity {
        let up = |x: f64| if x.is_finite() { sig_up(x, 6) } else { "inf".into() };
        text.push_str(&format!("\n\nsensitivity L1 {}, L2 {}, Linf {}", up(n.l1), up(n.l2), up(n.linf)));
    }
    Some(text + "\n")
}

/// Mechanism, parameters and cost of a release.
fn release(r: &ReleaseAnalysis) -> String {
    let Some(c) = &r.chosen else { return "\nno mechanism meets the budget\n".into() };
    let parameters: Vec<String> = c.parameters.iter().map(|p| format!("{} = {}", p.name, number(p.value))).collect();
    let parameters = if parameters.is_empty() { String::new() } else { format!(", {}", parameters.join(", ")) };
    format!("\n`{}`{parameters} by rule `{}`, {}\n\n{}\n", c.mechanism.name, c.rule.name, c.status.name(), cost(r).unwrap_or_default())
}

/// `epsilon 1.978 at delta 1e-6`, or what the claim is best said as.
fn cost(r: &ReleaseAnalysis) -> Option<String> {
    let claim = &r.chosen.as_ref()?.claim;
    let (pure, zcdp, gdp) = (claim.pure(), claim.zcdp(), claim.gdp());
    let mut parts = vec![];
    if pure.is_finite() {
        parts.push(format!("eps {}", sig_up(pure, 4)));
    }
    if gdp.is_finite() {
        parts.push(format!("gdp {}", sig_up(gdp, 4)));
    } else if zcdp.is_finite() {
        parts.push(format!("zcdp {}", sig_up(zcdp, 4)));
    }
    parts.push(format!("dp({}, 1e-6)", sig_up(claim.epsilon(1e-6), 4)));
    if claim.max_order().is_finite() {
        parts.push(format!("orders below {}", crate::numeric::decimal::sig_down(claim.max_order(), 4)));
    }
    Some(parts.join(", "))
}

/// The manual's page of a word that no statement declares.
fn word(document: &Document, offset: usize) -> Option<Found> {
    let (_, range) = iter(&document.text).filter(|(_, r)| r.start <= offset && offset <= r.end).last()?;
    let name = document.text.get(range.clone())?;
    Some((range, explain::page(name)?))
}

/// The cost of every release, at the end of its statement.
pub fn inlays(document: &Document) -> Vec<lsp::InlayHint> {
    let Some(analysis) = &document.analysis else { return vec![] };
    let mut found = vec![];
    releases(&document.checked.ast.items, &mut |name, end| {
        let cost = analysis.releases.iter().find(|r| r.name == name).and_then(cost);
        if let Some(cost) = cost {
            found.push(lsp::InlayHint {
                position: lines::position(&document.text, end),
                label: lsp::InlayHintLabel::String(format!("  {cost}")),
                kind: None,
                text_edits: None,
                tooltip: None,
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        }
    });
    found
}

fn releases(items: &[Item], each: &mut dyn FnMut(&str, usize)) {
    for item in items {
        match &item.kind {
            ItemKind::Release(r) => each(&r.name.value, item.span.end as usize),
            ItemKind::Each { body, .. } => releases(body, each),
            ItemKind::When { then, otherwise, .. } => {
                releases(then, each);
                otherwise.iter().for_each(|o| releases(o, each));
            }
            _ => {}
        }
    }
}

pub const TOKEN_TYPES: [lsp::SemanticTokenType; 8] = [
    lsp::SemanticTokenType::KEYWORD,
    lsp::SemanticTokenType::NUMBER,
    lsp::SemanticTokenType::STRING,
    lsp::SemanticTokenType::COMMENT,
    lsp::SemanticTokenType::VARIABLE,
    lsp::SemanticTokenType::PARAMETER,
    lsp::SemanticTokenType::PROPERTY,
    lsp::SemanticTokenType::FUNCTION,
];

/// The class of every word, as differences to the word before.
pub fn semantic(document: &Document) -> Vec<lsp::SemanticToken> {
    let all = names::declarations(&document.checked.ast);
    let mut found = vec![];
    let mut before = lsp::Position::default();
    for (token, range) in iter(&document.text) {
        let Some(word) = document.text.get(range.clone()) else { continue };
        let class = match token {
            Token::Comment => 3,
            Token::Number | Token::True | Token::False => 1,
            Token::Text => 2,
            Token::Name => match names::declaration(&all, word, range.start).map(|d| d.kind) {
                Some(Kind::Parameter) => 5,
                Some(Kind::Column | Kind::Level) => 6,
                Some(Kind::Function | Kind::Model) | None => 7,
                Some(_) => 4,
            },
            t if t.is_keyword() => 0,
            _ => continue,
        };
        let at = lines::position(&document.text, range.start);
        let line = at.line - before.line;
        let start = if line == 0 { at.character - before.character } else { at.character };
        let length = word.chars().map(char::len_utf16).sum::<usize>() as u32;
        found.push(lsp::SemanticToken { delta_line: line, delta_start: start, length, token_type: class, token_modifiers_bitset: 0 });
        before = at;
    }
    found
}
