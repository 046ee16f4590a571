//! Complaints about the statements that are not tables: each says the statement's shape with the user's names.

use super::super::tokens::Token;
use super::scene::Scene;
use super::structure::{new, one_line};
use super::types;
use crate::source::Diagnostic;

/// use std.rates
pub(super) fn use_(scene: &Scene<'_>) -> Option<Diagnostic> {
    let complaint = new("E0003", "expected a module after `use`");
    let module: Vec<&str> = (1..scene.len())
        .filter(|i| scene.is(*i, Token::Name))
        .take_while(|i| *i == 1 || !scene.starts_line(*i))
        .map(|i| scene.word(i))
        .collect();
    Some(match scene.found() {
        None => complaint.label(scene.here(), "which module?").help("use std.rates"),
        Some(Token::Text) => {
            complaint.label(scene.here(), "a module is not quoted").help(format!("use {}", scene.word(scene.at).trim_matches('"')))
        }
        Some(Token::Divide) => complaint.label(scene.here(), "folders are separated by `.`").help(format!("use {}", module.join("."))),
        _ => complaint
            .label(scene.here(), "a module is names separated by `.`")
            .cause("a module has one name and cannot be renamed")
            .help("use std.rates"),
    })
}

/// budget rdp(order = 8, eps = 0.5)
pub(super) fn budget(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.bracket().is_some() {
        return None;
    }
    let complaint = new("E0004", "expected a cost after `budget`");
    let kind = scene.word(1);
    let number = (1..scene.len()).find(|i| scene.is(*i, Token::Number));
    let known = ["eps", "zcdp", "gdp"].contains(&kind);
    // budget eps(1), delta(1e-6)
    let delta = (2..scene.len()).find(|i| scene.word(*i) == "delta");
    let delta = delta.and_then(|at| (at..scene.len()).find(|i| scene.is(*i, Token::Number)));
    let help = match number {
        Some(number)
            if let Some(delta) = delta
                && delta != number
                && kind == "eps" =>
        {
            vec![format!("budget dp(eps = {}, delta = {})", scene.word(number), scene.word(delta))]
        }
        Some(number) if known => vec![format!("budget {kind}({})", scene.word(number))],
        Some(number) if scene.at == 1 => vec![format!("budget eps({})", scene.word(number))],
        _ => ["eps(1)", "zcdp(0.1)", "dp(eps = 1, delta = 1e-6)", "rdp(order = 8, eps = 0.5)"].map(|kind| format!("budget {kind}")).into(),
    };
    let label = if known && delta.is_some() {
        "a budget is one cost".to_owned()
    } else if known {
        format!("`{kind}` needs its value in parentheses")
    } else {
        "a kind of guarantee and its value".to_owned()
    };
    Some(complaint.label(scene.here(), label).helps(help))
}

/// param p ~ beta(6, 18)
pub(super) fn param(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.at == 1 {
        return Some(
            new("E0009", "expected a name after `param`").label(scene.here(), "what is the parameter called?").help("param p ~ beta(1, 1)"),
        );
    }
    let name = scene.word(1);
    let tilde = (0..scene.at).find(|i| scene.is(*i, Token::Tilde));
    let Some(tilde) = tilde else {
        if scene.is(2, Token::Colon)
            && !matches!(scene.found(), None | Some(Token::Assign))
            && let Some(complaint) = types::type_(scene)
        {
            return Some(complaint);
        }
        let typed = scene.words(1..scene.at.min(scene.len()));
        let typed = one_line(typed).unwrap_or(name);
        let after = match scene.found() {
            Some(Token::Assign | Token::Comparison) => {
                let minus = usize::from(scene.is(scene.at + 1, Token::Minus));
                scene.rest(scene.at + 1 + minus)
            }
            Some(Token::Name) => scene.rest(scene.at),
            _ => None,
        };
        let prior = after.filter(|t| t.ends_with(')')).unwrap_or("beta(1, 1)");
        return Some(
            new("E0009", format!("expected `~` and a prior for `{name}`"))
                .label(scene.here(), format!("`{typed}` has no prior yet"))
                .cause("a parameter is unknown: it has a prior, not a value")
                .help(format!("param {typed} ~ {prior}")),
        );
    };
    if scene.bracket().is_some() {
        return None;
    }
    let complaint = new("E0009", format!("the prior of `{name}` is one distribution"));
    Some(distribution(scene, tilde, complaint, "beta(1, 1)"))
}

