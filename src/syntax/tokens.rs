//! The words of the language as logos sees them: for colours, continuation and cutting a text into statements.

use std::ops::Range;

use logos::Logos;

/// One word of a program; the grammar's terminals, with comments.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n]+")]
pub enum Token {
    #[regex(r"(#|//)[^\n]*", allow_greedy = true)]
    Comment,
    #[token("use")]
    Use,
    #[token("budget")]
    Budget,
    #[token("private")]
    Private,
    #[token("public")]
    Public,
    #[token("param")]
    Param,
    #[token("let")]
    Let,
    #[token("observe")]
    Observe,
    #[token("release")]
    Release,
    #[token("output")]
    Output,
    #[token("expect")]
    Expect,
    #[token("fn")]
    Fn,
    #[token("model")]
    Model,
    #[token("return")]
    Return,
    #[token("each")]
    Each,
    #[token("when")]
    When,
    #[token("of")]
    Of,
    #[token("else")]
    Else,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("by")]
    By,
    #[token("using")]
    Using,
    #[token("assuming")]
    Assuming,
    #[token("convergence")]
    Convergence,
    #[token("from")]
    From,
    #[token("spend")]
    Spend,
    #[token("in")]
    In,
    #[token("and")]
    And,
    #[token("or")]
    Or,
    #[token("not")]
    Not,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("category")]
    Category,
    #[regex(r"\p{XID_Start}\p{XID_Continue}*")]
    Name,
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[regex(r#""[^"\n]*""#)]
    Text,
    /// A string whose closing quote is missing on its line.
    #[regex(r#""[^"\n]*"#)]
    OpenText,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("~")]
    Tilde,
    #[token("=")]
    Assign,
    #[token("->")]
    Arrow,
    #[token("..")]
    To,
    #[token(".")]
    Dot,
    #[token("%")]
    Percent,
    #[token("?")]
    Hole,
    #[token("<=")]
    #[token(">=")]
    #[token("==")]
    #[token("!=")]
    #[token("<")]
    #[token(">")]
    Comparison,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Divide,
    #[token("^")]
    Power,
    #[token(";")]
    Semicolon,
    /// A character that no word of the language holds.
    Unknown,
}

/// Every reserved word; a sweep keeps it equal to the grammar's `kw`.
pub const KEYWORDS: &[&str] = &[
    "use",
    "budget",
    "private",
    "public",
    "param",
    "let",
    "observe",
    "release",
    "output",
    "expect",
    "fn",
    "model",
    "return",
    "each",
    "of",
    "when",
    "else",
    "if",
    "then",
    "by",
    "using",
    "assuming",
    "convergence",
    "from",
    "spend",
    "in",
    "and",
    "or",
    "not",
    "true",
    "false",
    "category",
];

/// The words that open a statement.
pub const STATEMENTS: &[&str] = &[
    "use", "budget", "private", "public", "param", "let", "observe", "release", "output", "expect", "fn", "model", "each", "when", "return",
];

impl Token {
    /// Does the word open a statement?
    pub fn opens_statement(self) -> bool {
        use Token::*;
        matches!(
            self,
            Use | Budget | Private | Public | Param | Let | Observe | Release | Output | Expect | Fn | Model | Return | Each | When
        )
    }

    /// Is the word reserved, so that nothing can be named so?
    pub fn is_keyword(self) -> bool {
        use Token::*;
        self.opens_statement()
            || matches!(
                self,
                Of | Else | If | Then | By | Using | Assuming | Convergence | From | Spend | In | And | Or | Not | True | False | Category
            )
    }

    pub fn is_open(self) -> bool {
        matches!(self, Token::OpenParen | Token::OpenBracket | Token::OpenBrace)
    }

    pub fn is_close(self) -> bool {
        matches!(self, Token::CloseParen | Token::CloseBracket | Token::CloseBrace)
    }

    /// How many brackets are open after it.
    pub(super) fn nested(self, depth: usize) -> usize {
        depth.saturating_add(usize::from(self.is_open())).saturating_sub(usize::from(self.is_close()))
    }

    /// Does it stand between two values?
    pub(super) fn joins(self) -> bool {
        use Token::*;
        matches!(self, Plus | Minus | Times | Divide | Power | Comparison | And | Or)
    }

    /// After this word more text must follow in any statement.
    pub(super) fn wants_more(self) -> bool {
        use Token::*;
        let ends_a_value = matches!(
            self,
            Name | Number
                | Text
                | OpenText
                | CloseParen
                | CloseBracket
                | CloseBrace
                | Percent
                | Hole
                | True
                | False
                | To
                | Convergence
                | Semicolon
                | Unknown
                | Comment
        );
        !ends_a_value
    }
}

/// All words of `text` with their byte ranges, comments included; never fails.
pub fn tokens(text: &str) -> Vec<(Token, Range<usize>)> {
    iter(text).collect()
}

/// The words of `text` one by one.
pub fn iter(text: &str) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
    Token::lexer(text).spanned().map(|(token, range)| (token.unwrap_or(Token::Unknown), range))
}

/// Can `text` be read as it stands, or does the next line belong to it? False while a bracket is open or the last
/// word needs a right side. A string ends on its own line, so more lines cannot close one: it counts as complete,
/// and the parser says what is missing.
pub fn is_complete(text: &str) -> bool {
    let mut open = 0usize;
    let mut last = None;
    for (token, _) in iter(text) {
        open = token.nested(open);
        if token != Token::Comment {
            last = Some(token);
        }
    }
    open == 0 && !last.is_some_and(Token::wants_more)
}

/// Can `text` stand as a name without quotes?
pub fn is_name(text: &str) -> bool {
    let mut words = iter(text);
    matches!((words.next(), words.next()), (Some((Token::Name, range)), None) if range.len() == text.len())
}
