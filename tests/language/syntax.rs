//! The parser and the formatter on every program of the tree, and on texts made to break them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dpm::source::{FileId, SourceMap, render};
use dpm::syntax::ast::Ast;
use dpm::syntax::{format, parse, parse_expr, print_expr, print_item};

use crate::fuzz;

/// All `.dpm` files of a folder, by name.
fn programs(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dpm"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// Every program of the tree that has no syntax error.
fn good() -> Vec<(PathBuf, String)> {
    let mut all = programs("examples");
    all.extend(programs("stdlib"));
    all.extend(programs("tests/programs"));
    all.extend(programs("tests/wrong"));
    all.retain(|(path, _)| !path.ends_with("tests/wrong/15.dpm"));
    assert!(all.len() >= 16 + 4 + 1 + 14);
    all
}

fn read(text: &str) -> Ast {
    let (ast, diagnostics) = parse(FileId(0), text);
    assert_eq!(diagnostics, vec![], "{text}");
    ast
}

/// The tree without its spans, as text.
fn shape(ast: &Ast) -> String {
    // A span is `12..15`.
    let digit = |c: char| c.is_ascii_digit();
    let debug = format!("{ast:?}");
    debug.split("..").map(|piece| piece.trim_matches(digit)).collect::<Vec<_>>().join("..")
}

#[test]
fn every_program_parses() {
    for (path, text) in good() {
        let (ast, diagnostics) = parse(FileId(0), &text);
        assert_eq!(diagnostics, vec![], "{}", path.display());
        assert!(!ast.items.is_empty(), "{}", path.display());
    }
}

#[test]
fn one_file_gives_several_complaints_and_keeps_what_is_right() {
    let text = "budget eps\nparam p = beta(1, 1)\nlet y = 3\neach g of t {\n  param q\n  let z = 2\n}\nlet = 4\n";
    let (ast, diagnostics) = parse(FileId(0), text);
    let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E0004", "E0009", "E0009", "E0011"]);
    assert_eq!(ast.items.len(), 2);
}

#[test]
fn formatting_keeps_the_tree_and_settles_at_once() {
    for (path, text) in good() {
        check_format(&text, &path.display().to_string());
    }
}

fn check_format(text: &str, name: &str) {
    let ast = read(text);
    let formatted = format(text).unwrap_or_else(|d| panic!("{name}: {d:?}"));
    assert_eq!(shape(&read(&formatted)), shape(&ast), "{name}\n{text}\n{formatted}");
    assert_eq!(format(&formatted).unwrap(), formatted, "{name}");
    let comments = |text: &str| {
        let tokens = dpm::syntax::tokens::tokens(text).into_iter();
        let comments = tokens.filter(|(token, _)| *token == dpm::syntax::tokens::Token::Comment);
        let mut texts: Vec<String> = comments.map(|(_, range)| text[range].trim_end().to_owned()).collect();
        texts.sort();
        texts
    };
    assert_eq!(comments(&formatted), comments(text), "{name}");
    let printed: Vec<String> = ast.items.iter().map(print_item).collect();
    assert_eq!(shape(&read(&printed.join("\n"))), shape(&ast), "{name}");
}

#[test]
fn layout_is_canonical() {
    let messy = "\u{feff}# head\r\n\r\n\r\nbudget   eps( 1 )\r\nprivate t [ n>=10 ] by id max 2{ id:text,a : int in -5 .. 5 , }  # rows\nlet y=-x^2*( a+b )/2\n\n\n\nlet z = if a<b then 1 else 0 let w = not a == b and c\neach g of t{ # groups\n\n param p~beta(1,1)\n # last\n}\nwhen a>1{ let u = /* */ 3 }else{\n}\n# end";
    let messy = messy.replace("/* */", "# inside\n");
    let expected = "# head\n\nbudget eps(1)\nprivate t[n >= 10] by id max 2 { id: text, a: int in -5..5 }  # rows\nlet y = -x^2 * (a + b) / 2\n\nlet z = if a < b then 1 else 0\nlet w = not a == b and c\neach g of t {\n  # groups\n\n  param p ~ beta(1, 1)\n  # last\n}\nwhen a > 1 {\n  # inside\n  let u = 3\n} else {\n}\n# end\n";
    assert_eq!(format(&messy).unwrap(), expected);
    check_format(&messy, "messy");
}

/// A line that is too long is broken after commas between brackets, not within a text.
#[test]
fn long_lists_take_several_lines() {
    let levels: Vec<String> = (10..60).map(|i| format!("\"a, b {i}\"")).collect();
    for text in [
        format!("private t[n] {{ job: category {{{}}}, y: bool }}\n", levels.join(", ")),
        format!("private t[n] {{\n  # one\n  job: category {{{}}}  # two\n}}\n", levels.join(", ")),
        format!("each g of t {{\n  let x = [{}]  # end\n}}\n", levels.join(", ")),
        format!("let x = {}\n", "aaaaaaaaa + ".repeat(40) + "b"),
    ] {
        check_format(&text, &text);
        let formatted = format(&text).unwrap();
        let unbroken = text.contains("aaa");
        assert!(unbroken || formatted.lines().all(|l| l.len() <= 130), "{formatted}");
        assert_eq!(formatted.matches("\"a, b ").count(), text.matches("\"a, b ").count());
    }
}

#[test]
fn operators_bind_as_in_the_manual() {
    let bracketed = |text: &str| {
        let debug = format!("{:?}", strip(&parse_expr(FileId(0), text).unwrap()));
        debug.replace('"', "")
    };
    assert_eq!(bracketed("-x^2"), "(- (x ^ 2))");
    assert_eq!(bracketed("2^-x^3"), "(2 ^ (- (x ^ 3)))");
    assert_eq!(bracketed("a - b - c"), "((a - b) - c)");
    assert_eq!(bracketed("a + b * c"), "(a + (b * c))");
    assert_eq!(bracketed("not a == b and c or d"), "(((not (a == b)) and c) or d)");
    assert_eq!(bracketed("-a * b"), "((- a) * b)");
    assert_eq!(bracketed("a^b^c"), "(a ^ (b ^ c))");
    assert_eq!(bracketed("f(x)[1].y"), "f(x)[1].y");
    assert_eq!(bracketed("if a then b else c + 1"), "if a then b else c + 1");
}

/// An expression with every operator in parentheses.
fn strip(expr: &dpm::syntax::ast::Expr) -> String {
    use dpm::syntax::ast::{ExprKind, UnaryOp};
    match &expr.kind {
        ExprKind::Binary(op, a, b) => format!("({} {} {})", strip(a), op.sign().unwrap(), strip(b)),
        ExprKind::Unary(UnaryOp::Neg, a) => format!("(- {})", strip(a)),
        ExprKind::Unary(UnaryOp::Not, a) => format!("(not {})", strip(a)),
        _ => print_expr(expr),
    }
}

#[test]
fn generated_programs_parse_and_format() {
    for seed in 0..400 {
        let text = fuzz::generate_program(seed);
        check_format(&text, &format!("seed {seed}"));
    }
}

#[test]
fn mutated_programs_never_panic() {
    let programs = good();
    for seed in 0..6000u64 {
        let text = match seed % 4 {
            0 => fuzz::soup(seed),
            1 => fuzz::generate_program(seed),
            _ => programs[seed as usize % programs.len()].1.clone(),
        };
        survive(&fuzz::mutate(&text, seed));
    }
}

/// Reads, formats and renders a text of any kind.
fn survive(text: &str) {
    let mut map = SourceMap::default();
    let file = map.add("fuzz.dpm", text);
    let (ast, diagnostics) = parse(file, text);
    let shown = render::text(&map, &diagnostics, false);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\u{0}'));
    assert!(!shown.contains("please report"), "{text}\n{shown}");
    for diagnostic in &diagnostics {
        assert!(!diagnostic.labels.is_empty() && !diagnostic.help.is_empty(), "{shown}");
        // Not `fn_`: that is also what we offer to someone who names a thing `fn`.
        for rule in ["k_max", "k_by", "type_", "infix", "EOI", "each_head", "end_brace", "lone_expr"] {
            let ours = !text.contains(rule) && shown.contains(rule);
            assert!(!ours, "a grammar rule shows: {shown}");
        }
    }
    render::json(&map, &diagnostics);
    let _ = parse_expr(file, text);
    match format(text) {
        Ok(formatted) => {
            assert!(diagnostics.is_empty());
            assert_eq!(shape(&parse(file, &formatted).0), shape(&ast), "{text}");
            assert_eq!(format(&formatted).unwrap(), formatted);
        }
        Err(found) => assert_eq!(found.len(), diagnostics.len()),
    }
}

/// Seconds that this thread has run.
fn on_a_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|ns| ns * 1e-9)
}

