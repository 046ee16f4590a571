//! Parses files by the tree-sitter grammar: those before `--wrong` must be right, those after it must not.

use std::process::ExitCode;
use tree_sitter::{Language, Node, Parser, Query, ffi::TSLanguage};

unsafe extern "C" {
    fn tree_sitter_dpm() -> *const TSLanguage;
}

/// The first node that is an error, or that is missing.
fn fault(node: Node) -> Option<Node> {
    if node.is_error() || node.is_missing() {
        return Some(node);
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).find_map(fault)
}

fn main() -> ExitCode {
    // The generated parser hands out a pointer to a table that lives as long as the program.
    let language = unsafe { Language::from_raw(tree_sitter_dpm()) };
    if let Err(why) = Query::new(&language, include_str!("../../queries/highlights.scm")) {
        println!("queries/highlights.scm: {why}");
        return ExitCode::FAILURE;
    }
    let mut parser = Parser::new();
    parser.set_language(&language).expect("generated for this version");
    let (mut wrong, mut right, mut refused, mut failed) = (false, 0, 0, 0);
    for name in std::env::args().skip(1) {
        if name == "--wrong" {
            wrong = true;
            continue;
        }
        let text = std::fs::read_to_string(&name).unwrap_or_else(|why| panic!("{name}: {why}"));
        let tree = parser.parse(&text, None).expect("a language is set");
        match (fault(tree.root_node()), wrong) {
            (None, false) => right += 1,
            (Some(_), true) => refused += 1,
            (None, true) => {
                failed += 1;
                println!("{name}: parses, and should not");
            }
            (Some(node), false) => {
                failed += 1;
                let (at, end) = (node.start_position(), node.end_position());
                println!("{name}:{}:{}: {} up to {}:{}", at.row + 1, at.column + 1, node.kind(), end.row + 1, end.column + 1);
            }
        }
    }
    println!("{right} programs parse, {refused} wrong ones do not, {failed} faults");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