/// observe smoker ~ bernoulli(p)
pub(super) fn observe(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.at == 1 {
        return Some(
            new("E0010", "expected a column after `observe`")
                .label(scene.here(), "which column was observed?")
                .help("observe smoker ~ bernoulli(p)"),
        );
    }
    let tilde = (0..scene.at).find(|i| scene.is(*i, Token::Tilde));
    let Some(tilde) = tilde else {
        let column = one_line(scene.words(1..scene.at)).unwrap_or("y");
        let complaint = new("E0010", format!("expected `~` after `{column}`"));
        let later = (scene.at..scene.len()).find(|i| scene.is(*i, Token::Tilde));
        return Some(match (scene.found(), later) {
            (Some(Token::OpenBracket), _) => complaint
                .label(scene.here(), "no row index here")
                .cause("`observe` speaks of every row at once")
                .help(format!("observe {column} ~ bernoulli(p)")),
            (Some(_), Some(later)) => {
                let value = scene.words(1..later);
                let rest = scene.rest(later).unwrap_or("~ ...");
                complaint
                    .label(scene.spans(1..later), "not a column")
                    .cause("`observe` takes one column; what is computed from columns gets a name first")
                    .help(format!("let v = {}", one_line(value).unwrap_or("...")))
                    .help(format!("observe v {rest}"))
            }
            (Some(Token::Assign), _) => complaint
                .label(scene.here(), "a likelihood is written with `~`")
                .help(format!("observe {column} ~ {}", scene.rest(scene.at + 1).unwrap_or("bernoulli(p)"))),
            _ => complaint
                .label(scene.here(), format!("`{column}` has no distribution yet"))
                .help(format!("observe {column} ~ bernoulli(p)")),
        });
    };
    if scene.bracket().is_some() {
        return None;
    }
    let complaint = new("E0010", "an observation has one distribution");
    Some(distribution(scene, tilde, complaint, "bernoulli(p)"))
}

/// Arguments of a prior that fit no data in particular, or the name that a likelihood mostly has.
fn usual_arguments(family: &str) -> Option<&'static str> {
    Some(match family {
        "beta" => "1, 1",
        "gamma" | "inv_gamma" => "2, 2",
        "normal" | "laplace" | "cauchy" | "logistic" => "0, 1",
        "student_t" => "4, 0, 1",
        "exponential" | "half_cauchy" => "1",
        "bernoulli" => "p",
        _ => return None,
    })
}

/// What follows `~` is not one call.
fn distribution(scene: &Scene<'_>, tilde: usize, complaint: Diagnostic, usual: &str) -> Diagnostic {
    let head = one_line(scene.words(0..tilde)).unwrap_or("...");
    let family = scene.word(tilde + 1);
    if scene.is(tilde + 1, Token::Name) && !scene.is(tilde + 2, Token::OpenParen) {
        return complaint.label(scene.span(tilde + 1), format!("`{family}` needs its arguments in parentheses")).help(
            match usual_arguments(family) {
                Some(args) => format!("{head} ~ {family}({args})"),
                None => format!("write its arguments, as in `{usual}`"),
            },
        );
    }
    if scene.at == tilde + 1 {
        return complaint.label(scene.here(), "expected a distribution").help(format!("{head} ~ {usual}"));
    }
    let call = one_line(scene.words(tilde + 1..scene.at)).unwrap_or("...");
    if scene.found() == Some(Token::In) && scene.keyword() == Token::Param {
        let name = scene.word(1);
        let domain = scene.rest(scene.at).unwrap_or("in [0, 1]");
        return complaint.label(scene.here(), "bounds belong to the name").help(format!("param {name}: real {domain} ~ {call}"));
    }
    complaint.label(scene.here(), format!("nothing may follow `{call}`")).help(format!("{head} ~ {call}"))
}

/// let y = .., output y = ..
pub(super) fn binding(scene: &Scene<'_>) -> Option<Diagnostic> {
    let keyword = scene.word(0);
    if scene.at == 1 {
        return Some(
            new("E0011", format!("expected a name after `{keyword}`"))
                .label(scene.here(), "what is the value called?")
                .help(format!("{keyword} y = ...")),
        );
    }
    let name = scene.word(1);
    if (0..scene.at).any(|i| scene.is(i, Token::Assign)) {
        return None;
    }
    let walrus = scene.is(2, Token::Colon) && scene.is(3, Token::Assign);
    if scene.is(2, Token::Colon)
        && scene.at > 2
        && !walrus
        && let Some(complaint) = types::type_(scene)
    {
        return Some(complaint);
    }
    let complaint = new("E0011", format!("expected `=` after `{keyword} {name}`"));
    let minus = usize::from(scene.is(scene.at + 1, Token::Minus));
    Some(match scene.found() {
        _ if walrus => complaint
            .label(scene.spans(2..4), "a value is given with `=`")
            .help(format!("{keyword} {name} = {}", scene.rest(4).unwrap_or("..."))),
        Some(Token::Tilde) if keyword == "output" || !scene.is(scene.at + 2, Token::OpenParen) => complaint
            .label(scene.here(), "a value is given with `=`")
            .help(format!("{keyword} {name} = {}", scene.rest(scene.at + 1).unwrap_or("..."))),
        Some(Token::Tilde) => complaint
            .label(scene.here(), "`~` is for parameters and observations")
            .help(format!("param {name} {}", scene.rest(scene.at).unwrap_or("~ ..."))),
        Some(Token::Comparison) => complaint
            .label(scene.here(), "a value is given with `=`")
            .help(format!("{keyword} {name} = {}", scene.rest(scene.at + 1 + minus).unwrap_or("..."))),
        Some(Token::Colon) => complaint.label(scene.here(), "an output has no type of its own").help(format!("{keyword} {name} = ...")),
        Some(Token::OpenParen) if keyword == "let" => complaint
            .label(scene.here(), "a function is written with `fn`")
            .help(format!("fn {name}{}", scene.rest(scene.at).unwrap_or("(x) = ..."))),
        _ => complaint
            .label(scene.here(), format!("`{name}` has no value yet"))
            .help(format!("{keyword} {name} = {}", scene.rest(scene.at).unwrap_or("..."))),
    })
}