/// Texts that grow without bound in one direction: each must end in a complaint or a tree, and soon.
#[test]
fn no_shape_of_text_breaks_the_parser() {
    let bombs: Vec<(&str, String)> = [100usize, 10_000, 1_000_000]
        .into_iter()
        .flat_map(|n| {
            let repeat = |s: &str| s.repeat(n);
            vec![
                ("minus", format!("let x = {}1", repeat("-"))),
                ("not", format!("let x = {}true", repeat("not "))),
                ("open", format!("let x = {}", repeat("("))),
                ("nested", format!("let x = {}1{}", repeat("("), repeat(")"))),
                ("lists", format!("let x = {}1{}", repeat("["), repeat("]"))),
                ("calls", format!("let x = {}1{}", repeat("f("), repeat(")"))),
                ("index", format!("let x = a{}1{}", repeat("[a"), repeat("]"))),
                ("sum", format!("let x = 1{}", repeat("+1"))),
                ("power", format!("let x = 2{}", repeat("^2"))),
                ("field", format!("let x = a{}", repeat(".a"))),
                ("compare", format!("let x = 1{}", repeat("<1"))),
                ("ifs", format!("let x = {}1", repeat("if a then b else "))),
                ("if conditions", format!("let x = {}1", repeat("if "))),
                ("each", repeat("each a of b { ")),
                ("when", format!("{}{}", repeat("when a {"), repeat("}"))),
                ("else", format!("when a {{ }}{}", repeat(" else { }"))),
                ("close", repeat("}")),
                ("list", format!("let x = [1{}]", repeat(",1"))),
                ("args", format!("let x = f(a = 1{})", repeat(",a = 1"))),
                ("levels", format!("private t[n] {{ c: category {{a{}}} }}", repeat(",b"))),
                ("half a level list", format!("private t[n] {{ c: category {{a{}", repeat(",b"))),
                ("columns", format!("private t[n] {{ {} }}", repeat("a: bool\n"))),
                ("statements", repeat("let x = 1\n")),
                ("wrong statements", repeat("let = 1\n")),
                ("junk", repeat("x ")),
                ("lines of junk", repeat("x = 1\n")),
                ("quotes", repeat("\"")),
                ("long name", format!("let {} = 1", repeat("a"))),
                ("long number", format!("let x = {}", repeat("9"))),
                ("long fraction", format!("let x = 0.{}", repeat("9"))),
                ("long text", format!("let x = \"{}", repeat("a"))),
                ("comment", format!("#{}", repeat("#"))),
                ("zeros", repeat("\u{0}")),
                ("unknown", repeat("\u{a7}")),
                ("backslashes", repeat("\\")),
                ("path", format!("use a{}", repeat(".a"))),
                ("carriage returns", repeat("\r")),
            ]
        })
        .collect();
    for (name, text) in bombs {
        let (start, began) = (Instant::now(), on_a_core());
        let mut map = SourceMap::default();
        let file = map.add("bomb.dpm", text.as_str());
        let (_, diagnostics) = parse(file, &text);
        let shown = render::text(&map, &diagnostics, false);
        assert!(shown.len() < 1 << 20, "{name}: {} bytes of complaints", shown.len());
        assert!(diagnostics.len() <= dpm::syntax::MAX_COMPLAINTS);
        // Time on a core, where the system tells it: a test build shares its machine with others. 2 s is the promise for a release build.
        let seconds = began.zip(on_a_core()).map_or_else(|| start.elapsed().as_secs_f64(), |(a, b)| b - a);
        assert!(seconds < 10.0, "{name} of {} bytes took {seconds} s", text.len());
    }
}

