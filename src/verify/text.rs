//! The normal form as a tree: a reader for exactly what certificates print.

/// An expression; operators and functions are calls by the name they are written with.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Number(f64),
    Name(String),
    Text(String),
    List(Vec<Expr>),
    Call(String, Vec<Expr>),
}

/// `family(arguments)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Dist {
    pub family: String,
    pub args: Vec<Expr>,
}

/// `param p ~ prior`; `cut` where a domain truncates it.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    pub name: String,
    pub cut: bool,
    pub prior: Dist,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    pub outcome: Expr,
    pub dist: Dist,
    pub public: bool,
}

/// The normal form of one release: a model with its request, or one expression over rows.
#[derive(Clone, PartialEq, Debug)]
pub enum Form {
    Model { params: Vec<Param>, rows: Vec<Observation>, request: Expr },
    Query(Expr),
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Number(f64),
    Word(String),
    Text(String),
    Sign(&'static str),
}

const SIGNS: [&str; 23] =
    ["<=", ">=", "==", "!=", "..", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", "{", "}", ",", "=", ".", ":", "~"];
const OPERATORS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "and", "or"];
/// Deeper nesting than any certificate has: the source is limited to 256 levels.
const DEEPEST: usize = 2000;

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = vec![];
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let length;
        if c.is_ascii_digit() {
            let mut end = 0;
            let bytes = rest.as_bytes();
            while let Some(b) = bytes.get(end) {
                let range = *b == b'.' && bytes.get(end + 1) == Some(&b'.');
                let exponent = matches!(*b, b'-' | b'+') && end > 0 && bytes.get(end - 1) == Some(&b'e');
                if range || !(b.is_ascii_digit() || matches!(*b, b'.' | b'e') || exponent) {
                    break;
                }
                end += 1;
            }
            found.push(Token::Number(rest.get(..end)?.parse().ok()?));
            length = end;
        } else if c.is_alphabetic() || c == '_' {
            length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(Token::Word(rest.get(..length)?.to_owned()));
        } else if c == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let stop = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                stop
            });
            length = end?.0 + 1;
            found.push(Token::Text(rest.get(1..length - 1)?.to_owned()));
        } else {
            let sign = SIGNS.iter().find(|s| rest.starts_with(**s))?;
            length = sign.len();
            found.push(Token::Sign(sign));
        }
        rest = rest.get(length..)?.trim_start();
    }
    Some(found)
}

/// A place in a list of tokens.
pub struct Reader {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Reader {
    pub fn new(text: &str) -> Option<Reader> {
        Some(Reader { tokens: tokens(text)?, at: 0, depth: 0 })
    }
    pub fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }
    pub fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.at += usize::from(found);
        found
    }
    pub fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(found);
        found
    }
    pub fn name(&mut self) -> Option<String> {
        match self.next()? {
            Token::Word(w) => Some(w),
            _ => None,
        }
    }
    pub fn text(&mut self) -> Option<String> {
        match self.next()? {
            Token::Text(t) => Some(t),
            _ => None,
        }
    }
    /// A number with an optional sign; `inf` counts.
    pub fn number(&mut self) -> Option<f64> {
        let sign = if self.sign("-") { -1.0 } else { 1.0 };
        match self.next()? {
            Token::Number(x) => Some(sign * x),
            Token::Word(w) if w == "inf" => Some(sign * f64::INFINITY),
            _ => None,
        }
    }

    pub fn expr(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let found = self.whole();
        self.depth -= 1;
        found
    }

    fn whole(&mut self) -> Option<Expr> {
        if self.word("if") {
            let c = self.expr()?;
            let a = self.word("then").then(|| self.expr())??;
            let b = self.word("else").then(|| self.expr())??;
            return Some(Expr::Call("if".into(), vec![c, a, b]));
        }
        let a = self.operand()?;
        let operator = match self.peek() {
            Some(Token::Sign(s)) => OPERATORS.iter().find(|o| *o == s),
            Some(Token::Word(w)) => OPERATORS.iter().find(|o| *o == w),
            _ => None,
        };
        let Some(operator) = operator else { return Some(a) };
        self.at += 1;
        Some(Expr::Call((*operator).to_owned(), vec![a, self.operand()?]))
    }

    fn operand(&mut self) -> Option<Expr> {
        if self.sign("-") {
            return Some(match self.operand()? {
                Expr::Number(x) => Expr::Number(-x),
                e => Expr::Call("neg".into(), vec![e]),
            });
        }
        if self.word("not") {
            return Some(Expr::Call("not".into(), vec![self.operand()?]));
        }
        let mut e = match self.next()? {
            Token::Number(x) => Expr::Number(x),
            Token::Text(t) => Expr::Text(t),
            Token::Word(w) if w == "inf" => Expr::Number(f64::INFINITY),
            Token::Word(w) if w == "true" => Expr::Call("true".into(), vec![]),
            Token::Word(w) if w == "false" => Expr::Call("false".into(), vec![]),
            Token::Word(w) if self.sign("(") => Expr::Call(w, self.list(")")?),
            Token::Word(w) => Expr::Name(w),
            Token::Sign("(") => {
                let e = self.expr()?;
                self.sign(")").then_some(e)?
            }
            Token::Sign("[") => Expr::List(self.list("]")?),
            Token::Sign(_) => return None,
        };
        loop {
            if self.sign("[") {
                let i = self.expr()?;
                e = self.sign("]").then(|| Expr::Call("index".into(), vec![e, i]))?;
            } else if self.sign(".") {
                let field = self.name()?;
                e = match e {
                    Expr::Name(table) => Expr::Name(format!("{table}.{field}")),
                    e => Expr::Call("field".into(), vec![e, Expr::Name(field)]),
                };
            } else {
                return Some(e);
            }
        }
    }

    /// What stands before the closing sign; `times = 3` loses its name.
    fn list(&mut self, close: &str) -> Option<Vec<Expr>> {
        let mut items = vec![];
        while !self.sign(close) {
            if !items.is_empty() && !self.sign(",") {
                return None;
            }
            if self.word("times") && !self.sign("=") {
                self.at -= 1;
            }
            items.push(self.expr()?);
        }
        Some(items)
    }

    fn dist(&mut self) -> Option<Dist> {
        let family = self.name()?;
        let args = if self.sign("(") { self.list(")")? } else { return None };
        Some(Dist { family, args })
    }
}