/// each region of survey { .. }
pub(super) fn each(scene: &Scene<'_>) -> Option<Diagnostic> {
    let names: Vec<&str> = (1..scene.len()).filter(|i| scene.is(*i, Token::Name)).map(|i| scene.word(i)).collect();
    let help = match names.as_slice() {
        [table, key] if scene.is(2, Token::Dot) => format!("each {key} of {table}"),
        [key, table, ..] => format!("each {key} of {table}"),
        [key] => format!("each {key} of survey"),
        [] => "each region of survey".to_owned(),
    };
    let help = scene.headed(&help, "");
    Some(match scene.at {
        1 => new("E0015", "expected a column after `each`").label(scene.here(), "a category whose levels make the groups").help(help),
        2 => new("E0015", format!("expected `of` after `each {}`", scene.word(1))).label(scene.here(), "of which table?").help(help),
        3 => new("E0015", "expected a table after `of`").label(scene.here(), "which table?").help(help),
        _ => new("E0015", "expected `{` and a block of statements").label(scene.here(), "the block starts here").help(help),
    })
}

/// fn f(x) = .., model m(y) { .. }
pub(super) fn function(scene: &Scene<'_>) -> Option<Diagnostic> {
    let keyword = scene.word(0);
    let (name, tail) = (scene.word(1), if keyword == "fn" { "= ..." } else { "{ ... return p }" });
    if scene.at == 1 {
        return Some(
            new("E0017", format!("expected a name after `{keyword}`"))
                .label(scene.here(), "what is it called?")
                .help(format!("{keyword} name(x) {tail}")),
        );
    }
    if scene.at == 2 {
        let names: Vec<&str> = (2..scene.len()).take_while(|i| scene.is(*i, Token::Name)).map(|i| scene.word(i)).collect();
        let body = scene.rest(2 + names.len()).filter(|_| !names.is_empty() && scene.is(2 + names.len(), Token::Assign));
        return Some(
            new("E0017", format!("expected `(` after `{keyword} {name}`")).label(scene.here(), "its arguments go in parentheses").help(
                match body {
                    Some(body) => format!("{keyword} {name}({}) {body}", names.join(", ")),
                    None => format!("{keyword} {name}(x) {tail}"),
                },
            ),
        );
    }
    if scene.bracket() == Some(2) {
        return types::type_(scene).or_else(|| {
            Some(
                new("E0017", format!("the arguments of `{name}` are names"))
                    .label(scene.here(), "expected a name, or a name and its type")
                    .help(format!("{keyword} {name}(x, y: real) {tail}")),
            )
        });
    }
    let assigned = (0..scene.at).any(|i| scene.is(i, Token::Assign));
    if scene.bracket().is_some() || assigned {
        return None;
    }
    if (0..scene.at).any(|i| scene.is(i, Token::Arrow)) {
        return types::type_(scene);
    }
    let head = one_line(scene.words(0..scene.at)).unwrap_or("fn f(x)");
    let complaint = match keyword {
        "fn" => new("E0017", format!("expected `=` and one expression after `{head}`")).cause("a function is a single expression"),
        _ => new("E0017", format!("expected `{{` after `{head}`")),
    };
    let braces = scene.is(scene.at, Token::OpenBrace) && scene.is(scene.len() - 1, Token::CloseBrace) && scene.len() > scene.at + 2;
    let inside = if braces { one_line(scene.words(scene.at + 1..scene.len() - 1)) } else { None };
    let value = inside.filter(|_| keyword == "fn").map(|v| v.trim_start_matches("return ").trim_end_matches(';'));
    Some(complaint.label(scene.here(), "the body starts here").help(match value {
        Some(value) => format!("{head} = {value}"),
        None => format!("{head} {tail}"),
    }))
}
