//! Text to Ast and back: parser, tokens, formatter.

pub mod ast;