fn line(text: &str) -> Option<(Option<Param>, Option<Observation>)> {
    if let Some(rest) = text.strip_prefix("param ") {
        let mut r = Reader::new(rest)?;
        let name = r.name()?;
        let cut = r.sign(":");
        if cut {
            let opened = r.word("real") && r.word("in") && r.sign("[");
            let (_, _, _) = (opened.then(|| r.number())??, r.sign(",").then_some(())?, r.number()?);
            r.sign("]").then_some(())?;
        }
        let prior = r.sign("~").then(|| r.dist())??;
        return r.done().then_some((Some(Param { name, cut, prior }), None));
    }
    let rest = text.strip_prefix("observe ")?;
    let (rest, public) = match rest.strip_suffix(" # each public row") {
        Some(rest) => (rest, true),
        None => (rest.strip_suffix(" # each private row")?, false),
    };
    let mut r = Reader::new(rest)?;
    let outcome = r.expr()?;
    let dist = r.sign("~").then(|| r.dist())??;
    r.done().then_some((None, Some(Observation { outcome, dist, public })))
}

/// The numbers of a line, if it holds nothing but words, numbers, brackets, commas and `=`.
pub fn numbers(line: &str) -> Option<Vec<f64>> {
    let line = line.split("//").next().unwrap_or_default();
    let mut found = vec![];
    for t in tokens(line)? {
        match t {
            Token::Number(x) => found.push(x),
            Token::Word(_) | Token::Sign("(" | ")" | "," | "=" | "[" | "]") => {}
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The forms of all releases, each under `release NAME:`, with names.
pub fn forms(text: &str) -> Option<Vec<(String, Form, String)>> {
    let mut all: Vec<(String, Vec<&str>)> = vec![];
    for l in text.lines() {
        match l.strip_prefix("release ").and_then(|l| l.strip_suffix(':')) {
            Some(name) => all.push((name.to_owned(), vec![])),
            None if l.is_empty() => {}
            None => all.last_mut()?.1.push(l),
        }
    }
    all.into_iter()
        .map(|(name, lines)| {
            let (last, first) = lines.split_last()?;
            let mut r = Reader::new(last)?;
            let request = r.expr().filter(|_| r.done())?;
            let is_model = matches!(&request, Expr::Call(f, _) if matches!(f.as_str(), "draw" | "draws" | "posterior"));
            if !is_model {
                return first.is_empty().then(|| (name, Form::Query(request), (*last).to_owned()));
            }
            let (mut params, mut rows) = (vec![], vec![]);
            for l in first {
                let (p, o) = line(l)?;
                params.extend(p);
                rows.extend(o);
            }
            Some((name, Form::Model { params, rows, request }, (*last).to_owned()))
        })
        .collect()
}
