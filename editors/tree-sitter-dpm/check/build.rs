//! Writes the parser of grammar.js and compiles it; wants node and a C compiler.

use std::path::PathBuf;
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};

fn main() {
    println!("cargo:rerun-if-changed=../grammar.js");
    println!("cargo:rerun-if-changed=../tree-sitter.json");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it"));
    let mut said = vec![];
    let grammar = Some(PathBuf::from("../grammar.js"));
    generate_parser_in_directory("..", Some(out.clone()), grammar, 15, None, Some("node"), true, OptLevel::default(), &mut said)
        .unwrap_or_else(|why| panic!("grammar.js: {why}"));
    cc::Build::new().include(&out).file(out.join("parser.c")).warnings(false).compile("dpm");
}