#[test]
fn too_many_lines_are_refused() {
    let text = "\n".repeat(dpm::syntax::MAX_LINES) + "param = 3";
    let (_, diagnostics) = parse(FileId(0), &text);
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["E0025"]);
    assert_eq!(parse(FileId(0), &text[1..]).1[0].code, "E0009");
}

#[test]
fn a_million_levels_are_read() {
    let mut text = "private t[n] { c: category {".to_owned();
    for level in 0..1_000_000 {
        text.push_str(&format!("l{level}, "));
    }
    text.push_str("last} }");
    let (ast, diagnostics) = parse(FileId(0), &text);
    assert_eq!(diagnostics, vec![]);
    assert_eq!(ast.items.len(), 1);
}

#[test]
fn a_nesting_within_the_limit_is_read() {
    let depth = dpm::syntax::MAX_NESTING - 10;
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("-", "")] {
        let text = format!("let x = {}1{}", open.repeat(depth), close.repeat(depth));
        check_format(&text, open);
    }
    let blocks = format!("{}{}", "when a { ".repeat(depth), "}".repeat(depth));
    check_format(&blocks, "blocks");
}

#[test]
fn spans_count_bytes_and_end_with_the_last_word() {
    let text = "# μ\nparam μ ~ beta(6, 18)   # prior\nrelease r = draw(μ) using direct(r = 1) assuming convergence spend 20%\n";
    let ast = read(text);
    let at = |span: dpm::source::Span| &text[span.start as usize..span.end as usize];
    assert_eq!(at(ast.items[0].span), "param μ ~ beta(6, 18)");
    use dpm::syntax::ast::ItemKind;
    match (&ast.items[0].kind, &ast.items[1].kind) {
        (ItemKind::Param { prior, name, .. }, ItemKind::Release(release)) => {
            assert_eq!(at(prior.span), "beta(6, 18)");
            assert_eq!(at(name.span), "μ");
            let using = release.using.as_ref().unwrap();
            assert_eq!(at(using.span), "using direct(r = 1) assuming convergence");
            assert_eq!(at(using.assuming.unwrap()), "assuming convergence");
            assert_eq!(at(release.spend.as_ref().unwrap().span), "spend 20%");
            assert_eq!(at(release.query.span), "draw(μ)");
        }
        other => panic!("{other:?}"),
    }
    let text = "private t[n >= 5] by u max 4 { u: text, h from \"a-b\": public int in 1..9  }\neach c of t { }";
    let ast = read(text);
    let at = |span: dpm::source::Span| &text[span.start as usize..span.end as usize];
    match (&ast.items[0].kind, &ast.items[1].kind) {
        (ItemKind::Private(table), ItemKind::Each { header, .. }) => {
            assert_eq!(at(table.header), "private t[n >= 5] by u max 4");
            assert_eq!(at(table.rows.span), "[n >= 5]");
            assert_eq!(at(table.unit.as_ref().unwrap().span), "by u max 4");
            assert_eq!(at(table.columns[1].span), "h from \"a-b\": public int in 1..9");
            assert_eq!(at(table.columns[1].ty.span), "int in 1..9");
            assert_eq!(table.columns[1].from.as_ref().unwrap().value, "a-b");
            assert_eq!(at(*header), "each c of t");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(at(ast.items[1].span), "each c of t { }");
}
