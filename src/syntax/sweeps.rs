//! Tests that hold the two lexers, pest's terminals and logos' tokens, to the same words.

use std::fs;
use std::path::Path;

use pest::iterators::Pair;

use super::grammar::{self, Rule};
use super::tokens::{self, KEYWORDS, STATEMENTS, Token};

fn programs() -> Vec<String> {
    let mut texts = vec![];
    for folder in ["examples", "stdlib", "tests/programs", "tests/wrong"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "dpm") && !path.ends_with("wrong/15.dpm") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(texts.len() >= 35);
    texts
}

/// The quoted words of one rule of the grammar file.
fn quoted(rule: &str) -> Vec<&'static str> {
    let grammar = include_str!("../../grammar/dpm.pest");
    let start = grammar.find(&format!("\n{rule} ")).unwrap();
    let body = &grammar[start..];
    let end = body.find("}\n").unwrap();
    body[..end].split('"').skip(1).step_by(2).collect()
}

#[test]
fn keywords_are_the_grammars() {
    let mut ours = KEYWORDS.to_vec();
    let mut theirs = quoted("kw");
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs);
    for word in KEYWORDS {
        let all = tokens::tokens(word);
        assert!(all.len() == 1 && all[0].0.is_keyword(), "{word}");
        assert_eq!(all[0].0.opens_statement(), STATEMENTS.contains(word), "{word}");
        assert!(!tokens::is_name(word));
        assert!(tokens::is_name(&format!("{word}_")));
    }
}

/// Every rule without rules inside it: one word each.
fn terminals<'i>(pair: Pair<'i, Rule>, found: &mut Vec<(usize, usize)>) {
    let span = pair.as_span();
    let mut inner = pair.into_inner().peekable();
    if inner.peek().is_none() {
        found.push((span.start(), span.end()));
    }
    inner.for_each(|pair| terminals(pair, found));
}

#[test]
fn terminals_start_and_end_with_tokens() {
    for text in programs() {
        let all = tokens::tokens(&text);
        let unreadable = [Token::Unknown, Token::OpenText, Token::Semicolon];
        assert!(all.iter().all(|(token, _)| !unreadable.contains(token)));
        let pairs = grammar::read(Rule::program, &text).unwrap();
        let mut found = vec![];
        pairs.for_each(|pair| terminals(pair, &mut found));
        assert!(found.len() > 10);
        for (start, end) in found {
            let starts = all.iter().any(|(_, range)| range.start == start) || start == text.len();
            // Empty lists and what ends in an optional part may hold blanks at their end.
            let end = start + text[start..end].trim_end().len();
            let ends = start == end || all.iter().any(|(_, range)| range.end == end);
            assert!(starts && ends, "{:?} in\n{text}", &text[start..end]);
        }
    }
}

#[test]
fn the_whole_grammar_and_the_pieces_agree() {
    for text in programs() {
        let whole = grammar::read(Rule::program, &text).unwrap();
        let items = whole.flat_map(Pair::into_inner).count() - 1;
        let (ast, diagnostics) = super::parse(crate::source::FileId(0), &text);
        assert_eq!(diagnostics, vec![]);
        assert_eq!(ast.items.len(), items);
    }
}

#[test]
fn words_are_cut_where_they_end() {
    let words = |text: &'static str| -> Vec<&str> { tokens::tokens(text).into_iter().map(|(_, range)| &text[range]).collect() };
    assert_eq!(words("1..5"), ["1", "..", "5"]);
    assert_eq!(words("1.5e-3..2"), ["1.5e-3", "..", "2"]);
    assert_eq!(words("1e"), ["1", "e"]);
    assert_eq!(words("20%"), ["20", "%"]);
    assert_eq!(words("a.b"), ["a", ".", "b"]);
    assert_eq!(words("x<-3"), ["x", "<", "-", "3"]);
    assert_eq!(words("fn f()->real"), ["fn", "f", "(", ")", "->", "real"]);
    assert_eq!(words("\"a # b\" # c"), ["\"a # b\"", "# c"]);
    assert_eq!(words("a/b//c"), ["a", "/", "b", "//c"]);
    assert_eq!(words("param_2 μ"), ["param_2", "μ"]);
}

#[test]
fn a_prompt_knows_when_to_go_on() {
    use tokens::is_complete;
    for text in ["let x = 1", "let x = (1 +\n2)", "", "# (", "let x = \"abc", "using ?", "a: int in 0.."] {
        assert!(is_complete(text), "{text}");
    }
    for text in ["let x = (1", "each a of b {", "let x =", "1 +", "param p ~", "f(1, [2", "let x = 1 + # one"] {
        assert!(!is_complete(text), "{text}");
    }
}
